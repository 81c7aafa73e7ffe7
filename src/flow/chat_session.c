/* chat_session.c -- a node asks in a session of the workspace: turns and prompt are recorded. [P8]
 *
 *     turn:add      what the node says, once, however often it is tried
 *     prompt:ask    the answer, with the backpack's items as this node may read them; the prompt is
 *                   recorded with its manifest, and names each item that came along
 *
 * Both are what anybody could run; pieces of the answer are events of the session, and of the node.
 */
#include "flow/chat.h"

#include "json/make.h"

static int look(void *arg, const valise_progress_state *state)
{
    (void)state;
    return vls_node_look(arg, NULL) < 0;
}

static int dispatch(vls_json *out, valise_node_run *at, const char *type, vls_json payload,
                    valise_error *err)
{
    valise_reply reply = VALISE_REPLY_INIT;
    valise_call call = VALISE_CALL_INIT;
    valise_str text, answer;
    int rc = vls_json_text(&text, at->arena, payload, err);

    call.actor = at->run->actor;
    call.progress = (valise_progress){look, at};
    if (rc == 0)
        rc = valise_dispatch_str(&reply, at->run->v, valise_str_of(type), text, &call, err);
    if (rc == VALISE_E_CANCELLED) { /* by the node's time, perhaps */
        int why = vls_node_look(at, err);
        rc = why < 0 ? why : rc;
    }
    if (rc == 0)
        rc = vls_arena_dup(&answer, at->arena, valise_blob_bytes(reply.json), err);
    if (rc == 0)
        rc = vls_json_parse(out, at->arena, answer,
                            &(vls_json_limits){.around = VLS_JSON_MAX_AROUND}, err);
    valise_reply_release(&reply);
    return rc;
}

static int say(vls_chat *chat, valise_node_run *at, valise_error *err)
{
    vls_json payload, done;
    int rc = VLS_PAIRS(&payload, at->arena, err, {"role", vls_json_string(VLS_STR("user")), false},
                       {"sessionId", vls_json_string(chat->session), false},
                       {"text", vls_json_string(chat->prompt), false});

    if (rc == 0)
        rc = dispatch(&done, at, "turn:add", payload, err);
    if (rc == 0)
        chat->user = vls_text_of(done, "ref");
    return rc;
}

/* Only what is known of it: a provider may not tell a usage. */
static vls_pair known(const char *key, vls_json answer, const char *member)
{
    vls_json value = vls_member_of(answer, member);

    return (vls_pair){key, value, value.type == VLS_JSON_NULL};
}

static int write_details(vls_chat *chat, valise_node_run *at, vls_json done, valise_error *err)
{
    const vls_pair pairs[] = {
        known("model", done, "model"),
        known("prompt", done, "prompt"),
        known("provider", done, "provider"),
        known("stop", done, "stop"),
        known("turn", done, "ref"),
        known("usage", done, "usage"),
        {"user", vls_json_string(chat->user), chat->user.len == 0},
    };

    return vls_pairs_make(&chat->details, at->arena, pairs, VLS_COUNT(pairs), err);
}

/* ---- pieces ---- */

/* What is streamed in the session is the node's, too. */
typedef struct relaying {
    const valise_node_run *at;
    valise_str session; /* its id */
} relaying;

static int on_piece(void *arg, const valise_event *event, valise_error *err)
{
    const relaying *r = arg;
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_json piece;
    int rc;

    vls_arena_init(&arena, r->at->run->env, (size_t)64 << 20);
    rc = vls_json_parse(&piece, &arena, event->payload, NULL, err);
    if (rc == 0 && vls_str_equal(vls_text_of(piece, "sessionId"), r->session))
        vls_flow_tell(r->at->run, r->at, "STREAM_CHUNK", event->payload);
    return rc;
}

static int find_session(valise_str *out, const vls_chat *chat, valise_node_run *at,
                        valise_error *err)
{
    vls_json payload, shown;
    int rc =
        VLS_PAIRS(&payload, at->arena, err, {"sessionId", vls_json_string(chat->session), false});

    if (rc == 0)
        rc = dispatch(&shown, at, "session:show", payload, err);
    if (rc == 0)
        *out = vls_text_of(shown, "id");
    return rc;
}

static int ask(vls_json *done, const vls_chat *chat, valise_node_run *at, vls_json payload,
               bool stream, valise_error *err)
{
    static const char *const types[] = {"session:STREAM_CHUNK", NULL};
    relaying r = {.at = at};
    const valise_follow follow = {.size = sizeof(follow),
                                  .filter = {.size = sizeof(valise_filter), .types = types},
                                  .live = true,
                                  .fn = on_piece,
                                  .arg = &r,
                                  .actor = at->run->actor};
    valise_subscription *pieces = NULL;
    int rc = 0;

    if (stream && vls_flow_listens(at->run)) {
        rc = find_session(&r.session, chat, at, err);
        if (rc == 0)
            rc = valise_subscribe(&pieces, at->run->v, &follow, err);
    }
    if (rc == 0)
        rc = dispatch(done, at, "prompt:ask", payload, err);
    valise_unsubscribe(pieces);
    return rc;
}

/* ---- all of it ---- */

/* A prompt that is recorded names its items, and must be able to show them again. */
static int check_kept(const valise_node_run *at, valise_error *err)
{
    if (!at->run->bag->memory)
        return 0;
    (void)vls_fail(err, VALISE_E_UNSUPPORTED,
                   "items of a backpack in memory cannot be part of a recorded prompt");
    vls_hint(err, "run the flow on a durable backpack, or leave \"session\" out");
    return VALISE_E_UNSUPPORTED;
}

int vls_chat_in_session(vls_chat *chat, valise_node_run *at, const vls_chat_params *params,
                        valise_error *err)
{
    vls_json items = vls_node_written(at, "items"), own = vls_json_null(), payload, done;
    bool with = params->items.count > 0;
    vls_ask_from from;
    int rc = vls_ask_whom(&from, at, &params->from, err);

    if (rc == 0 && with)
        rc = check_kept(at, err);
    if (rc == 0 && from.params.ptr)
        rc = vls_json_parse(&own, at->arena, from.params, NULL, err);
    if (rc == 0 && chat->user.len == 0)
        rc = say(chat, at, err);
    if (rc == 0)
        rc = VLS_PAIRS(
            &payload, at->arena, err, {"backpack", vls_json_string(at->run->bag->name), !with},
            {"dropPartial", vls_json_bool(true), false}, {"items", items, !with},
            {"model", vls_json_string(from.model), !from.model.ptr},
            {"node", vls_json_string(at->path), !with}, {"params", own, own.type == VLS_JSON_NULL},
            {"provider", vls_json_string(from.provider), false},
            {"replay", vls_json_string(from.replay), !from.replay.ptr},
            {"session", vls_json_string(chat->session), false},
            {"stream", vls_json_bool(from.stream), false});
    if (rc == 0)
        rc = ask(&done, chat, at, payload, from.stream, err);
    if (rc < 0)
        return rc;
    chat->text = vls_text_of(done, "text");
    return write_details(chat, at, done, err);
}
