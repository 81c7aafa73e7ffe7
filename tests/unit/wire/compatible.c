/* compatible.c -- servers that speak Chat Completions: bodies and answers. [P5] [P11] [P13] */
#include "wire/body_kit.h"

#define ADAPTER &vls_adapter_compatible

TEST(compatible, needs_no_model)
{
    CHECK_TEXT(
        quoted("{'messages':[{'role':'user','content':'Hi'}]}"),
        write_request(t, ADAPTER, "", "[{'role':'user','blocks':[{'type':'text','text':'Hi'}]}]", 0)
            .body);
}

/* vLLM and llama.cpp: what the model thinks stands beside its answer. */
TEST(compatible, thinking_beside_the_answer)
{
    const char *expected = "[{\"text\":\"Let me see.\",\"type\":\"thinking\"},{\"text\":\"Four.\","
                           "\"type\":\"text\"}]\nend q c1 7/3/2/-/-";

    CHECK_TEXT(
        expected,
        answer_of(t, ADAPTER,
                  "{'id':'c1','model':'q','choices':[{'index':0,'message':{'role':'assistant',"
                  "'reasoning_content':'Let me see.','content':'Four.'},'finish_reason':'stop'}]"
                  ",'usage':{'prompt_tokens':7,'completion_tokens':3,'prompt_tokens_details':{"
                  "'cached_tokens':2}}}"));
    CHECK_TEXT(expected,
               stream_of(t, ADAPTER,
                         "data: {'id':'c1','model':'q','choices':[{'index':0,'delta':{'role':"
                         "'assistant','content':null,'reasoning_content':'Let '}}]}\n\n"
                         ": ping\n\n"
                         "data: {'id':'c1','model':'q','choices':[{'index':0,'delta':{'reasoning':"
                         "'me see.','content':''}}]}\n\n"
                         "data: {'id':'c1','model':'q','choices':[{'index':0,'delta':{'content':"
                         "'Four.'},'finish_reason':'stop'}]}\n\n"
                         "data: {'choices':[],'usage':{'prompt_tokens':7,'completion_tokens':3,"
                         "'prompt_tokens_details':{'cached_tokens':2}}}\n\ndata: [DONE]\n\n"));
}

/* DeepSeek and Kimi refuse calls without what they thought before them. */
TEST(compatible, thinking_that_goes_back)
{
#define LOOP(thought)                                                                              \
    "[{'role':'user','blocks':[{'type':'text','text':'Q'}]},{'role':'assistant','blocks':"         \
    "[" thought                                                                                    \
    "{'type':'tool_use','callId':'c1','name':'ls','args':{}}]},{'role':'tool','blocks':["          \
    "{'type':'tool_result','callId':'c1','content':'a'}]},{'role':'assistant','blocks':[" thought  \
    "{'type':'text','text':'So.'}]},{'role':'user','blocks':[{'type':'text','text':'R'}]}]"
#define HM "{'type':'thinking','text':'Hm.'},"
#define CALLS "'tool_calls':[{'id':'c1','type':'function','function':{'name':'ls'"
    const char *thought = LOOP(HM), *plain = LOOP("");
    request r = write_request(t, ADAPTER, "deepseek/deepseek-v4-pro", thought, 0);

    CHECK_HAS(r.body,
              quoted("{'role':'assistant','content':null,'reasoning_content':'Hm.'," CALLS));
    CHECK_HAS(r.body, quoted("{'role':'assistant','content':'So.','reasoning_content':'Hm.'}"));
    CHECK_TEXT("", r.repairs);
    r = write_request(t, ADAPTER, "moonshotai/kimi-k2.5", LOOP(HM HM), 0);
    CHECK_HAS(r.body, quoted("'reasoning_content':'Hm.\\n\\nHm.'," CALLS));
    /* Of a call that another model made nobody knows it. */
    r = write_request(t, ADAPTER, "deepseek-reasoner", plain, 0);
    CHECK_HAS(r.body,
              quoted("'content':null,'reasoning_content':'(This was not recorded.)'," CALLS));
    CHECK_HAS(r.body, quoted("{'role':'assistant','content':'So.'}"));
    CHECK_TEXT("R4.9@1", r.repairs);
    r = write_request(t, ADAPTER, "deepseek-v4-pro",
                      test_format("{'version':1,'messages':%s,'params':{'extras':{'thinking':{"
                                  "'type':'disabled'}}}}",
                                  plain),
                      0);
    CHECK(!strstr(r.body, "reasoning_content"));
    CHECK_TEXT("", r.repairs);
    /* An answer that was cut while the model thought. */
    r = write_request(t, ADAPTER, "deepseek-v4-pro",
                      "[{'role':'user','blocks':[{'type':'text','text':'Q'}]},{'role':'assistant',"
                      "'blocks':[{'type':'thinking','text':'Hm'}]},{'role':'user','blocks':[{"
                      "'type':'text','text':'R'}]}]",
                      0);
    CHECK_HAS(r.body, quoted("{'role':'assistant','content':'OK.'}"));
    CHECK_TEXT("R4.8@1.0", r.repairs);
    /* All others get none. */
    r = write_request(t, ADAPTER, "qwen3", thought, 0);
    CHECK(!strstr(r.body, "reasoning_content"));
    CHECK_TEXT("R4.2@1.0 R4.2@3.0", r.repairs);
    CHECK_TEXT("R4.9 messages[1]",
               lint_of(t, ADAPTER,
                       "{'model':'deepseek-v4-pro','messages':[{'role':'user','content':'Q'},{"
                       "'role':'assistant','content':null," CALLS ",'arguments':'{}'}}]},{'role':"
                       "'tool','tool_call_id':'c1','content':'a'}]}"));
#undef LOOP
#undef HM
#undef CALLS
}

/* Who adds counts up must not overflow. */
TEST(compatible, counts_that_nobody_can_believe)
{
    CHECK_TEXT("[{\"text\":\"Four.\",\"type\":\"text\"}]\nend   -/3/-/-/-",
               answer_of(t, ADAPTER,
                         "{'choices':[{'message':{'content':'Four.'},'finish_reason':'stop'}],"
                         "'usage':{'prompt_tokens':9223372036854775807,'completion_tokens':3}}"));
}

/* Ollama and gateways: calls without ids, arguments that are objects, every call number 0. */
TEST(compatible, calls_of_servers_that_are_not_exact)
{
    const char *whole = answer_of(t, ADAPTER,
                                  "{'id':'c2','model':'q','choices':[{'message':{'content':'','"
                                  "tool_calls':[{'function':{'name':"
                                  "'f','arguments':{'b':2,'a':1}}},{'function':{'name':'g','"
                                  "arguments':'{}'}}]},'finish_reason':"
                                  "'stop'}]}");
    const char *none = stream_of(
        t, ADAPTER,
        "data: {'id':'c2','model':'q','choices':[{'delta':{'tool_calls':[{'function':{'name':'f',"
        "'arguments':{'b':2,'a':1}}}]}}]}\n\ndata: "
        "{'choices':[{'delta':{'tool_calls':[{'function':{"
        "'name':'g','arguments':'{'}}]}}]}\n\ndata: "
        "{'choices':[{'delta':{'tool_calls':[{'function':{"
        "'arguments':'}'}}]},'finish_reason':'stop'}]}\n\n");

    CHECK_TEXT(
        "[{\"args\":{\"a\":1,\"b\":2},\"callId\":\"call_f9464fac38ae2b5b_0\",\"name\":\"f\","
        "\"type\":\"tool_use\"},{\"args\":{},\"callId\":\"call_22a6850921aa7a5f_1\",\"name\":\"g\","
        "\"type\":\"tool_use\"}]\ncalls q c2 -/-/-/-/-",
        whole);
    CHECK_TEXT(whole, none);
    CHECK_TEXT(
        "[{\"args\":{},\"callId\":\"a\",\"name\":\"f\",\"type\":\"tool_use\"},{\"args\":{\"x\":1},"
        "\"callId\":\"b\",\"name\":\"g\",\"type\":\"tool_use\"}]\ncalls   -/-/-/-/-",
        stream_of(t, ADAPTER,
                  "data: {'choices':[{'delta':{'tool_calls':[{'index':0,'id':'a','function':{"
                  "'name':'f','arguments':'{}'}}]}}]}\n\ndata: {'choices':[{'delta':{"
                  "'tool_calls':[{'index':0,'id':'b','function':{'name':'g','arguments':'{"
                  "\\\"x\\\"'}}]}}]}\n\ndata: {'choices':[{'delta':{'tool_calls':[{'index':0,"
                  "'function':{'arguments':':1}'}}]},'finish_reason':'tool_calls'}]}\n\n"));
}

TEST(compatible, lint_finds_what_is_wrong_in_a_request)
{
    CHECK_TEXT("R2.2 messages[1]; R2.1 messages[2]; R5.1 messages[2]",
               lint_of(t, ADAPTER,
                       quoted("{'messages':[{'role':'system','content':'s'},{'role':'assistant',"
                              "'content':'a'},{'role':'assistant','content':'b'}]}")));
}

TEST(compatible, without_memory)
{
    check_memory(t, ADAPTER, "{'choices':[{'message':{'reasoning':'a','content':'b'}}]}",
                 "data: {'choices':[{'delta':{'content':'b'}}]}\n\n");
}
