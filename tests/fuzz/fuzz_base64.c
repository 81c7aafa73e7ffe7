/* fuzz_base64.c -- any bytes survive the round trip in pieces; any text is refused with an offset
 * or is the one text of its bytes. The first byte chooses the flags, the second where to cut.
 * [Q20] */
#include "fuzz/fuzz.h"

#include "base/base64.h"
#include "base/hex.h"
#include "base/str.h"

static void check_bytes(valise_str bytes, size_t cut, uint32_t flags)
{
    VLS_AUTO(buf) vls_buf text = {0}, back = {0};
    vls_base64_encoder e;

    vls_buf_init(&text, valise_env_default(), vls_base64_encoded_len(bytes.len));
    vls_buf_init(&back, valise_env_default(), bytes.len);
    vls_base64_encoder_init(&e, flags);
    vls_base64_encode_update(&text, &e, vls_str_head(bytes, cut));
    vls_base64_encode_update(&text, &e, vls_str_from(bytes, cut));
    vls_base64_encode_finish(&text, &e);
    FUZZ_CHECK(vls_buf_check(&text, NULL) == 0);
    FUZZ_CHECK(vls_base64_decode(&back, vls_buf_str(&text), flags, NULL) == 0);
    FUZZ_CHECK(vls_str_equal(bytes, vls_buf_str(&back)));

    vls_buf_release(&text);
    vls_buf_release(&back);
    vls_buf_init(&text, valise_env_default(), 2 * bytes.len);
    vls_hex_encode(&text, bytes);
    FUZZ_CHECK(vls_hex_decode(&back, vls_buf_str(&text), NULL) == 0);
    FUZZ_CHECK(vls_str_equal(bytes, vls_buf_str(&back)));
}

/* What decodes in one piece decodes in two, to the same bytes, and encodes to the same text. */
static void check_text(valise_str text, size_t cut, uint32_t flags)
{
    VLS_AUTO(buf) vls_buf whole = {0}, pieces = {0}, again = {0};
    valise_error err = VALISE_ERROR_INIT, err_pieces = VALISE_ERROR_INIT;
    vls_base64_decoder d;

    vls_buf_init(&whole, valise_env_default(), text.len);
    vls_buf_init(&pieces, valise_env_default(), text.len);
    vls_buf_init(&again, valise_env_default(), 2 * text.len);
    int rc = vls_base64_decode(&whole, text, flags, &err);

    vls_base64_decoder_init(&d, flags);
    int rc_pieces = vls_base64_decode_update(&pieces, &d, vls_str_head(text, cut), &err_pieces);
    if (rc_pieces == 0)
        rc_pieces = vls_base64_decode_update(&pieces, &d, vls_str_from(text, cut), &err_pieces);
    if (rc_pieces == 0)
        rc_pieces = vls_base64_decode_finish(&pieces, &d, &err_pieces);
    FUZZ_CHECK(rc == rc_pieces);
    FUZZ_CHECK(err.offset == err_pieces.offset && strcmp(err.message, err_pieces.message) == 0);
    if (rc < 0) {
        FUZZ_CHECK(err.offset >= 0 && (size_t)err.offset <= text.len && whole.len == 0);
        return;
    }
    FUZZ_CHECK(vls_str_equal(vls_buf_str(&whole), vls_buf_str(&pieces)));
    bool padded = text.len > 0 && text.ptr[text.len - 1] == '=';
    vls_base64_encode(&again, vls_buf_str(&whole),
                      padded ? flags & ~(uint32_t)VLS_BASE64_NO_PADDING : flags);
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

    check_bytes(input, cut, data[0] & 3);
    check_text(input, cut, data[0] & 3);
    if (vls_id_parse(&id, input, NULL) == 0)
        FUZZ_CHECK(vls_str_equal(input, valise_str_of(vls_id_hex(&id).s)));
    if (vls_uuid_parse(&uuid, input, NULL) == 0)
        FUZZ_CHECK(input.len == strlen(vls_uuid_text(&uuid).s));
    return 0;
}
