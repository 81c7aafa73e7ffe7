/* erase.c -- what is erased is in no file any more. [K20 K9 K32] */
#include <dirent.h>
#include <sqlite3.h>

#include "harness/process.h"
#include "kernel/kit.h"

TEST_PARAMS(erase, "memory", "sqlite")

#define SECRET "hunter2-correct-horse"

/* A payload with the secret in every content: label, small and large body, meta. */
static const char *payload(const char *name, int round, bool large)
{
    static char body[60000];
    size_t len = 0;

    for (int i = 0; large && len < sizeof(body) - 100; i++)
        len += (size_t)snprintf(body + len, sizeof(body) - len, "line %d of %d, ", i * i, round);
    (void)snprintf(body + len, sizeof(body) - len, "%s body %d", SECRET, round);
    return test_format("{\"name\":\"%s\",\"label\":\"%s label %d\",\"body\":\"%s\","
                       "\"meta\":{\"why\":\"%s meta\",\"round\":%d}}",
                       name, SECRET, round, body, SECRET, round);
}

/* Files below the folder that contain the secret. */
static int count_files(const char *folder)
{
    DIR *dir = opendir(folder);
    int count = 0;

    CHECK(dir);
    for (struct dirent *e; (e = readdir(dir));) {
        const char *path = test_format("%s/%s", folder, e->d_name);
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (e->d_type == DT_DIR) {
            count += count_files(path);
        } else {
            valise_str bytes = test_read_file(path);
            if (memmem(bytes.ptr, bytes.len, SECRET, strlen(SECRET))) {
                test_note("it is in %s", e->d_name);
                count++;
            }
        }
    }
    CHECK_INT(0, closedir(dir));
    return count;
}

static void check_clean(test *t, valise *v)
{
    ws_is_partial(t, v); /* [K20] [K32] */
    CHECK(strstr(ws_run(t, v, "workspace:validate", NULL), "\"place\":\"contents\""));
    if (strcmp(t->param, "memory") != 0)
        CHECK_INT(0, count_files(ws_path()));
}

TEST(erase, a_planted_secret_is_gone_from_every_file)
{
    valise *v = ws_open(t);
    const char *answer;

    (void)ws_run(t, v, "vault:put", "{\"name\":\"other\",\"label\":\"stays\"}");
    for (int round = 0; round < 4; round++)
        (void)ws_run(t, v, "vault:put", payload("a", round, round == 2));
    if (strcmp(t->param, "memory") != 0)
        CHECK(count_files(ws_path()) > 0);
    answer = ws_run(t, v, "workspace:erase",
                    "{\"place\":\"vault.entry/a\",\"reason\":\"a leaked key\"}");
    CHECK(strstr(answer, "\"places\":[\"vault.entry/a\"]"));
    CHECK(strstr(answer, "\"entries\":4"));
    CHECK(strstr(answer, "\"objects\":4"));
    CHECK(!strstr(answer, "residue"));
    check_clean(t, v);
    /* The place stays, without contents, and is marked. */
    CHECK_TEXT("{\"readable\":false,\"there\":true}",
               ws_run(t, v, "vault:get", "{\"name\":\"a\"}"));
    CHECK_TEXT("{\"readable\":false,\"there\":true}",
               ws_run_at(t, v, "vault:get", "{\"name\":\"a\"}", "4"));
    CHECK(strstr(ws_run(t, v, "vault:get", "{\"name\":\"other\"}"), "stays"));
    CHECK(strstr(ws_run(t, v, "log:list", "{\"type\":\"erasure:record\"}"), "a leaked key"));
    CHECK(strstr(ws_run(t, v, "workspace:show",
                        test_format("{\"target\":\"erasure/vault.entry%%2Fa/%d\"}", 7)),
                 "a leaked key"));
}

TEST(erase, versions_before_a_deletion_go_too)
{
    valise *v = ws_open(t);

    (void)ws_run(t, v, "vault:put", payload("a", 1, false));
    (void)ws_run(t, v, "vault:remove", "{\"name\":\"a\"}");
    (void)ws_run(t, v, "vault:put", payload("a", 2, true));
    (void)ws_run(t, v, "vault:remove", "{\"name\":\"a\"}");
    (void)ws_run(t, v, "workspace:erase", "{\"place\":\"vault.entry/a\"}");
    check_clean(t, v);
    CHECK_TEXT("{\"readable\":false,\"there\":false}",
               ws_run(t, v, "vault:get", "{\"name\":\"a\"}"));
    CHECK_TEXT("{\"readable\":false,\"there\":true}",
               ws_run_at(t, v, "vault:get", "{\"name\":\"a\"}", "2"));
}

TEST(erase, contents_that_another_place_holds_stay_and_are_named)
{
    valise *v = ws_open(t);
    const char *answer, *row, *id;

    (void)ws_run(t, v, "vault:put", "{\"name\":\"a\",\"body\":\"" SECRET "\"}");
    (void)ws_run(t, v, "vault:put", "{\"name\":\"b\",\"body\":\"" SECRET "\"}");
    (void)ws_run(t, v, "vault:put", "{\"name\":\"c\",\"body\":\"" SECRET "\"}");
    (void)ws_run(t, v, "vault:put", "{\"name\":\"c\",\"body\":\"something else\"}");
    answer = ws_run(t, v, "workspace:erase", "{\"place\":\"vault.entry/a\"}");
    CHECK(strstr(answer, "\"others\":[\"vault.entry/b\",\"vault.entry/c\"]"));
    CHECK(strstr(answer, "\"objects\":0"));
    CHECK(strstr(ws_run(t, v, "vault:get", "{\"name\":\"b\"}"), "\"readable\":true"));
    CHECK(strstr(ws_run_at(t, v, "vault:get", "{\"name\":\"c\"}", "4"), "\"readable\":true"));

    row = ws_run(t, v, "workspace:show", "{\"target\":\"vault.entry/b\"}");
    id = strstr(row, "\"body\":\"");
    CHECK(id);
    answer = ws_run(t, v, "workspace:erase",
                    test_format("{\"content\":\"%.64s\"}", id + strlen("\"body\":\"")));
    CHECK(strstr(answer, "\"places\":[\"vault.entry/b\",\"vault.entry/c\"]"));
    CHECK(strstr(answer, "\"objects\":1"));
    CHECK(strstr(answer, "\"others\":[]"));
    /* Only that: what c holds now is another thing. */
    CHECK(strstr(ws_run(t, v, "vault:get", "{\"name\":\"c\"}"), "\"readable\":true"));
    CHECK(strstr(ws_run(t, v, "log:list", "{\"since\":5,\"until\":5}"), "payload"));
    check_clean(t, v);
}

/* Nobody holds it now but the past of another place: that stays whole. */
TEST(erase, contents_of_another_places_past_stay)
{
    valise *v = ws_open(t);
    const char *answer;

    (void)ws_run(t, v, "vault:put", "{\"name\":\"a\",\"body\":\"" SECRET "\"}");
    (void)ws_run(t, v, "vault:put", "{\"name\":\"c\",\"body\":\"" SECRET "\"}");
    (void)ws_run(t, v, "vault:put", "{\"name\":\"c\",\"body\":\"something else\"}");
    answer = ws_run(t, v, "workspace:erase", "{\"place\":\"vault.entry/a\"}");
    CHECK(strstr(answer, "\"others\":[\"vault.entry/c\"]"));
    CHECK(strstr(answer, "\"objects\":0"));
    CHECK(strstr(ws_run_at(t, v, "vault:get", "{\"name\":\"c\"}", "3"), "\"readable\":true"));
    ws_is_partial(t, v);
}

TEST(erase, needs_a_place_that_was_there)
{
    valise *v = ws_open(t);

    ws_fails(t, v, VALISE_E_NOT_FOUND, "workspace:erase", "{\"place\":\"vault.entry/a\"}");
    ws_fails(t, v, VALISE_E_INVALID, "workspace:erase", "{}");
    ws_fails(t, v, VALISE_E_INVALID, "workspace:erase",
             "{\"place\":\"vault.entry/a\",\"content\":\"00\"}");
    ws_fails(t, v, VALISE_E_INVALID, "workspace:erase", "{\"content\":\"00\"}");
    /* The command behind it is not for callers. */
    CHECK(valise_dispatch(NULL, v, "erasure:record", "{\"places\":[\"vault.entry/a\"]}", NULL,
                          &t->err) < 0);
}

TEST(erase, a_retry_of_an_erased_command_is_refused) /* [K8] */
{
    valise *v = ws_open(t);
    valise_call call = VALISE_CALL_INIT;
    valise_reply reply = VALISE_REPLY_INIT;

    call.id.bytes[15] = 7;
    CHECK_OK(
        valise_dispatch(NULL, v, "vault:put", "{\"name\":\"a\",\"label\":\"x\"}", &call, &t->err));
    CHECK_OK(valise_dispatch(&reply, v, "vault:put", "{\"name\":\"a\",\"label\":\"x\"}", &call,
                             &t->err));
    CHECK(reply.repeated);
    valise_reply_release(&reply);
    (void)ws_run(t, v, "workspace:erase", "{\"place\":\"vault.entry/a\"}");
    CHECK_RC(VALISE_E_EXISTS, valise_dispatch(NULL, v, "vault:put",
                                              "{\"name\":\"a\",\"label\":\"x\"}", &call, &t->err));
}

/* ---- a reader of another connection holds the write-ahead log ---- */

static sqlite3 *begin_reading(void)
{
    sqlite3 *db = NULL;

    CHECK_INT(SQLITE_OK, sqlite3_open(test_format("%s/.valise/valise.db", ws_path()), &db));
    CHECK_INT(SQLITE_OK, sqlite3_exec(db, "BEGIN; SELECT count(*) FROM log", NULL, NULL, NULL));
    return db;
}

TEST(erase_residue, is_named_and_finished_by_gc)
{
    valise *v = ws_open_hasty(t, ws_path());
    sqlite3 *reader;

    (void)ws_run(t, v, "vault:put", payload("a", 1, false));
    reader = begin_reading();
    CHECK(strstr(ws_run(t, v, "workspace:erase", "{\"place\":\"vault.entry/a\"}"),
                 "\"residue\":\"wal\""));
    CHECK(count_files(ws_path()) > 0);
    CHECK(strstr(ws_run(t, v, "workspace:gc", NULL), "\"residue\":\"wal\""));
    CHECK_INT(SQLITE_OK, sqlite3_close(reader));
    CHECK(!strstr(ws_run(t, v, "workspace:gc", NULL), "residue"));
    CHECK_INT(0, count_files(ws_path()));
    valise_close(v);
}

TEST(erase_residue, is_finished_by_the_next_open)
{
    valise *v = ws_open_hasty(t, ws_path()), *second;
    sqlite3 *reader;

    (void)ws_run(t, v, "vault:put", payload("a", 1, false));
    reader = begin_reading();
    CHECK(strstr(ws_run(t, v, "workspace:erase", "{\"place\":\"vault.entry/a\"}"), "residue"));
    CHECK_INT(SQLITE_OK, sqlite3_close(reader));
    CHECK(count_files(ws_path()) > 0);
    second = ws_open_at(t, ws_path()); /* while the first is still open */
    CHECK_INT(0, count_files(ws_path()));
    valise_close(second);
    valise_close(v);
}

/* ---- everything at once ---- */

#define CROWD_WRITERS 3
#define CROWD_ROUNDS 24
#define CROWD_PLACES 4 /* of each writer */

/* Dispatch; false when what was asked about is not there (any more). */
static bool try_it(valise *v, const char *type, const char *json, const char *at)
{
    valise_error err = VALISE_ERROR_INIT;
    valise_call call = VALISE_CALL_INIT;
    int rc;

    call.at = valise_str_of(at);
    rc = valise_dispatch(NULL, v, type, json, &call, &err);
    CHECK_MSG(rc == 0 || rc == VALISE_E_NOT_FOUND || rc == VALISE_E_LIMIT, "%s %s: %s", type, json,
              err.message);
    return rc == 0;
}

static const char *place_of(size_t writer, int round)
{
    return test_format("k%zu-%d", writer, round % CROWD_PLACES);
}

static void erase_place(valise *v, size_t writer, int round)
{
    (void)try_it(
        v, "workspace:erase",
        test_format("{\"place\":\"vault.entry/%s\",\"reason\":\"test\"}", place_of(writer, round)),
        "");
}

/* Secrets that come and go, in contents that the writers share, and something that stays. */
static void write_and_erase(valise *v, size_t index)
{
    for (int round = 0; round < CROWD_ROUNDS; round++) {
        CHECK(
            try_it(v, "vault:put", payload(place_of(index, round), round / 3, round % 7 == 0), ""));
        CHECK(try_it(v, "counter:add", "{\"name\":\"all\",\"note\":\"a note\"}", ""));
        CHECK(try_it(v, "vault:put",
                     test_format("{\"name\":\"stays-%zu\",\"body\":\"stays %d\"}", index, round),
                     ""));
        if (round % 5 == 4)
            erase_place(v, index, round - 1);
        if (round % 6 == 5)
            (void)try_it(v, "vault:remove",
                         test_format("{\"name\":\"%s\"}", place_of(index, round)), "");
    }
    for (int i = 0; i < CROWD_PLACES; i++)
        erase_place(v, index, i);
}

static void tidy(valise *v, size_t index)
{
    for (int round = 0; round < CROWD_ROUNDS; round++) {
        if (index % 2)
            CHECK(try_it(v, "retention:set",
                         test_format("{\"kind\":\"log\",\"keepLatest\":%d}", 20 + round * 7 % 30),
                         ""));
        CHECK(try_it(v, "workspace:gc", index % 2 ? "{}" : "{\"grace\":\"0s\"}", ""));
        (void)try_it(v, "counter:get", "{\"name\":\"all\"}", test_format("%d", 3 * round));
    }
}

static int in_the_crowd(size_t index, void *arg)
{
    test t = {.param = "sqlite", .env = valise_env_default()};
    valise *v = ws_open_at(&t, arg);

    if (index < CROWD_WRITERS)
        write_and_erase(v, index);
    else
        tidy(v, index);
    valise_close(v);
    return 0;
}

/* [K20 K21 K30 K11] Erasure, gc, retention and writers, each a process of its own. */
TEST(erase_crowd, leaves_nothing_and_loses_nothing)
{
    const char *path = ws_path();
    valise *v = ws_open_at(t, path);

    (void)ws_run(t, v, "retention:set", "{\"kind\":\"log\",\"keepLatest\":40}");
    valise_close(v);
    process_all(NULL, CROWD_WRITERS + 2, in_the_crowd, (void *)(uintptr_t)path);
    v = ws_open_at(t, path);
    CHECK(!strstr(ws_run(t, v, "workspace:gc", "{\"grace\":\"0s\"}"), "residue"));
    ws_is_partial(t, v);
    CHECK(strstr(ws_run(t, v, "counter:get", "{\"name\":\"all\"}"),
                 test_format("\"value\":%d", CROWD_WRITERS * CROWD_ROUNDS)));
    for (size_t i = 0; i < CROWD_WRITERS; i++)
        CHECK(strstr(ws_run(t, v, "vault:get", test_format("{\"name\":\"stays-%zu\"}", i)),
                     "\"readable\":true"));
    valise_close(v);
    CHECK_INT(0, count_files(path));
}
