/* nodes_ask.c -- nodes that ask a model, and models that answer anything. [F9] [F10] */
#include "nodes_kit.h"

TEST_PARAMS(asking, "ephemeral", "sqlite")

static valise_flow *chat(desk *d, const char *params, const char *more, const char *lines)
{
    return nodes_of(d,
                    test_format("{'id':'c','type':'ChatNode','params':{%s,'replay':'%s'}%s}",
                                params, answers_of(lines), more),
                    "");
}

TEST(asking, chat_packs_the_answer_and_what_is_known_of_it)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    valise_flow *flow = chat(
        d, "'prompt':'Where is {{what}}?','system':'Be {{mood}}.','into':'a','details':'d'", "",
        "{'answer':{'blocks':[{'type':'text','text':'There.'}],'stop':'end','model':'m1',"
        "'usage':{'input':7,'output':3}},'expect':'Where is it?'}\n"
        "{'answer':{'blocks':[{'type':'text','text':'x'}]},'expect':'Be short.'}\n");

    CHECK_OK(pack(bag, "what", "\"it\"", d->err));
    CHECK_OK(pack(bag, "mood", "\"short\"", d->err));
    CHECK_TEXT("default at c", ran(d, flow, bag));
    CHECK_TEXT("\"There.\"", got(bag, "a"));
    CHECK_TEXT(quoted("{'model':'m1','provider':'compatible','stop':'end',"
                      "'usage':{'input':7,'output':3}}"),
               got(bag, "d"));
    CHECK_TEXT("default at c", ran(d, flow, bag));
    CHECK(strstr(ran(d, flow, bag), "no more answers"));
}

TEST(asking, chat_keeps_a_history)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    valise_flow *flow =
        chat(d, "'prompt':'{{q}}','history':'h','items':['fact*']", "",
             "{'answer':{'blocks':[{'type':'text','text':'one'}]},'expect':'Item fact1:'}\n"
             "{'answer':{'blocks':[{'type':'text','text':'two'}]},'expect':'first?'}\n");

    CHECK_OK(pack(bag, "fact1", "1", d->err));
    CHECK_OK(pack(bag, "q", "\"first?\"", d->err));
    CHECK_TEXT("default at c", ran(d, flow, bag));
    CHECK_OK(pack(bag, "q", "\"second?\"", d->err));
    CHECK_TEXT("default at c", ran(d, flow, bag));
    CHECK_TEXT(quoted("[{'blocks':[{'text':'first?','type':'text'}],'role':'user'},"
                      "{'blocks':[{'text':'one','type':'text'}],'role':'assistant'},"
                      "{'blocks':[{'text':'second?','type':'text'}],'role':'user'},"
                      "{'blocks':[{'text':'two','type':'text'}],'role':'assistant'}]"),
               got(bag, "h"));
    CHECK_OK(pack(bag, "h", "7", d->err));
    CHECK(strstr(ran(d, flow, bag), "not an array of messages"));
    CHECK_OK(pack(bag, "h", quoted("[{'role':'king','blocks':[]}]"), d->err));
    CHECK(strstr(ran(d, flow, bag), "INVALID"));
}

/* What a node may not read, and what is in quarantine, is in no prompt; a packed error is. [P10] */
TEST(asking, chat_sees_no_more_items_than_its_node_may)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    valise_pack_options in_sales = VALISE_PACK_OPTIONS_INIT;
    valise_flow *asks = chat(d, "'prompt':'Go.','items':['secret']",
                             ",'permissions':{'deny':['secret']}", says("x"));
    valise_flow *lists =
        chat(d, "'prompt':'Go.','items':['*']", ",'permissions':{'deny':['secret']}",
             "{'answer':{'blocks':[{'type':'text','text':'x'}]},'expect':'hunter2'}\n"
             "{'answer':{'blocks':[{'type':'text','text':'x'}]},'expect':'poison'}\n");

    in_sales.namespace_name = VLS_STR("sales.chat");
    CHECK_OK(valise_pack(NULL, bag, "tool", quoted("{'error':'down'}"), &in_sales, d->err));
    CHECK_OK(pack(bag, "secret", "\"hunter2\"", d->err));
    CHECK_OK(pack(bag, "bad", "\"poison\"", d->err));
    CHECK_OK(jail(bag, "bad", "retry failed", d->err));
    CHECK(strstr(ran(d, asks, bag), "DENIED"));
    CHECK(strstr(ran(d, lists, bag), "the request does not contain 'hunter2'"));
    CHECK(strstr(ran(d, lists, bag), "the request does not contain 'poison'"));
    lists = chat(d, "'prompt':'Go.','items':['ns:sales.*']", "",
                 "{'answer':{'blocks':[{'type':'text','text':'x'}]},'expect':'down'}\n");
    CHECK_TEXT("default at c", ran(d, lists, bag));
    CHECK(strstr(accesses(bag, "c", false), "tool")); /* it is known who read it */
}

TEST(asking, says_who_is_to_be_asked)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    const char *file = answers_of(test_format("%s%s", says("one"), says("two")));
    valise_flow *nobody = nodes_of(d, "{'id':'c','type':'ChatNode','params':{'prompt':'x'}}", "");
    valise_flow *named = flow_of(
        d, test_format("{'dependencies':{'llm':{'client':{'replay':'%s','model':'m9'}}},'nodes':[{"
                       "'id':'c','type':'ChatNode','params':{'prompt':'x','client':'llm','details':"
                       "'d'}}]}",
                       strrchr(file, '/') + 1));
    valise_flow *only = flow_of(
        d,
        test_format("{'dependencies':{'llm':{'client':{'replay':'%s'}}},'nodes':[{'id':'c',"
                    "'type':'ChatNode','dependencies':{'model':'llm'},'params':{'prompt':'x'}}]}",
                    file));
    valise_flow *missing = nodes_of(
        d, "{'id':'c','type':'ChatNode','params':{'prompt':'x','provider':'nobody-here'}}", "");

    CHECK(strstr(ran(d, nobody, bag), "no model given"));
    CHECK(strstr(d->err->hint, "replay"));
    CHECK_TEXT("default at c", ran(d, named, bag));
    CHECK(strstr(got(bag, "d"), "m9"));
    CHECK_TEXT("default at c", ran(d, only, bag));
    CHECK(strstr(ran(d, missing, bag), "NOT_FOUND"));
}

typedef struct own_model {
    int asked, cancelled;
} own_model;

static int send_own(void *self, const valise_client_request *request, valise_error *err)
{
    own_model *own = self;
    valise_client_answer answer = {.size = sizeof(answer)};
    valise_str no_name = {"", 0};

    own->asked++;
    CHECK(strstr(test_format("%.*s", VALISE_STR_ARG(request->prompt)), "Are you there?"));
    answer.blocks = valise_str_of(quoted("[{'type':'text','text':'Here I am.'}]"));
    if (request->stream)
        (void)request->piece(request->arg, "text", no_name, valise_str_of("Here"), err);
    return request->answer(request->arg, &answer, err);
}

static void close_own(void *self)
{
    ((own_model *)self)->cancelled = 1;
}

TEST(asking, a_client_of_the_host)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    own_model own = {0};
    valise_client client = {.size = sizeof(client),
                            .abi = VALISE_CLIENT_ABI,
                            .name = "own",
                            .self = &own,
                            .send = send_own,
                            .close = close_own};
    const valise_service services[] = {{"mine", VALISE_SERVICE_CLIENT, &client}, {NULL, 0, NULL}};
    valise_flow *flow =
        flow_with(d,
                  "{'nodes':[{'id':'c','type':'ChatNode','params':{'prompt':'Are you there?',"
                  "'client':'mine','stream':true}}]}",
                  services);
    listener *l = listen_to(d, "flow:STREAM_CHUNK");

    CHECK_TEXT("default at c", ran(d, flow, bag));
    CHECK_TEXT("\"Here I am.\"", got(bag, "answer"));
    CHECK(strstr(heard(l), "Here"));
    CHECK_TEXT("default at c", ran(d, flow, bag));
    CHECK_INT(2, own.asked);
    CHECK_INT(0, own.cancelled); /* it is the host's, and goes on */
}

static valise_flow *decision(desk *d, const char *more, const char *lines)
{
    return nodes_of(d,
                    test_format("{'id':'d','type':'DecisionNode'%s,'params':{'prompt':'{{m}}',"
                                "'choices':{'pay':'They want money.','talk':'Anything else.',"
                                "'pay-all':'All of it.'},'replay':'%s'}}",
                                more, answers_of(lines)),
                    "");
}

TEST(asking, a_model_decides)
{
    static const char *const good[][2] = {
        {"{'type':'tool_use','callId':'c','name':'choose','args':{'choice':'pay'}}", "pay at d"},
        {"{'type':'text','text':'I would say: pay-all.'}", "pay-all at d"},
        {"{'type':'text','text':'talk'}", "talk at d"},
        {"{'type':'text','text':'**PAY-ALL.**\\n'}", "pay-all at d"},
        {"{'type':'text','text':' <Talk>! '}", "talk at d"},
    };
    static const char *const bad[] = {
        "{'type':'text','text':'payment, talking'}",
        "{'type':'text','text':'pay or talk'}",
        "{'type':'text','text':''}",
        "{'type':'text','text':'PAY, I think'}",
        "{'type':'text','text':'**.**'}",
        "{'type':'tool_use','callId':'c','name':'choose','args':{'choice':'steal'}}",
        "{'type':'tool_use','callId':'c','name':'choose','args':{'choice':['pay']}}",
        "{'type':'tool_use','callId':'c','name':'other','args':{'choice':'pay'}}",
        "{'type':'tool_use','callId':'c','name':'choose','args':{},'rawArgs':'pay'}",
        ("{'type':'tool_use','callId':'c','name':'choose','args':{'choice':'pay'}},"
         "{'type':'tool_use','callId':'e','name':'choose','args':{'choice':'talk'}}"),
    };
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");

    CHECK_OK(pack(bag, "m", "\"Give it back\"", d->err));
    for (size_t i = 0; i < VLS_COUNT(good); i++)
        CHECK_TEXT(good[i][1], ran(d,
                                   decision(d, "",
                                            test_format("{'answer':{'blocks':[%s]},'expect':'They "
                                                        "want money.'}\n",
                                                        good[i][0])),
                                   bag));
    for (size_t i = 0; i < VLS_COUNT(bad); i++) {
        CHECK(strstr(
            ran(d, decision(d, "", test_format("{'answer':{'blocks':[%s]}}\n", bad[i])), bag),
            "the model had to choose one of pay, pay-all, talk"));
        CHECK_TEXT("pay at d", ran(d,
                                   decision(d, ",'maxRetries':1",
                                            test_format("{'answer':{'blocks':[%s]}}\n%s", bad[i],
                                                        calls("c", "choose", "{'choice':'pay'}"))),
                                   bag));
    }
}

/* The prompt is recorded, with the items that came along. [P8] */
TEST(asking, chat_in_a_session)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    const char *details, *prompt;
    valise_flow *flow = chat(
        d, "'prompt':'Where is {{what}}?','session':'s','items':['fact'],'into':'a','details':'d'",
        "",
        "{'error':{'status':400,'message':'not now'}}\n"
        "{'answer':{'blocks':[{'type':'text','text':'There.'}]},'expect':'Item fact'}\n");
    valise_flow *again;

    (void)run_op(d, "session:create", quoted("{'label':'s'}"));
    CHECK_OK(pack(bag, "what", "\"it\"", d->err));
    CHECK_OK(pack(bag, "fact", "\"It is in the van.\"", d->err));
    if (!d->durable) { /* items in memory cannot be shown again */
        CHECK(strstr(ran(d, flow, bag), "UNSUPPORTED"));
        CHECK(!strstr(run_op(d, "turn:log", quoted("{'sessionId':'s'}")), "Where is it?"));
        return;
    }
    CHECK(strstr(ran(d, flow, bag), "not now"));
    again = chat(d,
                 "'prompt':'Where is {{what}}?','session':'s','items':['fact'],'into':'a',"
                 "'details':'d'",
                 ",'maxRetries':1",
                 "{'error':{'status':400,'message':'not now'}}\n"
                 "{'answer':{'blocks':[{'type':'text','text':'There.'}]},'expect':'Item fact'}\n");
    CHECK_TEXT("default at c", ran(d, again, bag));
    CHECK_TEXT("\"There.\"", got(bag, "a"));
    details = got(bag, "d");
    CHECK(strstr(details, "\"prompt\":") && strstr(details, "\"turn\":") &&
          strstr(details, "\"user\":"));
    prompt = test_format("%.64s", strstr(details, "\"prompt\":\"") + strlen("\"prompt\":\""));
    CHECK(strstr(run_op(d, "prompt:blame", test_format("{\"prompt\":\"%s\"}", prompt)), "b/fact"));
    /* It was said twice in all: once by each run, however often the second one tried. */
    CHECK(strstr(run_op(d, "turn:log", quoted("{'sessionId':'s'}")), "Where is it?"));
}

/* Pieces are told while they come, with the node; the answer is the same. [F12] */
TEST(asking, pieces_are_told)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    valise_flow *flow =
        chat(d, "'prompt':'x','stream':true", "", says("one two three four five six seven"));
    listener *l = listen_to(d, "flow:STREAM_CHUNK");
    const char *first;

    CHECK_TEXT("default at c", ran(d, flow, bag));
    first = heard(l);
    CHECK(strstr(first, " c ") && strstr(first, quoted("'kind':'text'")) && strstr(first, "one"));
    CHECK(strstr(heard(l), "flow:STREAM_CHUNK"));
    CHECK_TEXT("\"one two three four five six seven\"", got(bag, "answer"));
}
