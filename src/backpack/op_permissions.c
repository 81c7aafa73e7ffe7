/* op_permissions.c -- backpack:permissions, what nodes may do. */
#include "backpack/use.h"

static int query(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_who_args *args = in;
    VLS_AUTO(use) vls_use use = {0};
    const vls_ledger *ledger = &use.ledger;
    int rc = vls_use_begin(&use, view, &args->who, err);

    (void)out;
    if (rc == 0)
        rc = vls_scope_owner_only(use.scope, "list permissions", err);
    return rc < 0 ? rc
                  : ledger->ops->each_row(ledger->self, &vls_bag_permissions, vls_use_emit_row,
                                          view, err);
}

const valise_op vls_op_backpack_permissions = {
    .size = sizeof(valise_op),
    .name = "backpack:permissions",
    .brief = "List which keys each node may read and write.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "backpack:read",
    .in = vls_owner_in,
    .in_size = sizeof(vls_who_args),
    .out = vls_permission_fields,
    .out_size = sizeof(vls_permission_row),
    .query = query,
    .example = "{\"backpack\":\"run-1\"}",
};
