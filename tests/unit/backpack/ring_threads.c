/* ring_threads.c -- eight threads pack, read, freeze, fork and release at once. */
#include <sched.h>

#include "backpack/ring_impl.h"
#include "harness/test.h"
#include "kit/ledger.h"
#include "kit/ring_check.h"

enum { THREADS = 8, ROUNDS = 150 };

typedef struct shared {
    vls_ring *ring;
    const valise_env *env;
    vls_ledger frozen; /* one state that all look at */
} shared;

static int count(void *arg, const valise_commit *commit, valise_error *err)
{
    (void)err;
    CHECK(commit->key.len > 0);
    ++*(size_t *)arg;
    return 0;
}

static int count_two(void *arg, const valise_commit *a, const valise_commit *b, valise_error *err)
{
    (void)err;
    CHECK(a || b);
    ++*(size_t *)arg;
    return 0;
}

static void use_state(const vls_ledger *s)
{
    valise_error err = {0};
    size_t items = 0, named = 0, rows = 0;
    vls_permission_row row = {.backpack = ledger_head(s).id, .node_id = VLS_STR("n")};
    valise_commit commit;

    CHECK_INT(0, s->ops->each_item(s->self, count, &items, &err));
    CHECK_INT(0, s->ops->each_named(s->self, VLS_STR("**"), count, &named, &err));
    CHECK_INT(0, s->ops->each_version(s->self, VLS_STR("k1"), count, &rows, &err));
    CHECK_INT(items, named);
    s->ops->enter(s->self);
    CHECK_INT(1, s->ops->row_get(&row, s->self, &vls_bag_permissions, &err));
    CHECK_STR(VLS_STR("n"), row.node_id);
    CHECK(s->ops->present(&commit, s->self, VLS_STR("k1"), &err) == 1);
    CHECK_STR(VLS_STR("k1"), commit.key);
    if (s->ops->newest(&commit, s->self, VLS_STR("k2"), &err) == 1) {
        valise_blob *blob = NULL;
        CHECK_INT(0, s->ops->value(&blob, s->self, &commit, &err));
        CHECK_STR(commit.summary, vls_blob_bytes(blob));
        valise_blob_unref(blob);
    }
    s->ops->leave(s->self);
}

static void work(size_t index, void *arg)
{
    shared *s = arg;
    vls_ledger ledger = vls_ring_ledger(s->ring);
    valise_error err = {0};

    for (int i = 0; i < ROUNDS; i++) {
        const char *key = test_format("k%d", (int)(i * 7 + (int)index) % 20);
        vls_ledger one = {0}, two = {0};
        size_t n = 0;

        ledger_put(&ledger, s->env,
                   &(ledger_write){.key = key,
                                   .value = test_format("%d", i),
                                   .space = index % 2 ? "a" : "b",
                                   .time = 1});
        if (i % 3 == 0 &&
            ledger.ops->freeze(&one, ledger.self, ledger_head(&ledger).last, &err) == 0)
            use_state(&one);
        if (one.ops && ledger.ops->freeze(&two, ledger.self, ledger_head(&ledger).last, &err) == 0)
            CHECK_INT(0, one.ops->each_difference(one.self, two.self, count_two, &n, &err));
        if (one.ops && i % 15 == 0) {
            vls_ring_options options = {.id = ledger_uuid(100 + (unsigned)index),
                                        .name = VLS_STR("fork")};
            vls_ring *fork = NULL;
            CHECK_INT(0, vls_ring_fork(&fork, &one, &options, &err));
            vls_ledger forked = vls_ring_ledger(fork);
            ledger_put(&forked, s->env,
                       &(ledger_write){.key = key, .value = "1", .space = "f", .time = 1});
            use_state(&forked);
            vls_ring_unref(fork);
        }
        use_state(&s->frozen);
        CHECK_INT(0, ledger.ops->each_commit(ledger.self, 0, INT64_MAX, i % 2, count, &n, &err));
        ledger_release_frozen(&one);
        ledger_release_frozen(&two);
    }
}

TEST(ring_threads, use_one_ring)
{
    vls_ring_options options = {.id = ledger_uuid(1), .name = VLS_STR("bag"), .max_commits = 120};
    vls_permission_row row = {.backpack = ledger_uuid(1), .node_id = VLS_STR("n")};
    shared s = {.env = t->env};
    vls_ledger ledger;

    CHECK_OK(vls_ring_new(&s.ring, t->env, &options, &t->err));
    ledger = vls_ring_ledger(s.ring);
    for (int i = 0; i < 20; i++)
        ledger_put(
            &ledger, t->env,
            &(ledger_write){.key = test_format("k%d", i), .value = "0", .space = "c", .time = 1});
    ledger.ops->enter(ledger.self);
    CHECK_OK(ledger.ops->row_put(ledger.self, &vls_bag_permissions, &row, &t->err));
    ledger.ops->leave(ledger.self);
    s.frozen = ledger_freeze(&ledger, 15);
    test_threads(THREADS, work, &s);
    CHECK_INT(20 + THREADS * ROUNDS, s.ring->last);
    ring_check(s.ring);
    ledger_release_frozen(&s.frozen);
    vls_ring_unref(s.ring);
}

/* ---- the archive ---- */

typedef struct turn {
    vls_ring *ring;
    atomic_int waiting;   /* threads that are about to ask */
    atomic_bool failed;   /* the first one's attempt is over */
    atomic_int too_early; /* answers before that */
    atomic_llong taken;
} turn;

static int take(void *arg, const valise_commit *commit, valise_blob *value, valise_error *err)
{
    turn *u = arg;

    (void)commit, (void)value, (void)err;
    atomic_fetch_add(&u->taken, 1);
    return 0;
}

/* Once the other one asks; and then it is given some time to answer too early. */
static int fail_late(void *arg, valise_error *err)
{
    turn *u = arg;

    while (atomic_load(&u->waiting) == 0)
        sched_yield();
    for (int i = 0; i < 1000; i++)
        sched_yield();
    atomic_store(&u->taken, 0);
    atomic_store(&u->failed, true);
    return vls_fail(err, VALISE_E_IO, "disk full");
}

static int finish(void *arg, valise_error *err)
{
    (void)arg, (void)err;
    return 0;
}

static bool is_archiving(vls_ring *ring)
{
    bool yes;

    vls_ring_lock(ring);
    yes = ring->archiving;
    vls_ring_unlock(ring);
    return yes;
}

static void take_turns(size_t index, void *arg)
{
    turn *u = arg;
    vls_ring *ring = u->ring;

    if (index == 0) {
        CHECK_INT(VALISE_E_IO, vls_ring_dropped(ring, false, take, fail_late, u, NULL));
        return;
    }
    while (!is_archiving(ring))
        sched_yield();
    atomic_store(&u->waiting, 1);
    CHECK_INT(0, vls_ring_dropped(ring, true, take, finish, u, NULL));
    if (!atomic_load(&u->failed))
        atomic_fetch_add(&u->too_early, 1);
}

/* Who waits does not take the other's attempt for success: it tries again. [B8] */
TEST(ring_threads, wait_for_the_archive)
{
    vls_ring_options options = {
        .id = ledger_uuid(1), .name = VLS_STR("bag"), .max_commits = 200, .archive = true};
    VLS_AUTO(ring) vls_ring *ring = NULL;
    vls_ledger ledger;
    turn u = {0};

    CHECK_OK(vls_ring_new(&ring, t->env, &options, &t->err));
    ledger = vls_ring_ledger(ring);
    for (int i = 0; i < 300; i++)
        ledger_pack(&ledger, t->env, "k", test_format("%d", i));
    u.ring = ring;
    test_threads(2, take_turns, &u);
    CHECK_INT(0, atomic_load(&u.too_early));
    CHECK_INT(ring->edge, atomic_load(&u.taken));
    CHECK_INT(0, ring->dropped.len);
}
