/* feed_fault.c -- no allocation is needed so badly that something is lost: who runs out of memory
 * catches up later. [K15] [K16] */
#include "kit/feed.h"

#include "harness/fault.h"

typedef struct collect {
    uint64_t count;
    valise_cursor next;
} collect;

static int collect_event(void *arg, const valise_event *event, valise_error *err)
{
    collect *c = arg;

    (void)err;
    CHECK_INT(c->next.seq, event->seq);
    CHECK_INT(c->next.index, event->index);
    c->next =
        event->index == 0 ? (valise_cursor){event->seq, 1} : (valise_cursor){event->seq + 1, 0};
    c->count++;
    return 0;
}

static int patch_nothing(void *arg, int64_t seq, valise_str patch, valise_error *err)
{
    (void)arg, (void)seq, (void)patch, (void)err;
    return 0;
}

static int put(garden *g, const char *payload, valise_error *err)
{
    return valise_dispatch(NULL, g->v, "plant:put", payload, NULL, err);
}

static int query(garden *g, valise_error *err)
{
    return valise_dispatch(NULL, g->v, "index:query", "{\"name\":\"kinds\"}", NULL, err);
}

/* Whatever failed: without faults everything is told, once and in order, and the index is right. */
static void settle(fault *f, garden *g, const collect *c)
{
    vls_index_report report;

    fault_off(f);
    CHECK_INT(0, put(g, "{\"name\":\"last\",\"kind\":\"k\"}", &f->err));
    CHECK_INT(garden_seq(g) + 1, c->next.seq);
    CHECK_INT(2 * garden_seq(g), c->count);
    for (size_t i = 0; i < g->feed->indexes.count; i++) {
        CHECK_INT(0,
                  vls_index_check(&report, &g->feed->indexes.items[i], true, NULL, NULL, &f->err));
        CHECK_INT(0, report.differences);
    }
}

static int follow_once(fault *f, void *arg)
{
    garden_options o = {.env = f->env};
    collect c = {.next = {1, 0}};
    valise_follow how = {.size = sizeof(how), .fn = collect_event, .arg = &c};
    const char *types[] = {"*", NULL};
    valise_subscription *s = NULL, *patches = NULL, *queue = NULL;
    valise_event live = {.size = sizeof(live), .type = VLS_STR("X")};
    const valise_event *event;
    test whole = {.env = f->env};
    garden g;
    int rc;

    (void)arg;
    fault_off(f);
    CHECK_INT(0, garden_try_open(&g, &o, &f->err));
    g.t = &whole;
    CHECK_INT(0, put(&g, "{\"name\":\"a\",\"kind\":\"k\"}", &f->err));
    c = (collect){.count = 2, .next = {2, 0}};
    how.filter.types = types;
    fault_on(f);
    rc = valise_subscribe(&s, g.v, &how, &f->err);
    if (rc == 0)
        rc = valise_index_subscribe(&patches, g.v, "sizes", patch_nothing, NULL, &f->err);
    how.queue_max = 4;
    how.live = true;
    if (rc == 0)
        rc = valise_subscribe(&queue, g.v, &how, &f->err);
    if (rc == 0)
        rc = query(&g, &f->err);
    if (rc == 0)
        rc = put(&g, "{\"name\":\"a\",\"kind\":\"m\",\"size\":4}", &f->err);
    if (rc == 0)
        rc = valise_publish(g.v, VLS_STR(""), &live, &f->err);
    if (rc == 0)
        rc = query(&g, &f->err);
    if (rc == 0 && valise_subscription_next(&event, queue, 0, &f->err) < 0)
        rc = VALISE_E_NO_MEMORY;
    if (rc == 0)
        rc = valise_dispatch(NULL, g.v, "event:list", "{\"types\":[\"*\"]}", NULL, &f->err);
    if (rc == 0)
        vls_read_log_add(g.v, VLS_STR("a"), VLS_STR("b"), VLS_STR("c"), 0);
    if (rc == 0)
        rc = vls_read_log_flush(g.v, &f->err);
    fault_off(f);
    if (s)
        settle(f, &g, &c);
    valise_unsubscribe(s);
    valise_unsubscribe(patches);
    valise_unsubscribe(queue);
    garden_close(&g);
    fault_on(f);
    /* What is told later, or not kept in the read log, is no failure of the command. */
    f->recovered = rc == 0;
    return rc;
}

TEST(feed_fault, each_allocation)
{
    fault_each_alloc(t, 0, follow_once, NULL);
}

static int nothing(void *self, valise_job *job, const valise_event *event, const void *row,
                   valise_error *err)
{
    (void)job, (void)event, (void)row, (void)err;
    ++*(int *)self;
    return 0;
}

static int open_once(fault *f, void *arg)
{
    int runs = 0;
    const valise_processor p = {
        .size = sizeof(p), .name = "p", .self = &runs, .coll = &plant_item, .run = nothing};
    const valise_processor *const list[] = {&p, NULL};
    garden_options o = {.env = f->env, .processors = list};
    garden g;
    int rc = garden_try_open(&g, &o, &f->err);

    (void)arg;
    if (rc < 0)
        return rc;
    rc = put(&g, "{\"name\":\"a\"}", &f->err);
    fault_off(f);
    if (g.feed->processors[0].attempts > 0) {
        g.feed->processors[0].not_before_ns = 0;
        CHECK(valise_poll(g.v, 0, &f->err) >= 0);
    }
    CHECK_INT(rc == 0, runs);
    garden_close(&g);
    fault_on(f);
    f->recovered = rc == 0;
    return rc;
}

static int look_ahead_once(fault *f, void *arg)
{
    garden_options o = {.env = f->env};
    vls_ahead ahead = {0};
    vls_txn txn = {0};
    garden g;
    int rc;

    (void)arg;
    fault_off(f);
    CHECK_INT(0, garden_try_open(&g, &o, &f->err));
    for (int i = 0; i < 3; i++)
        CHECK_INT(0, put(&g, test_format("{\"name\":\"a\",\"size\":%d}", i + 1), &f->err));
    fault_on(f);
    rc = vls_txn_begin(&txn, g.store, VALISE_TXN_READ, &f->err);
    if (rc == 0)
        rc = vls_ahead_build(&ahead, &txn, 1, &f->err);
    fault_off(f);
    CHECK_INT(rc == 0 ? 3 : 0, ahead.to);
    CHECK_INT(rc == 0 ? 2 : 0, vls_ahead_next(&ahead, 1, 1));
    vls_ahead_release(&ahead);
    vls_txn_rollback(&txn);
    garden_close(&g);
    fault_on(f);
    return rc;
}

TEST(feed_fault, looking_ahead)
{
    fault_each_alloc(t, 0, look_ahead_once, NULL);
}

TEST(feed_fault, opening_and_processors)
{
    fault_each_alloc(t, 0, open_once, NULL);
}
