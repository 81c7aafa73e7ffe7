/* graph.c -- what comes before what: depths, jumps, ancestors.
 *
 * A version jumps to its parent, or where the two jumps before have the same length over both of
 * them. So from any depth every other one is reached in O(log) steps: jump, unless that goes too
 * far, else one up. */
#include "chat/graph.h"

#include "chat/seen.h"
#include "store/view.h"

int vls_turn_need(vls_turn_row *out, valise_view *view, const vls_turn_ref *ref,
                  const vls_turn_row *below, valise_error *err)
{
    vls_turn_row row = {0};
    int rc = vls_turn_get(&row, view, ref, err);

    if (rc < 0)
        return rc;
    if (rc == 0 && !below)
        return vls_fail(err, VALISE_E_CORRUPT, "turn %s is missing", vls_turn_ref_write(ref).s);
    if (rc == 0)
        return vls_fail(err, VALISE_E_CORRUPT, "turn %s is missing, and %s needs it",
                        vls_turn_ref_write(ref).s, vls_turn_ref_write(&below->ref).s);
    *out = row;
    return 0;
}

/* ---- adding one ---- */

/* Is nobody at this place? 1, or 0. */
static int look_at(valise_view *view, const vls_turn_place *place, valise_error *err)
{
    vls_turn_row row = {.place = *place};
    valise_select select = {.index = "lane", .row = &row, .equal = 2};
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_turns, &select, err);

    if (rc == 0)
        rc = valise_scan_next(&row, scan, err);
    valise_scan_close(scan);
    return rc < 0 ? rc : rc == 0;
}

/* The same. Mostly it is behind the last one of its lane, which writers know. */
static int is_free(valise_view *view, const vls_turn_place *place, valise_error *err)
{
    const vls_turn_row key = {.place = *place};
    const valise_select lane = {.index = "lane", .row = &key, .equal = 1};
    valise_cell last[VALISE_MAX_COLUMNS];
    int rc = vls_view_last(last, NULL, view, &vls_turns, &lane, err);

    if (rc <= 0)
        return rc < 0 ? rc : 1;
    return last[VLS_TURN_DEPTH].as.integer < place->depth ? 1 : look_at(view, place, err);
}

static int link_jump(vls_turn_row *row, valise_view *view, const vls_turn_row *parent,
                     valise_error *err)
{
    int64_t length = parent->place.depth - parent->jump_depth;
    vls_turn_row over = {0};
    int rc;

    if (parent->jump.version == 0 || length != parent->jump_gap) {
        row->jump = parent->ref;
        row->jump_depth = parent->place.depth;
        row->jump_gap = length;
        return 0;
    }
    rc = vls_turn_need(&over, view, &parent->jump, parent, err);
    if (rc < 0)
        return rc;
    row->jump = over.jump;
    row->jump_depth = over.jump_depth;
    row->jump_gap = over.jump_gap;
    return 0;
}

int vls_turn_relink(vls_turn_row *row, valise_view *view, const vls_turn_row *parent,
                    valise_error *err)
{
    vls_turn_row out = *row;
    int rc = 0;

    out.jump = (vls_turn_ref){.version = 0};
    out.jump_depth = out.jump_gap = 0;
    out.place.depth = 0;
    out.merge = (vls_turn_ref){.version = 0};
    if (parent) {
        rc = link_jump(&out, view, parent, err);
        out.place.depth = parent->place.depth + 1;
        out.merge = parent->merge;
    }
    if (out.merges)
        out.merge = out.ref;
    if (rc == 0)
        *row = out;
    return rc;
}

bool vls_turn_has_links(const vls_turn_row *row, const vls_turn_row *linked)
{
    return row->place.depth == linked->place.depth &&
           vls_turn_ref_equal(&row->jump, &linked->jump) && row->jump_depth == linked->jump_depth &&
           row->jump_gap == linked->jump_gap && vls_turn_ref_equal(&row->merge, &linked->merge);
}

int vls_turn_link(vls_turn_row *row, valise_view *view, const vls_turn_row *parent,
                  const valise_uuid *fresh, valise_error *err)
{
    vls_turn_row out = *row;
    int rc = vls_turn_relink(&out, view, parent, err);

    if (rc < 0)
        return rc;
    out.place.lane = *fresh;
    if (parent) {
        const vls_turn_place next = {parent->place.lane, out.place.depth};
        rc = is_free(view, &next, err);
        if (rc > 0)
            out.place.lane = next.lane;
    }
    if (rc >= 0)
        *row = out;
    return vls_settle(rc);
}

/* ---- up ---- */

int vls_turn_up(vls_turn_row *out, valise_view *view, const vls_turn_row *turn, int64_t depth,
                valise_error *err)
{
    vls_turn_row at = *turn;

    assert(depth >= 0 && depth <= turn->place.depth);
    while (at.place.depth > depth) {
        vls_turn_row next = {0};
        bool jumps = at.jump.version > 0 && at.jump_depth >= depth;
        int rc = vls_turn_need(&next, view, jumps ? &at.jump : &at.parent, &at, err);

        if (rc < 0)
            return rc;
        /* Rows may come from elsewhere: what does not lead up would lead nowhere. */
        if (next.place.depth >= at.place.depth || next.place.depth < depth)
            return vls_fail(err, VALISE_E_CORRUPT, "turn %s does not lead to depth %lld",
                            vls_turn_ref_write(&at.ref).s, (long long)depth);
        at = next;
    }
    *out = at;
    return 0;
}

int vls_turn_is_on(valise_view *view, const vls_turn_row *a, const vls_turn_row *b,
                   valise_error *err)
{
    vls_turn_row at = {0};
    int rc;

    if (a->place.depth > b->place.depth)
        return 0;
    rc = vls_turn_up(&at, view, b, a->place.depth, err);
    return rc < 0 ? rc : vls_turn_ref_equal(&at.ref, &a->ref);
}

/* ---- before ---- */

typedef vls_vec(vls_turn_row) turn_stack;

/* What is still to be asked, and the merges whose parents were added to it. */
typedef struct asking {
    valise_view *view;
    const valise_env *env;
    turn_stack open;
    vls_map done;
    vls_arena arena;
} asking;

/* 1 when it was done before. */
static int mark_done(asking *a, const vls_turn_ref *merge, valise_error *err)
{
    uint64_t hash = vls_turn_ref_hash(a->view, merge);
    vls_turn_ref *copy;

    if (vls_map_get(&a->done, hash, merge))
        return 1;
    copy = vls_arena_alloc(&a->arena, sizeof(*copy));
    if (!copy)
        return vls_arena_fail(&a->arena, err);
    *copy = *merge;
    return vls_map_put(NULL, &a->done, hash, copy, copy) < 0 ? vls_fail_memory(err) : 0;
}

/* The further parents of all merges on the way up from `from`. */
static int open_merges(asking *a, const vls_turn_row *from, valise_error *err)
{
    vls_turn_row at = *from;

    while (at.merge.version > 0) {
        vls_turn_ref *parents = NULL;
        size_t count = 0;
        int rc = mark_done(a, &at.merge, err);
        if (rc != 0)
            return vls_settle(rc);
        rc = vls_turn_need(&at, a->view, &at.merge, &at, err);
        if (rc == 0)
            rc = vls_turn_parents(&parents, &count, a->view, &at, err);
        for (size_t i = 1; rc == 0 && i < count; i++) {
            vls_turn_row row = {0};
            rc = vls_turn_need(&row, a->view, &parents[i], &at, err);
            if (rc == 0 && !vls_vec_push(&a->open, a->env, row))
                rc = vls_fail_memory(err);
        }
        if (rc == 0 && at.parent.version == 0)
            return 0;
        if (rc == 0)
            rc = vls_turn_need(&at, a->view, &at.parent, &at, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int ask(asking *a, const vls_turn_row *what, const vls_turn_row *of, valise_error *err)
{
    if (!vls_vec_push(&a->open, a->env, *of))
        return vls_fail_memory(err);
    while (a->open.len > 0) {
        vls_turn_row next = a->open.ptr[--a->open.len];
        int rc = vls_turn_is_on(a->view, what, &next, err);
        if (rc == 0)
            rc = open_merges(a, &next, err);
        if (rc != 0)
            return rc;
    }
    return 0;
}

int vls_turn_is_before(valise_view *view, const vls_turn_row *a, const vls_turn_row *b,
                       valise_error *err)
{
    asking s = {.view = view, .env = view->arena.env, .open = VLS_VEC_INIT};
    int rc;

    if (b->merge.version == 0)
        return vls_turn_is_on(view, a, b, err);
    vls_map_init(&s.done, s.env, vls_turn_ref_is);
    vls_arena_init(&s.arena, s.env, VLS_VIEW_MAX_BYTES);
    rc = ask(&s, a, b, err);
    vls_vec_release(&s.open, s.env);
    vls_map_release(&s.done);
    vls_arena_release(&s.arena);
    return rc;
}
