/* compare.h -- compare the walk with the earlier tree.
 *
 * Both trees are traversed side by side, in the order of vls_path_compare. Directories with equal
 * object ids have no differences below them, and are skipped.
 *
 *     only there       added: with all that is in it
 *     only here        removed: with all that was in it
 *     other object     changed; two directories: their entries tell what has. Of another kind:
 *                      removed and added; but what could not be read, then or now, is only changed
 *
 * The root is among the nodes, but is never counted as added.
 *
 * Moves (moves.c) are found among what was removed and added: an object id that occurs exactly once
 * on each side. Directories come first, the topmost ones, with everything in them; then files and
 * links. Unreadable nodes never count. What moved is counted neither as added nor as removed. An
 * object id that occurs several times on a side is ambiguous, which is reported once, but not for
 * what lies in ambiguous directories. All empty files and empty directories are equal, so they are
 * reported one by one, as minor; so is a file that took the place of another, which is not a move.
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
