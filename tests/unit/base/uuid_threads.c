/* uuid_threads.c -- one generator and one clock, used by several threads. [K3] */
#include <pthread.h>

#include "harness/test.h"

#include "base/time.h"
#include "base/uuid.h"

#define THREADS 4
#define IDS_EACH 2000

typedef struct maker {
    pthread_t thread;
    vls_uuid_gen *gen;
    vls_clock *clock;
    valise_uuid ids[IDS_EACH];
    int rc;
    bool went_back;
} maker;

static void *make_ids(void *arg)
{
    maker *m = arg;
    int64_t last_ns = INT64_MIN;

    for (int i = 0; i < IDS_EACH && m->rc == 0; i++) {
        m->rc = vls_uuid_new(&m->ids[i], m->gen, NULL);
        int64_t now_ns = vls_clock_now_ns(m->clock);
        m->went_back |= now_ns < last_ns;
        last_ns = now_ns;
    }
    return NULL;
}

static int compare_ids(const void *a, const void *b)
{
    return vls_uuid_compare(a, b);
}

/* A clock that jumps back and forth by milliseconds, differently for each thread that asks. */
static int64_t jumping_now_ns(void *self)
{
    int64_t now_ns = valise_env_default()->now_ns(NULL);

    (void)self;
    return now_ns + (now_ns >> 8) % 7 * 3000000;
}

TEST(uuid_threads, ids_are_unique_and_each_thread_sees_them_grow)
{
    static maker makers[THREADS];
    static valise_uuid all[THREADS * IDS_EACH];
    valise_env env = *t->env;
    vls_uuid_gen gen;
    vls_clock clock;

    env.now_ns = jumping_now_ns;
    vls_uuid_gen_init(&gen, &env);
    vls_clock_init(&clock, &env);
    for (int i = 0; i < THREADS; i++) {
        makers[i] = (maker){.gen = &gen, .clock = &clock};
        CHECK_INT(0, pthread_create(&makers[i].thread, NULL, make_ids, &makers[i]));
    }
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(0, pthread_join(makers[i].thread, NULL));
    for (int i = 0; i < THREADS; i++) {
        CHECK_INT(0, makers[i].rc);
        CHECK(!makers[i].went_back);
        for (int j = 1; j < IDS_EACH; j++)
            CHECK(vls_uuid_compare(&makers[i].ids[j - 1], &makers[i].ids[j]) < 0);
        memcpy(all + i * IDS_EACH, makers[i].ids, sizeof(makers[i].ids));
    }
    qsort(all, VLS_COUNT(all), sizeof(all[0]), compare_ids);
    for (size_t i = 1; i < VLS_COUNT(all); i++)
        CHECK(!vls_uuid_equal(&all[i - 1], &all[i]));
    vls_uuid_gen_release(&gen);
}
