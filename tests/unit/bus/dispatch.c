/* dispatch.c -- one path for every operation: commands, queries and jobs. [K5 K7 K9 K10] */
#include "base/hex.h"
#include "kit/bus.h"

TEST_PARAMS(dispatch, "memory", "sqlite")

/* ---- commands ---- */

TEST(dispatch, answers_with_result_seq_time_and_id)
{
    kit *k = kit_open(t, NULL);
    valise_reply a = VALISE_REPLY_INIT, b = VALISE_REPLY_INIT;

    CHECK_OK(valise_dispatch(&a, k->v, "counter:add", "{\"name\":\"a\",\"by\":3}", NULL, &t->err));
    CHECK_OK(valise_dispatch(&b, k->v, "counter:add", "{\"name\":\"a\"}", NULL, &t->err));
    CHECK(strstr(test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(b.json))),
                 "\"name\":\"a\",\"step\":\""));
    CHECK_INT(1, a.seq);
    CHECK_INT(2, b.seq);
    CHECK(a.time > 0 && b.time >= a.time);
    CHECK(memcmp(&a.id, &b.id, sizeof(a.id)) != 0);
    CHECK(!a.repeated && !a.current);
    CHECK_INT(4, kit_value(k, "a", ""));
    valise_reply_release(&a);
    valise_reply_release(&b);
    valise_reply_release(&b);
    CHECK_OK(valise_dispatch(NULL, k->v, "counter:add", "{\"name\":\"a\"}", NULL, NULL));
    CHECK_INT(3, kit_seq(k));
}

typedef struct entry_copy {
    int64_t seq;
    const char *text, *payload, *changes_len;
    vls_entry entry;
} entry_copy;

static int read_entry(void *arg, valise_view *view, valise_error *err)
{
    entry_copy *copy = arg;
    int rc = vls_log_get(&copy->entry, view->txn, copy->seq, &view->arena, err);

    if (rc != 1)
        return rc;
    copy->payload = test_format("%.*s", VALISE_STR_ARG(copy->entry.payload));
    copy->text = test_format("%.*s %.*s nonce %zu result %.*s", VALISE_STR_ARG(copy->entry.actor),
                             VALISE_STR_ARG(copy->entry.type), copy->entry.nonce.len,
                             VALISE_STR_ARG(copy->entry.result));
    return 0;
}

static entry_copy entry_at(kit *k, int64_t seq)
{
    test *t = k->t;
    entry_copy copy = {.seq = seq};

    CHECK_OK(vls_with_view(k->v, NULL, read_entry, &copy, &t->err));
    CHECK(copy.text);
    return copy;
}

/* A payload holds ids, never contents. [K9] */
TEST(dispatch, logs_ids_in_place_of_contents)
{
    kit *k = kit_open(t, NULL);
    valise_call call = VALISE_CALL_INIT;

    call.actor = VLS_STR("ann");
    call.cause = kit_uuid(7);
    kit_run_as(k, "counter:add",
               "{\"name\":\"a\",\"note\":\"secret words\",\"meta\":{\"b\":1.0,\"a\":[]},"
               "\"parts\":[{\"label\":\"x\",\"body\":\"c2VjcmV0IGJ5dGVz\"}]}",
               &call);
    entry_copy e = entry_at(k, 1);
    CHECK(strstr(e.text, "ann counter:add nonce 16 result {\"name\":\"a\""));
    CHECK(!strstr(e.payload, "secret") && !strstr(e.payload, "c2Vj") &&
          !strstr(e.payload, "\"b\""));
    CHECK(strstr(e.payload, "\"parts\":[{\"body\":\""));
    CHECK(vls_uuid_equal(&call.cause, &e.entry.cause));
    const char *got = kit_run(k, "counter:get", "{\"name\":\"a\"}");
    CHECK_TEXT("{\"name\":\"a\",\"note\":\"secret words\",\"value\":1,\"version\":1}", got);
}

TEST(dispatch, makes_objects_of_contents_in_canonical_form)
{
    kit *k = kit_open(t, NULL);

    kit_run(k, "counter:add",
            "{\"name\":\"a\",\"note\":\"words\",\"meta\":{\"b\":1.0,\"a\":[]},"
            "\"parts\":[{\"label\":\"x\",\"body\":\"c2VjcmV0IGJ5dGVz\"}]}");
    CHECK(kit_has_object(k, "value", "{\"a\":[],\"b\":1}"));
    CHECK(kit_has_object(k, "text", "words"));
    CHECK(kit_has_object(k, "data", "secret bytes"));
    CHECK(!kit_has_object(k, "text", "other words"));
}

/* All effects or none. [K7] */
TEST(dispatch, leaves_nothing_of_a_command_that_fails)
{
    kit *k = kit_open(t, NULL);
    const char *before;

    kit_run(k, "counter:add", "{\"name\":\"a\"}");
    before = kit_state(k);
    kit_fails(k, VALISE_E_LIMIT, "counter:add",
              "{\"name\":\"a\",\"by\":2000000000,\"note\":\"lost\"}", NULL);
    CHECK_TEXT("counter a would stand at 2000000001", t->err.message);
    CHECK_TEXT(before, kit_state(k));
    CHECK_INT(1, kit_seq(k));
    CHECK(!kit_has_object(k, "text", "lost"));
    kit_run(k, "counter:add", "{\"name\":\"a\"}");
    CHECK_INT(2, kit_seq(k));
}

TEST(dispatch, refuses_what_is_wrong_and_says_where)
{
    kit *k = kit_open(t, NULL);

    kit_fails(k, VALISE_E_NOT_FOUND, "counter:ad", "{}", NULL);
    CHECK_TEXT("there is no operation \"counter:ad\"", t->err.message);
    CHECK_TEXT("did you mean counter:add?", t->err.hint);
    kit_fails(k, VALISE_E_INVALID, "counter:add", "{\"name\":\"a\",\"by\":\"x\"}", NULL);
    CHECK_TEXT("by", t->err.path);
    kit_fails(k, VALISE_E_INVALID, "counter:add", "{\"name\":\"a\",\"parts\":[{\"label\":1}]}",
              NULL);
    CHECK_TEXT("parts[0].label", t->err.path);
    kit_fails(k, VALISE_E_INVALID, "counter:add", "{\"name\":", NULL);
    kit_fails(k, VALISE_E_INVALID, "counter:add", "[]", NULL);
    kit_fails(k, VALISE_E_INVALID, "counter:add", NULL, NULL);
    kit_fails(k, VALISE_E_INVALID, "counter:add", "{\"name\":\"a\",\"unknown\":1}", NULL);
    kit_fails(k, VALISE_E_DENIED, "counter:reset", "{}", NULL);
    CHECK_RC(VALISE_E_INVALID, valise_dispatch(NULL, NULL, "counter:add", "{}", NULL, &t->err));
    CHECK_INT(0, kit_seq(k));
}

TEST(dispatch, checks_what_the_caller_passes)
{
    kit *k = kit_open(t, NULL);
    valise_call call = VALISE_CALL_INIT;
    valise_reply small = {.size = 4};
    char name[VLS_ACTOR_MAX + 2];

    call.size = 3;
    kit_fails(k, VALISE_E_INVALID, "counter:add", "{\"name\":\"a\"}", &call);
    call.size = sizeof(call);
    call.flags = 64;
    kit_fails(k, VALISE_E_INVALID, "counter:add", "{\"name\":\"a\"}", &call);
    call.flags = 0;
    call.actor = VLS_STR("a\nb");
    kit_fails(k, VALISE_E_INVALID, "counter:add", "{\"name\":\"a\"}", &call);
    memset(name, 'x', sizeof(name));
    call.actor = vls_str(name, sizeof(name));
    kit_fails(k, VALISE_E_TOO_LARGE, "counter:add", "{\"name\":\"a\"}", &call);
    call.actor = VLS_STR("");
    call.at = VLS_STR("1");
    kit_fails(k, VALISE_E_INVALID, "counter:add", "{\"name\":\"a\"}", &call);
    call.at = VLS_STR("");
    call.expect = VLS_STR("1");
    kit_fails(k, VALISE_E_INVALID, "counter:get", "{\"name\":\"a\"}", &call);
    kit_fails(k, VALISE_E_INVALID, "counter:remove", "{\"name\":\"a\"}", &call);
    CHECK_RC(VALISE_E_INVALID,
             valise_dispatch(&small, k->v, "counter:add", "{\"name\":\"a\"}", NULL, &t->err));

    /* A struct of an older header is shorter. */
    valise_call old = VALISE_CALL_INIT;
    old.size = offsetof(valise_call, id);
    old.actor = VLS_STR("ann");
    memset(&old.id, 0xff, sizeof(old.id));
    kit_run_as(k, "counter:add", "{\"name\":\"a\"}", &old);
    CHECK_INT(1, kit_seq(k));
}

TEST(dispatch, asks_whether_the_actor_may)
{
    kit *k = kit_open(t, NULL);
    valise_call call = VALISE_CALL_INIT;

    call.actor = VLS_STR("reader");
    kit_fails(k, VALISE_E_DENIED, "counter:add", "{\"name\":\"a\"}", &call);
    kit_fails(k, VALISE_E_DENIED, "counter:many", "{\"name\":\"a\",\"times\":1}", &call);
    kit_run_as(k, "counter:list", "{}", &call);
    call.actor = VLS_STR("nobody");
    kit_fails(k, VALISE_E_DENIED, "counter:list", "{}", &call);
    call.actor = VLS_STR("apples");
    kit_fails(k, VALISE_E_DENIED, "counter:add", "{\"name\":\"pears\"}", &call);
    kit_run_as(k, "counter:add", "{\"name\":\"apples\"}", &call);
    kit_run_as(k, "counter:ask", "{\"name\":\"counter:write\"}", &call);
    kit_fails(k, VALISE_E_DENIED, "counter:ask", "{\"name\":\"counter:never\"}", &call);
    CHECK_INT(2, kit_seq(k));
    kit_run_as(k, "counter:may", "{\"name\":\"counter:write\"}", &call);
    kit_fails(k, VALISE_E_DENIED, "counter:may", "{\"name\":\"counter:never\"}", &call);
    kit_fails(k, VALISE_E_INVALID, "counter:may", "{\"name\":\"emit\"}", &call);
}

TEST(dispatch, tries_without_keeping_anything)
{
    kit *k = kit_open(t, NULL);
    valise_call call = VALISE_CALL_INIT;
    valise_reply reply = VALISE_REPLY_INIT;
    const char *before;

    kit_run(k, "counter:add", "{\"name\":\"a\"}");
    before = kit_state(k);
    call.flags = VALISE_CALL_DRY_RUN;
    CHECK_OK(
        valise_dispatch(&reply, k->v, "counter:add", "{\"name\":\"a\",\"by\":4}", &call, &t->err));
    CHECK_INT(2, reply.seq);
    CHECK(
        strstr(test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json))), "\"value\":5"));
    valise_reply_release(&reply);
    CHECK_TEXT(before, kit_state(k));
    CHECK_INT(1, kit_seq(k));
    kit_fails(k, VALISE_E_INVALID, "counter:many", "{\"name\":\"a\",\"times\":1}", &call);
    kit_run_as(k, "counter:list", "{}", &call);
    kit_run(k, "counter:add", "{\"name\":\"a\"}");
    CHECK_INT(2, kit_value(k, "a", ""));
}

/* ---- queries ---- */

TEST(dispatch, lists_rows_as_items)
{
    kit *k = kit_open(t, NULL);

    CHECK_TEXT("{\"items\":[]}", kit_run(k, "counter:list", NULL));
    kit_run(k, "counter:add", "{\"name\":\"b\",\"by\":2}");
    kit_run(k, "counter:add", "{\"name\":\"a\",\"by\":5}");
    CHECK_TEXT("{\"items\":[{\"name\":\"a\",\"value\":5,\"version\":2},"
               "{\"name\":\"b\",\"value\":2,\"version\":1}]}",
               kit_run(k, "counter:list", "{}"));
    CHECK_TEXT("{\"items\":[{\"name\":\"a\",\"value\":5,\"version\":2}]}",
               kit_run(k, "counter:list", "{\"above\":2}"));
}

typedef struct rows {
    int count, stop_at;
    char text[512];
} rows;

static int take_row(void *arg, valise_str json, valise_error *err)
{
    rows *r = arg;
    size_t len = strlen(r->text);

    (void)err;
    snprintf(r->text + len, sizeof(r->text) - len, "%.*s;", VALISE_STR_ARG(json));
    return ++r->count == r->stop_at;
}

TEST(dispatch, streams_rows_until_nobody_wants_more)
{
    kit *k = kit_open(t, NULL);
    valise_reply reply = VALISE_REPLY_INIT;
    rows all = {0}, one = {.stop_at = 1};
    valise_str list = VLS_STR("counter:list"), none = VLS_STR("");

    for (int i = 0; i < 3; i++)
        kit_run(k, "counter:add", test_format("{\"name\":\"c%d\"}", i));
    CHECK_OK(valise_stream_str(&reply, k->v, list, none, take_row, &all, NULL, &t->err));
    CHECK_TEXT(
        "{\"name\":\"c0\",\"value\":1,\"version\":1};{\"name\":\"c1\",\"value\":1,\"version\":2};"
        "{\"name\":\"c2\",\"value\":1,\"version\":3};",
        all.text);
    CHECK(!reply.json);
    CHECK_INT(3, reply.seq);
    CHECK_INT(1, valise_stream_str(NULL, k->v, list, none, take_row, &one, NULL, &t->err));
    CHECK_INT(1, one.count);
    CHECK_INT(0, t->err.code); /* which is no failure, and says nothing of one */
    CHECK_TEXT("", t->err.message);
    CHECK_RC(VALISE_E_INVALID, valise_stream(NULL, k->v, "counter:add", "{\"name\":\"a\"}",
                                             take_row, &one, NULL, &t->err));
    rows job = {.stop_at = 2};
    t->err = (valise_error)VALISE_ERROR_INIT;
    CHECK_INT(1, valise_stream(NULL, k->v, "counter:many", "{\"name\":\"c0\",\"times\":5}",
                               take_row, &job, NULL, &t->err));
    CHECK_INT(0, t->err.code);
    CHECK_INT(3, kit_value(k, "c0", ""));
}

static int fail_row(void *arg, valise_str json, valise_error *err)
{
    int *left = arg;

    (void)json;
    return (*left)-- > 0 ? 0 : vls_fail(err, VALISE_E_LIMIT, "this is enough");
}

/* As every callback: what it fails with is what the function fails with. */
TEST(dispatch, a_row_that_fails_is_the_failure_of_the_stream)
{
    kit *k = kit_open(t, NULL);
    int left = 1;

    for (int i = 0; i < 3; i++)
        kit_run(k, "counter:add", test_format("{\"name\":\"c%d\"}", i));
    CHECK_RC(VALISE_E_LIMIT,
             valise_stream(NULL, k->v, "counter:list", NULL, fail_row, &left, NULL, &t->err));
    CHECK_TEXT("this is enough", t->err.message);
    CHECK_INT(-1, left); /* and no row after it */
    left = 1;
    CHECK_RC(VALISE_E_LIMIT,
             valise_stream(NULL, k->v, "counter:many", "{\"name\":\"c0\",\"times\":5}", fail_row,
                           &left, NULL, &t->err));
    CHECK_TEXT("this is enough", t->err.message);
    CHECK_RC(VALISE_E_INVALID,
             valise_stream(NULL, k->v, NULL, NULL, fail_row, &left, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID,
             valise_stream(NULL, k->v, "counter:list", NULL, NULL, NULL, NULL, &t->err));
}

/* No transaction is held while rows are taken: a row may write. [K10] */
static int write_meanwhile(void *arg, valise_str json, valise_error *err)
{
    kit *k = arg;

    (void)err;
    (void)json;
    kit_run(k, "counter:add", "{\"name\":\"z\"}");
    return 0;
}

TEST(dispatch, lets_who_takes_rows_write)
{
    kit *k = kit_open(t, NULL);

    kit_run(k, "counter:add", "{\"name\":\"a\"}");
    kit_run(k, "counter:add", "{\"name\":\"b\"}");
    CHECK_OK(valise_stream(NULL, k->v, "counter:list", NULL, write_meanwhile, k, NULL, &t->err));
    CHECK_INT(2, kit_value(k, "z", ""));
}

TEST(dispatch, sees_a_state_of_the_past_by_seq_time_and_command) /* [K35] */
{
    kit *k = kit_open(t, NULL);
    valise_reply second = VALISE_REPLY_INIT;
    valise_call call = VALISE_CALL_INIT;

    kit_run(k, "counter:add", "{\"name\":\"a\"}");
    CHECK_OK(
        valise_dispatch(&second, k->v, "counter:add", "{\"name\":\"a\",\"by\":9}", NULL, &t->err));
    kit_run(k, "counter:remove", "{\"name\":\"a\"}");
    CHECK_INT(-1, kit_value(k, "a", ""));
    CHECK_INT(-1, kit_value(k, "a", "0"));
    CHECK_INT(1, kit_value(k, "a", "1"));
    CHECK_INT(10, kit_value(k, "a", "2"));
    CHECK_INT(10, kit_value(k, "a", vls_uuid_text(&second.id).s));
    CHECK_INT(-1, kit_value(k, "a", "2001-01-01T00:00:00Z"));
    CHECK_INT(-1, kit_value(k, "a", "2200-01-01T00:00:00Z"));
    CHECK_INT(kit_value(k, "a", test_format("%lld", (long long)second.seq)) >= 0,
              kit_value(k, "a", vls_time_text_of(second.time).s) >= 0);

    call.at = VLS_STR("4");
    kit_fails(k, VALISE_E_NOT_FOUND, "counter:list", "{}", &call);
    call.at = VLS_STR("yesterday");
    kit_fails(k, VALISE_E_INVALID, "counter:list", "{}", &call);
    call.at = VLS_STR("019b0000-0000-7000-8000-000000000001");
    kit_fails(k, VALISE_E_NOT_FOUND, "counter:list", "{}", &call);
    call.at = VLS_STR("1");
    CHECK_TEXT("{\"items\":[{\"name\":\"a\",\"value\":1,\"version\":1}]}",
               kit_run_as(k, "counter:list", "{}", &call));
    valise_reply_release(&second);
}

TEST(dispatch, says_which_state_a_query_saw)
{
    kit *k = kit_open(t, NULL);
    valise_reply reply = VALISE_REPLY_INIT;
    valise_call call = VALISE_CALL_INIT;

    kit_run(k, "counter:add", "{\"name\":\"a\"}");
    kit_run(k, "counter:add", "{\"name\":\"a\"}");
    CHECK_OK(valise_dispatch(&reply, k->v, "counter:list", NULL, NULL, &t->err));
    CHECK_INT(2, reply.seq);
    valise_reply_release(&reply);
    call.at = VLS_STR("1");
    CHECK_OK(valise_dispatch(&reply, k->v, "counter:list", NULL, &call, &t->err));
    CHECK_INT(1, reply.seq);
    valise_reply_release(&reply);
}

/* ---- without a workspace, for reading only ---- */

TEST(dispatch, runs_what_needs_no_workspace_without_one)
{
    kit *k = kit_open(t, &(kit_options){.no_store = true});

    CHECK_TEXT("{\"name\":\"x\"}", kit_run(k, "counter:hello", "{\"name\":\"x\"}"));
    kit_fails(k, VALISE_E_NOT_FOUND, "counter:list", "{}", NULL);
    CHECK_TEXT("make one: valise init", t->err.hint);
    kit_fails(k, VALISE_E_NOT_FOUND, "counter:add", "{\"name\":\"a\"}", NULL);
}

TEST(dispatch, writes_nothing_where_it_may_only_read)
{
    kit *k;

    if (strcmp(t->param, "memory") == 0)
        SKIP("a store in memory is always new");
    kit_run(kit_open(t, NULL), "counter:add", "{\"name\":\"a\"}");
    k = kit_open(t, &(kit_options){.read_only = true});
    CHECK_INT(1, kit_value(k, "a", ""));
    kit_fails(k, VALISE_E_DENIED, "counter:add", "{\"name\":\"a\"}", NULL);
    CHECK_TEXT("counter:add: the workspace is open for reading only", t->err.message);
    kit_fails(k, VALISE_E_DENIED, "counter:many", "{\"name\":\"a\",\"times\":1}", NULL);
    CHECK_INT(1, kit_seq(k));
}

/* ---- jobs ---- */

typedef struct watch {
    int calls;
    uint64_t done;
    bool stop;
} watch;

static int watch_progress(void *arg, const valise_progress_state *state)
{
    watch *w = arg;

    w->calls++;
    w->done = state->done;
    return w->stop;
}

TEST(dispatch, runs_jobs_that_submit_commands)
{
    kit *k = kit_open(t, NULL);
    valise_call call = VALISE_CALL_INIT;
    watch w = {0};

    call.actor = VLS_STR("ann");
    call.progress = (valise_progress){watch_progress, &w};
    CHECK_TEXT("{\"items\":[{\"name\":\"a\",\"value\":0,\"version\":1},"
               "{\"name\":\"a\",\"value\":1,\"version\":2}]}",
               kit_run_as(k, "counter:many", "{\"name\":\"a\",\"times\":2}", &call));
    CHECK_INT(2, kit_value(k, "a", ""));
    CHECK(strstr(entry_at(k, 2).text, "ann counter:add"));
    CHECK(w.calls > 0);
    CHECK_INT(2, w.done);
    kit_fails(k, VALISE_E_LIMIT, "counter:add", "{\"name\":\"a\",\"by\":1000000000}", NULL);
}

TEST(dispatch, takes_time_from_a_clock_that_never_goes_back) /* [K3] */
{
    kit *k = kit_open(t, NULL);
    valise_reply a = VALISE_REPLY_INIT, b = VALISE_REPLY_INIT;

    CHECK_OK(valise_dispatch(&a, k->v, "counter:add", "{\"name\":\"a\"}", NULL, &t->err));
    /* As if an earlier handle had seen a clock that was ahead. */
    atomic_store(&k->v->clock.last_ns, a.time + INT64_C(3600000000000));
    valise_reply_release(&a);
    CHECK_OK(valise_dispatch(&a, k->v, "counter:add", "{\"name\":\"a\"}", NULL, &t->err));
    vls_clock_init(&k->v->clock, k->env);
    CHECK_OK(valise_dispatch(&b, k->v, "counter:add", "{\"name\":\"a\"}", NULL, &t->err));
    CHECK(b.time >= a.time);
    valise_reply_release(&a);
    valise_reply_release(&b);
}

/* ---- operations of extensions that fail without a word ---- */

static int silent(valise_view *view, const void *args, void *result, valise_error *err)
{
    (void)view, (void)args, (void)result, (void)err;
    return VALISE_E_LIMIT;
}

static int silent_job(valise_job *job, const void *args, void *result, valise_error *err)
{
    (void)job, (void)args, (void)result, (void)err;
    return VALISE_E_IO;
}

#define SILENT .size = sizeof(valise_op), .brief = "Fail.", .needs = "silent:do"

static const valise_op silent_command = {SILENT, .name = "silent:do", .kind = VALISE_COMMAND,
                                         .decide = silent, .example = "{}"};
static const valise_op silent_query = {SILENT, .name = "silent:ask", .kind = VALISE_QUERY,
                                       .query = silent, .example = "{}"};
static const valise_op silent_work = {SILENT, .name = "silent:work", .kind = VALISE_JOB,
                                      .job = silent_job, .example = "{}"};

/* The caller is told at least which it was. */
TEST(dispatch, an_operation_that_fails_without_a_word)
{
    static const valise_op *const ops[] = {&silent_command, &silent_query, &silent_work, NULL};
    static const valise_extension package = {.size = sizeof(package),
                                             .abi = VALISE_EXTENSION_ABI,
                                             .name = "silent",
                                             .version = "1",
                                             .operations = ops};
    kit *k = kit_open(t, NULL);

    CHECK_OK(vls_registry_add(k->registry, &package, false, &t->err));
    for (const valise_op *const *op = ops; *op; op++) {
        t->err = (valise_error)VALISE_ERROR_INIT;
        CHECK_RC((*op)->job ? VALISE_E_IO : VALISE_E_LIMIT,
                 valise_dispatch(NULL, k->v, (*op)->name, NULL, NULL, &t->err));
        CHECK_TEXT(test_format("%s failed, and does not say why", (*op)->name), t->err.message);
    }
    CHECK_INT(0, kit_seq(k));
}
