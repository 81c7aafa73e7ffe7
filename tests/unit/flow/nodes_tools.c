/* nodes_tools.c -- nodes that call tools and programs. [F9] [F11] */
#include "nodes_kit.h"

TEST_PARAMS(tools, "ephemeral", "sqlite")

#define WEATHER                                                                                    \
    "'dependencies':{'weather':{'tool':{'description':'The weather.','command':['./weather.sh'],"  \
    "'parameters':{'type':'object','required':['city'],'properties':{'city':{'type':'string'}}}}}" \
    "}"

static void put_weather(void)
{
    put_program("weather.sh",
                "case $(cat) in *Nowhere*) echo 'the sky is closed' >&2; exit 3;; esac\n"
                "printf '{\"temp\": 21}'");
}

static valise_flow *weather(desk *d, const char *nodes, const char *edges)
{
    put_weather();
    return flow_of(d, test_format("{" WEATHER ",'nodes':[%s],'edges':[%s]}", nodes, edges));
}

TEST(tools, a_result_is_packed)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    valise_flow *flow = weather(d,
                                "{'id':'w','type':'ToolExecutionNode','params':{'tool':'weather',"
                                "'arguments':{'city':'{{city}}'}}}",
                                "");
    listener *l = listen_to(d, "flow:TOOL_CALL");
    const char *told;

    CHECK_OK(pack(bag, "city", "\"Paris\"", d->err));
    CHECK_TEXT("default at w", ran(d, flow, bag));
    CHECK_TEXT(quoted("{'temp':21}"), got(bag, "result"));
    told = heard(l);
    CHECK(strstr(told, quoted("'tool':'weather'")) && strstr(told, "\"failed\":false"));
    CHECK(!strstr(told, "Paris") && !strstr(told, "21}"));
}

/* A tool's error is for the model: packed, and not in quarantine. [P10] */
TEST(tools, an_error_is_packed_and_not_quarantined)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    valise_flow *flow = weather(d,
                                "{'id':'w','type':'ToolExecutionNode','maxRetries':2,'quarantine':"
                                "true,'params':{'tool':'weather','arguments':'{{args}}','onError':"
                                "'sorry'}}",
                                "");

    CHECK_OK(pack(bag, "args", quoted("{'city':'Nowhere'}"), d->err));
    CHECK_TEXT("sorry at w", ran(d, flow, bag));
    CHECK(strstr(got(bag, "result"), quoted("'error':'IO'")));
    CHECK(strstr(got(bag, "result"), quoted("'success':false")));
    CHECK(strstr(got(bag, "result"), "the sky is closed"));
    CHECK_TEXT("", jailed(bag));
    CHECK_OK(pack(bag, "args", quoted("{'city':7}"), d->err));
    CHECK_TEXT("sorry at w", ran(d, flow, bag));
    CHECK(strstr(got(bag, "result"), "city"));
}

TEST(tools, a_tool_that_nobody_has)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    valise_flow *flow = weather(
        d, "{'id':'w','type':'ToolExecutionNode','params':{'tool':'wether','arguments':{}}}", "");

    CHECK(strstr(ran(d, flow, bag), "there is no tool 'wether'"));
    CHECK_TEXT("did you mean 'weather'?", d->err->hint);
}

static valise_flow *generating(desk *d, const char *more, const char *lines)
{
    return weather(d,
                   test_format("{'id':'g','type':'ToolParamGenerationNode'%s,'params':{'tool':"
                               "'weather','prompt':'In {{city}}','replay':'%s'}},"
                               "{'id':'w','type':'ToolExecutionNode','params':{'from':"
                               "'arguments'}}",
                               more, answers_of(lines)),
                   "{'from':'g','to':'w'}");
}

TEST(tools, a_model_writes_the_arguments)
{
    static const char *const bad[] = {
        "{'type':'text','text':'Paris, I guess'}",
        "{'type':'tool_use','callId':'c','name':'other','args':{'city':'Paris'}}",
        "{'type':'tool_use','callId':'c','name':'weather','args':{'town':'Paris'}}",
        "{'type':'tool_use','callId':'c','name':'weather','args':{},'rawArgs':'{{{'}",
        ("{'type':'tool_use','callId':'c','name':'weather','args':{'city':'a'}},"
         "{'type':'tool_use','callId':'e','name':'weather','args':{'city':'b'}}"),
    };
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    const char *good = calls("c1", "weather", "{'city':'Paris'}");

    CHECK_OK(pack(bag, "city", "\"Paris\"", d->err));
    CHECK_TEXT("default at w", ran(d, generating(d, "", good), bag));
    CHECK_TEXT(quoted("{'arguments':{'city':'Paris'},'callId':'c1','tool':'weather'}"),
               got(bag, "arguments"));
    CHECK_TEXT(quoted("{'temp':21}"), got(bag, "result"));
    for (size_t i = 0; i < VLS_COUNT(bad); i++) {
        const char *lines = test_format("{'answer':{'blocks':[%s]}}\n%s", bad[i], good);

        CHECK(strstr(ran(d, generating(d, "", lines), bag), "INVALID: node 'g'"));
        CHECK_TEXT("default at w", ran(d, generating(d, ",'maxRetries':1", lines), bag));
    }
}

static int add(void *self, valise_tool_call *call, valise_error *err)
{
    (void)self;
    CHECK_TEXT(quoted("{'a':1}"), test_format("%.*s", VALISE_STR_ARG(valise_tool_arguments(call))));
    return valise_tool_answer(call, valise_str_of("[3]"), err);
}

TEST(tools, a_tool_of_the_host)
{
    static const valise_tool adding = {
        .size = sizeof(valise_tool), .name = "add", .description = "Adds.", .call = add};
    const valise_service services[] = {{"adding", VALISE_SERVICE_TOOL, &adding}, {NULL, 0, NULL}};
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    valise_flow *flow = flow_with(d,
                                  "{'nodes':[{'id':'w','type':'ToolExecutionNode','params':{"
                                  "'tool':'add','arguments':{'a':1},'into':'sum'}}]}",
                                  services);

    CHECK_TEXT("default at w", ran(d, flow, bag));
    CHECK_TEXT("[3]", got(bag, "sum"));
}

/* ---- programs as nodes ---- */

static valise_flow *program(desk *d, const char *params, const char *more)
{
    return nodes_of(d, test_format("{'id':'x','type':'ExecNode','params':{%s}%s}", params, more),
                    "");
}

TEST(tools, a_program_is_a_node)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");

    put_program("echo.sh", "in=$(cat); printf '{\"action\":\"next\",\"pack\":{\"saw\":%s,\"word\":"
                           "\"%s\",\"who\":\"%s\"},\"remove\":[\"old\"]}' \"$in\" \"$1\" \"$WHO\"");
    CHECK_OK(pack(bag, "old", "1", d->err));
    CHECK_OK(pack(bag, "name", "\"a b; $(id)\"", d->err));
    CHECK_TEXT("next at x", ran(d,
                                program(d,
                                        "'command':['./echo.sh','{{name}}'],'input':['old'],"
                                        "'env':{'WHO':'me'}",
                                        ""),
                                bag));
    CHECK_TEXT("\"a b; $(id)\"", got(bag, "word"));
    CHECK_TEXT("\"me\"", got(bag, "who"));
    CHECK(strstr(got(bag, "saw"), quoted("'input':{'old':1}")));
    CHECK(strstr(got(bag, "saw"), quoted("'node':'x'")));
    CHECK_TEXT("(absent)", got(bag, "old"));
}

TEST(tools, a_program_that_writes_anything)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");

    put_program("cat.sh", "printf '%s\\n' \"$1\"");
    CHECK_TEXT("default at x",
               ran(d, program(d, "'command':['./cat.sh','[1,2]'],'into':'out'", ""), bag));
    CHECK_TEXT("[1,2]", got(bag, "out"));
    CHECK_TEXT("default at x",
               ran(d, program(d, "'command':['./cat.sh','just words'],'into':'out'", ""), bag));
    CHECK_TEXT("\"just words\"", got(bag, "out"));
}

TEST(tools, what_a_program_gets_wrong)
{
    static const struct {
        const char *script, *more, *says;
    } bad[] = {
        {"echo no >&2; echo at all >&2; exit 3", "", "at all"},
        {"echo words", "", "did not write the answer of a node: invalid JSON at byte 0"},
        {"echo '{\"pack\":{},\"pack\":{}}'", "", "duplicate key \"pack\""},
        {"true", "", "it wrote nothing"},
        {"echo '[1]'", "", "it is not an object"},
        {"echo '{\"actoin\":\"a\"}'", "", "its member 'actoin' is unknown"},
        {"echo '{\"pack\":[1]}'", "", "its member 'pack' has the wrong type"},
        {"echo '{\"remove\":[1]}'", "", "a list of keys"},
        {"echo '{\"pack\":{\"\":1}}'", "", "key"},
        {"head -c 3000 /dev/zero", ",'maxBytes':1000", "1000 bytes"},
        {"sleep 20", ",'timeout':'100ms'", "LIMIT"},
    };
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");

    for (size_t i = 0; i < VLS_COUNT(bad); i++) {
        const char *said;

        put_program("bad.sh", bad[i].script);
        said = ran(d, program(d, test_format("'command':['./bad.sh']%s", bad[i].more), ""), bag);
        if (!strstr(said, bad[i].says))
            test_note("%s -> %s", bad[i].script, said);
        CHECK(strstr(said, bad[i].says) != NULL);
        CHECK_TEXT("", items(bag));
    }
    put_program("bad.sh", "sleep 20");
    CHECK(strstr(ran(d, program(d, "'command':['./bad.sh']", ",'timeout':'100ms'"), bag), "LIMIT"));
}

/* A flow alone does not make code run. [K34] */
TEST(tools, programs_need_trust)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    valise_flow *flow = NULL;

    put_program("touch.sh", "touch ran");
    CHECK_OK(valise_flow_from_config(
        &flow, d->v,
        valise_str_of(quoted("{'nodes':[{'id':'x','type':'ExecNode','params':{'command':['touch'],"
                             "'into':'o'}}]}")),
        NULL, NULL, d->err));
    CHECK(strstr(ran(d, flow, bag), "DENIED"));
    valise_flow_free(flow);
}

/* What a reference gave is the program's alone: not in items, events or errors. [F6] [F12] */
TEST(tools, secrets_stay_with_the_program)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    listener *l = listen_to(d, "flow:*");
    const char *told;
    valise_flow *flow;

    CHECK(setenv("TEST_FLOW_KEY", "hunter2-hunter2", 1) == 0);
    put_program("key.sh", "cat >/dev/null; echo \"the key is $KEY $1\" >&2; exit 1");
    flow = program(d, "'command':['./key.sh','${TEST_FLOW_KEY}'],'env':{'KEY':'${TEST_FLOW_KEY}'}",
                   "");
    CHECK(strstr(ran(d, flow, bag), "the key is [redacted] [redacted]"));
    for (told = heard(l); told[0]; told = heard(l))
        CHECK(!strstr(told, "hunter2"));
    put_program("key.sh", "cat >/dev/null; [ \"$KEY$1\" = hunter2-hunter2hunter2-hunter2 ] && echo "
                          "'{\"action\":\"right\"}'");
    CHECK_TEXT("right at x", ran(d, flow, bag));
    CHECK(unsetenv("TEST_FLOW_KEY") == 0);
}
