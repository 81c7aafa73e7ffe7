/* ring_threads.c -- eight threads pack, read, freeze, fork and release at once. */
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
