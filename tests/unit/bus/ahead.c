/* ahead.c -- who is far behind is told the same as who was there. [K15] [K16] [K14] */
#include "kit/feed.h"

TEST_PARAMS(ahead, "memory", "sqlite")

#define COMMANDS 700

typedef struct story {
    char *text;
    size_t len;
} story;

static int tell(void *arg, const valise_event *event, valise_error *err)
{
    story *s = arg;

    (void)err;
    s->len +=
        (size_t)snprintf(s->text + s->len, 128, "%lld.%u %.*s %.*s\n", (long long)event->seq,
                         event->index, VALISE_STR_ARG(event->type), VALISE_STR_ARG(event->payload));
    return 0;
}

static story new_story(void)
{
    return (story){.text = test_alloc((size_t)COMMANDS * 4 * 128)};
}

static void live_and_die(garden *g, int count)
{
    for (int i = 0; i < count; i++) {
        if (i % 7 == 6)
            garden_run(g, "plant:drop", "{\"name\":\"p%d\"}", i % 5);
        else if (i % 11 == 3)
            garden_run(g, "plant:many", "{\"names\":[\"p0\",\"p3\",\"q%d\"],\"size\":%d}", i, i);
        else
            garden_put(g, test_format("p%d", i % 5), i % 3 ? "k" : "l", i);
    }
}

static void forget_events(garden *g)
{
    for (size_t i = 0; i < VLS_FEED_CACHE; i++) {
        vls_events_unref(g->feed->cache[i]);
        g->feed->cache[i] = NULL;
    }
}

TEST(ahead, old_events_are_the_same)
{
    garden *g = garden_open(t, NULL);
    story live = new_story(), again = new_story();
    valise_follow how = {.size = sizeof(how), .fn = tell, .arg = &live};
    const valise_cursor start = {1, 0};
    valise_subscription *s = NULL;

    CHECK_OK(valise_subscribe(&s, g->v, &how, &t->err));
    live_and_die(g, COMMANDS);
    valise_unsubscribe(s);
    forget_events(g);
    how.arg = &again;
    how.since = &start;
    CHECK_OK(valise_subscribe(&s, g->v, &how, &t->err));
    CHECK_TEXT(live.text, again.text);
    CHECK(s->ahead.to > 0);
    garden_put(g, "last", "k", 1);
    CHECK_INT(0, s->ahead.to); /* no longer far behind */
    valise_unsubscribe(s);
}

/* event:list too: one event of it for each that was told. */
TEST(ahead, old_events_are_listed)
{
    garden *g = garden_open(t, NULL);
    const char *list;
    int grown = 0, listed = 0;
    story live = new_story();
    valise_follow how = {.size = sizeof(how), .fn = tell, .arg = &live};
    valise_subscription *s = NULL;

    CHECK_OK(valise_subscribe(&s, g->v, &how, &t->err));
    live_and_die(g, COMMANDS);
    for (const char *at = live.text; (at = strstr(at, "PLANT_GROWN {\"size\":3")); at++)
        grown++;
    list = garden_ask(g, "event:list", "{\"types\":[\"PLANT_GROWN\"]}");
    for (const char *at = list; (at = strstr(at, "\"payload\":{\"size\":3")); at++)
        listed++;
    CHECK(grown > 50);
    CHECK_INT(grown, listed);
    valise_unsubscribe(s);
}

static const char *describe(garden *g, const vls_ahead *ahead, int64_t seq)
{
    test *t = g->t;
    vls_txn txn = {0};
    vls_arena arena = {0};
    vls_events *events = NULL;
    vls_entry entry;
    const char *text = "";

    vls_arena_init(&arena, t->env, 1u << 20);
    CHECK_OK(vls_txn_begin(&txn, g->store, VALISE_TXN_READ, &t->err));
    CHECK_RC(1, vls_log_get(&entry, &txn, seq, &arena, &t->err));
    CHECK_OK(vls_events_of_entry(&events, &txn, &entry, ahead, &t->err));
    for (size_t i = 0; i < events->count; i++)
        text = test_format("%s%u %.*s %.*s\n", text, events->events[i].index,
                           VALISE_STR_ARG(events->events[i].type),
                           VALISE_STR_ARG(events->events[i].payload));
    vls_events_unref(events);
    vls_txn_rollback(&txn);
    vls_arena_release(&arena);
    return text;
}

TEST(ahead, links_lead_to_the_next_change)
{
    garden *g = garden_open(t, NULL);
    VLS_AUTO(ahead) vls_ahead ahead = {0};
    vls_txn txn = {0};

    garden_put(g, "a", "k", 1);
    garden_put(g, "b", "k", 1);
    garden_run(g, "plant:many", "{\"names\":[\"c\",\"a\"]}");
    garden_run(g, "plant:drop", "{\"name\":\"a\"}");
    garden_put(g, "c", "k", 1);
    CHECK_OK(vls_txn_begin(&txn, g->store, VALISE_TXN_READ, &t->err));
    CHECK_OK(vls_ahead_build(&ahead, &txn, 1, &t->err));
    vls_txn_rollback(&txn);
    CHECK_INT(3, vls_ahead_next(&ahead, 1, 1));
    CHECK_INT(0, vls_ahead_next(&ahead, 2, 1));
    CHECK_INT(5, vls_ahead_next(&ahead, 3, 1));
    CHECK_INT(4, vls_ahead_next(&ahead, 3, 2));
    CHECK_INT(0, vls_ahead_next(&ahead, 4, 1));
}

/* A link that leads elsewhere, as equal hashes make one, changes nothing. */
TEST(ahead, wrong_links_do_no_harm)
{
    garden *g = garden_open(t, NULL);
    VLS_AUTO(ahead) vls_ahead ahead = {0};
    vls_txn txn = {0};

    live_and_die(g, 60);
    CHECK_OK(vls_txn_begin(&txn, g->store, VALISE_TXN_READ, &t->err));
    CHECK_OK(vls_ahead_build(&ahead, &txn, 3, &t->err));
    vls_txn_rollback(&txn);
    CHECK_INT(60, ahead.to);
    CHECK_INT(0, vls_ahead_next(&ahead, 2, 1));
    CHECK_INT(0, vls_ahead_next(&ahead, 61, 1));
    CHECK_INT(0, vls_ahead_next(&ahead, 10, 0));
    CHECK_INT(0, vls_ahead_next(NULL, 10, 1));
    for (int64_t seq = 3; seq <= 60; seq++)
        CHECK_TEXT(describe(g, NULL, seq), describe(g, &ahead, seq));
    for (size_t i = 0; i < ahead.next.len; i++) /* to another entry, and to none at all */
        ahead.next.ptr[i] = i % 3 ? (int64_t)(i * 7 % 60) + 1 : 1000;
    for (int64_t seq = 3; seq <= 60; seq++)
        CHECK_TEXT(describe(g, NULL, seq), describe(g, &ahead, seq));
}

static int count_row(void *self, valise_job *job, const valise_event *event, const void *row,
                     valise_error *err)
{
    int64_t *sum = self;

    (void)job, (void)event, (void)err;
    *sum += ((const plant_row *)row)->size;
    return 0;
}

TEST(ahead, processors_catch_up)
{
    int64_t at_once = 0, later = 0;
    valise_processor p = {
        .size = sizeof(p), .name = "p", .self = &at_once, .coll = &plant_item, .run = count_row};
    valise_processor q = p;
    const valise_processor *const first[] = {&p, NULL}, *const second[] = {&q, NULL};
    garden *a = garden_open(
        t, &(garden_options){.backend = "sqlite", .processors = first, .dir = test_tmpdir()});
    garden *b;

    q.self = &later;
    q.name = "q";
    b = garden_open(
        t, &(garden_options){.backend = "sqlite", .processors = second, .dir = test_tmpdir()});
    live_and_die(a, 400);
    CHECK(at_once > 1000);
    CHECK_INT(0, later);
    CHECK_RC(1, valise_poll(b->v, 0, &t->err));
    CHECK_INT(at_once, later);
}

static int append(void *arg, int64_t seq, valise_str patch, valise_error *err)
{
    story *s = arg;

    (void)err;
    if (s->len < (size_t)COMMANDS * 3 * 128)
        s->len += (size_t)snprintf(s->text + s->len, 512, "%lld %.*s\n", (long long)seq,
                                   VALISE_STR_ARG(patch));
    return 0;
}

TEST(ahead, patches_are_the_same)
{
    garden *a = garden_open(t, &(garden_options){.backend = "sqlite"});
    garden *b = garden_open(t, &(garden_options){.backend = "sqlite"});
    story live = new_story(), later = new_story();
    valise_subscription *s = NULL, *r = NULL;

    CHECK_OK(valise_index_subscribe(&s, a->v, "kinds", append, &live, &t->err));
    CHECK_OK(valise_index_subscribe(&r, b->v, "kinds", append, &later, &t->err));
    live_and_die(a, 400);
    CHECK_RC(1, valise_poll(b->v, 0, &t->err));
    CHECK(live.len > 10000);
    CHECK_TEXT(live.text, later.text);
    valise_unsubscribe(s);
    valise_unsubscribe(r);
}
