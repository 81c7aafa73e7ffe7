/* op_preference_list.c -- preference:list, what is preferred. [W13] */
#include "base/str.h"
#include "bus/bus.h"
#include "memory/preference.h"

typedef struct list_args {
    int64_t scope;
    valise_str of, slot, topic;
} list_args;

static const valise_field list_in[] = {
    VALISE_FIELD_WITH(list_args, scope, ENUM, VALISE_NULLABLE, "Only those with this scope.",
                      .more = vls_scopes),
    VALISE_FIELD_WITH(list_args, of, STR, VALISE_NULLABLE, "Only those of this role or session.",
                      .min = 1, .max = VLS_ROLE_NAME_MAX),
    VALISE_FIELD_WITH(list_args, slot, STR, VALISE_NULLABLE, "Only those for this slot.", .min = 1,
                      .max = VLS_MEMORY_SLOT_MAX),
    VALISE_FIELD_WITH(list_args, topic, STR, VALISE_NULLABLE, "Only those with this topic.",
                      .min = 1, .max = VLS_TOPIC_MAX),
    VALISE_FIELD_END,
};

static bool is_wanted(const list_args *args, const vls_preference_row *row)
{
    return (args->scope == VALISE_NONE || args->scope == row->scope) &&
           (!args->of.ptr || vls_str_equal(args->of, row->of)) &&
           (!args->slot.ptr || vls_str_equal(args->slot, row->slot)) &&
           (!args->topic.ptr || vls_topics_have(row->topics, args->topic));
}

static int query(valise_view *view, const void *in, void *result, valise_error *err)
{
    valise_scan *scan = NULL;
    vls_preference_row row;
    int rc = valise_view_scan(&scan, view, &vls_preferences, NULL, err);

    (void)result;
    while (rc >= 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        vls_preference_shown shown = {.version = 0};
        vls_view_mark mark = vls_view_here(view);
        if (!is_wanted(in, &row))
            continue;
        rc = vls_preference_show(&shown, view, &row, err);
        if (rc == 0)
            rc = valise_view_emit(view, &shown, err);
        vls_view_rewind(view, mark);
    }
    valise_scan_close(scan);
    return rc;
}

const valise_op vls_op_memory_preference_list = {
    .size = sizeof(valise_op),
    .name = "preference:list",
    .brief = "List the preferences.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "preference:read",
    .in = list_in,
    .in_size = sizeof(list_args),
    .out = vls_preference_shown_fields,
    .out_size = sizeof(vls_preference_shown),
    .query = query,
    .example = "{\"scope\":\"workspace\"}",
};
