/* op_blob_release.c -- blob:release, let go of a blob. [W9] */
#include "blob/ops.h"

static const valise_field release_in[] = {
    VALISE_FIELD_WITH(vls_blob_hold_args, blob, ID, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "The blob, as sha256sum names it.", .ref = VLS_REF_BLOB),
    VLS_BLOB_HOLD_FIELD(vls_blob_hold_args),
    VALISE_FIELD_END,
};

static const valise_field release_out[] = {
    VALISE_FIELD_AS(vls_blob_held, changed, "released", BOOL, 0, "It was held under that name."),
    VALISE_FIELD(vls_blob_held, count, INT, 0, "How many hold it now."),
    VALISE_FIELD_END,
};

static int decide(valise_view *view, const void *args, void *result, valise_error *err)
{
    const vls_blob_hold_args *a = args;
    const vls_blob_hold hold = vls_blob_named(&a->blob, a->hold);
    vls_blob_held *out = result;
    int rc = vls_blob_release(view, &hold, err);

    if (rc < 0)
        return rc;
    out->changed = rc > 0;
    return vls_blob_count(&out->count, view, &a->blob, err);
}

const valise_op vls_op_blob_blob_release = {
    .size = sizeof(valise_op),
    .name = "blob:release",
    .brief = "Release a hold on a blob.",
    .help = "When its last hold ends, the blob is removed, with its file unless a checkpoint needs "
            "that. Releasing a hold that does not exist changes nothing.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_IDEMPOTENT | VALISE_OP_DESTRUCTIVE,
    .needs = "blob:write",
    .in = release_in,
    .in_size = sizeof(vls_blob_hold_args),
    .out = release_out,
    .out_size = sizeof(vls_blob_held),
    .decide = decide,
    .example = "{\"blob\":\"5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03\","
               "\"hold\":\"handbook\"}",
};
