/* fuzz_patch.c -- two texts, split at the byte 0x1E. As documents: the diff of the two applied to
 * the first must give the second. As a document and a patch: applied or refused, and refused
 * without a trace. [Q20] */
#include "fuzz/fuzz.h"

#include "json/diff.h"
#include "json/patch.h"

/* Equal texts, so that vls_json_equal is not the only judge. */
static void must_be_written_alike(const valise_env *env, vls_json a, vls_json b)
{
    VLS_AUTO(buf) vls_buf a_text, b_text;

    vls_buf_init(&a_text, env, SIZE_MAX);
    vls_buf_init(&b_text, env, SIZE_MAX);
    FUZZ_CHECK(vls_json_write(&a_text, a, NULL) == 0);
    FUZZ_CHECK(vls_json_write(&b_text, b, NULL) == 0);
    FUZZ_CHECK(vls_str_equal(vls_buf_str(&a_text), vls_buf_str(&b_text)));
}

static int count_change(void *arg, valise_str path, const vls_json *before, const vls_json *after)
{
    FUZZ_CHECK(before || after);
    FUZZ_CHECK(path.len == 0 || path.ptr[0] == '/');
    ++*(size_t *)arg;
    return 0;
}

static void check_diff(vls_arena *arena, vls_json a, vls_json b, const vls_diff_options *options)
{
    vls_json patch, result;
    size_t changes = 0;

    FUZZ_CHECK(vls_json_diff(&patch, arena, a, b, options, NULL) == 0);
    FUZZ_CHECK(vls_json_patch(&result, arena, a, patch, NULL, NULL) == 0);
    FUZZ_CHECK(vls_json_equal(result, b));
    must_be_written_alike(arena->env, result, b);
    FUZZ_CHECK((patch.len == 0) == vls_json_equal(a, b));
    FUZZ_CHECK(vls_json_changes(arena, a, b, options, count_change, &changes, NULL) == 0);
    FUZZ_CHECK((changes == 0) == (patch.len == 0));
}

static void check_patch(vls_arena *arena, vls_json document, vls_json patch)
{
    vls_patch_budget budget = {.max_bytes = 1 << 22};
    valise_error err = VALISE_ERROR_INIT;
    vls_json result = vls_json_int(77), before;
    size_t used;
    int rc;

    FUZZ_CHECK(vls_json_copy(&before, arena, document, NULL) == 0);
    used = arena->used;
    rc = vls_json_patch(&result, arena, document, patch, &budget, &err);
    must_be_written_alike(arena->env, document, before);
    if (rc == 0) {
        must_be_written_alike(arena->env, result, result);
        check_diff(arena, document, result, NULL);
        return;
    }
    FUZZ_CHECK(err.code == rc && err.message[0]);
    FUZZ_CHECK(rc == VALISE_E_INVALID || rc == VALISE_E_NOT_FOUND || rc == VALISE_E_CONFLICT ||
               rc == VALISE_E_LIMIT);
    FUZZ_CHECK(result.integer == 77 && arena->used == used);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const vls_diff_options hurried = {.flags = VLS_DIFF_WITH_TESTS, .max_work = 20};
    VLS_AUTO(arena) vls_arena arena;
    valise_str a_text, b_text;
    vls_json a, b;

    vls_arena_init(&arena, valise_env_default(), (size_t)256 << 20);
    (void)vls_str_cut(&a_text, &b_text, vls_str(data, size), 0x1E);
    if (vls_json_parse(&a, &arena, a_text, NULL, NULL) < 0 ||
        vls_json_parse(&b, &arena, b_text, NULL, NULL) < 0)
        return 0;
    check_diff(&arena, a, b, NULL);
    check_diff(&arena, b, a, &hurried);
    check_patch(&arena, a, b);
    return 0;
}
