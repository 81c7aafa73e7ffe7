/* base64.h -- base64 (RFC 4648), all at once or piece by piece.
 *
 *     vls_base64_encoder e;
 *     vls_base64_encoder_init(&e, 0);
 *     vls_base64_encode_update(&out, &e, piece);       as often as there are pieces
 *     vls_base64_encode_finish(&out, &e);
 *     rc = vls_buf_check(&out, err);
 *
 * The decoder is strict: each sequence of bytes has exactly one text. It refuses characters outside
 * the alphabet (white space included), unused bits that are not zero, and padding that is missing,
 * wrong or followed by anything. Errors carry the offset within the whole text, over all pieces.
 *
 * Threads: single. The structs own no memory: there is no release. */
#ifndef VLS_BASE64_H
#define VLS_BASE64_H

#include "base/buf.h"

enum {
    VLS_BASE64_URL = 1,        /* '-' and '_' in the place of '+' and '/' */
    VLS_BASE64_NO_PADDING = 2, /* encoder: write no '='; decoder: '=' may be missing */
};

/* The encoded length of len bytes with padding; SIZE_MAX when there is no such number. */
size_t vls_base64_encoded_len(size_t len);

/* ---- bytes to text ---- */

typedef struct vls_base64_encoder {
    uint32_t flags;
    uint8_t carry[3]; /* bytes that do not fill a group of three yet */
    uint8_t carried;  /* how many: 0, 1 or 2 */
} vls_base64_encoder;

void vls_base64_encoder_init(vls_base64_encoder *e, uint32_t flags);

/* Append the text of what is complete. The buffer remembers a failure. */
void vls_base64_encode_update(vls_buf *out, vls_base64_encoder *e, valise_str bytes);

/* Append the rest and the padding. The encoder is then as after init. */
void vls_base64_encode_finish(vls_buf *out, vls_base64_encoder *e);

void vls_base64_encode(vls_buf *out, valise_str bytes, uint32_t flags);

/* ---- text to bytes ---- */

typedef struct vls_base64_decoder {
    uint32_t flags;
    uint32_t bits;   /* of the characters that do not fill a group of four yet */
    uint8_t count;   /* how many characters of the group were seen: 0 to 3 */
    uint8_t padding; /* how many of them were '=' */
    bool ended;      /* a group with padding is complete: nothing may follow */
    size_t offset;   /* characters seen */
} vls_base64_decoder;

void vls_base64_decoder_init(vls_base64_decoder *d, uint32_t flags);

/* Append the bytes of what is complete. VALISE_E_INVALID with the offset in the whole text;
 * otherwise what vls_buf_check says. On failure this call appended nothing and the decoder is
 * as it was. */
int vls_base64_decode_update(vls_buf *out, vls_base64_decoder *d, valise_str text,
                             valise_error *err) VLS_NODISCARD;

/* Append the rest of a text without padding, and say whether the text was complete. On success
 * the decoder is then as after init. Errors as above. */
int vls_base64_decode_finish(vls_buf *out, vls_base64_decoder *d, valise_error *err) VLS_NODISCARD;

/* On failure nothing was appended. */
int vls_base64_decode(vls_buf *out, valise_str text, uint32_t flags,
                      valise_error *err) VLS_NODISCARD;

#endif
