/* ledger.c -- the ring against the naive ledger.
 *
 * Three backpacks at most, each a ring and a naive one: the first, and forks of any state. States
 * are frozen and held while the rings go on and drop commits: bounds are small. After each step one
 * function, chosen by the step, must answer alike on every pair; the ring is counted again.
 *
 * The naive ledger forgets nothing. So it is told the ring's edge, and of states that are older
 * than an edge of today only what the ring promises to keep is compared. */
#include "harness/model.h"

#include "backpack/ring_impl.h"
#include "base/uuid.h"
#include "field/field.h"
#include "harness/counting_env.h"
#include "kit/ledger.h"
#include "kit/naive.h"
#include "kit/ring_check.h"

enum { KEYS = 9, VALUES = 5, SPACES = 5, BAGS = 3, FROZEN = 5, NAMES = 3 };

static const char *const keys[KEYS] = {"a",       "b",       "ba",    "bb", "c",
                                       "run:1:x", "run:1:y", "run:2", "z"};
static const char *const values[VALUES] = {"1", "22", "\"three\"", "[4,4,4]", "{\"five\":5}"};
static const char *const spaces[SPACES] = {NULL, "s", "s.a", "s.b.c", "t"};
static const char *const patterns[] = {"s", "s.*", "**", "*.a", "s.**", "t", "x.*"};
static const char *const names[NAMES] = {"one", "two", "three"};

typedef struct shown {
    vls_ledger ring, naive; /* ops NULL: none */
    size_t bag;
    int64_t upto, edge; /* frozen */
} shown;

typedef struct bags {
    counting_env mem;
    const valise_env *env;
    vls_ring *rings[BAGS];
    naive *naives[BAGS];
    shown live[BAGS];
    shown frozen[FROZEN];
    bool checkpoint[BAGS][NAMES];
    ledger_text ours, theirs;
    uint64_t turn;
} bags;

/* ---- beginning and end ---- */

static void *start(test *t, const char *dir)
{
    bags *b = test_alloc(sizeof(bags));
    vls_ring_options options = {
        .id = ledger_uuid(1), .name = VLS_STR("bag"), .max_commits = 24, .max_bytes = 3000};
    naive_options plain = {.id = options.id, .name = options.name};
    valise_error err = {0};

    (void)t;
    (void)dir;
    counting_env_init(&b->mem);
    b->env = &b->mem.env;
    CHECK_INT(0, vls_ring_new(&b->rings[0], b->env, &options, &err));
    CHECK_INT(0, naive_new(&b->naives[0], valise_env_default(), &plain, &err));
    b->rings[0]->keep = 10;
    b->rings[0]->root_every = 4;
    b->live[0] = (shown){vls_ring_ledger(b->rings[0]), naive_ledger(b->naives[0]), 0, 0, 0};
    ledger_text_init(&b->ours, valise_env_default(), true);
    ledger_text_init(&b->theirs, valise_env_default(), true);
    return b;
}

static void thaw(shown *s)
{
    ledger_release_frozen(&s->ring);
    ledger_release_frozen(&s->naive);
}

static void stop(void *state)
{
    bags *b = state;

    for (size_t i = 0; i < FROZEN; i++)
        thaw(&b->frozen[i]);
    /* In any order: a ring lives as long as forks and states need it. */
    for (size_t i = 0; i < BAGS; i++)
        vls_ring_unref(b->rings[i]);
    for (size_t i = BAGS; i > 0; i--)
        naive_free(b->naives[i - 1]);
    vls_buf_release(&b->ours.buf);
    vls_buf_release(&b->theirs.buf);
    CHECK_INT(0, counting_env_in_use(&b->mem));
}

/* ---- comparing ---- */

static void compare(bags *b, const char *what)
{
    valise_str ours = vls_buf_str(&b->ours.buf), theirs = vls_buf_str(&b->theirs.buf);

    CHECK_MSG(vls_str_equal(ours, theirs), "%s\nring:\n%.*s\nnaive:\n%.*s\n", what,
              VALISE_STR_ARG(ours), VALISE_STR_ARG(theirs));
    ledger_text_clear(&b->ours);
    ledger_text_clear(&b->theirs);
}

static int64_t edge_now(const bags *b, const valise_uuid *id)
{
    for (size_t i = 0; i < BAGS; i++) {
        if (b->rings[i] && vls_uuid_equal(&b->rings[i]->id, id))
            return b->rings[i]->edge;
    }
    return INT64_MAX;
}

/* Of each backpack's versions those behind the edge of today, and one more. */
typedef struct versions {
    bags *b;
    valise_uuid of;
    bool cut;
} versions;

static int on_version(void *arg, const valise_commit *commit, valise_error *err)
{
    versions *v = arg;

    (void)err;
    if (!vls_uuid_equal(&v->of, &commit->backpack))
        v->cut = false;
    v->of = commit->backpack;
    if (!v->cut)
        ledger_show_commit(&v->b->theirs, commit);
    v->cut = v->cut || commit->seq <= edge_now(v->b, &commit->backpack);
    return 0;
}

static void compare_versions(bags *b, const shown *s, const char *key)
{
    versions v = {.b = b};
    valise_error err = {0};

    ledger_show_versions(&b->ours, &s->ring, key);
    b->theirs.ledger = &s->naive;
    CHECK_INT(0,
              s->naive.ops->each_version(s->naive.self, valise_str_of(key), on_version, &v, &err));
    compare(b, "versions");
}

/* Quarantine rows: those that are not released in the state, and of the newest state also those
 * that were released behind the edge. */
typedef struct jail {
    ledger_text *out;
    int64_t upto, edge;
    bool frozen;
} jail;

static int on_quarantine(void *arg, const void *row, valise_error *err)
{
    jail *j = arg;
    vls_quarantine_row q = *(const vls_quarantine_row *)row;

    if (j->frozen && (q.seq > j->upto || (q.released > 0 && q.released <= j->upto)))
        return 0;
    if (j->frozen)
        q.released = 0;
    if (q.released > 0 && q.released <= j->edge)
        return 0;
    CHECK_INT(
        0, vls_fields_write(&j->out->buf, &q, vls_bag_quarantines.fields, VLS_FIELD_INPUT, 0, err));
    return 0;
}

static void compare_rows(bags *b, const shown *s)
{
    jail j = {.out = &b->ours, .upto = s->upto, .frozen = s->ring.frozen};
    valise_error err = {0};

    j.edge = b->rings[s->bag]->edge;
    CHECK_INT(0,
              s->ring.ops->each_row(s->ring.self, &vls_bag_quarantines, on_quarantine, &j, &err));
    j.out = &b->theirs;
    CHECK_INT(0,
              s->naive.ops->each_row(s->naive.self, &vls_bag_quarantines, on_quarantine, &j, &err));
    compare(b, "quarantine");
    ledger_show_rows(&b->ours, &s->ring, &vls_bag_checkpoints);
    ledger_show_rows(&b->theirs, &s->naive, &vls_bag_checkpoints);
    compare(b, "checkpoints");
    ledger_show_rows(&b->ours, &s->ring, &vls_bag_permissions);
    ledger_show_rows(&b->theirs, &s->naive, &vls_bag_permissions);
    compare(b, "permissions");
}

static void compare_at(bags *b, const shown *s)
{
    for (size_t i = 0; i < BAGS && b->rings[i]; i++) {
        const valise_uuid *id = &b->rings[i]->id;
        bool is_old = s->ring.frozen && s->upto < b->rings[i]->edge;
        for (int64_t seq = 0; seq <= b->rings[i]->last + 1; seq++) {
            int ours = ledger_show_at(&b->ours, &s->ring, id, seq);
            int theirs = ledger_show_at(&b->theirs, &s->naive, id, seq);
            if (ours == theirs) {
                compare(b, "commit");
                continue;
            }
            /* Dropped since, or kept for a fork, the quarantine of one or that of a checkpoint. */
            CHECK_MSG(ours < theirs ? seq <= b->rings[i]->edge : i != s->bag || is_old,
                      "commit %lld of bag %zu, seen from bag %zu (state %lld), edge %lld: %d, %d",
                      (long long)seq, i, s->bag, s->ring.frozen ? (long long)s->upto : -1,
                      (long long)b->rings[i]->edge, ours, theirs);
            ledger_text_clear(&b->ours);
            ledger_text_clear(&b->theirs);
        }
    }
}

static void compare_usage(bags *b, const shown *s)
{
    valise_usage ours = {0}, theirs = {0};
    valise_error err = {0};
    size_t items = 0;

    CHECK_INT(0, s->ring.ops->usage(&ours, s->ring.self, &err));
    CHECK_INT(0, s->naive.ops->usage(&theirs, s->naive.self, &err));
    ledger_show_items(&b->ours, &s->ring);
    for (size_t i = 0; i < b->ours.buf.len; i++)
        items += b->ours.buf.ptr[i] == '\n';
    CHECK_INT(items, ours.items);
    ledger_text_clear(&b->ours);
    CHECK(ours.overhead_bytes >= 0 && ours.state_bytes >= 0 && ours.held_bytes >= 0);
    if (!s->ring.frozen) {
        CHECK_INT(theirs.commits, ours.commits);
        CHECK_INT(theirs.first_seq, ours.first_seq);
        CHECK_INT(theirs.last_seq, ours.last_seq);
        CHECK_INT(theirs.quarantined, ours.quarantined);
    }
}

static void compare_commits(bags *b, const shown *s, bool reverse)
{
    int64_t first = b->rings[s->bag]->edge + 1;

    ledger_show_commits(&b->ours, &s->ring, 0, INT64_MAX, reverse);
    ledger_show_commits(&b->theirs, &s->naive, first, INT64_MAX, reverse);
    compare(b, "commits");
}

static void compare_shown(bags *b, const shown *s)
{
    const char *key = keys[b->turn % KEYS], *pattern = patterns[b->turn % VLS_COUNT(patterns)];

    switch (b->turn % 8) {
    case 0:
        ledger_show_items(&b->ours, &s->ring);
        ledger_show_items(&b->theirs, &s->naive);
        compare(b, "items");
        break;
    case 1:
        ledger_show_named(&b->ours, &s->ring, pattern);
        ledger_show_named(&b->theirs, &s->naive, pattern);
        compare(b, pattern);
        break;
    case 2:
        compare_versions(b, s, key);
        break;
    case 3:
        compare_commits(b, s, b->turn % 16 > 8);
        break;
    case 4:
        compare_rows(b, s);
        break;
    case 5:
        compare_at(b, s);
        break;
    case 6:
        compare_usage(b, s);
        break;
    default:
        break;
    }
    ledger_show_newest(&b->ours, &s->ring, key);
    ledger_show_newest(&b->theirs, &s->naive, key);
    compare(b, "newest");
    ledger_show_present(&b->ours, &s->ring, key);
    ledger_show_present(&b->theirs, &s->naive, key);
    compare(b, "present");
}

static void check(void *state)
{
    bags *b = state;

    b->turn++;
    for (size_t i = 0; i < BAGS && b->rings[i]; i++) {
        ring_check(b->rings[i]);
        compare_shown(b, &b->live[i]);
    }
    for (size_t i = 0; i < FROZEN; i++) {
        if (b->frozen[i].ring.ops)
            compare_shown(b, &b->frozen[i]);
    }
}

/* ---- steps ---- */

static shown *choose_bag(bags *b, model_args *a)
{
    size_t n = model_below(a, "bag", BAGS);

    return b->rings[n] ? &b->live[n] : &b->live[0];
}

static shown *choose_shown(bags *b, model_args *a)
{
    size_t n = model_below(a, "shown", BAGS + FROZEN);

    if (n >= BAGS && b->frozen[n - BAGS].ring.ops)
        return &b->frozen[n - BAGS];
    return n < BAGS && b->rings[n] ? &b->live[n] : &b->live[0];
}

/* The ring may have dropped something. */
static void follow_edge(bags *b, const shown *s)
{
    vls_ring_pruned pruned = {0};
    int64_t edge = ledger_head(&s->ring).edge;

    vls_ring_take_pruned(&pruned, b->rings[s->bag]);
    CHECK_INT(pruned.commits > 0 ? edge : 0, pruned.edge);
    CHECK_INT(edge - ledger_head(&s->naive).edge, pruned.commits);
    CHECK(b->rings[s->bag]->last - edge <= b->rings[s->bag]->max_commits);
    if (pruned.commits > 0)
        CHECK(b->rings[s->bag]->last - edge >= b->rings[s->bag]->keep);
    naive_set_edge(b->naives[s->bag], edge);
}

static void write_both(bags *b, const shown *s, const ledger_write *w)
{
    CHECK_INT(ledger_put(&s->naive, valise_env_default(), w), ledger_put(&s->ring, b->env, w));
    follow_edge(b, s);
}

static void op_pack(void *state, model_args *a)
{
    bags *b = state;
    const shown *s = choose_bag(b, a);
    ledger_write w = {.key = keys[model_below(a, "key", KEYS)],
                      .value = values[model_below(a, "value", VALUES)],
                      .space = spaces[model_below(a, "space", SPACES)],
                      .tags = model_below(a, "tag", 4) == 0 ? "pii x" : NULL,
                      .node = model_below(a, "node", 2) ? "m" : NULL};

    write_both(b, s, &w);
}

static void op_burst(void *state, model_args *a)
{
    bags *b = state;
    const shown *s = choose_bag(b, a);
    size_t count = model_below(a, "count", 12), key = model_below(a, "key", KEYS);

    for (size_t i = 0; i < count; i++)
        write_both(b, s,
                   &(ledger_write){.key = keys[(key + i * i) % KEYS],
                                   .value = values[(key + i) % VALUES],
                                   .space = spaces[i % SPACES]});
}

static void op_delete(void *state, model_args *a)
{
    bags *b = state;
    const shown *s = choose_bag(b, a);

    write_both(
        b, s,
        &(ledger_write){.key = keys[model_below(a, "key", KEYS)], .action = VALISE_ACTION_DELETE});
}

static void op_quarantine(void *state, model_args *a)
{
    bags *b = state;
    const shown *s = choose_bag(b, a);
    const char *key = keys[model_below(a, "key", KEYS)];

    CHECK_INT(ledger_quarantine(&s->naive, valise_env_default(), key),
              ledger_quarantine(&s->ring, b->env, key));
    follow_edge(b, s);
}

static void op_release(void *state, model_args *a)
{
    bags *b = state;
    const shown *s = choose_bag(b, a);
    int64_t last = b->rings[s->bag]->last;
    int64_t entry = last - (int64_t)model_below(a, "back", 20);

    for (; entry > 0; entry--) {
        int64_t ours = ledger_release(&s->ring, b->env, entry);
        CHECK_INT(ledger_release(&s->naive, valise_env_default(), entry), ours);
        if (ours)
            break;
    }
    follow_edge(b, s);
}

static void op_freeze(void *state, model_args *a)
{
    bags *b = state;
    const shown *s = choose_shown(b, a);
    shown *to = &b->frozen[model_below(a, "slot", FROZEN)];
    uint64_t back = model_below(a, "back", 30);
    int64_t upto = s->ring.frozen ? s->upto : b->rings[s->bag]->last;
    int64_t edge = b->rings[s->bag]->edge;
    shown made = *s;

    if (to == s)
        return;
    upto = (int64_t)back > upto || upto - (int64_t)back < edge ? upto : upto - (int64_t)back;
    made.ring = ledger_freeze(&s->ring, upto);
    /* Another state than that of a frozen one is made anew, with the edge of today. */
    made.naive = ledger_freeze(upto == s->upto ? &s->naive : &b->live[s->bag].naive, upto);
    made.upto = upto;
    thaw(to);
    *to = made;
}

static void op_thaw(void *state, model_args *a)
{
    bags *b = state;

    thaw(&b->frozen[model_below(a, "slot", FROZEN)]);
}

static void op_checkpoint(void *state, model_args *a)
{
    bags *b = state;
    const shown *s = choose_bag(b, a);
    size_t name = model_below(a, "name", NAMES);
    int64_t last = b->rings[s->bag]->last, back = (int64_t)model_below(a, "back", 12);
    int64_t seq = last - back < b->rings[s->bag]->edge ? last : last - back;

    ledger_checkpoint(&s->ring, names[name], seq);
    ledger_checkpoint(&s->naive, names[name], seq);
    b->checkpoint[s->bag][name] = true;
}

static void op_uncheckpoint(void *state, model_args *a)
{
    bags *b = state;
    const shown *s = choose_bag(b, a);
    size_t name = model_below(a, "name", NAMES);
    vls_bag_checkpoint_row row = {.backpack = b->rings[s->bag]->id,
                                  .name = valise_str_of(names[name])};
    valise_error err = {0};
    int rc;

    s->ring.ops->enter(s->ring.self);
    rc = s->ring.ops->row_delete(s->ring.self, &vls_bag_checkpoints, &row, &err);
    s->ring.ops->leave(s->ring.self);
    CHECK_INT(b->checkpoint[s->bag][name], rc);
    s->naive.ops->enter(s->naive.self);
    CHECK_INT(rc, s->naive.ops->row_delete(s->naive.self, &vls_bag_checkpoints, &row, &err));
    s->naive.ops->leave(s->naive.self);
    b->checkpoint[s->bag][name] = false;
}

/* A checkpoint's state, however long ago. */
static void op_freeze_named(void *state, model_args *a)
{
    bags *b = state;
    const shown *s = choose_bag(b, a);
    size_t name = model_below(a, "name", NAMES);
    shown *to = &b->frozen[model_below(a, "slot", FROZEN)];
    vls_bag_checkpoint_row row = {.backpack = b->rings[s->bag]->id,
                                  .name = valise_str_of(names[name])};
    shown made = *s;
    valise_error err = {0};

    if (!b->checkpoint[s->bag][name])
        return;
    s->ring.ops->enter(s->ring.self);
    CHECK_INT(1, s->ring.ops->row_get(&row, s->ring.self, &vls_bag_checkpoints, &err));
    s->ring.ops->leave(s->ring.self);
    made.ring = ledger_freeze(&s->ring, row.seq);
    made.naive = ledger_freeze(&s->naive, row.seq);
    made.upto = row.seq;
    thaw(to);
    *to = made;
}

static void op_fork(void *state, model_args *a)
{
    bags *b = state;
    const shown *s = choose_shown(b, a);
    size_t n = 0;
    valise_error err = {0};

    while (n < BAGS && b->rings[n])
        n++;
    if (n == BAGS)
        return;
    vls_ring_options options = {
        .id = ledger_uuid((unsigned)n + 1), .name = VLS_STR("fork"), .max_commits = 20};
    naive_options plain = {.id = options.id, .name = options.name};
    CHECK_INT(0, vls_ring_fork(&b->rings[n], &s->ring, &options, &err));
    CHECK_INT(0, naive_fork(&b->naives[n], &s->naive, &plain, &err));
    b->rings[n]->keep = 5;
    b->rings[n]->root_every = 3;
    b->live[n] = (shown){vls_ring_ledger(b->rings[n]), naive_ledger(b->naives[n]), n, 0, 0};
}

static int64_t upto_of(const bags *b, const shown *s)
{
    return s->ring.frozen ? s->upto : b->rings[s->bag]->last;
}

static void op_difference(void *state, model_args *a)
{
    bags *b = state;
    const shown *x = choose_shown(b, a), *y = choose_shown(b, a);

    ledger_show_difference(&b->ours, &x->ring, &y->ring);
    /* The same state, though frozen before and after the edge passed a delete: nothing. */
    if (x->bag != y->bag || upto_of(b, x) != upto_of(b, y))
        ledger_show_difference(&b->theirs, &x->naive, &y->naive);
    compare(b, "difference");
}

static void op_permit(void *state, model_args *a)
{
    bags *b = state;
    const shown *s = choose_bag(b, a);
    valise_str node = valise_str_of(keys[model_below(a, "node", KEYS)]);
    vls_permission_row row = {
        .backpack = b->rings[s->bag]->id, .node_id = node, .allow = {.read = {&node, 1}}};
    valise_error err = {0};

    s->ring.ops->enter(s->ring.self);
    CHECK_INT(0, s->ring.ops->row_put(s->ring.self, &vls_bag_permissions, &row, &err));
    s->ring.ops->leave(s->ring.self);
    s->naive.ops->enter(s->naive.self);
    CHECK_INT(0, s->naive.ops->row_put(s->naive.self, &vls_bag_permissions, &row, &err));
    s->naive.ops->leave(s->naive.self);
}

static void op_read(void *state, model_args *a)
{
    bags *b = state;
    const shown *s = choose_shown(b, a);
    valise_str tag = VLS_STR("pii");
    vls_ledger_read read = {.node_id = VLS_STR("reader"),
                            .key = valise_str_of(keys[model_below(a, "key", KEYS)]),
                            .action = VALISE_ACTION_UNPACK,
                            .seq = (int64_t)model_below(a, "seq", 10),
                            .time = 7,
                            .tags = {&tag, model_below(a, "tags", 2)}};

    for (int i = 0; i < 2; i++) {
        const vls_ledger *l = i ? &s->naive : &s->ring;
        l->ops->enter(l->self);
        l->ops->read_add(l->self, &read);
        l->ops->leave(l->self);
    }
    ledger_show_reads(&b->ours, &s->ring);
    ledger_show_reads(&b->theirs, &s->naive);
    compare(b, "reads");
}

/* [B2] [B8] [B14] [B24] [B33] */
TEST(ledger, ring_agrees_with_naive)
{
    static const model m = {.start = start,
                            .check = check,
                            .stop = stop,
                            .runs = 60,
                            .ops = {{"pack", 10, op_pack},
                                    {"burst", 4, op_burst},
                                    {"delete", 4, op_delete},
                                    {"quarantine", 3, op_quarantine},
                                    {"release", 3, op_release},
                                    {"freeze", 4, op_freeze},
                                    {"thaw", 2, op_thaw},
                                    {"checkpoint", 2, op_checkpoint},
                                    {"uncheckpoint", 1, op_uncheckpoint},
                                    {"freeze_named", 2, op_freeze_named},
                                    {"fork", 1, op_fork},
                                    {"difference", 4, op_difference},
                                    {"permit", 1, op_permit},
                                    {"read", 2, op_read}}};

    model_test(t, &m);
}
