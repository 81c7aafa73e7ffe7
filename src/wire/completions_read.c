/* completions_read.c -- a request of the Chat Completions family as a neutral prompt, for lint. */
#include "wire/completions.h"

#include "wire/reread.h"
#include "wire/rules.h"

typedef struct reading {
    vls_reread to;
    valise_error *err;
    const vls_completions *dialect;
    const char *vendor;
    bool echoes;    /* the model gets back what it thought */
    char place[64]; /* of the message */
} reading;

static bool is(valise_str text, const char *name)
{
    return vls_str_equal(text, valise_str_of(name));
}

/* ---- parts ---- */

static int read_image(reading *r, vls_json part)
{
    vls_json url = vls_member_of(part, "image_url");
    valise_str text = url.type == VLS_JSON_STRING ? vls_json_str(url) : vls_text_of(url, "url");

    if (!text.ptr)
        return vls_fail(r->err, VALISE_E_INVALID, "an image must have an 'image_url' with a 'url'");
    vls_read_text(&r->to, "type", VLS_STR("image"));
    vls_read_url(&r->to, text, (valise_str){NULL, 0});
    return 0;
}

/* {"file":{"file_data","filename","file_id"}}, {"file_id"}, {"document_url","document_name"} */
static int read_file(reading *r, vls_json part)
{
    vls_json file = vls_member_of(part, "file");
    valise_str url, id, name;

    if (file.type != VLS_JSON_OBJECT)
        file = part;
    url = vls_text_of(file, "file_data");
    if (!url.ptr)
        url = vls_text_of(file, "document_url");
    id = vls_text_of(file, "file_id");
    name = vls_text_of(file, "filename");
    if (!name.ptr)
        name = vls_text_of(file, "document_name");
    if (!url.ptr && !id.ptr)
        return vls_fail(r->err, VALISE_E_INVALID, "a file must have data, an address or an id");
    vls_read_text(&r->to, "type", VLS_STR("document"));
    vls_read_text(&r->to, "filename", name);
    vls_read_url(&r->to, url, id);
    return 0;
}

/* Its vendor's, whether it is signed or not. */
static int read_thinking(reading *r, vls_json part)
{
    vls_json thinking = vls_member_of(part, "thinking");
    valise_str text = {NULL, 0};
    vls_buf buf;
    int rc;

    vls_buf_init_in(&buf, r->to.arena, SIZE_MAX / 2);
    for (uint32_t i = 0; thinking.type == VLS_JSON_ARRAY && i < thinking.len; i++)
        vls_buf_add(&buf, vls_text_of(thinking.items[i], "text"));
    rc = vls_buf_keep(&text, &buf, r->err);
    vls_read_text(&r->to, "type", VLS_STR("thinking"));
    vls_read_text(&r->to, "text", text.ptr ? text : VLS_STR(""));
    vls_read_text(&r->to, "signature", vls_text_of(part, "signature"));
    vls_read_open(&r->to, "meta", VLS_JSON_OBJECT);
    vls_read_text(&r->to, "vendor", valise_str_of(r->vendor));
    vls_read_open(&r->to, r->vendor[0] ? r->vendor : "none", VLS_JSON_OBJECT);
    vls_read_put(&r->to, "closed", vls_json_bool(true));
    vls_read_close(&r->to);
    vls_read_close(&r->to);
    return rc;
}

static int read_members(reading *r, vls_json part)
{
    valise_str type = vls_text_of(part, "type");

    if (is(type, "text") || is(type, "refusal")) {
        valise_str text = vls_text_of(part, is(type, "text") ? "text" : "refusal");
        if (!text.ptr)
            return vls_fail(r->err, VALISE_E_INVALID, "the part has no text");
        vls_read_text(&r->to, "type", VLS_STR("text"));
        vls_read_text(&r->to, "text", text);
        return 0;
    }
    if (is(type, "image_url"))
        return read_image(r, part);
    if (is(type, "file") || is(type, "document_url"))
        return read_file(r, part);
    if (is(type, "thinking"))
        return read_thinking(r, part);
    if (type.len == 0)
        return vls_fail(r->err, VALISE_E_INVALID, "a part has no 'type'");
    vls_read_text(&r->to, "type", type);
    return 0;
}

static int read_content(reading *r, vls_json content)
{
    int rc = 0;

    if (content.type == VLS_JSON_NULL)
        return 0;
    if (content.type == VLS_JSON_STRING) {
        vls_read_open(&r->to, NULL, VLS_JSON_OBJECT);
        vls_read_place(&r->to, "%s", r->place);
        vls_read_text(&r->to, "type", VLS_STR("text"));
        vls_read_text(&r->to, "text", vls_json_str(content));
        vls_read_close(&r->to);
        return 0;
    }
    if (content.type != VLS_JSON_ARRAY)
        return vls_fail(r->err, VALISE_E_INVALID, "'content' must be a string or an array, not %s",
                        vls_json_type_name(content));
    for (uint32_t i = 0; i < content.len && rc == 0; i++) {
        vls_read_open(&r->to, NULL, VLS_JSON_OBJECT);
        vls_read_place(&r->to, "%s.content[%u]", r->place, i);
        rc = read_members(r, content.items[i]);
        vls_read_close(&r->to);
        if (rc < 0)
            vls_error_prepend(r->err, "content[%u]", i);
    }
    return rc;
}

/* ---- calls and results ---- */

static int read_args(reading *r, vls_json args)
{
    valise_str text = {NULL, 0};
    int rc = 0;

    if (args.type == VLS_JSON_STRING)
        text = vls_json_str(args);
    else if (args.type == VLS_JSON_OBJECT && r->dialect->objects)
        rc = vls_json_text(&text, r->to.arena, args, r->err);
    else
        return vls_fail(r->err, VALISE_E_INVALID, "'arguments' must be a string, not %s",
                        vls_json_type_name(args));
    vls_read_args_text(&r->to, r->vendor, text);
    return rc;
}

static int read_call(reading *r, vls_json call, uint32_t at)
{
    vls_json function = vls_member_of(call, "function");
    valise_str id = vls_text_of(call, "id"), name = vls_text_of(function, "name");
    int rc;

    if (id.len == 0 || name.len == 0)
        return vls_fail(r->err, VALISE_E_INVALID,
                        "a call must have an 'id' and a function with a 'name'");
    vls_read_open(&r->to, NULL, VLS_JSON_OBJECT);
    vls_read_place(&r->to, "%s.tool_calls[%u]", r->place, at);
    vls_read_text(&r->to, "type", VLS_STR("tool_use"));
    vls_read_text(&r->to, "callId", id);
    vls_read_text(&r->to, "name", name);
    rc = read_args(r, vls_member_of(function, "arguments"));
    vls_read_close(&r->to);
    return rc;
}

static int read_calls(reading *r, vls_json calls)
{
    int rc = 0;

    for (uint32_t i = 0; calls.type == VLS_JSON_ARRAY && i < calls.len && rc == 0; i++) {
        rc = read_call(r, calls.items[i], i);
        if (rc < 0)
            vls_error_prepend(r->err, "tool_calls[%u]", i);
    }
    return rc;
}

/* The parts of a result become its blocks. */
static int read_result(reading *r, vls_json message)
{
    vls_json content = vls_member_of(message, "content");
    valise_str id = vls_text_of(message, "tool_call_id");
    int rc = 0;

    if (id.len == 0)
        return vls_fail(r->err, VALISE_E_INVALID, "a message of a tool must have a 'tool_call_id'");
    vls_read_open(&r->to, NULL, VLS_JSON_OBJECT);
    vls_read_place(&r->to, "%s", r->place);
    vls_read_text(&r->to, "type", VLS_STR("tool_result"));
    vls_read_text(&r->to, "callId", id);
    if (content.type == VLS_JSON_NULL || content.type == VLS_JSON_STRING) {
        vls_read_text(&r->to, "content",
                      content.type == VLS_JSON_STRING ? vls_json_str(content) : VLS_STR(""));
    } else {
        vls_read_open(&r->to, "content", VLS_JSON_ARRAY);
        rc = read_content(r, content);
        vls_read_close(&r->to);
    }
    vls_read_close(&r->to);
    return rc;
}

/* ---- messages ---- */

static int role_of(vls_json message)
{
    valise_str role = vls_text_of(message, "role");

    if (is(role, "developer"))
        return VLS_SAYS_SYSTEM;
    for (int i = 0; vls_says[i]; i++) {
        if (is(role, vls_says[i]))
            return i;
    }
    return -1;
}

static void read_thought(reading *r, valise_str text)
{
    if (text.len == 0)
        return;
    vls_read_open(&r->to, NULL, VLS_JSON_OBJECT);
    vls_read_place(&r->to, "%s.reasoning_content", r->place);
    vls_read_text(&r->to, "type", VLS_STR("thinking"));
    vls_read_text(&r->to, "text", text);
    vls_read_close(&r->to);
}

static int read_message(reading *r, vls_json message, uint32_t at)
{
    int role = role_of(message), rc = 0;

    if (message.type != VLS_JSON_OBJECT || role < 0)
        return vls_fail(r->err, VALISE_E_INVALID, "a message must have a known 'role'");
    (void)snprintf(r->place, sizeof(r->place), "messages[%u]", at);
    vls_read_open(&r->to, NULL, VLS_JSON_OBJECT);
    vls_read_place(&r->to, "%s", r->place);
    vls_read_text(&r->to, "role", valise_str_of(vls_says[role]));
    vls_read_open(&r->to, "blocks", VLS_JSON_ARRAY);
    if (role == VLS_SAYS_TOOL)
        rc = read_result(r, message);
    else if (r->echoes)
        read_thought(r, vls_text_of(message, "reasoning_content"));
    if (role != VLS_SAYS_TOOL)
        rc = read_content(r, vls_member_of(message, "content"));
    if (rc == 0 && role != VLS_SAYS_TOOL)
        rc = read_calls(r, vls_member_of(message, "tool_calls"));
    vls_read_close(&r->to);
    vls_read_close(&r->to);
    return rc;
}

/* What stands before the conversation: texts. */
static int read_system(reading *r, vls_json content)
{
    if (content.type == VLS_JSON_STRING) {
        vls_read_said(&r->to, vls_json_str(content), "system", 0);
        return 0;
    }
    if (content.type != VLS_JSON_ARRAY)
        return vls_fail(r->err, VALISE_E_INVALID, "'content' must be a string or an array, not %s",
                        vls_json_type_name(content));
    for (uint32_t i = 0; i < content.len; i++) {
        valise_str text = vls_text_of(content.items[i], "text");
        if (!text.ptr)
            return vls_fail(r->err, VALISE_E_INVALID, "content[%u] has no text", i);
        vls_read_said(&r->to, text, "system", i);
    }
    return 0;
}

static int read_messages(reading *r, vls_json messages)
{
    int rc = vls_read_expect(messages, VLS_JSON_ARRAY, "messages", r->err);
    uint32_t at = 0;

    vls_read_open(&r->to, "system", VLS_JSON_ARRAY);
    while (rc == 0 && at < messages.len && role_of(messages.items[at]) == VLS_SAYS_SYSTEM) {
        rc = read_system(r, vls_member_of(messages.items[at], "content"));
        if (rc < 0)
            vls_error_prepend(r->err, "messages[%u]", at);
        at++;
    }
    vls_read_close(&r->to);
    vls_read_open(&r->to, "messages", VLS_JSON_ARRAY);
    for (; rc == 0 && at < messages.len; at++) {
        rc = read_message(r, messages.items[at], at);
        if (rc < 0)
            vls_error_prepend(r->err, "messages[%u]", at);
    }
    vls_read_close(&r->to);
    return rc;
}

/* ---- what stands before ---- */

static void read_tools(reading *r, vls_json tools)
{
    vls_read_open(&r->to, "tools", VLS_JSON_ARRAY);
    for (uint32_t i = 0; tools.type == VLS_JSON_ARRAY && i < tools.len; i++) {
        vls_json function = vls_member_of(tools.items[i], "function");
        vls_json schema = vls_member_of(function, "parameters");
        if (function.type != VLS_JSON_OBJECT)
            continue; /* the provider's own */
        vls_read_tool(&r->to, vls_member_of(function, "name"),
                      vls_member_of(function, "description"),
                      schema.type == VLS_JSON_NULL ? VLS_ANY_SCHEMA : schema);
    }
    vls_read_close(&r->to);
}

static void read_params(reading *r, vls_json request)
{
    vls_json stop = vls_member_of(request, "stop");
    vls_json most = vls_member_of(request, "max_completion_tokens");

    vls_read_open(&r->to, "params", VLS_JSON_OBJECT);
    vls_read_put(&r->to, "model", vls_member_of(request, "model"));
    vls_read_put(&r->to, "temperature", vls_member_of(request, "temperature"));
    vls_read_put(&r->to, "maxTokens",
                 most.type == VLS_JSON_NULL ? vls_member_of(request, "max_tokens") : most);
    if (stop.type == VLS_JSON_STRING) {
        vls_read_open(&r->to, "stop", VLS_JSON_ARRAY);
        vls_json_add(&r->to.to, stop);
        vls_read_close(&r->to);
    } else {
        vls_read_put(&r->to, "stop", stop);
    }
    if (r->echoes)
        vls_read_thinking(&r->to, vls_member_of(request, "thinking"));
    vls_read_close(&r->to);
}

int vls_completions_read(vls_json *out, vls_arena *arena, const vls_adapter *adapter,
                         vls_json request, valise_error *err)
{
    reading r = {.err = err, .dialect = adapter->dialect, .vendor = adapter->vendor};
    int rc;

    if (request.type != VLS_JSON_OBJECT)
        return vls_read_item(request, "request", err);
    r.echoes = vls_adapter_demands(adapter, vls_text_of(request, "model")) & VLS_DEMANDS_ECHO;
    vls_reread_init(&r.to, arena, err);
    read_params(&r, request);
    read_tools(&r, vls_member_of(request, "tools"));
    rc = read_messages(&r, vls_member_of(request, "messages"));
    if (rc == 0)
        rc = vls_reread_finish(out, &r.to);
    vls_reread_release(&r.to);
    return rc;
}

/* ---- what the answer begins with [R5.2] ---- */

int vls_completions_look(vls_looking *looking, vls_json request, valise_error *err)
{
    vls_json messages = vls_member_of(request, "messages");
    int rc = 0;

    for (uint32_t i = 0; messages.type == VLS_JSON_ARRAY && i < messages.len && rc == 0; i++) {
        bool marked = vls_truth_of(messages.items[i], "prefix");
        bool last = i + 1 == messages.len && role_of(messages.items[i]) == VLS_SAYS_ASSISTANT;
        if (marked != last)
            rc = vls_look_find(looking, VLS_R_PREFIX, VLS_STR(""), err, "messages[%u]", i);
    }
    return rc;
}
