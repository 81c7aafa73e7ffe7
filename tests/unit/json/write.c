/* write.c -- text from values. */
#include "harness/test.h"

#include "json/json.h"

TEST(json_write, escapes_every_byte_at_every_place)
{
    VLS_AUTO(buf) vls_buf out;
    VLS_AUTO(arena) vls_arena arena;
    char text[40];
    vls_json v;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_buf_init(&out, t->env, SIZE_MAX);
    for (size_t len = 1; len < 34; len++) {
        for (size_t at = 0; at < len; at++) {
            for (int c = 0; c < 0x80; c++) {
                memset(text, 'x', sizeof(text));
                text[at] = (char)c;
                vls_buf_clear(&out);
                vls_json_write_string(&out, vls_str(text, len));
                CHECK_OK(vls_json_parse(&v, &arena, vls_buf_str(&out), NULL, &t->err));
                CHECK_STR(vls_str(text, len), vls_json_str(v));
                bool escaped = c < 0x20 || c == '"' || c == '\\';
                CHECK(escaped == (out.len > len + 2));
                CHECK(!memchr(out.ptr, 'F', out.len) || c == 'F'); /* \u001f, not \u001F */
            }
            vls_arena_reset(&arena);
        }
    }
}

TEST(json_write, readable_form)
{
    VLS_AUTO(buf) vls_buf out;
    VLS_AUTO(arena) vls_arena arena;
    vls_json v;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_buf_init(&out, t->env, SIZE_MAX);
    CHECK_OK(vls_json_parse(&v, &arena, VLS_STR("{\"b\":[1,[],{\"c\":{}}],\"a\":\"x\"}"), NULL,
                            &t->err));
    CHECK_OK(vls_json_write_pretty(&out, v, &t->err));
    CHECK_STR(
        VLS_STR("{\n  \"a\": \"x\",\n  \"b\": [\n    1,\n    [],\n    {\n      \"c\": {}\n    }\n"
                "  ]\n}"),
        vls_buf_str(&out));
}

TEST(json_write, all_or_nothing)
{
    VLS_AUTO(buf) vls_buf out;
    VLS_AUTO(arena) vls_arena arena;
    vls_json v;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    CHECK_OK(vls_json_parse(&v, &arena, VLS_STR("[\"0123456789\\n\",1.5,-7,{\"k\":null}]"), NULL,
                            &t->err));
    valise_str whole = VLS_STR("before:[\"0123456789\\n\",1.5,-7,{\"k\":null}]");
    for (size_t max = 0; max < whole.len + 2; max++) {
        vls_buf_init(&out, t->env, max);
        vls_buf_add(&out, VLS_STR("before:"));
        size_t before = out.len;
        int rc = vls_json_write(&out, v, &t->err);
        if (max < whole.len) {
            CHECK_INT(VALISE_E_TOO_LARGE, rc);
            CHECK_INT(before, out.len);
        } else {
            CHECK_INT(0, rc); /* also where it fits to the byte */
            CHECK_STR(whole, vls_buf_str(&out));
        }
        vls_buf_release(&out);
    }
}

/* The byte that a buffer keeps for a NUL behind its maximum is no room for text. */
TEST(json_write, maximum_holds_in_a_buffer_that_was_a_c_string)
{
    VLS_AUTO(buf) vls_buf out;

    vls_buf_init(&out, t->env, 6);
    vls_buf_add(&out, VLS_STR("012345"));
    CHECK_TEXT("012345", vls_buf_cstr(&out));
    vls_buf_clear(&out);
    CHECK_OK(vls_json_write(&out, vls_json_string(VLS_STR("abcd")), &t->err));
    CHECK_STR(VLS_STR("\"abcd\""), vls_buf_str(&out));
    vls_buf_clear(&out);
    CHECK_RC(VALISE_E_TOO_LARGE, vls_json_write(&out, vls_json_string(VLS_STR("abcde")), &t->err));
    CHECK_INT(0, out.len);
    vls_buf_clear(&out);
    vls_json_write_string(&out, VLS_STR("abcde"));
    CHECK_RC(VALISE_E_TOO_LARGE, vls_buf_check(&out, &t->err));
}

TEST(json_write, refuses_what_is_too_deep)
{
    VLS_AUTO(buf) vls_buf out;
    vls_json levels[VLS_JSON_MAX_DEPTH + 2];
    const size_t deepest = VLS_COUNT(levels) - 1;

    vls_buf_init(&out, t->env, SIZE_MAX);
    levels[0] = vls_json_array(NULL, 0);
    for (size_t i = 1; i <= deepest; i++)
        levels[i] = vls_json_array(&levels[i - 1], 1);
    CHECK_OK(vls_json_write(&out, levels[VLS_JSON_MAX_DEPTH - 1], &t->err));
    CHECK_INT(2 * VLS_JSON_MAX_DEPTH, out.len);
    vls_buf_clear(&out);
    CHECK_RC(VALISE_E_LIMIT, vls_json_write(&out, levels[VLS_JSON_MAX_DEPTH], &t->err));
    CHECK_INT(0, out.len);
    vls_arena arena;
    vls_json copy;
    vls_arena_init(&arena, t->env, SIZE_MAX);
    CHECK_OK(vls_json_copy(&copy, &arena, levels[VLS_JSON_MAX_DEPTH - 1], &t->err));
    CHECK_RC(VALISE_E_LIMIT, vls_json_copy(&copy, &arena, levels[VLS_JSON_MAX_DEPTH], &t->err));
    CHECK_RC(VALISE_E_LIMIT, vls_json_copy(&copy, &arena, levels[deepest], &t->err));
    vls_arena_release(&arena);
}

/* Random documents: write, parse, write gives the same bytes. */
static vls_json random_value(test_rng *rng, vls_arena *arena, int depth)
{
    switch (test_random_below(rng, depth > 0 ? 8 : 6)) {
    case 0:
        return vls_json_null();
    case 1:
        return vls_json_bool(test_random(rng) & 1);
    case 2:
        return vls_json_int((int64_t)test_random(rng) >> test_random_below(rng, 63));
    case 3:
        return vls_json_real((double)(int64_t)test_random(rng) / 1048576.0);
    case 4:
    case 5:
        return vls_json_string(valise_str_of(
            test_format("k%ju \"\\\n \xc3\xa9", (uintmax_t)test_random_below(rng, 100000))));
    default:
        break;
    }
    bool object = test_random(rng) & 1;
    size_t count = test_random_below(rng, 6);
    vls_json_builder b;
    vls_json v = vls_json_null();
    vls_json_builder_init(&b, arena);
    vls_json_open(&b, object ? VLS_JSON_OBJECT : VLS_JSON_ARRAY);
    for (size_t i = 0; i < count; i++) {
        if (object)
            vls_json_add_key(&b, valise_str_of(test_format("%zu-%ju", 9 - i,
                                                           (uintmax_t)test_random_below(rng, 50))));
        vls_json_add(&b, random_value(rng, arena, depth - 1));
    }
    vls_json_close(&b);
    CHECK_INT(0, vls_json_builder_finish(&v, &b, NULL));
    return v;
}

TEST(json_write, random_documents_survive_the_round_trip)
{
    test_rng rng = test_rng_new(test_seed());
    VLS_AUTO(buf) vls_buf pretty, first, second;
    VLS_AUTO(arena) vls_arena arena;
    vls_json again;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_buf_init(&pretty, t->env, SIZE_MAX);
    vls_buf_init(&first, t->env, SIZE_MAX);
    vls_buf_init(&second, t->env, SIZE_MAX);
    for (int i = 0; i < 2000; i++) {
        vls_json v = random_value(&rng, &arena, 5);
        vls_buf_clear(&pretty);
        vls_buf_clear(&first);
        vls_buf_clear(&second);
        CHECK_OK(vls_json_write_pretty(&pretty, v, &t->err));
        CHECK_OK(vls_json_parse(&again, &arena, vls_buf_str(&pretty), NULL, &t->err));
        CHECK(vls_json_equal(v, again));
        CHECK_OK(vls_json_write(&first, v, &t->err));
        CHECK_OK(vls_json_write(&second, again, &t->err));
        CHECK_STR(vls_buf_str(&first), vls_buf_str(&second));
        vls_arena_reset(&arena);
    }
}
