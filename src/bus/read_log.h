/* read_log.h -- the read log: who read what, and who was refused. A bounded ring, beside the state.
 *
 * It is written in batches, taking turns with the commands. Readers never wait for writers, nor for
 * the disk: while others write, rows stay in memory. A handle that is being closed waits up to a
 * second for its turn. What was not written by then, or before a crash, is lost; what was written
 * may still be lost in a power cut. Nothing of it is state: it is not in the log and not in the
 * state hash, and the oldest rows are dropped.
 *
 * Threads: vls_read_log is shared. */
#ifndef VLS_READ_LOG_H
#define VLS_READ_LOG_H

#include <pthread.h>

#include "base/arena.h"
#include "base/vec.h"
#include "store/own.h"

#define VLS_READ_LOG_BATCH 64u     /* rows that are written at once */
#define VLS_READ_LOG_WAITING 1024u /* that wait at most: further ones are dropped */
#define VLS_READ_LOG_MAX 10000     /* rows that are kept */
#define VLS_READ_LOG_MAX_TEXT 512u

typedef struct valise valise;
typedef struct valise_op valise_op;

/* A row of an area's own ring. */
typedef struct vls_read_extra {
    const valise_coll *coll;
    valise_cell *cells;
} vls_read_extra;

typedef struct vls_read_batch {
    vls_arena arena; /* texts and cells */
    vls_vec(vls_read_row) rows;
    vls_vec(vls_read_extra) extra;
} vls_read_batch;

typedef struct vls_read_log {
    valise *v;
    pthread_mutex_t lock; /* over the rest */
    vls_read_batch waiting;
    bool writing;
    uint64_t dropped;
} vls_read_log;

void vls_read_log_init(vls_read_log *log, valise *v);
void vls_read_log_release(vls_read_log *log); /* writes what waits; a zeroed one is fine */

/* An operation was answered (outcome 0) or refused (its code) at a place such as "session 018f...".
 * Never fails: what cannot be kept is counted. Writes a batch when it is full, except within a
 * command. */
void vls_read_log_add(valise *v, valise_str actor, valise_str op, valise_str place, int outcome);

/* An operation was refused before it began: a row, and a live event `access:denied` for those who
 * listen. Outside of transactions. */
void vls_read_log_refuse(valise *v, valise_str actor, const valise_op *op);

/* Areas that have more to say of a read have a ring of their own: an EXEMPT collection whose key is
 * one INT, `number`, which is filled in when the row is written, in the same batches. The newest
 * VLS_READ_LOG_MAX are kept. Never fails, as above. */
void vls_read_log_put(valise *v, const valise_coll *coll, const void *row);

/* Those that wait to be written, newest first; then it is over. */
typedef int vls_read_log_row_fn(void *arg, const void *row, valise_error *err);
int vls_read_log_rows(valise *v, const valise_coll *coll, vls_read_log_row_fn *fn, void *arg,
                      valise_error *err);

/* Write what waits. */
int vls_read_log_flush(valise *v, valise_error *err);

/* What waits to be written, newest first, with the number 0; then it is over. */
typedef int vls_read_log_fn(void *arg, const vls_read_row *row, valise_error *err);
int vls_read_log_waiting(valise *v, vls_read_log_fn *fn, void *arg, valise_error *err);

/* The rows of the ring that txn sees, newest first; then it is over. fn returns non-zero to stop,
 * which is the result. */
int vls_read_log_each(vls_txn *txn, vls_read_log_fn *fn, void *arg, valise_error *err);

#endif
