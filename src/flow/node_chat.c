/* node_chat.c -- ChatNode: ask a model, and pack what it says. [F9] [P8] [P10]
 *
 *     without `session`   the prompt is made here: history, items, the template
 *     with `session`      in a session of the workspace, as `valise ask` does it (chat_session.c)
 *
 * `history` is an item with messages, [{"role","blocks"}]: they are sent before the prompt, and the
 * prompt and the answer are added to them. Items that came along are not: they are read anew each
 * time. */
#include "flow/chat.h"

#include "base/text.h"
#include "json/make.h"

static const valise_field item_field = {
    .name = "item", .type = VALISE_T_STR, .min = 1, .max = 1100};

static const valise_field chat_fields[] = {
    VALISE_FIELD(vls_chat_params, prompt, STR, VALISE_REQUIRED, "What is asked: a template."),
    VALISE_FIELD(vls_chat_params, system, STR, VALISE_NULLABLE,
                 "What the model is told beside that: a template."),
    VALISE_FIELD_WITH(vls_chat_params, items, LIST, 0,
                      "Items that come along: keys, \"fact*\", \"ns:sales.*\".",
                      .more = &item_field, .max = 1000),
    VALISE_FIELD_WITH(vls_chat_params, history, STR, VALISE_NULLABLE,
                      "The key of messages that are sent first, and get the new ones.", .min = 1,
                      .max = VLS_BAG_KEY_MAX),
    VALISE_FIELD_WITH(vls_chat_params, session, STR, VALISE_NULLABLE,
                      "A session that it is asked in: id or label, a template.", .min = 1,
                      .max = 4096),
    VALISE_FIELD_WITH(vls_chat_params, into, STR, VALISE_NULLABLE,
                      "The key of the text of the answer, answer when not given.", .min = 1,
                      .max = VLS_BAG_KEY_MAX),
    VALISE_FIELD_WITH(vls_chat_params, details, STR, VALISE_NULLABLE,
                      "The key of what else is known of it: model, usage, prompt, turns.", .min = 1,
                      .max = VLS_BAG_KEY_MAX),
    VLS_ASK_FIELDS(vls_chat_params),
    VALISE_FIELD_END,
};

int vls_chat_check(const vls_flow_node *node, valise_str path, vls_flow_findings *findings,
                   valise_error *err)
{
    const vls_checking c = {node, path, findings, err};
    static const char *const keys[] = {"history", "into", "details"};
    int rc = vls_check_ask(&c, vls_check_has(&c, "history") || vls_check_has(&c, "session"));

    for (size_t i = 0; i < VLS_COUNT(keys) && rc == 0; i++)
        rc = vls_check_key(&c, keys[i]);
    if (rc == 0)
        rc = vls_check_template(&c, "session", false);
    if (rc == 0 && vls_check_has(&c, "session") && vls_check_has(&c, "history"))
        rc = vls_check_fail(&c, "history", NULL, "the session has its own history");
    if (rc == 0 && vls_check_has(&c, "session") && vls_check_has(&c, "system"))
        rc = vls_check_fail(&c, "system", "set it in the role of the session: valise role update",
                            "the role of the session gives it");
    return rc;
}

/* ---- what is sent ---- */

static int read_history(vls_chat *chat, valise_node_run *at, valise_str key, valise_error *err)
{
    vls_renderer r = vls_renderer_of(at);
    const vls_pick pick = {.key = key, .optional = true};
    int rc;

    chat->history = vls_json_array(NULL, 0);
    if (!key.ptr)
        return 0;
    rc = vls_pick_get(&chat->history, &r, &pick, err);
    if (rc >= 0 && chat->history.type != VLS_JSON_ARRAY) {
        (void)vls_fail(err, VALISE_E_INVALID, "item '%s' is not an array of messages",
                       vls_text_short(key).s);
        vls_hint(err,
                 "a message must be {\"role\": \"user\", \"blocks\": [{\"type\": \"text\", ...}]}");
        return VALISE_E_INVALID;
    }
    return vls_settle(rc);
}

/* The items, each a block of its own, in front of what is asked. */
static int join_items(vls_json *message, vls_arena *arena, vls_json items, valise_error *err)
{
    vls_json own = vls_member_of(*message, "blocks");
    size_t count = (size_t)items.len + own.len;
    vls_json *blocks;

    if (items.len == 0)
        return 0;
    blocks = vls_arena_array(arena, count, sizeof(*blocks));
    if (!blocks)
        return vls_arena_fail(arena, err);
    memcpy(blocks, items.items, items.len * sizeof(*blocks));
    memcpy(blocks + items.len, own.items, own.len * sizeof(*blocks));
    return vls_json_with(message, arena, *message, "blocks", vls_json_array(blocks, count), err);
}

static int prep_messages(vls_chat *chat, valise_node_run *at, const vls_chat_params *params,
                         valise_error *err)
{
    vls_json items = vls_json_array(NULL, 0), full;
    int rc = read_history(chat, at, params->history, err);

    if (rc == 0 && params->items.count > 0)
        rc = vls_gather_items(&items, at, vls_node_written(at, "items"), err);
    if (rc == 0)
        rc = vls_message_of(&chat->said, at->arena, chat->prompt, err);
    full = chat->said;
    if (rc == 0)
        rc = join_items(&full, at->arena, items, err);
    chat->messages = chat->history;
    return rc < 0 ? rc : vls_messages_add(&chat->messages, at->arena, full, err);
}

static int prep(void *node, valise_node_run *at, valise_error *err)
{
    const vls_chat_params *params = at->values;
    vls_chat *chat;
    int rc = vls_node_data_new(&chat, at, sizeof(*chat), err);

    (void)node;
    if (rc == 0)
        rc = vls_node_text(&chat->prompt, at, "prompt", err);
    if (rc == 0)
        rc = vls_node_text(&chat->system, at, "system", err);
    if (rc == 0 && vls_is_blank(chat->prompt))
        rc = vls_fail(err, VALISE_E_INVALID, "the prompt is nothing but white space");
    if (rc < 0)
        return rc;
    return params->session.ptr ? vls_node_text(&chat->session, at, "session", err)
                               : prep_messages(chat, at, params, err);
}

/* ---- asking ---- */

static int exec(void *node, valise_node_run *at, valise_error *err)
{
    const vls_chat_params *params = at->values;
    vls_chat *chat = at->data;
    const vls_ask ask = {.from = &params->from, .system = chat->system, .messages = chat->messages};
    vls_asked asked = {.text = VLS_STR("")};
    int rc;

    (void)node;
    if (params->session.ptr)
        return vls_chat_in_session(chat, at, params, err);
    rc = vls_ask_model(&asked, at, &ask, err);
    if (rc == 0)
        rc = vls_asked_details(&chat->details, at->arena, &asked, err);
    if (rc == 0)
        rc = VLS_PAIRS(&chat->answer, at->arena, err,
                       {"role", vls_json_string(VLS_STR("assistant")), false},
                       {"blocks", asked.answer.blocks, false});
    if (rc == 0)
        chat->text = asked.text;
    return rc;
}

static int keep_history(valise_node_run *at, const vls_chat *chat, valise_str key,
                        valise_error *err)
{
    vls_json all = chat->history;
    int rc;

    if (!key.ptr)
        return 0;
    rc = vls_messages_add(&all, at->arena, chat->said, err);
    if (rc == 0)
        rc = vls_messages_add(&all, at->arena, chat->answer, err);
    return rc < 0 ? rc : vls_node_pack(at, key, all, err);
}

static int post(void *node, valise_node_run *at, valise_error *err)
{
    const vls_chat_params *params = at->values;
    const vls_chat *chat = at->data;
    int rc = vls_node_pack(at, params->into.ptr ? params->into : VLS_STR("answer"),
                           vls_json_string(chat->text), err);

    (void)node;
    if (rc == 0)
        rc = keep_history(at, chat, params->history, err);
    return rc < 0 ? rc : vls_node_pack(at, params->details, chat->details, err);
}

const valise_node_type vls_node_chat = {
    .size = sizeof(valise_node_type),
    .name = "ChatNode",
    .brief = "Asks a model and packs its answer.",
    .segment = "chat",
    .params = chat_fields,
    .params_size = sizeof(vls_chat_params),
    .prep = prep,
    .exec = exec,
    .post = post,
};
