/* raw.c -- see raw.h. */
#define VLS_ALLOW_MALLOC
#include <ftw.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/raw.h"

#include "base/str.h"

#include <valise/sys/extension.h>
#include <valise/workspace.h>

#define COLUMNS_MAX 32
#define CELL_MAX 8192
#define SQL_MAX 4096

typedef struct cell {
    const char *name;
    int type; /* SQLITE_INTEGER, ... */
    int64_t number;
    int len;
    char bytes[CELL_MAX];
} cell;

struct raw_row {
    sqlite3 *db;
    sqlite3_stmt *like, *insert, *update;
    cell cells[COLUMNS_MAX];
    int count;
};

void raw_die(const char *file, int line, const char *what)
{
    (void)fprintf(stderr, "%s:%d: %s\n", file, line, what);
    abort();
}

/* ---- folders ---- */

void raw_make_dir(char out[256], const char *name)
{
    const char *root = getenv("VALISE_BENCH_DIR");

    (void)snprintf(out, 256, "%s/valise-bench-%ld-%s", root ? root : "/var/tmp", (long)getpid(),
                   name);
    MUST(mkdir(out, 0700) == 0);
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info, (void)type, (void)where;
    return remove(path);
}

void raw_remove_dir(const char *dir)
{
    MUST(nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0);
}

/* ---- a workspace ---- */

valise *raw_open_workspace(const char *dir, bool full, const valise_extension *extension)
{
    const valise_extension *const extensions[] = {extension, NULL};
    valise_options options = VALISE_OPTIONS_INIT;
    valise_error err = VALISE_ERROR_INIT;
    valise *v = NULL;

    options.flags = VALISE_OPEN_CREATE | VALISE_OPEN_NO_USER_CONFIG;
    options.durability = full ? VALISE_DURABILITY_FULL : VALISE_DURABILITY_NORMAL;
    options.extensions = extensions;
    if (valise_open(&v, dir, &options, &err) < 0)
        raw_die(__FILE__, __LINE__, err.message);
    return v;
}

/* ---- the database ---- */

static void exec(sqlite3 *db, const char *sql)
{
    char *why = NULL;

    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
        raw_die(__FILE__, __LINE__, why);
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt = NULL;

    if (sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt, NULL) != SQLITE_OK)
        raw_die(__FILE__, __LINE__, sqlite3_errmsg(db));
    return stmt;
}

static void step(sqlite3 *db, sqlite3_stmt *stmt)
{
    if (sqlite3_step(stmt) != SQLITE_DONE)
        raw_die(__FILE__, __LINE__, sqlite3_errmsg(db));
    sqlite3_reset(stmt);
}

void raw_open(raw *r, const char *dir, bool full)
{
    char path[300];
    int on = 1;

    *r = (raw){.db = NULL};
    (void)snprintf(path, sizeof(path), "%s/.valise/valise.db", dir);
    MUST(sqlite3_open_v2(path, &r->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) ==
         SQLITE_OK);
    exec(r->db, "PRAGMA journal_mode=WAL; PRAGMA secure_delete=ON; PRAGMA temp_store=MEMORY;"
                "PRAGMA wal_autocheckpoint=16000; PRAGMA cache_size=-32768");
    exec(r->db, full ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
    sqlite3_file_control(r->db, "main", SQLITE_FCNTL_PERSIST_WAL, &on);
    r->begin = prepare(r->db, "BEGIN IMMEDIATE");
    r->commit = prepare(r->db, "COMMIT");
}

void raw_close(raw *r)
{
    for (size_t i = 0; i < RAW_ROWS && r->rows[i]; i++) {
        sqlite3_finalize(r->rows[i]->like);
        sqlite3_finalize(r->rows[i]->insert);
        sqlite3_finalize(r->rows[i]->update);
        free(r->rows[i]);
    }
    sqlite3_finalize(r->begin);
    sqlite3_finalize(r->commit);
    MUST(sqlite3_close(r->db) == SQLITE_OK);
}

void raw_begin(raw *r)
{
    step(r->db, r->begin);
}

void raw_commit(raw *r)
{
    step(r->db, r->commit);
}

/* ---- rows ---- */

static void learn(raw_row *row)
{
    sqlite3_stmt *stmt = row->like;

    MUST(sqlite3_step(stmt) == SQLITE_ROW);
    row->count = sqlite3_column_count(stmt);
    MUST(row->count <= COLUMNS_MAX);
    for (int i = 0; i < row->count; i++) {
        cell *c = &row->cells[i];
        c->name = sqlite3_column_name(stmt, i);
        c->type = sqlite3_column_type(stmt, i);
        c->number = sqlite3_column_int64(stmt, i);
        c->len = sqlite3_column_bytes(stmt, i);
        MUST(c->len <= CELL_MAX);
        if (c->len > 0)
            memcpy(c->bytes, sqlite3_column_blob(stmt, i), (size_t)c->len);
    }
    /* Not finalized: the names are its own. */
    sqlite3_reset(stmt);
}

static sqlite3_stmt *prepare_insert(const raw_row *row, const char *table)
{
    char sql[SQL_MAX];
    int len = snprintf(sql, sizeof(sql), "INSERT INTO \"%s\" VALUES(?1", table);

    for (int i = 1; i < row->count; i++)
        len += snprintf(sql + len, sizeof(sql) - (size_t)len, ",?%d", i + 1);
    (void)snprintf(sql + len, sizeof(sql) - (size_t)len, ")");
    return prepare(row->db, sql);
}

static sqlite3_stmt *prepare_update(const raw_row *row, const char *table, const char *key)
{
    char sql[SQL_MAX];
    int len = snprintf(sql, sizeof(sql), "UPDATE \"%s\" SET", table), at = 0;

    for (int i = 0; i < row->count; i++) {
        if (strcmp(row->cells[i].name, key) == 0)
            at = i + 1;
        else
            len += snprintf(sql + len, sizeof(sql) - (size_t)len, "%s\"%s\"=?%d",
                            sql[len - 1] == 'T' ? " " : ",", row->cells[i].name, i + 1);
    }
    (void)snprintf(sql + len, sizeof(sql) - (size_t)len, " WHERE \"%s\"=?%d", key, at);
    return prepare(row->db, sql);
}

raw_row *raw_row_like(raw *r, const char *table, const char *key)
{
    char sql[256];
    size_t at = 0;
    raw_row *row = calloc(1, sizeof(*row));

    MUST(row);
    while (at < RAW_ROWS && r->rows[at])
        at++;
    MUST(at < RAW_ROWS);
    r->rows[at] = row;
    row->db = r->db;
    (void)snprintf(sql, sizeof(sql), "SELECT * FROM \"%s\" ORDER BY \"%s\" DESC LIMIT 1", table,
                   key);
    row->like = prepare(r->db, sql);
    learn(row);
    row->insert = prepare_insert(row, table);
    row->update = prepare_update(row, table, key);
    return row;
}

static cell *cell_of(raw_row *row, const char *column)
{
    for (int i = 0; i < row->count; i++) {
        if (strcmp(row->cells[i].name, column) == 0)
            return &row->cells[i];
    }
    raw_die(__FILE__, __LINE__, column);
}

int64_t raw_get_int(raw_row *row, const char *column)
{
    return cell_of(row, column)->number;
}

void raw_set_int(raw_row *row, const char *column, int64_t value)
{
    cell *c = cell_of(row, column);

    c->type = SQLITE_INTEGER;
    c->number = value;
}

void raw_set_bytes(raw_row *row, const char *column, const void *bytes)
{
    cell *c = cell_of(row, column);

    MUST(c->len > 0);
    memcpy(c->bytes, bytes, (size_t)c->len);
}

static void bind(sqlite3_stmt *stmt, int at, const cell *c)
{
    if (c->type == SQLITE_INTEGER)
        sqlite3_bind_int64(stmt, at, c->number);
    else if (c->type == SQLITE_TEXT)
        sqlite3_bind_text(stmt, at, c->bytes, c->len, SQLITE_STATIC);
    else if (c->type == SQLITE_BLOB)
        sqlite3_bind_blob(stmt, at, c->bytes, c->len, SQLITE_STATIC);
    else
        sqlite3_bind_null(stmt, at);
}

static void put(raw_row *row, sqlite3_stmt *stmt)
{
    for (int i = 0; i < row->count; i++)
        bind(stmt, i + 1, &row->cells[i]);
    step(row->db, stmt);
    MUST(sqlite3_changes(row->db) == 1);
}

void raw_insert(raw_row *row)
{
    put(row, row->insert);
}

void raw_update(raw_row *row)
{
    put(row, row->update);
}
