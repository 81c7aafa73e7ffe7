/* op_rule.c -- backpack:rule, which nodes may read and write what carries a tag. */
#include "backpack/ops.h"

#define NAMES(member, text)                                                                        \
    VALISE_FIELD_WITH(vls_rule_args, member, LIST, VALISE_NULLABLE, text, .more = &vls_name_item,  \
                      .max = VLS_BAG_LIST_MAX)

static const valise_field rule_in[] = {
    VALISE_FIELD_AS_WITH(vls_rule_args, who.backpack, "backpack", STR,
                         VALISE_REQUIRED | VALISE_POSITIONAL,
                         "Name of the backpack; \"\" for the whole workspace.",
                         .max = VLS_BAG_NAME_MAX, .ref = VLS_REF_BACKPACK),
    VALISE_FIELD_AS_WITH(vls_rule_args, who.node, "node", STR, VALISE_HIDDEN,
                         "Allow no node, only the owner.", .min = 1, .max = VLS_BAG_NODE_MAX),
    VALISE_FIELD_AS(vls_rule_args, who.id, "backpackId", UUID, VALISE_NULLABLE | VALISE_HIDDEN,
                    "The name must still be that of this backpack."),
    VALISE_FIELD_WITH(vls_rule_args, tag, STR, VALISE_REQUIRED | VALISE_POSITIONAL, "The tag.",
                      .min = 1, .max = VLS_BAG_TAG_MAX),
    NAMES(read, "Only these nodes may read items with the tag."),
    NAMES(write, "Only these nodes may write items with the tag."),
    VALISE_FIELD_END,
};

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_rule_args *args = in;
    VLS_AUTO(use) vls_use use = {0};
    int rc;

    (void)out;
    if (args->who.backpack.len == 0)
        return vls_workspace_rule(view, args->tag, args->read, args->write, &view->arena, err);
    rc = vls_use_begin(&use, view, &args->who, err);
    if (rc == 0)
        rc = vls_scope_owner_only(use.scope, "set rules", err);
    return rc < 0 ? rc
                  : vls_bag_tag_rule(&use.ledger, args->tag, args->read, args->write, &view->arena,
                                     err);
}

const valise_op vls_op_backpack_rule = {
    .size = sizeof(valise_op),
    .name = "backpack:rule",
    .brief = "Set which nodes may read and write items with a tag.",
    .help = "A rule only restricts. Without --read and --write the rule is removed.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_IDEMPOTENT,
    .needs = "backpack:permit",
    .in = rule_in,
    .in_size = sizeof(vls_rule_args),
    .decide = decide,
    .apart = vls_use_is_apart,
    .example = "{\"backpack\":\"run-1\",\"tag\":\"pii\",\"read\":[\"authentication-node\"]}",
};
