/* op_rules.c -- backpack:rules, what tags ask for. */
#include "backpack/use.h"

#include "base/uuid.h"

typedef struct rule_out {
    vls_rule_row rule;
    int64_t of;
} rule_out;

enum { BACKPACK, WORKSPACE };
static const char *const owners[] = {"backpack", "workspace", NULL};

#define NAMES(member, name, text)                                                                  \
    VALISE_FIELD_AS_WITH(rule_out, member, name, LIST, VALISE_NULLABLE, text,                      \
                         .more = &vls_name_item)

static const valise_field rules_out[] = {
    VALISE_FIELD_AS(rule_out, rule.tag, "tag", STR, 0, "The tag."),
    NAMES(rule.read, "read", "Only these nodes may read what has it."),
    NAMES(rule.write, "write", "Only these nodes may write what has it."),
    VALISE_FIELD_WITH(rule_out, of, ENUM, 0, "Where it holds: here, or in all backpacks.",
                      .more = owners),
    VALISE_FIELD_AS(rule_out, rule.backpack, "backpack", UUID, VALISE_NULLABLE,
                    "The backpack; none: all of them."),
    VALISE_FIELD_END,
};

static int emit(void *arg, const void *row, valise_error *err)
{
    rule_out out = {.rule = *(const vls_rule_row *)row, .of = BACKPACK};

    if (vls_uuid_equal(&out.rule.backpack, &(valise_uuid){{0}}))
        out.of = WORKSPACE;
    return valise_view_emit(arg, &out, err);
}

static int query(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_who_args *args = in;
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
    .brief = "List the tag rules, including those of the workspace.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "backpack:read",
    .in = vls_owner_in,
    .in_size = sizeof(vls_who_args),
    .out = rules_out,
    .out_size = sizeof(rule_out),
    .query = query,
    .example = "{\"backpack\":\"run-1\"}",
};
