/* graph.h -- the graph of versions: what comes before what, paths, what lies below. [W7] [W8] [P1]
 *
 *     up          the ancestor at a depth: by jumps, O(log)
 *     is_before   over all parents: up, and from each merge on the way its further parents
 *     path        the walk of P1: parents in their order, each version once, root side first
 *     below       lanes and edges say where to look, is_before what is true
 *
 * Jumps: as in a skew-binary counter. Where the two jumps before had the same length, the next one
 * spans both:
 *
 *     depth   0 1 2 3 4 5 6 7 8
 *     jump    - 0 1 0 3 4 3 0 7
 *
 * Threads: single. */
#ifndef VLS_CHAT_GRAPH_H
#define VLS_CHAT_GRAPH_H

#include "base/vec.h"
#include "chat/find.h"

/* Fill depth, jump and merge of a version from its first parent (NULL: it has none), and its lane:
 * that of the parent if that is free, else `fresh`. row->merges is set. */
int vls_turn_link(vls_turn_row *row, valise_view *view, const vls_turn_row *parent,
                  const valise_uuid *fresh, valise_error *err);

/* The same without the lane: what follows from the ancestors alone. */
int vls_turn_relink(vls_turn_row *row, valise_view *view, const vls_turn_row *parent,
                    valise_error *err);

/* Are depth, jump and merge the same? */
bool vls_turn_has_links(const vls_turn_row *row, const vls_turn_row *linked);

/* The first-parent ancestor at a depth, at most its own. VALISE_E_CORRUPT when something is
 * missing. */
int vls_turn_up(vls_turn_row *out, valise_view *view, const vls_turn_row *turn, int64_t depth,
                valise_error *err);

/* Is a the same as b, or an ancestor of it? 1, or 0. */
int vls_turn_is_before(valise_view *view, const vls_turn_row *a, const vls_turn_row *b,
                       valise_error *err);

/* ---- paths ---- */

/* A run of first parents: the versions from `from` to `to`, both included. */
typedef struct vls_trail_piece {
    vls_turn_ref from, to;
    vls_turn_place first, last;
} vls_trail_piece;

/* What a transcript is read from. A path without merges has as many pieces as it has lanes. */
typedef struct vls_trail {
    vls_vec(vls_trail_piece) pieces; /* root side first */
    int64_t count;                   /* of versions */
    const valise_env *env;
} vls_trail;

/* first_only: of a merge the first parent alone. not_in (may be NULL): leave out what is this
 * version, or before it. */
int vls_trail_make(vls_trail *out, valise_view *view, const vls_turn_row *head,
                   const vls_turn_row *not_in, bool first_only, valise_error *err);
void vls_trail_release(vls_trail *path); /* a zeroed one is fine */

/* Each version of the path from number `from` on: root side first; with reverse the head first, and
 * it is number 0. One scan for each piece. Strings of the row are valid until fn returns. Non-zero
 * ends it, and is returned. */
int vls_trail_each(const vls_trail *path, valise_view *view, int64_t from, bool reverse,
                   vls_turn_fn *fn, void *arg, valise_error *err);

/* ---- two heads ---- */

typedef struct vls_turn_diff {
    bool related;        /* they have something in common */
    vls_turn_row common; /* the newest of that, on the path of a */
    vls_trail only_a, only_b;
} vls_turn_diff;
int vls_turn_diff_make(vls_turn_diff *out, valise_view *view, const vls_turn_row *a,
                       const vls_turn_row *b, valise_error *err);
void vls_turn_diff_release(vls_turn_diff *diff);

/* ---- below ---- */

/* Sessions whose head (tip NULL), or of which a tip, is this version or below it. */
typedef int vls_holder_fn(void *arg, const vls_session_row *session, const vls_tip_row *tip,
                          valise_error *err);
int vls_below_each(valise_view *view, const vls_turn_row *turn, vls_holder_fn *fn, void *arg,
                   valise_error *err);

#endif
