/* residue.h -- bytes of an erasure that are left in files beside the store: in those that areas
 * make from rows, and in the write-ahead log, where a reader of another process keeps them.
 *
 * The erase command leaves a mark in its own transaction; whoever has the areas forget and empties
 * the write-ahead log takes it away: the erasure itself, else the next open or gc.
 *
 * Threads: single. */
#ifndef VLS_RESIDUE_H
#define VLS_RESIDUE_H

#include "bus/bus.h"

/* In the transaction of an erasure. */
int vls_residue_mark(vls_txn *txn, valise_error *err);

/* Have the areas forget (valise_extension.forget) and empty the write-ahead log, if there is a
 * mark. *left: bytes that are still in it. */
int vls_residue_finish(int64_t *left, valise *v, valise_error *err);

#endif
