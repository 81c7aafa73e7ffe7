/* logic_rows.c -- applying rules in text form. */
#include "logic_rows.h"

vls_json logic_parse(test *t, vls_arena *arena, const char *text)
{
    vls_json v;

    CHECK_OK(vls_json_parse(&v, arena, valise_str_of(text), NULL, &t->err));
    return v;
}

const char *logic_text(test *t, vls_json v)
{
    VLS_AUTO(buf) vls_buf buf;

    vls_buf_init(&buf, t->env, 1 << 20);
    CHECK_OK(vls_json_write(&buf, v, &t->err));
    return test_format("%.*s", VALISE_STR_ARG(vls_buf_str(&buf)));
}

const char *logic_apply_limited(test *t, const char *rule, const char *data,
                                const vls_logic_limits *limits, size_t max_bytes)
{
    VLS_AUTO(arena) vls_arena source, arena;
    valise_error err = VALISE_ERROR_INIT;
    vls_json out = {.type = 77};

    vls_arena_init(&source, t->env, SIZE_MAX);
    vls_arena_init(&arena, t->env, max_bytes);
    int rc = vls_logic_apply(&out, &arena, logic_parse(t, &source, rule),
                             logic_parse(t, &source, data), limits, &err);
    CHECK_MSG(rc == 0 || out.type == 77, "%s: the output was touched", rule);
    CHECK_MSG(rc < 0 || err.code == 0, "%s: the error was touched", rule);
    CHECK_INT(rc, err.code);
    return rc < 0 ? test_format("!%s", err.message) : logic_text(t, out);
}

const char *logic_apply(test *t, const char *rule, const char *data)
{
    return logic_apply_limited(t, rule, data, NULL, SIZE_MAX);
}

void logic_check_rows(test *t, const logic_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *data = rows[i].data ? rows[i].data : "null";
        const char *actual = logic_apply(t, rows[i].rule, data);
        const char *expected = rows[i].expected;
        bool same = expected[0] == '!' ? strncmp(expected, actual, strlen(expected)) == 0
                                       : strcmp(expected, actual) == 0;
        CHECK_MSG(same, "%s with %s gives %s, expected %s", rows[i].rule, data, actual, expected);
    }
}

const char *logic_nested(const char *open, const char *inner, const char *close, size_t times)
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
