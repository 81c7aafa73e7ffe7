/* valise/error.h -- what went wrong, in a struct that the caller owns.
 *
 * A function that fails returns a negative code and fills the valise_error that it was given, which
 * may always be NULL. Filling it allocates nothing, and its content does not depend on the thread,
 * so an error can be kept, copied and handed to another thread. On success the struct is not
 * touched.
 *
 * Threads: single (a plain struct). */
#ifndef VALISE_ERROR_H
#define VALISE_ERROR_H

#include <stdint.h>

#include <valise/api.h>

VALISE_BEGIN

enum {
#define X(name, number, text, exit_code, http_status) VALISE_E_##name = (number),
#include <valise/errors.def>
#undef X
};

typedef struct valise_error {
    int code;          /* VALISE_E_..., or 0 if nothing went wrong */
    int64_t offset;    /* the byte of the input that is wrong, or -1 */
    char path[128];    /* the field that is wrong, such as "turn.blocks[2].callId", or "" */
    char message[384]; /* one line: what failed, and why */
    char hint[192];    /* one line: what to do about it, or "" */
} valise_error;

#define VALISE_ERROR_INIT                                                                          \
    {                                                                                              \
        0, -1, {0}, {0},                                                                           \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }

/* The name of a code: "NOT_FOUND" for VALISE_E_NOT_FOUND, "OK" for 0, "UNKNOWN" for any other
 * number. */
VALISE_API const char *valise_error_name(int code);

/* A short text for a code, such as "not found", for use when there is no message. */
VALISE_API const char *valise_error_text(int code);

/* The exit code of the command line and the HTTP status of the server for an error code; 1 and 500
 * if the code is unknown. */
VALISE_API int valise_error_exit_code(int code);
VALISE_API int valise_error_http_status(int code);

/* Fill an error, for callbacks and tables of your own: return valise_error_set(err, ...). The
 * message is one line, and is cut if it is too long; path and hint become "". Returns code, which
 * must be below 0 (otherwise it is taken as VALISE_E_INVALID). err may be NULL. */
VALISE_API int valise_error_set(valise_error *err, int code, const char *format, ...)
    VALISE_PRINTF(3, 4);

VALISE_END

#endif
