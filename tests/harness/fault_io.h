/* fault_io.h -- file calls that fail on purpose.
 *
 * The harness defines open, write, fsync, rename and the like, so a call to one of them from
 * anywhere in the program, shared libraries such as libsqlite3 included, comes here first. Where
 * no plan is active, or the file does not lie under the plan's directory, the call goes straight
 * on to the system. Calls that libc makes by itself (stdio, realpath, mkdtemp) are not seen.
 * Plan or none, fsync does not wait for the disk unless VALISE_TEST_REAL_SYNC=1: a test loses
 * nothing by it, and most of its time would go there.
 *
 *     fault_io_begin(&(fault_io_plan){.dir = dir, .kinds = FAULT_WRITE, .nth = 3, .error = EIO});
 *     ...                                   the third write below dir fails
 *     fault_io_end();                       (done anyway when the test ends)
 *
 * fault_each_io() in fault.h runs through all calls; kill_each_io() in kill.h kills at each.
 *
 * Threads: shared. A plan counts the calls of all threads. Children inherit the plan. */
#ifndef FAULT_IO_H
#define FAULT_IO_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* Each name with the calls it stands for, their 64-bit and *at variants included. What is not
 * here (statx, readlink, symlink, copy_file_range, ...) is not seen. */
#define FAULT_IO_KINDS(X)                                                                          \
    X(OPEN, 0)     /* open, openat, creat, opendir, fdopendir */                                   \
    X(CLOSE, 1)    /* close: the descriptor is closed even when it fails, as on Linux */           \
    X(READ, 2)     /* read, pread, readv, preadv, readdir, getdents64, readlinkat */               \
    X(WRITE, 3)    /* write, pwrite, writev, pwritev */                                            \
    X(SYNC, 4)     /* fsync, fdatasync */                                                          \
    X(TRUNCATE, 5) /* ftruncate, fallocate, posix_fallocate */                                     \
    X(RENAME, 6)   /* rename, renameat, renameat2, link, linkat */                                 \
    X(UNLINK, 7)   /* unlink, unlinkat, rmdir */                                                   \
    X(MKDIR, 8)    /* mkdir, mkdirat */                                                            \
    X(STAT, 9)     /* stat, lstat, fstat, fstatat, access, faccessat */                            \
    X(MMAP, 10)    /* mmap of a file */                                                            \
    X(LOCK, 11)    /* fcntl's lock commands, flock */

enum {
#define X(name, bit) FAULT_##name = 1 << (bit),
    FAULT_IO_KINDS(X)
#undef X
    /* What changes files, that is all a crash can fall between. */
    FAULT_CHANGES = FAULT_OPEN | FAULT_WRITE | FAULT_SYNC | FAULT_TRUNCATE | FAULT_RENAME |
                    FAULT_UNLINK | FAULT_MKDIR,
    FAULT_ALL = (1 << 12) - 1,
};

typedef enum fault_how {
    FAULT_ERROR,       /* the call is not made; it returns plan.error */
    FAULT_AFTER,       /* the call is made, and returns plan.error all the same */
    FAULT_SHORT,       /* READ and WRITE: only half is transferred, which is no error */
    FAULT_TORN,        /* WRITE: half is written, then plan.error */
    FAULT_KILL_BEFORE, /* the process kills itself (SIGKILL) instead of making the call */
    FAULT_KILL_AFTER,  /* ... when the call was made */
    FAULT_KILL_TORN,   /* WRITE: ... when half was written */
} fault_how;

typedef struct fault_io_plan {
    const char *dir; /* only calls on files in here, or on the directory itself */
    unsigned kinds;  /* which calls are counted for nth */
    long long nth;   /* the call that fails, from 1; 0: none, only count */
    bool onward;     /* all from the nth on */
    fault_how how;
    int error;          /* EIO, ENOSPC, EACCES, EINTR, EMFILE, ... */
    bool limited;       /* the disk has room for space_bytes more, then ENOSPC: writes are */
    size_t space_bytes; /* first short, then refused, whatever the rest of the plan says */
    bool record;        /* remember what was synced, for power cuts: see power.h */
    char *what;         /* NULL, or 256 bytes (shared with another process, say) that get */
                        /* what fault_io_what() says */
} fault_io_plan;

void fault_io_begin(const fault_io_plan *plan);
void fault_io_end(void);

/* Let calls through uncounted for a while: to prepare, to look at the result. With plan.record,
 * all that is there at resume counts as safe on disk. */
void fault_io_pause(void);
void fault_io_resume(void);

/* Since begin: calls of these kinds below the directory; bytes given to write (and fallocate);
 * whether the plan struck; and what it struck: "write /tmp/x/log (call 3)". These stay readable
 * after fault_io_end(). */
long long fault_io_count(unsigned kinds);
size_t fault_io_bytes(void);
bool fault_io_hit(void);
const char *fault_io_what(void);

/* ---- between fault_io.c and fault_io_calls.c ---- */

typedef struct fault_io_step {
    unsigned kind;
    bool watched; /* set by enter: the file lies under the directory of an active plan */
    bool fresh;   /* set by the caller: the call is about to make a new file */
    size_t len;   /* how much to transfer */
    int then;     /* what to do when the call was made */
} fault_io_step;

extern atomic_bool fault_io_active; /* may be true a little too long */

/* Whether to make the call; false with errno set when it shall fail at once. */
bool fault_io_enter(fault_io_step *step, const char *name, int fd, const char *path);

/* When the call was made; ok: it succeeded. The descriptor (of openat: the new one) and path are
 * those it was about. False with errno set when it shall fail all the same. */
bool fault_io_leave(const fault_io_step *step, int fd, const char *path, bool ok);

#endif
