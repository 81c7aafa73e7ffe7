/* op_retention_list.c -- retention:list, how long histories are kept. */
#include "kernel/kernel.h"

static int query(valise_view *view, const void *args, void *result, valise_error *err)
{
    valise_scan *scan = NULL;
    vls_retention limits;
    int rc = valise_view_scan(&scan, view, &vls_retentions, NULL, err);

    (void)args;
    (void)result;
    while (rc >= 0 && (rc = valise_scan_next(&limits, scan, err)) > 0)
        rc = valise_view_emit(view, &limits, err);
    valise_scan_close(scan);
    return rc;
}

const valise_op vls_op_kernel_retention_list = {
    .size = sizeof(valise_op),
    .name = "retention:list",
    .brief = "List how long histories are kept.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "log:read",
    .out = vls_retention_fields,
    .out_size = sizeof(vls_retention),
    .query = query,
    .example = "{}",
};
