/* canonical.c -- texts that are their own canonical form, or but for the order of their keys, with
 * the parser as judge. [K4] */
#include "unit/json/values.h"

#include "harness/fault.h"

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

/* ---- keys in any order ---- */

/* What vls_json_canonical makes of it is what the parser makes of it. */
static bool check_made(test *t, vls_arena *arena, valise_str text)
{
    VLS_AUTO(blob) valise_blob *made = NULL;
    VLS_AUTO(buf) vls_buf out;
    valise_str expected;
    int rc = vls_json_canonical(&made, t->env, text, NULL);

    vls_buf_init(&out, t->env, SIZE_MAX);
    expected = canonical(&out, arena, text);
    CHECK((rc == 0) == (expected.ptr != NULL));
    if (rc == 0)
        CHECK_STR(expected, valise_blob_bytes(made));
    vls_arena_reset(arena);
    return rc == 0;
}

TEST(json_canonical, keys_are_put_in_order)
{
    static const char *const texts[] = {
        "{\"b\":1,\"a\":2}",
        "{\"b\":{\"d\":[],\"c\":{}},\"a\":[{\"z\":0,\"y\":\"}\"},7,{\"y\":0,\"z\":0}]}",
        "[{\"ab\":1,\"a\":\"x,y\",\"\":null}]",
        "{\"c\":1,\"a\":2,\"c\":3}",
        "{\"a\":1,\"a\":2}",
        "{\"b\":1,\"a\":2,}",
        "{\"b\":1,\"a\":2",
        "{\"b\":1,\"a\":02}",
        "{\"b\":1, \"a\":1.50}",
        "{\"b\":1,\"\\u0061\":2}",
        "{\"\xF0\x9F\x98\x80\":1,\"\xEF\xBF\xBD\":2}",
        "{\"b\":\"\x01\",\"a\":2}"};
    VLS_AUTO(arena) vls_arena arena;
    size_t valid = 0;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    for (size_t i = 0; i < VLS_COUNT(texts); i++)
        valid += check_made(t, &arena, valise_str_of(texts[i]));
    CHECK_INT(6, valid);
    CHECK(!check_made(t, &arena, VLS_STR("")));
}

/* Members from any of them on, forwards or backwards. */
static void write_mixed(test *t, vls_buf *out, test_rng *rng, vls_json v)
{
    bool is_object = v.type == VLS_JSON_OBJECT;
    size_t first = test_random_below(rng, v.len + 1), step = test_random_below(rng, 2);

    if (!is_object && v.type != VLS_JSON_ARRAY) {
        CHECK_OK(vls_json_write(out, v, NULL));
        return;
    }
    vls_buf_add_byte(out, is_object ? '{' : '[');
    for (size_t i = 0; i < v.len; i++) {
        size_t at = is_object ? (first + (step ? i : v.len - i)) % v.len : i;
        if (i > 0)
            vls_buf_add_byte(out, ',');
        if (is_object) {
            CHECK_OK(vls_json_write(out, v.members[at].key, NULL));
            vls_buf_add_byte(out, ':');
        }
        write_mixed(t, out, rng, is_object ? v.members[at].value : v.items[at]);
    }
    vls_buf_add_byte(out, is_object ? '}' : ']');
}

TEST(json_canonical, the_parser_agrees_on_random_orders)
{
    static const char odd[] = "{}[]:,\"\\ 0-.e1\n\xC3\xA9";
    test_rng rng = test_rng_new(test_seed());
    VLS_AUTO(arena) vls_arena arena, values;
    size_t valid = 0;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_arena_init(&values, t->env, SIZE_MAX);
    for (int i = 0; i < 2000; i++) {
        VLS_AUTO(buf) vls_buf text;
        vls_buf_init(&text, t->env, SIZE_MAX);
        write_mixed(t, &text, &rng, values_random(&rng, &values, 4));
        vls_arena_reset(&values);
        CHECK(check_made(t, &arena, vls_buf_str(&text)));
        for (int k = 0; k < 8; k++) {
            text.ptr[test_random_below(&rng, text.len)] =
                odd[test_random_below(&rng, sizeof(odd) - 1)];
            valid += check_made(t, &arena, vls_buf_str(&text));
        }
    }
    CHECK(valid > 300);
}

/* Each level holds all that is below it, and would be moved for each above. */
TEST(json_canonical, nested_objects_are_not_moved_without_end)
{
    VLS_AUTO(arena) vls_arena arena;
    VLS_AUTO(buf) vls_buf text;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_buf_init(&text, t->env, SIZE_MAX);
    for (int i = 0; i < 40; i++)
        vls_buf_add_text(&text, "{\"b\":");
    vls_buf_add_text(&text, "\"something long that lies on the ground of it\"");
    for (int i = 0; i < 40; i++)
        vls_buf_add_text(&text, ",\"a\":0}");
    CHECK(check_made(t, &arena, vls_buf_str(&text)));
}

static int make_once(fault *f, void *arg)
{
    VLS_AUTO(blob) valise_blob *made = NULL;
    int rc =
        vls_json_canonical(&made, f->env, VLS_STR("{\"b\":[{\"d\":1,\"c\":2}],\"a\":3}"), &f->err);

    (void)arg;
    fault_off(f);
    if (rc == 0)
        CHECK_STR(VLS_STR("{\"a\":3,\"b\":[{\"c\":2,\"d\":1}]}"), valise_blob_bytes(made));
    f->recovered = rc == 0; /* the parser did it */
    return rc;
}

TEST(json_canonical, without_memory)
{
    fault_each_alloc(t, 0, make_once, NULL);
    fault_each_alloc(t, FAULT_ONWARD, make_once, NULL);
}
