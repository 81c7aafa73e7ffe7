/* number_read.c -- JSON number text to int64 or the nearest double.
 *
 * Three ways to a double, from fast to slow:
 *  1. up to 2^53 times a power of ten up to 10^22: both are exact doubles, one operation rounds
 *     once (Clinger);
 *  2. 64 bits of mantissa times a 128-bit power of ten, which decides all but a few halfway
 *     cases (Eisel and Lemire);
 *  3. the C library's strtod in the C locale, for what is left and for subnormals. */
#include <locale.h>
#include <math.h>

#include "json/number.h"

#include "json/pow10.h"

#define MAX_MANTISSA_DIGITS 19 /* as many as always fit 64 bits */
#define MAX_EXACT_DIGITS 780   /* more cannot change the nearest double, but for a sticky one */

static const double exact_powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                      1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                      1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* The parts of a number's text. */
typedef struct parts {
    bool negative, integral; /* integral: neither point nor exponent */
    const char *digits;      /* first digit; a point may stand among them */
    const char *digits_end;
    uint64_t mantissa; /* the first 19 significant digits */
    int64_t shift;     /* the power of ten that puts the point where it was */
    int64_t written;   /* the exponent behind 'e' */
    bool cut;          /* more significant digits followed, not all zero */
} parts;

static bool is_digit(char c)
{
    return (unsigned)(c - '0') <= 9;
}

/* Digits from p on, into the mantissa. */
static const char *take_digits(parts *n, const char *p, const char *end, int *significant,
                               bool behind_point)
{
    for (; p < end && is_digit(*p); p++) {
        unsigned digit = (unsigned)(*p - '0');
        if (*significant < MAX_MANTISSA_DIGITS) {
            n->mantissa = n->mantissa * 10 + digit;
            *significant += n->mantissa != 0;
            n->shift -= behind_point;
        } else {
            n->cut |= digit != 0;
            n->shift += !behind_point;
        }
    }
    return p;
}

/* The exponent behind 'e'; NULL when there is no digit. Clamped far outside the range. */
static const char *take_exponent(int64_t *out, const char *p, const char *end)
{
    bool negative = p < end && *p == '-';
    int64_t value = 0;

    if (p < end && (*p == '-' || *p == '+'))
        p++;
    if (p == end || !is_digit(*p))
        return NULL;
    for (; p < end && is_digit(*p); p++) {
        if (value < INT64_C(1000000000000))
            value = value * 10 + (*p - '0');
    }
    *out = negative ? -value : value;
    return p;
}

/* Check the grammar and gather the parts. Returns the end, or NULL with *bad where it breaks. */
static const char *split(parts *n, const char **bad, const char *p, const char *end)
{
    int significant = 0;

    *n = (parts){.integral = true};
    if (p < end && *p == '-') {
        n->negative = true;
        p++;
    }
    *bad = p;
    n->digits = p;
    if (p == end || !is_digit(*p))
        return NULL;
    if (*p == '0' && p + 1 < end && is_digit(p[1])) {
        *bad = p + 1; /* a leading zero */
        return NULL;
    }
    p = take_digits(n, p, end, &significant, false);
    n->digits_end = p;
    if (p < end && *p == '.') {
        *bad = ++p;
        if (p == end || !is_digit(*p))
            return NULL;
        n->integral = false;
        p = take_digits(n, p, end, &significant, true);
        n->digits_end = p;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        *bad = p + 1;
        p = take_exponent(&n->written, p + 1, end);
        if (!p)
            return NULL;
        n->integral = false;
    }
    return p;
}

/* mantissa * 10^exponent, if that can be decided with 128 bits. */
static bool eisel_lemire(double *out, uint64_t mantissa, int exponent)
{
    if (exponent < VLS_POW10_MIN || exponent > 308)
        return false;
    vls_pow10 power = vls_pow10_floor(exponent);
    int zeros = __builtin_clzll(mantissa);
    mantissa <<= zeros;
    /* 217706 / 2^16 is log2(10) closely enough for every exponent in range. */
    /* cppcheck-suppress shiftNegativeLHS ; our compilers shift a sign in */
    uint64_t exp2 = (uint64_t)(((217706 * exponent) >> 16) + 64 + 1023 - zeros);

    vls_u128 product = (vls_u128)mantissa * power.high;
    uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
    if ((high & 0x1FF) == 0x1FF && low + mantissa < mantissa) {
        vls_u128 more = (vls_u128)mantissa * power.low;
        uint64_t more_high = (uint64_t)(more >> 64), more_low = (uint64_t)more;
        uint64_t merged = low + more_high;
        high += merged < low;
        if ((high & 0x1FF) == 0x1FF && merged + 1 == 0 && more_low + mantissa < mantissa)
            return false;
        low = merged;
    }

    uint64_t top = high >> 63;
    uint64_t bits = high >> (top + 9);
    exp2 -= 1 ^ top;
    if (low == 0 && (high & 0x1FF) == 0 && (bits & 3) == 1)
        return false; /* halfway, as far as we can see */
    bits += bits & 1;
    bits >>= 1;
    if (bits >> 53) {
        bits >>= 1;
        exp2++;
    }
    if (exp2 - 1 >= 0x7FF - 1)
        return false; /* subnormal, zero or infinite */
    bits = exp2 << 52 | (bits & ((UINT64_C(1) << 52) - 1));
    memcpy(out, &bits, sizeof(*out));
    return true;
}

/* All digits to strtod, which rounds exactly but needs a NUL behind them and its own locale. */
static double slow_double(const parts *n)
{
    char text[MAX_EXACT_DIGITS + 64];
    size_t len = 0;
    int64_t exponent = n->written;
    bool behind_point = false, sticky = false;

    for (const char *p = n->digits; p < n->digits_end; p++) {
        if (*p == '.') {
            behind_point = true;
        } else if (len == 0 && *p == '0') {
            exponent -= behind_point;
        } else if (len < MAX_EXACT_DIGITS) {
            text[len++] = *p;
            exponent -= behind_point;
        } else {
            sticky |= *p != '0';
            exponent += !behind_point;
        }
    }
    if (sticky) {
        text[len++] = '1';
        exponent--;
    }
    (void)snprintf(text + len, sizeof(text) - len, "e%lld",
                   (long long)VLS_MAX(VLS_MIN(exponent, 99999), -99999));

    /* The C locale is built in: this takes no memory and cannot fail. */
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    assert(c_locale);
    double result = strtod_l(text, NULL, c_locale);
    freelocale(c_locale);
    return result;
}

static double to_double(const parts *n)
{
    int64_t exponent = n->shift + n->written;
    double result, other;

    if (n->mantissa == 0)
        return 0;
    if (!n->cut && n->mantissa <= UINT64_C(1) << 53 && exponent >= -22 && exponent <= 22) {
        double m = (double)n->mantissa;
        return exponent < 0 ? m / exact_powers[-exponent] : m * exact_powers[exponent];
    }
    if (exponent > VLS_POW10_MAX)
        return (double)INFINITY;
    if (exponent >= VLS_POW10_MIN && eisel_lemire(&result, n->mantissa, (int)exponent)) {
        /* The digits that were cut lie between mantissa and mantissa + 1. */
        if (!n->cut || (eisel_lemire(&other, n->mantissa + 1, (int)exponent) && result == other))
            return result;
    }
    return slow_double(n);
}

/* The common case, alone: an integer of up to 18 digits. */
static const char *read_short_integer(int64_t *out, const char *p, const char *end)
{
    bool negative = *p == '-';
    const char *first = p + negative;
    uint64_t value = 0;

    end = end - first > 19 ? first + 19 : end;
    for (p = first; p < end && is_digit(*p); p++)
        value = value * 10 + (unsigned)(*p - '0');
    if (p == first || p - first > 18 || p == end || *p == '.' || (*p | 0x20) == 'e' ||
        (*first == '0' && p - first > 1))
        return NULL;
    *out = negative ? -(int64_t)value : (int64_t)value;
    return p;
}

void vls_number_read(vls_number *out, const char *p, const char *end)
{
    parts n;
    const char *bad;

    out->kind = VLS_NUMBER_INT;
    out->end = p < end ? read_short_integer(&out->integer, p, end) : NULL;
    if (out->end)
        return;
    out->kind = VLS_NUMBER_BAD;
    out->end = split(&n, &bad, p, end);
    if (!out->end) {
        out->end = bad;
        return;
    }
    if (n.integral && n.shift == 0 && n.mantissa <= (uint64_t)INT64_MAX + n.negative) {
        out->kind = VLS_NUMBER_INT;
        out->integer = n.negative ? (int64_t)(0 - n.mantissa) : (int64_t)n.mantissa;
        return;
    }
    double magnitude = to_double(&n);
    out->real = n.negative ? -magnitude : magnitude;
    if (isinf(magnitude))
        out->kind = VLS_NUMBER_RANGE;
    else
        out->kind = n.integral ? VLS_NUMBER_BIG : VLS_NUMBER_REAL;
}

bool vls_number_to_double(double *out, valise_str text)
{
    const char *end = text.ptr + text.len;
    vls_number n;

    if (text.len == 0)
        return false;
    vls_number_read(&n, text.ptr, end);
    if (n.kind == VLS_NUMBER_BAD || n.kind == VLS_NUMBER_RANGE || n.end != end)
        return false;
    *out = n.kind == VLS_NUMBER_INT ? (double)n.integer : n.real;
    return true;
}
