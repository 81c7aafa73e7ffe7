/* ring_faults.c -- every allocation of a ring fails in turn: nothing has changed then. */
#include "backpack/ring_impl.h"
#include "harness/fault.h"
#include "harness/test.h"
#include "kit/ledger.h"
#include "kit/ring_check.h"

typedef int step_fn(vls_ring *ring, fault *f);

typedef struct plan {
    step_fn *step;
    bool may_lose; /* reads: what cannot be kept is counted */
} plan;

/* Everything that can be seen of a ring. */
static valise_str look(vls_ring *ring, ledger_text *text)
{
    vls_ledger ledger = vls_ring_ledger(ring);
    static const valise_coll *const colls[] = {&vls_bag_quarantines, &vls_bag_checkpoints,
                                               &vls_bag_permissions, &vls_bag_runs};

    ledger_text_clear(text);
    ledger_show_items(text, &ledger);
    ledger_show_named(text, &ledger, "**");
    ledger_show_commits(text, &ledger, 0, INT64_MAX, false);
    for (size_t i = 0; i < VLS_COUNT(colls); i++)
        ledger_show_rows(text, &ledger, colls[i]);
    return vls_buf_str(&text->buf);
}

/* A ring with a bit of everything; nothing that is made on demand is there yet. */
static vls_ring *prepare(fault *f)
{
    vls_ring_options options = {.id = ledger_uuid(1), .name = VLS_STR("bag"), .max_commits = 30};
    vls_ring *ring = NULL;
    vls_ledger ledger;

    CHECK_INT(0, vls_ring_new(&ring, f->env, &options, &f->err));
    ring->keep = 10;
    ring->root_every = 4;
    ledger = vls_ring_ledger(ring);
    for (int i = 0; i < 40; i++)
        ledger_put(&ledger, f->env,
                   &(ledger_write){.key = test_format("k%d", i % 9),
                                   .value = test_format("%d", i),
                                   .space = i % 2 ? "a.b" : "a.c"});
    ledger_quarantine(&ledger, f->env, "k3");
    ledger_delete(&ledger, f->env, "k4");
    return ring;
}

static int run_step(fault *f, void *arg)
{
    const plan *p = arg;
    VLS_AUTO(ledger_text) ledger_text before = {0};
    VLS_AUTO(ledger_text) ledger_text after = {0};
    vls_ring *ring;
    int rc;

    fault_off(f);
    ledger_text_init(&before, valise_env_default(), true);
    ledger_text_init(&after, valise_env_default(), true);
    ring = prepare(f);
    (void)look(ring, &before);
    vls_ring_states_release(ring); /* looking made some */
    fault_on(f);
    rc = p->step(ring, f);
    fault_off(f);
    ring_check(ring);
    if (rc < 0)
        CHECK_STR(vls_buf_str(&before.buf), look(ring, &after));
    else if (fault_has_hit(f))
        f->recovered = true; /* a root that was not kept, a read that was counted */
    vls_ring_unref(ring);
    fault_on(f);
    return rc;
}

static void each(test *t, step_fn *step)
{
    plan p = {.step = step};

    fault_each_alloc(t, 0, run_step, &p);
    fault_each_alloc(t, FAULT_ONWARD, run_step, &p);
}

/* ---- steps ---- */

static int make(fault *f, void *arg)
{
    valise_str tag = VLS_STR("pii");
    vls_ring_options options = {.id = ledger_uuid(1), .name = VLS_STR("bag"), .sticky = {&tag, 1}};
    vls_ring *ring = NULL;
    int rc = vls_ring_new(&ring, f->env, &options, &f->err);

    (void)arg;
    vls_ring_unref(ring);
    return rc;
}

TEST(ring_faults, new_)
{
    fault_each_alloc(t, 0, make, NULL);
    fault_each_alloc(t, FAULT_ONWARD, make, NULL);
}

static int step_append(vls_ring *ring, fault *f)
{
    vls_ledger ledger = vls_ring_ledger(ring);
    int64_t seq;

    return ledger_try(&seq, &ledger, f->env,
                      &(ledger_write){.key = "a new key",
                                      .value = "\"new value\"",
                                      .space = "a new space",
                                      .node = "a new node",
                                      .tags = "p q",
                                      .reason = "because"},
                      &f->err);
}

TEST(ring_faults, append)
{
    each(t, step_append);
}

static int step_restore(vls_ring *ring, fault *f)
{
    vls_ledger ledger = vls_ring_ledger(ring);
    int64_t seq;

    return ledger_try(&seq, &ledger, f->env,
                      &(ledger_write){.key = "k4", .value = "\"again\"", .seq = 90}, &f->err);
}

TEST(ring_faults, append_behind_a_gap)
{
    each(t, step_restore);
}

static int step_many(vls_ring *ring, fault *f)
{
    vls_ledger ledger = vls_ring_ledger(ring);
    int64_t seq;
    int rc = 0;

    /* All in one go: the bound is for leave to see. */
    ring->max_commits = 1000;
    for (int i = 0; i < 40 && rc == 0; i++) {
        rc = ledger_try(&seq, &ledger, f->env, &(ledger_write){.key = "k5", .value = "1"}, &f->err);
        /* Those before a failure stay. */
        if (rc < 0 && i > 0) {
            f->recovered = true;
            return 0;
        }
    }
    return rc;
}

TEST(ring_faults, append_until_tables_grow)
{
    each(t, step_many);
}

static int ignore(void *arg, const valise_commit *commit, valise_error *err)
{
    (void)arg;
    (void)commit;
    (void)err;
    return 0;
}

static int ignore_two(void *arg, const valise_commit *a, const valise_commit *b, valise_error *err)
{
    (void)arg;
    (void)a;
    (void)b;
    (void)err;
    return 0;
}

static int step_freeze(vls_ring *ring, fault *f)
{
    vls_ledger ledger = vls_ring_ledger(ring), one = {0}, two = {0};
    valise_commit commit;
    int rc = ledger.ops->freeze(&one, ledger.self, ring->edge + 1, &f->err);

    if (rc == 0)
        rc = ledger.ops->freeze(&two, ledger.self, ring->edge + 9, &f->err);
    if (rc == 0)
        rc = one.ops->each_named(one.self, VLS_STR("a.*"), ignore, NULL, &f->err);
    if (rc == 0)
        rc = one.ops->each_difference(one.self, two.self, ignore_two, NULL, &f->err);
    if (rc == 0) {
        one.ops->enter(one.self);
        rc = one.ops->present(&commit, one.self, VLS_STR("k1"), &f->err);
        if (rc >= 0)
            rc = one.ops->commit(&commit, one.self, &ring->id, ring->edge + 1, &f->err);
        rc = rc > 0 ? 0 : rc;
        one.ops->leave(one.self);
    }
    ledger_release_frozen(&one);
    ledger_release_frozen(&two);
    return rc;
}

TEST(ring_faults, freeze)
{
    each(t, step_freeze);
}

static int step_walk(vls_ring *ring, fault *f)
{
    vls_ledger ledger = vls_ring_ledger(ring);
    const vls_ledger_ops *ops = ledger.ops;
    int rc = ops->each_item(ledger.self, ignore, NULL, &f->err);

    if (rc == 0)
        rc = ops->each_named(ledger.self, VLS_STR("a.*"), ignore, NULL, &f->err);
    if (rc == 0)
        rc = ops->each_version(ledger.self, VLS_STR("k1"), ignore, NULL, &f->err);
    if (rc == 0)
        rc = ops->each_commit(ledger.self, 0, 100, true, ignore, NULL, &f->err);
    return rc;
}

TEST(ring_faults, walks)
{
    each(t, step_walk);
}

static int step_fork(vls_ring *ring, fault *f)
{
    vls_ring_options options = {.id = ledger_uuid(2), .name = VLS_STR("fork")};
    vls_ledger ledger = vls_ring_ledger(ring), forked;
    vls_ring *fork = NULL;
    int rc = vls_ring_fork(&fork, &ledger, &options, &f->err);

    if (rc == 0) {
        forked = vls_ring_ledger(fork);
        rc = step_append(fork, f);
        if (rc == 0)
            rc = forked.ops->each_named(forked.self, VLS_STR("**"), ignore, NULL, &f->err);
    }
    if (rc == 0) {
        valise_commit commit;
        forked.ops->enter(forked.self);
        rc = forked.ops->commit(&commit, forked.self, &ring->id, ring->last, &f->err);
        forked.ops->leave(forked.self);
        rc = rc > 0 ? 0 : rc;
    }
    vls_ring_unref(fork);
    return rc;
}

TEST(ring_faults, fork)
{
    each(t, step_fork);
}

static int put_row(vls_ring *ring, const valise_coll *coll, const void *row, valise_error *err)
{
    vls_ledger ledger = vls_ring_ledger(ring);
    int rc;

    ledger.ops->enter(ledger.self);
    rc = ledger.ops->row_put(ledger.self, coll, row, err);
    ledger.ops->leave(ledger.self);
    return rc;
}

static int step_checkpoint(vls_ring *ring, fault *f)
{
    vls_bag_checkpoint_row row = {
        .backpack = ring->id, .name = VLS_STR("here"), .seq = ring->edge + 3};

    return put_row(ring, &vls_bag_checkpoints, &row, &f->err);
}

TEST(ring_faults, checkpoint)
{
    each(t, step_checkpoint);
}

static int step_permission(vls_ring *ring, fault *f)
{
    valise_str keys[] = {VLS_STR("a"), VLS_STR("b*")};
    vls_permission_row row = {
        .backpack = ring->id, .node_id = VLS_STR("n"), .allow = {.read = {keys, 2}}};
    vls_permission_row found = {.backpack = ring->id, .node_id = VLS_STR("n")};
    vls_ledger ledger = vls_ring_ledger(ring);
    int rc = put_row(ring, &vls_bag_permissions, &row, &f->err);

    if (rc < 0)
        return rc;
    ledger.ops->enter(ledger.self);
    rc = ledger.ops->row_get(&found, ledger.self, &vls_bag_permissions, &f->err);
    if (rc == 1)
        rc = ledger.ops->row_delete(ledger.self, &vls_bag_permissions, &row, &f->err);
    ledger.ops->leave(ledger.self);
    if (rc < 0) { /* the row that was put stays */
        fault_off(f);
        ledger.ops->enter(ledger.self);
        CHECK_INT(1, ledger.ops->row_delete(ledger.self, &vls_bag_permissions, &row, &f->err));
        ledger.ops->leave(ledger.self);
        fault_on(f);
    }
    return rc > 0 ? 0 : rc;
}

TEST(ring_faults, permission)
{
    each(t, step_permission);
}

static int step_quarantine_row(vls_ring *ring, fault *f)
{
    vls_quarantine_row row = {
        .backpack = ring->id, .seq = ring->last, .key = VLS_STR("k4"), .item_backpack = ring->id};
    valise_commit commit;
    vls_ledger ledger = vls_ring_ledger(ring);

    /* The last commit deleted k4: as if it had been a quarantine. */
    ledger.ops->enter(ledger.self);
    CHECK_INT(1, ledger.ops->newest(&commit, ledger.self, row.key, &f->err));
    row.item = commit.previous;
    ledger.ops->leave(ledger.self);
    return put_row(ring, &vls_bag_quarantines, &row, &f->err);
}

TEST(ring_faults, quarantine)
{
    each(t, step_quarantine_row);
}

static int step_read(vls_ring *ring, fault *f)
{
    vls_ledger ledger = vls_ring_ledger(ring);
    valise_str tag = VLS_STR("x");
    vls_ledger_read read = {
        .node_id = VLS_STR("reader"), .key = VLS_STR("none"), .tags = {&tag, 1}};

    (void)f;
    ledger.ops->enter(ledger.self);
    for (int i = 0; i < 100; i++)
        ledger.ops->read_add(ledger.self, &read);
    ledger.ops->leave(ledger.self);
    CHECK(ring->reads.last <= 100);
    return 0;
}

TEST(ring_faults, reads_are_counted_when_they_are_lost)
{
    each(t, step_read);
}

/* Dropping old commits needs no memory: trees that cannot be mended are made again. */
static int step_prune(vls_ring *ring, fault *f)
{
    vls_ledger ledger = vls_ring_ledger(ring), old = {0};

    fault_off(f);
    for (int i = 0; i < 9; i++)
        ledger_delete(&ledger, f->env, test_format("k%d", i));
    ring->archive = true;
    old = ledger_freeze(&ledger, ring->last - 1);
    ledger_checkpoint(&ledger, "here", ring->last);
    for (int i = 0; i < 15; i++)
        ledger_pack(&ledger, f->env, "z", test_format("%d", i));
    ring->max_commits = 10;
    fault_on(f);
    ledger.ops->enter(ledger.self);
    ledger.ops->leave(ledger.self);
    fault_off(f);
    ring_check(ring);
    ledger.ops->enter(ledger.self); /* with memory, it is done now */
    ledger.ops->leave(ledger.self);
    CHECK_INT(10, ring->last - ring->edge);
    ledger_release_frozen(&old);
    fault_on(f);
    return 0;
}

TEST(ring_faults, prune)
{
    each(t, step_prune);
}
