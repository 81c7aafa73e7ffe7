/* row.c -- rows as cells and as bytes, keys as bytes. */
#include "harness/fault.h"
#include "kit.h"

#define CELLS VALISE_MAX_COLUMNS

TEST(field_row, cells_read_back_as_the_row)
{
    test_rng rng = test_rng_new(test_seed());

    for (unsigned round = 0; round < 600; round++) {
        VLS_AUTO(arena) vls_arena arena = {0};
        VLS_AUTO(buf) vls_buf bytes = {0};
        size_t count = vls_fields_count(kit_all_fields), read;
        valise_cell cells[CELLS], again[CELLS], *copy;
        kit_all a, b;

        vls_arena_init(&arena, t->env, SIZE_MAX);
        vls_buf_init(&bytes, t->env, SIZE_MAX);
        kit_random(&rng, &a, kit_all_fields, sizeof(a), VLS_FIELD_LOGGED);
        CHECK_OK(vls_row_to_cells(cells, &a, kit_all_fields, &arena, &t->err));
        CHECK_OK(vls_cells_copy(&copy, cells, count, &arena, &t->err));
        CHECK(vls_cells_equal(copy, cells, count));
        vls_cells_write(&bytes, copy, count);
        CHECK_OK(vls_buf_check(&bytes, &t->err));
        CHECK_OK(vls_cells_read(again, &read, CELLS, vls_buf_str(&bytes), &t->err));
        CHECK_INT(count, read);
        CHECK(vls_cells_equal(again, cells, count));
        CHECK_OK(vls_row_from_cells(&b, kit_all_fields, sizeof(b), again, read, &arena, &t->err));
        CHECK(kit_equal(kit_all_fields, &a, &b, VLS_FIELD_LOGGED));
    }
}
