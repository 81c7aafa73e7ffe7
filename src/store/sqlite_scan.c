/* sqlite_scan.c -- ranges, as one statement after the other.
 *
 * "From (5, 'b') on" is not a condition that SQLite can look up in an index where NULLs may be:
 * NULL compares with nothing. So a range is cut into pieces, each with equal components in front
 * and one condition behind them, which every index can answer. For the order (x, y, z), equal x,
 * from (f, g):
 *
 *     forwards    x=? y=f z>=g      backwards    x=? y=f z<=g
 *                 x=? y>f                        x=? y=f z IS NULL   where z may be NULL
 *                                                x=? y<f
 *                                                x=? y IS NULL       where y may be NULL
 *
 * (AFTER: > and < in the first). A piece starts when the one before has ended. Invariant: `at` is
 * the component of the piece that runs; the pieces to come are those of smaller ones. */
#include "store/sqlite.h"

#include "base/mem.h"
#include "base/str.h"

typedef struct scan {
    vls_sqlite_conn *conn;
    const vls_table_def *def;
    const vls_table_order *order;
    size_t size;
    vls_sqlite_stmt *stmt; /* of the piece that runs; NULL: the next one is to begin */
    uint32_t table;
    int32_t index;
    bool reverse, after, done;
    bool nulls;               /* the piece that is to begin is the NULLs of component at */
    uint16_t equal_count, at; /* at: counted from the first of all components */
    uint16_t cell_count;      /* of equal and from */
    valise_cell cells[];      /* and their bytes behind them */
} scan;

/* ---- pieces ---- */

/* What to ask of component `at`, the last one of this piece. False: no row can fulfil it. */
static bool choose(vls_sqlite_shape *shape, const scan *s)
{
    const valise_cell *cell = &s->cells[s->at];
    bool first = s->at + 1 == s->cell_count && !s->nulls;
    bool open_end = s->after || !first; /* the row(s) at `from` are not part of it */

    shape->equal = s->at;
    if (s->nulls || (s->reverse && cell->type == VALISE_CELL_NULL)) {
        /* Backwards the NULLs come last; before NULL comes nothing. */
        shape->equal++;
        shape->nulls |= UINT64_C(1) << s->at;
        return s->nulls || !open_end;
    }
    if (cell->type == VALISE_CELL_NULL)
        shape->op = open_end ? VLS_SQLITE_NOT_NULL : VLS_SQLITE_ANY;
    else if (s->reverse)
        shape->op = open_end ? VLS_SQLITE_LT : VLS_SQLITE_LE;
    else
        shape->op = open_end ? VLS_SQLITE_GT : VLS_SQLITE_GE;
    return true;
}

/* Where the piece behind this one begins; false when this is the last. */
static bool go_on(scan *s)
{
    if (s->at == s->equal_count && s->cell_count == s->equal_count)
        return false; /* there is no `from`, hence only one piece */
    bool nullable = s->def->table->columns[s->order->column[s->at]].nullable;
    if (s->reverse && nullable && !s->nulls && s->cells[s->at].type != VALISE_CELL_NULL) {
        s->nulls = true;
        return true;
    }
    s->nulls = false;
    if (s->at == s->equal_count)
        return false;
    s->at--;
    return true;
}

static int bind_piece(const scan *s, vls_sqlite_stmt *stmt)
{
    const vls_sqlite_shape *shape = &stmt->shape;
    int number = 0, rc = SQLITE_OK;

    for (uint16_t i = 0; rc == SQLITE_OK && i < shape->equal; i++) {
        if (!(shape->nulls >> i & 1))
            rc = vls_sqlite_bind(stmt, ++number, &s->cells[i]);
    }
    if (rc == SQLITE_OK && shape->op >= VLS_SQLITE_GT)
        rc = vls_sqlite_bind(stmt, ++number, &s->cells[shape->equal]);
    return rc;
}

/* Begin the piece at s->at, if there can be rows in it. */
static int start_piece(scan *s, valise_error *err)
{
    vls_sqlite_shape shape = {.index = s->index, .reverse = s->reverse};
    bool possible = true;
    int rc;

    shape.equal = s->equal_count;
    if (s->cell_count > s->equal_count)
        possible = choose(&shape, s);
    if (!possible)
        return 0;
    for (unsigned i = 0; i < shape.equal && i < s->cell_count; i++) {
        if (s->cells[i].type == VALISE_CELL_NULL)
            shape.nulls |= UINT64_C(1) << i;
    }
    rc = vls_sqlite_stmt_take(&s->stmt, s->conn, s->table, VLS_SQLITE_SCAN, &shape, err);
    if (rc < 0)
        return rc;
    rc = bind_piece(s, s->stmt);
    return rc == SQLITE_OK ? 0 : vls_sqlite_stmt_fail(s->conn, s->table, s->index, rc, err);
}

/* ---- scans ---- */

static size_t bytes_of(const valise_cell *cells, uint16_t count)
{
    size_t bytes = 0;

    for (uint16_t i = 0; i < count; i++)
        bytes += cells[i].type >= VALISE_CELL_TEXT ? cells[i].as.bytes.len : 0;
    return bytes;
}

static char *copy_cells(valise_cell *out, const valise_cell *cells, uint16_t count, char *rest)
{
    for (uint16_t i = 0; i < count; i++) {
        out[i] = cells[i];
        if (cells[i].type < VALISE_CELL_TEXT || cells[i].as.bytes.len == 0)
            continue;
        memcpy(rest, cells[i].as.bytes.ptr, cells[i].as.bytes.len);
        out[i].as.bytes.ptr = rest;
        rest += cells[i].as.bytes.len;
    }
    return rest;
}

static scan *scan_new(vls_sqlite_conn *conn, const vls_table_def *def, const valise_range *range)
{
    uint16_t count = (uint16_t)(range->equal_count + range->from_count);
    size_t cells = sizeof(scan) + count * sizeof(valise_cell);
    size_t size = cells + bytes_of(range->equal, range->equal_count) +
                  bytes_of(range->from, range->from_count);
    scan *s = vls_mem_alloc(conn->store->env, size);

    if (!s)
        return NULL;
    *s = (scan){.conn = conn,
                .def = def,
                .order = vls_table_def_order(def, range->index),
                .size = size,
                .table = range->table,
                .index = range->index,
                .reverse = (range->flags & VALISE_SCAN_REVERSE) != 0,
                .after = (range->flags & VALISE_SCAN_AFTER) != 0,
                .equal_count = range->equal_count,
                .at = (uint16_t)(range->from_count > 0 ? count - 1 : count),
                .cell_count = count};
    char *rest = copy_cells(s->cells, range->equal, range->equal_count, (char *)s + cells);
    (void)copy_cells(s->cells + range->equal_count, range->from, range->from_count, rest);
    return s;
}

static void scan_free(scan *s)
{
    vls_sqlite_stmt_give(s->conn, s->stmt);
    vls_mem_free(s->conn->store->env, s, s->size);
}

int vls_sqlite_scan_open(void **out, void *txn, const valise_range *range, valise_error *err)
{
    vls_sqlite_conn *conn = txn;
    const vls_table_def *def;
    int rc = vls_sqlite_check(&def, conn, range->table, false, err);

    if (rc == 0)
        rc = vls_table_check_range(def, range, err);
    if (rc < 0)
        return rc;
    scan *s = scan_new(conn, def, range); /* copies: cells of the last get may be among them */
    if (!s)
        return vls_fail_memory(err);
    vls_sqlite_settle(conn);
    rc = start_piece(s, err); /* so that what is missing is said here */
    if (rc < 0) {
        scan_free(s);
        return rc;
    }
    conn->scans++;
    *out = s;
    return 0;
}

/* The piece is over, or there never was one. False at the end of the last. */
static bool end_piece(scan *s)
{
    vls_sqlite_stmt_give(s->conn, s->stmt);
    s->stmt = NULL;
    return go_on(s);
}

/* 1 with a row, 0 at the end. */
static int step(valise_cell *row, scan *s, valise_error *err)
{
    while (!s->done) {
        int rc = s->stmt ? sqlite3_step(s->stmt->handle) : SQLITE_DONE;
        if (rc == SQLITE_ROW) {
            rc = vls_sqlite_read(row, s->conn, s->stmt, err);
            return rc < 0 ? rc : 1;
        }
        if (rc != SQLITE_DONE) {
            s->done = true; /* stepping once more would begin anew */
            return vls_sqlite_stmt_fail(s->conn, s->table, s->index, rc, err);
        }
        s->done = !end_piece(s);
        rc = s->done ? 0 : start_piece(s, err);
        if (rc < 0) {
            s->done = true;
            return rc;
        }
    }
    return 0;
}

int vls_sqlite_scan_next(valise_cell *row, void *arg, valise_error *err)
{
    scan *s = arg;
    const vls_table_def *def;
    int rc = s->done ? 0 : vls_sqlite_check(&def, s->conn, s->table, false, err);

    if (rc < 0)
        s->done = true;
    return rc < 0 ? rc : step(row, s, err);
}

void vls_sqlite_scan_close(void *arg)
{
    scan *s = arg;

    if (!s)
        return;
    assert(s->conn->scans > 0);
    s->conn->scans--;
    scan_free(s);
}
