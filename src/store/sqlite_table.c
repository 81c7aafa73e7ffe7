/* sqlite_table.c -- making tables, and single rows. */
#include "store/sqlite.h"

#include "base/str.h"
#include "field/row.h"

static const vls_sqlite_shape no_shape = {.index = -1};

int vls_sqlite_check(const vls_table_def **def, const vls_sqlite_conn *conn, uint32_t table,
                     bool change, valise_error *err)
{
    int code = conn->spoiled;

    if (change && !conn->writes)
        return vls_fail(err, VALISE_E_INVALID, "a change in a read-only transaction");
    if (code < 0)
        return vls_fail(err, code, "%s: this transaction failed before: %s", conn->store->path,
                        valise_error_text(code));
    if (table >= conn->store->defs.len)
        return vls_fail(err, VALISE_E_INVALID, "table %u is not attached", table);
    *def = conn->store->defs.ptr[table];
    return 0;
}

void vls_sqlite_settle(vls_sqlite_conn *conn)
{
    vls_sqlite_stmt_give(conn, conn->pending);
    conn->pending = NULL;
}

/* ---- rows ---- */

/* A statement with the first cells bound, ready to step. The last get's row may be among what is
 * bound, so its statement is let go only afterwards. */
static int ready(vls_sqlite_stmt **out, vls_sqlite_conn *conn, uint32_t table, int kind,
                 const vls_sqlite_shape *shape, const valise_cell *cells, uint16_t count,
                 valise_error *err)
{
    vls_sqlite_stmt *stmt;
    int rc = vls_sqlite_stmt_take(&stmt, conn, table, kind, shape, err);

    if (rc != 0)
        return rc;
    for (uint16_t i = 0; rc == SQLITE_OK && i < count; i++)
        rc = vls_sqlite_bind(stmt, i + 1, &cells[i]);
    if (rc != SQLITE_OK) {
        rc = vls_sqlite_stmt_fail(conn, table, -1, rc, err);
        assert(rc < 0);
        vls_sqlite_stmt_give(conn, stmt);
        return rc;
    }
    *out = stmt;
    return 0;
}

int vls_sqlite_get(valise_cell *row, vls_sqlite_conn *conn, uint32_t table, const valise_cell *key,
                   valise_error *err)
{
    const vls_table_def *def;
    vls_sqlite_stmt *stmt;
    int rc = vls_sqlite_check(&def, conn, table, false, err);

    if (rc == 0)
        rc = vls_table_check_key(def, key, err);
    if (rc == 0)
        rc = ready(&stmt, conn, table, VLS_SQLITE_GET, &no_shape, key, def->table->key_count, err);
    if (rc != 0)
        return rc;
    rc = sqlite3_step(stmt->handle);
    vls_sqlite_settle(conn);
    if (rc == SQLITE_ROW) {
        conn->pending = stmt;
        rc = vls_sqlite_read(row, conn, stmt, err);
        return rc < 0 ? rc : 1;
    }
    rc = rc == SQLITE_DONE ? 0 : vls_sqlite_stmt_fail(conn, table, -1, rc, err);
    vls_sqlite_stmt_give(conn, stmt);
    return rc;
}

/* A change was stepped. Unless nothing was begun, a failure spoils the transaction. */
static int finish(vls_sqlite_conn *conn, vls_sqlite_stmt *stmt, int rc, valise_error *err)
{
    vls_sqlite_settle(conn);
    rc = rc == SQLITE_DONE ? 0 : vls_sqlite_stmt_fail(conn, stmt->table, -1, rc, err);
    vls_sqlite_stmt_give(conn, stmt);
    if (rc < 0 && rc != VALISE_E_NOT_FOUND)
        conn->spoiled = rc;
    return rc;
}

static int change(vls_sqlite_conn *conn, vls_sqlite_stmt *stmt, valise_error *err)
{
    return finish(conn, stmt, sqlite3_step(stmt->handle), err);
}

/* What can do both, insert and replace, prepares to undo the statement where a table has indexes,
 * page by page; what can do only one of them need not. So the one that the last put of the table
 * was is tried first. 1: done, 0: nothing was changed. */
static int insert(vls_sqlite_conn *conn, uint32_t table, const valise_table *def,
                  const valise_cell *row, valise_error *err)
{
    vls_sqlite_stmt *stmt = NULL;
    int rc = ready(&stmt, conn, table, VLS_SQLITE_INSERT, &no_shape, row, def->column_count, err);

    if (rc < 0)
        return rc;
    assert(stmt);
    rc = sqlite3_step(stmt->handle);
    if ((rc & 0xff) == SQLITE_CONSTRAINT) {
        vls_sqlite_stmt_give(conn, stmt);
        return 0; /* there is one */
    }
    rc = finish(conn, stmt, rc, err);
    return rc < 0 ? rc : 1;
}

/* 0: there is no such row, or its place in another index than these is another one. */
static int update(vls_sqlite_conn *conn, uint32_t table, const valise_table *def, uint64_t moves,
                  const valise_cell *row, valise_error *err)
{
    const vls_sqlite_shape shape = {.index = -1, .nulls = moves};
    vls_sqlite_stmt *stmt = NULL;
    int rc = ready(&stmt, conn, table, VLS_SQLITE_UPDATE, &shape, row, def->column_count, err);

    if (rc < 0)
        return rc;
    assert(stmt);
    rc = sqlite3_step(stmt->handle);
    if (rc == SQLITE_DONE && sqlite3_changes(conn->db) == 0) {
        vls_sqlite_stmt_give(conn, stmt);
        return 0;
    }
    rc = finish(conn, stmt, rc, err);
    return rc < 0 ? rc : 1;
}

/* Of a row that cannot be read, all of them. */
static uint64_t places_that_differ(const valise_cell *old, const valise_cell *row,
                                   const valise_table *def, bool readable)
{
    uint64_t moves = readable ? 0 : UINT64_MAX;

    for (uint16_t i = 0; readable && i < def->index_count && i < 64; i++) {
        for (uint16_t c = 0; c < def->indexes[i].count; c++) {
            uint16_t column = def->indexes[i].columns[c];
            if (!vls_cells_equal(&old[column], &row[column], 1))
                moves |= UINT64_C(1) << i;
        }
    }
    return moves;
}

/* In which indexes will the row have another place? What the last get found may be what is to be
 * put, so its statement stays. 1, or 0: there is no such row. */
static int find_moves(uint64_t *moves, vls_sqlite_conn *conn, uint32_t table,
                      const valise_table *def, const valise_cell *row, valise_error *err)
{
    valise_cell old[VALISE_MAX_COLUMNS];
    vls_sqlite_stmt *stmt = NULL;
    int rc = ready(&stmt, conn, table, VLS_SQLITE_GET, &no_shape, row, def->key_count, err);

    if (rc < 0)
        return rc;
    assert(stmt);
    rc = sqlite3_step(stmt->handle);
    if (rc == SQLITE_ROW) {
        *moves = places_that_differ(old, row, def, vls_sqlite_read(old, conn, stmt, NULL) == 0);
        rc = 1;
    } else {
        rc = rc == SQLITE_DONE ? 0 : vls_sqlite_stmt_fail(conn, table, -1, rc, err);
    }
    vls_sqlite_stmt_give(conn, stmt);
    return rc;
}

static int put_as_before(vls_sqlite_conn *conn, uint32_t table, const valise_table *def,
                         const valise_cell *row, valise_error *err)
{
    vls_sqlite_lists known;
    uint64_t moves = 0;
    int rc;

    if (def->index_count == 0 || def->key_count == def->column_count || table >= conn->tables.len)
        return 0;
    known = conn->tables.ptr[table];
    if (known.replaces)
        rc = update(conn, table, def, known.moves, row, err);
    else
        rc = insert(conn, table, def, row, err);
    if (rc == 0 && known.replaces)
        rc = find_moves(&moves, conn, table, def, row, err);
    else if (rc != 0)
        return rc;
    if (rc <= 0) {
        conn->tables.ptr[table].replaces = !known.replaces;
        return rc;
    }
    if ((known.moves | moves) == known.moves)
        moves = UINT64_MAX;
    conn->tables.ptr[table].moves = known.moves | moves;
    return update(conn, table, def, known.moves | moves, row, err);
}

int vls_sqlite_put(vls_sqlite_conn *conn, uint32_t table, const valise_cell *row, valise_error *err)
{
    const vls_table_def *def;
    vls_sqlite_stmt *stmt;
    int rc = vls_sqlite_check(&def, conn, table, true, err);

    if (rc == 0)
        rc = vls_table_check_row(def, row, err);
    if (rc == 0)
        rc = put_as_before(conn, table, def->table, row, err);
    if (rc != 0)
        return vls_settle(rc);
    rc = ready(&stmt, conn, table, VLS_SQLITE_PUT, &no_shape, row, def->table->column_count, err);
    return rc < 0 ? rc : change(conn, stmt, err);
}

int vls_sqlite_del(vls_sqlite_conn *conn, uint32_t table, const valise_cell *key, valise_error *err)
{
    const vls_table_def *def;
    vls_sqlite_stmt *stmt;
    int rc = vls_sqlite_check(&def, conn, table, true, err);

    if (rc == 0)
        rc = vls_table_check_key(def, key, err);
    if (rc == 0)
        rc = ready(&stmt, conn, table, VLS_SQLITE_DEL, &no_shape, key, def->table->key_count, err);
    if (rc != 0)
        return rc;
    rc = change(conn, stmt, err);
    return rc < 0 ? rc : sqlite3_changes(conn->db) > 0;
}

/* ---- tables ---- */

static int run_sql(vls_sqlite_conn *conn, vls_buf *sql, valise_error *err)
{
    const char *text = vls_buf_cstr(sql);
    int rc = vls_buf_check(sql, err);

    if (rc < 0)
        return rc;
    rc = vls_sqlite_exec(conn->db, text);
    vls_buf_clear(sql);
    return rc == SQLITE_OK ? 0 : vls_sqlite_fail(conn->store, conn->db, rc, err);
}

int vls_sqlite_has(bool *out, vls_sqlite_conn *conn, const char *type, const char *name,
                   const char *table, valise_error *err)
{
    const char *const texts[] = {type, name, table};
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(
        conn->db, "SELECT 1 FROM sqlite_schema WHERE type=?1 AND name=?2 AND tbl_name=?3", -1,
        &stmt, NULL);

    for (int i = 0; rc == SQLITE_OK && i < 3; i++)
        rc = sqlite3_bind_text(stmt, i + 1, texts[i], -1, SQLITE_STATIC);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    (void)sqlite3_finalize(stmt);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        return vls_sqlite_fail(conn->store, conn->db, rc, err);
    *out = rc == SQLITE_ROW;
    return 0;
}

static int create_indexes(vls_sqlite_conn *conn, const valise_table *table, vls_buf *sql,
                          valise_error *err)
{
    bool exists;

    for (uint16_t i = 0; i < table->index_count; i++) {
        int rc = vls_sqlite_has(&exists, conn, "index", vls_sqlite_index_name(table, i).s,
                                table->name, err);
        if (rc == 0 && !exists) {
            vls_sqlite_sql_index(sql, table, i);
            rc = run_sql(conn, sql, err);
        }
        if (rc < 0)
            return rc;
    }
    return 0;
}

int vls_sqlite_create(vls_sqlite_conn *conn, const vls_table_def *def, uint16_t have,
                      valise_error *err)
{
    const valise_table *table = def->table;
    VLS_AUTO(buf) vls_buf sql = {0};
    bool exists;
    int rc;

    if (have > table->column_count)
        return vls_fail(err, VALISE_E_INVALID, "table %s has %d columns, and %d already",
                        table->name, table->column_count, have);
    rc = vls_sqlite_has(&exists, conn, "table", table->name, table->name, err);
    if (rc < 0)
        return rc;
    if (exists != (have > 0))
        return vls_fail(err, exists ? VALISE_E_EXISTS : VALISE_E_NOT_FOUND, "table %s is %s",
                        table->name, exists ? "in the store already" : "not in the store");
    vls_buf_init(&sql, conn->store->env, VLS_SQLITE_MAX_SQL);
    if (!exists) {
        vls_sqlite_sql_create(&sql, table);
        rc = run_sql(conn, &sql, err);
    }
    for (uint16_t i = have; exists && rc == 0 && i < table->column_count; i++) {
        vls_sqlite_sql_column(&sql, table, i);
        rc = run_sql(conn, &sql, err);
    }
    if (rc == 0)
        rc = create_indexes(conn, table, &sql, err);
    if (rc < 0)
        conn->spoiled = rc;
    return rc;
}
