/* logic_suite.c -- JSON Logic against the community's suites (json-logic/compat-tables).
 *
 * compatible.json is what jsonlogic.com has always done; the others are the newer operators and
 * the errors. All of them must pass in full, and what has a result must pass vls_logic_check:
 * it may not refuse a rule that works. */
#include "harness/test.h"

#include "json/json.h"
#include "json/logic.h"

#define SUITES 48
#define CASES 1138

static const char *text_of(test *t, vls_json v)
{
    VLS_AUTO(buf) vls_buf buf;

    vls_buf_init(&buf, t->env, SIZE_MAX);
    CHECK_OK(vls_json_write(&buf, v, &t->err));
    return test_format("%.*s", VALISE_STR_ARG(vls_buf_str(&buf)));
}

static vls_json parse_file(test *t, vls_arena *arena, const char *path)
{
    vls_json v;

    CHECK_OK(vls_json_parse(&v, arena, test_read_file(path), NULL, &t->err));
    return v;
}

/* NULL when the case passes, else what was wrong. */
static const char *run_case(test *t, vls_arena *arena, vls_json c)
{
    const vls_json *rule = vls_json_get(c, VLS_STR("rule"));
    const vls_json *data = vls_json_get(c, VLS_STR("data"));
    const vls_json *result = vls_json_get(c, VLS_STR("result"));
    const vls_json *error = vls_json_get(c, VLS_STR("error"));
    valise_error err = VALISE_ERROR_INIT;
    vls_json out, thrown;

    CHECK_MSG(rule && (result || error), "not a case: %s", text_of(t, c));
    int rc = vls_logic_run(&out, &thrown, arena, *rule, data ? *data : vls_json_null(), NULL, &err);
    if (result) {
        if (rc < 0)
            return test_format("%s", err.message);
        if (!vls_json_equal(*result, out))
            return test_format("gives %s, not %s", text_of(t, out), text_of(t, *result));
        return vls_logic_check(*rule, &err) < 0 ? test_format("check: %s", err.message) : NULL;
    }
    if (rc == 0)
        return test_format("gives %s, not the error %s", text_of(t, out), text_of(t, *error));
    if (rc != VALISE_E_INVALID || !vls_json_equal(*error, thrown))
        return test_format("%s: %s, not the error %s", valise_error_name(rc), err.message,
                           text_of(t, *error));
    /* The message begins with the error's type. */
    vls_json type = *vls_json_get(thrown, VLS_STR("type"));
    if (!vls_str_starts(valise_str_of(err.message), vls_json_str(type)))
        return test_format("the message \"%s\" does not name the type", err.message);
    return NULL;
}

static int run_suite(test *t, const char *dir, const char *name, int *failed)
{
    VLS_AUTO(arena) vls_arena arena;
    int ran = 0, bad = 0;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json suite = parse_file(t, &arena, test_format("%s/%s", dir, name));
    CHECK_INT(VLS_JSON_ARRAY, suite.type);
    for (size_t i = 0; i < suite.len; i++) {
        if (suite.items[i].type != VLS_JSON_OBJECT)
            continue; /* a heading */
        const char *wrong = run_case(t, &arena, suite.items[i]);
        ran++;
        if (wrong) {
            const vls_json *rule = vls_json_get(suite.items[i], VLS_STR("rule"));
            test_note("%s: %s: %s", name, text_of(t, *rule), wrong);
            bad++;
        }
    }
    test_note("%s: %d of %d", name, ran - bad, ran);
    *failed += bad;
    return ran;
}

/* [F7] */
TEST(logic_suite, every_case_gives_its_result_or_error)
{
    const char *dir = test_data("json-logic/suites");
    VLS_AUTO(arena) vls_arena arena;
    int ran = 0, failed = 0;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json index = parse_file(t, &arena, test_format("%s/index.json", dir));
    for (size_t i = 0; i < index.len; i++) {
        const char *name = test_format("%.*s", VALISE_STR_ARG(vls_json_str(index.items[i])));
        ran += run_suite(t, dir, name, &failed);
    }
    test_note("json-logic: %d of %d cases in %u suites", ran - failed, ran, index.len);
    CHECK_INT(0, failed);
    CHECK_INT(SUITES, index.len);
    CHECK_INT(CASES, ran);
}
