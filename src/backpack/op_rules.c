/* op_rules.c -- backpack:rules, what tags ask for. */
#include "backpack/settings.h"
#include "backpack/use.h"

typedef struct rules_args {
    vls_who who;
} rules_args;

static const valise_field rules_in[] = {VLS_WHO_FIELDS(rules_args), VALISE_FIELD_END};

static int emit(void *arg, const void *row, valise_error *err)
{
    return valise_view_emit(arg, row, err);
}

static int query(valise_view *view, const void *in, void *out, valise_error *err)
{
    const rules_args *args = in;
    VLS_AUTO(use) vls_use use = {0};
    const vls_ledger *ledger = &use.ledger;
    int rc = vls_use_begin(&use, view, &args->who, err);

    (void)out;
    if (rc == 0)
        rc = vls_scope_owner_only(use.scope, "list rules", err);
    return rc < 0 ? rc : ledger->ops->each_row(ledger->self, &vls_bag_rules, emit, view, err);
}

const valise_op vls_op_backpack_rules = {
    .size = sizeof(valise_op),
    .name = "backpack:rules",
    .brief = "List the rules of tags, with those of the workspace.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "backpack:read",
    .in = rules_in,
    .in_size = sizeof(rules_args),
    .out = vls_rule_fields,
    .out_size = sizeof(vls_rule_row),
    .query = query,
    .example = "{\"backpack\":\"run-1\"}",
};
