/* logic_ops_number.c -- + - * / % max min.
 *
 * Integers that fit int64 are computed exactly as long as the result fits; everything else is
 * the arithmetic of doubles. A result that is no finite number throws NaN. */
#include <math.h>

#include "json/logic_call.h"

/* *acc becomes *acc (op) n; false when that is no finite number. */
typedef bool arithmetic(vls_json *acc, vls_json n);

static bool both_int(vls_json a, vls_json b)
{
    return a.type == VLS_JSON_INT && b.type == VLS_JSON_INT;
}

static bool set_int(vls_json *acc, int64_t integer)
{
    *acc = vls_json_int(integer);
    return true;
}

static bool set_real(vls_json *acc, double real)
{
    if (!isfinite(real))
        return false;
    *acc = vls_json_real(real);
    return true;
}

static bool add(vls_json *acc, vls_json n)
{
    int64_t exact;

    if (both_int(*acc, n) && !__builtin_add_overflow(acc->integer, n.integer, &exact))
        return set_int(acc, exact);
    return set_real(acc, vls_json_to_double(*acc) + vls_json_to_double(n));
}

static bool subtract(vls_json *acc, vls_json n)
{
    int64_t exact;

    if (both_int(*acc, n) && !__builtin_sub_overflow(acc->integer, n.integer, &exact))
        return set_int(acc, exact);
    return set_real(acc, vls_json_to_double(*acc) - vls_json_to_double(n));
}

static bool multiply(vls_json *acc, vls_json n)
{
    int64_t exact;

    if (both_int(*acc, n) && !__builtin_mul_overflow(acc->integer, n.integer, &exact))
        return set_int(acc, exact);
    return set_real(acc, vls_json_to_double(*acc) * vls_json_to_double(n));
}

/* INT64_MIN by -1 overflows, in division and remainder alike. */
static bool divides_in_int(vls_json a, vls_json b)
{
    return both_int(a, b) && b.integer != 0 && !(b.integer == -1 && a.integer == INT64_MIN);
}

static bool divide(vls_json *acc, vls_json n)
{
    double divisor = vls_json_to_double(n);

    if (divides_in_int(*acc, n) && acc->integer % n.integer == 0)
        return set_int(acc, acc->integer / n.integer);
    return divisor != 0 && set_real(acc, vls_json_to_double(*acc) / divisor);
}

static bool take_remainder(vls_json *acc, vls_json n)
{
    if (divides_in_int(*acc, n))
        return set_int(acc, acc->integer % n.integer);
    return set_real(acc, fmod(vls_json_to_double(*acc), vls_json_to_double(n)));
}

/* start (op) first (op) second ..., from argument `from` on. */
static int fold(vls_json *out, vls_logic_call *call, vls_json acc, size_t from, arithmetic *op)
{
    vls_json number = vls_json_null();

    for (size_t i = from; i < call->count; i++) {
        int rc = vls_logic_charge(call->run, 1);
        if (rc == 0)
            rc = vls_logic_number_arg(&number, call, i);
        if (rc < 0)
            return rc;
        if (!op(&acc, number)) {
            call->index = i;
            return vls_logic_throw(call->run, VLS_LOGIC_NAN, "the result is not a finite number");
        }
    }
    *out = acc;
    return 0;
}

/* The same, starting with the first argument itself, which is not touched by arithmetic. */
static int fold_from_first(vls_json *out, vls_logic_call *call, arithmetic *op)
{
    vls_json first = vls_json_null();
    int rc = vls_logic_number_arg(&first, call, 0);

    return rc < 0 ? rc : fold(out, call, first, 1, op);
}

int vls_logic_add(vls_json *out, vls_logic_call *call)
{
    if (call->count > 0)
        return fold_from_first(out, call, add);
    *out = vls_json_int(0);
    return 0;
}

int vls_logic_multiply(vls_json *out, vls_logic_call *call)
{
    if (call->count > 0)
        return fold_from_first(out, call, multiply);
    *out = vls_json_int(1);
    return 0;
}

int vls_logic_subtract(vls_json *out, vls_logic_call *call)
{
    if (call->count == 1)
        return fold(out, call, vls_json_int(0), 0, subtract);
    return fold_from_first(out, call, subtract);
}

int vls_logic_divide(vls_json *out, vls_logic_call *call)
{
    if (call->count == 1)
        return fold(out, call, vls_json_int(1), 0, divide);
    return fold_from_first(out, call, divide);
}

int vls_logic_remainder(vls_json *out, vls_logic_call *call)
{
    return fold_from_first(out, call, take_remainder);
}

static bool keep_larger(vls_json *acc, vls_json n)
{
    if (vls_json_number_compare(n, *acc) > 0)
        *acc = n;
    return true;
}

static bool keep_smaller(vls_json *acc, vls_json n)
{
    if (vls_json_number_compare(n, *acc) < 0)
        *acc = n;
    return true;
}

int vls_logic_max(vls_json *out, vls_logic_call *call)
{
    return fold_from_first(out, call, keep_larger);
}

int vls_logic_min(vls_json *out, vls_logic_call *call)
{
    return fold_from_first(out, call, keep_smaller);
}
