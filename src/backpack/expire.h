/* expire.h -- which rows of a durable backpack's history may go.
 *
 * The edge moves to a seq E. A commit up to E is needed when it is what some *point* sees of its
 * key: E itself, a checkpoint, or the seq that a fork starts with.
 *
 *     commits of a key     3 pack    7 pack    12 delete    20 pack
 *     points                    5               15                E = 30
 *     needed               3                   12 (*)          20
 *
 *     (*) a deletion only where something older stays that it hides: 3, or an item of the origin
 *
 * An entry of the quarantine needs two commits, what it holds and what put it there, for as long as
 * some point sees it. The newest commit always stays, and those that are pinned themselves; and the
 * edge stops at a state that a pin holds. Runs that are past (bag.h) go, but for the
 * newest of each node.
 *
 * Threads: single, as views are. */
#ifndef VLS_EXPIRE_H
#define VLS_EXPIRE_H

#include <valise/sys/operation.h>

#include "backpack/rows.h"

#define VLS_EXPIRE_STEP 1000 /* seqs that one command goes over */

#define VLS_EXPIRE_RUNS 4000 /* runs that one command lets go of; the rest is for the next */

/* What goes: commits, entries of the quarantine, and runs (of which only the key is set). */
typedef struct vls_expire_ops {
    int (*commit)(void *arg, const valise_commit *commit, valise_error *err);
    int (*entry)(void *arg, const vls_quarantine_row *entry, valise_error *err);
    int (*run)(void *arg, const vls_run_row *run, valise_error *err);
    void *arg;
} vls_expire_ops;

/* Look at every key that has a commit in [from, upto], with the edge at upto, or where it is if
 * that is behind it. */
int vls_expire_plan(vls_rows *rows, int64_t from, int64_t upto, const vls_expire_ops *ops,
                    valise_error *err);

/* How far the edge may move, *upto at most: not past a state of the log that a pin holds. */
int vls_expire_bound(int64_t *upto, const vls_rows *rows, valise_error *err);

typedef struct vls_expire_args {
    valise_uuid backpack;
    int64_t from, upto;
} vls_expire_args;

typedef struct vls_expire_result {
    int64_t removed, edge;
} vls_expire_result;

extern const valise_op vls_op_backpack_expire;

#endif
