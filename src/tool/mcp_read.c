/* mcp_read.c -- what a server says: anything may stand there. */
#include "base/utf8.h"
#include "json/make.h"
#include "tool/mcp.h"

static const char *const versions[] = {"2024-11-05", "2025-03-26", "2025-06-18", VLS_MCP_VERSION};

static vls_mcp_message answer_of(vls_json value, vls_json id)
{
    const vls_json *error = vls_json_get(value, VLS_STR("error"));
    const vls_json *result = vls_json_get(value, VLS_STR("result"));
    vls_mcp_message m = {.kind = VLS_MCP_PASSED};

    if (error && error->type != VLS_JSON_NULL) {
        m.kind = VLS_MCP_ERROR;
        m.body = *error;
    } else if (result) {
        m.kind = VLS_MCP_RESULT;
        m.body = *result;
    }
    if (id.type == VLS_JSON_INT && id.integer > 0)
        m.id = id.integer;
    else if (m.kind != VLS_MCP_ERROR || id.type != VLS_JSON_NULL)
        m.kind = VLS_MCP_PASSED;
    return m;
}

vls_mcp_message vls_mcp_message_of(vls_json value)
{
    const vls_json *id = vls_json_get(value, VLS_STR("id"));
    const vls_json *method = vls_json_get(value, VLS_STR("method"));
    vls_mcp_message m = {.kind = VLS_MCP_STRANGE};

    if (value.type != VLS_JSON_OBJECT)
        return m;
    if (!method && (id || vls_json_get(value, VLS_STR("error"))))
        return answer_of(value, id ? *id : vls_json_null());
    if (!method || method->type != VLS_JSON_STRING)
        return m;
    m.kind = VLS_MCP_PASSED;
    if (id && (id->type == VLS_JSON_STRING || id->type == VLS_JSON_INT)) {
        m.kind = VLS_MCP_REQUEST;
        m.asked_id = *id;
        m.method = vls_json_str(*method);
    }
    return m;
}

int vls_mcp_take_hello(vls_json result, valise_error *err)
{
    valise_str version = vls_text_of(result, "protocolVersion");

    for (size_t i = 0; i < VLS_COUNT(versions); i++) {
        if (vls_str_equal(version, valise_str_of(versions[i])))
            return 0;
    }
    if (!version.ptr)
        return vls_fail(err, VALISE_E_IO, "it does not say which version of MCP it speaks");
    return vls_fail(err, VALISE_E_IO, "it speaks version '%s' of MCP, and not one of %s to %s",
                    vls_text_short(version).s, versions[0], VLS_MCP_VERSION);
}

int vls_mcp_take_page(vls_mcp_page *out, vls_json result, valise_error *err)
{
    const vls_json *tools = vls_json_get(result, VLS_STR("tools"));
    const vls_json *cursor = vls_json_get(result, VLS_STR("nextCursor"));

    if (!tools || tools->type != VLS_JSON_ARRAY)
        return vls_fail(err, VALISE_E_IO, "its list of tools is invalid");
    if (cursor && cursor->type != VLS_JSON_STRING && cursor->type != VLS_JSON_NULL)
        return vls_fail(err, VALISE_E_IO, "the cursor to its next tools must be a string, not %s",
                        vls_json_type_name(*cursor));
    out->tools = *tools;
    out->cursor = cursor && cursor->type == VLS_JSON_STRING && cursor->len > 0
                      ? vls_json_str(*cursor)
                      : (valise_str){NULL, 0};
    return 0;
}

int vls_mcp_take_tool(vls_tool *out, vls_json tool, valise_error *err)
{
    const vls_json *name = vls_json_get(tool, VLS_STR("name"));
    const vls_json *description = vls_json_get(tool, VLS_STR("description"));
    const vls_json *schema = vls_json_get(tool, VLS_STR("inputSchema"));

    if (!name || name->type != VLS_JSON_STRING || name->len == 0)
        return vls_fail(err, VALISE_E_IO, "one of its tools has no name");
    out->name = vls_json_str(*name);
    if (description && description->type != VLS_JSON_STRING && description->type != VLS_JSON_NULL)
        return vls_fail(err, VALISE_E_IO, "the description of its tool '%s' is not a text",
                        vls_text_short(out->name).s);
    if (schema && schema->type != VLS_JSON_OBJECT && schema->type != VLS_JSON_NULL)
        return vls_fail(err, VALISE_E_IO, "the schema of its tool '%s' must be an object, not %s",
                        vls_text_short(out->name).s, vls_json_type_name(*schema));
    out->description = vls_text_of(tool, "description");
    out->parameters = schema ? *schema : vls_json_null();
    return 0;
}

int vls_mcp_name(valise_str *out, vls_arena *arena, valise_str prefix, valise_str own,
                 valise_error *err)
{
    char *name = vls_arena_alloc(arena, prefix.len + own.len);

    if (!name)
        return vls_arena_fail(arena, err);
    if (prefix.len > 0)
        memcpy(name, prefix.ptr, prefix.len);
    for (size_t i = 0; i < own.len; i++)
        name[prefix.len + i] = own.ptr[i];
    for (size_t i = prefix.len; i < prefix.len + own.len; i++) {
        if (!vls_tool_name_has(name[i]))
            name[i] = '_';
    }
    *out = vls_str(name, prefix.len + own.len);
    return 0;
}

/* ---- answers ---- */

/* The texts of its content, a line each. */
static int join_texts(valise_str *out, vls_arena *arena, vls_json content, valise_error *err)
{
    vls_buf text;

    vls_buf_init_in(&text, arena, VLS_JSON_MAX_BYTES);
    for (uint32_t i = 0; i < content.len; i++) {
        valise_str piece = vls_text_of(content.items[i], "text");
        if (piece.len > 0 && text.len > 0)
            vls_buf_add_byte(&text, '\n');
        vls_buf_add(&text, piece);
    }
    if (text.len == 0)
        vls_buf_add(&text, VLS_STR("the tool failed, and did not say why"));
    return vls_buf_keep(out, &text, err);
}

/* Is it all one text? */
static bool is_text(vls_json content)
{
    return content.len == 1 &&
           vls_str_equal(vls_text_of(content.items[0], "type"), VLS_STR("text")) &&
           vls_member_of(content.items[0], "text").type == VLS_JSON_STRING;
}

int vls_mcp_take_answer(vls_tool_answer *out, vls_arena *arena, vls_json result, valise_error *err)
{
    vls_json content = vls_member_of(result, "content");
    vls_json structured = vls_member_of(result, "structuredContent");
    valise_str text;
    int rc;

    if (result.type != VLS_JSON_OBJECT ||
        (content.type != VLS_JSON_ARRAY && structured.type == VLS_JSON_NULL))
        return vls_tool_tell(out, arena, VALISE_E_IO,
                             VLS_STR("the server of the tool answered nothing that is a result"),
                             err);
    if (content.type != VLS_JSON_ARRAY)
        content = vls_json_array(NULL, 0);
    if (vls_truth_of(result, "isError")) {
        rc = join_texts(&text, arena, content, err);
        return rc < 0 ? rc : vls_tool_tell(out, arena, VALISE_E_REMOTE, text, err);
    }
    out->failed = false;
    if (structured.type != VLS_JSON_NULL)
        out->value = structured;
    else
        out->value = is_text(content) ? vls_member_of(content.items[0], "text") : content;
    return 0;
}

int vls_mcp_fail_remote(vls_json error, valise_str server, valise_error *err)
{
    vls_json code = vls_member_of(error, "code");
    valise_str message = vls_text_of(error, "message");

    if (message.len == 0)
        message = VLS_STR("it did not say why");
    message = vls_utf8_head(message, 250);
    if (code.type == VLS_JSON_INT)
        return vls_fail(err, VALISE_E_REMOTE, "%.*s: %.*s (%lld)", VALISE_STR_ARG(server),
                        VALISE_STR_ARG(message), (long long)code.integer);
    return vls_fail(err, VALISE_E_REMOTE, "%.*s: %.*s", VALISE_STR_ARG(server),
                    VALISE_STR_ARG(message));
}
