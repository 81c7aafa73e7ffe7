/* fuzz_prompt_manifest.c -- any manifest of a prompt at all: refused with a reason, or one that is
 * written and read again as it is, and rendered without its objects. [P8] [Q20] */
#include "fuzz/fuzz.h"

#include "prompt/manifest.h"

/* Nobody has the objects any more. */
static int nothing(valise_str *out, const char **why, void *arg, const vls_part *part,
                   const valise_id *blob, valise_error *err)
{
    (void)out;
    (void)arg;
    (void)part;
    (void)blob;
    (void)err;
    *why = "erased";
    return 0;
}

static void check_render(vls_arena *arena, const vls_manifest *m)
{
    vls_render_how how = {.max_bytes = (size_t)1 << 24};
    vls_rendered rendered = {0}, hashed = {0};
    valise_error err = VALISE_ERROR_INIT;
    vls_neutral neutral;
    valise_id id;
    size_t sum = 0;

    if (vls_render(&rendered, arena, m->parts.ptr, m->parts.len, nothing, NULL, &how, &err) < 0) {
        FUZZ_CHECK(err.message[0]);
        return;
    }
    for (size_t i = 0; i < rendered.spans.len; i++)
        sum += rendered.spans.ptr[i].length;
    FUZZ_CHECK(sum == rendered.text.len && sum == rendered.bytes);
    vls_hash_bytes(&id, vls_buf_str(&rendered.text));
    FUZZ_CHECK(vls_id_equal(&id, &rendered.hash));
    how.no_text = true;
    FUZZ_CHECK(vls_render(&hashed, arena, m->parts.ptr, m->parts.len, nothing, NULL, &how, &err) ==
               0);
    FUZZ_CHECK(hashed.bytes == sum && vls_id_equal(&id, &hashed.hash));
    vls_rendered_release(&hashed);
    (void)vls_neutral_of(&neutral, rendered.all, &err);
    vls_rendered_release(&rendered);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(buf) vls_buf first = {0};
    VLS_AUTO(buf) vls_buf second = {0};
    valise_error err = VALISE_ERROR_INIT;
    vls_manifest m = {0}, again = {0};
    int rc;

    vls_arena_init(&arena, valise_env_default(), (size_t)256 << 20);
    vls_buf_init(&first, valise_env_default(), (size_t)1 << 28);
    vls_buf_init(&second, valise_env_default(), (size_t)1 << 28);
    rc = vls_manifest_read(&m, &arena, (valise_str){(const char *)data, size}, &err);
    if (rc < 0) {
        FUZZ_CHECK(err.message[0]);
        return 0;
    }
    FUZZ_CHECK(vls_manifest_write(&first, &m, &err) == 0);
    FUZZ_CHECK(vls_manifest_read(&again, &arena, vls_buf_str(&first), &err) == 0);
    FUZZ_CHECK(vls_manifest_write(&second, &again, &err) == 0);
    FUZZ_CHECK(vls_str_equal(vls_buf_str(&first), vls_buf_str(&second)));
    check_render(&arena, &m);
    return 0;
}
