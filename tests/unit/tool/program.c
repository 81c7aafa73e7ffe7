/* program.c -- tools that are programs. [F11] [F14] [K34] [Q25] */
#include <stdlib.h>

#include "harness/fault.h"
#include "json/make.h"
#include "tool/kit.h"

static called run(test *t, const char *text, const char *arguments)
{
    vls_toolbox *box = kit_box(t);

    kit_add_shell(t, box, "toy", text);
    return kit_call(t, box, "toy", arguments);
}

TEST(program, gets_json_and_answers_json_or_text)
{
    called c = run(t, "cat", "{\"b\":[1],\"a\":\"\xc3\xa4\"}");

    CHECK(!c.failed);
    CHECK_TEXT("{\"arguments\":{\"a\":\"\xc3\xa4\",\"b\":[1]},\"callId\":\"c1\",\"name\":\"toy\"}",
               c.json);
    CHECK_TEXT("\"hello world\\n\"", run(t, "echo hello world", "{}").json);
    CHECK_TEXT("42", run(t, "echo ' 42 '", "{}").json);
    CHECK_TEXT("\"\"", run(t, "true", "{}").json);
    CHECK_TEXT("\"\\\\xff\\n\"", run(t, "printf '\\377\\n'", "{}").json);
    CHECK_TEXT("\"{\\\"a\\\":1}{}\\n\"", run(t, "echo '{\"a\":1}{}'", "{}").json);
}

/* Exit codes and last words are for the model. */
TEST(program, an_exit_code_is_an_answer)
{
    called c = run(t, "echo ignored; echo one >&2; echo two >&2; exit 3", "{}");

    CHECK(c.failed);
    CHECK_TEXT("{\"error\":{\"code\":\"IO\",\"message\":\"toy ended with exit code 3: "
               "one\\ntwo\"}}",
               c.json);
    c = run(t, "kill -9 $$", "{}");
    CHECK(c.failed);
    CHECK_TEXT("{\"error\":{\"code\":\"IO\",\"message\":\"toy was ended by signal 9\"}}", c.json);
}

TEST(program, one_that_is_not_there_is_an_answer)
{
    const valise_str word = VLS_STR("no-such-program-at-all");
    vls_tool_command command = {
        .argv = &word, .count = 1, .timeout_ns = VALISE_NONE, .max_bytes = VALISE_NONE};
    vls_toolbox *box = kit_box(t);
    called c;

    CHECK_OK(vls_toolbox_add_program(box, VLS_STR("toy"), VLS_STR(""), vls_json_null(), &command,
                                     &t->err));
    c = kit_call(t, box, "toy", "{}");
    CHECK(c.failed && strstr(c.json, "\"code\":\"IO\",\"message\":\"cannot run toy"));
    CHECK(strstr(c.json, "PATH"));
}

TEST(program, limits_are_answers)
{
    vls_tool_command command = kit_shell("sleep 100");
    vls_toolbox *box = kit_box(t);
    called c;

    command.timeout_ns = 150000000;
    CHECK_OK(vls_toolbox_add_program(box, VLS_STR("slow"), VLS_STR(""), vls_json_null(), &command,
                                     &t->err));
    command = kit_shell("exec yes");
    command.max_bytes = 1000;
    CHECK_OK(vls_toolbox_add_program(box, VLS_STR("much"), VLS_STR(""), vls_json_null(), &command,
                                     &t->err));
    command = kit_shell("trap '' TERM; while :; do sleep 0.01; done");
    command.timeout_ns = 100000000;
    CHECK_OK(vls_toolbox_add_program(box, VLS_STR("deaf"), VLS_STR(""), vls_json_null(), &command,
                                     &t->err));
    c = kit_call(t, box, "slow", "{}");
    CHECK(c.failed && strstr(c.json, "\"code\":\"LIMIT\"") && strstr(c.json, "within 150 ms"));
    c = kit_call(t, box, "much", "{}");
    CHECK(c.failed && strstr(c.json, "\"code\":\"TOO_LARGE\"") && strstr(c.json, "1000 bytes"));
    c = kit_call(t, box, "deaf", "{}");
    CHECK(c.failed && strstr(c.json, "\"code\":\"LIMIT\""));
    CHECK_MSG(c.took_ms < 100 + kit_at_once_ms(), "%lld ms", (long long)c.took_ms);
}

/* Also one that does not want to. [F14] */
TEST(program, ends_at_once_when_the_caller_gives_up)
{
    static const char *const texts[] = {"sleep 100", "trap '' TERM; while :; do sleep 0.01; done",
                                        "exec yes", "exec >&- 2>&-; sleep 100"};

    for (size_t i = 0; i < VLS_COUNT(texts); i++) {
        vls_toolbox *box = kit_box(t);
        int left = 1;
        called c;
        kit_add_shell(t, box, "toy", texts[i]);
        test_context("%s", texts[i]);
        c = kit_call_while(t, box, "toy", "{}", &left);
        if (i == 2 && c.rc == 0) /* it may have written too much before */
            continue;
        CHECK_INT(VALISE_E_CANCELLED, c.rc);
        CHECK_TEXT("enough", c.err.message);
        CHECK_MSG(c.took_ms < kit_at_once_ms(), "%lld ms", (long long)c.took_ms);
        test_context_end();
    }
}

static int limited(void *arg, valise_error *err)
{
    (void)arg;
    return vls_fail(err, VALISE_E_LIMIT, "the node had its time");
}

/* What look says is no answer, whatever its code. */
TEST(program, a_limit_of_the_caller_is_no_limit_of_the_tool)
{
    vls_toolbox *box = kit_box(t);
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_tool_answer answer = {.failed = true, .value = vls_json_int(7)};
    vls_tool_asked asked = {.name = VLS_STR("toy"), .look = limited};

    vls_arena_init(&arena, t->env, 1 << 20);
    asked.arguments = kit_json(&arena, "{}");
    kit_add_shell(t, box, "toy", "sleep 100");
    CHECK_RC(VALISE_E_LIMIT, vls_toolbox_call(&answer, &arena, box, &asked, &t->err));
    CHECK_TEXT("the node had its time", t->err.message);
    CHECK(answer.failed && answer.value.integer == 7);
}

/* Keys of ours are no tool's business. */
TEST(program, gets_five_variables_and_those_it_is_given)
{
    const valise_str given[] = {VLS_STR("TOY_KEY=given"), VLS_STR("LANG=xx"), VLS_STR("EMPTY="),
                                VLS_STR("LANG=yy")};
    vls_tool_command command = kit_shell("env | cut -d= -f1 | sort | tr '\\n' ' '; echo $LANG");
    vls_toolbox *box = kit_box(t);
    called c;

    CHECK(setenv("VALISE_PLANTED_KEY", "secret", 1) == 0 && setenv("TOY_KEY", "ours", 1) == 0);
    CHECK(setenv("HOME", "/tmp", 1) == 0 && setenv("TZ", "UTC", 1) == 0);
    CHECK(setenv("LC_ALL", "C", 1) == 0);
    command.environment = given;
    command.environment_count = VLS_COUNT(given);
    command.folder = VLS_STR("/usr");
    CHECK_OK(vls_toolbox_add_program(box, VLS_STR("toy"), VLS_STR(""), vls_json_null(), &command,
                                     &t->err));
    c = kit_call(t, box, "toy", "{}");
    /* PWD and such are the shell's. */
    CHECK_MSG(strstr(c.json, "EMPTY HOME LANG LC_ALL ") && strstr(c.json, " TOY_KEY TZ "), "%s",
              c.json);
    CHECK_MSG(!strstr(c.json, "PLANTED") && strstr(c.json, "yy\\n"), "%s", c.json);
    CHECK(unsetenv("VALISE_PLANTED_KEY") == 0 && unsetenv("TOY_KEY") == 0);
    kit_add_shell(t, box, "value", "echo \"$TOY_KEY\"");
    CHECK_TEXT("\"\\n\"", kit_call(t, box, "value", "{}").json);
}

TEST(program, commands_that_are_none)
{
    static const char *const bad[] = {"NOTHING", "=value", ""};
    vls_tool_command command = kit_shell("true");
    vls_toolbox *box = kit_box(t);
    valise_str word = {"a\0b", 3};

#define ADD()                                                                                      \
    vls_toolbox_add_program(box, VLS_STR("toy"), VLS_STR(""), vls_json_null(), &command, &t->err)
    command.count = 0;
    CHECK_RC(VALISE_E_INVALID, ADD());
    command = kit_shell("true");
    command.argv = &word;
    command.count = 1;
    CHECK_RC(VALISE_E_INVALID, ADD());
    word = VLS_STR("");
    CHECK_RC(VALISE_E_INVALID, ADD());
    command = kit_shell("true");
    command.timeout_ns = 0;
    CHECK_RC(VALISE_E_INVALID, ADD());
    command = kit_shell("true");
    command.max_bytes = -1;
    CHECK_RC(VALISE_E_INVALID, ADD());
    for (size_t i = 0; i < VLS_COUNT(bad); i++) {
        command = kit_shell("true");
        word = valise_str_of(bad[i]);
        command.environment = &word;
        command.environment_count = 1;
        CHECK_RC(VALISE_E_INVALID, ADD());
    }
    word = (valise_str){"SECRET=a\0b", 10};
    CHECK_RC(VALISE_E_INVALID, ADD());
    CHECK_MSG(!strstr(t->err.message, "SECRET"), "%s", t->err.message);
    CHECK_INT(0, kit_count(box));
    command = kit_shell("echo fine");
    CHECK_OK(ADD());
    CHECK_TEXT("\"fine\\n\"", kit_call(t, box, "toy", "{}").json);
}

static int call_once(fault *f, void *arg)
{
    VLS_AUTO(toolbox) vls_toolbox *box = NULL;
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_tool_answer answer = {.failed = false};
    vls_tool_command command = kit_shell("echo '[1]'; echo why >&2; exit 3");
    vls_tool_asked asked = {.name = VLS_STR("toy")};
    int rc = vls_toolbox_new(&box, f->env, &f->err);

    (void)arg;
    vls_arena_init(&arena, f->env, 1 << 20);
    if (rc == 0)
        rc = vls_toolbox_add_program(box, VLS_STR("toy"), VLS_STR("x"), vls_json_null(), &command,
                                     &f->err);
    if (rc == 0)
        rc = vls_json_parse(&asked.arguments, &arena, VLS_STR("{}"), NULL, &f->err);
    if (rc == 0)
        rc = vls_toolbox_call(&answer, &arena, box, &asked, &f->err);
    if (rc == 0) {
        CHECK(answer.failed);
        f->recovered = true; /* a word that was lost on the way */
    }
    return rc;
}

TEST(program, memory)
{
    fault_each_alloc(t, 0, call_once, NULL);
}
