/* stream.c -- answers that come in pieces, in any cut. [P11] */
#include <time.h>

#include "chat/blocks.h"
#include "harness/fault.h"
#include "harness/test.h"
#include "wire/answer.h"
#include "wire/toy.h"

/* What pieces said, and what the answer is. */
typedef struct heard {
    vls_buf pieces; /* "0t:text " */
    vls_arena arena;
    vls_answer answer;
    int rc; /* of feeding */
    valise_error err;
} heard;

static int note(void *arg, const vls_piece *piece, valise_error *err)
{
    vls_buf *out = arg;

    (void)err;
    vls_buf_printf(out, "%zu%c:%.*s", piece->block, "th  c"[piece->kind],
                   VALISE_STR_ARG(piece->name));
    vls_buf_printf(out, "%s%.*s ", piece->name.len ? "/" : "", VALISE_STR_ARG(piece->text));
    return 0;
}

static void release(void *arg)
{
    heard *h = arg;

    vls_buf_release(&h->pieces);
    vls_arena_release(&h->arena);
}

/* turn:add takes everything that comes of a stream. */
static void check_blocks(test *t, vls_json blocks)
{
    vls_arena arena;
    vls_buf text;
    vls_blocks read;

    vls_arena_init(&arena, t->env, (size_t)1 << 30);
    vls_buf_init(&text, t->env, (size_t)1 << 28);
    CHECK_OK(vls_json_write(&text, blocks, &t->err));
    CHECK_OK(vls_blocks_read(&read, &arena, vls_buf_str(&text), &t->err));
    CHECK_INT(0, read.unknown);
    vls_buf_release(&text);
    vls_arena_release(&arena);
}

static heard *hear(test *t, const vls_adapter *adapter, valise_str bytes, size_t cut)
{
    heard *h = test_alloc(sizeof(*h));
    vls_stream *stream = NULL;

    vls_buf_init(&h->pieces, t->env, (size_t)1 << 20);
    vls_arena_init(&h->arena, t->env, (size_t)1 << 30);
    test_defer(release, h);
    CHECK_OK(vls_stream_new(&stream, t->env, adapter, note, &h->pieces, &t->err));
    for (size_t at = 0; h->rc == 0 && at < bytes.len; at += cut)
        h->rc = vls_stream_feed(stream, vls_str_head(vls_str_from(bytes, at), cut), &h->err);
    if (h->rc == 0)
        h->rc = vls_stream_finish(stream, &h->err);
    CHECK_OK(vls_stream_answer(&h->answer, &h->arena, stream, &t->err));
    vls_stream_free(stream);
    check_blocks(t, h->answer.blocks);
    return h;
}

static const char *blocks_of(heard *h)
{
    vls_buf text;

    vls_buf_init_in(&text, &h->arena, (size_t)1 << 28);
    CHECK(vls_json_write(&text, h->answer.blocks, NULL) == 0);
    return test_format("%.*s", VALISE_STR_ARG(vls_buf_str(&text)));
}

static void check_said(test *t, const char *expected, const char *events)
{
    size_t len = strlen(events);

    for (size_t cut = 1; cut <= len; cut = cut < 40 ? cut + 1 : cut * 2)
        CHECK_TEXT(expected, blocks_of(hear(t, &toy, valise_str_of(events), cut)));
}

#define EVENT(json) "data: " json "\n\n"

TEST(stream, is_the_same_in_any_cut)
{
    const char *events =
        "\xEF\xBB\xBF: hi\r\n" //
        "event: x\r\ndata: {\"do\":\"head\",\"id\":\"m1\",\r\ndata: "
        "\"model\":\"toy-1\"}\r\n\r\n" EVENT("{\"do\":\"think\",\"at\":0,\"text\":\"Hm\"}")
            EVENT("{\"do\":\"think\",\"at\":0,\"text\":\"m.\"}")
                EVENT("{\"do\":\"sign\",\"at\":0,\"text\":\"ab\"}")
                    EVENT("{\"do\":\"sign\",\"at\":0,\"text\":\"cd\"}")
                        EVENT("{\"do\":\"text\",\"at\":1,\"text\":\"H\\u00e4\"}")
                            EVENT("{\"do\":\"call\",\"at\":2,\"id\":\"c1\",\"name\":\"ls\"}")
                                EVENT("{\"do\":\"args\",\"at\":2,\"text\":\"{\\\"b\\\": 1,\"}")
                                    EVENT("{\"do\":\"text\",\"at\":1,\"text\":\"llo\"}") EVENT(
                                        "{\"do\":\"args\",\"at\":2,\"text\":\"\\\"a\\\":2}\"}")
                                        EVENT("{\"do\":\"usage\",\"input\":7,\"output\":3}")
                                            EVENT("{\"do\":\"stop\",\"why\":\"end\",\"text\":\"end_"
                                                  "turn\"}") "data: [DONE]\n\n" EVENT("no JSON");
    const char *blocks =
        "[{\"meta\":{\"vendor\":\"toys\"},\"signature\":\"abcd\",\"text\":\"Hmm.\",\"type\":"
        "\"thinking\"},{\"text\":\"H\xC3\xA4llo\",\"type\":\"text\"},{\"args\":{\"a\":2,\"b\":1},"
        "\"callId\":\"c1\",\"meta\":{\"toys\":{\"raw\":\"{\\\"b\\\": 1,\\\"a\\\":2}\"}},\"name\":"
        "\"ls\",\"type\":\"tool_use\"}]";
    heard *h = hear(t, &toy, valise_str_of(events), 1);

    check_said(t, blocks, events);
    CHECK_INT(0, h->rc);
    CHECK_TEXT("0h:Hm 0h:m. 1t:H\xC3\xA4 2c:ls/ 2c:ls/{\"b\": 1, 1t:llo 2c:ls/\"a\":2} ",
               test_format("%.*s", VALISE_STR_ARG(vls_buf_str(&h->pieces))));
    CHECK(!h->answer.partial);
    CHECK_STR(VLS_STR("m1"), h->answer.id);
    CHECK_STR(VLS_STR("toy-1"), h->answer.model);
    CHECK_STR(VLS_STR("end_turn"), h->answer.stop_text);
    CHECK_INT(VLS_STOP_CALLS, h->answer.stop); /* a call can be run, whatever the word is */
    CHECK_INT(7, h->answer.usage.input);
    CHECK_INT(VALISE_NONE, h->answer.usage.cache_read);
}

TEST(stream, at_each_byte_there_is_an_answer)
{
    const char *events = EVENT("{\"do\":\"think\",\"at\":0,\"text\":\"Hm\"}")
        EVENT("{\"do\":\"sign\",\"at\":0,\"text\":\"ab\"}")
            EVENT("{\"do\":\"call\",\"at\":1,\"name\":\"ls\"}")
                EVENT("{\"do\":\"args\",\"at\":1,\"text\":\"{\\\"b\\\"\"}")
                    EVENT("{\"do\":\"args\",\"at\":1,\"text\":\":[1]}\"}")
                        EVENT("{\"do\":\"end\"}");

    for (size_t len = 0; len <= strlen(events); len++) {
        heard *h = hear(t, &toy, vls_str(events, len), 1000); /* turn:add takes it */
        CHECK_INT(len < strlen(events) - 2, h->answer.partial);
    }
}

/* What was cut is kept, and says so. */
TEST(stream, a_call_that_was_cut_cannot_be_run)
{
    heard *h = hear(t, &toy,
                    VLS_STR(EVENT("{\"do\":\"call\",\"at\":1,\"id\":\"c1\",\"name\":\"rm\"}") EVENT(
                        "{\"do\":\"args\",\"at\":1,\"text\":\"{\\\"path\\\":\\\"/\"}")),
                    1000);

    CHECK(h->answer.partial);
    CHECK_INT(VLS_STOP_NONE, h->answer.stop);
    CHECK_TEXT("[{\"args\":{},\"callId\":\"c1\",\"name\":\"rm\",\"partial\":true,\"rawArgs\":"
               "\"{\\\"path\\\":\\\"/\",\"type\":\"tool_use\"}]",
               blocks_of(h));
    /* Before the first piece of them nobody knows what they are. */
    h = hear(t, &toy, VLS_STR(EVENT("{\"do\":\"call\",\"at\":1,\"id\":\"c1\",\"name\":\"rm\"}")),
             99);
    CHECK_TEXT("[{\"args\":{},\"callId\":\"c1\",\"name\":\"rm\",\"partial\":true,\"rawArgs\":\"\","
               "\"type\":\"tool_use\"}]",
               blocks_of(h));
    /* The limit of tokens cuts too, though the stream comes to its end. */
    h = hear(t, &toy,
             VLS_STR(EVENT("{\"do\":\"call\",\"at\":1,\"id\":\"c1\",\"name\":\"rm\"}")
                         EVENT("{\"do\":\"args\",\"at\":1,\"text\":\"{\"}")
                             EVENT("{\"do\":\"stop\",\"why\":\"limit\"}")),
             99);
    CHECK(!h->answer.partial);
    CHECK_INT(VLS_STOP_LIMIT, h->answer.stop);
    CHECK(strstr(blocks_of(h), "\"partial\":true,\"rawArgs\":\"{\""));
    /* One that had come as a whole is as it is. */
    h = hear(t, &toy,
             VLS_STR(EVENT("{\"do\":\"call\",\"at\":1,\"id\":\"c1\",\"name\":\"rm\"}")
                         EVENT("{\"do\":\"args\",\"at\":1,\"text\":\"{}\"}")),
             99);
    CHECK(h->answer.partial);
    CHECK_TEXT("[{\"args\":{},\"callId\":\"c1\",\"name\":\"rm\",\"type\":\"tool_use\"}]",
               blocks_of(h));
}

TEST(stream, thinking_that_was_cut_has_no_signature_and_says_so)
{
    const char *think = EVENT("{\"do\":\"think\",\"at\":0,\"text\":\"Hm\"}");
    heard *h = hear(t, &toy, valise_str_of(think), 9);

    CHECK_TEXT("[{\"partial\":true,\"text\":\"Hm\",\"type\":\"thinking\"}]", blocks_of(h));
    check_said(t, "[{\"text\":\"Hm\",\"type\":\"thinking\"}]",
               test_format("%s%s", think, EVENT("{\"do\":\"end\"}")));
}

TEST(stream, redacted_thinking_is_in_no_piece)
{
    heard *h = hear(t, &toy,
                    VLS_STR(EVENT("{\"do\":\"redact\",\"at\":0}") EVENT(
                        "{\"do\":\"think\",\"at\":0,\"text\":\"EqQB\"}") EVENT("{\"do\":\"end\"}")),
                    7);

    CHECK_INT(0, h->pieces.len);
    CHECK_TEXT("[{\"redacted\":true,\"text\":\"EqQB\",\"type\":\"thinking\"}]", blocks_of(h));
}

TEST(stream, an_answer_of_nothing_is_one_empty_text)
{
    check_said(t, "[{\"text\":\"\",\"type\":\"text\"}]", EVENT("{\"do\":\"end\"}"));
    check_said(t, "[{\"text\":\"\",\"type\":\"text\"}]",
               EVENT("{\"do\":\"text\",\"at\":0,\"text\":\"\"}") EVENT("{\"do\":\"end\"}"));
    /* Beside something else what is empty goes, but not what has to go back. */
    check_said(t, "[{\"args\":{},\"callId\":\"c\",\"name\":\"f\",\"type\":\"tool_use\"}]",
               EVENT("{\"do\":\"text\",\"at\":0,\"text\":\"\"}")
                   EVENT("{\"do\":\"call\",\"at\":0,\"id\":\"c\",\"name\":\"f\"}")
                       EVENT("{\"do\":\"end\"}"));
    check_said(t, "[{\"meta\":{\"toys\":{\"sig\":\"x\"}},\"text\":\"\",\"type\":\"text\"}]",
               EVENT("{\"do\":\"meta\",\"at\":0,\"key\":\"sig\",\"value\":\"x\"}")
                   EVENT("{\"do\":\"end\"}"));
}

TEST(stream, ids_of_calls_are_there_and_differ)
{
    heard *h = hear(
        t, &toy,
        valise_str_of(test_format(
            "%s%s%s%s%s%s", EVENT("{\"do\":\"call\",\"at\":0,\"id\":\"same\",\"name\":\"a\"}"),
            EVENT("{\"do\":\"call\",\"at\":1,\"id\":\"same\",\"name\":\"b\"}"),
            EVENT("{\"do\":\"call\",\"at\":2,\"name\":\"c\"}"),
            EVENT("{\"do\":\"call\",\"at\":3,\"id\":\"x\"}"), /* nobody can run it */
            test_format("data: {\"do\":\"call\",\"at\":4,\"id\":\"%0600d\",\"name\":\"d\"}\n\n", 1),
            EVENT("{\"do\":\"end\"}"))),
        50);
    vls_blocks read;
    const char *text = blocks_of(h);

    CHECK_OK(vls_blocks_read(&read, &h->arena, valise_str_of(text), &t->err));
    CHECK_INT(4, read.calls.len);
    CHECK_STR(VLS_STR("same"), read.calls.ptr[0]);
    for (size_t i = 1; i < 4; i++)
        CHECK(vls_str_starts(read.calls.ptr[i], VLS_STR("call_")));
    CHECK_INT(1, h->answer.dropped.count);
    CHECK_STR(VLS_STR("tool_use without a name"), *(const valise_str *)h->answer.dropped.items);
}

TEST(stream, blocks_by_index_and_without)
{
    check_said(t,
               "[{\"text\":\"ac\",\"type\":\"text\"},{\"text\":\"b\",\"type\":\"thinking\"},"
               "{\"text\":\"d\",\"type\":\"text\"}]",
               EVENT("{\"do\":\"text\",\"at\":2147483648,\"text\":\"a\"}")
                   EVENT("{\"do\":\"think\",\"at\":2147483648,\"text\":\"b\"}")
                       EVENT("{\"do\":\"text\",\"at\":2147483648,\"text\":\"c\"}")
                           EVENT("{\"do\":\"text\",\"at\":-2000,\"text\":\"d\"}")
                               EVENT("{\"do\":\"end\"}"));
    check_said(t,
               "[{\"text\":\"ab\",\"type\":\"text\"},{\"text\":\"c\",\"type\":\"text\"},"
               "{\"text\":\"d\",\"type\":\"thinking\"},{\"text\":\"e\",\"type\":\"text\"}]",
               EVENT("{\"do\":\"text\",\"at\":-1,\"text\":\"a\"}")
                   EVENT("{\"do\":\"text\",\"at\":-1,\"text\":\"b\"}")
                       EVENT("{\"do\":\"text\",\"at\":-2,\"text\":\"c\"}")
                           EVENT("{\"do\":\"think\",\"at\":-1,\"text\":\"d\"}")
                               EVENT("{\"do\":\"text\",\"at\":-1,\"text\":\"e\"}")
                                   EVENT("{\"do\":\"end\"}"));
}

TEST(stream, halves_of_characters_are_joined)
{
    check_said(t,
               "[{\"text\":\"a\xF0\x9F\x98\x80"
               "b\",\"type\":\"text\"}]",
               EVENT("{\"do\":\"text\",\"at\":0,\"text\":\"a\\ud83d\"}")
                   EVENT("{\"do\":\"text\",\"at\":0,\"text\":\"\\uDE00b\"}")
                       EVENT("{\"do\":\"end\"}"));
    /* What is alone is none; and bytes that are no UTF-8 neither. */
    check_said(t,
               "[{\"text\":\"a\xEF\xBF\xBD"
               "b\xEF\xBF\xBD"
               "c\xEF\xBF\xBD\",\"type\":\"text\"}]",
               EVENT("{\"do\":\"text\",\"at\":0,\"text\":\"a\\ud83d\"}")
                   EVENT("{\"do\":\"text\",\"at\":0,\"text\":\"b\\udc00c\\ud83d\"}")
                       EVENT("{\"do\":\"end\"}"));
    check_said(t,
               "[{\"text\":\"\xEF\xBF\xBD\xEF\xBF\xBD"
               "b\",\"type\":\"text\"}]",
               EVENT("{\"do\":\"text\",\"at\":0,\"text\":\"\xC3\xFF"
                     "b\"}") EVENT("{\"do\":\"end\"}"));
    /* Nobody's characters are taken for halves. */
    check_said(t, "[{\"text\":\"\xF4\x8F\xA0\x80\xEF\xBF\xBD\xF4\x8F\xB0\x80\",\"type\":\"text\"}]",
               EVENT("{\"do\":\"text\",\"at\":0,\"text\":\"\xF4\x8F\xA0\x80\\ud83d\"}")
                   EVENT("{\"do\":\"text\",\"at\":0,\"text\":\"\xF4\x8F\xB0\x80\"}")
                       EVENT("{\"do\":\"end\"}"));
    check_said(t,
               "[{\"meta\":{\"toys\":{\"k\":[\"\xEF\xBF\xBD\"]}},\"text\":\"\",\"type\":\"text\"}]",
               EVENT("{\"do\":\"meta\",\"at\":0,\"key\":\"k\",\"value\":[\"\\ud83d\"]}")
                   EVENT("{\"do\":\"end\"}"));
}

TEST(stream, an_error_of_the_provider_keeps_what_came)
{
    heard *h = hear(t, &toy,
                    VLS_STR(EVENT("{\"do\":\"text\",\"at\":0,\"text\":\"so far\"}") EVENT(
                        "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\","
                        "\"message\":\"Over\\u001b[2Jloaded\"}}") EVENT("{\"do\":\"end\"}")),
                    1000);

    CHECK_INT(VALISE_E_REMOTE, h->rc);
    CHECK_TEXT("the provider refused it: Over [2Jloaded (overloaded_error)", h->err.message);
    CHECK(h->answer.partial);
    CHECK_TEXT("[{\"text\":\"so far\",\"type\":\"text\"}]", blocks_of(h));
}

TEST(stream, what_is_no_stream_is_refused)
{
    heard *h = hear(t, &toy, VLS_STR("<html>no</html>\n\n"), 4);

    CHECK_INT(VALISE_E_INVALID, h->rc);
    CHECK(strstr(h->err.message, "not a stream of events"));
    h = hear(t, &toy, VLS_STR(EVENT("{\"do\":\"text\"") EVENT("{\"do\":\"end\"}")), 4);
    CHECK_INT(VALISE_E_INVALID, h->rc);
    CHECK_TEXT("event[0]", h->err.path);
    h = hear(t, &toy, VLS_STR(EVENT("{}")), 4);
    CHECK_INT(VALISE_E_INVALID, h->rc);
}

TEST(stream, too_many_blocks)
{
    vls_stream *stream = NULL;
    size_t block = 0;

    CHECK_OK(vls_stream_new(&stream, t->env, &toy, NULL, NULL, &t->err));
    for (int64_t i = 0; i < VLS_STREAM_MAX_BLOCKS; i++)
        CHECK_OK(vls_stream_block(&block, stream, -i * 1000 - 3, VLS_SAID_TEXT, &t->err));
    CHECK_RC(VALISE_E_LIMIT, vls_stream_block(&block, stream, 7, VLS_SAID_TEXT, &t->err));
    CHECK_OK(vls_stream_block(&block, stream, -3, VLS_SAID_TEXT, &t->err));
    CHECK_INT(0, block);
    vls_stream_free(stream);
}

TEST(stream, too_many_bytes)
{
    vls_stream *stream = NULL;
    char *room = test_alloc((size_t)1 << 20);
    int rc = 0;

    test_unwatched();
    memset(room, '\n', (size_t)1 << 20);
    CHECK_OK(vls_stream_new(&stream, t->env, &toy, NULL, NULL, &t->err));
    for (int i = 0; i < 256; i++)
        CHECK_OK(vls_stream_feed(stream, vls_str(room, (size_t)1 << 20), &t->err));
    rc = vls_stream_feed(stream, VLS_STR("\n"), &t->err);
    CHECK_RC(VALISE_E_LIMIT, rc);
    CHECK_RC(VALISE_E_INVALID, vls_stream_feed(stream, VLS_STR("\n"), &t->err));
    vls_stream_free(stream);
}

static int hear_once(fault *f, void *arg)
{
    const char *events = arg;
    VLS_AUTO(stream) vls_stream *stream = NULL;
    VLS_AUTO(arena) vls_arena arena;
    vls_answer answer;
    int rc;

    vls_arena_init(&arena, f->env, (size_t)1 << 26);
    rc = vls_stream_new(&stream, f->env, &toy, NULL, NULL, &f->err);
    if (rc == 0)
        rc = vls_stream_feed(stream, valise_str_of(events), &f->err);
    if (rc == 0)
        rc = vls_stream_finish(stream, &f->err);
    return rc < 0 ? rc : vls_stream_answer(&answer, &arena, stream, &f->err);
}

TEST(stream, without_memory)
{
    char events[] = EVENT("{\"do\":\"head\",\"id\":\"i\",\"model\":\"m\"}")
        EVENT("{\"do\":\"text\",\"at\":0,\"text\":\"a\\ud83d\"}")
            EVENT("{\"do\":\"call\",\"at\":1,\"name\":\"n\"}")
                EVENT("{\"do\":\"args\",\"at\":1,\"text\":\"{\\\"b\\\": 1}\"}")
                    EVENT("{\"do\":\"meta\",\"at\":0,\"key\":\"k\",\"value\":[\"\\ud83d\"]}")
                        EVENT("{\"do\":\"drop\",\"text\":\"picture\"}")
                            EVENT("{\"do\":\"stop\",\"why\":\"end\",\"text\":\"e\"}");

    fault_each_alloc(t, 0, hear_once, events);
    fault_each_alloc(t, FAULT_ONWARD, hear_once, events);
}
