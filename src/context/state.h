/* state.h -- is what a slot says still true? Computed from the tree and the heads of today.
 *
 *     empty         no head
 *     orphaned      there is nothing at the path any more, or something of another kind
 *     invalidated   somebody marked the head
 *     stale         what the head was made of is not what is there now; or was erased, and nobody
 *                   can tell
 *     fresh         none of these
 *
 * The first that holds, in this order. Nothing is stored: an edit that is taken back makes frames
 * fresh again.
 *
 * Threads: single, as the view is. */
#ifndef VLS_STATE_H
#define VLS_STATE_H

#include <valise/context.h>

#include "context/lens.h"
#include "context/slot.h"
#include "tree/rows.h"

enum { VLS_NODE_CHANGED, VLS_CHILD_CHANGED, VLS_CHILD_MISSING, VLS_RECIPE_CHANGED };

#define VLS_REASONS_MAX 64u /* that are told */

typedef valise_frame_reason vls_reason;

extern const valise_field vls_reason_item; /* of a list of reasons */

typedef struct vls_state {
    int64_t state;       /* VLS_STATE_... */
    valise_list reasons; /* of const vls_reason *; stale: why. In the view's memory */
} vls_state;

/* Where one looks: a path in a version of the tree. */
typedef struct vls_state_at {
    const vls_tree_row *tree;
    int64_t version;
    valise_str path;
    const vls_tree_found *node; /* NULL: there is nothing */
    bool trusted; /* nobody doubts the head (doubt.h): nothing is compared with what it
                     was made of */
} vls_state_at;

/* Has a version of the tree nothing any more that the slot is about? 1; or 0, also where what lies
 * there, or above it, cannot be read: it may be anything, and the files may all be there. */
int vls_state_is_orphan(valise_view *view, const vls_tree_row *tree, int64_t version,
                        const vls_slot_row *slot, valise_error *err);

/* Of a slot, which lies at at->path. Below something that cannot be read it is stale, and not an
 * orphan. frame: another one of its frames than the head, or NULL; such a one is never
 * `invalidated`. */
int vls_state_of(vls_state *out, valise_view *view, const vls_state_at *at,
                 const vls_slot_row *slot, const vls_frame_row *frame, valise_error *err);

#endif
