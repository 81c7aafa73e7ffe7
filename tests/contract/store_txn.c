/* store_txn.c -- transactions, marks, snapshots. [K10] [K17] */
#include "kit.h"

#include "base/time.h"

TEST_PARAMS(txn, "memory", "sqlite")

TEST(txn, commit_keeps_and_rollback_forgets)
{
    kit *k = kit_open(t);
    void *txn = kit_begin(k, VALISE_TXN_WRITE);

    kit_put_number(k, txn, 1, "a", 1);
    kit_commit(k, txn);
    txn = kit_begin(k, VALISE_TXN_WRITE);
    kit_put_number(k, txn, 1, "b", 2);
    kit_put_number(k, txn, 2, "b", 2);
    CHECK_TEXT("(1 'b' 2) (2 'b' 2)", kit_all(k, txn, KIT_NUMBER, 3));
    k->ops->rollback(txn);
    txn = kit_begin(k, VALISE_TXN_WRITE);
    CHECK_TEXT("(1 'a' 1)", kit_all(k, txn, KIT_NUMBER, 3));
    CHECK_RC(1, k->ops->del(txn, KIT_NUMBER, (valise_cell[]){cell_int(1)}, &t->err));
    kit_commit(k, txn);
    kit_reopen(k);
    txn = kit_begin(k, VALISE_TXN_READ);
    CHECK_TEXT("", kit_all(k, txn, KIT_NUMBER, 3));
    kit_commit(k, txn);
    k->ops->rollback(NULL);
}

TEST(txn, what_is_not_committed_is_gone_after_close)
{
    kit *k = kit_open(t);
    void *txn = kit_begin(k, VALISE_TXN_WRITE);

    kit_put_number(k, txn, 1, "a", 1);
    k->ops->rollback(txn);
    kit_reopen(k);
    txn = kit_begin(k, VALISE_TXN_READ);
    CHECK_INT(0, kit_count(k, txn, KIT_NUMBER, -1));
    kit_commit(k, txn);
}

/* [K10] A reader is not held up by a writer, nor a writer by a reader, and the reader sees one
 * commit to its end. */
TEST(txn, readers_keep_their_snapshot_beside_a_writer)
{
    kit *k = kit_open(t);
    void *txn = kit_begin(k, VALISE_TXN_WRITE), *before, *between, *after;

    kit_put_number(k, txn, 1, "a", 1);
    kit_commit(k, txn);
    before = kit_begin(k, VALISE_TXN_READ); /* not used yet: begin is what counts */
    txn = kit_begin(k, VALISE_TXN_WRITE);
    kit_put_number(k, txn, 2, "b", 1);
    between = kit_begin(k, VALISE_TXN_READ);
    CHECK_INT(1, kit_count(k, between, KIT_NUMBER, -1));
    kit_commit(k, txn);
    after = kit_begin(k, VALISE_TXN_READ);
    txn = kit_begin(k, VALISE_TXN_WRITE);
    CHECK_RC(1, k->ops->del(txn, KIT_NUMBER, (valise_cell[]){cell_int(1)}, &t->err));
    kit_put_number(k, txn, 2, "c", 1);
    kit_commit(k, txn);
    CHECK_TEXT("(1 'a')", kit_all(k, before, KIT_NUMBER, 2));
    CHECK_TEXT("(1 'a')", kit_all(k, between, KIT_NUMBER, 2));
    CHECK_TEXT("(1 'a') (2 'b')", kit_all(k, after, KIT_NUMBER, 2));
    kit_commit(k, before);
    k->ops->rollback(between);
    kit_commit(k, after);
    txn = kit_begin(k, VALISE_TXN_READ);
    CHECK_TEXT("(2 'c')", kit_all(k, txn, KIT_NUMBER, 2));
    kit_commit(k, txn);
}

TEST(txn, many_readers_at_once)
{
    enum { READERS = 40 };
    kit *k = kit_open(t);
    void *readers[READERS];

    for (int i = 0; i < READERS; i++) {
        void *txn = kit_begin(k, VALISE_TXN_WRITE);
        kit_put_number(k, txn, i, "a", 1);
        kit_commit(k, txn);
        readers[i] = kit_begin(k, VALISE_TXN_READ);
    }
    for (int i = 0; i < READERS; i++) {
        CHECK_INT(i + 1, kit_count(k, readers[i], KIT_NUMBER, i % 2 - 1));
        kit_commit(k, readers[i]);
    }
}

TEST(txn, a_second_writer_waits_and_then_is_refused)
{
    kit *k = kit_new(t);
    void *txn, *second = NULL;

    k->how.busy_timeout_ns = 20 * VLS_NS_PER_SECOND / 1000;
    CHECK_OK(kit_try_open(k));
    txn = kit_begin(k, VALISE_TXN_WRITE);
    int64_t start = t->env->ticks_ns(t->env->self);
    CHECK_RC(VALISE_E_BUSY, k->ops->begin(&second, k->self, VALISE_TXN_WRITE, &t->err));
    CHECK(t->env->ticks_ns(t->env->self) - start >= k->how.busy_timeout_ns);
    CHECK(second == NULL);
    CHECK(strstr(t->err.message, "this process"));
    kit_commit(k, txn);
    txn = kit_begin(k, VALISE_TXN_WRITE);
    kit_commit(k, txn);
}

/* ---- marks ---- */

static void set(kit *k, void *txn)
{
    test *t = k->t;
    CHECK_OK(k->ops->mark(txn, VALISE_MARK_SET, &t->err));
}

static void back(kit *k, void *txn)
{
    test *t = k->t;
    CHECK_OK(k->ops->mark(txn, VALISE_MARK_BACK, &t->err));
}

static void release(kit *k, void *txn)
{
    test *t = k->t;
    CHECK_OK(k->ops->mark(txn, VALISE_MARK_RELEASE, &t->err));
}

TEST(txn, marks_nest)
{
    kit *k = kit_open(t);
    void *txn = kit_begin(k, VALISE_TXN_WRITE);

    kit_put_number(k, txn, 1, "a", 1);
    set(k, txn);
    kit_put_number(k, txn, 2, "b", 1);
    set(k, txn);
    kit_put_number(k, txn, 1, "c", 3);
    CHECK_RC(1, k->ops->del(txn, KIT_NUMBER, (valise_cell[]){cell_int(2)}, &t->err));
    CHECK_TEXT("(1 'c' 3)", kit_all(k, txn, KIT_NUMBER, 3));
    back(k, txn);
    CHECK_TEXT("(1 'a' 1) (2 'b' 1)", kit_all(k, txn, KIT_NUMBER, 3));
    set(k, txn);
    kit_put_number(k, txn, 3, "d", 1);
    release(k, txn);
    CHECK_TEXT("(1 'a' 1) (2 'b' 1) (3 'd' 1)", kit_all(k, txn, KIT_NUMBER, 3));
    back(k, txn); /* undoes also what was released into it */
    CHECK_TEXT("(1 'a' 1)", kit_all(k, txn, KIT_NUMBER, 3));
    CHECK_TEXT("(1 'a' 1)", kit_scan(k, txn, &(valise_range){.table = KIT_NUMBER, .index = 0}, 3));
    CHECK_RC(VALISE_E_INVALID, k->ops->mark(txn, VALISE_MARK_BACK, &t->err));
    CHECK_RC(VALISE_E_INVALID, k->ops->mark(txn, VALISE_MARK_RELEASE, &t->err));
    CHECK_RC(VALISE_E_INVALID, k->ops->mark(txn, 77, &t->err));
    kit_commit(k, txn);
    kit_reopen(k);
    txn = kit_begin(k, VALISE_TXN_READ);
    CHECK_TEXT("(1 'a' 1)", kit_all(k, txn, KIT_NUMBER, 3));
    kit_commit(k, txn);
}

TEST(txn, commit_and_rollback_take_open_marks_along)
{
    kit *k = kit_open(t);

    for (int keep = 0; keep < 2; keep++) {
        void *txn = kit_begin(k, VALISE_TXN_WRITE);
        set(k, txn);
        kit_put_number(k, txn, 1 + keep, "a", 1);
        set(k, txn);
        kit_put_number(k, txn, 3 + keep, "b", 1);
        if (keep)
            kit_commit(k, txn);
        else
            k->ops->rollback(txn);
    }
    void *txn = kit_begin(k, VALISE_TXN_WRITE);
    CHECK_TEXT("(2) (4)", kit_all(k, txn, KIT_NUMBER, 1));
    CHECK_RC(VALISE_E_INVALID, k->ops->mark(txn, VALISE_MARK_BACK, &t->err));
    kit_commit(k, txn);
}

TEST(txn, a_mark_takes_a_new_table_back)
{
    static const valise_column columns[] = {{"k", VALISE_CELL_INT, false}};
    static const valise_table later = {
        .name = "later", .columns = columns, .column_count = 1, .key_count = 1};
    kit *k = kit_open(t);
    const valise_cell row = cell_int(1);
    void *txn;

    CHECK_OK(k->ops->attach(k->self, KIT_TABLES, &later, &t->err));
    txn = kit_begin(k, VALISE_TXN_WRITE);
    set(k, txn);
    CHECK_OK(k->ops->create(txn, KIT_TABLES, 0, &t->err));
    CHECK_OK(k->ops->put(txn, KIT_TABLES, &row, &t->err));
    back(k, txn);
    CHECK_RC(VALISE_E_NOT_FOUND, k->ops->put(txn, KIT_TABLES, &row, &t->err));
    kit_put_number(k, txn, 1, "a", 1);
    kit_commit(k, txn);
    txn = kit_begin(k, VALISE_TXN_READ);
    CHECK_INT(1, kit_count(k, txn, KIT_NUMBER, -1));
    kit_commit(k, txn);
}

TEST(txn, hundreds_of_marks)
{
    enum { MARKS = 300 };
    kit *k = kit_open(t);
    void *txn = kit_begin(k, VALISE_TXN_WRITE);

    for (int i = 0; i < MARKS; i++) {
        set(k, txn);
        kit_put_number(k, txn, i, "a", 1);
    }
    for (int i = MARKS - 1; i >= 0; i--) {
        if (i % 2 == 0)
            back(k, txn);
        else
            release(k, txn);
    }
    CHECK_INT(0, kit_count(k, txn, KIT_NUMBER, -1));
    kit_commit(k, txn);
}

/* ---- changed ---- */

static bool ask(kit *k, void *txn)
{
    test *t = k->t;
    bool changed = false;

    CHECK_OK(k->ops->changed(&changed, txn, &t->err));
    return changed;
}

TEST(txn, changed_says_yes_first_and_then_only_for_others)
{
    kit *k = kit_open(t);
    void *txn = kit_begin(k, VALISE_TXN_WRITE);

    CHECK(ask(k, txn));
    CHECK(ask(k, txn));
    k->ops->rollback(txn); /* what was read then may be lost: it stays a yes */
    txn = kit_begin(k, VALISE_TXN_WRITE);
    CHECK(ask(k, txn));
    kit_put_number(k, txn, 1, "a", 1);
    kit_commit(k, txn);
    for (int i = 0; i < 3; i++) {
        txn = kit_begin(k, VALISE_TXN_WRITE);
        CHECK(!ask(k, txn));
        kit_put_number(k, txn, i, "b", 1);
        if (i == 1)
            k->ops->rollback(txn);
        else
            kit_commit(k, txn);
        txn = kit_begin(k, VALISE_TXN_WRITE);
        kit_put_number(k, txn, i, "c", 1);
        kit_commit(k, txn);
    }
}

/* ---- passed between threads ---- */

static void work_on_a_thread(size_t index, void *arg)
{
    void **both = arg;
    kit *k = both[0];

    (void)index;
    kit_put_number(k, both[1], 2, "there", 1);
    kit_commit(k, both[1]);
}

TEST(txn, may_be_passed_to_another_thread)
{
    kit *k = kit_open(t);
    void *txn = kit_begin(k, VALISE_TXN_WRITE);

    kit_put_number(k, txn, 1, "here", 1);
    test_threads(1, work_on_a_thread, (void *[]){k, txn});
    txn = kit_begin(k, VALISE_TXN_WRITE);
    CHECK_TEXT("(1 'here') (2 'there')", kit_all(k, txn, KIT_NUMBER, 2));
    kit_commit(k, txn);
}
