/* compare.h -- the walk against the tree as it was: what is different.
 *
 * Both trees are gone through side by side, in the order of vls_path_compare; below directories of
 * equal object ids nothing is different, and nothing is looked at.
 *
 *     only there       added: with all that is in it
 *     only here        removed: with all that was in it
 *     other object     changed; two directories: their entries tell what has. Of another kind:
 *                      removed and added; but what could not be read, then or now, is only changed
 *
 * The root is among the nodes, but nobody counts it as added.
 *
 * Moves (moves.c) are found among what was removed and added: one object id of which there is one
 * on either side. Directories first, the topmost, with all that is in them; then files and links.
 * What cannot be read never counts. What moved is counted neither as added nor as removed. An
 * object id with several on a side is ambiguous, which is reported once; not for what lies in
 * directories that are. Empty files and empty directories are alike by nature: these are reported
 * one by one, as minor; and so is a file that took the place of another, which is no move.
 *
 * Threads: single. */
#ifndef VLS_TREE_COMPARE_H
#define VLS_TREE_COMPARE_H

#include "tree/walk.h"

#define VLS_CHANGES_SPLIT ((size_t)4 * 1024 * 1024)

/* Something that is different. One of the nodes may be NULL: there was nothing, or is nothing now.
 */
typedef struct vls_difference {
    valise_str path;
    const vls_node *was, *is;
    bool inside; /* the directory it was in is gone, or no directory any more */
} vls_difference;

/* Whether it is the same thing, changed, and not one that is gone and one that is new. */
static inline bool vls_difference_is_kept(const vls_difference *d)
{
    return d->was && d->is &&
           (d->was->kind == d->is->kind || d->was->kind == VLS_NODE_UNREADABLE ||
            d->is->kind == VLS_NODE_UNREADABLE);
}

typedef int vls_difference_fn(void *arg, const vls_difference *difference, valise_error *err);

/* All differences, in the order of paths. Those in directories that are gone or new as well. */
int vls_compare_each(const vls_walk *walk, vls_difference_fn *fn, void *arg, valise_error *err);

/* Fill counts, changes, moves and ambiguous. */
int vls_compare(vls_scan *out, const vls_walk *walk, valise_error *err);
int vls_compare_moves(vls_scan *out, const vls_walk *walk, valise_error *err);

#endif
