/* txn.c -- transactions: rows go in with a sum and are checked against it when they come out.
 *
 * What a writer remembers (the tip of the log, chunks) is true only while nobody else has written
 * and only if its own commit went well. A commit ends the backend's write lock before it returns,
 * so the next writer may have begun before this one knows how it ended: `settle` is held from
 * before a commit until what follows from its outcome is written down, and every writer that has
 * begun passes through it. */
#include "base/hex.h"
#include "store/chunks.h"
#include "store/impl.h"

#define ROW_BYTES_MAX ((size_t)1 << 30) /* of an encoded row */

/* ---- begin ---- */

int vls_txn_begin_bare(vls_txn *out, vls_store *store, int mode, valise_error *err)
{
    vls_txn txn = {.store = store, .write = mode != VALISE_TXN_READ};
    int rc;

    if (txn.write && vls_store_read_only(store))
        return vls_fail(err, VALISE_E_DENIED, "the workspace was opened for reading only");
    if (txn.write && store->damage.code < 0) {
        if (err)
            *err = store->damage;
        return store->damage.code;
    }
    rc = store->ops.begin(&txn.backend, store->backend, mode, err);
    if (rc < 0)
        return rc;
    vls_buf_init(&txn.scratch, store->env, ROW_BYTES_MAX);
    *out = txn;
    return 0;
}

static int read_meta(vls_txn *txn, valise_error *err)
{
    vls_store *store = txn->store;
    int64_t generation;
    int rc = vls_meta_generation(&generation, txn, err);

    if (rc < 0)
        return rc;
    pthread_mutex_lock(&store->lock);
    txn->meta = store->meta;
    pthread_mutex_unlock(&store->lock);
    if (txn->meta.generation == generation && generation > 0)
        return 0;
    rc = vls_meta_read_state(&txn->meta, txn, err);
    if (rc < 0)
        return rc;
    pthread_mutex_lock(&store->lock);
    store->meta = txn->meta;
    pthread_mutex_unlock(&store->lock);
    return 0;
}

static int check_meta(const vls_txn *txn, valise_error *err)
{
    const vls_store *store = txn->store;
    int rc = 0;

    if (txn->meta.format != store->format)
        rc = vls_fail(err, VALISE_E_UNSUPPORTED,
                      "another program has migrated the store from format %lld to %lld",
                      (long long)store->format, (long long)txn->meta.format);
    else if (txn->meta.schema != store->schema)
        rc = vls_fail(err, VALISE_E_UNSUPPORTED,
                      "another program has added fields to the collections of the store");
    if (rc < 0)
        vls_hint(err,
                 "open the workspace again, with a version of the program that is at least as new");
    return rc;
}

/* The last entry of the log, or what is left of those that expired. */
static int read_tip(vls_tip *out, vls_txn *txn, valise_error *err)
{
    VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
    valise_cell row[VALISE_MAX_COLUMNS];
    vls_tip tip = {.seq = txn->meta.base_seq,
                   .time = txn->meta.base_time,
                   .hash = txn->meta.base_hash,
                   .base_seq = txn->meta.base_seq};
    const vls_coll *log = vls_store_coll_at(txn->store, VLS_TABLE_LOG);
    int rc = vls_txn_scan_open(&scan, txn, log,
                               (valise_range){.index = -1, .flags = VALISE_SCAN_REVERSE}, err);

    if (rc < 0)
        return rc;
    rc = vls_txn_scan_next(row, &scan, err);
    if (rc < 0)
        return rc;
    if (rc == 1) {
        const valise_cell *hash = &row[VLS_LOG_HASH];
        if (hash->type != VALISE_CELL_BLOB || hash->as.bytes.len != sizeof(tip.hash))
            return vls_fail(err, VALISE_E_CORRUPT, "%s has no hash", vls_coll_place(log, row).s);
        memcpy(&tip.hash, hash->as.bytes.ptr, sizeof(tip.hash));
        tip.seq = row[VLS_LOG_SEQ].as.integer;
        tip.time = row[VLS_LOG_TIME].as.integer;
    }
    *out = tip;
    return 0;
}

/* The write lock is ours: is what the last writer of this handle knew still true? */
static int look_around(vls_txn *txn, valise_error *err)
{
    vls_store *store = txn->store;
    int rc = store->ops.changed(&txn->changed, txn->backend, err);

    if (rc < 0)
        return rc;
    pthread_mutex_lock(&store->settle);
    pthread_mutex_unlock(&store->settle);
    if (txn->changed)
        vls_cache_clear(store->cache);
    txn->cache = store->cache;
    return 0;
}

static int begin_write(vls_txn *txn, valise_error *err)
{
    vls_store *store = txn->store;
    int rc = 0;

    if (txn->changed || !store->tip_known || store->tip.base_seq != txn->meta.base_seq) {
        store->tip_known = false;
        rc = read_tip(&store->tip, txn, err);
        store->tip_known = rc == 0;
    }
    if (rc < 0)
        return rc;
    txn->tip = store->tip;
    vls_chunks_begin(store->chunks, txn);
    return 0;
}

int vls_txn_begin(vls_txn *out, vls_store *store, int mode, valise_error *err)
{
    vls_txn txn = {0};
    int rc = vls_txn_begin_bare(&txn, store, mode, err);

    if (rc < 0)
        return rc;
    if (txn.write)
        rc = look_around(&txn, err);
    if (rc == 0)
        rc = read_meta(&txn, err);
    if (rc == 0)
        rc = check_meta(&txn, err);
    if (rc == 0)
        rc = txn.write ? begin_write(&txn, err) : read_tip(&txn.tip, &txn, err);
    if (rc < 0) {
        if (txn.cache)
            vls_cache_clear(txn.cache);
        store->ops.rollback(txn.backend);
        vls_buf_release(&txn.scratch);
        if (rc == VALISE_E_CORRUPT && store->damage.code < 0 && err)
            *err = store->damage; /* that is why */
        return rc;
    }
    *out = txn;
    return 0;
}

int vls_txn_check_complete(const vls_txn *txn, valise_error *err)
{
    int rc;

    if (txn->meta.coll_count == (int64_t)vls_store_coll_count(txn->store))
        return 0;
    rc = vls_fail(err, VALISE_E_UNSUPPORTED,
                  "another program has added a collection since the store was opened");
    vls_hint(err, "open the workspace again");
    return rc;
}

/* ---- end ---- */

static void over(vls_txn *txn)
{
    txn->backend = NULL;
    vls_buf_release(&txn->scratch);
}

int vls_txn_commit(vls_txn *txn, valise_error *err)
{
    vls_store *store = txn->store;
    int rc;

    assert(txn->backend);
    if (!txn->write) {
        rc = store->ops.commit(txn->backend, err);
        over(txn);
        return rc;
    }
    pthread_mutex_lock(&store->settle);
    rc = store->ops.commit(txn->backend, err);
    store->tip = txn->tip;
    store->tip_known = rc == 0;
    vls_chunks_end(store->chunks, rc == 0);
    if (rc < 0)
        vls_cache_clear(store->cache);
    pthread_mutex_unlock(&store->settle);
    over(txn);
    return rc;
}

void vls_txn_rollback(vls_txn *txn)
{
    if (!txn->backend)
        return;
    if (txn->write)
        vls_chunks_end(txn->store->chunks, false);
    if (txn->cache)
        vls_cache_clear(txn->cache);
    txn->store->ops.rollback(txn->backend);
    over(txn);
}

int vls_txn_mark(vls_txn *txn, int what, valise_error *err)
{
    vls_store *store = txn->store;
    int rc = vls_chunks_mark(store->chunks, what, err);

    if (rc < 0)
        return rc;
    if (what == VALISE_MARK_BACK) {
        txn->meta_changed = false; /* the new generation may be undone */
        vls_cache_clear(store->cache);
    }
    rc = store->ops.mark(txn->backend, what, err);
    if (rc < 0 && what == VALISE_MARK_SET)
        vls_chunks_mark(store->chunks, VALISE_MARK_RELEASE, NULL);
    return rc;
}

/* ---- sums ---- */

/* XXH3 over from_seq and the fields up to the last one that is not NULL. */
static int row_sum(int64_t *out, vls_txn *txn, const vls_coll *coll, const valise_cell *row,
                   valise_error *err)
{
    valise_cell parts[VALISE_MAX_COLUMNS];
    size_t fields = coll->field_count, count = 0;

    while (fields > 0 && row[fields - 1].type == VALISE_CELL_NULL)
        fields--;
    if (!coll->own)
        parts[count++] = row[vls_coll_seq_column(coll)];
    memcpy(parts + count, row, fields * sizeof(*row));
    return vls_cells_sum(out, parts, count + fields, &txn->scratch, err);
}

int vls_txn_check_row(vls_txn *txn, const vls_coll *coll, const valise_cell *row, valise_error *err)
{
    const valise_cell *stored = &row[vls_coll_sum_column(coll)];
    int64_t sum;
    int rc = row_sum(&sum, txn, coll, row, err);

    if (rc < 0)
        return rc;
    if (VLS_LIKELY(stored->type == VALISE_CELL_INT && stored->as.integer == sum))
        return 0;
    rc = vls_fail(err, VALISE_E_CORRUPT, "%s does not match its checksum",
                  vls_coll_place(coll, row).s);
    vls_hint(err, "'valise validate' looks for further damage");
    return rc;
}

/* ---- rows ---- */

/* From the order of the table to that of coll.h, in place; and back. */
static void to_row(valise_cell *row, const vls_coll *coll)
{
    valise_cell extra[2];
    size_t count = (size_t)(coll->table.column_count - coll->field_count);
    size_t later = (size_t)(coll->field_count - coll->first_count);

    if (VLS_LIKELY(later == 0))
        return;
    memcpy(extra, row + coll->first_count, count * sizeof(*row));
    memmove(row + coll->first_count, row + coll->first_count + count, later * sizeof(*row));
    memcpy(row + coll->field_count, extra, count * sizeof(*row));
}

static void to_table(valise_cell *row, const vls_coll *coll)
{
    valise_cell extra[2];
    size_t count = (size_t)(coll->table.column_count - coll->field_count);
    size_t later = (size_t)(coll->field_count - coll->first_count);

    if (VLS_LIKELY(later == 0))
        return;
    memcpy(extra, row + coll->field_count, count * sizeof(*row));
    memmove(row + coll->first_count + count, row + coll->first_count, later * sizeof(*row));
    memcpy(row + coll->first_count, extra, count * sizeof(*row));
}

static bool is_cached(const vls_txn *txn, const vls_coll *coll)
{
    return txn->cache && vls_cache_takes(coll);
}

/* 1 and the row, 0 when there is none, -1 when it must be asked for. */
static int recall(valise_cell *row, const vls_txn *txn, const vls_coll *coll,
                  const valise_cell *key)
{
    return is_cached(txn, coll) ? vls_cache_get(row, txn->cache, coll, key) : -1;
}

/* What is under the key from now on; row NULL: nothing. */
static void remember(const vls_txn *txn, const vls_coll *coll, const valise_cell *key,
                     const valise_cell *row)
{
    if (is_cached(txn, coll))
        vls_cache_write(txn->cache, coll, key, row);
}

/* Nobody knows what a call that failed has done. */
static int forget(int rc, vls_txn *txn)
{
    if (rc < 0 && txn->cache)
        vls_cache_clear(txn->cache);
    return rc;
}

int vls_txn_get(valise_cell *row, vls_txn *txn, const vls_coll *coll, const valise_cell *key,
                valise_error *err)
{
    int found, rc = 0;

    assert(txn->backend);
    if (coll->missing)
        return 0;
    found = recall(row, txn, coll, key);
    if (found >= 0)
        return found;
    found = txn->store->ops.get(row, txn->backend, coll->number, key, err);
    if (found < 0)
        return found;
    if (found == 1) {
        to_row(row, coll);
        rc = vls_txn_check_row(txn, coll, row, err);
    }
    if (rc < 0)
        return rc;
    if (is_cached(txn, coll))
        vls_cache_put(txn->cache, coll, key, found == 1 ? row : NULL);
    return found;
}

int vls_txn_count(uint64_t *total, vls_txn *txn, const vls_coll *coll, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    int64_t rows = 0;
    int rc = 0;

    if (!coll->missing && txn->store->ops.count)
        rc = txn->store->ops.count(&rows, txn->backend, coll->number, &why);
    if (rc == 0)
        *total += (uint64_t)VLS_MAX(rows, 0);
    if (rc == VALISE_E_CORRUPT) /* for who reads the rows to say */
        rc = 0;
    if (rc < 0 && err)
        *err = why;
    return rc;
}

int vls_txn_last(valise_cell *row, vls_txn *txn, const vls_coll *coll, int32_t index,
                 const valise_cell *equal, uint16_t count, vls_arena *arena, valise_error *err)
{
    VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
    const valise_range range = {
        .index = index, .flags = VALISE_SCAN_REVERSE, .equal = equal, .equal_count = count};
    valise_cell *copy = NULL;
    int rc, found = is_cached(txn, coll)
                        ? vls_cache_last(row, txn->cache, coll, index, equal, count)
                        : -1;

    if (found >= 0)
        return found;
    rc = vls_txn_scan_open(&scan, txn, coll, range, err);
    if (rc < 0)
        return rc;
    found = vls_txn_scan_next(row, &scan, err);
    if (found > 0)
        rc = vls_cells_copy(&copy, row, coll->table.column_count, arena, err);
    if (found < 0 || rc < 0)
        return found < 0 ? found : rc;
    if (is_cached(txn, coll))
        vls_cache_put_last(txn->cache, coll, index, equal, count, copy);
    if (copy)
        memcpy(row, copy, coll->table.column_count * sizeof(*row));
    return found;
}

static int check_writable(const vls_coll *coll, valise_error *err)
{
    int rc;

    if (VLS_LIKELY(!coll->foreign))
        return 0;
    rc = vls_fail(err, VALISE_E_DENIED, "collection %s belongs to an extension that is not loaded",
                  coll->desc->name);
    vls_hint(err, "load the extension that defines it");
    return rc;
}

int vls_txn_put(vls_txn *txn, const vls_coll *coll, const valise_cell *fields, int64_t from_seq,
                valise_error *err)
{
    valise_cell row[VALISE_MAX_COLUMNS];
    valise_cell sum = {.type = VALISE_CELL_INT};
    int rc = check_writable(coll, err);

    assert(txn->backend && txn->write);
    if (rc < 0)
        return rc;
    memcpy(row, fields, coll->field_count * sizeof(*row));
    if (!coll->own)
        row[vls_coll_seq_column(coll)] =
            (valise_cell){.type = VALISE_CELL_INT, .as.integer = from_seq};
    rc = row_sum(&sum.as.integer, txn, coll, row, err);
    if (rc < 0)
        return rc;
    row[vls_coll_sum_column(coll)] = sum;
    remember(txn, coll, row, row);
    to_table(row, coll);
    return forget(txn->store->ops.put(txn->backend, coll->number, row, err), txn);
}

int vls_txn_del(vls_txn *txn, const vls_coll *coll, const valise_cell *key, valise_error *err)
{
    int rc = check_writable(coll, err);

    assert(txn->backend && txn->write);
    if (rc < 0)
        return rc;
    /* The key may lie in the cache: it is needed before what it names is forgotten. */
    int found = forget(txn->store->ops.del(txn->backend, coll->number, key, err), txn);
    if (found >= 0)
        remember(txn, coll, key, NULL);
    return found;
}

/* ---- scans ---- */

int vls_txn_scan_open(vls_txn_scan *out, vls_txn *txn, const vls_coll *coll, valise_range range,
                      valise_error *err)
{
    vls_txn_scan scan = {.txn = txn, .coll = coll};
    int rc = 0;

    assert(txn->backend);
    range.table = coll->number;
    if (!coll->missing)
        rc = txn->store->ops.scan_open(&scan.backend, txn->backend, &range, err);
    if (rc == 0)
        *out = scan;
    return rc;
}

int vls_txn_scan_next(valise_cell *row, vls_txn_scan *scan, valise_error *err)
{
    int rc;

    if (!scan->backend)
        return 0;
    rc = scan->txn->store->ops.scan_next(row, scan->backend, err);
    if (rc != 1)
        return rc;
    to_row(row, scan->coll);
    rc = scan->unchecked ? 0 : vls_txn_check_row(scan->txn, scan->coll, row, err);
    return rc < 0 ? rc : 1;
}

void vls_txn_scan_close(vls_txn_scan *scan)
{
    if (scan->backend)
        scan->txn->store->ops.scan_close(scan->backend);
    scan->backend = NULL;
}
