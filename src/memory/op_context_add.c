/* op_context_add.c -- context:add, something that can be told. [W13] */
#include "base/text.h"
#include "bus/bus.h"
#include "memory/entry_in.h"

static const valise_field add_in[] = {
    VALISE_FIELD_WITH(vls_entry_args, key, STR, VALISE_REQUIRED | VALISE_POSITIONAL, "Its key.",
                      .min = 1, .max = VLS_MEMORY_KEY_MAX),
    VLS_ENTRY_CONTENT_FIELDS,
    VALISE_FIELD_AS_WITH(vls_entry_args, topics.all, "topics", LIST, VALISE_NULLABLE, "Its topics.",
                         .more = &vls_topic_item, .max = VLS_TOPICS_MAX),
    VLS_ENTRY_OTHER_FIELDS,
    VALISE_FIELD_END,
};

static int current(valise_str *json, valise_view *view, const void *in, valise_error *err)
{
    return vls_entry_current(json, view, ((const vls_entry_args *)in)->key, err);
}

/* One whose time is over makes room: 1. */
static int find_before(vls_context_entry_row *before, valise_view *view, valise_error *err)
{
    int rc = valise_view_get(before, view, &vls_context_entries, err);

    if (rc <= 0 || vls_entry_is_over(before, valise_view_stamp(view)->time))
        return rc;
    (void)vls_fail(err, VALISE_E_EXISTS, "a context entry '%s' already exists",
                   vls_text_short(before->key).s);
    vls_hint(err, "'valise memory update' changes it");
    return VALISE_E_EXISTS;
}

static int decide(valise_view *view, const void *in, void *result, valise_error *err)
{
    const vls_entry_args *args = in;
    const valise_stamp *stamp = valise_view_stamp(view);
    vls_context_entry_row before = {.key = args->key};
    vls_context_entry_row row = {.key = args->key,
                                 .expires = VALISE_NONE,
                                 .version = 1,
                                 .created = stamp->time,
                                 .updated = stamp->time,
                                 .actor = stamp->actor};
    int rc = vls_memory_check_name(args->key, "the key of an entry", err), found = 0;

    if (rc == 0)
        rc = found = find_before(&before, view, err);
    if (rc >= 0)
        rc = vls_entry_fill(&row, view, args, true, err);
    if (rc == 0 && found > 0)
        row.version = before.version + 1;
    if (rc == 0)
        rc = vls_entry_put(view, found > 0 ? &before : NULL, &row, args, err);
    *(vls_entry_made *)result = (vls_entry_made){row.key, row.version};
    return rc;
}

const valise_op vls_op_memory_context_add = {
    .size = sizeof(valise_op),
    .name = "context:add",
    .brief = "Add a context entry: a text, a JSON value or a blob.",
    .help = "Its topics decide in which sessions models are told about it. Once it has expired "
            "(`expires`, `ttl`), it is no longer shown, and gc removes it.",
    .kind = VALISE_COMMAND,
    .needs = "memory:write",
    .in = add_in,
    .in_size = sizeof(vls_entry_args),
    .out = vls_entry_made_fields,
    .out_size = sizeof(vls_entry_made),
    .current = current,
    .expect_help = "null: there is none",
    .decide = decide,
    .receive = vls_entry_receive,
    .example = "{\"key\":\"team/style\",\"text\":\"We write C11.\",\"topics\":[\"code\"]}",
};
