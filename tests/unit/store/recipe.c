/* recipe.c -- lists of chunk numbers as bytes. */
#include "store/recipe.h"

#include "harness/test.h"

static valise_str write_list(vls_buf *out, uint8_t depth, const int64_t *numbers, size_t count)
{
    vls_recipe_writer writer;

    vls_buf_clear(out);
    vls_recipe_begin(&writer, out, depth);
    for (size_t i = 0; i < count; i++)
        vls_recipe_add(&writer, numbers[i]);
    vls_recipe_end(&writer);
    return vls_buf_str(out);
}

/* All numbers, or the code of the failure. */
static int read_list(int64_t *numbers, size_t *count, size_t max, valise_str bytes,
                     valise_error *err)
{
    vls_recipe_reader recipe;
    int64_t first, run;
    int rc = vls_recipe_open(&recipe, bytes, err);

    *count = 0;
    while (rc == 0 && (rc = vls_recipe_next(&first, &run, &recipe, err)) == 1) {
        for (int64_t i = 0; i < run; i++) {
            CHECK(*count < max);
            numbers[(*count)++] = first + i;
        }
        rc = 0;
        if (vls_reader_is_done(&recipe.in))
            break;
    }
    return rc;
}

TEST(recipe, what_was_written_is_read)
{
    VLS_AUTO(buf) vls_buf out = {0};
    test_rng rng = test_rng_new(test_seed());

    vls_buf_init(&out, t->env, 1 << 20);
    for (unsigned round = 0; round < 300; round++) {
        int64_t numbers[200], back[200];
        size_t count = test_random_below(&rng, 200), got;
        int64_t at = 1;
        for (size_t i = 0; i < count; i++) {
            if (test_random_below(&rng, 4) == 0)
                at =
                    (int64_t)(1 + test_random(&rng) % (UINT64_C(1) << test_random_below(&rng, 60)));
            numbers[i] = at < VLS_RECIPE_MAX_NUMBER ? at : 1;
            at = numbers[i] + 1;
        }
        valise_str bytes = write_list(&out, 1, numbers, count);
        CHECK_OK(vls_buf_check(&out, &t->err));
        CHECK_OK(read_list(back, &got, VLS_COUNT(back), bytes, &t->err));
        CHECK_INT(count, got);
        for (size_t i = 0; i < count; i++)
            CHECK_INT(numbers[i], back[i]);
        /* Cut anywhere it is refused, or another list: never read past its end. */
        for (size_t cut = 0; cut < bytes.len; cut++) {
            char *copy = test_alloc(cut + 1);
            memcpy(copy, bytes.ptr, cut);
            read_list(back, &got, VLS_COUNT(back), vls_str(copy, cut), NULL);
        }
    }
}

TEST(recipe, malformed_ones_are_refused)
{
    static const struct {
        const char *bytes;
        size_t len;
    } bad[] = {
        {"", 0},
        {"\x00\x04", 2},                                          /* depth 0 */
        {"\x03\x04", 2},                                          /* depth 3 */
        {"\x01\x00", 2},                                          /* number 0 */
        {"\x01\x02", 2},                                          /* number -1 */
        {"\x01\x05", 2},                                          /* run without length */
        {"\x01\x05\x00", 3},                                      /* of no chunk */
        {"\x01\x05\x01", 3},                                      /* of one chunk */
        {"\x01\x04\x00", 3},                                      /* 1, then 2: one run */
        {"\x01\x84\x00", 3},                                      /* varint too long */
        {"\x01\x05\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12}, /* run of 2^64 - 1 */
        {"\x01\xfc\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11},     /* number 2^62 */
        {"\x01\x05\xff\xff\xff\xff\xff\xff\xff\xff\x1f", 11},     /* run over the last number */
    };

    for (size_t i = 0; i < VLS_COUNT(bad); i++) {
        int64_t first, count;
        vls_recipe_reader recipe;
        int rc;
        test_context("recipe %zu", i);
        rc = vls_recipe_open(&recipe, vls_str(bad[i].bytes, bad[i].len), &t->err);
        while (rc == 0 && (rc = vls_recipe_next(&first, &count, &recipe, &t->err)) == 1)
            rc = 0;
        if (rc == 0)
            CHECK_MSG(false, "recipe %zu was taken", i);
        CHECK_INT(VALISE_E_CORRUPT, rc);
        test_context_end();
    }
}
