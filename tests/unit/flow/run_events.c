/* run_events.c -- what is told of a run: all of it, in order, and no values. [F12] */
#include "run_kit.h"

TEST_PARAMS(flow_events, "ephemeral", "sqlite")

TEST(flow_events, tell_each_node_in_order_with_what_it_did) /* [F12] */
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    tale *l = tale_of(d, NULL);
    valise_flow *flow = nodes_of(
        d,
        test_format(
            "%s,%s",
            NODE("a", "{'prep':[['read','q'],['read','none']],'exec':[['pack','r','sesame'],['rm',"
                      "'q']],'post':[['pack','r',2],['act','on']]}"),
            NODE("b", "{}")),
        edge_("a", "b", "'on'"));

    CHECK_OK(pack(bag, "q", "\"open\"", &t->err));
    CHECK_TEXT("default at b", ran(d, flow, bag));
    CHECK_TEXT(
        "FLOW_START  {\"backpack\":\"x\",\"namespace\":\"test\",\"nodes\":2}\n"
        "NODE_START a "
        "{\"params\":{\"exec\":[[\"pack\",\"r\",\"sesame\"],[\"rm\",\"q\"]],\"post\":[["
        "\"pack\",\"r\",2],[\"act\",\"on\"]],\"prep\":[[\"read\",\"q\"],[\"read\",\"none\"]]},"
        "\"seq\":1,"
        "\"type\":\"kit.Script\",\"visit\":1}\n"
        "PREP_COMPLETE a {\"reads\":[{\"key\":\"q\",\"outcome\":\"found\"},{\"key\":\"none\","
        "\"outcome\":\"absent\"}]}\n"
        "EXEC_COMPLETE a {\"attempts\":1}\n"
        "NODE_END a {\"action\":\"on\",\"failed\":false,\"next\":\"b\",\"visit\":1,\"writes\":[{"
        "\"action\":\"pack\",\"key\":\"r\"},{\"action\":\"delete\",\"key\":\"q\"},{\"action\":"
        "\"pack\","
        "\"key\":\"r\"}]}\n"
        "NODE_START b {\"params\":{},\"seq\":4,\"type\":\"kit.Script\",\"visit\":1}\n"
        "PREP_COMPLETE b {\"reads\":[]}\n"
        "EXEC_COMPLETE b {\"attempts\":1}\n"
        "NODE_END b {\"action\":\"default\",\"failed\":false,\"visit\":1,\"writes\":[]}\n"
        "FLOW_END  {\"action\":\"default\",\"status\":\"done\",\"steps\":2}\n",
        told(l));
}

TEST(flow_events, carry_the_namespace_and_the_path) /* [F12] */
{
    desk *d = script_desk(t);
    valise_subscription *s = NULL;
    const valise_event *event;
    const char *const types[] = {"flow:NODE_START", NULL};
    const valise_follow follow = {.size = sizeof(follow),
                                  .filter = {.size = sizeof(valise_filter),
                                             .types = types,
                                             .namespace_pattern = VLS_STR("test.in.*"),
                                             .node_id = VLS_STR("in/a")},
                                  .live = true,
                                  .queue_max = 10};
    valise_flow *flow = flow_of(d, "{'namespace':'test','start':'in','nodes':[],'subflows':[{'"
                                   "namespace':'in','nodes':[{'id':'a',"
                                   "'type':'kit.Script'}]}]}");

    CHECK_OK(valise_subscribe(&s, d->v, &follow, &t->err));
    CHECK_TEXT("default at in/a", ran(d, flow, bag_of(d, "x")));
    CHECK_INT(1, valise_subscription_next(&event, s, 0, &t->err));
    CHECK_STR(VLS_STR("in/a"), event->node_id);
    CHECK_STR(VLS_STR("test.in.a"), event->namespace_name);
    CHECK_INT(0, valise_subscription_next(&event, s, 0, &t->err));
    valise_unsubscribe(s);
}

TEST(flow_events, of_nested_nodes_lie_within_those_of_the_outer_one)
{
    desk *d = script_desk(t);
    tale *l = tale_of(d, "flow:NODE_*");
    valise_flow *flow = flow_of(
        d,
        "{'start':'in','nodes':[{'id':'z','type':'kit.Script'}],'edges':[{'from':'in','to':'z'}],"
        "'subflows':[{'namespace':'in','nodes':[{'id':'a','type':'kit.Script'}]}]}");

    CHECK_TEXT("default at z", ran(d, flow, bag_of(d, "x")));
    CHECK_TEXT("NODE_START:in NODE_START:in/a NODE_END:in/a NODE_END:in NODE_START:z NODE_END:z",
               told_types(l));
}

TEST(flow_events, say_in_which_phase_it_failed) /* [F12], U24 */
{
    desk *d = script_desk(t);
    tale *l = tale_of(d, "flow:ERROR");
    const char *const phases[] = {"prep", "exec", "post"};

    for (size_t i = 0; i < 3; i++) {
        HAS(ran(d,
                nodes_of(d,
                         NODE("a", test_format("{'%s':[['fail',0,'IO','prepared to fail']]}",
                                               phases[i])),
                         ""),
                bag_of(d, "x")),
            "IO: node 'a': prepared to fail");
        CHECK_TEXT(
            test_format("ERROR a {\"attempt\":%d,\"code\":\"IO\",\"message\":\"prepared to fail\","
                        "\"phase\":\"%s\",\"retry\":false}\n",
                        i > 0, phases[i]),
            told(l));
    }
    HAS(ran(d,
            nodes_of(d,
                     test_format("%s,%s", node_("r", "{}", ",'permissions':{'deny':['n']}"),
                                 NODE("b", "{}")),
                     "{'from':'r','to':'b','mappings':{'n':'m'}}"),
            bag_of(d, "x")),
        "DENIED");
    HAS(told(l), "\"phase\":\"route\"");
}

TEST(flow_events, end_with_what_became_of_the_run) /* [F12] */
{
    desk *d = script_desk(t);
    tale *l = tale_of(d, "flow:FLOW_END");

    (void)ran(d, nodes_of(d, NODE("a", "{'exec':[['fail',0,'IO','gone']]}"), ""), bag_of(d, "x"));
    CHECK_TEXT(
        "FLOW_END  {\"code\":\"IO\",\"message\":\"node 'a': gone\",\"status\":\"failed\",\"steps\":"
        "1}\n",
        told(l));
    (void)ran(d, nodes_of(d, NODE("a", "{'exec':[['fail',0,'CANCELLED','no more']]}"), ""),
              bag_of(d, "x"));
    HAS(told(l), "\"status\":\"cancelled\"");
}

TEST(flow_events, an_error_that_is_taken_is_told_and_the_node_ends) /* [F3] [F12] */
{
    desk *d = script_desk(t);
    tale *l = tale_of(d, NULL);
    valise_flow *flow = nodes_of(
        d, test_format("%s,%s", NODE("a", "{'exec':[['fail',0,'IO','gone']]}"), NODE("b", "{}")),
        edge_("a", "b", "'error'"));

    CHECK_TEXT("default at b", ran(d, flow, bag_of(d, "x")));
    CHECK_TEXT("FLOW_START NODE_START:a PREP_COMPLETE:a ERROR:a NODE_END:a NODE_START:b "
               "PREP_COMPLETE:b EXEC_COMPLETE:b NODE_END:b FLOW_END",
               told_types(l));
    (void)ran(d, flow, bag_of(d, "x"));
    HAS(told(l), "NODE_END a {\"action\":\"error\",\"failed\":true,\"next\":\"b\",\"visit\":1,");
}

/* Also of those around it, of one that is cancelled, and of one whose contract is broken. */
TEST(flow_events, each_node_that_begins_ends) /* [F12] */
{
    desk *d = script_desk(t);
    tale *l = tale_of(d, NULL);
    const char *const fails[] = {
        "{'exec':[['fail',0,'IO','gone']]}",
        "{'prep':[['fail',0,'IO','gone']]}",
        "{'post':[['fail',0,'IO','gone']]}",
        "{'exec':[['fail',0,'CANCELLED','no more']]}",
    };

    for (size_t i = 0; i < VLS_COUNT(fails); i++) {
        const char *text;

        (void)ran(d,
                  flow_of(d, test_format("{'nodes':[{'id':'in','type':'SubflowNode','params':{'"
                                         "flow':{'nodes':[%s]}}}]}",
                                         NODE("a", fails[i]))),
                  bag_of(d, "x"));
        text = told_types(l);
        CHECK_MSG(strstr(text, "ERROR:in/a NODE_END:in/a ERROR:in NODE_END:in FLOW_END"), "%s",
                  text);
    }
    (void)ran(d, nodes_of(d, NODE("a", fails[0]), ""), bag_of(d, "x"));
    HAS(told(l), "NODE_END a {\"failed\":true,\"visit\":1,\"writes\":[]}");
}

/* More than an event holds: 20,000 keys of 60 bytes. */
TEST(flow_events, that_a_node_is_over_is_told_whatever_it_wrote) /* [F12] */
{
    desk *d = script_desk(t);
    tale *l = tale_of(d, "flow:NODE_END");
    vls_buf values;
    const char *text;

    vls_buf_init(&values, t->env, (size_t)4 << 20);
    for (int i = 0; i < 20000; i++)
        vls_buf_printf(&values, "%s'k%059d':1", i ? "," : "", i);
    text = vls_buf_cstr(&values);
    CHECK_TEXT(
        "default at a",
        ran(d,
            nodes_of(d, test_format("{'id':'a','type':'SetNode','params':{'values':{%s}}}", text),
                     ""),
            bag_of(d, "x")));
    vls_buf_release(&values);
    CHECK_TEXT("NODE_END a {\"action\":\"default\",\"failed\":false,\"visit\":1,"
               "\"writes\":null}\n",
               told(l));
}

TEST(flow_events, hold_no_values_and_no_state) /* [F12], U26 */
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    tale *l = tale_of(d, "*");
    valise_flow *flow =
        nodes_of(d,
                 node_("a", "{'prep':[['read','plain']],'exec':[['inc','n'],['read','plain']]}",
                       ",'permissions':{'deny':['apiKey']}"),
                 "");
    const char *text;

    CHECK_OK(pack(bag, "apiKey", "\"sk-SECRET\"", &t->err));
    CHECK_OK(pack(bag, "plain", "\"PLAINTEXT\"", &t->err));
    (void)told(l);
    CHECK_TEXT("default at a", ran(d, flow, bag));
    text = told(l);
    HAS(text, "NODE_START a ");
    HAS_NOT(text, "SECRET");
    HAS_NOT(text, "apiKey");
    HAS_NOT(text, "PLAINTEXT");
}

TEST(flow_events, tell_params_as_they_are_written_and_secrets_nowhere) /* [F6] [F12] */
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    tale *l = tale_of(d, "*");
    const char *const phases[] = {"prep", "exec", "post"};
    const char *text;

    CHECK(setenv("FLOW_TEST_SECRET", "hunter2-is-long", 1) == 0);
    CHECK_TEXT(
        "default at a",
        ran(d, nodes_of(d, NODE("a", "{'key':'${FLOW_TEST_SECRET}','exec':[['params','p']]}"), ""),
            bag));
    HAS(got(bag, "p"), "hunter2-is-long"); /* the node itself has it, and does what it wants */
    text = told(l);
    HAS(text, "${FLOW_TEST_SECRET}");
    CHECK_INT(times_in(text, "hunter2"), times_in(text, "\"valueSummary\":"));
    for (size_t i = 0; i < 3; i++) {
        text = ran(d,
                   nodes_of(d,
                            node_("b",
                                  test_format("{'%s':[['fail',0,'IO','wrong: "
                                              "${FLOW_TEST_SECRET}!']]}",
                                              phases[i]),
                                  ",'quarantine':true"),
                            ""),
                   bag);
        CHECK_TEXT("IO: node 'b': wrong: [redacted]!", text);
        text = told(l);
        HAS(text, "wrong: [redacted]!");
        HAS_NOT(text, "hunter2");
    }
    HAS_NOT(jailed(bag), "hunter2");
    CHECK(unsetenv("FLOW_TEST_SECRET") == 0);
    HAS(ran(d, nodes_of(d, NODE("c", "{'key':'${FLOW_TEST_SECRET}'}"), ""), bag),
        "NOT_FOUND: node 'c'");
}

TEST(flow_events, of_a_denied_write_say_nothing) /* U14 */
{
    desk *d = script_desk(t);
    tale *l = tale_of(d, NULL);
    const char *text;
    valise_flow *flow = nodes_of(d,
                                 test_format("%s,%s",
                                             node_("a", "{'exec':[['pack','l',2],['pack','k',1]]}",
                                                   ",'permissions':{'write':['l']}"),
                                             NODE("b", "{}")),
                                 edge_("a", "b", "'error'"));

    CHECK_TEXT("default at b", ran(d, flow, bag_of(d, "x")));
    text = told(l);
    HAS(text, "\"writes\":[{\"action\":\"pack\",\"key\":\"l\"}]");
    CHECK_INT(0, (intmax_t)times_in(text, "\"action\":\"pack\",\"key\":\"k\""));
}

/* What a node inside wrote is known where an attempt has to be taken back, and is told as that
 * node's alone. */
TEST(flow_events, what_was_written_inside_is_told_once) /* [F12] */
{
    desk *d = script_desk(t);
    tale *l = tale_of(d, "flow:NODE_END");
    const char *text;

    CHECK_TEXT(
        "default at s/a",
        ran(d,
            nodes_of(d,
                     test_format("{'id':'s','type':'SubflowNode','quarantine':true,'params':{"
                                 "'flow':{'nodes':[%s]}}}",
                                 NODE("a", "{'exec':[['pack','k',1]]}")),
                     ""),
            bag_of(d, "x")));
    text = told(l);
    HAS(text, "NODE_END s/a ");
    HAS(text, "NODE_END s ");
    CHECK_INT(1, (intmax_t)times_in(text, "\"key\":\"k\""));
}

TEST(flow_events, nodes_may_tell_things_of_their_own) /* [F12] */
{
    desk *d = script_desk(t);
    tale *custom = tale_of(d, "flow:CUSTOM"), *stream = tale_of(d, "flow:STREAM_CHUNK");

    CHECK_TEXT(
        "default at a",
        ran(d,
            nodes_of(d, NODE("a", "{'exec':[['tell','half',{'b':1,'a':2}],['stream','x\\ny']]}"),
                     ""),
            bag_of(d, "x")));
    CHECK_TEXT("CUSTOM a {\"data\":{\"a\":2,\"b\":1},\"type\":\"half\"}\n", told(custom));
    CHECK_TEXT("STREAM_CHUNK a {\"kind\":\"text\",\"text\":\"x\\ny\"}\n", told(stream));
}

/* ---- those who listen ---- */

static int fail_always(void *arg, const valise_event *event, valise_error *err)
{
    (void)event;
    ++*(int *)arg;
    return vls_fail(err, VALISE_E_IO, "I do not want to hear it");
}

TEST(flow_events, a_listener_that_fails_harms_nobody) /* U23 */
{
    desk *d = script_desk(t);
    int count = 0;
    uint64_t failed = 0;
    valise_subscription *s = NULL;
    const valise_follow follow = {
        .size = sizeof(follow), .live = true, .fn = fail_always, .arg = &count};
    tale *l;

    CHECK_OK(valise_subscribe(&s, d->v, &follow, &t->err));
    l = tale_of(d, NULL);
    CHECK_TEXT(
        "IO: node 'a': gone",
        ran(d, nodes_of(d, NODE("a", "{'exec':[['fail',0,'IO','gone']]}"), ""), bag_of(d, "x")));
    CHECK_TEXT("FLOW_START NODE_START:a PREP_COMPLETE:a ERROR:a NODE_END:a FLOW_END",
               told_types(l));
    valise_subscription_losses(NULL, &failed, s);
    CHECK(count >= 5 && failed >= 5);
    valise_unsubscribe(s);
}

typedef struct leaver {
    valise_subscription *s;
    int count;
} leaver;

static int leave(void *arg, const valise_event *event, valise_error *err)
{
    leaver *l = arg;

    (void)err;
    l->count++;
    if (vls_str_equal(event->type, VLS_STR("flow:NODE_START"))) {
        valise_unsubscribe(l->s);
        l->s = NULL;
    }
    return 0;
}

TEST(flow_events, a_listener_may_leave_in_the_middle) /* U23 */
{
    desk *d = script_desk(t);
    leaver l = {NULL, 0};
    const valise_follow follow = {.size = sizeof(follow),
                                  .filter = {.size = sizeof(valise_filter), .types = flow_events},
                                  .live = true,
                                  .fn = leave,
                                  .arg = &l};

    CHECK_OK(valise_subscribe(&l.s, d->v, &follow, &t->err));
    CHECK_TEXT("default at a", ran(d, nodes_of(d, NODE("a", "{}"), ""), bag_of(d, "x")));
    CHECK_INT(2, l.count);
    CHECK(l.s == NULL);
}

TEST(flow_events, those_of_the_backpack_arrive_and_each_run_has_an_id_of_its_own) /* U25 */
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    tale *l = tale_of(d, NULL), *packs = tale_of(d, "BACKPACK_PACK");
    valise_flow *flow = nodes_of(d, NODE("a", "{'exec':[['inc','n']]}"), "");
    valise_flow_result one = VALISE_FLOW_RESULT_INIT, two = VALISE_FLOW_RESULT_INIT;
    const char *text;

    CHECK_OK(valise_flow_run(&one, NULL, flow, bag, NULL, &t->err));
    CHECK_INT(1, (intmax_t)told_runs(l));
    CHECK_OK(valise_flow_run(&two, NULL, flow, bag, NULL, &t->err));
    CHECK_INT(2, (intmax_t)told_runs(l));
    CHECK(memcmp(&one.run, &two.run, sizeof(one.run)) != 0);
    text = told(packs);
    CHECK_INT(2, (intmax_t)times_in(text, "BACKPACK_PACK a "));
}

TEST(flow_events, are_made_for_nobody_who_does_not_listen)
{
    desk *d = script_desk(t);
    tale *l = tale_of(d, "nothing:*");

    CHECK_TEXT("default at a", ran(d, nodes_of(d, NODE("a", "{}"), ""), bag_of(d, "x")));
    CHECK_TEXT("", told(l));
}
