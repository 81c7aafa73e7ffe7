/* tokens.h -- how many tokens a text is, roughly.
 *
 * An estimate in integers that is the same everywhere: a fourth of the ASCII bytes, rounded up, and
 * one for each other character (a byte that is no UTF-8 counts as one). Models differ; this errs on
 * the high side for prose, and is the only place that says so.
 *
 * Threads: pure function. */
#ifndef VLS_TOKENS_H
#define VLS_TOKENS_H

#include "base/base.h"

static inline int64_t vls_tokens(valise_str text)
{
    size_t ascii = 0, others = 0;

    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        ascii += c < 0x80;
        others += c >= 0xc0 || (c >= 0x80 && (i == 0 || !(text.ptr[i - 1] & 0x80)));
    }
    return (int64_t)((ascii + 3) / 4 + others);
}

#endif
