/* time.c -- the clock that never goes back, RFC 3339 and durations. [K3] */
#include <time.h>

#include "harness/test.h"

#include "base/mem.h"
#include "base/time.h"
#include "fake_env.h"

#define NS VLS_NS_PER_SECOND
/* The first and the last whole second that fit. */
#define FIRST_SECOND (INT64_MIN / NS)
#define LAST_SECOND (INT64_MAX / NS)

static int64_t parse(test *t, const char *text)
{
    int64_t ns = -1;

    CHECK_OK(vls_time_parse_ns(&ns, valise_str_of(text), &t->err));
    return ns;
}

/* ---- the clock ---- */

TEST(clock, never_goes_back)
{
    fake_env fake;
    vls_clock clock;
    test_rng rng = test_rng_new(test_seed());
    int64_t last_ns = INT64_MIN, latest_ns = INT64_MIN;

    vls_clock_init(&clock, fake_env_init(&fake, t->env));
    for (int i = 0; i < 10000; i++) {
        fake.now_ns = (int64_t)test_random_below(&rng, 1000000) - 500000;
        latest_ns = VLS_MAX(latest_ns, fake.now_ns);
        int64_t now_ns = vls_clock_now_ns(&clock);
        CHECK(now_ns >= last_ns);
        CHECK_INT(latest_ns, now_ns);
        last_ns = now_ns;
    }
}

TEST(clock, a_deadline_is_never_before_its_beginning)
{
    int64_t before = t->env->ticks_ns(t->env->self), deadline = vls_deadline_ns(t->env, 1000);

    CHECK(deadline >= before + 1000 && deadline <= t->env->ticks_ns(t->env->self) + 1000);
    CHECK_INT(INT64_MAX, vls_deadline_ns(t->env, INT64_MAX));
    deadline = vls_deadline_ns(t->env, INT64_MIN);
    CHECK(deadline >= before && deadline <= t->env->ticks_ns(t->env->self));
}

/* ---- to text ---- */

TEST(time, writes_milliseconds_or_nanoseconds)
{
    CHECK_TEXT("1970-01-01T00:00:00.000Z", vls_time_text_of(0).s);
    CHECK_TEXT("1970-01-01T00:00:00.250Z", vls_time_text_of(250000000).s);
    CHECK_TEXT("1970-01-01T00:00:00.000000001Z", vls_time_text_of(1).s);
    CHECK_TEXT("1969-12-31T23:59:59.999999999Z", vls_time_text_of(-1).s);
    CHECK_TEXT("2000-02-29T23:59:59.000Z", vls_time_text_of(951868799 * NS).s);
    CHECK_TEXT("1677-09-21T00:12:43.145224192Z", vls_time_text_of(INT64_MIN).s);
    CHECK_TEXT("2262-04-11T23:47:16.854775807Z", vls_time_text_of(INT64_MAX).s);
}

static void compare_with_libc(test *t, int64_t seconds)
{
    time_t when = (time_t)seconds;
    struct tm tm;
    char expected[64];

    CHECK(gmtime_r(&when, &tm) != NULL);
    (void)snprintf(expected, sizeof(expected), "%04d-%02d-%02dT%02d:%02d:%02d.000Z",
                   tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
    CHECK_TEXT(expected, vls_time_text_of(seconds * NS).s);
    CHECK_INT(timegm(&tm) * NS, parse(t, expected));
}

TEST(time, agrees_with_the_c_library_on_random_instants)
{
    test_rng rng = test_rng_new(test_seed());
    uint64_t span = (uint64_t)(LAST_SECOND - FIRST_SECOND) + 1;

    for (int i = 0; i < 20000; i++)
        compare_with_libc(t, FIRST_SECOND + (int64_t)test_random_below(&rng, span));
}

/* The last second of February and the first of March, and the turn of each year. */
TEST(time, agrees_with_the_c_library_on_every_year)
{
    for (int year = 1678; year <= 2262; year++) {
        struct tm march = {.tm_year = year - 1900, .tm_mon = 2, .tm_mday = 1};
        struct tm january = {.tm_year = year - 1900, .tm_mon = 0, .tm_mday = 1};
        compare_with_libc(t, timegm(&march) - 1);
        compare_with_libc(t, timegm(&march));
        compare_with_libc(t, timegm(&january));
        compare_with_libc(t, timegm(&january) - 1);
    }
}

/* ---- from text ---- */

static void check_time(test *t, const char *text, int64_t seconds, uint32_t nanos)
{
    CHECK_INT(seconds * NS + nanos, parse(t, text));
}

TEST(time, reads_fractions_and_offsets)
{
    check_time(t, "1970-01-01T00:00:00Z", 0, 0);
    check_time(t, "1970-01-01t00:00:00z", 0, 0);
    check_time(t, "1970-01-01T00:00:00.1Z", 0, 100000000);
    check_time(t, "1970-01-01T00:00:00.000000001Z", 0, 1);
    check_time(t, "1970-01-01T00:00:00.123456789+00:00", 0, 123456789);
    check_time(t, "1970-01-01T00:00:00-00:00", 0, 0);
    check_time(t, "1970-01-01T01:00:00+01:00", 0, 0);
    check_time(t, "1969-12-31T19:30:00.5-04:30", 0, 500000000);
    check_time(t, "1970-01-01T00:00:00+23:59", -86340, 0);
    check_time(t, "1970-01-01T00:00:00-23:59", 86340, 0);
    check_time(t, "1985-04-12T23:20:50.52Z", 482196050, 520000000); /* the RFC's examples */
    check_time(t, "1996-12-19T16:39:57-08:00", 851042397, 0);
    check_time(t, "1937-01-01T12:00:27.87+00:20", -1041337173, 870000000);
}

TEST(time, refuses_everything_else_and_says_where)
{
    static const struct {
        const char *text;
        int64_t offset;
        const char *reason;
    } cases[] = {
        {"", 0, "year"},
        {"now", 0, "year"},
        {"0000-01-01T00:00:00Z", 0, "year"},
        {"+2024-01-01T00:00:00Z", 0, "year"},
        {"-024-01-01T00:00:00Z", 0, "year"},
        {"24-01-01T00:00:00Z", 0, "year"},
        {"10000-01-01T00:00:00Z", 4, "form"},
        {"2024/01/01T00:00:00Z", 4, "form"},
        {"2024-00-01T00:00:00Z", 5, "month"},
        {"2024-13-01T00:00:00Z", 5, "month"},
        {"2024-1-01T00:00:00Z", 5, "month"},
        {"2024-01-00T00:00:00Z", 8, "day"},
        {"2024-01-32T00:00:00Z", 8, "day"},
        {"2024-04-31T00:00:00Z", 8, "not have that many days"},
        {"2023-02-29T00:00:00Z", 8, "not have that many days"},
        {"1900-02-29T00:00:00Z", 8, "not have that many days"},
        {"2024-01-01", 10, "form"},
        {"2024-01-01 00:00:00Z", 10, "form"},
        {"2024-01-01T24:00:00Z", 11, "hour"},
        {"2024-01-01T-1:00:00Z", 11, "hour"},
        {"2024-01-01T00:60:00Z", 14, "minute"},
        {"2024-01-01T00:00", 16, "form"},
        {"2024-01-01T00:00Z", 16, "form"},
        {"2024-01-01T00:00:61Z", 17, "second"},
        {"1998-12-31T23:59:60Z", 17, "leap second"},
        {"2024-01-01T00:00:00", 19, "must end in Z"},
        {"2024-01-01T00:00:00,5Z", 19, "must end in Z"},
        {"2024-01-01T00:00:00.Z", 20, "no digits"},
        {"2024-01-01T00:00:00.1234567890Z", 29, "more than 9 digits"},
        {"2024-01-01T00:00:00.5", 21, "must end in Z"},
        {"2024-01-01T00:00:00Z ", 20, "follows"},
        {"2024-01-01T00:00:00+0100", 19, "offset"},
        {"2024-01-01T00:00:00+01", 19, "offset"},
        {"2024-01-01T00:00:00+24:00", 19, "offset"},
        {"2024-01-01T00:00:00+01:60", 19, "offset"},
        {"2024-01-01T00:00:00+01:0", 19, "offset"},
        {"2024-01-01T00:00:00+01:000", 25, "follows"},
        {"0001-01-01T00:00:00+00:01", 0, "in UTC"},
        {"9999-12-31T23:59:59-00:01", 0, "in UTC"},
    };

    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        int64_t ns = 7;
        int rc = vls_time_parse_ns(&ns, valise_str_of(cases[i].text), &t->err);
        CHECK_MSG(rc == VALISE_E_INVALID, "%s gave %d", cases[i].text, rc);
        CHECK_MSG(t->err.offset == cases[i].offset && strstr(t->err.message, cases[i].reason),
                  "at %lld: %s", (long long)t->err.offset, t->err.message);
        CHECK(t->err.hint[0] != '\0');
        CHECK_INT(7, ns);
    }
    int64_t ns;
    CHECK_RC(VALISE_E_INVALID,
             vls_time_parse_ns(&ns, vls_str("2024-01-01T00:00:00\0", 20), &t->err));
    CHECK_RC(VALISE_E_INVALID, vls_time_parse_ns(&ns, vls_str(NULL, 0), &t->err));
}

/* No prefix of a time is a time, and no byte behind the slice is looked at (ASan). */
TEST(time, needs_the_whole_text)
{
    static const char text[] = "2024-02-29T12:30:00.123456789+01:00";
    size_t len = sizeof(text) - 1;
    int64_t ns;

    for (size_t cut = 0; cut < len; cut++) {
        char *copy = vls_mem_alloc(t->env, cut + 1);
        memcpy(copy + 1, text, cut); /* so that it ends where the block ends */
        CHECK_RC(VALISE_E_INVALID, vls_time_parse_ns(&ns, vls_str(copy + 1, cut), &t->err));
        vls_mem_free(t->env, copy, cut + 1);
    }
    CHECK_OK(vls_time_parse_ns(&ns, vls_str(text, len), &t->err));
}

TEST(time, what_is_written_reads_back_the_same)
{
    test_rng rng = test_rng_new(test_seed());

    for (int i = 0; i < 20000; i++) {
        int64_t ns = (int64_t)test_random(&rng), back = 0;
        if (i % 2)
            ns -= ns % 1000000;
        CHECK_OK(vls_time_parse_ns(&back, valise_str_of(vls_time_text_of(ns).s), &t->err));
        CHECK_INT(ns, back);
    }
}

TEST(time, nanoseconds_reach_from_1677_to_2262)
{
    int64_t ns = 7;

    CHECK_OK(vls_time_parse_ns(&ns, VLS_STR("1677-09-21T00:12:43.145224192Z"), &t->err));
    CHECK_INT(INT64_MIN, ns);
    CHECK_OK(vls_time_parse_ns(&ns, VLS_STR("2262-04-11T23:47:16.854775807Z"), &t->err));
    CHECK_INT(INT64_MAX, ns);
    ns = 7;
    CHECK_RC(VALISE_E_LIMIT,
             vls_time_parse_ns(&ns, VLS_STR("1677-09-21T00:12:43.145224191Z"), &t->err));
    CHECK_RC(VALISE_E_LIMIT,
             vls_time_parse_ns(&ns, VLS_STR("2262-04-11T23:47:16.854775808Z"), &t->err));
    CHECK_RC(VALISE_E_LIMIT, vls_time_parse_ns(&ns, VLS_STR("0001-01-01T00:00:00Z"), &t->err));
    CHECK_RC(VALISE_E_LIMIT, vls_time_parse_ns(&ns, VLS_STR("0001-01-01T01:00:00+01:00"), &t->err));
    CHECK_RC(VALISE_E_LIMIT,
             vls_time_parse_ns(&ns, VLS_STR("9999-12-31T23:59:59.999999999Z"), &t->err));
    CHECK_RC(VALISE_E_INVALID, vls_time_parse_ns(&ns, VLS_STR("today"), &t->err));
    CHECK_INT(7, ns);
}

/* ---- durations ---- */

static int64_t duration(test *t, const char *text)
{
    int64_t ns = -1;

    CHECK_OK(vls_duration_parse(&ns, valise_str_of(text), &t->err));
    return ns;
}

TEST(duration, reads_a_number_and_a_unit)
{
    CHECK_INT(0, duration(t, "0s"));
    CHECK_INT(1, duration(t, "1ns"));
    CHECK_INT(3000, duration(t, "3us"));
    CHECK_INT(250000000, duration(t, "250ms"));
    CHECK_INT(90 * VLS_NS_PER_SECOND, duration(t, "90s"));
    CHECK_INT(900 * VLS_NS_PER_SECOND, duration(t, "15m"));
    CHECK_INT(7200 * VLS_NS_PER_SECOND, duration(t, "2h"));
    CHECK_INT(604800 * VLS_NS_PER_SECOND, duration(t, "7d"));
    CHECK_INT(604800 * VLS_NS_PER_SECOND, duration(t, "1w"));
    CHECK_INT(INT64_MAX, duration(t, "9223372036854775807ns"));
    CHECK_INT(9223372036 * VLS_NS_PER_SECOND, duration(t, "9223372036s"));
}

TEST(duration, refuses_everything_else)
{
    static const char *const wrong[] = {"",    "s",    "90",   "0",    "-5s",   "+5s",
                                        " 5s", "5 s",  "5s ",  "1.5h", "1h30m", "5S",
                                        "5M",  "5min", "5sec", "5 ",   "0x5s",  "5\xc2\xb5s"};
    static const char *const long_ones[] = {"9223372036854775808ns", "9223372037s", "15251w",
                                            "99999999999999999999999999s"};
    int64_t ns = 7;

    for (size_t i = 0; i < VLS_COUNT(wrong); i++) {
        int rc = vls_duration_parse(&ns, valise_str_of(wrong[i]), &t->err);
        CHECK_MSG(rc == VALISE_E_INVALID, "\"%s\" gave %d", wrong[i], rc);
        CHECK(strstr(t->err.hint, "90s"));
    }
    CHECK_RC(VALISE_E_INVALID, vls_duration_parse(&ns, vls_str("5s\0", 3), &t->err));
    for (size_t i = 0; i < VLS_COUNT(long_ones); i++)
        CHECK_RC(VALISE_E_LIMIT, vls_duration_parse(&ns, valise_str_of(long_ones[i]), &t->err));
    CHECK_INT(7, ns);
}

static const char *write_duration(test *t, int64_t ns)
{
    VLS_AUTO(buf) vls_buf buf;

    vls_buf_init(&buf, t->env, 64);
    vls_duration_write(&buf, ns);
    CHECK_OK(vls_buf_check(&buf, &t->err));
    return test_format("%.*s", VALISE_STR_ARG(vls_buf_str(&buf)));
}

TEST(duration, writes_the_largest_unit_that_is_exact)
{
    CHECK_TEXT("0s", write_duration(t, 0));
    CHECK_TEXT("90s", write_duration(t, 90 * VLS_NS_PER_SECOND));
    CHECK_TEXT("1h", write_duration(t, 3600 * VLS_NS_PER_SECOND));
    CHECK_TEXT("1w", write_duration(t, 7 * 86400 * VLS_NS_PER_SECOND));
    CHECK_TEXT("8d", write_duration(t, 8 * 86400 * VLS_NS_PER_SECOND));
    CHECK_TEXT("1500ms", write_duration(t, 1500000000));
    CHECK_TEXT("1500us", write_duration(t, 1500000));
    CHECK_TEXT("9223372036854775807ns", write_duration(t, INT64_MAX));
    CHECK_TEXT("-90s", write_duration(t, -90 * VLS_NS_PER_SECOND));
    CHECK_TEXT("-9223372036854775808ns", write_duration(t, INT64_MIN));
}

TEST(duration, what_is_written_reads_back_the_same)
{
    static const int64_t steps[] = {1, 1000, 1000000, VLS_NS_PER_SECOND, 60 * VLS_NS_PER_SECOND};
    test_rng rng = test_rng_new(test_seed());

    for (int i = 0; i < 5000; i++) {
        int64_t ns = (int64_t)(test_random(&rng) >> (1 + test_random_below(&rng, 62)));
        ns -= ns % steps[i % 5];
        CHECK_INT(ns, duration(t, write_duration(t, ns)));
    }
}
