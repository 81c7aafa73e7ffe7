/* memory_scan.c -- a walk over one map.
 *
 * A scan refers to the table as it was when the scan began; whatever is put or deleted meanwhile
 * happens to a copy. With P the cells of `equal` and F those of `equal` and `from` as keys:
 *
 *                    at F                                behind it (AFTER)
 *     forwards       first key >= F                      first key > all that start with F
 *     backwards      last that is <= F or starts so      last key < F
 *
 * and it goes on as long as keys start with P. Without `from` F is P and AFTER means nothing. */
#include "store/memory.h"

#include "base/mem.h"

typedef struct scan {
    vls_memory_txn *txn;
    const vls_table_def *def;
    vls_memory_table *table;
    const vls_pmap *map;
    bool reverse, started, done;
    void *first; /* the first item, found when the scan was opened */
    vls_pmap_cursor cursor;
    vls_buf key; /* F; its first prefix_len bytes are P */
    size_t prefix_len;
} scan;

static void scan_free(scan *s)
{
    vls_memory_table_unref(s->table);
    vls_buf_release(&s->key);
    vls_mem_free(s->txn->store->env, s, sizeof(*s));
}

static valise_str prefix_of(const scan *s)
{
    return vls_str(s->key.ptr, s->prefix_len);
}

static void *find_first(scan *s, bool after)
{
    valise_str from = vls_buf_str(&s->key);
    void *item;

    if (after != s->reverse)
        item = vls_pmap_seek_behind(&s->cursor, s->map, from);
    else
        item = vls_pmap_seek(&s->cursor, s->map, from);
    return s->reverse ? vls_pmap_prev(&s->cursor) : item;
}

int vls_memory_scan_open(void **out, vls_memory_txn *txn, const vls_table_def *def,
                         vls_memory_table *table, const valise_range *range, valise_error *err)
{
    const valise_env *env = txn->store->env;
    scan *s = vls_mem_zalloc(env, sizeof(*s));
    int rc;

    if (!s)
        return vls_fail_memory(err);
    s->txn = txn;
    s->def = def;
    s->table = table;
    vls_ref_get(&table->refs);
    s->map = &table->maps[range->index + 1];
    s->reverse = (range->flags & VALISE_SCAN_REVERSE) != 0;
    vls_buf_init(&s->key, env, SIZE_MAX / 2);
    for (uint16_t i = 0; i < range->equal_count; i++)
        vls_memory_key_add(&s->key, &range->equal[i]);
    s->prefix_len = s->key.len;
    for (uint16_t i = 0; i < range->from_count; i++)
        vls_memory_key_add(&s->key, &range->from[i]);
    rc = vls_buf_check(&s->key, err);
    if (rc < 0) {
        scan_free(s);
        return rc;
    }
    s->first = find_first(s, (range->flags & VALISE_SCAN_AFTER) && range->from_count > 0);
    txn->scans++;
    *out = s;
    return 0;
}

static vls_memory_item *step(scan *s)
{
    if (s->started)
        return s->reverse ? vls_pmap_prev(&s->cursor) : vls_pmap_next(&s->cursor);
    s->started = true;
    return s->first;
}

int vls_memory_scan_next(valise_cell *row, void *arg, valise_error *err)
{
    scan *s = arg;

    (void)err; /* nothing here can fail */
    if (s->done)
        return 0;
    const vls_memory_item *item = step(s);
    if (!item || !vls_str_starts(item->key, prefix_of(s))) {
        s->done = true;
        return 0;
    }
    vls_memory_cells(row, item->row ? item->row : item, s->def->table->column_count);
    return 1;
}

void vls_memory_scan_close(void *arg)
{
    scan *s = arg;

    if (!s)
        return;
    assert(s->txn->scans > 0);
    s->txn->scans--;
    scan_free(s);
}
