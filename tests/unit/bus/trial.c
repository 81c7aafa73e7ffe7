/* trial.c -- valise/sys/test.h: one operation on given rows. [K13] */
#include <valise/sys/test.h>

#include "harness/test.h"

#include "base/hex.h"
#include "kit/counter.h"

static const valise_extension *const extensions[] = {&counter_extension, NULL};

static void free_trial(void *arg)
{
    valise_test_free(arg);
}

static valise_test *new_trial(test *t)
{
    valise_test *trial = NULL;

    CHECK_OK(valise_test_new(&trial, extensions, t->env, &t->err));
    test_defer(free_trial, trial);
    return trial;
}

static const char *run(test *t, valise_test *trial, const char *type, const char *payload)
{
    valise_blob *json = NULL;

    CHECK_OK(valise_test_run(&json, trial, type, payload, NULL, &t->err));
    const char *text = test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(json)));
    valise_blob_unref(json);
    return text;
}

TEST(trial, shows_changes_objects_and_result)
{
    valise_test *trial = new_trial(t);
    const char *first, *text;

    CHECK_OK(valise_test_put(trial, "counter.tally", "{\"name\":\"a\",\"value\":7}", &t->err));
    first = run(t, trial, "counter:add", "{\"name\":\"a\",\"by\":2,\"note\":\"n\"}");
    CHECK(
        strstr(first, "{\"changes\":[{\"after\":{\"actor\":\"local\",\"name\":\"a\",\"note\":\""));
    CHECK(strstr(first, "\"value\":9},\"before\":{"));
    CHECK(strstr(first,
                 "\"collection\":\"counter.tally\",\"key\":{\"name\":\"a\"}},{\"after\":{\"id\""));
    CHECK(strstr(first, "\"before\":null,\"collection\":\"counter.step\",\"key\":{\"id\":\""));
    CHECK(strstr(first, "\"kind\":\"text\",\"size\":1}],\"result\":{\"name\":\"a\",\"step\":\""));

    /* Nothing was kept, and everything is the same again. */
    CHECK_TEXT(first, run(t, trial, "counter:add", "{\"name\":\"a\",\"by\":2,\"note\":\"n\"}"));
    text = run(t, trial, "counter:remove", "{\"name\":\"a\"}");
    CHECK(strstr(text, "{\"changes\":[{\"after\":null,\"before\":{"));
    CHECK(strstr(text, "\"objects\":[],\"result\":{}}"));
}

TEST(trial, takes_rows_and_objects)
{
    valise_test *trial = new_trial(t);
    valise_id id;

    run(t, trial, "counter:ask", "{\"name\":\"anything\"}"); /* access is not checked */
    CHECK_OK(valise_test_object(&id, trial, "text", VLS_STR("words"), &t->err));
    CHECK_OK(valise_test_put(trial, "counter.tally",
                             test_format("{\"name\":\"a\",\"note\":\"%s\"}", vls_id_hex(&id).s),
                             &t->err));
    CHECK(strstr(run(t, trial, "counter:remove", "{\"name\":\"a\"}"), vls_id_hex(&id).s));
    CHECK_RC(VALISE_E_NOT_FOUND, valise_test_put(trial, "nothing", "{}", &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, valise_test_put(trial, "log", "{}", &t->err));
    CHECK_RC(VALISE_E_INVALID,
             valise_test_put(trial, "counter.tally", "{\"name\":\"a\",\"value\":true}", &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_test_object(&id, trial, "Bad Kind", VLS_STR("x"), &t->err));
}

TEST(trial, fails_as_the_operation_does)
{
    valise_test *trial = new_trial(t);
    valise_blob *json = NULL;
    valise_call call = VALISE_CALL_INIT;

    CHECK_RC(VALISE_E_LIMIT, valise_test_run(&json, trial, "counter:add",
                                             "{\"name\":\"a\",\"by\":1000000001}", NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_test_run(&json, trial, "counter:add", NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, valise_test_run(&json, trial, "counter:no", "{}", NULL, &t->err));
    call.expect = VLS_STR("1");
    CHECK_RC(VALISE_E_CONFLICT,
             valise_test_run(&json, trial, "counter:add", "{\"name\":\"a\"}", &call, &t->err));
    call.size = 1;
    CHECK_RC(VALISE_E_INVALID,
             valise_test_run(&json, trial, "counter:add", "{\"name\":\"a\"}", &call, &t->err));
    CHECK(!json);
}

TEST(trial, needs_extensions_that_make_sense)
{
    static const valise_extension bad = {.size = sizeof(bad), .abi = 99, .name = "bad"};
    static const valise_extension *const list[] = {&bad, NULL};
    valise_test *trial = NULL;

    CHECK_RC(VALISE_E_UNSUPPORTED, valise_test_new(&trial, list, t->env, &t->err));
    CHECK(!trial);
    CHECK_OK(valise_test_new(&trial, NULL, NULL, &t->err));
    valise_test_free(trial);
    valise_test_free(NULL);
}
