/* past_threads.c -- readers of the past while the log expires and garbage goes: an exact answer or
 * an error that names the oldest state, never a wrong one. [K35 K15 K21 K30 K26] */
#include "base/str.h"
#include "base/time.h"
#include "harness/process.h"
#include "kernel/kit.h"

TEST_PARAMS(past_beside, "memory", "sqlite")

#define ADDS 300
#define READERS 3
#define KEPT 25
#define MAX_SEEN 20000

/* ---- what was done, and what was seen of it ---- */

/* One answer about the past; compared with what was done when everybody is finished. */
typedef struct seen {
    bool by_time;
    int64_t at;     /* seq or time */
    int64_t value;  /* -1: refused, and then */
    int64_t oldest; /* what the hint named */
} seen;

typedef struct world {
    valise *v;
    int64_t seq[ADDS + 1], time[ADDS + 1]; /* of the n-th addition */
    _Atomic int64_t added;                 /* how many of them are filled in */
    atomic_bool finished;
    uint64_t seed;
    seen *seen[READERS];
    size_t seen_count[READERS];
} world;

static valise_str answer_of(valise_reply *reply)
{
    return valise_blob_bytes(reply->json);
}

static void add_all(world *w)
{
    valise_error err = VALISE_ERROR_INIT;

    for (int64_t i = 1; i <= ADDS; i++) {
        valise_reply reply = VALISE_REPLY_INIT;
        char payload[128];
        snprintf(payload, sizeof(payload), "{\"name\":\"a\",\"note\":\"note %lld\"}", (long long)i);
        int rc = valise_dispatch(&reply, w->v, "counter:add", payload, NULL, &err);
        CHECK_MSG(rc == 0, "%s", err.message);
        w->seq[i] = reply.seq;
        w->time[i] = reply.time;
        atomic_store(&w->added, i);
        valise_reply_release(&reply);
    }
    atomic_store(&w->finished, true);
}

static void collect(world *w)
{
    valise_error err = VALISE_ERROR_INIT;
    bool last = false;

    /* Once more at the end: who came late has to collect too. */
    for (int i = 0; i < 1000 && !last; i++) {
        last = atomic_load(&w->finished);
        int rc = valise_dispatch(NULL, w->v, "workspace:gc", "{\"grace\":\"0s\"}", NULL, &err);
        CHECK_MSG(rc == 0, "%s", err.message);
    }
}

static int64_t number_behind(const char *text, const char *word)
{
    const char *at = strstr(text, word);
    long long number = -1;

    CHECK_MSG(at, "no '%s' in %s", word, text);
    CHECK_INT(1, sscanf(at + strlen(word), "%lld", &number));
    return number;
}

/* Ask for one state; the note must be the one of that value. */
static seen ask(world *w, int64_t at, bool by_time, bool list)
{
    valise_error err = VALISE_ERROR_INIT;
    valise_reply reply = VALISE_REPLY_INIT;
    valise_call call = VALISE_CALL_INIT;
    seen s = {.by_time = by_time, .at = at, .value = -1, .oldest = -1};
    char text[64], answer[512], note[64];
    int rc;

    if (by_time)
        snprintf(text, sizeof(text), "%s", vls_time_text_of(at).s);
    else
        snprintf(text, sizeof(text), "%lld", (long long)at);
    call.at = valise_str_of(text);
    rc = valise_dispatch(&reply, w->v, list ? "counter:list" : "counter:get",
                         list ? "{}" : "{\"name\":\"a\"}", &call, &err);
    if (rc < 0) {
        CHECK_MSG(rc == VALISE_E_LIMIT, "at %s: %s", text, err.message);
        s.oldest = number_behind(err.hint, "of seq ");
        return s;
    }
    snprintf(answer, sizeof(answer), "%.*s", VALISE_STR_ARG(answer_of(&reply)));
    valise_reply_release(&reply);
    s.value = number_behind(answer, "\"value\":");
    snprintf(note, sizeof(note), "\"note\":\"note %lld\"", (long long)s.value);
    CHECK_MSG(list || strstr(answer, note), "at %s: %s", text, answer);
    return s;
}

static void look_back(world *w, size_t index)
{
    test_rng rng = test_rng_new(w->seed + index);

    /* Where threads come late there is still something to look at. */
    while ((!atomic_load(&w->finished) || w->seen_count[index] < 50) &&
           w->seen_count[index] < MAX_SEEN) {
        int64_t added = atomic_load(&w->added);
        uint64_t back = test_random_below(&rng, 2 * KEPT), how = test_random_below(&rng, 4);
        if (added <= (int64_t)back)
            continue;
        int64_t n = added - (int64_t)back;
        w->seen[index][w->seen_count[index]++] =
            ask(w, how == 0 ? w->time[n] : w->seq[n], how == 0, how == 1);
    }
}

static void play(size_t index, void *arg)
{
    world *w = arg;

    if (index == 0)
        add_all(w);
    else if (index == 1)
        collect(w);
    else
        look_back(w, index - 2);
}

/* How many additions there had been. */
static int64_t value_at(const world *w, const seen *s)
{
    int64_t n = 0;

    while (n < ADDS && (s->by_time ? w->time[n + 1] : w->seq[n + 1]) <= s->at)
        n++;
    return n;
}

static void check_seen(const world *w, const seen *s, int64_t base)
{
    int64_t value = value_at(w, s);

    if (s->value >= 0) {
        CHECK_INT(value, s->value);
        return;
    }
    CHECK(s->oldest > w->seq[value] && s->oldest <= base);
}

TEST(past_beside, of_retention_and_gc)
{
    world *w = test_alloc(sizeof(*w));
    size_t answers = 0, refusals = 0;
    int64_t base;

    w->v = ws_open(t);
    w->seed = test_seed();
    for (size_t i = 0; i < READERS; i++)
        w->seen[i] = test_alloc(MAX_SEEN * sizeof(seen));
    (void)ws_run(t, w->v, "retention:set",
                 test_format("{\"kind\":\"log\",\"keepLatest\":%d}", KEPT));
    test_threads(2 + READERS, play, w);
    base = number_behind(ws_run(t, w->v, "workspace:status", NULL), "\"oldest\":");
    for (size_t i = 0; i < READERS; i++) {
        for (size_t j = 0; j < w->seen_count[i]; j++) {
            check_seen(w, &w->seen[i][j], base);
            *(w->seen[i][j].value < 0 ? &refusals : &answers) += 1;
        }
    }
    test_note("%zu answers, %zu refusals", answers, refusals);
    CHECK(answers > 20);
    ws_is_partial(t, w->v);
}

/* Before the time of the oldest state that is known nothing is known, and that is what is said. */
TEST(past_beside, a_time_before_the_oldest_state_is_refused)
{
    world *w = test_alloc(sizeof(*w));
    int64_t base;

    w->v = ws_open(t);
    add_all(w);
    (void)ws_run(t, w->v, "retention:set", "{\"kind\":\"log\",\"keepLatest\":10}");
    (void)ws_run(t, w->v, "workspace:gc", NULL);
    base = number_behind(ws_run(t, w->v, "workspace:status", NULL), "\"oldest\":");
    for (int64_t n = 1; n <= ADDS; n++) {
        seen s = ask(w, w->time[n], true, false);
        CHECK_INT(w->seq[n] >= base || w->time[n + 1 > ADDS ? n : n + 1] == w->time[n]
                      ? value_at(w, &s)
                      : -1,
                  s.value);
        if (s.value < 0)
            CHECK_INT(base, s.oldest);
    }
    CHECK_INT(-1, ask(w, 1000, true, false).value);
}

/* ---- pins ---- */

#define PINS 200

static void pin_and_look(world *w)
{
    valise_error err = VALISE_ERROR_INIT;

    for (int i = 0; i < PINS; i++) {
        valise_reply reply = VALISE_REPLY_INIT;
        int64_t pinned;
        seen first, again;
        CHECK_INT(0, valise_dispatch(&reply, w->v, "pin:add", "{\"name\":\"p\"}", NULL, &err));
        pinned = reply.seq - 1; /* the state it saw */
        valise_reply_release(&reply);
        first = ask(w, pinned, false, false);
        CHECK_MSG(first.value >= 0, "the state of seq %lld is pinned, and gone", (long long)pinned);
        again = ask(w, pinned, false, false);
        CHECK_INT(first.value, again.value);
        CHECK_INT(0, valise_dispatch(NULL, w->v, "pin:remove", "{\"name\":\"p\"}", NULL, &err));
    }
    atomic_store(&w->finished, true);
}

static void pin_beside(size_t index, void *arg)
{
    world *w = arg;
    valise_error err = VALISE_ERROR_INIT;

    if (index == 0)
        pin_and_look(w);
    else if (index == 1)
        collect(w);
    for (int i = 0; i < 20 * PINS && !atomic_load(&w->finished); i++)
        CHECK_INT(0, valise_dispatch(NULL, w->v, "counter:add", "{\"name\":\"b\"}", NULL, &err));
}

/* A pin that came while retention was at work counts. */
TEST(past_beside, a_pin_holds_from_its_first_moment)
{
    world *w = test_alloc(sizeof(*w));

    w->v = ws_open(t);
    (void)ws_run(t, w->v, "counter:add", "{\"name\":\"a\",\"note\":\"note 1\"}");
    (void)ws_run(t, w->v, "retention:set", "{\"kind\":\"log\",\"keepLatest\":1}");
    test_threads(5, pin_beside, w);
    ws_is_partial(t, w->v);
}

/* ---- those who follow ---- */

typedef struct follower {
    int64_t next; /* seq */
    int64_t skipped;
    uint64_t events;
} follower;

/* From a cursor in the past, with a queue: what is missing is what was counted as dropped. */
static void follow_on(world *w)
{
    valise_error err = VALISE_ERROR_INIT;
    bool last;

    do {
        int64_t added = atomic_load(&w->added);
        valise_cursor since = {added > KEPT ? w->seq[added - KEPT / 2] : 1, 0};
        valise_follow how = {.size = sizeof(how), .queue_max = 1u << 12, .since = &since};
        valise_subscription *sub = NULL;
        const valise_event *event;
        follower f = {.next = since.seq};
        uint64_t dropped = 0;
        int rc = valise_subscribe(&sub, w->v, &how, &err);
        last = atomic_load(&w->finished);
        if (rc < 0) {
            CHECK_MSG(rc == VALISE_E_LIMIT, "%s", err.message);
            CHECK(number_behind(err.hint, "oldest seq is ") > since.seq);
            continue;
        }
        for (int i = 0; i < 40 && valise_subscription_next(&event, sub, 1000000, &err) == 1; i++) {
            CHECK(event->seq >= f.next - 1);
            f.skipped += event->seq > f.next ? event->seq - f.next : 0;
            f.next = event->seq + 1;
            f.events++;
            if (i % 10 == 0)
                process_sleep_us(2000);
        }
        valise_subscription_losses(&dropped, NULL, sub);
        CHECK(f.skipped <= (int64_t)dropped);
        valise_unsubscribe(sub);
    } while (!last);
}

static void follow_beside(size_t index, void *arg)
{
    world *w = arg;

    if (index == 0)
        add_all(w);
    else if (index == 1)
        collect(w);
    else
        follow_on(w);
}

TEST(past_beside, those_who_follow_are_told_what_they_missed)
{
    world *w = test_alloc(sizeof(*w));

    w->v = ws_open(t);
    (void)ws_run(t, w->v, "retention:set",
                 test_format("{\"kind\":\"log\",\"keepLatest\":%d}", KEPT));
    test_threads(4, follow_beside, w);
    ws_is_partial(t, w->v);
}
