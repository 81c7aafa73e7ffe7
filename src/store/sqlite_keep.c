/* sqlite_keep.c -- upkeep: checkpoints, space, checks.
 *
 * A checkpoint moves pages from the log (-wal) to the file. It is not done inside a commit, but
 * by the thread that committed, when it has given its turn away: PASSIVE, which is in nobody's
 * way, each time the log has grown by STEP pages beyond PASSIVE_PAGES; RESTART, for which writers
 * wait a little, beyond RESTART_PAGES, where readers have kept the log from starting over. */
#include "store/sqlite.h"

#include "base/time.h"

#define PASSIVE_PAGES 16000
#define PASSIVE_STEP 4000
#define RESTART_PAGES 64000
#define RESTART_STEP 16000
#define RESTART_WAIT_NS (VLS_NS_PER_SECOND / 10)
#define FRAME_BYTES (VLS_SQLITE_PAGE + 24)
#define SHRINK_PAGES 1024
#define LEAVE_PAGES INT64_C(256)

/* ---- checkpoints; all with the keeper held ---- */

static int find_keeper(vls_sqlite *store, int64_t timeout_ns, valise_error *err)
{
    int rc = store->keeper ? 0 : vls_sqlite_conn_open(&store->keeper, store, false, err);

    if (rc == 0)
        store->keeper->deadline_ns = vls_deadline_ns(store->env, timeout_ns);
    return rc;
}

/* The result is SQLite's; *left gets the pages that are in the log only. */
static int checkpoint(int *left, vls_sqlite *store, int mode)
{
    int in_log = 0, moved = 0;
    int rc = sqlite3_wal_checkpoint_v2(store->keeper->db, "main", mode, &in_log, &moved);

    *left = in_log > moved ? in_log - moved : 0;
    return rc;
}

/* The log starts over when all of it was moved, so fewer pages than last time are a new log. */
static bool is_due(int *last, int pages, int least, int step)
{
    if (pages < least || (pages >= *last && pages < *last + step))
        return false;
    *last = pages;
    return true;
}

void vls_sqlite_keep(vls_sqlite *store, int pages)
{
    int left;

    if (pages < PASSIVE_PAGES || pthread_mutex_trylock(&store->keeping) != 0)
        return; /* somebody is at it */
    /* What fails here fails again, and is then reported, when somebody asks for it. */
    if (is_due(&store->last_restart, pages, RESTART_PAGES, RESTART_STEP)) {
        if (find_keeper(store, RESTART_WAIT_NS, NULL) == 0)
            (void)checkpoint(&left, store, SQLITE_CHECKPOINT_RESTART);
    } else if (is_due(&store->last_passive, pages, PASSIVE_PAGES, PASSIVE_STEP)) {
        if (find_keeper(store, 0, NULL) == 0)
            (void)checkpoint(&left, store, SQLITE_CHECKPOINT_PASSIVE);
    }
    (void)pthread_mutex_unlock(&store->keeping);
}

static void leave_log(vls_sqlite_conn *conn)
{
    if (conn)
        (void)sqlite3_db_config(conn->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)NULL);
}

/* Moving pages at the last close waits for the disk. Who only read need not do it for others, while
 * the log is so short that the next open reads it in no time. */
void vls_sqlite_leave_log(vls_sqlite *store)
{
    struct stat wal;

    if (!vls_sqlite_beside(&wal, store, "-wal") || wal.st_size > LEAVE_PAGES * FRAME_BYTES)
        return;
    leave_log(store->keeper);
    for (vls_sqlite_conn *conn = store->readers; conn; conn = conn->next)
        leave_log(conn);
    leave_log(store->writer);
}

static int maintain_log(int64_t *result, vls_sqlite *store, bool truncate, valise_error *err)
{
    struct stat wal;
    int left = 0, rc;

    (void)pthread_mutex_lock(&store->keeping);
    rc = find_keeper(store, truncate ? store->busy_timeout_ns : 0, err);
    if (rc == 0) {
        int mode = truncate ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE;
        int code = checkpoint(&left, store, mode);
        if (code != SQLITE_OK && (code & 0xff) != SQLITE_BUSY)
            rc = vls_sqlite_fail(store, store->keeper->db, code, err);
    }
    (void)pthread_mutex_unlock(&store->keeping);
    if (rc < 0)
        return rc;
    if (!truncate)
        *result = (int64_t)left * FRAME_BYTES;
    else
        *result = vls_sqlite_beside(&wal, store, "-wal") ? wal.st_size : 0;
    return 0;
}

/* ---- space ---- */

static int64_t size_on_disk(const vls_sqlite *store)
{
    static const char *const endings[] = {"", "-wal", "-shm"};
    struct stat st;
    int64_t size = 0;

    for (size_t i = 0; i < VLS_COUNT(endings); i++)
        size += vls_sqlite_beside(&st, store, endings[i]) ? st.st_size : 0;
    return size;
}

static int give_back(int64_t *bytes, vls_sqlite_conn *conn)
{
    char sql[64];
    int64_t before, after;
    int rc = vls_sqlite_number(&before, conn->db, "PRAGMA freelist_count");

    *bytes = 0;
    if (rc != SQLITE_OK || before == 0)
        return rc;
    (void)snprintf(sql, sizeof(sql), "PRAGMA incremental_vacuum(%d)", SHRINK_PAGES);
    rc = vls_sqlite_exec(conn->db, sql);
    if (rc == SQLITE_OK)
        rc = vls_sqlite_number(&after, conn->db, "PRAGMA freelist_count");
    if (rc == SQLITE_OK && after < before)
        *bytes = (before - after) * VLS_SQLITE_PAGE;
    return rc;
}

static int reindex(int64_t *count, vls_sqlite_conn *conn)
{
    int rc = vls_sqlite_remake_indexes(conn);

    if (rc == SQLITE_OK)
        rc = vls_sqlite_exec(conn->db, "REINDEX");

    if (rc != SQLITE_OK)
        return rc;
    return vls_sqlite_number(
        count, conn->db,
        "SELECT count(*) FROM sqlite_schema WHERE type = 'index' AND sql NOT NULL");
}

/* Both in a write transaction of their own; what they return is SQLite's. */
typedef int upkeep(int64_t *result, vls_sqlite_conn *conn);

static int in_write(int64_t *result, vls_sqlite *store, upkeep *fn, valise_error *err)
{
    int64_t number;
    void *txn;
    int rc = vls_sqlite_begin(&txn, store, VALISE_TXN_WRITE, err);

    if (rc < 0)
        return rc;
    int code = fn(&number, txn);
    if (code != SQLITE_OK) {
        rc = vls_sqlite_fail(store, ((vls_sqlite_conn *)txn)->db, code, err);
        vls_sqlite_rollback(txn);
        return rc;
    }
    rc = vls_sqlite_commit(txn, err);
    if (rc == 0)
        *result = number;
    return rc;
}

int vls_sqlite_maintain(int64_t *result, void *self, int what, valise_error *err)
{
    vls_sqlite *store = self;

    if (what == VALISE_MAINTAIN_SIZE) {
        *result = size_on_disk(store);
        return 0;
    }
    if (store->flags & VALISE_STORE_READ_ONLY)
        return vls_fail(err, VALISE_E_DENIED, "%s was opened for reading only", store->path);
    int rc = vls_sqlite_check_process(store, err);
    if (rc < 0)
        return rc;
    switch (what) {
    case VALISE_MAINTAIN_CHECKPOINT:
        return maintain_log(result, store, false, err);
    case VALISE_MAINTAIN_TRUNCATE:
        return maintain_log(result, store, true, err);
    case VALISE_MAINTAIN_SHRINK:
        return in_write(result, store, give_back, err);
    case VALISE_MAINTAIN_REINDEX:
        return in_write(result, store, reindex, err);
    default:
        return vls_fail(err, VALISE_E_INVALID, "there is no upkeep %d", what);
    }
}

/* ---- checks ---- */

/* One line for each problem; where SQLite cannot even go on, that is one too. */
static int report_all(vls_sqlite_conn *conn, sqlite3_stmt *stmt, valise_problem_fn *fn, void *arg,
                      valise_error *err)
{
    int step, rc = 0;

    while (rc == 0 && (step = sqlite3_step(stmt)) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(stmt, 0);
        if (!text)
            return vls_fail_memory(err);
        if (strcmp(text, "ok") != 0)
            rc = fn(arg, text, err);
    }
    if (rc != 0 || step == SQLITE_DONE)
        return rc;
    if ((step & 0xff) == SQLITE_CORRUPT)
        return fn(arg, sqlite3_errmsg(conn->db), err);
    return vls_sqlite_fail(conn->store, conn->db, step, err);
}

int vls_sqlite_check_tables(void *self, valise_problem_fn *fn, void *arg, valise_error *err)
{
    void *txn;
    int rc = vls_sqlite_begin(&txn, self, VALISE_TXN_READ, err);

    if (rc < 0)
        return rc;
    rc = vls_sqlite_check_schema(txn, false, fn, arg, err);
    vls_sqlite_rollback(txn);
    return rc;
}

int vls_sqlite_check_file(void *self, valise_problem_fn *fn, void *arg, valise_error *err)
{
    vls_sqlite *store = self;
    sqlite3_stmt *stmt = NULL;
    vls_sqlite_conn *conn;
    void *txn;
    int rc = vls_sqlite_begin(&txn, store, VALISE_TXN_READ, err);

    if (rc < 0)
        return rc;
    conn = txn;
    rc = vls_sqlite_check_schema(conn, true, fn, arg, err);
    if (rc == 0) {
        int code = sqlite3_prepare_v2(conn->db, "PRAGMA integrity_check(10000)", -1, &stmt, NULL);
        if (code == SQLITE_OK)
            rc = report_all(conn, stmt, fn, arg, err);
        else if ((code & 0xff) == SQLITE_CORRUPT)
            rc = fn(arg, sqlite3_errmsg(conn->db), err);
        else
            rc = vls_sqlite_fail(store, conn->db, code, err);
    }
    (void)sqlite3_finalize(stmt);
    vls_sqlite_rollback(txn);
    return rc;
}
