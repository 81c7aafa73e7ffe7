/* op_session_list.c -- session:list, the conversations there are. [W2] */
#include <valise/sys/operation.h>

#include "chat/shown.h"
#include "memory/memory.h"

typedef vls_session_list_args list_args;

static const valise_field list_in[] = {
    VALISE_FIELD_WITH(list_args, role, STR, VALISE_NULLABLE,
                      "Only those that this role answers in.", .max = VLS_ROLE_NAME_MAX,
                      .ref = VLS_REF_ROLE_NAME),
    VALISE_FIELD_WITH(list_args, topic, STR, VALISE_NULLABLE, "Only those with this topic.",
                      .max = VLS_TOPIC_MAX),
    VALISE_FIELD_WITH(list_args, label, STR, VALISE_NULLABLE, "Only those with this label.",
                      .max = VLS_SESSION_LABEL_MAX),
    VALISE_FIELD_WITH(list_args, limit, INT, 0, "At most this many.", .max = INT64_MAX),
    VALISE_FIELD(list_args, after, UUID, VALISE_NULLABLE,
                 "Continue after this session, the last of the previous list."),
    VALISE_FIELD_END,
};

typedef struct list_row {
    vls_session_shown session;
} list_row;

static const valise_field list_out[] = {
    VLS_SESSION_SHOWN_FIELDS(list_row),
    VALISE_FIELD_END,
};

/* The index by role or by label has equal ones in the order of their ids, as the key has all. */
static void choose(valise_select *select, vls_session_row *from, const list_args *args)
{
    from->id = args->after;
    from->role = args->role;
    from->label = args->label;
    *select = (valise_select){.row = from, .flags = VALISE_SCAN_REVERSE};
    if (args->label.ptr)
        select->index = "label";
    else if (args->role.ptr)
        select->index = "role";
    select->equal = select->index ? 1 : 0;
    if (!vls_uuid_is_none(&args->after)) {
        select->from = 1;
        select->flags |= VALISE_SCAN_AFTER;
    }
}

static int query(valise_view *view, const void *in, void *result, valise_error *err)
{
    const list_args *args = in;
    int64_t left = args->limit > 0 ? args->limit : INT64_MAX;
    vls_session_row row = {0};
    valise_scan *scan = NULL;
    valise_select select;
    int rc;

    (void)result;
    choose(&select, &row, args);
    rc = valise_view_scan(&scan, view, &vls_sessions, &select, err);
    while (rc == 0 && left > 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        list_row shown;
        rc = 0;
        if ((args->topic.ptr && !vls_topics_have(row.topics, args->topic)) ||
            (args->role.ptr && !vls_str_equal(row.role, args->role)))
            continue;
        vls_show_session(&shown.session, &row);
        rc = valise_view_emit(view, &shown, err);
        left--;
    }
    valise_scan_close(scan);
    return vls_settle(rc);
}

const valise_op vls_op_chat_session_list = {
    .size = sizeof(valise_op),
    .name = "session:list",
    .brief = "List the sessions, newest first.",
    .help = "They are sorted by their ids, which begin with the time of creation unless somebody "
            "chose them.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "session:read",
    .in = list_in,
    .in_size = sizeof(list_args),
    .out = list_out,
    .out_size = sizeof(list_row),
    .query = query,
    .example = "{\"topic\":\"parcels\",\"limit\":10}",
};
