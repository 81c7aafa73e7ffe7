/* exec.h -- run a program from start to end: input in, output out, nothing left behind.
 *
 *     descriptors   0 the input, a file in memory; 1 and 2 pipes; then those it is given; behind
 *                   them a pipe without bytes, see below
 *     session       its own, without a terminal; signals as they are by default
 *
 * The input is a file, so nobody waits for a program that does not read it, and no write can raise
 * SIGPIPE.
 *
 * When the program ends, its processes are ended too. A descendant that made a session of its own
 * is ended only if the program had to be ended and was marked (base/mark.h); otherwise it is
 * assumed to be meant to stay. A program has not ended while something that it started keeps
 * standard output open; then it ends with the timeout. If the host is killed, its end of the last
 * pipe closes, and the kernel kills the process group of the program. A program that closed that
 * pipe only sees its output closed.
 *
 * Threads: pure functions; may run in several threads at once. The host may ignore SIGPIPE or not;
 * it must not wait for children that it did not start. */
#ifndef VLS_EXEC_H
#define VLS_EXEC_H

#include "base/process.h"

#define VLS_EXEC_TIMEOUT_MS 60000
#define VLS_EXEC_OUTPUT_MAX ((size_t)1 << 20)
#define VLS_EXEC_FDS_MAX 4

typedef struct vls_exec {
    const valise_env *env;
    const char *name;        /* what messages call it */
    vls_process_start start; /* fds: what it gets as 3, 4, ..., any descriptors of ours */
    int64_t timeout_ms;      /* 0: VLS_EXEC_TIMEOUT_MS */
    int64_t grace_ms;        /* between SIGTERM and SIGKILL; 0: VLS_PROCESS_GRACE_MS */
    size_t max_bytes;        /* of the output; 0: VLS_EXEC_OUTPUT_MAX */
    vls_buf *said; /* gets the end of what it wrote to standard error, made plain; or NULL */
    bool any_end;  /* one that ended by itself is no failure, whatever its exit code or signal: its
                      output is kept, and the verdict says how it went */
    /* Asked ten times a second; what is below 0 ends the program and is the result. Or NULL. */
    int (*look)(void *self, valise_error *err);
    void *self;
} vls_exec;

/* How it went, for those who want to know more than the result. */
typedef struct vls_exec_end {
    int not_started;      /* the errno; 0: it was */
    bool given_up;        /* the result is what look said */
    bool ended;           /* by itself, and these are known: */
    int exit_code;        /* -1: a signal ended it */
    int signal;           /* 0: none did */
    valise_error verdict; /* VALISE_E_IO where that was not exit code 0, with its last line */
} vls_exec_end;

/* Run it and append what it writes. VALISE_E_IO (cannot start, exit code, signal; the message has
 * the last line it complained with), VALISE_E_LIMIT (time), VALISE_E_TOO_LARGE (output),
 * VALISE_E_UNSUPPORTED (the host has its exit code), VALISE_E_NO_MEMORY, and what look says. On
 * failure out is as before. end may be NULL; it is filled in any case. */
int vls_exec_run(vls_buf *out, const vls_exec *exec, valise_str input, vls_exec_end *end,
                 valise_error *err);

#endif
