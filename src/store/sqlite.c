/* sqlite.c -- the store in an SQLite file: opening, transactions, marks.
 *
 * sqlite.h has the picture. Two locks: vls_turn among the writers of this process, SQLite's own
 * among processes; both are waited for until one deadline. A read transaction takes its snapshot
 * when it begins, by reading user_version, which also shows when another program has brought the
 * file to a newer format. A write transaction need not ask when nobody else has written.
 *
 * Locks on files belong to a process, so a handle is of no use in a child made by fork(): begin
 * and commit refuse it there, and close leaves the files alone. */
#include "store/sqlite.h"

#include <unistd.h>

#include "base/mem.h"
#include "base/time.h"

/* ---- opening ---- */

static int sqlite_attach(void *self, uint32_t number, const valise_table *table, valise_error *err)
{
    vls_sqlite *store = self;
    int rc = vls_table_defs_attach(&store->defs, store->env, number, table, err);

    if (rc < 0)
        return rc;
    if (store->writer)
        vls_sqlite_stmt_drop(store->writer, number);
    for (vls_sqlite_conn *conn = store->readers; conn; conn = conn->next)
        vls_sqlite_stmt_drop(conn, number);
    return 0;
}

static void sqlite_close(void *self)
{
    vls_sqlite *store = self;

    if (!store || store->pid != getpid())
        return;
    if (!store->waited)
        vls_sqlite_leave_log(store);
    /* The writer goes last: closing the last connection tidies up the log. */
    vls_sqlite_conn_close(store->keeper);
    while (store->readers) {
        vls_sqlite_conn *conn = store->readers;
        store->readers = conn->next;
        store->reader_count--;
        vls_sqlite_conn_close(conn);
    }
    assert(store->reader_count == 0);
    vls_sqlite_conn_close(store->writer);
    vls_table_defs_release(&store->defs, store->env);
    (void)pthread_mutex_destroy(&store->keeping);
    (void)pthread_mutex_destroy(&store->lock);
    vls_turn_release(&store->turn);
    vls_mem_free(store->env, store->path, store->path_size);
    vls_mem_free(store->env, store, sizeof(*store));
}

static int open_store(vls_sqlite *store, const valise_store_open *how, valise_error *err)
{
    for (uint32_t i = 0; i < how->table_count; i++) {
        int rc = vls_table_defs_attach(&store->defs, store->env, i, &how->tables[i], err);
        if (rc < 0)
            return rc;
    }
    return vls_sqlite_file_open(store, how, err);
}

static int sqlite_open(void **self, const valise_store_open *how, valise_error *err)
{
    vls_sqlite *store;
    int rc = vls_store_check_open(how, err);

    if (rc < 0)
        return rc;
    store = vls_mem_zalloc(how->env, sizeof(*store));
    if (!store)
        return vls_fail_memory(err);
    store->env = how->env;
    store->flags = how->flags;
    store->full_sync = how->full_sync;
    store->busy_timeout_ns = how->busy_timeout_ns;
    store->pid = getpid();
    vls_turn_init(&store->turn, how->env);
    (void)pthread_mutex_init(&store->lock, NULL);
    (void)pthread_mutex_init(&store->keeping, NULL);
    rc = open_store(store, how, err);
    if (rc < 0) {
        sqlite_close(store);
        return rc;
    }
    *self = store;
    return 0;
}

/* ---- beginning ---- */

int vls_sqlite_check_process(const vls_sqlite *store, valise_error *err)
{
    if (store->pid == getpid())
        return 0;
    int rc = vls_fail(err, VALISE_E_INVALID, "%s was opened by process %d, but this is process %d",
                      store->path, (int)store->pid, (int)getpid());
    vls_hint(err, "open the store again after fork()");
    return rc;
}

/* A number that moves on with each commit this connection makes, and with each begin that finds
 * commits of others. */
static unsigned data_version(const vls_sqlite_conn *conn)
{
    unsigned version = 0;

    (void)sqlite3_file_control(conn->db, "main", SQLITE_FCNTL_DATA_VERSION, &version);
    return version;
}

/* Begin, and read what makes the transaction see the last commit. The result is SQLite's. */
static int start(vls_sqlite_conn *conn, bool writes, int64_t *version)
{
    const vls_sqlite *store = conn->store;
    int rc;

    conn->writes = writes;
    conn->asked = false;
    conn->changed = true;
    conn->spoiled = 0;
    conn->marks = 0;
    assert(conn->scans == 0 && !conn->pending);
    rc = vls_sqlite_run(NULL, conn, writes ? VLS_SQLITE_BEGIN_WRITE : VLS_SQLITE_BEGIN_READ);
    if (rc == SQLITE_OK && writes)
        conn->changed = !store->known || store->version != data_version(conn);
    return rc == SQLITE_OK && conn->changed ? vls_sqlite_run(version, conn, VLS_SQLITE_USER_VERSION)
                                            : rc;
}

static int begin_on(vls_sqlite_conn *conn, bool writes, valise_error *err)
{
    int64_t version = VLS_SQLITE_VERSION;
    int rc = start(conn, writes, &version);

    if (rc != SQLITE_OK)
        return vls_sqlite_fail(conn->store, conn->db, rc, err);
    if (version == VLS_SQLITE_VERSION)
        return 0;
    rc = vls_fail(err, VALISE_E_UNSUPPORTED,
                  "%s now has format %lld, but this program knows only %d", conn->store->path,
                  (long long)version, VLS_SQLITE_VERSION);
    vls_hint(err, "another program has migrated it; use the same version");
    return rc;
}

/* End whatever is left of the transaction and give the connection back. */
static void finish(vls_sqlite_conn *conn)
{
    vls_sqlite *store = conn->store;

    assert(conn->scans == 0);
    vls_sqlite_settle(conn);
    if (!sqlite3_get_autocommit(conn->db))
        (void)vls_sqlite_run(NULL, conn, VLS_SQLITE_ROLLBACK);
    if (!conn->writes) {
        vls_sqlite_reader_give(conn);
        return;
    }
    store->known = !conn->changed;
    store->version = data_version(conn);
    if (!sqlite3_get_autocommit(conn->db)) {
        /* It cannot even be rolled back: the next one gets a new connection. */
        store->writer = NULL;
        vls_sqlite_conn_close(conn);
    }
    vls_turn_give(&store->turn);
}

static int begin_read(void **out, vls_sqlite *store, valise_error *err)
{
    vls_sqlite_conn *conn;
    int rc = vls_sqlite_reader_take(&conn, store, err);

    if (rc < 0)
        return rc;
    conn->deadline_ns = vls_deadline_ns(store->env, store->busy_timeout_ns);
    rc = begin_on(conn, false, err);
    if (rc < 0)
        finish(conn);
    else
        *out = conn;
    return rc;
}

/* Whether a commit waits for the disk; between transactions only. The result is SQLite's. */
static int set_sync(vls_sqlite_conn *conn, bool lazy)
{
    const char *pragma = lazy                     ? "PRAGMA synchronous=OFF"
                         : conn->store->full_sync ? "PRAGMA synchronous=FULL"
                                                  : "PRAGMA synchronous=NORMAL";
    int rc = conn->lazy == lazy ? SQLITE_OK : vls_sqlite_exec(conn->db, pragma);

    if (rc == SQLITE_OK)
        conn->lazy = lazy;
    return rc;
}

/* With the turn taken. */
static int find_writer(vls_sqlite *store, bool lazy, valise_error *err)
{
    int rc = 0;

    if (!store->writer) {
        rc = vls_sqlite_conn_open(&store->writer, store, true, err);
        store->known = false; /* a new connection counts anew */
    }
    if (rc < 0)
        return rc;
    rc = set_sync(store->writer, lazy);
    return rc == SQLITE_OK ? 0 : vls_sqlite_fail(store, store->writer->db, rc, err);
}

/* In WAL mode a commit without any sync is still atomic and in order: what is lost in a power cut
 * is the end of the log. The next commit that waits takes all that came before it along. */
static int begin_write(void **out, vls_sqlite *store, bool lazy, valise_error *err)
{
    int64_t deadline = vls_deadline_ns(store->env, lazy ? 0 : store->busy_timeout_ns);
    int rc;

    if (store->flags & VALISE_STORE_READ_ONLY)
        return vls_fail(err, VALISE_E_DENIED, "%s was opened for reading only", store->path);
    if (!vls_turn_take(&store->turn, deadline)) {
        rc = vls_fail(err, VALISE_E_BUSY, "%s: another transaction of this process is writing",
                      store->path);
        vls_hint(err, "try again, or wait longer");
        return rc;
    }
    rc = find_writer(store, lazy, err);
    if (rc < 0) {
        vls_turn_give(&store->turn);
        return rc;
    }
    store->writer->deadline_ns = deadline;
    rc = begin_on(store->writer, true, err);
    if (rc < 0)
        finish(store->writer);
    else
        *out = store->writer;
    return rc;
}

int vls_sqlite_begin(void **out, void *self, int mode, valise_error *err)
{
    vls_sqlite *store = self;
    int rc = vls_sqlite_check_process(store, err);

    if (rc < 0)
        return rc;
    return mode == VALISE_TXN_READ ? begin_read(out, store, err)
                                   : begin_write(out, store, mode == VALISE_TXN_LAZY, err);
}

/* ---- ending ---- */

static int commit_write(vls_sqlite_conn *conn, valise_error *err)
{
    vls_sqlite *store = conn->store;
    const vls_table_def *def;
    int pages, rc = conn->spoiled ? vls_sqlite_check(&def, conn, 0, true, err) : 0;

    conn->wal_pages = 0;
    if (rc == 0) {
        int code = vls_sqlite_run(NULL, conn, VLS_SQLITE_COMMIT);
        if (code != SQLITE_OK)
            rc = vls_sqlite_fail(store, conn->db, code, err);
    }
    if (rc == 0 && conn->asked)
        conn->changed = false; /* whoever asked has read it by now */
    store->waited |= rc == 0 && !conn->lazy;
    pages = rc == 0 ? conn->wal_pages : 0;
    finish(conn);
    vls_sqlite_keep(store, pages);
    return rc;
}

int vls_sqlite_commit(void *txn, valise_error *err)
{
    vls_sqlite_conn *conn = txn;
    int rc = vls_sqlite_check_process(conn->store, err);

    if (rc < 0)
        return rc;
    vls_sqlite_settle(conn);
    if (conn->writes)
        return commit_write(conn, err);
    finish(conn);
    return 0;
}

void vls_sqlite_rollback(void *txn)
{
    vls_sqlite_conn *conn = txn;

    if (conn && vls_sqlite_check_process(conn->store, NULL) == 0)
        finish(conn);
}

/* ---- marks, changes ---- */

/* Both statements of BACK leave the mark where it is until it is released. */
static int run_mark(vls_sqlite_conn *conn, int what)
{
    int rc;

    if (what == VALISE_MARK_SET)
        return vls_sqlite_run(NULL, conn, VLS_SQLITE_SET);
    rc = what == VALISE_MARK_BACK ? vls_sqlite_run(NULL, conn, VLS_SQLITE_BACK) : SQLITE_OK;
    return rc == SQLITE_OK ? vls_sqlite_run(NULL, conn, VLS_SQLITE_RELEASE) : rc;
}

static int check_mark(vls_sqlite_conn *conn, int what, valise_error *err)
{
    const vls_table_def *def;

    if (what < VALISE_MARK_SET || what > VALISE_MARK_BACK)
        return vls_fail(err, VALISE_E_INVALID, "there is no mark operation %d", what);
    if (conn->writes && what != VALISE_MARK_SET && conn->marks == 0)
        return vls_fail(err, VALISE_E_INVALID, "no mark is set");
    if (what == VALISE_MARK_BACK && !sqlite3_get_autocommit(conn->db))
        conn->spoiled = 0; /* what was spoiled is about to be undone */
    return vls_sqlite_check(&def, conn, 0, true, err);
}

static int sqlite_mark(void *txn, int what, valise_error *err)
{
    vls_sqlite_conn *conn = txn;
    int rc = check_mark(conn, what, err);

    if (rc < 0)
        return rc;
    vls_sqlite_settle(conn);
    rc = run_mark(conn, what);
    if (rc != SQLITE_OK) {
        conn->spoiled = vls_sqlite_fail(conn->store, conn->db, rc, err);
        return conn->spoiled;
    }
    conn->marks = what == VALISE_MARK_SET ? conn->marks + 1 : conn->marks - 1;
    return 0;
}

static int sqlite_changed(bool *out, void *txn, valise_error *err)
{
    vls_sqlite_conn *conn = txn;
    const vls_table_def *def;
    int rc = vls_sqlite_check(&def, conn, 0, true, err);

    if (rc < 0)
        return rc;
    conn->asked = true;
    *out = conn->changed;
    return 0;
}

/* ---- tables and rows ---- */

static int sqlite_create(void *txn, uint32_t table, uint16_t have, valise_error *err)
{
    vls_sqlite_conn *conn = txn;
    const vls_table_def *def;
    int rc = vls_sqlite_check(&def, conn, table, true, err);

    if (rc < 0)
        return rc;
    vls_sqlite_settle(conn);
    return vls_sqlite_create(conn, def, have, err);
}

static int sqlite_get(valise_cell *row, void *txn, uint32_t table, const valise_cell *key,
                      valise_error *err)
{
    return vls_sqlite_get(row, txn, table, key, err);
}

static int sqlite_put(void *txn, uint32_t table, const valise_cell *row, valise_error *err)
{
    return vls_sqlite_put(txn, table, row, err);
}

static int sqlite_del(void *txn, uint32_t table, const valise_cell *key, valise_error *err)
{
    return vls_sqlite_del(txn, table, key, err);
}

static int sqlite_count(int64_t *rows, void *txn, uint32_t table, valise_error *err)
{
    vls_sqlite_conn *conn = txn;
    const vls_table_def *def;
    char sql[256];
    int rc = vls_sqlite_check(&def, conn, table, false, err);

    if (rc < 0)
        return rc;
    (void)snprintf(sql, sizeof(sql), "SELECT count(*) FROM \"%s\"", def->table->name);
    rc = vls_sqlite_number(rows, conn->db, sql);
    return rc == SQLITE_OK ? 0 : vls_sqlite_stmt_fail(conn, table, -1, rc, err);
}

const valise_store_ops *valise_store_sqlite(void)
{
    static const valise_store_ops ops = {
        .size = sizeof(valise_store_ops),
        .abi = VALISE_STORE_ABI,
        .name = "sqlite",
        .open = sqlite_open,
        .close = sqlite_close,
        .attach = sqlite_attach,
        .begin = vls_sqlite_begin,
        .commit = vls_sqlite_commit,
        .rollback = vls_sqlite_rollback,
        .mark = sqlite_mark,
        .changed = sqlite_changed,
        .create = sqlite_create,
        .get = sqlite_get,
        .put = sqlite_put,
        .del = sqlite_del,
        .scan_open = vls_sqlite_scan_open,
        .scan_next = vls_sqlite_scan_next,
        .scan_close = vls_sqlite_scan_close,
        .maintain = vls_sqlite_maintain,
        .check = vls_sqlite_check_file,
        .check_tables = vls_sqlite_check_tables,
        .count = sqlite_count,
    };
    return &ops;
}
