/* anthropic_read.c -- requests of Anthropic Messages back into neutral prompts, for lint. [P13] */
#include "wire/anthropic.h"

#include "wire/reread.h"

typedef struct reading {
    vls_reread to;
    valise_error *err;
    char place[64]; /* "messages[3].content" */
} reading;

/* What the provider has besides, and a neutral prompt has not: nothing is wrong with it. */
static bool is_theirs(valise_str type)
{
    static const char *const types[] = {"search_result",
                                        "server_tool_use",
                                        "web_search_tool_result",
                                        "web_fetch_tool_result",
                                        "code_execution_tool_result",
                                        "bash_code_execution_tool_result",
                                        "text_editor_code_execution_tool_result",
                                        "tool_search_tool_result",
                                        "container_upload",
                                        "tool_reference",
                                        "browser_state",
                                        "compaction"};

    for (size_t i = 0; i < VLS_COUNT(types); i++) {
        if (vls_str_equal(type, valise_str_of(types[i])))
            return true;
    }
    return false;
}

static void read_file(reading *r, vls_json block)
{
    vls_json source = vls_member_of(block, "source");
    valise_str type = vls_text_of(source, "media_type"), file = vls_text_of(source, "file_id");

    if (vls_is_type(source, "text")) {
        vls_read_text(&r->to, "text", vls_text_of(source, "data"));
    } else if (vls_is_type(source, "content")) {
        vls_read_text(&r->to, "text", VLS_STR("(content)"));
    } else {
        if (vls_is_type(source, "url"))
            file = vls_text_of(source, "url");
        vls_read_media(&r->to, type,
                       vls_is_type(source, "base64") ? vls_text_of(source, "data")
                                                     : (valise_str){NULL, 0},
                       file);
    }
    vls_read_text(&r->to, "filename", vls_text_of(block, "title"));
}

static int read_block(reading *r, vls_json block, uint32_t at, bool within);

static int read_content(reading *r, vls_json block)
{
    vls_json content = vls_member_of(block, "content");
    int rc = 0;

    if (content.type != VLS_JSON_ARRAY) {
        vls_read_text(&r->to, "content",
                      content.type == VLS_JSON_STRING ? vls_json_str(content) : VLS_STR(""));
        return 0;
    }
    vls_read_open(&r->to, "content", VLS_JSON_ARRAY);
    for (uint32_t i = 0; i < content.len && rc == 0; i++)
        rc = read_block(r, content.items[i], i, true);
    vls_read_close(&r->to);
    return rc;
}

static int read_members(reading *r, vls_json block, bool within)
{
    valise_str type = vls_text_of(block, "type");

    if (vls_is_type(block, "thinking")) {
        vls_read_text(&r->to, "type", type);
        vls_read_text(&r->to, "text", vls_text_of(block, "thinking"));
        vls_read_text(&r->to, "signature", vls_text_of(block, "signature"));
    } else if (vls_is_type(block, "redacted_thinking")) {
        vls_read_text(&r->to, "type", VLS_STR("thinking"));
        vls_read_text(&r->to, "text", vls_text_of(block, "data"));
        vls_read_put(&r->to, "redacted", vls_json_bool(true));
    } else if (vls_is_type(block, "image") || vls_is_type(block, "document")) {
        vls_read_text(&r->to, "type", type);
        read_file(r, block);
    } else if (vls_is_type(block, "tool_use")) {
        vls_read_text(&r->to, "type", type);
        vls_read_text(&r->to, "callId", vls_text_of(block, "id"));
        vls_read_text(&r->to, "name", vls_text_of(block, "name"));
        vls_read_args(&r->to, vls_member_of(block, "input"));
    } else if (vls_is_type(block, "tool_result") && !within) {
        vls_read_text(&r->to, "type", type);
        vls_read_text(&r->to, "callId", vls_text_of(block, "tool_use_id"));
        vls_read_put(&r->to, "isError", vls_member_of(block, "is_error"));
        return read_content(r, block);
    } else if (is_theirs(type)) {
        vls_read_text(&r->to, "type", VLS_STR("text"));
        vls_read_text(&r->to, "text", type);
    } else {
        vls_read_text(&r->to, "type", type);
        vls_read_put(&r->to, "text", vls_member_of(block, "text"));
    }
    return 0;
}

static int read_block(reading *r, vls_json block, uint32_t at, bool within)
{
    int rc = vls_read_item(block, "block", r->err);

    if (rc < 0) {
        vls_error_prepend(r->err, "%s[%u]", r->place, at);
        return rc;
    }
    vls_read_open(&r->to, NULL, VLS_JSON_OBJECT);
    if (!within)
        vls_read_place(&r->to, "%s[%u]", r->place, at);
    rc = read_members(r, block, within);
    vls_read_close(&r->to);
    return rc;
}

/* A text, or an array of blocks. */
static int read_blocks(reading *r, vls_json content, const char *name)
{
    int rc = 0;

    if (content.type == VLS_JSON_STRING) {
        vls_read_said(&r->to, vls_json_str(content), r->place, 0);
        return 0;
    }
    rc = vls_read_expect(content, VLS_JSON_ARRAY, name, r->err);
    for (uint32_t i = 0; i < content.len && rc == 0; i++)
        rc = read_block(r, content.items[i], i, false);
    return rc;
}

static int read_messages(reading *r, vls_json messages)
{
    int rc = vls_read_expect(messages, VLS_JSON_ARRAY, "messages", r->err);

    vls_read_open(&r->to, "messages", VLS_JSON_ARRAY);
    for (uint32_t i = 0; i < messages.len && rc == 0; i++) {
        (void)snprintf(r->place, sizeof(r->place), "messages[%u].content", i);
        vls_read_open(&r->to, NULL, VLS_JSON_OBJECT);
        vls_read_place(&r->to, "messages[%u]", i);
        vls_read_put(&r->to, "role", vls_member_of(messages.items[i], "role"));
        vls_read_open(&r->to, "blocks", VLS_JSON_ARRAY);
        rc = read_blocks(r, vls_member_of(messages.items[i], "content"), r->place);
        vls_read_close(&r->to);
        vls_read_close(&r->to);
    }
    vls_read_close(&r->to);
    return rc;
}

static int read_system(reading *r, vls_json system)
{
    int rc = 0;

    if (system.type == VLS_JSON_NULL)
        return 0;
    (void)snprintf(r->place, sizeof(r->place), "system");
    vls_read_open(&r->to, "system", VLS_JSON_ARRAY);
    rc = read_blocks(r, system, "system");
    vls_read_close(&r->to);
    return rc;
}

/* Tools of the provider itself have a type, and no schema. */
static int read_tools(reading *r, vls_json tools)
{
    int rc =
        tools.type == VLS_JSON_NULL ? 0 : vls_read_expect(tools, VLS_JSON_ARRAY, "tools", r->err);

    vls_read_open(&r->to, "tools", VLS_JSON_ARRAY);
    for (uint32_t i = 0; tools.type == VLS_JSON_ARRAY && i < tools.len && rc == 0; i++) {
        vls_json schema = vls_member_of(tools.items[i], "input_schema");
        if (schema.type == VLS_JSON_NULL && !vls_is_type(tools.items[i], "custom"))
            schema = VLS_ANY_SCHEMA;
        vls_read_tool(&r->to, vls_member_of(tools.items[i], "name"),
                      vls_member_of(tools.items[i], "description"), schema);
    }
    vls_read_close(&r->to);
    return rc;
}

static void read_params(reading *r, vls_json request)
{
    vls_json choice = vls_member_of(request, "tool_choice");

    vls_read_open(&r->to, "params", VLS_JSON_OBJECT);
    vls_read_put(&r->to, "model", vls_member_of(request, "model"));
    vls_read_put(&r->to, "temperature", vls_member_of(request, "temperature"));
    vls_read_put(&r->to, "stop", vls_member_of(request, "stop_sequences"));
    vls_read_limit(&r->to, vls_member_of(request, "max_tokens"));
    if (vls_is_type(choice, "tool")) {
        vls_read_open(&r->to, "toolChoice", VLS_JSON_OBJECT);
        vls_read_put(&r->to, "name", vls_member_of(choice, "name"));
        vls_read_close(&r->to);
    } else {
        vls_read_put(&r->to, "toolChoice", vls_member_of(choice, "type"));
    }
    vls_read_thinking(&r->to, vls_member_of(request, "thinking"));
    vls_read_close(&r->to);
}

int vls_anthropic_read(vls_json *out, vls_arena *arena, const vls_adapter *adapter,
                       vls_json request, valise_error *err)
{
    reading r = {.err = err};
    int rc = vls_read_expect(request, VLS_JSON_OBJECT, "request", err);

    (void)adapter;
    if (rc < 0)
        return rc;
    vls_reread_init(&r.to, arena, err);
    rc = read_tools(&r, vls_member_of(request, "tools"));
    if (rc == 0)
        rc = read_system(&r, vls_member_of(request, "system"));
    if (rc == 0)
        rc = read_messages(&r, vls_member_of(request, "messages"));
    read_params(&r, request);
    if (rc == 0)
        rc = vls_reread_finish(out, &r.to);
    vls_reread_release(&r.to);
    return rc;
}

int vls_anthropic_look(vls_looking *looking, vls_json request, valise_error *err)
{
    return vls_look_at_marks(looking, "cache_control", request, vls_member_of(request, "tools"),
                             "tools", err);
}
