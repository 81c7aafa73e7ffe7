/* walk.c -- the stack of jobs and the threads that do them; see walk.h. */
#include "tree/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/threads.h"
#include "tree/walk_impl.h"

#define STEP_EVERY_NS INT64_C(50000000) /* while the caller has nothing to do */
#define DEFAULT_THREADS 8

bool vls_walk_is_shortage(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM;
}

/* ---- progress and stopping ---- */

/* The first that fails says why; the others end. */
static void fail(vls_walk_queue *q, int code, const valise_error *why)
{
    (void)pthread_mutex_lock(&q->lock);
    if (q->code == 0) {
        q->code = code;
        q->error = *why;
    }
    atomic_store_explicit(&q->stop, true, memory_order_relaxed);
    (void)pthread_cond_broadcast(&q->work);
    (void)pthread_mutex_unlock(&q->lock);
}

/* On the caller's thread. */
static int step(vls_walk_queue *q, valise_error *err)
{
    const vls_scan_options *options = q->walk->options;
    uint64_t entries = 0, bytes = 0, more_entries, more_bytes;
    int rc;

    if (!options->step)
        return 0;
    for (unsigned i = 0; i < q->workers_len; i++) {
        entries += atomic_load_explicit(&q->workers[i].entries, memory_order_relaxed);
        bytes += atomic_load_explicit(&q->workers[i].bytes, memory_order_relaxed);
    }
    more_entries = entries - q->told_entries;
    more_bytes = bytes - q->told_bytes;
    q->told_entries = entries;
    q->told_bytes = bytes;
    rc = options->step(options->self, more_entries, more_bytes, err);
    return rc > 0 ? vls_fail(err, VALISE_E_CANCELLED, "the scan was cancelled") : rc;
}

int vls_walk_tick(vls_walk_worker *w, valise_error *err)
{
    if (vls_walk_stopped(w))
        return vls_fail(err, VALISE_E_CANCELLED, "the scan was cancelled");
    return w->is_caller ? step(w->queue, err) : 0;
}

/* ---- jobs ---- */

int vls_walk_push(vls_walk_worker *w, valise_error *err)
{
    vls_walk_queue *q = w->queue;
    bool ok;

    if (w->fresh.len == 0)
        return 0;
    (void)pthread_mutex_lock(&q->lock);
    ok = vls_vec_reserve(&q->jobs, q->env, q->jobs.len + w->fresh.len);
    /* The first of them on top: it is done next. */
    for (size_t i = w->fresh.len; ok && i > 0; i--)
        q->jobs.ptr[q->jobs.len++] = w->fresh.ptr[i - 1];
    if (ok && q->idle > 0)
        (void)pthread_cond_broadcast(&q->work);
    (void)pthread_mutex_unlock(&q->lock);
    w->fresh.len = 0;
    return ok ? 0 : vls_fail_memory(err);
}

static int do_job(vls_walk_worker *w, const vls_walk_job *job, valise_error *err)
{
    if (job->kind == VLS_WALK_DIR)
        return vls_walk_do_dir(w, job->dir, err);
    return vls_walk_do_range(w, job->dir, job->from, job->to, job->kind == VLS_WALK_FILE, err);
}

/* Under the lock, until there is a job, or nothing is left to wait for. The caller comes back now
 * and then, to report. */
static void wait_for_work(vls_walk_worker *w)
{
    vls_walk_queue *q = w->queue;
    struct timespec until;

    q->idle++;
    if (w->is_caller && q->walk->options->step) {
        (void)clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += STEP_EVERY_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        (void)pthread_cond_timedwait(&q->work, &q->lock, &until);
    } else {
        (void)pthread_cond_wait(&q->work, &q->lock);
    }
    q->idle--;
}

/* 1: a job was taken; 0: nothing to do just now; -1: all is over. Under the lock. */
static int take(vls_walk_job *out, vls_walk_queue *q)
{
    if (atomic_load_explicit(&q->stop, memory_order_relaxed))
        return -1;
    if (q->jobs.len == 0)
        return q->busy > 0 ? 0 : -1;
    *out = q->jobs.ptr[--q->jobs.len];
    q->busy++;
    return 1;
}

static void work(vls_walk_worker *w)
{
    vls_walk_queue *q = w->queue;
    valise_error err = VALISE_ERROR_INIT;
    vls_walk_job job;
    int taken, rc;

    (void)pthread_mutex_lock(&q->lock);
    while ((taken = take(&job, q)) >= 0) {
        if (taken == 0)
            wait_for_work(w);
        (void)pthread_mutex_unlock(&q->lock);
        rc = taken ? do_job(w, &job, &err) : 0;
        if (rc == 0)
            rc = vls_walk_tick(w, &err);
        if (rc < 0)
            fail(q, rc, &err);
        (void)pthread_mutex_lock(&q->lock);
        q->busy -= (unsigned)taken;
    }
    (void)pthread_cond_broadcast(&q->work);
    (void)pthread_mutex_unlock(&q->lock);
}

static void *work_on_a_thread(void *arg)
{
    work(arg);
    return NULL;
}

/* As many as there can be, and how many these are: the caller works as well. */
static unsigned start_threads(vls_walk_queue *q)
{
    unsigned running = 1;

    for (; running < q->workers_len; running++) {
        vls_walk_worker *w = &q->workers[running];
        if (vls_thread_start(&w->thread, work_on_a_thread, w) != 0)
            break;
    }
    return running;
}

static int run(vls_walk_queue *q, valise_error *err)
{
    unsigned running = start_threads(q);
    int rc;

    work(&q->workers[0]);
    for (unsigned i = 1; i < running; i++)
        (void)pthread_join(q->workers[i].thread, NULL);
    rc = q->code;
    if (rc < 0 && err)
        *err = q->error;
    if (rc == 0)
        rc = step(q, err);
    for (unsigned i = 0; i < q->workers_len; i++) {
        q->walk->counts.skipped += q->workers[i].counts.skipped;
        q->walk->counts.ignored += q->workers[i].counts.ignored;
        q->walk->counts.hashed += q->workers[i].counts.hashed;
    }
    return rc;
}

int vls_walk_run(vls_walk *walk, valise_error *err)
{
    vls_walk_queue *q = walk->queue;
    vls_walk_worker *w = &q->workers[0];
    vls_walk_inside *root = NULL;
    int rc = vls_walk_new_dir(&root, w, NULL, &walk->root, err);

    if (rc < 0)
        return rc;
    if (walk->old->bytes) {
        walk->root.old = &vls_cache_head(walk->old)->root;
        root->dir.old = vls_cache_root(walk->old);
    }
    if (!vls_vec_push(&w->fresh, q->env, (vls_walk_job){.dir = root, .kind = VLS_WALK_DIR}))
        return vls_fail_memory(err);
    rc = vls_walk_push(w, err);
    return rc < 0 ? rc : run(q, err);
}

int vls_walk_run_jobs(vls_walk *walk, valise_error *err)
{
    int rc = vls_walk_push(&walk->queue->workers[0], err);

    return rc < 0 ? rc : run(walk->queue, err);
}

const valise_str *vls_walk_wider(size_t *count, const vls_walk *walk)
{
    *count = walk->queue->wider.len;
    return walk->queue->wider.ptr;
}

/* ---- problems ---- */

int vls_walk_problem(vls_walk_worker *w, const vls_walk_dir *dir, const char *name,
                     const valise_error *why, valise_error *err)
{
    vls_scan_problem problem = {.code = why->code};
    size_t slash = name && dir->path.len > 0, name_len = name ? strlen(name) : 0;
    char *path = vls_arena_alloc(&w->arena, dir->path.len + slash + name_len + 1);
    int rc;

    if (!path)
        return vls_arena_fail(&w->arena, err);
    memcpy(path, dir->path.ptr, dir->path.len);
    if (slash)
        path[dir->path.len] = '/';
    if (name_len > 0)
        memcpy(path + dir->path.len + slash, name, name_len);
    problem.path = vls_str(path, dir->path.len + slash + name_len);
    path[problem.path.len] = '\0';
    rc = vls_arena_dup(&problem.message, &w->arena, valise_str_of(why->message), err);
    if (rc < 0)
        return rc;
    return vls_vec_push(&w->problems, w->queue->env, problem) ? 0 : vls_fail_memory(err);
}

static int compare_problems(const void *a, const void *b)
{
    const vls_scan_problem *x = a, *y = b;
    int order = vls_path_compare(x->path, y->path);

    return order ? order : vls_str_compare(x->message, y->message);
}

int vls_walk_problems(vls_scan *out, const vls_walk *walk, valise_error *err)
{
    for (unsigned i = 0; i < walk->queue->workers_len; i++) {
        const vls_walk_worker *w = &walk->queue->workers[i];
        for (size_t k = 0; k < w->problems.len; k++) {
            vls_scan_problem copy = w->problems.ptr[k];
            int rc = vls_arena_dup(&copy.path, &out->arena, copy.path, err);
            if (rc == 0)
                rc = vls_arena_dup(&copy.message, &out->arena, copy.message, err);
            if (rc < 0)
                return rc;
            if (!vls_vec_push_in(&out->errors, &out->arena, copy))
                return vls_arena_fail(&out->arena, err);
        }
    }
    if (out->errors.len > 1)
        qsort(out->errors.ptr, out->errors.len, sizeof(vls_scan_problem), compare_problems);
    return 0;
}

/* ---- making and releasing ---- */

static void init_locks(vls_walk_queue *q)
{
    pthread_condattr_t monotonic;

    (void)pthread_mutex_init(&q->lock, NULL);
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&q->work, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
}

static void release_worker(vls_walk_worker *w, const valise_env *env)
{
    for (vls_walk_inside *d = w->dirs; d; d = d->next) {
        vls_ignore_unref(d->rules);
        if (d->fd != w->queue->root_fd)
            (void)vls_fd_close(d->fd);
    }
    vls_vec_release(&w->names, env);
    vls_vec_release(&w->fresh, env);
    vls_vec_release(&w->problems, env);
    vls_buf_release(&w->text);
    vls_buf_release(&w->path);
    vls_buf_release(&w->rules[0]);
    vls_buf_release(&w->rules[1]);
    vls_mem_free(env, w->buffer, VLS_WALK_BUFFER);
    vls_arena_release(&w->arena);
}

void vls_walk_release(vls_walk *walk)
{
    vls_walk_queue *q = walk->queue;

    if (!q)
        return;
    for (unsigned i = 0; i < q->workers_len && q->workers; i++)
        release_worker(&q->workers[i], q->env);
    vls_mem_free(q->env, q->workers, q->workers_len * sizeof(vls_walk_worker));
    vls_vec_release(&q->jobs, q->env);
    vls_vec_release(&q->wider, q->env);
    vls_ignore_unref(q->rules);
    (void)vls_fd_close(q->root_fd);
    (void)pthread_cond_destroy(&q->work);
    (void)pthread_mutex_destroy(&q->lock);
    vls_mem_free(q->env, q, sizeof(*q));
    walk->queue = NULL;
}

static int init_worker(vls_walk_worker *w, vls_walk_queue *q, valise_error *err)
{
    w->queue = q;
    w->is_caller = w == &q->workers[0];
    vls_arena_init(&w->arena, q->env, SIZE_MAX / 2);
    vls_buf_init(&w->text, q->env, SIZE_MAX / 2);
    vls_buf_init(&w->path, q->env, VLS_PATH_MAX);
    for (int i = 0; i < 2; i++)
        vls_buf_init(&w->rules[i], q->env, VLS_IGNORE_MAX_SIZE + 65536);
    atomic_init(&w->entries, 0);
    atomic_init(&w->bytes, 0);
    w->buffer = vls_mem_alloc(q->env, VLS_WALK_BUFFER);
    if (!w->buffer)
        return vls_fail_memory(err);
    return 0;
}

static unsigned count_threads(const vls_scan_options *options)
{
    long there = options->threads ? (long)options->threads : sysconf(_SC_NPROCESSORS_ONLN);
    long most = options->threads ? (long)VLS_WALK_MAX_THREADS : DEFAULT_THREADS;

    return (unsigned)VLS_MAX(VLS_MIN(there, most), 1);
}

static int init_workers(vls_walk_queue *q, valise_error *err)
{
    unsigned count = count_threads(q->walk->options);
    vls_node unreadable = {.kind = VLS_NODE_UNREADABLE};
    int rc = 0;

    q->workers = vls_mem_zalloc(q->env, count * sizeof(vls_walk_worker));
    if (!q->workers)
        return vls_fail_memory(err);
    q->workers_len = count;
    for (unsigned i = 0; i < count; i++)
        q->workers[i].queue = q;
    for (unsigned i = 0; i < count && rc == 0; i++)
        rc = init_worker(&q->workers[i], q, err);
    vls_node_hash(&unreadable);
    q->unreadable = unreadable.object;
    return rc;
}

static int open_root(vls_walk_queue *q, valise_error *err)
{
    const vls_scan_options *options = q->walk->options;
    struct stat st;

    q->root_fd = vls_fd_open_at(AT_FDCWD, options->root, VLS_WALK_DIR_FLAGS & ~O_NOFOLLOW, 0);
    if (q->root_fd < 0)
        return vls_fail_errno(err, "open", valise_str_of(options->root));
    q->has_store = options->store && stat(options->store, &st) == 0;
    if (q->has_store) {
        q->store_device = st.st_dev;
        q->store_inode = st.st_ino;
    }
    return 0;
}

int vls_walk_init(vls_walk *walk, const vls_scan_options *options, const vls_tree_cache *old,
                  int64_t clock_ns, valise_error *err)
{
    vls_walk_queue *q = vls_mem_zalloc(options->env, sizeof(*q));
    int rc;

    *walk = (vls_walk){.options = options, .old = old, .clock_ns = clock_ns, .queue = q};
    if (!q)
        return vls_fail_memory(err);
    walk->root.name = "";
    q->walk = walk;
    q->env = options->env;
    q->root_fd = -1;
    q->force = options->force;
    q->error = (valise_error)VALISE_ERROR_INIT;
    atomic_init(&q->open, 0);
    atomic_init(&q->stop, false);
    init_locks(q);
    rc = open_root(q, err);
    if (rc == 0)
        rc = vls_ignore_root(&q->rules, q->env, VLS_STR("ignore"), options->ignore, err);
    if (rc == 0)
        rc = init_workers(q, err);
    if (rc < 0)
        vls_walk_release(walk);
    return rc;
}
