/* refs.h -- everything in a store that refers to an object.
 *
 * Objects have no reference counts: who wants to know what is needed walks over everything that
 * can name one: rows as they are now, rows as they were (the images in log entries), and the
 * payloads of commands, which a replay needs. In a payload every string of 64 hex digits counts,
 * so that it can be read without knowing the operation.
 *
 * Threads: single; works on a transaction. */
#ifndef VLS_REFS_H
#define VLS_REFS_H

#include "base/progress.h"
#include "store/view.h"

/* Where a reference stands. */
typedef struct vls_ref_site {
    const vls_coll *coll; /* NULL: a payload */
    valise_str key;       /* ordered encoding */
    int64_t seq;          /* the entry that holds it; 0: a row as it is now */
} vls_ref_site;

/* Non-zero stops the walk and is its result. */
typedef int vls_ref_fn(void *arg, const vls_ref_site *site, const valise_id *id, valise_error *err);

/* The references of one row. Memory is taken from arena and given back. */
int vls_refs_row(vls_arena *arena, const vls_ref_site *site, const valise_cell *row, vls_ref_fn *fn,
                 void *arg, valise_error *err);

/* progress may be NULL. */
int vls_refs_rows(vls_txn *txn, vls_progress *progress, vls_ref_fn *fn, void *arg,
                  valise_error *err);
/* Images and payload of one entry. */
int vls_refs_entry(vls_txn *txn, vls_arena *arena, const vls_entry *entry, vls_ref_fn *fn,
                   void *arg, valise_error *err);
/* Images and payloads of all. */
int vls_refs_log(vls_txn *txn, vls_progress *progress, vls_ref_fn *fn, void *arg,
                 valise_error *err);

#endif
