/* bedrock_read.c -- requests of Amazon Bedrock Converse back into neutral prompts, for lint. [P13]
 */
#include "wire/bedrock.h"

#include "wire/reread.h"

typedef struct reading {
    vls_reread to;
    valise_error *err;
    uint32_t at; /* of the message */
} reading;

/* A type by its format. */
static valise_str type_of(const vls_bedrock_format *formats, valise_str name)
{
    for (size_t i = 0; formats[i].type; i++) {
        if (vls_str_equal(name, valise_str_of(formats[i].name)))
            return valise_str_of(formats[i].type);
    }
    return name;
}

static void read_file(reading *r, vls_json file, bool image)
{
    vls_json source = vls_member_of(file, "source");
    valise_str text = vls_text_of(source, "text");

    vls_read_text(&r->to, "type", image ? VLS_STR("image") : VLS_STR("document"));
    vls_read_text(&r->to, "filename", vls_text_of(file, "name"));
    if (text.ptr)
        vls_read_text(&r->to, "text", text);
    else
        vls_read_media(&r->to,
                       type_of(image ? vls_bedrock_images : vls_bedrock_documents,
                               vls_text_of(file, "format")),
                       vls_text_of(source, "bytes"),
                       vls_text_of(vls_member_of(source, "s3Location"), "uri"));
}

static void read_reasoning(reading *r, vls_json reasoning)
{
    vls_json text = vls_member_of(reasoning, "reasoningText");
    vls_json redacted = vls_member_of(reasoning, "redactedContent");

    vls_read_text(&r->to, "type", VLS_STR("thinking"));
    vls_read_put(&r->to, "text",
                 redacted.type != VLS_JSON_NULL ? redacted : vls_member_of(text, "text"));
    vls_read_put(&r->to, "signature", vls_member_of(text, "signature"));
    if (redacted.type != VLS_JSON_NULL)
        vls_read_put(&r->to, "redacted", vls_json_bool(true));
}

static int read_block(reading *r, vls_json block, const char *place);

static int read_result(reading *r, vls_json result)
{
    vls_json content = vls_member_of(result, "content");
    int rc = vls_read_expect(content, VLS_JSON_ARRAY, "content", r->err);

    vls_read_text(&r->to, "type", VLS_STR("tool_result"));
    vls_read_put(&r->to, "callId", vls_member_of(result, "toolUseId"));
    if (vls_str_equal(vls_text_of(result, "status"), VLS_STR("error")))
        vls_read_put(&r->to, "isError", vls_json_bool(true));
    vls_read_open(&r->to, "content", VLS_JSON_ARRAY);
    for (uint32_t i = 0; rc == 0 && i < content.len; i++)
        rc = read_block(r, content.items[i], NULL);
    vls_read_close(&r->to);
    return rc;
}

static int read_members(reading *r, vls_json block, bool within)
{
    vls_json text = vls_member_of(block, "text"), image = vls_member_of(block, "image");
    vls_json file = vls_member_of(block, "document"), call = vls_member_of(block, "toolUse");
    vls_json result = vls_member_of(block, "toolResult");
    vls_json reasoning = vls_member_of(block, "reasoningContent");

    if (image.type == VLS_JSON_OBJECT || file.type == VLS_JSON_OBJECT) {
        read_file(r, image.type == VLS_JSON_OBJECT ? image : file, image.type == VLS_JSON_OBJECT);
    } else if (call.type == VLS_JSON_OBJECT) {
        vls_read_text(&r->to, "type", VLS_STR("tool_use"));
        vls_read_put(&r->to, "callId", vls_member_of(call, "toolUseId"));
        vls_read_put(&r->to, "name", vls_member_of(call, "name"));
        vls_read_args(&r->to, vls_member_of(call, "input"));
    } else if (result.type == VLS_JSON_OBJECT && !within) {
        return read_result(r, result);
    } else if (reasoning.type == VLS_JSON_OBJECT) {
        read_reasoning(r, reasoning);
    } else {
        vls_read_text(&r->to, "type", VLS_STR("text"));
        /* JSON of a result, a video, what was searched: nothing is wrong with it. */
        vls_read_put(&r->to, "text",
                     text.type == VLS_JSON_NULL && block.len > 0
                         ? vls_json_string(VLS_STR("(a block of another kind)"))
                         : text);
    }
    return 0;
}

static int read_block(reading *r, vls_json block, const char *place)
{
    int rc = vls_read_item(block, "block", r->err);

    if (rc < 0 || vls_member_of(block, "cachePoint").type != VLS_JSON_NULL)
        return rc;
    vls_read_open(&r->to, NULL, VLS_JSON_OBJECT);
    if (place)
        vls_read_place(&r->to, "%s", place);
    rc = read_members(r, block, !place);
    vls_read_close(&r->to);
    return rc;
}

static int read_message(reading *r, vls_json message)
{
    vls_json content = vls_member_of(message, "content");
    int rc = vls_read_expect(content, VLS_JSON_ARRAY, "content", r->err);

    vls_read_open(&r->to, NULL, VLS_JSON_OBJECT);
    vls_read_place(&r->to, "messages[%u]", r->at);
    vls_read_put(&r->to, "role", vls_member_of(message, "role"));
    vls_read_open(&r->to, "blocks", VLS_JSON_ARRAY);
    for (uint32_t i = 0; rc == 0 && i < content.len; i++) {
        char place[64];
        (void)snprintf(place, sizeof(place), "messages[%u].content[%u]", r->at, i);
        rc = read_block(r, content.items[i], place);
        if (rc < 0)
            vls_error_prepend(r->err, "content[%u]", i);
    }
    vls_read_close(&r->to);
    vls_read_close(&r->to);
    if (rc < 0)
        vls_error_prepend(r->err, "messages[%u]", r->at);
    return rc;
}

static int read_messages(reading *r, vls_json messages)
{
    int rc = vls_read_expect(messages, VLS_JSON_ARRAY, "messages", r->err);

    vls_read_open(&r->to, "messages", VLS_JSON_ARRAY);
    for (uint32_t i = 0; rc == 0 && i < messages.len; i++) {
        r->at = i;
        rc = read_message(r, messages.items[i]);
    }
    vls_read_close(&r->to);
    return rc;
}

static int read_system(reading *r, vls_json system)
{
    int rc = system.type == VLS_JSON_NULL
                 ? 0
                 : vls_read_expect(system, VLS_JSON_ARRAY, "system", r->err);

    vls_read_open(&r->to, "system", VLS_JSON_ARRAY);
    for (uint32_t i = 0; rc == 0 && system.type == VLS_JSON_ARRAY && i < system.len; i++) {
        if (vls_member_of(system.items[i], "text").type != VLS_JSON_NULL)
            vls_read_said(&r->to, vls_text_of(system.items[i], "text"), "system", i);
    }
    vls_read_close(&r->to);
    return rc;
}

static void read_tools(reading *r, vls_json tools)
{
    vls_read_open(&r->to, "tools", VLS_JSON_ARRAY);
    for (uint32_t i = 0; tools.type == VLS_JSON_ARRAY && i < tools.len; i++) {
        vls_json tool = vls_member_of(tools.items[i], "toolSpec");
        if (tool.type == VLS_JSON_NULL)
            continue;
        vls_read_tool(&r->to, vls_member_of(tool, "name"), vls_member_of(tool, "description"),
                      vls_member_of(vls_member_of(tool, "inputSchema"), "json"));
    }
    vls_read_close(&r->to);
}

/* {"any":{}} or {"tool":{"name"}}; all else leaves it to the model. */
static void read_choice(reading *r, vls_json choice)
{
    vls_json tool = vls_member_of(choice, "tool");

    if (tool.type == VLS_JSON_OBJECT) {
        vls_read_open(&r->to, "toolChoice", VLS_JSON_OBJECT);
        vls_read_put(&r->to, "name", vls_member_of(tool, "name"));
        vls_read_close(&r->to);
    } else if (vls_member_of(choice, "any").type == VLS_JSON_OBJECT) {
        vls_read_text(&r->to, "toolChoice", VLS_STR("any"));
    }
}

static void read_params(reading *r, vls_json request)
{
    vls_json config = vls_member_of(request, "inferenceConfig");

    vls_read_open(&r->to, "params", VLS_JSON_OBJECT);
    vls_read_put(&r->to, "model", vls_member_of(request, "modelId"));
    vls_read_put(&r->to, "temperature", vls_member_of(config, "temperature"));
    vls_read_put(&r->to, "stop", vls_member_of(config, "stopSequences"));
    vls_read_limit(&r->to, vls_member_of(config, "maxTokens"));
    read_choice(r, vls_member_of(vls_member_of(request, "toolConfig"), "toolChoice"));
    vls_read_thinking(
        &r->to, vls_member_of(vls_member_of(request, "additionalModelRequestFields"), "thinking"));
    vls_read_close(&r->to);
}

int vls_bedrock_read(vls_json *out, vls_arena *arena, const vls_adapter *adapter, vls_json request,
                     valise_error *err)
{
    reading r = {.err = err};
    int rc = vls_read_expect(request, VLS_JSON_OBJECT, "request", err);

    (void)adapter;
    if (rc < 0)
        return rc;
    vls_reread_init(&r.to, arena, err);
    read_tools(&r, vls_member_of(vls_member_of(request, "toolConfig"), "tools"));
    rc = read_system(&r, vls_member_of(request, "system"));
    if (rc == 0)
        rc = read_messages(&r, vls_member_of(request, "messages"));
    read_params(&r, request);
    if (rc == 0)
        rc = vls_reread_finish(out, &r.to);
    vls_reread_release(&r.to);
    return rc;
}

int vls_bedrock_look(vls_looking *looking, vls_json request, valise_error *err)
{
    return vls_look_at_marks(looking, "cachePoint", request,
                             vls_member_of(vls_member_of(request, "toolConfig"), "tools"),
                             "toolConfig.tools", err);
}
