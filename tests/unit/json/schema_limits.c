/* schema_limits.c -- schemas and instances that want too much. */
#include "schema_fixture.h"

TEST(schema, exponential_schemas_end_at_the_step_limit)
{
    VLS_AUTO(buf) vls_buf text;
    fixture f;

    fixture_init(&f, t);
    vls_buf_init(&text, t->env, 65536);
    vls_buf_add_text(&text, "{'$ref':'#/$defs/d0','$defs':{");
    for (int i = 0; i < 60; i++)
        vls_buf_printf(&text, "'d%d':{'allOf':[{'$ref':'#/$defs/d%d'},{'$ref':'#/$defs/d%d'}]},", i,
                       i + 1, i + 1);
    vls_buf_add_text(&text, "'d60':true}}");
    CHECK_OK(compile_with(&f, vls_buf_cstr(&text), &(vls_schema_limits){.max_steps = 10000}));
    CHECK_RC(VALISE_E_LIMIT, check(&f, "1"));
    CHECK_TEXT("checking with this schema takes more than 10000 steps", t->err.message);
    fixture_release(&f);
}

TEST(schema, every_visit_costs_a_step)
{
    fixture f;

    fixture_init(&f, t);
    CHECK_OK(compile_with(&f, "{'items':true}", &(vls_schema_limits){.max_steps = 1001}));
    CHECK_OK(check(&f, repeat("[", "1,", 999, "1]")));
    CHECK_RC(VALISE_E_LIMIT, check(&f, repeat("[", "1,", 1000, "1]")));
    fixture_release(&f);
}

TEST(schema, a_schema_that_never_ends_is_noticed)
{
    static const char *const endless[] = {
        "{'$ref':'#'}",
        "{'allOf':[{'$ref':'#'}]}",
        "{'anyOf':[{'$ref':'#'},true]}",
        "{'not':{'$ref':'#'}}",
        ("{'$defs':{'a':{'$ref':'#/$defs/b'},'b':{'if':{'$ref':'#/$defs/a'},'then':true}},"
         "'$ref':'#/$defs/a'}"),
        "{'$dynamicAnchor':'x','$dynamicRef':'#x'}",
    };
    fixture f;

    fixture_init(&f, t);
    for (size_t i = 0; i < VLS_COUNT(endless); i++) {
        CHECK_OK(compile(&f, endless[i]));
        CHECK_RC(VALISE_E_LIMIT, check(&f, "[1]"));
        CHECK(strstr(t->err.message, "refers to itself without end"));
    }
    /* Recursion that goes down with the instance is fine. */
    CHECK_OK(compile(&f, "{'type':'array','items':{'$ref':'#'}}"));
    CHECK_OK(check(&f, repeat("", "[", 250, repeat("", "]", 250, ""))));
    fixture_release(&f);
}

TEST(schema, depth_has_a_limit)
{
    fixture f;

    fixture_init(&f, t);
    CHECK_OK(compile_with(&f, "{'items':{'$ref':'#'}}", &(vls_schema_limits){.max_depth = 20}));
    CHECK_OK(check(&f, "[[[[[[[[]]]]]]]]"));
    CHECK_RC(VALISE_E_LIMIT, check(&f, "[[[[[[[[[[[[]]]]]]]]]]]]"));
    CHECK_TEXT("more than 20 subschemas inside each other", t->err.message);
    /* A schema as deep as JSON may be. */
    CHECK_OK(compile(&f, repeat("", "{'not':", 256, repeat("true", "}", 256, ""))));
    CHECK_OK(check(&f, "1"));
    fixture_release(&f);
}

TEST(schema, catastrophic_patterns_end_at_a_limit)
{
    const char *text = repeat("'", "a", 60, "!'");
    fixture f;

    fixture_init(&f, t);
    CHECK_OK(compile_with(&f, "{'pattern':'^(a+)+$'}", &(vls_schema_limits){.max_steps = 100000}));
    CHECK_RC(VALISE_E_LIMIT, check(&f, text));
    CHECK_TEXT("matching the pattern \"^(a+)+$\" takes too much work", t->err.message);
    CHECK_OK(compile_with(&f, "{'patternProperties':{'^(a|a)*$':true}}",
                          &(vls_schema_limits){.max_steps = 100000}));
    CHECK_RC(VALISE_E_LIMIT, check(&f, test_format("{%s:1}", text)));

    /* "not" must not turn "nobody knows" into "valid". */
    CHECK_OK(compile_with(&f, "{'not':{'pattern':'^(a+)+$'}}",
                          &(vls_schema_limits){.max_steps = 100000}));
    CHECK_RC(VALISE_E_LIMIT, check(&f, text));
    /* Work on many texts adds up. */
    CHECK_OK(compile_with(&f, "{'items':{'pattern':'^(a|aa)+$'}}",
                          &(vls_schema_limits){.max_steps = 200000}));
    CHECK_RC(VALISE_E_INVALID, check(&f, "['aaaaaaaaaaaaaaaaaa!']"));
    CHECK_RC(VALISE_E_LIMIT,
             check(&f, repeat("[", "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',", 100000, "1]")));
    fixture_release(&f);
}

TEST(schema, patterns_have_limits_at_compile_time)
{
    fixture f;

    fixture_init(&f, t);
    CHECK_RC(VALISE_E_LIMIT, compile(&f, repeat("{'pattern':'", "a", 9000, "'}")));
    CHECK_RC(VALISE_E_LIMIT, compile(&f, repeat("{'pattern':'", "(", 200, "'}")));
    CHECK_RC(VALISE_E_LIMIT,
             compile(&f, repeat("{'allOf':[", "{'pattern':'((a{90}){90}){9}'},", 200, "true]}")));
    CHECK(strstr(t->err.message, "take more than 524288 bytes together"));
    fixture_release(&f);
}

TEST(schema, memory_has_a_limit)
{
    const char *big = repeat("{'allOf':[", "true,", 5000, "true]}");
    fixture f;

    fixture_init(&f, t);
    CHECK_RC(VALISE_E_TOO_LARGE, compile_with(&f, big, &(vls_schema_limits){.max_bytes = 100000}));
    CHECK(f.schema == NULL);
    CHECK_OK(compile_with(&f, "{'uniqueItems':true}", &(vls_schema_limits){.max_bytes = 10000}));
    CHECK_RC(VALISE_E_TOO_LARGE, check(&f, repeat("[", "1,", 5000, "1]")));
    CHECK_RC(VALISE_E_LIMIT, compile(&f, repeat("{'$ref':'", "a/", 5000, "'}")));
    CHECK_RC(VALISE_E_LIMIT, compile(&f, repeat("{'$id':'", "a/", 5000, "'}")));
    CHECK_RC(VALISE_E_LIMIT, compile(&f, repeat("{'$anchor':'", "a", 300, "'}")));
    fixture_release(&f);
}

/* The count of steps stands for time: both must grow with the items, not with their square. */
TEST(schema, unique_items_and_enum_do_not_compare_all_with_all)
{
    VLS_AUTO(buf) vls_buf items;
    const int count = 20000;
    fixture f;

    fixture_init(&f, t);
    vls_buf_init(&items, t->env, SIZE_MAX);
    vls_buf_add_byte(&items, '[');
    for (int i = 0; i < count; i++)
        vls_buf_printf(&items, "{'id':%d,'x':[%d.5]},", i, i);
    vls_buf_add_text(&items, "1e22,10000000000000000000000]");
    CHECK_OK(compile_with(&f, "{'uniqueItems':true}",
                          &(vls_schema_limits){.max_steps = (uint64_t)count * 8}));
    CHECK_RC(VALISE_E_INVALID, check(&f, vls_buf_cstr(&items)));
    CHECK_TEXT("(root): items 20000 and 20001 are equal (uniqueItems)", t->err.message);

    CHECK_OK(compile_with(&f, test_format("{'items':{'enum':%s}}", vls_buf_cstr(&items)),
                          &(vls_schema_limits){.max_steps = (uint64_t)count * 8}));
    CHECK_OK(check(&f, vls_buf_cstr(&items)));
    CHECK_RC(VALISE_E_INVALID, check(&f, "[{'id':7,'x':[8.5]}]"));
    fixture_release(&f);
}

/* A step is about one visit, so what makes a visit long must cost more. */
TEST(schema, long_constants_and_keys_cost_steps)
{
    const char *refs = repeat("'allOf':[", "{'$ref':'#/$defs/c'},", 500, "true]");
    const char *array = repeat("[", "1,", 2000, "1]");
    const char *key = repeat("", "k", 10000, "");
    vls_schema_limits limits = {.max_steps = 50000};
    fixture f;

    fixture_init(&f, t);
    CHECK_OK(
        compile_with(&f, test_format("{%s,'$defs':{'c':{'const':%s}}}", refs, array), &limits));
    CHECK_RC(VALISE_E_LIMIT, check(&f, array));
    CHECK_OK(compile_with(&f, test_format("{%s,'$defs':{'c':{'required':['%s']}}}", refs, key),
                          &limits));
    CHECK_RC(VALISE_E_LIMIT, check(&f, test_format("{'%s':1}", key)));
    CHECK_OK(compile_with(
        &f, test_format("{%s,'$defs':{'c':{'properties':{'%s':true}}}}", refs, key), &limits));
    CHECK_RC(VALISE_E_LIMIT, check(&f, test_format("{'%s':1}", key)));
    CHECK_OK(
        compile_with(&f, test_format("{%s,'$defs':{'c':{'maxLength':10000}}}", refs), &limits));
    CHECK_RC(VALISE_E_LIMIT, check(&f, test_format("'%s'", key)));
    fixture_release(&f);
}

/* Running out of steps while looking for a good message does not unmake the verdict. */
TEST(schema, a_verdict_survives_the_search_for_its_message)
{
    uint64_t invalid_at = 0;
    fixture f;

    fixture_init(&f, t);
    const char *schema = repeat("{'anyOf':[", "{'items':{'enum':[1,2]}},", 20, "{'maxItems':3}]}");
    for (uint64_t steps = 1; steps < 400 && invalid_at == 0; steps++) {
        CHECK_OK(compile_with(&f, schema, &(vls_schema_limits){.max_steps = steps}));
        int rc = check(&f, "[1,2,1,3]");
        CHECK(rc == VALISE_E_LIMIT || rc == VALISE_E_INVALID);
        if (rc == VALISE_E_INVALID)
            invalid_at = steps;
    }
    CHECK(invalid_at > 0);
    CHECK_TEXT("(root): matches none of 21 alternatives (anyOf)", t->err.message);
    CHECK_OK(compile(&f, schema));
    CHECK_RC(VALISE_E_INVALID, check(&f, "[1,2,1,3]"));
    CHECK_TEXT("(root): matches none of 21 alternatives; nearest: (root) must have at most 3 "
               "items, has 4 (anyOf)",
               t->err.message);
    fixture_release(&f);
}
