/* schema_number.c -- exact multiples and integers, against a plain model where there is one. */
#include "harness/test.h"

#include "json/schema_impl.h"

static vls_arena arena;

static vls_json number(test *t, const char *text)
{
    vls_json v = vls_json_null();

    CHECK_OK(vls_json_parse(&v, &arena, valise_str_of(text), NULL, &t->err));
    CHECK(vls_json_is_number(v));
    return v;
}

static bool divides(test *t, const char *divisor_text, const char *text)
{
    const vls_divisor *divisor;

    CHECK_OK(vls_divisor_new(&divisor, &arena, number(t, divisor_text), &t->err));
    return vls_divisor_divides(divisor, number(t, text));
}

TEST(schema_number, multiples_are_exact_in_decimal)
{
    static const struct {
        const char *divisor, *value;
        bool yes;
    } cases[] = {
        {"0.1", "0.3", true},
        {"0.1", "-0.3", true},
        {"0.1", "0.35", false},
        {"0.0001", "0.0075", true},
        {"0.0001", "0.00751", false},
        {"0.01", "19.99", true},
        {"0.123456789", "1e308", false},
        {"1e-8", "12391239123", true},
        {"5e-324", "1.7976931348623157e308", true},
        {"3e-320", "1e308", false},
        {"1e308", "5e-324", false},
        {"3", "0", true},
        {"1e300", "0.0", true},
        {"7", "9007199254740993", false},
        {"3", "9007199254740993", true},
        {"3", "111111111111111111111111111111", true},
        {"3", "111111111111111111111111111112", false},
        {"9", "-1000000000000000000000000000008", true},
        {"1e22", "10000000000000000000000", true},
        {"10000000000000000000000", "1e23", true},
        {"123456789012345678901234567890", "246913578024691357802469135780", true},
        {"123456789012345678901234567890", "246913578024691357802469135781", false},
        {"9223372036854775807", "-9223372036854775808", false},
        {"1", "-9223372036854775808", true},
        {"2.5", "10", true},
        {"2.5", "11", false},
    };

    vls_arena_init(&arena, t->env, SIZE_MAX);
    for (size_t i = 0; i < VLS_COUNT(cases); i++)
        CHECK_MSG(divides(t, cases[i].divisor, cases[i].value) == cases[i].yes, "%s by %s",
                  cases[i].value, cases[i].divisor);
    vls_arena_release(&arena);
}

/* Random integers with random decimal points, small enough to divide by hand. */
TEST(schema_number, multiples_agree_with_plain_division)
{
    test_rng rng = test_rng_new(test_seed());
    int yes = 0;

    for (int i = 0; i < 3000; i++) {
        uint64_t divisor = 1 + test_random_below(&rng, i % 2 ? 99 : 99999);
        uint64_t value = test_random_below(&rng, 1000000000);
        if (i % 3 == 0)
            value = value / divisor * divisor;
        unsigned places = (unsigned)test_random_below(&rng, 12);
        bool expected = value % divisor == 0;
        vls_arena_init(&arena, t->env, SIZE_MAX);
        const char *divisor_text = test_format("%llue-%u", (unsigned long long)divisor, places);
        const char *text = test_format("%llue-%u", (unsigned long long)value, places);
        CHECK_MSG(divides(t, divisor_text, text) == expected, "%s by %s", text, divisor_text);
        vls_arena_release(&arena);
        yes += expected;
    }
    CHECK(yes > 500 && yes < 2500);
}

TEST(schema_number, integers_are_what_has_no_fraction)
{
    static const char *const integers[] = {"0",     "-0.0",  "1.0",
                                           "1e300", "-5e20", "123456789012345678901234567890"};
    static const char *const others[] = {"0.5", "1e-300", "-1.5", "4503599627370495.5"};

    vls_arena_init(&arena, t->env, SIZE_MAX);
    for (size_t i = 0; i < VLS_COUNT(integers); i++)
        CHECK_MSG(vls_schema_is_integer(number(t, integers[i])), "%s", integers[i]);
    for (size_t i = 0; i < VLS_COUNT(others); i++)
        CHECK_MSG(!vls_schema_is_integer(number(t, others[i])), "%s", others[i]);
    CHECK(!vls_schema_is_integer(vls_json_string(VLS_STR("1"))));
    vls_arena_release(&arena);
}
