/* read_log.c -- the ring of reads and refusals: batches, bounds, and no state. [K5] [K24] */
#include <sys/stat.h>

#include "harness/fault_io.h"
#include "kit/feed.h"

TEST_PARAMS(read_log, "memory", "sqlite")

static int count_row(void *arg, const vls_read_row *row, valise_error *err)
{
    (void)row, (void)err;
    ++*(int64_t *)arg;
    return 0;
}

static int count_rows(void *arg, valise_view *view, valise_error *err)
{
    return vls_read_log_each(view->txn, count_row, arg, err);
}

static int64_t stored(garden *g)
{
    test *t = g->t;
    int64_t count = 0;

    CHECK_OK(vls_with_view(g->v, NULL, count_rows, &count, &t->err));
    return count;
}

static void add(garden *g, int n)
{
    for (int i = 0; i < n; i++)
        vls_read_log_add(g->v, VLS_STR("ann"), VLS_STR("frame:get"), VLS_STR("frame 12"), 0);
}

TEST(read_log, is_written_in_batches)
{
    garden *g = garden_open(t, NULL);
    int64_t seq = garden_seq(g);

    add(g, VLS_READ_LOG_BATCH - 1);
    CHECK_INT(0, stored(g));
    add(g, 1);
    CHECK_INT(VLS_READ_LOG_BATCH, stored(g));
    add(g, 1);
    CHECK_INT(VLS_READ_LOG_BATCH, stored(g));
    CHECK_OK(vls_read_log_flush(g->v, &t->err));
    CHECK_INT(VLS_READ_LOG_BATCH + 1, stored(g));
    CHECK_INT(seq, garden_seq(g)); /* not in the log */
}

static int hash(void *arg, valise_view *view, valise_error *err)
{
    return vls_state_hash(arg, view, err);
}

/* [K5] Not in the state hash. */
TEST(read_log, is_no_state)
{
    garden *g = garden_open(t, NULL);
    valise_id before, after;

    garden_put(g, "a", "k", 1);
    CHECK_OK(vls_with_view(g->v, NULL, hash, &before, &t->err));
    add(g, 3);
    CHECK_OK(vls_read_log_flush(g->v, &t->err));
    CHECK_OK(vls_with_view(g->v, NULL, hash, &after, &t->err));
    CHECK(vls_id_equal(&before, &after));
}

TEST(read_log, is_bounded)
{
    garden *g = garden_open(t, NULL);

    add(g, VLS_READ_LOG_MAX + 3 * VLS_READ_LOG_BATCH);
    CHECK_OK(vls_read_log_flush(g->v, &t->err));
    CHECK_INT(VLS_READ_LOG_MAX, stored(g));
}

TEST(read_log, is_written_when_the_handle_is_closed)
{
    const char *dir = test_tmpdir();
    garden_options o = {.env = t->env, .backend = "sqlite", .dir = dir};
    garden g;

    CHECK_OK(garden_try_open(&g, &o, &t->err));
    g.t = t;
    add(&g, 2);
    garden_close(&g);
    CHECK_OK(garden_try_open(&g, &o, &t->err));
    g.t = t;
    CHECK_INT(2, stored(&g));
    garden_close(&g);
    o.read_only = true;
    CHECK_OK(garden_try_open(&g, &o, &t->err));
    g.t = t;
    add(&g, 100); /* a reader of a read-only workspace leaves nothing */
    CHECK_INT(2, stored(&g));
    garden_close(&g);
}

/* Inside a command nothing can be written: it waits, and what is too much is dropped. */
static int add_many(void *arg, vls_txn *txn, valise_error *err)
{
    (void)txn, (void)err;
    add(arg, 2000);
    return 0;
}

TEST(read_log, waits_while_a_command_runs)
{
    garden *g = garden_open(t, NULL);

    CHECK_OK(vls_with_txn(g->v, add_many, g, &t->err));
    CHECK_INT(0, stored(g));
    CHECK_INT(2000 - VLS_READ_LOG_WAITING, g->feed->reads.dropped);
    CHECK_OK(vls_read_log_flush(g->v, &t->err));
    CHECK_INT(VLS_READ_LOG_WAITING, stored(g));
}

TEST(read_log, can_be_listed)
{
    garden *g = garden_open(t, NULL);
    const char *list;

    vls_read_log_add(g->v, VLS_STR("ann"), VLS_STR("frame:get"), VLS_STR("frame 1"), 0);
    vls_read_log_add(g->v, VLS_STR("bob"), VLS_STR("frame:get"), VLS_STR("frame 2"),
                     VALISE_E_DENIED);
    vls_read_log_add(g->v, VLS_STR("ann"), VLS_STR("frame:get"), VLS_STR("frame 3"), 0);
    CHECK_OK(vls_read_log_flush(g->v, &t->err));
    list = garden_ask(g, "log:reads", "{}");
    CHECK(strstr(list, "frame 3") < strstr(list, "frame 2"));
    CHECK(strstr(list, "\"number\":3,\"outcome\":\"OK\",\"place\":\"frame 3\""));
    list = garden_ask(g, "log:reads", "{\"denied\":true}");
    CHECK(strstr(list, "\"actor\":\"bob\"") && !strstr(list, "ann"));
    CHECK(strstr(list, "\"outcome\":\"DENIED\""));
    list = garden_ask(g, "log:reads", "{\"actor\":\"ann\",\"limit\":1}");
    CHECK(strstr(list, "frame 3") && !strstr(list, "frame 1"));
}

/* [K5] [K24] What waits in this handle is listed too, before what is written. */
TEST(read_log, lists_what_waits)
{
    garden *g = garden_open(t, NULL);
    const char *list;

    add(g, 1);
    CHECK_OK(vls_read_log_flush(g->v, &t->err));
    vls_read_log_add(g->v, VLS_STR("bob"), VLS_STR("frame:get"), VLS_STR("frame 2"), 0);
    list = garden_ask(g, "log:reads", "{}");
    CHECK(strstr(list, "\"number\":0,\"outcome\":\"OK\",\"place\":\"frame 2\"") <
          strstr(list, "\"number\":1,"));
    list = garden_ask(g, "log:reads", "{\"limit\":1}");
    CHECK(strstr(list, "frame 2") && !strstr(list, "frame 12"));
}

static int count_denied(void *arg, const valise_event *event, valise_error *err)
{
    (void)err;
    *(int *)arg += vls_str_equal(event->type, VLS_STR("access:denied")) &&
                   vls_str_equal(event->source, VLS_STR("nobody"));
    return 0;
}

/* [K5] [K24] [K15] Refusals of every kind of operation, and of a command in a batch. */
TEST(read_log, holds_whoever_was_refused)
{
    garden *g = garden_open(t, NULL);
    valise_subscription *listener = NULL;
    int told = 0;
    valise_follow how = {
        .size = sizeof(how), .live = true, .fn = count_denied, .arg = &told, .actor = g->v->actor};
    valise_call call = VALISE_CALL_INIT;
    valise_command batch[] = {
        {VLS_STR("plant:put"), VLS_STR("{\"name\":\"a\",\"kind\":\"b\"}"), NULL}};
    const char *list;
    int64_t seq;

    seq = garden_seq(g);
    CHECK_OK(valise_subscribe(&listener, g->v, &how, &t->err));
    call.actor = VLS_STR("nobody");
    CHECK_RC(VALISE_E_DENIED, valise_dispatch(NULL, g->v, "plant:put",
                                              "{\"name\":\"a\",\"kind\":\"b\"}", &call, &t->err));
    CHECK_RC(VALISE_E_DENIED, valise_dispatch(NULL, g->v, "log:list", "{}", &call, &t->err));
    CHECK_RC(VALISE_E_DENIED, valise_dispatch(NULL, g->v, "workspace:sync", "{}", &call, &t->err));
    CHECK_RC(VALISE_E_DENIED, valise_dispatch_batch(NULL, g->v, batch, 1, &call, &t->err));
    CHECK_INT(4, told);
    CHECK_INT(seq, garden_seq(g));
    list = garden_ask(g, "log:reads", "{\"actor\":\"nobody\",\"denied\":true}");
    CHECK(strstr(list, "\"type\":\"log:list\""));
    CHECK(strstr(list, "\"type\":\"workspace:sync\""));
    CHECK(strstr(list, "\"type\":\"plant:put\""));
    CHECK(strstr(strstr(list, "\"type\":\"plant:put\"") + 1, "\"type\":\"plant:put\""));
    CHECK_OK(vls_read_log_flush(g->v, &t->err));
    CHECK_INT(4, stored(g));
    valise_unsubscribe(listener);
}

/* ---- not waiting for the disk ---- */

static garden open_lazy(test *t, const char *dir)
{
    garden g;

    CHECK_OK(garden_try_open(&g, &(garden_options){.env = t->env, .backend = "sqlite", .dir = dir},
                             &t->err));
    g.t = t;
    return g;
}

TEST(read_log, a_handle_that_only_read_does_not_wait_for_the_disk) /* [Q13] */
{
    const char *dir = test_format("%s/lazy", test_tmpdir());
    garden g;

    if (strcmp(t->param, "sqlite") != 0)
        SKIP("memory has no disk");
    CHECK_INT(0, mkdir(dir, 0700));
    g = open_lazy(t, dir);
    garden_put(&g, "a", "x", 1);
    garden_close(&g);
    for (int i = 0; i < 3; i++) {
        g = open_lazy(t, dir);
        fault_io_begin(&(fault_io_plan){.dir = dir, .kinds = FAULT_SYNC});
        add(&g, 1);
        garden_close(&g);
        CHECK_INT(0, fault_io_count(FAULT_SYNC));
        fault_io_end();
    }
    g = open_lazy(t, dir);
    CHECK_INT(3, stored(&g));
    garden_put(&g, "b", "x", 1);
    fault_io_begin(&(fault_io_plan){.dir = dir, .kinds = FAULT_SYNC});
    garden_close(&g);
    CHECK(fault_io_count(FAULT_SYNC) > 0); /* who has written tidies up */
    fault_io_end();
}

/* [K10] Who reads does not wait for who writes, and what could not be written is not lost. */
TEST(read_log, does_not_wait_for_another_process)
{
    garden_options o = {.env = t->env, .backend = "sqlite", .dir = test_tmpdir()};
    garden *g, other;
    vls_txn txn = {0};
    int64_t start;

    if (strcmp(t->param, "memory") == 0)
        SKIP("nobody else can have it open");
    g = garden_open(t, &o);
    CHECK_OK(garden_try_open(&other, &o, &t->err));
    other.t = t;
    CHECK_OK(vls_txn_begin(&txn, other.store, VALISE_TXN_WRITE, &t->err));
    start = t->env->ticks_ns(t->env->self);
    add(g, 2 * VLS_READ_LOG_BATCH + 1);
    CHECK_INT(0, stored(g));
    CHECK_INT(0, g->feed->reads.dropped);
    add(&other, 1);
    vls_txn_rollback(&txn);
    add(g, VLS_READ_LOG_BATCH - 1);
    CHECK_INT(3 * VLS_READ_LOG_BATCH, stored(g));
    CHECK_OK(vls_txn_begin(&txn, g->store, VALISE_TXN_WRITE, &t->err));
    garden_close(&other); /* who never ends costs its row, not its time */
    vls_txn_rollback(&txn);
    CHECK(t->env->ticks_ns(t->env->self) - start < INT64_C(10000000000)); /* of 20 s */
    CHECK_INT(3 * VLS_READ_LOG_BATCH, stored(g));
}

static void *end_soon(void *arg)
{
    (void)nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    vls_txn_rollback(arg);
    return NULL;
}

/* [B29] Nothing is lost only because others write while a handle is closed. */
TEST(read_log, is_written_when_others_write_at_the_end)
{
    garden_options o = {.env = t->env, .backend = "sqlite", .dir = test_tmpdir()};
    garden *g, other;
    vls_txn txn = {0};
    pthread_t thread;

    if (strcmp(t->param, "memory") == 0)
        SKIP("nobody else can have it open");
    g = garden_open(t, &o);
    CHECK_OK(garden_try_open(&other, &o, &t->err));
    other.t = t;
    add(&other, 1);
    CHECK_OK(vls_txn_begin(&txn, g->store, VALISE_TXN_WRITE, &t->err));
    CHECK_INT(0, pthread_create(&thread, NULL, end_soon, &txn));
    garden_close(&other);
    CHECK_INT(0, pthread_join(thread, NULL));
    CHECK_INT(1, stored(g));
}
