/* valise/json.h -- as much of JSON as it takes to ask and to read the answer.
 *
 *     valise_blob *text = NULL, *topic = NULL;
 *
 *     rc = valise_json_quote(&text, valise_str_of(what_somebody_typed), err);
 *     snprintf(payload, sizeof(payload), "{\"key\":\"note\",\"text\":%.*s}",
 *              VALISE_STR_ARG(valise_blob_bytes(text)));
 *     rc = valise_dispatch(&reply, v, "context:add", payload, NULL, err);
 *     ...
 *     rc = valise_json_get_text(&topic, valise_blob_bytes(reply.json), "/topics/0", err);
 *
 * For programs that have no JSON library at hand; each call reads the text anew. pointer: a JSON
 * Pointer (RFC 6901), such as "/turns/0/role"; "" is the whole value.
 *
 * Threads: pure functions. */
#ifndef VALISE_JSON_H
#define VALISE_JSON_H

#include <stdint.h>

#include <valise/blob.h>
#include <valise/error.h>

VALISE_BEGIN

/* A text as a JSON string, with its quotes and escapes, as a new blob. VALISE_E_INVALID: it is not
 * UTF-8. */
VALISE_API int valise_json_quote(valise_blob **out, valise_str text, valise_error *err);

/* The value that stands there: 1, and *out is a new blob with its canonical text; 0: there is none,
 * and *out is untouched. VALISE_E_INVALID: that is no JSON, or no pointer. */
VALISE_API int valise_json_get(valise_blob **out, valise_str json, const char *pointer,
                               valise_error *err);

/* The same of a string: what it says, without quotes and escapes; and of a whole number. Of a null,
 * as of nothing, 0. VALISE_E_INVALID: it is something else. */
VALISE_API int valise_json_get_text(valise_blob **out, valise_str json, const char *pointer,
                                    valise_error *err);
VALISE_API int valise_json_get_int(int64_t *out, valise_str json, const char *pointer,
                                   valise_error *err);

VALISE_END

#endif
