/* sealed.c -- bytes that stay as they were when they were checked. */
#include "base/sealed.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/hash.h"
#include "base/str.h"

/* Check and use must be of the same bytes: whoever may write the file could change it in between.
 * So it is copied first, and what is hashed and loaded is the copy. */
static int copy_and_hash(valise_id *id, int to, int from, const char *path, valise_error *err)
{
    vls_hasher hasher;
    char piece[32768];
    size_t total = 0;

    vls_hash_begin(&hasher);
    for (;;) {
        ssize_t len = vls_fd_read(from, piece, sizeof(piece));
        if (len < 0)
            return vls_fail_errno(err, "cannot read", valise_str_of(path));
        if (len == 0)
            break;
        total += (size_t)len;
        if (total > VLS_SEALED_MAX_BYTES)
            return vls_fail(err, VALISE_E_TOO_LARGE, "%s has more than %zu bytes", path,
                            VLS_SEALED_MAX_BYTES);
        vls_hash_update(&hasher, vls_str(piece, (size_t)len));
        if (vls_fd_write_all(to, vls_str(piece, (size_t)len)) < 0)
            return vls_fail_errno(err, "cannot copy", valise_str_of(path));
    }
    vls_hash_end(id, &hasher);
    return 0;
}

static int open_regular(int *out, const char *path, valise_error *err)
{
    VLS_AUTO(fd) int fd = -1;
    struct stat st;

    fd = vls_fd_open_at(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, 0);
    if (fd < 0)
        return vls_fail_errno(err, "cannot open", valise_str_of(path));
    if (fstat(fd, &st) < 0)
        return vls_fail_errno(err, "cannot look at", valise_str_of(path));
    if (!S_ISREG(st.st_mode))
        return vls_fail(err, VALISE_E_INVALID, "%s is not a file", path);
    *out = vls_fd_take(&fd);
    return 0;
}

int vls_sealed_open(vls_sealed *out, const char *path, valise_error *err)
{
    const int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
    VLS_AUTO(fd) int file = -1;
    VLS_AUTO(fd) int copy = -1;
    valise_id id;
    int rc = open_regular(&file, path, err);

    if (rc < 0)
        return rc;
    copy = memfd_create("valise-sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (copy < 0)
        return vls_fail_errno(err, "cannot make a copy of", valise_str_of(path));
    rc = copy_and_hash(&id, copy, file, path, err);
    if (rc < 0)
        return rc;
    if (fcntl(copy, F_ADD_SEALS, seals) < 0)
        return vls_fail_errno(err, "cannot seal the copy of", valise_str_of(path));
    *out = (vls_sealed){.fd = vls_fd_take(&copy), .id = id};
    return 0;
}

void vls_sealed_close(vls_sealed *sealed)
{
    sealed->fd = vls_fd_close(sealed->fd);
}
