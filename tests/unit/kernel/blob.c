/* blob.c -- blobs in validate, gc and erase. [K20 K21 K22 K28 Q19] */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hex.h"
#include "bus/bus.h"
#include "kernel/kit.h"

TEST_PARAMS(blob_care, "memory", "sqlite")

#define SECRET "what is in the file"

static bool in_files(const test *t)
{
    return strcmp(t->param, "memory") != 0;
}

static valise_id put(test *t, valise *v, const char *text)
{
    valise_id id;

    CHECK_OK(vls_blobs_put_bytes(&id, v->blobs, valise_str_of(text), &t->err));
    return id;
}

static bool is_there(test *t, valise *v, const valise_id *id)
{
    bool there = false;

    CHECK_OK(vls_blobs_exists(&there, v->blobs, id, &t->err));
    return there;
}

static const char *path_of(const valise_id *id)
{
    const char *hex = vls_id_hex(id).s;

    return test_format("%s/.valise/blobs/%.2s/%s", ws_path(), hex, hex);
}

static void refer(test *t, valise *v, const char *name, const valise_id *id)
{
    (void)ws_run(t, v, "folder:put",
                 test_format("{\"name\":\"%s\",\"scan\":\"%s\"}", name, vls_id_hex(id).s));
}

/* As if it had been put so many days ago. */
static void make_old(const char *path, int days)
{
    struct timespec times[2] = {0};

    CHECK_INT(0, clock_gettime(CLOCK_REALTIME, &times[0]));
    times[0].tv_sec -= (time_t)days * 86400;
    times[1] = times[0];
    CHECK_INT(0, utimensat(AT_FDCWD, path, times, 0));
}

static const char *gc(test *t, valise *v, const char *grace)
{
    return ws_run(t, v, "workspace:gc",
                  grace ? test_format("{\"grace\":\"%s\"}", grace) : (const char *)NULL);
}

/* ---- references ---- */

TEST(blob_care, a_row_cannot_refer_to_a_blob_that_is_not_there)
{
    valise *v = ws_open(t);

    ws_fails(t, v, VALISE_E_NOT_FOUND, "folder:put",
             test_format("{\"name\":\"a\",\"scan\":\"%064d\"}", 7));
    CHECK(strstr(t->err.message, "there is no blob"));
}

/* ---- gc ---- */

TEST(blob_care, gc_takes_what_nothing_refers_to)
{
    valise *v = ws_open(t);
    valise_id kept = put(t, v, "kept"), past = put(t, v, "of the past"), loose = put(t, v, SECRET);
    const char *answer;

    refer(t, v, "a", &past);
    refer(t, v, "a", &kept);
    CHECK(strstr(gc(t, v, NULL), "\"blobs\":0")); /* in its grace period */
    CHECK(is_there(t, v, &loose));
    answer = gc(t, v, "0s");
    CHECK(strstr(answer, "\"blobs\":2"));
    CHECK(strstr(answer, test_format("\"bytes\":%zu", strlen(SECRET "of the past"))));
    CHECK(!is_there(t, v, &loose));
    CHECK(is_there(t, v, &kept) && !is_there(t, v, &past)); /* the log keeps none */
    /* A reference that comes too late is refused, and putting it again helps. */
    ws_fails(t, v, VALISE_E_NOT_FOUND, "folder:put",
             test_format("{\"name\":\"b\",\"scan\":\"%s\"}", vls_id_hex(&loose).s));
    loose = put(t, v, SECRET);
    refer(t, v, "b", &loose);
    CHECK(strstr(gc(t, v, "0s"), "\"blobs\":0"));
    CHECK(!strstr(ws_run(t, v, "workspace:validate", NULL), "problem\",\"place"));
}

TEST(blob_care, gc_keeps_the_grace_period)
{
    valise *v = ws_open(t);
    valise_id young, old;

    if (!in_files(t))
        SKIP("the time of a blob in memory is that of its put");
    young = put(t, v, "young");
    old = put(t, v, "old");
    make_old(path_of(&young), 13);
    make_old(path_of(&old), 15);
    CHECK(strstr(gc(t, v, NULL), "\"blobs\":1"));
    CHECK(is_there(t, v, &young) && !is_there(t, v, &old));
}

TEST(blob_care, gc_removes_what_a_crash_left_and_nothing_else)
{
    valise *v = ws_open(t);
    const char *folder = test_format("%s/.valise/blobs", ws_path());
    const char *old, *young, *foreign, *found;

    if (!in_files(t))
        SKIP("blobs in memory leave nothing behind");
    old = test_format("%s/tmp-%032d", folder, 1);
    young = test_format("%s/tmp-%032d", folder, 2);
    foreign = test_format("%s/README", folder);
    test_write_file(old, VLS_STR("half"));
    test_write_file(young, VLS_STR("half"));
    test_write_file(foreign, VLS_STR("mine"));
    make_old(old, 1);
    found = ws_run(t, v, "workspace:validate", NULL); /* notes: it does not fail */
    CHECK(strstr(found, "\"kind\":\"note\",\"place\":\"blobs/README\""));
    CHECK(strstr(found, test_format("\"kind\":\"note\",\"place\":\"blobs/tmp-%032d\"", 1)));
    CHECK(strstr(gc(t, v, NULL), "\"strays\":1"));
    CHECK(access(old, F_OK) != 0 && access(young, F_OK) == 0 && access(foreign, F_OK) == 0);
    CHECK(strstr(gc(t, v, "0s"), "\"strays\":1"));
    CHECK(access(young, F_OK) != 0 && access(foreign, F_OK) == 0);
}

/* ---- validate ---- */

static int note_row(void *arg, valise_str json, valise_error *err)
{
    const char **found = arg;

    (void)err;
    *found = test_format("%s%.*s\n", *found, VALISE_STR_ARG(json));
    return 0;
}

/* It fails with this in what it lists. */
static void finds(test *t, valise *v, const char *text)
{
    const char *found = "";

    CHECK_RC(VALISE_E_CORRUPT,
             valise_stream(NULL, v, "workspace:validate", "{}", note_row, &found, NULL, &t->err));
    CHECK_MSG(strstr(found, text), "%s", found);
}

TEST(blob_care, validate_names_a_blob_that_is_missing)
{
    valise *v = ws_open(t);
    valise_id id = put(t, v, SECRET);

    refer(t, v, "a", &id);
    CHECK(!strstr(ws_run(t, v, "workspace:validate", NULL), vls_id_hex(&id).s));
    CHECK_OK(vls_blobs_remove(v->blobs, &id, &t->err));
    finds(t, v,
          test_format("\"place\":\"blob %s\",\"problem\":\"it is missing, and folder.sheet a "
                      "refers to it\"",
                      vls_id_hex(&id).s));
    (void)put(t, v, SECRET); /* what the remedy says */
    CHECK(!strstr(ws_run(t, v, "workspace:validate", NULL), vls_id_hex(&id).s));
}

TEST(blob_care, validate_names_a_blob_that_is_damaged)
{
    valise *v = ws_open(t);
    valise_id id = put(t, v, SECRET);
    valise_id gone = put(t, v, "no file any more");

    if (!in_files(t))
        SKIP("nobody damages memory");
    test_write_file(path_of(&id), VLS_STR("what is on the file")); /* nothing refers to it */
    finds(t, v, test_format("\"place\":\"blob %s\"", vls_id_hex(&id).s));
    refer(t, v, "a", &gone);
    CHECK_INT(0, unlink(path_of(&gone)));
    CHECK_INT(0, symlink("/dev/null", path_of(&gone)));
    finds(t, v, "is not a regular file");
}

static int stop(void *arg, const valise_progress_state *state)
{
    return strcmp(state->stage, arg) == 0;
}

TEST(blob_care, can_be_cancelled)
{
    const char *stages[] = {"check blobs", "look for blobs", "mark blobs", "remove blobs"};
    valise *v = ws_open(t);

    for (size_t i = 0; i < VLS_COUNT(stages); i++) {
        char stage[32];
        valise_progress progress = {.fn = stop, .arg = stage};
        valise_call call = VALISE_CALL_INIT;
        (void)snprintf(stage, sizeof(stage), "%s", stages[i]);
        (void)put(t, v, SECRET);
        call.progress = progress;
        test_context("%s", stages[i]);
        CHECK_RC(VALISE_E_CANCELLED,
                 valise_dispatch(NULL, v, i == 0 ? "workspace:validate" : "workspace:gc",
                                 i == 0 ? NULL : "{\"grace\":\"0s\"}", &call, &t->err));
    }
}

/* ---- erase ---- */

TEST(blob_care, erasing_by_id_removes_the_file)
{
    valise *v = ws_open(t);
    valise_id id = put(t, v, SECRET), other = put(t, v, "other");
    const char *answer;

    refer(t, v, "a", &id);
    refer(t, v, "b", &other);
    answer =
        ws_run(t, v, "workspace:erase", test_format("{\"content\":\"%.10s\"}", vls_id_hex(&id).s));
    CHECK(strstr(answer, "\"blobs\":1"));
    CHECK(strstr(answer, "\"places\":[\"folder.sheet/a\"]"));
    CHECK(!is_there(t, v, &id) && is_there(t, v, &other));
    ws_is_partial(t, v);
    CHECK(strstr(ws_run(t, v, "erasure:list", NULL), vls_id_hex(&id).s));
}

/* As a place: the file goes with the next gc, however young it is, unless another one needs it. */
TEST(blob_care, erasing_a_place_leaves_the_file_to_gc)
{
    valise *v = ws_open(t);
    valise_id id = put(t, v, SECRET), shared = put(t, v, "shared"), later;

    refer(t, v, "a", &id);
    refer(t, v, "a", &shared);
    refer(t, v, "b", &shared);
    CHECK(strstr(ws_run(t, v, "workspace:erase", "{\"place\":\"folder.sheet/a\"}"),
                 "\"others\":[\"folder.sheet/b\"]"));
    later = put(t, v, "put after the erasure");
    CHECK(strstr(gc(t, v, NULL), "\"blobs\":1"));
    CHECK(!is_there(t, v, &id) && is_there(t, v, &shared) && is_there(t, v, &later));
    (void)put(t, v, SECRET);
    CHECK(strstr(gc(t, v, NULL), "\"blobs\":0")); /* the erasure was followed */
    ws_is_partial(t, v);
}
