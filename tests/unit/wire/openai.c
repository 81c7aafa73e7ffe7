/* openai.c -- OpenAI Chat Completions: bodies, answers, and the way round. [P5] [P11] [P13] */
#include "wire/body_kit.h"

#define ADAPTER &vls_adapter_openai

TEST(openai, older_models_have_older_names)
{
    static const char prompt[] =
        "{'version':1,'system':[{'type':'text','text':'Be.'}],'messages':[{'role':'user','blocks':["
        "{"
        "'type':'text','text':'Hi'}]}],'params':{'temperature':0,'maxTokens':5,'stop':['x']}}";

    CHECK_TEXT(quoted("{'model':'gpt-4o','temperature':0,'max_tokens':5,'stop':['x'],'messages':[{"
                      "'role':'system','content':[{'type':'text','text':'Be.'}]},{'role':'user',"
                      "'content':[{'type':'text','text':'Hi'}]}]}"),
               write_request(t, ADAPTER, "gpt-4o", prompt, 0).body);
    CHECK_TEXT(
        quoted("{'model':'o3-mini','max_completion_tokens':5,'messages':[{'role':'developer'"
               ",'content':[{'type':'text','text':'Be.'}]},{'role':'user','content':[{'type':"
               "'text','text':'Hi'}]}]}"),
        write_request(t, ADAPTER, "o3-mini", prompt, 0).body);
    CHECK_TEXT("R12.3(temperature) R12.3(stop)",
               write_request(t, ADAPTER, "gpt-5.1", prompt, 0).repairs);
    CHECK_TEXT("", write_request(t, ADAPTER, "gpt-5-chat-latest", prompt, 0).repairs);
}

TEST(openai, refuses_extras_that_the_request_says_itself)
{
    vls_arena arena;
    vls_neutral neutral;
    vls_plan plan;
    vls_wire wire;
    vls_wire_write how = {.stream = false};

    vls_arena_init(&arena, t->env, (size_t)1 << 20);
    CHECK_OK(vls_neutral_read(
        &neutral, &arena,
        valise_str_of(quoted("{'version':1,'messages':[{'role':'user','blocks':[{'type':'text',"
                             "'text':'Hi'}]}],'params':{'extras':{'max_tokens':1}}}")),
        &t->err));
    CHECK_OK(vls_plan_make(&plan, &arena, ADAPTER, &neutral, VLS_STR("m"), &t->err));
    vls_wire_init(&wire, t->env);
    CHECK_RC(VALISE_E_INVALID, vls_adapter_openai.write(&wire, &plan, &how, &t->err));
    vls_wire_release(&wire);
    plan.model = (valise_str){NULL, 0};
    vls_wire_init(&wire, t->env);
    CHECK_RC(VALISE_E_INVALID, vls_adapter_openai.write(&wire, &plan, &how, &t->err));
    CHECK_HAS(t->err.message, "no model");
    vls_wire_release(&wire);
    vls_arena_release(&arena);
}

/* ---- answers ---- */

#define WHOLE                                                                                      \
    "{'id':'chatcmpl-1','object':'chat.completion','created':1,'model':'gpt-5-2025-08-07','"       \
    "choices':"                                                                                    \
    "[{'index':0,'message':{'role':'assistant','content':'I \\u00e4m "                             \
    "\\ud83d\\ude00.','refusal':null,"                                                             \
    "'annotations':[],'tool_calls':[{'id':'call_a','type':'function','function':{'name':'read',"   \
    "'arguments':'{\\\"path\\\": "                                                                 \
    "\\\"a\\\"}'}},{'id':'call_b','type':'function','function':{'name':"                           \
    "'now','arguments':'{}'}}]},'logprobs':null,'finish_reason':'tool_calls'}],'usage':{"          \
    "'prompt_tokens':100,'completion_tokens':20,'total_tokens':120,'prompt_tokens_details':{"      \
    "'cached_tokens':64,'audio_tokens':0},'completion_tokens_details':{'reasoning_tokens':8}}}"
#define CHUNK(delta, finish)                                                                       \
    "data: {'id':'chatcmpl-1','object':'chat.completion.chunk','created':1,'model':"               \
    "'gpt-5-2025-08-07','choices':[{'index':0,'delta':" delta ",'finish_reason':" finish           \
    "}],'usage':null}\n\n"
#define STREAM                                                                                     \
    CHUNK("{'role':'assistant','content':'','refusal':null}", "null")                              \
    CHUNK("{'content':'I \xC3\xA4m \\ud83d'}", "null")                                             \
    CHUNK("{'content':'\\ude00.'}", "null")                                                        \
    CHUNK("{'tool_calls':[{'index':0,'id':'call_a','type':'function','function':{'name':'read',"   \
          "'arguments':''}}]}",                                                                    \
          "null")                                                                                  \
    CHUNK("{'tool_calls':[{'index':0,'function':{'arguments':'{\\\"path\\\": '}}]}", "null")       \
    CHUNK("{'tool_calls':[{'index':1,'id':'call_b','type':'function','function':{'name':'now',"    \
          "'arguments':'{}'}}]}",                                                                  \
          "null")                                                                                  \
    CHUNK("{'tool_calls':[{'index':0,'function':{'arguments':'\\\"a\\\"}'}}]}", "null")            \
    CHUNK("{}", "'tool_calls'")                                                                    \
    "data: {'id':'chatcmpl-1','choices':[],'usage':{'prompt_tokens':100,'completion_tokens':20,"   \
    "'total_tokens':120,'prompt_tokens_details':{'cached_tokens':64},'completion_tokens_details':" \
    "{"                                                                                            \
    "'reasoning_tokens':8}}}\n\ndata: [DONE]\n\n"

TEST(openai, an_answer_whole_and_streamed_is_the_same)
{
    const char *expected = "[{\"text\":\"I \xC3\xA4m "
                           "\xF0\x9F\x98\x80.\",\"type\":\"text\"},{\"args\":{\"path\":\"a\"},"
                           "\"callId\":\"call_a\",\"meta\":{\"openai\":{\"raw\":\"{\\\"path\\\": "
                           "\\\"a\\\"}\"}},\"name\":"
                           "\"read\",\"type\":\"tool_use\"},{\"args\":{},\"callId\":\"call_b\","
                           "\"name\":\"now\",\"type\":"
                           "\"tool_use\"}]\ncalls gpt-5-2025-08-07 chatcmpl-1 100/20/64/-/8";

    CHECK_TEXT(expected, answer_of(t, ADAPTER, WHOLE));
    CHECK_TEXT(expected, stream_of(t, ADAPTER, STREAM));
}

TEST(openai, what_was_answered_goes_back_word_for_word) /* [P13] */
{
    const char *blocks = blocks_in(answer_of(t, ADAPTER, WHOLE));
    const char *prompt = test_format(
        "{\"version\":1,\"messages\":[{\"role\":\"user\",\"blocks\":[{\"type\":\"text\",\"text\":"
        "\"Go\"}]},{\"role\":\"assistant\",\"blocks\":%s}]}",
        blocks);

    CHECK_HAS(write_request(t, ADAPTER, "gpt-5", prompt, 0).body,
              "\"tool_calls\":[{\"id\":\"call_a\",\"type\":\"function\",\"function\":{\"name\":"
              "\"read\",\"arguments\":\"{\\\"path\\\": \\\"a\\\"}\"}},{\"id\":\"call_b\",");
}

TEST(openai, a_refusal_stays_one)
{
    const char *answer = answer_of(
        t, ADAPTER,
        "{'id':'x','model':'m','choices':[{'index':0,'message':{'role':'assistant','content':null,"
        "'refusal':'I cannot.'},'finish_reason':'stop'}]}");
    const char *prompt = test_format(
        "{\"version\":1,\"messages\":[{\"role\":\"assistant\",\"blocks\":%s}]}", blocks_in(answer));

    CHECK_TEXT(
        "[{\"meta\":{\"openai\":{\"refusal\":true}},\"text\":\"I cannot.\",\"type\":\"text\"}]\n"
        "end m x -/-/-/-/-",
        answer);
    CHECK_TEXT(answer, stream_of(t, ADAPTER,
                                 "data: {'id':'x','model':'m','choices':[{'index':0,'delta':{"
                                 "'refusal':'I can'}}]}\n\ndata: {'choices':[{'index':0,'delta':{"
                                 "'refusal':'not.'},'finish_reason':'stop'}]}\n\n"));
    CHECK_HAS(write_request(t, ADAPTER, "gpt-5", prompt, 0).body,
              "{\"type\":\"refusal\",\"refusal\":\"I cannot.\"}");
}

TEST(openai, other_ends)
{
    CHECK_TEXT("[{\"text\":\"a\",\"type\":\"text\"}]\nlimit m x -/-/-/-/- [another choice]",
               answer_of(t, ADAPTER,
                         "{'id':'x','model':'m','choices':[{'index':0,'message':{'content':'a'},"
                         "'finish_reason':'length'},{'index':1,'message':{'content':'b'}}]}"));
    CHECK_TEXT(
        "[{\"text\":\"\",\"type\":\"text\"}]\nrefused   -/-/-/-/-",
        answer_of(t, ADAPTER,
                  "{'choices':[{'message':{'content':null},'finish_reason':'content_filter'}]}"));
    /* Cut: half of the arguments is kept, and not run. */
    CHECK_TEXT(
        "[{\"args\":{},\"callId\":\"c\",\"name\":\"f\",\"partial\":true,\"rawArgs\":\"{\\\"a\","
        "\"type\":\"tool_use\"}]\nnone partial  i -/-/-/-/-",
        stream_of(t, ADAPTER,
                  "data: {'id':'i','choices':[{'delta':{'tool_calls':[{'index':0,'id':'c',"
                  "'function':{'name':'f','arguments':'{\\\"a'}}]}}]}\n\n"));
}

TEST(openai, says_no)
{
    vls_arena arena;
    vls_answer answer;
    static const char *const bad[] = {"{}", "[]", "3", "{'choices':[]}", "{'choices':{}}"};

    vls_arena_init(&arena, t->env, (size_t)1 << 20);
    CHECK_RC(
        VALISE_E_REMOTE,
        vls_answer_read(&answer, &arena, ADAPTER,
                        valise_str_of(quoted("{'error':{'message':'Too fast','type':'requests',"
                                             "'code':'rate_limit_exceeded'}}")),
                        &t->err));
    CHECK_HAS(t->err.message, "Too fast");
    for (size_t i = 0; i < VLS_COUNT(bad); i++)
        CHECK_RC(VALISE_E_INVALID,
                 vls_answer_read(&answer, &arena, ADAPTER, valise_str_of(quoted(bad[i])), &t->err));
    vls_arena_release(&arena);
}

/* ---- lint of requests ---- */

TEST(openai, lint_finds_what_is_wrong_in_a_request)
{
    CHECK_TEXT(
        "R1.1 messages[1].tool_calls[0]",
        lint_of(t, ADAPTER,
                quoted("{'model':'gpt-4o','messages':[{'role':'user','content':'a'},{'role':"
                       "'assistant','content':null,'tool_calls':[{'id':'c1','type':'function',"
                       "'function':{'name':'f','arguments':'{}'}}]},{'role':'user','content':"
                       "'b'}]}")));
    CHECK_TEXT(
        "R8.2 messages[0].content[0]; R12.3 ",
        lint_of(t, ADAPTER,
                quoted("{'model':'o3','temperature':1,'messages':[{'role':'assistant','content'"
                       ":[{'type':'image_url','image_url':{'url':'data:image/png;base64,YWJj'}}"
                       "]}]}")));
    CHECK_TEXT(
        "R12.1 messages[0].content[0]",
        lint_of(t, ADAPTER,
                quoted("{'model':'gpt-4o','messages':[{'role':'user','content':[{'type':'hm'},"
                       "{'type':'text','text':'a'}]}]}")));
}

TEST(openai, lint_counts_what_ends_answers)
{
#define ENDS(model, stop)                                                                          \
    "{'model':'" model "','stop':" stop ",'messages':[{'role':'user','content':'a'}]}"
    CHECK_TEXT("", lint_of(t, ADAPTER, ENDS("gpt-4o", "['a','b','c','d']")));
    CHECK_TEXT("", lint_of(t, ADAPTER, ENDS("gpt-4o", "'a'")));
    CHECK_TEXT("R12.3 ", lint_of(t, ADAPTER, ENDS("gpt-4o", "['a','b','c','d','e']")));
    CHECK_TEXT("R12.3 ", lint_of(t, ADAPTER, ENDS("gpt-5", "'a'")));
}

#define TOOL(schema)                                                                               \
    "{'version':1,'tools':[{'name':'f','inputSchema':" schema                                      \
    "}],'messages':[{'role':'user','blocks':[{'type':'text','text':'a'}]}]}"

static const char *schema_of(test *t, const char *prompt, const char *repairs)
{
    request r = write_request(t, ADAPTER, "gpt-5", prompt, 0);
    const char *at = strstr(r.body, "\"parameters\":"), *end = strstr(r.body, "}}],\"messages\"");

    CHECK(at && end);
    CHECK_TEXT(repairs, r.repairs);
    at += strlen("\"parameters\":");
    return test_format("%.*s", (int)(end - at), at);
}

/* What stands in oneOf and the like is not lost. [R11.2] */
TEST(openai, schemas_have_no_choices_at_their_top)
{
    CHECK_TEXT(quoted("{'properties':{},'type':'object'}"), schema_of(t, TOOL("{}"), ""));
    CHECK_TEXT(
        quoted("{'properties':{'a':{'type':'string'},'b':{},'c':{}},'required':['a'],"
               "'type':'object'}"),
        schema_of(t,
                  TOOL("{'oneOf':[{'properties':{'a':{},'b':{}},'required':['b']},{'properties':{"
                       "'c':{}}},3,{'properties':4}],'properties':{'a':{'type':'string'}},"
                       "'required':['a'],'not':{},'enum':[]}"),
                  "R11.2(f)"));
    CHECK_TEXT(quoted("{'properties':{'a':{}},'required':['b','a'],'type':'object'}"),
               schema_of(t,
                         TOOL("{'allOf':[{'properties':{'a':{}},'required':['a','b',7]},{"
                              "'required':['a']}],'required':['b']}"),
                         "R11.2(f)"));
    CHECK_TEXT("R11.2 tools[0]",
               lint_of(t, ADAPTER,
                       "{'model':'gpt-5','tools':[{'type':'function','function':{'name':'f',"
                       "'parameters':{'type':'object','anyOf':[]}}}],'messages':[{'role':'user',"
                       "'content':'a'}]}"));
}

TEST(openai, lint_says_where_a_request_is_none)
{
    static const struct {
        const char *body, *place;
    } all[] = {
        {"{'messages':3}", "messages"},
        {"{'messages':[{'role':'nobody'}]}", "messages[0]"},
        {"{'messages':[{'role':'tool','content':'a'}]}", "messages[0]"},
        {"{'messages':[{'role':'user','content':3}]}", "messages[0]"},
        {"{'messages':[{'role':'user','content':[{}]}]}", "messages[0].content[0]"},
        {"{'messages':[{'role':'user','content':[{'type':'text'}]}]}", "messages[0].content[0]"},
        {"{'messages':[{'role':'user','content':[{'type':'image_url'}]}]}",
         "messages[0].content[0]"},
        {"{'messages':[{'role':'assistant','tool_calls':[{'id':'a','function':{'name':'b',"
         "'arguments':{}}}]}]}",
         "messages[0].tool_calls[0]"},
        {"[]", ""},
    };
    vls_arena arena;
    vls_json value = vls_json_null();
    vls_findings found = VLS_VEC_INIT;

    vls_arena_init(&arena, t->env, (size_t)1 << 20);
    for (size_t i = 0; i < VLS_COUNT(all); i++) {
        test_context("request %s", all[i].body);
        t->err = (valise_error)VALISE_ERROR_INIT;
        CHECK_OK(vls_json_parse(&value, &arena, valise_str_of(quoted(all[i].body)), NULL, &t->err));
        CHECK_RC(VALISE_E_INVALID, vls_lint_request(&found, &arena, ADAPTER, value, &t->err));
        CHECK_TEXT(all[i].place, t->err.path);
        test_context_end();
    }
    vls_arena_release(&arena);
}

TEST(openai, without_memory)
{
    check_memory(t, ADAPTER, WHOLE, STREAM);
}
