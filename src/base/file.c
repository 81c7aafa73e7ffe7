/* file.c -- see file.h. */
#include "base/file.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "base/time.h"

#define LOCK_STEP_NS 1000000 /* 1 ms */

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

int vls_path_text(const char **out, vls_arena *arena, valise_str path, valise_error *err)
{
    valise_str copy;
    int rc = vls_arena_dup(&copy, arena, path, err);

    if (rc < 0)
        return rc;
    if (strlen(copy.ptr) != path.len)
        return vls_fail(err, VALISE_E_INVALID, "a path cannot have a NUL byte in it");
    *out = copy.ptr;
    return 0;
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

/* ---- names that last ---- */

/* The folder of the path: a new name in it is there for good. */
static int sync_folder(const char *path, valise_error *err)
{
    VLS_AUTO(fd) int fd = -1;
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX];

    (void)snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) + 1 : 1,
                   slash ? path : ".");
    fd = vls_fd_open_at(AT_FDCWD, folder, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0 || vls_fd_sync(fd) < 0)
        return vls_fail_errno(err, "cannot sync", valise_str_of(folder));
    return 0;
}

static int rename_to(const char *from, const char *to)
{
    int rc;

    do
        rc = rename(from, to);
    while (vls_fd_again(rc));
    return rc;
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

int vls_file_replace(const char *path, valise_str text, mode_t mode, valise_error *err)
{
    char beside[PATH_MAX];
    int rc;

    if (snprintf(beside, sizeof(beside), "%s.new", path) >= (int)sizeof(beside))
        return vls_fail(err, VALISE_E_INVALID, "the path %.100s... is too long", path);
    rc = write_new(beside, text, mode, err);
    if (rc == 0 && rename_to(beside, path) < 0)
        rc = vls_fail_errno(err, "cannot replace", valise_str_of(path));
    if (rc < 0) {
        (void)unlink(beside);
        return rc;
    }
    return sync_folder(path, err);
}

/* ---- piece by piece ---- */

static int fail_folder(const char *path, valise_error *err)
{
    (void)vls_fail(err, VALISE_E_INVALID, "%s is a folder, not a file", path);
    vls_hint(err, "give the name of a file in it");
    return VALISE_E_INVALID;
}

static int fail_exists(const char *path, valise_error *err)
{
    int rc = vls_fail(err, VALISE_E_EXISTS, "%s already exists", path);

    vls_hint(err, "give another name, or replace it with --force");
    return rc;
}

/* The name of the file while it is written. */
static int name_beside(vls_file_out *o, const valise_env *env, valise_error *err)
{
    uint64_t random;

    if (env->random(env->self, &random, sizeof(random)) < 0)
        return vls_fail(err, VALISE_E_IO, "the environment gives no random bytes for a file name");
    if (snprintf(o->beside, sizeof(o->beside), "%s.%016llx", o->path, (unsigned long long)random) >=
        (int)sizeof(o->beside))
        return vls_fail(err, VALISE_E_INVALID, "the path %.100s... is too long", o->path);
    return 0;
}

int vls_file_out_open(vls_file_out *out, const valise_env *env, const char *path, bool force,
                      valise_error *err)
{
    vls_file_out o = {.fd = -1, .path = path, .force = force};
    bool there;
    struct stat st;
    int rc;

    there = stat(path, &st) == 0;
    if (there && S_ISDIR(st.st_mode))
        return fail_folder(path, err);
    o.direct = there && !S_ISREG(st.st_mode);
    if (o.direct) {
        o.fd = vls_fd_open_at(AT_FDCWD, path, O_WRONLY, 0);
    } else {
        if (!force && lstat(path, &st) == 0)
            return fail_exists(path, err);
        rc = name_beside(&o, env, err);
        if (rc < 0)
            return rc;
        o.fd = vls_fd_open_at(AT_FDCWD, o.beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    }
    if (o.fd < 0)
        return vls_fail_errno(err, "cannot write", valise_str_of(path));
    *out = o;
    return 0;
}

static int fail_write(const vls_file_out *o, valise_error *err)
{
    bool full = errno == ENOSPC || errno == EDQUOT;
    int rc = vls_fail_errno(err, "cannot write", valise_str_of(o->path));

    if (full)
        vls_hint(err, "make room on the disk and try again");
    return rc;
}

int vls_file_out_write(void *arg, valise_str bytes, valise_error *err)
{
    const vls_file_out *o = arg;

    return vls_fd_write_all(o->fd, bytes) < 0 ? fail_write(o, err) : 0;
}

/* Give the file its name. Who did not ask for it replaces none that came meanwhile. */
static int give_name(const vls_file_out *o)
{
    int rc;

    if (o->force)
        return rename_to(o->beside, o->path);
    do
        rc = link(o->beside, o->path);
    while (vls_fd_again(rc));
    if (rc == 0)
        (void)unlink(o->beside); /* a second name of the same file, at worst */
    return rc;
}

int vls_file_out_commit(vls_file_out *o, valise_error *err)
{
    if (o->direct) {
        o->fd = vls_fd_close(o->fd);
        return 0;
    }
    if (vls_fd_sync(o->fd) < 0)
        return fail_write(o, err);
    if (give_name(o) < 0)
        return errno == EEXIST ? fail_exists(o->path, err) : fail_write(o, err);
    o->fd = vls_fd_close(o->fd);
    return sync_folder(o->path, err);
}

void vls_file_out_abort(vls_file_out *o)
{
    if (o->fd < 0)
        return;
    o->fd = vls_fd_close(o->fd);
    if (!o->direct)
        (void)unlink(o->beside);
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
    int64_t deadline = vls_deadline_ns(env, timeout_ns);
    struct timespec step = {.tv_nsec = LOCK_STEP_NS};

    fd = vls_fd_open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return vls_fail_errno(err, "cannot open", valise_str_of(path));
    while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return vls_fail_errno(err, "cannot lock", valise_str_of(path));
        if (env->ticks_ns(env->self) >= deadline)
            return vls_fail(err, VALISE_E_BUSY, "another process keeps %s locked", path);
        (void)nanosleep(&step, NULL);
    }
    *out = vls_fd_take(&fd);
    return 0;
}
