/* base64.h -- base64 (RFC 4648); encoding also piece by piece:
 *
 *     vls_base64_encoder e = {0};
 *     vls_base64_encode_update(&out, &e, piece);       as often as there are pieces
 *     vls_base64_encode_finish(&out, &e);
 *     rc = vls_buf_check(&out, err);
 *
 * The decoder is strict: each sequence of bytes has exactly one text. It refuses characters outside
 * the alphabet (white space included), unused bits that are not zero, and padding that is missing,
 * wrong or followed by anything. Errors carry the offset.
 *
 * Threads: single. The encoder owns no memory: there is no release. */
#ifndef VLS_BASE64_H
#define VLS_BASE64_H

#include "base/buf.h"

/* The encoded length of len bytes; SIZE_MAX when there is no such number. */
size_t vls_base64_encoded_len(size_t len);

/* ---- bytes to text ---- */

/* Starts as {0}. */
typedef struct vls_base64_encoder {
    uint8_t carry[3]; /* bytes that do not fill a group of three yet */
    uint8_t carried;  /* how many: 0, 1 or 2 */
} vls_base64_encoder;

/* Append the text of what is complete. The buffer remembers a failure. */
void vls_base64_encode_update(vls_buf *out, vls_base64_encoder *e, valise_str bytes);

/* Append the rest and the padding. The encoder is then as at the start. */
void vls_base64_encode_finish(vls_buf *out, vls_base64_encoder *e);

void vls_base64_encode(vls_buf *out, valise_str bytes);

/* ---- text to bytes ---- */

/* Append the bytes. VALISE_E_INVALID with the offset; otherwise what vls_buf_check says. On failure
 * nothing was appended. */
int vls_base64_decode(vls_buf *out, valise_str text, valise_error *err) VLS_NODISCARD;

/* The same of a text whose padding may be missing. */
int vls_base64_decode_unpadded(vls_buf *out, valise_str text, valise_error *err) VLS_NODISCARD;

#endif
