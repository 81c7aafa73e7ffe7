/* memory_table.c -- rows and the entries of indexes.
 *
 * Invariant: for each row each index has exactly one entry, under the cells of the index and the
 * key, and the entry refers to that row, not to an earlier one with the same key. */
#include "store/memory.h"

#include "base/mem.h"
#include "base/order.h"

/* ---- items ---- */

static valise_str item_key(const void *item)
{
    return ((const vls_memory_item *)item)->key;
}

static void item_ref(void *item)
{
    vls_ref_get(&((vls_memory_item *)item)->refs);
}

static void item_unref(void *arg)
{
    vls_memory_item *item = arg;

    if (!vls_ref_put(&item->refs))
        return;
    if (item->row)
        item_unref(item->row); /* rows refer to nothing: one step deep */
    vls_mem_free(item->env, item, item->size);
}

static const vls_pmap_ops item_ops = {item_key, item_ref, item_unref};

static inline void vls_auto_item(vls_memory_item **item)
{
    if (*item)
        item_unref(*item);
}

/* A block for so many cells, the key, and `bytes` of contents behind it (which *rest gets). */
static vls_memory_item *item_new(char **rest, const valise_env *env, uint16_t count, valise_str key,
                                 size_t bytes)
{
    size_t cells = sizeof(vls_memory_item) + count * sizeof(valise_cell);
    size_t size = cells + key.len + bytes;
    vls_memory_item *item = vls_mem_alloc(env, size);

    if (!item)
        return NULL;
    vls_ref_init(&item->refs);
    item->env = env;
    item->size = size;
    item->row = NULL;
    item->count = count;
    char *at = (char *)item + cells;
    memcpy(at, key.ptr, key.len); /* a key has at least one part, which is never empty */
    item->key = vls_str(at, key.len);
    *rest = at + key.len;
    return item;
}

static bool is_bytes(const valise_cell *cell)
{
    return cell->type == VALISE_CELL_TEXT || cell->type == VALISE_CELL_BLOB;
}

/* The row was checked: its bytes cannot overflow a size. */
static vls_memory_item *row_new(const valise_env *env, valise_str key, const valise_cell *cells,
                                uint16_t count)
{
    size_t bytes = 0;
    char *rest;

    for (uint16_t i = 0; i < count; i++)
        bytes += is_bytes(&cells[i]) ? cells[i].as.bytes.len : 0;
    vls_memory_item *row = item_new(&rest, env, count, key, bytes);
    if (!row)
        return NULL;
    for (uint16_t i = 0; i < count; i++) {
        valise_cell *cell = &row->cells[i];
        *cell = cells[i];
        if (cell->type == VALISE_CELL_REAL)
            cell->as.real = vls_cell_real(cell->as.real);
        if (!is_bytes(cell))
            continue;
        if (cell->as.bytes.len > 0)
            memcpy(rest, cell->as.bytes.ptr, cell->as.bytes.len);
        cell->as.bytes.ptr = rest;
        rest += cell->as.bytes.len;
    }
    return row;
}

static vls_memory_item *entry_new(const valise_env *env, valise_str key, vls_memory_item *row)
{
    char *rest;
    vls_memory_item *entry = item_new(&rest, env, 0, key, 0);

    if (entry) {
        vls_ref_get(&row->refs);
        entry->row = row;
    }
    return entry;
}

void vls_memory_cells(valise_cell *out, const vls_memory_item *row, uint16_t count)
{
    uint16_t have = VLS_MIN(row->count, count);

    memcpy(out, row->cells, have * sizeof(*out));
    for (uint16_t i = have; i < count; i++)
        out[i] = (valise_cell){.type = VALISE_CELL_NULL};
}

/* ---- keys ---- */

void vls_memory_key_add(vls_buf *key, const valise_cell *cell)
{
    switch (cell->type) {
    case VALISE_CELL_INT:
        vls_order_add_int(key, cell->as.integer);
        break;
    case VALISE_CELL_REAL:
        vls_order_add_real(key, cell->as.real);
        break;
    case VALISE_CELL_TEXT:
        vls_order_add_text(key, cell->as.bytes);
        break;
    case VALISE_CELL_BLOB:
        vls_order_add_blob(key, cell->as.bytes);
        break;
    default:
        vls_order_add_null(key);
    }
}

/* The key of a row (of so many cells) in an order. */
static int make_key(vls_buf *key, const vls_table_order *order, const valise_cell *cells,
                    uint16_t count, valise_error *err)
{
    static const valise_cell null = {.type = VALISE_CELL_NULL};

    vls_buf_clear(key);
    for (uint16_t i = 0; i < order->count; i++) {
        uint16_t column = order->column[i];
        vls_memory_key_add(key, column < count ? &cells[column] : &null);
    }
    return vls_buf_check(key, err);
}

/* ---- tables ---- */

static size_t table_size(uint16_t map_count)
{
    return sizeof(vls_memory_table) + map_count * sizeof(vls_pmap);
}

vls_memory_table *vls_memory_table_new(const valise_env *env, uint16_t map_count)
{
    vls_memory_table *table = vls_mem_alloc(env, table_size(map_count));

    if (!table)
        return NULL;
    vls_ref_init(&table->refs);
    table->env = env;
    table->map_count = map_count;
    for (uint16_t i = 0; i < map_count; i++)
        vls_pmap_init(&table->maps[i], env, &item_ops);
    return table;
}

vls_memory_table *vls_memory_table_copy(const vls_memory_table *table)
{
    vls_memory_table *copy = vls_memory_table_new(table->env, table->map_count);

    for (uint16_t i = 0; copy && i < table->map_count; i++)
        vls_pmap_snapshot(&copy->maps[i], &table->maps[i]);
    return copy;
}

void vls_memory_table_unref(vls_memory_table *table)
{
    if (!table || !vls_ref_put(&table->refs))
        return;
    for (uint16_t i = 0; i < table->map_count; i++)
        vls_pmap_release(&table->maps[i]);
    vls_mem_free(table->env, table, table_size(table->map_count));
}

static inline void vls_auto_table(vls_memory_table **table)
{
    vls_memory_table_unref(*table);
}

static int fail_map(int code, valise_error *err)
{
    return vls_fail(err, code, "a table in memory: %s", valise_error_text(code));
}

/* Put the entry of row into index map `number`. */
static int put_entry(vls_memory_table *table, const vls_table_def *def, uint16_t number,
                     vls_buf *scratch, vls_memory_item *row, valise_error *err)
{
    int rc = make_key(scratch, &def->orders[number], row->cells, row->count, err);

    if (rc < 0)
        return rc;
    VLS_AUTO(item) vls_memory_item *entry = entry_new(table->env, vls_buf_str(scratch), row);
    if (!entry)
        return vls_fail_memory(err);
    rc = vls_pmap_put(NULL, &table->maps[number], entry);
    return rc < 0 ? fail_map(rc, err) : 0;
}

static int remove_entry(vls_memory_table *table, const vls_table_def *def, uint16_t number,
                        vls_buf *scratch, const vls_memory_item *row, valise_error *err)
{
    int rc = make_key(scratch, &def->orders[number], row->cells, row->count, err);

    if (rc < 0)
        return rc;
    rc = vls_pmap_remove(NULL, &table->maps[number], vls_buf_str(scratch));
    assert(rc != VALISE_E_NOT_FOUND);
    return rc < 0 ? fail_map(rc, err) : 0;
}

/* Where both rows have the same key in an index, putting the new entry replaces the old one. */
static bool same_order(const vls_table_order *order, const vls_memory_item *a,
                       const vls_memory_item *b)
{
    for (uint16_t i = 0; i < order->count; i++) {
        uint16_t column = order->column[i];
        if (column >= a->count || column >= b->count)
            return false;
        const valise_cell *x = &a->cells[column], *y = &b->cells[column];
        if (x->type != y->type)
            return false;
        bool same = x->type == VALISE_CELL_NULL  ? true
                    : x->type == VALISE_CELL_INT ? x->as.integer == y->as.integer
                    : is_bytes(x)                ? vls_str_equal(x->as.bytes, y->as.bytes)
                                                 : memcmp(&x->as, &y->as, sizeof(double)) == 0;
        if (!same)
            return false;
    }
    return true;
}

static int replace_entries(vls_memory_table *table, const vls_table_def *def, vls_buf *scratch,
                           const vls_memory_item *old, vls_memory_item *row, valise_error *err)
{
    for (uint16_t i = 1; i < table->map_count; i++) {
        int rc = 0;
        if (old && !same_order(&def->orders[i], old, row))
            rc = remove_entry(table, def, i, scratch, old, err);
        if (rc == 0)
            rc = put_entry(table, def, i, scratch, row, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int vls_memory_table_put(bool *half, vls_memory_table *table, const vls_table_def *def,
                         vls_buf *scratch, const valise_cell *cells, valise_error *err)
{
    uint16_t count = def->table->column_count;
    int rc = make_key(scratch, &def->orders[0], cells, count, err);

    if (rc < 0)
        return rc;
    VLS_AUTO(item) vls_memory_item *row = row_new(table->env, vls_buf_str(scratch), cells, count);
    if (!row)
        return vls_fail_memory(err);
    if (table->map_count > 1) {
        vls_memory_item *old = vls_pmap_get(&table->maps[0], row->key);
        *half = true;
        rc = replace_entries(table, def, scratch, old, row, err);
        if (rc < 0)
            return rc;
    }
    rc = vls_pmap_put(NULL, &table->maps[0], row);
    if (rc < 0)
        return fail_map(rc, err);
    *half = false;
    return 0;
}

int vls_memory_table_del(bool *half, vls_memory_table *table, const vls_table_def *def,
                         vls_buf *scratch, const valise_cell *key, valise_error *err)
{
    int rc = make_key(scratch, &def->orders[0], key, def->table->key_count, err);

    if (rc < 0)
        return rc;
    VLS_AUTO(item) vls_memory_item *row = vls_pmap_get(&table->maps[0], vls_buf_str(scratch));
    if (!row)
        return 0;
    vls_ref_get(&row->refs); /* its key is needed until it is out of the map */
    *half = table->map_count > 1;
    for (uint16_t i = 1; i < table->map_count; i++) {
        rc = remove_entry(table, def, i, scratch, row, err);
        if (rc < 0)
            return rc;
    }
    rc = vls_pmap_remove(NULL, &table->maps[0], row->key);
    if (rc < 0)
        return fail_map(rc, err);
    *half = false;
    return 1;
}

int vls_memory_table_get(valise_cell *row, const vls_memory_table *table, const vls_table_def *def,
                         vls_buf *scratch, const valise_cell *key, valise_error *err)
{
    int rc = make_key(scratch, &def->orders[0], key, def->table->key_count, err);

    if (rc < 0)
        return rc;
    const vls_memory_item *item = vls_pmap_get(&table->maps[0], vls_buf_str(scratch));
    if (!item)
        return 0;
    vls_memory_cells(row, item, def->table->column_count);
    return 1;
}

int vls_memory_table_widen(vls_memory_table **out, const vls_memory_table *old,
                           const vls_table_def *def, vls_buf *scratch, valise_error *err)
{
    uint16_t map_count = (uint16_t)(def->table->index_count + 1);
    VLS_AUTO(table) vls_memory_table *table = vls_memory_table_new(old->env, map_count);
    vls_pmap_cursor cursor;

    if (!table)
        return vls_fail_memory(err);
    assert(old->map_count <= map_count);
    for (uint16_t i = 0; i < old->map_count; i++)
        vls_pmap_snapshot(&table->maps[i], &old->maps[i]);
    for (uint16_t i = old->map_count; i < map_count; i++) {
        vls_memory_item *row = vls_pmap_first(&cursor, &table->maps[0]);
        for (; row; row = vls_pmap_next(&cursor)) {
            int rc = put_entry(table, def, i, scratch, row, err);
            if (rc < 0)
                return rc;
        }
    }
    *out = VLS_TAKE(table);
    return 0;
}
