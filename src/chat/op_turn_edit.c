/* op_turn_edit.c -- turn:edit, another version of a turn. [W4] */
#include "chat/ops.h"

static const valise_field edit_in[] = {
    VLS_SESSION_FIELD(vls_turn_edit_args),
    VALISE_FIELD_AS_WITH(vls_turn_edit_args, turn, "turnId", STR,
                         VALISE_REQUIRED | VALISE_POSITIONAL,
                         "The turn: its id or the end of it, ID@VERSION, HEAD or HEAD~2.",
                         .max = VLS_TURN_REF_MAX, .ref = VLS_REF_TURN),
    VALISE_FIELD_AS(vls_turn_edit_args, said.text, "text", TEXT,
                    VALISE_NULLABLE | VALISE_POSITIONAL, "The new message, as text."),
    VALISE_FIELD_WITH(vls_turn_edit_args, version, INT, VALISE_NULLABLE,
                      "Which version (default: the one the session uses, else the newest).",
                      .min = 1, .max = INT64_MAX),
    VLS_TURN_ATTACH_FIELD(vls_turn_edit_args),
    VALISE_FIELD_AS(vls_turn_edit_args, blocks, "newBlocks", VALUE, VALISE_NULLABLE,
                    "The new message as an array of blocks."),
    VALISE_FIELD_END,
};

static int receive(valise_prepare *prepare, void *in, valise_error *err)
{
    vls_turn_edit_args *args = in;

    return vls_turn_receive_blocks(&args->blocks, &args->said, prepare, in, err);
}

static int append(vls_turn_row *out, valise_view *view, const vls_turn_row *old,
                  const vls_turn_edit_args *args, valise_error *err)
{
    vls_turn_new new_turn = {.id = old->ref.id,
                             .role = old->role,
                             .blocks = &args->blocks,
                             .blobs = &args->said.blobs,
                             .hidden = old->hidden,
                             .noprompt = old->noprompt,
                             .metadata = old->metadata,
                             .time = VALISE_NONE};
    vls_turn_ref *parents = NULL;
    int rc = vls_turn_parents(&parents, &new_turn.parent_count, view, old, err);

    new_turn.parents = parents;
    return rc < 0 ? rc : vls_turn_append(out, view, &new_turn, err);
}

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_turn_edit_args *args = in;
    vls_session_row session;
    vls_turn_row old, row;
    int rc = vls_session_find(&session, view, args->session, err);

    if (rc == 0)
        rc = vls_turn_find(&old, view, &session, args->turn, args->version, err);
    if (rc == 0)
        rc = append(&row, view, &old, args, err);
    if (rc == 0)
        rc = vls_session_move(&session, view, &row, err);
    return rc < 0 ? rc : vls_turn_answer(out, view, &row, err);
}

const valise_op vls_op_chat_turn_edit = {
    .size = sizeof(valise_op),
    .name = "turn:edit",
    .brief = "Edit a turn; the old version is kept.",
    .help = "The turn gets a new version, with the same parents, which becomes the head of the "
            "session. The old one, and everything that was said after it, stays: `valise turn "
            "branches` shows where, and `valise turn checkout` goes back.",
    .kind = VALISE_COMMAND,
    .needs = "session:write",
    .in = edit_in,
    .in_size = sizeof(vls_turn_edit_args),
    .out = vls_turn_done_fields,
    .out_size = sizeof(vls_turn_done),
    .current = vls_session_current,
    .expect_help = VLS_HEAD_HELP,
    .decide = decide,
    .receive = receive,
    .example = "{\"sessionId\":\"support\",\"turnId\":\"HEAD\",\"text\":"
               "\"Where is my letter?\"}",
};
