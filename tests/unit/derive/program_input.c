/* program_input.c -- the JSON a program gets: canonical, whatever the bytes are. [C17] */
#include "derive/kit.h"

#include "derive/program.h"
#include "harness/fault.h"
#include "json/json.h"

static int write_input(vls_buf *out, kit *k, const valise_env *env, const char *params,
                       valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    valise_making making;

    vls_arena_init(&arena, env, 64 << 20);
    making = kit_making(k, &arena, NULL);
    return vls_program_input(out, &making, valise_str_of(params), err);
}

static const char *input(test *t, kit *k, const char *params)
{
    VLS_AUTO(buf) vls_buf out = {0};

    vls_buf_init(&out, t->env, 64 << 20);
    CHECK_OK(write_input(&out, k, t->env, params, &t->err));
    return test_format("%.*s", VALISE_STR_ARG(vls_buf_str(&out)));
}

static const kit_input some[] = {
    {"a.c", KIT_TEXT("te\"xt\n\0\xc3\xa4"), false, NULL, NULL},
    {"b\xff", KIT_TEXT("\x89PNG"), true, "notes", "\xfe"},
};

TEST(program_input, has_all_that_there_is_and_nothing_else)
{
    kit k = {.inputs = some, .count = 2}, none = {.count = 0}, empty = {.empty = true};

    CHECK_TEXT("{\"empty\":false,\"inputs\":[{\"agent\":\"local\",\"content\":\"te\\\"xt\\n\\u0000"
               "\xc3\xa4\",\"directory\":false,\"name\":\"a.c\",\"type\":\"summary\"},"
               "{\"agent\":{\"base64\":\"/g==\"},\"base64\":\"iVBORw==\",\"directory\":true,"
               "\"name\":{\"base64\":\"Yv8=\"},\"type\":\"notes\"}],\"params\":{\"a\":1,\"b\":[]}}",
               input(t, &k, "{ \"b\" : [], \"a\": 1.0}"));
    CHECK_TEXT("{\"empty\":false,\"inputs\":[],\"params\":{}}", input(t, &none, ""));
    CHECK_TEXT("{\"empty\":true,\"inputs\":[],\"params\":{}}", input(t, &empty, "{}"));
}

TEST(program_input, is_canonical_at_random)
{
    test_rng rng = test_rng_new(test_seed());

    for (int round = 0; round < 100; round++) {
        VLS_AUTO(buf) vls_buf out = {0};
        kit k = kit_random(&rng, false);
        valise_blob *canonical = NULL;
        vls_buf_init(&out, t->env, 64 << 20);
        CHECK_OK(write_input(&out, &k, t->env, "{\"x\":[1,2]}", &t->err));
        CHECK_OK(vls_json_canonical(&canonical, t->env, vls_buf_str(&out), &t->err));
        CHECK_STR(valise_blob_bytes(canonical), vls_buf_str(&out));
        valise_blob_unref(canonical);
    }
}

TEST(program_input, what_goes_wrong_leaves_nothing)
{
    static const struct {
        const char *params;
        size_t max, fails_at;
        int code;
    } cases[] = {
        {"[]", 1 << 20, 0, VALISE_E_INVALID},   {"3", 1 << 20, 0, VALISE_E_INVALID},
        {"{", 1 << 20, 0, VALISE_E_INVALID},    {"{}", 100, 0, VALISE_E_TOO_LARGE},
        {"{}", 1 << 20, 2, VALISE_E_NOT_FOUND},
    };

    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        VLS_AUTO(buf) vls_buf out = {0};
        kit k = {.inputs = some, .count = 2, .fails_at = cases[i].fails_at};
        vls_buf_init(&out, t->env, cases[i].max);
        vls_buf_add(&out, VLS_STR("before"));
        CHECK_RC(cases[i].code, write_input(&out, &k, t->env, cases[i].params, &t->err));
        CHECK_STR(VLS_STR("before"), vls_buf_str(&out));
    }
}

static int write_once(fault *f, void *arg)
{
    VLS_AUTO(buf) vls_buf out = {0};
    kit k = {.inputs = some, .count = 2};

    (void)arg;
    vls_buf_init(&out, f->env, 1 << 20);
    return write_input(&out, &k, f->env, "{\"a\":[1]}", &f->err);
}

TEST(program_input, without_memory)
{
    fault_each_alloc(t, 0, write_once, NULL);
    fault_each_alloc(t, FAULT_ONWARD, write_once, NULL);
}
