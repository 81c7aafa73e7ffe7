/* schema_number.c -- integers and multiples, by decimal digits.
 *
 * A JSON number is digits times a power of ten. Both sides of "multipleOf" are taken like that,
 * without zeros at the end of the digits:
 *
 *     0.0075 = 75 e-4      a e p is a multiple of b e q  when  b divides a * 10^(p-q)
 *     0.0001 =  1 e-4
 *
 * If p < q it cannot be: a would have to end in a zero. Otherwise the remainder is built digit by
 * digit, the digits of a and then p-q zeros, as one divides on paper. No JSON number of ours is
 * larger than the largest double or smaller than the smallest, so p-q is at most some 640.
 *
 * The divisor and the remainder are limbs of nine digits, lowest first. */
#include <math.h>

#include "json/schema_impl.h"

#include "json/decimal.h"

#define LIMB 1000000000u
#define LIMB_DIGITS 9u
#define MAX_DIGITS 400u /* the largest integers have 309 */
#define MAX_LIMBS (MAX_DIGITS / LIMB_DIGITS + 1)

struct vls_divisor {
    int64_t integer; /* the divisor itself where it is an INT, else 0 */
    int64_t exponent;
    uint32_t count;
    uint32_t limbs[];
};

bool vls_schema_is_integer(vls_json v)
{
    if (v.type == VLS_JSON_REAL)
        return v.real == trunc(v.real);
    return v.type == VLS_JSON_INT || v.type == VLS_JSON_BIG;
}

int vls_divisor_new(const vls_divisor **out, vls_arena *arena, vls_json v, valise_error *err)
{
    vls_decimal_digits d;

    vls_decimal_of(&d, v);
    assert(d.digits.len > 0);
    if (d.digits.len > MAX_DIGITS)
        return vls_fail(err, VALISE_E_LIMIT, "has more than %u digits", MAX_DIGITS);

    size_t count = (d.digits.len + LIMB_DIGITS - 1) / LIMB_DIGITS;
    vls_divisor *divisor =
        vls_arena_zalloc(arena, sizeof(vls_divisor) + count * sizeof(divisor->limbs[0]));
    if (!divisor)
        return vls_arena_fail(arena, err);
    divisor->integer = v.type == VLS_JSON_INT ? v.integer : 0;
    divisor->exponent = d.exponent;
    divisor->count = (uint32_t)count;
    for (size_t i = 0; i < d.digits.len; i++) {
        size_t place = d.digits.len - 1 - i; /* how many digits stand behind this one */
        uint32_t *limb = &divisor->limbs[place / LIMB_DIGITS];
        *limb = *limb * 10 + (uint32_t)(d.digits.ptr[i] - '0');
    }
    *out = divisor;
    return 0;
}

/* remainder = remainder * 10 + digit. It was under the divisor, so one limb more is enough. */
static void push_digit(uint32_t *remainder, uint32_t count, uint32_t digit)
{
    uint64_t carry = digit;

    for (uint32_t i = 0; i <= count; i++) {
        uint64_t wide = (uint64_t)remainder[i] * 10 + carry;
        remainder[i] = (uint32_t)(wide % LIMB);
        carry = wide / LIMB;
    }
    assert(carry == 0);
}

static bool is_less(const uint32_t *remainder, const vls_divisor *divisor)
{
    if (remainder[divisor->count] != 0)
        return false;
    for (uint32_t i = divisor->count; i-- > 0;) {
        if (remainder[i] != divisor->limbs[i])
            return remainder[i] < divisor->limbs[i];
    }
    return false;
}

static void subtract(uint32_t *remainder, const vls_divisor *divisor)
{
    uint32_t borrow = 0;

    for (uint32_t i = 0; i <= divisor->count; i++) {
        uint32_t take = (i < divisor->count ? divisor->limbs[i] : 0) + borrow;
        borrow = remainder[i] < take;
        remainder[i] += (borrow ? LIMB : 0) - take;
    }
    assert(borrow == 0);
}

static bool is_zero(const uint32_t *remainder, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (remainder[i] != 0)
            return false;
    }
    return true;
}

bool vls_divisor_divides(const vls_divisor *divisor, vls_json v)
{
    uint32_t remainder[MAX_LIMBS + 1] = {0};
    vls_decimal_digits d;

    if (v.type == VLS_JSON_INT && divisor->integer > 0)
        return v.integer % divisor->integer == 0;
    vls_decimal_of(&d, v);
    int64_t zeros = d.exponent - divisor->exponent;
    if (d.digits.len == 0 || zeros < 0)
        return d.digits.len == 0;

    uint64_t places = d.digits.len + (uint64_t)zeros;
    for (uint64_t i = 0; i < places; i++) {
        if (i >= d.digits.len && is_zero(remainder, divisor->count))
            break;
        push_digit(remainder, divisor->count,
                   i < d.digits.len ? (uint32_t)(d.digits.ptr[i] - '0') : 0);
        while (!is_less(remainder, divisor))
            subtract(remainder, divisor);
    }
    return is_zero(remainder, divisor->count);
}
