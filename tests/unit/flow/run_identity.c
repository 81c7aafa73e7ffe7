/* run_identity.c -- who a node is: what it packs, what it may, how often it ran. [F4] [F5] [F19] */
#include "run_kit.h"

TEST_PARAMS(flow_identity, "ephemeral", "sqlite")

static void check_who(valise_backpack *bag, const char *key, const char *path, const char *type,
                      const char *space)
{
    valise_commit c = item_of(bag, key);

    CHECK_STR(valise_str_of(path), c.node_id);
    CHECK_STR(valise_str_of(type), c.node_name);
    CHECK_STR(valise_str_of(space), c.namespace_name);
}

TEST(flow_identity, what_a_node_packs_is_its_own_in_every_phase) /* [F5], S15 */
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    valise_flow *flow = nodes_of(
        d,
        test_format("%s,%s,%s",
                    NODE("a", "{'prep':[['pack','p',1]],'exec':[['pack','e',1]],'post':"
                              "[['pack','o',1]]}"),
                    NODE("b", "{'exec':[['pack','f',1]]}"), NODE("c", "{'exec':[['pack','g',1]]}")),
        test_format("%s,%s", edge_("a", "b", NULL), edge_("b", "c", NULL)));

    CHECK_TEXT("default at c", ran(d, flow, bag));
    check_who(bag, "p", "a", "kit.Script", "test.a");
    check_who(bag, "e", "a", "kit.Script", "test.a");
    check_who(bag, "o", "a", "kit.Script", "test.a");
    check_who(bag, "f", "b", "kit.Script", "test.b");
    check_who(bag, "g", "c", "kit.Script", "test.c");
    CHECK_OK(pack(bag, "mine", "1", &t->err)); /* U9: nothing stays patched */
    CHECK_STR(VLS_STR("unknown"), item_of(bag, "mine").node_id);
}

TEST(flow_identity, of_nested_flows_is_the_whole_path) /* [F4] [F19], S25, U20 */
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    valise_flow *flow = flow_of(
        d,
        "{'namespace':'sales','id':'sales','start':'research','nodes':[{'id':'last','type':"
        "'kit.Script','params':{'exec':[['who','last']]}}],'edges':[{'from':'research','to':'last'"
        "}],'subflows':[{'namespace':'research','edges':[{'from':'first','to':'chat'},{'from':"
        "'chat','to':'deep'}],'start':'first','nodes':[{'id':'first','type':'kit.Chat','params':"
        "{'exec':[['who','first']]}},{'id':'chat','type':'kit.Script','namespace':'talk',"
        "'params':{'exec':[['who','chat']]}}],'subflows':[{'id':'deep','namespace':'','nodes':"
        "[{'id':'first','type':'kit.Script','params':{'exec':[['who','deepest']]}}]}]}]}");

    CHECK_TEXT("default at last", ran(d, flow, bag));
    CHECK_TEXT("\"research/first|sales.research.chat|1\"", got(bag, "first"));
    CHECK_TEXT("\"research/chat|sales.research.talk|1\"", got(bag, "chat"));
    CHECK_TEXT("\"research/deep/first|sales.research.first|1\"", got(bag, "deepest"));
    CHECK_TEXT("\"last|sales.last|1\"", got(bag, "last"));
    check_who(bag, "first", "research/first", "kit.Chat", "sales.research.chat");
    check_who(bag, "deepest", "research/deep/first", "kit.Script", "sales.research.first");
}

/* The seed's example: an agent node with a flow of its own. */
TEST(flow_identity, a_flow_of_the_host_lies_below_its_node) /* [F4] [F9] */
{
    desk *d = script_desk(t);
    valise_flow *inner = NULL, *flow = NULL;
    valise_backpack *bag = bag_of(d, "x");
    const char *const ids[] = {"chat", "search", "summary"};
    valise_service services[2] = {{NULL, 0, NULL}};

    CHECK_OK(valise_flow_new(&inner, d->v, NULL, NULL, &t->err));
    for (size_t i = 0; i < 3; i++) {
        CHECK_OK(valise_flow_add_node(
            inner, &script_type,
            quoted(test_format("{'id':'%s','params':{'exec':[['who','%s']]}}", ids[i], ids[i])),
            &t->err));
        if (i > 0)
            CHECK_OK(valise_flow_next(inner, ids[i - 1], ids[i], &t->err));
    }
    services[0] = (valise_service){"inner", VALISE_SERVICE_OTHER, inner};
    flow = flow_with(d,
                     "{'namespace':'sales','nodes':[{'id':'agent','namespace':'researchAgent',"
                     "'type':'kit.Script','params':{'exec':[['flow','inner'],['who','agent']]}}]}",
                     services);
    CHECK_TEXT("default at agent/summary", ran(d, flow, bag));
    CHECK_TEXT("\"agent/chat|sales.researchAgent.chat|1\"", got(bag, "chat"));
    CHECK_TEXT("\"agent/search|sales.researchAgent.search|1\"", got(bag, "search"));
    CHECK_TEXT("\"agent/summary|sales.researchAgent.summary|1\"", got(bag, "summary"));
    CHECK_TEXT("\"agent|sales.researchAgent|1\"", got(bag, "agent"));
    check_who(bag, "chat", "agent/chat", "ScriptNode", "sales.researchAgent.chat");
    check_who(bag, "agent", "agent", "kit.Script", "sales.researchAgent");
    /* The same definition at the top: another identity without a change to it. */
    CHECK_TEXT("default at summary", ran(d, inner, bag));
    CHECK_TEXT("\"chat|chat|1\"", got(bag, "chat"));
    valise_flow_free(inner);
}

TEST(flow_identity, a_host_may_run_several_flows_in_one_node_in_turns)
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    valise_flow *one = nodes_of(d, NODE("a", "{'exec':[['inc','one']]}"), "");
    valise_flow *two = nodes_of(d,
                                test_format("%s,%s", NODE("a", "{'exec':[['inc','two']]}"),
                                            NODE("b", "{'exec':[['inc','two']]}")),
                                edge_("a", "b", NULL));
    const valise_service services[] = {
        {"one", VALISE_SERVICE_OTHER, one}, {"two", VALISE_SERVICE_OTHER, two}, {NULL, 0, NULL}};
    valise_flow *flow = flow_with(
        d,
        "{'nodes':[{'id':'h','type':'kit.Script','params':{'exec':[['flow','one'],['flow','two'],"
        "['flow','one'],['flow','one'],['flow','two']]}}]}",
        services);
    tale *l = tale_of(d, "flow:NODE_START");
    const char *text;

    CHECK_TEXT("default at h/b", ran(d, flow, bag));
    CHECK_TEXT("3", got(bag, "one"));
    CHECK_TEXT("4", got(bag, "two"));
    text = told(l);
    /* h/a ran five times, whichever flow it was of. */
    for (int i = 1; i <= 5; i++)
        CHECK_INT(i == 1   ? 3
                  : i == 2 ? 2
                           : 1,
                  (intmax_t)times_in(text, test_format("\"visit\":%d}", i)));
}

typedef struct passing_flow {
    desk *d;
    size_t nodes;
} passing_flow;

/* Made, run and freed again while its node runs. */
static int run_passing(void *arg, valise_node_run *run, valise_error *err)
{
    passing_flow *p = arg;
    valise_flow *inner = NULL;
    int rc = valise_flow_new(&inner, p->d->v, "tmp", NULL, err);

    for (size_t i = 0; i < p->nodes && rc == 0; i++) {
        rc = valise_flow_add_node(
            inner, &script_type,
            quoted(test_format("{'id':'n%zu','params':{'exec':[['inc','count']]}}", i)), err);
        if (rc == 0 && i > 0)
            rc = valise_flow_next(inner, test_format("n%zu", i - 1), test_format("n%zu", i), err);
    }
    if (rc == 0)
        rc = valise_node_run_flow(NULL, run, inner, err);
    valise_flow_free(inner);
    p->nodes += 3;
    return rc;
}

TEST(flow_identity, a_flow_of_the_host_may_be_gone_before_the_run_is_over)
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    passing_flow passing = {d, 2};
    const hook h = {run_passing, &passing};
    const valise_service services[] = {{"h", VALISE_SERVICE_OTHER, &h}, {NULL, 0, NULL}};
    valise_flow *flow = flow_with(
        d,
        "{'nodes':[{'id':'h','type':'kit.Script','params':{'exec':[['call','h'],['call','h'],"
        "['call','h']]}}]}",
        services);

    HAS(ran(d, flow, bag), "default at h/n");
    CHECK_TEXT("15", got(bag, "count"));
}

TEST(flow_identity, a_level_of_another_flow_is_no_flow_to_be_run)
{
    desk *d = script_desk(t);
    valise_flow *other = NULL, *part = NULL, *flow;
    valise_service services[2] = {{NULL, 0, NULL}};

    CHECK_OK(valise_flow_new(&other, d->v, NULL, NULL, &t->err));
    CHECK_OK(valise_flow_add_subflow(&part, other,
                                     quoted("{'namespace':'s','nodes':[{'id':'a','type':"
                                            "'kit.Script'}]}"),
                                     &t->err));
    services[0] = (valise_service){"p", VALISE_SERVICE_OTHER, part};
    flow = flow_with(
        d, "{'nodes':[{'id':'h','type':'kit.Script','params':{'exec':[['flow','p']]}}]}", services);
    HAS(ran(d, flow, bag_of(d, "x")), "INVALID: node 'h': ");
    CHECK_RC(VALISE_E_INVALID, valise_flow_run(NULL, NULL, part, bag_of(d, "x"), NULL, &t->err));
    valise_flow_free(other);
}

TEST(flow_identity, a_flow_that_runs_itself_comes_to_an_end)
{
    desk *d = script_desk(t);
    valise_service services[2] = {{NULL, 0, NULL}};
    valise_flow *flow = flow_with(
        d, "{'nodes':[{'id':'again','type':'kit.Script','params':{'exec':[['flow','f']]}}]}",
        services);
    const char *text;

    services[0] = (valise_service){"f", VALISE_SERVICE_OTHER, flow};
    text = ran(d, flow, bag_of(d, "x"));
    HAS(text, "LIMIT: node 'again/again/");
}

/* ---- permissions ---- */

static const char *may_and_does(const char *may, const char *does)
{
    return test_format("'edges':[],'nodes':[{'id':'a','type':'kit.Script','permissions':{'write':"
                       "['%s']},'params':{'exec':[['pack','%s',1]]}}]",
                       may, does);
}

static const char *two_of(const char *one, const char *two)
{
    return test_format("{'start':'one','nodes':[],'edges':[{'from':'one','to':'two'}],'subflows':["
                       "{'namespace':'one',%s},{'namespace':'two',%s}]}",
                       one, two);
}

TEST(flow_identity, permissions_hold_by_path_and_are_registered) /* [F5] [F19], S24, S25 */
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    valise_backpack *view;

    CHECK_TEXT("default at two/a",
               ran(d, flow_of(d, two_of(may_and_does("k", "k"), may_and_does("l", "l"))), bag));
    CHECK_TEXT("k=1 l=1", items(bag));
    HAS(ran(d, flow_of(d, two_of(may_and_does("k", "k"), may_and_does("l", "k"))), bag),
        "DENIED: node 'two/a': ");
    /* Whoever opens a view of that node, and forgets them, is held to them. */
    view = node_of(d, bag, "two/a", "", NULL);
    CHECK_RC(VALISE_E_DENIED, valise_pack(NULL, view, "k", "2", NULL, &t->err));
    CHECK_OK(valise_pack(NULL, view, "l", "2", NULL, &t->err));
}

static const valise_node_type narrow = {
    .size = sizeof(valise_node_type), .name = "NarrowNode", .brief = "May do little."};

static int pack_both(void *node, valise_node_run *run, valise_error *err)
{
    int rc = valise_pack(NULL, valise_node_backpack(run), "mine", "1", NULL, err);

    (void)node;
    return rc < 0 ? rc : valise_pack(NULL, valise_node_backpack(run), "yours", "1", NULL, err);
}

TEST(flow_identity, permissions_of_the_type_hold_where_the_node_has_none) /* [F1] */
{
    desk *d = script_desk(t);
    const valise_permissions mine = {.write = NAMES("mine")};
    valise_node_type type = narrow;
    valise_flow *flow = NULL;
    valise_backpack *bag = bag_of(d, "x");

    type.permissions = &mine;
    type.post = pack_both;
    CHECK_OK(valise_flow_new(&flow, d->v, NULL, NULL, &t->err));
    CHECK_OK(valise_flow_add_node(flow, &type, "{\"id\":\"n\"}", &t->err));
    CHECK_OK(valise_flow_add_node(
        flow, &type, quoted("{'id':'m','permissions':{'write':['mine','yours']}}"), &t->err));
    HAS(ran(d, flow, bag), "DENIED: node 'n': ");
    CHECK_TEXT("mine=1", items(bag));
    {
        valise_flow_run_options options = VALISE_FLOW_RUN_OPTIONS_INIT;
        options.start = "m";
        CHECK_OK(valise_flow_run(NULL, NULL, flow, bag, &options, &t->err));
    }
    CHECK_TEXT("mine=1 yours=1", items(bag));
    valise_flow_free(flow);
}

TEST(flow_identity, a_lenient_backpack_denies_without_failing) /* B14, U14 */
{
    desk *d = script_desk(t);
    valise_backpack_options options = desk_options(d, VALISE_BACKPACK_LENIENT);
    valise_backpack *bag = bag_with(d, "x", &options);
    tale *l = tale_of(d, NULL);
    const char *text;
    valise_flow *flow = nodes_of(
        d,
        node_("a",
              "{'prep':[['read','secret'],['read','no']],'exec':[['pack','k',1],['pack','l',2]]}",
              ",'permissions':{'read':['l','no'],'write':['l']}"),
        "");

    CHECK_OK(pack(bag, "secret", "\"hush\"", &t->err));
    CHECK_TEXT("default at a", ran(d, flow, bag));
    CHECK_TEXT("l=2 secret=\"hush\"", items(bag));
    text = told(l);
    HAS(text,
        "PREP_COMPLETE a {\"reads\":[{\"key\":\"secret\",\"outcome\":\"denied\"},{\"key\":\"no\","
        "\"outcome\":\"absent\"}]}\n");
    HAS(text, "\"writes\":[{\"action\":\"pack\",\"key\":\"l\"}]}"); /* U14 */
    HAS_NOT(text, "hush");
}

/* ---- time travel ---- */

TEST(flow_identity, each_lap_of_a_loop_is_a_run_of_its_own) /* S26, [B12] */
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x"), *before = NULL;
    valise_flow *flow = nodes_of(
        d,
        test_format("%s,%s",
                    NODE("a", "{'exec':[['inc','n']],'post':[['until','n',3,'again','out']]}"),
                    NODE("b", "{'exec':[['inc','n']]}")),
        test_format("%s,%s", edge_("a", "b", "'again'"), edge_("b", "a", NULL)));

    CHECK_TEXT("out at a", ran(d, flow, bag));
    CHECK_TEXT("3", got(bag, "n"));
    for (int n = 1; n <= 2; n++) {
        CHECK_OK(valise_snapshot_before_node(&before, bag, "a", n, &t->err));
        CHECK_TEXT(n == 1 ? "" : "n=2", items(before));
        valise_backpack_close(before);
    }
    CHECK_OK(valise_snapshot_before_node(&before, bag, "a", -1, &t->err));
    CHECK_TEXT("n=2", items(before));
    valise_backpack_close(before);
    CHECK_OK(valise_snapshot_after_node(&before, bag, "b", 1, &t->err));
    CHECK_TEXT("n=2", items(before));
    valise_backpack_close(before);
    CHECK_RC(VALISE_E_NOT_FOUND, valise_snapshot_before_node(&before, bag, "a", 3, &t->err));
}

TEST(flow_identity, of_a_nested_node_the_path_says_which_one) /* [F19], S25 */
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x"), *before = NULL;
    valise_flow *flow = flow_of(
        d,
        "{'start':'one','nodes':[],'edges':[{'from':'one','to':'two'}],'subflows':["
        "{'namespace':'one','nodes':[{'id':'a','type':'kit.Script','params':{'exec':[['pack','k',1]"
        "]}}]},{'namespace':'two','nodes':[{'id':'a','type':'kit.Script','params':{'exec':[['pack',"
        "'k',2]]}},{'id':'c','type':'kit.Script'}],'edges':[{'from':'a','to':'c'}]}]}");

    CHECK_TEXT("default at two/c", ran(d, flow, bag));
    CHECK_OK(valise_snapshot_before_node(&before, bag, "two/a", -1, &t->err));
    CHECK_TEXT("k=1", items(before));
    valise_backpack_close(before);
    CHECK_RC(VALISE_E_CONFLICT, valise_snapshot_before_node(&before, bag, "a", -1, &t->err));
    CHECK_OK(valise_snapshot_before_node(&before, bag, "c", -1, &t->err)); /* there is one only */
    CHECK_TEXT("k=2", items(before));
    valise_backpack_close(before);
}

/* ---- the backpack of a run ---- */

TEST(flow_identity, a_flow_runs_on_the_backpack_it_was_given) /* S16 */
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "own"), *other = bag_of(d, "other"), *fork = NULL, *now;
    valise_flow *flow = NULL;
    const char *config =
        quoted("{'subflows':[{'namespace':'s','nodes':[{'id':'a','type':'kit.Script',"
               "'params':{'exec':[['inc','n']]}}]}],'nodes':[],'start':'s'}");
    const valise_permissions none = {.write = NOBODY};

    CHECK_OK(valise_flow_from_config(&flow, d->v, valise_str_of(config), bag, NULL, &t->err));
    CHECK_OK(valise_flow_run(NULL, NULL, flow, NULL, NULL, &t->err));
    CHECK_OK(valise_flow_run(NULL, NULL, flow, NULL, NULL, &t->err));
    CHECK_OK(valise_flow_run(NULL, NULL, flow, other, NULL, &t->err));
    CHECK_TEXT("n=2", items(bag));
    CHECK_TEXT("n=1", items(other));
    /* A snapshot is forked, and stays as it is. */
    now = at_point(d, bag, "now");
    CHECK_OK(valise_flow_run(NULL, &fork, flow, now, NULL, &t->err));
    CHECK_TEXT("n=3", items(fork));
    CHECK_TEXT("n=2", items(now));
    valise_backpack_close(fork);
    CHECK_RC(VALISE_E_INVALID, valise_flow_run(NULL, NULL, flow, now, NULL, &t->err));
    /* The view of a node is no backpack to run on. */
    CHECK_RC(VALISE_E_INVALID,
             valise_flow_run(NULL, NULL, flow, node_of(d, bag, "v", "", &none), NULL, &t->err));
    HAS(t->err.hint, "valise_node_run_flow");
    valise_flow_free(flow);
}

TEST(flow_identity, needs_a_backpack_of_the_same_workspace)
{
    desk *d = script_desk(t);
    valise *v = NULL;
    valise_backpack *bag = NULL;
    valise_flow *flow = nodes_of(d, NODE("a", "{}"), "");

    CHECK_OK(desk_try(&v, "memory", NULL, NULL, &t->err));
    CHECK_OK(valise_backpack_open(&bag, v, "x", NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_flow_run(NULL, NULL, flow, bag, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_flow_run(NULL, NULL, flow, NULL, NULL, &t->err));
    CHECK_TEXT("a flow needs a backpack to run on, and has none", t->err.message);
    valise_backpack_close(bag);
    valise_close(v);
}

TEST(flow_identity, begins_with_items_of_the_system_and_elsewhere_if_told)
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    valise_flow *flow = nodes_of(d,
                                 test_format("%s,%s", NODE("a", "{'exec':[['pack','k',1]]}"),
                                             NODE("b", "{'exec':[['inc','n']]}")),
                                 edge_("a", "b", NULL));
    valise_flow_run_options options = VALISE_FLOW_RUN_OPTIONS_INIT;

    options.items = "{\"n\":41}";
    options.start = "b";
    CHECK_OK(valise_flow_run(NULL, NULL, flow, bag, &options, &t->err));
    CHECK_TEXT("n=42", items(bag));
    CHECK_TEXT("1 pack n v1 by system; 2 pack n v2 by b", all_history(bag));
    options.start = "nobody";
    CHECK_RC(VALISE_E_NOT_FOUND, valise_flow_run(NULL, NULL, flow, bag, &options, &t->err));
    options.start = NULL;
    options.items = "[1]";
    CHECK_RC(VALISE_E_INVALID, valise_flow_run(NULL, NULL, flow, bag, &options, &t->err));
    CHECK_TEXT("n=42", items(bag));
}

static int run_elsewhere(void *arg, valise_node_run *run, valise_error *err)
{
    desk *d = arg;
    valise_backpack *other = NULL;
    valise_flow *inner = nodes_of(d, NODE("deep", "{'exec':[['who','who']]}"), "");
    valise_backpack_options options = desk_options(d, 0);
    int rc = valise_backpack_open(&other, valise_node_workspace(run), "elsewhere", &options, err);

    if (rc == 0)
        rc = valise_flow_run(NULL, NULL, inner, other, NULL, err);
    valise_backpack_close(other);
    return rc;
}

TEST(flow_identity, a_node_may_run_a_flow_on_another_backpack) /* [F18] */
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x"), *other = bag_of(d, "elsewhere");
    const hook h = {run_elsewhere, d};
    const valise_service services[] = {{"h", VALISE_SERVICE_OTHER, &h}, {NULL, 0, NULL}};
    valise_flow *flow =
        flow_with(d,
                  "{'nodes':[{'id':'h','type':'kit.Script','params':{'exec':[['call',"
                  "'h'],['who','who']]}}]}",
                  services);

    CHECK_TEXT("default at h", ran(d, flow, bag));
    CHECK_TEXT("who=\"h|h|1\"", items(bag));
    CHECK_TEXT("who=\"deep|test.deep|1\"", items(other));
}

/* The host vouches for each flow alone. */
TEST(flow_identity, a_flow_inside_that_nobody_vouches_for_runs_no_programs) /* [K34] */
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    const char *config =
        quoted("{'nodes':[{'id':'p','type':'ExecNode','params':{'command':['./say']}}]}");
    valise_flow *inner = NULL;
    valise_service services[2] = {{NULL, 0, NULL}};

    put_program("say", "echo '{}'");
    CHECK_OK(valise_flow_from_config(&inner, d->v, valise_str_of(config), NULL, NULL, &t->err));
    services[0] = (valise_service){"inner", VALISE_SERVICE_OTHER, inner};
    HAS(ran(d,
            flow_with(
                d,
                "{'nodes':[{'id':'h','type':'kit.Script','params':{'exec':[['flow','inner']]}}]}",
                services),
            bag),
        "DENIED: node 'h/p': ");
    valise_flow_free(inner);
}

/* ---- patterns, and what is kept of permissions ---- */

TEST(flow_identity, a_pattern_means_one_thing_in_permissions) /* [F5], U19 */
{
    static const struct {
        const char *pattern, *reads;
    } cases[] = {
        {"sales.*", "one,"},
        {"sales.**", "none,one,two,"},
        {"**", "none,one,two,other,"},
        {"s*s.on*", "one,"},
        {"sales.one", "one,"},
        /* Each star more made the original ten times slower. */
        {"*a*a*a*a*a*a*a*a*a*a*a*a*b", ""},
    };
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    static const char *const names[] = {"none", "one", "two", "other"}, *const spaces[] = {
                                                                            "sales", "sales.one",
                                                                            "sales.one.two",
                                                                            "salesmen"};

    for (size_t i = 0; i < VLS_COUNT(names); i++) {
        valise_pack_options options = VALISE_PACK_OPTIONS_INIT;

        options.namespace_name = valise_str_of(spaces[i]);
        CHECK_OK(valise_pack(NULL, bag, names[i], "1", &options, &t->err));
    }
    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        const char *reads = "";

        for (size_t k = 0; k < VLS_COUNT(names); k++) {
            valise_flow *flow = nodes_of(
                d,
                node_(test_format("n%zu-%zu", i, k),
                      test_format("{'exec':[['read','%s']]}", names[k]),
                      test_format(",'permissions':{'namespaceRead':['%s']}", cases[i].pattern)),
                "");
            if (!strstr(ran(d, flow, bag), "DENIED"))
                reads = test_format("%s%s,", reads, names[k]);
        }
        test_context("%s", cases[i].pattern);
        CHECK_TEXT(cases[i].reads, reads);
        test_context_end();
    }
}

TEST(flow_identity, a_copy_of_a_backpack_is_as_strict) /* [F5], U15 */
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    const char *node =
        node_("a", "{'exec':[['read','secret']]}", ",'permissions':{'deny':['secret']}");
    valise_reply reply = VALISE_REPLY_INIT;
    const char *copy;

    CHECK_OK(pack(bag, "secret", "1", &t->err));
    HAS(ran(d, nodes_of(d, node, ""), bag), "DENIED: node 'a': ");
    if (d->durable)
        CHECK_OK(valise_backpack_flush(bag, &t->err));
    CHECK_OK(
        valise_dispatch(&reply, d->v, "backpack:export", "{\"backpack\":\"x\"}", NULL, &t->err));
    /* {"data":{...}}, and so it is taken. */
    copy =
        test_format("{\"backpack\":\"y\",%.*s",
                    VALISE_STR_ARG(vls_str_from(valise_blob_bytes(reply.json), sizeof("{") - 1)));
    valise_reply_release(&reply);
    CHECK_OK(valise_dispatch(NULL, d->v, "backpack:import", copy, NULL, &t->err));
    /* By the id alone, without what the flow says of it. */
    CHECK_RC(VALISE_E_DENIED,
             valise_dispatch(NULL, d->v, "backpack:unpack",
                             "{\"backpack\":\"y\",\"key\":\"secret\",\"node\":\"a\"}", NULL,
                             &t->err));
}
