/* lock.c -- who runs a run: a byte of flows.lock, see record.h. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/hex.h"
#include "base/mem.h"
#include "flow/record.h"

#define LOCK_FILE "flows.lock"
#define PAUSE_MS 10
#define PAUSES 50

/* Which byte: one of 2^62, by the random part of the id. Two runs that meet there wait for nothing:
 * the second is told that somebody runs it, which is as likely as two equal ids. */
static off_t byte_of(const valise_uuid *run)
{
    uint64_t number = 0;

    for (size_t i = 8; i < 16; i++)
        number = number << 8 | run->bytes[i];
    return (off_t)(number >> 2);
}

/* Of a workspace in memory: a file without a name, kept with the handle. */
typedef struct nameless {
    const valise_env *env;
    int fd;
} nameless;

static const char kept_key;

static int make_nameless(void **out, valise *v, valise_error *err)
{
    nameless *file = vls_mem_zalloc(v->env, sizeof(*file));

    if (!file)
        return vls_fail_memory(err);
    file->env = v->env;
    file->fd = memfd_create(LOCK_FILE, MFD_CLOEXEC);
    if (file->fd < 0) {
        vls_mem_free(v->env, file, sizeof(*file));
        return vls_fail_errno(err, "cannot make", VLS_STR(LOCK_FILE));
    }
    *out = file;
    return 0;
}

static void free_nameless(void *self)
{
    nameless *file = self;

    (void)vls_fd_close(file->fd);
    vls_mem_free(file->env, file, sizeof(*file));
}

/* Where it can be opened: a lock belongs to an opening. 1; 0: nobody ever locked anything. */
static int name_file(char *path, size_t size, valise *v, bool make, valise_error *err)
{
    void *file = NULL;
    int rc = 0, len;

    if (v->place.folder) {
        len = snprintf(path, size, "%s/" LOCK_FILE, v->place.folder);
    } else {
        file = vls_bus_kept(v, &kept_key);
        if (!file && make)
            rc = vls_bus_keep(&file, v, &kept_key, make_nameless, free_nameless, err);
        if (rc < 0 || !file)
            return rc;
        len = snprintf(path, size, "/proc/self/fd/%d", ((const nameless *)file)->fd);
    }
    if (len < 0 || (size_t)len >= size)
        return vls_fail(err, VALISE_E_LIMIT, "the path of the workspace is too long");
    return 1;
}

/* 1, or 0 when it is not there. */
static int open_file(int *out, valise *v, int flags, valise_error *err)
{
    char path[4096];
    int fd, rc = name_file(path, sizeof(path), v, flags & O_CREAT, err);

    if (rc <= 0)
        return rc;
    fd = open(path, flags | O_CLOEXEC, 0600);
    if (fd < 0 && errno == ENOENT && !(flags & O_CREAT))
        return 0;
    if (fd < 0)
        return vls_fail_errno(err, "cannot open", valise_str_of(path));
    *out = fd;
    return 1;
}

/* A process that was killed while it started a program may be survived by its lock, until that
 * program runs: not everybody who seems to have it does. */
static int take_lock(int fd, struct flock *lock)
{
    int rc = -1;

    for (int i = 0; i <= PAUSES && rc < 0; i++) {
        if (i > 0)
            (void)poll(NULL, 0, PAUSE_MS);
        rc = fcntl(fd, F_OFD_SETLK, lock);
        if (rc < 0 && errno != EAGAIN && errno != EACCES)
            break;
    }
    return rc;
}

int vls_flow_lock(int *out, valise *v, const valise_uuid *run, valise_error *err)
{
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte_of(run), .l_len = 1};
    VLS_AUTO(fd) int fd = -1;
    int rc = open_file(&fd, v, O_RDWR | O_CREAT, err);

    if (rc < 0)
        return rc;
    if (take_lock(fd, &lock) < 0) {
        if (errno != EAGAIN && errno != EACCES)
            return vls_fail_errno(err, "cannot lock", VLS_STR(LOCK_FILE));
        (void)vls_fail(err, VALISE_E_BUSY,
                       "the run %s is still running, in another process or thread",
                       vls_uuid_text(run).s);
        vls_hint(err, "wait for it, or end that process");
        return VALISE_E_BUSY;
    }
    *out = vls_fd_take(&fd);
    return 0;
}

int vls_flow_is_locked(valise *v, const valise_uuid *run, valise_error *err)
{
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte_of(run), .l_len = 1};
    VLS_AUTO(fd) int fd = -1;
    int rc = open_file(&fd, v, O_RDONLY, err);

    if (rc <= 0)
        return rc;
    if (fcntl(fd, F_OFD_GETLK, &lock) < 0)
        return vls_fail_errno(err, "cannot look at", VLS_STR(LOCK_FILE));
    return lock.l_type != F_UNLCK;
}
