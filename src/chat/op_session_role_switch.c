/* op_session_role_switch.c -- session:role:switch, another role from here on. [W2] */
#include "base/buf.h"
#include "chat/ops.h"
#include "json/json.h"
#include "store/view.h"

static const valise_field switch_in[] = {
    VLS_SESSION_FIELD(vls_session_switch_args),
    VALISE_FIELD_AS_WITH(vls_session_switch_args, role, "newRole", STR,
                         VALISE_REQUIRED | VALISE_POSITIONAL, "The new role.", .min = 1,
                         .max = VLS_ROLE_NAME_MAX, .ref = VLS_REF_ROLE_NAME),
    VALISE_FIELD_END,
};

/* The one block that says so, as a value like all others. */
static int make_block(valise_content *out, valise_view *view, valise_str from, valise_str to,
                      valise_error *err)
{
    vls_buf text;
    int rc;

    vls_buf_init_in(&text, &view->arena, VLS_JSON_MAX_BYTES);
    vls_buf_add_text(&text, "[{\"from\":");
    if (from.ptr)
        vls_json_write_string(&text, from);
    else
        vls_buf_add_text(&text, "null");
    vls_buf_add_text(&text, ",\"to\":");
    vls_json_write_string(&text, to);
    vls_buf_add_text(&text, ",\"type\":\"role:transition\"}]");
    rc = vls_buf_keep(&out->bytes, &text, err);
    out->size = (int64_t)out->bytes.len;
    return rc < 0 ? rc : valise_view_add(&out->id, view, "value", out->bytes, err);
}

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_session_switch_args *args = in;
    vls_turn_given turn = {.role = VLS_TURN_SYSTEM, .metadata = {.size = VALISE_NONE}};
    const vls_turn_flat said = {.turn = &turn};
    vls_session_row session;
    vls_turn_ref head;
    int rc = vls_session_find(&session, view, args->session, err);

    if (rc == 0)
        rc = make_block(&turn.blocks, view, session.role, args->role, err);
    if (rc < 0)
        return rc;
    head = session.head;
    return vls_session_say(out, &session, view, &said, &head, head.version > 0, err);
}

const valise_op vls_op_chat_session_role_switch = {
    .size = sizeof(valise_op),
    .name = "session:role:switch",
    .brief = "Switch the role that answers in a session from here on.",
    .help = "This adds a system turn with a role:transition, and the role of the session changes "
            "with it. If the head is moved back before that turn, the old role applies again.",
    .kind = VALISE_COMMAND,
    .needs = "session:write",
    .in = switch_in,
    .in_size = sizeof(vls_session_switch_args),
    .out = vls_turn_done_fields,
    .out_size = sizeof(vls_turn_done),
    .current = vls_session_current,
    .expect_help = VLS_HEAD_HELP,
    .decide = decide,
    .example = "{\"sessionId\":\"support\",\"newRole\":\"lawyer\"}",
};
