/* op_release.c -- backpack:release, bring an item back from quarantine. */
#include "backpack/ops.h"

static const valise_field release_in[] = {
    VLS_WHO_FIELDS(vls_release_args),
    VALISE_FIELD_WITH(vls_release_args, key, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "Key of the item.", .min = 1, .max = VLS_BAG_KEY_MAX, .ref = VLS_REF_KEY),
    VALISE_FIELD(vls_release_args, entry, INT, 0,
                 "Number of the entry; below 0 if the fork started with it (default: the newest of "
                 "the key)."),
    VLS_LABEL_FIELDS(vls_release_args),
    VALISE_FIELD_END,
};

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_release_args *args = in;
    VLS_AUTO(use) vls_use use = {0};
    vls_done done = {.denied = false};
    int rc = vls_use_begin(&use, view, &args->who, err);

    if (rc < 0)
        return rc;
    rc = vls_bag_release(&done, &use.ledger, use.scope, args->key, args->entry, args->who.node_id,
                         args->who.node_name, &use.call, err);
    return vls_use_done(out, &use, rc, &done, args->key, VALISE_ACTION_RELEASE);
}

const valise_op vls_op_backpack_release = {
    .size = sizeof(valise_op),
    .name = "backpack:release",
    .brief = "Bring an item back from quarantine.",
    .kind = VALISE_COMMAND,
    .needs = "backpack:write",
    .in = release_in,
    .in_size = sizeof(vls_release_args),
    .out = vls_packed_fields,
    .out_size = sizeof(valise_packed),
    .decide = decide,
    .apart = vls_use_is_apart,
    .example = "{\"backpack\":\"run-1\",\"key\":\"retry_0\"}",
};
