/* backpack.c -- an ephemeral and a durable backpack, and their forks, against arrays.
 *
 * The model is a list of commits for each backpack: a state is what the commits up to a seq left,
 * found by looking at all of them. Both kinds get the same calls and must answer the same, except
 * where the bound of the ephemeral one, or the retention of the durable one, has dropped something.
 * [B2] [B8] [B12] [B13] [B15] [B17] [B25] [B29] */
#include "unit/backpack/api_kit.h"

#include "harness/model.h"

enum { EPHEMERAL, DURABLE, KINDS };

#define KEYS 6
#define BAGS 4
#define SLOTS 3
#define MARKS 3
#define COMMITS 4000
#define ENTRIES 1000
#define MERGES 400
#define BOUND 110 /* of the ephemeral one; the newest 100 stay */

typedef struct step {
    int action; /* VALISE_ACTION_... */
    int key, value;
    int version[KINDS];
} step; /* quarantine: value is what was there, -1: nothing */

typedef struct entry {
    int number, key;
    int value;    /* that is held; -1: none */
    int released; /* by this seq; 0: not */
} entry;

/* The state after commit seq has what `theirs` had changed up to its commit upto. */
typedef struct joint {
    int seq, theirs, upto;
} joint;

typedef struct mbag {
    bool used;
    int origin, origin_seq; /* -1: none */
    int count;              /* the newest seq */
    int first_version[KINDS][KEYS];
    int mark[MARKS]; /* -1: none */
    valise_backpack *bag[KINDS];
    int entry_count, joint_count;
    entry entries[ENTRIES];
    joint joints[MERGES];
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
    bool pruned; /* the durable ones */
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

/* The same along the lineage: whose it is and its seq; false: there is none. */
static bool find(int *bag, int *seq, const mbag *bags, int at, int key, int upto)
{
    while (at >= 0) {
        *bag = at;
        *seq = newest(&bags[at], key, upto);
        if (*seq > 0)
            return true;
        upto = bags[at].origin_seq;
        at = bags[at].origin;
    }
    return false;
}

/* What a state has of a key. */
typedef struct sight {
    bool known, live, jailed;
    int bag, seq, value, action;
} sight;

static sight look(const mbag *bags, int at, int key, int upto)
{
    sight s = {.value = -1};
    const step *made;

    s.known = find(&s.bag, &s.seq, bags, at, key, upto);
    if (!s.known)
        return s;
    made = &bags[s.bag].steps[s.seq];
    s.action = made->action;
    s.live = is_live(made->action);
    s.jailed = made->action == VALISE_ACTION_QUARANTINE;
    s.value = s.live || s.jailed ? made->value : -1;
    return s;
}

static int value_at(const world *w, int at, int key, int upto)
{
    sight s = look(w->bags, at, key, upto);

    return s.live ? s.value : -1;
}

static int value_of(const world *w, const mbag *m, int key)
{
    return value_at(w, (int)(m - w->bags), key, m->count);
}

static int version_of(const mbag *m, int kind, int key)
{
    int seq = newest(m, key, m->count);

    return seq ? m->steps[seq].version[kind] : m->first_version[kind][key];
}

static const char *model_items(const world *w, int at, int upto)
{
    const char *text = "";

    for (int k = 0; k < KEYS; k++) {
        int value = value_at(w, at, k, upto);
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

static bool is_there(const entry *e, int upto)
{
    return e->number <= upto && (e->released == 0 || e->released > upto);
}

static const char *model_jail(const mbag *m, int upto)
{
    const char *text = "";

    for (int i = 0; i < m->entry_count; i++) {
        const entry *e = &m->entries[i];
        if (is_there(e, upto))
            text = test_format("%s%s%d:%s%s(bad)", text, *text ? " " : "", e->number, keys_[e->key],
                               e->value < 0 ? "" : test_format("=%d", e->value));
    }
    return text;
}

/* What release means: the entry with that number, or for 0 the newest that holds an item. */
static entry *find_entry(mbag *m, int key, int number)
{
    for (int i = m->entry_count; i-- > 0;) {
        entry *e = &m->entries[i];
        if (e->key == key && is_there(e, m->count) && e->value >= 0 &&
            (number == 0 || e->number == number))
            return e;
    }
    return NULL;
}

static const char *model_difference(const world *w, int a, int a_seq, int b, int b_seq)
{
    const char *text = "";

    for (int k = 0; k < KEYS; k++) {
        int x = value_at(w, a, k, a_seq), y = value_at(w, b, k, b_seq);
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
static void note(world *w, mbag *m, const step *made, const valise_packed *packed)
{
    step s = *made;
    int seq = newest(m, made->key, m->count);
    bool was_live = value_of(w, m, made->key) >= 0;

    CHECK(m->count < COMMITS);
    for (int kind = 0; kind < KINDS; kind++) {
        int expected = version_of(m, kind, made->key) + (is_live(made->action) ? 1 : 0);
        CHECK_INT(m->count + 1, packed[kind].seq);
        if (packed[kind].version != expected && !was_live)
            CHECK(packed[kind].version == (is_live(made->action) ? 1 : 0) &&
                  (seq == 0 ? m->origin >= 0 : seq < first_kept(m->bag[kind])));
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
            CHECK_TEXT(model_items(w, i, m->count), items(m->bag[kind]));
            if (kind == DURABLE && m->count > 0 && !w->pruned)
                CHECK_INT(1, first);
            if (first > 0)
                CHECK_TEXT(model_history(m, kind, (int)first), all_history(m->bag[kind]));
            CHECK_TEXT(model_jail(m, m->count), jailed(m->bag[kind]));
        }
        for (int i = 0; i < SLOTS; i++) {
            const slot *s = &w->slots[i];
            if (!s->state[kind])
                continue;
            CHECK_TEXT(model_items(w, s->bag, s->seq), items(s->state[kind]));
            CHECK_TEXT(model_jail(&w->bags[s->bag], s->seq), jailed(s->state[kind]));
        }
    }
}

/* ---- steps ---- */

static mbag *choose(world *w, model_args *a)
{
    mbag *m = &w->bags[model_below(a, "bag", BAGS)];

    return m->used ? m : &w->bags[0];
}

static void pack_both(world *w, mbag *m, int key, int value)
{
    valise_packed packed[KINDS];
    step s = {.action = VALISE_ACTION_PACK, .key = key, .value = value};

    for (int kind = 0; kind < KINDS; kind++)
        CHECK_INT(0, valise_pack(&packed[kind], m->bag[kind], keys_[key], test_format("%d", value),
                                 NULL, NULL));
    note(w, m, &s, packed);
}

static void op_pack(void *state, model_args *a)
{
    mbag *m = choose(state, a);
    int key = (int)model_below(a, "key", KEYS);

    pack_both(state, m, key, (int)model_below(a, "value", 5));
}

static void op_burst(void *state, model_args *a)
{
    mbag *m = choose(state, a);
    int n = (int)model_below(a, "count", 30), key = (int)model_below(a, "key", KEYS);

    for (int i = 0; i < n; i++)
        pack_both(state, m, (key + i * i) % KEYS, i % 7);
}

static void op_expect(void *state, model_args *a)
{
    mbag *m = choose(state, a);
    int key = (int)model_below(a, "key", KEYS);
    bool live = value_of(state, m, key) >= 0;
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
        note(state, m, &s, packed);
}

static void op_unpack(void *state, model_args *a)
{
    mbag *m = choose(state, a);
    int key = (int)model_below(a, "key", KEYS), value = value_of(state, m, key);

    for (int kind = 0; kind < KINDS; kind++)
        CHECK_TEXT(value < 0 ? "(absent)" : test_format("%d", value),
                   got(m->bag[kind], keys_[key]));
}

static void op_delete(void *state, model_args *a)
{
    mbag *m = choose(state, a);
    int key = (int)model_below(a, "key", KEYS);
    bool live = value_of(state, m, key) >= 0;
    step s = {.action = VALISE_ACTION_DELETE, .key = key};

    for (int kind = 0; kind < KINDS; kind++) {
        bool removed = false;
        CHECK_INT(0, valise_remove(&removed, m->bag[kind], keys_[key], NULL));
        CHECK_INT(live, removed);
        s.version[kind] = version_of(m, kind, key);
    }
    if (live)
        m->steps[++m->count] = s;
}

static void add_entry(mbag *m, int key, int value)
{
    CHECK(m->entry_count < ENTRIES);
    m->entries[m->entry_count++] = (entry){.number = m->count, .key = key, .value = value};
}

static void op_quarantine(void *state, model_args *a)
{
    mbag *m = choose(state, a);
    int key = (int)model_below(a, "key", KEYS);
    step s = {.action = VALISE_ACTION_QUARANTINE, .key = key, .value = value_of(state, m, key)};
    const valise_quarantine_options o = {.size = sizeof(o), .reason = VLS_STR("bad")};
    valise_packed packed[KINDS];

    for (int kind = 0; kind < KINDS; kind++)
        CHECK_INT(0, valise_quarantine(&packed[kind], m->bag[kind], keys_[key], &o, NULL));
    note(state, m, &s, packed);
    add_entry(m, key, s.value);
}

static void op_release(void *state, model_args *a)
{
    mbag *m = choose(state, a);
    int key = (int)model_below(a, "key", KEYS), expected;
    int which = (int)model_below(a, "which", 12); /* the newest, or one of the first eleven */
    int number = which > 0 && which <= m->entry_count ? m->entries[which - 1].number : 0;
    entry *e = find_entry(m, key, number);
    step s = {.action = VALISE_ACTION_RELEASE, .key = key};
    valise_packed packed[KINDS];

    expected = !e ? VALISE_E_NOT_FOUND : value_of(state, m, key) >= 0 ? VALISE_E_EXISTS : 0;
    for (int kind = 0; kind < KINDS; kind++)
        CHECK_INT(expected, valise_release(&packed[kind], m->bag[kind], keys_[key], number, NULL));
    if (expected < 0)
        return;
    s.value = e->value;
    note(state, m, &s, packed);
    e->released = m->count;
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
            CHECK((kind == EPHEMERAL || w->pruned) && seq < first_kept(m->bag[kind]) - 1);
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
        CHECK_TEXT(model_difference(w, x->bag, x->seq, x->bag, m->count),
                   differs(x->state[kind], m->bag[kind]));
        if (y->state[kind])
            CHECK_TEXT(model_difference(w, x->bag, x->seq, y->bag, y->seq),
                       differs(x->state[kind], y->state[kind]));
    }
}

static void fork_from(world *w, const slot *from)
{
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
        for (int kind = 0; kind < KINDS; kind++)
            fork->first_version[kind][k] =
                seq ? m->steps[seq].version[kind] : m->first_version[kind][k];
    }
    for (int i = 0; i < m->entry_count; i++) {
        if (is_there(&m->entries[i], from->seq))
            fork->entries[fork->entry_count++] = m->entries[i];
    }
    for (int i = 0; i < fork->entry_count; i++) {
        fork->entries[i].number = i - fork->entry_count;
        fork->entries[i].released = 0;
    }
    for (int kind = 0; kind < KINDS; kind++)
        CHECK_INT(0, valise_backpack_fork(&fork->bag[kind], from->state[kind],
                                          test_format("run-%d", n), NULL, NULL));
}

static void op_fork(void *state, model_args *a)
{
    world *w = state;

    fork_from(w, &w->slots[model_below(a, "slot", SLOTS)]);
}

/* ---- merging ---- */

/* What is in a state: of each backpack the commits up to one; -1: none. */
typedef struct past {
    int upto[BAGS];
} past;

static void add_past(past *p, const world *w, int bag, int upto)
{
    const mbag *m = &w->bags[bag];

    if (p->upto[bag] >= upto)
        return;
    p->upto[bag] = upto;
    if (m->origin >= 0)
        add_past(p, w, m->origin, m->origin_seq);
    for (int i = 0; i < m->joint_count; i++) {
        if (m->joints[i].seq <= upto)
            add_past(p, w, m->joints[i].theirs, m->joints[i].upto);
    }
}

static past past_of(const world *w, int bag, int upto)
{
    past p;

    for (int i = 0; i < BAGS; i++)
        p.upto[i] = -1;
    add_past(&p, w, bag, upto);
    return p;
}

/* The states that both have in common and that are in no other such. */
typedef struct bases {
    int count;
    int bag[BAGS], seq[BAGS];
} bases;

/* A merge that changes nothing says of a state that is there already what it includes. So two
 * states may be in each other: then what theirs has of itself counts, then what it has of ours. */
static int rank(int bag, int ours, int theirs)
{
    return bag == theirs ? -2 : bag == ours ? -1 : bag;
}

/* Is the state in the other? */
static bool is_older(const world *w, int bag, int upto, int other, int other_upto, bool first)
{
    return bag != other && other_upto >= 0 && past_of(w, other, other_upto).upto[bag] >= upto &&
           !(first && past_of(w, bag, upto).upto[other] >= other_upto);
}

static bases find_bases(const world *w, int ours, int theirs)
{
    past x = past_of(w, ours, w->bags[ours].count), y = past_of(w, theirs, w->bags[theirs].count);
    const past *a = &x, *b = &y;
    bases all = {.count = 0};

    for (int i = 0; i < BAGS; i++) {
        int upto = a->upto[i] < b->upto[i] ? a->upto[i] : b->upto[i];
        bool older = upto < 0;
        for (int k = 0; k < BAGS && !older; k++)
            older = is_older(w, i, upto, k, a->upto[k] < b->upto[k] ? a->upto[k] : b->upto[k],
                             rank(i, ours, theirs) < rank(k, ours, theirs));
        if (older)
            continue;
        all.bag[all.count] = i;
        all.seq[all.count++] = upto;
    }
    return all;
}

/* Is the commit in the lineage of the state? */
static bool includes(const world *w, int bag, int seq, const sight *s)
{
    for (; bag >= 0; seq = w->bags[bag].origin_seq, bag = w->bags[bag].origin) {
        if (bag == s->bag)
            return s->seq <= seq;
    }
    return false;
}

static bool is_item_change(const sight *b, const sight *x)
{
    return b->live && x->live ? b->value != x->value : b->live || x->live;
}

/* Is there anything to tell of a key, from the base to a side? */
static bool is_change(const sight *b, const sight *x, bool known)
{
    if (b->live || x->live)
        return is_item_change(b, x);
    return x->known && x->jailed && !known && !(b->known && b->jailed && b->value == x->value);
}

typedef struct merge {
    world *w;
    mbag *ours, *theirs;
    int base, base_seq;
    unsigned doubts;    /* of keys: the bases differ there */
    int keys;           /* that were taken over */
    unsigned conflicts; /* of keys: cannot be */
    int count;
    step steps[2 * KEYS];
    entry *released[2 * KEYS]; /* by that step */
    bool entered[2 * KEYS];    /* it puts an entry there */
} merge;

static void add(merge *m, int action, int key, int value, entry *released, bool entered)
{
    m->steps[m->count] = (step){.action = action, .key = key, .value = value};
    m->released[m->count] = released;
    m->entered[m->count++] = entered;
}

/* What theirs has becomes ours. */
static void take_over(merge *m, int key, const sight *b, const sight *o, const sight *t, bool ended)
{
    int before = m->count;

    if (t->live) {
        bool back = t->action == VALISE_ACTION_RELEASE && !o->live;
        add(m, VALISE_ACTION_MERGE, key, t->value, back ? find_entry(m->ours, key, 0) : NULL,
            false);
    } else if (!ended || !t->jailed) {
        if (o->live)
            add(m, VALISE_ACTION_DELETE, key, 0, NULL, false);
    } else if (b->live && t->value < 0) { /* as if it was to be forgotten */
        if (o->live)
            add(m, VALISE_ACTION_QUARANTINE, key, -1, NULL, false);
    } else {
        if (t->value >= 0 && !(o->live && o->value == t->value))
            add(m, VALISE_ACTION_MERGE, key, t->value, NULL, false);
        add(m, VALISE_ACTION_QUARANTINE, key, t->value, NULL, true);
    }
    m->keys += m->count > before;
}

/* Has it such an entry, or had it? */
static bool is_entered(const mbag *m, int key, int value)
{
    for (int i = 0; i < m->entry_count; i++) {
        if (m->entries[i].key == key && m->entries[i].value == value)
            return true;
    }
    return false;
}

static void merge_key(merge *m, int key)
{
    const mbag *bags = m->w->bags;
    sight b = look(bags, m->base, key, m->base_seq);
    sight o = look(bags, (int)(m->ours - bags), key, m->ours->count);
    sight t = look(bags, (int)(m->theirs - bags), key, m->theirs->count);
    bool t_known = includes(m->w, m->base, m->base_seq, &t);
    bool entered = t.jailed && is_entered(m->ours, key, t.value);
    bool same = o.live == t.live && (!o.live || o.value == t.value);

    if (!same && m->doubts & 1u << key)
        m->conflicts |= 1u << key;
    else if (!is_change(&b, &t, t_known) || (entered && !b.live))
        return;
    else if (!is_item_change(&b, &o))
        take_over(m, key, &b, &o, &t, !t_known);
    else if (t.jailed && !t_known && !o.live) {
        if (!entered)
            take_over(m, key, &b, &o, &t, true);
    } else if (!same)
        m->conflicts |= 1u << key;
}

/* Of a key in which the bases differ nobody knows who changed it. */
static unsigned find_doubts(const world *w, const bases *all)
{
    unsigned doubts = 0;

    for (int k = 0; k < KEYS; k++) {
        for (int i = 0; i < all->count; i++) {
            if (value_at(w, all->bag[i], k, all->seq[i]) !=
                value_at(w, all->bag[0], k, all->seq[0]))
                doubts |= 1u << k;
        }
    }
    return doubts;
}

static int note_conflict(void *arg, const valise_conflict *c, valise_error *err)
{
    (void)err;
    for (int k = 0; k < KEYS; k++) {
        if (vls_str_equal(c->key, valise_str_of(keys_[k])))
            *(unsigned *)arg |= 1u << k;
    }
    return 0;
}

/* Of what was put into quarantine before the edge a state does not tell. */
static bool is_hidden(const world *w, int bag, int seq)
{
    bool hidden = false;

    for (int i = 0; i < KEYS * KINDS; i++) {
        sight s = look(w->bags, bag, i / KINDS, seq);
        hidden |= s.jailed && s.seq < first_kept(w->bags[s.bag].bag[i % KINDS]);
    }
    return hidden;
}

/* Are all of them kept? The last one is the base where one is given. */
static bool take_bases(slot *last, world *w, const bases *all)
{
    for (int i = 0; i < all->count; i++) {
        empty(last);
        if (!take(last, w, all->bag[i], all->seq[i]))
            return false;
    }
    return true;
}

static int take_version(void *arg, const valise_commit *c, valise_error *err)
{
    (void)err;
    *(valise_packed *)arg = (valise_packed){.applied = true, .seq = c->seq, .version = c->version};
    return 0;
}

static void note_merge(merge *m)
{
    mbag *ours = m->ours;
    int bag = (int)(m->theirs - m->w->bags);

    for (int i = 0; i < m->count; i++) {
        valise_packed packed[KINDS];
        for (int kind = 0; kind < KINDS; kind++) {
            valise_history one = VALISE_HISTORY_INIT;
            one.first = one.last = ours->count + 1;
            CHECK_INT(
                0, valise_history_each(ours->bag[kind], &one, take_version, &packed[kind], NULL));
        }
        note(m->w, ours, &m->steps[i], packed);
        if (m->released[i])
            m->released[i]->released = ours->count;
        if (m->entered[i])
            add_entry(ours, m->steps[i].key, m->steps[i].value);
    }
    if (past_of(m->w, (int)(ours - m->w->bags), ours->count).upto[bag] >= m->theirs->count)
        return;
    CHECK(ours->joint_count < MERGES);
    ours->joints[ours->joint_count++] = (joint){ours->count, bag, m->theirs->count};
}

/* With this base. */
static void merge_keys(merge *m, int base, int base_seq)
{
    m->base = base;
    m->base_seq = base_seq;
    for (int k = 0; k < KEYS; k++)
        merge_key(m, k);
}

/* Any into any other, again and again. */
static void merge_into(world *w, int x, int y, bool given)
{
    merge m = {.w = w, .ours = &w->bags[x], .theirs = &w->bags[y]};
    slot base = {.bag = 0};
    bases all;

    if (x == y || !m.ours->used || !m.theirs->used || is_hidden(w, y, m.theirs->count))
        return;
    all = find_bases(w, x, y);
    CHECK(all.count > 0);
    if (!take_bases(&base, w, &all))
        return;
    if (!given)
        m.doubts = find_doubts(w, &all);
    merge_keys(&m, base.bag, base.seq);
    for (int kind = 0; kind < KINDS; kind++) {
        valise_backpack *from = given ? base.state[kind] : NULL;
        unsigned conflicts = 0;
        int64_t merged = 0;
        int rc = valise_backpack_merge(&merged, m.ours->bag[kind], from, m.theirs->bag[kind],
                                       note_conflict, &conflicts, NULL);
        CHECK_INT(m.conflicts ? VALISE_E_CONFLICT : 0, rc);
        CHECK_INT(m.conflicts, conflicts);
        CHECK_INT(m.conflicts ? 0 : m.keys, merged);
    }
    if (!m.conflicts)
        note_merge(&m);
    empty(&base);
}

static void op_merge(void *state, model_args *a)
{
    int x = (int)model_below(a, "ours", BAGS), y = (int)model_below(a, "theirs", BAGS);

    merge_into(state, x, y, model_below(a, "given", 3) == 0);
}

/* Two that both have merged all others have several states in common; one takes something back. */
static void op_mesh(void *state, model_args *a)
{
    world *w = state;
    int x = (int)model_below(a, "ours", BAGS), y = (int)model_below(a, "theirs", BAGS);
    int key = (int)model_below(a, "key", KEYS), value = (int)model_below(a, "value", 3);

    if (x == y || !w->bags[0].used)
        return;
    for (int i = 0; i < BAGS; i++) {
        slot made = {.bag = 0};
        if (!w->bags[i].used && take(&made, w, 0, w->bags[0].count))
            fork_from(w, &made);
        empty(&made);
    }
    for (int i = 0; i < BAGS; i++) {
        if (i == x || i == y)
            continue;
        pack_both(w, &w->bags[i], (key + i) % KEYS, value + i);
        merge_into(w, x, i, false);
        merge_into(w, y, i, false);
    }
    pack_both(w, &w->bags[x], key, value);
    merge_into(w, x, y, false);
}

/* Make one equal to another where they differ, so that a merge is possible. */
static void op_settle(void *state, model_args *a)
{
    world *w = state;
    int x = (int)model_below(a, "ours", BAGS), y = (int)model_below(a, "theirs", BAGS);

    if (!w->bags[x].used || !w->bags[y].used)
        return;
    for (int k = 0; k < KEYS; k++) {
        int value = value_of(w, &w->bags[y], k);
        if (value >= 0 && value_of(w, &w->bags[x], k) != value)
            pack_both(w, &w->bags[x], k, value);
    }
}

static void run(world *w, const char *type, const char *payload)
{
    test *t = w->t;
    valise_reply reply = VALISE_REPLY_INIT;

    CHECK_OK(valise_dispatch(&reply, w->v[DURABLE], type, payload, NULL, &t->err));
    valise_reply_release(&reply);
}

/* What only history has of the durable ones goes; a handle on a state holds nothing there. */
static void op_prune(void *state, model_args *a)
{
    world *w = state;
    int keep = 10 + (int)model_below(a, "keep", 60);

    for (int i = 0; i < SLOTS; i++)
        empty(&w->slots[i]);
    run(w, "retention:set", test_format("{\"kind\":\"backpack\",\"keepLatest\":%d}", keep));
    run(w, "workspace:gc", "{}");
    w->pruned = true;
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
                            .long_seconds = 240,
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
                                    {"merge", 5, op_merge},
                                    {"mesh", 2, op_mesh},
                                    {"settle", 1, op_settle},
                                    {"prune", 1, op_prune},
                                    {"reopen", 1, op_reopen}}};

    model_test(t, &m);
}
