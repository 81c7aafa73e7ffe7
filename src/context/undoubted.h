/* undoubted.h -- which of many slots are fresh for certain, because nobody doubts them (doubt.h).
 *
 * To compute a state takes the basis of a head and what it is compared with. Where doubts are kept
 * that is left for those which are doubted; and for those of a recipe that this program would
 * follow in another way, or cannot read: nothing is written when a program gets newer.
 *
 *     VLS_AUTO(undoubted) vls_undoubted known = {0};
 *     rc = vls_undoubted_begin(&known, view, &tree, path, err);
 *     for each slot of the tree, from that path on, by path and type:
 *         rc = vls_undoubted_ask(&known, &slot, err);        1: fresh; 0: compute it
 *
 * It is for those who go through all slots: both lie in the same order, and are read once.
 *
 * Threads: single, as the view is. */
#ifndef VLS_UNDOUBTED_H
#define VLS_UNDOUBTED_H

#include "base/arena.h"
#include "base/map.h"
#include "context/doubt.h"
#include "tree/rows.h"

typedef struct vls_undoubted {
    valise_view *view;     /* NULL: nobody can tell */
    valise_scan *scan;     /* of doubts */
    vls_slot_doubt_row at; /* the next of them */
    bool more;             /* there is one */
    vls_map recipes;       /* that were read */
    vls_arena arena;       /* of these */
} vls_undoubted;

/* What damage there is does not show: to find it is for `validate`. */
int vls_undoubted_begin(vls_undoubted *out, valise_view *view, const vls_tree_row *tree,
                        valise_str path, valise_error *err);
int vls_undoubted_ask(vls_undoubted *known, const vls_slot_row *slot, valise_error *err);
void vls_undoubted_release(vls_undoubted *known); /* a zeroed one is fine */

static inline void vls_auto_undoubted(vls_undoubted *known)
{
    vls_undoubted_release(known);
}

#endif
