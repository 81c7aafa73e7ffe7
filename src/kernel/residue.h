/* residue.h -- bytes of erased contents that remain in files beside the store: in files that areas
 * make from rows, and in the write-ahead log, where a reader of another process keeps them.
 *
 * The erase command sets a mark in its own transaction. Whoever has cleaned the files of the areas
 * and emptied the write-ahead log removes it: the erasure itself, or else the next open or gc.
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
