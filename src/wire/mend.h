/* mend.h -- JSON of others that is no text in places: it was paid for, and is to be read all the
 * same.
 *
 * Bytes that are no UTF-8 become U+FFFD, and so do halves of surrogate pairs ("\ud83d"). A provider
 * that cuts its text by UTF-16 units sends one half at the end of an event and the other one at the
 * beginning of the next. To bring them together again they can be *marked*: a half becomes one of
 * U+10F800 to U+10FFFF, where nobody has characters; and when somebody has, nothing is marked.
 *
 * Threads: pure functions. */
#ifndef VLS_MEND_H
#define VLS_MEND_H

#include "json/json.h"

#define VLS_MEND_CHARACTER VLS_STR("\xEF\xBF\xBD") /* U+FFFD */
#define VLS_MEND_MARK_LEN 4u

/* Parse a JSON text, mended where it has to be. *marked (NULL: mark nothing) says whether there are
 * marks in it; of a text that is fine as it is, it stays. */
int vls_mend_parse(vls_json *out, bool *marked, vls_arena *arena, valise_str text,
                   const vls_json_limits *limits, valise_error *err);

/* The half (0xD800 to 0xDFFF) whose mark the text begins with; 0: with none. */
uint32_t vls_mend_half(valise_str text);

/* Append text, with U+FFFD for marks (marked) and for what is no UTF-8. */
void vls_mend_add(vls_buf *out, valise_str text, bool marked);

#endif
