/* env_threads.c -- the default environment is shared: any thread may use it at any time. */
#include <pthread.h>

#include "harness/test.h"

#include "base/mem.h"

#define THREADS 4
#define ROUNDS 1000

typedef struct worker {
    pthread_t id;
    int64_t last_ticks_ns;
    size_t troubles; /* threads must not call CHECK, which jumps */
} worker;

static void use_env(worker *w, const valise_env *env, size_t size)
{
    uint8_t draw[2][16] = {{0}, {0}};
    char *block = vls_mem_alloc(env, size);

    if (!block) {
        w->troubles++;
        return;
    }
    memset(block, (int)size, size);
    char *larger = vls_mem_resize(env, block, size, size * 2);
    if (!larger || larger[size - 1] != (char)size)
        w->troubles++;
    vls_mem_free(env, larger ? larger : block, larger ? size * 2 : size);

    int64_t ticks_ns = env->ticks_ns(env->self);
    if (ticks_ns < w->last_ticks_ns || env->now_ns(env->self) <= 0)
        w->troubles++;
    w->last_ticks_ns = ticks_ns;
    if (env->random(env->self, draw[0], 16) != 0 || env->random(env->self, draw[1], 16) != 0 ||
        memcmp(draw[0], draw[1], 16) == 0)
        w->troubles++;
}

static void *work(void *arg)
{
    for (size_t i = 0; i < ROUNDS; i++)
        use_env(arg, valise_env_default(), 1 + i % 500);
    return NULL;
}

TEST(env_threads, default_serves_several_threads_at_once)
{
    worker workers[THREADS] = {0};
    int started = 0;

    while (started < THREADS &&
           pthread_create(&workers[started].id, NULL, work, &workers[started]) == 0)
        started++;
    for (int i = 0; i < started; i++)
        CHECK_INT(0, pthread_join(workers[i].id, NULL));
    CHECK_INT(THREADS, started);
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(0, workers[i].troubles);
}
