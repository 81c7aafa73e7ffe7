/* glob.c -- patterns with stars, against examples and against the naive way. [B18] [B23] */
#include "base/glob.h"

#include "harness/test.h"

static bool matches(const vls_glob_rules *rules, const char *pattern, const char *text)
{
    return vls_glob_match(rules, valise_str_of(pattern), valise_str_of(text));
}

typedef struct example {
    const char *pattern, *text;
    bool match;
} example;

static void check_all(test *t, const vls_glob_rules *rules, const example *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        CHECK_OK(vls_glob_check(rules, valise_str_of(cases[i].pattern), &t->err));
        CHECK_MSG(matches(rules, cases[i].pattern, cases[i].text) == cases[i].match,
                  "%s against %s", cases[i].pattern, cases[i].text);
    }
}

/* [B18] In key globs * is any run of bytes, dots included; nothing else is special. */
TEST(glob, flat)
{
    static const example cases[] = {
        {"*", "", true},
        {"*", "a.b/c\xFF", true},
        {"a", "a", true},
        {"a", "ab", false},
        {"a", "", false},
        {"a*", "a", true},
        {"a*", "a.b.c", true},
        {"a*", "ba", false},
        {"*a", "bca", true},
        {"*a", "ab", false},
        {"a*c", "abbc", true},
        {"a*c", "ac", true},
        {"a*c", "acb", false},
        {"*a*b*", "xxaxxbxx", true},
        {"*a*b*", "xxbxxaxx", false},
        {"**", "", true},
        {"a**b", "ab", true},
        {"a?c", "abc", false},
        {"a?c", "a?c", true},
        {"[ab]", "a", false},
        {"\\*", "*", false},
        {"\\*", "\\abc", true},
        {"*ab", "aab", true},
        {"*aab", "aaaab", true},
        {"a*b*c", "a-b-b-c", true},
    };

    check_all(t, &vls_glob_flat, cases, VLS_COUNT(cases));
    CHECK(vls_glob_match(&vls_glob_flat, VLS_STR("a*b"), vls_str("a\0b", 3)));
}

TEST(glob, paths)
{
    static const example cases[] = {
        {"*.c", "a.c", true},
        {"*.c", ".c", true},
        {"*.c", "src/a.c", false},
        {"src/*", "src/a", true},
        {"src/*", "src", false},
        {"src/*", "src/a/b", false},
        {"src/**", "src", true},
        {"src/**", "src/a/b/c", true},
        {"src/**", "source", false},
        {"**", "", true},
        {"**", "a/b", true},
        {"**/b", "b", true},
        {"**/b", "a/b", true},
        {"**/b", "a/c/b", true},
        {"**/b", "a/bb", false},
        {"a/**/b", "a/b", true},
        {"a/**/b", "a/x/y/b", true},
        {"a/**/b", "a/x/y/b/c", false},
        {"a/**/*.c", "a/b/c/d.c", true},
        {"a/**/b/**/c", "a/b/b/x/c", true},
        {"a/**/b/**/c", "a/c/b/x", false},
        {"a**b", "axxb", true},
        {"a**b", "a/b", false},
        {"**/x*/y", "a/x1/x2/y", true},
        {"**/x*/y", "a/x1/z/y", false},
        {"**/**", "a", true},
        {"a/*/c", "a//c", true},
        {"a/**/c", "a//c", true},
        {"a", "", false},
        {"*", "", false},
    };

    check_all(t, &vls_glob_path, cases, VLS_COUNT(cases));
}

/* [B23] * is one character or more in one segment. */
TEST(glob, dotted)
{
    static const example cases[] = {
        {"sales.*", "sales.chat", true},
        {"sales.*", "sales.research.web", false},
        {"*.chat", "sales.chat", true},
        {"sales.*", "sales.", false},
        {"sales.*", "sales", false},
        {"sales.**", "sales", true},
        {"sales.**", "sales.a.b", true},
        {"**.chat", "chat", true},
        {"**.chat", "a.b.chat", true},
        {"s*s", "ss", false},
        {"s*s", "sales", true},
        {"s*s", "s.s", false},
        {"*", "a", true},
        {"*", "a.b", false},
        {"**", "a.b", true},
        {"a**", "ab", false},
        {"a**", "abc", true},
        {"a*b*", "aab", false},
        {"a*b*", "aabb", true},
        {"*a", "aa", true},
        {"*a", "a", false},
        {"a?", "ab", false},
        {"*", "\xC3\xA9", true},
        {"x**", "x\xC3\xA9", false},
        {"x**", "x\xC3\xA9y", true},
        {"x**", "xy\xC3\xA9", true},
        {"*\xC3\xA9", "x\xC3\xA9", true},
    };

    check_all(t, &vls_glob_dotted, cases, VLS_COUNT(cases));
}

/* [B23] An item without namespace matches nothing. */
TEST(glob, a_name_that_is_not_there_matches_nothing)
{
    static const char *const patterns[] = {"*", "**", "a", "**.**", "**.a"};

    for (size_t i = 0; i < VLS_COUNT(patterns); i++) {
        CHECK(!matches(&vls_glob_dotted, patterns[i], ""));
        CHECK(!matches(&vls_glob_colons, patterns[i], NULL));
    }
    CHECK(!matches(&vls_glob_dotted, "", ""));
    CHECK(!matches(&vls_glob_dotted, "", "a"));
}

TEST(glob, colons)
{
    static const example cases[] = {
        {"context:*", "context:read", true},
        {"context:*", "backpack:read", false},
        {"*:read", "backpack:read", true},
        {"**", "context:read", true},
        {"**", "admin", true},
        {"*", "admin", true},
        {"*", "context:read", false},
    };

    check_all(t, &vls_glob_colons, cases, VLS_COUNT(cases));
}

TEST(glob, empty_patterns_and_segments_are_invalid)
{
    static const struct {
        const char *pattern;
        int offset;
    } cases[] = {{".", 0}, {".a", 0}, {"a.", 2}, {"a..b", 2}, {"**.", 3}, {"a.b..", 4}};

    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        valise_str pattern = valise_str_of(cases[i].pattern);
        CHECK_RC(VALISE_E_INVALID, vls_glob_check(&vls_glob_dotted, pattern, &t->err));
        CHECK_INT(cases[i].offset, t->err.offset);
        CHECK_TEXT(test_format("pattern '%s' has an empty segment", cases[i].pattern),
                   t->err.message);
        CHECK_OK(vls_glob_check(&vls_glob_flat, pattern, &t->err));
        CHECK_OK(vls_glob_check(&vls_glob_path, pattern, &t->err));
    }
    CHECK_RC(VALISE_E_INVALID, vls_glob_check(&vls_glob_path, VLS_STR("/a"), &t->err));
    CHECK_RC(VALISE_E_INVALID, vls_glob_check(&vls_glob_dotted, VLS_STR(""), &t->err));
    CHECK_RC(VALISE_E_INVALID, vls_glob_check(&vls_glob_flat, VLS_STR(""), &t->err));
    CHECK_TEXT("a pattern is empty", t->err.message);
    CHECK_INT(0, t->err.offset);
    CHECK_OK(vls_glob_check(&vls_glob_dotted, VLS_STR("a.b*.**.*"), &t->err));
}

/* ---- the naive way: try everything ---- */

static bool naive_segment(valise_str p, valise_str s, unsigned star_min)
{
    if (p.len == 0)
        return s.len == 0;
    if (p.ptr[0] == '*') {
        for (size_t take = star_min; take <= s.len; take++)
            if (naive_segment(vls_str_from(p, 1), vls_str_from(s, take), star_min))
                return true;
        return false;
    }
    return s.len > 0 && s.ptr[0] == p.ptr[0] &&
           naive_segment(vls_str_from(p, 1), vls_str_from(s, 1), star_min);
}

/* Segments as arrays, from p and s on. */
static bool naive_list(const valise_str *p, size_t p_len, const valise_str *s, size_t s_len,
                       unsigned star_min)
{
    if (p_len == 0)
        return s_len == 0;
    if (vls_str_equal(p[0], VLS_STR("**")))
        return naive_list(p + 1, p_len - 1, s, s_len, star_min) ||
               (s_len > 0 && naive_list(p, p_len, s + 1, s_len - 1, star_min));
    return s_len > 0 && naive_segment(p[0], s[0], star_min) &&
           naive_list(p + 1, p_len - 1, s + 1, s_len - 1, star_min);
}

static size_t split(valise_str *out, valise_str s, char separator)
{
    size_t count = 0;
    bool more = true;

    while (more)
        more = vls_str_cut(&out[count++], &s, s, separator);
    return count;
}

static bool naive_match(const vls_glob_rules *rules, valise_str p, valise_str s)
{
    valise_str p_list[32], s_list[32];

    if (s.len == 0 && rules->star_min > 0)
        return false;
    if (rules->separator < 0)
        return naive_segment(p, s, rules->star_min);
    size_t p_len = split(p_list, p, (char)rules->separator);
    size_t s_len = s.len ? split(s_list, s, (char)rules->separator) : 0;
    return naive_list(p_list, p_len, s_list, s_len, rules->star_min);
}

static valise_str random_text(test_rng *rng, char *room, const char *alphabet, size_t max)
{
    size_t len = test_random_below(rng, max + 1);

    for (size_t i = 0; i < len; i++)
        room[i] = alphabet[test_random_below(rng, strlen(alphabet))];
    return (valise_str){room, len};
}

TEST(glob, agrees_with_the_naive_way)
{
    static const vls_glob_rules *const all[] = {&vls_glob_flat, &vls_glob_path, &vls_glob_dotted};
    static const char *const patterns[] = {"ab*", "ab*/**", "ab*.**"};
    static const char *const texts[] = {"ab", "ab/", "ab."};
    test_rng rng = test_rng_new(test_seed());

    for (size_t kind = 0; kind < VLS_COUNT(all); kind++) {
        size_t matched = 0;
        for (unsigned i = 0; i < 30000; i++) {
            char p_room[10], s_room[12];
            valise_str p = random_text(&rng, p_room, patterns[kind], sizeof(p_room));
            valise_str s = random_text(&rng, s_room, texts[kind], sizeof(s_room));
            bool expected = naive_match(all[kind], p, s);
            CHECK_MSG(vls_glob_match(all[kind], p, s) == expected, "'%.*s' against '%.*s'",
                      VALISE_STR_ARG(p), VALISE_STR_ARG(s));
            matched += expected;
        }
        CHECK(matched > 500);
    }
}

/* [B23] The naive way would take longer than the universe lasts. */
TEST(glob, many_stars_take_no_time)
{
    enum { STARS = 200, LEN = 4000 };
    char *p = test_alloc(4 * STARS + 2), *s = test_alloc(2 * LEN);

    for (size_t i = 0; i < STARS; i++)
        memcpy(p + 2 * i, "*a", 2);
    p[2 * STARS] = 'b';
    memset(s, 'a', LEN);
    CHECK(!vls_glob_match(&vls_glob_flat, vls_str(p, 2 * STARS + 1), vls_str(s, LEN)));
    CHECK(!vls_glob_match(&vls_glob_dotted, vls_str(p, 2 * STARS + 1), vls_str(s, LEN)));
    CHECK(vls_glob_match(&vls_glob_flat, vls_str(p, 2 * STARS), vls_str(s, LEN)));

    memset(s, '/', 2 * LEN);
    for (size_t i = 0; i < LEN; i++)
        s[2 * i] = 'a';
    for (size_t i = 0; i < STARS / 2; i++)
        memcpy(p + 5 * i, "**/a/", 5);
    p[5 * (STARS / 2)] = 'b';
    valise_str text = vls_str(s, 2 * LEN - 1);
    CHECK(!vls_glob_match(&vls_glob_path, vls_str(p, 5 * (STARS / 2) + 1), text));
    CHECK(vls_glob_match(&vls_glob_path, vls_str(p, 5 * (STARS / 2) - 1), text));
}
