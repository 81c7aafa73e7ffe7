/* retention.c -- how much of the log may go, to the entry and to the byte. [K30] */
#include "store/retention.h"

#include "stage.h"
#include "store/own.h"

TEST_PARAMS(bound, "memory", "sqlite")

#define ENTRIES 9

/* Entries of different sizes. */
static int put_one(valise_view *view, void *arg, valise_error *err)
{
    int64_t n = *(int64_t *)arg;
    thing row = {VLS_STR("bag"), VLS_STR("name"), n, vls_str("xxxxxxxxxx", (size_t)n)};

    return valise_view_put(view, &stage_things, &row, err);
}

static void fill(stage *k)
{
    for (int64_t n = 1; n <= ENTRIES; n++)
        stage_do(k, put_one, &n);
}

/* What the newest `count` entries take: their texts and blobs as they are, 8 bytes for all else. */
static int64_t bytes_of_newest(vls_txn *txn, int count, valise_error *err)
{
    const vls_coll *log = vls_store_coll_at(txn->store, VLS_TABLE_LOG);
    valise_range range = {.index = -1, .flags = VALISE_SCAN_REVERSE};
    VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
    valise_cell row[VALISE_MAX_COLUMNS];
    int64_t total = 0;

    CHECK_INT(0, vls_txn_scan_open(&scan, txn, log, range, err));
    for (int i = 0; i < count; i++) {
        CHECK_INT(1, vls_txn_scan_next(row, &scan, err));
        for (uint16_t c = 0; c < log->table.column_count; c++) {
            bool sized = row[c].type == VALISE_CELL_TEXT || row[c].type == VALISE_CELL_BLOB;
            total += sized ? (int64_t)row[c].as.bytes.len : 8;
        }
    }
    return total;
}

static const vls_log_limits no_limits = {VALISE_NONE, VALISE_NONE, VALISE_NONE, VALISE_NONE};

static int64_t bound_at(vls_txn *txn, const vls_log_limits *limits, int64_t now)
{
    valise_error err = VALISE_ERROR_INIT;
    int64_t bound = -1;
    int rc = vls_log_bound(&bound, txn, limits, now, &err);

    CHECK_MSG(rc == 0, "%s", err.message);
    return bound;
}

TEST(bound, of_bytes_is_exact)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    vls_log_limits limits = no_limits;
    stage k;

    stage_open(&k, t, t->param, test_tmpdir());
    fill(&k);
    CHECK_OK(vls_txn_begin(&txn, k.store, VALISE_TXN_READ, &t->err));
    CHECK_INT(0, bound_at(&txn, &limits, 0));
    for (int kept = 1; kept <= ENTRIES; kept++) {
        int64_t bytes = bytes_of_newest(&txn, kept, &t->err);
        limits.bytes = bytes;
        CHECK_INT(ENTRIES - kept, bound_at(&txn, &limits, 0));
        limits.bytes = bytes - 1;
        CHECK_INT(VLS_MIN(ENTRIES - kept + 1, ENTRIES - 1), bound_at(&txn, &limits, 0));
    }
    limits.bytes = 0; /* the newest stays */
    CHECK_INT(ENTRIES - 1, bound_at(&txn, &limits, 0));
    vls_txn_rollback(&txn);
    stage_close(&k);
}

TEST(bound, of_count_age_and_pins_is_exact)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    vls_log_limits limits = no_limits;
    stage k;

    stage_open(&k, t, t->param, test_tmpdir());
    fill(&k); /* at 1000, 1001, ... */
    CHECK_OK(vls_txn_begin(&txn, k.store, VALISE_TXN_READ, &t->err));
    for (limits.keep_latest = 1; limits.keep_latest <= ENTRIES; limits.keep_latest++)
        CHECK_INT(ENTRIES - limits.keep_latest, bound_at(&txn, &limits, 0));
    CHECK_INT(0, bound_at(&txn, &limits, 0)); /* one more than there are */
    limits = no_limits;
    limits.age_ns = 100;
    CHECK_INT(0, bound_at(&txn, &limits, 1099));
    CHECK_INT(1, bound_at(&txn, &limits, 1100)); /* it is that old now */
    CHECK_INT(2, bound_at(&txn, &limits, 1101));
    CHECK_INT(ENTRIES - 1, bound_at(&txn, &limits, 9999));
    for (limits.pinned_seq = 0; limits.pinned_seq < ENTRIES; limits.pinned_seq++)
        CHECK_INT(limits.pinned_seq, bound_at(&txn, &limits, 9999));
    vls_txn_rollback(&txn);
    stage_close(&k);
}

TEST(bound, entries_go_in_steps)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    int64_t removed = -1;
    bool more = false;
    stage k;

    stage_open(&k, t, t->param, test_tmpdir());
    fill(&k);
    CHECK_OK(vls_txn_begin(&txn, k.store, VALISE_TXN_WRITE, &t->err));
    CHECK_OK(vls_log_expire(&removed, &more, &txn, 7, 3, &t->err));
    CHECK(removed == 3 && more && txn.tip.base_seq == 3);
    CHECK_OK(vls_log_expire(&removed, &more, &txn, 7, 3, &t->err)); /* all but one */
    CHECK(removed == 3 && more && txn.tip.base_seq == 6);
    CHECK_OK(vls_log_expire(&removed, &more, &txn, 7, 1, &t->err));
    CHECK(removed == 1 && !more && txn.tip.base_seq == 7);
    CHECK_OK(vls_log_expire(&removed, &more, &txn, 7, 4, &t->err));
    CHECK(removed == 0 && !more && txn.tip.base_seq == 7);
    CHECK_OK(vls_txn_commit(&txn, &t->err));
    CHECK_INT(ENTRIES, stage_tip(&k));
    CHECK_RC(VALISE_E_LIMIT, stage_read(&k, 6, NULL, NULL, &t->err));
    CHECK(strstr(t->err.hint, "seq 7"));
    stage_close(&k);
}
