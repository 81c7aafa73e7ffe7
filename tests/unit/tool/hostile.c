/* hostile.c -- MCP servers that do what they like. [F11] [Q26] */
#include "tool/kit.h"

/* It is not added, nothing of it stays, and the message says what is wrong. */
static void refused(test *t, const char *mode, int code, const char *message)
{
    vls_tool_server server = kit_server(mode);
    vls_toolbox *box = kit_box(t);

    test_context("%s", mode);
    server.command.timeout_ns = INT64_C(2000000000);
    if (code == VALISE_E_LIMIT && strstr(message, "within"))
        server.command.timeout_ns = 300000000;
    CHECK_RC(code, vls_toolbox_add_server(box, &server, &t->err));
    CHECK_MSG(strstr(t->err.message, message), "%s", t->err.message);
    CHECK_INT(0, kit_count(box));
    test_context_end();
}

TEST(hostile, who_does_not_greet)
{
    refused(t, "silent", VALISE_E_LIMIT, "toy did not answer within 300 ms");
    refused(t, "garbage", VALISE_E_IO, "toy does not speak MCP; it wrote: Starting server on");
    refused(t, "dies-at-once", VALISE_E_IO, "toy ended with exit code 4: cannot find my files");
    refused(t, "hangs-up", VALISE_E_IO, "toy closed its output without an answer");
    refused(t, "new", VALISE_E_IO, "version '2099-01-01' of MCP, and not one of 2024-11-05 to");
    refused(t, "no-version", VALISE_E_IO, "does not say which version");
    refused(t, "refuses", VALISE_E_REMOTE, "toy: not today (-32000)");
}

TEST(hostile, lists_that_are_none)
{
    refused(t, "wrong-list", VALISE_E_IO, "its list of tools is invalid");
    refused(t, "wrong-cursor", VALISE_E_IO, "must be a string, not integer");
    refused(t, "many", VALISE_E_LIMIT, "more than 1024 tools");
    refused(t, "pages", VALISE_E_LIMIT, "more than 256 pages");
}

typedef struct left {
    int count;
    char first[512];
} left;

static void note_left(void *arg, valise_str server, const valise_error *why)
{
    left *l = arg;

    CHECK_STR(VLS_STR("toy"), server);
    if (l->count++ == 0)
        (void)snprintf(l->first, sizeof(l->first), "%s", why->message);
}

/* One that cannot be used is no reason to do without the others. */
TEST(hostile, what_cannot_be_used_is_left_out)
{
    static const struct {
        const char *mode, *says;
        int stay, gone;
    } cases[] = {
        {"bad-schema", "the schema of tool 'bad' cannot be used", 1, 1},
        {"wrong-schema", "the schema of its tool 'a' must be an object, not array", 0, 1},
        {"long-name", "is not the name of a tool", 0, 1},
        {"no-name", "one of its tools has no name", 1, 3},
        {"many-bad", "the schema of tool 'bad0' cannot be used", 2, 16},
        {"twice", "it has two tools 'a_b'", 2, 1},
    };

    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        vls_tool_server server = kit_server(cases[i].mode);
        vls_toolbox *box = kit_box(t);
        left l = {.count = 0};

        test_context("%s", cases[i].mode);
        server.left_out = note_left;
        server.arg = &l;
        CHECK_OK(vls_toolbox_add_server(box, &server, &t->err));
        CHECK_INT(cases[i].stay, kit_count(box));
        CHECK_INT(cases[i].gone, l.count); /* of thousands the first ones are told */
        CHECK_MSG(strstr(l.first, cases[i].says), "%s", l.first);
        if (cases[i].stay > 0)
            CHECK(vls_toolbox_find(box, VLS_STR("fine")));
        server.left_out = NULL;
        CHECK_OK(vls_toolbox_add_server(kit_box(t), &server, &t->err));
        test_context_end();
    }
}

/* But who names it wants it. */
TEST(hostile, what_cannot_be_used_and_is_wanted_is_a_failure)
{
    valise_str only = VLS_STR("fine"), both[] = {VLS_STR("a.b"), VLS_STR("a/b")};
    vls_tool_server server = kit_server("bad-schema");
    vls_toolbox *box = kit_box(t);

    server.only = &only;
    server.only_count = 1;
    CHECK_OK(vls_toolbox_add_server(box, &server, &t->err));
    CHECK_INT(1, kit_count(box));
    server = kit_server("twice");
    server.only = both;
    server.only_count = 2;
    CHECK_RC(VALISE_E_INVALID, vls_toolbox_add_server(kit_box(t), &server, &t->err));
    CHECK_MSG(strstr(t->err.message, "it has two tools 'a_b'"), "%s", t->err.message);
    server.only_count = 1;
    CHECK_OK(vls_toolbox_add_server(kit_box(t), &server, &t->err));
    server = kit_server("no-name");
    server.only = &only;
    server.only_count = 1;
    box = kit_box(t);
    CHECK_OK(vls_toolbox_add_server(box, &server, &t->err));
    CHECK_INT(1, kit_count(box));
    server = kit_server("bad-schema");
    server.only = &only;
    server.only_count = 1;
    only = VLS_STR("bad");
    box = kit_box(t);
    CHECK_RC(VALISE_E_INVALID, vls_toolbox_add_server(box, &server, &t->err));
    CHECK_MSG(strstr(t->err.message, "toy: the schema of tool 'bad'"), "%s", t->err.message);
    CHECK(strstr(t->err.hint, "without this one"));
    CHECK_INT(0, kit_count(box));
}

TEST(hostile, programs_that_are_none)
{
    valise_str word = VLS_STR("/no/such/server");
    vls_tool_server server = kit_server("good");
    vls_toolbox *box = kit_box(t);

    server.name = VLS_STR("");
    server.command.argv = &word;
    server.command.count = 1;
    CHECK_RC(VALISE_E_IO, vls_toolbox_add_server(box, &server, &t->err));
    CHECK_MSG(strstr(t->err.message, "cannot run server"), "%s", t->err.message);
    word = VLS_STR("true");
    CHECK_RC(VALISE_E_IO, vls_toolbox_add_server(box, &server, &t->err));
    CHECK_TEXT("true ended without an answer", t->err.message);
    server.command.count = 0;
    CHECK_RC(VALISE_E_INVALID, vls_toolbox_add_server(box, &server, &t->err));
}

/* Each is an answer, in time, and the next call works, on the same server or a new one. */
TEST(hostile, answers_that_are_none)
{
    static const struct {
        const char *name, *says;
        bool again; /* it is started again */
    } cases[] = {
        {"wrong", "nothing that is a result", false},
        {"string", "did not answer within", false},
        {"never", "did not answer within", false},
        {"big", "answered with more than 50000 bytes", false},
        {"flood", "did not answer within", true},
        {"pings", "did not answer within", true},
        {"strange", "does not speak MCP; it wrote: hello", true},
        {"endless", "answered with more than 50000 bytes", true},
        {"closes", "toy closed its output without an answer", true},
        {"deaf", "did not answer within", true},
    };

    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        vls_tool_server server = kit_server("good");
        vls_toolbox *box = kit_box(t);
        called c;
        test_context("%s", cases[i].name);
        server.command.timeout_ns = 500000000;
        server.command.max_bytes = 50000;
        CHECK_OK(vls_toolbox_add_server(box, &server, &t->err));
        c = kit_call(t, box, cases[i].name, "{}");
        CHECK(c.failed);
        CHECK_MSG(strstr(c.json, cases[i].says), "%s", c.json);
        CHECK_MSG(c.took_ms < 2500, "%lld ms", (long long)c.took_ms);
        c = kit_call(t, box, "count", "{}");
        for (int more = 0; cases[i].again && more < 2 && c.failed; more++)
            c = kit_call(t, box, "count", "{}"); /* it is late twice, and then started again */
        CHECK_MSG(!c.failed, "%s", c.json);
        CHECK_TEXT(cases[i].again ? "\"call 1\"" : "\"call 2\"", c.json);
        test_context_end();
    }
}

/* A question that is not read stays in memory, and only so much of it. */
TEST(hostile, who_does_not_read)
{
    vls_tool_server server = kit_server("good");
    vls_toolbox *box = kit_box(t);
    const size_t size = (size_t)9 << 20;
    char *arguments = test_alloc(size + 20);
    called c;

    CHECK_OK(vls_toolbox_add_server(box, &server, &t->err));
    CHECK_INT(VALISE_E_CANCELLED, kit_call_while(t, box, "deaf", "{}", (int[]){1}).rc);
    memset(arguments, 'x', size + 10);
    memcpy(arguments, "{\"text\":\"", 9);
    memcpy(arguments + size, "\"}", 3);
    for (int i = 0; i < 3; i++) {
        c = kit_call_while(t, box, "echo", arguments, (int[]){1});
        CHECK_INT(VALISE_E_CANCELLED, c.rc);
    }
    c = kit_call(t, box, "echo", arguments);
    CHECK_MSG(c.failed && strstr(c.json, "toy does not read its requests"), "%s", c.json);
    CHECK_TEXT("\"hello\"", kit_call(t, box, "echo", "{\"text\":\"hello\"}").json);
}
