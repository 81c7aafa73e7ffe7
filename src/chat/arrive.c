/* arrive.c -- is what a bundle brings a graph, beside what is here? And after a restore: is all
 * that there is?
 *
 * A version is judged by its parents: they must be there, and give it the depth, the jump and the
 * merge that it says. So first parents lead up to a root. Further parents could lead in a circle:
 * merges that came are walked once, from merge to merge.
 *
 * A scan in a command costs as much as the command has changed: rows are found by key wherever
 * there are many. */
#include "base/hex.h"
#include "base/map.h"
#include "base/str.h"
#include "blob/hold.h"
#include "chat/bundle.h"
#include "chat/graph.h"
#include "chat/seen.h"

static int refuse(const vls_turn_ref *ref, const char *why, valise_error *err)
{
    (void)vls_fail(err, VALISE_E_INVALID, "turn %s of the bundle %s", vls_turn_ref_write(ref).s,
                   why);
    vls_hint(err, "nothing was imported; the bundle is damaged, or was forged");
    return VALISE_E_INVALID;
}

/* ---- all rows of a collection ---- */

typedef int each_fn(void *arg, const void *row, valise_error *err);

/* keeping: fn keeps what it takes of the view's memory. */
static int each_row(valise_view *view, const valise_coll *coll, void *row, bool keeping,
                    each_fn *fn, void *arg, valise_error *err)
{
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, coll, NULL, err);

    while (rc >= 0 && (rc = valise_scan_next(row, scan, err)) > 0) {
        vls_view_mark mark = vls_view_here(view);
        rc = fn(arg, row, err);
        if (!keeping)
            vls_view_rewind(view, mark);
    }
    valise_scan_close(scan);
    return rc;
}

/* ---- versions ---- */

/* A version that shows a blob which others hold here, and it does not yet. */
typedef struct unheld {
    vls_turn_ref ref;
    valise_id blob;
} unheld;

typedef struct arriving {
    valise_view *view;
    const vls_turn_row *const *rows;
    size_t count;
    vls_arena arena; /* of one row */
    vls_map leaves;  /* refs of those that are nobody's parent */
    vls_vec(unheld) unheld;
} arriving;

static int check_links(arriving *a, const vls_turn_row *row, const vls_turn_row *parent,
                       valise_error *err)
{
    valise_error failure = VALISE_ERROR_INIT;
    vls_turn_row linked = *row;
    int rc = vls_turn_relink(&linked, a->view, parent, &failure);

    if (rc == VALISE_E_CORRUPT)
        return refuse(&row->ref, "comes after one that is missing", err);
    if (rc < 0) {
        if (err)
            *err = failure;
        return rc;
    }
    return vls_turn_has_links(row, &linked)
               ? 0
               : refuse(&row->ref, "is not where its parents put it", err);
}

/* Further parents are numbered from 1 on, none left out and none twice. */
static int check_numbers(const arriving *a, const vls_turn_row *row, const vls_turn_ref *parents,
                         size_t count, valise_error *err)
{
    int rc = 1;

    for (size_t i = 1; rc > 0 && i < count; i++) {
        vls_edge_row edge = {.parent = parents[i], .child = row->ref};
        rc = valise_view_get(&edge, a->view, &vls_edges, err);
        if (rc > 0 && edge.position != (int64_t)i)
            return refuse(&row->ref, "is a merge whose parents are not numbered one by one", err);
    }
    return vls_settle(rc);
}

static int check_edges(arriving *a, const vls_turn_row *row, const vls_turn_row *parent,
                       valise_error *err)
{
    vls_edge_row edge = {.parent = parent->ref, .child = row->ref};
    vls_turn_ref *parents = NULL;
    size_t count = 0;
    int rc = 1;

    if (!vls_uuid_equal(&parent->place.lane, &row->place.lane))
        rc = valise_view_get(&edge, a->view, &vls_edges, err);
    if (rc == 0 || (rc > 0 && edge.position != 0))
        return refuse(&row->ref, "has a parent in another lane, but no edge", err);
    if (rc < 0 || !row->merges)
        return vls_settle(rc);
    rc = vls_turn_parents(&parents, &count, a->view, row, err);
    if (rc == 0 && (count < 2 || count > VLS_TURN_PARENTS_MAX))
        return refuse(&row->ref, "is a merge with no further parents, or too many", err);
    return rc < 0 ? rc : check_numbers(a, row, parents, count, err);
}

static int check_parent(arriving *a, const vls_turn_row *row, vls_turn_row *parent,
                        valise_error *err)
{
    int rc;

    if (row->ref.version < 1)
        return refuse(&row->ref, "has an impossible version", err);
    if (row->parent.version == 0) {
        if (row->merges)
            return refuse(&row->ref, "is a merge without parents", err);
        return check_links(a, row, NULL, err);
    }
    rc = vls_turn_get(parent, a->view, &row->parent, err);
    if (rc == 0)
        return refuse(&row->ref, "has a parent that is neither in it nor here", err);
    if (rc > 0)
        rc = check_links(a, row, parent, err);
    return rc < 0 ? rc : check_edges(a, row, parent, err);
}

/* It holds what it shows. A blob that was erased where the bundle was made, or here, has no holder
 * and no record: then there is nothing to hold, unless somebody here does. */
static int check_hold(arriving *a, const vls_turn_row *row, const valise_id *blob,
                      valise_error *err)
{
    vls_turn_ref_text text = vls_turn_ref_write(&row->ref);
    vls_blob_hold hold = {*blob, VLS_HOLD_TURN, valise_str_of(text.s)};
    vls_blob_record record;
    int held = valise_view_get(&hold, a->view, &vls_blob_holds, err);
    int known = held < 0 ? held : vls_blob_record_of(&record, a->view, blob, err);

    if (known < 0 || held == known)
        return VLS_MIN(known, 0);
    if (held)
        return refuse(&row->ref, "holds an unknown blob", err);
    return vls_vec_push(&a->unheld, a->view->arena.env, ((unheld){row->ref, *blob}))
               ? 0
               : vls_fail_memory(err);
}

static int check_holds(arriving *a, const vls_turn_row *row, const vls_blocks *blocks,
                       valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < blocks->blobs.len; i++)
        rc = check_hold(a, row, &blocks->blobs.ptr[i], err);
    return rc;
}

static int take_unheld(arriving *a, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc >= 0 && i < a->unheld.len; i++) {
        const unheld *u = &a->unheld.ptr[i];
        valise_str holder;
        rc = vls_arena_dup(&holder, &a->view->arena, valise_str_of(vls_turn_ref_write(&u->ref).s),
                           err);
        if (rc == 0)
            rc =
                vls_blob_take(a->view, &(vls_blob_hold){u->blob, VLS_HOLD_TURN, holder}, NULL, err);
    }
    return vls_settle(rc);
}

static int check_said(arriving *a, const vls_turn_row *row, const vls_turn_row *parent,
                      valise_error *err)
{
    VLS_AUTO(blob) valise_blob *blob = NULL;
    valise_str above = parent ? parent->in_force : (valise_str){NULL, 0};
    vls_blocks blocks;
    int rc = vls_turn_blocks(&blocks, &blob, a->view, &a->arena, row, err);

    if (rc == VALISE_E_INVALID || rc == VALISE_E_LIMIT)
        return refuse(&row->ref, "has invalid blocks", err);
    if (rc <= 0)
        return rc; /* 0: it was erased */
    if (row->calls != (blocks.calls.len > 0))
        return refuse(&row->ref, "has blocks that do not match its row", err);
    if (blocks.to.ptr ? !vls_str_equal(blocks.to, row->in_force)
                      : !row->merges && !vls_str_equal(above, row->in_force))
        return refuse(&row->ref, "has a role in force that does not match its path", err);
    return check_holds(a, row, &blocks, err);
}

static int check_turn(arriving *a, const vls_turn_row *row, valise_error *err)
{
    vls_view_mark mark = vls_view_here(a->view);
    vls_turn_row parent = {.role = 0};
    int rc = check_parent(a, row, &parent, err);

    if (rc == 0)
        rc = check_said(a, row, row->parent.version > 0 ? &parent : NULL, err);
    vls_arena_reset(&a->arena);
    vls_view_rewind(a->view, mark);
    return rc;
}

/* ---- versions that nobody needs ---- */

static int find_leaves(arriving *a, valise_error *err)
{
    vls_turn_ref *refs = vls_arena_array(&a->view->arena, a->count, sizeof(*refs));

    if (!refs)
        return vls_arena_fail(&a->view->arena, err);
    for (size_t i = 0; i < a->count; i++) {
        refs[i] = a->rows[i]->ref;
        if (vls_map_put(NULL, &a->leaves, vls_turn_ref_hash(a->view, &refs[i]), &refs[i],
                        &refs[i]) < 0)
            return vls_fail_memory(err);
    }
    for (size_t i = 0; i < a->count; i++) {
        const vls_turn_ref *parent = &a->rows[i]->parent;
        (void)vls_map_remove(&a->leaves, vls_turn_ref_hash(a->view, parent), parent);
    }
    return 0;
}

/* All heads and tips, and further parents: who is one of these is needed. */
static int strike_needed(arriving *a, const valise_coll *coll, void *row, const vls_turn_ref *ref,
                         valise_error *err)
{
    valise_scan *scan = NULL;
    int rc = a->leaves.len == 0 ? 0 : valise_view_scan(&scan, a->view, coll, NULL, err);

    while (rc >= 0 && scan && (rc = valise_scan_next(row, scan, err)) > 0)
        (void)vls_map_remove(&a->leaves, vls_turn_ref_hash(a->view, ref), ref);
    valise_scan_close(scan);
    return vls_settle(rc);
}

/* A bundle of turns without a session: they wait for somebody, or for gc. */
static int put_loose(arriving *a, valise_error *err)
{
    vls_session_row session;
    vls_edge_row edge;
    vls_tip_row tip;
    int rc = find_leaves(a, err);

    if (rc == 0)
        rc = strike_needed(a, &vls_sessions, &session, &session.head, err);
    if (rc == 0)
        rc = strike_needed(a, &vls_tips, &tip, &tip.turn, err);
    if (rc == 0)
        rc = strike_needed(a, &vls_edges, &edge, &edge.parent, err);
    for (size_t i = 0; rc == 0 && i < a->count; i++) { /* in the order in which they came */
        const vls_turn_ref *ref = &a->rows[i]->ref;
        const vls_loose_row loose = {*ref};
        if (vls_map_get(&a->leaves, vls_turn_ref_hash(a->view, ref), ref))
            rc = valise_view_put(a->view, &vls_loose, &loose, err);
    }
    return rc;
}

int vls_turns_arrive(valise_view *view, const void *const *rows, size_t count, valise_error *err)
{
    arriving a = {.view = view, .rows = (const vls_turn_row *const *)rows, .count = count};
    int rc = 0;

    vls_arena_init(&a.arena, view->arena.env, VLS_VIEW_MAX_BYTES);
    vls_map_init(&a.leaves, view->arena.env, vls_turn_ref_is);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = check_turn(&a, rows[i], err);
    if (rc == 0)
        rc = take_unheld(&a, err);
    if (rc == 0)
        rc = put_loose(&a, err);
    vls_vec_release(&a.unheld, view->arena.env);
    vls_map_release(&a.leaves);
    vls_arena_release(&a.arena);
    return rc;
}

static int check_restored(void *arg, const void *row, valise_error *err)
{
    arriving *a = arg;
    int rc = check_turn(a, row, err);

    a->unheld.len = 0; /* `validate` tells of these */
    return rc;
}

int vls_turns_restored(valise_view *view, valise_error *err)
{
    arriving a = {.view = view};
    vls_turn_row row;
    int rc;

    vls_arena_init(&a.arena, view->arena.env, VLS_VIEW_MAX_BYTES);
    rc = each_row(view, &vls_turns, &row, false, check_restored, &a, err);
    vls_vec_release(&a.unheld, view->arena.env);
    vls_arena_release(&a.arena);
    return rc;
}

/* ---- edges ---- */

static int check_edge(void *arg, const void *row, valise_error *err)
{
    valise_view *view = arg;
    const vls_edge_row *edge = row;
    vls_turn_row parent, child;
    int rc = vls_turn_get(&child, view, &edge->child, err);

    if (rc > 0)
        rc = vls_turn_get(&parent, view, &edge->parent, err);
    if (rc == 0)
        return refuse(&edge->child, "has an edge without end points", err);
    if (rc < 0)
        return rc;
    if (!vls_turn_place_equal(&edge->above, &parent.place) ||
        !vls_turn_place_equal(&edge->below, &child.place) || edge->position < 0 ||
        (edge->position > 0 && !child.merges) ||
        (edge->position == 0 && !vls_turn_ref_equal(&child.parent, &edge->parent)))
        return refuse(&edge->child, "has an edge that does not belong to it", err);
    return 0;
}

/* What was there has its parents. */
static int check_new(valise_view *view, const vls_edge_row *edge, valise_error *err)
{
    const vls_turn_row child = {.ref = edge->child};
    int64_t made = 0;
    int rc = valise_view_version(&made, view, &vls_turns, &child, err);

    if (rc < 0 || made == 0 || made >= valise_view_stamp(view)->seq)
        return rc;
    return refuse(&edge->child, "exists here, and would get another parent", err);
}

/* From merge to merge. A version of before the bundle leads to none that came. */
typedef struct merge_node {
    vls_turn_ref ref;      /* what the map finds it by */
    vls_turn_ref *parents; /* NULL: not asked yet */
    size_t count, at;
    enum { UNSEEN, OPEN, DONE } state;
} merge_node;

typedef struct circling {
    valise_view *view;
    vls_map nodes; /* of merge_node, by ref */
    vls_vec(merge_node *) open;
} circling;

static int add_node(circling *c, const vls_turn_ref *ref, valise_error *err)
{
    uint64_t hash = vls_turn_ref_hash(c->view, ref);
    merge_node *node;

    if (vls_map_get(&c->nodes, hash, ref))
        return 0;
    node = vls_arena_zalloc(&c->view->arena, sizeof(*node));
    if (!node)
        return vls_arena_fail(&c->view->arena, err);
    node->ref = *ref;
    return vls_map_put(NULL, &c->nodes, hash, &node->ref, node) < 0 ? vls_fail_memory(err) : 0;
}

static int open_node(circling *c, merge_node *node, valise_error *err)
{
    vls_turn_row row;
    int rc = vls_turn_get(&row, c->view, &node->ref, err);

    if (rc > 0)
        rc = vls_turn_parents(&node->parents, &node->count, c->view, &row, err);
    if (rc < 0)
        return rc;
    node->state = OPEN;
    return vls_vec_push(&c->open, c->view->arena.env, node) ? 0 : vls_fail_memory(err);
}

/* The next merge above the one on top. */
static int go_on(circling *c, merge_node *node, valise_error *err)
{
    vls_turn_row parent;
    merge_node *next;
    int rc;

    if (node->at == node->count) {
        node->state = DONE;
        c->open.len--;
        return 0;
    }
    rc = vls_turn_get(&parent, c->view, &node->parents[node->at++], err);
    if (rc <= 0 || parent.merge.version == 0)
        return vls_settle(rc);
    next = vls_map_get(&c->nodes, vls_turn_ref_hash(c->view, &parent.merge), &parent.merge);
    if (!next || next->state == DONE)
        return 0;
    if (next->state == OPEN)
        return refuse(&next->ref, "is its own ancestor", err);
    return open_node(c, next, err);
}

/* Edges to further parents are those of merges. */
static int add_merge(void *arg, const void *row, valise_error *err)
{
    const vls_edge_row *edge = row;

    return edge->position > 0 ? add_node(arg, &edge->child, err) : 0;
}

static int walk_merge(void *arg, const void *row, valise_error *err)
{
    circling *c = arg;
    const vls_edge_row *edge = row;
    merge_node *node =
        vls_map_get(&c->nodes, vls_turn_ref_hash(c->view, &edge->child), &edge->child);
    int rc = node && node->state == UNSEEN ? open_node(c, node, err) : 0;

    while (rc == 0 && c->open.len > 0)
        rc = go_on(c, c->open.ptr[c->open.len - 1], err);
    return rc;
}

static void end_circling(circling *c)
{
    vls_vec_release(&c->open, c->view->arena.env);
    vls_map_release(&c->nodes);
}

int vls_edges_arrive(valise_view *view, const void *const *rows, size_t count, valise_error *err)
{
    circling c = {.view = view};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = check_new(view, rows[i], err);
        if (rc == 0)
            rc = check_edge(view, rows[i], err);
    }
    vls_map_init(&c.nodes, view->arena.env, vls_turn_ref_is);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = add_merge(&c, rows[i], err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = walk_merge(&c, rows[i], err);
    end_circling(&c);
    return rc;
}

int vls_edges_restored(valise_view *view, valise_error *err)
{
    circling c = {.view = view};
    vls_edge_row row;
    int rc = each_row(view, &vls_edges, &row, false, check_edge, view, err);

    vls_map_init(&c.nodes, view->arena.env, vls_turn_ref_is);
    if (rc == 0)
        rc = each_row(view, &vls_edges, &row, true, add_merge, &c, err);
    if (rc == 0)
        rc = each_row(view, &vls_edges, &row, true, walk_merge, &c, err);
    end_circling(&c);
    return rc;
}

/* ---- sessions ---- */

static int refuse_session(const valise_uuid *id, const char *why, valise_error *err)
{
    (void)vls_fail(err, VALISE_E_INVALID, "session %s of the bundle %s", vls_uuid_text(id).s, why);
    vls_hint(err, "nothing was imported; the bundle is damaged, or was forged");
    return VALISE_E_INVALID;
}

static int check_session(void *arg, const void *session, valise_error *err)
{
    valise_view *view = arg;
    const vls_session_row *row = session;
    vls_tip_row tip = {.session = row->id, .turn = row->head};
    vls_turn_row head = {.role = 0};
    int rc = row->head.version == 0 ? 1 : vls_turn_get(&head, view, &row->head, err);

    if (rc == 0)
        return refuse_session(&row->id, "has a head that is neither in it nor here", err);
    if (rc > 0 && row->head.version > 0 && !vls_turn_place_equal(&row->place, &head.place))
        return refuse_session(&row->id, "has its head in another place than it says", err);
    if (rc > 0 && !vls_str_equal(row->role, head.in_force.ptr ? head.in_force : row->first_role))
        return refuse_session(&row->id, "has a role that does not match its head", err);
    if (rc > 0 && row->head.version > 0)
        rc = valise_view_get(&tip, view, &vls_tips, err);
    if (rc > 0 && row->head.version > 0)
        return refuse_session(&row->id, "has its head as a tip as well", err);
    return vls_settle(rc);
}

int vls_sessions_arrive(valise_view *view, const void *const *rows, size_t count, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = check_session(view, rows[i], err);
    return rc;
}

int vls_sessions_restored(valise_view *view, valise_error *err)
{
    vls_session_row row;

    return each_row(view, &vls_sessions, &row, false, check_session, view, err);
}

static int check_tip(void *arg, const void *row, valise_error *err)
{
    valise_view *view = arg;
    const vls_tip_row *tip = row;
    vls_session_row session = {.id = tip->session};
    vls_turn_row turn;
    vls_loose_row loose = {{.id = tip->session}};
    int rc = valise_view_get(&session, view, &vls_sessions, err);

    if (rc == 0) /* it was deleted, and its tips are still going */
        rc = valise_view_get(&loose, view, &vls_loose, err);
    if (rc > 0)
        rc = vls_turn_get(&turn, view, &tip->turn, err);
    if (rc < 0)
        return rc;
    if (rc == 0 || !vls_turn_place_equal(&tip->place, &turn.place))
        return refuse_session(&tip->session, "has a tip that is not one", err);
    return 0;
}

int vls_tips_arrive(valise_view *view, const void *const *rows, size_t count, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = check_tip(view, rows[i], err);
    return rc;
}

int vls_tips_restored(valise_view *view, valise_error *err)
{
    vls_tip_row row;

    return each_row(view, &vls_tips, &row, false, check_tip, view, err);
}
