/* backpack.c -- an ephemeral and a durable backpack, and their forks, against arrays.
 *
 * The model is a list of commits for each backpack: a state is what the commits up to a seq left,
 * found by looking at all of them. Both kinds get the same calls and must answer the same, except
 * where the bound of the ephemeral one has dropped something. [B2] [B8] [B12] [B13] [B15] [B17]
 * [B25] [B29] */
#include "unit/backpack/api_kit.h"

#include "harness/model.h"

enum { EPHEMERAL, DURABLE, KINDS };

#define KEYS 6
#define BAGS 3
#define SLOTS 3
#define MARKS 3
#define COMMITS 4000
#define BOUND 110 /* of the ephemeral one; the newest 100 stay */

typedef struct step {
    int action; /* VALISE_ACTION_... */
    int key, value;
    int version[KINDS];
    int entry;    /* quarantine: the value that is held, -1: none */
    int released; /* quarantine: by this seq; 0: not */
} step;

typedef struct mbag {
    bool used;
    int origin, origin_seq; /* -1: none */
    int count;              /* the newest seq */
    int first_value[KEYS];  /* that it starts with; -1: none */
    int first_version[KINDS][KEYS];
    bool first_dead[KEYS]; /* the key was there once */
    int mark[MARKS];       /* -1: none */
    valise_backpack *bag[KINDS];
    step steps[COMMITS + 1]; /* from 1 */
} mbag;

typedef struct slot {
    int bag, seq;
    valise_backpack *state[KINDS];
} slot;

typedef struct world {
    test *t;
    const char *dir;
    valise *v[KINDS];
    mbag bags[BAGS];
    slot slots[SLOTS];
    int names; /* that were given to forks */
} world;

static const char *const keys_[KEYS] = {"a", "b", "c", "d", "e", "f"};
static const char *const marks[MARKS] = {"one", "two", "three"};

/* ---- the model ---- */

static bool is_live(int action)
{
    return action != VALISE_ACTION_DELETE && action != VALISE_ACTION_QUARANTINE;
}

/* The newest commit of the key up to a seq; 0: none. */
static int newest(const mbag *m, int key, int upto)
{
    while (upto > 0 && m->steps[upto].key != key)
        upto--;
    return upto;
}

static int value_at(const mbag *m, int key, int upto)
{
    int seq = newest(m, key, upto);

    if (seq == 0)
        return m->first_value[key];
    return is_live(m->steps[seq].action) ? m->steps[seq].value : -1;
}

static int version_of(const mbag *m, int kind, int key)
{
    int seq = newest(m, key, m->count);

    return seq ? m->steps[seq].version[kind] : m->first_version[kind][key];
}

static const char *model_items(const mbag *m, int upto)
{
    const char *text = "";

    for (int k = 0; k < KEYS; k++) {
        int value = value_at(m, k, upto);
        if (value >= 0)
            text = test_format("%s%s%s=%d", text, *text ? " " : "", keys_[k], value);
    }
    return text;
}

static const char *model_history(const mbag *m, int kind, int first)
{
    static const char *const actions[] = {"pack", "delete", "quarantine", "release", "merge"};
    VLS_AUTO(buf) vls_buf text = {0};

    vls_buf_init(&text, valise_env_default(), (size_t)1 << 24);
    for (int i = first; i <= m->count; i++)
        vls_buf_printf(&text, "%s%d %s %s v%d by unknown", i > first ? "; " : "", i,
                       actions[m->steps[i].action], keys_[m->steps[i].key],
                       m->steps[i].version[kind]);
    return test_format("%.*s", VALISE_STR_ARG(vls_buf_str(&text)));
}

static const char *model_jail(const mbag *m)
{
    const char *text = "";

    for (int i = 1; i <= m->count; i++) {
        const step *s = &m->steps[i];
        if (s->action != VALISE_ACTION_QUARANTINE || s->released)
            continue;
        text = test_format("%s%s%d:%s%s(bad)", text, *text ? " " : "", i, keys_[s->key],
                           s->entry < 0 ? "" : test_format("=%d", s->entry));
    }
    return text;
}

static const char *model_difference(const mbag *a, int a_seq, const mbag *b, int b_seq)
{
    const char *text = "";

    for (int k = 0; k < KEYS; k++) {
        int x = value_at(a, k, a_seq), y = value_at(b, k, b_seq);
        if (x == y)
            continue;
        text = test_format("%s%s", text, *text ? " " : "");
        if (x < 0)
            text = test_format("%s+%s=%d", text, keys_[k], y);
        else if (y < 0)
            text = test_format("%s-%s=%d", text, keys_[k], x);
        else
            text = test_format("%s~%s=%d>%d", text, keys_[k], x, y);
    }
    return text;
}

/* ---- both ---- */

static int64_t first_kept(valise_backpack *bag)
{
    valise_usage usage = VALISE_USAGE_INIT;

    CHECK_INT(0, valise_backpack_usage(&usage, bag, NULL));
    return usage.first_seq;
}

/* Note a commit that both have made. A count may begin anew where all that was known of the key is
 * gone, or lies in the past of a fork. */
static void note(mbag *m, const step *made, const valise_packed *packed)
{
    step s = *made;
    int seq = newest(m, made->key, m->count);
    bool was_live = value_at(m, made->key, m->count) >= 0;

    CHECK(m->count < COMMITS);
    for (int kind = 0; kind < KINDS; kind++) {
        int expected = version_of(m, kind, made->key) + (is_live(made->action) ? 1 : 0);
        CHECK_INT(m->count + 1, packed[kind].seq);
        if (packed[kind].version != expected && !was_live)
            CHECK(packed[kind].version == (is_live(made->action) ? 1 : 0) &&
                  (seq == 0 ? m->first_dead[made->key]
                            : kind == EPHEMERAL && seq < first_kept(m->bag[kind])));
        else
            CHECK_INT(expected, packed[kind].version);
        s.version[kind] = (int)packed[kind].version;
    }
    m->steps[++m->count] = s;
}

static valise_backpack *open_it(world *w, int kind, const char *name, unsigned flags)
{
    valise_backpack_options o = VALISE_BACKPACK_OPTIONS_INIT;
    test *t = w->t;
    valise_backpack *bag = NULL;

    o.flags = flags | (kind == DURABLE ? VALISE_BACKPACK_DURABLE : 0u);
    if (kind == EPHEMERAL)
        o.max_commits = BOUND;
    CHECK_OK(valise_backpack_open(&bag, w->v[kind], name, &o, &t->err));
    return bag;
}

static void *start(test *t, const char *dir)
{
    world *w = test_alloc(sizeof(*w));
    valise_options o = VALISE_OPTIONS_INIT;

    w->t = t;
    w->dir = dir;
    o.env = t->env;
    CHECK_OK(desk_try(&w->v[EPHEMERAL], "ephemeral", NULL, &o, &t->err));
    CHECK_OK(desk_try(&w->v[DURABLE], "sqlite", dir, &o, &t->err));
    w->bags[0].used = true;
    w->bags[0].origin = -1;
    for (int k = 0; k < KEYS; k++)
        w->bags[0].first_value[k] = -1;
    for (int i = 0; i < MARKS; i++)
        w->bags[0].mark[i] = -1;
    for (int kind = 0; kind < KINDS; kind++)
        w->bags[0].bag[kind] = open_it(w, kind, "run-0", 0);
    return w;
}

static void empty(slot *s)
{
    for (int kind = 0; kind < KINDS; kind++)
        valise_backpack_close(s->state[kind]);
    *s = (slot){0};
}

static void stop(void *state)
{
    world *w = state;

    for (int i = 0; i < SLOTS; i++)
        empty(&w->slots[i]);
    for (int kind = 0; kind < KINDS; kind++) {
        for (int i = 0; i < BAGS; i++)
            valise_backpack_close(w->bags[i].bag[kind]);
        valise_close(w->v[kind]);
    }
}

static void check(void *state)
{
    world *w = state;

    for (int kind = 0; kind < KINDS; kind++) {
        for (int i = 0; i < BAGS && w->bags[i].used; i++) {
            const mbag *m = &w->bags[i];
            int64_t first = first_kept(m->bag[kind]);
            CHECK_TEXT(model_items(m, m->count), items(m->bag[kind]));
            if (kind == DURABLE && m->count > 0)
                CHECK_INT(1, first);
            if (first > 0)
                CHECK_TEXT(model_history(m, kind, (int)first), all_history(m->bag[kind]));
            if (i == 0)
                CHECK_TEXT(model_jail(m), jailed(m->bag[kind]));
        }
        for (int i = 0; i < SLOTS; i++) {
            const slot *s = &w->slots[i];
            if (s->state[kind])
                CHECK_TEXT(model_items(&w->bags[s->bag], s->seq), items(s->state[kind]));
        }
    }
}

/* ---- steps ---- */

static mbag *choose(world *w, model_args *a)
{
    mbag *m = &w->bags[model_below(a, "bag", BAGS)];

    return m->used ? m : &w->bags[0];
}

static void pack_both(mbag *m, int key, int value)
{
    valise_packed packed[KINDS];
    step s = {.action = VALISE_ACTION_PACK, .key = key, .value = value};

    for (int kind = 0; kind < KINDS; kind++)
        CHECK_INT(0, valise_pack(&packed[kind], m->bag[kind], keys_[key], test_format("%d", value),
                                 NULL, NULL));
    note(m, &s, packed);
}

static void op_pack(void *state, model_args *a)
{
    mbag *m = choose(state, a);
    int key = (int)model_below(a, "key", KEYS);

    pack_both(m, key, (int)model_below(a, "value", 5));
}

static void op_burst(void *state, model_args *a)
{
    mbag *m = choose(state, a);
    int n = (int)model_below(a, "count", 30), key = (int)model_below(a, "key", KEYS);

    for (int i = 0; i < n; i++)
        pack_both(m, (key + i * i) % KEYS, i % 7);
}

static void op_expect(void *state, model_args *a)
{
    mbag *m = choose(state, a);
    int key = (int)model_below(a, "key", KEYS);
    bool live = value_at(m, key, m->count) >= 0;
    int off = (int)model_below(a, "off", 2);
    step s = {.action = VALISE_ACTION_PACK, .key = key, .value = 9};
    valise_packed packed[KINDS];

    for (int kind = 0; kind < KINDS; kind++) {
        valise_pack_options o = VALISE_PACK_OPTIONS_INIT;
        o.expect = (live ? version_of(m, kind, key) : 0) + off;
        CHECK_INT(off ? VALISE_E_CONFLICT : 0,
                  valise_pack(&packed[kind], m->bag[kind], keys_[key], "9", &o, NULL));
    }
    if (!off)
        note(m, &s, packed);
}

static void op_unpack(void *state, model_args *a)
{
    mbag *m = choose(state, a);
    int key = (int)model_below(a, "key", KEYS), value = value_at(m, key, m->count);

    for (int kind = 0; kind < KINDS; kind++)
        CHECK_TEXT(value < 0 ? "(absent)" : test_format("%d", value),
                   got(m->bag[kind], keys_[key]));
}

static void op_delete(void *state, model_args *a)
{
    mbag *m = choose(state, a);
    int key = (int)model_below(a, "key", KEYS);
    bool live = value_at(m, key, m->count) >= 0;
    step s = {.action = VALISE_ACTION_DELETE, .key = key};

    for (int kind = 0; kind < KINDS; kind++) {
        CHECK_INT(live, valise_remove(m->bag[kind], keys_[key], NULL));
        s.version[kind] = version_of(m, kind, key);
    }
    if (live)
        m->steps[++m->count] = s;
}

static void op_quarantine(void *state, model_args *a)
{
    mbag *m = &((world *)state)->bags[0];
    int key = (int)model_below(a, "key", KEYS);
    step s = {.action = VALISE_ACTION_QUARANTINE, .key = key};
    const valise_quarantine_options o = {.size = sizeof(o), .reason = VLS_STR("bad")};
    valise_packed packed[KINDS];

    s.entry = value_at(m, key, m->count);
    for (int kind = 0; kind < KINDS; kind++)
        CHECK_INT(0, valise_quarantine(&packed[kind], m->bag[kind], keys_[key], &o, NULL));
    note(m, &s, packed);
}

/* The newest entry of the key that holds an item. */
static void op_release(void *state, model_args *a)
{
    mbag *m = &((world *)state)->bags[0];
    int key = (int)model_below(a, "key", KEYS), seq, expected;
    step s = {.action = VALISE_ACTION_RELEASE, .key = key};
    valise_packed packed[KINDS];

    for (seq = m->count; seq > 0; seq--) {
        const step *q = &m->steps[seq];
        if (q->action == VALISE_ACTION_QUARANTINE && q->key == key && !q->released && q->entry >= 0)
            break;
    }
    expected = value_at(m, key, m->count) >= 0 ? VALISE_E_EXISTS
               : seq == 0                      ? VALISE_E_NOT_FOUND
                                               : 0;
    for (int kind = 0; kind < KINDS; kind++) {
        int rc = valise_release(&packed[kind], m->bag[kind], keys_[key], 0, NULL);
        /* Where it is live and nothing is held either reason will do. */
        CHECK(rc == expected || (seq == 0 && rc < 0));
    }
    if (expected < 0)
        return;
    s.value = m->steps[seq].entry;
    note(m, &s, packed);
    m->steps[seq].released = m->count;
}

static void op_checkpoint(void *state, model_args *a)
{
    mbag *m = choose(state, a);
    int name = (int)model_below(a, "name", MARKS);
    int expected = m->mark[name] < 0 || m->mark[name] == m->count ? 0 : VALISE_E_EXISTS;

    for (int kind = 0; kind < KINDS; kind++)
        CHECK_INT(expected, valise_checkpoint(NULL, m->bag[kind], marks[name], NULL));
    if (expected == 0)
        m->mark[name] = m->count;
}

static void op_uncheckpoint(void *state, model_args *a)
{
    mbag *m = choose(state, a);
    int name = (int)model_below(a, "name", MARKS);

    for (int kind = 0; kind < KINDS; kind++)
        CHECK_INT(m->mark[name] < 0 ? VALISE_E_NOT_FOUND : 0,
                  valise_checkpoint_remove(m->bag[kind], marks[name], NULL));
    m->mark[name] = -1;
}

/* A snapshot at a seq; NULL where the ephemeral one has dropped it. */
static bool take(slot *out, world *w, int bag, int seq)
{
    mbag *m = &w->bags[bag];
    slot s = {.bag = bag, .seq = seq};

    for (int kind = 0; kind < KINDS; kind++) {
        int rc = valise_snapshot_at_seq(&s.state[kind], m->bag[kind], seq, NULL);
        if (rc == VALISE_E_LIMIT) {
            CHECK(kind == EPHEMERAL && seq < first_kept(m->bag[kind]) - 1);
            empty(&s);
            return false;
        }
        CHECK_INT(0, rc);
    }
    *out = s;
    return true;
}

static void op_snapshot(void *state, model_args *a)
{
    world *w = state;
    int bag = (int)(choose(w, a) - w->bags);
    slot *to = &w->slots[model_below(a, "slot", SLOTS)], made;
    int back = (int)model_below(a, "back", 160);

    if (!take(&made, w, bag, back > w->bags[bag].count ? 0 : w->bags[bag].count - back))
        return;
    empty(to);
    *to = made;
}

/* However long ago: a checkpoint holds its state. */
static void op_named(void *state, model_args *a)
{
    world *w = state;
    int bag = (int)(choose(w, a) - w->bags), name = (int)model_below(a, "name", MARKS);
    slot *to = &w->slots[model_below(a, "slot", SLOTS)];
    mbag *m = &w->bags[bag];
    slot made = {.bag = bag, .seq = m->mark[name]};

    for (int kind = 0; kind < KINDS; kind++)
        CHECK_INT(m->mark[name] < 0 ? VALISE_E_NOT_FOUND : 0,
                  valise_snapshot_named(&made.state[kind], m->bag[kind], marks[name], NULL));
    if (m->mark[name] < 0)
        return;
    empty(to);
    *to = made;
}

static void op_diff(void *state, model_args *a)
{
    world *w = state;
    const slot *x = &w->slots[model_below(a, "slot", SLOTS)];
    const slot *y = &w->slots[model_below(a, "other", SLOTS)];
    const mbag *m = &w->bags[x->bag];

    for (int kind = 0; kind < KINDS && x->state[kind]; kind++) {
        CHECK_TEXT(model_difference(m, x->seq, m, m->count), differs(x->state[kind], m->bag[kind]));
        if (y->state[kind])
            CHECK_TEXT(model_difference(m, x->seq, &w->bags[y->bag], y->seq),
                       differs(x->state[kind], y->state[kind]));
    }
}

static void op_fork(void *state, model_args *a)
{
    world *w = state;
    const slot *from = &w->slots[model_below(a, "slot", SLOTS)];
    const mbag *m = &w->bags[from->bag];
    int n = 0;
    mbag *fork;

    while (n < BAGS && w->bags[n].used)
        n++;
    if (n == BAGS || !from->state[0])
        return;
    fork = &w->bags[n];
    fork->used = true;
    fork->origin = from->bag;
    fork->origin_seq = from->seq;
    for (int i = 0; i < MARKS; i++)
        fork->mark[i] = -1;
    for (int k = 0; k < KEYS; k++) {
        int seq = newest(m, k, from->seq);
        fork->first_value[k] = value_at(m, k, from->seq);
        fork->first_dead[k] = fork->first_value[k] < 0;
        for (int kind = 0; kind < KINDS; kind++)
            fork->first_version[kind][k] =
                seq ? m->steps[seq].version[kind] : m->first_version[kind][k];
    }
    w->names++;
    for (int kind = 0; kind < KINDS; kind++)
        CHECK_INT(0, valise_backpack_fork(&fork->bag[kind], from->state[kind],
                                          test_format("run-%d", n), NULL, NULL));
}

static int merge_key(step *out, const mbag *ours, const mbag *base, int base_seq,
                     const mbag *theirs, int key)
{
    int b = value_at(base, key, base_seq), o = value_at(ours, key, ours->count);
    int t = value_at(theirs, key, theirs->count);

    if (t == b || t == o)
        return 0;
    if (o != b)
        return -1;
    *out = (step){
        .action = t < 0 ? VALISE_ACTION_DELETE : VALISE_ACTION_MERGE, .key = key, .value = t};
    return 1;
}

static int take_version(void *arg, const valise_commit *c, valise_error *err)
{
    (void)err;
    *(valise_packed *)arg = (valise_packed){.applied = true, .seq = c->seq, .version = c->version};
    return 0;
}

/* A fork into what it was forked from. */
static void op_merge(void *state, model_args *a)
{
    world *w = state;
    mbag *theirs = &w->bags[1 + model_below(a, "fork", BAGS - 1)], *ours;
    step steps[KEYS];
    int count = 0, conflicts = 0;
    slot base;

    if (!theirs->used || !take(&base, w, theirs->origin, theirs->origin_seq))
        return;
    ours = &w->bags[theirs->origin];
    for (int k = 0; k < KEYS; k++) {
        int rc = merge_key(&steps[count], ours, ours, theirs->origin_seq, theirs, k);
        count += rc > 0;
        conflicts += rc < 0;
    }
    for (int kind = 0; kind < KINDS; kind++) {
        int64_t merged = 0;
        int rc = valise_backpack_merge(&merged, ours->bag[kind], base.state[kind],
                                       theirs->bag[kind], NULL, NULL, NULL);
        CHECK_INT(conflicts ? VALISE_E_CONFLICT : 0, rc);
        CHECK_INT(conflicts ? 0 : count, merged);
    }
    for (int i = 0; i < count && !conflicts; i++) {
        valise_packed packed[KINDS];
        for (int kind = 0; kind < KINDS; kind++) {
            valise_history one = VALISE_HISTORY_INIT;
            one.first = one.last = ours->count + 1;
            CHECK_INT(
                0, valise_history_each(ours->bag[kind], &one, take_version, &packed[kind], NULL));
        }
        note(ours, &steps[i], packed);
    }
    empty(&base);
}

/* All handles of the durable ones are closed, and opened anew. */
static void op_reopen(void *state, model_args *a)
{
    world *w = state;
    test *t = w->t;
    valise_options o = VALISE_OPTIONS_INIT;

    (void)a;
    for (int i = 0; i < SLOTS; i++)
        empty(&w->slots[i]);
    for (int i = 0; i < BAGS; i++) {
        valise_backpack_close(w->bags[i].bag[DURABLE]);
        w->bags[i].bag[DURABLE] = NULL;
    }
    valise_close(w->v[DURABLE]);
    o.env = t->env;
    CHECK_OK(desk_try(&w->v[DURABLE], "sqlite", w->dir, &o, &t->err));
    for (int i = 0; i < BAGS && w->bags[i].used; i++)
        w->bags[i].bag[DURABLE] =
            open_it(w, DURABLE, test_format("run-%d", i), VALISE_BACKPACK_KNOWN);
}

TEST(backpack, both_kinds_agree_with_arrays)
{
    static const model m = {.start = start,
                            .check = check,
                            .stop = stop,
                            .wants_dir = true,
                            .runs = 10,
                            .steps = 60,
                            .ops = {{"pack", 8, op_pack},
                                    {"burst", 4, op_burst},
                                    {"expect", 2, op_expect},
                                    {"unpack", 2, op_unpack},
                                    {"delete", 4, op_delete},
                                    {"quarantine", 3, op_quarantine},
                                    {"release", 3, op_release},
                                    {"checkpoint", 2, op_checkpoint},
                                    {"uncheckpoint", 1, op_uncheckpoint},
                                    {"snapshot", 4, op_snapshot},
                                    {"named", 2, op_named},
                                    {"diff", 4, op_diff},
                                    {"fork", 2, op_fork},
                                    {"merge", 2, op_merge},
                                    {"reopen", 1, op_reopen}}};

    model_test(t, &m);
}
