/* sample.c -- saving a file, right and wrong. */
#include "sample.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

static int fail_errno(valise_error *err, const char *what, const char *path)
{
    return vls_fail_errno(err, what, valise_str_of(path));
}

static int write_all(int fd, valise_str s, unsigned bugs)
{
    while (s.len > 0) {
        ssize_t done = write(fd, s.ptr, s.len);
        if (done < 0 && errno == EINTR && !(bugs & BUG_NO_REPEAT))
            continue;
        if (done < 0)
            return errno == ENOSPC && (bugs & BUG_SWALLOW_ENOSPC) ? 0 : -1;
        s = vls_str_from(s, bugs & BUG_SHORT_WRITE ? s.len : (size_t)done);
    }
    return 0;
}

static int sync_again(int fd, unsigned bugs)
{
    int rc;

    do {
        rc = fsync(fd);
    } while (rc < 0 && errno == EINTR && !(bugs & BUG_NO_REPEAT));
    return rc;
}

static int open_again(const char *path, int flags)
{
    int fd;

    do {
        fd = open(path, flags | O_CLOEXEC, 0600);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

/* One file, whole and synced. */
static int write_file(const char *path, valise_str text, unsigned bugs, valise_error *err)
{
    int fd = open_again(path, O_WRONLY | O_CREAT | O_TRUNC);
    int rc = 0;

    if (fd < 0)
        return fail_errno(err, "open", path);
    if (write_all(fd, text, bugs) < 0) {
        rc = fail_errno(err, "write", path);
        if (bugs & BUG_LEAK_FILE)
            return rc;
    } else if (!(bugs & BUG_RENAME_FIRST) && sync_again(fd, bugs) < 0) {
        rc = fail_errno(err, "fsync", path);
    }
    if (close(fd) < 0 && rc == 0 && errno != EINTR)
        rc = fail_errno(err, "close", path);
    return rc;
}

/* A directory after a rename in it, or a file. */
static int sync_path(const char *path, unsigned bugs, valise_error *err)
{
    int fd = open_again(path, O_RDONLY);
    int rc = 0;

    if (fd < 0)
        return fail_errno(err, "open", path);
    if (sync_again(fd, bugs) < 0)
        rc = fail_errno(err, "fsync", path);
    (void)close(fd);
    return rc;
}

static int rename_file(const char *from, const char *to, const char *dir, unsigned bugs,
                       valise_error *err)
{
    int rc;

    do {
        rc = rename(from, to);
    } while (rc < 0 && errno == EINTR);
    if (rc < 0)
        return fail_errno(err, "rename", to);
    if ((bugs & BUG_RENAME_FIRST) && sync_path(to, bugs, err) < 0)
        return err->code;
    return bugs & BUG_NO_DIR_SYNC ? 0 : sync_path(dir, bugs, err);
}

static int save(const char *dir, const char *part, const char *file, valise_str text, unsigned bugs,
                valise_error *err)
{
    int rc;

    if (bugs & BUG_IN_PLACE)
        return write_file(file, text, bugs, err);
    rc = write_file(part, text, bugs, err);
    if (rc == 0)
        rc = rename_file(part, file, dir, bugs, err);
    if (rc < 0)
        (void)unlink(part);
    return rc;
}

int sample_save(const valise_env *env, const char *dir, valise_str text, unsigned bugs,
                valise_error *err)
{
    size_t size = strlen(dir) + 16;
    char *part = vls_mem_alloc(env, size);
    char *file = part ? vls_mem_alloc(env, size) : NULL;
    int rc;

    if (!file) {
        if (!(bugs & BUG_LEAK))
            vls_mem_free(env, part, size);
        if (bugs & BUG_SWALLOW_MEMORY)
            return 0;
        return bugs & BUG_WRONG_CODE ? vls_fail(err, VALISE_E_INVALID, "no path")
                                     : vls_fail_memory(err);
    }
    (void)snprintf(part, size, "%s/file.part", dir);
    (void)snprintf(file, size, "%s/file", dir);
    rc = save(dir, part, file, text, bugs, err);
    vls_mem_free(env, part, size);
    vls_mem_free(env, file, size);
    return rc;
}
