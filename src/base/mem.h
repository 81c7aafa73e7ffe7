/* mem.h -- allocation through the environment.
 *
 * Every block is freed with the size that it was allocated with, so it needs no header and
 * accounting is exact. Overflow of sizes is checked here, once.
 *
 * Threads: as safe as the environment, which is shared. */
#ifndef VLS_MEM_H
#define VLS_MEM_H

#include "base/base.h"

/* Whether an environment that a host gives can be used: VALISE_E_INVALID. */
int vls_env_check(const valise_env *env, valise_error *err);

/* NULL when out of memory. A size of 0 is not allowed. */
static inline void *vls_mem_alloc(const valise_env *env, size_t size)
{
    assert(size > 0);
    return env->resize(env->self, NULL, 0, size);
}

static inline void *vls_mem_zalloc(const valise_env *env, size_t size)
{
    void *ptr = vls_mem_alloc(env, size);

    if (ptr)
        memset(ptr, 0, size);
    return ptr;
}

/* NULL leaves the old block as it was. */
static inline void *vls_mem_resize(const valise_env *env, void *ptr, size_t old_size, size_t size)
{
    assert(size > 0);
    return env->resize(env->self, ptr, old_size, size);
}

/* NULL is fine. */
static inline void vls_mem_free(const valise_env *env, void *ptr, size_t size)
{
    if (ptr)
        env->resize(env->self, ptr, size, 0);
}

/* count * size into *out; false on overflow. */
static inline bool vls_mem_multiply(size_t *out, size_t count, size_t size)
{
    return !__builtin_mul_overflow(count, size, out);
}

/* The capacity to grow to so that need fits: half as much again, at least start. Never
 * smaller than need. */
static inline size_t vls_mem_grow(size_t cap, size_t need, size_t start)
{
    size_t next = cap < start ? start : cap + cap / 2;

    return next < need ? need : next;
}

#endif
