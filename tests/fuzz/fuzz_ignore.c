/* fuzz_ignore.c -- ignore rules: the first byte says how long the path is and whether it is a
 * directory; then the path, then a rule file. [C3]
 *
 * A verdict names a line that is there; rules in front move lines and change nothing; a rule that
 * fits a file fits a directory; a last rule that fits everything wins. */
#include "tree/ignore.h"

#include "base/buf.h"
#include "base/str.h"

#include "fuzz/fuzz.h"

/* What these rules, between two others, say of a path. keep: what the verdict borrows from. */
static vls_ignore_verdict judge(vls_ignore **keep, const char *before, valise_str rules,
                                const char *after, valise_str path, bool is_dir)
{
    const valise_env *env = valise_env_default();
    VLS_AUTO(ignore) vls_ignore *root = NULL;
    VLS_AUTO(buf) vls_buf all = {0};
    vls_ignore_verdict v = {0};

    vls_buf_init(&all, env, VLS_IGNORE_MAX_SIZE);
    vls_buf_add_text(&all, before);
    vls_buf_add(&all, rules);
    vls_buf_add_text(&all, after);
    FUZZ_CHECK(vls_buf_check(&all, NULL) == 0);
    FUZZ_CHECK(vls_ignore_root(&root, env, VLS_STR("config"), VLS_STR(""), NULL) == 0);
    FUZZ_CHECK(vls_ignore_enter(keep, root, VLS_STR("sub"), vls_buf_str(&all), VLS_STR(""), NULL) ==
               0);
    FUZZ_CHECK(vls_ignore_match(&v, *keep, path, is_dir) == v.ignored);
    FUZZ_CHECK(v.ignored == (v.matched && !v.negated));
    return v;
}

/* The line of that number begins with the pattern, but for a BOM. */
static void check_line(valise_str rules, const vls_ignore_verdict *v)
{
    valise_str line = {NULL, 0};

    for (uint32_t i = 0; i < v->line; i++) {
        FUZZ_CHECK(rules.len > 0);
        (void)vls_str_cut(&line, &rules, rules, '\n');
    }
    if (v->line == 1 && vls_str_starts(line, VLS_STR("\xEF\xBB\xBF")))
        line = vls_str_from(line, 3);
    FUZZ_CHECK(vls_str_starts(line, v->pattern) && v->pattern.len > 0);
    FUZZ_CHECK(v->negated == (v->pattern.ptr[0] == '!'));
}

static bool same(const vls_ignore_verdict *a, const vls_ignore_verdict *b, uint32_t lines)
{
    return a->matched == b->matched && a->negated == b->negated &&
           vls_str_equal(a->pattern, b->pattern) && a->line + (a->matched ? lines : 0) == b->line;
}

static void check_all(valise_str rules, valise_str path, bool is_dir)
{
    VLS_AUTO(ignore) vls_ignore *keep = NULL;
    VLS_AUTO(ignore) vls_ignore *keep_moved = NULL;
    VLS_AUTO(ignore) vls_ignore *keep_dir = NULL;
    VLS_AUTO(ignore) vls_ignore *keep_all = NULL;
    vls_ignore_verdict v = judge(&keep, "", rules, "", path, is_dir);
    bool bom = vls_str_starts(rules, VLS_STR("\xEF\xBB\xBF"));
    vls_ignore_verdict moved = judge(&keep_moved, "no-such-name\n#\n",
                                     bom ? vls_str_from(rules, 3) : rules, "", path, is_dir);
    vls_ignore_verdict dir = judge(&keep_dir, "", rules, "", path, true);
    vls_ignore_verdict all = judge(&keep_all, "", rules, "\n!*\n", path, is_dir);

    if (v.matched)
        check_line(rules, &v);
    FUZZ_CHECK(same(&v, &moved, 2));
    FUZZ_CHECK(!v.matched || (dir.matched && dir.line >= v.line));
    FUZZ_CHECK(all.matched && all.negated && vls_str_equal(all.pattern, VLS_STR("!*")));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[4 + 128] = "sub/";

    if (size < 2 || size > 65536)
        return 0;
    size_t len = VLS_MIN((size_t)data[0] / 2, size - 1);
    memcpy(path + 4, data + 1, len);
    valise_str full = vls_str(path, 4 + len);
    valise_str name = vls_str(path + 4, len);
    /* Paths as walks make them. */
    if (len == 0 || name.ptr[0] == '/' || name.ptr[len - 1] == '/' ||
        vls_str_ends(full, VLS_STR("/.git")) || vls_str_ends(full, VLS_STR("/.valise")) ||
        vls_str_ends(full, VLS_STR("/no-such-name")))
        return 0;
    check_all(vls_str(data + 1 + len, size - 1 - len), full, data[0] & 1);
    return 0;
}
