/* json.c -- values: making, finding, comparing, building, copying. */
#include <math.h>

#include "harness/counting_env.h"
#include "harness/fault.h"

#include "json/json.h"
#include "json/number.h"
#include "json/sort.h"

static vls_arena arena;

static vls_json parse(test *t, const char *text)
{
    vls_json v = vls_json_null();

    CHECK_RC(0, vls_json_parse(&v, &arena, valise_str_of(text), NULL, &t->err));
    return v;
}

TEST(json, equal_means_the_same_canonical_text)
{
    static const char *const same[][2] = {
        {"1", "1.0"},
        {"0", "-0.0"},
        {"1e2", "100"},
        {"10000000000000000", "1e16"},
        {"4611686018427388000", "4611686018427387904.0"},
        {"100000000000000000000", "1e20"},
        {"{\"a\":1,\"b\":[2]}", "{ \"b\" : [2.0], \"a\":1 }"},
        {"\"\\u00e9\"", "\"\xc3\xa9\""},
        {"[]", "[ ]"},
        {"{}", "{ }"},
    };
    static const char *const different[][2] = {
        {"1", "2"},
        {"1", "\"1\""},
        {"1", "true"},
        {"null", "false"},
        {"true", "false"},
        {"9007199254740993", "9007199254740992"},
        {"9007199254740993", "9007199254740993.0"},
        {"100000000000000000001", "1e20"},
        {"1000000000000000000000", "1e21"},
        {"[1,2]", "[2,1]"},
        {"[1]", "[1,1]"},
        {"{\"a\":1}", "{\"b\":1}"},
        {"{\"a\":1}", "{\"a\":2}"},
        {"{}", "[]"},
        {"0.1", "0.10000000000000002"},
    };

    vls_arena_init(&arena, t->env, SIZE_MAX);
    for (size_t i = 0; i < VLS_COUNT(same); i++) {
        vls_json a = parse(t, same[i][0]), b = parse(t, same[i][1]);
        CHECK_MSG(vls_json_equal(a, b), "%s should equal %s", same[i][0], same[i][1]);
    }
    for (size_t i = 0; i < VLS_COUNT(different); i++) {
        vls_json a = parse(t, different[i][0]), b = parse(t, different[i][1]);
        CHECK_MSG(!vls_json_equal(a, b), "%s equals %s", different[i][0], different[i][1]);
    }
    vls_arena_release(&arena);
}

TEST(json, numbers_are_ordered_exactly)
{
    /* Ascending, all different. */
    static const char *const order[] = {
        "-1e300",
        "-100000000000000000000000001",
        "-100000000000000000000000000",
        "-9007199254740993",
        "-9007199254740992.0",
        "-1.5",
        "-1",
        "-0.5",
        "0",
        "5e-324",
        "0.1",
        "0.5",
        "1",
        "1.5",
        "9007199254740992",
        "9007199254740993",
        "9223372036854775807",
        "9223372036854775808",
        "99999999999999999999.0",
        "100000000000000000001",
        "1e21",
        "1e300",
        "1.7976931348623157e308",
    };

    vls_arena_init(&arena, t->env, SIZE_MAX);
    for (size_t i = 0; i < VLS_COUNT(order); i++) {
        for (size_t j = 0; j < VLS_COUNT(order); j++) {
            int expected = i < j ? -1 : i > j;
            int actual = vls_json_number_compare(parse(t, order[i]), parse(t, order[j]));
            CHECK_MSG(actual == expected, "%s against %s gives %d", order[i], order[j], actual);
        }
    }
    CHECK_INT(0, vls_json_number_compare(parse(t, "100000000000000000000"), parse(t, "1e20")));
    vls_arena_release(&arena);
}

TEST(json, keys_are_in_the_order_of_utf16_units)
{
    /* U+FFFD comes before U+1F600 in UTF-8 and after it in UTF-16 (D83D DE00). */
    CHECK(vls_json_key_compare(VLS_STR("\xF0\x9F\x98\x80"), VLS_STR("\xEF\xBF\xBD")) < 0);
    CHECK(vls_json_key_compare(VLS_STR("\xEE\x80\x80"), VLS_STR("\xF0\x9F\x98\x80")) > 0);
    CHECK(vls_json_key_compare(VLS_STR("\xED\x9F\xBF"), VLS_STR("\xF0\x9F\x98\x80")) < 0);
    CHECK(vls_json_key_compare(VLS_STR("12345678\xEF\xBF\xBD"),
                               VLS_STR("12345678\xF0\x9F\x98\x80")) > 0);
    CHECK(vls_json_key_compare(VLS_STR("a"), VLS_STR("ab")) < 0);
    CHECK(vls_json_key_compare(VLS_STR(""), VLS_STR("a")) < 0);
    CHECK(vls_json_key_compare(VLS_STR("abcdefghi"), VLS_STR("abcdefghi")) == 0);
    CHECK(vls_json_key_compare(VLS_STR("abcdefghX"), VLS_STR("abcdefghY")) < 0);

    /* A difference at any place, of the last ones and of words of eight bytes. */
    for (size_t len = 1; len < 40; len++) {
        for (size_t at = 0; at < len; at++) {
            char a[40], b[40];
            memset(a, 'm', len);
            memset(b, 'm', len);
            a[at] = 'k';
            memset(a + at + 1, 'z', len - at - 1);
            CHECK(vls_json_key_compare(vls_str(a, len), vls_str(b, len)) < 0);
            CHECK(vls_json_key_compare(vls_str(b, len), vls_str(a, len)) > 0);
        }
    }
}

/* As many levels as a value can have are compared to the innermost. */
TEST(json, equal_looks_as_deep_as_values_are)
{
    char text[2 * VLS_JSON_MAX_DEPTH + 2];

    vls_arena_init(&arena, t->env, SIZE_MAX);
    memset(text, '[', VLS_JSON_MAX_DEPTH);
    memset(text + VLS_JSON_MAX_DEPTH, ']', VLS_JSON_MAX_DEPTH + 1);
    text[2 * VLS_JSON_MAX_DEPTH + 1] = '\0';
    text[VLS_JSON_MAX_DEPTH] = '1';
    vls_json one = parse(t, text), same = parse(t, text);
    text[VLS_JSON_MAX_DEPTH] = '2';
    CHECK(vls_json_equal(one, same) && !vls_json_equal(one, parse(t, text)));
    vls_arena_release(&arena);
}

/* An integral double becomes the INT with the digits that it is written with, or stays REAL. */
TEST(json, integral_doubles_are_ints_where_their_digits_fit)
{
    test_rng rng = test_rng_new(test_seed());

    for (int i = 0; i < 20000; i++) {
        char text[VLS_NUMBER_TEXT];
        double d = ldexp((double)(test_random(&rng) >> 11), (int)test_random_below(&rng, 14));
        int64_t integer = 0;
        bool fits = vls_str_to_i64(&integer, vls_str(text, vls_number_write(text, d)));
        vls_json v = vls_json_real(d);
        CHECK_INT(fits ? VLS_JSON_INT : VLS_JSON_REAL, v.type);
        CHECK(!fits || v.integer == integer);
        CHECK(vls_json_to_double(v) == d);
    }
}

TEST(json, finds_members)
{
    bool found;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json v = parse(t, "{\"b\":2,\"d\":4,\"a\":1,\"\":0}");
    CHECK_INT(4, vls_json_get(v, VLS_STR("d"))->integer);
    CHECK_INT(0, vls_json_get(v, VLS_STR(""))->integer);
    CHECK(!vls_json_get(v, VLS_STR("c")));
    CHECK(!vls_json_get(parse(t, "[1]"), VLS_STR("0")));
    CHECK_INT(3, vls_json_find(&found, v, VLS_STR("c")));
    CHECK(!found);
    CHECK_INT(4, vls_json_find(&found, v, VLS_STR("e")));
    CHECK_INT(2, vls_json_find(&found, v, VLS_STR("b")));
    CHECK(found);
    vls_arena_release(&arena);
}

/* Many members: no scratch memory is no reason to fail. [Q18] */
static int sort_with_faults(fault *f, void *arg)
{
    enum { COUNT = 100 };
    vls_member m[COUNT];
    size_t twice;

    (void)arg;
    for (size_t i = 0; i < COUNT; i++) {
        const char *key = test_format("%03zu", COUNT - i);
        m[i] = (vls_member){vls_json_string(valise_str_of(key)), vls_json_null()};
    }
    CHECK(vls_json_sort_members(&twice, m, COUNT, f->env));
    for (size_t i = 1; i < COUNT; i++)
        CHECK(vls_json_key_compare(vls_json_str(m[i - 1].key), vls_json_str(m[i].key)) < 0);
    f->recovered = true;
    return 0;
}

TEST(json, sorts_without_scratch_memory_too)
{
    CHECK_INT(1, fault_each_alloc(t, 0, sort_with_faults, NULL));
}

/* Every size around the run length of the sort, in random order, keys with shared prefixes. */
TEST(json, sorts_members_of_any_number)
{
    test_rng rng = test_rng_new(test_seed());

    for (size_t count = 0; count < 400; count += count < 70 ? 1 : 37) {
        vls_member *m = test_alloc(count * sizeof(*m) + 1);
        size_t twice;
        for (size_t i = 0; i < count; i++) {
            const char *key = test_format("prefix-%05zu", i);
            m[i] = (vls_member){vls_json_string(valise_str_of(key)), vls_json_int((int64_t)i)};
        }
        for (size_t i = count; i > 1; i--) {
            size_t j = test_random_below(&rng, i);
            vls_member other = m[j];
            m[j] = m[i - 1];
            m[i - 1] = other;
        }
        vls_member *copy = test_alloc(count * sizeof(*m) + 1);
        memcpy(copy, m, count * sizeof(*m));
        CHECK(vls_json_sort_members(&twice, copy, count, NULL)); /* in place */
        CHECK(vls_json_sort_members(&twice, m, count, t->env));  /* through memory */
        CHECK(memcmp(copy, m, count * sizeof(*m)) == 0);
        for (size_t i = 0; i < count; i++)
            CHECK_INT(i, m[i].value.integer);
    }
}

TEST(json, sorting_is_stable_and_finds_twins)
{
    enum { COUNT = 100 };
    vls_member m[COUNT], copy[COUNT];
    size_t twice = 0;

    for (size_t i = 0; i < COUNT; i++) {
        const char *key = test_format("%zu", i % 99); /* only "0" stands twice: at 0 and 99 */
        m[i] = (vls_member){vls_json_string(valise_str_of(key)), vls_json_int((int64_t)i)};
    }
    memcpy(copy, m, sizeof(m));
    CHECK(!vls_json_sort_members(&twice, copy, COUNT, t->env));
    CHECK(!vls_json_sort_members(&twice, m, COUNT, NULL));
    CHECK(memcmp(copy, m, sizeof(m)) == 0); /* stable either way */
    CHECK_STR(VLS_STR("0"), vls_json_str(m[twice].key));
    CHECK_INT(0, m[twice - 1].value.integer);
    CHECK_INT(99, m[twice].value.integer);
}

TEST(json, object_refuses_a_key_twice)
{
    vls_member m[] = {
        {vls_json_string(VLS_STR("b")), vls_json_int(1)},
        {vls_json_string(VLS_STR("a")), vls_json_int(2)},
        {vls_json_string(VLS_STR("b")), vls_json_int(3)},
    };
    vls_json v = vls_json_null();

    CHECK_RC(VALISE_E_INVALID, vls_json_object(&v, m, 3, &t->err));
    CHECK_TEXT("duplicate key \"b\"", t->err.message);
    CHECK_INT(VLS_JSON_NULL, v.type);
    m[2].key = vls_json_string(VLS_STR("c"));
    CHECK_OK(vls_json_object(&v, m, 3, &t->err));
    CHECK_INT(2, v.members[0].value.integer);
    m[2].key = vls_json_string((valise_str){NULL, 0}); /* there is no byte to look at */
    CHECK_OK(vls_json_object(&v, m, 3, &t->err));
    CHECK_INT(3, v.members[0].value.integer);
}

static int build_sample(vls_json *out, vls_arena *a, valise_error *err)
{
    VLS_AUTO(json_builder) vls_json_builder b;

    vls_json_builder_init(&b, a);
    vls_json_open(&b, VLS_JSON_OBJECT);
    vls_json_add_key(&b, VLS_STR("z"));
    vls_json_open(&b, VLS_JSON_ARRAY);
    for (int i = 0; i < 200; i++)
        vls_json_add(&b, vls_json_int(i));
    vls_json_close(&b);
    vls_json_add_key(&b, VLS_STR("a"));
    vls_json_open(&b, VLS_JSON_OBJECT);
    vls_json_close(&b);
    vls_json_close(&b);
    return vls_json_builder_finish(out, &b, err);
}

TEST(json, builder_makes_what_it_is_told)
{
    vls_json v;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    CHECK_OK(build_sample(&v, &arena, &t->err));
    CHECK_INT(2, v.len);
    CHECK_STR(VLS_STR("a"), vls_json_str(v.members[0].key));
    CHECK_INT(200, v.members[1].value.len);
    CHECK_INT(199, v.members[1].value.items[199].integer);
    vls_arena_release(&arena);
}

static int build_with_faults(fault *f, void *arg)
{
    VLS_AUTO(arena) vls_arena a;
    vls_json v = vls_json_bool(true);
    int rc;

    (void)arg;
    vls_arena_init(&a, f->env, SIZE_MAX);
    rc = build_sample(&v, &a, &f->err);
    CHECK_INT(rc == 0 ? VLS_JSON_OBJECT : VLS_JSON_BOOL, v.type);
    return rc;
}

/* [Q18] */
TEST(json, builder_survives_every_failing_allocation)
{
    CHECK(fault_each_alloc(t, 0, build_with_faults, NULL) >= 3);
}

TEST(json, builder_stops_at_the_depth_limit_and_at_a_key_twice)
{
    vls_json_builder b;
    vls_json v;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json_builder_init(&b, &arena);
    for (unsigned i = 0; i < VLS_JSON_MAX_DEPTH + 1; i++)
        vls_json_open(&b, VLS_JSON_ARRAY);
    for (unsigned i = 0; i < VLS_JSON_MAX_DEPTH + 1; i++)
        vls_json_close(&b);
    CHECK_RC(VALISE_E_LIMIT, vls_json_builder_finish(&v, &b, &t->err));

    vls_json_builder_init(&b, &arena);
    vls_json_open(&b, VLS_JSON_OBJECT);
    for (int i = 0; i < 2; i++)
        vls_json_add_member(&b, VLS_STR("k"), vls_json_null());
    vls_json_close(&b);
    CHECK_RC(VALISE_E_INVALID, vls_json_builder_finish(&v, &b, &t->err));
    CHECK(strstr(t->err.message, "\"k\"") != NULL);
    vls_arena_release(&arena);
}

TEST(json, builder_takes_just_as_deep_as_the_limit)
{
    vls_json_builder b;
    vls_json v = vls_json_null();

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json_builder_init(&b, &arena);
    for (unsigned i = 0; i < VLS_JSON_MAX_DEPTH; i++)
        vls_json_open(&b, VLS_JSON_ARRAY);
    for (unsigned i = 0; i < VLS_JSON_MAX_DEPTH; i++)
        vls_json_close(&b);
    CHECK_OK(vls_json_builder_finish(&v, &b, &t->err));
    CHECK_INT(VLS_JSON_ARRAY, v.type);
    vls_arena_release(&arena);
}

/* Whatever is done after the first failure, that one is reported. */
TEST(json, builder_remembers_its_first_failure)
{
    vls_json_builder b;
    vls_json v = vls_json_bool(true);
    counting_env c;

    counting_env_init(&c);
    for (int tell = 0; tell < 2; tell++) {
        vls_arena_init(&arena, &c.env, SIZE_MAX);
        vls_json_builder_init(&b, &arena);
        vls_json_open(&b, VLS_JSON_OBJECT);
        for (int i = 0; i < 4; i++)
            vls_json_add(&b, vls_json_string(VLS_STR("k")));
        vls_json_close(&b);
        counting_env_fail_from(&c, 0);
        for (unsigned i = 0; i < VLS_JSON_MAX_DEPTH + 1; i++) {
            vls_json_open(&b, VLS_JSON_ARRAY);
            vls_json_add(&b, vls_json_null());
        }
        counting_env_fail_at(&c, -1);
        CHECK_INT(VALISE_E_INVALID, vls_json_builder_finish(&v, &b, tell ? &t->err : NULL));
        vls_arena_release(&arena);
    }
    CHECK_TEXT("duplicate key \"k\"", t->err.message);
    CHECK_INT(VLS_JSON_BOOL, v.type);
    CHECK_INT(0, counting_env_in_use(&c));
}

static int copy_with_faults(fault *f, void *arg)
{
    VLS_AUTO(arena) vls_arena a;
    vls_json v = vls_json_bool(true);

    vls_arena_init(&a, f->env, SIZE_MAX);
    int rc = vls_json_copy(&v, &a, *(vls_json *)arg, &f->err);
    CHECK_INT(rc == 0 ? VLS_JSON_OBJECT : VLS_JSON_BOOL, v.type);
    return rc;
}

/* [Q18] */
TEST(json, copy_survives_every_failing_allocation)
{
    char *large = test_alloc(5001); /* so that a block is needed in the middle */

    memset(large, 'x', 5000);
    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json v =
        parse(t, test_format("{\"a\":[\"%.*s\",[1]],\"b\":\"%.*s\"}", 5000, large, 5000, large));
    CHECK(fault_each_alloc(t, 0, copy_with_faults, &v) >= 2);
    vls_arena_release(&arena);
}

TEST(json, copy_borrows_nothing)
{
    vls_arena other;
    char text[] = "{\"key\":[\"value\",12345678901234567890123,0.5,null,{}],\"e\":\"\\n\"}";
    vls_json v, copy;
    VLS_AUTO(buf) vls_buf out;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_arena_init(&other, t->env, SIZE_MAX);
    vls_buf_init(&out, t->env, 1000);
    v = parse(t, text);
    CHECK_OK(vls_json_copy(&copy, &other, v, &t->err));
    memset(text, 'X', sizeof(text));
    vls_arena_release(&arena);
    CHECK_OK(vls_json_write(&out, copy, &t->err));
    CHECK_STR(VLS_STR("{\"e\":\"\\n\",\"key\":[\"value\",12345678901234567890123,0.5,null,{}]}"),
              vls_buf_str(&out));
    vls_arena_release(&other);
}

TEST(json, names_of_types)
{
    static const char *const cases[][2] = {
        {"null", "null"},   {"true", "boolean"},
        {"1", "integer"},   {"1.5", "number"},
        {"\"\"", "string"}, {"[]", "array"},
        {"{}", "object"},   {"123456789012345678901234567890", "integer"},
    };

    vls_arena_init(&arena, t->env, SIZE_MAX);
    for (size_t i = 0; i < VLS_COUNT(cases); i++)
        CHECK_TEXT(cases[i][1], vls_json_type_name(parse(t, cases[i][0])));
    CHECK(vls_json_to_double(parse(t, "123456789012345678901234567890")) == 1.2345678901234568e29);
    vls_arena_release(&arena);
}
