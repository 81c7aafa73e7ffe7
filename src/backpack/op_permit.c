/* op_permit.c -- backpack:permit, what a node may do. */
#include "backpack/ops.h"

#define NAMES(member, json_name, text)                                                             \
    VALISE_FIELD_AS_WITH(vls_permit_args, allow.member, json_name, LIST, VALISE_NULLABLE, text,    \
                         .more = &vls_name_item, .max = VLS_BAG_LIST_MAX)

static const valise_field permit_in[] = {
    VLS_OWNER_FIELDS(vls_permit_args),
    VALISE_FIELD_AS_WITH(vls_permit_args, node_id, "nodeId", STR,
                         VALISE_REQUIRED | VALISE_POSITIONAL, "The node.", .min = 1,
                         .max = VLS_BAG_NODE_MAX, .ref = VLS_REF_NODE),
    NAMES(read, "read", "Keys it may read; * matches anything."),
    NAMES(write, "write", "Keys it may write."),
    NAMES(deny, "deny", "Keys it may neither read nor write, whatever else is allowed."),
    NAMES(namespace_read, "namespaceRead", "Namespaces it may read, such as research.*"),
    NAMES(namespace_write, "namespaceWrite", "Namespaces it may write."),
    VALISE_FIELD(vls_permit_args, remove, BOOL, 0, "Remove all permissions of the node."),
    VALISE_FIELD_END,
};

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_permit_args *args = in;
    VLS_AUTO(use) vls_use use = {0};
    int rc = vls_use_begin(&use, view, &args->who, err);

    (void)out;
    if (rc == 0)
        rc = vls_scope_owner_only(use.scope, "give permissions", err);
    return rc < 0 ? rc
                  : vls_bag_permit(&use.ledger, args->node_id, args->remove ? NULL : &args->allow,
                                   err);
}

const valise_op vls_op_backpack_permit = {
    .size = sizeof(valise_op),
    .name = "backpack:permit",
    .brief = "Set which keys a node may read and write.",
    .help = "A node without permissions may do everything. `deny` always wins; without any allow "
            "list everything else is allowed, otherwise only what a list names.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_IDEMPOTENT,
    .needs = "backpack:permit",
    .in = permit_in,
    .in_size = sizeof(vls_permit_args),
    .decide = decide,
    .apart = vls_use_is_apart,
    .example = "{\"backpack\":\"run-1\",\"nodeId\":\"summary\",\"read\":[\"research*\"],"
               "\"write\":[\"summary\"]}",
};
