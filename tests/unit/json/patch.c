/* patch.c -- applying patches: messages, all or nothing, sharing, and how much is moved. */
#include "harness/test.h"

#include "harness/counting_env.h"
#include "harness/fault.h"
#include "json/patch.h"
#include "json/pointer.h"
#include "values.h"

static int apply(vls_json *out, test *t, vls_arena *arena, vls_json document, const char *patch)
{
    return vls_json_patch(out, arena, document, values_parse(t, arena, patch), NULL, &t->err);
}

TEST(patch, does_what_its_operations_say)
{
    static const char *const cases[][3] = {
        {"{\"a\":1}", "[{'op':'replace','path':'','value':5}]", "5"},
        {"{\"a\":1}", "[{'op':'copy','from':'','path':'/b'}]", "{\"a\":1,\"b\":{\"a\":1}}"},
        {"{\"a\":1}", "[{'op':'move','from':'/a','path':''}]", "1"},
        {"{\"a\":1}", "[{'op':'move','from':'','path':''}]", "{\"a\":1}"},
        {"[1,2,3]", "[{'op':'move','from':'/0','path':'/2'}]", "[2,3,1]"},
        {"[1,2,3]", "[{'op':'move','from':'/2','path':'/-'}]", "[1,2,3]"},
        {"{}", "[{'op':'add','path':'/a~1b~0','value':1}]", "{\"a/b~\":1}"},
        {"{\"b\":1}", "[{'op':'add','path':'/c','value':3},{'op':'add','path':'/a','value':2}]",
         "{\"a\":2,\"b\":1,\"c\":3}"},
        {"{\"a\":[]}",
         "[{'op':'add','path':'/a/0','value':1},{'op':'remove','path':'/a/0'},"
         "{'op':'add','path':'/a/-','value':2}]",
         "{\"a\":[2]}"},
        /* A copy into itself holds what was there before. */
        {"{\"a\":{\"x\":1}}", "[{'op':'copy','from':'/a','path':'/a/y'}]",
         "{\"a\":{\"x\":1,\"y\":{\"x\":1}}}"},
        {"[1]", "[{'op':'test','path':'','value':[1]},{'op':'test','path':'/0','value':1.0}]",
         "[1]"},
    };

    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        VLS_AUTO(arena) vls_arena arena;
        char *patch = test_alloc(strlen(cases[i][1]));
        vls_json result;
        vls_arena_init(&arena, t->env, SIZE_MAX);
        for (size_t k = 0; cases[i][1][k]; k++)
            patch[k] = cases[i][1][k] == '\'' ? '"' : cases[i][1][k];
        CHECK_OK(apply(&result, t, &arena, values_parse(t, &arena, cases[i][0]), patch));
        CHECK_TEXT(cases[i][2], values_text(t, result));
    }
}

TEST(patch, errors_name_operation_path_and_reason)
{
    static const struct {
        int code;
        const char *patch, *message;
    } cases[] = {
        {VALISE_E_CONFLICT, "[{\"op\":\"test\",\"path\":\"/a/b\",\"value\":6}]",
         "patch[0] test /a/b: value is 5, expected 6"},
        {VALISE_E_CONFLICT, "[{\"op\":\"test\",\"path\":\"/a\",\"value\":{\"b\":5,\"c\":\"x\"}}]",
         "patch[0] test /a: /a/c is missing, expected \"x\""},
        {VALISE_E_CONFLICT, "[{\"op\":\"test\",\"path\":\"/a\",\"value\":{}}]",
         "patch[0] test /a: /a/b is 5, expected none"},
        {VALISE_E_CONFLICT, "[{\"op\":\"test\",\"path\":\"\",\"value\":[]}]",
         "patch[0] test \"\": value is {\"a\":{\"b\":5},\"l\":[1,2]}, expected []"},
        {VALISE_E_NOT_FOUND, "[{\"op\":\"test\",\"path\":\"/x\",\"value\":1}]",
         "patch[0] test /x: the document has no member \"x\""},
        {VALISE_E_NOT_FOUND, "[{\"op\":\"add\",\"path\":\"/l/3\",\"value\":1}]",
         "patch[0] add /l/3: /l has 2 items, so there is no item 3"},
        {VALISE_E_NOT_FOUND, "[{\"op\":\"add\",\"path\":\"/a/b/c\",\"value\":1}]",
         "patch[0] add /a/b/c: /a/b is not an object or array, its type is integer"},
        {VALISE_E_NOT_FOUND, "[{\"op\":\"remove\",\"path\":\"/l/-\"}]",
         "patch[0] remove /l/-: \"-\" is past the last of the 2 items of /l"},
        {VALISE_E_NOT_FOUND, "[{\"op\":\"replace\",\"path\":\"/a/x\",\"value\":1}]",
         "patch[0] replace /a/x: /a has no member \"x\""},
        {VALISE_E_NOT_FOUND,
         "[{\"op\":\"remove\",\"path\":\"/l\"},{\"op\":\"copy\",\"from\":\"/l\",\"path\":\"/m\"}]",
         "patch[1] copy /m: from /l: the document has no member \"l\""},
        {VALISE_E_INVALID, "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a/b\"}]",
         "patch[0] move /a/b: /a cannot be moved into itself"},
        {VALISE_E_INVALID, "[{\"op\":\"remove\",\"path\":\"\"}]",
         "patch[0] remove \"\": the whole document cannot be removed"},
        {VALISE_E_INVALID, "{}", "a patch is an array of operations, this is of type object"},
        {VALISE_E_INVALID, "[5]", "patch[0]: an operation is an object, this is of type integer"},
        {VALISE_E_INVALID, "[{\"path\":\"\"}]", "patch[0]: \"op\" is missing"},
        {VALISE_E_INVALID, "[{\"op\":7,\"path\":\"\"}]",
         "patch[0]: \"op\" is not a string, its type is integer"},
        {VALISE_E_INVALID, "[{\"op\":\"Add\",\"path\":\"\"}]",
         "patch[0]: unknown operation \"Add\""},
        {VALISE_E_INVALID, "[{\"op\":\"add\",\"path\":\"\"}]", "patch[0]: add without \"value\""},
        {VALISE_E_INVALID, "[{\"op\":\"move\",\"path\":\"\"}]", "patch[0]: move without \"from\""},
        {VALISE_E_INVALID, "[{\"op\":\"copy\",\"path\":\"\",\"from\":[]}]",
         "patch[0]: \"from\" of copy is not a string, its type is array"},
        {VALISE_E_INVALID, "[{\"op\":\"remove\",\"path\":\"x\"}]",
         "patch[0]: pointer x does not start with \"/\""},
    };
    VLS_AUTO(arena) vls_arena arena;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json document = values_parse(t, &arena, "{\"a\":{\"b\":5},\"l\":[1,2]}");
    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        vls_json result = vls_json_int(77);
        CHECK_RC(cases[i].code, apply(&result, t, &arena, document, cases[i].patch));
        CHECK_TEXT(cases[i].message, t->err.message);
        CHECK_INT(77, result.integer);
    }
}

TEST(patch, errors_carry_the_field_and_the_way_out)
{
    VLS_AUTO(arena) vls_arena arena;
    vls_json result;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json document = values_parse(t, &arena, "{\"a\":1}");
    CHECK_RC(VALISE_E_CONFLICT, apply(&result, t, &arena, document,
                                      "[{\"op\":\"test\",\"path\":\"/a\",\"value\":2}]"));
    CHECK_TEXT("[0]", t->err.path);
    CHECK_TEXT("the patch was made for another document", t->err.hint);
    CHECK_RC(VALISE_E_INVALID,
             apply(&result, t, &arena, document,
                   "[{\"op\":\"remove\",\"path\":\"/a\"},{\"op\":\"add\",\"path\":\"/a\"}]"));
    CHECK_TEXT("[1].value", t->err.path);
    CHECK_RC(VALISE_E_INVALID, apply(&result, t, &arena, document,
                                     "[{\"op\":\"copy\",\"path\":\"/a\",\"from\":\"/b~\"}]"));
    CHECK_TEXT("[0].from", t->err.path);
    CHECK_INT(2, t->err.offset);
    CHECK_RC(VALISE_E_CONFLICT,
             apply(&result, t, &arena, document,
                   test_format("[{\"op\":\"test\",\"path\":\"/a\",\"value\":\"%0200d\"}]", 0)));
    CHECK_TEXT("patch[0] test /a: value is 1, expected a string of 200 bytes", t->err.message);
}

TEST(patch, a_failure_leaves_all_as_it_was)
{
    VLS_AUTO(arena) vls_arena arena;
    vls_json result = vls_json_int(77);

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json document = values_parse(t, &arena, "{\"a\":[1,2,3],\"b\":{\"c\":[]}}");
    vls_json patch = values_parse(t, &arena,
                                  "[{\"op\":\"add\",\"path\":\"/a/0\",\"value\":0},"
                                  "{\"op\":\"add\",\"path\":\"/b/d\",\"value\":{}},"
                                  "{\"op\":\"remove\",\"path\":\"/a/3\"},"
                                  "{\"op\":\"test\",\"path\":\"/a\",\"value\":[]}]");
    const char *before = values_text(t, document);
    size_t used = arena.used;
    CHECK_RC(VALISE_E_CONFLICT, vls_json_patch(&result, &arena, document, patch, NULL, &t->err));
    CHECK_INT(77, result.integer);
    CHECK_TEXT(before, values_text(t, document));
    CHECK_INT(used, arena.used);
}

TEST(patch, what_no_edit_went_through_is_shared)
{
    VLS_AUTO(arena) vls_arena arena;
    vls_json v;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json doc =
        values_parse(t, &arena, "{\"a\":{\"x\":[1],\"y\":[2]},\"b\":[[3],[4]],\"c\":{\"z\":5}}");
    CHECK_OK(apply(&v, t, &arena, doc,
                   "[{\"op\":\"add\",\"path\":\"/a/x/-\",\"value\":9},"
                   "{\"op\":\"remove\",\"path\":\"/b/0\"},"
                   "{\"op\":\"copy\",\"from\":\"/c\",\"path\":\"/d\"},"
                   "{\"op\":\"test\",\"path\":\"/c/z\",\"value\":5}]"));
    CHECK_TEXT("{\"a\":{\"x\":[1,9],\"y\":[2]},\"b\":[[4]],\"c\":{\"z\":5},\"d\":{\"z\":5}}",
               values_text(t, v));
    const vls_json *a = vls_json_get(doc, VLS_STR("a")), *new_a = vls_json_get(v, VLS_STR("a"));
    CHECK(a->members != new_a->members);
    CHECK(vls_json_get(*a, VLS_STR("y"))->items == vls_json_get(*new_a, VLS_STR("y"))->items);
    CHECK(vls_json_get(doc, VLS_STR("b"))->items[1].items ==
          vls_json_get(v, VLS_STR("b"))->items[0].items);
    CHECK(vls_json_get(doc, VLS_STR("c"))->members == vls_json_get(v, VLS_STR("c"))->members);
    CHECK(vls_json_get(v, VLS_STR("d"))->members == vls_json_get(v, VLS_STR("c"))->members);

    CHECK_OK(apply(&v, t, &arena, doc, "[{\"op\":\"test\",\"path\":\"/c/z\",\"value\":5}]"));
    CHECK(v.members == doc.members);
}

/* An empty container points nowhere in particular; here at where the first new block will lie. */
TEST(patch, an_empty_container_is_never_taken_for_a_new_block)
{
    VLS_AUTO(arena) vls_arena arena;
    vls_json items[2], result;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json patch = values_parse(t, &arena,
                                  "[{\"op\":\"replace\",\"path\":\"/0\",\"value\":7},"
                                  "{\"op\":\"add\",\"path\":\"/1/-\",\"value\":8}]");
    items[0] = vls_json_int(1);
    for (size_t shift = 0; shift <= 64; shift += 16) {
        items[1] = vls_json_array((const vls_json *)(void *)(arena.next + shift), 0);
        CHECK_OK(vls_json_patch(&result, &arena, vls_json_array(items, 2), patch, NULL, &t->err));
        CHECK_TEXT("[7,[8]]", values_text(t, result));
    }
}

/* ---- at random ---- */

/* A random path in v, to something that is there or (sometimes) not. */
static void random_path(vls_buf *path, test_rng *rng, vls_json v)
{
    while ((v.type == VLS_JSON_ARRAY || v.type == VLS_JSON_OBJECT) &&
           test_random_below(rng, 5) > 0) {
        size_t at = test_random_below(rng, v.len + 1);
        if (at == v.len) {
            vls_pointer_add_key(path, test_random_below(rng, 2) ? VLS_STR("-") : VLS_STR("a"));
            return;
        }
        if (v.type == VLS_JSON_ARRAY) {
            vls_pointer_add_index(path, at);
            v = v.items[at];
        } else {
            vls_pointer_add_key(path, vls_json_str(v.members[at].key));
            v = v.members[at].value;
        }
    }
}

static vls_json random_op(test *t, test_rng *rng, vls_arena *arena, vls_json v)
{
    static const char *const names[] = {"add", "remove", "replace", "move", "copy", "copy"};
    vls_member *members = vls_arena_array(arena, 4, sizeof(vls_member));
    const char *name = names[test_random_below(rng, VLS_COUNT(names))];
    VLS_AUTO(buf) vls_buf path, from;
    valise_str text;
    vls_json op;

    CHECK(members);
    vls_buf_init(&path, t->env, SIZE_MAX);
    vls_buf_init(&from, t->env, SIZE_MAX);
    random_path(&path, rng, v);
    random_path(&from, rng, v);
    members[0] = (vls_member){vls_json_string(VLS_STR("op")), vls_json_string(valise_str_of(name))};
    CHECK_OK(vls_arena_dup(&text, arena, vls_buf_str(&path), &t->err));
    members[1] = (vls_member){vls_json_string(VLS_STR("path")), vls_json_string(text)};
    CHECK_OK(vls_arena_dup(&text, arena, vls_buf_str(&from), &t->err));
    members[2] = (vls_member){vls_json_string(VLS_STR("from")), vls_json_string(text)};
    members[3] = (vls_member){vls_json_string(VLS_STR("value")), values_random(rng, arena, 2)};
    CHECK_OK(vls_json_object(&op, members, 4, &t->err));
    return op;
}

#define OPS 30

/* One patch of many operations edits in place what it owns; many patches of one operation never
 * do. Both must agree, and no value on the way may change afterwards. */
TEST(patch, one_patch_does_the_same_as_its_operations_one_by_one)
{
    test_rng rng = test_rng_new(test_seed());
    size_t applied = 0;

    for (int round = 0; round < 300; round++) {
        VLS_AUTO(arena) vls_arena arena;
        vls_json ops[OPS], version[OPS + 1], result;
        const char *text[OPS + 1];
        size_t count = 0;

        vls_arena_init(&arena, t->env, SIZE_MAX);
        version[0] = values_random(&rng, &arena, 4);
        text[0] = values_text(t, version[0]);
        for (int tries = 0; tries < OPS; tries++) {
            ops[count] = random_op(t, &rng, &arena, version[count]);
            int rc = vls_json_patch(&version[count + 1], &arena, version[count],
                                    vls_json_array(&ops[count], 1), NULL, &t->err);
            if (rc == 0 && strlen(values_text(t, version[count + 1])) < 20000) {
                count++;
                text[count] = values_text(t, version[count]);
            }
        }
        applied += count;
        CHECK_OK(
            vls_json_patch(&result, &arena, version[0], vls_json_array(ops, count), NULL, &t->err));
        CHECK_TEXT(text[count], values_text(t, result));
        for (size_t i = 0; i <= count; i++)
            CHECK_TEXT(text[i], values_text(t, version[i]));
    }
    test_note("%zu operations applied", applied);
    CHECK(applied > 300 * OPS / 4);
}

/* ---- work, depth, memory ---- */

/* count times the same operation. */
static vls_json repeated(test *t, vls_arena *arena, const char *op, size_t count)
{
    vls_json *ops = vls_arena_array(arena, count, sizeof(vls_json));

    CHECK(ops);
    for (size_t i = 0; i < count; i++)
        ops[i] = i == 0 ? values_parse(t, arena, op) : ops[0];
    return vls_json_array(ops, count);
}

TEST(patch, many_appends_to_a_large_array_copy_it_once)
{
    VLS_AUTO(arena) vls_arena arena;
    vls_patch_budget budget = {0};
    vls_json result;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json list = values_numbers(&arena, 100000, 0);
    vls_json doc = values_nested(&arena, list, 2);
    vls_json patch = repeated(t, &arena, "{\"op\":\"add\",\"path\":\"/0/0/-\",\"value\":1}", 20000);
    CHECK_OK(vls_json_patch(&result, &arena, doc, patch, &budget, &t->err));
    CHECK_INT(120000, result.items[0].items[0].len);
    CHECK_INT(100000, doc.items[0].items[0].len);
    test_note("20000 appends moved %ju bytes", (uintmax_t)budget.used_bytes);
    CHECK(budget.used_bytes < 3 * 1000 * 1000);
}

TEST(patch, appending_to_an_empty_array_grows_it_by_half)
{
    VLS_AUTO(arena) vls_arena arena;
    vls_patch_budget budget = {0};
    vls_json result;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json patch = repeated(t, &arena, "{\"op\":\"add\",\"path\":\"/-\",\"value\":1}", 100000);
    CHECK_OK(vls_json_patch(&result, &arena, vls_json_array(NULL, 0), patch, &budget, &t->err));
    CHECK_INT(100000, result.len);
    CHECK(budget.used_bytes < 100000 * 16 * 6);
}

/* Each operation copies one small object, never its large neighbour, which stays this run's. */
TEST(patch, copies_between_appends_do_not_copy_what_they_do_not_touch)
{
    VLS_AUTO(arena) vls_arena arena;
    vls_patch_budget budget = {0};
    vls_json result, ops[2000];

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json pair = values_parse(t, &arena,
                                 "[{\"op\":\"add\",\"path\":\"/0/-\",\"value\":1},"
                                 "{\"op\":\"copy\",\"from\":\"/1\",\"path\":\"/2\"}]");
    for (size_t i = 0; i < VLS_COUNT(ops); i++)
        ops[i] = pair.items[i % 2];
    vls_json items[2] = {values_numbers(&arena, 50000, 0), values_parse(t, &arena, "{\"a\":{}}")};
    CHECK_OK(vls_json_patch(&result, &arena, vls_json_array(items, 2),
                            vls_json_array(ops, VLS_COUNT(ops)), &budget, &t->err));
    CHECK_INT(51000, result.items[0].len);
    CHECK_INT(1002, result.len);
    CHECK(budget.used_bytes < 20 * 1000 * 1000);
}

TEST(patch, work_has_a_limit)
{
    VLS_AUTO(arena) vls_arena arena;
    vls_patch_budget budget = {.max_bytes = 10 * 1000 * 1000};
    vls_json result = vls_json_int(77);

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json doc = values_numbers(&arena, 10000, 0);
    vls_json patch = repeated(t, &arena, "{\"op\":\"add\",\"path\":\"/0\",\"value\":1}", 1000);
    CHECK_RC(VALISE_E_LIMIT, vls_json_patch(&result, &arena, doc, patch, &budget, &t->err));
    CHECK_TEXT("patch[61] add /0: the patch moves more than its limit of 10000000 bytes",
               t->err.message);
    CHECK_INT(77, result.integer);

    /* The next patch finds nothing left. */
    CHECK_RC(VALISE_E_LIMIT, vls_json_patch(&result, &arena, doc, patch, &budget, &t->err));
    CHECK_RC(VALISE_E_LIMIT,
             vls_json_patch(&result, &arena, doc, patch, &(vls_patch_budget){5, 7}, &t->err));
}

/* Fifty copies of the document into itself would make 2^50 values of a few kilobytes. */
TEST(patch, copies_of_copies_run_into_the_limit)
{
    VLS_AUTO(arena) vls_arena arena;
    vls_patch_budget budget = {.max_bytes = 50 * 1000 * 1000};
    vls_json result;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json doc = values_parse(t, &arena, "[[\"x\"]]");
    vls_json patch = repeated(t, &arena, "{\"op\":\"copy\",\"from\":\"/0\",\"path\":\"/0/-\"}", 50);
    CHECK_RC(VALISE_E_LIMIT, vls_json_patch(&result, &arena, doc, patch, &budget, &t->err));
    CHECK(test_bytes_in_use(t) < 1000 * 1000);
}

TEST(patch, the_result_is_no_deeper_than_a_document_may_be)
{
    static const char add[] = "[{\"op\":\"add\",\"path\":\"/0/0/-\",\"value\":[[]]}]";
    static const char copy[] = "[{\"op\":\"copy\",\"from\":\"/0/0\",\"path\":\"/0/0/-\"}]";
    static const char move[] = "[{\"op\":\"move\",\"from\":\"/1\",\"path\":\"/0/0/-\"}]";
    VLS_AUTO(arena) vls_arena arena;
    vls_json result;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    for (unsigned above = 250; above <= 254; above++) {
        VLS_AUTO(buf) vls_buf path;
        vls_json items[2], deep = values_nested(&arena, vls_json_array(NULL, 0), above);
        vls_buf_init(&path, t->env, SIZE_MAX);
        for (unsigned i = 0; i < above; i++)
            vls_pointer_add_index(&path, 0);
        const char *patch = test_format("[{\"op\":\"add\",\"path\":\"%.*s/-\",\"value\":[[]]}]",
                                        VALISE_STR_ARG(vls_buf_str(&path)));
        /* above arrays, the empty one, and two more */
        int expected = above + 3 <= VLS_JSON_MAX_DEPTH ? 0 : VALISE_E_LIMIT;
        CHECK_RC(expected, apply(&result, t, &arena, deep, patch));
        CHECK(expected == 0 || strstr(t->err.message, "more than 256 levels deep"));

        CHECK_OK(apply(&result, t, &arena, deep, add));
        /* "/0/0" has above - 1 levels and goes below 3 */
        expected = above - 1 + 3 <= VLS_JSON_MAX_DEPTH ? 0 : VALISE_E_LIMIT;
        CHECK_RC(expected, apply(&result, t, &arena, deep, copy));
        items[0] = values_nested(&arena, vls_json_null(), 2);
        items[1] = values_nested(&arena, vls_json_null(), above);
        expected = above + 3 <= VLS_JSON_MAX_DEPTH ? 0 : VALISE_E_LIMIT;
        items[0] = values_nested(&arena, vls_json_array(NULL, 0), 1);
        CHECK_RC(expected, apply(&result, t, &arena, vls_json_array(items, 2), move));
    }
}

TEST(patch, the_arena_is_the_limit_of_memory)
{
    VLS_AUTO(arena) vls_arena arena, small;
    vls_json result = vls_json_int(77);

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_arena_init(&small, t->env, 5000);
    vls_json doc = values_numbers(&arena, 1000, 0);
    vls_json patch = repeated(t, &arena, "{\"op\":\"add\",\"path\":\"/0\",\"value\":1}", 1);
    CHECK_RC(VALISE_E_TOO_LARGE, vls_json_patch(&result, &small, doc, patch, NULL, &t->err));
    CHECK_INT(77, result.integer);
    CHECK_INT(0, small.used);
}

static int patch_with_faults(fault *f, void *arg)
{
    const vls_json *input = arg;
    VLS_AUTO(arena) vls_arena own;
    vls_json result = vls_json_int(77);

    vls_arena_init(&own, f->env, SIZE_MAX);
    int rc = vls_json_patch(&result, &own, input[0], input[1], NULL, &f->err);
    CHECK(rc == 0 || (result.integer == 77 && own.used == 0));
    if (rc == 0)
        CHECK_TEXT("{\"a\":[{\"x/y\":[]}],\"c\":{\"d\":[1,{\"b\":2,\"x/y\":[]},1]}}",
                   values_text(f->t, result));
    return rc;
}

TEST(patch, every_allocation_may_fail)
{
    VLS_AUTO(arena) vls_arena arena;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json input[] = {
        values_parse(t, &arena, "{\"a\":[1,{\"b\":2}],\"c\":{}}"),
        values_parse(t, &arena,
                     "[{\"op\":\"add\",\"path\":\"/a/1/x~1y\",\"value\":[]},"
                     "{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/c/d\"},"
                     "{\"op\":\"move\",\"from\":\"/a/0\",\"path\":\"/c/d/-\"},"
                     "{\"op\":\"remove\",\"path\":\"/a/0/b\"},"
                     "{\"op\":\"test\",\"path\":\"/a\",\"value\":[{\"x/y\":[]}]}]"),
    };
    /* Arenas of release builds take few blocks. */
    CHECK(fault_each_alloc(t, 0, patch_with_faults, input) >= 2);
}

/* A failed test says less when there is no memory to say it with, but says it. */
TEST(patch, a_conflict_stays_one_without_memory_for_its_message)
{
    VLS_AUTO(arena) vls_arena arena;
    counting_env counting;
    bool failed = true;

    counting_env_init(&counting);
    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json doc = values_parse(t, &arena, "{\"a\":[1,2,3]}");
    vls_json patch =
        values_parse(t, &arena, "[{\"op\":\"test\",\"path\":\"/a\",\"value\":[2,1,[\"x\"],4]}]");
    for (long long n = 0; failed; n++) {
        VLS_AUTO(arena) vls_arena own;
        vls_json result;
        vls_arena_init(&own, &counting.env, SIZE_MAX);
        counting_env_fail_at(&counting, n);
        int rc = vls_json_patch(&result, &own, doc, patch, NULL, &t->err);
        failed = counting.failed;
        /* Only reading the path needs memory. */
        CHECK(rc == (n == 0 ? VALISE_E_NO_MEMORY : VALISE_E_CONFLICT));
        CHECK(n < 100);
    }
    CHECK_TEXT("patch[0] test /a: /a/0 is 1, expected 2", t->err.message);
    CHECK_INT(0, counting_env_in_use(&counting));
}
