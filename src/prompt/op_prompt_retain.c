/* op_prompt_retain.c -- prompt:retain, apply the limits of the history `prompt`: records of prompts
 * that were made long ago go. [P8] [K30]
 *
 * They are counted by when they were recorded, and aged by the time of the build. One that a pin
 * names stays. What they were made of is not touched; what was kept for their sake goes with gc. */
#include <stdlib.h>

#include "base/hex.h"
#include "bus/bus.h"
#include "bus/job.h"
#include "kernel/kernel.h"
#include "kernel/retention.h"
#include "prompt/rows.h"
#include "prompt/sweep.h"
#include "store/view.h"

#define AT_ONCE 1000u

typedef vls_vec(valise_id) ids;

typedef struct choosing {
    const valise_env *env;
    const vls_retain_args *args;
    int64_t now;
    ids pinned; /* sorted */
    ids old;    /* the oldest last */
} choosing;

static int list_pins(choosing *c, valise_view *view, valise_error *err)
{
    const valise_str before = VLS_STR("prompt/");
    valise_scan *scan = NULL;
    vls_pin pin;
    int rc = valise_view_scan(&scan, view, &vls_pins, NULL, err);

    while (rc >= 0 && (rc = valise_scan_next(&pin, scan, err)) > 0) {
        valise_id id;

        if (pin.kind == VLS_PIN_ROW && vls_str_starts(pin.place, before) &&
            vls_id_parse(&id, vls_str_from(pin.place, before.len), NULL) == 0 &&
            !vls_vec_push(&c->pinned, c->env, id))
            rc = vls_fail_memory(err);
    }
    valise_scan_close(scan);
    if (c->pinned.len > 1)
        qsort(c->pinned.ptr, c->pinned.len, sizeof(valise_id), vls_id_order);
    return vls_settle(rc);
}

static bool is_pinned(const choosing *c, const valise_id *id)
{
    return c->pinned.len > 0 &&
           bsearch(id, c->pinned.ptr, c->pinned.len, sizeof(*id), vls_id_order);
}

/* What any of the limits says may go, goes. */
static bool is_old(const choosing *c, const vls_prompt_row *row, int64_t newer)
{
    const vls_retain_args *a = c->args;

    return (a->keep_latest != VALISE_NONE && newer >= a->keep_latest) ||
           (a->age != VALISE_NONE && row->time < c->now - a->age);
}

static int choose(void *arg, valise_view *view, valise_error *err)
{
    const valise_select newest_first = {.index = "recorded", .flags = VALISE_SCAN_REVERSE};
    choosing *c = arg;
    vls_prompt_row row;
    valise_scan *scan = NULL;
    int64_t newer = 0;
    int rc = list_pins(c, view, err);

    if (rc == 0)
        rc = valise_view_scan(&scan, view, &vls_prompts, &newest_first, err);
    while (rc >= 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        if (is_old(c, &row, newer) && !is_pinned(c, &row.id) &&
            !vls_vec_push(&c->old, c->env, row.id))
            rc = vls_fail_memory(err);
        newer++;
    }
    valise_scan_close(scan);
    return vls_settle(rc);
}

/* The oldest `count` of the list. */
static int expire(int64_t *removed, valise_job *j, ids *old, size_t count, valise_error *err)
{
    valise_str texts[AT_ONCE];
    vls_prompt_expire_args args = {.prompts = {texts, count}};
    vls_prompt_expired done = {.count = 0};
    int rc;

    for (size_t i = 0; i < count; i++)
        texts[i] = vls_str((const char *)old->ptr[--old->len].bytes, sizeof(valise_id));
    rc = vls_job_run(j, &vls_op_prompt_prompt_expire, &args, &done, NULL, err);
    *removed += done.count;
    return rc;
}

static int job(valise_job *j, const void *in, void *out, valise_error *err)
{
    const vls_retain_args *args = in;
    vls_retained *done = out;
    valise *v = valise_job_workspace(j);
    choosing c = {.env = v->env, .args = args, .now = v->env->now_ns(v->env->self)};
    int rc = vls_with_view(v, NULL, choose, &c, err);

    while (rc == 0 && c.old.len > 0) {
        size_t count = VLS_MIN(c.old.len, (size_t)AT_ONCE);

        if (args->max > 0 && done->removed >= args->max) {
            done->more = true;
            break;
        }
        if (args->max > 0)
            count = VLS_MIN(count, (size_t)(args->max - done->removed));
        rc = expire(&done->removed, j, &c.old, count, err);
    }
    vls_vec_release(&c.old, c.env);
    vls_vec_release(&c.pinned, c.env);
    return rc;
}

const valise_op vls_op_prompt_prompt_retain = {
    .size = sizeof(valise_op),
    .name = "prompt:retain",
    .brief = "Apply the limits of the history prompt.",
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
