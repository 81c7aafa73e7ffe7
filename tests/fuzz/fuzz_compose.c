/* fuzz_compose.c -- any text as a policy of compositions: refused with a reason, or its canonical
 * text means the same. [Q20] [C25] */
#include "fuzz/fuzz.h"

#include "base/str.h"
#include "context/compose_policy.h"

static void write(vls_buf *out, const vls_compose_policy *policy)
{
    vls_buf_init(out, valise_env_default(), (size_t)8 * VLS_LENS_TEXT_MAX);
    vls_compose_write(out, policy);
    FUZZ_CHECK(vls_buf_check(out, NULL) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    VLS_AUTO(buf) vls_buf first = {0}, second = {0};
    valise_error err = VALISE_ERROR_INIT;
    vls_compose_policy policy, again;
    const valise_str none = {NULL, 0};

    if (vls_compose_parse(&policy, vls_str(data, size), none, &err) < 0) {
        FUZZ_CHECK(err.message[0]);
        return 0;
    }
    for (size_t i = 0; i < policy.query.count; i++)
        FUZZ_CHECK(vls_compose_find_word(&policy.query, policy.query.words[i]) == (int)i);
    write(&first, &policy);
    if (first.len > VLS_LENS_TEXT_MAX)
        return 0;
    FUZZ_CHECK(vls_compose_parse(&again, vls_buf_str(&first), none, &err) == 0);
    write(&second, &again);
    FUZZ_CHECK(vls_str_equal(vls_buf_str(&first), vls_buf_str(&second)));
    return 0;
}
