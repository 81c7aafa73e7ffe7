/* map.c -- the hash table against an array with a place for every key.
 *
 * Hashes are chosen to be bad: few distinct ones, near the end of the table as well as at its
 * start, so that runs are long, wrap around and are shifted back over the edge. */
#include "harness/model.h"

#include "base/map.h"
#include "harness/counting_env.h"

#define KEYS 40
#define VERSIONS 4

typedef struct item {
    uint64_t key;
} item;

typedef struct pair {
    counting_env mem;
    vls_map map;
    item items[KEYS][VERSIONS]; /* several with each key, so that a replaced one is seen */
    item *expected[KEYS];       /* the model */
    size_t len;
} pair;

static bool has_key(const void *it, const void *key)
{
    return ((const item *)it)->key == *(const uint64_t *)key;
}

static uint64_t hash_of(uint64_t key)
{
    return key % 3 == 0 ? UINT64_MAX - key % 5 : key % 7;
}

static void *start(test *t, const char *dir)
{
    pair *p = test_alloc(sizeof(pair));

    (void)t;
    (void)dir;
    counting_env_init(&p->mem);
    vls_map_init(&p->map, &p->mem.env, has_key);
    for (uint64_t key = 0; key < KEYS; key++) {
        for (size_t i = 0; i < VERSIONS; i++)
            p->items[key][i].key = key;
    }
    return p;
}

static void stop(void *state)
{
    pair *p = state;

    vls_map_release(&p->map);
    CHECK_INT(0, counting_env_in_use(&p->mem));
}

static void check(void *state)
{
    pair *p = state;
    size_t at = 0, seen = 0;

    for (uint64_t key = 0; key < KEYS; key++)
        CHECK(vls_map_get(&p->map, hash_of(key), &key) == p->expected[key]);
    for (item *it; (it = vls_map_next(&p->map, &at)); seen++)
        CHECK(p->expected[it->key] == it);
    CHECK_INT(p->len, seen);
    CHECK_INT(p->len, p->map.len);
    CHECK((p->map.cap & (p->map.cap - 1)) == 0);
    CHECK(p->map.len <= p->map.cap / 4 * 3);
}

/* What a put that succeeded does to the model. */
static void expect_put(pair *p, item *it, void *old)
{
    CHECK(old == p->expected[it->key]);
    p->len += p->expected[it->key] == NULL;
    p->expected[it->key] = it;
}

static item *any_item(pair *p, model_args *a)
{
    uint64_t key = model_below(a, "key", KEYS);

    return &p->items[key][model_below(a, "version", VERSIONS)];
}

static void op_put(void *state, model_args *a)
{
    pair *p = state;
    item *it = any_item(p, a);
    void *old = it;

    CHECK_INT(0, vls_map_put(&old, &p->map, hash_of(it->key), &it->key, it));
    expect_put(p, it, old);
}

/* Without memory a put either needs none or changes nothing. */
static void op_put_without_memory(void *state, model_args *a)
{
    pair *p = state;
    item *it = any_item(p, a);
    void *old = it;

    counting_env_fail_at(&p->mem, 0);
    int rc = vls_map_put(&old, &p->map, hash_of(it->key), &it->key, it);
    bool failed = atomic_load(&p->mem.failed);
    counting_env_fail_at(&p->mem, -1);
    CHECK_INT(failed ? VALISE_E_NO_MEMORY : 0, rc);
    if (rc == 0)
        expect_put(p, it, old);
    else
        CHECK(old == it);
}

static void op_remove(void *state, model_args *a)
{
    pair *p = state;
    uint64_t key = model_below(a, "key", KEYS);

    CHECK(vls_map_remove(&p->map, hash_of(key), &key) == p->expected[key]);
    p->len -= p->expected[key] != NULL;
    p->expected[key] = NULL;
}

/* As many puts as were reserved for need no memory. */
static void op_reserve(void *state, model_args *a)
{
    pair *p = state;
    size_t count = model_below(a, "count", 2 * KEYS);

    CHECK_INT(0, vls_map_reserve(&p->map, count));
    counting_env_fail_from(&p->mem, 0);
    for (uint64_t key = 0; key < KEYS && p->len < count; key++) {
        item *it = &p->items[key][0];
        void *old = NULL;
        CHECK_INT(0, vls_map_put(&old, &p->map, hash_of(key), &key, it));
        expect_put(p, it, old);
    }
    counting_env_fail_at(&p->mem, -1);
}

static void op_clear(void *state, model_args *a)
{
    pair *p = state;

    (void)a;
    vls_map_clear(&p->map);
    memset(p->expected, 0, sizeof(p->expected));
    p->len = 0;
}

TEST(map, agrees_with_an_array)
{
    static const model m = {
        .start = start,
        .check = check,
        .stop = stop,
        .steps = 300,
        .ops = {{"put", 20, op_put},
                {"put_without_memory", 5, op_put_without_memory},
                {"remove", 20, op_remove},
                {"reserve", 1, op_reserve},
                {"clear", 1, op_clear}},
    };

    model_test(t, &m);
}
