/* json.c -- structs to JSON and back. [K4] [K6] */
#include "harness/fault.h"
#include "kit.h"

/* decode(write(x)) is x, and the text is what the JSON writer makes of the same object. [K4] */
TEST(field_json, what_is_written_is_canonical_and_reads_back)
{
    test_rng rng = test_rng_new(test_seed());

    CHECK_OK(vls_fields_check(kit_all_fields, sizeof(kit_all), &t->err));
    for (unsigned round = 0; round < 600; round++) {
        VLS_AUTO(arena) vls_arena arena = {0};
        VLS_AUTO(buf) vls_buf again = {0};
        vls_field_form form = round % 2 ? VLS_FIELD_INPUT : VLS_FIELD_LOGGED;
        kit_all a, b;
        vls_json v;

        vls_arena_init(&arena, t->env, SIZE_MAX);
        vls_buf_init(&again, t->env, SIZE_MAX);
        kit_random(&rng, &a, kit_all_fields, sizeof(a), form);
        valise_str text = kit_write(t, &a, kit_all_fields, form, round % 3 ? 0 : VLS_FIELD_ALL);
        test_context("round %u: %.*s", round, VALISE_STR_ARG(text));
        CHECK_OK(vls_json_parse(&v, &arena, text, NULL, &t->err));
        CHECK_OK(vls_json_write(&again, v, &t->err));
        CHECK_STR(vls_buf_str(&again), text);
        CHECK_OK(vls_fields_decode(&b, kit_all_fields, sizeof(b), v, form, &arena, &t->err));
        CHECK(kit_equal(kit_all_fields, &a, &b, form));
    }
    test_context_end();
}
