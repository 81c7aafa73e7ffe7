/* feed_threads.c -- many threads dispatch, subscribers come and go: order, no gaps, no repetitions,
 * and indexes that are what the rows say. [K15] [K16] [K26] */
#include "kit/feed.h"

#include "harness/process.h"

#define WRITERS 16
#define COMMANDS 60
#define FOLLOWERS 6

/* ---- strict order ---- */

/* One event behind the other: (1,0) (1,1) (2,0) ... Each command here makes two. */
typedef struct strict {
    atomic_bool inside;
    valise_cursor next;
    uint64_t count, wrong;
} strict;

static int expect_next(void *arg, const valise_event *event, valise_error *err)
{
    strict *s = arg;

    (void)err;
    if (atomic_exchange(&s->inside, true))
        s->wrong++; /* two at once */
    if (s->next.seq == 0)
        s->next = (valise_cursor){event->seq, event->index};
    if (event->seq != s->next.seq || event->index != s->next.index)
        s->wrong++;
    s->next =
        event->index == 0 ? (valise_cursor){event->seq, 1} : (valise_cursor){event->seq + 1, 0};
    s->count++;
    atomic_store(&s->inside, false);
    return 0;
}

typedef struct crowd {
    test *t;
    garden *g;
    strict whole, comers[FOLLOWERS];
    atomic_int writing;
    uint64_t taken;
} crowd;

static void write_some(crowd *c, size_t index)
{
    valise_error err = VALISE_ERROR_INIT;

    for (int i = 0; i < COMMANDS; i++) {
        char payload[96];
        snprintf(payload, sizeof(payload), "{\"name\":\"p%zu\",\"kind\":\"k%d\",\"size\":%d}",
                 index, i % 3, i + 1);
        CHECK_MSG(valise_dispatch(NULL, c->g->v, "plant:put", payload, NULL, &err) == 0, "%s",
                  err.message);
    }
    atomic_fetch_sub(&c->writing, 1);
}

/* Join from the beginning or from now on, stay for a while, leave. */
static void come_and_go(crowd *c, size_t index)
{
    strict *s = &c->comers[index];
    valise_error err = VALISE_ERROR_INIT;
    const valise_cursor start = {1, 0};

    for (int round = 0; atomic_load(&c->writing) > 0; round++) {
        valise_follow how = {.size = sizeof(how), .fn = expect_next, .arg = s};
        valise_subscription *sub = NULL;
        s->next = (valise_cursor){0, 0};
        if (round % 2)
            how.since = &start;
        CHECK_MSG(valise_subscribe(&sub, c->g->v, &how, &err) == 0, "%s", err.message);
        for (int i = 0; i < 20 && atomic_load(&c->writing) > 0; i++)
            CHECK(valise_poll(c->g->v, 100000, &err) >= 0);
        valise_unsubscribe(sub);
        CHECK(!atomic_load(&s->inside)); /* no callback runs any more */
    }
}

/* A queue that is emptied by its own thread: begins in the past, and loses nothing. */
static void take_from_queue(crowd *c)
{
    valise_error err = VALISE_ERROR_INIT;
    const valise_cursor start = {1, 0};
    valise_follow how = {.size = sizeof(how), .queue_max = 1u << 16, .since = &start};
    valise_subscription *sub = NULL;
    strict s = {.next = {1, 0}};
    const valise_event *event;
    uint64_t dropped;

    CHECK_MSG(valise_subscribe(&sub, c->g->v, &how, &err) == 0, "%s", err.message);
    while (s.count < 2 * WRITERS * COMMANDS) {
        CHECK_INT(1, valise_subscription_next(&event, sub, INT64_C(20000000000), &err));
        CHECK_INT(0, expect_next(&s, event, &err));
    }
    valise_subscription_losses(&dropped, NULL, sub);
    CHECK_INT(0, s.wrong);
    CHECK_INT(0, dropped);
    valise_unsubscribe(sub);
}

static int tell(void *arg, valise_view *view, valise_error *err)
{
    crowd *c = arg;
    VLS_AUTO(pmap) vls_pmap memory = {0};
    VLS_AUTO(pmap) vls_pmap fresh = {0};
    vls_index *index;

    CHECK_INT(0, vls_indexes_find(&index, &c->g->feed->indexes, VLS_STR("kinds"), err));
    CHECK_INT(0, vls_index_read(&memory, index, view, err));
    CHECK_INT(0, vls_index_load(&fresh, index, view, err));
    CHECK_INT(fresh.len, memory.len);
    return 0;
}

/* Read indexes, synchronise them, publish live events. */
static void do_the_rest(crowd *c)
{
    valise_error err = VALISE_ERROR_INIT;
    valise_event live = {.size = sizeof(live), .type = VLS_STR("CHUNK")};

    for (int i = 0; atomic_load(&c->writing) > 0; i++) {
        valise_reply reply = VALISE_REPLY_INIT;
        CHECK_INT(0, vls_with_view(c->g->v, NULL, tell, c, &err));
        CHECK_INT(0, valise_publish(c->g->v, VLS_STR(""), &live, &err));
        vls_read_log_add(c->g->v, VLS_STR("a"), VLS_STR("b"), VLS_STR("c"), 0);
        if (i % 4 == 0) {
            CHECK_INT(0, valise_dispatch(&reply, c->g->v, "workspace:sync", "{}", NULL, &err));
            CHECK(!strstr(test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json))),
                          "\"differences\":1"));
            valise_reply_release(&reply);
        }
    }
}

static void play(size_t index, void *arg)
{
    crowd *c = arg;

    if (index < WRITERS)
        write_some(c, index);
    else if (index < WRITERS + FOLLOWERS)
        come_and_go(c, index - WRITERS);
    else if (index == WRITERS + FOLLOWERS)
        take_from_queue(c);
    else
        do_the_rest(c);
}

TEST_PARAMS(feed_threads, "memory", "sqlite")

TEST(feed_threads, order_without_gaps_or_repetitions)
{
    garden *g = garden_open(t, NULL);
    crowd *c = test_alloc(sizeof(*c));
    valise_follow how = {.size = sizeof(how), .fn = expect_next, .arg = &c->whole, .live = false};
    valise_subscription *s = NULL;
    vls_index_report report;

    c->t = t;
    c->g = g;
    c->writing = WRITERS;
    c->whole.next = (valise_cursor){1, 0};
    CHECK_OK(valise_subscribe(&s, g->v, &how, &t->err));
    test_threads(WRITERS + FOLLOWERS + 2, play, c);
    CHECK(valise_poll(g->v, 0, &t->err) >= 0);
    CHECK_INT(WRITERS * COMMANDS, garden_seq(g));
    CHECK_INT(2 * WRITERS * COMMANDS, c->whole.count);
    CHECK_INT(0, c->whole.wrong);
    for (size_t i = 0; i < FOLLOWERS; i++)
        CHECK_INT(0, c->comers[i].wrong);
    for (size_t i = 0; i < g->feed->indexes.count; i++) {
        CHECK_OK(vls_index_check(&report, &g->feed->indexes.items[i], true, NULL, NULL, &t->err));
        CHECK_INT(0, report.differences);
    }
    valise_unsubscribe(s);
}

/* ---- callbacks that leave while others deliver ---- */

typedef struct pair {
    valise_subscription *sub[2];
    atomic_int calls;
    pthread_mutex_t lock;
} pair;

static int leave_both(void *arg, const valise_event *event, valise_error *err)
{
    pair *p = arg;

    (void)event, (void)err;
    atomic_fetch_add(&p->calls, 1);
    for (size_t i = 0; i < 2; i++) {
        valise_subscription *taken;
        pthread_mutex_lock(&p->lock);
        taken = VLS_TAKE(p->sub[i]);
        pthread_mutex_unlock(&p->lock);
        valise_unsubscribe(taken);
    }
    return 0;
}

typedef struct duel {
    garden *g;
    pair pairs[20];
} duel;

static void put_some(size_t index, void *arg)
{
    duel *d = arg;
    valise_error err = VALISE_ERROR_INIT;

    (void)index;
    for (int i = 0; i < 20; i++)
        CHECK_INT(0, valise_dispatch(NULL, d->g->v, "plant:put", "{\"name\":\"x\"}", NULL, &err));
}

/* Two callbacks on two threads, each of which ends both subscriptions: nobody waits for ever. */
TEST(feed_threads, callbacks_end_each_other)
{
    duel *d = test_alloc(sizeof(*d));

    d->g = garden_open(t, NULL);
    for (size_t i = 0; i < 20; i++) {
        pair *p = &d->pairs[i];
        valise_follow how = {.size = sizeof(how), .fn = leave_both, .arg = p};
        pthread_mutex_init(&p->lock, NULL);
        CHECK_OK(valise_subscribe(&p->sub[0], d->g->v, &how, &t->err));
        CHECK_OK(valise_subscribe(&p->sub[1], d->g->v, &how, &t->err));
    }
    test_threads(4, put_some, d);
    for (size_t i = 0; i < 20; i++) {
        CHECK(d->pairs[i].calls >= 1);
        CHECK(d->pairs[i].sub[0] == NULL && d->pairs[i].sub[1] == NULL);
        pthread_mutex_destroy(&d->pairs[i].lock);
    }
    CHECK(d->g->feed->first == NULL);
}

/* ---- leaving while a callback runs ---- */

typedef struct stay {
    valise_subscription *sub;
    garden *g;
    atomic_bool inside, go_on, left, left_early;
} stay;

static int stay_inside(void *arg, const valise_event *event, valise_error *err)
{
    stay *s = arg;

    (void)event, (void)err;
    atomic_store(&s->inside, true);
    while (!atomic_load(&s->go_on))
        process_sleep_us(100);
    atomic_store(&s->left_early, atomic_load(&s->left));
    return 0;
}

static void leave_meanwhile(size_t index, void *arg)
{
    stay *s = arg;
    valise_error err = VALISE_ERROR_INIT;

    if (index == 0) {
        CHECK_INT(0, valise_dispatch(NULL, s->g->v, "plant:log", "{\"name\":\"x\"}", NULL, &err));
    } else if (index == 1) {
        while (!atomic_load(&s->inside))
            process_sleep_us(100);
        valise_unsubscribe(s->sub);
        atomic_store(&s->left, true);
    } else {
        while (!atomic_load(&s->inside))
            process_sleep_us(100);
        process_sleep_us(20000); /* time to leave too early */
        atomic_store(&s->go_on, true);
    }
}

/* No callback runs after valise_unsubscribe returned. */
TEST(feed_threads, unsubscribe_waits_for_the_callback)
{
    stay *s = test_alloc(sizeof(*s));
    valise_follow how = {.size = sizeof(how), .fn = stay_inside, .arg = s};

    s->g = garden_open(t, NULL);
    CHECK_OK(valise_subscribe(&s->sub, s->g->v, &how, &t->err));
    test_threads(3, leave_meanwhile, s);
    CHECK(s->left && !s->left_early);
}

/* ---- closed while it is being served ---- */

#define OLD_ENTRIES 80 /* more than a batch of the log, each with two events */

typedef struct leaver {
    garden *g;
    valise_subscription *sub;
    atomic_int calls;
    int leave_at;                  /* its own callback leaves at this call; 0: never */
    atomic_bool left, called_late; /* somebody left; a callback ran after that */
    valise_event live;
} leaver;

static void fill_log(garden *g)
{
    for (int i = 0; i < OLD_ENTRIES; i++)
        garden_put(g, "p", "k", i + 1);
}

static int leave_at(void *arg, const valise_event *event, valise_error *err)
{
    leaver *l = arg;

    (void)event, (void)err;
    if (atomic_load(&l->left))
        atomic_store(&l->called_late, true);
    if (atomic_fetch_add(&l->calls, 1) + 1 == l->leave_at) {
        valise_unsubscribe(l->sub);
        atomic_store(&l->left, true);
    }
    return 0;
}

static int leave_at_patch(void *arg, int64_t seq, valise_str patch, valise_error *err)
{
    (void)seq, (void)patch;
    return leave_at(arg, NULL, err);
}

/* From now on, and leave at that call. */
static void join(leaver *l, test *t, bool index, int leave)
{
    valise_follow how = {.size = sizeof(how), .fn = leave_at, .arg = l};

    if (index)
        CHECK_OK(valise_index_subscribe(&l->sub, l->g->v, "kinds", leave_at_patch, l, &t->err));
    else
        CHECK_OK(valise_subscribe(&l->sub, l->g->v, &how, &t->err));
    l->calls = 0; /* of an index: the first patch has everything */
    l->leave_at = leave;
}

/* Wherever in a batch, or between two of them, its own callback ends it: it was the last one. */
TEST(feed_threads, its_own_callback_ends_it_in_the_middle_of_a_batch)
{
    const int places[] = {1, 64, 65, 128, 129, 160};

    for (size_t i = 0; i < VLS_COUNT(places); i++) {
        for (int index = 0; index < 2; index++) {
            leaver l = {.g = garden_open(t, NULL)};
            garden other;
            if (index && places[i] > OLD_ENTRIES)
                continue;
            CHECK_OK(garden_try_open(&other, &(garden_options){.env = t->env, .store = l.g->store},
                                     &t->err));
            other.t = t;
            join(&l, t, index, places[i]);
            fill_log(&other);
            CHECK(valise_poll(l.g->v, 0, &t->err) >= 0);
            CHECK_INT(places[i], l.calls);
            CHECK(!l.called_late);
            CHECK(l.g->feed->first == NULL);
            garden_put(l.g, "p", "k", 9999);
            CHECK_INT(places[i], l.calls);
            garden_close(&other);
        }
    }
}

static int publish_more(void *arg, const valise_event *event, valise_error *err)
{
    leaver *l = arg;

    for (int i = 0; l->calls == 0 && i < 6; i++)
        CHECK_INT(0, valise_publish(l->g->v, VLS_STR(""), &l->live, err));
    return leave_at(arg, event, err);
}

/* The same at a live event, while others wait behind it. */
TEST(feed_threads, its_own_callback_ends_it_at_a_live_event)
{
    leaver l = {.g = garden_open(t, NULL), .leave_at = 3};
    valise_follow how = {.size = sizeof(how), .fn = publish_more, .arg = &l, .live = true};

    l.live = (valise_event){.size = sizeof(l.live), .type = VLS_STR("CHUNK")};
    CHECK_OK(valise_subscribe(&l.sub, l.g->v, &how, &t->err));
    CHECK_OK(valise_publish(l.g->v, VLS_STR(""), &l.live, &t->err));
    CHECK_INT(3, l.calls);
    CHECK(!l.called_late);
    CHECK(l.g->feed->first == NULL);
}

static void leave_from_outside(size_t index, void *arg)
{
    leaver *l = arg;
    valise_error err = VALISE_ERROR_INIT;

    if (index == 0) {
        CHECK_MSG(valise_poll(l->g->v, 0, &err) >= 0, "%s", err.message);
    } else if (index == 1) {
        while (atomic_load(&l->calls) < 5)
            process_sleep_us(10);
        valise_unsubscribe(l->sub);
        atomic_store(&l->left, true);
    }
}

static bool is_closed(leaver *l)
{
    bool closed;

    vls_feed_hold(l->g->feed);
    closed = l->sub->closed;
    vls_feed_drop(l->g->feed);
    return closed;
}

/* The fifth call lasts until somebody has left. */
static int dawdle(void *arg, const valise_event *event, valise_error *err)
{
    leaver *l = arg;
    int rc = leave_at(arg, event, err);

    while (atomic_load(&l->calls) == 5 && !is_closed(l))
        process_sleep_us(100);
    return rc;
}

/* Another thread ends it in the middle of a batch: what is left of the batch is not delivered. */
TEST(feed_threads, another_thread_ends_it_in_the_middle_of_a_batch)
{
    for (int round = 0; round < 3; round++) {
        leaver *l = test_alloc(sizeof(*l));
        garden other;
        valise_follow how = {.size = sizeof(how), .fn = dawdle, .arg = l};
        l->g = garden_open(t, NULL);
        CHECK_OK(garden_try_open(&other, &(garden_options){.env = t->env, .store = l->g->store},
                                 &t->err));
        other.t = t;
        CHECK_OK(valise_subscribe(&l->sub, l->g->v, &how, &t->err));
        fill_log(&other);
        test_threads(2, leave_from_outside, l);
        CHECK(l->left && !l->called_late);
        CHECK_INT(5, l->calls);
        CHECK(l->g->feed->first == NULL);
        garden_put(l->g, "p", "k", 9999);
        CHECK_INT(5, l->calls);
        garden_close(&other);
    }
}

/* Those behind the one that was ended are served all the same, whoever ended it. */
TEST(feed_threads, the_others_are_served_when_one_ends)
{
    leaver l = {.g = garden_open(t, NULL)};
    strict before = {.next = {1, 0}}, behind = {.next = {1, 0}};
    valise_follow how = {.size = sizeof(how), .fn = expect_next, .arg = &before};
    valise_subscription *s[2] = {NULL, NULL};

    CHECK_OK(valise_subscribe(&s[0], l.g->v, &how, &t->err));
    join(&l, t, false, 3);
    how.arg = &behind;
    CHECK_OK(valise_subscribe(&s[1], l.g->v, &how, &t->err));
    fill_log(l.g);
    CHECK_INT(3, l.calls);
    CHECK_INT(2 * OLD_ENTRIES, before.count);
    CHECK_INT(2 * OLD_ENTRIES, behind.count);
    CHECK(before.wrong == 0 && behind.wrong == 0);
    valise_unsubscribe(s[0]);
    valise_unsubscribe(s[1]);
}

/* ---- processors ---- */

static int count_run(void *self, valise_job *job, const valise_event *event, const void *row,
                     valise_error *err)
{
    valise_call call;

    (void)event, (void)row;
    atomic_fetch_add((atomic_int *)self, 1);
    CHECK_INT(0, valise_job_call(&call, job, err));
    return valise_dispatch(NULL, valise_job_workspace(job), "plant:log", "{\"name\":\"x\"}", &call,
                           err);
}

TEST(feed_threads, processors_run_once_in_one_process)
{
    atomic_int runs = 0;
    const valise_processor p = {
        .size = sizeof(p), .name = "echo", .self = &runs, .coll = &plant_item, .run = count_run};
    const valise_processor *const list[] = {&p, NULL};
    crowd *c = test_alloc(sizeof(*c));

    c->g = garden_open(t, &(garden_options){.processors = list});
    c->writing = 8;
    test_threads(8, play, c);
    CHECK(valise_poll(c->g->v, 0, &t->err) >= 0);
    CHECK_INT(8 * COMMANDS, runs);
    CHECK_INT(2 * 8 * COMMANDS, garden_seq(c->g));
}

/* ---- live events of which none may be lost ---- */

#define CHUNKS 2000

typedef struct reader {
    garden *g;
    valise_subscription *sub;
    valise_event live;
    atomic_int calls;
    atomic_bool over; /* the publishers are through */
} reader;

static reader *reader_open(test *t, valise_event_fn *fn)
{
    reader *r = test_alloc(sizeof(*r));
    valise_follow how = {.size = sizeof(how), .fn = fn, .arg = r, .live = true, .lossless = true};

    r->g = garden_open(t, NULL);
    r->live = (valise_event){.size = sizeof(r->live), .type = VLS_STR("CHUNK")};
    CHECK_OK(valise_subscribe(&r->sub, r->g->v, &how, &t->err));
    return r;
}

static void publish_live(reader *r, int count)
{
    valise_error err = VALISE_ERROR_INIT;

    for (int i = 0; i < count; i++)
        CHECK_MSG(valise_publish(r->g->v, VLS_STR(""), &r->live, &err) == 0, "%s", err.message);
}

static int read_slowly(void *arg, const valise_event *event, valise_error *err)
{
    reader *r = arg;

    (void)event, (void)err;
    if (atomic_fetch_add(&r->calls, 1) % 100 == 0)
        process_sleep_us(1000);
    return 0;
}

static void publish_many(size_t index, void *arg)
{
    (void)index;
    publish_live(arg, CHUNKS);
}

/* Those who publish wait for a callback that does not keep up. [F12] */
TEST(feed_threads, lossless_live_events)
{
    reader *r = reader_open(t, read_slowly);
    uint64_t dropped = 1;

    test_threads(4, publish_many, r);
    valise_subscription_losses(&dropped, NULL, r->sub);
    CHECK_INT(4 * CHUNKS, r->calls);
    CHECK_INT(0, dropped);
    valise_unsubscribe(r->sub);
}

/* The first call lasts until the publishers are through. */
static int read_never(void *arg, const valise_event *event, valise_error *err)
{
    reader *r = arg;

    (void)event, (void)err;
    while (atomic_fetch_add(&r->calls, 1) == 0 || !atomic_load(&r->over))
        process_sleep_us(100);
    return 0;
}

static unsigned waiting_publishers(reader *r)
{
    unsigned count;

    vls_feed_hold(r->g->feed);
    count = r->g->feed->publishers;
    vls_feed_drop(r->g->feed);
    return count;
}

static void publish_or_leave(size_t index, void *arg)
{
    reader *r = arg;

    if (index == 0) {
        publish_live(r, 1); /* and is in the callback until the end */
    } else if (index == 1) {
        while (atomic_load(&r->calls) == 0)
            process_sleep_us(100);
        publish_live(r, (int)VLS_LIVE_QUEUE + 1);
        atomic_store(&r->over, true);
    } else {
        while (waiting_publishers(r) == 0)
            process_sleep_us(100);
        valise_unsubscribe(r->sub);
    }
}

/* Who waits for room goes on when the subscription ends, though its callback still runs. */
TEST(feed_threads, who_waits_for_room_goes_on_when_nobody_listens)
{
    reader *r = reader_open(t, read_never);

    test_threads(3, publish_or_leave, r);
    CHECK(r->over);
    CHECK_INT(0, waiting_publishers(r));
    CHECK(r->g->feed->first == NULL);
}

static int publish_from_inside(void *arg, const valise_event *event, valise_error *err)
{
    reader *r = arg;

    (void)event, (void)err;
    if (atomic_fetch_add(&r->calls, 1) == 0)
        publish_live(r, (int)VLS_LIVE_QUEUE + 10);
    return 0;
}

/* A callback that publishes cannot wait for itself: what has no room is lost, and counted. */
TEST(feed_threads, a_callback_does_not_wait_for_itself)
{
    reader *r = reader_open(t, publish_from_inside);
    uint64_t dropped = 0;

    publish_live(r, 1);
    valise_subscription_losses(&dropped, NULL, r->sub);
    CHECK_INT(1 + (int)VLS_LIVE_QUEUE, r->calls);
    CHECK_INT(10, dropped);
    valise_unsubscribe(r->sub);
}
