/* group.c -- the queue, its leader, and how the lead is handed over.
 *
 * Invariants: `led` is true from the moment somebody leads until a leader finds the queue empty;
 * the leader's own item is the first of the queue; an item that was served and posted is not
 * touched again, since its caller may be gone. */
#include "bus/group.h"

#include <errno.h>
#include <sched.h>

_Static_assert(sizeof(pthread_t) <= sizeof(uint64_t), "a thread is named by a number");

void vls_group_init(vls_group *group, const valise_env *env, vls_group_fn *run, void *self,
                    bool gather)
{
    *group = (vls_group){.env = env, .run = run, .self = self, .gather = gather};
    pthread_mutex_init(&group->lock, NULL);
    group->last = &group->first;
    group->patience_ns = VLS_GROUP_GATHER_NS;
}

void vls_group_release(vls_group *group)
{
    if (!group->run)
        return;
    assert(!group->first && !group->led);
    pthread_mutex_destroy(&group->lock);
    *group = (vls_group){.run = NULL};
}

bool vls_group_is_leader(vls_group *group)
{
    return atomic_load_explicit(&group->leader, memory_order_relaxed) == (uint64_t)pthread_self();
}

bool vls_group_is_led(vls_group *group)
{
    bool led;

    pthread_mutex_lock(&group->lock);
    led = group->led;
    pthread_mutex_unlock(&group->lock);
    return led;
}

/* Put the item in; true when its caller has to lead. */
static bool enqueue(vls_group *group, vls_group_item *item)
{
    bool lead;

    pthread_mutex_lock(&group->lock);
    *group->last = item;
    group->last = &item->next;
    atomic_fetch_add_explicit(&group->queued, 1, memory_order_relaxed);
    lead = !group->led;
    group->led = true;
    pthread_mutex_unlock(&group->lock);
    return lead;
}

/* Give those who were just served the time to come back. */
static void gather(vls_group *group)
{
    const valise_env *env = group->env;
    int64_t until = 0;

    while (atomic_load_explicit(&group->queued, memory_order_relaxed) < group->expected) {
        int64_t now = env->ticks_ns(env->self);
        if (until == 0)
            until = now + group->patience_ns;
        if (now >= until) {
            group->patience_ns /= 2;
            return;
        }
        sched_yield();
    }
    group->patience_ns = VLS_GROUP_GATHER_NS;
}

/* Take the first items of the queue, as many as make a group; one at least. */
static vls_group_item *take(vls_group *group, size_t *count)
{
    size_t commands = 0, bytes = 0, n = 0;
    vls_group_item **at = &group->first;

    pthread_mutex_lock(&group->lock);
    vls_group_item *first = group->first;
    while (*at) {
        commands += (*at)->commands;
        bytes += (*at)->bytes;
        if (n > 0 && (commands > VLS_GROUP_MAX_COMMANDS || bytes > VLS_GROUP_MAX_BYTES))
            break;
        n++;
        at = &(*at)->next;
    }
    vls_group_item *rest = *at;
    *at = NULL;
    group->first = rest;
    if (!rest)
        group->last = &group->first;
    atomic_fetch_sub_explicit(&group->queued, n, memory_order_relaxed);
    pthread_mutex_unlock(&group->lock);
    *count = n;
    return first;
}

/* Let the first one in the queue lead from now on. */
static void hand_over(vls_group *group, size_t served)
{
    pthread_mutex_lock(&group->lock);
    vls_group_item *next = group->first;
    group->expected = served + atomic_load_explicit(&group->queued, memory_order_relaxed);
    group->expected = VLS_MIN(group->expected, VLS_GROUP_MAX_COMMANDS);
    group->led = next != NULL;
    if (next)
        next->lead = true;
    pthread_mutex_unlock(&group->lock);
    if (next)
        sem_post(&next->wake);
}

static void lead(vls_group *group, const vls_group_item *own)
{
    size_t count;

    if (group->gather)
        gather(group);
    vls_group_item *item = take(group, &count);
    assert(item == own);

    atomic_store_explicit(&group->leader, (uint64_t)pthread_self(), memory_order_relaxed);
    group->run(group->self, item, count);
    atomic_store_explicit(&group->leader, 0, memory_order_relaxed);

    hand_over(group, count);
    while (item) {
        vls_group_item *next = item->next;
        if (item != own)
            sem_post(&item->wake);
        item = next;
    }
}

static void wait_for(vls_group_item *item)
{
    while (sem_wait(&item->wake) < 0)
        assert(errno == EINTR);
}

void vls_group_submit(bool *led, vls_group *group, vls_group_item *item)
{
    bool leads;

    assert(!vls_group_is_leader(group));
    item->next = NULL;
    item->lead = false;
    sem_init(&item->wake, 0, 0);
    leads = enqueue(group, item);
    if (!leads) {
        wait_for(item);
        leads = item->lead;
    }
    if (leads)
        lead(group, item);
    sem_destroy(&item->wake);
    if (led)
        *led = leads;
}
