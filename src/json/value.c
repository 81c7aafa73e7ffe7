/* value.c -- making numbers and objects, finding members, equality. */
#include <math.h>

#include "json/json.h"

#include "base/text.h"
#include "json/number.h"
#include "json/sort.h"

#define EXACT_INTEGERS 9007199254740992.0 /* 2^53: from here on a double skips integers */

vls_json vls_json_real(double real)
{
    char text[VLS_NUMBER_TEXT];
    int64_t integer;

    assert(isfinite(real));
    if (fabs(real) < EXACT_INTEGERS) {
        integer = (int64_t)real;
        if ((double)integer == real)
            return vls_json_int(integer);
    }
    /* Larger ones are printed as integers too, with the digits of the shortest form. */
    if (fabs(real) < 1e19 && fabs(real) >= EXACT_INTEGERS) {
        size_t len = vls_number_write(text, real);
        if (vls_str_to_i64(&integer, vls_str(text, len)))
            return vls_json_int(integer);
    }
    return (vls_json){.type = VLS_JSON_REAL, .real = real};
}

double vls_json_to_double(vls_json v)
{
    double result = 0;

    if (v.type == VLS_JSON_INT)
        return (double)v.integer;
    if (v.type == VLS_JSON_REAL)
        return v.real;
    assert(v.type == VLS_JSON_BIG);
    (void)vls_number_to_double(&result, vls_json_str(v)); /* a BIG is a number in range */
    return result;
}

const char *vls_json_type_name(vls_json v)
{
    static const char *const names[] = {"null",   "boolean", "integer", "integer",
                                        "number", "string",  "array",   "object"};

    assert(v.type < VLS_COUNT(names));
    return names[v.type];
}

/* UTF-8 bytes and UTF-16 units order alike but for this: characters from U+10000 on (lead byte
 * F0 and up) come before U+E000 to U+FFFF (lead byte EE, EF) in UTF-16. */
static int compare_unequal_bytes(unsigned char a, unsigned char b)
{
    if (a >= 0xEE && b >= 0xEE && (a >= 0xF0) != (b >= 0xF0))
        return a >= 0xF0 ? -1 : 1;
    return a < b ? -1 : 1;
}

int vls_json_key_compare(valise_str a, valise_str b)
{
    size_t shared = VLS_MIN(a.len, b.len), i = 0;
    uint64_t x, y;

    for (; shared - i >= sizeof(x); i += sizeof(x)) {
        memcpy(&x, a.ptr + i, sizeof(x));
        memcpy(&y, b.ptr + i, sizeof(y));
        if (x != y)
            break;
    }
    for (; i < shared; i++) {
        if (a.ptr[i] != b.ptr[i])
            return compare_unequal_bytes((unsigned char)a.ptr[i], (unsigned char)b.ptr[i]);
    }
    return a.len < b.len ? -1 : a.len > b.len;
}

size_t vls_json_find(bool *found, vls_json object, valise_str key)
{
    size_t low = 0, high = object.len;

    assert(object.type == VLS_JSON_OBJECT);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = vls_json_key_compare(key, vls_json_str(object.members[middle].key));
        if (order == 0) {
            *found = true;
            return middle;
        }
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    *found = false;
    return low;
}

const vls_json *vls_json_get(vls_json v, valise_str key)
{
    bool found;
    size_t at;

    if (v.type != VLS_JSON_OBJECT)
        return NULL;
    at = vls_json_find(&found, v, key);
    return found ? &v.members[at].value : NULL;
}

int vls_json_object(vls_json *out, vls_member *members, size_t count, valise_error *err)
{
    size_t twice;

    assert(count <= UINT32_MAX);
    if (!vls_json_sort_members(&twice, members, count, NULL)) {
        return vls_fail(err, VALISE_E_INVALID, "duplicate key \"%s\"",
                        vls_text_short(vls_json_str(members[twice].key)).s);
    }
    *out = (vls_json){.type = VLS_JSON_OBJECT, .len = (uint32_t)count, .members = members};
    return 0;
}

/* ---- equality ---- */

/* A REAL from 2^63 on is printed as an integer and then equals the BIG with those digits. */
static bool equal_mixed_numbers(vls_json a, vls_json b)
{
    char text[VLS_NUMBER_TEXT];
    vls_json real = a.type == VLS_JSON_REAL ? a : b;
    vls_json big = a.type == VLS_JSON_BIG ? a : b;

    if (real.type != VLS_JSON_REAL || big.type != VLS_JSON_BIG || fabs(real.real) >= 1e21)
        return false;
    return vls_str_equal(vls_str(text, vls_number_write(text, real.real)), vls_json_str(big));
}

static bool equal_at(vls_json a, vls_json b, bool by_value, unsigned depth);

static bool equal_children(vls_json a, vls_json b, bool by_value, unsigned depth)
{
    if (a.len != b.len || depth == 0)
        return false;
    if (a.items == b.items)
        return true;
    for (size_t i = 0; i < a.len; i++) {
        if (a.type == VLS_JSON_ARRAY
                ? !equal_at(a.items[i], b.items[i], by_value, depth - 1)
                : !vls_str_equal(vls_json_str(a.members[i].key), vls_json_str(b.members[i].key)) ||
                      !equal_at(a.members[i].value, b.members[i].value, by_value, depth - 1))
            return false;
    }
    return true;
}

static bool equal_at(vls_json a, vls_json b, bool by_value, unsigned depth)
{
    if (a.type != b.type && by_value)
        return vls_json_is_number(a) && vls_json_is_number(b) && vls_json_number_compare(a, b) == 0;
    if (a.type != b.type)
        return equal_mixed_numbers(a, b);
    switch ((vls_json_type)a.type) {
    case VLS_JSON_NULL:
        return true;
    case VLS_JSON_BOOL:
        return a.truth == b.truth;
    case VLS_JSON_INT:
        return a.integer == b.integer;
    case VLS_JSON_REAL:
        return a.real == b.real;
    case VLS_JSON_BIG:
    case VLS_JSON_STRING:
        return vls_str_equal(vls_json_str(a), vls_json_str(b));
    case VLS_JSON_ARRAY:
    case VLS_JSON_OBJECT:
        return equal_children(a, b, by_value, depth);
    }
    return false;
}

/* Values one level deeper than any that can be written or parsed do not exist. */
#define LEVELS (VLS_JSON_MAX_DEPTH + VLS_JSON_MAX_AROUND + 1)

bool vls_json_equal(vls_json a, vls_json b)
{
    return equal_at(a, b, false, LEVELS);
}

bool vls_json_equal_by_value(vls_json a, vls_json b)
{
    return equal_at(a, b, true, LEVELS);
}
