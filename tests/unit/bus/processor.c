/* processor.c -- processors: after the commit, at least once, their effects once. [K14] */
#include "kit/feed.h"

#include "harness/kill.h"
#include "store/own.h"

TEST_PARAMS(processor, "memory", "sqlite")

typedef struct echo {
    int runs, fails; /* how often it ran; how often it is still to fail */
    int code;        /* with what */
    bool after;      /* fail after its command, not before */
    char seen[1024];
    valise_uuid cause, event;
} echo;

/* plant:log for each plant. */
static int run_echo(void *self, valise_job *job, const valise_event *event, const void *row,
                    valise_error *err)
{
    const plant_row *plant = row;
    echo *e = self;
    valise_call call;
    void *memory;
    char payload[128];
    int rc;

    e->runs++;
    e->event = event->id;
    CHECK_STR(VLS_STR("echo"), valise_job_actor(job));
    CHECK_INT(0, valise_job_alloc(&memory, job, 64, err));
    snprintf(e->seen + strlen(e->seen), sizeof(e->seen) - strlen(e->seen), "%lld.%u %.*s %.*s\n",
             (long long)event->seq, event->index, VALISE_STR_ARG(event->type),
             VALISE_STR_ARG(plant->name));
    if (e->fails > 0 && !e->after) {
        e->fails--;
        return vls_fail(err, e->code, "not now");
    }
    CHECK_INT(0, valise_job_call(&call, job, err));
    e->cause = call.cause;
    snprintf(payload, sizeof(payload), "{\"name\":\"%.*s\"}", VALISE_STR_ARG(plant->name));
    rc = valise_dispatch(NULL, valise_job_workspace(job), "plant:log", payload, &call, err);
    if (rc == 0) { /* and a plant of its own, which must not make it run again */
        CHECK_INT(0, valise_job_call(&call, job, err));
        snprintf(payload, sizeof(payload), "{\"name\":\"echo of %.*s\"}",
                 VALISE_STR_ARG(plant->name));
        rc = valise_dispatch(NULL, valise_job_workspace(job), "plant:put", payload, &call, err);
    }
    if (rc == 0 && e->fails > 0) {
        e->fails--;
        return vls_fail(err, e->code, "not now");
    }
    return rc;
}

static bool no_weeds(void *self, const void *row)
{
    (void)self;
    return !vls_str_equal(((const plant_row *)row)->kind, VLS_STR("weed"));
}

#define ECHO(name_, self_)                                                                         \
    {                                                                                              \
        .size = sizeof(valise_processor), .name = (name_), .self = (self_), .coll = &plant_item,   \
        .wants = no_weeds, .run = run_echo                                                         \
    }

/* Rows that echoes of a plant left. */
static int count_echoes(void *arg, valise_view *view, valise_error *err)
{
    valise_scan *scan = NULL;
    echo_row row;
    int rc = valise_view_scan(&scan, view, &plant_echo, NULL, err);

    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        ++*(int *)arg;
        rc = 0;
    }
    valise_scan_close(scan);
    return rc;
}

static int echoes(garden *g)
{
    test *t = g->t;
    int count = 0;

    CHECK_OK(vls_with_view(g->v, NULL, count_echoes, &count, &t->err));
    return count;
}

static valise_cursor stored_place(garden *g, const char *name)
{
    test *t = g->t;
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_cursor_row row = {.name = valise_str_of(name)};
    vls_txn txn = {0};
    int rc;

    vls_arena_init(&arena, t->env, 1u << 16);
    CHECK_OK(vls_txn_begin(&txn, g->store, VALISE_TXN_READ, &t->err));
    rc = vls_own_get(&row, &txn, VLS_TABLE_CURSOR, &arena, &t->err);
    vls_txn_rollback(&txn);
    CHECK_MSG(rc == 1, "no cursor of %s", name);
    return (valise_cursor){row.seq, (uint32_t)row.item};
}

/* ---- running ---- */

/* [K14] after a command is committed, in commands of their own with the processor as actor and the
 * turn as cause; a turn written by a processor does not trigger the same processor */
TEST(processor, runs_after_the_commit)
{
    echo e = {0};
    valise_processor p = ECHO("echo", &e);
    const valise_processor *const list[] = {&p, NULL};
    garden *g = garden_open(t, &(garden_options){.processors = list});
    valise_call call = VALISE_CALL_INIT;

    call.id.bytes[0] = 5;
    CHECK_OK(valise_dispatch(NULL, g->v, "plant:put", "{\"name\":\"rose\"}", &call, &t->err));
    CHECK_TEXT("1.1 PLANT_NEW rose\n", e.seen);
    CHECK_INT(1, echoes(g));
    CHECK(vls_uuid_equal(&call.id, &e.cause));
    CHECK(strstr(garden_ask(g, "event:list", "{\"types\":[\"plant:log\"]}"),
                 "\"cause\":\"05000000-0000-0000-0000-000000000000\""));
    CHECK(
        strstr(garden_ask(g, "event:list", "{\"types\":[\"plant:log\"]}"), "\"source\":\"echo\""));
    CHECK_INT(3, garden_seq(g));
    CHECK_INT(4, g->feed->processors[0].place.seq);
    garden_run(g, "plant:many", "{\"names\":[\"a\",\"b\"]}");
    garden_put(g, "nettle", "weed", 1); /* wants none of it */
    garden_put(g, "hush", "quiet", 1);  /* that tells nothing: the command's event */
    garden_run(g, "plant:drop", "{\"name\":\"rose\"}");
    CHECK_TEXT("1.1 PLANT_NEW rose\n4.1 PLANT_NEW a\n4.2 PLANT_NEW b\n10.1 plant:put hush\n",
               e.seen);
    CHECK_INT(4, echoes(g));
}

/* It begins where it was added, and its place is kept. */
TEST(processor, has_a_stored_cursor)
{
    echo e = {0};
    valise_processor p = ECHO("echo", &e);
    const valise_processor *const list[] = {&p, NULL};
    garden_options o = {.env = t->env, .backend = "sqlite", .dir = test_tmpdir()};
    garden g;

    CHECK_OK(garden_try_open(&g, &o, &t->err));
    g.t = t;
    garden_put(&g, "old", "k", 1);
    garden_close(&g);
    o.processors = list;
    CHECK_OK(garden_try_open(&g, &o, &t->err));
    g.t = t;
    CHECK_INT(2, stored_place(&g, "processor:echo").seq);
    CHECK_INT(0, e.runs);
    garden_put(&g, "new", "k", 1);
    CHECK_INT(1, e.runs);
    CHECK_INT(5, stored_place(&g, "processor:echo").seq);
    garden_close(&g);
    /* While it was away. */
    o.processors = NULL;
    CHECK_OK(garden_try_open(&g, &o, &t->err));
    g.t = t;
    garden_put(&g, "away", "k", 1);
    garden_close(&g);
    o.processors = list;
    CHECK_OK(garden_try_open(&g, &o, &t->err));
    g.t = t;
    CHECK_TEXT("2.1 PLANT_NEW new\n5.1 PLANT_NEW away\n", e.seen);
    CHECK_INT(2, echoes(&g));
    garden_close(&g);
}

/* [K14] at least once; the effects of what runs twice are there once. */
TEST(processor, a_repeat_is_recognised)
{
    echo e = {.fails = 1, .code = VALISE_E_IO, .after = true};
    valise_processor p = ECHO("echo", &e);
    const valise_processor *const list[] = {&p, NULL};
    garden *g = garden_open(t, &(garden_options){.processors = list});

    garden_put(g, "rose", "k", 1);
    CHECK_INT(1, e.runs);
    CHECK_INT(1, echoes(g));
    CHECK_INT(1, g->feed->processors[0].failed);
    g->feed->processors[0].not_before_ns = 0;
    CHECK(valise_poll(g->v, 0, &t->err) >= 0);
    CHECK_INT(2, e.runs);
    CHECK_INT(1, echoes(g));
    CHECK_INT(3, garden_seq(g));
    CHECK_INT(0, g->feed->processors[0].attempts);
}

/* ---- failing ---- */

static int run_counting(void *self, valise_job *job, const valise_event *event, const void *row,
                        valise_error *err)
{
    echo *e = self;

    (void)job, (void)event, (void)row;
    e->runs++;
    if (e->fails == 0)
        return 0;
    e->fails--;
    return vls_fail(err, e->code, "not now: %s", "busy");
}

/* A failure is tried again at the next commit after a pause, and never blocks others. */
TEST(processor, failures_are_told_and_retried)
{
    echo bad = {.fails = 2, .code = VALISE_E_BUSY}, good = {0};
    valise_processor p = ECHO("bad", &bad), q = ECHO("good", &good);
    const valise_processor *const list[] = {&p, &q, NULL};
    garden_notes notes = {0};
    const char *types[] = {"processor:failed", NULL};
    valise_follow how = {.size = sizeof(how),
                         .filter = {.types = types},
                         .fn = garden_note,
                         .arg = &notes,
                         .live = true};
    valise_subscription *s;
    garden *g;

    p.run = q.run = run_counting;
    g = garden_open(t, &(garden_options){.processors = list});
    CHECK_OK(valise_subscribe(&s, g->v, &how, &t->err));
    garden_put(g, "a", "k", 1);
    CHECK_TEXT("0.0 processor:failed\n", notes.text);
    garden_put(g, "b", "k", 1); /* the pause is not over */
    CHECK_INT(1, bad.runs);
    CHECK_INT(2, good.runs);
    CHECK_INT(1, g->feed->processors[0].place.seq);
    g->feed->processors[0].not_before_ns = 0;
    CHECK(valise_poll(g->v, 0, &t->err) >= 0); /* fails again, and waits longer */
    CHECK_INT(2, bad.runs);
    CHECK_INT(2, g->feed->processors[0].attempts);
    g->feed->processors[0].not_before_ns = 0;
    garden_put(g, "c", "k", 1);
    CHECK_INT(5, bad.runs); /* a, b, c */
    CHECK_INT(3, good.runs);
    CHECK_INT(2, g->feed->processors[0].failed);
    CHECK_INT(0, g->feed->processors[1].failed);
    valise_unsubscribe(s);
}

/* What it wanted was done before, with another payload: it is not tried for ever. */
TEST(processor, exists_counts_as_done)
{
    echo e = {.fails = 1, .code = VALISE_E_EXISTS};
    valise_processor p = ECHO("echo", &e);
    const valise_processor *const list[] = {&p, NULL};
    garden *g;

    p.run = run_counting;
    g = garden_open(t, &(garden_options){.processors = list});
    garden_put(g, "a", "k", 1);
    CHECK_INT(2, g->feed->processors[0].place.seq);
    CHECK_INT(0, g->feed->processors[0].failed);
}

/* ---- others ---- */

/* Two handles with the same processor: each row at least once, each effect once. */
TEST(processor, of_two_handles)
{
    echo x = {0}, y = {0};
    valise_processor p = ECHO("echo", &x), q = ECHO("echo", &y);
    const valise_processor *const first[] = {&p, NULL}, *const second[] = {&q, NULL};
    garden *a = garden_open(t, &(garden_options){.backend = "sqlite", .processors = first});
    garden *b = garden_open(t, &(garden_options){.backend = "sqlite", .processors = second});

    for (int i = 0; i < 10; i++) {
        garden_put(a, test_format("a%d", i), "k", 1);
        if (i % 3 == 0)
            CHECK(valise_poll(b->v, 0, &t->err) >= 0);
        garden_put(b, test_format("b%d", i), "k", 1);
    }
    CHECK(valise_poll(a->v, 0, &t->err) >= 0);
    CHECK_INT(20, echoes(a));
    CHECK(x.runs + y.runs >= 20);
    CHECK_INT(60, garden_seq(a));
}

/* Many entries without anything to do: the place is stored now and then. */
TEST(processor, skips_what_it_does_not_want)
{
    echo e = {0};
    valise_processor p = ECHO("echo", &e);
    const valise_processor *const list[] = {&p, NULL};
    garden *g = garden_open(t, &(garden_options){.processors = list});

    for (int i = 0; i < 1010; i++)
        garden_put(g, "nettle", "weed", i);
    CHECK_INT(0, e.runs);
    CHECK_INT(1001, stored_place(g, "processor:echo").seq);
    CHECK_INT(1011, g->feed->processors[0].place.seq);
}

/* More rows in one entry than are made at once. */
TEST(processor, takes_large_entries_in_pieces)
{
    echo e = {0};
    valise_processor p = ECHO("echo", &e);
    const valise_processor *const list[] = {&p, NULL};
    VLS_AUTO(buf) vls_buf text = {0};
    garden *g;

    p.run = run_counting;
    g = garden_open(t, &(garden_options){.processors = list});
    vls_buf_init(&text, t->env, 1u << 20);
    vls_buf_add_text(&text, "{\"names\":[\"p\"");
    for (int i = 0; i < 1500; i++)
        vls_buf_printf(&text, ",\"p%d\"", i);
    vls_buf_add_text(&text, "]}");
    CHECK_OK(valise_dispatch(NULL, g->v, "plant:many", vls_buf_cstr(&text), NULL, &t->err));
    CHECK_INT(1501, e.runs);
    CHECK_INT(2, stored_place(g, "processor:echo").seq);
}

TEST(processor, does_nothing_in_a_read_only_workspace)
{
    echo e = {0};
    valise_processor p = ECHO("echo", &e);
    const valise_processor *const list[] = {&p, NULL};
    garden_options o = {.env = t->env, .backend = "sqlite", .dir = test_tmpdir()};
    garden g;

    o.processors = list;
    CHECK_OK(garden_try_open(&g, &o, &t->err));
    g.t = t;
    o.processors = NULL;
    garden_close(&g);
    CHECK_OK(garden_try_open(&g, &o, &t->err));
    g.t = t;
    garden_put(&g, "a", "k", 1);
    garden_close(&g);
    o.processors = list;
    o.read_only = true;
    CHECK_OK(garden_try_open(&g, &o, &t->err));
    g.t = t;
    CHECK_INT(0, e.runs);
    garden_close(&g);
}

/* Outside a processor the call is the job's, without id. */
TEST(processor, a_call_of_a_plain_job)
{
    valise_call call = VALISE_CALL_INIT;

    CHECK_RC(VALISE_E_INVALID, valise_job_call(&call, NULL, &t->err));
}

/* ---- kill -9 ---- */

static void grow(kill_run *run, void *arg)
{
    echo e = {0};
    valise_processor p = ECHO("echo", &e);
    const valise_processor *const list[] = {&p, NULL};
    garden_options o = {
        .env = valise_env_default(), .backend = "sqlite", .dir = run->dir, .processors = list};
    valise_error err = VALISE_ERROR_INIT;
    garden g;

    (void)arg;
    CHECK(garden_try_open(&g, &o, &err) == 0);
    for (int i = 0; i < 50; i++) {
        char payload[64];
        snprintf(payload, sizeof(payload), "{\"name\":\"p%d\"}", i);
        CHECK(valise_dispatch(NULL, g.v, "plant:put", payload, NULL, &err) == 0);
        kill_ack(run, "%d", i);
    }
    garden_close(&g);
}

/* Each plant was echoed once, whatever was cut where. */
static void each_once(test *t, const kill_run *run, void *arg)
{
    echo e = {0};
    valise_processor p = ECHO("echo", &e);
    const valise_processor *const list[] = {&p, NULL};
    garden_options o = {.env = t->env, .backend = "sqlite", .dir = run->dir, .processors = list};
    const char *plants;
    garden g;
    int count = 0, own = 0;

    (void)arg;
    CHECK_OK(garden_try_open(&g, &o, &t->err));
    g.t = t;
    plants = garden_ask(&g, "index:query", "{\"name\":\"kinds\"}");
    for (const char *at = plants; (at = strstr(at, "\"key\":\"")); at++) {
        own += strncmp(at + 7, "/echo of", 8) == 0;
        count++;
    }
    CHECK(count - own >= (int)run->acked);
    CHECK_INT(count - own, own);
    CHECK_INT(own, echoes(&g));
    CHECK_INT(3 * own, garden_seq(&g));
    garden_close(&g);
}

TEST(processor, survives_kill)
{
    kill_loop(t, 15, grow, each_once, NULL);
}
