/* diff.c -- making patches: what they look like, that they always work, what they cost. */
#include "harness/test.h"

#include "harness/fault.h"
#include "json/diff.h"
#include "json/patch.h"
#include "values.h"

/* The patch from a to b, which must work. */
static vls_json diff(test *t, vls_arena *arena, vls_json a, vls_json b,
                     const vls_diff_options *options)
{
    vls_json patch, result;

    CHECK_OK(vls_json_diff(&patch, arena, a, b, options, &t->err));
    CHECK_OK(vls_json_patch(&result, arena, a, patch, NULL, &t->err));
    CHECK_MSG(vls_json_equal(result, b), "%s instead of %s by %s", values_text(t, result),
              values_text(t, b), values_text(t, patch));
    return patch;
}

static const char *diff_text(test *t, const char *a, const char *b, uint32_t flags)
{
    vls_diff_options options = {.flags = flags};
    VLS_AUTO(arena) vls_arena arena;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    return values_text(
        t, diff(t, &arena, values_parse(t, &arena, a), values_parse(t, &arena, b), &options));
}

TEST(diff, patches_say_little_and_in_order)
{
    static const char *const cases[][3] = {
        {"1", "1", "[]"},
        {"1", "2", "[{\"op\":\"replace\",\"path\":\"\",\"value\":2}]"},
        {"{}", "[]", "[{\"op\":\"replace\",\"path\":\"\",\"value\":[]}]"},
        {"{\"a\":1,\"b\":2,\"c\":3}", "{\"b\":5,\"c\":3,\"d\":4}",
         "[{\"op\":\"remove\",\"path\":\"/a\"},"
         "{\"op\":\"replace\",\"path\":\"/b\",\"value\":5},"
         "{\"op\":\"add\",\"path\":\"/d\",\"value\":4}]"},
        {"{\"x/y\":{\"m~n\":1}}", "{\"x/y\":{\"m~n\":2}}",
         "[{\"op\":\"replace\",\"path\":\"/x~1y/m~0n\",\"value\":2}]"},
        /* ends stay, the middle is one removal */
        {"[1,2,3,4,5]", "[1,2,4,5]", "[{\"op\":\"remove\",\"path\":\"/2\"}]"},
        {"[1,2,4,5]", "[1,2,3,4,5]", "[{\"op\":\"add\",\"path\":\"/2\",\"value\":3}]"},
        {"[1,2,3,4,5,6]", "[2,3,9,4,6,7]",
         "[{\"op\":\"remove\",\"path\":\"/0\"},"
         "{\"op\":\"add\",\"path\":\"/2\",\"value\":9},"
         "{\"op\":\"remove\",\"path\":\"/4\"},"
         "{\"op\":\"add\",\"path\":\"/5\",\"value\":7}]"},
        /* several gone at once: the last first */
        {"[1,2,3,4,5,6]", "[1,4,5,6]",
         "[{\"op\":\"remove\",\"path\":\"/2\"},{\"op\":\"remove\",\"path\":\"/1\"}]"},
        /* a changed item is edited where it stands, behind an insertion */
        {"[{\"id\":1,\"n\":\"a\"},{\"id\":2,\"n\":\"b\"}]",
         "[0,{\"id\":1,\"n\":\"a\"},{\"id\":2,\"n\":\"c\"}]",
         "[{\"op\":\"add\",\"path\":\"/0\",\"value\":0},"
         "{\"op\":\"replace\",\"path\":\"/2/n\",\"value\":\"c\"}]"},
        /* all items differ: the new array is shorter than the edits */
        {"{\"l\":[1,2,3]}", "{\"l\":[4,5,6]}",
         "[{\"op\":\"replace\",\"path\":\"/l\",\"value\":[4,5,6]}]"},
        {"{\"l\":[1,2,3,4,5]}", "{\"l\":[]}",
         "[{\"op\":\"replace\",\"path\":\"/l\",\"value\":[]}]"},
        /* long text that stays counts against replacing what it is in */
        {"{\"l\":[1,2,3,4,\"a text of more than thirty-two bytes that does not change at all, "
         "which a replacement of the array would have to say once again\"]}",
         "{\"l\":[\"a text of more than thirty-two bytes that does not change at all, which a "
         "replacement of the array would have to say once again\"]}",
         "[{\"op\":\"remove\",\"path\":\"/l/3\"},{\"op\":\"remove\",\"path\":\"/l/2\"},"
         "{\"op\":\"remove\",\"path\":\"/l/1\"},{\"op\":\"remove\",\"path\":\"/l/0\"}]"},
        /* keys count as much as values */
        {"[{\"a\":1}]", "[{\"b\":1}]",
         "[{\"op\":\"remove\",\"path\":\"/0/a\"},{\"op\":\"add\",\"path\":\"/0/b\",\"value\":1}]"},
        {"[{\"a\":1},{\"a\":1},{\"a\":1}]", "[{\"a\":1},{\"a\":1}]",
         "[{\"op\":\"remove\",\"path\":\"/2\"}]"},
    };

    for (size_t i = 0; i < VLS_COUNT(cases); i++)
        CHECK_TEXT(cases[i][2], diff_text(t, cases[i][0], cases[i][1], 0));
}

TEST(diff, tests_stand_before_what_they_guard)
{
    CHECK_TEXT("[{\"op\":\"test\",\"path\":\"/a\",\"value\":1},{\"op\":\"remove\",\"path\":\"/a\"},"
               "{\"op\":\"test\",\"path\":\"/b\",\"value\":2},"
               "{\"op\":\"replace\",\"path\":\"/b\",\"value\":3},"
               "{\"op\":\"add\",\"path\":\"/d\",\"value\":4}]",
               diff_text(t, "{\"a\":1,\"b\":2,\"c\":[5,6,7]}", "{\"b\":3,\"c\":[5,6,7],\"d\":4}",
                         VLS_DIFF_WITH_TESTS));
    CHECK_TEXT(
        "[{\"op\":\"test\",\"path\":\"/1\",\"value\":[8]},{\"op\":\"remove\",\"path\":\"/1\"}]",
        diff_text(t, "[9,[8],7]", "[9,7]", VLS_DIFF_WITH_TESTS));
}

TEST(diff, a_guarded_patch_refuses_another_document)
{
    vls_diff_options options = {.flags = VLS_DIFF_WITH_TESTS};
    VLS_AUTO(arena) vls_arena arena;
    vls_json result;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json a = values_parse(t, &arena, "{\"x\":[1,2,3]}");
    vls_json b = values_parse(t, &arena, "{\"x\":[1,3]}");
    vls_json other = values_parse(t, &arena, "{\"x\":[1,4,3]}");
    vls_json patch = diff(t, &arena, a, b, &options);
    CHECK_RC(VALISE_E_CONFLICT, vls_json_patch(&result, &arena, other, patch, NULL, &t->err));
    CHECK_TEXT("patch[0] test /x/1: value is 4, expected 2", t->err.message);
}

TEST(diff, random_documents_become_each_other)
{
    test_rng rng = test_rng_new(test_seed());
    size_t ops = 0;

    for (int round = 0; round < 3000; round++) {
        vls_diff_options options = {.flags = test_random_below(&rng, 2)};
        VLS_AUTO(arena) vls_arena arena;
        vls_arena_init(&arena, t->env, SIZE_MAX);
        vls_json a = values_random(&rng, &arena, 5);
        vls_json b = test_random_below(&rng, 4) ? values_edited(&rng, &arena, a, 6)
                                                : values_random(&rng, &arena, 5);
        const char *a_text = values_text(t, a), *b_text = values_text(t, b);

        /* Sometimes with next to no work allowed: coarser, but as right. */
        if (test_random_below(&rng, 3) == 0)
            options.max_work = 1 + test_random_below(&rng, 60);
        vls_json patch = diff(t, &arena, a, b, &options);
        CHECK_TEXT(a_text, values_text(t, a));
        CHECK_TEXT(b_text, values_text(t, b));

        /* The patch survives being written and read. */
        vls_json again = values_parse(t, &arena, values_text(t, patch)), result;
        CHECK_OK(vls_json_patch(&result, &arena, a, again, NULL, &t->err));
        CHECK_TEXT(b_text, values_text(t, result));

        /* Equal values that share nothing differ in nothing, however little is allowed. */
        vls_json twin = values_parse(t, &arena, a_text);
        CHECK_INT(0, diff(t, &arena, a, twin, &options).len);
        ops += patch.len;
    }
    test_note("%zu operations in 3000 patches", ops);
    CHECK(ops > 3000);
}

TEST(diff, the_same_values_give_the_same_patch)
{
    test_rng rng = test_rng_new(test_seed());

    for (int round = 0; round < 200; round++) {
        VLS_AUTO(arena) vls_arena arena, other;
        vls_arena_init(&arena, t->env, SIZE_MAX);
        vls_arena_init(&other, t->env, SIZE_MAX);
        vls_json a = values_random(&rng, &arena, 4);
        vls_json b = values_random(&rng, &arena, 4);
        const char *first = values_text(t, diff(t, &arena, a, b, NULL));
        a = values_parse(t, &other, values_text(t, a));
        b = values_parse(t, &other, values_text(t, b));
        CHECK_TEXT(first, values_text(t, diff(t, &other, a, b, NULL)));
    }
}

/* ---- size ---- */

/* a with some items left out or put in. */
static vls_json thinned(vls_arena *arena, vls_json a, size_t every, size_t offset)
{
    vls_json *items = vls_arena_array(arena, a.len, sizeof(vls_json));
    size_t count = 0;

    CHECK(items);
    for (size_t i = 0; i < a.len; i++) {
        if (i % every != offset)
            items[count++] = a.items[i];
    }
    return vls_json_array(items, count);
}

TEST(diff, few_changes_in_a_large_array_make_a_small_patch)
{
    VLS_AUTO(arena) vls_arena arena;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json a = values_numbers(&arena, 100000, 0);
    vls_json b = thinned(&arena, a, 40000, 7);
    CHECK_INT(3, diff(t, &arena, a, b, NULL).len);
    CHECK_INT(3, diff(t, &arena, b, a, NULL).len);
}

/* 25,000 removals would shift 20 GB: such a patch could not be applied, so there is a shorter. */
TEST(diff, patches_stay_within_the_work_a_patch_may_do)
{
    VLS_AUTO(arena) vls_arena arena;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json a = values_numbers(&arena, 100000, 0);
    vls_json b = thinned(&arena, a, 4, 1);
    vls_json patch =
        diff(t, &arena, values_nested(&arena, a, 1), values_nested(&arena, b, 1), NULL);
    CHECK_INT(1, patch.len);
    CHECK_STR(VLS_STR("replace"), vls_json_str(*vls_json_get(patch.items[0], VLS_STR("op"))));
    CHECK_STR(VLS_STR("/0"), vls_json_str(*vls_json_get(patch.items[0], VLS_STR("path"))));

    /* The same number of edits in a small array is no trouble. */
    a = values_numbers(&arena, 4000, 0);
    CHECK_INT(1000, diff(t, &arena, a, thinned(&arena, a, 4, 1), NULL).len);
}

TEST(diff, arrays_with_nothing_in_order_are_done_too)
{
    test_rng rng = test_rng_new(test_seed());
    VLS_AUTO(arena) vls_arena arena;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    for (size_t count = 10; count <= 3000; count *= 17) {
        vls_json a = values_numbers(&arena, count, 0);
        vls_json *items = vls_arena_array(&arena, count, sizeof(vls_json));
        CHECK(items);
        memcpy(items, a.items, count * sizeof(vls_json));
        for (size_t i = count - 1; i > 0; i--) {
            size_t k = test_random_below(&rng, i + 1);
            vls_json swapped = items[i];
            items[i] = items[k];
            items[k] = swapped;
        }
        vls_json b = vls_json_array(items, count);
        (void)diff(t, &arena, a, b, NULL);
        (void)diff(t, &arena, a, b, &(vls_diff_options){.max_work = count});
    }
}

/* Each path would repeat the long key: 40 MB of paths for 40 changes. */
TEST(diff, long_paths_are_not_said_over_and_over)
{
    size_t key_len = 1 << 20;
    VLS_AUTO(arena) vls_arena arena;
    vls_member *outer[2];
    vls_json a[2];

    vls_arena_init(&arena, t->env, SIZE_MAX);
    char *key = test_alloc(key_len);
    memset(key, 'k', key_len);
    for (int i = 0; i < 2; i++) {
        outer[i] = vls_arena_array(&arena, 2, sizeof(vls_member));
        CHECK(outer[i]);
        outer[i][0] = (vls_member){vls_json_string(VLS_STR("a")), vls_json_int(i)};
        outer[i][1] = (vls_member){vls_json_string(vls_str(key, key_len)),
                                   values_numbers(&arena, 40, i * 100)};
        CHECK_OK(vls_json_object(&a[i], outer[i], 2, &t->err));
    }
    vls_json patch = diff(t, &arena, a[0], a[1], NULL);
    CHECK_INT(2, patch.len);
    CHECK_INT(key_len + 1, vls_json_get(patch.items[1], VLS_STR("path"))->len);

    /* The same without weighing: the limit of path text alone must do it. */
    patch = diff(t, &arena, a[0], a[1], &(vls_diff_options){.max_work = 1});
    CHECK_INT(2, patch.len);
}

TEST(diff, documents_of_the_full_depth_are_done)
{
    VLS_AUTO(arena) vls_arena arena;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json a = values_nested(&arena, vls_json_int(1), VLS_JSON_MAX_DEPTH);
    vls_json b = values_nested(&arena, vls_json_int(2), VLS_JSON_MAX_DEPTH);
    vls_json patch = diff(t, &arena, a, b, NULL);
    CHECK_INT(1, patch.len);
    CHECK_INT(2 * VLS_JSON_MAX_DEPTH, vls_json_get(patch.items[0], VLS_STR("path"))->len);
    CHECK_INT(1, diff(t, &arena, a, values_nested(&arena, vls_json_int(2), 3), NULL).len);
}

/* ---- for people ---- */

typedef struct listing {
    vls_buf text;
    int stop_after;
} listing;

static int list_change(void *arg, valise_str path, const vls_json *before, const vls_json *after)
{
    listing *l = arg;

    vls_buf_printf(&l->text, "%.*s ", VALISE_STR_ARG(path));
    if (before)
        (void)vls_json_write(&l->text, *before, NULL);
    vls_buf_add_text(&l->text, "->");
    if (after)
        (void)vls_json_write(&l->text, *after, NULL);
    vls_buf_add_byte(&l->text, '\n');
    return --l->stop_after == 0 ? 42 : 0;
}

TEST(diff, changes_are_walked_in_order)
{
    VLS_AUTO(arena) vls_arena arena;
    listing l = {.stop_after = -1};

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_buf_init(&l.text, t->env, SIZE_MAX);
    vls_json a = values_parse(t, &arena, "{\"a\":1,\"b\":[1,2,3,4,5,[6]],\"c\":{\"x\":null}}");
    vls_json b = values_parse(t, &arena, "{\"b\":[0,1,4,5,[7]],\"c\":{\"x\":{}},\"d\":true}");
    size_t used = arena.used;
    CHECK_OK(vls_json_changes(&arena, a, b, NULL, list_change, &l, &t->err));
    CHECK_STR(VLS_STR("/a 1->\n"
                      "/b/0 ->0\n"
                      "/b/1 2->\n"
                      "/b/2 3->\n"
                      "/b/4/0 6->7\n"
                      "/c/x null->{}\n"
                      "/d ->true\n"),
              vls_buf_str(&l.text));
    CHECK_INT(used, arena.used);

    vls_buf_clear(&l.text);
    CHECK_OK(vls_json_changes(&arena, a, a, NULL, list_change, &l, &t->err));
    CHECK_INT(0, l.text.len);

    l.stop_after = 2;
    CHECK_INT(42, vls_json_changes(&arena, a, b, NULL, list_change, &l, &t->err));
    CHECK_STR(VLS_STR("/a 1->\n/b/0 ->0\n"), vls_buf_str(&l.text));
    vls_buf_release(&l.text);
}

static int diff_with_faults(fault *f, void *arg)
{
    const vls_json *sides = arg;
    vls_diff_options options = {.flags = VLS_DIFF_WITH_TESTS};
    VLS_AUTO(arena) vls_arena own;
    vls_json patch = vls_json_int(77);

    vls_arena_init(&own, f->env, SIZE_MAX);
    int rc = vls_json_diff(&patch, &own, sides[0], sides[1], &options, &f->err);
    CHECK(rc == 0 || (patch.integer == 77 && own.used == 0));
    return rc;
}

TEST(diff, every_allocation_may_fail)
{
    VLS_AUTO(arena) vls_arena arena;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json sides[] = {
        values_parse(t, &arena, "{\"a\":[1,2,3,[4,5,6],7],\"b\":{\"c\":\"text\"}}"),
        values_parse(t, &arena, "{\"a\":[0,1,3,[4,9,6],8],\"b\":{\"d\":\"text\"}}"),
    };
    /* Arenas of release builds take few blocks. */
    CHECK(fault_each_alloc(t, 0, diff_with_faults, sides) >= 2);
}
