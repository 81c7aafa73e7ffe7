/* valise/json.h -- just enough JSON to make a request and read the answer.
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
 * This is for programs that have no JSON library at hand: each call parses the text again. pointer
 * is a JSON Pointer (RFC 6901), such as "/turns/0/role"; "" is the whole value.
 *
 * Threads: pure functions. */
#ifndef VALISE_JSON_H
#define VALISE_JSON_H

#include <stdint.h>

#include <valise/blob.h>
#include <valise/error.h>

VALISE_BEGIN

/* Make a JSON string of a text, with quotes and escapes, as a new blob. VALISE_E_INVALID: the text
 * is not UTF-8. */
VALISE_API int valise_json_quote(valise_blob **out, valise_str text, valise_error *err);

/* Make a JSON text from a pattern, as a new blob with its canonical form. The pattern is JSON in
 * which values may be printf conversions (compilers check the arguments). Each conversion becomes a
 * whole value:
 *
 *     %s %.*s             a string: quotes and escapes are added. %s with NULL: null
 *     %-s %-.*s           text that is JSON already, inserted as it is
 *     %d %ld %lld %jd %zd an integer; %i and %u likewise
 *     %g                  a number
 *     %%                  a percent sign
 *
 * Whatever a user typed can only become a string. VALISE_E_INVALID: another conversion, text that
 * is not UTF-8, a number that JSON cannot express (NaN, an infinity), or a result that is not JSON.
 *
 * err comes before the pattern, because the arguments end the list. */
VALISE_API int valise_json_format(valise_blob **out, valise_error *err, const char *pattern, ...)
    VALISE_PRINTF(3, 4);

/* Find the value that pointer points to. 1: *out is a new blob with its canonical text. 0: there is
 * no such value, and *out is untouched. VALISE_E_INVALID: json is not JSON, or pointer is not a
 * JSON Pointer. */
VALISE_API int valise_json_get(valise_blob **out, valise_str json, const char *pointer,
                               valise_error *err);

/* Find a string (its text, without quotes and escapes) or an integer. 1: found. 0: there is no such
 * value, or it is null. VALISE_E_INVALID: it is of another type. */
VALISE_API int valise_json_get_text(valise_blob **out, valise_str json, const char *pointer,
                                    valise_error *err);
VALISE_API int valise_json_get_int(int64_t *out, valise_str json, const char *pointer,
                                   valise_error *err);

VALISE_END

#endif
