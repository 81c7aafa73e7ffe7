/* arena.c -- memory that is freed all at once. Every test holds in both modes: blocks, and one
 * malloc each (VLS_ARENA_SINGLE). */
#include "base/arena.h"
#include "harness/counting_env.h"
#include "harness/test.h"

#ifdef VLS_ARENA_SINGLE
static const bool single = true;
#else
static const bool single = false;
#endif

static const size_t sizes[] = {1, 2, 15, 16, 17, 31, 33, 100, 4000, 4096, 5000, 1, 70000, 3};

TEST(arena, blocks_are_aligned_and_apart)
{
    VLS_AUTO(arena) vls_arena arena;
    unsigned char *ptrs[VLS_COUNT(sizes) * 20];

    vls_arena_init(&arena, t->env, SIZE_MAX);
    for (unsigned i = 0; i < VLS_COUNT(ptrs); i++) {
        size_t size = sizes[i % VLS_COUNT(sizes)];
        ptrs[i] = vls_arena_alloc(&arena, size);
        CHECK(ptrs[i] && (uintptr_t)ptrs[i] % 16 == 0);
        memset(ptrs[i], (int)(i % 251), size);
    }
    for (unsigned i = 0; i < VLS_COUNT(ptrs); i++) {
        for (size_t k = 0; k < sizes[i % VLS_COUNT(sizes)]; k++)
            CHECK_INT(i % 251, ptrs[i][k]);
    }
    CHECK_INT(arena.used, test_bytes_in_use(t));
}

TEST(arena, zeroed_and_released_ones_are_fine)
{
    vls_arena arena = {0};

    vls_arena_release(&arena);
    vls_arena_reset(&arena);
    vls_arena_init(&arena, t->env, 100000);
    CHECK(vls_arena_alloc(&arena, 10));
    vls_arena_release(&arena);
    CHECK_INT(0, arena.used);
    vls_arena_release(&arena);
    char *again = vls_arena_alloc(&arena, 10); /* usable again */
    CHECK(again && arena.used >= 10);
    memset(again, 'a', 10);
    vls_arena_release(&arena);
}

/* NULL means failure to every caller, so nothing must not be NULL, block or no block. */
TEST(arena, a_size_of_zero_gives_a_pointer_even_before_the_first_block)
{
    VLS_AUTO(arena) vls_arena arena;
    valise_str copy = {NULL, 7};

    vls_arena_init(&arena, t->env, SIZE_MAX);
    CHECK(vls_arena_alloc(&arena, 0) != NULL);
    CHECK(vls_arena_zalloc(&arena, 0) != NULL);
    CHECK(vls_arena_array(&arena, 0, 16) != NULL);
    CHECK(vls_arena_array(&arena, 16, 0) != NULL);
    CHECK_OK(vls_arena_dup(&copy, &arena, (valise_str){NULL, 0}, &t->err));
    CHECK(copy.len == 0 && copy.ptr[0] == '\0');
}

TEST(arena, zalloc_zeroes_memory_that_was_used_before)
{
    VLS_AUTO(arena) vls_arena arena;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    for (unsigned round = 0; round < 3; round++) {
        unsigned char *bytes = vls_arena_zalloc(&arena, 500);
        for (unsigned i = 0; i < 500; i++)
            CHECK_INT(0, bytes[i]);
        memset(bytes, 0xEE, 500);
        vls_arena_reset(&arena);
    }
}

TEST(arena, dup_copies_and_ends_in_nul)
{
    VLS_AUTO(arena) vls_arena arena;
    char text[] = "a\0b";
    valise_str copy;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    CHECK_OK(vls_arena_dup(&copy, &arena, (valise_str){text, 3}, &t->err));
    text[0] = 'x';
    CHECK_STR(((valise_str){"a\0b", 3}), copy);
    CHECK(copy.ptr[3] == '\0');
}

/* ---- limits ---- */

TEST(arena, stops_at_its_maximum_and_says_so)
{
    VLS_AUTO(arena) vls_arena arena;
    size_t got = 0;
    valise_str kept = {"before", 6};

    vls_arena_init(&arena, t->env, 50000);
    while (vls_arena_alloc(&arena, 1000))
        got++;
    /* Headers take a little; whatever still fits is given. */
    CHECK(got >= 46 && got <= 50);
    CHECK(arena.used <= arena.max && test_bytes_in_use(t) == arena.used);
    CHECK_RC(VALISE_E_TOO_LARGE, vls_arena_fail(&arena, &t->err));
    CHECK(strstr(t->err.message, "50000"));
    CHECK_RC(VALISE_E_TOO_LARGE, vls_arena_fail(&arena, NULL));
    CHECK_RC(VALISE_E_TOO_LARGE,
             vls_arena_dup(&kept, &arena, (valise_str){t->err.message, 5000}, &t->err));
    CHECK_STR(VLS_STR("before"), kept);

    /* Something smaller may still fit, and after a reset all of it does again. */
    vls_arena_reset(&arena);
    CHECK(vls_arena_alloc(&arena, 1000));
    vls_arena_release(&arena);
    for (size_t i = 0; i < got; i++)
        CHECK(vls_arena_alloc(&arena, 1000));
}

TEST(arena, tiny_maximum)
{
    VLS_AUTO(arena) vls_arena arena;

    vls_arena_init(&arena, t->env, 0);
    CHECK(!vls_arena_alloc(&arena, 1));
    CHECK_RC(VALISE_E_TOO_LARGE, vls_arena_fail(&arena, NULL));
    vls_arena_init(&arena, t->env, 32); /* a header and 16 bytes */
    CHECK(vls_arena_alloc(&arena, 16));
    CHECK(!vls_arena_alloc(&arena, 16));
}

TEST(arena, sizes_that_overflow)
{
    VLS_AUTO(arena) vls_arena arena;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    /* Rounded up, and with a header in front. */
    for (size_t back = 0; back < 16; back++) {
        CHECK(!vls_arena_alloc(&arena, SIZE_MAX - back));
        CHECK_RC(VALISE_E_TOO_LARGE, vls_arena_fail(&arena, NULL));
    }
    arena.max = SIZE_MAX - 1; /* what is not too large to count is still over the maximum */
    for (size_t back = 16; back < 64; back++) {
        arena.used = 64;
        CHECK(!vls_arena_alloc(&arena, SIZE_MAX - back));
        CHECK_RC(VALISE_E_TOO_LARGE, vls_arena_fail(&arena, NULL));
    }
    arena.used = 0;
    CHECK(!vls_arena_array(&arena, SIZE_MAX / 8 + 1, 8));
    CHECK_RC(VALISE_E_TOO_LARGE, vls_arena_fail(&arena, NULL));
    CHECK(!vls_arena_array(&arena, SIZE_MAX, SIZE_MAX));
    CHECK_RC(VALISE_E_TOO_LARGE, vls_arena_fail(&arena, NULL));
    CHECK(vls_arena_array(&arena, 10, 8));
    CHECK_INT(arena.used, test_bytes_in_use(t));
}

/* The reason is that of the last failure, not of one before it. */
TEST(arena, says_why_the_last_allocation_failed)
{
    VLS_AUTO(arena) vls_arena arena;
    counting_env c;

    counting_env_init(&c);
    vls_arena_init(&arena, &c.env, SIZE_MAX);
    for (unsigned way = 0; way < 2; way++) {
        counting_env_fail_at(&c, 0);
        CHECK(!vls_arena_alloc(&arena, 10));
        CHECK_RC(VALISE_E_NO_MEMORY, vls_arena_fail(&arena, NULL));
        CHECK(way ? !vls_arena_alloc(&arena, SIZE_MAX) : !vls_arena_array(&arena, SIZE_MAX, 2));
        CHECK_RC(VALISE_E_TOO_LARGE, vls_arena_fail(&arena, NULL));
    }
}

TEST(arena, every_allocation_fails)
{
    for (long long n = 0;; n++) {
        counting_env c;
        vls_arena arena;
        valise_str copy = {"before", 6};
        int rc = 0;

        counting_env_init(&c);
        vls_arena_init(&arena, &c.env, SIZE_MAX);
        counting_env_fail_at(&c, n);
        for (unsigned i = 0; i < 40 && rc == 0; i++)
            rc = vls_arena_alloc(&arena, 900) ? 0 : vls_arena_fail(&arena, &t->err);
        if (rc == 0)
            rc = vls_arena_dup(&copy, &arena, (valise_str){t->err.message, 300}, &t->err);
        bool failed = atomic_load(&c.failed);
        counting_env_fail_at(&c, -1);
        CHECK_RC(failed ? VALISE_E_NO_MEMORY : 0, rc);
        if (failed)
            CHECK_STR(VLS_STR("before"), copy);
        CHECK(vls_arena_alloc(&arena, 900)); /* goes on when there is memory again */
        vls_arena_release(&arena);
        CHECK_INT(0, counting_env_in_use(&c));
        if (!failed) {
            CHECK(n >= 4);
            return;
        }
    }
}

/* ---- going back ---- */

TEST(arena, reset_keeps_some_memory)
{
    VLS_AUTO(arena) vls_arena arena;
    counting_env c;

    counting_env_init(&c);
    vls_arena_init(&arena, &c.env, SIZE_MAX);
    for (unsigned i = 0; i < 100; i++)
        CHECK(vls_arena_alloc(&arena, 1000));
    size_t before = arena.used;
    vls_arena_reset(&arena);
    CHECK(arena.used < before && (arena.used > 0) == !single);
    CHECK_INT(arena.used, counting_env_in_use(&c));

    /* A round as large as the last needs few new blocks. */
    long long calls = atomic_load(&c.calls);
    for (unsigned i = 0; i < 60; i++)
        CHECK(vls_arena_alloc(&arena, 1000));
    CHECK(single || atomic_load(&c.calls) - calls <= 1);
    vls_arena_release(&arena);
    CHECK_INT(0, counting_env_in_use(&c));
}

/* Round after round in the memory of the first. */
TEST(arena, reset_gives_all_of_it_back)
{
    VLS_AUTO(arena) vls_arena arena;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    CHECK(vls_arena_alloc(&arena, 1000));
    size_t used = arena.used;
    for (unsigned i = 0; i < 100; i++) {
        vls_arena_reset(&arena);
        CHECK(vls_arena_alloc(&arena, 1000));
        CHECK_INT(used, arena.used);
    }
}

/* Blocks stop doubling, so that a large arena is not half empty. */
TEST(arena, takes_little_more_than_is_used)
{
    enum { COUNT = 8500, SIZE = 1008 };
    VLS_AUTO(arena) vls_arena arena;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    for (unsigned i = 0; i < COUNT; i++)
        CHECK(vls_arena_alloc(&arena, SIZE));
    CHECK(arena.used < COUNT * (SIZE + 32) + (1u << 20));
}

TEST(arena, rewind_forgets_what_came_after)
{
    VLS_AUTO(arena) vls_arena arena;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_arena_mark empty = vls_arena_here(&arena);
    char *kept = vls_arena_alloc(&arena, 100);
    memset(kept, 'k', 100);
    for (unsigned round = 0; round < 20; round++) {
        vls_arena_mark mark = vls_arena_here(&arena);
        size_t used = arena.used;
        for (unsigned i = 0; i < round * 10; i++) {
            char *gone = vls_arena_alloc(&arena, 500 + i);
            CHECK(gone);
            memset(gone, 'g', 500 + i);
        }
        vls_arena_rewind(&arena, mark);
        CHECK_INT(used, arena.used);
        CHECK_INT(used, test_bytes_in_use(t));
        vls_arena_rewind(&arena, mark); /* again: nothing */
        CHECK_INT(used, arena.used);
    }
    for (unsigned i = 0; i < 100; i++)
        CHECK(kept[i] == 'k');
    vls_arena_rewind(&arena, empty);
    CHECK_INT(0, arena.used);
    CHECK(vls_arena_alloc(&arena, 10));
}

/* Marks within marks, as nested scopes take them. */
TEST(arena, rewind_nests)
{
    VLS_AUTO(arena) vls_arena arena;
    vls_arena_mark marks[30];
    size_t used[30];

    vls_arena_init(&arena, t->env, SIZE_MAX);
    for (unsigned i = 0; i < VLS_COUNT(marks); i++) {
        marks[i] = vls_arena_here(&arena);
        used[i] = arena.used;
        CHECK(vls_arena_alloc(&arena, i * 333 + 1));
    }
    for (unsigned i = VLS_COUNT(marks); i-- > 0; i -= i > 2 ? 2 : 0) {
        vls_arena_rewind(&arena, marks[i]);
        CHECK_INT(used[i], arena.used);
    }
}

/* What a rewind gave back is used again. */
TEST(arena, rewind_frees_room_below_the_maximum)
{
    VLS_AUTO(arena) vls_arena arena;

    vls_arena_init(&arena, t->env, 20000);
    for (unsigned i = 0; i < 100; i++) {
        vls_arena_mark mark = vls_arena_here(&arena);
        CHECK(vls_arena_alloc(&arena, 15000));
        CHECK(!vls_arena_alloc(&arena, 15000));
        vls_arena_rewind(&arena, mark);
    }
}

/* Whatever lies in front of it or behind it, its bytes go with it. */
TEST(arena, resizes_what_was_allocated)
{
    VLS_AUTO(arena) vls_arena arena;
    char *ptr = NULL;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    CHECK(vls_arena_alloc(&arena, 10));
    for (size_t i = 1; i < VLS_COUNT(sizes); i++) {
        size_t old = ptr ? sizes[i - 1] : 0, size = sizes[i];
        ptr = vls_arena_resize(&arena, ptr, old, size);
        CHECK(ptr && (uintptr_t)ptr % 16 == 0);
        for (size_t k = 0; k < VLS_MIN(old, size); k++)
            CHECK_INT((int)(i - 1), ptr[k]);
        memset(ptr, (int)i, size);
        if (i % 3 == 0)
            memset(vls_arena_alloc(&arena, 20), 'x', 20); /* it is no longer the newest */
    }
}

TEST(arena, the_newest_is_resized_in_place)
{
    VLS_AUTO(arena) vls_arena arena;
    char *ptr, *behind;

    if (single)
        SKIP("each is a malloc of its own");
    vls_arena_init(&arena, t->env, SIZE_MAX);
    ptr = vls_arena_alloc(&arena, 10);
    CHECK(vls_arena_resize(&arena, ptr, 10, 1000) == ptr);
    CHECK(vls_arena_resize(&arena, ptr, 1000, 17) == ptr);
    behind = vls_arena_alloc(&arena, 1);
    CHECK(behind == ptr + 32);
    CHECK(vls_arena_resize(&arena, ptr, 17, 1) == ptr); /* the others stay where they are */
    CHECK(vls_arena_resize(&arena, ptr, 17, 18) != ptr);
    CHECK(vls_arena_alloc(&arena, 1) > (void *)behind);
}

TEST(arena, what_cannot_be_resized_stays)
{
    VLS_AUTO(arena) vls_arena arena;
    char *ptr;

    vls_arena_init(&arena, t->env, 6000);
    ptr = vls_arena_alloc(&arena, 10);
    memcpy(ptr, "012345678", 10);
    CHECK(!vls_arena_resize(&arena, ptr, 10, 100000));
    CHECK_RC(VALISE_E_TOO_LARGE, vls_arena_report(&arena, &t->err));
    CHECK(!vls_arena_resize(&arena, ptr, 10, SIZE_MAX));
    CHECK_TEXT("012345678", ptr);
}
