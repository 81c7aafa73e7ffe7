/* trail_read.c -- the versions of a trail, one after the other: a scan for each piece. [W8]
 *
 * Where two versions stand at one place of a lane, only one is on the trail. From the head to the
 * root that is clear: it is the parent of the one before. In the other direction two may have the
 * same parent; then the end of the piece is asked, by jumps, who of them is above it. */
#include "chat/seen.h"

#define FEW 2 /* versions of a piece that are read by key */

typedef struct reading {
    valise_view *view;
    vls_turn_fn *fn;
    void *arg;
    vls_arena arena; /* strings of a row that waits until it is known to be the only one */
} reading;

static int64_t count_of(const vls_trail_piece *piece)
{
    return piece->last.depth - piece->first.depth + 1;
}

static int open_lane(valise_scan **out, valise_view *view, const vls_turn_place *place,
                     bool reverse, valise_error *err)
{
    vls_turn_row row = {.place = *place};
    valise_select select = {.index = "lane",
                            .row = &row,
                            .equal = 1,
                            .from = 1,
                            .flags = reverse ? VALISE_SCAN_REVERSE : 0};

    return valise_view_scan(out, view, &vls_turns, &select, err);
}

/* ---- the head first ---- */

/* From `next` up, `count` of them. */
static int up_by_key(reading *r, vls_turn_ref next, int64_t count, valise_error *err)
{
    int rc = 0;

    for (; rc == 0 && count > 0; count--) {
        vls_turn_row row = {0};
        rc = vls_turn_need(&row, r->view, &next, NULL, err);
        if (rc == 0)
            rc = r->fn(r->arg, &row, err);
        next = row.parent;
    }
    return rc;
}

static int up_by_scan(reading *r, vls_turn_row *from, int64_t count, valise_error *err)
{
    vls_turn_ref next = from->ref;
    int64_t depth = from->place.depth;
    valise_scan *scan = NULL;
    vls_turn_row row = {0};
    int rc = open_lane(&scan, r->view, &from->place, true, err);

    while (rc == 0 && count > 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        rc = 0;
        if (row.place.depth < depth)
            break;
        if (!vls_turn_ref_equal(&row.ref, &next))
            continue;
        rc = r->fn(r->arg, &row, err);
        next = row.parent;
        depth--;
        count--;
    }
    valise_scan_close(scan);
    /* The lane does not show it: the links do. */
    return rc == 0 && count > 0 ? up_by_key(r, next, count, err) : rc;
}

static int read_up(reading *r, const vls_trail_piece *piece, int64_t skip, valise_error *err)
{
    int64_t count = count_of(piece) - skip;
    vls_turn_row from = {0};
    int rc;

    if (skip == 0 && count <= FEW)
        return up_by_key(r, piece->to, count, err);
    rc = vls_turn_need(&from, r->view, &piece->to, NULL, err);
    if (rc == 0 && skip > 0)
        rc = vls_turn_up(&from, r->view, &from, piece->last.depth - skip, err);
    return rc < 0 ? rc : up_by_scan(r, &from, count, err);
}

/* ---- the root side first ---- */

/* Where the reading of a piece stands. */
typedef struct going_down {
    reading *r;
    vls_turn_row end;    /* of the piece */
    vls_turn_ref before; /* the one handed out last; version 0: none yet */
    vls_turn_ref first;  /* the first one */
    vls_turn_row held;   /* may be the next one; ref.version 0: nothing is held */
    int64_t depth;       /* of the next one */
} going_down;

static int hold(going_down *g, const vls_turn_row *row, valise_error *err)
{
    vls_arena *arena = &g->r->arena;
    int rc = 0;

    vls_arena_reset(arena);
    g->held = *row;
    if (row->actor.ptr)
        rc = vls_arena_dup(&g->held.actor, arena, row->actor, err);
    if (rc == 0 && row->in_force.ptr)
        rc = vls_arena_dup(&g->held.in_force, arena, row->in_force, err);
    return rc;
}

/* The version at this depth, by links. */
static int find(vls_turn_row *out, const going_down *g, valise_error *err)
{
    return vls_turn_up(out, g->r->view, &g->end, g->depth, err);
}

/* Hand out what is at g->depth. */
static int give(going_down *g, valise_error *err)
{
    int rc = g->held.ref.version == 0 ? find(&g->held, g, err) : 0;

    if (rc == 0)
        rc = g->r->fn(g->r->arg, &g->held, err);
    g->before = g->held.ref;
    g->held.ref.version = 0;
    g->depth++;
    return rc;
}

/* A row of the lane at g->depth. */
static int take(going_down *g, const vls_turn_row *row, valise_error *err)
{
    vls_turn_row right = {0};
    int rc;

    if (g->before.version == 0)
        return vls_turn_ref_equal(&row->ref, &g->first) ? hold(g, row, err) : 0;
    if (!vls_turn_ref_equal(&row->parent, &g->before))
        return 0;
    if (g->held.ref.version == 0)
        return hold(g, row, err);
    rc = find(&right, g, err);
    if (rc == 0 && vls_turn_ref_equal(&right.ref, &row->ref))
        rc = hold(g, row, err);
    return rc;
}

static int down_by_scan(going_down *g, const vls_turn_place *place, valise_error *err)
{
    valise_scan *scan = NULL;
    vls_turn_row row = {0};
    int rc = open_lane(&scan, g->r->view, place, false, err);

    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        rc = 0;
        while (rc == 0 && g->depth < row.place.depth && g->depth <= g->end.place.depth)
            rc = give(g, err);
        if (rc != 0 || g->depth > g->end.place.depth)
            break;
        rc = take(g, &row, err);
    }
    valise_scan_close(scan);
    while (rc == 0 && g->depth <= g->end.place.depth)
        rc = give(g, err);
    return rc;
}

static int read_down(reading *r, const vls_trail_piece *piece, int64_t skip, valise_error *err)
{
    going_down g = {.r = r, .first = piece->from, .depth = piece->first.depth + skip};
    vls_turn_place place = {piece->first.lane, g.depth};
    vls_turn_row row = {0};
    int rc = vls_turn_need(&g.end, r->view, &piece->to, NULL, err);

    if (rc < 0)
        return rc;
    if (skip > 0) {
        rc = find(&row, &g, err);
        g.first = row.ref;
    }
    if (rc == 0 && count_of(piece) - skip > FEW)
        return down_by_scan(&g, &place, err);
    while (rc == 0 && g.depth <= g.end.place.depth)
        rc = give(&g, err);
    return rc;
}

/* ---- all of it ---- */

int vls_trail_each(const vls_trail *path, valise_view *view, int64_t from, bool reverse,
                   vls_turn_fn *fn, void *arg, valise_error *err)
{
    reading r = {.view = view, .fn = fn, .arg = arg};
    size_t count = path->pieces.len;
    int rc = 0;

    vls_arena_init(&r.arena, view->arena.env, VLS_VIEW_MAX_BYTES);
    for (size_t i = 0; i < count && rc == 0; i++) {
        const vls_trail_piece *piece = &path->pieces.ptr[reverse ? count - 1 - i : i];
        int64_t here = count_of(piece);
        if (from >= here) {
            from -= here;
            continue;
        }
        rc = reverse ? read_up(&r, piece, from, err) : read_down(&r, piece, from, err);
        from = 0;
    }
    vls_arena_release(&r.arena);
    return rc;
}
