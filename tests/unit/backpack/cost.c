/* cost.c -- what things cost, counted in what the store is asked for. */
#include <valise/sys/store.h>

#include "api_kit.h"

/* ---- a store that counts ---- */

static struct {
    int64_t opened, rows; /* scans, and what they read */
} count;

static int count_open(void **scan, void *txn, const valise_range *range, valise_error *err)
{
    count.opened++;
    return valise_store_memory()->scan_open(scan, txn, range, err);
}

static int count_next(valise_cell *row, void *scan, valise_error *err)
{
    count.rows++;
    return valise_store_memory()->scan_next(row, scan, err);
}

static desk *counted(test *t)
{
    valise_store_ops *ops = test_alloc(sizeof(*ops));
    valise_options o = VALISE_OPTIONS_INIT;

    *ops = *valise_store_memory();
    ops->scan_open = count_open;
    ops->scan_next = count_next;
    o.store = ops;
    return desk_open_with(t, &o);
}

static void start(void)
{
    count.opened = count.rows = 0;
}

/* {"k0":0,"k1":1,...} */
static const char *object_of(int members)
{
    size_t size = (size_t)members * 24 + 3, used = 0;
    char *text = test_alloc(size);

    for (int i = 0; i < members; i++)
        used += (size_t)snprintf(text + used, size - used, "%s\"k%d\":%d", i ? "," : "{", i, i);
    (void)snprintf(text + used, size - used, "}");
    return text;
}

/* ---- tests ---- */

/* What is dropped is read about once, not once for each row before it. */
TEST(cost, dropping_a_backpack)
{
    desk *d = counted(t);

    run_op(d, "backpack:create", test_format("{\"name\":\"run\",\"items\":%s}", object_of(1500)));
    start();
    run_op(d, "backpack:drop", "{\"backpack\":\"run\"}");
    CHECK_MSG(count.opened < 200, "%lld scans", (long long)count.opened);
    CHECK_MSG(count.rows < 4 * 1500, "%lld rows", (long long)count.rows);
}

/* A name that nobody has yet is no reason to look at all the others. */
TEST(cost, the_first_pack_into_a_new_backpack)
{
    desk *d = counted(t);
    valise_backpack_options o = VALISE_BACKPACK_OPTIONS_INIT;

    for (int i = 0; i < 200; i++)
        run_op(d, "backpack:create", test_format("{\"name\":\"bag-%d\"}", i));
    start();
    run_op(d, "backpack:pack", "{\"backpack\":\"bag-new\",\"key\":\"k\",\"value\":1}");
    CHECK_MSG(count.rows < 50, "pack: %lld rows", (long long)count.rows);
    start();
    run_op(d, "backpack:create", "{\"name\":\"bag-memory\",\"ephemeral\":true}");
    CHECK_MSG(count.rows < 50, "create: %lld rows", (long long)count.rows);
    start();
    o.flags = VALISE_BACKPACK_DURABLE;
    (void)bag_with(d, "bag-handle", &o);
    CHECK_MSG(count.rows < 50, "open: %lld rows", (long long)count.rows);
    CHECK_RC(VALISE_E_NOT_FOUND,
             run_as(d, "local", "backpack:peek", "{\"backpack\":\"bag-nwe\",\"key\":\"k\"}"));
    CHECK_MSG(strstr(t->err.hint, "'bag-new'"), "%s", t->err.hint); /* there it is */
}

/* Items of one command are packed without a search through those before them. */
TEST(cost, a_backpack_made_with_items)
{
    desk *d = counted(t);

    start();
    run_op(d, "backpack:create", test_format("{\"name\":\"run\",\"items\":%s}", object_of(600)));
    /* For each item its key, below what the command changes, and twice its value. */
    CHECK_MSG(count.opened < 3 * 600 + 100, "%lld scans", (long long)count.opened);
}

/* An archive that is gone is not looked for with each pack. [B8] */
TEST(cost, packs_while_the_archive_fails)
{
    desk *d = counted(t);
    valise_backpack_options o = VALISE_BACKPACK_OPTIONS_INIT;
    valise_backpack *bag;

    run_op(d, "backpack:create", "{\"name\":\"archive\"}");
    o.archive = VLS_STR("archive");
    o.max_commits = 100;
    bag = bag_with(d, "run", &o);
    run_op(d, "backpack:drop", "{\"backpack\":\"archive\"}");
    start();
    for (int i = 0; i < 1000; i++)
        CHECK_OK(pack(bag, "k", "1", &t->err));
    CHECK_MSG(count.opened < 500, "%lld scans", (long long)count.opened);
}
