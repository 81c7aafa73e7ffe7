/* env.c -- the environment of a program that brings none: malloc, the system's clocks and
 * getrandom. The only file that may call malloc. */
#define VLS_ALLOW_MALLOC
#include "base/base.h"

#include <errno.h>
#include <sys/random.h>
#include <time.h>

#include "base/mem.h"
#include "base/time.h"

static void *default_resize(void *self, void *ptr, size_t old_size, size_t new_size)
{
    (void)self;
    (void)old_size;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, new_size);
}

static int64_t read_clock(clockid_t id)
{
    struct timespec now = {0, 0};

    /* Neither clock can fail on a system we run on. */
    (void)clock_gettime(id, &now);
    return (int64_t)now.tv_sec * VLS_NS_PER_SECOND + now.tv_nsec;
}

static int64_t default_now_ns(void *self)
{
    (void)self;
    return read_clock(CLOCK_REALTIME);
}

static int64_t default_ticks_ns(void *self)
{
    (void)self;
    return read_clock(CLOCK_MONOTONIC);
}

static int default_random(void *self, void *bytes, size_t len)
{
    char *at = bytes;

    (void)self;
    while (len > 0) {
        ssize_t got = getrandom(at, len, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return -1;
        at += got;
        len -= (size_t)got;
    }
    return 0;
}

const valise_env *valise_env_default(void)
{
    static const valise_env env = {
        .size = sizeof(valise_env),
        .self = NULL,
        .resize = default_resize,
        .now_ns = default_now_ns,
        .ticks_ns = default_ticks_ns,
        .random = default_random,
    };

    return &env;
}

int vls_env_check(const valise_env *env, valise_error *err)
{
    if (env->size < sizeof(*env))
        return vls_fail(err, VALISE_E_INVALID,
                        "valise_env has a size of %zu: set it to sizeof(env)", env->size);
    if (!env->resize || !env->now_ns || !env->ticks_ns || !env->random)
        return vls_fail(err, VALISE_E_INVALID,
                        "valise_env lacks a function: fill in all four, resize to random");
    return 0;
}
