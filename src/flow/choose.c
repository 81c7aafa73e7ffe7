/* choose.c -- a model chooses one of several. [F9]
 *
 * It is asked to call a tool whose one argument is an enumeration. A model that writes a text
 * instead is understood where it names exactly one of the choices, as a word; and where the text is
 * nothing but one of them, however it is dressed: "**YES.**" is yes. Nothing else is: what a flow
 * does next must not depend on a guess. */
#include "flow/nodes.h"

#include "json/make.h"

#define TOOL "choose"

static int write_schema(vls_json *out, vls_arena *arena, vls_json choices, valise_error *err)
{
    vls_json_builder b;

    vls_json_builder_init(&b, arena);
    vls_json_open(&b, VLS_JSON_OBJECT);
    vls_json_add_member(&b, VLS_STR("additionalProperties"), vls_json_bool(false));
    vls_json_add_key(&b, VLS_STR("properties"));
    vls_json_open(&b, VLS_JSON_OBJECT);
    vls_json_add_key(&b, VLS_STR("choice"));
    vls_json_open(&b, VLS_JSON_OBJECT);
    vls_json_add_key(&b, VLS_STR("enum"));
    vls_json_open(&b, VLS_JSON_ARRAY);
    for (uint32_t i = 0; i < choices.len; i++)
        vls_json_add(&b, choices.members[i].key);
    vls_json_close(&b);
    vls_json_add_text(&b, VLS_STR("type"), VLS_STR("string"));
    vls_json_close(&b);
    vls_json_close(&b);
    vls_json_add_key(&b, VLS_STR("required"));
    vls_json_open(&b, VLS_JSON_ARRAY);
    vls_json_add(&b, vls_json_string(VLS_STR("choice")));
    vls_json_close(&b);
    vls_json_add_text(&b, VLS_STR("type"), VLS_STR("object"));
    vls_json_close(&b);
    return vls_json_builder_finish(out, &b, err);
}

static int write_tools(vls_json *out, vls_arena *arena, vls_json choices, valise_error *err)
{
    vls_json *tool = vls_arena_alloc(arena, sizeof(*tool));
    vls_json schema;
    int rc;

    if (!tool)
        return vls_arena_fail(arena, err);
    rc = write_schema(&schema, arena, choices, err);
    *out = vls_json_array(tool, 1);
    return rc < 0 ? rc
                  : VLS_PAIRS(tool, arena, err, {"name", vls_json_string(VLS_STR(TOOL)), false},
                              {"description",
                               vls_json_string(VLS_STR("Say which of the choices it is.")), false},
                              {"inputSchema", schema, false});
}

static int write_system(valise_str *out, vls_arena *arena, valise_str system, vls_json choices,
                        valise_error *err)
{
    vls_buf text;

    vls_buf_init_in(&text, arena, VLS_JSON_MAX_BYTES);
    vls_buf_add(&text, system);
    if (system.len > 0)
        vls_buf_add_text(&text, "\n\n");
    vls_buf_add_text(&text, "Choose exactly one of these, by calling the tool \"" TOOL "\":\n");
    for (uint32_t i = 0; i < choices.len; i++) {
        vls_buf_add_text(&text, "- ");
        vls_buf_add(&text, vls_json_str(choices.members[i].key));
        vls_buf_add_text(&text, ": ");
        vls_buf_add(&text, vls_json_str(choices.members[i].value));
        vls_buf_add_byte(&text, '\n');
    }
    return vls_buf_keep(out, &text, err);
}

/* ---- what it said ---- */

static bool is_word(char c)
{
    return vls_is_alnum(c) || c == '_' || c == '-';
}

static bool names(valise_str text, valise_str word)
{
    size_t from = 0;

    while (word.len > 0 && from + word.len <= text.len) {
        size_t at = from + vls_str_find(vls_str_from(text, from), word), end = at + word.len;

        if (at >= text.len)
            return false;
        if ((at == 0 || !is_word(text.ptr[at - 1])) && (end == text.len || !is_word(text.ptr[end])))
            return true;
        from = at + 1;
    }
    return false;
}

/* Quotes, stars, a full stop around the one thing that it says. */
static valise_str undress(valise_str text)
{
    text = vls_str_trim(text);
    while (text.len > 0 && !is_word(text.ptr[0]) && (unsigned char)text.ptr[0] < 0x80)
        text = vls_str_from(text, 1);
    while (text.len > 0 && !is_word(text.ptr[text.len - 1]) &&
           (unsigned char)text.ptr[text.len - 1] < 0x80)
        text.len--;
    return text;
}

static bool is_same(valise_str a, valise_str b)
{
    bool same = a.len == b.len && a.len > 0;

    for (size_t i = 0; same && i < a.len; i++)
        same = vls_to_lower(a.ptr[i]) == vls_to_lower(b.ptr[i]);
    return same;
}

static int fail_said(const vls_asked *asked, const char *why, vls_json choices, valise_error *err)
{
    char all[128] = "";
    size_t len = 0;

    for (uint32_t i = 0; i < choices.len && len < sizeof(all) - 1; i++)
        len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%.*s", i > 0 ? ", " : "",
                                VALISE_STR_ARG(vls_json_str(choices.members[i].key)));
    (void)vls_fail(err, VALISE_E_INVALID, "the model had to choose one of %s, but said %s%s", all,
                   vls_flow_said_of(asked).s, why);
    vls_hint(err, "set maxRetries to ask it again");
    return VALISE_E_INVALID;
}

/* By the tool: 1, or 0 when it was not called. */
static int find_called(valise_str *out, const vls_asked *asked, vls_json choices, valise_error *err)
{
    valise_str found = {NULL, 0};
    vls_asked_call call;

    for (size_t i = 0; vls_flow_blocks_call(&call, asked->answer.blocks, i); i++) {
        valise_str said = call.broken ? VLS_STR("") : vls_text_of(call.args, "choice");

        if (!vls_str_equal(call.name, VLS_STR(TOOL)) || !vls_json_get(choices, said))
            return fail_said(asked, ", which is not one of the choices", choices, err);
        if (found.ptr && !vls_str_equal(found, said))
            return fail_said(asked, ", which names two choices", choices, err);
        found = said;
    }
    *out = found;
    return found.ptr ? 1 : 0;
}

/* Names of choices that are told apart by their case only are none to be guessed. */
static int find_named(valise_str *out, const vls_asked *asked, vls_json choices, bool whole,
                      valise_error *err)
{
    const valise_str said = undress(asked->text);
    valise_str found = {NULL, 0};

    for (uint32_t i = 0; i < choices.len; i++) {
        valise_str choice = vls_json_str(choices.members[i].key);

        if (whole ? !is_same(said, undress(choice)) : !names(asked->text, choice))
            continue;
        if (found.ptr)
            return fail_said(asked, ", which names more than one", choices, err);
        found = choice;
    }
    if (!found.ptr)
        return whole ? fail_said(asked, "", choices, err)
                     : find_named(out, asked, choices, true, err);
    *out = found;
    return 0;
}

int vls_flow_choose(valise_str *action, valise_node_run *at, const vls_ask_from *from,
                    valise_str system, valise_str prompt, vls_json choices, valise_error *err)
{
    vls_arena *arena = at->arena;
    vls_ask ask = {.from = from, .messages = vls_json_array(NULL, 0)};
    vls_asked asked = {.text = VLS_STR("")};
    vls_json message;
    int rc = write_system(&ask.system, arena, system, choices, err);

    if (rc == 0)
        rc = write_tools(&ask.tools, arena, choices, err);
    if (rc == 0)
        rc = VLS_PAIRS(&ask.tool_choice, arena, err,
                       {"name", vls_json_string(VLS_STR(TOOL)), false});
    if (rc == 0)
        rc = vls_message_of(&message, arena, prompt, err);
    if (rc == 0)
        rc = vls_messages_add(&ask.messages, arena, message, err);
    if (rc == 0)
        rc = vls_ask_model(&asked, at, &ask, err);
    if (rc == 0)
        rc = find_called(action, &asked, choices, err);
    if (rc == 0)
        rc = find_named(action, &asked, choices, false, err);
    return vls_settle(rc);
}
