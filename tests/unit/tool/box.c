/* box.c -- tools by name, their arguments, and those that are functions of a host. [F11] */
#include "harness/fault.h"
#include "json/make.h"
#include "tool/kit.h"

#define PARAMETERS                                                                                 \
    "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":{\"type\":"           \
    "\"object\",\"properties\":{\"c\":{\"type\":\"string\"}}}},\"required\":[\"a\"]}"

typedef struct host {
    const char *answer;
    int rc;
    const char *message;
    int looks; /* times it asks whether it was cancelled */
    const char *got;
    bool cancelled;
} host;

static int call_host(void *self, valise_tool_call *call, valise_error *err)
{
    host *h = self;
    int rc;

    h->got = test_format("%.*s %.*s", VALISE_STR_ARG(valise_tool_name(call)),
                         VALISE_STR_ARG(valise_tool_arguments(call)));
    for (int i = 0; i < h->looks && !h->cancelled; i++) {
        h->cancelled = valise_tool_cancelled(call) != 0;
        process_sleep_us(60000);
    }
    if (h->answer) {
        rc = valise_tool_answer(call, valise_str_of(h->answer), err);
        if (rc < 0)
            return rc;
    }
    if (h->message)
        (void)snprintf(err->message, sizeof(err->message), "%s", h->message);
    return h->rc;
}

static valise_tool tool_of(host *h, const char *name)
{
    return (valise_tool){.size = sizeof(valise_tool),
                         .name = name,
                         .description = "A toy.",
                         .parameters = PARAMETERS,
                         .self = h,
                         .call = call_host};
}

static vls_toolbox *box_with(test *t, host *h)
{
    vls_toolbox *box = kit_box(t);
    valise_tool tool = tool_of(h, "toy");

    CHECK_OK(vls_toolbox_add_host(box, &tool, &t->err));
    return box;
}

/* ---- a box ---- */

TEST(box, keeps_tools_in_order_and_by_name)
{
    host h = {.answer = "1"};
    vls_toolbox *box = kit_box(t);

    for (int i = 0; i < 40; i++) {
        char name[] = "tool-xx", about[] = "about xx", parameters[] = "{\"title\":\"xx\"}";
        valise_tool tool = tool_of(&h, name);
        (void)snprintf(name + 5, 3, "%02d", i);
        (void)snprintf(about + 6, 3, "%02d", i);
        tool.description = about;
        tool.parameters = parameters;
        CHECK_OK(vls_toolbox_add_host(box, &tool, &t->err));
        memset(name, '!', strlen(name)); /* they are copies */
        memset(about, '!', strlen(about));
        memset(parameters, '!', strlen(parameters));
    }
    CHECK_INT(40, kit_count(box));
    CHECK_STR(VLS_STR("tool-07"), kit_at(box, 7)->name);
    CHECK_STR(VLS_STR("about 07"), kit_at(box, 7)->description);
    CHECK_STR(VLS_STR("xx"), vls_text_of(kit_at(box, 7)->parameters, "title"));
    CHECK(kit_at(box, 40) == NULL);
    CHECK(vls_toolbox_find(box, VLS_STR("tool-39")) == kit_at(box, 39));
    CHECK(vls_toolbox_find(box, VLS_STR("tool-40")) == NULL);
    vls_toolbox_free(NULL);
}

TEST(box, refuses_what_is_no_tool)
{
    static const char *const names[] = {"",
                                        "a b",
                                        "a.b",
                                        "\xc3\xa4",
                                        NULL,
                                        "a2345678901234567890123456789012345678901234567890123456"
                                        "789012345"};
    host h = {.answer = "1"};
    vls_toolbox *box = box_with(t, &h);
    valise_tool tool = tool_of(&h, "toy");

    CHECK_RC(VALISE_E_EXISTS, vls_toolbox_add_host(box, &tool, &t->err));
    for (size_t i = 0; i < VLS_COUNT(names); i++) {
        tool.name = names[i];
        CHECK_RC(VALISE_E_INVALID, vls_toolbox_add_host(box, &tool, &t->err));
    }
    tool = tool_of(&h, "other");
    tool.call = NULL;
    CHECK_RC(VALISE_E_INVALID, vls_toolbox_add_host(box, &tool, &t->err));
    tool = tool_of(&h, "other");
    tool.size = 3;
    CHECK_RC(VALISE_E_INVALID, vls_toolbox_add_host(box, &tool, &t->err));
    tool = tool_of(&h, "other");
    tool.parameters = "{\"type\":";
    CHECK_RC(VALISE_E_INVALID, vls_toolbox_add_host(box, &tool, &t->err));
    tool.parameters = "{\"type\":\"objekt\"}";
    CHECK_RC(VALISE_E_INVALID, vls_toolbox_add_host(box, &tool, &t->err));
    CHECK_MSG(strstr(t->err.message, "tool 'other'"), "%s", t->err.message);
    tool.parameters = "true";
    CHECK_RC(VALISE_E_INVALID, vls_toolbox_add_host(box, &tool, &t->err));
    tool.parameters = "{}";
    tool.description = "\xff";
    CHECK_RC(VALISE_E_INVALID, vls_toolbox_add_host(box, &tool, &t->err));
    CHECK_INT(1, kit_count(box));
    CHECK_TEXT("1", kit_call(t, box, "toy", "{\"a\":1}").json);
}

TEST(box, is_full_at_some_time)
{
    host h = {.answer = "1"};
    vls_toolbox *box = kit_box(t);
    int rc = 0;

    for (unsigned i = 0; i <= VLS_TOOLS_MAX && rc == 0; i++) {
        char name[16];
        valise_tool tool = tool_of(&h, name);
        (void)snprintf(name, sizeof(name), "t%u", i);
        tool.parameters = NULL;
        rc = vls_toolbox_add_host(box, &tool, &t->err);
    }
    CHECK_RC(VALISE_E_LIMIT, rc);
    CHECK_INT(VLS_TOOLS_MAX, kit_count(box));
}

/* ---- arguments ---- */

/* Models invent names and arguments: they are told. */
TEST(box, arguments_are_checked_before_the_call)
{
    host h = {.answer = "{\"sum\":3}"};
    vls_toolbox *box = box_with(t, &h);
    VLS_AUTO(arena) vls_arena arena = {0};
    called c;

    vls_arena_init(&arena, t->env, 1 << 20);
    c = kit_call(t, box, "toy", "{\"b\":{}}");
    CHECK(c.failed && !h.got);
    CHECK_MSG(strstr(c.json, "{\"error\":{\"code\":\"INVALID\",\"message\":\"the arguments of toy "
                             "do not match its schema: ") == c.json,
              "%s", c.json);
    CHECK(strstr(c.json, "'a'") || strstr(c.json, "\\\"a\\\""));
    c = kit_call(t, box, "toy", "[1]");
    CHECK(c.failed && strstr(c.json, "must be an object") && !h.got);
    CHECK_RC(VALISE_E_INVALID,
             vls_toolbox_check(box, VLS_STR("toy"), kit_json(&arena, "{\"a\":1,\"b\":{\"c\":7}}"),
                               &t->err));
    CHECK_TEXT("arguments/b/c", t->err.path);
    CHECK_OK(vls_toolbox_check(box, VLS_STR("toy"), kit_json(&arena, "{\"a\":1}"), &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND,
             vls_toolbox_check(box, VLS_STR("tool"), kit_json(&arena, "{\"a\":1}"), &t->err));
    c = kit_call(t, box, "tyo", "{}");
    CHECK(c.failed);
    CHECK_TEXT("{\"error\":{\"code\":\"NOT_FOUND\",\"message\":\"there is no tool 'tyo' (did you "
               "mean 'toy'?)\"}}",
               c.json);
    c = kit_call(t, box, "toy", "{\"a\":1}");
    CHECK(!c.failed);
    CHECK_TEXT("{\"sum\":3}", c.json);
    CHECK_TEXT("toy {\"a\":1}", h.got);
}

/* A schema that is work without end is no way to stop us. */
TEST(box, a_check_has_an_end)
{
    host h = {.answer = "1"};
    vls_toolbox *box = kit_box(t);
    valise_tool tool = tool_of(&h, "deep");
    VLS_AUTO(buf) vls_buf schema = {0};
    called c;

    vls_buf_init(&schema, t->env, 1 << 20);
    vls_buf_add(&schema, VLS_STR("{\"$defs\":{\"x0\":{\"type\":\"object\"}"));
    for (int i = 1; i < 40; i++)
        vls_buf_printf(&schema,
                       ",\"x%d\":{\"allOf\":[{\"$ref\":\"#/$defs/x%d\"},{\"$ref\":\"#/$defs/x%d\"}]"
                       "}",
                       i, i - 1, i - 1);
    vls_buf_add(&schema, VLS_STR("},\"$ref\":\"#/$defs/x39\"}"));
    tool.parameters = vls_buf_cstr(&schema);
    CHECK_OK(vls_toolbox_add_host(box, &tool, &t->err));
    c = kit_call(t, box, "deep", "{}");
    CHECK(c.failed && strstr(c.json, "\"code\":\"LIMIT\"") && !h.got);
}

/* ---- hosts ---- */

TEST(box, errors_of_a_host_are_answers)
{
    host h = {.rc = VALISE_E_DENIED, .message = "not you\x1b\xff"};
    vls_toolbox *box = box_with(t, &h);
    called c = kit_call(t, box, "toy", "{\"a\":1}");

    CHECK(c.failed);
    CHECK_TEXT("{\"error\":{\"code\":\"DENIED\",\"message\":\"not you\\\\x1b\\\\xff\"}}", c.json);
    h = (host){.rc = -12345};
    c = kit_call(t, box, "toy", "{\"a\":1}");
    CHECK(c.failed && strstr(c.json, "\"code\":\"UNKNOWN\""));
    h = (host){.rc = 7, .answer = "1"};
    c = kit_call(t, box, "toy", "{\"a\":1}");
    CHECK(c.failed && strstr(c.json, "toy returned 7"));
    h = (host){.rc = 0};
    c = kit_call(t, box, "toy", "{\"a\":1}");
    CHECK(c.failed && strstr(c.json, "toy gave no answer"));
    h = (host){.answer = "{\"a\":"};
    c = kit_call(t, box, "toy", "{\"a\":1}");
    CHECK(c.failed && strstr(c.json, "\"code\":\"INVALID\""));
    h = (host){.answer = "[]", .rc = VALISE_E_NOT_FOUND};
    c = kit_call(t, box, "toy", "{\"a\":1}");
    CHECK(c.failed && strstr(c.json, "\"message\":\"not found\""));
    /* Of these two the flow hears. */
    h = (host){.rc = VALISE_E_CANCELLED, .message = "stopped"};
    c = kit_call_while(t, box, "toy", "{\"a\":1}", NULL);
    CHECK_INT(VALISE_E_CANCELLED, c.rc);
    CHECK_TEXT("toy: stopped", c.err.message);
    h = (host){.rc = VALISE_E_NO_MEMORY};
    CHECK_INT(VALISE_E_NO_MEMORY, kit_call_while(t, box, "toy", "{\"a\":1}", NULL).rc);
}

static int answer_twice(void *self, valise_tool_call *call, valise_error *err)
{
    char *large = test_alloc(VLS_TOOL_OUTPUT_MAX + 3);

    (void)self;
    memset(large, '1', VLS_TOOL_OUTPUT_MAX + 1);
    CHECK(valise_tool_answer(call, VLS_STR("[1,2]"), err) == 0);
    CHECK(valise_tool_answer(call, VLS_STR("{\"last\":[true]}"), err) == 0);
    /* One that is none changes nothing. */
    CHECK(valise_tool_answer(call, VLS_STR("nothing"), NULL) == VALISE_E_INVALID);
    CHECK(valise_tool_answer(call, valise_str_of(large), NULL) == VALISE_E_TOO_LARGE);
    CHECK(valise_tool_cancelled(call) == 0);
    return 0;
}

TEST(box, the_last_answer_of_a_host_counts)
{
    vls_toolbox *box = kit_box(t);
    valise_tool tool = {.size = sizeof(tool), .name = "twice", .call = answer_twice};

    CHECK_OK(vls_toolbox_add_host(box, &tool, &t->err));
    CHECK_STR(VLS_STR(""), kit_at(box, 0)->description);
    CHECK_INT(VLS_JSON_OBJECT, kit_at(box, 0)->parameters.type);
    CHECK_TEXT("{\"last\":[true]}", kit_call(t, box, "twice", "{\"any\":1}").json);
}

/* It sees that nobody waits any more, and is waited for. [F14] */
TEST(box, a_host_is_told_that_nobody_waits)
{
    host h = {.answer = "1", .looks = 100};
    vls_toolbox *box = box_with(t, &h);
    int left = 3;
    called c = kit_call_while(t, box, "toy", "{\"a\":1}", &left);

    CHECK_INT(VALISE_E_CANCELLED, c.rc);
    CHECK_TEXT("enough", c.err.message);
    CHECK(h.cancelled && left == 0);
}

static int call_once(fault *f, void *arg)
{
    VLS_AUTO(toolbox) vls_toolbox *box = NULL;
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_tool_answer answer = {.failed = true};
    host h = {.answer = "{\"sum\":[3]}"};
    valise_tool tool = tool_of(&h, "toy");
    vls_tool_asked asked = {.name = VLS_STR("toy")};
    int rc = vls_toolbox_new(&box, f->env, &f->err);

    (void)arg;
    vls_arena_init(&arena, f->env, 1 << 20);
    if (rc == 0)
        rc = vls_toolbox_add_host(box, &tool, &f->err);
    if (rc < 0 && box)
        CHECK(kit_count(box) == 0);
    if (rc == 0)
        rc = vls_json_parse(&asked.arguments, &arena, VLS_STR("{\"a\":1}"), NULL, &f->err);
    if (rc == 0)
        rc = vls_toolbox_call(&answer, &arena, box, &asked, &f->err);
    CHECK(rc < 0 || !answer.failed);
    return rc;
}

TEST(box, memory)
{
    fault_each_alloc(t, 0, call_once, NULL);
}
