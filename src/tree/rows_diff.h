/* rows_diff.h -- compare two versions of a tree.
 *
 * Both are traversed side by side, as compare.h does with a walk; directories with equal object ids
 * have no differences below them, and are not read. So the cost depends on how much differs, and on
 * the number of names in the directories on the way to it.
 *
 * Threads: single, as the view is. */
#ifndef VLS_TREE_ROWS_DIFF_H
#define VLS_TREE_ROWS_DIFF_H

#include "tree/difference.h"
#include "tree/rows.h"

struct vls_scan; /* scan.h */

typedef struct vls_tree_diff {
    valise_view *view;
    const vls_tree_row *tree;
    int64_t was, is; /* versions, in either order; 0: there was nothing yet */
    /* May anything in this directory be of interest? NULL: always. */
    bool (*enters)(void *arg, valise_str dir);
    void *arg;
    int64_t rows; /* that were looked at so far, for who wonders */
} vls_tree_diff;

/* All differences in the order of paths, with what lies in directories that are gone or new; the
 * root among them. `inside` is not told. VALISE_E_LIMIT for versions that were pruned. */
int vls_tree_diff_each(vls_tree_diff *diff, vls_difference_fn *fn, void *arg, valise_error *err);

/* What moved, as a scan tells it: fills moves, and counts of what moved and what only came, went or
 * changed. The arena of out is ready. */
int vls_tree_diff_moves(struct vls_scan *out, vls_tree_diff *diff, valise_error *err);

#endif
