/* refs.c -- who refers to a version, and what goes when nobody does.
 *
 * A version that goes may be the last who needed its parents: these wait on a list, and are looked
 * at again one by one, until the list is empty or enough went. What is on the list then becomes
 * rows of turn_loose. */
#include "chat/refs.h"

#include <stdlib.h>

#include "base/hex.h"
#include "base/str.h"
#include "blob/hold.h"
#include "chat/find.h"
#include "chat/move.h"
#include "chat/said.h"
#include "kernel/kernel.h"
#include "store/view.h"

/* ---- pins ---- */

/* A pin has the place of a row: turn/ID/VERSION. */
static bool read_place(vls_turn_ref *out, valise_str place)
{
    valise_str coll, id, version, rest;
    vls_turn_ref ref;
    uint64_t number;

    if (!vls_str_cut(&coll, &rest, place, '/') || !vls_str_equal(coll, VLS_STR("turn")) ||
        !vls_str_cut(&id, &version, rest, '/') || vls_uuid_parse(&ref.id, id, NULL) < 0 ||
        !vls_str_to_u64(&number, version) || number > INT64_MAX)
        return false;
    ref.version = (int64_t)number;
    *out = ref;
    return true;
}

int vls_turn_pins_read(vls_turn_pins *out, valise_view *view, valise_error *err)
{
    vls_pin pin;
    vls_turn_ref ref;
    valise_scan *scan = NULL;
    int rc;

    if (out->read)
        return 0;
    rc = valise_view_scan(&scan, view, &vls_pins, NULL, err);
    while (rc >= 0 && (rc = valise_scan_next(&pin, scan, err)) > 0) {
        if (pin.kind == VLS_PIN_ROW && read_place(&ref, pin.place) &&
            !vls_vec_push_in(&out->refs, &view->arena, ref))
            rc = vls_arena_fail(&view->arena, err);
    }
    valise_scan_close(scan);
    if (out->refs.len > 1)
        qsort(out->refs.ptr, out->refs.len, sizeof(*out->refs.ptr), vls_turn_ref_compare);
    out->read = rc == 0;
    return rc;
}

int64_t vls_turn_pins_of(const vls_turn_pins *pins, const vls_turn_ref *ref)
{
    size_t from = 0, to = pins->refs.len;
    int64_t count = 0;

    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (vls_turn_ref_compare(&pins->refs.ptr[middle], ref) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    for (; from < pins->refs.len && vls_turn_ref_equal(&pins->refs.ptr[from], ref); from++)
        count++;
    return count;
}

/* ---- who refers ---- */

typedef struct counting {
    int64_t count;
    bool first; /* one is enough */
} counting;

static int count_child(void *arg, const vls_turn_row *child, valise_error *err)
{
    counting *c = arg;

    (void)child;
    (void)err;
    c->count++;
    return c->first;
}

int vls_turn_each_head(valise_view *view, const vls_turn_row *turn, vls_head_fn *fn, void *arg,
                       valise_error *err)
{
    const vls_session_row key = {.place = turn->place};
    const valise_select select = {.index = "head", .row = &key, .equal = 2};
    vls_session_row row;
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_sessions, &select, err);

    while (rc >= 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        rc = vls_turn_ref_equal(&row.head, &turn->ref) ? fn(arg, &row, err) : 0;
        if (rc != 0)
            break;
    }
    valise_scan_close(scan);
    return rc;
}

int vls_turn_each_tip(valise_view *view, const vls_turn_row *turn, vls_tip_fn *fn, void *arg,
                      valise_error *err)
{
    const vls_tip_row key = {.place = turn->place};
    const valise_select select = {.index = "lane", .row = &key, .equal = 2};
    vls_tip_row row;
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_tips, &select, err);

    while (rc >= 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        rc = vls_turn_ref_equal(&row.turn, &turn->ref) ? fn(arg, &row, err) : 0;
        if (rc != 0)
            break;
    }
    valise_scan_close(scan);
    return rc;
}

static int count_head(void *arg, const vls_session_row *session, valise_error *err)
{
    (void)session;
    return count_child(arg, NULL, err);
}

static int count_tip(void *arg, const vls_tip_row *tip, valise_error *err)
{
    (void)tip;
    return count_child(arg, NULL, err);
}

int vls_turn_refs_count(vls_turn_refs *out, valise_view *view, const vls_turn_row *turn,
                        valise_error *err)
{
    counting children = {.count = 0}, heads = {.count = 0}, tips = {.count = 0};
    vls_turn_pins p = {.read = false};
    int rc = vls_turn_each_child(view, turn, count_child, &children, err);

    if (rc == 0)
        rc = vls_turn_each_head(view, turn, count_head, &heads, err);
    if (rc == 0)
        rc = vls_turn_each_tip(view, turn, count_tip, &tips, err);
    if (rc == 0)
        rc = vls_turn_pins_read(&p, view, err);
    if (rc == 0)
        *out = (vls_turn_refs){children.count, heads.count, tips.count,
                               vls_turn_pins_of(&p, &turn->ref)};
    return rc;
}

int vls_turn_is_needed(valise_view *view, const vls_turn_row *turn, valise_error *err)
{
    counting c = {.first = true};
    int rc = vls_turn_each_child(view, turn, count_child, &c, err);

    if (rc == 0)
        rc = vls_turn_each_head(view, turn, count_head, &c, err);
    return rc != 0 ? rc : vls_turn_each_tip(view, turn, count_tip, &c, err);
}

/* ---- what goes with it ---- */

static int release_blobs(valise_view *view, const vls_turn_row *turn, valise_error *err)
{
    vls_turn_ref_text text = vls_turn_ref_write(&turn->ref);
    vls_blocks blocks;
    int rc = vls_said_read_of(&blocks, view, turn, err);

    for (size_t i = 0; rc >= 0 && i < blocks.blobs.len; i++) {
        const vls_blob_hold hold = {blocks.blobs.ptr[i], VLS_HOLD_TURN, valise_str_of(text.s)};
        rc = vls_blob_release(view, &hold, err);
    }
    return vls_settle(rc);
}

static int delete_edges(valise_view *view, const vls_turn_row *turn, const vls_turn_ref *parents,
                        size_t count, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc >= 0 && i < count; i++) {
        const vls_edge_row edge = {.parent = parents[i], .child = turn->ref};
        rc = valise_view_delete(view, &vls_edges, &edge, err);
    }
    return vls_settle(rc);
}

/* Where no row says so any more: this number was used. */
static int note_number(valise_view *view, const vls_turn_ref *ref, valise_error *err)
{
    const vls_turn_row key = {.ref = {.id = ref->id}};
    const valise_select select = {.row = &key, .equal = 1, .flags = VALISE_SCAN_REVERSE};
    vls_node_row node = {.id = ref->id};
    vls_turn_row row = {.role = 0};
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_turns, &select, err);

    if (rc == 0)
        rc = valise_scan_next(&row, scan, err);
    valise_scan_close(scan);
    if (rc < 0 || (rc > 0 && row.ref.version > ref->version))
        return vls_settle(rc);
    rc = valise_view_get(&node, view, &vls_nodes, err);
    if (rc < 0 || (rc > 0 && node.last >= ref->version))
        return vls_settle(rc);
    node.last = ref->version;
    return valise_view_put(view, &vls_nodes, &node, err);
}

/* ---- letting go ---- */

typedef struct letting {
    valise_view *view;
    int64_t *left;
    vls_turn_pins pins;
    vls_vec(vls_turn_ref) waiting;
} letting;

static int wait_for(letting *l, const vls_turn_ref *ref, valise_error *err)
{
    return vls_vec_push_in(&l->waiting, &l->view->arena, *ref)
               ? 0
               : vls_arena_fail(&l->view->arena, err);
}

static int delete_loose(valise_view *view, const vls_turn_ref *ref, valise_error *err)
{
    const vls_loose_row loose = {*ref};
    int rc = valise_view_delete(view, &vls_loose, &loose, err);

    return vls_settle(rc);
}

static int put_loose(valise_view *view, const vls_turn_ref *ref, valise_error *err)
{
    const vls_loose_row loose = {*ref};

    return valise_view_put(view, &vls_loose, &loose, err);
}

static int remove_version(letting *l, const vls_turn_row *turn, valise_error *err)
{
    valise_view *view = l->view;
    vls_turn_ref *parents = NULL;
    size_t count = 0;
    int rc = vls_turn_parents(&parents, &count, view, turn, err);

    if (rc == 0)
        rc = release_blobs(view, turn, err);
    if (rc == 0)
        rc = delete_edges(view, turn, parents, count, err);
    if (rc == 0)
        rc = valise_view_delete(view, &vls_turns, turn, err);
    if (rc >= 0)
        rc = note_number(view, &turn->ref, err);
    if (rc == 0)
        rc = delete_loose(view, &turn->ref, err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = wait_for(l, &parents[i], err);
    (*l->left)--;
    return rc;
}

static int look_at(letting *l, const vls_turn_ref *ref, valise_error *err)
{
    vls_turn_row turn;
    int rc = vls_turn_get(&turn, l->view, ref, err);

    if (rc == 0)
        return delete_loose(l->view, ref, err);
    if (rc > 0)
        rc = vls_turn_is_needed(l->view, &turn, err);
    if (rc != 0) /* who needs it lets go of it later */
        return rc < 0 ? rc : delete_loose(l->view, ref, err);
    rc = vls_turn_pins_read(&l->pins, l->view, err);
    if (rc < 0)
        return rc;
    if (vls_turn_pins_of(&l->pins, ref) > 0 || *l->left <= 0)
        return put_loose(l->view, ref, err);
    return remove_version(l, &turn, err);
}

static int go_on(letting *l, valise_error *err)
{
    int rc = 0;

    while (rc == 0 && l->waiting.len > 0) {
        vls_turn_ref ref = l->waiting.ptr[--l->waiting.len];
        rc = look_at(l, &ref, err);
    }
    return rc;
}

int vls_turns_let_go(valise_view *view, const vls_turn_row *turns, size_t count, int64_t *left,
                     valise_error *err)
{
    letting l = {.view = view, .left = left};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = wait_for(&l, &turns[i].ref, err);
    return rc < 0 ? rc : go_on(&l, err);
}

/* ---- sessions that are gone ---- */

typedef struct gathering {
    letting *letting;
    vls_vec(vls_tip_row) tips;
    int64_t max;
} gathering;

static int gather_tip(void *arg, const vls_tip_row *tip, valise_error *err)
{
    gathering *g = arg;
    vls_arena *arena = &g->letting->view->arena;

    if ((int64_t)g->tips.len >= g->max)
        return 1;
    return vls_vec_push_in(&g->tips, arena, *tip) ? 0 : vls_arena_fail(arena, err);
}

/* Tips cost as much as versions. Those that are left are found again by the row of the session in
 * turn_loose. */
static int let_tips_go(letting *l, const valise_uuid *session, valise_error *err)
{
    gathering g = {.letting = l, .max = *l->left};
    const vls_turn_ref mark = {.id = *session};
    int more = vls_tip_each(l->view, session, gather_tip, &g, err);
    int rc = VLS_MIN(more, 0);

    for (size_t i = 0; rc >= 0 && i < g.tips.len; i++) {
        rc = valise_view_delete(l->view, &vls_tips, &g.tips.ptr[i], err);
        if (rc >= 0)
            rc = wait_for(l, &g.tips.ptr[i].turn, err);
        (*l->left)--;
    }
    if (rc >= 0)
        rc = more > 0 ? put_loose(l->view, &mark, err) : delete_loose(l->view, &mark, err);
    return rc < 0 ? rc : go_on(l, err);
}

int vls_session_let_go(valise_view *view, const vls_session_row *session, int64_t *left,
                       valise_error *err)
{
    letting l = {.view = view, .left = left};
    int rc = valise_view_delete(view, &vls_sessions, session, err);

    if (rc >= 0)
        rc = session->head.version > 0 ? wait_for(&l, &session->head, err) : 0;
    return rc < 0 ? rc : let_tips_go(&l, &session->id, err);
}

/* ---- what could not go yet ---- */

/* Pinned ones wait for their pin. */
static int list_loose(letting *l, int64_t max, valise_error *err)
{
    vls_loose_row row;
    valise_scan *scan = NULL;
    int rc = vls_turn_pins_read(&l->pins, l->view, err);

    if (rc == 0)
        rc = valise_view_scan(&scan, l->view, &vls_loose, NULL, err);
    while (rc >= 0 && max > 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        if (vls_turn_pins_of(&l->pins, &row.ref) > 0)
            continue;
        rc = wait_for(l, &row.ref, err);
        max--;
    }
    valise_scan_close(scan);
    return vls_settle(rc);
}

int vls_turn_sweep(valise_view *view, int64_t *left, valise_error *err)
{
    letting found = {.view = view, .left = left};
    letting l = {.view = view, .left = left};
    const size_t max = (size_t)*left;
    int rc = list_loose(&found, *left, err);

    l.pins = found.pins;
    for (size_t i = 0; rc == 0 && *left > 0 && i < found.waiting.len; i++) {
        const vls_turn_ref *ref = &found.waiting.ptr[i];
        if (ref->version == 0) {
            rc = let_tips_go(&l, &ref->id, err);
            continue;
        }
        rc = wait_for(&l, ref, err);
        if (rc == 0)
            rc = go_on(&l, err);
    }
    if (found.waiting.len == max) /* there may be more of them */
        *left = 0;
    return rc;
}
