/* residue.h -- bytes of an erasure that a reader of another process keeps in the write-ahead log.
 *
 * The erase command leaves a mark in its own transaction; whoever empties the write-ahead log takes
 * it away: the erasure itself, else the next open or gc.
 *
 * Threads: single. */
#ifndef VLS_RESIDUE_H
#define VLS_RESIDUE_H

#include "bus/bus.h"

/* In the transaction of an erasure. */
int vls_residue_mark(vls_txn *txn, valise_error *err);

/* Empty the write-ahead log if there is a mark. *left: bytes that are still in it. */
int vls_residue_finish(int64_t *left, valise *v, valise_error *err);

#endif
