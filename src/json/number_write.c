/* number_write.c -- the shortest decimal that reads back as the same double.
 *
 * The method is Schubfach (R. Giulietti): scale the interval of reals that round to the double
 * by a power of ten such that it contains at most one multiple of ten and at least one integer,
 * and take the multiple of ten if it is inside, else the integer nearest to the double. One
 * 64x128-bit multiplication per bound; results "rounded to odd", so that comparing them decides
 * as the exact values would. */
#include <math.h>

#include "json/number.h"

#include "base/str.h"
#include "json/pow10.h"

#define MANTISSA_BITS 52
#define EXPONENT_BIAS 1075 /* of a double's mantissa taken as an integer */

const vls_pow10 vls_pow10_table[] = {
#include "json/pow10.inc"
};

/* floor(x / 2^n), also for negative x. */
static int floor_shift(int x, int n)
{
    return x >> n;
}

static uint64_t round_to_odd(vls_pow10 g, uint64_t c)
{
    uint64_t x = (uint64_t)(((vls_u128)g.low * c) >> 64);
    vls_u128 y = (vls_u128)g.high * c + x;

    return (uint64_t)(y >> 64) | ((uint64_t)y > 1);
}

/* At most 17 zeros, and where there are many there are mostly more than eight. */
static vls_decimal without_trailing_zeros(vls_decimal d)
{
    if (d.digits % 100000000 == 0) {
        d.digits /= 100000000;
        d.exponent += 8;
    }
    while (d.digits % 10000 == 0) {
        d.digits /= 10000;
        d.exponent += 4;
    }
    while (d.digits % 10 == 0) {
        d.digits /= 10;
        d.exponent++;
    }
    return d;
}

static vls_decimal schubfach(uint64_t c, int q, bool lower_is_closer)
{
    bool odd = c & 1;
    int k = floor_shift(q * 1262611 - (lower_is_closer ? 524031 : 0), 22);
    int h = q + floor_shift(-k * 1741647, 19) + 1;
    vls_pow10 g = vls_pow10_ceil(-k);
    uint64_t below = round_to_odd(g, (4 * c - 2 + lower_is_closer) << h) + odd;
    uint64_t value = round_to_odd(g, (4 * c) << h);
    uint64_t above = round_to_odd(g, (4 * c + 2) << h) - odd;
    uint64_t s = value / 4;

    if (s >= 10) {
        uint64_t tens = s / 10;
        bool down_fits = below <= 40 * tens;
        bool up_fits = 40 * tens + 40 <= above;
        if (down_fits != up_fits)
            return (vls_decimal){tens + up_fits, k + 1};
    }
    bool down_fits = below <= 4 * s;
    bool up_fits = 4 * s + 4 <= above;
    if (down_fits != up_fits)
        return (vls_decimal){s + up_fits, k};
    uint64_t middle = 4 * s + 2;
    bool up = value > middle || (value == middle && (s & 1));
    return (vls_decimal){s + up, k};
}

vls_decimal vls_number_shortest(double positive)
{
    uint64_t bits;

    assert(positive > 0 && isfinite(positive));
    memcpy(&bits, &positive, sizeof(bits));
    uint64_t fraction = bits & ((UINT64_C(1) << MANTISSA_BITS) - 1);
    int biased = (int)(bits >> MANTISSA_BITS);
    if (biased == 0)
        return without_trailing_zeros(schubfach(fraction, 1 - EXPONENT_BIAS, false));

    uint64_t c = fraction | UINT64_C(1) << MANTISSA_BITS;
    int q = biased - EXPONENT_BIAS;
    if (q <= 0 && q >= -MANTISSA_BITS && (c & ((UINT64_C(1) << -q) - 1)) == 0)
        return without_trailing_zeros((vls_decimal){c >> -q, 0}); /* a small integer */
    return without_trailing_zeros(schubfach(c, q, fraction == 0 && biased > 1));
}

static size_t put_digits(char *out, uint64_t value)
{
    char room[VLS_U64_DIGITS];
    valise_str digits = vls_u64_digits(room, value);

    memcpy(out, digits.ptr, digits.len);
    return digits.len;
}

/* d.ddde+xx */
static size_t put_exponent(char *out, const char *digits, size_t count, int point)
{
    size_t len = 0;
    int exponent = point - 1;

    out[len++] = digits[0];
    if (count > 1) {
        out[len++] = '.';
        memcpy(out + len, digits + 1, count - 1);
        len += count - 1;
    }
    out[len++] = 'e';
    out[len++] = exponent < 0 ? '-' : '+';
    return len + put_digits(out + len, (uint64_t)(exponent < 0 ? -exponent : exponent));
}

size_t vls_number_write(char out[VLS_NUMBER_TEXT], double number)
{
    char digits[VLS_U64_DIGITS];
    size_t len = 0;

    assert(isfinite(number));
    if (number == 0) {
        out[0] = '0';
        return 1;
    }
    if (number < 0)
        out[len++] = '-';
    vls_decimal d = vls_number_shortest(fabs(number));
    size_t count = put_digits(digits, d.digits);
    int point = (int)count + d.exponent; /* digits before the decimal point */

    if (point > 21 || point < -5)
        return len + put_exponent(out + len, digits, count, point);
    if (point <= 0) { /* 0.00ddd */
        memcpy(out + len, "0.00000", 2 + (size_t)-point);
        len += 2 + (size_t)-point;
        memcpy(out + len, digits, count);
        return len + count;
    }
    size_t whole = VLS_MIN(count, (size_t)point);
    memcpy(out + len, digits, whole);
    len += whole;
    if (count <= (size_t)point) { /* ddd000 */
        memset(out + len, '0', (size_t)point - count);
        return len + (size_t)point - count;
    }
    out[len++] = '.'; /* dd.dd */
    memcpy(out + len, digits + whole, count - whole);
    return len + count - whole;
}
