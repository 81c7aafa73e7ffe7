/* mcp_read.c -- messages of MCP servers, read. [F11] */
#include "tool/mcp.h"

#include "json/make.h"
#include "tool/kit.h"

TEST(mcp_read, messages_of_each_kind)
{
    static const struct {
        const char *text;
        vls_mcp_kind kind;
        int64_t id;
    } cases[] = {
        {"{\"id\":3,\"result\":{}}", VLS_MCP_RESULT, 3},
        {"{\"id\":3,\"result\":null}", VLS_MCP_RESULT, 3},
        {"{\"id\":3,\"result\":{},\"error\":null}", VLS_MCP_RESULT, 3},
        {"{\"id\":3,\"result\":{},\"error\":{}}", VLS_MCP_ERROR, 3},
        {"{\"id\":null,\"error\":{}}", VLS_MCP_ERROR, 0},
        {"{\"error\":{}}", VLS_MCP_ERROR, 0},
        {"{\"id\":null,\"result\":{}}", VLS_MCP_PASSED, 0},
        {"{\"id\":0,\"result\":{}}", VLS_MCP_PASSED, 0},
        {"{\"id\":-3,\"error\":{}}", VLS_MCP_PASSED, 0},
        {"{\"id\":3.5,\"result\":{}}", VLS_MCP_PASSED, 0},
        {"{\"id\":\"3\",\"error\":{}}", VLS_MCP_PASSED, 0},
        {"{\"id\":99999999999999999999,\"result\":{}}", VLS_MCP_PASSED, 0},
        {"{\"id\":3}", VLS_MCP_PASSED, 3},
        {"{\"method\":\"ping\",\"id\":\"a\"}", VLS_MCP_REQUEST, 0},
        {"{\"method\":\"ping\",\"id\":-1}", VLS_MCP_REQUEST, 0},
        {"{\"method\":\"ping\",\"id\":{}}", VLS_MCP_PASSED, 0},
        {"{\"method\":\"ping\"}", VLS_MCP_PASSED, 0},
        {"{\"method\":7,\"id\":1}", VLS_MCP_STRANGE, 0},
        {"{}", VLS_MCP_STRANGE, 0},
        {"[]", VLS_MCP_STRANGE, 0},
        {"\"text\"", VLS_MCP_STRANGE, 0},
        {"null", VLS_MCP_STRANGE, 0},
    };
    VLS_AUTO(arena) vls_arena arena = {0};

    vls_arena_init(&arena, t->env, 1 << 20);
    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        vls_mcp_message m = vls_mcp_message_of(kit_json(&arena, cases[i].text));
        test_context("%s", cases[i].text);
        CHECK_INT(cases[i].kind, m.kind);
        CHECK_INT(cases[i].id, m.id);
        test_context_end();
    }
}

TEST(mcp_read, answers_of_tools)
{
    static const struct {
        const char *text, *value;
        bool failed;
    } cases[] = {
        {"{\"content\":[{\"type\":\"text\",\"text\":\"a\"}]}", "\"a\"", false},
        {"{\"content\":[{\"type\":\"text\",\"text\":7}]}", "[{\"text\":7,\"type\":\"text\"}]",
         false},
        {"{\"content\":[7]}", "[7]", false},
        {"{\"content\":[],\"isError\":\"yes\"}", "[]", false},
        {"{\"structuredContent\":{\"a\":1}}", "{\"a\":1}", false},
        {"{\"content\":{}}",
         "{\"error\":{\"code\":\"IO\",\"message\":\"the server of the tool answered nothing that "
         "is a result\"}}",
         true},
        {"{\"structuredContent\":{},\"isError\":true}",
         "{\"error\":{\"code\":\"REMOTE\",\"message\":\"the tool failed, and did not say why\"}}",
         true},
        {"{\"content\":[7,{\"text\":\"\"},{\"text\":\"why\"}],\"isError\":true}",
         "{\"error\":{\"code\":\"REMOTE\",\"message\":\"why\"}}", true},
    };
    VLS_AUTO(arena) vls_arena arena = {0};

    vls_arena_init(&arena, t->env, 1 << 20);
    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        vls_tool_answer answer = {.failed = false};
        valise_str text;
        test_context("%s", cases[i].text);
        CHECK_OK(vls_mcp_take_answer(&answer, &arena, kit_json(&arena, cases[i].text), &t->err));
        CHECK(answer.failed == cases[i].failed);
        CHECK_OK(vls_json_text(&text, &arena, answer.value, &t->err));
        CHECK_STR(valise_str_of(cases[i].value), text);
        test_context_end();
    }
}

TEST(mcp_read, errors_of_servers)
{
    VLS_AUTO(arena) vls_arena arena = {0};

    vls_arena_init(&arena, t->env, 1 << 20);
#define FAIL(text) vls_mcp_fail_remote(kit_json(&arena, text), VLS_STR("toy"), &t->err)
    CHECK_RC(VALISE_E_REMOTE, FAIL("{\"code\":-1,\"message\":\"no\"}"));
    CHECK_TEXT("toy: no (-1)", t->err.message);
    CHECK_RC(VALISE_E_REMOTE, FAIL("{\"code\":\"x\",\"message\":7}"));
    CHECK_TEXT("toy: it did not say why", t->err.message);
    CHECK_RC(VALISE_E_REMOTE, FAIL("17"));
    CHECK_TEXT("toy: it did not say why", t->err.message);
}
