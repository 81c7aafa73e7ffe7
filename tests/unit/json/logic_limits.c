/* logic_limits.c -- JSON Logic with hostile rules: steps, depth, memory, random rules. */
#include "logic_rows.h"

#include "harness/fault.h"

/* ---- limits ---- */

TEST(logic, steps_are_limited_and_that_is_not_caught)
{
    vls_logic_limits few = {.max_steps = 50};
    const char *loop = "{\"map\": [{\"val\": []}, {\"+\": [{\"val\": []}, 1]}]}";
    const char *data = "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]";

    CHECK_TEXT("[2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21]", logic_apply(t, loop, data));
    const char *message = logic_apply_limited(t, loop, data, &few, SIZE_MAX);
    CHECK_MSG(strstr(message, "!limit reached at /map/1") && strstr(message, "50 steps"), "%s",
              message);
    message = logic_apply_limited(t, test_format("{\"try\": [%s, 1]}", loop), data, &few, SIZE_MAX);
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
    const char *data = test_format("\"%s\"", logic_nested("a", "", "", 6400));

    for (size_t i = 0; i < VLS_COUNT(rules); i++) {
        const char *message = logic_apply_limited(t, rules[i], data, &few, SIZE_MAX);
        CHECK_MSG(strstr(message, "100 steps"), "%s gives %s", rules[i], message);
        message = logic_apply(t, rules[i], data);
        CHECK_MSG(message[0] != '!', "%s gives %s", rules[i], message);
    }
}

TEST(logic, depth_is_limited)
{
    vls_logic_limits shallow = {.max_depth = 4};
    vls_logic_limits too_deep = {.max_depth = 100000};
    const char *deep = logic_nested("{\"!\": ", "true", "}", 256);
    valise_error err = VALISE_ERROR_INIT;
    VLS_AUTO(arena) vls_arena arena;
    vls_json out;

    CHECK_TEXT("true", logic_apply(t, deep, "null"));
    CHECK_TEXT("true", logic_apply_limited(t, logic_nested("{\"!\": ", "1", "}", 4), "1", &shallow,
                                           SIZE_MAX));
    CHECK_TEXT(
        "!limit reached at /!/!/!/!: more than 4 levels",
        logic_apply_limited(t, logic_nested("{\"!\": ", "1", "}", 5), "1", &shallow, SIZE_MAX));
    CHECK_TEXT("!limit reached at /0/0/0/0: more than 4 levels",
               logic_apply_limited(t, "[[[[[]]]]]", "1", &shallow, SIZE_MAX));

    /* Deeper than any text: a rule that somebody built. */
    vls_member level = {vls_json_string(VLS_STR("!")), vls_json_bool(true)};
    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json rule = logic_parse(t, &arena, deep);
    level.value = rule;
    rule = (vls_json){.type = VLS_JSON_OBJECT, .len = 1, .members = &level};
    CHECK_INT(VALISE_E_LIMIT, vls_logic_apply(&out, &arena, rule, rule, &too_deep, &err));
    CHECK_INT(VALISE_E_LIMIT, vls_logic_check(rule, &err));
}

/* A reduce whose rule nests the accumulator in itself once per element. */
static const char *grow(test *t, const char *step, const char *rest, size_t elements)
{
    const char *items = logic_nested("0,", "0", "", elements - 1);

    return logic_apply(t,
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
    const char *data = test_format("[%s]", logic_nested("0,", "0", "", 199));
    CHECK_MSG(strstr(logic_apply_limited(t, text, data, NULL, 1 << 26), "1000000 steps"), "cat");
    text = "{\"substr\": [{\"reduce\": [{\"val\": []}, [" ACC "], 0]}, 0]}";
    data = test_format("[%s]", logic_nested("0,", "0", "", 299));
    CHECK_MSG(strstr(logic_apply(t, text, data), "levels in an array"), "cat levels");
}

TEST(logic, thrown_values_nested_in_themselves_do_not_leave_either)
{
    VLS_AUTO(arena) vls_arena arena;
    vls_json out, thrown = vls_json_int(1);

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json data = logic_parse(t, &arena, test_format("[%s]", logic_nested("0,", "0", "", 199)));
    vls_json rule = logic_parse(
        t, &arena, "{\"throw\": [{\"reduce\": [{\"val\": []}, [" ACC ", " ACC "], 0]}]}");
    CHECK_RC(VALISE_E_LIMIT, vls_logic_run(&out, &thrown, &arena, rule, data, NULL, &t->err));
    CHECK_INT(VLS_JSON_INT, thrown.type);
    CHECK_RC(VALISE_E_INVALID, vls_logic_apply(&out, &arena, rule, data, NULL, &t->err));
}

TEST(logic, memory_is_limited)
{
    const char *twice = "{\"cat\": [" ACC ", " ACC "]}";
    const char *rule = test_format("{\"reduce\": [{\"val\": []}, %s, \"x\"]}", twice);
    const char *data = test_format("[%s]", logic_nested("0,", "0", "", 40));
    const char *message = logic_apply_limited(t, rule, data, NULL, 1 << 20);

    CHECK_MSG(strstr(message, "larger than its limit") || strstr(message, "is used up"), "%s",
              message);
    message = logic_apply_limited(t, test_format("{\"try\": [%s, 1]}", rule), data, NULL, 1 << 20);
    CHECK_MSG(message[0] == '!', "%s", message);
    message = logic_apply_limited(t, "{\"map\": [{\"val\": []}, 1]}", data, NULL, 200);
    CHECK_MSG(strstr(message, "is used up"), "%s", message);
}

TEST(logic, memory_that_led_to_a_scalar_is_given_back)
{
    /* 2000 elements, each of which needs some hundred bytes for a while. */
    const char *items = logic_nested("[\"abc\"],", "[]", "", 1999);
    const char *rule =
        "{\"reduce\": [{\"val\": []}, {\"+\": [{\"val\": \"accumulator\"}, {\"in\": "
        "[\"abcabc\", {\"cat\": [{\"val\": \"current\"}, {\"val\": \"current\"}]}]}]}, "
        "0]}";

    CHECK_TEXT("1999", logic_apply_limited(t, rule, test_format("[%s]", items), NULL, 4096));
    rule = "{\"some\": [{\"val\": []}, {\"===\": [[{\"val\": [0]}, 1], [1, 2]]}]}";
    CHECK_TEXT("false", logic_apply_limited(t, rule, test_format("[%s]", items), NULL, 4096));
}

typedef struct rule_and_data {
    vls_json rule, data;
    const char *result;
} rule_and_data;

static int apply_with_faults(fault *f, void *arg)
{
    const rule_and_data *r = arg;
    VLS_AUTO(arena) vls_arena arena;
    vls_json out = {.type = 77};

    vls_arena_init(&arena, f->env, SIZE_MAX);
    int rc = vls_logic_apply(&out, &arena, r->rule, r->data, NULL, &f->err);
    CHECK_INT(rc, f->err.code);
    if (rc == 0)
        CHECK_TEXT(r->result, logic_text(f->t, out));
    else
        CHECK_INT(77, out.type);
    return rc;
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

    vls_arena_init(&source, t->env, SIZE_MAX);
    rule_and_data r = {
        logic_parse(t, &source, rule), logic_parse(t, &source, "{\"n\": [1, 2.5, \"x\"]}"),
        "[\"1!0\",\"2.5!1\",\"x!2\",1,2.5,\"x\",\"a\",{\"accumulator\":{\"accumulator\":{"
        "\"accumulator\":0,\"current\":1},\"current\":2.5},\"current\":\"x\"},\"2345\",{"
        "\"type\":\"x\"},0.5,[1,2.5,\"x\"],10]"};
    /* Far more where each allocation is one of its own. */
    CHECK(fault_each_alloc(t, 0, apply_with_faults, &r) >= 4);
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
            CHECK_TEXT(logic_text(t, out), logic_text(t, out2));
        if (rc == VALISE_E_INVALID)
            CHECK_TEXT(logic_text(t, thrown), logic_text(t, thrown2));
        results += rc == 0;
        throws += rc == VALISE_E_INVALID;
        others += rc != 0 && rc != VALISE_E_INVALID;
    }
    test_note("%d results, %d throws, %d limits", results, throws, others);
    CHECK(results > 500 && throws > 500);
}
