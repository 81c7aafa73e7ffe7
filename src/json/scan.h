/* scan.h -- find the bytes of a string that need attention, many at a time.
 *
 *   vls_scan_text   for reading: from p on, the first byte that is '"', '\\', a control or not
 *                   ASCII
 *   vls_scan_copy   for writing: copy bytes up to the first that is '"', '\\' or a control
 * Nothing is read or written outside the given bytes.
 *
 * Threads: pure functions; safe anywhere. */
#ifndef VLS_SCAN_H
#define VLS_SCAN_H

#if defined(__SSE2__)
#include <emmintrin.h> /* before ours: it brings inline functions that call malloc */
#endif

#include "base/base.h"

static inline bool vls_scan_is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

/* High bit of each byte that is '"', '\\' or below 0x20; bytes over 0x7F never set it. Borrows
 * between bytes can set a bit too many above a true one, never one too few. */
static inline uint64_t vls_scan_escape_bits(uint64_t w)
{
    const uint64_t ones = 0x0101010101010101u, highs = 0x8080808080808080u;
    uint64_t quote = w ^ (ones * '"'), slash = w ^ (ones * '\\');

    return ((quote - ones) | (slash - ones) | (w - ones * 0x20)) & ~w & highs;
}

static inline bool vls_scan_needs_escape(unsigned char c)
{
    return c < 0x20 || c == '"' || c == '\\';
}

#if defined(__SSE2__)

#define VLS_SCAN_STEP 16u

/* A bit for each of 16 bytes that ends a run of plain text. */
static inline unsigned vls_scan_stops(const char *p)
{
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    /* Signed compare: bytes over 0x7F are negative, so they count as below 0x20 too. */
    __m128i low = _mm_cmplt_epi8(v, _mm_set1_epi8(0x20));
    __m128i quote = _mm_cmpeq_epi8(v, _mm_set1_epi8('"'));
    __m128i slash = _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'));

    return (unsigned)_mm_movemask_epi8(_mm_or_si128(low, _mm_or_si128(quote, slash)));
}

#else

#define VLS_SCAN_STEP 8u

static inline unsigned vls_scan_stops(const char *p)
{
    unsigned stops = 0;

    for (unsigned i = 0; i < VLS_SCAN_STEP; i++)
        stops |= (unsigned)!vls_scan_is_plain((unsigned char)p[i]) << i;
    return stops;
}

#endif

static inline const char *vls_scan_text(const char *p, const char *end)
{
    while ((size_t)(end - p) >= VLS_SCAN_STEP) {
        unsigned stops = vls_scan_stops(p);
        if (stops)
            return p + __builtin_ctz(stops);
        p += VLS_SCAN_STEP;
    }
    while (p < end && vls_scan_is_plain((unsigned char)*p))
        p++;
    return p;
}

/* Copy eight bytes if none of them needs an escape. */
static inline bool vls_scan_copy_word(char *to, const char *from)
{
    uint64_t w;

    memcpy(&w, from, sizeof(w));
    if (vls_scan_escape_bits(w))
        return false;
    memcpy(to, &w, sizeof(w));
    return true;
}

/* Returns how many bytes were copied: len, or where the first byte stands that needs an escape. */
static inline size_t vls_scan_copy(char *to, const char *from, size_t len)
{
    size_t i = 0;

    for (; len - i >= 8; i += 8) {
        if (!vls_scan_copy_word(to + i, from + i))
            break;
    }
    if (i > 0 && i < len && len - i < 8 && vls_scan_copy_word(to + len - 8, from + len - 8))
        return len; /* the tail, overlapping what was copied */
    for (; i < len && !vls_scan_needs_escape((unsigned char)from[i]); i++)
        to[i] = from[i];
    return i;
}

#endif
