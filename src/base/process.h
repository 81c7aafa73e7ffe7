/* process.h -- a running program: its descriptors, its standard error, its end.
 *
 *     vls_process_pipe      what it reads or writes, and our end of that
 *     vls_process_spawn     posix_spawn and nothing else between here and it: the host may have
 *                           threads. A session of its own, signals as they are by default, no
 *                           descriptors of ours but those it is given
 *     vls_process_hear      keeps the end of what it says on standard error
 *     vls_process_end       ask it to end, and wait a little
 *     vls_process_reap      kill what is left and take its status
 *
 * A process is reaped last: until then its number, which is also that of its group, belongs to
 * nobody else.
 *
 * Threads: single. The host must not wait for children that it did not start. */
#ifndef VLS_PROCESS_H
#define VLS_PROCESS_H

#include <sys/types.h>

#include "base/buf.h"

#define VLS_PROCESS_GRACE_MS 2000  /* between SIGTERM and SIGKILL, as a rule */
#define VLS_PROCESS_SAID_MAX 4096u /* bytes of standard error: the last ones */

typedef struct vls_process {
    pid_t pid;  /* 0: none */
    int said;   /* our end of its standard error; -1: it has ended */
    bool lost;  /* somebody else reaped it */
    size_t len; /* of the tail */
    char tail[2 * VLS_PROCESS_SAID_MAX];
} vls_process;

#define VLS_PROCESS_INIT                                                                           \
    {                                                                                              \
        .said = -1                                                                                 \
    }

/* How one is started. */
typedef struct vls_process_start {
    const char *file; /* a path, or a name to be looked for in PATH */
    char *const *argv, *const *environment;
    const char *folder; /* it starts in; NULL: in ours */
    const int *fds;     /* what it gets as 0, 1, 2, ...: none of these is below VLS_PROCESS_FD */
    int count;
    bool marked; /* what it started is ended with it when it has to be ended, wherever it went
                    (mark.h): one variable more */
} vls_process_start;

#define VLS_PROCESS_FD 10

/* A copy of a descriptor out of the way of those that a program gets; -1 and errno. */
int vls_process_copy_fd(int fd);

/* Which end is theirs: 0, they read; 1, they write. Our end does not block. */
int vls_process_pipe(int *ours, int *theirs, int which, valise_error *err);

/* 0, or an errno. */
int vls_process_spawn(vls_process *process, const vls_process_start *start);

/* Say what came of that errno: VALISE_E_NO_MEMORY, or VALISE_E_IO whatever the reason, since
 * NOT_FOUND is what a search may answer. name: what messages call it. */
int vls_process_fail(int why, const vls_process_start *start, const char *name, valise_error *err);

/* Let the kernel kill its group when we are gone. life: their end of a pipe that it was given and
 * that nobody writes to; the other end is ours. Where that cannot be arranged, it outlives us. */
void vls_process_tie(const vls_process *process, int life);

/* Has it ended? It stays a zombie. */
bool vls_process_has_ended(vls_process *process);

/* Read what it said so far, a little at a time: who complains without end must not keep us. */
void vls_process_hear(vls_process *process);

/* One piece, if there is one now. *fd becomes -1 at the end. False: there is nothing more now. */
#define VLS_PROCESS_PIECE 16384
bool vls_process_read(valise_str *out, char room[VLS_PROCESS_PIECE], int *fd);

/* Ask it and its group to end, and wait for so long at most. */
void vls_process_end(vls_process *process, const valise_env *env, int64_t grace_ms);

/* Kill what is left of it and take its status; -1 when somebody else took that. */
int vls_process_reap(vls_process *process);

/* The end of what it said, as it is; and append its last line, in words that are safe to show, with
 * a colon before it where there is one. */
valise_str vls_process_said(const vls_process *process);
void vls_process_last_line(vls_buf *out, const vls_process *process);

/* What a status says: 0, or VALISE_E_IO with the last line it complained with. -1:
 * VALISE_E_UNSUPPORTED. name: what messages call it. */
int vls_process_judge(const vls_process *process, int status, const char *name,
                      const valise_env *env, valise_error *err);

#endif
