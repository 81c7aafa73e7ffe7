/* replay.c -- answers from a file, and a host's own client. */
#include <sys/stat.h>

#include "client/kit.h"
#include "harness/fault.h"

static vls_provider replay_of(const char *lines)
{
    vls_provider p = kit_provider(NULL, "x");
    const char *path = test_format("%s/answers.jsonl", test_tmpdir());

    test_write_file(path, valise_str_of(lines));
    p.replay = valise_str_of(path);
    p.url = (valise_str){NULL, 0};
    return p;
}

static vls_client *client_of(test *t, const char *lines)
{
    vls_provider p = replay_of(lines);

    return kit_client(t, &p);
}

TEST(replay, answers_in_order)
{
    vls_client *client = client_of(
        t,
        "# a comment\n\n"
        "{\"answer\":{\"blocks\":[{\"type\":\"text\",\"text\":\"one\"}],\"stop\":\"limit\","
        "\"usage\":"
        "{\"input\":3,\"output\":4,\"cacheRead\":1}}}\n"
        "{\"response\":{\"events\":[{\"do\":\"text\",\"at\":0,\"text\":\"two\"}]},\"expect\":"
        "\"hello\"}\n"
        "{\"stream\":[\"data: "
        "{\\\"do\\\":\\\"text\\\",\\\"at\\\":0,\\\"text\\\":\\\"three\\\"}\",\"data: [DONE]\"]}\n"
        "{\"error\":{\"status\":429,\"message\":\"Slow\",\"retryAfter\":0}}\n"
        "{\"answer\":{\"blocks\":[{\"type\":\"tool_use\",\"callId\":\"c\",\"name\":\"f\",\"args\":{"
        "}}]}}");
    sent *s = kit_send(t, client, NULL);

    CHECK_INT(0, s->rc);
    CHECK_TEXT("[{\"text\":\"one\",\"type\":\"text\"}]", s->blocks);
    CHECK_INT(VLS_STOP_LIMIT, s->answer.stop);
    CHECK_INT(3, s->answer.usage.input);
    CHECK_INT(1, s->answer.usage.cache_read);
    CHECK_INT(VALISE_NONE, s->answer.usage.reasoning);
    CHECK_INT(0, s->pieces.len);
    s = kit_send(t, client, NULL);
    CHECK_TEXT("[{\"text\":\"two\",\"type\":\"text\"}]", s->blocks);
    s = kit_send(t, client, &(how){.stream = true});
    CHECK_TEXT("[{\"text\":\"three\",\"type\":\"text\"}]", s->blocks);
    CHECK_STR(VLS_STR("three"), vls_buf_str(&s->pieces));
    s = kit_send(t, client, &(how){.stream = true});
    CHECK_INT(0, s->rc);
    CHECK_INT(1, s->retried);
    CHECK_INT(VLS_STOP_CALLS, s->answer.stop);
    s = kit_send(t, client, NULL);
    CHECK_INT(VALISE_E_NOT_FOUND, s->rc);
    CHECK(strstr(s->err.message, "no more answers: all 5 were used"));
}

/* As one of a server: what says why may be JSON, too. */
TEST(replay, asks_in_vain_where_the_quota_is_used_up)
{
    sent *s =
        kit_send(t,
                 client_of(t, "{\"error\":{\"status\":429,\"retryAfter\":0,\"message\":"
                              "\"{\\\"error\\\":{\\\"code\\\":\\\"insufficient_quota\\\"}}\"}}\n"
                              "{\"answer\":{\"blocks\":[{\"type\":\"text\",\"text\":\"one\"}]}}"),
                 NULL);

    CHECK_INT(VALISE_E_REMOTE, s->rc);
    CHECK_INT(0, s->retried);
}

TEST(replay, speaks_in_pieces)
{
    vls_client *client =
        client_of(t, "{\"answer\":{\"blocks\":[{\"type\":\"text\",\"text\":\"Some words "
                     "that are spoken \xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3"
                     "\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4 one by one\"}]}}");
    sent *s = kit_send(t, client, &(how){.stream = true});

    CHECK(strstr(s->blocks, "one by one"));
    CHECK(strstr(s->blocks, test_format("%.*s", VALISE_STR_ARG(vls_buf_str(&s->pieces)))));
}

static void check_refused(test *t, const char *line, int code, const char *words)
{
    sent *s = kit_send(t, client_of(t, line), &(how){.stream = true});

    CHECK_INT(code, s->rc);
    CHECK_MSG(strstr(s->err.message, words), "\"%s\" has no \"%s\"", s->err.message, words);
}

TEST(replay, says_what_is_wrong)
{
    vls_provider p = kit_provider(NULL, "x");
    vls_client *client = NULL;

    check_refused(t, "", VALISE_E_NOT_FOUND, "all 0 were used");
    check_refused(t, "{", VALISE_E_INVALID, "invalid JSON");
    check_refused(t, "{\"a\":1}", VALISE_E_INVALID, "neither 'answer' nor");
    check_refused(t, "{\"answer\":{\"blocks\":[]}}", VALISE_E_INVALID, "'blocks' has 0");
    check_refused(t, "{\"answer\":{\"blocks\":[1]}}", VALISE_E_INVALID, "blocks[0] has no type");
    check_refused(t, "{\"answer\":{\"blocks\":[{\"type\":\"text\",\"text\":\"\"}],\"stop\":\"x\"}}",
                  VALISE_E_INVALID, "'stop'");
    check_refused(t, "{\"stream\":[1]}", VALISE_E_INVALID, "stream[0]");
    check_refused(t, "{\"stream\":[]}", VALISE_E_IO, "was cut");
    check_refused(t, "{\"error\":{\"status\":200}}", VALISE_E_INVALID, "300 to 599");
    check_refused(t, "{\"error\":{\"status\":401,\"message\":\"No\"}}", VALISE_E_DENIED, "401: No");
    check_refused(t, "{\"answer\":{},\"expect\":\"goodbye\"}", VALISE_E_INVALID,
                  "does not contain 'goodbye'");
    p.replay = valise_str_of(test_format("%s/nothing", test_tmpdir()));
    CHECK_RC(VALISE_E_NOT_FOUND, vls_client_new(&client, t->env, &p, &t->err));
    /* Nobody writes to it: that is not waited for. */
    p.replay = valise_str_of(test_format("%s/pipe", test_tmpdir()));
    CHECK_INT(0, mkfifo(p.replay.ptr, 0600));
    CHECK_RC(VALISE_E_INVALID, vls_client_new(&client, t->env, &p, &t->err));
    CHECK_MSG(strstr(t->err.message, "pipe is not a file"), "%s", t->err.message);
}

static int ask_once(fault *f, void *arg)
{
    const vls_provider *p = arg;
    VLS_AUTO(client) vls_client *client = NULL;
    VLS_AUTO(arena) vls_arena arena = {.env = NULL};
    vls_answer answer;
    vls_sending sending = {.neutral = VLS_STR("{}"), .stream = true};
    int rc = vls_client_new(&client, f->env, p, &f->err);

    vls_arena_init(&arena, f->env, (size_t)1 << 26);
    return rc < 0 ? rc : vls_client_send(&answer, &arena, client, &sending, &f->err);
}

TEST(replay, without_memory)
{
    vls_provider p = replay_of("{\"answer\":{\"blocks\":[{\"type\":\"text\",\"text\":\"one\"}]}}");

    fault_each_alloc(t, 0, ask_once, &p);
    p = replay_of(
        "{\"stream\":[\"data: {\\\"do\\\":\\\"text\\\",\\\"at\\\":0,\\\"text\\\":\\\"x\\\"}\","
        "\"data: [DONE]\"]}");
    fault_each_alloc(t, 0, ask_once, &p);
}

/* ---- a host's client ---- */

typedef struct model {
    int closed, code;
    bool silent;
    const char *blocks;
} model;

static int model_send(void *self, const valise_client_request *r, valise_error *err)
{
    model *m = self;
    valise_client_answer answer = {.size = sizeof(answer),
                                   .blocks = valise_str_of(m->blocks),
                                   .usage = VLS_STR("{\"input\":2}"),
                                   .model = VLS_STR("mine")};
    int rc;

    CHECK_STR(VLS_STR("{}"), r->prompt);
    CHECK(!r->cancelled(r->arg));
    if (m->code < 0)
        return vls_fail(err, m->code, "not today");
    rc = r->piece(r->arg, "text", VLS_STR(""), VLS_STR("hi"), err);
    if (rc < 0 || m->silent)
        return rc;
    return r->answer(r->arg, &answer, err);
}

static void model_close(void *self)
{
    ((model *)self)->closed++;
}

TEST(host, brings_its_own_client)
{
    model m = {.blocks = "[{\"type\":\"text\",\"text\":\"hi\"}]"};
    valise_client host = {sizeof(host), VALISE_CLIENT_ABI, "mine", &m, model_send, model_close};
    vls_client *client = NULL;
    sent *s;

    CHECK_OK(vls_client_of_host(&client, t->env, &host, &t->err));
    s = kit_send(t, client, &(how){.stream = true});
    CHECK_INT(0, s->rc);
    CHECK_TEXT("[{\"text\":\"hi\",\"type\":\"text\"}]", s->blocks);
    CHECK_STR(VLS_STR("hi"), vls_buf_str(&s->pieces));
    CHECK_INT(2, s->answer.usage.input);
    CHECK_INT(VLS_STOP_END, s->answer.stop);
    m.code = VALISE_E_REMOTE;
    s = kit_send(t, client, NULL);
    CHECK_INT(VALISE_E_REMOTE, s->rc);
    CHECK_TEXT("not today", s->err.message);
    m.code = 0;
    m.silent = true;
    s = kit_send(t, client, NULL);
    CHECK_INT(VALISE_E_INVALID, s->rc);
    m.silent = false;
    m.blocks = "[";
    s = kit_send(t, client, NULL);
    CHECK_INT(VALISE_E_INVALID, s->rc);
    CHECK_INT(0, m.closed);
    vls_client_free(client);
    CHECK_INT(1, m.closed);
    host.abi = 99;
    client = NULL;
    CHECK_RC(VALISE_E_INVALID, vls_client_of_host(&client, t->env, &host, &t->err));
}
