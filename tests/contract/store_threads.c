/* store_threads.c -- readers beside writers on threads of one process. Also run under
 * ThreadSanitizer. [K10] */
#include "kit.h"

#include "base/time.h"

TEST_PARAMS(threads, "memory", "sqlite")

#define WRITERS 3u
#define TOGETHER 8u
#define TIMES 60

static void write_pairs(kit *k, size_t index)
{
    valise_error err;

    for (int64_t i = 0; i < TIMES; i++) {
        void *txn = NULL;
        CHECK(k->ops->begin(&txn, k->self, VALISE_TXN_WRITE, &err) == 0);
        valise_cell row[3];
        const valise_cell zero = cell_int(-1);
        int rc = k->ops->get(row, txn, KIT_NUMBER, &zero, &err);
        CHECK(rc >= 0);
        kit_put_number(k, txn, -1, "sum", rc == 1 ? row[2].as.integer + 1 : 1);
        kit_put_number(k, txn, (int64_t)index * TIMES + i, "x", 1);
        kit_put_note(k, txn, "note", (int64_t)index * TIMES + i, "c", 1);
        if (i % 10 == 9) {
            CHECK(k->ops->mark(txn, VALISE_MARK_SET, &err) == 0);
            kit_put_number(k, txn, 1000000, "never", 1);
            CHECK(k->ops->mark(txn, VALISE_MARK_BACK, &err) == 0);
        }
        CHECK(k->ops->commit(txn, &err) == 0);
    }
}

/* Each snapshot is that of a commit: both tables agree with the sum, which never goes down. */
static void read_pairs(kit *k)
{
    int64_t last = 0;
    valise_error err;

    for (int i = 0; i < TIMES; i++) {
        void *txn = NULL;
        CHECK(k->ops->begin(&txn, k->self, VALISE_TXN_READ, &err) == 0);
        valise_cell row[3];
        const valise_cell zero = cell_int(-1);
        int rc = k->ops->get(row, txn, KIT_NUMBER, &zero, &err);
        CHECK(rc >= 0);
        int64_t sum = rc == 1 ? row[2].as.integer : 0;
        CHECK(sum >= last);
        last = sum;
        CHECK_INT(sum + (rc == 1), kit_count(k, txn, KIT_NUMBER, i % 2 - 1));
        CHECK_INT(sum, kit_count(k, txn, KIT_NOTE, i % 4 - 1));
        CHECK(k->ops->commit(txn, &err) == 0);
    }
}

static void work(size_t index, void *arg)
{
    kit *k = arg;
    int64_t size;
    valise_error err;

    if (index < WRITERS)
        write_pairs(k, index);
    else if (index + 1 < TOGETHER)
        read_pairs(k);
    else
        for (int i = 0; i < TIMES / 4; i++)
            CHECK(k->ops->maintain(&size, k->self,
                                   i % 3 == 2 ? VALISE_MAINTAIN_SHRINK : VALISE_MAINTAIN_CHECKPOINT,
                                   &err) == 0);
}

TEST(threads, readers_beside_writers)
{
    kit *k = kit_new(t);

    k->how.busy_timeout_ns = 60 * VLS_NS_PER_SECOND;
    CHECK_OK(kit_try_open(k));
    test_threads(TOGETHER, work, k);
    void *txn = kit_begin(k, VALISE_TXN_READ);
    CHECK_INT(WRITERS * TIMES + 1, kit_count(k, txn, KIT_NUMBER, 0));
    kit_commit(k, txn);
}
