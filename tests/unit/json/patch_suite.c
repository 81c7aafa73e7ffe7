/* patch_suite.c -- patches against the public json-patch-tests.
 *
 * A case has "doc" and "patch", and "expected" or "error" or neither (then the patch must just
 * apply). Cases marked "disabled" are left out, as the suite demands, and counted.
 *
 * Both files hold one case whose operation has two "op" members ("duplicate ops" and "A.13",
 * both disabled). The parser refuses duplicate keys, so the files are read with
 * VLS_JSON_LAST_KEY_WINS; that these texts are refused without it is a test of its own. */
#include "harness/test.h"

#include "json/diff.h"
#include "json/patch.h"

typedef struct counts {
    int ran, disabled, refused;
} counts;

static const char *comment_of(vls_json c, size_t index)
{
    const vls_json *comment = vls_json_get(c, VLS_STR("comment"));
    valise_str text = comment ? vls_json_str(*comment) : VLS_STR("no comment");

    return test_format("case %zu (%.*s)", index, VALISE_STR_ARG(text));
}

/* What the suite expects of a patch our diff must be able to say too. */
static void check_diff(test *t, vls_arena *arena, vls_json doc, vls_json expected)
{
    vls_json patch, result;

    CHECK_OK(vls_json_diff(&patch, arena, doc, expected, NULL, &t->err));
    CHECK_OK(vls_json_patch(&result, arena, doc, patch, NULL, &t->err));
    CHECK(vls_json_equal(result, expected));
}

static void run_case(test *t, vls_arena *arena, vls_json c, size_t index, counts *n)
{
    const vls_json *doc = vls_json_get(c, VLS_STR("doc"));
    const vls_json *patch = vls_json_get(c, VLS_STR("patch"));
    const vls_json *expected = vls_json_get(c, VLS_STR("expected"));
    const vls_json *error = vls_json_get(c, VLS_STR("error"));
    const char *name = comment_of(c, index);
    vls_json result = vls_json_string(VLS_STR("untouched"));

    if (vls_json_get(c, VLS_STR("disabled"))) {
        n->disabled++;
        return;
    }
    CHECK_MSG(doc && patch, "%s has no doc or patch", name);
    int rc = vls_json_patch(&result, arena, *doc, *patch, NULL, &t->err);
    n->ran++;
    if (error) {
        CHECK_MSG(rc < 0, "%s was applied", name);
        CHECK_MSG(rc == VALISE_E_INVALID || rc == VALISE_E_NOT_FOUND || rc == VALISE_E_CONFLICT,
                  "%s failed with %s", name, valise_error_name(rc));
        CHECK_MSG(vls_str_starts(valise_str_of(t->err.message), VLS_STR("patch[")),
                  "%s failed with \"%s\"", name, t->err.message);
        CHECK_STR(VLS_STR("untouched"), vls_json_str(result));
        n->refused++;
        return;
    }
    CHECK_MSG(rc == 0, "%s failed: %s", name, t->err.message);
    if (expected) {
        CHECK_MSG(vls_json_equal(result, *expected), "%s gives something else", name);
        check_diff(t, arena, *doc, *expected);
    }
}

static counts run_file(test *t, const char *name)
{
    vls_json_limits limits = {.flags = VLS_JSON_LAST_KEY_WINS};
    VLS_AUTO(arena) vls_arena arena;
    counts n = {0};
    vls_json cases;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    valise_str text = test_read_file(test_data(name));
    CHECK_OK(vls_json_parse(&cases, &arena, text, &limits, &t->err));
    CHECK_INT(VLS_JSON_ARRAY, cases.type);
    for (size_t i = 0; i < cases.len; i++)
        run_case(t, &arena, cases.items[i], i, &n);
    test_note("%s: %d cases ran (%d of them errors), %d disabled", name, n.ran, n.refused,
              n.disabled);
    CHECK_INT(cases.len, n.ran + n.disabled);
    return n;
}

TEST(patch_suite, general_cases)
{
    counts n = run_file(t, "json-patch/tests.json");

    CHECK(n.ran >= 92 && n.disabled == 3);
}

TEST(patch_suite, cases_of_the_rfc)
{
    counts n = run_file(t, "json-patch/spec_tests.json");

    CHECK(n.ran >= 16 && n.disabled == 1);
}

/* Here the parser does what the suite wants of the patcher: such an operation never gets in. */
TEST(patch_suite, an_operation_with_two_op_members_is_refused_by_the_parser)
{
    VLS_AUTO(arena) vls_arena arena;
    vls_json patch;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    CHECK_RC(VALISE_E_INVALID,
             vls_json_parse(&patch, &arena,
                            VLS_STR("[{\"op\":\"add\",\"path\":\"/baz\",\"value\":\"qux\","
                                    "\"op\":\"remove\"}]"),
                            NULL, &t->err));
}
