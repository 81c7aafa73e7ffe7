/* fuzz_time.c -- times and durations as text: refused with a reason, or read to something whose
 * own text reads back to the same. [Q20] */
#include "fuzz/fuzz.h"

#include "base/str.h"
#include "base/time.h"

static void check_refusal(int rc, const valise_error *err, valise_str text)
{
    FUZZ_CHECK(rc == VALISE_E_INVALID || rc == VALISE_E_LIMIT);
    FUZZ_CHECK(err->code == rc && err->message[0]);
    FUZZ_CHECK(err->offset >= -1 && err->offset <= (int64_t)text.len);
}

static void check_time(valise_str text)
{
    VLS_AUTO(buf) vls_buf written;
    valise_error err = VALISE_ERROR_INIT;
    vls_time time = {7, 7}, again;
    int64_t ns = 7, same_ns;
    int rc = vls_time_parse(&time, text, &err);

    vls_buf_init(&written, valise_env_default(), 64);
    if (rc < 0) {
        check_refusal(rc, &err, text);
        FUZZ_CHECK(time.seconds == 7 && time.nanos == 7);
        FUZZ_CHECK(vls_time_parse_ns(&ns, text, NULL) == rc && ns == 7);
        return;
    }
    FUZZ_CHECK(time.nanos < VLS_NS_PER_SECOND);
    FUZZ_CHECK(vls_time_write(&written, time, NULL) == 0);
    FUZZ_CHECK(vls_time_parse(&again, vls_buf_str(&written), NULL) == 0);
    FUZZ_CHECK(again.seconds == time.seconds && again.nanos == time.nanos);
    if (vls_time_to_ns(&same_ns, time))
        FUZZ_CHECK(vls_time_parse_ns(&ns, text, NULL) == 0 && ns == same_ns);
    else
        FUZZ_CHECK(vls_time_parse_ns(&ns, text, NULL) == VALISE_E_LIMIT && ns == 7);
}

static void check_duration(valise_str text)
{
    VLS_AUTO(buf) vls_buf written;
    valise_error err = VALISE_ERROR_INIT;
    int64_t ns = 7, again;
    int rc = vls_duration_parse(&ns, text, &err);

    vls_buf_init(&written, valise_env_default(), 64);
    if (rc < 0) {
        check_refusal(rc, &err, text);
        FUZZ_CHECK(ns == 7);
        return;
    }
    FUZZ_CHECK(ns >= 0);
    vls_duration_write(&written, ns);
    FUZZ_CHECK(vls_duration_parse(&again, vls_buf_str(&written), NULL) == 0 && again == ns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_time(vls_str(data, size));
    check_duration(vls_str(data, size));
    return 0;
}
