/* fuzz_json.c -- any bytes at all: refused with an offset, or a value that survives the round trip
 * through its canonical and its readable form. [Q20] */
#include "fuzz/fuzz.h"

#include "json/json.h"

static void round_trip(vls_arena *arena, vls_json v)
{
    VLS_AUTO(buf) vls_buf canonical, pretty, again;
    vls_json back;

    vls_buf_init(&canonical, arena->env, SIZE_MAX);
    vls_buf_init(&pretty, arena->env, SIZE_MAX);
    vls_buf_init(&again, arena->env, SIZE_MAX);
    FUZZ_CHECK(vls_json_write(&canonical, v, NULL) == 0);
    FUZZ_CHECK(vls_json_write_pretty(&pretty, v, NULL) == 0);
    FUZZ_CHECK(vls_json_parse(&back, arena, vls_buf_str(&pretty), NULL, NULL) == 0);
    FUZZ_CHECK(vls_json_equal(v, back));
    FUZZ_CHECK(vls_json_parse(&back, arena, vls_buf_str(&canonical), NULL, NULL) == 0);
    FUZZ_CHECK(vls_json_equal(v, back));
    FUZZ_CHECK(vls_json_write(&again, back, NULL) == 0);
    FUZZ_CHECK(vls_str_equal(vls_buf_str(&canonical), vls_buf_str(&again)));
    FUZZ_CHECK(vls_json_copy(&back, arena, v, NULL) == 0);
    FUZZ_CHECK(vls_json_equal(v, back));
}

/* One with the keys in order, the parser as judge; NULL: it is no JSON. */
static void check_canonical(valise_str text, const vls_json *v)
{
    VLS_AUTO(blob) valise_blob *made = NULL;
    VLS_AUTO(buf) vls_buf canonical;

    vls_buf_init(&canonical, valise_env_default(), SIZE_MAX);
    FUZZ_CHECK((vls_json_canonical(&made, valise_env_default(), text, NULL) == 0) == (v != NULL));
    if (!v)
        return;
    FUZZ_CHECK(vls_json_write(&canonical, *v, NULL) == 0);
    FUZZ_CHECK(vls_str_equal(vls_buf_str(&canonical), vls_blob_bytes(made)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const vls_json_limits lenient = {.flags = VLS_JSON_LAST_KEY_WINS};
    const vls_json_limits shallow = {.max_depth = 2};
    valise_str text = vls_str(data, size);
    VLS_AUTO(arena) vls_arena arena;
    valise_error err = VALISE_ERROR_INIT;
    vls_json v, w;

    vls_arena_init(&arena, valise_env_default(), (size_t)64 << 20);
    int rc = vls_json_parse(&v, &arena, text, NULL, &err);
    check_canonical(text, rc == 0 ? &v : NULL);
    FUZZ_CHECK(rc == 0 || !vls_json_is_canonical(text));
    if (rc == 0) {
        round_trip(&arena, v);
        FUZZ_CHECK(vls_json_parse(&w, &arena, text, &lenient, NULL) == 0);
        FUZZ_CHECK(vls_json_equal(v, w));
        (void)vls_json_parse(&w, &arena, text, &shallow, NULL);
    } else {
        FUZZ_CHECK(err.code == rc && err.offset >= 0 && (size_t)err.offset <= size &&
                   err.message[0]);
        if (vls_json_parse(&w, &arena, text, &lenient, NULL) == 0)
            round_trip(&arena, w);
    }
    return 0;
}
