/* branch.c -- removing a version, or a branch: whose heads and tips are there, and where they go.
 * [W5]
 *
 *     t1 - t2 - t3 - t4        delete t3, recursive: the branch is t3 and t4; heads and tips on it
 *           \- t5 ---/         go to the next first parent that stays, t2. Where t4 merges t5, t5
 *                              becomes a tip of who was there and would have it no more.
 *
 * Sessions can have thousands of tips, and a branch thousands of merges: each session walks the
 * branch once, and what it has elsewhere is met once (seen.h). */
#include "chat/sweep.h"

#include <stdlib.h>

#include "base/hex.h"
#include "base/text.h"
#include "chat/find.h"
#include "chat/graph.h"
#include "chat/move.h"
#include "chat/seen.h"
#include "store/view.h"

/* ---- which versions ---- */

typedef struct finding {
    valise_view *view;
    vls_branch *branch;
    vls_map has; /* vls_turn_ref, in memory of the view */
} finding;

static int add_turn(finding *f, const vls_turn_row *row, valise_error *err)
{
    vls_arena *arena = &f->view->arena;
    vls_turn_ref *ref = vls_arena_alloc(arena, sizeof(*ref));

    if (!ref || !vls_vec_push_in(&f->branch->turns, arena, *row))
        return vls_arena_fail(arena, err);
    *ref = row->ref;
    return vls_map_put(NULL, &f->has, vls_turn_ref_hash(f->view, ref), ref, ref) < 0
               ? vls_fail_memory(err)
               : 0;
}

static int add_child(void *arg, const vls_turn_row *child, valise_error *err)
{
    finding *f = arg;
    vls_turn_row row;
    int rc;

    f->branch->leaf = false;
    if (vls_map_get(&f->has, vls_turn_ref_hash(f->view, &child->ref), &child->ref))
        return 0; /* a merge of two of them */
    if (f->branch->turns.len >= VLS_REMOVE_MAX) {
        (void)vls_fail(err, VALISE_E_LIMIT, "the branch has more than %d turns", VLS_REMOVE_MAX);
        vls_hint(err, "delete a branch further down first");
        return VALISE_E_LIMIT;
    }
    rc = vls_turn_get(&row, f->view, &child->ref, err); /* in memory of the view */
    return rc <= 0 ? rc : add_turn(f, &row, err);
}

static int see_child(void *arg, const vls_turn_row *child, valise_error *err)
{
    finding *f = arg;

    (void)child;
    (void)err;
    f->branch->leaf = false;
    return 1;
}

static int gather_below(finding *f, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc >= 0 && i < f->branch->turns.len; i++) {
        const vls_turn_row turn = f->branch->turns.ptr[i]; /* the list moves */
        rc = vls_turn_each_child(f->view, &turn, add_child, f, err);
    }
    return rc;
}

static int gather(vls_branch *out, valise_view *view, const vls_turn_remove_args *args,
                  valise_error *err)
{
    const vls_turn_ref ref = {args->turn, args->version};
    finding f = {.view = view, .branch = out};
    vls_turn_row top;
    int rc = vls_turn_get(&top, view, &ref, err);

    *out = (vls_branch){.leaf = true};
    if (rc == 0)
        return vls_fail(err, VALISE_E_NOT_FOUND, "there is no turn %s", vls_turn_ref_write(&ref).s);
    vls_map_init(&f.has, view->arena.env, vls_turn_ref_is);
    if (rc > 0)
        rc = add_turn(&f, &top, err);
    if (rc == 0)
        rc = args->recursive ? gather_below(&f, err)
                             : vls_turn_each_child(view, &top, see_child, &f, err);
    vls_map_release(&f.has);
    return vls_settle(rc);
}

/* ---- whose heads and tips ---- */

#define NAMED 4u /* sessions that a conflict names */

typedef struct others {
    valise_view *view;
    valise_uuid own;
    vls_map known; /* ids of all that were met */
    size_t count;  /* of those that are there */
    valise_uuid first[NAMED];
} others;

static bool is_known(const void *item, const void *session)
{
    return vls_uuid_equal(item, session);
}

/* Was it deleted, and its tips are still going? 1, or 0. */
static int is_gone(valise_view *view, const valise_uuid *session, valise_error *err)
{
    vls_view_mark mark = vls_view_here(view);
    vls_session_row row = {.id = *session};
    int rc = valise_view_get(&row, view, &vls_sessions, err);

    vls_view_rewind(view, mark);
    return rc < 0 ? rc : rc == 0;
}

/* Each session is looked at once, however many tips it has there. */
static int add_other(others *o, const valise_uuid *session, bool tip, valise_error *err)
{
    uint64_t hash = vls_lane_hash(o->view, session);
    valise_uuid *copy;
    int gone;

    if (vls_uuid_equal(session, &o->own) || vls_map_get(&o->known, hash, session))
        return 0;
    gone = tip ? is_gone(o->view, session, err) : 0;
    if (gone < 0)
        return gone;
    copy = vls_arena_alloc(&o->view->arena, sizeof(*copy));
    if (!copy)
        return vls_arena_fail(&o->view->arena, err);
    *copy = *session;
    if (vls_map_put(NULL, &o->known, hash, copy, copy) < 0)
        return vls_fail_memory(err);
    if (gone == 0 && o->count < NAMED)
        o->first[o->count] = *session;
    o->count += gone == 0;
    return 0;
}

static int add_head(void *arg, const vls_session_row *session, valise_error *err)
{
    return add_other(arg, &session->id, false, err);
}

static int add_tip(void *arg, const vls_tip_row *tip, valise_error *err)
{
    return add_other(arg, &tip->session, true, err);
}

/* "label (id)", or the id alone. */
static int name_session(vls_buf *out, valise_view *view, const valise_uuid *id, valise_error *err)
{
    vls_session_row row = {.id = *id};
    int rc = valise_view_get(&row, view, &vls_sessions, err);

    if (rc < 0)
        return rc;
    if (rc > 0 && row.label.len > 0)
        vls_buf_printf(out, "%s (%s)", vls_text_short(row.label).s, vls_uuid_text(id).s);
    else
        vls_buf_add_text(out, vls_uuid_text(id).s);
    return 0;
}

static int fail_others(const others *o, const vls_turn_row *top, valise_error *err)
{
    vls_buf text;
    valise_str names = {NULL, 0};
    int rc = 0;

    vls_buf_init_in(&text, &o->view->arena, (size_t)1 << 16);
    for (size_t i = 0; rc == 0 && i < o->count && i < NAMED; i++) {
        vls_buf_add_text(&text, i ? ", " : "");
        rc = name_session(&text, o->view, &o->first[i], err);
    }
    vls_buf_add_text(&text, o->count > NAMED ? ", ..." : "");
    if (rc == 0)
        rc = vls_buf_keep(&names, &text, err);
    if (rc < 0)
        return rc;
    (void)vls_fail(err, VALISE_E_CONFLICT, "turn %s is where %zu other session%s: %.*s",
                   vls_turn_ref_write(&top->ref).s, o->count, o->count == 1 ? " is" : "s are",
                   VALISE_STR_ARG(names));
    vls_hint(err, "--force deletes it anyway, and moves their heads up");
    return VALISE_E_CONFLICT;
}

static int check_others(valise_view *view, const vls_branch *branch,
                        const vls_turn_remove_args *args, valise_error *err)
{
    others o = {.view = view, .own = args->session};
    int rc = 0;

    if (args->force)
        return 0;
    vls_map_init(&o.known, view->arena.env, is_known);
    for (size_t i = 0; rc == 0 && i < branch->turns.len; i++) {
        rc = vls_turn_each_head(view, &branch->turns.ptr[i], add_head, &o, err);
        if (rc == 0)
            rc = vls_turn_each_tip(view, &branch->turns.ptr[i], add_tip, &o, err);
    }
    vls_map_release(&o.known);
    if (rc < 0 || o.count == 0)
        return rc;
    return fail_others(&o, &branch->turns.ptr[0], err);
}

int vls_branch_find(vls_branch *out, valise_view *view, const vls_turn_remove_args *args,
                    valise_error *err)
{
    int rc = gather(out, view, args, err);

    return rc < 0 ? rc : check_others(view, out, args, err);
}

/* ---- where they go ---- */

/* A version that goes, or a parent of one. */
typedef struct node {
    vls_turn_ref ref;        /* what the map finds it by */
    const vls_turn_row *row; /* NULL: it stays */
    struct node **parents;   /* of one that goes */
    size_t parent_count;
    bool knows_up;
    struct node *up; /* the first one up by first parents that stays; NULL: none */
    size_t seen;     /* by the session with this number, the last one that had it */
} node;

/* A head or a tip on the branch. */
typedef struct place {
    valise_uuid session;
    node *at;
    bool head;
    size_t number; /* in the order in which they were found */
} place;

/* A head that goes elsewhere. */
typedef struct moving {
    vls_session_row session;
    vls_turn_row to;
    bool nowhere; /* instead: nothing is left above */
} moving;

/* All is found out first: a scan costs as much as the command has changed. */
typedef struct removing {
    valise_view *view;
    const vls_branch *branch;
    vls_map nodes; /* by ref */
    vls_vec(place) places;
    vls_vec(node *) walk, ends; /* see find_ends */
    vls_vec(moving) heads;
    vls_vec(vls_tip_row) tips; /* new ones */
} removing;

static int add_node(node **out, removing *r, const vls_turn_ref *ref, valise_error *err)
{
    uint64_t hash = vls_turn_ref_hash(r->view, ref);
    node *n = vls_map_get(&r->nodes, hash, ref);

    if (!n) {
        n = vls_arena_zalloc(&r->view->arena, sizeof(*n));
        if (!n)
            return vls_arena_fail(&r->view->arena, err);
        n->ref = *ref;
        if (vls_map_put(NULL, &r->nodes, hash, &n->ref, n) < 0)
            return vls_fail_memory(err);
    }
    *out = n;
    return 0;
}

static int add_parents(removing *r, node *n, valise_error *err)
{
    vls_turn_ref *parents = NULL;
    int rc = vls_turn_parents(&parents, &n->parent_count, r->view, n->row, err);

    if (rc < 0 || n->parent_count == 0)
        return rc;
    n->parents = vls_arena_array(&r->view->arena, n->parent_count, sizeof(*n->parents));
    if (!n->parents)
        return vls_arena_fail(&r->view->arena, err);
    for (size_t i = 0; rc == 0 && i < n->parent_count; i++)
        rc = add_node(&n->parents[i], r, &parents[i], err);
    return rc;
}

static node *find_node(const removing *r, const vls_turn_ref *ref)
{
    return vls_map_get(&r->nodes, vls_turn_ref_hash(r->view, ref), ref);
}

static int add_place(removing *r, const valise_uuid *session, const vls_turn_ref *ref, bool head,
                     valise_error *err)
{
    const place p = {*session, find_node(r, ref), head, r->places.len};

    return vls_vec_push_in(&r->places, &r->view->arena, p) ? 0
                                                           : vls_arena_fail(&r->view->arena, err);
}

static int take_head(void *arg, const vls_session_row *session, valise_error *err)
{
    return add_place(arg, &session->id, &session->head, true, err);
}

static int take_tip(void *arg, const vls_tip_row *tip, valise_error *err)
{
    return add_place(arg, &tip->session, &tip->turn, false, err);
}

/* By session, the head first. */
static int compare_places(const void *a, const void *b)
{
    const place *x = a, *y = b;
    int order = memcmp(&x->session, &y->session, sizeof(x->session));

    if (order == 0)
        order = y->head - x->head;
    return order ? order : (x->number > y->number) - (x->number < y->number);
}

static int take_all(removing *r, valise_error *err)
{
    const vls_branch *branch = r->branch;
    node *n = NULL;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < branch->turns.len; i++) {
        rc = add_node(&n, r, &branch->turns.ptr[i].ref, err);
        if (rc == 0)
            n->row = &branch->turns.ptr[i];
    }
    for (size_t i = 0; rc == 0 && i < branch->turns.len; i++) {
        const vls_turn_row *turn = &branch->turns.ptr[i];
        rc = add_node(&n, r, &turn->ref, err);
        if (rc == 0)
            rc = add_parents(r, n, err);
        if (rc == 0)
            rc = vls_turn_each_head(r->view, turn, take_head, r, err);
        if (rc == 0)
            rc = vls_turn_each_tip(r->view, turn, take_tip, r, err);
    }
    if (rc == 0 && r->places.len > 1)
        qsort(r->places.ptr, r->places.len, sizeof(*r->places.ptr), compare_places);
    return rc;
}

/* All on the way learn it. */
static node *find_up(node *from)
{
    node *at = from, *up;

    while (at && at->row && !at->knows_up)
        at = at->parent_count > 0 ? at->parents[0] : NULL;
    up = at && at->row ? at->up : at;
    for (at = from; at && at->row && !at->knows_up;
         at = at->parent_count > 0 ? at->parents[0] : NULL) {
        at->knows_up = true;
        at->up = up;
    }
    return up;
}

/* What is above `from` and stays is an end. Each is met once for each session. */
static int find_ends(removing *r, node *from, size_t session, valise_error *err)
{
    vls_arena *arena = &r->view->arena;
    bool room = vls_vec_push_in(&r->walk, arena, from);

    while (room && r->walk.len > 0) {
        node *n = r->walk.ptr[--r->walk.len];
        if (n->seen == session)
            continue;
        n->seen = session;
        if (!n->row)
            room = vls_vec_push_in(&r->ends, arena, n);
        for (size_t i = n->parent_count; room && i > 0; i--)
            room = vls_vec_push_in(&r->walk, arena, n->parents[i - 1]);
    }
    return room ? 0 : vls_arena_fail(arena, err);
}

/* ---- what a session would lose ---- */

typedef struct keeping {
    removing *r;
    vls_met has;   /* what the session has, but for the branch */
    vls_met later; /* what is before the ends that were looked at, the last one first */
    vls_vec(vls_turn_row) lost;
} keeping;

/* A version and all before it. What is read for that is forgotten. */
static int meet(vls_met *met, const vls_turn_ref *ref, valise_error *err)
{
    vls_view_mark mark = vls_view_here(met->view);
    vls_turn_row row;
    int rc = vls_turn_get(&row, met->view, ref, err);

    if (rc > 0)
        rc = vls_met_trail(NULL, met, &row, false, err);
    vls_view_rewind(met->view, mark);
    return rc;
}

static int was_met(const vls_met *met, const vls_turn_row *turn, valise_error *err)
{
    vls_view_mark mark = vls_view_here(met->view);
    int rc = vls_met_has(met, turn, err);

    vls_view_rewind(met->view, mark);
    return rc;
}

static int meet_tip(void *arg, const vls_tip_row *tip, valise_error *err)
{
    keeping *k = arg;
    const node *n = find_node(k->r, &tip->turn);

    return n && n->row ? 0 : meet(&k->has, &tip->turn, err);
}

static int find_lost(keeping *k, valise_error *err)
{
    valise_view *view = k->r->view;
    vls_turn_row row;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < k->r->ends.len; i++) {
        rc = vls_turn_need(&row, view, &k->r->ends.ptr[i]->ref, &k->r->branch->turns.ptr[0], err);
        if (rc == 0)
            rc = was_met(&k->has, &row, err);
        if (rc != 0) {
            rc = vls_settle(rc);
            continue;
        }
        if (!vls_vec_push_in(&k->lost, &view->arena, row))
            return vls_arena_fail(&view->arena, err);
        rc = meet(&k->has, &row.ref, err);
    }
    return rc;
}

/* What is before another one is no tip. */
static int add_tips(keeping *k, const valise_uuid *session, valise_error *err)
{
    valise_view *view = k->r->view;
    int rc = 0;

    for (size_t i = k->lost.len; rc == 0 && i > 0; i--) {
        const vls_turn_row *turn = &k->lost.ptr[i - 1];
        const vls_tip_row tip = {*session, turn->ref, turn->place, valise_view_stamp(view)->time};
        rc = was_met(&k->later, turn, err);
        if (rc != 0) {
            rc = vls_settle(rc);
            continue;
        }
        if (!vls_vec_push_in(&k->r->tips, &view->arena, tip))
            return vls_arena_fail(&view->arena, err);
        rc = meet(&k->later, &turn->ref, err);
    }
    return rc;
}

/* Ends that are neither before the head (version 0: none), nor before a tip, become tips. */
static int keep_ends(removing *r, const valise_uuid *session, const vls_turn_ref *head,
                     valise_error *err)
{
    keeping k = {.r = r};
    int rc = 0;

    if (r->ends.len == 0 || (r->ends.len == 1 && vls_turn_ref_equal(&r->ends.ptr[0]->ref, head)))
        return 0;
    vls_met_init(&k.has, r->view);
    vls_met_init(&k.later, r->view);
    if (head->version > 0)
        rc = meet(&k.has, head, err);
    if (rc == 0)
        rc = vls_tip_each(r->view, session, meet_tip, &k, err);
    if (rc == 0)
        rc = find_lost(&k, err);
    if (rc == 0)
        rc = add_tips(&k, session, err);
    vls_met_release(&k.has);
    vls_met_release(&k.later);
    return rc;
}

/* ---- all of it ---- */

static int move_head(removing *r, const vls_session_row *session, const node *up, valise_error *err)
{
    moving m = {.session = *session, .nowhere = !up};
    int rc = 0;

    if (up)
        rc = vls_turn_need(&m.to, r->view, &up->ref, &r->branch->turns.ptr[0], err);
    if (rc == 0 && !vls_vec_push_in(&r->heads, &r->view->arena, m))
        rc = vls_arena_fail(&r->view->arena, err);
    return rc;
}

/* All places of one session: `count` from `first` on. */
static int leave(removing *r, size_t first, size_t count, valise_error *err)
{
    const place *places = &r->places.ptr[first];
    vls_session_row session = {.id = places[0].session};
    vls_turn_ref head;
    int rc = valise_view_get(&session, r->view, &vls_sessions, err);

    if (rc <= 0) /* 0: it was deleted, and its tips are still going */
        return rc;
    r->ends.len = 0;
    rc = 0;
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = find_ends(r, places[i].at, first + 1, err);
    head = session.head;
    if (rc == 0 && places[0].head) {
        const node *up = find_up(places[0].at);
        head = up ? up->ref : (vls_turn_ref){.version = 0};
        rc = move_head(r, &session, up, err);
    }
    return rc < 0 ? rc : keep_ends(r, &session.id, &head, err);
}

static int leave_all(removing *r, valise_error *err)
{
    int rc = take_all(r, err);

    for (size_t first = 0, end; rc == 0 && first < r->places.len; first = end) {
        const valise_uuid *session = &r->places.ptr[first].session;
        for (end = first + 1; end < r->places.len; end++) {
            if (!vls_uuid_equal(&r->places.ptr[end].session, session))
                break;
        }
        rc = leave(r, first, end - first, err);
    }
    return rc;
}

static int change_all(const removing *r, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc >= 0 && i < r->places.len; i++) {
        const place *p = &r->places.ptr[i];
        const vls_tip_row tip = {.session = p->session, .turn = p->at->ref};
        rc = p->head ? 0 : valise_view_delete(r->view, &vls_tips, &tip, err);
    }
    rc = vls_settle(rc);
    for (size_t i = 0; rc == 0 && i < r->heads.len; i++) {
        moving *m = &r->heads.ptr[i];
        rc = vls_session_place(&m->session, r->view, m->nowhere ? NULL : &m->to, err);
    }
    for (size_t i = 0; rc == 0 && i < r->tips.len; i++)
        rc = valise_view_put(r->view, &vls_tips, &r->tips.ptr[i], err);
    return rc;
}

int vls_branch_remove(vls_swept *out, valise_view *view, const vls_branch *branch,
                      valise_error *err)
{
    removing r = {.view = view, .branch = branch};
    int64_t left = VLS_SWEEP_MAX;
    int rc;

    if (branch->turns.len == 1 && !branch->leaf)
        return 0; /* what is below needs it */
    vls_map_init(&r.nodes, view->arena.env, vls_turn_ref_is);
    rc = leave_all(&r, err);
    if (rc == 0)
        rc = change_all(&r, err);
    vls_map_release(&r.nodes);
    if (rc == 0) /* from the leaves up */
        rc = vls_turns_let_go(view, branch->turns.ptr, branch->turns.len, &left, err);
    if (rc == 0)
        *out = (vls_swept){left <= 0, VLS_SWEEP_MAX - VLS_MAX(left, 0)};
    return rc;
}
