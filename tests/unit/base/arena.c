/* arena.c -- memory that is freed all at once. */
#include "harness/test.h"

#include "base/arena.h"

/* Only builds without VLS_ARENA_SINGLE had it wrong: NULL means failure to every caller. */
TEST(arena, a_size_of_zero_gives_a_pointer_even_before_the_first_block)
{
    VLS_AUTO(arena) vls_arena arena;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    CHECK(vls_arena_alloc(&arena, 0) != NULL);
    CHECK(vls_arena_array(&arena, 0, 16) != NULL);
}
