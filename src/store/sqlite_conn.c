/* sqlite_conn.c -- connections: their settings, and the pool of those that read. */
#include "store/sqlite.h"

#include <time.h>

#include "base/mem.h"
#include "base/time.h"

/* ---- statements without a table ---- */

static const char *const fixed_sql[VLS_SQLITE_FIXED] = {
    [VLS_SQLITE_BEGIN_READ] = "BEGIN",      [VLS_SQLITE_BEGIN_WRITE] = "BEGIN IMMEDIATE",
    [VLS_SQLITE_COMMIT] = "COMMIT",         [VLS_SQLITE_ROLLBACK] = "ROLLBACK",
    [VLS_SQLITE_SET] = "SAVEPOINT mark",    [VLS_SQLITE_RELEASE] = "RELEASE mark",
    [VLS_SQLITE_BACK] = "ROLLBACK TO mark", [VLS_SQLITE_USER_VERSION] = "PRAGMA user_version",
};

/* Step to the end; the first column of the first row is the answer. */
static int run_stmt(int64_t *out, sqlite3_stmt *stmt)
{
    int rc = sqlite3_step(stmt);

    if (rc == SQLITE_ROW && out)
        *out = sqlite3_column_int64(stmt, 0);
    while (rc == SQLITE_ROW)
        rc = sqlite3_step(stmt);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int vls_sqlite_run(int64_t *out, vls_sqlite_conn *conn, int which)
{
    int rc = run_stmt(out, conn->fixed[which]);

    (void)sqlite3_reset(conn->fixed[which]); /* what it returns was returned by the step */
    return rc;
}

int vls_sqlite_number(int64_t *out, sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);

    *out = 0;
    if (rc == SQLITE_OK)
        rc = run_stmt(out, stmt);
    (void)sqlite3_finalize(stmt);
    return rc;
}

int vls_sqlite_exec(sqlite3 *db, const char *sql)
{
    int64_t any;
    return vls_sqlite_number(&any, db, sql);
}

/* ---- settings ---- */

/* Called again and again while another process has a lock; 0 gives up. */
static int wait_for_lock(void *arg, int times)
{
    const vls_sqlite_conn *conn = arg;
    const valise_env *env = conn->store->env;
    int64_t left = conn->deadline_ns - env->ticks_ns(env->self);
    int64_t pause = times < 20 ? VLS_NS_PER_SECOND / 2000 : VLS_NS_PER_SECOND / 200;

    if (left <= 0)
        return 0;
    (void)nanosleep(&(struct timespec){0, (long)VLS_MIN(left, pause)}, NULL);
    return 1;
}

static int note_wal(void *arg, sqlite3 *db, const char *name, int pages)
{
    (void)db;
    (void)name;
    ((vls_sqlite_conn *)arg)->wal_pages = pages;
    return SQLITE_OK;
}

/* A file may have been edited by others: nothing in it may run code of its own. */
static int set_guards(sqlite3 *db)
{
    static const struct {
        int option, value;
    } guards[] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},      {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}, {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
        {SQLITE_DBCONFIG_DQS_DML, 0},        {SQLITE_DBCONFIG_DQS_DDL, 0},
        {SQLITE_DBCONFIG_ENABLE_FKEY, 0},    {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
    };
    int rc = SQLITE_OK, now;

    for (size_t i = 0; rc == SQLITE_OK && i < VLS_COUNT(guards); i++)
        rc = sqlite3_db_config(db, guards[i].option, guards[i].value, &now);
    (void)sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    (void)sqlite3_limit(db, SQLITE_LIMIT_WORKER_THREADS, 0);
    return rc;
}

static int run_pragmas(sqlite3 *db, const char *const *pragmas)
{
    int rc = SQLITE_OK;

    for (size_t i = 0; rc == SQLITE_OK && pragmas[i]; i++)
        rc = vls_sqlite_exec(db, pragmas[i]);
    return rc;
}

/* docs/formats.md says why each has its value. journal_size_limit: the log that is left at the
 * last close is emptied, so that the next open has nothing to recover. */
static int set_pragmas(const vls_sqlite_conn *conn, bool writer)
{
    static const char *const all[] = {"PRAGMA cell_size_check=ON",
                                      "PRAGMA temp_store=MEMORY",
                                      "PRAGMA mmap_size=0",
                                      "PRAGMA secure_delete=ON",
                                      "PRAGMA wal_autocheckpoint=0",
                                      "PRAGMA journal_size_limit=270000000",
                                      NULL};
    static const char *const reads[] = {"PRAGMA cache_size=-4096", "PRAGMA query_only=ON", NULL};
    static const char *const writes[] = {"PRAGMA cache_size=-32768", NULL};
    bool full = conn->store->full_sync;
    int rc = run_pragmas(conn->db, all);

    if (rc == SQLITE_OK)
        rc = run_pragmas(conn->db, writer ? writes : reads);
    if (rc == SQLITE_OK)
        rc = vls_sqlite_exec(conn->db,
                             full ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
    return rc;
}

static int prepare_fixed(vls_sqlite_conn *conn)
{
    int rc = SQLITE_OK;

    for (int i = 0; rc == SQLITE_OK && i < VLS_SQLITE_FIXED; i++)
        rc = sqlite3_prepare_v3(conn->db, fixed_sql[i], -1, SQLITE_PREPARE_PERSISTENT,
                                &conn->fixed[i], NULL);
    return rc;
}

/* ---- opening and closing ---- */

static void add_encoded(vls_buf *out, const char *path)
{
    for (const char *c = path; *c; c++) {
        if (*c == '%' || *c == '?' || *c == '#')
            vls_buf_printf(out, "%%%02x", (unsigned char)*c);
        else
            vls_buf_add_byte(out, *c);
    }
}

/* Where nothing may be written, not even the -shm file, SQLite must be told so in a URI. */
static int open_db(sqlite3 **out, const vls_sqlite *store)
{
    const int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE;
    VLS_AUTO(buf) vls_buf uri = {0};

    if (store->access == VLS_SQLITE_WRITES)
        return sqlite3_open_v2(store->path, out, SQLITE_OPEN_READWRITE | flags, NULL);
    vls_buf_init(&uri, store->env, 3 * store->path_size + 64);
    vls_buf_add_text(&uri, "file:");
    add_encoded(&uri, store->path);
    vls_buf_add_text(&uri,
                     store->access == VLS_SQLITE_IMMUTABLE ? "?immutable=1" : "?readonly_shm=1");
    const char *name = vls_buf_cstr(&uri);
    if (!name)
        return SQLITE_NOMEM;
    return sqlite3_open_v2(name, out, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | flags, NULL);
}

static int set_up(vls_sqlite_conn *conn, bool writer)
{
    int persist = 1;
    int rc = open_db(&conn->db, conn->store);

    /* Where SQLite may not write it opens all the same, and says so only at the first change. */
    if (rc == SQLITE_OK && conn->store->access == VLS_SQLITE_WRITES &&
        sqlite3_db_readonly(conn->db, "main") != 0)
        return SQLITE_READONLY;
    if (rc == SQLITE_OK)
        rc = sqlite3_busy_handler(conn->db, wait_for_lock, conn);
    if (rc == SQLITE_OK)
        rc = set_guards(conn->db);
    if (rc == SQLITE_OK)
        rc = set_pragmas(conn, writer);
    if (rc == SQLITE_OK && conn->store->access == VLS_SQLITE_WRITES)
        rc = sqlite3_file_control(conn->db, "main", SQLITE_FCNTL_PERSIST_WAL, &persist);
    if (rc == SQLITE_OK)
        rc = prepare_fixed(conn);
    if (rc == SQLITE_OK)
        (void)sqlite3_wal_hook(conn->db, note_wal, conn);
    return rc;
}

int vls_sqlite_conn_open(vls_sqlite_conn **out, vls_sqlite *store, bool writer, valise_error *err)
{
    vls_sqlite_conn *conn = vls_mem_zalloc(store->env, sizeof(*conn));
    int rc;

    if (!conn)
        return vls_fail_memory(err);
    conn->store = store;
    conn->generation = store->generation;
    conn->deadline_ns = vls_deadline_ns(store->env, store->busy_timeout_ns);
    rc = set_up(conn, writer);
    if (rc != SQLITE_OK) {
        bool said = conn->db && sqlite3_extended_errcode(conn->db) == rc;
        int code = vls_sqlite_fail(store, said ? conn->db : NULL, rc, err);
        vls_sqlite_conn_close(conn);
        return code;
    }
    *out = conn;
    return 0;
}

void vls_sqlite_conn_close(vls_sqlite_conn *conn)
{
    if (!conn)
        return;
    const valise_env *env = conn->store->env;
    for (size_t i = 0; i < conn->tables.len; i++)
        vls_sqlite_stmt_drop(conn, (uint32_t)i);
    vls_vec_release(&conn->tables, env);
    for (int i = 0; i < VLS_SQLITE_FIXED; i++)
        (void)sqlite3_finalize(conn->fixed[i]);
    /* Fails only where a statement was forgotten; then this closes when that one is finalized. */
    (void)sqlite3_close_v2(conn->db);
    vls_mem_free(env, conn, sizeof(*conn));
}

/* ---- the pool ---- */

/* Under the lock: one that nobody uses, or NULL; those of earlier generations go to *old. */
static vls_sqlite_conn *pop(vls_sqlite_conn **old, vls_sqlite *store)
{
    while (store->readers) {
        vls_sqlite_conn *conn = store->readers;
        store->readers = conn->next;
        if (conn->generation == store->generation)
            return conn;
        conn->next = *old;
        *old = conn;
        store->reader_count--;
    }
    return NULL;
}

static void close_all(vls_sqlite_conn *list)
{
    while (list) {
        vls_sqlite_conn *next = list->next;
        vls_sqlite_conn_close(list);
        list = next;
    }
}

int vls_sqlite_reader_take(vls_sqlite_conn **out, vls_sqlite *store, valise_error *err)
{
    vls_sqlite_conn *conn = NULL, *old = NULL;
    int rc;

    (void)pthread_mutex_lock(&store->lock);
    rc = vls_sqlite_file_look(store, err);
    if (rc == 0)
        conn = pop(&old, store);
    if (rc == 0 && !conn && store->reader_count >= VLS_SQLITE_MAX_READERS)
        rc = vls_fail(err, VALISE_E_LIMIT, "%s: more than %u transactions read at once",
                      store->path, VLS_SQLITE_MAX_READERS);
    bool fresh = rc == 0 && !conn;
    store->reader_count += fresh;
    (void)pthread_mutex_unlock(&store->lock);

    close_all(old);
    if (fresh) {
        rc = vls_sqlite_conn_open(&conn, store, false, err);
        if (rc < 0) {
            (void)pthread_mutex_lock(&store->lock);
            store->reader_count--;
            (void)pthread_mutex_unlock(&store->lock);
        }
    }
    if (rc == 0)
        *out = conn;
    return rc;
}

void vls_sqlite_reader_give(vls_sqlite_conn *conn)
{
    vls_sqlite *store = conn->store;

    /* A transaction that cannot be ended must not be found by the next one. */
    bool good = sqlite3_get_autocommit(conn->db) != 0;
    (void)pthread_mutex_lock(&store->lock);
    if (good) {
        conn->next = store->readers;
        store->readers = conn;
    } else {
        store->reader_count--;
    }
    (void)pthread_mutex_unlock(&store->lock);
    if (!good)
        vls_sqlite_conn_close(conn);
}
