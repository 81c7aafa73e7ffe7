/* order.h -- keys of several parts as bytes whose order (memcmp) is the order of the parts.
 *
 *     NULL   01
 *     INT    02, 8 bytes: big endian with the sign bit inverted
 *     REAL   03, 8 bytes: the bits of the double, big endian; of a negative one all are inverted,
 *            else only the sign
 *     TEXT   04, the bytes with 00 written as 00 FF, then 00 00
 *     BLOB   05, the same
 *
 * Parts follow each other. No part is the beginning of another, so whatever follows matters only if
 * everything before it is equal; a string is less than every longer string that begins with it. The
 * kinds are ordered like SQLite's storage classes, except for numbers: SQLite compares INT and REAL
 * by value, but here a column must not mix them.
 *
 * Each value has one encoding: -0.0 is written as 0.0, and NaN, which has no order, must not be
 * given. Reading refuses everything that writing never makes.
 *
 * Threads: pure functions; safe anywhere. */
#ifndef VLS_ORDER_H
#define VLS_ORDER_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/str.h"

typedef enum vls_order_kind {
    VLS_ORDER_NULL = 1,
    VLS_ORDER_INT = 2,
    VLS_ORDER_REAL = 3,
    VLS_ORDER_TEXT = 4,
    VLS_ORDER_BLOB = 5,
} vls_order_kind;

/* One part. Only the member of its kind means something. */
typedef struct vls_order_part {
    vls_order_kind kind;
    int64_t integer;
    double real;
    valise_str bytes; /* of TEXT (not checked to be UTF-8) and BLOB */
} vls_order_part;

/* Append a part. The buffer remembers a failure. */
void vls_order_add_null(vls_buf *out);
void vls_order_add_int(vls_buf *out, int64_t value);
void vls_order_add_real(vls_buf *out, double value); /* no NaN */
void vls_order_add_text(vls_buf *out, valise_str text);
void vls_order_add_blob(vls_buf *out, valise_str bytes);

/* Read the next part. Its bytes are borrowed from what is read, or from the arena where they
 * contain a 00. VALISE_E_CORRUPT when there is no whole part or not one that is written so;
 * VALISE_E_NO_MEMORY and VALISE_E_TOO_LARGE of the arena. A failure leaves *out untouched and
 * sticks in the reader. */
int vls_order_next(vls_order_part *out, vls_reader *in, vls_arena *arena,
                   valise_error *err) VLS_NODISCARD;

#endif
