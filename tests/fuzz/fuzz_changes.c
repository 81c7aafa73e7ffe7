/* fuzz_changes.c -- bytes as the list of changes of a log entry: what is read is written as the
 * same bytes, or it is refused. [Q20] */
#include "fuzz/fuzz.h"

#include "store/log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    VLS_AUTO(buf) vls_buf out = {0};
    valise_error err = VALISE_ERROR_INIT;
    valise_str bytes = vls_str(data, size);
    vls_image image;
    size_t at = 0;
    int rc;

    vls_buf_init(&out, valise_env_default(), SIZE_MAX);
    while ((rc = vls_changes_next(&image, &at, bytes, &err)) > 0) {
        FUZZ_CHECK(at <= size && image.coll < VLS_COLL_MAX);
        FUZZ_CHECK(image.from_seq >= 0 && image.gone_seq >= 0);
        vls_changes_write(&out, &image);
        FUZZ_CHECK(vls_str_equal(vls_buf_str(&out), vls_str(data, at)));
    }
    if (rc < 0)
        FUZZ_CHECK(err.code == VALISE_E_CORRUPT && err.message[0]);
    else
        FUZZ_CHECK(at == size);
    return 0;
}
