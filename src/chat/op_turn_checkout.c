/* op_turn_checkout.c -- turn:checkout, move the head of a session. [W4] */
#include "chat/move.h"
#include "chat/ops.h"

static const valise_field checkout_in[] = {
    VLS_SESSION_FIELD(vls_turn_checkout_args),
    VALISE_FIELD_AS_WITH(vls_turn_checkout_args, turn, "turnId", STR,
                         VALISE_REQUIRED | VALISE_POSITIONAL,
                         "The turn: its id or the end of it, ID@VERSION, HEAD or HEAD~2.",
                         .max = VLS_TURN_REF_MAX, .ref = VLS_REF_TURN),
    VALISE_FIELD_WITH(vls_turn_checkout_args, version, INT, VALISE_NULLABLE,
                      "Which version (default: the one the session uses, else the newest).",
                      .min = 1, .max = INT64_MAX),
    VALISE_FIELD_END,
};

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_turn_checkout_args *args = in;
    vls_session_row session;
    vls_turn_row row;
    int rc = vls_session_find(&session, view, args->session, err);

    if (rc == 0)
        rc = vls_turn_find(&row, view, &session, args->turn, args->version, err);
    if (rc == 0 && !vls_turn_ref_equal(&row.ref, &session.head)) {
        rc = vls_session_tidy(view, &session, &row, err);
        if (rc == 0)
            rc = vls_session_move(&session, view, &row, err);
    }
    return rc < 0 ? rc : vls_turn_answer(out, view, &row, err);
}

const valise_op vls_op_chat_turn_checkout = {
    .size = sizeof(valise_op),
    .name = "turn:checkout",
    .brief = "Move the head of a session to another turn.",
    .help = "The role of the session becomes that of the last role:transition up to there. The "
            "former head stays as a tip, unless the new head comes after it: nothing is lost.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_IDEMPOTENT,
    .needs = "session:write",
    .in = checkout_in,
    .in_size = sizeof(vls_turn_checkout_args),
    .out = vls_turn_done_fields,
    .out_size = sizeof(vls_turn_done),
    .current = vls_session_current,
    .expect_help = VLS_HEAD_HELP,
    .decide = decide,
    .example = "{\"sessionId\":\"support\",\"turnId\":\"HEAD~2\"}",
};
