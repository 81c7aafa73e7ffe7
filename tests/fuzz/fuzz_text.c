/* fuzz_text.c -- any bytes at all: neutralized they are harmless and can be read back, fitted
 * they take the columns they were given. The first byte chooses the flags, the second the
 * columns. [Q20] [Q26] */
#include "fuzz/fuzz.h"

#include "base/str.h"
#include "base/text.h"
#include "base/utf8.h"

static bool is_allowed(uint32_t c, uint32_t flags)
{
    if (c == '\n')
        return flags & VLS_TEXT_KEEP_NEWLINE;
    if (c == '\t')
        return flags & VLS_TEXT_KEEP_TAB;
    return c >= 0x20 && !(c >= 0x7F && c <= 0x9F) && !(c >= 0x2028 && c <= 0x202E) &&
           !(c >= 0x2066 && c <= 0x2069);
}

static void check_harmless(valise_str s, uint32_t flags)
{
    uint32_t c = 0;

    for (size_t at = 0, used; at < s.len; at += used) {
        used = vls_utf8_decode(&c, s.ptr + at, s.len - at);
        FUZZ_CHECK(used > 0 && is_allowed(c, flags));
    }
}

static uint32_t hex_value(const char *p, size_t digits)
{
    uint32_t value = 0;

    for (size_t i = 0; i < digits; i++)
        value = value * 16 + (uint32_t)(p[i] <= '9' ? p[i] - '0' : p[i] - 'a' + 10);
    return value;
}

/* Append the text whose neutralized form s is. */
static void restore(vls_buf *out, valise_str s)
{
    char bytes[4];

    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] != '\\') {
            vls_buf_add_byte(out, s.ptr[i]);
            continue;
        }
        char kind = s.ptr[++i];
        if (kind == 'u') {
            vls_buf_add(out, vls_str(bytes, vls_utf8_encode(bytes, hex_value(s.ptr + i + 1, 4))));
            i += 4;
        } else if (kind == 'x') {
            vls_buf_add_byte(out, (char)hex_value(s.ptr + i + 1, 2));
            i += 2;
        } else {
            FUZZ_CHECK(kind == 'n' || kind == 'r' || kind == 't' || kind == '\\');
            vls_buf_add_byte(out, kind == 'n'   ? '\n'
                                  : kind == 'r' ? '\r'
                                  : kind == 't' ? '\t'
                                                : '\\');
        }
    }
}

static void check_neutral(valise_str s, uint32_t flags)
{
    VLS_AUTO(buf) vls_buf out = {0}, back = {0};

    vls_buf_init(&out, valise_env_default(), 6 * s.len);
    vls_buf_init(&back, valise_env_default(), s.len);
    vls_text_neutralize(&out, s, flags);
    FUZZ_CHECK(vls_buf_check(&out, NULL) == 0);
    check_harmless(vls_buf_str(&out), flags);
    if (!(flags & VLS_TEXT_KEEP_BACKSLASH)) {
        restore(&back, vls_buf_str(&out));
        FUZZ_CHECK(vls_str_equal(s, vls_buf_str(&back)));
    }
    check_harmless(valise_str_of(vls_text_short(s).s), 0);
}

static void check_fit(valise_str s, size_t columns)
{
    VLS_AUTO(buf) vls_buf out = {0}, front = {0};

    vls_buf_init(&out, valise_env_default(), 3 * s.len + columns + 3);
    vls_buf_init(&front, valise_env_default(), 3 * s.len + columns + 3);
    vls_text_fit(&out, s, columns, VLS_TEXT_PAD);
    FUZZ_CHECK(vls_buf_check(&out, NULL) == 0);
    FUZZ_CHECK(vls_utf8_valid(vls_buf_str(&out)));
    FUZZ_CHECK(vls_text_width(vls_buf_str(&out)) == columns);
    /* In front a space may carry a mark that the text begins with. */
    vls_text_fit(&front, s, columns, VLS_TEXT_PAD_FRONT);
    FUZZ_CHECK(vls_buf_check(&front, NULL) == 0 && front.len == out.len);
    FUZZ_CHECK(vls_text_width(vls_buf_str(&front)) <= columns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    valise_str input = vls_str(data + 2, size - 2);

    check_neutral(input, data[0] & 7);
    check_fit(input, data[1]);
    FUZZ_CHECK(vls_text_width(input) <= 2 * input.len);
    return 0;
}
