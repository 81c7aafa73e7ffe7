/* kit.c -- see kit.h. */
#include "tool/kit.h"

#include <stdlib.h>

#include "json/make.h"
#include "tool/inside.h"

static void free_box(void *box)
{
    vls_toolbox_free(box);
}

vls_toolbox *kit_box(test *t)
{
    vls_toolbox *box = NULL;

    CHECK_OK(vls_toolbox_new(&box, t->env, &t->err));
    test_defer(free_box, box);
    return box;
}

size_t kit_count(const vls_toolbox *box)
{
    return box->entries.len;
}

const vls_tool *kit_at(const vls_toolbox *box, size_t i)
{
    return i < box->entries.len ? &box->entries.ptr[i]->tool : NULL;
}

/* ---- commands ---- */

static vls_tool_command command_of(const char *a, const char *b, const char *c)
{
    valise_str *words = test_alloc(3 * sizeof(*words));

    words[0] = valise_str_of(a);
    words[1] = valise_str_of(b);
    words[2] = valise_str_of(c);
    return (vls_tool_command){
        .argv = words, .count = 3, .timeout_ns = VALISE_NONE, .max_bytes = VALISE_NONE};
}

vls_tool_command kit_shell(const char *text)
{
    return command_of("sh", "-c", text);
}

const char *kit_log(void)
{
    return test_format("%s/server.log", test_tmpdir());
}

vls_tool_command kit_command(const char *mode)
{
    const char *root = getenv("VALISE_BUILD_ROOT");

    return command_of(test_format("%s/tests/unit/mcp-server", root ? root : "."), mode, kit_log());
}

vls_tool_server kit_server(const char *mode)
{
    return (vls_tool_server){.name = VLS_STR("toy"), .command = kit_command(mode)};
}

void kit_add_shell(test *t, vls_toolbox *box, const char *name, const char *text)
{
    vls_tool_command command = kit_shell(text);

    CHECK_OK(vls_toolbox_add_program(box, valise_str_of(name), VLS_STR("A tool."), vls_json_null(),
                                     &command, &t->err));
}

/* ---- calls ---- */

vls_json kit_json(vls_arena *arena, const char *text)
{
    valise_error err = VALISE_ERROR_INIT;
    vls_json value = vls_json_null();

    CHECK_MSG(vls_json_parse(&value, arena, valise_str_of(text), NULL, &err) == 0, "%s: %s", text,
              err.message);
    return value;
}

int kit_look(void *arg, valise_error *err)
{
    int *left = arg;

    return --*left > 0 ? 0 : vls_fail(err, VALISE_E_CANCELLED, "enough");
}

called kit_call_while(test *t, vls_toolbox *box, const char *name, const char *arguments, int *left)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    called c = {.err = VALISE_ERROR_INIT};
    vls_tool_answer answer = {.failed = false};
    vls_tool_asked asked = {.name = valise_str_of(name),
                            .call_id = VLS_STR("c1"),
                            .look = left ? kit_look : NULL,
                            .arg = left};
    int64_t begin_ms = process_now_ms();
    valise_str text;

    vls_arena_init(&arena, t->env, 1 << 26);
    asked.arguments = kit_json(&arena, arguments);
    c.rc = vls_toolbox_call(&answer, &arena, box, &asked, &c.err);
    c.took_ms = process_now_ms() - begin_ms;
    if (c.rc < 0) {
        CHECK_INT(c.rc, c.err.code);
        return c;
    }
    CHECK(vls_json_text(&text, &arena, answer.value, NULL) == 0);
    c.failed = answer.failed;
    c.json = test_format("%.*s", VALISE_STR_ARG(text));
    return c;
}

called kit_call(test *t, vls_toolbox *box, const char *name, const char *arguments)
{
    called c = kit_call_while(t, box, name, arguments, NULL);

    CHECK_MSG(c.rc == 0, "%s: %d %s", name, c.rc, c.err.message);
    return c;
}

int64_t kit_at_once_ms(void)
{
    return test_is_watched() ? 1500 : 500;
}
