/* anthropic.c -- Anthropic Messages. [P5] [P11] [P13] [P14] */
#include "wire/adapter_kit.h"

#define MODEL "claude-opus-5"
#define OLD "claude-sonnet-4-5"
#define A &vls_adapter_anthropic

TEST(anthropic, a_request_names_a_model)
{
    vls_arena arena;
    vls_neutral prompt = {.context = 0};
    vls_plan plan = {.arena = &arena};
    VLS_AUTO(wire) vls_wire wire;

    vls_arena_init(&arena, t->env, (size_t)1 << 20);
    vls_wire_init(&wire, t->env);
    CHECK_OK(vls_neutral_read(
        &prompt, &arena, valise_str_of(quoted(PROMPT(SAYS("user", TEXT("Hi")), ""))), &t->err));
    CHECK_OK(vls_plan_make(&plan, &arena, A, &prompt, (valise_str){NULL, 0}, &t->err));
    CHECK_RC(VALISE_E_INVALID,
             vls_adapter_anthropic.write(&wire, &plan, &(vls_wire_write){.stream = true}, &t->err));
    vls_arena_release(&arena);
}

/* ---- params ---- */

static const char *params_of(test *t, const char *model, const char *params, const char **repairs)
{
    return body_of(t, A, model,
                   test_format(PROMPT(SAYS("user", TEXT("Hi")), ",'params':%s"), params), true,
                   repairs);
}

TEST(anthropic, newer_models_take_no_temperature)
{
    const char *repairs = NULL;

    CHECK_PART(params_of(t, OLD, "{'temperature':0.5}", &repairs), "\"temperature\":0.5");
    CHECK_TEXT("", repairs);
    CHECK_PART(params_of(t, "qwen3", "{'temperature':0.5}", &repairs), "\"temperature\":0.5");
    CHECK_PART(params_of(t, OLD, "{'temperature':1.5}", &repairs), "\"temperature\":1,");
    CHECK_TEXT("R12.3(temperature)", repairs);
    CHECK(!strstr(params_of(t, "claude-opus-4-7", "{'temperature':0.5}", &repairs), "temperature"));
    CHECK_TEXT("R12.3(temperature)", repairs);
}

TEST(anthropic, extras_go_beside)
{
    const char *repairs = NULL;

    CHECK_TEXT(quoted("{'model':'claude-opus-5','max_tokens':4096,'metadata':{'user_id':'u'},"
                      "'messages':[{'role':'user','content':[{'type':'text','text':'Hi'}]}]}"),
               params_of(t, MODEL, "{'extras':{'metadata':{'user_id':'u'}}}", &repairs));
    CHECK_PART(params_of(t, OLD,
                         "{'temperature':0.5,'extras':{'thinking':{'type':'enabled',"
                         "'budget_tokens':2000}}}",
                         &repairs),
               "\"max_tokens\":6096,\"thinking\"");
    CHECK_TEXT("R12.3(temperature)", repairs);
}

TEST(anthropic, extras_say_nothing_twice)
{
    static const char *const names[] = {"messages", "model",         "max_tokens",
                                        "tools",    "cache_control", "stream"};

    for (size_t i = 0; i < VLS_COUNT(names); i++) {
        vls_arena arena;
        vls_neutral prompt = {.context = 0};
        vls_plan plan = {.arena = &arena};
        VLS_AUTO(wire) vls_wire wire;
        vls_arena_init(&arena, t->env, (size_t)1 << 20);
        vls_wire_init(&wire, t->env);
        CHECK_OK(vls_neutral_read(
            &prompt, &arena,
            valise_str_of(quoted(test_format(
                PROMPT(SAYS("user", TEXT("Hi")), ",'params':{'extras':{'%s':1}}"), names[i]))),
            &t->err));
        CHECK_OK(vls_plan_make(&plan, &arena, A, &prompt, VLS_STR(MODEL), &t->err));
        CHECK_RC(VALISE_E_INVALID, vls_adapter_anthropic.write(
                                       &wire, &plan, &(vls_wire_write){.stream = true}, &t->err));
        CHECK_TEXT("params.extras", t->err.path);
        t->err = (valise_error)VALISE_ERROR_INIT;
        vls_arena_release(&arena);
    }
}

/* Thinking with a budget wants what was thought before the calls that wait. [P13] */
TEST(anthropic, thinking_is_turned_off_in_a_loop_that_began_without)
{
#define LOOP(thought)                                                                              \
    PROMPT(SAYS("user", TEXT("Go.")) "," SAYS(                                                     \
               "assistant", thought CALL("c1", "ls", "{}")) "," SAYS("tool", RESULT("c1", "a")),   \
           ",'params':{'extras':{'thinking':{'type':'enabled','budget_tokens':1024}}}")
    const char *repairs = NULL;

    CHECK(!strstr(body_of(t, A, OLD, LOOP(""), true, &repairs), "budget_tokens"));
    CHECK_TEXT("R11.1(ls) R12.3(extras)", repairs);
    CHECK_PART(body_of(t, A, OLD, LOOP("{'type':'thinking','text':'Hm.','signature':'s'},"), true,
                       &repairs),
               "budget_tokens");
    CHECK_TEXT("R11.1(ls)", repairs);
#undef LOOP
}

#define THOUGHT "{'type':'thinking','text':'Hm.','signature':'s'}"
#define HIDDEN "{'type':'thinking','text':'b3Bh','redacted':true}"
#define BUDGET ",'params':{'extras':{'thinking':{'type':'enabled','budget_tokens':2000}}}"

/* An answer that was cut while the model thought. [P13] */
TEST(anthropic, no_message_ends_in_thinking)
{
    static const char *const ends[] = {THOUGHT, HIDDEN, THOUGHT "," HIDDEN};
    static const char *const params[] = {"", BUDGET};
    const char *repairs = NULL;

    for (size_t i = 0; i < VLS_COUNT(ends) * VLS_COUNT(params); i++) {
        const char *cut = test_format("{'role':'assistant','blocks':[%s]}", ends[i / 2]);
        const char *body = body_of(
            t, A, OLD, test_format(PROMPT(SAYS("user", TEXT("Q")) ",%s", "%s"), cut, params[i % 2]),
            true, &repairs);

        /* As if it had not been said. */
        CHECK_PART(body, quoted("'messages':[{'role':'user','content':[{'type':'text','text':'Q'}]"
                                "}]"));
        CHECK_PART(repairs, "R4.8@1.0");
        body = body_of(
            t, A, MODEL,
            test_format(PROMPT(SAYS("user", TEXT("Q")) ",%s," SAYS("user", TEXT("R")), "%s"), cut,
                        params[i % 2]),
            true, &repairs);
        CHECK_PART(body, quoted("{'role':'assistant','content':[{'type':'text','text':'OK.'}]}"));
        CHECK_PART(repairs, "R4.8@1.0");
    }
    CHECK_PART(body_of(t, A, MODEL,
                       PROMPT(SAYS("user", TEXT("Q")) "," SAYS(
                                  "assistant",
                                  THOUGHT "," TEXT("A") "," HIDDEN) "," SAYS("user", TEXT("R")),
                              ""),
                       true, &repairs),
               quoted("'signature':'s'},{'type':'text','text':'A'}]}"));
    CHECK_TEXT("R4.8@1.2", repairs);
}

/* What the model goes on with, on models that do so. */
TEST(anthropic, thinking_and_a_message_that_goes_on)
{
#define LAST(blocks, params)                                                                       \
    body_of(t, A, OLD, PROMPT(SAYS("user", TEXT("Q")) "," SAYS("assistant", blocks), params),      \
            true, &repairs)
    const char *repairs = NULL;

    CHECK_PART(LAST(THOUGHT "," TEXT("A"), ""),
               quoted("{'role':'assistant','content':[{'type':'text','text':'A'}]}"));
    CHECK_TEXT("R4.8@1.0", repairs);
    CHECK_PART(LAST(THOUGHT "," TEXT("A"), BUDGET), quoted("'signature':'s'},{'type':'text'"));
    CHECK_TEXT("", repairs);
    CHECK(!strstr(LAST(TEXT("A"), BUDGET), "budget_tokens"));
    CHECK_TEXT("R12.3(extras)", repairs);
    CHECK(!strstr(
        body_of(t, A, OLD,
                PROMPT(SAYS("user", TEXT("Go.")) "," SAYS(
                           "assistant", THOUGHT
                           "," CALL("c1", "ls",
                                    "{}")) "," SAYS("tool", RESULT("c1", "a")) "," SAYS("assistant",
                                                                                        TEXT("So")),
                       BUDGET),
                true, &repairs),
        "budget_tokens"));
    CHECK_TEXT("R11.1(ls) R12.3(extras)", repairs);
#undef LAST
}

TEST(anthropic, what_does_not_go_with_thinking)
{
#define ASK(more)                                                                                  \
    body_of(t, A, OLD,                                                                             \
            PROMPT(SAYS("user", TEXT("Q")),                                                        \
                   ",'tools':[{'name':'ls','inputSchema':{}}],'params':{" more                     \
                   "'extras':{'thinking':{'type':'enabled','budget_tokens':2000}}}"),              \
            true, &repairs)
    const char *repairs = NULL;

    CHECK(!strstr(ASK("'toolChoice':'any',"), "budget_tokens"));
    CHECK_TEXT("R12.3(extras)", repairs);
    CHECK(!strstr(ASK("'temperature':0.5,'toolChoice':{'name':'ls'},"), "budget_tokens"));
    CHECK_TEXT("R12.3(extras)", repairs); /* the temperature may stay */
    CHECK_PART(ASK("'toolChoice':'auto','temperature':1,"), "\"temperature\":1,");
    CHECK_TEXT("", repairs);
    CHECK_PART(ASK("'maxTokens':1000,"), "\"max_tokens\":3000,");
    CHECK_TEXT("R12.3(maxTokens)", repairs);
    CHECK_PART(ASK("'maxTokens':2000,"), "\"max_tokens\":4000,");
    CHECK_PART(ASK("'maxTokens':2001,"), "\"max_tokens\":2001,");
    CHECK_TEXT("", repairs);
#undef ASK
}

/* The same, of requests from anywhere. */
TEST(anthropic, lint_of_thinking)
{
#define LINT(more, rest)                                                                           \
    lint_of(t, A, "{'model':'" OLD "'," more "'messages':[{'role':'user','content':'Q'}" rest "]}")
#define ON "'thinking':{'type':'enabled','budget_tokens':2000},"
#define SIGNED "{'type':'thinking','thinking':'x','signature':'s'}"
#define A_SAYS(blocks) ",{'role':'assistant','content':[" blocks "]}"
#define R_SAYS ",{'role':'user','content':'R'}"
    CHECK_TEXT("R4.8 messages[1].content[0]", LINT(ON "'max_tokens':3000,", A_SAYS(SIGNED) R_SAYS));
    CHECK_TEXT("R4.8 messages[1].content[0]",
               LINT("'max_tokens':3000,", A_SAYS(SIGNED ",{'type':'text','text':'A'}")));
    CHECK_TEXT("", LINT(ON "'max_tokens':3000,", A_SAYS(SIGNED ",{'type':'text','text':'A'}")));
    CHECK_TEXT("", LINT("'max_tokens':3000,", A_SAYS(SIGNED ",{'type':'text','text':'A'}") R_SAYS));
    CHECK_TEXT("R12.3 ", LINT(ON "'max_tokens':3000,", A_SAYS("{'type':'text','text':'A'}")));
    CHECK_TEXT("R12.3 ", LINT(ON "'max_tokens':2000,", ""));
    CHECK_TEXT("R12.3 ", LINT(ON "'max_tokens':3000,'temperature':0.5,", ""));
    CHECK_TEXT("", LINT(ON "'max_tokens':3000,'temperature':1,", ""));
    CHECK_TEXT("R12.3 ", LINT(ON "'max_tokens':3000,'tool_choice':{'type':'any'},", ""));
#undef LINT
#undef ON
#undef SIGNED
#undef A_SAYS
#undef R_SAYS
}

TEST(anthropic, marks_are_left_out_on_demand)
{
    const char *prompt = PROMPT(SAYS("user", TEXT("Hi")), "");

    CHECK_PART(body_of(t, A, MODEL, prompt, false, NULL), "cache_control");
    CHECK(!strstr(body_of(t, A, MODEL, prompt, true, NULL), "cache_control"));
}

TEST(anthropic, arguments_that_are_not_the_same_are_not_believed)
{
    const char *body = body_of(
        t, A, MODEL,
        PROMPT(SAYS("user", TEXT("Go.")) "," SAYS(
                   "assistant", "{'type':'tool_use','callId':'c1','name':'ls','args':{'a':1},"
                                "'meta':{'anthropic':{'raw':'{}}],\\\"model\\\":\\\"other\\\"'}}}"),
               ""),
        true, NULL);

    CHECK_PART(body, "\"input\":{\"a\":1}");
    CHECK(!strstr(body, "other"));
    body = body_of(t, A, MODEL,
                   PROMPT(SAYS("user", TEXT("Go.")) "," SAYS(
                              "assistant", "{'type':'tool_use','callId':'c1','name':'ls','args':"
                                           "{'a':1},'meta':{'anthropic':{'raw':'{\\\"a\\\":2}'}}}"),
                          ""),
                   true, NULL);
    CHECK_PART(body, "\"input\":{\"a\":1}");
}

TEST(anthropic, addresses_and_ids_of_others)
{
#define FILE(id, type)                                                                             \
    PROMPT(SAYS("user", "{'type':'image','blob':'" ID64 "'," type "'size':3,'fileId':'" id "'}"),  \
           "")
#define PNG "'mediaType':'image/png',"
    const char *repairs = NULL;

    CHECK_PART(body_of(t, A, MODEL, FILE("https://a.b/c.png", PNG), true, &repairs),
               "{\"type\":\"url\",\"url\":\"https://a.b/c.png\"}");
    CHECK_PART(body_of(t, A, MODEL, FILE("s3://a/b", PNG), true, &repairs), "\"data\":\"eHh4\"");
    CHECK_TEXT("", repairs);
    /* Only an id of a file needs the header that makes these known. */
    CHECK(!write_request(t, A, MODEL, FILE("https://a.b/c.png", PNG), 0).head);
    CHECK(!write_request(t, A, MODEL, FILE("s3://a/b", PNG), 0).head);
    CHECK_TEXT("anthropic-beta: files-api-2025-04-14",
               write_request(t, A, MODEL, FILE("file_1", PNG), 0).head);
    /* Bytes of which nobody says what they are. */
    CHECK_PART(body_of(t, A, MODEL, FILE("s3://a/b", ""), true, &repairs),
               "[image: cannot be shown here]");
    CHECK_TEXT("R8.1@0.0", repairs);
#undef PNG
#undef FILE
}

/* ---- answers ---- */

#define WHOLE(content, rest)                                                                       \
    "{'id':'msg_1','type':'message','role':'assistant','model':'claude-opus-5','content':"         \
    "[" content "]," rest "}"
#define USAGE                                                                                      \
    "'usage':{'input_tokens':10,'cache_read_input_tokens':100,'cache_creation_input_tokens':5,"    \
    "'output_tokens':7,'output_tokens_details':{'thinking_tokens':3}}"
#define EVENT(name, data) "event: " name "\ndata: {'type':'" name "'" data "}\n\n"
#define START                                                                                      \
    EVENT("message_start", ",'message':{'id':'msg_1','model':'claude-opus-5','content':[],"        \
                           "'stop_reason':null,'usage':{'input_tokens':10,"                        \
                           "'cache_read_input_tokens':100,'cache_creation_input_tokens':5,"        \
                           "'output_tokens':1}}")
#define END(why)                                                                                   \
    EVENT("message_delta", ",'delta':{'stop_reason':'" why "'},'usage':{'output_tokens':7,"        \
                           "'output_tokens_details':{'thinking_tokens':3}}")                       \
    EVENT("message_stop", "")
#define BEGIN(index, block)                                                                        \
    EVENT("content_block_start", ",'index':" index ",'content_block':" block)
#define DELTA(index, delta) EVENT("content_block_delta", ",'index':" index ",'delta':" delta)
#define STOP(index) EVENT("content_block_stop", ",'index':" index)

TEST(anthropic, answers)
{
    check_answer(
        t, A,
        WHOLE("{'type':'text','text':'Hello','citations':null}", "'stop_reason':'end_turn'," USAGE),
        START BEGIN("0", "{'type':'text','text':''}") EVENT("ping", "")
            DELTA("0", "{'type':'text_delta','text':'Hel'}")
                DELTA("0", "{'type':'text_delta','text':'lo'}") STOP("0") END("end_turn"),
        "{'blocks':[{'text':'Hello','type':'text'}],'stop':'end','usage':[115,7,100,5,3]}");
}

TEST(anthropic, answers_with_thinking_and_calls)
{
    check_answer(
        t, A,
        WHOLE("{'type':'thinking','thinking':'Hm.','signature':'c2ln'},"
              "{'type':'redacted_thinking','data':'b3Bh'},"
              "{'type':'tool_use','id':'toolu_1','name':'ls','input':{'path':'/'}},"
              "{'type':'tool_use','id':'toolu_2','name':'now','input':{}}",
              "'stop_reason':'tool_use'," USAGE),
        START BEGIN("0", "{'type':'thinking','thinking':'','signature':''}")
            DELTA("0", "{'type':'thinking_delta','thinking':'Hm.'}")
                DELTA("0", "{'type':'signature_delta','signature':'c2'}") DELTA(
                    "0", "{'type':'signature_delta','signature':'ln'}") STOP("0")
                    BEGIN("1", "{'type':'redacted_thinking','data':'b3Bh'}") STOP("1") BEGIN(
                        "2", "{'type':'tool_use','id':'toolu_1','name':'ls','input':{}}")
                        DELTA("2", "{'type':'input_json_delta','partial_json':'{\\\"path'}") DELTA(
                            "2", "{'type':'input_json_delta','partial_json':'\\\":\\\"/\\\"}'}")
                            STOP("2") BEGIN("3", "{'type':'tool_use','id':'toolu_2','name':"
                                                 "'now','input':{}}") STOP("3") END("tool_use"),
        "{'blocks':[{'meta':{'vendor':'anthropic'},'signature':'c2ln','text':'Hm.','type':'"
        "thinking'},"
        "{'redacted':true,'text':'b3Bh','type':'thinking'},"
        "{'args':{'path':'/'},'callId':'toolu_1','name':'ls','type':'tool_use'},"
        "{'args':{},'callId':'toolu_2','name':'now','type':'tool_use'}],"
        "'stop':'calls','usage':[115,7,100,5,3]}");
}

/* What came goes back word for word. [P11] */
TEST(anthropic, answers_go_back_as_they_came)
{
    const char *said = stream_of(
        t, A,
        START BEGIN("0", "{'type':'thinking','thinking':'Hm.','signature':'c2ln'}")
            BEGIN("1", "{'type':'redacted_thinking','data':'b3Bh'}")
                BEGIN("2", "{'type':'tool_use','id':'toolu_1','name':'ls','input':{}}")
                    DELTA("2", "{'type':'input_json_delta','partial_json':'{ \\\"b\\\": 1.0, "
                               "\\\"a\\\": 2 }'}") END("tool_use"),
        0);
    const char *blocks = strstr(said, "["), *end = strstr(said, ",\"stop\":");
    const char *prompt = test_format(
        "{\"version\":1,\"messages\":[{\"role\":\"user\",\"blocks\":[{\"type\":\"text\","
        "\"text\":\"Go.\"}]},{\"role\":\"assistant\",\"blocks\":%.*s}]}",
        (int)(end - blocks), blocks);

    CHECK_PART(
        body_of(t, A, MODEL, prompt, true, NULL),
        quoted("'content':[{'type':'thinking','thinking':'Hm.','signature':'c2ln'},"
               "{'type':'redacted_thinking','data':'b3Bh'},{'type':'tool_use','id':'toolu_1',"
               "'name':'ls','input':{ 'b': 1.0, 'a': 2 }}]"));
}

TEST(anthropic, stops)
{
    static const char *const stops[][2] = {
        {"max_tokens", "limit"}, {"stop_sequence", "sequence"},
        {"refusal", "refused"},  {"model_context_window_exceeded", "limit"},
        {"pause_turn", "other"}, {"end_turn", "end"},
    };

    for (size_t i = 0; i < VLS_COUNT(stops); i++)
        CHECK_PART(answer_of(t, A, test_format(WHOLE("", "'stop_reason':'%s'"), stops[i][0])),
                   test_format("\"stop\":\"%s\"", stops[i][1]));
}

/* Tools that the provider runs itself have no block here: that is told. */
TEST(anthropic, what_has_no_block_is_told)
{
    check_answer(t, A,
                 WHOLE("{'type':'server_tool_use','id':'s','name':'web_search','input':{'q':'x'}},"
                       "{'type':'text','text':'So.'}",
                       "'stop_reason':'end_turn'"),
                 BEGIN("0", "{'type':'server_tool_use','id':'s','name':'web_search','input':{}}")
                     DELTA("0", "{'type':'input_json_delta','partial_json':'{}'}")
                         BEGIN("1", "{'type':'text','text':'So.'}")
                             EVENT("message_delta", ",'delta':{'stop_reason':'end_turn'}")
                                 EVENT("message_stop", ""),
                 "{'blocks':[{'text':'So.','type':'text'}],'stop':'end',"
                 "'usage':[null,null,null,null,null],'dropped':'server_tool_use'}");
}

TEST(anthropic, a_cut_stream_is_kept)
{
    CHECK_TEXT(
        quoted("{'blocks':[{'partial':true,'text':'Hm','type':'thinking'}],'stop':'none',"
               "'usage':[115,1,100,5,null],'partial':true}"),
        stream_of(t, A, START BEGIN("0", "{'type':'thinking','thinking':'Hm','signature':''}"), 0));
}

TEST(anthropic, what_is_no_answer)
{
    check_no_answer(t, A, VALISE_E_INVALID, "{'id':'x'}", "this is not an answer of Anthropic");
    check_no_answer(t, A, VALISE_E_INVALID, "[]", "this is not an answer of Anthropic");
    check_no_answer(t, A, VALISE_E_REMOTE,
                    "{'type':'error','error':{'type':'invalid_request_error','message':'no'}}",
                    "no (invalid_request_error)");
}

TEST(anthropic, memory)
{
    check_memory(t, A,
                 WHOLE("{'type':'thinking','thinking':'Hm.','signature':'s'},{'type':'text','text':"
                       "'x'},{'type':'tool_use','id':'a','name':'ls','input':{'b':1}},{'type':'y'}",
                       "'stop_reason':'tool_use'," USAGE));
}

TEST(anthropic, requests_are_read_back)
{
    CHECK_TEXT(
        quoted(
            "{'messages':[{'blocks':[{'text':'Hi','type':'text','x-place':'messages[0].content[0]'"
            "},{'blob':'0000000000000000000000000000000000000000000000000000000000000000',"
            "'mediaType':'image/png','size':5,'type':'image','x-data':5,'x-place':"
            "'messages[0].content[1]'}],'role':'user','x-place':'messages[0]'},{'blocks':["
            "{'signature':'s','text':'Hm.','type':'thinking','x-place':'messages[1].content[0]'},"
            "{'args':{'a':1},'callId':'c','name':'ls','type':'tool_use','x-place':"
            "'messages[1].content[1]'}],'role':'assistant','x-place':'messages[1]'},{'blocks':["
            "{'callId':'c','content':[{'text':'no','type':'text'}],'isError':true,'type':"
            "'tool_result','x-place':'messages[2].content[0]'}],'role':'user','x-place':"
            "'messages[2]'}],'params':{'maxTokens':9,'model':'m','stop':['x'],'temperature':0.5,"
            "'toolChoice':{'name':'ls'}},'system':[{'text':'s','type':'text','x-place':"
            "'system[0]'}],'tools':[{'description':'d','inputSchema':{'type':'object'},'name':"
            "'ls'}],'version':1}"),
        read_of(
            t, A,
            "{'model':'m','max_tokens':9,'temperature':0.5,'stop_sequences':['x'],'tool_choice':"
            "{'type':'tool','name':'ls'},'tools':[{'name':'ls','description':'d','input_schema':"
            "{'type':'object'}}],'system':'s','messages':[{'role':'user','content':[{'type':"
            "'text','text':'Hi'},{'type':'image','source':{'type':'base64','media_type':"
            "'image/png','data':'eHh4eHg='}}]},{'role':'assistant','content':[{'type':"
            "'thinking','thinking':'Hm.','signature':'s'},{'type':'tool_use','id':'c','name':'ls'"
            ",'input':{'a':1}}]},{'role':'user','content':[{'type':'tool_result','tool_use_id':"
            "'c','is_error':true,'content':[{'type':'text','text':'no'}]}]}]}"));
}

/* ---- lint ---- */

#define ASKS(messages) "{'model':'" MODEL "','max_tokens':9,'messages':[" messages "]}"

TEST(anthropic, lint_finds_what_is_refused)
{
    CHECK_TEXT("", lint_of(t, A, ASKS("{'role':'user','content':'Hi'}")));
    CHECK_TEXT("R3.1 messages[0].content[0]", lint_of(t, A, ASKS("{'role':'user','content':' '}")));
    CHECK_TEXT("R1.1 messages[1].content[0]; R11.1 ",
               lint_of(t, A,
                       ASKS("{'role':'user','content':'Hi'},{'role':'assistant','content':[{'type':"
                            "'tool_use','id':'a','name':'ls','input':{}}]},"
                            "{'role':'user','content':'and?'}")));
    CHECK_TEXT("R1.2 messages[0].content[0]",
               lint_of(t, A,
                       ASKS("{'role':'user','content':[{'type':'tool_result',"
                            "'tool_use_id':'a','content':'x'}]}")));
    CHECK_TEXT("R4.1 messages[1].content[0]",
               lint_of(t, A,
                       ASKS("{'role':'user','content':'Hi'},{'role':'assistant','content':[{'type':"
                            "'thinking','thinking':'x'},{'type':'text','text':'x'}]},"
                            "{'role':'user','content':'and?'}")));
    CHECK_TEXT("R8.1 messages[0].content[0]",
               lint_of(t, A,
                       ASKS("{'role':'user','content':[{'type':'image','source':{'type':"
                            "'base64','media_type':'image/bmp','data':'eHh4'}}]}")));
    CHECK_TEXT("R5.1 messages[1]",
               lint_of(t, A,
                       ASKS("{'role':'user','content':'Hi'},{'role':'assistant','content':"
                            "'The'}")));
    CHECK_TEXT("R12.2 messages[1]",
               lint_of(t, A,
                       ASKS("{'role':'user','content':'Hi'},{'role':'system','content':"
                            "'Be brief.'},{'role':'user','content':'Go'}")));
}

TEST(anthropic, lint_finds_arguments_that_are_none)
{
    CHECK_TEXT("R10.1 messages[1].content[0]",
               lint_of(t, A,
                       "{'model':'m','tools':[{'name':'ls','input_schema':{}}],'messages':["
                       "{'role':'user','content':'Hi'},{'role':'assistant','content':["
                       "{'type':'tool_use','id':'a','name':'ls','input':[1]}]},{'role':'user',"
                       "'content':[{'type':'tool_result','tool_use_id':'a'}]}]}"));
}

/* What it has, and a neutral prompt has not, is fine. */
TEST(anthropic, lint_counts_marks)
{
#define MARK ",'cache_control':{'type':'ephemeral'}"
#define MARKED(text, mark) "{'type':'text','text':'" text "'" mark "}"
#define MARKS(last)                                                                                \
    "{'model':'" MODEL "','max_tokens':1,'tools':[{'name':'a','input_schema':{}" MARK "}],"        \
    "'system':[" MARKED("s", MARK) "],'messages':[{'role':'user','content':[" MARKED(              \
        "a", MARK) "," MARKED("b", MARK) "," MARKED("c", last) "]}]}"
    CHECK_TEXT("", lint_of(t, A, MARKS("")));
    CHECK_TEXT("R13.1 messages[0].content[2]", lint_of(t, A, MARKS(MARK)));
}

/* Results that are errors are text, and not empty. */
TEST(anthropic, errors_are_text)
{
    const char *repairs = NULL;
    const char *body = body_of(
        t, A, MODEL,
        PROMPT(SAYS("user", TEXT("Go.")) "," SAYS(
                   "assistant",
                   CALL("c1", "ls", "{}") "," CALL(
                       "c2", "ls",
                       "{}")) "," SAYS("tool", "{'type':'tool_result','callId':'c1','isError':true,"
                                               "'content':[{'type':'image','blob':'" ID64
                                               "','mediaType':'image/png'}]},{'type':'tool_result',"
                                               "'callId':'c2','isError':true,'content':' '}"),
               ""),
        true, &repairs);

    CHECK_PART(body, quoted("[{'type':'text','text':'[image (image/png): in the next message]'}],"
                            "'is_error':true}"));
    CHECK_PART(body, quoted("'content':[{'type':'text','text':'(The result is empty.)'}],"
                            "'is_error':true},{'type':'image',"));
    CHECK_TEXT("R8.2@2.0 R11.1(ls) R3.1@2.1(c2)", repairs);
    CHECK_TEXT("R8.2 messages[2].content[0]",
               lint_of(t, A,
                       "{'model':'" MODEL "','max_tokens':1,'tools':[{'name':'a','input_schema':{}}"
                       "],'messages':[{'role':'user','content':'a'},{'role':'assistant','content':["
                       "{'type':'tool_use','id':'c1','name':'a','input':{}}]},{'role':'user',"
                       "'content':[{'type':'tool_result','tool_use_id':'c1','is_error':true,"
                       "'content':[{'type':'image','source':{'type':'base64','media_type':"
                       "'image/png','data':'eHh4'}}]}]}]}"));
}

TEST(anthropic, lint_lets_pass_what_is_theirs)
{
    CHECK_TEXT(
        "", lint_of(t, A,
                    "{'model':'m','max_tokens':0,'temperature':1,'tool_choice':{'type':'auto'},"
                    "'system':'Be brief.','tools':[{'type':'web_search_20250305','name':"
                    "'web_search'}],'messages':[{'role':'user','content':[{'type':'document',"
                    "'source':{'type':'text','media_type':'text/plain','data':'x'}},{'type':"
                    "'search_result','source':'a','title':'b','content':[]}]},{'role':'user',"
                    "'content':[{'type':'image','source':{'type':'url','url':'https://a'}}]}]}"));
    CHECK_TEXT("R12.1 messages[0].content[0]",
               lint_of(t, A, ASKS("{'role':'user','content':[{'type':'dream'}]}")));
}

TEST(anthropic, what_is_no_request)
{
    check_no_request(t, A, "[]", "request");
    check_no_request(t, A, "{}", "messages");
    check_no_request(t, A, "{'messages':{}}", "messages");
    check_no_request(t, A, "{'messages':[1]}", "messages[0].content");
    check_no_request(t, A, "{'messages':[{'role':'user','content':[1]}]}",
                     "messages[0].content[0]");
    check_no_request(t, A, "{'messages':[{'role':'boss','content':'x'}]}", "messages[0].role");
    check_no_request(t, A, "{'tools':1,'messages':[]}", "tools");
    check_no_request(t, A, "{'system':1,'messages':[]}", "system");
}
