/* op_context_list.c -- context:list, what can be told. [W13] */
#include "base/str.h"
#include "memory/entry.h"
#include "store/view.h"

typedef struct list_args {
    valise_str prefix, topic;
    bool all;
} list_args;

static const valise_field list_in[] = {
    VALISE_FIELD_WITH(list_args, prefix, STR, VALISE_NULLABLE | VALISE_POSITIONAL,
                      "Only keys with this prefix.", .max = VLS_MEMORY_KEY_MAX),
    VALISE_FIELD_WITH(list_args, topic, STR, VALISE_NULLABLE, "Only those with this topic.",
                      .min = 1, .max = VLS_TOPIC_MAX),
    VALISE_FIELD(list_args, all, BOOL, 0, "Include expired entries that are still stored."),
    VALISE_FIELD_END,
};

typedef struct entry_line {
    valise_str key;
    int64_t type;
    valise_list topics;
    int64_t expires, version, updated;
    valise_str actor, brief;
} entry_line;

static const valise_field list_out[] = {
    VALISE_FIELD(entry_line, key, STR, VALISE_REQUIRED, "Its key."),
    VALISE_FIELD_WITH(entry_line, type, ENUM, VALISE_REQUIRED, "Its type.",
                      .more = vls_entry_types),
    VALISE_FIELD_WITH(entry_line, topics, LIST, 0, "Its topics.", .more = &vls_topic_item),
    VALISE_FIELD(entry_line, expires, TIME, VALISE_NULLABLE, "When it expires."),
    VALISE_FIELD(entry_line, version, INT, VALISE_REQUIRED, "How often it was written."),
    VALISE_FIELD(entry_line, updated, TIME, VALISE_REQUIRED, "When it was changed last."),
    VALISE_FIELD(entry_line, actor, STR, VALISE_REQUIRED, "Who did."),
    VALISE_FIELD(entry_line, brief, STR, VALISE_NULLABLE,
                 "The beginning of what it says; of a blob what its file is called."),
    VALISE_FIELD_END,
};

static int emit(valise_view *view, const vls_context_entry_row *row, valise_error *err)
{
    vls_view_mark mark = vls_view_here(view);
    entry_line line = {row->key,     row->type,    row->topics, row->expires,
                       row->version, row->updated, row->actor,  {NULL, 0}};
    vls_entry_shown shown = {.version = 0};
    valise_str said;
    int rc = vls_entry_show(&shown, view, row, err);

    said = row->type == VLS_ENTRY_JSON ? shown.value : shown.text;
    if (row->type == VLS_ENTRY_BLOB)
        said = shown.filename.ptr ? shown.filename : shown.media_type;
    if (rc == 0)
        rc = vls_memory_brief(&line.brief, view, said, err);
    if (rc == 0)
        rc = valise_view_emit(view, &line, err);
    vls_view_rewind(view, mark);
    return rc;
}

static int query(valise_view *view, const void *in, void *result, valise_error *err)
{
    const list_args *args = in;
    vls_context_entry_row row = {.key = args->prefix.ptr ? args->prefix : VLS_STR("")};
    const valise_select select = {.row = &row, .from = 1};
    valise_str prefix = row.key;
    valise_scan *scan = NULL;
    int64_t now = 0;
    int rc = vls_memory_now(&now, view, err);

    (void)result;
    if (rc == 0)
        rc = valise_view_scan(&scan, view, &vls_context_entries, &select, err);
    while (rc >= 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        if (!vls_str_starts(row.key, prefix)) {
            rc = 0;
            break;
        }
        if ((!args->all && vls_entry_is_over(&row, now)) ||
            (args->topic.ptr && !vls_topics_have(row.topics, args->topic)))
            continue;
        rc = emit(view, &row, err);
    }
    valise_scan_close(scan);
    return rc;
}

const valise_op vls_op_memory_context_list = {
    .size = sizeof(valise_op),
    .name = "context:list",
    .brief = "List the context entries.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "memory:read",
    .in = list_in,
    .in_size = sizeof(list_args),
    .out = list_out,
    .out_size = sizeof(entry_line),
    .query = query,
    .example = "{\"prefix\":\"team/\"}",
};
