/* op_role_list.c -- role:list, the personas there are. */
#include "bus/bus.h"
#include "memory/role.h"

typedef struct list_args {
    valise_str topic;
} list_args;

static const valise_field list_in[] = {
    VALISE_FIELD_WITH(list_args, topic, STR, VALISE_NULLABLE, "Only those with this topic.",
                      .min = 1, .max = VLS_TOPIC_MAX),
    VALISE_FIELD_END,
};

typedef struct role_line {
    valise_str name, label;
    int64_t version;
    valise_list topics;
    int64_t created, updated;
    valise_str brief;
} role_line;

static const valise_field list_out[] = {
    VALISE_FIELD(role_line, name, STR, VALISE_REQUIRED, "Name of the role."),
    VALISE_FIELD(role_line, version, INT, VALISE_REQUIRED, "Its newest version."),
    VALISE_FIELD(role_line, label, STR, VALISE_NULLABLE, "Its label, for people."),
    VALISE_FIELD_WITH(role_line, topics, LIST, 0, "Its topics.", .more = &vls_topic_item),
    VALISE_FIELD(role_line, created, TIME, VALISE_REQUIRED, "When it was added."),
    VALISE_FIELD(role_line, updated, TIME, VALISE_REQUIRED, "When it was changed last."),
    VALISE_FIELD(role_line, brief, STR, VALISE_NULLABLE, "The beginning of its persona."),
    VALISE_FIELD_END,
};

static int emit(valise_view *view, const vls_role_row *role, valise_error *err)
{
    vls_view_mark mark = vls_view_here(view);
    role_line line = {.name = role->name,
                      .version = role->version,
                      .topics = role->topics,
                      .created = role->created,
                      .updated = role->updated};
    vls_role_version_row version;
    valise_str persona = {NULL, 0};
    int rc = vls_role_version_get(&version, view, role->name, role->version, err);

    if (rc == 0)
        rc = vls_memory_text(&persona, view, &version.persona, err);
    if (rc == 0)
        rc = vls_memory_brief(&line.brief, view, persona, err);
    if (rc == 0) {
        line.label = version.label;
        rc = valise_view_emit(view, &line, err);
    }
    vls_view_rewind(view, mark);
    return rc;
}

static int query(valise_view *view, const void *in, void *result, valise_error *err)
{
    const list_args *args = in;
    valise_scan *scan = NULL;
    vls_role_row row;
    int rc = valise_view_scan(&scan, view, &vls_roles, NULL, err);

    (void)result;
    while (rc >= 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        if (!args->topic.ptr || vls_topics_have(row.topics, args->topic))
            rc = emit(view, &row, err);
    }
    valise_scan_close(scan);
    return rc;
}

const valise_op vls_op_memory_role_list = {
    .size = sizeof(valise_op),
    .name = "role:list",
    .brief = "List the roles.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "role:read",
    .in = list_in,
    .in_size = sizeof(list_args),
    .out = list_out,
    .out_size = sizeof(role_line),
    .query = query,
    .example = "{}",
};
