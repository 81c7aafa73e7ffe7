/* reading.c -- the operations that read conversations: lists, transcripts, graphs, differences.
 * [W2] [W7] [W8] [W17] */
#include <sys/stat.h>

#include <valise.h>

#include "harness/test.h"

#include "json/json.h"

TEST_PARAMS(reading, "memory", "sqlite")

typedef struct room {
    test *t;
    valise *v;
    vls_arena arena;
    int64_t seq; /* of the last command */
} room;

static void leave(void *arg)
{
    room *r = arg;

    valise_close(r->v);
    vls_arena_release(&r->arena);
}

static room *enter(test *t)
{
    room *r = test_alloc(sizeof(*r));
    valise_options o = VALISE_OPTIONS_INIT;
    bool memory = strcmp(t->param, "memory") == 0;
    const char *dir = test_format("%s/room", test_tmpdir());

    r->t = t;
    vls_arena_init(&r->arena, t->env, 64 << 20);
    (void)mkdir(dir, 0700);
    o.env = t->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    CHECK_OK(valise_open(&r->v, memory ? ":memory:" : dir, &o, &t->err));
    test_defer(leave, r);
    return r;
}

static const char *run_at(room *r, const char *op, const char *payload, const char *at)
{
    test *t = r->t;
    valise_call call = VALISE_CALL_INIT;
    valise_reply reply = VALISE_REPLY_INIT;
    const char *text;

    if (at)
        call.at = valise_str_of(at);
    CHECK_OK(valise_dispatch(&reply, r->v, op, payload, &call, &t->err));
    text = test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json)));
    if (reply.seq > 0)
        r->seq = reply.seq;
    valise_reply_release(&reply);
    /* The rows of a list. */
    if (strncmp(text, "{\"items\":", 9) == 0)
        text = test_format("%.*s", (int)strlen(text) - 10, text + 9);
    return text;
}

static const char *run(room *r, const char *op, const char *payload)
{
    return run_at(r, op, payload, NULL);
}

static void fails(room *r, int code, const char *op, const char *payload)
{
    test *t = r->t;

    CHECK_RC(code, valise_dispatch(NULL, r->v, op, payload, NULL, &t->err));
}

static vls_json parse(room *r, const char *json)
{
    test *t = r->t;
    vls_json value;

    CHECK_OK(vls_json_parse(&value, &r->arena, valise_str_of(json), NULL, &t->err));
    return value;
}

/* A member as text; "" when it is not there. */
static const char *member(room *r, vls_json row, const char *name)
{
    test *t = r->t;
    const vls_json *value = vls_json_get(row, valise_str_of(name));
    VLS_AUTO(buf) vls_buf out = {0};

    if (!value)
        return "";
    if (value->type == VLS_JSON_STRING)
        return test_format("%.*s", VALISE_STR_ARG(vls_json_str(*value)));
    vls_buf_init(&out, t->env, 1 << 20);
    CHECK_OK(vls_json_write(&out, *value, &t->err));
    return test_format("%s", vls_buf_cstr(&out));
}

/* Ids are 00000000-0000-7000-8000-00000000000N. */
#define ID(n) "00000000-0000-7000-8000-00000000000" n

/* The number of a ref: "3" or "3@2". */
static const char *short_of(const char *ref)
{
    size_t len = strlen(ref);

    if (len > 2 && strcmp(ref + len - 2, "@1") == 0)
        return test_format("%.*s", (int)(len - 2 - 35), ref + 35);
    return ref + (len > 35 ? 35 : 0);
}

/* The same member of all rows of a list, refs in short. */
static const char *column(room *r, const char *list, const char *name)
{
    vls_json rows = parse(r, list);
    const char *out = "";

    for (uint32_t i = 0; i < rows.len; i++)
        out =
            test_format("%s%s%s", out, i > 0 ? " " : "", short_of(member(r, rows.items[i], name)));
    return out;
}

static void say(room *r, const char *session, const char *id, const char *more, const char *text)
{
    (void)run(r, "turn:add",
              test_format("{\"sessionId\":\"%s\",\"turn\":{\"id\":\"" ID(
                              "%s") "\",\"role\":"
                                    "\"user\"%s,\"blocks\":[{\"type\":\"text\",\"text\":\"%s\"}]}}",
                          session, id, more, text));
}

/*     1 - 2 - 3 - 4            session main
 *              \- 4@2 - 5      session other, forked from it; 4 is a tip */
static room *furnish(test *t)
{
    room *r = enter(t);

    (void)run(r, "session:create",
              "{\"label\":\"main\",\"id\":\"" ID("a") "\",\"topics\":[\"x\"]}");
    say(r, "main", "1", "", "one");
    say(r, "main", "2", ",\"hidden\":true", "two");
    say(r, "main", "3", ",\"noprompt\":true", "three");
    say(r, "main", "4", "", "a\\nb\\nc");
    (void)run(r, "session:fork",
              "{\"sessionId\":\"main\",\"label\":\"other\",\"id\":\"" ID("b") "\"}");
    (void)run(r, "turn:edit",
              "{\"sessionId\":\"other\",\"turnId\":\"HEAD\",\"newBlocks\":[{\"type\":\"text\","
              "\"text\":\"a\\nB\\nc\"}]}");
    say(r, "other", "5", "", "five");
    return r;
}

/* ---- sessions ---- */

TEST(reading, sessions)
{
    room *r = furnish(t);
    vls_json one;
    const char *list;

    (void)run(r, "session:create",
              "{\"label\":\"empty\",\"id\":\"" ID("c") "\",\"topics\":[\"y\"]}");
    list = run(r, "session:list", "{}");
    CHECK_TEXT("empty other main", column(r, list, "label"));
    CHECK_TEXT("0 5 4", column(r, list, "turns"));
    CHECK_TEXT("other main", column(r, run(r, "session:list", "{\"topic\":\"x\"}"), "label"));
    CHECK_TEXT("empty", column(r, run(r, "session:list", "{\"limit\":1}"), "label"));
    CHECK_TEXT("other main",
               column(r, run(r, "session:list", "{\"after\":\"" ID("c") "\"}"), "label"));
    CHECK_TEXT(
        "main",
        column(r, run(r, "session:list", "{\"after\":\"" ID("b") "\",\"topic\":\"x\"}"), "label"));
    CHECK_TEXT("", column(r, run(r, "session:list", "{\"role\":\"nobody\"}"), "label"));
    CHECK_TEXT("other", column(r, run(r, "session:list", "{\"label\":\"other\"}"), "label"));
    one = parse(r, run(r, "session:show", "{\"sessionId\":\"other\"}"));
    CHECK_TEXT("5", short_of(member(r, one, "head")));
    CHECK_TEXT("[\"" ID("4") "@1\"]", member(r, one, "tips"));
    CHECK_TEXT(ID("a"), member(r, one, "forkedFrom"));
    one = parse(r, run(r, "session:show", "{\"sessionId\":\"empty\"}"));
    CHECK_TEXT("", member(r, one, "head"));
    CHECK_TEXT("0", member(r, one, "turns"));
    fails(r, VALISE_E_NOT_FOUND, "session:show", "{\"sessionId\":\"nobody\"}");
}

/* ---- transcripts ---- */

TEST(reading, a_transcript)
{
    room *r = furnish(t);
    const char *list = run(r, "turn:log", "{\"sessionId\":\"other\",\"all\":true}");
    vls_json row;

    CHECK_TEXT("1 2 3 4@2 5", column(r, list, "ref"));
    CHECK_TEXT("false true false false false", column(r, list, "hidden"));
    CHECK_TEXT("false false true false false", column(r, list, "noprompt"));
    row = parse(r, list).items[3];
    CHECK_TEXT("[{\"text\":\"a\\nB\\nc\",\"type\":\"text\"}]", member(r, row, "blocks"));
    CHECK_TEXT("[\"" ID("3") "@1\"]", member(r, row, "parents"));
    CHECK_INT(64, strlen(member(r, row, "contentHash")));
    CHECK_TEXT("", member(r, row, "unknown"));
    CHECK_TEXT("1 3 4@2 5", column(r, run(r, "turn:log", "{\"sessionId\":\"other\"}"), "ref"));
    CHECK_TEXT("1 3 4", column(r, run(r, "turn:log", "{\"sessionId\":\"main\"}"), "ref"));
    /* The newest, of those that are shown. */
    CHECK_TEXT("1 3 4@2 5",
               column(r, run(r, "turn:log", "{\"sessionId\":\"other\",\"limit\":4}"), "ref"));
    CHECK_TEXT("3 4@2 5",
               column(r, run(r, "turn:log", "{\"sessionId\":\"other\",\"limit\":3}"), "ref"));
    CHECK_TEXT("5 4@2", column(r,
                               run(r, "turn:log",
                                   "{\"sessionId\":\"other\",\"limit\":2,"
                                   "\"reverse\":true}"),
                               "ref"));
    CHECK_TEXT(
        "1 3",
        column(r, run(r, "turn:log", "{\"sessionId\":\"other\",\"turnId\":\"HEAD~2\"}"), "ref"));
    CHECK_TEXT("1 3 4",
               column(r,
                      run(r, "turn:log",
                          "{\"sessionId\":\"other\",\"turnId\":\"" ID("4") "\",\"version\":1}"),
                      "ref"));
    (void)run(r, "session:create", "{\"label\":\"empty\"}");
    CHECK_TEXT("[]", run(r, "turn:log", "{\"sessionId\":\"empty\"}"));
}

/* What was there then. */
TEST(reading, the_past)
{
    room *r = enter(t);
    const char *then;

    (void)run(r, "session:create", "{\"label\":\"s\"}");
    say(r, "s", "1", "", "one");
    then = test_format("%lld", (long long)r->seq);
    say(r, "s", "2", "", "two");
    CHECK_TEXT("1 2", column(r, run(r, "turn:log", "{\"sessionId\":\"s\"}"), "ref"));
    CHECK_TEXT("1", column(r, run_at(r, "turn:log", "{\"sessionId\":\"s\"}", then), "ref"));
    CHECK_TEXT("1", column(r, run_at(r, "session:list", "{}", then), "turns"));
}

/* Unknown blocks are kept word for word, and marked; what was erased is marked. [W17] [W5] */
TEST(reading, marks)
{
    room *r = enter(t);
    const char *list;

    (void)run(r, "session:create", "{\"label\":\"s\"}");
    (void)run(
        r, "turn:add",
        "{\"sessionId\":\"s\",\"turn\":{\"id\":\"" ID(
            "1") "\",\"role\":\"assistant\","
                 "\"blocks\":[{\"type\":\"holo\",\"x\":[1,{\"y\":null}]},{\"type\":\"tool_use\","
                 "\"callId\":\"c\",\"name\":\"f\",\"args\":{}}],\"metadata\":{\"k\":1}}}");
    (void)run(
        r, "turn:add",
        "{\"sessionId\":\"s\",\"turn\":{\"id\":\"" ID(
            "2") "\",\"role\":\"tool\",\"blocks\":[{"
                 "\"type\":\"tool_result\",\"callId\":\"c\",\"content\":[{\"type\":\"chart\"}]},"
                 "{\"type\":\"odd\"}]}}");
    list = run(r, "turn:log", "{\"sessionId\":\"s\"}");
    CHECK_TEXT("1 2", column(r, list, "unknown"));
    CHECK(strstr(list, "{\"type\":\"holo\",\"x\":[1,{\"y\":null}]}") != NULL);
    CHECK_TEXT("{\"k\":1}", member(r, parse(r, list).items[0], "metadata"));
    (void)run(r, "turn:delete", "{\"sessionId\":\"s\",\"turnId\":\"" ID("1") "\"}");
    list = run(r, "turn:log", "{\"sessionId\":\"s\"}");
    CHECK_TEXT("true false", column(r, list, "erased"));
    CHECK_TEXT("", member(r, parse(r, list).items[0], "blocks"));
    CHECK_TEXT("", member(r, parse(r, list).items[0], "contentHash"));
    CHECK_TEXT("", member(r, parse(r, list).items[0], "metadata"));
}

/* ---- around a turn ---- */

TEST(reading, one_turn)
{
    room *r = furnish(t);
    vls_json one = parse(r, run(r, "turn:show", "{\"turnId\":\"HEAD~1\",\"sessionId\":\"other\"}"));

    CHECK_TEXT("4@2", short_of(member(r, one, "ref")));
    CHECK_TEXT("3", member(r, one, "depth"));
    CHECK_TEXT("[\"" ID("4") "@1\",\"" ID("4") "@2\"]", member(r, one, "versions"));
    CHECK_TEXT("[\"" ID("5") "@1\"]", member(r, one, "children"));
    CHECK_TEXT("1", member(r, one, "childCount"));
    CHECK_TEXT("0", member(r, one, "headCount"));
    one = parse(r, run(r, "turn:show", "{\"turnId\":\"" ID("4") "\",\"version\":1}"));
    CHECK_TEXT("1", member(r, one, "headCount"));
    CHECK_TEXT("1", member(r, one, "tipCount"));
    fails(r, VALISE_E_NOT_FOUND, "turn:show", "{\"turnId\":\"" ID("9") "\"}");
    fails(r, VALISE_E_INVALID, "turn:show", "{\"turnId\":\"HEAD\"}");
}

/* "versions, children of each, which sessions' heads lie below, the active path". [W7] */
TEST(reading, branches)
{
    room *r = furnish(t);
    const char *list =
        run(r, "turn:branches", "{\"turnId\":\"" ID("4") "\",\"sessionId\":\"other\"}");

    CHECK_TEXT("4 4@2", column(r, list, "ref"));
    CHECK_TEXT("false true", column(r, list, "active"));
    CHECK_TEXT("[] [\"" ID("5") "@1\"]",
               test_format("%s %s", member(r, parse(r, list).items[0], "children"),
                           member(r, parse(r, list).items[1], "children")));
    CHECK_TEXT("[{\"id\":\"" ID("a") "\",\"label\":\"main\",\"ref\":\"" ID(
                   "4") "@1\",\"tip\":false},"
                        "{\"id\":\"" ID("b") "\",\"label\":\"other\",\"ref\":\"" ID(
                            "4") "@1\",\"tip\":true}]",
               member(r, parse(r, list).items[0], "sessions"));
    CHECK_TEXT(
        "[{\"id\":\"" ID("b") "\",\"label\":\"other\",\"ref\":\"" ID("5") "@1\",\"tip\":false}]",
        member(r, parse(r, list).items[1], "sessions"));
    CHECK_TEXT("false false",
               column(r, run(r, "turn:branches", "{\"turnId\":\"" ID("4") "\"}"), "active"));
}

/* ---- differences ---- */

/* "common ancestor, what is on each side". [W8] */
TEST(reading, differences)
{
    room *r = furnish(t);
    const char *list = run(r, "turn:diff", "{\"a\":\"main\",\"b\":\"other\",\"patch\":true}");

    CHECK_TEXT("common a b b", column(r, list, "side"));
    CHECK_TEXT("3 4 4@2 5", column(r, list, "ref"));
    CHECK_TEXT(ID("4") "@1", member(r, parse(r, list).items[2], "editOf"));
    CHECK_TEXT("@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", member(r, parse(r, list).items[2], "patch"));
    CHECK_TEXT("", member(r, parse(r, list).items[3], "editOf"));
    list = run(r, "turn:diff", "{\"a\":\"HEAD~2\",\"b\":\"other\",\"sessionId\":\"main\"}");
    CHECK_TEXT("common b b b", column(r, list, "side"));
    CHECK_TEXT("2 3 4@2 5", column(r, list, "ref"));
    CHECK_TEXT("common", column(r, run(r, "turn:diff", "{\"a\":\"main\",\"b\":\"main\"}"), "side"));
    list = run(r, "turn:diff", "{\"a\":\"" ID("1") "@1\",\"b\":\"main\"}");
    CHECK_TEXT("1 3 4", column(r, list, "ref"));
    list = run(r, "turn:diff", "{\"a\":\"" ID("1") "@1\",\"b\":\"main\",\"all\":true}");
    CHECK_TEXT("1 2 3 4", column(r, list, "ref"));
    fails(r, VALISE_E_NOT_FOUND, "turn:diff", "{\"a\":\"main\",\"b\":\"nobody\"}");
    CHECK(strstr(t->err.message, "neither a session nor a turn") != NULL);
}

/* ---- graphs ---- */

TEST(reading, a_graph)
{
    room *r = furnish(t);
    vls_json graph = parse(r, run(r, "session:graph", "{\"sessionId\":\"other\"}"));
    const char *nodes = member(r, graph, "nodes"), *edges = member(r, graph, "edges");

    CHECK_TEXT("1 2 3 4@2 5 4", column(r, nodes, "ref"));
    CHECK_TEXT("false false false false true false", column(r, nodes, "head"));
    CHECK_TEXT("false false false false false true", column(r, nodes, "tip"));
    CHECK_TEXT("true true true true true false", column(r, nodes, "active"));
    CHECK_TEXT("one two three a B c five a b c", column(r, nodes, "text"));
    CHECK_TEXT("1 2 3 4@2 3", column(r, edges, "from"));
    CHECK_TEXT("2 3 4@2 5 4", column(r, edges, "to"));
    graph = parse(r, run(r, "session:graph", "{}"));
    nodes = member(r, graph, "nodes");
    CHECK_TEXT("1 2 3 4@2 5 4", column(r, nodes, "ref"));
    CHECK_TEXT("[] [] [] [] [\"other\"] [\"main\"]", column(r, nodes, "heads"));
    CHECK_TEXT("true true true true true true", column(r, nodes, "active"));
    (void)run(r, "turn:merge",
              "{\"sessionId\":\"other\",\"parents\":[\"HEAD\",\"" ID(
                  "4") "@1\"],\"turn\":{\"id\":"
                       "\"" ID("6") "\",\"role\":\"user\",\"blocks\":[{\"type\":\"text\",\"text\":"
                                    "\"six\"}]}}");
    graph = parse(r, run(r, "session:graph", "{\"sessionId\":\"other\"}"));
    CHECK_TEXT("1 2 3 4@2 5 4 6", column(r, member(r, graph, "nodes"), "ref"));
    CHECK_TEXT("0 0 0 0 0 0 1", column(r, member(r, graph, "edges"), "position"));
    CHECK_TEXT("[]", member(r, graph, "tips"));
    CHECK_TEXT(
        "1 2 3 4@2 5 6",
        column(r, run(r, "turn:log", "{\"sessionId\":\"other\",\"merge\":\"first\",\"all\":true}"),
               "ref"));
}

/* What somebody said must not become a part of the drawing. */
TEST(reading, hostile_texts_in_a_drawing)
{
    room *r = enter(t);
    const char *dot, *mermaid;

    (void)run(r, "session:create", "{\"label\":\"q\\\"];x\"}");
    say(r, "q\\\"];x", "1", "", "\\\"]; evil [\\\\\\\" <b>&#`\\u001b[31m");
    dot = member(
        r, parse(r, run(r, "session:graph", "{\"sessionId\":\"q\\\"];x\",\"format\":\"dot\"}")),
        "drawing");
    CHECK(strstr(dot, "digraph \"q\\\"];x\" {\n") != NULL);
    CHECK(strstr(dot, "\\n\\\"]; evil [\\\\\\\" <b>&#`\\\\x1b[31m\"") != NULL);
    mermaid = member(
        r, parse(r, run(r, "session:graph", "{\"sessionId\":\"q\\\"];x\",\"format\":\"mermaid\"}")),
        "drawing");
    CHECK(strstr(mermaid, "flowchart TD\n") == mermaid);
    CHECK(strstr(mermaid, "<br/>#34;]; evil [#92;#34; #60;b#62;#38;#35;#96;#92;x1b[31m\"]\n") !=
          NULL);
}
