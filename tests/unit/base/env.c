/* env.c -- the environment of a program that brings none. */
#include "harness/test.h"

TEST(env, memory)
{
    const valise_env *env = valise_env_default();
    unsigned char *bytes = env->resize(env->self, NULL, 0, 100);

    CHECK(env == valise_env_default());
    CHECK_INT(sizeof(valise_env), env->size);
    CHECK(bytes && (uintptr_t)bytes % 16 == 0);
    memset(bytes, 5, 100);
    bytes = env->resize(env->self, bytes, 100, 100000);
    CHECK(bytes && bytes[99] == 5);
    CHECK(!env->resize(env->self, bytes, 100000, 0));
    CHECK(!env->resize(env->self, NULL, 0, 0));
}

TEST(env, clocks)
{
    const valise_env *env = valise_env_default();
    int64_t year_2020 = INT64_C(1577836800) * 1000000000;
    int64_t before = env->ticks_ns(env->self);
    bool within_a_second = false;

    CHECK(env->now_ns(env->self) > year_2020);
    CHECK(before < year_2020); /* since the machine was started, not since 1970 */
    for (unsigned i = 0; i < 1000; i++) {
        int64_t now = env->ticks_ns(env->self);
        CHECK(now >= before);
        within_a_second |= now % 1000000000 != 0;
        before = now;
    }
    CHECK(within_a_second);
}

/* 64 bytes that come out equal twice are no random bytes. */
TEST(env, randomness)
{
    const valise_env *env = valise_env_default();
    static unsigned char one[100000], two[100000], zero[64];

    CHECK_INT(0, env->random(env->self, one, sizeof(one)));
    CHECK_INT(0, env->random(env->self, two, sizeof(two)));
    CHECK(memcmp(one, two, 64) != 0);
    CHECK(memcmp(one + sizeof(one) - 64, two + sizeof(two) - 64, 64) != 0);
    CHECK(memcmp(one + sizeof(one) - 64, zero, 64) != 0); /* filled to the end */
    CHECK_INT(0, env->random(env->self, one, 0));
}
