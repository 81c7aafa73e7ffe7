/* store.c -- the contract of include/valise/sys/store.h: rows and tables. Each test runs once per
 * backend. [K17]
 *
 * store_scan.c has the order and the ranges, store_txn.c transactions and marks. */
#include "kit.h"

#include <float.h>

TEST_PARAMS(store, "memory", "sqlite")

TEST(store, has_its_functions)
{
    const valise_store_ops *ops = kit_ops(t->param);

    CHECK_INT(sizeof(valise_store_ops), ops->size);
    CHECK_INT(VALISE_STORE_ABI, ops->abi);
    CHECK_TEXT(t->param, ops->name);
    ops->close(NULL);
}

TEST(store, gives_back_what_was_put)
{
    kit *k = kit_open(t);
    void *txn = kit_begin(k, VALISE_TXN_WRITE);
    const valise_cell row[] = {cell_text("alpha"), cell_int(-7),
                               cell_text("gamma"), cell_blob(VLS_STR("\xff\0z")),
                               cell_real(2.5),     cell_int(9)};
    valise_cell got[6];

    CHECK_RC(0, k->ops->get(got, txn, KIT_NOTE, row, &t->err));
    CHECK_OK(k->ops->put(txn, KIT_NOTE, row, &t->err));
    for (int again = 0; again < 3; again++) {
        CHECK_RC(1, k->ops->get(got, txn, KIT_NOTE, row, &t->err));
        for (size_t i = 0; i < VLS_COUNT(row); i++)
            CHECK_MSG(cell_equal(&row[i], &got[i]), "cell %zu", i);
        if (again == 0) {
            kit_commit(k, txn);
            txn = kit_begin(k, VALISE_TXN_READ);
        } else if (again == 1) {
            kit_commit(k, txn);
            kit_reopen(k);
            txn = kit_begin(k, VALISE_TXN_READ);
        }
    }
    k->ops->rollback(txn);
}

/* Empty is not NULL, NUL is a byte like others, numbers go to their ends. */
TEST(store, keeps_cells_at_the_edges)
{
    static const int64_t ints[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, 127, 128, INT64_MAX};
    static const double reals[] = {-DBL_MAX, -1.5, -1, 0, DBL_TRUE_MIN, 1, 1e300, DBL_MAX};
    const valise_str strs[] = {VLS_STR(""),     {NULL, 0},       VLS_STR("\0"),
                               VLS_STR("a\0b"), VLS_STR("a\0c"), VLS_STR("\xc3\xa4"),
                               VLS_STR("5"),    VLS_STR("0x10")};
    kit *k = kit_open(t);
    void *txn = kit_begin(k, VALISE_TXN_WRITE);
    valise_cell got[6];

    for (size_t i = 0; i < VLS_COUNT(ints); i++) {
        const valise_cell row[] = {cell_str(strs[i]),  cell_int(ints[i]),   cell_str(strs[i]),
                                   cell_blob(strs[i]), cell_real(reals[i]), cell_int(ints[i])};
        CHECK_OK(k->ops->put(txn, KIT_NOTE, row, &t->err));
    }
    kit_commit(k, txn);
    kit_reopen(k);
    txn = kit_begin(k, VALISE_TXN_READ);
    for (size_t i = 0; i < VLS_COUNT(ints); i++) {
        const valise_cell key[] = {cell_str(strs[i]), cell_int(ints[i])};
        CHECK_RC(1, k->ops->get(got, txn, KIT_NOTE, key, &t->err));
        CHECK_INT(VALISE_CELL_TEXT, got[2].type);
        CHECK_STR(strs[i], got[2].as.bytes);
        CHECK_INT(VALISE_CELL_BLOB, got[3].type);
        CHECK_STR(strs[i], got[3].as.bytes);
        CHECK_INT(VALISE_CELL_REAL, got[4].type);
        CHECK(got[4].as.real == reals[i]);
        CHECK_INT(ints[i], got[5].as.integer);
    }
    kit_commit(k, txn);
}

TEST(store, keeps_minus_zero_as_zero_and_infinities)
{
    kit *k = kit_open(t);
    void *txn = kit_begin(k, VALISE_TXN_WRITE);
    const double inf = 1e308 * 10;
    const valise_cell rows[][2] = {{cell_real(-0.0), cell_real(-0.0)},
                                   {cell_real(inf), cell_real(-inf)},
                                   {cell_real(-inf), cell_real(inf)}};
    const valise_cell zero = cell_real(0.0);
    valise_cell got[2];

    for (size_t i = 0; i < VLS_COUNT(rows); i++)
        CHECK_OK(k->ops->put(txn, KIT_REAL, rows[i], &t->err));
    CHECK_RC(1, k->ops->get(got, txn, KIT_REAL, &zero, &t->err));
    CHECK(!__builtin_signbit(got[0].as.real) && !__builtin_signbit(got[1].as.real));
    CHECK_RC(1, k->ops->get(got, txn, KIT_REAL, &rows[0][0], &t->err));
    CHECK_TEXT("(-inf inf) (0 0) (inf -inf)", kit_all(k, txn, KIT_REAL, 2));
    CHECK_TEXT("(inf -inf) (0 0) (-inf inf)",
               kit_scan(k, txn, &(valise_range){.table = KIT_REAL, .index = 0}, 2));
    kit_commit(k, txn);
}

TEST(store, keeps_large_cells_and_long_keys)
{
    const size_t large = 5u << 20;
    char *bytes = test_alloc(large);
    char *name = test_alloc(20000);
    kit *k = kit_open(t);
    void *txn = kit_begin(k, VALISE_TXN_WRITE);
    valise_cell got[6];

    for (size_t i = 0; i < large; i++)
        bytes[i] = (char)(i * 31 + i / 251);
    memset(name, 'n', 20000);
    for (size_t len = 19998; len <= 20000; len++) {
        const valise_cell row[] = {
            cell_str(vls_str(name, len)),     cell_int(1), cell_str(vls_str(name, len)),
            cell_blob(vls_str(bytes, large)), CELL_NULL,   cell_int(0)};
        CHECK_OK(k->ops->put(txn, KIT_NOTE, row, &t->err));
    }
    kit_commit(k, txn);
    kit_reopen(k);
    txn = kit_begin(k, VALISE_TXN_READ);
    const valise_cell key[] = {cell_str(vls_str(name, 19999)), cell_int(1)};
    CHECK_RC(1, k->ops->get(got, txn, KIT_NOTE, key, &t->err));
    CHECK_STR(vls_str(name, 19999), got[2].as.bytes);
    CHECK(vls_str_equal(vls_str(bytes, large), got[3].as.bytes));
    CHECK_INT(3, kit_count(k, txn, KIT_NOTE, 0));
    kit_commit(k, txn);
}

TEST(store, put_replaces_and_moves_the_entries_of_indexes)
{
    kit *k = kit_open(t);
    void *txn = kit_begin(k, VALISE_TXN_WRITE);
    const valise_range by_c = {.table = KIT_NOTE, .index = 0};
    const valise_range by_f = {.table = KIT_NOTE, .index = 1};

    kit_put_note(k, txn, "a", 1, "x", 5);
    kit_put_note(k, txn, "b", 1, "y", 4);
    kit_put_note(k, txn, "c", 1, NULL, 3);
    CHECK_TEXT("(c 1 -) (a 1 x) (b 1 y)", kit_scan(k, txn, &by_c, 3));
    CHECK_TEXT("(c 1 -) (b 1 y) (a 1 x)", kit_scan(k, txn, &by_f, 3));
    kit_put_note(k, txn, "a", 1, "z", 5); /* moves in one index, stays in the other */
    CHECK_TEXT("(c 1 -) (b 1 y) (a 1 z)", kit_scan(k, txn, &by_c, 3));
    CHECK_TEXT("(c 1 -) (b 1 y) (a 1 z)", kit_scan(k, txn, &by_f, 3));
    kit_put_note(k, txn, "a", 1, NULL, 1);
    kit_put_note(k, txn, "c", 1, "w", 3);
    CHECK_TEXT("(a 1 -) (c 1 w) (b 1 y)", kit_scan(k, txn, &by_c, 3));
    CHECK_TEXT("(a 1 -) (c 1 w) (b 1 y)", kit_scan(k, txn, &by_f, 3));
    CHECK_TEXT("(a 1 -) (b 1 y) (c 1 w)", kit_all(k, txn, KIT_NOTE, 3));
    for (int32_t index = -1; index < 3; index++)
        CHECK_INT(3, kit_count(k, txn, KIT_NOTE, index));
    kit_commit(k, txn);
}

TEST(store, del_says_whether_there_was_one)
{
    kit *k = kit_open(t);
    void *txn = kit_begin(k, VALISE_TXN_WRITE);
    const valise_cell key[] = {cell_text("a"), cell_int(1)};
    const valise_cell other[] = {cell_text("a"), cell_int(2)};

    CHECK_RC(0, k->ops->del(txn, KIT_NOTE, key, &t->err));
    kit_put_note(k, txn, "a", 1, "x", 5);
    CHECK_RC(0, k->ops->del(txn, KIT_NOTE, other, &t->err));
    CHECK_RC(1, k->ops->del(txn, KIT_NOTE, key, &t->err));
    CHECK_RC(0, k->ops->del(txn, KIT_NOTE, key, &t->err));
    for (int32_t index = -1; index < 3; index++)
        CHECK_INT(0, kit_count(k, txn, KIT_NOTE, index));
    kit_commit(k, txn);
}

/* Bits of `which` say which cells are others. */
static void fill_note(valise_cell row[6], unsigned which)
{
    row[0] = cell_text("a");
    row[1] = cell_int(1);
    row[2] = which & 1 ? CELL_NULL : cell_text("c");
    row[3] = which & 2 ? cell_blob(VLS_STR("d")) : CELL_NULL;
    row[4] = which & 4 ? cell_real(-0.5) : cell_real(0);
    row[5] = cell_int(which & 8 ? INT64_MIN : 5);
}

/* Whatever differs, and whatever was put last: another row, the same one, or none. [K17] */
TEST(store, put_over_any_other_row)
{
    kit *k = kit_open(t);
    void *txn = kit_begin(k, VALISE_TXN_WRITE);
    valise_cell row[6], got[6];

    for (unsigned i = 0; i < 16 * 16 * 4; i++) {
        unsigned from = i / 4 % 16, to = i / 64, last = i % 4;
        fill_note(row, from);
        CHECK_OK(k->ops->put(txn, KIT_NOTE, row, &t->err));
        if (last == 1)
            kit_put_note(k, txn, "beside", (int64_t)i, "c", 5);
        if (last == 2)
            CHECK_OK(k->ops->put(txn, KIT_NOTE, row, &t->err));
        if (last == 3)
            CHECK_RC(1, k->ops->del(txn, KIT_NOTE, row, &t->err));
        fill_note(row, to);
        CHECK_OK(k->ops->put(txn, KIT_NOTE, row, &t->err));
        CHECK_RC(1, k->ops->get(got, txn, KIT_NOTE, row, &t->err));
        CHECK_TEXT(kit_row_text(&kit_tables[KIT_NOTE], row),
                   kit_row_text(&kit_tables[KIT_NOTE], got));
    }
    for (int32_t index = -1; index < 3; index++)
        CHECK_INT(257, kit_count(k, txn, KIT_NOTE, index));
    kit_commit(k, txn);
}

/* A row is read, one cell is changed, and it is put: the others are still those of the store. */
TEST(store, cells_of_get_may_be_put)
{
    kit *k = kit_open(t);
    void *txn = kit_begin(k, VALISE_TXN_WRITE);
    const valise_cell key[] = {cell_text("a"), cell_int(1)};
    valise_cell row[6], got[6];

    kit_put_note(k, txn, "a", 1, "a text that does not fit into any small place", 5);
    CHECK_RC(1, k->ops->get(row, txn, KIT_NOTE, key, &t->err));
    row[5] = cell_int(6);
    CHECK_OK(k->ops->put(txn, KIT_NOTE, row, &t->err));
    CHECK_RC(1, k->ops->get(row, txn, KIT_NOTE, key, &t->err));
    CHECK_RC(1, k->ops->get(got, txn, KIT_NOTE, row, &t->err)); /* its key is of the last get */
    CHECK_TEXT("(a 1 a text that does not fit into any small place - - 6)",
               kit_row_text(&kit_tables[KIT_NOTE], got));
    CHECK_RC(1, k->ops->del(txn, KIT_NOTE, got, &t->err));
    CHECK_INT(0, kit_count(k, txn, KIT_NOTE, 0));
    kit_commit(k, txn);
}

TEST(store, refuses_cells_that_do_not_fit)
{
    kit *k = kit_open(t);
    void *txn = kit_begin(k, VALISE_TXN_WRITE);
    const valise_cell good[] = {cell_text("a"), cell_int(1), CELL_NULL,
                                CELL_NULL,      CELL_NULL,   cell_int(0)};
    const struct {
        int cell;
        valise_cell value;
    } bad[] = {{0, CELL_NULL},
               {0, cell_blob(VLS_STR("a"))},
               {1, cell_real(1)},
               {2, cell_int(1)},
               {4, cell_real(__builtin_nan(""))},
               {4, cell_int(1)},
               {5, CELL_NULL},
               {3, {.type = 77}}};
    valise_cell row[6];

    for (size_t i = 0; i < VLS_COUNT(bad); i++) {
        memcpy(row, good, sizeof(row));
        row[bad[i].cell] = bad[i].value;
        CHECK_RC(VALISE_E_INVALID, k->ops->put(txn, KIT_NOTE, row, &t->err));
        CHECK(strstr(t->err.message, "note"));
    }
    CHECK_RC(VALISE_E_INVALID, k->ops->get(row, txn, KIT_NOTE, &bad[0].value, &t->err));
    CHECK_RC(VALISE_E_INVALID, k->ops->del(txn, KIT_NOTE, &bad[0].value, &t->err));
    CHECK_RC(VALISE_E_INVALID, k->ops->put(txn, 99, row, &t->err));
    CHECK_RC(VALISE_E_INVALID, k->ops->get(row, txn, 99, good, &t->err));
    memcpy(row, good, sizeof(row));
    row[3] = cell_blob(vls_str("", (size_t)VALISE_MAX_ROW_BYTES + 1));
    CHECK_RC(VALISE_E_TOO_LARGE, k->ops->put(txn, KIT_NOTE, row, &t->err));
    CHECK_OK(k->ops->put(txn, KIT_NOTE, good, &t->err)); /* none of this spoiled anything */
    kit_commit(k, txn);
}

TEST(store, refuses_changes_in_a_transaction_that_reads)
{
    kit *k = kit_open(t);
    void *txn = kit_begin(k, VALISE_TXN_READ);
    const valise_cell row[] = {cell_int(1), cell_blob(VLS_STR("")), CELL_NULL};
    bool changed;

    CHECK_RC(VALISE_E_INVALID, k->ops->put(txn, KIT_NUMBER, row, &t->err));
    CHECK_RC(VALISE_E_INVALID, k->ops->del(txn, KIT_NUMBER, row, &t->err));
    CHECK_RC(VALISE_E_INVALID, k->ops->mark(txn, VALISE_MARK_SET, &t->err));
    CHECK_RC(VALISE_E_INVALID, k->ops->create(txn, KIT_NUMBER, 1, &t->err));
    CHECK_RC(VALISE_E_INVALID, k->ops->changed(&changed, txn, &t->err));
    kit_commit(k, txn);
}

/* ---- tables that come later ---- */

#define LATER KIT_TABLES

static const valise_column later_columns[] = {{"k", VALISE_CELL_TEXT, false},
                                              {"v", VALISE_CELL_INT, false},
                                              {"w", VALISE_CELL_TEXT, true},
                                              {"u", VALISE_CELL_REAL, true}};
static const valise_table_index later_indexes[] = {{"by_v", (const uint16_t[]){1}, 1},
                                                   {"by_w", (const uint16_t[]){2}, 1}};
static const valise_table later_small = {.name = "later",
                                         .columns = later_columns,
                                         .column_count = 2,
                                         .key_count = 1,
                                         .indexes = later_indexes,
                                         .index_count = 1};
static const valise_table later_wide = {.name = "later",
                                        .columns = later_columns,
                                        .column_count = 4,
                                        .key_count = 1,
                                        .indexes = later_indexes,
                                        .index_count = 2};

TEST(store, makes_tables_that_are_attached)
{
    kit *k = kit_open(t);
    const valise_cell row[] = {cell_text("one"), cell_int(1)};
    valise_cell got[4];
    void *txn;

    CHECK_RC(VALISE_E_INVALID, k->ops->attach(k->self, LATER + 1, &later_small, &t->err));
    CHECK_OK(k->ops->attach(k->self, LATER, &later_small, &t->err));
    txn = kit_begin(k, VALISE_TXN_WRITE);
    CHECK_RC(VALISE_E_NOT_FOUND, k->ops->get(got, txn, LATER, row, &t->err));
    CHECK(strstr(t->err.message, "later"));
    CHECK_RC(VALISE_E_NOT_FOUND, k->ops->create(txn, LATER, 1, &t->err));
    CHECK_OK(k->ops->create(txn, LATER, 0, &t->err));
    CHECK_OK(k->ops->put(txn, LATER, row, &t->err));
    k->ops->rollback(txn); /* takes the table back too */

    txn = kit_begin(k, VALISE_TXN_WRITE);
    CHECK_RC(VALISE_E_NOT_FOUND, k->ops->put(txn, LATER, row, &t->err));
    CHECK_OK(k->ops->create(txn, LATER, 0, &t->err));
    CHECK_RC(VALISE_E_EXISTS, k->ops->create(txn, LATER, 0, &t->err));
    CHECK_RC(VALISE_E_INVALID, k->ops->create(txn, LATER, 3, &t->err));
    CHECK_OK(k->ops->put(txn, LATER, row, &t->err));
    kit_commit(k, txn);

    txn = kit_begin(k, VALISE_TXN_READ);
    CHECK_RC(1, k->ops->get(got, txn, LATER, row, &t->err));
    CHECK_TEXT("(one 1)", kit_scan(k, txn, &(valise_range){.table = LATER, .index = 0}, 2));
    kit_commit(k, txn);
}

TEST(store, tables_get_columns_and_indexes)
{
    kit *k = kit_open(t);
    const valise_cell rows[][4] = {{cell_text("one"), cell_int(2), CELL_NULL, CELL_NULL},
                                   {cell_text("two"), cell_int(1), CELL_NULL, CELL_NULL},
                                   {cell_text("two"), cell_int(1), cell_text("w"), cell_real(0.5)}};
    void *txn;

    CHECK_OK(k->ops->attach(k->self, LATER, &later_small, &t->err));
    txn = kit_begin(k, VALISE_TXN_WRITE);
    CHECK_OK(k->ops->create(txn, LATER, 0, &t->err));
    CHECK_OK(k->ops->put(txn, LATER, rows[0], &t->err));
    CHECK_OK(k->ops->put(txn, LATER, rows[1], &t->err));
    kit_commit(k, txn);

    kit_reopen(k);
    CHECK_OK(k->ops->attach(k->self, LATER, &later_wide, &t->err));
    txn = kit_begin(k, VALISE_TXN_WRITE);
    CHECK_OK(k->ops->create(txn, LATER, 2, &t->err));
    CHECK_TEXT("(one 2 - -) (two 1 - -)", kit_all(k, txn, LATER, 4));
    CHECK_TEXT("(one 2 - -) (two 1 - -)",
               kit_scan(k, txn, &(valise_range){.table = LATER, .index = 1}, 4));
    CHECK_OK(k->ops->put(txn, LATER, rows[2], &t->err));
    CHECK_TEXT("(one 2 - -) (two 1 w 0.5)",
               kit_scan(k, txn, &(valise_range){.table = LATER, .index = 1}, 4));
    CHECK_TEXT("(two 1 w 0.5) (one 2 - -)",
               kit_scan(k, txn, &(valise_range){.table = LATER, .index = 0}, 4));
    kit_commit(k, txn);
    txn = kit_begin(k, VALISE_TXN_WRITE);
    CHECK_RC(1, k->ops->del(txn, LATER, rows[0], &t->err));
    CHECK_INT(1, kit_count(k, txn, LATER, 1));
    kit_commit(k, txn);
}

TEST(store, an_index_that_was_not_made_is_not_found)
{
    kit *k = kit_open(t);
    void *txn, *scan = NULL;

    CHECK_OK(k->ops->attach(k->self, LATER, &later_small, &t->err));
    txn = kit_begin(k, VALISE_TXN_WRITE);
    CHECK_OK(k->ops->create(txn, LATER, 0, &t->err));
    kit_commit(k, txn);
    CHECK_OK(k->ops->attach(k->self, LATER, &later_wide, &t->err));
    txn = kit_begin(k, VALISE_TXN_READ);
    CHECK_RC(VALISE_E_NOT_FOUND,
             k->ops->scan_open(&scan, txn, &(valise_range){.table = LATER, .index = 1}, &t->err));
    CHECK(scan == NULL);
    k->ops->rollback(txn);
    CHECK_RC(VALISE_E_INVALID, k->ops->attach(k->self, LATER, &later_small, &t->err));
    CHECK_RC(VALISE_E_INVALID, k->ops->attach(k->self, KIT_NOTE, &later_wide, &t->err));
}

TEST(store, refuses_tables_that_cannot_be)
{
    static const valise_column plain[] = {{"k", VALISE_CELL_INT, false},
                                          {"v", VALISE_CELL_TEXT, true}};
    static const valise_column odd[][2] = {
        {{"k", VALISE_CELL_INT, true}, {"v", VALISE_CELL_INT, true}},
        {{"k", VALISE_CELL_INT, false}, {"k", VALISE_CELL_INT, true}},
        {{"K", VALISE_CELL_INT, false}, {"v", VALISE_CELL_INT, true}},
        {{"k\"", VALISE_CELL_INT, false}, {"v", VALISE_CELL_INT, true}},
        {{"k", VALISE_CELL_NULL, false}, {"v", VALISE_CELL_INT, true}},
        {{"k", 9, false}, {"v", VALISE_CELL_INT, true}},
        {{NULL, VALISE_CELL_INT, false}, {"v", VALISE_CELL_INT, true}},
        {{"", VALISE_CELL_INT, false}, {"v", VALISE_CELL_INT, true}},
        {{"1k", VALISE_CELL_INT, false}, {"v", VALISE_CELL_INT, true}},
    };
    const valise_table_index indexes[][2] = {
        {{"i", (const uint16_t[]){2}, 1}},
        {{"i", (const uint16_t[]){0, 0}, 2}},
        {{"i", NULL, 1}},
        {{"i", (const uint16_t[]){0}, 0}},
        {{"I", (const uint16_t[]){0}, 1}},
        {{"i", (const uint16_t[]){0, 1, 0}, 3}},
        {{"i", (const uint16_t[]){0}, 1}, {"i", (const uint16_t[]){1}, 1}}};
    const valise_table good = {.name = "t", .columns = plain, .column_count = 2, .key_count = 1};
    valise_table tables[7] = {good, good, good, good, good, good, good};
    kit *k = kit_open(t);

    tables[0].name = "sqlite_t";
    tables[1].column_count = 0;
    tables[2].column_count = VALISE_MAX_COLUMNS + 1;
    tables[3].key_count = 3;
    tables[4].key_count = 0;
    tables[5].index_count = 1;
    tables[6].flags = VALISE_TABLE_NUMBERED;
    tables[6].columns = &plain[1];
    tables[6].column_count = 1;
    for (size_t i = 0; i < VLS_COUNT(tables); i++)
        CHECK_RC(VALISE_E_INVALID, k->ops->attach(k->self, LATER, &tables[i], &t->err));
    for (size_t i = 0; i < VLS_COUNT(odd); i++) {
        valise_table table = good;
        table.columns = odd[i];
        CHECK_RC(VALISE_E_INVALID, k->ops->attach(k->self, LATER, &table, &t->err));
    }
    for (size_t i = 0; i < VLS_COUNT(indexes); i++) {
        valise_table table = good;
        table.indexes = indexes[i];
        table.index_count = i + 1 < VLS_COUNT(indexes) ? 1 : 2;
        CHECK_RC(VALISE_E_INVALID, k->ops->attach(k->self, LATER, &table, &t->err));
    }
    CHECK_OK(k->ops->attach(k->self, LATER, &good, &t->err));
    kit_close(k); /* before the description goes */
}

/* ---- opening ---- */

TEST(store, open_says_what_is_wrong)
{
    kit *k = kit_new(t);
    valise_store_open good = k->how;

    k->how.size = 8;
    CHECK_RC(VALISE_E_INVALID, kit_try_open(k));
    k->how = good;
    k->how.flags = VALISE_STORE_READ_ONLY | VALISE_STORE_CREATE;
    CHECK_RC(VALISE_E_INVALID, kit_try_open(k));
    k->how.flags = 0;
    CHECK_RC(VALISE_E_NOT_FOUND, kit_try_open(k));
    CHECK(t->err.hint[0]);
    k->how.flags = VALISE_STORE_READ_ONLY;
    CHECK_RC(VALISE_E_NOT_FOUND, kit_try_open(k));
    k->how = good;
    k->how.table_count = UINT32_MAX;
    CHECK_RC(VALISE_E_LIMIT, kit_try_open(k));
    k->how = good;
    k->how.tables = &(valise_table){.name = "X"};
    k->how.table_count = 1;
    CHECK_RC(VALISE_E_INVALID, kit_try_open(k));
    CHECK(k->self == NULL);
}

TEST(store, upkeep_of_what_is_small)
{
    kit *k = kit_open(t);
    int64_t result = -1;

    CHECK_OK(k->ops->maintain(&result, k->self, VALISE_MAINTAIN_SIZE, &t->err));
    CHECK(kit_is_memory(k) ? result == 0 : result > 0);
    for (int what = VALISE_MAINTAIN_CHECKPOINT; what <= VALISE_MAINTAIN_SHRINK; what++) {
        CHECK_OK(k->ops->maintain(&result, k->self, what, &t->err));
        CHECK_INT(0, result);
    }
}

TEST(store, a_hundred_thousand_rows)
{
    enum { ROWS = 100000 };
    kit *k = kit_open(t);
    void *txn = kit_begin(k, VALISE_TXN_WRITE);
    const valise_cell from = cell_int(ROWS - 3);

    for (int64_t i = 0; i < ROWS; i++) /* in an order that is not that of the keys */
        kit_put_number(k, txn, i * 7919 % ROWS, "some bytes", i % 10);
    kit_commit(k, txn);
    kit_reopen(k);
    txn = kit_begin(k, VALISE_TXN_READ);
    CHECK_INT(ROWS, kit_count(k, txn, KIT_NUMBER, -1));
    CHECK_INT(ROWS, kit_count(k, txn, KIT_NUMBER, 0));
    CHECK_TEXT(
        "(99997) (99998) (99999)",
        kit_scan(k, txn,
                 &(valise_range){.table = KIT_NUMBER, .index = -1, .from = &from, .from_count = 1},
                 1));
    kit_commit(k, txn);
}
