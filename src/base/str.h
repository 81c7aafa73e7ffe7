/* str.h -- working with slices. Nothing allocates.
 *
 * Threads: pure functions; safe anywhere. */
#ifndef VLS_BASE_STR_H
#define VLS_BASE_STR_H

#include "base/base.h"

static inline valise_str vls_str(const void *ptr, size_t len)
{
    return (valise_str){ptr, len};
}

/* What is empty as what is not given: ptr NULL. */
static inline valise_str vls_str_or_none(valise_str s)
{
    return s.len > 0 ? s : (valise_str){NULL, 0};
}

static inline bool vls_str_equal(valise_str a, valise_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool vls_str_starts(valise_str s, valise_str prefix)
{
    return s.len >= prefix.len && (prefix.len == 0 || memcmp(s.ptr, prefix.ptr, prefix.len) == 0);
}

static inline bool vls_str_ends(valise_str s, valise_str suffix)
{
    return s.len >= suffix.len &&
           (suffix.len == 0 || memcmp(s.ptr + s.len - suffix.len, suffix.ptr, suffix.len) == 0);
}

/* From byte `from` to the end; empty when from is past it. */
static inline valise_str vls_str_from(valise_str s, size_t from)
{
    return from >= s.len ? (valise_str){NULL, 0} : (valise_str){s.ptr + from, s.len - from};
}

/* The first len bytes, or fewer. */
static inline valise_str vls_str_head(valise_str s, size_t len)
{
    return (valise_str){s.ptr, VLS_MIN(s.len, len)};
}

/* Order by bytes: negative, 0 or positive. */
int vls_str_compare(valise_str a, valise_str b);

/* The same for qsort and bsearch in arrays of valise_str. */
int vls_str_order(const void *a, const void *b);

/* For qsort and bsearch in arrays of int64_t. */
int vls_i64_order(const void *a, const void *b);

/* For maps of valise_str: is the item the key? */
bool vls_str_is(const void *item, const void *key);

/* ASCII alone, whatever the locale. */
static inline bool vls_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline bool vls_is_alnum(char c)
{
    return vls_is_letter(c) || (c >= '0' && c <= '9');
}

static inline char vls_to_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Where byte c or slice needle first stands; s.len when nowhere. */
size_t vls_str_find_byte(valise_str s, char c);
size_t vls_str_find(valise_str s, valise_str needle);

/* Without spaces and tabs (and CR, LF) at both ends. */
valise_str vls_str_trim(valise_str s);

/* Split off what stands before the first separator: *head gets it, *rest what follows.
 * False when there is no separator (head is then all of s and rest is empty). */
bool vls_str_cut(valise_str *head, valise_str *rest, valise_str s, char separator);

/* A whole decimal number, with a sign where the type has one: no spaces, no leading plus,
 * nothing behind it. False leaves *out untouched. */
bool vls_str_to_i64(int64_t *out, valise_str s);
bool vls_str_to_u64(uint64_t *out, valise_str s);

#define VLS_U64_DIGITS 20 /* the most decimal digits a uint64_t has */

/* The decimal digits of value at the end of room; the slice says where they begin. */
valise_str vls_u64_digits(char room[VLS_U64_DIGITS], uint64_t value);

/* A 64-bit hash for tables. Seed it per process or per table: keys may be chosen by others. */
uint64_t vls_str_hash(valise_str s, uint64_t seed);

#endif
