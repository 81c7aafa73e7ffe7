/* fuzz_field.c -- a description of a table and a text, split at the byte 0x1E. A table that is
 * restored passes its check and is described as it was; an object it decodes is written, read back
 * and turned into cells and back without a difference. [Q20] */
#include "fuzz/fuzz.h"

#include "field/row.h"

static void write_row(vls_buf *out, const void *row, const valise_field *fields)
{
    vls_buf_clear(out);
    FUZZ_CHECK(vls_fields_write(out, row, fields, VLS_FIELD_LOGGED, 0, NULL) == 0);
}

static void check_row(vls_arena *arena, const valise_field *fields, size_t size, const void *row)
{
    VLS_AUTO(buf) vls_buf text = {0}, again = {0};
    valise_cell cells[VALISE_MAX_COLUMNS], *copy;
    size_t count = vls_fields_count(fields);
    void *back = vls_arena_alloc(arena, size);
    vls_json v;

    FUZZ_CHECK(back);
    vls_buf_init(&text, arena->env, SIZE_MAX);
    vls_buf_init(&again, arena->env, SIZE_MAX);
    write_row(&text, row, fields);
    FUZZ_CHECK(vls_json_parse(&v, arena, vls_buf_str(&text), NULL, NULL) == 0);
    FUZZ_CHECK(vls_json_write(&again, v, NULL) == 0);
    FUZZ_CHECK(vls_str_equal(vls_buf_str(&text), vls_buf_str(&again)));
    FUZZ_CHECK(vls_fields_decode(back, fields, size, v, VLS_FIELD_LOGGED, arena, NULL) == 0);
    write_row(&again, back, fields);
    FUZZ_CHECK(vls_str_equal(vls_buf_str(&text), vls_buf_str(&again)));
    FUZZ_CHECK(vls_row_to_cells(cells, back, fields, arena, NULL) == 0);
    FUZZ_CHECK(vls_cells_copy(&copy, cells, count, arena, NULL) == 0); /* they borrow from back */
    FUZZ_CHECK(vls_row_from_cells(back, fields, size, copy, count, arena, NULL) == 0);
    write_row(&again, back, fields);
    FUZZ_CHECK(vls_str_equal(vls_buf_str(&text), vls_buf_str(&again)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    valise_error err = VALISE_ERROR_INIT;
    valise_str description, text;
    const valise_field *fields;
    vls_json v, again;
    size_t row_size;

    vls_arena_init(&arena, valise_env_default(), (size_t)256 << 20);
    (void)vls_str_cut(&description, &text, vls_str(data, size), 0x1E);
    if (vls_json_parse(&v, &arena, description, NULL, NULL) < 0)
        return 0;
    if (vls_fields_restore(&fields, &row_size, v, &arena, &err) < 0) {
        FUZZ_CHECK(err.code < 0 && err.message[0]);
        return 0;
    }
    FUZZ_CHECK(vls_fields_check(fields, row_size, NULL) == 0);
    FUZZ_CHECK(vls_fields_schema(&again, fields, &arena, NULL) == 0);
    FUZZ_CHECK(vls_fields_describe(&again, fields, &arena, NULL) == 0);
    FUZZ_CHECK(vls_fields_restore(&fields, &row_size, again, &arena, NULL) == 0);
    if (vls_json_parse(&v, &arena, text, NULL, NULL) < 0)
        return 0;
    void *row = vls_arena_alloc(&arena, row_size);
    FUZZ_CHECK(row);
    if (vls_fields_decode(row, fields, row_size, v, VLS_FIELD_LOGGED, &arena, &err) == 0)
        check_row(&arena, fields, row_size, row);
    else
        FUZZ_CHECK(err.message[0]);
    return 0;
}
