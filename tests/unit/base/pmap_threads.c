/* pmap_threads.c -- snapshots and blobs on other threads. Worth most with -fsanitize=thread.
 *
 * The main thread changes one map and hands snapshots to the others. Each of those reads its
 * snapshot, changes it, takes snapshots of it and drops them, while the main thread goes on
 * changing nodes that all of them share. Checks outside the main thread only take note: a failed
 * CHECK jumps, which must not leave its thread. */
#include <pthread.h>
#include <sched.h>

#include "pmap_kit.h"

#include "base/blob.h"

#define THREADS 3
#define ROUNDS 300u
#define KEYS 600u

/* Every map a thread gets holds all of KEYS: it was filled, and keys are only replaced. */
typedef struct worker {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    vls_pmap next; /* a snapshot to work on; root NULL: none yet */
    bool done;
    unsigned seed;
    size_t worked, wrong;
} worker;

/* No counter of calls, unlike thing_key. */
static valise_str plain_key(const void *item)
{
    const thing *it = item;

    return (valise_str){it->key, it->len};
}

static void plain_ref(void *item)
{
    vls_ref_get(&((thing *)item)->refs);
}

static const vls_pmap_ops plain_ops = {plain_key, plain_ref, thing_unref};

static valise_str key_of(char *text, size_t size, unsigned number)
{
    return (valise_str){text, (size_t)snprintf(text, size, "run:1:item:%06u", number)};
}

static size_t count_items(const vls_pmap *map)
{
    vls_pmap_cursor c;
    size_t count = 0;

    for (void *item = vls_pmap_first(&c, map); item; item = vls_pmap_next(&c))
        count += plain_key(item).len > 0;
    return count;
}

static int count_report(void *arg, void *in_a, void *in_b)
{
    *(size_t *)arg += in_a && in_b;
    return 0;
}

/* Read a snapshot, make it ours step by step, and see that a snapshot of that one stays. */
static size_t work_on(vls_pmap *map, test_rng *rng)
{
    vls_pmap before;
    size_t wrong = 0, changed = 0, first = map->len;
    char text[32];

    wrong += count_items(map) != map->len;
    vls_pmap_snapshot(&before, map);
    for (unsigned i = 0; i < 40; i++) {
        valise_str key = key_of(text, sizeof(text), (unsigned)test_random_below(rng, KEYS));
        if (i % 4 == 3) {
            int rc = vls_pmap_remove(NULL, map, key);
            wrong += rc != 0 && rc != VALISE_E_NOT_FOUND;
        } else {
            wrong += !vls_pmap_get(&before, key);
            thing *own = vls_pmap_get(&before, key);
            wrong += vls_pmap_put(NULL, map, own) != 0;
        }
    }
    wrong += vls_pmap_diff(&before, map, count_report, &changed) != 0 || changed != 0;
    wrong += count_items(&before) != first || count_items(map) != map->len;
    vls_pmap_release(&before);
    return wrong;
}

static void *thread_main(void *arg)
{
    worker *w = arg;
    test_rng rng = test_rng_new(w->seed);

    for (;;) {
        pthread_mutex_lock(&w->lock);
        while (!w->next.root && !w->done)
            pthread_cond_wait(&w->wake, &w->lock);
        vls_pmap map = w->next;
        w->next.root = NULL;
        pthread_mutex_unlock(&w->lock);
        if (!map.root)
            return NULL;
        w->wrong += work_on(&map, &rng);
        w->worked++;
        vls_pmap_release(&map);
    }
}

/* Give the worker a snapshot, unless it has not taken its last one yet. */
static void offer(worker *w, const vls_pmap *map)
{
    pthread_mutex_lock(&w->lock);
    if (!w->next.root) {
        vls_pmap_snapshot(&w->next, map);
        pthread_cond_signal(&w->wake);
    }
    pthread_mutex_unlock(&w->lock);
}

static void fill_map(test *t, vls_pmap *map, const valise_env *env)
{
    char text[32];

    for (unsigned i = 0; i < KEYS; i++) {
        thing *item = thing_new(env, key_of(text, sizeof(text), i));
        CHECK_OK(vls_pmap_put(NULL, map, item));
        thing_unref(item);
    }
}

static void change_some(test *t, vls_pmap *map, const valise_env *env, test_rng *rng)
{
    char text[32];

    for (unsigned i = 0; i < 30; i++) {
        unsigned number = (unsigned)test_random_below(rng, KEYS);
        thing *item = thing_new(env, key_of(text, sizeof(text), number));
        /* Out and in again, so that nodes are joined and split as well. */
        if (i % 5 == 0)
            CHECK_OK(vls_pmap_remove(NULL, map, plain_key(item)));
        CHECK_OK(vls_pmap_put(NULL, map, item));
        thing_unref(item);
    }
}

TEST(pmap_threads, snapshots_are_used_while_the_map_changes)
{
    static worker workers[THREADS];
    vls_pmap map;
    uint64_t seed = test_seed();
    test_rng rng = test_rng_new(seed);
    counting_env c;
    size_t worked = 0;

    counting_env_init(&c);
    vls_pmap_init(&map, &c.env, &plain_ops);
    fill_map(t, &map, &c.env);
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (worker){.seed = (unsigned)seed + i};
        CHECK_INT(0, pthread_mutex_init(&workers[i].lock, NULL));
        CHECK_INT(0, pthread_cond_init(&workers[i].wake, NULL));
        CHECK_INT(0, pthread_create(&workers[i].thread, NULL, thread_main, &workers[i]));
    }
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < THREADS; i++)
            offer(&workers[i], &map);
        change_some(t, &map, &c.env, &rng);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_mutex_lock(&workers[i].lock);
        workers[i].done = true;
        pthread_cond_signal(&workers[i].wake);
        pthread_mutex_unlock(&workers[i].lock);
        CHECK_INT(0, pthread_join(workers[i].thread, NULL));
        CHECK_INT(0, workers[i].wrong);
        worked += workers[i].worked;
        pthread_cond_destroy(&workers[i].wake);
        pthread_mutex_destroy(&workers[i].lock);
    }
    test_note("%zu snapshots worked on by %d threads", worked, THREADS);
    CHECK(worked >= THREADS);
    check_tree(&map, false);
    check_counts(&map, NULL, 1);
    vls_pmap_release(&map);
    CHECK_INT(0, counting_env_in_use(&c));
}

/* ---- the count alone ---- */

typedef struct reader {
    pthread_t thread;
    vls_pmap map;
    valise_blob *blob;
    size_t count;
} reader;

/* Read everything, then let go. Nothing but the count tells the others that we are done. */
static void *read_and_release(void *arg)
{
    reader *r = arg;

    r->count = count_items(&r->map);
    vls_pmap_release(&r->map);
    return NULL;
}

TEST(pmap_threads, count_alone_says_that_a_node_may_be_changed)
{
    vls_pmap map;
    reader r;
    test_rng rng = test_rng_new(test_seed());

    vls_pmap_init(&map, t->env, &plain_ops);
    fill_map(t, &map, t->env);
    for (unsigned round = 0; round < 20; round++) {
        vls_pmap_snapshot(&r.map, &map);
        CHECK_INT(0, pthread_create(&r.thread, NULL, read_and_release, &r));
        while (!vls_ref_single(&map.root->refs))
            sched_yield();
        change_some(t, &map, t->env, &rng); /* in place: writes where the other one read */
        CHECK_INT(0, pthread_join(r.thread, NULL));
        CHECK_INT(KEYS, r.count);
    }
    vls_pmap_release(&map);
}

static void *read_blob(void *arg)
{
    reader *r = arg;
    valise_str bytes = vls_blob_bytes(r->blob);

    for (size_t i = 0; i < bytes.len; i++)
        r->count += bytes.ptr[i] == 'b';
    valise_blob_unref(r->blob);
    return NULL;
}

/* Whoever is last frees what the others have read. */
TEST(pmap_threads, last_reference_frees_a_blob)
{
    for (unsigned round = 0; round < 20; round++) {
        reader readers[THREADS];
        valise_blob *blob = NULL;

        CHECK_OK(vls_blob_new_draft(&blob, t->env, 1000, &t->err));
        memset(vls_blob_draft(blob), 'b', 1000);
        vls_blob_seal(blob);
        for (unsigned i = 0; i < THREADS; i++)
            readers[i] = (reader){.blob = valise_blob_ref(blob)};
        for (unsigned i = 0; i < THREADS; i++)
            CHECK_INT(0, pthread_create(&readers[i].thread, NULL, read_blob, &readers[i]));
        valise_blob_unref(blob);
        for (unsigned i = 0; i < THREADS; i++) {
            CHECK_INT(0, pthread_join(readers[i].thread, NULL));
            CHECK_INT(1000, readers[i].count);
        }
        CHECK_INT(0, test_bytes_in_use(t));
    }
}
