/* ignore.c -- the rules of a directory, those above it, and what they say of a path. */
#include "tree/ignore_impl.h"

#include "base/mem.h"
#include "base/ref.h"
#include "base/str.h"

struct vls_ignore {
    vls_ref refs;
    const valise_env *env;
    vls_ignore *above; /* NULL for those of vls_ignore_root */
    size_t dir_len;    /* of the directory, with the slash behind it */
    vls_rules strong;  /* .valiseignore */
    vls_rules weak;    /* .gitignore, or the workspace's */
};

/* ---- life ---- */

vls_ignore *vls_ignore_ref(vls_ignore *rules)
{
    vls_ref_get(&rules->refs);
    return rules;
}

vls_ignore *vls_ignore_unref(vls_ignore *rules)
{
    while (rules && vls_ref_put(&rules->refs)) {
        vls_ignore *above = rules->above;
        vls_rules_release(&rules->strong, rules->env);
        vls_rules_release(&rules->weak, rules->env);
        vls_mem_free(rules->env, rules, sizeof(*rules));
        rules = above;
    }
    return NULL;
}

static vls_ignore *new_rules(const valise_env *env, vls_ignore *above)
{
    vls_ignore *rules = vls_mem_zalloc(env, sizeof(*rules));

    if (rules) {
        vls_ref_init(&rules->refs);
        rules->env = env;
        rules->above = above ? vls_ignore_ref(above) : NULL;
    }
    return rules;
}

int vls_ignore_root(vls_ignore **out, const valise_env *env, valise_str source, valise_str lines,
                    valise_error *err)
{
    VLS_AUTO(ignore) vls_ignore *rules = new_rules(env, NULL);

    if (!rules)
        return vls_fail_memory(err);
    int rc = vls_rules_read(&rules->weak, env, VLS_STR(""), source, lines, err);
    if (rc < 0)
        return rc;
    *out = VLS_TAKE(rules);
    return 0;
}

int vls_ignore_enter(vls_ignore **out, vls_ignore *above, valise_str dir, valise_str gitignore,
                     valise_str valiseignore, valise_error *err)
{
    const valise_env *env = above->env;
    vls_rules strong = {0}, weak = {0};
    vls_ignore *rules = NULL;

    int rc = vls_rules_read(&weak, env, dir, VLS_STR(".gitignore"), gitignore, err);
    if (rc == 0)
        rc = vls_rules_read(&strong, env, dir, VLS_STR(".valiseignore"), valiseignore, err);
    if (rc == 0 && weak.rules.len + strong.rules.len == 0) {
        *out = vls_ignore_ref(above);
        return 0;
    }
    if (rc == 0)
        rules = new_rules(env, above);
    if (!rules) {
        vls_rules_release(&weak, env);
        vls_rules_release(&strong, env);
        return rc < 0 ? rc : vls_fail_memory(err);
    }
    rules->dir_len = dir.len + (dir.len > 0);
    rules->weak = weak;
    rules->strong = strong;
    *out = rules;
    return 0;
}

/* ---- matching ---- */

/* The last part of a path. */
static valise_str name_of(valise_str path)
{
    const char *slash = memrchr(path.ptr, '/', path.len);
    size_t at = slash ? (size_t)(slash - path.ptr) + 1 : 0;

    return vls_str(path.ptr + at, path.len - at);
}

static bool is_built_in(valise_str name)
{
    return name.ptr[0] == '.' &&
           (vls_str_equal(name, VLS_STR(".git")) || vls_str_equal(name, VLS_STR(".valise")));
}

static vls_ignore_verdict verdict_of(const vls_rules *rules, const vls_rule *rule)
{
    return (vls_ignore_verdict){
        .ignored = !rule->negated,
        .matched = true,
        .negated = rule->negated,
        .line = rule->line,
        .source = vls_str(rules->text, rules->source_len),
        .pattern = vls_str(rules->text + rule->written, rule->written_len),
    };
}

static vls_ignore_verdict find_rule(const vls_ignore *rules, valise_str path, bool is_dir)
{
    valise_str name = name_of(path);

    assert(name.len > 0);
    if (is_built_in(name)) {
        /* Not the name itself: a verdict must not borrow from the question. */
        valise_str pattern = name.len == 4 ? VLS_STR(".git") : VLS_STR(".valise");
        return (vls_ignore_verdict){
            .ignored = true, .matched = true, .source = VLS_STR("built-in"), .pattern = pattern};
    }
    for (const vls_ignore *at = rules; at; at = at->above) {
        assert(path.len > at->dir_len);
        valise_str below = vls_str(path.ptr + at->dir_len, path.len - at->dir_len);
        const vls_rule *rule = vls_rules_find(&at->strong, below, name, is_dir);
        if (rule)
            return verdict_of(&at->strong, rule);
        rule = vls_rules_find(&at->weak, below, name, is_dir);
        if (rule)
            return verdict_of(&at->weak, rule);
    }
    return (vls_ignore_verdict){0};
}

bool vls_ignore_match(vls_ignore_verdict *verdict, const vls_ignore *rules, valise_str path,
                      bool is_dir)
{
    vls_ignore_verdict found = find_rule(rules, path, is_dir);

    if (verdict)
        *verdict = found;
    return found.ignored;
}

/* ---- a path from the top ---- */

static int check_path(valise_str path, valise_error *err)
{
    if (path.len == 0)
        return vls_fail(err, VALISE_E_INVALID, "the top of the tree cannot be ignored");
    if (path.ptr[0] == '/' || path.ptr[path.len - 1] == '/' ||
        vls_str_find(path, VLS_STR("//")) < path.len)
        return vls_fail(err, VALISE_E_INVALID, "'%.*s' is not a path from the top of the tree",
                        VALISE_STR_ARG(vls_str_head(path, 200)));
    return 0;
}

int vls_ignore_check(vls_ignore_verdict *verdict, vls_ignore **keep, vls_ignore *root,
                     valise_str path, bool is_dir, vls_ignore_enter_fn *enter, void *arg,
                     valise_error *err)
{
    VLS_AUTO(ignore) vls_ignore *rules = vls_ignore_ref(root);
    vls_ignore_verdict found = {0};
    valise_str dir = vls_str(path.ptr, 0);

    int rc = check_path(path, err);
    if (rc < 0)
        return rc;
    while (!found.ignored && dir.len < path.len) {
        VLS_AUTO(ignore) vls_ignore *above = VLS_TAKE(rules);
        rc = enter(&rules, above, dir, arg, err);
        if (rc < 0)
            return rc;
        /* One part more: a directory, unless it is the last. */
        size_t from = dir.len + (dir.len > 0);
        dir.len = from + vls_str_find_byte(vls_str(path.ptr + from, path.len - from), '/');
        found = find_rule(rules, dir, is_dir || dir.len < path.len);
    }
    *verdict = found;
    *keep = VLS_TAKE(rules);
    return 0;
}
