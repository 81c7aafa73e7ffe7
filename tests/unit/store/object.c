/* object.c -- objects: ids, chunks, damage, and what writers remember. [K1 K2 K29] */
#include "store/object.h"

#include "base/chunk.h"
#include "base/hex.h"
#include "harness/fault.h"
#include "store/kit.h"
#include "store/objects.h"

TEST_PARAMS(object, KIT_BACKENDS)

static int64_t now = INT64_C(1700000000000000000);

static valise_str random_bytes(size_t len, uint64_t seed)
{
    test_rng rng = test_rng_new(seed);
    uint8_t *bytes = test_alloc(len + 8);

    for (size_t i = 0; i < len; i += 8)
        vls_bytes_store_u64(bytes + i, test_random(&rng));
    return vls_str(bytes, len);
}

static valise_id id_of(test *t, const char *kind, valise_str bytes)
{
    valise_id id;

    CHECK_OK(vls_object_id(&id, kind, bytes, &t->err));
    return id;
}

static valise_id put_in(test *t, vls_txn *txn, valise_str bytes)
{
    valise_id id = id_of(t, "value", bytes);
    bool existed;

    CHECK_OK(vls_object_put(txn, &id, "value", bytes, now, &existed, &t->err));
    return id;
}

static valise_id put(test *t, vls_store *store, valise_str bytes)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    valise_id id;

    kit_begin(t, &txn, store, VALISE_TXN_WRITE);
    id = put_in(t, &txn, bytes);
    kit_commit(t, &txn);
    return id;
}

static void check_in(test *t, vls_txn *txn, const valise_id *id, valise_str expected)
{
    VLS_AUTO(blob) valise_blob *blob = NULL;

    CHECK_OK(vls_object_get(&blob, txn, id, &t->err));
    CHECK_INT(expected.len, vls_blob_bytes(blob).len);
    CHECK(vls_str_equal(expected, vls_blob_bytes(blob)));
}

static void check_is(test *t, vls_store *store, const valise_id *id, valise_str expected)
{
    VLS_AUTO(txn) vls_txn txn = {0};

    kit_begin(t, &txn, store, VALISE_TXN_READ);
    check_in(t, &txn, id, expected);
}

static int get(test *t, vls_store *store, const valise_id *id)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    VLS_AUTO(blob) valise_blob *blob = NULL;

    kit_begin(t, &txn, store, VALISE_TXN_READ);
    return vls_object_get(&blob, &txn, id, &t->err);
}

/* ---- ids ---- */

TEST(object, ids_are_plain_sha256_for_blobs_and_tagged_for_all_else)
{
    vls_store *store = kit_open(t, NULL);
    valise_id blob = id_of(t, "blob", VLS_STR("abc"));
    valise_id value = id_of(t, "value", VLS_STR("abc"));
    valise_id frame = id_of(t, "frame", VLS_STR("abc"));

    CHECK_TEXT("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
               vls_id_hex(&blob).s);
    CHECK(!vls_id_equal(&value, &frame) && !vls_id_equal(&value, &blob));
    kit_close(store);
}

TEST(object, kinds_are_words)
{
    static const char *const bad[] = {
        NULL,  "",    "A",   "1a", "a_b",      "a b",
        "a/b", "a\n", ".ab", "-",  "\xc3\xa9", "a23456789012345678901234567890123",
    };
    vls_store *store = kit_open(t, NULL);
    valise_id id;

    for (size_t i = 0; i < VLS_COUNT(bad); i++)
        CHECK_RC(VALISE_E_INVALID, vls_object_id(&id, bad[i], VLS_STR(""), &t->err));
    CHECK_OK(vls_object_id(&id, "a-b.c9", VLS_STR(""), &t->err));
    CHECK_OK(vls_object_id(&id, "a2345678901234567890123456789012", VLS_STR(""), &t->err));
    kit_close(store);
}

/* ---- put and get ---- */

TEST(object, every_size_comes_back)
{
    static const size_t sizes[] = {0,    1,    255,  256,   257,   1000,  4095,   4096,
                                   4097, 4100, 8192, 10000, 65536, 99999, 100000, 1000000};
    vls_store *store = kit_open(t, NULL);

    for (size_t i = 0; i < VLS_COUNT(sizes); i++) {
        VLS_AUTO(txn) vls_txn txn = {0};
        valise_str bytes = random_bytes(sizes[i], i);
        valise_id id = put(t, store, bytes);
        vls_object_info info;
        check_is(t, store, &id, bytes);
        kit_begin(t, &txn, store, VALISE_TXN_READ);
        CHECK_RC(1, vls_object_stat(&info, &txn, &id, &t->err));
        CHECK_INT(sizes[i], info.size);
        CHECK_INT(now, info.time);
        CHECK_INT(sizes[i] > VLS_OBJECT_INLINE_MAX, info.chunked);
        CHECK(!info.erased && vls_id_equal(&info.id, &id));
        CHECK_TEXT("value", info.kind);
    }
    kit_close(store);
}

TEST(object, absent_ones_are_not_found)
{
    vls_store *store = kit_open(t, NULL);
    VLS_AUTO(txn) vls_txn txn = {0};
    valise_id id = id_of(t, "value", VLS_STR("abc"));
    vls_object_info info;

    CHECK_RC(VALISE_E_NOT_FOUND, get(t, store, &id));
    CHECK(strstr(t->err.message, vls_id_hex(&id).s));
    kit_begin(t, &txn, store, VALISE_TXN_WRITE);
    CHECK_RC(0, vls_object_stat(&info, &txn, &id, &t->err));
    CHECK_RC(0, vls_object_erase(&txn, &id, &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, vls_object_touch(&txn, &id, now, now, &t->err));
    vls_txn_rollback(&txn);
    kit_close(store);
}

TEST(object, too_large_ones_are_refused)
{
    vls_store *store = kit_open(t, NULL);
    VLS_AUTO(txn) vls_txn txn = {0};
    valise_id id = {{0}};
    bool existed;

    kit_begin(t, &txn, store, VALISE_TXN_WRITE);
    CHECK_RC(VALISE_E_TOO_LARGE, vls_object_put(&txn, &id, "value", vls_str("", VLS_OBJECT_MAX + 1),
                                                now, &existed, &t->err));
    vls_txn_rollback(&txn);
    kit_close(store);
}

static int64_t count_chunks(test *t, vls_store *store)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
    valise_cell row[VALISE_MAX_COLUMNS];
    int64_t count = 0;
    int rc;

    kit_begin(t, &txn, store, VALISE_TXN_READ);
    CHECK_OK(vls_txn_scan_open(&scan, &txn, vls_store_coll_at(store, VLS_TABLE_CHUNK),
                               (valise_range){.index = -1}, &t->err));
    while ((rc = vls_txn_scan_next(row, &scan, &t->err)) == 1)
        count++;
    CHECK_OK(rc);
    return count;
}

/* A value that changed a little shares nearly all its chunks, also with nothing remembered. */
TEST(object, versions_share_chunks)
{
    vls_store *store = kit_open(t, NULL);
    valise_str bytes = random_bytes(100000, 1);
    char *edit = test_alloc(100000);
    valise_id id = put(t, store, bytes);
    int64_t before = count_chunks(t, store);

    CHECK(before > 60 && before < 160);
    for (unsigned i = 0; i < 20; i++) {
        memcpy(edit, bytes.ptr, bytes.len);
        edit[i * 4900] ^= 1;
        if (i % 2)
            vls_chunks_forget(vls_store_chunks(store));
        valise_id changed = put(t, store, vls_str(edit, bytes.len));
        check_is(t, store, &changed, vls_str(edit, bytes.len));
    }
    int64_t after = count_chunks(t, store);
    CHECK_MSG(after <= before + 20 * 3, "%lld chunks became %lld", (long long)before,
              (long long)after);
    check_is(t, store, &id, bytes);
    kit_close(store);
}

/* The chunks of bytes in another order: as many runs as there are chunks. */
static valise_str shuffled(valise_str bytes, uint64_t seed)
{
    test_rng rng = test_rng_new(seed);
    size_t *starts = test_alloc((bytes.len / 64 + 2) * sizeof(*starts));
    char *out = test_alloc(bytes.len);
    size_t count = 0, at = 0, used = 0;

    while (at < bytes.len) {
        starts[count++] = at;
        at += vls_chunk_next((const uint8_t *)bytes.ptr + at, bytes.len - at);
    }
    starts[count] = bytes.len;
    size_t *order = test_alloc(count * sizeof(*order));
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    for (size_t i = count - 1; i > 1; i--) { /* the last one stays: it may be short */
        size_t k = test_random_below(&rng, i), o = order[k];
        order[k] = order[i - 1];
        order[i - 1] = o;
    }
    for (size_t i = 0; i < count; i++) {
        size_t len = starts[order[i] + 1] - starts[order[i]];
        memcpy(out + used, bytes.ptr + starts[order[i]], len);
        used += len;
    }
    return vls_str(out, bytes.len);
}

static uint8_t depth_of(test *t, vls_store *store, const valise_id *id)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    valise_cell key = {.type = VALISE_CELL_INT}, row[VALISE_MAX_COLUMNS];
    vls_object_info info;

    kit_begin(t, &txn, store, VALISE_TXN_READ);
    CHECK_RC(1, vls_object_stat(&info, &txn, id, &t->err));
    key.as.integer = info.number;
    CHECK_RC(1, vls_txn_get(row, &txn, vls_store_coll_at(store, VLS_TABLE_OBJECT), &key, &t->err));
    return (uint8_t)row[VLS_OBJECT_RECIPE].as.bytes.ptr[0];
}

TEST(object, large_recipes_are_chunked_again)
{
    vls_store *store = kit_open(t, NULL);
    valise_str bytes = random_bytes(6000000, 5), other = shuffled(bytes, 6);
    valise_id a = put(t, store, bytes);
    int64_t before = count_chunks(t, store);
    valise_id b = put(t, store, other);

    CHECK_INT(1, depth_of(t, store, &a));
    CHECK_INT(2, depth_of(t, store, &b));
    CHECK(count_chunks(t, store) < before + 40);
    check_is(t, store, &a, bytes);
    check_is(t, store, &b, other);
    kit_close(store);
}

TEST(object, put_twice_is_one_object)
{
    vls_store *store = kit_open(t, NULL);
    VLS_AUTO(txn) vls_txn txn = {0};
    valise_str bytes = random_bytes(10000, 1);
    valise_id id = put(t, store, bytes);
    vls_object_info info;
    bool existed = false;

    kit_begin(t, &txn, store, VALISE_TXN_WRITE);
    CHECK_OK(vls_object_put(&txn, &id, "value", bytes, now + 1, &existed, &t->err));
    CHECK(existed);
    CHECK_RC(1, vls_object_stat(&info, &txn, &id, &t->err));
    CHECK_INT(now, info.time); /* young enough */
    CHECK_INT(1, info.number);
    CHECK_OK(vls_object_put(&txn, &id, "value", bytes, now + VLS_OBJECT_RENEW_NS + 1, &existed,
                            &t->err));
    CHECK_RC(1, vls_object_stat(&info, &txn, &id, &t->err));
    CHECK_INT(now + VLS_OBJECT_RENEW_NS + 1, info.time);
    kit_commit(t, &txn);
    check_is(t, store, &id, bytes);
    kit_close(store);
}

TEST(object, touch_renews_what_is_older)
{
    vls_store *store = kit_open(t, NULL);
    VLS_AUTO(txn) vls_txn txn = {0};
    valise_id id = put(t, store, VLS_STR("abc"));
    vls_object_info info;

    kit_begin(t, &txn, store, VALISE_TXN_WRITE);
    CHECK_OK(vls_object_touch(&txn, &id, now + 10, now, &t->err));
    CHECK_RC(1, vls_object_stat(&info, &txn, &id, &t->err));
    CHECK_INT(now, info.time);
    CHECK_OK(vls_object_touch(&txn, &id, now + 10, now + 1, &t->err));
    CHECK_RC(1, vls_object_stat(&info, &txn, &id, &t->err));
    CHECK_INT(now + 10, info.time);
    CHECK_OK(vls_object_touch(&txn, &id, now + 5, now + 100, &t->err)); /* never backwards */
    CHECK_RC(1, vls_object_stat(&info, &txn, &id, &t->err));
    CHECK_INT(now + 10, info.time);
    kit_commit(t, &txn);
    kit_close(store);
}

/* ---- prefixes ---- */

/* Ids are what they are said to be until somebody reads the object. [K2] */
static void put_as(test *t, vls_txn *txn, const char *hex)
{
    valise_id id;
    bool existed;

    CHECK_OK(vls_id_parse(&id, valise_str_of(hex), &t->err));
    CHECK_OK(vls_object_put(txn, &id, "value", VLS_STR("x"), now, &existed, &t->err));
}

static const char *const prefix_ids[] = {
    "0000000000000000000000000000000000000000000000000000000000000000",
    "00000000000000000fffffffffffffffffffffffffffffffffffffffffffffff",
    "7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "8000000000000000000000000000000000000000000000000000000000000000",
    "abcdef0123456789000000000000000000000000000000000000000000000000",
    "abcdef0123456789100000000000000000000000000000000000000000000000",
    "abcdef0123456789110000000000000000000000000000000000000000000000",
    "abcdef0200000000000000000000000000000000000000000000000000000000",
    "abcdf00000000000000000000000000000000000000000000000000000000000",
    "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
};

TEST(object, found_by_any_number_of_digits)
{
    vls_store *store = kit_open(t, NULL);
    VLS_AUTO(txn) vls_txn txn = {0};
    size_t count;

    kit_begin(t, &txn, store, VALISE_TXN_WRITE);
    for (size_t i = 0; i < VLS_COUNT(prefix_ids); i++)
        put_as(t, &txn, prefix_ids[i]);
    for (size_t i = 0; i < VLS_COUNT(prefix_ids); i++) {
        for (size_t digits = 1; digits <= 64; digits++) {
            vls_object_info infos[16];
            size_t expected = 0;
            for (size_t k = 0; k < VLS_COUNT(prefix_ids); k++)
                expected += strncmp(prefix_ids[i], prefix_ids[k], digits) == 0;
            CHECK_OK(
                vls_object_find(infos, &count, 16, &txn, vls_str(prefix_ids[i], digits), &t->err));
            CHECK_INT(expected, count);
            for (size_t k = 0; k < count; k++)
                CHECK(strncmp(prefix_ids[i], vls_id_hex(&infos[k].id).s, digits) == 0);
        }
    }
    vls_object_info two[2];
    CHECK_OK(vls_object_find(two, &count, 2, &txn, VLS_STR("abc"), &t->err));
    CHECK_INT(2, count);
    CHECK_OK(vls_object_find(two, &count, 2, &txn, VLS_STR("123"), &t->err));
    CHECK_INT(0, count);
    vls_txn_rollback(&txn);
    kit_close(store);
}

TEST(object, digits_that_are_none)
{
    vls_store *store = kit_open(t, NULL);
    VLS_AUTO(txn) vls_txn txn = {0};
    vls_object_info info;
    size_t count;
    char long_text[66] = "";

    memset(long_text, 'a', 65);
    kit_begin(t, &txn, store, VALISE_TXN_READ);
    CHECK_RC(VALISE_E_INVALID, vls_object_find(&info, &count, 1, &txn, VLS_STR(""), &t->err));
    CHECK_RC(VALISE_E_INVALID, vls_object_find(&info, &count, 1, &txn, VLS_STR("ABC"), &t->err));
    CHECK_RC(VALISE_E_INVALID, vls_object_find(&info, &count, 1, &txn, VLS_STR("abg"), &t->err));
    CHECK_INT(2, t->err.offset);
    CHECK_RC(VALISE_E_INVALID,
             vls_object_find(&info, &count, 1, &txn, valise_str_of(long_text), &t->err));
    vls_txn_rollback(&txn);
    kit_close(store);
}

/* ---- erase, delete, sweep ---- */

typedef struct marker {
    vls_bits *bits;
    vls_txn *txn;
} marker;

static int mark_one(void *arg, const vls_object_info *info, valise_error *err)
{
    marker *m = arg;

    return vls_object_mark_chunks(m->bits, m->txn, info->number, err);
}

/* Remove the chunks that no object needs. */
static int64_t sweep(test *t, vls_store *store)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    vls_bits bits = {.env = t->env};
    int64_t removed, bytes;

    kit_begin(t, &txn, store, VALISE_TXN_WRITE);
    CHECK_OK(vls_object_each(&txn, 0, mark_one, &(marker){&bits, &txn}, &t->err));
    CHECK_OK(vls_chunk_sweep(&removed, &bytes, &txn, &bits, 0, INT64_MAX, &t->err));
    CHECK_INT(removed > 0, bytes > 0);
    kit_commit(t, &txn);
    vls_bits_release(&bits);
    return removed;
}

TEST(object, erased_ones_keep_their_row_and_can_be_filled_again)
{
    vls_store *store = kit_open(t, NULL);
    static const size_t sizes[] = {100, 50000};

    for (size_t i = 0; i < VLS_COUNT(sizes); i++) {
        VLS_AUTO(txn) vls_txn txn = {0};
        valise_str bytes = random_bytes(sizes[i], i);
        valise_id id = put(t, store, bytes);
        vls_object_info info, again;
        bool existed;
        kit_begin(t, &txn, store, VALISE_TXN_WRITE);
        CHECK_RC(1, vls_object_erase(&txn, &id, &t->err));
        CHECK_RC(1, vls_object_erase(&txn, &id, &t->err));
        kit_commit(t, &txn);
        sweep(t, store);
        CHECK_INT(0, count_chunks(t, store));
        CHECK_RC(VALISE_E_NOT_FOUND, get(t, store, &id));
        CHECK(strstr(t->err.message, "were erased"));

        kit_begin(t, &txn, store, VALISE_TXN_WRITE);
        CHECK_RC(1, vls_object_stat(&info, &txn, &id, &t->err));
        CHECK(info.erased && info.size == (int64_t)sizes[i]);
        CHECK_OK(vls_object_touch(&txn, &id, now, now, &t->err)); /* it is still there */
        CHECK_OK(vls_object_put(&txn, &id, "value", bytes, now, &existed, &t->err));
        CHECK(!existed);
        CHECK_RC(1, vls_object_stat(&again, &txn, &id, &t->err));
        CHECK(!again.erased && again.number > info.number);
        kit_commit(t, &txn);
        check_is(t, store, &id, bytes);
        kit_begin(t, &txn, store, VALISE_TXN_WRITE);
        CHECK_OK(vls_object_delete(&txn, again.number, &t->err));
        kit_commit(t, &txn);
        sweep(t, store);
    }
    kit_close(store);
}

TEST(object, sweeping_keeps_what_an_object_needs)
{
    vls_store *store = kit_open(t, NULL);
    valise_str bytes = random_bytes(6000000, 5), other = shuffled(bytes, 6);
    valise_str small = random_bytes(20000, 8);
    valise_id a = put(t, store, bytes), b = put(t, store, other), c = put(t, store, small);
    VLS_AUTO(txn) vls_txn txn = {0};
    vls_object_info info;

    CHECK_INT(0, sweep(t, store));
    kit_begin(t, &txn, store, VALISE_TXN_WRITE);
    CHECK_RC(1, vls_object_stat(&info, &txn, &a, &t->err));
    CHECK_OK(vls_object_delete(&txn, info.number, &t->err));
    CHECK_RC(1, vls_object_stat(&info, &txn, &c, &t->err));
    CHECK_OK(vls_object_delete(&txn, info.number, &t->err));
    kit_commit(t, &txn);
    CHECK(sweep(t, store) > 10);
    check_is(t, store, &b, other); /* with the chunks of its recipe */
    CHECK_RC(VALISE_E_NOT_FOUND, get(t, store, &a));
    CHECK_RC(VALISE_E_NOT_FOUND, get(t, store, &c));
    kit_close(store);
}

/* A number that was given never comes to mean something else. */
TEST(object, numbers_are_not_given_again)
{
    vls_store *store = kit_open(t, NULL);
    int64_t last_object = 0, last_chunk = 0, chunk;

    for (unsigned i = 0; i < 6; i++) {
        VLS_AUTO(txn) vls_txn txn = {0};
        vls_object_info info;
        valise_id id = put(t, store, random_bytes(20000, i));
        kit_begin(t, &txn, store, VALISE_TXN_WRITE);
        CHECK_RC(1, vls_object_stat(&info, &txn, &id, &t->err));
        CHECK_OK(vls_chunk_last(&chunk, &txn, &t->err));
        CHECK(info.number > last_object && chunk > last_chunk);
        last_object = info.number;
        last_chunk = chunk;
        CHECK_OK(vls_object_delete(&txn, info.number, &t->err));
        kit_commit(t, &txn);
        CHECK(sweep(t, store) > 0);
        CHECK_INT(0, count_chunks(t, store));
        if (kit_keeps(t) && i % 2) {
            kit_close(store);
            store = kit_open(t, NULL);
        }
    }
    kit_close(store);
}

/* ---- what is remembered ---- */

/* [K29] mark, put, back: the chunks are gone, and so must be the memory of them. */
TEST(object, what_a_mark_undid_is_forgotten)
{
    vls_store *store = kit_open(t, NULL);
    valise_str bytes = random_bytes(50000, 1), kept = random_bytes(50000, 2);
    VLS_AUTO(txn) vls_txn txn = {0};
    valise_id id, kept_id;

    kit_begin(t, &txn, store, VALISE_TXN_WRITE);
    CHECK_OK(vls_txn_mark(&txn, VALISE_MARK_SET, &t->err));
    put_in(t, &txn, bytes);
    CHECK_OK(vls_txn_mark(&txn, VALISE_MARK_BACK, &t->err));
    CHECK_OK(vls_txn_mark(&txn, VALISE_MARK_SET, &t->err));
    kept_id = put_in(t, &txn, kept);
    CHECK_OK(vls_txn_mark(&txn, VALISE_MARK_SET, &t->err));
    put_in(t, &txn, bytes);
    CHECK_OK(vls_txn_mark(&txn, VALISE_MARK_BACK, &t->err));
    CHECK_OK(vls_txn_mark(&txn, VALISE_MARK_RELEASE, &t->err));
    id = put_in(t, &txn, bytes);
    check_in(t, &txn, &id, bytes);
    kit_commit(t, &txn);
    check_is(t, store, &id, bytes);
    check_is(t, store, &kept_id, kept);
    kit_close(store);
}

TEST(object, what_a_transaction_undid_is_forgotten)
{
    vls_store *store = kit_open(t, NULL);
    valise_str bytes = random_bytes(50000, 1);
    VLS_AUTO(txn) vls_txn txn = {0};
    valise_id id;

    for (unsigned i = 0; i < 3; i++) {
        kit_begin(t, &txn, store, VALISE_TXN_WRITE);
        if (i == 1)
            CHECK_OK(vls_txn_mark(&txn, VALISE_MARK_SET, &t->err));
        put_in(t, &txn, bytes);
        vls_txn_rollback(&txn);
    }
    /* Numbers that were undone are given to others meanwhile. */
    put(t, store, random_bytes(50000, 2));
    id = put(t, store, bytes);
    check_is(t, store, &id, bytes);
    kit_close(store);
}

static bool commit_fails;

static int failing_commit(void *txn, valise_error *err)
{
    const valise_store_ops *ops = kit_ops(kit_backend);

    if (!commit_fails)
        return ops->commit(txn, err);
    ops->rollback(txn);
    return vls_fail(err, VALISE_E_IO, "the disk is full");
}

TEST(object, what_a_failed_commit_undid_is_forgotten)
{
    vls_store_options options = kit_options(t, NULL);
    valise_store_ops ops = *options.ops;
    valise_str bytes = random_bytes(50000, 1);
    VLS_AUTO(txn) vls_txn txn = {0};
    vls_store *store;
    valise_id id;

    kit_backend = t->param;
    ops.commit = failing_commit;
    options.ops = &ops;
    commit_fails = false;
    CHECK_OK(vls_store_open(&store, &options, &t->err));
    kit_begin(t, &txn, store, VALISE_TXN_WRITE);
    put_in(t, &txn, bytes);
    commit_fails = true;
    CHECK_RC(VALISE_E_IO, vls_txn_commit(&txn, &t->err));
    commit_fails = false;
    put(t, store, random_bytes(50000, 2));
    id = put(t, store, bytes);
    check_is(t, store, &id, bytes);
    kit_close(store);
}

/* [K29] Another process removes chunks between two puts of the same value. */
TEST(object, what_another_handle_swept_is_forgotten)
{
    valise_str bytes = random_bytes(50000, 1);
    VLS_AUTO(txn) vls_txn txn = {0};
    vls_store *one, *two;
    vls_object_info info;
    valise_id id;

    if (!kit_keeps(t))
        SKIP("two handles of a store in memory are two stores");
    one = kit_open(t, NULL);
    two = kit_open(t, NULL);
    id = put(t, one, bytes);
    kit_begin(t, &txn, two, VALISE_TXN_WRITE);
    CHECK_RC(1, vls_object_stat(&info, &txn, &id, &t->err));
    CHECK_OK(vls_object_delete(&txn, info.number, &t->err));
    kit_commit(t, &txn);
    CHECK(sweep(t, two) > 0);
    id = put(t, one, bytes);
    check_is(t, one, &id, bytes);
    check_is(t, two, &id, bytes);
    kit_close(one);
    kit_close(two);
}

/* The same in one handle. */
TEST(object, what_was_swept_is_forgotten)
{
    valise_str bytes = random_bytes(50000, 1);
    vls_store *store = kit_open(t, NULL);
    VLS_AUTO(txn) vls_txn txn = {0};
    valise_id id = put(t, store, bytes);
    vls_object_info info;

    kit_begin(t, &txn, store, VALISE_TXN_WRITE);
    CHECK_RC(1, vls_object_stat(&info, &txn, &id, &t->err));
    CHECK_OK(vls_object_delete(&txn, info.number, &t->err));
    kit_commit(t, &txn);
    CHECK(sweep(t, store) > 0);
    id = put(t, store, bytes);
    check_is(t, store, &id, bytes);
    kit_close(store);
}

/* More chunks of one bucket than are remembered. */
TEST(object, the_memory_is_bounded)
{
    vls_store *store = kit_open(t, NULL);
    VLS_AUTO(txn) vls_txn txn = {0};
    valise_str bytes = random_bytes(VLS_OBJECT_INLINE_MAX * 64, 1);
    valise_id first = put(t, store, bytes), last = first;

    kit_begin(t, &txn, store, VALISE_TXN_WRITE);
    for (unsigned i = 0; i < 12; i++)
        last = put_in(t, &txn, random_bytes(2000000, i + 2));
    put_in(t, &txn, bytes);
    kit_commit(t, &txn);
    CHECK(test_bytes_in_use(t) > 0);
    check_is(t, store, &first, bytes);
    check_is(t, store, &last, random_bytes(2000000, 13));
    kit_close(store);
}

/* ---- damage ---- */

static int ignore_object(void *arg, const vls_object_info *info, valise_error *err)
{
    (void)arg;
    (void)info;
    (void)err;
    return 0;
}

/* Either who reads the object finds it, or who goes over all rows. [Q19] */
static void check_found(test *t, vls_store *store, const valise_id *id)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    int rc = get(t, store, id);

    if (rc == VALISE_E_CORRUPT)
        return;
    CHECK_RC(VALISE_E_NOT_FOUND, rc);
    kit_begin(t, &txn, store, VALISE_TXN_READ);
    CHECK_RC(VALISE_E_CORRUPT, vls_object_each(&txn, 0, ignore_object, NULL, &t->err));
}

TEST(object, every_flipped_bit_is_found)
{
    static const size_t sizes[] = {300, 20000};

    for (size_t s = 0; s < VLS_COUNT(sizes); s++) {
        vls_store *store = kit_open(t, NULL);
        valise_str bytes = random_bytes(sizes[s], s);
        valise_id id = put(t, store, bytes);
        uint32_t tables[] = {VLS_TABLE_OBJECT, VLS_TABLE_CHUNK};
        for (size_t k = 0; k <= s; k++) {
            const vls_coll *coll = vls_store_coll_at(store, tables[k]);
            for (uint16_t column = 1; column < coll->table.column_count; column++) {
                if (k == 0 && column == (s ? VLS_OBJECT_BODY : VLS_OBJECT_RECIPE))
                    continue; /* NULL */
                for (size_t bit = 0; bit < 64; bit += 5) {
                    kit_damage(t, store, tables[k], 1 + (int64_t)s * 0, column, bit);
                    check_found(t, store, &id);
                    kit_damage(t, store, tables[k], 1, column, bit);
                }
            }
        }
        check_is(t, store, &id, bytes);
        CHECK_INT(VALISE_E_CORRUPT, (kit_damage(t, store, VLS_TABLE_OBJECT, 1, VLS_OBJECT_SIZE, 0),
                                     get(t, store, &id)));
        CHECK(strstr(t->err.message, "object 1"));
        CHECK(strstr(t->err.hint, "valise validate"));
        kit_close(store);
        kit_remove();
    }
}

/* Who has the bytes heals what is damaged: it is not acknowledged and lost. [K22 K29] */
TEST(object, put_again_it_is_whole)
{
    static const uint32_t tables[] = {VLS_TABLE_OBJECT, VLS_TABLE_CHUNK};
    static const size_t sizes[] = {300, 20000, 3000000};

    for (size_t s = 0; s < VLS_COUNT(sizes); s++) {
        valise_str bytes = random_bytes(sizes[s], s);
        for (size_t k = 0; k <= (s > 0); k++) {
            vls_store *store = kit_open(t, NULL);
            const vls_coll *coll = vls_store_coll_at(store, tables[k]);
            uint16_t columns = coll->table.column_count;
            kit_close(store);
            kit_remove();
            for (uint16_t column = 1; column < columns; column++) {
                valise_id id;
                if (k == 0 && column == (s ? VLS_OBJECT_BODY : VLS_OBJECT_RECIPE))
                    continue; /* NULL */
                store = kit_open(t, NULL);
                id = put(t, store, bytes);
                kit_damage(t, store, tables[k], 1, column, 3);
                (void)put(t, store, bytes);
                test_context("table %zu column %u of %zu bytes", k, (unsigned)column, sizes[s]);
                check_is(t, store, &id, bytes);
                (void)put(t, store, bytes);
                check_is(t, store, &id, bytes);
                kit_close(store);
                kit_remove();
            }
        }
    }
    test_context_end();
}

/* Rows whose sum is right, but which somebody has written who means no good. */
TEST(object, forged_rows_are_refused)
{
    vls_store *store = kit_open(t, NULL);
    const vls_coll *objects = vls_store_coll_at(store, VLS_TABLE_OBJECT);
    valise_id id = put(t, store, random_bytes(20000, 1));
    valise_cell good[VALISE_MAX_COLUMNS], key = {.type = VALISE_CELL_INT, .as.integer = 1};
    const valise_cell forged[][2] = {
        {{.as.integer = VLS_OBJECT_KIND}, {.type = VALISE_CELL_TEXT, .as.bytes = VLS_STR("A b")}},
        {{.as.integer = VLS_OBJECT_KIND}, {.type = VALISE_CELL_TEXT, .as.bytes = VLS_STR("")}},
        {{.as.integer = VLS_OBJECT_SIZE}, {.type = VALISE_CELL_INT, .as.integer = -1}},
        {{.as.integer = VLS_OBJECT_SIZE}, {.type = VALISE_CELL_INT, .as.integer = INT64_MAX}},
        {{.as.integer = VLS_OBJECT_SIZE}, {.type = VALISE_CELL_INT, .as.integer = 19999}},
        {{.as.integer = VLS_OBJECT_SIZE}, {.type = VALISE_CELL_INT, .as.integer = 20001}},
        {{.as.integer = VLS_OBJECT_SIZE}, {.type = VALISE_CELL_NULL}},
        {{.as.integer = VLS_OBJECT_KIND}, {.type = VALISE_CELL_TEXT, .as.bytes = VLS_STR("blob")}},
        {{.as.integer = VLS_OBJECT_BODY}, {.type = VALISE_CELL_BLOB, .as.bytes = VLS_STR("abc")}},
        {{.as.integer = VLS_OBJECT_RECIPE}, {.type = VALISE_CELL_BLOB, .as.bytes = VLS_STR("")}},
        {{.as.integer = VLS_OBJECT_RECIPE},
         {.type = VALISE_CELL_BLOB, .as.bytes = VLS_STR("\1\4")}},
        {{.as.integer = VLS_OBJECT_RECIPE},
         {.type = VALISE_CELL_BLOB, .as.bytes = VLS_STR("\2\4")}},
        {{.as.integer = VLS_OBJECT_RECIPE},
         {.type = VALISE_CELL_BLOB, .as.bytes = VLS_STR("\1\xfc\xff\xff\x0f")}}, /* no such chunk */
        {{.as.integer = VLS_OBJECT_RECIPE},
         {.type = VALISE_CELL_BLOB, .as.bytes = VLS_STR("\1\5\xff\xff\xff\x0f")}}, /* nor so many */
    };

    for (size_t i = 0; i < VLS_COUNT(forged); i++) {
        VLS_AUTO(txn) vls_txn txn = {0};
        valise_cell row[VALISE_MAX_COLUMNS];
        test_context("forgery %zu", i);
        kit_begin(t, &txn, store, VALISE_TXN_WRITE);
        CHECK_RC(1, vls_txn_get(good, &txn, objects, &key, &t->err));
        memcpy(row, good, sizeof(row));
        row[forged[i][0].as.integer] = forged[i][1];
        CHECK_OK(vls_txn_put(&txn, objects, row, 0, &t->err));
        VLS_AUTO(blob) valise_blob *blob = NULL;
        CHECK_RC(VALISE_E_CORRUPT, vls_object_get(&blob, &txn, &id, &t->err));
        vls_txn_rollback(&txn);
        test_context_end();
    }
    kit_close(store);
}

TEST(object, a_missing_chunk_is_found)
{
    vls_store *store = kit_open(t, NULL);
    valise_id id = put(t, store, random_bytes(20000, 1));
    VLS_AUTO(txn) vls_txn txn = {0};
    VLS_AUTO(blob) valise_blob *blob = NULL;
    valise_cell key = {.type = VALISE_CELL_INT};
    int64_t last;

    kit_begin(t, &txn, store, VALISE_TXN_WRITE);
    CHECK_OK(vls_chunk_last(&last, &txn, &t->err));
    for (key.as.integer = last; key.as.integer > 0; key.as.integer--) {
        CHECK_OK(vls_txn_mark(&txn, VALISE_MARK_SET, &t->err));
        CHECK_RC(1, vls_txn_del(&txn, vls_store_coll_at(store, VLS_TABLE_CHUNK), &key, &t->err));
        CHECK_RC(VALISE_E_CORRUPT, vls_object_get(&blob, &txn, &id, &t->err));
        CHECK(strstr(t->err.message,
                     test_format("chunk %lld is missing", (long long)key.as.integer)));
        CHECK_OK(vls_txn_mark(&txn, VALISE_MARK_BACK, &t->err));
    }
    vls_txn_rollback(&txn);
    kit_close(store);
}

/* ---- bitmaps ---- */

TEST(object, bitmaps)
{
    vls_bits bits = {.env = t->env};

    CHECK(!vls_bits_get(&bits, 0) && !vls_bits_get(&bits, -1));
    for (int64_t i = 0; i < 100000; i += 7)
        CHECK_OK(vls_bits_set(&bits, i, &t->err));
    for (int64_t i = 0; i < 100010; i++)
        CHECK_INT(i % 7 == 0 && i < 100000, vls_bits_get(&bits, i));
    CHECK_RC(VALISE_E_LIMIT, vls_bits_set(&bits, -1, &t->err));
    CHECK_RC(VALISE_E_LIMIT, vls_bits_set(&bits, INT64_MAX, &t->err));
    CHECK(!vls_bits_get(&bits, INT64_MAX));
    vls_bits_release(&bits);
    vls_bits_release(&bits);
}

/* ---- memory ---- */

static int put_and_get(fault *f, void *arg)
{
    valise_str bytes = random_bytes(30000, 1);
    vls_store_options options = kit_options(f->t, NULL);
    VLS_AUTO(blob) valise_blob *blob = NULL;
    VLS_AUTO(txn) vls_txn txn = {0};
    vls_store *store = NULL;
    valise_id id;
    bool existed;
    int rc;

    (void)arg;
    fault_off(f);
    options.env = f->env;
    options.where = f->dir;
    rc = vls_store_open(&store, &options, &f->err);
    CHECK_INT(0, rc);
    CHECK_INT(0, vls_object_id(&id, "value", bytes, &f->err));
    fault_on(f);
    rc = vls_txn_begin(&txn, store, VALISE_TXN_WRITE, &f->err);
    if (rc == 0)
        rc = vls_txn_mark(&txn, VALISE_MARK_SET, &f->err);
    if (rc == 0)
        rc = vls_object_put(&txn, &id, "value", bytes, now, &existed, &f->err);
    if (rc == 0)
        rc = vls_txn_mark(&txn, VALISE_MARK_RELEASE, &f->err);
    if (rc == 0)
        rc = vls_object_get(&blob, &txn, &id, &f->err);
    if (rc == 0)
        rc = vls_txn_commit(&txn, &f->err);
    vls_txn_rollback(&txn);
    fault_off(f);
    f->recovered = rc == 0; /* without memory to remember in */
    CHECK_INT(0, vls_txn_begin(&txn, store, VALISE_TXN_WRITE, &f->err));
    if (rc == 0)
        check_in(f->t, &txn, &id, bytes);
    CHECK_INT(0, vls_object_put(&txn, &id, "value", bytes, now, &existed, &f->err));
    check_in(f->t, &txn, &id, bytes);
    vls_txn_rollback(&txn);
    blob = valise_blob_unref(blob);
    vls_store_close(store);
    return rc;
}

TEST(object, every_allocation_fails)
{
    fault_each_alloc(t, 0, put_and_get, NULL);
}
