/* pow10.h -- powers of ten as 128-bit numbers, shared by reading and printing doubles.
 *
 * 10^e = (high * 2^64 + low) * 2^k, normalised so that high's top bit is set; k follows from e.
 *
 * Threads: immutable. */
#ifndef VLS_POW10_H
#define VLS_POW10_H

#include "base/base.h"

#define VLS_POW10_MIN (-342)
#define VLS_POW10_MAX 324

__extension__ typedef unsigned __int128 vls_u128;

typedef struct vls_pow10 {
    uint64_t high, low;
} vls_pow10;

extern const vls_pow10 vls_pow10_table[VLS_POW10_MAX - VLS_POW10_MIN + 1];

/* Rounded up. */
static inline vls_pow10 vls_pow10_ceil(int e)
{
    return vls_pow10_table[e - VLS_POW10_MIN];
}

/* Rounded down: one less, except for the powers that 128 bits hold exactly. */
static inline vls_pow10 vls_pow10_floor(int e)
{
    vls_pow10 p = vls_pow10_ceil(e);

    if (e < 0 || e > 55) {
        p.high -= p.low == 0;
        p.low--;
    }
    return p;
}

#endif
