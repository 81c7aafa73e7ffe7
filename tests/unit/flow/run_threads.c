/* run_threads.c -- one flow, many runs at once. [F18] */
#include "run_kit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#define THREADS 20

typedef struct shared {
    desk *d;
    valise_flow *flow;
    _Atomic int64_t steps;
    _Atomic int failed;
} shared;

static void check_run(shared *s, const char *name, int64_t lap)
{
    valise_error err = VALISE_ERROR_INIT;
    valise_backpack_options options = desk_options(s->d, 0);
    valise_flow_result result = VALISE_FLOW_RESULT_INIT;
    valise_backpack *bag = NULL;
    int rc = valise_backpack_open(&bag, s->d->v, name, &options, &err);

    CHECK_MSG(rc == 0, "%s", err.message);
    rc = valise_flow_run(&result, NULL, s->flow, bag, NULL, &err);
    CHECK_MSG(rc == 0, "%s", err.message);
    CHECK_TEXT(test_format("k=%lld", (long long)lap), items(bag));
    CHECK_STR(VLS_STR("in/b"), item_of(bag, "k").node_id);
    CHECK_STR(VLS_STR("test.in.b"), item_of(bag, "k").namespace_name);
    atomic_fetch_add(&s->steps, result.steps);
    valise_backpack_close(bag);
}

static void run_own(size_t index, void *arg)
{
    for (int i = 0; i < 5; i++)
        check_run(arg, test_format("x-%zu-%d", index, i), 2);
}

TEST(flow_threads, a_hundred_runs_of_one_flow) /* [F18], U9 */
{
    desk *d = script_desk(t);
    shared s = {.d = d};

    s.flow = flow_of(d, "{'namespace':'test','start':'a','nodes':[{'id':'a','type':'kit.Script','"
                        "params':{'exec':[['inc',"
                        "'k']]}}],'edges':[{'from':'a','to':'in','mappings':{'k':'k'},'condition':{"
                        "'==':[{'var':'k'},1]}}],"
                        "'subflows':[{'namespace':'in','nodes':[{'id':'b','type':'kit.Script','"
                        "inputs':{'k':{'type':"
                        "'integer'}},'params':{'exec':[['inc','k']]}}]}]}");
    test_threads(THREADS, run_own, &s);
    CHECK_INT(THREADS * 5 * 3, atomic_load(&s.steps));
}

/* ---- on one backpack ---- */

static void run_shared(size_t index, void *arg)
{
    shared *s = arg;
    valise_error err = VALISE_ERROR_INIT;
    valise_backpack_options options = desk_options(s->d, 0);
    valise_backpack *bag = NULL;
    valise_flow *flow = NULL;
    const char *config = quoted(test_format("{'namespace':'f%zu','nodes':[{'id':'n%zu','type':'kit."
                                            "Script','params':{'exec':[['pack','k%zu',%zu],"
                                            "['read','k%zu']]}}]}",
                                            index, index, index, index, index));

    CHECK(valise_backpack_open(&bag, s->d->v, "shared", &options, &err) == 0);
    CHECK(valise_flow_from_config(&flow, s->d->v, valise_str_of(config), NULL, NULL, &err) == 0);
    for (int i = 0; i < 10; i++) {
        int rc = valise_flow_run(NULL, NULL, flow, bag, NULL, &err);

        CHECK_MSG(rc == 0, "%s", err.message);
    }
    valise_flow_free(flow);
    valise_backpack_close(bag);
}

TEST(flow_threads, flows_side_by_side_on_one_backpack_are_not_mixed_up) /* [F5], U9 */
{
    desk *d = script_desk(t);
    shared s = {.d = d};
    valise_backpack *bag = bag_of(d, "shared");

    test_threads(THREADS, run_shared, &s);
    for (int i = 0; i < THREADS; i++) {
        valise_commit c = item_of(bag, test_format("k%d", i));

        CHECK_STR(valise_str_of(test_format("n%d", i)), c.node_id);
        CHECK_STR(valise_str_of(test_format("f%d.n%d", i, i)), c.namespace_name);
        CHECK_INT(10, c.version);
    }
    CHECK_OK(pack(bag, "mine", "1", &t->err));
    CHECK_STR(VLS_STR("unknown"), item_of(bag, "mine").node_id);
}

/* The same flow, on the same backpack: each run has a view of its own of each node. */
static void run_same(size_t index, void *arg)
{
    shared *s = arg;
    valise_error err = VALISE_ERROR_INIT;
    valise_backpack_options options = desk_options(s->d, 0);
    valise_backpack *bag = NULL;

    (void)index;
    CHECK(valise_backpack_open(&bag, s->d->v, "same", &options, &err) == 0);
    for (int i = 0; i < 10; i++)
        CHECK_MSG(valise_flow_run(NULL, NULL, s->flow, bag, NULL, &err) == 0, "%s", err.message);
    valise_backpack_close(bag);
}

TEST(flow_threads, one_flow_at_once_on_one_backpack)
{
    desk *d = script_desk(t);
    shared s = {.d = d};
    valise_backpack *bag = bag_of(d, "same");

    s.flow = nodes_of(d,
                      test_format("%s,%s", NODE("a", "{'exec':[['pack','k',1]]}"),
                                  NODE("b", "{'exec':[['pack','l',1]]}")),
                      edge_("a", "b", NULL));
    test_threads(8, run_same, &s);
    CHECK_INT(80, item_of(bag, "k").version);
    CHECK_STR(VLS_STR("a"), item_of(bag, "k").node_id);
    CHECK_STR(VLS_STR("b"), item_of(bag, "l").node_id);
}

/* ---- cancelled from elsewhere ---- */

typedef struct stopping {
    _Atomic bool stop, runs;
} stopping;

static int is_stopped(void *arg, const valise_progress_state *state)
{
    stopping *s = arg;

    (void)state;
    atomic_store(&s->runs, true);
    return atomic_load(&s->stop);
}

static void *stop_soon(void *arg)
{
    stopping *s = arg;

    while (!atomic_load(&s->runs))
        continue;
    atomic_store(&s->stop, true);
    return NULL;
}

TEST(flow_threads, another_thread_cancels_a_run) /* [F14] */
{
    desk *d = script_desk(t);
    stopping s = {false, false};
    valise_flow_run_options options = VALISE_FLOW_RUN_OPTIONS_INIT;
    pthread_t thread;

    options.progress = (valise_progress){is_stopped, &s};
    CHECK(pthread_create(&thread, NULL, stop_soon, &s) == 0);
    CHECK_RC(VALISE_E_CANCELLED,
             valise_flow_run(NULL, NULL, nodes_of(d, NODE("a", "{'exec':[['sleep',60000]]}"), ""),
                             bag_of(d, "x"), &options, &t->err));
    CHECK(pthread_join(thread, NULL) == 0);
}

TEST(flow_threads, elements_of_a_map_fail_together_and_one_is_to_blame) /* [F18] */
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    valise_flow_result result = VALISE_FLOW_RESULT_INIT;
    valise_flow *flow =
        flow_of(d, "{'nodes':[{'id':'map','type':'MapNode','params':{'over':'list','parallel':8,'"
                   "flow':{'nodes':[{'id':"
                   "'a','type':'kit.Script','params':{'exec':[['fail',0,'IO','gone']]}}]}}}]}");

    CHECK_OK(pack(bag, "list", "[1,2,3,4,5,6,7,8]", &t->err));
    CHECK_RC(VALISE_E_IO, valise_flow_run(&result, NULL, flow, bag, NULL, &t->err));
    CHECK_MSG(strncmp(result.node, "map/", 4) == 0, "%s", result.node);
    HAS(t->err.message, test_format("node '%s': gone", result.node));
    CHECK_TEXT("list=[1,2,3,4,5,6,7,8]", items(bag));
}

TEST(flow_threads, the_time_of_a_map_is_that_of_its_elements) /* [F14] [F18] */
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");

    CHECK_OK(pack(bag, "list", "[1,2,3,4]", &t->err));
    HAS(ran(d,
            flow_of(
                d,
                "{'nodes':[{'id':'map','type':'MapNode','timeout':'100ms','params':{'over':'list',"
                "'parallel':4,'flow':{'nodes':[{'id':'a','type':'kit.Script','params':{'exec':[["
                "'sleep',60000]]}}]}}}]}"),
            bag),
        "timeout of 100 ms");
}

/* ---- maps in maps ---- */

#define OUTER 16
#define INNER 64
#define MOST 256 /* threads of a run */

typedef struct crowd {
    const valise_env *env;
    atomic_int ran, now, most;
    _Atomic int64_t until; /* ticks: those that are there wait for more to come; 0: nobody came */
} crowd;

static int join_crowd(void *arg, valise_node_run *run, valise_error *err)
{
    crowd *c = arg;
    int now = atomic_fetch_add(&c->now, 1) + 1, most = atomic_load(&c->most);
    int64_t ticks = c->env->ticks_ns(c->env->self), none = 0;

    (void)run, (void)err;
    (void)atomic_compare_exchange_strong(&c->until, &none, ticks + INT64_C(500000000));
    while (now > most && !atomic_compare_exchange_weak(&c->most, &most, now))
        continue;
    while (c->env->ticks_ns(c->env->self) < atomic_load(&c->until) &&
           atomic_load(&c->most) <= MOST) {
        struct timespec a_moment = {.tv_nsec = 1000000};
        (void)nanosleep(&a_moment, NULL);
    }
    atomic_fetch_add(&c->ran, 1);
    atomic_fetch_sub(&c->now, 1);
    return 0;
}

#define CALL(hook) "'kit.Script','params':{'exec':[['call','" hook "'],['pack','result',1]]}"

/* And the map behind them has again what they had. */
TEST(flow_threads, maps_in_maps_share_the_threads_of_the_run)
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    crowd inner = {.env = t->env}, behind = {.env = t->env};
    const hook hooks[] = {{join_crowd, &inner}, {join_crowd, &behind}};
    const valise_service services[] = {{"i", VALISE_SERVICE_OTHER, &hooks[0]},
                                       {"b", VALISE_SERVICE_OTHER, &hooks[1]},
                                       {NULL, 0, NULL}};
    valise_flow *flow = flow_with(
        d,
        "{'nodes':[{'id':'m','type':'MapNode','params':{'over':'list','parallel':16,'collect':"
        "'results','flow':{'nodes':[{'id':'i','type':'MapNode','params':{'over':'item','as':'x',"
        "'parallel':64,'flow':{'nodes':[{'id':'c','type':" CALL(
            "i") "}]}}}]}}},"
                 "{'id':'n','type':'MapNode','params':{'over':'list','parallel':16,'flow':{'nodes':"
                 "["
                 "{'id':'c','type':" CALL("b") "}]}}}],'edges':[{'from':'m','to':'n'}]}",
        services);
    vls_buf list;

    vls_buf_init(&list, t->env, 1 << 20);
    for (int i = 0; i < OUTER * INNER; i++)
        vls_buf_printf(&list, "%s%d%s",
                       i % INNER ? ","
                       : i       ? ",["
                                 : "[[",
                       i, (i + 1) % INNER ? "" : "]");
    vls_buf_add_byte(&list, ']');
    CHECK_OK(pack(bag, "list", vls_buf_cstr(&list), &t->err));
    vls_buf_release(&list);
    CHECK_TEXT("default at n", ran(d, flow, bag));
    CHECK_INT(OUTER * INNER, atomic_load(&inner.ran));
    CHECK_INT(OUTER, atomic_load(&behind.ran));
    CHECK_MSG(atomic_load(&inner.most) > OUTER && atomic_load(&inner.most) <= MOST, "%d at once",
              atomic_load(&inner.most));
    CHECK_MSG(atomic_load(&behind.most) > 1, "one after the other");
}
