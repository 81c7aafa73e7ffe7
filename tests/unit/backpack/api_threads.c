/* api_threads.c -- many threads, one backpack. */
#include "api_kit.h"
#include "backpack/handle.h"

TEST_PARAMS(api_threads, "ephemeral", "watched", "memory", "sqlite")

#define THREADS 8

typedef struct crowd {
    desk *d;
    valise_backpack *bag;
    int rounds;
} crowd;

static int count_item(void *arg, const valise_item *item, valise_error *err)
{
    (void)err;
    *(int64_t *)arg += item->value ? 1 : 0;
    return 0;
}

static void pack_and_read(size_t index, void *arg)
{
    const crowd *c = arg;
    valise_error err = VALISE_ERROR_INIT;
    const valise_node node = {.size = sizeof(node),
                              .id = valise_str_of(test_format("n%zu", index))};
    valise_backpack *view = NULL, *state = NULL;
    int64_t count;

    CHECK_INT(0, valise_backpack_node(&view, c->bag, &node, &err));
    for (int i = 0; i < c->rounds; i++) {
        valise_packed packed;
        const char *own = test_format("own%zu", index);
        CHECK_INT(0, valise_pack(&packed, view, own, test_format("%d", i), NULL, &err));
        CHECK(packed.version == 0 || packed.version == i + 1);
        CHECK_TEXT(test_format("%d", i), got(view, own)); /* its own, whoever else packs */
        CHECK_INT(0, pack(view, "shared", test_format("%d", i), &err));
        if (i % 5 == 0) {
            CHECK_INT(0, valise_snapshot_at(&state, view, VLS_STR("now"), &err));
            CHECK_TEXT(test_format("%d", i), seen(state, own));
            count = 0;
            CHECK_INT(0, valise_each_item(state, count_item, &count, &err));
            CHECK(count >= 2 && count <= THREADS + 1);
            valise_backpack_close(state);
        }
    }
    valise_backpack_close(view);
}

static int check_order(void *arg, const valise_commit *c, valise_error *err)
{
    int64_t *last = arg; /* seq, time */

    (void)err;
    CHECK_INT(last[0] + 1, c->seq);
    CHECK(c->time >= last[1]);
    last[0] = c->seq;
    last[1] = c->time;
    return 0;
}

/* One order of commits, and no version twice. [K26] [B7] */
static void check_all(crowd *c)
{
    test *t = c->d->t;
    valise_history all = VALISE_HISTORY_INIT;
    int64_t last[2] = {0, 0};

    all.oldest_first = true;
    CHECK_OK(valise_history_each(c->bag, &all, check_order, last, &t->err));
    CHECK_INT((int64_t)THREADS * c->rounds * 2, last[0]);
    CHECK_INT((int64_t)THREADS * c->rounds, item_of(c->bag, "shared").version);
    for (size_t i = 0; i < THREADS; i++)
        CHECK_INT(c->rounds, item_of(c->bag, test_format("own%zu", i)).version);
}

TEST(api_threads, pack_and_read_one_backpack)
{
    crowd c = {.d = desk_open(t), .rounds = 20};

    c.bag = bag_of(c.d, "run-1");
    test_threads(THREADS, pack_and_read, &c);
    check_all(&c);
}

TEST(api_threads, pack_and_read_what_is_written_behind)
{
    crowd c = {.d = desk_open(t), .rounds = 20};
    valise_backpack_options o = desk_options(c.d, VALISE_BACKPACK_WRITE_BEHIND);

    if (!c.d->durable)
        SKIP("only what is durable is written behind");
    c.bag = bag_with(c.d, "run-1", &o);
    test_threads(THREADS, pack_and_read, &c);
    CHECK_OK(valise_backpack_flush(c.bag, &t->err));
    check_all(&c);
}

/* Many open it at once: one makes it, all have it, the last one takes it along. */
static void open_and_close(size_t index, void *arg)
{
    const crowd *c = arg;
    valise_backpack_options o = desk_options(c->d, 0);
    valise_error err = VALISE_ERROR_INIT;

    for (int i = 0; i < c->rounds; i++) {
        valise_backpack *bag = NULL;
        CHECK_INT(0, valise_backpack_open(&bag, c->d->v, test_format("b%d", i % 3), &o, &err));
        CHECK_INT(0, pack(bag, test_format("k%zu", index), "1", &err));
        CHECK_TEXT("1", got(bag, test_format("k%zu", index)));
        valise_backpack_close(bag);
    }
}

TEST(api_threads, open_and_close_the_same)
{
    crowd c = {.d = desk_open(t), .rounds = 30};

    test_threads(THREADS, open_and_close, &c);
    CHECK(c.d->durable || strstr(run_op(c.d, "backpack:list", "{}"), "[]"));
}

/* A version is expected by all of them, and had by one. [B1] */
static void count_up(size_t index, void *arg)
{
    const crowd *c = arg;
    valise_error err = VALISE_ERROR_INIT;

    for (int i = 0; i < c->rounds;) {
        valise_pack_options o = VALISE_PACK_OPTIONS_INIT;
        valise_commit now = item_of(c->bag, "counter");
        int64_t n = 0;
        int rc;
        CHECK(vls_str_to_i64(&n, now.summary));
        o.expect = now.version;
        if (index % 2) {
            valise_call call = VALISE_CALL_INIT;
            call.expect = valise_str_of(test_format("%lld", (long long)now.version));
            rc = valise_dispatch(NULL, c->d->v, "backpack:pack",
                                 test_format("{\"backpack\":\"run-1\",\"key\":\"counter\","
                                             "\"value\":%lld}",
                                             (long long)n + 1),
                                 &call, &err);
        } else {
            rc = valise_pack(NULL, c->bag, "counter", test_format("%lld", (long long)n + 1), &o,
                             &err);
        }
        CHECK(rc == 0 || rc == VALISE_E_CONFLICT);
        i += rc == 0;
    }
}

TEST(api_threads, expect_a_version)
{
    crowd c = {.d = desk_open(t), .rounds = 15};

    c.bag = bag_of(c.d, "run-1");
    CHECK_OK(pack(c.bag, "counter", "0", &t->err));
    test_threads(THREADS, count_up, &c);
    CHECK_TEXT(test_format("%d", THREADS * c.rounds), seen(c.bag, "counter"));
}

/* Rights and rules change while others read. [K23] */
static void change_rules(size_t index, void *arg)
{
    const crowd *c = arg;
    valise_error err = VALISE_ERROR_INIT;
    const valise_node node = {.size = sizeof(node), .id = VLS_STR("n")};
    valise_backpack *view = NULL;

    if (index == 0) {
        for (int i = 0; i < c->rounds; i++)
            CHECK_INT(0, valise_dispatch(NULL, c->d->v, "backpack:rule",
                                         i % 2 ? "{\"backpack\":\"\",\"tag\":\"t\"}"
                                               : "{\"backpack\":\"\",\"tag\":\"t\",\"read\":[]}",
                                         NULL, &err));
        return;
    }
    CHECK_INT(0, valise_backpack_node(&view, c->bag, &node, &err));
    for (int i = 0; i < c->rounds; i++) {
        const char *value = got(view, "k");
        CHECK(strcmp(value, "1") == 0 || strcmp(value, "(denied)") == 0);
    }
    valise_backpack_close(view);
}

TEST(api_threads, rules_change_meanwhile)
{
    crowd c = {.d = desk_open(t), .rounds = 20};
    valise_pack_options o = VALISE_PACK_OPTIONS_INIT;

    o.tags = NAMES("t");
    c.bag = bag_of(c.d, "run-1");
    CHECK_OK(valise_pack(NULL, c.bag, "k", "1", &o, &t->err));
    test_threads(4, change_rules, &c);
    CHECK_TEXT("1", got(node_of(c.d, c.bag, "n", "", NULL), "k"));
}

/* What is dropped is archived once, whoever drops it. [B8] */
static void pack_many(size_t index, void *arg)
{
    const crowd *c = arg;
    valise_error err = VALISE_ERROR_INIT;

    for (int i = 0; i < c->rounds; i++)
        CHECK_INT(0, pack(c->bag, test_format("k%zu", index), test_format("%d", i), &err));
}

TEST(api_threads, an_archive_gets_each_once)
{
    crowd c = {.d = desk_open(t), .rounds = 100};
    valise_backpack_options o = VALISE_BACKPACK_OPTIONS_INIT;
    valise_usage usage = VALISE_USAGE_INIT, old = VALISE_USAGE_INIT;
    valise_backpack *archive;

    if (c.d->durable)
        SKIP("only what is in memory has an archive");
    o.flags = VALISE_BACKPACK_DURABLE;
    archive = bag_with(c.d, "archive", &o);
    o = (valise_backpack_options)VALISE_BACKPACK_OPTIONS_INIT;
    o.archive = VLS_STR("archive");
    o.max_commits = 150;
    c.bag = bag_with(c.d, "run-1", &o);
    test_threads(4, pack_many, &c);
    CHECK_OK(valise_backpack_flush(c.bag, &t->err));
    CHECK_OK(valise_backpack_usage(&usage, c.bag, &t->err));
    CHECK_OK(valise_backpack_usage(&old, archive, &t->err));
    CHECK_INT(400, usage.commits + old.commits);
}

/* A view of its own for each thread, kept for all its runs, as parallel nodes have them. */
static void run_and_pack(size_t index, void *arg)
{
    const crowd *c = arg;
    valise_error err = VALISE_ERROR_INIT;
    const char *id = test_format("map/%zu", index);
    const valise_node node = {.size = sizeof(node), .id = valise_str_of(id)};
    valise_backpack *view = NULL, *state = NULL;

    CHECK_INT(0, vls_handle_node(&view, c->bag, &node, &err));
    for (int i = 0; i < c->rounds; i++) {
        CHECK_INT(0, vls_handle_begin_run(view, &err));
        CHECK_INT(0, pack(view, id, test_format("%d", i), &err));
        CHECK_INT(0, vls_handle_end_run_with(view, NULL, 0, &err));
    }
    CHECK_INT(0, valise_snapshot_before_node(&state, c->bag, id, c->rounds, &err));
    CHECK_TEXT(test_format("%d", c->rounds - 2), seen(state, id));
    valise_backpack_close(state);
    valise_backpack_close(view);
}

TEST(api_threads, nodes_run_side_by_side) /* [F5] [F18] [B31] */
{
    desk *d = desk_open(t);
    valise_backpack_options o = desk_options(d, d->durable ? VALISE_BACKPACK_WRITE_BEHIND : 0);
    crowd c = {.d = d, .bag = bag_with(d, "run-1", &o), .rounds = d->durable ? 8 : 100};
    const char *all;

    test_threads(THREADS, run_and_pack, &c);
    all = all_history(c.bag);
    for (int i = 0; i < THREADS; i++)
        CHECK(!strstr(all, test_format("pack map/%d v1 by map/%d;", i, (i + 1) % THREADS)));
    CHECK(strstr(all, test_format("pack map/0 v%d by map/0", c.rounds)));
}
