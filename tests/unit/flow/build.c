/* build.c -- flows made by hand. [F1] [F3] */
#include "flow/kit.h"

static void add(test *t, valise_flow *flow, const char *config)
{
    CHECK_OK(valise_flow_add_node(flow, NULL, kit_quote(config), &t->err));
}

TEST(flow_build, on_and_next_make_edges)
{
    valise *v = kit_open(t);
    valise_flow *flow = kit_new(t, v, "sales");
    vls_flow_node *chat;

    add(t, flow, "{'id':'chat','type':'ChatNode'}");
    add(t, flow, "{'id':'search','type':'SearchNode'}");
    add(t, flow, "{'id':'summary','type':'SummaryNode'}");
    CHECK_OK(valise_flow_on(flow, "chat", "needs_search", "search", &t->err));
    CHECK_OK(valise_flow_on(flow, "chat", "direct_answer", "summary", &t->err));
    CHECK_OK(valise_flow_next(flow, "search", "summary", &t->err));
    CHECK_OK(valise_flow_on(flow, "summary", "again", "chat", &t->err)); /* loops are fine */
    CHECK_OK(vls_flow_link(flow, NULL, &t->err));
    chat = vls_flow_find(flow, VLS_STR("chat"));
    CHECK(flow->first == chat); /* the first node that was added */
    CHECK_INT(2, chat->edge_count);
    CHECK_STR(VLS_STR("needs_search"), chat->edges[0]->action);
    CHECK_STR(VLS_STR("summary"), chat->edges[1]->target->id);
    /* next() is on("default"), and the action of a node that chooses none is that. U22 [F3] */
    CHECK_STR(VLS_STR("default"), vls_flow_find(flow, VLS_STR("search"))->edges[0]->action);
    CHECK_TEXT(kit_canonical(t, "{'version':'2.0.0','namespace':'sales','nodes':["
                                "{'id':'chat','type':'ChatNode'},{'id':'search','type':"
                                "'SearchNode'},{'id':'summary','type':'SummaryNode'}],'edges':["
                                "{'from':'chat','to':'search','condition':'needs_search'},"
                                "{'from':'chat','to':'summary','condition':'direct_answer'},"
                                "{'from':'search','to':'summary'},"
                                "{'from':'summary','to':'chat','condition':'again'}]}"),
               kit_config_of(t, flow));
}

TEST(flow_build, an_id_or_an_action_that_is_taken)
{
    valise *v = kit_open(t);
    valise_flow *flow = kit_new(t, v, NULL);

    add(t, flow, "{'id':'a','type':'SearchNode'}");
    add(t, flow, "{'id':'b','type':'SearchNode'}");
    /* Nothing is overwritten silently. U20 */
    CHECK_RC(VALISE_E_EXISTS,
             valise_flow_add_node(flow, NULL, kit_quote("{'id':'a','type':'ChatNode'}"), &t->err));
    CHECK_TEXT("id", t->err.path);
    CHECK_TEXT("SearchNode", vls_flow_find(flow, VLS_STR("a"))->type->name);
    CHECK_OK(valise_flow_on(flow, "a", "go", "b", &t->err));
    CHECK_RC(VALISE_E_EXISTS, valise_flow_on(flow, "a", "go", "a", &t->err));
    CHECK_OK(valise_flow_next(flow, "a", "b", &t->err));
    CHECK_RC(VALISE_E_EXISTS, valise_flow_on(flow, "a", "default", "b", &t->err));
    CHECK_RC(VALISE_E_EXISTS,
             valise_flow_add_edge(flow, kit_quote("{'from':'a','to':'a'}"), &t->err));
    CHECK_INT(2, flow->nodes.len);
    CHECK_INT(2, flow->edges.len);
}

TEST(flow_build, edges_to_nowhere)
{
    valise *v = kit_open(t);
    valise_flow *flow = kit_new(t, v, NULL);

    add(t, flow, "{'id':'search','type':'SearchNode'}");
    CHECK_RC(VALISE_E_NOT_FOUND, valise_flow_next(flow, "search", "serch", &t->err));
    CHECK_TEXT("there is no node 'serch'", t->err.message);
    CHECK_TEXT("did you mean 'search'?", t->err.hint);
    CHECK_TEXT("to", t->err.path);
    CHECK_RC(VALISE_E_NOT_FOUND, valise_flow_next(flow, "x", "search", &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_flow_on(flow, "search", "", "search", &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_flow_on(flow, "search", "a\nb", "search", &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_flow_on(flow, "search", "\xff", "search", &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_flow_add_edge(flow, kit_quote("{'from':'search'}"), &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_flow_add_edge(flow, "[", &t->err));
    CHECK_INT(0, flow->edges.len);
}

/* Any type, also one that nobody registered; one signature for all of them. S34 [F1] */
TEST(flow_build, a_type_of_ones_own)
{
    static const valise_node_type own = {
        .size = sizeof(valise_node_type), .name = "Own", .brief = "Mine.", .segment = "own"};
    static const valise_node_type bad_name = {.size = sizeof(valise_node_type), .name = "a.b"};
    static const valise_node_type no_size = {.size = 8, .name = "Own"};
    static const valise_node_type bad_segment = {
        .size = sizeof(valise_node_type), .name = "Own", .segment = "a.b"};
    static const valise_node_type bad_schema = {
        .size = sizeof(valise_node_type), .name = "Own", .params_schema = "{\"type\":7}"};
    valise *v = kit_open(t);
    valise_flow *flow = kit_new(t, v, "s");

    CHECK_OK(valise_flow_add_node(flow, &own, kit_quote("{'id':'a'}"), &t->err));
    CHECK_OK(valise_flow_add_node(flow, &own, kit_quote("{'id':'b','type':'Own'}"), &t->err));
    CHECK_RC(VALISE_E_INVALID,
             valise_flow_add_node(flow, &own, kit_quote("{'id':'c','type':'ChatNode'}"), &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_flow_add_node(flow, &bad_name, "{}", &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_flow_add_node(flow, &no_size, "{}", &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_flow_add_node(flow, &bad_segment, "{}", &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_flow_add_node(flow, &bad_schema, "{}", &t->err));
    CHECK_TEXT("a s.own\nb s.own\n", kit_names(flow));
    CHECK_TEXT(kit_canonical(t, "{'version':'2.0.0','namespace':'s','nodes':[{'id':'a','type':"
                                "'Own'},{'id':'b','type':'Own'}]}"),
               kit_config_of(t, flow));
}

TEST(flow_build, a_subflow_is_built_further)
{
    valise *v = kit_open(t);
    valise_flow *flow = kit_new(t, v, "sales"), *inner = NULL, *other = NULL;

    CHECK_OK(valise_flow_add_subflow(&inner, flow, kit_quote("{'namespace':'reports'}"), &t->err));
    CHECK_OK(valise_flow_add_node(inner, NULL, kit_quote("{'id':'daily','type':'ReportNode'}"),
                                  &t->err));
    add(t, flow, "{'id':'chat','type':'ChatNode'}");
    CHECK_OK(valise_flow_next(flow, "reports", "chat", &t->err));
    CHECK_TEXT("reports sales.reports\nreports/daily sales.reports.daily\nchat sales.chat\n",
               kit_names(flow));
    CHECK_RC(VALISE_E_EXISTS,
             valise_flow_add_subflow(&other, flow, kit_quote("{'namespace':'reports'}"), &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_flow_add_subflow(&other, flow, "{}", &t->err));
    CHECK(other == NULL);
    CHECK_INT(3, flow->node_count);
    valise_flow_free(inner); /* it is the flow's: nothing happens */
    CHECK_OK(vls_flow_link(flow, NULL, &t->err));
    /* It starts with what was added first, also when it is read again. */
    CHECK_TEXT(kit_canonical(t, "{'version':'2.0.0','namespace':'sales','start':'reports',"
                                "'nodes':[{'id':'chat','type':'ChatNode'}],"
                                "'edges':[{'from':'reports','to':'chat'}],'subflows':["
                                "{'namespace':'reports','nodes':[{'id':'daily','type':"
                                "'ReportNode'}]}]}"),
               kit_config_of(t, flow));
}

/* What could not be added leaves nothing behind, and what was made is freed. */
TEST(flow_build, what_is_refused_leaves_nothing)
{
    valise *v = kit_open(t);
    valise_flow *flow = kit_new(t, v, NULL);

    CHECK_RC(VALISE_E_INVALID,
             valise_flow_add_node(flow, NULL,
                                  kit_quote("{'id':'a','type':'SearchNode','timeout':'never',"
                                            "'inputs':{'k':{'type':'string'}}}"),
                                  &t->err));
    CHECK_TEXT("timeout", t->err.path);
    CHECK_RC(VALISE_E_UNSUPPORTED,
             valise_flow_add_node(flow, NULL,
                                  kit_quote("{'id':'a','type':'MadeNode','params':{'x':'refuse'}}"),
                                  &t->err));
    CHECK_INT(0, kit_made);
    CHECK_RC(VALISE_E_INVALID, valise_flow_add_node(flow, NULL, "{}", &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_flow_add_subflow(NULL, flow, "{\"id\":\"\"}", &t->err));
    CHECK_RC(VALISE_E_INVALID, vls_flow_link(flow, NULL, &t->err)); /* there is no node at all */
    CHECK_TEXT("nodes", t->err.path);
    add(t, flow, "{'id':'a','type':'MadeNode'}");
    CHECK_INT(1, kit_made);
    CHECK_RC(VALISE_E_EXISTS,
             valise_flow_add_node(flow, NULL, kit_quote("{'id':'a','type':'MadeNode'}"), &t->err));
    CHECK_INT(1, kit_made);
    CHECK_OK(vls_flow_link(flow, NULL, &t->err));
    CHECK_INT(1, flow->node_count);
}

TEST(flow_build, namespaces_and_options_are_checked)
{
    static const valise_node_type one = {.size = sizeof(valise_node_type), .name = "One"};
    static const valise_node_type *const twice[] = {&one, &one, NULL};
    valise *v = kit_open(t);
    valise_flow_options options = VALISE_FLOW_OPTIONS_INIT;
    valise_flow *flow = NULL;

    CHECK_RC(VALISE_E_INVALID, valise_flow_new(&flow, v, "sales.", NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_flow_new(&flow, v, "sales.*", NULL, &t->err));
    options.flags = 64;
    CHECK_RC(VALISE_E_INVALID, valise_flow_new(&flow, v, NULL, &options, &t->err));
    options.flags = 0;
    options.types = twice;
    CHECK_RC(VALISE_E_EXISTS, valise_flow_new(&flow, v, NULL, &options, &t->err));
    options.size = 3;
    CHECK_RC(VALISE_E_INVALID, valise_flow_new(&flow, v, NULL, &options, &t->err));
    CHECK(flow == NULL);
    valise_flow_free(NULL);
}
