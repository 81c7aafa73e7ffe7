/* prune.h -- removing old versions of a tree.
 *
 * First a command of its own moves the edge: from then on nobody sees a version before it. Then
 * whatever no version from the edge on needs is removed, piece by piece:
 *
 *     rows of a name       v2 file    v5 file    v7 gone    v9 file    v14 file
 *     edge 6               goes       stays                            the edge is no part of
 *     edge 8               goes       goes       goes                  these: they stay
 *
 * Of each name, the newest row up to the edge stays, unless it says that nothing is there. The rows
 * of the versions themselves are removed last, so the oldest of them tells whether a sweep was
 * completed, and since when (`from`) there may be something to sweep. Only names that changed after
 * `from` are looked at, in directories that changed; and what is below a directory is removed
 * before the directory's own rows. After a kill in between, the next sweep begins again and finds
 * the rest.
 *
 * Threads: single, as the view is. */
#ifndef VLS_TREE_PRUNE_H
#define VLS_TREE_PRUNE_H

#include "tree/rows.h"

/* The oldest version that has a row: 1, or 0 where there is none. One before the edge: a sweep must
 * be made, or made to its end, from there. */
int vls_tree_oldest(int64_t *out, valise_view *view, const vls_tree_row *tree, valise_error *err);

/* When did what lay at a path go, or become what is there: 1 and the time of that version; 0: that
 * was pruned, and all that is known is that it was not after the edge was made: the time of that.
 */
int vls_tree_since(int64_t *time, valise_view *view, const vls_tree_row *tree, valise_str path,
                   valise_error *err);

typedef struct vls_tree_sweep {
    valise_uuid tree;
    int64_t from, edge;     /* names that changed behind from, up to the edge */
    valise_str dir, behind; /* begin in this directory, behind this name; both "": all */
    int64_t max_gone;       /* rows that may go, and that may be looked at; 0: any number */
    int64_t max_looked;
} vls_tree_sweep;

typedef struct vls_tree_swept {
    int64_t gone;
    bool done; /* else go on here; in the view's memory: */
    valise_str dir, behind;
} vls_tree_swept;

/* A row that goes. Its strings are valid until fn returns. */
typedef int vls_tree_gone_fn(void *arg, const vls_tree_node_row *row, valise_error *err);

/* Tell fn of the rows that nothing from the edge on needs. What a command deletes meanwhile makes
 * no difference. */
int vls_tree_sweep_rows(vls_tree_swept *out, valise_view *view, const vls_tree_sweep *sweep,
                        vls_tree_gone_fn *fn, void *arg, valise_error *err);

typedef int vls_tree_version_fn(void *arg, const vls_tree_version_row *row, int64_t from_seq,
                                valise_error *err);

/* The rows of versions from a number on, the oldest first. from_seq: since when they are there.
 * Non-zero from fn ends it, and is returned. */
int vls_tree_each_version(valise_view *view, const valise_uuid *tree, int64_t from,
                          vls_tree_version_fn *fn, void *arg, valise_error *err);

#endif
