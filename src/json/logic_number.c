/* logic_number.c -- text to number as JavaScript's Number() reads it.
 *
 *     spaces? [+-]? ( digits [. digits*] | . digits ) ( [eE] [+-]? digits )? spaces?
 *     spaces? 0x hex | 0o octal | 0b binary spaces?
 *     spaces?                                            0
 *
 * with two differences: an integer keeps all its digits, and what JavaScript makes infinite
 * ("Infinity", "1e999") is no number, as JSON has none. */
#include <math.h>

#include "json/logic_call.h"

#include "json/number.h"

/* The length of the character at p where ECMAScript counts it as space, else 0. */
static size_t space_at(const char *p, size_t len)
{
    const unsigned char *u = (const unsigned char *)p;

    if (len >= 1 && (u[0] == ' ' || (u[0] >= 0x09 && u[0] <= 0x0D)))
        return 1;
    if (len >= 2 && u[0] == 0xC2 && u[1] == 0xA0) /* no-break space */
        return 2;
    if (len < 3)
        return 0;

    unsigned c = (unsigned)u[0] << 16 | (unsigned)u[1] << 8 | u[2];
    bool space = c == 0xE19A80 ||                    /* U+1680 */
                 (c >= 0xE28080 && c <= 0xE2808A) || /* U+2000 to U+200A */
                 c == 0xE280A8 || c == 0xE280A9 ||   /* line and paragraph separator */
                 c == 0xE280AF || c == 0xE2819F ||   /* U+202F, U+205F */
                 c == 0xE38080 || c == 0xEFBBBF;     /* U+3000, byte order mark */
    return space ? 3 : 0;
}

static size_t space_before_end(valise_str s)
{
    for (size_t len = 1; len <= 3 && len <= s.len; len++) {
        if (space_at(s.ptr + s.len - len, len) == len)
            return len;
    }
    return 0;
}

static valise_str without_spaces(valise_str s)
{
    size_t len;

    while (s.len > 0 && (len = space_at(s.ptr, s.len)) > 0)
        s = vls_str_from(s, len);
    while ((len = space_before_end(s)) > 0)
        s.len -= len;
    return s;
}

static unsigned digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (unsigned)(c - 'a') + 10;
    if (c >= 'A' && c <= 'F')
        return (unsigned)(c - 'A') + 10;
    return 99;
}

/* The bits per digit behind a prefix such as 0x; 0 when there is none. */
static unsigned radix_bits(valise_str s)
{
    if (s.len < 2 || s.ptr[0] != '0')
        return 0;
    switch (s.ptr[1]) {
    case 'x':
    case 'X':
        return 4;
    case 'o':
    case 'O':
        return 3;
    case 'b':
    case 'B':
        return 1;
    default:
        return 0;
    }
}

/* Digits of a power of two. Bits that do not fit go into the exponent and, if one is set, into
 * the lowest bit kept: enough for the conversion to double to round as the whole would. */
static bool read_radix(vls_json *out, valise_str digits, unsigned bits)
{
    uint64_t value = 0;
    int exponent = 0;
    double real;

    if (digits.len == 0)
        return false;
    for (size_t i = 0; i < digits.len; i++) {
        unsigned digit = digit_of(digits.ptr[i]);
        if (digit >= 1u << bits)
            return false;
        for (unsigned bit = bits; bit-- > 0;) {
            uint64_t one = digit >> bit & 1;
            if (value >> 63 == 0) {
                value = value << 1 | one;
            } else {
                value |= one;
                exponent += exponent < 4096; /* far beyond the largest double */
            }
        }
    }
    if (exponent == 0 && value <= INT64_MAX) {
        *out = vls_json_int((int64_t)value);
        return true;
    }
    real = ldexp((double)value, exponent);
    if (!isfinite(real))
        return false;
    *out = vls_json_real(real);
    return true;
}

static bool read_json_number(vls_json *out, valise_str s)
{
    vls_number n;

    vls_number_read(&n, s.ptr, s.ptr + s.len);
    if (n.kind == VLS_NUMBER_BAD || n.kind == VLS_NUMBER_RANGE || n.end != s.ptr + s.len)
        return false;
    if (n.kind == VLS_NUMBER_INT)
        *out = vls_json_int(n.integer);
    else if (n.kind == VLS_NUMBER_REAL)
        *out = vls_json_real(n.real);
    else
        *out = (vls_json){.type = VLS_JSON_BIG, .len = (uint32_t)s.len, .text = s.ptr};
    return true;
}

static valise_str take_digits(valise_str *rest)
{
    size_t len = 0;

    while (len < rest->len && rest->ptr[len] >= '0' && rest->ptr[len] <= '9')
        len++;
    valise_str digits = vls_str_head(*rest, len);
    *rest = vls_str_from(*rest, len);
    return digits;
}

static bool take_byte(valise_str *rest, char c)
{
    if (rest->len == 0 || rest->ptr[0] != c)
        return false;
    *rest = vls_str_from(*rest, 1);
    return true;
}

/* Rewrite what JavaScript allows and JSON does not (+1, 007, .5, 5.) and write it to out, which
 * has room for one byte more than s. Returns the length; 0 when s is no number. */
static size_t to_json_number(char *out, valise_str s)
{
    valise_str rest = s, whole, fraction = {NULL, 0};
    size_t len = 0;

    if (take_byte(&rest, '-'))
        out[len++] = '-';
    else
        (void)take_byte(&rest, '+');
    whole = take_digits(&rest);
    if (take_byte(&rest, '.'))
        fraction = take_digits(&rest);
    if (whole.len + fraction.len == 0)
        return 0;
    while (whole.len > 0 && whole.ptr[0] == '0')
        whole = vls_str_from(whole, 1);

    if (whole.len == 0)
        whole = VLS_STR("0");
    memcpy(out + len, whole.ptr, whole.len);
    len += whole.len;
    if (fraction.len > 0) {
        out[len++] = '.';
        memcpy(out + len, fraction.ptr, fraction.len);
        len += fraction.len;
    }
    if (rest.len > 0) /* an exponent, or what the JSON reader then refuses */
        memcpy(out + len, rest.ptr, rest.len);
    return len + rest.len;
}

int vls_logic_read_number(vls_json *out, bool *ok, vls_logic *run, valise_str text)
{
    valise_str s = without_spaces(text);
    unsigned bits = radix_bits(s);
    char *room;

    *ok = true;
    if (s.len == 0) {
        *out = vls_json_int(0);
        return 0;
    }
    if (bits > 0) {
        *ok = read_radix(out, vls_str_from(s, 2), bits);
        return 0;
    }
    if (read_json_number(out, s))
        return 0;
    /* No number starts otherwise: spare words the copy. */
    *ok = s.ptr[0] == '+' || s.ptr[0] == '-' || s.ptr[0] == '.' || digit_of(s.ptr[0]) < 10;
    if (!*ok)
        return 0;
    room = vls_arena_alloc(run->arena, s.len + 1);
    if (!room)
        return vls_arena_fail(run->arena, &run->error);
    size_t len = to_json_number(room, s);
    *ok = len > 0 && len <= UINT32_MAX && read_json_number(out, vls_str(room, len));
    return 0;
}
