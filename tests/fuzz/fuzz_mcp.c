/* fuzz_mcp.c -- any bytes as what an MCP server says: whatever becomes of them is a tool, an answer
 * or an error that can be shown. [F11] */
#include "fuzz/fuzz.h"

#include <string.h>

#include "base/utf8.h"
#include "json/make.h"
#include "tool/mcp.h"

#define ARENA_MAX ((size_t)1 << 28)

static void check_error(int rc, const valise_error *err)
{
    valise_str message = valise_str_of(err->message);

    FUZZ_CHECK(rc == VALISE_E_IO || rc == VALISE_E_REMOTE);
    FUZZ_CHECK(err->code == rc && message.len > 0 && vls_utf8_valid(message));
}

static void try_tools(vls_arena *arena, vls_json tools)
{
    for (uint32_t i = 0; i < tools.len; i++) {
        valise_error err = VALISE_ERROR_INIT;
        valise_str name;
        vls_tool tool;
        int rc = vls_mcp_take_tool(&tool, tools.items[i], &err);
        if (rc < 0) {
            check_error(rc, &err);
            continue;
        }
        FUZZ_CHECK(tool.name.len > 0 && vls_utf8_valid(tool.description));
        FUZZ_CHECK(tool.parameters.type == VLS_JSON_OBJECT ||
                   tool.parameters.type == VLS_JSON_NULL);
        FUZZ_CHECK(vls_mcp_name(&name, arena, VLS_STR("p_"), tool.name, &err) == 0);
        FUZZ_CHECK(name.len == tool.name.len + 2);
        for (size_t at = 0; at < name.len; at++)
            FUZZ_CHECK(vls_tool_name_has(name.ptr[at]));
    }
}

static void try_answer(vls_arena *arena, vls_json result)
{
    vls_tool_answer answer = {.failed = false};
    vls_json error;
    valise_str text;

    FUZZ_CHECK(vls_mcp_take_answer(&answer, arena, result, NULL) == 0);
    FUZZ_CHECK(vls_json_text(&text, arena, answer.value, NULL) == 0);
    if (!answer.failed)
        return;
    error = vls_member_of(answer.value, "error");
    FUZZ_CHECK(vls_text_of(error, "code").len > 0 && vls_text_of(error, "message").len > 0);
}

static void try_message(vls_arena *arena, vls_json value)
{
    vls_mcp_message m = vls_mcp_message_of(value);
    valise_error err = VALISE_ERROR_INIT;
    vls_mcp_page page;
    int rc;

    switch (m.kind) {
    case VLS_MCP_STRANGE:
    case VLS_MCP_PASSED:
        return;
    case VLS_MCP_REQUEST:
        FUZZ_CHECK(m.asked_id.type == VLS_JSON_STRING || m.asked_id.type == VLS_JSON_INT);
        return;
    case VLS_MCP_ERROR:
        FUZZ_CHECK(m.id >= 0);
        check_error(vls_mcp_fail_remote(m.body, VLS_STR("toy"), &err), &err);
        return;
    case VLS_MCP_RESULT:
        FUZZ_CHECK(m.id > 0);
    }
    try_answer(arena, m.body);
    rc = vls_mcp_take_hello(m.body, &err);
    if (rc < 0)
        check_error(rc, &err);
    rc = vls_mcp_take_page(&page, m.body, &err);
    if (rc < 0)
        check_error(rc, &err);
    else
        try_tools(arena, page.tools);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const vls_json_limits limits = {.around = VLS_MCP_AROUND, .flags = VLS_JSON_LAST_KEY_WINS};
    vls_arena arena;
    vls_json value;

    vls_arena_init(&arena, valise_env_default(), ARENA_MAX);
    if (vls_json_parse(&value, &arena, vls_str(data, size), &limits, NULL) == 0)
        try_message(&arena, value);
    vls_arena_release(&arena);
    return 0;
}
