/* vec.c -- the growing array. */
#include "base/vec.h"

#include "harness/counting_env.h"
#include "harness/test.h"

typedef struct triple {
    char c;
    double d;
    short s;
} triple;

TEST(vec, grows_and_keeps_what_it_holds)
{
    vls_vec(int) numbers = VLS_VEC_INIT;
    vls_vec(triple) triples = VLS_VEC_INIT;

    for (int i = 0; i < 1000; i++) {
        CHECK(vls_vec_push(&numbers, t->env, i * 3));
        CHECK(vls_vec_push(&triples, t->env, (triple){(char)i, i / 2.0, (short)i}));
        CHECK(numbers.len == (size_t)i + 1 && numbers.cap >= numbers.len);
    }
    for (int i = 0; i < 1000; i++)
        CHECK(numbers.ptr[i] == i * 3 && triples.ptr[i].d == i / 2.0 && triples.ptr[i].s == i);
    vls_vec_release(&numbers, t->env);
    vls_vec_release(&triples, t->env);
    CHECK(!numbers.ptr && numbers.len == 0 && numbers.cap == 0);
    vls_vec_release(&numbers, t->env); /* again: nothing */
    CHECK(vls_vec_push(&numbers, t->env, 7) && numbers.ptr[0] == 7);
    vls_vec_release(&numbers, t->env);
}

TEST(vec, reserve_is_exact_about_failure)
{
    vls_vec(uint64_t) v = VLS_VEC_INIT;
    size_t nothing = 0;

    CHECK(vls_vec_reserve(&v, t->env, nothing) && !v.ptr);
    CHECK(vls_vec_reserve(&v, t->env, 100) && v.cap >= 100 && v.len == 0);
    uint64_t *before = v.ptr;
    CHECK(vls_vec_reserve(&v, t->env, 50) && v.ptr == before);
    size_t cap = v.cap;

    /* More bytes than a size_t can count. */
    CHECK(!vls_vec_reserve(&v, t->env, SIZE_MAX));
    CHECK(!vls_vec_reserve(&v, t->env, SIZE_MAX / 8 + 1));
    CHECK(v.ptr == before && v.cap == cap);
    vls_vec_release(&v, t->env);
}

TEST(vec, value_is_evaluated_once_and_only_on_success)
{
    vls_vec(int) v = VLS_VEC_INIT;
    counting_env c;
    int calls = 0;

    counting_env_init(&c);
    counting_env_fail_at(&c, 0);
    CHECK(!vls_vec_push(&v, &c.env, ++calls));
    CHECK(calls == 0 && v.len == 0 && !v.ptr);
    CHECK(vls_vec_push(&v, &c.env, ++calls));
    CHECK(calls == 1 && v.len == 1 && v.ptr[0] == 1);
    vls_vec_release(&v, &c.env);
    CHECK_INT(0, counting_env_in_use(&c));
}

TEST(vec, every_allocation_fails)
{
    for (long long n = 0;; n++) {
        vls_vec(int) v = VLS_VEC_INIT;
        counting_env c;
        int pushed = 0;

        counting_env_init(&c);
        counting_env_fail_at(&c, n);
        for (int i = 0; i < 500; i++) {
            if (vls_vec_push(&v, &c.env, pushed))
                pushed++;
        }
        bool failed = atomic_load(&c.failed);
        CHECK_INT(failed ? 499 : 500, pushed);
        for (int i = 0; i < pushed; i++)
            CHECK_INT(i, v.ptr[i]);
        vls_vec_release(&v, &c.env);
        CHECK_INT(0, counting_env_in_use(&c));
        if (!failed) {
            CHECK(n > 5);
            return;
        }
    }
}

TEST(vec, grows_in_an_arena)
{
    VLS_AUTO(arena) vls_arena arena;
    vls_vec(int) v = VLS_VEC_INIT, w = VLS_VEC_INIT;
    struct {
        char bytes[SIZE_MAX / 64];
    } *huge = NULL;
    size_t cap = 0;

    vls_arena_init(&arena, t->env, 20000);
    for (int i = 0; i < 500; i++) {
        CHECK(vls_vec_push_in(&v, &arena, i));
        CHECK(vls_vec_push_in(&w, &arena, -i));
    }
    CHECK(!vls_vec_reserve_in(&v, &arena, 100000));
    CHECK(!vls_vec_grow_in(&huge, &cap, 100, sizeof(*huge), &arena));
    CHECK_RC(VALISE_E_TOO_LARGE, vls_arena_report(&arena, &t->err));
    CHECK(v.len == 500 && w.len == 500 && !huge && cap == 0);
    for (int i = 0; i < 500; i++)
        CHECK(v.ptr[i] == i && w.ptr[i] == -i);
}
