/* run_contract.c -- what a node takes and gives. [F17] */
#include "run_kit.h"

TEST_PARAMS(flow_contract, "ephemeral", "sqlite")

TEST(flow_contract, defaults_are_packed_by_the_node) /* [F17] */
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    valise_flow *flow =
        nodes_of(d,
                 node_("a", "{'prep':[['inc','limit']]}",
                       ",'inputs':{'limit':{'type':'integer','default':5},'maybe':{'type':'string',"
                       "'optional':true}}"),
                 "");

    CHECK_TEXT("default at a", ran(d, flow, bag));
    CHECK_TEXT("limit=6", items(bag));
    CHECK_TEXT("1 pack limit v1 by a; 2 pack limit v2 by a", all_history(bag));
    CHECK_TEXT("default at a", ran(d, flow, bag)); /* what is there stays */
    CHECK_TEXT("limit=7", items(bag));
}

TEST(flow_contract, defaults_of_properties_inside_are_filled_in) /* [F17] */
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    const char *schema =
        "{'type':'object','required':['a','in'],'properties':{'a':{'type':'integer','default':1},'"
        "in':{"
        "'type':'object','default':{},'properties':{'b':{'default':[2]},'c':{'type':'string'}}}}}";
    valise_flow *flow =
        nodes_of(d, node_("n", "{}", test_format(",'inputs':{'k':%s}", schema)), "");

    CHECK_OK(pack(bag, "k", "{\"z\":0}", &t->err));
    CHECK_TEXT("default at n", ran(d, flow, bag));
    CHECK_TEXT("{\"a\":1,\"in\":{\"b\":[2]},\"z\":0}", got(bag, "k"));
    CHECK_INT(2, item_of(bag, "k").version);
    CHECK_TEXT("default at n", ran(d, flow, bag));
    CHECK_INT(2, item_of(bag, "k").version); /* nothing is new */
}

TEST(flow_contract, what_is_missing_names_the_key) /* [F17] */
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    tale *l = tale_of(d, NULL);
    valise_flow *flow = nodes_of(
        d, node_("a", "{'prep':[['pack','ran',1]]}", ",'inputs':{'query':{'type':'string'}}"), "");

    CHECK_TEXT("INVALID: node 'a': input 'query' of 'a' is missing", ran(d, flow, bag));
    HAS(t->err.hint, "`default`");
    CHECK_TEXT("", items(bag)); /* before prep */
    HAS(told(l), "\"phase\":\"inputs\",\"retry\":false");
}

TEST(flow_contract, a_violation_names_key_and_path) /* [F17] */
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    const char *schema = "{'type':'object','properties':{'list':{'items':{'type':'integer'}}}}";
    const char *text;
    tale *l;

    CHECK_OK(pack(bag, "q", "{\"list\":[1,\"two\"]}", &t->err));
    text =
        ran(d, nodes_of(d, node_("a", "{}", test_format(",'inputs':{'q':%s}", schema)), ""), bag);
    HAS(text, "INVALID: node 'a': input 'q' of 'a': ");
    HAS(text, "list/1");
    l = tale_of(d, "flow:ERROR");
    text = ran(d,
               nodes_of(d,
                        node_("b", "{'exec':[['pack','out',{'list':['x']}]]}",
                              test_format(",'outputs':{'out':%s}", schema)),
                        ""),
               bag);
    HAS(text, "INVALID: node 'b': output 'out' of 'b': ");
    HAS(text, "list/0");
    HAS(told(l), "\"phase\":\"post\"");
}

/* ... and does not quote what is there: an item may be one that not everybody may see. */
TEST(flow_contract, a_violation_quotes_no_value) /* [F12] [F17], U26 */
{
    static const char *const schemas[] = {"{'type':'integer'}",
                                          "{'enum':['a','b']}",
                                          "{'const':'a'}",
                                          "{'maxLength':3}",
                                          "{'pattern':'^x'}",
                                          "{'anyOf':[{'type':'integer'},{'const':'a'}]}",
                                          "{'not':{'type':'string'}}",
                                          "false"};
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    tale *l = tale_of(d, "flow:*");

    CHECK_OK(pack(bag, "apiKey", "\"sk-SECRET\"", &t->err));
    for (size_t i = 0; i < VLS_COUNT(schemas); i++) {
        for (size_t k = 0; k < 2; k++) {
            const char *more = k == 0 ? test_format(",'inputs':{'apiKey':%s}", schemas[i])
                                      : test_format(",'permissions':{'deny':['apiKey']},"
                                                    "'outputs':{'apiKey':%s}",
                                                    schemas[i]);
            const char *said =
                ran(d, nodes_of(d, node_(k == 0 ? "a" : "b", "{'exec':[]}", more), ""), bag);

            HAS(said, test_format("'apiKey' of '%c': (root)", k == 0 ? 'a' : 'b'));
            HAS_NOT(said, "SECRET");
        }
    }
    HAS_NOT(told(l), "SECRET");
}

TEST(flow_contract, outputs_are_checked_after_post) /* [F17] */
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    const char *outputs = ",'outputs':{'o':{'type':'integer'},'p':{'optional':true}}";

    CHECK_TEXT("default at a",
               ran(d, nodes_of(d, node_("a", "{'post':[['pack','o',1]]}", outputs), ""), bag));
    CHECK_TEXT("INVALID: node 'b': output 'o' of 'b' is missing",
               ran(d, nodes_of(d, node_("b", "{}", outputs), ""), bag_of(d, "y")));
}

TEST(flow_contract, an_output_need_not_be_readable_for_its_node) /* [F17] */
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    const char *more =
        ",'permissions':{'write':['o'],'read':['i']},'outputs':{'o':{'type':'integer'}}";

    CHECK_TEXT("default at a",
               ran(d, nodes_of(d, node_("a", "{'post':[['pack','o',1]]}", more), ""), bag));
    HAS(ran(d, nodes_of(d, node_("b", "{'post':[['pack','o','no']]}", more), ""), bag),
        "INVALID: node 'b': output 'o'");
}

TEST(flow_contract, an_input_that_may_not_be_read_is_denied)
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");

    CHECK_OK(pack(bag, "q", "1", &t->err));
    HAS(ran(d, nodes_of(d, node_("a", "{}", ",'permissions':{'read':['z']},'inputs':{'q':{}}"), ""),
            bag),
        "DENIED: node 'a': ");
}

TEST(flow_contract, a_violation_takes_the_error_edge_and_is_not_tried_again) /* [F3] [F17] */
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    valise_flow *flow = nodes_of(
        d,
        test_format("%s,%s",
                    node_("a", "{'exec':[['inc','n']]}", ",'maxRetries':3,'outputs':{'o':{}}"),
                    NODE("b", "{'exec':[['why','why']]}")),
        edge_("a", "b", "'error'"));

    CHECK_TEXT("default at b", ran(d, flow, bag));
    CHECK_TEXT("1", got(bag, "n"));
    HAS(got(bag, "why"), "output 'o' of 'a' is missing");
}

#define AROUND(least)                                                                              \
    test_format("{'nodes':[{'id':'s','type':'SubflowNode','inputs':{'n':{'default':1}},'outputs':" \
                "{'n':{'minimum':"                                                                 \
                "%d}},'params':{'flow':{'nodes':[{'id':'a','type':'kit.Script','params':{'exec':[" \
                "['inc','n']]}}]}"                                                                 \
                "}}]}",                                                                            \
                least)

TEST(flow_contract, the_contract_of_a_subflow_holds_around_it)
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");

    CHECK_TEXT("default at s/a", ran(d, flow_of(d, AROUND(2)), bag));
    CHECK_TEXT("n=2", items(bag));
    HAS(ran(d, flow_of(d, AROUND(9)), bag), "INVALID: node 's': output 'n' of 's'");
}
