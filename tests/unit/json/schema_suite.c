/* schema_suite.c -- the official test suite of JSON Schema, draft 2020-12: all required tests but
 * those of schemas that refer to other files, as there is no way to give Valise such files.
 *
 * Each file is an array of groups {schema, tests: [{data, valid}]}. */
#define VLS_ALLOW_MALLOC
#include "harness/test.h"

#include <dirent.h>

#include "json/schema.h"

typedef struct suite {
    test *t;
    vls_arena arena; /* of everything that is parsed */
    size_t files, groups, cases;
    size_t apart; /* groups that need other files */
} suite;

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static vls_json parse_file(suite *s, const char *path)
{
    test *t = s->t;
    vls_json v;

    CHECK_OK(vls_json_parse(&v, &s->arena, test_read_file(path), NULL, &t->err));
    return v;
}

static valise_str text_of(vls_json v, const char *key)
{
    const vls_json *text = vls_json_get(v, valise_str_of(key));

    CHECK(text && text->type == VLS_JSON_STRING);
    return vls_json_str(*text);
}

static void run_case(suite *s, const vls_schema *schema, vls_json c, const char *where)
{
    test *t = s->t;
    const vls_json *data = vls_json_get(c, VLS_STR("data"));
    const vls_json *valid = vls_json_get(c, VLS_STR("valid"));
    valise_str name = text_of(c, "description");
    vls_schema_report all = {.max_findings = 0};
    int expected, rc;

    CHECK(data && valid && valid->type == VLS_JSON_BOOL);
    expected = valid->truth ? 0 : VALISE_E_INVALID;
    rc = vls_schema_check(schema, *data, NULL, &t->err);
    CHECK_MSG(rc == expected, "%s, %.*s: returned %s (%s)", where, VALISE_STR_ARG(name),
              valise_error_name(rc), t->err.message);
    /* Collecting everything must come to the same verdict. */
    rc = vls_schema_check(schema, *data, &all, &t->err);
    CHECK_MSG(rc == expected && (all.count > 0) == (rc != 0), "%s, %.*s: collecting returned %s",
              where, VALISE_STR_ARG(name), valise_error_name(rc));
    s->cases++;
}

/* Whether a schema was refused because the suite has the rest of it, or its dialect, in a file. */
static bool needs_other_files(int rc, const valise_error *err)
{
    return rc == VALISE_E_UNSUPPORTED
               ? strstr(err->message, "\"http://localhost:1234/") &&
                     strstr(err->message, "/$schema: ")
               : rc == VALISE_E_INVALID && strstr(err->message, "there is no such document here");
}

static void run_file(suite *s, const char *path, const char *name)
{
    test *t = s->t;
    vls_json groups = parse_file(s, path);

    CHECK(groups.type == VLS_JSON_ARRAY && groups.len > 0);
    for (uint32_t i = 0; i < groups.len; i++) {
        VLS_AUTO(schema) vls_schema *schema = NULL;
        const vls_json *value = vls_json_get(groups.items[i], VLS_STR("schema"));
        const vls_json *cases = vls_json_get(groups.items[i], VLS_STR("tests"));
        valise_str group = text_of(groups.items[i], "description");
        const char *where = test_format("%s, %.*s", name, VALISE_STR_ARG(group));
        CHECK(value && cases && cases->type == VLS_JSON_ARRAY);
        int rc = vls_schema_compile(&schema, t->env, *value, NULL, &t->err);
        if (needs_other_files(rc, &t->err)) {
            s->apart++;
            continue;
        }
        CHECK_MSG(rc == 0, "%s: refused (%s)", where, t->err.message);
        for (uint32_t j = 0; j < cases->len; j++)
            run_case(s, schema, cases->items[j], where);
        s->groups++;
    }
    s->files++;
}

TEST(schema_suite, every_required_test_passes)
{
    const char *dir = test_format("%s/tests/draft2020-12", test_data("json-schema"));
    struct dirent **entries = NULL;
    int count = scandir(dir, &entries, NULL, by_name);
    suite s = {.t = t};

    CHECK_MSG(count >= 0, "cannot read %s", dir);
    vls_arena_init(&s.arena, t->env, SIZE_MAX);
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        if (vls_str_ends(valise_str_of(name), VLS_STR(".json")))
            run_file(&s, test_format("%s/%s", dir, name), name);
        free(entries[i]);
    }
    free(entries);
    vls_arena_release(&s.arena);
    test_note("json-schema: %zu cases of %zu schemas in %zu files; %zu schemas need other files",
              s.cases, s.groups, s.files, s.apart);
    CHECK(s.files >= 46 && s.cases >= 1250 && s.apart <= 22);
}
