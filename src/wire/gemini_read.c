/* gemini_read.c -- requests of Gemini generateContent back into neutral prompts, for lint. [P13] */
#include "wire/gemini.h"

#include "wire/reread.h"

typedef struct reading {
    vls_reread to;
    valise_error *err;
    uint32_t at;      /* of the content */
    uint32_t spoke;   /* the content that the last calls stand in */
    uint32_t calls;   /* so far in this content */
    uint32_t results; /* that had no id */
} reading;

/* Both spellings of JSON for protocol buffers. */
static vls_json either(vls_json object, const char *camel, const char *snake)
{
    vls_json member = vls_member_of(object, camel);

    return member.type == VLS_JSON_NULL ? vls_member_of(object, snake) : member;
}

/* Calls have an id, or are known by their place. */
static void read_id(reading *r, vls_json call, uint32_t content, uint32_t number)
{
    valise_str id = vls_text_of(call, "id"), made = {NULL, 0};
    char text[64];

    if (id.len == 0) {
        (void)snprintf(text, sizeof(text), "call_%u_%u", content, number);
        if (vls_arena_dup(&made, r->to.arena, valise_str_of(text), &r->to.to.error) < 0)
            return;
        id = made;
    }
    vls_read_text(&r->to, "callId", id);
}

static int read_response(reading *r, vls_json result)
{
    vls_json response = vls_member_of(result, "response");
    vls_json said = vls_member_of(response, "error");
    bool failed = said.type != VLS_JSON_NULL;
    valise_str text = {NULL, 0};
    int rc = vls_read_expect(response, VLS_JSON_OBJECT, "response", r->err);

    if (rc < 0)
        return rc;
    vls_read_text(&r->to, "type", VLS_STR("tool_result"));
    read_id(r, result, r->spoke, r->results++);
    if (failed)
        vls_read_put(&r->to, "isError", vls_json_bool(true));
    else
        said = vls_member_of(response, "output");
    if (said.type == VLS_JSON_STRING)
        text = vls_json_str(said);
    else
        rc = vls_json_text(&text, r->to.arena, response, r->err);
    vls_read_text(&r->to, "content", text);
    return rc;
}

static void read_file(reading *r, vls_json file, const char *data)
{
    valise_str type = {NULL, 0};
    vls_json mime = either(file, "mimeType", "mime_type");
    vls_json uri = either(file, "fileUri", "file_uri");

    if (mime.type == VLS_JSON_STRING)
        type = vls_json_str(mime);
    /* What has no type may be a picture, and is not found fault with as something else. */
    vls_read_text(&r->to, "type",
                  type.len == 0 || vls_str_starts(type, VLS_STR("image/")) ? VLS_STR("image")
                                                                           : VLS_STR("document"));
    vls_read_media(&r->to, type, data ? vls_text_of(file, data) : (valise_str){NULL, 0},
                   uri.type == VLS_JSON_STRING ? vls_json_str(uri) : (valise_str){NULL, 0});
}

static void read_signature(reading *r, vls_json part)
{
    vls_json sign = either(part, "thoughtSignature", "thought_signature");

    if (sign.type == VLS_JSON_NULL)
        return;
    vls_read_open(&r->to, "meta", VLS_JSON_OBJECT);
    vls_read_open(&r->to, "google", VLS_JSON_OBJECT);
    vls_read_put(&r->to, "thoughtSignature", sign);
    vls_read_close(&r->to);
    vls_read_close(&r->to);
}

static int read_part(reading *r, vls_json part, uint32_t at)
{
    vls_json call = either(part, "functionCall", "function_call");
    vls_json result = either(part, "functionResponse", "function_response");
    vls_json data = either(part, "inlineData", "inline_data");
    vls_json file = either(part, "fileData", "file_data");
    vls_json text = vls_member_of(part, "text");
    int rc = 0;

    vls_read_open(&r->to, NULL, VLS_JSON_OBJECT);
    vls_read_place(&r->to, "contents[%u].parts[%u]", r->at, at);
    read_signature(r, part);
    if (call.type == VLS_JSON_OBJECT) {
        vls_json args = vls_member_of(call, "args");
        vls_read_text(&r->to, "type", VLS_STR("tool_use"));
        read_id(r, call, r->at, r->calls++);
        vls_read_put(&r->to, "name", vls_member_of(call, "name"));
        if (args.type == VLS_JSON_NULL)
            args.type = VLS_JSON_OBJECT; /* without members */
        vls_read_args(&r->to, args);
    } else if (result.type == VLS_JSON_OBJECT) {
        rc = read_response(r, result);
    } else if (data.type == VLS_JSON_OBJECT) {
        read_file(r, data, "data");
    } else if (file.type == VLS_JSON_OBJECT) {
        read_file(r, file, NULL);
    } else {
        vls_read_text(&r->to, "type",
                      vls_truth_of(part, "thought") ? VLS_STR("thinking") : VLS_STR("text"));
        /* Code that the provider ran, and the like: nothing is wrong with it. */
        vls_read_put(&r->to, "text",
                     text.type == VLS_JSON_NULL && part.len > 0
                         ? vls_json_string(VLS_STR("(a part of another kind)"))
                         : text);
    }
    vls_read_close(&r->to);
    return rc;
}

static int read_parts(reading *r, vls_json content)
{
    vls_json parts = vls_member_of(content, "parts");
    int rc = vls_read_expect(parts, VLS_JSON_ARRAY, "parts", r->err);

    for (uint32_t i = 0; rc == 0 && i < parts.len; i++) {
        rc = vls_read_item(parts.items[i], "part", r->err);
        if (rc == 0)
            rc = read_part(r, parts.items[i], i);
        if (rc < 0)
            vls_error_prepend(r->err, "parts[%u]", i);
    }
    if (rc < 0)
        vls_error_prepend(r->err, "contents[%u]", r->at);
    return rc;
}

static int read_contents(reading *r, vls_json contents)
{
    int rc = vls_read_expect(contents, VLS_JSON_ARRAY, "contents", r->err);

    vls_read_open(&r->to, "messages", VLS_JSON_ARRAY);
    for (uint32_t i = 0; rc == 0 && i < contents.len; i++) {
        valise_str role = vls_text_of(contents.items[i], "role");
        bool model = vls_str_equal(role, VLS_STR("model"));
        if (role.len == 0 || vls_str_equal(role, VLS_STR("function")))
            role = VLS_STR("user");
        r->at = i;
        if (model)
            r->spoke = i;
        r->calls = r->results = 0;
        vls_read_open(&r->to, NULL, VLS_JSON_OBJECT);
        vls_read_place(&r->to, "contents[%u]", i);
        vls_read_text(&r->to, "role", model ? VLS_STR("assistant") : role);
        vls_read_open(&r->to, "blocks", VLS_JSON_ARRAY);
        rc = read_parts(r, contents.items[i]);
        vls_read_close(&r->to);
        vls_read_close(&r->to);
    }
    vls_read_close(&r->to);
    return rc;
}

static int read_system(reading *r, vls_json system)
{
    vls_json parts = vls_member_of(system, "parts");
    int rc = 0;

    if (system.type == VLS_JSON_NULL)
        return 0;
    rc = vls_read_expect(parts, VLS_JSON_ARRAY, "parts", r->err);
    vls_read_open(&r->to, "system", VLS_JSON_ARRAY);
    for (uint32_t i = 0; rc == 0 && i < parts.len; i++)
        vls_read_said(&r->to, vls_text_of(parts.items[i], "text"), "systemInstruction.parts", i);
    vls_read_close(&r->to);
    if (rc < 0)
        vls_error_prepend(r->err, "systemInstruction");
    return rc;
}

static void read_tool(reading *r, vls_json tool)
{
    vls_json schema = either(tool, "parametersJsonSchema", "parameters_json_schema");

    if (schema.type == VLS_JSON_NULL)
        schema = vls_member_of(tool, "parameters");
    if (schema.type == VLS_JSON_NULL)
        schema = VLS_ANY_SCHEMA;
    vls_read_tool(&r->to, vls_member_of(tool, "name"), vls_member_of(tool, "description"), schema);
}

static int read_tools(reading *r, vls_json tools)
{
    int rc =
        tools.type == VLS_JSON_NULL ? 0 : vls_read_expect(tools, VLS_JSON_ARRAY, "tools", r->err);

    vls_read_open(&r->to, "tools", VLS_JSON_ARRAY);
    for (uint32_t i = 0; rc == 0 && tools.type == VLS_JSON_ARRAY && i < tools.len; i++) {
        vls_json list = either(tools.items[i], "functionDeclarations", "function_declarations");
        for (uint32_t j = 0; list.type == VLS_JSON_ARRAY && j < list.len; j++)
            read_tool(r, list.items[j]);
    }
    vls_read_close(&r->to);
    return rc;
}

static void read_params(reading *r, vls_json request)
{
    vls_json config = either(request, "generationConfig", "generation_config");

    vls_read_open(&r->to, "params", VLS_JSON_OBJECT);
    vls_read_put(&r->to, "model", vls_member_of(request, "model"));
    vls_read_put(&r->to, "temperature", vls_member_of(config, "temperature"));
    vls_read_put(&r->to, "stop", either(config, "stopSequences", "stop_sequences"));
    vls_read_limit(&r->to, either(config, "maxOutputTokens", "max_output_tokens"));
    vls_read_close(&r->to);
}

int vls_gemini_read(vls_json *out, vls_arena *arena, const vls_adapter *adapter, vls_json request,
                    valise_error *err)
{
    reading r = {.err = err};
    int rc = vls_read_expect(request, VLS_JSON_OBJECT, "request", err);

    (void)adapter;
    if (rc < 0)
        return rc;
    vls_reread_init(&r.to, arena, err);
    rc = read_tools(&r, vls_member_of(request, "tools"));
    if (rc == 0)
        rc = read_system(&r, either(request, "systemInstruction", "system_instruction"));
    if (rc == 0)
        rc = read_contents(&r, vls_member_of(request, "contents"));
    read_params(&r, request);
    if (rc == 0)
        rc = vls_reread_finish(out, &r.to);
    vls_reread_release(&r.to);
    return rc;
}
