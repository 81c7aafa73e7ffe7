/* bundle.c -- export and import as operations, through the whole path. [K36] [K28] [K34] */
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <valise/workspace.h>

#include "base/bytes.h"
#include "base/fd.h"
#include "base/hex.h"
#include "base/str.h"
#include "bus/bus.h"
#include "harness/fault.h"
#include "harness/test.h"
#include "kernel/bundle.h"
#include "kit/counter.h"
#include "kit/log_replay.h"
#include "store/validate.h"

TEST_PARAMS(import, "memory", "sqlite")

/* ---- workspaces ---- */

static void close_it(void *arg)
{
    valise_close(arg);
}

static const valise_extension *const with_counter[] = {&counter_extension, NULL};

static valise *open_with(test *t, const char *name, const valise_extension *const *extensions)
{
    valise_options o = VALISE_OPTIONS_INIT;
    const char *path = test_format("%s/%s", test_tmpdir(), name);
    valise *v = NULL;

    o.env = t->env;
    o.extensions = extensions;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    if (t->param && strcmp(t->param, "sqlite") == 0)
        mkdir(path, 0700);
    else
        path = ":memory:";
    CHECK_OK(valise_open(&v, path, &o, &t->err));
    test_defer(close_it, v);
    return v;
}

static valise *open_it(test *t, const char *name)
{
    return open_with(t, name, with_counter);
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

static int try_run(test *t, valise *v, const char *type, const char *payload,
                   const valise_call *call)
{
    t->err = (valise_error)VALISE_ERROR_INIT;
    return valise_dispatch(NULL, v, type, payload, call, &t->err);
}

static const char *file(const char *name)
{
    return test_format("%s/%s", test_tmpdir(), name);
}

static const char *with_file(const char *name)
{
    return test_format("{\"file\":\"%s\"}", file(name));
}

static const char *export_places(const char *name, const char *places)
{
    return test_format("{\"file\":\"%s\",\"force\":true,\"places\":[%s]}", file(name), places);
}

static void fill(test *t, valise *v)
{
    run(t, v, "counter:add", "{\"name\":\"a\",\"by\":3,\"note\":\"three of them\"}");
    run(t, v, "counter:add", "{\"name\":\"b\",\"parts\":[{\"label\":\"x\",\"body\":\"AAEC\"}]}");
    run(t, v, "counter:add", "{\"name\":\"a\",\"note\":\"and one more\"}");
    run(t, v, "counter:add", "{\"name\":\"c\"}");
    run(t, v, "counter:remove", "{\"name\":\"c\"}");
    run(t, v, "pin:add", "{\"name\":\"here\",\"target\":\"3\"}");
}

typedef struct facts {
    valise_id state;
    vls_tip tip;
    valise_uuid workspace;
} facts;

static int find_facts(void *arg, valise_view *view, valise_error *err)
{
    facts *f = arg;

    f->tip = view->txn->tip;
    f->workspace = view->txn->meta.workspace;
    return vls_state_hash(&f->state, view, err);
}

static facts facts_of(test *t, valise *v)
{
    facts f;

    CHECK_OK(vls_with_view(v, NULL, find_facts, &f, &t->err));
    return f;
}

static bool has_state(test *t, valise *v, const valise_id *state)
{
    facts f = facts_of(t, v);

    return vls_id_equal(&f.state, state);
}

static void check_same(test *t, valise *a, valise *b)
{
    facts x = facts_of(t, a), y = facts_of(t, b);

    CHECK_TEXT(vls_id_hex(&x.state).s, vls_id_hex(&y.state).s);
    CHECK_TEXT(vls_id_hex(&x.tip.hash).s, vls_id_hex(&y.tip.hash).s);
    CHECK_INT(x.tip.seq, y.tip.seq);
    CHECK_INT(x.tip.base_seq, y.tip.base_seq);
}

static int no_finding(void *arg, const vls_finding *finding, valise_error *err)
{
    (void)arg, (void)err;
    test_note("%s: %s", finding->place, finding->problem);
    return 0;
}

static void check_valid(test *t, valise *v)
{
    vls_validation found = {0};
    vls_progress silent;

    vls_progress_init(&silent, t->env, NULL);
    CHECK_OK(vls_validate(&found, v->store, &silent, no_finding, NULL, &t->err));
    CHECK_INT(0, found.problems);
}

/* ---- into an empty workspace ---- */

TEST(import, into_an_empty_workspace_is_the_same_workspace) /* [K36] */
{
    valise *a = open_it(t, "a"), *b = open_it(t, "b");
    facts x, y;

    fill(t, a);
    CHECK(strstr(run(t, a, "workspace:export", with_file("all")), "\"entries\":7"));
    CHECK(strstr(run(t, b, "workspace:import", with_file("all")), "\"restored\":true"));
    check_same(t, a, b);
    x = facts_of(t, a), y = facts_of(t, b);
    CHECK(memcmp(&x.workspace, &y.workspace, sizeof(x.workspace)) == 0);
    CHECK_TEXT(run(t, a, "log:list", "{}"), run(t, b, "log:list", "{}"));
    CHECK_TEXT(run(t, a, "counter:get", "{\"name\":\"a\"}"),
               run(t, b, "counter:get", "{\"name\":\"a\"}"));
    check_valid(t, b);
    /* and it goes on */
    run(t, b, "counter:add", "{\"name\":\"a\"}");
    check_valid(t, b);
}

TEST(import, makes_the_same_bytes_again)
{
    valise *a = open_it(t, "a"), *b = open_it(t, "b");

    fill(t, a);
    run(t, a, "workspace:export", with_file("one"));
    run(t, b, "workspace:import", with_file("one"));
    run(t, b, "workspace:export", with_file("two"));
    CHECK_STR(test_read_file(file("one")), test_read_file(file("two")));
}

static int view_at(void *arg, valise_view *view, valise_error *err)
{
    (void)arg, (void)view, (void)err;
    return 0;
}

TEST(import, keeps_what_was_seen_before) /* [K35] */
{
    valise *a = open_it(t, "a"), *b = open_it(t, "b");
    valise_call call = VALISE_CALL_INIT;
    valise_reply reply = VALISE_REPLY_INIT;

    fill(t, a);
    run(t, a, "workspace:export", with_file("all"));
    run(t, b, "workspace:import", with_file("all"));
    call.at = VLS_STR("2");
    CHECK_OK(valise_dispatch(&reply, b, "counter:get", "{\"name\":\"a\"}", &call, &t->err));
    CHECK(vls_str_find(valise_blob_bytes(reply.json), VLS_STR("three of them")) <
          valise_blob_bytes(reply.json).len);
    valise_reply_release(&reply);
    CHECK_OK(vls_with_view(b, &call, view_at, NULL, &t->err));
}

TEST(import, of_an_extension_that_is_not_here_names_it)
{
    valise *a = open_it(t, "a"), *b = open_with(t, "b", NULL);
    facts before = facts_of(t, b);

    fill(t, a);
    run(t, a, "workspace:export", with_file("all"));
    CHECK_RC(VALISE_E_UNSUPPORTED, try_run(t, b, "workspace:import", with_file("all"), NULL));
    CHECK(strstr(t->err.message, "'counter'") && t->err.hint[0]);
    CHECK_INT(before.tip.seq, facts_of(t, b).tip.seq);
}

/* ---- into another ---- */

TEST(import, into_another_is_one_command) /* [K36] */
{
    valise *a = open_it(t, "a"), *b = open_it(t, "b");
    const char *json;
    facts before, after;

    fill(t, a);
    run(t, b, "counter:add", "{\"name\":\"own\",\"by\":7}");
    run(t, a, "workspace:export", with_file("all"));
    before = facts_of(t, b);
    json = run(t, b, "workspace:import", with_file("all"));
    CHECK(strstr(json, "\"restored\":false") && strstr(json, "\"rows\":6"));
    CHECK_INT(before.tip.seq + 1, facts_of(t, b).tip.seq);
    after = facts_of(t, b);
    CHECK(memcmp(&before.workspace, &after.workspace, sizeof(valise_uuid)) == 0);
    CHECK(strstr(run(t, b, "counter:get", "{\"name\":\"own\"}"), "\"value\":7"));
    CHECK(strstr(run(t, b, "counter:get", "{\"name\":\"a\"}"), "and one more"));
    CHECK(strstr(run(t, b, "log:list", "{}"), "\"bundle:import\""));
    CHECK_INT(VALISE_E_NOT_FOUND,
              try_run(t, b, "workspace:show", "{\"target\":\"pin/here\"}", NULL));
    check_valid(t, b);
}

TEST(import, into_the_workspace_it_came_from_adds_nothing)
{
    valise *a = open_it(t, "a"), *b = open_it(t, "b");
    facts before;

    fill(t, a);
    run(t, a, "workspace:export", with_file("all"));
    run(t, b, "workspace:import", with_file("all"));
    run(t, b, "counter:add", "{\"name\":\"new\"}");
    before = facts_of(t, b);
    CHECK(strstr(run(t, b, "workspace:import", with_file("all")), "\"rows\":0"));
    CHECK_INT(before.tip.seq, facts_of(t, b).tip.seq);
    run(t, b, "counter:add", "{\"name\":\"a\"}"); /* what it holds is older now */
    CHECK_RC(VALISE_E_CONFLICT, try_run(t, b, "workspace:import", with_file("all"), NULL));
}

TEST(import, twice_adds_nothing) /* [K36] */
{
    valise *a = open_it(t, "a"), *b = open_it(t, "b");
    facts once;

    fill(t, a);
    run(t, b, "counter:add", "{\"name\":\"own\"}");
    run(t, a, "workspace:export", with_file("all"));
    run(t, b, "workspace:import", with_file("all"));
    once = facts_of(t, b);
    CHECK(strstr(run(t, b, "workspace:import", with_file("all")), "\"rows\":0"));
    CHECK_INT(once.tip.seq, facts_of(t, b).tip.seq);
    /* Another bundle with the same rows is another import, of no row. */
    run(t, a, "pin:add", "{\"name\":\"there\",\"target\":\"2\"}");
    run(t, a, "workspace:export", with_file("more"));
    CHECK(strstr(run(t, b, "workspace:import", with_file("more")), "\"rows\":0"));
    CHECK_INT(once.tip.seq + 1, facts_of(t, b).tip.seq);
    check_valid(t, b);
}

/* The chain of the log that came with it is an object, and can be verified again. */
typedef struct chain_walk {
    test *t;
    int64_t entries;
    valise_id tip;
} chain_walk;

static int walk_chain(void *arg, valise_view *view, valise_error *err)
{
    chain_walk *w = arg;
    test *t = w->t;
    valise_scan *scan = NULL;
    vls_imported row = {.tip = 0};
    vls_object_info info;
    vls_reader in;
    valise_str bytes;
    valise_id previous;

    CHECK_OK(valise_view_scan(&scan, view, &vls_bundles, NULL, err));
    CHECK_INT(1, valise_scan_next(&row, scan, err));
    CHECK_INT(1, vls_object_stat(&info, view->txn, &row.chain, err));
    CHECK_TEXT("chain", info.kind);
    CHECK_OK(valise_view_object(&bytes, view, &row.chain, err));
    valise_scan_close(scan);
    in = vls_reader_of(bytes);
    (void)vls_reader_string(&in);
    while (vls_reader_left(&in) > 0) {
        valise_cell c[8];
        size_t count;
        bool unverifiable;
        vls_entry e = {0};
        CHECK_OK(vls_cells_read(c, &count, 8, vls_reader_string(&in), err));
        CHECK_INT(8, count);
        e = (vls_entry){.seq = c[0].as.integer,
                        .time = c[2].as.integer,
                        .actor = c[3].as.bytes,
                        .type = c[5].as.bytes};
        memcpy(&e.id, c[1].as.bytes.ptr, sizeof(e.id));
        memcpy(&e.commitment, c[6].as.bytes.ptr, sizeof(e.commitment));
        memcpy(&e.hash, c[7].as.bytes.ptr, sizeof(e.hash));
        CHECK_OK(vls_log_verify(&unverifiable, &e, w->entries ? &previous : NULL, err));
        previous = e.hash;
        w->entries++;
    }
    w->tip = previous;
    CHECK(vls_id_equal(&row.tip_hash, &previous));
    return 0;
}

TEST(import, keeps_the_foreign_chain_as_an_object) /* [K9] [K36] */
{
    valise *a = open_it(t, "a"), *b = open_it(t, "b");
    chain_walk w = {.t = t};
    facts source;

    fill(t, a);
    run(t, b, "counter:add", "{\"name\":\"own\"}");
    run(t, a, "workspace:export", with_file("all"));
    run(t, b, "workspace:import", with_file("all"));
    CHECK_OK(vls_with_view(b, NULL, walk_chain, &w, &t->err));
    source = facts_of(t, a);
    CHECK_INT(source.tip.seq, w.entries);
    CHECK(vls_id_equal(&source.tip.hash, &w.tip));
}

TEST(import, of_a_row_that_differs_is_a_conflict) /* [K36] */
{
    valise *a = open_it(t, "a"), *b = open_it(t, "b");
    facts before;

    fill(t, a);
    run(t, b, "counter:add", "{\"name\":\"b\",\"by\":9}");
    run(t, a, "workspace:export", with_file("all"));
    before = facts_of(t, b);
    CHECK_RC(VALISE_E_CONFLICT, try_run(t, b, "workspace:import", with_file("all"), NULL));
    CHECK(strstr(t->err.message, "counter.tally b"));
    CHECK_INT(before.tip.seq, facts_of(t, b).tip.seq);
    CHECK_INT(VALISE_E_NOT_FOUND, try_run(t, b, "counter:get", "{\"name\":\"a\"}", NULL));
}

TEST(import, of_a_part_is_a_command_even_into_an_empty_workspace) /* [K36] */
{
    valise *a = open_it(t, "a"), *b = open_it(t, "b");

    fill(t, a);
    CHECK(strstr(run(t, a, "workspace:export", export_places("part", "\"counter.tally/a\"")),
                 "\"rows\":1"));
    CHECK(strstr(run(t, b, "workspace:import", with_file("part")), "\"restored\":false"));
    CHECK_INT(2, facts_of(t, b).tip.seq);
    CHECK(strstr(run(t, b, "counter:get", "{\"name\":\"a\"}"), "and one more"));
    CHECK_INT(VALISE_E_NOT_FOUND, try_run(t, b, "counter:get", "{\"name\":\"b\"}", NULL));
    check_valid(t, b);
}

/* ---- replay ---- */

TEST(import, can_be_replayed) /* [K32] [K36] */
{
    valise *a = open_it(t, "a"), *b = open_it(t, "b");
    vls_store_options options = {.env = t->env,
                                 .ops = valise_store_memory(),
                                 .flags = VALISE_STORE_CREATE,
                                 .colls = vls_registry_colls(b->registry)};
    log_replay replay = {.from = b->store, .registry = b->registry};
    vls_txn txn = {0};
    VLS_AUTO(view) valise_view view = {0};
    valise_id state;
    int64_t count;

    fill(t, a);
    run(t, b, "counter:add", "{\"name\":\"own\"}");
    run(t, a, "workspace:export", with_file("all"));
    run(t, b, "workspace:import", with_file("all"));
    run(t, b, "counter:add", "{\"name\":\"a\"}");
    CHECK_OK(vls_store_open(&replay.to, &options, &t->err));
    replay.access = b->access;
    CHECK_OK(log_replay_run(&count, &replay, &t->err));
    CHECK_INT(facts_of(t, b).tip.seq, count);
    CHECK_OK(vls_txn_begin(&txn, replay.to, VALISE_TXN_READ, &t->err));
    vls_view_init(&view, &txn, t->env);
    CHECK_OK(vls_state_hash(&state, &view, &t->err));
    CHECK(has_state(t, b, &state));
    vls_view_release(&view);
    vls_txn_rollback(&txn);
    vls_store_close(replay.to);
}

/* ---- refusals ---- */

TEST(import, of_a_damaged_bundle_changes_nothing) /* [Q26] */
{
    valise *a = open_it(t, "a"), *b = open_it(t, "b");
    valise_str good;
    facts before;
    char *bad;

    fill(t, a);
    run(t, a, "workspace:export", with_file("all"));
    good = test_read_file(file("all"));
    bad = test_alloc(good.len);
    memcpy(bad, good.ptr, good.len);
    before = facts_of(t, b);
    for (size_t i = 0; i < good.len; i += 97) {
        bad[i] = (char)(bad[i] ^ 4);
        test_write_file(file("bad"), vls_str(bad, good.len));
        CHECK(try_run(t, b, "workspace:import", with_file("bad"), NULL) < 0);
        bad[i] = good.ptr[i];
        test_write_file(file("bad"), vls_str_head(good, i));
        CHECK(try_run(t, b, "workspace:import", with_file("bad"), NULL) < 0);
    }
    CHECK_INT(before.tip.seq, facts_of(t, b).tip.seq);
    CHECK(has_state(t, b, &before.state));
    CHECK_RC(VALISE_E_NOT_FOUND, try_run(t, b, "workspace:import", with_file("none"), NULL));
    CHECK_RC(VALISE_E_INVALID,
             try_run(t, b, "workspace:import", with_file(""), NULL)); /* a folder */
    CHECK_RC(VALISE_E_INVALID, try_run(t, b, "workspace:import", "{\"file\":\"a\\u0000b\"}", NULL));
    CHECK_RC(VALISE_E_INVALID, try_run(t, b, "workspace:export", "{\"file\":\"a\\u0000b\"}", NULL));
}

TEST(import, and_export_need_admin) /* [K23] */
{
    valise *a = open_it(t, "a");
    valise_call call = VALISE_CALL_INIT;

    run(t, a, "agent:add", "{\"id\":\"reader\",\"role\":\"reader\"}");
    run(t, a, "agent:add", "{\"id\":\"writer\",\"role\":\"writer\"}");
    run(t, a, "workspace:export", with_file("all"));
    call.actor = VLS_STR("reader");
    CHECK_RC(VALISE_E_DENIED, try_run(t, a, "workspace:export", with_file("x"), &call));
    CHECK(access(file("x"), F_OK) < 0);
    call.actor = VLS_STR("writer");
    CHECK_RC(VALISE_E_DENIED, try_run(t, a, "workspace:import", with_file("all"), &call));
    CHECK(try_run(t, a, "bundle:import", "{}", NULL) < 0); /* only the engine submits it */
}

/* ---- files ---- */

TEST(import, export_replaces_a_file_only_when_told_to)
{
    valise *a = open_it(t, "a");
    struct stat st;

    test_write_file(file("there"), VLS_STR("precious"));
    CHECK_RC(VALISE_E_EXISTS, try_run(t, a, "workspace:export", with_file("there"), NULL));
    CHECK(t->err.hint[0]);
    CHECK_STR(VLS_STR("precious"), test_read_file(file("there")));
    run(t, a, "workspace:export", export_places("there", ""));
    CHECK(vls_str_starts(test_read_file(file("there")), VLS_STR("valise bundle 1\n")));
    CHECK(stat(file("there"), &st) == 0);
    CHECK_INT(0600, st.st_mode & 0777);
    CHECK_RC(VALISE_E_INVALID, try_run(t, a, "workspace:export", with_file(""), NULL));
    CHECK_RC(VALISE_E_NOT_FOUND, try_run(t, a, "workspace:export", with_file("no/where"), NULL));
    CHECK(try_run(t, a, "workspace:export", export_places("x", "\"pin/none\""), NULL) < 0);
    CHECK(access(file("x"), F_OK) < 0);
}

typedef struct piping {
    test *t;
    valise *v;
    const char *path;
    int rc;
} piping;

static void *export_into_pipe(void *arg)
{
    piping *p = arg;

    p->rc = valise_dispatch(NULL, p->v, "workspace:export", p->path, NULL, NULL);
    return NULL;
}

TEST(import, through_a_pipe)
{
    valise *a = open_it(t, "a"), *b = open_it(t, "b");
    piping p = {.t = t, .v = a, .path = with_file("pipe")};
    pthread_t thread;

    fill(t, a);
    CHECK(mkfifo(file("pipe"), 0600) == 0);
    CHECK(pthread_create(&thread, NULL, export_into_pipe, &p) == 0);
    CHECK(strstr(run(t, b, "workspace:import", with_file("pipe")), "\"restored\":true"));
    pthread_join(thread, NULL);
    CHECK_INT(0, p.rc);
    check_same(t, a, b);
}

/* ---- cancelling ---- */

static int stop_after(void *arg, const valise_progress_state *state)
{
    int *left = arg;

    CHECK(state->stage && state->unit);
    return (*left)-- <= 0;
}

static int run_cancelled(test *t, valise *v, const char *type, const char *payload, int after)
{
    valise_call call = VALISE_CALL_INIT;
    int left = after;

    call.progress = (valise_progress){stop_after, &left};
    return try_run(t, v, type, payload, &call);
}

TEST(import, can_be_cancelled_and_leaves_things_as_they_were) /* [K28] */
{
    valise *a = open_it(t, "a"), *b = open_it(t, "b"), *c = open_it(t, "c");
    int after, rc = VALISE_E_CANCELLED;

    fill(t, a);
    run(t, c, "counter:add", "{\"name\":\"own\"}");
    for (after = 0; rc < 0; after++) {
        rc = run_cancelled(t, a, "workspace:export", with_file("all"), after);
        CHECK(rc == 0 || rc == VALISE_E_CANCELLED);
        CHECK((access(file("all"), F_OK) == 0) == (rc == 0));
    }
    CHECK(after > 2);
    for (after = 0, rc = VALISE_E_CANCELLED; rc < 0; after++) {
        facts before = facts_of(t, b);
        rc = run_cancelled(t, b, "workspace:import", with_file("all"), after);
        CHECK(rc == 0 || rc == VALISE_E_CANCELLED);
        if (rc < 0)
            CHECK_INT(before.tip.seq, facts_of(t, b).tip.seq);
    }
    CHECK(after > 2);
    check_same(t, a, b);
    for (after = 0, rc = VALISE_E_CANCELLED; rc < 0; after++) {
        facts before = facts_of(t, c);
        rc = run_cancelled(t, c, "workspace:import", with_file("all"), after);
        CHECK(rc == 0 || rc == VALISE_E_CANCELLED);
        if (rc < 0)
            CHECK(has_state(t, c, &before.state));
    }
    CHECK(after > 3);
    check_valid(t, c);
}

/* ---- memory ---- */

static int merge_once(fault *f, void *arg)
{
    test *t = f->t;
    valise_options o = VALISE_OPTIONS_INIT;
    valise *v = NULL;
    facts before;
    int64_t after, full = *(const bool *)arg ? 3 : 7;
    int rc;

    fault_off(f);
    o.env = f->env;
    o.extensions = with_counter;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    CHECK_OK(valise_open(&v, ":memory:", &o, &t->err));
    if (*(const bool *)arg)
        run(t, v, "counter:add", "{\"name\":\"own\"}");
    before = facts_of(t, v);
    fault_on(f);
    rc = valise_dispatch(NULL, v, "workspace:import", with_file("all"), NULL, &f->err);
    fault_off(f);
    after = facts_of(t, v).tip.seq; /* there may be no memory for the answer alone */
    CHECK(after == full || (rc < 0 && after == before.tip.seq));
    if (rc == 0)
        f->recovered = fault_has_hit(f);
    check_valid(t, v);
    valise_close(v);
    return rc;
}

TEST(import_faults, without_memory)
{
    valise *a = open_it(t, "a");
    bool merge = false;

    fill(t, a);
    run(t, a, "workspace:export", with_file("all"));
    fault_each_alloc(t, 0, merge_once, &merge);
    merge = true;
    fault_each_alloc(t, 0, merge_once, &merge);
}
