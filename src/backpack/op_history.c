/* op_history.c -- backpack:history, who did what to which item. */
#include "backpack/use.h"

typedef struct history_args {
    vls_who who;
    valise_str key, by, tag, namespace_name;
    valise_list actions; /* of int64_t */
    int64_t since, until, first, last, limit;
    bool reverse, reads;
} history_args;

static const valise_field action_item = {
    .name = "action", .type = VALISE_T_ENUM, .more = vls_bag_actions};

static const valise_field history_in[] = {
    VLS_WHO_FIELDS(history_args),
    VALISE_FIELD_WITH(history_args, key, STR, VALISE_POSITIONAL, "Only commits of this key.",
                      .max = VLS_BAG_KEY_MAX, .ref = VLS_REF_KEY),
    VALISE_FIELD_WITH(history_args, by, STR, 0, "Only commits of this node.",
                      .max = VLS_BAG_NODE_MAX, .ref = VLS_REF_NODE),
    VALISE_FIELD_WITH(history_args, actions, LIST, 0, "Only these actions.", .more = &action_item,
                      .max = 7),
    VALISE_FIELD(history_args, reads, BOOL, 0, "Include reads."),
    VALISE_FIELD_AS_WITH(history_args, namespace_name, "namespace", STR, 0,
                         "Only items whose namespace matches.", .max = VLS_BAG_NAMESPACE_MAX),
    VALISE_FIELD_WITH(history_args, tag, STR, 0, "Only items that carry this tag.",
                      .max = VLS_BAG_TAG_MAX),
    VALISE_FIELD(history_args, since, TIME, VALISE_NULLABLE, "From this time on."),
    VALISE_FIELD(history_args, until, TIME, VALISE_NULLABLE, "Up to this time."),
    VALISE_FIELD_WITH(history_args, first, INT, 0, "From this seq on.", .max = INT64_MAX),
    VALISE_FIELD_WITH(history_args, last, INT, 0, "Up to this seq.", .max = INT64_MAX),
    VALISE_FIELD_WITH(history_args, limit, INT, 0, "At most this many.", .max = INT64_MAX),
    VALISE_FIELD(history_args, reverse, BOOL, 0, "Oldest first."),
    VALISE_FIELD_END,
};

static unsigned wanted(const history_args *args)
{
    const int64_t *action = args->actions.items;
    unsigned mask = args->reads ? 1u << VALISE_ACTION_UNPACK : 0;

    for (size_t i = 0; i < args->actions.count; i++)
        mask |= 1u << action[i];
    if (args->actions.count == 0 && args->reads)
        mask = (1u << (VALISE_ACTION_UNPACK + 1)) - 1;
    return mask;
}

static int query(valise_view *view, const void *in, void *out, valise_error *err)
{
    const history_args *args = in;
    VLS_AUTO(use) vls_use use = {0};
    valise_history filter = {.size = sizeof(filter),
                             .node_id = args->by,
                             .key = args->key,
                             .tag = args->tag,
                             .namespace_pattern = args->namespace_name,
                             .actions = wanted(args),
                             .since = args->since,
                             .until = args->until,
                             .first = args->first,
                             .last = args->last,
                             .oldest_first = args->reverse,
                             .limit = args->limit};
    int rc = vls_use_begin(&use, view, &args->who, err);

    (void)out;
    return rc < 0
               ? rc
               : vls_bag_history(&use.ledger, use.scope, &filter, vls_use_emit_commit, view, err);
}

const valise_op vls_op_backpack_history = {
    .size = sizeof(valise_op),
    .name = "backpack:history",
    .brief = "Show the commits of a backpack or an item, newest first.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "backpack:read",
    .in = history_in,
    .in_size = sizeof(history_args),
    .out = vls_commit_fields,
    .out_size = sizeof(valise_commit),
    .query = query,
    .example = "{\"backpack\":\"run-1\",\"by\":\"research-2\",\"limit\":10}",
};
