/* str.c -- slices: compare, search, split, numbers. */
#define XXH_INLINE_ALL
#include <xxhash.h> /* before ours: its inline functions mention malloc, which base.h bans */

#include "base/str.h"

#define FIND_TRIES 32u /* of memchr, before memmem takes over */

valise_str valise_str_of(const char *text)
{
    return (valise_str){text, text ? strlen(text) : 0};
}

int vls_str_compare(valise_str a, valise_str b)
{
    size_t shared = VLS_MIN(a.len, b.len);
    int order = shared ? memcmp(a.ptr, b.ptr, shared) : 0;

    if (order != 0)
        return order;
    return a.len < b.len ? -1 : a.len > b.len;
}

int vls_str_order(const void *a, const void *b)
{
    return vls_str_compare(*(const valise_str *)a, *(const valise_str *)b);
}

int vls_i64_order(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

bool vls_str_is(const void *item, const void *key)
{
    return vls_str_equal(*(const valise_str *)item, *(const valise_str *)key);
}

size_t vls_str_find_byte(valise_str s, char c)
{
    const char *at = s.len ? memchr(s.ptr, c, s.len) : NULL;

    return at ? (size_t)(at - s.ptr) : s.len;
}

/* memchr looks at many bytes at once, memmem at one; but where the first byte of the needle is
 * everywhere, only memmem stays linear. */
size_t vls_str_find(valise_str s, valise_str needle)
{
    const char *at = s.ptr, *end;

    if (needle.len == 0)
        return 0;
    if (!at)
        return s.len;
    end = at + s.len;
    for (unsigned tries = 0; tries < FIND_TRIES; tries++, at++) {
        at = memchr(at, needle.ptr[0], (size_t)(end - at));
        if (!at || (size_t)(end - at) < needle.len)
            return s.len;
        if (memcmp(at, needle.ptr, needle.len) == 0)
            return (size_t)(at - s.ptr);
    }
    at = memmem(at, (size_t)(end - at), needle.ptr, needle.len);
    return at ? (size_t)(at - s.ptr) : s.len;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

valise_str vls_str_trim(valise_str s)
{
    while (s.len > 0 && is_blank(s.ptr[0]))
        s = vls_str_from(s, 1);
    while (s.len > 0 && is_blank(s.ptr[s.len - 1]))
        s.len--;
    return s;
}

bool vls_str_cut(valise_str *head, valise_str *rest, valise_str s, char separator)
{
    size_t at = vls_str_find_byte(s, separator);

    *head = vls_str_head(s, at);
    *rest = vls_str_from(s, at + 1);
    return at < s.len;
}

bool vls_str_to_u64(uint64_t *out, valise_str s)
{
    uint64_t value = 0;

    if (s.len == 0)
        return false;
    for (size_t i = 0; i < s.len; i++) {
        unsigned digit = (unsigned char)s.ptr[i] - (unsigned)'0';
        if (digit > 9 || __builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *out = value;
    return true;
}

bool vls_str_to_i64(int64_t *out, valise_str s)
{
    bool negative = s.len > 0 && s.ptr[0] == '-';
    uint64_t limit = (uint64_t)INT64_MAX + (negative ? 1 : 0);
    uint64_t value;

    if (!vls_str_to_u64(&value, negative ? vls_str_from(s, 1) : s) || value > limit)
        return false;
    *out = negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

valise_str vls_u64_digits(char room[VLS_U64_DIGITS], uint64_t value)
{
    size_t at = VLS_U64_DIGITS;

    do {
        room[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    return vls_str(room + at, VLS_U64_DIGITS - at);
}

uint64_t vls_str_hash(valise_str s, uint64_t seed)
{
    return XXH3_64bits_withSeed(s.ptr, s.len, seed);
}
