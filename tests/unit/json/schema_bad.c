/* schema_bad.c -- what is refused when a schema is compiled, and what references lead to. */
#include "schema_fixture.h"

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
        {"{'type':[]}", "/type: does not name a type", VALISE_E_INVALID, true},
        {"{'items':[true]}",
         "/items: a schema must be an object or a boolean, is an array of 1 "
         "item",
         VALISE_E_INVALID, true},
        {"{'allOf':[]}", "/allOf: must be an array of at least one schema, is an array of 0 items",
         VALISE_E_INVALID, true},
        {"{'allOf':[{},null]}", "/allOf/1: a schema must be an object or a boolean, is null",
         VALISE_E_INVALID, true},
        {"{'minLength':-1}", "/minLength: must be a non-negative integer, is -1", VALISE_E_INVALID,
         true},
        {"{'maxItems':1.5}", "/maxItems: must be a non-negative integer, is 1.5", VALISE_E_INVALID,
         true},
        {"{'minimum':'1'}", "/minimum: must be a number, is \"1\"", VALISE_E_INVALID, true},
        {"{'multipleOf':0}", "/multipleOf: must be a number above 0, is 0", VALISE_E_INVALID, true},
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
         "/patternProperties: an unclosed character class at byte 0 of the pattern",
         VALISE_E_INVALID, false},
        {"{'allOf':[{'$anchor':'a'},{'$dynamicAnchor':'a'}]}",
         "/allOf/1/$dynamicAnchor: \"a\" is the anchor of two schemas", VALISE_E_INVALID, false},
        {"{'allOf':[{'$id':'http://a/'},{'$id':'http://a/','type':'null'}]}",
         "/allOf/1/$id: \"http://a/\" names two different schemas", VALISE_E_INVALID, false},
        {"{'$schema':'http://json-schema.org/draft-07/schema#'}",
         "/$schema: \"http://json-schema.org/draft-07/schema\" is not draft 2020-12",
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

TEST(schema, a_bad_place_in_another_document_is_named)
{
    fixture f;

    fixture_init(&f, t);
    CHECK_RC(VALISE_E_INVALID, compile(&f, "{'$ref':'" META "#/allOf'}"));
    CHECK(vls_str_starts(valise_str_of(t->err.message), VLS_STR(META "#/allOf: a schema must")));
    fixture_release(&f);
}

/* ---- references ---- */

TEST(schema, a_reference_that_leads_nowhere_is_named_at_compile_time)
{
    static const struct {
        const char *schema, *message;
    } cases[] = {
        {"{'$defs':{'a':{'$ref':'http://x/y.json#/a'}}}",
         "/$defs/a/$ref: \"http://x/y.json#/a\" leads nowhere: there is no such document "
         "here"},
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
         "/$ref: \"file:///etc/hostname\" leads nowhere: there is no such document here"},
    };
    fixture f;

    fixture_init(&f, t);
    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        CHECK_RC(VALISE_E_INVALID, compile(&f, cases[i].schema));
        CHECK_TEXT(cases[i].message, t->err.message);
    }
    CHECK_TEXT("put it under \"$defs\" with \"file:///etc/hostname\" as its \"$id\"; schemas are "
               "never fetched",
               t->err.hint);
    fixture_release(&f);
}

TEST(schema, the_compiled_schema_keeps_nothing_of_the_value)
{
    fixture f;

    fixture_init(&f, t);
    CHECK_OK(compile(&f, "{'$id':'http://x/top','$ref':'a','$defs':{"
                         "'a':{'$id':'a','properties':{'b':{'$ref':'b#here'}}},"
                         "'b':{'$id':'http://x/b','$defs':{'c':{'$anchor':'here',"
                         "'pattern':'^x','enum':['x','xx']}}}}}"));
    vls_arena_release(&f.arena);
    CHECK_OK(check(&f, "{'b':'xx'}"));
    CHECK_RC(VALISE_E_INVALID, check(&f, "{'b':'xy'}"));
    CHECK_TEXT("/b: must be one of \"x\", \"xx\", is \"xy\" (enum)", t->err.message);
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
