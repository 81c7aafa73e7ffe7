/* valise/error.h -- what went wrong, in a struct the caller owns.
 *
 * Functions that fail return a negative code and fill the valise_error they were given (it may
 * always be NULL). Nothing is allocated and nothing depends on the thread, so an error can
 * be kept, copied and handed to another thread. On success the struct is not touched.
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
    int code;          /* VALISE_E_..., 0 when nothing went wrong */
    int64_t offset;    /* byte offset in the input the error is about, or -1 */
    char path[128];    /* the field it is about, such as "turn.blocks[2].callId", or "" */
    char message[384]; /* one line: the thing and the reason */
    char hint[192];    /* one line: the way out, or "" */
} valise_error;

#define VALISE_ERROR_INIT                                                                          \
    {                                                                                              \
        0, -1, {0}, {0},                                                                           \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }

/* "NOT_FOUND" for VALISE_E_NOT_FOUND, "OK" for 0, "UNKNOWN" for a number that is no code. */
VALISE_API const char *valise_error_name(int code);

/* A short text, "not found", for when there is no message. */
VALISE_API const char *valise_error_text(int code);

/* What the command line exits with and what the server answers; 1 and 500 for unknown codes. */
VALISE_API int valise_error_exit_code(int code);
VALISE_API int valise_error_http_status(int code);

VALISE_END

#endif
