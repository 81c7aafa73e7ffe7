/* pmap.c -- the persistent ordered map: each operation by itself, every size and every position
 * of small maps, and every allocation failing. Long random runs are in pmap_model.c.
 *
 * These files are built twice: with the real fan-out, and with 8 slots a node, which gives high
 * trees of few keys. */
#include "pmap_kit.h"

typedef enum order { ASCENDING, DESCENDING, MIXED, ORDERS } order;

/* The ith of count numbers in that order. */
static unsigned nth(order o, unsigned i, unsigned count)
{
    switch (o) {
    case ASCENDING:
        return i;
    case DESCENDING:
        return count - 1 - i;
    default:
        return (unsigned)((uint64_t)i * 1000003u % count); /* 1000003 is prime */
    }
}

static void build(vls_pmap *map, const valise_env *env, order o, unsigned count)
{
    vls_pmap_init(map, env, &thing_ops);
    for (unsigned i = 0; i < count; i++)
        CHECK_INT(0, put_key(map, env, numbered("run:1:item:", nth(o, i, count))));
}

static void *get(const vls_pmap *map, const char *key)
{
    return vls_pmap_get(map, valise_str_of(key));
}

TEST(pmap, empty)
{
    vls_pmap map, copy;
    vls_pmap_cursor c;

    vls_pmap_init(&map, t->env, &thing_ops);
    CHECK(!get(&map, "a") && !get(&map, ""));
    CHECK_RC(VALISE_E_NOT_FOUND, vls_pmap_remove(NULL, &map, VLS_STR("a")));
    CHECK(!vls_pmap_first(&c, &map) && !vls_pmap_next(&c) && !vls_pmap_prev(&c));
    CHECK(!vls_pmap_seek(&c, &map, VLS_STR("a")) && !vls_pmap_prev(&c));
    CHECK(!vls_pmap_seek_behind(&c, &map, VLS_STR("a")) && !vls_pmap_next(&c));
    CHECK(!vls_pmap_first_in(&c, &map, VLS_STR("")));
    vls_pmap_snapshot(&copy, &map);
    CHECK_INT(0, vls_pmap_diff(&map, &copy, NULL, NULL));
    vls_pmap_release(&copy);
    vls_pmap_release(&map);
    vls_pmap_release(&map);
    map = (vls_pmap){0};
    vls_pmap_release(&map);
    CHECK_INT(0, test_bytes_in_use(t));
}

TEST(pmap, holds_one_reference_and_drops_it)
{
    VLS_AUTO(pmap) vls_pmap map;
    thing *one = thing_new(t->env, VLS_STR("k")), *two = thing_new(t->env, VLS_STR("k"));

    vls_pmap_init(&map, t->env, &thing_ops);
    CHECK_OK(vls_pmap_put(NULL, &map, one));
    CHECK_INT(2, one->refs.count);
    CHECK_OK(vls_pmap_put(NULL, &map, one)); /* the same again: nothing happens */
    CHECK_INT(2, one->refs.count);
    CHECK(get(&map, "k") == one);
    CHECK_OK(vls_pmap_put(NULL, &map, two));
    CHECK_INT(1, one->refs.count);
    CHECK_INT(2, two->refs.count);
    CHECK(get(&map, "k") == two);
    CHECK_INT(1, map.len);
    CHECK_OK(vls_pmap_remove(NULL, &map, VLS_STR("k")));
    CHECK_INT(1, two->refs.count);
    CHECK(map.len == 0 && !map.root);
    thing_unref(one);
    thing_unref(two);
}

TEST(pmap, hands_out_what_was_there)
{
    VLS_AUTO(pmap) vls_pmap map = {0};
    thing *one = thing_new(t->env, VLS_STR("k")), *two = thing_new(t->env, VLS_STR("k"));
    void *old = t;

    vls_pmap_init(&map, t->env, &thing_ops);
    CHECK_RC(VALISE_E_NOT_FOUND, vls_pmap_remove(&old, &map, VLS_STR("k")));
    CHECK(old == t);
    CHECK_OK(vls_pmap_put(&old, &map, one));
    CHECK(!old);
    CHECK_OK(vls_pmap_put(&old, &map, one)); /* the same again */
    CHECK(old == one);
    CHECK_INT(3, one->refs.count);
    thing_unref(old);
    CHECK_OK(vls_pmap_put(&old, &map, two));
    CHECK(old == one);
    CHECK_INT(2, one->refs.count); /* what the map had is ours now */
    thing_unref(old);
    CHECK_OK(vls_pmap_remove(&old, &map, VLS_STR("k")));
    CHECK(old == two);
    CHECK_INT(2, two->refs.count);
    thing_unref(old);
    thing_unref(one);
    thing_unref(two);
}

/* Bytes, not text; nothing is a key; what is shorter comes first. */
TEST(pmap, orders_by_bytes)
{
    static const valise_str keys[] = {
        {NULL, 0},
        {"\0", 1},
        {"\0\0", 2},
        {"\0\0\0\0\0", 5},
        {"\0\1", 2},
        {"\1", 1},
        {"a", 1},
        {"a\0", 2},
        {"a\0\0\0\0", 5},
        {"a\0\0\0\1", 5},
        {"ab", 2},
        {"ab\0", 3},
        {"abcd", 4},
        {"abcd\0", 5},
        {"abcde", 5},
        {"abcdefghij", 10},
        {"abcdefghik", 10},
        {"abcdefghik\xff", 11},
        {"b", 1},
        {"\x7f", 1},
        {"\x80", 1},
        {"\xff", 1},
        {"\xff\xff", 2},
        {"\xff\xff\xff\xff", 4},
        {"\xff\xff\xff\xff\xff", 5},
    };
    enum { COUNT = VLS_COUNT(keys) };
    vls_pmap_cursor c;

    for (unsigned turn = 0; turn < COUNT; turn++) {
        VLS_AUTO(pmap) vls_pmap map;
        vls_pmap_init(&map, t->env, &thing_ops);
        for (unsigned i = 0; i < COUNT; i++)
            CHECK_OK(put_key(&map, t->env, keys[(i * 7 + turn) % COUNT]));
        check_tree(&map, false);

        void *item = vls_pmap_first(&c, &map);
        for (unsigned i = 0; i < COUNT; i++, item = vls_pmap_next(&c)) {
            CHECK_STR(keys[i], thing_key(item));
            CHECK(vls_pmap_get(&map, keys[i]) == item);
        }
        CHECK(!item);
    }
}

/* Every size, filled in each order; every key found, none beside it, order right, then emptied
 * in each order. */
TEST(pmap, every_size_in_every_order)
{
    unsigned most = 3 * VLS_PMAP_FANOUT + 5;
    unsigned step = most > 50 ? 3 : 1;

    for (unsigned n = 1; n <= most; n += step) {
        for (unsigned o = 0; o < ORDERS * ORDERS; o++) {
            vls_pmap map;
            build(&map, t->env, (order)(o / ORDERS), n);
            check_tree(&map, false);
            CHECK_INT(n, map.len);
            for (unsigned i = 0; i < n; i++)
                CHECK(vls_pmap_get(&map, numbered("run:1:item:", i)));
            CHECK(!vls_pmap_get(&map, numbered("run:1:item:", n)));
            CHECK(!get(&map, "run:1:item:0000005") && !get(&map, "run:1:item:00000"));
            CHECK(!get(&map, "run") && !get(&map, "s") && !get(&map, "run:1:item:00000x"));
            for (unsigned i = 0; i < n; i++) {
                valise_str key = numbered("run:1:item:", nth((order)(o % ORDERS), i, n));
                CHECK_OK(vls_pmap_remove(NULL, &map, key));
                CHECK_RC(VALISE_E_NOT_FOUND, vls_pmap_remove(NULL, &map, key));
                check_tree(&map, false);
            }
            CHECK(!map.root);
            CHECK_INT(0, test_bytes_in_use(t));
        }
    }
}

/* From every size: put one more at each place, replace each, remove each, all beside a snapshot
 * that must not notice. */
TEST(pmap, every_place_beside_a_snapshot)
{
    static const unsigned sizes[] = {1,
                                     2,
                                     VLS_PMAP_FANOUT - 1,
                                     VLS_PMAP_FANOUT,
                                     VLS_PMAP_FANOUT + 1,
                                     2 * VLS_PMAP_FANOUT + 3,
                                     VLS_PMAP_FANOUT * 5,
                                     VLS_PMAP_FANOUT > 8 ? 170 : 300};

    for (unsigned s = 0; s < VLS_COUNT(sizes); s++) {
        VLS_AUTO(pmap) vls_pmap base;
        unsigned n = sizes[s];
        build(&base, t->env, MIXED, n);
        for (unsigned i = 0; i < 3 * n; i++) {
            vls_pmap maps[2];
            valise_str key = numbered("run:1:item:", i / 3);
            maps[0] = base;
            vls_pmap_snapshot(&maps[1], &base);
            if (i % 3 == 0) {
                key = valise_str_of(test_format("%.*s+", VALISE_STR_ARG(key)));
                CHECK_OK(put_key(&maps[1], t->env, key));
            } else if (i % 3 == 1) {
                CHECK_OK(put_key(&maps[1], t->env, key));
            } else {
                CHECK_OK(vls_pmap_remove(NULL, &maps[1], key));
            }
            void *now = vls_pmap_get(&maps[1], key), *before = vls_pmap_get(&base, key);
            CHECK(i % 3 == 0 ? now && !before : i % 3 == 1 ? now && before && now != before : !now);
            CHECK_INT(n + (i % 3 == 0) - (i % 3 == 2), maps[1].len);
            check_tree(&base, false);
            check_tree(&maps[1], false);
            check_counts(maps, NULL, 2);
            vls_pmap_release(&maps[1]);
            check_counts(&base, NULL, 1);
        }
    }
}

/* Keys that share much, then little: skip shrinks and grows, and never lies. */
TEST(pmap, heads_follow_the_common_prefix)
{
    VLS_AUTO(pmap) vls_pmap map;
    valise_str outsiders[] = {VLS_STR("run:1:item"), VLS_STR("run:2"),
                              VLS_STR("r"),          VLS_STR(""),
                              VLS_STR("zebra"),      VLS_STR("run:1:item:000050:and:more")};
    unsigned n = 2 * VLS_PMAP_FANOUT;

    build(&map, t->env, MIXED, n);
    for (unsigned i = 0; i < VLS_COUNT(outsiders); i++) {
        CHECK(!vls_pmap_get(&map, outsiders[i]));
        CHECK_OK(put_key(&map, t->env, outsiders[i]));
        check_tree(&map, false);
        CHECK(vls_pmap_get(&map, outsiders[i]));
    }
    for (unsigned i = 0; i < n; i++)
        CHECK(vls_pmap_get(&map, numbered("run:1:item:", i)));
    for (unsigned i = 0; i < VLS_COUNT(outsiders); i++) {
        CHECK_OK(vls_pmap_remove(NULL, &map, outsiders[i]));
        check_tree(&map, false);
    }
    for (unsigned i = 0; i < n; i++)
        CHECK(vls_pmap_get(&map, numbered("run:1:item:", i)));
}

/* An item that was replaced or removed is gone at once: no separator keeps it. */
TEST(pmap, keeps_nothing_that_was_replaced)
{
    VLS_AUTO(pmap) vls_pmap map;
    unsigned n = 6 * VLS_PMAP_FANOUT;

    build(&map, t->env, MIXED, n);
    size_t bytes = test_bytes_in_use(t);
    for (unsigned i = 0; i < n; i++) {
        CHECK_OK(put_key(&map, t->env, numbered("run:1:item:", i)));
        CHECK_INT(bytes, test_bytes_in_use(t));
    }
    check_tree(&map, false);
}

/* ---- shape ---- */

TEST(pmap, appending_leaves_full_nodes)
{
    VLS_AUTO(pmap) vls_pmap map;

    build(&map, t->env, ASCENDING, 40 * VLS_PMAP_FANOUT);
    CHECK_MSG(fill_percent(&map) >= 80, "%u percent", fill_percent(&map));
    vls_pmap_release(&map);
    build(&map, t->env, MIXED, 40 * VLS_PMAP_FANOUT);
    CHECK_MSG(fill_percent(&map) >= 50, "%u percent", fill_percent(&map));

    /* Ascending below each of several prefixes. */
    vls_pmap_release(&map);
    for (unsigned i = 0; i < 40 * VLS_PMAP_FANOUT; i++)
        CHECK_OK(put_key(&map, t->env, numbered(i % 2 ? "a:" : "b:", i)));
    CHECK_MSG(fill_percent(&map) >= 65, "%u percent", fill_percent(&map));
    check_tree(&map, false);
}

TEST(pmap, does_not_stay_sparse)
{
    VLS_AUTO(pmap) vls_pmap map;
    unsigned n = 40 * VLS_PMAP_FANOUT;

    build(&map, t->env, MIXED, n);
    for (unsigned i = 0; i < n; i++) {
        if (i % 16 != 0)
            CHECK_OK(vls_pmap_remove(NULL, &map, numbered("run:1:item:", i)));
    }
    check_tree(&map, false);
    CHECK_MSG(fill_percent(&map) >= 30, "%u percent", fill_percent(&map));
    CHECK_INT(n / 16, map.len);
}

/* A queue: what is appended on the right is taken away on the left. Memory stays level. */
TEST(pmap, queue_stays_level)
{
    VLS_AUTO(pmap) vls_pmap map;
    size_t most = 0;

    vls_pmap_init(&map, t->env, &thing_ops);
    for (unsigned i = 0; i < 6000; i++) {
        CHECK_OK(put_key(&map, t->env, numbered("q", i)));
        if (i >= 500)
            CHECK_OK(vls_pmap_remove(NULL, &map, numbered("q", i - 500)));
        if (i == 1000)
            most = test_bytes_in_use(t);
        if (i % 100 == 0)
            check_tree(&map, false);
    }
    CHECK(test_bytes_in_use(t) < most + most / 2);
}

/* ---- snapshots ---- */

TEST(pmap, snapshot_costs_nothing_and_goes_back)
{
    vls_pmap map, before;
    unsigned n = 10 * VLS_PMAP_FANOUT;

    build(&map, t->env, MIXED, n);
    size_t bytes = test_bytes_in_use(t);
    vls_pmap_snapshot(&before, &map);
    CHECK_INT(bytes, test_bytes_in_use(t));
    CHECK(before.root == map.root);
    for (unsigned i = 0; i < n; i += 2)
        CHECK_OK(vls_pmap_remove(NULL, &map, numbered("run:1:item:", i)));
    CHECK_OK(put_key(&map, t->env, VLS_STR("new")));
    CHECK_INT(n, before.len);

    /* Roll back. */
    vls_pmap_release(&map);
    map = before;
    CHECK_INT(bytes, test_bytes_in_use(t));
    check_tree(&map, false);
    check_counts(&map, NULL, 1);
    for (unsigned i = 0; i < n; i++)
        CHECK(vls_pmap_get(&map, numbered("run:1:item:", i)));
    vls_pmap_release(&map);
}

/* Only the way to the change is copied. */
TEST(pmap, change_copies_one_node_a_level)
{
    vls_pmap map, before;
    counting_env c;
    unsigned n = 12 * VLS_PMAP_FANOUT;

    counting_env_init(&c);
    build(&map, &c.env, MIXED, n);
    unsigned levels = map.root->height + 1u;
    for (unsigned i = 0; i < n; i++) {
        thing *item = thing_new(&c.env, numbered("run:1:item:", i));
        vls_pmap_snapshot(&before, &map);
        size_t calls = (size_t)atomic_load(&c.calls);
        CHECK_OK(vls_pmap_put(NULL, &map, item));
        CHECK_INT(levels, (size_t)atomic_load(&c.calls) - calls);
        vls_pmap_release(&before);

        /* Now the way is the map's own: no copies at all. */
        CHECK_OK(vls_pmap_remove(NULL, &map, thing_key(item)));
        CHECK_OK(vls_pmap_put(NULL, &map, item));
        thing_unref(item);
    }
    vls_pmap_release(&map);
    CHECK_INT(0, counting_env_in_use(&c));
}

/* Asking for what is not there copies nothing, and cannot fail. */
TEST(pmap, absent_key_copies_nothing)
{
    vls_pmap map, before;
    counting_env c;

    counting_env_init(&c);
    build(&map, &c.env, MIXED, 5 * VLS_PMAP_FANOUT);
    vls_pmap_snapshot(&before, &map);
    counting_env_fail_at(&c, 0);
    CHECK_RC(VALISE_E_NOT_FOUND, vls_pmap_remove(NULL, &map, VLS_STR("run:1:item:00001")));
    CHECK_OK(vls_pmap_put(NULL, &map, vls_pmap_get(&map, numbered("run:1:item:", 3))));
    CHECK(!atomic_load(&c.failed));
    CHECK(map.root == before.root);
    counting_env_fail_at(&c, -1);
    vls_pmap_release(&before);
    vls_pmap_release(&map);
    CHECK_INT(0, counting_env_in_use(&c));
}

/* ---- cursor ---- */

TEST(pmap, cursor_turns_round_at_both_ends)
{
    VLS_AUTO(pmap) vls_pmap map;
    vls_pmap_cursor c;
    unsigned n = 3 * VLS_PMAP_FANOUT;

    build(&map, t->env, MIXED, n);
    for (unsigned i = 0; i < n; i++) {
        void *item = i ? vls_pmap_next(&c) : vls_pmap_first(&c, &map);
        CHECK_STR(numbered("run:1:item:", i), thing_key(item));
    }
    for (int again = 0; again < 3; again++)
        CHECK(!vls_pmap_next(&c));
    for (unsigned i = n; i-- > 0;)
        CHECK_STR(numbered("run:1:item:", i), thing_key(vls_pmap_prev(&c)));
    for (int again = 0; again < 3; again++)
        CHECK(!vls_pmap_prev(&c));
    CHECK_STR(numbered("run:1:item:", 0), thing_key(vls_pmap_next(&c)));
    CHECK(!vls_pmap_seek_behind(&c, &map, VLS_STR("")));
    CHECK_STR(numbered("run:1:item:", n - 1), thing_key(vls_pmap_prev(&c)));
}

/* Zigzag: prev after next is where one was, everywhere. */
TEST(pmap, cursor_steps_back_and_forth_everywhere)
{
    VLS_AUTO(pmap) vls_pmap map;
    vls_pmap_cursor c;
    unsigned n = 10 * VLS_PMAP_FANOUT;

    build(&map, t->env, MIXED, n);
    for (unsigned i = 0; i + 1 < n; i++) {
        void *here = vls_pmap_seek(&c, &map, numbered("run:1:item:", i));
        void *there = vls_pmap_next(&c);
        CHECK_STR(numbered("run:1:item:", i), thing_key(here));
        CHECK_STR(numbered("run:1:item:", i + 1), thing_key(there));
        CHECK(vls_pmap_prev(&c) == here && vls_pmap_next(&c) == there);
    }
}

/* Seek to each key, before each, behind each; from there one step back is the one before. */
TEST(pmap, seek_finds_the_first_not_less)
{
    VLS_AUTO(pmap) vls_pmap map;
    vls_pmap_cursor c;
    unsigned n = 4 * VLS_PMAP_FANOUT;

    vls_pmap_init(&map, t->env, &thing_ops);
    for (unsigned i = 0; i < n; i++)
        CHECK_OK(put_key(&map, t->env, numbered("k", 2 * nth(MIXED, i, n))));
    for (unsigned i = 0; i <= 2 * n; i++) {
        void *item = vls_pmap_seek(&c, &map, numbered("k", i));
        unsigned expected = (i + 1) / 2 * 2;
        CHECK((item != NULL) == (expected < 2 * n));
        if (item)
            CHECK_STR(numbered("k", expected), thing_key(item));
        item = vls_pmap_prev(&c);
        CHECK((item != NULL) == (expected > 0));
        if (item)
            CHECK_STR(numbered("k", expected - 2), thing_key(item));
    }
    CHECK_STR(numbered("k", 0), thing_key(vls_pmap_seek(&c, &map, VLS_STR(""))));
    CHECK_STR(numbered("k", 0), thing_key(vls_pmap_seek(&c, &map, VLS_STR("j"))));
    CHECK(!vls_pmap_seek(&c, &map, VLS_STR("l")));
    CHECK(!vls_pmap_seek(&c, &map, VLS_STR("k1")));
}

/* ---- out of memory ---- */

typedef int change(vls_pmap *map, void *item);

static int change_put(vls_pmap *map, void *item)
{
    return vls_pmap_put(NULL, map, item);
}

static int change_remove(vls_pmap *map, void *item)
{
    return vls_pmap_remove(NULL, map, thing_key(item));
}

/* Let each allocation of the change fail in turn. The map must then be as before, or, where the
 * one that failed was not needed, as after. */
static size_t starve(counting_env *c, const vls_pmap *base, change *fn, thing *item, model *before,
                     model *after)
{
    for (size_t n = 0;; n++) {
        vls_pmap maps[2] = {*base};
        vls_pmap_snapshot(&maps[1], base);
        counting_env_fail_at(c, (long long)n);
        int rc = fn(&maps[1], item);
        bool failed = atomic_load(&c->failed);
        counting_env_fail_at(c, -1);

        CHECK(rc == 0 || (rc == VALISE_E_NO_MEMORY && failed));
        CHECK(model_matches(rc == 0 ? after : before, &maps[1]));
        CHECK(model_matches(before, base));
        check_tree(&maps[1], true);
        check_tree(base, true);
        check_counts(maps, (model[]){*before, *after}, 2);

        /* What is left must be good to go on with. */
        CHECK(rc == 0 || fn(&maps[1], item) == 0);
        CHECK(model_matches(after, &maps[1]));
        check_tree(&maps[1], true);
        vls_pmap_release(&maps[1]);
        if (!failed)
            return n;
    }
}

/* Sizes at which roots split and shrink, every position. */
TEST(pmap, every_allocation_fails)
{
    static const unsigned sizes[] = {1, VLS_PMAP_FANOUT, VLS_PMAP_FANOUT + 1,
                                     VLS_PMAP_FANOUT > 8 ? 100 : 64, VLS_PMAP_FANOUT > 8 ? 0 : 130};
    counting_env c;
    size_t failures = 0;

    counting_env_init(&c);
    for (unsigned s = 0; s < VLS_COUNT(sizes) * 2; s++) {
        unsigned n = sizes[s / 2];
        vls_pmap base;
        model before = {0};
        vls_pmap_cursor cursor;

        build(&base, &c.env, s % 2 ? ASCENDING : MIXED, n);
        for (void *item = vls_pmap_first(&cursor, &base); item; item = vls_pmap_next(&cursor))
            model_put(&before, item);
        for (unsigned i = 0; i < 3 * n; i++) {
            valise_str key = numbered("run:1:item:", i / 3);
            if (i % 3 == 2)
                key = valise_str_of(test_format("%.*s+", VALISE_STR_ARG(key)));
            thing *item = thing_new(&c.env, key);
            model after;
            model_copy(&after, &before);
            if (i % 3 == 0) {
                CHECK(model_remove(&after, key));
                failures += starve(&c, &base, change_remove, item, &before, &after);
                thing_unref(item);
            } else {
                model_put(&after, item);
                thing_unref(item); /* the model's reference is left, for check_counts */
                failures += starve(&c, &base, change_put, item, &before, &after);
            }
            model_release(&after);
        }
        model_release(&before);
        vls_pmap_release(&base);
        CHECK_INT(0, counting_env_in_use(&c));
    }
    test_note("%zu failed allocations", failures);
    CHECK(failures > 1000);
}

/* Without a snapshot remove allocates nothing, so it cannot fail. */
TEST(pmap, remove_needs_no_memory)
{
    vls_pmap map;
    counting_env c;
    unsigned n = 20 * VLS_PMAP_FANOUT;

    counting_env_init(&c);
    build(&map, &c.env, MIXED, n);
    for (unsigned i = 0; i < n; i++) {
        counting_env_fail_at(&c, 0);
        CHECK_OK(vls_pmap_remove(NULL, &map, numbered("run:1:item:", nth(MIXED, i, n))));
        CHECK(!atomic_load(&c.failed));
        if (i % 16 == 0)
            check_tree(&map, false);
    }
    CHECK_INT(0, counting_env_in_use(&c));
}

/* When a neighbour is shared and cannot be copied, a node gets ever sparser until it is dropped,
 * and then the one above it. */
TEST(pmap, sparse_nodes_go_when_nothing_can_be_copied)
{
    vls_pmap maps[2];
    counting_env c;
    /* Appending left FANOUT - 1 in every node: the second node above the leaves, all of it, while
     * its neighbours stay shared. */
    unsigned from = (VLS_PMAP_FANOUT - 1) * (VLS_PMAP_FANOUT - 1), to = 2 * from, n = 3 * from;
    unsigned starved = 0;

    counting_env_init(&c);
    build(&maps[0], &c.env, ASCENDING, n);
    vls_pmap_snapshot(&maps[1], &maps[0]);
    for (unsigned i = from; i < to; i++) {
        /* Putting makes the way our own, so that removing copies neighbours only. */
        CHECK_OK(put_key(&maps[0], &c.env, numbered("run:1:item:", i)));
        counting_env_fail_from(&c, 0);
        CHECK_OK(vls_pmap_remove(NULL, &maps[0], numbered("run:1:item:", i)));
        starved += atomic_load(&c.failed);
        counting_env_fail_from(&c, -1);
        check_tree(&maps[0], true);
    }
    CHECK(starved > VLS_PMAP_FANOUT);
    CHECK_INT(n - (to - from), maps[0].len);
    check_tree(&maps[1], false);
    check_counts(maps, NULL, 2);
    for (unsigned i = 0; i < n; i++) {
        bool kept = i < from || i >= to;
        CHECK((vls_pmap_get(&maps[0], numbered("run:1:item:", i)) != NULL) == kept);
        CHECK(vls_pmap_get(&maps[1], numbered("run:1:item:", i)));
    }
    vls_pmap_release(&maps[0]);
    vls_pmap_release(&maps[1]);
    CHECK_INT(0, counting_env_in_use(&c));
}

TEST(pmap, height_has_a_limit)
{
    VLS_AUTO(pmap) vls_pmap map;
    unsigned n = 0;
    int rc;

    if (VLS_PMAP_MAX_HEIGHT > 8)
        SKIP("needs the build with low trees");
    vls_pmap_init(&map, t->env, &thing_ops);
    while ((rc = put_key(&map, t->env, numbered("", 999999 - n))) == 0)
        n++;
    CHECK_INT(VALISE_E_LIMIT, rc);
    CHECK_INT(n, map.len);
    check_tree(&map, false);
    CHECK(!vls_pmap_get(&map, numbered("", 999999 - n)));
    CHECK_OK(put_key(&map, t->env, numbered("", 999999))); /* replacing needs no room */
    for (unsigned i = 0; i < n; i++)
        CHECK_OK(vls_pmap_remove(NULL, &map, numbered("", 999999 - i)));
    CHECK_INT(0, map.len);
}
