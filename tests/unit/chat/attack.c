/* attack.c -- others who write in between, sweeps that end half way, branches with very many tips.
 * [W5] [W6] [W7] */
#include "bus/bus.h"
#include "chat/ops.h"
#include "chat/refs.h"
#include "kit/talk.h"

TEST_PARAMS(chat_attack, "memory", "sqlite")

/* ---- a sweep that does not go on ---- */

/* session:delete as a kill leaves it: the first part of it. */
static int delete_a_part(valise_view *view, const void *in, void *out, valise_error *err)
{
    int64_t left = 5;
    vls_session_row session;
    int rc = vls_session_find(&session, view, ((const vls_session_args *)in)->session, err);

    (void)out;
    return rc < 0 ? rc : vls_session_let_go(view, &session, &left, err);
}

static void kill_session(talk *k, const char *session)
{
    static const vls_run_more internal = {.internal = true};
    const vls_session_args args = {valise_str_of(session)};
    valise_op op = vls_op_chat_session_delete;
    test *t = k->t;

    op.decide = delete_a_part;
    CHECK_OK(vls_run(k->v, &op, &args, NULL, NULL, NULL, &internal, &t->err));
}

TEST(chat_attack, tips_of_a_session_that_is_going_disturb_nobody) /* [W6] [W7] */
{
    talk *k = talk_open(t);
    const char *s = talk_session(k, "s"), *f, *root = talk_say(k, "s", "user", "first"), *branches;

    f = talk_member(k, talk_run(k, "session:fork", "{\"sessionId\":\"s\"}"), "id");
    for (int i = 0; i < 20; i++)
        (void)talk_run(
            k, "turn:branch",
            "{\"sessionId\":\"s\",\"parent\":\"%s\",\"role\":\"user\",\"text\":\"other\"}", root);
    kill_session(k, s);
    CHECK(talk_count(k, &vls_tips) > 0);
    branches = talk_run(k, "turn:branches", "{\"sessionId\":\"%s\",\"turnId\":\"%s\"}", f, root);
    CHECK(strstr(branches, f) != NULL);
    CHECK(strstr(branches, s) == NULL);
    talk_check(k, false);
    /* A session that is no more stands in nobody's way. */
    (void)talk_run(k, "turn:delete", "{\"sessionId\":\"%s\",\"turnId\":\"%s\",\"recursive\":true}",
                   f, root);
    talk_check(k, false);
    (void)talk_run(k, "session:show", "{\"sessionId\":\"%s\"}", f);
}

/* ---- others write between looking and removing ---- */

typedef struct meddling {
    talk *k;
    const char *session;
    int left;
} meddling;

/* Somebody else's turn, right behind the erasure. */
static int meddle(void *arg, const valise_event *event, valise_error *err)
{
    meddling *m = arg;

    (void)err;
    if (m->left == 0 || !vls_str_equal(event->type, VLS_STR("erasure:record")))
        return 0;
    m->left--;
    (void)talk_say(m->k, m->session, "user", test_format("a late secret %d", m->left));
    return 0;
}

/* Nothing but rows without contents may be left in any image of the log. */
static void check_unsaid(talk *k, const char *text)
{
    const char *log = talk_run(k, "log:list", "{\"limit\":1000}");

    CHECK_MSG(!strstr(log, text), "%s", log);
}

TEST(chat_attack, what_is_said_during_an_erasure_is_erased_too) /* [W5] [K20] */
{
    talk *k = talk_open(t);
    const char *s = talk_session(k, "s"), *top = talk_say(k, "s", "user", "first");
    meddling m = {k, s, 2};
    const valise_follow follow = {.size = sizeof(follow), .fn = meddle, .arg = &m};
    valise_subscription *listening = NULL;

    (void)talk_say(k, "s", "user", "second");
    CHECK_OK(valise_subscribe(&listening, k->v, &follow, &t->err));
    (void)talk_run(k, "turn:delete",
                   "{\"sessionId\":\"s\",\"turnId\":\"HEAD~1\",\"recursive\":true}");
    CHECK_INT(0, m.left);
    CHECK_INT(0, talk_count(k, &vls_turns));
    CHECK_INT(VALISE_E_NOT_FOUND,
              talk_try(k, "turn:show", "{\"sessionId\":\"s\",\"turnId\":\"%s\"}", top));
    check_unsaid(k, "late secret");
    (void)talk_say(k, "s", "user", "anew");
    m.left = 2;
    (void)talk_run(k, "session:erase", "{\"sessionId\":\"s\"}");
    CHECK_INT(0, m.left);
    CHECK_INT(0, talk_count(k, &vls_turns));
    check_unsaid(k, "late secret");
    valise_unsubscribe(listening);
    talk_check(k, false);
}

/* ---- many tips, many pins ---- */

#define TIPS 300

/* Reading the way up for each tip used up all memory. */
TEST(chat_attack, a_branch_with_many_tips_goes) /* [W5] */
{
    talk *k = talk_open(t);
    const char *s = talk_session(k, "s"), *stays = talk_say(k, "s", "user", "stays"), *answer;

    test_unwatched();
    for (int i = 0; i < TIPS; i++) {
        const char *trunk = talk_say(k, "s", "user", "trunk");
        (void)talk_say(k, "s", "user", "tip");
        (void)talk_run(k, "turn:checkout", "{\"sessionId\":\"s\",\"turnId\":\"%s\"}", trunk);
    }
    CHECK(talk_count(k, &vls_tips) >= TIPS - 1);
    answer = talk_run(k, "turn:delete",
                      "{\"sessionId\":\"s\",\"turnId\":\"HEAD~%d\",\"recursive\":true}", TIPS - 1);
    CHECK_TEXT(stays, talk_member(k, answer, "head"));
    CHECK_INT(1, talk_count(k, &vls_turns));
    CHECK_INT(0, talk_count(k, &vls_tips));
    (void)s;
    talk_check(k, false);
}

/* ---- memory ---- */

/* Another environment's memory, and the most that was in use. */
typedef struct gauge {
    valise_env env;
    const valise_env *below;
    size_t now, most;
} gauge;

static void *measure(void *self, void *ptr, size_t old_size, size_t new_size)
{
    gauge *g = self;
    void *got = g->below->resize(g->below->self, ptr, old_size, new_size);

    if (got || new_size == 0)
        g->now += new_size - old_size;
    g->most = VLS_MAX(g->most, g->now);
    return got;
}

static int64_t now_below(void *self)
{
    const gauge *g = self;

    return g->below->now_ns(g->below->self);
}

static int64_t ticks_below(void *self)
{
    const gauge *g = self;

    return g->below->ticks_ns(g->below->self);
}

static int random_below(void *self, void *bytes, size_t len)
{
    const gauge *g = self;

    return g->below->random(g->below->self, bytes, len);
}

/* What is read for each tip is forgotten before the next one: with as many as there may be, a
 * checkout would need more than an operation may have. */
TEST(chat_memory, moving_away_takes_no_memory_for_each_tip) /* [W4] */
{
    gauge g = {.env = {sizeof(valise_env), &g, measure, now_below, ticks_below, random_below},
               .below = t->env};
    talk k;
    const char *trunk = "", *middle = "";
    size_t before;

    test_unwatched();
    talk_open_at(&k, t, &g.env, ":memory:");
    (void)talk_session(&k, "s");
    for (int i = 0; i < TIPS; i++) {
        trunk = talk_say(&k, "s", "user", "trunk");
        (void)talk_say(&k, "s", "user", "tip");
        (void)talk_run(&k, "turn:checkout", "{\"sessionId\":\"s\",\"turnId\":\"%s\"}", trunk);
    }
    middle = talk_say(&k, "s", "user", "middle");
    (void)talk_session(&k, "o"); /* which goes on from the head of s */
    (void)talk_run(&k, "turn:branch",
                   "{\"sessionId\":\"o\",\"parent\":\"%s\",\"role\":\"user\",\"text\":\"low\"}",
                   middle);
    before = g.most = g.now;
    (void)talk_run(&k, "turn:checkout", "{\"sessionId\":\"s\",\"turnId\":\"%s\"}", trunk);
    CHECK_MSG(g.most - before < (256u << 10), "%zu bytes", g.most - before);
    valise_close(k.v);
}

/* ---- many sessions, and merges ---- */

/* Each session counts once, whatever it has there; a few are named. */
TEST(chat_attack, many_sessions_in_the_way) /* [W5] */
{
    talk *k = talk_open(t);
    const char *top, *names;
    int commas = 0;

    (void)talk_session(k, "s");
    (void)talk_say(k, "s", "user", "stays");
    top = talk_say(k, "s", "user", "top");
    for (int i = 0; i < 6; i++) {
        (void)talk_run(k, "session:fork", "{\"sessionId\":\"s\",\"label\":\"f%d\"}", i);
        for (int n = 0; n < 3; n++) /* two tips and a head */
            (void)talk_run(k, "turn:branch",
                           "{\"sessionId\":\"f%d\",\"parent\":\"%s\",\"role\":\"user\","
                           "\"text\":\"other\"}",
                           i, top);
    }
    CHECK_INT(
        VALISE_E_CONFLICT,
        talk_try(k, "turn:delete", "{\"sessionId\":\"s\",\"turnId\":\"HEAD\",\"recursive\":true}"));
    CHECK_MSG(strstr(t->err.message, "6 other sessions are: "), "%s", t->err.message);
    for (names = strstr(t->err.message, "are: "); *names; names++)
        commas += *names == ',';
    CHECK_INT(4, commas); /* four names, and more */
    CHECK(strstr(t->err.message, ", ..."));
    (void)talk_run(k, "turn:delete",
                   "{\"sessionId\":\"s\",\"turnId\":\"HEAD\",\"recursive\":true,\"force\":true}");
    CHECK_INT(1, talk_count(k, &vls_turns));
    CHECK_INT(0, talk_count(k, &vls_tips));
    talk_check(k, false);
}

static const char *merge(talk *k, const char *session, const char *first, const char *second)
{
    return talk_member(
        k,
        talk_run(k, "turn:merge",
                 "{\"sessionId\":\"%s\",\"parents\":[\"%s\",\"%s\"],\"role\":\"user\","
                 "\"text\":\"both\"}",
                 session, first, second),
        "ref");
}

static const char *branch(talk *k, const char *session, const char *parent)
{
    return talk_member(
        k,
        talk_run(k, "turn:branch",
                 "{\"sessionId\":\"%s\",\"parent\":\"%s\",\"role\":\"user\",\"text\":\"other\"}",
                 session, parent),
        "ref");
}

/*     root - x1 - x2
 *       \       \    \
 *        top --- m1 - m2     m1 and m2 go: x2 is a tip of who had m2, x1 is before it */
TEST(chat_attack, of_what_was_merged_the_end_becomes_a_tip) /* [W5] */
{
    talk *k = talk_open(t);
    const char *root, *x1, *x2, *top, *m, *shown;

    (void)talk_session(k, "s");
    root = talk_say(k, "s", "user", "root");
    x1 = talk_say(k, "s", "user", "x1");
    x2 = talk_say(k, "s", "user", "x2");
    top = branch(k, "s", root);
    m = merge(k, "s", top, x1);
    (void)merge(k, "s", m, x2);
    (void)talk_run(k, "session:fork", "{\"sessionId\":\"s\",\"label\":\"f\"}");
    (void)branch(k, "f", m);
    (void)talk_run(k, "session:fork", "{\"sessionId\":\"s\",\"turnId\":\"%s\",\"label\":\"g\"}",
                   top);
    (void)talk_run(k, "turn:delete",
                   "{\"sessionId\":\"s\",\"turnId\":\"%s\",\"recursive\":true,\"force\":true}",
                   top);
    CHECK_INT(3, talk_count(k, &vls_turns));
    CHECK_INT(2, talk_count(k, &vls_tips));
    for (int i = 0; i < 2; i++) {
        shown = talk_run(k, "session:show", "{\"sessionId\":\"%s\"}", i ? "f" : "s");
        CHECK_TEXT(root, talk_member(k, shown, "head"));
        CHECK_TEXT(x2, talk_member(k, shown, "tips.0"));
    }
    shown = talk_run(k, "session:show", "{\"sessionId\":\"g\"}"); /* it never had x2 */
    CHECK_TEXT(root, talk_member(k, shown, "head"));
    CHECK_TEXT("", talk_member(k, shown, "tips.0"));
    talk_check(k, false);
}

#define DIAMONDS 14

/* There are 2^14 ways down: each turn is met once. */
TEST(chat_attack, a_branch_of_diamonds_goes) /* [W5] */
{
    talk *k = talk_open(t);
    const char *root, *top, *at, *answer;

    (void)talk_session(k, "s");
    root = talk_say(k, "s", "user", "root");
    at = top = talk_say(k, "s", "user", "top");
    for (int i = 0; i < DIAMONDS; i++) {
        const char *left = branch(k, "s", at), *right = branch(k, "s", at);
        at = merge(k, "s", left, right);
    }
    answer = talk_run(k, "turn:delete",
                      "{\"sessionId\":\"s\",\"turnId\":\"%s\",\"recursive\":true}", top);
    CHECK_TEXT(test_format("%d", 1 + 3 * DIAMONDS), talk_member(k, answer, "removed"));
    CHECK_TEXT(root, talk_member(k, answer, "head"));
    CHECK_INT(1, talk_count(k, &vls_turns));
    CHECK_INT(0, talk_count(k, &vls_tips));
    talk_check(k, false);
}

/* A head that is above a tip, or was, leaves no other one behind. */
TEST(chat_attack, what_lies_above_a_tip_is_none) /* [W4] */
{
    talk *k = talk_open(t);
    const char *root, *middle, *low, *other;

    (void)talk_session(k, "s");
    root = talk_say(k, "s", "user", "root");
    middle = talk_say(k, "s", "user", "middle");
    low = talk_say(k, "s", "user", "low");
    (void)talk_run(k, "turn:checkout", "{\"sessionId\":\"s\",\"turnId\":\"%s\"}", middle);
    CHECK_INT(1, talk_count(k, &vls_tips));
    (void)talk_run(k, "turn:checkout", "{\"sessionId\":\"s\",\"turnId\":\"%s\"}", root);
    (void)branch(k, "s", root);
    CHECK_INT(1, talk_count(k, &vls_tips));
    CHECK_TEXT(low, talk_member(k, talk_run(k, "session:show", "{\"sessionId\":\"s\"}"), "tips.0"));
    talk_check(k, true);
    /* Nor does a tip whose turn goes, where another one is below what stays of it. */
    other = branch(k, "s", middle);
    (void)branch(k, "s", root);
    CHECK_INT(3, talk_count(k, &vls_tips));
    (void)talk_run(k, "turn:delete", "{\"sessionId\":\"s\",\"turnId\":\"%s\"}", other);
    CHECK_INT(2, talk_count(k, &vls_tips));
    talk_check(k, false);
}
