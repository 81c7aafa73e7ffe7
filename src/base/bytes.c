/* bytes.c -- numbers and byte strings appended and read back. */
#include "base/bytes.h"

/* ---- writing ---- */

void vls_bytes_add_u16(vls_buf *out, uint16_t value)
{
    char *at = vls_buf_reserve(out, sizeof(value));

    if (at) {
        vls_bytes_store_u16(at, value);
        vls_buf_advance(out, sizeof(value));
    }
}

void vls_bytes_add_u64(vls_buf *out, uint64_t value)
{
    char *at = vls_buf_reserve(out, sizeof(value));

    if (at) {
        vls_bytes_store_u64(at, value);
        vls_buf_advance(out, sizeof(value));
    }
}

void vls_bytes_add_varint(vls_buf *out, uint64_t value)
{
    char bytes[VLS_VARINT_MAX];
    size_t len = 0;

    while (value >= 0x80) {
        bytes[len++] = (char)(value | 0x80);
        value >>= 7;
    }
    bytes[len++] = (char)value;
    vls_buf_add(out, (valise_str){bytes, len});
}

void vls_bytes_add_string(vls_buf *out, valise_str bytes)
{
    vls_bytes_add_varint(out, bytes.len);
    vls_buf_add(out, bytes);
}

/* ---- reading ---- */

/* The place of the next len (not 0) bytes, which are then read; NULL when there are not so many. */
static const uint8_t *take(vls_reader *in, uint64_t len)
{
    const uint8_t *at = in->at;

    if (len > vls_reader_left(in)) {
        vls_reader_fail(in);
        return NULL;
    }
    in->at += len;
    return at;
}

uint8_t vls_reader_u8(vls_reader *in)
{
    const uint8_t *at = take(in, 1);

    return at ? *at : 0;
}

uint16_t vls_reader_u16(vls_reader *in)
{
    const uint8_t *at = take(in, sizeof(uint16_t));

    return at ? vls_bytes_load_u16(at) : 0;
}

uint64_t vls_reader_u64(vls_reader *in)
{
    const uint8_t *at = take(in, sizeof(uint64_t));

    return at ? vls_bytes_load_u64(at) : 0;
}

uint64_t vls_reader_varint(vls_reader *in)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = vls_reader_u8(in);
        uint64_t bits = byte & 0x7F;

        if (in->failed || (shift == 63 && byte > 1))
            break;
        value |= bits << shift;
        if (byte < 0x80) {
            /* A last byte of nothing but zeros could have been left out. */
            if (byte == 0 && shift > 0)
                break;
            return value;
        }
    }
    vls_reader_fail(in);
    return 0;
}

valise_str vls_reader_slice(vls_reader *in, uint64_t len)
{
    /* Nothing is fine, also where there is nothing to point to. */
    if (len == 0)
        return (valise_str){(const char *)in->at, 0};
    const uint8_t *at = take(in, len);
    return at ? (valise_str){(const char *)at, (size_t)len} : (valise_str){NULL, 0};
}

valise_str vls_reader_string(vls_reader *in)
{
    uint64_t len = vls_reader_varint(in);

    return vls_reader_slice(in, len);
}
