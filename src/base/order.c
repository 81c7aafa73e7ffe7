/* order.c -- order-preserving keys. */
#include "base/order.h"

#include <math.h>

#define SIGN (UINT64_C(1) << 63)
#define SHORT 64u /* bytes that are looked at one by one */

/* ---- writing ---- */

static void add_kind(vls_buf *out, vls_order_kind kind)
{
    vls_buf_add_byte(out, (char)kind);
}

void vls_order_add_null(vls_buf *out)
{
    add_kind(out, VLS_ORDER_NULL);
}

void vls_order_add_int(vls_buf *out, int64_t value)
{
    add_kind(out, VLS_ORDER_INT);
    vls_bytes_add_u64(out, (uint64_t)value ^ SIGN);
}

void vls_order_add_real(vls_buf *out, double value)
{
    uint64_t bits;

    assert(!isnan(value));
    value += 0.0; /* -0.0 becomes 0.0, all others stay */
    memcpy(&bits, &value, sizeof(bits));
    add_kind(out, VLS_ORDER_REAL);
    vls_bytes_add_u64(out, bits & SIGN ? ~bits : bits | SIGN);
}

/* Ids and names: all of it at once. */
static void add_short(vls_buf *out, vls_order_kind kind, valise_str bytes)
{
    char room[2 * SHORT + 3];
    char *at = room;

    *at++ = (char)kind;
    for (size_t i = 0; i < bytes.len; i++) {
        *at++ = bytes.ptr[i];
        if (bytes.ptr[i] == '\0')
            *at++ = '\xFF';
    }
    *at++ = '\0';
    *at++ = '\0';
    vls_buf_add(out, vls_str(room, (size_t)(at - room)));
}

static void add_bytes(vls_buf *out, vls_order_kind kind, valise_str bytes)
{
    if (bytes.len <= SHORT) {
        add_short(out, kind, bytes);
        return;
    }
    add_kind(out, kind);
    for (;;) {
        size_t zero = vls_str_find_byte(bytes, '\0');
        vls_buf_add(out, vls_str_head(bytes, zero));
        if (zero == bytes.len)
            break;
        vls_buf_add(out, vls_str("\0\xFF", 2));
        bytes = vls_str_from(bytes, zero + 1);
    }
    vls_buf_add(out, vls_str("\0\0", 2));
}

void vls_order_add_text(vls_buf *out, valise_str text)
{
    add_bytes(out, VLS_ORDER_TEXT, text);
}

void vls_order_add_blob(vls_buf *out, valise_str bytes)
{
    add_bytes(out, VLS_ORDER_BLOB, bytes);
}

/* ---- reading ---- */

static double read_real(vls_reader *in)
{
    uint64_t bits = vls_reader_u64(in);
    double value;

    bits = bits & SIGN ? bits ^ SIGN : ~bits;
    memcpy(&value, &bits, sizeof(value));
    if (isnan(value) || bits == SIGN)
        vls_reader_fail(in);
    return value;
}

/* Where the string that begins here ends (00 00), and how many 00 are in it; fails the reader when
 * it does not end or a 00 is followed by something else. */
static valise_str read_escaped(size_t *zeros, vls_reader *in)
{
    valise_str rest = {(const char *)in->at, vls_reader_left(in)};
    size_t len = 0;

    *zeros = 0;
    for (;;) {
        len += vls_str_find_byte(vls_str_from(rest, len), '\0');
        if (rest.len - len < 2 || (rest.ptr[len + 1] != '\0' && rest.ptr[len + 1] != '\xFF'))
            break;
        if (rest.ptr[len + 1] == '\0') {
            in->at += len + 2;
            return vls_str_head(rest, len);
        }
        len += 2;
        (*zeros)++;
    }
    vls_reader_fail(in);
    return (valise_str){NULL, 0};
}

static int read_bytes(valise_str *out, vls_reader *in, vls_arena *arena, valise_error *err)
{
    size_t zeros, len = 0;
    valise_str escaped = read_escaped(&zeros, in);

    if (zeros == 0 || in->failed) {
        *out = escaped;
        return 0;
    }
    char *bytes = vls_arena_alloc(arena, escaped.len - zeros);
    if (!bytes) {
        vls_reader_fail(in);
        return vls_arena_fail(arena, err);
    }
    for (size_t i = 0; i < escaped.len; i++) {
        bytes[len++] = escaped.ptr[i];
        i += escaped.ptr[i] == '\0'; /* and the FF behind it */
    }
    *out = (valise_str){bytes, len};
    return 0;
}

int vls_order_next(vls_order_part *out, vls_reader *in, vls_arena *arena, valise_error *err)
{
    size_t left = vls_reader_left(in);
    vls_order_part part = {.kind = (vls_order_kind)vls_reader_u8(in)};
    int rc = 0;

    switch (part.kind) {
    case VLS_ORDER_NULL:
        break;
    case VLS_ORDER_INT:
        part.integer = (int64_t)(vls_reader_u64(in) ^ SIGN);
        break;
    case VLS_ORDER_REAL:
        part.real = read_real(in);
        break;
    case VLS_ORDER_TEXT:
    case VLS_ORDER_BLOB:
        rc = read_bytes(&part.bytes, in, arena, err);
        break;
    default:
        vls_reader_fail(in);
    }
    if (rc < 0)
        return rc;
    if (in->failed)
        return vls_fail(err, VALISE_E_CORRUPT, "a key is malformed %zu bytes before its end", left);
    *out = part;
    return 0;
}
