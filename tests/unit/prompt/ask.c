/* ask.c -- asking a model: what is written when, and what is not. [P11] [P16] */
#include "memory/kit.h"

#include "base/str.h"

TEST_PARAMS(ask, "memory", "sqlite")

static test_rng names; /* of files */

static den *begin(test *t)
{
    den *d = den_open(t);

    names = test_rng_new(test_seed());
    (void)den_run(d, "session:create", "{\"label\":\"s\"}");
    return d;
}

/* A new file with these answers. */
static const char *answers(const char *lines)
{
    const char *path =
        test_format("%s/answers-%llx", test_tmpdir(), (unsigned long long)test_random(&names));

    test_write_file(path, valise_str_of(lines));
    return path;
}

static const char *args(const char *file, const char *more)
{
    return test_format("{\"session\":\"s\",\"provider\":\"openai\",\"model\":\"m\",\"replay\":"
                       "\"%s\"%s}",
                       file, more);
}

static int turns(den *d)
{
    return den_times(den_run(d, "turn:log", "{\"sessionId\":\"s\"}"), "\"role\":");
}

TEST(ask, keeps_both_turns_and_says_where_from)
{
    den *d = begin(t);
    const char *file =
        answers("{\"answer\":{\"blocks\":[{\"type\":\"text\",\"text\":\"Yes.\"}],"
                "\"stop\":\"end\",\"usage\":{\"input\":9,\"output\":2}},\"expect\":"
                "\"Is it?\"}\n"
                "{\"answer\":{\"blocks\":[{\"type\":\"text\",\"text\":\"Still.\"}]}}");
    const char *done = den_run(d, "prompt:ask", args(file, ",\"text\":\"Is it?\"")), *turn;

    CHECK_TEXT("Yes.", den_member(done, "text"));
    CHECK_TEXT("end", den_member(done, "stop"));
    turn = den_run(d, "turn:show", "{\"turnId\":\"HEAD\",\"sessionId\":\"s\"}");
    CHECK(strstr(turn, "\"role\":\"assistant\""));
    CHECK(strstr(turn, den_member(done, "prompt")));
    CHECK(!strstr(turn, "partial"));
    CHECK_INT(2, turns(d));
    /* Without a text what was said last is answered; a file goes on where it was. */
    (void)den_run(d, "turn:add", "{\"sessionId\":\"s\",\"role\":\"user\",\"text\":\"Sure?\"}");
    CHECK_TEXT("Still.", den_member(den_run(d, "prompt:ask", args(file, "")), "text"));
    CHECK_INT(4, turns(d));
    CHECK_INT(2, den_times(den_run(d, "prompt:list", "{}"), "\"id\":"));
    den_refused(d, VALISE_E_NOT_FOUND, "no more answers", "prompt:ask", args(file, ""));
    CHECK_INT(4, turns(d));
    den_check(d);
}

TEST(ask, writes_nothing_where_nobody_can_be_asked)
{
    den *d = begin(t);
    int64_t seq = den_seq(d);

    den_refused(d, VALISE_E_NOT_FOUND, "cannot read", "prompt:ask",
                args("/nonexistent/answers", ",\"text\":\"x\""));
    den_refused(d, VALISE_E_NOT_FOUND, "provider", "prompt:ask",
                "{\"session\":\"s\",\"provider\":\"nobody\",\"text\":\"x\"}");
    den_refused(d, VALISE_E_INVALID, "name", "prompt:ask",
                "{\"session\":\"s\",\"provider\":\"a b\",\"text\":\"x\"}");
    den_refused(d, VALISE_E_INVALID, "head", "prompt:ask",
                args(answers(""), ",\"turn\":\"HEAD~1\",\"text\":\"x\""));
    den_refused(d, VALISE_E_INVALID, "not both", "prompt:ask",
                args(answers(""), ",\"blocks\":[],\"text\":\"x\""));
    CHECK_INT(seq, den_seq(d));
}

TEST(ask, a_refusal_leaves_what_the_user_said)
{
    den *d = begin(t);

    den_refused(
        d, VALISE_E_REMOTE, "too blue", "prompt:ask",
        args(answers("{\"error\":{\"status\":400,\"message\":\"too blue\"}}"), ",\"text\":\"x\""));
    CHECK_INT(1, turns(d));
    den_check(d);
}

#define HALF                                                                                       \
    "{\"stream\":[\"data: {\\\"choices\\\":[{\\\"index\\\":0,\\\"delta\\\":{\\\"content\\\":"      \
    "\\\"Half of\\\"}}]}\"]}\n"

TEST(ask, keeps_what_came_of_an_answer_that_was_cut)
{
    den *d = begin(t);
    const char *turn;

    den_refused(d, VALISE_E_IO, "cut", "prompt:ask",
                args(answers(HALF), ",\"stream\":true,\"text\":\"x\""));
    CHECK(strstr(t->err.hint, "kept as turn"));
    turn = den_run(d, "turn:show", "{\"turnId\":\"HEAD\",\"sessionId\":\"s\"}");
    CHECK(strstr(turn, "Half of") && strstr(turn, "\"partial\":true"));
    CHECK_INT(2, turns(d));
    den_refused(d, VALISE_E_IO, "cut", "prompt:ask",
                args(answers(HALF), ",\"stream\":true,\"text\":\"x\",\"dropPartial\":true"));
    CHECK_INT(3, turns(d));
    den_check(d);
}

/* ---- pieces, and somebody who speaks meanwhile ---- */

typedef struct hearing {
    den *d;
    int pieces;
    bool interrupts;
} hearing;

static int hear(void *arg, const valise_event *event, valise_error *err)
{
    hearing *h = arg;

    (void)err;
    (void)event;
    if (h->pieces++ == 0 && h->interrupts)
        (void)den_run(h->d, "turn:add",
                      "{\"sessionId\":\"s\",\"role\":\"user\",\"text\":\"Wait!\"}");
    return 0;
}

static valise_subscription *listen(hearing *h, const char *actor, test *t)
{
    static const char *const types[] = {"session:STREAM_CHUNK", NULL};
    valise_follow follow = {.size = sizeof(follow),
                            .filter = {.size = sizeof(valise_filter), .types = types},
                            .live = true,
                            .fn = hear,
                            .arg = h,
                            .actor = valise_str_of(actor)};
    valise_subscription *s = NULL;

    CHECK_OK(valise_subscribe(&s, h->d->v, &follow, &t->err));
    return s;
}

#define LONG                                                                                       \
    "{\"answer\":{\"blocks\":[{\"type\":\"text\",\"text\":\"An answer that is long enough to be "  \
    "several pieces.\"}]}}\n"

TEST(ask, tells_pieces_to_who_may_read_sessions)
{
    den *d = begin(t);
    hearing all = {.d = d}, none = {.d = d};
    valise_subscription *a, *b;

    (void)den_run(d, "agent:add",
                  "{\"id\":\"eve\",\"role\":\"none\",\"capabilities\":[\"event:read\"]}");
    a = listen(&all, "", t);
    b = listen(&none, "eve", t);
    (void)den_run(d, "prompt:ask", args(answers(LONG), ",\"text\":\"x\",\"stream\":true"));
    valise_unsubscribe(a);
    valise_unsubscribe(b);
    CHECK(all.pieces > 1);
    CHECK_INT(0, none.pieces);
}

TEST(ask, somebody_who_speaks_meanwhile_keeps_the_head)
{
    den *d = begin(t);
    hearing h = {.d = d, .interrupts = true};
    valise_subscription *s = listen(&h, "", t);
    const char *done =
        den_run(d, "prompt:ask", args(answers(LONG), ",\"text\":\"x\",\"stream\":true"));

    valise_unsubscribe(s);
    CHECK_TEXT("true", den_member(done, "branched"));
    CHECK(strstr(den_run(d, "turn:show", "{\"turnId\":\"HEAD\",\"sessionId\":\"s\"}"), "Wait!"));
    CHECK(
        strstr(den_run(d, "turn:show", test_format("{\"turnId\":\"%s\"}", den_member(done, "ref"))),
               "long enough"));
    den_check(d);
}

TEST(ask, learns_what_the_model_counts)
{
    den *d = begin(t);
    const char *said = test_format("%0400d", 7);

    (void)den_run(d, "prompt:ask",
                  args(answers("{\"answer\":{\"blocks\":[{\"type\":\"text\",\"text\":\"y\"}],"
                               "\"usage\":{\"input\":100000}}}"),
                       test_format(",\"text\":\"%s\"", said)));
    CHECK(strstr(den_run(d, "workspace:show", "{\"target\":\"token_scale/m\"}"), "\"scale\":64"));
    den_check(d);
}
