/* logic.c -- JSON Logic beyond the public suites: numbers, text, data, arrays. */
#include "logic_rows.h"

/* ---- numbers ---- */

TEST(logic, text_becomes_a_number_as_in_javascript)
{
    static const logic_row rows[] = {
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

    CHECK_LOGIC(rows);
}

TEST(logic, a_very_long_hex_number_is_no_number_when_over_the_largest_double)
{
    const char *rule = logic_nested("f", "", "", 256); /* 2^1024 - 1 rounds to infinity */

    CHECK(strncmp(logic_apply(t, test_format("{\"+\": \"0x%s\"}", rule), "null"), "!NaN", 4) == 0);
    rule = logic_nested("0", "", "", 255);
    CHECK_TEXT("1.1235582092889474e+307",
               logic_apply(t, test_format("{\"+\": \"0x1%s\"}", rule), "null"));
    rule = logic_nested("f", "", "", 100000);
    CHECK(strncmp(logic_apply(t, test_format("{\"+\": \"0x%s\"}", rule), "null"), "!NaN", 4) == 0);
}

TEST(logic, integers_stay_exact)
{
    static const logic_row rows[] = {
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

    CHECK_LOGIC(rows);
}

TEST(logic, arithmetic_is_exact_in_int64_and_double_beyond)
{
    static const logic_row rows[] = {
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

    CHECK_LOGIC(rows);
}

/* ---- text ---- */

TEST(logic, values_become_text_as_in_javascript)
{
    static const logic_row rows[] = {
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

    CHECK_LOGIC(rows);
}

TEST(logic, substr_counts_characters)
{
    static const logic_row rows[] = {
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

    CHECK_LOGIC(rows);
}

TEST(logic, texts_compare_by_utf16_units)
{
    static const logic_row rows[] = {
        /* U+10000 is D800 DC00 in UTF-16 and comes before U+E000 there, but not in UTF-8. */
        {"{\"<\": [\"\\ud800\\udc00\", \"\\ue000\"]}", NULL, "true"},
        {"{\"<\": [\"a\", \"aa\", \"b\"]}", NULL, "true"},
        {"{\"<\": [\"10\", \"9\"]}", NULL, "true"},
        {"{\"<\": [\"10\", 9]}", NULL, "false"},
        {"{\"==\": [\"1\", \"1.0\"]}", NULL, "false"},
    };

    CHECK_LOGIC(rows);
}

TEST(logic, in_finds_items_and_texts)
{
    static const logic_row rows[] = {
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

    CHECK_LOGIC(rows);
}

/* ---- comparing ---- */

TEST(logic, nothing_there_is_not_equal_to_a_word)
{
    static const logic_row rows[] = {
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

    CHECK_LOGIC(rows);
}

TEST(logic, the_same_is_deep)
{
    static const logic_row rows[] = {
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

    CHECK_LOGIC(rows);
}

/* ---- reading data ---- */

TEST(logic, var_and_val_find_members_and_items_only)
{
    static const logic_row rows[] = {
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

    CHECK_LOGIC(rows);
}

TEST(logic, val_climbs_out_of_iterations)
{
    static const logic_row rows[] = {
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

    CHECK_LOGIC(rows);
}

/* ---- arrays ---- */

TEST(logic, iterations_want_arrays)
{
    static const logic_row rows[] = {
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

    CHECK_LOGIC(rows);
}

TEST(logic, one_argument_alone_may_be_the_list)
{
    static const logic_row rows[] = {
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

    CHECK_LOGIC(rows);
}
