/* fake_env.h -- an environment whose clocks and random bytes the test sets by hand.
 *
 *     fake_env fake;
 *     const valise_env *env = fake_env_init(&fake, t->env);
 *     fake.now_ns = ...;
 *
 * Memory is that of the environment it is made from. */
#ifndef FAKE_ENV_H
#define FAKE_ENV_H

#include "harness/test.h"

typedef struct fake_env {
    valise_env env;
    const valise_env *below;
    int64_t now_ns, ticks_ns;
    int ticks_reads, random_calls;
    bool random_fails;
    bool random_fixed; /* every byte is `fixed` */
    uint8_t fixed;
    test_rng rng;
} fake_env;

static void *fake_resize(void *self, void *ptr, size_t old_size, size_t new_size)
{
    fake_env *fake = self;

    return fake->below->resize(fake->below->self, ptr, old_size, new_size);
}

static int64_t fake_now_ns(void *self)
{
    return ((fake_env *)self)->now_ns;
}

static int64_t fake_ticks_ns(void *self)
{
    fake_env *fake = self;

    fake->ticks_reads++;
    return fake->ticks_ns;
}

static int fake_random(void *self, void *bytes, size_t len)
{
    fake_env *fake = self;

    fake->random_calls++;
    if (fake->random_fails)
        return -1;
    for (size_t i = 0; i < len; i++)
        ((uint8_t *)bytes)[i] = fake->random_fixed ? fake->fixed : (uint8_t)test_random(&fake->rng);
    return 0;
}

static inline const valise_env *fake_env_init(fake_env *fake, const valise_env *below)
{
    *fake = (fake_env){
        .env = {sizeof(valise_env), fake, fake_resize, fake_now_ns, fake_ticks_ns, fake_random},
        .below = below,
        .rng = test_rng_new(1),
    };
    return &fake->env;
}

#endif
