/* bytes.h -- numbers and byte strings as bytes, and back.
 *
 *     u16, u32, u64   that many bits, big endian
 *     varint          7 bits a byte, the lowest first; all but the last byte have 0x80 set (LEB128)
 *     zigzag          signed numbers for varints: 0, -1, 1, -2, ... become 0, 1, 2, 3, ...
 *     string          its length as a varint, then its bytes
 *
 * Each value has exactly one encoding, because encodings are hashed and compared. So a varint that
 * is longer than necessary is as malformed as one of more than 64 bits.
 *
 * Writers append to a vls_buf, which remembers a failure. A vls_reader does the same for reading:
 * read everything, then ask once. A read that fails gives 0 or nothing, and leaves nothing to read,
 * so that loops that run until the end do end.
 *
 * Threads: vls_reader is single; the rest are pure functions. */
#ifndef VLS_BYTES_H
#define VLS_BYTES_H

#include "base/buf.h"

#define VLS_VARINT_MAX 10 /* the most bytes of a varint */

/* ---- numbers in place ---- */

static inline uint16_t vls_bytes_load_u16(const void *at)
{
    const uint8_t *b = at;

    return (uint16_t)(b[0] << 8 | b[1]);
}

static inline uint32_t vls_bytes_load_u32(const void *at)
{
    const uint8_t *b = at;

    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static inline uint64_t vls_bytes_load_u64(const void *at)
{
    const uint8_t *b = at;

    return (uint64_t)vls_bytes_load_u32(b) << 32 | vls_bytes_load_u32(b + 4);
}

static inline void vls_bytes_store_u16(void *at, uint16_t value)
{
    uint8_t *b = at;

    b[0] = (uint8_t)(value >> 8);
    b[1] = (uint8_t)value;
}

static inline void vls_bytes_store_u32(void *at, uint32_t value)
{
    uint8_t *b = at;

    vls_bytes_store_u16(b, (uint16_t)(value >> 16));
    vls_bytes_store_u16(b + 2, (uint16_t)value);
}

static inline void vls_bytes_store_u64(void *at, uint64_t value)
{
    uint8_t *b = at;

    vls_bytes_store_u32(b, (uint32_t)(value >> 32));
    vls_bytes_store_u32(b + 4, (uint32_t)value);
}

static inline uint64_t vls_bytes_zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
}

static inline int64_t vls_bytes_unzigzag(uint64_t value)
{
    uint64_t bits = value >> 1 ^ (value & 1 ? UINT64_MAX : 0);

    return (int64_t)bits;
}

/* ---- writing: the buffer remembers a failure ---- */

void vls_bytes_add_u16(vls_buf *out, uint16_t value);
void vls_bytes_add_u64(vls_buf *out, uint64_t value);
void vls_bytes_add_varint(vls_buf *out, uint64_t value);
void vls_bytes_add_string(vls_buf *out, valise_str bytes); /* with its length in front */

/* ---- reading ---- */

typedef struct vls_reader {
    const uint8_t *at, *end; /* what is left; borrowed */
    bool failed;             /* sticks; at is then end */
} vls_reader;

static inline vls_reader vls_reader_of(valise_str bytes)
{
    const uint8_t *at = (const uint8_t *)bytes.ptr;

    return (vls_reader){.at = at, .end = bytes.len ? at + bytes.len : at};
}

static inline size_t vls_reader_left(const vls_reader *in)
{
    return (size_t)(in->end - in->at);
}

/* Whether everything was read, and every read had what it wanted. */
static inline bool vls_reader_is_done(const vls_reader *in)
{
    return !in->failed && in->at == in->end;
}

/* For who finds something wrong in what was read. */
static inline void vls_reader_fail(vls_reader *in)
{
    in->failed = true;
    in->at = in->end;
}

uint8_t vls_reader_u8(vls_reader *in);
uint16_t vls_reader_u16(vls_reader *in);
uint64_t vls_reader_u64(vls_reader *in);
uint64_t vls_reader_varint(vls_reader *in);

/* The next len bytes, where they stand: borrowed from what is read. */
valise_str vls_reader_slice(vls_reader *in, uint64_t len);

/* What vls_bytes_add_string wrote, borrowed as well. */
valise_str vls_reader_string(vls_reader *in);

#endif
