/* fuzz_merkle.c -- any bytes as a proof, of the root that they claim: whatever is read as a page is
 * written as the same bytes, and a key that is proved is in the last page. [Q20] [C11] */
#include "fuzz/fuzz.h"

#include "base/bytes.h"
#include "base/str.h"
#include "context/merkle_page.h"

/* The first page as a page of depth 0. */
static void check_page(valise_str bytes, const valise_id *key)
{
    VLS_AUTO(buf) vls_buf out = {0};
    vls_merkle_page page;

    if (vls_merkle_page_read(&page, bytes, key, 0, NULL) < 0)
        return;
    vls_buf_init(&out, valise_env_default(), SIZE_MAX / 2);
    vls_merkle_page_write(&out, &page);
    FUZZ_CHECK(vls_str_equal(vls_buf_str(&out), bytes));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    valise_error err = VALISE_ERROR_INIT;
    valise_id key, value, root;
    vls_reader in;
    valise_str page;
    int rc;

    if (size < sizeof(key.bytes))
        return 0;
    memcpy(key.bytes, data, sizeof(key.bytes));
    in = vls_reader_of(vls_str(data + sizeof(key.bytes), size - sizeof(key.bytes)));
    page = vls_reader_string(&in);
    if (in.failed)
        return 0;
    check_page(page, &key);
    vls_merkle_page_hash(&root, page);
    rc = vls_merkle_verify(&value, &root, &key,
                           vls_str(data + sizeof(key.bytes), size - sizeof(key.bytes)), &err);
    FUZZ_CHECK(rc >= 0 || (rc == VALISE_E_CORRUPT && err.message[0]));
    return 0;
}
