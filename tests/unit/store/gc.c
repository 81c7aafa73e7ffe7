/* gc.c -- garbage collection: what it keeps, beside writers, and when it is stopped. [K21 K28 K29]
 */
#include "store/gc.h"

#include "base/bytes.h"
#include "base/hex.h"
#include "harness/fault.h"
#include "harness/kill.h"
#include "store/own.h"
#include "store/validate.h"
#include "stage.h"

TEST_PARAMS(gc, "memory", "sqlite")

#define HOUR (INT64_C(3600) * 1000000000)

static valise_str random_bytes(size_t len, uint64_t seed)
{
    test_rng rng = test_rng_new(seed);
    uint8_t *bytes = test_alloc(len + 8);

    for (size_t i = 0; i < len; i += 8)
        vls_bytes_store_u64(bytes + i, test_random(&rng));
    return vls_str(bytes, len);
}

/* ---- commands ---- */

typedef struct hold {
    const char *name;
    valise_str bytes;    /* ptr NULL: no object */
    const valise_id *id; /* hold this one instead */
    valise_id out;
} hold;

static int hold_fn(valise_view *view, void *arg, valise_error *err)
{
    hold *h = arg;
    holder row = {.name = valise_str_of(h->name)};
    int rc = 0;

    if (h->id)
        row.object = *h->id;
    else if (h->bytes.ptr)
        rc = valise_view_add(&row.object, view, "value", h->bytes, err);
    if (rc == 0)
        rc = valise_view_put(view, &stage_holders, &row, err);
    h->out = row.object;
    return rc;
}

static valise_id hold_bytes(stage *k, const char *name, valise_str bytes)
{
    hold h = {.name = name, .bytes = bytes};

    stage_do(k, hold_fn, &h);
    return h.out;
}

static void hold_id(stage *k, const char *name, const valise_id *id)
{
    stage_do(k, hold_fn, &(hold){.name = name, .id = id});
}

static void hold_nothing(stage *k, const char *name)
{
    stage_do(k, hold_fn, &(hold){.name = name});
}

/* An object that no row ever held. */
static int add_fn(valise_view *view, void *arg, valise_error *err)
{
    hold *h = arg;

    return valise_view_add(&h->out, view, "value", h->bytes, err);
}

static valise_id add_loose(stage *k, valise_str bytes)
{
    hold h = {.bytes = bytes};

    stage_do(k, add_fn, &h);
    return h.out;
}

/* ---- looking ---- */

static bool is_there(stage *k, const valise_id *id, valise_str bytes)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    VLS_AUTO(blob) valise_blob *blob = NULL;
    test *t = k->t;
    int rc;

    CHECK_OK(vls_txn_begin(&txn, k->store, VALISE_TXN_READ, &t->err));
    rc = vls_object_get(&blob, &txn, id, &t->err);
    if (rc == VALISE_E_NOT_FOUND)
        return false;
    CHECK_OK(rc);
    CHECK(vls_str_equal(bytes, vls_blob_bytes(blob)));
    return true;
}

static int count_finding(void *arg, const vls_finding *finding, valise_error *err)
{
    (void)err;
    ++*(int *)arg;
    test_note("%s: %s", finding->place, finding->problem);
    return 0;
}

static void check_valid(test *t, vls_store *store)
{
    vls_progress progress;
    vls_validation result;
    int findings = 0;

    vls_progress_init(&progress, t->env, NULL);
    CHECK_OK(vls_validate(&result, store, &progress, count_finding, &findings, &t->err));
    CHECK_INT(0, findings);
}

static int run_gc(vls_gc_result *out, stage *k, int64_t grace, valise_progress_fn *fn, void *arg)
{
    vls_progress progress;

    vls_progress_init(&progress, k->t->env, &(valise_progress){fn, arg});
    return vls_gc(out, k->store, grace, k->now, &progress, &k->t->err);
}

static vls_gc_result collect(stage *k, int64_t grace)
{
    vls_gc_result result = {0};
    test *t = k->t;

    CHECK_OK(run_gc(&result, k, grace, NULL, NULL));
    return result;
}

static int64_t rows_of(stage *k, uint32_t table)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
    valise_cell row[VALISE_MAX_COLUMNS];
    test *t = k->t;
    int64_t count = 0;

    CHECK_OK(vls_txn_begin(&txn, k->store, VALISE_TXN_READ, &t->err));
    CHECK_OK(vls_txn_scan_open(&scan, &txn, vls_store_coll_at(k->store, table),
                               (valise_range){.index = -1}, &t->err));
    while (vls_txn_scan_next(row, &scan, &t->err) == 1)
        count++;
    return count;
}

/* ---- what is kept ---- */

TEST(gc, keeps_what_rows_and_the_log_refer_to)
{
    valise_str one = random_bytes(300, 1), two = random_bytes(50000, 2);
    valise_str old = random_bytes(50000, 3), loose = random_bytes(50000, 4);
    valise_str small = VLS_STR("loose");
    valise_id one_id, two_id, old_id, loose_id, small_id;
    vls_gc_result result;
    stage k;

    stage_open(&k, t, t->param, test_tmpdir());
    one_id = hold_bytes(&k, "one", one);
    two_id = hold_bytes(&k, "two", two);
    old_id = hold_bytes(&k, "was", old);
    hold_nothing(&k, "was"); /* only the log knows what was there */
    loose_id = add_loose(&k, loose);
    small_id = add_loose(&k, small);
    result = collect(&k, 0);
    CHECK_INT(2, result.objects);
    CHECK(result.chunks > 20);
    CHECK_INT(50000 + 5, result.bytes);
    CHECK(is_there(&k, &one_id, one) && is_there(&k, &two_id, two) && is_there(&k, &old_id, old));
    CHECK(!is_there(&k, &loose_id, loose) && !is_there(&k, &small_id, small));
    result = collect(&k, 0);
    CHECK(result.objects == 0 && result.chunks == 0 && result.bytes == 0);
    check_valid(t, k.store);
    stage_close(&k);
}

/* A string of 64 digits in a payload is an id: a replay needs the object. */
TEST(gc, keeps_what_a_payload_names)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    valise_str bytes = random_bytes(10000, 1);
    valise_id id;
    stage k;

    stage_open(&k, t, t->param, test_tmpdir());
    id = add_loose(&k, bytes);
    vls_entry entry = {.seq = stage_tip(&k) + 1,
                       .id = {{9}},
                       .time = k.now++,
                       .actor = VLS_STR("tester"),
                       .type = VLS_STR("kit:command"),
                       .nonce = VLS_STR("0123456789abcdef"),
                       .payload =
                           valise_str_of(test_format("{\"value\":\"%s\"}", vls_id_hex(&id).s)),
                       .result = VLS_STR("{}")};
    CHECK_OK(vls_txn_begin(&txn, k.store, VALISE_TXN_WRITE, &t->err));
    CHECK_OK(vls_log_append(&txn, &entry, &t->err));
    CHECK_OK(vls_txn_commit(&txn, &t->err));
    CHECK_INT(0, collect(&k, 0).objects);
    CHECK(is_there(&k, &id, bytes));
    stage_close(&k);
}

TEST(gc, keeps_what_is_young)
{
    valise_str young = random_bytes(10000, 1), old = random_bytes(10000, 2);
    valise_id young_id, old_id;
    stage k;

    stage_open(&k, t, t->param, test_tmpdir());
    old_id = add_loose(&k, old);
    k.now += 10 * HOUR;
    young_id = add_loose(&k, young);
    k.now += HOUR;
    CHECK_INT(0, collect(&k, INT64_MAX).objects);
    CHECK_INT(0, collect(&k, 24 * HOUR).objects);
    CHECK_INT(1, collect(&k, 2 * HOUR).objects);
    CHECK(is_there(&k, &young_id, young) && !is_there(&k, &old_id, old));
    CHECK_INT(0, collect(&k, HOUR + 1000).objects);
    k.now += HOUR; /* nobody writes, so the wall clock counts */
    CHECK_INT(1, collect(&k, HOUR + 1000).objects);
    stage_close(&k);
}

/* A grace period under which renewing is too lazy: mark and sweep in one transaction. */
TEST(gc, short_grace_periods)
{
    valise_str bytes = random_bytes(10000, 1);
    valise_id id;
    stage k;

    stage_open(&k, t, t->param, test_tmpdir());
    id = add_loose(&k, bytes);
    k.now += 500;
    CHECK_INT(0, collect(&k, 1000).objects);
    k.now += 5000;
    CHECK_INT(1, collect(&k, 1000).objects);
    CHECK(!is_there(&k, &id, bytes));
    CHECK_INT(0, rows_of(&k, VLS_TABLE_CHUNK));
    stage_close(&k);
}

/* ---- writers at the worst moments ---- */

/* Called at the end of each stage: somebody else writes between two of them. */
typedef struct meddler {
    stage *k;
    const char *stage;
    void (*fn)(struct meddler *m);
    valise_id id;
    valise_str bytes;
    unsigned calls;
    bool cancel;
} meddler;

static int meddle(void *arg, const valise_progress_state *state)
{
    meddler *m = arg;

    m->calls++;
    if (strcmp(state->stage, m->stage) != 0)
        return 0;
    m->stage = "";
    if (m->fn)
        m->fn(m);
    return m->cancel;
}

static void refer(meddler *m)
{
    hold_id(m->k, "again", &m->id);
}

static void put_again(meddler *m)
{
    valise_id id = hold_bytes(m->k, "again", m->bytes);

    CHECK(m->bytes.len != 50000 || vls_id_equal(&id, &m->id));
}

static const char *const stages[] = {"mark rows",     "mark log",    "look for objects",
                                     "sweep objects", "mark chunks", "look for chunks",
                                     "sweep chunks",  "shrink"};

/* Whenever somebody refers to an old object, it is there or the command is refused: never is
 * something referred to that is gone. Then whenever somebody puts the same value again, or another
 * one that is made of the same chunks. */
TEST(gc, writers_between_any_two_stages)
{
    static void (*const fns[])(meddler *) = {refer, put_again, put_again};

    for (size_t f = 0; f < VLS_COUNT(fns); f++) {
        for (size_t s = 0; s < VLS_COUNT(stages); s++) {
            valise_str bytes = random_bytes(50000, 1), longer = random_bytes(50100, 1);
            vls_gc_result result;
            bool swept = s >= 3;
            meddler m = {.fn = fns[f], .stage = stages[s], .bytes = f < 2 ? bytes : longer};
            stage k;
            test_context("%s, %zu", stages[s], f);
            stage_open(&k, t, t->param, test_tmpdir());
            m.k = &k;
            m.id = add_loose(&k, bytes);
            k.now += 100 * HOUR;
            hold_nothing(&k, "somebody else"); /* the clock of the log goes on */
            if (f == 0 && swept)
                m.fn = NULL; /* it would be refused */
            CHECK_OK(run_gc(&result, &k, 2 * HOUR, meddle, &m));
            CHECK_TEXT("", m.stage);
            CHECK_INT(f < 2 ? swept : 1, result.objects);
            if (f < 2)
                CHECK_INT(f == 1 || !swept, is_there(&k, &m.id, bytes));
            check_valid(t, k.store);
            collect(&k, 0);
            check_valid(t, k.store);
            stage_close(&k);
            test_remove(test_format("%s/valise.db", test_tmpdir()));
            test_remove(test_format("%s/valise.db-wal", test_tmpdir()));
            test_remove(test_format("%s/valise.db-shm", test_tmpdir()));
            test_context_end();
        }
    }
}

/* The clock of the machine was set back while gc marks: the log's clock decides. */
TEST(gc, a_clock_that_jumps_back_loses_nothing)
{
    valise_str bytes = random_bytes(50000, 1);
    vls_gc_result result;
    vls_progress progress;
    stage k;

    stage_open(&k, t, t->param, test_tmpdir());
    meddler m = {.k = &k, .stage = "look for objects", .fn = refer};
    m.id = add_loose(&k, bytes);
    k.now += 10000;
    vls_progress_init(&progress, t->env, &(valise_progress){meddle, &m});
    /* By the wall clock the object is old; for the writer it is so young that it need not be
     * renewed. */
    CHECK_OK(vls_gc(&result, k.store, 2 * HOUR, k.now + 100 * HOUR, &progress, &t->err));
    CHECK_INT(0, result.objects);
    CHECK(is_there(&k, &m.id, bytes));
    check_valid(t, k.store);
    stage_close(&k);
}

/* With a short grace period a reference does not renew early enough, so nobody writes meanwhile. */
static void try_to_write(meddler *m)
{
    vls_store_options options = {
        .env = m->k->t->env, .ops = valise_store_sqlite(), .where = test_tmpdir()};
    valise_error err = VALISE_ERROR_INIT;
    vls_store *store = NULL;
    vls_txn txn;

    CHECK_INT(0, vls_store_open(&store, &options, &err));
    CHECK_INT(VALISE_E_BUSY, vls_txn_begin(&txn, store, VALISE_TXN_WRITE, &err));
    vls_store_close(store);
}

TEST(gc, with_a_short_grace_period_nobody_writes_meanwhile)
{
    static const int64_t graces[] = {0, 1, VLS_GC_MIN_GRACE_NS - 1};
    vls_gc_result result;
    stage k;

    if (strcmp(t->param, "memory") == 0)
        SKIP("two handles of a store in memory are two stores");
    stage_open(&k, t, t->param, test_tmpdir());
    for (size_t i = 0; i < VLS_COUNT(graces); i++) {
        meddler m = {.k = &k, .stage = "look for objects", .fn = try_to_write};
        CHECK_OK(run_gc(&result, &k, graces[i], meddle, &m));
        CHECK_TEXT("", m.stage);
    }
    stage_close(&k);
}

/* ---- stopping ---- */

TEST(gc, cancelled_anywhere_it_leaves_a_consistent_store)
{
    for (size_t s = 0; s < VLS_COUNT(stages); s++) {
        valise_str kept = random_bytes(50000, 1), loose = random_bytes(50000, 2);
        vls_gc_result result, rest;
        meddler m = {.stage = stages[s], .cancel = true};
        valise_id kept_id;
        stage k;
        test_context("%s", stages[s]);
        stage_open(&k, t, t->param, test_tmpdir());
        kept_id = hold_bytes(&k, "kept", kept);
        add_loose(&k, loose);
        k.now += 100 * HOUR;
        CHECK_RC(VALISE_E_CANCELLED, run_gc(&result, &k, 2 * HOUR, meddle, &m));
        check_valid(t, k.store);
        CHECK(is_there(&k, &kept_id, kept));
        rest = collect(&k, 2 * HOUR);
        CHECK_INT(1, result.objects + rest.objects);
        CHECK_INT(50000, result.bytes + rest.bytes);
        check_valid(t, k.store);
        CHECK(is_there(&k, &kept_id, kept));
        stage_close(&k);
        test_remove(test_format("%s/valise.db", test_tmpdir()));
        test_remove(test_format("%s/valise.db-wal", test_tmpdir()));
        test_remove(test_format("%s/valise.db-shm", test_tmpdir()));
        test_context_end();
    }
}

static int gc_once(fault *f, void *arg)
{
    int64_t grace = *(const int64_t *)arg;
    valise_str kept = random_bytes(20000, 1), loose = random_bytes(20000, 2);
    VLS_AUTO(blob) valise_blob *blob = NULL;
    VLS_AUTO(txn) vls_txn txn = {0};
    vls_gc_result result;
    vls_progress progress;
    test inner = *f->t;
    valise_id id;
    stage k;
    int rc;

    fault_off(f);
    inner.env = f->env;
    stage_open(&k, &inner, f->t->param, f->dir);
    id = hold_bytes(&k, "kept", kept);
    add_loose(&k, loose);
    vls_progress_init(&progress, f->env, NULL);
    fault_on(f);
    rc = vls_gc(&result, k.store, grace, k.now + 100 * HOUR, &progress, &f->err);
    fault_off(f);
    f->recovered = rc == 0 && result.objects == 1; /* maps in memory may stay out of balance */
    CHECK_INT(0, vls_txn_begin(&txn, k.store, VALISE_TXN_READ, &f->err));
    CHECK_INT(0, vls_object_get(&blob, &txn, &id, NULL));
    vls_txn_rollback(&txn);
    blob = valise_blob_unref(blob);
    stage_close(&k);
    return rc;
}

TEST(gc, every_allocation_fails)
{
    int64_t graces[] = {0, 2 * HOUR};

    for (size_t i = 0; i < VLS_COUNT(graces); i++)
        fault_each_alloc(t, 0, gc_once, &graces[i]);
}

/* ---- damage ---- */

/* What cannot be read may refer to anything. */
TEST(gc, does_nothing_where_it_cannot_read)
{
    static const uint32_t tables[] = {VLS_TABLE_LOG, VLS_TABLE_OBJECT, VLS_TABLE_OWN_COUNT};

    for (size_t i = 0; i < VLS_COUNT(tables); i++) {
        void *self, *txn;
        const valise_store_ops *ops;
        valise_cell key = {.type = VALISE_CELL_INT, .as.integer = 1}, row[VALISE_MAX_COLUMNS];
        vls_gc_result result;
        stage k;
        stage_open(&k, t, t->param, test_tmpdir());
        const vls_coll *coll =
            i < 2 ? vls_store_coll_at(k.store, tables[i]) : vls_store_coll(k.store, &stage_holders);
        hold_bytes(&k, "kept", random_bytes(20000, 1));
        add_loose(&k, random_bytes(20000, 2));
        if (i == 2)
            key = (valise_cell){.type = VALISE_CELL_TEXT, .as.bytes = VLS_STR("kept")};
        ops = vls_store_ops(k.store, &self);
        CHECK_OK(ops->begin(&txn, self, VALISE_TXN_WRITE, &t->err));
        CHECK_RC(1, ops->get(row, txn, coll->number, &key, &t->err));
        row[coll->table.column_count - 1].as.integer ^= 1;
        CHECK_OK(ops->put(txn, coll->number, row, &t->err));
        CHECK_OK(ops->commit(txn, &t->err));
        int64_t chunks = rows_of(&k, VLS_TABLE_CHUNK);
        CHECK_RC(VALISE_E_CORRUPT, run_gc(&result, &k, 0, NULL, NULL));
        CHECK(result.objects == 0 && result.chunks == 0);
        CHECK_INT(chunks, rows_of(&k, VLS_TABLE_CHUNK));
        stage_close(&k);
        test_remove(test_format("%s/valise.db", test_tmpdir()));
        test_remove(test_format("%s/valise.db-wal", test_tmpdir()));
        test_remove(test_format("%s/valise.db-shm", test_tmpdir()));
    }
}

/* ---- other programs ---- */

static vls_store *open_with(test *t, const valise_coll *const *colls, unsigned flags)
{
    vls_store_options options = {.env = t->env,
                                 .ops = valise_store_sqlite(),
                                 .where = test_tmpdir(),
                                 .flags = flags,
                                 .busy_timeout_ns = HOUR,
                                 .colls = colls};
    vls_store *store = NULL;

    CHECK_OK(vls_store_open(&store, &options, &t->err));
    return store;
}

TEST(gc, rows_of_extensions_that_are_not_here_count)
{
    valise_str bytes = random_bytes(20000, 1);
    valise_id id;
    vls_gc_result result;
    vls_progress progress;
    vls_store *store;
    stage k;

    if (strcmp(t->param, "memory") == 0)
        SKIP("a store in memory is always new");
    stage_open(&k, t, t->param, test_tmpdir());
    id = hold_bytes(&k, "kept", bytes);
    add_loose(&k, random_bytes(20000, 2));
    stage_close(&k);
    store = open_with(t, NULL, 0);
    vls_progress_init(&progress, t->env, NULL);
    CHECK_OK(vls_gc(&result, store, 0, HOUR, &progress, &t->err));
    CHECK_INT(1, result.objects);
    vls_store_close(store);
    stage_open(&k, t, t->param, test_tmpdir());
    CHECK(is_there(&k, &id, bytes));
    stage_close(&k);
}

TEST(gc, refused_where_not_everything_is_known_or_nothing_may_be_written)
{
    vls_gc_result result;
    vls_progress progress;
    vls_store *store;
    stage k;

    if (strcmp(t->param, "memory") == 0)
        SKIP("two handles of a store in memory are two stores");
    store = open_with(t, NULL, VALISE_STORE_CREATE);
    stage_open(&k, t, t->param, test_tmpdir()); /* with collections the first does not know */
    hold_bytes(&k, "kept", random_bytes(20000, 1));
    vls_progress_init(&progress, t->env, NULL);
    CHECK_RC(VALISE_E_UNSUPPORTED, vls_gc(&result, store, 0, HOUR, &progress, &t->err));
    vls_store_close(store);
    store = open_with(t, NULL, VALISE_STORE_READ_ONLY);
    CHECK_RC(VALISE_E_DENIED, vls_gc(&result, store, 0, HOUR, &progress, &t->err));
    vls_store_close(store);
    stage_close(&k);
}

/* [K30] What it says it freed, the disk has back. */
TEST(gc, the_file_shrinks)
{
    int64_t before, after;
    vls_gc_result result;
    const valise_store_ops *ops;
    void *self;
    stage k;

    if (strcmp(t->param, "memory") == 0)
        SKIP("a store in memory has no file");
    stage_open(&k, t, t->param, test_tmpdir());
    for (unsigned i = 0; i < 60; i++)
        add_loose(&k, random_bytes(100000, i));
    ops = vls_store_ops(k.store, &self);
    CHECK_OK(ops->maintain(&before, self, VALISE_MAINTAIN_TRUNCATE, &t->err));
    CHECK_OK(ops->maintain(&before, self, VALISE_MAINTAIN_SIZE, &t->err));
    result = collect(&k, 0);
    CHECK_OK(ops->maintain(&after, self, VALISE_MAINTAIN_SIZE, &t->err));
    CHECK_INT(60, result.objects);
    CHECK_INT(6000000, result.bytes);
    CHECK(result.freed > 5000000 && result.freed <= before);
    CHECK_INT(0, result.residue);
    CHECK_MSG(before - after >= result.freed - 100000, "%lld bytes became %lld, freed %lld",
              (long long)before, (long long)after, (long long)result.freed);
    stage_close(&k);
}

/* ---- kill -9 ---- */

static test *child_test(void)
{
    static test t = {.suite = "gc", .name = "child", .param = "sqlite"};

    t.env = valise_env_default();
    return &t;
}

/* Values come and go, and gc runs between them: all in one child that is killed. */
static void work(kill_run *run, void *arg)
{
    vls_gc_result result;
    stage k;

    (void)arg;
    stage_open(&k, child_test(), "sqlite", run->dir);
    for (unsigned i = 0; i < 24; i++) {
        valise_str bytes = random_bytes(20000 + i, i);
        valise_id id;
        add_loose(&k, random_bytes(20000, i + 100));
        id = hold_bytes(&k, test_format("holder %u", i), bytes);
        kill_ack(run, "%u %s", i, vls_id_hex(&id).s);
        if (i % 4 == 3)
            CHECK_INT(0, run_gc(&result, &k, 0, NULL, NULL));
        k.now += HOUR;
        if (i % 4 == 1)
            CHECK_INT(0, run_gc(&result, &k, 2 * HOUR, NULL, NULL));
    }
    stage_close(&k);
}

static void all_there(test *t, const kill_run *run, void *arg)
{
    stage k;

    (void)arg;
    stage_open(&k, t, "sqlite", run->dir);
    k.now += 1000 * HOUR;
    for (unsigned round = 0; round < 2; round++) {
        for (size_t i = 0; i < run->acked; i++) {
            unsigned number = 0;
            char hex[65] = "";
            valise_id id;
            CHECK(sscanf(run->acks[i], "%u %64s", &number, hex) == 2);
            CHECK_OK(vls_id_parse(&id, valise_str_of(hex), &t->err));
            CHECK(is_there(&k, &id, random_bytes(20000 + number, number)));
        }
        check_valid(t, k.store);
        collect(&k, round ? 0 : 2 * HOUR);
    }
    stage_close(&k);
}

TEST(gc, killed_at_any_time_it_loses_nothing)
{
    if (strcmp(t->param, "memory") == 0)
        SKIP("a store in memory does not outlive its process");
    kill_loop(t, 12, work, all_there, NULL);
}
