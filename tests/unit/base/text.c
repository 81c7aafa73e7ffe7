/* text.c -- terminal text: nothing dangerous comes out, and columns are counted as shown.
 * [Q26] */
#include "harness/test.h"

#include "base/text.h"
#include "base/utf8.h"
#include "harness/counting_env.h"

/* One emoji: man, woman and girl joined. */
#define FAMILY "\xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7"
#define ACUTE "\xCC\x81" /* combining */
#define ZHONG "\xE4\xB8\xAD"
#define DOTS "\xE2\x80\xA6" /* the ellipsis */
#define BROKEN "\xEF\xBF\xBD"

/* ---- neutralizing ---- */

static valise_str neutral(test *t, valise_str s, uint32_t flags)
{
    VLS_AUTO(buf) vls_buf out;

    vls_buf_init(&out, t->env, 8 * s.len);
    vls_text_neutralize(&out, s, flags);
    CHECK_OK(vls_buf_check(&out, &t->err));
    char *copy = test_alloc(out.len);
    if (out.len)
        memcpy(copy, out.ptr, out.len);
    return vls_str(copy, out.len);
}

static bool is_allowed(uint32_t c, uint32_t flags)
{
    if (c == '\n')
        return flags & VLS_TEXT_KEEP_NEWLINE;
    if (c == '\t')
        return flags & VLS_TEXT_KEEP_TAB;
    return c >= 0x20 && !(c >= 0x7F && c <= 0x9F) && c != 0x2028 && c != 0x2029 &&
           !(c >= 0x202A && c <= 0x202E) && !(c >= 0x2066 && c <= 0x2069);
}

static void check_harmless(valise_str s, uint32_t flags)
{
    uint32_t c = 0;

    for (size_t at = 0, used; at < s.len; at += used) {
        used = vls_utf8_decode(&c, s.ptr + at, s.len - at);
        CHECK_MSG(used > 0, "invalid UTF-8 at offset %zu", at);
        CHECK_MSG(is_allowed(c, flags), "U+%04X came through", c);
    }
}

static int hex_value(valise_str s)
{
    int value = 0;

    for (size_t i = 0; i < s.len; i++) {
        const char *digit = strchr("0123456789abcdef", s.ptr[i]);
        CHECK(digit && *digit);
        value = value * 16 + (int)(digit - "0123456789abcdef");
    }
    return value;
}

/* The text whose neutralized form this is. */
static valise_str restore(valise_str s)
{
    char *out = test_alloc(s.len);
    size_t len = 0;

    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] != '\\') {
            out[len++] = s.ptr[i];
            continue;
        }
        CHECK(++i < s.len);
        char kind = s.ptr[i];
        if (kind == 'u') {
            len += vls_utf8_encode(out + len, (uint32_t)hex_value(vls_str(s.ptr + i + 1, 4)));
            i += 4;
        } else if (kind == 'x') {
            out[len++] = (char)hex_value(vls_str(s.ptr + i + 1, 2));
            i += 2;
        } else {
            CHECK(strchr("nrt\\", kind));
            out[len++] = kind == 'n' ? '\n' : kind == 'r' ? '\r' : kind == 't' ? '\t' : '\\';
        }
    }
    return vls_str(out, len);
}

/* [Q26] */
TEST(text, neutralize_shows_terminal_sequences_as_escapes)
{
    static const struct {
        const char *text, *shown;
    } cases[] = {
        {"", ""},
        {"plain text", "plain text"},
        {"\x1b[2J\x1b[31mred", "\\x1b[2J\\x1b[31mred"},             /* clear, colour */
        {"\x1b]0;title\x07", "\\x1b]0;title\\x07"},                 /* window title */
        {"\x1b]8;;http://x\x1b\\y", "\\x1b]8;;http://x\\x1b\\\\y"}, /* link */
        {"\x1bP$q\x1b\\", "\\x1bP$q\\x1b\\\\"},                     /* device control */
        {"\xC2\x9B"
         "31m",
         "\\u009b31m"}, /* CSI as one character */
        {"\x9B"
         "31m",
         "\\x9b31m"},                            /* CSI as one byte */
        {"rm -rf\rls     ", "rm -rf\\rls     "}, /* writes over the line */
        {"ab\b\bcd\x7F", "ab\\x08\\x08cd\\x7f"},
        {"a\nb\tc", "a\\nb\\tc"},
        {"a\\nb", "a\\\\nb"},
        {"\xE2\x80\xAE"
         "txt.exe",
         "\\u202etxt.exe"},                               /* right-to-left override */
        {"\xE2\x81\xA6x\xE2\x81\xA9", "\\u2066x\\u2069"}, /* isolate */
        {"a\xE2\x80\xA8"
         "b\xE2\x80\xA9",
         "a\\u2028b\\u2029"},
        {"caf\xC3\xA9 " ZHONG " " FAMILY, "caf\xC3\xA9 " ZHONG " " FAMILY},
        {"\xC3", "\\xc3"},
        {"\xC3(", "\\xc3("},
        {"\xE4\xB8", "\\xe4\\xb8"},
        {"\xED\xA0\x80", "\\xed\\xa0\\x80"},                      /* a surrogate */
        {"\xC0\x9B", "\\xc0\\x9b"},                               /* ESC, overlong */
        {"\xE2\x80\x8E\xE2\x80\x8F", "\xE2\x80\x8E\xE2\x80\x8F"}, /* marks stay */
    };

    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        valise_str s = valise_str_of(cases[i].text), shown = neutral(t, s, 0);
        CHECK_STR(valise_str_of(cases[i].shown), shown);
        CHECK_STR(s, restore(shown));
    }
    CHECK_STR(VLS_STR("a\\x00b"), neutral(t, VLS_STR("a\0b"), 0));
}

/* [Q26] */
TEST(text, neutralize_keeps_what_it_is_told_to)
{
    valise_str s = VLS_STR("a\nb\tc\\d\re");

    CHECK_STR(VLS_STR("a\\nb\\tc\\\\d\\re"), neutral(t, s, 0));
    CHECK_STR(VLS_STR("a\nb\\tc\\\\d\\re"), neutral(t, s, VLS_TEXT_KEEP_NEWLINE));
    CHECK_STR(VLS_STR("a\\nb\tc\\\\d\\re"), neutral(t, s, VLS_TEXT_KEEP_TAB));
    CHECK_STR(VLS_STR("a\\nb\\tc\\d\\re"), neutral(t, s, VLS_TEXT_KEEP_BACKSLASH));
    CHECK_STR(VLS_STR("a\nb\tc\\d\\re"), neutral(t, s, 7));
}

/* [Q26] */
TEST(text, neutralize_lets_no_dangerous_code_point_through)
{
    for (uint32_t flags = 0; flags < 8; flags++) {
        for (uint32_t c = 0; c < 0x3000; c++) {
            char bytes[4];
            size_t len = vls_utf8_encode(bytes, c);
            counting_env env;
            vls_buf out;

            counting_env_init(&env);
            vls_buf_init(&out, &env.env, 16);
            vls_text_neutralize(&out, vls_str(bytes, len), flags);
            check_harmless(vls_buf_str(&out), flags);
            bool same = vls_str_equal(vls_str(bytes, len), vls_buf_str(&out));
            bool doubled = c == '\\' && !(flags & VLS_TEXT_KEEP_BACKSLASH);
            CHECK_MSG(same == (is_allowed(c, flags) && !doubled), "U+%04X", c);
            vls_buf_release(&out);
        }
    }
}

/* Bytes that are likely to meet in a terminal sequence or a broken character. */
static valise_str hostile_text(test_rng *rng, size_t max)
{
    static const char *const pieces[] = {"\x1b",
                                         "[",
                                         "\\",
                                         "x",
                                         "\n",
                                         "\t",
                                         "\r",
                                         "\x9B",
                                         "\xC2",
                                         "\xE2\x80",
                                         "\xAE",
                                         "\xE2\x80\xAE",
                                         "\xF0\x9F",
                                         "\x91",
                                         "\xA8",
                                         "\xED\xA0\x80",
                                         "\x7F",
                                         "u202e",
                                         "n",
                                         FAMILY,
                                         ZHONG,
                                         ACUTE,
                                         "\xEF\xB8\x8F",
                                         "\xE2\x80\x8D",
                                         "1"};
    size_t len = 0, want = test_random_below(rng, max);
    char *text = test_alloc(want + 32);

    while (len < want) {
        const char *piece = pieces[test_random_below(rng, VLS_COUNT(pieces))];
        if (test_random_below(rng, 4) == 0) {
            text[len++] = (char)test_random(rng);
        } else {
            memcpy(text + len, piece, strlen(piece));
            len += strlen(piece);
        }
    }
    return vls_str(text, len);
}

/* [Q26] */
TEST(text, neutralize_is_harmless_and_reversible_for_random_bytes)
{
    test_rng rng = test_rng_new(test_seed());

    for (int round = 0; round < 3000; round++) {
        valise_str s = hostile_text(&rng, 60);
        uint32_t flags = (uint32_t)test_random_below(&rng, 8);
        valise_str shown = neutral(t, s, flags);
        check_harmless(shown, flags);
        if (!(flags & VLS_TEXT_KEEP_BACKSLASH))
            CHECK_STR(s, restore(shown));
    }
}

/* [Q26] */
TEST(text, short_form_fits_a_message)
{
    test_rng rng = test_rng_new(test_seed());

    CHECK_TEXT("", vls_text_short(VLS_STR("")).s);
    CHECK_TEXT("a\\x1b[0m\\xff", vls_text_short(VLS_STR("a\x1b[0m\xff")).s);
    CHECK_TEXT(
        "123456789012345678901234567890123456789012345678901234567890",
        vls_text_short(VLS_STR("123456789012345678901234567890123456789012345678901234567890")).s);
    CHECK_TEXT(
        "123456789012345678901234567890123456789012345678901234567890" DOTS,
        vls_text_short(VLS_STR("1234567890123456789012345678901234567890123456789012345678901")).s);
    for (int round = 0; round < 2000; round++) {
        valise_str s = hostile_text(&rng, 120);
        vls_text_brief brief = vls_text_short(s);
        valise_str whole = neutral(t, s, 0), cut = valise_str_of(brief.s);
        check_harmless(cut, 0);
        if (whole.len <= 60) {
            CHECK_STR(whole, cut);
            continue;
        }
        CHECK(vls_str_ends(cut, VLS_STR(DOTS)));
        CHECK(cut.len > 60 - 6 && cut.len <= 63);
        CHECK(vls_str_starts(whole, vls_str_head(cut, cut.len - 3)));
    }
}

/* ---- measuring ---- */

TEST(text, width_counts_columns_as_terminals_do)
{
    static const struct {
        const char *text;
        size_t columns;
    } cases[] = {
        {"", 0},
        {"abc", 3},
        {"caf\xC3\xA9", 4},
        {"cafe" ACUTE, 4},
        {"e" ACUTE ACUTE ACUTE ACUTE, 1},
        {ZHONG, 2},
        {ZHONG "a" ZHONG, 5},
        {"\xEF\xBC\xA1", 2},                         /* fullwidth A */
        {"\xEF\xBD\xB1", 1},                         /* halfwidth katakana */
        {"\xED\x95\x9C", 2},                         /* a Hangul syllable, composed */
        {"\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB", 2}, /* and as three jamo */
        {"\xF0\x9F\x98\x80", 2},                     /* emoji */
        {FAMILY, 2},                                 /* joined */
        {FAMILY FAMILY, 4},
        {"\xF0\x9F\x91\x8D\xF0\x9F\x8F\xBD", 2}, /* thumb with a skin tone */
        {"\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA", 2}, /* a flag */
        {"\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA\xF0\x9F\x87\xAB\xF0\x9F\x87\xB7", 4}, /* two */
        {"\xE2\x9D\xA4", 1},                                             /* heart, as text */
        {"\xE2\x9D\xA4\xEF\xB8\x8F", 2},                                 /* heart, as emoji */
        {"1\xEF\xB8\x8F\xE2\x83\xA3", 2},                                /* keycap */
        {"a\xEF\xB8\x8F", 1},                                            /* no emoji form */
        {"\xF0\x9F\x8F\xB3\xEF\xB8\x8F\xE2\x80\x8D\xF0\x9F\x8C\x88", 2}, /* rainbow flag */
        {"\xE0\xA4\xA8\xE0\xA4\xBF", 1}, /* Devanagari with a vowel sign */
        {"\xE2\x80\x8B", 0},             /* zero width space */
        {"a\xE2\x80\x8D"
         "b",
         2},
        {"\xE2\x80\xA6", 1},
        {"\x1b[0m", 3}, /* ESC is no column */
    };

    for (size_t i = 0; i < VLS_COUNT(cases); i++)
        CHECK_MSG(vls_text_width(valise_str_of(cases[i].text)) == cases[i].columns,
                  "case %zu (%s): %zu columns, expected %zu", i, cases[i].text,
                  vls_text_width(valise_str_of(cases[i].text)), cases[i].columns);
}

/* The examples of Unicode 15, section 3.9, tables 3-8 to 3-11, and what they say in words. */
TEST(text, width_counts_each_maximal_part_of_broken_utf8_as_one)
{
    static const struct {
        const char *bytes;
        size_t columns;
    } cases[] = {
        {"\xC0\xAF\xE0\x80\xBF\xF0\x81\x82"
         "A",
         9},
        {"\xED\xA0\x80\xED\xBF\xBF\xED\xAF"
         "A",
         9},
        {"\xF4\x91\x92\x93\xFF"
         "A\x80\xBF"
         "B",
         9},
        {"\xE1\x80\xE2\xF0\x91\x92\xF1\xBF"
         "A",
         5},
        {"\xE4\xB8", 1},
        {"\xF0\x9F\x98", 1},
        {"\xF0\x9F\x98" ZHONG, 3},
        {"\xC3", 1},
        {"\x80\x80", 2},
        {"\xFE\xFF", 2},
        {"\xF5\x80\x80\x80", 4},
        {"\xE0\xA0", 1},
        {"\xF4\x8F\xBF", 1},
        {"\xF4\x90", 2},
    };

    for (size_t i = 0; i < VLS_COUNT(cases); i++)
        CHECK_MSG(vls_text_width(valise_str_of(cases[i].bytes)) == cases[i].columns,
                  "case %zu: %zu columns, expected %zu", i,
                  vls_text_width(valise_str_of(cases[i].bytes)), cases[i].columns);
}

/* ---- fitting ---- */

static void check_fit(test *t, const char *text, size_t columns, uint32_t flags,
                      const char *expected)
{
    VLS_AUTO(buf) vls_buf out;

    vls_buf_init(&out, t->env, 1024);
    vls_text_fit(&out, valise_str_of(text), columns, flags);
    CHECK_OK(vls_buf_check(&out, &t->err));
    CHECK_STR(valise_str_of(expected), vls_buf_str(&out));
}

TEST(text, fit_cuts_with_an_ellipsis)
{
    check_fit(t, "hello", 6, 0, "hello");
    check_fit(t, "hello", 5, 0, "hello");
    check_fit(t, "hello", 4, 0, "hel" DOTS);
    check_fit(t, "hello", 1, 0, DOTS);
    check_fit(t, "hello", 0, 0, "");
    check_fit(t, "", 0, 0, "");
    check_fit(t, "", 3, 0, "");
    check_fit(t, "hello", SIZE_MAX, 0, "hello");
}

TEST(text, fit_never_splits_a_cluster)
{
    check_fit(t, "cafe" ACUTE "s", 4, 0, "caf" DOTS);
    check_fit(t, "cafe" ACUTE "s", 5, 0, "cafe" ACUTE "s");
    check_fit(t, "cafe" ACUTE "ss", 5, 0, "cafe" ACUTE DOTS);
    check_fit(t, FAMILY FAMILY, 4, 0, FAMILY FAMILY);
    check_fit(t, FAMILY FAMILY, 3, 0, FAMILY DOTS);
    check_fit(t, FAMILY FAMILY, 2, 0, DOTS);
    check_fit(t, ZHONG ZHONG ZHONG, 4, 0, ZHONG DOTS);
    check_fit(t, ZHONG ZHONG ZHONG, 5, 0, ZHONG ZHONG DOTS);
    check_fit(t, ZHONG, 1, 0, DOTS);
}

TEST(text, fit_pads_on_either_side)
{
    check_fit(t, "ab", 4, VLS_TEXT_PAD, "ab  ");
    check_fit(t, "ab", 4, VLS_TEXT_PAD_FRONT, "  ab");
    check_fit(t, "ab", 4, VLS_TEXT_PAD | VLS_TEXT_PAD_FRONT, "  ab");
    check_fit(t, "", 2, VLS_TEXT_PAD, "  ");
    check_fit(t, "abcd", 3, VLS_TEXT_PAD, "ab" DOTS);
    check_fit(t, ZHONG ZHONG ZHONG, 4, VLS_TEXT_PAD, ZHONG DOTS " ");
    check_fit(t, ZHONG ZHONG ZHONG, 4, VLS_TEXT_PAD_FRONT, " " ZHONG DOTS);
    check_fit(t, "e" ACUTE, 3, VLS_TEXT_PAD, "e" ACUTE "  ");
}

TEST(text, fit_writes_broken_utf8_as_replacement_characters)
{
    check_fit(t,
              "a\xFF"
              "b",
              3, 0, "a" BROKEN "b");
    check_fit(t, "a\xE4\xB8", 3, VLS_TEXT_PAD, "a" BROKEN " ");
    check_fit(t, "a\xFF\xFF\xFF", 3, 0, "a" BROKEN DOTS);
}

TEST(text, fit_stays_within_its_columns_for_random_bytes)
{
    test_rng rng = test_rng_new(test_seed());

    for (int round = 0; round < 3000; round++) {
        valise_str s = hostile_text(&rng, 40);
        size_t columns = test_random_below(&rng, 24);
        VLS_AUTO(buf) vls_buf out;

        vls_buf_init(&out, t->env, 1024);
        vls_text_fit(&out, s, columns, VLS_TEXT_PAD);
        CHECK_OK(vls_buf_check(&out, &t->err));
        CHECK(vls_utf8_valid(vls_buf_str(&out)));
        CHECK_INT(columns, vls_text_width(vls_buf_str(&out)));
    }
}

TEST(text, every_allocation_that_fails_is_reported_and_nothing_leaks)
{
    char big[500];
    counting_env c;
    vls_buf out;
    long long n = 0;
    int rc;

    memset(big, 0x1b, sizeof(big));
    counting_env_init(&c);
    do {
        vls_buf_init(&out, &c.env, 1 << 16);
        counting_env_fail_at(&c, n++);
        vls_text_neutralize(&out, vls_str(big, sizeof(big)), 0);
        vls_text_fit(&out, vls_str(big, sizeof(big)), 10000, VLS_TEXT_PAD);
        rc = vls_buf_check(&out, &t->err);
        CHECK_INT(c.failed ? VALISE_E_NO_MEMORY : 0, rc);
        vls_buf_release(&out);
        CHECK_INT(0, counting_env_in_use(&c));
    } while (rc < 0);
    CHECK(n > 3);
}

TEST(text, respects_the_maximum_of_its_output)
{
    VLS_AUTO(buf) vls_buf out;

    vls_buf_init(&out, t->env, 16);
    vls_text_fit(&out, VLS_STR("a"), SIZE_MAX, VLS_TEXT_PAD);
    CHECK_RC(VALISE_E_TOO_LARGE, vls_buf_check(&out, &t->err));
    vls_buf_clear(&out);
    vls_text_neutralize(&out, VLS_STR("\x1b\x1b\x1b\x1b\x1b"), 0);
    CHECK_RC(VALISE_E_TOO_LARGE, vls_buf_check(&out, &t->err));
}
