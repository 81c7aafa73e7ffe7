/* kill.c -- running a child, killing it, looking at what it left.
 *
 * Acknowledgements go through shared memory, which outlives the child: an acknowledgement counts
 * from the store to `acked` on, so none can be lost or be seen half. For kills at random the
 * child starts a timer whose signal is SIGKILL: more exact than anything its parent could do,
 * and still anywhere in its work. */
#include "harness/kill.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <time.h>

#include "harness/internal.h"
#include "harness/power.h"
#include "harness/process.h"

#define SHARED_BYTES (16u << 20)
#define MAX_POINTS 100000

typedef struct kill_shared {
    atomic_size_t acked;
    int64_t work_ns;   /* how long the child's work took */
    bool random;       /* kill at random: */
    size_t kill_after; /* so many acknowledgements */
    int64_t then_ns;   /* and so much time more */
    size_t used;       /* of bytes; only the child writes it */
    char what[256];    /* the file call at which it was killed */
    char bytes[];      /* NUL-ended records */
} kill_shared;

/* The rounds of one test. */
typedef struct session {
    test *t;
    kill_child *child;
    kill_verify *verify;
    void *arg;
    fault_io_plan plan; /* for rounds that end at a file call; nth 0: none */
    kill_run run;
} session;

static pthread_mutex_t ack_lock = PTHREAD_MUTEX_INITIALIZER; /* of the child's threads */

static void start_timer(const kill_shared *s)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    struct itimerspec when = {.it_value = {s->then_ns / 1000000000, s->then_ns % 1000000000}};
    timer_t timer;

    NEED(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 &&
             timer_settime(timer, 0, &when, NULL) == 0,
         "no timer: %s", strerror(errno));
}

void kill_ack(kill_run *run, const char *format, ...)
{
    kill_shared *s = run->shared;
    va_list args;

    pthread_mutex_lock(&ack_lock);
    size_t room = SHARED_BYTES - sizeof(*s) - s->used;
    va_start(args, format);
    int len = vsnprintf(s->bytes + s->used, room, format, args);
    va_end(args);
    bool fits = len >= 0 && (size_t)len < room;
    if (fits) {
        s->used += (size_t)len + 1;
        if (atomic_fetch_add(&s->acked, 1) + 1 == s->kill_after && s->random)
            start_timer(s);
    }
    pthread_mutex_unlock(&ack_lock);
    NEED(fits, "acknowledgements take more than %u bytes", SHARED_BYTES);
}

static int in_child(size_t index, void *arg)
{
    session *s = arg;

    (void)index;
    if (s->plan.nth > 0)
        fault_io_begin(&s->plan);
    int64_t start_ns = valise_env_default()->ticks_ns(NULL);
    if (s->run.shared->random && s->run.shared->kill_after == 0)
        start_timer(s->run.shared);
    s->child(&s->run, s->arg);
    s->run.shared->work_ns = valise_env_default()->ticks_ns(NULL) - start_ns;
    fault_io_end();
    return 0;
}

static void begin_round(session *s, process *p)
{
    s->run.dir = test_format("%s/round-%d", test_tmpdir(), s->run.round);
    NEED(mkdir(s->run.dir, 0700) == 0, "mkdir %s: %s", s->run.dir, strerror(errno));
    s->run.shared->used = 0;
    s->run.shared->what[0] = '\0';
    atomic_store(&s->run.shared->acked, 0);
    s->plan.dir = s->run.dir;
    s->plan.what = s->run.shared->what;
    process_start(p, in_child, 0, s);
}

/* When the child has been killed, or should soon be at its end: see how it ended. */
static void settle_round(session *s, process *p)
{
    kill_shared *shared = s->run.shared;
    process_result r;
    const char *at = shared->bytes;

    process_wait(&r, p, 0);
    CHECK_MSG(!r.timed_out && (r.exit_code == 0 || r.signal == SIGKILL), "round %d, the child: %s",
              s->run.round, process_describe(&r));
    s->run.finished = r.exit_code == 0;
    s->run.acked = atomic_load(&shared->acked);
    const char **acks = test_alloc((s->run.acked + 1) * sizeof(char *));
    for (size_t i = 0; i < s->run.acked; i++, at += strlen(at) + 1)
        acks[i] = at;
    s->run.acks = acks;
}

static void verify_round(session *s, const char *how)
{
    test_context("in round %d: %s%s%s, %zu acknowledged", s->run.round,
                 s->run.finished ? "at the end" : how, s->run.shared->what[0] ? " " : "",
                 s->run.shared->what, s->run.acked);
    s->verify(s->t, &s->run, s->arg);
    test_context_end();
    test_remove(s->run.dir);
    test_remove(test_format("%s.safe", s->run.dir));
    s->run.round++;
}

static session begin(test *t, kill_child *child, kill_verify *verify, void *arg)
{
    session s = {.t = t, .child = child, .verify = verify, .arg = arg};

    s.run.shared = process_share(SHARED_BYTES);
    return s;
}

/* ---- at random ---- */

void kill_loop(test *t, int rounds, kill_child *child, kill_verify *verify, void *arg)
{
    session s = begin(t, child, verify, arg);
    kill_shared *shared = s.run.shared;
    test_rng rng = test_rng_new(test_seed());
    uint64_t usual = (uint64_t)rounds * (test_is_long() ? 20 : 1);
    size_t inside = 0, last = (size_t)test_setting("VALISE_KILL_ROUNDS", usual);
    process p;

    begin_round(&s, &p);
    settle_round(&s, &p);
    NEED(s.run.finished, "somebody else killed the child in the round that measures");
    size_t acks = s.run.acked;
    uint64_t work_ns = (uint64_t)shared->work_ns;
    verify_round(&s, "");

    shared->random = true;
    for (size_t i = 0; i < last; i++) {
        shared->kill_after = acks ? (size_t)test_random_below(&rng, acks) : 0;
        shared->then_ns = (int64_t)test_random_below(&rng, 2 * work_ns / (acks + 1) + 1) + 1;
        begin_round(&s, &p);
        settle_round(&s, &p);
        inside += !s.run.finished;
        if (s.run.finished) /* it was quicker than measured */
            work_ns = VLS_MIN(work_ns, (uint64_t)shared->work_ns);
        verify_round(&s, test_format("killed %jd ns after acknowledgement %zu",
                                     (intmax_t)shared->then_ns, shared->kill_after));
    }
    test_note("killed in %zu of %zu rounds, each of up to %zu acknowledgements and %ju us", inside,
              last, acks, (uintmax_t)work_ns / 1000);
    CHECK_MSG(inside > 0 || last == 0, "no kill fell into the child's work");
}

/* ---- at every file call ---- */

/* Rounds with nth = 1, 2, ... until the child finishes. Returns how many were killed. */
static long long each_point(session *s, const char *how, bool cut, power_loss loss)
{
    test_rng rng = test_rng_new(cut ? test_seed() : 0);
    process p;

    for (s->plan.nth = 1; s->plan.nth <= MAX_POINTS; s->plan.nth++) {
        begin_round(s, &p);
        settle_round(s, &p);
        if (cut)
            power_cut(s->run.dir, loss, &rng);
        verify_round(s, how);
        if (s->run.finished)
            return s->plan.nth - 1;
    }
    test_fail(__FILE__, __LINE__, "the child does not end within %d file calls", MAX_POINTS);
}

long long kill_each_io(test *t, unsigned kinds, kill_child *child, kill_verify *verify, void *arg)
{
    static const struct {
        fault_how how;
        const char *name;
    } ways[] = {{FAULT_KILL_BEFORE, "killed before"},
                {FAULT_KILL_AFTER, "killed after"},
                {FAULT_KILL_TORN, "killed in the middle of"}};
    long long points = 0;
    session s;

    test_unwatched(); /* what a kill leaves behind is the same whoever watches */
    s = begin(t, child, verify, arg);

    for (size_t i = 0; i < VLS_COUNT(ways); i++) {
        s.plan = (fault_io_plan){.kinds = kinds, .how = ways[i].how};
        points += each_point(&s, ways[i].name, false, POWER_LOSE_ALL);
    }
    test_note("killed at %lld points", points);
    CHECK_MSG(points > 0, "the child made no file call in %s", s.run.dir);
    return points;
}

long long kill_each_power_cut(test *t, unsigned kinds, kill_child *child, kill_verify *verify,
                              void *arg)
{
    long long points = 0;
    session s;

    test_unwatched(); /* what a kill leaves behind is the same whoever watches */
    s = begin(t, child, verify, arg);

    for (int loss = 0; loss < POWER_LOSSES; loss++) {
        s.plan = (fault_io_plan){.kinds = kinds, .how = FAULT_KILL_BEFORE, .record = true};
        points +=
            each_point(&s, test_format("power cut (%s) before", power_loss_name((power_loss)loss)),
                       true, (power_loss)loss);
    }
    test_note("power cut at %lld points", points);
    CHECK_MSG(points > 0, "the child made no file call in %s", s.run.dir);
    return points;
}
