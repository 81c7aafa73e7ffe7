/* threads.h -- several things at once, and all of them over when it returns.
 *
 *     static int hash_one(void *arg, size_t i, const atomic_bool *stop, valise_error *err);
 *
 *     const vls_threads_work work = {.count = 100, .threads = 4, .item = hash_one, .arg = files};
 *     rc = vls_threads_run(&work, err);     the first error of any item
 *
 * Items are begun in their order, and whoever takes one runs it. So when one fails, all before it
 * have been run or still are, and soon nothing behind it begins: who wants the first error by order
 * and not by time finds it among what has run.
 *
 * An item may run items of its own: its thread then waits like any caller. How many threads there
 * are in all is for the callers to limit.
 *
 * Threads: a run is single, its items are on several threads. */
#ifndef VLS_THREADS_H
#define VLS_THREADS_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/base.h"

#define VLS_THREADS_MAX 64u

typedef struct vls_threads_work {
    size_t count;     /* of items, from 0 */
    unsigned threads; /* VLS_THREADS_MAX at most. 0, or if none can be started: the items run on
                       * the caller's thread, one after the other */

    /* On any thread. One that takes long ends when *stop becomes true, with any error. */
    int (*item)(void *arg, size_t i, const atomic_bool *stop, valise_error *err);

    /* On the caller's thread, while it waits: every look_ns, or after each item that it ran itself.
     * For progress, and to cancel: a negative result stops it all, and is the result unless an
     * item had failed before. Then it is not called again; if an item fails, it still is. NULL:
     * there is nothing to ask. */
    int (*look)(void *arg, valise_error *err);
    int64_t look_ns;
    void *arg;
} vls_threads_work;

/* Run all items: 0, or the error of the item or look that failed first. No thread is left. */
int vls_threads_run(const vls_threads_work *work, valise_error *err);

/* Start a thread of our own, to be joined: all signals are blocked in it, since a host's signals
 * are for the host's threads. 0, or what pthread_create said. */
int vls_thread_start(pthread_t *out, void *(*body)(void *arg), void *arg);

#endif
