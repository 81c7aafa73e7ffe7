/* fast_hash.c -- the keyed and the seeded XXH3. */
#include "harness/test.h"

#include "base/fast_hash.h"

static int no_random(void *self, void *bytes, size_t len)
{
    (void)self;
    (void)bytes;
    (void)len;
    return -1;
}

/* Stored names depend on these. Each length takes another path inside XXH3; the numbers come from
 * a program that calls the shared library instead of the inlined header. */
TEST(fast_hash, seeded_results_never_change)
{
    static const struct {
        size_t len;
        uint64_t high, low;
    } cases[] = {
        {0, 0x99aa06d3014798d8, 0x6001c324468d497f},
        {1, 0xbeae59b601a6a437, 0xf7042be43fb80714},
        {4, 0x6a74511e37feb693, 0x67b210a324b041af},
        {9, 0x43e262c647b9278a, 0x6e4f9d43bc405f8e},
        {17, 0x689e3acb100f7b4b, 0xbfab58922ccc50e0},
        {129, 0x5a61b0516a2bb712, 0x411a6c43dd22c09a},
        {241, 0xe9aa18e48bf8ae1f, 0x142470b8035fc7a8},
        {1000, 0x7d4d999299fd1f4b, 0xd8a0bd674ac55a83},
    };
    char bytes[1000];

    memset(bytes, 'v', sizeof(bytes));
    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        vls_hash128 h = vls_fast_hash128_seeded(vls_str(bytes, cases[i].len), 0);
        CHECK_MSG(h.high == cases[i].high && h.low == cases[i].low, "%zu bytes give %016jx%016jx",
                  cases[i].len, (uintmax_t)h.high, (uintmax_t)h.low);
    }
    vls_hash128 a = vls_fast_hash128_seeded(vls_str(bytes, 10), 0);
    vls_hash128 b = vls_fast_hash128_seeded(vls_str(bytes, 10), 1);
    CHECK(!vls_hash128_equal(a, b));
}

TEST(fast_hash, another_key_gives_another_hash)
{
    static const size_t lens[] = {0, 1, 3, 8, 16, 17, 128, 129, 240, 241, 1000};
    vls_fast_key one, two;
    char bytes[1000];

    memset(bytes, 'v', sizeof(bytes));
    CHECK_OK(vls_fast_key_init(&one, t->env, &t->err));
    CHECK_OK(vls_fast_key_init(&two, t->env, &t->err));
    CHECK(memcmp(&one, &two, sizeof(one)) != 0);
    for (size_t i = 0; i < VLS_COUNT(lens); i++) {
        valise_str s = vls_str(bytes, lens[i]);
        CHECK(vls_fast_hash64(s, &one) == vls_fast_hash64(s, &one));
        CHECK(vls_fast_hash64(s, &one) != vls_fast_hash64(s, &two));
        CHECK(vls_hash128_equal(vls_fast_hash128(s, &one), vls_fast_hash128(s, &one)));
        CHECK(!vls_hash128_equal(vls_fast_hash128(s, &one), vls_fast_hash128(s, &two)));
    }
}

TEST(fast_hash, a_changed_bit_anywhere_changes_the_hash)
{
    vls_fast_key key;
    char bytes[300] = {0};

    CHECK_OK(vls_fast_key_init(&key, t->env, &t->err));
    vls_hash128 before = vls_fast_hash128(vls_str(bytes, sizeof(bytes)), &key);
    for (size_t bit = 0; bit < 8 * sizeof(bytes); bit++) {
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ (1 << bit % 8));
        vls_hash128 after = vls_fast_hash128(vls_str(bytes, sizeof(bytes)), &key);
        CHECK(after.low != before.low && after.high != before.high);
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ (1 << bit % 8));
    }
}

TEST(fast_hash, an_empty_slice_may_have_no_pointer)
{
    vls_fast_key key;
    valise_str none = {NULL, 0};

    CHECK_OK(vls_fast_key_init(&key, t->env, &t->err));
    CHECK(vls_fast_hash64(none, &key) == vls_fast_hash64(VLS_STR(""), &key));
    CHECK(vls_hash128_equal(vls_fast_hash128(none, &key), vls_fast_hash128(VLS_STR(""), &key)));
}

TEST(fast_hash, no_key_without_random_bytes)
{
    valise_env env = *t->env;
    vls_fast_key key, untouched;

    memset(&key, 0x5A, sizeof(key));
    untouched = key;
    env.random = no_random;
    CHECK_RC(VALISE_E_IO, vls_fast_key_init(&key, &env, &t->err));
    CHECK(memcmp(&key, &untouched, sizeof(key)) == 0);
}
