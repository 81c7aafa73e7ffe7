/* store.c -- the store in an SQLite file against statements written by hand that do the same to a
 * file of the same tables and settings; and how both backends grow. [Q15] */
#include <sqlite3.h>

#include "bench/bench.h"
#include "bench/raw.h"

#include "base/mem.h"

#include <valise/sys/store.h>

#define BODY 200
#define BATCH 1000u
#define ROWS 4000 /* fits the cache of a connection that reads */

static const valise_column columns[] = {{"name", VALISE_CELL_TEXT, false},
                                        {"version", VALISE_CELL_INT, false},
                                        {"kind", VALISE_CELL_INT, false},
                                        {"body", VALISE_CELL_BLOB, true}};
static const valise_table_index indexes[] = {{"kind", (const uint16_t[]){2}, 1}};
static const valise_table table = {.name = "item",
                                   .columns = columns,
                                   .column_count = 4,
                                   .key_count = 2,
                                   .indexes = indexes,
                                   .index_count = 1};

enum { BEGIN_READ, BEGIN_WRITE, SNAPSHOT, COMMIT, PUT, GET, SCAN, STATEMENTS };

typedef struct state {
    const valise_store_ops *ops;
    void *self, *txn;
    sqlite3 *db; /* the one by hand */
    sqlite3_stmt *stmt[STATEMENTS];
    size_t size, next;
    char dir[256], raw_dir[256];
    char body[BODY];
} state;

/* ---- both have the same rows ---- */

static void next_row(valise_cell row[4], state *s, char name[32])
{
    s->next = (s->next + 7919 * 31) % s->size;
    s->body[s->next % BODY]++;
    int len = snprintf(name, 32, "run:1:item:%09zu", s->next);
    row[0] = (valise_cell){.type = VALISE_CELL_TEXT, .as.bytes = {name, (size_t)len}};
    row[1] = (valise_cell){.type = VALISE_CELL_INT, .as.integer = 1};
    row[2] = (valise_cell){.type = VALISE_CELL_INT, .as.integer = (int64_t)(s->next % 100)};
    row[3] = (valise_cell){.type = VALISE_CELL_BLOB, .as.bytes = {s->body, BODY}};
}

static void begin(state *s, int mode)
{
    MUST(s->ops->begin(&s->txn, s->self, mode, NULL) == 0);
}

static void commit(state *s)
{
    MUST(s->ops->commit(s->txn, NULL) == 0);
}

static void put(state *s)
{
    valise_cell row[4];
    char name[32];

    next_row(row, s, name);
    MUST(s->ops->put(s->txn, 0, row, NULL) == 0);
}

static void raw_run(state *s, int which)
{
    MUST(sqlite3_step(s->stmt[which]) == SQLITE_DONE);
    sqlite3_reset(s->stmt[which]);
}

static void raw_put(state *s)
{
    sqlite3_stmt *stmt = s->stmt[PUT];
    valise_cell row[4];
    char name[32];

    next_row(row, s, name);
    sqlite3_bind_text(stmt, 1, row[0].as.bytes.ptr, (int)row[0].as.bytes.len, SQLITE_STATIC);
    sqlite3_bind_int64(stmt, 2, row[1].as.integer);
    sqlite3_bind_int64(stmt, 3, row[2].as.integer);
    sqlite3_bind_blob(stmt, 4, row[3].as.bytes.ptr, (int)row[3].as.bytes.len, SQLITE_STATIC);
    raw_run(s, PUT);
}

/* ---- setting up ---- */

static void raw_exec(state *s, const char *sql)
{
    MUST(sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK);
}

static void open_by_hand(state *s, bool full)
{
    static const char *const sql[STATEMENTS] = {
        [BEGIN_READ] = "BEGIN",
        [BEGIN_WRITE] = "BEGIN IMMEDIATE",
        [SNAPSHOT] = "PRAGMA user_version", /* BEGIN alone takes none */
        [COMMIT] = "COMMIT",
        [PUT] = "REPLACE INTO item(name,version,kind,body) VALUES(?,?,?,?)",
        [GET] = "SELECT name,version,kind,body FROM item WHERE name=? AND version=?",
        [SCAN] = "SELECT name,version,kind,body FROM item INDEXED BY item_kind WHERE kind=? "
                 "ORDER BY name,version"};
    char path[300];

    (void)snprintf(path, sizeof(path), "%s/raw.db", s->raw_dir);
    MUST(sqlite3_open_v2(path, &s->db,
                         SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                         NULL) == SQLITE_OK);
    raw_exec(s, "PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL; PRAGMA secure_delete=ON;"
                "PRAGMA cache_size=-32768; PRAGMA wal_autocheckpoint=16000;"
                "CREATE TABLE item(name TEXT NOT NULL, version INTEGER NOT NULL,"
                " kind INTEGER NOT NULL, body BLOB, PRIMARY KEY(name,version)) WITHOUT ROWID;"
                "CREATE INDEX item_kind ON item(kind)");
    raw_exec(s, full ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
    for (int i = 0; i < STATEMENTS; i++)
        MUST(sqlite3_prepare_v3(s->db, sql[i], -1, SQLITE_PREPARE_PERSISTENT, &s->stmt[i], NULL) ==
             SQLITE_OK);
}

static void fill(state *s)
{
    begin(s, VALISE_TXN_WRITE);
    for (size_t i = 0; i < s->size; i++)
        put(s);
    commit(s);
    if (!s->db)
        return;
    raw_run(s, BEGIN_WRITE);
    for (size_t i = 0; i < s->size; i++)
        raw_put(s);
    raw_run(s, COMMIT);
}

static state *set_up(const valise_store_ops *ops, size_t size, bool full, bool by_hand)
{
    const valise_env *env = valise_env_default();
    state *s = vls_mem_zalloc(env, sizeof(*s));

    MUST(s != NULL);
    s->ops = ops;
    s->size = size;
    raw_make_dir(s->dir, "ours");
    raw_make_dir(s->raw_dir, "raw");
    MUST(ops->open(&s->self,
                   &(valise_store_open){.size = sizeof(valise_store_open),
                                        .where = s->dir,
                                        .flags = VALISE_STORE_CREATE,
                                        .full_sync = full,
                                        .env = env,
                                        .tables = &table,
                                        .table_count = 1},
                   NULL) == 0);
    if (by_hand)
        open_by_hand(s, full);
    fill(s);
    return s;
}

static void tear_down(void *arg)
{
    state *s = arg;

    s->ops->close(s->self);
    for (int i = 0; i < STATEMENTS; i++)
        sqlite3_finalize(s->stmt[i]);
    sqlite3_close(s->db);
    raw_remove_dir(s->dir);
    raw_remove_dir(s->raw_dir);
    vls_mem_free(valise_env_default(), s, sizeof(*s));
}

static void *set_up_sqlite(size_t size)
{
    return set_up(valise_store_sqlite(), size, false, false);
}

static void *set_up_memory(size_t size)
{
    return set_up(valise_store_memory(), size, false, false);
}

/* ---- what is timed ---- */

static void put_single(void *arg, size_t times)
{
    state *s = arg;

    while (times--) {
        begin(s, VALISE_TXN_WRITE);
        put(s);
        commit(s);
    }
}

static void raw_put_single(void *arg, size_t times)
{
    state *s = arg;

    while (times--) {
        raw_run(s, BEGIN_WRITE);
        raw_put(s);
        raw_run(s, COMMIT);
    }
}

static void put_batch(void *arg, size_t times)
{
    state *s = arg;

    while (times--) {
        begin(s, VALISE_TXN_WRITE);
        for (size_t i = 0; i < BATCH; i++)
            put(s);
        commit(s);
    }
}

static void raw_put_batch(void *arg, size_t times)
{
    state *s = arg;

    while (times--) {
        raw_run(s, BEGIN_WRITE);
        for (size_t i = 0; i < BATCH; i++)
            raw_put(s);
        raw_run(s, COMMIT);
    }
}

static void get(state *s)
{
    valise_cell row[4], got[4];
    char name[32];

    next_row(row, s, name);
    MUST(s->ops->get(got, s->txn, 0, row, NULL) == 1);
    bench_use(got);
}

static void raw_read(valise_cell row[4], sqlite3_stmt *stmt)
{
    row[0].as.bytes.ptr = (const char *)sqlite3_column_text(stmt, 0);
    row[0].as.bytes.len = (size_t)sqlite3_column_bytes(stmt, 0);
    row[1].as.integer = sqlite3_column_int64(stmt, 1);
    row[2].as.integer = sqlite3_column_int64(stmt, 2);
    row[3].as.bytes.ptr = sqlite3_column_blob(stmt, 3);
    row[3].as.bytes.len = (size_t)sqlite3_column_bytes(stmt, 3);
    bench_use(row);
}

static void raw_get(state *s)
{
    valise_cell row[4], got[4];
    char name[32];

    next_row(row, s, name);
    sqlite3_bind_text(s->stmt[GET], 1, row[0].as.bytes.ptr, (int)row[0].as.bytes.len,
                      SQLITE_STATIC);
    sqlite3_bind_int64(s->stmt[GET], 2, row[1].as.integer);
    MUST(sqlite3_step(s->stmt[GET]) == SQLITE_ROW);
    raw_read(got, s->stmt[GET]);
    sqlite3_reset(s->stmt[GET]);
}

static void get_many(void *arg, size_t times)
{
    state *s = arg;

    begin(s, VALISE_TXN_READ);
    while (times--)
        get(s);
    commit(s);
}

static void raw_get_many(void *arg, size_t times)
{
    state *s = arg;

    raw_run(s, BEGIN_READ);
    while (times--)
        raw_get(s);
    raw_run(s, COMMIT);
}

static void get_single(void *arg, size_t times)
{
    state *s = arg;

    while (times--) {
        begin(s, VALISE_TXN_READ);
        get(s);
        commit(s);
    }
}

static void raw_get_single(void *arg, size_t times)
{
    state *s = arg;

    while (times--) {
        raw_run(s, BEGIN_READ);
        MUST(sqlite3_step(s->stmt[SNAPSHOT]) == SQLITE_ROW);
        sqlite3_reset(s->stmt[SNAPSHOT]);
        raw_get(s);
        raw_run(s, COMMIT);
    }
}

/* All rows of one kind: a hundredth. */
static void scan_kind(void *arg, size_t times)
{
    state *s = arg;
    valise_cell row[4];
    void *scan;

    begin(s, VALISE_TXN_READ);
    while (times--) {
        valise_cell kind = {.type = VALISE_CELL_INT, .as.integer = (int64_t)(s->next++ % 100)};
        MUST(s->ops->scan_open(&scan, s->txn,
                               &(valise_range){.index = 0, .equal = &kind, .equal_count = 1},
                               NULL) == 0);
        while (s->ops->scan_next(row, scan, NULL) == 1)
            bench_use(row);
        s->ops->scan_close(scan);
    }
    commit(s);
}

static void raw_scan_kind(void *arg, size_t times)
{
    state *s = arg;
    valise_cell row[4];

    raw_run(s, BEGIN_READ);
    while (times--) {
        sqlite3_bind_int64(s->stmt[SCAN], 1, (int64_t)(s->next++ % 100));
        while (sqlite3_step(s->stmt[SCAN]) == SQLITE_ROW)
            raw_read(row, s->stmt[SCAN]);
        sqlite3_reset(s->stmt[SCAN]);
    }
    raw_run(s, COMMIT);
}

static void compare(bench *b, state *s, const char *name, bench_fn *ours, bench_fn *by_hand)
{
    bench_compare(b, &(bench_row){.name = name,
                                  .arg = s,
                                  .ours = ours,
                                  .against = "SQLite by hand",
                                  .baseline = by_hand,
                                  .at_most = 1.11});
}

BENCH(store)
{
    state *s = set_up(valise_store_sqlite(), ROWS, false, true);

    compare(b, s, "put, a transaction each, normal", put_single, raw_put_single);
    compare(b, s, "put, 1,000 a transaction, normal", put_batch, raw_put_batch);
    compare(b, s, "get, one transaction", get_many, raw_get_many);
    compare(b, s, "get, a transaction each", get_single, raw_get_single);
    compare(b, s, "scan of 40 rows by index", scan_kind, raw_scan_kind);
    tear_down(s);
    s = set_up(valise_store_sqlite(), ROWS, true, true);
    compare(b, s, "put, a transaction each, full", put_single, raw_put_single);
    compare(b, s, "put, 1,000 a transaction, full", put_batch, raw_put_batch);
    tear_down(s);

    bench_growth_row rows[] = {
        {.name = "sqlite get", .fn = get_many, .setup = set_up_sqlite, .promised = 0},
        {.name = "sqlite put, normal", .fn = put_single, .setup = set_up_sqlite, .promised = 0},
        {.name = "memory get", .fn = get_many, .setup = set_up_memory, .promised = 0},
        {.name = "memory put", .fn = put_single, .setup = set_up_memory, .promised = 0},
        {.name = "memory scan of a hundredth",
         .fn = scan_kind,
         .setup = set_up_memory,
         .promised = 1},
    };
    for (size_t i = 0; i < VLS_COUNT(rows); i++) {
        rows[i].teardown = tear_down;
        memcpy(rows[i].sizes, (const size_t[4]){1000, 10000, 100000, 0}, sizeof(rows[i].sizes));
        bench_growth(b, &rows[i]);
    }
}
