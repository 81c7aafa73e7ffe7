/* op_context_update.c -- context:update, change what can be told. [W13] */
#include "bus/bus.h"
#include "memory/entry_in.h"

enum { UNSET_METADATA, UNSET_EXPIRES };
static const char *const parts[] = {"metadata", "expires", NULL};

static const valise_field part_item = {
    .name = "part", .help = "A part.", .type = VALISE_T_ENUM, .more = parts};

static const valise_field update_in[] = {
    VALISE_FIELD_WITH(vls_entry_args, key, STR, VALISE_REQUIRED | VALISE_POSITIONAL, "Its key.",
                      .ref = VLS_REF_ENTRY, .min = 1, .max = VLS_MEMORY_KEY_MAX),
    VLS_ENTRY_CONTENT_FIELDS,
    VLS_TOPICS_CHANGE_FIELDS(vls_entry_args, topics.all, topics.add, topics.remove),
    VLS_ENTRY_OTHER_FIELDS,
    VALISE_FIELD_WITH(vls_entry_args, unset, LIST, 0, "Fields to remove.", .more = &part_item,
                      .max = 4),
    VALISE_FIELD_END,
};

static int current(valise_str *json, valise_view *view, const void *in, valise_error *err)
{
    return vls_entry_current(json, view, ((const vls_entry_args *)in)->key, err);
}

static void take_away(vls_context_entry_row *row, valise_list unset)
{
    const int64_t *part = unset.items;

    for (size_t i = 0; i < unset.count; i++) {
        if (part[i] == UNSET_METADATA)
            row->metadata = (valise_id){{0}};
        else
            row->expires = VALISE_NONE;
    }
}

static bool says_the_same(const vls_context_entry_row *a, const vls_context_entry_row *b)
{
    return a->type == b->type && vls_id_equal(&a->content, &b->content) &&
           vls_id_equal(&a->blob, &b->blob) && vls_topics_equal(a->topics, b->topics) &&
           vls_id_equal(&a->metadata, &b->metadata) && a->expires == b->expires;
}

static int decide(valise_view *view, const void *in, void *result, valise_error *err)
{
    const vls_entry_args *args = in;
    const valise_stamp *stamp = valise_view_stamp(view);
    vls_entry_made *out = result;
    vls_context_entry_row before = {.key = args->key}, after;
    int rc = vls_entry_get(&before, view, err);

    if (rc < 0)
        return rc;
    after = before;
    take_away(&after, args->unset);
    rc = vls_entry_fill(&after, view, args, false, err);
    if (rc < 0)
        return rc;
    *out = (vls_entry_made){before.key, before.version};
    if (says_the_same(&before, &after))
        return 0;
    out->version = ++after.version;
    after.updated = stamp->time;
    after.actor = stamp->actor;
    return vls_entry_put(view, &before, &after, args, err);
}

const valise_op vls_op_memory_context_update = {
    .size = sizeof(valise_op),
    .name = "context:update",
    .brief = "Change a context entry.",
    .help =
        "What is not given stays as it is; `unset` removes a field. The history keeps what it was.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_IDEMPOTENT,
    .needs = "memory:write",
    .in = update_in,
    .in_size = sizeof(vls_entry_args),
    .out = vls_entry_made_fields,
    .out_size = sizeof(vls_entry_made),
    .current = current,
    .expect_help = "the version of the entry",
    .decide = decide,
    .receive = vls_entry_receive,
    .example = "{\"key\":\"team/style\",\"text\":\"We write C23.\",\"unset\":[\"expires\"]}",
};
