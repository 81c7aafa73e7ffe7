/* program.h -- programs as policies: JSON on standard input, the frame on standard output. [C17]
 *
 * What runs is a sealed copy, so the bytes are those that were hashed and trusted. It runs with
 * nothing of the host:
 *
 *     arguments     none
 *     environment   PATH, LC_ALL=C, TZ=UTC
 *     descriptors   0 the JSON; 1 and 2; 3 the program itself, which an interpreter must be able to
 *                   open; 4 a pipe without bytes
 *     folder        /
 *
 * base/exec.h says what else it finds, and how it ends.
 *
 * Threads: pure functions; may run in several threads at once. What exec.h asks of the host holds
 * here. */
#ifndef VLS_PROGRAM_H
#define VLS_PROGRAM_H

#include "base/exec.h"
#include "base/sealed.h"
#include "derive/making.h"

#define VLS_PROGRAM_TIMEOUT_MS VLS_EXEC_TIMEOUT_MS
#define VLS_PROGRAM_INPUT_MAX ((size_t)64 << 20)
#define VLS_PROGRAM_OUTPUT_MAX VLS_EXEC_OUTPUT_MAX
#define VLS_PROGRAM_PATH "/usr/local/bin:/usr/bin:/bin"

typedef struct vls_program {
    const valise_env *env;
    const char *name; /* without its folder: argv[0], and what messages call it */
    const vls_sealed *sealed;
    const char *path;   /* the variable PATH; NULL: VLS_PROGRAM_PATH */
    int64_t timeout_ms; /* 0: VLS_PROGRAM_TIMEOUT_MS */
    size_t max_bytes;   /* of the output; 0: VLS_PROGRAM_OUTPUT_MAX */
    vls_buf *said;      /* gets the end of what it wrote to standard error, made plain; or NULL */
    /* Asked ten times a second; what is below 0 ends the program and is the result. Or NULL. */
    int (*look)(void *self, valise_error *err);
    void *self;
} vls_program;

/* Seal the file at a path if it has these bytes (NULL: whatever it has) and may be executed.
 * VALISE_E_DENIED if not; else as vls_sealed_open. */
int vls_program_seal(vls_sealed *out, const char *path, const valise_id *expected,
                     valise_error *err);

/* Run it and append what it writes. On failure out is as before. VALISE_E_IO (cannot start, exit
 * code, signal; the message has the last line it complained with), VALISE_E_LIMIT (time),
 * VALISE_E_TOO_LARGE (output), VALISE_E_UNSUPPORTED (the host has its exit code),
 * VALISE_E_NO_MEMORY, and what look says. */
int vls_program_run(vls_buf *out, const vls_program *program, valise_str input, valise_error *err);

/* Append the JSON a program gets: docs/formats.md, "Programs as policies". params is the text of an
 * object; empty: {}. */
int vls_program_input(vls_buf *out, valise_making *making, valise_str params, valise_error *err);

#endif
