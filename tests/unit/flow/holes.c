/* holes.c -- what the seed's specification and its implementation left open, of definitions. */
#include <valise/sys/extension.h>

#include "base/blob.h"
#include "flow/kit.h"

/* A flow that is loaded has the backpack it was given; subflows share it: there is one definition
 * that all levels belong to. S16 [F4] */
TEST(flow_holes, S16_subflows_share_the_backpack)
{
    valise *v = NULL;
    valise_options memory = VALISE_OPTIONS_INIT;
    valise_backpack *bag = NULL;
    valise_flow_options options = kit_options();
    valise_flow *flow = NULL;
    const char *config =
        kit_quote("{'subflows':[{'namespace':'in','nodes':[{'id':'a','type':'SearchNode'}]}]}");

    memory.env = t->env;
    memory.flags = VALISE_OPEN_NO_USER_CONFIG;
    CHECK_OK(valise_open(&v, ":memory:", &memory, &t->err));
    CHECK_OK(valise_backpack_open(&bag, v, "bag", NULL, &t->err));
    CHECK_OK(valise_flow_from_config(&flow, v, valise_str_of(config), bag, &options, &t->err));
    CHECK(flow->bag == bag);
    CHECK(vls_flow_outermost(flow->nodes.ptr[0]->inner) == flow);
    valise_flow_free(flow);
    valise_backpack_close(bag);
    valise_close(v);
}

/* Two ChatNodes in a flow share a namespace and not their identity; ids come again in subflows. S25
 * U20 U21 [F19] */
TEST(flow_holes, S25_identity_is_the_path)
{
    valise *v = kit_open(t);
    const char *names = kit_names(
        kit_flow(t, v,
                 "{'namespace':'s','nodes':[{'id':'a','type':'ChatNode'},{'id':'b','type':"
                 "'ChatNode'}],'subflows':[{'namespace':'in','nodes':[{'id':'a','type':"
                 "'ChatNode'}]}],'edges':[{'from':'a','to':'b'},{'from':'b','to':'in'}]}"));

    CHECK_TEXT("a s.chat\nb s.chat\nin s.in\nin/a s.in.chat\n", names);
}

/* `subflows` are used, and there is an explicit entry. S34 [F6] */
TEST(flow_holes, S34_entry_and_subflows)
{
    valise *v = kit_open(t);
    const valise_flow *flow =
        kit_flow(t, v,
                 "{'nodes':[{'id':'a','type':'SearchNode'},{'id':'b','type':'SearchNode'}],"
                 "'start':'in','subflows':[{'namespace':'in','start':'y','nodes':[{'id':'x','type':"
                 "'SearchNode'},{'id':'y','type':'SearchNode'}],'edges':[{'from':'y','to':'x'}]}],"
                 "'edges':[{'from':'in','to':'a'},{'from':'a','to':'b'}]}");

    CHECK_STR(VLS_STR("in"), flow->first->id);
    CHECK_STR(VLS_STR("y"), flow->first->inner->first->id);
}

/* A node without a condition on its edge has the default one, which is what no action means. U22 */
TEST(flow_holes, U22_no_condition_is_default)
{
    valise *v = kit_open(t);
    const valise_flow *flow = kit_flow(
        t, v, "{'nodes':[{'id':'a','type':'SearchNode'}],'edges':[{'from':'a','to':'a'}]}");

    CHECK_STR(VLS_STR("default"), flow->edges.ptr[0]->action);
    CHECK_TEXT("edges[1].condition: 'a' already has an edge for 'default' (an action can lead to "
               "only one node: give this edge another condition)\n",
               kit_check(t, v,
                         "{'nodes':[{'id':'a','type':'SearchNode'}],'edges':[{'from':'a','to':'a'},"
                         "{'from':'a','to':'a','condition':'default'}]}"));
}

/* Params are checked when a flow is loaded: "temperature 5" is refused. U27 [F6] */
TEST(flow_holes, U27_params_are_checked_at_load)
{
    valise *v = kit_open(t);

    CHECK_TEXT("nodes[0].params.temperature: 'temperature' must be between 0 and 2, not 5\n",
               kit_check(t, v,
                         "{'nodes':[{'id':'a','type':'StrictNode','params':{'model':'m',"
                         "'temperature':5}}]}"));
}

/* What is inside of a node is there once it is loaded, before anything runs, and linked like the
 * rest: a loaded one is the same as one that was made by hand. U28 [F6] [F18] */
TEST(flow_holes, U28_the_inside_is_there_when_loaded)
{
    valise *v = kit_open(t);
    valise_flow *flow = kit_flow(
        t, v,
        "{'nodes':[{'id':'m','type':'SubflowNode','params':{'flow':{'nodes':[{'id':'x','type':"
        "'SearchNode'},{'id':'y','type':'SearchNode'}],'edges':[{'from':'x','to':'y'}]}}}]}");
    const vls_flow_node *x = flow->nodes.ptr[0]->inner->first;

    CHECK_STR(VLS_STR("m/x"), x->path);
    CHECK_STR(VLS_STR("m/y"), x->edges[0]->target->path);
    CHECK_OK(vls_flow_link(flow, NULL, &t->err)); /* again: nothing changes */
    CHECK(flow->nodes.ptr[0]->inner->first == x);
}

/* `namespace` and `dependencies` of nodes count, and are exported; so are mappings. U29 U30 [F6] */
TEST(flow_holes, U30_nothing_is_dropped_on_export)
{
    static const char config[] =
        "{'version':'2.0.0','namespace':'s','dependencies':{'llm':{'client':{'provider':'p'}}},"
        "'nodes':[{'id':'a','type':'SearchNode','namespace':'n','dependencies':{'model':'llm'}}],"
        "'edges':[{'from':'a','to':'a','condition':'go','mappings':{'x':'y'}}]}";
    valise *v = kit_open(t);
    valise_flow *flow = kit_flow(t, v, config);

    CHECK_TEXT("a s.n\n", kit_names(flow));
    CHECK_TEXT(kit_canonical(t, config), kit_config_of(t, flow));
}

/* ---- types of extensions [F1] [F8] ---- */

static const valise_node_type greet = {
    .size = sizeof(valise_node_type), .name = "greets.GreetNode", .brief = "Says hello."};
static const valise_node_type alien = {
    .size = sizeof(valise_node_type), .name = "other.GreetNode", .brief = "Says hello."};
static const valise_node_type crooked = {
    .size = sizeof(valise_node_type), .name = "greets.Greet Node", .brief = "Says hello."};
static const valise_node_type *const types[] = {&greet, NULL},
                                     *const twice[] = {&greet, &greet, NULL},
                                     *const aliens[] = {&alien, NULL},
                                     *const crooks[] = {&crooked, NULL};

static int open_with(valise **out, const valise_node_type *const *of, test *t)
{
    const valise_extension extension = {.size = sizeof(extension),
                                        .abi = VALISE_EXTENSION_ABI,
                                        .name = "greets",
                                        .version = "1",
                                        .node_types = of};
    const valise_extension *const all[] = {&extension, NULL};
    valise_options options = VALISE_OPTIONS_INIT;

    options.flags = VALISE_OPEN_NO_USER_CONFIG;
    options.env = t->env;
    options.extensions = all;
    return valise_open(out, NULL, &options, &t->err);
}

TEST(flow_holes, types_of_extensions)
{
    valise *v = NULL;
    valise_flow *flow = NULL;

    CHECK_RC(VALISE_E_EXISTS, open_with(&v, twice, t));
    CHECK_RC(VALISE_E_INVALID, open_with(&v, aliens, t));
    CHECK_TEXT("node type \"other.GreetNode\": those of the extension greets are named "
               "\"greets.Name\", with letters, digits, '-' and '_'",
               t->err.message);
    CHECK_RC(VALISE_E_INVALID, open_with(&v, crooks, t));
    CHECK(v == NULL);
    CHECK_OK(open_with(&v, types, t));
    CHECK_OK(valise_flow_new(&flow, v, "s", NULL, &t->err));
    CHECK_OK(valise_flow_add_node(flow, NULL, kit_quote("{'id':'a','type':'greets.GreetNode'}"),
                                  &t->err));
    CHECK(vls_flow_find(flow, VLS_STR("a"))->type->name == greet.name);
    CHECK_RC(VALISE_E_INVALID,
             valise_flow_add_node(flow, NULL, kit_quote("{'id':'b','type':'greets.GretNode'}"),
                                  &t->err));
    CHECK_TEXT("did you mean 'greets.GreetNode'?", t->err.hint);
    valise_flow_free(flow);
    valise_close(v);
}

/* ---- operations [F15] ---- */

static const char *dispatch(test *t, valise *v, const char *type, const char *args)
{
    valise_reply reply = VALISE_REPLY_INIT;
    const char *out;

    CHECK_OK(valise_dispatch(&reply, v, type, kit_quote(args), NULL, &t->err));
    out = test_format("%.*s", VALISE_STR_ARG(vls_blob_bytes(reply.json)));
    valise_reply_release(&reply);
    return out;
}

TEST(flow_holes, check_and_graph_as_operations)
{
    valise *v = kit_open(t);
    const char *file = test_format("%s/flow.json", test_tmpdir());
    valise_reply reply = VALISE_REPLY_INIT;

    test_write_file(file, valise_str_of(kit_quote("{'nodes':[{'id':'a','type':'SubflowNod'}]}")));
    CHECK_TEXT(
        "{\"errors\":[{\"hint\":\"did you mean 'SubflowNode'?\",\"message\":\"there is no "
        "node type 'SubflowNod'\",\"path\":\"nodes[0].type\"}],\"more\":false,\"valid\":false,"
        "\"warnings\":[]}",
        dispatch(t, v, "flow:check", test_format("{'file':'%s'}", file)));
    CHECK_RC(VALISE_E_INVALID,
             valise_dispatch(&reply, v, "flow:graph", kit_quote(test_format("{'file':'%s'}", file)),
                             NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_dispatch(&reply, v, "flow:check", "{}", NULL, &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, valise_dispatch(&reply, v, "flow:check",
                                                 kit_quote("{'file':'/no/such'}"), NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID,
             valise_dispatch(&reply, v, "flow:check",
                             kit_quote(test_format("{'file':'%s\\u0000'}", file)), NULL, &t->err));
    CHECK_TEXT("a path cannot have a NUL byte in it", t->err.message);
    CHECK_TEXT(
        "{\"text\":\"flowchart TD\\n  n1[\\\"s<br/>SetNode\\\"]\\n  s0(( )) --> n1\\n\"}",
        dispatch(t, v, "flow:graph",
                 "{'flow':{'nodes':[{'id':'s','type':'SetNode','params':{'values':{'a':1}}}]}}"));
}
