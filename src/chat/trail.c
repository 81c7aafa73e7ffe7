/* trail.c -- the walk of a transcript: parents in their order, each version once. [W8] [P1]
 *
 * What is walked are lines of first parents, not versions. A line from the first version that was
 * not met yet is cut at its merges:
 *
 *     t - . - . - m2 - . - m1 - . - x          root side on the left
 *     `-- run --'          |
 *                further parents of m2 first, then the run from m2 to what is before m1, ...
 *
 * What waits is on a stack, the root side on top; so nothing recurs, however merges are nested. A
 * run is then cut into pieces, one for each lane. */
#include "chat/seen.h"

/* A run of a line, both ends included; from.ref.version 0: a version that must be walked to. */
typedef struct waiting {
    vls_turn_row from, to;
} waiting;

typedef vls_vec(vls_trail_piece) piece_list;

typedef struct walk {
    valise_view *view;
    const valise_env *env;
    vls_met *met;
    bool first_only;
    vls_vec(waiting) stack;
    piece_list pieces; /* of the run at hand, its end first */
    vls_trail *out;    /* NULL: nobody wants to know */
} walk;

static int push(walk *w, const vls_turn_row *from, const vls_turn_row *to, valise_error *err)
{
    waiting item = {.to = *to};

    if (from)
        item.from = *from;
    return vls_vec_push(&w->stack, w->env, item) ? 0 : vls_fail_memory(err);
}

/* ---- lines ---- */

/* The further parents of a merge wait, the first of them on top. */
static int push_parents(walk *w, const vls_turn_row *merge, valise_error *err)
{
    vls_turn_ref *parents = NULL;
    size_t count = 0;
    int rc = vls_turn_parents(&parents, &count, w->view, merge, err);

    for (size_t i = count; rc == 0 && i > 1; i--) {
        vls_turn_row row = {0};
        rc = vls_turn_need(&row, w->view, &parents[i - 1], merge, err);
        if (rc == 0)
            rc = push(w, NULL, &row, err);
    }
    return rc;
}

/* Push a line in its runs, from its lower end on: the upper one comes to lie on top. */
static int push_line(walk *w, const vls_turn_row *top, const vls_turn_row *low, valise_error *err)
{
    vls_turn_row at = *low;

    while (at.merge.version > 0 && !w->first_only) {
        vls_turn_row merge = {0};
        int rc = vls_turn_need(&merge, w->view, &at.merge, &at, err);
        if (rc < 0)
            return rc;
        if (merge.place.depth < top->place.depth)
            break;
        rc = push(w, &merge, &at, err);
        if (rc == 0)
            rc = push_parents(w, &merge, err);
        if (rc < 0 || merge.place.depth == top->place.depth)
            return rc;
        rc = vls_turn_need(&at, w->view, &merge.parent, &merge, err);
        if (rc < 0)
            return rc;
    }
    return push(w, top, &at, err);
}

static int walk_to(walk *w, const vls_turn_row *to, valise_error *err)
{
    vls_turn_row top = {0};
    int rc = vls_met_has(w->met, to, err);

    if (rc != 0)
        return vls_settle(rc);
    rc = vls_met_edge(&top, w->met, to, err);
    return rc < 0 ? rc : push_line(w, &top, to, err);
}

/* ---- runs ---- */

static int note(walk *w, const vls_turn_row *from, const vls_turn_row *to, valise_error *err)
{
    vls_trail_piece piece = {from->ref, to->ref, from->place, to->place};
    int rc = vls_met_add(w->met, to, &from->parent, err);

    if (rc < 0)
        return rc;
    return !w->out || vls_vec_push(&w->pieces, w->env, piece) ? 0 : vls_fail_memory(err);
}

/* The depth at which the lane begins. */
static int lane_start(int64_t *depth, valise_view *view, const valise_uuid *lane, valise_error *err)
{
    vls_turn_row row = {.place = {.lane = *lane}};
    valise_select select = {.index = "lane", .row = &row, .equal = 1};
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_turns, &select, err);

    if (rc == 0)
        rc = valise_scan_next(&row, scan, err);
    valise_scan_close(scan);
    if (rc < 0)
        return rc;
    *depth = row.place.depth;
    return 0;
}

/* The highest version of the line, not above `top`, that is in the lane of `low`, as are all
 * between. Many lanes hold one version: the parent is asked first. */
static int lane_top(vls_turn_row *out, valise_view *view, const vls_turn_row *top,
                    const vls_turn_row *low, valise_error *err)
{
    const valise_uuid *lane = &low->place.lane;
    vls_turn_row at = {0};
    int64_t start = 0;
    int rc;

    if (vls_uuid_equal(&top->place.lane, lane)) {
        *out = *top;
        return 0;
    }
    rc = vls_turn_need(&at, view, &low->parent, low, err);
    if (rc < 0)
        return rc;
    if (!vls_uuid_equal(&at.place.lane, lane)) {
        *out = *low;
        return 0;
    }
    rc = lane_start(&start, view, lane, err);
    if (rc < 0)
        return rc;
    if (start >= top->place.depth && start <= at.place.depth) {
        rc = vls_turn_up(&at, view, &at, start, err);
        if (rc < 0)
            return rc;
        if (vls_uuid_equal(&at.place.lane, lane)) {
            *out = at;
            return 0;
        }
    }
    /* The lane does not begin on this line: go up as long as it lasts. */
    at = *low;
    for (;;) {
        vls_turn_row parent = {0};
        rc = vls_turn_need(&parent, view, &at.parent, &at, err);
        if (rc < 0)
            return rc;
        if (!vls_uuid_equal(&parent.place.lane, lane))
            break;
        at = parent;
    }
    *out = at;
    return 0;
}

static int walk_run(walk *w, const vls_turn_row *top, const vls_turn_row *low, valise_error *err)
{
    vls_turn_row to = *low;
    vls_turn_row from = {0};

    w->pieces.len = 0;
    for (;;) {
        int rc = lane_top(&from, w->view, top, &to, err);
        if (rc == 0)
            rc = note(w, &from, &to, err);
        if (rc < 0)
            return rc;
        if (from.place.depth <= top->place.depth)
            break;
        rc = vls_turn_need(&to, w->view, &from.parent, &from, err);
        if (rc < 0)
            return rc;
    }
    for (size_t i = w->pieces.len; w->out && i > 0; i--) {
        const vls_trail_piece *piece = &w->pieces.ptr[i - 1];
        if (!vls_vec_push(&w->out->pieces, w->env, *piece))
            return vls_fail_memory(err);
        w->out->count += piece->last.depth - piece->first.depth + 1;
    }
    return 0;
}

/* ---- the walk ---- */

static int walk_all(walk *w, const vls_turn_row *head, valise_error *err)
{
    int rc = push(w, NULL, head, err);

    while (rc == 0 && w->stack.len > 0) {
        waiting item = w->stack.ptr[--w->stack.len];
        if (item.from.ref.version == 0)
            rc = walk_to(w, &item.to, err);
        else
            rc = walk_run(w, &item.from, &item.to, err);
    }
    return rc;
}

int vls_met_trail(vls_trail *out, vls_met *met, const vls_turn_row *head, bool first_only,
                  valise_error *err)
{
    const valise_env *env = met->view->arena.env;
    walk w = {.view = met->view,
              .env = env,
              .met = met,
              .first_only = first_only,
              .stack = VLS_VEC_INIT,
              .pieces = VLS_VEC_INIT,
              .out = out};
    int rc = walk_all(&w, head, err);

    vls_vec_release(&w.stack, env);
    vls_vec_release(&w.pieces, env);
    return rc;
}

int vls_met_walk(vls_met *met, const vls_turn_row *head, valise_error *err)
{
    if (head->merge.version > 0)
        return vls_met_trail(NULL, met, head, false, err);
    met->line = head;
    return 0;
}

int vls_trail_make(vls_trail *out, valise_view *view, const vls_turn_row *head,
                   const vls_turn_row *not_in, bool first_only, valise_error *err)
{
    vls_trail trail = {.pieces = VLS_VEC_INIT, .env = view->arena.env};
    vls_met met;
    int rc;

    vls_met_init(&met, view);
    rc = not_in ? vls_met_walk(&met, not_in, err) : 0;
    if (rc == 0)
        rc = vls_met_trail(&trail, &met, head, first_only, err);
    vls_met_release(&met);
    if (rc < 0)
        vls_trail_release(&trail);
    else
        *out = trail;
    return rc;
}

void vls_trail_release(vls_trail *path)
{
    if (path->env)
        vls_vec_release(&path->pieces, path->env);
    path->count = 0;
}
