/* log.c -- the log: append, read, verify. The rules of the chain are in log.h. */
#include "store/log.h"

#include "base/bytes.h"
#include "base/hex.h"
#include "base/str.h"
#include "store/own.h"

/* ---- the chain ---- */

void vls_log_commitment(valise_id *out, valise_str nonce, valise_str payload)
{
    vls_hasher hasher;

    vls_hash_begin_tagged(&hasher, "valise.payload.1");
    vls_hash_field(&hasher, nonce);
    vls_hash_field(&hasher, payload);
    vls_hash_end(out, &hasher);
}

static bool is_zero(const void *bytes, size_t len)
{
    static const uint8_t zero[32] = {0};

    assert(len <= sizeof(zero));
    return memcmp(bytes, zero, len) == 0;
}

static void hash_entry(valise_id *out, const vls_entry *entry, const valise_id *previous)
{
    vls_hasher hasher;

    vls_hash_begin_tagged(&hasher, "valise.entry.1");
    vls_hash_field_id(&hasher, previous);
    vls_hash_field_u64(&hasher, (uint64_t)entry->seq);
    vls_hash_field(&hasher, vls_str(entry->id.bytes, sizeof(entry->id.bytes)));
    vls_hash_field_u64(&hasher, (uint64_t)entry->time);
    vls_hash_field(&hasher, entry->actor);
    if (is_zero(&entry->cause, sizeof(entry->cause)))
        vls_hash_field_none(&hasher);
    else
        vls_hash_field(&hasher, vls_str(entry->cause.bytes, sizeof(entry->cause.bytes)));
    vls_hash_field(&hasher, entry->type);
    vls_hash_field_id(&hasher, &entry->commitment);
    vls_hash_end(out, &hasher);
}

static int check_payload(const vls_entry *entry, valise_error *err)
{
    valise_id actual;

    vls_log_commitment(&actual, entry->nonce, entry->payload);
    if (!vls_id_equal(&actual, &entry->commitment))
        return vls_fail(err, VALISE_E_CORRUPT,
                        "the payload of log entry %lld is not the one that was logged",
                        (long long)entry->seq);
    return 0;
}

int vls_log_verify(bool *unverifiable, const vls_entry *entry, const valise_id *previous,
                   valise_error *err)
{
    bool erased = !entry->payload.ptr || !entry->nonce.ptr;
    valise_id actual;

    hash_entry(&actual, entry, previous);
    if (!vls_id_equal(&actual, &entry->hash))
        return vls_fail(err, VALISE_E_CORRUPT,
                        "log entry %lld does not follow from the one before it",
                        (long long)entry->seq);
    if (!erased) {
        int rc = check_payload(entry, err);
        if (rc < 0)
            return rc;
    }
    *unverifiable = erased;
    return 0;
}

/* ---- writing ---- */

int vls_log_append(vls_txn *txn, vls_entry *entry, valise_error *err)
{
    const valise_id *previous = txn->tip.seq > 0 ? &txn->tip.hash : NULL;
    int rc;

    assert(entry->seq == txn->tip.seq + 1 && entry->time >= txn->tip.time);
    entry->id8 = vls_own_first8(entry->id.bytes);
    vls_log_commitment(&entry->commitment, entry->nonce, entry->payload);
    hash_entry(&entry->hash, entry, previous);
    rc = vls_own_put(txn, VLS_TABLE_LOG, entry, err);
    if (rc < 0)
        return rc;
    txn->tip.seq = entry->seq;
    txn->tip.time = entry->time;
    txn->tip.hash = entry->hash;
    return 0;
}

int vls_log_rewrite(vls_txn *txn, const vls_entry *entry, valise_error *err)
{
    return vls_own_put(txn, VLS_TABLE_LOG, entry, err);
}

int vls_log_delete(vls_txn *txn, int64_t seq, valise_error *err)
{
    vls_entry entry = {.seq = seq};

    return vls_own_del(txn, VLS_TABLE_LOG, &entry, err);
}

/* ---- reading ---- */

int vls_log_get(vls_entry *out, vls_txn *txn, int64_t seq, vls_arena *arena, valise_error *err)
{
    vls_entry entry = {.seq = seq};
    int rc = vls_own_get(&entry, txn, VLS_TABLE_LOG, arena, err);

    if (rc > 0)
        *out = entry;
    return rc;
}

static int decode_entry(vls_entry *out, const vls_coll *log, const valise_cell *cells,
                        vls_arena *arena, valise_error *err)
{
    return vls_row_from_cells(out, log->desc->fields, sizeof(*out), cells, log->field_count, arena,
                              err);
}

int vls_log_find(vls_entry *out, vls_txn *txn, const valise_uuid *id, vls_arena *arena,
                 valise_error *err)
{
    const vls_coll *log = vls_store_coll_at(txn->store, VLS_TABLE_LOG);
    valise_cell id8 = {.type = VALISE_CELL_INT, .as.integer = vls_own_first8(id->bytes)};
    valise_range range = {.index = vls_coll_index(log, "id8"), .equal = &id8, .equal_count = 1};
    valise_cell cells[VALISE_MAX_COLUMNS];
    VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
    vls_entry entry;
    int rc = vls_txn_scan_open(&scan, txn, log, range, err);

    while (rc >= 0 && (rc = vls_txn_scan_next(cells, &scan, err)) > 0) {
        vls_arena_mark mark = vls_arena_here(arena);
        rc = decode_entry(&entry, log, cells, arena, err);
        if (rc < 0)
            return rc;
        if (memcmp(&entry.id, id, sizeof(*id)) == 0) {
            *out = entry;
            return 1;
        }
        vls_arena_rewind(arena, mark);
    }
    return rc;
}

int vls_log_scan_open(vls_log_scan *out, vls_txn *txn, int64_t from, bool reverse,
                      valise_error *err)
{
    const vls_coll *log = vls_store_coll_at(txn->store, VLS_TABLE_LOG);
    valise_cell at = {.type = VALISE_CELL_INT, .as.integer = from};
    valise_range range = {
        .index = -1, .flags = reverse ? VALISE_SCAN_REVERSE : 0, .from = &at, .from_count = 1};

    return vls_txn_scan_open(&out->scan, txn, log, range, err);
}

int vls_log_scan_next(vls_entry *out, vls_log_scan *scan, vls_arena *arena, valise_error *err)
{
    valise_cell cells[VALISE_MAX_COLUMNS];
    int rc = vls_txn_scan_next(cells, &scan->scan, err);

    if (rc <= 0)
        return rc;
    rc = decode_entry(out, scan->scan.coll, cells, arena, err);
    return rc < 0 ? rc : 1;
}

void vls_log_scan_close(vls_log_scan *scan)
{
    vls_txn_scan_close(&scan->scan);
}

/* ---- by time ---- */

/* The time of an entry that must be there. */
static int time_of(int64_t *out, vls_txn *txn, int64_t seq, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_entry entry;
    int rc;

    vls_arena_init(&arena, vls_store_env(txn->store), VLS_CHANGES_MAX * 8);
    rc = vls_log_get(&entry, txn, seq, &arena, err);
    if (rc == 0)
        return vls_fail(err, VALISE_E_CORRUPT, "log entry %lld is missing", (long long)seq);
    if (rc > 0)
        *out = entry.time;
    return rc < 0 ? rc : 0;
}

int vls_log_at_time(int64_t *seq, vls_txn *txn, int64_t time, valise_error *err)
{
    int64_t base = txn->tip.base_seq, low = base, high = txn->tip.seq;

    /* Times never decrease: low's is at or before `time` (or low is before the first entry), and
     * high + 1's is after it. */
    while (low < high) {
        int64_t middle = low + (high - low + 1) / 2, at = 0;
        int rc = time_of(&at, txn, middle, err);
        if (rc < 0)
            return rc;
        if (at <= time)
            low = middle;
        else
            high = middle - 1;
    }
    /* What was between the base and the first entry is known only from the base's time on. */
    if (low == base && base > 0 && (txn->meta.base_time == 0 || time < txn->meta.base_time))
        low--;
    *seq = low;
    return 0;
}

/* ---- changes ---- */

void vls_changes_write(vls_buf *out, const vls_image *image)
{
    vls_bytes_add_varint(out, image->coll);
    vls_bytes_add_string(out, image->key);
    vls_bytes_add_varint(out, (uint64_t)image->from_seq);
    if (image->from_seq == 0) {
        vls_bytes_add_varint(out, (uint64_t)image->gone_seq);
    } else {
        vls_bytes_add_string(out, image->cells);
    }
}

int vls_image_cells(valise_cell *cells, const vls_coll *coll, const vls_image *image,
                    valise_error *err)
{
    size_t count;

    for (uint16_t i = 0; i < coll->field_count; i++)
        cells[i] = (valise_cell){.type = VALISE_CELL_NULL};
    return vls_cells_read(cells, &count, coll->field_count, image->cells, err);
}

int vls_changes_next(vls_image *out, size_t *at, valise_str changes, valise_error *err)
{
    vls_reader reader = vls_reader_of(vls_str_from(changes, *at));
    vls_image image = {0};
    uint64_t coll, number;

    if (*at >= changes.len)
        return 0;
    coll = vls_reader_varint(&reader);
    image.coll = (uint32_t)coll;
    image.key = vls_reader_string(&reader);
    number = vls_reader_varint(&reader);
    image.from_seq = (int64_t)number;
    if (number == 0)
        image.gone_seq = (int64_t)vls_reader_varint(&reader);
    else
        image.cells = vls_reader_string(&reader);
    if (reader.failed || coll >= VLS_COLL_MAX || image.from_seq < 0 || image.gone_seq < 0)
        return vls_fail_at(err, VALISE_E_CORRUPT, *at, "the changes of a log entry are damaged");
    *at = changes.len - vls_reader_left(&reader);
    *out = image;
    return 1;
}
