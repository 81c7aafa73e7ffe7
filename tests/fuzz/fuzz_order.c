/* fuzz_order.c -- ordered keys: whatever is accepted is what writing its parts makes again. */
#include "fuzz/fuzz.h"
#include "kit/order.h"

#define LIMIT ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(buf) vls_buf again = {0};
    vls_reader in = vls_reader_of(vls_str(data, size));
    vls_order_part part;

    vls_arena_init(&arena, valise_env_default(), LIMIT);
    vls_buf_init(&again, valise_env_default(), LIMIT);
    while (vls_reader_left(&in) > 0) {
        if (vls_order_next(&part, &in, &arena, NULL) < 0)
            break;
        add_part(&again, &part);
    }
    FUZZ_CHECK(in.failed || again.failed ||
               vls_str_equal(vls_str(data, size), vls_buf_str(&again)));
    /* What was read before a failure is a beginning of it. */
    FUZZ_CHECK(again.failed || vls_str_starts(vls_str(data, size), vls_buf_str(&again)));
    return 0;
}
