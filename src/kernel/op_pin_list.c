/* op_pin_list.c -- pin:list, what is held against expiry. */
#include "kernel/kernel.h"

static int query(valise_view *view, const void *args, void *result, valise_error *err)
{
    valise_scan *scan = NULL;
    vls_pin pin;
    int rc = valise_view_scan(&scan, view, &vls_pins, NULL, err);

    (void)args;
    (void)result;
    while (rc >= 0 && (rc = valise_scan_next(&pin, scan, err)) > 0)
        rc = valise_view_emit(view, &pin, err);
    valise_scan_close(scan);
    return rc;
}

const valise_op vls_op_kernel_pin_list = {
    .size = sizeof(valise_op),
    .name = "pin:list",
    .brief = "List the pins.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "pin:read",
    .out = vls_pin_fields,
    .out_size = sizeof(vls_pin),
    .query = query,
    .example = "{}",
};
