/* area.c -- the collections and operations of flows. */
#include "flow/area.h"

#include "flow/rows.h"
#include "kernel/kernel.h"

static int status(valise_status *status, valise_view *view, valise_error *err)
{
    (void)view;
    return vls_status_count(status, "flow runs", &vls_flow_runs, NULL, err);
}

static const valise_coll *const collections[] = {&vls_flow_runs, &vls_flow_steps, NULL};

const valise_extension vls_area_flow = {
    .size = sizeof(valise_extension),
    .abi = VALISE_EXTENSION_ABI,
    .name = "flow",
    .version = VALISE_VERSION,
    .collections = collections,
    .operations = vls_ops_flow,
    .status = status,
    .collect = vls_flows_collect,
};
