/* write.c -- the commands of conversations, row by row of the tables: what they put, what they
 * answer, what is told of them. [W1] [W2] [W3] [W4] [W5] [W6] [W15] [W18] */
#include "kit/talk.h"

#include "blob/hold.h"
#include "bus/bus.h"
#include "chat/rows.h"

TEST_PARAMS(chat, "memory", "sqlite")

#define TEXT(said) "[{\"type\":\"text\",\"text\":\"" said "\"}]"
#define TURN(who, said) "\"turn\":{\"role\":\"" who "\",\"blocks\":" TEXT(said) "}"

/* One member of a row, as `show` has it. */
static const char *row_member(talk *k, const char *place, const char *member)
{
    const char *shown = talk_run(k, "workspace:show", "{\"target\":\"%s\"}", place);

    return talk_member(k, shown, member);
}

static const char *session_member(talk *k, const char *id, const char *member)
{
    return row_member(k, test_format("session/%s", id), test_format("value.%s", member));
}

static int heard(void *arg, const valise_event *event, valise_error *err)
{
    const char **types = arg;

    (void)err;
    *types = test_format("%s%s%.*s", *types, (*types)[0] ? " " : "", VALISE_STR_ARG(event->type));
    return 0;
}

/* What subscribers hear from here on, in *types. */
static valise_subscription *listen(talk *k, const char **types)
{
    test *t = k->t;
    valise_subscription *s = NULL;
    valise_follow o = {.size = sizeof(o)};

    *types = "";
    o.fn = heard;
    o.arg = types;
    CHECK_OK(valise_subscribe(&s, k->v, &o, &t->err));
    return s;
}

TEST(chat, session_create_puts_a_row) /* [W2] */
{
    talk *k = talk_open(t);
    const char *id = "01990000-0000-7000-8000-000000000001", *types;
    valise_subscription *s;

    (void)talk_run(k, "role:add", "{\"name\":\"lawyer\"}");
    s = listen(k, &types);
    CHECK_TEXT(id, talk_member(k,
                               talk_run(k, "session:create",
                                        "{\"id\":\"%s\",\"role\":\"lawyer\",\"topics\":[\"b\","
                                        "\"a\",\"b\"],\"label\":\"case\"}",
                                        id),
                               "id"));
    CHECK_TEXT("session:create session.created", types);
    valise_unsubscribe(s);
    CHECK_INT(1, talk_count(k, &vls_sessions));
    CHECK_INT(VALISE_E_EXISTS, talk_try(k, "session:create", "{\"id\":\"%s\"}", id));
    CHECK_INT(VALISE_E_NOT_FOUND, talk_try(k, "session:create", "{\"role\":\"nobody\"}"));
    CHECK_INT(1, talk_count(k, &vls_sessions));
    talk_check(k, true);
}

TEST(chat, turn_add_appends_to_the_head_and_retains_blobs) /* [W4] */
{
    talk *k = talk_open(t);
    const char *s = talk_session(k, "support"), *types;
    const char *first = talk_say(k, s, "user", "hello"), *answer;
    valise_subscription *sub = listen(k, &types);

    answer = talk_run(k, "turn:add",
                      "{\"sessionId\":\"support\",\"turn\":{\"role\":\"user\",\"blocks\":[{"
                      "\"type\":\"image\",\"data\":\"iVBORw0KGgo=\",\"mediaType\":\"image/png\"}],"
                      "\"hidden\":true,\"metadata\":{\"n\":1}}}");
    CHECK(strstr(types, "turn:add"));
    CHECK(strstr(types, "turn.added"));
    CHECK(strstr(types, "session.moved"));
    valise_unsubscribe(sub);
    CHECK(strcmp(first, talk_member(k, answer, "ref")) != 0);
    CHECK_TEXT(talk_member(k, answer, "ref"), talk_member(k, answer, "head"));
    CHECK_INT(64, strlen(talk_member(k, answer, "contentHash")));
    CHECK_INT(2, talk_count(k, &vls_turns));
    CHECK_INT(0, talk_count(k, &vls_edges)); /* one lane */
    CHECK_INT(1, talk_count(k, &vls_blob_holds));
    CHECK_INT(0, talk_count(k, &vls_tips));
    talk_check(k, true);
}

TEST(chat, content_hash_is_of_role_and_blocks) /* [W1] */
{
    talk *k = talk_open(t);
    const char *s = talk_session(k, NULL);
    const char *a, *b, *c;

    a = talk_member(k, talk_run(k, "turn:add", "{\"sessionId\":\"%s\"," TURN("user", "x") "}", s),
                    "contentHash");
    b = talk_member(k, talk_run(k, "turn:add", "{\"sessionId\":\"%s\"," TURN("user", "x") "}", s),
                    "contentHash");
    c = talk_member(k,
                    talk_run(k, "turn:add", "{\"sessionId\":\"%s\"," TURN("assistant", "x") "}", s),
                    "contentHash");
    CHECK_TEXT(a, b);
    CHECK(strcmp(a, c) != 0);
}

/* The seed's own words: "can branch history". [W4] */
TEST(chat, can_branch_history)
{
    talk *k = talk_open(t);
    const char *s = talk_session(k, NULL);
    const char *t1 = talk_say(k, s, "user", "one"), *t2 = talk_say(k, s, "assistant", "two");
    const char *answer =
        talk_run(k, "turn:branch",
                 "{\"sessionId\":\"%s\",\"parent\":\"%s\"," TURN("user", "three") "}", s, t1);
    const char *t3 = talk_member(k, answer, "ref");

    CHECK(strcmp(t2, t3) != 0);
    CHECK_INT(3, talk_count(k, &vls_turns));
    CHECK_INT(1, talk_count(k, &vls_tips)); /* two: nothing is lost */
    CHECK_INT(1, talk_count(k, &vls_edges));
    (void)talk_run(k, "turn:checkout", "{\"sessionId\":\"%s\",\"turnId\":\"%s\"}", s, t2);
    CHECK_INT(1, talk_count(k, &vls_tips)); /* three */
    (void)talk_run(k, "turn:merge",
                   "{\"sessionId\":\"%s\",\"parents\":[\"%s\",\"%s\"]," TURN("user", "both") "}", s,
                   t2, t3);
    CHECK_INT(0, talk_count(k, &vls_tips));
    CHECK_INT(2, talk_count(k, &vls_edges));
    talk_check(k, true);
}

TEST(chat, turn_edit_makes_the_next_version_and_moves_the_head) /* [W4] [W1] */
{
    talk *k = talk_open(t);
    const char *s = talk_session(k, NULL);
    const char *first = talk_say(k, s, "user", "one"), *answer;

    (void)talk_say(k, s, "assistant", "two");
    answer =
        talk_run(k, "turn:edit",
                 "{\"sessionId\":\"%s\",\"turnId\":\"HEAD~1\",\"newBlocks\":" TEXT("uno") "}", s);
    CHECK_TEXT("2", talk_member(k, answer, "version"));
    CHECK_TEXT(talk_member(k, answer, "ref"), talk_member(k, answer, "head"));
    CHECK_INT(3, talk_count(k, &vls_turns));
    CHECK_INT(1, talk_count(k, &vls_tips));
    /* Numbers are never used again: the newest one goes, and the next is 3. */
    (void)talk_run(k, "turn:delete", "{\"sessionId\":\"%s\",\"turnId\":\"HEAD\"}", s);
    CHECK_INT(2, talk_count(k, &vls_turns));
    answer = talk_run(k, "turn:edit",
                      "{\"sessionId\":\"%s\",\"turnId\":\"%s\",\"newBlocks\":" TEXT("eins") "}", s,
                      first);
    CHECK_TEXT("3", talk_member(k, answer, "version"));
    talk_check(k, false);
}

TEST(chat, a_fork_is_one_row) /* [W3] */
{
    talk *k = talk_open(t);
    const char *s = talk_session(k, NULL);

    for (int i = 0; i < 50; i++)
        (void)talk_say(k, s, i % 2 ? "assistant" : "user", test_format("turn %d", i));
    for (int i = 0; i < 1000; i++)
        (void)talk_run(k, "session:fork", "{\"sessionId\":\"%s\"}", s);
    CHECK_INT(1001, talk_count(k, &vls_sessions));
    CHECK_INT(50, talk_count(k, &vls_turns));
    CHECK_INT(0, talk_count(k, &vls_edges));
    CHECK_INT(0, talk_count(k, &vls_tips));
    CHECK_INT(0, talk_count(k, &vls_nodes));
    CHECK_INT(0, talk_count(k, &vls_loose));
    talk_check(k, true);
}

TEST(chat, the_role_follows_the_path) /* [W2] */
{
    talk *k = talk_open(t);
    const char *s, *before, *answer;

    (void)talk_run(k, "role:add", "{\"name\":\"judge\"}");
    (void)talk_run(k, "role:add", "{\"name\":\"lawyer\"}");
    s = talk_member(k, talk_run(k, "session:create", "{\"role\":\"judge\"}"), "id");
    before = talk_say(k, s, "user", "hello");
    (void)talk_run(k, "session:role:switch", "{\"sessionId\":\"%s\",\"newRole\":\"lawyer\"}", s);
    (void)talk_say(k, s, "user", "and now?");
    answer = talk_run(k, "session:fork", "{\"sessionId\":\"%s\"}", s);
    CHECK_TEXT("lawyer", talk_member(k, answer, "role"));
    answer = talk_run(k, "session:fork", "{\"sessionId\":\"%s\",\"turnId\":\"%s\"}", s, before);
    CHECK_TEXT("judge", talk_member(k, answer, "role"));
    CHECK_TEXT("lawyer", session_member(k, s, "role"));
    (void)talk_run(k, "turn:checkout", "{\"sessionId\":\"%s\",\"turnId\":\"%s\"}", s, before);
    CHECK_TEXT("judge", session_member(k, s, "role"));
    CHECK_INT(VALISE_E_NOT_FOUND,
              talk_try(k, "session:role:switch", "{\"sessionId\":\"%s\",\"newRole\":\"x\"}", s));
    talk_check(k, true);
}

static const char *switch_to(talk *k, const char *s, const char *role)
{
    (void)talk_run(k, "session:role:switch", "{\"sessionId\":\"%s\",\"newRole\":\"%s\"}", s, role);
    return session_member(k, s, "head");
}

static const char *join(talk *k, const char *s, const char *first, const char *second)
{
    (void)talk_run(k, "turn:merge",
                   "{\"sessionId\":\"%s\",\"parents\":[\"%s\",\"%s\"]," TURN("user", "both") "}", s,
                   first, second);
    return session_member(k, s, "head");
}

/* The path of a merge is that of its first parent, and then what is new on the second: both have
 * the lawyer in force, and still the last transition on it is the judge's. */
TEST(chat, the_role_of_a_merge_is_the_last_on_its_path) /* [W2] [P1] */
{
    talk *k = talk_open(t);
    const char *s = talk_session(k, NULL), *first, *lawyer, *judge, *both;

    (void)talk_run(k, "role:add", "{\"name\":\"judge\"}");
    (void)talk_run(k, "role:add", "{\"name\":\"lawyer\"}");
    first = talk_say(k, s, "user", "hello");
    lawyer = switch_to(k, s, "lawyer");
    (void)talk_run(k, "turn:checkout", "{\"sessionId\":\"%s\",\"turnId\":\"%s\"}", s, first);
    judge = switch_to(k, s, "judge");
    both = join(k, s, judge, lawyer);
    CHECK_TEXT("lawyer", session_member(k, s, "role"));
    (void)talk_run(k, "turn:checkout", "{\"sessionId\":\"%s\",\"turnId\":\"%s\"}", s, lawyer);
    lawyer = talk_say(k, s, "user", "go on");
    (void)join(k, s, lawyer, both);
    CHECK_TEXT("judge", session_member(k, s, "role"));
    talk_check(k, true);
}

TEST(chat, session_update_leaves_what_is_not_given) /* [W2] */
{
    talk *k = talk_open(t);
    const char *s = talk_session(k, "old");

    (void)talk_run(k, "session:update", "{\"sessionId\":\"old\",\"topics\":[\"x\"]}");
    CHECK_TEXT("old", session_member(k, s, "label"));
    (void)talk_run(k, "session:update", "{\"sessionId\":\"old\",\"label\":\"new\"}");
    CHECK_TEXT("[\"x\"]", session_member(k, s, "topics"));
    CHECK_TEXT("new", session_member(k, s, "label"));
    CHECK_INT(VALISE_E_NOT_FOUND, talk_try(k, "session:update", "{\"sessionId\":\"old\"}"));
    (void)talk_run(k, "session:update", "{\"sessionId\":\"new\",\"label\":\"\"}");
    CHECK_TEXT("", session_member(k, s, "label"));
    talk_check(k, true);
}

TEST(chat, expect_is_the_head) /* [K8] */
{
    talk *k = talk_open(t);
    const char *s = talk_session(k, NULL), *head;

    CHECK_INT(VALISE_E_CONFLICT,
              talk_try_expecting(k, "\"x\"", "turn:add",
                                 "{\"sessionId\":\"%s\"," TURN("user", "a") "}", s));
    CHECK_OK(talk_try_expecting(k, "null", "turn:add",
                                "{\"sessionId\":\"%s\"," TURN("user", "a") "}", s));
    CHECK_INT(VALISE_E_CONFLICT,
              talk_try_expecting(k, "null", "turn:add",
                                 "{\"sessionId\":\"%s\"," TURN("user", "b") "}", s));
    head = talk_say(k, s, "user", "b");
    CHECK_OK(talk_try_expecting(k, test_format("\"%s\"", head), "turn:add",
                                "{\"sessionId\":\"%s\"," TURN("user", "c") "}", s));
    CHECK_INT(3, talk_count(k, &vls_turns));
}

TEST(chat, session_delete_removes_what_only_it_has) /* [W6] */
{
    talk *k = talk_open(t);
    const char *s = talk_session(k, NULL), *fork, *shared = NULL;

    for (int i = 0; i < 4; i++)
        shared = talk_say(k, s, "user", test_format("turn %d", i));
    fork = talk_member(
        k, talk_run(k, "session:fork", "{\"sessionId\":\"%s\",\"turnId\":\"%s\"}", s, shared),
        "id");
    (void)talk_say(k, s, "user", "mine");
    (void)talk_run(k, "turn:edit", "{\"sessionId\":\"%s\",\"turnId\":\"HEAD\",\"text\":\"again\"}",
                   s);
    CHECK_INT(6, talk_count(k, &vls_turns));
    (void)talk_run(k, "session:delete", "{\"sessionId\":\"%s\"}", s);
    CHECK_INT(4, talk_count(k, &vls_turns));
    CHECK_INT(0, talk_count(k, &vls_tips));
    talk_check(k, true);
    (void)talk_run(k, "session:delete", "{\"sessionId\":\"%s\"}", fork);
    CHECK_INT(0, talk_count(k, &vls_turns));
    CHECK_INT(0, talk_count(k, &vls_edges));
    talk_check(k, true);
}

TEST(chat, a_long_session_goes_in_parts) /* [W6] */
{
    talk *k = talk_open(t);
    const char *s = talk_session(k, NULL);

    test_unwatched();
    for (int i = 0; i < 2 * VLS_SWEEP_MAX + 100; i++)
        (void)talk_say(k, s, "user", test_format("turn %d", i));
    CHECK_TEXT("true",
               talk_member(k, talk_run(k, "session:delete", "{\"sessionId\":\"%s\"}", s), "more"));
    CHECK_INT(0, talk_count(k, &vls_turns)); /* the rest followed */
    CHECK_INT(0, talk_count(k, &vls_loose));
    talk_check(k, true);
}

TEST(chat, a_pin_holds_a_turn) /* [W1] [K35] */
{
    talk *k = talk_open(t);
    const char *s = talk_session(k, NULL);
    const char *ref = talk_say(k, s, "user", "kept"), *at = strchr(ref, '@');

    (void)talk_say(k, s, "user", "not kept");
    (void)talk_run(k, "pin:add", "{\"name\":\"p\",\"target\":\"turn/%.*s/%s\"}", (int)(at - ref),
                   ref, at + 1);
    (void)talk_run(k, "session:delete", "{\"sessionId\":\"%s\"}", s);
    CHECK_INT(1, talk_count(k, &vls_turns));
    CHECK_INT(1, talk_count(k, &vls_loose));
    (void)talk_run(k, "workspace:gc", "{}");
    CHECK_INT(1, talk_count(k, &vls_turns));
    (void)talk_run(k, "pin:remove", "{\"name\":\"p\"}");
    (void)talk_run(k, "workspace:gc", "{}");
    CHECK_INT(0, talk_count(k, &vls_turns));
    CHECK_INT(0, talk_count(k, &vls_loose));
    talk_check(k, true);
}

TEST(chat, turn_delete_removes_a_leaf_and_empties_the_rest) /* [W5] */
{
    talk *k = talk_open(t);
    const char *s = talk_session(k, NULL);
    const char *t1 = talk_say(k, s, "user", "first secret"), *t2, *answer;

    t2 = talk_say(k, s, "user", "second");
    (void)talk_say(k, s, "user", "third");
    answer = talk_run(k, "turn:delete", "{\"sessionId\":\"%s\",\"turnId\":\"HEAD\"}", s);
    CHECK_TEXT(t2, talk_member(k, answer, "head"));
    CHECK_INT(2, talk_count(k, &vls_turns));
    answer = talk_run(k, "turn:delete", "{\"sessionId\":\"%s\",\"turnId\":\"%s\"}", s, t1);
    CHECK_TEXT("0", talk_member(k, answer, "removed"));
    CHECK_TEXT("1", talk_member(k, answer, "erased"));
    CHECK_INT(2, talk_count(k, &vls_turns)); /* a placeholder */
    talk_check(k, false);
    answer = talk_run(k, "turn:delete",
                      "{\"sessionId\":\"%s\",\"turnId\":\"%s\",\"recursive\":true}", s, t1);
    CHECK_TEXT("", talk_member(k, answer, "head"));
    CHECK_INT(0, talk_count(k, &vls_turns));
    talk_check(k, false);
}

TEST(chat, turn_delete_names_who_is_in_the_way) /* [W5] */
{
    talk *k = talk_open(t);
    const char *s = talk_session(k, NULL), *fork;
    const char *t1 = talk_say(k, s, "user", "one");

    (void)talk_say(k, s, "user", "two");
    fork = talk_member(k, talk_run(k, "session:fork", "{\"sessionId\":\"%s\"}", s), "id");
    CHECK_INT(VALISE_E_CONFLICT,
              talk_try(k, "turn:delete", "{\"sessionId\":\"%s\",\"turnId\":\"HEAD\"}", s));
    CHECK(strstr(t->err.message, fork));
    CHECK_INT(VALISE_E_CONFLICT,
              talk_try(k, "turn:delete",
                       "{\"sessionId\":\"%s\",\"turnId\":\"%s\",\"recursive\":true}", s, t1));
    CHECK_INT(2, talk_count(k, &vls_turns));
    (void)talk_run(k, "turn:delete", "{\"sessionId\":\"%s\",\"turnId\":\"HEAD\",\"force\":true}",
                   s);
    CHECK_TEXT(t1,
               talk_member(k, talk_run(k, "session:fork", "{\"sessionId\":\"%s\"}", fork), "head"));
    talk_check(k, false);
}

TEST(chat, session_erase_takes_what_only_it_has) /* [W5] [K20] */
{
    talk *k = talk_open(t);
    const char *s = talk_session(k, "secret label"), *answer;

    (void)talk_say(k, s, "user", "shared");
    (void)talk_run(k, "session:fork", "{\"sessionId\":\"%s\"}", s);
    (void)talk_say(k, s, "user", "mine alone");
    answer = talk_run(k, "session:erase", "{\"sessionId\":\"%s\",\"reason\":\"asked\"}", s);
    CHECK_TEXT("1", talk_member(k, answer, "erased"));
    CHECK_INT(1, talk_count(k, &vls_turns));
    CHECK_INT(1, talk_count(k, &vls_sessions));
    talk_check(k, false);
}

TEST(chat, old_sessions_go_by_retention) /* [K30] */
{
    talk *k = talk_open(t);

    for (int i = 0; i < 5; i++)
        (void)talk_say(k, talk_session(k, NULL), "user", test_format("turn %d", i));
    (void)talk_run(k, "retention:set", "{\"kind\":\"session\",\"keepLatest\":2}");
    (void)talk_run(k, "workspace:gc", "{}");
    CHECK_INT(2, talk_count(k, &vls_sessions));
    CHECK_INT(2, talk_count(k, &vls_turns));
    talk_check(k, true);
}
