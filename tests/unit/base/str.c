/* str.c -- slices. */
#include "base/str.h"

#include "harness/test.h"

static valise_str s_of(const char *text)
{
    return valise_str_of(text);
}

static const valise_str none = {NULL, 0};

TEST(str, of)
{
    CHECK(s_of(NULL).ptr == NULL && s_of(NULL).len == 0);
    CHECK(s_of("").ptr != NULL && s_of("").len == 0);
    CHECK_INT(3, s_of("abc").len);
    CHECK_INT(3, VLS_STR("a\0b").len);
    CHECK_TEXT("abc|", test_format("%.*s|", VALISE_STR_ARG(VLS_STR("abc"))));
    CHECK_TEXT("|", test_format("%.*s|", VALISE_STR_ARG(none)));
}

TEST(str, equal_starts_ends)
{
    CHECK(vls_str_equal(none, s_of("")) && vls_str_equal(s_of("a"), s_of("a")));
    CHECK(!vls_str_equal(s_of("a"), s_of("b")) && !vls_str_equal(s_of("a"), s_of("ab")));
    CHECK(vls_str_equal(VLS_STR("a\0b"), VLS_STR("a\0b")));
    CHECK(!vls_str_equal(VLS_STR("a\0b"), VLS_STR("a\0c")));

    CHECK(vls_str_starts(s_of("abc"), s_of("ab")) && vls_str_starts(s_of("abc"), s_of("abc")));
    CHECK(vls_str_starts(s_of("abc"), none) && vls_str_starts(none, none));
    CHECK(!vls_str_starts(s_of("ab"), s_of("abc")) && !vls_str_starts(none, s_of("a")));
    CHECK(!vls_str_starts(s_of("abc"), s_of("bc")));

    CHECK(vls_str_ends(s_of("abc"), s_of("bc")) && vls_str_ends(s_of("abc"), s_of("abc")));
    CHECK(vls_str_ends(s_of("abc"), none) && vls_str_ends(none, none));
    CHECK(!vls_str_ends(s_of("bc"), s_of("abc")) && !vls_str_ends(none, s_of("a")));
    CHECK(!vls_str_ends(s_of("abc"), s_of("ab")));
}

TEST(str, from_and_head)
{
    CHECK_STR(s_of("bc"), vls_str_from(s_of("abc"), 1));
    CHECK_STR(s_of("abc"), vls_str_from(s_of("abc"), 0));
    CHECK_STR(none, vls_str_from(s_of("abc"), 3));
    CHECK_STR(none, vls_str_from(s_of("abc"), SIZE_MAX));
    CHECK_STR(none, vls_str_from(none, 0));
    CHECK_STR(s_of("ab"), vls_str_head(s_of("abc"), 2));
    CHECK_STR(s_of("abc"), vls_str_head(s_of("abc"), SIZE_MAX));
    CHECK_STR(none, vls_str_head(s_of("abc"), 0));
}

/* The whole order, both ways round: bytes are unsigned, and the shorter comes first. */
TEST(str, compare)
{
    static const valise_str sorted[] = {
        {NULL, 0}, {"\0", 1}, {"\0\0", 2}, {"\0a", 2},  {"a", 1},    {"a\0", 2},    {"aa", 2},
        {"ab", 2}, {"b", 1},  {"\x7f", 1}, {"\x80", 1}, {"\xff", 1}, {"\xff\0", 2},
    };

    for (size_t i = 0; i < VLS_COUNT(sorted); i++) {
        for (size_t k = 0; k < VLS_COUNT(sorted); k++) {
            int order = vls_str_compare(sorted[i], sorted[k]);
            CHECK(i < k ? order < 0 : i > k ? order > 0 : order == 0);
        }
    }
}

TEST(str, find)
{
    CHECK_INT(1, vls_str_find_byte(s_of("abcb"), 'b'));
    CHECK_INT(4, vls_str_find_byte(s_of("abcb"), 'x'));
    CHECK_INT(0, vls_str_find_byte(none, 'x'));
    CHECK_INT(1, vls_str_find_byte(VLS_STR("a\0b"), '\0'));
    CHECK_INT(2, vls_str_find(s_of("abcab"), s_of("ca")));
    CHECK_INT(0, vls_str_find(s_of("abc"), none));
    CHECK_INT(0, vls_str_find(none, none));
    CHECK_INT(3, vls_str_find(s_of("abc"), s_of("abcd")));
    CHECK_INT(3, vls_str_find(s_of("abc"), s_of("x")));
    CHECK_INT(0, vls_str_find(none, s_of("x")));
    CHECK_INT(1, vls_str_find(VLS_STR("a\0b\0c"), VLS_STR("\0b")));
}

/* How often the first byte of the needle is there changes only how it is looked for. */
TEST(str, finds_what_begins_like_much_else)
{
    char text[130];

    memset(text, 'a', sizeof(text));
    for (size_t at = 0; at + 3 <= sizeof(text); at++) {
        memcpy(text + at, "aab", 3);
        CHECK_INT(at, vls_str_find(vls_str(text, sizeof(text)), s_of("aab")));
        CHECK_INT(sizeof(text), vls_str_find(vls_str(text, sizeof(text)), s_of("abc")));
        CHECK_INT(at + 2, vls_str_find(vls_str(text, at + 2), s_of("aab")));
        text[at + 2] = 'a';
    }
    CHECK_INT(sizeof(text), vls_str_find(vls_str(text, sizeof(text)), s_of("ab")));
}

TEST(str, trim)
{
    CHECK_STR(s_of("a b"), vls_str_trim(s_of(" \t\r\na b\n\r\t ")));
    CHECK_STR(s_of("a"), vls_str_trim(s_of("a")));
    CHECK_STR(none, vls_str_trim(s_of(" \n ")));
    CHECK_STR(none, vls_str_trim(none));
    CHECK_STR(VLS_STR("\va\f"), vls_str_trim(VLS_STR("\va\f"))); /* only those four */
}

TEST(str, cut)
{
    valise_str head, rest;

    CHECK(vls_str_cut(&head, &rest, s_of("a=b=c"), '='));
    CHECK_STR(s_of("a"), head);
    CHECK_STR(s_of("b=c"), rest);
    CHECK(vls_str_cut(&head, &rest, s_of("=b"), '='));
    CHECK_STR(none, head);
    CHECK_STR(s_of("b"), rest);
    CHECK(vls_str_cut(&head, &rest, s_of("a="), '='));
    CHECK_STR(s_of("a"), head);
    CHECK_STR(none, rest);
    CHECK(!vls_str_cut(&head, &rest, s_of("abc"), '='));
    CHECK_STR(s_of("abc"), head);
    CHECK_STR(none, rest);
    CHECK(!vls_str_cut(&head, &rest, none, '='));
    CHECK(head.len == 0 && rest.len == 0);

    /* In and out may be the same variable. */
    rest = s_of("x,y,z");
    CHECK(vls_str_cut(&head, &rest, rest, ',') && vls_str_cut(&head, &rest, rest, ','));
    CHECK_STR(s_of("y"), head);
    CHECK_STR(s_of("z"), rest);
}

typedef struct number_case {
    const char *text;
    bool i64, u64;
    int64_t i;
    uint64_t u;
} number_case;

TEST(str, numbers)
{
    static const number_case cases[] = {
        {"0", true, true, 0, 0},
        {"7", true, true, 7, 7},
        {"007", true, true, 7, 7},
        {"-0", true, false, 0, 0},
        {"-1", true, false, -1, 0},
        {"9223372036854775807", true, true, INT64_MAX, INT64_MAX},
        {"9223372036854775808", false, true, 0, (uint64_t)INT64_MAX + 1},
        {"-9223372036854775808", true, false, INT64_MIN, 0},
        {"-9223372036854775809", false, false, 0, 0},
        {"18446744073709551615", false, true, 0, UINT64_MAX},
        {"18446744073709551616", false, false, 0, 0},
        {"-18446744073709551615", false, false, 0, 0},
        {"28446744073709551615", false, false, 0, 0},
        {"99999999999999999999999", false, false, 0, 0},
        {"00000000000000000000000000000001", true, true, 1, 1},
        {"", false, false, 0, 0},
        {"-", false, false, 0, 0},
        {"--1", false, false, 0, 0},
        {"+1", false, false, 0, 0},
        {" 1", false, false, 0, 0},
        {"1 ", false, false, 0, 0},
        {"1.0", false, false, 0, 0},
        {"1e3", false, false, 0, 0},
        {"0x10", false, false, 0, 0},
        {"1/", false, false, 0, 0},
        {"1:", false, false, 0, 0},
        {"\xb1", false, false, 0, 0}, /* '1' with its top bit set */
    };

    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        const number_case *c = &cases[i];
        int64_t signed_out = 77;
        uint64_t unsigned_out = 77;
        CHECK_MSG(vls_str_to_i64(&signed_out, s_of(c->text)) == c->i64, "i64 of %s", c->text);
        CHECK_MSG(vls_str_to_u64(&unsigned_out, s_of(c->text)) == c->u64, "u64 of %s", c->text);
        CHECK_INT(c->i64 ? c->i : 77, signed_out);
        CHECK(unsigned_out == (c->u64 ? c->u : 77));
    }
    CHECK(!vls_str_to_u64(&(uint64_t){0}, none) && !vls_str_to_i64(&(int64_t){0}, none));
    CHECK(!vls_str_to_u64(&(uint64_t){0}, VLS_STR("1\0")));
}

TEST(str, hash)
{
    uint64_t h = vls_str_hash(s_of("abc"), 1);

    CHECK(h == vls_str_hash(VLS_STR("abc"), 1));
    CHECK(h != vls_str_hash(s_of("abc"), 2) && h != vls_str_hash(s_of("abd"), 1));
    CHECK(vls_str_hash(none, 1) == vls_str_hash(s_of(""), 1));
    CHECK(vls_str_hash(none, 1) != vls_str_hash(none, 2));
    CHECK(vls_str_hash(VLS_STR("a\0"), 1) != vls_str_hash(VLS_STR("a"), 1));
}
