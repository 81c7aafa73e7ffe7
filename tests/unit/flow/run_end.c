/* run_end.c -- cancelling, time, and what is left. [F14] */
#include <time.h>

#include "run_kit.h"

TEST_PARAMS(flow_end, "ephemeral", "sqlite")

static int64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

typedef struct patience {
    int calls, least;
    uint64_t done;
} patience;

static int lose_patience(void *arg, const valise_progress_state *state)
{
    patience *p = arg;

    p->done = state->done;
    return ++p->calls >= p->least;
}

TEST(flow_end, the_progress_callback_cancels_a_run) /* [F14] */
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    tale *l = tale_of(d, NULL);
    patience p = {.least = 2};
    valise_flow_run_options options = VALISE_FLOW_RUN_OPTIONS_INIT;
    valise_flow_result result = VALISE_FLOW_RESULT_INIT;
    int64_t began = now_ms();
    valise_flow *flow = nodes_of(
        d,
        test_format("%s,%s,%s", NODE("a", "{'exec':[['pack','k',1]]}"),
                    node_("b", "{'exec':[['pack','k',2],['sleep',60000]],'post':[['pack','k',3]]}",
                          ",'maxRetries':5"),
                    NODE("c", "{}")),
        test_format("%s,%s", edge_("a", "b", NULL), edge_("b", "c", "'error'")));
    const char *text;

    options.progress = (valise_progress){lose_patience, &p};
    CHECK_RC(VALISE_E_CANCELLED, valise_flow_run(&result, NULL, flow, bag, &options, &t->err));
    CHECK(now_ms() - began < 10000);
    CHECK_TEXT("b", result.node);
    CHECK_INT(2, result.steps);
    CHECK_INT(2, (intmax_t)p.done); /* nodes, not looks */
    CHECK_TEXT("k=2", items(bag));
    text = told(l);
    HAS(text, "ERROR b {\"attempt\":1,\"code\":\"CANCELLED\"");
    HAS(text, "\"status\":\"cancelled\",\"steps\":2}");
    HAS_NOT(text, "NODE_START c");
    /* The backpack is as good as before. */
    CHECK_TEXT("default at a", ran(d, nodes_of(d, NODE("a", "{'exec':[['inc','k']]}"), ""), bag));
    CHECK_TEXT("k=3", items(bag));
}

TEST(flow_end, many_fast_looks_do_not_delay_a_slow_one) /* [F14] */
{
    desk *d = script_desk(t);
    patience p = {.least = 3};
    valise_flow_run_options options = VALISE_FLOW_RUN_OPTIONS_INIT;
    const char *chain = NODE("n0", "{}"), *edges = "", *naps = "";
    int64_t began;

    for (int i = 1; i < 300; i++) {
        const char *id = test_format("n%d", i);

        chain = test_format("%s,%s", chain, NODE(id, "{}"));
        edges = test_format("%s%s%s", edges, i > 1 ? "," : "",
                            edge_(test_format("n%d", i - 1), id, NULL));
    }
    for (int i = 0; i < 60; i++)
        naps = test_format("%s%s['nap',100],['sleep',1]", naps, i > 0 ? "," : "");
    chain = test_format("%s,%s", chain, NODE("slow", test_format("{'exec':[%s]}", naps)));
    edges = test_format("%s,%s", edges, edge_("n299", "slow", NULL));
    options.progress = (valise_progress){lose_patience, &p};
    began = now_ms();
    CHECK_RC(VALISE_E_CANCELLED, valise_flow_run(NULL, NULL, nodes_of(d, chain, edges),
                                                 bag_of(d, "x"), &options, &t->err));
    CHECK_MSG(now_ms() - began < 3000, "%lld ms", (long long)(now_ms() - began));
}

TEST(flow_end, waiting_for_another_attempt_can_be_cancelled) /* [F2] [F14] */
{
    desk *d = script_desk(t);
    patience p = {.least = 2};
    valise_flow_run_options options = VALISE_FLOW_RUN_OPTIONS_INIT;
    int64_t began = now_ms();

    options.progress = (valise_progress){lose_patience, &p};
    CHECK_RC(VALISE_E_CANCELLED,
             valise_flow_run(NULL, NULL,
                             nodes_of(d,
                                      node_("a", "{'exec':[['fail',0,'IO','gone']]}",
                                            ",'maxRetries':3,'wait':'1h'"),
                                      ""),
                             bag_of(d, "x"), &options, &t->err));
    CHECK(now_ms() - began < 10000);
}

TEST(flow_end, each_phase_has_the_time_of_its_node) /* [F14] */
{
    desk *d = script_desk(t);
    const char *const phases[] = {"prep", "exec", "post"};
    tale *l = tale_of(d, "flow:ERROR");

    for (size_t i = 0; i < 3; i++) {
        CHECK_TEXT("LIMIT: node 'a': it took longer than its timeout of 50 ms",
                   ran(d,
                       nodes_of(d,
                                node_("a", test_format("{'%s':[['sleep',60000]]}", phases[i]),
                                      ",'timeout':'50ms'"),
                                ""),
                       bag_of(d, "x")));
        HAS(t->err.hint, "`timeout`");
        HAS(told(l), test_format("\"phase\":\"%s\"", phases[i]));
        /* One that does not look is waited for, and fails all the same. */
        HAS(ran(d,
                nodes_of(
                    d,
                    node_("a", test_format("{'%s':[['nap',80]]}", phases[i]), ",'timeout':'50ms'"),
                    ""),
                bag_of(d, "x")),
            "LIMIT: node 'a'");
        (void)told(l);
    }
    /* The longest one there is does not end before it begins. */
    CHECK_TEXT("default at a",
               ran(d,
                   nodes_of(d, node_("a", "{'exec':[['nap',1]]}", ",'timeout':'9223372036s'"), ""),
                   bag_of(d, "x")));
    CHECK_TEXT(
        "default at a",
        ran(d,
            nodes_of(d,
                     node_("a", "{'prep':[['nap',60]],'exec':[['nap',60]],'post':[['nap',60]]}",
                           ",'timeout':'150ms'"),
                     ""),
            bag_of(d, "x")));
}

TEST(flow_end, each_attempt_has_time_of_its_own) /* [F2] [F14] */
{
    desk *d = script_desk(t);

    CHECK_TEXT("default at a",
               ran(d,
                   nodes_of(d,
                            node_("a", "{'exec':[['nap',60],['fail',2,'IO','gone']]}",
                                  ",'timeout':'150ms','maxRetries':2"),
                            ""),
                   bag_of(d, "x")));
}

TEST(flow_end, the_time_of_a_node_is_that_of_what_runs_inside) /* [F14] */
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    int64_t began = now_ms();
    const char *text = ran(
        d,
        flow_of(
            d,
            "{'nodes':[{'id':'s','type':'SubflowNode','timeout':'80ms','params':{'flow':{'nodes':["
            "{'id':'a','type':'kit.Script','params':{'exec':[['inc','n'],['nap',5]]}}],'edges':["
            "{'from':'a','to':'a'}]}}}]}"),
        bag);

    HAS(text, "LIMIT: ");
    HAS(text, "'s'");
    HAS(text, "timeout of 80 ms");
    CHECK(now_ms() - began < 5000);
    began = now_ms();
    text = ran(
        d,
        flow_of(d, "{'nodes':[{'id':'s','type':'SubflowNode','timeout':'80ms','params':{'flow':{"
                   "'nodes':[{'id':'a','type':'kit.Script','maxRetries':1000,'wait':'1s','params':"
                   "{'exec':[['sleep',60000]]}},{'id':'b','type':'kit.Script'}],'edges':[{'from':"
                   "'a','to':'b','condition':'error'}]}}}]}"),
        bag);
    HAS(text, "timeout of 80 ms");
    CHECK(now_ms() - began < 5000);
    CHECK_TEXT(
        "LIMIT: node 's/c': 's', which it is part of, took longer than its timeout of 80 ms",
        ran(d,
            flow_of(d, "{'nodes':[{'id':'s','type':'SubflowNode','timeout':'80ms','params':{'flow'"
                       ":{'nodes':[{'id':'c','type':'kit.Script','params':{'exec':[['sleep',60000]"
                       "]}}]}}}]}"),
            bag));
}

TEST(flow_end, what_a_failed_node_packed_is_kept_and_is_its_own)
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    valise_backpack *after = NULL;

    CHECK_TEXT("IO: node 'a': gone",
               ran(d,
                   nodes_of(d, NODE("a", "{'exec':[['pack','k',1],['fail',0,'IO','gone']]}"), ""),
                   bag));
    CHECK_TEXT("k=1", items(bag));
    CHECK_OK(pack(bag, "l", "1", &t->err));
    /* Its run is over: what comes after it is no part of it. */
    CHECK_OK(valise_snapshot_after_node(&after, bag, "a", -1, &t->err));
    CHECK_TEXT("k=1", items(after));
    valise_backpack_close(after);
}

/* ---- size ---- */

static int pack_own(void *node, valise_node_run *run, valise_error *err)
{
    (void)node;
    return valise_pack(NULL, valise_node_backpack(run), "k", "1", NULL, err);
}

static const valise_node_type packer = {
    .size = sizeof(valise_node_type), .name = "PackNode", .brief = "Packs.", .post = pack_own};

TEST(flow_end, a_thousand_nodes_in_a_chain) /* [F16] [F18], U10 */
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    valise_flow *flow = NULL;
    valise_flow_result result = VALISE_FLOW_RESULT_INIT;

    CHECK_OK(valise_flow_new(&flow, d->v, "long", NULL, &t->err));
    for (int i = 0; i < 1000; i++) {
        CHECK_OK(valise_flow_add_node(flow, &packer, test_format("{\"id\":\"n%d\"}", i), &t->err));
        if (i > 0)
            CHECK_OK(
                valise_flow_next(flow, test_format("n%d", i - 1), test_format("n%d", i), &t->err));
    }
    CHECK_OK(valise_flow_run(&result, NULL, flow, bag, NULL, &t->err));
    CHECK_INT(1000, result.steps);
    CHECK_TEXT("n999", result.node);
    CHECK_STR(VLS_STR("n999"), item_of(bag, "k").node_id);
    CHECK_INT(1000, item_of(bag, "k").version);
    valise_flow_free(flow);
}

TEST(flow_end, a_thousand_runs_on_one_backpack) /* [F18], U10 */
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    valise_flow *flow = nodes_of(d,
                                 test_format("%s,%s", NODE("a", "{'exec':[['inc','n']]}"),
                                             NODE("b", "{'exec':[['inc','m']]}")),
                                 edge_("a", "b", NULL));
    int times = d->durable && test_is_watched() ? 50 : 1000;
    size_t early = 0;

    for (int i = 0; i < times; i++) {
        CHECK_OK(valise_flow_run(NULL, NULL, flow, bag, NULL, &t->err));
        if (i == times / 2)
            early = test_bytes_in_use(t);
    }
    CHECK_TEXT(test_format("m=%d n=%d", times, times), items(bag));
    if (!d->durable) /* history grows, but not by more than some hundred bytes for each commit and
                        run */
        CHECK_MSG(test_bytes_in_use(t) - early < (size_t)times * 4000, "%zu",
                  test_bytes_in_use(t) - early);
}

TEST(flow_end, deep_recursion_of_subflows_is_refused_by_the_definition)
{
    desk *d = script_desk(t);
    const char *flow = "{'nodes':[{'id':'a','type':'kit.Script'}]}";
    valise_flow *made = NULL;

    for (int i = 0; i < 20; i++)
        flow =
            test_format("{'nodes':[{'id':'s','type':'SubflowNode','params':{'flow':%s}}]}", flow);
    CHECK_RC(VALISE_E_LIMIT, valise_flow_from_config(&made, d->v, valise_str_of(quoted(flow)), NULL,
                                                     NULL, &t->err));
}
