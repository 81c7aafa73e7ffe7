/* valise/str.h -- a slice: a pointer and a length, passed by value.
 *
 * A slice never owns its bytes and is never assumed to end in NUL. The same type carries
 * text and binary data; whoever takes text says so and checks that it is UTF-8.
 *
 * Threads: immutable. */
#ifndef VALISE_STR_H
#define VALISE_STR_H

#include <stddef.h>

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

/* For printf's "%.*s". Longer slices than an int can count are cut. */
#define VALISE_STR_ARG(s)                                                                          \
    ((s).len > 0x7fffffff ? 0x7fffffff : (int)(s).len), ((s).ptr ? (s).ptr : "")

/* The slice of a NUL-ended string; NULL gives an empty slice. */
VALISE_API valise_str valise_str_of(const char *text);

VALISE_END

#endif
