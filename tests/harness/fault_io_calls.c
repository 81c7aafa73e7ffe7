/* fault_io_calls.c -- the file calls of libc, defined once more.
 *
 * The linker binds every call in the program, and the dynamic linker every call in its shared
 * libraries, to these. Each asks the plan (fault_io.c) and then calls the next definition: a
 * sanitizer's, so that it still sees the call, or libc's. clang links its sanitizers into the
 * program, where RTLD_NEXT does not look; theirs are called __interceptor_NAME.
 *
 * This file is compiled without sanitizers: gcc's TSan calls mmap before it can be called back.
 * The two macros below would give some of these functions other symbols. */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "harness/fault_io.h"

#define VISIBLE __attribute__((visibility("default")))

typedef void any_fn(void);

static any_fn *next_definition(_Atomic(any_fn *) *cache, const char *name, any_fn *sanitizers)
{
    any_fn *found = atomic_load_explicit(cache, memory_order_acquire);

    if (found)
        return found;
    found = sanitizers ? sanitizers : (any_fn *)(uintptr_t)dlsym(RTLD_NEXT, name);
    if (!found)
        abort();
    atomic_store_explicit(cache, found, memory_order_release);
    return found;
}

#define NEXT(name)                                                                                 \
    __extension__({                                                                                \
        static _Atomic(any_fn *) cache;                                                            \
        extern __typeof__(name) __interceptor_##name __attribute__((weak));                        \
        (__typeof__(&name))next_definition(&cache, #name, (any_fn *)__interceptor_##name);         \
    })

static bool enter(fault_io_step *step, unsigned kind, const char *name, int fd, const char *path,
                  size_t len)
{
    *step = (fault_io_step){.kind = kind, .len = len};
    return !atomic_load(&fault_io_active) || fault_io_enter(step, name, fd, path);
}

static bool leave(const fault_io_step *step, int fd, const char *path, bool ok)
{
    return !step->watched || fault_io_leave(step, fd, path, ok);
}

/* A call that returns `bad` and sets errno when it fails. */
#define CALL(type, bad, kind, fd, path, name, params, args)                                        \
    VISIBLE type name params                                                                       \
    {                                                                                              \
        fault_io_step step;                                                                        \
        if (!enter(&step, kind, #name, fd, path, 0))                                               \
            return bad;                                                                            \
        step.fresh = (kind) == FAULT_MKDIR;                                                        \
        type result = NEXT(name) args;                                                             \
        return leave(&step, fd, path, result != bad) ? result : bad;                               \
    }

#define HERE AT_FDCWD

CALL(int, -1, FAULT_TRUNCATE, fd, NULL, ftruncate, (int fd, off_t size), (fd, size))
CALL(int, -1, FAULT_TRUNCATE, fd, NULL, ftruncate64, (int fd, off64_t size), (fd, size))
CALL(int, -1, FAULT_TRUNCATE, HERE, path, truncate, (const char *path, off_t size), (path, size))
CALL(int, -1, FAULT_TRUNCATE, HERE, path, truncate64, (const char *path, off64_t size),
     (path, size))

CALL(int, -1, FAULT_RENAME, HERE, to, rename, (const char *from, const char *to), (from, to))
CALL(int, -1, FAULT_RENAME, fd, to, renameat,
     (int from_fd, const char *from, int fd, const char *to), (from_fd, from, fd, to))
CALL(int, -1, FAULT_RENAME, fd, to, renameat2,
     (int from_fd, const char *from, int fd, const char *to, unsigned flags),
     (from_fd, from, fd, to, flags))
CALL(int, -1, FAULT_RENAME, HERE, to, link, (const char *from, const char *to), (from, to))
CALL(int, -1, FAULT_RENAME, fd, to, linkat,
     (int from_fd, const char *from, int fd, const char *to, int flags),
     (from_fd, from, fd, to, flags))
CALL(int, -1, FAULT_UNLINK, HERE, path, unlink, (const char *path), (path))
CALL(int, -1, FAULT_UNLINK, fd, path, unlinkat, (int fd, const char *path, int flags),
     (fd, path, flags))
CALL(int, -1, FAULT_UNLINK, HERE, path, rmdir, (const char *path), (path))
CALL(int, -1, FAULT_MKDIR, HERE, path, mkdir, (const char *path, mode_t mode), (path, mode))
CALL(int, -1, FAULT_MKDIR, fd, path, mkdirat, (int fd, const char *path, mode_t mode),
     (fd, path, mode))

CALL(int, -1, FAULT_STAT, HERE, path, stat, (const char *path, struct stat *st), (path, st))
CALL(int, -1, FAULT_STAT, HERE, path, stat64, (const char *path, struct stat64 *st), (path, st))
CALL(int, -1, FAULT_STAT, HERE, path, lstat, (const char *path, struct stat *st), (path, st))
CALL(int, -1, FAULT_STAT, HERE, path, lstat64, (const char *path, struct stat64 *st), (path, st))
CALL(int, -1, FAULT_STAT, fd, NULL, fstat, (int fd, struct stat *st), (fd, st))
CALL(int, -1, FAULT_STAT, fd, NULL, fstat64, (int fd, struct stat64 *st), (fd, st))
CALL(int, -1, FAULT_STAT, fd, path, fstatat, (int fd, const char *path, struct stat *st, int flags),
     (fd, path, st, flags))
CALL(int, -1, FAULT_STAT, fd, path, fstatat64,
     (int fd, const char *path, struct stat64 *st, int flags), (fd, path, st, flags))
CALL(int, -1, FAULT_STAT, HERE, path, access, (const char *path, int how), (path, how))
CALL(int, -1, FAULT_STAT, fd, path, faccessat, (int fd, const char *path, int how, int flags),
     (fd, path, how, flags))

CALL(int, -1, FAULT_LOCK, fd, NULL, flock, (int fd, int operation), (fd, operation))
CALL(DIR *, NULL, FAULT_OPEN, HERE, path, opendir, (const char *path), (path))
CALL(DIR *, NULL, FAULT_OPEN, fd, NULL, fdopendir, (int fd), (fd))
CALL(struct dirent *, NULL, FAULT_READ, dirfd(d), NULL, readdir, (DIR * d), (d))
CALL(struct dirent64 *, NULL, FAULT_READ, dirfd(d), NULL, readdir64, (DIR * d), (d))
CALL(ssize_t, -1, FAULT_READ, fd, NULL, getdents64, (int fd, void *to, size_t size), (fd, to, size))
CALL(ssize_t, -1, FAULT_READ, fd, path, readlinkat,
     (int fd, const char *path, char *to, size_t size), (fd, path, to, size))
CALL(void *, MAP_FAILED, FAULT_MMAP, fd, NULL, mmap,
     (void *at, size_t len, int prot, int flags, int fd, off_t offset),
     (at, len, prot, flags, fd, offset))
CALL(void *, MAP_FAILED, FAULT_MMAP, fd, NULL, mmap64,
     (void *at, size_t len, int prot, int flags, int fd, off64_t offset),
     (at, len, prot, flags, fd, offset))

/* ---- syncing ---- */

/* A test never needs its files after a real power cut, and the disk is slow: files and folders
 * are not really synced, unless VALISE_TEST_REAL_SYNC=1. */
static bool skips_sync(int fd)
{
    const char *real = getenv("VALISE_TEST_REAL_SYNC");
    struct stat st;

    return !(real && real[0] == '1') && NEXT(fstat)(fd, &st) == 0 &&
           (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
}

#define SYNC(name)                                                                                 \
    VISIBLE int name(int fd)                                                                       \
    {                                                                                              \
        fault_io_step step;                                                                        \
        if (!enter(&step, FAULT_SYNC, #name, fd, NULL, 0))                                         \
            return -1;                                                                             \
        int result = skips_sync(fd) ? 0 : NEXT(name)(fd);                                          \
        return leave(&step, fd, NULL, result == 0) ? result : -1;                                  \
    }

SYNC(fsync)
SYNC(fdatasync)

/* ---- transfers: part of the bytes may go through ---- */

#define TRANSFER(kind, name, params, args)                                                         \
    VISIBLE ssize_t name params                                                                    \
    {                                                                                              \
        fault_io_step step;                                                                        \
        if (!enter(&step, kind, #name, fd, NULL, len))                                             \
            return -1;                                                                             \
        len = step.len;                                                                            \
        ssize_t result = NEXT(name) args;                                                          \
        return leave(&step, fd, NULL, result >= 0) ? result : -1;                                  \
    }

ssize_t __read_chk(int fd, void *buf, size_t len, size_t size);
ssize_t __pread_chk(int fd, void *buf, size_t len, off_t at, size_t size);
ssize_t __pread64_chk(int fd, void *buf, size_t len, off64_t at, size_t size);

TRANSFER(FAULT_READ, read, (int fd, void *buf, size_t len), (fd, buf, len))
TRANSFER(FAULT_READ, pread, (int fd, void *buf, size_t len, off_t at), (fd, buf, len, at))
TRANSFER(FAULT_READ, pread64, (int fd, void *buf, size_t len, off64_t at), (fd, buf, len, at))
TRANSFER(FAULT_READ, __read_chk, (int fd, void *buf, size_t len, size_t size), (fd, buf, len, size))
TRANSFER(FAULT_READ, __pread_chk, (int fd, void *buf, size_t len, off_t at, size_t size),
         (fd, buf, len, at, size))
TRANSFER(FAULT_READ, __pread64_chk, (int fd, void *buf, size_t len, off64_t at, size_t size),
         (fd, buf, len, at, size))
TRANSFER(FAULT_WRITE, write, (int fd, const void *buf, size_t len), (fd, buf, len))
TRANSFER(FAULT_WRITE, pwrite, (int fd, const void *buf, size_t len, off_t at), (fd, buf, len, at))
TRANSFER(FAULT_WRITE, pwrite64, (int fd, const void *buf, size_t len, off64_t at),
         (fd, buf, len, at))

/* Of a vector cut short, the part in its first piece. */
#define VECTOR(kind, name, params, args, one, one_args)                                            \
    VISIBLE ssize_t name params                                                                    \
    {                                                                                              \
        fault_io_step step;                                                                        \
        size_t len = 0;                                                                            \
        for (int i = 0; i < count; i++)                                                            \
            len += iov[i].iov_len;                                                                 \
        if (!enter(&step, kind, #name, fd, NULL, len))                                             \
            return -1;                                                                             \
        size_t part = step.len < iov[0].iov_len ? step.len : iov[0].iov_len;                       \
        ssize_t result = step.len < len ? NEXT(one) one_args : NEXT(name) args;                    \
        return leave(&step, fd, NULL, result >= 0) ? result : -1;                                  \
    }

typedef const struct iovec *vector;

VECTOR(FAULT_READ, readv, (int fd, vector iov, int count), (fd, iov, count), read,
       (fd, iov[0].iov_base, part))
VECTOR(FAULT_WRITE, writev, (int fd, vector iov, int count), (fd, iov, count), write,
       (fd, iov[0].iov_base, part))
VECTOR(FAULT_READ, preadv, (int fd, vector iov, int count, off_t at), (fd, iov, count, at), pread,
       (fd, iov[0].iov_base, part, at))
VECTOR(FAULT_READ, preadv64, (int fd, vector iov, int count, off64_t at), (fd, iov, count, at),
       pread64, (fd, iov[0].iov_base, part, at))
VECTOR(FAULT_WRITE, pwritev, (int fd, vector iov, int count, off_t at), (fd, iov, count, at),
       pwrite, (fd, iov[0].iov_base, part, at))
VECTOR(FAULT_WRITE, pwritev64, (int fd, vector iov, int count, off64_t at), (fd, iov, count, at),
       pwrite64, (fd, iov[0].iov_base, part, at))

/* ---- room made beforehand ---- */

#define ALLOCATE(bad, name, params, args)                                                          \
    VISIBLE int name params                                                                        \
    {                                                                                              \
        fault_io_step step;                                                                        \
        if (!enter(&step, FAULT_TRUNCATE, #name, fd, NULL, (size_t)len))                           \
            return bad;                                                                            \
        int result = NEXT(name) args;                                                              \
        return leave(&step, fd, NULL, result == 0) ? result : bad;                                 \
    }

ALLOCATE(-1, fallocate, (int fd, int mode, off_t at, off_t len), (fd, mode, at, len))
ALLOCATE(-1, fallocate64, (int fd, int mode, off64_t at, off64_t len), (fd, mode, at, len))
ALLOCATE(errno, posix_fallocate, (int fd, off_t at, off_t len), (fd, at, len))
ALLOCATE(errno, posix_fallocate64, (int fd, off64_t at, off64_t len), (fd, at, len))

/* ---- opening and closing ---- */

/* Not "&": __O_TMPFILE has the bit of O_DIRECTORY in it. */
#define MAKES_TMPFILE(flags) (((flags)&__O_TMPFILE) == __O_TMPFILE)

#define OPEN(name, in, params, args)                                                               \
    VISIBLE int name params                                                                        \
    {                                                                                              \
        fault_io_step step;                                                                        \
        int saved = errno;                                                                         \
        mode_t mode = 0;                                                                           \
        if ((flags & O_CREAT) || MAKES_TMPFILE(flags)) {                                           \
            va_list rest;                                                                          \
            va_start(rest, flags);                                                                 \
            mode = va_arg(rest, mode_t);                                                           \
            va_end(rest);                                                                          \
        }                                                                                          \
        if (!enter(&step, FAULT_OPEN, #name, in, path, 0))                                         \
            return -1;                                                                             \
        step.fresh =                                                                               \
            step.watched && (MAKES_TMPFILE(flags) || ((flags & O_CREAT) && !exists(in, path)));    \
        errno = saved;                                                                             \
        int fd = NEXT(name) args;                                                                  \
        (void)leave(&step, fd, NULL, fd >= 0);                                                     \
        return fd;                                                                                 \
    }

static bool exists(int in, const char *path)
{
    return NEXT(faccessat)(in, path, F_OK, 0) == 0;
}

OPEN(open, HERE, (const char *path, int flags, ...), (path, flags, mode))
OPEN(open64, HERE, (const char *path, int flags, ...), (path, flags, mode))
OPEN(openat, in, (int in, const char *path, int flags, ...), (in, path, flags, mode))
OPEN(openat64, in, (int in, const char *path, int flags, ...), (in, path, flags, mode))

/* What fortified code calls where there is no mode. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int in, const char *path, int flags);
int __openat64_2(int in, const char *path, int flags);
CALL(int, -1, FAULT_OPEN, HERE, path, __open_2, (const char *path, int flags), (path, flags))
CALL(int, -1, FAULT_OPEN, HERE, path, __open64_2, (const char *path, int flags), (path, flags))
CALL(int, -1, FAULT_OPEN, in, path, __openat_2, (int in, const char *path, int flags),
     (in, path, flags))
CALL(int, -1, FAULT_OPEN, in, path, __openat64_2, (int in, const char *path, int flags),
     (in, path, flags))

VISIBLE int creat(const char *path, mode_t mode)
{
    return open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}

VISIBLE int creat64(const char *path, mode_t mode)
{
    return open64(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}

VISIBLE int close(int fd)
{
    fault_io_step step;
    bool fine = enter(&step, FAULT_CLOSE, "close", fd, NULL, 0);
    int error = errno;
    int result = NEXT(close)(fd);

    if (!fine) { /* Linux closes first and reports then */
        errno = error;
        return -1;
    }
    return leave(&step, -1, NULL, result == 0) ? result : -1;
}

/* ---- locks ---- */

static bool is_lock_command(int command)
{
    return command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK ||
           command == F_OFD_SETLKW;
}

/* The third argument is an int or a pointer: passed on as the wider of the two. */
#define FCNTL(name)                                                                                \
    VISIBLE int name(int fd, int command, ...)                                                     \
    {                                                                                              \
        fault_io_step step;                                                                        \
        va_list rest;                                                                              \
        va_start(rest, command);                                                                   \
        void *arg = va_arg(rest, void *);                                                          \
        va_end(rest);                                                                              \
        if (!is_lock_command(command))                                                             \
            return NEXT(name)(fd, command, arg);                                                   \
        if (!enter(&step, FAULT_LOCK, #name, fd, NULL, 0))                                         \
            return -1;                                                                             \
        int result = NEXT(name)(fd, command, arg);                                                 \
        return leave(&step, fd, NULL, result >= 0) ? result : -1;                                  \
    }

FCNTL(fcntl)
FCNTL(fcntl64)
