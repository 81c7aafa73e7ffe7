/* ignore.c -- the ignore rules by examples: patterns, which rule wins, limits. [C3]
 *
 * ignore_git.c compares with git; what is here git has not (.valiseignore, what is built in), or is
 * worth reading. */
#include "tree/ignore.h"

#include "harness/fault.h"
#include "tree/ignore_kit.h"

#define NONE VLS_STR("")

static vls_ignore *new_root(test *t, valise_str lines)
{
    vls_ignore *root = NULL;

    CHECK_OK(vls_ignore_root(&root, t->env, VLS_STR("config"), lines, &t->err));
    return root;
}

static vls_ignore *new_dir(test *t, vls_ignore *above, const char *dir, valise_str gitignore,
                           valise_str valiseignore)
{
    vls_ignore *rules = NULL;

    CHECK_OK(vls_ignore_enter(&rules, above, valise_str_of(dir), gitignore, valiseignore, &t->err));
    return rules;
}

/* What a rule file in directory "sub" says of a path there: 'i' ignored, '!' not after all, '-' no
 * rule; capital I for directories only. */
static char verdict_on(test *t, valise_str file, valise_str path)
{
    VLS_AUTO(ignore) vls_ignore *root = new_root(t, NONE);
    VLS_AUTO(ignore) vls_ignore *rules = new_dir(t, root, "sub", file, NONE);
    valise_str full = join(VLS_STR("sub"), path);
    vls_ignore_verdict as_file, as_dir;

    CHECK(vls_ignore_match(&as_file, rules, full, false) == as_file.ignored);
    CHECK(vls_ignore_match(&as_dir, rules, full, true) == as_dir.ignored);
    if (as_file.matched)
        return as_file.ignored ? 'i' : '!';
    return as_dir.ignored ? 'I' : '-';
}

typedef struct example {
    const char *file, *path;
    char verdict;
} example;

static void check_all(test *t, const example *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char v = verdict_on(t, valise_str_of(cases[i].file), valise_str_of(cases[i].path));
        CHECK_MSG(v == cases[i].verdict, "'%s' on '%s': %c instead of %c",
                  shown(valise_str_of(cases[i].file)), shown(valise_str_of(cases[i].path)), v,
                  cases[i].verdict);
    }
}

/* [C3] */
TEST(ignore, lines)
{
    static const example cases[] = {
        {"a", "a", 'i'},
        {"a", "x/a", 'i'},
        {"a", "b", '-'},
        {"#a", "#a", '-'},
        {"\\#a", "#a", 'i'},
        {" #a", " #a", 'i'},
        {"!a", "a", '!'},
        {"\\!a", "!a", 'i'},
        {"!!a", "!a", '!'},
        {"a\n!a", "a", '!'},
        {"!a\na", "a", 'i'},
        {"a  ", "a", 'i'},
        {"a\\  ", "a ", 'i'},
        {"a\\ \\ ", "a  ", 'i'},
        {"a\t", "a", '-'},
        {"a \\", "a ", '-'},
        {"a\r\n", "a", 'i'},
        {"a \r\nb", "a", 'i'},
        {"a\r\r\n", "a\r", 'i'},
        {"a\r", "a", 'i'},
        {"\xEF\xBB\xBF"
         "a",
         "a", 'i'},
        {"\xEF\xBB\xBF#a", "#a", '-'},
        {"b\n\xEF\xBB\xBF"
         "a",
         "a", '-'},
        {"\xEF\xBB\xBF", "a", '-'},
        {"", "a", '-'},
        {"\n\n!\n/\n//\n \n", "a", '-'},
        {"a/", "a", 'I'},
        {"a//", "a", '-'},
        {"!a/", "a", '-'},
        {"/a", "a", 'i'},
        {"/a", "x/a", '-'},
        {"x/a", "x/a", 'i'},
        {"x/a", "y/x/a", '-'},
        {"a\\", "a", '-'},
        {"a\\", "a\\", '-'},
        {"a\\\\", "a\\", 'i'},
        {"A", "a", '-'},
        {"a:b", "a:b", 'i'},
        {"\xFF", "\xFF", 'i'},
    };

    check_all(t, cases, VLS_COUNT(cases));
    CHECK_INT('i', verdict_on(t, vls_str("a\0b\nc", 5), VLS_STR("a")));
    CHECK_INT('i', verdict_on(t, vls_str("a\0b\nc", 5), VLS_STR("c")));
    CHECK_INT('i', verdict_on(t, vls_str("a  \0b", 5), VLS_STR("a")));
}

/* [C3] */
TEST(ignore, patterns)
{
    static const example cases[] = {
        {"*", "a", 'i'},          {"*.o", ".o", 'i'},        {"*.o", "x/a.o", 'i'},
        {"*.o", "a.oo", '-'},     {"a*", "a", 'i'},          {"a*", "ba", '-'},
        {"a*c", "abc", 'i'},      {"a*c", "ab", '-'},        {"*a*b", "xaxab", 'i'},
        {"*a*b", "xbxa", '-'},    {"a?c", "abc", 'i'},       {"a?c", "ac", '-'},
        {"a\\*", "a*", 'i'},      {"a\\*", "ab", '-'},       {"[ab]c", "bc", 'i'},
        {"[!ab]c", "bc", '-'},    {"[^ab]c", "cc", 'i'},     {"[a-c]", "b", 'i'},
        {"[]]", "]", 'i'},        {"[a-]", "-", 'i'},        {"[[:digit:]]", "5", 'i'},
        {"[[:nope:]]", "n", '-'}, {"[a", "[a", '-'},         {"[a\\", "a", '-'},
        {"[a-\\", "a", '-'},      {"[[:a", "a", '-'},        {"[", "[", '-'},
        {"x/*", "x/a", 'i'},      {"x/*", "x/a/b", '-'},     {"x/*/b", "x/a/b", 'i'},
        {"x/*/b", "x/b", '-'},    {"x?a", "x/a", '-'},       {"/x[/]a", "x/a", '-'},
        {"x\\/a", "x/a", 'i'},    {"x/*a/b", "x/aa/b", 'i'}, {"x/*a/b", "x/a/c", '-'},
    };

    check_all(t, cases, VLS_COUNT(cases));
}

/* [C3] Two stars. What stands in the last lines is git's doing, not its manual's. */
TEST(ignore, double_stars)
{
    static const example cases[] = {
        {"**/a", "a", 'i'},
        {"**/a", "x/y/a", 'i'},
        {"**/a", "xa", '-'},
        {"/**/a", "x/a", 'i'},
        {"**/a/", "x/a", 'I'},
        {"**/a/b", "x/a/b", 'i'},
        {"**/a/b", "a/b", 'i'},
        {"**/a/b", "a/x/b", '-'},
        {"a/**", "a/x/y", 'i'},
        {"a/**", "a", '-'},
        {"a/**/b", "a/b", 'i'},
        {"a/**/b", "a/x/y/b", 'i'},
        {"a/**/b", "a/xb", '-'},
        {"a/**/b/**/c", "a/b/x/b/c", 'i'},
        {"a/**/b*c/d", "a/bx/bxc/d", 'i'},
        {"a/**/b*c/d", "a/bxc/e", '-'},
        {"**", "a", 'i'},
        {"a**", "ab", 'i'},
        {"x/a*b**/c", "x/ab/y/c", '-'},
        {"a***/b", "ax/y/b", 'i'},
        {"?/**\\/b", "a/b", '-'},
        {"?/**\\/b", "a/x/b", 'i'},
        {"?/**\\/b/**\\/c", "a/x/b/c", '-'},
        {"x/a**", "x/ab/c", 'i'},
        {"a**/b", "ab", 'i'},
        {"a**/b", "ax/y/b", 'i'},
    };

    check_all(t, cases, VLS_COUNT(cases));
}

/* [C3] Any kind, at any depth; no rule brings them back. */
TEST(ignore, what_is_built_in)
{
    VLS_AUTO(ignore) vls_ignore *root = new_root(t, VLS_STR("!*"));
    static const char *const ignored[] = {".git", ".valise", "a/.git", "a/b/.valise"};
    static const char *const not_ignored[] = {"git", ".gita", ".Git", ".valis", ".gitignore"};
    vls_ignore_verdict v;

    for (size_t i = 0; i < VLS_COUNT(ignored); i++) {
        CHECK(vls_ignore_match(&v, root, valise_str_of(ignored[i]), i % 2 == 0));
        CHECK(v.matched && !v.negated && v.line == 0);
        CHECK_STR(VLS_STR("built-in"), v.source);
        CHECK(vls_str_ends(valise_str_of(ignored[i]), v.pattern) && v.pattern.ptr[0] == '.');
    }
    for (size_t i = 0; i < VLS_COUNT(not_ignored); i++)
        CHECK(!vls_ignore_match(NULL, root, valise_str_of(not_ignored[i]), true));
}

static void check_verdict(const vls_ignore *rules, const char *path, const char *source,
                          unsigned line, const char *pattern)
{
    vls_ignore_verdict v;
    bool ignored = vls_ignore_match(&v, rules, valise_str_of(path), false);

    CHECK(v.matched && ignored == (pattern[0] != '!') && v.negated == !ignored);
    CHECK_STR(valise_str_of(source), v.source);
    CHECK_STR(valise_str_of(pattern), v.pattern);
    CHECK_INT(line, v.line);
}

/* [C3] Deeper before higher, .valiseignore before .gitignore, the workspace's last. */
TEST(ignore, who_wins)
{
    VLS_AUTO(ignore) vls_ignore *root = new_root(t, VLS_STR("a1\na2\na3\na4\na5"));
    VLS_AUTO(ignore)
    vls_ignore *top =
        new_dir(t, root, "", VLS_STR("# rules\n!a2\n!a3\n!a4\n!a5"), VLS_STR("a3\na4\na5"));
    VLS_AUTO(ignore)
    vls_ignore *sub = new_dir(t, top, "sub", VLS_STR("\n!a4  \n!/a5"), VLS_STR("\r\n/a5\r\n"));
    VLS_AUTO(ignore) vls_ignore *deep = new_dir(t, sub, "sub/x", NONE, VLS_STR("#\n\n!\n"));

    check_verdict(sub, "sub/a1", "config", 1, "a1");
    check_verdict(sub, "sub/a2", ".gitignore", 2, "!a2");
    check_verdict(sub, "sub/a3", ".valiseignore", 1, "a3");
    check_verdict(sub, "sub/a4", "sub/.gitignore", 2, "!a4");
    check_verdict(sub, "sub/a5", "sub/.valiseignore", 2, "/a5");
    check_verdict(sub, "sub/x/a5", ".valiseignore", 3, "a5");
    CHECK(deep == sub);
}

/* [C3] A directory without rules takes no memory. */
TEST(ignore, no_rules_no_cost)
{
    VLS_AUTO(ignore) vls_ignore *root = new_root(t, VLS_STR("a"));
    size_t before = test_bytes_in_use(t);
    VLS_AUTO(ignore) vls_ignore *none = new_dir(t, root, "x", NONE, NONE);
    VLS_AUTO(ignore)
    vls_ignore *said_nothing = new_dir(t, root, "x", VLS_STR("# nothing\n\n"), VLS_STR("[a\n"));

    CHECK(none == root && said_nothing == root);
    CHECK_INT(before, test_bytes_in_use(t));
    CHECK(vls_ignore_unref(NULL) == NULL);
}

/* ---- a path from the top ---- */

typedef struct visits {
    const char *failing; /* the directory that cannot be read, or NULL */
    char seen[64];       /* those entered, each with a comma behind */
} visits;

static int enter(vls_ignore **out, vls_ignore *above, valise_str dir, void *arg, valise_error *err)
{
    visits *v = arg;
    size_t len = strlen(v->seen);
    bool top = dir.len == 0;

    CHECK(len + dir.len + 1 < sizeof(v->seen));
    if (!top)
        memcpy(v->seen + len, dir.ptr, dir.len);
    v->seen[len + dir.len] = ',';
    if (v->failing && vls_str_equal(dir, valise_str_of(v->failing)))
        return vls_fail(err, VALISE_E_IO, "no");
    return vls_ignore_enter(out, above, dir, top ? VLS_STR("b/") : VLS_STR("!*"), NONE, err);
}

/* [C3] What lies in an ignored directory cannot be brought back. */
TEST(ignore, whole_paths)
{
    VLS_AUTO(ignore) vls_ignore *root = new_root(t, NONE);
    VLS_AUTO(ignore) vls_ignore *keep = NULL;
    vls_ignore_verdict v;
    visits seen = {0}, seen_all = {0};

    CHECK_OK(vls_ignore_check(&v, &keep, root, VLS_STR("b/c/d"), false, enter, &seen, &t->err));
    CHECK(v.ignored);
    CHECK_STR(VLS_STR(".gitignore"), v.source);
    CHECK_STR(VLS_STR("b/"), v.pattern);
    CHECK_TEXT(",", seen.seen);
    keep = vls_ignore_unref(keep);

    CHECK_OK(vls_ignore_check(&v, &keep, root, VLS_STR("a/c/b"), true, enter, &seen_all, &t->err));
    CHECK(!v.ignored && v.negated);
    CHECK_STR(VLS_STR("a/c/.gitignore"), v.source);
    CHECK_TEXT(",a,a/c,", seen_all.seen);
    keep = vls_ignore_unref(keep);

    CHECK_OK(vls_ignore_check(&v, &keep, root, VLS_STR("b"), false, enter, &(visits){0}, &t->err));
    CHECK(!v.matched);
    keep = vls_ignore_unref(keep);
    CHECK_OK(vls_ignore_check(&v, &keep, root, VLS_STR("b"), true, enter, &(visits){0}, &t->err));
    CHECK(v.ignored);
    keep = vls_ignore_unref(keep);
    CHECK_OK(
        vls_ignore_check(&v, &keep, root, VLS_STR("a/.git/x"), true, enter, &(visits){0}, &t->err));
    CHECK_STR(VLS_STR("built-in"), v.source);
}

TEST(ignore, whole_paths_that_cannot_be_checked)
{
    static const char *const wrong[] = {"", "/a", "a/", "a//b", "/"};
    VLS_AUTO(ignore) vls_ignore *root = new_root(t, NONE);
    vls_ignore_verdict v = {.line = 7};
    vls_ignore *keep = NULL;

    for (size_t i = 0; i < VLS_COUNT(wrong); i++)
        CHECK_RC(VALISE_E_INVALID, vls_ignore_check(&v, &keep, root, valise_str_of(wrong[i]), true,
                                                    enter, &(visits){0}, &t->err));
    CHECK_RC(VALISE_E_IO, vls_ignore_check(&v, &keep, root, VLS_STR("a/c/b"), true, enter,
                                           &(visits){.failing = "a"}, &t->err));
    CHECK(keep == NULL && v.line == 7);
}

/* ---- two files in a directory ---- */

/* [C3] .gitignore and .valiseignore are like one file with the one behind the other. */
TEST(ignore, two_files_are_like_one)
{
    VLS_AUTO(ignore) vls_ignore *root = new_root(t, NONE);
    test_rng rng = test_rng_new(test_seed());
    size_t matched = 0;

    for (size_t i = 0; i < 300; i++) {
        valise_str weak = random_rules(&rng, 4), strong = random_rules(&rng, 4);
        if (vls_str_starts(strong, VLS_STR("\xEF\xBB\xBF")))
            strong = vls_str_from(strong, 3);
        text both = {0};
        text_add(&both, weak);
        text_add(&both, VLS_STR("\n"));
        text_add(&both, strong);
        VLS_AUTO(ignore) vls_ignore *one = new_dir(t, root, "", vls_str(both.ptr, both.len), NONE);
        VLS_AUTO(ignore) vls_ignore *two = new_dir(t, root, "", weak, strong);
        for (size_t n = 0; n < 20; n++) {
            valise_str path = path_for_rules(&rng, n % 2 ? weak : strong);
            vls_ignore_verdict a, b;
            CHECK(vls_ignore_match(&a, one, path, n % 4 < 2) ==
                  vls_ignore_match(&b, two, path, n % 4 < 2));
            CHECK(a.matched == b.matched);
            CHECK_STR(a.pattern, b.pattern);
            matched += a.matched;
        }
    }
    CHECK(matched > 600);
}

/* ---- hostile input ---- */

/* `unit`, so many times. */
static valise_str repeated(const char *unit, size_t count)
{
    text all = {0};

    for (size_t i = 0; i < count; i++)
        text_add(&all, valise_str_of(unit));
    return vls_str(all.ptr, all.len);
}

static valise_str both(valise_str a, const char *b)
{
    text all = {0};

    text_add(&all, a);
    text_add(&all, valise_str_of(b));
    return vls_str(all.ptr, all.len);
}

/* [C3] Trying all ways would take longer than the universe lasts. */
TEST(ignore, many_stars_take_no_time)
{
    valise_str name = repeated("a", 4000), path = both(repeated("a/", 2000), "a");

    CHECK_INT('-', verdict_on(t, both(repeated("*a", 200), "b"), name));
    CHECK_INT('i', verdict_on(t, both(repeated("*a", 200), "*"), name));
    CHECK_INT('-', verdict_on(t, both(repeated("*[a]*?", 100), "b"), name));
    CHECK_INT('-', verdict_on(t, both(repeated("**/a/", 200), "b"), path));
    CHECK_INT('i', verdict_on(t, both(repeated("**/a/", 200), "a"), path));
    CHECK_INT('-', verdict_on(t, both(repeated("**/*a*/", 200), "b"), path));
    CHECK_INT('-', verdict_on(t, both(repeated("**\\/*a*a*/", 200), "b?"), path));
    CHECK_INT('-', verdict_on(t, both(repeated("/*", 2001), "b"), path));
    CHECK_INT('i', verdict_on(t, repeated("/*", 2001), path));
}

/* [C3] The most there may be, and one more. */
TEST(ignore, limits)
{
    VLS_AUTO(ignore) vls_ignore *root = new_root(t, NONE);
    valise_str large = repeated("abcdefgh", VLS_IGNORE_MAX_SIZE / 8);
    valise_str many = repeated("a\n", VLS_IGNORE_MAX_RULES);
    valise_str sets = repeated("[a]", VLS_IGNORE_MAX_SIZE / 3);
    vls_ignore *out = NULL;

    vls_ignore_unref(new_dir(t, root, "sub", large, large));
    vls_ignore_unref(new_dir(t, root, "sub", many, both(many, "\n#a\n")));
    vls_ignore_unref(new_dir(t, root, "sub", sets, NONE));
    CHECK_RC(VALISE_E_TOO_LARGE,
             vls_ignore_enter(&out, root, VLS_STR("sub"), both(large, "a"), NONE, &t->err));
    CHECK_TEXT("sub/.gitignore: 1048577 bytes of ignore rules: at most 1048576 are allowed",
               t->err.message);
    CHECK(t->err.hint[0] != '\0');
    CHECK_RC(VALISE_E_TOO_LARGE,
             vls_ignore_enter(&out, root, NONE, VLS_STR("a"), both(large, "a"), &t->err));
    CHECK_TEXT(".valiseignore: 1048577 bytes of ignore rules: at most 1048576 are allowed",
               t->err.message);
    CHECK_RC(VALISE_E_LIMIT,
             vls_ignore_enter(&out, root, VLS_STR("sub"), NONE, both(many, "b"), &t->err));
    CHECK_TEXT("sub/.valiseignore: more than 100000 ignore rules", t->err.message);
    CHECK_RC(VALISE_E_LIMIT,
             vls_ignore_root(&out, t->env, VLS_STR("config"), both(many, "b"), &t->err));
    CHECK_TEXT("config: more than 100000 ignore rules", t->err.message);
    CHECK_RC(VALISE_E_TOO_LARGE,
             vls_ignore_enter(&out, root, both(large, "a"), VLS_STR("a"), NONE, &t->err));
    CHECK(out == NULL);
}

static int read_once(fault *f, void *arg)
{
    VLS_AUTO(ignore) vls_ignore *root = NULL;
    VLS_AUTO(ignore) vls_ignore *rules = NULL;
    valise_str file = VLS_STR("*.o\n/a/b\n[a-z]*x[!b]\n**/a/b/**/c?\n!x\nbuild/\n[ab][cd][ef]");
    int rc = vls_ignore_root(&root, f->env, VLS_STR("config"), VLS_STR("?a?"), &f->err);

    (void)arg;
    if (rc == 0)
        rc = vls_ignore_enter(&rules, root, VLS_STR("sub"), file, file, &f->err);
    if (rc == 0)
        CHECK(vls_ignore_match(NULL, rules, VLS_STR("sub/ace"), false));
    return rc;
}

TEST(ignore, without_memory)
{
    fault_each_alloc(t, 0, read_once, NULL);
    fault_each_alloc(t, FAULT_ONWARD, read_once, NULL);
}
