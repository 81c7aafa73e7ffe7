/* op_peek.c -- backpack:peek, the value of an item; nothing is recorded. */
#include "backpack/get.h"

static int query(valise_view *view, const void *in, void *out, valise_error *err)
{
    return vls_op_get(view, in, out, false, err);
}

const valise_op vls_op_backpack_peek = {
    .size = sizeof(valise_op),
    .name = "backpack:peek",
    .brief = "Get the value of an item without recording the read.",
    .kind = VALISE_QUERY,
    .needs = "backpack:read",
    .in = vls_get_in,
    .in_size = sizeof(vls_get_args),
    .out = vls_get_out,
    .out_size = sizeof(vls_get_result),
    .query = query,
    .example = "{\"backpack\":\"run-1\",\"key\":\"query\"}",
};
