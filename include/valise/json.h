/* valise/json.h -- as much of JSON as it takes to ask and to read the answer.
 *
 *     valise_blob *payload = NULL, *topic = NULL;
 *
 *     rc = valise_json_format(&payload, err, "{\"key\":%s,\"text\":%s,\"version\":%d}", "note",
 *                             what_somebody_typed, 7);
 *     if (rc == 0)
 *         rc = valise_dispatch(&reply, v, "context:update", valise_blob_text(payload), NULL, err);
 *     if (rc == 0)
 *         rc = valise_json_get_text(&topic, valise_blob_bytes(reply.json), "/topics/0", err);
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

/* A JSON text made of a pattern, as a new blob with its canonical form. The pattern is JSON with
 * conversions of printf where values stand (compilers check the arguments), but each becomes a
 * whole value:
 *
 *     %s %.*s             a string: quotes and escapes are added. %s with NULL: null
 *     %-s %-.*s           JSON that was made already, as it is
 *     %d %ld %lld %jd %zd a whole number; so with i, and u
 *     %g                  a number
 *     %%                  a percent sign
 *
 * What somebody typed cannot become anything but a string. VALISE_E_INVALID: another conversion,
 * text that is not UTF-8, a number that JSON has not, or what comes of it is no JSON.
 *
 * err stands before the pattern, since the arguments end the list. */
VALISE_API int valise_json_format(valise_blob **out, valise_error *err, const char *pattern, ...)
    VALISE_PRINTF(3, 4);

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
