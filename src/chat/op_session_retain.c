/* op_session_retain.c -- session:retain, apply the limits of the history `session`: sessions that
 * nobody wrote to for long go. [K30]
 *
 * Which ones is decided once, by when they were changed last; each goes by a command of its own,
 * which sees whether somebody changed it meanwhile. One that prompts were made of stays: they show
 * its turns. [P8] */
#include "base/hex.h"
#include "bus/bus.h"
#include "chat/ops.h"
#include "kernel/retention.h"
#include "store/view.h"

typedef struct candidate {
    valise_uuid id;
    int64_t updated;
} candidate;

typedef struct choosing {
    const valise_env *env;
    vls_vec(candidate) all;
} choosing;

static int list_all(void *arg, valise_view *view, valise_error *err)
{
    choosing *c = arg;
    vls_session_row row;
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_sessions, NULL, err);

    while (rc >= 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        if (!vls_vec_push(&c->all, c->env, (candidate){row.id, row.updated}))
            rc = vls_fail_memory(err);
    }
    valise_scan_close(scan);
    return rc;
}

/* The newest first; those of one moment by their ids. */
static int compare(const void *a, const void *b)
{
    const candidate *x = a, *y = b;

    if (x->updated != y->updated)
        return x->updated > y->updated ? -1 : 1;
    return vls_uuid_compare(&y->id, &x->id);
}

/* How many of the sorted list stay. */
static size_t count_kept(const choosing *c, const vls_retain_args *args, int64_t now)
{
    size_t kept = c->all.len;

    if (args->keep_latest != VALISE_NONE)
        kept = VLS_MIN(kept, (size_t)VLS_MAX(args->keep_latest, 0));
    if (args->age == VALISE_NONE)
        return kept;
    while (kept > 0 && c->all.ptr[kept - 1].updated < now - args->age)
        kept--;
    return kept;
}

/* Prompts are rows of an area that builds on this one: they are looked up as cells. 1, or 0. */
static int has_prompts(valise_view *view, const valise_uuid *session, valise_error *err)
{
    const vls_coll *coll = vls_store_coll_named(view->txn->store, VLS_STR("prompt"));
    const valise_cell equal = {VALISE_CELL_BLOB,
                               {.bytes = vls_str(session->bytes, sizeof(session->bytes))}};
    valise_range range = {.equal = &equal, .equal_count = 1};
    const valise_coll_index *indexes = coll ? coll->desc->indexes : NULL;
    const valise_cell *cells;
    valise_scan *scan = NULL;
    int rc;

    while (indexes && indexes[range.index].name &&
           strcmp(indexes[range.index].name, "session") != 0)
        range.index++;
    if (!indexes || !indexes[range.index].name)
        return 0;
    rc = vls_view_scan(&scan, view, coll, &range, err);
    if (rc == 0)
        rc = vls_scan_next_cells(&cells, NULL, scan, err);
    valise_scan_close(scan);
    return rc;
}

typedef struct seeing {
    const candidate *of;
    bool same;
    char head[VLS_HEAD_JSON];
} seeing;

static int see(void *arg, valise_view *view, valise_error *err)
{
    seeing *s = arg;
    vls_session_row row = {.id = s->of->id};
    int rc = valise_view_get(&row, view, &vls_sessions, err);

    s->same = rc > 0 && row.updated == s->of->updated;
    vls_session_head_json(s->head, &row);
    if (s->same) {
        rc = has_prompts(view, &row.id, err);
        s->same = rc == 0;
    }
    return vls_settle(rc);
}

/* 1: it went; 0: somebody was faster. */
static int remove_one(valise_job *j, const candidate *of, valise_error *err)
{
    valise *v = valise_job_workspace(j);
    vls_uuid_string id = vls_uuid_text(&of->id);
    const vls_session_args args = {valise_str_of(id.s)};
    valise_call call = VALISE_CALL_INIT;
    valise_error failure = VALISE_ERROR_INIT;
    seeing s = {.of = of};
    int rc = vls_with_view(v, NULL, see, &s, err);

    if (rc < 0 || !s.same)
        return rc;
    rc = valise_job_call(&call, j, err);
    call.expect = valise_str_of(s.head); /* who says something there moves it */
    if (rc == 0)
        rc = vls_run_own(v, &vls_op_chat_session_delete, &args, NULL, NULL, &call, &failure);
    if (rc < 0 && rc != VALISE_E_CONFLICT && rc != VALISE_E_NOT_FOUND && err)
        *err = failure;
    if (rc == VALISE_E_CONFLICT || rc == VALISE_E_NOT_FOUND)
        return 0;
    return rc < 0 ? rc : 1;
}

static int job(valise_job *j, const void *in, void *out, valise_error *err)
{
    const vls_retain_args *args = in;
    vls_retained *done = out;
    valise *v = valise_job_workspace(j);
    choosing c = {.env = v->env};
    size_t kept;
    int rc = vls_with_view(v, NULL, list_all, &c, err);

    if (rc == 0 && c.all.len > 1)
        qsort(c.all.ptr, c.all.len, sizeof(*c.all.ptr), compare);
    kept = count_kept(&c, args, v->env->now_ns(v->env->self));
    for (size_t i = c.all.len; rc >= 0 && i-- > kept;) {
        if (args->max > 0 && done->removed >= args->max) {
            done->more = true;
            break;
        }
        rc = remove_one(j, &c.all.ptr[i], err);
        done->removed += rc > 0;
    }
    vls_vec_release(&c.all, v->env);
    return vls_settle(rc);
}

const valise_op vls_op_chat_session_retain = {
    .size = sizeof(valise_op),
    .name = "session:retain",
    .brief = "Apply the limits of the history session.",
    .kind = VALISE_JOB,
    .flags = VALISE_OP_INTERNAL | VALISE_OP_DESTRUCTIVE,
    .needs = "admin",
    .in = vls_retain_counted_in,
    .in_size = sizeof(vls_retain_args),
    .out = vls_retain_out,
    .out_size = sizeof(vls_retained),
    .job = job,
    .example = "{\"age\":\"90d\"}",
};
