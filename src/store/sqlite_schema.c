/* sqlite_schema.c -- are the tables in the file as they were made?
 *
 * SQLite keeps the text of every CREATE statement and makes its idea of a table from it, each time
 * the file is opened. No page has a sum, so a bit that flips in such a text changes what a table
 * is: a type, and what is stored is no longer what was given; a name, and nothing is found. The
 * texts are ours (sqlite_sql.c; what ALTER TABLE adds stands where a new table has it), so they are
 * compared with what we would write today. */
#include "store/sqlite.h"

#include <stdarg.h>

#include "base/str.h"

#define AROUND 20u /* bytes that a message shows behind a difference */

typedef struct looking {
    vls_sqlite *store;
    valise_problem_fn *fn;
    void *arg;
    bool all; /* also what is missing, and what nobody knows */
    vls_buf expected;
} looking;

/* ---- what is told ---- */

static int tell(looking *l, valise_error *err, const char *format, ...) VALISE_PRINTF(3, 4);

static int tell(looking *l, valise_error *err, const char *format, ...)
{
    char text[400];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return l->fn(l->arg, text, err);
}

static size_t first_difference(valise_str a, valise_str b)
{
    size_t at = 0;

    while (at < a.len && at < b.len && a.ptr[at] == b.ptr[at])
        at++;
    return at;
}

/* The definition that is there, and the one there should be; both are in the message only where
 * they differ. */
static int compare(looking *l, const char *type, const char *name, valise_str there,
                   valise_error *err)
{
    valise_str expected = vls_buf_str(&l->expected);
    size_t at = first_difference(there, expected), from = at - VLS_MIN(at, (size_t)8);
    int rc = vls_buf_check(&l->expected, err);

    if (rc < 0 || (at == there.len && at == expected.len))
        return rc;
    there = vls_str_head(vls_str_from(there, from), AROUND);
    expected = vls_str_head(vls_str_from(expected, from), AROUND);
    return tell(l, err, "the definition of %s %s is damaged at byte %zu: it says %.*s, not %.*s",
                type, name, at, VALISE_STR_ARG(there), VALISE_STR_ARG(expected));
}

/* ---- one thing of the schema ---- */

static const valise_table *find_table(const vls_sqlite *store, const char *name)
{
    for (size_t i = 0; i < store->defs.len; i++) {
        if (strcmp(store->defs.ptr[i]->table->name, name) == 0)
            return store->defs.ptr[i]->table;
    }
    return NULL;
}

/* The number of the index that has this name, or -1. */
static int find_index(const valise_table *table, const char *name)
{
    for (uint16_t i = 0; i < table->index_count; i++) {
        if (strcmp(name, vls_sqlite_index_name(table, i).s) == 0)
            return i;
    }
    return -1;
}

static int look_at(looking *l, const char *type, const char *name, const char *owner,
                   valise_str sql, valise_error *err)
{
    const valise_table *table = find_table(l->store, owner);
    int index = table && strcmp(type, "index") == 0 ? find_index(table, name) : -1;

    if (!table || strncmp(name, "sqlite_", 7) == 0)
        return 0; /* a table that nobody uses harms nobody; or SQLite's own */
    vls_buf_clear(&l->expected);
    if (strcmp(type, "table") == 0 && strcmp(name, owner) == 0)
        vls_sqlite_sql_create(&l->expected, table);
    else if (index >= 0)
        vls_sqlite_sql_index(&l->expected, table, (uint16_t)index);
    else
        return l->all ? tell(l, err, "there is a %s %s of %s that nobody knows", type, name, owner)
                      : 0;
    return compare(l, type, name, sql, err);
}

/* ---- all ---- */

static const char *text_of(sqlite3_stmt *stmt, int column)
{
    const char *text = (const char *)sqlite3_column_text(stmt, column);

    return text ? text : "";
}

static int look_at_all(looking *l, vls_sqlite_conn *conn, valise_error *err)
{
    sqlite3_stmt *stmt = NULL;
    int step, rc = 0;
    int code = sqlite3_prepare_v2(conn->db, "SELECT type, name, tbl_name, sql FROM sqlite_schema",
                                  -1, &stmt, NULL);

    if (code != SQLITE_OK)
        return vls_sqlite_fail(l->store, conn->db, code, err);
    while ((step = sqlite3_step(stmt)) == SQLITE_ROW && rc == 0)
        rc = look_at(l, text_of(stmt, 0), text_of(stmt, 1), text_of(stmt, 2),
                     valise_str_of(text_of(stmt, 3)), err);
    if (rc == 0 && step != SQLITE_DONE)
        rc = vls_sqlite_fail(l->store, conn->db, step, err);
    (void)sqlite3_finalize(stmt);
    return rc;
}

/* A table or index that should be there. */
static int expect_one(looking *l, vls_sqlite_conn *conn, const char *type, const char *name,
                      const char *owner, valise_error *err)
{
    bool exists;
    int rc = vls_sqlite_has(&exists, conn, type, name, owner, err);

    return rc < 0 || exists ? rc : tell(l, err, "the %s %s is missing", type, name);
}

static int look_for_missing(looking *l, vls_sqlite_conn *conn, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < l->store->defs.len; i++) {
        const valise_table *table = l->store->defs.ptr[i]->table;
        rc = expect_one(l, conn, "table", table->name, table->name, err);
        for (uint16_t k = 0; rc == 0 && k < table->index_count; k++)
            rc = expect_one(l, conn, "index", vls_sqlite_index_name(table, k).s, table->name, err);
    }
    return rc;
}

/* ---- making indexes again ---- */

static bool is_as_made(sqlite3_stmt *stmt, const vls_buf *expected)
{
    return vls_str_equal(valise_str_of(text_of(stmt, 0)), vls_buf_str(expected));
}

/* Is the index there, and as it was made? The result is SQLite's. */
static int look_at_index(bool *there, bool *whole, sqlite3 *db, const char *name,
                         const vls_buf *expected)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db, "SELECT sql FROM sqlite_schema WHERE type='index' AND name=?1",
                                -1, &stmt, NULL);

    if (rc == SQLITE_OK)
        rc = sqlite3_bind_text(stmt, 1, name, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    *there = rc == SQLITE_ROW;
    *whole = *there && is_as_made(stmt, expected);
    (void)sqlite3_finalize(stmt);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int remake_index(vls_sqlite_conn *conn, const valise_table *table, uint16_t number)
{
    VLS_AUTO(buf) vls_buf sql = {0};
    vls_sqlite_name name = vls_sqlite_index_name(table, number);
    char drop[sizeof(name) + 32];
    bool there, whole;
    int rc;

    vls_buf_init(&sql, conn->store->env, VLS_SQLITE_MAX_SQL);
    vls_sqlite_sql_index(&sql, table, number);
    if (vls_buf_check(&sql, NULL) < 0)
        return SQLITE_NOMEM;
    rc = look_at_index(&there, &whole, conn->db, name.s, &sql);
    if (rc != SQLITE_OK || whole)
        return rc;
    (void)snprintf(drop, sizeof(drop), "DROP INDEX \"%s\"", name.s);
    if (there)
        rc = vls_sqlite_exec(conn->db, drop);
    return rc == SQLITE_OK ? vls_sqlite_exec(conn->db, vls_buf_cstr(&sql)) : rc;
}

int vls_sqlite_remake_indexes(vls_sqlite_conn *conn)
{
    const vls_sqlite *store = conn->store;
    int rc = SQLITE_OK;

    for (size_t i = 0; rc == SQLITE_OK && i < store->defs.len; i++) {
        const valise_table *table = store->defs.ptr[i]->table;
        for (uint16_t k = 0; rc == SQLITE_OK && k < table->index_count; k++)
            rc = remake_index(conn, table, k);
    }
    return rc;
}

int vls_sqlite_check_schema(vls_sqlite_conn *conn, bool all, valise_problem_fn *fn, void *arg,
                            valise_error *err)
{
    looking l = {.store = conn->store, .fn = fn, .arg = arg, .all = all};
    int rc;

    vls_buf_init(&l.expected, conn->store->env, VLS_SQLITE_MAX_SQL);
    rc = look_at_all(&l, conn, err);
    if (rc == 0 && all)
        rc = look_for_missing(&l, conn, err);
    vls_buf_release(&l.expected);
    return rc;
}
