/* meet.c -- rows that are here and in a bundle, and what is held for contents that are erased.
 * [K36] [K20] */
#include <valise/workspace.h>

#include "base/hash.h"
#include "bus/bus.h"
#include "harness/test.h"
#include "kit/log_replay.h"
#include "kit/score.h"
#include "store/view.h"

TEST_PARAMS(meet, "memory")

static const valise_extension *const with_score[] = {&score_extension, NULL};

static void close_it(void *arg)
{
    valise_close(arg);
}

static valise *open_it(test *t)
{
    valise_options o = VALISE_OPTIONS_INIT;
    valise *v = NULL;

    o.env = t->env;
    o.extensions = with_score;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    CHECK_OK(valise_open(&v, ":memory:", &o, &t->err));
    test_defer(close_it, v);
    return v;
}

static const char *run(test *t, valise *v, const char *type, const char *payload)
{
    valise_reply reply = VALISE_REPLY_INIT;
    const char *json;

    CHECK_OK(valise_dispatch(&reply, v, type, payload, NULL, &t->err));
    json = test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json)));
    valise_reply_release(&reply);
    return json;
}

static void put(test *t, valise *v, const char *name, int points, const char *rival)
{
    run(t, v, "score:put",
        rival ? test_format("{\"name\":\"%s\",\"points\":%d,\"rival\":\"%s\"}", name, points, rival)
              : test_format("{\"name\":\"%s\",\"points\":%d}", name, points));
}

static const char *with_file(const char *more)
{
    return test_format("{\"file\":\"%s/bundle\"%s}", test_tmpdir(), more);
}

static int try_import(test *t, valise *v)
{
    t->err = (valise_error)VALISE_ERROR_INIT;
    return valise_dispatch(NULL, v, "workspace:import", with_file(""), NULL, &t->err);
}

static void export_all(test *t, valise *v)
{
    run(t, v, "workspace:export", with_file(",\"force\":true"));
}

static const char *points(test *t, valise *v)
{
    return run(t, v, "score:list", "{}");
}

TEST(meet, sees_all_other_rows_of_the_bundle)
{
    valise *a = open_it(t), *b = open_it(t);

    put(t, a, "ann", 5, "zoe"); /* who comes after her in the bundle, and is new */
    put(t, a, "bob", 1, NULL);
    put(t, a, "zoe", 9, NULL);
    put(t, b, "ann", 3, NULL);
    put(t, b, "bob", 4, NULL);
    export_all(t, a);
    CHECK(strstr(run(t, b, "workspace:import", with_file("")), "\"rows\":2")); /* and its mark */
    CHECK_TEXT("{\"items\":[{\"met\":9,\"name\":\"ann\",\"points\":5,\"rival\":\"zoe\"},"
               "{\"met\":-1,\"name\":\"bob\",\"points\":4},"
               "{\"met\":0,\"name\":\"zoe\",\"points\":9}]}",
               points(t, b));
}

TEST(meet, that_refuses_leaves_everything_as_it_was)
{
    valise *a = open_it(t), *b = open_it(t);
    const char *before;

    put(t, a, "ann", -5, NULL);
    put(t, a, "zoe", 9, NULL);
    put(t, b, "ann", 3, NULL);
    before = points(t, b);
    export_all(t, a);
    CHECK_RC(VALISE_E_CONFLICT, try_import(t, b));
    CHECK(strstr(t->err.message, "ann would go below"));
    CHECK_TEXT(before, points(t, b));
}

TEST(meet, what_arrives_is_looked_at_together)
{
    valise *a = open_it(t), *b = open_it(t);

    put(t, a, "ann", 1, "zoe");
    put(t, a, "bob", 1, NULL);
    put(t, b, "own", 1, NULL);
    export_all(t, a);
    CHECK_RC(VALISE_E_INVALID, try_import(t, b));
    CHECK(strstr(t->err.message, "ann has no rival, of 2 that came"));
    put(t, b, "zoe", 1, NULL);
    CHECK_OK(try_import(t, b));
}

/* What `validate` would find is not taken: neither into another workspace nor into an empty one,
 * nor where it meets what is here. [K22] */
TEST(meet, what_could_not_be_validated_does_not_come)
{
    static const char wrong[] =
        "score.score bob of the bundle is not valid: nobody has -999 points";
    valise *a = open_it(t), *b = open_it(t), *empty = open_it(t), *forced = open_it(t);

    put(t, a, "ann", 1, NULL);
    put(t, a, "bob", -999, NULL);
    put(t, b, "own", 1, NULL);
    export_all(t, a);
    CHECK_RC(VALISE_E_INVALID, try_import(t, b));
    CHECK_TEXT(wrong, t->err.message);
    CHECK(strstr(t->err.hint, "nothing was imported"));
    CHECK(!strstr(points(t, b), "ann"));
    CHECK_RC(VALISE_E_INVALID, try_import(t, empty));
    CHECK_TEXT(wrong, t->err.message);
    CHECK(strstr(t->err.hint, "--force"));
    CHECK_TEXT("{\"items\":[]}", points(t, empty));
    run(t, forced, "workspace:import", with_file(",\"force\":true"));
    CHECK(strstr(points(t, forced), "-999"));
    CHECK_RC(VALISE_E_INVALID, valise_dispatch(NULL, b, "workspace:import",
                                               with_file(",\"force\":true"), NULL, &t->err));
    put(t, a, "bob", 2, NULL);
    export_all(t, a);
    CHECK_OK(try_import(t, b));
    CHECK_OK(try_import(t, empty));
}

static int state_of(void *arg, valise_view *view, valise_error *err)
{
    return vls_state_hash(arg, view, err);
}

TEST(meet, is_the_same_in_a_replay) /* [K32] */
{
    valise *a = open_it(t), *b = open_it(t);
    vls_store_options options = {.env = t->env,
                                 .ops = valise_store_memory(),
                                 .flags = VALISE_STORE_CREATE,
                                 .colls = vls_registry_colls(b->registry)};
    log_replay replay = {.from = b->store, .registry = b->registry, .access = b->access};
    vls_txn txn = {0};
    VLS_AUTO(view) valise_view view = {0};
    valise_id state, again;
    int64_t count;

    put(t, a, "ann", 5, "zoe");
    put(t, a, "zoe", 9, NULL);
    put(t, b, "ann", 3, NULL);
    export_all(t, a);
    CHECK_OK(try_import(t, b));
    CHECK_OK(vls_store_open(&replay.to, &options, &t->err));
    CHECK_OK(log_replay_run(&count, &replay, &t->err));
    CHECK_OK(vls_txn_begin(&txn, replay.to, VALISE_TXN_READ, &t->err));
    vls_view_init(&view, &txn, t->env);
    CHECK_OK(vls_state_hash(&again, &view, &t->err));
    CHECK_OK(vls_with_view(b, NULL, state_of, &state, &t->err));
    CHECK(vls_id_equal(&state, &again));
    vls_view_release(&view);
    vls_txn_rollback(&txn);
    vls_store_close(replay.to);
}

TEST(meet, an_erasure_lets_go_in_the_same_command) /* [K20] */
{
    valise *v = open_it(t);
    valise_reply reply = VALISE_REPLY_INIT;

    run(t, v, "score:put", "{\"name\":\"ann\",\"word\":\"secret\"}");
    run(t, v, "workspace:show", "{\"target\":\"score.mark/ann\"}");
    run(t, v, "workspace:erase", "{\"place\":\"score.score/ann\"}");
    CHECK_RC(VALISE_E_NOT_FOUND, valise_dispatch(&reply, v, "workspace:show",
                                                 "{\"target\":\"score.mark/ann\"}", NULL, &t->err));
    valise_reply_release(&reply);
}

TEST(meet, what_was_erased_here_is_not_brought_back) /* [K20] */
{
    valise *a = open_it(t), *b = open_it(t);

    run(t, a, "score:put", "{\"name\":\"ann\",\"points\":1,\"word\":\"secret\"}");
    export_all(t, a);
    CHECK_OK(try_import(t, b));
    run(t, b, "workspace:erase", "{\"place\":\"score.score/ann\"}");
    put(t, b, "own", 1, NULL);
    run(t, a, "score:put", "{\"name\":\"ann\",\"points\":7,\"word\":\"secret\"}");
    export_all(t, a);
    CHECK_OK(try_import(t, b));
    CHECK(strstr(points(t, b), "\"points\":7"));
    CHECK(!strstr(points(t, b), "secret"));
}
