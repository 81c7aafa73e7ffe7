/* responses_read.c -- a request of OpenAI Responses as a neutral prompt, for lint.
 *
 * Neighbouring items of the assistant are one message: calls that stand together were made
 * together. */
#include "wire/responses.h"

#include "wire/reread.h"
#include "wire/rules.h"

typedef struct reading {
    vls_reread to;
    valise_error *err;
    int role;      /* of the message that is open; -1: none is */
    uint32_t item; /* that is read */
} reading;

static bool is(valise_str text, const char *name)
{
    return vls_str_equal(text, valise_str_of(name));
}

/* ---- parts ---- */

static int read_members(reading *r, vls_json part)
{
    valise_str type = vls_text_of(part, "type"), text = vls_text_of(part, "text");

    if (is(type, "refusal"))
        text = vls_text_of(part, "refusal");
    if (is(type, "input_text") || is(type, "output_text") || is(type, "text") ||
        is(type, "refusal")) {
        vls_read_text(&r->to, "type", VLS_STR("text"));
        vls_read_text(&r->to, "text", text.ptr ? text : VLS_STR(""));
    } else if (is(type, "input_image")) {
        vls_read_text(&r->to, "type", VLS_STR("image"));
        vls_read_url(&r->to, vls_text_of(part, "image_url"), vls_text_of(part, "file_id"));
    } else if (is(type, "input_file")) {
        valise_str url = vls_text_of(part, "file_data");
        vls_read_text(&r->to, "type", VLS_STR("document"));
        vls_read_text(&r->to, "filename", vls_text_of(part, "filename"));
        vls_read_url(&r->to, url.ptr ? url : vls_text_of(part, "file_url"),
                     vls_text_of(part, "file_id"));
    } else if (type.len == 0) {
        return vls_fail(r->err, VALISE_E_INVALID, "a part has no 'type'");
    } else {
        vls_read_text(&r->to, "type", type);
    }
    return 0;
}

static int read_content(reading *r, vls_json content, const char *member)
{
    int rc = 0;

    if (content.type == VLS_JSON_STRING) {
        vls_read_open(&r->to, NULL, VLS_JSON_OBJECT);
        vls_read_place(&r->to, "input[%u]", r->item);
        vls_read_text(&r->to, "type", VLS_STR("text"));
        vls_read_text(&r->to, "text", vls_json_str(content));
        vls_read_close(&r->to);
        return 0;
    }
    if (content.type != VLS_JSON_ARRAY)
        return vls_fail(r->err, VALISE_E_INVALID, "'%s' must be a string or an array, not %s",
                        member, vls_json_type_name(content));
    for (uint32_t i = 0; i < content.len && rc == 0; i++) {
        vls_read_open(&r->to, NULL, VLS_JSON_OBJECT);
        vls_read_place(&r->to, "input[%u].%s[%u]", r->item, member, i);
        rc = read_members(r, content.items[i]);
        vls_read_close(&r->to);
        if (rc < 0)
            vls_error_prepend(r->err, "%s[%u]", member, i);
    }
    return rc;
}

/* ---- items ---- */

static void close_message(reading *r)
{
    if (r->role < 0)
        return;
    vls_read_close(&r->to);
    vls_read_close(&r->to);
    r->role = -1;
}

/* A message of this role, which neighbours of the assistant share. */
static void open_message(reading *r, int role)
{
    if (role == VLS_SAYS_ASSISTANT && r->role == VLS_SAYS_ASSISTANT)
        return;
    close_message(r);
    r->role = role;
    vls_read_open(&r->to, NULL, VLS_JSON_OBJECT);
    vls_read_place(&r->to, "input[%u]", r->item);
    vls_read_text(&r->to, "role", valise_str_of(vls_says[role]));
    vls_read_open(&r->to, "blocks", VLS_JSON_ARRAY);
}

/* A block of its own. */
static void open_block(reading *r, int role, valise_str type)
{
    open_message(r, role);
    vls_read_open(&r->to, NULL, VLS_JSON_OBJECT);
    vls_read_place(&r->to, "input[%u]", r->item);
    vls_read_text(&r->to, "type", type);
}

static int read_message(reading *r, vls_json item)
{
    valise_str role = vls_text_of(item, "role");
    int says = VLS_SAYS_USER;

    if (is(role, "assistant"))
        says = VLS_SAYS_ASSISTANT;
    else if (is(role, "system") || is(role, "developer"))
        says = VLS_SAYS_SYSTEM;
    else if (!is(role, "user"))
        return vls_fail(r->err, VALISE_E_INVALID, "a message must have a known 'role'");
    open_message(r, says);
    return read_content(r, vls_member_of(item, "content"), "content");
}

static int read_call(reading *r, vls_json item)
{
    vls_json args = vls_member_of(item, "arguments");
    valise_str id = vls_text_of(item, "call_id"), name = vls_text_of(item, "name");

    if (id.len == 0 || name.len == 0)
        return vls_fail(r->err, VALISE_E_INVALID, "a call has a 'call_id' and a 'name'");
    if (args.type != VLS_JSON_STRING)
        return vls_fail(r->err, VALISE_E_INVALID, "'arguments' must be a string, not %s",
                        vls_json_type_name(args));
    open_block(r, VLS_SAYS_ASSISTANT, VLS_STR("tool_use"));
    vls_read_text(&r->to, "callId", id);
    vls_read_text(&r->to, "name", name);
    vls_read_args_text(&r->to, "openai", vls_json_str(args));
    vls_read_close(&r->to);
    return 0;
}

static int read_output(reading *r, vls_json item)
{
    vls_json content = vls_member_of(item, "output");
    valise_str id = vls_text_of(item, "call_id");
    int rc = 0;

    if (id.len == 0)
        return vls_fail(r->err, VALISE_E_INVALID, "an output has a 'call_id'");
    open_block(r, VLS_SAYS_TOOL, VLS_STR("tool_result"));
    vls_read_text(&r->to, "callId", id);
    if (content.type == VLS_JSON_STRING) {
        vls_read_put(&r->to, "content", content);
    } else {
        vls_read_open(&r->to, "content", VLS_JSON_ARRAY);
        rc = read_content(r, content, "output");
        vls_read_close(&r->to);
    }
    vls_read_close(&r->to);
    return rc;
}

static void read_reasoning(reading *r, vls_json item)
{
    vls_json summary = vls_member_of(item, "summary");
    valise_str text = {NULL, 0}, id = vls_text_of(item, "id");
    valise_str secret = vls_text_of(item, "encrypted_content");

    if (summary.type == VLS_JSON_ARRAY && summary.len > 0)
        text = vls_text_of(summary.items[0], "text");
    open_block(r, VLS_SAYS_ASSISTANT, VLS_STR("thinking"));
    vls_read_text(&r->to, "text", text.ptr ? text : VLS_STR(""));
    vls_read_open(&r->to, "meta", VLS_JSON_OBJECT);
    if (id.ptr || secret.ptr) {
        vls_read_open(&r->to, "openai", VLS_JSON_OBJECT);
        vls_read_text(&r->to, "item_id", id);
        vls_read_text(&r->to, "encrypted_content", secret);
        vls_read_close(&r->to);
    }
    vls_read_close(&r->to);
    vls_read_close(&r->to);
}

static int read_item(reading *r, vls_json item)
{
    valise_str type = vls_text_of(item, "type");

    if (item.type != VLS_JSON_OBJECT)
        return vls_read_item(item, "item", r->err);
    if (is(type, "message") || (type.len == 0 && vls_text_of(item, "role").len > 0))
        return read_message(r, item);
    if (is(type, "function_call"))
        return read_call(r, item);
    if (is(type, "function_call_output"))
        return read_output(r, item);
    if (type.len == 0)
        return vls_fail(r->err, VALISE_E_INVALID, "an item has no 'type'");
    if (is(type, "reasoning")) {
        read_reasoning(r, item);
    } else {
        open_block(r, VLS_SAYS_ASSISTANT, type);
        vls_read_close(&r->to);
    }
    return 0;
}

static int read_input(reading *r, vls_json input)
{
    int rc = 0;

    vls_read_open(&r->to, "messages", VLS_JSON_ARRAY);
    if (input.type == VLS_JSON_STRING) {
        open_message(r, VLS_SAYS_USER);
        rc = read_content(r, input, "input");
    } else if (input.type != VLS_JSON_ARRAY) {
        rc = vls_fail(r->err, VALISE_E_INVALID, "'input' must be a text or an array");
        vls_error_prepend(r->err, "input");
    }
    for (uint32_t i = 0; input.type == VLS_JSON_ARRAY && i < input.len && rc == 0; i++) {
        r->item = i;
        rc = read_item(r, input.items[i]);
        if (rc < 0)
            vls_error_prepend(r->err, "input[%u]", i);
    }
    close_message(r);
    vls_read_close(&r->to);
    return rc;
}

/* ---- what stands before ---- */

static void read_tools(reading *r, vls_json tools)
{
    vls_read_open(&r->to, "tools", VLS_JSON_ARRAY);
    for (uint32_t i = 0; tools.type == VLS_JSON_ARRAY && i < tools.len; i++) {
        vls_json tool = tools.items[i], schema = vls_member_of(tool, "parameters");
        if (!is(vls_text_of(tool, "type"), "function"))
            continue; /* the provider's own */
        vls_read_tool(&r->to, vls_member_of(tool, "name"), vls_member_of(tool, "description"),
                      schema.type == VLS_JSON_NULL ? VLS_ANY_SCHEMA : schema);
    }
    vls_read_close(&r->to);
}

static void read_params(reading *r, vls_json request)
{
    valise_str system = vls_text_of(request, "instructions");

    vls_read_open(&r->to, "params", VLS_JSON_OBJECT);
    vls_read_put(&r->to, "model", vls_member_of(request, "model"));
    vls_read_put(&r->to, "temperature", vls_member_of(request, "temperature"));
    vls_read_put(&r->to, "maxTokens", vls_member_of(request, "max_output_tokens"));
    vls_read_put(&r->to, "stop", vls_member_of(request, "stop"));
    vls_read_close(&r->to);
    vls_read_open(&r->to, "system", VLS_JSON_ARRAY);
    if (system.ptr)
        vls_read_said(&r->to, system, "instructions", 0);
    vls_read_close(&r->to);
}

int vls_responses_read(vls_json *out, vls_arena *arena, const vls_adapter *adapter,
                       vls_json request, valise_error *err)
{
    reading r = {.err = err, .role = -1};
    int rc;

    (void)adapter;
    if (request.type != VLS_JSON_OBJECT)
        return vls_read_item(request, "request", err);
    vls_reread_init(&r.to, arena, err);
    read_params(&r, request);
    read_tools(&r, vls_member_of(request, "tools"));
    rc = read_input(&r, vls_member_of(request, "input"));
    if (rc == 0)
        rc = vls_reread_finish(out, &r.to);
    vls_reread_release(&r.to);
    return rc;
}

/* ---- reasoning and its item [R4.6] ---- */

/* Whether an item is what a model did, with the id that it had. */
static bool was_done(vls_json item)
{
    valise_str type = vls_text_of(item, "type");

    if (vls_text_of(item, "id").len == 0 || is(type, "reasoning"))
        return false;
    return !is(type, "message") || is(vls_text_of(item, "role"), "assistant");
}

int vls_responses_look(vls_looking *looking, vls_json request, valise_error *err)
{
    vls_json input = vls_member_of(request, "input");
    int rc = 0;

    for (uint32_t i = 0; input.type == VLS_JSON_ARRAY && i < input.len && rc == 0; i++) {
        valise_str id = vls_text_of(input.items[i], "id");
        if (is(vls_text_of(input.items[i], "type"), "reasoning") &&
            (i + 1 == input.len || !was_done(input.items[i + 1])))
            rc = vls_look_find(looking, VLS_R_LINK, id.ptr ? id : VLS_STR(""), err, "input[%u]", i);
    }
    return rc;
}
