/* op_clear.c -- backpack:clear, delete what carries a tag or lies in a namespace. */
#include "backpack/ops.h"

static const valise_field clear_in[] = {
    VLS_WHO_FIELDS(vls_clear_args),
    VALISE_FIELD_WITH(vls_clear_args, tag, STR, 0, "Only items that carry this tag.",
                      .max = VLS_BAG_TAG_MAX),
    VALISE_FIELD_AS_WITH(vls_clear_args, pattern, "namespace", STR, 0,
                         "Only items whose namespace matches, such as sales.*",
                         .max = VLS_BAG_NAMESPACE_MAX),
    VLS_LABEL_FIELDS(vls_clear_args),
    VALISE_FIELD_END,
};

static const valise_field clear_out[] = {
    VALISE_FIELD(vls_clear_result, count, INT, 0, "How many items were deleted."),
    VALISE_FIELD(vls_clear_result, denied, INT, 0, "How many were left alone."),
    VALISE_FIELD_END,
};

typedef struct clearing {
    vls_use *use;
    vls_clear_result *result;
} clearing;

static int note(void *arg, const vls_done *done, valise_error *err)
{
    const clearing *c = arg;
    valise_packed packed;

    if (done->denied)
        c->result->denied++;
    else
        c->result->count++;
    (void)err;
    return vls_use_done(&packed, c->use, 0, done, done->commit.key, VALISE_ACTION_DELETE);
}

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_clear_args *args = in;
    VLS_AUTO(use) vls_use use = {0};
    clearing c = {&use, out};
    int rc = vls_use_begin(&use, view, &args->who, err);

    return rc < 0 ? rc
                  : vls_bag_clear(&use.ledger, use.scope, args->tag, args->pattern,
                                  args->who.node_id, args->who.node_name, &use.call, note, &c, err);
}

const valise_op vls_op_backpack_clear = {
    .size = sizeof(valise_op),
    .name = "backpack:clear",
    .brief = "Delete all items with a tag or in a namespace.",
    .kind = VALISE_COMMAND,
    .needs = "backpack:write",
    .in = clear_in,
    .in_size = sizeof(vls_clear_args),
    .out = clear_out,
    .out_size = sizeof(vls_clear_result),
    .decide = decide,
    .apart = vls_use_is_apart,
    .example = "{\"backpack\":\"run-1\",\"tag\":\"temporary\"}",
};
