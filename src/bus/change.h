/* change.h -- the changes of one entry, with the rows before and after them.
 *
 *     vls_changes_begin(&walk, txn, entry, err);
 *     while ((rc = vls_changes_step(&change, &walk, err)) > 0)
 *         ... vls_change_before(&row, &walk, &change, err)
 *     vls_changes_end(&walk);
 *
 * The row before is the image in the entry. The row after is that of the state after this entry
 * (store/view.h, `at`). So the changes of an entry can be listed at any time while it is in the
 * log.
 *
 * Threads: single. */
#ifndef VLS_CHANGE_H
#define VLS_CHANGE_H

#include "bus/ahead.h"
#include "store/view.h"

typedef struct vls_changes_walk {
    valise_view view; /* the state after the entry; rows live in its arena */
    const vls_entry *entry;
    const vls_ahead *ahead; /* a shorter way to rows of old entries, or NULL */
    size_t at;
    uint32_t index; /* of the change that was told last; the first is 1 */
} vls_changes_walk;

typedef struct vls_change {
    const vls_coll *coll; /* NULL: another program added the collection meanwhile */
    uint32_t index;
    vls_image image;
} vls_change;

/* The entry is borrowed and must be one that txn sees; so is ahead, which may be NULL. */
int vls_changes_begin(vls_changes_walk *out, vls_txn *txn, const vls_entry *entry,
                      const vls_ahead *ahead, valise_error *err);
void vls_changes_end(vls_changes_walk *walk); /* a zeroed one is fine */

/* 1, or 0 behind the last one. */
int vls_changes_step(vls_change *out, vls_changes_walk *walk, valise_error *err);

/* The struct of the row, or NULL where there was none. They live as long as the walk. The
 * collection must be one whose struct is known: neither NULL nor foreign. */
int vls_change_before(const void **row, vls_changes_walk *walk, const vls_change *change,
                      valise_error *err);
int vls_change_after(const void **row, vls_changes_walk *walk, const vls_change *change,
                     valise_error *err);

/* The same as cells, or NULL. */
int vls_change_after_cells(const valise_cell **cells, vls_changes_walk *walk,
                           const vls_change *change, valise_error *err);

static inline void vls_auto_changes(vls_changes_walk *walk)
{
    vls_changes_end(walk);
}

#endif
