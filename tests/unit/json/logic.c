/* logic.c -- JSON Logic beyond the public suites: numbers, errors and their places, limits.
 *
 * Cases are rows of rule, data and expected: the result's canonical text, or "!" and how the
 * error's message begins. */
#include "harness/test.h"

#include "harness/counting_env.h"
#include "json/json.h"
#include "json/logic.h"

typedef struct row {
    const char *rule, *data, *expected;
} row;

static vls_json parse(test *t, vls_arena *arena, const char *text)
{
    vls_json v;

    CHECK_OK(vls_json_parse(&v, arena, valise_str_of(text), NULL, &t->err));
    return v;
}

static const char *text_of(test *t, vls_json v)
{
    VLS_AUTO(buf) vls_buf buf;

    vls_buf_init(&buf, t->env, 1 << 20);
    CHECK_OK(vls_json_write(&buf, v, &t->err));
    return test_format("%.*s", VALISE_STR_ARG(vls_buf_str(&buf)));
}

static const char *apply_limited(test *t, const char *rule, const char *data,
                                 const vls_logic_limits *limits, size_t max_bytes)
{
    VLS_AUTO(arena) vls_arena source, arena;
    valise_error err = VALISE_ERROR_INIT;
    vls_json out = {.type = 77};

    vls_arena_init(&source, t->env, SIZE_MAX);
    vls_arena_init(&arena, t->env, max_bytes);
    int rc = vls_logic_apply(&out, &arena, parse(t, &source, rule), parse(t, &source, data), limits,
                             &err);
    CHECK_MSG(rc == 0 || out.type == 77, "%s: the output was touched", rule);
    CHECK_MSG(rc < 0 || err.code == 0, "%s: the error was touched", rule);
    CHECK_INT(rc, err.code);
    return rc < 0 ? test_format("!%s", err.message) : text_of(t, out);
}

static const char *apply(test *t, const char *rule, const char *data)
{
    return apply_limited(t, rule, data, NULL, SIZE_MAX);
}

static void check_rows(test *t, const row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *data = rows[i].data ? rows[i].data : "null";
        const char *actual = apply(t, rows[i].rule, data);
        const char *expected = rows[i].expected;
        bool same = expected[0] == '!' ? strncmp(expected, actual, strlen(expected)) == 0
                                       : strcmp(expected, actual) == 0;
        CHECK_MSG(same, "%s with %s gives %s, expected %s", rows[i].rule, data, actual, expected);
    }
}

/* open open ... inner ... close close */
static const char *nested(const char *open, const char *inner, const char *close, size_t times)
{
    char *text = test_alloc(strlen(inner) + times * (strlen(open) + strlen(close)) + 1);
    char *at = text;

    for (size_t i = 0; i < times; i++)
        at = mempcpy(at, open, strlen(open));
    at = mempcpy(at, inner, strlen(inner));
    for (size_t i = 0; i < times; i++)
        at = mempcpy(at, close, strlen(close));
    *at = '\0';
    return text;
}

#define CHECK_ROWS(rows) check_rows(t, (rows), VLS_COUNT(rows))

/* ---- numbers ---- */

TEST(logic, text_becomes_a_number_as_in_javascript)
{
    static const row rows[] = {
        {"{\"+\": \"\"}", NULL, "0"},
        {"{\"+\": \" 12 \"}", NULL, "12"},
        {"{\"+\": \"\\t\\n\\u000b\\f\\r\\u00a0\\u1680\\u2000\\u200a\\u2028\\u2029\\u202f"
         "\\u205f\\u3000\\ufeff1\\ufeff\\u3000\\u00a0\"}",
         NULL, "1"},
        {"{\"+\": \"\\u180e1\"}", NULL, "!NaN at /+"},
        {"{\"+\": \"\\u200b1\"}", NULL, "!NaN at /+"},
        {"{\"+\": \"+5\"}", NULL, "5"},
        {"{\"+\": \"-007\"}", NULL, "-7"},
        {"{\"+\": \".5\"}", NULL, "0.5"},
        {"{\"+\": \"-.5e1\"}", NULL, "-5"},
        {"{\"+\": \"5.\"}", NULL, "5"},
        {"{\"+\": \"+1.5E+2\"}", NULL, "150"},
        {"{\"+\": \"-0\"}", NULL, "0"},
        {"{\"+\": \"0x1F\"}", NULL, "31"},
        {"{\"+\": \"0Xff\"}", NULL, "255"},
        {"{\"+\": \"0b101\"}", NULL, "5"},
        {"{\"+\": \"0O17\"}", NULL, "15"},
        {"{\"+\": \"0x1fffffffffffff\"}", NULL, "9007199254740991"},
        {"{\"+\": \"0x10000000000000800\"}", NULL, "18446744073709552000"}, /* halfway: to even */
        {"{\"+\": \"0x10000000000000801\"}", NULL, "18446744073709556000"}, /* just over it */
        {"{\"+\": \"0x\"}", NULL, "!NaN"},
        {"{\"+\": \"-0x1\"}", NULL, "!NaN"},
        {"{\"+\": \"0b2\"}", NULL, "!NaN"},
        {"{\"+\": \"0x1g\"}", NULL, "!NaN"},
        {"{\"+\": \".\"}", NULL, "!NaN"},
        {"{\"+\": \"+\"}", NULL, "!NaN"},
        {"{\"+\": \"e5\"}", NULL, "!NaN"},
        {"{\"+\": \"1e\"}", NULL, "!NaN"},
        {"{\"+\": \"1 2\"}", NULL, "!NaN"},
        {"{\"+\": \"1,5\"}", NULL, "!NaN"},
        {"{\"+\": \"1_000\"}", NULL, "!NaN"},
        {"{\"+\": \"1\\u00002\"}", NULL, "!NaN"},
        {"{\"+\": \"--1\"}", NULL, "!NaN"},
        {"{\"+\": \"12abc\"}", NULL, "!NaN at /+: \"12abc\" is not a number"},
        {"{\"+\": \"Infinity\"}", NULL, "!NaN"}, /* JSON has no such number */
        {"{\"+\": \"1e999\"}", NULL, "!NaN"},
        {"{\"+\": \"1e-999\"}", NULL, "0"},
        {"{\"+\": [null, true, false]}", NULL, "1"},
    };

    CHECK_ROWS(rows);
}

TEST(logic, a_very_long_hex_number_is_no_number_when_over_the_largest_double)
{
    const char *rule = nested("f", "", "", 256); /* 2^1024 - 1 rounds to infinity */

    CHECK(strncmp(apply(t, test_format("{\"+\": \"0x%s\"}", rule), "null"), "!NaN", 4) == 0);
    rule = nested("0", "", "", 255);
    CHECK_TEXT("1.1235582092889474e+307",
               apply(t, test_format("{\"+\": \"0x1%s\"}", rule), "null"));
    rule = nested("f", "", "", 100000);
    CHECK(strncmp(apply(t, test_format("{\"+\": \"0x%s\"}", rule), "null"), "!NaN", 4) == 0);
}

TEST(logic, integers_stay_exact)
{
    static const row rows[] = {
        {"{\"var\": \"\"}", "9007199254740993", "9007199254740993"},
        {"{\"var\": \"\"}", "123456789012345678901234567890", "123456789012345678901234567890"},
        {"{\"+\": [9007199254740993]}", NULL, "9007199254740993"},
        {"{\"+\": [123456789012345678901234567890]}", NULL, "123456789012345678901234567890"},
        {"{\"+\": [\"123456789012345678901234567890\"]}", NULL, "123456789012345678901234567890"},
        {"{\"max\": [9007199254740993, 9007199254740992]}", NULL, "9007199254740993"},
        {"{\"min\": [9007199254740993, 9007199254740992]}", NULL, "9007199254740992"},
        {"{\"max\": [\"3\", 2, true]}", NULL, "3"},
        {"{\"==\": [9007199254740993, 9007199254740992]}", NULL, "false"},
        {"{\"==\": [\"9007199254740993\", 9007199254740993]}", NULL, "true"},
        {"{\"==\": [\"9007199254740993\", 9007199254740992]}", NULL, "false"},
        {"{\"===\": [9007199254740993, 9007199254740992]}", NULL, "false"},
        {"{\"<\": [9007199254740992, 9007199254740993]}", NULL, "true"},
        {"{\"<\": [123456789012345678901234567889, 123456789012345678901234567890]}", NULL, "true"},
        {"{\"===\": [123456789012345678901234567890, 123456789012345678901234567890]}", NULL,
         "true"},
        {"{\"===\": [1, 1.0]}", NULL, "true"},
        {"{\"in\": [1, [2, 1.0]]}", NULL, "true"},
        {"{\"cat\": [9007199254740993, \" \", 123456789012345678901234567890]}", NULL,
         "\"9007199254740993 123456789012345678901234567890\""},
        {"{\"!\": 123456789012345678901234567890}", NULL, "false"},
    };

    CHECK_ROWS(rows);
}

TEST(logic, arithmetic_is_exact_in_int64_and_double_beyond)
{
    static const row rows[] = {
        {"{\"+\": [9007199254740993, 2]}", NULL, "9007199254740995"},
        {"{\"-\": [9223372036854775807, 1]}", NULL, "9223372036854775806"},
        {"{\"*\": [3037000499, 3037000499]}", NULL, "9223372030926249001"},
        {"{\"/\": [9223372036854775806, 2]}", NULL, "4611686018427387903"},
        {"{\"%\": [9223372036854775807, 10]}", NULL, "7"},
        {"{\"%\": [-7, 3]}", NULL, "-1"},
        {"{\"%\": [5.5, 2]}", NULL, "1.5"},
        {"{\"+\": [9223372036854775807, 1]}", NULL, "9223372036854776000"},
        {"{\"-\": [-9223372036854775808, 1]}", NULL, "-9223372036854776000"},
        {"{\"-\": [-9223372036854775808]}", NULL, "9223372036854776000"},
        {"{\"*\": [9223372036854775807, 2]}", NULL, "18446744073709552000"},
        {"{\"/\": [-9223372036854775808, -1]}", NULL, "9223372036854776000"},
        {"{\"%\": [-9223372036854775808, -1]}", NULL, "0"},
        {"{\"+\": [123456789012345678901234567890, 0]}", NULL, "1.2345678901234568e+29"},
        {"{\"+\": [0.1, 0.2]}", NULL, "0.30000000000000004"},
        {"{\"/\": [1, 3]}", NULL, "0.3333333333333333"},
        {"{\"-\": 0}", NULL, "0"},
        {"{\"*\": [-1, 0.0]}", NULL, "0"},
        {"{\"*\": [1e308, 10]}", NULL, "!NaN at /*/1: the result is not a finite number"},
        {"{\"+\": [1e308, 1e308]}", NULL, "!NaN"},
        {"{\"-\": [-1e308, 1e308]}", NULL, "!NaN"},
        {"{\"/\": [1e308, 1e-308]}", NULL, "!NaN"},
        {"{\"/\": [5, 0.0]}", NULL, "!NaN"},
        {"{\"%\": [5, 0]}", NULL, "!NaN"},
        {"{\"%\": [5.5, 0]}", NULL, "!NaN"},
        {"{\"max\": []}", NULL, "!Invalid Arguments at /max: at least 1 argument wanted, 0 given"},
        {"{\"min\": [1, \"x\"]}", NULL, "!NaN at /min/1: \"x\" is not a number"},
    };

    CHECK_ROWS(rows);
}

/* ---- text ---- */

TEST(logic, values_become_text_as_in_javascript)
{
    static const row rows[] = {
        {"{\"cat\": [1.0, \" \", 0.1, \" \", 1e21, \" \", 1e-7, \" \", -0.0]}", NULL,
         "\"1 0.1 1e+21 1e-7 0\""},
        {"{\"cat\": [[1, [2, null, \"x\"], []], true, null, {}]}", NULL,
         "\"1,2,,x,true[object Object]\""},
        {"{\"cat\": {\"var\": \"\"}}", "[\"a\", [\"b\", \"c\"]]", "\"ab,c\""},
        {"{\"cat\": [{\"preserve\": {\"a\": 1, \"b\": 2}}]}", NULL, "\"[object Object]\""},
        {"{\"cat\": [\"\\u0000\", \"b\"]}", NULL, "\"\\u0000b\""},
        {"{\"substr\": [12345, 1, 3]}", NULL, "\"234\""},
        {"{\"substr\": [null, 0, 2]}", NULL, "\"\""},
        {"{\"substr\": [true, 1]}", NULL, "\"rue\""},
    };

    CHECK_ROWS(rows);
}

TEST(logic, substr_counts_characters)
{
    static const row rows[] = {
        {"{\"substr\": [\"a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z\", 1, 3]}", NULL,
         "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\""},
        {"{\"substr\": [\"\xF0\x9F\x98\x80\xF0\x9F\x98\x81\", -1]}", NULL, "\"\xF0\x9F\x98\x81\""},
        {"{\"substr\": [\"\xC3\xA9z\", 0, -1]}", NULL, "\"\xC3\xA9\""},
        {"{\"substr\": [\"abc\", 1.9]}", NULL, "\"bc\""},
        {"{\"substr\": [\"abc\", \"1\", \"1\"]}", NULL, "\"b\""},
        {"{\"substr\": [\"abc\", \"x\"]}", NULL, "\"abc\""},
        {"{\"substr\": [\"abc\", -1e300]}", NULL, "\"abc\""},
        {"{\"substr\": [\"abc\", 1e300]}", NULL, "\"\""},
        {"{\"substr\": [\"abc\", 1, 1e300]}", NULL, "\"bc\""},
        {"{\"substr\": [\"abc\", 0, -1e300]}", NULL, "\"\""},
        {"{\"substr\": [\"abc\", -9223372036854775808, 9223372036854775807]}", NULL, "\"abc\""},
        {"{\"substr\": [\"abc\", 0, null]}", NULL, "\"\""},
    };

    CHECK_ROWS(rows);
}

TEST(logic, texts_compare_by_utf16_units)
{
    static const row rows[] = {
        /* U+10000 is D800 DC00 in UTF-16 and comes before U+E000 there, but not in UTF-8. */
        {"{\"<\": [\"\\ud800\\udc00\", \"\\ue000\"]}", NULL, "true"},
        {"{\"<\": [\"a\", \"aa\", \"b\"]}", NULL, "true"},
        {"{\"<\": [\"10\", \"9\"]}", NULL, "true"},
        {"{\"<\": [\"10\", 9]}", NULL, "false"},
        {"{\"==\": [\"1\", \"1.0\"]}", NULL, "false"},
    };

    CHECK_ROWS(rows);
}

TEST(logic, in_finds_items_and_texts)
{
    static const row rows[] = {
        {"{\"in\": [[1, {}], [[1], [1, {}]]]}", NULL, "true"},
        {"{\"in\": [{\"preserve\": {\"a\": [1]}}, {\"preserve\": [{\"a\": [1]}]}]}", NULL, "true"},
        {"{\"in\": [{\"preserve\": {\"a\": [1]}}, {\"preserve\": [{\"b\": [1]}]}]}", NULL, "false"},
        {"{\"in\": [\"1\", [1]]}", NULL, "false"},
        {"{\"in\": [null, [1, null]]}", NULL, "true"},
        {"{\"in\": [2, \"123\"]}", NULL, "true"},
        {"{\"in\": [null, \"null\"]}", NULL, "false"},
        {"{\"in\": [\"\", \"\"]}", NULL, "true"},
        {"{\"in\": [\"a\", null]}", NULL, "false"},
        {"{\"in\": [\"a\", 5]}", NULL, "false"},
        {"{\"in\": [\"a\"]}", NULL, "!Invalid Arguments at /in: 2 arguments wanted, 1 given"},
    };

    CHECK_ROWS(rows);
}

/* ---- comparing ---- */

TEST(logic, nothing_there_is_not_equal_to_a_word)
{
    static const row rows[] = {
        {"{\"==\": [{\"var\": \"pie\"}, \"apple\"]}", "{}", "false"},
        {"{\"!=\": [\"apple\", {\"var\": \"pie\"}]}", "{}", "true"},
        {"{\"==\": [{\"var\": \"pie\"}, null]}", "{}", "true"},
        {"{\"==\": [{\"var\": \"pie\"}, null]}", "{\"pie\": []}", "false"},
        {"{\"!=\": [null, {\"var\": \"pie\"}]}", "{\"pie\": {}}", "true"},
        {"{\"<\": [{\"var\": \"pie\"}, \"apple\"]}", "{}", "!NaN at /</1: \"apple\""},
        {"{\"<\": [\"apple\", {\"var\": \"pie\"}]}", "{}", "!NaN at /</0: \"apple\""},
        {"{\"==\": [true, \"apple\"]}", NULL, "!NaN at /==/1"},
        {"{\"==\": [[1], 1]}", NULL, "!NaN at /==/0: array is not a number"},
    };

    CHECK_ROWS(rows);
}

TEST(logic, the_same_is_deep)
{
    static const row rows[] = {
        {"{\"===\": [[1, [2, \"x\"]], [1, [2, \"x\"]]]}", NULL, "true"},
        {"{\"===\": [[1, [2, \"x\"]], [1, [2, \"y\"]]]}", NULL, "false"},
        {"{\"!==\": [[1], [1, 2]]}", NULL, "true"},
        {"{\"===\": [{\"val\": \"a\"}, {\"val\": \"b\"}]}",
         "{\"a\": {\"x\": 1, \"y\": null}, \"b\": {\"y\": null, \"x\": 1.0}}", "true"},
        {"{\"===\": [{\"val\": \"a\"}, {\"val\": \"b\"}]}",
         "{\"a\": {\"x\": 1}, \"b\": {\"y\": 1}}", "false"},
        {"{\"===\": [null, null]}", NULL, "true"},
        {"{\"===\": [[], {}]}", NULL, "false"},
        {"{\"===\": [true, true, false]}", NULL, "false"},
    };

    CHECK_ROWS(rows);
}

/* ---- reading data ---- */

TEST(logic, var_and_val_find_members_and_items_only)
{
    static const row rows[] = {
        {"{\"var\": \"length\"}", "[1, 2]", "null"},
        {"{\"var\": \"0\"}", "\"abc\"", "null"},
        {"{\"var\": \"01\"}", "[1, 2]", "null"},
        {"{\"var\": \"-1\"}", "[1, 2]", "null"},
        {"{\"var\": \"18446744073709551616\"}", "[1, 2]", "null"},
        {"{\"var\": 1.1}", "[0, [5, 6]]", "6"},
        {"{\"var\": \"a..b\"}", "{\"a\": {\"\": {\"b\": 3}}}", "3"},
        {"{\"var\": \".\"}", "{\"\": {\"\": 4}}", "4"},
        {"{\"var\": [[\"a\"], 5]}", "{\"a\": 1}", "5"},
        {"{\"var\": [{\"var\": \"key\"}, 5]}", "{\"key\": \"a\", \"a\": 1}", "1"},
        {"{\"var\": [\"a\", 5]}", "{\"a\": null}", "null"},
        {"{\"var\": [\"a\", {\"throw\": \"no a\"}]}", "{\"a\": 1}", "1"},
        {"{\"var\": [\"a\", {\"throw\": \"no a\"}]}", "{}", "!no a at /var/1/throw"},
        {"{\"var\": [\"a\", 1, 2]}", "{}", "!Invalid Arguments at /var: 0 to 2 arguments"},
        {"{\"val\": [\"a\", 1, \"b\"]}", "{\"a\": [0, {\"b\": 7}]}", "7"},
        {"{\"val\": 1.5}", "{\"1.5\": 8}", "8"},
        {"{\"val\": true}", "{\"true\": 9}", "9"},
        {"{\"val\": [null]}", "{\"null\": 9}", "null"},
        {"{\"val\": [{\"preserve\": {}}]}", "{}", "null"},
        {"{\"val\": {\"val\": \"path\"}}", "{\"path\": [\"a\", 0], \"a\": [3]}", "3"},
        {"{\"exists\": [\"a\", 0]}", "{\"a\": [null]}", "true"},
        {"{\"exists\": [\"a\", 1]}", "{\"a\": [null]}", "false"},
        {"{\"exists\": []}", "null", "true"},
        {"{\"missing\": [[\"a\", \"b\"]]}", "{\"a\": 0}", "[\"b\"]"},
        {"{\"missing\": [\"a\", \"b\", \"c\"]}", "{\"a\": \"\", \"b\": null, \"c\": false}",
         "[\"a\",\"b\"]"},
        {"{\"missing\": [1]}", "[1]", "[1]"},
        {"{\"missing_some\": [1, \"a\"]}", "{}", "!Invalid Arguments at /missing_some/1"},
        {"{\"missing_some\": [\"x\", [\"a\"]]}", "{}", "!NaN at /missing_some/0"},
    };

    CHECK_ROWS(rows);
}

TEST(logic, val_climbs_out_of_iterations)
{
    static const row rows[] = {
        {"{\"map\": [[7, 8], {\"val\": [[0]]}]}", NULL, "[7,8]"},
        {"{\"map\": [[7, 8], {\"val\": [[1]]}]}", NULL, "[{\"index\":0},{\"index\":1}]"},
        {"{\"map\": [[7], {\"val\": [[2], \"x\"]}]}", "{\"x\": 5}", "[5]"},
        {"{\"map\": [[7], {\"val\": [[3]]}]}", "{\"x\": 5}", "[null]"},
        {"{\"map\": [[7], {\"val\": [[9223372036854775807]]}]}", "1", "[null]"},
        {"{\"map\": [[7], {\"val\": [[-9223372036854775808]]}]}", "1", "[null]"},
        {"{\"val\": [[1]]}", "1", "null"},
        {"{\"exists\": [[2]]}", "1", "false"},
        {"{\"val\": [[0.5]]}", "1", "null"},
        {"{\"val\": [[1, 2]]}", "1", "null"},
        {"{\"val\": [[]]}", "1", "null"},
        {"{\"reduce\": [[5, 6], {\"val\": [[1], \"index\"]}, 0]}", NULL, "1"},
        {"{\"some\": [[5, 6], {\"===\": [{\"val\": [[2]]}, {\"val\": []}]}]}", "6", "true"},
        {"{\"try\": [{\"throw\": \"x\"}, {\"val\": [[1]]}]}", "5", "null"},
        {"{\"try\": [{\"throw\": \"x\"}, {\"val\": [[2]]}]}", "5", "5"},
    };

    CHECK_ROWS(rows);
}

/* ---- arrays ---- */

TEST(logic, iterations_want_arrays)
{
    static const row rows[] = {
        {"{\"map\": [{\"var\": \"x\"}, 1]}", "{\"x\": 5}",
         "!Invalid Arguments at /map/0: an array wanted, not integer"},
        {"{\"filter\": [\"abc\", 1]}", NULL, "!Invalid Arguments at /filter/0"},
        {"{\"reduce\": [null, 1]}", NULL, "!Invalid Arguments at /reduce/0: null is no array"},
        {"{\"reduce\": [[], null]}", NULL, "!Invalid Arguments at /reduce/1: null is no rule"},
        {"{\"reduce\": [[], 1]}", NULL, "null"},
        {"{\"reduce\": [[1, 2], {\"var\": \"\"}, 0]}", NULL,
         "{\"accumulator\":{\"accumulator\":0,\"current\":1},\"current\":2}"},
        {"{\"all\": [{\"preserve\": {}}, 1]}", NULL, "!Invalid Arguments at /all/0"},
        {"{\"merge\": [[1, [2]], 3, null, [], {}]}", NULL, "[1,[2],3,null,{}]"},
        {"{\"merge\": {\"var\": \"\"}}", "[[1], [2]]", "[1,2]"},
        {"{\"filter\": [[1, 2, 3], {\">\": [{\"val\": []}, 1]}]}", NULL, "[2,3]"},
        {"[]", NULL, "[]"},
        {"{\"merge\": []}", NULL, "[]"},
        {"{\"map\": [[], 1]}", NULL, "[]"},
        {"{\"filter\": [{\"val\": \"x\"}, 1]}", NULL, "[]"},
        {"{\"missing\": []}", NULL, "[]"},
        {"[1, [{\"+\": [1, 1]}, {}], {\"preserve\": {\"a\": 1, \"b\": 2}}]", NULL,
         "[1,[2,{}],{\"a\":1,\"b\":2}]"},
    };

    CHECK_ROWS(rows);
}

TEST(logic, one_argument_alone_may_be_the_list)
{
    static const row rows[] = {
        {"{\"max\": {\"var\": \"\"}}", "[3, 9, 4]", "9"},
        {"{\"substr\": {\"var\": \"\"}}", "[\"abc\", 1]", "\"bc\""},
        {"{\"substr\": {\"var\": \"\"}}", "[\"abc\"]", "!Invalid Arguments at /substr: 2 to 3"},
        {"{\"+\": {\"var\": \"\"}}", "[1, \"x\"]", "!NaN at /+: \"x\""},
        /* ... but not for those that take one: a list is a value to them. */
        {"{\"!\": {\"var\": \"\"}}", "[0]", "false"},
        {"{\"!!\": {\"var\": \"\"}}", "[0]", "true"},
        {"{\"!!\": {\"var\": \"\"}}", "[]", "false"},
        {"{\"log\": {\"var\": \"\"}}", "[1, 2]", "[1,2]"},
        {"{\"log\": []}", "1", "null"},
        {"{\"throw\": {\"var\": \"\"}}", "[1]", "!error at /throw"},
        {"{\"??\": {\"var\": \"\"}}", "[null, 2]", "[null,2]"},
        {"{\"try\": {\"var\": \"\"}}", "[1]", "[1]"},
    };

    CHECK_ROWS(rows);
}

/* ---- errors ---- */

TEST(logic, errors_name_the_operator_and_the_place)
{
    static const row rows[] = {
        {"{\"and\": [true, {\"foo\": [1]}]}", NULL,
         "!Unknown Operator at /and/1/foo: there is no operator \"foo\""},
        {"{\"/\": [1, {\"a/b~c\": 2}]}", NULL, "!Unknown Operator at /~1/1/a~1b~0c: "},
        {"{\"Var\": 1}", NULL, "!Unknown Operator at /Var: "},
        {"{\"\": 1}", NULL, "!Unknown Operator at /: there is no operator \"\""},
        {"{\"==\": [1, 1], \"!=\": [1, 1]}", NULL,
         "!Unknown Operator at the top of the rule: an object of 2 members is no operation"},
        {"[0, {\"a\": 1, \"b\": 2}]", NULL, "!Unknown Operator at /1: an object of 2"},
        {"{\"if\": {\"var\": \"x\"}}", NULL,
         "!Invalid Arguments at /if: the arguments must be written as an array"},
        {"{\"+\": [1, 2, {\"-\": [\"x\", 1]}]}", NULL, "!NaN at /+/2/-/0: \"x\" is not a number"},
        {"{\"+\": [1, [2]]}", NULL, "!NaN at /+/1: array is not a number"},
        {"{\"map\": [[1, 2], {\"throw\": \"Not an admin\"}]}", NULL,
         "!Not an admin at /map/1/throw: thrown by the rule"},
        {"{\"throw\": {\"preserve\": {\"type\": \"T\", \"code\": 4}}}", NULL, "!T at /throw"},
        {"{\"throw\": {\"preserve\": {\"code\": 4}}}", NULL, "!error at /throw"},
        {"{\"throw\": 5}", NULL, "!error at /throw"},
        {"{\"throw\": []}", NULL, "!Invalid Arguments at /throw: 1 argument wanted, 0 given"},
    };

    CHECK_ROWS(rows);
}

TEST(logic, the_error_has_a_path_and_a_hint)
{
    VLS_AUTO(arena) vls_arena arena;
    vls_json out;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json rule = parse(t, &arena, "{\"and\": [true, [1, {\"foo\": [1]}]]}");
    CHECK_RC(VALISE_E_INVALID, vls_logic_apply(&out, &arena, rule, vls_json_null(), NULL, &t->err));
    CHECK_TEXT("and[1][1].foo", t->err.path);
    CHECK_TEXT("write data that is no rule as {\"preserve\": ...}", t->err.hint);
    vls_error_prepend(&t->err, "condition");
    CHECK_TEXT("condition.and[1][1].foo", t->err.path);

    /* And all of it without an error to fill. */
    CHECK_INT(VALISE_E_INVALID, vls_logic_apply(&out, &arena, rule, rule, NULL, NULL));
    CHECK_INT(VALISE_E_INVALID, vls_logic_check(rule, NULL));
}

TEST(logic, long_names_and_places_are_cut_between_characters)
{
    const char *name = nested("\xE2\x82\xAC", "", "", 200);
    const char *message = apply(t, test_format("{\"cat\": [{\"%s\": 1}]}", name), "null");

    CHECK_TEXT(test_format("!Unknown Operator at /cat/0/%.48s: there is no operator \"%.48s\"",
                           name, name),
               message);
    message = apply(t, nested("{\"!!\": [", "{\"foo\": 1}", "]}", 100), "null");
    CHECK_MSG(strstr(message, "/!!/0/!!/0...: there is no operator \"foo\""), "%s", message);
    message = apply(t, test_format("{\"throw\": \"%s\"}", name), "null");
    CHECK_TEXT(test_format("!%.48s at /throw: thrown by the rule", name), message);
    message = apply(t, test_format("{\"+\": \"%s\"}", name), "null");
    CHECK_TEXT(test_format("!NaN at /+: \"%.48s\" is not a number", name), message);
}

TEST(logic, what_is_thrown_comes_out)
{
    VLS_AUTO(arena) vls_arena arena;
    vls_json out, thrown = vls_json_int(1);

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json data = parse(t, &arena, "{\"type\": \"T\", \"code\": 4}");
    vls_json rule = parse(t, &arena, "{\"throw\": {\"val\": []}}");
    CHECK_RC(VALISE_E_INVALID, vls_logic_run(&out, &thrown, &arena, rule, data, NULL, &t->err));
    CHECK(vls_json_equal(data, thrown));
    rule = parse(t, &arena, "{\"throw\": [5]}");
    CHECK_RC(VALISE_E_INVALID, vls_logic_run(&out, &thrown, &arena, rule, data, NULL, &t->err));
    CHECK_TEXT("{\"type\":5}", text_of(t, thrown));
    rule = parse(t, &arena, "{\"nope\": [5]}");
    CHECK_RC(VALISE_E_INVALID, vls_logic_run(&out, &thrown, &arena, rule, data, NULL, &t->err));
    CHECK_TEXT("{\"type\":\"Unknown Operator\"}", text_of(t, thrown));

    thrown = vls_json_int(1);
    rule = parse(t, &arena, "{\"+\": [5, 6]}");
    CHECK_OK(vls_logic_run(&out, &thrown, &arena, rule, data, NULL, &t->err));
    CHECK_INT(VLS_JSON_INT, thrown.type);
}

TEST(logic, try_catches_what_is_thrown)
{
    static const row rows[] = {
        {"{\"try\": [{\"nope\": 1}, {\"val\": \"type\"}]}", NULL, "\"Unknown Operator\""},
        {"{\"try\": [{\"if\": 1}, {\"val\": \"type\"}]}", NULL, "\"Invalid Arguments\""},
        {"{\"try\": [{\"throw\": 7}, {\"val\": \"type\"}]}", NULL, "7"},
        {"{\"try\": [{\"throw\": {\"preserve\": {\"n\": 3}}}, {\"val\": \"n\"}]}", NULL, "3"},
        {"{\"try\": [{\"try\": [{\"throw\": \"a\"}, {\"throw\": \"b\"}]}, {\"val\": \"type\"}]}",
         NULL, "\"b\""},
        {"{\"try\": [1, {\"throw\": \"not reached\"}]}", NULL, "1"},
        /* The last one's error is told in full, though others were caught before it. */
        {"{\"try\": [{\"throw\": \"a\"}, {\"+\": \"x\"}]}", NULL, "!NaN at /try/1/+: \"x\" is not"},
        {"{\"map\": [[1, 0], {\"try\": [{\"/\": [1, {\"val\": []}]}, \"-\"]}]}", NULL, "[1,\"-\"]"},
        {"{\"try\": []}", NULL, "!Invalid Arguments at /try: at least 1 argument wanted"},
    };

    CHECK_ROWS(rows);
}

/* ---- limits ---- */

TEST(logic, steps_are_limited_and_that_is_not_caught)
{
    vls_logic_limits few = {.max_steps = 50};
    const char *loop = "{\"map\": [{\"val\": []}, {\"+\": [{\"val\": []}, 1]}]}";
    const char *data = "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]";

    CHECK_TEXT("[2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21]", apply(t, loop, data));
    const char *message = apply_limited(t, loop, data, &few, SIZE_MAX);
    CHECK_MSG(strstr(message, "!limit reached at /map/1") && strstr(message, "50 steps"), "%s",
              message);
    message = apply_limited(t, test_format("{\"try\": [%s, 1]}", loop), data, &few, SIZE_MAX);
    CHECK_MSG(strstr(message, "!limit reached at /try/0/map/1"), "%s", message);
}

TEST(logic, long_texts_cost_steps)
{
    static const char *const rules[] = {
        "{\"in\": [\"b\", {\"val\": []}]}",
        "{\"<\": [{\"val\": []}, {\"cat\": [{\"val\": []}]}]}",
        "{\"===\": [{\"val\": []}, {\"val\": []}]}",
        "{\"try\": [{\"+\": {\"val\": []}}, 1]}",
        "{\"substr\": [{\"val\": []}, -1]}",
        "{\"var\": [{\"var\": \"\"}, 1]}",
        "{\"val\": [{\"var\": \"\"}]}",
        "{\"cat\": [{\"val\": []}, \"\"]}",
    };
    vls_logic_limits few = {.max_steps = 100};
    const char *data = test_format("\"%s\"", nested("a", "", "", 6400));

    for (size_t i = 0; i < VLS_COUNT(rules); i++) {
        const char *message = apply_limited(t, rules[i], data, &few, SIZE_MAX);
        CHECK_MSG(strstr(message, "100 steps"), "%s gives %s", rules[i], message);
        message = apply(t, rules[i], data);
        CHECK_MSG(message[0] != '!', "%s gives %s", rules[i], message);
    }
}

TEST(logic, depth_is_limited)
{
    vls_logic_limits shallow = {.max_depth = 4};
    vls_logic_limits too_deep = {.max_depth = 100000};
    const char *deep = nested("{\"!\": ", "true", "}", 256);
    valise_error err = VALISE_ERROR_INIT;
    VLS_AUTO(arena) vls_arena arena;
    vls_json out;

    CHECK_TEXT("true", apply(t, deep, "null"));
    CHECK_TEXT("true", apply_limited(t, nested("{\"!\": ", "1", "}", 4), "1", &shallow, SIZE_MAX));
    CHECK_TEXT("!limit reached at /!/!/!/!: more than 4 levels",
               apply_limited(t, nested("{\"!\": ", "1", "}", 5), "1", &shallow, SIZE_MAX));
    CHECK_TEXT("!limit reached at /0/0/0/0: more than 4 levels",
               apply_limited(t, "[[[[[]]]]]", "1", &shallow, SIZE_MAX));

    /* Deeper than any text: a rule that somebody built. */
    vls_member level = {vls_json_string(VLS_STR("!")), vls_json_bool(true)};
    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json rule = parse(t, &arena, deep);
    level.value = rule;
    rule = (vls_json){.type = VLS_JSON_OBJECT, .len = 1, .members = &level};
    CHECK_INT(VALISE_E_LIMIT, vls_logic_apply(&out, &arena, rule, rule, &too_deep, &err));
    CHECK_INT(VALISE_E_LIMIT, vls_logic_check(rule, &err));
}

/* A reduce whose rule nests the accumulator in itself once per element. */
static const char *grow(test *t, const char *step, const char *rest, size_t elements)
{
    const char *items = nested("0,", "0", "", elements - 1);

    return apply(t,
                 test_format("{\"%s\": [{\"reduce\": [{\"val\": []}, %s, 0]}%s]}",
                             rest[0] ? "===" : "merge", step, rest),
                 test_format("[%s]", items));
}

#define ACC "{\"var\": \"accumulator\"}"

TEST(logic, values_nested_in_themselves_do_not_leave)
{
    /* 2^200 parts, and 300 levels, in a few kilobytes. */
    CHECK_MSG(
        strstr(grow(t, "[" ACC ", " ACC "]", "", 200), "!limit reached at the top of the rule"),
        "parts");
    CHECK_MSG(strstr(grow(t, "[" ACC "]", "", 300), "levels in the result"), "levels");
    CHECK_MSG(grow(t, "[" ACC "]", "", 200)[0] == '[', "200 levels are fine");

    /* Nor can they be compared, or joined, forever. */
    const char *other = ", {\"reduce\": [{\"val\": []}, [" ACC ", " ACC "], 0]}";
    CHECK_MSG(strstr(grow(t, "[" ACC ", " ACC "]", other, 200), "1000000 steps"), "compare");
    other = ", {\"reduce\": [{\"val\": []}, [" ACC "], 0]}";
    CHECK_MSG(strstr(grow(t, "[" ACC "]", other, 300), "levels in a value"), "compare levels");
    const char *text = "{\"cat\": [{\"reduce\": [{\"val\": []}, [" ACC ", " ACC "], 0]}]}";
    const char *data = test_format("[%s]", nested("0,", "0", "", 199));
    CHECK_MSG(strstr(apply_limited(t, text, data, NULL, 1 << 26), "1000000 steps"), "cat");
    text = "{\"substr\": [{\"reduce\": [{\"val\": []}, [" ACC "], 0]}, 0]}";
    data = test_format("[%s]", nested("0,", "0", "", 299));
    CHECK_MSG(strstr(apply(t, text, data), "levels in an array"), "cat levels");
}

TEST(logic, thrown_values_nested_in_themselves_do_not_leave_either)
{
    VLS_AUTO(arena) vls_arena arena;
    vls_json out, thrown = vls_json_int(1);

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json data = parse(t, &arena, test_format("[%s]", nested("0,", "0", "", 199)));
    vls_json rule =
        parse(t, &arena, "{\"throw\": [{\"reduce\": [{\"val\": []}, [" ACC ", " ACC "], 0]}]}");
    CHECK_RC(VALISE_E_LIMIT, vls_logic_run(&out, &thrown, &arena, rule, data, NULL, &t->err));
    CHECK_INT(VLS_JSON_INT, thrown.type);
    CHECK_RC(VALISE_E_INVALID, vls_logic_apply(&out, &arena, rule, data, NULL, &t->err));
}

TEST(logic, memory_is_limited)
{
    const char *twice = "{\"cat\": [" ACC ", " ACC "]}";
    const char *rule = test_format("{\"reduce\": [{\"val\": []}, %s, \"x\"]}", twice);
    const char *data = test_format("[%s]", nested("0,", "0", "", 40));
    const char *message = apply_limited(t, rule, data, NULL, 1 << 20);

    CHECK_MSG(strstr(message, "larger than its limit") || strstr(message, "is used up"), "%s",
              message);
    message = apply_limited(t, test_format("{\"try\": [%s, 1]}", rule), data, NULL, 1 << 20);
    CHECK_MSG(message[0] == '!', "%s", message);
    message = apply_limited(t, "{\"map\": [{\"val\": []}, 1]}", data, NULL, 200);
    CHECK_MSG(strstr(message, "is used up"), "%s", message);
}

TEST(logic, memory_that_led_to_a_scalar_is_given_back)
{
    /* 2000 elements, each of which needs some hundred bytes for a while. */
    const char *items = nested("[\"abc\"],", "[]", "", 1999);
    const char *rule =
        "{\"reduce\": [{\"val\": []}, {\"+\": [{\"val\": \"accumulator\"}, {\"in\": "
        "[\"abcabc\", {\"cat\": [{\"val\": \"current\"}, {\"val\": \"current\"}]}]}]}, "
        "0]}";

    CHECK_TEXT("1999", apply_limited(t, rule, test_format("[%s]", items), NULL, 4096));
    rule = "{\"some\": [{\"val\": []}, {\"===\": [[{\"val\": [0]}, 1], [1, 2]]}]}";
    CHECK_TEXT("false", apply_limited(t, rule, test_format("[%s]", items), NULL, 4096));
}

TEST(logic, every_allocation_may_fail)
{
    const char *rule =
        "{\"merge\": [{\"map\": [{\"val\": \"n\"}, {\"cat\": [{\"val\": []}, \"!\", {\"val\": "
        "[[1], "
        "\"index\"]}]}]}, {\"filter\": [{\"val\": \"n\"}, true]}, {\"missing\": [\"a\", \"n\"]}, "
        "{\"reduce\": [{\"val\": \"n\"}, {\"val\": []}, 0]}, {\"substr\": [12345, 1]}, {\"try\": "
        "[{\"throw\": \"x\"}, {\"val\": []}]}, {\"+\": \"+.5\"}, [{\"val\": \"n\"}], {\"max\": "
        "[1,2,3,4,5,6,7,8,9,{\"+\": 10}]}]}";
    VLS_AUTO(arena) vls_arena source;
    const char *expected = NULL;
    long long failures = 0;

    vls_arena_init(&source, t->env, SIZE_MAX);
    vls_json parsed = parse(t, &source, rule);
    vls_json data = parse(t, &source, "{\"n\": [1, 2.5, \"x\"]}");
    for (bool done = false; !done; failures++) {
        counting_env env;
        vls_arena arena;
        vls_json out = {.type = 77};
        valise_error err = VALISE_ERROR_INIT;

        counting_env_init(&env);
        vls_arena_init(&arena, &env.env, SIZE_MAX);
        counting_env_fail_at(&env, failures);
        int rc = vls_logic_apply(&out, &arena, parsed, data, NULL, &err);
        done = !env.failed;
        CHECK_INT(done ? 0 : VALISE_E_NO_MEMORY, rc);
        CHECK_INT(rc, err.code);
        CHECK(done || out.type == 77);
        if (done)
            expected = text_of(t, out);
        vls_arena_release(&arena);
        CHECK_INT(0, counting_env_in_use(&env));
    }
    test_note("%lld allocations failed in turn", failures - 1);
    CHECK(failures > 4); /* far more where each allocation is one of its own */
    CHECK_TEXT("[\"1!0\",\"2.5!1\",\"x!2\",1,2.5,\"x\",\"a\",{\"accumulator\":{\"accumulator\":{"
               "\"accumulator\":0,\"current\":1},\"current\":2.5},\"current\":\"x\"},\"2345\",{"
               "\"type\":\"x\"},0.5,[1,2.5,\"x\"],10]",
               expected);
}

/* ---- truth, check, the table ---- */

TEST(logic, holds_is_the_truth_of_the_result)
{
    static const row rows[] = {
        {"null", NULL, "false"},
        {"0.0", NULL, "false"},
        {"\"\"", NULL, "false"},
        {"[]", NULL, "false"},
        {"{}", NULL, "true"},
        {"\"0\"", NULL, "true"},
        {"-0.5", NULL, "true"},
        {"[0]", NULL, "true"},
        {"{\"var\": \"a\"}", "{\"a\": 1}", "true"},
        {"{\"var\": \"b\"}", "{\"a\": 1}", "false"},
    };
    VLS_AUTO(arena) vls_arena arena;
    bool holds = true;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    for (size_t i = 0; i < VLS_COUNT(rows); i++) {
        vls_json rule = parse(t, &arena, rows[i].rule);
        vls_json data = parse(t, &arena, rows[i].data ? rows[i].data : "null");
        CHECK_OK(vls_logic_holds(&holds, &arena, rule, data, NULL, &t->err));
        CHECK_MSG(holds == (rows[i].expected[0] == 't'), "%s", rows[i].rule);
    }
    holds = true;
    CHECK_RC(VALISE_E_INVALID, vls_logic_holds(&holds, &arena, parse(t, &arena, "{\"throw\": 1}"),
                                               vls_json_null(), NULL, &t->err));
    CHECK(holds);
}

TEST(logic, check_finds_what_is_wrong_without_data)
{
    static const row rows[] = {
        {"{\"and\": [{\"==\": [{\"var\": \"a\"}, 1]}, {\"!\": {\"var\": \"b\"}}]}", NULL, ""},
        {"5", NULL, ""},
        {"{}", NULL, ""},
        {"{\"preserve\": {\"a\": {\"b\": 1}, \"c\": 2}}", NULL, ""},
        {"{\"max\": {\"var\": \"prices\"}}", NULL, ""},
        {"{\"substr\": {\"var\": \"list\"}}", NULL, ""},
        {"{\"substr\": \"abc\"}", NULL, "Invalid Arguments at /substr: 2 to 3"},
        {"{\"substr\": {}}", NULL, "Invalid Arguments at /substr: 2 to 3"},
        {"{\"throw\": {\"var\": \"x\"}}", NULL, ""},
        {"{\"if\": [true, {\"then\": 1}]}", NULL,
         "Unknown Operator at /if/1/then: there is no operator \"then\""},
        {"{\"var\": [\"a\", {\"x\": 1}]}", NULL, "Unknown Operator at /var/1/x"},
        {"{\"map\": [[1], {\"=\": [1, 2]}]}", NULL, "Unknown Operator at /map/1/="},
        {"{\"!\": {\"=\": [1, 2]}}", NULL, "Unknown Operator at /!/="},
        {"[1, [{\"a\": 1, \"b\": 2}]]", NULL, "Unknown Operator at /1/0: an object of 2"},
        {"{\"==\": [1]}", NULL, "Invalid Arguments at /==: at least 2 arguments wanted, 1 given"},
        {"{\"==\": 1}", NULL, "Invalid Arguments at /==: the arguments must be"},
        {"{\"if\": {\"var\": \"x\"}}", NULL, "Invalid Arguments at /if: the arguments must be"},
        {"{\"!\": [1, 2]}", NULL, "Invalid Arguments at /!: 0 to 1 arguments wanted, 2 given"},
        {"{\"all\": [[1], 1, 2]}", NULL, "Invalid Arguments at /all: 2 arguments wanted, 3 given"},
        {"{\"%\": 5}", NULL, "Invalid Arguments at /%: at least 2"},
    };

    for (size_t i = 0; i < VLS_COUNT(rows); i++) {
        VLS_AUTO(arena) vls_arena arena;
        valise_error err = VALISE_ERROR_INIT;

        vls_arena_init(&arena, t->env, SIZE_MAX);
        int rc = vls_logic_check(parse(t, &arena, rows[i].rule), &err);
        CHECK_MSG(rc == (rows[i].expected[0] ? VALISE_E_INVALID : 0), "%s: %s", rows[i].rule,
                  err.message);
        CHECK_MSG(strncmp(err.message, rows[i].expected, strlen(rows[i].expected)) == 0, "%s: %s",
                  rows[i].rule, err.message);
    }
}

static const char *arity_text(const vls_logic_op *op)
{
    if (op->max_args == VLS_LOGIC_ANY)
        return test_format("%u+", op->min_args);
    if (op->min_args == op->max_args)
        return test_format("%u", op->min_args);
    return test_format("%u-%u", op->min_args, op->max_args);
}

TEST(logic, the_manual_lists_the_table)
{
    static const char *const styles[] = {"values", "values, spread", "rules", "rules, listed",
                                         "as is"};
    const char *root = getenv("VALISE_SOURCE_ROOT");
    valise_str manual = test_read_file(test_format("%s/docs/json.md", root ? root : "."));
    size_t count;
    const vls_logic_op *ops = vls_logic_ops(&count);

    CHECK(count > 40);
    for (size_t i = 0; i < count; i++) {
        const char *line = test_format("| `%.*s` | %s | %s | %s |\n", VALISE_STR_ARG(ops[i].name),
                                       arity_text(&ops[i]), styles[ops[i].style], ops[i].brief);
        CHECK_MSG(vls_str_find(manual, valise_str_of(line)) < manual.len, "docs/json.md lacks %s",
                  line);
        CHECK(i == 0 || vls_str_compare(ops[i - 1].name, ops[i].name) < 0);
        CHECK(vls_logic_find(ops[i].name) == &ops[i]);
        CHECK(ops[i].fn && ops[i].min_args <= ops[i].max_args);
    }
    CHECK(vls_logic_find(VLS_STR("")) == NULL && vls_logic_find(VLS_STR("zzz")) == NULL);
}

/* ---- random rules ---- */

typedef struct generator {
    test_rng rng;
    vls_arena *arena;
} generator;

static vls_json random_literal(generator *g)
{
    static const char *const texts[] = {"",     "a",   "b",         "12", "-0.5",
                                        "0x1f", "a.b", "x\xC3\xA9", "0"};
    const char *text = texts[test_random_below(&g->rng, VLS_COUNT(texts))];

    switch (test_random_below(&g->rng, 7)) {
    case 0:
        return vls_json_null();
    case 1:
        return vls_json_bool(test_random_below(&g->rng, 2));
    case 2:
        return vls_json_int((int64_t)test_random_below(&g->rng, 5) - 2);
    case 3:
        return vls_json_int((int64_t)test_random(&g->rng));
    case 4:
        return vls_json_real((double)test_random_below(&g->rng, 1000) / 8 - 50);
    default:
        return vls_json_string(valise_str_of(text));
    }
}

static vls_json random_rule(generator *g, unsigned depth)
{
    size_t count, len = test_random_below(&g->rng, 4);
    const vls_logic_op *ops = vls_logic_ops(&count);
    const vls_logic_op *op = &ops[test_random_below(&g->rng, count)];
    vls_json *items = vls_arena_array(g->arena, 8, sizeof(*items));
    vls_member *member = vls_arena_alloc(g->arena, sizeof(*member));

    CHECK(items && member);
    if (depth == 0 || test_random_below(&g->rng, 8) == 0)
        return random_literal(g);
    if (test_random_below(&g->rng, 4) > 0) /* mostly as many arguments as it takes */
        len = VLS_MAX(len, op->min_args), len = VLS_MIN(len, op->max_args);
    for (size_t i = 0; i < len; i++)
        items[i] = random_rule(g, depth - 1);
    vls_json array = vls_json_array(items, len);
    if (test_random_below(&g->rng, 6) == 0)
        return array;
    member->key = vls_json_string(op->name);
    member->value = len == 1 && test_random_below(&g->rng, 2) ? items[0] : array;
    return (vls_json){.type = VLS_JSON_OBJECT, .len = 1, .members = member};
}

TEST(logic, random_rules_give_a_value_or_an_error_and_always_the_same)
{
    static const vls_logic_limits limits = {.max_steps = 2000};
    int results = 0, throws = 0, others = 0;
    test_rng rng = test_rng_new(test_seed());

    for (int i = 0; i < 4000; i++) {
        VLS_AUTO(arena) vls_arena source, arena, again;
        valise_error err = VALISE_ERROR_INIT, err2 = VALISE_ERROR_INIT;
        vls_json out, out2, thrown, thrown2;
        generator g = {rng, &source};

        vls_arena_init(&source, t->env, SIZE_MAX);
        vls_arena_init(&arena, t->env, 1 << 16);
        vls_arena_init(&again, t->env, 1 << 16);
        vls_json rule = random_rule(&g, 5), data = random_rule(&g, 3);
        rng = g.rng;
        int rc = vls_logic_run(&out, &thrown, &arena, rule, data, &limits, &err);
        int rc2 = vls_logic_run(&out2, &thrown2, &again, rule, data, &limits, &err2);
        CHECK_INT(rc, rc2);
        CHECK_TEXT(err.message, err2.message);
        if (rc == 0)
            CHECK_TEXT(text_of(t, out), text_of(t, out2));
        if (rc == VALISE_E_INVALID)
            CHECK_TEXT(text_of(t, thrown), text_of(t, thrown2));
        results += rc == 0;
        throws += rc == VALISE_E_INVALID;
        others += rc != 0 && rc != VALISE_E_INVALID;
    }
    test_note("%d results, %d throws, %d limits", results, throws, others);
    CHECK(results > 500 && throws > 500);
}
