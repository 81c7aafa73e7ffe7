/* move.c -- moving heads, and the tips that are left behind.
 *
 * A tip is put only where something would be lost: a leaf is one without a look at others. */
#include "chat/append.h"

#include "chat/graph.h"
#include "chat/move.h"
#include "store/view.h"

/* ---- tips ---- */

typedef struct looking {
    valise_view *view;
    const vls_turn_row *turn;
} looking;

static int is_any(void *arg, const vls_turn_row *turn, valise_error *err)
{
    (void)arg;
    (void)turn;
    (void)err;
    return 1;
}

int vls_tip_each(valise_view *view, const valise_uuid *session, vls_tip_fn *fn, void *arg,
                 valise_error *err)
{
    const vls_tip_row key = {.session = *session};
    const valise_select select = {.row = &key, .equal = 1};
    vls_tip_row tip;
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_tips, &select, err);

    while (rc >= 0 && (rc = valise_scan_next(&tip, scan, err)) > 0) {
        rc = fn(arg, &tip, err);
        if (rc != 0)
            break;
    }
    valise_scan_close(scan);
    return rc;
}

static int is_below(void *arg, const vls_tip_row *tip, valise_error *err)
{
    const looking *l = arg;
    vls_view_mark mark = vls_view_here(l->view);
    vls_turn_row row;
    int rc = vls_turn_get(&row, l->view, &tip->turn, err);

    if (rc > 0)
        rc = vls_turn_is_before(l->view, l->turn, &row, err);
    vls_view_rewind(l->view, mark); /* there may be very many tips */
    return rc;
}

/* Is its head, or one of its tips, this version or below it? 1, or 0. */
static int has(valise_view *view, const vls_session_row *session, const vls_turn_row *turn,
               valise_error *err)
{
    looking l = {view, turn};
    vls_turn_row head;
    int rc = session->head.version == 0 ? 0 : vls_turn_get(&head, view, &session->head, err);

    if (rc > 0)
        rc = vls_turn_is_before(view, turn, &head, err);
    if (rc != 0)
        return rc;
    rc = vls_turn_each_child(view, turn, is_any, NULL, err);
    if (rc < 0)
        return rc;
    if (rc > 0)
        return vls_tip_each(view, &session->id, is_below, &l, err);
    /* A leaf: nothing but itself. */
    return valise_view_get(&(vls_tip_row){.session = session->id, .turn = turn->ref}, view,
                           &vls_tips, err);
}

int vls_session_keep(valise_view *view, const vls_session_row *session, const vls_turn_row *turn,
                     valise_error *err)
{
    const vls_tip_row tip = {.session = session->id,
                             .turn = turn->ref,
                             .place = turn->place,
                             .time = valise_view_stamp(view)->time};
    int rc = has(view, session, turn, err);

    return rc != 0 ? vls_settle(rc) : valise_view_put(view, &vls_tips, &tip, err);
}

static int drop_tip(valise_view *view, const vls_session_row *session, const vls_turn_ref *ref,
                    valise_error *err)
{
    const vls_tip_row tip = {.session = session->id, .turn = *ref};
    int rc = valise_view_delete(view, &vls_tips, &tip, err);

    return vls_settle(rc);
}

/* The tips that the new head is, or goes on from. */
static int drop_tips(valise_view *view, const vls_session_row *session, const vls_turn_row *to,
                     valise_error *err)
{
    vls_turn_ref *parents = NULL;
    size_t count = 0;
    int rc = drop_tip(view, session, &to->ref, err);

    if (rc == 0)
        rc = vls_turn_parents(&parents, &count, view, to, err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = drop_tip(view, session, &parents[i], err);
    return rc;
}

/* ---- heads ---- */

int vls_session_place(vls_session_row *session, valise_view *view, const vls_turn_row *to,
                      valise_error *err)
{
    session->head = to ? to->ref : (vls_turn_ref){.version = 0};
    session->place = to ? to->place : (vls_turn_place){.depth = 0};
    session->role = to && to->in_force.ptr ? to->in_force : session->first_role;
    session->updated = valise_view_stamp(view)->time;
    return valise_view_put(view, &vls_sessions, session, err);
}

int vls_session_move(vls_session_row *session, valise_view *view, const vls_turn_row *to,
                     valise_error *err)
{
    vls_session_row moved = *session;
    bool goes_on = to && to->parent.version > 0 && vls_turn_ref_equal(&to->parent, &session->head);
    vls_turn_row old;
    int rc = 0, had = 0;

    /* The head is never a tip: who goes on from it leaves none behind. */
    if (goes_on && !to->merges)
        return vls_session_place(session, view, to, err);
    moved.head = to ? to->ref : (vls_turn_ref){.version = 0};
    if (session->head.version > 0)
        had = vls_turn_get(&old, view, &session->head, err);
    if (had < 0)
        return had;
    if (to)
        rc = drop_tips(view, session, to, err);
    if (rc == 0 && had > 0)
        rc = vls_session_keep(view, &moved, &old, err);
    return rc < 0 ? rc : vls_session_place(session, view, to, err);
}

/* ---- tips above the head ---- */

typedef struct tidying {
    valise_view *view;
    const vls_turn_row *to;
    vls_vec(vls_turn_ref) above;
    size_t left;
} tidying;

static int is_above(void *arg, const vls_tip_row *tip, valise_error *err)
{
    tidying *t = arg;
    vls_view_mark mark = vls_view_here(t->view);
    vls_turn_row row;
    int rc = vls_turn_get(&row, t->view, &tip->turn, err);

    if (rc > 0)
        rc = vls_turn_is_before(t->view, &row, t->to, err);
    vls_view_rewind(t->view, mark);
    if (rc > 0 && !vls_vec_push_in(&t->above, &t->view->arena, tip->turn))
        return vls_arena_fail(&t->view->arena, err);
    return rc < 0 ? rc : --t->left == 0;
}

int vls_session_tidy(valise_view *view, const vls_session_row *session, const vls_turn_row *to,
                     valise_error *err)
{
    tidying t = {.view = view, .to = to, .left = VLS_TIPS_TIDY_MAX};
    int rc = vls_tip_each(view, &session->id, is_above, &t, err);

    for (size_t i = 0; rc >= 0 && i < t.above.len; i++)
        rc = drop_tip(view, session, &t.above.ptr[i], err);
    return vls_settle(rc);
}
