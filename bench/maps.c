/* maps.c -- the hash table and the persistent map, and how they grow. */
#include <search.h>

#include "bench/bench.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/pmap.h"
#include "base/str.h"

#define SEED 42

typedef struct item {
    unsigned refs;
    unsigned len;
    bool replaced; /* in the tree by its twin */
    char key[24];
} item;

typedef struct state {
    size_t size, next;
    item *items; /* size of them, and behind them as many twins with the same keys */
    vls_map map;
    vls_pmap tree;
    void *root; /* of the C library's tsearch tree */
} state;

static bool item_equal(const void *a, const void *key)
{
    const item *i = a;
    const valise_str *k = key;

    return i->len == k->len && memcmp(i->key, k->ptr, i->len) == 0;
}

static valise_str item_key(const void *a)
{
    const item *i = a;

    return (valise_str){i->key, i->len};
}

static void item_ref(void *a)
{
    ((item *)a)->refs++;
}

static void item_unref(void *a)
{
    ((item *)a)->refs--;
}

static const vls_pmap_ops item_ops = {item_key, item_ref, item_unref};

static int item_compare(const void *a, const void *b)
{
    return vls_str_compare(item_key(a), item_key(b));
}

/* A walk over all keys that looks random and costs nothing. */
static item *next_item(state *s)
{
    s->next = (s->next + 7919 * 31) % s->size;
    return &s->items[s->next];
}

static void *set_up(size_t size)
{
    const valise_env *env = valise_env_default();
    state *s = vls_mem_zalloc(env, sizeof(*s));

    if (!s || !(s->items = vls_mem_alloc(env, 2 * size * sizeof(item))))
        abort();
    s->size = size;
    vls_map_init(&s->map, env, item_equal);
    vls_pmap_init(&s->tree, env, &item_ops);
    for (size_t i = 0; i < size; i++) {
        item *it = &s->items[i];
        it->refs = 1;
        it->replaced = false;
        it->len = (unsigned)snprintf(it->key, sizeof(it->key), "run:1:item:%09zu", i);
        s->items[size + i] = *it;
        valise_str key = item_key(it);
        if (vls_map_put(NULL, &s->map, vls_str_hash(key, SEED), &key, it) < 0 ||
            vls_pmap_put(NULL, &s->tree, it) < 0 || !tsearch(it, &s->root, item_compare))
            abort();
    }
    return s;
}

static void keep_item(void *node)
{
    (void)node;
}

static void tear_down(void *arg)
{
    const valise_env *env = valise_env_default();
    state *s = arg;

    vls_map_release(&s->map);
    vls_pmap_release(&s->tree);
    tdestroy(s->root, keep_item);
    vls_mem_free(env, s->items, 2 * s->size * sizeof(item));
    vls_mem_free(env, s, sizeof(*s));
}

static void map_get(void *arg, size_t times)
{
    state *s = arg;

    while (times--) {
        valise_str key = item_key(next_item(s));
        bench_use(vls_map_get(&s->map, vls_str_hash(key, SEED), &key));
    }
}

static void hash_key(void *arg, size_t times)
{
    state *s = arg;

    while (times--) {
        uint64_t h = vls_str_hash(item_key(next_item(s)), SEED);
        bench_use(&h);
    }
}

static void tree_get(void *arg, size_t times)
{
    state *s = arg;

    while (times--)
        bench_use(vls_pmap_get(&s->tree, item_key(next_item(s))));
}

static void tsearch_get(void *arg, size_t times)
{
    state *s = arg;

    while (times--)
        bench_use(tfind(next_item(s), &s->root, item_compare));
}

/* Each item and its twin in turns: the one that is there already would change nothing. */
static void tree_put(void *arg, size_t times)
{
    state *s = arg;

    while (times--) {
        item *it = next_item(s);
        it->replaced = !it->replaced;
        if (vls_pmap_put(NULL, &s->tree, it + (it->replaced ? s->size : 0)) < 0)
            abort();
    }
}

/* One change to a map that was just shared: the nodes on the way are copied. */
static void tree_put_shared(void *arg, size_t times)
{
    state *s = arg;

    while (times--) {
        vls_pmap copy;
        vls_pmap_snapshot(&copy, &s->tree);
        if (vls_pmap_put(NULL, &copy, next_item(s) + s->size) < 0)
            abort();
        vls_pmap_release(&copy);
    }
}

static void tree_snapshot(void *arg, size_t times)
{
    state *s = arg;

    while (times--) {
        vls_pmap copy;
        vls_pmap_snapshot(&copy, &s->tree);
        bench_use(&copy);
        vls_pmap_release(&copy);
    }
}

/* A snapshot, one change, and the difference of the two. */
static int count_change(void *arg, void *in_a, void *in_b)
{
    (void)in_a;
    (void)in_b;
    ++*(size_t *)arg;
    return 0;
}

static void tree_change_and_diff(void *arg, size_t times)
{
    state *s = arg;
    item other = {0};

    while (times--) {
        vls_pmap copy;
        size_t changes = 0;
        item *it = next_item(s);
        other = *it;
        vls_pmap_snapshot(&copy, &s->tree);
        if (vls_pmap_put(NULL, &copy, &other) < 0 ||
            vls_pmap_diff(&s->tree, &copy, count_change, &changes) != 0 || changes != 1)
            abort();
        vls_pmap_release(&copy);
    }
}

static void tree_walk(void *arg, size_t times)
{
    state *s = arg;
    vls_pmap_cursor cursor;

    while (times--) {
        for (void *it = vls_pmap_first(&cursor, &s->tree); it; it = vls_pmap_next(&cursor))
            bench_use(it);
    }
}

BENCH(maps)
{
    const size_t sizes[4] = {1000, 10000, 100000, 0};
    state *s = set_up(10000);

    bench_compare(b, &(bench_row){.name = "hash table get, 10,000 keys",
                                  .arg = s,
                                  .ours = map_get,
                                  .against = "hashing the key",
                                  .baseline = hash_key});
    bench_compare(b, &(bench_row){.name = "persistent map get, 10,000 keys",
                                  .arg = s,
                                  .ours = tree_get,
                                  .against = "tfind (C library)",
                                  .baseline = tsearch_get,
                                  .at_most = 1});
    bench_compare(b, &(bench_row){.name = "persistent map put, 10,000 keys",
                                  .arg = s,
                                  .ours = tree_put,
                                  .against = "tfind (C library)",
                                  .baseline = tsearch_get});
    tear_down(s);

    bench_growth_row rows[] = {
        {.name = "hash table get", .fn = map_get, .promised = 0},
        {.name = "persistent map get", .fn = tree_get, .promised = 0},
        {.name = "persistent map put", .fn = tree_put, .promised = 0},
        {.name = "persistent map put, shared", .fn = tree_put_shared, .promised = 0},
        {.name = "persistent map snapshot", .fn = tree_snapshot, .promised = 0},
        {.name = "snapshot, one change, diff", .fn = tree_change_and_diff, .promised = 0},
        {.name = "persistent map, walk all", .fn = tree_walk, .promised = 1},
    };
    for (size_t i = 0; i < VLS_COUNT(rows); i++) {
        rows[i].setup = set_up;
        rows[i].teardown = tear_down;
        memcpy(rows[i].sizes, sizes, sizeof(sizes));
        bench_growth(b, &rows[i]);
    }
}
