/* sqlite.h -- the store in an SQLite file: what its files share. Start reading at sqlite.c.
 *
 *     store --+--> writer    one connection, for whoever has the turn
 *             +--> readers   those that nobody uses; a read transaction takes one or opens one
 *             +--> keeper    one connection, for checkpoints beside the writer
 *
 * A transaction is its connection: begin hands out the connection. Statements are prepared once per
 * connection, table and shape, and kept in lists. A statement in use is in no list, so two scans of
 * the same shape get two statements.
 *
 * Threads: a vls_sqlite is shared; a connection is single, and passed on under a lock. SQLite's
 * own locks around connections are therefore off (SQLITE_OPEN_NOMUTEX). */
#ifndef VLS_STORE_SQLITE_H
#define VLS_STORE_SQLITE_H

#include <pthread.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/vec.h"
#include "store/table.h"
#include "store/turn.h"

#define VLS_SQLITE_APPLICATION_ID 0x56616c69 /* "Vali" */
#define VLS_SQLITE_VERSION 1                 /* of the file, in user_version */
#define VLS_SQLITE_PAGE 4096
#define VLS_SQLITE_MAX_READERS 256u
#define VLS_SQLITE_MAX_SQL (64u << 10)
#define VLS_SQLITE_MAX_KEPT 512u /* statements that a connection keeps */

/* ---- statements ---- */

enum {
    VLS_SQLITE_GET,
    VLS_SQLITE_PUT,
    VLS_SQLITE_INSERT, /* a put that finds no row */
    VLS_SQLITE_UPDATE, /* a put that finds one */
    VLS_SQLITE_DEL,
    VLS_SQLITE_SCAN,
    VLS_SQLITE_KINDS,
};

/* What a scan asks of the component behind those that are equal. */
enum {
    VLS_SQLITE_ANY,
    VLS_SQLITE_NOT_NULL,
    VLS_SQLITE_GT,
    VLS_SQLITE_GE,
    VLS_SQLITE_LT,
    VLS_SQLITE_LE,
};

/* Which statement of a kind; all zero but for scans. Compared as bytes: no gaps. */
typedef struct vls_sqlite_shape {
    uint64_t nulls; /* bit i: the ith of the equal components is NULL */
    int32_t index;  /* -1: by key */
    uint16_t equal;
    uint8_t op; /* VLS_SQLITE_ANY ... */
    uint8_t reverse;
} vls_sqlite_shape;

typedef struct vls_sqlite_stmt {
    struct vls_sqlite_stmt *next;
    sqlite3_stmt *handle;
    uint32_t table;
    int kind;
    vls_sqlite_shape shape;
} vls_sqlite_stmt;

typedef struct vls_sqlite_lists {
    vls_sqlite_stmt *unused[VLS_SQLITE_KINDS];
    bool replaces;  /* the last put found a row */
    uint64_t moves; /* indexes in which a row that was replaced had another place */
} vls_sqlite_lists;

/* Statements every connection has from the start. */
enum {
    VLS_SQLITE_BEGIN_READ,
    VLS_SQLITE_BEGIN_WRITE,
    VLS_SQLITE_COMMIT,
    VLS_SQLITE_ROLLBACK,
    VLS_SQLITE_SET,
    VLS_SQLITE_RELEASE,
    VLS_SQLITE_BACK,
    VLS_SQLITE_USER_VERSION,
    VLS_SQLITE_FIXED,
};

/* ---- the store ---- */

/* How a store that only reads gets at the file: see sqlite_file.c. */
enum { VLS_SQLITE_WRITES, VLS_SQLITE_SHARES, VLS_SQLITE_IMMUTABLE };

typedef struct vls_sqlite_conn {
    struct vls_sqlite *store;
    struct vls_sqlite_conn *next; /* among those nobody uses */
    sqlite3 *db;
    unsigned generation;
    int64_t deadline_ns; /* of the busy handler */
    int wal_pages;       /* in the log after the last commit */
    sqlite3_stmt *fixed[VLS_SQLITE_FIXED];
    vls_vec(vls_sqlite_lists) tables;
    size_t kept;

    /* the transaction */
    bool lazy; /* a commit waits for no disk */
    bool writes, asked;
    bool changed; /* others may have committed since this handle's writer last knew all */
    int spoiled;  /* why it cannot go on; 0: it can */
    size_t scans, marks;
    vls_sqlite_stmt *pending; /* of the last get: its row is still being looked at */
} vls_sqlite_conn;

typedef struct vls_sqlite {
    const valise_env *env;
    char *path; /* of the file, absolute */
    size_t path_size;
    unsigned flags;
    bool full_sync;
    int64_t busy_timeout_ns;
    pid_t pid; /* that opened it */
    vls_table_defs defs;

    vls_turn turn; /* of the writer, what follows, and known, version */
    vls_sqlite_conn *writer;
    bool waited; /* something was committed that is to survive a power cut */
    bool known;  /* all there was when the last write transaction ended, at this data_version */
    unsigned version;

    pthread_mutex_t lock; /* of the readers */
    vls_sqlite_conn *readers;
    size_t reader_count; /* in use and not */
    int access;          /* VLS_SQLITE_WRITES ... */
    unsigned generation; /* connections of an earlier one are closed, not used */
    struct stat seen;    /* the file, where it is taken for immutable */

    pthread_mutex_t keeping; /* of the keeper */
    vls_sqlite_conn *keeper;
    int last_passive, last_restart; /* pages that were in the log then */
} vls_sqlite;

/* ---- sqlite_error.c ---- */

/* Report what SQLite returned: the code that fits, the file, SQLite's own words. db may be NULL. */
int vls_sqlite_report(const char *path, sqlite3 *db, int rc, valise_error *err);

static inline int vls_sqlite_fail(const vls_sqlite *store, sqlite3 *db, int rc, valise_error *err)
{
    int code = vls_sqlite_report(store->path, db, rc, err);

    assert(code < 0);
    return code;
}

/* ---- sqlite_conn.c ---- */

/* Open a connection for store->access. */
int vls_sqlite_conn_open(vls_sqlite_conn **out, vls_sqlite *store, bool writer, valise_error *err);
void vls_sqlite_conn_close(vls_sqlite_conn *conn); /* NULL is fine */

/* Run one of the fixed statements; *out (which may be NULL) gets the integer it answers. The
 * result is SQLite's. */
int vls_sqlite_run(int64_t *out, vls_sqlite_conn *conn, int which);

/* Run statements given as text, without answers. The result is SQLite's. */
int vls_sqlite_exec(sqlite3 *db, const char *sql);
/* The integer a statement answers; 0 without a row. The result is SQLite's. */
int vls_sqlite_number(int64_t *out, sqlite3 *db, const char *sql);

/* A connection to read with, from those nobody uses or a new one; and back. */
int vls_sqlite_reader_take(vls_sqlite_conn **out, vls_sqlite *store, valise_error *err);
void vls_sqlite_reader_give(vls_sqlite_conn *conn);

/* ---- sqlite_file.c ---- */

/* Open the writer, or see how to read; make what is new. */
int vls_sqlite_file_open(vls_sqlite *store, const valise_store_open *how, valise_error *err);

/* Before a reader is taken, under the lock: whether what is immutable still is. */
int vls_sqlite_file_look(vls_sqlite *store, valise_error *err);

/* The file beside ours with this ending. False when there is none. */
bool vls_sqlite_beside(struct stat *out, const vls_sqlite *store, const char *ending);

/* ---- sqlite_sql.c ---- */

/* What an index is called in the file. */
typedef struct vls_sqlite_name {
    char s[2 * VLS_TABLE_MAX_NAME + 2];
} vls_sqlite_name;
vls_sqlite_name vls_sqlite_index_name(const valise_table *table, int32_t index);

void vls_sqlite_sql_create(vls_buf *sql, const valise_table *table);
void vls_sqlite_sql_column(vls_buf *sql, const valise_table *table, uint16_t column);
void vls_sqlite_sql_index(vls_buf *sql, const valise_table *table, uint16_t number);
void vls_sqlite_sql_stmt(vls_buf *sql, const vls_table_def *def, int kind,
                         const vls_sqlite_shape *shape);

/* ---- sqlite_stmt.c ---- */

/* A statement that nobody uses. VALISE_E_NOT_FOUND when its table or index is not in the file. */
int vls_sqlite_stmt_take(vls_sqlite_stmt **out, vls_sqlite_conn *conn, uint32_t table, int kind,
                         const vls_sqlite_shape *shape, valise_error *err);
void vls_sqlite_stmt_give(vls_sqlite_conn *conn, vls_sqlite_stmt *stmt); /* NULL is fine */
void vls_sqlite_stmt_drop(vls_sqlite_conn *conn, uint32_t table);        /* all of a table */

/* Report what preparing or stepping returned. The transaction is spoiled when it is lost. */
int vls_sqlite_stmt_fail(vls_sqlite_conn *conn, uint32_t table, int32_t index, int rc,
                         valise_error *err);

/* Parameter `number` (from 1). The bytes are borrowed. The result is SQLite's. */
int vls_sqlite_bind(vls_sqlite_stmt *stmt, int number, const valise_cell *cell);

/* The row a statement stands on. VALISE_E_CORRUPT when a cell is not of its column's type. */
int vls_sqlite_read(valise_cell *row, vls_sqlite_conn *conn, const vls_sqlite_stmt *stmt,
                    valise_error *err);

/* ---- sqlite_table.c ---- */

int vls_sqlite_create(vls_sqlite_conn *conn, const vls_table_def *def, uint16_t have,
                      valise_error *err);
/* Whether there is a thing of this type ("table", "index") and name, and of this table. */
int vls_sqlite_has(bool *out, vls_sqlite_conn *conn, const char *type, const char *name,
                   const char *table, valise_error *err);
int vls_sqlite_get(valise_cell *row, vls_sqlite_conn *conn, uint32_t table, const valise_cell *key,
                   valise_error *err);
int vls_sqlite_put(vls_sqlite_conn *conn, uint32_t table, const valise_cell *row,
                   valise_error *err);
int vls_sqlite_del(vls_sqlite_conn *conn, uint32_t table, const valise_cell *key,
                   valise_error *err);

/* Before a call: is the transaction fit for it, is the table attached? */
int vls_sqlite_check(const vls_table_def **def, const vls_sqlite_conn *conn, uint32_t table,
                     bool change, valise_error *err);

/* Look no longer at the row of the last get. */
void vls_sqlite_settle(vls_sqlite_conn *conn);

/* ---- sqlite_scan.c ---- */

int vls_sqlite_scan_open(void **out, void *txn, const valise_range *range, valise_error *err);
int vls_sqlite_scan_next(valise_cell *row, void *arg, valise_error *err);
void vls_sqlite_scan_close(void *arg);

/* ---- sqlite_schema.c ---- */

/* Are tables and indexes as they were made? fn gets a text for each that is not; all: also for what
 * is missing and for what nobody knows. */
int vls_sqlite_check_schema(vls_sqlite_conn *conn, bool all, valise_problem_fn *fn, void *arg,
                            valise_error *err);

/* In a write transaction: make those indexes again that are missing or whose definition is damaged.
 * The result is SQLite's. */
int vls_sqlite_remake_indexes(vls_sqlite_conn *conn);

/* ---- sqlite_keep.c ---- */

/* After a commit that left so many pages in the log, without the turn. */
void vls_sqlite_keep(vls_sqlite *store, int wal_pages);

/* Before the last close of somebody who made nothing that must survive a power cut: leave a short
 * log to others. */
void vls_sqlite_leave_log(vls_sqlite *store);
int vls_sqlite_maintain(int64_t *result, void *self, int what, valise_error *err);
int vls_sqlite_check_tables(void *self, valise_problem_fn *fn, void *arg, valise_error *err);
int vls_sqlite_check_file(void *self, valise_problem_fn *fn, void *arg, valise_error *err);

/* ---- sqlite.c ---- */

/* VALISE_E_INVALID in a child of the process that opened the store. */
int vls_sqlite_check_process(const vls_sqlite *store, valise_error *err);
int vls_sqlite_begin(void **out, void *self, int mode, valise_error *err);
int vls_sqlite_commit(void *txn, valise_error *err);
void vls_sqlite_rollback(void *txn);

#endif
