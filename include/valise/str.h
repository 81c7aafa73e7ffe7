/* valise/str.h -- slices (a pointer and a length, passed by value), and lists.
 *
 * A slice never owns its bytes; never rely on a NUL after them. The same type carries text and
 * binary data; functions that take text say so, and check that it is UTF-8.
 *
 * Threads: immutable. */
#ifndef VALISE_STR_H
#define VALISE_STR_H

#include <stddef.h>
#include <stdint.h>

#include <valise/api.h>

VALISE_BEGIN

typedef struct valise_str {
    const char *ptr; /* may be NULL when len is 0 */
    size_t len;
} valise_str;

/* The slice of a string literal, for initializers: const valise_str tags[] = {VALISE_STR("pii")};
 */
#define VALISE_STR(literal)                                                                        \
    {                                                                                              \
        "" literal, sizeof(literal) - 1                                                            \
    }

/* The slice of a NUL-ended string; NULL gives an empty slice. */
VALISE_API valise_str valise_str_of(const char *text);

/* A list. The comment beside each list says what its elements are. items NULL means that the list
 * is not given, which differs from an empty list. */
typedef struct valise_list {
    const void *items;
    size_t count;
} valise_list;

/* No number, or no point in time, where 0 would be a valid one. */
#define VALISE_NONE INT64_MIN

/* The two arguments for printf's "%.*s". A slice longer than INT_MAX is cut. s is evaluated twice:
 * pass nothing with side effects. */
#define VALISE_STR_ARG(s) valise_str_arg_len(s), valise_str_arg_ptr(s)

static inline int valise_str_arg_len(valise_str s)
{
    return s.len > 0x7fffffff ? 0x7fffffff : VALISE_CAST(int, s.len);
}

static inline const char *valise_str_arg_ptr(valise_str s)
{
    return s.ptr ? s.ptr : "";
}

VALISE_END

#endif
