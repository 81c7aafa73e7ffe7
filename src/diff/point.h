/* point.h -- which state is meant: a version of the tree, and what was known then.
 *
 *     now              the newest, as far as the view goes
 *     NAME             a checkpoint of the workspace's tree: its version; what was known when it
 *                      was made. For who may read the tree
 *     v12, 1a2b3c4d    a version of the tree, or one with a root that begins so; what was known
 *                      when it was recorded
 *     1a2b3c4d         a root of the context, or its first digits: the state that the command left
 *                      which made it so
 *     42, 2026-01-02T..., ID
 *                      a seq of the log, a time, a command: the state after that
 *
 * Digits that are a seq and the beginning of a root as well are refused: seq:42 is the seq.
 *
 * Threads: single, as the view is. */
#ifndef VLS_POINT_H
#define VLS_POINT_H

#include "checkpoint/rows.h"
#include "context/slot.h"

typedef struct vls_diff_point {
    int64_t version; /* of the tree; 0: nothing yet */
    int64_t seq;     /* what was known then; version 0: nothing */
    bool elsewhere;  /* the version came with a bundle: nobody here can tell what was known */
} vls_diff_point;

/* tree: as the view has it. VALISE_E_NOT_FOUND, VALISE_E_CONFLICT, VALISE_E_LIMIT. */
int vls_diff_point_find(vls_diff_point *out, valise_view *view, const vls_tree_row *tree,
                        valise_str given, valise_error *err);

vls_diff_point vls_diff_point_now(const valise_view *view, const vls_tree_row *tree);

/* What one compares with when one does not say: the newest checkpoint before that, without those of
 * restores; where there is none, the version before. */
int vls_diff_point_before(vls_diff_point *out, valise_view *view, const vls_tree_row *tree,
                          const vls_diff_point *than, valise_error *err);

#endif
