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

#include "tree/difference.h"
#include "tree/walk.h"

#define VLS_CHANGES_SPLIT ((size_t)4 * 1024 * 1024)

/* All differences, in the order of paths. Those in directories that are gone or new as well. */
int vls_compare_each(const vls_walk *walk, vls_difference_fn *fn, void *arg, valise_error *err);

/* The same, of a scan. */
int vls_tree_scan_each(const vls_scan *scan, vls_difference_fn *fn, void *arg, valise_error *err);

/* Fill counts, changes, moves and ambiguous. */
int vls_compare(vls_scan *out, const vls_walk *walk, valise_error *err);
int vls_compare_moves(vls_scan *out, const vls_walk *walk, valise_error *err);

/* The same of differences from wherever: `each` tells them in the order of paths, to fn. The arena
 * of out is ready, and the counts are there, from which moves are taken. */
typedef int vls_each_difference_fn(void *self, vls_difference_fn *fn, void *arg, valise_error *err);
int vls_moves_find(vls_scan *out, const valise_env *env, vls_each_difference_fn *each, void *self,
                   valise_error *err);

#endif
