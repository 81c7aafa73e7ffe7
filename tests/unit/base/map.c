/* map.c -- the hash table, against a naive model, with hashes that collide on purpose. */
#include "base/map.h"

#include "harness/counting_env.h"
#include "harness/test.h"

typedef struct entry {
    unsigned key;
    unsigned version;
} entry;

static bool entry_is(const void *item, const void *key)
{
    return ((const entry *)item)->key == *(const unsigned *)key;
}

#define KEYS 400u

/* The naive model: where entries[key] is, or NULL. The hash of a key is the test's business. */
typedef struct world {
    vls_map map;
    uint64_t (*hash)(unsigned key);
    entry *live[KEYS];
    size_t len;
} world;

static uint64_t all_the_same(unsigned key)
{
    (void)key;
    return 5;
}

static uint64_t four_hashes(unsigned key)
{
    return key % 4;
}

static uint64_t end_of_table(unsigned key)
{
    return UINT64_MAX - key % 8; /* runs wrap round the end at every size */
}

static uint64_t same_low_bits(unsigned key)
{
    return (uint64_t)key << 40; /* one home, different hashes */
}

static uint64_t good_hash(unsigned key)
{
    return key * 0x9E3779B97F4A7C15u;
}

static uint64_t (*const hashes[])(unsigned) = {all_the_same, four_hashes, end_of_table,
                                               same_low_bits, good_hash};

static void put(world *w, unsigned key, unsigned version)
{
    entry *item = test_alloc(sizeof(entry));
    void *old = &w;

    *item = (entry){key, version};
    CHECK(vls_map_put(&old, &w->map, w->hash(key), &key, item) == 0);
    CHECK(old == w->live[key]);
    w->len += !w->live[key];
    w->live[key] = item;
}

static void take(world *w, unsigned key)
{
    CHECK(vls_map_remove(&w->map, w->hash(key), &key) == w->live[key]);
    w->len -= w->live[key] != NULL;
    w->live[key] = NULL;
}

static void check_world(world *w)
{
    size_t at = 0, seen = 0;
    entry *item;

    CHECK_INT(w->len, w->map.len);
    for (unsigned key = 0; key < KEYS; key++)
        CHECK(vls_map_get(&w->map, w->hash(key), &key) == w->live[key]);
    while ((item = vls_map_next(&w->map, &at))) {
        CHECK(w->live[item->key] == item);
        seen++;
    }
    CHECK_INT(w->len, seen);
    CHECK(w->map.len <= w->map.cap / 4 * 3);
}

TEST(map, random_changes_against_a_model)
{
    test_rng rng = test_rng_new(test_seed());

    for (size_t h = 0; h < VLS_COUNT(hashes); h++) {
        world w = {.hash = hashes[h]};
        vls_map_init(&w.map, t->env, entry_is);
        for (unsigned round = 0; round < 6000; round++) {
            /* Waves: mostly in, then mostly out. */
            unsigned key = (unsigned)test_random_below(&rng, KEYS);
            bool in = test_random_below(&rng, 10) < (round / 1000 % 2 ? 3u : 7u);
            if (in)
                put(&w, key, round);
            else
                take(&w, key);
            if (round % 500 == 0)
                check_world(&w);
        }
        check_world(&w);
        for (unsigned key = 0; key < KEYS; key++)
            take(&w, key);
        check_world(&w);
        vls_map_release(&w.map);
    }
}

/* Every order of putting and removing few keys that all want the same places. */
TEST(map, small_runs_in_every_order)
{
    enum { FEW = 5 };

    for (size_t h = 0; h < VLS_COUNT(hashes); h++) {
        for (unsigned in = 0; in < FEW * FEW * FEW; in++) {
            world w = {.hash = hashes[h]};
            vls_map_init(&w.map, t->env, entry_is);
            for (unsigned i = 0; i < FEW; i++)
                put(&w, (i * (1 + in % 4) + in) % FEW, i);
            take(&w, in % FEW);
            check_world(&w);
            take(&w, in / FEW % FEW);
            check_world(&w);
            put(&w, in % FEW, 9);
            take(&w, in / FEW / FEW);
            check_world(&w);
            vls_map_release(&w.map);
        }
    }
}

TEST(map, empty)
{
    vls_map map = {0};
    size_t at = 0;
    unsigned key = 1;

    vls_map_release(&map);
    vls_map_init(&map, t->env, entry_is);
    CHECK(!vls_map_get(&map, 1, &key) && !vls_map_remove(&map, 1, &key));
    CHECK(!vls_map_next(&map, &at) && !vls_map_next(&map, &at));
    vls_map_clear(&map);
    vls_map_release(&map);
    vls_map_release(&map);
    CHECK_INT(0, test_bytes_in_use(t));
}

TEST(map, put_without_asking_for_the_old_one)
{
    VLS_AUTO(map) vls_map map;
    entry one = {1, 1}, two = {1, 2};

    vls_map_init(&map, t->env, entry_is);
    CHECK_OK(vls_map_put(NULL, &map, 7, &one.key, &one));
    CHECK_OK(vls_map_put(NULL, &map, 7, &two.key, &two));
    CHECK(map.len == 1 && vls_map_get(&map, 7, &one.key) == &two);
}

/* Equal keys are found by their hash first: another hash is another entry. */
TEST(map, hash_must_agree)
{
    VLS_AUTO(map) vls_map map;
    entry one = {1, 1};

    vls_map_init(&map, t->env, entry_is);
    CHECK_OK(vls_map_put(NULL, &map, 7, &one.key, &one));
    CHECK(!vls_map_get(&map, 7 + 16, &one.key));
    CHECK(!vls_map_remove(&map, 7 + 16, &one.key));
}

TEST(map, clear_keeps_its_memory)
{
    world w = {.hash = good_hash};

    vls_map_init(&w.map, t->env, entry_is);
    for (unsigned key = 0; key < KEYS; key++)
        put(&w, key, 0);
    size_t bytes = test_bytes_in_use(t);
    vls_map_clear(&w.map);
    memset(w.live, 0, sizeof(w.live));
    w.len = 0;
    check_world(&w);
    CHECK_INT(bytes, test_bytes_in_use(t));
    put(&w, 3, 1);
    check_world(&w);
    vls_map_release(&w.map);
}

TEST(map, reserved_room_cannot_fail)
{
    static entry entries[1000];
    counting_env c;
    vls_map map;

    counting_env_init(&c);
    for (unsigned count = 1; count <= VLS_COUNT(entries); count += 37) {
        vls_map_init(&map, &c.env, entry_is);
        CHECK_OK(vls_map_reserve(&map, count));
        counting_env_fail_at(&c, 0);
        for (unsigned i = 0; i < count; i++) {
            entries[i].key = i;
            CHECK_OK(vls_map_put(NULL, &map, good_hash(i), &i, &entries[i]));
        }
        CHECK(!atomic_load(&c.failed));
        counting_env_fail_at(&c, -1);
        vls_map_release(&map);
    }
    CHECK_INT(0, counting_env_in_use(&c));
}

/* Only a new item needs room: the table may be as full as it gets. */
TEST(map, replacing_and_reserving_less_cannot_fail)
{
    static entry entries[12], others[12];
    counting_env c;
    vls_map map;

    counting_env_init(&c);
    vls_map_init(&map, &c.env, entry_is);
    for (unsigned i = 0; i < VLS_COUNT(entries); i++) {
        entries[i].key = others[i].key = i;
        CHECK_OK(vls_map_put(NULL, &map, good_hash(i), &i, &entries[i]));
    }
    CHECK_INT(16 / 4 * 3, map.len); /* full */
    CHECK_INT(16, map.cap);
    counting_env_fail_from(&c, 0);
    for (unsigned i = 0; i < VLS_COUNT(entries); i++) {
        CHECK_OK(vls_map_put(NULL, &map, good_hash(i), &i, &others[i]));
        CHECK(vls_map_get(&map, good_hash(i), &i) == &others[i]);
    }
    CHECK_OK(vls_map_reserve(&map, 0));
    CHECK_OK(vls_map_reserve(&map, 12));
    CHECK(!atomic_load(&c.failed));
    vls_map_release(&map);
}

TEST(map, sizes_that_overflow)
{
    VLS_AUTO(map) vls_map map;
    entry one = {1, 1};

    vls_map_init(&map, t->env, entry_is);
    CHECK_OK(vls_map_put(NULL, &map, 7, &one.key, &one));
    CHECK_RC(VALISE_E_NO_MEMORY, vls_map_reserve(&map, SIZE_MAX));
    CHECK_RC(VALISE_E_NO_MEMORY, vls_map_reserve(&map, SIZE_MAX / 4 * 3 + 5));
    CHECK_RC(VALISE_E_NO_MEMORY, vls_map_reserve(&map, SIZE_MAX / 16));
    CHECK(vls_map_get(&map, 7, &one.key) == &one);
}

TEST(map, every_allocation_fails)
{
    for (long long n = 0;; n++) {
        counting_env c;
        world w = {.hash = four_hashes};
        unsigned refused = KEYS;

        counting_env_init(&c);
        vls_map_init(&w.map, &c.env, entry_is);
        counting_env_fail_at(&c, n);
        for (unsigned key = 0; key < KEYS; key++) {
            entry *item = test_alloc(sizeof(entry));
            void *old = item;
            *item = (entry){key, 0};
            int rc = vls_map_put(&old, &w.map, w.hash(key), &key, item);
            if (rc == 0) {
                w.live[key] = item;
                w.len++;
                continue;
            }
            CHECK_INT(VALISE_E_NO_MEMORY, rc);
            CHECK(old == item); /* untouched */
            CHECK(refused == KEYS);
            refused = key;
            check_world(&w);
        }
        bool failed = atomic_load(&c.failed);
        CHECK(failed == (refused < KEYS));
        check_world(&w);
        vls_map_release(&w.map);
        CHECK_INT(0, counting_env_in_use(&c));
        if (!failed) {
            CHECK(n >= 5);
            return;
        }
    }
}
