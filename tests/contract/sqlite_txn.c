/* sqlite_txn.c -- the SQLite backend among processes: locks, forks, upkeep. [K10] [K11] [Q17] */
#include <sqlite3.h>

#include "kit.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/time.h"
#include "harness/counting_env.h"
#include "harness/process.h"
#include "store/sqlite.h"

static void write_one(kit *k, int64_t id)
{
    void *txn = kit_begin(k, VALISE_TXN_WRITE);
    kit_put_number(k, txn, id, "a", 1);
    kit_commit(k, txn);
}

/* A second handle on the file of the first. */
static kit *kit_beside(kit *k)
{
    kit *other = kit_new(k->t);
    test *t = k->t;

    other->how.where = k->how.where;
    other->how.flags = 0;
    other->how.busy_timeout_ns = VLS_NS_PER_SECOND / 50;
    CHECK_OK(kit_try_open(other));
    return other;
}

static int64_t upkeep(kit *k, int what)
{
    test *t = k->t;
    int64_t result = -1;

    CHECK_OK(k->ops->maintain(&result, k->self, what, &t->err));
    return result;
}

/* ---- several handles and processes ---- */

/* [K11] */
TEST(sqlite_txn, two_handles_see_each_other)
{
    kit *k = kit_open(t), *other = kit_beside(k);
    void *txn, *reader;
    bool changed;

    for (int i = 0; i < 10; i++) {
        write_one(i % 2 ? k : other, i);
        txn = kit_begin(i % 2 ? other : k, VALISE_TXN_READ);
        CHECK_INT(i + 1, kit_count(i % 2 ? other : k, txn, KIT_NUMBER, -1));
        kit_commit(i % 2 ? other : k, txn);
    }
    txn = kit_begin(k, VALISE_TXN_WRITE);
    CHECK_OK(k->ops->changed(&changed, txn, &t->err));
    kit_commit(k, txn);
    for (int i = 0; i < 4; i++) {
        reader = kit_begin(k, VALISE_TXN_READ);
        /* To put what is there already changes nothing, so there would be nothing to tell. */
        write_one(i % 2 ? other : k, 100 + i);
        kit_commit(k, reader);
        txn = kit_begin(k, VALISE_TXN_WRITE);
        CHECK_OK(k->ops->changed(&changed, txn, &t->err));
        CHECK_INT(i % 2, changed);
        kit_commit(k, txn);
    }
    /* Who does not ask has not seen it: the next one is told. */
    write_one(other, 111);
    write_one(k, 112);
    txn = kit_begin(k, VALISE_TXN_WRITE);
    CHECK_OK(k->ops->changed(&changed, txn, &t->err));
    CHECK(changed);
    kit_commit(k, txn);
}

static int hold_the_lock(size_t index, void *arg)
{
    kit *k = ((void **)arg)[0];
    atomic_int *stage = ((void **)arg)[1];
    void *txn;

    (void)index;
    CHECK(kit_try_open(k) == 0);
    txn = kit_begin(k, VALISE_TXN_WRITE);
    atomic_store(stage, 1);
    while (atomic_load(stage) < 2)
        process_sleep_us(200);
    kit_commit(k, txn);
    kit_close(k);
    return 0;
}

TEST(sqlite_txn, busy_names_who_is_writing)
{
    kit *k = kit_open(t), *child = kit_new(t);
    atomic_int *stage = process_share(sizeof(*stage));
    process p;
    process_result r;
    void *txn = NULL;

    kit_close(k);
    k->how.busy_timeout_ns = VLS_NS_PER_SECOND / 50;
    child->how.where = k->how.where;
    process_start(&p, hold_the_lock, 0, (void *[]){child, stage});
    while (atomic_load(stage) < 1)
        process_sleep_us(200);
    CHECK_OK(kit_try_open(k));
    CHECK_RC(VALISE_E_BUSY, k->ops->begin(&txn, k->self, VALISE_TXN_WRITE, &t->err));
    CHECK_MSG(strstr(t->err.message, test_format("process %d (contract-store)", (int)p.pid)), "%s",
              t->err.message);
    CHECK(t->err.hint[0] && !txn);
    txn = kit_begin(k, VALISE_TXN_READ); /* reading goes on */
    kit_commit(k, txn);
    atomic_store(stage, 2);
    process_wait(&r, &p, process_timeout_ms());
    CHECK_MSG(r.exit_code == 0, "%s", process_describe(&r));
    write_one(k, 1);
}

TEST(sqlite_txn, busy_names_another_handle_of_this_process)
{
    kit *k = kit_open(t), *other = kit_beside(k);
    void *txn = kit_begin(k, VALISE_TXN_WRITE), *second;

    CHECK_RC(VALISE_E_BUSY, other->ops->begin(&second, other->self, VALISE_TXN_WRITE, &t->err));
    CHECK(strstr(t->err.message, "another handle of this process"));
    kit_commit(k, txn);
    write_one(other, 1);
}

static int count_up(size_t index, void *arg)
{
    enum { TIMES = 100 };
    kit *k = arg;
    valise_error err;

    k->how.busy_timeout_ns = 60 * VLS_NS_PER_SECOND;
    CHECK(kit_try_open(k) == 0);
    for (int64_t i = 0; i < TIMES; i++) {
        void *txn = kit_begin(k, VALISE_TXN_WRITE);
        valise_cell row[3];
        const valise_cell zero = cell_int(0);
        int rc = k->ops->get(row, txn, KIT_NUMBER, &zero, &err);
        CHECK(rc >= 0);
        kit_put_number(k, txn, 0, "sum", rc == 1 ? row[2].as.integer + 1 : 1);
        kit_put_number(k, txn, 1 + (int64_t)index * TIMES + i, "mine", (int64_t)index);
        kit_commit(k, txn);
    }
    kit_close(k);
    return 0;
}

/* [Q17] in small, making the store included: nothing is lost, nothing happens twice. */
TEST(sqlite_txn, eight_processes_write)
{
    kit *k = kit_new(t);
    valise_cell row[3];
    const valise_cell zero = cell_int(0);

    process_all(NULL, 8, count_up, k);
    CHECK_OK(kit_try_open(k));
    void *txn = kit_begin(k, VALISE_TXN_READ);
    CHECK_INT(801, kit_count(k, txn, KIT_NUMBER, -1));
    CHECK_INT(801, kit_count(k, txn, KIT_NUMBER, 0));
    CHECK_RC(1, k->ops->get(row, txn, KIT_NUMBER, &zero, &t->err));
    CHECK_INT(800, row[2].as.integer);
    kit_commit(k, txn);
}

/* ---- fork ---- */

static int use_after_fork(size_t index, void *arg)
{
    kit *k = ((void **)arg)[0];
    void *txn = NULL;
    valise_error err;
    int64_t size;

    (void)index;
    for (int mode = VALISE_TXN_READ; mode <= VALISE_TXN_WRITE; mode++) {
        CHECK_INT(VALISE_E_INVALID, k->ops->begin(&txn, k->self, mode, &err));
        CHECK(strstr(err.message, "opened by process") && strstr(err.hint, "fork"));
    }
    CHECK_INT(VALISE_E_INVALID, k->ops->maintain(&size, k->self, VALISE_MAINTAIN_CHECKPOINT, &err));
    CHECK_INT(VALISE_E_INVALID, k->ops->commit(((void **)arg)[1], &err));
    k->ops->rollback(((void **)arg)[1]);
    k->ops->close(k->self);
    return 0;
}

TEST(sqlite_txn, a_handle_is_of_no_use_after_fork)
{
    kit *k = kit_open(t);
    void *txn = kit_begin(k, VALISE_TXN_WRITE);

    kit_put_number(k, txn, 1, "a", 1);
    process_all(NULL, 1, use_after_fork, (void *[]){k, txn});
    kit_put_number(k, txn, 2, "a", 1);
    kit_commit(k, txn);
    txn = kit_begin(k, VALISE_TXN_READ);
    CHECK_INT(2, kit_count(k, txn, KIT_NUMBER, -1));
    kit_commit(k, txn);
}

/* ---- limits ---- */

TEST(sqlite_txn, readers_have_a_limit)
{
    kit *k = kit_open(t);
    void *readers[VLS_SQLITE_MAX_READERS], *one_more;

    for (size_t i = 0; i < VLS_COUNT(readers); i++)
        readers[i] = kit_begin(k, VALISE_TXN_READ);
    CHECK_RC(VALISE_E_LIMIT, k->ops->begin(&one_more, k->self, VALISE_TXN_READ, &t->err));
    for (size_t i = 0; i < VLS_COUNT(readers); i++)
        kit_commit(k, readers[i]);
    kit_commit(k, kit_begin(k, VALISE_TXN_READ));
}

/* More scans at once than statements are kept. */
TEST(sqlite_txn, statements_kept_have_a_limit)
{
    enum { SCANS = VLS_SQLITE_MAX_KEPT + 20 };
    kit *k = kit_open(t);
    void *txn = kit_begin(k, VALISE_TXN_READ), **scans = test_alloc(SCANS * sizeof(*scans));

    for (int i = 0; i < SCANS; i++)
        CHECK_OK(k->ops->scan_open(&scans[i], txn,
                                   &(valise_range){.table = KIT_NUMBER, .index = -1}, &t->err));
    for (int i = 0; i < SCANS; i++)
        k->ops->scan_close(scans[i]);
    CHECK_INT(VLS_SQLITE_MAX_KEPT, ((vls_sqlite_conn *)txn)->kept);
    kit_commit(k, txn);
}

/* ---- plans ---- */

static void check_plan(kit *k, vls_sqlite_conn *conn, uint32_t table, const vls_sqlite_shape *shape)
{
    const vls_table_def *def = ((vls_sqlite *)k->self)->defs.ptr[table];
    VLS_AUTO(buf) vls_buf sql = {0};
    sqlite3_stmt *stmt;
    size_t lines = 0;

    vls_buf_init(&sql, k->t->env, 10000);
    vls_buf_add_text(&sql, "EXPLAIN QUERY PLAN ");
    vls_sqlite_sql_stmt(&sql, def, VLS_SQLITE_SCAN, shape);
    CHECK_MSG(sqlite3_prepare_v2(conn->db, vls_buf_cstr(&sql), -1, &stmt, NULL) == SQLITE_OK,
              "%s: %s", vls_buf_cstr(&sql), sqlite3_errmsg(conn->db));
    for (; sqlite3_step(stmt) == SQLITE_ROW; lines++) {
        const char *text = (const char *)sqlite3_column_text(stmt, 3);
        bool looks_up = shape->equal > 0 || shape->op != VLS_SQLITE_ANY;
        CHECK_MSG(strncmp(text, looks_up ? "SEARCH" : "SCAN", looks_up ? 6 : 4) == 0, "%s: %s",
                  vls_buf_cstr(&sql), text);
    }
    CHECK_INT(1, lines); /* a second one would say that it sorts */
    sqlite3_finalize(stmt);
}

/* Every piece of a scan is looked up in its index, and nothing is ever sorted. */
TEST(sqlite_txn, scans_use_their_index)
{
    kit *k = kit_open(t);
    void *txn = kit_begin(k, VALISE_TXN_READ);

    for (uint32_t table = 0; table < KIT_TABLES; table++) {
        const vls_table_def *def = ((vls_sqlite *)k->self)->defs.ptr[table];
        for (int32_t index = -1; index < def->table->index_count; index++) {
            const vls_table_order *order = vls_table_def_order(def, index);
            for (uint16_t equal = 0; equal <= order->count; equal++) {
                unsigned ops = equal < order->count ? VLS_SQLITE_LE : VLS_SQLITE_ANY;
                for (unsigned i = 0; i < 4 * (ops + 1); i++) {
                    vls_sqlite_shape shape = {.index = index,
                                              .equal = equal,
                                              .op = (uint8_t)(i / 4),
                                              .reverse = i % 2,
                                              .nulls = i / 2 % 2 && index >= 0 && equal};
                    if (i / 4 == VLS_SQLITE_NOT_NULL &&
                        !def->table->columns[order->column[equal]].nullable)
                        continue; /* never asked there */
                    if (shape.nulls && !def->table->columns[order->column[0]].nullable)
                        shape.nulls = 0;
                    check_plan(k, txn, table, &shape);
                }
            }
        }
    }
    kit_commit(k, txn);
}

/* ---- upkeep ---- */

TEST(sqlite_txn, upkeep_moves_the_log)
{
    kit *k = kit_open(t);
    void *reader;

    upkeep(k, VALISE_MAINTAIN_TRUNCATE);
    write_one(k, 1);
    CHECK(upkeep(k, VALISE_MAINTAIN_SIZE) > 4096);
    CHECK_INT(0, upkeep(k, VALISE_MAINTAIN_CHECKPOINT));
    reader = kit_begin(k, VALISE_TXN_READ);
    write_one(k, 2);
    CHECK(upkeep(k, VALISE_MAINTAIN_CHECKPOINT) > 0); /* the reader needs what was before */
    kit_commit(k, reader);
    CHECK_INT(0, upkeep(k, VALISE_MAINTAIN_CHECKPOINT));
    CHECK_INT(0, upkeep(k, VALISE_MAINTAIN_TRUNCATE));
    reader = kit_begin(k, VALISE_TXN_READ);
    CHECK_INT(2, kit_count(k, reader, KIT_NUMBER, -1));
    kit_commit(k, reader);
    int64_t result = 7;
    CHECK_RC(VALISE_E_INVALID, k->ops->maintain(&result, k->self, 99, &t->err));
    CHECK_INT(7, result);
}

TEST(sqlite_txn, truncate_says_what_a_reader_keeps)
{
    kit *k = kit_new(t);
    void *reader;

    k->how.busy_timeout_ns = VLS_NS_PER_SECOND / 100;
    CHECK_OK(kit_try_open(k));
    write_one(k, 1);
    reader = kit_begin(k, VALISE_TXN_READ);
    write_one(k, 2);
    CHECK(upkeep(k, VALISE_MAINTAIN_TRUNCATE) > 0);
    kit_commit(k, reader);
    CHECK_INT(0, upkeep(k, VALISE_MAINTAIN_TRUNCATE));
}

TEST(sqlite_txn, upkeep_gives_space_back)
{
    enum { ROWS = 1000 };
    kit *k = kit_open(t);
    char *body = test_alloc(8001);
    int64_t given = 0, step, steps = 0;
    void *txn = kit_begin(k, VALISE_TXN_WRITE);

    memset(body, 'x', 8000);
    for (int64_t i = 0; i < ROWS; i++)
        kit_put_number(k, txn, i, body, 1);
    kit_commit(k, txn);
    CHECK_INT(0, upkeep(k, VALISE_MAINTAIN_SHRINK));
    txn = kit_begin(k, VALISE_TXN_WRITE);
    for (int64_t i = 0; i < ROWS; i++)
        CHECK_RC(1, k->ops->del(txn, KIT_NUMBER, (valise_cell[]){cell_int(i)}, &t->err));
    kit_commit(k, txn);
    while ((step = upkeep(k, VALISE_MAINTAIN_SHRINK)) > 0) {
        given += step;
        steps++;
    }
    CHECK(given > ROWS * 7000 && steps > 1);
    upkeep(k, VALISE_MAINTAIN_TRUNCATE);
    CHECK(upkeep(k, VALISE_MAINTAIN_SIZE) < 300000);
}

/* What is deleted is not left behind in the file. */
TEST(sqlite_txn, deleted_bytes_are_overwritten)
{
    kit *k = kit_open(t);
    void *txn = kit_begin(k, VALISE_TXN_WRITE);

    kit_put_number(k, txn, 1, "a secret that must go", 1);
    kit_commit(k, txn);
    txn = kit_begin(k, VALISE_TXN_WRITE);
    CHECK_RC(1, k->ops->del(txn, KIT_NUMBER, (valise_cell[]){cell_int(1)}, &t->err));
    kit_commit(k, txn);
    CHECK_INT(0, upkeep(k, VALISE_MAINTAIN_TRUNCATE));
    valise_str file = test_read_file(test_format("%s/valise.db", k->how.where));
    CHECK_INT(file.len, vls_str_find(file, VLS_STR("a secret that must go")));
}

static int64_t log_size(const kit *k)
{
    struct stat st;

    CHECK(stat(test_format("%s/valise.db-wal", k->how.where), &st) == 0);
    return st.st_size;
}

/* The log is moved by itself, and does not grow without end; with a reader in the way it grows,
 * and starts over when the reader is gone. */
TEST(sqlite_txn, the_log_is_kept_small)
{
    enum { MEGABYTE = 1 << 20 };
    kit *k = kit_open(t);
    char *body = test_alloc(4 * MEGABYTE + 1);
    void *reader = NULL;

    for (int64_t i = 0; i < 60; i++) {            /* 240 MB of changes */
        memset(body, 'a' + i % 26, 4 * MEGABYTE); /* what is equal would not be written */
        void *txn = kit_begin(k, VALISE_TXN_WRITE);
        kit_put_number(k, txn, i % 3, body, i);
        kit_commit(k, txn);
    }
    CHECK_MSG(log_size(k) < 90 * MEGABYTE, "%lld bytes", (long long)log_size(k));
    CHECK(((vls_sqlite *)k->self)->last_passive >= 16000);
    reader = kit_begin(k, VALISE_TXN_READ);
    for (int64_t i = 0; i < 80; i++) {
        memset(body, 'a' + i % 26, 4 * MEGABYTE);
        void *txn = kit_begin(k, VALISE_TXN_WRITE);
        kit_put_number(k, txn, i % 3, body, i);
        kit_commit(k, txn);
    }
    CHECK(((vls_sqlite *)k->self)->last_restart >= 64000);
    kit_commit(k, reader);
    CHECK_INT(0, upkeep(k, VALISE_MAINTAIN_TRUNCATE));
}
