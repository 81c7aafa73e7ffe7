/* op_conflicts.c -- backpack:conflicts, what keeps two backpacks from being merged. */
#include "backpack/merging.h"

typedef struct conflict_row {
    valise_str key;
    valise_content base, ours, theirs;
    valise_str our_node, their_node;
    int64_t our_action, their_action;
} conflict_row;

static const valise_field conflict_out[] = {
    VALISE_FIELD(conflict_row, key, STR, 0, "Key of the item."),
    VALISE_FIELD(conflict_row, base, VALUE, VALISE_NULLABLE, "The value both started from."),
    VALISE_FIELD(conflict_row, ours, VALUE, VALISE_NULLABLE, "Our value; none: it is gone."),
    VALISE_FIELD(conflict_row, theirs, VALUE, VALISE_NULLABLE, "Their value; none: it is gone."),
    VALISE_FIELD_AS(conflict_row, our_node, "ourNode", STR, VALISE_NULLABLE,
                    "Who changed ours, or took it away."),
    VALISE_FIELD_AS(conflict_row, their_node, "theirNode", STR, VALISE_NULLABLE,
                    "Who changed theirs, or took it away."),
    VALISE_FIELD_AS_WITH(conflict_row, our_action, "ourAction", ENUM, VALISE_NULLABLE,
                         "What was done to ours.", .more = vls_bag_actions),
    VALISE_FIELD_AS_WITH(conflict_row, their_action, "theirAction", ENUM, VALISE_NULLABLE,
                         "What was done to theirs.", .more = vls_bag_actions),
    VALISE_FIELD_END,
};

static int emit(void *arg, const valise_conflict *c, valise_error *err)
{
    conflict_row row = {.key = c->key,
                        .base = vls_use_content(c->base_value),
                        .ours = vls_use_content(c->our_value),
                        .theirs = vls_use_content(c->their_value),
                        .our_action = VALISE_NONE,
                        .their_action = VALISE_NONE};

    if (c->our_change) {
        row.our_node = c->our_change->node_id;
        row.our_action = c->our_change->action;
    }
    if (c->their_change) {
        row.their_node = c->their_change->node_id;
        row.their_action = c->their_change->action;
    }
    return valise_view_emit(arg, &row, err);
}

static int query(valise_view *view, const void *in, void *out, valise_error *err)
{
    VLS_AUTO(merge_uses) vls_merge_uses uses = {0};
    int rc = vls_merge_begin(&uses, view, in, err);
    const vls_scoped ours = vls_use_scoped(&uses.ours), base = vls_use_scoped(&uses.base),
                     theirs = vls_use_scoped(&uses.theirs);

    (void)out;
    return rc < 0 ? rc
                  : vls_bag_conflicts(&ours, &base, &theirs, uses.doubts, &view->arena, emit, view,
                                      err);
}

const valise_op vls_op_backpack_conflicts = {
    .size = sizeof(valise_op),
    .name = "backpack:conflicts",
    .brief = "List the keys that two backpacks changed differently.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "backpack:read",
    .in = vls_merge_in,
    .in_size = sizeof(vls_merge_args),
    .out = conflict_out,
    .out_size = sizeof(conflict_row),
    .query = query,
    .example = "{\"backpack\":\"run-1\",\"theirs\":\"run-1b\"}",
};
