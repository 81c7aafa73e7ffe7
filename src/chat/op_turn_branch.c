/* op_turn_branch.c -- turn:branch, go on from any turn. [W4] */
#include "chat/ops.h"

static const valise_field branch_in[] = {
    VLS_SESSION_FIELD(vls_turn_branch_args),
    VALISE_FIELD_WITH(vls_turn_branch_args, parent, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "The turn to continue from: its id or the end of it, ID@VERSION, or HEAD~2.",
                      .max = VLS_TURN_REF_MAX),
    VLS_TURN_FLAT_FIELDS(vls_turn_branch_args),
    VALISE_FIELD_END,
};

static int receive(valise_prepare *prepare, void *in, valise_error *err)
{
    vls_turn_branch_args *args = in;

    return vls_turn_receive(&args->said, prepare, in, err);
}

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_turn_branch_args *args = in;
    vls_session_row session;
    vls_turn_row parent;
    int rc = vls_session_find(&session, view, args->session, err);

    if (rc == 0)
        rc = vls_turn_find(&parent, view, &session, args->parent, VALISE_NONE, err);
    return rc < 0 ? rc : vls_session_say(out, &session, view, &args->said, &parent.ref, 1, err);
}

const valise_op vls_op_chat_turn_branch = {
    .size = sizeof(valise_op),
    .name = "turn:branch",
    .brief = "Add a turn after an earlier turn, starting a branch.",
    .help = "The new turn becomes the head of the session. The former head stays as a tip: nothing "
            "is lost.",
    .kind = VALISE_COMMAND,
    .needs = "session:write",
    .in = branch_in,
    .in_size = sizeof(vls_turn_branch_args),
    .out = vls_turn_done_fields,
    .out_size = sizeof(vls_turn_done),
    .current = vls_session_current,
    .expect_help = VLS_HEAD_HELP,
    .decide = decide,
    .receive = receive,
    .example = "{\"sessionId\":\"support\",\"parent\":\"HEAD~2\",\"role\":\"user\",\"text\":"
               "\"Something else.\"}",
};
