/* pack.c -- what a durable pack costs, beside SQLite writing the same rows by hand. [Q7]
 *
 * One pack is an entry of the log, a value of 300 bytes and a commit of one of 1,000 items, with
 * its two indexes. The baseline writes the same rows (raw.h). Rates are compared: a bar of 0.7 of
 * the rate is one of 1 / 0.7 of the time. */
#include <pthread.h>
#include <stdatomic.h>

#include "bench/bench.h"
#include "bench/raw.h"

#include <valise/backpack.h>
#include <valise/workspace.h>

#define KEYS 1000u
#define THREADS 16u
#define PER_THREAD 20u /* packs of each thread in one operation */
#define BATCH 1000u

typedef struct state {
    char dir[256], raw_dir[256];
    valise *v;
    valise_backpack *bag, *behind; /* the same one; what is packed into the second waits */
    raw raw;
    raw_row *log, *object, *commit;
    _Atomic uint64_t next;
} state;

static uint64_t next_number(state *s)
{
    return atomic_fetch_add_explicit(&s->next, 1, memory_order_relaxed);
}

/* ---- ours ---- */

static void open_one(valise_backpack **out, state *s, unsigned flags)
{
    valise_backpack_options options = VALISE_BACKPACK_OPTIONS_INIT;
    valise_error err = VALISE_ERROR_INIT;

    options.flags = VALISE_BACKPACK_DURABLE | flags;
    if (valise_backpack_open(out, s->v, "run-1", &options, &err) < 0)
        raw_die(__FILE__, __LINE__, err.message);
}

static void open_ours(state *s, const char *dir, bool full)
{
    valise_options options = VALISE_OPTIONS_INIT;
    valise_error err = VALISE_ERROR_INIT;

    options.flags = VALISE_OPEN_CREATE | VALISE_OPEN_NO_USER_CONFIG;
    options.durability = full ? VALISE_DURABILITY_FULL : VALISE_DURABILITY_NORMAL;
    if (valise_open(&s->v, dir, &options, &err) < 0)
        raw_die(__FILE__, __LINE__, err.message);
    open_one(&s->bag, s, 0);
    open_one(&s->behind, s, VALISE_BACKPACK_WRITE_BEHIND);
}

static void close_ours(state *s)
{
    valise_backpack_close(s->behind);
    valise_backpack_close(s->bag);
    valise_close(s->v);
}

static void pack(state *s, valise_backpack *bag)
{
    static const char filler[] = "abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz01";
    valise_pack_options options = VALISE_PACK_OPTIONS_INIT;
    valise_error err = VALISE_ERROR_INIT;
    uint64_t n = next_number(s);
    char key[32], json[400];

    (void)snprintf(key, sizeof(key), "run:1:step:item:%011u", (unsigned)(n * 617 % KEYS));
    (void)snprintf(json, sizeof(json), "{\"n\":%010llu,\"text\":\"%s%s%s%s\"}",
                   (unsigned long long)n + 1000000000, filler, filler, filler, filler);
    options.node_id = valise_str_of("research-2");
    options.node_name = valise_str_of("Research");
    if (valise_pack(NULL, bag, key, json, &options, &err) < 0)
        raw_die(__FILE__, __LINE__, err.message);
}

static void ours_one(void *arg, size_t times)
{
    state *s = arg;

    while (times--)
        pack(s, s->bag);
}

static void *ours_thread(void *arg)
{
    ours_one(arg, PER_THREAD);
    return NULL;
}

static void ours_threads(void *arg, size_t times)
{
    pthread_t threads[THREADS];

    while (times--) {
        for (size_t k = 0; k < THREADS; k++)
            MUST(pthread_create(&threads[k], NULL, ours_thread, arg) == 0);
        for (size_t k = 0; k < THREADS; k++)
            pthread_join(threads[k], NULL);
    }
}

static void ours_behind(void *arg, size_t times)
{
    state *s = arg;
    valise_error err = VALISE_ERROR_INIT;

    while (times--) {
        for (size_t i = 0; i < BATCH; i++)
            pack(s, s->behind);
        if (valise_backpack_flush(s->behind, &err) < 0)
            raw_die(__FILE__, __LINE__, err.message);
    }
}

/* ---- by hand ---- */

static void raw_pack(state *s)
{
    uint64_t n = next_number(s), mix[5];
    char key[32];
    int64_t now = valise_env_default()->now_ns(NULL), seq = raw_get_int(s->log, "seq") + 1;

    for (size_t i = 0; i < VLS_COUNT(mix); i++)
        mix[i] = (n + i) * UINT64_C(0x9E3779B97F4A7C15);
    raw_set_int(s->object, "number", raw_get_int(s->object, "number") + 1);
    raw_set_int(s->object, "h8", (int64_t)mix[0]);
    raw_set_bytes(s->object, "hash", mix);
    raw_insert(s->object);

    (void)snprintf(key, sizeof(key), "run:1:step:item:%011u", (unsigned)(n * 617 % KEYS));
    raw_set_int(s->commit, "seq", raw_get_int(s->commit, "seq") + 1);
    raw_set_bytes(s->commit, "key", key);
    raw_set_bytes(s->commit, "value_id", mix);
    raw_set_int(s->commit, "timestamp", now);
    raw_set_int(s->commit, "from_seq", seq);
    raw_insert(s->commit);

    raw_set_int(s->log, "seq", seq);
    raw_set_int(s->log, "id8", now + seq); /* append-like, as UUIDv7 makes it */
    raw_set_int(s->log, "time", now);
    raw_set_bytes(s->log, "hash", mix + 1);
    raw_insert(s->log);
}

static void raw_group(state *s, size_t count)
{
    raw_begin(&s->raw);
    for (size_t i = 0; i < count; i++)
        raw_pack(s);
    raw_commit(&s->raw);
}

static void raw_one(void *arg, size_t times)
{
    while (times--)
        raw_group(arg, 1);
}

static void raw_groups(void *arg, size_t times)
{
    for (size_t i = 0; i < times * PER_THREAD; i++)
        raw_group(arg, THREADS);
}

static void raw_batch(void *arg, size_t times)
{
    while (times--)
        raw_group(arg, BATCH);
}

/* ---- running ---- */

/* Two workspaces with the same 2,000 commits, one for each side. */
static void run_at(bench *b, bool full, const bench_row *rows, size_t count)
{
    state s = {.next = 0};

    raw_make_dir(s.dir, "ours");
    raw_make_dir(s.raw_dir, "raw");
    open_ours(&s, s.raw_dir, full);
    ours_behind(&s, 2);
    ours_one(&s, 1);
    close_ours(&s);
    raw_open(&s.raw, s.raw_dir, full);
    s.log = raw_row_like(&s.raw, "log", "seq");
    s.object = raw_row_like(&s.raw, "object", "number");
    s.commit = raw_row_like(&s.raw, "backpack_commit", "seq");
    s.next = 0;
    open_ours(&s, s.dir, full);
    ours_behind(&s, 2);
    for (size_t i = 0; i < count; i++) {
        bench_row row = rows[i];
        row.arg = &s;
        bench_compare(b, &row);
    }
    close_ours(&s);
    raw_close(&s.raw);
    raw_remove_dir(s.dir);
    raw_remove_dir(s.raw_dir);
}

BENCH(pack)
{
    static const bench_row normal[] = {
        {.name = "a durable pack at NORMAL",
         .against = "the same rows by hand",
         .requires = "Q7",
         .ours = ours_one,
         .baseline = raw_one,
         .at_most = 1 / 0.7},
        {.name = "1,000 packs behind, and a flush",
         .against = "the same rows by hand",
         .requires = "Q7",
         .ours = ours_behind,
         .baseline = raw_batch,
         .at_most = 1 / 0.6},
    };
    static const bench_row full[] = {
        {.name = "a durable pack at FULL",
         .against = "the same rows by hand",
         .requires = "Q7",
         .ours = ours_one,
         .baseline = raw_one,
         .at_most = 1 / 0.9},
        {.name = "16 threads at FULL, 20 packs each",
         .against = "20 groups of 16 by hand",
         .requires = "Q7",
         .ours = ours_threads,
         .baseline = raw_groups,
         .at_most = 1 / 0.6},
    };

    run_at(b, false, normal, VLS_COUNT(normal));
    run_at(b, true, full, VLS_COUNT(full));
}
