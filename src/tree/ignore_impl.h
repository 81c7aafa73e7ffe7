/* ignore_impl.h -- what the files behind ignore.h share: rules and the code of their patterns.
 *
 * A file of rules becomes three blocks of memory:
 *
 *     text    | source | the file's bytes |     patterns and verdicts are slices of it
 *     rules   | rule | rule | ...               in the order of the file
 *     code    | code of rule 3 | code of 7 |    for patterns that are more than one star
 *
 * Most patterns are just a name, a suffix or a prefix, and are compared as such. Any other begins
 * with literal bytes (often none), followed by code that is run (ignore_wild.c).
 *
 * Threads: immutable once read. */
#ifndef VLS_TREE_IGNORE_IMPL_H
#define VLS_TREE_IGNORE_IMPL_H

#include "base/vec.h"
#include "tree/ignore.h"

typedef enum rule_kind {
    RULE_NAME,      /* the name is literal */
    RULE_SUFFIX,    /* the name ends in literal: "*.o" */
    RULE_PREFIX,    /* the name begins with literal: "core*" */
    RULE_WILD_NAME, /* it begins with literal, and the code matches the rest */
    RULE_PATH,      /* the path from the rule file's directory is literal */
    RULE_WILD_PATH, /* ... begins with literal, and the code matches the rest */
} rule_kind;

#define VLS_RULE_ANY_LAST (-1)

typedef struct vls_rule {
    uint32_t written, written_len; /* the rule as written, in text */
    uint32_t literal, literal_len; /* in text */
    uint32_t code;                 /* where its code begins */
    uint32_t line;
    uint8_t kind; /* rule_kind */
    bool negated;
    bool dir_only;
    int16_t last; /* the byte every name it matches ends in, or VLS_RULE_ANY_LAST */
} vls_rule;

typedef vls_vec(uint32_t) vls_code;

typedef struct vls_rules {
    char *text;
    size_t text_size; /* what was allocated */
    size_t source_len;
    vls_vec(vls_rule) rules;
    vls_code code;
} vls_rules;

/* Read a file of rules; source is "a/" and ".gitignore" in two parts. out is empty before, and also
 * when the file holds no rule that could match. */
int vls_rules_read(vls_rules *out, const valise_env *env, valise_str dir, valise_str name,
                   valise_str bytes, valise_error *err) VLS_NODISCARD;
void vls_rules_release(vls_rules *rules, const valise_env *env);

/* The last rule that fits, or NULL: path from the rule file's directory, name its last part. */
const vls_rule *vls_rules_find(const vls_rules *rules, valise_str path, valise_str name,
                               bool is_dir);

/* Append the code of a pattern. is_path: it is matched against paths. *last gets the byte that all
 * matches end in, or VLS_RULE_ANY_LAST. *valid is false when it can match nothing; code is then as
 * before. VALISE_E_NO_MEMORY. */
int vls_wild_compile(vls_code *code, int16_t *last, bool *valid, const valise_env *env,
                     valise_str pattern, bool is_path, valise_error *err) VLS_NODISCARD;

/* Whether the code matches all of text. */
bool vls_wild_match(const uint32_t *code, valise_str text);

#endif
