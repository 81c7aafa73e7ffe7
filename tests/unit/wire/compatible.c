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
