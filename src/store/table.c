/* table.c -- checks of descriptions, rows and ranges. */
#include "store/table.h"

#include "base/mem.h"

/* ---- descriptions ---- */

/* snake_case, so that it may stand in a statement and a person may type it. */
static int check_name(const char *name, const char *what, const valise_table *table,
                      valise_error *err)
{
    size_t len = name ? strlen(name) : 0;
    bool good = len > 0 && len <= VLS_TABLE_MAX_NAME && name[0] >= 'a' && name[0] <= 'z';

    for (size_t i = 0; good && i < len; i++) {
        char c = name[i];
        good = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    }
    if (good && strncmp(name, "sqlite_", 7) != 0)
        return 0;
    return vls_fail(err, VALISE_E_INVALID, "table %.63s: '%.63s' is not a name for %s",
                    table->name ? table->name : "?", name ? name : "", what);
}

static int check_columns(const valise_table *table, valise_error *err)
{
    for (uint16_t i = 0; i < table->column_count; i++) {
        const valise_column *column = &table->columns[i];
        int rc = check_name(column->name, "a column", table, err);
        if (rc < 0)
            return rc;
        if (column->type < VALISE_CELL_INT || column->type > VALISE_CELL_BLOB)
            return vls_fail(err, VALISE_E_INVALID, "table %s: column %s has the type %d",
                            table->name, column->name, column->type);
        if (i < table->key_count && column->nullable)
            return vls_fail(err, VALISE_E_INVALID, "table %s: column %s of the key is nullable",
                            table->name, column->name);
        for (uint16_t j = 0; j < i; j++) {
            if (strcmp(column->name, table->columns[j].name) == 0)
                return vls_fail(err, VALISE_E_INVALID, "table %s has two columns %s", table->name,
                                column->name);
        }
    }
    return 0;
}

static int check_index(const valise_table *table, uint16_t number, valise_error *err)
{
    const valise_table_index *index = &table->indexes[number];
    int rc = check_name(index->name, "an index", table, err);

    if (rc < 0)
        return rc;
    if (index->count == 0 || index->count > table->column_count || !index->columns)
        return vls_fail(err, VALISE_E_INVALID, "table %s: index %s has %d columns", table->name,
                        index->name, index->count);
    for (uint16_t i = 0; i < index->count; i++) {
        if (index->columns[i] >= table->column_count)
            return vls_fail(err, VALISE_E_INVALID, "table %s: index %s is on column %d of %d",
                            table->name, index->name, index->columns[i], table->column_count);
        for (uint16_t j = 0; j < i; j++) {
            if (index->columns[i] == index->columns[j])
                return vls_fail(err, VALISE_E_INVALID, "table %s: index %s has a column twice",
                                table->name, index->name);
        }
    }
    for (uint16_t j = 0; j < number; j++) {
        if (strcmp(index->name, table->indexes[j].name) == 0)
            return vls_fail(err, VALISE_E_INVALID, "table %s has two indexes %s", table->name,
                            index->name);
    }
    return 0;
}

static int check_table(const valise_table *table, valise_error *err)
{
    int rc = check_name(table->name, "a table", table, err);

    if (rc < 0)
        return rc;
    if (table->column_count == 0 || table->column_count > VALISE_MAX_COLUMNS || !table->columns)
        return vls_fail(err, VALISE_E_INVALID, "table %s has %d columns, not 1 to %d", table->name,
                        table->column_count, VALISE_MAX_COLUMNS);
    if (table->key_count == 0 || table->key_count > table->column_count)
        return vls_fail(err, VALISE_E_INVALID, "table %s has %d of %d columns in its key",
                        table->name, table->key_count, table->column_count);
    if (table->index_count > VLS_TABLE_MAX_INDEXES || (table->index_count > 0 && !table->indexes))
        return vls_fail(err, VALISE_E_INVALID, "table %s has %d indexes, not 0 to %u", table->name,
                        table->index_count, VLS_TABLE_MAX_INDEXES);
    rc = check_columns(table, err);
    if (rc < 0)
        return rc;
    if ((table->flags & VALISE_TABLE_NUMBERED) &&
        (table->key_count != 1 || table->columns[0].type != VALISE_CELL_INT))
        return vls_fail(err, VALISE_E_INVALID, "table %s is numbered, its key is not one integer",
                        table->name);
    for (uint16_t i = 0; rc == 0 && i < table->index_count; i++)
        rc = check_index(table, i, err);
    return rc;
}

static bool has_column(const vls_table_order *order, uint16_t column)
{
    for (uint16_t i = 0; i < order->count; i++) {
        if (order->column[i] == column)
            return true;
    }
    return false;
}

static void add_key(vls_table_order *order, const valise_table *table)
{
    for (uint16_t i = 0; i < table->key_count; i++) {
        if (!has_column(order, i))
            order->column[order->count++] = i;
    }
}

/* VALISE_E_INVALID for a description no backend could do anything with. */
static int def_new(vls_table_def **out, const valise_env *env, const valise_table *table,
                   valise_error *err)
{
    vls_table_def *def;
    size_t size;
    int rc = check_table(table, err);

    if (rc < 0)
        return rc;
    size = sizeof(*def) + (table->index_count + 1u) * sizeof(vls_table_order);
    def = vls_mem_zalloc(env, size);
    if (!def)
        return vls_fail_memory(err);
    def->table = table;
    def->size = size;
    add_key(&def->orders[0], table);
    for (uint16_t i = 0; i < table->index_count; i++) {
        vls_table_order *order = &def->orders[i + 1];
        order->count = table->indexes[i].count;
        memcpy(order->column, table->indexes[i].columns, order->count * sizeof(uint16_t));
        add_key(order, table);
    }
    *out = def;
    return 0;
}

static void def_free(vls_table_def *def, const valise_env *env)
{
    if (def)
        vls_mem_free(env, def, def->size);
}

static bool same_index(const valise_table_index *a, const valise_table_index *b)
{
    return strcmp(a->name, b->name) == 0 && a->count == b->count &&
           memcmp(a->columns, b->columns, a->count * sizeof(uint16_t)) == 0;
}

/* Whether `to` is `from` with nothing but columns and indexes added at the end. */
static int check_extends(const valise_table *from, const valise_table *to, valise_error *err)
{
    bool same = strcmp(from->name, to->name) == 0 && from->key_count == to->key_count &&
                from->flags == to->flags && from->column_count <= to->column_count &&
                from->index_count <= to->index_count;

    for (uint16_t i = 0; same && i < from->column_count; i++)
        same = strcmp(from->columns[i].name, to->columns[i].name) == 0 &&
               from->columns[i].type == to->columns[i].type;
    for (uint16_t i = 0; same && i < from->index_count; i++)
        same = same_index(&from->indexes[i], &to->indexes[i]);
    if (same)
        return 0;
    return vls_fail(err, VALISE_E_INVALID,
                    "table %s is known and differs in more than columns and indexes at the end",
                    from->name);
}

int vls_table_defs_attach(vls_table_defs *defs, const valise_env *env, uint32_t number,
                          const valise_table *table, valise_error *err)
{
    vls_table_def *def;
    int rc;

    if (number > defs->len || number >= VLS_STORE_MAX_TABLES)
        return vls_fail(err, VALISE_E_INVALID, "table %u is attached, the next one is %zu", number,
                        defs->len);
    if (!vls_vec_reserve(defs, env, number + 1u))
        return vls_fail_memory(err);
    rc = def_new(&def, env, table, err);
    if (rc < 0)
        return rc;
    if (number == defs->len) {
        defs->ptr[defs->len++] = def;
        return 0;
    }
    rc = check_extends(defs->ptr[number]->table, table, err);
    if (rc < 0) {
        def_free(def, env);
        return rc;
    }
    def_free(defs->ptr[number], env);
    defs->ptr[number] = def;
    return 0;
}

void vls_table_defs_release(vls_table_defs *defs, const valise_env *env)
{
    for (size_t i = 0; i < defs->len; i++)
        def_free(defs->ptr[i], env);
    vls_vec_release(defs, env);
}

/* ---- cells ---- */

static int check_cell(const valise_table *table, uint16_t number, const valise_cell *cell,
                      valise_error *err)
{
    const valise_column *column = &table->columns[number];

    if (cell->type == VALISE_CELL_NULL && column->nullable)
        return 0;
    if (cell->type != column->type)
        return vls_fail(err, VALISE_E_INVALID, "table %s: a cell of column %s has type %d, not %d",
                        table->name, column->name, cell->type, column->type);
    if (cell->type == VALISE_CELL_REAL && cell->as.real != cell->as.real)
        return vls_fail(err, VALISE_E_INVALID, "table %s: a cell of column %s is not a number",
                        table->name, column->name);
    return 0;
}

/* The first `count` columns. */
static int check_cells(const valise_table *table, const valise_cell *cells, uint16_t count,
                       valise_error *err)
{
    size_t bytes = 0;

    for (uint16_t i = 0; i < count; i++) {
        const valise_cell *cell = &cells[i];
        int rc = check_cell(table, i, cell, err);
        if (rc < 0)
            return rc;
        if (cell->type < VALISE_CELL_TEXT)
            continue;
        if (cell->as.bytes.len > VALISE_MAX_ROW_BYTES - bytes)
            return vls_fail(err, VALISE_E_TOO_LARGE, "table %s: a row of more than %d bytes",
                            table->name, VALISE_MAX_ROW_BYTES);
        bytes += cell->as.bytes.len;
    }
    return 0;
}

int vls_table_check_row(const vls_table_def *def, const valise_cell *row, valise_error *err)
{
    return check_cells(def->table, row, def->table->column_count, err);
}

int vls_table_check_key(const vls_table_def *def, const valise_cell *key, valise_error *err)
{
    return check_cells(def->table, key, def->table->key_count, err);
}

int vls_table_check_range(const vls_table_def *def, const valise_range *range, valise_error *err)
{
    const valise_table *table = def->table;

    if (range->index < -1 || range->index >= table->index_count)
        return vls_fail(err, VALISE_E_INVALID, "table %s has no index %d", table->name,
                        range->index);

    const vls_table_order *order = vls_table_def_order(def, range->index);
    unsigned count = (unsigned)range->equal_count + range->from_count;
    if (count > order->count)
        return vls_fail(err, VALISE_E_INVALID, "table %s: a range of %u cells, the order has %d",
                        table->name, count, order->count);
    for (unsigned i = 0; i < count; i++) {
        const valise_cell *cell =
            i < range->equal_count ? &range->equal[i] : &range->from[i - range->equal_count];
        int rc = check_cell(table, order->column[i], cell, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* ---- open ---- */

int vls_store_check_open(const valise_store_open *how, valise_error *err)
{
    const unsigned change = VALISE_STORE_CREATE | VALISE_STORE_EXCLUSIVE;

    if (how->size < sizeof(*how) || !how->env)
        return vls_fail(err, VALISE_E_INVALID, "open of a store: options of %zu bytes, not %zu",
                        how->size, sizeof(*how));
    if ((how->flags & VALISE_STORE_READ_ONLY) && (how->flags & change))
        return vls_fail(err, VALISE_E_INVALID, "a store cannot be created for reading only");
    if (how->table_count > VLS_STORE_MAX_TABLES)
        return vls_fail(err, VALISE_E_LIMIT, "a store of %u tables, not up to %u", how->table_count,
                        VLS_STORE_MAX_TABLES);
    return 0;
}
