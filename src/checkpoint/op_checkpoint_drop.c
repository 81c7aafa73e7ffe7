/* op_checkpoint_drop.c -- checkpoint:drop, the row of a checkpoint that is removed. */
#include "base/base.h"
#include "checkpoint/ops.h"

static const valise_field drop_in[] = {
    VALISE_FIELD(vls_checkpoint_drop_args, tree, UUID, VALISE_REQUIRED, "The tree."),
    VALISE_FIELD_WITH(vls_checkpoint_drop_args, name, STR, VALISE_REQUIRED, "Its name.", .min = 1,
                      .max = VLS_CHECKPOINT_NAME_MAX),
    VALISE_FIELD_END,
};

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_checkpoint_drop_args *args = in;
    const vls_checkpoint_row row = {.tree = args->tree, .name = args->name};
    int rc = valise_view_delete(view, &vls_checkpoints, &row, err);

    (void)out;
    if (rc == 0)
        return vls_fail(err, VALISE_E_NOT_FOUND, "there is no checkpoint '%.*s'",
                        VALISE_STR_ARG(args->name));
    return vls_settle(rc);
}

const valise_op vls_op_checkpoint_checkpoint_drop = {
    .size = sizeof(valise_op),
    .name = "checkpoint:drop",
    .brief = "Remove the row of a checkpoint.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_INTERNAL,
    .needs = "tree:restore",
    .in = drop_in,
    .in_size = sizeof(vls_checkpoint_drop_args),
    .decide = decide,
    .example = "{\"name\":\"a\",\"tree\":\"00000000-0000-7000-8000-000000000001\"}",
};
