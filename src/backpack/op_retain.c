/* op_retain.c -- backpack:retain, apply the limits of the history `backpack` to all of them.
 *
 * For each backpack the limits say up to which commit history may go; the command backpack:expire
 * then moves the edge there, in steps. All of it at once (gc) also looks at what lies before the
 * edge: a checkpoint may be gone that held some of it. */
#include "backpack/expire.h"
#include "backpack/ops.h"
#include "base/vec.h"
#include "bus/bus.h"
#include "kernel/retention.h"

typedef struct retaining {
    valise *v;
    const vls_retain_args *limits;
    int64_t now;
    vls_retained *done;
} retaining;

/* ---- which backpacks ---- */

typedef struct bag_list {
    const valise_env *env;
    vls_vec(valise_uuid) ids;
} bag_list;

static int list_bags(void *arg, valise_view *view, valise_error *err)
{
    bag_list *list = arg;
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_bag_row row;
    int rc = valise_view_scan(&scan, view, &vls_bags, NULL, err);

    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0)
        rc = row.dropped || vls_vec_push(&list->ids, list->env, row.id) ? 0 : vls_fail_memory(err);
    return rc;
}

/* ---- up to where ---- */

typedef struct target {
    const retaining *r;
    const valise_uuid *id;
    int64_t edge, upto; /* now, and what the limits say */
    int64_t from;       /* sweeping: the next step */
    int64_t found;      /* sweeping: rows that may go */

    int64_t bytes, reached; /* of the walks below */
} target;

static int walk_old(void *arg, const valise_commit *commit, valise_error *err)
{
    target *t = arg;

    (void)err;
    if (commit->time >= t->r->now - t->r->limits->age)
        return 1;
    t->reached = commit->seq;
    return 0;
}

static int walk_bytes(void *arg, const valise_commit *commit, valise_error *err)
{
    target *t = arg;

    (void)err;
    t->bytes += VLS_BAG_COMMIT_BYTES + commit->value_size;
    if (t->bytes <= t->r->limits->bytes)
        return 0;
    t->reached = VLS_MAX(t->reached, commit->seq); /* age may reach further */
    return 1;
}

/* The furthest of what the limits say; the newest commit stays. */
static int find_target(void *arg, valise_view *view, valise_error *err)
{
    target *t = arg;
    const vls_retain_args *limits = t->r->limits;
    VLS_AUTO(rows) vls_rows rows = {0};
    vls_ledger ledger;
    vls_ledger_head head;
    int rc = vls_rows_open_id(&rows, view, t->id, err);

    if (rc < 0)
        return rc;
    ledger = vls_rows_ledger(&rows);
    rc = ledger.ops->head(&head, &rows, err);
    if (rc < 0)
        return rc;
    t->edge = t->upto = head.edge;
    if (limits->keep_latest != VALISE_NONE)
        t->upto = VLS_MAX(t->upto, head.last - limits->keep_latest);
    if (limits->age != VALISE_NONE)
        rc = vls_rows_each_commit(&rows, t->upto + 1, INT64_MAX, false, walk_old, t, err);
    if (rc >= 0 && limits->bytes != VALISE_NONE)
        rc = vls_rows_each_commit(&rows, t->upto + 1, INT64_MAX, true, walk_bytes, t, err);
    t->upto = VLS_MIN(VLS_MAX(t->upto, t->reached), VLS_MAX(head.last - 1, head.edge));
    return rc < 0 || t->upto == t->edge ? vls_settle(rc) : vls_expire_bound(&t->upto, &rows, err);
}

/* ---- steps ---- */

static int expire(target *t, int64_t from, int64_t upto, valise_error *err)
{
    const vls_expire_args args = {*t->id, from, upto};
    vls_expire_result result = {0};
    int rc = vls_run_own(t->r->v, &vls_op_backpack_expire, &args, &result, NULL, NULL, err);

    if (rc == 0)
        t->r->done->removed += result.removed;
    return rc;
}

/* There is no limit on how much a step may find, only on how much it looks at. */
static int move_edge(target *t, valise_error *err)
{
    int64_t left = t->r->limits->max > 0 ? t->r->limits->max : INT64_MAX;
    int rc = 0;

    while (rc == 0 && t->edge < t->upto && left > 0) {
        int64_t next = VLS_MIN(t->upto, t->edge + VLS_MIN(left, VLS_EXPIRE_STEP));
        rc = expire(t, t->edge + 1, next, err);
        left -= next - t->edge;
        t->edge = next;
    }
    t->r->done->more |= t->edge < t->upto;
    return rc;
}

static int count_commit(void *arg, const valise_commit *commit, valise_error *err)
{
    (void)commit, (void)err;
    ++*(int64_t *)arg;
    return 0;
}

static int count_entry(void *arg, const vls_quarantine_row *entry, valise_error *err)
{
    (void)entry, (void)err;
    ++*(int64_t *)arg;
    return 0;
}

static int count_run(void *arg, const vls_run_row *run, valise_error *err)
{
    (void)run, (void)err;
    ++*(int64_t *)arg;
    return 0;
}

static int count_step(void *arg, valise_view *view, valise_error *err)
{
    target *t = arg;
    VLS_AUTO(rows) vls_rows rows = {0};
    const vls_expire_ops ops = {count_commit, count_entry, count_run, &t->found};
    int rc = vls_rows_open_id(&rows, view, t->id, err);

    t->found = 0;
    return rc < 0 ? rc
                  : vls_expire_plan(&rows, t->from, VLS_MIN(t->from + VLS_EXPIRE_STEP - 1, t->edge),
                                    &ops, err);
}

/* What a checkpoint held that is gone. A command is run only where it will find something. */
static int sweep(target *t, valise_error *err)
{
    int rc = 0;

    for (t->from = 1; rc == 0 && t->from <= t->edge; t->from += VLS_EXPIRE_STEP) {
        rc = vls_with_view(t->r->v, NULL, count_step, t, err);
        if (rc == 0 && t->found > 0)
            rc = expire(t, t->from, VLS_MIN(t->from + VLS_EXPIRE_STEP - 1, t->edge), err);
    }
    return rc;
}

/* One that was dropped since it was listed has nothing left to let go of. */
static int retain_bag(const retaining *r, const valise_uuid *id, valise_error *err)
{
    target t = {.r = r, .id = id};
    valise_error why = VALISE_ERROR_INIT;
    int rc = vls_with_view(r->v, NULL, find_target, &t, &why);

    if (rc == 0 && r->limits->max == 0)
        rc = sweep(&t, &why);
    if (rc == 0)
        rc = move_edge(&t, &why);
    if (rc == VALISE_E_NOT_FOUND)
        return 0;
    if (rc < 0 && err)
        *err = why;
    return rc;
}

static int job(valise_job *j, const void *in, void *out, valise_error *err)
{
    valise *v = valise_job_workspace(j);
    /* By the world's clock, as for the log: that of the entries never falls. */
    const retaining r = {.v = v, .limits = in, .now = v->env->now_ns(v->env->self), .done = out};
    bag_list list = {.env = v->env, .ids = VLS_VEC_INIT};
    int rc = vls_with_view(v, NULL, list_bags, &list, err);

    if (rc == 0 && r.limits->max == 0)
        rc = vls_forget_rest(&r.done->removed, v, err);
    for (size_t i = 0; rc == 0 && i < list.ids.len; i++)
        rc = retain_bag(&r, &list.ids.ptr[i], err);
    vls_vec_release(&list.ids, v->env);
    return rc;
}

const valise_op vls_op_backpack_retain = {
    .size = sizeof(valise_op),
    .name = "backpack:retain",
    .brief = "Apply the limits of the history backpack.",
    .kind = VALISE_JOB,
    .flags = VALISE_OP_INTERNAL | VALISE_OP_DESTRUCTIVE,
    .needs = "admin",
    .in = vls_retain_in,
    .in_size = sizeof(vls_retain_args),
    .out = vls_retain_out,
    .out_size = sizeof(vls_retained),
    .job = job,
    .example = "{\"keepLatest\":10000}",
};
