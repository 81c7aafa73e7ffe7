/* sqlite_error.c -- what SQLite says, as our codes; and who holds the lock.
 *
 * The lock of the writer is on byte 120 of the -shm file. The kernel lists all locks in
 * /proc/locks:
 *
 *     1: POSIX  ADVISORY  WRITE 4711 08:01:1573122 120 120
 *                               pid  device:inode  first and last byte
 *
 * The -shm file is only looked at with stat: closing it would drop the locks this process has on
 * it. On some file systems the device is not the one stat gives, so a line with the right inode is
 * taken where none has both. */
#include "store/sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/str.h"

#define WRITE_LOCK_BYTE 120u
#define MAX_LOCKS_BYTES (4u << 20)

/* ---- the holder ---- */

static int read_proc(vls_buf *out, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = -1;

    if (fd < 0)
        return -1;
    do {
        char *at = vls_buf_reserve(out, 4096);
        if (!at)
            break;
        got = read(fd, at, 4096);
        if (got > 0)
            vls_buf_advance(out, (size_t)got);
    } while (got > 0 || (got < 0 && errno == EINTR));
    (void)close(fd);
    return got == 0 ? 0 : -1;
}

static bool next_word(valise_str *word, valise_str *line)
{
    while (line->len > 0 && *line->ptr == ' ')
        *line = vls_str_from(*line, 1);
    *word = vls_str_head(*line, vls_str_find_byte(*line, ' '));
    *line = vls_str_from(*line, word->len);
    return word->len > 0;
}

/* 2 when the line is the lock of the writer on this file, 1 when only the inode is right. */
static int match_line(uint64_t *pid, valise_str line, const struct stat *shm)
{
    valise_str word[8], device, inode;
    uint64_t number, first, last;

    for (size_t i = 0; i < VLS_COUNT(word); i++) {
        if (!next_word(&word[i], &line))
            return 0;
    }
    size_t colon = word[5].len;
    while (colon > 0 && word[5].ptr[colon - 1] != ':')
        colon--;
    inode = vls_str_from(word[5], colon);
    device = vls_str_head(word[5], colon > 0 ? colon - 1 : 0);
    if (!vls_str_equal(word[3], VLS_STR("WRITE")) || !vls_str_to_u64(&number, inode) ||
        number != (uint64_t)shm->st_ino || !vls_str_to_u64(&first, word[6]) ||
        first > WRITE_LOCK_BYTE || !vls_str_to_u64(pid, word[4]))
        return 0;
    if (!vls_str_equal(word[7], VLS_STR("EOF")) &&
        (!vls_str_to_u64(&last, word[7]) || last < WRITE_LOCK_BYTE))
        return 0;
    char expected[32];
    (void)snprintf(expected, sizeof(expected), "%02x:%02x", major(shm->st_dev), minor(shm->st_dev));
    return vls_str_equal(device, valise_str_of(expected)) ? 2 : 1;
}

/* The process that has the lock of the writer; 0 when that cannot be found out. */
static uint64_t find_holder(const char *path)
{
    VLS_AUTO(buf) vls_buf locks = {0};
    char name[4096 + 8];
    struct stat shm;
    uint64_t found = 0, pid;
    int best = 0;

    (void)snprintf(name, sizeof(name), "%s-shm", path);
    vls_buf_init(&locks, valise_env_default(), MAX_LOCKS_BYTES);
    if (stat(name, &shm) != 0 || read_proc(&locks, "/proc/locks") < 0)
        return 0;
    valise_str line, rest = vls_buf_str(&locks);
    while (rest.len > 0) {
        (void)vls_str_cut(&line, &rest, rest, '\n');
        int match = match_line(&pid, line, &shm);
        if (match > best) {
            best = match;
            found = pid;
        }
    }
    return found;
}

/* BUSY, naming the process that writes if it can be found. */
static int fail_busy(const char *path, valise_error *err)
{
    uint64_t pid = find_holder(path);
    VLS_AUTO(buf) vls_buf name = {0};
    char proc[64];
    int rc;

    vls_buf_init(&name, valise_env_default(), 8192);
    (void)snprintf(proc, sizeof(proc), "/proc/%llu/comm", (unsigned long long)pid);
    if (pid == 0)
        rc = vls_fail(err, VALISE_E_BUSY, "%s: another process is writing", path);
    else if (pid == (uint64_t)getpid())
        rc = vls_fail(err, VALISE_E_BUSY, "%s: another handle of this process is writing", path);
    else if (read_proc(&name, proc) == 0)
        rc = vls_fail(err, VALISE_E_BUSY, "%s: process %llu (%.*s) is writing", path,
                      (unsigned long long)pid, VALISE_STR_ARG(vls_str_trim(vls_buf_str(&name))));
    else
        rc = vls_fail(err, VALISE_E_BUSY, "%s: process %llu is writing", path,
                      (unsigned long long)pid);
    vls_hint(err, "try again when it is done, or wait longer");
    return rc;
}

/* ---- codes ---- */

static bool is_full(int rc, int os)
{
    return (rc & 0xff) == SQLITE_FULL ||
           ((rc & 0xff) == SQLITE_IOERR && (os == ENOSPC || os == EDQUOT));
}

static int fail_denied(const char *path, const char *text, int os, valise_error *err)
{
    int rc = vls_fail(err, VALISE_E_DENIED, "%s: %s%s%s", path, text, os ? ": " : "",
                      os ? strerrordesc_np(os) : "");

    vls_hint(err, "check who owns the file and its folder, and that both can be written");
    return rc;
}

static int fail_corrupt(const char *path, const char *text, valise_error *err)
{
    int rc = vls_fail(err, VALISE_E_CORRUPT, "%s is damaged: %s", path, text);

    vls_hint(err, "keep a copy of the file, then restore a backup");
    return rc;
}

int vls_sqlite_report(const char *path, sqlite3 *db, int rc, valise_error *err)
{
    const char *text = db ? sqlite3_errmsg(db) : sqlite3_errstr(rc);
    int os = db ? sqlite3_system_errno(db) : 0;

    assert((rc & 0xff) != SQLITE_OK);
    if (rc == SQLITE_IOERR_NOMEM)
        return vls_fail_memory(err);
    if (is_full(rc, os)) {
        int code = vls_fail(err, VALISE_E_IO, "%s: disk full", path);
        vls_hint(err, "make room on the disk, or raise the quota");
        return code;
    }
    if ((rc & 0xff) == SQLITE_IOERR && os == EFBIG) {
        int code = vls_fail(err, VALISE_E_IO, "%s: %s", path, strerrordesc_np(os));
        vls_hint(err, "a file may not grow so large here: raise the limit (ulimit -f)");
        return code;
    }
    switch (rc & 0xff) {
    case SQLITE_NOMEM:
        return vls_fail_memory(err);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
        return fail_busy(path, err);
    case SQLITE_TOOBIG:
        return vls_fail(err, VALISE_E_TOO_LARGE, "%s: %s", path, text);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_ERROR:
    case SQLITE_SCHEMA:
        return fail_corrupt(path, text, err);
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return fail_denied(path, text, 0, err);
    case SQLITE_CANTOPEN:
        if (os == EACCES || os == EPERM || os == EROFS)
            return fail_denied(path, text, os, err);
        break;
    default:
        break;
    }
    return vls_fail(err, VALISE_E_IO, "%s: %s%s%s", path, text, os ? ": " : "",
                    os ? strerrordesc_np(os) : "");
}
