/* canonical.c -- texts that are their own canonical form, with the parser as judge. [K4] */
#include "unit/json/values.h"

/* The canonical form of a text; ptr NULL: it is no JSON. */
static valise_str canonical(vls_buf *out, vls_arena *arena, valise_str text)
{
    vls_json v;

    vls_buf_clear(out);
    if (vls_json_parse(&v, arena, text, NULL, NULL) < 0 || vls_json_write(out, v, NULL) < 0)
        return (valise_str){NULL, 0};
    return vls_buf_str(out);
}

TEST(json_canonical, what_is_known_at_a_look)
{
    static const char *const texts[] = {"null",
                                        "true",
                                        "false",
                                        "0",
                                        "-1",
                                        "12345",
                                        "0.25",
                                        "-0.5",
                                        "3.14",
                                        "0.000001",
                                        "1.000001",
                                        "\"\"",
                                        "\"a b\"",
                                        "[]",
                                        "{}",
                                        "[1,\"a\",null,[],{}]",
                                        "{\"\":1}",
                                        "\"\\n\\t\\\"\\\\\\b\\f\\r\"",
                                        "\"\xC3\xA9\"",
                                        "{\"a\":{\"b\":[{}]},\"ab\":\"\xF0\x9F\x98\x80\",\"b\":-7}",
                                        "999999999999999"};
    VLS_AUTO(arena) vls_arena arena;
    VLS_AUTO(buf) vls_buf out;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_buf_init(&out, t->env, SIZE_MAX);
    for (size_t i = 0; i < VLS_COUNT(texts); i++) {
        CHECK_MSG(vls_json_is_canonical(valise_str_of(texts[i])), "%s", texts[i]);
        CHECK_STR(valise_str_of(texts[i]), canonical(&out, &arena, valise_str_of(texts[i])));
    }
}

TEST(json_canonical, what_is_not)
{
    static const char *const texts[] = {"",
                                        " 1",
                                        "1 ",
                                        "1,",
                                        "nul",
                                        "nulll",
                                        "-",
                                        "-0",
                                        "01",
                                        "1.",
                                        ".5",
                                        "0.0",
                                        "1.50",
                                        "1e3",
                                        "1E3",
                                        "-0.0",
                                        "0.0000001",
                                        "+1",
                                        "1.5e3",
                                        "\"",
                                        "\"\\/\"",
                                        "\"\\u0041\"",
                                        "\"\\",
                                        "\"\\x\"",
                                        "\"\x01\"",
                                        "\"\xFF\"",
                                        "\"\xC3\"",
                                        "[",
                                        "[1",
                                        "[1,",
                                        "[1,]",
                                        "[,1]",
                                        "[ 1]",
                                        "[1}",
                                        "{",
                                        "{\"a\"",
                                        "{\"a\":",
                                        "{\"a\":1",
                                        "{\"a\":1,}",
                                        "{\"a\":1]",
                                        "{a:1}",
                                        "{\"a\" :1}",
                                        "{\"b\":1,\"a\":2}",
                                        "{\"a\":1,\"a\":2}",
                                        "{\"a\":1,2}",
                                        "{\"a\\n\":1}",
                                        "[]]",
                                        "{}x",
                                        "\"a\"b",
                                        "tru",
                                        "\xEF\xBB\xBF\x31"};

    for (size_t i = 0; i < VLS_COUNT(texts); i++)
        CHECK_MSG(!vls_json_is_canonical(valise_str_of(texts[i])), "%s", texts[i]);
    CHECK(!vls_json_is_canonical((valise_str){NULL, 0}));
    CHECK(!vls_json_is_canonical(vls_str("\"a\0b\"", 5)));
    CHECK(!vls_json_is_canonical(vls_str("\"\\\0\"", 4)));
}

TEST(json_canonical, deep_ones_are_for_the_parser)
{
    char text[200];

    for (size_t depth = 1; depth < 90; depth++) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        /* The innermost is empty, and takes no room. */
        CHECK(vls_json_is_canonical(vls_str(text, 2 * depth)) == (depth <= 65));
    }
}

/* Wherever it says yes, the parser agrees. */
static bool check_text(test *t, vls_buf *out, vls_arena *arena, valise_str text)
{
    bool is = vls_json_is_canonical(text);

    if (is)
        CHECK_STR(text, canonical(out, arena, text));
    vls_arena_reset(arena);
    (void)t;
    return is;
}

TEST(json_canonical, the_parser_agrees_on_random_values)
{
    static const char odd[] = "{}[]:,\"\\ 0-.e1\n\xC3\xA9";
    test_rng rng = test_rng_new(test_seed());
    VLS_AUTO(arena) vls_arena arena, values;
    VLS_AUTO(buf) vls_buf out;
    size_t yes = 0;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_arena_init(&values, t->env, SIZE_MAX);
    vls_buf_init(&out, t->env, SIZE_MAX);
    for (int i = 0; i < 3000; i++) {
        char text[4096];
        valise_str whole = valise_str_of(values_text(t, values_random(&rng, &values, 4)));
        vls_arena_reset(&values);
        if (whole.len == 0 || whole.len > sizeof(text))
            continue;
        memcpy(text, whole.ptr, whole.len);
        yes += check_text(t, &out, &arena, whole);
        for (int k = 0; k < 8; k++) {
            text[test_random_below(&rng, whole.len)] = odd[test_random_below(&rng, sizeof(odd))];
            (void)check_text(t, &out, &arena, vls_str(text, whole.len));
        }
    }
    CHECK(yes > 300);
}

TEST(json_canonical, the_parser_agrees_on_random_numbers)
{
    static const char digits[] = "00123456789.-e";
    test_rng rng = test_rng_new(test_seed());
    VLS_AUTO(arena) vls_arena arena;
    VLS_AUTO(buf) vls_buf out;
    size_t yes = 0;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_buf_init(&out, t->env, SIZE_MAX);
    for (int i = 0; i < 100000; i++) {
        char text[24];
        size_t len = 1 + test_random_below(&rng, 20);
        for (size_t k = 0; k < len; k++)
            text[k] = digits[test_random_below(&rng, sizeof(digits) - 1)];
        yes += check_text(t, &out, &arena, vls_str(text, len));
    }
    CHECK(yes > 1000);
}
