/* align.c -- matching the items of two arrays, judged by the textbook's longest common
 * subsequence. */
#include "harness/test.h"

#include "json/align.h"
#include "values.h"

#define SMALL 40

static size_t longest_common(vls_json a, vls_json b)
{
    size_t best[SMALL + 1][SMALL + 1] = {{0}};

    for (size_t i = 0; i < a.len; i++) {
        for (size_t j = 0; j < b.len; j++)
            best[i + 1][j + 1] = vls_json_equal(a.items[i], b.items[j])
                                     ? best[i][j] + 1
                                     : VLS_MAX(best[i][j + 1], best[i + 1][j]);
    }
    return best[a.len][b.len];
}

/* Matches must be of equal items, in order; how many there are. */
static size_t check_matches(const uint32_t *match, vls_json a, vls_json b)
{
    size_t next = 0, count = 0;

    for (size_t i = 0; i < a.len; i++) {
        if (match[i] == VLS_ALIGN_NONE)
            continue;
        CHECK(match[i] >= next && match[i] < b.len);
        CHECK(vls_json_equal(a.items[i], b.items[match[i]]));
        next = (size_t)match[i] + 1;
        count++;
    }
    return count;
}

static size_t align(test *t, vls_arena *arena, vls_json a, vls_json b, uint64_t work)
{
    const uint32_t *match;

    CHECK_OK(vls_align_arrays(&match, arena, a, b, &work, &t->err));
    return check_matches(match, a, b);
}

static vls_json random_array(test_rng *rng, vls_arena *arena, size_t count, uint64_t kinds)
{
    vls_json *items = vls_arena_array(arena, count, sizeof(vls_json));

    CHECK(items);
    for (size_t i = 0; i < count; i++)
        items[i] = vls_json_int((int64_t)test_random_below(rng, kinds));
    return vls_json_array(items, count);
}

TEST(align, small_arrays_are_matched_as_well_as_possible)
{
    test_rng rng = test_rng_new(test_seed());

    for (int round = 0; round < 1000; round++) {
        VLS_AUTO(arena) vls_arena arena;
        uint64_t kinds = 1 + test_random_below(&rng, 12);
        vls_arena_init(&arena, t->env, SIZE_MAX);
        vls_json a = random_array(&rng, &arena, test_random_below(&rng, SMALL + 1), kinds);
        vls_json b = random_array(&rng, &arena, test_random_below(&rng, SMALL + 1), kinds);
        CHECK_INT(longest_common(a, b), align(t, &arena, a, b, UINT64_MAX));
    }
}

TEST(align, containers_are_matched_by_what_is_in_them)
{
    VLS_AUTO(arena) vls_arena arena;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json a = values_parse(t, &arena, "[{\"x\":[1]},\"s\",[],{},null,true,1.5,false,-1]");
    vls_json b = values_parse(t, &arena, "[0,\"s\",[],{\"x\":[1]},{},null,1.5,true,false,7]");
    CHECK_INT(longest_common(a, b), align(t, &arena, a, b, UINT64_MAX));
    CHECK_INT(6, longest_common(a, b));
}

/* More edits than one triangle holds: the search goes on from the furthest point. */
TEST(align, large_arrays_are_matched_in_pieces)
{
    test_rng rng = test_rng_new(test_seed());
    VLS_AUTO(arena) vls_arena arena;
    uint64_t work = 100 * 1000 * 1000, before = work;
    const uint32_t *match;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json a = random_array(&rng, &arena, 5000, 500);
    vls_json b = random_array(&rng, &arena, 6000, 500);
    CHECK_OK(vls_align_arrays(&match, &arena, a, b, &work, &t->err));
    size_t count = check_matches(match, a, b);
    test_note("%zu of 5000 items matched with %ju steps", count, (uintmax_t)(before - work));
    CHECK(count > 300);
    CHECK(before - work < (5000 + 6000) * 300);
}

TEST(align, far_apart_changes_in_a_large_array_cost_little)
{
    VLS_AUTO(arena) vls_arena arena;
    uint64_t work = 10 * 1000 * 1000;
    const uint32_t *match;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json a = values_numbers(&arena, 100000, 0);
    vls_json *items = vls_arena_array(&arena, 100002, sizeof(vls_json));
    CHECK(items);
    memcpy(items, a.items, 10 * sizeof(vls_json));
    items[10] = vls_json_int(-1);
    memcpy(items + 11, a.items + 10, 99900 * sizeof(vls_json));
    items[99911] = vls_json_int(5);
    memcpy(items + 99912, a.items + 99910, 90 * sizeof(vls_json));
    vls_json b = vls_json_array(items, 100002);
    CHECK_OK(vls_align_arrays(&match, &arena, a, b, &work, &t->err));
    CHECK_INT(100000, check_matches(match, a, b));
    CHECK(work > 9 * 1000 * 1000);
}

TEST(align, with_little_work_it_matches_less_but_nothing_wrong)
{
    test_rng rng = test_rng_new(test_seed());

    for (uint64_t work = 0; work < 400; work++) {
        VLS_AUTO(arena) vls_arena arena;
        vls_arena_init(&arena, t->env, SIZE_MAX);
        vls_json a = random_array(&rng, &arena, SMALL, 10);
        vls_json b = random_array(&rng, &arena, SMALL, 10);
        CHECK(align(t, &arena, a, b, work) <= longest_common(a, b));
    }
}

TEST(align, shared_children_are_the_same_without_looking)
{
    VLS_AUTO(arena) vls_arena arena;
    uint64_t work = 1;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json a = values_numbers(&arena, 1000, 0);
    vls_json b = values_numbers(&arena, 1000, 0);
    CHECK(vls_align_identical(a, a) && vls_align_same(a, a, &work));
    CHECK_INT(0, work);
    work = 500;
    CHECK(!vls_align_identical(a, b) && !vls_align_same(a, b, &work));
    work = 1001;
    CHECK(vls_align_same(a, b, &work));
}
