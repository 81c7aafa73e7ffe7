/* names.c -- ids, paths and namespaces. [F1] [F4] [F19] */
#include "flow/kit.h"

/* The seed's function: composeNamespace(parent, segment, id). */
static const char *compose(test *t, const char *parent, const char *segment, const char *id)
{
    VLS_AUTO(arena) vls_arena arena = {.env = NULL};
    valise_str out = {NULL, 0};

    vls_arena_init(&arena, t->env, 1 << 16);
    CHECK_OK(vls_flow_join_namespace(&out, &arena, valise_str_of(parent),
                                     valise_str_of(segment ? segment : id), &t->err));
    return out.ptr ? test_format("%.*s", VALISE_STR_ARG(out)) : NULL;
}

/* Word by word as the seed has them. [F4] */
TEST(flow_names, the_four_examples_of_composeNamespace)
{
    CHECK_TEXT("sales.summary", compose(t, "sales", "summary", "node-123"));
    CHECK_TEXT("sales.reports.daily", compose(t, "sales.reports", "daily", "n-1"));
    CHECK_TEXT("root", compose(t, NULL, "root", "node-1"));
    CHECK_TEXT("sales.node-123", compose(t, "sales", NULL, "node-123"));
    CHECK(compose(t, "", "", "") == NULL);
    CHECK_TEXT("sales", compose(t, "sales", "", ""));
}

/* The same by configuration: static segment, else that of the node, else its id. [F4] */
TEST(flow_names, static_segment_else_configured_else_id)
{
    valise *v = kit_open(t);
    valise_flow *flow = kit_flow(t, v,
                                 "{'namespace':'sales','nodes':["
                                 "{'id':'chat-node','type':'ChatNode'},"
                                 "{'id':'node-123','type':'SummaryNode','namespace':'summary'},"
                                 "{'id':'node-124','type':'SummaryNode'}],"
                                 "'edges':[{'from':'chat-node','to':'node-123'},"
                                 "{'from':'node-123','to':'node-124'}]}");

    CHECK_TEXT("chat-node sales.chat\nnode-123 sales.summary\nnode-124 sales.node-124\n",
               kit_names(flow));
    /* The static one wins, and that is told. */
    CHECK_TEXT(
        "a chat\n",
        kit_names(kit_flow(t, v, "{'nodes':[{'id':'a','type':'ChatNode','namespace':'mine'}]}")));
    CHECK_TEXT(
        "warning nodes[0].namespace: it is not used: nodes of type ChatNode have the segment "
        "'chat'\n",
        kit_check(t, v, "{'nodes':[{'id':'a','type':'ChatNode','namespace':'mine'}]}"));
}

/* The seed's configuration: "sales.chat (from ChatNode.namespaceSegment = "chat")" and
 * "sales.reports.daily (nested composition)". [F4] */
TEST(flow_names, sales_chat_and_sales_reports_daily)
{
    valise *v = kit_open(t);
    valise_flow *flow =
        kit_flow(t, v,
                 "{'version':'2.0.0','namespace':'sales','nodes':[{'id':'chat-node','type':"
                 "'ChatNode'}],'subflows':[{'namespace':'reports','nodes':[{'id':'daily','type':"
                 "'ReportNode'}]}]}");

    CHECK_TEXT("chat-node sales.chat\nreports sales.reports\nreports/daily sales.reports.daily\n",
               kit_names(flow));
}

/* The seed's ResearchAgentNode makes a flow within, which inherits "sales.researchAgent". [F4] */
TEST(flow_names, a_node_with_a_flow_inside_gives_its_namespace_on)
{
    valise *v = kit_open(t);
    valise_flow *flow = kit_new(t, v, "sales"), *inner = NULL;
    vls_flow_node *agent;

    CHECK_OK(valise_flow_add_node(flow, NULL,
                                  kit_quote("{'id':'agent','type':'ResearchAgentNode'}"), &t->err));
    agent = vls_flow_find(flow, VLS_STR("agent"));
    CHECK_OK(vls_flow_make_inner(&inner, agent, &t->err));
    CHECK_OK(
        valise_flow_add_node(inner, NULL, kit_quote("{'id':'chat','type':'ChatNode'}"), &t->err));
    CHECK_OK(valise_flow_add_node(inner, NULL, kit_quote("{'id':'search','type':'SearchNode'}"),
                                  &t->err));
    CHECK_OK(valise_flow_add_node(inner, NULL, kit_quote("{'id':'summary','type':'SummaryNode'}"),
                                  &t->err));
    CHECK_TEXT("agent sales.researchAgent\n"
               "agent/chat sales.researchAgent.chat\n"
               "agent/search sales.researchAgent.search\n"
               "agent/summary sales.researchAgent.summary\n",
               kit_names(flow));
}

/* "One type in two flows gives two namespaces without change to the type." [F4] */
TEST(flow_names, one_type_in_two_flows)
{
    valise *v = kit_open(t);

    CHECK_TEXT("c sales.chat\n", kit_names(kit_flow(t, v,
                                                    "{'namespace':'sales','nodes':[{'id':'c',"
                                                    "'type':'ChatNode'}]}")));
    CHECK_TEXT("c support.chat\n", kit_names(kit_flow(t, v,
                                                      "{'namespace':'support','nodes':[{'id':'c',"
                                                      "'type':'ChatNode'}]}")));
}

/* An empty namespace of a subflow adds nothing, and never a dot. [F19] S16 */
TEST(flow_names, an_empty_subflow_namespace_adds_nothing)
{
    valise *v = kit_open(t);
    valise_flow *flow = kit_flow(
        t, v,
        "{'namespace':'sales','subflows':[{'id':'in','namespace':'','nodes':[{'id':'a','type':"
        "'SearchNode'}]}]}");

    CHECK_TEXT("in sales\nin/a sales.a\n", kit_names(flow));
    flow = kit_flow(t, v,
                    "{'subflows':[{'id':'in','namespace':'','nodes':[{'id':'a','type':"
                    "'SearchNode'}]}]}");
    CHECK_TEXT("in \nin/a a\n", kit_names(flow));
    /* Without one it has the id, as any node. */
    flow = kit_flow(t, v,
                    "{'namespace':'s','subflows':[{'id':'in','nodes':[{'id':'a','type':"
                    "'SearchNode'}]}]}");
    CHECK_TEXT("in s.in\nin/a s.in.a\n", kit_names(flow));
}

/* SubflowNode: the node's namespace, else that of the flow inside, else the id. [F19] */
TEST(flow_names, of_a_SubflowNode)
{
    valise *v = kit_open(t);
#define INNER(more) "'params':{'flow':{" more "'nodes':[{'id':'a','type':'SearchNode'}]}}"
    valise_flow *flow = kit_flow(
        t, v,
        "{'namespace':'s','nodes':["
        "{'id':'x','type':'SubflowNode','namespace':'mine'," INNER(
            "'namespace':'its',") "},"
                                  "{'id':'y','type':'SubflowNode'," INNER(
                                      "'namespace':'its',") "},"
                                                            "{'id':'z','type':'SubflowNode'," INNER(
                                                                "") "},"
                                                                    "{'id':'e','type':'SubflowNode'"
                                                                    "," INNER(
                                                                        "'namespace':'',") "}]}");
#undef INNER
    CHECK_TEXT("x s.mine\nx/a s.mine.a\ny s.its\ny/a s.its.a\nz s.z\nz/a s.z.a\ne s\ne/a s.a\n",
               kit_names(flow));
}

static const char nested[] =
    "{'nodes':[{'id':'a','type':'SearchNode'}],'subflows':["
    "{'namespace':'one','nodes':[{'id':'a','type':'SearchNode'},{'id':'b','type':'SearchNode'}]},"
    "{'namespace':'two','nodes':[{'id':'b','type':'SearchNode'}],'subflows':["
    "{'namespace':'three','nodes':[{'id':'c','type':'SearchNode'},"
    "{'id':'b','type':'SearchNode'}]}]}]}";

/* Ids may come again in another flow: the path is the identity. S25 U20 [F19] */
TEST(flow_names, the_path_is_the_identity)
{
    valise *v = kit_open(t);
    valise_flow *flow = kit_flow(t, v, nested);
    static const char *const there[] = {"a", "one",   "one/a",   "two/b", "two/three/c",
                                        "c", "three", "three/c", NULL};
    vls_flow_node *node = NULL;

    CHECK_OK(vls_flow_find_path(&node, flow, VLS_STR("a"), &t->err));
    CHECK_STR(VLS_STR("a"), node->path); /* of several the one that it is */
    for (size_t i = 0; there[i]; i++)
        CHECK_OK(vls_flow_find_path(&node, flow, valise_str_of(there[i]), &t->err));
    CHECK_STR(VLS_STR("two/three/c"), node->path);
    CHECK_RC(VALISE_E_CONFLICT, vls_flow_find_path(&node, flow, VLS_STR("b"), &t->err));
    CHECK_TEXT("there are 3 nodes 'b'", t->err.message);
    CHECK_TEXT("say which: one/b, two/b, ...", t->err.hint);
    CHECK_RC(VALISE_E_NOT_FOUND, vls_flow_find_path(&node, flow, VLS_STR("ee/c"), &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, vls_flow_find_path(&node, flow, VLS_STR("one/c"), &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, vls_flow_find_path(&node, flow, VLS_STR(""), &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, vls_flow_find_path(&node, flow, VLS_STR("/a"), &t->err));
}

/* Ids and segments: [A-Za-z0-9_-]+. [F19] S16 */
TEST(flow_names, what_an_id_may_be)
{
    valise *v = kit_open(t);
    static const char *const bad[] = {"",    "a.b",      "a/b",      "a*", "*",
                                      "a b", "\xc3\xa4", "a\\u0000", "..", NULL};

    for (size_t i = 0; bad[i]; i++) {
        const char *said =
            kit_check(t, v, test_format("{'nodes':[{'id':'%s','type':'SearchNode'}]}", bad[i]));
        CHECK_MSG(strstr(said, "nodes[0].id: ") == said && strstr(said, "is no id"), "%s: %s",
                  bad[i], said);
        said = kit_check(
            t, v,
            test_format("{'nodes':[{'id':'a','type':'SearchNode','namespace':'%s'}]}", bad[i]));
        CHECK_MSG(strstr(said, "nodes[0].namespace: ") == said, "%s: %s", bad[i], said);
    }
    CHECK_TEXT("", kit_check(t, v, "{'nodes':[{'id':'A-z_09','type':'SearchNode'}]}"));
    CHECK_TEXT("", kit_check(t, v, "{'nodes':[{'id':'__proto__','type':'SearchNode'}]}"));
    CHECK_TEXT("namespace: 'sales.' is not a namespace (write words with dots between them, such "
               "as sales.reports)\n",
               kit_check(t, v, "{'namespace':'sales.','nodes':[{'id':'a','type':'SearchNode'}]}"));
}

/* Paths are ids of nodes in backpacks: 256 bytes. Too many levels are an error too. [F19] */
TEST(flow_names, paths_and_depths_have_a_limit)
{
    valise *v = kit_open(t);
    const char *name = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"; /* 64 */
    const char *inside = "'nodes':[{'id':'a','type':'SearchNode'}]";
    const char *deep = inside;

    for (int i = 0; i < 4; i++)
        inside = test_format("'subflows':[{'id':'%s','namespace':'n%d',%s}]", name, i, inside);
    CHECK_TEXT("subflows[0].subflows[0].subflows[0].subflows[0]: its path has 259 bytes, and may "
               "have 256 (give shorter ids, or fewer levels)\n"
               "subflows[0].subflows[0].subflows[0].subflows[0].nodes[0]: its path has 261 bytes, "
               "and may have 256 (give shorter ids, or fewer levels)\n",
               kit_check(t, v, test_format("{%s}", inside)));
    for (unsigned i = 0; i + 1 < VLS_FLOW_DEPTH_MAX; i++)
        deep = test_format("'subflows':[{'id':'s%u',%s}]", i, deep);
    CHECK_TEXT("", kit_check(t, v, test_format("{%s}", deep)));
    deep = kit_check(t, v, test_format("{'subflows':[{'id':'s',%s}]}", deep));
    CHECK_MSG(strstr(deep, "flows are nested more than 16 deep"), "%s", deep);
}

/* Two nodes with one namespace are allowed and reported. S25 [F19] */
TEST(flow_names, two_nodes_with_one_namespace_are_reported)
{
    valise *v = kit_open(t);

    CHECK_TEXT("warning nodes[1]: its namespace 'sales.chat' is also that of 'one' (give one of "
               "them another `namespace`, where its type has none)\n",
               kit_check(t, v,
                         "{'namespace':'sales','nodes':[{'id':'one','type':'ChatNode'},"
                         "{'id':'two','type':'ChatNode'}],'edges':[{'from':'one','to':'two'}]}"));
}
