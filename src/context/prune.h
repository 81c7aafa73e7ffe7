/* prune.h -- what may go of a tree's past and of what is known about it. [C30]
 *
 * Two kinds of history, which are pruned apart:
 *
 *     tree       versions before an edge (tree/prune.h)
 *     orphans    slots of which the file or directory is gone (and nothing above it is unreadable,
 *                which would hide it), and slots that were closed, with their entries, the pages of
 *                their sets, and the frames that nothing else has
 *
 * A plan is made in a view, for limits and a time; the commands get what it came to, so that no
 * replay asks a clock, and look again whether it still holds. What existed in a state that a pin
 * holds stays. A frame stays as long as any row refers to it (store/holders.h).
 *
 * Threads: single, as views are. */
#ifndef VLS_PRUNE_H
#define VLS_PRUNE_H

#include "context/slot.h"
#include "tree/prune.h"

/* VALISE_NONE: no limit. What any of them says may go, goes. */
typedef struct vls_prune_limits {
    int64_t keep_latest; /* versions, or orphans */
    int64_t age;         /* of what is kept, at most */
} vls_prune_limits;

/* ---- versions ---- */

/* The edge that limits make at a time: at least the one there is, and not behind the newest version
 * or one that a pin holds. *held: so many versions may go but for the pins. */
int vls_prune_edge(int64_t *edge, int64_t *held, valise_view *view, const vls_tree_row *tree,
                   const vls_prune_limits *limits, int64_t now, valise_error *err);

/* As far towards a wanted edge as pins let it go. */
int vls_prune_edge_towards(int64_t *edge, valise_view *view, const vls_tree_row *tree,
                           int64_t wanted, valise_error *err);

/* ---- orphans ---- */

typedef struct vls_orphan {
    valise_str path, type;
    valise_uuid id;
    bool closed; /* it is a row of slot_closed */
    valise_id head;
    int64_t entries, frames;
    int64_t since; /* when it became one, as far as is known */
} vls_orphan;

typedef struct vls_orphans {
    vls_orphan *items; /* in the view's memory, as their strings */
    size_t count;
    int64_t held; /* more, which a pin holds */
} vls_orphans;

/* Those that limits let go at a time, by path and type; at most max (0: all). *more: there are
 * others. */
int vls_prune_find(vls_orphans *out, bool *more, valise_view *view, const vls_tree_row *tree,
                   const vls_prune_limits *limits, int64_t now, int64_t max, valise_error *err);

/* Is it still one, with this id, that nothing holds? 1, and the row; or 0. */
int vls_prune_check(vls_orphan *out, valise_view *view, const vls_tree_row *tree,
                    const vls_orphan *one, valise_error *err);

/* The frames that nothing refers to once these slots are gone. They must not have been changed by
 * the running command. ids: in the view's memory, sorted. */
int vls_prune_frames(const valise_id **ids, size_t *count, valise_view *view,
                     const vls_orphan *orphans, size_t orphan_count, valise_error *err);

#endif
