/* op_rm.c -- backpack:rm, delete an item. */
#include "backpack/ops.h"

static const valise_field rm_in[] = {
    VLS_WHO_FIELDS(vls_key_args),
    VALISE_FIELD_WITH(vls_key_args, key, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "Key of the item.", .min = 1, .max = VLS_BAG_KEY_MAX, .ref = VLS_REF_KEY),
    VLS_LABEL_FIELDS(vls_key_args),
    VALISE_FIELD_END,
};

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_key_args *args = in;
    VLS_AUTO(use) vls_use use = {0};
    vls_done done = {.denied = false};
    int rc = vls_use_begin(&use, view, &args->who, err);

    if (rc < 0)
        return rc;
    rc = vls_bag_remove(&done, &use.ledger, use.scope, args->key, vls_use_expected(&use),
                        args->who.node_id, args->who.node_name, &use.call, err);
    if (rc == 0 && !done.denied) {
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "there is no item '%.*s' in backpack '%.*s'",
                       VALISE_STR_ARG(args->key), VALISE_STR_ARG(args->who.backpack));
        vls_hint(err, "'valise bp ls %.*s' lists what is there",
                 VALISE_STR_ARG(args->who.backpack));
        vls_error_prepend(err, "key");
        return VALISE_E_NOT_FOUND;
    }
    return vls_use_done(out, &use, rc, &done, args->key, VALISE_ACTION_DELETE);
}

const valise_op vls_op_backpack_rm = {
    .size = sizeof(valise_op),
    .name = "backpack:rm",
    .brief = "Delete an item; its history is kept.",
    .kind = VALISE_COMMAND,
    .needs = "backpack:write",
    .in = rm_in,
    .in_size = sizeof(vls_key_args),
    .out = vls_packed_fields,
    .out_size = sizeof(valise_packed),
    .current = vls_use_current,
    .expect_help = VLS_VERSION_HELP,
    .decide = decide,
    .apart = vls_use_is_apart,
    .example = "{\"backpack\":\"run-1\",\"key\":\"query\"}",
};
