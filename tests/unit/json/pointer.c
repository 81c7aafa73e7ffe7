/* pointer.c -- JSON Pointer: text to steps, steps to values, and what is said when they lead
 * nowhere. */
#include "harness/test.h"

#include "harness/fault.h"
#include "json/pointer.h"
#include "values.h"

static int get(const vls_json **out, vls_arena *arena, const vls_json *root, const char *text,
               valise_error *err)
{
    vls_pointer pointer;
    int rc = vls_pointer_parse(&pointer, arena, valise_str_of(text), err);

    return rc < 0 ? rc : vls_pointer_get(out, root, &pointer, err);
}

/* RFC 6901, section 5. */
TEST(pointer, resolves_the_examples_of_the_rfc)
{
    static const char *const examples[][2] = {
        {"/foo", "[\"bar\",\"baz\"]"},
        {"/foo/0", "\"bar\""},
        {"/", "0"},
        {"/a~1b", "1"},
        {"/c%d", "2"},
        {"/e^f", "3"},
        {"/g|h", "4"},
        {"/i\\j", "5"},
        {"/k\"l", "6"},
        {"/ ", "7"},
        {"/m~0n", "8"},
    };
    VLS_AUTO(arena) vls_arena arena;
    const vls_json *value;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json root = values_parse(t, &arena,
                                 "{\"foo\":[\"bar\",\"baz\"],\"\":0,\"a/b\":1,\"c%d\":2,\"e^f\":3,"
                                 "\"g|h\":4,\"i\\\\j\":5,\"k\\\"l\":6,\" \":7,\"m~n\":8}");
    CHECK_OK(get(&value, &arena, &root, "", &t->err));
    CHECK(value == &root);
    for (size_t i = 0; i < VLS_COUNT(examples); i++) {
        CHECK_OK(get(&value, &arena, &root, examples[i][0], &t->err));
        CHECK_TEXT(examples[i][1], values_text(t, *value));
    }
}

TEST(pointer, gives_out_the_value_itself_and_no_copy)
{
    VLS_AUTO(arena) vls_arena arena;
    const vls_json *value;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json root = values_parse(t, &arena, "{\"a\":[1,{\"b\":2}]}");
    CHECK_OK(get(&value, &arena, &root, "/a/1/b", &t->err));
    CHECK(value == &root.members[0].value.items[1].members[0].value);
}

TEST(pointer, refuses_malformed_text_and_says_where)
{
    static const struct {
        const char *text;
        int offset;
    } bad[] = {{"a", 0}, {"#/a", 0}, {"/a~", 2}, {"/~2", 1}, {"/a/b~x/c", 4}, {"/~~0", 1}};
    VLS_AUTO(arena) vls_arena arena;
    vls_pointer pointer = {.count = 77};

    vls_arena_init(&arena, t->env, SIZE_MAX);
    for (size_t i = 0; i < VLS_COUNT(bad); i++) {
        CHECK_RC(VALISE_E_INVALID,
                 vls_pointer_parse(&pointer, &arena, valise_str_of(bad[i].text), &t->err));
        CHECK_INT(bad[i].offset, t->err.offset);
        CHECK(t->err.hint[0]);
        CHECK_INT(77, pointer.count);
    }
}

TEST(pointer, has_as_many_steps_as_a_document_has_levels)
{
    VLS_AUTO(arena) vls_arena arena;
    VLS_AUTO(buf) vls_buf text;
    const vls_json *value;
    vls_pointer pointer;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_buf_init(&text, t->env, SIZE_MAX);
    for (unsigned i = 0; i < VLS_POINTER_MAX_STEPS; i++)
        vls_pointer_add_index(&text, 0);
    vls_json root = values_nested(&arena, vls_json_int(5), VLS_JSON_MAX_DEPTH);
    CHECK_OK(vls_pointer_parse(&pointer, &arena, vls_buf_str(&text), &t->err));
    CHECK_OK(vls_pointer_get(&value, &root, &pointer, &t->err));
    CHECK_INT(5, value->integer);

    vls_pointer_add_index(&text, 0);
    CHECK_RC(VALISE_E_LIMIT, vls_pointer_parse(&pointer, &arena, vls_buf_str(&text), &t->err));
}

TEST(pointer, an_index_is_digits_without_a_leading_zero)
{
    static const char *const bad[] = {
        "", "00", "01", "-", "-1", "+1", "1e0", " 1", "1 ", "18446744073709551616", "0x1", "1.0"};
    size_t index = 77;

    for (size_t i = 0; i < VLS_COUNT(bad); i++)
        CHECK_MSG(!vls_pointer_index(&index, valise_str_of(bad[i])), "\"%s\"", bad[i]);
    CHECK_INT(77, index);
    CHECK(vls_pointer_index(&index, VLS_STR("0")));
    CHECK_INT(0, index);
    CHECK(vls_pointer_index(&index, VLS_STR("1090")));
    CHECK_INT(1090, index);
}

TEST(pointer, says_which_step_leads_nowhere)
{
    static const char *const missing[][2] = {
        {"/x", "the document has no member \"x\""},
        {"/a/b/c", "/a has no member \"b\""},
        {"/list/3", "/list has 3 items, so there is no item 3"},
        {"/one/1", "/one has 1 item, so there is no item 1"},
        {"/list/-", "\"-\" is past the last of the 3 items of /list"},
        {"/list/01", "\"01\" is not an index of the array /list"},
        {"/list/0/x", "/list/0 is not an object or array, its type is integer"},
        {"/x~1y/z", "/x~1y is not an object or array, its type is null"},
    };
    VLS_AUTO(arena) vls_arena arena;
    const vls_json *value = NULL;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json root = values_parse(t, &arena, "{\"a\":{},\"list\":[1,2,3],\"one\":[1],\"x/y\":null}");
    for (size_t i = 0; i < VLS_COUNT(missing); i++) {
        CHECK_RC(VALISE_E_NOT_FOUND, get(&value, &arena, &root, missing[i][0], &t->err));
        CHECK_TEXT(missing[i][1], t->err.message);
        CHECK(value == NULL);
    }
}

TEST(pointer, a_place_to_add_at_may_be_behind_the_end_or_new)
{
    VLS_AUTO(arena) vls_arena arena;
    vls_pointer pointer;
    size_t at;
    bool exists;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json list = values_parse(t, &arena, "[1,2]");
    vls_json object = values_parse(t, &arena, "{\"2\":1,\"4\":2}");
    CHECK_OK(vls_pointer_parse(&pointer, &arena, VLS_STR("/2/-/3/4"), &t->err));
    CHECK_OK(vls_pointer_place(&at, &exists, list, &pointer, 0, &t->err));
    CHECK(at == 2 && !exists);
    CHECK_OK(vls_pointer_place(&at, &exists, list, &pointer, 1, &t->err));
    CHECK(at == 2 && !exists);
    CHECK_RC(VALISE_E_NOT_FOUND, vls_pointer_place(&at, &exists, list, &pointer, 2, &t->err));
    CHECK_OK(vls_pointer_place(&at, &exists, object, &pointer, 2, &t->err));
    CHECK(at == 1 && !exists);
    CHECK_OK(vls_pointer_place(&at, &exists, object, &pointer, 3, &t->err));
    CHECK(at == 1 && exists);
    CHECK_RC(VALISE_E_NOT_FOUND,
             vls_pointer_place(&at, &exists, vls_json_null(), &pointer, 0, &t->err));
}

TEST(pointer, an_escaped_key_comes_back_as_it_was)
{
    static const char alphabet[] = {'~', '/', '0', '1', 'a', '\0'};
    test_rng rng = test_rng_new(test_seed());
    VLS_AUTO(arena) vls_arena arena;
    VLS_AUTO(buf) vls_buf text;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_buf_init(&text, t->env, SIZE_MAX);
    for (int round = 0; round < 2000; round++) {
        char bytes[3][8];
        valise_str key[3];
        vls_pointer pointer;
        vls_buf_clear(&text);
        for (int i = 0; i < 3; i++) {
            key[i] = vls_str(bytes[i], test_random_below(&rng, 9));
            for (size_t k = 0; k < key[i].len; k++)
                bytes[i][k] = alphabet[test_random_below(&rng, sizeof(alphabet))];
            vls_pointer_add_key(&text, key[i]);
        }
        CHECK_OK(vls_pointer_parse(&pointer, &arena, vls_buf_str(&text), &t->err));
        CHECK_INT(3, pointer.count);
        for (int i = 0; i < 3; i++)
            CHECK_STR(key[i], pointer.steps[i]);
    }
}

TEST(pointer, knows_heads_and_what_lies_below)
{
    VLS_AUTO(arena) vls_arena arena;
    vls_pointer deep, outer, other, root;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    CHECK_OK(vls_pointer_parse(&deep, &arena, VLS_STR("/a~1b//0"), &t->err));
    CHECK_OK(vls_pointer_parse(&outer, &arena, VLS_STR("/a~1b"), &t->err));
    CHECK_OK(vls_pointer_parse(&other, &arena, VLS_STR("/a"), &t->err));
    CHECK_OK(vls_pointer_parse(&root, &arena, VLS_STR(""), &t->err));
    CHECK_STR(VLS_STR(""), vls_pointer_head(&deep, 0));
    CHECK_STR(VLS_STR("/a~1b"), vls_pointer_head(&deep, 1));
    CHECK_STR(VLS_STR("/a~1b/"), vls_pointer_head(&deep, 2));
    CHECK_STR(VLS_STR("/a~1b//0"), vls_pointer_head(&deep, 3));
    CHECK(vls_pointer_is_below(&deep, &outer));
    CHECK(vls_pointer_is_below(&deep, &root));
    CHECK(!vls_pointer_is_below(&outer, &deep));
    CHECK(!vls_pointer_is_below(&outer, &outer));
    CHECK(!vls_pointer_is_below(&deep, &other));
}

TEST(pointer, long_paths_are_cut_between_characters)
{
    char path[400];

    CHECK_TEXT("\"\"", vls_pointer_brief(VLS_STR("")).s);
    CHECK_TEXT("/a/b", vls_pointer_brief(VLS_STR("/a/b")).s);
    for (size_t shift = 0; shift < 3; shift++) {
        memset(path, 'x', sizeof(path));
        for (size_t i = shift; i + 3 <= sizeof(path); i += 3)
            memcpy(path + i, "\xE2\x82\xAC", 3);
        vls_pointer_quote quote = vls_pointer_brief(vls_str(path, sizeof(path) - shift));
        valise_str left, right, all = valise_str_of(quote.s);
        size_t dots = vls_str_find(all, VLS_STR("..."));
        left = vls_str_head(all, dots);
        right = vls_str_from(all, dots + 3);
        CHECK(dots < all.len && all.len < sizeof(quote.s) && all.len > 100);
        CHECK(left.len % 3 == shift);
        CHECK(right.len > 0 && (right.ptr[0] & 0xC0) != 0x80);
    }
}

static int parse_with_faults(fault *f, void *arg)
{
    VLS_AUTO(arena) vls_arena arena;
    vls_pointer pointer;

    (void)arg;
    vls_arena_init(&arena, f->env, SIZE_MAX);
    return vls_pointer_parse(&pointer, &arena, VLS_STR("/a~0/b~1c/d"), &f->err);
}

TEST(pointer, every_allocation_may_fail)
{
    fault_each_alloc(t, 0, parse_with_faults, NULL);
}
