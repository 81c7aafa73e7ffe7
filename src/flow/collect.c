/* collect.c -- what gc lets go of: runs whose backpack is gone. */
#include "backpack/rows.h"
#include "bus/bus.h"
#include "flow/area.h"
#include "flow/ops.h"
#include "flow/record.h"

typedef struct collecting {
    valise *v;
    vls_vec(valise_uuid) gone;
} collecting;

/* One that goes on will find out by itself. */
static int is_gone(const collecting *c, valise_view *view, const vls_flow_run_row *run,
                   valise_error *err)
{
    vls_bag_row bag = {.id = run->backpack};
    int rc = valise_view_get(&bag, view, &vls_bags, err), locked = 0;

    if (rc < 0 || (rc > 0 && !bag.dropped))
        return VLS_MIN(rc, 0);
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
    return VLS_MIN(rc, 0);
}

static int forget(valise *v, const valise_uuid *run, valise_error *err)
{
    static const vls_run_more internal = {.internal = true};
    const vls_flow_forget_args args = {.run = *run};
    vls_flow_forgot result = {.done = false};
    int rc = 0;

    while (rc == 0 && !result.done)
        rc = vls_run(v, &vls_op_flow_flow_forget, &args, &result, NULL, NULL, &internal, err);
    return rc;
}

int vls_flows_collect(valise *v, valise_error *err)
{
    collecting c = {.v = v};
    int rc = vls_with_view(v, NULL, look, &c, err);

    for (size_t i = 0; i < c.gone.len && rc == 0; i++)
        rc = forget(v, &c.gone.ptr[i], err);
    vls_vec_release(&c.gone, v->env);
    return rc;
}
