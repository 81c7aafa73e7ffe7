/* nodes_map.c -- a flow for each element: results, who wrote what, and two that write one key.
 * [F9] [F18] */
#include <time.h>

#include "base/uuid.h"
#include "nodes_kit.h"

TEST_PARAMS(map, "ephemeral", "sqlite")

static valise_flow *map(desk *d, const char *params, const char *nodes, const char *edges)
{
    return nodes_of(d,
                    test_format("{'id':'m','type':'MapNode','params':{'over':'list'%s,'flow':{"
                                "'nodes':[%s],'edges':[%s]}}}",
                                params, nodes, edges),
                    "");
}

#define SET(id, values) "{'id':'" id "','type':'SetNode','params':{'values':" values "}}"

TEST(map, results_come_in_order)
{
    static const char *const parallel[] = {"", ",'parallel':1", ",'parallel':64"};
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");

    CHECK_OK(pack(bag, "list", quoted("['a','b','c','d','e','f','g']"), d->err));
    for (size_t i = 0; i < VLS_COUNT(parallel); i++) {
        valise_flow *flow =
            map(d, parallel[i], SET("s", "{'result':['{{item}}','{{index}}']}"), "");

        CHECK_TEXT("default at m", ran(d, flow, bag));
        CHECK_TEXT(quoted("[['a',0],['b',1],['c',2],['d',3],['e',4],['f',5],['g',6]]"),
                   got(bag, "results"));
        CHECK_TEXT("list results", keys(bag)); /* item, index and result stay behind */
    }
}

TEST(map, objects_and_nothing)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    valise_flow *flow = map(d, ",'as':'x','index':'k','collect':'r','into':'out'",
                            SET("s", "{'r':'{{k}}={{x}}'}"), "");

    CHECK_OK(pack(bag, "list", quoted("{'one':1,'two':2}"), d->err));
    CHECK_TEXT("default at m", ran(d, flow, bag));
    CHECK_TEXT(quoted("{'one':'one=1','two':'two=2'}"), got(bag, "out"));
    CHECK_OK(pack(bag, "list", "[]", d->err));
    CHECK_TEXT("default at m", ran(d, flow, bag));
    CHECK_TEXT("[]", got(bag, "out"));
    CHECK_OK(pack(bag, "list", "7", d->err));
    CHECK(strstr(ran(d, flow, bag), "has no elements"));
    CHECK_OK(valise_remove(NULL, bag, "list", d->err));
    CHECK(strstr(ran(d, flow, bag), "NOT_FOUND"));
}

TEST(map, what_must_be_collected)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");

    CHECK_OK(pack(bag, "list", "[1,2]", d->err));
    CHECK_TEXT("default at m", ran(d, map(d, "", SET("s", "{}"), ""), bag));
    CHECK_TEXT("[null,null]", got(bag, "results"));
    CHECK(strstr(ran(d, map(d, ",'collect':'r'", SET("s", "{}"), ""), bag), "did not pack 'r'"));
}

/* Items of the backpack whose keys an element uses are as they were. */
TEST(map, what_was_there_before_stays)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    valise_flow *flow = map(d, "", SET("s", "{'result':'{{item}}'}"), "");
    valise_pack_options tagged = VALISE_PACK_OPTIONS_INIT;
    int64_t version;

    tagged.tags = NAMES("mine");
    tagged.node_id = VLS_STR("somebody");
    CHECK_OK(pack(bag, "list", "[1,2]", d->err));
    CHECK_OK(valise_pack(NULL, bag, "item", "\"old\"", &tagged, d->err));
    CHECK_OK(valise_pack(NULL, bag, "result", "\"older\"", &tagged, d->err));
    version = item_of(bag, "item").version;
    CHECK_TEXT("default at m", ran(d, flow, bag));
    CHECK_TEXT("item=\"old\" list=[1,2] result=\"older\" results=[1,2]", items(bag));
    CHECK_INT(version, item_of(bag, "item").version);
    CHECK_TEXT("somebody", test_format("%.*s", VALISE_STR_ARG(item_of(bag, "item").node_id)));
}

/* Each element packs under a key of its own: it is said who did. */
TEST(map, attribution_is_that_of_the_element)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    valise_reply reply = VALISE_REPLY_INIT;
    valise_flow *flow;

    put_program("own.sh", "in=$(cat); i=${in##*index\\\":}; i=${i%%[!0-9]*}\n"
                          "printf '{\"pack\":{\"own.%s\":%s,\"result\":%s}}' \"$i\" \"$i\" \"$i\"");
    flow =
        map(d, "",
            "{'id':'p','type':'ExecNode','params':{'command':['./own.sh'],'input':['index']}}", "");
    CHECK_OK(pack(bag, "list", "[7,8,9]", d->err));
    CHECK_TEXT("default at m", ran(d, flow, bag));
    CHECK_TEXT("list=[7,8,9] own.0=0 own.1=1 own.2=2 results=[0,1,2]", items(bag));
    CHECK_TEXT("m/1/p", test_format("%.*s", VALISE_STR_ARG(item_of(bag, "own.1").node_id)));
    CHECK_TEXT("test.m.p",
               test_format("%.*s", VALISE_STR_ARG(item_of(bag, "own.1").namespace_name)));
    CHECK_TEXT("m", test_format("%.*s", VALISE_STR_ARG(item_of(bag, "results").node_id)));
    CHECK_OK(
        valise_dispatch(&reply, d->v, "backpack:merges", "{\"backpack\":\"b\"}", NULL, d->err));
    CHECK_STR(VLS_STR("{\"items\":[]}"), valise_blob_bytes(reply.json)); /* its forks are gone */
    valise_reply_release(&reply);
}

TEST(map, two_that_write_one_key)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    valise_flow *flow = map(d, "", SET("s", "{'shared':'{{item}}','result':1}"), "");

    CHECK_OK(pack(bag, "list", "[1,2,3]", d->err));
    CHECK_TEXT("CONFLICT: node 'm': 'm/0' and 'm/1' both write 'shared'", ran(d, flow, bag));
    CHECK(strstr(d->err->hint, "append"));
    CHECK_TEXT("list=[1,2,3]", items(bag)); /* of none of them anything came back */
    CHECK_OK(pack(bag, "list", "[1]", d->err));
    CHECK_TEXT("default at m", ran(d, flow, bag));
    CHECK_TEXT("1", got(bag, "shared"));
}

TEST(map, reducers)
{
    static const struct {
        const char *how, *before, *list, *each, *after;
    } cases[] = {
        {"append", NULL, "[1,2]", "'{{item}}'", "[1,2]"},
        {"append", "[0]", "[[1],[0,2],'x']", "'{{item}}'", "[0,1,2,'x']"},
        {"merge", "{'a':0,'b':0}", "[{'a':1,'b':0},{'a':0,'c':3}]", "'{{item}}'",
         "{'a':1,'b':0,'c':3}"},
        {"sum", NULL, "[1,2,4]", "'{{item}}'", "7"},
        {"sum", "10", "[11,12]", "'{{item}}'", "13"},
        {"sum", NULL, "[0.5,1]", "'{{item}}'", "1.5"},
        {"min", "0", "[3,2,9]", "'{{item}}'", "2"},
        {"max", NULL, "[3,9,2]", "'{{item}}'", "9"},
        {"first", NULL, "['a','b']", "'{{item}}'", "'a'"},
        {"last", "'z'", "['a','b']", "'{{item}}'", "'b'"},
    };
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");

    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        valise_flow *flow = map(
            d, test_format(",'reduce':{'k':'%s'}", cases[i].how),
            test_format("{'id':'s','type':'SetNode','params':{'values':{'k':%s}}}", cases[i].each),
            "");
        const char *said;

        CHECK_OK(pack(bag, "list", quoted(cases[i].list), d->err));
        if (cases[i].before)
            CHECK_OK(pack(bag, "k", quoted(cases[i].before), d->err));
        else
            CHECK_OK(valise_remove(NULL, bag, "k", d->err));
        said = ran(d, flow, bag);
        if (strcmp(said, "default at m") != 0)
            test_note("%s %s: %s", cases[i].how, cases[i].list, said);
        CHECK_TEXT(quoted(cases[i].after), got(bag, "k"));
    }
    CHECK_OK(pack(bag, "list", "['a',1]", d->err) == 0 ? 0 : 0);
}

/* "TAG@SEQ " for each tag of an item that came from what was read, "@SEQ?" from another backpack;
 * and how many tags there are. */
static const char *taints_of(valise_backpack *bag, const char *key)
{
    const valise_commit commit = item_of(bag, key);
    const valise_taint *const *taint = commit.taints.items;
    const char *text = "";

    for (size_t i = 0; i < commit.taints.count; i++)
        text =
            test_format("%s%.*s@%lld%s ", text, VALISE_STR_ARG(taint[i]->tag),
                        (long long)taint[i]->seq, vls_uuid_is_none(&taint[i]->backpack) ? "" : "?");
    return test_format("%s%zu", text, commit.tags.count);
}

static valise_backpack *tainting(desk *d, const char *name)
{
    valise_backpack_options o = desk_options(d, VALISE_BACKPACK_TAINT);
    valise_backpack *bag = bag_with(d, name, &o);
    valise_pack_options tagged = VALISE_PACK_OPTIONS_INIT;

    tagged.tags = NAMES("pii");
    CHECK_INT(0, valise_pack(NULL, bag, "card", quoted("['4111']"), &tagged, d->err));
    CHECK_INT(0, pack(bag, "list", "[1,2]", d->err));
    return bag;
}

/* What an element is about carries the marks of what it was taken from. [B22] */
TEST(map, an_element_carries_the_tags_of_its_list)
{
    desk *d = desk_open(t);
    valise_backpack *bag = tainting(d, "b");
    valise_list only = NAMES("m", "m/0/s"), nobody = NAMES("m");
    valise_flow *flow =
        nodes_of(d,
                 "{'id':'m','type':'MapNode','params':{'over':'card','flow':{'nodes':[" SET(
                     "s", "{'copy':'{{item}}'}") "]}}}",
                 "");

    CHECK_OK(valise_tag_rule(bag, "pii", &only, NULL, d->err));
    CHECK_TEXT("default at m", ran(d, flow, bag));
    CHECK_TEXT("(denied)", got(node_of(d, bag, "other", "", NULL), "copy"));
    CHECK_INT(1, item_of(bag, "copy").tags.count);
    CHECK_TEXT("pii@1 1", taints_of(bag, "results"));
    CHECK_OK(valise_tag_rule(bag, "pii", &nobody, NULL, d->err));
    CHECK(strstr(ran(d, flow, bag), "node 'm/0/s' may not read 'item'"));
}

/* So do its results, and what is reduced. [B22] */
TEST(map, what_comes_back_carries_the_tags_of_what_was_read)
{
    desk *d = desk_open(t);
    valise_backpack *bag = tainting(d, "b");

    CHECK_TEXT("default at m",
               ran(d, map(d, "", SET("s", "{'result':'{{item}}{{card}}'}"), ""), bag));
    CHECK_TEXT("pii@1 1", taints_of(bag, "results"));
    bag = tainting(d, "c");
    CHECK_TEXT("default at m",
               ran(d, map(d, ",'reduce':{'k':'append'}", SET("s", "{'k':'{{card}}'}"), ""), bag));
    CHECK_TEXT("pii@1 1", taints_of(bag, "k"));
    bag = tainting(d, "e"); /* nothing of it was read */
    CHECK_TEXT("default at m",
               ran(d, map(d, ",'reduce':{'k':'append'}", SET("s", "{'k':'{{item}}'}"), ""), bag));
    CHECK_TEXT("0", taints_of(bag, "k"));
}

/* The node of the map reduces only what it may read. [B19] */
TEST(map, does_not_reduce_what_it_may_not_read)
{
    desk *d = desk_open(t);
    valise_backpack *bag = tainting(d, "b");
    valise_list inside = NAMES("m/0/s", "m/1/s");
    valise_flow *flow = map(d, ",'reduce':{'k':'append'}", SET("s", "{'k':'{{card}}'}"), "");

    CHECK_OK(valise_tag_rule(bag, "pii", &inside, NULL, d->err));
    CHECK(strstr(ran(d, flow, bag), "DENIED"));
    CHECK(strstr(ran(d, flow, bag), "node 'm' may not read 'k'"));
    CHECK_TEXT("card list", keys(bag));
}

TEST(map, a_reducer_that_cannot)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    valise_flow *flow = map(d, ",'reduce':{'k':'sum'}", SET("s", "{'k':'{{item}}'}"), "");

    CHECK_OK(pack(bag, "list", quoted("[1,'x']"), d->err));
    CHECK(strstr(ran(d, flow, bag), "it takes numbers, not string"));
    CHECK_OK(pack(bag, "list", "[9223372036854775807,1]", d->err));
    CHECK(strstr(ran(d, flow, bag), "the sum is too large"));
}

TEST(map, an_element_that_fails)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    const char *nodes = SET("s", "{'own.{{index}}':1,'result':'{{item#/x}}'}");

    CHECK_OK(pack(bag, "list", quoted("[{'x':1},{'y':2},{'x':3}]"), d->err));
    CHECK_TEXT("NOT_FOUND: node 'm/1/s': item 'item' has nothing at /x",
               ran(d, map(d, "", nodes, ""), bag));
    CHECK_TEXT("list", keys(bag));
    CHECK_TEXT("default at m", ran(d,
                                   map(d, ",'onError':'null'",
                                       nodes = SET("s", "{'result':"
                                                        "'{{item#/x}}'}"),
                                       ""),
                                   bag));
    CHECK_TEXT("[1,null,3]", got(bag, "results"));
}

/* Elements are tried again as a whole, on new forks. */
TEST(map, is_tried_again)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    valise_flow *flow;

    put_program("once.sh",
                "cat >/dev/null; [ -e tried ] || { : >tried; exit 1; }; echo '{\"pack\":{"
                "\"result\":\"ok\"}}'");
    (void)remove(test_format("%s/tried", test_tmpdir()));
    flow = nodes_of(d,
                    "{'id':'m','type':'MapNode','maxRetries':1,'params':{'over':'list','parallel':"
                    "1,'flow':{'nodes':[{'id':'p','type':'ExecNode','params':{'command':["
                    "'./once.sh']}}]}}}",
                    "");
    CHECK_OK(pack(bag, "list", "[1,2]", d->err));
    CHECK_TEXT("default at m", ran(d, flow, bag));
    CHECK_TEXT("[\"ok\",\"ok\"]", got(bag, "results"));
}

/* Maps within maps; and no fork is left. */
TEST(map, within_a_map)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    valise_flow *flow =
        map(d, "",
            "{'id':'in','type':'MapNode','params':{'over':'item','as':'x','index':'j',"
            "'into':'result','collect':'y','flow':{'nodes':["
            "{'id':'s','type':'SetNode','params':{'values':{'y':'{{index}}.{{j}}'}}}]"
            "}}}",
            "");

    CHECK_OK(pack(bag, "list", "[[1,2],[3]]", d->err));
    CHECK_TEXT("default at m", ran(d, flow, bag));
    CHECK_TEXT(quoted("[['0.0','0.1'],['1.0']]"), got(bag, "results"));
    CHECK(strstr(run_op(d, "backpack:list", "{}"), "map-") == NULL);
}

static int give_up(void *arg, const valise_progress_state *state)
{
    (void)state;
    return ++*(int *)arg > 0;
}

TEST(map, is_cancelled_soon)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    valise_flow_run_options options = VALISE_FLOW_RUN_OPTIONS_INIT;
    int64_t began = t->env->ticks_ns(t->env->self);
    int asked = 0;
    valise_flow *flow =
        map(d, ",'parallel':4",
            "{'id':'p','type':'ExecNode','params':{'command':['sleep','20'],'into':'o'}}", "");

    options.progress = (valise_progress){give_up, &asked};
    CHECK_OK(pack(bag, "list", "[1,2,3,4,5,6,7,8]", d->err));
    CHECK_RC(VALISE_E_CANCELLED, valise_flow_run(NULL, NULL, flow, bag, &options, d->err));
    CHECK(t->env->ticks_ns(t->env->self) - began < INT64_C(10000000000));
    CHECK_TEXT("list", keys(bag));
}

TEST(map, one_that_fails_stops_the_others)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    int64_t began = t->env->ticks_ns(t->env->self);
    valise_flow *flow;
    const char *said;

    put_program("some.sh", "case $(cat) in *'\"bad\"'*) exit 4;; esac; sleep 20");
    flow = map(d, ",'parallel':4",
               "{'id':'p','type':'ExecNode','params':{'command':['./some.sh'],'into':'o','input':["
               "'item']}}",
               "");
    CHECK_OK(pack(bag, "list", quoted("[1,2,'bad',4,5,6]"), d->err));
    said = ran(d, flow, bag);
    CHECK_MSG(strstr(said, "node 'm/2/p'"), "%s", said);
    CHECK(t->env->ticks_ns(t->env->self) - began < INT64_C(10000000000));
}

/* Those before it have two seconds to fail first; those behind it none. On a busy machine one of a
 * few times is as fast as that. */
TEST(map, those_behind_one_that_fails_end_at_once)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    int64_t least = INT64_MAX;
    valise_flow *flow;

    put_program("some.sh", "case $(cat) in *'\"bad\"'*) exit 4;; esac; sleep 20");
    flow = map(d, ",'parallel':3",
               "{'id':'p','type':'ExecNode','params':{'command':['./some.sh'],'into':'o','input':["
               "'item']}}",
               "");
    CHECK_OK(pack(bag, "list", quoted("['bad',1,2]"), d->err));
    for (int i = 0; i < 5 && least >= INT64_C(1800000000); i++) {
        int64_t began = t->env->ticks_ns(t->env->self);

        CHECK(strstr(ran(d, flow, bag), "node 'm/0/p'"));
        least = VLS_MIN(least, t->env->ticks_ns(t->env->self) - began);
    }
    CHECK_MSG(least < INT64_C(1800000000), "%lld ms", (long long)(least / 1000000));
}

/* Elements that did not come to a node of their own say where the run was. [F3] */
TEST(map, steps_run_out)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    valise_flow *flow = flow_with(
        d,
        "{'maxSteps':1,'nodes':[{'id':'m','type':'MapNode','params':{'over':'list','flow':{"
        "'nodes':[{'id':'s','type':'SetNode','params':{'values':{'x':1}}}]}}}]}",
        NULL);
    const char *said;

    CHECK_OK(pack(bag, "list", "[1,2]", d->err));
    said = ran(d, flow, bag);
    CHECK_MSG(strstr(said, "LIMIT") && strstr(said, "the last nodes were m"), "%s", said);
}

TEST(map, has_a_timeout)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    valise_flow *flow = nodes_of(
        d,
        "{'id':'m','type':'MapNode','timeout':'200ms','params':{'over':'list','flow':{'nodes':[{"
        "'id':'p','type':'ExecNode','params':{'command':['sleep','20'],'into':'o'}}]}}}",
        "");

    CHECK_OK(pack(bag, "list", "[1,2,3]", d->err));
    CHECK(strstr(ran(d, flow, bag), "LIMIT"));
}

/* Late once: what it comes to takes longer than the node's time, though no element does. */
static int be_late(void *arg, const valise_event *event, valise_error *err)
{
    bool *was_late = arg;

    (void)event;
    (void)err;
    if (!*was_late)
        (void)nanosleep(&(struct timespec){.tv_nsec = 400000000}, NULL);
    *was_late = true;
    return 0;
}

TEST(map, an_attempt_that_was_done_too_late_is_followed_by_another)
{
    static const char *const types[] = {"flow:NODE_END", NULL};
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    bool was_late = false;
    const valise_follow follow = {.size = sizeof(follow),
                                  .filter = {.size = sizeof(valise_filter), .types = types},
                                  .live = true,
                                  .fn = be_late,
                                  .arg = &was_late};
    valise_subscription *ends = NULL;
    valise_flow *flow = nodes_of(
        d,
        "{'id':'m','type':'MapNode','timeout':'200ms','maxRetries':1,'params':{'over':'list',"
        "'flow':{'nodes':[" SET("s", "{'result':'{{item}}'}") "]}}}",
        "");

    CHECK_OK(pack(bag, "list", "[1]", d->err));
    CHECK_OK(valise_subscribe(&ends, d->v, &follow, d->err));
    CHECK_TEXT("default at m", ran(d, flow, bag));
    valise_unsubscribe(ends);
    CHECK(was_late);
    CHECK_TEXT("[1]", got(bag, "results"));
}
