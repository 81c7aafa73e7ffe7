/* config.c -- configurations: everything that is wrong at once, and back again. [F6] */
#include "flow/kit.h"

#define CHECK_SAYS(expected, config) CHECK_TEXT(expected, kit_check(t, v, config))

/* Every error of the list at once, each with its path and the way out. S34 [F6] */
TEST(flow_config, every_error_at_once)
{
    valise *v = kit_open(t);

    CHECK_SAYS(
        "version: version '3.0.0' is not known (this library reads version 2.0.0)\nnodes[0].type: "
        "there is no node type 'ChatNod' (did you mean 'ChatNode'?)\nnodes[1].id: a node 'a' "
        "already exists (give it another id: they must be unique in a flow)\nnodes[2].parms: a "
        "node has no member 'parms' (did you mean 'params'?)\nnodes[2].params.model: 'model' is "
        "missing\nnodes[3].params.model: 'model' must be a string, not an "
        "integer\nnodes[3].params.temperature: 'temperature' must be between 0 and 2, not "
        "5\nnodes[3].params.tempo: unknown member 'tempo'\nnodes[4].params.list[1]: must be a "
        "string, is 7\nnodes[4].params.n: must be an integer, is "
        "\"x\"\nnodes[5].permissions.read[0]: a pattern is empty\nnodes[5].timeout: \"soon\" is "
        "not a duration: it does not start with a digit (write a whole number and a unit (ns us ms "
        "s m h d w), such as 90s or 15m)\nedges[0].condition: Unknown Operator at /nope: there is "
        "no operator \"nope\" (write data that is not a rule as {\"preserve\": ...})\nedges[1].to: "
        "there is no node 'serch' (did you mean 'search'?)\n",
        "{'version':'3.0.0','nodes':["
        "{'id':'a','type':'ChatNod'},{'id':'a','type':'ChatNode'},"
        "{'id':'p','type':'StrictNode','parms':{}},"
        "{'id':'q','type':'StrictNode','params':{'model':7,'temperature':5,'tempo':1}},"
        "{'id':'r','type':'SchemaNode','params':{'n':'x','list':['a',7]}},"
        "{'id':'search','type':'SearchNode','timeout':'soon','permissions':{'read':['']}}],"
        "'edges':[{'from':'a','to':'p','condition':{'nope':[1]}},"
        "{'from':'a','to':'serch'}]}");
}

TEST(flow_config, single_faults)
{
    static const struct {
        const char *more, *says;
    } cases[] = {
        {"'maxRetries':-1", "nodes[0].maxRetries: it must be a whole number from 0 to 1000\n"},
        {"'maxRetries':1.5", "nodes[0].maxRetries: it must be a whole number from 0 to 1000\n"},
        {"'timeout':'0s'", "nodes[0].timeout: a timeout is longer than nothing (leave it out for "
                           "none)\n"},
        {"'timeout':30", "nodes[0].timeout: it must be a duration such as \"30s\", not integer\n"},
        {"'wait':{'max':'1s'}",
         "nodes[0].wait: a wait has a 'base' (give a duration, such as \"1s\")\n"},
        {"'wait':{'base':'2s','max':'1s'}", "nodes[0].wait: its 'max' is less than its 'base'\n"},
        {"'wait':{'base':'2s','mx':'1s'}",
         "nodes[0].wait.mx: a wait has no member 'mx' (did you mean 'max'?)\n"},
        {"'quarantine':1", "nodes[0].quarantine: it must be true or false, not integer\n"},
        {"'params':[]", "nodes[0].params: params must be an object, not array\n"},
        {"'permissions':[]", "nodes[0].permissions: permissions are an object, not array\n"},
        {"'permissions':{'raed':[]}", "nodes[0].permissions.raed: unknown member 'raed' (did you "
                                      "mean 'read'?)\n"},
        {"'dependencies':['llm']", "nodes[0].dependencies[0]: there is no dependency 'llm' "
                                   "(declare it in the flow's dependencies)\n"},
        {"'params':{'a':[{'b':'${'}]}", "nodes[0].params.a[0].b: '${' is not a reference (write "
                                        "${NAME} for a variable, or $${ for the characters)\n"},
        {"'params':{'a':'@cred:'}", "nodes[0].params.a: '' is not the name of a credential (write "
                                    "@cred:NAME, with letters, digits, '-' and '_')\n"},
        {"'name':7", "nodes[0].name: it must be a text, not integer\n"},
        {"'meta':{'any':[1]},'description':'','name':'x'", ""},
        {"'wait':{'base':'1s','max':'30s','exponential':true},'maxRetries':3,'timeout':'30s',"
         "'quarantine':true",
         ""},
    };
    valise *v = kit_open(t);

    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        test_context("%s", cases[i].more);
        CHECK_SAYS(cases[i].says,
                   test_format("{'nodes':[{'id':'a','type':'SearchNode',%s}]}", cases[i].more));
    }
    test_context_end();
}

/* One thing that is wrong with params hides nothing of the others, nor of a flow inside; and no
 * place is complained of twice. */
TEST(flow_config, every_error_within_params)
{
    valise *v = kit_open(t);

    CHECK_SAYS(
        "nodes[0].params.flow.nodes[1].params.action: '${' is not a reference (write ${NAME} for a "
        "variable, or $${ for the characters)\nnodes[0].params.collect: 'collect' must have "
        "between 1 and 1024 bytes, not 0\nnodes[0].params.parallel: 'parallel' must be an integer, "
        "not a string\nnodes[0].params.flow.nodes[0].type: there is no node type 'SetNod' (did you "
        "mean 'SetNode'?)\nnodes[0].params.flow.nodes[1].params.values: it must be an object, not "
        "integer (write {\"key\": value})\nnodes[0].params.reduce.k: there is no such reducer (it "
        "is one of append, merge, sum, min, max, first, last)\nnodes[1].params.replay: 'replay' "
        "must be a string, not an integer\nnodes[1].params.prompt: a placeholder is not closed: "
        "'{{' (write {{key}}; for two literal braces write {{{{)\nnodes[2].params.maxTurns: "
        "'maxTurns' must be between 1 and 1000, not 0\nnodes[2].params.prompt: 'prompt' is "
        "missing\nnodes[2].params.client: give either a client, or a provider and a file of "
        "answers (the client already names the provider)\nnodes[3].params.flow: must be an object, "
        "is 7\nnodes[3].params.more: is not allowed\nnodes[4].params: must have the property "
        "\"flow\"\n",
        "{'nodes':[{'id':'m','type':'MapNode','params':{'over':'a','parallel':'many',"
        "'collect':'','reduce':{'k':'nope'},'flow':{'nodes':[{'id':'x','type':'SetNod'},"
        "{'id':'y','type':'SetNode','params':{'values':5,'action':'${'}}],'edges':[{'from':'x',"
        "'to':'y'}]}}},"
        "{'id':'c','type':'ToolParamGenerationNode','params':{'tool':'t','prompt':'{{',"
        "'replay':5}},"
        "{'id':'g','type':'AgentNode','params':{'maxTurns':0,'client':'c','provider':'p'}},"
        "{'id':'s','type':'SubflowNode','params':{'flow':7,'more':1}},"
        "{'id':'n','type':'SubflowNode','params':{}}],'edges':[{'from':'m','to':'c'},"
        "{'from':'c','to':'g'},{'from':'g','to':'s'},{'from':'s','to':'n'}]}");
    CHECK_SAYS(
        "dependencies.t.tool.env.A: '${' is not a reference (write ${NAME} for a variable, or "
        "$${ for the characters)\n"
        "dependencies.t.tool.env.B: '${1' is not a reference (write ${NAME} for a variable, or "
        "$${ for the characters)\n"
        "nodes[0].permissions.deny[1]: 'name' must be a string, not an integer\n"
        "nodes[0].permissions.deny[3]: 'name' must be a string, not null\n"
        "nodes[0].permissions.foo: unknown member 'foo'\n"
        "nodes[0].permissions.read: 'read' must be an array, not an integer\n"
        "nodes[0].permissions.write[1]: a pattern is empty\n"
        "nodes[0].permissions.write[2]: a pattern is empty\n"
        "nodes[0].permissions.namespaceRead[0]: pattern 'a..b' has an empty segment\n",
        "{'nodes':[{'id':'a','type':'SearchNode','permissions':{'deny':['a',1,'b',null],"
        "'foo':1,'read':7,"
        "'write':['a','',''],'namespaceRead':['a..b','c']}}],"
        "'dependencies':{'t':{'tool':{'command':['x'],'env':{'A':'${','B':'${1'}}}}}");
}

/* Nor does one element or member of a param hide the others of it. */
TEST(flow_config, every_error_within_one_param)
{
    valise *v = kit_open(t);

    CHECK_SAYS(
        "nodes[0].params.command[1]: 'word' must be a string, not an "
        "integer\nnodes[0].params.command[3]: 'word' must be a string, not "
        "null\nnodes[0].params.command[0]: an item must not decide which program runs (only its "
        "arguments are templates)\nnodes[0].params.input[0]: it must be a "
        "key\nnodes[0].params.input[2]: it must be a key\nnodes[0].params.env.A: it must be a "
        "variable with a string\nnodes[0].params.env.B=: it must be a variable with a "
        "string\nnodes[1].params.tools[0]: 'tool' must be a string, not an "
        "integer\nnodes[2].params.cases.1: it must be a text, not "
        "integer\nnodes[2].params.cases.2: '' is not an action\nnodes[3].params.rules[0]: it must "
        "be a rule with an action (write [{\"when\": {...}, \"action\": "
        "\"name\"}])\nnodes[3].params.rules[2]: it must be a rule with an action (write "
        "[{\"when\": {...}, \"action\": \"name\"}])\nnodes[4].params.values.: the key of an item "
        "is empty\nnodes[4].params.values.a\\x01: the key of an item has a control character at "
        "byte 1\nnodes[5].params.reduce.k: there is no such reducer (it is one of append, merge, "
        "sum, min, max, first, last)\nnodes[5].params.reduce.l: there is no such reducer (it is "
        "one of append, merge, sum, min, max, first, last)\n",
        "{'nodes':[{'id':'a','type':'ExecNode','params':{'command':['{{x}}',1,'y',null],"
        "'input':[1,'k',''],'env':{'A':1,'B=':'x','C':'y'}}},"
        "{'id':'b','type':'AgentNode','params':{'prompt':'x','tools':[1]}},"
        "{'id':'c','type':'DecisionNode','params':{'key':'k','cases':{'1':1,'2':'','3':'x'}}},"
        "{'id':'d','type':'DecisionNode','params':{'rules':[1,{'when':true,'action':'x'},{}]}},"
        "{'id':'e','type':'SetNode','params':{'values':{'':1,'a\\u0001':2,'b':3}}},"
        "{'id':'f','type':'MapNode','params':{'over':'x','reduce':{'k':'nope','l':7,'m':'sum'},"
        "'flow':{'nodes':[{'id':'x','type':'SetNode','params':{'values':{}}}]}}}],"
        "'edges':[{'from':'a','to':'b'},{'from':'b','to':'c'},{'from':'c','to':'d'},"
        "{'from':'d','to':'e'},{'from':'e','to':'f'}]}");
}

TEST(flow_config, levels)
{
    static const struct {
        const char *config, *says;
    } cases[] = {
        {"{}", "nodes: a flow has at least one node (add one: {\"id\": \"first\", \"type\": "
               "\"SetNode\"})\n"},
        {"{'nodes':[]}", "nodes: a flow has at least one node (add one: {\"id\": \"first\", "
                         "\"type\": \"SetNode\"})\n"},
        {"[]", ": a flow is an object, not array\n"
               "nodes: a flow has at least one node (add one: {\"id\": \"first\", \"type\": "
               "\"SetNode\"})\n"},
        {"{'nodes':{}}", "nodes: it must be a list, not object\n"
                         "nodes: a flow has at least one node (add one: {\"id\": \"first\", "
                         "\"type\": \"SetNode\"})\n"},
        {"{'nodes':[7]}", "nodes[0]: a node is an object, not integer\n"},
        {"{'nodes':[{}]}", "nodes[0]: a node has no 'type'\nnodes[0]: a node has no 'id'\n"},
        {"{'nodes':[{'id':'a','type':'SearchNode'}],'start':'b'}", "start: there is no node 'b'\n"},
        {"{'nodes':[{'id':'a','type':'SearchNode'}],'edgs':[]}",
         "edgs: a flow has no member 'edgs' (did you mean 'edges'?)\n"},
        {"{'nodes':[{'id':'a','type':'SearchNode'}],'edges':[{'to':'a'},{'from':'a'},7]}",
         "edges[0]: an edge has no 'from'\nedges[1]: an edge has no 'to'\n"
         "edges[2]: an edge is an object, not integer\n"},
        {"{'nodes':[{'id':'a','type':'SearchNode'}],'maxSteps':0}",
         "maxSteps: it must be a whole number from 1 to 4503599627370496\n"},
        {"{'subflows':[{'nodes':[]}]}",
         "subflows[0]: a subflow has an 'id' or a 'namespace' (give it one of them)\n"},
        {"{'subflows':[{'id':'s','maxSteps':3,'dependencies':{},'nodes':[{'id':'a','type':"
         "'SearchNode'}],'edges':[{'from':'a','to':'x'}]}]}",
         "subflows[0].dependencies: dependencies are those of all of the flow (declare them in the "
         "outermost flow)\n"
         "subflows[0].maxSteps: steps are counted over all of the flow (say it of the outermost "
         "flow)\n"
         "subflows[0].edges[0].to: there is no node 'x'\n"},
        {"{'nodes':[{'id':'m','type':'SubflowNode','params':{'flow':{'nodes':[{'id':'a','type':"
         "'SerchNode'}]}}}]}",
         "nodes[0].params.flow.nodes[0].type: there is no node type 'SerchNode' (did you mean "
         "'SearchNode'?)\n"},
        {"{'nodes':[{'id':'m','type':'SubflowNode'}]}",
         "nodes[0].params: must have the property \"flow\"\n"},
        {"{'nodes':[{'id':'a','type':'SearchNode'},{'id':'b','type':'SearchNode'}],"
         "'edges':[{'from':'a','to':'b','condition':'go'},{'from':'a','to':'a','condition':'go'}]}",
         "edges[1].condition: 'a' already has an edge for 'go' (an action can lead to only one "
         "node: give this edge another condition)\n"},
        {"{'nodes':[{'id':'a','type':'SearchNode'}],'edges':[{'from':'a','to':'a','condition':7},"
         "{'from':'a','to':'a','condition':''}]}",
         "edges[0].condition: a condition is an action, or a rule in JSON Logic, not integer\n"
         "edges[1].condition: an action has 1 to 128 bytes and no control characters\n"},
        {"{'nodes':[{'id':'a','type':'SearchNode'}],'edges':[{'from':'a','to':'a'},"
         "{'from':'a','to':'z','condition':'default'}]}",
         "edges[1].condition: 'a' already has an edge for 'default' (an action can lead to only "
         "one node: give this edge another condition)\nedges[1].to: there is no node 'z'\n"},
        {"{'nodes':[{'id':'a','type':'SearchNode'}],'edges':[{'from':'a','to':'a','mappings':"
         "{'x':'k','y':'k','':'z','q':7}}]}",
         "edges[0].mappings.: the key of an item is empty\n"
         "edges[0].mappings.q: it must be a text, not integer\n"
         "edges[0].mappings.y: 'k' would get two values (give them two keys)\n"},
    };
    valise *v = kit_open(t);

    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        test_context("%s", cases[i].config);
        CHECK_SAYS(cases[i].says, cases[i].config);
    }
    test_context_end();
}

TEST(flow_config, warnings_do_not_keep_it_from_running)
{
    valise *v = kit_open(t);

    CHECK_SAYS("warning edges[2].condition: nodes of type StrictNode never choose 'agian'\n"
               "warning nodes[2]: nothing leads to 'c' (lead an edge to it, or remove it)\n",
               "{'nodes':[{'id':'a','type':'StrictNode','params':{'model':'m'}},"
               "{'id':'b','type':'SearchNode'},{'id':'c','type':'SearchNode'}],"
               "'edges':[{'from':'a','to':'b'},{'from':'a','to':'b','condition':'error'},"
               "{'from':'a','to':'b','condition':'agian'},"
               "{'from':'a','to':'a','condition':'again'}]}");
    /* Permissions of what has an inside do not go inside: a false sense of safety. [F5] */
    CHECK_SAYS(
        "warning nodes[0].permissions: they hold for what 's' reads and packs itself, and "
        "not for the nodes inside (give each node inside its own)\n",
        "{'nodes':[{'id':'s','type':'SubflowNode','permissions':{'read':['a']},'params':{"
        "'flow':{'nodes':[{'id':'x','type':'SearchNode','permissions':{'read':['a']}}]}}}]}");
}

TEST(flow_config, dependencies)
{
    valise *v = kit_open(t);
    const valise_flow *flow = kit_flow(
        t, v,
        "{'dependencies':{'llm':{'client':{'provider':'anthropic','model':'m'}},"
        "'weather':{'tool':{'description':'d','parameters':{'type':'object'},'command':['./w.sh'],"
        "'env':{'K':'${K}'},'timeout':'10s'}},"
        "'files':{'mcp':{'command':['npx','server'],'prefix':'files_','only':['read']}},"
        "'db':{'host':true}},"
        "'nodes':[{'id':'a','type':'SearchNode','dependencies':{'model':'llm'}},"
        "{'id':'b','type':'SearchNode','dependencies':['db','files']}],"
        "'edges':[{'from':'a','to':'b'}]}");
    const vls_flow_dependency *d = vls_flow_dependency_find(flow, VLS_STR("weather"));

    CHECK_INT(VLS_NEED_TOOL, d->kind);
    CHECK_STR(VLS_STR("./w.sh"), d->argv[0]);
    CHECK_INT(INT64_C(10000000000), d->timeout_ns);
    CHECK_STR(VLS_STR("model"), flow->nodes.ptr[0]->needs[0].role);
    CHECK_STR(VLS_STR("llm"), flow->nodes.ptr[0]->needs[0].name);
    CHECK_STR(VLS_STR("files"), flow->nodes.ptr[1]->needs[1].role);
    CHECK_SAYS(
        "dependencies.a: it is one of client, tool, mcp or host (for example {\"client\": "
        "{\"provider\": \"anthropic\"}})\n"
        "dependencies.b.client: a client has a 'provider' (give \"provider\", or \"replay\" "
        "for answers from a file)\n"
        "dependencies.c.tool.command: it must be a list of 1 to 1000 texts\n"
        "dependencies.c.tool.env.1: '1' is not a variable of an environment\n"
        "dependencies.d.host: what the host gives is declared with true\n"
        "dependencies.e f: 'e f' is not a name of a dependency (use letters, digits, '-' and "
        "'_', 64 at most)\n"
        "nodes[0].dependencies[0]: there is no dependency 'lm' (declare it in the flow's "
        "dependencies)\n",
        "{'dependencies':{'a':{},'b':{'client':{}},'c':{'tool':{'env':{'1':'x'},"
        "'command':[]}},'d':{'host':1},'e f':{'host':true}},"
        "'nodes':[{'id':'a','type':'SearchNode','dependencies':['lm']}]}");
}

/* Services of the host count as declared. [F8] */
TEST(flow_config, services_of_the_host)
{
    static const valise_service services[] = {{"db", VALISE_SERVICE_OTHER, "x"}, {NULL, 0, NULL}};
    valise *v = kit_open(t);
    valise_flow_options options = kit_options();
    valise_flow *flow = NULL;
    const char *config =
        kit_quote("{'nodes':[{'id':'a','type':'SearchNode','dependencies':['db']}]}");

    options.services = services;
    CHECK_OK(valise_flow_from_config(&flow, v, valise_str_of(config), NULL, &options, &t->err));
    valise_flow_free(flow);
    config = kit_quote("{'nodes':[{'id':'a','type':'SearchNode','dependencies':['dbb']}]}");
    CHECK_RC(VALISE_E_INVALID,
             valise_flow_from_config(&flow, v, valise_str_of(config), NULL, &options, &t->err));
    CHECK_TEXT("did you mean 'db'?", t->err.hint);
    CHECK_TEXT("nodes[0].dependencies[0]", t->err.path);
}

/* The first problem is the failure, with its path; how many more there are is told. */
TEST(flow_config, from_config_fails_with_the_first)
{
    valise *v = kit_open(t);
    valise_flow *flow = NULL;

    CHECK_RC(VALISE_E_INVALID,
             valise_flow_from_config(&flow, v,
                                     valise_str_of(kit_quote("{'nodes':[{'id':'a','type':'X'},"
                                                             "{'id':'b','type':'Y'}]}")),
                                     NULL, NULL, &t->err));
    CHECK_TEXT("there is no node type 'X' (and 1 more)", t->err.message);
    CHECK_TEXT("nodes[0].type", t->err.path);
    CHECK(flow == NULL);
}

TEST(flow_config, hostile_texts)
{
    valise *v = kit_open(t);
    char *deep = test_alloc(200001);
    const char *said;

    CHECK_SAYS(": line 2, column 10: invalid JSON at byte 11: expected a value, found ','\n",
               "{\n'nodes':[,]}");
    memset(deep, '[', 100000);
    memset(deep + 100000, ']', 100000);
    said = kit_check(t, v, deep);
    CHECK_MSG(strstr(said, "line 1, column "), "%s", said);
    said = kit_check(t, v, "");
    CHECK_MSG(strstr(said, "line 1, column 1"), "%s", said);
    said = kit_check(t, v, "{'nodes':[],'nodes':[]}");
    CHECK_MSG(strstr(said, "nodes"), "%s", said);
}

TEST(flow_config, too_large_a_text)
{
    valise *v = kit_open(t);
    char *text = test_alloc(VLS_FLOW_CONFIG_MAX + 2);
    valise_flow *flow = NULL;

    memset(text, ' ', VLS_FLOW_CONFIG_MAX + 1);
    CHECK_RC(VALISE_E_TOO_LARGE,
             valise_flow_from_config(&flow, v, vls_str(text, VLS_FLOW_CONFIG_MAX + 1), NULL, NULL,
                                     &t->err));
}

/* A thousand are told, and that there are more. Looking for near names does not take for ever. */
TEST(flow_config, many_errors)
{
    valise *v = kit_open(t);
    VLS_AUTO(buf) vls_buf text = {.env = NULL};
    VLS_AUTO(blob) valise_blob *report = NULL;
    valise_flow *flow = NULL;

    vls_buf_init(&text, t->env, SIZE_MAX / 2);
    vls_buf_add_text(&text, "{\"nodes\":[");
    for (int i = 0; i < 2000; i++)
        vls_buf_printf(&text, "{\"id\":\"n%d\",\"type\":\"Nothing\"},", i);
    vls_buf_add_text(&text, "{\"id\":\"x\",\"type\":\"SubflowNode\"}],\"edges\":[");
    for (int i = 0; i < 20000; i++)
        vls_buf_printf(&text, "%s{\"from\":\"m%d\",\"to\":\"m%d\"}", i ? "," : "", i, i);
    vls_buf_add_text(&text, "]}");
    CHECK_INT(0, valise_flow_check(&report, v, vls_buf_str(&text), NULL, &t->err));
    CHECK(vls_str_ends(vls_blob_bytes(report), VLS_STR("\"warnings\":[]}")));
    CHECK(vls_str_find(vls_blob_bytes(report), VLS_STR("\"more\":true")) <
          vls_blob_bytes(report).len);
    CHECK_RC(VALISE_E_INVALID,
             valise_flow_from_config(&flow, v, vls_buf_str(&text), NULL, NULL, &t->err));
    CHECK_MSG(strstr(t->err.message, "(and 42000 more)"), "%s", t->err.message);
}

/* What a definition takes is linear in its JSON. */
TEST(flow_config, memory_is_linear)
{
    valise *v = kit_open(t);
    size_t taken[2], sizes[2];

    for (int round = 0; round < 2; round++) {
        VLS_AUTO(buf) vls_buf text = {.env = NULL};
        VLS_AUTO(flow) valise_flow *flow = NULL;
        valise_flow_options options = kit_options();
        size_t before = test_bytes_in_use(t);
        const int count = round == 0 ? 500 : 4000;

        vls_buf_init(&text, t->env, SIZE_MAX / 2);
        vls_buf_add_text(&text, "{\"nodes\":[{\"id\":\"x\",\"type\":\"SearchNode\"}");
        for (int i = 0; i < count; i++)
            vls_buf_printf(&text, ",{\"id\":\"n%d\",\"type\":\"SchemaNode\",\"params\":{\"n\":1}}",
                           i);
        vls_buf_add_text(&text, "],\"edges\":[{\"from\":\"x\",\"to\":\"n0\"}");
        for (int i = 1; i < count; i++)
            vls_buf_printf(&text, ",{\"from\":\"n%d\",\"to\":\"n%d\"}", i - 1, i);
        vls_buf_add_text(&text, "]}");
        CHECK_OK(valise_flow_from_config(&flow, v, vls_buf_str(&text), NULL, &options, &t->err));
        sizes[round] = text.len;
        vls_buf_release(&text);
        taken[round] = test_bytes_in_use(t) - before;
    }
    test_note("%zu bytes of JSON take %zu, %zu take %zu", sizes[0], taken[0], sizes[1], taken[1]);
    CHECK(taken[1] / sizes[1] <= taken[0] / sizes[0] * 2);
    CHECK(taken[1] / sizes[1] < 64);
}

/* ---- export ---- */

/* Equal to what was loaded, byte for byte; also empty lists, and what nobody reads. S34 [F6] */
TEST(flow_config, export_equals_what_was_loaded)
{
    static const char *const configs[] = {
        "{'nodes':[{'id':'a','type':'SearchNode'}]}",
        "{'version':'2.0.0','namespace':'','id':'x','name':'n','description':'d','meta':[1,{}],"
        "'start':'a','maxSteps':7,'nodes':[{'id':'a','type':'SearchNode','params':{},'meta':null}],"
        "'edges':[],'subflows':[]}",
        /* references stay as they are written; mappings are kept */
        "{'nodes':[{'id':'a','type':'SearchNode','params':{'key':'${HOME}','c':'@cred:x',"
        "'n':1.50,'big':12345678901234567890}}],'edges':[{'from':'a','to':'a','condition':"
        "{'==':[{'var':'x'},1]},'mappings':{'y':'z','b':'a'}}]}",
        "{'dependencies':{'llm':{'client':{'provider':'p'}}},'subflows':[{'id':'i','namespace':'n',"
        "'start':'b','nodes':[{'id':'a','type':'SearchNode'},{'id':'b','type':'SearchNode'}],"
        "'edges':[{'from':'b','to':'a'}],'subflows':[{'namespace':'','id':'d','edges':[],"
        "'nodes':[{'id':'a','type':'SearchNode'}]}]}],'nodes':[{'id':'m','type':'SubflowNode',"
        "'params':{'flow':{'nodes':[{'id':'q','type':'SearchNode'}]}}}]}",
    };
    valise *v = kit_open(t);

    for (size_t i = 0; i < VLS_COUNT(configs); i++)
        CHECK_TEXT(kit_canonical(t, configs[i]), kit_config_of(t, kit_flow(t, v, configs[i])));
}

/* A type that says what its params are now is asked; where none were written, none appear that are
 * none. [F1] */
TEST(flow_config, to_config_of_types)
{
    valise *v = kit_open(t);

    CHECK_TEXT(
        kit_canonical(t, "{'nodes':[{'id':'a','type':'MadeNode','params':{'made':true}},{'id':'s',"
                         "'type':'SubflowNode','params':{'flow':{'nodes':[{'id':'b','type':"
                         "'MadeNode','params':{'made':true}}]}}}]}"),
        kit_config_of(
            t, kit_flow(t, v,
                        "{'nodes':[{'id':'a','type':'MadeNode','params':{'x':1}},{'id':'s','type':"
                        "'SubflowNode','params':{'flow':{'nodes':[{'id':'b','type':'MadeNode'}]}}}]"
                        "}")));
}

/* ---- 200 random ones ---- */

static const char *random_level(test_rng *rng, unsigned depth)
{
    static const char *const types[] = {"SearchNode", "ChatNode", "SummaryNode"};
    static const char *const extras[] = {
        "",
        ",\"maxRetries\":2,\"wait\":\"1s\"",
        ",\"params\":{\"a\":[1,2,{\"b\":null}],\"t\":\"${X}\"}",
        ",\"permissions\":{\"read\":[\"a.*\"],\"namespaceWrite\":[\"sales.**\"]}",
        ",\"inputs\":{\"k\":{\"type\":\"string\",\"default\":\"x\"}},\"quarantine\":false",
    };
    static const char *const conditions[] = {"", ",\"condition\":\"go\"",
                                             ",\"condition\":{\">\":[{\"var\":\"n\"},3]}",
                                             ",\"condition\":\"error\",\"mappings\":{\"a\":\"b\"}"};
    const uint64_t count = 1 + test_random_below(rng, 5);
    const char *text = "\"nodes\":[";

    for (uint64_t i = 0; i < count; i++)
        text = test_format("%s%s{\"id\":\"n%d\",\"type\":\"%s\"%s}", text, i ? "," : "", (int)i,
                           types[test_random_below(rng, VLS_COUNT(types))],
                           extras[test_random_below(rng, VLS_COUNT(extras))]);
    text = test_format("%s],\"edges\":[", text);
    for (uint64_t i = 0; i < count; i++)
        text = test_format("%s%s{\"from\":\"n%d\",\"to\":\"n%d\"%s}", text, i ? "," : "", (int)i,
                           (int)test_random_below(rng, count),
                           conditions[test_random_below(rng, VLS_COUNT(conditions))]);
    text = test_format("%s]", text);
    if (depth < 3 && test_random_below(rng, 2) == 0)
        text =
            test_format("%s,\"subflows\":[{\"id\":\"s%u\",\"namespace\":\"%s\",%s}]", text, depth,
                        test_random_below(rng, 2) ? "" : "inner", random_level(rng, depth + 1));
    return text;
}

TEST(flow_config, random_ones_come_back)
{
    valise *v = kit_open(t);
    test_rng rng = test_rng_new(test_seed());

    for (int i = 0; i < 200; i++) {
        VLS_AUTO(flow) valise_flow *flow = NULL, *again = NULL;
        valise_flow_options options = kit_options();
        const char *text = test_format("{%s}", random_level(&rng, 0)), *first;

        test_context("%s", text);
        CHECK_OK(valise_flow_from_config(&flow, v, valise_str_of(text), NULL, &options, &t->err));
        first = kit_config_of(t, flow);
        CHECK_TEXT(kit_canonical(t, text), first);
        CHECK_OK(valise_flow_from_config(&again, v, valise_str_of(first), NULL, &options, &t->err));
        CHECK_TEXT(kit_names(flow), kit_names(again));
        CHECK_TEXT(kit_draw(t, flow, VALISE_GRAPH_DOT), kit_draw(t, again, VALISE_GRAPH_DOT));
    }
    test_context_end();
}
