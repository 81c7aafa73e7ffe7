/* file.c -- whole files. */
#include "engine/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"

#define LOCK_STEP_NS 5000000 /* 5 ms */

int vls_path_join(const char **out, vls_arena *arena, const char *folder, const char *name,
                  valise_error *err)
{
    size_t first = strlen(folder), second = strlen(name);
    const char *between = first > 0 && folder[first - 1] == '/' ? "" : "/";
    char *path = vls_arena_alloc(arena, first + second + 2);

    if (!path)
        return vls_arena_fail(arena, err);
    (void)snprintf(path, first + second + 2, "%s%s%s", folder, between, name);
    *out = path;
    return 0;
}

int vls_path_real(const char **out, vls_arena *arena, const char *path, valise_error *err)
{
    char room[PATH_MAX];
    valise_str copy;
    int rc;

    if (!realpath(path, room))
        return vls_fail_errno(err, "cannot find", valise_str_of(path));
    rc = vls_arena_dup(&copy, arena, valise_str_of(room), err);
    if (rc == 0)
        *out = copy.ptr;
    return rc;
}

/* ---- reading ---- */

static int read_all(vls_buf *out, int fd, valise_str path, valise_error *err)
{
    char piece[16384];
    ssize_t len;

    do {
        len = vls_fd_read(fd, piece, sizeof(piece));
        if (len < 0)
            return vls_fail_errno(err, "cannot read", path);
        vls_buf_add(out, vls_str(piece, (size_t)len));
    } while (len > 0 && out->failed == 0);
    if (out->failed == VALISE_E_TOO_LARGE)
        return vls_fail(err, VALISE_E_TOO_LARGE, "%.*s has more than %zu bytes",
                        VALISE_STR_ARG(path), out->max);
    return vls_buf_check(out, err);
}

int vls_file_read(vls_buf *out, const char *path, unsigned flags, valise_error *err)
{
    VLS_AUTO(fd) int fd = -1;
    struct stat st;

    /* Not blocking, lest somebody put a pipe there. */
    fd = vls_fd_open_at(AT_FDCWD, path,
                        O_RDONLY | O_NONBLOCK | (flags & VLS_FILE_NO_LINK ? O_NOFOLLOW : 0), 0);
    if (fd < 0 && errno == ELOOP)
        return vls_fail(err, VALISE_E_DENIED, "%s is a symbolic link", path);
    if (fd < 0)
        return vls_fail_errno(err, "cannot open", valise_str_of(path));
    if (fstat(fd, &st) < 0)
        return vls_fail_errno(err, "cannot look at", valise_str_of(path));
    if (!S_ISREG(st.st_mode))
        return vls_fail(err, VALISE_E_INVALID, "%s is not a file", path);
    return read_all(out, fd, valise_str_of(path), err);
}

/* ---- replacing ---- */

static int write_new(const char *path, valise_str text, mode_t mode, valise_error *err)
{
    VLS_AUTO(fd) int fd = -1;

    fd = vls_fd_open_at(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode);
    if (fd < 0)
        return vls_fail_errno(err, "cannot make", valise_str_of(path));
    /* The mode as asked for, whatever the umask is and whoever left the file behind. */
    if (fchmod(fd, mode) < 0 || vls_fd_write_all(fd, text) < 0 || vls_fd_sync(fd) < 0)
        return vls_fail_errno(err, "cannot write", valise_str_of(path));
    return 0;
}

static int sync_folder(const char *path, valise_error *err)
{
    VLS_AUTO(fd) int fd = -1;
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX];

    (void)snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) : 1,
                   slash ? path : ".");
    fd = vls_fd_open_at(AT_FDCWD, folder[0] ? folder : "/", O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0 || vls_fd_sync(fd) < 0)
        return vls_fail_errno(err, "cannot sync", valise_str_of(folder));
    return 0;
}

int vls_file_replace(const char *path, valise_str text, mode_t mode, valise_error *err)
{
    char beside[PATH_MAX];
    int rc;

    if (snprintf(beside, sizeof(beside), "%s.new", path) >= (int)sizeof(beside))
        return vls_fail(err, VALISE_E_INVALID, "the path %.100s... is too long", path);
    rc = write_new(beside, text, mode, err);
    if (rc == 0) {
        int renamed;
        do
            renamed = rename(beside, path);
        while (vls_fd_again(renamed));
        if (renamed < 0)
            rc = vls_fail_errno(err, "cannot replace", valise_str_of(path));
    }
    if (rc < 0) {
        (void)unlink(beside);
        return rc;
    }
    return sync_folder(path, err);
}

/* ---- folders ---- */

int vls_folder_make(const char *path, mode_t mode, valise_error *err)
{
    struct stat st;
    int made;

    do
        made = mkdir(path, mode);
    while (vls_fd_again(made));
    if (made == 0)
        return sync_folder(path, err);
    if (errno != EEXIST)
        return vls_fail_errno(err, "cannot make", valise_str_of(path));
    if (stat(path, &st) < 0)
        return vls_fail_errno(err, "cannot look at", valise_str_of(path));
    if (!S_ISDIR(st.st_mode))
        return vls_fail(err, VALISE_E_INVALID, "%s is not a folder", path);
    return 0;
}

int vls_folder_lock(int *out, const valise_env *env, const char *path, int64_t timeout_ns,
                    valise_error *err)
{
    VLS_AUTO(fd) int fd = -1;
    int64_t start = env->ticks_ns(env->self);
    struct timespec step = {.tv_nsec = LOCK_STEP_NS};

    fd = vls_fd_open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return vls_fail_errno(err, "cannot open", valise_str_of(path));
    while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return vls_fail_errno(err, "cannot lock", valise_str_of(path));
        if (env->ticks_ns(env->self) - start > timeout_ns)
            return vls_fail(err, VALISE_E_BUSY, "another process keeps %s locked", path);
        (void)nanosleep(&step, NULL);
    }
    *out = vls_fd_take(&fd);
    return 0;
}
