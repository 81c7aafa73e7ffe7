/* utf8.h -- UTF-8 as defined by RFC 3629: no surrogates, no overlong forms, nothing above U+10FFFF.
 *
 * Threads: pure functions; safe anywhere. */
#ifndef VLS_UTF8_H
#define VLS_UTF8_H

#include "base/str.h"

/* The length of the longest prefix that is valid; s.len when all of it is. */
size_t vls_utf8_valid_len(valise_str s);

static inline bool vls_utf8_valid(valise_str s)
{
    return vls_utf8_valid_len(s) == s.len;
}

/* Decode the character at p, which has len > 0 bytes: how many bytes it takes, or 0 when it is
 * invalid or cut (then *code_point is untouched). */
size_t vls_utf8_decode(uint32_t *code_point, const char *p, size_t len);

/* Whether all of it is printable ASCII: valid, and without control characters. */
bool vls_utf8_is_plain(valise_str s);

/* Encode into out and return the number of bytes; 0 for a surrogate or a number over U+10FFFF. */
size_t vls_utf8_encode(char out[4], uint32_t code_point);

/* The longest prefix of at most max bytes that splits no character of valid text. */
valise_str vls_utf8_head(valise_str s, size_t max);

/* The longest end of at most max bytes that splits no character of valid text. */
valise_str vls_utf8_tail(valise_str s, size_t max);

/* Whether a reader or terminal would obey the character instead of showing it: C0, DEL, C1,
 * line and paragraph separators, bidi embeddings, overrides and isolates. */
static inline bool vls_utf8_is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7F && c <= 0x9F) || (c >= 0x2028 && c <= 0x202E) ||
           (c >= 0x2066 && c <= 0x2069);
}

#endif
