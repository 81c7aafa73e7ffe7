/* durable.c -- see durable.h. */
#include <pthread.h>
#include <stdatomic.h>

#include "bench/durable.h"

#define THREADS 16u
#define PER_THREAD 20u /* commands of each thread in one operation */

typedef struct state {
    const durable_command *command;
    void *self; /* of ours */
    raw raw;
    raw_row *log, *object, *own, *more[DURABLE_MORE];
    _Atomic uint64_t next;
} state;

static uint64_t next_numbers(state *s, uint64_t count)
{
    return atomic_fetch_add_explicit(&s->next, count, memory_order_relaxed);
}

/* ---- ours ---- */

static void ours_one(void *arg, size_t times)
{
    state *s = arg;

    while (times--)
        s->command->run(s->self, next_numbers(s, 1));
}

static void ours_many(void *arg, size_t times)
{
    state *s = arg;

    while (times--)
        s->command->run_many(s->self, next_numbers(s, DURABLE_MANY));
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

/* ---- by hand ---- */

static void write_rows(state *s)
{
    durable_rows r = {.n = next_numbers(s, 1),
                      .now = valise_env_default()->now_ns(NULL),
                      .seq = raw_get_int(s->log, "seq") + 1};

    for (size_t i = 0; i < VLS_COUNT(r.mix); i++)
        r.mix[i] = (r.n + i) * UINT64_C(0x9E3779B97F4A7C15);
    raw_set_int(s->object, "number", raw_get_int(s->object, "number") + 1);
    raw_set_int(s->object, "h8", (int64_t)r.mix[0]);
    raw_set_bytes(s->object, "hash", r.mix);
    raw_insert(s->object);
    s->command->write(s->own, &r);
    for (size_t i = 0; s->command->more[i].table; i++)
        s->command->more[i].write(s->more[i], &r);
    raw_set_int(s->log, "seq", r.seq);
    raw_set_int(s->log, "id8", r.now + r.seq); /* append-like, as UUIDv7 makes it */
    raw_set_int(s->log, "time", r.now);
    raw_set_bytes(s->log, "hash", r.mix + 1);
    raw_insert(s->log);
}

static void raw_group(state *s, size_t count)
{
    raw_begin(&s->raw);
    while (count--)
        write_rows(s);
    raw_commit(&s->raw);
}

static void raw_one(void *arg, size_t times)
{
    while (times--)
        raw_group(arg, 1);
}

static void raw_many(void *arg, size_t times)
{
    while (times--)
        raw_group(arg, DURABLE_MANY);
}

static void raw_groups(void *arg, size_t times)
{
    for (size_t i = 0; i < times * PER_THREAD; i++)
        raw_group(arg, THREADS);
}

/* ---- running ---- */

/* Two workspaces with the same rows, one for each side. The second thousand changes what the first
 * one made: from then on entries hold rows as they were before, and the raw side takes the sizes of
 * what it writes from the last of them, which is of one command alone. */
static void run_at(bench *b, const durable_command *command, bool full, const bench_row rows[2])
{
    state s = {.command = command};
    char dir[256], raw_dir[256];

    raw_make_dir(dir, "ours");
    raw_make_dir(raw_dir, "raw");
    s.self = command->open(raw_dir, full);
    ours_many(&s, 2);
    ours_one(&s, 1);
    command->close(s.self);
    raw_open(&s.raw, raw_dir, full);
    s.log = raw_row_like(&s.raw, "log", "seq");
    s.object = raw_row_like(&s.raw, "object", "number");
    s.own = raw_row_like(&s.raw, command->table, command->key);
    for (size_t i = 0; command->more[i].table; i++)
        s.more[i] = raw_row_like(&s.raw, command->more[i].table, command->more[i].key);
    atomic_store(&s.next, 0);
    s.self = command->open(dir, full);
    ours_many(&s, 2);
    for (size_t i = 0; i < 2; i++) {
        bench_row row = rows[i];
        row.arg = &s;
        bench_compare(b, &row);
    }
    command->close(s.self);
    raw_close(&s.raw);
    raw_remove_dir(dir);
    raw_remove_dir(raw_dir);
}

void durable_compare(bench *b, const durable_command *command)
{
    static const char by_hand[] = "the same rows by hand";
    const bench_row normal[2] = {{.name = command->one,
                                  .against = by_hand,
                                  .requires = "Q7",
                                  .ours = ours_one,
                                  .baseline = raw_one,
                                  .at_most = 1 / 0.7},
                                 {.name = command->many,
                                  .against = by_hand,
                                  .requires = "Q7",
                                  .ours = ours_many,
                                  .baseline = raw_many,
                                  .at_most = 1 / 0.6}};
    const bench_row full[2] = {{.name = command->one_full,
                                .against = by_hand,
                                .requires = "Q7",
                                .ours = ours_one,
                                .baseline = raw_one,
                                .at_most = 1 / 0.9},
                               {.name = command->threads,
                                .against = "20 groups of 16 by hand",
                                .requires = "Q7",
                                .ours = ours_threads,
                                .baseline = raw_groups,
                                .at_most = 1 / 0.6}};

    run_at(b, command, false, normal);
    run_at(b, command, true, full);
}
