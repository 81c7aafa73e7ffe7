/* op_permissions.c -- backpack:permissions, what nodes may do. */
#include "backpack/settings.h"
#include "backpack/use.h"

typedef struct permissions_args {
    vls_who who;
} permissions_args;

static const valise_field permissions_in[] = {VLS_WHO_FIELDS(permissions_args), VALISE_FIELD_END};

static int emit(void *arg, const void *row, valise_error *err)
{
    return valise_view_emit(arg, row, err);
}

static int query(valise_view *view, const void *in, void *out, valise_error *err)
{
    const permissions_args *args = in;
    VLS_AUTO(use) vls_use use = {0};
    const vls_ledger *ledger = &use.ledger;
    int rc = vls_use_begin(&use, view, &args->who, err);

    (void)out;
    if (rc == 0)
        rc = vls_scope_owner_only(use.scope, "list permissions", err);
    return rc < 0 ? rc : ledger->ops->each_row(ledger->self, &vls_bag_permissions, emit, view, err);
}

const valise_op vls_op_backpack_permissions = {
    .size = sizeof(valise_op),
    .name = "backpack:permissions",
    .brief = "List what was said about the nodes: which keys they may read and write.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "backpack:read",
    .in = permissions_in,
    .in_size = sizeof(permissions_args),
    .out = vls_permission_fields,
    .out_size = sizeof(vls_permission_row),
    .query = query,
    .example = "{\"backpack\":\"run-1\"}",
};
