/* pmap_diff.c -- differences of maps: what they cost. That they are right is in pmap_model.c. */
#include "pmap_kit.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/map.h"

static int count_reports(void *arg, void *in_a, void *in_b)
{
    CHECK(in_a || in_b);
    CHECK(in_a != in_b);
    ++*(unsigned *)arg;
    return 0;
}

static void fill(vls_pmap *map, const valise_env *env, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++)
        CHECK_INT(0, put_key(map, env, numbered("run:1:item:", i)));
}

/* Key calls stand for work: a diff that went through everything would make two per item. */
static size_t diff_cost(unsigned *reports, const vls_pmap *a, const vls_pmap *b)
{
    *reports = 0;
    thing_key_calls = 0;
    CHECK_INT(0, vls_pmap_diff(a, b, count_reports, reports));
    return thing_key_calls;
}

TEST(pmap_diff, of_the_same_looks_at_nothing)
{
    VLS_AUTO(pmap) vls_pmap map;
    VLS_AUTO(pmap) vls_pmap copy;
    unsigned reports;

    vls_pmap_init(&map, t->env, &thing_ops);
    fill(&map, t->env, 0, 1000);
    vls_pmap_snapshot(&copy, &map);
    CHECK_INT(0, diff_cost(&reports, &map, &copy));
    CHECK_INT(0, reports);

    /* Nodes copied, contents the same pointers: compared, not reported. */
    thing *item = vls_pmap_get(&map, numbered("run:1:item:", 500));
    vls_ref_get(&item->refs);
    CHECK_OK(vls_pmap_remove(NULL, &map, thing_key(item)));
    CHECK_OK(vls_pmap_put(NULL, &map, item));
    thing_unref(item);
    CHECK(map.root != copy.root);
    CHECK_INT(0, diff_cost(&reports, &map, &copy));
    CHECK_INT(0, reports);
}

TEST(pmap_diff, costs_what_was_changed)
{
    VLS_AUTO(pmap) vls_pmap map;
    VLS_AUTO(pmap) vls_pmap copy;
    unsigned n = VLS_PMAP_FANOUT > 8 ? 20000 : 2500, reports;

    vls_pmap_init(&map, t->env, &thing_ops);
    fill(&map, t->env, 0, n);
    unsigned levels = map.root->height + 1u;
    for (unsigned changes = 1; changes <= 64; changes *= 2) {
        vls_pmap_snapshot(&copy, &map);
        for (unsigned i = 0; i < changes; i++) {
            valise_str key = numbered("run:1:item:", (unsigned)((uint64_t)i * 7919 % n));
            if (i % 3 == 2)
                CHECK_OK(vls_pmap_remove(NULL, &map, key));
            else
                CHECK_OK(put_key(&map, t->env, key));
        }
        size_t cost = diff_cost(&reports, &copy, &map);
        CHECK_INT(changes, reports);
        /* Two for each item in the leaf behind one that is gone, at most, and a few a level. */
        CHECK_MSG(cost <= changes * 4 * (levels + 2 * VLS_PMAP_FANOUT / 3),
                  "%zu keys looked at for %u changes", cost, changes);
        CHECK_INT(cost, diff_cost(&reports, &map, &copy));
        vls_pmap_release(&copy);
        fill(&map, t->env, 0, n);
    }
}

/* The trees have different heights, and most of the higher one is the other. */
TEST(pmap_diff, across_heights)
{
    VLS_AUTO(pmap) vls_pmap map;
    VLS_AUTO(pmap) vls_pmap copy;
    unsigned small = 9 * VLS_PMAP_FANOUT, n = small, reports;

    vls_pmap_init(&map, t->env, &thing_ops);
    fill(&map, t->env, 0, n);
    vls_pmap_snapshot(&copy, &map);
    while (map.root->height <= copy.root->height) {
        fill(&map, t->env, n, n + 1);
        n++;
    }
    size_t cost = diff_cost(&reports, &copy, &map);
    CHECK_INT(n - small, reports);
    CHECK_MSG(cost <= 2 * reports + 8 * VLS_PMAP_FANOUT, "%zu keys looked at for %u", cost,
              reports);
    CHECK_INT(cost, diff_cost(&reports, &map, &copy));
    CHECK_INT(n - small, reports);

    /* And when a tree shrinks to what was a part of it. */
    vls_pmap_release(&copy);
    vls_pmap_snapshot(&copy, &map);
    for (unsigned i = small; i < n; i++)
        CHECK_OK(vls_pmap_remove(NULL, &map, numbered("run:1:item:", i)));
    CHECK(map.root->height < copy.root->height);
    cost = diff_cost(&reports, &copy, &map);
    CHECK_INT(n - small, reports);
    CHECK_MSG(cost <= 2 * reports + 8 * VLS_PMAP_FANOUT, "%zu keys looked at for %u", cost,
              reports);
}

static int stop_at_third(void *arg, void *in_a, void *in_b)
{
    unsigned *count = arg;

    CHECK(!in_a && in_b);
    return ++*count == 3 ? -42 : 0;
}

TEST(pmap_diff, stops_when_told)
{
    VLS_AUTO(pmap) vls_pmap map;
    vls_pmap none;
    unsigned count = 0;

    vls_pmap_init(&none, t->env, &thing_ops);
    vls_pmap_init(&map, t->env, &thing_ops);
    fill(&map, t->env, 0, 100);
    CHECK_INT(-42, vls_pmap_diff(&none, &map, stop_at_third, &count));
    CHECK_INT(3, count);
}

/* ---- shared nodes are not even looked at ---- */

/* Every node has a page of its own, so that it can be taken away. */
static void *page_resize(void *self, void *ptr, size_t old_size, size_t new_size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    (void)self;
    CHECK(old_size <= page && new_size <= page && (!ptr || new_size == 0));
    if (ptr) {
        CHECK(munmap(ptr, page) == 0);
        return NULL;
    }
    ptr = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return ptr == MAP_FAILED ? NULL : ptr;
}

static void set_access(vls_pmap_node *n, int access)
{
    CHECK(mprotect(n, (size_t)sysconf(_SC_PAGESIZE), access) == 0);
}

static bool same_pointer(const void *item, const void *key)
{
    return item == key;
}

static uint64_t pointer_hash(const void *ptr)
{
    return vls_str_hash((valise_str){(const char *)&ptr, sizeof(ptr)}, 0);
}

/* All nodes but the root, which a diff always reads. */
static void collect(vls_map *seen, vls_pmap_node *n)
{
    for (unsigned i = 0; n->height > 0 && i < n->len; i++) {
        vls_pmap_node *child = n->child[i];
        CHECK(vls_map_put(NULL, seen, pointer_hash(child), child, child) == 0);
        collect(seen, child);
    }
}

typedef struct hidden {
    vls_pmap_node *nodes[4000];
    unsigned len;
} hidden;

/* Take away the nodes below n that were seen; what is below those cannot be reached then. */
static void hide_shared(hidden *h, const vls_map *seen, vls_pmap_node *n)
{
    for (unsigned i = 0; n->height > 0 && i < n->len; i++) {
        vls_pmap_node *child = n->child[i];
        if (!vls_map_get(seen, pointer_hash(child), child)) {
            hide_shared(h, seen, child);
            continue;
        }
        CHECK(h->len < VLS_COUNT(h->nodes));
        h->nodes[h->len++] = child;
        set_access(child, PROT_NONE);
    }
}

/* A diff both ways while what the maps share cannot be read: whoever enters it crashes. */
static unsigned diff_in_the_dark(unsigned *reports, const vls_pmap *a, const vls_pmap *b)
{
    static hidden h;
    vls_map seen;
    unsigned again;

    h.len = 0;
    vls_map_init(&seen, valise_env_default(), same_pointer);
    collect(&seen, a->root);
    hide_shared(&h, &seen, b->root);
    (void)diff_cost(reports, a, b);
    (void)diff_cost(&again, b, a);
    CHECK_INT(*reports, again);
    for (unsigned i = 0; i < h.len; i++)
        set_access(h.nodes[i], PROT_READ | PROT_WRITE);
    vls_map_release(&seen);
    return h.len;
}

TEST(pmap_diff, never_enters_what_is_shared)
{
    valise_env env = *valise_env_default();
    vls_pmap map, before;
    unsigned n = 30 * VLS_PMAP_FANOUT, reports, hidden_nodes = 0;
    test_rng rng = test_rng_new(test_seed());

    env.resize = page_resize;
    vls_pmap_init(&map, &env, &thing_ops);
    fill(&map, t->env, 0, n);
    for (unsigned round = 0; round < 150; round++) {
        size_t expected = 0;
        vls_pmap_snapshot(&before, &map);
        /* One change, or a stretch that goes or comes; roots shrink and grow. */
        unsigned at = (unsigned)test_random_below(&rng, n);
        unsigned count = round % 3 ? 1 : (unsigned)test_random_below(&rng, n);
        for (unsigned i = at; i < n && i < at + count; i++) {
            valise_str key = numbered("run:1:item:", i);
            bool there = vls_pmap_get(&map, key) != NULL;
            if (there && map.len > 1)
                CHECK_OK(vls_pmap_remove(NULL, &map, key));
            else
                CHECK_OK(put_key(&map, t->env, key));
            expected++;
        }
        hidden_nodes += diff_in_the_dark(&reports, &before, &map);
        CHECK_INT(expected, reports);
        vls_pmap_release(&before);
    }
    vls_pmap_release(&map);
    CHECK_MSG(hidden_nodes > 500, "%u shared nodes", hidden_nodes);
}
