/* erase.c -- what is erased is in no file any more. [K20 K9 K32] */
#include <dirent.h>
#include <sqlite3.h>

#include <valise/sys/store.h>

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

/* ---- nothing to erase ---- */

TEST(erase, refuses_where_there_is_nothing_to_erase)
{
    valise *v = ws_open(t);
    const char *before;

    (void)ws_run(t, v, "pin:add", "{\"name\":\"x\"}");
    (void)ws_run(t, v, "counter:add", "{\"name\":\"c\"}");
    (void)ws_run(t, v, "vault:put", "{\"name\":\"bare\"}");
    before = ws_run(t, v, "workspace:hash", NULL);
    ws_fails(t, v, VALISE_E_INVALID, "workspace:erase", "{\"place\":\"pin/x\"}");
    CHECK(strstr(t->err.message, "rows of pin have no contents"));
    ws_fails(t, v, VALISE_E_INVALID, "workspace:erase", "{\"place\":\"actor/local\"}");
    ws_fails(t, v, VALISE_E_NOT_FOUND, "workspace:erase", "{\"place\":\"vault.entry/bare\"}");
    CHECK(strstr(t->err.message, "vault.entry bare has no contents"));
    CHECK_TEXT(before, ws_run(t, v, "workspace:hash", NULL));
    CHECK(!strstr(ws_run(t, v, "workspace:validate", NULL), "cannot be replayed"));
}

TEST(erase, the_record_of_an_erasure_outlives_the_next_one)
{
    valise *v = ws_open(t);

    (void)ws_run(t, v, "vault:put", payload("a", 1, false)); /* entry 2 */
    (void)ws_run(t, v, "workspace:erase",
                 "{\"place\":\"vault.entry/a\",\"reason\":\"first reason\"}");
    ws_fails(t, v, VALISE_E_NOT_FOUND, "workspace:erase", "{\"place\":\"vault.entry/a\"}");
    (void)ws_run(t, v, "vault:put", payload("a", 2, false));
    CHECK(strstr(ws_run(t, v, "workspace:erase",
                        "{\"place\":\"vault.entry/a\",\"reason\":\"second reason\"}"),
                 "\"entries\":1"));
    CHECK(strstr(ws_run(t, v, "workspace:show", "{\"target\":\"3\"}"), "first reason"));
    CHECK(strstr(ws_run(t, v, "workspace:show", "{\"target\":\"5\"}"), "second reason"));
    check_clean(t, v);
}

/* ---- contents that no row has ---- */

TEST(erase, what_only_a_payload_names_goes_too)
{
    valise *v = ws_open(t);
    const char *answer;

    (void)ws_run(t, v, "vault:judge", "{\"name\":\"a\",\"body\":\"" SECRET "\"}");
    (void)ws_run(t, v, "vault:judge",
                 "{\"name\":\"a\",\"label\":\"x\",\"body\":\"what two were told\"}");
    (void)ws_run(t, v, "vault:judge", "{\"name\":\"b\",\"body\":\"what two were told\"}");
    answer = ws_run(t, v, "workspace:erase", "{\"place\":\"vault.entry/a\"}");
    CHECK(strstr(answer, "\"objects\":1"));
    CHECK_MSG(strstr(answer, "\"others\":[\"log/4\"]"), "%s", answer);
    check_clean(t, v);
    answer = ws_run(t, v, "workspace:erase", "{\"place\":\"vault.entry/b\"}");
    CHECK(strstr(answer, "\"objects\":1"));
    CHECK(strstr(answer, "\"others\":[]"));
}

TEST(erase, lists_of_contents_go_too)
{
    valise *v = ws_open(t);

    (void)ws_run(t, v, "folder:put",
                 "{\"name\":\"a\",\"pages\":[\"" SECRET "\",\"" SECRET " again\"]}");
    CHECK(
        strstr(ws_run(t, v, "workspace:erase", "{\"place\":\"folder.sheet/a\"}"), "\"objects\":2"));
    check_clean(t, v);
}

/* What expired from the log is nobody's any more, but it was there. */
TEST(erase, gc_takes_what_history_left_behind)
{
    valise *v = ws_open(t);
    const char *answer;

    (void)ws_run(t, v, "vault:put", payload("b", 1, true));
    (void)ws_run(t, v, "vault:put", "{\"name\":\"b\",\"label\":\"new\"}");
    (void)ws_run(t, v, "vault:put", "{\"name\":\"b\"}");
    (void)ws_run(t, v, "retention:set", "{\"kind\":\"log\",\"keepLatest\":1}");
    (void)ws_run(t, v, "workspace:gc", NULL);
    (void)ws_run(t, v, "workspace:erase", "{\"place\":\"vault.entry/b\"}");
    answer = ws_run(t, v, "workspace:gc", NULL);
    CHECK(strstr(answer, "\"objects\":1"));
    if (strcmp(t->param, "memory") != 0)
        CHECK_INT(0, count_files(ws_path()));
    /* And no longer than that: what comes after it has its time. */
    (void)ws_run(t, v, "vault:put", payload("b", 1, true));
    (void)ws_run(t, v, "vault:remove", "{\"name\":\"b\"}");
    (void)ws_run(t, v, "counter:add", "{\"name\":\"c\"}");
    CHECK(strstr(ws_run(t, v, "workspace:gc", NULL), "\"objects\":0"));
}

/* ---- by id ---- */

static const char *id_of_object(test *t, valise *v, const char *place)
{
    const char *row =
        ws_run(t, v, "workspace:show", test_format("{\"target\":\"vault.entry/%s\"}", place));
    const char *id = strstr(row, "\"body\":\"");

    CHECK(id);
    return test_format("%.64s", id + strlen("\"body\":\""));
}

TEST(erase, takes_an_object_that_nobody_holds_by_the_beginning_of_its_id) /* [K2] */
{
    valise *v = ws_open(t);
    const char *id, *answer;

    (void)ws_run(t, v, "vault:put", "{\"name\":\"a\",\"body\":\"" SECRET "\"}");
    id = id_of_object(t, v, "a");
    (void)ws_run(t, v, "vault:remove", "{\"name\":\"a\"}");
    (void)ws_run(t, v, "retention:set", "{\"kind\":\"log\",\"keepLatest\":1}");
    (void)ws_run(t, v, "workspace:gc", NULL);
    ws_fails(t, v, VALISE_E_INVALID, "workspace:erase", "{\"content\":\"0\"}");
    ws_fails(t, v, VALISE_E_INVALID, "workspace:erase", "{\"content\":\"no digits\"}");
    ws_fails(t, v, VALISE_E_NOT_FOUND, "workspace:erase",
             test_format("{\"content\":\"%s\"}", id[0] == '0' ? "1111" : "0000"));
    answer = ws_run(t, v, "workspace:erase",
                    test_format("{\"content\":\"%.12s\",\"reason\":\"leaked\"}", id));
    CHECK(strstr(answer, "\"objects\":1"));
    CHECK(strstr(answer, "\"places\":[]"));
    check_clean(t, v);
    ws_fails(t, v, VALISE_E_NOT_FOUND, "workspace:erase", test_format("{\"content\":\"%s\"}", id));
    CHECK(strstr(t->err.message, "erased already"));
}

/* A pin and the past of a command hold it too: --content means the bytes, whoever holds them. */
TEST(erase, by_id_takes_it_from_everybody)
{
    valise *v = ws_open(t);
    const char *id, *answer;

    (void)ws_run(t, v, "vault:put", "{\"name\":\"a\",\"body\":\"" SECRET "\"}");
    (void)ws_run(t, v, "vault:judge", "{\"name\":\"b\",\"body\":\"" SECRET "\"}");
    id = id_of_object(t, v, "a");
    (void)ws_run(t, v, "pin:add", test_format("{\"name\":\"p\",\"target\":\"%s\"}", id));
    answer = ws_run(t, v, "workspace:erase", "{\"place\":\"vault.entry/a\"}");
    CHECK(strstr(answer, "\"others\":[\"pin/p\"]"));
    CHECK(strstr(answer, "\"objects\":0"));
    answer = ws_run(t, v, "workspace:erase", test_format("{\"content\":\"%s\"}", id));
    CHECK(strstr(answer, "\"places\":[\"pin/p\"]"));
    CHECK(strstr(answer, "\"objects\":1"));
    CHECK(strstr(answer, "\"entries\":2")); /* vault:judge, pin:add */
    check_clean(t, v);
    CHECK(strstr(ws_run(t, v, "pin:list", NULL), id));
}

/* ---- who, when, why ---- */

TEST(erase, is_told_where_the_place_is_shown)
{
    valise *v = ws_open(t);
    const char *shown, *id;

    (void)ws_run(t, v, "vault:put", "{\"name\":\"a\",\"body\":\"" SECRET "\"}"); /* 2 */
    id = id_of_object(t, v, "a");
    shown = ws_run(t, v, "workspace:show", "{\"target\":\"vault.entry/a\"}");
    CHECK(strstr(shown, "\"erased\":false") && !strstr(shown, "erasure"));
    (void)ws_run(t, v, "workspace:erase", "{\"place\":\"vault.entry/a\",\"reason\":\"one\"}");
    shown = ws_run(t, v, "workspace:show", "{\"target\":\"vault.entry/a\"}");
    CHECK(strstr(shown, "\"erased\":true"));
    CHECK(strstr(shown,
                 "\"erasure\":{\"actor\":\"local\",\"reason\":\"one\",\"seq\":3,\"time\":\"20"));
    /* What was said since is there; that something was erased before stays known. */
    (void)ws_run(t, v, "vault:put", "{\"name\":\"a\",\"body\":\"" SECRET "\"}"); /* 4 */
    shown = ws_run(t, v, "workspace:show", "{\"target\":\"vault.entry/a\"}");
    CHECK(strstr(shown, "\"erased\":false") && strstr(shown, "\"reason\":\"one\""));
    (void)ws_run(t, v, "workspace:erase",
                 test_format("{\"content\":\"%s\",\"reason\":\"two\"}", id)); /* 5 */
    shown = ws_run(t, v, "workspace:show", "{\"target\":\"vault.entry/a\"}");
    CHECK(strstr(shown, "\"erased\":true") && strstr(shown, "\"reason\":\"two\""));
    shown = ws_run(t, v, "workspace:show", test_format("{\"target\":\"%s\"}", id));
    CHECK(strstr(shown, "\"erased\":true") && strstr(shown, "\"reason\":\"two\""));
}

TEST(erase, erasures_can_be_listed)
{
    valise *v = ws_open(t);
    const char *list;

    CHECK_TEXT("{\"items\":[]}", ws_run(t, v, "erasure:list", NULL));
    for (int i = 0; i < 2; i++) {
        (void)ws_run(t, v, "vault:put", payload("a", i, false));
        (void)ws_run(t, v, "workspace:erase",
                     test_format("{\"place\":\"vault.entry/a\",\"reason\":\"r%d\"}", i));
    }
    (void)ws_run(t, v, "vault:put", payload("b", 1, false));
    (void)ws_run(t, v, "workspace:erase", "{\"place\":\"vault.entry/b\",\"reason\":\"r2\"}");
    list = ws_run(t, v, "erasure:list", NULL);
    CHECK(strstr(list, "r0") && strstr(list, "r1") && strstr(list, "r2"));
    list = ws_run(t, v, "erasure:list", "{\"place\":\"vault.entry/a\"}");
    CHECK(strstr(list, "r0") && strstr(list, "r1") && !strstr(list, "r2"));
}

/* ---- long keys ---- */

static const char *long_name(size_t len)
{
    char *name = test_alloc(len + 1);

    memset(name, '%', len);
    name[len] = '\0';
    return name;
}

static const char *place_of_name(size_t len)
{
    char *place = test_alloc(32 + 3 * len);
    size_t at = (size_t)snprintf(place, 32, "vault.entry/");

    for (size_t i = 0; i < len; i++)
        at += (size_t)snprintf(place + at, 4, "%%25");
    return place;
}

TEST(erase, the_longest_key_can_be_named)
{
    valise *v = ws_open(t);
    const char *place = place_of_name(VALISE_MAX_KEY_BYTES);

    (void)ws_run(t, v, "vault:put", payload(long_name(VALISE_MAX_KEY_BYTES), 1, false));
    ws_fails(t, v, VALISE_E_TOO_LARGE, "vault:put",
             payload(long_name(VALISE_MAX_KEY_BYTES + 1), 1, false));
    CHECK(strstr(t->err.message, "has 4097 bytes: at most 4096 are allowed"));
    (void)ws_run(t, v, "pin:add", test_format("{\"name\":\"p\",\"target\":\"%s\"}", place));
    (void)ws_run(t, v, "workspace:erase", test_format("{\"place\":\"%s\"}", place));
    CHECK(strstr(ws_run(t, v, "workspace:show", test_format("{\"target\":\"%s\"}", place)),
                 "\"erased\":true"));
    CHECK(strstr(ws_run(t, v, "erasure:list", NULL), place));
    check_clean(t, v);
}

/* ---- events ---- [K15] */

typedef struct heard {
    unsigned events, secrets;
} heard;

static int hear(void *arg, const valise_event *event, valise_error *err)
{
    heard *h = arg;

    (void)err;
    h->events++;
    h->secrets += memmem(event->payload.ptr, event->payload.len, SECRET, strlen(SECRET)) != NULL;
    return 0;
}

/* Everything from entry 2 on, as this handle tells it. */
static heard hear_all(test *t, valise *v)
{
    const valise_cursor since = {2, 0};
    valise_follow how = {.size = sizeof(how)};
    valise_subscription *s = NULL;
    heard h = {0};

    how.since = &since;
    how.fn = hear;
    how.arg = &h;
    CHECK_OK(valise_subscribe(&s, v, &how, &t->err));
    CHECK(valise_poll(v, 0, &t->err) >= 0); /* what another handle wrote */
    valise_unsubscribe(s);
    return h;
}

TEST(erase, events_are_made_anew)
{
    valise *v = ws_open(t);

    (void)ws_run(t, v, "vault:tell", payload("a", 1, false));
    CHECK_INT(1, hear_all(t, v).secrets); /* and from here on it is in memory */
    CHECK_INT(1, hear_all(t, v).secrets);
    (void)ws_run(t, v, "workspace:erase", "{\"place\":\"vault.entry/a\"}");
    CHECK_INT(0, hear_all(t, v).secrets);
    CHECK(hear_all(t, v).events >= 2);
}

static valise_subscription *open_queue(test *t, valise *v)
{
    valise_follow how = {.size = sizeof(how)};
    valise_subscription *s = NULL;

    how.queue_max = 8;
    CHECK_OK(valise_subscribe(&s, v, &how, &t->err));
    return s;
}

static heard empty_queue(test *t, valise_subscription *s)
{
    const valise_event *event;
    heard h = {0};
    int64_t last = 0;
    int rc;

    while ((rc = valise_subscription_next(&event, s, 0, &t->err)) > 0) {
        CHECK(event->seq >= last);
        last = event->seq;
        (void)hear(&h, event, NULL);
    }
    CHECK_OK(rc);
    return h;
}

TEST(erase, a_queue_that_was_not_emptied_is_filled_anew)
{
    valise *v = ws_open(t);
    valise_subscription *s = open_queue(t, v);
    heard h;

    (void)ws_run(t, v, "vault:put", "{\"name\":\"other\",\"label\":\"stays\"}");
    (void)ws_run(t, v, "vault:tell", payload("a", 1, false));
    (void)ws_run(t, v, "workspace:erase", "{\"place\":\"vault.entry/a\"}");
    h = empty_queue(t, s);
    CHECK_INT(3, h.events);
    CHECK_INT(0, h.secrets);
    (void)ws_run(t, v, "counter:add", "{\"name\":\"c\"}");
    CHECK_INT(1, empty_queue(t, s).events);
    valise_unsubscribe(s);
}

TEST(erase_residue, events_of_other_handles_are_made_anew_too)
{
    valise *v = ws_open_at(t, ws_path()), *other = ws_open_at(t, ws_path());

    (void)ws_run(t, v, "vault:tell", payload("a", 1, false));
    CHECK_INT(1, hear_all(t, other).secrets);
    (void)ws_run(t, v, "workspace:erase", "{\"place\":\"vault.entry/a\"}");
    CHECK_INT(0, hear_all(t, other).secrets);
    valise_close(other);
    valise_close(v);
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
