/* sqlite_file.c -- finding, making and recognising the file.
 *
 * A new file is made empty, for its owner only, then filled in one transaction. Whoever makes one
 * holds a lock (flock) on the folder meanwhile, so that two who begin at once do not meet half
 * way. A file that is still empty, because somebody was interrupted there, counts as none.
 *
 * A store that only reads writes nothing, not even a file. What SQLite needs beside the file
 * decides how it is read:
 *
 *     -wal     -shm
 *     there    there    SHARES: with the locks of the others, the -shm file only being read
 *     empty or none     IMMUTABLE: all there is is in the file. Looked at again at each begin;
 *                       once somebody else writes, SHARES
 *     content  none     refused: the log has to be recovered, which takes a -shm file
 *
 * In IMMUTABLE nothing is locked: what another program writes in the middle of a transaction may
 * be seen in part. It is for files on media that cannot be written. */
#include "store/sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#define NAME "/valise.db"

/* ---- paths ---- */

/* The path of valise.db in the folder `where`, which is there. */
static int find_path(vls_sqlite *store, const char *where, valise_error *err)
{
    char folder[PATH_MAX];
    struct stat st;

    if (!where || !*where)
        return vls_fail(err, VALISE_E_INVALID, "a store in a file needs a folder");
    if (!realpath(where, folder) || stat(folder, &st) != 0) {
        int rc = vls_fail_errno(err, "open the folder", valise_str_of(where));
        vls_hint(err, "make the folder first");
        return rc;
    }
    if (!S_ISDIR(st.st_mode))
        return vls_fail(err, VALISE_E_INVALID, "%s is not a folder", where);
    store->path_size = strlen(folder) + sizeof(NAME);
    store->path = vls_mem_alloc(store->env, store->path_size);
    if (!store->path)
        return vls_fail_memory(err);
    (void)snprintf(store->path, store->path_size, "%s" NAME, strcmp(folder, "/") ? folder : "");
    return 0;
}

bool vls_sqlite_beside(struct stat *out, const vls_sqlite *store, const char *ending)
{
    char name[PATH_MAX + 32];

    (void)snprintf(name, sizeof(name), "%s%s", store->path, ending);
    return stat(name, out) == 0;
}

static int fail_none(const vls_sqlite *store, const char *what, valise_error *err)
{
    int rc = vls_fail(err, VALISE_E_NOT_FOUND, "%s %s", store->path, what);

    vls_hint(err, "create a new store there, or look in another folder");
    return rc;
}

/* 1 when the file is there, 0 when there is none. */
static int look(const vls_sqlite *store, struct stat *st, valise_error *err)
{
    if (lstat(store->path, st) != 0) {
        if (errno == ENOENT)
            return 0;
        return vls_fail_errno(err, "open", valise_str_of(store->path));
    }
    if (!S_ISREG(st->st_mode))
        return vls_fail(err, VALISE_E_UNSUPPORTED, "%s is not a plain file", store->path);
    return 1;
}

/* ---- whose file it is ---- */

/* 1: a store; 0: empty. */
static int identify(vls_sqlite_conn *conn, valise_error *err)
{
    const char *path = conn->store->path;
    int64_t application = 0, version = 0, things = 0;
    int rc = vls_sqlite_number(&application, conn->db, "PRAGMA application_id");

    if (rc == SQLITE_OK)
        rc = vls_sqlite_run(&version, conn, VLS_SQLITE_USER_VERSION);
    if (rc == SQLITE_OK)
        rc = vls_sqlite_number(&things, conn->db, "SELECT count(*) FROM sqlite_schema");
    if (rc != SQLITE_OK)
        return vls_sqlite_fail(conn->store, conn->db, rc, err);
    if (application == 0 && version == 0 && things == 0)
        return 0;
    if (application != VLS_SQLITE_APPLICATION_ID) {
        rc = vls_fail(err, VALISE_E_UNSUPPORTED, "%s belongs to another program", path);
        vls_hint(err, "its application_id is %lld, not %d", (long long)application,
                 VLS_SQLITE_APPLICATION_ID);
        return rc;
    }
    if (version != VLS_SQLITE_VERSION) {
        rc = vls_fail(err, VALISE_E_UNSUPPORTED,
                      "%s has format %lld, but this program knows only %d", path,
                      (long long)version, VLS_SQLITE_VERSION);
        vls_hint(err, "use the version of the program that wrote it, or a newer one");
        return rc;
    }
    return 1;
}

/* ---- making ---- */

/* Whether the file has a log of its own (WAL), after this pragma. */
static int ask_wal(bool *out, vls_sqlite_conn *conn, const char *pragma, valise_error *err)
{
    sqlite3_stmt *stmt = NULL;
    bool wal = false;
    int rc = sqlite3_prepare_v2(conn->db, pragma, -1, &stmt, NULL);

    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW) {
        const char *mode = (const char *)sqlite3_column_text(stmt, 0);
        wal = mode && strcmp(mode, "wal") == 0;
        rc = sqlite3_step(stmt);
    }
    (void)sqlite3_finalize(stmt);
    if (rc != SQLITE_DONE)
        return vls_sqlite_fail(conn->store, conn->db, rc, err);
    *out = wal;
    return 0;
}

static int set_wal(vls_sqlite_conn *conn, valise_error *err)
{
    bool wal = false;
    int rc = ask_wal(&wal, conn, "PRAGMA journal_mode=WAL", err);

    if (rc < 0)
        return rc;
    if (!wal)
        return vls_fail(err, VALISE_E_UNSUPPORTED,
                        "%s: this file system cannot share memory between processes",
                        conn->store->path);
    return 0;
}

static int fill(vls_sqlite_conn *conn, valise_error *err)
{
    vls_sqlite *store = conn->store;
    char sql[64];
    int rc = vls_sqlite_run(NULL, conn, VLS_SQLITE_BEGIN_WRITE);

    (void)snprintf(sql, sizeof(sql), "PRAGMA application_id=%d", VLS_SQLITE_APPLICATION_ID);
    if (rc == SQLITE_OK)
        rc = vls_sqlite_exec(conn->db, sql);
    (void)snprintf(sql, sizeof(sql), "PRAGMA user_version=%d", VLS_SQLITE_VERSION);
    if (rc == SQLITE_OK)
        rc = vls_sqlite_exec(conn->db, sql);
    if (rc != SQLITE_OK)
        return vls_sqlite_fail(store, conn->db, rc, err);
    for (size_t i = 0; i < store->defs.len; i++) {
        rc = vls_sqlite_create(conn, store->defs.ptr[i], 0, err);
        if (rc < 0)
            return rc;
    }
    rc = vls_sqlite_run(NULL, conn, VLS_SQLITE_COMMIT);
    return rc == SQLITE_OK ? 0 : vls_sqlite_fail(store, conn->db, rc, err);
}

/* These two are fixed with the first page that is written. */
static int lay_out(vls_sqlite_conn *conn, valise_error *err)
{
    int rc = vls_sqlite_exec(conn->db, "PRAGMA page_size=4096");

    if (rc == SQLITE_OK)
        rc = vls_sqlite_exec(conn->db, "PRAGMA auto_vacuum=INCREMENTAL");
    return rc == SQLITE_OK ? 0 : vls_sqlite_fail(conn->store, conn->db, rc, err);
}

static int open_writer(vls_sqlite *store, valise_error *err)
{
    int rc = vls_sqlite_conn_open(&store->writer, store, true, err);

    if (rc < 0)
        return rc;
    rc = identify(store->writer, err);
    if (rc < 0)
        return rc;
    if (rc == 1 && (store->flags & VALISE_STORE_EXCLUSIVE))
        return vls_fail(err, VALISE_E_EXISTS, "%s already exists", store->path);
    if (rc == 1)
        return set_wal(store->writer, err);
    if (!(store->flags & VALISE_STORE_CREATE))
        return fail_none(store, "is empty", err);
    store->waited = true;
    rc = lay_out(store->writer, err);
    if (rc == 0)
        rc = set_wal(store->writer, err);
    return rc < 0 ? rc : fill(store->writer, err);
}

/* A connection reads all tables when it is opened, which is a good part of what a program costs
 * that reads one row. So a file that is there is opened to read; the writer is opened by who first
 * writes, or here for a file that needs something done to it. */
static int open_there(vls_sqlite *store, valise_error *err)
{
    vls_sqlite_conn *conn = NULL;
    bool wal = false;
    int rc = vls_sqlite_reader_take(&conn, store, err);

    if (rc < 0)
        return rc;
    assert(conn);
    rc = identify(conn, err);
    if (rc > 0)
        rc = ask_wal(&wal, conn, "PRAGMA journal_mode", err);
    vls_sqlite_reader_give(conn);
    if (rc < 0)
        return rc;
    return wal ? 0 : open_writer(store, err);
}

/* ---- the folder's lock, and the file itself ---- */

static int lock_folder(int *out, const vls_sqlite *store, valise_error *err)
{
    char folder[PATH_MAX + 1];

    (void)snprintf(folder, sizeof(folder), "%.*s/", (int)(store->path_size - sizeof(NAME)),
                   store->path);
    return vls_folder_lock(out, store->env, folder, store->busy_timeout_ns, err);
}

/* The name must be on the disk before anything in the file can be said to be. */
static int make_file(const vls_sqlite *store, int folder, valise_error *err)
{
    int fd = open(store->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return vls_fail_errno(err, "make", valise_str_of(store->path));
    (void)close(fd); /* nothing was written; nobody has a lock on it that this would drop */
    if (fsync(folder) == 0)
        return 0;
    int rc = vls_fail_errno(err, "sync the folder of", valise_str_of(store->path));
    (void)unlink(store->path);
    return rc;
}

static void remove_file(const vls_sqlite *store)
{
    static const char *const endings[] = {"-wal", "-shm", ""};
    char name[PATH_MAX + 32];

    for (size_t i = 0; i < VLS_COUNT(endings); i++) {
        (void)snprintf(name, sizeof(name), "%s%s", store->path, endings[i]);
        (void)unlink(name);
    }
}

/* With the folder locked. */
static int open_or_make(vls_sqlite *store, int folder, valise_error *err)
{
    struct stat st;
    int there = look(store, &st, err), rc = 0;

    if (there < 0)
        return there;
    if (!there)
        rc = make_file(store, folder, err);
    if (rc == 0)
        rc = open_writer(store, err);
    if (rc < 0 && !there) {
        vls_sqlite_conn_close(store->writer);
        store->writer = NULL;
        remove_file(store);
    }
    return rc;
}

static int create_locked(vls_sqlite *store, valise_error *err)
{
    VLS_AUTO(fd) int folder = -1;
    int rc = lock_folder(&folder, store, err);

    return rc < 0 ? rc : open_or_make(store, folder, err);
}

/* ---- only reading ---- */

static int choose_access(vls_sqlite *store, valise_error *err)
{
    struct stat wal, shm;
    bool has_wal = vls_sqlite_beside(&wal, store, "-wal");
    bool has_shm = vls_sqlite_beside(&shm, store, "-shm");
    int access = has_wal && has_shm ? VLS_SQLITE_SHARES : VLS_SQLITE_IMMUTABLE;

    if (has_wal && wal.st_size > 0 && !has_shm) {
        int rc =
            vls_fail(err, VALISE_E_IO,
                     "%s: its log has to be recovered, which reading alone cannot do", store->path);
        vls_hint(err, "open the store once for writing");
        return rc;
    }
    if (!vls_sqlite_beside(&store->seen, store, ""))
        return vls_fail_errno(err, "open", valise_str_of(store->path));
    if (access != store->access)
        store->generation++;
    store->access = access;
    return 0;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

int vls_sqlite_file_look(vls_sqlite *store, valise_error *err)
{
    struct stat before = store->seen;

    if (store->access != VLS_SQLITE_IMMUTABLE)
        return 0;
    int rc = choose_access(store, err);
    if (rc == 0 && !same_file(&before, &store->seen))
        store->generation++;
    return rc;
}

static int open_to_read(vls_sqlite *store, valise_error *err)
{
    vls_sqlite_conn *conn = NULL;
    int rc = choose_access(store, err);

    if (rc == 0)
        rc = vls_sqlite_reader_take(&conn, store, err);
    if (rc < 0)
        return rc;
    assert(conn);
    rc = identify(conn, err);
    vls_sqlite_reader_give(conn);
    return rc == 0 ? fail_none(store, "is empty", err) : vls_settle(rc);
}

int vls_sqlite_file_open(vls_sqlite *store, const valise_store_open *how, valise_error *err)
{
    struct stat st;
    int rc = find_path(store, how->where, err);

    if (rc < 0)
        return rc;
    if (store->flags & VALISE_STORE_CREATE)
        return create_locked(store, err);
    rc = look(store, &st, err);
    if (rc == 0)
        return fail_none(store, "is not there", err);
    if (rc < 0)
        return rc;
    if (store->flags & VALISE_STORE_READ_ONLY)
        return open_to_read(store, err);
    return store->flags & VALISE_STORE_EXCLUSIVE ? open_writer(store, err) : open_there(store, err);
}
