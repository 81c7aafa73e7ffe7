/* index.c -- six indexes that say what the store does. [W16] [K16] */
#include "memory/kit.h"

#include "base/str.h"

TEST_PARAMS(index, "memory", "sqlite")

#define MANY 100000

static const char *loaded(den *d)
{
    return den_run(d, "index:list", "{}");
}

TEST(index, there_are_six_and_none_is_loaded_before_it_is_used)
{
    den *d = den_open(t);
    const char *list;

    (void)den_run(d, "role:add", "{\"name\":\"r\",\"topics\":[\"x\"]}");
    (void)den_run(d, "context:add", "{\"key\":\"k\",\"text\":\"x\"}");
    if (d->dir)
        den_reopen(d);
    (void)den_run(d, "role:show", "{\"name\":\"r\"}");
    (void)den_run(d, "context:show", "{\"key\":\"k\"}");
    (void)den_run(d, "workspace:status", "{}");
    list = loaded(d);
    CHECK_INT(6, den_times(list, "\"name\":"));
    CHECK_INT(0, den_times(list, "\"loaded\":true"));
    (void)den_run(d, "index:query", "{\"name\":\"roles\"}");
    CHECK_INT(1, den_times(loaded(d), "\"loaded\":true")); /* that one alone */
    for (const char *const *name = (const char *const[]){"sessions", "roles", "preferences",
                                                         "context", "topics", "blobs", NULL};
         *name; name++)
        (void)den_run(d, "index:query", test_format("{\"name\":\"%s\"}", *name));
    CHECK_INT(6, den_times(loaded(d), "\"loaded\":true"));
}

TEST(index, entries_are_those_of_rows)
{
    den *d = den_open(t);
    const char *id;

    (void)den_run(d, "role:add", "{\"name\":\"r\",\"topics\":[\"x\"]}");
    id = den_member(den_run(d, "session:create", "{\"label\":\"L\",\"role\":\"r\"}"), "id");
    CHECK(strstr(den_run(d, "index:query", "{\"name\":\"sessions\"}"),
                 test_format("\"key\":\"%s\",\"value\":{", id)));
    CHECK(strstr(den_run(d, "index:query", "{\"name\":\"sessions\"}"), "\"label\":\"L\""));
    CHECK_TEXT("{\"items\":[{\"key\":\"x/role/r\",\"value\":{\"kind\":\"role\",\"of\":\"r\","
               "\"topic\":\"x\"}}]}",
               den_run(d, "index:query", "{\"name\":\"topics\"}"));
    /* A query sees what was just written, and the past. */
    (void)den_run(d, "role:update", "{\"name\":\"r\",\"topics\":[\"y\"]}");
    CHECK(strstr(den_run(d, "index:query", "{\"name\":\"topics\"}"), "y/role/r"));
    CHECK(strstr(den_at(d, "index:query", "{\"name\":\"topics\"}", "2"), "x/role/r"));
    CHECK_TEXT("{\"count\":1,\"seq\":2}", den_at(d, "index:count", "{\"name\":\"topics\"}", "2"));
    CHECK_RC(VALISE_E_NOT_FOUND, den_try(d, "index:count", "{\"name\":\"none\"}"));
    /* An erased label is in no index. [K20] */
    (void)den_run(d, "workspace:erase", test_format("{\"place\":\"session/%s\"}", id));
    CHECK(!strstr(den_run(d, "index:query", "{\"name\":\"sessions\"}"), "\"label\""));
    den_check(d);
}

/* Counted without being looked at; what it takes is measured by bench. */
TEST(index, hundred_thousand_sessions_are_counted)
{
    den *d = den_open(t);
    int step = MANY / 10;

    test_unwatched();
    for (int i = 0; i < 10; i++)
        (void)den_run(d, "crowd:sessions",
                      test_format("{\"from\":%d,\"count\":%d}", i * step, step));
    CHECK_TEXT("100000", den_member(den_run(d, "index:count", "{\"name\":\"sessions\"}"), "count"));
    CHECK_TEXT("10000", den_member(den_run(d, "index:count",
                                           "{\"name\":\"topics\",\"prefix\":\"tenth/session/\"}"),
                                   "count"));
    CHECK_TEXT("{\"items\":[{\"entries\":0,\"preferences\":0,\"roles\":0,\"sessions\":100000,"
               "\"topic\":\"all\"},{\"entries\":0,\"preferences\":0,\"roles\":0,"
               "\"sessions\":10000,\"topic\":\"tenth\"}]}",
               den_run(d, "topic:list", "{}"));
    CHECK_INT(1, den_times(den_run(d, "index:query",
                                   "{\"name\":\"sessions\",\"prefix\":"
                                   "\"00000000-0000-7000-8000-000000012345\"}"),
                           "\"key\""));
    CHECK_INT(16, den_times(den_run(d, "index:query",
                                    "{\"name\":\"sessions\",\"prefix\":"
                                    "\"00000000-0000-7000-8000-00000001234\"}"),
                            "\"key\""));
    (void)den_run(d, "session:create", "{\"topics\":[\"all\"]}");
    CHECK_TEXT("100001",
               den_member(den_run(d, "index:count", "{\"name\":\"topics\",\"prefix\":\"all/\"}"),
                          "count"));
}

/* ---- random commands ---- */

static test_rng rng;

static uint64_t below(uint64_t n)
{
    return test_random_below(&rng, n);
}

static const char *topics(void)
{
    static const char *const some[] = {"[]", "[\"a\"]", "[\"b\",\"a\"]", "[\"c/d\"]", "[\"%\"]"};

    return some[below(VLS_COUNT(some))];
}

static void step(den *d)
{
    unsigned n = (unsigned)below(6);
    const char *put;

    switch (below(10)) {
    case 0:
        (void)den_try(d, "role:add", test_format("{\"name\":\"r%u\",\"topics\":%s}", n, topics()));
        break;
    case 1:
        (void)den_try(d, "role:update",
                      test_format("{\"name\":\"r%u\",\"topics\":%s}", n, topics()));
        break;
    case 2:
        (void)den_try(d, "role:delete", test_format("{\"name\":\"r%u\"}", n));
        break;
    case 3:
        put = test_format("{\"id\":\"01a1e410-7146-7261-a0e0-7f52ef793d0%u\",\"content\":\"%llu\","
                          "\"topics\":%s}",
                          n, (unsigned long long)below(3), topics());
        if (den_try(d, "preference:add", put) < 0)
            (void)den_run(d, "preference:update", put);
        break;
    case 4:
        (void)den_try(d, below(3) ? "preference:delete" : "preference:erase",
                      test_format("{\"id\":\"01a1e410-7146-7261-a0e0-7f52ef793d0%u\"}", n));
        break;
    case 5:
    case 6:
        put = test_format("{\"key\":\"k/%u\",\"%s\",\"topics\":%s}", n,
                          below(2) ? "data\":\"b25l" : "text\":\"x", topics());
        if (den_try(d, "context:add", put) < 0)
            (void)den_run(d, "context:update", put);
        break;
    case 7:
        (void)den_try(d, "context:delete", test_format("{\"key\":\"k/%u\"}", n));
        break;
    case 8:
        (void)den_run(d, "session:create", test_format("{\"topics\":%s}", topics()));
        break;
    default:
        (void)den_run(d, "topic:merge", "{\"from\":[\"c/d\",\"%\"],\"to\":\"a\"}");
    }
}

static void query_all(den *d)
{
    static const char *const names[] = {"sessions", "roles",  "preferences",
                                        "context",  "topics", "blobs"};

    for (size_t i = 0; i < VLS_COUNT(names); i++)
        (void)den_run(d, "index:query", test_format("{\"name\":\"%s\"}", names[i]));
}

/* What is in memory was patched by each command; `sync` makes it anew and compares. The counts of
 * topic:list are those of a list. */
TEST(index, equals_the_store_after_random_commands)
{
    den *d = den_open(t);
    const char *all, *a;

    rng = test_rng_new(test_seed());
    query_all(d);
    for (int round = 0; round < 6; round++) {
        for (int i = 0; i < 25; i++)
            step(d);
        if (round % 2)
            query_all(d);
        den_check(d);
        all = den_run(d, "index:query", "{\"name\":\"topics\",\"prefix\":\"a/session/\"}");
        a = strstr(den_run(d, "topic:list", "{}"), "\"topic\":\"a\"");
        CHECK_INT(den_times(all, "\"key\""),
                  strtoll(den_member(den_run(d, "index:count",
                                             "{\"name\":\"topics\",\"prefix\":\"a/session/\"}"),
                                     "count"),
                          NULL, 10));
        CHECK(a || den_times(all, "\"key\"") == 0);
        if (d->dir)
            den_reopen(d);
    }
}
