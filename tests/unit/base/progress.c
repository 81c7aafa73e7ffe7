/* progress.c -- reports, their rate, and cancelling. [K28] */
#include "harness/test.h"

#include "base/progress.h"
#include "fake_env.h"

#define MS INT64_C(1000000)

typedef struct listener {
    int calls;
    int cancel_at; /* the call that asks to stop; 0: none */
    valise_progress_state last;
} listener;

static int listen(void *arg, const valise_progress_state *state)
{
    listener *l = arg;

    CHECK(l->calls == 0 || l->last.stage != state->stage || l->last.done <= state->done);
    l->last = *state;
    return ++l->calls == l->cancel_at;
}

static void start(vls_progress *p, fake_env *fake, listener *l, test *t)
{
    valise_progress callback = {listen, l};

    vls_progress_init(p, fake_env_init(fake, t->env), &callback);
    fake->ticks_ns = -5 * MS; /* ticks count from anywhere */
}

TEST(progress, calls_ten_times_a_second)
{
    fake_env fake;
    listener l = {0};
    vls_progress p;

    start(&p, &fake, &l, t);
    vls_progress_begin(&p, "scan", "files", 10000);
    for (int i = 0; i < 10000; i++) { /* 10 seconds, a millisecond each */
        fake.ticks_ns += MS;
        CHECK_OK(vls_progress_step(&p, 1, &t->err));
    }
    CHECK_MSG(l.calls >= 90 && l.calls <= 100, "%d calls", l.calls);
    CHECK_OK(vls_progress_end(&p, &t->err));
    CHECK_TEXT("scan", l.last.stage);
    CHECK_TEXT("files", l.last.unit);
    CHECK_INT(10000, l.last.done);
    CHECK_INT(10000, l.last.total);
    CHECK_INT(10000 * MS, l.last.elapsed_ns);
}

TEST(progress, slow_steps_are_each_reported)
{
    fake_env fake;
    listener l = {0};
    vls_progress p;

    start(&p, &fake, &l, t);
    vls_progress_begin(&p, "sync", "bytes", 0);
    for (int i = 1; i <= 20; i++) {
        fake.ticks_ns += 150 * MS;
        CHECK_OK(vls_progress_step(&p, 1000, &t->err));
        CHECK_INT(i, l.calls);
        CHECK_INT(i * 1000, l.last.done);
    }
}

TEST(progress, fast_steps_seldom_read_the_clock)
{
    fake_env fake;
    listener l = {0};
    vls_progress p;

    start(&p, &fake, &l, t);
    vls_progress_begin(&p, "scan", "files", 0);
    for (int i = 0; i < 64000; i++) {
        fake.ticks_ns += 100;
        CHECK_OK(vls_progress_step(&p, 1, &t->err));
    }
    CHECK_INT(0, l.calls); /* 6.4 ms */
    CHECK_MSG(fake.ticks_reads < 1100, "%d reads", fake.ticks_reads);
    CHECK_OK(vls_progress_end(&p, &t->err));
    CHECK_INT(1, l.calls);
    CHECK_INT(64000, l.last.done);
}

/* From fast to slow: no more than one stride of slow steps passes unseen. */
TEST(progress, notices_when_steps_become_slow)
{
    fake_env fake;
    listener l = {0};
    vls_progress p;
    unsigned slow = 0;

    start(&p, &fake, &l, t);
    vls_progress_begin(&p, "scan", "files", 0);
    for (int i = 0; i < 10007; i++) {
        fake.ticks_ns += 10;
        CHECK_OK(vls_progress_step(&p, 1, &t->err));
    }
    while (l.calls == 0) {
        fake.ticks_ns += 1000 * MS;
        CHECK_OK(vls_progress_step(&p, 1, &t->err));
        slow++;
    }
    CHECK_MSG(slow <= VLS_PROGRESS_MAX_STRIDE, "%u slow steps", slow);
    fake.ticks_ns += 1000 * MS; /* and from then on every one is seen */
    CHECK_OK(vls_progress_step(&p, 1, &t->err));
    CHECK_INT(2, l.calls);
}

TEST(progress, cancelling_fails_this_and_every_later_step)
{
    fake_env fake;
    listener l = {.cancel_at = 2};
    vls_progress p;
    int rc = 0, steps = 0;

    start(&p, &fake, &l, t);
    vls_progress_begin(&p, "verify objects", "objects", 5000);
    while (rc == 0 && steps < 5000) {
        fake.ticks_ns += MS;
        rc = vls_progress_step(&p, 1, &t->err);
        steps++;
    }
    CHECK_INT(VALISE_E_CANCELLED, rc);
    CHECK_TEXT(test_format("verify objects was cancelled after %d of 5000 objects", steps),
               t->err.message);
    CHECK(steps >= 200 && steps < 400);
    for (int i = 0; i < 300; i++)
        CHECK_RC(VALISE_E_CANCELLED, vls_progress_step(&p, 1, &t->err));
    CHECK_RC(VALISE_E_CANCELLED, vls_progress_end(&p, &t->err));
    vls_progress_begin(&p, "next", "rows", 0);
    CHECK_RC(VALISE_E_CANCELLED, vls_progress_step(&p, 7, &t->err));
    CHECK_TEXT("next was cancelled after 7 rows", t->err.message);
    CHECK_RC(VALISE_E_CANCELLED, vls_progress_end(&p, NULL));
    CHECK_INT(2, l.calls);
}

/* However many steps were left until the next look at the clock. */
TEST(progress, cancelling_holds_for_fast_steps_too)
{
    for (int64_t step_ns = 1000; step_ns < 100 * MS; step_ns *= 3) {
        fake_env fake;
        listener l = {.cancel_at = 1};
        vls_progress p;
        int rc = 0;
        start(&p, &fake, &l, t);
        vls_progress_begin(&p, "scan", "files", 0);
        while (rc == 0) {
            fake.ticks_ns += step_ns;
            rc = vls_progress_step(&p, 1, &t->err);
        }
        for (int i = 0; i < 100; i++)
            CHECK_RC(VALISE_E_CANCELLED, vls_progress_step(&p, 1, &t->err));
    }
}

TEST(progress, the_last_call_of_a_stage_may_cancel_too)
{
    fake_env fake;
    listener l = {.cancel_at = 1};
    vls_progress p;

    start(&p, &fake, &l, t);
    vls_progress_begin(&p, "gc", "chunks", 0);
    CHECK_OK(vls_progress_step(&p, 3, &t->err));
    CHECK_RC(VALISE_E_CANCELLED, vls_progress_end(&p, &t->err));
    CHECK_TEXT("gc was cancelled after 3 chunks", t->err.message);
}

TEST(progress, each_stage_starts_anew)
{
    fake_env fake;
    listener l = {0};
    vls_progress p;

    start(&p, &fake, &l, t);
    vls_progress_begin(&p, "one", "files", 3);
    CHECK_OK(vls_progress_step(&p, 3, &t->err));
    fake.ticks_ns += 70 * MS;
    CHECK_OK(vls_progress_end(&p, &t->err));
    CHECK_INT(70 * MS, l.last.elapsed_ns);
    vls_progress_begin(&p, "two", "bytes", 0);
    fake.ticks_ns += 50 * MS;
    CHECK_OK(vls_progress_step(&p, 1, &t->err));
    CHECK_INT(1, l.calls); /* 100 ms are counted from the beginning of the stage */
    CHECK_OK(vls_progress_end(&p, &t->err));
    CHECK_TEXT("two", l.last.stage);
    CHECK_INT(1, l.last.done);
    CHECK_INT(0, l.last.total);
    CHECK_INT(50 * MS, l.last.elapsed_ns);
    CHECK_INT(2, l.calls);
}

TEST(progress, a_total_that_was_too_small_grows)
{
    fake_env fake;
    listener l = {0};
    vls_progress p;

    start(&p, &fake, &l, t);
    vls_progress_begin(&p, "scan", "files", 10);
    CHECK_OK(vls_progress_step(&p, 12, &t->err));
    CHECK_OK(vls_progress_end(&p, &t->err));
    CHECK_INT(12, l.last.done);
    CHECK_INT(12, l.last.total);
}

TEST(progress, without_a_callback_it_only_counts)
{
    static const valise_progress no_function = {NULL, NULL};
    fake_env fake;
    vls_progress p;

    for (int way = 0; way < 2; way++) {
        vls_progress_init(&p, fake_env_init(&fake, t->env), way ? &no_function : NULL);
        vls_progress_begin(&p, "scan", "files", 0);
        for (int i = 0; i < 1000; i++)
            CHECK_OK(vls_progress_step(&p, 2, &t->err));
        p.left = 1; /* as after four billion steps */
        CHECK_OK(vls_progress_step(&p, 2, &t->err));
        CHECK_OK(vls_progress_end(&p, &t->err));
        CHECK_INT(2002, p.state.done);
        CHECK_INT(0, fake.ticks_reads);
    }
}
