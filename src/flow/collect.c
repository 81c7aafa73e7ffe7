/* collect.c -- what gc lets go of: forks that maps of a killed run left behind, and runs whose
 * backpack is gone. */
#include "backpack/ops.h"
#include "backpack/rows.h"
#include "base/hex.h"
#include "bus/bus.h"
#include "flow/area.h"
#include "flow/fan.h"
#include "flow/ops.h"
#include "flow/record.h"

#define UUID_LEN (sizeof(((vls_uuid_string *)NULL)->s) - 1)

typedef struct collecting {
    valise *v;
    vls_vec(valise_uuid) gone;
    vls_arena arena;
    vls_vec(valise_str) forks;
} collecting;

/* ---- forks ---- */

/* Is it of an element of a map, in a run that nobody runs now? When that goes on, its maps make
 * others. */
static int is_left(const collecting *c, valise_view *view, valise_str name, valise_error *err)
{
    const valise_str before = VLS_STR(VLS_FAN_FORK);
    vls_flow_run_row run;
    int rc, locked;

    if (!vls_str_starts(name, before) || name.len < before.len + UUID_LEN ||
        vls_uuid_parse(&run.id, vls_str_head(vls_str_from(name, before.len), UUID_LEN), NULL) < 0)
        return 0;
    rc = valise_view_get(&run, view, &vls_flow_runs, err);
    if (rc <= 0)
        return rc;
    locked = vls_flow_is_locked(c->v, &run.id, err);
    return locked < 0 ? locked : !locked;
}

static int look_at_forks(void *arg, valise_view *view, valise_error *err)
{
    collecting *c = arg;
    vls_bag_row bag;
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_bags, NULL, err);

    while (rc >= 0 && (rc = valise_scan_next(&bag, scan, err)) > 0) {
        valise_str name;

        rc = bag.dropped ? 0 : is_left(c, view, bag.name, err);
        if (rc > 0)
            rc = vls_arena_dup(&name, &c->arena, bag.name, err);
        else
            continue;
        if (rc == 0 && !vls_vec_push(&c->forks, c->v->env, name))
            rc = vls_fail_memory(err);
    }
    valise_scan_close(scan);
    return vls_settle(rc);
}

/* Of a map within a map there are forks of forks, which go first. */
static int drop_forks(collecting *c, valise_error *err)
{
    bool more = c->forks.len > 0;
    int rc = 0;

    while (more && rc == 0) {
        more = false;
        for (size_t i = 0; i < c->forks.len && rc == 0; i++) {
            valise_error why = VALISE_ERROR_INIT;

            if (c->forks.ptr[i].len == 0)
                continue;
            rc = vls_backpack_drop(c->v, c->forks.ptr[i], &why);
            if (rc == 0 || rc == VALISE_E_NOT_FOUND)
                c->forks.ptr[i].len = 0;
            more |= rc == 0;
            if (rc == VALISE_E_CONFLICT || rc == VALISE_E_NOT_FOUND)
                rc = 0;
            if (rc < 0 && err)
                *err = why;
        }
    }
    return rc;
}

/* ---- runs ---- */

/* One that goes on will find out by itself. */
static int is_gone(const collecting *c, valise_view *view, const vls_flow_run_row *run,
                   valise_error *err)
{
    vls_bag_row bag = {.id = run->backpack};
    int rc = valise_view_get(&bag, view, &vls_bags, err), locked = 0;

    if (rc < 0 || (rc > 0 && !bag.dropped))
        return vls_settle(rc);
    if (run->status == VLS_FLOW_RUNNING)
        locked = vls_flow_is_locked(c->v, &run->id, err);
    return locked < 0 ? locked : !locked;
}

static int look(void *arg, valise_view *view, valise_error *err)
{
    collecting *c = arg;
    vls_flow_run_row run;
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_flow_runs, NULL, err);

    while (rc >= 0 && (rc = valise_scan_next(&run, scan, err)) > 0) {
        rc = is_gone(c, view, &run, err);
        if (rc > 0 && !vls_vec_push(&c->gone, c->v->env, run.id))
            rc = vls_fail_memory(err);
    }
    valise_scan_close(scan);
    return vls_settle(rc);
}

static int forget(valise *v, const valise_uuid *run, valise_error *err)
{
    const vls_flow_forget_args args = {.run = *run};
    vls_flow_forgot result = {.done = false};
    int rc = 0;

    while (rc == 0 && !result.done)
        rc = vls_run_own(v, &vls_op_flow_flow_forget, &args, &result, NULL, NULL, err);
    return rc;
}

int vls_flows_collect(valise *v, valise_error *err)
{
    collecting c = {.v = v};
    int rc;

    vls_arena_init(&c.arena, v->env, VLS_VIEW_MAX_BYTES);
    rc = vls_with_view(v, NULL, look_at_forks, &c, err);
    if (rc == 0)
        rc = drop_forks(&c, err);
    if (rc == 0)
        rc = vls_with_view(v, NULL, look, &c, err);
    for (size_t i = 0; i < c.gone.len && rc == 0; i++)
        rc = forget(v, &c.gone.ptr[i], err);
    vls_vec_release(&c.gone, v->env);
    vls_vec_release(&c.forks, v->env);
    vls_arena_release(&c.arena);
    return rc;
}
