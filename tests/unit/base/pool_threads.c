/* pool_threads.c -- pools with threads: every task runs once or is dropped once, nobody waits
 * forever, and TSan finds nothing.
 *
 * Tasks run on other threads, so they count what happens and the test checks afterwards. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>

#include "harness/test.h"

#include "base/hash.h"
#include "base/pool.h"
#include "harness/counting_env.h"

static vls_pool *new_pool(test *t, unsigned threads, unsigned queue_max)
{
    vls_pool_options options = {.threads = threads, .queue_max = queue_max};
    vls_pool *pool = NULL;

    CHECK_OK(vls_pool_new(&pool, t->env, &options, &t->err));
    CHECK_INT(threads, vls_pool_threads(pool));
    return pool;
}

/* ---- counting ---- */

static struct {
    atomic_int ran, dropped;
} count;

static void reset_count(void)
{
    atomic_store(&count.ran, 0);
    atomic_store(&count.dropped, 0);
}

static int run_flag(void *arg, void *scratch, vls_pool_group *group, valise_error *err)
{
    atomic_int *flag = arg;

    (void)scratch;
    (void)group;
    if (atomic_fetch_add(flag, 1) != 0)
        return vls_fail(err, VALISE_E_INVALID, "a task ran twice");
    atomic_fetch_add(&count.ran, 1);
    return 0;
}

static void drop_flag(void *arg)
{
    if (arg)
        atomic_fetch_add((atomic_int *)arg, 1000);
    atomic_fetch_add(&count.dropped, 1);
}

static void wait_for(sem_t *sem)
{
    while (sem_wait(sem) != 0 && errno == EINTR)
        continue;
}

/* ---- many producers ---- */

#define PRODUCERS 6
#define TASKS_EACH 400

typedef struct producer {
    pthread_t thread;
    vls_pool_group *group;
    atomic_int flags[TASKS_EACH];
    int rc;
} producer;

static void *produce(void *arg)
{
    producer *p = arg;

    for (int i = 0; i < TASKS_EACH && p->rc == 0; i++)
        p->rc = vls_pool_submit(p->group, run_flag, &p->flags[i], NULL);
    return NULL;
}

static void produce_all(test *t, unsigned threads, unsigned queue_max)
{
    static producer producers[PRODUCERS];
    vls_pool *pool = new_pool(t, threads, queue_max);
    vls_pool_group group;

    reset_count();
    memset(producers, 0, sizeof(producers));
    vls_pool_group_init(&group, pool, NULL);
    for (int i = 0; i < PRODUCERS; i++) {
        producers[i].group = &group;
        CHECK_INT(0, pthread_create(&producers[i].thread, NULL, produce, &producers[i]));
    }
    for (int i = 0; i < PRODUCERS; i++)
        CHECK_INT(0, pthread_join(producers[i].thread, NULL));
    CHECK_OK(vls_pool_wait(&group, &t->err));
    for (int i = 0; i < PRODUCERS; i++) {
        CHECK_INT(0, producers[i].rc);
        for (int j = 0; j < TASKS_EACH; j++)
            CHECK_INT(1, atomic_load(&producers[i].flags[j]));
    }
    CHECK_INT(PRODUCERS * TASKS_EACH, atomic_load(&count.ran));
    vls_pool_free(pool);
}

TEST(pool_threads, every_task_of_many_producers_runs_once)
{
    produce_all(t, 4, 256);
    produce_all(t, 3, 1);
    produce_all(t, 1, 2);
    produce_all(t, 0, 2); /* without threads the producers take turns */
}

/* ---- tasks that submit tasks ---- */

typedef struct tree {
    unsigned children, levels;
    atomic_int nodes;
} tree;

typedef struct tree_task {
    tree *whole;
    unsigned level;
} tree_task;

static int grow(void *arg, void *scratch, vls_pool_group *group, valise_error *err)
{
    tree_task *self = arg;
    tree *whole = self->whole;
    int rc = 0;

    (void)scratch;
    atomic_fetch_add(&whole->nodes, 1);
    for (unsigned i = 0; i < whole->children && self->level < whole->levels && rc == 0; i++) {
        tree_task *child = valise_env_default()->resize(NULL, NULL, 0, sizeof(*child));
        *child = (tree_task){whole, self->level + 1};
        rc = vls_pool_submit(group, grow, child, err);
        if (rc < 0)
            valise_env_default()->resize(NULL, child, sizeof(*child), 0);
    }
    if (self->level > 0)
        valise_env_default()->resize(NULL, self, sizeof(*self), 0);
    return rc;
}

static void grow_tree(test *t, unsigned threads, unsigned children, unsigned levels, int expected)
{
    vls_pool *pool = new_pool(t, threads, 1);
    tree whole = {.children = children, .levels = levels};
    tree_task root = {&whole, 0};
    vls_pool_group group;

    vls_pool_group_init(&group, pool, NULL);
    CHECK_OK(vls_pool_submit(&group, grow, &root, &t->err));
    CHECK_OK(vls_pool_wait(&group, &t->err));
    CHECK_INT(expected, atomic_load(&whole.nodes));
    vls_pool_free(pool);
}

/* With one place in the queue; if submit waited for a place in tasks too, this would hang. */
TEST(pool_threads, tasks_may_submit_tasks)
{
    for (unsigned threads = 0; threads <= 4; threads++) {
        grow_tree(t, threads, 4, 5, 1 + 4 + 16 + 64 + 256 + 1024);
        grow_tree(t, threads, 1, 5000, 5001);
        grow_tree(t, threads, 2, 9, 1023);
        grow_tree(t, threads, 2000, 1, 2001);
    }
}

/* A comb: each task submits a leaf, which fills the queue, and then the rest of the comb, so that
 * it would nest 500 deep; the queue has to grow instead. */
typedef struct comb {
    atomic_int left, nodes;
    atomic_uint too_deep; /* tasks nested deeper than they may be */
} comb;

static int leaf(void *arg, void *scratch, vls_pool_group *group, valise_error *err)
{
    (void)scratch;
    (void)group;
    (void)err;
    atomic_fetch_add(&((comb *)arg)->nodes, 1);
    return 0;
}

static int tooth(void *arg, void *scratch, vls_pool_group *group, valise_error *err)
{
    comb *c = arg;
    unsigned *depth = scratch; /* of this thread */
    int rc;

    if (++*depth > VLS_POOL_MAX_DEPTH)
        atomic_fetch_add(&c->too_deep, 1);
    atomic_fetch_add(&c->nodes, 1);
    rc = vls_pool_submit(group, leaf, c, err);
    if (rc == 0 && atomic_fetch_sub(&c->left, 1) > 0)
        rc = vls_pool_submit(group, tooth, c, err);
    for (int i = 0; i < 2 && rc == 0; i++)
        rc = vls_pool_submit(group, leaf, c, err);
    --*depth;
    return rc;
}

static int depth_init(void **scratch, void *arg, valise_error *err)
{
    unsigned **next = arg;

    (void)err;
    **next = 0;
    *scratch = (*next)++;
    return 0;
}

static int run_comb(const valise_env *env, unsigned threads, comb *c, valise_error *err)
{
    unsigned depths[4], *next_depth = depths;
    vls_pool_options options = {
        .threads = threads, .queue_max = 1, .scratch_init = depth_init, .scratch_arg = &next_depth};
    VLS_AUTO(pool) vls_pool *pool = NULL;
    vls_pool_group group;
    int rc = vls_pool_new(&pool, env, &options, err);

    if (rc < 0)
        return rc;
    vls_pool_group_init(&group, pool, NULL);
    rc = vls_pool_submit(&group, tooth, c, err);
    int all = vls_pool_wait(&group, err);
    return rc < 0 ? rc : all;
}

TEST(pool_threads, deep_nesting_grows_the_queue)
{
    for (unsigned threads = 0; threads <= 3; threads++) {
        comb c = {.left = 500};
        CHECK_OK(run_comb(t->env, threads, &c, &t->err));
        CHECK_INT(501 * 4, atomic_load(&c.nodes));
        CHECK_INT(0, atomic_load(&c.too_deep));
    }
}

TEST(pool_threads, survives_every_failing_allocation)
{
    counting_env counting;

    for (unsigned threads = 0; threads <= 2; threads++) {
        int rc = VALISE_E_NO_MEMORY;
        /* How many allocations there are depends on the threads, so stop after some. */
        for (long long n = 0; n < 40; n++) {
            comb c = {.left = 60};
            counting_env_init(&counting);
            counting_env_fail_at(&counting, n);
            rc = run_comb(&counting.env, threads, &c, &t->err);
            CHECK(rc == 0 || rc == VALISE_E_NO_MEMORY);
            CHECK(rc == 0 || atomic_load(&counting.failed));
            CHECK_INT(0, counting_env_in_use(&counting));
            CHECK(n >= 3 || rc == VALISE_E_NO_MEMORY); /* pool, workers, tasks */
        }
    }
}

/* ---- waiting inside tasks ---- */

static int fork_join(void *arg, void *scratch, vls_pool_group *group, valise_error *err)
{
    VLS_AUTO(pool_group) vls_pool_group inner;
    unsigned *level = arg, next = *level - 1;
    int rc = 0;

    (void)scratch;
    vls_pool_group_init(&inner, group->pool, NULL);
    for (int i = 0; i < 3 && next > 0 && rc == 0; i++)
        rc = vls_pool_submit(&inner, fork_join, &next, err);
    if (rc == 0)
        rc = vls_pool_wait(&inner, err);
    atomic_fetch_add(&count.ran, 1);
    return rc;
}

/* With fewer threads than tasks that wait: the waiting ones must do the work themselves. */
TEST(pool_threads, a_task_may_wait_for_a_group_it_made)
{
    for (unsigned threads = 0; threads <= 3; threads++) {
        vls_pool *pool = new_pool(t, threads, 2);
        vls_pool_group group;
        unsigned levels = 5;

        reset_count();
        vls_pool_group_init(&group, pool, NULL);
        for (int i = 0; i < 4; i++)
            CHECK_OK(vls_pool_submit(&group, fork_join, &levels, &t->err));
        CHECK_OK(vls_pool_wait(&group, &t->err));
        CHECK_INT(4 * (1 + 3 + 9 + 27 + 81), atomic_load(&count.ran));
        vls_pool_free(pool);
    }
}

typedef struct late {
    sem_t begun, waits, ran;
} late;

static int late_child(void *arg, void *scratch, vls_pool_group *group, valise_error *err)
{
    (void)scratch;
    (void)group;
    (void)err;
    (void)sem_post(&((late *)arg)->ran);
    return 0;
}

/* Submits when the other thread waits already, and does not end before its child has run. */
static int late_parent(void *arg, void *scratch, vls_pool_group *group, valise_error *err)
{
    late *l = arg;
    int rc;

    (void)scratch;
    (void)sem_post(&l->begun);
    wait_for(&l->waits);
    for (int i = 0; i < 1000; i++)
        sched_yield();
    rc = vls_pool_submit(group, late_child, l, err);
    if (rc == 0)
        wait_for(&l->ran);
    return rc;
}

static int wait_for_late(void *arg, void *scratch, vls_pool_group *group, valise_error *err)
{
    late *l = arg;
    vls_pool_group inner;
    int rc;

    (void)scratch;
    vls_pool_group_init(&inner, group->pool, NULL);
    rc = vls_pool_submit(&inner, late_parent, l, err);
    wait_for(&l->begun); /* on the other thread */
    (void)sem_post(&l->waits);
    return rc < 0 ? rc : vls_pool_wait(&inner, err);
}

/* Tasks that come while a task waits: the threads that wait must hear of them. */
TEST(pool_threads, a_waiting_task_takes_what_comes_later)
{
    vls_pool *pool = new_pool(t, 2, 8);
    vls_pool_group group;
    late l;

    (void)sem_init(&l.begun, 0, 0);
    (void)sem_init(&l.waits, 0, 0);
    (void)sem_init(&l.ran, 0, 0);
    vls_pool_group_init(&group, pool, NULL);
    CHECK_OK(vls_pool_submit(&group, wait_for_late, &l, &t->err));
    CHECK_OK(vls_pool_wait(&group, &t->err));
    (void)sem_destroy(&l.begun);
    (void)sem_destroy(&l.waits);
    (void)sem_destroy(&l.ran);
    vls_pool_free(pool);
}

/* ---- errors ---- */

typedef struct failing {
    int number;
    atomic_int flag;
} failing;

static int fail_at_50(void *arg, void *scratch, vls_pool_group *group, valise_error *err)
{
    failing *f = arg;

    (void)scratch;
    (void)group;
    atomic_fetch_add(&f->flag, 1);
    atomic_fetch_add(&count.ran, 1);
    if (f->number == 50)
        return vls_fail(err, VALISE_E_CORRUPT, "object %d is damaged", f->number);
    return 0;
}

static void drop_failing(void *arg)
{
    atomic_fetch_add(&((failing *)arg)->flag, 1000);
    atomic_fetch_add(&count.dropped, 1);
}

TEST(pool_threads, the_first_error_is_returned_and_the_rest_dropped)
{
    static failing tasks[500];
    vls_pool *pool = new_pool(t, 3, 16);

    for (int round = 0; round < 20; round++) {
        vls_pool_group group;
        int taken = 0, rc = 0;
        reset_count();
        vls_pool_group_init(&group, pool, drop_failing);
        for (int i = 0; i < 500 && rc == 0; i++) {
            tasks[i].number = i;
            atomic_store(&tasks[i].flag, 0);
            rc = vls_pool_submit(&group, fail_at_50, &tasks[i], &t->err);
            taken += rc == 0;
        }
        CHECK(rc == VALISE_E_CANCELLED || rc == 0);
        CHECK_RC(VALISE_E_CORRUPT, vls_pool_wait(&group, &t->err));
        CHECK_TEXT("object 50 is damaged", t->err.message);
        CHECK_INT(taken, atomic_load(&count.ran) + atomic_load(&count.dropped));
        for (int i = 0; i < taken; i++) { /* each once: run or dropped */
            int flag = atomic_load(&tasks[i].flag);
            CHECK(flag == 1 || flag == 1000);
        }
    }
    vls_pool_free(pool);
}

/* ---- cancelling ---- */

typedef struct gate {
    sem_t begun, open;
} gate;

static void gate_init(gate *g)
{
    (void)sem_init(&g->begun, 0, 0);
    (void)sem_init(&g->open, 0, 0);
}

static void gate_release(gate *g)
{
    (void)sem_destroy(&g->begun);
    (void)sem_destroy(&g->open);
}

static int wait_at_gate(void *arg, void *scratch, vls_pool_group *group, valise_error *err)
{
    gate *g = arg;

    (void)scratch;
    (void)group;
    (void)err;
    (void)sem_post(&g->begun);
    wait_for(&g->open);
    atomic_fetch_add(&count.ran, 1);
    return 0;
}

static int run_until_cancelled(void *arg, void *scratch, vls_pool_group *group, valise_error *err)
{
    (void)scratch;
    (void)err;
    (void)sem_post(&((gate *)arg)->begun);
    while (!vls_pool_cancelled(group))
        sched_yield();
    atomic_fetch_add(&count.ran, 1);
    return 0;
}

TEST(pool_threads, cancel_drops_the_queue_and_is_seen_by_running_tasks)
{
    vls_pool *pool = new_pool(t, 2, 32);
    vls_pool_group group;
    gate g;

    gate_init(&g);
    reset_count();
    vls_pool_group_init(&group, pool, drop_flag);
    for (int i = 0; i < 2; i++)
        CHECK_OK(vls_pool_submit(&group, run_until_cancelled, &g, &t->err));
    wait_for(&g.begun);
    wait_for(&g.begun); /* both threads are busy now: the rest stays in the queue */
    for (int i = 0; i < 20; i++)
        CHECK_OK(vls_pool_submit(&group, run_flag, NULL, &t->err));
    vls_pool_cancel(&group);
    CHECK_INT(20, atomic_load(&count.dropped));
    vls_pool_cancel(&group); /* again: nothing happens */
    CHECK_RC(VALISE_E_CANCELLED, vls_pool_wait(&group, &t->err));
    CHECK_INT(2, atomic_load(&count.ran));
    CHECK_INT(20, atomic_load(&count.dropped));
    CHECK_RC(VALISE_E_CANCELLED, vls_pool_submit(&group, run_flag, NULL, &t->err));
    gate_release(&g);
    vls_pool_free(pool);
}

TEST(pool_threads, cancelling_one_group_leaves_the_other_alone)
{
    static atomic_int flags[10];
    vls_pool *pool = new_pool(t, 1, 64);
    vls_pool_group busy, kept, dropped;
    gate g;

    gate_init(&g);
    reset_count();
    memset(flags, 0, sizeof(flags));
    vls_pool_group_init(&busy, pool, NULL);
    vls_pool_group_init(&kept, pool, drop_flag);
    vls_pool_group_init(&dropped, pool, drop_flag);
    CHECK_OK(vls_pool_submit(&busy, wait_at_gate, &g, &t->err));
    for (int i = 0; i < 10; i++) { /* interleaved, and the last of the queue is a dropped one */
        CHECK_OK(vls_pool_submit(&kept, run_flag, &flags[i], &t->err));
        CHECK_OK(vls_pool_submit(&dropped, run_flag, NULL, &t->err));
    }
    vls_pool_cancel(&dropped);
    CHECK_INT(10, atomic_load(&count.dropped));
    CHECK(vls_pool_wait_for(&dropped, 0)); /* although the only thread is busy */
    CHECK_RC(VALISE_E_CANCELLED, vls_pool_wait(&dropped, &t->err));
    (void)sem_post(&g.open);
    CHECK_OK(vls_pool_wait(&kept, &t->err));
    CHECK_OK(vls_pool_wait(&busy, &t->err));
    for (int i = 0; i < 10; i++)
        CHECK_INT(1, atomic_load(&flags[i]));
    gate_release(&g);
    vls_pool_free(pool);
}

/* Threads that wait for a place in a full queue are let go when their group is cancelled, and
 * those of another group stay and get their places. */
TEST(pool_threads, cancel_frees_those_who_wait_for_a_place)
{
    static producer producers[4];
    vls_pool *pool = new_pool(t, 1, 1);
    vls_pool_group busy, one, two;
    gate g;

    gate_init(&g);
    reset_count();
    memset(producers, 0, sizeof(producers));
    vls_pool_group_init(&busy, pool, NULL);
    vls_pool_group_init(&one, pool, NULL);
    vls_pool_group_init(&two, pool, NULL);
    CHECK_OK(vls_pool_submit(&busy, wait_at_gate, &g, &t->err));
    wait_for(&g.begun);
    for (int i = 0; i < 4; i++) { /* 1,600 tasks for one place */
        producers[i].group = i % 2 ? &one : &two;
        CHECK_INT(0, pthread_create(&producers[i].thread, NULL, produce, &producers[i]));
    }
    vls_pool_cancel(&one);
    CHECK_INT(0, pthread_join(producers[1].thread, NULL));
    CHECK_INT(0, pthread_join(producers[3].thread, NULL));
    CHECK_INT(VALISE_E_CANCELLED, producers[1].rc);
    CHECK_INT(VALISE_E_CANCELLED, producers[3].rc);
    (void)sem_post(&g.open);
    CHECK_INT(0, pthread_join(producers[0].thread, NULL));
    CHECK_INT(0, pthread_join(producers[2].thread, NULL));
    CHECK_OK(vls_pool_wait(&two, &t->err));
    CHECK_RC(VALISE_E_CANCELLED, vls_pool_wait(&one, &t->err));
    CHECK_OK(vls_pool_wait(&busy, &t->err));
    CHECK_INT(0, producers[0].rc);
    CHECK_INT(0, producers[2].rc);
    CHECK_INT(2 * TASKS_EACH + 1, atomic_load(&count.ran));
    gate_release(&g);
    vls_pool_free(pool);
}

static void *cancel_soon(void *arg)
{
    for (int i = 0; i < 50; i++)
        sched_yield();
    vls_pool_cancel(arg);
    return NULL;
}

TEST(pool_threads, cancel_at_any_moment)
{
    static atomic_int flags[300];
    vls_pool *pool = new_pool(t, 3, 8);

    for (int round = 0; round < 30; round++) {
        vls_pool_group group;
        pthread_t canceller;
        int taken = 0;
        reset_count();
        memset(flags, 0, sizeof(flags));
        vls_pool_group_init(&group, pool, drop_flag);
        CHECK_INT(0, pthread_create(&canceller, NULL, cancel_soon, &group));
        while (taken < 300 && vls_pool_submit(&group, run_flag, &flags[taken], NULL) == 0)
            taken++;
        CHECK_INT(0, pthread_join(canceller, NULL));
        CHECK_RC(VALISE_E_CANCELLED, vls_pool_wait(&group, &t->err));
        CHECK_INT(taken, atomic_load(&count.ran) + atomic_load(&count.dropped));
        for (int i = 0; i < 300; i++) {
            int flag = atomic_load(&flags[i]);
            CHECK(i < taken ? flag == 1 || flag == 1000 : flag == 0);
        }
    }
    vls_pool_free(pool);
}

TEST(pool_threads, release_cancels_and_waits)
{
    vls_pool *pool = new_pool(t, 2, 32);
    vls_pool_group group;
    gate g;

    gate_init(&g);
    reset_count();
    vls_pool_group_init(&group, pool, drop_flag);
    for (int i = 0; i < 2; i++)
        CHECK_OK(vls_pool_submit(&group, run_until_cancelled, &g, &t->err));
    wait_for(&g.begun);
    wait_for(&g.begun);
    CHECK_OK(vls_pool_submit(&group, run_flag, NULL, &t->err));
    vls_pool_group_release(&group);
    CHECK_INT(2, atomic_load(&count.ran));
    CHECK_INT(1, atomic_load(&count.dropped));
    gate_release(&g);
    vls_pool_free(pool);
}

TEST(pool_threads, waiting_can_be_given_up)
{
    vls_pool *pool = new_pool(t, 1, 4);
    vls_pool_group group;
    gate g;

    gate_init(&g);
    reset_count();
    vls_pool_group_init(&group, pool, NULL);
    CHECK(vls_pool_wait_for(&group, 0)); /* nothing to wait for */
    CHECK_OK(vls_pool_submit(&group, wait_at_gate, &g, &t->err));
    CHECK(!vls_pool_wait_for(&group, 0));
    CHECK(!vls_pool_wait_for(&group, 1000000));
    (void)sem_post(&g.open);
    while (!vls_pool_wait_for(&group, 1000000000))
        continue;
    CHECK_INT(1, atomic_load(&count.ran));
    CHECK_OK(vls_pool_wait(&group, &t->err));
    gate_release(&g);
    vls_pool_free(pool);
}

/* ---- scratch ---- */

typedef struct hash_scratch {
    vls_hasher hasher;
    int users; /* not atomic: TSan would see two threads in it */
    int uses;
} hash_scratch;

typedef struct hash_log {
    hash_scratch scratches[4];
    int inits, releases;
    int fail_at; /* the init that fails, from 1; 0: none */
    int uses;
} hash_log;

static int hash_scratch_init(void **scratch, void *arg, valise_error *err)
{
    hash_log *log = arg;
    hash_scratch *s = &log->scratches[log->inits];

    if (log->inits + 1 == log->fail_at)
        return vls_fail(err, VALISE_E_BUSY, "no scratch");
    *s = (hash_scratch){0};
    log->inits++;
    *scratch = s;
    return 0;
}

static void hash_scratch_release(void *scratch, void *arg)
{
    hash_log *log = arg;
    hash_scratch *s = scratch;

    log->releases++;
    log->uses += s->uses;
}

typedef struct hash_task {
    uint64_t number;
    valise_id id;
} hash_task;

static int hash_number(void *arg, void *scratch, vls_pool_group *group, valise_error *err)
{
    hash_task *task = arg;
    hash_scratch *s = scratch;

    (void)group;
    if (s->users++ != 0)
        return vls_fail(err, VALISE_E_INVALID, "two tasks use one scratch");
    s->uses++;
    vls_hash_begin_tagged(&s->hasher, "valise.test.1");
    vls_hash_field_u64(&s->hasher, task->number);
    vls_hash_end(&task->id, &s->hasher);
    s->users--;
    return 0;
}

TEST(pool_threads, each_thread_has_its_own_scratch)
{
    static hash_task tasks[2000];
    hash_log log = {.fail_at = 0};
    vls_pool_options options = {.threads = 4,
                                .queue_max = 8,
                                .scratch_init = hash_scratch_init,
                                .scratch_release = hash_scratch_release,
                                .scratch_arg = &log};
    vls_hasher hasher;
    vls_pool_group group;
    vls_pool *pool = NULL;
    valise_id expected;

    CHECK_OK(vls_pool_new(&pool, t->env, &options, &t->err));
    CHECK_INT(4, log.inits);
    vls_pool_group_init(&group, pool, NULL);
    for (size_t i = 0; i < VLS_COUNT(tasks); i++) {
        tasks[i].number = i;
        CHECK_OK(vls_pool_submit(&group, hash_number, &tasks[i], &t->err));
    }
    CHECK_OK(vls_pool_wait(&group, &t->err));
    vls_pool_free(pool);
    CHECK_INT(4, log.releases);
    CHECK_INT(VLS_COUNT(tasks), log.uses);
    for (size_t i = 0; i < VLS_COUNT(tasks); i++) {
        vls_hash_begin_tagged(&hasher, "valise.test.1");
        vls_hash_field_u64(&hasher, i);
        vls_hash_end(&expected, &hasher);
        CHECK(vls_id_equal(&expected, &tasks[i].id));
    }
}

TEST(pool_threads, a_scratch_that_cannot_be_made_ends_the_pool)
{
    for (int n = 1; n <= 3; n++) {
        hash_log log = {.fail_at = n};
        vls_pool_options options = {.threads = 3,
                                    .scratch_init = hash_scratch_init,
                                    .scratch_release = hash_scratch_release,
                                    .scratch_arg = &log};
        vls_pool *pool = NULL;
        CHECK_RC(VALISE_E_BUSY, vls_pool_new(&pool, t->env, &options, &t->err));
        CHECK(pool == NULL);
        CHECK_INT(n - 1, log.inits);
        CHECK_INT(n - 1, log.releases);
    }
}

/* ---- threads ---- */

static int threads_left = -1; /* pthread_create fails when it is 0; below 0: never */

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
                          void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
                          void *arg);

/* The linker sends every call of pthread_create here (--wrap). */
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
                          void *arg)
{
    if (threads_left == 0)
        return EAGAIN;
    if (threads_left > 0)
        threads_left--;
    return __real_pthread_create(thread, attr, start, arg);
}

TEST(pool_threads, makes_do_with_the_threads_it_gets)
{
    vls_pool_options options = {.threads = 4};
    static atomic_int flags[100];
    vls_pool_group group;
    vls_pool *pool = NULL;
    int rc;

    reset_count();
    memset(flags, 0, sizeof(flags));
    threads_left = 2;
    rc = vls_pool_new(&pool, t->env, &options, &t->err);
    threads_left = -1;
    CHECK_OK(rc);
    CHECK_INT(2, vls_pool_threads(pool));
    vls_pool_group_init(&group, pool, NULL);
    for (size_t i = 0; i < VLS_COUNT(flags); i++)
        CHECK_OK(vls_pool_submit(&group, run_flag, &flags[i], &t->err));
    CHECK_OK(vls_pool_wait(&group, &t->err));
    CHECK_INT(100, atomic_load(&count.ran));
    vls_pool_free(pool);

    pool = NULL;
    threads_left = 0;
    rc = vls_pool_new(&pool, t->env, &options, &t->err);
    threads_left = -1;
    CHECK_RC(VALISE_E_LIMIT, rc);
    CHECK(strstr(t->err.message, "cannot start a thread: "));
    CHECK(t->err.hint[0] != '\0');
    CHECK(pool == NULL);
}

static int look_at_signals(void *arg, void *scratch, vls_pool_group *group, valise_error *err)
{
    sigset_t now;

    (void)scratch;
    (void)group;
    (void)err;
    (void)pthread_sigmask(SIG_SETMASK, NULL, &now);
    atomic_store((atomic_int *)arg, sigismember(&now, SIGINT) + sigismember(&now, SIGUSR1) +
                                        sigismember(&now, SIGTERM));
    return 0;
}

TEST(pool_threads, signals_are_for_the_threads_of_the_host)
{
    vls_pool *pool = new_pool(t, 1, 1);
    atomic_int blocked = 0;
    vls_pool_group group;
    sigset_t now;

    vls_pool_group_init(&group, pool, NULL);
    CHECK_OK(vls_pool_submit(&group, look_at_signals, &blocked, &t->err));
    CHECK_OK(vls_pool_wait(&group, &t->err));
    CHECK_INT(3, atomic_load(&blocked));
    CHECK_INT(0, pthread_sigmask(SIG_SETMASK, NULL, &now));
    CHECK_INT(0, sigismember(&now, SIGINT));
    vls_pool_free(pool);
}

TEST(pool_threads, an_idle_pool_can_be_freed_at_any_time)
{
    for (unsigned round = 0; round < 50; round++) {
        vls_pool *pool = new_pool(t, 1 + round % 4, 1);
        vls_pool_group group;
        atomic_int flag = 0;
        vls_pool_group_init(&group, pool, NULL);
        if (round % 2) {
            CHECK_OK(vls_pool_submit(&group, run_flag, &flag, &t->err));
            CHECK_OK(vls_pool_wait(&group, &t->err));
        }
        vls_pool_group_release(&group);
        vls_pool_free(pool);
    }
    CHECK_INT(0, test_bytes_in_use(t));
}
