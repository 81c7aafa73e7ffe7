/* pmap_model.c -- the persistent map against a sorted array: random changes with many snapshots
 * held, cursors, prefixes, differences, and memory that runs out now and then. */
#include "pmap_kit.h"

#define HELD 20u

typedef struct world {
    const valise_env *env;
    test_rng rng;
    unsigned shape;      /* of keys */
    unsigned spread;     /* how many different ones, about */
    vls_pmap maps[HELD]; /* [0] is the one that is changed most */
    model models[HELD];
    bool starved;
    char key[64];
} world;

static unsigned below(world *w, unsigned limit)
{
    return (unsigned)test_random_below(&w->rng, limit);
}

/* Keys that look like ours, keys of few bytes with many ties, long common prefixes, and raw
 * bytes that are often each other's beginning. */
static valise_str random_key(world *w)
{
    unsigned n = below(w, w->spread);
    int len = 0;

    switch (w->shape) {
    case 0:
        len = snprintf(w->key, sizeof(w->key), "run:%u:item:%06u", n % 3, n);
        break;
    case 1:
        len = snprintf(w->key, sizeof(w->key), "%x", n * 2654435761u);
        break;
    case 2:
        len = snprintf(w->key, sizeof(w->key), "a-prefix-that-all-of-them-share/%s/%u",
                       n % 7 ? "and-more-of-it" : "x", n);
        break;
    default:
        len = (int)below(w, 7);
        for (int i = 0; i < len; i++)
            w->key[i] = "\0\1a\xfe\xff"[below(w, 5)];
    }
    return (valise_str){w->key, (size_t)len};
}

/* What a change handed out, if it was asked to: the one the model has there, and ours to drop. */
static void check_old(world *w, bool asked, int rc, void *old, void *expected)
{
    if (!asked || rc < 0) {
        CHECK(old == w); /* untouched */
        return;
    }
    CHECK(old == expected);
    if (old)
        thing_unref(old);
}

static void change_one(world *w, unsigned i)
{
    valise_str key = random_key(w);
    bool found, asks = below(w, 2);
    void *old = w, **out = asks ? &old : NULL;
    int rc;

    size_t at = model_find(&w->models[i], key, &found);
    void *expected = found ? w->models[i].ptr[at] : NULL;
    if (below(w, 100) < 55) {
        thing *item = thing_new(valise_env_default(), key);
        rc = vls_pmap_put(out, &w->maps[i], item);
        check_old(w, asks, rc, old, expected);
        if (rc == 0)
            model_put(&w->models[i], item);
        thing_unref(item);
        CHECK(rc == 0 || w->starved);
    } else {
        rc = vls_pmap_remove(out, &w->maps[i], key);
        CHECK(rc == (found ? 0 : VALISE_E_NOT_FOUND) || (w->starved && found));
        check_old(w, asks, rc, old, expected);
        if (rc == 0)
            CHECK(model_remove(&w->models[i], key));
    }
    CHECK_INT(w->models[i].len, w->maps[i].len);
}

/* Map `to` becomes a snapshot of map `from`; going back is the same with to == 0. */
static void copy_one(world *w, unsigned to, unsigned from)
{
    vls_pmap map;
    model m;

    vls_pmap_snapshot(&map, &w->maps[from]);
    model_copy(&m, &w->models[from]);
    vls_pmap_release(&w->maps[to]);
    model_release(&w->models[to]);
    w->maps[to] = map;
    w->models[to] = m;
}

static void check_seek(world *w, unsigned i)
{
    const model *m = &w->models[i];
    const vls_pmap *map = &w->maps[i];
    valise_str key = random_key(w);
    vls_pmap_cursor c;
    bool found;
    size_t at = model_find(m, key, &found);

    CHECK(vls_pmap_get(map, key) == (found ? m->ptr[at] : NULL));
    CHECK(vls_pmap_seek(&c, map, key) == (at < m->len ? m->ptr[at] : NULL));
    for (unsigned steps = below(w, 100); steps > 0; steps--) {
        bool forward = below(w, 2) == 1;
        /* at runs from 0 to len; before the first is at 0 again, after one step back */
        if (forward && at < m->len) {
            at++;
            CHECK(vls_pmap_next(&c) == (at < m->len ? m->ptr[at] : NULL));
        } else if (!forward && at > 0) {
            at--;
            CHECK(vls_pmap_prev(&c) == m->ptr[at]);
        }
    }
}

static void check_prefix(world *w, unsigned i)
{
    const model *m = &w->models[i];
    const vls_pmap *map = &w->maps[i];
    valise_str prefix = random_key(w);
    vls_pmap_cursor c;
    bool found;

    prefix.len = below(w, (unsigned)prefix.len + 1);
    size_t first = model_find(m, prefix, &found), end = first, at = first;
    while (end < m->len && vls_str_starts(thing_key(m->ptr[end]), prefix))
        end++;

    void *item = vls_pmap_first_in(&c, map, prefix);
    for (; item && vls_str_starts(thing_key(item), prefix); item = vls_pmap_next(&c))
        CHECK(at < end && item == m->ptr[at++]);
    CHECK_INT(end, at);
    (void)vls_pmap_seek_behind(&c, map, prefix);
    item = vls_pmap_prev(&c);
    for (; item && vls_str_starts(thing_key(item), prefix); item = vls_pmap_prev(&c))
        CHECK(at > first && item == m->ptr[--at]);
    CHECK_INT(first, at);
    CHECK_INT(end - first, vls_pmap_count_in(map, prefix));
    CHECK(vls_pmap_seek_behind(&c, map, prefix) == (end < m->len ? m->ptr[end] : NULL));
}

static void check_world(world *w)
{
    unsigned i = below(w, HELD), k = below(w, HELD);
    size_t count;

    CHECK(model_matches(&w->models[0], &w->maps[0]));
    CHECK(model_matches(&w->models[i], &w->maps[i]));
    check_tree(&w->maps[0], w->starved);
    check_tree(&w->maps[i], w->starved);
    CHECK(model_diff_matches(&count, &w->maps[i], &w->models[i], &w->maps[k], &w->models[k]));
    CHECK(model_diff_matches(&count, &w->maps[0], &w->models[0], &w->maps[k], &w->models[k]));
    check_prefix(w, i);
    check_seek(w, i);
}

/* One random run; the allocations of the maps come from c, and one in a while fails if starved. */
static void run(counting_env *c, uint64_t seed, unsigned shape, unsigned spread, unsigned turns,
                bool starved)
{
    world *w = test_alloc(sizeof(world));

    *w = (world){.env = &c->env, .rng = test_rng_new(seed), .shape = shape, .spread = spread};
    w->starved = starved;
    for (unsigned i = 0; i < HELD; i++)
        vls_pmap_init(&w->maps[i], w->env, &thing_ops);
    for (unsigned turn = 0; turn < turns; turn++) {
        unsigned dice = below(w, 100);
        if (starved && dice % 2)
            counting_env_fail_at(c, (long long)below(w, 6));
        if (dice < 90)
            change_one(w, 0);
        else if (dice < 94)
            change_one(w, below(w, HELD));
        counting_env_fail_at(c, -1);
        if (dice >= 94 && dice < 98)
            copy_one(w, 1 + below(w, HELD - 1), 0);
        else if (dice == 98 && below(w, 4) == 0)
            copy_one(w, 0, below(w, HELD));
        else if (dice == 99 && below(w, 40) == 0)
            copy_one(w, below(w, HELD), below(w, HELD));
        if (turn % 64 == 0)
            check_world(w);
        if (turn % 1024 == 0)
            check_counts(w->maps, w->models, HELD);
    }
    check_world(w);
    check_counts(w->maps, w->models, HELD);
    for (unsigned i = 0; i < HELD; i++) {
        CHECK(model_matches(&w->models[i], &w->maps[i]));
        check_tree(&w->maps[i], starved);
        vls_pmap_release(&w->maps[i]);
        model_release(&w->models[i]);
    }
    CHECK_INT(0, counting_env_in_use(c));
}

TEST(pmap_model, random_changes_with_snapshots_held)
{
    static const unsigned spreads[] = {12, 150, 2000};
    uint64_t seed = test_seed();
    counting_env c;

    counting_env_init(&c);
    for (unsigned shape = 0; shape < 4; shape++) {
        for (unsigned s = 0; s < VLS_COUNT(spreads); s++)
            run(&c, seed + shape * 100 + s, shape, spreads[s], 4000, false);
    }
}

TEST(pmap_model, memory_runs_out_now_and_then)
{
    uint64_t seed = test_seed();
    counting_env c;

    counting_env_init(&c);
    for (unsigned shape = 0; shape < 4; shape++)
        run(&c, seed + 1000 + shape, shape, 300, 4000, true);
}
