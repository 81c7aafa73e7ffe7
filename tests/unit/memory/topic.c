/* topic.c -- topics: what has them, and several that become one. [W13] */
#include "memory/kit.h"

TEST_PARAMS(topic, "memory", "sqlite")

static void fill(den *d)
{
    (void)den_run(d, "role:add", "{\"name\":\"r\",\"persona\":\"p\",\"topics\":[\"go\",\"x\"]}");
    (void)den_run(d, "session:create", "{\"topics\":[\"golang\",\"go\"]}");
    (void)den_run(d, "session:create", "{\"topics\":[\"go/lang%\"]}");
    (void)den_run(d, "preference:add", "{\"content\":\"c\",\"topics\":[\"golang\"]}");
    (void)den_run(d, "context:add", "{\"key\":\"a/b\",\"text\":\"c\",\"topics\":[\"go\"]}");
}

TEST(topic, are_listed_with_what_has_them)
{
    den *d = den_open(t);
    const char *list;

    CHECK_TEXT("{\"items\":[]}", den_run(d, "topic:list", "{}"));
    fill(d);
    list = den_run(d, "topic:list", "{}");
    CHECK(strstr(list, "{\"entries\":1,\"preferences\":0,\"roles\":1,\"sessions\":1,\"topic\":"
                       "\"go\"}"));
    CHECK(strstr(list, "{\"entries\":0,\"preferences\":1,\"roles\":0,\"sessions\":1,\"topic\":"
                       "\"golang\"}"));
    CHECK(strstr(list, "{\"entries\":0,\"preferences\":0,\"roles\":0,\"sessions\":1,\"topic\":"
                       "\"go/lang%\"}"));
    CHECK_INT(4, den_times(list, "\"topic\""));
    CHECK(!strstr(den_at(d, "topic:list", "{}", "2"), "golang")); /* [K35] */
    den_check(d);
}

TEST(topic, several_become_one)
{
    den *d = den_open(t);
    const char *list;
    int64_t seq;

    fill(d);
    CHECK_TEXT("{\"entries\":1,\"preferences\":1,\"roles\":1,\"sessions\":2}",
               den_run(d, "topic:merge",
                       "{\"from\":[\"golang\",\"go/lang%\",\"go\",\"Go\"],\"to\":\"Go\"}"));
    list = den_run(d, "topic:list", "{}");
    CHECK_INT(2, den_times(list, "\"topic\""));
    CHECK(strstr(list, "{\"entries\":1,\"preferences\":1,\"roles\":1,\"sessions\":2,\"topic\":"
                       "\"Go\"}"));
    /* A role has a new version, with all else it said. */
    list = den_run(d, "role:show", "{\"name\":\"r\"}");
    CHECK_TEXT("2", den_member(list, "version"));
    CHECK_TEXT("p", den_member(list, "persona"));
    CHECK(strstr(list, "\"topics\":[\"Go\",\"x\"]"));
    CHECK(strstr(den_run(d, "role:show", "{\"name\":\"r\",\"version\":1}"), "[\"go\",\"x\"]"));
    CHECK_INT(2, den_times(den_run(d, "context:history", "{\"key\":\"a/b\"}"), "\"seq\""));
    den_check(d);

    seq = den_seq(d);
    CHECK_TEXT("{\"entries\":0,\"preferences\":0,\"roles\":0,\"sessions\":0}",
               den_run(d, "topic:merge", "{\"from\":[\"golang\",\"Go\"],\"to\":\"Go\"}"));
    CHECK_INT(seq, den_seq(d));
}

TEST(topic, a_merge_has_limits)
{
    den *d = den_open(t);
    int64_t seq;

    test_unwatched();
    den_refused(d, VALISE_E_INVALID, "from", "topic:merge", "{\"from\":[],\"to\":\"b\"}");
    den_refused(d, VALISE_E_INVALID, "space", "topic:merge", "{\"from\":[\"a\"],\"to\":\"b \"}");
    den_refused(d, VALISE_E_INVALID, "topic", "topic:merge", "{\"from\":[\"\"],\"to\":\"b\"}");
    (void)den_run(d, "crowd:sessions", "{\"from\":0,\"count\":10001}");
    seq = den_seq(d);
    den_refused(d, VALISE_E_LIMIT, "more than 10000", "topic:merge",
                "{\"from\":[\"all\"],\"to\":\"b\"}");
    CHECK_INT(seq, den_seq(d));
    CHECK_TEXT("1001", den_member(den_run(d, "topic:merge", "{\"from\":[\"tenth\"],\"to\":\"b\"}"),
                                  "sessions"));
    den_check(d);
}

TEST(topic, a_merge_needs_the_right_to_each)
{
    den *d = den_open(t);

    fill(d);
    (void)den_run(d, "agent:add",
                  "{\"id\":\"eve\",\"role\":\"none\",\"capabilities\":[\"session:write\"]}");
    CHECK_RC(VALISE_E_DENIED,
             den_try_as(d, "eve", "topic:merge", "{\"from\":[\"go\"],\"to\":\"b\"}"));
    CHECK_OK(den_try_as(d, "eve", "topic:merge", "{\"from\":[\"go/lang%\"],\"to\":\"b\"}"));
    CHECK_RC(VALISE_E_DENIED, den_try_as(d, "eve", "topic:list", "{}"));
    den_check(d);
}
