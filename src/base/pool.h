/* pool.h -- threads that run tasks, in groups that can be waited for and cancelled.
 *
 *     vls_pool_group group;
 *     vls_pool_group_init(&group, pool, NULL);
 *     for (...) {
 *         rc = vls_pool_submit(&group, hash_file, &files[i], err);
 *         if (rc < 0)
 *             break;
 *     }
 *     rc = vls_pool_wait(&group, err);     the first error of any task
 *
 * Tasks wait in one queue of fixed size, first in, first out. When it is full, whoever submits is
 * slowed down. A thread of the host waits for room. A task runs the new task itself, at once: if
 * tasks waited for room, all threads might be waiting and none would make any. This nests at most
 * VLS_POOL_MAX_DEPTH deep; below that, the new task goes into the queue beyond its size.
 *
 * So two rules for tasks:
 * - A submit may run another task with the same scratch before it returns. Do not submit in the
 *   middle of something that lives in the scratch, nor with a lock held that tasks take.
 * - Tasks may submit to their own group, and may wait for other groups that they made (the wait
 *   then runs tasks of that group meanwhile); a task that waits for its own group waits forever.
 *   Nest such waits to a fixed depth only: each level takes stack.
 *
 * A pool without threads runs every task within its submit: one after the other, in the same
 * order each time.
 *
 * Threads: vls_pool is shared. vls_pool_group is shared, but one thread initialises and waits. */
#ifndef VLS_POOL_H
#define VLS_POOL_H

#include <stdatomic.h>

#include "base/base.h"

#define VLS_POOL_MAX_THREADS 256u
#define VLS_POOL_MAX_DEPTH 16u

typedef struct vls_pool vls_pool;

typedef struct vls_pool_options {
    unsigned threads;   /* 0: no threads, see above; VLS_POOL_MAX_THREADS at most */
    unsigned queue_max; /* tasks that may wait; 0: 256; 65,536 at most */

    /* What each thread has for itself, such as a buffer; tasks get it. Both may be NULL. Made
     * and released by the threads that make and free the pool. */
    int (*scratch_init)(void **scratch, void *scratch_arg, valise_error *err);
    void (*scratch_release)(void *scratch, void *scratch_arg);
    void *scratch_arg;
} vls_pool_options;

typedef struct vls_pool_group {
    vls_pool *pool;
    void (*drop)(void *arg);
    atomic_bool cancelled;
    size_t pending; /* this and the rest under the pool's lock: tasks that are not over yet */
    int code;       /* of the first task that failed, or 0 */
    valise_error error;
} vls_pool_group;

/* Returns 0 or a negative code with err filled. Long tasks ask vls_pool_cancelled(group). */
typedef int vls_pool_fn(void *arg, void *scratch, vls_pool_group *group, valise_error *err);

/* Start a pool; free it with vls_pool_free. When not all threads can be started it has fewer,
 * but at least one: else VALISE_E_LIMIT. VALISE_E_INVALID, VALISE_E_NO_MEMORY, and what
 * scratch_init returned. All signals are blocked in the threads. */
int vls_pool_new(vls_pool **out, const valise_env *env, const vls_pool_options *options,
                 valise_error *err);

/* End the threads and free the pool. Every group must be over. NULL is fine. */
void vls_pool_free(vls_pool *pool);

/* How many threads there are; 0 for a pool that runs tasks within submit. */
unsigned vls_pool_threads(const vls_pool *pool);

/* A group is used once: submit, wait, release. drop (which may be NULL) gets the arg of each
 * task that was taken in but will never run, on the thread that cancelled or whose task failed;
 * the group is not over before. */
void vls_pool_group_init(vls_pool_group *group, vls_pool *pool, void (*drop)(void *arg));

/* If it was not waited for: cancel and wait. A zeroed group is fine. */
void vls_pool_group_release(vls_pool_group *group);

/* Have fn(arg) run. VALISE_E_CANCELLED when the group was cancelled or a task has failed, and
 * VALISE_E_NO_MEMORY: the task will then not run, and arg stays the caller's without a drop. */
int vls_pool_submit(vls_pool_group *group, vls_pool_fn *fn, void *arg, valise_error *err);

/* Wait until no task of the group is left. Returns the code of the task that failed first, with
 * its error; VALISE_E_CANCELLED when none failed but the group was cancelled; else 0. Calling it
 * again gives the same. */
int vls_pool_wait(vls_pool_group *group, valise_error *err);

/* Wait for so long at most; true when no task is left. For threads that report progress
 * meanwhile; not for tasks. */
bool vls_pool_wait_for(vls_pool_group *group, int64_t timeout_ns);

/* Drop the tasks that have not begun and ask the others to stop. Any thread may call it as long
 * as the group is not released; it does not wait. A task that fails does the same to its group. */
void vls_pool_cancel(vls_pool_group *group);

static inline bool vls_pool_cancelled(vls_pool_group *group)
{
    return atomic_load_explicit(&group->cancelled, memory_order_relaxed);
}

static inline void vls_auto_pool(vls_pool **pool)
{
    vls_pool_free(*pool);
}

static inline void vls_auto_pool_group(vls_pool_group *group)
{
    vls_pool_group_release(group);
}

#endif
