/* fuzz_logic.c -- any rule (the first line) over any data (the rest): a value that can be
 * written, or an error that says what is wrong, the same every time. [F7, Q20] */
#include "fuzz/fuzz.h"

#include "json/json.h"
#include "json/logic.h"

static const vls_logic_limits limits = {.max_steps = 20000};

/* One application, and what came of it as text. */
static int apply(vls_buf *text, bool *truthy, vls_json rule, vls_json data, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena;
    vls_json out, thrown;

    vls_arena_init(&arena, text->env, (size_t)1 << 20);
    int rc = vls_logic_run(&out, &thrown, &arena, rule, data, &limits, err);
    if (rc == 0)
        FUZZ_CHECK(vls_json_write(text, out, NULL) == 0);
    if (rc == VALISE_E_INVALID)
        FUZZ_CHECK(vls_json_write(text, thrown, NULL) == 0);
    *truthy = rc == 0 && vls_logic_truthy(out);
    return rc;
}

static void check_rule(vls_json rule, vls_json data)
{
    const valise_env *env = valise_env_default();
    VLS_AUTO(arena) vls_arena arena;
    VLS_AUTO(buf) vls_buf text, again;
    valise_error err = VALISE_ERROR_INIT, err2 = VALISE_ERROR_INIT;
    bool truthy, truthy2, holds = false;

    vls_arena_init(&arena, env, (size_t)1 << 20);
    vls_buf_init(&text, env, SIZE_MAX);
    vls_buf_init(&again, env, SIZE_MAX);
    int rc = apply(&text, &truthy, rule, data, &err);
    FUZZ_CHECK(rc == apply(&again, &truthy2, rule, data, &err2));
    FUZZ_CHECK(rc == err.code && (rc == 0) == (err.message[0] == '\0'));
    FUZZ_CHECK(strcmp(err.message, err2.message) == 0 && strcmp(err.path, err2.path) == 0);
    FUZZ_CHECK(vls_str_equal(vls_buf_str(&text), vls_buf_str(&again)) && truthy == truthy2);

    int rc2 = vls_logic_holds(&holds, &arena, rule, data, &limits, NULL);
    FUZZ_CHECK(rc != 0 || (rc2 == 0 && holds == truthy));
    FUZZ_CHECK(rc2 != VALISE_E_INVALID || rc == rc2 || rc == VALISE_E_LIMIT);

    /* Data is never read as a rule: what the check lets pass has no unknown operators. */
    if (vls_logic_check(rule, NULL) == 0 && rc == VALISE_E_INVALID &&
        strncmp(err.message, "Unknown Operator at ", 20) == 0)
        FUZZ_CHECK(strstr(err.message, "thrown by the rule") || strstr(err.path, "throw"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    VLS_AUTO(arena) vls_arena arena;
    valise_str line, rest;
    vls_json rule, value = vls_json_null();

    vls_arena_init(&arena, valise_env_default(), (size_t)16 << 20);
    (void)vls_str_cut(&line, &rest, vls_str(data, size), '\n');
    if (vls_json_parse(&rule, &arena, line, NULL, NULL) < 0)
        return 0;
    if (rest.len > 0 && vls_json_parse(&value, &arena, rest, NULL, NULL) < 0)
        return 0;
    check_rule(rule, value);
    return 0;
}
