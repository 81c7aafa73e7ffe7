/* op_blob_retain.c -- blob:retain, hold a blob under a name. [W9] */
#include "blob/ops.h"

static const valise_field retain_in[] = {
    VALISE_FIELD_WITH(vls_blob_hold_args, blob, ID, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "The blob, as sha256sum names it.", .ref = VLS_REF_BLOB),
    VLS_BLOB_HOLD_FIELD(vls_blob_hold_args),
    VALISE_FIELD_END,
};

static const valise_field retain_out[] = {
    VALISE_FIELD_AS(vls_blob_held, changed, "taken", BOOL, 0, "The hold is a new one."),
    VALISE_FIELD(vls_blob_held, count, INT, 0, "How many hold it now."),
    VALISE_FIELD_END,
};

static int decide(valise_view *view, const void *args, void *result, valise_error *err)
{
    const vls_blob_hold_args *a = args;
    const vls_blob_hold hold = vls_blob_named(&a->blob, a->hold);
    vls_blob_held *out = result;
    int rc = vls_blob_take(view, &hold, NULL, err);

    if (rc < 0)
        return rc;
    out->changed = rc > 0;
    return vls_blob_count(&out->count, view, &a->blob, err);
}

const valise_op vls_op_blob_blob_retain = {
    .size = sizeof(valise_op),
    .name = "blob:retain",
    .brief = "Add a hold on an existing blob.",
    .help = "To add a new blob use `valise blob register`. Holding a blob again under the same "
            "name changes nothing.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_IDEMPOTENT,
    .needs = "blob:write",
    .in = retain_in,
    .in_size = sizeof(vls_blob_hold_args),
    .out = retain_out,
    .out_size = sizeof(vls_blob_held),
    .decide = decide,
    .example = "{\"blob\":\"5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03\","
               "\"hold\":\"handbook\"}",
};
