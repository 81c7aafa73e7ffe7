/* pmap_kit.c -- items, model and checks for the tests of base/pmap. */
#define VLS_ALLOW_MALLOC
#include "pmap_kit.h"

#include "base/map.h"
#include "base/mem.h"

/* ---- items ---- */

size_t thing_key_calls;
static unsigned things_made;

static void *must(void *ptr)
{
    if (!ptr)
        abort();
    return ptr;
}

thing *thing_new(const valise_env *env, valise_str key)
{
    thing *item = must(vls_mem_alloc(env, offsetof(thing, key) + key.len));

    vls_ref_init(&item->refs);
    item->number = things_made++;
    item->env = env;
    item->len = key.len;
    if (key.len)
        memcpy(item->key, key.ptr, key.len);
    return item;
}

void thing_unref(void *item)
{
    thing *gone = item;

    if (vls_ref_put(&gone->refs))
        vls_mem_free(gone->env, gone, offsetof(thing, key) + gone->len);
}

static void thing_ref(void *item)
{
    vls_ref_get(&((thing *)item)->refs);
}

valise_str thing_key(const void *item)
{
    const thing *it = item;

    thing_key_calls++;
    /* Nothing at all must serve as a key too. */
    return it->len ? (valise_str){it->key, it->len} : (valise_str){NULL, 0};
}

const vls_pmap_ops thing_ops = {thing_key, thing_ref, thing_unref};

int put_key(vls_pmap *map, const valise_env *env, valise_str key)
{
    thing *item = thing_new(env, key);
    int rc = vls_pmap_put(NULL, map, item);

    thing_unref(item);
    return rc;
}

valise_str numbered(const char *prefix, unsigned number)
{
    static char ring[8][64];
    static unsigned turn;
    char *text = ring[turn++ % VLS_COUNT(ring)];
    int len = snprintf(text, sizeof(ring[0]), "%s%06u", prefix, number);

    return (valise_str){text, (size_t)len};
}

/* ---- model ---- */

size_t model_find(const model *m, valise_str key, bool *found)
{
    size_t low = 0, high = m->len;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (vls_str_compare(thing_key(m->ptr[middle]), key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *found = low < m->len && vls_str_equal(thing_key(m->ptr[low]), key);
    return low;
}

void model_put(model *m, thing *item)
{
    bool found;
    size_t at = model_find(m, thing_key(item), &found);

    thing_ref(item);
    if (found) {
        thing_unref(m->ptr[at]);
        m->ptr[at] = item;
        return;
    }
    if (m->len == m->cap) {
        m->cap = m->cap * 2 + 8;
        m->ptr = must(realloc(m->ptr, m->cap * sizeof(thing *)));
    }
    memmove(m->ptr + at + 1, m->ptr + at, (m->len - at) * sizeof(thing *));
    m->ptr[at] = item;
    m->len++;
}

bool model_remove(model *m, valise_str key)
{
    bool found;
    size_t at = model_find(m, key, &found);

    if (!found)
        return false;
    thing_unref(m->ptr[at]);
    memmove(m->ptr + at, m->ptr + at + 1, (m->len - at - 1) * sizeof(thing *));
    m->len--;
    return true;
}

void model_copy(model *out, const model *m)
{
    *out = (model){NULL, m->len, m->len};
    if (m->len == 0)
        return;
    out->ptr = must(malloc(m->len * sizeof(thing *)));
    memcpy(out->ptr, m->ptr, m->len * sizeof(thing *));
    for (size_t i = 0; i < m->len; i++)
        thing_ref(m->ptr[i]);
}

void model_release(model *m)
{
    for (size_t i = 0; i < m->len; i++)
        thing_unref(m->ptr[i]);
    free(m->ptr);
    *m = (model){NULL, 0, 0};
}

bool model_matches(const model *m, const vls_pmap *map)
{
    vls_pmap_cursor c;
    size_t at = 0;

    if (m->len != map->len)
        return false;
    for (void *item = vls_pmap_first(&c, map); item; item = vls_pmap_next(&c), at++) {
        if (at >= m->len || item != m->ptr[at])
            return false;
    }
    return at == m->len;
}

/* ---- diff ---- */

typedef struct expectation {
    thing **pairs; /* in a, in b, in a, in b, ... */
    size_t len, at;
    bool wrong;
} expectation;

static int compare_report(void *arg, void *in_a, void *in_b)
{
    expectation *e = arg;

    if (e->at == e->len || e->pairs[2 * e->at] != in_a || e->pairs[2 * e->at + 1] != in_b)
        e->wrong = true;
    e->at++;
    return e->wrong ? 7 : 0;
}

static void naive_diff(expectation *e, const model *a, const model *b)
{
    size_t i = 0, j = 0;

    while (i < a->len || j < b->len) {
        int order = i == a->len   ? 1
                    : j == b->len ? -1
                                  : vls_str_compare(thing_key(a->ptr[i]), thing_key(b->ptr[j]));
        thing *in_a = order <= 0 ? a->ptr[i++] : NULL;
        thing *in_b = order >= 0 ? b->ptr[j++] : NULL;
        if (in_a == in_b)
            continue;
        e->pairs[2 * e->len] = in_a;
        e->pairs[2 * e->len + 1] = in_b;
        e->len++;
    }
}

bool model_diff_matches(size_t *count, const vls_pmap *map_a, const model *a, const vls_pmap *map_b,
                        const model *b)
{
    expectation e = {must(malloc((a->len + b->len + 1) * 2 * sizeof(thing *))), 0, 0, false};
    int rc;

    naive_diff(&e, a, b);
    rc = vls_pmap_diff(map_a, map_b, compare_report, &e);
    free(e.pairs);
    *count = e.len;
    return rc == 0 && !e.wrong && e.at == e.len;
}

/* ---- invariants ---- */

typedef struct walk {
    const vls_pmap *map;
    bool starved;
    size_t items, nodes, slots;
    const void *last; /* item */
} walk;

static uint32_t naive_head(valise_str key, size_t skip)
{
    uint32_t head = 0;

    for (size_t i = skip; i < skip + 4; i++)
        head = head << 8 | (i < key.len ? (unsigned char)key.ptr[i] : 0);
    return head;
}

static void check_slot(walk *w, const vls_pmap_node *n, unsigned at)
{
    valise_str first = w->map->ops->key(n->item[0]);
    valise_str key = w->map->ops->key(n->item[at]);

    CHECK(key.len >= n->skip);
    CHECK_STR(vls_str_head(first, n->skip), vls_str_head(key, n->skip));
    CHECK_INT(naive_head(key, n->skip), n->head[at]);
    if (n->height > 0) {
        CHECK(n->child[at]->height + 1 == n->height);
        CHECK_MSG(n->item[at] == n->child[at]->item[0], "separator %u is not exact", at);
        return;
    }
    if (w->last)
        CHECK_MSG(vls_str_compare(w->map->ops->key(w->last), key) < 0, "keys do not ascend");
    w->last = n->item[at];
    w->items++;
}

static void check_node(walk *w, vls_pmap_node *n, bool is_root, bool right_edge)
{
    unsigned least = w->starved || right_edge || is_root ? 1 : VLS_PMAP_MIN;

    if (is_root && n->height > 0)
        least = 2;
    CHECK_MSG(n->len >= least && n->len <= VLS_PMAP_FANOUT, "node of height %u has %u slots",
              n->height, n->len);
    CHECK(n->height < VLS_PMAP_MAX_HEIGHT);
    CHECK(atomic_load(&n->refs.count) > 0);
    w->nodes++;
    w->slots += n->len;
    size_t before = w->items;
    for (unsigned i = 0; i < n->len; i++) {
        check_slot(w, n, i);
        if (n->height > 0)
            check_node(w, n->child[i], false, right_edge && i + 1u == n->len);
    }
    CHECK_INT(w->items - before, vls_pmap_node_count(n));
    for (unsigned i = n->len; i < VLS_PMAP_FANOUT; i++)
        CHECK_INT(UINT32_MAX, n->head[i]);
}

void check_tree(const vls_pmap *map, bool starved)
{
    walk w = {.map = map, .starved = starved};

    if (map->root)
        check_node(&w, map->root, true, true);
    CHECK_INT(map->len, w.items);
}

unsigned fill_percent(const vls_pmap *map)
{
    walk w = {.map = map, .starved = true};

    if (!map->root)
        return 0;
    check_node(&w, map->root, true, true);
    return (unsigned)(w.slots * 100 / (w.nodes * VLS_PMAP_FANOUT));
}

/* ---- counts ---- */

typedef struct target {
    const void *ptr; /* node or item */
    uint32_t refs, pointers;
} target;

static bool target_is(const void *item, const void *key)
{
    return ((const target *)item)->ptr == key;
}

/* One more pointer to ptr; true when it is the first one seen. */
static bool point_to(vls_map *seen, const void *ptr, vls_ref *refs)
{
    uint64_t hash = vls_str_hash((valise_str){(const char *)&ptr, sizeof(ptr)}, 0);
    target *known = vls_map_get(seen, hash, ptr);

    if (!known) {
        known = test_alloc(sizeof(target));
        *known = (target){ptr, atomic_load(&refs->count), 0};
        CHECK(vls_map_put(NULL, seen, hash, ptr, known) == 0);
    }
    return known->pointers++ == 0;
}

static void point_below(vls_map *seen, vls_pmap_node *n)
{
    if (!point_to(seen, n, &n->refs))
        return;
    for (unsigned i = 0; i < n->len; i++) {
        if (n->height > 0)
            point_below(seen, n->child[i]);
        else
            (void)point_to(seen, n->item[i], &((thing *)n->item[i])->refs);
    }
}

void check_counts(const vls_pmap *maps, const model *models, size_t count)
{
    vls_map seen;
    size_t at = 0, wrong = 0;
    target *one;

    vls_map_init(&seen, valise_env_default(), target_is);
    for (size_t i = 0; i < count; i++) {
        if (maps[i].root)
            point_below(&seen, maps[i].root);
        for (size_t k = 0; models && k < models[i].len; k++)
            (void)point_to(&seen, models[i].ptr[k], &models[i].ptr[k]->refs);
    }
    while ((one = vls_map_next(&seen, &at)))
        wrong += one->refs != one->pointers;
    vls_map_release(&seen);
    CHECK_MSG(wrong == 0, "%zu nodes or items have another number of references than pointers",
              wrong);
}
