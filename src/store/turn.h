/* turn.h -- a lock for the turn to write.
 *
 * The lock is not bound to a thread, since a transaction may be passed on, and nobody waits for it
 * longer than they want to.
 *
 * Threads: shared. */
#ifndef VLS_STORE_TURN_H
#define VLS_STORE_TURN_H

#include <pthread.h>

#include "base/base.h"

typedef struct vls_turn {
    const valise_env *env;
    pthread_mutex_t lock;
    pthread_cond_t free;
    bool taken;
} vls_turn;

void vls_turn_init(vls_turn *turn, const valise_env *env);
void vls_turn_release(vls_turn *turn); /* nobody may have it or wait for it */

/* False when it was not to be had before the clock of env said deadline_ns. */
bool vls_turn_take(vls_turn *turn, int64_t deadline_ns) VLS_NODISCARD;
void vls_turn_give(vls_turn *turn);

#endif
