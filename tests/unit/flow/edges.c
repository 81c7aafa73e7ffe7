/* edges.c -- rules, and what of a backpack they need; contracts. [F7] [F17] */
#include "flow/kit.h"

/* The keys that a rule names: "a b", or "*" for all. */
static const char *reads_of(test *t, valise *v, const char *rule)
{
    valise_flow *flow = kit_flow(
        t, v,
        test_format("{'nodes':[{'id':'a','type':'SearchNode'}],'edges':[{'from':'a','to':'a',"
                    "'condition':%s}]}",
                    rule));
    const vls_flow_edge *edge = flow->edges.ptr[0];
    const char *all = "";

    CHECK(edge->action.ptr == NULL);
    for (size_t i = 0; edge->reads && i < edge->read_count; i++)
        all = test_format("%s%s%.*s", all, i ? " " : "", VALISE_STR_ARG(edge->reads[i]));
    return edge->reads ? all : "*";
}

TEST(flow_edges, which_keys_a_rule_names)
{
    static const struct {
        const char *rule, *keys;
    } cases[] = {
        {"{'==':[1,1]}", ""},
        {"{'var':'a'}", "a"},
        {"{'var':'a.b.c'}", "a"},
        {"{'and':[{'var':['b',{'var':'c'}]},{'==':[{'var':'a.x'},{'var':'a.y'}]}]}", "a b c"},
        {"{'val':['sales.total','n']}", "sales.total"},
        {"{'val':'k'}", "k"},
        {"{'exists':['k','deep']}", "k"},
        {"{'missing':['a','b.c']}", "a b"},
        {"{'missing_some':[1,['a','b.c']]}", "a b"},
        {"{'some':[{'var':'list'},{'>':[{'var':'n'},1]}]}", "list"},
        {"{'filter':[{'var':'list'},{'var':''}]}", "list"},
        {"{'reduce':[{'var':'list'},{'+':[{'var':'current'},{'var':'accumulator'}]},{'var':'z'}]}",
         "list z"},
        {"{'preserve':{'var':'a'}}", ""},
        {"{'var':''}", "*"},
        {"{'var':[]}", "*"},
        {"{'var':{'var':'a'}}", "*"},
        {"{'var':1}", "*"},
        {"{'val':[]}", "*"},
        {"{'val':[{'var':'a'}]}", "*"},
        {"{'missing':{'merge':['a']}}", "*"},
        {"{'map':[{'var':'list'},{'val':[[2],'other']}]}", "*"},
        {"{}", ""},
    };
    valise *v = kit_open(t);

    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        test_context("%s", cases[i].rule);
        CHECK_TEXT(cases[i].keys, reads_of(t, v, cases[i].rule));
    }
    test_context_end();
}

/* Rules are checked when they are loaded, and are data: there is nothing that runs. [F7] */
TEST(flow_edges, rules_that_are_none)
{
    static const char *const rules[] = {"{'nope':[1]}", "{'==':[1]}", "{'a':1,'b':2}",
                                        "{'and':[{'process':'exit'}]}", NULL};
    valise *v = kit_open(t);

    for (size_t i = 0; rules[i]; i++) {
        const char *said = kit_check(
            t, v,
            test_format("{'nodes':[{'id':'a','type':'SearchNode'}],'edges':[{'from':'a','to':'a',"
                        "'condition':%s}]}",
                        rules[i]));
        CHECK_MSG(strstr(said, "edges[0].condition: ") == said, "%s: %s", rules[i], said);
    }
}

/* In the order in which they were written, whatever their kind. [F7] */
TEST(flow_edges, order_is_kept)
{
    valise *v = kit_open(t);
    valise_flow *flow = kit_flow(
        t, v,
        "{'nodes':[{'id':'a','type':'SearchNode'},{'id':'b','type':'SearchNode'}],'edges':["
        "{'from':'a','to':'b','condition':{'var':'x'}},{'from':'b','to':'a'},"
        "{'from':'a','to':'a','condition':'go'},{'from':'a','to':'b','condition':{'var':'y'}},"
        "{'from':'a','to':'b'}]}");
    const vls_flow_node *a = vls_flow_find(flow, VLS_STR("a"));

    CHECK_INT(4, a->edge_count);
    CHECK_STR(VLS_STR("x"), a->edges[0]->reads[0]);
    CHECK_STR(VLS_STR("go"), a->edges[1]->action);
    CHECK_STR(VLS_STR("y"), a->edges[2]->reads[0]);
    CHECK_STR(VLS_STR("default"), a->edges[3]->action);
}

/* [F17] Mappings are those of an edge, and are exported; contracts are compiled when they are
 * loaded, so that what is no schema is told then. */
TEST(flow_edges, contracts_and_mappings)
{
    valise *v = kit_open(t);
    const valise_flow *flow = kit_flow(
        t, v,
        "{'nodes':[{'id':'a','type':'SearchNode','inputs':{'query':{'type':'string'},'limit':"
        "{'type':'integer','default':5},'deep':{'type':'object','properties':{'x':{'default':1}}},"
        "'maybe':{'type':'string','optional':true}},'outputs':{'found':{'type':'array'}}}],"
        "'edges':[{'from':'a','to':'a','mappings':{'found':'query'}}]}");
    const vls_flow_node *node = flow->nodes.ptr[0];
    static const struct {
        const char *key;
        bool optional, defaults;
    } wanted[] = {{"deep", false, true},
                  {"limit", false, true},
                  {"maybe", true, false},
                  {"query", false, false}};

    CHECK_INT(VLS_COUNT(wanted), node->input_count);
    for (size_t i = 0; i < VLS_COUNT(wanted); i++) {
        CHECK_STR(valise_str_of(wanted[i].key), node->inputs[i].key);
        CHECK_INT(wanted[i].optional, node->inputs[i].optional);
        CHECK_INT(wanted[i].defaults, node->inputs[i].has_defaults);
    }
    CHECK_INT(0, vls_schema_check(node->outputs[0].schema, vls_json_array(NULL, 0), NULL, NULL));
    CHECK_INT(VALISE_E_INVALID,
              vls_schema_check(node->outputs[0].schema, vls_json_int(1), NULL, NULL));
    CHECK_STR(VLS_STR("found"), flow->edges.ptr[0]->mappings[0].source);
    CHECK_STR(VLS_STR("query"), flow->edges.ptr[0]->mappings[0].target);
    CHECK_TEXT("nodes[0].inputs.: the key of an item is empty\n"
               "nodes[0].inputs.a: /type: must be null, boolean, object, array, number, string or "
               "integer, or an array of those\n"
               "nodes[0].inputs.b.optional: it must be true or false, not integer\n"
               "nodes[0].inputs.c: (root): a schema must be an object or a boolean, is 7\n",
               kit_check(t, v,
                         "{'nodes':[{'id':'a','type':'SearchNode','inputs':{'a':{'type':'strnig'},"
                         "'b':{'optional':1},'c':7,'':{}}}]}"));
}
