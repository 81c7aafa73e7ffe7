/* server.c -- the tools of MCP servers that behave. [F11] [F14] */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness/fault.h"
#include "json/make.h"
#include "tool/kit.h"

static vls_toolbox *box_of(test *t, const vls_tool_server *server)
{
    vls_toolbox *box = kit_box(t);

    CHECK_OK(vls_toolbox_add_server(box, server, &t->err));
    return box;
}

static vls_toolbox *good(test *t)
{
    vls_tool_server server = kit_server("good");

    return box_of(t, &server);
}

static size_t starts(void)
{
    valise_str log = test_read_file(kit_log());
    size_t count = 0;

    for (size_t at; (at = vls_str_find(log, VLS_STR("started\n"))) < log.len; count++)
        log = vls_str_from(log, at + 8);
    return count;
}

static bool logged(const char *text)
{
    valise_str log = test_read_file(kit_log());

    return vls_str_find(log, valise_str_of(text)) < log.len;
}

TEST(server, its_tools_are_tools)
{
    vls_toolbox *box = good(t);
    const vls_tool *echo = vls_toolbox_find(box, VLS_STR("echo"));

    CHECK(echo == kit_at(box, 0));
    CHECK_STR(VLS_STR("Says it again."), echo->description);
    CHECK_INT(VLS_JSON_OBJECT, vls_member_of(echo->parameters, "properties").type);
    CHECK_INT(24, kit_count(box));
    CHECK_TEXT("\"hello\"", kit_call(t, box, "echo", "{\"text\":\"hello\"}").json);
    CHECK(logged("{\"id\":1,\"jsonrpc\":\"2.0\",\"method\":\"initialize\",\"params\":{"
                 "\"capabilities\":{},\"clientInfo\":{\"name\":\"valise\",\"version\":\""));
    CHECK(logged("\"protocolVersion\":\"2025-11-25\"}}\n"
                 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
                 "{\"id\":2,\"jsonrpc\":\"2.0\",\"method\":\"tools/list\"}\n"
                 "{\"id\":3,\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{"
                 "\"arguments\":{\"text\":\"hello\"},\"name\":\"echo\"}}\n"));
    CHECK_INT(1, starts());
}

/* It does not hear of them. */
TEST(server, arguments_are_checked_before)
{
    vls_toolbox *box = good(t);
    called c = kit_call(t, box, "echo", "{\"text\":7}");

    CHECK(c.failed && strstr(c.json, "\"code\":\"INVALID\""));
    CHECK(!logged("tools/call"));
}

TEST(server, answers_of_any_kind)
{
    vls_toolbox *box = good(t);
    called c;

    CHECK_TEXT("{\"sum\":3}", kit_call(t, box, "structured", "{}").json);
    CHECK_TEXT("[{\"text\":\"a\",\"type\":\"text\"},{\"data\":\"AA==\",\"mimeType\":\"image/png\","
               "\"type\":\"image\"}]",
               kit_call(t, box, "both", "{}").json);
    CHECK_TEXT("[]", kit_call(t, box, "batch", "{}").json);
    c = kit_call(t, box, "fails", "{}");
    CHECK(c.failed);
    CHECK_TEXT("{\"error\":{\"code\":\"REMOTE\",\"message\":\"no such file\\nat all\"}}", c.json);
    c = kit_call(t, box, "error", "{}");
    CHECK(c.failed);
    CHECK_TEXT("{\"error\":{\"code\":\"REMOTE\",\"message\":\"toy: Unknown tool? (-32602)\"}}",
               c.json);
    c = kit_call(t, box, "null", "{}");
    CHECK(c.failed && strstr(c.json, "what? (-32700)"));
    CHECK_TEXT("\"pong no roots\"", kit_call(t, box, "asks", "{}").json);
    CHECK_TEXT("\"through the noise\"", kit_call(t, box, "noise", "{}").json);
    CHECK_INT(1, starts());
}

TEST(server, pages_prefixes_and_names)
{
    const valise_str only[] = {VLS_STR("third"), VLS_STR("first")};
    const valise_str missing[] = {VLS_STR("first"), VLS_STR("fourth")};
    vls_tool_server server = kit_server("paged");
    vls_toolbox *box = kit_box(t);

    server.prefix = VLS_STR("p_");
    CHECK_OK(vls_toolbox_add_server(box, &server, &t->err));
    CHECK_INT(2, kit_count(box));
    CHECK_STR(VLS_STR("p_first"), kit_at(box, 0)->name);
    CHECK_STR(VLS_STR("p_third"), kit_at(box, 1)->name);
    CHECK_RC(VALISE_E_EXISTS, vls_toolbox_add_server(box, &server, &t->err));
    CHECK_MSG(strstr(t->err.message, "toy: ") && strstr(t->err.hint, "prefix"), "%s (%s)",
              t->err.message, t->err.hint);
    server.prefix = VLS_STR("");
    server.only = only;
    server.only_count = 2;
    CHECK_OK(vls_toolbox_add_server(box, &server, &t->err));
    server.prefix = VLS_STR("q");
    server.only = missing;
    CHECK_RC(VALISE_E_NOT_FOUND, vls_toolbox_add_server(box, &server, &t->err));
    CHECK_TEXT("toy has no tool 'fourth'", t->err.message);
    server = kit_server("names");
    CHECK_OK(vls_toolbox_add_server(box, &server, &t->err));
    CHECK_STR(VLS_STR("files_read_it"), kit_at(box, 4)->name);
    (void)kit_call_while(t, box, "files_read_it", "{}", (int[]){1});
    CHECK(logged("\"name\":\"files/read it\"}}\n"));
    CHECK_INT(5, kit_count(box));
}

TEST(server, older_versions_are_spoken_too)
{
    vls_tool_server server = kit_server("old");
    vls_toolbox *box = box_of(t, &server);

    CHECK_TEXT("\"call 1\"", kit_call(t, box, "count", "{}").json);
}

TEST(server, gets_five_variables)
{
    called c;

    CHECK(setenv("VALISE_PLANTED_KEY", "secret", 1) == 0);
    c = kit_call(t, good(t), "env", "{}");
    CHECK_MSG(strstr(c.json, "PATH ") && !strstr(c.json, "PLANTED"), "%s", c.json);
    CHECK(strstr(c.json, "VALISE_CALL "));
    CHECK(unsetenv("VALISE_PLANTED_KEY") == 0);
}

/* ---- starting again ---- */

/* What was asked when it ended is not asked again; the next call starts it. */
TEST(server, one_that_died_is_started_by_the_next_call)
{
    vls_toolbox *box = good(t);
    called c;

    CHECK_TEXT("\"call 1\"", kit_call(t, box, "count", "{}").json);
    c = kit_call(t, box, "dies", "{}");
    CHECK(c.failed);
    CHECK_TEXT("{\"error\":{\"code\":\"IO\",\"message\":\"toy ended with exit code 3: oh no\"}}",
               c.json);
    CHECK_INT(1, starts());
    CHECK_TEXT("\"call 1\"", kit_call(t, box, "count", "{}").json);
    CHECK_INT(2, starts());
    CHECK_TEXT("\"call 2\"", kit_call(t, box, "count", "{}").json);
    CHECK_INT(2, starts());
}

/* ... or between two calls: nobody notices. */
TEST(server, one_that_was_killed_is_started_again)
{
    vls_tool_server server = kit_server("good");
    vls_tool_command *command = &server.command;
    valise_str words[3] = {VLS_STR("sh"), VLS_STR("-c")};
    vls_toolbox *box;

    words[2] = valise_str_of(test_format("echo $$ >%s/pid; exec %s good %s", test_tmpdir(),
                                         command->argv[0].ptr, kit_log()));
    command->argv = words;
    box = box_of(t, &server);
    CHECK_TEXT("\"call 1\"", kit_call(t, box, "count", "{}").json);
    CHECK_INT(
        0, kill((pid_t)strtol(test_read_file(test_format("%s/pid", test_tmpdir())).ptr, NULL, 10),
                SIGKILL));
    process_sleep_us(100000);
    CHECK_TEXT("\"call 1\"", kit_call(t, box, "count", "{}").json);
    CHECK_INT(2, starts());
}

/* ---- time ---- */

TEST(server, a_late_answer_is_nobodys)
{
    vls_tool_server server = kit_server("good");
    vls_toolbox *box;
    called c;

    server.command.timeout_ns = test_is_watched() ? 300000000 : 200000000;
    box = box_of(t, &server);
    c = kit_call(t, box, "late", "{}");
    CHECK(c.failed && strstr(c.json, "\"code\":\"LIMIT\""));
    CHECK_MSG(strstr(c.json, "toy did not answer within"), "%s", c.json);
    process_sleep_us(300000);
    CHECK_TEXT("\"call 2\"", kit_call(t, box, "count", "{}").json);
    CHECK(logged("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                 "\"reason\":\"limit reached\",\"requestId\":3}}"));
    CHECK_INT(1, starts());
}

TEST(server, a_call_that_is_given_up_is_over_at_once)
{
    static const char *const names[] = {"never", "flood", "pings", "endless", "strange", "deaf"};

    for (size_t i = 0; i < VLS_COUNT(names); i++) {
        vls_toolbox *box = good(t);
        int left = 1;
        called c;
        test_context("%s", names[i]);
        c = kit_call_while(t, box, names[i], "{}", &left);
        if (c.rc == 0) { /* it was noticed to be no server before */
            CHECK(c.failed);
            test_context_end();
            continue;
        }
        CHECK_INT(VALISE_E_CANCELLED, c.rc);
        CHECK_TEXT("enough", c.err.message);
        CHECK_MSG(c.took_ms < kit_at_once_ms(), "%lld ms", (long long)c.took_ms);
        if (i == 0)
            CHECK_TEXT("\"call 2\"", kit_call(t, box, "count", "{}").json);
        test_context_end();
    }
    CHECK(logged("\"reason\":\"the caller gave up\",\"requestId\":3}}"));
}

TEST(server, starting_can_be_given_up)
{
    vls_tool_server server = kit_server("silent");
    vls_toolbox *box = kit_box(t);
    int left = 1;
    int64_t begin_ms = process_now_ms();

    server.look = kit_look;
    server.arg = &left;
    CHECK_RC(VALISE_E_CANCELLED, vls_toolbox_add_server(box, &server, &t->err));
    CHECK(process_now_ms() - begin_ms < kit_at_once_ms() + 200);
    CHECK_INT(0, kit_count(box));
}

/* ---- the end ---- */

TEST(server, ends_with_its_box)
{
    vls_toolbox *box = NULL;
    vls_tool_server server = kit_server("good");
    int64_t begin_ms;

    CHECK_OK(vls_toolbox_new(&box, t->env, &t->err));
    CHECK_OK(vls_toolbox_add_server(box, &server, &t->err));
    begin_ms = process_now_ms();
    vls_toolbox_free(box);
    CHECK(process_now_ms() - begin_ms < 1000);
    CHECK(logged("ended\n")); /* by itself, since its input did */
}

TEST(server, one_that_does_not_want_to_end_is_killed)
{
    vls_toolbox *box = NULL;
    vls_tool_server server = kit_server("stubborn");
    int64_t begin_ms;

    CHECK_OK(vls_toolbox_new(&box, t->env, &t->err));
    CHECK_OK(vls_toolbox_add_server(box, &server, &t->err));
    begin_ms = process_now_ms();
    vls_toolbox_free(box);
    CHECK(process_now_ms() - begin_ms < 10000);
    CHECK(!logged("ended\n"));
}

/* ---- memory ---- */

static int call_once(fault *f, void *arg)
{
    VLS_AUTO(toolbox) vls_toolbox *box = NULL;
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_tool_answer answer = {.failed = false};
    vls_tool_server server = kit_server("paged");
    vls_tool_asked asked = {.name = VLS_STR("third")};
    int rc = vls_toolbox_new(&box, f->env, &f->err);

    (void)arg;
    vls_arena_init(&arena, f->env, 1 << 20);
    if (rc == 0)
        rc = vls_toolbox_add_server(box, &server, &f->err);
    if (rc < 0 && box)
        CHECK(kit_count(box) == 0);
    if (rc == 0)
        rc = vls_json_object(&asked.arguments, NULL, 0, &f->err);
    if (rc == 0) {
        int left = 1;
        asked.look = kit_look;
        asked.arg = &left;
        rc = vls_toolbox_call(&answer, &arena, box, &asked, &f->err);
        if (rc == VALISE_E_CANCELLED)
            rc = 0;
        f->recovered = rc == 0; /* the notice that it was cancelled may get lost */
    }
    return rc;
}

TEST(server, memory)
{
    fault_each_alloc(t, 0, call_once, NULL);
}
