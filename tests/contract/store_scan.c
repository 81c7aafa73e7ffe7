/* store_scan.c -- the order of rows, ranges, and what may happen while a scan goes on. [K17] */
#include "kit.h"

TEST_PARAMS(scan, "memory", "sqlite")

TEST(scan, by_key_and_by_index_in_order)
{
    kit *k = kit_open(t);
    void *txn = kit_begin(k, VALISE_TXN_WRITE);

    CHECK_TEXT("", kit_all(k, txn, KIT_NOTE, 2));
    kit_put_note(k, txn, "b", 2, "x", 1);
    kit_put_note(k, txn, "b", -2, "x", 1);
    kit_put_note(k, txn, "ab", 0, NULL, 2);
    kit_put_note(k, txn, "a", 0, "", 2);
    kit_put_note(k, txn, "", 0, NULL, 3);
    kit_put_note(k, txn, "a", 10, "xx", -3);
    CHECK_TEXT("( 0) (a 0) (a 10) (ab 0) (b -2) (b 2)", kit_all(k, txn, KIT_NOTE, 2));
    CHECK_TEXT("( 0 -) (ab 0 -) (a 0 ) (b -2 x) (b 2 x) (a 10 xx)",
               kit_scan(k, txn, &(valise_range){.table = KIT_NOTE, .index = 0}, 3));
    CHECK_TEXT("(a 10) (b -2) (b 2) (a 0) (ab 0) ( 0)",
               kit_scan(k, txn, &(valise_range){.table = KIT_NOTE, .index = 1}, 2));
    CHECK_TEXT(
        "( 0) (ab 0) (a 0) (b 2) (b -2) (a 10)",
        kit_scan(k, txn,
                 &(valise_range){.table = KIT_NOTE, .index = 1, .flags = VALISE_SCAN_REVERSE}, 2));
    kit_commit(k, txn);
}

/* ---- every range over a small table, against a plain list ---- */

#define MAX_ROWS 64

typedef struct world {
    kit *k;
    void *txn;
    valise_cell rows[MAX_ROWS][4];
    size_t len;
} world;

static const uint16_t place_orders[4][4] = {{0, 1}, {2, 0, 1}, {2, 3, 0, 1}, {1, 2, 0}};
static const uint16_t place_parts[4] = {2, 3, 4, 3};

/* Cells to fill rows with and to ask for; the last one of each is never in a row. */
static valise_cell place_cell(uint16_t column, unsigned number)
{
    static const int64_t ints[] = {0, -5, 3, 1};
    const valise_str texts[] = {VLS_STR("m"), VLS_STR(""), VLS_STR("m\0"), VLS_STR("ma")};

    if (column >= 2 && number == 1)
        return CELL_NULL;
    return column == 0 || column == 2 ? cell_int(ints[number]) : cell_str(texts[number]);
}

static void fill_world(world *w)
{
    test *t = w->k->t;

    for (unsigned i = 0; i < 81; i++) {
        valise_cell *row = w->rows[w->len];
        if (i % 5 == 3 || w->len == MAX_ROWS)
            continue; /* some places stay empty */
        for (uint16_t c = 0; c < 2; c++)
            row[c] = place_cell(c, c == 0 ? i % 3 : i / 3 % 3);
        row[2] = place_cell(2, i / 9 % 3);
        row[3] = place_cell(3, i / 27 % 3);
        bool again = false;
        for (size_t j = 0; j < w->len; j++)
            again = again ||
                    (cell_equal(&row[0], &w->rows[j][0]) && cell_equal(&row[1], &w->rows[j][1]));
        if (again)
            continue;
        CHECK_OK(w->k->ops->put(w->txn, KIT_PLACE, row, &t->err));
        w->len++;
    }
}

/* Nine keys are few: more rows by keys that are not asked for. */
static void add_more(world *w)
{
    test *t = w->k->t;

    for (unsigned i = 0; i < 27; i++) {
        valise_cell *row = w->rows[w->len++];
        row[0] = cell_int(100 + i % 2);
        row[1] = cell_text(test_format("%u", i));
        row[2] = place_cell(2, i % 3);
        row[3] = place_cell(3, i / 3 % 3);
        CHECK_OK(w->k->ops->put(w->txn, KIT_PLACE, row, &t->err));
    }
}

static int compare_rows(const valise_cell *a, const valise_cell *b, int order)
{
    for (uint16_t i = 0; i < place_parts[order]; i++) {
        int c = cell_compare(&a[place_orders[order][i]], &b[place_orders[order][i]]);
        if (c != 0)
            return c;
    }
    return 0;
}

static int compare_part(const valise_cell *row, int order, uint16_t at, const valise_cell *cells,
                        uint16_t count)
{
    for (uint16_t i = 0; i < count; i++) {
        int c = cell_compare(&row[place_orders[order][at + i]], &cells[i]);
        if (c != 0)
            return c;
    }
    return 0;
}

static bool in_range(const valise_cell *row, const valise_range *r)
{
    int order = r->index + 1;

    if (compare_part(row, order, 0, r->equal, r->equal_count) != 0)
        return false;
    int c = compare_part(row, order, r->equal_count, r->from, r->from_count);
    if (r->from_count == 0)
        return true;
    if (c == 0)
        return !(r->flags & VALISE_SCAN_AFTER);
    return r->flags & VALISE_SCAN_REVERSE ? c < 0 : c > 0;
}

static void check_range(world *w, const valise_range *r)
{
    test *t = w->k->t;
    valise_cell row[4];
    const valise_cell *expected[MAX_ROWS], *swap;
    size_t len = 0;
    void *scan = NULL;

    for (size_t i = 0; i < w->len; i++) {
        if (in_range(w->rows[i], r))
            expected[len++] = w->rows[i];
    }
    for (size_t i = 1; i < len; i++) {
        for (size_t j = i; j > 0; j--) {
            int c = compare_rows(expected[j - 1], expected[j], r->index + 1);
            if (r->flags & VALISE_SCAN_REVERSE ? c > 0 : c < 0)
                break;
            swap = expected[j];
            expected[j] = expected[j - 1];
            expected[j - 1] = swap;
        }
    }
    CHECK_OK(w->k->ops->scan_open(&scan, w->txn, r, &t->err));
    for (size_t i = 0; i < len; i++) {
        CHECK_RC(1, w->k->ops->scan_next(row, scan, &t->err));
        CHECK_TEXT(kit_row_text(&kit_tables[KIT_PLACE], expected[i]),
                   kit_row_text(&kit_tables[KIT_PLACE], row));
    }
    CHECK_RC(0, w->k->ops->scan_next(row, scan, &t->err));
    w->k->ops->scan_close(scan);
}

/* All ways to fill `count` cells, and all ways to split them into equal and from. */
static void check_ranges(world *w, int32_t index, uint16_t count)
{
    valise_cell cells[4];
    unsigned ways = 1u << (2 * count);

    for (unsigned way = 0; way < ways; way++) {
        for (uint16_t i = 0; i < count; i++)
            cells[i] = place_cell(place_orders[index + 1][i], way >> (2 * i) & 3);
        for (uint16_t equal = 0; equal <= count; equal++) {
            for (unsigned flags = 0; flags < 4; flags++) {
                if (count == 4 && (way + equal + flags) % 3 != 0)
                    continue; /* these are many */
                test_context("index %d, %u of %u equal, way %u, flags %u", index, equal, count, way,
                             flags);
                check_range(w, &(valise_range){.table = KIT_PLACE,
                                               .index = index,
                                               .flags = flags,
                                               .equal = cells,
                                               .equal_count = equal,
                                               .from = cells + equal,
                                               .from_count = count - equal});
            }
        }
    }
    test_context_end();
}

TEST(scan, every_range)
{
    world w = {.k = kit_open(t)};

    w.txn = kit_begin(w.k, VALISE_TXN_WRITE);
    fill_world(&w);
    add_more(&w);
    CHECK(w.len > 30 && w.len <= MAX_ROWS);
    kit_commit(w.k, w.txn);
    w.txn = kit_begin(w.k, VALISE_TXN_READ);
    for (int32_t index = -1; index < 3; index++) {
        for (uint16_t count = 0; count <= place_parts[index + 1]; count++)
            check_ranges(&w, index, count);
    }
    w.k->ops->rollback(w.txn);
}

/* Bytes in keys: what is in an id, with zeros and all. */
TEST(scan, by_bytes)
{
    const valise_str bytes[] = {VLS_STR("\xff"), VLS_STR("\0\xff"), VLS_STR("\0\0"), VLS_STR("\0"),
                                VLS_STR("b"),    VLS_STR("ab"),     VLS_STR(""),     VLS_STR("a")};
    static const unsigned sorted[] = {6, 3, 2, 1, 7, 5, 4, 0};
    kit *k = kit_open(t);
    void *txn = kit_begin(k, VALISE_TXN_WRITE), *scan = NULL;
    valise_cell row[2];

    for (size_t i = 0; i < VLS_COUNT(bytes); i++) {
        row[0] = row[1] = cell_blob(bytes[i]);
        CHECK_OK(k->ops->put(txn, KIT_BLOB, row, &t->err));
    }
    for (int32_t index = -1; index < 1; index++) {
        CHECK_OK(k->ops->scan_open(&scan, txn, &(valise_range){.table = KIT_BLOB, .index = index},
                                   &t->err));
        for (size_t i = 0; i < VLS_COUNT(sorted); i++) {
            CHECK_RC(1, k->ops->scan_next(row, scan, &t->err));
            CHECK_STR(bytes[sorted[i]], row[0].as.bytes);
            CHECK_STR(bytes[sorted[i]], row[1].as.bytes);
        }
        CHECK_RC(0, k->ops->scan_next(row, scan, &t->err));
        k->ops->scan_close(scan);
    }
    for (size_t i = 0; i < VLS_COUNT(bytes); i++) {
        valise_cell key = cell_blob(bytes[i]);
        CHECK_RC(1, k->ops->get(row, txn, KIT_BLOB, &key, &t->err));
        CHECK_STR(bytes[i], row[1].as.bytes);
    }
    kit_commit(k, txn);
}

/* An outer scan goes on while marks are set and undone inside it. */
TEST(scan, goes_on_beside_marks)
{
    kit *k = kit_open(t);
    void *txn = kit_begin(k, VALISE_TXN_WRITE), *scan = NULL;
    valise_cell row[3];

    for (int64_t i = 0; i < 50; i++)
        kit_put_number(k, txn, i, "a", 1);
    CHECK_OK(
        k->ops->scan_open(&scan, txn, &(valise_range){.table = KIT_NUMBER, .index = -1}, &t->err));
    for (int64_t i = 0; i < 50; i++) {
        CHECK_RC(1, k->ops->scan_next(row, scan, &t->err));
        CHECK_INT(i, row[0].as.integer);
        CHECK_OK(k->ops->mark(txn, VALISE_MARK_SET, &t->err));
        kit_put_note(k, txn, "n", i, NULL, 1);
        CHECK_OK(k->ops->mark(txn, i % 2 ? VALISE_MARK_BACK : VALISE_MARK_RELEASE, &t->err));
    }
    CHECK_RC(0, k->ops->scan_next(row, scan, &t->err));
    k->ops->scan_close(scan);
    CHECK_INT(25, kit_count(k, txn, KIT_NOTE, 1));
    kit_commit(k, txn);
}

TEST(scan, numbered_ranges)
{
    kit *k = kit_open(t);
    void *txn = kit_begin(k, VALISE_TXN_WRITE);
    static const struct {
        int64_t from;
        unsigned flags;
        const char *expected;
    } cases[] = {{0, 0, "(0) (5) (9223372036854775807)"},
                 {0, VALISE_SCAN_AFTER, "(5) (9223372036854775807)"},
                 {INT64_MAX, VALISE_SCAN_AFTER, ""},
                 {INT64_MIN, 0, "(-9223372036854775808) (-3) (0) (5) (9223372036854775807)"},
                 {INT64_MIN, VALISE_SCAN_REVERSE, "(-9223372036854775808)"},
                 {INT64_MIN, VALISE_SCAN_REVERSE | VALISE_SCAN_AFTER, ""},
                 {4, VALISE_SCAN_REVERSE, "(0) (-3) (-9223372036854775808)"},
                 {0, VALISE_SCAN_REVERSE | VALISE_SCAN_AFTER, "(-3) (-9223372036854775808)"}};
    static const int64_t ids[] = {5, -3, INT64_MAX, 0, INT64_MIN};

    for (size_t i = 0; i < VLS_COUNT(ids); i++)
        kit_put_number(k, txn, ids[i], "", 1);
    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        valise_cell cells[] = {cell_int(1), cell_int(cases[i].from)};
        valise_range range = {.table = KIT_NUMBER,
                              .index = -1,
                              .flags = cases[i].flags,
                              .from = &cells[1],
                              .from_count = 1};
        CHECK_TEXT(cases[i].expected, kit_scan(k, txn, &range, 1));
        range.index = 0;
        range.equal = cells;
        range.equal_count = 1;
        CHECK_TEXT(cases[i].expected, kit_scan(k, txn, &range, 1));
    }
    kit_commit(k, txn);
}

TEST(scan, refuses_ranges_that_cannot_be)
{
    kit *k = kit_open(t);
    void *txn = kit_begin(k, VALISE_TXN_READ), *scan = NULL;
    const valise_cell cells[] = {cell_int(1), cell_text(""), cell_int(3)};
    const valise_range bad[] = {
        {.table = 99},
        {.table = KIT_PLACE, .index = 3},
        {.table = KIT_PLACE, .index = -2},
        {.table = KIT_PLACE, .index = -1, .equal = cells, .equal_count = 3},
        {.table = KIT_PLACE, .index = -1, .from = cells, .from_count = 3},
        {.table = KIT_PLACE, .index = -1, .equal = cells + 1, .equal_count = 1},
        {.table = KIT_PLACE,
         .index = 1,
         .equal = cells,
         .equal_count = 1,
         .from = cells,
         .from_count = 1},
        {.table = KIT_PLACE,
         .index = -1,
         .equal = cells,
         .equal_count = UINT16_MAX,
         .from = cells,
         .from_count = UINT16_MAX},
    };

    for (size_t i = 0; i < VLS_COUNT(bad); i++)
        CHECK_RC(VALISE_E_INVALID, k->ops->scan_open(&scan, txn, &bad[i], &t->err));
    CHECK(scan == NULL);
    k->ops->scan_close(NULL);
    kit_commit(k, txn);
}

/* Two and more scans over the same table, index and shape, each at its own place. */
TEST(scan, nests)
{
    enum { DEPTH = 20 };
    kit *k = kit_open(t);
    void *txn = kit_begin(k, VALISE_TXN_WRITE), *scans[DEPTH];
    valise_cell row[3];

    for (int64_t i = 0; i < DEPTH; i++)
        kit_put_number(k, txn, i, test_format("body %d", (int)i), 1);
    for (int depth = 0; depth < DEPTH; depth++) {
        CHECK_OK(k->ops->scan_open(&scans[depth], txn,
                                   &(valise_range){.table = KIT_NUMBER, .index = 0}, &t->err));
        for (int i = 0; i <= depth; i++) {
            CHECK_RC(1, k->ops->scan_next(row, scans[depth], &t->err));
            CHECK_INT(i, row[0].as.integer);
        }
    }
    for (int depth = 0; depth < DEPTH - 1; depth++) {
        CHECK_RC(1, k->ops->scan_next(row, scans[depth], &t->err));
        CHECK_INT(depth + 1, row[0].as.integer);
    }
    for (int depth = 0; depth < DEPTH; depth++)
        k->ops->scan_close(scans[depth]);
    kit_commit(k, txn);
}

TEST(scan, its_cells_stay_until_it_goes_on)
{
    kit *k = kit_open(t);
    void *txn = kit_begin(k, VALISE_TXN_WRITE), *scan = NULL;
    const valise_cell key = cell_int(2);
    valise_cell row[3], other[3];

    kit_put_number(k, txn, 1, "the body of the first row", 1);
    kit_put_number(k, txn, 2, "the body of the second row", 1);
    CHECK_OK(
        k->ops->scan_open(&scan, txn, &(valise_range){.table = KIT_NUMBER, .index = -1}, &t->err));
    CHECK_RC(1, k->ops->scan_next(row, scan, &t->err));
    CHECK_RC(1, k->ops->get(other, txn, KIT_NUMBER, &key, &t->err));
    CHECK_INT(2, kit_count(k, txn, KIT_NUMBER, -1));
    CHECK_RC(1, k->ops->del(txn, KIT_NUMBER, row, &t->err));
    CHECK_STR(VLS_STR("the body of the first row"), row[1].as.bytes);
    CHECK_OK(k->ops->put(
        txn, KIT_NOTE,
        (valise_cell[]){cell_text("x"), cell_int(1), CELL_NULL, row[1], CELL_NULL, cell_int(1)},
        &t->err));
    CHECK_RC(1, k->ops->scan_next(row, scan, &t->err));
    CHECK_STR(VLS_STR("the body of the second row"), row[1].as.bytes);
    CHECK_RC(0, k->ops->scan_next(row, scan, &t->err));
    k->ops->scan_close(scan);
    CHECK_TEXT("(x 1 - 'the body of the first row')", kit_all(k, txn, KIT_NOTE, 4));
    kit_commit(k, txn);
}

/* Each row is deleted or replaced while the scan stands on it; none is missed or seen twice. */
static void change_while_scanning(test *t, uint32_t table, int32_t index, unsigned flags)
{
    enum { ROWS = 3000 };
    kit *k = kit_open(t);
    void *txn = kit_begin(k, VALISE_TXN_WRITE), *scan = NULL;
    valise_cell row[6];
    size_t seen = 0;
    int rc;

    for (int64_t i = 0; i < ROWS; i++) {
        if (table == KIT_NUMBER)
            kit_put_number(k, txn, i, "a body of some length, so that there are many pages", 5);
        else
            kit_put_note(k, txn, test_format("key %06d", (int)i * 7 % ROWS), i, "text", 5);
    }
    CHECK_OK(k->ops->scan_open(
        &scan, txn, &(valise_range){.table = table, .index = index, .flags = flags}, &t->err));
    while ((rc = k->ops->scan_next(row, scan, &t->err)) == 1) {
        seen++;
        if (seen % 3 == 0) {
            row[table == KIT_NUMBER ? 1 : 3] = cell_blob(VLS_STR("replaced by something longer"));
            CHECK_OK(k->ops->put(txn, table, row, &t->err));
        } else {
            CHECK_RC(1, k->ops->del(txn, table, row, &t->err));
        }
    }
    CHECK_RC(0, rc);
    k->ops->scan_close(scan);
    CHECK_INT(ROWS, seen);
    CHECK_INT(ROWS / 3, kit_count(k, txn, table, -1));
    CHECK_INT(ROWS / 3, kit_count(k, txn, table, 0));
    kit_commit(k, txn);
}

TEST(scan, the_current_row_may_be_deleted_or_replaced)
{
    for (unsigned flags = 0; flags <= VALISE_SCAN_REVERSE; flags++) {
        change_while_scanning(t, KIT_NUMBER, -1, flags);
        change_while_scanning(t, KIT_NUMBER, 0, flags);
        change_while_scanning(t, KIT_NOTE, -1, flags);
        change_while_scanning(t, KIT_NOTE, 0, flags);
        change_while_scanning(t, KIT_NOTE, 1, flags);
    }
}
