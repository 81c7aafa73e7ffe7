/* time.c -- the clock that never goes back, and RFC 3339. */
#include "base/time.h"

#include "base/str.h"
#include "base/text.h"

#define DAY_SECONDS 86400
#define DAY_NS (DAY_SECONDS * VLS_NS_PER_SECOND)
#define CYCLE_DAYS 146097                      /* 400 years, after which the calendar repeats */
#define CYCLE_TO_1970 719468                   /* days from 0000-03-01 to 1970-01-01 */
#define TEXT_MAX_SECONDS INT64_C(253402300799) /* 9999-12-31T23:59:59Z */
#define TEXT_MIN_SECONDS INT64_C(-62135596800) /* 0001-01-01T00:00:00Z */

/* ---- the clock ---- */

void vls_clock_init(vls_clock *clock, const valise_env *env)
{
    clock->env = env;
    atomic_init(&clock->last_ns, INT64_MIN);
}

int64_t vls_clock_now_ns(vls_clock *clock)
{
    int64_t ns = clock->env->now_ns(clock->env->self), last_ns = atomic_load(&clock->last_ns);

    while (last_ns < ns) {
        if (atomic_compare_exchange_weak(&clock->last_ns, &last_ns, ns))
            return ns;
    }
    return last_ns;
}

int64_t vls_deadline_ns(const valise_env *env, int64_t timeout_ns)
{
    int64_t now = env->ticks_ns(env->self), deadline;

    if (timeout_ns <= 0)
        return now;
    return __builtin_add_overflow(now, timeout_ns, &deadline) ? INT64_MAX : deadline;
}

/* ---- days ---- */

/* A year begins in March here: the leap day is then the last day of its year, and the months
 * before a given one have (153 * month + 2) / 5 days (31, 30, 31, 30, 31 and again). */

typedef struct date {
    int32_t year, month, day; /* month and day from 1 */
} date;

static int64_t days_since_1970(date d)
{
    int64_t year = d.month <= 2 ? d.year - 1 : d.year;
    int64_t month = (d.month + 9) % 12;
    int64_t leap_days = year / 4 - year / 100 + year / 400;

    assert(d.year >= 1);
    return 365 * year + leap_days + (153 * month + 2) / 5 + d.day - 1 - CYCLE_TO_1970;
}

static date date_of_day(int64_t days)
{
    int64_t since = days + CYCLE_TO_1970;
    int64_t in_cycle = since % CYCLE_DAYS;

    assert(since >= 0);
    /* Take out the leap days (every 1461st day, but not the 36525th; the last of the cycle),
     * and years of 365 days are left. */
    int64_t year = (in_cycle - in_cycle / 1460 + in_cycle / 36524 - in_cycle / 146096) / 365;
    int64_t in_year = in_cycle - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * in_year + 2) / 153;
    int64_t day = in_year - (153 * month + 2) / 5 + 1;

    year += since / CYCLE_DAYS * 400;
    return month < 10 ? (date){(int32_t)year, (int32_t)month + 3, (int32_t)day}
                      : (date){(int32_t)year + 1, (int32_t)month - 9, (int32_t)day};
}

static int32_t days_in_month(int32_t year, int32_t month)
{
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return days[month - 1] + (month == 2 && leap);
}

/* ---- to text ---- */

/* count digits of number, with zeros in front; returns where the next byte goes. */
static char *put_digits(char *at, int64_t number, int count)
{
    for (int i = count - 1; i >= 0; i--) {
        at[i] = (char)('0' + number % 10);
        number /= 10;
    }
    return at + count;
}

vls_time_text vls_time_text_of(int64_t ns)
{
    int64_t day = ns / DAY_NS, in_day = ns % DAY_NS, seconds, nanos;
    vls_time_text text = {{0}};
    char *at = text.s;
    date d;

    if (in_day < 0) {
        day--;
        in_day += DAY_NS;
    }
    d = date_of_day(day);
    seconds = in_day / VLS_NS_PER_SECOND;
    nanos = in_day % VLS_NS_PER_SECOND;
    at = put_digits(at, d.year, 4);
    *at++ = '-';
    at = put_digits(at, d.month, 2);
    *at++ = '-';
    at = put_digits(at, d.day, 2);
    *at++ = 'T';
    at = put_digits(at, seconds / 3600, 2);
    *at++ = ':';
    at = put_digits(at, seconds / 60 % 60, 2);
    *at++ = ':';
    at = put_digits(at, seconds % 60, 2);
    *at++ = '.';
    at = nanos % 1000000 == 0 ? put_digits(at, nanos / 1000000, 3) : put_digits(at, nanos, 9);
    *at = 'Z';
    return text;
}

/* ---- from text ---- */

static int refuse(valise_error *err, valise_str text, size_t offset, const char *why)
{
    (void)vls_fail_at(err, VALISE_E_INVALID, offset, "\"%s\" is not a time: %s",
                      vls_text_short(text).s, why);
    vls_hint(err, "write it like 2024-02-29T12:30:00Z or 2024-02-29T13:30:00.25+01:00");
    return VALISE_E_INVALID;
}

static bool read_digits(int32_t *out, valise_str text, size_t at, size_t count)
{
    uint64_t number;

    if (at + count > text.len || !vls_str_to_u64(&number, vls_str(text.ptr + at, count)))
        return false;
    *out = (int32_t)number;
    return true;
}

/* What stands in the first 19 bytes, "2024-02-29T12:30:00". */
enum { YEAR, MONTH, DAY, HOUR, MINUTE, SECOND, PARTS };

static const struct {
    uint8_t at, len;
    int16_t min, max;
    const char *after; /* the bytes that may follow it */
    const char *why;   /* it is refused */
} parts[PARTS] = {
    [YEAR] = {0, 4, 1, 9999, "-", "the year is not 0001 to 9999"},
    [MONTH] = {5, 2, 1, 12, "-", "the month is not 01 to 12"},
    [DAY] = {8, 2, 1, 31, "Tt", "the day is not 01 to 31"},
    [HOUR] = {11, 2, 0, 23, ":", "the hour is not 00 to 23"},
    [MINUTE] = {14, 2, 0, 59, ":", "the minute is not 00 to 59"},
    [SECOND] = {17, 2, 0, 60, ".Zz+-", "the second is not 00 to 59"},
};

static int read_parts(int32_t values[PARTS], valise_str text, valise_error *err)
{
    for (size_t i = 0; i < PARTS; i++) {
        size_t at = parts[i].at, end = at + parts[i].len;
        if (!read_digits(&values[i], text, at, parts[i].len) || values[i] < parts[i].min ||
            values[i] > parts[i].max)
            return refuse(err, text, at, parts[i].why);
        if (end >= text.len || text.ptr[end] == '\0' || !strchr(parts[i].after, text.ptr[end]))
            return refuse(err, text, end,
                          i == SECOND ? "it must end in Z or in an offset such as +01:00"
                                      : "it must have the form YYYY-MM-DDTHH:MM:SS");
    }
    if (values[DAY] > days_in_month(values[YEAR], values[MONTH]))
        return refuse(err, text, parts[DAY].at, "the month does not have that many days");
    if (values[SECOND] == 60)
        return refuse(err, text, parts[SECOND].at,
                      "leap seconds are not supported, seconds end at 59");
    return 0;
}

/* ".25" at *at into nanoseconds; *at moves behind it. */
static int read_fraction(uint32_t *nanos, size_t *at, valise_str text, valise_error *err)
{
    uint32_t value = 0;
    size_t from = *at + 1, end = from;

    for (; end < text.len && text.ptr[end] >= '0' && text.ptr[end] <= '9'; end++) {
        if (end - from == 9)
            return refuse(err, text, end, "the fraction has more than 9 digits");
        value = value * 10 + (uint32_t)(text.ptr[end] - '0');
    }
    if (end == from)
        return refuse(err, text, end, "the fraction has no digits");
    for (size_t digits = end - from; digits < 9; digits++)
        value *= 10;
    *nanos = value;
    *at = end;
    return 0;
}

/* "Z" or "+01:00" at `at`, which must be all that is left, into seconds east of UTC. */
static int read_offset(int32_t *east, size_t at, valise_str text, valise_error *err)
{
    char sign = at < text.len ? text.ptr[at] : '\0';
    int32_t hours, minutes;

    if (sign != 'Z' && sign != 'z' && sign != '+' && sign != '-')
        return refuse(err, text, at, "it must end in Z or in an offset such as +01:00");
    if (sign == 'Z' || sign == 'z') {
        if (text.len > at + 1)
            return refuse(err, text, at + 1, "something follows it");
        *east = 0;
        return 0;
    }
    if (!read_digits(&hours, text, at + 1, 2) || hours > 23 || at + 3 >= text.len ||
        text.ptr[at + 3] != ':' || !read_digits(&minutes, text, at + 4, 2) || minutes > 59)
        return refuse(err, text, at, "the offset must be like +01:00");
    if (text.len > at + 6)
        return refuse(err, text, at + 6, "something follows it");
    *east = (hours * 3600 + minutes * 60) * (sign == '-' ? -1 : 1);
    return 0;
}

static bool to_ns(int64_t *out, int64_t seconds, int64_t nanos)
{
    int64_t ns;

    /* The earliest moments fit only when the second is not first rounded down. */
    if (seconds < 0 && nanos > 0) {
        seconds++;
        nanos -= VLS_NS_PER_SECOND;
    }
    if (__builtin_mul_overflow(seconds, VLS_NS_PER_SECOND, &ns) ||
        __builtin_add_overflow(ns, nanos, &ns))
        return false;
    *out = ns;
    return true;
}

int vls_time_parse_ns(int64_t *out, valise_str text, valise_error *err)
{
    int32_t v[PARTS] = {0};
    int32_t east;
    uint32_t nanos = 0;
    size_t at = 19;
    int rc;

    rc = read_parts(v, text, err);
    if (rc < 0)
        return rc;
    rc = text.ptr[at] == '.' ? read_fraction(&nanos, &at, text, err) : 0;
    if (rc < 0)
        return rc;
    rc = read_offset(&east, at, text, err);
    if (rc < 0)
        return rc;

    int64_t days = days_since_1970((date){v[YEAR], v[MONTH], v[DAY]});
    int64_t seconds =
        days * DAY_SECONDS + INT64_C(3600) * v[HOUR] + INT64_C(60) * v[MINUTE] + v[SECOND] - east;
    if (seconds < TEXT_MIN_SECONDS || seconds > TEXT_MAX_SECONDS)
        return refuse(err, text, 0, "in UTC the year is not from 0001 to 9999");
    if (!to_ns(out, seconds, nanos))
        return vls_fail_at(err, VALISE_E_LIMIT, 0, "time %s is outside 1677-09-21 to 2262-04-11",
                           vls_text_short(text).s);
    return 0;
}

/* Does the text have this pattern? 0 stands for any digit, T for a blank too. */
static bool has_form(valise_str text, const char *form, size_t len)
{
    if (text.len != len)
        return false;
    for (size_t i = 0; i < len; i++) {
        char c = text.ptr[i];
        bool same = form[i] == '0'   ? c >= '0' && c <= '9'
                    : form[i] == 'T' ? c == 'T' || c == 't' || c == ' '
                                     : c == form[i];
        if (!same)
            return false;
    }
    return true;
}

bool vls_time_complete(vls_time_text *out, valise_str text)
{
    static const char full[] = "0000-00-00T00:00:00";
    static const size_t ends[] = {10, 16, 19};

    for (size_t i = 0; i < VLS_COUNT(ends); i++) {
        if (!has_form(text, full, ends[i]))
            continue;
        (void)snprintf(out->s, sizeof(out->s), "%.*s%sZ", VALISE_STR_ARG(text), full + text.len);
        out->s[10] = 'T';
        return true;
    }
    return false;
}

int vls_time_parse_said(int64_t *out, valise_str text, valise_error *err)
{
    vls_time_text whole;

    return vls_time_parse_ns(out, vls_time_complete(&whole, text) ? valise_str_of(whole.s) : text,
                             err);
}
