/* nodes_plain.c -- nodes that ask nobody: SetNode, DecisionNode, FinalAnswerNode. [F9] */
#include "nodes_kit.h"

#include "harness/fault.h"

TEST_PARAMS(plain, "ephemeral", "sqlite")

TEST(plain, set_packs_constants_and_templates)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    valise_flow *flow = nodes_of(
        d,
        "{'id':'set','type':'SetNode','params':{'values':{'a':1,'b':{'x':'{{a}}','y':'<{{n}}>'}},"
        "'action':'done'}}",
        "");

    CHECK_OK(pack(bag, "a", "\"old\"", d->err));
    CHECK_OK(pack(bag, "n", "\"N\"", d->err));
    CHECK_TEXT("done at set", ran(d, flow, bag));
    /* Templates see the state that the node found. */
    CHECK_TEXT("a=1 b={\"x\":\"old\",\"y\":\"<N>\"} n=\"N\"", items(bag));
    CHECK_TEXT("set", test_format("%.*s", VALISE_STR_ARG(item_of(bag, "b").node_id)));
    CHECK_TEXT("test.set", test_format("%.*s", VALISE_STR_ARG(item_of(bag, "b").namespace_name)));
}

TEST(plain, set_packs_nothing_when_a_template_fails)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    valise_flow *flow = nodes_of(
        d, "{'id':'set','type':'SetNode','params':{'values':{'a':1,'b':'{{nobody}}'}}}", "");

#define MAP_WITH(more)                                                                             \
    "{'id':'n','type':'MapNode','params':{'over':'a','flow':{'nodes':[{'id':'x','type':'SetNode'," \
    "'params':{'values':{}}}]}," more "}}"

    CHECK_TEXT("NOT_FOUND: node 'set': there is no item 'nobody'", ran(d, flow, bag));
    CHECK_TEXT("params.values.b", d->err->path);
    CHECK_TEXT("", items(bag));
}

TEST(plain, params_are_looked_at_when_they_are_loaded)
{
    static const struct {
        const char *node, *says;
    } bad[] = {
        {"{'id':'n','type':'SetNode','params':{'values':{'a':'${KEY}'}}}",
         "nodes[0].params.values.a: a secret does not belong in a backpack"},
        {"{'id':'n','type':'SetNode','params':{'values':{'a':['{{b']}}}",
         "nodes[0].params.values.a[0]: a placeholder is not closed"},
        {"{'id':'n','type':'SetNode','params':{'values':[1]}}", "must be an object"},
        {"{'id':'n','type':'SetNode','params':{'values':{},'action':''}}",
         "nodes[0].params.action"},
        {"{'id':'n','type':'SetNode','params':{}}", "values"},
        {"{'id':'n','type':'SetNode','params':{'values':{},'valeus':1}}", "valeus"},
        {"{'id':'n','type':'FinalAnswerNode','params':{'from':'{{'}}", "nodes[0].params.from"},
        {"{'id':'n','type':'DecisionNode','params':{}}", "in exactly one way"},
        {"{'id':'n','type':'DecisionNode','params':{'key':'k','rules':[],'cases':{'a':'b'}}}",
         "in exactly one way"},
        {"{'id':'n','type':'DecisionNode','params':{'key':'k'}}", "key and cases go together"},
        {"{'id':'n','type':'DecisionNode','params':{'key':'k#x','cases':{'a':'b'}}}",
         "nodes[0].params.key"},
        {"{'id':'n','type':'DecisionNode','params':{'key':'k','cases':{'a':1}}}", "must be a text"},
        {"{'id':'n','type':'DecisionNode','params':{'rules':[{'when':{'nonsense':1},'action':'a'}]}"
         "}",
         "nodes[0].params.rules[0]"},
        {"{'id':'n','type':'DecisionNode','params':{'rules':[{'when':true}]}}", "must be a rule"},
        {"{'id':'n','type':'ChatNode','params':{'prompt':'x','client':'a','provider':'b'}}",
         "either a client"},
        {"{'id':'n','type':'ChatNode','params':{'prompt':'x','session':'s','history':'h'}}",
         "the session has its own history"},
        {"{'id':'n','type':'ToolExecutionNode','params':{'tool':'t','from':'k'}}",
         "in exactly one way"},
        {"{'id':'n','type':'ToolExecutionNode','params':{'tool':'t','arguments':[1]}}",
         "must be an object"},
        {"{'id':'n','type':'ExecNode','params':{'command':['{{program}}']}}",
         "an item must not decide"},
        {"{'id':'n','type':'ExecNode','params':{'command':[]}}", "command"},
        {"{'id':'n','type':'ExecNode','params':{'command':['a'],'env':{'A':1}}}",
         "must be a variable"},
        {"{'id':'n','type':'ExecNode','params':{'command':['a'],'input':[1]}}", "must be a key"},
        {"{'id':'n','type':'MapNode','params':{'over':'a','flow':{'nodes':[]}}}", "nodes"},
        {"{'id':'n','type':'MapNode','params':{'over':'a','reduce':{'k':'guess'},'flow':{'nodes':["
         "{'id':'x','type':'SetNode','params':{'values':{}}}]}}}",
         "no such reducer"},
        {MAP_WITH("'reduce':{'results':'last'}"),
         "params.into: it is 'results', and so is a key of"},
        {MAP_WITH("'into':'k','reduce':{'k':'last'}"),
         "params.into: it is 'k', and so is a key of"},
        {MAP_WITH("'reduce':{'item':'last'}"),
         "params.as: it is 'item', and so is a key of reduce"},
        {MAP_WITH("'as':'index'"), "params.index: it is 'index', and so is as"},
        {MAP_WITH("'as':'k','collect':'k'"), "params.collect: it is 'k', and so is as"},
        {MAP_WITH("'collect':'index'"), "params.collect: it is 'index', and so is index"},
        {"{'id':'n','type':'MapNode','params':{'over':'a','flow':{'nodes':[{'id':'x','type':"
         "'SetNode','params':{'values':1}}]}}}",
         "nodes[0].params.flow.nodes[0].params.values"},
        {"{'id':'n','type':'AgentNode','params':{'prompt':'x','maxTurns':0}}", "maxTurns"},
        {"{'id':'n','type':'AgentStart','params':{'prompt':'x'}}", "no node type"},
    };
    desk *d = desk_open(t);

    for (size_t i = 0; i < VLS_COUNT(bad); i++) {
        const char *said = wrong(d, bad[i].node);

        if (!strstr(said, bad[i].says))
            test_note("%s -> %s", bad[i].node, said);
        CHECK(strstr(said, bad[i].says) != NULL);
    }
}

TEST(plain, decision_by_value)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    valise_flow *flow = nodes_of(d,
                                 "{'id':'d','type':'DecisionNode','params':{'key':'o#/kind',"
                                 "'cases':{'refund':'pay','3':'three','true':'yes'},"
                                 "'otherwise':'talk'}}",
                                 "");
    static const char *const cases[][2] = {{"{'kind':'refund'}", "pay at d"},
                                           {"{'kind':3}", "three at d"},
                                           {"{'kind':true}", "yes at d"},
                                           {"{'kind':'else'}", "talk at d"}};

    CHECK(strstr(ran(d, flow, bag), "NOT_FOUND"));
    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        CHECK_OK(pack(bag, "o", quoted(cases[i][0]), d->err));
        CHECK_TEXT(cases[i][1], ran(d, flow, bag));
    }
}

TEST(plain, decision_by_rules_sees_what_the_node_may_read)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    valise_flow *flow =
        nodes_of(d,
                 "{'id':'d','type':'DecisionNode','permissions':{'deny':['secret*']},'params':{"
                 "'rules':[{'when':{'var':'secret'},'action':'leak'},"
                 "{'when':{'>':[{'var':'amount'},100]},'action':'ask'}]}}",
                 "");

    CHECK_OK(pack(bag, "secret", "true", d->err));
    CHECK_OK(pack(bag, "amount", "101", d->err));
    CHECK_TEXT("ask at d", ran(d, flow, bag));
    CHECK_OK(pack(bag, "amount", "100", d->err));
    CHECK_TEXT("default at d", ran(d, flow, bag));
}

TEST(plain, final_answer_keeps_the_value)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    valise_flow *usual = nodes_of(d, "{'id':'f','type':'FinalAnswerNode'}", "");
    valise_flow *other = nodes_of(d,
                                  "{'id':'f','type':'FinalAnswerNode','params':{'from':"
                                  "{'text':'{{answer#/a}}!'},'into':'out','action':'end'}}",
                                  "");

    CHECK_OK(pack(bag, "answer", quoted("{'a':[1]}"), d->err));
    CHECK_TEXT("default at f", ran(d, usual, bag));
    CHECK_TEXT(quoted("{'a':[1]}"), got(bag, "finalAnswer"));
    CHECK_TEXT("end at f", ran(d, other, bag));
    CHECK_TEXT(quoted("{'text':'[1]!'}"), got(bag, "out"));
}

/* ---- memory ---- */

static int run_set(fault *f, void *arg)
{
    static const char config[] =
        "{\"nodes\":[{\"id\":\"s\",\"type\":\"SetNode\",\"params\":{\"values\":{\"a\":[\"{{x}}\","
        "\"<{{x}}>\"],"
        "\"b\":\"{{x#/"
        "0}}\"}}},{\"id\":\"d\",\"type\":\"DecisionNode\",\"params\":{\"rules\":[{\"when\":"
        "{\"==\":[{\"var\":\"b\"},1]},\"action\":\"one\"}]}},{\"id\":\"m\",\"type\":\"MapNode\","
        "\"params\":{"
        "\"over\":\"x\",\"parallel\":1,\"reduce\":{\"k\":\"append\"},\"flow\":{\"nodes\":[{\"id\":"
        "\"i\","
        "\"type\":\"SetNode\",\"params\":{\"values\":{\"k\":\"{{item}}\",\"result\":\"{{index}}\"}}"
        "}]}}},"
        "{\"id\":\"f\",\"type\":\"FinalAnswerNode\",\"params\":{\"from\":\"{{results}}\"}}],"
        "\"edges\":["
        "{\"from\":\"s\",\"to\":\"d\"},{\"from\":\"d\",\"to\":\"m\",\"condition\":\"one\"},"
        "{\"from\":\"m\",\"to\":\"f\"}]}";
    valise_options options = VALISE_OPTIONS_INIT;
    valise_backpack_options kind = VALISE_BACKPACK_OPTIONS_INIT;
    valise *v = NULL;
    valise_backpack *bag = NULL;
    valise_flow *flow = NULL;
    valise_blob *answer = NULL;
    int rc;

    (void)arg;
    fault_off(f);
    options.env = f->env;
    CHECK(desk_try(&v, "memory", NULL, &options, &f->err) == 0);
    CHECK(valise_backpack_open(&bag, v, "b", &kind, &f->err) == 0);
    CHECK(pack(bag, "x", "[1,2]", &f->err) == 0);
    fault_on(f);
    rc = valise_flow_from_config(&flow, v, valise_str_of(config), NULL, NULL, &f->err);
    if (rc == 0)
        rc = valise_flow_run(NULL, NULL, flow, bag, NULL, &f->err);
    fault_off(f);
    if (rc == 0) {
        CHECK(valise_unpack(&answer, bag, "finalAnswer", &f->err) == 1);
        CHECK_TEXT("[0,1]", test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(answer))));
        valise_blob_unref(answer);
        f->recovered = true; /* what is only faster with memory did without */
    }
    valise_flow_free(flow);
    valise_backpack_close(bag);
    valise_close(v);
    return rc;
}

TEST(plain_nodes, without_memory)
{
    fault_each_alloc(t, 0, run_set, NULL);
    fault_each_alloc(t, FAULT_ONWARD, run_set, NULL);
}
