/* run_retry.c -- exec is tried again, and what failed attempts leave behind. [F2] */
#include <time.h>

#include "run_kit.h"

TEST_PARAMS(flow_retry, "ephemeral", "memory", "sqlite")

TEST(flow_retry, tells_true_numbers_of_attempts) /* [F2] */
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    tale *l = tale_of(d, "flow:E*");
    valise_flow *flow = nodes_of(
        d, node_("a", "{'exec':[['fail',2,'IO','gone'],['who','who']]}", ",'maxRetries':3"), "");

    CHECK_TEXT("default at a", ran(d, flow, bag));
    CHECK_TEXT("\"a|test.a|3\"", got(bag, "who"));
    CHECK_TEXT("ERROR a {\"attempt\":1,\"code\":\"IO\",\"message\":\"gone\",\"phase\":\"exec\","
               "\"retry\":true}\n"
               "ERROR a {\"attempt\":2,\"code\":\"IO\",\"message\":\"gone\",\"phase\":\"exec\","
               "\"retry\":true}\n"
               "EXEC_COMPLETE a {\"attempts\":3}\n",
               told(l));
    CHECK_TEXT("", jailed(bag)); /* it did not ask for quarantine */
}

TEST(flow_retry, gives_up_after_max_retries) /* [F2] */
{
    desk *d = script_desk(t);
    tale *l = tale_of(d, "flow:E*");
    valise_flow *flow =
        nodes_of(d, node_("a", "{'exec':[['fail',0,'IO','gone']]}", ",'maxRetries':2"), "");
    const char *text;

    CHECK_TEXT("IO: node 'a': gone", ran(d, flow, bag_of(d, "x")));
    text = told(l);
    CHECK_INT(2, (intmax_t)times_in(text, "\"retry\":true"));
    CHECK_INT(1, (intmax_t)times_in(text, "\"attempt\":3,\"code\":\"IO\",\"message\":\"gone\","
                                          "\"phase\":\"exec\",\"retry\":false"));
    CHECK_INT(3, (intmax_t)times_in(text, "ERROR"));
}

TEST(flow_retry, prep_and_post_are_not_tried_again)
{
    desk *d = script_desk(t);
    const char *const phases[] = {"prep", "post"};

    for (size_t i = 0; i < 2; i++) {
        valise_backpack *bag = bag_of(d, test_format("x%zu", i));
        valise_flow *flow = nodes_of(
            d,
            node_("a", test_format("{'%s':[['inc','n'],['fail',0,'IO','gone']]}", phases[i]),
                  ",'maxRetries':5"),
            "");

        CHECK_TEXT("IO: node 'a': gone", ran(d, flow, bag));
        CHECK_TEXT("n=1", items(bag));
    }
}

static int64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* What lies between two tries is no time of the node: each of them has all of it. */
TEST(flow_retry, a_wait_is_not_the_time_of_the_node) /* [F2] [F14] */
{
    desk *d = script_desk(t);

    CHECK_TEXT("default at a",
               ran(d,
                   nodes_of(d,
                            node_("a", "{'exec':[['fail',1,'IO','gone']]}",
                                  ",'maxRetries':1,'wait':'700ms','timeout':'300ms'"),
                            ""),
                   bag_of(d, "x")));
}

TEST(flow_retry, waits_between_attempts) /* [F2] */
{
    desk *d = script_desk(t);
    const char *script = "{'exec':[['fail',3,'IO','gone']]}";
    int64_t began = now_ms(), took;

    CHECK_TEXT("default at a",
               ran(d, nodes_of(d, node_("a", script, ",'maxRetries':3,'wait':'30ms'"), ""),
                   bag_of(d, "x")));
    took = now_ms() - began;
    CHECK_MSG(took >= 90 && took < 60000, "%lld ms", (long long)took);
    /* 20, 40, 80, each at least half of that; no more than 80 each. */
    began = now_ms();
    CHECK_TEXT("default at b", ran(d,
                                   nodes_of(d,
                                            node_("b", script,
                                                  ",'maxRetries':3,'wait':{'base':'20ms','max':"
                                                  "'80ms','exponential':true}"),
                                            ""),
                                   bag_of(d, "x")));
    took = now_ms() - began;
    CHECK_MSG(took >= 70 && took < 60000, "%lld ms", (long long)took);
    began = now_ms();
    CHECK_TEXT("default at c",
               ran(d,
                   nodes_of(d,
                            node_("c", "{'exec':[['fail',10,'IO','gone']]}",
                                  ",'maxRetries':10,'wait':{'base':'1ms','max':'2ms',"
                                  "'exponential':true}"),
                            ""),
                   bag_of(d, "x")));
    took = now_ms() - began;
    CHECK_MSG(took >= 9 && took < 5000, "%lld ms", (long long)took);
}

/* ---- the random part of a wait ---- */

static uint8_t drawn;

/* Four bytes are what a wait asks for. */
static int draw(void *self, void *bytes, size_t len)
{
    if (len != sizeof(uint32_t))
        return valise_env_default()->random(self, bytes, len);
    memset(bytes, drawn, len);
    return 0;
}

static void close_it(void *v)
{
    valise_close(v);
}

static int64_t wait_ms(test *t, uint8_t byte)
{
    static valise_env env;
    desk d = {.t = t, .err = &t->err};
    int64_t began;

    env = *valise_env_default();
    env.random = draw;
    drawn = byte;
    CHECK_OK(script_try_open(&d.v, &env, NULL, &t->err));
    test_defer(close_it, d.v);
    began = now_ms();
    CHECK_TEXT("default at a",
               ran(&d,
                   nodes_of(&d,
                            node_("a", "{'exec':[['fail',1,'IO','gone']]}",
                                  ",'maxRetries':1,'wait':{'base':'1s','exponential':true}"),
                            ""),
                   bag_of(&d, "x")));
    return now_ms() - began;
}

/* Those who failed together do not come again together. */
TEST(flow_wait, an_exponential_one_has_a_random_part) /* [F2] */
{
    int64_t least = wait_ms(t, 0), most = wait_ms(t, 0xff);

    CHECK_MSG(least >= 500 && least < 1000, "%lld ms", (long long)least);
    CHECK_MSG(most >= 1000, "%lld ms", (long long)most);
}

TEST(flow_retry, the_fallback_comes_last) /* [F2] */
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    tale *l = tale_of(d, "flow:E*");
    valise_flow *flow = nodes_of(
        d,
        node_("a",
              "{'exec':[['inc','n'],['fail',0,'IO','gone']],'fallback':[['who','who'],['act',"
              "'rescued']]}",
              ",'maxRetries':1"),
        "");
    const char *text;

    CHECK_TEXT("rescued at a", ran(d, flow, bag));
    CHECK_TEXT("2", got(bag, "n"));
    CHECK_TEXT("\"a|test.a|2\"", got(bag, "who"));
    text = told(l);
    CHECK_INT(1, (intmax_t)times_in(text, "\"attempt\":2,\"code\":\"IO\",\"message\":\"gone\","
                                          "\"phase\":\"exec\",\"retry\":false"));
    HAS(text, "EXEC_COMPLETE a {\"attempts\":2}\n");
}

TEST(flow_retry, a_fallback_may_fail_too)
{
    desk *d = script_desk(t);
    tale *l = tale_of(d, "flow:ERROR");

    CHECK_TEXT("TOO_LARGE: node 'a': that too",
               ran(d,
                   nodes_of(d,
                            NODE("a", "{'exec':[['fail',0,'IO','gone']],'fallback':[['fail',0,"
                                      "'TOO_LARGE','that too']]}"),
                            ""),
                   bag_of(d, "x")));
    CHECK_INT(2, (intmax_t)times_in(told(l), "ERROR"));
    CHECK_TEXT("TOO_LARGE: node 'b': it failed without saying why",
               ran(d,
                   nodes_of(d,
                            NODE("b", "{'exec':[['fail',0,'IO','gone']],'fallback':[['fail',0,"
                                      "'TOO_LARGE',null]]}"),
                            ""),
                   bag_of(d, "x")));
    CHECK_INT(VALISE_E_TOO_LARGE, t->err.code);
}

TEST(flow_retry, a_fallback_is_asked_whatever_code_exec_failed_with)
{
    desk *d = script_desk(t);

    CHECK_TEXT("rescued at a",
               ran(d,
                   nodes_of(d,
                            NODE("a", "{'exec':[['lie','LIMIT','IO']],'fallback':[['act',"
                                      "'rescued']]}"),
                            ""),
                   bag_of(d, "x")));
}

TEST(flow_retry, a_fallback_has_time_of_its_own) /* [F14] */
{
    desk *d = script_desk(t);

    CHECK_TEXT("rescued at a",
               ran(d,
                   nodes_of(d,
                            node_("a",
                                  "{'exec':[['sleep',10000]],'fallback':[['sleep',1],['act',"
                                  "'rescued']]}",
                                  ",'timeout':'100ms'"),
                            ""),
                   bag_of(d, "x")));
}

static int act_once(void *arg, valise_node_run *run, valise_error *err)
{
    (void)arg;
    if (valise_node_attempt(run) > 1)
        return 0;
    (void)valise_node_act(run, "half", err);
    return vls_fail(err, VALISE_E_IO, "gone");
}

TEST(flow_retry, only_what_the_last_attempt_chose_counts)
{
    desk *d = script_desk(t);
    const hook h = {act_once, NULL};
    const valise_service services[] = {{"h", VALISE_SERVICE_OTHER, &h}, {NULL, 0, NULL}};

    CHECK_TEXT("default at a",
               ran(d,
                   flow_with(d,
                             "{'nodes':[{'id':'a','type':'kit.Script','params':{'exec':[['call',"
                             "'h']]},'maxRetries':1}]}",
                             services),
                   bag_of(d, "x")));
    CHECK_TEXT("ready at b",
               ran(d,
                   flow_with(d,
                             "{'nodes':[{'id':'b','type':'kit.Script','params':{'prep':[['act',"
                             "'ready']],'exec':[['call','h']]},'maxRetries':1}]}",
                             services),
                   bag_of(d, "x")));
}

TEST(flow_retry, who_cancelled_or_has_no_memory_is_not_asked_again) /* [F2] [F14] */
{
    desk *d = script_desk(t);
    const char *const codes[] = {"CANCELLED", "NO_MEMORY"};

    for (size_t i = 0; i < 2; i++) {
        valise_backpack *bag = bag_of(d, codes[i]);
        valise_flow *flow =
            nodes_of(d,
                     test_format("%s,%s",
                                 node_("a",
                                       test_format("{'exec':[['inc','n'],['fail',0,'%s','so be "
                                                   "it']],'fallback':[['pack','f',1]]}",
                                                   codes[i]),
                                       ",'maxRetries':5"),
                                 NODE("b", "{}")),
                     edge_("a", "b", "'error'"));

        HAS(ran(d, flow, bag), "so be it");
        CHECK_INT(vls_error_of_name(valise_str_of(codes[i])), t->err.code);
        CHECK_TEXT("n=1", items(bag));
    }
}

/* ---- quarantine ---- */

static int pack_tagged(valise_backpack *bag, const char *key, const char *json, valise_error *err)
{
    valise_pack_options options = VALISE_PACK_OPTIONS_INIT;

    options.node_id = VLS_STR("old");
    options.node_name = VLS_STR("OldNode");
    options.namespace_name = VLS_STR("old.space");
    options.tags = NAMES("dear");
    options.read = NAMES("a", "b");
    return valise_pack(NULL, bag, key, json, &options, err);
}

TEST(flow_retry, a_failed_attempt_leaves_no_trace_in_the_state) /* [F2], S12, [B25] */
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    valise_flow *flow = nodes_of(
        d,
        node_("a",
              "{'prep':[['pack','prepared',1]],'exec':[['pack','new',1],['pack','old',2],['pack'"
              ",'old',3],['rm','gone'],['fail',0,'IO','no luck']]}",
              ",'maxRetries':1,'quarantine':true"),
        "");
    valise_commit old;
    const char *text;

    CHECK_OK(pack_tagged(bag, "old", "1", &t->err));
    CHECK_OK(pack(bag, "gone", "\"here\"", &t->err));
    CHECK_TEXT("IO: node 'a': no luck", ran(d, flow, bag));
    CHECK_TEXT("gone=\"here\" old=1 prepared=1", items(bag));
    old = item_of(bag, "old");
    CHECK_STR(VLS_STR("old"), old.node_id);
    CHECK_STR(VLS_STR("OldNode"), old.node_name);
    CHECK_STR(VLS_STR("old.space"), old.namespace_name);
    CHECK_INT(1, (intmax_t)old.tags.count);
    text = jailed(bag);
    CHECK_INT(2, (intmax_t)times_in(text, "new=1("));
    CHECK_INT(2, (intmax_t)times_in(text, "old=3("));
    CHECK_INT(2, (intmax_t)times_in(text, "(attempt 1 of 'a' failed)"));
    CHECK_INT(2, (intmax_t)times_in(text, "(attempt 2 of 'a' failed)"));
    HAS_NOT(text, "prepared");
    /* The lists of who may read it are there again. */
    CHECK_RC(VALISE_E_DENIED,
             valise_unpack(&(valise_blob *){NULL}, node_of(d, bag, "c", "", NULL), "old", &t->err));
}

/* What comes behind the attempts fails the node as well: what it packed then goes, too. [F2] [F17]
 */
TEST(flow_retry, what_fails_at_the_end_leaves_no_trace_either)
{
    static const char *const cases[][2] = {
        {"{'exec':[['pack','done',1]],'post':[['pack','old',2],['fail',0,'IO','no']]}", ""},
        {"{'exec':[['pack','done',1]],'post':[['pack','old',2]]}",
         ",'outputs':{'old':{'type':'string'}}"},
        {"{'exec':[['fail',0,'IO','no']],'fallback':[['pack','old',2],['fail',0,'IO','no']],"
         "'post':[['pack','done',1]]}",
         ""},
    };
    desk *d = script_desk(t);

    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        valise_backpack *bag = bag_of(d, test_format("x%zu", i));
        const char *more = test_format(",'quarantine':true%s", cases[i][1]);
        const char *node = node_("a", cases[i][0], more);

        if (i == 2)
            node = test_format("{'id':'a','type':'kit.Rescue','params':%s%s}", cases[i][0], more);
        test_context("case %zu", i);
        CHECK_OK(pack_tagged(bag, "old", "1", &t->err));
        CHECK_TEXT("default at b", ran(d,
                                       nodes_of(d, test_format("%s,%s", node, NODE("b", "{}")),
                                                edge_("a", "b", "'error'")),
                                       bag));
        CHECK_TEXT(i == 2 ? "old=1" : "done=1 old=1", items(bag));
        HAS(jailed(bag), "old=2(attempt 1 of 'a' failed)");
        CHECK_STR(VLS_STR("old"), item_of(bag, "old").node_id);
    }
}

TEST(flow_retry, the_attempt_that_succeeds_sees_the_state_before_the_first) /* [F2] */
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    valise_flow *flow = nodes_of(d,
                                 node_("a", "{'exec':[['inc','n'],['fail',2,'IO','no luck']]}",
                                       ",'maxRetries':2,'quarantine':true"),
                                 "");

    CHECK_OK(pack(bag, "n", "10", &t->err));
    CHECK_TEXT("default at a", ran(d, flow, bag));
    CHECK_TEXT("n=11", items(bag));
    CHECK_INT(2, (intmax_t)times_in(jailed(bag), "n=11(attempt"));
}

TEST(flow_retry, the_fallback_sees_the_state_before_too)
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");

    CHECK_TEXT("default at a",
               ran(d,
                   nodes_of(d,
                            node_("a",
                                  "{'exec':[['inc','n'],['fail',0,'IO','no luck']],'fallback':["
                                  "['inc','n']]}",
                                  ",'quarantine':true"),
                            ""),
                   bag));
    CHECK_TEXT("n=1", items(bag));
}

/* What comes back is the output of who packed it, who may read it whatever its tags. [B22] */
TEST(flow_retry, what_comes_back_keeps_where_its_tags_came_from)
{
    desk *d = script_desk(t);
    valise_backpack_options o = desk_options(d, VALISE_BACKPACK_TAINT);
    valise_backpack *bag = bag_with(d, "x", &o), *auth = node_of(d, bag, "auth", "", NULL);
    valise_pack_options tagged = VALISE_PACK_OPTIONS_INIT;
    valise_list nobody = NAMES("nobody");

    tagged.tags = NAMES("pii");
    CHECK_OK(valise_pack(NULL, bag, "card", "1", &tagged, d->err));
    CHECK_TEXT("1", got(auth, "card"));
    CHECK_OK(pack(auth, "mine", "2", d->err));
    CHECK_OK(valise_tag_rule(bag, "pii", &nobody, NULL, d->err));
    CHECK_TEXT("2", seen(auth, "mine"));
    CHECK_TEXT("IO: node 'a': gone",
               ran(d,
                   nodes_of(d,
                            node_("a", "{'exec':[['pack','mine',3],['fail',0,'IO','gone']]}",
                                  ",'quarantine':true"),
                            ""),
                   bag));
    CHECK_TEXT("2", got(bag, "mine"));
    CHECK_TEXT("2", seen(auth, "mine"));
    CHECK_INT(1, item_of(bag, "mine").taints.count);
    CHECK_TEXT("(denied)", got(node_of(d, bag, "b", "", NULL), "mine"));
}

static int note_commit(void *arg, const valise_commit *commit, valise_error *err)
{
    (void)err;
    *(const char **)arg = test_format("%s%.*s:%zu ", *(const char **)arg,
                                      VALISE_STR_ARG(commit->key), commit->taints.count);
    return 0;
}

/* What went wrong may say what was read, and so may the node around that tries again. [B22] */
TEST(flow_retry, an_error_carries_the_tags_of_what_was_read)
{
    desk *d = script_desk(t);
    valise_backpack_options o = desk_options(d, VALISE_BACKPACK_TAINT);
    valise_backpack *bag = bag_with(d, "x", &o);
    valise_pack_options tagged = VALISE_PACK_OPTIONS_INIT;
    valise_history filter = VALISE_HISTORY_INIT;
    valise_list nobody = NAMES("nobody");
    const char *text = "";

    tagged.tags = NAMES("pii");
    filter.actions = 1u << VALISE_ACTION_QUARANTINE;
    CHECK_OK(valise_pack(NULL, bag, "card", "1", &tagged, d->err));
    CHECK(strstr(ran(d,
                     nodes_of(d,
                              test_format("{'id':'sub','type':'SubflowNode','quarantine':true,"
                                          "'params':{'flow':{'nodes':[%s]}}}",
                                          node_("a",
                                                "{'exec':[['read','card'],"
                                                "['fail',0,'IO','card 1 refused']]}",
                                                ",'quarantine':true")),
                              ""),
                     bag),
                 "card 1 refused"));
    CHECK_OK(valise_history_each(bag, &filter, note_commit, &text, d->err));
    CHECK_TEXT("sub#1:1 sub/a#1:1 ", text);
    CHECK_OK(valise_tag_rule(bag, "pii", &nobody, NULL, d->err));
    text = "";
    CHECK_OK(
        valise_history_each(node_of(d, bag, "b", "", NULL), &filter, note_commit, &text, d->err));
    CHECK_TEXT("", text);
}

TEST(flow_retry, an_attempt_that_wrote_nothing_leaves_an_entry) /* [F2] */
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    valise_flow *flow = flow_of(d, "{'nodes':[],'start':'s','subflows':[{'namespace':'s','nodes':[{"
                                   "'id':'a','type':'kit.Script',"
                                   "'params':{'exec':[['read','n'],['fail',2,'IO','no "
                                   "luck']]},'maxRetries':2,'quarantine':true}]"
                                   "}]}");

    CHECK_TEXT("default at s/a", ran(d, flow, bag));
    HAS(jailed(bag), "s/a#1(attempt 1 of 's/a' failed)");
    HAS(jailed(bag), "s/a#2(attempt 2 of 's/a' failed)");
    CHECK_TEXT("", items(bag));
}

TEST(flow_retry, what_is_quarantined_may_be_what_the_node_may_not_write)
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    valise_flow *flow =
        nodes_of(d,
                 node_("a", "{'exec':[['pack','k',1],['fail',1,'IO','no luck']]}",
                       ",'maxRetries':1,'quarantine':true,'permissions':{'write':['k'],'read':[]}"),
                 "");

    CHECK_TEXT("default at a", ran(d, flow, bag));
    CHECK_TEXT("k=1", items(bag));
    HAS(jailed(bag), "k=1(attempt 1 of 'a' failed)");
}

TEST(flow_retry, what_is_cleared_by_a_failed_attempt_comes_back)
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    valise_flow *flow =
        nodes_of(d,
                 node_("a", "{'exec':[['clear','old.space'],['fail',0,'IO','no luck']]}",
                       ",'quarantine':true"),
                 "");

    CHECK_OK(pack_tagged(bag, "one", "1", &t->err));
    CHECK_OK(pack_tagged(bag, "two", "2", &t->err));
    CHECK_TEXT("IO: node 'a': no luck", ran(d, flow, bag));
    CHECK_TEXT("one=1 two=2", items(bag));
}

TEST(flow_retry, a_subflow_is_tried_again_as_a_whole)
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    valise_flow_result result = VALISE_FLOW_RESULT_INIT;
    valise_flow *flow = flow_of(
        d,
        "{'nodes':[{'id':'s','type':'SubflowNode','maxRetries':2,'params':{'flow':{'nodes':[{'id':"
        "'a','type':'kit.Script','params':{'exec':[['inc','n']]}},{'id':'b','type':'kit.Script',"
        "'params':{'post':[['until','n',3,'bad','good']]}},{'id':'c','type':'kit.Script','params':{"
        "'exec':[['fail',0,'IO','no luck']]}},{'id':'d','type':'kit.Script'}],'edges':[{'from':'a',"
        "'to':'b'},{'from':'b','to':'c','condition':'bad'},{'from':'b','to':'d','condition':'good'}"
        "]"
        "}}},{'id':'z','type':'kit.Script'}],'edges':[{'from':'s','to':'z'}]}");

    CHECK_OK(valise_flow_run(&result, NULL, flow, bag, NULL, &t->err));
    CHECK_TEXT("z", result.node); /* and not the one that failed long ago */
    CHECK_TEXT("3", got(bag, "n"));
}

TEST(flow_retry, the_node_that_failed_last_is_to_blame)
{
    desk *d = script_desk(t);
    valise_backpack *bag = bag_of(d, "x");
    valise_flow_result result = VALISE_FLOW_RESULT_INIT;
    valise_flow *flow = flow_of(
        d,
        "{'nodes':[{'id':'s','type':'SubflowNode','maxRetries':1,'params':{'flow':{'nodes':[{'id':"
        "'a','type':'kit.Script','params':{'exec':[['inc','n']],'post':[['until','n',2,'one','two']"
        "]}}"
        ",{'id':'b','type':'kit.Script','params':{'exec':[['fail',0,'IO','first']]}},{'id':'c','"
        "type':"
        "'kit.Script','params':{'exec':[['fail',0,'LIMIT','second']]}}],'edges':[{'from':'a','to':'"
        "b',"
        "'condition':'one'},{'from':'a','to':'c','condition':'two'}]}}}]}");

    CHECK_RC(VALISE_E_LIMIT, valise_flow_run(&result, NULL, flow, bag, NULL, &t->err));
    CHECK_TEXT("s/c", result.node);
    CHECK_TEXT("node 's/c': second", t->err.message);
}

TEST(flow_retry, a_failure_inside_that_its_node_swallows_is_nobodys)
{
    desk *d = script_desk(t);
    valise_flow *bad = nodes_of(d, NODE("x", "{'exec':[['fail',0,'IO','never mind']]}"), "");
    const valise_service services[] = {{"bad", VALISE_SERVICE_OTHER, bad}, {NULL, 0, NULL}};
    valise_flow_result result = VALISE_FLOW_RESULT_INIT;
    valise_flow *flow = flow_with(d,
                                  "{'nodes':[{'id':'h','type':'kit.Script','params':{'exec':[['try'"
                                  ",'bad']]}},{'id':'z','type':"
                                  "'kit.Script','params':{'exec':[['fail',0,'LIMIT','mine']]}}],'"
                                  "edges':[{'from':'h','to':'z'}]}",
                                  services);

    CHECK_RC(VALISE_E_LIMIT, valise_flow_run(&result, NULL, flow, bag_of(d, "x"), NULL, &t->err));
    CHECK_TEXT("z", result.node);
    CHECK_TEXT("node 'z': mine", t->err.message);
}
