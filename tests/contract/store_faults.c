/* store_faults.c -- memory runs out, file calls fail, the disk is full, the process is killed and
 * the power is cut. [K33] [Q16] [Q18] [Q19] */
#include <sqlite3.h>

#include "kit.h"

#include <errno.h>

#include "base/time.h"
#include "harness/counting_env.h"
#include "harness/fault.h"
#include "harness/kill.h"

/* ---- a store, without checks that would end a body under faults ---- */

typedef struct session {
    const valise_store_ops *ops;
    void *self, *txn, *scan;
    valise_error *err;
} session;

static int open_session(session *s, const char *dir, const valise_env *env, bool full)
{
    return s->ops->open(&s->self,
                        &(valise_store_open){.size = sizeof(valise_store_open),
                                             .where = dir,
                                             .flags = VALISE_STORE_CREATE,
                                             .full_sync = full,
                                             .busy_timeout_ns = VLS_NS_PER_SECOND / 10,
                                             .env = env,
                                             .tables = kit_tables,
                                             /* few tables: each is many calls that fail */
                                             .table_count = KIT_NUMBER + 1},
                        s->err);
}

static void close_session(session *s)
{
    if (s->scan)
        s->ops->scan_close(s->scan);
    s->ops->rollback(s->txn);
    s->ops->close(s->self);
    s->scan = s->txn = s->self = NULL;
}

static int begin(session *s, int mode)
{
    return s->ops->begin(&s->txn, s->self, mode, s->err);
}

static int commit(session *s)
{
    void *txn = s->txn;

    s->txn = NULL; /* gone also when it fails */
    return s->ops->commit(txn, s->err);
}

/* Both tables get one row, in one transaction. */
static int put_pair(session *s, int64_t id, const char *body)
{
    const valise_cell number[] = {cell_int(id), cell_blob(valise_str_of(body)), cell_int(id % 3)};
    const valise_cell note[] = {cell_text(body), cell_int(id), CELL_NULL,
                                CELL_NULL,       CELL_NULL,    cell_int(id)};
    int rc = s->ops->put(s->txn, KIT_NUMBER, number, s->err);

    return rc < 0 ? rc : s->ops->put(s->txn, KIT_NOTE, note, s->err);
}

/* The number of rows in an order of a table, or an error. */
static int count(size_t *out, session *s, uint32_t table, int32_t index)
{
    valise_cell row[VALISE_MAX_COLUMNS];
    int rc = s->ops->scan_open(&s->scan, s->txn, &(valise_range){.table = table, .index = index},
                               s->err);

    for (*out = 0; rc == 0 && (rc = s->ops->scan_next(row, s->scan, s->err)) == 1; rc = 0)
        ++*out;
    if (s->scan)
        s->ops->scan_close(s->scan);
    s->scan = NULL;
    return rc;
}

/* Everything, by key and by index; all counts must agree. */
static const char *state_of(const char *dir)
{
    valise_error err = VALISE_ERROR_INIT;
    session s = {.ops = valise_store_sqlite(), .err = &err};
    size_t counts[5];
    const char *text = "";
    valise_cell row[6];

    CHECK_MSG(open_session(&s, dir, valise_env_default(), false) == 0, "%s", err.message);
    CHECK_MSG(begin(&s, VALISE_TXN_READ) == 0, "%s", err.message);
    for (int i = 0; i < 2; i++)
        CHECK_INT(0, count(&counts[i], &s, KIT_NUMBER, i - 1));
    for (int i = 0; i < 3; i++)
        CHECK_INT(0, count(&counts[2 + i], &s, KIT_NOTE, i - 1));
    for (int i = 1; i < 5; i++)
        CHECK_INT(counts[0], counts[i]);
    CHECK_INT(
        0, s.ops->scan_open(&s.scan, s.txn, &(valise_range){.table = KIT_NOTE, .index = -1}, &err));
    while (s.ops->scan_next(row, s.scan, &err) == 1)
        text = test_format("%s%s", text, kit_row_text(&kit_tables[KIT_NOTE], row));
    close_session(&s);
    return text;
}

/* The same row in three states: each way of putting one over another, and beside it. */
static int put_over(session *s, int64_t id, const char *body)
{
    static const struct {
        const char *c;
        int64_t f;
    } states[] = {{"x", 7}, {"x", 8}, {"y", 8}, {"y", 8}, {NULL, 9}};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < VLS_COUNT(states); i++) {
        const valise_cell note[] = {cell_text(body), cell_int(id), cell_text(states[i].c),
                                    CELL_NULL,       CELL_NULL,    cell_int(states[i].f)};
        rc = s->ops->put(s->txn, KIT_NOTE, note, s->err);
    }
    return rc;
}

/* ---- faults ---- */

static const char before[] = "(old 1 - - - 1)";
static const char after[] = "(new 2 - - - 2)(old 1 - - - 1)";

static int change(session *s)
{
    int rc = begin(s, VALISE_TXN_WRITE);

    if (rc == 0)
        rc = put_pair(s, 2, "new");
    if (rc == 0)
        rc = put_over(s, 2, "new");
    if (rc == 0)
        rc = put_pair(s, 2, "new");
    if (rc == 0)
        rc = s->ops->mark(s->txn, VALISE_MARK_SET, s->err);
    if (rc == 0)
        rc = put_pair(s, 3, "never");
    if (rc == 0)
        rc = put_over(s, 1, "old");
    if (rc == 0) {
        rc = s->ops->del(s->txn, KIT_NUMBER, (valise_cell[]){cell_int(1)}, s->err);
        rc = rc == 1 ? 0 : rc;
    }
    if (rc == 0)
        rc = s->ops->mark(s->txn, VALISE_MARK_BACK, s->err);
    return rc < 0 ? rc : commit(s);
}

static int look(session *s)
{
    valise_cell row[3];
    size_t rows;
    int rc = begin(s, VALISE_TXN_READ);

    if (rc == 0)
        rc = s->ops->get(row, s->txn, KIT_NUMBER, (valise_cell[]){cell_int(1)}, s->err);
    if (rc == 1)
        rc = count(&rows, s, KIT_NUMBER, 0);
    return rc < 0 ? rc : commit(s);
}

static void prepare(const char *dir)
{
    valise_error err = VALISE_ERROR_INIT;
    session s = {.ops = valise_store_sqlite(), .err = &err};

    CHECK_INT(0, open_session(&s, dir, valise_env_default(), true));
    CHECK(begin(&s, VALISE_TXN_WRITE) == 0 && put_pair(&s, 1, "old") == 0 && commit(&s) == 0);
    close_session(&s);
}

static int use_sqlite(fault *f, void *arg)
{
    session s = {.ops = valise_store_sqlite(), .err = &f->err};
    int rc;

    (void)arg;
    fault_off(f);
    prepare(f->dir);
    fault_on(f);
    rc = open_session(&s, f->dir, f->env, true);
    int changed = rc == 0 ? change(&s) : rc;
    rc = changed;
    if (rc == 0)
        rc = look(&s);
    close_session(&s);
    fault_off(f);
    fault_check_state(f, changed, valise_str_of(before), valise_str_of(after),
                      valise_str_of(state_of(f->dir)));
    f->recovered = rc == 0;
    f->may_fail = true;
    return rc;
}

static int make_sqlite(fault *f, void *arg)
{
    session s = {.ops = valise_store_sqlite(), .err = &f->err};
    int rc = open_session(&s, f->dir, f->env, true);

    (void)arg;
    close_session(&s);
    fault_off(f);
    CHECK_TEXT("", state_of(f->dir)); /* makes it, where the faults left nothing */
    f->recovered = rc == 0;
    f->may_fail = true;
    return rc;
}

/* A store in memory; the state is looked at in the same handle, when faults are over. */
static int use_memory(fault *f, void *arg)
{
    session s = {.ops = valise_store_memory(), .err = &f->err};
    size_t rows = 0, more = 0;
    int rc = open_session(&s, NULL, f->env, false);

    (void)arg;
    if (rc == 0 && (rc = begin(&s, VALISE_TXN_WRITE)) == 0 && (rc = put_pair(&s, 1, "old")) == 0)
        rc = commit(&s);
    if (rc == 0) {
        int changed = rc = change(&s);
        if (rc == 0)
            rc = look(&s);
        fault_off(f);
        s.ops->rollback(s.txn);
        s.txn = NULL;
        CHECK_INT(0, begin(&s, VALISE_TXN_READ));
        for (int32_t i = -1; i < 3; i++) {
            CHECK_INT(0, count(&rows, &s, KIT_NOTE, i));
            CHECK_INT(0, count(&more, &s, KIT_NUMBER, i % 2 - (i == 1)));
            CHECK_INT(changed == 0 ? 2 : 1, rows);
            CHECK_INT(rows, more);
        }
    }
    close_session(&s);
    return rc;
}

TEST(faults, memory_of_the_store_in_memory)
{
    fault_each_alloc(t, 0, use_memory, NULL);
    fault_each_alloc(t, FAULT_ONWARD, use_memory, NULL);
}

/* A change that fails half way spoils the transaction until it goes back. [Q18] */
TEST(faults, what_failed_is_undone_by_going_back)
{
    int spoiled = 0;

    for (long long nth = 0; nth < 60; nth++) {
        valise_error err = VALISE_ERROR_INIT;
        counting_env mem;
        session s = {.ops = valise_store_memory(), .err = &err};
        size_t rows;
        counting_env_init(&mem);
        CHECK_INT(0, open_session(&s, NULL, &mem.env, false));
        CHECK_INT(0, begin(&s, VALISE_TXN_WRITE));
        CHECK_INT(0, put_pair(&s, 1, "old"));
        CHECK_INT(0, s.ops->mark(s.txn, VALISE_MARK_SET, &err));
        counting_env_fail_at(&mem, nth);
        int rc = put_pair(&s, 2, "new");
        counting_env_fail_at(&mem, -1);
        CHECK(rc == 0 || rc == VALISE_E_NO_MEMORY);
        int then = s.ops->mark(s.txn, VALISE_MARK_SET, &err);
        CHECK(then == 0 || then == rc); /* spoiled, when it failed half way */
        spoiled += then < 0;
        if (then == 0)
            CHECK_INT(0, s.ops->mark(s.txn, VALISE_MARK_RELEASE, &err));
        else
            CHECK_INT(rc, s.ops->mark(s.txn, VALISE_MARK_RELEASE, &err));
        CHECK_INT(then, count(&rows, &s, KIT_NOTE, 0));
        CHECK_INT(0, s.ops->mark(s.txn, VALISE_MARK_BACK, &err));
        for (int32_t i = -1; i < 3; i++) {
            CHECK_INT(0, count(&rows, &s, KIT_NOTE, i));
            CHECK_INT(1, rows);
        }
        CHECK_INT(0, put_pair(&s, 3, "then"));
        CHECK_INT(0, commit(&s));
        close_session(&s);
        CHECK_INT(0, counting_env_in_use(&mem));
    }
    CHECK(spoiled > 0);
}

/* A put that fails in the middle of a statement, in each way of putting: either nothing was done
 * and all goes on, or nothing goes on, and a commit is refused. [Q18] */
static int put_or_nothing(fault *f, void *arg)
{
    valise_error err = VALISE_ERROR_INIT;
    session s = {.ops = valise_store_sqlite(), .err = &f->err};
    const valise_cell key[] = {cell_text("old"), cell_int(1)};
    valise_cell row[6];
    int rc, then;

    (void)arg;
    fault_off(f);
    prepare(f->dir);
    CHECK_INT(0, open_session(&s, f->dir, f->env, true));
    CHECK_INT(0, begin(&s, VALISE_TXN_WRITE));
    CHECK_INT(0, put_pair(&s, 2, "new"));
    fault_on(f);
    rc = put_over(&s, 1, "old");
    fault_off(f);
    s.err = &err;
    then = s.ops->get(row, s.txn, KIT_NOTE, key, s.err);
    CHECK(rc == 0 ? then == 1 : then == 1 || then < 0);
    if (rc < 0 && then == 1)
        CHECK_INT(0, put_pair(&s, 1, "old"));
    CHECK_INT(VLS_MIN(then, 0), commit(&s));
    close_session(&s);
    CHECK_TEXT(rc == 0     ? "(new 2 - - - 2)(old 1 - - - 9)"
               : then == 1 ? after
                           : before,
               state_of(f->dir));
    f->recovered = rc == 0;
    f->may_fail = true;
    return rc;
}

/* ---- the hook for SQLite's allocator ---- */

static sqlite3_mem_methods plain;

static void *faulty_malloc(int size)
{
    return fault_alloc_fails() ? NULL : plain.xMalloc(size);
}

static void *faulty_realloc(void *ptr, int size)
{
    return fault_alloc_fails() ? NULL : plain.xRealloc(ptr, size);
}

static void restore(void *arg)
{
    (void)arg;
    (void)sqlite3_shutdown();
    (void)sqlite3_config(SQLITE_CONFIG_MALLOC, &plain);
}

TEST(faults, memory_of_the_store_in_a_file)
{
    sqlite3_mem_methods faulty;

    (void)sqlite3_shutdown();
    CHECK_INT(SQLITE_OK, sqlite3_config(SQLITE_CONFIG_GETMALLOC, &plain));
    faulty = plain;
    faulty.xMalloc = faulty_malloc;
    faulty.xRealloc = faulty_realloc;
    CHECK_INT(SQLITE_OK, sqlite3_config(SQLITE_CONFIG_MALLOC, &faulty));
    test_defer(restore, NULL);
    CHECK_INT(SQLITE_OK, sqlite3_initialize());
    CHECK(fault_each_alloc(t, FAULT_LIBRARIES, use_sqlite, NULL) > 50);
    CHECK(fault_each_alloc(t, FAULT_LIBRARIES | FAULT_ONWARD, use_sqlite, NULL) > 50);
    CHECK(fault_each_alloc(t, FAULT_LIBRARIES, make_sqlite, NULL) > 50);
    CHECK(fault_each_alloc(t, FAULT_LIBRARIES, put_or_nothing, NULL) > 5);
    CHECK(fault_each_alloc(t, FAULT_LIBRARIES | FAULT_ONWARD, put_or_nothing, NULL) > 5);
}

/* Locks are left out: when one fails for good SQLite tries again for ten seconds. */
#define KINDS (FAULT_ALL & ~FAULT_LOCK)

TEST(faults, file_calls)
{
    CHECK(fault_each_io(t, KINDS, EIO, use_sqlite, NULL) > 30);
    fault_each_io(t, KINDS, EACCES, use_sqlite, NULL);
    fault_each_io(t, KINDS, EINTR, use_sqlite, NULL);
    CHECK(fault_each_io(t, KINDS, EIO, make_sqlite, NULL) > 30);
}

TEST(faults, a_full_disk_and_half_writes)
{
    fault_each_plan(t, &(fault_io_plan){.limited = true}, use_sqlite, NULL);
    fault_each_plan(t, &(fault_io_plan){.limited = true}, make_sqlite, NULL);
    fault_each_plan(t, &(fault_io_plan){.kinds = FAULT_WRITE, .how = FAULT_TORN, .error = EIO},
                    use_sqlite, NULL);
    fault_each_plan(t, &(fault_io_plan){.kinds = FAULT_WRITE, .how = FAULT_SHORT}, use_sqlite,
                    NULL);
    fault_each_plan(
        t, &(fault_io_plan){.kinds = FAULT_WRITE | FAULT_SYNC, .onward = true, .error = EDQUOT},
        use_sqlite, NULL);
}

/* [Q19] */
TEST(faults, a_full_disk_is_called_so)
{
    valise_error *err = &t->err;
    session s = {.ops = valise_store_sqlite(), .err = err};
    int rc;

    CHECK_OK(open_session(&s, test_tmpdir(), t->env, true));
    fault_io_begin(&(fault_io_plan){.dir = test_tmpdir(), .limited = true});
    CHECK_OK(begin(&s, VALISE_TXN_WRITE));
    rc = put_pair(&s, 1, "text");
    if (rc == 0)
        rc = commit(&s);
    CHECK_RC(VALISE_E_IO, rc);
    CHECK_MSG(strstr(err->message, "disk full"), "%s", err->message);
    CHECK(err->hint[0]);
    fault_io_end();
    s.ops->rollback(s.txn);
    s.txn = NULL;
    CHECK_OK(begin(&s, VALISE_TXN_WRITE)); /* and when there is room again, it goes on */
    CHECK_OK(put_pair(&s, 1, "text"));
    CHECK_OK(commit(&s));
    close_session(&s);
}

/* SQLite gives up a whole transaction when reading fails in it (EIO it takes for damage, others
 * not). What was put before must not be taken for there, nor what is put afterwards be committed
 * alone. [Q18] */
TEST(faults, a_transaction_that_was_lost_says_so)
{
    session s = {.ops = valise_store_sqlite(), .err = &t->err};
    const valise_cell key[] = {cell_text("old"), cell_int(1)};
    const valise_cell number[] = {cell_int(7), cell_blob(VLS_STR("x")), CELL_NULL};
    valise_cell row[6];

    prepare(test_tmpdir());
    CHECK_OK(open_session(&s, test_tmpdir(), t->env, true));
    CHECK_OK(begin(&s, VALISE_TXN_WRITE));
    CHECK_OK(s.ops->mark(s.txn, VALISE_MARK_SET, &t->err));
    CHECK_OK(s.ops->put(s.txn, KIT_NUMBER, number, &t->err));
    fault_io_begin(
        &(fault_io_plan){.dir = test_tmpdir(), .kinds = FAULT_READ, .nth = 1, .error = ESTALE});
    CHECK_RC(VALISE_E_IO, s.ops->get(row, s.txn, KIT_NOTE, key, &t->err));
    CHECK(strstr(t->err.message, "valise.db"));
    fault_io_end();
    CHECK_RC(VALISE_E_IO, s.ops->put(s.txn, KIT_NUMBER, number, &t->err));
    CHECK_RC(VALISE_E_IO, s.ops->mark(s.txn, VALISE_MARK_BACK, &t->err));
    CHECK_RC(VALISE_E_IO, commit(&s));
    CHECK_OK(begin(&s, VALISE_TXN_WRITE));
    CHECK_OK(s.ops->put(s.txn, KIT_NUMBER, number, &t->err));
    s.ops->rollback(s.txn);
    s.txn = NULL;
    close_session(&s);
    CHECK_TEXT(before, state_of(test_tmpdir()));
}

/* ---- kill -9 and power cuts ---- */

typedef struct plan {
    int commits;
    bool full;
} plan;

static void commit_many(kill_run *run, void *arg)
{
    const plan *p = arg;
    valise_error err = VALISE_ERROR_INIT;
    session s = {.ops = valise_store_sqlite(), .err = &err};
    int64_t result;

    CHECK_MSG(open_session(&s, run->dir, valise_env_default(), p->full) == 0, "%s", err.message);
    for (int i = 0; i < p->commits; i++) {
        CHECK_INT(0, begin(&s, VALISE_TXN_WRITE));
        CHECK_INT(0, put_pair(&s, i, test_format("body %d", i)));
        CHECK_MSG(commit(&s) == 0, "%s", err.message);
        kill_ack(run, "%d", i);
        if (i == 1)
            CHECK_INT(0, s.ops->maintain(&result, s.self, VALISE_MAINTAIN_CHECKPOINT, &err));
    }
    close_session(&s);
}

static int fail_problem(void *arg, const char *text, valise_error *err)
{
    (void)arg;
    (void)err;
    CHECK_MSG(false, "%s", text);
    return 0;
}

/* All that was acknowledged is there, perhaps one more, nothing half. */
static void verify(test *t, const kill_run *run, void *arg)
{
    const plan *p = arg;
    session s = {.ops = valise_store_sqlite(), .err = &t->err};
    size_t numbers, notes;

    CHECK_OK(open_session(&s, run->dir, t->env, true));
    CHECK_OK(s.ops->check(s.self, fail_problem, NULL, &t->err));
    CHECK_OK(begin(&s, VALISE_TXN_WRITE));
    for (int32_t i = -1; i < 1; i++) {
        CHECK_OK(count(&numbers, &s, KIT_NUMBER, i));
        CHECK_OK(count(&notes, &s, KIT_NOTE, i));
        CHECK_INT(numbers, notes);
    }
    CHECK_MSG((!p->full || numbers >= run->acked) && numbers <= run->acked + 1,
              "%zu rows, %zu were acknowledged", numbers, run->acked);
    for (size_t i = 0; i < numbers; i++) {
        valise_cell row[3];
        CHECK_RC(
            1, s.ops->get(row, s.txn, KIT_NUMBER, (valise_cell[]){cell_int((int64_t)i)}, &t->err));
    }
    CHECK_OK(put_pair(&s, 1000, "goes on"));
    CHECK_OK(commit(&s));
    close_session(&s);
}

/* [Q16] [K33] */
TEST(faults, commits_survive_kills)
{
    plan many = {200, true}, few = {3, true}, normal = {200, false};

    kill_loop(t, 12, commit_many, verify, &many);
    kill_loop(t, 12, commit_many, verify, &normal);
    kill_each_io(t, FAULT_CHANGES, commit_many, verify, &few);
}

/* [K33] At full, what was acknowledged survives a power cut; at normal the file does. */
TEST(faults, commits_survive_power_cuts)
{
    plan full = {3, true}, normal = {2, false};

    kill_each_power_cut(t, FAULT_CHANGES, commit_many, verify, &full);
    kill_each_power_cut(t, FAULT_CHANGES, commit_many, verify, &normal);
}
