/* rows_model.c -- rows against a ledger that is obviously right, with forks and expiry.
 * [B2] [B8] [B12] [B13] [B15] [B24] [K30] */
#include "backpack/expire.h"
#include "base/uuid.h"
#include "kit/bed.h"
#include "kit/naive.h"
#include "rows_kit.h"

TEST_PARAMS(rows_model, "memory", "sqlite")

enum { KEYS = 9, BAGS = 4, STEPS = 400 };

static const char *const key_names[KEYS] = {"a",   "aa", "ab", "b",       "key",
                                            "k.1", "z",  "zz", "\xc3\xa4"};
static const char *const spaces[] = {"s", "s.a", "s.a.b", "s.b", "t.a", NULL};
static const char *const patterns[] = {"**", "s", "s.*", "s.**", "*.a", "*.*", "s.a.**", "x", "t*"};

typedef struct pair {
    naive *n;
    valise_uuid id;
    int parent;   /* -1: none */
    bool expired; /* it or what it was forked from */
    int64_t last; /* seq */
    int64_t open; /* a quarantine entry that was not released; 0: none */
} pair;

typedef struct model {
    test *t;
    bed b;
    test_rng rng;
    pair bags[BAGS];
    int count;
    int checkpoints;
} model;

static int pick(model *m, int n)
{
    return (int)(test_random(&m->rng) % (uint32_t)n);
}

/* ---- changes, to both ---- */

static void append(model *m, pair *p, const vls_ledger *ledger, int64_t action)
{
    test *t = m->t;
    const char *space = spaces[pick(m, (int)VLS_COUNT(spaces))];
    valise_commit commit = {.time = m->b.view.stamp.time,
                            .key = valise_str_of(key_names[pick(m, KEYS)]),
                            .node_id = VLS_STR("n"),
                            .node_name = VLS_STR("n"),
                            .version = 1,
                            .action = action};
    bool live = vls_commit_is_live(&commit);
    valise_commit copy, old;
    valise_blob *blob = live ? bed_value(&m->b, &commit, test_format("%d", pick(m, 50))) : NULL;
    vls_ledger simple = naive_ledger(p->n);
    int rc;

    if (space)
        commit.namespace_name = valise_str_of(space);
    copy = commit;
    simple.ops->enter(simple.self);
    rc = simple.ops->newest(&old, simple.self, commit.key, &t->err);
    CHECK(rc >= 0);
    if (action == VALISE_ACTION_QUARANTINE && rc > 0 && vls_commit_is_live(&old)) {
        vls_quarantine_row entry = {.backpack = p->id,
                                    .seq = p->last + 1,
                                    .key = commit.key,
                                    .item_backpack = old.backpack,
                                    .item = old.seq};
        CHECK_OK(simple.ops->row_put(simple.self, &vls_bag_quarantines, &entry, &t->err));
        CHECK_OK(ledger->ops->row_put(ledger->self, &vls_bag_quarantines, &entry, &t->err));
    }
    CHECK_OK(simple.ops->append(simple.self, &copy, blob, &t->err));
    simple.ops->leave(simple.self);
    ledger->ops->enter(ledger->self);
    CHECK_OK(ledger->ops->append(ledger->self, &commit, blob, &t->err));
    ledger->ops->leave(ledger->self);
    CHECK_INT(copy.seq, commit.seq);
    p->last = commit.seq;
    valise_blob_unref(blob);
}

static void write_some(model *m)
{
    test *t = m->t;
    pair *p = &m->bags[pick(m, m->count)];
    VLS_AUTO(rows) vls_rows rows = {0};
    vls_ledger ledger;

    bed_begin(&m->b, true);
    CHECK_OK(vls_rows_open_id(&rows, &m->b.view, &p->id, &t->err));
    ledger = vls_rows_ledger(&rows);
    for (int n = 1 + pick(m, 4); n > 0; n--) {
        int what = pick(m, 8);
        append(m, p, &ledger,
               what == 0   ? VALISE_ACTION_DELETE
               : what == 1 ? VALISE_ACTION_QUARANTINE
                           : VALISE_ACTION_PACK);
    }
    vls_rows_close(&rows);
    bed_end(&m->b);
}

static void checkpoint(model *m)
{
    test *t = m->t;
    pair *p = &m->bags[pick(m, m->count)];
    vls_ledger simple = naive_ledger(p->n);
    vls_bag_checkpoint_row row = {.backpack = p->id,
                                  .name = valise_str_of(test_format("c%d", m->checkpoints++)),
                                  .seq = p->last};

    bed_begin(&m->b, true);
    CHECK_OK(valise_view_put(&m->b.view, &vls_bag_checkpoints, &row, &t->err));
    bed_end(&m->b);
    simple.ops->enter(simple.self);
    CHECK_OK(simple.ops->row_put(simple.self, &vls_bag_checkpoints, &row, &t->err));
    simple.ops->leave(simple.self);
}

/* A state that can be seen. */
static int64_t some_state(model *m, const pair *p, int64_t edge)
{
    return edge + pick(m, (int)(p->last - edge) + 1);
}

static void fork_one(model *m)
{
    test *t = m->t;
    int from = pick(m, m->count);
    pair *p = &m->bags[from], *q = &m->bags[m->count];
    VLS_AUTO(rows) vls_rows rows = {0};
    vls_ledger ledger, state, simple = naive_ledger(p->n), simple_state;
    vls_bag_row fork;
    int64_t at;

    bed_begin(&m->b, true);
    CHECK_OK(vls_rows_open_id(&rows, &m->b.view, &p->id, &t->err));
    ledger = vls_rows_ledger(&rows);
    at = some_state(m, p, rows.bag.edge);
    state = freeze_at(t, &ledger, at);
    CHECK_OK(vls_rows_fork(&fork, &state, valise_str_of(test_format("bag%d", m->count)), &t->err));
    thaw(&state);
    vls_rows_close(&rows);
    bed_end(&m->b);
    simple_state = freeze_at(t, &simple, at);
    *q = (pair){.id = fork.id, .parent = from, .expired = p->expired};
    CHECK_OK(naive_fork(&q->n, &simple_state, &(naive_options){.id = fork.id, .name = VLS_STR("f")},
                        &t->err));
    thaw(&simple_state);
    m->count++;
}

static int drop_commit(void *arg, const valise_commit *commit, valise_error *err)
{
    return valise_view_delete(arg, &vls_bag_commits, commit, err) < 0 ? VALISE_E_INVALID : 0;
}

static int drop_entry(void *arg, const vls_quarantine_row *entry, valise_error *err)
{
    return valise_view_delete(arg, &vls_bag_quarantines, entry, err) < 0 ? VALISE_E_INVALID : 0;
}

static int drop_run(void *arg, const vls_run_row *run, valise_error *err)
{
    return valise_view_delete(arg, &vls_bag_runs, run, err) < 0 ? VALISE_E_INVALID : 0;
}

static void expire_some(model *m)
{
    test *t = m->t;
    int which = pick(m, m->count);
    pair *p = &m->bags[which];
    VLS_AUTO(rows) vls_rows rows = {0};
    const vls_expire_ops ops = {drop_commit, drop_entry, drop_run, &m->b.view};
    vls_bag_row bag;
    int64_t upto;

    if (p->last < 2)
        return;
    bed_internal(&m->b);
    CHECK_OK(vls_rows_open_id(&rows, &m->b.view, &p->id, &t->err));
    upto = VLS_MIN(some_state(m, p, rows.bag.edge), p->last - 1);
    if (upto > rows.bag.edge) {
        CHECK_OK(vls_expire_plan(&rows, rows.bag.edge + 1, upto, &ops, &t->err));
        bag = rows.bag;
        bag.edge = upto;
        CHECK_OK(valise_view_put(&m->b.view, &vls_bags, &bag, &t->err));
        naive_set_edge(p->n, upto);
        p->expired = true;
        for (int i = 0; i < m->count; i++) {
            for (int up = m->bags[i].parent; up >= 0; up = m->bags[up].parent)
                m->bags[i].expired |= up == which;
        }
    }
    vls_rows_close(&rows);
    bed_end(&m->b);
}

/* ---- comparing ---- */

/* The naive one does not forget the deletions that the origin of a fork has let go of. */
static bool remembers(const pair *p)
{
    return !p->expired || p->parent < 0;
}

static void compare_states(model *m, const pair *p, const vls_ledger *a, const vls_ledger *b)
{
    test *t = m->t;
    const char *pattern = patterns[pick(m, (int)VLS_COUNT(patterns))];
    const char *key = key_names[pick(m, KEYS)];

    CHECK_TEXT(show_items(t, a), show_items(t, b));
    CHECK_TEXT(show_named(t, a, pattern), show_named(t, b, pattern));
    for (int i = 0; remembers(p) && i < KEYS; i++)
        CHECK_TEXT(show_newest(t, a, key_names[i]), show_newest(t, b, key_names[i]));
    if (remembers(p))
        CHECK_TEXT(show_versions(t, a, key), show_versions(t, b, key));
    CHECK_TEXT(show_commits(t, a, 0, INT64_MAX, true), show_commits(t, b, 0, INT64_MAX, true));
    CHECK_TEXT(show_commits(t, a, 3, 9, false), show_commits(t, b, 3, 9, false));
}

static void compare_commits(model *m, const pair *p, const vls_ledger *a, const vls_ledger *b)
{
    test *t = m->t;

    for (int64_t seq = 1; seq <= p->last; seq++) {
        valise_commit x, y;
        int rc;
        a->ops->enter(a->self);
        rc = a->ops->commit(&x, a->self, &p->id, seq, &t->err);
        if (rc > 0) {
            CHECK_INT(1, b->ops->commit(&y, b->self, &p->id, seq, &t->err));
            CHECK_STR(x.key, y.key);
        }
        a->ops->leave(a->self);
        b->ops->leave(b->self);
    }
}

static int compare_checkpoint(void *arg, const void *row, valise_error *err)
{
    void **both = arg;
    const vls_ledger *a = both[0], *b = both[1];
    test *t = both[2];
    int64_t seq = ((const vls_bag_checkpoint_row *)row)->seq;
    vls_ledger x = freeze_at(t, a, seq), y = freeze_at(t, b, seq);

    (void)err;
    CHECK_TEXT(show_items(t, &x), show_items(t, &y));
    CHECK_TEXT(show_named(t, &x, "s.**"), show_named(t, &y, "s.**"));
    if (remembers(both[3]))
        CHECK_TEXT(show_difference(t, &x, a), show_difference(t, &y, b));
    thaw(&x);
    thaw(&y);
    return 0;
}

static void compare(model *m)
{
    test *t = m->t;
    pair *p = &m->bags[pick(m, m->count)], *q = &m->bags[pick(m, m->count)];
    vls_rows rows = {0}, more = {0};
    vls_ledger a = naive_ledger(p->n), b, c = naive_ledger(q->n), d, x, y;
    void *both[] = {&a, &b, t, p};
    int64_t at;

    bed_look(&m->b, -1);
    CHECK_OK(vls_rows_open_id(&rows, &m->b.view, &p->id, &t->err));
    CHECK_OK(vls_rows_open_id(&more, &m->b.view, &q->id, &t->err));
    b = vls_rows_ledger(&rows);
    d = vls_rows_ledger(&more);
    CHECK_INT(show_head(t, &a).last, show_head(t, &b).last);
    CHECK_INT(show_head(t, &a).edge, show_head(t, &b).edge);
    CHECK_INT(show_head(t, &a).last_time, show_head(t, &b).last_time);
    compare_states(m, p, &a, &b);
    compare_commits(m, p, &a, &b);
    at = some_state(m, p, rows.bag.edge);
    x = freeze_at(t, &a, at);
    y = freeze_at(t, &b, at);
    compare_states(m, p, &x, &y);
    if (remembers(p))
        CHECK_TEXT(show_difference(t, &x, &a), show_difference(t, &y, &b));
    if (remembers(p) && remembers(q))
        CHECK_TEXT(show_difference(t, &x, &c), show_difference(t, &y, &d));
    thaw(&x);
    thaw(&y);
    CHECK_OK(a.ops->each_row(a.self, &vls_bag_checkpoints, compare_checkpoint, both, &t->err));
    vls_rows_close(&more);
    vls_rows_close(&rows);
    bed_end(&m->b);
}

TEST(rows_model, shows_what_a_naive_one_does)
{
    model m = {.t = t, .rng = test_rng_new(test_seed()), .count = 1};

    bed_open(&m.b, t, t->param);
    vls_bag_row bag = bed_make(&m.b, "run");
    m.bags[0] = (pair){.id = bag.id, .parent = -1};
    CHECK_OK(naive_new(&m.bags[0].n, t->env, &(naive_options){.id = bag.id, .name = VLS_STR("run")},
                       &t->err));
    for (int step = 0; step < STEPS; step++) {
        int what = pick(&m, 20);
        if (what < 12)
            write_some(&m);
        else if (what == 12)
            checkpoint(&m);
        else if (what == 13 && m.count < BAGS && step > 40)
            fork_one(&m);
        else if (what == 14 && step > 60)
            expire_some(&m);
        else if (what > 14)
            compare(&m);
    }
    compare(&m);
    bed_check(&m.b);
    for (int i = m.count; i-- > 0;)
        naive_free(m.bags[i].n);
    bed_close(&m.b);
}
