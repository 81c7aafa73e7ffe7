/* base.h -- what every source file of Valise starts with.
 *
 * The plain types, the scope-cleanup macros and the ban list. Everything else in base/ is
 * included by name: base/buf.h, base/map.h, ... */
#ifndef VLS_BASE_H
#define VLS_BASE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <valise/error.h>
#include <valise/id.h>
#include <valise/str.h>
#include <valise/sys/env.h>

/* Release a local on every way out of its scope: VLS_AUTO(buf) vls_buf b = ...;
 * The type's header defines vls_auto_<name>(), which must accept a zeroed variable. */
#define VLS_AUTO(name) __attribute__((cleanup(vls_auto_##name)))

/* Hand a pointer out of a VLS_AUTO variable: the variable becomes NULL. */
#define VLS_TAKE(ptr)                                                                              \
    __extension__({                                                                                \
        __typeof__(ptr) vls_taken_ = (ptr);                                                        \
        (ptr) = NULL;                                                                              \
        vls_taken_;                                                                                \
    })

#define VLS_COUNT(array) (sizeof(array) / sizeof((array)[0]))
/* These two evaluate an argument twice. */
#define VLS_MIN(a, b) ((a) < (b) ? (a) : (b))
#define VLS_MAX(a, b) ((a) > (b) ? (a) : (b))

/* Of an answer such as 1 or 0, where nothing matters but whether it failed. Not VLS_MIN(call(), 0):
 * a call that fails would be made twice. */
static inline int vls_settle(int rc)
{
    return rc < 0 ? rc : 0;
}

#define VLS_LIKELY(x) __builtin_expect(!!(x), 1)
#define VLS_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define VLS_NODISCARD __attribute__((warn_unused_result))

/* A literal as a slice. */
#define VLS_STR(literal) ((valise_str){"" literal, sizeof(literal) - 1})

/* First line of a public function: refuse what no caller may pass. */
#define VLS_ARG(ok, err)                                                                           \
    do {                                                                                           \
        if (!(ok))                                                                                 \
            return vls_fail((err), VALISE_E_INVALID, "%s: invalid argument (%s)", __func__, #ok);  \
    } while (0)

/* Fill err (which may be NULL) and give code, which is below 0. The place that finds a problem does
 * this; everybody above it passes the code on and leaves the message alone. A macro, so that
 * compilers and analyzers see that a failure is never 0; code is evaluated twice. */
#define vls_fail(err, code, ...) (vls_report((err), (code), -1, __VA_ARGS__), (code))

/* The same with the byte offset of the input it is about. */
#define vls_fail_at(err, code, offset, ...)                                                        \
    (vls_report((err), (code), (int64_t)(offset), __VA_ARGS__), (code))

void vls_report(valise_error *err, int code, int64_t offset, const char *format, ...)
    VALISE_PRINTF(4, 5);

/* Nothing went wrong so far. VALISE_ERROR_INIT says the same and fills all of its 720 bytes, which
 * shows where a call takes 100 ns. */
static inline void vls_error_clear(valise_error *err)
{
    err->code = 0;
    err->offset = -1;
    err->path[0] = err->message[0] = err->hint[0] = '\0';
}

/* The usual message for VALISE_E_NO_MEMORY. */
static inline int vls_fail_memory(valise_error *err)
{
    return vls_fail(err, VALISE_E_NO_MEMORY, "out of memory");
}

/* "what PATH: strerror", with the code that fits errno. Call it before anything else can change
 * errno. */
int vls_report_errno(valise_error *err, const char *what, valise_str path);

static inline int vls_fail_errno(valise_error *err, const char *what, valise_str path)
{
    int code = vls_report_errno(err, what, path);

    assert(code < 0);
    return code;
}

/* The code of that name, "NOT_FOUND"; 0: there is none. */
int vls_error_of_name(valise_str name);

/* Say what to do about an error that was just reported: lower case, no period. err may be NULL. */
void vls_hint(valise_error *err, const char *format, ...) VALISE_PRINTF(2, 3);

/* Put a step in front of the field path: "blocks" and then "[2]" in front of ".callId". */
void vls_error_prepend(valise_error *err, const char *format, ...) VALISE_PRINTF(2, 3);

#include "base/banned.h"

#endif
