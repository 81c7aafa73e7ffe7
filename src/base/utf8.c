/* utf8.c -- checking, decoding, encoding.
 *
 * Valid sequences (RFC 3629, section 4):
 *
 *     00..7F
 *     C2..DF  80..BF
 *     E0      A0..BF  80..BF
 *     E1..EF  80..BF  80..BF          but ED 80..9F only: no surrogates
 *     F0      90..BF  80..BF  80..BF
 *     F1..F3  80..BF  80..BF  80..BF
 *     F4      80..8F  80..BF  80..BF */
#include "base/utf8.h"

static bool is_continuation(unsigned char c)
{
    return (c & 0xC0) == 0x80;
}

static size_t decode_two(uint32_t *code_point, const unsigned char *p, size_t len)
{
    if (p[0] < 0xC2 || len < 2 || !is_continuation(p[1]))
        return 0;
    *code_point = ((uint32_t)p[0] & 0x1F) << 6 | ((uint32_t)p[1] & 0x3F);
    return 2;
}

static size_t decode_three(uint32_t *code_point, const unsigned char *p, size_t len)
{
    if (len < 3 || !is_continuation(p[1]) || !is_continuation(p[2]))
        return 0;
    if ((p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xED && p[1] > 0x9F))
        return 0;
    *code_point =
        ((uint32_t)p[0] & 0x0F) << 12 | ((uint32_t)p[1] & 0x3F) << 6 | ((uint32_t)p[2] & 0x3F);
    return 3;
}

static size_t decode_four(uint32_t *code_point, const unsigned char *p, size_t len)
{
    if (p[0] > 0xF4 || len < 4 || !is_continuation(p[1]) || !is_continuation(p[2]) ||
        !is_continuation(p[3]))
        return 0;
    if ((p[0] == 0xF0 && p[1] < 0x90) || (p[0] == 0xF4 && p[1] > 0x8F))
        return 0;
    *code_point = ((uint32_t)p[0] & 0x07) << 18 | ((uint32_t)p[1] & 0x3F) << 12 |
                  ((uint32_t)p[2] & 0x3F) << 6 | ((uint32_t)p[3] & 0x3F);
    return 4;
}

/* ---- eight bytes at a time ---- */

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Not 0: one of them is over 7F, under 20, or 7F. */
static uint64_t odd_bytes(uint64_t word)
{
    uint64_t seventy_f = word ^ EACH(0x7F);

    return (word | ((word - EACH(0x20)) & ~word) | ((seventy_f - EACH(1)) & ~seventy_f)) &
           EACH(0x80);
}

/* The last word may have bytes of the one before it again; one that is too short begins with
 * spaces. */
bool vls_utf8_is_plain(valise_str s)
{
    uint64_t odd = 0, word, last = EACH(' ');

    for (size_t at = 0; at + sizeof(word) < s.len; at += sizeof(word)) {
        memcpy(&word, s.ptr + at, sizeof(word));
        odd |= odd_bytes(word);
    }
    if (s.len >= sizeof(last)) {
        memcpy(&last, s.ptr + s.len - sizeof(last), sizeof(last));
    } else {
        for (size_t i = 0; i < s.len; i++)
            last = last << 8 | (unsigned char)s.ptr[i];
    }
    return (odd | odd_bytes(last)) == 0;
}

/* ---- one character ---- */

size_t vls_utf8_decode(uint32_t *code_point, const char *p, size_t len)
{
    const unsigned char *u = (const unsigned char *)p;

    if (u[0] < 0x80) {
        *code_point = u[0];
        return 1;
    }
    if (u[0] < 0xE0)
        return decode_two(code_point, u, len);
    if (u[0] < 0xF0)
        return decode_three(code_point, u, len);
    return decode_four(code_point, u, len);
}

size_t vls_utf8_encode(char out[4], uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xC0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        if (c >= 0xD800 && c <= 0xDFFF)
            return 0;
        out[0] = (char)(0xE0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3F));
        out[2] = (char)(0x80 | (c & 0x3F));
        return 3;
    }
    if (c > 0x10FFFF)
        return 0;
    out[0] = (char)(0xF0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3F));
    out[2] = (char)(0x80 | (c >> 6 & 0x3F));
    out[3] = (char)(0x80 | (c & 0x3F));
    return 4;
}

size_t vls_utf8_valid_len(valise_str s)
{
    size_t at = 0;
    uint64_t word;
    uint32_t ignored;

    while (at < s.len) {
        while (s.len - at >= sizeof(word)) {
            memcpy(&word, s.ptr + at, sizeof(word));
            if (word & 0x8080808080808080u)
                break;
            at += sizeof(word);
        }
        if (at == s.len)
            break;
        size_t used = vls_utf8_decode(&ignored, s.ptr + at, s.len - at);
        if (used == 0)
            break;
        at += used;
    }
    return at;
}

valise_str vls_utf8_head(valise_str s, size_t max)
{
    size_t len = VLS_MIN(s.len, max);

    while (len > 0 && len < s.len && is_continuation((unsigned char)s.ptr[len]))
        len--;
    return vls_str(s.ptr, len);
}

valise_str vls_utf8_tail(valise_str s, size_t max)
{
    size_t from = s.len - VLS_MIN(s.len, max);

    while (from > 0 && from < s.len && is_continuation((unsigned char)s.ptr[from]))
        from++;
    return vls_str_from(s, from);
}
