/* bus_threads.c -- many threads, several handles, one order. [K10 K26 K33 Q17] */
#include "kit/aside.h"
#include "kit/bus.h"

#include <pthread.h>

TEST_PARAMS(threads, "memory", "sqlite")

#define THREADS 16
#define WRITERS 20

typedef struct shared {
    kit *k[2];
    pthread_barrier_t barrier;
    int rounds;
    atomic_int won, lost, failed, repeated;
    atomic_bool stop;
    valise_uuid id;
} shared;

static kit *kit_of(shared *s, size_t index)
{
    return s->k[1] ? s->k[index % 2] : s->k[0];
}

static void add_many(size_t index, void *arg)
{
    shared *s = arg;

    for (int i = 0; i < s->rounds; i++)
        kit_run(kit_of(s, index), "counter:add",
                test_format("{\"name\":\"all\",\"note\":\"%zu-%d\"}", index, i));
}

/* Without `expect` none is lost. */
TEST(threads, lose_nothing)
{
    shared s = {.k = {kit_open(t, NULL)}, .rounds = 25};

    test_threads(THREADS, add_many, &s);
    CHECK_INT(THREADS * s.rounds, kit_value(s.k[0], "all", ""));
    CHECK_INT(THREADS * s.rounds, kit_seq(s.k[0]));
}

TEST(threads, lose_nothing_where_a_commit_waits_for_the_disk)
{
    shared s = {.k = {kit_open(t, &(kit_options){.full_sync = true})}, .rounds = 10};

    test_threads(THREADS, add_many, &s);
    CHECK_INT(THREADS * s.rounds, kit_value(s.k[0], "all", ""));
}

TEST(threads, of_two_handles_share_a_workspace)
{
    shared s = {.rounds = 10};

    if (strcmp(t->param, "memory") == 0)
        SKIP("a store in memory is always new");
    s.k[0] = kit_open(t, NULL);
    s.k[1] = kit_open(t, NULL);
    test_threads(8, add_many, &s);
    CHECK_INT(8 * s.rounds, kit_value(s.k[0], "all", ""));
    CHECK_INT(8 * s.rounds, kit_value(s.k[1], "all", ""));
    CHECK_TEXT(kit_state(s.k[0]), kit_state(s.k[1]));
    CHECK_TEXT(kit_tip(s.k[0]), kit_tip(s.k[1]));
}

static void race(size_t index, void *arg)
{
    shared *s = arg;

    (void)index;
    for (int i = 0; i < s->rounds; i++) {
        valise_call call = VALISE_CALL_INIT;
        valise_reply reply = VALISE_REPLY_INIT;
        valise_error err = VALISE_ERROR_INIT;

        pthread_barrier_wait(&s->barrier);
        call.expect = i == 0 ? VLS_STR("null") : valise_str_of(test_format("%d", i));
        int rc =
            valise_dispatch(&reply, s->k[0]->v, "counter:add", "{\"name\":\"a\"}", &call, &err);
        if (rc == 0) {
            atomic_fetch_add(&s->won, 1);
        } else {
            CHECK_INT(VALISE_E_CONFLICT, rc);
            CHECK_STR(valise_str_of(test_format("%d", i + 1)), valise_blob_bytes(reply.current));
            atomic_fetch_add(&s->lost, 1);
        }
        valise_reply_release(&reply);
        pthread_barrier_wait(&s->barrier);
    }
}

/* With `expect` exactly one wins, and the others learn what is there. [K8] */
TEST(threads, that_expect_the_same_have_one_winner)
{
    shared s = {.k = {kit_open(t, NULL)}, .rounds = 20};

    pthread_barrier_init(&s.barrier, NULL, WRITERS);
    test_threads(WRITERS, race, &s);
    pthread_barrier_destroy(&s.barrier);
    CHECK_INT(s.rounds, atomic_load(&s.won));
    CHECK_INT(s.rounds * (WRITERS - 1), atomic_load(&s.lost));
    CHECK_INT(s.rounds, kit_value(s.k[0], "a", ""));
}

static void retry(size_t index, void *arg)
{
    shared *s = arg;
    valise_call call = VALISE_CALL_INIT;
    valise_reply reply = VALISE_REPLY_INIT;
    valise_error err = VALISE_ERROR_INIT;

    (void)index;
    call.id = s->id;
    CHECK_INT(0,
              valise_dispatch(&reply, s->k[0]->v, "counter:add", "{\"name\":\"a\"}", &call, &err));
    CHECK_INT(1, reply.seq);
    if (reply.repeated)
        atomic_fetch_add(&s->repeated, 1);
    valise_reply_release(&reply);
}

TEST(threads, that_retry_at_once_run_the_command_once) /* [K8] */
{
    shared s = {.k = {kit_open(t, NULL)}, .id = kit_uuid(1)};

    test_threads(THREADS, retry, &s);
    CHECK_INT(THREADS - 1, atomic_load(&s.repeated));
    CHECK_INT(1, kit_value(s.k[0], "a", ""));
}

static void add_or_fail(size_t index, void *arg)
{
    shared *s = arg;
    valise_call dry = VALISE_CALL_INIT;

    dry.flags = VALISE_CALL_DRY_RUN;
    for (int i = 0; i < s->rounds; i++) {
        if (index % 3 == 0)
            kit_run(s->k[0], "counter:add", "{\"name\":\"a\"}");
        else if (index % 3 == 1)
            CHECK_INT(VALISE_E_LIMIT,
                      valise_dispatch(NULL, s->k[0]->v, "counter:add",
                                      "{\"name\":\"a\",\"by\":1000000000}", NULL, NULL));
        else
            kit_run_as(s->k[0], "counter:add", "{\"name\":\"a\",\"by\":5}", &dry);
    }
}

/* One that fails does not touch the others of its group. */
TEST(threads, that_fail_do_not_touch_the_others)
{
    shared s = {.k = {kit_open(t, &(kit_options){.full_sync = true})}, .rounds = 20};

    kit_run(s.k[0], "counter:add", "{\"name\":\"a\"}");
    test_threads(15, add_or_fail, &s);
    CHECK_INT(1 + 5 * s.rounds, kit_value(s.k[0], "a", ""));
    CHECK_INT(1 + 5 * s.rounds, kit_seq(s.k[0]));
    kit_validate(s.k[0]);
}

static int sum_rows(void *arg, const void *row, valise_error *err)
{
    (void)err;
    *(int64_t *)arg += ((const get_result *)row)->value;
    return 0;
}

static void move_or_look(size_t index, void *arg)
{
    shared *s = arg;
    valise_command commands[2] = {
        {VLS_STR("counter:add"), VLS_STR("{\"name\":\"a\",\"by\":-3}"), NULL},
        {VLS_STR("counter:add"), VLS_STR("{\"name\":\"b\",\"by\":3}"), NULL}};
    int64_t above = VALISE_NONE;

    for (int i = 0; i < s->rounds; i++) {
        valise_error err = VALISE_ERROR_INIT;
        int64_t sum = 0;

        if (index % 2 == 0)
            CHECK_INT(0, valise_dispatch_batch(NULL, s->k[0]->v, commands, 2, NULL, &err));
        CHECK_INT(0, vls_run(s->k[0]->v, &counter_list, &above, NULL, NULL, NULL,
                             &(vls_run_more){.emit = sum_rows, .emit_arg = &sum}, &err));
        CHECK_INT(0, sum);
    }
}

/* Readers see all of a transaction or nothing of it. */
TEST(threads, read_a_consistent_state)
{
    shared s = {.k = {kit_open(t, NULL)}, .rounds = 30};

    test_threads(8, move_or_look, &s);
    CHECK_INT(4 * s.rounds * 3, kit_value(s.k[0], "b", ""));
}

/* ---- a store that fails ---- */

static struct {
    const valise_store_ops *inner;
    atomic_int begins, commits, marks; /* how many of the next ones fail */
    atomic_int commit_delay;           /* let others queue up meanwhile */
} broken;

static bool strikes(atomic_int *count)
{
    int n = atomic_load(count);

    while (n > 0) {
        if (atomic_compare_exchange_weak(count, &n, n - 1))
            return true;
    }
    return false;
}

static int broken_begin(void **txn, void *self, int mode, valise_error *err)
{
    if (mode == VALISE_TXN_WRITE && strikes(&broken.begins))
        return vls_fail(err, VALISE_E_BUSY, "another process writes");
    return broken.inner->begin(txn, self, mode, err);
}

static int broken_commit(void *txn, valise_error *err)
{
    if (!strikes(&broken.commits))
        return broken.inner->commit(txn, err);
    broken.inner->rollback(txn);
    return vls_fail(err, VALISE_E_IO, "the disk is gone");
}

static int broken_mark(void *txn, int what, valise_error *err)
{
    if (what == VALISE_MARK_BACK && strikes(&broken.marks))
        return vls_fail(err, VALISE_E_IO, "no way back");
    return broken.inner->mark(txn, what, err);
}

static kit *open_broken(test *t, valise_store_ops *ops)
{
    broken.inner = strcmp(t->param, "sqlite") == 0 ? valise_store_sqlite() : valise_store_memory();
    *ops = *broken.inner;
    ops->begin = broken_begin;
    ops->commit = broken_commit;
    ops->mark = broken_mark;
    kit *k = kit_open(t, &(kit_options){.ops = ops, .full_sync = true});
    kit_run(k, "counter:add", "{\"name\":\"a\"}");
    return k;
}

static void add_and_count(size_t index, void *arg)
{
    shared *s = arg;

    for (int i = 0; i < s->rounds; i++) {
        valise_error err = VALISE_ERROR_INIT;
        bool fails = index == 0;
        int rc = valise_dispatch(NULL, s->k[0]->v, "counter:add",
                                 fails ? "{\"name\":\"a\",\"by\":1000000000}" : "{\"name\":\"a\"}",
                                 NULL, &err);
        if (rc == 0)
            atomic_fetch_add(&s->won, 1);
        else if (rc == VALISE_E_LIMIT)
            CHECK(fails);
        else
            atomic_fetch_add(&s->failed, 1);
        if (rc < 0 && rc != VALISE_E_LIMIT)
            CHECK(err.code == rc && err.message[0]);
    }
}

/* A commit that fails takes its group with it, and nothing else. */
TEST(threads, of_a_group_fail_together)
{
    valise_store_ops ops;
    shared s = {.k = {open_broken(t, &ops)}, .rounds = 10};

    atomic_store(&broken.commits, 3);
    atomic_store(&broken.begins, 2);
    atomic_store(&broken.marks, 1);
    test_threads(8, add_and_count, &s);
    CHECK(atomic_load(&s.failed) >= 5);
    CHECK_INT(1 + atomic_load(&s.won), kit_value(s.k[0], "a", ""));
    CHECK_INT(1 + atomic_load(&s.won), kit_seq(s.k[0]));
    kit_validate(s.k[0]);
}

TEST(threads, learn_why_the_commit_failed)
{
    valise_store_ops ops;
    kit *k = open_broken(t, &ops);
    const char *before = kit_state(k);

    atomic_store(&broken.commits, 1);
    kit_fails(k, VALISE_E_IO, "counter:add", "{\"name\":\"a\"}", NULL);
    CHECK_TEXT("the disk is gone", t->err.message);
    atomic_store(&broken.begins, 1);
    kit_fails(k, VALISE_E_BUSY, "counter:add", "{\"name\":\"a\"}", NULL);
    valise_command command = {VLS_STR("counter:add"), VLS_STR("{\"name\":\"a\"}"), NULL};
    atomic_store(&broken.commits, 1);
    CHECK_RC(VALISE_E_IO, valise_dispatch_batch(NULL, k->v, &command, 1, NULL, &t->err));
    CHECK_TEXT("", t->err.path);
    CHECK_TEXT(before, kit_state(k));
    kit_run(k, "counter:add", "{\"name\":\"a\"}");
    CHECK_INT(2, kit_seq(k));
}

/* ---- two workspaces ---- */

static int64_t still_clock(void *self)
{
    (void)self;
    return INT64_C(1767323045000000000);
}

typedef struct pair {
    kit *k[2];
} pair;

static void run_script(kit *k, size_t which)
{
    for (uint64_t i = 0; i < 30; i++) {
        valise_call call = VALISE_CALL_INIT;
        call.id = kit_uuid(i + 1);
        kit_run_as(k, "counter:add",
                   test_format("{\"name\":\"c%d\",\"by\":%d,\"note\":\"%d\"}", (int)(i % 4),
                               (int)(i * (which + 1)), (int)(i % 5)),
                   &call);
    }
}

static void run_one(size_t index, void *arg)
{
    run_script(((pair *)arg)->k[index], index);
}

static kit *open_still(test *t, const valise_env *env, const char *name)
{
    return kit_open(t,
                    &(kit_options){.env = env, .dir = test_format("%s/%s", test_tmpdir(), name)});
}

TEST(threads, in_two_workspaces_do_not_meet) /* [K37] */
{
    valise_env *env = test_alloc(sizeof(*env)); /* outlives the handles */
    pair both, alone;

    *env = *t->env;
    env->now_ns = still_clock;
    both = (pair){{open_still(t, env, "one"), open_still(t, env, "two")}};
    test_threads(2, run_one, &both);
    alone = (pair){{open_still(t, env, "three"), open_still(t, env, "four")}};
    run_script(alone.k[0], 0);
    run_script(alone.k[1], 1);
    CHECK_TEXT(kit_state(alone.k[0]), kit_state(both.k[0]));
    CHECK_TEXT(kit_state(alone.k[1]), kit_state(both.k[1]));
    CHECK(strcmp(kit_state(both.k[0]), kit_state(both.k[1])) != 0);
}

/* ---- followers ---- */

typedef struct order {
    kit *k;
    int64_t last, count; /* of `committed`, which is never called twice at once */
    atomic_int published;
} order;

static void committed(void *self, const vls_commit *commits, size_t count)
{
    order *o = self;

    for (size_t i = 0; i < count; i++) {
        CHECK_INT(o->last + 1, commits[i].entry->seq);
        o->last = commits[i].entry->seq;
        o->count++;
    }
}

static void publish(void *self)
{
    order *o = self;
    valise_str name = VLS_STR("all");
    get_result result;

    /* It may call the API. */
    CHECK_INT(0, vls_run(o->k->v, &counter_get, &name, &result, NULL, NULL, NULL, NULL));
    atomic_fetch_add(&o->published, 1);
}

TEST(threads, tell_followers_in_order_of_seq)
{
    static const vls_feed_ops ops = {committed, publish};
    shared s = {.k = {kit_open(t, &(kit_options){.full_sync = true})}, .rounds = 10};
    order o = {.k = s.k[0]};

    vls_bus_follow(s.k[0]->v, &ops, &o);
    test_threads(THREADS, add_many, &s);
    CHECK_INT(THREADS * s.rounds, o.count);
    CHECK(atomic_load(&o.published) > 0);
}

/* ---- beside them, commands that are apart ---- */

static int look(void *self, valise_pass *pass, valise_error *err)
{
    (void)pass, (void)err;
    ++*(int *)self; /* it is promised that it is alone */
    return 0;
}

static void add_both(size_t index, void *arg)
{
    shared *s = arg;

    for (int i = 0; i < s->rounds; i++) {
        kit_run(s->k[0], "aside:add", "{\"name\":\"m:all\",\"by\":1}");
        if (index % 2)
            kit_run(s->k[0], "counter:add", "{\"name\":\"all\"}");
    }
}

TEST(threads, of_commands_that_are_apart_go_beside_the_others)
{
    int seen = 0;
    const valise_middleware m = {sizeof(m), "m", &seen, look, look};
    const valise_middleware *const list[] = {&m, NULL};

    for (int with = 0; with < 2; with++) {
        shared s = {.k = {kit_open(
                        t, &(kit_options){.middleware = with ? list : NULL, .backend = "memory"})},
                    .rounds = 20};
        CHECK_OK(vls_registry_add(s.k[0]->registry, &aside_extension, false, &t->err));
        test_threads(8, add_both, &s);
        CHECK_INT(8 * s.rounds, aside_value(s.k[0]->v, "m:all"));
        CHECK_INT(4 * s.rounds, kit_value(s.k[0], "all", ""));
    }
    CHECK_INT(2 * (8 + 4) * 20, seen);
}
