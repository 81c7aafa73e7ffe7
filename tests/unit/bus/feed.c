/* feed.c -- events: made from the log, filtered, delivered in order. [K15] [K11] [K26] */
#include "kit/aside.h"
#include "kit/feed.h"

#include "base/hex.h"
#include "base/uuid.h"
#include "store/own.h"

TEST_PARAMS(feed, "memory", "sqlite")

static valise_follow follow_notes(garden_notes *notes)
{
    return (valise_follow){.size = sizeof(valise_follow), .fn = garden_note, .arg = notes};
}

static valise_subscription *subscribe(garden *g, const valise_follow *how)
{
    test *t = g->t;
    valise_subscription *s = NULL;

    CHECK_OK(valise_subscribe(&s, g->v, how, &t->err));
    return s;
}

/* ---- what is in an event ---- */

typedef struct kept {
    valise_event last[8];
    char payload[8][256];
    size_t count;
} kept;

static int keep(void *arg, const valise_event *event, valise_error *err)
{
    kept *k = arg;

    (void)err;
    if (k->count < 8) {
        k->last[k->count] = *event;
        snprintf(k->payload[k->count], 256, "%.*s", VALISE_STR_ARG(event->payload));
        CHECK(event->size == sizeof(*event));
        CHECK(event->time > 0);
        if (k->count == 1) {
            CHECK_STR(VLS_STR("PLANT_NEW"), event->type);
            CHECK_STR(VLS_STR("n1"), event->node_id);
            CHECK_STR(VLS_STR("sales.eu"), event->namespace_name);
            CHECK_STR(VLS_STR("r1"), event->run_id);
        } else if (k->count == 0) {
            CHECK_STR(VLS_STR("plant:put"), event->type);
            CHECK_STR(VLS_STR("local"), event->source);
            CHECK_STR(VLS_STR(""), event->node_id);
        }
    }
    k->count++;
    return 0;
}

/* [K15] {id, seq, timestamp, type, source, nodeId, namespace, runId, cause, payload} */
TEST(feed, an_event_says_what_happened)
{
    garden *g = garden_open(t, NULL);
    kept k = {0};
    valise_follow how = {.size = sizeof(how), .fn = keep, .arg = &k};
    valise_subscription *s = subscribe(g, &how);
    valise_call call = VALISE_CALL_INIT;
    valise_uuid derived;

    call.id.bytes[0] = 7;
    call.cause.bytes[3] = 9;
    CHECK_OK(valise_dispatch(NULL, g->v, "plant:put",
                             "{\"name\":\"rose\",\"size\":3,\"node\":\"n1\",\"space\":\"sales.eu\","
                             "\"run\":\"r1\"}",
                             &call, &t->err));
    CHECK_INT(2, k.count);
    CHECK(vls_uuid_equal(&call.id, &k.last[0].id));
    vls_uuid_derive(&derived, &call.id, VLS_EVENT_FIRST_ID + 1);
    CHECK(vls_uuid_equal(&derived, &k.last[1].id));
    for (size_t i = 0; i < 2; i++) {
        CHECK_INT(1, k.last[i].seq);
        CHECK_INT(i, k.last[i].index);
        CHECK(vls_uuid_equal(&call.cause, &k.last[i].cause));
    }
    CHECK_TEXT("{\"result\":{\"size\":3},\"seq\":1,\"type\":\"plant:put\"}", k.payload[0]);
    CHECK_TEXT("{\"size\":3}", k.payload[1]);
    valise_unsubscribe(s);
}

/* [K15] made again at any time: the event of an old change says what the row was like then. */
TEST(feed, events_can_be_made_again)
{
    garden *g = garden_open(t, NULL);
    kept live = {0}, again = {0};
    valise_follow how = {.size = sizeof(how), .fn = keep, .arg = &live};
    valise_subscription *s = subscribe(g, &how);
    valise_cursor start = {1, 0};

    garden_run(g, "plant:put",
               "{\"name\":\"rose\",\"size\":3,\"node\":\"n1\",\"space\":\"sales.eu\",\"run\":"
               "\"r1\"}");
    garden_put(g, "rose", "b", 5);
    garden_run(g, "plant:drop", "{\"name\":\"rose\"}");
    valise_unsubscribe(s);
    for (size_t i = 0; i < VLS_FEED_CACHE; i++) { /* nothing is remembered */
        vls_events_unref(g->feed->cache[i]);
        g->feed->cache[i] = NULL;
    }
    how.arg = &again;
    how.since = &start;
    s = subscribe(g, &how);
    CHECK_INT(6, live.count);
    CHECK_INT(6, again.count);
    for (size_t i = 0; i < 6; i++) {
        CHECK_INT(live.last[i].seq, again.last[i].seq);
        CHECK_INT(live.last[i].index, again.last[i].index);
        CHECK_INT(live.last[i].time, again.last[i].time);
        CHECK(vls_uuid_equal(&live.last[i].id, &again.last[i].id));
        CHECK_TEXT(live.payload[i], again.payload[i]);
    }
    CHECK_TEXT("{\"size\":5}", again.payload[5]);
    valise_unsubscribe(s);
}

TEST(feed, a_change_without_event_keeps_its_number)
{
    garden *g = garden_open(t, NULL);
    garden_notes notes = {0};
    valise_follow how = follow_notes(&notes);
    valise_subscription *s = subscribe(g, &how);

    garden_run(g, "plant:many", "{\"names\":[\"a\",\"b\"],\"kind\":\"x\"}");
    garden_put(g, "q", "quiet", 1);
    garden_put(g, "w", "broken", 1);
    garden_put(g, "a", "y", 1);
    garden_run(g, "plant:log", "{\"name\":\"a\"}"); /* a collection without events */
    CHECK_TEXT("1.0 plant:many\n1.1 PLANT_NEW\n1.2 PLANT_NEW\n2.0 plant:put\n3.0 plant:put\n"
               "4.0 plant:put\n4.1 PLANT_GROWN\n5.0 plant:log\n",
               notes.text);
    valise_unsubscribe(s);
}

/* A collection of an absent extension gives no events; cursors mean the same. */
TEST(feed, an_absent_extension_tells_nothing)
{
    const char *dir = test_format("%s/absent", test_tmpdir());
    garden_options o = {.env = t->env, .backend = "sqlite", .dir = dir};
    garden_notes notes = {0};
    valise_follow how = follow_notes(&notes);
    valise_cursor start = {1, 0};
    valise_subscription *s;
    garden g;

    test_write_file(test_format("%s/x", test_tmpdir()), VLS_STR(""));
    garden_close(garden_open(t, &o));
    CHECK_OK(garden_try_open(&g, &o, &t->err));
    g.t = t;
    garden_run(&g, "plant:many", "{\"names\":[\"a\",\"b\"],\"kind\":\"x\"}");
    garden_close(&g);
    o.absent = true;
    CHECK_OK(garden_try_open(&g, &o, &t->err));
    g.t = t;
    how.since = &start;
    s = subscribe(&g, &how);
    CHECK_TEXT("1.0 plant:many\n", notes.text);
    valise_unsubscribe(s);
    garden_close(&g);
}

/* ---- filters ---- */

static const char *filtered(garden *g, const valise_filter *filter)
{
    garden_notes *notes = test_alloc(sizeof(*notes));
    valise_follow how = follow_notes(notes);
    valise_cursor start = {0, 0};

    how.filter = *filter;
    how.since = &start;
    valise_unsubscribe(subscribe(g, &how));
    return notes->text;
}

/* [K15] Subscribers filter by type, node, namespace pattern and run. */
TEST(feed, filters)
{
    garden *g = garden_open(t, NULL);
    const char *news[] = {"PLANT_N*", NULL}, *commands[] = {"plant:drop", "x", "*:put", NULL};
    const char *none[] = {NULL};

    garden_run(g, "plant:put", "{\"name\":\"a\",\"node\":\"n1\",\"space\":\"sales\"}");
    garden_run(g, "plant:put", "{\"name\":\"b\",\"node\":\"n2\",\"space\":\"sales.eu\"}");
    garden_run(g, "plant:put", "{\"name\":\"c\",\"run\":\"r7\",\"space\":\"sales.eu.x\"}");
    garden_run(g, "plant:drop", "{\"name\":\"a\"}");
    CHECK_TEXT("1.1 PLANT_NEW\n2.1 PLANT_NEW\n3.1 PLANT_NEW\n",
               filtered(g, &(valise_filter){.types = news}));
    CHECK_TEXT("1.0 plant:put\n2.0 plant:put\n3.0 plant:put\n4.0 plant:drop\n",
               filtered(g, &(valise_filter){.types = commands}));
    CHECK_TEXT("", filtered(g, &(valise_filter){.types = none}));
    CHECK_TEXT("2.1 PLANT_NEW\n", filtered(g, &(valise_filter){.node_id = VLS_STR("n2")}));
    CHECK_TEXT("3.1 PLANT_NEW\n", filtered(g, &(valise_filter){.run_id = VLS_STR("r7")}));
    CHECK_TEXT("2.1 PLANT_NEW\n",
               filtered(g, &(valise_filter){.namespace_pattern = VLS_STR("sales.*")}));
    CHECK_TEXT("1.1 PLANT_NEW\n2.1 PLANT_NEW\n3.1 PLANT_NEW\n4.1 PLANT_GONE\n",
               filtered(g, &(valise_filter){.namespace_pattern = VLS_STR("sales.**")}));
}

TEST(feed, refuses_filters_that_are_none)
{
    garden *g = garden_open(t, NULL);
    garden_notes notes = {0};
    valise_follow how = follow_notes(&notes);
    valise_subscription *s = NULL;
    const char *empty[] = {"", NULL};
    const char *types[1100];
    char large[2000] = "";

    memset(large, 'x', sizeof(large) - 1);
    how.filter.namespace_pattern = VLS_STR("a..b");
    CHECK_RC(VALISE_E_INVALID, valise_subscribe(&s, g->v, &how, &t->err));
    how.filter.namespace_pattern = valise_str_of(large);
    CHECK_RC(VALISE_E_INVALID, valise_subscribe(&s, g->v, &how, &t->err));
    how.filter = (valise_filter){.node_id = valise_str_of(large)};
    CHECK_RC(VALISE_E_INVALID, valise_subscribe(&s, g->v, &how, &t->err));
    how.filter = (valise_filter){.run_id = valise_str_of(large)};
    CHECK_RC(VALISE_E_INVALID, valise_subscribe(&s, g->v, &how, &t->err));
    how.filter = (valise_filter){.types = empty};
    CHECK_RC(VALISE_E_INVALID, valise_subscribe(&s, g->v, &how, &t->err));
    for (size_t i = 0; i < 1099; i++)
        types[i] = "a";
    types[1099] = NULL;
    how.filter = (valise_filter){.types = types};
    CHECK_RC(VALISE_E_LIMIT, valise_subscribe(&s, g->v, &how, &t->err));
    how = follow_notes(&notes);
    how.queue_max = UINT32_MAX;
    CHECK_RC(VALISE_E_LIMIT, valise_subscribe(&s, g->v, &how, &t->err));
    how = (valise_follow){.size = sizeof(how)};
    CHECK_RC(VALISE_E_INVALID, valise_subscribe(&s, g->v, &how, &t->err));
    CHECK(s == NULL);
}

/* ---- cursors ---- */

/* [K15] the cursor is (seq, index) and misses nothing */
TEST(feed, since_a_cursor)
{
    garden *g = garden_open(t, NULL);
    garden_notes notes = {0};
    valise_follow how = follow_notes(&notes);
    valise_cursor since = {2, 1};
    valise_subscription *s;

    for (int i = 0; i < 3; i++)
        garden_put(g, "a", "x", i);
    how.since = &since;
    s = subscribe(g, &how);
    CHECK_TEXT("2.1 PLANT_GROWN\n3.0 plant:put\n3.1 PLANT_GROWN\n", notes.text);
    garden_put(g, "a", "x", 9);
    CHECK_TEXT("2.1 PLANT_GROWN\n3.0 plant:put\n3.1 PLANT_GROWN\n4.0 plant:put\n"
               "4.1 PLANT_GROWN\n",
               notes.text);
    valise_unsubscribe(s);
    notes = (garden_notes){0};
    since = (valise_cursor){6, 0}; /* that is yet to come */
    s = subscribe(g, &how);
    garden_put(g, "a", "x", 10);
    CHECK_TEXT("", notes.text);
    garden_put(g, "a", "x", 11);
    CHECK_TEXT("6.0 plant:put\n6.1 PLANT_GROWN\n", notes.text);
    valise_unsubscribe(s);
}

/* Let the log begin behind `base`, as retention does. */
static int expire(void *arg, vls_txn *txn, valise_error *err)
{
    int64_t base = *(int64_t *)arg;
    int rc = vls_meta_put_int(txn, "base_seq", base, err);

    for (int64_t seq = 1; rc >= 0 && seq <= base; seq++)
        rc = vls_log_delete(txn, seq, err);
    return rc < 0 ? rc : 0;
}

/* [K15] before the retained log it fails with LIMIT and names the oldest seq */
TEST(feed, before_the_retained_log)
{
    garden *g = garden_open(t, NULL);
    garden_notes notes = {0};
    valise_follow how = follow_notes(&notes);
    valise_cursor since = {2, 0};
    valise_subscription *s = NULL;
    int64_t base = 2;

    for (int i = 0; i < 4; i++)
        garden_put(g, "a", "x", i + 1);
    CHECK_OK(vls_with_txn(g->v, expire, &base, &t->err));
    how.since = &since;
    CHECK_RC(VALISE_E_LIMIT, valise_subscribe(&s, g->v, &how, &t->err));
    CHECK(strstr(t->err.hint, "seq is 3"));
    CHECK_RC(VALISE_E_LIMIT,
             valise_dispatch(NULL, g->v, "event:list", "{\"since\":2}", NULL, &t->err));
    CHECK(strstr(t->err.hint, "seq is 3"));
    since.seq = 3;
    s = subscribe(g, &how);
    CHECK_TEXT("3.0 plant:put\n3.1 PLANT_GROWN\n4.0 plant:put\n4.1 PLANT_GROWN\n", notes.text);
    valise_unsubscribe(s);
}

/* Who falls behind what expires is told that something is missing. */
TEST(feed, what_expired_meanwhile_counts_as_dropped)
{
    garden *g = garden_open(t, NULL);
    valise_follow how = {.size = sizeof(how), .queue_max = 4};
    valise_cursor since = {1, 0};
    valise_subscription *s;
    const valise_event *event;
    uint64_t dropped;
    int64_t base = 3;

    for (int i = 0; i < 4; i++)
        garden_put(g, "a", "x", i + 1);
    how.since = &since;
    s = subscribe(g, &how);
    CHECK_OK(vls_with_txn(g->v, expire, &base, &t->err));
    CHECK_RC(1, valise_subscription_next(&event, s, 0, &t->err));
    CHECK_INT(4, event->seq);
    valise_subscription_losses(&dropped, NULL, s);
    CHECK_INT(3, dropped);
    valise_unsubscribe(s);
}

/* ---- queues ---- */

/* [K15] queued subscribers have a bounded queue that counts what it drops */
TEST(feed, a_queue_counts_what_it_drops)
{
    garden *g = garden_open(t, NULL);
    valise_follow how = {.size = sizeof(how), .queue_max = 5};
    valise_subscription *s = subscribe(g, &how);
    const valise_event *event;
    uint64_t dropped, failed;

    for (int i = 0; i < 4; i++)
        garden_put(g, "a", "x", i + 1);
    valise_subscription_losses(&dropped, &failed, s);
    CHECK_INT(3, dropped);
    CHECK_INT(0, failed);
    for (int i = 0; i < 5; i++) {
        CHECK_RC(1, valise_subscription_next(&event, s, 0, &t->err));
        CHECK_INT(1 + i / 2, event->seq);
        CHECK_INT(i % 2, event->index);
    }
    CHECK_RC(0, valise_subscription_next(&event, s, 0, &t->err));
    CHECK_RC(0, valise_subscription_next(&event, s, 2000000, &t->err));
    garden_put(g, "a", "x", 9);
    CHECK_RC(1, valise_subscription_next(&event, s, 0, &t->err));
    CHECK_INT(5, event->seq);
    valise_unsubscribe(s);
}

/* A queue that begins in the past is filled as it is emptied: nothing is dropped. */
TEST(feed, a_queue_replays_without_loss)
{
    garden *g = garden_open(t, NULL);
    valise_follow how = {.size = sizeof(how), .queue_max = 3};
    valise_cursor since = {1, 1};
    valise_subscription *s;
    const valise_event *event;
    uint64_t dropped;
    int n = 1;

    for (int i = 0; i < 100; i++)
        garden_put(g, "a", "x", i + 1);
    how.since = &since;
    s = subscribe(g, &how);
    while (valise_subscription_next(&event, s, 0, &t->err) == 1) {
        CHECK_INT(1 + n / 2, event->seq);
        CHECK_INT(n % 2, event->index);
        if (++n == 150) /* it goes on meanwhile */
            garden_put(g, "a", "x", 0);
    }
    CHECK_INT(202, n);
    garden_put(g, "a", "x", 1);
    CHECK_RC(1, valise_subscription_next(&event, s, 0, &t->err));
    CHECK_INT(102, event->seq);
    valise_subscription_losses(&dropped, NULL, s);
    CHECK_INT(0, dropped);
    valise_unsubscribe(s);
}

/* ---- callbacks ---- */

typedef struct nest {
    garden *g;
    valise_subscription *self, *other;
    int calls, depth, deepest;
    int64_t last;
} nest;

static int dispatch_again(void *arg, const valise_event *event, valise_error *err)
{
    nest *n = arg;
    int rc = 0;

    CHECK(event->seq > n->last || event->index > 0);
    n->last = event->seq;
    n->depth++;
    n->deepest = n->depth > n->deepest ? n->depth : n->deepest;
    if (n->calls++ < 20)
        rc = valise_dispatch(NULL, n->g->v, "plant:put", "{\"name\":\"again\"}", NULL, err);
    if (n->calls == 5)
        CHECK(valise_poll(n->g->v, 0, err) >= 0);
    n->depth--;
    return rc;
}

/* [K15] Callbacks run in seq order with no lock held and may call the API */
TEST(feed, a_callback_may_dispatch)
{
    garden *g = garden_open(t, NULL);
    nest a = {.g = g}, b = {.g = g};
    valise_follow how = {.size = sizeof(how), .fn = dispatch_again, .arg = &a};
    valise_subscription *x = subscribe(g, &how), *y;

    how.arg = &b;
    y = subscribe(g, &how);
    garden_put(g, "a", "x", 1);
    CHECK_INT(41, garden_seq(g));
    CHECK_INT(41, a.last);
    CHECK_INT(41, b.last);
    CHECK_INT(1, a.deepest);
    valise_unsubscribe(x);
    valise_unsubscribe(y);
}

static int leave(void *arg, const valise_event *event, valise_error *err)
{
    nest *n = arg;

    (void)event, (void)err;
    n->calls++;
    valise_unsubscribe(VLS_TAKE(n->other));
    valise_unsubscribe(VLS_TAKE(n->self));
    return 0;
}

TEST(feed, a_callback_may_unsubscribe_itself_and_others)
{
    garden *g = garden_open(t, NULL);
    nest n = {.g = g};
    garden_notes notes = {0}, stays = {0};
    valise_follow how = follow_notes(&stays);
    valise_subscription *s = subscribe(g, &how);

    how.arg = &notes;
    n.other = subscribe(g, &how);
    how.fn = leave;
    how.arg = &n;
    n.self = subscribe(g, &how);
    garden_put(g, "a", "x", 1);
    garden_put(g, "a", "x", 2);
    CHECK_INT(1, n.calls);
    CHECK_INT(0, notes.count);
    CHECK_INT(4, stays.count);
    valise_unsubscribe(s);
    valise_unsubscribe(NULL);
}

/* [K15] a failing subscriber harms nobody else */
TEST(feed, a_failing_callback_is_counted)
{
    garden *g = garden_open(t, NULL);
    garden_notes bad = {.result = VALISE_E_IO}, good = {0};
    valise_follow how = follow_notes(&bad);
    valise_subscription *x = subscribe(g, &how), *y;
    uint64_t failed;

    how.arg = &good;
    y = subscribe(g, &how);
    garden_put(g, "a", "x", 1);
    garden_put(g, "a", "x", 2);
    valise_subscription_losses(NULL, &failed, x);
    CHECK_INT(4, failed);
    CHECK_TEXT(good.text, bad.text);
    valise_subscription_losses(NULL, &failed, y);
    CHECK_INT(0, failed);
    valise_unsubscribe(x);
    valise_unsubscribe(y);
}

TEST(feed, is_closed_with_the_handle)
{
    garden g;
    garden_notes notes = {0};
    valise_follow how = follow_notes(&notes), queue = {.size = sizeof(queue), .queue_max = 4};
    garden_options o = {.env = t->env};

    CHECK_OK(garden_try_open(&g, &o, &t->err));
    g.t = t;
    subscribe(&g, &how);
    subscribe(&g, &queue);
    garden_put(&g, "a", "x", 1);
    CHECK_INT(2, notes.count);
    garden_close(&g);
}

TEST(feed, what_failed_or_was_undone_tells_nothing)
{
    garden *g = garden_open(t, NULL);
    garden_notes notes = {0};
    valise_follow how = follow_notes(&notes);
    valise_subscription *s = subscribe(g, &how);
    valise_command batch[] = {
        {VLS_STR("plant:put"), VLS_STR("{\"name\":\"a\"}"), NULL},
        {VLS_STR("plant:fail"), VLS_STR("{\"name\":\"b\"}"), NULL},
    };
    valise_call dry = VALISE_CALL_INIT;

    CHECK_RC(VALISE_E_CONFLICT, valise_dispatch_batch(NULL, g->v, batch, 2, NULL, &t->err));
    dry.flags = VALISE_CALL_DRY_RUN;
    CHECK_OK(valise_dispatch(NULL, g->v, "plant:put", "{\"name\":\"a\"}", &dry, &t->err));
    CHECK_TEXT("", notes.text);
    batch[1] = (valise_command){VLS_STR("plant:drop"), VLS_STR("{\"name\":\"a\"}"), NULL};
    CHECK_OK(valise_dispatch_batch(NULL, g->v, batch, 2, NULL, &t->err));
    CHECK_TEXT("1.0 plant:put\n1.1 PLANT_NEW\n2.0 plant:drop\n2.1 PLANT_GONE\n", notes.text);
    valise_unsubscribe(s);
}

/* ---- who may see what ---- */

TEST(feed, only_what_the_actor_may_see)
{
    garden *g = garden_open(t, NULL);
    garden_notes notes = {0};
    valise_follow how = follow_notes(&notes);
    valise_cursor start = {1, 0};
    valise_subscription *s = NULL;

    garden_run(g, "plant:put", "{\"name\":\"a\",\"space\":\"sales.eu\"}");
    garden_run(g, "plant:put", "{\"name\":\"b\",\"space\":\"hr\"}");
    garden_run(g, "plant:put", "{\"name\":\"c\"}"); /* two events that need the same */
    how.since = &start;
    how.actor = VLS_STR("nobody");
    CHECK_RC(VALISE_E_DENIED, valise_subscribe(&s, g->v, &how, &t->err));
    how.actor = VLS_STR("blind");
    valise_unsubscribe(subscribe(g, &how));
    CHECK_TEXT("", notes.text);
    how.actor = VLS_STR("sales");
    valise_unsubscribe(subscribe(g, &how));
    CHECK_TEXT("1.1 PLANT_NEW\n", notes.text);
}

/* ---- live events ---- */

static void publish(garden *g, const char *type, const char *payload)
{
    test *t = g->t;
    valise_event event = {.size = sizeof(event),
                          .type = valise_str_of(type),
                          .namespace_name = VLS_STR("sales.eu"),
                          .payload = valise_str_of(payload)};

    CHECK_OK(valise_publish(g->v, VLS_STR("me"), &event, &t->err));
}

/* [K15] Live events go to present subscribers only. */
TEST(feed, live_events)
{
    garden *g = garden_open(t, NULL);
    garden_notes with = {0}, without = {0};
    valise_follow how = follow_notes(&without);
    valise_subscription *x = subscribe(g, &how), *y, *z;
    const valise_event *event;

    publish(g, "CHUNK", "{}");
    how.arg = &with;
    how.live = true;
    y = subscribe(g, &how);
    how.queue_max = 2;
    z = subscribe(g, &how);
    publish(g, "CHUNK", "{ \"b\":1, \"a\":2 }");
    garden_put(g, "a", "x", 1);
    publish(g, "PHASE", "");
    CHECK_TEXT("0.0 CHUNK\n1.0 plant:put\n1.1 PLANT_NEW\n0.0 PHASE\n", with.text);
    CHECK_TEXT("1.0 plant:put\n1.1 PLANT_NEW\n", without.text);
    CHECK_RC(1, valise_subscription_next(&event, z, 0, &t->err));
    CHECK_STR(VLS_STR("{\"a\":2,\"b\":1}"), event->payload);
    CHECK_STR(VLS_STR("me"), event->source);
    CHECK_STR(VLS_STR("sales.eu"), event->namespace_name);
    CHECK_INT(0, event->seq);
    CHECK(event->time > 0);
    valise_unsubscribe(x);
    valise_unsubscribe(y);
    valise_unsubscribe(z);
}

/* What an operation tells is heard when it holds nothing any more: who hears it may dispatch. */
static int put_more(void *arg, const valise_event *event, valise_error *err)
{
    garden *g = arg;

    (void)err;
    if (vls_str_equal(event->type, VLS_STR("ASIDE")))
        garden_put(g, "heard", "x", 1);
    return 0;
}

TEST(feed, an_operation_can_tell_those_who_listen) /* [K15] */
{
    garden *g = garden_open(t, NULL);
    garden_notes notes = {0};
    valise_follow how = follow_notes(&notes), other = follow_notes(&notes);
    valise_subscription *x, *y;

    CHECK_OK(vls_registry_add(g->registry, &aside_extension, false, &t->err));
    CHECK(!vls_bus_listens(g->v));
    garden_run(g, "aside:add", "{\"name\":\"m:a\",\"what\":\"tell\"}"); /* nobody is there */
    x = subscribe(g, &how);
    CHECK(!vls_bus_listens(g->v)); /* only to what is in the log */
    how.live = true;
    y = subscribe(g, &how);
    CHECK(vls_bus_listens(g->v));
    garden_run(g, "aside:add", "{\"name\":\"m:a\",\"what\":\"tell\"}");
    CHECK_TEXT("0.0 ASIDE\n", notes.text);
    valise_unsubscribe(y);
    CHECK(!vls_bus_listens(g->v));
    valise_unsubscribe(x);

    other.live = true;
    other.fn = put_more;
    other.arg = g;
    x = subscribe(g, &other);
    garden_run(g, "aside:add", "{\"name\":\"m:a\",\"what\":\"tell\"}");
    garden_run(g, "aside:add", "{\"name\":\"a\",\"what\":\"tell\"}");
    CHECK_INT(3, garden_seq(g));
    valise_unsubscribe(x);
}

TEST(feed, live_events_only_for_who_may_see_them)
{
    garden *g = garden_open(t, NULL);
    garden_notes notes = {0};
    valise_follow how = follow_notes(&notes);
    valise_subscription *s, *queue;
    const valise_event *event;

    how.live = true;
    how.actor = VLS_STR("blind");
    s = subscribe(g, &how);
    how.queue_max = 4;
    queue = subscribe(g, &how);
    publish(g, "plant:chunk", "{}");
    publish(g, "CHUNK", "{}");
    CHECK_TEXT("0.0 CHUNK\n", notes.text);
    CHECK_RC(1, valise_subscription_next(&event, queue, 0, &t->err));
    CHECK_STR(VLS_STR("CHUNK"), event->type);
    CHECK_RC(0, valise_subscription_next(&event, queue, 0, &t->err));
    valise_unsubscribe(s);
    valise_unsubscribe(queue);
}

TEST(feed, refuses_live_events_that_are_none)
{
    garden *g = garden_open(t, NULL);
    valise_event event = {.size = sizeof(event)};
    char large[2000] = "";

    memset(large, 'x', sizeof(large) - 1);
    CHECK_RC(VALISE_E_INVALID, valise_publish(g->v, VLS_STR(""), &event, &t->err));
    event.type = VLS_STR("\xff");
    CHECK_RC(VALISE_E_INVALID, valise_publish(g->v, VLS_STR(""), &event, &t->err));
    event.type = VLS_STR("X");
    event.node_id = valise_str_of(large);
    CHECK_RC(VALISE_E_INVALID, valise_publish(g->v, VLS_STR(""), &event, &t->err));
    event.node_id = VLS_STR("");
    event.payload = VLS_STR("{\"a\":");
    CHECK_RC(VALISE_E_INVALID, valise_publish(g->v, VLS_STR(""), &event, &t->err));
    CHECK_TEXT("payload", t->err.path);
    event.payload = VLS_STR("1");
    CHECK_OK(valise_publish(g->v, VLS_STR(""), &event, &t->err)); /* nobody listens */
}

static int tell_more(void *arg, const valise_event *event, valise_error *err)
{
    nest *n = arg;

    (void)err;
    if (n->calls++ == 0) {
        for (int i = 0; i < 1100; i++)
            publish(n->g, "CHUNK", "{}");
    }
    n->last += event->seq == 0;
    return 0;
}

/* Callbacks that do not keep up lose live events, never those of the log. */
TEST(feed, live_events_are_bounded)
{
    garden *g = garden_open(t, NULL);
    nest n = {.g = g};
    valise_follow how = {.size = sizeof(how), .fn = tell_more, .arg = &n, .live = true};
    valise_subscription *s = subscribe(g, &how);
    uint64_t dropped;

    garden_put(g, "a", "x", 1);
    valise_subscription_losses(&dropped, NULL, s);
    CHECK_INT(VLS_LIVE_QUEUE, n.last);
    CHECK_INT(1100 - VLS_LIVE_QUEUE, dropped);
    valise_unsubscribe(s);
}

/* ---- event:list ---- */

TEST(feed, event_list)
{
    garden *g = garden_open(t, NULL);
    const char *all;

    garden_run(g, "plant:put", "{\"name\":\"a\",\"node\":\"n\",\"space\":\"s\",\"run\":\"r\"}");
    garden_run(g, "plant:drop", "{\"name\":\"a\"}");
    all = garden_ask(g, "event:list", "{}");
    CHECK(strstr(all, "\"type\":\"plant:put\""));
    CHECK(strstr(all, "\"type\":\"PLANT_NEW\""));
    CHECK(strstr(all, "\"namespace\":\"s\""));
    CHECK(strstr(all, "\"nodeId\":\"n\""));
    CHECK(strstr(all, "\"runId\":\"r\""));
    CHECK(strstr(all, "\"payload\":{\"size\":0}"));
    all = garden_ask(g, "event:list", "{\"types\":[\"PLANT_*\"],\"since\":1,\"index\":1}");
    CHECK(strstr(all, "PLANT_NEW") && strstr(all, "PLANT_GONE") && !strstr(all, "plant:put"));
    all = garden_ask(g, "event:list", "{\"limit\":1}");
    CHECK(strstr(all, "plant:put") && !strstr(all, "PLANT_NEW"));
    all = garden_ask(g, "event:list", "{\"until\":1,\"node\":\"n\",\"run\":\"r\"}");
    CHECK(strstr(all, "PLANT_NEW") && !strstr(all, "PLANT_GONE"));
    all = garden_ask(g, "event:list", "{\"since\":2,\"namespace\":\"x.*\"}");
    CHECK_TEXT("{\"items\":[]}", all);
}

TEST(feed, event_list_shows_what_the_actor_may_see)
{
    garden *g = garden_open(t, NULL);
    valise_call call = VALISE_CALL_INIT;
    valise_reply reply = VALISE_REPLY_INIT;

    garden_run(g, "plant:put", "{\"name\":\"a\",\"space\":\"sales.eu\"}");
    call.actor = VLS_STR("blind");
    CHECK_OK(valise_dispatch(&reply, g->v, "event:list", "{}", &call, &t->err));
    CHECK_STR(VLS_STR("{\"items\":[]}"), valise_blob_bytes(reply.json));
    valise_reply_release(&reply);
    call.at = VLS_STR("0");
    call.actor = VLS_STR("");
    CHECK_OK(valise_dispatch(&reply, g->v, "event:list", "{}", &call, &t->err));
    CHECK_STR(VLS_STR("{\"items\":[]}"), valise_blob_bytes(reply.json));
    valise_reply_release(&reply);
}

/* ---- others ---- */

/* [K26] Two handles on one workspace in one process: each gets what the other wrote, in order. */
TEST(feed, two_handles)
{
    garden *a = garden_open(t, &(garden_options){.backend = "sqlite"});
    garden *b = garden_open(t, &(garden_options){.backend = "sqlite"});
    garden_notes notes = {0};
    valise_follow how = follow_notes(&notes);
    valise_subscription *s = subscribe(a, &how);

    CHECK_RC(0, valise_poll(a->v, 0, &t->err));
    garden_put(b, "a", "x", 1);
    CHECK_TEXT("", notes.text);
    CHECK_RC(1, valise_poll(a->v, 0, &t->err));
    CHECK_TEXT("1.0 plant:put\n1.1 PLANT_NEW\n", notes.text);
    CHECK_RC(0, valise_poll(a->v, 2000000, &t->err));
    garden_put(b, "a", "x", 2);
    garden_put(a, "a", "x", 3); /* what a writes brings what b wrote before it */
    CHECK_TEXT("1.0 plant:put\n1.1 PLANT_NEW\n2.0 plant:put\n2.1 PLANT_GROWN\n3.0 plant:put\n"
               "3.1 PLANT_GROWN\n",
               notes.text);
    valise_unsubscribe(s);
}

TEST(feed, needs_a_workspace)
{
    vls_bus_options o = {.env = t->env, .access = garden_access};
    valise *v;
    valise_follow how = {.size = sizeof(how), .queue_max = 1};
    valise_event event = {.size = sizeof(event), .type = VLS_STR("X")};
    valise_subscription *s;

    CHECK_OK(vls_bus_open(&v, &o, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_subscribe(&s, v, &how, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_poll(v, 0, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_publish(v, VLS_STR(""), &event, &t->err));
    CHECK_OK(vls_read_log_flush(v, &t->err));
    vls_read_log_add(v, VLS_STR("a"), VLS_STR("b"), VLS_STR("c"), 0);
    vls_feed_close(NULL);
    vls_bus_close(v);
}
