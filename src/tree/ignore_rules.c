/* ignore_rules.c -- a file of ignore rules: its lines, what kind of pattern each is, and the last
 * one that fits a name. */
#include "tree/ignore_impl.h"

#include "base/mem.h"
#include "base/str.h"

/* ---- reading ---- */

static bool is_special(char c)
{
    return c == '*' || c == '?' || c == '[' || c == '\\';
}

/* How many bytes stand before the first special one. */
static size_t literal_len(valise_str s)
{
    size_t len = 0;

    while (len < s.len && !is_special(s.ptr[len]))
        len++;
    return len;
}

/* Without the spaces at the end that no backslash protects. A backslash that ends the line protects
 * all of it: git has it so, and such a pattern matches nothing anyway. */
static valise_str trim_spaces(valise_str line)
{
    size_t kept = 0;

    for (size_t i = 0; i < line.len; i++) {
        if (line.ptr[i] == '\\')
            i++;
        else if (line.ptr[i] == ' ')
            continue;
        kept = i + 1;
    }
    return vls_str_head(line, kept);
}

/* Split off a line and take what is no part of the rule from it. */
static valise_str take_line(valise_str *rest)
{
    valise_str line;

    (void)vls_str_cut(&line, rest, *rest, '\n');
    if (line.len > 0 && line.ptr[0] == '#')
        return (valise_str){NULL, 0};
    if (vls_str_ends(line, VLS_STR("\r")))
        line.len--;
    line.len = vls_str_find_byte(line, '\0');
    return trim_spaces(line);
}

/* A pattern without any slash, for names. */
static int read_name(vls_rule *rule, bool *valid, vls_rules *rules, const valise_env *env,
                     valise_str pattern, valise_error *err)
{
    size_t literal = literal_len(pattern);
    valise_str rest = vls_str(pattern.ptr + literal, pattern.len - literal);

    *valid = pattern.len > 0;
    if (rest.len == 0) {
        rule->kind = RULE_NAME;
    } else if (literal == 0 && rest.ptr[0] == '*' &&
               literal_len(vls_str(rest.ptr + 1, rest.len - 1)) == rest.len - 1) {
        rule->kind = RULE_SUFFIX;
        rule->literal++;
        literal = rest.len - 1;
        if (literal == 0)
            rule->last = VLS_RULE_ANY_LAST;
    } else if (vls_str_equal(rest, VLS_STR("*"))) {
        rule->kind = RULE_PREFIX;
        rule->last = VLS_RULE_ANY_LAST;
    } else {
        rule->kind = RULE_WILD_NAME;
    }
    rule->literal_len = (uint32_t)literal;
    if (rule->kind == RULE_WILD_NAME)
        return vls_wild_compile(&rules->code, &rule->last, valid, env, rest, false, err);
    return 0;
}

static int read_path(vls_rule *rule, bool *valid, vls_rules *rules, const valise_env *env,
                     valise_str pattern, valise_error *err)
{
    size_t literal = literal_len(pattern);
    valise_str rest = vls_str(pattern.ptr + literal, pattern.len - literal);

    *valid = pattern.len > 0;
    rule->literal_len = (uint32_t)literal;
    rule->kind = rest.len == 0 ? RULE_PATH : RULE_WILD_PATH;
    if (rest.len == 0)
        return 0;
    return vls_wild_compile(&rules->code, &rule->last, valid, env, rest, true, err);
}

static bool has_slash(valise_str s)
{
    return vls_str_find_byte(s, '/') < s.len;
}

/* What is left of a rule without "!" and the slash at its end. */
static int read_pattern(vls_rule *rule, bool *valid, vls_rules *rules, const valise_env *env,
                        valise_str pattern, valise_error *err)
{
    valise_str any_dir = VLS_STR("**/");
    bool is_path = has_slash(pattern);

    if (is_path && pattern.ptr[0] == '/')
        pattern = vls_str(pattern.ptr + 1, pattern.len - 1);
    /* In any directory: that is what a pattern without slashes says too, and it is cheaper. */
    if (is_path && vls_str_starts(pattern, any_dir) &&
        !has_slash(vls_str(pattern.ptr + any_dir.len, pattern.len - any_dir.len))) {
        pattern = vls_str(pattern.ptr + any_dir.len, pattern.len - any_dir.len);
        is_path = false;
    }
    rule->literal = (uint32_t)(pattern.ptr - rules->text);
    rule->code = (uint32_t)rules->code.len;
    rule->last = pattern.len ? (unsigned char)pattern.ptr[pattern.len - 1] : VLS_RULE_ANY_LAST;
    if (is_path)
        return read_path(rule, valid, rules, env, pattern, err);
    return read_name(rule, valid, rules, env, pattern, err);
}

/* One line, a slice of rules->text. Rules that cannot match anything are left out. */
static int read_line(vls_rules *rules, const valise_env *env, valise_str line, uint32_t number,
                     valise_error *err)
{
    vls_rule rule = {.written = (uint32_t)(line.ptr - rules->text),
                     .written_len = (uint32_t)line.len,
                     .line = number};
    bool valid = false;

    rule.negated = line.ptr[0] == '!';
    line = vls_str(line.ptr + rule.negated, line.len - rule.negated);
    rule.dir_only = vls_str_ends(line, VLS_STR("/"));
    line.len -= rule.dir_only;
    int rc = read_pattern(&rule, &valid, rules, env, line, err);
    if (rc < 0 || !valid)
        return rc;
    if (rules->rules.len >= VLS_IGNORE_MAX_RULES) {
        rc =
            vls_fail(err, VALISE_E_LIMIT, "%.*s: more than %d ignore rules",
                     VALISE_STR_ARG(vls_str(rules->text, rules->source_len)), VLS_IGNORE_MAX_RULES);
        vls_hint(err, "patterns such as *.o or build/ replace lists of files");
        return rc;
    }
    return vls_vec_push(&rules->rules, env, rule) ? 0 : vls_fail_memory(err);
}

/* One block for the source and the bytes. */
static int copy_text(vls_rules *rules, const valise_env *env, valise_str dir, valise_str name,
                     valise_str bytes, valise_error *err)
{
    if (dir.len > VLS_IGNORE_MAX_SIZE)
        return vls_fail(err, VALISE_E_TOO_LARGE, "the path of a rule file has %zu bytes", dir.len);
    size_t source_len = dir.len + (dir.len > 0) + name.len;
    size_t size = source_len + bytes.len;

    char *at = vls_mem_alloc(env, size);
    if (!at)
        return vls_fail_memory(err);
    rules->text = at;
    rules->text_size = size;
    rules->source_len = source_len;
    if (dir.len > 0) {
        memcpy(at, dir.ptr, dir.len);
        at[dir.len] = '/';
        at += dir.len + 1;
    }
    memcpy(at, name.ptr, name.len);
    memcpy(at + name.len, bytes.ptr, bytes.len);
    return 0;
}

static int read_all(vls_rules *rules, const valise_env *env, valise_error *err)
{
    valise_str rest =
        vls_str(rules->text + rules->source_len, rules->text_size - rules->source_len);
    int rc = 0;

    if (vls_str_starts(rest, VLS_STR("\xEF\xBB\xBF")))
        rest = vls_str_from(rest, 3);
    for (uint32_t number = 1; rest.len > 0 && rc == 0; number++) {
        valise_str line = take_line(&rest);
        if (line.len > 0)
            rc = read_line(rules, env, line, number, err);
    }
    return rc;
}

int vls_rules_read(vls_rules *out, const valise_env *env, valise_str dir, valise_str name,
                   valise_str bytes, valise_error *err)
{
    vls_rules rules = {0};
    int rc;

    if (bytes.len == 0)
        return 0;
    if (bytes.len > VLS_IGNORE_MAX_SIZE) {
        rc = vls_fail(err, VALISE_E_TOO_LARGE,
                      "%.*s%s%.*s: %zu bytes of ignore rules: at most %zu are allowed",
                      VALISE_STR_ARG(vls_str_head(dir, 200)), dir.len > 0 ? "/" : "",
                      VALISE_STR_ARG(name), bytes.len, VLS_IGNORE_MAX_SIZE);
        vls_hint(err, "patterns such as *.o or build/ replace lists of files");
        return rc;
    }
    rc = copy_text(&rules, env, dir, name, bytes, err);
    if (rc == 0)
        rc = read_all(&rules, env, err);
    if (rc < 0 || rules.rules.len == 0)
        vls_rules_release(&rules, env);
    if (rc == 0)
        *out = rules;
    return rc;
}

void vls_rules_release(vls_rules *rules, const valise_env *env)
{
    vls_vec_release(&rules->rules, env);
    vls_vec_release(&rules->code, env);
    vls_mem_free(env, rules->text, rules->text_size);
    *rules = (vls_rules){0};
}

/* ---- matching ---- */

static bool wild_fits(const vls_rules *rules, const vls_rule *rule, valise_str literal,
                      valise_str text)
{
    return vls_str_starts(text, literal) &&
           vls_wild_match(rules->code.ptr + rule->code,
                          vls_str(text.ptr + literal.len, text.len - literal.len));
}

static bool fits(const vls_rules *rules, const vls_rule *rule, valise_str path, valise_str name)
{
    valise_str literal = vls_str(rules->text + rule->literal, rule->literal_len);

    switch ((rule_kind)rule->kind) {
    case RULE_NAME:
        return vls_str_equal(name, literal);
    case RULE_SUFFIX:
        return vls_str_ends(name, literal);
    case RULE_PREFIX:
        return vls_str_starts(name, literal);
    case RULE_WILD_NAME:
        return wild_fits(rules, rule, literal, name);
    case RULE_PATH:
        return vls_str_equal(path, literal);
    case RULE_WILD_PATH:
        return wild_fits(rules, rule, literal, path);
    }
    return false;
}

const vls_rule *vls_rules_find(const vls_rules *rules, valise_str path, valise_str name,
                               bool is_dir)
{
    unsigned char last = (unsigned char)name.ptr[name.len - 1];

    for (size_t i = rules->rules.len; i > 0; i--) {
        const vls_rule *rule = &rules->rules.ptr[i - 1];
        if ((rule->last == last || rule->last == VLS_RULE_ANY_LAST) &&
            (is_dir || !rule->dir_only) && fits(rules, rule, path, name))
            return rule;
    }
    return NULL;
}
