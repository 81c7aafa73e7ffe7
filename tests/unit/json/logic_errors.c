/* logic_errors.c -- JSON Logic: what is thrown and what is said about it; the check; the table. */
#include "logic_rows.h"

/* ---- errors ---- */

TEST(logic, errors_name_the_operator_and_the_place)
{
    static const logic_row rows[] = {
        {"{\"and\": [true, {\"foo\": [1]}]}", NULL,
         "!Unknown Operator at /and/1/foo: there is no operator \"foo\""},
        {"{\"/\": [1, {\"a/b~c\": 2}]}", NULL, "!Unknown Operator at /~1/1/a~1b~0c: "},
        {"{\"Var\": 1}", NULL, "!Unknown Operator at /Var: "},
        {"{\"\": 1}", NULL, "!Unknown Operator at /: there is no operator \"\""},
        {"{\"==\": [1, 1], \"!=\": [1, 1]}", NULL,
         "!Unknown Operator at the top of the rule: an object of 2 members is not an operation"},
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

    CHECK_LOGIC(rows);
}

TEST(logic, the_error_has_a_path_and_a_hint)
{
    VLS_AUTO(arena) vls_arena arena;
    vls_json out;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json rule = logic_parse(t, &arena, "{\"and\": [true, [1, {\"foo\": [1]}]]}");
    CHECK_RC(VALISE_E_INVALID, vls_logic_apply(&out, &arena, rule, vls_json_null(), NULL, &t->err));
    CHECK_TEXT("and[1][1].foo", t->err.path);
    CHECK_TEXT("write data that is not a rule as {\"preserve\": ...}", t->err.hint);
    vls_error_prepend(&t->err, "condition");
    CHECK_TEXT("condition.and[1][1].foo", t->err.path);

    /* And all of it without an error to fill. */
    CHECK_INT(VALISE_E_INVALID, vls_logic_apply(&out, &arena, rule, rule, NULL, NULL));
    CHECK_INT(VALISE_E_INVALID, vls_logic_check(rule, NULL));
}

TEST(logic, long_names_and_places_are_cut_between_characters)
{
    const char *name = logic_nested("\xE2\x82\xAC", "", "", 200);
    const char *message = logic_apply(t, test_format("{\"cat\": [{\"%s\": 1}]}", name), "null");

    CHECK_TEXT(test_format("!Unknown Operator at /cat/0/%.48s: there is no operator \"%.48s\"",
                           name, name),
               message);
    message = logic_apply(t, logic_nested("{\"!!\": [", "{\"foo\": 1}", "]}", 100), "null");
    CHECK_MSG(strstr(message, "/!!/0/!!/0...: there is no operator \"foo\""), "%s", message);
    message = logic_apply(t, test_format("{\"throw\": \"%s\"}", name), "null");
    CHECK_TEXT(test_format("!%.48s at /throw: thrown by the rule", name), message);
    message = logic_apply(t, test_format("{\"+\": \"%s\"}", name), "null");
    CHECK_TEXT(test_format("!NaN at /+: \"%.48s\" is not a number", name), message);
}

TEST(logic, what_is_thrown_comes_out)
{
    VLS_AUTO(arena) vls_arena arena;
    vls_json out, thrown = vls_json_int(1);

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json data = logic_parse(t, &arena, "{\"type\": \"T\", \"code\": 4}");
    vls_json rule = logic_parse(t, &arena, "{\"throw\": {\"val\": []}}");
    CHECK_RC(VALISE_E_INVALID, vls_logic_run(&out, &thrown, &arena, rule, data, NULL, &t->err));
    CHECK(vls_json_equal(data, thrown));
    rule = logic_parse(t, &arena, "{\"throw\": [5]}");
    CHECK_RC(VALISE_E_INVALID, vls_logic_run(&out, &thrown, &arena, rule, data, NULL, &t->err));
    CHECK_TEXT("{\"type\":5}", logic_text(t, thrown));
    rule = logic_parse(t, &arena, "{\"nope\": [5]}");
    CHECK_RC(VALISE_E_INVALID, vls_logic_run(&out, &thrown, &arena, rule, data, NULL, &t->err));
    CHECK_TEXT("{\"type\":\"Unknown Operator\"}", logic_text(t, thrown));

    thrown = vls_json_int(1);
    rule = logic_parse(t, &arena, "{\"+\": [5, 6]}");
    CHECK_OK(vls_logic_run(&out, &thrown, &arena, rule, data, NULL, &t->err));
    CHECK_INT(VLS_JSON_INT, thrown.type);
}

TEST(logic, try_catches_what_is_thrown)
{
    static const logic_row rows[] = {
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

    CHECK_LOGIC(rows);
}

/* ---- truth, check, the table ---- */

TEST(logic, holds_is_the_truth_of_the_result)
{
    static const logic_row rows[] = {
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
        vls_json rule = logic_parse(t, &arena, rows[i].rule);
        vls_json data = logic_parse(t, &arena, rows[i].data ? rows[i].data : "null");
        CHECK_OK(vls_logic_holds(&holds, &arena, rule, data, NULL, &t->err));
        CHECK_MSG(holds == (rows[i].expected[0] == 't'), "%s", rows[i].rule);
    }
    holds = true;
    CHECK_RC(VALISE_E_INVALID,
             vls_logic_holds(&holds, &arena, logic_parse(t, &arena, "{\"throw\": 1}"),
                             vls_json_null(), NULL, &t->err));
    CHECK(holds);
}

TEST(logic, check_finds_what_is_wrong_without_data)
{
    static const logic_row rows[] = {
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
        int rc = vls_logic_check(logic_parse(t, &arena, rows[i].rule), &err);
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
