/* valise/sys/env.h -- what Valise takes from the world: memory, time and randomness.
 *
 * A host passes its own valise_env at open if it wants its own allocator, a test if it wants a
 * clock that jumps back, a replay if it wants the same ids again. The functions must be safe to
 * call from several threads at once. The struct must outlive every handle that was opened with it.
 *
 * Threads: shared. */
#ifndef VALISE_SYS_ENV_H
#define VALISE_SYS_ENV_H

#include <stddef.h>
#include <stdint.h>

#include <valise/api.h>

VALISE_BEGIN

typedef struct valise_env {
    size_t size; /* sizeof(valise_env) */
    void *self;  /* passed to every function */

    /* Allocate (ptr NULL), resize, or free (new_size 0; returns NULL). old_size is exactly the size
     * asked for before. The result is aligned for any type. NULL means out of memory; the old block
     * is then unchanged. */
    void *(*resize)(void *self, void *ptr, size_t old_size, size_t new_size);

    /* Wall clock in nanoseconds since 1970-01-01 UTC. It may jump. */
    int64_t (*now_ns)(void *self);

    /* Monotonic clock in nanoseconds since some fixed point. */
    int64_t (*ticks_ns)(void *self);

    /* Fill bytes with unpredictable ones. Returns 0, or a negative number if that is not possible.
     */
    int (*random)(void *self, void *bytes, size_t len);
} valise_env;

/* The default environment: malloc, clock_gettime and getrandom. Static: never released. */
VALISE_API const valise_env *valise_env_default(void);

VALISE_END

#endif
