/* scan.h -- finding the bytes of a string that need attention, many at a time.
 *
 * Two questions, each in a version with SSE2 and one with plain 64-bit words:
 *   vls_scan_text    from p on, the first byte that is '"', '\\', a control or not ASCII
 *   vls_scan_escapes whether a text contains '"', '\\' or a control
 * Nothing is read outside the given bytes. */
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

static inline bool vls_scan_word_escapes(const char *p)
{
    uint64_t w;

    memcpy(&w, p, sizeof(w));
    return vls_scan_escape_bits(w) != 0;
}

static inline bool vls_scan_short_escapes(const char *p, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)p[i];
        if (c < 0x20 || c == '"' || c == '\\')
            return true;
    }
    return false;
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

static inline bool vls_scan_escapes(const char *p, size_t len)
{
    const char *end = p + len;

    if (len < 8)
        return vls_scan_short_escapes(p, len);
    for (; end - p > 8; p += 8) {
        if (vls_scan_word_escapes(p))
            return true;
    }
    return vls_scan_word_escapes(end - 8); /* overlaps what was seen */
}

#endif
