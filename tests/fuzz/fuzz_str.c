/* fuzz_str.c -- slices: numbers, cutting and trimming. */
#include "fuzz/fuzz.h"

#include "base/buf.h"
#include "base/str.h"

/* A number that was read and is written again is the text it was read from, but for leading
 * zeros and "-0". */
static void check_numbers(valise_str s)
{
    VLS_AUTO(buf) vls_buf buf = {0};
    int64_t number = 7, again = 8;
    uint64_t positive = 7;

    if (!vls_str_to_i64(&number, s)) {
        FUZZ_CHECK(number == 7);
        if (!vls_str_to_u64(&positive, s))
            FUZZ_CHECK(positive == 7);
        else
            FUZZ_CHECK(positive > INT64_MAX);
        return;
    }
    if (s.ptr[0] != '-')
        FUZZ_CHECK(vls_str_to_u64(&positive, s) && positive == (uint64_t)number);
    else
        FUZZ_CHECK(number <= 0 && !vls_str_to_u64(&positive, s));
    vls_buf_init(&buf, valise_env_default(), 64);
    vls_buf_add_i64(&buf, number);
    FUZZ_CHECK(vls_buf_check(&buf, NULL) == 0);
    FUZZ_CHECK(buf.len <= s.len);
    FUZZ_CHECK(vls_str_to_i64(&again, vls_buf_str(&buf)) && again == number);
}

/* Head, separator and rest put together are the whole, for every way to cut it. */
static void check_cut(valise_str s, char separator)
{
    valise_str head, rest;
    bool found = vls_str_cut(&head, &rest, s, separator);

    FUZZ_CHECK(vls_str_find_byte(head, separator) == head.len);
    FUZZ_CHECK(head.len + rest.len + (found ? 1 : 0) == s.len);
    FUZZ_CHECK(vls_str_starts(s, head) && vls_str_ends(s, rest));
    FUZZ_CHECK(!found || s.ptr[head.len] == separator);
    FUZZ_CHECK(found || rest.len == 0);
}

static void check_trim(valise_str s)
{
    valise_str inner = vls_str_trim(s);

    FUZZ_CHECK(inner.len <= s.len);
    FUZZ_CHECK(vls_str_equal(vls_str_trim(inner), inner));
    FUZZ_CHECK(inner.len == 0 || vls_str_find(s, inner) < s.len);
    if (inner.len > 0)
        FUZZ_CHECK((unsigned char)inner.ptr[0] > ' ' || !memchr(" \t\r\n", inner.ptr[0], 4));
}

/* The first byte is the separator and splits what follows in two slices to compare. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    valise_str all = vls_str(data, size);
    valise_str body = vls_str_from(all, 1);
    valise_str a, b;

    if (size == 0)
        return 0;
    check_numbers(all);
    check_trim(all);
    check_cut(body, all.ptr[0]);
    (void)vls_str_cut(&a, &b, body, all.ptr[0]);
    FUZZ_CHECK((vls_str_compare(a, b) == 0) == vls_str_equal(a, b));
    FUZZ_CHECK((vls_str_compare(a, b) < 0) == (vls_str_compare(b, a) > 0));
    FUZZ_CHECK(!vls_str_equal(a, b) || vls_str_hash(a, 1) == vls_str_hash(b, 1));
    return 0;
}
