/* op_session_update.c -- session:update, label, topics and metadata of a session. [W2] */
#include "chat/ops.h"

#define UPDATE_FIELDS(args, label_, all_, add_, remove_, metadata_)                                \
    VALISE_FIELD_AS_WITH(args, label_, "label", STR, VALISE_NULLABLE,                              \
                         "Its label; empty to remove it.", .max = VLS_SESSION_LABEL_MAX),          \
        VLS_TOPICS_CHANGE_FIELDS(args, all_, add_, remove_),                                       \
        VALISE_FIELD_AS(args, metadata_, "metadata", VALUE, VALISE_NULLABLE,                       \
                        "Any other metadata, replacing the old.")

static const valise_field updates_fields[] = {
    UPDATE_FIELDS(vls_session_updates, label, topics.all, topics.add, topics.remove, metadata),
    VALISE_FIELD_END,
};
static const valise_struct updates_struct = {sizeof(vls_session_updates), updates_fields};

static const valise_field update_in[] = {
    VLS_SESSION_FIELD(vls_session_update_args),
    UPDATE_FIELDS(vls_session_update_args, what.label, what.topics.all, what.topics.add,
                  what.topics.remove, what.metadata),
    VALISE_FIELD_WITH(vls_session_update_args, updates, STRUCT, VALISE_NULLABLE | VALISE_HIDDEN,
                      "All changes, as one object.", .more = &updates_struct),
    VALISE_FIELD_END,
};

/* `updates` is taken apart, so that the log has one form. */
static int receive(valise_prepare *prepare, void *in, valise_error *err)
{
    vls_session_update_args *args = in;
    const vls_session_updates *what = &args->what;

    (void)prepare;
    if (!args->updates)
        return 0;
    if (what->label.ptr || what->topics.all.items || what->topics.add.count > 0 ||
        what->topics.remove.count > 0 || vls_content_given(&what->metadata))
        return vls_fail(err, VALISE_E_INVALID,
                        "give either `updates` or the changes next to `sessionId`, not both");
    args->what = *args->updates;
    args->updates = NULL;
    return 0;
}

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_session_update_args *args = in;
    const vls_session_updates *what = &args->what;
    vls_session_row row;
    int rc = vls_session_find(&row, view, args->session, err);

    if (rc < 0)
        return rc;
    if (what->label.ptr)
        row.label = what->label.len > 0 ? what->label : (valise_str){NULL, 0};
    if (vls_content_given(&what->metadata))
        row.metadata = what->metadata.id;
    row.updated = valise_view_stamp(view)->time;
    rc = vls_topics_apply(&row.topics, view, &what->topics, err);
    if (rc == 0)
        rc = valise_view_put(view, &vls_sessions, &row, err);
    return rc < 0 ? rc : vls_session_answer(out, view, &row, err);
}

const valise_op vls_op_chat_session_update = {
    .size = sizeof(valise_op),
    .name = "session:update",
    .brief = "Change the label, topics or metadata of a session.",
    .help = "What is not given stays as it is. `valise session role switch` changes the role, and "
            "`valise turn checkout` the head.\n\nIn JSON all of it may be given as `updates`: "
            "{\"sessionId\":\"support\",\"updates\":{\"label\":\"lost parcel\"}}.",
    .kind = VALISE_COMMAND,
    .needs = "session:write",
    .in = update_in,
    .in_size = sizeof(vls_session_update_args),
    .out = vls_session_made_fields,
    .out_size = sizeof(vls_session_made),
    .current = vls_session_current,
    .expect_help = VLS_HEAD_HELP,
    .decide = decide,
    .receive = receive,
    .example = "{\"sessionId\":\"support\",\"label\":\"lost parcel\",\"topics\":[\"parcels\"]}",
};
