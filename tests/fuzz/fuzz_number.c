/* fuzz_number.c -- number text against the C library's reading of it, and back. [Q20] */
#include <locale.h>
#include <math.h>

#include "fuzz/fuzz.h"

#include "json/number.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    char copy[4096], written[VLS_NUMBER_TEXT];
    vls_number n, again;
    size_t used;

    vls_number_read(&n, text, text + size);
    used = (size_t)(n.end - text);
    FUZZ_CHECK(used <= size);
    if (n.kind == VLS_NUMBER_BAD || used >= sizeof(copy))
        return 0;
    memcpy(copy, text, used);
    copy[used] = '\0';
    double expected = strtod_l(copy, NULL, newlocale(LC_ALL_MASK, "C", (locale_t)0));
    double actual = n.kind == VLS_NUMBER_INT ? (double)n.integer : n.real;
    FUZZ_CHECK((n.kind == VLS_NUMBER_RANGE) == (isinf(expected) != 0));
    if (n.kind == VLS_NUMBER_RANGE)
        return 0;
    FUZZ_CHECK(actual == expected);
    size_t len = vls_number_write(written, actual);
    vls_number_read(&again, written, written + len);
    FUZZ_CHECK(again.end == written + len);
    FUZZ_CHECK((again.kind == VLS_NUMBER_INT ? (double)again.integer : again.real) == actual);
    return 0;
}
