/* chunks.h -- what writers remember between transactions: where chunks are, and which numbers are
 * used.
 *
 *     from a keyed 128-bit hash of a chunk to its number, 65,536 of them, four to a bucket
 *
 * A hit saves the lookup in the index and the comparison of bytes. It is trusted, so what is
 * remembered must be true: whatever a transaction or a mark added is dropped when it is undone, and
 * everything is dropped when a garbage collection (of any process) may have removed chunks since.
 * Numbers are never reused (meta object_floor, chunk_floor), so an old number cannot come to mean
 * another chunk.
 *
 * Threads: used by the write transaction alone, so by one thread at a time (store/txn.c). */
#ifndef VLS_CHUNKS_H
#define VLS_CHUNKS_H

#include "store/store.h"

/* A write transaction begins, sets, releases or goes back to a mark, ends. Only SET can fail. */
void vls_chunks_begin(vls_chunks *chunks, const vls_txn *txn);
int vls_chunks_mark(vls_chunks *chunks, int what, valise_error *err);
void vls_chunks_end(vls_chunks *chunks, bool committed);

/* The number of a chunk with these bytes: one that is there, or a new one that is inserted. */
int vls_chunks_put(int64_t *number, vls_txn *txn, valise_str bytes, valise_error *err);

/* The row of this number is about to go: see that the number is not given again. */
int vls_chunks_keep_number(vls_txn *txn, uint32_t table, int64_t number, valise_error *err);

/* The next number for an object. */
int vls_chunks_next_object(int64_t *number, vls_txn *txn, valise_error *err);

#endif
