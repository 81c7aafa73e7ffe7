/* sqlite_stmt.c -- prepared statements: kept, bound, read. */
#include "store/sqlite.h"

#include "base/mem.h"
#include "base/str.h"

/* ---- failures ---- */

/* Whether the file has a table or an index of this name. */
static bool is_there(const vls_sqlite_conn *conn, const char *name)
{
    sqlite3_stmt *stmt = NULL;
    bool found = true; /* unless we know better */

    if (sqlite3_prepare_v2(conn->db, "SELECT 1 FROM sqlite_schema WHERE name=?1", -1, &stmt,
                           NULL) == SQLITE_OK &&
        sqlite3_bind_text(stmt, 1, name, -1, SQLITE_STATIC) == SQLITE_OK)
        found = sqlite3_step(stmt) != SQLITE_DONE;
    (void)sqlite3_finalize(stmt);
    return found;
}

static int fail_missing(vls_sqlite_conn *conn, const valise_table *table, int32_t index, int code,
                        valise_error *err)
{
    if (!is_there(conn, table->name))
        return vls_fail(err, VALISE_E_NOT_FOUND, "table %s is not in the store", table->name);
    if (index < 0)
        return code;
    if (!is_there(conn, vls_sqlite_index_name(table, index).s))
        return vls_fail(err, VALISE_E_NOT_FOUND, "table %s: index %s is not in the store",
                        table->name, table->indexes[index].name);
    return code;
}

int vls_sqlite_stmt_fail(vls_sqlite_conn *conn, uint32_t table, int32_t index, int rc,
                         valise_error *err)
{
    int code = vls_sqlite_fail(conn->store, conn->db, rc, err);

    /* Some errors end the whole transaction, whatever statement they happen in. */
    if (sqlite3_get_autocommit(conn->db))
        conn->spoiled = code;
    else if ((rc & 0xff) == SQLITE_ERROR)
        code = fail_missing(conn, conn->store->defs.ptr[table]->table, index, code, err);
    return code;
}

/* ---- the lists ---- */

static int prepare(vls_sqlite_stmt *stmt, vls_sqlite_conn *conn, valise_error *err)
{
    const vls_table_def *def = conn->store->defs.ptr[stmt->table];
    VLS_AUTO(buf) vls_buf sql = {0};
    int rc;

    vls_buf_init(&sql, conn->store->env, VLS_SQLITE_MAX_SQL);
    vls_sqlite_sql_stmt(&sql, def, stmt->kind, &stmt->shape);
    rc = vls_buf_check(&sql, err);
    if (rc < 0)
        return rc;
    rc = sqlite3_prepare_v3(conn->db, sql.ptr, (int)sql.len, SQLITE_PREPARE_PERSISTENT,
                            &stmt->handle, NULL);
    if (rc == SQLITE_OK)
        return 0;
    int32_t index = stmt->kind == VLS_SQLITE_SCAN ? stmt->shape.index : -1;
    return vls_sqlite_stmt_fail(conn, stmt->table, index, rc, err);
}

static int make(vls_sqlite_stmt **out, vls_sqlite_conn *conn, uint32_t table, int kind,
                const vls_sqlite_shape *shape, valise_error *err)
{
    vls_sqlite_stmt *stmt = vls_mem_zalloc(conn->store->env, sizeof(*stmt));
    int rc;

    if (!stmt)
        return vls_fail_memory(err);
    stmt->table = table;
    stmt->kind = kind;
    stmt->shape = *shape;
    rc = prepare(stmt, conn, err);
    if (rc < 0) {
        vls_mem_free(conn->store->env, stmt, sizeof(*stmt));
        return rc;
    }
    *out = stmt;
    return 0;
}

static int find_lists(vls_sqlite_lists **out, vls_sqlite_conn *conn, uint32_t table,
                      valise_error *err)
{
    if (!vls_vec_reserve(&conn->tables, conn->store->env, table + 1u))
        return vls_fail_memory(err);
    while (conn->tables.len <= table)
        conn->tables.ptr[conn->tables.len++] = (vls_sqlite_lists){.replaces = false};
    *out = &conn->tables.ptr[table];
    return 0;
}

int vls_sqlite_stmt_take(vls_sqlite_stmt **out, vls_sqlite_conn *conn, uint32_t table, int kind,
                         const vls_sqlite_shape *shape, valise_error *err)
{
    vls_sqlite_lists *lists;
    int rc = find_lists(&lists, conn, table, err);

    if (rc < 0)
        return rc;
    for (vls_sqlite_stmt **link = &lists->unused[kind]; *link; link = &(*link)->next) {
        vls_sqlite_stmt *stmt = *link;
        if (memcmp(&stmt->shape, shape, sizeof(*shape)) != 0)
            continue;
        *link = stmt->next;
        conn->kept--;
        *out = stmt;
        return 0;
    }
    return make(out, conn, table, kind, shape, err);
}

static void free_stmt(const vls_sqlite_conn *conn, vls_sqlite_stmt *stmt)
{
    (void)sqlite3_finalize(stmt->handle);
    vls_mem_free(conn->store->env, stmt, sizeof(*stmt));
}

void vls_sqlite_stmt_give(vls_sqlite_conn *conn, vls_sqlite_stmt *stmt)
{
    if (!stmt)
        return;
    (void)sqlite3_reset(stmt->handle); /* what it returns was returned by the step */
    if (conn->kept >= VLS_SQLITE_MAX_KEPT) {
        free_stmt(conn, stmt);
        return;
    }
    vls_sqlite_stmt **first = &conn->tables.ptr[stmt->table].unused[stmt->kind];
    stmt->next = *first;
    *first = stmt;
    conn->kept++;
}

void vls_sqlite_stmt_drop(vls_sqlite_conn *conn, uint32_t table)
{
    for (int kind = 0; table < conn->tables.len && kind < VLS_SQLITE_KINDS; kind++) {
        vls_sqlite_stmt **first = &conn->tables.ptr[table].unused[kind];
        while (*first) {
            vls_sqlite_stmt *stmt = *first;
            *first = stmt->next;
            conn->kept--;
            free_stmt(conn, stmt);
        }
    }
}

/* ---- cells ---- */

int vls_sqlite_bind(vls_sqlite_stmt *stmt, int number, const valise_cell *cell)
{
    /* A NULL pointer would be taken for NULL. */
    const char *bytes =
        cell->type >= VALISE_CELL_TEXT && cell->as.bytes.ptr ? cell->as.bytes.ptr : "";

    switch (cell->type) {
    case VALISE_CELL_INT:
        return sqlite3_bind_int64(stmt->handle, number, cell->as.integer);
    case VALISE_CELL_REAL:
        return sqlite3_bind_double(stmt->handle, number, vls_cell_real(cell->as.real));
    case VALISE_CELL_TEXT:
        return sqlite3_bind_text64(stmt->handle, number, bytes, cell->as.bytes.len, SQLITE_STATIC,
                                   SQLITE_UTF8);
    case VALISE_CELL_BLOB:
        return sqlite3_bind_blob64(stmt->handle, number, bytes, cell->as.bytes.len, SQLITE_STATIC);
    default:
        return sqlite3_bind_null(stmt->handle, number);
    }
}

static_assert(SQLITE_INTEGER == VALISE_CELL_INT && SQLITE_FLOAT == VALISE_CELL_REAL &&
                  SQLITE_TEXT == VALISE_CELL_TEXT && SQLITE_BLOB == VALISE_CELL_BLOB,
              "types are numbered as SQLite numbers them");

static uint8_t type_at(sqlite3_stmt *handle, int number)
{
    int type = sqlite3_column_type(handle, number);

    return type == SQLITE_NULL ? VALISE_CELL_NULL : (uint8_t)type;
}

/* Text too is read as a blob: as text it would be copied to get a NUL behind it. */
static int read_bytes(valise_str *out, sqlite3_stmt *handle, int number, valise_error *err)
{
    const void *bytes = sqlite3_column_blob(handle, number);
    int len = sqlite3_column_bytes(handle, number);

    if (!bytes && len > 0)
        return vls_fail_memory(err);
    *out = vls_str(bytes, (size_t)len);
    return 0;
}

/* The key of the row a statement stands on, whatever its cells are. */
typedef struct key_text {
    char s[128];
} key_text;

static key_text key_of(sqlite3_stmt *handle, const valise_table *table)
{
    key_text out = {""};

    for (uint16_t i = 0; i < table->key_count; i++) {
        size_t used = strlen(out.s), room = sizeof(out.s) - used;
        int len = sqlite3_column_bytes(handle, i);
        const unsigned char *bytes = sqlite3_column_blob(handle, i);
        if (type_at(handle, i) != VALISE_CELL_BLOB) {
            (void)snprintf(out.s + used, room, " %.*s", bytes ? VLS_MIN(len, 64) : 0,
                           (const char *)bytes);
            continue;
        }
        (void)snprintf(out.s + used, room, " ");
        for (int k = 0; bytes && k < VLS_MIN(len, 16); k++) {
            used = strlen(out.s);
            (void)snprintf(out.s + used, sizeof(out.s) - used, "%02x", bytes[k]);
        }
    }
    return out;
}

static int fail_type(const vls_sqlite_conn *conn, sqlite3_stmt *handle, const valise_table *table,
                     uint16_t number, valise_error *err)
{
    static const char *const names[] = {"NULL", "INTEGER", "REAL", "TEXT", "BLOB"};
    const valise_column *column = &table->columns[number];
    uint8_t type = type_at(handle, number); /* asking for bytes would change it */
    int rc = vls_fail(err, VALISE_E_CORRUPT, "%s: in the row%s, %s.%s is %s, not %s",
                      conn->store->path, key_of(handle, table).s, table->name, column->name,
                      names[type], names[column->type]);

    vls_hint(err, "something else wrote to the file; restore a backup");
    return rc;
}

int vls_sqlite_read(valise_cell *row, vls_sqlite_conn *conn, const vls_sqlite_stmt *stmt,
                    valise_error *err)
{
    const valise_table *table = conn->store->defs.ptr[stmt->table]->table;
    sqlite3_stmt *handle = stmt->handle;
    int rc = 0;

    for (uint16_t i = 0; rc == 0 && i < table->column_count; i++) {
        uint8_t type = type_at(handle, i);
        const valise_column *column = &table->columns[i];
        if (type != column->type && !(type == VALISE_CELL_NULL && column->nullable))
            return fail_type(conn, handle, table, i, err);
        row[i].type = type;
        if (type == VALISE_CELL_INT)
            row[i].as.integer = sqlite3_column_int64(handle, i);
        else if (type == VALISE_CELL_REAL)
            row[i].as.real = sqlite3_column_double(handle, i);
        else if (type != VALISE_CELL_NULL)
            rc = read_bytes(&row[i].as.bytes, handle, i, err);
    }
    return rc;
}
