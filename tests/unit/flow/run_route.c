/* run_route.c -- which node is next, and what an edge carries over. [F3] [F7] [F17] */
#include "run_kit.h"

TEST_PARAMS(flow_route, "ephemeral", "sqlite")

#define ACT(action) "{'post':[['act','" action "']]}"

TEST(flow_route, default_is_what_a_node_chooses_that_chooses_nothing) /* [F3], U22 */
{
    desk *d = script_desk(t);
    valise_flow *flow = nodes_of(
        d, test_format("%s,%s,%s", NODE("a", "{}"), NODE("b", ACT("")), NODE("c", ACT("default"))),
        test_format("%s,%s", edge_("a", "b", NULL), edge_("b", "c", "'default'")));

    CHECK_TEXT("default at c", ran(d, flow, bag_of(d, "x")));
}

TEST(flow_route, an_action_without_an_edge_ends_the_flow_and_is_warned_of) /* [F3], S27 */
{
    desk *d = script_desk(t);
    valise_flow *some = nodes_of(d, test_format("%s,%s", NODE("a", ACT("away")), NODE("b", "{}")),
                                 edge_("a", "b", NULL));
    valise_flow *none = nodes_of(d, NODE("a", ACT("away")), "");
    valise_backpack *bag = bag_of(d, "x");
    tale *l = tale_of(d, "flow:WARNING");

    CHECK_TEXT("away at a", ran(d, some, bag));
    CHECK_TEXT("WARNING a {\"message\":\"no edge takes the action 'away': the flow ends here\"}\n",
               told(l));
    CHECK_TEXT("away at a", ran(d, none, bag));
    CHECK_TEXT("", told(l));
}

TEST(flow_route, no_default_edge_ends_it_without_a_word) /* [F3] */
{
    desk *d = script_desk(t);
    valise_flow *flow = nodes_of(d, test_format("%s,%s", NODE("a", "{}"), NODE("b", "{}")),
                                 edge_("a", "b", "'on'"));
    tale *l = tale_of(d, "flow:WARNING");

    CHECK_TEXT("default at a", ran(d, flow, bag_of(d, "x")));
    CHECK_TEXT("", told(l));
}

TEST(flow_route, an_action_comes_before_rules_and_rules_before_default) /* [F7] */
{
    desk *d = script_desk(t);
    const char *yes = "{'==':[{'var':'go'},1]}", *no = "{'==':[{'var':'go'},2]}";
    const char *edges = test_format("%s,%s,%s,%s,%s", edge_("a", "fallen", NULL),
                                    edge_("a", "second", no), edge_("a", "first", yes),
                                    edge_("a", "third", yes), edge_("a", "named", "'on'"));
    const char *others = "{'id':'fallen','type':'kit.Script'},{'id':'first','type':'kit.Script'},"
                         "{'id':'second','type':'kit.Script'},{'id':'third','type':'kit.Script'},"
                         "{'id':'named','type':'kit.Script'}";
    valise_backpack *bag = bag_of(d, "x");

    CHECK_TEXT("default at named",
               ran(d, nodes_of(d, test_format("%s,%s", NODE("a", ACT("on")), others), edges), bag));
    CHECK_TEXT("default at fallen",
               ran(d, nodes_of(d, test_format("%s,%s", NODE("a", "{}"), others), edges), bag));
    CHECK_TEXT(
        "default at first",
        ran(d,
            nodes_of(d, test_format("%s,%s", NODE("a", "{'post':[['pack','go',1]]}"), others),
                     edges),
            bag));
    CHECK_TEXT(
        "default at second",
        ran(d,
            nodes_of(d, test_format("%s,%s", NODE("a", "{'post':[['pack','go',2]]}"), others),
                     edges),
            bag));
    /* A rule takes an action that no edge names, the default edge does not. */
    CHECK_TEXT(
        "default at second",
        ran(d, nodes_of(d, test_format("%s,%s", NODE("a", ACT("odd")), others), edges), bag));
}

TEST(flow_route, a_rule_does_not_see_what_its_node_may_not_read) /* [F7], U11 */
{
    desk *d = script_desk(t);
    const char *rule = "{'==':[{'var':'secret'},1]}", *any = "{'!!':[{'var':''}]}";
    const char *deny = ",'permissions':{'deny':['secret']}";
    valise_backpack *bag = bag_of(d, "x");

    CHECK_OK(pack(bag, "secret", "1", &t->err));
    CHECK_TEXT("default at a",
               ran(d,
                   nodes_of(d, test_format("%s,%s", node_("a", "{}", deny), NODE("b", "{}")),
                            edge_("a", "b", rule)),
                   bag));
    CHECK_TEXT("default at b",
               ran(d,
                   nodes_of(d, test_format("%s,%s", node_("a2", "{}", ""), NODE("b", "{}")),
                            edge_("a2", "b", rule)),
                   bag));
    CHECK_TEXT("default at b",
               ran(d,
                   nodes_of(d, test_format("%s,%s", node_("a3", "{}", ""), NODE("b", "{}")),
                            edge_("a3", "b", any)),
                   bag));
}

TEST(flow_route, a_rule_that_fails_fails_the_node)
{
    desk *d = script_desk(t);
    const char *rule = "{'+':[{'var':'k'},{'var':'k'}]}";
    valise_backpack *bag = bag_of(d, "x");
    const char *text;

    CHECK_OK(pack(bag, "k", "[1]", &t->err));
    text = ran(
        d,
        nodes_of(d, test_format("%s,%s", NODE("a", "{}"), NODE("b", "{}")), edge_("a", "b", rule)),
        bag);
    if (strstr(text, "INVALID")) {
        HAS(text, "node 'a': ");
        HAS(d->err->hint, "the edge from 'a' to 'b'");
    } else {
        CHECK_TEXT("default at b", text);
    }
}

TEST(flow_route, a_failure_takes_the_error_edge_and_the_next_node_knows_why) /* [F3] */
{
    desk *d = script_desk(t);
    const char *const phases[] = {"prep", "exec", "post"};

    for (size_t i = 0; i < VLS_COUNT(phases); i++) {
        valise_backpack *bag = bag_of(d, test_format("x%zu", i));
        valise_flow *flow = nodes_of(
            d,
            test_format(
                "%s,%s,%s",
                NODE("a", test_format("{'%s':[['act','odd'],['fail',0,'TOO_LARGE','no room']]}",
                                      phases[i])),
                NODE("b", "{'exec':[['why','why']]}"), NODE("c", "{'exec':[['why','now']]}")),
            test_format("%s,%s", edge_("a", "b", "'error'"), edge_("b", "c", NULL)));

        CHECK_TEXT("default at c", ran(d, flow, bag));
        CHECK_TEXT("\"TOO_LARGE: node 'a': no room\"", got(bag, "why"));
        CHECK_TEXT("\"nothing\"", got(bag, "now"));
    }
}

TEST(flow_route, what_nobody_takes_is_the_failure_of_the_run_and_names_the_node) /* [F3] */
{
    desk *d = script_desk(t);
    valise_flow *flow = flow_of(
        d, "{'subflows':[{'namespace':'in','nodes':[{'id':'b','type':'kit.Script','params':{'exec':"
           "[['fail',0,'LIMIT','enough']]}}]}],'nodes':[{'id':'a','type':'kit.Script'}],"
           "'start':'a','edges':[{'from':'a','to':'in'}]}");
    valise_flow_result result = VALISE_FLOW_RESULT_INIT;

    CHECK_RC(VALISE_E_LIMIT, valise_flow_run(&result, NULL, flow, bag_of(d, "x"), NULL, &t->err));
    CHECK_TEXT("node 'in/b': enough", t->err.message);
    CHECK_TEXT("in/b", result.node);
    CHECK_TEXT("", result.action);
    CHECK_INT(3, result.steps);
}

TEST(flow_route, an_error_edge_of_a_subflow_takes_what_fails_inside)
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    valise_flow *flow = flow_of(
        d, "{'subflows':[{'namespace':'in','nodes':[{'id':'b','type':'kit.Script','params':{'exec':"
           "[['fail',0,'LIMIT','enough']]}}]}],'nodes':[{'id':'c','type':'kit.Script','params':{"
           "'exec':[['why','why']]}}],'start':'in','edges':[{'from':'in','to':'c','condition':"
           "'error'}]}");

    CHECK_TEXT("default at c", ran(d, flow, bag));
    CHECK_TEXT("\"LIMIT: node 'in/b': enough\"", got(bag, "why"));
}

TEST(flow_route, a_failure_that_says_nothing_is_not_said_to_be_an_earlier_one)
{
    desk *d = script_desk(t);
    const char *text;
    valise_flow *flow =
        nodes_of(d,
                 test_format("%s,%s", NODE("a", "{'exec':[['fail',0,'LIMIT','an old story']]}"),
                             NODE("b", "{'prep':[['fail',0,'TOO_LARGE',null]]}")),
                 edge_("a", "b", "'error'"));

    text = ran(d, flow, bag_of(d, "x"));
    CHECK_TEXT("TOO_LARGE: node 'b': it failed without saying why", text);
}

TEST(flow_route, a_node_that_returns_one_code_and_says_another_one_fails_with_what_it_returns)
{
    desk *d = script_desk(t);

    CHECK_TEXT(
        "LIMIT: node 'a': a lie",
        ran(d, nodes_of(d, NODE("a", "{'post':[['lie','LIMIT','INVALID']]}"), ""), bag_of(d, "x")));
    CHECK_INT(VALISE_E_LIMIT, t->err.code);
    CHECK_TEXT(
        "LIMIT: node 'b': a lie",
        ran(d, nodes_of(d, NODE("b", "{'exec':[['lie','LIMIT','INVALID']]}"), ""), bag_of(d, "x")));
    CHECK_INT(VALISE_E_LIMIT, t->err.code);
}

TEST(flow_route, loops_until_a_node_says_otherwise) /* [F3] */
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    valise_flow *flow = nodes_of(
        d,
        test_format("%s,%s",
                    NODE("a", "{'exec':[['inc','n']],'post':[['until','n',5,'again','out']]}"),
                    NODE("b", "{}")),
        test_format("%s,%s", edge_("a", "a", "'again'"), edge_("a", "b", "'out'")));

    CHECK_TEXT("default at b", ran(d, flow, bag));
    CHECK_TEXT("5", got(bag, "n"));
}

TEST(flow_route, max_steps_ends_a_runaway_and_names_the_last_nodes) /* [F3], U34 */
{
    desk *d = script_desk(t);
    const char *nodes = test_format("%s,%s", NODE("a", "{}"), NODE("b", "{}"));
    const char *edges = test_format("%s,%s", edge_("a", "b", NULL), edge_("b", "a", NULL));
    valise_flow *flow = nodes_of(d, nodes, edges);
    valise_flow *own =
        flow_of(d, test_format("{'maxSteps':7,'nodes':[%s],'edges':[%s]}", nodes, edges));
    valise_flow_run_options options = VALISE_FLOW_RUN_OPTIONS_INIT;
    valise_flow_result result = VALISE_FLOW_RESULT_INIT;
    valise_backpack *bag = bag_of(d, "x");

    options.max_steps = 3;
    CHECK_RC(VALISE_E_LIMIT, valise_flow_run(&result, NULL, flow, bag, &options, &t->err));
    CHECK_TEXT("the flow took more than 3 steps; the last nodes were a, b, a", t->err.message);
    CHECK_INT(3, result.steps);
    CHECK_TEXT("a", result.node);
    CHECK_RC(VALISE_E_LIMIT, valise_flow_run(&result, NULL, own, bag, NULL, &t->err));
    CHECK_INT(7, result.steps);
    options.max_steps = 2;
    CHECK_RC(VALISE_E_LIMIT, valise_flow_run(&result, NULL, own, bag, &options, &t->err));
    CHECK_INT(2, result.steps);
    if (!t->param || strcmp(t->param, "sqlite") != 0 || !test_is_watched()) {
        CHECK_RC(VALISE_E_LIMIT, valise_flow_run(&result, NULL, flow, bag, NULL, &t->err));
        CHECK_INT(10000, result.steps);
    }
    options.max_steps = -1;
    CHECK_RC(VALISE_E_INVALID, valise_flow_run(&result, NULL, flow, bag, &options, &t->err));
}

TEST(flow_route, a_run_of_exactly_max_steps_is_fine)
{
    desk *d = script_desk(t);
    valise_flow_run_options options = VALISE_FLOW_RUN_OPTIONS_INIT;
    valise_flow *flow =
        nodes_of(d, test_format("%s,%s", NODE("a", "{}"), NODE("b", "{}")), edge_("a", "b", NULL));

    options.max_steps = 2;
    CHECK_OK(valise_flow_run(NULL, NULL, flow, bag_of(d, "x"), &options, &t->err));
    options.max_steps = 1;
    CHECK_RC(VALISE_E_LIMIT, valise_flow_run(NULL, NULL, flow, bag_of(d, "x"), &options, &t->err));
}

TEST(flow_route, steps_of_all_levels_count_together)
{
    desk *d = script_desk(t);
    valise_flow *flow = flow_of(
        d, "{'maxSteps':9,'subflows':[{'namespace':'in','nodes':[{'id':'b','type':'kit.Script'}],"
           "'edges':[{'from':'b','to':'b'}]}],'nodes':[],'start':'in','edges':[]}");
    valise_flow_result result = VALISE_FLOW_RESULT_INIT;

    CHECK_RC(VALISE_E_LIMIT, valise_flow_run(&result, NULL, flow, bag_of(d, "x"), NULL, &t->err));
    CHECK_INT(9, result.steps);
    HAS(t->err.message, "the last nodes were in/b, in/b");
}

/* ---- mappings ---- */

static const char *mapped(const char *from, const char *to, const char *condition,
                          const char *mappings)
{
    return test_format("{'from':'%s','to':'%s','condition':'%s','mappings':%s}", from, to,
                       condition, mappings);
}

TEST(flow_route, an_edge_carries_keys_over_each_time_it_is_taken) /* [F17]: the original threw on
                                                                     the second lap */
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    valise_flow *flow = nodes_of(
        d,
        test_format("%s,%s",
                    NODE("a", "{'exec':[['inc','n']],'post':[['until','n',4,'go','stop']]}"),
                    NODE("b", "{'exec':[['read','seen'],['inc','laps']]}")),
        test_format("%s,%s", mapped("a", "b", "go", "{'n':'seen'}"), edge_("b", "a", NULL)));

    CHECK_TEXT("stop at a", ran(d, flow, bag));
    CHECK_TEXT("3", got(bag, "seen"));
    CHECK_TEXT("3", got(bag, "laps"));
    CHECK_INT(3, item_of(bag, "seen").version);
    CHECK_STR(VLS_STR("a"), item_of(bag, "seen").node_id);
}

TEST(flow_route, only_the_edge_that_is_taken_carries)
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    valise_flow *flow = nodes_of(
        d,
        test_format("%s,%s,%s", NODE("a", "{'exec':[['pack','n',1]],'post':[['act','go']]}"),
                    NODE("b", "{}"), NODE("c", "{}")),
        test_format("%s,%s", mapped("a", "b", "go", "{'n':'one'}"),
                    mapped("a", "c", "other", "{'n':'two'}")));

    CHECK_TEXT("default at b", ran(d, flow, bag));
    CHECK_TEXT("n=1 one=1", items(bag));
}

TEST(flow_route, what_is_not_there_is_not_carried_over_and_is_warned_of) /* [F17] */
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    valise_flow *flow = nodes_of(d, test_format("%s,%s", NODE("a", "{}"), NODE("b", "{}")),
                                 mapped("a", "b", "default", "{'n':'one'}"));
    tale *l = tale_of(d, "flow:WARNING");

    CHECK_OK(pack(bag, "one", "7", &t->err));
    CHECK_TEXT("default at b", ran(d, flow, bag));
    CHECK_TEXT("7", got(bag, "one"));
    HAS(told(l), "there is no 'n' to carry over to 'one'");
}

TEST(flow_route, what_is_carried_over_keeps_its_tags_and_lists) /* [F17], U11 */
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    valise_flow *flow =
        nodes_of(d, test_format("%s,%s", NODE("a", "{}"), NODE("b", "{'exec':[['read','copy']]}")),
                 mapped("a", "b", "default", "{'card':'copy'}"));
    valise_pack_options options = VALISE_PACK_OPTIONS_INIT;
    const char *text;

    options.tags = NAMES("pii");
    options.read = NAMES("a");
    CHECK_OK(valise_pack(NULL, bag, "card", "\"4711\"", &options, &t->err));
    text = ran(d, flow, bag);
    HAS(text, "DENIED: node 'b': ");
    CHECK_INT(1, (intmax_t)item_of(bag, "copy").tags.count);
}

TEST(flow_route, a_mapping_goes_through_the_view_of_the_node) /* [F17], U12 */
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    const char *edges = mapped("a", "b", "default", "{'card':'copy'}");

    CHECK_OK(pack(bag, "card", "1", &t->err));
    HAS(ran(d,
            nodes_of(d,
                     test_format("%s,%s", node_("a", "{}", ",'permissions':{'deny':['card']}"),
                                 NODE("b", "{}")),
                     edges),
            bag),
        "DENIED: node 'a': ");
    HAS(ran(d,
            nodes_of(d,
                     test_format("%s,%s",
                                 node_("a", "{}",
                                       ",'permissions':{'read':['card'],"
                                       "'write':['other']}"),
                                 NODE("b", "{}")),
                     edges),
            bag),
        "DENIED: node 'a': ");
    CHECK_TEXT("card=1", items(bag));
}

TEST(flow_route, an_error_edge_carries_too) /* [F17]: per edge taken */
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    valise_flow *flow = nodes_of(
        d,
        test_format("%s,%s",
                    NODE("a", "{'prep':[['pack','n',1]],'exec':[['fail',0,'LIMIT','enough']]}"),
                    NODE("b", "{}")),
        mapped("a", "b", "error", "{'n':'one'}"));

    CHECK_TEXT("default at b", ran(d, flow, bag));
    CHECK_TEXT("n=1 one=1", items(bag));
}
