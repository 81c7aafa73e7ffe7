/* decimal.c -- numbers by their decimal digits, and their order. */
#include <math.h>

#include "json/decimal.h"

#include "json/number.h"

static void put_digits(vls_decimal_digits *out, uint64_t digits, int exponent)
{
    out->digits = digits == 0 ? vls_str(NULL, 0) : vls_u64_digits(out->room, digits);
    out->exponent = exponent;
}

void vls_decimal_of(vls_decimal_digits *out, vls_json v)
{
    if (v.type == VLS_JSON_INT) {
        out->negative = v.integer < 0;
        put_digits(out, out->negative ? 0 - (uint64_t)v.integer : (uint64_t)v.integer, 0);
    } else if (v.type == VLS_JSON_REAL) {
        vls_decimal shortest = vls_number_shortest(fabs(v.real));
        out->negative = v.real < 0;
        put_digits(out, shortest.digits, shortest.exponent);
    } else {
        assert(v.type == VLS_JSON_BIG);
        out->negative = v.text[0] == '-';
        out->digits = vls_str_from(vls_json_str(v), out->negative);
        out->exponent = 0;
    }
    for (; out->digits.len > 0 && out->digits.ptr[out->digits.len - 1] == '0'; out->digits.len--)
        out->exponent++;
}

/* Without the signs. 0.d1d2d3... * 10^point: the larger point is the larger number. */
static int compare_magnitudes(const vls_decimal_digits *x, const vls_decimal_digits *y)
{
    int64_t x_point = x->exponent + (int64_t)x->digits.len;
    int64_t y_point = y->exponent + (int64_t)y->digits.len;
    int order;

    if (x->digits.len == 0 || y->digits.len == 0)
        return (x->digits.len > 0) - (y->digits.len > 0);
    if (x_point != y_point)
        return x_point < y_point ? -1 : 1;
    order = vls_str_compare(x->digits, y->digits);
    return (order > 0) - (order < 0);
}

int vls_json_number_compare(vls_json a, vls_json b)
{
    vls_decimal_digits x, y;
    int order;

    if (a.type == VLS_JSON_INT && b.type == VLS_JSON_INT)
        return a.integer < b.integer ? -1 : a.integer > b.integer;
    if (a.type == VLS_JSON_REAL && b.type == VLS_JSON_REAL)
        return a.real < b.real ? -1 : a.real > b.real;
    vls_decimal_of(&x, a);
    vls_decimal_of(&y, b);
    if (x.negative != y.negative)
        return x.negative ? -1 : 1; /* zero is an INT and not negative */
    order = compare_magnitudes(&x, &y);
    return x.negative ? -order : order;
}
