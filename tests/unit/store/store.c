/* store.c -- stores: open, formats, transactions, sums, meta. [K17 K19] */
#include "store/store.h"

#include "base/hex.h"
#include "base/uuid.h"
#include "harness/fault.h"
#include "store/impl.h"
#include "store/kit.h"
#include "store/cache.h"
#include "store/log.h"

TEST_PARAMS(store, KIT_BACKENDS)

typedef struct pin {
    valise_str name;
    int64_t seq;
    valise_id target;
} pin;

static const valise_field pin_fields[] = {
    VALISE_FIELD(pin, name, STR, VALISE_KEY, "Name."),
    VALISE_FIELD(pin, seq, INT, VALISE_NULLABLE, "Seq."),
    VALISE_FIELD_WITH(pin, target, ID, VALISE_NULLABLE, "Object.", .ref = "object"),
    VALISE_FIELD_END,
};
static const char *const by_target[] = {"target", NULL};
static const valise_coll_index pin_indexes[] = {{"target", by_target}, {NULL, NULL}};
static const valise_coll pin_coll = {
    .size = sizeof(valise_coll),
    .name = "test.pin",
    .help = "A pin.",
    .fields = pin_fields,
    .row_size = sizeof(pin),
    .indexes = pin_indexes,
};
static const valise_coll *const pins[] = {&pin_coll, NULL};

static valise_cell text(const char *s)
{
    return (valise_cell){.type = VALISE_CELL_TEXT, .as.bytes = valise_str_of(s)};
}

static valise_cell integer(int64_t value)
{
    return (valise_cell){.type = VALISE_CELL_INT, .as.integer = value};
}

static void put_pin(test *t, vls_store *store, const char *name, int64_t seq)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    valise_cell row[VALISE_MAX_COLUMNS] = {text(name), integer(seq), {0}};

    kit_begin(t, &txn, store, VALISE_TXN_WRITE);
    CHECK_OK(vls_txn_put(&txn, vls_store_coll(store, &pin_coll), row, 42, &t->err));
    kit_commit(t, &txn);
}

static int get_pin(valise_cell *row, test *t, vls_txn *txn, const vls_coll *coll, const char *name)
{
    valise_cell key = text(name);

    return vls_txn_get(row, txn, coll, &key, &t->err);
}

/* ---- rows ---- */

TEST(store, rows_come_back_with_the_seq_that_made_them)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    vls_store *store = kit_open(t, pins);
    const vls_coll *coll = vls_store_coll(store, &pin_coll);
    valise_cell row[VALISE_MAX_COLUMNS];

    CHECK_INT(VLS_TABLE_OWN_COUNT, coll->number);
    CHECK_INT(VLS_TABLE_OWN_COUNT + 1, vls_store_coll_count(store));
    CHECK(vls_store_coll_at(store, VLS_TABLE_OWN_COUNT + 1) == NULL);
    CHECK_TEXT("test_pin", coll->table.name);
    CHECK(vls_store_coll_named(store, VLS_STR("test.pin")) == coll);
    CHECK(vls_store_coll_named(store, VLS_STR("test.other")) == NULL);
    put_pin(t, store, "a", 7);
    kit_begin(t, &txn, store, VALISE_TXN_READ);
    CHECK_RC(1, get_pin(row, t, &txn, coll, "a"));
    CHECK_INT(7, row[1].as.integer);
    CHECK_INT(42, row[vls_coll_seq_column(coll)].as.integer);
    CHECK_RC(0, get_pin(row, t, &txn, coll, "b"));
    kit_commit(t, &txn);
    kit_begin(t, &txn, store, VALISE_TXN_WRITE);
    row[0] = text("a");
    CHECK_RC(1, vls_txn_del(&txn, coll, row, &t->err));
    CHECK_RC(0, vls_txn_del(&txn, coll, row, &t->err));
    kit_commit(t, &txn);
    kit_close(store);
}

/* Flip each cell of a row behind the store's back. [Q19] */
TEST(store, damaged_rows_are_refused_by_name)
{
    vls_store *store = kit_open(t, pins);
    const vls_coll *coll = vls_store_coll(store, &pin_coll);
    const valise_store_ops *ops = vls_store_ops(store, NULL);

    put_pin(t, store, "a", 7);
    for (uint16_t column = 1; column < coll->table.column_count; column++) {
        VLS_AUTO(txn) vls_txn txn = {0};
        VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
        valise_cell row[VALISE_MAX_COLUMNS], key = text("a");
        kit_begin(t, &txn, store, VALISE_TXN_WRITE);
        CHECK_RC(1, get_pin(row, t, &txn, coll, "a"));
        row[column] = column == 2 ? (valise_cell){.type = VALISE_CELL_BLOB,
                                                  .as.bytes = vls_str("0123456789abcdef"
                                                                      "0123456789abcdef",
                                                                      32)}
                                  : integer(row[column].as.integer ^ 1);
        CHECK_OK(ops->put(txn.backend, coll->number, row, &t->err));
        vls_cache_clear(txn.cache);
        CHECK_RC(VALISE_E_CORRUPT, vls_txn_get(row, &txn, coll, &key, &t->err));
        CHECK_TEXT("test.pin a does not match its checksum", t->err.message);
        CHECK_TEXT("'valise validate' looks for further damage", t->err.hint);
        CHECK_OK(vls_txn_scan_open(&scan, &txn, coll, (valise_range){.index = -1}, &t->err));
        CHECK_RC(VALISE_E_CORRUPT, vls_txn_scan_next(row, &scan, &t->err));
        vls_txn_scan_close(&scan);
        CHECK_OK(vls_txn_scan_open(&scan, &txn, coll, (valise_range){.index = -1}, &t->err));
        scan.unchecked = true;
        CHECK_RC(1, vls_txn_scan_next(row, &scan, &t->err));
        CHECK_RC(VALISE_E_CORRUPT, vls_txn_check_row(&txn, coll, row, &t->err));
        vls_txn_scan_close(&scan);
    }
    kit_close(store);
}

TEST(store, own_rows_are_structs)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_store *store = kit_open(t, NULL);
    vls_cursor_row cursor = {.name = VLS_STR("search"), .seq = 12, .item = 3};
    vls_gone gone = {.coll = 9, .key = VLS_STR("a\0b"), .seq = 4};

    vls_arena_init(&arena, t->env, 1 << 20);
    kit_begin(t, &txn, store, VALISE_TXN_WRITE);
    CHECK_RC(0, vls_own_get(&cursor, &txn, VLS_TABLE_CURSOR, &arena, &t->err));
    CHECK_OK(vls_own_put(&txn, VLS_TABLE_CURSOR, &cursor, &t->err));
    CHECK_OK(vls_own_put(&txn, VLS_TABLE_GONE, &gone, &t->err));
    cursor = (vls_cursor_row){.name = VLS_STR("search")};
    CHECK_RC(1, vls_own_get(&cursor, &txn, VLS_TABLE_CURSOR, &arena, &t->err));
    CHECK(cursor.seq == 12 && cursor.item == 3);
    gone.seq = 0;
    CHECK_RC(1, vls_own_get(&gone, &txn, VLS_TABLE_GONE, &arena, &t->err));
    CHECK_INT(4, gone.seq);
    CHECK_RC(1, vls_own_del(&txn, VLS_TABLE_CURSOR, &cursor, &t->err));
    CHECK_RC(0, vls_own_del(&txn, VLS_TABLE_CURSOR, &cursor, &t->err));
    vls_txn_rollback(&txn);
    kit_close(store);
}

/* txn.c reads these columns by number. */
TEST(store, columns_of_the_log)
{
    const valise_field *fields = vls_own_colls[VLS_TABLE_LOG]->fields;

    CHECK_TEXT("seq", fields[VLS_LOG_SEQ].name);
    CHECK_TEXT("time", fields[VLS_LOG_TIME].name);
    CHECK_TEXT("hash", fields[VLS_LOG_HASH].name);
}

/* ---- the tip ---- */

static void append(test *t, vls_txn *txn, int64_t time)
{
    vls_entry entry = {.seq = txn->tip.seq + 1,
                       .id = {{(uint8_t)(txn->tip.seq + 1)}},
                       .time = time,
                       .actor = VLS_STR("local"),
                       .type = VLS_STR("test:do"),
                       .nonce = VLS_STR("0123456789abcdef"),
                       .payload = VLS_STR("{}"),
                       .result = VLS_STR("{}")};

    CHECK_OK(vls_log_append(txn, &entry, &t->err));
}

static void check_tip(test *t, vls_store *store, int64_t seq, int64_t time)
{
    for (int mode = VALISE_TXN_READ; mode <= VALISE_TXN_WRITE; mode++) {
        VLS_AUTO(txn) vls_txn txn = {0};
        kit_begin(t, &txn, store, mode);
        CHECK_INT(seq, txn.tip.seq);
        CHECK_INT(time, txn.tip.time);
    }
}

TEST(store, the_tip_is_the_last_entry)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    vls_store *store = kit_open(t, NULL);
    vls_tip tip;

    check_tip(t, store, 0, 0);
    kit_begin(t, &txn, store, VALISE_TXN_WRITE);
    append(t, &txn, 100);
    append(t, &txn, 200);
    kit_commit(t, &txn);
    check_tip(t, store, 2, 200);
    kit_begin(t, &txn, store, VALISE_TXN_WRITE);
    append(t, &txn, 300);
    vls_txn_rollback(&txn);
    check_tip(t, store, 2, 200); /* nothing of it stays */

    /* All entries expire: what is known of the last one stands in meta. */
    kit_begin(t, &txn, store, VALISE_TXN_WRITE);
    tip = txn.tip;
    CHECK_RC(1, vls_log_delete(&txn, 1, &t->err));
    CHECK_RC(1, vls_log_delete(&txn, 2, &t->err));
    CHECK_OK(vls_meta_put_int(&txn, "base_seq", 2, &t->err));
    CHECK_OK(vls_meta_put_int(&txn, "base_time", 200, &t->err));
    CHECK_OK(vls_meta_put_str(&txn, "base_hash", valise_str_of(vls_id_hex(&tip.hash).s), &t->err));
    kit_commit(t, &txn);
    check_tip(t, store, 2, 200);
    kit_begin(t, &txn, store, VALISE_TXN_READ);
    CHECK(vls_id_equal(&tip.hash, &txn.tip.hash));
    CHECK_INT(2, txn.tip.base_seq);
    kit_commit(t, &txn);
    kit_close(store);
}

TEST(store, the_tip_moves_when_another_handle_writes)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    vls_store *one, *two;

    if (!kit_keeps(t))
        SKIP("two handles of a store in memory are two stores");
    one = kit_open(t, NULL);
    two = kit_open(t, NULL);
    for (int64_t i = 1; i <= 6; i++) {
        kit_begin(t, &txn, i % 3 ? one : two, VALISE_TXN_WRITE);
        CHECK_INT(i - 1, txn.tip.seq);
        append(t, &txn, i);
        kit_commit(t, &txn);
        check_tip(t, one, i, i);
        check_tip(t, two, i, i);
    }
    kit_close(one);
    kit_close(two);
}

/* ---- meta ---- */

TEST(store, meta_holds_numbers_and_texts)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    vls_store *store = kit_open(t, NULL);
    int64_t number = 5;

    kit_begin(t, &txn, store, VALISE_TXN_WRITE);
    CHECK_RC(0, vls_meta_get_int(&number, &txn, "n", &t->err));
    CHECK_INT(5, number);
    CHECK_OK(vls_meta_put_int(&txn, "n", INT64_MIN, &t->err));
    CHECK_OK(vls_meta_put_str(&txn, "s", VLS_STR("a\"b\n\xc3\xa9"), &t->err));
    CHECK_RC(1, vls_meta_get_int(&number, &txn, "n", &t->err));
    CHECK(number == INT64_MIN);
    CHECK_RC(VALISE_E_CORRUPT, vls_meta_get_int(&number, &txn, "s", &t->err));
    CHECK_OK(vls_meta_delete(&txn, "n", &t->err));
    CHECK_OK(vls_meta_delete(&txn, "n", &t->err));
    CHECK_RC(0, vls_meta_get_int(&number, &txn, "n", &t->err));
    kit_commit(t, &txn);
    kit_close(store);
}

/* What a transaction sees of meta follows every change, also of one that a mark undid. */
TEST(store, every_change_of_meta_is_seen)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    vls_store *store = kit_open(t, NULL);

    for (int64_t i = 1; i < 5; i++) {
        kit_begin(t, &txn, store, VALISE_TXN_WRITE);
        CHECK_INT(i - 1, txn.meta.gc_epoch);
        CHECK_OK(vls_txn_mark(&txn, VALISE_MARK_SET, &t->err));
        CHECK_OK(vls_meta_put_int(&txn, "gc_epoch", 99, &t->err));
        CHECK_OK(vls_txn_mark(&txn, VALISE_MARK_BACK, &t->err));
        CHECK_OK(vls_meta_put_int(&txn, "gc_epoch", i, &t->err));
        kit_commit(t, &txn);
        kit_begin(t, &txn, store, VALISE_TXN_READ);
        CHECK_INT(i, txn.meta.gc_epoch);
        kit_commit(t, &txn);
    }
    kit_close(store);
}

TEST(store, damaged_meta_is_refused)
{
    static const struct {
        const char *name, *value;
    } bad[] = {{"format", "\"one\""},  {"base_hash", "\"12\""}, {"base_hash", "12"},
               {"workspace", "\"x\""}, {"gc_epoch", "1.5"},     {"generation", "{}"}};

    for (size_t i = 0; i < VLS_COUNT(bad); i++) {
        VLS_AUTO(txn) vls_txn txn = {0};
        vls_store *store = kit_open(t, NULL);
        vls_meta_row row = {.name = valise_str_of(bad[i].name),
                            .value = valise_str_of(bad[i].value)};
        kit_begin(t, &txn, store, VALISE_TXN_WRITE);
        CHECK_OK(vls_meta_put_int(&txn, "x", (int64_t)i, &t->err));
        CHECK_OK(vls_own_put(&txn, VLS_TABLE_META, &row, &t->err));
        kit_commit(t, &txn);
        CHECK_RC(VALISE_E_CORRUPT, vls_txn_begin(&txn, store, VALISE_TXN_READ, &t->err));
        CHECK(strstr(t->err.message, bad[i].name));
        CHECK_RC(VALISE_E_CORRUPT, vls_txn_begin(&txn, store, VALISE_TXN_WRITE, &t->err));
        kit_close(store);
        kit_remove();
    }
}

/* ---- open ---- */

static valise_uuid workspace_of(test *t, vls_store *store)
{
    VLS_AUTO(txn) vls_txn txn = {0};

    CHECK_OK(vls_txn_begin(&txn, store, VALISE_TXN_READ, &t->err));
    return txn.meta.workspace;
}

TEST(store, a_new_one_has_an_id_and_keeps_it)
{
    vls_store *store = kit_open(t, pins), *again;
    valise_uuid id = workspace_of(t, store), other;

    CHECK(vls_uuid_is_v7(&id));
    CHECK(vls_store_env(store) == t->env && !vls_store_read_only(store));
    kit_close(store);
    again = kit_open(t, pins);
    other = workspace_of(t, again);
    CHECK_INT(kit_keeps(t), vls_uuid_equal(&id, &other));
    kit_close(again);
}

TEST(store, flags_of_open)
{
    vls_store_options options = kit_options(t, pins);
    VLS_AUTO(txn) vls_txn txn = {0};
    vls_store *store = NULL;
    valise_cell row[VALISE_MAX_COLUMNS];

    if (!kit_keeps(t))
        SKIP("a store in memory is always new");
    options.flags = 0;
    CHECK_RC(VALISE_E_NOT_FOUND, vls_store_open(&store, &options, &t->err));
    options.flags = VALISE_STORE_READ_ONLY;
    CHECK_RC(VALISE_E_NOT_FOUND, vls_store_open(&store, &options, &t->err));
    options.flags = VALISE_STORE_CREATE | VALISE_STORE_EXCLUSIVE;
    CHECK_OK(vls_store_open(&store, &options, &t->err));
    put_pin(t, store, "a", 7);
    kit_close(store);
    CHECK_RC(VALISE_E_EXISTS, vls_store_open(&store, &options, &t->err));
    options.flags = VALISE_STORE_READ_ONLY;
    CHECK_OK(vls_store_open(&store, &options, &t->err));
    CHECK(vls_store_read_only(store));
    CHECK_RC(VALISE_E_DENIED, vls_txn_begin(&txn, store, VALISE_TXN_WRITE, &t->err));
    kit_begin(t, &txn, store, VALISE_TXN_READ);
    CHECK_RC(1, get_pin(row, t, &txn, vls_store_coll(store, &pin_coll), "a"));
    kit_commit(t, &txn);
    kit_close(store);
}

/* Meta is empty but something else is not: no program made that. */
TEST(store, without_a_format_it_is_damaged)
{
    vls_store_options options = kit_options(t, pins);
    VLS_AUTO(txn) vls_txn txn = {0};
    vls_store *store;
    const char *const names[] = {"format", "generation", "workspace", "collections", "schema"};

    if (!kit_keeps(t))
        SKIP("a store in memory is always new");
    for (unsigned empty = 0; empty < 2; empty++) {
        store = kit_open(t, empty ? NULL : pins);
        kit_begin(t, &txn, store, VALISE_TXN_WRITE);
        for (size_t i = 0; i < VLS_COUNT(names); i++) {
            valise_cell key = text(names[i]);
            CHECK(vls_txn_del(&txn, vls_store_coll_at(store, VLS_TABLE_META), &key, &t->err) >= 0);
        }
        kit_commit(t, &txn);
        kit_close(store);
        options.flags = VALISE_STORE_READ_ONLY;
        CHECK_RC(VALISE_E_NOT_FOUND, vls_store_open(&store, &options, &t->err));
        options.flags = 0;
        CHECK_RC(empty ? 0 : VALISE_E_CORRUPT, vls_store_open(&store, &options, &t->err));
        if (empty)
            kit_close(store); /* a program had died before it wrote anything */
        kit_remove();
    }
}

TEST(store, backends_must_be_whole)
{
    vls_store_options options = kit_options(t, NULL);
    valise_store_ops ops = *options.ops;
    vls_store *store = NULL;

    options.ops = &ops;
    ops.abi = 2;
    CHECK_RC(VALISE_E_UNSUPPORTED, vls_store_open(&store, &options, &t->err));
    ops = *kit_ops(t->param);
    ops.size = 16;
    CHECK_RC(VALISE_E_INVALID, vls_store_open(&store, &options, &t->err));
    ops = *kit_ops(t->param);
    ops.scan_next = NULL;
    CHECK_RC(VALISE_E_INVALID, vls_store_open(&store, &options, &t->err));
    ops = *kit_ops(t->param);
    ops.size = offsetof(valise_store_ops, maintain); /* of before there was maintain */
    CHECK_OK(vls_store_open(&store, &options, &t->err));
    CHECK(vls_store_ops(store, NULL)->maintain == NULL);
    kit_close(store);
}

/* ---- formats [K19] ---- */

static int migrated_from[8];
static int migrations_run;

static int step_1(vls_txn *txn, valise_error *err)
{
    migrated_from[migrations_run++] = 1;
    return vls_meta_put_int(txn, "step", 1, err);
}

static int step_2(vls_txn *txn, valise_error *err)
{
    migrated_from[migrations_run++] = 2;
    return vls_meta_put_int(txn, "step", 2, err);
}

static int step_fails(vls_txn *txn, valise_error *err)
{
    (void)txn;
    return vls_fail(err, VALISE_E_IO, "the disk is full");
}

static int open_as(vls_store **out, test *t, int64_t format, const vls_migration *migrations,
                   unsigned flags)
{
    vls_store_options options = kit_options(t, pins);

    options.format = format;
    options.migrations = migrations;
    options.flags = flags;
    return vls_store_open(out, &options, &t->err);
}

TEST(store, formats)
{
    static const vls_migration both[] = {{2, step_2}, {1, step_1}, {0, NULL}};
    static const vls_migration broken[] = {{1, step_1}, {2, step_fails}, {0, NULL}};
    VLS_AUTO(txn) vls_txn txn = {0};
    vls_store *store = NULL, *old = NULL;
    valise_cell row[VALISE_MAX_COLUMNS];
    int64_t step;

    if (!kit_keeps(t))
        SKIP("a store in memory is always new");
    CHECK_OK(open_as(&old, t, 0, NULL, VALISE_STORE_CREATE));
    put_pin(t, old, "a", 7);

    /* An older one is not touched by who may not write. */
    CHECK_RC(VALISE_E_UNSUPPORTED, open_as(&store, t, 3, both, VALISE_STORE_READ_ONLY));
    CHECK(strstr(t->err.message, "format 1") && strstr(t->err.message, "format 3"));
    CHECK(strstr(t->err.hint, "valise status"));

    /* A step that is missing or fails leaves it as it was. */
    CHECK_RC(VALISE_E_UNSUPPORTED, open_as(&store, t, 4, both, 0));
    CHECK_RC(VALISE_E_IO, open_as(&store, t, 3, broken, 0));
    kit_begin(t, &txn, old, VALISE_TXN_WRITE);
    CHECK_RC(0, vls_meta_get_int(&step, &txn, "step", &t->err));
    vls_txn_rollback(&txn);

    migrations_run = 0;
    CHECK_OK(open_as(&store, t, 3, both, 0));
    CHECK(migrations_run == 2 && migrated_from[0] == 1 && migrated_from[1] == 2);
    kit_begin(t, &txn, store, VALISE_TXN_READ);
    CHECK_RC(1, vls_meta_get_int(&step, &txn, "step", &t->err));
    CHECK_INT(2, step);
    CHECK_RC(1, get_pin(row, t, &txn, vls_store_coll(store, &pin_coll), "a"));
    kit_commit(t, &txn);

    /* The handle of the older program does not go on. */
    for (int mode = VALISE_TXN_READ; mode <= VALISE_TXN_WRITE; mode++) {
        CHECK_RC(VALISE_E_UNSUPPORTED, vls_txn_begin(&txn, old, mode, &t->err));
        CHECK(strstr(t->err.message, "from format 1 to 3"));
    }
    kit_close(old);
    kit_close(store);

    CHECK_RC(VALISE_E_UNSUPPORTED, open_as(&store, t, 2, both, 0));
    CHECK(strstr(t->err.message, "format 3") && strstr(t->err.message, "format 2"));
    CHECK(strstr(t->err.hint, "newer version"));
    migrations_run = 0;
    CHECK_OK(open_as(&store, t, 3, both, 0));
    CHECK_INT(0, migrations_run);
    kit_close(store);
}

/* ---- memory ---- */

static int open_once(fault *f, void *arg)
{
    vls_store_options options = kit_options(f->t, pins);
    vls_store *store = NULL;
    VLS_AUTO(txn) vls_txn txn = {0};
    valise_cell row[VALISE_MAX_COLUMNS] = {text("a"), integer(7), {0}};
    valise_cell key = text("a");
    int rc;

    (void)arg;
    options.env = f->env;
    options.where = f->dir;
    rc = vls_store_open(&store, &options, &f->err);
    if (rc == 0)
        rc = vls_txn_begin(&txn, store, VALISE_TXN_WRITE, &f->err);
    if (rc == 0)
        rc = vls_txn_put(&txn, vls_store_coll(store, &pin_coll), row, 1, &f->err);
    if (rc == 0)
        rc = vls_meta_put_str(&txn, "s", VLS_STR("abc"), &f->err);
    if (rc == 0)
        rc = vls_txn_commit(&txn, &f->err);
    if (rc == 0)
        rc = vls_txn_begin(&txn, store, VALISE_TXN_READ, &f->err);
    if (rc == 0)
        rc = vls_txn_get(row, &txn, vls_store_coll(store, &pin_coll), &key, &f->err);
    vls_txn_rollback(&txn);
    vls_store_close(store);
    return rc < 0 ? rc : 0;
}

TEST(store, every_allocation_fails)
{
    fault_each_alloc(t, 0, open_once, NULL);
    fault_each_alloc(t, FAULT_ONWARD, open_once, NULL);
}
