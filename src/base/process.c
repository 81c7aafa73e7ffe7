/* process.c -- see process.h. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/process.h"
#include "base/str.h"
#include "base/text.h"

/* ---- starting ---- */

int vls_process_copy_fd(int fd)
{
    return fcntl(fd, F_DUPFD_CLOEXEC, VLS_PROCESS_FD);
}

int vls_process_pipe(int *ours, int *theirs, int which, valise_error *err)
{
    int ends[2], high;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return vls_fail_errno(err, "cannot make", VLS_STR("a pipe"));
    high = vls_process_copy_fd(ends[which]);
    (void)vls_fd_close(ends[which]);
    if (high < 0 || fcntl(ends[!which], F_SETFL, O_NONBLOCK) < 0) {
        int rc = vls_fail_errno(err, "cannot make", VLS_STR("a pipe"));
        (void)vls_fd_close(ends[!which]);
        (void)vls_fd_close(high);
        return rc;
    }
    *ours = ends[!which];
    *theirs = high;
    return 0;
}

/* 0 or an errno. */
static int describe(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attr,
                    const vls_process_start *start)
{
    sigset_t set;
    int rc = 0;

    for (int i = 0; rc == 0 && i < start->count; i++)
        rc = posix_spawn_file_actions_adddup2(actions, start->fds[i], i);
    if (rc == 0)
        rc = posix_spawn_file_actions_addclosefrom_np(actions, start->count);
    if (rc == 0 && start->folder)
        rc = posix_spawn_file_actions_addchdir_np(actions, start->folder);
    if (rc == 0)
        rc = posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF |
                                                POSIX_SPAWN_SETSIGMASK);
    (void)sigfillset(&set);
    if (rc == 0)
        rc = posix_spawnattr_setsigdefault(attr, &set);
    (void)sigemptyset(&set);
    if (rc == 0)
        rc = posix_spawnattr_setsigmask(attr, &set);
    return rc;
}

int vls_process_spawn(vls_process *process, const vls_process_start *start)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    pid_t pid = 0;
    int rc = posix_spawn_file_actions_init(&actions);

    if (rc != 0)
        return rc;
    rc = posix_spawnattr_init(&attr);
    if (rc == 0) {
        rc = describe(&actions, &attr, start);
        if (rc == 0)
            rc = posix_spawnp(&pid, start->file, &actions, &attr, start->argv, start->environment);
        (void)posix_spawnattr_destroy(&attr);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    if (rc == 0)
        process->pid = pid;
    return rc;
}

int vls_process_fail(int why, const vls_process_start *start, const char *name, valise_error *err)
{
    struct stat folder;
    bool nowhere = start->folder && (stat(start->folder, &folder) < 0 || !S_ISDIR(folder.st_mode));

    if (why == ENOMEM)
        return vls_fail_memory(err);
    if (nowhere) {
        (void)vls_fail(err, VALISE_E_IO, "cannot run %s in %s: it is not a folder",
                       vls_text_short(valise_str_of(name)).s, start->folder);
        return VALISE_E_IO;
    }
    errno = why;
    (void)vls_report_errno(err, "cannot run", valise_str_of(name));
    if (why == ENOEXEC)
        vls_hint(err, "a script begins with a line such as #!/bin/sh");
    else if (why == EACCES)
        vls_hint(err, "it may not be executable: chmod +x");
    else if (why == ENOENT || why == ENOTDIR)
        vls_hint(err, "give its path, or put its folder into PATH");
    if (err)
        err->code = VALISE_E_IO;
    return VALISE_E_IO;
}

/* Nobody can do anything any more when we are killed: but the kernel can, which tells the owner of
 * a pipe by a signal that its other end was closed. (A process can ask to be killed with its parent
 * by itself only, between fork and exec, where posix_spawn lets nobody in; and it would be killed
 * with the thread that started it.) */
void vls_process_tie(const vls_process *process, int life)
{
    if (fcntl(life, F_SETOWN, -process->pid) == 0 && fcntl(life, F_SETSIG, SIGKILL) == 0)
        (void)fcntl(life, F_SETFL, O_ASYNC);
}

/* ---- while it runs ---- */

static void keep_tail(vls_process *p, valise_str piece)
{
    piece = vls_str_from(piece, piece.len - VLS_MIN(piece.len, VLS_PROCESS_SAID_MAX));
    if (piece.len == 0)
        return;
    if (p->len + piece.len > sizeof(p->tail)) {
        memmove(p->tail, p->tail + p->len - VLS_PROCESS_SAID_MAX, VLS_PROCESS_SAID_MAX);
        p->len = VLS_PROCESS_SAID_MAX;
    }
    memcpy(p->tail + p->len, piece.ptr, piece.len);
    p->len += piece.len;
}

bool vls_process_read(valise_str *out, char room[VLS_PROCESS_PIECE], int *fd)
{
    ssize_t len = *fd < 0 ? -1 : vls_fd_read(*fd, room, VLS_PROCESS_PIECE);

    *out = vls_str(room, len > 0 ? (size_t)len : 0);
    if (*fd >= 0 && (len == 0 || (len < 0 && errno != EAGAIN)))
        *fd = vls_fd_close(*fd);
    return len > 0;
}

void vls_process_hear(vls_process *process)
{
    char room[VLS_PROCESS_PIECE];
    valise_str piece;

    for (int i = 0; i < 64 && vls_process_read(&piece, room, &process->said); i++)
        keep_tail(process, piece);
}

bool vls_process_has_ended(vls_process *process)
{
    siginfo_t info = {.si_pid = 0};
    int rc;

    do
        rc = waitid(P_PID, (id_t)process->pid, &info, WEXITED | WNOHANG | WNOWAIT);
    while (vls_fd_again(rc));
    process->lost = process->lost || rc < 0;
    return rc < 0 || info.si_pid == process->pid;
}

/* ---- the end ---- */

void vls_process_end(vls_process *process, const valise_env *env, int64_t grace_ms)
{
    int64_t end_ns = env->ticks_ns(env->self) + grace_ms * INT64_C(1000000);

    if (vls_process_has_ended(process))
        return;
    (void)kill(-process->pid, SIGTERM);
    while (!vls_process_has_ended(process) && env->ticks_ns(env->self) < end_ns) {
        (void)poll(NULL, 0, 10);
        vls_process_hear(process); /* it may have a last word */
    }
}

int vls_process_reap(vls_process *process)
{
    int status = 0;
    pid_t rc;

    if (!vls_process_has_ended(process)) /* it may have left its group */
        (void)kill(process->pid, SIGKILL);
    if (!process->lost)
        (void)kill(-process->pid, SIGKILL);
    do
        rc = waitpid(process->pid, &status, 0);
    while (vls_fd_again(rc));
    return rc == process->pid ? status : -1;
}

valise_str vls_process_said(const vls_process *process)
{
    valise_str all = vls_str(process->tail, process->len);

    return vls_str_from(all, all.len - VLS_MIN(all.len, VLS_PROCESS_SAID_MAX));
}

void vls_process_last_line(vls_buf *out, const vls_process *process)
{
    valise_str line = vls_str_trim(vls_str(process->tail, process->len)), rest = line, next;

    while (vls_str_cut(&next, &rest, rest, '\n'))
        line = rest;
    line = vls_str_trim(line);
    if (line.len == 0)
        return;
    vls_buf_add(out, VLS_STR(": "));
    vls_text_neutralize(out, vls_str_head(line, 200), VLS_TEXT_KEEP_BACKSLASH);
}

int vls_process_judge(const vls_process *process, int status, const char *name,
                      const valise_env *env, valise_error *err)
{
    VLS_AUTO(buf) vls_buf line = {0};
    const char *said;

    if (status == -1) {
        (void)vls_fail(err, VALISE_E_UNSUPPORTED, "%s may have failed: the host took its exit code",
                       name);
        vls_hint(err,
                 "the host must not ignore SIGCHLD, or wait for children that it did not start");
        return VALISE_E_UNSUPPORTED;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    vls_buf_init(&line, env, 4096);
    vls_process_last_line(&line, process);
    said = vls_buf_cstr(&line);
    if (WIFEXITED(status))
        return vls_fail(err, VALISE_E_IO, "%s ended with exit code %d%s", name, WEXITSTATUS(status),
                        said ? said : "");
    return vls_fail(err, VALISE_E_IO, "%s was ended by signal %d%s", name, WTERMSIG(status),
                    said ? said : "");
}
