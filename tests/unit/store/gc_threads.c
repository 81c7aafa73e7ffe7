/* gc_threads.c -- gc beside writers, in threads of one handle and in processes. [K21 K26] */
#include "base/bytes.h"
#include "harness/process.h"
#include "store/gc.h"
#include "store/retention.h"
#include "store/validate.h"
#include "stage.h"

TEST_PARAMS(gc_beside, "memory", "sqlite")

#define HOUR (INT64_C(3600) * 1000000000)
#define VALUES 12u  /* different contents */
#define HOLDERS 6u  /* rows */
#define COMMANDS 60 /* of each writer */

/* Contents that share chunks: a common part in the middle, something of their own around it. */
static valise_str value(char *room, uint64_t seed)
{
    test_rng common = test_rng_new(seed % 3), own = test_rng_new(seed);
    size_t len = 6000 + seed * 500;

    for (size_t i = 0; i + 8 <= len; i += 8) {
        bool shared = i > 1500 && i < 5000;
        vls_bytes_store_u64(room + i, test_random(shared ? &common : &own));
    }
    return vls_str(room, len / 8 * 8);
}

typedef struct write {
    unsigned holder;
    valise_str bytes; /* or */
    valise_id id;     /* an object that may be there or not */
} write;

static int write_fn(valise_view *view, const write *w, valise_error *err)
{
    const char name[] = {(char)('a' + w->holder), '\0'};
    holder row = {.name = valise_str_of(name), .object = w->id};
    int rc = 0;

    if (w->bytes.ptr)
        rc = valise_view_add(&row.object, view, "value", w->bytes, err);
    return rc < 0 ? rc : valise_view_put(view, &stage_holders, &row, err);
}

/* A command whose time follows the one before by 20 minutes, whoever did that. */
static int command(vls_store *store, const write *w, valise_error *err)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    VLS_AUTO(view) valise_view view = {0};
    vls_entry entry = {.actor = VLS_STR("tester"),
                       .type = VLS_STR("kit:command"),
                       .nonce = VLS_STR("0123456789abcdef"),
                       .payload = VLS_STR("{}"),
                       .result = VLS_STR("{}")};
    int rc = vls_txn_begin(&txn, store, VALISE_TXN_WRITE, err);

    if (rc < 0)
        return rc;
    vls_view_init(&view, &txn, vls_store_env(store));
    view.changing = true;
    view.stamp.seq = txn.tip.seq + 1;
    view.stamp.time = entry.time = txn.tip.time + HOUR / 3;
    view.stamp.actor = entry.actor;
    vls_bytes_store_u64(entry.id.bytes, (uint64_t)view.stamp.seq);
    view.stamp.command = entry.id;
    rc = write_fn(&view, w, err);
    if (rc == 0)
        rc = vls_view_apply(&entry, &view, err);
    vls_view_release(&view);
    return rc < 0 ? rc : vls_txn_commit(&txn, err);
}

static void write_many(vls_store *store, uint64_t seed)
{
    test_rng rng = test_rng_new(seed);
    valise_error err = VALISE_ERROR_INIT;
    char *room = test_alloc(32768);
    valise_id known[VALUES] = {{{0}}};

    for (int i = 0; i < COMMANDS; i++) {
        unsigned n = (unsigned)test_random_below(&rng, VALUES);
        write w = {.holder = (unsigned)test_random_below(&rng, HOLDERS)};
        bool refer = i > 10 && test_random_below(&rng, 3) == 0;
        valise_str bytes = value(room, n);
        CHECK_INT(0, vls_object_id(&known[n], "value", bytes, &err));
        if (refer)
            w.id = known[n]; /* gone, or there to stay */
        else if (test_random_below(&rng, 8) != 0)
            w.bytes = bytes;
        int rc = command(store, &w, &err);
        CHECK_MSG(rc == 0 || (refer && rc == VALISE_E_NOT_FOUND), "%s", err.message);
    }
}

/* Old entries go, so that there is something to collect. */
static void expire(vls_store *store)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    valise_error err = VALISE_ERROR_INIT;
    int64_t bound, removed;
    bool more;
    const vls_log_limits limits = {
        .keep_latest = 5, .age_ns = VALISE_NONE, .bytes = VALISE_NONE, .pinned_seq = VALISE_NONE};

    CHECK_INT(0, vls_txn_begin(&txn, store, VALISE_TXN_WRITE, &err));
    CHECK_INT(0, vls_log_bound(&bound, &txn, &limits, 0, &err));
    if (bound < txn.tip.seq)
        CHECK_INT(0, vls_log_expire(&removed, &more, &txn, bound, 1000, &err));
    CHECK_INT(0, vls_txn_commit(&txn, &err));
}

static int64_t collect_many(vls_store *store, int rounds)
{
    int64_t removed = 0;

    for (int i = 0; i < rounds; i++) {
        valise_error err = VALISE_ERROR_INIT;
        vls_gc_result result;
        vls_progress progress;
        expire(store);
        vls_progress_init(&progress, vls_store_env(store), NULL);
        int rc = vls_gc(&result, store, i % 3 ? VLS_GC_MIN_GRACE_NS : 0, 0, &progress, &err);
        CHECK_MSG(rc == 0, "%s", err.message);
        removed += result.chunks;
    }
    return removed;
}

static int show(void *arg, const vls_finding *finding, valise_error *err)
{
    (void)arg;
    (void)err;
    test_note("%s: %s", finding->place, finding->problem);
    return 0;
}

/* Every reference leads to an object, and every object is whole. */
static void check_valid(test *t, vls_store *store)
{
    vls_progress progress;
    vls_validation result;

    vls_progress_init(&progress, t->env, NULL);
    CHECK_OK(vls_validate(&result, store, &progress, show, NULL, &t->err));
    CHECK_INT(0, result.problems);
    CHECK(result.objects > 0);
}

/* ---- threads ---- */

typedef struct shared {
    vls_store *store;
    uint64_t seed;
} shared;

static void on_a_thread(size_t index, void *arg)
{
    const shared *s = arg;

    if (index < 2)
        write_many(s->store, s->seed + index);
    else
        collect_many(s->store, 12);
}

TEST(gc_beside, two_threads_that_write)
{
    stage k;

    stage_open(&k, t, t->param, test_tmpdir());
    test_threads(3, on_a_thread, &(shared){k.store, test_seed()});
    check_valid(t, k.store);
    test_note("%lld chunks went at the end", (long long)collect_many(k.store, 2));
    check_valid(t, k.store);
    stage_close(&k);
}

TEST(gc_beside, another_gc)
{
    stage k;

    stage_open(&k, t, t->param, test_tmpdir());
    test_threads(4, on_a_thread, &(shared){k.store, test_seed()});
    check_valid(t, k.store);
    stage_close(&k);
}

/* ---- processes ---- */

static int in_a_process(size_t index, void *arg)
{
    test t = {.param = "sqlite", .env = valise_env_default()};
    stage k;

    stage_open(&k, &t, "sqlite", arg);
    if (index < 2)
        write_many(k.store, test_seed() + index);
    else
        collect_many(k.store, 12);
    stage_close(&k);
    return 0;
}

TEST(gc_beside, two_processes_that_write)
{
    stage k;

    if (strcmp(t->param, "memory") == 0)
        SKIP("a store in memory is of one process");
    test_seed();
    stage_open(&k, t, t->param, test_tmpdir()); /* so that nobody has to make it */
    stage_close(&k);
    process_all(NULL, 3, in_a_process, (void *)(uintptr_t)test_tmpdir());
    stage_open(&k, t, t->param, test_tmpdir());
    check_valid(t, k.store);
    collect_many(k.store, 2);
    check_valid(t, k.store);
    stage_close(&k);
}
