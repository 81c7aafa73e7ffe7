/* counting_env.h -- an environment whose allocator counts, checks sizes and can be told to fail.
 *
 * Each block is checked: the size given back must be the size that was asked for. The clock and
 * the random bytes are the system's unless a test replaces them.
 *
 * Threads: shared. */
#ifndef COUNTING_ENV_H
#define COUNTING_ENV_H

#include <stdatomic.h>

#include "base/base.h"

typedef struct counting_env {
    valise_env env;
    atomic_size_t bytes, blocks;
    atomic_llong calls;   /* allocations and growths so far, without those while paused */
    atomic_llong fail_at; /* the call that fails; below 0: none */
    atomic_bool onward;   /* every later call fails too */
    atomic_bool paused;   /* calls succeed and are not counted */
    atomic_bool failed;   /* whether one was made to fail */
} counting_env;

void counting_env_init(counting_env *c);
size_t counting_env_in_use(const counting_env *c);
size_t counting_env_blocks(const counting_env *c);

/* Let the nth allocation from now fail (0: the next), or all from the nth on. Negative: none. */
void counting_env_fail_at(counting_env *c, long long n);
void counting_env_fail_from(counting_env *c, long long n);

/* Count one allocation of a library that does not allocate from the environment; true when it
 * shall fail. */
bool counting_env_count(counting_env *c);

#endif
