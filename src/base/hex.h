/* hex.h -- bytes as hexadecimal digits, and the text forms of ids and UUIDs.
 *
 *     valise_id     64 lower-case digits, nothing else: an object has one name in text too, so
 *                   that two texts can be compared byte by byte
 *     valise_uuid   8-4-4-4-12 digits; written in lower case, read in either (RFC 9562)
 *
 * The text of a value comes in a small struct by value, which is what a message wants:
 *
 *     vls_fail(err, VALISE_E_CORRUPT, "object %s is damaged", vls_id_hex(id).s);
 *
 * Threads: pure functions; safe anywhere. */
#ifndef VLS_HEX_H
#define VLS_HEX_H

#include "base/buf.h"

/* ---- bytes ---- */

/* Append two lower-case digits for each byte. The buffer remembers a failure. */
void vls_hex_encode(vls_buf *out, valise_str bytes);

/* Append the bytes that text spells in lower-case digits. VALISE_E_INVALID with the offset of
 * the first byte that is no such digit, or of the end when a digit is missing; otherwise what
 * vls_buf_check says. On failure nothing was appended. */
int vls_hex_decode(vls_buf *out, valise_str text, valise_error *err) VLS_NODISCARD;

/* ---- content ids ---- */

typedef struct vls_id_text {
    char s[64 + 1]; /* NUL-ended */
} vls_id_text;

vls_id_text vls_id_hex(const valise_id *id);

/* Exactly 64 lower-case digits. VALISE_E_INVALID, with the offset, leaves *out untouched. */
int vls_id_parse(valise_id *out, valise_str text, valise_error *err) VLS_NODISCARD;

/* ---- UUIDs ---- */

typedef struct vls_uuid_string {
    char s[36 + 1]; /* NUL-ended */
} vls_uuid_string;

vls_uuid_string vls_uuid_text(const valise_uuid *uuid);

/* Exactly 8-4-4-4-12 digits in either case, any version and variant: no braces, no "urn:uuid:".
 * VALISE_E_INVALID, with the offset, leaves *out untouched. */
int vls_uuid_parse(valise_uuid *out, valise_str text, valise_error *err) VLS_NODISCARD;

/* ---- messages ---- */

typedef struct vls_byte_name {
    char s[8]; /* NUL-ended */
} vls_byte_name;

/* How an error names one byte of its input: 'g', or 0x1b where it is not printable ASCII. */
vls_byte_name vls_byte_text(char byte);

#endif
