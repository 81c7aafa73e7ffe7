/* group.h -- group commit: many callers, one transaction at a time.
 *
 * Callers queue up. One of them *leads*: it takes what is queued, runs it as one group on its own
 * thread, hands the lead to the first who came meanwhile, and wakes those it served. With one
 * caller nobody is ever woken. There is no writer thread.
 *
 *     submit --> queue --> [ leader: gather, take, run, hand over, wake ] --> back to the callers
 *
 * Each caller sleeps on its own semaphore. If a commit waits for the disk, groups should be large:
 * the leader waits up to VLS_GROUP_GATHER_NS until as many callers are queued as were served last
 * time (who are likely to come back) and were waiting then. A wait in vain halves its patience; a
 * successful one restores it.
 *
 * Threads: vls_group is shared; an item is single until submit returns. */
#ifndef VLS_GROUP_H
#define VLS_GROUP_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "base/base.h"

#define VLS_GROUP_MAX_COMMANDS 64u
#define VLS_GROUP_MAX_BYTES ((size_t)4 << 20)
#define VLS_GROUP_GATHER_NS INT64_C(100000)

typedef struct vls_group_item {
    struct vls_group_item *next;
    size_t commands; /* how much it is, for the limits of a group */
    size_t bytes;
    bool lead; /* woken to lead, not because it was served */
    sem_t wake;
} vls_group_item;

/* Run the items of a group, linked by next, in this order. */
typedef void vls_group_fn(void *self, vls_group_item *first, size_t count);

typedef struct vls_group {
    const valise_env *env;
    vls_group_fn *run;
    void *self;
    bool gather; /* a commit waits for the disk */

    pthread_mutex_t lock; /* over the queue and `led` */
    vls_group_item *first, **last;
    bool led;

    _Atomic size_t queued;
    size_t expected;         /* this and the next are the leader's: how many to gather, */
    int64_t patience_ns;     /* and for how long */
    _Atomic uint64_t leader; /* thread that runs a group now, or 0 */
} vls_group;

void vls_group_init(vls_group *group, const valise_env *env, vls_group_fn *run, void *self,
                    bool gather);
void vls_group_release(vls_group *group); /* nobody is in it; a zeroed one is fine */

/* Returns when a group with this item was run. Afterwards the caller may be the one who has time
 * to publish: `run` was called on this thread when *led is true (NULL is fine). */
void vls_group_submit(bool *led, vls_group *group, vls_group_item *item);

/* Is anybody leading? By the time one knows, that may be over. */
bool vls_group_is_led(vls_group *group);

/* Is this thread inside `run`? Then it must not submit. */
bool vls_group_is_leader(vls_group *group);

#endif
