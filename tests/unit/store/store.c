/* store.c -- stores: open, collections, transactions, sums, meta. [K17 K19] */
#include "store/store.h"

#include "base/hex.h"
#include "store/kit.h"

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

TEST(store, rows_come_back_with_the_seq_that_made_them)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    vls_store *store = kit_open(t, pins);
    const vls_coll *coll = vls_store_coll(store, &pin_coll);
    valise_cell row[VALISE_MAX_COLUMNS] = {text("a"), integer(7), {0}};

    CHECK_INT(VLS_TABLE_OWN_COUNT, coll->number);
    CHECK_TEXT("test_pin", coll->table.name);
    CHECK(vls_store_coll_named(store, VLS_STR("test.pin")) == coll);
    kit_begin(t, &txn, store, VALISE_TXN_WRITE);
    CHECK_INT(0, txn.tip.seq);
    CHECK_OK(vls_txn_put(&txn, coll, row, 42, &t->err));
    kit_commit(t, &txn);
    kit_begin(t, &txn, store, VALISE_TXN_READ);
    CHECK_RC(1, vls_txn_get(row, &txn, coll, &(valise_cell){text("a").type, .as = text("a").as},
                            &t->err));
    CHECK_INT(7, row[1].as.integer);
    CHECK_INT(42, row[vls_coll_seq_column(coll)].as.integer);
    kit_commit(t, &txn);
    kit_close(store);
}
