/* pool.c -- one queue, one lock.
 *
 * Everything in the pool and in its groups is under pool->lock, except `cancelled` of a group
 * (atomic, so that tasks can ask often) and what a worker has for itself (scratch, depth).
 *
 * Invariants:
 * - pending of a group counts its tasks in the queue, running, and being dropped. A group may be
 *   gone as soon as the lock is released with pending at 0, so nobody touches it after that.
 * - A worker never waits for a place in the queue; so the queue always gets shorter, and those
 *   who do wait for a place get one.
 *
 * A pool without threads has one worker, whose part is played by any thread that holds `turn`. */
#include "base/pool.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "base/mem.h"

#define QUEUE_DEFAULT 256u
#define QUEUE_LARGEST 65536u
#define NS_PER_SECOND 1000000000

typedef struct task {
    struct task *next; /* in the queue, among the spare ones, or in a list of dropped ones */
    vls_pool_fn *fn;
    void *arg;
    vls_pool_group *group;
    bool extra; /* allocated for itself because no spare one was left */
} task;

typedef struct worker {
    vls_pool *pool;
    pthread_t thread;
    void *scratch;
    unsigned depth; /* tasks that it has begun and not ended */
} worker;

struct vls_pool {
    const valise_env *env;
    vls_pool_options options;
    worker *workers;
    unsigned workers_len; /* at least 1 */
    unsigned scratches;   /* workers that have their scratch */
    unsigned threads;     /* workers that have their thread */
    task *tasks;          /* queue_max of them */

    pthread_mutex_t turn; /* recursive; before lock when both are taken */
    pthread_mutex_t lock;
    pthread_cond_t work; /* a task was queued, or the pool stops */
    pthread_cond_t room; /* a spare task is there again */
    pthread_cond_t done; /* a group is over; also a task was queued while tasks wait */
    task *first, **end;  /* the queue, and where its next task is linked */
    task *spare;
    unsigned waiting_tasks; /* inside vls_pool_wait */
    bool stopping;
};

/* ---- the queue; all under the lock ---- */

static void append(vls_pool *pool, task *entry)
{
    entry->next = NULL;
    *pool->end = entry;
    pool->end = &entry->next;
    (void)pthread_cond_signal(&pool->work);
    if (pool->waiting_tasks > 0)
        (void)pthread_cond_broadcast(&pool->done);
}

/* Unlink what *link points at, the one behind it taking its place. */
static task *take(vls_pool *pool, task **link)
{
    task *entry = *link;

    *link = entry->next;
    if (!*link)
        pool->end = link;
    return entry;
}

/* Where the first task of the group (NULL: of any) is linked; NULL when there is none. */
static task **find_task(vls_pool *pool, const vls_pool_group *group)
{
    for (task **link = &pool->first; *link; link = &(*link)->next) {
        if (!group || (*link)->group == group)
            return link;
    }
    return NULL;
}

static void give_back(vls_pool *pool, task *entry)
{
    if (entry->extra) {
        vls_mem_free(pool->env, entry, sizeof(*entry));
        return;
    }
    if (!pool->spare)
        (void)pthread_cond_broadcast(&pool->room);
    entry->next = pool->spare;
    pool->spare = entry;
}

/* The first task of the group (NULL: of any) into *out; false when there is none. */
static bool pop(task *out, vls_pool *pool, const vls_pool_group *group)
{
    task **link = find_task(pool, group);

    if (!link)
        return false;
    task *entry = take(pool, link);
    *out = *entry;
    give_back(pool, entry);
    return true;
}

static int push(vls_pool *pool, task t, valise_error *err)
{
    task *entry = pool->spare;

    if (entry) {
        pool->spare = entry->next;
    } else {
        entry = vls_mem_alloc(pool->env, sizeof(*entry));
        if (!entry)
            return vls_fail_memory(err);
        t.extra = true;
    }
    *entry = t;
    t.group->pending++;
    append(pool, entry);
    return 0;
}

/* ---- groups ---- */

void vls_pool_group_init(vls_pool_group *group, vls_pool *pool, void (*drop)(void *arg))
{
    *group = (vls_pool_group){.pool = pool, .drop = drop, .error = VALISE_ERROR_INIT};
    atomic_init(&group->cancelled, false);
}

/* Under the lock: count tasks of the group as over. */
static void count_over(vls_pool *pool, vls_pool_group *group, size_t count)
{
    assert(group->pending >= count);
    group->pending -= count;
    if (group->pending == 0)
        (void)pthread_cond_broadcast(&pool->done);
}

/* Under the lock: no task of the group begins any more. Returns those that were in the queue;
 * they are still pending until drop_all. */
static task *cancel_locked(vls_pool *pool, vls_pool_group *group)
{
    task *dropped = NULL;
    task **end = &dropped;

    atomic_store_explicit(&group->cancelled, true, memory_order_relaxed);
    for (task **link = &pool->first; *link;) {
        if ((*link)->group != group) {
            link = &(*link)->next;
            continue;
        }
        *end = take(pool, link);
        end = &(*end)->next;
        *end = NULL;
    }
    (void)pthread_cond_broadcast(&pool->room); /* who waits to submit to it need not */
    return dropped;
}

/* Without the lock, since drop is the caller's function. */
static void drop_all(vls_pool *pool, vls_pool_group *group, task *dropped)
{
    size_t count = 0;

    if (!dropped)
        return; /* the group may be gone */
    for (task *entry = dropped; entry; entry = entry->next) {
        if (group->drop)
            group->drop(entry->arg);
        count++;
    }
    (void)pthread_mutex_lock(&pool->lock);
    while (dropped) {
        task *next = dropped->next;
        give_back(pool, dropped);
        dropped = next;
    }
    count_over(pool, group, count);
    (void)pthread_mutex_unlock(&pool->lock);
}

void vls_pool_cancel(vls_pool_group *group)
{
    vls_pool *pool = group->pool;
    task *dropped;

    (void)pthread_mutex_lock(&pool->lock);
    dropped = cancel_locked(pool, group);
    (void)pthread_mutex_unlock(&pool->lock);
    drop_all(pool, group, dropped);
}

/* ---- running ---- */

/* Run a task that is already counted as pending. */
static void run(worker *self, task t)
{
    vls_pool *pool = self->pool;
    valise_error error = VALISE_ERROR_INIT;
    task *dropped = NULL;
    int rc;

    self->depth++;
    rc = t.fn(t.arg, self->scratch, t.group, &error);
    self->depth--;

    (void)pthread_mutex_lock(&pool->lock);
    if (rc < 0 && t.group->code == 0) {
        t.group->code = rc;
        t.group->error = error;
        if (error.code != rc)
            (void)vls_fail(&t.group->error, rc, "%s", valise_error_text(rc));
        dropped = cancel_locked(pool, t.group);
    }
    count_over(pool, t.group, 1);
    (void)pthread_mutex_unlock(&pool->lock);
    drop_all(pool, t.group, dropped);
}

static void *work(void *arg)
{
    worker *self = arg;
    vls_pool *pool = self->pool;
    task t;

    (void)pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->first && !pool->stopping)
            (void)pthread_cond_wait(&pool->work, &pool->lock);
        if (!pop(&t, pool, NULL))
            break;
        (void)pthread_mutex_unlock(&pool->lock);
        run(self, t);
        (void)pthread_mutex_lock(&pool->lock);
    }
    (void)pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Under the lock: the worker that the calling thread is, or NULL. */
static worker *find_self(const vls_pool *pool)
{
    pthread_t me = pthread_self();

    for (unsigned i = 0; i < pool->threads; i++) {
        if (pthread_equal(pool->workers[i].thread, me))
            return &pool->workers[i];
    }
    return NULL;
}

/* ---- without threads ---- */

/* Under turn: run what is in the queue, of the group or (NULL) of any. */
static void run_queued(vls_pool *pool, const vls_pool_group *group)
{
    task t;
    bool found;

    do {
        (void)pthread_mutex_lock(&pool->lock);
        found = pop(&t, pool, group);
        (void)pthread_mutex_unlock(&pool->lock);
        if (found)
            run(&pool->workers[0], t);
    } while (found);
}

/* Run t now, or queue it when too many are nested already; the outermost runs the queue empty. */
static int submit_here(vls_pool *pool, task t, valise_error *err)
{
    worker *self = &pool->workers[0];
    int rc = 0;

    (void)pthread_mutex_lock(&pool->turn);
    bool now = self->depth < VLS_POOL_MAX_DEPTH;
    (void)pthread_mutex_lock(&pool->lock);
    if (vls_pool_cancelled(t.group))
        rc = vls_fail(err, VALISE_E_CANCELLED, "the group of tasks was cancelled");
    else if (now)
        t.group->pending++;
    else
        rc = push(pool, t, err);
    (void)pthread_mutex_unlock(&pool->lock);

    if (rc == 0 && now)
        run(self, t);
    if (self->depth == 0)
        run_queued(pool, NULL);
    (void)pthread_mutex_unlock(&pool->turn);
    return rc;
}

/* ---- submit and wait ---- */

int vls_pool_submit(vls_pool_group *group, vls_pool_fn *fn, void *arg, valise_error *err)
{
    vls_pool *pool = group->pool;
    task t = {.fn = fn, .arg = arg, .group = group};
    worker *self = NULL;
    int rc = 0;

    if (pool->threads == 0)
        return submit_here(pool, t, err);

    (void)pthread_mutex_lock(&pool->lock);
    if (!pool->spare)
        self = find_self(pool);
    while (!self && !pool->spare && !vls_pool_cancelled(group))
        (void)pthread_cond_wait(&pool->room, &pool->lock);

    bool now = self && self->depth < VLS_POOL_MAX_DEPTH;
    if (vls_pool_cancelled(group))
        rc = vls_fail(err, VALISE_E_CANCELLED, "the group of tasks was cancelled");
    else if (now)
        group->pending++;
    else
        rc = push(pool, t, err);
    (void)pthread_mutex_unlock(&pool->lock);
    if (rc == 0 && now)
        run(self, t);
    return rc;
}

/* Under the lock. A task keeps its thread busy with the group that it waits for, or the group's
 * tasks might have no thread left to run on. */
static void wait_locked(vls_pool *pool, vls_pool_group *group)
{
    worker *self = find_self(pool);
    task t;

    while (group->pending > 0) {
        if (self && pop(&t, pool, group)) {
            (void)pthread_mutex_unlock(&pool->lock);
            run(self, t);
            (void)pthread_mutex_lock(&pool->lock);
            continue;
        }
        pool->waiting_tasks += self != NULL;
        (void)pthread_cond_wait(&pool->done, &pool->lock);
        pool->waiting_tasks -= self != NULL;
    }
}

/* Under turn nobody else runs tasks, so all that are left are in the queue. */
static void wait_here(vls_pool *pool, vls_pool_group *group)
{
    (void)pthread_mutex_lock(&pool->turn);
    run_queued(pool, group);
    assert(group->pending == 0); /* else a task waits for its own group */
    (void)pthread_mutex_unlock(&pool->turn);
}

int vls_pool_wait(vls_pool_group *group, valise_error *err)
{
    vls_pool *pool = group->pool;
    int code;

    if (pool->threads == 0)
        wait_here(pool, group);
    (void)pthread_mutex_lock(&pool->lock);
    wait_locked(pool, group);
    code = group->code;
    (void)pthread_mutex_unlock(&pool->lock);

    if (code == 0 && vls_pool_cancelled(group))
        return vls_fail(err, VALISE_E_CANCELLED, "the group of tasks was cancelled");
    if (code < 0 && err)
        *err = group->error;
    return code;
}

bool vls_pool_wait_for(vls_pool_group *group, int64_t timeout_ns)
{
    vls_pool *pool = group->pool;
    struct timespec until = {0, 0};
    bool over;
    int rc = 0;

    if (pool->threads == 0)
        wait_here(pool, group);
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)(timeout_ns / NS_PER_SECOND);
    until.tv_nsec += (long)(timeout_ns % NS_PER_SECOND);
    if (until.tv_nsec >= NS_PER_SECOND) {
        until.tv_nsec -= NS_PER_SECOND;
        until.tv_sec++;
    }
    (void)pthread_mutex_lock(&pool->lock);
    while (group->pending > 0 && rc == 0)
        rc = pthread_cond_timedwait(&pool->done, &pool->lock, &until);
    over = group->pending == 0;
    (void)pthread_mutex_unlock(&pool->lock);
    return over;
}

void vls_pool_group_release(vls_pool_group *group)
{
    bool over;

    if (!group->pool)
        return;
    (void)pthread_mutex_lock(&group->pool->lock);
    over = group->pending == 0;
    (void)pthread_mutex_unlock(&group->pool->lock);
    if (!over) {
        vls_pool_cancel(group);
        (void)vls_pool_wait(group, NULL);
    }
    group->pool = NULL;
}

/* ---- making and freeing ---- */

unsigned vls_pool_threads(const vls_pool *pool)
{
    return pool->threads;
}

/* None of these can fail on Linux with these attributes. */
static void init_locks(vls_pool *pool)
{
    pthread_mutexattr_t recursive;
    pthread_condattr_t monotonic;

    (void)pthread_mutexattr_init(&recursive);
    (void)pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    (void)pthread_mutex_init(&pool->turn, &recursive);
    (void)pthread_mutexattr_destroy(&recursive);
    (void)pthread_mutex_init(&pool->lock, NULL);

    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&pool->work, &monotonic);
    (void)pthread_cond_init(&pool->room, &monotonic);
    (void)pthread_cond_init(&pool->done, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
}

void vls_pool_free(vls_pool *pool)
{
    if (!pool)
        return;
    (void)pthread_mutex_lock(&pool->lock);
    assert(!pool->first && !find_self(pool));
    pool->stopping = true;
    (void)pthread_cond_broadcast(&pool->work);
    (void)pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->threads; i++)
        (void)pthread_join(pool->workers[i].thread, NULL);

    for (unsigned i = 0; i < pool->scratches && pool->options.scratch_release; i++)
        pool->options.scratch_release(pool->workers[i].scratch, pool->options.scratch_arg);
    (void)pthread_cond_destroy(&pool->done);
    (void)pthread_cond_destroy(&pool->room);
    (void)pthread_cond_destroy(&pool->work);
    (void)pthread_mutex_destroy(&pool->lock);
    (void)pthread_mutex_destroy(&pool->turn);
    vls_mem_free(pool->env, pool->tasks, pool->options.queue_max * sizeof(task));
    vls_mem_free(pool->env, pool->workers, pool->workers_len * sizeof(worker));
    vls_mem_free(pool->env, pool, sizeof(*pool));
}

static int init_workers(vls_pool *pool, valise_error *err)
{
    const vls_pool_options *options = &pool->options;

    pool->workers = vls_mem_zalloc(pool->env, pool->workers_len * sizeof(worker));
    pool->tasks = vls_mem_zalloc(pool->env, options->queue_max * sizeof(task));
    if (!pool->workers || !pool->tasks)
        return vls_fail_memory(err);
    for (unsigned i = 0; i < options->queue_max; i++)
        give_back(pool, &pool->tasks[i]);
    for (unsigned i = 0; i < pool->workers_len; i++) {
        worker *w = &pool->workers[i];
        w->pool = pool;
        int rc = options->scratch_init
                     ? options->scratch_init(&w->scratch, options->scratch_arg, err)
                     : 0;
        if (rc < 0)
            return rc;
        pool->scratches = i + 1;
    }
    return 0;
}

static int start_threads(vls_pool *pool, valise_error *err)
{
    sigset_t all, before;
    int rc = 0;

    /* Threads inherit the mask: a host's signals are for the host's threads. The lock keeps the
     * new threads from looking at the list while it is written. */
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    (void)pthread_mutex_lock(&pool->lock);
    while (rc == 0 && pool->threads < pool->options.threads) {
        worker *w = &pool->workers[pool->threads];
        rc = pthread_create(&w->thread, NULL, work, w);
        pool->threads += rc == 0;
    }
    (void)pthread_mutex_unlock(&pool->lock);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);

    if (pool->options.threads > 0 && pool->threads == 0) {
        char reason[96]; /* the GNU strerror_r may not use it */
        (void)vls_fail(err, VALISE_E_LIMIT, "cannot start a thread: %s",
                       strerror_r(rc, reason, sizeof(reason)));
        vls_hint(err, "see how many processes and how much memory you may use (ulimit -a)");
        return VALISE_E_LIMIT;
    }
    return 0;
}

int vls_pool_new(vls_pool **out, const valise_env *env, const vls_pool_options *options,
                 valise_error *err)
{
    VLS_AUTO(pool) vls_pool *pool = NULL;
    int rc;

    if (options->threads > VLS_POOL_MAX_THREADS || options->queue_max > QUEUE_LARGEST)
        return vls_fail(err, VALISE_E_INVALID,
                        "a pool of %u threads and %u waiting tasks is too large: %u and %u at most",
                        options->threads, options->queue_max, VLS_POOL_MAX_THREADS, QUEUE_LARGEST);
    pool = vls_mem_zalloc(env, sizeof(*pool));
    if (!pool)
        return vls_fail_memory(err);
    pool->env = env;
    pool->options = *options;
    pool->options.queue_max = options->queue_max ? options->queue_max : QUEUE_DEFAULT;
    pool->workers_len = VLS_MAX(options->threads, 1u);
    pool->end = &pool->first;
    init_locks(pool);

    rc = init_workers(pool, err);
    if (rc < 0)
        return rc;
    rc = start_threads(pool, err);
    if (rc < 0)
        return rc;
    *out = VLS_TAKE(pool);
    return 0;
}
