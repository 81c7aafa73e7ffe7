/* number.c -- doubles to text and back, against the C library as judge. */
#include <locale.h>
#include <math.h>

#include "harness/process.h"

#include "json/number.h"

static double from_bits(uint64_t bits)
{
    double d;

    memcpy(&d, &bits, sizeof(d));
    return d;
}

static double read_double(const char *text)
{
    vls_number n;

    vls_number_read(&n, text, text + strlen(text));
    CHECK_MSG(n.kind != VLS_NUMBER_BAD && *n.end == '\0', "%s is not read to its end", text);
    return n.kind == VLS_NUMBER_INT ? (double)n.integer : n.real;
}

static const char *written(double d)
{
    char text[VLS_NUMBER_TEXT];
    size_t len = vls_number_write(text, d);

    return test_format("%.*s", (int)len, text);
}

/* [K4] The table of RFC 8785, appendix B. */
TEST(number, writes_the_rfc_8785_samples)
{
    static const struct {
        uint64_t bits;
        const char *text;
    } samples[] = {
        {0x0000000000000000, "0"},
        {0x8000000000000000, "0"},
        {0x0000000000000001, "5e-324"},
        {0x8000000000000001, "-5e-324"},
        {0x7fefffffffffffff, "1.7976931348623157e+308"},
        {0xffefffffffffffff, "-1.7976931348623157e+308"},
        {0x4340000000000000, "9007199254740992"},
        {0xc340000000000000, "-9007199254740992"},
        {0x4430000000000000, "295147905179352830000"},
        {0x44b52d02c7e14af5, "9.999999999999997e+22"},
        {0x44b52d02c7e14af6, "1e+23"},
        {0x44b52d02c7e14af7, "1.0000000000000001e+23"},
        {0x444b1ae4d6e2ef4e, "999999999999999700000"},
        {0x444b1ae4d6e2ef4f, "999999999999999900000"},
        {0x444b1ae4d6e2ef50, "1e+21"},
        {0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
        {0x3eb0c6f7a0b5ed8d, "0.000001"},
        {0x41b3de4355555553, "333333333.3333332"},
        {0x41b3de4355555554, "333333333.33333325"},
        {0x41b3de4355555555, "333333333.3333333"},
        {0x41b3de4355555556, "333333333.3333334"},
        {0x41b3de4355555557, "333333333.33333343"},
        {0xbecbf647612f3696, "-0.0000033333333333333333"},
        {0x43143ff3c1cb0959, "1424953923781206.2"},
    };

    for (size_t i = 0; i < VLS_COUNT(samples); i++)
        CHECK_TEXT(samples[i].text, written(from_bits(samples[i].bits)));
    CHECK_TEXT("1.5e+300", written(1.5e300));
    CHECK_TEXT("-2.5e-10", written(-2.5e-10));
}

/* Whatever is written reads back as the same bits, and no shorter text does. [K4] */
static void check_shortest(double d)
{
    const char *text = written(d);
    vls_decimal decimal = vls_number_shortest(fabs(d));
    int digits = snprintf(NULL, 0, "%llu", (unsigned long long)decimal.digits);

    CHECK_MSG(read_double(text) == d, "%s does not read back (%a)", text, d);
    if (digits > 1) {
        const char *shorter = test_format("%.*e", digits - 2, d);
        CHECK_MSG(strtod_l(shorter, NULL, newlocale(LC_ALL_MASK, "C", (locale_t)0)) != d,
                  "%s is shorter than %s", shorter, text);
    }
}

TEST(number, writes_the_shortest_text_that_reads_back)
{
    test_rng rng = test_rng_new(test_seed());

    for (int i = 0; i < 40000; i++) {
        double d = from_bits(test_random(&rng));
        if (isfinite(d) && d != 0)
            check_shortest(d);
    }
    for (uint64_t bits = 1; bits < 1000; bits++)
        check_shortest(from_bits(bits)); /* few bits, few digits */
    for (int e = 1; e < 2047; e++) {
        check_shortest(from_bits((uint64_t)e << 52)); /* powers of two: uneven neighbours */
        check_shortest(from_bits(((uint64_t)e << 52) + 1));
        check_shortest(from_bits(((uint64_t)e << 52) - 1));
    }
}

/* Random text, with few digits, many, and just beside the middle of two doubles. */
static const char *random_number_text(test_rng *rng)
{
    int exponent = (int)test_random_below(rng, 700) - 360;
    unsigned long long a = test_random(rng), b = test_random(rng);

    switch (test_random_below(rng, 4)) {
    case 0:
        return test_format("%llu.%llue%d", a % 1000, b % 1000000, exponent);
    case 1:
        return test_format("%llu%llu.%llu%lluE%+d", a, b, b, a, exponent);
    case 2: { /* exactly halfway: an odd 54-bit integer and a power of two */
        uint64_t odd = (a >> 10 | (UINT64_C(1) << 53)) | 1;
        return test_format("%.0f.%s", ldexp((double)(odd >> 1), 20) + ldexp(0.5, 20),
                           b & 1 ? "0" : "00000000000000000000000000000000000000000000001");
    }
    default:
        return test_format("0.%0*d%llu", (int)test_random_below(rng, 330), 0, a);
    }
}

TEST(number, reads_the_nearest_double)
{
    test_rng rng = test_rng_new(test_seed());
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);

    for (int i = 0; i < 40000; i++) {
        const char *text = random_number_text(&rng);
        double expected = strtod_l(text, NULL, c_locale);
        vls_number n;
        vls_number_read(&n, text, text + strlen(text));
        if (isinf(expected))
            CHECK_MSG(n.kind == VLS_NUMBER_RANGE, "%s should be out of range", text);
        else
            CHECK_MSG(read_double(text) == expected, "%s is read as %a, not %a", text,
                      read_double(text), expected);
    }
}

TEST(number, reads_the_hard_cases)
{
    static const struct {
        const char *text;
        uint64_t bits;
    } cases[] = {
        {"2.2250738585072011e-308", 0x000fffffffffffff}, /* once hung a famous library */
        {"2.2250738585072014e-308", 0x0010000000000000},
        {"4.9406564584124654e-324", 1},
        {"2.4703282292062327e-324", 0},
        {"2.4703282292062328e-324", 1},
        {"1.7976931348623157e308", 0x7fefffffffffffff},
        {"1.7976931348623158e308", 0x7fefffffffffffff},
        {"9007199254740993.0", 0x4340000000000000},
        {"9007199254740993.00000000000000000000000000000000000001", 0x4340000000000001},
        {"9007199254740993e0", 0x4340000000000000}, /* halfway, the even one is below */
        {"9007199254740995e0", 0x4340000000000002}, /* halfway, the even one is above */
        {"0e999999999999999999999", 0},
        {"1e-99999999999999999999", 0},
        {"123456789012345678901234567890e-30", 0x3fbf9add3746f65f},
    };
    vls_number n;

    for (size_t i = 0; i < VLS_COUNT(cases); i++)
        CHECK_MSG(read_double(cases[i].text) == from_bits(cases[i].bits), "%s is read as %a",
                  cases[i].text, read_double(cases[i].text));
    static const char *const too_large[] = {"1.7976931348623159e308", "1e309", "-1e400",
                                            "1e99999999999999999999"};
    for (size_t i = 0; i < VLS_COUNT(too_large); i++) {
        vls_number_read(&n, too_large[i], too_large[i] + strlen(too_large[i]));
        CHECK_INT(VLS_NUMBER_RANGE, n.kind);
    }
}

/* 800 digits that differ from the middle of two doubles only in the last. */
TEST(number, the_eight_hundredth_digit_counts)
{
    char text[1000] = "9007199254740993.";
    size_t len = strlen(text);

    memset(text + len, '0', 783);
    text[len + 783] = '\0';
    CHECK(read_double(text) == 9007199254740992.0);
    text[len + 782] = '1';
    CHECK(read_double(text) == 9007199254740994.0);
    memmove(text + len - 1, text + len, 784); /* the same without its point */
    memcpy(text + len + 782, "e-783", 6);
    CHECK(read_double(text) == 9007199254740994.0);
}

/* The middle of the two smallest doubles has 751 digits, and each of them counts. */
TEST(number, the_middle_of_the_smallest_doubles)
{
    char text[1200];
    int len = snprintf(text, sizeof(text), "%.1074f", from_bits(1));
    unsigned carry = 0;

    /* Half as much again: 15 times as much, and the point one place to the left. */
    for (int i = len - 1; i > 1; i--) {
        carry += 15u * (unsigned)(text[i] - '0');
        text[i] = (char)('0' + carry % 10);
        carry /= 10;
    }
    CHECK_INT(0, carry);
    memmove(text + 3, text + 2, (size_t)len - 1);
    text[2] = '0';
    CHECK(read_double(text) == from_bits(2)); /* exactly the middle: the even one */
    text[len]--;
    CHECK(read_double(text) == from_bits(1));
}

TEST(number, tells_integers_from_other_numbers)
{
    static const struct {
        const char *text;
        vls_number_kind kind;
        size_t used;
    } cases[] = {
        {"0", VLS_NUMBER_INT, 1},
        {"-0", VLS_NUMBER_INT, 2},
        {"9223372036854775807", VLS_NUMBER_INT, 19},
        {"-9223372036854775808", VLS_NUMBER_INT, 20},
        {"9223372036854775808", VLS_NUMBER_BIG, 19},
        {"-9223372036854775809", VLS_NUMBER_BIG, 20},
        {"1.0", VLS_NUMBER_REAL, 3},
        {"1e2,", VLS_NUMBER_REAL, 3},
        {"12]", VLS_NUMBER_INT, 2},
        {"01", VLS_NUMBER_BAD, 1},
        {"-", VLS_NUMBER_BAD, 1},
        {"1.", VLS_NUMBER_BAD, 2},
        {"1.e1", VLS_NUMBER_BAD, 2},
        {"1e", VLS_NUMBER_BAD, 2},
        {"1e+", VLS_NUMBER_BAD, 2},
        {".5", VLS_NUMBER_BAD, 0},
    };
    vls_number n;

    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        vls_number_read(&n, cases[i].text, cases[i].text + strlen(cases[i].text));
        CHECK_MSG(n.kind == cases[i].kind && (size_t)(n.end - cases[i].text) == cases[i].used,
                  "%s: kind %d, %td bytes", cases[i].text, (int)n.kind, n.end - cases[i].text);
    }
}

/* In a child, since a locale belongs to the whole process. */
static int read_and_write_in_german(size_t index, void *arg)
{
    char text[32];

    (void)index;
    setenv("LOCPATH", arg, 1);
    if (!setlocale(LC_ALL, "de_DE.UTF-8"))
        return 2;
    (void)snprintf(text, sizeof(text), "%.1f", 0.5);
    CHECK_TEXT("0,5", text); /* the locale is in force */
    CHECK(read_double("0.1234567890123456789012") == 0x1.f9add3746f65fp-4);
    CHECK(read_double("9007199254740993.0000000000000000000000000001") == 9007199254740994.0);
    CHECK_TEXT("0.5", written(0.5));
    return 0;
}

TEST(number, does_not_care_for_the_locale)
{
    const char *dir = test_tmpdir();
    const char *path = test_format("%s/de_DE.UTF-8", dir);
    const char *const make[] = {"localedef", "-i", "de_DE", "-f", "UTF-8", path, NULL};
    process_result made;

    process_run(&made, make, NULL);
    if (made.exit_code != 0)
        SKIP("localedef cannot make a locale with a decimal comma");
    process_all(NULL, 1, read_and_write_in_german, (void *)(uintptr_t)dir);
}

TEST(number, whole_text_to_double_refuses_what_is_left_over)
{
    double d = 7;

    CHECK(vls_number_to_double(&d, VLS_STR("-12")) && d == -12);
    CHECK(vls_number_to_double(&d, VLS_STR("1e3")) && d == 1000);
    CHECK(!vls_number_to_double(&d, VLS_STR("1e3 ")));
    CHECK(!vls_number_to_double(&d, VLS_STR("")));
    CHECK(!vls_number_to_double(&d, VLS_STR("1e999")));
    CHECK(!vls_number_to_double(&d, VLS_STR("1e")) && !vls_number_to_double(&d, VLS_STR("1.")));
    CHECK(!vls_number_to_double(&d, VLS_STR("-")) && !vls_number_to_double(&d, VLS_STR("x")));
    CHECK(d == 1000);
}
