/* http.c -- requests to a server that behaves as servers do. [F10] [Q25] */
#include <stdarg.h>

#include "base/hash.h"
#include "client/inside.h"
#include "client/kit.h"
#include "harness/fault.h"

#define HELLO "[{\"text\":\"hello\",\"type\":\"text\"}]"
#define STREAMED "[{\"text\":\"Hello \xC3\xA4\xF0\x9F\x98\x80!\",\"type\":\"text\"}]"

static size_t lines_of(const char *log)
{
    size_t count = 0;

    for (; *log; log++)
        count += *log == '\n';
    return count;
}

static void check_says(const sent *s, int code, const char *words)
{
    CHECK_INT(code, s->rc);
    CHECK_MSG(strstr(s->err.message, words), "\"%s\" has no \"%s\"", s->err.message, words);
}

TEST(http, a_whole_answer)
{
    far *f = far_start(NULL);
    sent *s = kit_ask(t, f, "whole", false);

    CHECK_INT(0, s->rc);
    CHECK_TEXT(HELLO, s->blocks);
    CHECK_INT(VLS_STOP_END, s->answer.stop);
    CHECK(strstr(far_log(f), "POST /whole/v1/toy-9/say len=15 "));
    CHECK(strstr(far_log(f), "key=ok accept=application/json\n"));
}

/* 292 years: as long as a duration can be, and no end that has passed already. */
TEST(http, all_the_time_there_is)
{
    vls_provider p = kit_provider(far_start(NULL), "whole");
    sent *s;

    p.timeout_ns = INT64_MAX;
    s = kit_send(t, kit_client(t, &p), NULL);
    CHECK_INT(0, s->rc);
    CHECK_TEXT(HELLO, s->blocks);
}

/* [P11] In odd cuts, with all that a stream may have. */
TEST(http, a_stream)
{
    far *f = far_start(NULL);
    sent *s = kit_ask(t, f, "stream", true);

    CHECK_INT(0, s->rc);
    CHECK_TEXT(STREAMED, s->blocks);
    CHECK_STR(VLS_STR("Hello \xC3\xA4\xF0\x9F\x98\x80!"), vls_buf_str(&s->pieces));
    CHECK_STR(VLS_STR("m-1"), s->answer.id);
    CHECK_STR(VLS_STR("toy-9"), s->answer.model);
    CHECK_INT(12, s->answer.usage.input);
    CHECK(!s->answer.partial);
    CHECK(strstr(far_log(f), "POST /stream/v1/toy-9/stream "));
    CHECK(strstr(far_log(f), "accept=text/event-stream, application/json\n"));
}

TEST(http, a_slow_stream_is_no_silence)
{
    far *f = far_start(NULL);
    vls_provider provider = kit_provider(f, "drip");
    how h = {.stream = true};
    sent *s;

    provider.idle_ns = INT64_C(1200) * 1000000;
    s = kit_send(t, kit_client(t, &provider), &h);
    CHECK_INT(0, s->rc);
    CHECK_TEXT(STREAMED, s->blocks);
    CHECK(s->seconds > 1.2);
}

TEST(http, a_connection_is_used_again)
{
    far *f = far_start(NULL);
    vls_provider provider = kit_provider(f, "whole");
    vls_client *client = kit_client(t, &provider);

    for (int i = 0; i < 3; i++)
        CHECK_TEXT(HELLO, kit_send(t, client, NULL)->blocks);
    CHECK_INT(3, lines_of(far_log(f)));
}

/* ---- trying again ---- */

TEST(http, waits_as_long_as_it_is_asked_to)
{
    far *f = far_start(NULL);
    sent *s = kit_ask(t, f, "busy", false);

    CHECK_INT(0, s->rc);
    CHECK_INT(1, s->retried);
    CHECK(s->seconds >= 1);
    CHECK_STR(VLS_STR("toy answered 429: Slow down (rate_limit_error)\n"),
              vls_buf_str(&s->retries));
    s = kit_ask(t, f, "busy-date", false);
    CHECK_INT(0, s->rc);
    CHECK(s->seconds >= 0.9);
}

TEST(http, does_not_wait_for_hours)
{
    far *f = far_start(NULL);
    sent *s = kit_ask(t, f, "busy-long", false);

    check_says(s, VALISE_E_REMOTE, "toy answered 429: Come tomorrow");
    CHECK(strstr(s->err.hint, "in 360"));
    CHECK_INT(0, s->retried);
}

TEST(http, tries_again_what_may_pass)
{
    far *f = far_start(NULL);
    sent *s = kit_ask(t, f, "broken", false);

    CHECK_INT(0, s->rc);
    CHECK_INT(2, s->retried);
    CHECK_STR(VLS_STR("toy answered 500: oops\ntoy answered 529: oops\n"),
              vls_buf_str(&s->retries));
    s = kit_ask(t, f, "broken-always", false);
    check_says(s, VALISE_E_REMOTE, "toy answered 502 [request req-9]");
    CHECK_INT(3, s->retried);
    CHECK_INT(7, lines_of(far_log(f)));
}

TEST(http, does_not_try_again_what_will_not)
{
    far *f = far_start(NULL);
    sent *s = kit_ask(t, f, "quota", false);

    check_says(s, VALISE_E_REMOTE, "You have no money (insufficient_quota)");
    CHECK_INT(0, s->retried);
    s = kit_ask(t, f, "should-not", false);
    check_says(s, VALISE_E_REMOTE, "503: never");
    CHECK_INT(0, s->retried);
    s = kit_ask(t, f, "missing", false);
    check_says(s, VALISE_E_REMOTE, "404: model: toy-9 [31m");
    CHECK(strstr(s->err.hint, "toy-9"));
    CHECK_INT(0, s->retried);
}

TEST(http, tries_again_when_nothing_had_come)
{
    far *f = far_start(NULL);
    sent *s = kit_ask(t, f, "cut-before", false);

    CHECK_INT(0, s->rc);
    CHECK_INT(2, s->retried);
}

TEST(http, tries_again_where_nobody_listens)
{
    vls_provider provider;
    sent *s;

    (void)far_start(NULL); /* sets the key */
    provider = kit_provider(NULL, "x");
    provider.retries = 1;
    s = kit_send(t, kit_client(t, &provider), NULL);
    CHECK_INT(VALISE_E_IO, s->rc);
    CHECK_INT(1, s->retried);
}

/* An error that comes as an event is an error of the server. */
TEST(http, tries_again_when_overloaded_before_the_first_word)
{
    far *f = far_start(NULL);
    sent *s = kit_ask(t, f, "overloaded", true);

    CHECK_INT(0, s->rc);
    CHECK_INT(1, s->retried);
    CHECK_TEXT(STREAMED, s->blocks);
    s = kit_ask(t, f, "overloaded-late", true);
    check_says(s, VALISE_E_REMOTE, "Overloaded (overloaded_error)");
    CHECK_INT(0, s->retried);
    CHECK_TEXT("[{\"text\":\"so far\",\"type\":\"text\"}]", s->blocks);
    CHECK(s->answer.partial);
}

static int ask_once(fault *f, void *arg)
{
    vls_provider *p = arg;
    VLS_AUTO(client) vls_client *client = NULL;
    VLS_AUTO(arena) vls_arena arena = {.env = NULL};
    VLS_AUTO(wire) vls_wire wire = {.env = NULL};
    vls_answer answer;
    vls_sending sending = {.wire = &wire, .stream = p->max_answer > 0};
    int rc;

    vls_arena_init(&arena, f->env, (size_t)1 << 26);
    vls_wire_init(&wire, f->env);
    vls_buf_add_text(&wire.text, "{}");
    rc = vls_wire_check(&wire, &f->err);
    if (rc == 0)
        rc = vls_client_new(&client, f->env, p, &f->err);
    return rc < 0 ? rc : vls_client_send(&answer, &arena, client, &sending, &f->err);
}

TEST(http, without_memory)
{
    far *f = far_start(NULL);
    vls_provider p = kit_provider(f, "whole");

    p.retries = 0;
    fault_each_alloc(t, 0, ask_once, &p);
    p.url = kit_provider(f, "stream").url;
    p.max_answer = 1 << 20;
    fault_each_alloc(t, 0, ask_once, &p);
}

/* ---- cut ---- */

TEST(http, what_was_said_before_a_cut_is_kept_and_not_asked_again)
{
    far *f = far_start(NULL);
    sent *s = kit_ask(t, f, "cut-inside", true);

    CHECK_INT(VALISE_E_IO, s->rc);
    CHECK_INT(0, s->retried);
    CHECK(s->answer.partial);
    CHECK_TEXT("[{\"text\":\"so far\",\"type\":\"text\"}]", s->blocks);
    s = kit_ask(t, f, "cut-whole", false);
    CHECK_INT(VALISE_E_IO, s->rc);
    CHECK_INT(0, s->retried);
    CHECK(!s->blocks);
}

TEST(http, every_wait_ends)
{
    far *f = far_start(NULL);
    vls_provider provider = kit_provider(f, "silence");
    how h = {.stream = true};
    sent *s;

    provider.idle_ns = INT64_C(300) * 1000000;
    s = kit_send(t, kit_client(t, &provider), &h);
    check_says(s, VALISE_E_IO, "nothing came from toy for 0.3 seconds");
    CHECK(s->seconds > 0.25);
    CHECK_INT(0, s->retried); /* it may have been answered */
    provider.url = kit_provider(f, "silence-inside").url;
    s = kit_send(t, kit_client(t, &provider), &h);
    check_says(s, VALISE_E_IO, "nothing came");
    CHECK_TEXT("[{\"text\":\"so far\",\"type\":\"text\"}]", s->blocks);
    provider = kit_provider(f, "silence-inside");
    provider.timeout_ns = INT64_C(400) * 1000000;
    s = kit_send(t, kit_client(t, &provider), &h);
    check_says(s, VALISE_E_IO, "did not answer within 0.4 seconds");
    CHECK(s->seconds > 0.35);
    CHECK(s->answer.partial);
}

/* The waits between tries are in the time of all of it. */
TEST(http, waiting_ends_with_the_time_of_the_whole)
{
    far *f = far_start(NULL);
    vls_provider provider = kit_provider(f, "busy");
    sent *s;

    provider.timeout_ns = INT64_C(500) * 1000000;
    s = kit_send(t, kit_client(t, &provider), NULL);
    check_says(s, VALISE_E_REMOTE, "429");
}

TEST(http, a_stream_whose_connection_stays_open)
{
    far *f = far_start(NULL);
    sent *s = kit_ask(t, f, "lingering", true);

    CHECK_INT(0, s->rc);
    CHECK_TEXT(STREAMED, s->blocks);
}

/* ---- cancelling ---- */

static bool after_a_while(void *arg)
{
    sent *s = arg;

    return kit_now() - s->seconds > 0.3; /* it began at `seconds` */
}

TEST(http, can_be_cancelled_while_nothing_comes)
{
    far *f = far_start(NULL);
    static const char *const scripts[] = {"silence", "silence-inside", "busy-date", "drip"};
    how h = {.stream = true, .cancelled = after_a_while};

    for (size_t i = 0; i < VLS_COUNT(scripts); i++) {
        vls_provider provider = kit_provider(f, scripts[i]);
        sent *s = kit_send(t, kit_client(t, &provider), &h);
        CHECK_INT(VALISE_E_CANCELLED, s->rc);
        if (i == 1)
            CHECK_TEXT("[{\"text\":\"so far\",\"type\":\"text\"}]", s->blocks);
    }
}

TEST(http, ends_when_a_piece_is_refused)
{
    far *f = far_start(NULL);
    vls_provider provider = kit_provider(f, "silence-inside");
    how h = {.stream = true, .refuse_piece = VALISE_E_LIMIT};
    sent *s = kit_send(t, kit_client(t, &provider), &h);

    check_says(s, VALISE_E_LIMIT, "no more");
    CHECK_INT(0, s->retried);
    CHECK_TEXT("[{\"text\":\"so far\",\"type\":\"text\"}]", s->blocks);
}

/* ---- strange answers ---- */

TEST(http, what_is_no_answer)
{
    far *f = far_start(NULL);
    sent *s = kit_ask(t, f, "garbage", false);

    check_says(s, VALISE_E_INVALID, "invalid JSON at byte 11");
    CHECK(strstr(s->err.hint, "req-10"));
    CHECK_INT(0, s->retried);
    s = kit_ask(t, f, "empty", false);
    check_says(s, VALISE_E_INVALID, "toy sent an empty answer");
    s = kit_ask(t, f, "huge-headers", false);
    CHECK(s->rc == VALISE_E_LIMIT || s->rc == VALISE_E_IO); /* newer libcurl has a limit too */
    CHECK_INT(0, s->retried);
}

TEST(http, types_that_are_wrong_and_versions_that_are_old)
{
    far *f = far_start(NULL);

    CHECK_TEXT(STREAMED, kit_ask(t, f, "wrong-type", true)->blocks);
    CHECK_TEXT(HELLO, kit_ask(t, f, "whole", true)->blocks); /* no stream, though one was wanted */
    CHECK_TEXT(STREAMED, kit_ask(t, f, "old", true)->blocks);
    CHECK_TEXT(HELLO, kit_ask(t, f, "interim", false)->blocks);
}

TEST(http, an_answer_over_the_limit)
{
    far *f = far_start(NULL);
    vls_provider provider = kit_provider(f, "endless");
    how h = {.stream = true};
    sent *s;
    size_t before = test_bytes_in_use(t);

    provider.max_answer = 4 << 20;
    s = kit_send(t, kit_client(t, &provider), &h);
    check_says(s, VALISE_E_LIMIT, "more than 4194304 bytes");
    CHECK(s->answer.partial && strlen(s->blocks) < 5 << 20);
    CHECK(s->peak > before && s->peak - before < (size_t)64 << 20);
    s = kit_ask(t, f, "big-error", false);
    check_says(s, VALISE_E_REMOTE, "400: Too much");
}

/* 100 MB of what is no part of the answer take no memory. */
TEST(http, a_long_stream_under_the_limit)
{
    far *f = far_start(NULL);
    vls_provider provider = kit_provider(f, "comments");
    how h = {.stream = true};
    size_t before = test_bytes_in_use(t);
    sent *s;

    test_unwatched();
    provider.max_answer = 200 << 20;
    provider.timeout_ns = INT64_C(60) * 1000000000;
    s = kit_send(t, kit_client(t, &provider), &h);
    CHECK_INT(0, s->rc);
    CHECK_TEXT("[{\"text\":\"end\",\"type\":\"text\"}]", s->blocks);
    CHECK(s->peak > before && s->peak - before < (size_t)4 << 20);
}

/* ---- where the key goes ---- */

TEST(http, a_redirect_is_not_followed)
{
    far *other = far_start(NULL), *f = far_start(other);
    sent *s = kit_ask(t, f, "redirect", false);

    check_says(s, VALISE_E_REMOTE, "toy answered 307");
    CHECK(strstr(s->err.hint, "is not sent to another"));
    CHECK_TEXT("", far_log(other));
}

/* kit_send looks for the key in all that is said; here it is echoed wherever a server can. */
TEST(http, a_key_that_is_echoed_is_cut_out)
{
    far *f = far_start(NULL);
    sent *s = kit_ask(t, f, "denied", false);

    check_says(s, VALISE_E_DENIED, "toy answered 401");
    CHECK(strstr(s->err.message, "your key [key] "));
    CHECK(strstr(s->err.hint, "TOY_API_KEY"));
    CHECK_INT(0, s->retried);
    s = kit_ask(t, f, "echo", false);
    check_says(s, VALISE_E_REMOTE, "[key]");
    s = kit_ask(t, f, "echo-event", true);
    check_says(s, VALISE_E_REMOTE, "[key]");
    CHECK(!strstr(far_log(f), "PLANTED"));
}

/* An answer and its pieces become messages, events and files. [F10] */
TEST(http, a_key_that_is_answered_is_cut_out)
{
    far *f = far_start(NULL);
    sent *s = kit_ask(t, f, "echo-answer", false);

    CHECK_OK(s->rc);
    CHECK_TEXT("[{\"text\":\"it is [key]?\",\"type\":\"thinking\"},"
               "{\"text\":\"[key][key]\",\"type\":\"text\"},"
               "{\"args\":{\"[key]\":[\"[key]\"]},\"callId\":\"c\",\"name\":\"tell\",\"type\":"
               "\"tool_use\"}]",
               s->blocks);
    CHECK_STR(VLS_STR("[key]"), s->answer.id);
    CHECK_STR(VLS_STR("m [key]"), s->answer.model);
    CHECK_STR(VLS_STR("[key]"), s->answer.stop_text);
    s = kit_ask(t, f, "echo-stream", true);
    CHECK_OK(s->rc);
    CHECK_STR(VLS_STR("it is sk-ilful: [key], or sk-toy!"), vls_buf_str(&s->pieces));
    CHECK_TEXT("[{\"text\":\"it is sk-ilful: [key], or sk-toy\",\"type\":\"text\"},"
               "{\"text\":\"!\",\"type\":\"text\"}]",
               s->blocks);
}

/* A server of this machine takes any word for a key: it stays a word. */
TEST(http, a_word_is_no_secret)
{
    far *f = far_start(NULL);
    sent *s;

    CHECK(setenv("TOY_API_KEY", "hello", 1) == 0);
    s = kit_ask(t, f, "whole", false);
    CHECK_OK(s->rc);
    CHECK_TEXT("[{\"text\":\"hello\",\"type\":\"text\"}]", s->blocks);
}

TEST(http, without_a_key)
{
    far *f = far_start(NULL);
    vls_provider provider = kit_provider(f, "whole");
    sent *s;

    CHECK(unsetenv("TOY_API_KEY") == 0);
    s = kit_send(t, kit_client(t, &provider), NULL); /* a server of this machine may need none */
    CHECK_INT(0, s->rc);
    CHECK(strstr(far_log(f), "key=none"));
    provider.key_env = VLS_STR("MY_TOY_KEY");
    s = kit_send(t, kit_client(t, &provider), NULL);
    check_says(s, VALISE_E_DENIED, "the variable MY_TOY_KEY is not set");
    CHECK(strstr(s->err.hint, "MY_TOY_KEY"));
    provider.key_env = (valise_str){NULL, 0};
    provider.url = VLS_STR("https://127.0.0.1:1/x");
    s = kit_send(t, kit_client(t, &provider), NULL);
    check_says(s, VALISE_E_DENIED, "TOY_API_KEY");
    CHECK_INT(1, lines_of(far_log(f)));
}

/* What a request needs besides is sent with it, and with no other. */
TEST(http, a_header_of_one_request)
{
    far *f = far_start(NULL);
    vls_provider provider = kit_provider(f, "whole");
    VLS_AUTO(wire) vls_wire wire;
    how with = {.wire = &wire};

    vls_wire_init(&wire, t->env);
    vls_buf_add_text(&wire.text, "{}");
    CHECK_INT(0, kit_send(t, kit_client(t, &provider), &with)->rc);
    CHECK(!strstr(far_log(f), "files-1"));
    wire.head = "x-toy-more: files-1";
    CHECK_INT(0, kit_send(t, kit_client(t, &provider), &with)->rc);
    CHECK(strstr(far_log(f), "accept=application/jsonfiles-1\n"));
    CHECK_INT(2, lines_of(far_log(f)));
}

/* ---- the body ---- */

typedef struct pictures {
    size_t left;
    int opened, closed;
    bool missing;
} pictures;

static int open_picture(void *arg, const valise_id *blob, valise_error *err)
{
    pictures *p = arg;

    (void)blob;
    if (p->missing)
        return vls_fail(err, VALISE_E_NOT_FOUND, "the picture is gone");
    p->left = (size_t)20 << 20;
    p->opened++;
    return 0;
}

static int read_picture(size_t *len, void *arg, void *room, size_t room_bytes, valise_error *err)
{
    pictures *p = arg;

    (void)err;
    *len = VLS_MIN(p->left, room_bytes);
    memset(room, 'x', *len);
    p->left -= *len;
    return 0;
}

static void close_picture(void *arg)
{
    ((pictures *)arg)->closed++;
}

/* [P4] A large one goes out a piece at a time. */
TEST(http, blobs_are_streamed)
{
    far *f = far_start(NULL);
    vls_provider provider = kit_provider(f, "broken"); /* and again with each try */
    pictures p = {.left = 0};
    vls_wire_blobs blobs = {&p, open_picture, read_picture, close_picture};
    vls_plan_block block = {.kind = VLS_SAID_IMAGE, .size = (int64_t)20 << 20};
    vls_client *client = kit_client(t, &provider);
    size_t before = test_bytes_in_use(t);
    vls_wire wire;
    sent *s;

    test_unwatched();
    vls_wire_init(&wire, t->env);
    vls_wire_open(&wire, '[');
    vls_wire_blob(&wire, VLS_STR("data:"), &block);
    vls_wire_close(&wire, ']');
    CHECK_OK(vls_wire_check(&wire, &t->err));
    s = kit_send(t, client, &(how){.wire = &wire, .blobs = &blobs});
    CHECK_INT(0, s->rc);
    CHECK_INT(3, p.opened);
    CHECK_INT(3, p.closed);
    CHECK(s->peak > before && s->peak - before < (size_t)2 << 20);
    CHECK(strstr(far_log(f), test_format("len=%lld ", (long long)vls_wire_size(&wire))));
    CHECK(vls_wire_size(&wire) > (int64_t)26 << 20);
    p.missing = true;
    s = kit_send(t, client, &(how){.wire = &wire, .blobs = &blobs});
    check_says(s, VALISE_E_NOT_FOUND, "the picture is gone");
    CHECK_INT(0, s->retried);
    vls_wire_release(&wire);
}

static __typeof__(curl_easy_setopt) *set_option;

/* As a libcurl that has no memory for the text of one option. */
static CURLcode refuse_proxy(CURL *easy, CURLoption option, ...)
{
    CURLcode code;
    va_list args;

    va_start(args, option);
    if (option == CURLOPT_PROXY)
        code = CURLE_OUT_OF_MEMORY;
    else if (option >= CURLOPTTYPE_OFF_T)
        code = set_option(easy, option, va_arg(args, curl_off_t));
    else if (option >= CURLOPTTYPE_OBJECTPOINT)
        code = set_option(easy, option, va_arg(args, void *));
    else
        code = set_option(easy, option, va_arg(args, long));
    va_end(args);
    return code;
}

static CURLMcode refuse_to_wait(CURLM *multi, struct curl_waitfd *fds, unsigned count, int ms,
                                int *ready)
{
    (void)multi, (void)fds, (void)count, (void)ms, (void)ready;
    return CURLM_OUT_OF_MEMORY;
}

/* Without the option that names no proxy, the request would go through one that the environment
 * names. */
TEST(http, libcurl_without_memory)
{
    far *f = far_start(NULL);
    vls_provider provider = kit_provider(f, "whole");
    vls_client *client = kit_client(t, &provider);

    set_option = client->curl.easy_setopt;
    client->curl.easy_setopt = refuse_proxy;
    CHECK_INT(VALISE_E_NO_MEMORY, kit_send(t, client, NULL)->rc);
    CHECK_TEXT("", far_log(f));
    client->curl.easy_setopt = set_option;
    client->curl.multi_poll = refuse_to_wait;
    check_says(kit_send(t, client, NULL), VALISE_E_IO, "libcurl failed");
}
