/* op_session_delete.c -- session:delete, a session and what only it has. [W6] */
#include "bus/told.h"
#include "chat/ops.h"
#include "chat/refs.h"

typedef struct delete_result {
    valise_uuid id;
    int64_t removed;
    bool more;
} delete_result;

static const valise_field delete_in[] = {
    VLS_SESSION_FIELD(vls_session_args),
    VALISE_FIELD_END,
};

static const valise_field delete_out[] = {
    VALISE_FIELD(delete_result, id, UUID, VALISE_REQUIRED, "Id of the session."),
    VALISE_FIELD(delete_result, removed, INT, 0, "Turns and tips that went with it."),
    VALISE_FIELD(delete_result, more, BOOL, 0, "Further ones follow at once, a part at a time."),
    VALISE_FIELD_END,
};

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_session_args *args = in;
    delete_result *result = out;
    int64_t left = VLS_SWEEP_MAX;
    vls_session_row session;
    int rc = vls_session_find(&session, view, args->session, err);

    if (rc == 0)
        rc = vls_session_let_go(view, &session, &left, err);
    if (rc < 0)
        return rc;
    *result = (delete_result){session.id, VLS_SWEEP_MAX - left, left <= 0};
    if (result->more)
        vls_view_then(view, &vls_op_chat_turn_sweep);
    return 0;
}

const valise_op vls_op_chat_session_delete = {
    .size = sizeof(valise_op),
    .name = "session:delete",
    .brief = "Delete a session and the turns that only it has.",
    .help = "Turns that another session has, or a pin holds, stay. Blobs that only removed turns "
            "held are removed, too. The turns can still be seen with `--at` an earlier state, as "
            "far back as the log goes; `valise session erase` removes them from every file.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_DESTRUCTIVE,
    .needs = "session:delete",
    .in = delete_in,
    .in_size = sizeof(vls_session_args),
    .out = delete_out,
    .out_size = sizeof(delete_result),
    .current = vls_session_current,
    .expect_help = VLS_HEAD_HELP,
    .decide = decide,
    .example = "{\"sessionId\":\"support\"}",
};
