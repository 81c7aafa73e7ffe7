/* below.c -- whose heads and tips lie below a version. [W7]
 *
 * Below it in its own lane, and in the lanes that begin, or merges that join, at an edge there; and
 * so on. Where two versions stand at one place of a lane that is too much: each head that is found
 * is asked whether the version is before it. */
#include "chat/seen.h"

/* A part of a lane, from a depth on, up to `end` without it. */
typedef struct stretch {
    vls_turn_place from;
    int64_t end;
} stretch;

typedef struct lane_reach {
    vls_turn_place from; /* everything from there on was taken */
} lane_reach;

typedef struct descent {
    valise_view *view;
    const valise_env *env;
    const vls_turn_row *turn;
    vls_holder_fn *fn;
    void *arg;
    vls_vec(stretch) open;
    vls_map lanes; /* of lane_reach */
    vls_arena arena;
} descent;

static bool has_lane(const void *item, const void *lane)
{
    return vls_uuid_equal(&((const lane_reach *)item)->from.lane, lane);
}

/* Everything from this place on is to be looked at. */
static int reach(descent *d, const vls_turn_place *place, valise_error *err)
{
    uint64_t hash = vls_lane_hash(d->view, &place->lane);
    lane_reach *lane = vls_map_get(&d->lanes, hash, &place->lane);
    stretch part = {*place, lane ? lane->from.depth : INT64_MAX};

    if (part.end <= part.from.depth)
        return 0;
    if (!vls_vec_push(&d->open, d->env, part))
        return vls_fail_memory(err);
    if (lane) {
        lane->from.depth = place->depth;
        return 0;
    }
    lane = vls_arena_alloc(&d->arena, sizeof(*lane));
    if (!lane)
        return vls_arena_fail(&d->arena, err);
    *lane = (lane_reach){*place};
    return vls_map_put(NULL, &d->lanes, hash, &place->lane, lane) < 0 ? vls_fail_memory(err) : 0;
}

static int follow_edges(descent *d, const stretch *part, valise_error *err)
{
    vls_edge_row edge = {.above = part->from};
    valise_select select = {.index = "above", .row = &edge, .equal = 1, .from = 1};
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, d->view, &vls_edges, &select, err);

    while (rc >= 0 && (rc = valise_scan_next(&edge, scan, err)) > 0) {
        if (edge.above.depth >= part->end) {
            rc = 0;
            break;
        }
        rc = reach(d, &edge.below, err);
    }
    valise_scan_close(scan);
    return rc;
}

/* Is the head of this session, or this tip, below? */
static int ask(descent *d, const vls_turn_ref *ref, const vls_session_row *session,
               const vls_tip_row *tip, valise_error *err)
{
    vls_turn_row low = {0};
    int rc = vls_turn_need(&low, d->view, ref, d->turn, err);

    if (rc == 0)
        rc = vls_turn_is_before(d->view, d->turn, &low, err);
    return rc > 0 ? d->fn(d->arg, session, tip, err) : rc;
}

static int tell_heads(descent *d, const stretch *part, valise_error *err)
{
    vls_session_row session = {.place = part->from};
    valise_select select = {.index = "head", .row = &session, .equal = 1, .from = 1};
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, d->view, &vls_sessions, &select, err);

    while (rc == 0 && (rc = valise_scan_next(&session, scan, err)) > 0) {
        if (session.place.depth >= part->end) {
            rc = 0;
            break;
        }
        rc = session.head.version > 0 ? ask(d, &session.head, &session, NULL, err) : 0;
    }
    valise_scan_close(scan);
    return rc;
}

static int tell_tips(descent *d, const stretch *part, valise_error *err)
{
    vls_tip_row tip = {.place = part->from};
    valise_select select = {.index = "lane", .row = &tip, .equal = 1, .from = 1};
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, d->view, &vls_tips, &select, err);

    while (rc == 0 && (rc = valise_scan_next(&tip, scan, err)) > 0) {
        vls_session_row session = {.id = tip.session};
        if (tip.place.depth >= part->end) {
            rc = 0;
            break;
        }
        rc = valise_view_get(&session, d->view, &vls_sessions, err);
        if (rc > 0) /* 0: it was deleted, and its tips are still going */
            rc = ask(d, &tip.turn, &session, &tip, err);
    }
    valise_scan_close(scan);
    return rc;
}

int vls_below_each(valise_view *view, const vls_turn_row *turn, vls_holder_fn *fn, void *arg,
                   valise_error *err)
{
    const valise_env *env = view->arena.env;
    descent d = {
        .view = view, .env = env, .turn = turn, .fn = fn, .arg = arg, .open = VLS_VEC_INIT};
    int rc;

    vls_map_init(&d.lanes, env, has_lane);
    vls_arena_init(&d.arena, env, VLS_VIEW_MAX_BYTES);
    rc = reach(&d, &turn->place, err);
    while (rc == 0 && d.open.len > 0) {
        stretch part = d.open.ptr[--d.open.len];
        rc = follow_edges(&d, &part, err);
        if (rc == 0)
            rc = tell_heads(&d, &part, err);
        if (rc == 0)
            rc = tell_tips(&d, &part, err);
    }
    vls_vec_release(&d.open, env);
    vls_map_release(&d.lanes);
    vls_arena_release(&d.arena);
    return rc;
}
