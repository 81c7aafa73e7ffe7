/* api.c -- sessions and turns in C, with structs. [W15] [K31] */
#include <valise/sys/extension.h>

#include "kit/talk.h"

#include "base/hex.h"
#include "chat/rows.h"

TEST_PARAMS(chat_api, "memory", "sqlite")

static valise_turn_done say(talk *k, const char *session, int role, const char *text)
{
    valise_turn_options o = VALISE_TURN_OPTIONS_INIT;
    valise_turn_done done = VALISE_TURN_DONE_INIT;
    test *t = k->t;

    o.role = role;
    o.text = valise_str_of(text);
    CHECK_OK(valise_turn_add(&done, k->v, session, &o, NULL, &t->err));
    return done;
}

static const char *ref_of(const valise_turn_done *done)
{
    return test_format("%s@%lld", vls_uuid_text(&done->turn).s, (long long)done->version);
}

static int join(void *arg, const valise_turn *turn, valise_error *err)
{
    const char **text = arg;

    (void)err;
    *text = test_format("%s%.*s\n", *text, VALISE_STR_ARG(turn->blocks));
    return 0;
}

static int stop_at_once(void *arg, const valise_turn *turn, valise_error *err)
{
    (void)arg;
    (void)turn;
    (void)err;
    return 7;
}

#define BLOCK(text) "[{\"text\":\"" text "\",\"type\":\"text\"}]\n"

TEST(chat_api, a_conversation) /* [W15] */
{
    talk *k = talk_open(t);
    valise_session_options o = VALISE_SESSION_OPTIONS_INIT;
    valise_turn_options turn = VALISE_TURN_OPTIONS_INIT;
    valise_turn_done first, second, done = VALISE_TURN_DONE_INIT;
    valise_conversation *snapshot = NULL;
    valise_session *session = NULL;
    valise_uuid id, fork;
    const char *s, *text = "";
    valise_str parents[2];

    o.label = valise_str_of("support");
    o.topics = (const valise_str[]){valise_str_of("parcels")};
    o.topic_count = 1;
    CHECK_OK(valise_session_create(&id, k->v, &o, NULL, &t->err));
    s = test_format("%s", vls_uuid_text(&id).s);
    first = say(k, "support", VALISE_TURN_USER, "one");
    second = say(k, s, VALISE_TURN_ASSISTANT, "two");

    turn.text = valise_str_of("uno");
    CHECK_OK(valise_turn_edit(&done, k->v, s, ref_of(&first), &turn, NULL, &t->err));
    CHECK_INT(2, done.version);
    parents[0] = valise_str_of(test_format("%s", ref_of(&done)));
    parents[1] = valise_str_of(test_format("%s", ref_of(&second)));
    turn.text = (valise_str){NULL, 0};
    turn.blocks = valise_str_of("[{\"type\":\"text\",\"text\":\"both\"}]");
    CHECK_OK(valise_turn_merge(&done, k->v, s, parents, 2, &turn, NULL, &t->err));
    CHECK_OK(valise_transcript(k->v, s, NULL, join, &text, NULL, &t->err));
    CHECK_TEXT(BLOCK("uno") BLOCK("one") BLOCK("two") BLOCK("both"), text);
    CHECK_INT(7, valise_transcript(k->v, s, NULL, stop_at_once, NULL, NULL, &t->err));

    CHECK_OK(valise_session_snapshot(&snapshot, k->v, s, NULL, &t->err));
    CHECK_OK(valise_turn_checkout(NULL, k->v, s, parents[1].ptr, NULL, &t->err));
    CHECK_OK(valise_turn_branch(NULL, k->v, s, ref_of(&first), &turn, NULL, &t->err));
    CHECK_INT(4, snapshot->turn_count); /* as it was */
    CHECK_INT(2, snapshot->turns[3].parent_count);
    CHECK_STR(valise_str_of(ref_of(&done)), snapshot->session.head);
    CHECK_STR(valise_str_of("parcels"), snapshot->session.topics[0]);
    valise_conversation_free(snapshot);

    CHECK_OK(valise_session_fork(&fork, k->v, s, NULL, NULL, NULL, &t->err));
    CHECK_OK(valise_session_open(&session, k->v, "support", NULL, &t->err));
    CHECK(vls_uuid_equal(&session->id, &id));
    valise_session_free(session);
    CHECK_OK(valise_session_delete(k->v, "support", NULL, &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, valise_session_open(&session, k->v, "support", NULL, &t->err));
    talk_check(k, true);
}

/* ---- somebody else, while a function runs ---- */

typedef struct meddling {
    const valise_env *real;
    valise *other; /* gives the session another label when the time is asked for; NULL: not now */
} meddling;

static void *resize(void *self, void *ptr, size_t old_size, size_t new_size)
{
    const meddling *m = self;

    return m->real->resize(m->real->self, ptr, old_size, new_size);
}

static int64_t ticks(void *self)
{
    const meddling *m = self;

    return m->real->ticks_ns(m->real->self);
}

static int get_random(void *self, void *bytes, size_t len)
{
    const meddling *m = self;

    return m->real->random(m->real->self, bytes, len);
}

static int64_t meddle(void *self)
{
    meddling *m = self;
    valise *other = m->other;

    m->other = NULL;
    if (other && valise_dispatch(NULL, other, "session:update",
                                 "{\"sessionId\":\"mine\",\"label\":\"another\"}", NULL, NULL) < 0)
        return 0;
    return m->real->now_ns(m->real->self);
}

TEST(chat_snapshot, a_label_that_moves) /* [W15] */
{
    meddling m = {.real = t->env};
    const valise_env env = {sizeof(env), &m, resize, meddle, ticks, get_random};
    valise_options o = VALISE_OPTIONS_INIT;
    valise_session_options label = VALISE_SESSION_OPTIONS_INIT;
    valise_turn_options turn = VALISE_TURN_OPTIONS_INIT;
    valise_conversation *snapshot = NULL;
    valise *v = NULL, *other = NULL;

    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    o.env = t->env;
    CHECK_OK(valise_open(&other, test_tmpdir(), &o, &t->err));
    o.env = &env;
    CHECK_OK(valise_open(&v, test_tmpdir(), &o, &t->err));
    label.label = valise_str_of("mine");
    turn.text = valise_str_of("one");
    CHECK_OK(valise_session_create(NULL, v, &label, NULL, &t->err));
    CHECK_OK(valise_turn_add(NULL, v, "mine", &turn, NULL, &t->err));
    m.other = other;
    CHECK_OK(valise_session_snapshot(&snapshot, v, "mine", NULL, &t->err));
    CHECK_INT(1, snapshot->turn_count);
    CHECK_STR(valise_str_of("mine"), snapshot->session.label);
    valise_conversation_free(snapshot);
    CHECK_RC(VALISE_E_NOT_FOUND, valise_session_snapshot(&snapshot, v, "mine", NULL, &t->err));
    valise_close(v);
    valise_close(other);
}

static int count_session(void *arg, const valise_session *session, valise_error *err)
{
    (void)session;
    (void)err;
    ++*(int *)arg;
    return 0;
}

static int count_branch(void *arg, const valise_branch *branch, valise_error *err)
{
    int *count = arg;

    (void)err;
    count[0]++;
    count[1] += (int)branch->child_count;
    count[2] += (int)branch->session_count;
    return 0;
}

TEST(chat_api, lists_and_branches) /* [W15] [W7] */
{
    talk *k = talk_open(t);
    const char *s = talk_session(k, NULL);
    valise_turn_done first = say(k, s, VALISE_TURN_USER, "one");
    valise_turn_options turn = VALISE_TURN_OPTIONS_INIT;
    int sessions = 0, branches[3] = {0};

    (void)say(k, s, VALISE_TURN_ASSISTANT, "two");
    turn.text = valise_str_of("uno");
    CHECK_OK(valise_turn_edit(NULL, k->v, s, ref_of(&first), &turn, NULL, &t->err));
    (void)talk_session(k, NULL);
    CHECK_OK(valise_session_list(k->v, count_session, &sessions, NULL, &t->err));
    CHECK_INT(2, sessions);
    CHECK_OK(valise_branch_info(k->v, s, vls_uuid_text(&first.turn).s, count_branch, branches, NULL,
                                &t->err));
    CHECK_INT(2, branches[0]); /* versions */
    CHECK_INT(1, branches[1]); /* children */
    CHECK_INT(2, branches[2]); /* a head and a tip */
}

TEST(chat_api, refuses_what_is_not_whole) /* [W15] */
{
    talk *k = talk_open(t);
    valise_turn_options o = VALISE_TURN_OPTIONS_INIT;
    const char *s = talk_session(k, NULL);

    CHECK_RC(VALISE_E_INVALID, valise_turn_add(NULL, k->v, s, &o, NULL, &t->err));
    o.text = valise_str_of("x");
    o.flags = 64;
    CHECK_RC(VALISE_E_INVALID, valise_turn_add(NULL, k->v, s, &o, NULL, &t->err));
    o.flags = 0;
    o.role = 9;
    CHECK_RC(VALISE_E_INVALID, valise_turn_add(NULL, k->v, s, &o, NULL, &t->err));
    o.role = 0;
    o.size = 3;
    CHECK_RC(VALISE_E_INVALID, valise_turn_add(NULL, k->v, s, &o, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_turn_add(NULL, k->v, NULL, &o, NULL, &t->err));
    CHECK_INT(0, talk_count(k, &vls_turns));
}

/* ---- use, and the index ---- */

static int refuse(void *self, valise_pass *pass, valise_error *err)
{
    int *seen = self;

    (void)err;
    *seen += strcmp(valise_pass_op(pass)->name, "turn:add") == 0;
    return 0;
}

TEST(chat_api, middleware_comes_later) /* [W15] [K12] */
{
    talk *k = talk_open(t);
    int seen = 0;
    valise_middleware m = {
        .size = sizeof(m), .name = "counts", .self = &seen, .before = refuse, .after = NULL};
    const char *s = talk_session(k, NULL);

    (void)talk_say(k, s, "user", "unseen");
    CHECK_OK(valise_use(k->v, &m, &t->err));
    CHECK_RC(VALISE_E_EXISTS, valise_use(k->v, &m, &t->err));
    (void)talk_say(k, s, "user", "seen");
    CHECK_INT(1, seen);
}

static int count_entry(void *arg, valise_str key, valise_str json, valise_error *err)
{
    (void)key;
    (void)err;
    *(int *)arg += json.len > 0;
    return 0;
}

TEST(chat_api, the_index_is_read_from_memory) /* [W15] [W16] */
{
    talk *k = talk_open(t);
    const char *s = talk_session(k, "one");
    valise_blob *json = NULL;
    int count = 0;

    (void)talk_session(k, "two");
    CHECK_OK(valise_index_each(k->v, "sessions", VLS_STR(""), count_entry, &count, NULL, &t->err));
    CHECK(count >= 2);
    CHECK_INT(1, valise_index_get(&json, k->v, "sessions", valise_str_of(s), NULL, &t->err));
    CHECK(strstr(valise_blob_bytes(json).ptr, "one"));
    (void)valise_blob_unref(json);
    CHECK_INT(0, valise_index_get(&json, k->v, "sessions", VLS_STR("none"), NULL, &t->err));
}
