/* mem.c -- allocation through the environment. */
#include "base/mem.h"

#include "harness/counting_env.h"
#include "harness/test.h"

TEST(mem, alloc_resize_free)
{
    unsigned char *bytes = vls_mem_zalloc(t->env, 100);

    for (unsigned i = 0; i < 100; i++)
        CHECK_INT(0, bytes[i]);
    memset(bytes, 7, 100);
    bytes = vls_mem_resize(t->env, bytes, 100, 1000);
    for (unsigned i = 0; i < 100; i++)
        CHECK_INT(7, bytes[i]);
    CHECK_INT(1000, test_bytes_in_use(t));
    bytes = vls_mem_resize(t->env, bytes, 1000, 10);
    CHECK_INT(7, bytes[9]);
    CHECK_INT(10, test_bytes_in_use(t));
    vls_mem_free(t->env, bytes, 10);
    vls_mem_free(t->env, NULL, 0);
    vls_mem_free(t->env, NULL, 99);
    CHECK_INT(0, test_bytes_in_use(t));
}

TEST(mem, failure_leaves_the_old_block)
{
    counting_env c;

    counting_env_init(&c);
    unsigned char *bytes = vls_mem_alloc(&c.env, 10);
    memset(bytes, 9, 10);
    counting_env_fail_at(&c, 0);
    CHECK(!vls_mem_resize(&c.env, bytes, 10, 20));
    CHECK_INT(9, bytes[9]);
    counting_env_fail_at(&c, 0);
    CHECK(!vls_mem_alloc(&c.env, 1));
    counting_env_fail_at(&c, 0);
    CHECK(!vls_mem_zalloc(&c.env, 1));
    CHECK(!vls_mem_alloc(&c.env, SIZE_MAX));
    CHECK_INT(10, counting_env_in_use(&c));
    vls_mem_free(&c.env, bytes, 10);
    CHECK_INT(0, counting_env_in_use(&c));
}

TEST(mem, multiply_finds_overflow)
{
    size_t out = 77;

    CHECK(vls_mem_multiply(&out, 3, 5) && out == 15);
    CHECK(vls_mem_multiply(&out, 0, SIZE_MAX) && out == 0);
    CHECK(vls_mem_multiply(&out, SIZE_MAX, 1) && out == SIZE_MAX);
    CHECK(vls_mem_multiply(&out, SIZE_MAX / 16, 16));
    CHECK(!vls_mem_multiply(&out, SIZE_MAX / 16 + 1, 16));
    CHECK(!vls_mem_multiply(&out, (size_t)1 << 32, (size_t)1 << 32));
    CHECK(!vls_mem_multiply(&out, SIZE_MAX, SIZE_MAX));
}

TEST(mem, grow_is_never_less_than_needed)
{
    CHECK_INT(64, vls_mem_grow(0, 1, 64));
    CHECK_INT(65, vls_mem_grow(0, 65, 64));
    CHECK_INT(96, vls_mem_grow(64, 65, 64));
    CHECK_INT(500, vls_mem_grow(64, 500, 64));
    /* Where half as much again is more than can be counted. */
    for (size_t back = 0; back < 5; back++) {
        for (size_t more = 0; more <= back; more++) {
            size_t cap = SIZE_MAX - back, need = cap + more;
            CHECK(vls_mem_grow(cap, need, 64) >= need);
        }
    }
    CHECK(vls_mem_grow(SIZE_MAX / 3 * 2 + 10, SIZE_MAX / 3 * 2 + 11, 64) >= SIZE_MAX / 3 * 2 + 11);
}
