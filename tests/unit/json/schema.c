/* schema.c -- compiling schemas and checking values: messages, references, limits, failures.
 *
 * What the keywords mean is the business of the official suite (schema_suite.c). JSON is written
 * with ' for " here. */
#include "harness/counting_env.h"
#include "harness/test.h"

#include "json/schema.h"

#define META "https://json-schema.org/draft/2020-12/schema"

typedef struct fixture {
    test *t;
    vls_arena arena;
    vls_schema_set *set;
    vls_schema *schema;
} fixture;

static void fixture_init(fixture *f, test *t)
{
    *f = (fixture){.t = t};
    vls_arena_init(&f->arena, t->env, SIZE_MAX);
    CHECK_OK(vls_schema_set_new(&f->set, t->env, 0, &t->err));
}

static void fixture_release(fixture *f)
{
    vls_schema_free(f->schema);
    vls_schema_set_free(f->set);
    vls_arena_release(&f->arena);
}

static vls_json js(fixture *f, const char *text)
{
    test *t = f->t;
    size_t len = strlen(text);
    char *copy = test_alloc(len + 1);
    vls_json v;

    for (size_t i = 0; i < len; i++)
        copy[i] = text[i] == '\'' ? '"' : text[i];
    CHECK_OK(vls_json_parse(&v, &f->arena, vls_str(copy, len), NULL, &t->err));
    return v;
}

static int compile_with(fixture *f, const char *text, const vls_schema_limits *limits)
{
    vls_schema_free(f->schema);
    f->schema = NULL;
    return vls_schema_compile(&f->schema, f->t->env, js(f, text), f->set, limits, &f->t->err);
}

static int compile(fixture *f, const char *text)
{
    return compile_with(f, text, NULL);
}

static int check(fixture *f, const char *instance)
{
    return vls_schema_check(f->schema, js(f, instance), NULL, &f->t->err);
}

/* A string of count times unit between head and tail. */
static const char *repeat(const char *head, const char *unit, size_t count, const char *tail)
{
    size_t unit_len = strlen(unit), at = strlen(head);
    char *text = test_alloc(at + unit_len * count + strlen(tail) + 1);

    memcpy(text, head, at);
    for (size_t i = 0; i < count; i++, at += unit_len)
        memcpy(text + at, unit, unit_len);
    memcpy(text + at, tail, strlen(tail) + 1);
    return text;
}

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

typedef struct collected {
    char text[1024];
    size_t len;
    int stop_after;
} collected;

static int collect(void *arg, const vls_schema_finding *finding)
{
    collected *c = arg;

    c->len +=
        (size_t)snprintf(c->text + c->len, sizeof(c->text) - c->len, "%.*s|%.*s#%.*s|%.*s|%.*s\n",
                         VALISE_STR_ARG(finding->instance_path),
                         VALISE_STR_ARG(finding->schema_uri), VALISE_STR_ARG(finding->schema_path),
                         VALISE_STR_ARG(finding->keyword), VALISE_STR_ARG(finding->reason));
    return --c->stop_after == 0;
}

/* [B26] */
TEST(schema, report_lists_every_finding_with_both_places)
{
    collected c = {.len = 0};
    vls_schema_report report = {.found = collect, .arg = &c};
    fixture f;

    fixture_init(&f, t);
    CHECK_OK(vls_schema_set_add(f.set, VLS_STR("http://x/person"),
                                js(&f, "{'required':['name'],'properties':{'age':{'minimum':0}}}"),
                                &t->err));
    CHECK_OK(compile(&f, "{'items':{'$ref':'http://x/person','maxProperties':1},"
                         "'prefixItems':[{'not':{}}],'maxItems':1}"));
    CHECK_RC(VALISE_E_INVALID,
             vls_schema_check(f.schema, js(&f, "[0,{'age':-1,'b':2}]"), &report, &t->err));
    CHECK_TEXT("|#/maxItems|maxItems|must have at most 1 items, has 2\n"
               "/0|#/prefixItems/0/not|not|must not be what \"not\" describes, is 0\n"
               "/1|#/items/maxProperties|maxProperties|must have at most 1 properties, has 2\n"
               "/1|http://x/person#/required|required|must have the property \"name\"\n"
               "/1/age|http://x/person#/properties/age/minimum|minimum|must be at least 0, is -1\n",
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

/* ---- schemas that are none ---- */

/* Where also is set the metaschema must refuse it too: two opinions that ought to agree. */
TEST(schema, bad_schemas_are_refused_with_their_place)
{
    static const struct {
        const char *schema, *message;
        int code;
        bool also;
    } cases[] = {
        {"7", "(root): a schema must be an object or a boolean, is 7", VALISE_E_INVALID, true},
        {"{'properties':{'a/b':{'type':'text'}}}",
         "/properties/a~1b/type: must be null, boolean, object, array, number, string or integer, "
         "or an array of those",
         VALISE_E_INVALID, true},
        {"{'type':['string','string']}", "/type: has \"string\" twice", VALISE_E_INVALID, true},
        {"{'type':[]}", "/type: names no type", VALISE_E_INVALID, true},
        {"{'items':[true]}",
         "/items: a schema must be an object or a boolean, is an array of 1 "
         "item",
         VALISE_E_INVALID, true},
        {"{'allOf':[]}", "/allOf: must be an array of at least one schema, is an array of 0 items",
         VALISE_E_INVALID, true},
        {"{'allOf':[{},null]}", "/allOf/1: a schema must be an object or a boolean, is null",
         VALISE_E_INVALID, true},
        {"{'minLength':-1}", "/minLength: must be an integer that is not negative, is -1",
         VALISE_E_INVALID, true},
        {"{'maxItems':1.5}", "/maxItems: must be an integer that is not negative, is 1.5",
         VALISE_E_INVALID, true},
        {"{'minimum':'1'}", "/minimum: must be a number, is \"1\"", VALISE_E_INVALID, true},
        {"{'multipleOf':0}", "/multipleOf: must be a number over 0, is 0", VALISE_E_INVALID, true},
        {"{'uniqueItems':1}", "/uniqueItems: must be a boolean, is 1", VALISE_E_INVALID, true},
        {"{'deprecated':1}", "/deprecated: must be a boolean, is 1", VALISE_E_INVALID, true},
        {"{'required':'a'}", "/required: must be an array of strings", VALISE_E_INVALID, true},
        {"{'required':[1]}", "/required: must be an array of strings", VALISE_E_INVALID, true},
        {"{'required':['a','a']}", "/required: has \"a\" twice", VALISE_E_INVALID, true},
        {"{'dependentRequired':{'a':['b','b']}}", "/dependentRequired: has \"b\" twice",
         VALISE_E_INVALID, true},
        {"{'dependentRequired':[]}",
         "/dependentRequired: must be an object, is an array of 0 items", VALISE_E_INVALID, true},
        {"{'enum':1}", "/enum: must be an array, is 1", VALISE_E_INVALID, true},
        {"{'title':1}", "/title: must be a string, is 1", VALISE_E_INVALID, true},
        {"{'examples':1}", "/examples: must be an array, is 1", VALISE_E_INVALID, true},
        {"{'format':1}", "/format: must be a string, is 1", VALISE_E_INVALID, true},
        {"{'contentSchema':1}", "/contentSchema: a schema must be an object or a boolean, is 1",
         VALISE_E_INVALID, true},
        {"{'properties':[]}", "/properties: must be an object of schemas, is an array of 0 items",
         VALISE_E_INVALID, true},
        {"{'$defs':{'a':1}}", "/$defs/a: a schema must be an object or a boolean, is 1",
         VALISE_E_INVALID, true},
        {"{'$ref':1}", "/$ref: must be a string, is 1", VALISE_E_INVALID, true},
        {"{'$id':1}", "/$id: must be a string, is 1", VALISE_E_INVALID, true},
        {"{'$id':'a#b'}", "/$id: must be a URI reference without fragment, is \"a#b\"",
         VALISE_E_INVALID, true},
        {"{'$anchor':'1a'}",
         "/$anchor: must be a letter or \"_\" and then letters, digits, \"-\", \".\" or \"_\", is "
         "\"1a\"",
         VALISE_E_INVALID, true},
        {"{'$vocabulary':{'a':1}}", "/$vocabulary: must have booleans only", VALISE_E_INVALID,
         true},
        {"{'$schema':1}", "/$schema: must be a string, is 1", VALISE_E_INVALID, true},
        {"{'pattern':'('}", "/pattern: the pattern: missing closing parenthesis", VALISE_E_INVALID,
         false},
        {"{'pattern':'a\\\\Zb'}",
         "/pattern: an escape that ECMA-262 does not have at byte 1 of the pattern",
         VALISE_E_INVALID, false},
        {"{'patternProperties':{'[':true}}",
         "/patternProperties: a class that is not closed at byte 0 of the pattern",
         VALISE_E_INVALID, false},
        {"{'allOf':[{'$anchor':'a'},{'$dynamicAnchor':'a'}]}",
         "/allOf/1/$dynamicAnchor: \"a\" is the anchor of two schemas", VALISE_E_INVALID, false},
        {"{'allOf':[{'$id':'http://a/'},{'$id':'http://a/','type':'null'}]}",
         "/allOf/1/$id: \"http://a/\" names two different schemas", VALISE_E_INVALID, false},
        {"{'$schema':'http://json-schema.org/draft-07/schema#'}",
         "/$schema: \"http://json-schema.org/draft-07/schema\" is neither draft 2020-12 nor in "
         "the set",
         VALISE_E_UNSUPPORTED, false},
    };
    VLS_AUTO(schema) vls_schema *meta = NULL;
    fixture f;

    fixture_init(&f, t);
    CHECK_OK(compile(&f, "{'$ref':'" META "'}"));
    meta = VLS_TAKE(f.schema);
    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        CHECK_RC(cases[i].code, compile(&f, cases[i].schema));
        CHECK(f.schema == NULL);
        CHECK_TEXT(cases[i].message, t->err.message);
        CHECK_RC(cases[i].also ? VALISE_E_INVALID : 0,
                 vls_schema_check(meta, js(&f, cases[i].schema), NULL, &t->err));
    }
    fixture_release(&f);
}

TEST(schema, a_bad_document_of_the_set_is_named)
{
    fixture f;

    fixture_init(&f, t);
    CHECK_OK(
        vls_schema_set_add(f.set, VLS_STR("http://x/bad"), js(&f, "{'not':{'type':1}}"), &t->err));
    CHECK_OK(compile(&f, "{'properties':{'a':{}}}")); /* nobody refers to it */
    CHECK_RC(VALISE_E_INVALID, compile(&f, "{'$ref':'http://x/bad'}"));
    CHECK(vls_str_starts(valise_str_of(t->err.message), VLS_STR("http://x/bad#/not/type: must")));
    fixture_release(&f);
}

/* ---- references and the set ---- */

TEST(schema, a_reference_that_leads_nowhere_is_named_at_compile_time)
{
    static const struct {
        const char *schema, *message;
    } cases[] = {
        {"{'$defs':{'a':{'$ref':'http://x/y.json#/a'}}}",
         "/$defs/a/$ref: \"http://x/y.json#/a\" leads nowhere: there is no such document in the "
         "set"},
        {"{'$ref':'#/$defs/a'}",
         "/$ref: \"#/$defs/a\" leads nowhere: there is nothing at that place"},
        {"{'allOf':[{'$ref':'#/allOf/01'}]}",
         "/allOf/0/$ref: \"#/allOf/01\" leads nowhere: there is nothing at that place"},
        {"{'$ref':'#a'}", "/$ref: \"#a\" leads nowhere: there is no such anchor"},
        {"{'$dynamicRef':'#a'}", "/$dynamicRef: \"#a\" leads nowhere: there is no such anchor"},
        {"{'$ref':'#/a%2'}", "/$ref: \"#/a%2\" leads nowhere: a \"%\" in it is malformed"},
        {"{'$ref':'#/a~2'}",
         "/$ref: \"#/a~2\" leads nowhere: its JSON Pointer is malformed or too long"},
        {"{'$ref':'file:///etc/hostname'}",
         "/$ref: \"file:///etc/hostname\" leads nowhere: there is no such document in the set"},
    };
    fixture f;

    fixture_init(&f, t);
    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        CHECK_RC(VALISE_E_INVALID, compile(&f, cases[i].schema));
        CHECK_TEXT(cases[i].message, t->err.message);
    }
    CHECK_TEXT("add \"file:///etc/hostname\" to the set; schemas are never fetched", t->err.hint);
    fixture_release(&f);
}

TEST(schema, the_compiled_schema_keeps_nothing_of_set_and_value)
{
    fixture f;

    fixture_init(&f, t);
    CHECK_OK(vls_schema_set_add(f.set, VLS_STR("http://x/a"),
                                js(&f, "{'properties':{'b':{'$ref':'b#here'}}}"), &t->err));
    CHECK_OK(vls_schema_set_add(f.set, (valise_str){NULL, 0},
                                js(&f, "{'$id':'http://x/b','$defs':{'c':{'$anchor':'here',"
                                       "'pattern':'^x','enum':['x','xx']}}}"),
                                &t->err));
    CHECK_OK(compile(&f, "{'$id':'http://x/top','$ref':'a'}"));
    vls_schema_set_free(f.set);
    f.set = NULL;
    vls_arena_release(&f.arena);
    CHECK_OK(check(&f, "{'b':'xx'}"));
    CHECK_RC(VALISE_E_INVALID, check(&f, "{'b':'xy'}"));
    CHECK_TEXT("/b: must be one of \"x\", \"xx\", is \"xy\" (enum)", t->err.message);
    fixture_release(&f);
}

TEST(schema, set_refuses_names_it_has_and_documents_without_name)
{
    fixture f;

    fixture_init(&f, t);
    vls_json v = js(&f, "{'$id':'http://x/id'}");
    CHECK_OK(vls_schema_set_add(f.set, VLS_STR("http://x/a#"), v, &t->err));
    CHECK_RC(VALISE_E_EXISTS, vls_schema_set_add(f.set, VLS_STR("http://x/a"), v, &t->err));
    CHECK_TEXT("schema \"http://x/a\" is in the set already", t->err.message);
    CHECK_RC(VALISE_E_EXISTS, vls_schema_set_add(f.set, VLS_STR("http://x/b"), v, &t->err));
    CHECK_TEXT("schema \"http://x/id\" is in the set already", t->err.message);
    CHECK_RC(VALISE_E_INVALID, vls_schema_set_add(f.set, VLS_STR(""), js(&f, "{}"), &t->err));
    CHECK_RC(VALISE_E_INVALID, vls_schema_set_add(f.set, VLS_STR("a#b"), js(&f, "{}"), &t->err));
    /* The refused ones left nothing: b is still free. */
    CHECK_OK(vls_schema_set_add(f.set, VLS_STR("http://x/b"), js(&f, "false"), &t->err));
    CHECK_OK(compile(&f, "{'$ref':'http://x/b'}"));
    CHECK_RC(VALISE_E_INVALID, check(&f, "1"));
    fixture_release(&f);
}

TEST(schema, places_nobody_took_for_a_schema_can_be_referred_to)
{
    collected c = {.len = 0};
    vls_schema_report report = {.found = collect, .arg = &c};
    fixture f;

    fixture_init(&f, t);
    CHECK_OK(compile(&f, "{'$ref':'#/x-parts/0/a~1b','x-parts':[{'a/b':{'type':'null',"
                         "'not':{'$ref':'#/x-parts/1'}}},false]}"));
    CHECK_OK(check(&f, "null"));
    CHECK_RC(VALISE_E_INVALID, check(&f, "1"));
    CHECK_OK(compile(&f, "{'$ref':'#/definitions/a','definitions':{'a':{'type':'null'}}}"));
    CHECK_RC(VALISE_E_INVALID, check(&f, "1"));
    CHECK_OK(compile(&f, "{'$ref':'#/$defs/a/x/y%20z','$defs':{'a':{'x':{'y z':{'const':2}}}}}"));
    CHECK_RC(VALISE_E_INVALID, vls_schema_check(f.schema, js(&f, "1"), &report, &t->err));
    CHECK_TEXT("|#/$defs/a/x/y z/const|const|must be 2, is 1\n", c.text);
    fixture_release(&f);
}

TEST(schema, one_piece_bundled_twice_is_one_piece)
{
    const char *piece = "{'$id':'http://x/piece','type':'null'}";
    fixture f;

    fixture_init(&f, t);
    CHECK_OK(compile(&f, test_format("{'$ref':'http://x/piece','$defs':{'a':%s,'b':{'$id':"
                                     "'http://x/b','$defs':{'c':%s}}}}",
                                     piece, piece)));
    CHECK_RC(VALISE_E_INVALID, check(&f, "1"));
    fixture_release(&f);
}

TEST(schema, vocabularies_that_are_required_must_be_known)
{
    fixture f;

    fixture_init(&f, t);
    CHECK_OK(vls_schema_set_add(
        f.set, VLS_STR("http://x/meta"),
        js(&f, "{'$vocabulary':{'https://json-schema.org/draft/2020-12/vocab/core':true,"
               "'https://json-schema.org/draft/2020-12/vocab/format-assertion':true}}"),
        &t->err));
    CHECK_RC(VALISE_E_UNSUPPORTED, compile(&f, "{'$schema':'http://x/meta'}"));
    CHECK_TEXT("/$schema: requires the unknown vocabulary "
               "\"https://json-schema.org/draft/2020-12/vocab/format-assertion\"",
               t->err.message);

    /* Without the validation vocabulary "type" is a word like any other, even malformed. */
    CHECK_OK(vls_schema_set_add(
        f.set, VLS_STR("http://x/less"),
        js(&f, "{'$vocabulary':{'https://json-schema.org/draft/2020-12/vocab/core':true}}"),
        &t->err));
    CHECK_OK(compile(&f, "{'$schema':'http://x/less','type':7,'not':{}}"));
    CHECK_OK(check(&f, "1"));
    fixture_release(&f);
}

TEST(schema, the_metaschemas_accept_each_other)
{
    static const char *const names[] = {
        "schema",          "meta/core",      "meta/applicator",        "meta/unevaluated",
        "meta/validation", "meta/meta-data", "meta/format-annotation", "meta/format-assertion",
        "meta/content"};
    fixture f;

    fixture_init(&f, t);
    for (size_t i = 0; i < VLS_COUNT(names); i++) {
        const char *uri = test_format("https://json-schema.org/draft/2020-12/%s", names[i]);
        CHECK_OK(compile(&f, test_format("{'$ref':'%s'}", uri)));
        CHECK_OK(check(&f, "{'type':'object','format':'x','properties':{'a':{'$ref':'#'}}}"));
        CHECK_RC(VALISE_E_INVALID, check(&f, "7"));
    }
    fixture_release(&f);
}

/* ---- limits ---- */

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
    CHECK_TEXT("checking against the schema takes more than 10000 steps", t->err.message);
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

/* ---- out of memory ---- */

static const char *const everything =
    "{'$id':'http://x/top','$ref':'" META "','$dynamicAnchor':'meta','type':'object',"
    "'properties':{'a':{'pattern':'^(x|y)+$','enum':['x',1,2,3,4,5,6,7,8,9]},"
    "'b':{'anyOf':[{'multipleOf':0.1},{'type':'string'}]},'c':{'uniqueItems':true}},"
    "'patternProperties':{'^d':{'$ref':'doc'}},'unevaluatedProperties':{'const':[1]}}";

/* Compile and check one instance; *verdict only when nothing failed. */
static int try_all(int *verdict, const valise_env *env, const vls_json *v, valise_error *err)
{
    vls_schema_report report = {.max_findings = 0};
    VLS_AUTO(schema_set) vls_schema_set *set = NULL;
    VLS_AUTO(schema) vls_schema *schema = NULL;
    int rc;

    rc = vls_schema_set_new(&set, env, 0, err);
    if (rc == 0)
        rc = vls_schema_set_add(set, VLS_STR("http://x/doc"), v[1], err);
    if (rc == 0)
        rc = vls_schema_compile(&schema, env, v[0], set, NULL, err);
    if (rc < 0) {
        CHECK(schema == NULL);
        return rc;
    }
    rc = vls_schema_check(schema, v[2], &report, err);
    if (rc != VALISE_E_INVALID)
        return rc;
    rc = vls_schema_check(schema, v[3], NULL, err);
    if (rc == VALISE_E_NO_MEMORY)
        return rc;
    *verdict = rc;
    return 0;
}

TEST(schema, a_set_that_ran_out_of_memory_is_as_it_was)
{
    fixture f;

    fixture_init(&f, t);
    vls_json document = js(&f, "{'$id':'http://x/id','type':'null'}");
    for (long long n = 0;; n++) {
        counting_env counting; /* first: the set is released before it ends */
        VLS_AUTO(schema_set) vls_schema_set *set = NULL;
        VLS_AUTO(schema) vls_schema *schema = NULL;
        counting_env_init(&counting);
        CHECK_OK(vls_schema_set_new(&set, &counting.env, 0, &t->err));
        counting_env_fail_at(&counting, n);
        int rc = vls_schema_set_add(set, VLS_STR("http://x/a"), document, &t->err);
        counting_env_fail_at(&counting, -1);
        if (rc == 0)
            break;
        CHECK_INT(VALISE_E_NO_MEMORY, rc);
        CHECK_OK(vls_schema_set_add(set, VLS_STR("http://x/a"), document, &t->err));
        CHECK_OK(vls_schema_compile(&schema, t->env, js(&f, "{'$ref':'http://x/id'}"), set, NULL,
                                    &t->err));
        CHECK_RC(VALISE_E_INVALID, vls_schema_check(schema, js(&f, "1"), NULL, &t->err));
    }
    fixture_release(&f);
}

TEST(schema, every_allocation_may_fail)
{
    int failures = 0, verdict = 1;
    fixture f;

    fixture_init(&f, t);
    const vls_json values[] = {
        js(&f, everything),
        js(&f, "{'$id':'http://x/other','minItems':1,'$defs':{'e':{'$anchor':'f'}}}"),
        js(&f, "{'a':'z','b':false,'c':[1,1],'d1':[],'e':1,'title':7}"),
        js(&f, "{'a':'x','b':0.3,'c':[1,2],'d1':[0],'e':[1],'title':'t'}"),
    };
    for (long long n = 0;; n++) {
        counting_env counting;
        counting_env_init(&counting);
        counting_env_fail_at(&counting, n);
        int rc = try_all(&verdict, &counting.env, values, &t->err);
        CHECK_INT(0, counting_env_in_use(&counting));
        if (rc == 0 && !atomic_load(&counting.failed))
            break;
        /* PCRE2 gets along without machine code, so a failure may also go unnoticed. */
        CHECK_MSG(rc == VALISE_E_NO_MEMORY || rc == 0, "allocation %lld: %s (%s)", n,
                  valise_error_name(rc), t->err.message);
        failures++;
    }
    CHECK_INT(0, verdict);
    CHECK(failures > 50); /* and many more where each allocation of an arena is one */
    test_note("schema: %d allocations failed in turn", failures);
    fixture_release(&f);
}
