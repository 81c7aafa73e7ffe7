/* fuzz_sse.c -- any bytes as a stream of events: the same events however they are cut. [P11] */
#include "fuzz/fuzz.h"

#include <string.h>

#include "base/str.h"
#include "wire/sse.h"

static int note(void *arg, valise_str name, valise_str data, valise_error *err)
{
    vls_buf *out = arg;

    (void)err;
    FUZZ_CHECK(name.len <= VLS_SSE_MAX_NAME);
    FUZZ_CHECK(vls_str_find_byte(name, '\n') == name.len);
    FUZZ_CHECK(vls_str_find_byte(data, '\r') == data.len);
    vls_buf_add(out, name);
    vls_buf_add_byte(out, '|');
    vls_buf_add(out, data);
    vls_buf_add_byte(out, '\0');
    return 0;
}

/* cut 0: as a whole; else in pieces whose lengths go from 1 to cut. */
static void events_of(vls_buf *out, valise_str bytes, size_t cut)
{
    size_t step = cut ? 1 : bytes.len;
    vls_sse sse;

    vls_buf_init(out, valise_env_default(), (size_t)1 << 26);
    vls_sse_init(&sse, valise_env_default(), note, out);
    for (size_t at = 0; at < bytes.len; at += step) {
        if (cut && at > 0)
            step = step % cut + 1;
        FUZZ_CHECK(vls_sse_feed(&sse, vls_str_head(vls_str_from(bytes, at), step), NULL) == 0);
    }
    FUZZ_CHECK(vls_sse_finish(&sse, NULL) == 0);
    FUZZ_CHECK(out->failed == 0);
    vls_sse_release(&sse);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    valise_str bytes = vls_str(data, size);
    vls_buf whole, pieces;

    events_of(&whole, bytes, 0);
    for (size_t cut = 1; cut < 6; cut += 2) {
        events_of(&pieces, bytes, cut);
        FUZZ_CHECK(vls_str_equal(vls_buf_str(&whole), vls_buf_str(&pieces)));
        vls_buf_release(&pieces);
    }
    vls_buf_release(&whole);
    return 0;
}
