/* op_agent_list.c -- agent:list, who may act in the workspace. */
#include "kernel/kernel.h"

static int query(valise_view *view, const void *args, void *result, valise_error *err)
{
    valise_scan *scan = NULL;
    vls_actor_row row;
    int rc = valise_view_scan(&scan, view, &vls_actor_coll, NULL, err);

    (void)args, (void)result;
    while (rc >= 0) {
        rc = valise_scan_next(&row, scan, err);
        if (rc <= 0)
            break;
        rc = valise_view_emit(view, &row, err);
    }
    valise_scan_close(scan);
    return rc;
}

const valise_op vls_op_kernel_agent_list = {
    .size = sizeof(valise_op),
    .name = "agent:list",
    .brief = "List the actors of the workspace.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "agent:read",
    .out = vls_actor_fields,
    .out_size = sizeof(vls_actor_row),
    .query = query,
};
