/* fuzz_time.c -- times, durations, hex digits and UUIDs: refused with an offset inside the text, or
 * read and written back to the same. [Q20] */
#include "fuzz/fuzz.h"

#include "base/hex.h"
#include "base/str.h"
#include "base/time.h"

static void check_refusal(int rc, const valise_error *err, valise_str text)
{
    FUZZ_CHECK(err->code == rc && err->message[0]);
    FUZZ_CHECK(err->offset <= (int64_t)text.len);
}

static void check_time(valise_str text)
{
    valise_error err = VALISE_ERROR_INIT;
    int64_t time, back;
    int rc = vls_time_parse_ns(&time, text, &err);

    if (rc < 0) {
        check_refusal(rc, &err, text);
        return;
    }
    FUZZ_CHECK(vls_time_parse_ns(&back, valise_str_of(vls_time_text_of(time).s), NULL) == 0);
    FUZZ_CHECK(back == time);
}

static void check_duration(valise_str text)
{
    VLS_AUTO(buf) vls_buf again = {0};
    valise_error err = VALISE_ERROR_INIT;
    int64_t ns, back;
    int rc = vls_duration_parse(&ns, text, &err);

    if (rc < 0) {
        check_refusal(rc, &err, text);
        return;
    }
    vls_buf_init(&again, valise_env_default(), 64);
    vls_duration_write(&again, ns);
    FUZZ_CHECK(ns >= 0 && vls_duration_parse(&back, vls_buf_str(&again), NULL) == 0 && back == ns);
}

static void check_hex(valise_str text)
{
    VLS_AUTO(buf) vls_buf bytes = {0}, again = {0};
    valise_error err = VALISE_ERROR_INIT;
    valise_uuid uuid, back;
    int rc;

    vls_buf_init(&bytes, valise_env_default(), SIZE_MAX);
    vls_buf_init(&again, valise_env_default(), SIZE_MAX);
    rc = vls_hex_decode(&bytes, text, &err);
    if (rc < 0) {
        check_refusal(rc, &err, text);
    } else {
        vls_hex_encode(&again, vls_buf_str(&bytes));
        FUZZ_CHECK(vls_str_equal(vls_buf_str(&again), text));
    }
    if (vls_uuid_parse(&uuid, text, NULL) == 0) {
        FUZZ_CHECK(vls_uuid_parse(&back, valise_str_of(vls_uuid_text(&uuid).s), NULL) == 0);
        FUZZ_CHECK(memcmp(&uuid, &back, sizeof(uuid)) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    valise_str text = vls_str(data, size);

    check_time(text);
    check_duration(text);
    check_hex(text);
    return 0;
}
