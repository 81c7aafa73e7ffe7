/* retention.c -- expiry of the log, garbage, and repair, through the operations. [K21 K30 K32 K35]
 */
#include <sqlite3.h>

#include "base/str.h"
#include "kernel/kit.h"

TEST_PARAMS(retention, "memory", "sqlite")

static int64_t number_in(const char *json, const char *key)
{
    const char *at = strstr(json, test_format("\"%s\":", key));
    long long number = 0;

    CHECK_MSG(at, "%s has no %s", json, key);
    CHECK_INT(1, sscanf(strchr(at, ':') + 1, "%lld", &number));
    return number;
}

static void add(test *t, valise *v, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        (void)ws_run(t, v, "counter:add", test_format("{\"name\":\"%s\"}", name));
}

TEST(retention, keeps_the_latest_entries_and_the_chain)
{
    valise *v = ws_open(t);
    const char *hash, *answer;

    add(t, v, 30, "a"); /* 2 to 31 */
    (void)ws_run(t, v, "retention:set", "{\"kind\":\"log\",\"keepLatest\":10}");
    hash = ws_run(t, v, "workspace:hash", NULL);
    answer = ws_run(t, v, "workspace:gc", NULL);
    CHECK_INT(22, number_in(answer, "entries")); /* of 32 */
    CHECK_TEXT(hash, ws_run(t, v, "workspace:hash", NULL));
    ws_is_partial(t, v); /* [K32] */
    CHECK_INT(22, number_in(ws_run(t, v, "workspace:status", NULL), "oldest"));
    /* The past that is left is as it was, and what is before it is named. */
    CHECK(strstr(ws_run_at(t, v, "counter:get", "{\"name\":\"a\"}", "22"), "\"value\":21"));
    {
        valise_call call = VALISE_CALL_INIT;
        call.at = VLS_STR("21");
        CHECK_RC(VALISE_E_LIMIT,
                 valise_dispatch(NULL, v, "counter:get", "{\"name\":\"a\"}", &call, &t->err));
        CHECK(strstr(t->err.hint, "22"));
    }
    CHECK_INT(0, number_in(ws_run(t, v, "workspace:gc", NULL), "entries"));
}

TEST(retention, a_pin_holds_the_state_it_names)
{
    valise *v = ws_open(t);

    add(t, v, 10, "a");
    (void)ws_run(t, v, "pin:add", "{\"name\":\"p\",\"target\":\"5\"}");
    (void)ws_run(t, v, "retention:set", "{\"kind\":\"log\",\"keepLatest\":1}");
    CHECK_INT(5, number_in(ws_run(t, v, "workspace:gc", NULL), "entries"));
    CHECK(strstr(ws_run_at(t, v, "counter:get", "{\"name\":\"a\"}", "5"), "\"value\":4"));
    (void)ws_run(t, v, "pin:remove", "{\"name\":\"p\"}");
    CHECK(number_in(ws_run(t, v, "workspace:gc", NULL), "entries") > 5);
    ws_is_partial(t, v);                                   /* [K32] */
    (void)ws_run(t, v, "counter:add", "{\"name\":\"a\"}"); /* the chain goes on */
    ws_is_partial(t, v);                                   /* [K32] */
}

/* [K30 K35] */
TEST(retention, a_pin_holds_a_row_as_it_was)
{
    valise *v = ws_open(t);

    (void)ws_run(t, v, "vault:put", "{\"name\":\"a\",\"body\":\"important\"}");
    (void)ws_run(t, v, "pin:add", "{\"name\":\"hold\",\"target\":\"vault.entry/a\"}"); /* 3 */
    (void)ws_run(t, v, "vault:put", "{\"name\":\"a\",\"body\":\"other\"}");
    (void)ws_run(t, v, "retention:set", "{\"kind\":\"log\",\"keepLatest\":1}");
    CHECK_INT(2, number_in(ws_run(t, v, "workspace:gc", "{\"grace\":\"0s\"}"), "entries"));
    CHECK_INT(2, number_in(ws_run(t, v, "workspace:status", NULL), "pinned"));
    CHECK(strstr(ws_run_at(t, v, "vault:get", "{\"name\":\"a\"}", "2"), "\"readable\":true"));
    (void)ws_run(t, v, "pin:remove", "{\"name\":\"hold\"}");
    CHECK(number_in(ws_run(t, v, "workspace:gc", "{\"grace\":\"0s\"}"), "objects") > 0);
}

TEST(retention, a_pin_on_an_object_holds_that_alone)
{
    valise *v = ws_open(t);
    const char *id;

    (void)ws_run(t, v, "vault:put", "{\"name\":\"a\",\"body\":\"important\"}");
    id = strstr(ws_run(t, v, "workspace:show", "{\"target\":\"vault.entry/a\"}"), "\"body\":\"");
    CHECK(id);
    id += strlen("\"body\":\"");
    (void)ws_run(t, v, "pin:add", test_format("{\"name\":\"hold\",\"target\":\"%.64s\"}", id));
    (void)ws_run(t, v, "vault:remove", "{\"name\":\"a\"}");
    (void)ws_run(t, v, "retention:set", "{\"kind\":\"log\",\"keepLatest\":1}");
    CHECK_INT(4, number_in(ws_run(t, v, "workspace:gc", "{\"grace\":\"0s\"}"), "entries"));
    CHECK(strstr(ws_run(t, v, "workspace:show", test_format("{\"target\":\"%.64s\"}", id)),
                 "important"));
}

/* What status calls the oldest state can be pinned, and nothing before it. */
TEST(retention, the_oldest_state_can_be_pinned)
{
    valise *v = ws_open(t);

    (void)ws_run(t, v, "pin:add", "{\"name\":\"all\",\"target\":\"0\"}");
    CHECK_INT(0, number_in(ws_run(t, v, "workspace:status", NULL), "pinned"));
    (void)ws_run(t, v, "pin:remove", "{\"name\":\"all\"}");
    add(t, v, 10, "a");
    (void)ws_run(t, v, "retention:set", "{\"kind\":\"log\",\"keepLatest\":4}");
    (void)ws_run(t, v, "workspace:gc", NULL);
    CHECK_INT(10, number_in(ws_run(t, v, "workspace:status", NULL), "oldest")); /* of 14 */
    CHECK_TEXT("{\"existed\":false,\"seq\":10}",
               ws_run(t, v, "pin:add", "{\"name\":\"p\",\"target\":\"10\"}"));
    ws_fails(t, v, VALISE_E_NOT_FOUND, "pin:add", "{\"name\":\"q\",\"target\":\"9\"}");
    CHECK(strstr(t->err.message, "from 10 to 15"));
    add(t, v, 10, "a");
    (void)ws_run(t, v, "workspace:gc", NULL);
    CHECK(strstr(ws_run_at(t, v, "counter:get", "{\"name\":\"a\"}", "10"), "\"value\":7"));
}

static int64_t wall_ns;

static int64_t on_the_wall(void *self)
{
    (void)self;
    return wall_ns;
}

#define HOUR_NS (INT64_C(3600) * 1000000000)

/* [K3 K30] The log's clock never falls, so one wrong hour would make all that came before old. */
TEST(retention, a_clock_that_was_ahead_for_a_moment)
{
    valise_env env = *t->env;
    const valise_env *before = t->env;
    valise *v;

    wall_ns = INT64_C(1800000000) * 1000000000;
    env.now_ns = on_the_wall;
    t->env = &env;
    v = ws_open_at(t, strcmp(t->param, "memory") == 0 ? ":memory:" : ws_path());
    t->env = before;
    add(t, v, 10, "a");
    (void)ws_run(t, v, "retention:set", "{\"kind\":\"log\",\"age\":\"1d\"}");
    wall_ns += 1000 * HOUR_NS;
    (void)ws_run(t, v, "pin:list", NULL);
    add(t, v, 1, "a");
    wall_ns -= 999 * HOUR_NS;
    CHECK_INT(0, number_in(ws_run(t, v, "workspace:gc", NULL), "entries"));
    wall_ns += 24 * HOUR_NS; /* now they are old; the one with the wrong time is not yet */
    CHECK_INT(12, number_in(ws_run(t, v, "workspace:gc", NULL), "entries"));
    valise_close(v);
}

TEST(retention, by_bytes_and_by_age)
{
    valise *v = ws_open(t);
    int64_t by_bytes;

    add(t, v, 50, "a");
    (void)ws_run(t, v, "retention:set", "{\"kind\":\"log\",\"bytes\":5000}");
    by_bytes = number_in(ws_run(t, v, "workspace:gc", NULL), "entries");
    CHECK(by_bytes > 20 && by_bytes < 50);
    (void)ws_run(t, v, "retention:set", "{\"kind\":\"log\",\"age\":\"1000d\"}");
    CHECK_INT(0, number_in(ws_run(t, v, "workspace:gc", NULL), "entries"));
    (void)ws_run(t, v, "retention:set", "{\"kind\":\"log\",\"age\":\"0s\"}");
    CHECK(number_in(ws_run(t, v, "workspace:gc", NULL), "entries") > 0);
    CHECK(strstr(ws_run(t, v, "retention:list", NULL), "\"age\":\"0s\""));
    (void)ws_run(t, v, "retention:set", "{\"kind\":\"log\"}"); /* no limits: everything stays */
    CHECK_TEXT("{\"items\":[]}", ws_run(t, v, "retention:list", NULL));
    add(t, v, 5, "a");
    CHECK_INT(0, number_in(ws_run(t, v, "workspace:gc", NULL), "entries"));
}

TEST(retention, refuses_what_it_does_not_keep)
{
    valise *v = ws_open(t);

    ws_fails(t, v, VALISE_E_NOT_FOUND, "retention:set", "{\"kind\":\"dust\"}");
    ws_fails(t, v, VALISE_E_INVALID, "retention:set", "{\"kind\":\"log\",\"keepOneIn\":2}");
    ws_fails(t, v, VALISE_E_INVALID, "retention:set", "{\"kind\":\"log\",\"keepLatest\":0}");
}

TEST(retention, deletions_are_forgotten_with_the_entries)
{
    valise *v = ws_open(t);

    (void)ws_run(t, v, "counter:add", "{\"name\":\"gone\"}");
    (void)ws_run(t, v, "counter:remove", "{\"name\":\"gone\"}");
    add(t, v, 20, "a");
    (void)ws_run(t, v, "retention:set", "{\"kind\":\"log\",\"keepLatest\":2}");
    CHECK(number_in(ws_run(t, v, "workspace:gc", NULL), "entries") > 10);
    ws_is_partial(t, v); /* [K32] */
    (void)ws_run(t, v, "counter:add", "{\"name\":\"gone\"}");
    ws_is_partial(t, v); /* [K32] */
}

TEST(retention, the_file_shrinks_and_nothing_says_freed_that_is_not)
{
    valise *v;
    int64_t before, after, freed;
    static char body[3000];

    if (strcmp(t->param, "memory") == 0)
        SKIP("memory has no file");
    v = ws_open(t);
    for (size_t i = 0; i < sizeof(body) - 1; i++)
        body[i] = (char)('a' + i % 26);
    for (int i = 0; i < 300; i++)
        (void)ws_run(t, v, "vault:put",
                     test_format("{\"name\":\"a\",\"body\":\"%d %s\"}", i, body));
    (void)ws_run(t, v, "workspace:gc", NULL); /* the write-ahead log is in the file now */
    before = number_in(ws_run(t, v, "workspace:status", NULL), "bytes");
    (void)ws_run(t, v, "retention:set", "{\"kind\":\"log\",\"keepLatest\":1}");
    freed = number_in(ws_run(t, v, "workspace:gc", "{\"grace\":\"0s\"}"), "freed");
    after = number_in(ws_run(t, v, "workspace:status", NULL), "bytes");
    test_note("%lld bytes, then %lld; %lld freed", (long long)before, (long long)after,
              (long long)freed);
    CHECK(freed > 800000);
    CHECK(after <= before - freed / 2);
    ws_is_partial(t, v); /* [K32] */
    CHECK(strstr(ws_run(t, v, "vault:get", "{\"name\":\"a\"}"), "\"readable\":true"));
}

/* ---- repair ---- */

static void damage_index(void)
{
    const char *path = test_format("%s/.valise/valise.db", ws_path());
    sqlite3 *db = NULL;
    char *text = NULL;
    int rc;

    CHECK_INT(SQLITE_OK, sqlite3_open(path, &db));
    /* An index that lacks rows: its own b-tree is emptied behind the table's back. */
    rc = sqlite3_exec(db,
                      "PRAGMA writable_schema=ON;"
                      "UPDATE sqlite_schema SET sql = 'CREATE INDEX log_id8 ON log(id8) WHERE 0'"
                      " WHERE name = 'log_id8';"
                      "PRAGMA writable_schema=RESET; REINDEX log_id8;"
                      "PRAGMA writable_schema=ON;"
                      "UPDATE sqlite_schema SET sql = 'CREATE INDEX log_id8 ON log(id8)'"
                      " WHERE name = 'log_id8';"
                      "PRAGMA writable_schema=RESET;",
                      NULL, NULL, &text);
    CHECK_MSG(rc == SQLITE_OK, "%s", text ? text : "");
    CHECK_INT(SQLITE_OK, sqlite3_close(db));
}

TEST(repair, an_index_of_the_store_is_made_again) /* [K22] */
{
    valise *v = ws_open_at(t, ws_path());

    add(t, v, 5, "a");
    valise_close(v);
    damage_index();
    v = ws_open_at(t, ws_path());
    ws_fails(t, v, VALISE_E_CORRUPT, "workspace:validate", NULL);
    const char *answer = ws_run(t, v, "workspace:repair", NULL);
    CHECK(number_in(answer, "rebuilt") > 0);
    CHECK(number_in(answer, "found") > 0);
    CHECK_INT(number_in(answer, "found"), number_in(answer, "mended"));
    CHECK_INT(0, number_in(answer, "left"));
    CHECK_MSG(strstr(answer, "{\"mended\":true,\"place\":\"store\",\"problem\":\""), "%s", answer);
    CHECK_MSG(strstr(answer, "log_id8"), "%s", answer);
    CHECK_TEXT("{\"found\":0,\"left\":0,\"mended\":0,\"problems\":[],\"rebuilt\":0}",
               ws_run(t, v, "workspace:repair", NULL));
    CHECK_TEXT("{\"items\":[]}", ws_run(t, v, "workspace:validate", NULL));
    valise_close(v);
}

/* A free page that is linked to twice: no index, so it stays, and the answer says so. */
TEST(repair, what_cannot_be_mended_is_told) /* [K22] */
{
    valise *v = ws_open_at(t, ws_path());
    const char *path = test_format("%s/.valise/valise.db", ws_path());
    sqlite3 *db = NULL;

    add(t, v, 5, "a");
    valise_close(v);
    CHECK_INT(SQLITE_OK, sqlite3_open(path, &db));
    CHECK_INT(SQLITE_OK, sqlite3_exec(db,
                                      "PRAGMA writable_schema=ON;"
                                      "CREATE TABLE stray(a); CREATE TABLE other(a);"
                                      "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM "
                                      "sqlite_schema WHERE name = 'other') WHERE name = 'stray';",
                                      NULL, NULL, NULL));
    CHECK_INT(SQLITE_OK, sqlite3_close(db));
    damage_index();
    v = ws_open_at(t, ws_path());
    const char *answer = ws_run(t, v, "workspace:repair", NULL);
    CHECK_MSG(number_in(answer, "left") > 0, "%s", answer);
    CHECK_MSG(number_in(answer, "mended") > 0, "%s", answer);
    CHECK_INT(number_in(answer, "found"), number_in(answer, "mended") + number_in(answer, "left"));
    CHECK(strstr(answer, "{\"mended\":false,"));
    valise_close(v);
}

TEST(retention, goes_on_by_itself_while_commands_are_written)
{
    valise *v = ws_open(t);

    (void)ws_run(t, v, "retention:set", "{\"kind\":\"log\",\"keepLatest\":100}");
    add(t, v, 990, "a");
    CHECK_INT(0, number_in(ws_run(t, v, "workspace:status", NULL), "oldest"));
    add(t, v, 20, "a");
    CHECK_INT(900, number_in(ws_run(t, v, "workspace:status", NULL), "oldest"));
    ws_is_partial(t, v); /* [K32] */
}
