/* read.c -- what the parser accepts, refuses and says. */
#include "harness/fault.h"

#include "json/json.h"

/* Parse and write again; the text lives until the test ends. */
static const char *canonical(test *t, valise_str text)
{
    vls_arena arena;
    vls_buf out;
    vls_json v;
    const char *result;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_buf_init(&out, t->env, SIZE_MAX);
    CHECK_OK(vls_json_parse(&v, &arena, text, NULL, &t->err));
    CHECK_OK(vls_json_write(&out, v, &t->err));
    result = test_format("%.*s", VALISE_STR_ARG(vls_buf_str(&out)));
    vls_buf_release(&out);
    vls_arena_release(&arena);
    return result;
}

/* [K4] The canonical form, with its one exception. */
TEST(json_read, gives_the_canonical_form)
{
    static const char *const cases[][2] = {
        {" [ 1 , 2 ] ", "[1,2]"},
        {"1.0", "1"},
        {"1E30", "1e+30"},
        {"-0", "0"},
        {"-0.0", "0"},
        {"0.000001", "0.000001"},
        {"1e-7", "1e-7"},
        {"100e-2", "1"},
        {"9007199254740993", "9007199254740993"},
        {"-123456789012345678901234567890", "-123456789012345678901234567890"},
        {"123456789012345678901234567890.0", "1.2345678901234568e+29"},
        {"1e-400", "0"},
        {"{\"b\":1,\"a\":2}", "{\"a\":2,\"b\":1}"},
        {"{\"\xEF\xBF\xBD\":1,\"\xF0\x9F\x98\x80\":2}",
         "{\"\xF0\x9F\x98\x80\":2,\"\xEF\xBF\xBD\":1}"},
        {"\"\\u0041\\/\\b\\f\\n\\r\\t\\u0001\\u007f\"", "\"A/\\b\\f\\n\\r\\t\\u0001\x7f\""},
        {"\t[\t1\t,\r2\n]\t", "[1,2]"},
        {"\"\\ud800\\udc00\\uDBFF\\uDFFF\"", "\"\xF0\x90\x80\x80\xF4\x8F\xBF\xBF\""},
        {"\"\\ud83d\\ude00\\u20ac\"", "\"\xF0\x9F\x98\x80\xE2\x82\xAC\""},
        {"\"\\\\\\\"\"", "\"\\\\\\\"\""},
        {"\"0123456789abcdef0123456789abcdef\\n\"", "\"0123456789abcdef0123456789abcdef\\n\""},
        {"[[],{},\"\",null,true,false]", "[[],{},\"\",null,true,false]"},
    };

    for (size_t i = 0; i < VLS_COUNT(cases); i++)
        CHECK_TEXT(cases[i][1], canonical(t, valise_str_of(cases[i][0])));
}

/* [K4] Each refusal names its reason and the byte. */
TEST(json_read, refuses_with_reason_and_offset)
{
    static const struct {
        const char *text;
        int64_t offset;
        const char *says;
    } cases[] = {
        {"", 0, "ends where a value"},
        {"  ", 2, "ends where a value"},
        {"[1,]", 3, "expected a value, found ']'"},
        {"[1 2]", 3, "expected ',' or ']', found '2'"},
        {"[1}", 2, "expected ',' or ']', found '}'"},
        {"{\"a\":1]", 6, "expected ',' or '}', found ']'"},
        {"[1", 2, "ends where ',' or ']'"},
        {"{\"a\" 1}", 5, "expected ':'"},
        {"{a:1}", 1, "a key in quotes, found 'a'"},
        {"{\"a\":1,}", 7, "a key in quotes"},
        {"{\"a\":1 \"b\"", 7, "',' or '}'"},
        {"nul", 0, "a value, found 'n'"},
        {"truE", 0, "a value"},
        {"01", 1, "a digit, found '1'"},
        {"[01]", 2, "a digit, found '1'"},
        {"[-01]", 3, "a digit, found '1'"},
        {"-x", 1, "a digit, found 'x'"},
        {"1.x", 2, "a digit"},
        {"1e", 2, "ends where a digit"},
        {"1e400", 0, "larger than a double"},
        {"[1]x", 3, "the end of the text, found 'x'"},
        {"\"abc", 4, "ends inside a string"},
        {"\"abc\\", 5, "ends inside a string"},
        {"\"a\nb\"", 2, "control character"},
        {"\"a\\qb\"", 2, "unknown escape"},
        {"\"\\\xc3\xa9\"", 1, "unknown escape"}, /* the text itself is good UTF-8 */
        {"\"\\\xff\"", 2, "not UTF-8"},
        {"\"\\u12G4\"", 1, "four hex digits"},
        {"\"\\u00@0\"", 1, "four hex digits"}, /* beside A and a */
        {"\"\\u00`0\"", 1, "four hex digits"},
        {"\"\\u12\"", 1, "four hex digits"},
        {"\"x\\ud800\"", 2, "lone high surrogate"},
        {"\"\\udbff\"", 1, "lone high surrogate"},
        {"\"\\ud800\\ue000\"", 1, "lone high surrogate"},
        {"\"\\ud800\\xdc00\"", 1, "lone high surrogate"},
        {"\"\\ud800xudc00\"", 1, "lone high surrogate"},
        {"\"\\udfff\"", 1, "lone low surrogate"},
        {"\"\\ud800\\u0041\"", 1, "lone high surrogate"},
        {"\"\\udc00\"", 1, "lone low surrogate"},
        {"\"\xff\"", 1, "not UTF-8"},
        {"\"\xc3\"", 1, "not UTF-8"},
        {"\"\xed\xa0\x80\"", 1, "not UTF-8"},
        {"\xef\xbb\xbf[]", 0, "found 0xef"},
        {"{\"a\":1,\"b\":2,\"a\":3}", 13, "duplicate key \"a\" (first at byte 1)"},
        {"{\"\\u0061\":1,\"a\":3}", 12, "(first at byte 1)"},
        {"{\"a\":1,\"\\u0061\":3}", 7, "(first at byte 1)"},
    };
    vls_json v = vls_json_bool(true);
    vls_arena arena;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        CHECK_RC(VALISE_E_INVALID,
                 vls_json_parse(&v, &arena, valise_str_of(cases[i].text), NULL, &t->err));
        CHECK_MSG(t->err.offset == cases[i].offset && strstr(t->err.message, cases[i].says),
                  "%s: byte %jd, \"%s\"", cases[i].text, (intmax_t)t->err.offset, t->err.message);
    }
    CHECK_INT(VLS_JSON_BOOL, v.type); /* untouched by all of them */
    vls_arena_release(&arena);
}

TEST(json_read, shows_the_beginning_of_a_long_key)
{
    char text[] =
        "{\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        "\u00e9tail\":1,"
        "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        "\u00e9tail\":1}";
    VLS_AUTO(arena) vls_arena arena;
    vls_json v;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    CHECK_RC(VALISE_E_INVALID, vls_json_parse(&v, &arena, valise_str_of(text), NULL, &t->err));
    CHECK(strstr(t->err.message, "aaa\u2026\" (first at byte 1)")); /* cut, and it shows */
}

/* [K4] */
TEST(json_read, keeps_to_its_limits)
{
    char *deep = test_alloc(2000);
    vls_json_limits limits = {.max_depth = 3};
    vls_json v;
    vls_arena arena;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    memset(deep, '[', 257);
    CHECK_RC(VALISE_E_LIMIT, vls_json_parse(&v, &arena, vls_str(deep, 257), NULL, &t->err));
    CHECK_INT(256, t->err.offset);
    memset(deep + 256, ']', 256);
    CHECK_OK(vls_json_parse(&v, &arena, vls_str(deep, 512), NULL, &t->err));
    CHECK_OK(vls_json_parse(&v, &arena, VLS_STR("[[[]]]"), &limits, &t->err));
    CHECK_RC(VALISE_E_LIMIT, vls_json_parse(&v, &arena, VLS_STR("[[[[]]]]"), &limits, &t->err));

    limits.max_depth = 1000; /* more than there can be */
    CHECK_OK(vls_json_parse(&v, &arena, vls_str(deep, 512), &limits, &t->err));
    memset(deep, '[', 257);
    CHECK_RC(VALISE_E_LIMIT, vls_json_parse(&v, &arena, vls_str(deep, 257), &limits, &t->err));

    limits = (vls_json_limits){.max_bytes = 4};
    CHECK_OK(vls_json_parse(&v, &arena, VLS_STR("1234"), &limits, &t->err));
    CHECK_RC(VALISE_E_TOO_LARGE, vls_json_parse(&v, &arena, VLS_STR("12345"), &limits, &t->err));
    CHECK(strstr(t->err.message, "limit of 4") != NULL);
    /* Refused by its length, before a byte of it is read. */
    CHECK_RC(VALISE_E_TOO_LARGE,
             vls_json_parse(&v, &arena, vls_str("", (size_t)5 << 30), NULL, &t->err));
    limits.max_bytes = SIZE_MAX;
    CHECK_RC(VALISE_E_TOO_LARGE,
             vls_json_parse(&v, &arena, vls_str("", (size_t)5 << 30), &limits, &t->err));
    vls_arena_release(&arena);

    vls_arena_init(&arena, t->env, 100);
    CHECK_RC(VALISE_E_TOO_LARGE,
             vls_json_parse(&v, &arena, VLS_STR("[1,2,3,4,5,6,7,8,9,10]"), NULL, &t->err));
    vls_arena_release(&arena);
}

#define ARENA_MAX ((size_t)100000)

static void *resize_small(void *self, void *ptr, size_t old_size, size_t new_size)
{
    const valise_env *env = self;

    CHECK_MSG(new_size <= ARENA_MAX, "a block of %zu bytes", new_size);
    return env->resize(env->self, ptr, old_size, new_size);
}

/* The arena's maximum bounds what parsing takes on the way too, not only what the value keeps. */
TEST(json_read, takes_no_more_memory_than_the_arena_may)
{
    enum { COUNT = 100000, FITS = 6200 };
    valise_env env = {.size = sizeof(env), .self = (void *)(uintptr_t)t->env};
    char *text = test_alloc(2 * COUNT + 1);
    vls_arena arena;
    vls_json v;

    for (size_t i = 0; i < COUNT; i++)
        memcpy(text + 2 * i, ",1", 2);
    text[0] = '[';
    text[2 * COUNT] = ']';
    env.resize = resize_small;
    vls_arena_init(&arena, &env, ARENA_MAX);
    CHECK_RC(VALISE_E_TOO_LARGE,
             vls_json_parse(&v, &arena, vls_str(text, 2 * COUNT + 1), NULL, &t->err));
    CHECK(strstr(t->err.message, "100000 bytes is used up"));
    text[2 * FITS] = ']'; /* nothing that fits is refused */
    CHECK_OK(vls_json_parse(&v, &arena, vls_str(text, 2 * FITS + 1), NULL, &t->err));
    CHECK_INT(FITS, v.len);
    vls_arena_release(&arena);
}

TEST(json_read, the_last_key_wins_when_told_so)
{
    vls_json_limits limits = {.flags = VLS_JSON_LAST_KEY_WINS};
    VLS_AUTO(buf) vls_buf out;
    vls_arena arena;
    vls_json v;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_buf_init(&out, t->env, 1000);
    CHECK_OK(vls_json_parse(&v, &arena, VLS_STR("{\"b\":1,\"a\":1,\"b\":2,\"b\":3,\"a\":4}"),
                            &limits, &t->err));
    CHECK_OK(vls_json_write(&out, v, &t->err));
    CHECK_STR(VLS_STR("{\"a\":4,\"b\":3}"), vls_buf_str(&out));
    limits.flags = ~(uint32_t)VLS_JSON_LAST_KEY_WINS;
    CHECK_RC(VALISE_E_INVALID,
             vls_json_parse(&v, &arena, VLS_STR("{\"b\":1,\"b\":2}"), &limits, &t->err));
    vls_arena_release(&arena);
}

TEST(json_read, strings_without_escapes_are_slices_of_the_text)
{
    valise_str text = VLS_STR("[\"plain\",\"with\\nescape\"]");
    vls_arena arena;
    vls_json v;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    CHECK_OK(vls_json_parse(&v, &arena, text, NULL, &t->err));
    CHECK(v.items[0].text == text.ptr + 2);
    CHECK(v.items[1].text < text.ptr || v.items[1].text >= text.ptr + text.len);
    vls_arena_release(&arena);
}

/* The scanner takes 16 bytes at a time: put each special byte at each place of three steps. */
TEST(json_read, finds_special_bytes_at_every_alignment)
{
    char text[64];
    vls_arena arena;
    vls_json v;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    for (size_t len = 0; len < 48; len++) {
        memset(text, 'x', sizeof(text));
        text[0] = text[len + 1] = '"';
        CHECK_OK(vls_json_parse(&v, &arena, vls_str(text, len + 2), NULL, &t->err));
        CHECK_INT(len, v.len);
        for (size_t at = 1; at <= len; at++) {
            text[at] = '\x1f';
            CHECK_RC(VALISE_E_INVALID,
                     vls_json_parse(&v, &arena, vls_str(text, len + 2), NULL, &t->err));
            CHECK_INT(at, t->err.offset);
            text[at] = '\x80';
            CHECK_RC(VALISE_E_INVALID,
                     vls_json_parse(&v, &arena, vls_str(text, len + 2), NULL, &t->err));
            CHECK_INT(at, t->err.offset);
            text[at] = 'x';
        }
    }
    vls_arena_release(&arena);
}

static int parse_with_faults(fault *f, void *arg)
{
    VLS_AUTO(arena) vls_arena arena;
    vls_json v = vls_json_bool(true);
    int rc;

    vls_arena_init(&arena, f->env, SIZE_MAX);
    rc = vls_json_parse(&v, &arena, valise_str_of(arg), NULL, &f->err);
    CHECK((rc == 0) == (v.type != VLS_JSON_BOOL));
    return rc;
}

static int parse_with_faults_and_nobody_to_tell(fault *f, void *arg)
{
    VLS_AUTO(arena) vls_arena arena;
    vls_json v;

    vls_arena_init(&arena, f->env, SIZE_MAX);
    int rc = vls_json_parse(&v, &arena, valise_str_of(arg), NULL, NULL);
    return rc < 0 ? vls_fail(&f->err, rc, "told") : rc;
}

/* [Q18] */
TEST(json_read, survives_every_failing_allocation)
{
    char text[] = "{\"b\":[1,2,{\"c\":\"\\n\"}],\"a\":\"x\\u0041\",\"d\":[[[]]]}";
    char empty[] = "[]"; /* its end is where the stack is made */

    CHECK(fault_each_alloc(t, 0, parse_with_faults, text) >= 2);
    CHECK(fault_each_alloc(t, 0, parse_with_faults, empty) >= 1);
    CHECK(fault_each_alloc(t, 0, parse_with_faults_and_nobody_to_tell, text) >= 2);
}

/* Cutting a text anywhere, or changing any byte, gives an error or a value, never a crash. */
TEST(json_read, takes_any_damage)
{
    static const char whole[] = "{\"text\":\"caf\xc3\xa9 \\ud83d\\ude00 "
                                "\xf0\x9f\x98\x80\",\"n\":[-1.5e+10,0,12345678901234567890],"
                                "\"t\":true,\"f\":false,\"z\":null}";
    size_t len = sizeof(whole) - 1;
    vls_arena arena;
    vls_json v;
    int accepted = 0, refused = 0;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    for (size_t cut = 0; cut < len; cut++) {
        char *copy = test_alloc(cut); /* its own block, so that ASan sees a step over its end */
        memcpy(copy, whole, cut);
        CHECK(vls_json_parse(&v, &arena, vls_str(copy, cut), NULL, &t->err) < 0);
    }
    for (size_t at = 0; at < len; at++) {
        char copy[sizeof(whole)];
        memcpy(copy, whole, sizeof(whole));
        for (int byte = 0; byte < 256; byte++) {
            copy[at] = (char)byte;
            int rc = vls_json_parse(&v, &arena, vls_str(copy, len), NULL, &t->err);
            CHECK(rc == 0 || (rc == VALISE_E_INVALID && t->err.offset >= 0));
            rc == 0 ? accepted++ : refused++;
        }
        vls_arena_reset(&arena);
    }
    test_note("%d damaged texts accepted, %d refused", accepted, refused);
    vls_arena_release(&arena);
}
