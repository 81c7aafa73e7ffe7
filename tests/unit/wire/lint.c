/* lint.c -- rules over prompts and over requests. [P13] */
#include "wire/plan_kit.h"

#define D(flag) VLS_DEMANDS_##flag

static const char *found_text(const vls_findings *found)
{
    const char *text = "";

    for (size_t i = 0; i < found->len; i++)
        text =
            test_format("%s%s%s %.*s%s", text, i > 0 ? "; " : "", found->ptr[i].rule,
                        VALISE_STR_ARG(found->ptr[i].place), found->ptr[i].mended ? " mended" : "");
    return text;
}

static void check_neutral(test *t, uint32_t demands, const char *prompt, const char *expected)
{
    plan_bed bed;
    vls_findings found = VLS_VEC_INIT;

    test_context("%s", prompt);
    plan_bed_init(&bed, t);
    bed.adapter.demands = demands;
    CHECK_OK(vls_neutral_read(&bed.prompt, &bed.arena, valise_str_of(quoted(prompt)), &t->err));
    CHECK_OK(vls_lint_neutral(&found, &bed.arena, &bed.adapter, &bed.prompt, &t->err));
    CHECK_TEXT(expected, found_text(&found));
    t->err = (valise_error)VALISE_ERROR_INIT;
    plan_bed_release(&bed);
    test_context_end();
}

TEST(lint, a_prompt_says_what_would_be_mended)
{
    check_neutral(
        t, 0,
        "{'version':1,'messages':[{'role':'assistant','blocks':[{'type':'text','text':'x'},"
        "{'type':'tool_use','callId':'a','name':'b.c','args':{}}]}]}",
        "R1.1 messages[0].blocks[1] mended; R9.1 messages[0].blocks[1] mended");
    check_neutral(
        t, D(USER_FIRST) | D(NO_EMPTY),
        "{'version':1,'system':[{'type':'text','text':''}],'tools':[{'name':'a "
        "b','inputSchema':{}}],"
        "'messages':[{'role':'assistant','blocks':[{'type':'odd'},{'type':'text','text':'x'}]}]}",
        "R12.1 messages[0].blocks[0] mended; R2.2 messages[0] mended; R3.1 system[0] mended; "
        "R9.1 tools[0] mended");
    check_neutral(
        t, 0, "{'version':1,'messages':[{'role':'user','blocks':[{'type':'text','text':'x'}]}]}",
        "");
}

/* What only a plan shows is told, too: here that a tail goes into the result. */
TEST(lint, a_prompt_says_what_shows_only_when_it_is_made)
{
    check_neutral(
        t, D(BRIDGE),
        "{'version':1,'sections':{'history':3},'messages':[{'role':'user','blocks':[{'type':'text',"
        "'text':'x'}]},{'role':'assistant','blocks':[{'type':'tool_use','callId':'a','name':'n',"
        "'args':{}}]},{'role':'tool','blocks':[{'type':'tool_result','callId':'a','content':'y'}]},"
        "{'role':'user','blocks':[{'type':'text','text':'z'}]}]}",
        "R2.4 messages[3] mended; R2.5 messages[3].blocks[0] mended");
}

TEST(lint, of_nothing_nothing_can_be_made)
{
    check_neutral(t, 0, "{'version':1}", "R3.2 ");
    check_neutral(t, D(NO_EMPTY),
                  "{'version':1,'messages':[{'role':'user','blocks':[{'type':'text','text':''}]}]}",
                  "R3.1 messages[0].blocks[0]; R3.2 ");
}

/* A request that is a neutral prompt, with places of its own. */
static int toy_read(vls_json *out, vls_arena *arena, const vls_adapter *adapter, vls_json request,
                    valise_error *err)
{
    (void)adapter;
    (void)arena;
    if (request.type != VLS_JSON_OBJECT)
        return vls_fail(err, VALISE_E_INVALID, "a request is an object");
    *out = request;
    return 0;
}

TEST(lint, a_request_is_looked_at_as_it_is)
{
    static const char request[] =
        "{'version':1,'messages':[{'role':'assistant','x-place':'messages[0]','blocks':["
        "{'type':'tool_use','callId':'a','name':'n','args':{},'x-place':'messages[0].tool_calls[0]'"
        "},"
        "{'type':'tool_use','callId':'b','name':'n','args':{}}]},"
        "{'role':'tool','blocks':[{'type':'tool_result','callId':'b','content':'x'}]},"
        "{'role':'tool','blocks':[{'type':'tool_result','callId':'c','content':'x'}]}]}";
    plan_bed bed;
    vls_findings found = VLS_VEC_INIT;
    vls_json value = vls_json_null();

    plan_bed_init(&bed, t);
    CHECK_OK(vls_json_parse(&value, &bed.arena, valise_str_of(quoted(request)), NULL, &t->err));
    CHECK_RC(VALISE_E_UNSUPPORTED,
             vls_lint_request(&found, &bed.arena, &bed.adapter, value, &t->err));
    t->err = (valise_error)VALISE_ERROR_INIT;
    bed.adapter.read = toy_read;
    CHECK_OK(vls_lint_request(&found, &bed.arena, &bed.adapter, value, &t->err));
    CHECK_TEXT("R1.2 messages[2].blocks[0]; R1.1 messages[0].tool_calls[0]", found_text(&found));
    CHECK_RC(VALISE_E_INVALID,
             vls_lint_request(&found, &bed.arena, &bed.adapter, vls_json_null(), &t->err));
    plan_bed_release(&bed);
}

/* docs/prompt.md has every rule, word for word. */
TEST(lint, the_table_of_rules_is_whole)
{
    valise_str docs =
        test_read_file(test_format("%s/docs/prompt.md", getenv("VALISE_SOURCE_ROOT")));

    for (size_t i = 0; vls_rules[i].number; i++) {
        const char *row = test_format("| %s | %s | %s |", vls_rules[i].number, vls_rules[i].wrong,
                                      vls_rules[i].mended);
        CHECK_MSG(vls_str_find(docs, valise_str_of(row)) < docs.len, "docs/prompt.md lacks: %s",
                  row);
    }
}

/* A long conversation of a stranger takes no longer than it is long. */
TEST(lint, hostile_prompts_cost_no_more_than_others)
{
    static const char *const pieces[] = {
        /* calls that nobody answers, all with one id, in neighbours */
        "{\"role\":\"assistant\",\"blocks\":[{\"type\":\"tool_use\",\"callId\":\"x\",\"name\":"
        "\"n\",\"args\":{}}]}",
        /* results that nobody asked for */
        "{\"role\":\"tool\",\"blocks\":[{\"type\":\"tool_result\",\"callId\":\"x\",\"content\":"
        "\"\"}]}",
        "{\"role\":\"user\",\"blocks\":[{\"type\":\"text\",\"text\":\" \"},{\"type\":\"odd\"}]}",
        "{\"role\":\"user\",\"blocks\":[{\"type\":\"text\",\"text\":\"a\"}]}",
    };

    test_unwatched();
    for (size_t i = 0; i < VLS_COUNT(pieces); i++) {
        for (int behind = 0; behind < 2; behind++) {
            VLS_AUTO(buf) vls_buf text = {.env = NULL};
            vls_findings found = VLS_VEC_INIT;
            plan_bed bed;
            plan_bed_init(&bed, t);
            bed.adapter.demands =
                VLS_DEMANDS_ALTERNATION | VLS_DEMANDS_NO_EMPTY | VLS_DEMANDS_BRIDGE;
            vls_buf_init(&text, t->env, SIZE_MAX / 2);
            vls_buf_add_text(&text, "{\"version\":1,\"messages\":[");
            vls_buf_add_text(&text, pieces[0]);
            for (int j = 0; j < 20000; j++) {
                vls_buf_add_byte(&text, ',');
                vls_buf_add_text(&text, pieces[i]);
            }
            vls_buf_add_byte(&text, ']');
            vls_buf_add_text(&text, behind ? ",\"sections\":{\"history\":2}}" : "}");
            CHECK_OK(vls_neutral_read(&bed.prompt, &bed.arena, vls_buf_str(&text), &t->err));
            CHECK_OK(vls_lint_neutral(&found, &bed.arena, &bed.adapter, &bed.prompt, &t->err));
            CHECK(found.len > 0 && found.len <= VLS_FINDINGS_MAX + 1);
            plan_bed_release(&bed);
        }
    }
}
