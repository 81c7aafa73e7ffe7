/* op_checkpoint.c -- backpack:checkpoint, name the present state and hold it. */
#include "backpack/ops.h"

static const valise_field checkpoint_in[] = {
    VLS_OWNER_FIELDS(vls_checkpoint_args),
    VALISE_FIELD_WITH(vls_checkpoint_args, name, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "Its name.", .min = 1, .max = VLS_BAG_NAME_MAX),
    VALISE_FIELD(vls_checkpoint_args, remove, BOOL, 0, "Remove this checkpoint."),
    VALISE_FIELD_END,
};

static const valise_field checkpoint_out[] = {
    VALISE_FIELD(vls_checkpoint_result, seq, INT, 0, "The commit whose state it holds."),
    VALISE_FIELD_END,
};

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_checkpoint_args *args = in;
    vls_checkpoint_result *result = out;
    VLS_AUTO(use) vls_use use = {0};
    int rc = vls_use_begin(&use, view, &args->who, err);

    if (rc < 0)
        return rc;
    rc = vls_scope_owner_only(use.scope, "make checkpoints", err);
    if (rc < 0)
        return rc;
    if (args->remove)
        return vls_bag_checkpoint_remove(&result->seq, &use.ledger, args->name, err);
    return vls_bag_checkpoint(&result->seq, &use.ledger, args->name, view->stamp.actor,
                              view->stamp.time, err);
}

const valise_op vls_op_backpack_checkpoint = {
    .size = sizeof(valise_op),
    .name = "backpack:checkpoint",
    .brief = "Name the current state and keep it when history expires.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_IDEMPOTENT,
    .needs = "backpack:write",
    .in = checkpoint_in,
    .in_size = sizeof(vls_checkpoint_args),
    .out = checkpoint_out,
    .out_size = sizeof(vls_checkpoint_result),
    .decide = decide,
    .apart = vls_use_is_apart,
    .example = "{\"backpack\":\"run-1\",\"name\":\"before-tools\"}",
};
