/* fuzz_lens.c -- any text as a view: refused with a reason, or its canonical text means the same.
 * [Q20] [C14] */
#include "fuzz/fuzz.h"

#include "base/str.h"
#include "context/lens.h"

static void write(vls_buf *out, const vls_lens *lens)
{
    vls_buf_init(out, valise_env_default(), 4 * VLS_LENS_TEXT_MAX);
    vls_lens_write(out, lens);
    FUZZ_CHECK(vls_buf_check(out, NULL) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    VLS_AUTO(buf) vls_buf first = {0}, second = {0};
    valise_error err = VALISE_ERROR_INIT;
    vls_lens lens, again;

    if (vls_lens_parse(&lens, vls_str(data, size), &err) < 0) {
        FUZZ_CHECK(err.message[0]);
        return 0;
    }
    write(&first, &lens);
    if (first.len > VLS_LENS_TEXT_MAX)
        return 0;
    FUZZ_CHECK(vls_lens_parse(&again, vls_buf_str(&first), &err) == 0);
    write(&second, &again);
    FUZZ_CHECK(vls_str_equal(vls_buf_str(&first), vls_buf_str(&second)));
    return 0;
}
