/* store_model.c -- random operations on both backends at once: every answer is the same. [K17]
 *
 * The store in memory and the one in a file are models of each other. There is a write
 * transaction with its marks, and up to three that read and keep what they see while the writer
 * goes on; the file is closed and opened again now and then. */
#include "kit.h"

#include "harness/model.h"

#define READERS 3
#define BOTH 2

typedef struct pair {
    kit *k[BOTH];
    void *txn[BOTH];
    void *reader[READERS][BOTH];
    unsigned marks;
} pair;

static void *start(test *t, const char *dir)
{
    pair *p = test_alloc(sizeof(*p));

    (void)dir;
    for (int i = 0; i < BOTH; i++) {
        test *own = test_alloc(sizeof(*own)); /* each backend has its parameter */
        *own = *t;
        own->param = i ? "sqlite" : "memory";
        p->k[i] = kit_open(own);
    }
    return p;
}

static void end_readers(pair *p)
{
    for (int r = 0; r < READERS; r++) {
        for (int i = 0; i < BOTH && p->reader[r][0]; i++)
            p->k[i]->ops->rollback(p->reader[r][i]);
        p->reader[r][0] = NULL;
    }
}

static void end_writer(pair *p, bool keep)
{
    for (int i = 0; i < BOTH && p->txn[0]; i++) {
        if (keep)
            kit_commit(p->k[i], p->txn[i]);
        else
            p->k[i]->ops->rollback(p->txn[i]);
    }
    p->txn[0] = NULL;
    p->marks = 0;
}

static void stop(void *state)
{
    pair *p = state;

    end_readers(p);
    end_writer(p, false);
    for (int i = 0; i < BOTH; i++)
        kit_close(p->k[i]);
}

static void need_writer(pair *p)
{
    for (int i = 0; i < BOTH && (i > 0 || !p->txn[0]); i++)
        p->txn[i] = kit_begin(p->k[i], VALISE_TXN_WRITE);
}

/* ---- cells ---- */

static valise_cell pick(model_args *a, const valise_column *column)
{
    const valise_str texts[] = {VLS_STR(""),  VLS_STR("a"),    VLS_STR("a\0"), VLS_STR("ab"),
                                VLS_STR("b"), VLS_STR("\xff"), {NULL, 0}};
    static const int64_t ints[] = {0, 1, -1, 300, INT64_MAX, INT64_MIN, 2};
    uint64_t n = model_below(a, "cell", column->nullable ? 8 : 7);

    if (n == 7)
        return CELL_NULL;
    return column->type == VALISE_CELL_INT ? cell_int(ints[n]) : cell_str(texts[n]);
}

static const valise_table *place(void)
{
    return &kit_tables[KIT_PLACE];
}

/* ---- operations ---- */

static void op_put(void *state, model_args *a)
{
    pair *p = state;
    test *t = p->k[0]->t;
    valise_cell row[4];

    for (int i = 0; i < 4; i++)
        row[i] = pick(a, &place()->columns[i]);
    need_writer(p);
    for (int i = 0; i < BOTH; i++)
        CHECK_OK(p->k[i]->ops->put(p->txn[i], KIT_PLACE, row, &t->err));
}

static void op_del(void *state, model_args *a)
{
    pair *p = state;
    test *t = p->k[0]->t;
    valise_cell key[2];
    int rc[BOTH];

    for (int i = 0; i < 2; i++)
        key[i] = pick(a, &place()->columns[i]);
    need_writer(p);
    for (int i = 0; i < BOTH; i++)
        rc[i] = p->k[i]->ops->del(p->txn[i], KIT_PLACE, key, &t->err);
    CHECK(rc[0] >= 0);
    CHECK_INT(rc[0], rc[1]);
}

/* Delete every row of a range but some, while the scan stands on them. */
static void op_sweep(void *state, model_args *a)
{
    pair *p = state;
    test *t = p->k[0]->t;
    valise_range range = {.table = KIT_PLACE, .index = (int32_t)model_below(a, "index", 4) - 1};
    uint64_t keep = model_below(a, "keep", 4) + 1;
    int rc;

    need_writer(p);
    range.flags = model_below(a, "reverse", 2) ? VALISE_SCAN_REVERSE : 0;
    for (int i = 0; i < BOTH; i++) {
        valise_cell row[4];
        void *scan;
        uint64_t seen = 0;
        CHECK_OK(p->k[i]->ops->scan_open(&scan, p->txn[i], &range, &t->err));
        while ((rc = p->k[i]->ops->scan_next(row, scan, &t->err)) == 1) {
            if (seen++ % keep == 0)
                CHECK_RC(1, p->k[i]->ops->del(p->txn[i], KIT_PLACE, row, &t->err));
        }
        CHECK_RC(0, rc);
        p->k[i]->ops->scan_close(scan);
    }
}

static void op_mark(void *state, model_args *a)
{
    pair *p = state;
    test *t = p->k[0]->t;
    int what = (int)model_below(a, "what", 3);

    need_writer(p);
    if (what != VALISE_MARK_SET && p->marks == 0)
        return;
    p->marks = what == VALISE_MARK_SET ? p->marks + 1 : p->marks - 1;
    for (int i = 0; i < BOTH; i++)
        CHECK_OK(p->k[i]->ops->mark(p->txn[i], what, &t->err));
}

static void op_end(void *state, model_args *a)
{
    end_writer(state, model_below(a, "keep", 3) > 0);
}

static void op_reader(void *state, model_args *a)
{
    pair *p = state;
    uint64_t r = model_below(a, "reader", READERS);
    bool open = p->reader[r][0] == NULL;

    for (int i = 0; i < BOTH; i++) {
        if (open)
            p->reader[r][i] = kit_begin(p->k[i], VALISE_TXN_READ);
        else
            kit_commit(p->k[i], p->reader[r][i]);
    }
    if (!open)
        p->reader[r][0] = NULL;
}

static void op_reopen(void *state, model_args *a)
{
    pair *p = state;

    (void)a;
    end_readers(p);
    end_writer(p, true);
    kit_reopen(p->k[1]);
}

/* ---- answers ---- */

static void compare(pair *p, void **txn, const valise_range *range)
{
    const char *text[BOTH];

    for (int i = 0; i < BOTH; i++)
        text[i] = kit_scan(p->k[i], txn[i], range, 4);
    CHECK_TEXT(text[0], text[1]);
}

static void op_scan(void *state, model_args *a)
{
    static const uint16_t orders[4][4] = {{0, 1}, {2, 0, 1}, {2, 3, 0, 1}, {1, 2, 0}};
    static const uint16_t parts[4] = {2, 3, 4, 3};
    pair *p = state;
    uint64_t order = model_below(a, "order", 4);
    uint16_t count = (uint16_t)model_below(a, "cells", parts[order] + 1u);
    uint16_t equal = (uint16_t)model_below(a, "equal", count + 1u);
    valise_cell cells[4];
    valise_range range = {.table = KIT_PLACE, .index = (int32_t)order - 1};

    range.flags = (unsigned)model_below(a, "flags", 4);
    for (uint16_t i = 0; i < count; i++)
        cells[i] = pick(a, &place()->columns[orders[order][i]]);
    range.equal = cells;
    range.equal_count = equal;
    range.from = cells + equal;
    range.from_count = count - equal;
    need_writer(p);
    compare(p, p->txn, &range);
    for (int r = 0; r < READERS; r++) {
        if (p->reader[r][0])
            compare(p, p->reader[r], &range);
    }
}

static void check(void *state)
{
    pair *p = state;
    const valise_range all = {.table = KIT_PLACE, .index = -1};

    if (p->txn[0])
        compare(p, p->txn, &all);
    for (int r = 0; r < READERS; r++) {
        if (p->reader[r][0])
            compare(p, p->reader[r], &all);
    }
}

TEST(model, both_backends_answer_alike)
{
    static const model m = {.start = start,
                            .check = check,
                            .stop = stop,
                            .runs = 40,
                            .ops = {{"put", 12, op_put},
                                    {"del", 3, op_del},
                                    {"sweep", 1, op_sweep},
                                    {"mark", 4, op_mark},
                                    {"end", 3, op_end},
                                    {"reader", 2, op_reader},
                                    {"reopen", 1, op_reopen},
                                    {"scan", 8, op_scan}}};
    model_test(t, &m);
}
