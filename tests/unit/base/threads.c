/* threads.c -- items on threads: each runs once, the first failure ends the rest, and no thread is
 * left.
 *
 * Items run on other threads, so they count what happens and the test checks afterwards. */
#include "base/threads.h"

#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>

#include "harness/test.h"

#define ITEMS 300

/* What happened in one run. */
typedef struct notes {
    atomic_int ran[ITEMS]; /* how often each */
    atomic_int running;    /* now */
    atomic_int looks;
    pthread_t order_thread; /* whose items come in order */
    size_t next;            /* on it */
    atomic_bool disorder;
    size_t fails_at; /* this item; ITEMS: none */
    int look_fails;  /* this one; 0: none */
    sem_t gate;
} notes;

static notes n;

static void reset(void)
{
    memset(&n, 0, sizeof(n));
    n.fails_at = ITEMS;
    n.order_thread = pthread_self();
    (void)sem_init(&n.gate, 0, 0);
}

static void wait_for(sem_t *sem)
{
    while (sem_wait(sem) != 0 && errno == EINTR)
        continue;
}

static int note(void *arg, size_t i, const atomic_bool *stop, valise_error *err)
{
    notes *to = arg;
    int rc = 0;

    (void)stop;
    atomic_fetch_add(&to->running, 1);
    if (i >= ITEMS)
        rc = vls_fail(err, VALISE_E_INVALID, "there is no item %zu", i);
    else if (atomic_fetch_add(&to->ran[i], 1) != 0)
        rc = vls_fail(err, VALISE_E_INVALID, "item %zu ran twice", i);
    else if (i == to->fails_at)
        rc = vls_fail(err, VALISE_E_IO, "item %zu failed", i);
    atomic_fetch_sub(&to->running, 1);
    return rc;
}

static int look(void *arg, valise_error *err)
{
    notes *to = arg;
    int count = atomic_fetch_add(&to->looks, 1) + 1;

    if (!pthread_equal(to->order_thread, pthread_self()))
        return vls_fail(err, VALISE_E_INVALID, "not on the caller's thread");
    return count == to->look_fails ? vls_fail(err, VALISE_E_CANCELLED, "enough") : 0;
}

/* How many ran; those that did must be the first ones. */
static size_t ran(void)
{
    size_t count = 0;

    CHECK_INT(0, atomic_load(&n.running));
    while (count < ITEMS && atomic_load(&n.ran[count]) == 1)
        count++;
    for (size_t i = count; i < ITEMS; i++)
        CHECK_INT(0, atomic_load(&n.ran[i]));
    return count;
}

/* ---- threads that cannot be had ---- */

static atomic_int threads_left = -1; /* pthread_create fails when it is 0; below 0: never */
static atomic_int threads_made;

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
                          void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
                          void *arg);

/* The linker sends every call of pthread_create here (--wrap). */
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
                          void *arg)
{
    int left = atomic_load(&threads_left);

    while (left > 0 && !atomic_compare_exchange_weak(&threads_left, &left, left - 1))
        continue;
    if (left == 0)
        return EAGAIN;
    atomic_fetch_add(&threads_made, 1);
    return __real_pthread_create(thread, attr, start, arg);
}

static int run_with(int left, const vls_threads_work *work, valise_error *err)
{
    int rc;

    atomic_store(&threads_left, left);
    atomic_store(&threads_made, 0);
    rc = vls_threads_run(work, err);
    atomic_store(&threads_left, -1);
    return rc;
}

/* ---- each once ---- */

TEST(threads, each_item_runs_once)
{
    static const size_t counts[] = {0, 1, 3, ITEMS};
    static const unsigned threads[] = {0, 1, 2, 8, VLS_THREADS_MAX};

    for (size_t i = 0; i < VLS_COUNT(counts); i++) {
        for (size_t k = 0; k < VLS_COUNT(threads); k++) {
            const vls_threads_work work = {
                .count = counts[i], .threads = threads[k], .item = note, .arg = &n};

            reset();
            CHECK_OK(run_with(-1, &work, &t->err));
            CHECK_INT(counts[i], ran());
            CHECK_INT(VLS_MIN(counts[i], (size_t)threads[k]), atomic_load(&threads_made));
        }
    }
}

static int note_here(void *arg, size_t i, const atomic_bool *stop, valise_error *err)
{
    notes *to = arg;

    if (!pthread_equal(to->order_thread, pthread_self()) || to->next++ != i)
        atomic_store(&to->disorder, true);
    return note(arg, i, stop, err);
}

TEST(threads, without_any_they_run_here_in_order)
{
    for (unsigned threads = 0; threads <= 4; threads += 4) { /* none wanted; none to be had */
        const vls_threads_work work = {
            .count = ITEMS, .threads = threads, .item = note_here, .look = look, .arg = &n};

        reset();
        CHECK_OK(run_with(0, &work, &t->err));
        CHECK_INT(ITEMS, ran());
        CHECK(!atomic_load(&n.disorder));
        CHECK_INT(ITEMS, atomic_load(&n.looks));

        reset();
        n.fails_at = 7;
        CHECK_RC(VALISE_E_IO, run_with(0, &work, &t->err));
        CHECK_TEXT("item 7 failed", t->err.message);
        CHECK_INT(8, ran());

        reset();
        n.look_fails = 5;
        CHECK_RC(VALISE_E_CANCELLED, run_with(0, &work, &t->err));
        CHECK_TEXT("enough", t->err.message);
        CHECK_INT(5, ran());
        CHECK_INT(5, atomic_load(&n.looks));
    }
}

TEST(threads, makes_do_with_those_it_gets)
{
    const vls_threads_work work = {.count = ITEMS, .threads = 8, .item = note, .arg = &n};

    reset();
    CHECK_OK(run_with(2, &work, &t->err));
    CHECK_INT(ITEMS, ran());
    CHECK_INT(2, atomic_load(&threads_made));
}

/* ---- failures ---- */

/* Whichever is faster: what ran are the first items, up to one behind that which failed. */
TEST(threads, those_before_a_failure_have_run)
{
    const vls_threads_work work = {.count = ITEMS, .threads = 4, .item = note, .arg = &n};

    for (size_t round = 0; round < 200; round++) {
        reset();
        n.fails_at = round % 50;
        CHECK_RC(VALISE_E_IO, vls_threads_run(&work, &t->err));
        CHECK_TEXT(test_format("item %zu failed", n.fails_at), t->err.message);
        CHECK(ran() > n.fails_at);
    }
    reset();
    n.fails_at = 0;
    CHECK_RC(VALISE_E_IO, vls_threads_run(&work, NULL));
}

/* The first one waits until the second has failed. */
static int fail_in_turn(void *arg, size_t i, const atomic_bool *stop, valise_error *err)
{
    atomic_fetch_add(&((notes *)arg)->ran[i], 1);
    while (i == 0 && !atomic_load(stop))
        sched_yield();
    return vls_fail(err, i == 0 ? VALISE_E_CORRUPT : VALISE_E_IO, "item %zu failed", i);
}

TEST(threads, the_error_that_came_first_is_told)
{
    const vls_threads_work work = {.count = ITEMS, .threads = 2, .item = fail_in_turn, .arg = &n};

    reset();
    CHECK_RC(VALISE_E_IO, vls_threads_run(&work, &t->err));
    CHECK_TEXT("item 1 failed", t->err.message);
    CHECK_INT(2, ran());
}

/* ---- the look ---- */

static void nap_ms(long ms)
{
    const struct timespec time = {.tv_nsec = ms * 1000000};

    (void)nanosleep(&time, NULL);
}

/* And some more looks. */
static int run_until_stop(void *arg, size_t i, const atomic_bool *stop, valise_error *err)
{
    atomic_fetch_add(&((notes *)arg)->ran[i], 1);
    while (!atomic_load(stop))
        nap_ms(1);
    nap_ms(20);
    return vls_fail(err, VALISE_E_BUSY, "stopped");
}

TEST(threads, a_look_cancels)
{
    const vls_threads_work work = {.count = ITEMS,
                                   .threads = 3,
                                   .item = run_until_stop,
                                   .look = look,
                                   .look_ns = 1000000,
                                   .arg = &n};

    reset();
    n.look_fails = 20; /* by then all have begun, or nearly always */
    CHECK_RC(VALISE_E_CANCELLED, vls_threads_run(&work, &t->err));
    CHECK_TEXT("enough", t->err.message);
    CHECK(ran() <= 3);
    CHECK_INT(20, atomic_load(&n.looks));
}

/* The second one fails, the first one goes on until it was looked thrice after that. */
static int fail_or_wait(void *arg, size_t i, const atomic_bool *stop, valise_error *err)
{
    notes *to = arg;

    atomic_fetch_add(&to->ran[i], 1);
    if (i == 1)
        return vls_fail(err, VALISE_E_IO, "item 1 failed");
    while (!atomic_load(stop))
        sched_yield();
    wait_for(&to->gate);
    return 0;
}

static int look_on(void *arg, valise_error *err)
{
    notes *to = arg;

    if (atomic_load(&to->ran[1]) > 0 && atomic_fetch_add(&to->looks, 1) == 3) {
        (void)sem_post(&to->gate);
        return vls_fail(err, VALISE_E_CANCELLED, "too late");
    }
    return 0;
}

TEST(threads, it_looks_until_all_are_over)
{
    const vls_threads_work work = {.count = ITEMS,
                                   .threads = 2,
                                   .item = fail_or_wait,
                                   .look = look_on,
                                   .look_ns = 1000000,
                                   .arg = &n};

    reset();
    CHECK_RC(VALISE_E_IO, vls_threads_run(&work, &t->err));
    CHECK_TEXT("item 1 failed", t->err.message);
    CHECK_INT(2, ran());
    CHECK_INT(4, atomic_load(&n.looks));
}

/* Nobody waits for the time to look when all are over. */
TEST(threads, a_look_is_not_waited_for)
{
    const vls_threads_work work = {.count = 10,
                                   .threads = 4,
                                   .item = note,
                                   .look = look,
                                   .look_ns = INT64_C(3600000000000),
                                   .arg = &n};

    reset();
    CHECK_OK(vls_threads_run(&work, &t->err));
    CHECK_INT(10, ran());
    CHECK_INT(0, atomic_load(&n.looks));
}

/* ---- items that run items ---- */

typedef struct tree {
    atomic_int leaves;
    int levels;
} tree;

typedef struct twig {
    tree *of;
    int level;
} twig;

static int grow(void *arg, size_t i, const atomic_bool *stop, valise_error *err)
{
    const twig *at = arg;
    twig above = {at->of, at->level + 1};
    const vls_threads_work work = {.count = 4, .threads = 3, .item = grow, .arg = &above};

    (void)stop;
    if (at->level < at->of->levels)
        return vls_threads_run(&work, err);
    return atomic_fetch_add(&at->of->leaves, 1) == 199 ? vls_fail(err, VALISE_E_IO, "leaf %zu", i)
                                                       : 0;
}

TEST(threads, items_may_run_items)
{
    static const int left[] = {-1, 0, 5, 30};
    const char *const leaves[] = {"leaf 0", "leaf 1", "leaf 2", "leaf 3"};

    for (size_t i = 0; i < VLS_COUNT(left); i++) {
        tree whole = {.levels = 2};
        twig root = {&whole, 0};
        const vls_threads_work work = {.count = 4, .threads = 4, .item = grow, .arg = &root};
        size_t found = 0;

        CHECK_OK(run_with(left[i], &work, &t->err));
        CHECK_INT(64, atomic_load(&whole.leaves));

        whole = (tree){.levels = 3}; /* 256 leaves, one of which is bad */
        CHECK_RC(VALISE_E_IO, run_with(left[i], &work, &t->err));
        while (found < 4 && strcmp(leaves[found], t->err.message) != 0)
            found++;
        CHECK(found < 4);
    }
}

/* ---- signals ---- */

static int count_blocked(void *arg, size_t i, const atomic_bool *stop, valise_error *err)
{
    static const int some[] = {SIGINT, SIGUSR1, SIGTERM, SIGCHLD};
    sigset_t now;

    (void)stop, (void)err;
    (void)pthread_sigmask(SIG_SETMASK, NULL, &now);
    for (size_t k = 0; k < VLS_COUNT(some); k++)
        atomic_fetch_add(&((notes *)arg)->ran[i], sigismember(&now, some[k]));
    return 0;
}

TEST(threads, signals_are_for_the_threads_of_the_host)
{
    vls_threads_work work = {.count = 1, .threads = 1, .item = count_blocked, .arg = &n};

    reset();
    CHECK_OK(vls_threads_run(&work, &t->err));
    CHECK_INT(4, atomic_load(&n.ran[0]));
    for (int i = 0; i < 2; i++) { /* and the caller's mask is what it was, also after a failure */
        reset();
        work.threads = i;
        CHECK_OK(run_with(0, &work, &t->err));
        CHECK_INT(0, atomic_load(&n.ran[0]));
    }
}
