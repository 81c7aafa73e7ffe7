/* schema_pattern.c -- patterns mean what ECMA-262 says. */
#include "harness/test.h"

#include "json/schema_pattern.h"

typedef struct fixture {
    vls_arena arena;
    vls_pattern_pool pool;
    vls_matcher matcher;
} fixture;

static void fixture_init(fixture *f, test *t)
{
    *f = (fixture){.matcher = {NULL, NULL}};
    vls_arena_init(&f->arena, t->env, SIZE_MAX);
    vls_pattern_pool_init(&f->pool, t->env);
}

static void fixture_release(fixture *f)
{
    vls_matcher_release(&f->matcher);
    vls_pattern_pool_release(&f->pool);
    vls_arena_release(&f->arena);
}

TEST(schema_pattern, matches_as_ecma_262_does)
{
    static const struct {
        const char *pattern, *yes, *no; /* NULL: no such text */
    } cases[] = {
        {"", "", NULL},
        {"b", "abc", "ac"},
        {"^a$", "a", "a\n"},
        {"^a.c$", "axc", "a\nc"},
        {"^a.c$",
         "a\xc3\xa9"
         "c",
         "a\xe2\x80\xa8"
         "c"},                        /* U+2028 */
        {"^\\d+$", "09", "\xd9\xa0"}, /* no Arabic digits */
        {"^\\w$", "_", "\xc3\xa9"},
        {"^\\s$", "\xc2\xa0", "x"},
        {"^\\s$", "\xef\xbb\xbf", "\xe2\x80\x8b"}, /* U+FEFF is space, U+200B is not */
        {"^\\S$", "x", "\xe3\x80\x80"},
        {"^[\\s]$", "\v", "x"},
        {"^[^\\s]$", "x", "\t"},
        {"^[\\S]$", "x", "\xc2\xa0"},
        {"^[\\s\\S]$", "\n", NULL},
        {"^[^]$", "\n", ""},
        {"[]", NULL, "a"},
        {"^[\\w-.]+$", "a-b.c", "a b"},
        {"^[a-\\d]+$", "a-5", "b"},
        {"^[a-c]+$", "abc", "d"},
        {"^[a\\-c]+$", "a-c", "b"},
        {"^[--/]+$", "-./", "a"},
        {"^[[:alpha:]]$", ":]", "x"},
        {"^[\\b]$", "\b", "b"},
        {"^[^a-c\\]]$", "d", "]"},
        {"^\\cA\\x41\\u0042$",
         "\x01"
         "AB",
         "AB"},
        {"^\\u{1F600}$", "\xf0\x9f\x98\x80", "a"},
        {"^\\u{00001F600}$", "\xf0\x9f\x98\x80", "a"},
        {"^\\ud83d\\ude00$", "\xf0\x9f\x98\x80", "a"},
        {"^.$", "\xf0\x9f\x98\x80", "ab"},
        {"^\\p{Letter}+$",
         "\xc3\xa9"
         "a",
         "1"},
        {"^\\p{gc=Decimal_Number}$", "\xd9\xa0", "a"},
        {"^\\p{Script=Greek}$", "\xce\xb1", "a"},
        {"^\\p{scx=Greek}$", "\xce\xb1", "a"},
        {"^\\P{Uppercase_Letter}$", "a", "A"},
        {"^[\\p{Lu}\\p{Number}]+$", "A1", "a"},
        {"^\\p{Assigned}$", "a", "\xcd\xb8"}, /* U+0378 is not */
        {"^(a)?\\1b$", "b", "ab"},
        {"^(a)?\\1b$", "aab", NULL},
        {"^(?<x>a|b)\\k<x>$", "bb", "ab"},
        {"^(?:ab){2,3}?$", "abab", "ab"},
        {"^a{,2}$", "a{,2}", "aa"},
        {"^{a}$", "{a}", "a"},
        {"^\\^\\$\\/\\-\\@\\_$", "^$/-@_", "a"},
        {"^(?=a)(?!ab)..$", "ac", "ab"},
        {"(?<=a)b(?<!xb)", "ab", "b"},
        {"^a|b$", "ax", "xa"},
        {"^\\0$", NULL, "0"},
        {"^\\t\\n\\v\\f\\r$", "\t\n\v\f\r", " "},
        {"^# x$", "# x", "#x"},
        {"\\bfoo\\b", "a foo", "afoo"},
        {"o\\B", "oo", "o"},
    };
    fixture f;

    fixture_init(&f, t);
    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        const vls_pattern *pattern;
        uint64_t steps = 1000000;
        int rc = vls_pattern_compile(&pattern, &f.pool, &f.arena, valise_str_of(cases[i].pattern),
                                     &t->err);
        CHECK_MSG(rc == 0, "%s: %s", cases[i].pattern, t->err.message);
        for (int yes = 0; yes < 2; yes++) {
            const char *text = yes ? cases[i].yes : cases[i].no;
            bool matches;
            if (!text)
                continue;
            CHECK_OK(vls_pattern_match(&matches, pattern, &f.pool, &f.matcher, valise_str_of(text),
                                       &steps, &t->err));
            CHECK_MSG(matches == yes, "%s on %s: %d", cases[i].pattern, text, matches);
        }
    }
    fixture_release(&f);
}

TEST(schema_pattern, refuses_what_ecma_262_does_not_have)
{
    static const struct {
        const char *pattern;
        int code;
    } cases[] = {
        {"\\Aa", VALISE_E_INVALID},
        {"a\\Z", VALISE_E_INVALID},
        {"a\\z", VALISE_E_INVALID},
        {"\\a", VALISE_E_INVALID},
        {"\\e", VALISE_E_INVALID},
        {"\\Qa\\E", VALISE_E_INVALID},
        {"\\R", VALISE_E_INVALID},
        {"\\X", VALISE_E_INVALID},
        {"\\h", VALISE_E_INVALID},
        {"\\K", VALISE_E_INVALID},
        {"\\C", VALISE_E_INVALID},
        {"\\N", VALISE_E_INVALID},
        {"\\g{1}", VALISE_E_INVALID},
        {"a++", VALISE_E_INVALID},
        {"a*+", VALISE_E_INVALID},
        {"a{2}+", VALISE_E_INVALID},
        {"*a", VALISE_E_INVALID},
        {"a|*", VALISE_E_INVALID},
        {"^*", VALISE_E_INVALID},
        {"(*UTF)a", VALISE_E_INVALID},
        {"(*LIMIT_MATCH=1)a", VALISE_E_INVALID},
        {"(?>a)", VALISE_E_INVALID},
        {"(?i)a", VALISE_E_INVALID},
        {"(?#a)", VALISE_E_INVALID},
        {"(?R)", VALISE_E_INVALID},
        {"(?1)", VALISE_E_INVALID},
        {"(?C1)", VALISE_E_INVALID},
        {"(?P<a>b)", VALISE_E_INVALID},
        {"(?|a|b)", VALISE_E_INVALID},
        {"(?<1>a)", VALISE_E_INVALID},
        {"(?<a", VALISE_E_INVALID},
        {"\\k<a", VALISE_E_INVALID},
        {"\\k<>", VALISE_E_INVALID},
        {"\\k<b>", VALISE_E_INVALID},
        {"\\2(a)", VALISE_E_INVALID},
        {"\\01", VALISE_E_INVALID},
        {"[\\1]", VALISE_E_INVALID},
        {"[z-a]", VALISE_E_INVALID},
        {"[a", VALISE_E_INVALID},
        {"a)", VALISE_E_INVALID},
        {"\\", VALISE_E_INVALID},
        {"[\\", VALISE_E_INVALID},
        {"\\x4", VALISE_E_INVALID},
        {"\\u123", VALISE_E_INVALID},
        {"\\u{110000}", VALISE_E_INVALID},
        {"\\u{}", VALISE_E_INVALID},
        {"\\u{1", VALISE_E_INVALID},
        {"\\ud800", VALISE_E_INVALID},
        {"\\ud800\\u0041", VALISE_E_INVALID},
        {"\\cé", VALISE_E_INVALID},
        {"\\p", VALISE_E_INVALID},
        {"\\pL", VALISE_E_INVALID},
        {"\\p{^Lu}", VALISE_E_INVALID},
        {"\\p{}", VALISE_E_INVALID},
        {"\\p{Nonsense}", VALISE_E_UNSUPPORTED},
        {"\xff", VALISE_E_INVALID},
        {"[\xc3]", VALISE_E_INVALID},
        {"\\\xc3", VALISE_E_INVALID},
        {"(?<=a+)b", VALISE_E_UNSUPPORTED},
        {"a{70000}", VALISE_E_LIMIT},
    };
    fixture f;

    fixture_init(&f, t);
    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        const vls_pattern *pattern = NULL;
        int rc = vls_pattern_compile(&pattern, &f.pool, &f.arena, valise_str_of(cases[i].pattern),
                                     &t->err);
        CHECK_MSG(rc == cases[i].code, "%s: %s", cases[i].pattern, valise_error_name(rc));
        CHECK(pattern == NULL);
    }
    fixture_release(&f);
}

/* A text longer than the stack of machine code allows goes on in the interpreter. */
TEST(schema_pattern, long_texts_are_matched_or_refused_but_never_guessed)
{
    const size_t len = (size_t)1 << 20;
    char *text = test_alloc(len);
    const vls_pattern *pattern;
    uint64_t steps = UINT64_MAX;
    bool matches = false;
    fixture f;

    fixture_init(&f, t);
    memset(text, 'a', len);
    CHECK_OK(vls_pattern_compile(&pattern, &f.pool, &f.arena, VLS_STR("^(a|b|ab)*c"), &t->err));
    int rc = vls_pattern_match(&matches, pattern, &f.pool, &f.matcher, vls_str(text, len), &steps,
                               &t->err);
    CHECK(rc == VALISE_E_LIMIT || (rc == 0 && !matches));
    CHECK_OK(vls_pattern_compile(&pattern, &f.pool, &f.arena, VLS_STR("^a*$"), &t->err));
    CHECK_OK(vls_pattern_match(&matches, pattern, &f.pool, &f.matcher, vls_str(text, len), &steps,
                               &t->err));
    CHECK(matches);
    fixture_release(&f);
}

TEST(schema_pattern, work_is_paid_for)
{
    const vls_pattern *pattern;
    uint64_t steps = 1000000, before = steps;
    bool matches;
    fixture f;

    fixture_init(&f, t);
    CHECK_OK(vls_pattern_compile(&pattern, &f.pool, &f.arena, VLS_STR("^(a|aa)+$"), &t->err));
    CHECK_OK(
        vls_pattern_match(&matches, pattern, &f.pool, &f.matcher, VLS_STR("aaa"), &steps, &t->err));
    CHECK(before - steps < 40);
    before = steps;
    CHECK_OK(vls_pattern_match(&matches, pattern, &f.pool, &f.matcher, VLS_STR("aaaaaaaaaaaaaaa!"),
                               &steps, &t->err));
    CHECK(!matches && before - steps > 1000);
    steps = 1;
    CHECK_RC(VALISE_E_LIMIT, vls_pattern_match(&matches, pattern, &f.pool, &f.matcher, VLS_STR("a"),
                                               &steps, &t->err));
    fixture_release(&f);
}

/* A reference back, and a character that must stand there often, may look at much text and fail
 * without anybody noticing, so each attempt of such patterns is dearer. */
TEST(schema_pattern, hidden_work_is_paid_for)
{
    static const struct {
        const char *pattern;
        uint64_t least, most;
    } cases[] = {
        {"^(a)b", 0, 5000},       {"^(a)\\1b", 10000, 50000},   {"^(?<x>a)\\k<x>b", 10000, 50000},
        {"^ca{60000}", 0, 10000}, {"^aba{60000}", 5000, 50000},
    };
    const size_t len = 100000;
    char *text = test_alloc(len);
    fixture f;

    fixture_init(&f, t);
    memset(text, 'a', len);
    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        const vls_pattern *pattern;
        uint64_t steps = 1000000;
        bool matches;
        CHECK_OK(vls_pattern_compile(&pattern, &f.pool, &f.arena, valise_str_of(cases[i].pattern),
                                     &t->err));
        CHECK_OK(vls_pattern_match(&matches, pattern, &f.pool, &f.matcher, vls_str(text, len),
                                   &steps, &t->err));
        uint64_t paid = 1000000 - steps;
        CHECK_MSG(!matches && paid >= cases[i].least && paid <= cases[i].most, "%s: %llu",
                  cases[i].pattern, (unsigned long long)paid);
    }
    fixture_release(&f);
}

/* Work that is not much at any one position but is done at each, and work that one item hides. */
TEST(schema_pattern, work_at_every_position_adds_up)
{
    static const char *const patterns[] = {
        "a{0,150}a{0,150}[^a!]", "(a*)\\1[^a!]", "a{3000}[bc]", "a*a*[^a!]",
        "(?=.*[bc])a",           "a*[bc]",
    };
    const size_t len = 100000;
    char *text = test_alloc(len);
    fixture f;

    fixture_init(&f, t);
    memset(text, 'a', len);
    text[len - 1] = '!';
    for (size_t i = 0; i < VLS_COUNT(patterns); i++) {
        const vls_pattern *pattern;
        uint64_t steps = 1000000;
        bool matches;
        CHECK_OK(
            vls_pattern_compile(&pattern, &f.pool, &f.arena, valise_str_of(patterns[i]), &t->err));
        CHECK_RC(VALISE_E_LIMIT, vls_pattern_match(&matches, pattern, &f.pool, &f.matcher,
                                                   vls_str(text, len), &steps, &t->err));
        CHECK_INT(0, steps);
    }
    fixture_release(&f);
}
