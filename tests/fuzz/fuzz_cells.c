/* fuzz_cells.c -- bytes as the cells of a row and as a key: what is read is written as the same
 * bytes, or it is refused. [Q20] */
#include "fuzz/fuzz.h"

#include "field/row.h"

#define MAX_CELLS 16

static void check_cells(vls_buf *out, valise_str bytes)
{
    valise_error err = VALISE_ERROR_INIT;
    valise_cell cells[MAX_CELLS];
    size_t count = 0;

    if (vls_cells_read(cells, &count, MAX_CELLS, bytes, &err) < 0) {
        FUZZ_CHECK(err.code == VALISE_E_CORRUPT && err.message[0]);
        return;
    }
    vls_cells_write(out, cells, count);
    FUZZ_CHECK(vls_buf_check(out, NULL) == 0);
    FUZZ_CHECK(vls_str_equal(vls_buf_str(out), bytes));
    FUZZ_CHECK(vls_cells_compare(cells, cells, count) == 0);
}

static void check_key(vls_buf *out, vls_arena *arena, valise_str bytes)
{
    valise_cell cells[MAX_CELLS];

    for (size_t count = 0; count <= MAX_CELLS; count++) {
        if (vls_key_read(cells, count, bytes, arena, NULL) < 0)
            continue;
        vls_buf_clear(out);
        vls_key_write(out, cells, count);
        FUZZ_CHECK(vls_buf_check(out, NULL) == 0);
        FUZZ_CHECK(vls_str_equal(vls_buf_str(out), bytes));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(buf) vls_buf out = {0};

    vls_arena_init(&arena, valise_env_default(), (size_t)64 << 20);
    vls_buf_init(&out, arena.env, SIZE_MAX);
    check_cells(&out, vls_str(data, size));
    check_key(&out, &arena, vls_str(data, size));
    return 0;
}
