/* turn.c -- a flag, and a condition for those who wait. */
#include "store/turn.h"

#include <time.h>

#include "base/time.h"

/* The clock of env may not be the one that the condition waits by: it is asked this often. */
#define LONGEST_WAIT_NS (VLS_NS_PER_SECOND / 20)

/* None of these can fail on Linux with these attributes. */
void vls_turn_init(vls_turn *turn, const valise_env *env)
{
    pthread_condattr_t monotonic;

    turn->env = env;
    turn->taken = false;
    (void)pthread_mutex_init(&turn->lock, NULL);
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&turn->free, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
}

void vls_turn_release(vls_turn *turn)
{
    assert(!turn->taken);
    (void)pthread_cond_destroy(&turn->free);
    (void)pthread_mutex_destroy(&turn->lock);
}

static void wait_ns(vls_turn *turn, int64_t ns)
{
    struct timespec until = {0, 0};

    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)VLS_MIN(ns, LONGEST_WAIT_NS);
    if (until.tv_nsec >= VLS_NS_PER_SECOND) {
        until.tv_nsec -= VLS_NS_PER_SECOND;
        until.tv_sec++;
    }
    (void)pthread_cond_timedwait(&turn->free, &turn->lock, &until);
}

bool vls_turn_take(vls_turn *turn, int64_t deadline_ns)
{
    bool mine;

    (void)pthread_mutex_lock(&turn->lock);
    while (turn->taken) {
        int64_t now = turn->env->ticks_ns(turn->env->self);
        if (now >= deadline_ns)
            break;
        wait_ns(turn, deadline_ns - now);
    }
    mine = !turn->taken;
    turn->taken = true;
    (void)pthread_mutex_unlock(&turn->lock);
    return mine;
}

void vls_turn_give(vls_turn *turn)
{
    (void)pthread_mutex_lock(&turn->lock);
    assert(turn->taken);
    turn->taken = false;
    (void)pthread_cond_signal(&turn->free);
    (void)pthread_mutex_unlock(&turn->lock);
}
