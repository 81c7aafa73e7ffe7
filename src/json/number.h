/* number.h -- decimal text to double and back, exactly, whatever the host's locale.
 *
 * Threads: immutable (pure functions). */
#ifndef VLS_NUMBER_H
#define VLS_NUMBER_H

#include "base/base.h"

#define VLS_NUMBER_TEXT 32 /* room for the longest text vls_number_write makes */

/* A finite positive double as digits * 10^exponent, with as few digits as identify it. */
typedef struct vls_decimal {
    uint64_t digits; /* up to 17; no trailing zeros */
    int exponent;
} vls_decimal;

vls_decimal vls_number_shortest(double positive);

/* The shortest text that reads back as the same double, in the form of ECMAScript (RFC 8785):
 * 1, -0.5, 1e+21, 1e-7; -0 is 0. The number must be finite. Returns the length. */
size_t vls_number_write(char out[VLS_NUMBER_TEXT], double number);

/* What stands at a JSON number's place. */
typedef enum vls_number_kind {
    VLS_NUMBER_BAD,   /* no JSON number; end is where it stops being one */
    VLS_NUMBER_INT,   /* written as an integer, fits int64: integer */
    VLS_NUMBER_BIG,   /* written as an integer, does not fit, but is in the range of doubles */
    VLS_NUMBER_REAL,  /* real; may be integral (1.0, 1e3) */
    VLS_NUMBER_RANGE, /* larger than any double */
} vls_number_kind;

typedef struct vls_number {
    vls_number_kind kind;
    const char *end; /* one past the last byte read */
    int64_t integer;
    double real;
} vls_number;

/* Read the JSON number that starts at p. What follows it is the caller's business. */
void vls_number_read(vls_number *out, const char *p, const char *end);

/* The double nearest to a whole JSON number; false when text is none or out of range. */
bool vls_number_to_double(double *out, valise_str text);

#endif
