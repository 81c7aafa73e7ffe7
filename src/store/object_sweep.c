/* object_sweep.c -- objects and chunks go: what gc, erasure and validate need of them.
 *
 * Two rules make it safe to remove chunks beside writers. A number is never given again, so a
 * bitmap of numbers stays true: whoever removes the row with the highest number of all writes it
 * down as the floor for new ones. And writers believe what they remember about chunks only while
 * gc_epoch stays the same: every removal changes it. */
#include "base/mem.h"
#include "store/chunks.h"
#include "store/objects.h"
#include "store/own.h"

#define BITS_MAX_NUMBER (INT64_C(1) << 36)

/* ---- bitmaps ---- */

int vls_bits_set(vls_bits *bits, int64_t number, valise_error *err)
{
    size_t word = (size_t)number / 64;

    if (number < 0 || number >= BITS_MAX_NUMBER)
        return vls_fail(err, VALISE_E_LIMIT, "number %lld is too large to be marked",
                        (long long)number);
    if (word >= bits->word_count) {
        size_t count = vls_mem_grow(bits->word_count, word + 1, 64);
        uint64_t *words = vls_mem_resize(bits->env, bits->words, bits->word_count * sizeof(*words),
                                         count * sizeof(*words));
        if (!words)
            return vls_fail_memory(err);
        memset(words + bits->word_count, 0, (count - bits->word_count) * sizeof(*words));
        bits->words = words;
        bits->word_count = count;
    }
    bits->words[word] |= UINT64_C(1) << (number & 63);
    return 0;
}

bool vls_bits_get(const vls_bits *bits, int64_t number)
{
    size_t word = (size_t)number / 64;

    return number >= 0 && word < bits->word_count && (bits->words[word] >> (number & 63) & 1);
}

void vls_bits_release(vls_bits *bits)
{
    vls_mem_free(bits->env, bits->words, bits->word_count * sizeof(*bits->words));
    *bits = (vls_bits){.env = bits->env};
}

/* ---- objects ---- */

int vls_object_each(vls_txn *txn, int64_t from, vls_object_fn *fn, void *arg, valise_error *err)
{
    VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
    valise_cell start = vls_int_cell(from), row[VALISE_MAX_COLUMNS];
    vls_object_info info;
    int rc = vls_txn_scan_open(&scan, txn, vls_objects_of(txn),
                               (valise_range){.index = -1, .from = &start, .from_count = 1}, err);

    while (rc == 0 && (rc = vls_txn_scan_next(row, &scan, err)) == 1) {
        rc = vls_object_of_row(&info, txn, row, err);
        if (rc == 0)
            rc = fn(arg, &info, err);
    }
    return rc;
}

int vls_object_erase(vls_txn *txn, const valise_id *id, valise_error *err)
{
    vls_object_info info;
    valise_cell row[VALISE_MAX_COLUMNS], key;
    int rc = vls_object_stat(&info, txn, id, err);

    if (rc != 1)
        return rc;
    key = vls_int_cell(info.number);
    rc = vls_txn_get(row, txn, vls_objects_of(txn), &key, err);
    if (rc != 1)
        return rc;
    row[VLS_OBJECT_RECIPE] = row[VLS_OBJECT_BODY] = (valise_cell){.type = VALISE_CELL_NULL};
    rc = vls_txn_put(txn, vls_objects_of(txn), row, 0, err);
    return rc < 0 ? rc : 1;
}

int vls_object_delete(vls_txn *txn, int64_t number, valise_error *err)
{
    valise_cell key = vls_int_cell(number);
    int rc = vls_chunks_keep_number(txn, VLS_TABLE_OBJECT, number, err);

    if (rc == 0)
        rc = vls_txn_del(txn, vls_objects_of(txn), &key, err);
    return rc < 0 ? rc : 0;
}

/* ---- chunks ---- */

static int mark_runs(vls_bits *bits, vls_recipe_reader recipe, int64_t last, valise_error *err)
{
    int64_t first, count;
    int rc;

    while ((rc = vls_recipe_next(&first, &count, &recipe, err)) == 1) {
        if (first + count - 1 > last)
            return vls_fail(err, VALISE_E_CORRUPT, "chunk %lld is missing",
                            (long long)(first + count - 1));
        for (int64_t i = 0; i < count; i++) {
            rc = vls_bits_set(bits, first + i, err);
            if (rc < 0)
                return rc;
        }
    }
    return rc;
}

int vls_object_mark_chunks(vls_bits *bits, vls_txn *txn, int64_t number, valise_error *err)
{
    VLS_AUTO(buf) vls_buf copy = {0}, room = {0};
    valise_cell key = vls_int_cell(number), row[VALISE_MAX_COLUMNS];
    vls_recipe_reader outer = {0}, inner = {0};
    int64_t last = 0;
    int rc = vls_txn_get(row, txn, vls_objects_of(txn), &key, err);

    if (rc != 1)
        return rc;
    if (row[VLS_OBJECT_RECIPE].type != VALISE_CELL_BLOB)
        return 0;
    vls_buf_init(&copy, vls_store_env(txn->store), VLS_OBJECT_MAX);
    vls_buf_init(&room, vls_store_env(txn->store), VLS_OBJECT_MAX);
    vls_buf_add(&copy, row[VLS_OBJECT_RECIPE].as.bytes);
    rc = vls_buf_check(&copy, err);
    if (rc == 0)
        rc = vls_chunk_last(&last, txn, err);
    if (rc == 0)
        rc = vls_recipe_open(&outer, vls_buf_str(&copy), err);
    if (rc == 0)
        rc = mark_runs(bits, outer, last, err);
    if (rc < 0 || outer.depth == 1)
        return rc;
    rc = vls_object_inner_recipe(&inner, &room, txn, &outer, err);
    return rc < 0 ? rc : mark_runs(bits, inner, last, err);
}

/* From now on nobody believes what was remembered before. */
static int next_epoch(vls_txn *txn, valise_error *err)
{
    int64_t epoch = 0;
    int rc = vls_meta_get_int(&epoch, txn, "gc_epoch", err);

    vls_chunks_forget(vls_store_chunks(txn->store));
    if (rc < 0 || epoch != txn->meta.gc_epoch)
        return rc < 0 ? rc : 0; /* once in a transaction is enough */
    return vls_meta_put_int(txn, "gc_epoch", epoch + 1, err);
}

typedef struct sweep {
    vls_txn *txn;
    const vls_coll *chunks;
    const vls_bits *keep;
    int64_t removed, bytes;
} sweep;

static int sweep_row(sweep *s, const valise_cell *row, valise_error *err)
{
    int64_t number = row[VLS_CHUNK_NUMBER].as.integer;
    valise_cell key = vls_int_cell(number);
    int rc;

    if (vls_bits_get(s->keep, number))
        return 0;
    if (row[VLS_CHUNK_BODY].type == VALISE_CELL_BLOB)
        s->bytes += (int64_t)row[VLS_CHUNK_BODY].as.bytes.len;
    rc = vls_chunks_keep_number(s->txn, VLS_TABLE_CHUNK, number, err);
    if (rc == 0)
        rc = vls_txn_del(s->txn, s->chunks, &key, err);
    s->removed += rc == 1;
    return rc < 0 ? rc : 0;
}

int vls_chunk_sweep(int64_t *removed, int64_t *bytes, vls_txn *txn, const vls_bits *keep,
                    int64_t from, int64_t to, valise_error *err)
{
    VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
    sweep s = {.txn = txn, .keep = keep};
    valise_cell start = vls_int_cell(from), row[VALISE_MAX_COLUMNS];
    int rc;

    s.chunks = vls_store_coll_at(txn->store, VLS_TABLE_CHUNK);
    rc = vls_txn_scan_open(&scan, txn, s.chunks,
                           (valise_range){.index = -1, .from = &start, .from_count = 1}, err);
    scan.unchecked = true; /* nobody needs what goes */
    while (rc == 0 && (rc = vls_txn_scan_next(row, &scan, err)) == 1) {
        if (row[VLS_CHUNK_NUMBER].as.integer >= to) {
            rc = 0;
            break;
        }
        rc = sweep_row(&s, row, err);
    }
    vls_txn_scan_close(&scan);
    if (rc == 0 && s.removed > 0)
        rc = next_epoch(txn, err);
    if (rc < 0)
        return rc;
    *removed = s.removed;
    *bytes = s.bytes;
    return 0;
}
