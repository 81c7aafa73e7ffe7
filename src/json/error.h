/* error.h -- an error as JSON, and back: {"code":"NOT_FOUND","hint":"...","message":"..."}.
 *
 * Threads: pure functions. */
#ifndef VLS_JSON_ERROR_H
#define VLS_JSON_ERROR_H

#include "json/json.h"

/* Append it, canonical. code: its name, where it is not that of err->code; or NULL. current: what
 * was there instead, as JSON; "": nothing is told. Words of an error may be any bytes: made
 * harmless they are valid UTF-8 too. The buffer remembers a failure. */
void vls_json_write_error(vls_buf *out, const valise_env *env, const valise_error *err,
                          const char *code, valise_str current);

/* Fill err, where it is one: an object with a code that is known and a message; what it says is cut
 * to what there is room for, and made harmless. Returns the code; 0: it is none. */
int vls_json_read_error(valise_error *err, const valise_env *env, vls_json v);

#endif
