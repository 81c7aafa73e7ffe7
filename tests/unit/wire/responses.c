/* responses.c -- OpenAI Responses: bodies, answers, and the way round. [P5] [P11] [P13] */
#include "wire/body_kit.h"

#define ADAPTER &vls_adapter_responses

/* Models that do not think refuse encrypted reasoning. */
TEST(responses, older_models_get_no_reasoning)
{
    request r = write_request(
        t, ADAPTER, "gpt-4.1",
        "[{'role':'user','blocks':[{'type':'text','text':'Hi'}]},{'role':'assistant','blocks':[{'"
        "type':"
        "'thinking','text':'Hm','meta':{'openai':{'encrypted_content':'g','index':0,'item_id':'rs_"
        "1'}}}"
        ",{'type':'text','text':'Ho','meta':{'openai':{'index':1,'item_id':'msg_1'}}}]},{'role':"
        "'system','blocks':[{'type':'text','text':'Be.'}]}]",
        0);

    CHECK_TEXT(quoted("{'model':'gpt-4.1','store':false,'input':[{'type':'message','role':'user',"
                      "'content':[{'type':'input_text','text':'Hi'}]},{'type':'message','role':"
                      "'assistant','content':'Ho'},{'type':'message','role':'system','content':[{"
                      "'type':'input_text','text':'Be.'}]}]}"),
               r.body);
    CHECK_TEXT("R4.6@1.0(rs_1) R4.6@1.1(msg_1)", r.repairs);
}

/* ---- answers ---- */

#define RS                                                                                         \
    "{'id':'rs_1','type':'reasoning','summary':[{'type':'summary_text','text':'One.'},{'type':"    \
    "'summary_text','text':'Two.'}],'encrypted_content':'gAAA'}"
#define MSG                                                                                        \
    "{'id':'msg_1','type':'message','status':'completed','role':'assistant','phase':'commentary'," \
    "'content':[{'type':'output_text','annotations':[],'logprobs':[],'text':'I look.'}]}"
#define FC1                                                                                        \
    "{'id':'fc_1','type':'function_call','status':'completed','arguments':'{ "                     \
    "\\\"path\\\":\\\"a\\\" }',"                                                                   \
    "'call_id':'call_a','name':'read'}"
#define FC2                                                                                        \
    "{'id':'fc_2','type':'function_call','status':'completed','arguments':'{}','call_id':'call_b'" \
    ","                                                                                            \
    "'name':'now'}"
#define USAGE                                                                                      \
    "'usage':{'input_tokens':90,'input_tokens_details':{'cached_tokens':40,'cache_write_tokens':"  \
    "5},"                                                                                          \
    "'output_tokens':30,'output_tokens_details':{'reasoning_tokens':12},'total_tokens':120}"
#define RESPONSE(status, output)                                                                   \
    "{'id':'resp_1','object':'response','created_at':1,'status':'" status "','error':null,"        \
    "'incomplete_details':null,'model':'gpt-5','output':[" output "]," USAGE "}"
#define ALL RS "," MSG "," FC1 "," FC2
#define EVENT(type, members)                                                                       \
    "event: " type "\ndata: {'type':'" type "','sequence_number':0" members "}\n\n"
#define END(response) EVENT("response.completed", ",'response':" response)
#define ITEM(number, item) ",'output_index':" number ",'item':" item
#define STREAM_UNTIL_END                                                                           \
    EVENT("response.created", ",'response':{'id':'resp_1','model':'gpt-5','status':'in_progress'," \
                              "'error':null,'output':[]}")                                         \
    EVENT("response.in_progress", ",'response':{'id':'resp_1','error':null}")                      \
    EVENT("response.output_item.added",                                                            \
          ITEM("0", "{'id':'rs_1','type':'reasoning','summary':[]}"))                              \
    EVENT("response.reasoning_summary_part.added", ",'output_index':0,'summary_index':0")          \
    EVENT("response.reasoning_summary_text.delta", ",'output_index':0,'delta':'On'")               \
    EVENT("response.reasoning_summary_text.delta", ",'output_index':0,'delta':'e.'")               \
    EVENT("response.reasoning_summary_text.done", ",'output_index':0,'text':'One.'")               \
    EVENT("response.reasoning_summary_part.added", ",'output_index':0,'summary_index':1")          \
    EVENT("response.reasoning_summary_text.delta", ",'output_index':0,'delta':'Two.'")             \
    EVENT("response.output_item.done", ITEM("0", RS))                                              \
    EVENT("response.output_item.added", ITEM("1", "{'id':'msg_1','type':'message','content':[]}")) \
    EVENT("response.content_part.added", ",'output_index':1,'content_index':0")                    \
    EVENT("response.output_text.delta", ",'output_index':1,'content_index':0,'delta':'I '")        \
    EVENT("response.output_text.delta", ",'output_index':1,'content_index':0,'delta':'look.'")     \
    EVENT("response.output_text.done", ",'output_index':1,'content_index':0,'text':'I look.'")     \
    EVENT("response.output_item.done", ITEM("1", MSG))                                             \
    EVENT("response.output_item.added",                                                            \
          ITEM("2",                                                                                \
               "{'id':'fc_1','type':'function_call','arguments':'','call_id':'call_a','name':"     \
               "'read'}"))                                                                         \
    EVENT("response.function_call_arguments.delta", ",'output_index':2,'delta':'{ \\\"path\\\":'") \
    EVENT("response.function_call_arguments.delta", ",'output_index':2,'delta':'\\\"a\\\" }'")     \
    EVENT("response.function_call_arguments.done",                                                 \
          ",'output_index':2,'arguments':'{ \\\"path\\\":\\\"a\\\" }'")                            \
    EVENT("response.output_item.done", ITEM("2", FC1))                                             \
    EVENT("response.output_item.done", ITEM("3", FC2))
#define BLOCKS                                                                                     \
    "[{'meta':{'openai':{'encrypted_content':'gAAA','index':0,'item_id':'rs_1','summary':[{'text'" \
    ":"                                                                                            \
    "'One.','type':'summary_text'},{'text':'Two.','type':'summary_text'}]}},'text':'One."          \
    "\\n\\nTwo.',"                                                                                 \
    "'type':'thinking'},{'meta':{'openai':{'index':1,'item_id':'msg_1','phase':'commentary'}},"    \
    "'text':'I look.','type':'text'},{'args':{'path':'a'},'callId':'call_a','meta':{'openai':{"    \
    "'index':2,'item_id':'fc_1','raw':'{ \\\"path\\\":\\\"a\\\" }'}},'name':'read','type':"        \
    "'tool_use'},{'args':{},'callId':'call_b','meta':{'openai':{'index':3,'item_id':'fc_2'}},"     \
    "'name':'now','type':'tool_use'}]"

TEST(responses, an_answer_whole_and_streamed_is_the_same)
{
    const char *expected = quoted(BLOCKS "\ncalls gpt-5 resp_1 90/30/40/5/12");

    CHECK_TEXT(expected, answer_of(t, ADAPTER, RESPONSE("completed", ALL)));
    CHECK_TEXT(expected,
               stream_of(t, ADAPTER,
                         test_format("%s%s", STREAM_UNTIL_END, END(RESPONSE("completed", ALL)))));
    /* Some servers leave the items out of the last event. */
    CHECK_TEXT(expected,
               stream_of(t, ADAPTER,
                         test_format("%s%s", STREAM_UNTIL_END, END(RESPONSE("completed", "")))));
}

TEST(responses, what_was_answered_goes_back_word_for_word) /* [P13] */
{
    const char *prompt = test_format(
        "{\"version\":1,\"messages\":[{\"role\":\"user\",\"blocks\":[{\"type\":\"text\",\"text\":"
        "\"Go\"}]},{\"role\":\"assistant\",\"blocks\":%s},{\"role\":\"tool\",\"blocks\":[{\"type\":"
        "\"tool_result\",\"callId\":\"call_a\",\"content\":\"x\"},{\"type\":\"tool_result\","
        "\"callId\":\"call_b\",\"content\":\"y\"}]}]}",
        quoted(BLOCKS));
    request r = write_request(t, ADAPTER, "gpt-5", prompt, 0);

    CHECK_TEXT("", r.repairs);
    CHECK_HAS(r.body,
              quoted("{'type':'reasoning','id':'rs_1','summary':[{'text':'One.','type':"
                     "'summary_text'},{'text':'Two.','type':'summary_text'}],"
                     "'encrypted_content':'gAAA'},{'type':'message','id':'msg_1','role':"
                     "'assistant','phase':'commentary','status':'completed','content':[{'type':"
                     "'output_text','text':'I look.','annotations':[]}]},{'type':"
                     "'function_call','id':'fc_1','call_id':'call_a','name':'read','arguments':"
                     "'{ \\\"path\\\":\\\"a\\\" }'},{'type':'function_call','id':'fc_2','call_id':"
                     "'call_b','name':'now','arguments':'{}'},{'type':'function_call_output',"));
}

/* An item that was cut has no id: nothing would belong to it. */
TEST(responses, a_stream_that_was_cut)
{
    CHECK_TEXT(quoted("[{'text':'I lo','type':'text'}]\nnone partial gpt-5 r -/-/-/-/-"),
               stream_of(t, ADAPTER,
                         EVENT("response.created", ",'response':{'id':'r','model':'gpt-5'}") EVENT(
                             "response.output_text.delta",
                             ",'output_index':0,'content_index':0,'item_id':'msg_1','delta':'I "
                             "lo'")));
}

TEST(responses, other_ends)
{
    const char *limit =
        "{'id':'r','model':'m','status':'incomplete','incomplete_details':{'reason':"
        "'max_output_tokens'},'output':[" RS "]}";
    const char *refused =
        "{'id':'r','model':'m','status':'completed','output':[{'id':'msg_1','type':"
        "'message','status':'completed','role':'assistant','content':[{'type':"
        "'refusal','refusal':'No.'}]},{'id':'ws_1','type':'web_search_call'}]}";

    CHECK_HAS(answer_of(t, ADAPTER, limit), "\nlimit m r -/-/-/-/-");
    CHECK_TEXT(answer_of(t, ADAPTER, limit),
               stream_of(t, ADAPTER,
                         test_format(EVENT("response.output_item.done", ITEM("0", RS))
                                         EVENT("response.incomplete", ",'response':%s"),
                                     limit)));
    CHECK_TEXT(
        quoted("[{'meta':{'openai':{'index':0,'item_id':'msg_1','refusal':true}},'text':'No.',"
               "'type':'text'}]\nend m r -/-/-/-/- [web_search_call]"),
        answer_of(t, ADAPTER, refused));
}

static int feed(test *t, const char *events, bool *passing, valise_error *err)
{
    vls_stream *stream = NULL;
    int rc;

    CHECK_OK(vls_stream_new(&stream, t->env, ADAPTER, NULL, NULL, &t->err));
    rc = vls_stream_feed(stream, valise_str_of(quoted(events)), err);
    *passing = vls_stream_is_passing(stream);
    vls_stream_free(stream);
    return rc;
}

TEST(responses, says_no)
{
    bool passing = true;
    vls_arena arena;
    vls_answer answer;

    CHECK_RC(VALISE_E_REMOTE,
             feed(t,
                  EVENT("response.failed", ",'response':{'status':'failed','error':{'code':"
                                           "'server_error','message':'It broke'},'output':[]}"),
                  &passing, &t->err));
    CHECK_HAS(t->err.message, "It broke");
    CHECK(passing);
    t->err = (valise_error)VALISE_ERROR_INIT;
    CHECK_RC(VALISE_E_REMOTE,
             feed(t, EVENT("error", ",'code':'invalid_prompt','message':'Not that','param':null"),
                  &passing, &t->err));
    CHECK_HAS(t->err.message, "Not that");
    CHECK(!passing);
    CHECK_RC(VALISE_E_INVALID,
             feed(t, EVENT("response.output_text.delta", ",'output_index':99999999,'delta':'a'"),
                  &passing, &t->err));
    vls_arena_init(&arena, t->env, (size_t)1 << 20);
    CHECK_RC(VALISE_E_REMOTE,
             vls_answer_read(&answer, &arena, ADAPTER,
                             valise_str_of(quoted("{'id':'r','status':'failed','error':{'code':'x',"
                                                  "'message':'Broken'},'output':[]}")),
                             &t->err));
    CHECK_RC(VALISE_E_INVALID, vls_answer_read(&answer, &arena, ADAPTER,
                                               valise_str_of(quoted("{'id':'r'}")), &t->err));
    vls_arena_release(&arena);
}

/* ---- lint of requests ---- */

TEST(responses, lint_finds_what_is_wrong_in_a_request)
{
    CHECK_TEXT("R1.1 input[1]; R3.1 input[2]; R4.1 input[2]; R4.6 input[2]",
               lint_of(t, ADAPTER,
                       quoted("{'model':'gpt-5','input':[{'role':'user','content':'a'},{'type':"
                              "'function_call','call_id':'c1','name':'f','arguments':'{}'},{'type':"
                              "'reasoning','summary':[]},{'role':'user','content':'b'}]}")));
    CHECK_TEXT("R12.3 ",
               lint_of(t, ADAPTER, quoted("{'model':'o3','temperature':1,'input':'Hi'}")));
    CHECK_TEXT(
        "R12.1 input[0]",
        lint_of(t, ADAPTER,
                quoted("{'model':'gpt-5','input':[{'type':'item_reference','id':'x'},{'role':"
                       "'user','content':'b'}]}")));
}

/* What the model did next has its id, or the reasoning is of no use. */
TEST(responses, lint_finds_reasoning_that_stands_alone)
{
#define THOUGHT "{'type':'reasoning','id':'rs_1','summary':[],'encrypted_content':'g'},"
#define REQUEST(next) "{'model':'gpt-5','input':[{'role':'user','content':'a'}," THOUGHT next "]}"
    CHECK_TEXT("", lint_of(t, ADAPTER,
                           REQUEST("{'type':'message','id':'msg_1','role':'assistant','content':["
                                   "{'type':'output_text','text':'b'}]}")));
    CHECK_TEXT("R4.6 input[1]", lint_of(t, ADAPTER, REQUEST("{'role':'assistant','content':'b'}")));
    CHECK_TEXT("R4.6 input[1]", lint_of(t, ADAPTER, REQUEST("{'role':'user','content':'b'}")));
    CHECK_TEXT("R4.6 input[1]; R4.6 input[2]",
               lint_of(t, ADAPTER,
                       REQUEST("{'type':'reasoning','id':'rs_2','summary':[],"
                               "'encrypted_content':'h'}")));
    CHECK_TEXT("R12.3 ", lint_of(t, ADAPTER, "{'model':'gpt-4.1','stop':['x'],'input':'Hi'}"));
}

TEST(responses, addresses_of_files)
{
    CHECK_HAS(write_request(t, ADAPTER, "gpt-5",
                            "[{'role':'user','blocks':[{'type':'document','blob':'"
                            "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',"
                            "'fileId':'https://a.b/c.pdf'}]}]",
                            0)
                  .body,
              quoted("{'type':'input_file','file_url':'https://a.b/c.pdf'}"));
}

TEST(responses, without_memory)
{
    check_memory(t, ADAPTER, RESPONSE("completed", ALL),
                 test_format("%s%s", STREAM_UNTIL_END, END(RESPONSE("completed", ""))));
}
