/* op_unpack.c -- backpack:unpack, the value of an item; the read is recorded. */
#include "backpack/get.h"

static int query(valise_view *view, const void *in, void *out, valise_error *err)
{
    return vls_op_get(view, in, out, true, err);
}

const valise_op vls_op_backpack_unpack = {
    .size = sizeof(valise_op),
    .name = "backpack:unpack",
    .brief = "Get the value of an item; the read is recorded.",
    .help = "Prints the value as JSON. An absent key prints nothing and exits with 3; with "
            "--required it is an error.",
    .kind = VALISE_QUERY,
    .needs = "backpack:read",
    .in = vls_get_in,
    .in_size = sizeof(vls_get_args),
    .out = vls_get_out,
    .out_size = sizeof(vls_get_result),
    .query = query,
    .example = "{\"backpack\":\"run-1\",\"key\":\"query\"}",
};
