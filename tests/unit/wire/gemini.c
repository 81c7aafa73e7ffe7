/* gemini.c -- Gemini generateContent. [P5] [P11] [P13] [P14] */
#include "wire/adapter_kit.h"

#define MODEL "gemini-3-pro"
#define OLD "gemini-2.5-flash"
#define G &vls_adapter_gemini

/* ---- params ---- */

static const char *params_of(test *t, const char *params, const char **repairs)
{
    return body_of(t, G, MODEL,
                   test_format(PROMPT(SAYS("user", TEXT("Hi")), ",'params':%s"), params), true,
                   repairs);
}

TEST(gemini, extras_and_our_params_are_one_config)
{
    CHECK_PART(params_of(t,
                         "{'maxTokens':9,'extras':{'generationConfig':{'topP':0.5,'thinkingConfig':"
                         "{'includeThoughts':true}},'safetySettings':[]}}",
                         NULL),
               quoted("{'generationConfig':{'maxOutputTokens':9,'thinkingConfig':{'includeThoughts'"
                      ":true},'topP':0.5},'safetySettings':[],'contents':["));
}

TEST(gemini, extras_say_nothing_twice)
{
    static const char *const extras[] = {"{'contents':[]}", "{'system_instruction':1}",
                                         "{'generationConfig':{'temperature':1}}",
                                         "{'toolConfig':{}}", "{'generationConfig':1}"};

    for (size_t i = 0; i < VLS_COUNT(extras); i++) {
        vls_arena arena;
        vls_neutral prompt = {.context = 0};
        vls_plan plan = {.arena = &arena};
        VLS_AUTO(wire) vls_wire wire;
        vls_arena_init(&arena, t->env, (size_t)1 << 20);
        vls_wire_init(&wire, t->env);
        CHECK_OK(vls_neutral_read(
            &prompt, &arena,
            valise_str_of(quoted(test_format(
                PROMPT(SAYS("user", TEXT("Hi")), ",'params':{'extras':%s}"), extras[i]))),
            &t->err));
        CHECK_OK(vls_plan_make(&plan, &arena, G, &prompt, VLS_STR(MODEL), &t->err));
        CHECK_RC(VALISE_E_INVALID, vls_adapter_gemini.write(
                                       &wire, &plan, &(vls_wire_write){.stream = true}, &t->err));
        t->err = (valise_error)VALISE_ERROR_INIT;
        vls_arena_release(&arena);
    }
}

TEST(gemini, five_texts_end_an_answer)
{
    const char *repairs = NULL;

    CHECK_PART(params_of(t, "{'stop':['1','2','3','4','5','6']}", &repairs),
               "\"stopSequences\":[\"1\",\"2\",\"3\",\"4\",\"5\"]");
    CHECK_TEXT("R12.3(stop)", repairs);
}

/* ---- signatures ---- */

#define LOOP(call)                                                                                 \
    PROMPT(                                                                                        \
        SAYS("user", TEXT("Go.")) "," SAYS("assistant", call) "," SAYS("tool", RESULT("c1", "a")), \
        "")

/* Only models that ask for signatures get the word in their place. [P13] */
TEST(gemini, calls_of_others_pass_by_a_word)
{
    const char *repairs = NULL;

    CHECK_PART(body_of(t, G, MODEL, LOOP(CALL("c1", "ls", "{}")), true, &repairs),
               "skip_thought_signature_validator");
    CHECK_TEXT("R4.7@1.0(c1)", repairs);
    CHECK(!strstr(body_of(t, G, OLD, LOOP(CALL("c1", "ls", "{}")), true, &repairs), "Signature"));
    CHECK_TEXT("", repairs);
}

/* An empty text that has one goes back, too. */
TEST(gemini, signatures_stand_where_they_came)
{
    const char *repairs = NULL;

    CHECK_PART(
        body_of(
            t, G, MODEL,
            PROMPT(SAYS("user", TEXT("Go.")) "," SAYS(
                       "assistant",
                       TEXT("Yes.") ",{'type':'text','text':'','meta':{'google':"
                                    "{'thoughtSignature':'c2ln'}}}") "," SAYS("user", TEXT("So?")),
                   ""),
            true, &repairs),
        quoted("'parts':[{'text':'Yes.'},{'text':'','thoughtSignature':'c2ln'}]"));
    CHECK_TEXT("", repairs);
    /* Opaque data without a signature keep no empty text. */
    CHECK_PART(
        body_of(t, G, MODEL,
                PROMPT(SAYS("user", TEXT("Go.")) "," SAYS(
                           "assistant",
                           TEXT("Yes.") ",{'type':'text','text':'','meta':"
                                        "{'google':{'other':1}}}") "," SAYS("user", TEXT("So?")),
                       ""),
                true, &repairs),
        quoted("'parts':[{'text':'Yes.'}]"));
    CHECK_TEXT("R3.1@1.1", repairs);
}

TEST(gemini, files_by_their_address)
{
    CHECK_PART(body_of(t, G, MODEL,
                       PROMPT(SAYS("user", "{'type':'image','blob':'" ID64
                                           "','mediaType':'image/png','fileId':'files/abc'}"),
                              ""),
                       true, NULL),
               quoted("{'fileData':{'mimeType':'image/png','fileUri':"
                      "'https://generativelanguage.googleapis.com/v1beta/files/abc'}}"));
}

/* ---- answers ---- */

#define USAGE                                                                                      \
    "'usageMetadata':{'promptTokenCount':20,'cachedContentTokenCount':15,"                         \
    "'candidatesTokenCount':4,'thoughtsTokenCount':3,'totalTokenCount':27}"
#define CHUNK(parts, more)                                                                         \
    "{'candidates':[{'content':{'role':'model','parts':[" parts "]}" more "}],'responseId':'r1',"  \
    "'modelVersion':'gemini-3-pro'," USAGE "}"
#define DATA(parts, more) "data: " CHUNK(parts, more) "\r\n\r\n"
#define FINISH(why) ",'finishReason':'" why "','index':0"

TEST(gemini, answers)
{
    check_answer(t, G, CHUNK("{'text':'Hello'}", FINISH("STOP")),
                 DATA("{'text':'Hel'}", "") DATA("{'text':'lo'}", FINISH("STOP")),
                 "{'blocks':[{'text':'Hello','type':'text'}],'stop':'end',"
                 "'usage':[20,7,15,null,3]}");
}

TEST(gemini, answers_with_thoughts_and_calls)
{
    check_answer(
        t, G,
        CHUNK("{'text':'Hm. So.','thought':true},{'text':'I look.'},{'functionCall':{'id':'f1',"
              "'name':'ls','args':{'path':'/','n':1}},'thoughtSignature':'c2ln'},"
              "{'functionCall':{'id':'f2','name':'now'}}",
              FINISH("STOP")),
        DATA("{'text':'Hm. ','thought':true}", "") DATA("{'text':'So.','thought':true}", "")
            DATA("{'text':'I '}", "") DATA("{'text':'look.'}", "")
                DATA("{'functionCall':{'id':'f1','name':'ls','args':{'path':'/','n':1}},"
                     "'thoughtSignature':'c2ln'}",
                     "") DATA("{'functionCall':{'id':'f2','name':'now'}}", FINISH("STOP")),
        "{'blocks':[{'text':'Hm. So.','type':'thinking'},{'text':'I look.','type':'text'},"
        "{'args':{'n':1,'path':'/'},'callId':'f1','meta':{'google':{'thoughtSignature':'c2ln'}},"
        "'name':'ls','type':'tool_use'},{'args':{},'callId':'f2','name':'now','type':'tool_use'}],"
        "'stop':'calls','usage':[20,7,15,null,3]}");
}

/* Parts with a signature are never put together with others. */
TEST(gemini, signed_parts_stay_apart)
{
    check_answer(
        t, G,
        CHUNK("{'text':'a'},{'text':'','thoughtSignature':'eA=='},{'text':'b'},{'text':'c'},"
              "{'text':'d','thoughtSignature':'eQ=='}",
              FINISH("STOP")),
        DATA("{'text':'a'}", "") DATA("{'text':'','thoughtSignature':'eA=='}", "")
            DATA("{'text':'b'}", "") DATA("{'text':'c'}", "")
                DATA("{'text':'d','thoughtSignature':'eQ=='}", FINISH("STOP")),
        "{'blocks':[{'text':'a','type':'text'},{'meta':{'google':{'thoughtSignature':'eA=='}},"
        "'text':'','type':'text'},{'text':'bc','type':'text'},{'meta':{'google':"
        "{'thoughtSignature':'eQ=='}},'text':'d','type':'text'}],'stop':'end',"
        "'usage':[20,7,15,null,3]}");
}

/* What came goes back word for word. [P11] */
TEST(gemini, answers_go_back_as_they_came)
{
    const char *said =
        answer_of(t, G,
                  CHUNK("{'text':'Hm.','thought':true,'thoughtSignature':'dA=='},{'text':'I look.',"
                        "'thoughtSignature':'dQ=='},{'functionCall':{'id':'f1','name':'ls','args':"
                        "{'a':1}},'thoughtSignature':'c2ln'}",
                        FINISH("STOP")));
    const char *blocks = strstr(said, "["), *end = strstr(said, ",\"stop\":");
    const char *prompt = test_format(
        "{\"version\":1,\"messages\":[{\"role\":\"user\",\"blocks\":[{\"type\":\"text\","
        "\"text\":\"Go.\"}]},{\"role\":\"assistant\",\"blocks\":%.*s}]}",
        (int)(end - blocks), blocks);

    CHECK_PART(body_of(t, G, MODEL, prompt, true, NULL),
               quoted("'parts':[{'text':'Hm.','thought':true,'thoughtSignature':'dA=='},{'text':"
                      "'I look.','thoughtSignature':'dQ=='},{'functionCall':{'id':'f1','name':'ls',"
                      "'args':{'a':1}},'thoughtSignature':'c2ln'}]"));
}

TEST(gemini, calls_without_ids_get_some)
{
    CHECK_PART(answer_of(t, G, CHUNK("{'functionCall':{'name':'ls','args':{}}}", FINISH("STOP"))),
               "\"callId\":\"call_");
}

TEST(gemini, stops)
{
    static const char *const stops[][2] = {
        {"MAX_TOKENS", "limit"}, {"SAFETY", "refused"}, {"PROHIBITED_CONTENT", "refused"},
        {"OTHER", "other"},      {"STOP", "end"},       {"MALFORMED_FUNCTION_CALL", "other"}};

    for (size_t i = 0; i < VLS_COUNT(stops); i++)
        CHECK_PART(
            answer_of(t, G, test_format("{'candidates':[{'finishReason':'%s'}]}", stops[i][0])),
            test_format("\"stop\":\"%s\"", stops[i][1]));
    CHECK_TEXT(quoted("{'blocks':[{'text':'','type':'text'}],'stop':'refused',"
                      "'usage':[9,null,null,null,null]}"),
               answer_of(t, G,
                         "{'promptFeedback':{'blockReason':'SAFETY'},"
                         "'usageMetadata':{'promptTokenCount':9}}"));
}

TEST(gemini, what_has_no_block_is_told)
{
    CHECK_PART(
        answer_of(t, G,
                  "{'candidates':[{'content':{'parts':[{'inlineData':{'mimeType':'image/png',"
                  "'data':''}},{'executableCode':{'code':'1'}}]}},{'index':1}]}"),
        quoted("'dropped':'inlineData','dropped':'executableCode','dropped':'candidate'"));
}

TEST(gemini, what_is_no_answer)
{
    check_no_answer(t, G, VALISE_E_INVALID, "{'id':'x'}", "this is not an answer of Gemini");
    check_no_answer(t, G, VALISE_E_INVALID, "'x'", "this is not an answer of Gemini");
    check_no_answer(t, G, VALISE_E_REMOTE,
                    "{'error':{'code':429,'message':'slow','status':'RESOURCE_EXHAUSTED'}}",
                    "slow (RESOURCE_EXHAUSTED)");
}

TEST(gemini, memory)
{
    check_memory(t, G,
                 CHUNK("{'text':'Hm.','thought':true},{'text':'','thoughtSignature':'s'},"
                       "{'functionCall':{'name':'ls','args':{'a':1}},'thoughtSignature':'x'}",
                       FINISH("STOP")));
}

TEST(gemini, requests_are_read_back)
{
    CHECK_TEXT(
        quoted(
            "{'messages':[{'blocks':[{'text':'Hi','type':'text','x-place':'contents[0].parts[0]'},"
            "{'blob':'0000000000000000000000000000000000000000000000000000000000000000','fileId':"
            "'u','mediaType':'image/png','type':'image','x-place':'contents[0].parts[1]'}],'role':"
            "'user','x-place':'contents[0]'},{'blocks':[{'args':{},'callId':'call_1_0','meta':"
            "{'google':{'thoughtSignature':'s'}},'name':'ls','type':'tool_use','x-place':"
            "'contents[1].parts[0]'}],'role':'assistant','x-place':'contents[1]'},{'blocks':["
            "{'callId':'call_1_0','content':'no','isError':true,'type':'tool_result','x-place':"
            "'contents[2].parts[0]'}],'role':'user','x-place':'contents[2]'}],'params':"
            "{'maxTokens':9,'stop':['x']},'system':[{'text':'s','type':'text','x-place':"
            "'systemInstruction.parts[0]'}],'tools':[{'inputSchema':{},'name':'ls'}],"
            "'version':1}"),
        read_of(
            t, G,
            "{'system_instruction':{'parts':[{'text':'s'}]},'tools':[{'functionDeclarations':["
            "{'name':'ls'}]},{'googleSearch':{}}],'generationConfig':{'maxOutputTokens':9,"
            "'stop_sequences':['x']},'contents':[{'parts':[{'text':'Hi'},{'fileData':{'mimeType':"
            "'image/png','fileUri':'u'}}]},{'role':'model','parts':[{'functionCall':{'name':"
            "'ls'},'thoughtSignature':'s'}]},{'role':'function','parts':[{'functionResponse':"
            "{'name':'ls','response':{'error':'no'}}}]}]}"));
}

/* ---- lint ---- */

#define ASKS(contents) "{'contents':[" contents "]}"
#define USER(parts) "{'role':'user','parts':[" parts "]}"
#define SAID(parts) "{'role':'model','parts':[" parts "]}"

TEST(gemini, lint_finds_what_is_refused)
{
    CHECK_TEXT("", lint_of(t, G, ASKS(USER("{'text':'Hi'}"))));
    CHECK_TEXT("", lint_of(t, G, ASKS("{'parts':[{'text':'Hi'}]}")));
    CHECK_TEXT("R3.1 contents[0].parts[0]", lint_of(t, G, ASKS(USER("{'text':''}"))));
    CHECK_TEXT("R2.1 contents[1]",
               lint_of(t, G, ASKS(USER("{'text':'a'}") "," USER("{'text':'b'}"))));
    CHECK_TEXT("R1.1 contents[1].parts[0]",
               lint_of(t, G,
                       ASKS(USER("{'text':'a'}") "," SAID(
                           "{'functionCall':{'name':'ls'}}") "," USER("{'text':'b'}"))));
    /* Calls and results without ids belong together by their order. */
    CHECK_TEXT(
        "", lint_of(t, G,
                    ASKS(USER("{'text':'a'}") "," SAID(
                        "{'function_call':{'name':'ls'}},{'"
                        "functionCall':{'name':'ls'}}") "," USER("{'functionResponse':{'name':'ls',"
                                                                 "'response':{'x':1}}},"
                                                                 "{'function_response':{'name':'ls'"
                                                                 ",'response':{'error':'no'}}}"))));
    CHECK_TEXT(
        "R1.2 contents[2].parts[1]",
        lint_of(t, G,
                ASKS(USER("{'text':'a'}") "," SAID("{'functionCall':{'name':'ls'}}") "," USER(
                    "{'functionResponse':{'name':'ls','response':{'x':1}}},"
                    "{'functionResponse':{'name':'ls','response':{'x':1}}}"))));
    CHECK_TEXT(
        "R4.1 contents[1].parts[0]",
        lint_of(t, G,
                ASKS(USER("{'text':'a'}") "," SAID(
                    "{'text':'Hm.','thought':true},{'text':'b'}") "," USER("{'text':'c'}"))));
    CHECK_TEXT("R8.1 contents[0].parts[0]",
               lint_of(t, G, ASKS(USER("{'inlineData':{'mimeType':'image/bmp','data':'eHh4'}}"))));
    CHECK_TEXT(
        "R10.1 contents[1].parts[0]",
        lint_of(
            t, G,
            ASKS(
                USER("{'text':'a'}") "," SAID("{'functionCall':{'name':'ls','args':'x'}}") "," USER(
                    "{'functionResponse':{'name':'ls','response':{}}}"))));
}

TEST(gemini, names_begin_with_a_letter)
{
    const char *repairs = NULL;
    const char *body = body_of(
        t, G, OLD,
        PROMPT(SAYS("user", TEXT("Go.")) "," SAYS(
                   "assistant",
                   CALL("c1", "9a", "{}") "," CALL("c2", "-b", "{}") "," CALL("c3", "_9a", "{}")),
               ",'tools':[{'name':'9a','inputSchema':{}},{'name':'_9a','inputSchema':{}}]"),
        true, &repairs);

    /* What fits keeps its name. */
    CHECK_PART(body, quoted("'functionDeclarations':[{'name':'_9a_"));
    CHECK_PART(body, quoted("{'name':'_9a','parametersJsonSchema'"));
    CHECK_PART(body, quoted("'name':'_-b'"));
    CHECK_PART(repairs, "R9.1(9a) R9.1@1.1(-b) ");
    CHECK_TEXT("R1.1 contents[1].parts[0]; R5.1 contents[1]; R9.1 contents[1].parts[0]",
               lint_of(t, G,
                       "{'contents':[{'role':'user','parts':[{'text':'a'}]},{'role':'model','parts'"
                       ":[{'functionCall':{'id':'c','name':'9a'}}]}]}"));
}

/* Where a request says its model, as ours do not. */
TEST(gemini, lint_finds_calls_without_a_signature)
{
#define CALLED(model, sign)                                                                        \
    "{'model':'" model "','contents':[{'role':'user','parts':[{'text':'a'}]},{'role':'model',"     \
    "'parts':[{'functionCall':{'id':'c','name':'a'}" sign "},{'functionCall':{'id':'d','name':"    \
    "'a'}}]},{'role':'user','parts':[{'functionResponse':{'id':'c','name':'a','response':{"        \
    "'output':'x'}}},{'functionResponse':{'id':'d','name':'a','response':{'output':'y'}}}]}]}"
    CHECK_TEXT("R4.7 contents[1].parts[0]", lint_of(t, G, CALLED(MODEL, "")));
    CHECK_TEXT("", lint_of(t, G, CALLED(MODEL, ",'thoughtSignature':'Zw=='")));
    CHECK_TEXT("", lint_of(t, G, CALLED(OLD, "")));
}

TEST(gemini, what_is_no_request)
{
    check_no_request(t, G, "1", "request");
    check_no_request(t, G, "{}", "contents");
    check_no_request(t, G, "{'contents':[{'role':'user'}]}", "contents[0].parts");
    check_no_request(t, G, "{'contents':[{'role':'user','parts':[1]}]}", "contents[0].parts[0]");
    check_no_request(t, G, ASKS(USER("{'functionResponse':{'name':'ls','response':'x'}}")),
                     "contents[0].parts[0].response");
    check_no_request(t, G, "{'systemInstruction':{},'contents':[]}", "systemInstruction.parts");
}
