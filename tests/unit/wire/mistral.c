/* mistral.c -- Mistral: bodies, answers, and the way round. [P5] [P11] [P13] */
#include "wire/body_kit.h"

#define ADAPTER &vls_adapter_mistral

#define WHOLE                                                                                      \
    "{'id':'m1','object':'chat.completion','model':'magistral-medium-2509','created':1,'choices':" \
    "[{"                                                                                           \
    "'index':0,'message':{'role':'assistant','content':[{'type':'thinking','thinking':[{'type':"   \
    "'text','text':'Hm, "                                                                          \
    "'},{'type':'text','text':'so.'}],'signature':'sig','closed':true},{'type':"                   \
    "'text','text':'I read.'}],'tool_calls':[{'id':'D681PevKs','type':'function','function':{"     \
    "'name':'read','arguments':'{\\\"path\\\": \\\"a\\\"}'},'index':0}]},'finish_reason':"         \
    "'tool_calls'}],'usage':{'prompt_tokens':10,'completion_tokens':5,'total_tokens':15,"          \
    "'num_cached_tokens':4}}"
#define CHUNK(delta, finish)                                                                       \
    "data: "                                                                                       \
    "{'id':'m1','object':'chat.completion.chunk','model':'magistral-medium-2509','choices':[{"     \
    "'index':0,'delta':" delta ",'finish_reason':" finish "}]"
#define STREAM                                                                                                                                                             \
    CHUNK("{'role':'assistant','content':''}", "null")                                                                                                                     \
    "}\n\n" CHUNK(                                                                                                                                                         \
        "{'content':[{'type':'thinking','thinking':[{'type':'text','text':'Hm, '}],"                                                                                       \
        "'closed':false}]}",                                                                                                                                               \
        "null") "}\n\n" CHUNK("{'content':[{'type':'thinking','thinking':[{'type':'text',"                                                                                 \
                              "'text':'so.'}],'signature':'sig','closed':true}]}",                                                                                         \
                              "null") "}\n\n" CHUNK("{'content':'I '}",                                                                                                    \
                                                    "null") "}\n\n" CHUNK("{'content':[{'type':'"                                                                          \
                                                                          "text','text':'read.'}]"                                                                         \
                                                                          "}",                                                                                             \
                                                                          "null") "}\n\n" CHUNK("{'content':'','tool_calls':[{'id':'D681PevKs','function':{'name':'read'," \
                                                                                                "'arguments':'{\\\"path\\\": \\\"a\\\"}'},'index':0}]}",                   \
                                                                                                "'tool_calls'") ",'usage':{'prompt_tokens':10,'completion_tokens':5,"      \
                                                                                                                "'total_tokens':15,'num_cached_tokens':4}}\n\n"            \
                                                                                                                "data: [DONE]\n\n"

TEST(mistral, an_answer_whole_and_streamed_is_the_same)
{
    const char *expected =
        "[{\"meta\":{\"mistral\":{\"closed\":true},\"vendor\":\"mistral\"},\"signature\":\"sig\","
        "\"text\":\"Hm, so.\",\"type\":\"thinking\"},{\"text\":\"I "
        "read.\",\"type\":\"text\"},{\"args\":"
        "{\"path\":\"a\"},\"callId\":\"D681PevKs\",\"meta\":{\"mistral\":{\"raw\":\"{\\\"path\\\": "
        "\\\"a\\\"}\"}},\"name\":\"read\",\"type\":\"tool_use\"}]\ncalls magistral-medium-2509 m1 "
        "10/5/4/-/-";

    CHECK_TEXT(expected, answer_of(t, ADAPTER, WHOLE));
    CHECK_TEXT(expected, stream_of(t, ADAPTER, STREAM));
}

TEST(mistral, what_was_answered_goes_back_word_for_word) /* [P13] */
{
    const char *prompt = test_format(
        "{\"version\":1,\"messages\":[{\"role\":\"user\",\"blocks\":[{\"type\":\"text\",\"text\":"
        "\"Go\"}]},{\"role\":\"assistant\",\"blocks\":%s},{\"role\":\"tool\",\"blocks\":[{\"type\":"
        "\"tool_result\",\"callId\":\"D681PevKs\",\"content\":\"x\"}]}]}",
        blocks_in(answer_of(t, ADAPTER, WHOLE)));
    request r = write_request(t, ADAPTER, "magistral-medium-latest", prompt, 0);

    CHECK_TEXT(
        quoted("{'model':'magistral-medium-latest','messages':[{'role':'user','content':[{"
               "'type':'text','text':'Go'}]},{'role':'assistant','content':[{'type':'thinking',"
               "'thinking':[{'type':'text','text':'Hm, so.'}],'signature':'sig','closed':true},"
               "{'type':'text','text':'I read.'}],'tool_calls':[{'id':'D681PevKs','type':"
               "'function','function':{'name':'read','arguments':'{\\\"path\\\": \\\"a\\\"}'}}]},"
               "{'role':'tool','tool_call_id':'D681PevKs','name':'read','content':'x'}]}"),
        r.body);
    CHECK_TEXT("", r.repairs);
}

TEST(mistral, arguments_that_are_an_object_and_ids_that_are_none)
{
    CHECK_TEXT(
        "[{\"args\":{\"a\":1},\"callId\":\"call_ac99324fcbb94f03_0\",\"name\":\"f\",\"type\":"
        "\"tool_use\"}]\ncalls m i -/-/-/-/-",
        answer_of(t, ADAPTER,
                  "{'id':'i','model':'m','choices':[{'index':0,'message':{'tool_calls':[{'id':"
                  "'null','function':{'name':'f','arguments':{'a':1}}}]},'finish_reason':"
                  "'tool_calls'}]}"));
}

TEST(mistral, says_no)
{
    vls_arena arena;
    vls_answer answer;

    vls_arena_init(&arena, t->env, (size_t)1 << 20);
    CHECK_RC(
        VALISE_E_REMOTE,
        vls_answer_read(&answer, &arena, ADAPTER,
                        valise_str_of(quoted(
                            "{'object':'error','message':'Unexpected role \\u0027user\\u0027 "
                            "after role \\u0027tool\\u0027','type':'invalid_request_message_order'"
                            ",'param':null,'code':'3230'}")),
                        &t->err));
    CHECK_HAS(t->err.message, "Unexpected role");
    vls_arena_release(&arena);
}

TEST(mistral, lint_finds_what_is_wrong_in_a_request)
{
    CHECK_TEXT(
        "R2.4 messages[3]; R9.2 messages[1].tool_calls[0]",
        lint_of(t, ADAPTER,
                quoted("{'model':'m','messages':[{'role':'user','content':'a'},{'role':"
                       "'assistant','tool_calls':[{'id':'call_1','function':{'name':'f',"
                       "'arguments':{}}}]},{'role':'tool','tool_call_id':'call_1','name':'f',"
                       "'content':'x'},{'role':'user','content':'b'}]}")));
}

TEST(mistral, lint_finds_a_prefix_where_none_is)
{
#define SAID(more) "{'role':'assistant','content':'b'" more "}"
#define TALK(said) "{'model':'m','messages':[{'role':'user','content':'a'}," said "]}"
    CHECK_TEXT("", lint_of(t, ADAPTER, TALK(SAID(",'prefix':true"))));
    CHECK_TEXT("R5.2 messages[1]", lint_of(t, ADAPTER, TALK(SAID(""))));
    CHECK_TEXT("R5.2 messages[1]",
               lint_of(t, ADAPTER, TALK(SAID(",'prefix':true") ",{'role':'user','content':'c'}")));
    CHECK_TEXT("R5.2 messages[1]",
               lint_of(t, ADAPTER, TALK("{'role':'user','content':'c','prefix':true}")));
}

TEST(mistral, no_hotter_than_it_takes)
{
    request r = write_request(
        t, ADAPTER, "m",
        "{'version':1,'messages':[{'role':'user','blocks':[{'type':'text','text':'a'}]}],"
        "'params':{'temperature':1.75}}",
        0);

    CHECK_HAS(r.body, "\"temperature\":1.5,");
    CHECK_TEXT("R12.3(temperature)", r.repairs);
    CHECK_TEXT("R12.3 ", lint_of(t, ADAPTER,
                                 "{'model':'m','temperature':2,'messages':[{'role':'user',"
                                 "'content':'a'}]}"));
}

TEST(mistral, without_memory)
{
    check_memory(t, ADAPTER, WHOLE, STREAM);
}
