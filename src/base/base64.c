/* base64.c -- groups of three bytes and four characters.
 *
 *     byte 0   byte 1   byte 2
 *     aaaaaabb bbbbcccc ccdddddd      one group
 *     a: bbbbbb cccccc dddddd         six bits each
 *
 * The last group may be short: one byte gives two characters and "==", two give three and "=".
 * The bits behind the last byte are zero.
 *
 * Whole groups go through a tight loop over tables. The decoder does the group in which that
 * loop met anything unusual once more, character by character, to find out what it was. */
#include "base/base64.h"

#include "base/hex.h"
#include "base/str.h"

static const char alphabet[64] = {'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I', 'J', 'K', 'L', 'M',
                                  'N', 'O', 'P', 'Q', 'R', 'S', 'T', 'U', 'V', 'W', 'X', 'Y', 'Z',
                                  'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm',
                                  'n', 'o', 'p', 'q', 'r', 's', 't', 'u', 'v', 'w', 'x', 'y', 'z',
                                  '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '+', '/'};

/* The value of a character with this bit, or 0 where it is not of the alphabet: four lookups
 * are good when their AND still has it. */
#define GOOD 0x40u
#define V(value) ((value) | GOOD)

/* clang-format off */
static const uint8_t values[256] = {
    ['A'] = V(0), V(1), V(2), V(3), V(4), V(5), V(6), V(7), V(8), V(9), V(10), V(11), V(12),
    V(13), V(14), V(15), V(16), V(17), V(18), V(19), V(20), V(21), V(22), V(23), V(24), V(25),
    ['a'] = V(26), V(27), V(28), V(29), V(30), V(31), V(32), V(33), V(34), V(35), V(36), V(37),
    V(38), V(39), V(40), V(41), V(42), V(43), V(44), V(45), V(46), V(47), V(48), V(49), V(50),
    V(51),
    ['0'] = V(52), V(53), V(54), V(55), V(56), V(57), V(58), V(59), V(60), V(61),
    ['+'] = V(62), ['/'] = V(63),
};
/* clang-format on */

/* How many groups are done between two looks at the room in the output. */
#define CHUNK_GROUPS ((size_t)4096)

size_t vls_base64_encoded_len(size_t len)
{
    size_t groups = len / 3 + (len % 3 != 0), result;

    return __builtin_mul_overflow(groups, 4, &result) ? SIZE_MAX : result;
}

/* ---- bytes to text ---- */

static void encode_group(char *out, const uint8_t *in)
{
    uint32_t bits = (uint32_t)in[0] << 16 | (uint32_t)in[1] << 8 | in[2];

    out[0] = alphabet[bits >> 18];
    out[1] = alphabet[bits >> 12 & 63];
    out[2] = alphabet[bits >> 6 & 63];
    out[3] = alphabet[bits & 63];
}

static void encode_groups(vls_buf *out, const uint8_t *in, size_t groups)
{
    while (groups > 0) {
        size_t now = VLS_MIN(groups, CHUNK_GROUPS);
        char *at = vls_buf_reserve(out, 4 * now);
        if (!at)
            return;
        for (size_t i = 0; i < now; i++)
            encode_group(at + 4 * i, in + 3 * i);
        vls_buf_advance(out, 4 * now);
        in += 3 * now;
        groups -= now;
    }
}

void vls_base64_encode_update(vls_buf *out, vls_base64_encoder *e, valise_str bytes)
{
    while (bytes.len > 0 && e->carried > 0 && e->carried < 3) {
        e->carry[e->carried++] = (uint8_t)bytes.ptr[0];
        bytes = vls_str_from(bytes, 1);
    }
    if (e->carried == 3) {
        encode_groups(out, e->carry, 1);
        e->carried = 0;
    }
    if (e->carried > 0 || bytes.len == 0)
        return;

    encode_groups(out, (const uint8_t *)bytes.ptr, bytes.len / 3);
    e->carried = (uint8_t)(bytes.len % 3);
    memcpy(e->carry, bytes.ptr + bytes.len - e->carried, e->carried);
}

void vls_base64_encode_finish(vls_buf *out, vls_base64_encoder *e)
{
    uint8_t last[3] = {0, 0, 0};
    char text[4];

    if (e->carried > 0) {
        size_t used = e->carried + (size_t)1;
        memcpy(last, e->carry, e->carried);
        encode_group(text, last);
        memset(text + used, '=', sizeof(text) - used);
        vls_buf_add(out, vls_str(text, sizeof(text)));
    }
    *e = (vls_base64_encoder){0};
}

void vls_base64_encode(vls_buf *out, valise_str bytes)
{
    vls_base64_encoder e = {0};

    vls_base64_encode_update(out, &e, bytes);
    vls_base64_encode_finish(out, &e);
}

/* ---- text to bytes ---- */

typedef struct decoder {
    uint32_t bits;   /* of the characters that do not fill a group of four yet */
    uint8_t count;   /* how many characters of the group were seen: 0 to 3 */
    uint8_t padding; /* how many of them were '=' */
    bool ended;      /* a group with padding is complete: nothing may follow */
    size_t offset;   /* characters seen */
} decoder;

/* As many whole groups of plain characters as text begins with, appended to out. Returns how
 * many characters they have; fewer than there are when the buffer fails. */
static size_t decode_groups(vls_buf *out, valise_str text)
{
    const uint8_t *in = (const uint8_t *)text.ptr;
    size_t groups = text.len / 4, done = 0;

    while (done < groups) {
        /* A last group with padding is shorter than three bytes, so do not ask for more room
         * than there is: whether the end fits is seen byte by byte. */
        size_t now = VLS_MIN(VLS_MIN(groups - done, CHUNK_GROUPS), (out->max - out->len) / 3);
        uint8_t *at = now > 0 ? (uint8_t *)vls_buf_reserve(out, 3 * now) : NULL;
        size_t i = 0;
        if (!at)
            break;
        for (; i < now; i++, in += 4, at += 3) {
            uint32_t a = values[in[0]], b = values[in[1]], c = values[in[2]], d = values[in[3]];
            if (VLS_UNLIKELY(!(a & b & c & d & GOOD)))
                break;
            uint32_t bits = (a & 63) << 18 | (b & 63) << 12 | (c & 63) << 6 | (d & 63);
            at[0] = (uint8_t)(bits >> 16);
            at[1] = (uint8_t)(bits >> 8);
            at[2] = (uint8_t)bits;
        }
        vls_buf_advance(out, 3 * i);
        done += i;
        if (i < now)
            break;
    }
    return 4 * done;
}

/* The bytes of a group of count characters, the last of them bits; 2 and 3 are short groups,
 * whose last bits belong to no byte and must be zero. */
static int close_group(vls_buf *out, uint32_t bits, unsigned count, size_t offset,
                       valise_error *err)
{
    unsigned left_over = count == 4 ? 0 : count == 3 ? 2 : 4;
    uint32_t whole = bits << 6 * (4 - count);
    char bytes[3] = {(char)(whole >> 16 & 0xff), (char)(whole >> 8 & 0xff), (char)(whole & 0xff)};

    if (bits & ((1u << left_over) - 1)) {
        (void)vls_fail_at(err, VALISE_E_INVALID, offset - 1,
                          "base64: the character at offset %zu has bits set after the last byte",
                          offset - 1);
        vls_hint(err, "the text was cut off, or written by a program that does not clear them");
        return VALISE_E_INVALID;
    }
    vls_buf_add(out, vls_str(bytes, count - 1));
    return 0;
}

/* A '=' at d->offset: it may only stand in the third and fourth place of the last group. */
static int decode_padding(vls_buf *out, decoder *d, valise_error *err)
{
    int rc = 0;

    if (d->count < 2)
        return vls_fail_at(err, VALISE_E_INVALID, d->offset,
                           "base64: padding at offset %zu, where a character must be", d->offset);
    if (d->padding == 0)
        rc = close_group(out, d->bits, d->count, d->offset, err);
    if (rc < 0)
        return rc;
    d->padding++;
    d->count++;
    if (d->count == 4) {
        d->ended = true;
        d->count = 0;
    }
    return 0;
}

static int decode_one(vls_buf *out, decoder *d, char c, valise_error *err)
{
    uint32_t value = values[(unsigned char)c];
    int rc = 0;

    if (d->ended)
        return vls_fail_at(err, VALISE_E_INVALID, d->offset,
                           "base64: %s at offset %zu comes after the padding", vls_byte_text(c).s,
                           d->offset);
    if (c == '=') {
        rc = decode_padding(out, d, err);
    } else if (!(value & GOOD)) {
        rc = vls_fail_at(err, VALISE_E_INVALID, d->offset, "base64: unexpected %s at offset %zu",
                         vls_byte_text(c).s, d->offset);
    } else if (d->padding > 0) {
        rc = vls_fail_at(err, VALISE_E_INVALID, d->offset,
                         "base64: %s at offset %zu, where a second '=' must be", vls_byte_text(c).s,
                         d->offset);
    } else {
        d->bits = d->bits << 6 | (value & 63);
        d->count++;
        if (d->count == 4) {
            rc = close_group(out, d->bits, 4, d->offset + 1, err);
            d->bits = d->count = 0;
        }
    }
    d->offset++;
    return rc;
}

static int decode_all(vls_buf *out, decoder *d, valise_str text, valise_error *err)
{
    int rc = vls_buf_check(out, err);

    while (rc == 0 && text.len > 0) {
        if (d->count == 0 && !d->ended) {
            size_t plain = decode_groups(out, text);
            d->offset += plain;
            text = vls_str_from(text, plain);
        }
        /* What follows is a short group, or a group with something unusual in it. */
        for (int i = 0; i < 4 && rc == 0 && text.len > 0; i++) {
            rc = decode_one(out, d, text.ptr[0], err);
            text = vls_str_from(text, 1);
        }
        if (rc == 0)
            rc = vls_buf_check(out, err);
    }
    return rc;
}

/* The end of the text: a short group is left if it has no padding. */
static int decode_end(vls_buf *out, const decoder *d, bool unpadded, valise_error *err)
{
    int rc;

    if (d->count == 0)
        return 0;
    if (d->count == 1)
        return vls_fail_at(err, VALISE_E_INVALID, d->offset,
                           "base64: the text ends within a byte, at offset %zu", d->offset);
    if (d->padding > 0 || !unpadded)
        return vls_fail_at(err, VALISE_E_INVALID, d->offset,
                           "base64: padding is missing at the end (offset %zu)", d->offset);
    rc = close_group(out, d->bits, d->count, d->offset, err);
    return rc < 0 ? rc : vls_buf_check(out, err);
}

static int decode(vls_buf *out, valise_str text, bool unpadded, valise_error *err)
{
    size_t start = out->len;
    decoder d = {0};
    int rc = decode_all(out, &d, text, err);

    if (rc == 0)
        rc = decode_end(out, &d, unpadded, err);
    if (rc < 0)
        out->len = start;
    return rc;
}

int vls_base64_decode(vls_buf *out, valise_str text, valise_error *err)
{
    return decode(out, text, false, err);
}

int vls_base64_decode_unpadded(vls_buf *out, valise_str text, valise_error *err)
{
    return decode(out, text, true, err);
}
