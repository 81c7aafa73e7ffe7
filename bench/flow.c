/* flow.c -- what a node of a flow costs beyond its own work, on an ephemeral backpack: alone, with
 * somebody who hears the events, after many runs, with many keys held. [Q6] [Q15] [F16]
 *
 * These nodes do nothing, so all of it is overhead; it is measured in CPU time of the process. What
 * a node that reads and packs costs on a durable backpack is the fifth success criterion of the
 * seed: less than 5 ms. That one waits for files, so it is the time of the clock. */
#include <time.h>

#include "bench/bench.h"
#include "bench/raw.h"

#include "base/mem.h"

#include <valise/flow.h>
#include <valise/sys/node.h>
#include <valise/workspace.h>

typedef struct state {
    valise *v;
    valise_backpack *bag;
    valise_flow *flow;
    valise_subscription *listener;
    size_t nodes;
} state;

static void must(int rc, const valise_error *err)
{
    if (rc < 0) {
        (void)fprintf(stderr, "bench: %s\n", err->message);
        abort();
    }
}

static int nothing(void *node, valise_node_run *run, valise_error *err)
{
    (void)node, (void)run, (void)err;
    return 0;
}

static const valise_node_type idle = {.size = sizeof(valise_node_type),
                                      .name = "IdleNode",
                                      .brief = "Does nothing.",
                                      .prep = nothing,
                                      .exec = nothing,
                                      .post = nothing};

static void make_chain(state *s)
{
    valise_error err = VALISE_ERROR_INIT;
    char config[64], id[24], last[24] = "";

    must(valise_flow_new(&s->flow, s->v, "bench", NULL, &err), &err);
    for (size_t i = 0; i < s->nodes; i++) {
        (void)snprintf(id, sizeof(id), "n%zu", i);
        (void)snprintf(config, sizeof(config), "{\"id\":\"%s\"}", id);
        must(valise_flow_add_node(s->flow, &idle, config, &err), &err);
        if (i > 0)
            must(valise_flow_next(s->flow, last, id, &err), &err);
        memcpy(last, id, sizeof(last));
    }
}

static int hear(void *arg, const valise_event *event, valise_error *err)
{
    (void)err;
    *(size_t *)arg += event->payload.len;
    return 0;
}

static size_t heard;

static state *set_up(size_t nodes, size_t keys, bool events)
{
    valise_error err = VALISE_ERROR_INIT;
    valise_options options = VALISE_OPTIONS_INIT;
    const valise_follow follow = {.size = sizeof(follow), .live = true, .fn = hear, .arg = &heard};
    state *s = vls_mem_zalloc(valise_env_default(), sizeof(*s));
    char key[32];

    if (!s)
        abort();
    s->nodes = nodes;
    options.flags = VALISE_OPEN_NO_USER_CONFIG;
    must(valise_open(&s->v, ":memory:", &options, &err), &err);
    must(valise_backpack_open(&s->bag, s->v, "bench", NULL, &err), &err);
    for (size_t i = 0; i < keys; i++) {
        (void)snprintf(key, sizeof(key), "key-%zu", i);
        must(valise_pack(NULL, s->bag, key, "1", NULL, &err), &err);
    }
    make_chain(s);
    if (events)
        must(valise_subscribe(&s->listener, s->v, &follow, &err), &err);
    return s;
}

static void run_flow(void *arg, size_t times)
{
    state *s = arg;
    valise_error err = VALISE_ERROR_INIT;

    for (size_t i = 0; i < times; i++)
        must(valise_flow_run(NULL, NULL, s->flow, s->bag, NULL, &err), &err);
}

static void tear_down(void *arg)
{
    state *s = arg;

    valise_unsubscribe(s->listener);
    valise_flow_free(s->flow);
    valise_backpack_close(s->bag);
    valise_close(s->v);
    vls_mem_free(valise_env_default(), s, sizeof(*s));
}

static double clock_ns(clockid_t clock)
{
    struct timespec t;

    (void)clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The best of some rounds: ns a node. */
static double per_node(size_t nodes, size_t keys, bool events, size_t before, size_t rounds)
{
    state *s = set_up(nodes, keys, events);
    double best = 0;

    run_flow(s, before);
    for (size_t i = 0; i < rounds; i++) {
        size_t times = 1 + 3000 / nodes;
        double began = clock_ns(CLOCK_PROCESS_CPUTIME_ID), spent;

        run_flow(s, times);
        spent = (clock_ns(CLOCK_PROCESS_CPUTIME_ID) - began) / (double)(times * nodes);
        if (i == 0 || spent < best)
            best = spent;
    }
    tear_down(s);
    return best;
}

/* A node that reads ten items and packs five, in a workspace in files: us a node, by the clock. */
static double per_durable_node(size_t rounds)
{
    static const char config[] =
        "{\"nodes\":[{\"id\":\"work\",\"type\":\"SetNode\",\"params\":{\"values\":{"
        "\"a\":\"{{k0}} {{k1}}\",\"b\":\"{{k2}} {{k3}}\",\"c\":\"{{k4}} {{k5}}\","
        "\"d\":\"{{k6}} {{k7}}\",\"e\":\"{{k8}} {{k9}}\"}}}]}";
    state s = {0};
    valise_backpack_options options = VALISE_BACKPACK_OPTIONS_INIT;
    valise_error err = VALISE_ERROR_INIT;
    char dir[256], key[8];
    double spent;

    raw_make_dir(dir, "flow");
    s.v = raw_open_workspace(dir, false, NULL);
    options.flags = VALISE_BACKPACK_DURABLE;
    must(valise_backpack_open(&s.bag, s.v, "run-1", &options, &err), &err);
    for (int i = 0; i < 10; i++) {
        (void)snprintf(key, sizeof(key), "k%d", i);
        must(valise_pack(NULL, s.bag, key, "\"some value of an item\"", NULL, &err), &err);
    }
    must(valise_flow_from_config(&s.flow, s.v, valise_str_of(config), NULL, NULL, &err), &err);
    run_flow(&s, 10);
    spent = clock_ns(CLOCK_MONOTONIC);
    run_flow(&s, 20 * rounds);
    spent = (clock_ns(CLOCK_MONOTONIC) - spent) / (double)(20 * rounds);
    valise_flow_free(s.flow);
    valise_backpack_close(s.bag);
    valise_close(s.v);
    raw_remove_dir(dir);
    return spent / 1000;
}

/* A map over a list; each element packs a result. */
static state *map_over(size_t elements, unsigned flags)
{
    static const char config[] =
        "{\"nodes\":[{\"id\":\"map\",\"type\":\"MapNode\",\"params\":{\"over\":\"list\",\"flow\":{"
        "\"nodes\":[{\"id\":\"one\",\"type\":\"SetNode\",\"params\":{\"values\":{\"result\":1,"
        "\"seen\":1}}}]},\"reduce\":{\"seen\":\"max\"}}}]}";
    state *s = set_up(0, 0, false);
    valise_backpack_options options = VALISE_BACKPACK_OPTIONS_INIT;
    valise_error err = VALISE_ERROR_INIT;
    char *list = vls_mem_zalloc(valise_env_default(), 2 * elements + 2);

    if (!list)
        abort();
    for (size_t i = 0; i < elements; i++)
        memcpy(list + 2 * i, i == 0 ? "[0" : ",0", 2);
    list[2 * elements] = ']';
    valise_flow_free(s->flow);
    valise_backpack_close(s->bag);
    options.flags = flags;
    must(valise_backpack_open(&s->bag, s->v, "map", &options, &err), &err);
    must(valise_pack(NULL, s->bag, "list", list, NULL, &err), &err);
    must(valise_flow_from_config(&s->flow, s->v, valise_str_of(config), NULL, NULL, &err), &err);
    vls_mem_free(valise_env_default(), list, 2 * elements + 2);
    return s;
}

static void *map_of(size_t size)
{
    return map_over(size, 0);
}

static void *durable_map_of(size_t size)
{
    return map_over(size, VALISE_BACKPACK_DURABLE);
}

static void *chain_of(size_t size)
{
    return set_up(size, 0, false);
}

static void *with_keys(size_t size)
{
    return set_up(10, size, true);
}

BENCH(flow)
{
    size_t rounds = bench_is_quick(b) ? 3 : 15;

    bench_fact(b, "Q6 a node, chain of 10", per_node(10, 0, false, 10, rounds), "ns", 2000);
    bench_fact(b, "Q6 ... with events", per_node(10, 0, true, 10, rounds), "ns", 4000);
    bench_fact(b, "Q6 ... after 1,000 runs", per_node(10, 0, false, 1000, rounds), "ns", 2000);
    bench_fact(b, "Q6 ... with 10,000 keys held", per_node(10, 10000, false, 10, rounds), "ns",
               2000);
    bench_fact(b, "Q6 a node, chain of 1,000", per_node(1000, 0, false, 1, rounds), "ns", 2000);
    bench_fact(b, "a node: 10 reads, 5 packs, durable", per_durable_node(rounds), "us", 5000);
    bench_growth(b, &(bench_growth_row){.name = "run of a chain, by its nodes",
                                        .setup = chain_of,
                                        .teardown = tear_down,
                                        .fn = run_flow,
                                        .sizes = {10, 100, 1000, 0},
                                        .promised = 1,
                                        .cpu = true});
    bench_growth(b, &(bench_growth_row){.name = "run of 10 nodes with events, by keys held",
                                        .setup = with_keys,
                                        .teardown = tear_down,
                                        .fn = run_flow,
                                        .sizes = {10, 1000, 100000, 0},
                                        .promised = 0,
                                        .cpu = true});
    bench_growth(b, &(bench_growth_row){.name = "run of a map, by its elements",
                                        .setup = map_of,
                                        .teardown = tear_down,
                                        .fn = run_flow,
                                        .sizes = {10, 100, 1000, 0},
                                        .promised = 1,
                                        .cpu = true});
    bench_growth(b, &(bench_growth_row){.name = "run of a map, durable, by its elements",
                                        .setup = durable_map_of,
                                        .teardown = tear_down,
                                        .fn = run_flow,
                                        .sizes = {10, 100, 1000, 0},
                                        .promised = 1,
                                        .cpu = true});
}
