/* buf.c -- the capped buffer. */
#include "base/buf.h"

#include "harness/counting_env.h"
#include "harness/test.h"

TEST(buf, refuses_what_is_over_its_maximum)
{
    VLS_AUTO(buf) vls_buf buf;

    vls_buf_init(&buf, t->env, 4);
    vls_buf_add(&buf, VLS_STR("hell"));
    CHECK_OK(vls_buf_check(&buf, &t->err));
    vls_buf_add(&buf, VLS_STR("o"));
    CHECK_RC(VALISE_E_TOO_LARGE, vls_buf_check(&buf, &t->err));
}

/* Every way to append fills it to the last byte and not one further. */
TEST(buf, maximum_is_the_same_for_every_way_to_append)
{
    for (unsigned way = 0; way < 5; way++) {
        for (size_t max = 0; max < 8; max++) {
            VLS_AUTO(buf) vls_buf buf;
            vls_buf_init(&buf, t->env, max);
            for (size_t i = 0; i <= max; i++) {
                CHECK_OK(vls_buf_check(&buf, &t->err));
                CHECK_INT(i, buf.len);
                if (way == 0)
                    vls_buf_add(&buf, VLS_STR("1"));
                else if (way == 1)
                    vls_buf_add_byte(&buf, '1');
                else if (way == 2)
                    vls_buf_add_u64(&buf, 1);
                else if (way == 3)
                    vls_buf_printf(&buf, "%d", 1);
                else
                    vls_buf_add_text(&buf, "1");
            }
            CHECK_INT(max, buf.len);
            CHECK_RC(VALISE_E_TOO_LARGE, vls_buf_check(&buf, &t->err));
            CHECK_STR(vls_str_head(VLS_STR("1111111"), max), vls_buf_str(&buf));
        }
    }
}

TEST(buf, a_failure_sticks_until_clear)
{
    VLS_AUTO(buf) vls_buf buf;

    vls_buf_init(&buf, t->env, 3);
    vls_buf_add(&buf, VLS_STR("ab"));
    vls_buf_add(&buf, VLS_STR("cd"));
    vls_buf_add(&buf, VLS_STR("e")); /* would fit, but comes after a gap */
    vls_buf_add_byte(&buf, 'e');
    vls_buf_printf(&buf, "e");
    vls_buf_add_i64(&buf, 1);
    CHECK(!vls_buf_reserve(&buf, 0) && !vls_buf_reserve(&buf, 1));
    CHECK(!vls_buf_cstr(&buf));
    CHECK_STR(VLS_STR("ab"), vls_buf_str(&buf));
    CHECK_RC(VALISE_E_TOO_LARGE, vls_buf_check(&buf, &t->err));
    CHECK_TEXT("output is larger than its limit of 3 bytes", t->err.message);
    CHECK_RC(VALISE_E_TOO_LARGE, vls_buf_check(&buf, NULL));

    vls_buf_clear(&buf);
    CHECK_INT(0, buf.len);
    vls_buf_add(&buf, VLS_STR("abc"));
    CHECK_OK(vls_buf_check(&buf, &t->err));
}

TEST(buf, nothing_is_fine)
{
    VLS_AUTO(buf) vls_buf buf;
    vls_buf zero = {0};

    vls_buf_release(&zero);
    vls_buf_init(&buf, t->env, 0);
    vls_buf_add(&buf, (valise_str){NULL, 0});
    vls_buf_add_text(&buf, NULL);
    vls_buf_add_text(&buf, "");
    vls_buf_printf(&buf, "%s", "");
    CHECK_OK(vls_buf_check(&buf, &t->err));
    CHECK_INT(0, buf.len);
    CHECK(vls_buf_reserve(&buf, 0)); /* a place to write nothing at, not a failure */
    vls_buf_advance(&buf, 0);
    CHECK_TEXT("", vls_buf_cstr(&buf));
    CHECK_OK(vls_buf_check(&buf, &t->err));
    vls_buf_add_byte(&buf, 'x');
    CHECK_RC(VALISE_E_TOO_LARGE, vls_buf_check(&buf, &t->err));
}

TEST(buf, released_ones_are_as_new)
{
    vls_buf buf;

    vls_buf_init(&buf, t->env, 4);
    vls_buf_add_text(&buf, "abcde");
    vls_buf_add_text(&buf, "abc");
    vls_buf_release(&buf);
    CHECK(!buf.ptr && buf.len == 0 && buf.cap == 0 && buf.failed == 0);
    vls_buf_release(&buf);
    vls_buf_add_text(&buf, "abcd");
    CHECK_TEXT("abcd", vls_buf_cstr(&buf));
    vls_buf_add_text(&buf, "e"); /* with the same maximum */
    CHECK_RC(VALISE_E_TOO_LARGE, vls_buf_check(&buf, NULL));
    vls_buf_release(&buf);
}

TEST(buf, reserve_of_nothing_before_the_first_byte)
{
    VLS_AUTO(buf) vls_buf buf;

    vls_buf_init(&buf, t->env, 100);
    CHECK(vls_buf_reserve(&buf, 0));
    CHECK_OK(vls_buf_check(&buf, &t->err));
}

/* The NUL of cstr does not count: a buffer that is full to its maximum has one too. */
TEST(buf, cstr_of_a_full_buffer)
{
    for (size_t max = 0; max < 200; max++) {
        VLS_AUTO(buf) vls_buf buf;
        vls_buf_init(&buf, t->env, max);
        for (size_t i = 0; i < max; i++)
            vls_buf_add_byte(&buf, 'a');
        const char *text = vls_buf_cstr(&buf);
        CHECK(text && strlen(text) == max);
        CHECK_INT(max, buf.len);
        CHECK_OK(vls_buf_check(&buf, &t->err));
        vls_buf_add_byte(&buf, 'b');
        CHECK_RC(VALISE_E_TOO_LARGE, vls_buf_check(&buf, &t->err));
    }
}

TEST(buf, cstr_is_overwritten_by_the_next_append)
{
    VLS_AUTO(buf) vls_buf buf;

    vls_buf_init(&buf, t->env, 100);
    vls_buf_add_text(&buf, "ab");
    CHECK_TEXT("ab", vls_buf_cstr(&buf));
    vls_buf_add_text(&buf, "c");
    CHECK_TEXT("abc", vls_buf_cstr(&buf));
}

TEST(buf, reserve_and_advance)
{
    VLS_AUTO(buf) vls_buf buf;

    vls_buf_init(&buf, t->env, 1000);
    for (unsigned i = 0; i < 100; i++) {
        char *at = vls_buf_reserve(&buf, 10);
        CHECK(at);
        memset(at, 'a' + (int)(i % 26), 10);
        vls_buf_advance(&buf, i % 11);
    }
    CHECK_OK(vls_buf_check(&buf, &t->err));
    CHECK_INT(9 * 55, buf.len); /* 0 + 1 + ... + 10, nine times */
    CHECK(vls_str_starts(vls_buf_str(&buf), VLS_STR("bccddd")));
}

TEST(buf, numbers)
{
    VLS_AUTO(buf) vls_buf buf;

    vls_buf_init(&buf, t->env, 1000);
    vls_buf_add_u64(&buf, 0);
    vls_buf_add_byte(&buf, ' ');
    vls_buf_add_u64(&buf, UINT64_MAX);
    vls_buf_add_byte(&buf, ' ');
    vls_buf_add_i64(&buf, INT64_MIN);
    vls_buf_add_byte(&buf, ' ');
    vls_buf_add_i64(&buf, INT64_MAX);
    vls_buf_add_byte(&buf, ' ');
    vls_buf_add_i64(&buf, -1);
    vls_buf_add_byte(&buf, ' ');
    vls_buf_add_i64(&buf, 0);
    CHECK_TEXT("0 18446744073709551615 -9223372036854775808 9223372036854775807 -1 0",
               vls_buf_cstr(&buf));
}

TEST(buf, holds_any_bytes)
{
    VLS_AUTO(buf) vls_buf buf;

    vls_buf_init(&buf, t->env, 1000);
    for (unsigned i = 0; i < 256; i++)
        vls_buf_add_byte(&buf, (char)i);
    for (unsigned i = 0; i < 256; i++)
        CHECK_INT(i, (unsigned char)buf.ptr[i]);
}

/* vsnprintf says a negative number for a character that the locale does not have: no success. */
TEST(buf, printf_that_cannot_be_written_is_a_failure)
{
    VLS_AUTO(buf) vls_buf buf;

    vls_buf_init(&buf, t->env, 1000);
    vls_buf_add_text(&buf, "a");
    vls_buf_printf(&buf, "b%ls", L"\u20ac");
    CHECK_RC(VALISE_E_TOO_LARGE, vls_buf_check(&buf, &t->err));
    CHECK_STR(VLS_STR("a"), vls_buf_str(&buf));
}

TEST(buf, printf_over_many_growths)
{
    VLS_AUTO(buf) vls_buf buf;
    size_t expected = 0;

    vls_buf_init(&buf, t->env, SIZE_MAX);
    for (int i = 0; i < 2000; i++) {
        vls_buf_printf(&buf, "%d,", i);
        expected += (size_t)snprintf(NULL, 0, "%d,", i);
        CHECK_INT(expected, buf.len);
    }
    CHECK(vls_str_ends(vls_buf_str(&buf), VLS_STR("1998,1999,")));
}

TEST(buf, sizes_that_overflow)
{
    VLS_AUTO(buf) vls_buf buf;

    vls_buf_init(&buf, t->env, SIZE_MAX);
    vls_buf_add_byte(&buf, 'a');
    CHECK(!vls_buf_reserve(&buf, SIZE_MAX));
    CHECK_RC(VALISE_E_TOO_LARGE, vls_buf_check(&buf, &t->err));
    CHECK_STR(VLS_STR("a"), vls_buf_str(&buf));
}

/* What was written before stays, nothing leaks, and the code says which it was. */
TEST(buf, every_allocation_fails)
{
    for (long long n = 0;; n++) {
        counting_env c;
        vls_buf buf;

        counting_env_init(&c);
        vls_buf_init(&buf, &c.env, 100000);
        counting_env_fail_at(&c, n);
        for (unsigned i = 0; i < 300; i++) {
            vls_buf_add(&buf, VLS_STR("0123456789"));
            vls_buf_printf(&buf, "%s", "abcdef");
        }
        bool failed = atomic_load(&c.failed);
        CHECK_RC(failed ? VALISE_E_NO_MEMORY : 0, vls_buf_check(&buf, &t->err));
        CHECK(!failed || strcmp(t->err.message, "out of memory") == 0);
        CHECK(failed ? buf.len < 4800 && !vls_buf_cstr(&buf) : buf.len == 4800);
        for (size_t i = 0; i < buf.len; i++)
            CHECK("0123456789abcdef"[i % 16] == buf.ptr[i]);
        vls_buf_release(&buf);
        CHECK_INT(0, counting_env_in_use(&c));
        if (!failed) {
            CHECK(n > 5);
            return;
        }
    }
}

/* ---- in an arena ---- */

TEST(buf, in_an_arena_texts_are_kept)
{
    VLS_AUTO(arena) vls_arena arena;
    vls_buf first, second;
    valise_str a, b, c, none = {NULL, 1};

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_buf_init_in(&first, &arena, 100000);
    vls_buf_init_in(&second, &arena, 100000);
    for (unsigned i = 0; i < 4992; i++) { /* each is in the way of the other; whole units of 16 */
        vls_buf_add_byte(&first, 'a');
        vls_buf_add_byte(&second, 'b');
    }
    CHECK_OK(vls_buf_keep(&a, &first, &t->err));
    CHECK_OK(vls_buf_keep(&b, &second, &t->err));
    CHECK_INT(0, first.len);
    vls_buf_add_text(&first, "another");
    CHECK_OK(vls_buf_keep(&c, &first, &t->err));
    CHECK_OK(vls_buf_keep(&none, &first, &t->err));
    CHECK(none.ptr && none.len == 0 && none.ptr[0] == '\0');
    CHECK_TEXT("another", c.ptr);
    CHECK(a.len == 4992 && b.len == 4992 && strlen(a.ptr) == 4992 && strlen(b.ptr) == 4992);
    for (unsigned i = 0; i < 4992; i++)
        CHECK(a.ptr[i] == 'a' && b.ptr[i] == 'b');
    vls_buf_add_text(&second, "released or not");
    vls_buf_release(&second);
}

TEST(buf, in_an_arena_what_failed_is_not_kept)
{
    VLS_AUTO(arena) vls_arena arena;
    valise_str text = {NULL, 7};
    counting_env c;
    vls_buf buf;

    counting_env_init(&c);
    vls_arena_init(&arena, &c.env, 6000);
    vls_buf_init_in(&buf, &arena, 3);
    vls_buf_add_text(&buf, "four");
    CHECK_RC(VALISE_E_TOO_LARGE, vls_buf_keep(&text, &buf, &t->err));
    vls_buf_init_in(&buf, &arena, SIZE_MAX);
    CHECK(!vls_buf_reserve(&buf, 7000));
    CHECK_RC(VALISE_E_TOO_LARGE, vls_buf_keep(&text, &buf, &t->err));
    vls_buf_clear(&buf);
    vls_arena_release(&arena);
    counting_env_fail_at(&c, 0);
    vls_buf_add_text(&buf, "none");
    CHECK_RC(VALISE_E_NO_MEMORY, vls_buf_keep(&text, &buf, &t->err));
    CHECK(text.ptr == NULL && text.len == 7);
}
