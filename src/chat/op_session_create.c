/* op_session_create.c -- session:create, begin a conversation. [W2] */
#include "chat/ops.h"
#include "chat/said.h"

static const valise_field create_in[] = {
    VALISE_FIELD_WITH(vls_session_create_args, label, STR, VALISE_NULLABLE | VALISE_POSITIONAL,
                      "Its label, for people.", .min = 1, .max = VLS_SESSION_LABEL_MAX),
    VALISE_FIELD(vls_session_create_args, id, UUID, VALISE_NULLABLE,
                 "Its id (default: a new one)."),
    VALISE_FIELD_WITH(vls_session_create_args, role, STR, VALISE_NULLABLE,
                      "The role that answers (default: none).", .min = 1, .max = VLS_ROLE_NAME_MAX,
                      .ref = VLS_REF_ROLE_NAME),
    VALISE_FIELD_WITH(vls_session_create_args, topics, LIST, 0, "Its topics.",
                      .more = &vls_topic_item, .max = VLS_TOPICS_MAX),
    VALISE_FIELD(vls_session_create_args, metadata, VALUE, VALISE_NULLABLE,
                 "Any other metadata, as JSON."),
    VALISE_FIELD_END,
};

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_session_create_args *args = in;
    const valise_stamp *stamp = valise_view_stamp(view);
    vls_session_row row = {.id = args->id,
                           .label = args->label,
                           .role = args->role,
                           .first_role = args->role,
                           .topics = args->topics,
                           .metadata = vls_content_id(&args->metadata),
                           .created = stamp->time,
                           .updated = stamp->time,
                           .actor = stamp->actor};
    int rc = vls_session_name(&row.id, view, err);

    if (rc == 0 && row.role.ptr)
        rc = vls_role_check(view, row.role, err);
    if (rc == 0)
        rc = vls_topics_tidy(&row.topics, view, err);
    if (rc == 0)
        rc = valise_view_put(view, &vls_sessions, &row, err);
    return rc < 0 ? rc : vls_session_answer(out, view, &row, err);
}

const valise_op vls_op_chat_session_create = {
    .size = sizeof(valise_op),
    .name = "session:create",
    .brief = "Start a session (a conversation).",
    .kind = VALISE_COMMAND,
    .needs = "session:write",
    .in = create_in,
    .in_size = sizeof(vls_session_create_args),
    .out = vls_session_made_fields,
    .out_size = sizeof(vls_session_made),
    .decide = decide,
    .example = "{\"label\":\"support\",\"topics\":[\"parcels\"]}",
};
