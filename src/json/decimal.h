/* decimal.h -- a JSON number as its decimal digits, whether it is an INT, a BIG or a REAL.
 *
 * Threads: immutable (pure functions). */
#ifndef VLS_DECIMAL_H
#define VLS_DECIMAL_H

#include "json/json.h"

/* digits * 10^exponent, below zero when negative. The digits neither start nor end in a zero;
 * zero has none. They lie in room or in the value, so do not move the struct. */
typedef struct vls_decimal_digits {
    valise_str digits;
    int64_t exponent;
    bool negative;
    char room[VLS_U64_DIGITS];
} vls_decimal_digits;

void vls_decimal_of(vls_decimal_digits *out, vls_json v);

#endif
