/* bedrock.c -- Amazon Bedrock Converse. [P5] [P11] [P13] [P14] */
#include "base/bytes.h"
#include "wire/adapter_kit.h"

#define MODEL "us.anthropic.claude-opus-4-8"
#define OTHER "meta.llama3-3-70b-instruct-v1:0"
#define B &vls_adapter_bedrock

/* ---- what models take ---- */

TEST(bedrock, marks_only_where_a_model_takes_them)
{
    const char *prompt =
        PROMPT(SAYS("user", TEXT("Hi")), ",'tools':[{'name':'ls','inputSchema':{}}],"
                                         "'system':[{'type':'text','text':'s'}]");
    static const struct {
        const char *model;
        int marks;
    } models[] = {{"anthropic.claude-sonnet-4-5-20250929-v1:0", 3},
                  {"eu.anthropic.claude-3-7-sonnet-20250219-v1:0", 3},
                  {"anthropic.claude-3-haiku-20240307-v1:0", 0},
                  {"amazon.nova-pro-v1:0", 2},
                  {OTHER, 0},
                  {"arn:aws:bedrock:us-east-1:1:inference-profile/x", 0}};

    for (size_t i = 0; i < VLS_COUNT(models); i++) {
        int marks = 0;
        test_context("%s", models[i].model);
        for (const char *at = body_of(t, B, models[i].model, prompt, false, NULL);
             (at = strstr(at, "cachePoint")) != NULL; at++)
            marks++;
        CHECK_INT(models[i].marks, marks);
        test_context_end();
    }
    CHECK(!strstr(body_of(t, B, MODEL, prompt, true, NULL), "cachePoint"));
}

TEST(bedrock, errors_in_words_where_there_is_no_status)
{
    const char *prompt =
        PROMPT(SAYS("user", TEXT("Go.")) "," SAYS("assistant", CALL("c1", "ls", "{}")) "," SAYS(
                   "tool", "{'type':'tool_result','callId':'c1','content':'no','isError':true}"),
               "");

    CHECK_PART(body_of(t, B, OTHER, prompt, true, NULL),
               quoted("'content':[{'text':'Error:'},{'text':'no'}]}"));
    CHECK_PART(body_of(t, B, "arn:aws:x", prompt, true, NULL), "\"status\":\"error\"");
}

/* ---- params ---- */

static const char *params_of(test *t, const char *model, const char *params, const char **repairs)
{
    return body_of(t, B, model,
                   test_format(PROMPT(SAYS("user", TEXT("Hi")),
                                      ",'tools':[{'name':'ls','inputSchema':{}}],'params':%s"),
                               params),
                   true, repairs);
}

TEST(bedrock, params_and_extras_have_their_places)
{
    const char *repairs = NULL;

    CHECK_PART(params_of(t, OTHER,
                         "{'maxTokens':9,'temperature':1.5,'stop':['x'],'extras':{'topP':0.5,"
                         "'top_k':5,'serviceTier':{'type':'default'},'anthropic_beta':['a']}}",
                         &repairs),
               quoted("{'inferenceConfig':{'maxTokens':9,'temperature':1,'topP':0.5,"
                      "'stopSequences':['x']},'serviceTier':{'type':'default'},"
                      "'additionalModelRequestFields':{'anthropic_beta':['a'],'top_k':5},"
                      "'toolConfig':"));
    CHECK_TEXT("R12.3(temperature)", repairs);
    CHECK(!strstr(params_of(t, MODEL, "{'temperature':0.5}", &repairs), "temperature"));
    CHECK_PART(params_of(t, "anthropic.claude-sonnet-4-5-v1:0", "{'temperature':0.5}", &repairs),
               "\"temperature\":0.5");
}

TEST(bedrock, no_tool_cannot_be_chosen)
{
    const char *repairs = NULL;

    CHECK(!strstr(params_of(t, MODEL, "{'toolChoice':'none'}", &repairs), "toolChoice"));
    CHECK_TEXT("R12.3(toolChoice)", repairs);
    CHECK_PART(params_of(t, MODEL, "{'toolChoice':'any'}", &repairs),
               "\"toolChoice\":{\"any\":{}}");
    CHECK(!strstr(params_of(t, MODEL, "{'toolChoice':{'name':'rm'}}", &repairs), "toolChoice"));
    CHECK_TEXT("R12.3(toolChoice)", repairs);
}

/* The rules of Claude are those of Claude here as well, and of nobody else. [P13] */
TEST(bedrock, thinking_of_claude)
{
#define OLD "eu.anthropic.claude-sonnet-4-5-20250929-v1:0"
#define THINKS(more) "{" more "'extras':{'thinking':{'type':'enabled','budget_tokens':2000}}}"
#define THOUGHT "{'type':'thinking','text':'Hm.','signature':'s'}"
    const char *loop =
        PROMPT(SAYS("user", TEXT("Q")) "," SAYS("assistant", CALL("c1", "ls", "{}")) "," SAYS(
                   "tool", RESULT("c1", "a")),
               ",'params':" THINKS(""));
    const char *cut = PROMPT(
        SAYS("user", TEXT("Q")) "," SAYS("assistant", THOUGHT) "," SAYS("user", TEXT("R")), "");
    const char *repairs = NULL;

    CHECK(!strstr(params_of(t, OLD, THINKS("'temperature':0.5,"), &repairs), "temperature"));
    CHECK_TEXT("R12.3(temperature)", repairs);
    CHECK(!strstr(params_of(t, OLD, THINKS("'toolChoice':'any',"), &repairs), "budget_tokens"));
    CHECK_TEXT("R12.3(extras)", repairs);
    CHECK_PART(params_of(t, OLD, THINKS("'maxTokens':1000,"), &repairs), "\"maxTokens\":3000");
    CHECK_TEXT("R12.3(maxTokens)", repairs);
    CHECK(!strstr(body_of(t, B, OLD, loop, true, &repairs), "budget_tokens"));
    CHECK_TEXT("R11.1(ls) R12.3(extras)", repairs);
    CHECK(!strstr(body_of(t, B, OLD, cut, true, &repairs), "reasoningContent"));
    CHECK_TEXT("R4.8@1.0", repairs);
    CHECK_PART(params_of(t, OTHER, THINKS("'temperature':0.5,'maxTokens':1000,"), &repairs),
               "\"temperature\":0.5");
    CHECK_TEXT("", repairs);
    CHECK_TEXT("R4.8 messages[1].content[0]; R12.3 ; R12.3 ; R12.3 ",
               lint_of(t, B,
                       "{'modelId':'" OLD "','inferenceConfig':{'maxTokens':9,'temperature':0.5},"
                       "'additionalModelRequestFields':{'thinking':{'type':'enabled',"
                       "'budget_tokens':2000}},'toolConfig':{'tools':[{'toolSpec':{'name':'ls',"
                       "'inputSchema':{'json':{'type':'object'}}}}],'toolChoice':{'any':{}}},"
                       "'messages':[{'role':'user','content':[{'text':'Q'}]},{'role':'assistant',"
                       "'content':[{'reasoningContent':{'reasoningText':{'text':'x','signature':"
                       "'s'}}}]},{'role':'user','content':[{'text':'R'}]}]}"));
#undef OLD
#undef THINKS
#undef THOUGHT
}

/* Models that know no status of results are told in words, and so is who builds. [R12.4] */
TEST(bedrock, errors_in_words)
{
    const char *prompt =
        PROMPT(SAYS("user", TEXT("Q")) "," SAYS("assistant", CALL("c1", "ls", "{}")) "," SAYS(
                   "tool", "{'type':'tool_result','callId':'c1','content':'bad','isError':true}"),
               "");
    const char *repairs = NULL;

    CHECK_PART(body_of(t, B, OTHER, prompt, true, &repairs),
               quoted("[{'text':'Error:'},{'text':'bad'}]"));
    CHECK_TEXT("R11.1(ls) R12.4@2.0(c1)", repairs);
    CHECK_PART(body_of(t, B, MODEL, prompt, true, &repairs), "\"status\":\"error\"");
    CHECK_TEXT("R11.1(ls)", repairs);
}

/* ---- files ---- */

#define DOCUMENT(name)                                                                             \
    "{'type':'document','blob':'" ID64                                                             \
    "','mediaType':'application/pdf','size':3,'filename':'" name "'}"

TEST(bedrock, names_of_documents_are_tidy_and_differ)
{
    const char *body = body_of(
        t, B, MODEL,
        PROMPT(SAYS("user", TEXT("x") "," DOCUMENT("a_b.pdf") "," DOCUMENT("a b.pdf") "," DOCUMENT(
                                "a/b.pdf") "," DOCUMENT("") "," DOCUMENT("\\u00fc  .")),
               ""),
        true, NULL);

    CHECK_PART(body, "\"name\":\"a-b-pdf\"");
    CHECK_PART(body, "\"name\":\"a b-pdf\"");
    CHECK_PART(body, "\"name\":\"a-b-pdf (2)\"");
    CHECK_PART(body, "\"name\":\"document\"");
    CHECK_PART(body, "\"name\":\"- -\"");
}

TEST(bedrock, the_newest_five_documents_go)
{
    const char *many = TEXT("x"), *repairs = NULL, *at;
    int count = 0;

    for (int i = 0; i < 7; i++)
        many = test_format("%s," DOCUMENT("a%d"), many, i);
    at = body_of(t, B, MODEL, test_format(PROMPT(SAYS("user", "%s"), ""), many), true, &repairs);
    while ((at = strstr(at, "{\"document\"")) != NULL) {
        at++;
        count++;
    }
    CHECK_INT(5, count);
    CHECK_TEXT("R8.4@0.1(a0) R8.4@0.2(a1)", repairs);
}

TEST(bedrock, files_of_its_own_place_only)
{
#define FILE(id, type)                                                                             \
    PROMPT(SAYS("user", TEXT("x") ",{'type':'image','blob':'" ID64 "'," type                       \
                                  "'size':3,'fileId':'" id "'}"),                                  \
           "")
    CHECK_PART(
        body_of(t, B, MODEL, FILE("s3://b/k.webp", ""), true, NULL),
        quoted("{'image':{'format':'webp','source':{'s3Location':{'uri':'s3://b/k.webp'}}}}"));
    CHECK_PART(body_of(t, B, MODEL, FILE("file_1", "'mediaType':'image/gif',"), true, NULL),
               quoted("{'image':{'format':'gif','source':{'bytes':'eHh4'}}}"));
#undef FILE
}

/* ---- answers ---- */

#define USAGE                                                                                      \
    "'usage':{'inputTokens':10,'outputTokens':7,'totalTokens':122,'cacheReadInputTokens':100,"     \
    "'cacheWriteInputTokens':5}"
#define WHOLE(content, why)                                                                        \
    "{'output':{'message':{'role':'assistant','content':[" content "]}},'stopReason':'" why "',"   \
    "'metrics':{'latencyMs':1}," USAGE "}"
#define DATA(name, value) "data: {'" name "':" value "}\n\n"
#define START DATA("messageStart", "{'role':'assistant'}")
#define DELTA(index, delta)                                                                        \
    DATA("contentBlockDelta", "{'contentBlockIndex':" index ",'delta':" delta ",'p':'abc'}")
#define BEGIN(index, start)                                                                        \
    DATA("contentBlockStart", "{'contentBlockIndex':" index ",'start':" start "}")
#define STOP(index) DATA("contentBlockStop", "{'contentBlockIndex':" index "}")
#define END(why) DATA("messageStop", "{'stopReason':'" why "'}") DATA("metadata", "{" USAGE "}")

TEST(bedrock, answers)
{
    check_answer(t, B, WHOLE("{'text':'Hello'}", "end_turn"),
                 START DELTA("0", "{'text':'Hel'}") DELTA("0", "{'text':'lo'}") STOP("0")
                     END("end_turn"),
                 "{'blocks':[{'text':'Hello','type':'text'}],'stop':'end',"
                 "'usage':[115,7,100,5,null]}");
}

#define THOUGHT_AND_CALLED                                                                         \
    START DELTA("0", "{'reasoningContent':{'text':'Hm.'}}")                                        \
        DELTA("0", "{'reasoningContent':{'signature':'c2ln'}}") STOP("0")                          \
            DELTA("1", "{'reasoningContent':{'redactedContent':'b3Bh'}}") STOP("1")                \
                BEGIN("2", "{'toolUse':{'toolUseId':'t1','name':'ls'}}")                           \
                    DELTA("2", "{'toolUse':{'input':'{\\\"path'}}")                                \
                        DELTA("2", "{'toolUse':{'input':'\\\":\\\"/\\\"}'}}") STOP("2")            \
                            BEGIN("3", "{'toolUse':{'toolUseId':'t2','name':'now'}}") STOP("3")    \
                                END("tool_use")

TEST(bedrock, answers_with_thinking_and_calls)
{
    check_answer(t, B,
                 WHOLE("{'reasoningContent':{'reasoningText':{'text':'Hm.','signature':'c2ln'}}},"
                       "{'reasoningContent':{'redactedContent':'b3Bh'}},"
                       "{'toolUse':{'toolUseId':'t1','name':'ls','input':{'path':'/'}}},"
                       "{'toolUse':{'toolUseId':'t2','name':'now','input':{}}}",
                       "tool_use"),
                 THOUGHT_AND_CALLED,
                 "{'blocks':[{'meta':{'vendor':'anthropic'},'signature':'c2ln','text':'Hm.',"
                 "'type':'thinking'},{'meta':{'anthropic':{'platform':'bedrock'}},'redacted':true,"
                 "'text':'b3Bh','type':'thinking'},{'args':{'path':'/'},'callId':'t1','name':'ls',"
                 "'type':'tool_use'},{'args':{},'callId':'t2','name':'now','type':'tool_use'}],"
                 "'stop':'calls','usage':[115,7,100,5,null]}");
}

/* What came goes back word for word; to Anthropic itself without opaque thinking. [P11] */
TEST(bedrock, answers_go_back_as_they_came)
{
    const char *said = stream_of(t, B, THOUGHT_AND_CALLED, 0), *repairs = NULL;
    const char *blocks = strstr(said, "["), *end = strstr(said, ",\"stop\":");
    const char *prompt = test_format(
        "{\"version\":1,\"messages\":[{\"role\":\"user\",\"blocks\":[{\"type\":\"text\","
        "\"text\":\"Go.\"}]},{\"role\":\"assistant\",\"blocks\":%.*s}]}",
        (int)(end - blocks), blocks);

    CHECK_PART(body_of(t, B, MODEL, prompt, true, NULL),
               quoted("'content':[{'reasoningContent':{'reasoningText':{'text':'Hm.','signature':"
                      "'c2ln'}}},{'reasoningContent':{'redactedContent':'b3Bh'}},{'toolUse':"
                      "{'toolUseId':'t1','name':'ls','input':{'path':'/'}}},"));
    CHECK_PART(body_of(t, &vls_adapter_anthropic, "claude-opus-5", prompt, true, &repairs),
               quoted("'content':[{'type':'thinking','thinking':'Hm.','signature':'c2ln'},"
                      "{'type':'tool_use','id':'t1',"));
    CHECK_PART(repairs, "R4.1@1.1");
}

/* The frames of the real stream have the name of the event beside its value. */
TEST(bedrock, events_have_their_name_beside_or_within)
{
    CHECK_TEXT(
        quoted("{'blocks':[{'text':'Hi','type':'text'}],'stop':'limit',"
               "'usage':[1,null,null,null,null]}"),
        stream_of(t, B,
                  "event: messageStart\ndata: {'role':'assistant','p':'a'}\n\n"
                  "event: contentBlockDelta\ndata: {'contentBlockIndex':0,'delta':{'text':"
                  "'Hi'}}\n\nevent: messageStop\ndata: {'stopReason':'max_tokens','p':'x'}\n\n"
                  "event: metadata\ndata: {'usage':{'inputTokens':1},'p':'x'}\n\n",
                  0));
}

/* ---- frames ---- */

/* CRC-32, bit by bit. */
static uint32_t slow_crc(const char *bytes, size_t len)
{
    uint32_t crc = UINT32_MAX;

    for (size_t i = 0; i < len; i++) {
        crc ^= (uint8_t)bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
    }
    return ~crc;
}

static void add_header(vls_buf *out, const char *name, const char *text)
{
    vls_buf_add_byte(out, (char)strlen(name));
    vls_buf_add_text(out, name);
    vls_buf_add_byte(out, 7);
    vls_bytes_add_u16(out, (uint16_t)strlen(text));
    vls_buf_add_text(out, text);
}

static void add_u32(vls_buf *out, uint32_t value)
{
    char bytes[4];

    vls_bytes_store_u32(bytes, value);
    vls_buf_add(out, vls_str(bytes, sizeof(bytes)));
}

static void add_frame(test *t, vls_buf *out, const char *header, const char *name, const char *data)
{
    VLS_AUTO(buf) vls_buf frame, headers;
    const char *payload = quoted(data);

    vls_buf_init(&frame, t->env, 4096);
    vls_buf_init(&headers, t->env, 4096);
    add_header(&headers, header, name);
    vls_buf_add(&headers, VLS_STR("\004flag\000\003num\004\001\002\003\004"));
    add_header(&headers, ":message-type", "event");
    add_u32(&frame, (uint32_t)(16 + headers.len + strlen(payload)));
    add_u32(&frame, (uint32_t)headers.len);
    add_u32(&frame, slow_crc(frame.ptr, frame.len));
    vls_buf_add(&frame, vls_buf_str(&headers));
    vls_buf_add_text(&frame, payload);
    add_u32(&frame, slow_crc(frame.ptr, frame.len));
    CHECK_OK(vls_buf_check(&frame, &t->err));
    vls_buf_add(out, vls_buf_str(&frame));
}

static void add_frames(test *t, vls_buf *out)
{
    add_frame(t, out, ":event-type", "messageStart", "{'role':'assistant','p':'abc'}");
    add_frame(t, out, ":event-type", "contentBlockDelta",
              "{'contentBlockIndex':0,'delta':{'text':'Hi'}}");
    add_frame(t, out, ":event-type", "contentBlockStop", "{'contentBlockIndex':0}");
    add_frame(t, out, ":event-type", "messageStop", "{'stopReason':'end_turn'}");
    add_frame(t, out, ":event-type", "metadata", "{'usage':{'inputTokens':1}}");
}

/* Fed in pieces of so many bytes, what has been said by then. */
static int feed_frames(test *t, vls_stream *stream, valise_str all, size_t piece)
{
    int rc = 0;

    for (size_t at = 0; at < all.len && rc == 0; at += piece)
        rc = vls_stream_feed(stream, vls_str(all.ptr + at, VLS_MIN(piece, all.len - at)), &t->err);
    return rc;
}

TEST(bedrock, a_stream_comes_in_frames)
{
    VLS_AUTO(buf) vls_buf all;

    vls_buf_init(&all, t->env, 1 << 16);
    add_frames(t, &all);
    for (size_t piece = 1; piece <= all.len; piece++) {
        VLS_AUTO(stream) vls_stream *stream = NULL;
        vls_answer answer = {.stop = 0};
        vls_arena arena;
        vls_arena_init(&arena, t->env, (size_t)1 << 20);
        CHECK_OK(vls_stream_new(&stream, t->env, B, NULL, NULL, &t->err));
        CHECK_OK(feed_frames(t, stream, vls_buf_str(&all), piece));
        CHECK_OK(vls_stream_finish(stream, &t->err));
        CHECK_OK(vls_stream_answer(&answer, &arena, stream, &t->err));
        CHECK(!answer.partial && answer.stop == VLS_STOP_END && answer.usage.input == 1);
        CHECK_INT(1, answer.blocks.len);
        vls_arena_release(&arena);
    }
}

/* Whichever byte is another one: it is told, at the latest when the stream does not end. */
TEST(bedrock, a_damaged_frame_is_told)
{
    VLS_AUTO(buf) vls_buf all;

    vls_buf_init(&all, t->env, 1 << 16);
    add_frames(t, &all);
    for (size_t at = 1; at < all.len; at++) {
        VLS_AUTO(stream) vls_stream *stream = NULL;
        int rc;
        all.ptr[at] ^= 0x10;
        CHECK_OK(vls_stream_new(&stream, t->env, B, NULL, NULL, &t->err));
        rc = vls_stream_feed(stream, vls_buf_str(&all), &t->err);
        CHECK_MSG(rc == VALISE_E_INVALID, "byte %zu: %d", at, rc);
        all.ptr[at] ^= 0x10;
    }
}

TEST(bedrock, hostile_frames)
{
    static const struct {
        uint32_t len, headers;
        int rc;
    } preludes[] = {{15, 0, VALISE_E_INVALID},
                    {16, 1, VALISE_E_INVALID},
                    {100, UINT32_MAX, VALISE_E_LIMIT},
                    {0xFFFFFF, 0, 0},
                    {0x2000000, 0, VALISE_E_LIMIT}};

    for (size_t i = 0; i < VLS_COUNT(preludes); i++) {
        VLS_AUTO(stream) vls_stream *stream = NULL;
        VLS_AUTO(buf) vls_buf frame;
        vls_buf_init(&frame, t->env, 64);
        add_u32(&frame, preludes[i].len);
        add_u32(&frame, preludes[i].headers);
        add_u32(&frame, slow_crc(frame.ptr, frame.len));
        CHECK_OK(vls_stream_new(&stream, t->env, B, NULL, NULL, &t->err));
        /* A first byte that is not 0 is no frame, and no line either. */
        CHECK_RC(i == 4 ? 0 : preludes[i].rc,
                 vls_stream_feed(stream, vls_buf_str(&frame), &t->err));
        t->err = (valise_error)VALISE_ERROR_INIT;
    }
}

TEST(bedrock, failures_in_frames)
{
    VLS_AUTO(stream) vls_stream *stream = NULL;
    VLS_AUTO(buf) vls_buf all;

    vls_buf_init(&all, t->env, 1 << 16);
    add_frame(t, &all, ":exception-type", "throttlingException", "{'message':'slow'}");
    CHECK_OK(vls_stream_new(&stream, t->env, B, NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_REMOTE, vls_stream_feed(stream, vls_buf_str(&all), &t->err));
    CHECK_PART(t->err.message, "slow (throttlingException)");
    CHECK(vls_stream_is_passing(stream));
}

TEST(bedrock, failures_in_a_stream)
{
    VLS_AUTO(stream) vls_stream *stream = NULL;

    CHECK_OK(vls_stream_new(&stream, t->env, B, NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_REMOTE,
             vls_stream_feed(
                 stream, valise_str_of(quoted(DATA("throttlingException", "{'message':'slow'}"))),
                 &t->err));
    CHECK_PART(t->err.message, "slow (throttlingException)");
    CHECK(vls_stream_is_passing(stream));
}

TEST(bedrock, hostile_events)
{
    static const char *const events[] = {
        "data: []\n\n",
        DATA("contentBlockDelta", "{'delta':{'text':'x'}}"),
        DATA("contentBlockDelta", "{'contentBlockIndex':-1,'delta':{'text':'x'}}"),
        DELTA("7", "{'toolUse':{'input':'{'}}"),
    };

    for (size_t i = 0; i < VLS_COUNT(events); i++) {
        VLS_AUTO(stream) vls_stream *stream = NULL;
        CHECK_OK(vls_stream_new(&stream, t->env, B, NULL, NULL, &t->err));
        CHECK_RC(VALISE_E_INVALID,
                 vls_stream_feed(stream, valise_str_of(quoted(events[i])), &t->err));
        t->err = (valise_error)VALISE_ERROR_INIT;
    }
}

TEST(bedrock, stops)
{
    static const char *const stops[][2] = {{"max_tokens", "limit"},
                                           {"stop_sequence", "sequence"},
                                           {"guardrail_intervened", "refused"},
                                           {"content_filtered", "refused"},
                                           {"malformed_tool_use", "other"},
                                           {"end_turn", "end"}};

    for (size_t i = 0; i < VLS_COUNT(stops); i++)
        CHECK_PART(answer_of(t, B, test_format(WHOLE("{'text':'x'}", "%s"), stops[i][0])),
                   test_format("\"stop\":\"%s\"", stops[i][1]));
}

TEST(bedrock, what_has_no_block_is_told)
{
    CHECK_PART(answer_of(t, B, WHOLE("{'image':{}},{'citationsContent':{}}", "end_turn")),
               quoted("'dropped':'image','dropped':'citationsContent'"));
}

TEST(bedrock, what_is_no_answer)
{
    check_no_answer(t, B, VALISE_E_INVALID, "{'output':{}}", "this is not an answer of Bedrock");
    check_no_answer(t, B, VALISE_E_INVALID, "7", "this is not an answer of Bedrock");
}

TEST(bedrock, memory)
{
    check_memory(t, B,
                 WHOLE("{'reasoningContent':{'reasoningText':{'text':'Hm.','signature':'s'}}},"
                       "{'reasoningContent':{'redactedContent':'b3Bh'}},{'video':{}},"
                       "{'toolUse':{'toolUseId':'t1','name':'ls','input':{'path':'/'}}}",
                       "tool_use"));
}

TEST(bedrock, requests_are_read_back)
{
    CHECK_TEXT(
        quoted(
            "{'messages':[{'blocks':[{'text':'Hi','type':'text','x-place':'messages[0].content[0]'"
            "},{'blob':'0000000000000000000000000000000000000000000000000000000000000000',"
            "'filename':'a','mediaType':'application/pdf','size':4,'type':'document','x-data':4,"
            "'x-place':'messages[0].content[2]'}],'role':'user','x-place':'messages[0]'},"
            "{'blocks':[{'redacted':true,'text':'b3Bh','type':'thinking','x-place':"
            "'messages[1].content[0]'},{'args':{'a':1},'callId':'c','name':'ls','type':'tool_use',"
            "'x-place':'messages[1].content[1]'}],'role':'assistant','x-place':'messages[1]'},"
            "{'blocks':[{'callId':'c','content':[{'text':'no','type':'text'}],'isError':true,"
            "'type':'tool_result','x-place':'messages[2].content[0]'}],'role':'user','x-place':"
            "'messages[2]'}],'params':{'maxTokens':9},'system':[{'text':'s','type':'text',"
            "'x-place':'system[0]'}],'tools':[{'inputSchema':{'type':'object'},'name':'ls'}],"
            "'version':1}"),
        read_of(
            t, B,
            "{'inferenceConfig':{'maxTokens':9},'toolConfig':{'tools':[{'toolSpec':{'name':'ls',"
            "'inputSchema':{'json':{'type':'object'}}}}]},'system':[{'text':'s'}],'messages':["
            "{'role':'user','content':[{'text':'Hi'},{'cachePoint':{'type':'default'}},"
            "{'document':{'format':'pdf','name':'a','source':{'bytes':'eHh4eA=='}}}]},{'role':"
            "'assistant','content':[{'reasoningContent':{'redactedContent':'b3Bh'}},{'toolUse':"
            "{'toolUseId':'c','name':'ls','input':{'a':1}}}]},{'role':'user','content':["
            "{'toolResult':{'toolUseId':'c','status':'error','content':[{'text':'no'}]}}]}]}"));
}

/* ---- lint ---- */

#define ASKS(messages) "{'modelId':'" MODEL "','messages':[" messages "]}"
#define USER(content) "{'role':'user','content':[" content "]}"
#define SAID(content) "{'role':'assistant','content':[" content "]}"

TEST(bedrock, lint_finds_what_is_refused)
{
    CHECK_TEXT("", lint_of(t, B, ASKS(USER("{'text':'Hi'},{'cachePoint':{'type':'default'}}"))));
    CHECK_TEXT("R3.1 messages[0].content[1]",
               lint_of(t, B, ASKS(USER("{'text':'Hi'},{'text':' '}"))));
    CHECK_TEXT("R2.2 messages[0]",
               lint_of(t, B, ASKS(SAID("{'text':'a'}") "," USER("{'text':'b'}"))));
    CHECK_TEXT("R2.1 messages[1]",
               lint_of(t, B, ASKS(USER("{'text':'a'}") "," USER("{'text':'b'}"))));
    CHECK_TEXT("R5.1 messages[1]",
               lint_of(t, B, ASKS(USER("{'text':'a'}") "," SAID("{'text':'b'}"))));
    CHECK_TEXT(
        "R8.5 messages[0]",
        lint_of(t, B,
                ASKS(USER("{'document':{'format':'pdf','name':'a','source':{'bytes':''}}}"))));
    CHECK_TEXT(
        "R8.1 messages[0].content[1]",
        lint_of(t, B,
                ASKS(USER("{'text':'x'},{'image':{'format':'bmp','source':{'bytes':'eHh4'}}}"))));
    CHECK_TEXT(
        "R1.1 messages[1].content[0]; R11.1 ",
        lint_of(
            t, B,
            ASKS(USER("{'text':'a'}") "," SAID(
                "{'toolUse':{'toolUseId':'a','name':'ls','input':{}}}") "," USER("{'text':'b'}"))));
    CHECK_TEXT(
        "", lint_of(t, B,
                    "{'toolConfig':{'tools':[{'toolSpec':{'name':'ls','inputSchema':{'json':{}}}},"
                    "{'cachePoint':{'type':'default'}}]},'system':[{'text':'s'},{'cachePoint':"
                    "{'type':'default'}}],'messages':[" USER("{'text':'a'}") "," SAID(
                        "{'reasoningContent':{'reasoningText':{'text':'x',"
                        "'signature':'s'}}},"
                        "{'toolUse':{'toolUseId':'a','name':'ls','input':{"
                        "}}}") "," USER("{'toolResult':{'toolUseId':'a','"
                                        "content':[{'json':{}},{'image':{'"
                                        "format':"
                                        "'png','source':{'s3Location':{'"
                                        "uri':'s3://a'}}}}]}}") "]}"));
}

TEST(bedrock, lint_counts_marks)
{
#define MARK "{'cachePoint':{'type':'default'}}"
#define MARKS(last)                                                                                \
    "{'system':[{'text':'s'}," MARK "],'messages':[{'role':'user','content':[{'text':'a'}," MARK   \
    ",{'text':'b'}," MARK ",{'text':'c'}," MARK ",{'text':'d'}" last "]}]}"
    CHECK_TEXT("", lint_of(t, B, MARKS("")));
    CHECK_TEXT("R13.1 messages[0].content[7]", lint_of(t, B, MARKS("," MARK)));
}

TEST(bedrock, what_is_no_request)
{
    check_no_request(t, B, "1", "request");
    check_no_request(t, B, "{}", "messages");
    check_no_request(t, B, "{'messages':[{'role':'user','content':'x'}]}", "messages[0].content");
    check_no_request(t, B, ASKS(USER("1")), "messages[0].content[0]");
    check_no_request(t, B, ASKS(USER("{'toolResult':{'toolUseId':'a'}}")),
                     "messages[0].content[0].content");
    check_no_request(t, B, "{'system':'x','messages':[]}", "system");
}
