/* kit.c -- see kit.h. */
#include "kit.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/time.h"

const valise_table kit_tables[KIT_TABLES] = {
    [KIT_NOTE] = {.name = "note",
                  .columns = (const valise_column[]){{"a", VALISE_CELL_TEXT, false},
                                                     {"b", VALISE_CELL_INT, false},
                                                     {"c", VALISE_CELL_TEXT, true},
                                                     {"d", VALISE_CELL_BLOB, true},
                                                     {"e", VALISE_CELL_REAL, true},
                                                     {"f", VALISE_CELL_INT, false}},
                  .column_count = 6,
                  .key_count = 2,
                  .indexes = (const valise_table_index[]){{"by_c", (const uint16_t[]){2}, 1},
                                                          {"by_f", (const uint16_t[]){5, 0}, 2},
                                                          {"by_e", (const uint16_t[]){4}, 1}},
                  .index_count = 3},
    [KIT_NUMBER] = {.name = "number",
                    .columns = (const valise_column[]){{"id", VALISE_CELL_INT, false},
                                                       {"body", VALISE_CELL_BLOB, false},
                                                       {"tag", VALISE_CELL_INT, true}},
                    .column_count = 3,
                    .key_count = 1,
                    .flags = VALISE_TABLE_NUMBERED,
                    .indexes = (const valise_table_index[]){{"by_tag", (const uint16_t[]){2}, 1}},
                    .index_count = 1},
    /* Names that are words of SQL. */
    [KIT_PLACE] = {.name = "order",
                   .columns = (const valise_column[]){{"select", VALISE_CELL_INT, false},
                                                      {"from", VALISE_CELL_TEXT, false},
                                                      {"where", VALISE_CELL_INT, true},
                                                      {"rowid", VALISE_CELL_TEXT, true}},
                   .column_count = 4,
                   .key_count = 2,
                   .indexes = (const valise_table_index[]){{"group", (const uint16_t[]){2}, 1},
                                                           {"by_zw", (const uint16_t[]){2, 3}, 2},
                                                           {"by_yz", (const uint16_t[]){1, 2}, 2}},
                   .index_count = 3},
    [KIT_REAL] = {.name = "real",
                  .columns = (const valise_column[]){{"r", VALISE_CELL_REAL, false},
                                                     {"v", VALISE_CELL_REAL, true}},
                  .column_count = 2,
                  .key_count = 1,
                  .indexes = (const valise_table_index[]){{"by_v", (const uint16_t[]){1}, 1}},
                  .index_count = 1},
    [KIT_BLOB] = {.name = "blob",
                  .columns = (const valise_column[]){{"k", VALISE_CELL_BLOB, false},
                                                     {"v", VALISE_CELL_BLOB, true}},
                  .column_count = 2,
                  .key_count = 1,
                  .indexes = (const valise_table_index[]){{"by_v", (const uint16_t[]){1}, 1}},
                  .index_count = 1},
};

/* ---- opening ---- */

const valise_store_ops *kit_ops(const char *param)
{
    return strcmp(param, "memory") == 0 ? valise_store_memory() : valise_store_sqlite();
}

bool kit_is_memory(const kit *k)
{
    return k->ops == valise_store_memory();
}

static void close_kit(void *arg)
{
    kit_close(arg);
}

kit *kit_new(test *t)
{
    static atomic_uint number;
    kit *k = test_alloc(sizeof(*k));
    /* A model runs in children that all begin with the same number. */
    const char *dir =
        test_format("%s/store-%d-%u", test_tmpdir(), (int)getpid(), atomic_fetch_add(&number, 1));

    CHECK(mkdir(dir, 0700) == 0);
    k->t = t;
    k->ops = kit_ops(t->param ? t->param : "sqlite");
    k->how = (valise_store_open){.size = sizeof(k->how),
                                 .where = dir,
                                 .flags = VALISE_STORE_CREATE,
                                 .busy_timeout_ns = 20 * VLS_NS_PER_SECOND,
                                 .env = t->env,
                                 .tables = kit_tables,
                                 .table_count = KIT_TABLES};
    test_defer(close_kit, k);
    return k;
}

int kit_try_open(kit *k)
{
    return k->ops->open(&k->self, &k->how, &k->t->err);
}

kit *kit_open(test *t)
{
    kit *k = kit_new(t);

    CHECK_OK(kit_try_open(k));
    return k;
}

void kit_close(kit *k)
{
    k->ops->close(k->self);
    k->self = NULL;
}

void kit_reopen(kit *k)
{
    test *t = k->t;

    if (kit_is_memory(k))
        return;
    kit_close(k);
    k->how.flags &= ~(unsigned)(VALISE_STORE_CREATE | VALISE_STORE_EXCLUSIVE);
    CHECK_OK(kit_try_open(k));
}

void *kit_begin(kit *k, int mode)
{
    test *t = k->t;
    void *txn = NULL;

    CHECK_OK(k->ops->begin(&txn, k->self, mode, &t->err));
    return txn;
}

void kit_commit(kit *k, void *txn)
{
    test *t = k->t;

    CHECK_OK(k->ops->commit(txn, &t->err));
}

/* ---- cells ---- */

valise_cell cell_int(int64_t value)
{
    return (valise_cell){.type = VALISE_CELL_INT, .as.integer = value};
}

valise_cell cell_real(double value)
{
    return (valise_cell){.type = VALISE_CELL_REAL, .as.real = value};
}

valise_cell cell_str(valise_str text)
{
    return (valise_cell){.type = VALISE_CELL_TEXT, .as.bytes = text};
}

valise_cell cell_text(const char *text)
{
    return text ? cell_str(valise_str_of(text)) : CELL_NULL;
}

valise_cell cell_blob(valise_str bytes)
{
    return (valise_cell){.type = VALISE_CELL_BLOB, .as.bytes = bytes};
}

int cell_compare(const valise_cell *a, const valise_cell *b)
{
    if (a->type == VALISE_CELL_NULL || b->type == VALISE_CELL_NULL)
        return (a->type != VALISE_CELL_NULL) - (b->type != VALISE_CELL_NULL);
    CHECK_INT(a->type, b->type);
    if (a->type == VALISE_CELL_INT)
        return (a->as.integer > b->as.integer) - (a->as.integer < b->as.integer);
    if (a->type == VALISE_CELL_REAL)
        return (a->as.real > b->as.real) - (a->as.real < b->as.real);
    return vls_str_compare(a->as.bytes, b->as.bytes);
}

bool cell_equal(const valise_cell *a, const valise_cell *b)
{
    return a->type == b->type && cell_compare(a, b) == 0;
}

/* ---- rows ---- */

static const char *cell_as_text(const valise_cell *cell)
{
    switch (cell->type) {
    case VALISE_CELL_NULL:
        return "-";
    case VALISE_CELL_INT:
        return test_format("%lld", (long long)cell->as.integer);
    case VALISE_CELL_REAL:
        return test_format("%.17g", cell->as.real);
    case VALISE_CELL_TEXT:
        return test_format("%.*s", VALISE_STR_ARG(cell->as.bytes));
    default:
        return test_format("'%.*s'", VALISE_STR_ARG(cell->as.bytes));
    }
}

static const char *cells_text(const valise_cell *row, unsigned count)
{
    const char *text = "";

    for (unsigned i = 0; i < count; i++)
        text = test_format("%s%s%s", text, i > 0 ? " " : "", cell_as_text(&row[i]));
    return test_format("(%s)", text);
}

const char *kit_row_text(const valise_table *table, const valise_cell *row)
{
    return cells_text(row, table->column_count);
}

const char *kit_scan(kit *k, void *txn, const valise_range *range, unsigned columns)
{
    test *t = k->t;
    valise_cell row[VALISE_MAX_COLUMNS];
    const char *text = "";
    void *scan = NULL;
    int rc;

    CHECK_OK(k->ops->scan_open(&scan, txn, range, &t->err));
    while ((rc = k->ops->scan_next(row, scan, &t->err)) == 1)
        text = test_format("%s%s%s", text, *text ? " " : "", cells_text(row, columns));
    CHECK_RC(0, rc);
    CHECK_RC(0, k->ops->scan_next(row, scan, &t->err)); /* the end stays the end */
    k->ops->scan_close(scan);
    return text;
}

const char *kit_all(kit *k, void *txn, uint32_t table, unsigned columns)
{
    return kit_scan(k, txn, &(valise_range){.table = table, .index = -1}, columns);
}

void kit_put_note(kit *k, void *txn, const char *a, int64_t b, const char *c, int64_t f)
{
    test *t = k->t;
    const valise_cell row[] = {cell_text(a), cell_int(b), cell_text(c),
                               CELL_NULL,    CELL_NULL,   cell_int(f)};

    CHECK_OK(k->ops->put(txn, KIT_NOTE, row, &t->err));
}

void kit_put_number(kit *k, void *txn, int64_t id, const char *body, int64_t tag)
{
    test *t = k->t;
    const valise_cell row[] = {cell_int(id), cell_blob(valise_str_of(body)), cell_int(tag)};

    CHECK_OK(k->ops->put(txn, KIT_NUMBER, row, &t->err));
}

bool kit_has_number(kit *k, void *txn, int64_t id)
{
    test *t = k->t;
    valise_cell row[3];
    const valise_cell key = cell_int(id);
    int rc = k->ops->get(row, txn, KIT_NUMBER, &key, &t->err);

    CHECK_RC(rc >= 0 ? rc : 0, rc);
    return rc == 1;
}

size_t kit_count(kit *k, void *txn, uint32_t table, int32_t index)
{
    test *t = k->t;
    valise_cell row[VALISE_MAX_COLUMNS];
    void *scan = NULL;
    size_t count = 0;
    int rc;

    CHECK_OK(
        k->ops->scan_open(&scan, txn, &(valise_range){.table = table, .index = index}, &t->err));
    while ((rc = k->ops->scan_next(row, scan, &t->err)) == 1)
        count++;
    CHECK_RC(0, rc);
    k->ops->scan_close(scan);
    return count;
}
