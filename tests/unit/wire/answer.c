/* answer.c -- whole responses, arguments of calls, the words of a refusal. [P11] */
#include "wire/answer.h"

#include "harness/test.h"
#include "wire/toy.h"

typedef struct bed {
    vls_arena arena;
} bed;

static void release(void *arg)
{
    vls_arena_release(&((bed *)arg)->arena);
}

static vls_arena *arena_of(test *t)
{
    bed *b = test_alloc(sizeof(*b));

    vls_arena_init(&b->arena, t->env, (size_t)1 << 30);
    test_defer(release, b);
    return &b->arena;
}

static const char *text_of(vls_arena *arena, vls_json value)
{
    vls_buf text;

    vls_buf_init_in(&text, arena, (size_t)1 << 26);
    CHECK(vls_json_write_around(&text, value, NULL) == 0);
    return test_format("%.*s", VALISE_STR_ARG(vls_buf_str(&text)));
}

static const char *args_of(test *t, const char *vendor, valise_str raw)
{
    vls_arena *arena = arena_of(t);
    vls_json block = {.type = VLS_JSON_OBJECT};

    CHECK_OK(vls_answer_args(&block, arena, vendor, raw, &t->err));
    return text_of(arena, block);
}

TEST(args, are_kept_word_for_word)
{
    CHECK_TEXT("{\"args\":{\"a\":1}}", args_of(t, "x", VLS_STR("{\"a\":1}")));
    CHECK_TEXT("{\"args\":{\"a\":1},\"meta\":{\"x\":{\"raw\":\"{\\\"a\\\": 1.0}\"}}}",
               args_of(t, "x", VLS_STR("{\"a\": 1.0}")));
    CHECK_TEXT(
        "{\"args\":{\"a\":1,\"b\":2},\"meta\":{\"x\":{\"raw\":\"{\\\"b\\\":2,\\\"a\\\":1}\"}}}",
        args_of(t, "x", VLS_STR("{\"b\":2,\"a\":1}")));
    CHECK_TEXT("{\"args\":{\"a\":1}}", args_of(t, "", VLS_STR("{\"a\": 1}")));
    CHECK_TEXT("{\"args\":{\"a\":1}}", args_of(t, NULL, VLS_STR("{\"a\": 1}")));
}

TEST(args, that_are_none)
{
    CHECK_TEXT("{\"args\":{}}", args_of(t, "x", VLS_STR("")));
    CHECK_TEXT("{\"args\":{}}", args_of(t, "x", VLS_STR(" \n")));
    CHECK_TEXT("{\"args\":{},\"rawArgs\":\"[1]\"}", args_of(t, "x", VLS_STR("[1]")));
    CHECK_TEXT("{\"args\":{},\"rawArgs\":\"null\"}", args_of(t, "x", VLS_STR("null")));
    CHECK_TEXT("{\"args\":{},\"rawArgs\":\"{'a':1}\"}", args_of(t, "x", VLS_STR("{'a':1}")));
    CHECK_TEXT("{\"args\":{},\"rawArgs\":\"{\\\"a\\\":1,\\\"a\\\":2}\"}",
               args_of(t, "x", VLS_STR("{\"a\":1,\"a\":2}")));
    CHECK_TEXT("{\"args\":{},\"rawArgs\":\"\xEF\xBF\xBD\"}", args_of(t, "x", VLS_STR("\xFF")));
}

TEST(args, with_half_a_character)
{
    CHECK_TEXT("{\"args\":{\"a\":\"\xEF\xBF\xBD\"},\"meta\":{\"x\":{\"raw\":"
               "\"{\\\"a\\\":\\\"\\\\ud83d\\\"}\"}}}",
               args_of(t, "x", VLS_STR("{\"a\":\"\\ud83d\"}")));
}

/* With what stands around it the whole must be a value that turn:add takes. */
TEST(args, that_are_too_deep)
{
    for (size_t depth = 250; depth < 260; depth++) {
        char *raw = test_alloc(7 * depth + 10);
        size_t len = 0;
        const char *block;
        for (size_t i = 0; i < depth; i++) {
            memcpy(raw + len, "{\"a\":", 5);
            len += 5;
        }
        raw[len++] = '1';
        memset(raw + len, '}', depth);
        len += depth;
        block = args_of(t, "x", vls_str(raw, len));
        CHECK_INT(depth > VLS_JSON_MAX_DEPTH - 2, strstr(block, "rawArgs") != NULL);
    }
}

static int read_answer(test *t, vls_answer *out, const char *body)
{
    t->err = (valise_error)VALISE_ERROR_INIT;
    return vls_answer_read(out, arena_of(t), &toy, valise_str_of(body), &t->err);
}

TEST(answer, whole)
{
    vls_answer answer;

    CHECK_OK(
        read_answer(t, &answer,
                    "{\"events\":[{\"do\":\"text\",\"at\":0,\"text\":\"hi\"},{\"do\":\"value\","
                    "\"at\":0,\"value\":{\"b\":[1.0]}},{\"do\":\"call\",\"at\":0,\"id\":\"c\","
                    "\"name\":\"f\"}],\"error\":null}"));
    CHECK_TEXT(
        "[{\"text\":\"hi\",\"type\":\"text\"},{\"args\":{\"b\":[1]},\"callId\":\"c\",\"name\":"
        "\"f\",\"type\":\"tool_use\"}]",
        text_of(arena_of(t), answer.blocks));
    CHECK_INT(VLS_STOP_CALLS, answer.stop);
    CHECK_OK(read_answer(t, &answer, "{\"events\":[]}"));
    CHECK_TEXT("[{\"text\":\"\",\"type\":\"text\"}]", text_of(arena_of(t), answer.blocks));
}

TEST(answer, is_read_in_spite_of_what_is_no_text)
{
    vls_answer answer;

    CHECK_OK(read_answer(t, &answer,
                         "{\"x\":1,\"x\":2,\"events\":[{\"do\":\"text\",\"at\":0,\"text\":"
                         "\"a\\udc00\xFF\"}]}"));
    CHECK_TEXT("[{\"text\":\"a\xEF\xBF\xBD\xEF\xBF\xBD\",\"type\":\"text\"}]",
               text_of(arena_of(t), answer.blocks));
    CHECK_RC(VALISE_E_INVALID, read_answer(t, &answer, "{\"events\":[\xFF"));
    CHECK(strstr(t->err.message, "byte 11"));
    CHECK_RC(VALISE_E_INVALID, read_answer(t, &answer, ""));
    CHECK_RC(VALISE_E_INVALID, read_answer(t, &answer, "[]"));
}

static void check_refusal(test *t, const char *message, const char *body)
{
    vls_answer answer;

    CHECK_RC(VALISE_E_REMOTE, read_answer(t, &answer, body));
    CHECK_TEXT(message, t->err.message);
}

TEST(answer, that_is_a_refusal)
{
    check_refusal(t, "the provider refused it: No (invalid_request_error)",
                  "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":"
                  "\"No\"}}");
    check_refusal(
        t, "the provider refused it: No (INVALID_ARGUMENT)",
        "[{\"error\":{\"code\":400,\"status\":\"INVALID_ARGUMENT\",\"message\":\"No\"}}]");
    check_refusal(t, "the provider refused it: No", "{\"error\":\"No\"}");
    check_refusal(t, "the provider refused it: No (1234)",
                  "{\"object\":\"error\",\"message\":\"No\",\"code\":\"1234\"}");
    check_refusal(t, "the provider refused it: it gives no reason", "{\"error\":{}}");
    check_refusal(t, "the provider refused it: a  b c", "{\"error\":\"a\\r\\nb\\u202ec\"}");
}

TEST(answer, words_with_a_status)
{
    vls_arena *arena = arena_of(t);
    vls_refusal refusal;
    vls_json body;

    CHECK_OK(vls_json_parse(&body, arena, VLS_STR("{\"message\":\"Slow down\"}"), NULL, &t->err));
    CHECK(!vls_answer_refused(&refusal, body, false));
    CHECK(vls_answer_refused(&refusal, body, true));
    CHECK_STR(VLS_STR("Slow down"), refusal.message);
    CHECK_OK(vls_json_parse(&body, arena, VLS_STR("{\"a\":1}"), NULL, &t->err));
    CHECK(!vls_answer_refused(&refusal, body, true));
    CHECK_OK(vls_json_parse(&body, arena, VLS_STR("{\"error\":{\"type\":\"overloaded_error\"}}"),
                            NULL, &t->err));
    CHECK(vls_answer_refused(&refusal, body, true) && refusal.passing);
}

TEST(answer, tools_get_our_names_back)
{
    vls_arena *arena = arena_of(t);
    vls_plan_name names[] = {{VLS_STR("a.b"), VLS_STR("a_b")}};
    vls_plan plan = {.names = {names, 1, 1}};
    vls_answer answer;

    CHECK_OK(read_answer(t, &answer,
                         "{\"events\":[{\"do\":\"call\",\"at\":0,\"id\":\"c\",\"name\":\"a_b\"},"
                         "{\"do\":\"call\",\"at\":1,\"id\":\"d\",\"name\":\"other\"},"
                         "{\"do\":\"text\",\"at\":0,\"text\":\"a_b\"}]}"));
    CHECK_OK(vls_answer_rename(&answer, arena, NULL, &t->err));
    CHECK_OK(vls_answer_rename(&answer, arena, &plan, &t->err));
    CHECK_TEXT(
        "[{\"args\":{},\"callId\":\"c\",\"name\":\"a.b\",\"type\":\"tool_use\"},{\"args\":{},"
        "\"callId\":\"d\",\"name\":\"other\",\"type\":\"tool_use\"},{\"text\":\"a_b\",\"type\":"
        "\"text\"}]",
        text_of(arena, answer.blocks));
}
