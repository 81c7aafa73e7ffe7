/* chunks.c -- chunks of large objects: one row for equal bytes, and the memory of where they are.
 *
 * A chunk that is not remembered is looked for by its h8 (XXH3, stable) and compared byte for byte.
 * Somebody who makes many chunks collide makes copies of them, not a slow store: only the first few
 * rows of an h8 are looked at. */
#include "store/chunks.h"

#include "base/fast_hash.h"
#include "base/mem.h"
#include "base/vec.h"
#include "store/impl.h"
#include "store/object.h"

#define BUCKETS 16384u /* a power of two */
#define WAYS 4u
#define SLOTS ((size_t)BUCKETS * WAYS)
#define CANDIDATES 8u /* rows of one h8 that are compared */

typedef struct slot {
    vls_hash128 hash;
    int64_t number; /* 0: empty */
} slot;

/* The last ones that were given. */
typedef struct numbers {
    bool known;
    int64_t chunk, object;
} numbers;

struct vls_chunks {
    const valise_env *env;
    vls_fast_key key;
    slot *slots;    /* NULL: nothing is remembered */
    uint32_t turn;  /* which slot of a full bucket goes next */
    int64_t epoch;  /* gc_epoch when everything was right */
    numbers last;   /* now */
    numbers before; /* of this transaction: what was there when it learnt its numbers */
    vls_vec(numbers) marks;
};

int vls_chunks_new(vls_chunks **out, const valise_env *env, valise_error *err)
{
    vls_chunks *chunks = vls_mem_zalloc(env, sizeof(*chunks));
    int rc;

    if (!chunks)
        return vls_fail_memory(err);
    chunks->env = env;
    rc = vls_fast_key_init(&chunks->key, env, err);
    if (rc < 0) {
        vls_chunks_free(chunks);
        return rc;
    }
    *out = chunks;
    return 0;
}

void vls_chunks_free(vls_chunks *chunks)
{
    if (!chunks)
        return;
    vls_chunks_forget(chunks);
    vls_vec_release(&chunks->marks, chunks->env);
    vls_mem_free(chunks->env, chunks, sizeof(*chunks));
}

void vls_chunks_forget(vls_chunks *chunks)
{
    vls_mem_free(chunks->env, chunks->slots, SLOTS * sizeof(*chunks->slots));
    chunks->slots = NULL;
}

/* ---- transactions ---- */

void vls_chunks_begin(vls_chunks *chunks, const vls_txn *txn)
{
    assert(chunks->marks.len == 0);
    if (chunks->epoch != txn->meta.gc_epoch)
        vls_chunks_forget(chunks);
    chunks->epoch = txn->meta.gc_epoch;
    if (txn->changed)
        chunks->last.known = false;
    chunks->before = chunks->last;
}

/* What was added since is not there any more. */
static void go_back(vls_chunks *chunks, numbers to)
{
    /* Nothing was given before the numbers were learnt. */
    if (!to.known)
        to = chunks->before;
    if (chunks->slots && chunks->last.known && chunks->last.chunk > to.chunk) {
        for (size_t i = 0; i < SLOTS; i++) {
            if (chunks->slots[i].number > to.chunk)
                chunks->slots[i].number = 0;
        }
    }
    chunks->last = to;
}

int vls_chunks_mark(vls_chunks *chunks, int what, valise_error *err)
{
    if (what == VALISE_MARK_SET)
        return vls_vec_push(&chunks->marks, chunks->env, chunks->last) ? 0 : vls_fail_memory(err);
    assert(chunks->marks.len > 0);
    chunks->marks.len--;
    if (what == VALISE_MARK_BACK)
        go_back(chunks, chunks->marks.ptr[chunks->marks.len]);
    return 0;
}

void vls_chunks_end(vls_chunks *chunks, bool committed)
{
    if (!committed)
        go_back(chunks, chunks->before);
    chunks->marks.len = 0;
}

/* ---- numbers ---- */

/* The number of the last row of a table, or 0. */
static int last_row(int64_t *out, vls_txn *txn, uint32_t table, valise_error *err)
{
    VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
    valise_cell row[VALISE_MAX_COLUMNS];
    int rc = vls_txn_scan_open(&scan, txn, vls_store_coll_at(txn->store, table),
                               (valise_range){.index = -1, .flags = VALISE_SCAN_REVERSE}, err);

    if (rc < 0)
        return rc;
    scan.unchecked = true; /* a damaged row must not stop writers */
    rc = vls_txn_scan_next(row, &scan, err);
    if (rc < 0)
        return rc;
    *out = rc == 1 ? row[0].as.integer : 0;
    return 0;
}

int vls_chunk_last(int64_t *number, vls_txn *txn, valise_error *err)
{
    return last_row(number, txn, VLS_TABLE_CHUNK, err);
}

static int learn_numbers(vls_chunks *chunks, vls_txn *txn, valise_error *err)
{
    numbers n = {.known = true};
    int rc;

    if (chunks->last.known)
        return 0;
    rc = vls_chunk_last(&n.chunk, txn, err);
    if (rc == 0)
        rc = last_row(&n.object, txn, VLS_TABLE_OBJECT, err);
    if (rc < 0)
        return rc;
    /* The floors of the transaction's beginning: this one has removed nothing yet. */
    n.chunk = VLS_MAX(n.chunk, txn->meta.chunk_floor);
    n.object = VLS_MAX(n.object, txn->meta.object_floor);
    chunks->last = chunks->before = n;
    return 0;
}

int vls_chunks_keep_number(vls_txn *txn, uint32_t table, int64_t number, valise_error *err)
{
    vls_chunks *chunks = txn->store->chunks;
    bool chunk = table == VLS_TABLE_CHUNK;
    int rc = learn_numbers(chunks, txn, err);

    if (rc < 0 || number < (chunk ? chunks->last.chunk : chunks->last.object))
        return rc;
    return vls_meta_put_int(txn, chunk ? "chunk_floor" : "object_floor", number, err);
}

static int next_number(int64_t *out, int64_t *last, const char *what, valise_error *err)
{
    if (*last == INT64_MAX)
        return vls_fail(err, VALISE_E_LIMIT, "there are no more numbers for %s", what);
    *out = ++*last;
    return 0;
}

int vls_chunks_next_object(int64_t *number, vls_txn *txn, valise_error *err)
{
    vls_chunks *chunks = txn->store->chunks;
    int rc = learn_numbers(chunks, txn, err);

    return rc < 0 ? rc : next_number(number, &chunks->last.object, "objects", err);
}

/* ---- remembering ---- */

static slot *bucket_of(const vls_chunks *chunks, vls_hash128 hash)
{
    return chunks->slots + (size_t)(hash.low & (BUCKETS - 1)) * WAYS;
}

static int64_t recall(const vls_chunks *chunks, vls_hash128 hash)
{
    const slot *bucket;

    if (!chunks->slots)
        return 0;
    bucket = bucket_of(chunks, hash);
    for (unsigned i = 0; i < WAYS; i++) {
        if (bucket[i].number && vls_hash128_equal(bucket[i].hash, hash))
            return bucket[i].number;
    }
    return 0;
}

/* Without memory nothing is remembered, which is no failure. */
static void remember(vls_chunks *chunks, vls_hash128 hash, int64_t number)
{
    slot *bucket;
    unsigned i = 0;

    if (!chunks->slots)
        chunks->slots = vls_mem_zalloc(chunks->env, SLOTS * sizeof(*chunks->slots));
    if (!chunks->slots)
        return;
    bucket = bucket_of(chunks, hash);
    while (i < WAYS && bucket[i].number)
        i++;
    if (i == WAYS)
        i = chunks->turn++ % WAYS;
    bucket[i] = (slot){.hash = hash, .number = number};
}

/* ---- rows ---- */

/* 1 and the number of a row with these bytes, or 0. */
static int find(int64_t *out, vls_txn *txn, int64_t h8, valise_str bytes, valise_error *err)
{
    VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
    valise_cell equal = vls_int_cell(h8), row[VALISE_MAX_COLUMNS];
    int rc = vls_txn_scan_open(&scan, txn, vls_store_coll_at(txn->store, VLS_TABLE_CHUNK),
                               (valise_range){.index = 0, .equal = &equal, .equal_count = 1}, err);

    scan.unchecked = true; /* what is not equal is not used, damaged or not */
    for (unsigned i = 0; rc >= 0 && i < CANDIDATES; i++) {
        rc = vls_txn_scan_next(row, &scan, err);
        if (rc != 1)
            return rc;
        if (row[2].type == VALISE_CELL_BLOB && vls_str_equal(row[2].as.bytes, bytes) &&
            vls_txn_check_row(txn, scan.coll, row, NULL) == 0) {
            *out = row[0].as.integer;
            return 1;
        }
    }
    return rc < 0 ? rc : 0;
}

static int insert(int64_t *out, vls_txn *txn, int64_t h8, valise_str bytes, valise_error *err)
{
    valise_cell row[] = {
        vls_int_cell(0), vls_int_cell(h8), {.type = VALISE_CELL_BLOB, .as.bytes = bytes}};
    vls_chunks *chunks = txn->store->chunks;
    int rc = learn_numbers(chunks, txn, err);

    if (rc == 0)
        rc = next_number(&row[0].as.integer, &chunks->last.chunk, "chunks", err);
    if (rc == 0)
        rc = vls_txn_put(txn, vls_store_coll_at(txn->store, VLS_TABLE_CHUNK), row, 0, err);
    if (rc == 0)
        *out = row[0].as.integer;
    return rc;
}

int vls_chunks_put(int64_t *number, vls_txn *txn, valise_str bytes, valise_error *err)
{
    vls_chunks *chunks = txn->store->chunks;
    vls_hash128 hash = vls_fast_hash128(bytes, &chunks->key);
    int64_t found = recall(chunks, hash);
    uint64_t h;
    int64_t h8;
    int rc;

    if (found) {
        *number = found;
        return 0;
    }
    h = vls_str_hash(bytes, 0);
    memcpy(&h8, &h, sizeof(h8));
    rc = find(&found, txn, h8, bytes, err);
    if (rc == 0)
        rc = insert(&found, txn, h8, bytes, err);
    if (rc < 0)
        return rc;
    remember(chunks, hash, found);
    *number = found;
    return 0;
}
