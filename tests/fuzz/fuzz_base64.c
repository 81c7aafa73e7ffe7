/* fuzz_base64.c -- any bytes survive the round trip in pieces; any text is refused with an offset
 * or is the one text of its bytes. The first byte says whether its padding may be missing, the
 * second where to cut the bytes. [Q20] */
#include "fuzz/fuzz.h"

#include "base/base64.h"
#include "base/hex.h"
#include "base/str.h"

static void check_bytes(valise_str bytes, size_t cut)
{
    VLS_AUTO(buf) vls_buf text = {0}, back = {0};
    vls_base64_encoder e = {0};

    vls_buf_init(&text, valise_env_default(), vls_base64_encoded_len(bytes.len));
    vls_buf_init(&back, valise_env_default(), bytes.len);
    vls_base64_encode_update(&text, &e, vls_str_head(bytes, cut));
    vls_base64_encode_update(&text, &e, vls_str_from(bytes, cut));
    vls_base64_encode_finish(&text, &e);
    FUZZ_CHECK(vls_buf_check(&text, NULL) == 0);
    FUZZ_CHECK(vls_base64_decode(&back, vls_buf_str(&text), NULL) == 0);
    FUZZ_CHECK(vls_str_equal(bytes, vls_buf_str(&back)));

    vls_buf_release(&text);
    vls_buf_release(&back);
    vls_buf_init(&text, valise_env_default(), 2 * bytes.len);
    vls_hex_encode(&text, bytes);
    FUZZ_CHECK(vls_hex_decode(&back, vls_buf_str(&text), NULL) == 0);
    FUZZ_CHECK(vls_str_equal(bytes, vls_buf_str(&back)));
}

/* What decodes encodes to the same text, but for padding that was missing. */
static void check_text(valise_str text, bool unpadded)
{
    VLS_AUTO(buf) vls_buf bytes = {0}, again = {0};
    valise_error err = VALISE_ERROR_INIT;

    vls_buf_init(&bytes, valise_env_default(), text.len);
    vls_buf_init(&again, valise_env_default(), 2 * text.len);
    int rc = unpadded ? vls_base64_decode_unpadded(&bytes, text, &err)
                      : vls_base64_decode(&bytes, text, &err);
    if (rc < 0) {
        FUZZ_CHECK(err.offset >= 0 && (size_t)err.offset <= text.len && bytes.len == 0);
        return;
    }
    vls_base64_encode(&again, vls_buf_str(&bytes));
    while (unpadded && again.len > text.len && again.ptr[again.len - 1] == '=')
        again.len--;
    FUZZ_CHECK(vls_str_equal(text, vls_buf_str(&again)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    valise_str input = vls_str(data + 2, size - 2);
    size_t cut = VLS_MIN(data[1], input.len);
    valise_id id;
    valise_uuid uuid;

    check_bytes(input, cut);
    check_text(input, data[0] & 1);
    if (vls_id_parse(&id, input, NULL) == 0)
        FUZZ_CHECK(vls_str_equal(input, valise_str_of(vls_id_hex(&id).s)));
    if (vls_uuid_parse(&uuid, input, NULL) == 0)
        FUZZ_CHECK(input.len == strlen(vls_uuid_text(&uuid).s));
    return 0;
}
