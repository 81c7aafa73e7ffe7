/* utf8.c -- every code point, every wrong sequence of two bytes, and cuts. */
#include "harness/test.h"

#include "base/utf8.h"

TEST(utf8, encodes_and_decodes_every_code_point)
{
    char bytes[4];
    uint32_t back = 0;

    for (uint32_t c = 0; c <= 0x110000; c++) {
        size_t len = vls_utf8_encode(bytes, c);
        if ((c >= 0xD800 && c <= 0xDFFF) || c > 0x10FFFF) {
            CHECK_INT(0, len);
            continue;
        }
        CHECK_INT(c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4, len);
        CHECK_INT(len, vls_utf8_decode(&back, bytes, len));
        CHECK_INT(c, back);
        if (len > 1)
            CHECK_INT(0, vls_utf8_decode(&back, bytes, len - 1));
    }
}

/* Of all 3-byte strings exactly those are valid that some sequence of characters encodes to. */
TEST(utf8, accepts_exactly_what_can_be_encoded)
{
    long valid = 0;

    for (uint32_t i = 0; i < 1u << 24; i += 1) {
        char s[3] = {(char)(i >> 16), (char)(i >> 8), (char)i};
        if ((unsigned char)s[0] < 0x80)
            continue; /* the two bytes behind are covered by other strings */
        valid += vls_utf8_valid(vls_str(s, 3));
    }
    /* three-byte characters, and a two-byte one with an ASCII byte */
    CHECK_INT((0x10000 - 0x800 - 0x800) + (0x800 - 0x80) * 0x80, valid);
}

TEST(utf8, refuses_four_byte_forms_outside_unicode)
{
    CHECK(!vls_utf8_valid(VLS_STR("\xF0\x8F\xBF\xBF")));
    CHECK(vls_utf8_valid(VLS_STR("\xF0\x90\x80\x80")));
    CHECK(vls_utf8_valid(VLS_STR("\xF4\x8F\xBF\xBF")));
    CHECK(!vls_utf8_valid(VLS_STR("\xF4\x90\x80\x80")));
    CHECK(!vls_utf8_valid(VLS_STR("\xF5\x80\x80\x80")));
    CHECK(!vls_utf8_valid(VLS_STR("\xF0\x90\x80\x20")));
}

TEST(utf8, says_how_far_text_is_valid)
{
    CHECK_INT(0, vls_utf8_valid_len(VLS_STR("")));
    CHECK_INT(17, vls_utf8_valid_len(VLS_STR("0123456789abcdef!\xff")));
    CHECK_INT(10, vls_utf8_valid_len(VLS_STR("01234567\xc3\xa9\xc3")));
    CHECK_INT(3, vls_utf8_valid_len(VLS_STR("abc\x80rest")));
}

/* Eight bytes are looked at together: a bad one is found at each place among them. */
TEST(utf8, finds_a_bad_byte_at_every_place)
{
    for (size_t len = 1; len < 30; len++) {
        for (size_t at = 0; at < len; at++) {
            char *text = test_alloc(len);
            memset(text, 'x', len);
            text[at] = '\x80';
            CHECK_INT(at, vls_utf8_valid_len(vls_str(text, len)));
        }
    }
}

TEST(utf8, head_never_splits_a_character)
{
    valise_str s = VLS_STR("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z");
    static const size_t expected[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};

    for (size_t max = 0; max < VLS_COUNT(expected); max++)
        CHECK_INT(expected[max], vls_utf8_head(s, max).len);
    /* What is behind the slice is not looked at. */
    CHECK_INT(2, vls_utf8_head(vls_str("ab\x80", 2), 2).len);
    CHECK_INT(2, vls_utf8_head(vls_str("ab\x80", 2), 9).len);
}

TEST(utf8, tail_never_splits_a_character)
{
    valise_str s = VLS_STR("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z");
    static const size_t expected[] = {0, 1, 1, 1, 1, 5, 5, 5, 8, 8, 10, 11, 11};

    for (size_t max = 0; max < VLS_COUNT(expected); max++) {
        CHECK_INT(expected[max], vls_utf8_tail(s, max).len);
        CHECK(vls_str_ends(s, vls_utf8_tail(s, max)));
    }
}
