/* fd.c -- calls that are made again, and writes that go on. */
#include "base/fd.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/str.h"

int vls_fd_open_at(int folder, const char *name, int flags, mode_t mode)
{
    int fd;

    do
        fd = openat(folder, name, flags | O_CLOEXEC, mode);
    while (vls_fd_again(fd));
    return fd;
}

ssize_t vls_fd_read(int fd, void *room, size_t size)
{
    ssize_t got;

    do
        got = read(fd, room, size);
    while (vls_fd_again(got));
    return got;
}

int vls_fd_write_all(int fd, valise_str bytes)
{
    while (bytes.len > 0) {
        ssize_t done = write(fd, bytes.ptr, bytes.len);
        if (done < 0 && errno != EINTR)
            return -1;
        if (done > 0)
            bytes = vls_str_from(bytes, (size_t)done);
    }
    return 0;
}

int vls_fd_sync(int fd)
{
    int rc;

    do
        rc = fsync(fd);
    while (vls_fd_again(rc));
    return rc;
}

int vls_fd_close(int fd)
{
    int saved = errno;

    if (fd >= 0)
        (void)close(fd);
    errno = saved;
    return -1;
}

struct dirent *vls_fd_next_entry(DIR *folder)
{
    struct dirent *entry;

    do {
        errno = 0;
        entry = readdir(folder);
    } while (!entry && errno == EINTR);
    return entry;
}
