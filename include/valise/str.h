/* valise/str.h -- a slice: a pointer and a length, passed by value; and lists of anything.
 *
 * A slice never owns its bytes and is never assumed to end in NUL. The same type carries
 * text and binary data; whoever takes text says so and checks that it is UTF-8.
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

/* Of a text in the source, for initializers: const valise_str tags[] = {VALISE_STR("pii")}; */
#define VALISE_STR(literal)                                                                        \
    {                                                                                              \
        "" literal, sizeof(literal) - 1                                                            \
    }

/* The slice of a NUL-ended string; NULL gives an empty slice. */
VALISE_API valise_str valise_str_of(const char *text);

/* Several of something: what the elements are is said where it stands. With items NULL it is not
 * given, which is something else than empty. */
typedef struct valise_list {
    const void *items;
    size_t count;
} valise_list;

/* A number or a point in time that is not there, where 0 would be one. */
#define VALISE_NONE INT64_MIN

/* For printf's "%.*s". Longer slices than an int can count are cut. These are two arguments, each
 * of which evaluates s once: no place for a call with side effects. */
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
