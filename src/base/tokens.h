/* tokens.h -- estimate how many tokens a text has. [P16]
 *
 * Models cut text by tables of their own, which are large and for some of them not public. This is
 * an estimate from the bytes alone, in integers, the same everywhere. It was fitted to o200k_base
 * so that it errs on the high side: docs/tokens.md says by how much, for which kinds of text, and
 * where it may be too low.
 *
 * For all bytes, valid UTF-8 or not:
 *  - nothing counts 0, and anything else at least 1;
 *  - it only grows: what is appended never lowers the count;
 *  - pieces that are added to one counter count what they would as one text;
 *  - two texts counted apart and together differ by at most VLS_TOKENS_SEAM, in either direction.
 * So a sum over parts is a good estimate of the whole, and a counter is an exact one.
 *
 * Threads: vls_token_counter is single. The rest are pure functions. */
#ifndef VLS_BASE_TOKENS_H
#define VLS_BASE_TOKENS_H

#include "base/str.h"

int64_t vls_tokens(valise_str text);

/* A text that comes in pieces. A zeroed counter has seen nothing. */
typedef struct vls_token_counter {
    uint64_t cost; /* of what it has seen, in 1/VLS_TOKEN_UNITS */
    uint32_t last; /* the byte before, plus 1; 0: none */
    uint32_t run;  /* how many bytes of the same group stood right before that one */
} vls_token_counter;

#define VLS_TOKEN_UNITS 64
#define VLS_TOKENS_SEAM 10

void vls_tokens_add(vls_token_counter *counter, valise_str piece);

/* Of all that was added. */
int64_t vls_tokens_total(const vls_token_counter *counter);

/* ---- what is no text ---- */

/* Providers count pictures and documents by rules of their own, most of them by the pixel or the
 * page. These are generous guesses from what is known without decoding: the type and the size. */
#define VLS_TOKENS_PER_IMAGE 1600
#define VLS_TOKENS_PER_PAGE 2000
#define VLS_BYTES_PER_PAGE 50000

/* A document of pages that has `size` bytes: a page for each VLS_BYTES_PER_PAGE begun, one at
 * least. */
int64_t vls_tokens_document(uint64_t size);

/* A blob in a prompt, by its media type ("image/png", "Application/PDF; v=1"):
 *  - image/...: per_image if that is over 0, VLS_TOKENS_PER_IMAGE otherwise, whatever the size;
 *  - application/pdf: vls_tokens_document(size);
 *  - anything else: one for each byte, which is what its base64 is at most. Text is counted by what
 * it says, with vls_tokens. */
int64_t vls_tokens_media(valise_str media_type, uint64_t size, int64_t per_image);

#endif
