/* seen.h -- which versions a walk has met: between the files of graph.h.
 *
 * What was met is closed: with a version all its ancestors were. So of each lane it is the upper
 * part, and one version, the lowest, stands for all of it. Where two versions stand at one place of
 * a lane there are more; which one it is for is asked by the links.
 *
 * Threads: single. */
#ifndef VLS_CHAT_SEEN_H
#define VLS_CHAT_SEEN_H

#include "base/map.h"
#include "chat/graph.h"
#include "store/view.h"

/* ---- small things that the files of graph.h share ---- */

/* The version that `below` (NULL: somebody else) says there is: VALISE_E_CORRUPT when there is
 * none.
 */
int vls_turn_need(vls_turn_row *out, valise_view *view, const vls_turn_ref *ref,
                  const vls_turn_row *below, valise_error *err);

/* Is a the same as b, or on its way up by first parents? 1, or 0. */
int vls_turn_is_on(valise_view *view, const vls_turn_row *a, const vls_turn_row *b,
                   valise_error *err);

/* Ids can be chosen by others: the seed is the view's. */
static inline uint64_t vls_lane_hash(const valise_view *view, const valise_uuid *id)
{
    return vls_str_hash(vls_str(id->bytes, sizeof(id->bytes)), view->changes.seed);
}

static inline uint64_t vls_turn_ref_hash(const valise_view *view, const vls_turn_ref *ref)
{
    return vls_lane_hash(view, &ref->id) + (uint64_t)ref->version * 0x9E3779B97F4A7C15u;
}

/* ---- what was met ---- */

typedef struct vls_seen_low {
    struct vls_seen_low *next; /* of the same lane */
    vls_turn_row row;          /* its strings are not to be read */
} vls_seen_low;

typedef struct vls_met {
    valise_view *view;
    vls_arena arena;
    vls_map lanes;            /* of vls_seen_low, by lane */
    const vls_turn_row *line; /* this one and its first parents, besides; NULL: none */
} vls_met;

void vls_met_init(vls_met *met, valise_view *view);
void vls_met_release(vls_met *met);

/* Everything from a version up to where something was met was met now. above: the parent of the
 * highest of them; version 0: none. */
int vls_met_add(vls_met *met, const vls_turn_row *low, const vls_turn_ref *above,
                valise_error *err);

/* A version and everything before it was met. head must live as long as met. In trail.c. */
int vls_met_walk(vls_met *met, const vls_turn_row *head, valise_error *err);

/* The same, and what was not met before goes behind the pieces of a trail (NULL: nowhere), as
 * vls_trail_make has it. In trail.c. */
int vls_met_trail(vls_trail *out, vls_met *met, const vls_turn_row *head, bool first_only,
                  valise_error *err);

/* 1, or 0. */
int vls_met_has(const vls_met *met, const vls_turn_row *turn, valise_error *err);

/* The highest of turn (which was not met) and its first parents that was not met. */
int vls_met_edge(vls_turn_row *out, const vls_met *met, const vls_turn_row *turn,
                 valise_error *err);

/* The lowest of turn and its first parents that was met: 1, or 0 when none was. */
int vls_met_last(vls_turn_row *out, const vls_met *met, const vls_turn_row *turn,
                 valise_error *err);

#endif
