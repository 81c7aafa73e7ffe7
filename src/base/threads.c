/* threads.c -- a counter that hands out the items, and a caller that waits. */
#include "base/threads.h"

#include <signal.h>
#include <time.h>

#include "base/time.h"

typedef struct crew {
    const vls_threads_work *work;
    bool looks;         /* there is somebody to ask, who did not fail yet */
    atomic_size_t next; /* item; beyond the last one there is none */
    atomic_bool stop;

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t ended_one;
    unsigned ended; /* threads that found nothing more to do */
    int code;       /* of what failed first, or 0 */
    valise_error error;
} crew;

/* ---- items ---- */

static void fail(crew *c, int code, const valise_error *why)
{
    (void)pthread_mutex_lock(&c->lock);
    if (c->code == 0) {
        c->code = code;
        c->error = *why;
    }
    (void)pthread_mutex_unlock(&c->lock);
    atomic_store_explicit(&c->stop, true, memory_order_relaxed);
}

/* Run the next item; false when there is none. One that was taken is run in any case: one behind it
 * may be what failed. */
static bool run_next(crew *c)
{
    const vls_threads_work *work = c->work;
    valise_error why = VALISE_ERROR_INIT;
    size_t i;
    int rc;

    if (atomic_load_explicit(&c->stop, memory_order_relaxed))
        return false;
    i = atomic_fetch_add_explicit(&c->next, 1, memory_order_relaxed);
    if (i >= work->count)
        return false;
    rc = work->item(work->arg, i, &c->stop, &why);
    if (rc < 0)
        fail(c, rc, &why);
    return true;
}

static void *run_on_a_thread(void *arg)
{
    crew *c = arg;

    while (run_next(c))
        continue;
    (void)pthread_mutex_lock(&c->lock);
    c->ended++;
    (void)pthread_cond_signal(&c->ended_one);
    (void)pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* ---- the caller ---- */

static void look(crew *c)
{
    valise_error why = VALISE_ERROR_INIT;
    int rc = c->looks ? c->work->look(c->work->arg, &why) : 0;

    if (rc < 0) {
        c->looks = false;
        fail(c, rc, &why);
    }
}

static void run_here(crew *c)
{
    while (run_next(c))
        look(c);
}

/* Until all have ended, or it is time to look: are there still some? */
static bool wait_for_all(crew *c, unsigned threads)
{
    struct timespec until = {0, 0};
    int rc = 0;
    bool more;

    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)(c->work->look_ns % VLS_NS_PER_SECOND);
    until.tv_sec +=
        (time_t)(c->work->look_ns / VLS_NS_PER_SECOND) + until.tv_nsec / VLS_NS_PER_SECOND;
    until.tv_nsec %= VLS_NS_PER_SECOND;
    (void)pthread_mutex_lock(&c->lock);
    while (c->ended < threads && rc == 0)
        rc = pthread_cond_timedwait(&c->ended_one, &c->lock, &until);
    more = c->ended < threads;
    (void)pthread_mutex_unlock(&c->lock);
    return more;
}

static void run_with_threads(crew *c, unsigned wanted)
{
    pthread_t threads[VLS_THREADS_MAX];
    unsigned started = 0;

    while (started < wanted && vls_thread_start(&threads[started], run_on_a_thread, c) == 0)
        started++;
    if (started == 0)
        run_here(c);
    while (c->looks && wait_for_all(c, started))
        look(c);
    for (unsigned i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL);
}

/* None of these can fail on Linux with these attributes. */
static void init_locks(crew *c)
{
    pthread_condattr_t monotonic;

    (void)pthread_mutex_init(&c->lock, NULL);
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&c->ended_one, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
}

int vls_threads_run(const vls_threads_work *work, valise_error *err)
{
    crew c = {.work = work, .looks = work->look != NULL, .error = VALISE_ERROR_INIT};

    assert(work->threads <= VLS_THREADS_MAX);
    init_locks(&c);
    run_with_threads(&c, (unsigned)VLS_MIN(work->count, (size_t)work->threads));
    (void)pthread_cond_destroy(&c.ended_one);
    (void)pthread_mutex_destroy(&c.lock);
    if (c.code < 0 && err)
        *err = c.error;
    return c.code;
}

int vls_thread_start(pthread_t *out, void *(*body)(void *arg), void *arg)
{
    sigset_t all, before;
    int rc;

    /* Threads inherit the mask. */
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(out, NULL, body, arg);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}
