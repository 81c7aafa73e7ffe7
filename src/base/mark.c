/* mark.c -- see mark.h. */
#include "base/mark.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"

#define ROUNDS_MAX 20 /* it may start more while it is looked for */
#define PIECE 4096u
#define ENVIRONMENT_MAX ((size_t)8 << 20)

/* ---- making ---- */

static bool is_mark(const char *variable)
{
    return strncmp(variable, VLS_MARK_NAME "=", sizeof(VLS_MARK_NAME)) == 0;
}

int vls_mark_make(vls_mark *out, const valise_env *env, char *const *environment, valise_error *err)
{
    vls_mark mark = {.env = env};
    uint8_t random[16];
    size_t count = 0, len = sizeof(VLS_MARK_NAME);

    if (env->random(env->self, random, sizeof(random)) < 0)
        return vls_fail(err, VALISE_E_IO, "no random bytes are available");
    while (environment[count])
        count++;
    mark.room = count + 2;
    mark.environment = vls_mem_alloc(env, mark.room * sizeof(*mark.environment));
    if (!mark.environment)
        return vls_fail_memory(err);
    memcpy(mark.text, VLS_MARK_NAME "=", sizeof(VLS_MARK_NAME));
    for (size_t i = 0; i < sizeof(random); i++) {
        mark.text[len + 2 * i] = "0123456789abcdef"[random[i] >> 4];
        mark.text[len + 2 * i + 1] = "0123456789abcdef"[random[i] & 15];
    }
    *out = mark;
    out->environment[0] = out->text;
    count = 1;
    for (; *environment; environment++) /* that of who started us is none of ours */
        if (!is_mark(*environment))
            out->environment[count++] = *environment;
    out->environment[count] = NULL;
    return 0;
}

void vls_mark_release(vls_mark *mark)
{
    if (mark->environment)
        vls_mem_free(mark->env, mark->environment, mark->room * sizeof(*mark->environment));
    mark->environment = NULL;
}

/* ---- finding ---- */

/* Is it one of its variables? Of what is not ours nothing can be read. */
static bool has_mark(int proc, const char *pid, const vls_mark *mark)
{
    const size_t len = strlen(mark->text) + 1; /* with the NUL behind it */
    char path[32], room[PIECE + sizeof(mark->text)];
    size_t kept = 0;
    bool found = false;
    int fd;

    (void)snprintf(path, sizeof(path), "%s/environ", pid);
    fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
    for (size_t all = 0; fd >= 0 && !found && all < ENVIRONMENT_MAX; all += PIECE) {
        ssize_t got = vls_fd_read(fd, room + kept, PIECE);

        if (got <= 0)
            break;
        kept += (size_t)got;
        found = memmem(room, kept, mark->text, len) != NULL;
        if (kept >= len) { /* it may stand on the edge */
            memmove(room, room + kept - (len - 1), len - 1);
            kept = len - 1;
        }
    }
    (void)vls_fd_close(fd);
    return found;
}

/* Through a descriptor: its number may be another's once it was looked at. */
static bool kill_marked(int proc, const char *name, const vls_mark *mark)
{
    pid_t pid = (pid_t)strtol(name, NULL, 10);
    int fd;

    if (pid == getpid() || !has_mark(proc, name, mark))
        return false;
    fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd >= 0 && has_mark(proc, name, mark))
        (void)syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
    (void)vls_fd_close(fd);
    return true;
}

/* Are the numbers in /proc ours? In a container it may be that of another one. */
static bool is_our_proc(void)
{
    char self[16], real[16];
    ssize_t len = readlink("/proc/self", real, sizeof(real));
    int own = snprintf(self, sizeof(self), "%d", (int)getpid());

    return len > 0 && len == own && memcmp(self, real, (size_t)len) == 0;
}

void vls_mark_hunt(const vls_mark *mark)
{
    bool found = mark->environment && is_our_proc();

    for (int round = 0; found && round < ROUNDS_MAX; round++) {
        DIR *proc = opendir("/proc");

        found = false;
        for (const struct dirent *entry; proc && (entry = readdir(proc));)
            if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
                found |= kill_marked(dirfd(proc), entry->d_name, mark);
        if (proc)
            (void)closedir(proc);
        if (found)
            (void)poll(NULL, 0, 2);
    }
}
