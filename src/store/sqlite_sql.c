/* sqlite_sql.c -- statements from descriptions of tables. docs/formats.md has examples.
 *
 * Names were checked (table.c) to be words in lower case; they are quoted because such a word may
 * be one of SQL's. */
#include "store/sqlite.h"

/* Opening a store writes the statements of all its tables: not with printf. */
static void add_name(vls_buf *sql, const char *name)
{
    vls_buf_add_byte(sql, '"');
    vls_buf_add_text(sql, name);
    vls_buf_add_byte(sql, '"');
}

vls_sqlite_name vls_sqlite_index_name(const valise_table *table, int32_t index)
{
    vls_sqlite_name name;

    (void)snprintf(name.s, sizeof(name.s), "%s_%s", table->name, table->indexes[index].name);
    return name;
}

/* "a","b","c" */
static void add_columns(vls_buf *sql, const valise_table *table, uint16_t count)
{
    for (uint16_t i = 0; i < count; i++) {
        if (i > 0)
            vls_buf_add_byte(sql, ',');
        add_name(sql, table->columns[i].name);
    }
}

static const char *type_name(uint8_t type)
{
    static const char *const names[] = {
        [VALISE_CELL_INT] = "INTEGER",
        [VALISE_CELL_REAL] = "REAL",
        [VALISE_CELL_TEXT] = "TEXT",
        [VALISE_CELL_BLOB] = "BLOB",
    };

    return names[type];
}

/* ---- tables ---- */

static void add_column(vls_buf *sql, const valise_column *column)
{
    add_name(sql, column->name);
    vls_buf_add_byte(sql, ' ');
    vls_buf_add_text(sql, type_name(column->type));
    if (!column->nullable)
        vls_buf_add_text(sql, " NOT NULL");
}

void vls_sqlite_sql_create(vls_buf *sql, const valise_table *table)
{
    bool numbered = (table->flags & VALISE_TABLE_NUMBERED) != 0;

    vls_buf_printf(sql, "CREATE TABLE \"%s\"(", table->name);
    for (uint16_t i = 0; i < table->column_count; i++) {
        if (i > 0)
            vls_buf_add_text(sql, ", ");
        if (i == 0 && numbered)
            vls_buf_printf(sql, "\"%s\" INTEGER PRIMARY KEY", table->columns[0].name);
        else
            add_column(sql, &table->columns[i]);
    }
    if (!numbered) {
        vls_buf_add_text(sql, ", PRIMARY KEY(");
        add_columns(sql, table, table->key_count);
        vls_buf_add_byte(sql, ')');
    }
    vls_buf_add_text(sql, numbered ? ")" : ") WITHOUT ROWID");
}

void vls_sqlite_sql_column(vls_buf *sql, const valise_table *table, uint16_t column)
{
    vls_buf_printf(sql, "ALTER TABLE \"%s\" ADD COLUMN \"%s\" %s", table->name,
                   table->columns[column].name, type_name(table->columns[column].type));
}

void vls_sqlite_sql_index(vls_buf *sql, const valise_table *table, uint16_t number)
{
    const valise_table_index *index = &table->indexes[number];

    vls_buf_printf(sql, "CREATE INDEX \"%s\" ON \"%s\"(", vls_sqlite_index_name(table, number).s,
                   table->name);
    for (uint16_t i = 0; i < index->count; i++) {
        if (i > 0)
            vls_buf_add_byte(sql, ',');
        add_name(sql, table->columns[index->columns[i]].name);
    }
    vls_buf_add_byte(sql, ')');
}

/* ---- rows ---- */

/* WHERE "a"=?1 AND "b"=?2 */
static void add_key(vls_buf *sql, const valise_table *table)
{
    for (uint16_t i = 0; i < table->key_count; i++)
        vls_buf_printf(sql, "%s\"%s\"=?%d", i > 0 ? " AND " : " WHERE ", table->columns[i].name,
                       i + 1);
}

static void add_select(vls_buf *sql, const valise_table *table)
{
    vls_buf_add_text(sql, "SELECT ");
    add_columns(sql, table, table->column_count);
    vls_buf_printf(sql, " FROM \"%s\"", table->name);
}

static void add_insert(vls_buf *sql, const valise_table *table)
{
    vls_buf_printf(sql, "INSERT INTO \"%s\"(", table->name);
    add_columns(sql, table, table->column_count);
    vls_buf_add_text(sql, ") VALUES(");
    for (uint16_t i = 0; i < table->column_count; i++)
        vls_buf_printf(sql, "%s?%d", i > 0 ? "," : "", i + 1);
    vls_buf_add_byte(sql, ')');
}

/* Not REPLACE: that deletes the row and inserts another, which moves neighbours from page to page.
 * An update writes over it where it lies. */
static void add_put(vls_buf *sql, const valise_table *table)
{
    add_insert(sql, table);
    vls_buf_add_text(sql, " ON CONFLICT(");
    add_columns(sql, table, table->key_count);
    vls_buf_add_text(sql,
                     table->key_count < table->column_count ? ") DO UPDATE SET " : ") DO NOTHING");
    for (uint16_t i = table->key_count; i < table->column_count; i++)
        vls_buf_printf(sql, "%s\"%s\"=excluded.\"%s\"", i > table->key_count ? "," : "",
                       table->columns[i].name, table->columns[i].name);
}

/* Columns that stay as they are, because an index has them in which the row keeps its place. Reals
 * that are equal may differ in their bytes. False: of the other columns there is none. */
static bool find_still(bool still[VALISE_MAX_COLUMNS], const valise_table *table, uint64_t moves)
{
    memset(still, 0, VALISE_MAX_COLUMNS * sizeof(*still));
    for (uint16_t i = 0; i < table->index_count; i++) {
        const valise_table_index *index = &table->indexes[i];
        bool is_still = i < 64 && !(moves >> i & 1);
        for (uint16_t c = 0; c < index->count; c++)
            is_still &= table->columns[index->columns[c]].type != VALISE_CELL_REAL;
        for (uint16_t c = 0; is_still && c < index->count; c++)
            still[index->columns[c]] = true;
    }
    for (uint16_t i = table->key_count; i < table->column_count; i++) {
        if (!still[i])
            return true;
    }
    return false;
}

/* An update takes a row out of every index that has a column it sets, and puts it in again: so what
 * is expected to be as it was is asked for instead. The + keeps its indexes out of the search. */
static void add_update(vls_buf *sql, const valise_table *table, uint64_t moves)
{
    bool still[VALISE_MAX_COLUMNS];
    const char *comma = "";

    if (!find_still(still, table, moves))
        memset(still, 0, sizeof(still));
    vls_buf_printf(sql, "UPDATE \"%s\" SET ", table->name);
    for (uint16_t i = table->key_count; i < table->column_count; i++) {
        if (still[i])
            continue;
        vls_buf_printf(sql, "%s\"%s\"=?%d", comma, table->columns[i].name, i + 1);
        comma = ",";
    }
    add_key(sql, table);
    for (uint16_t i = table->key_count; i < table->column_count; i++) {
        if (still[i])
            vls_buf_printf(sql, " AND +\"%s\" IS ?%d", table->columns[i].name, i + 1);
    }
}

/* ---- scans ---- */

static const char *op_text(uint8_t op)
{
    static const char *const texts[] = {
        [VLS_SQLITE_NOT_NULL] = " IS NOT NULL",
        [VLS_SQLITE_GT] = ">?",
        [VLS_SQLITE_GE] = ">=?",
        [VLS_SQLITE_LT] = "<?",
        [VLS_SQLITE_LE] = "<=?",
    };

    return texts[op];
}

/* The components that are equal, and what is asked of the one behind them. Parameters stand in
 * the order in which they are bound. */
static void add_where(vls_buf *sql, const vls_table_def *def, const vls_sqlite_shape *shape)
{
    const vls_table_order *order = vls_table_def_order(def, shape->index);
    const valise_column *columns = def->table->columns;
    const char *word = " WHERE ";

    for (uint16_t i = 0; i < shape->equal; i++) {
        bool null = (shape->nulls >> i & 1) != 0;
        vls_buf_printf(sql, "%s\"%s\"%s", word, columns[order->column[i]].name,
                       null ? " IS NULL" : "=?");
        word = " AND ";
    }
    if (shape->op != VLS_SQLITE_ANY)
        vls_buf_printf(sql, "%s\"%s\"%s", word, columns[order->column[shape->equal]].name,
                       op_text(shape->op));
}

static void add_scan(vls_buf *sql, const vls_table_def *def, const vls_sqlite_shape *shape)
{
    const valise_table *table = def->table;
    const vls_table_order *order = vls_table_def_order(def, shape->index);

    add_select(sql, table);
    if (shape->index < 0)
        vls_buf_add_text(sql, " NOT INDEXED");
    else
        vls_buf_printf(sql, " INDEXED BY \"%s\"", vls_sqlite_index_name(table, shape->index).s);
    add_where(sql, def, shape);
    for (uint16_t i = shape->equal; i < order->count; i++)
        vls_buf_printf(sql, "%s\"%s\"%s", i == shape->equal ? " ORDER BY " : ",",
                       table->columns[order->column[i]].name, shape->reverse ? " DESC" : "");
}

void vls_sqlite_sql_stmt(vls_buf *sql, const vls_table_def *def, int kind,
                         const vls_sqlite_shape *shape)
{
    switch (kind) {
    case VLS_SQLITE_GET:
        add_select(sql, def->table);
        add_key(sql, def->table);
        break;
    case VLS_SQLITE_PUT:
        add_put(sql, def->table);
        break;
    case VLS_SQLITE_INSERT:
        add_insert(sql, def->table);
        break;
    case VLS_SQLITE_UPDATE:
        add_update(sql, def->table, shape->nulls);
        break;
    case VLS_SQLITE_DEL:
        vls_buf_printf(sql, "DELETE FROM \"%s\"", def->table->name);
        add_key(sql, def->table);
        break;
    default:
        add_scan(sql, def, shape);
    }
}
