/* retention.c -- see retention.h. */
#include "store/retention.h"

#include "base/hex.h"
#include "base/str.h"
#include "store/own.h"

/* ---- how far ---- */

/* The bytes of an entry's cells. */
static int64_t size_of(const vls_coll *log, const valise_cell *cells)
{
    int64_t size = 0;

    for (uint16_t i = 0; i < log->table.column_count; i++) {
        if (cells[i].type == VALISE_CELL_TEXT || cells[i].type == VALISE_CELL_BLOB)
            size += (int64_t)cells[i].as.bytes.len;
        else
            size += 8;
    }
    return size;
}

/* The newest entry that does not fit when counting from the newest one of all; 0: all fit. */
static int bound_of_bytes(int64_t *bound, vls_txn *txn, int64_t most, valise_error *err)
{
    const vls_coll *log = vls_store_coll_at(txn->store, VLS_TABLE_LOG);
    valise_range range = {.index = -1, .flags = VALISE_SCAN_REVERSE};
    valise_cell cells[VALISE_MAX_COLUMNS];
    VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
    int64_t total = 0;
    int rc = vls_txn_scan_open(&scan, txn, log, range, err);

    *bound = 0;
    while (rc >= 0 && (rc = vls_txn_scan_next(cells, &scan, err)) > 0) {
        total += size_of(log, cells);
        if (total > most) {
            *bound = cells[0].as.integer;
            return 0;
        }
    }
    return rc;
}

int vls_log_bound(int64_t *bound, vls_txn *txn, const vls_log_limits *limits, int64_t now,
                  valise_error *err)
{
    int64_t most = txn->tip.seq - 1, at = 0;
    int64_t wanted = txn->tip.base_seq;
    int rc = 0;

    if (limits->pinned_seq != VALISE_NONE)
        most = VLS_MIN(most, limits->pinned_seq);
    if (limits->keep_latest != VALISE_NONE && txn->tip.seq - limits->keep_latest > wanted)
        wanted = txn->tip.seq - limits->keep_latest;
    if (limits->age_ns != VALISE_NONE) {
        rc = vls_log_at_time(&at, txn, now - limits->age_ns, err);
        wanted = VLS_MAX(wanted, at);
    }
    if (rc == 0 && limits->bytes != VALISE_NONE) {
        rc = bound_of_bytes(&at, txn, limits->bytes, err);
        wanted = VLS_MAX(wanted, at);
    }
    if (rc < 0)
        return rc;
    *bound = VLS_MAX(VLS_MIN(wanted, most), txn->tip.base_seq);
    return 0;
}

/* ---- letting go ---- */

/* The hash and the time of an entry that must be there. */
static int read_base(valise_id *hash, int64_t *time, vls_txn *txn, int64_t seq, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_entry entry;
    int rc;

    vls_arena_init(&arena, vls_store_env(txn->store), VLS_VIEW_MAX_BYTES);
    rc = vls_log_get(&entry, txn, seq, &arena, err);
    if (rc == 0)
        return vls_fail(err, VALISE_E_CORRUPT, "log entry %lld is missing", (long long)seq);
    if (rc > 0) {
        *hash = entry.hash;
        *time = entry.time;
    }
    return rc < 0 ? rc : 0;
}

int vls_log_expire(int64_t *removed, bool *more, vls_txn *txn, int64_t bound, int64_t max,
                   valise_error *err)
{
    int64_t first = txn->tip.base_seq + 1;
    int64_t last = bound - first >= max ? first + max - 1 : bound;
    valise_id hash;
    int64_t time;
    int rc;

    *removed = 0;
    *more = last < bound;
    if (last < first)
        return 0;
    assert(bound < txn->tip.seq);
    rc = read_base(&hash, &time, txn, last, err);
    for (int64_t seq = first; rc >= 0 && seq <= last; seq++)
        rc = vls_log_delete(txn, seq, err);
    if (rc >= 0)
        rc = vls_meta_put_int(txn, "base_seq", last, err);
    if (rc == 0)
        rc = vls_meta_put_str(txn, "base_hash", valise_str_of(vls_id_hex(&hash).s), err);
    if (rc == 0)
        rc = vls_meta_put_int(txn, "base_time", time, err);
    if (rc < 0)
        return rc;
    txn->tip.base_seq = last;
    txn->meta.base_time = time;
    *removed = last - first + 1;
    return 0;
}

int vls_gone_expire(int64_t *removed, valise_str *after, vls_txn *txn, int64_t max,
                    vls_arena *arena, valise_error *err)
{
    const vls_coll *coll = vls_store_coll_at(txn->store, VLS_TABLE_GONE);
    valise_cell cells[VALISE_MAX_COLUMNS], from[2];
    valise_range range = {.index = -1, .flags = VALISE_SCAN_AFTER, .from = from};
    VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
    VLS_AUTO(buf) vls_buf key = {0};
    int64_t looked = 0;
    int rc = 0;

    *removed = 0;
    vls_buf_init(&key, arena->env, VLS_VIEW_MAX_BYTES);
    if (after->len > 0) {
        range.from_count = coll->key_count;
        rc = vls_key_read(from, coll->key_count, *after, arena, err);
    }
    if (rc == 0)
        rc = vls_txn_scan_open(&scan, txn, coll, range, err);
    while (rc >= 0 && looked < max && (rc = vls_txn_scan_next(cells, &scan, err)) > 0) {
        looked++;
        vls_buf_clear(&key);
        vls_key_write(&key, cells, coll->key_count);
        if (cells[coll->key_count].as.integer > txn->tip.base_seq)
            continue;
        rc = vls_txn_del(txn, coll, cells, err);
        ++*removed;
    }
    if (rc >= 0)
        rc = vls_buf_check(&key, err);
    if (rc < 0)
        return rc;
    if (looked < max) {
        *after = (valise_str){NULL, 0};
        return 0;
    }
    return vls_arena_dup(after, arena, vls_buf_str(&key), err);
}
