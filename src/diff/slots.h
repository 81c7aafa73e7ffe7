/* slots.h -- what is known, in two states: slots that came, went, moved, or say something else.
 *
 *     added, removed   there is a slot (path, type) where there was none, or the reverse
 *     moved            it lies at another path, as its file does
 *     changed          its head is another frame
 *     invalidated      the same head, which was marked since; reaffirmed: the mark is gone
 *     orphaned         the same head, and its file is gone or something else; found: it is back
 *
 * The first that fits. Which slots may differ is what the log says of the entries between the two
 * states, and which nodes came or went: the cost goes with what happened, not with what is known.
 *
 * Threads: single, as the view is. */
#ifndef VLS_DIFF_SLOTS_H
#define VLS_DIFF_SLOTS_H

#include "context/slot.h"
#include "diff/point.h"
#include "tree/rows_diff.h"

enum {
    VLS_SLOT_ADDED,
    VLS_SLOT_REMOVED,
    VLS_SLOT_MOVED,
    VLS_SLOT_CHANGED,
    VLS_SLOT_INVALIDATED,
    VLS_SLOT_REAFFIRMED,
    VLS_SLOT_ORPHANED,
    VLS_SLOT_FOUND,
};

typedef struct vls_slot_difference {
    int change;
    const vls_slot_row *was, *is; /* NULL: there is none; one of them is */
    bool was_orphaned, is_orphaned;
} vls_slot_difference;

typedef int vls_slot_difference_fn(void *arg, const vls_slot_difference *d, valise_error *err);

/* In the order of paths and types; of what moved, by where it is. nodes: the two versions.
 * VALISE_E_LIMIT where the log does not reach back. What fn gets lives as long as the view. */
int vls_slots_diff(valise_view *view, vls_tree_diff *nodes, const vls_diff_point *was,
                   const vls_diff_point *is, vls_slot_difference_fn *fn, void *arg,
                   valise_error *err);

#endif
