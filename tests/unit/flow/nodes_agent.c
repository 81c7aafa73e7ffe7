/* nodes_agent.c -- agents: turns, tools, limits; and three that share a backpack. [F9] */
#include "nodes_kit.h"

TEST_PARAMS(agent, "ephemeral", "sqlite")

#define TOOLS                                                                                      \
    "'dependencies':{'look':{'tool':{'description':'Looks.','command':['./look.sh'],'parameters':" \
    "{'type':'object','required':['at'],'properties':{'at':{'type':'string'}}}}},"                 \
    "'other':{'tool':{'description':'Other.','command':['./look.sh']}}}"

static valise_flow *agent(desk *d, const char *params, const char *more, const char *lines)
{
    put_program("look.sh", "in=$(cat); case $in in *fail*) echo 'it is dark' >&2; exit 1;; esac\n"
                           "echo \"$in\" >>called; printf '{\"seen\":\"a van\"}'");
    return flow_of(d, test_format("{" TOOLS ",'nodes':[{'id':'a','type':'AgentNode','params':{%s,"
                                  "'replay':'%s'}%s}]}",
                                  params, answers_of(lines), more));
}

static int lines_of(const char *path)
{
    valise_str text = test_read_file(path);
    int lines = 0;

    for (size_t i = 0; i < text.len; i++)
        lines += text.ptr[i] == '\n';
    return lines;
}

TEST(agent, calls_tools_until_it_answers)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    valise_flow *flow = agent(
        d, "'prompt':'{{q}}','tools':['look'],'system':'You look.'", "",
        test_format("%s%s%s",
                    "{'answer':{'blocks':[{'type':'text','text':'Let me see.'},{'type':'tool_use',"
                    "'callId':'c1','name':'look','args':{'at':'road'}},{'type':'tool_use','callId':"
                    "'c2','name':'look','args':{'at':'sky'}}]},'expect':'What is there?'}\n",
                    calls("c3", "look", "{'at':'sea'}"),
                    "{'answer':{'blocks':[{'type':'text','text':'A van.'}]},'expect':'a van'}\n"));
    listener *l = listen_to(d, "flow:TOOL_CALL");

    CHECK_OK(pack(bag, "q", "\"What is there?\"", d->err));
    CHECK_TEXT("default at a/answer", ran(d, flow, bag));
    CHECK_TEXT("answer=\"A van.\" q=\"What is there?\"", items(bag));
    CHECK_TEXT("a/answer", test_format("%.*s", VALISE_STR_ARG(item_of(bag, "answer").node_id)));
    CHECK(strstr(heard(l), "c1") != NULL);
    CHECK(strstr(heard(l), "c2") != NULL);
    CHECK(strstr(heard(l), "c3") != NULL);
}

TEST(agent, hears_of_what_goes_wrong)
{
    static const char *const bad[][2] = {
        {"{'type':'tool_use','callId':'c','name':'look','args':{'at':'fail'}}", "it is dark"},
        {"{'type':'tool_use','callId':'c','name':'look','args':{'by':'x'}}", "at"},
        {"{'type':'tool_use','callId':'c','name':'other','args':{}}",
         "There is no tool of this name"},
        {"{'type':'tool_use','callId':'c','name':'rm -rf','args':{}}",
         "There is no tool of this name"},
        {"{'type':'tool_use','callId':'c','name':'look','args':{},'rawArgs':'at'}",
         "not a JSON object"},
        {"{'type':'tool_use','callId':'c','name':'look','args':'at'}", "not a JSON object"},
        {"{'type':'tool_use','callId':'c','name':'look','args':[{'at':'x'}]}", "not a JSON object"},
        {"{'type':'tool_use','callId':'c','name':'look','args':null}", "at"},
        {"{'type':'tool_use','callId':'c','name':'look'}", "at"},
    };
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    listener *l = listen_to(d, "flow:TOOL_CALL");

    for (size_t i = 0; i < VLS_COUNT(bad); i++) {
        const char *said =
            ran(d,
                agent(d, "'prompt':'Go','tools':['look']", "",
                      test_format("{'answer':{'blocks':[%s]}}\n{'answer':{'blocks':[{'type':"
                                  "'text','text':'Sorry.'}]},'expect':'%s'}\n",
                                  bad[i][0], bad[i][1])),
                bag);

        if (strcmp(said, "default at a/answer") != 0)
            test_note("%s -> %s", bad[i][0], said);
        CHECK_TEXT("default at a/answer", said);
        CHECK_TEXT("answer=\"Sorry.\"", items(bag));
        CHECK(strstr(heard(l), "\"failed\":true")); /* so does who listens */
        CHECK_TEXT("", heard(l));
    }
}

TEST(agent, has_a_last_turn)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    const char *call = calls("c", "look", "{'at':'x'}");

    CHECK(strstr(ran(d,
                     agent(d, "'prompt':'Go','tools':['look'],'maxTurns':2", "",
                           test_format("%s%s%s", call, calls("e", "look", "{'at':'x'}"), call)),
                     bag),
                 "the model still called tools in the last of 2 turns"));
    CHECK_TEXT("default at a/answer",
               ran(d,
                   agent(d, "'prompt':'Go','tools':['look'],'maxTurns':2", "",
                         test_format("%s{'answer':{'blocks':[{'type':'text','text':'Well.'}]},"
                                     "'expect':'none'}\n",
                                     call)),
                   bag));
    CHECK_TEXT("\"Well.\"", got(bag, "answer"));
}

TEST(agent, tries_a_turn_again_and_no_tool)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    const char *called = test_format("%s/called", test_tmpdir());
    valise_flow *flow =
        agent(d, "'prompt':'Go','tools':['look']", ",'maxRetries':1",
              test_format("%s%s%s", calls("c", "look", "{'at':'x'}"), says(" "), says("Done.")));

    (void)remove(called);
    CHECK_TEXT("default at a/answer", ran(d, flow, bag));
    CHECK_TEXT("\"Done.\"", got(bag, "answer"));
    CHECK_INT(1, lines_of(called));
}

/* Three agents, each with what it may and nothing else, over one backpack. [F9] */
TEST(agent, three_with_disjoint_permissions)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    const char *one = answers_of(
        test_format("%s{'answer':{'blocks':[{'type':'text','text':'facts'}]},'expect':'a van'}\n",
                    calls("c1", "look", "{'at':'road'}")));
    const char *two = answers_of("{'answer':{'blocks':[{'type':'text','text':'text'}]},'expect':"
                                 "'facts'}\n");
    const char *three = answers_of("{'answer':{'blocks':[{'type':'text','text':'checked'}]},"
                                   "'expect':'text'}\n");
    const char *config = test_format(
        "{'namespace':'team'," TOOLS ",'nodes':["
        "{'id':'research','type':'AgentNode','permissions':{'read':['query'],'write':['research.*']"
        "},'params':{'prompt':'{{query}}','tools':['look'],'into':'research.out','replay':'%s'}},"
        "{'id':'write','type':'AgentNode','permissions':{'read':['research.out'],'write':['draft']}"
        ","
        "'params':{'prompt':'{{research.out}}','into':'draft','replay':'%s'}},"
        "{'id':'review','type':'AgentNode','permissions':{'read':['draft'],'write':['verdict']},"
        "'params':{'prompt':'{{draft}}','into':'verdict','replay':'%s'}}],"
        "'edges':[{'from':'research','to':'write'},{'from':'write','to':'review'}]}",
        one, two, three);
    valise_flow *flow;

    put_program("look.sh", "cat >/dev/null; printf '\"a van\"'");
    CHECK_OK(pack(bag, "query", "\"What is there?\"", d->err));
    CHECK_OK(pack(bag, "salary", "100", d->err));
    flow = flow_of(d, config);
    CHECK_TEXT("default at review/answer", ran(d, flow, bag));
    CHECK_TEXT("draft=\"text\" query=\"What is there?\" research.out=\"facts\" salary=100 "
               "verdict=\"checked\"",
               items(bag));
    CHECK_TEXT("review/answer",
               test_format("%.*s", VALISE_STR_ARG(item_of(bag, "verdict").node_id)));
    /* What one may not, it does not: not by a prompt that asks for it, nor by where it packs. */
    flow =
        flow_of(d, test_format("{" TOOLS ",'nodes':[{'id':'write','type':'AgentNode','permissions':"
                               "{'read':['research.out'],'write':['draft']},'params':{'prompt':"
                               "'{{salary}}','replay':'%s'}}]}",
                               answers_of(says("x"))));
    CHECK(strstr(ran(d, flow, bag), "DENIED"));
    flow =
        flow_of(d, test_format("{" TOOLS ",'nodes':[{'id':'write','type':'AgentNode','permissions':"
                               "{'read':['research.out'],'write':['draft']},'params':{'prompt':"
                               "'{{research.out}}','into':'salary','replay':'%s'}}]}",
                               answers_of(says("x"))));
    CHECK(strstr(ran(d, flow, bag), "DENIED"));
    CHECK_TEXT("100", got(bag, "salary"));
}

/* Two agents of one flow do not meet in their messages. */
TEST(agent, two_do_not_share_messages)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    valise_flow *flow = flow_of(
        d,
        test_format("{'nodes':[{'id':'a','type':'AgentNode','params':{'prompt':'one','into':'x',"
                    "'replay':'%s'}},{'id':'b','type':'AgentNode','params':{'prompt':'two','into':"
                    "'y','replay':'%s'}}],'edges':[{'from':'a','to':'b'}]}",
                    answers_of(says("1")), answers_of(says("2"))));
    const char *all;

    CHECK_TEXT("default at b/answer", ran(d, flow, bag));
    CHECK_TEXT("x=\"1\" y=\"2\"", items(bag));
    all = all_history(bag);
    CHECK(strstr(all, "a.messages") && strstr(all, "b.messages"));
}

/* A run that ended in the middle of an agent goes on with the turn it was in. [F13] */
TEST(agent, goes_on_in_the_middle)
{
    desk *d = desk_open(t);
    const char *file = test_format("%s/agent.json", test_tmpdir());
    const char *answers = answers_of(calls("c1", "look", "{'at':'road'}"));
    valise_backpack *bag;

    if (!d->dir) { /* what is in memory has nothing to go on from */
        CHECK(!d->durable);
        return;
    }
    test_write_file(file, valise_str_of(quoted(test_format(
                              "{'nodes':[{'id':'a','type':'AgentNode','params':{'prompt':'What is "
                              "there?','replay':'%s'}}]}",
                              answers))));
    CHECK_RC(VALISE_E_NOT_FOUND,
             run_as(d, "", "flow:run", test_format("{\"file\":\"%s\",\"backpack\":\"b\"}", file)));
    CHECK(strstr(d->err->message, "no more answers"));
    /* The second turn is asked for now, and not the first one again. */
    test_write_file(answers,
                    valise_str_of(quoted("{'answer':{'blocks':[{'type':'text','text':'A van.'}]},"
                                         "'expect':'There is no tool of this name'}\n")));
    desk_reopen(d);
    (void)run_op(d, "flow:resume", test_format("{\"run\":\"b\",\"file\":\"%s\"}", file));
    bag = bag_with(d, "b",
                   &(valise_backpack_options){.size = sizeof(valise_backpack_options),
                                              .flags = VALISE_BACKPACK_DURABLE});
    CHECK_TEXT("\"A van.\"", got(bag, "answer"));
    CHECK_TEXT("answer", keys(bag));
}
