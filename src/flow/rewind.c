/* rewind.c -- back to the state that an interrupted node found, and where a rerun branches off. See
 * resume.h. */
#include "flow/resume.h"

#include "backpack/handle.h"
#include "base/hash.h"
#include "base/text.h"
#include "flow/ops.h"
#include "flow/record.h"

static int open_bag(valise_backpack **out, valise *v, valise_str actor, valise_str name,
                    valise_error *err)
{
    valise_backpack_options options = VALISE_BACKPACK_OPTIONS_INIT;

    options.flags = VALISE_BACKPACK_DURABLE | VALISE_BACKPACK_KNOWN;
    options.actor = actor;
    return valise_backpack_open(out, v, name.ptr, &options, err);
}

/* ---- steps ---- */

static bool is_on(const vls_flow_step_row *row, const valise_uuid *backpack)
{
    return vls_uuid_equal(backpack, &row->backpack);
}

static bool is_within(valise_str path, valise_str outer)
{
    return outer.len > 0 && vls_str_starts(path, outer) &&
           (path.len == outer.len || path.ptr[outer.len] == '/');
}

/* One visit of a node: its step, if there is one. */
typedef struct searching {
    const vls_flow_past *past;
    valise_str path;
    int64_t visit;          /* wanted */
    bool found;             /* it has a step: */
    vls_flow_step_row step; /* ... this; its texts are not valid */
    int64_t most;           /* its last visit; of those that were looked at */
    bool entered; /* since the visit before it a node inside was done: the first of these */
    vls_flow_step_row first;
} searching;

static void look_at(searching *s, const vls_flow_step_row *row)
{
    if (vls_flow_step_begins(row))
        return;
    if (vls_str_equal(row->path, s->path)) {
        s->found = row->visit == s->visit;
        s->step = *row;
        s->most = VLS_MAX(s->most, row->visit);
        s->entered = s->entered && s->found;
    } else if (!s->entered && row->visit > 0 && is_within(row->path, s->path)) {
        s->first = *row;
        s->entered = true;
    }
}

typedef int step_fn(void *arg, const vls_flow_step_row *row, valise_error *err);

/* Each step of a run, in the order in which they ended. 1 of fn ends it. */
static int each_step(valise_view *view, const vls_flow_past *past, step_fn *fn, void *arg,
                     valise_error *err)
{
    vls_flow_step_row row = {.run = past->run.id};
    const valise_select select = {.row = &row, .equal = 1};
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_flow_steps, &select, err);

    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0)
        rc = fn(arg, &row, err);
    valise_scan_close(scan);
    return rc;
}

static int take_step(void *arg, const vls_flow_step_row *row, valise_error *err)
{
    searching *s = arg;

    (void)err;
    look_at(s, row);
    return s->found;
}

static int search(void *arg, valise_view *view, valise_error *err)
{
    searching *s = arg;

    return vls_settle(each_step(view, s->past, take_step, s, err));
}

/* ---- what came to nothing ---- */

/* The node that was interrupted, or that failed, and the state that it found. */
typedef struct stop {
    vls_flow_past *past;
    vls_arena *arena;
    valise_str node; /* ptr NULL: there is none */
    int64_t seq;
    int64_t run;   /* number of its run in the backpack; 0: not known */
    int64_t least; /* the state that its last step found: what found an older one is not its own */
    bool told;     /* that it began was noted: then no other node can be meant */
    vls_vec(int64_t) others; /* node runs of which others noted that they began; in the arena */
    bool inside; /* since then a node inside of it was done: it keeps nothing of its own */
} stop;

static bool is_of_others(const stop *s, int64_t number)
{
    for (size_t i = 0; i < s->others.len; i++)
        if (s->others.ptr[i] == number)
            return true;
    return false;
}

/* The last node run that nobody ended: of nodes within each other the innermost. */
static int take_open(void *arg, const vls_run_row *run, valise_error *err)
{
    stop *s = arg;

    if (run->end != VALISE_NONE || run->start < s->least || is_of_others(s, run->number))
        return 0;
    s->seq = run->start;
    s->run = run->number;
    return vls_arena_dup(&s->node, s->arena, run->node_id, err);
}

/* A failure is recorded as the visit that it was, below 0. What comes behind it shows that somebody
 * took it after all. So it is with a visit that began: what comes behind it shows that it ended. */
static int take_failure(void *arg, const vls_flow_step_row *row, valise_error *err)
{
    stop *s = arg;

    s->node = (valise_str){NULL, 0};
    s->run = 0;
    s->told = false;
    if (is_on(row, &s->past->run.backpack))
        s->least = row->start;
    if (row->visit >= 0 || !is_on(row, &s->past->run.backpack))
        return 0;
    s->seq = row->start;
    s->told = vls_flow_step_begins(row) && vls_str_to_i64(&s->run, row->action);
    return vls_arena_dup(&s->node, s->arena, row->path, err);
}

static int read_failure(void *arg, valise_view *view, valise_error *err)
{
    return each_step(view, ((stop *)arg)->past, take_failure, arg, err);
}

/* What others noted of the node runs that are theirs. */
typedef struct reading_others {
    valise_view *view;
    stop *stop;
} reading_others;

static int take_begun(void *arg, const vls_flow_step_row *row, valise_error *err)
{
    stop *s = arg;
    int64_t number;

    if (!vls_flow_step_begins(row) || !is_on(row, &s->past->run.backpack) ||
        !vls_str_to_i64(&number, row->action))
        return 0;
    return vls_vec_push_in(&s->others, s->arena, number) ? 0 : vls_arena_fail(s->arena, err);
}

static int take_other(void *arg, const vls_flow_run_row *other, valise_error *err)
{
    reading_others *r = arg;
    const vls_flow_past past = {.run = {.id = other->id}};

    return each_step(r->view, &past, take_begun, r->stop, err);
}

static int read_begun(void *arg, valise_view *view, valise_error *err)
{
    reading_others r = {view, arg};

    return vls_flow_each_other(view, &r.stop->past->run, take_other, &r, err);
}

static int take_number(void *arg, const vls_run_row *run, valise_error *err)
{
    stop *s = arg;

    (void)err;
    if (run->start == s->seq && vls_str_equal(run->node_id, s->node))
        s->run = run->number;
    return 0;
}

static int take_newest(void *arg, const vls_run_row *run, valise_error *err)
{
    stop *s = arg;

    (void)err;
    if (run->start < s->least || !vls_str_equal(run->node_id, s->node))
        return 0;
    s->seq = run->start;
    s->run = run->number;
    return 0;
}

static int take_done(void *arg, const vls_flow_step_row *row, valise_error *err)
{
    const stop *s = arg;

    (void)err;
    return row->visit > 0 && row->start == s->seq && is_on(row, &s->past->run.backpack) &&
           vls_str_equal(row->path, s->node);
}

static int read_done(void *arg, valise_view *view, valise_error *err)
{
    return each_step(view, ((stop *)arg)->past, take_done, arg, err);
}

/* There was no room, or no disk, to record the failure: the record's last words name the node, or
 * one in an element of a map, and the backpack knows of its run. */
static int find_named(stop *s, valise *v, const valise_call *call, valise_error *err)
{
    vls_flow_past *past = s->past;
    int rc = 0;

    s->node = past->run.node;
    while (rc == 0 && s->run == 0 && s->node.len > 0) {
        rc = vls_backpack_each_run(NULL, v, past->name, call, take_newest, s, err);
        while (s->run == 0 && s->node.len > 0 && s->node.ptr[--s->node.len] != '/')
            continue;
    }
    if (rc == 0 && s->run != 0)
        rc = vls_with_view(v, NULL, read_done, s, err);
    if (rc != 0 || s->run == 0)
        s->node = (valise_str){NULL, 0};
    return vls_settle(rc);
}

static int take_inside(void *arg, const vls_flow_step_row *row, valise_error *err)
{
    stop *s = arg;

    (void)err;
    s->inside = s->inside ||
                (row->visit > 0 && row->start >= s->seq && is_on(row, &s->past->run.backpack) &&
                 row->path.len > s->node.len && is_within(row->path, s->node));
    return 0;
}

static int read_inside(void *arg, valise_view *view, valise_error *err)
{
    return each_step(view, ((stop *)arg)->past, take_inside, arg, err);
}

/* Of a run that said how it ended, its record knows best: other runs on the backpack may have been
 * interrupted as well. One that was killed may have failed just before, after all. */
static int choose_stop(stop *s, const stop *open, valise *v, const valise_call *call,
                       valise_error *err)
{
    vls_flow_past *past = s->past;

    if (s->told)
        return 0;
    if (open->node.ptr && (!s->node.ptr || past->run.status == VLS_FLOW_RUNNING)) {
        *s = *open;
        return 0;
    }
    return s->node.ptr ? vls_backpack_each_run(NULL, v, past->name, call, take_number, s, err)
                       : find_named(s, v, call, err);
}

static int find_stop(stop *s, valise *v, valise_str actor, valise_error *err)
{
    vls_flow_past *past = s->past;
    stop open = *s;
    valise_call call = VALISE_CALL_INIT;
    int rc = vls_with_view(v, NULL, read_failure, s, err);

    call.actor = actor;
    open.least = s->least;
    if (rc == 0)
        rc = vls_with_view(v, NULL, read_begun, &open, err);
    if (rc == 0)
        rc = vls_backpack_each_run(&past->last, v, past->name, &call, take_open, &open, err);
    if (rc == 0)
        rc = choose_stop(s, &open, v, &call, err);
    if (rc == 0 && s->node.ptr)
        rc = vls_with_view(v, NULL, read_inside, s, err);
    return rc;
}

/* ---- what was written since ---- */

typedef struct writing {
    const stop *stop;
    valise_backpack *bag, *before; /* before: made when it is needed */
    int64_t since;                 /* time of the first commit */
    bool own;                      /* the node wrote, or one inside of it, or one around it, which
                                    * takes back what an attempt wrote */
    bool other;                    /* somebody else did: */
    char key[64], who[64];
} writing;

static bool is_own(const stop *s, const valise_commit *commit)
{
    if (s->run != 0 && vls_str_equal(commit->node_id, s->node))
        return commit->run == s->run;
    return is_within(commit->node_id, s->node) || is_within(s->node, commit->node_id);
}

typedef struct comparing {
    const valise_commit *commit;
    bool same;
} comparing;

static int compare(void *arg, const valise_item *item, valise_error *err)
{
    comparing *c = arg;

    (void)err;
    c->same = vls_id_equal(&item->commit->value, &c->commit->value);
    return 0;
}

/* Is that what there was before? An attempt that is taken back packs what others had packed. */
static int is_as_before(writing *w, const valise_commit *commit, valise_error *err)
{
    comparing c = {.commit = commit};
    int rc = w->before ? 0 : valise_snapshot_at_seq(&w->before, w->bag, w->stop->seq, err);

    if (rc == 0)
        rc = valise_item_get(w->before, commit->key.ptr, compare, &c, err);
    if (rc == 0)
        c.same = vls_id_is_none(&commit->value);
    return rc < 0 ? rc : c.same;
}

static int take_commit(void *arg, const valise_commit *commit, valise_error *err)
{
    writing *w = arg;
    int rc = 0;

    if (w->since == VALISE_NONE)
        w->since = commit->time;
    if (is_own(w->stop, commit)) {
        w->own = true;
        return 0;
    }
    if (!w->other)
        rc = is_as_before(w, commit, err);
    if (rc == 0 && !w->other) {
        w->other = true;
        (void)snprintf(w->key, sizeof(w->key), "%s", vls_text_short(commit->key).s);
        (void)snprintf(w->who, sizeof(w->who), "%s",
                       vls_str_equal(commit->node_id, VLS_STR("unknown"))
                           ? "the owner"
                           : vls_text_short(commit->node_id).s);
    }
    return vls_settle(rc);
}

/* A run that went on at that time, or goes on now. */
typedef struct others {
    valise *v;
    const vls_flow_past *past;
    int64_t since;
    valise_uuid found;
    bool any, runs;
} others;

static int read_others(void *arg, valise_view *view, valise_error *err)
{
    others *o = arg;
    vls_flow_run_row row;
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_flow_runs, NULL, err);

    while (rc == 0 && !o->runs && (rc = valise_scan_next(&row, scan, err)) > 0) {
        rc = 0;
        if (!vls_uuid_equal(&row.backpack, &o->past->run.backpack) ||
            vls_uuid_equal(&row.id, &o->past->run.id))
            continue;
        if (row.status == VLS_FLOW_RUNNING)
            rc = vls_flow_is_locked(o->v, &row.id, err);
        if (rc <= 0 && row.started < o->since && (row.ended == VALISE_NONE || row.ended < o->since))
            continue;
        o->any = true;
        o->runs = rc > 0;
        o->found = row.id;
        rc = vls_settle(rc);
    }
    valise_scan_close(scan);
    return vls_settle(rc);
}

static int fail_written(const writing *w, const others *o, valise_error *err)
{
    const vls_flow_past *past = w->stop->past;
    const char *node = vls_text_short(w->stop->node).s;

    if (o->runs) {
        (void)vls_fail(err, VALISE_E_BUSY, "the run %s is still running on the same backpack",
                       vls_uuid_text(&o->found).s);
        vls_hint(err, "wait until it has ended");
        return VALISE_E_BUSY;
    }
    if (w->other)
        (void)vls_fail(err, VALISE_E_CONFLICT,
                       "undoing what '%s' had written would also undo what %s wrote to '%s' since",
                       node, w->who, w->key);
    else
        (void)vls_fail(err, VALISE_E_CONFLICT,
                       "undoing what '%s' had written would also undo what the run %s wrote since",
                       node, vls_uuid_text(&o->found).s);
    vls_hint(err, "'valise flow rerun %s --from %s' repeats it on a fork; --set gives it items",
             vls_text_short(past->name).s, node);
    return VALISE_E_CONFLICT;
}

/* 1: the node left something, and nobody else did; 0: there is nothing to be taken back. */
static int check_written(const stop *s, valise *v, valise_str actor, valise_error *err)
{
    writing w = {.stop = s, .since = VALISE_NONE};
    others o = {.v = v, .past = s->past};
    valise_history filter = VALISE_HISTORY_INIT;
    int rc = open_bag(&w.bag, v, actor, s->past->name, err);

    filter.first = s->seq + 1;
    filter.oldest_first = true;
    if (rc == 0)
        rc = valise_history_each(w.bag, &filter, take_commit, &w, err);
    valise_backpack_close(w.before);
    valise_backpack_close(w.bag);
    o.since = w.since;
    if (rc == 0 && w.own)
        rc = vls_with_view(v, NULL, read_others, &o, err);
    if (rc < 0 || !w.own)
        return rc;
    return w.other || o.any ? fail_written(&w, &o, err) : 1;
}

/* ---- going back ---- */

int vls_flow_rewind(const char **aside, vls_flow_past *past, vls_arena *arena, valise *v,
                    valise_str actor, valise_error *err)
{
    char name[VLS_BAG_NAME_MAX + 1];
    valise_call call = VALISE_CALL_INIT;
    valise_error why = VALISE_ERROR_INIT;
    const vls_flow_continue_args args = {
        .run = past->run.id, .aside = true, .resumed = past->run.resumed};
    const vls_run_item go_on = {.op = &vls_op_flow_flow_continue, .args = &args};
    stop s = {.past = past, .arena = arena, .node = {NULL, 0}};
    valise_str kept;
    int rc = find_stop(&s, v, actor, err);

    if (rc < 0 || !s.node.ptr || s.inside || s.seq >= past->last)
        return rc;
    rc = check_written(&s, v, actor, err);
    if (rc <= 0)
        return rc;
    call.actor = actor;
    rc = VALISE_E_EXISTS;
    for (int64_t n = past->run.aborted + 1; rc == VALISE_E_EXISTS && n < past->run.aborted + 1000;
         n++) {
        (void)snprintf(name, sizeof(name), "%.*s.aborted-%lld",
                       VALISE_STR_ARG(vls_str_head(past->name, VLS_BAG_NAME_MAX - 24)),
                       (long long)n);
        rc = vls_backpack_supersede(&past->run.backpack, v, past->name, s.seq, valise_str_of(name),
                                    &go_on, 1, &call, &why);
    }
    if (rc < 0 && err)
        *err = why;
    if (rc == 0)
        rc = vls_arena_dup(&kept, arena, valise_str_of(name), err); /* ends in a NUL */
    if (rc == 0)
        *aside = kept.ptr;
    return rc;
}

/* ---- branching off ---- */

/* "search#2": the second run. */
static int split_visit(valise_str *node, int64_t *visit, valise_error *err)
{
    valise_str path, number;

    *visit = 1;
    if (!vls_str_cut(&path, &number, *node, '#'))
        return 0;
    if (!vls_str_to_i64(visit, number) || *visit < 1)
        return vls_fail(err, VALISE_E_INVALID, "'%s' is not a run of a node: NODE#2 is the second",
                        vls_text_short(*node).s);
    *node = path;
    return 0;
}

typedef struct naming {
    valise_uuid id;
    vls_arena *arena;
    valise_str name;
} naming;

static int read_name(void *arg, valise_view *view, valise_error *err)
{
    naming *n = arg;
    vls_bag_row bag = {.id = n->id};
    int rc = valise_view_get(&bag, view, &vls_bags, err);

    if (rc == 0 || (rc > 0 && bag.dropped))
        return vls_fail(err, VALISE_E_NOT_FOUND, "the backpack on which it ran was dropped");
    return rc < 0 ? rc : vls_arena_dup(&n->name, n->arena, bag.name, err);
}

/* From the state that a step found. */
static int branch_at(vls_flow_branch *out, vls_arena *arena, valise *v,
                     const vls_flow_step_row *step, valise_error *err)
{
    naming n = {.id = step->backpack, .arena = arena};
    int rc = vls_with_view(v, NULL, read_name, &n, err);

    if (rc == 0)
        *out = (vls_flow_branch){.name = n.name, .seq = step->start, .before = step->begun};
    return rc;
}

int vls_flow_find_branch(vls_flow_branch *out, vls_arena *arena, valise *v, valise_str actor,
                         const vls_flow_past *past, valise_flow *flow, valise_str node,
                         valise_error *err)
{
    searching s = {.past = past};
    vls_flow_node *target = NULL;
    vls_flow_past copy = *past;
    stop last = {.past = &copy, .arena = arena, .node = {NULL, 0}};
    int rc = split_visit(&node, &s.visit, err);

    if (rc == 0)
        rc = vls_flow_find_path(&target, flow, node, err);
    if (rc < 0)
        return rc;
    s.path = target->path;
    rc = vls_with_view(v, NULL, search, &s, err);
    /* A visit that was interrupted, and went on later, began with the first node inside of it. */
    if (rc == 0 && s.entered && (!s.found || s.first.begun < s.step.begun))
        return branch_at(out, arena, v, &s.first, err);
    if (rc == 0 && s.found)
        return branch_at(out, arena, v, &s.step, err);
    if (rc == 0)
        rc = find_stop(&last, v, actor, err);
    if (rc == 0 && (past->run.status == VLS_FLOW_DONE || s.visit != s.most + 1 ||
                    !vls_str_equal(last.node, target->path)))
        rc = vls_fail(err, VALISE_E_NOT_FOUND, "'%.*s' did not run that often in the run %s",
                      VALISE_STR_ARG(target->path), vls_uuid_text(&past->run.id).s);
    if (rc == 0)
        *out = (vls_flow_branch){.name = past->name, .seq = last.seq, .before = INT64_MAX};
    return rc;
}
