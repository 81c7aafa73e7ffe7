/* op_turn_add.c -- turn:add, say something in a session. [W4] */
#include "chat/ops.h"

static const valise_field add_in[] = {
    VLS_SESSION_FIELD(vls_turn_add_args),
    VLS_TURN_FLAT_FIELDS(vls_turn_add_args),
    VALISE_FIELD_END,
};

static int receive(valise_prepare *prepare, void *in, valise_error *err)
{
    vls_turn_add_args *args = in;

    return vls_turn_receive(&args->said, prepare, in, err);
}

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_turn_add_args *args = in;
    vls_session_row session;
    vls_turn_ref head;
    int rc = vls_session_find(&session, view, args->session, err);

    if (rc < 0)
        return rc;
    head = session.head;
    return vls_session_say(out, &session, view, &args->said, &head, head.version > 0, err);
}

const valise_op vls_op_chat_turn_add = {
    .size = sizeof(valise_op),
    .name = "turn:add",
    .brief = "Add a turn to a session.",
    .help = "The turn is added after the head of the session, and becomes its head.\n\n`turn` may "
            "give everything; on the command line a role and a text are enough. Blobs that its "
            "blocks name are held by the turn.",
    .kind = VALISE_COMMAND,
    .needs = "session:write",
    .in = add_in,
    .in_size = sizeof(vls_turn_add_args),
    .out = vls_turn_done_fields,
    .out_size = sizeof(vls_turn_done),
    .current = vls_session_current,
    .expect_help = VLS_HEAD_HELP,
    .decide = decide,
    .receive = receive,
    .example = "{\"sessionId\":\"support\",\"role\":\"user\",\"text\":\"Where is my parcel?\"}",
};
