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

/* ---- out ---- */

static int fail_exists(const char *path, valise_error *err)
{
    int rc = vls_fail(err, VALISE_E_EXISTS, "%s already exists", path);

    vls_hint(err, "give another name, or replace it with --force");
    return rc;
}

/* The name of the file while it is written. */
static int name_beside(vls_bundle_output *o, const valise_env *env, valise_error *err)
{
    uint64_t random;

    if (env->random(env->self, &random, sizeof(random)) < 0)
        return vls_fail(err, VALISE_E_IO, "the environment gives no random bytes for a file name");
    if (snprintf(o->beside, sizeof(o->beside), "%s.%016llx", o->path, (unsigned long long)random) >=
        (int)sizeof(o->beside))
        return vls_fail(err, VALISE_E_INVALID, "the path %.100s... is too long", o->path);
    return 0;
}

int vls_bundle_output_open(vls_bundle_output *out, const valise_env *env, const char *path,
                           bool force, valise_error *err)
{
    vls_bundle_output o = {.fd = -1, .path = path, .force = force};
    bool there;
    struct stat st;
    int rc;

    there = stat(path, &st) == 0;
    if (there && S_ISDIR(st.st_mode))
        return refuse_folder(path, err);
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

static int fail_write(const vls_bundle_output *o, valise_error *err)
{
    bool full = errno == ENOSPC || errno == EDQUOT;
    int rc = vls_fail_errno(err, "cannot write", valise_str_of(o->path));

    if (full)
        vls_hint(err, "make room on the disk and try again");
    return rc;
}

int vls_bundle_output_write(void *arg, valise_str bytes, valise_error *err)
{
    const vls_bundle_output *o = arg;

    return vls_fd_write_all(o->fd, bytes) < 0 ? fail_write(o, err) : 0;
}

static int sync_folder(const vls_bundle_output *o, valise_error *err)
{
    VLS_AUTO(fd) int fd = -1;
    const char *slash = strrchr(o->path, '/');
    char folder[sizeof(o->beside)];

    (void)snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - o->path) + 1 : 1,
                   slash ? o->path : ".");
    fd = vls_fd_open_at(AT_FDCWD, folder, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0 || vls_fd_sync(fd) < 0)
        return vls_fail_errno(err, "cannot sync", valise_str_of(folder));
    return 0;
}

/* Give the file its name. Who did not ask for it replaces none that came meanwhile. */
static int rename_it(const vls_bundle_output *o)
{
    int rc;

    if (o->force) {
        do
            rc = rename(o->beside, o->path);
        while (vls_fd_again(rc));
        return rc;
    }
    do
        rc = link(o->beside, o->path);
    while (vls_fd_again(rc));
    if (rc == 0)
        (void)unlink(o->beside); /* a second name of the same file, at worst */
    return rc;
}

int vls_bundle_output_commit(vls_bundle_output *o, valise_error *err)
{
    if (o->direct) {
        o->fd = vls_fd_close(o->fd);
        return 0;
    }
    if (vls_fd_sync(o->fd) < 0)
        return fail_write(o, err);
    if (rename_it(o) < 0)
        return errno == EEXIST ? fail_exists(o->path, err) : fail_write(o, err);
    o->fd = vls_fd_close(o->fd);
    return sync_folder(o, err);
}

void vls_bundle_output_abort(vls_bundle_output *o)
{
    if (o->fd < 0)
        return;
    o->fd = vls_fd_close(o->fd);
    if (!o->direct)
        (void)unlink(o->beside);
}
