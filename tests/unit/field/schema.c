/* schema.c -- tables as JSON Schemas, tables as JSON and back. [K6] */
#include "harness/fault.h"
#include "json/schema.h"
#include "kit.h"

/* ---- the schema and decoding agree ---- */

/* Good for some type, bad for most. */
static const char *const values[] = {
    "null",
    "true",
    "0",
    "1",
    "-1",
    "1048576",
    "1048577",
    "1.5",
    "1e3",
    "1e22",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775807",
    "-9223372036854775808",
    "\"\"",
    "\"text\"",
    "\"QQ==\"",
    "\"QR==\"",
    "\"QUI=\"",
    "\"QUJ=\"",
    "\"QUJD\"",
    "\"QUJDQ\"",
    "\"QU JD\"",
    "\"QQ==QQ==\"",
    "\"2026-01-02T03:04:05Z\"",
    "\"2026-01-02t03:04:05.123456789+23:59\"",
    "\"2026-01-02 03:04:05Z\"",
    "\"2026-13-02T03:04:05Z\"",
    "\"2026-01-32T03:04:05Z\"",
    "\"2026-01-02T24:04:05Z\"",
    "\"2026-01-02T03:04:60Z\"",
    "\"2026-01-02T03:04:05\"",
    "\"1676-01-02T03:04:05Z\"",
    "\"2263-01-02T03:04:05Z\"",
    "\"90s\"",
    "\"90\"",
    "\"s\"",
    "\"007ns\"",
    "\"-1s\"",
    "\"1y\"",
    "\"017f22e2-79b0-7cc3-98c4-dc0c0c07398f\"",
    "\"017F22E2-79B0-7CC3-98C4-DC0C0C07398F\"",
    "\"00000000-0000-0000-0000-000000000000\"",
    "\"017f22e279b07cc398c4dc0c0c07398f\"",
    "\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"",
    "\"E3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"",
    "\"0000000000000000000000000000000000000000000000000000000000000000\"",
    "\"none\"",
    "\"tool-result\"",
    "[]",
    "[null]",
    "[1]",
    "[\"a\",\"b\"]",
    "[[\"a\"],[]]",
    "{}",
    "{\"text\":\"a\"}",
    "{\"text\":\"a\",\"marks\":[1,-1000]}",
    "{\"text\":\"a\",\"marks\":[1001]}",
    "{\"text\":\"a\",\"mark\":[1]}",
    "{\"text\":1}",
    "{\"type\":\"text\",\"text\":\"a\"}",
    "{\"type\":\"text\"}",
    "{\"type\":\"tool_call\"}",
    "{\"type\":\"tool_call\",\"text\":\"a\"}",
    "{\"type\":\"other\"}",
    "{\"type\":1,\"text\":\"a\"}",
    "[{\"what\":{\"type\":\"tool_call\",\"callId\":null,\"name\":\"n\"}}]",
    "[{\"what\":{\"type\":\"tool_call\"},\"open\":{\"kind\":\"new\",\"any\":[{}]}}]",
    "[{\"what\":{\"type\":\"tool_call\"},\"open\":{\"kind\":\"text\",\"any\":[{}]}}]",
    "[{\"what\":{\"type\":\"tool_call\"},\"open\":{\"kind\":\"text\",\"text\":\"\"}}]",
    "[{\"what\":{\"type\":\"tool_call\"},\"open\":{\"any\":1}}]",
    "[{\"what\":null}]",
    "[{}]",
};

#define KEY "\"id\":\"017f22e2-79b0-7cc3-98c4-dc0c0c07398f\""

static vls_schema *compile(test *t, vls_arena *arena, const valise_field *fields)
{
    vls_schema *schema = NULL;
    vls_json v;

    CHECK_OK(vls_fields_schema(&v, fields, arena, &t->err));
    CHECK_OK(vls_schema_compile(&schema, t->env, v, NULL, &t->err));
    return schema;
}

static bool agree(test *t, const vls_schema *schema, const char *text)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    kit_all row;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json v = kit_parse(t, &arena, text);
    int decoded =
        vls_fields_decode(&row, kit_all_fields, sizeof(row), v, VLS_FIELD_INPUT, &arena, &t->err);
    int valid = vls_schema_check(schema, v, NULL, &t->err);
    CHECK(valid == 0 || valid == VALISE_E_INVALID);
    CHECK_MSG((decoded == 0) == (valid == 0), "decode says %d and the schema %d of %s: %s", decoded,
              valid, text, t->err.message);
    return valid == 0;
}

TEST(field_schema, accepts_what_decoding_accepts)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(schema) vls_schema *schema = NULL;
    unsigned good = 0, bad = 0;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    schema = compile(t, &arena, kit_all_fields);
    for (const valise_field *f = kit_all_fields + 1; f->type != VALISE_T_END; f++) {
        const char *names = strcmp(f->name, "names") == 0 ? "" : ",\"names\":[]";
        for (size_t i = 0; i < VLS_COUNT(values); i++) {
            bool ok =
                agree(t, schema, test_format("{" KEY "%s,\"%s\":%s}", names, f->name, values[i]));
            good += ok;
            bad += !ok;
        }
    }
    test_note("%u good, %u bad", good, bad);
    CHECK(good > 400 && bad > 1500);
}

TEST(field_schema, what_is_missing_or_too_much)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(schema) vls_schema *schema = NULL;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    schema = compile(t, &arena, kit_all_fields);
    CHECK(agree(t, schema, "{" KEY ",\"names\":[]}"));
    CHECK(!agree(t, schema, "{\"names\":[]}"));
    CHECK(!agree(t, schema, "{" KEY "}"));
    CHECK(!agree(t, schema, "{" KEY ",\"names\":[],\"other\":1}"));
    CHECK(!agree(t, schema, "{" KEY ",\"names\":null}"));
    CHECK(!agree(t, schema, "[]"));
    CHECK(!agree(t, schema, "1"));
}

typedef struct limited {
    valise_str secret, bytes;
    valise_list list;
    double real;
    valise_content data;
} limited;

static const valise_field any_item = {.type = VALISE_T_JSON};
static const valise_field limited_fields[] = {
    VALISE_FIELD_WITH(limited, secret, STR, VALISE_SECRET, "A key.", .min = 5, .max = 9),
    VALISE_FIELD_WITH(limited, bytes, BYTES, 0, NULL, .min = 1, .max = 3),
    VALISE_FIELD_WITH(limited, list, LIST, 0, NULL, .min = 1, .max = 2, .more = &any_item),
    VALISE_FIELD_WITH(limited, real, REAL, 0, NULL, .min = -1, .max = 1),
    VALISE_FIELD_WITH(limited, data, DATA, 0, NULL, .min = 0, .max = INT64_MAX),
    VALISE_FIELD_END,
};

TEST(field_schema, of_limits_and_secrets)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(buf) vls_buf text = {0};
    vls_json v;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_buf_init(&text, t->env, SIZE_MAX);
    CHECK_OK(vls_fields_check(limited_fields, sizeof(limited), &t->err));
    CHECK_OK(vls_fields_schema(&v, limited_fields, &arena, &t->err));
    CHECK_OK(vls_json_write(&text, *vls_json_get(v, VLS_STR("properties")), &t->err));
    const char *base64 = "\"contentEncoding\":\"base64\",";
    const char *pattern = "\"pattern\":\"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|"
                          "[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$\",\"type\":\"string\"}";
    CHECK_TEXT(
        test_format("{\"bytes\":{%s\"maxLength\":4,\"minLength\":4,%s,"
                    "\"data\":{%s%s,"
                    "\"list\":{\"items\":{},\"maxItems\":2,\"minItems\":1,\"type\":\"array\"}"
                    ",\"real\":{\"maximum\":1,\"minimum\":-1,\"type\":\"number\"},"
                    "\"secret\":{\"description\":\"A key.\",\"maxLength\":9,\"minLength\":2,"
                    "\"type\":\"string\",\"writeOnly\":true}}",
                    base64, pattern, base64, pattern),
        vls_buf_cstr(&text));
}

/* ---- descriptions ---- */

/* A restored table reads and writes the same rows and texts, whatever its struct looks like. */
TEST(field_describe, a_restored_table_reads_and_writes_the_same)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    test_rng rng = test_rng_new(test_seed());
    size_t size, count = vls_fields_count(kit_all_fields);
    const valise_field *fields;
    vls_json v, again;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    CHECK_OK(vls_fields_describe(&v, kit_all_fields, &arena, &t->err));
    CHECK_OK(vls_fields_restore(&fields, &size, v, &arena, &t->err));
    CHECK_OK(vls_fields_describe(&again, fields, &arena, &t->err));
    CHECK(vls_json_equal(v, again));
    CHECK_INT(count, vls_fields_count(fields));
    for (unsigned round = 0; round < 200; round++) {
        VLS_AUTO(arena) vls_arena local = {0};
        valise_cell cells[VALISE_MAX_COLUMNS], same[VALISE_MAX_COLUMNS];
        void *row = test_alloc(size);
        kit_all a;

        vls_arena_init(&local, t->env, SIZE_MAX);
        kit_random(&rng, &a, kit_all_fields, sizeof(a), VLS_FIELD_LOGGED);
        CHECK_OK(vls_row_to_cells(cells, &a, kit_all_fields, &local, &t->err));
        CHECK_OK(vls_row_from_cells(row, fields, size, cells, count, &local, &t->err));
        CHECK_OK(vls_row_to_cells(same, row, fields, &local, &t->err));
        CHECK(vls_cells_equal(cells, same, count));
        valise_str text = kit_write(t, &a, kit_all_fields, VLS_FIELD_LOGGED, 0);
        CHECK_STR(text, kit_write(t, row, fields, VLS_FIELD_LOGGED, 0));
        CHECK_OK(vls_fields_decode(row, fields, size, kit_parse(t, &local, text.ptr),
                                   VLS_FIELD_LOGGED, &local, &t->err));
        CHECK_STR(text, kit_write(t, row, fields, VLS_FIELD_LOGGED, 0));
    }
}

TEST(field_describe, of_a_session)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(buf) vls_buf text = {0};
    vls_json v;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_buf_init(&text, t->env, SIZE_MAX);
    CHECK_OK(vls_fields_describe(&v, kit_session_fields, &arena, &t->err));
    CHECK_OK(vls_json_write(&text, v, &t->err));
    CHECK_TEXT("{\"fields\":[{\"flags\":[\"required\",\"key\"],\"name\":\"id\",\"type\":\"uuid\"},"
               "{\"flags\":[\"nullable\",\"content\"],\"name\":\"title\",\"type\":\"str\"},"
               "{\"name\":\"state\",\"names\":[\"open\",\"closed\"],\"type\":\"enum\"},"
               "{\"name\":\"actor\",\"type\":\"str\"},"
               "{\"name\":\"turnCount\",\"type\":\"int\"},"
               "{\"flags\":[\"nullable\"],\"name\":\"tip\",\"ref\":\"object\",\"type\":\"id\"},"
               "{\"name\":\"createdAt\",\"type\":\"time\"},"
               "{\"name\":\"updatedAt\",\"type\":\"time\"}]}",
               vls_buf_cstr(&text));
}

/* Descriptions come from files. [K25] */
TEST(field_describe, refuses_what_is_no_table)
{
    static const struct {
        const char *text, *path, *message;
    } cases[] = {
        {"1", "", "must be an object, not an integer"},
        {"{}", "fields", "'fields' is missing"},
        {"{\"fields\":[1]}", "fields[0]", "'item' must be an object, not an integer"},
        {"{\"fields\":[{\"name\":\"a\"}]}", "fields[0].type", "'type' is missing"},
        {"{\"fields\":[{\"name\":\"a\",\"type\":\"end\"}]}", "fields[0].type", NULL},
        {"{\"fields\":[{\"type\":\"int\"}]}", "?", NULL},
        {"{\"fields\":[{\"name\":\"A\",\"type\":\"int\"}]}", "A", NULL},
        {"{\"fields\":[{\"name\":\"a\\u0000b\",\"type\":\"int\"}]}", "", "a name with a NUL in it"},
        {"{\"fields\":[{\"name\":\"a\",\"type\":\"enum\"}]}", "a", "lacks .more"},
        {"{\"fields\":[{\"name\":\"a\",\"type\":\"enum\",\"names\":[]}]}", "a", "no names"},
        {"{\"fields\":[{\"name\":\"a\",\"type\":\"enum\",\"names\":[\"x\\u0000\"]}]}", "",
         "a name with a NUL in it"},
        {"{\"fields\":[{\"name\":\"a\",\"type\":\"list\"}]}", "a", "lacks .more"},
        {"{\"fields\":[{\"name\":\"a\",\"type\":\"struct\"}]}", "a", "lacks .more"},
        {"{\"fields\":[{\"name\":\"a\",\"type\":\"union\"}]}", "a", "lacks .more"},
        {"{\"fields\":[{\"name\":\"a\",\"type\":\"union\",\"cases\":[]}]}", "a", NULL},
        {"{\"fields\":[{\"name\":\"a\",\"type\":\"union\",\"tag\":\"t\",\"cases\":[]}]}", "a",
         "no cases"},
        {"{\"fields\":[{\"name\":\"a\",\"type\":\"union\",\"tag\":\"t\",\"cases\":[{\"name\":\"x\","
         "\"fields\":[{\"name\":\"t\",\"type\":\"int\"}]}]}]}",
         "a.x.t", "has the name of the tag"},
        {"{\"fields\":[{\"name\":\"a\",\"type\":\"int\",\"flags\":[\"none\"]}]}",
         "fields[0].flags[0]", NULL},
        {"{\"fields\":[{\"name\":\"a\",\"type\":\"int\",\"min\":2,\"max\":1}]}", "a", NULL},
        {"{\"fields\":[{\"name\":\"a\",\"type\":\"int\",\"offset\":9}]}", "fields[0].offset",
         "unknown member 'offset'"},
    };

    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        VLS_AUTO(arena) vls_arena arena = {0};
        const valise_field *fields = NULL;
        size_t size = 0;

        test_context("%s", cases[i].text);
        vls_arena_init(&arena, t->env, SIZE_MAX);
        vls_json v = kit_parse(t, &arena, cases[i].text);
        CHECK_RC(VALISE_E_INVALID, vls_fields_restore(&fields, &size, v, &arena, &t->err));
        CHECK_TEXT(cases[i].path, t->err.path);
        CHECK(t->err.message[0]);
        if (cases[i].message)
            CHECK_TEXT(cases[i].message, t->err.message);
        CHECK(!fields && size == 0);
    }
}

/* As deep as is allowed, and one more. */
static const char *nested(test *t, unsigned depth)
{
    VLS_AUTO(buf) vls_buf text = {0};

    vls_buf_init(&text, t->env, SIZE_MAX);
    vls_buf_add_text(&text, "{\"fields\":[");
    for (unsigned i = 0; i < depth; i++)
        vls_buf_add_text(&text, "{\"name\":\"a\",\"type\":\"struct\",\"fields\":[");
    vls_buf_add_text(&text, "{\"name\":\"b\",\"type\":\"int\"}");
    for (unsigned i = 0; i < depth; i++)
        vls_buf_add_text(&text, "]}");
    vls_buf_add_text(&text, "]}");
    return test_format("%s", vls_buf_cstr(&text));
}

TEST(field_describe, depth_has_a_limit)
{
    for (unsigned depth = 1; depth < 60; depth++) {
        VLS_AUTO(arena) vls_arena arena = {0};
        const valise_field *fields;
        vls_json v, schema;
        size_t size;

        vls_arena_init(&arena, t->env, SIZE_MAX);
        v = kit_parse(t, &arena, nested(t, depth));
        int rc = vls_fields_restore(&fields, &size, v, &arena, &t->err);
        if (depth <= VLS_FIELDS_MAX_DEPTH) {
            CHECK_INT(0, rc);
            CHECK_OK(vls_fields_schema(&schema, fields, &arena, &t->err));
        } else {
            CHECK(rc == VALISE_E_INVALID || rc == VALISE_E_LIMIT);
        }
    }
}

/* ---- without memory ---- */

static int describe_once(fault *f, void *arg)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    const valise_field *fields;
    vls_json v;
    size_t size;
    int rc;

    vls_arena_init(&arena, f->env, SIZE_MAX);
    rc = vls_fields_schema(&v, arg, &arena, &f->err);
    if (rc == 0)
        rc = vls_fields_describe(&v, arg, &arena, &f->err);
    if (rc == 0)
        rc = vls_fields_restore(&fields, &size, v, &arena, &f->err);
    return rc;
}

TEST(field_describe, without_memory)
{
    static valise_field fields[64];

    memcpy(fields, kit_all_fields,
           (vls_fields_count(kit_all_fields) + 1) * sizeof(*kit_all_fields));
    fault_each_alloc(t, 0, describe_once, fields);
    fault_each_alloc(t, FAULT_ONWARD, describe_once, fields);
}
