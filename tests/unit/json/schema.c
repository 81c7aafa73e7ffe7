/* schema.c -- checking values: messages, reports, failing allocations.
 *
 * What the keywords mean is the business of the official suite (schema_suite.c). */
#include "harness/counting_env.h"
#include "harness/fault.h"
#include "schema_fixture.h"

/* ---- messages ---- */

TEST(schema, messages_name_the_place_the_reason_and_the_keyword)
{
    static const struct {
        const char *schema, *instance, *message;
    } cases[] = {
        {"{'properties':{'turns':{'items':{'properties':{'role':{'enum':['user','model']}}}}}}",
         "{'turns':[{},{},{'role':7}]}",
         "/turns/2/role: must be one of \"user\", \"model\", is 7 (enum)"},
        {"{'type':['string','null']}", "7", "(root): must be null or a string, is 7 (type)"},
        {"{'type':'integer'}", "1.5", "(root): must be an integer, is 1.5 (type)"},
        {"{'const':'a'}", "[1]", "(root): must be \"a\", is an array of 1 item (const)"},
        {"{'enum':[1,2,3,4,5,6,7,8,9]}", "{}",
         "(root): must be one of 1, 2, 3, 4, 5, 6, 7, 8, ... (9 in all), is an object with 0 "
         "properties (enum)"},
        {"{'minimum':10}", "3", "(root): must be at least 10, is 3 (minimum)"},
        {"{'exclusiveMinimum':10}", "10", "(root): must be more than 10, is 10 (exclusiveMinimum)"},
        {"{'maximum':1e3}", "1001", "(root): must be at most 1000, is 1001 (maximum)"},
        {"{'exclusiveMaximum':0.5}", "0.5",
         "(root): must be less than 0.5, is 0.5 (exclusiveMaximum)"},
        {"{'multipleOf':0.1}", "0.35", "(root): must be a multiple of 0.1, is 0.35 (multipleOf)"},
        {"{'minLength':3}", "'\xc3\xa9\xc3\xa9'",
         "(root): must have at least 3 characters, has 2 (minLength)"},
        {"{'maxLength':1}", "'ab'", "(root): must have at most 1 characters, has 2 (maxLength)"},
        {"{'pattern':'^a'}", "'ba'", "(root): must match the pattern \"^a\", is \"ba\" (pattern)"},
        {"{'minItems':2}", "[1]", "(root): must have at least 2 items, has 1 (minItems)"},
        {"{'maxItems':0}", "[1]", "(root): must have at most 0 items, has 1 (maxItems)"},
        {"{'uniqueItems':true}", "[1,[2],3,[2.0]]",
         "(root): items 1 and 3 are equal (uniqueItems)"},
        {"{'contains':{'type':'null'}}", "[1]",
         "(root): must have at least 1 items that \"contains\" describes, has 0 (contains)"},
        {"{'contains':true,'minContains':3}", "[1]",
         "(root): must have at least 3 items that \"contains\" describes, has 1 (minContains)"},
        {"{'contains':true,'maxContains':1}", "[1,2]",
         "(root): must have at most 1 items that \"contains\" describes, has more (maxContains)"},
        {"{'required':['a','b']}", "{'a':1}", "(root): must have the property \"b\" (required)"},
        {"{'dependentRequired':{'a':['b']}}", "{'a':1}",
         "(root): must have the property \"b\" because it has \"a\" (dependentRequired)"},
        {"{'minProperties':1}", "{}",
         "(root): must have at least 1 properties, has 0 (minProperties)"},
        {"{'maxProperties':1}", "{'a':1,'b':2}",
         "(root): must have at most 1 properties, has 2 (maxProperties)"},
        {"{'additionalProperties':false}", "{'a/b~c':1}",
         "/a~1b~0c: is not allowed (additionalProperties)"},
        {"{'unevaluatedItems':false}", "[0]", "/0: is not allowed (unevaluatedItems)"},
        {"{'propertyNames':{'maxLength':2}}", "{'abc':1}",
         "(root): must have at most 2 characters, has 3 in the property name \"abc\" (maxLength)"},
        {"{'not':{'type':'string'}}", "'a'",
         "(root): must not be what \"not\" describes, is \"a\" (not)"},
        {"{'oneOf':[{'type':'integer'},{'minimum':2},{'type':'string'}]}", "3",
         "(root): must match exactly one of 3 alternatives, matches 0 and 1 (oneOf)"},
        {"{'if':{'type':'string'},'then':{'minLength':1},'else':false}", "''",
         "(root): must have at least 1 characters, has 0 (minLength)"},
        {"false", "1", "(root): is not allowed"},
    };
    fixture f;

    fixture_init(&f, t);
    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        CHECK_OK(compile(&f, cases[i].schema));
        CHECK_RC(VALISE_E_INVALID, check(&f, cases[i].instance));
        CHECK_TEXT(cases[i].message, t->err.message);
        CHECK_INT(VALISE_E_INVALID, t->err.code);
    }
    fixture_release(&f);
}

TEST(schema, failed_alternatives_name_the_one_that_came_nearest)
{
    fixture f;

    fixture_init(&f, t);
    CHECK_OK(compile(&f, "{'items':{'oneOf':["
                         "{'properties':{'kind':{'const':'text'},'text':{'type':'string'}},"
                         "'required':['kind','text']},"
                         "{'properties':{'kind':{'const':'call'},'args':{'type':'object'}},"
                         "'required':['kind','args']}]}}"));
    CHECK_RC(VALISE_E_INVALID, check(&f, "[{'kind':'call','args':{},'text':1},"
                                         "{'kind':'call','args':[]}]"));
    CHECK_TEXT("/1: matches none of 2 alternatives; nearest: /1/args must be an object, is an "
               "array of 0 items (oneOf)",
               t->err.message);
    CHECK_RC(VALISE_E_INVALID, check(&f, "[{'kind':'text'}]"));
    CHECK_TEXT("/0: matches none of 2 alternatives; nearest: /0 must have the property \"text\" "
               "(oneOf)",
               t->err.message);
    fixture_release(&f);
}

TEST(schema, long_texts_and_paths_are_cut_to_what_tells)
{
    fixture f;

    fixture_init(&f, t);
    CHECK_OK(compile(&f, "{'type':'null'}"));
    CHECK_RC(VALISE_E_INVALID, check(&f, repeat("'", "\xc3\xa9", 100, "'")));
    CHECK(strstr(t->err.message, "... (200 bytes) (type)"));
    CHECK_RC(VALISE_E_INVALID, check(&f, repeat("", "7", 100, "")));
    CHECK(strstr(t->err.message, "... (100 digits) (type)"));

    CHECK_OK(compile(&f, "{'additionalProperties':{'properties':{'end':false}}}"));
    CHECK_RC(VALISE_E_INVALID, check(&f, repeat("{'", "k", 500, "':{'end':1}}")));
    CHECK(vls_str_starts(valise_str_of(t->err.message), VLS_STR("...kkk")));
    CHECK(strstr(t->err.message, "k/end: is not allowed (properties)"));
    fixture_release(&f);
}

/* ---- reports ---- */

/* [B26] */
TEST(schema, report_lists_every_finding_with_both_places)
{
    collected c = {.len = 0};
    vls_schema_report report = {.found = collect, .arg = &c};
    fixture f;

    fixture_init(&f, t);
    CHECK_OK(compile(&f, "{'$defs':{'person':{'$id':'http://x/person','required':['name'],"
                         "'properties':{'age':{'$ref':'" META_BASE "meta/core'}}}},"
                         "'items':{'$ref':'http://x/person','maxProperties':1},"
                         "'prefixItems':[{'not':{}}],'maxItems':1}"));
    CHECK_RC(VALISE_E_INVALID,
             vls_schema_check(f.schema, js(&f, "[0,{'age':-1,'b':2}]"), &report, &t->err));
    CHECK_TEXT("|#/maxItems|maxItems|must have at most 1 items, has 2\n"
               "/0|#/prefixItems/0/not|not|must not be what \"not\" describes, is 0\n"
               "/1|#/items/maxProperties|maxProperties|must have at most 1 properties, has 2\n"
               "/1|#/$defs/person/required|required|must have the property \"name\"\n"
               "/1/age|" META_BASE "meta/core#/type|type|must be a boolean or an object, is -1\n",
               c.text);
    CHECK_INT(5, report.count);
    CHECK_TEXT("(root): must have at most 1 items, has 2 (maxItems)", t->err.message);
    fixture_release(&f);
}

TEST(schema, report_ends_at_its_maximum_or_when_told)
{
    collected c = {.len = 0};
    vls_schema_report report = {.found = collect, .arg = &c, .max_findings = 2};
    fixture f;

    fixture_init(&f, t);
    CHECK_OK(compile(&f, "{'items':{'type':'null','const':null,'minimum':5}}"));
    vls_json instance = js(&f, "[1,2,3]");
    CHECK_RC(VALISE_E_INVALID, vls_schema_check(f.schema, instance, &report, &t->err));
    CHECK_INT(2, report.count);

    c.stop_after = 3;
    report.max_findings = 0;
    CHECK_RC(VALISE_E_INVALID, vls_schema_check(f.schema, instance, &report, &t->err));
    CHECK_INT(3, report.count);
    CHECK_OK(vls_schema_check(f.schema, js(&f, "[null]"), &report, &t->err));
    CHECK_INT(0, report.count);
    fixture_release(&f);
}

TEST(schema, the_verdict_needs_neither_error_nor_report)
{
    fixture f;

    fixture_init(&f, t);
    CHECK_OK(compile(&f, "{'anyOf':[{'type':'null'},{'minLength':3}],'unevaluatedItems':false}"));
    CHECK_INT(VALISE_E_INVALID, vls_schema_check(f.schema, js(&f, "'ab'"), NULL, NULL));
    CHECK_INT(VALISE_E_INVALID, vls_schema_check(f.schema, js(&f, "[1]"), NULL, NULL));
    CHECK_INT(0, vls_schema_check(f.schema, js(&f, "'abc'"), NULL, NULL));
    fixture_release(&f);
}

/* ---- out of memory ---- */

static const char *const everything =
    "{'$id':'http://x/top','$ref':'" META "','$dynamicAnchor':'meta','type':'object',"
    "'properties':{'a':{'pattern':'^(x|y)+$','enum':['x',1,2,3,4,5,6,7,8,9]},"
    "'b':{'anyOf':[{'multipleOf':0.1},{'type':'string'}]},'c':{'uniqueItems':true}},"
    "'patternProperties':{'^d':{'$ref':'doc'}},'unevaluatedProperties':{'const':[1]},"
    "'$defs':{'d':{'$id':'doc','minItems':1,'$defs':{'e':{'$anchor':'f'}}}}}";

/* Compile and check one instance; *verdict only when nothing failed. */
static int try_all(int *verdict, const valise_env *env, const vls_json *v, valise_error *err)
{
    vls_schema_report report = {.max_findings = 0};
    VLS_AUTO(schema) vls_schema *schema = NULL;
    int rc;

    rc = vls_schema_compile(&schema, env, v[0], NULL, err);
    if (rc < 0) {
        CHECK(schema == NULL);
        return rc;
    }
    rc = vls_schema_check(schema, v[1], &report, err);
    if (rc != VALISE_E_INVALID)
        return rc;
    rc = vls_schema_check(schema, v[2], NULL, err);
    if (rc == VALISE_E_NO_MEMORY)
        return rc;
    *verdict = rc;
    return 0;
}

static int check_with_faults(fault *f, void *arg)
{
    int verdict = 1;
    int rc = try_all(&verdict, f->env, arg, &f->err);

    f->recovered = rc == 0; /* PCRE2 gets along without machine code */
    CHECK_INT(rc == 0 ? 0 : 1, verdict);
    return rc;
}

TEST(schema, every_allocation_may_fail)
{
    fixture f;

    fixture_init(&f, t);
    vls_json values[] = {
        js(&f, everything),
        js(&f, "{'a':'z','b':false,'c':[1,1],'d1':[],'e':1,'title':7}"),
        js(&f, "{'a':'x','b':0.3,'c':[1,2],'d1':[0],'e':[1],'title':'t'}"),
    };
    /* And many more where each allocation of an arena is one. */
    CHECK(fault_each_alloc(t, 0, check_with_faults, values) > 50);
    fixture_release(&f);
}
