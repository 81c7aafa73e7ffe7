/* bundle_file.c -- bundles in files: what is there is a whole one, and can be read twice. */
#include "store/bundle.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"

#define AWAIT_MS 100
#define COPY_BYTES ((size_t)64 << 10)

/* ---- in ---- */

static int read_at(void *arg, uint64_t at, void *room, size_t len, valise_error *err)
{
    const vls_bundle_input *input = arg;

    while (len > 0) {
        ssize_t got = pread(input->fd, room, len, (off_t)at);
        if (vls_fd_again(got))
            continue;
        if (got < 0)
            return vls_fail_errno(err, "cannot read", VLS_STR("the bundle"));
        if (got == 0)
            return vls_fail(err, VALISE_E_CORRUPT, "the bundle became shorter while it was read");
        room = (char *)room + got;
        at += (uint64_t)got;
        len -= (size_t)got;
    }
    return 0;
}

/* Not every file system has files without a name: then one that loses it at once. */
static int open_nameless(int *out, valise_error *err)
{
    const char *folder = secure_getenv("TMPDIR");
    char path[4096];
    int fd;

    if (!folder || !*folder)
        folder = "/tmp";
    fd = vls_fd_open_at(AT_FDCWD, folder, O_TMPFILE | O_RDWR | O_EXCL, 0600);
    if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR) &&
        snprintf(path, sizeof(path), "%s/valise-XXXXXX", folder) < (int)sizeof(path)) {
        fd = mkostemp(path, O_CLOEXEC);
        if (fd >= 0)
            (void)unlink(path);
    }
    if (fd < 0)
        return vls_fail_errno(err, "cannot make a temporary file in", valise_str_of(folder));
    *out = fd;
    return 0;
}

/* An endless pipe of something else must not fill the disk: what is received first has to be the
 * beginning of a bundle. */
static int check_beginning(valise_str piece, uint64_t at, const char *path, valise_error *err)
{
    static const char magic[] = VLS_BUNDLE_MAGIC;
    size_t from = (size_t)VLS_MIN(at, sizeof(magic) - 1);
    size_t len = VLS_MIN(sizeof(magic) - 1 - from, piece.len);

    if (len == 0 || memcmp(magic + from, piece.ptr, len) == 0)
        return 0;
    (void)vls_fail(err, VALISE_E_CORRUPT, "%s is not a bundle: it does not start like one", path);
    vls_hint(err, "nothing was imported; get a new copy of the bundle");
    return VALISE_E_CORRUPT;
}

/* Until there is something to read. Who sends may take a long time, and who waits may give up. */
static int await(int fd, vls_progress *progress, valise_error *err)
{
    struct pollfd waiting = {.fd = fd, .events = POLLIN};
    int rc = 0;

    while (rc == 0 && poll(&waiting, 1, AWAIT_MS) <= 0)
        rc = vls_progress_look(progress, err);
    return rc;
}

/* All of a pipe into a file that nobody else sees. */
static int spool(int *fd, uint64_t *size, const char *path, vls_progress *progress,
                 valise_error *err)
{
    VLS_AUTO(fd) int from = *fd;
    VLS_AUTO(fd) int to = -1;
    char room[COPY_BYTES];
    ssize_t got = 0;
    int rc = open_nameless(&to, err);

    *fd = -1;
    *size = 0;
    vls_progress_begin(progress, "receive the bundle", "bytes", 0);
    if (rc == 0)
        rc = await(from, progress, err);
    while (rc == 0 && (got = vls_fd_read(from, room, sizeof(room))) > 0) {
        rc = check_beginning(vls_str(room, (size_t)got), *size, path, err);
        if (rc < 0)
            return rc;
        if (vls_fd_write_all(to, vls_str(room, (size_t)got)) < 0)
            return vls_fail_errno(err, "cannot write", VLS_STR("a temporary file"));
        *size += (uint64_t)got;
        rc = vls_progress_step(progress, (uint64_t)got, err);
        if (rc == 0)
            rc = await(from, progress, err);
    }
    if (got < 0)
        return vls_fail_errno(err, "cannot read", valise_str_of(path));
    if (rc < 0)
        return rc;
    *fd = to;
    to = -1;
    return vls_progress_end(progress, err);
}

static int refuse_folder(const char *path, valise_error *err)
{
    (void)vls_fail(err, VALISE_E_INVALID, "%s is a folder, not a bundle", path);
    vls_hint(err, "give the name of a file, such as project.valise");
    return VALISE_E_INVALID;
}

int vls_bundle_input_open(vls_bundle_input *out, const char *path, vls_progress *progress,
                          valise_error *err)
{
    VLS_AUTO(fd) int fd = vls_fd_open_at(AT_FDCWD, path, O_RDONLY, 0);
    uint64_t size;
    struct stat st;

    if (fd < 0)
        return vls_fail_errno(err, "cannot open", valise_str_of(path));
    if (fstat(fd, &st) < 0)
        return vls_fail_errno(err, "cannot look at", valise_str_of(path));
    if (S_ISDIR(st.st_mode))
        return refuse_folder(path, err);
    size = (uint64_t)st.st_size;
    if (!S_ISREG(st.st_mode)) {
        int rc = spool(&fd, &size, path, progress, err);
        if (rc < 0)
            return rc;
    }
    *out = (vls_bundle_input){.fd = fd};
    out->source = (vls_bundle_source){.size_bytes = size, .read = read_at, .arg = out};
    fd = -1;
    return 0;
}

void vls_bundle_input_close(vls_bundle_input *input)
{
    if (input->source.read)
        (void)vls_fd_close(input->fd);
    *input = (vls_bundle_input){.fd = -1};
}
