/* fd.h -- reading and writing file descriptors, with what every caller must take care of.
 *
 * A call that a signal interrupted is repeated, and a write goes on until everything is written.
 * Failures are -1 with errno, like those of the system; vls_fail_errno() makes an error of that.
 *
 * Threads: pure functions; safe anywhere. */
#ifndef VLS_FD_H
#define VLS_FD_H

#include <dirent.h>
#include <errno.h>
#include <sys/types.h>

#include "base/base.h"

/* Whether to make a call again: do rc = unlinkat(...); while (vls_fd_again(rc)); */
static inline bool vls_fd_again(int64_t rc)
{
    return rc < 0 && errno == EINTR;
}

/* openat with O_CLOEXEC. */
int vls_fd_open_at(int folder, const char *name, int flags, mode_t mode);

/* Some bytes, as many as come; 0 at the end. */
ssize_t vls_fd_read(int fd, void *room, size_t size);

/* All of it. What was written when it fails is not known. */
int vls_fd_write_all(int fd, valise_str bytes);

int vls_fd_sync(int fd);

/* -1 is fine. Returns -1. Nobody can do anything about a close that fails: what matters was
 * synced. errno stays as it was. */
int vls_fd_close(int fd);

/* The next entry; NULL at the end, and then errno is 0, or on failure. */
struct dirent *vls_fd_next_entry(DIR *folder);

/* Hand a descriptor out of a VLS_AUTO variable, which becomes -1. */
static inline int vls_fd_take(int *fd)
{
    int taken = *fd;

    *fd = -1;
    return taken;
}

/* Unlike other VLS_AUTO variables these are -1 when they hold nothing: 0 is a descriptor. */
static inline void vls_auto_fd(int *fd)
{
    *fd = vls_fd_close(*fd);
}

#endif
