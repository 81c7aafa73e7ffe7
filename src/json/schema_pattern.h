/* schema_pattern.h -- ECMA-262 patterns on PCRE2, with limited effort for each match.
 *
 * A pattern is translated (schema_regex.c), so that it means what ECMA-262 says and cannot use what
 * only PCRE2 knows. Then it is compiled once, to machine code if the system allows. Matching counts
 * all its work in steps, so that no pattern takes more than the caller grants.
 *
 * Threads: vls_pattern is immutable; the pool and vls_matcher are single. */
#ifndef VLS_SCHEMA_PATTERN_H
#define VLS_SCHEMA_PATTERN_H

#include "base/arena.h"
#include "base/buf.h"

#define VLS_PATTERN_MAX_BYTES 8192u              /* of one pattern's text */
#define VLS_PATTERN_MAX_CODE ((size_t)512 << 10) /* of all compiled patterns of a pool */

typedef struct vls_pattern vls_pattern;

/* Where patterns live until all of them are freed together. It must not move. */
typedef struct vls_pattern_pool {
    const valise_env *env;
    void *memory; /* pcre2_general_context, or NULL while there is no pattern */
    vls_pattern *patterns;
    size_t code_bytes;
} vls_pattern_pool;

/* What one thread needs for matching: made at its first match. */
typedef struct vls_matcher {
    void *data;    /* pcre2_match_data */
    void *context; /* pcre2_match_context */
} vls_matcher;

void vls_pattern_pool_init(vls_pattern_pool *pool, const valise_env *env);
void vls_pattern_pool_release(vls_pattern_pool *pool); /* a zeroed pool is fine */

/* Compile a pattern; it lives in arena and pool. VALISE_E_INVALID: not ECMA-262, with the byte
 * offset; VALISE_E_UNSUPPORTED: it is, but PCRE2 cannot; VALISE_E_LIMIT: too long or too large. */
int vls_pattern_compile(const vls_pattern **out, vls_pattern_pool *pool, vls_arena *arena,
                        valise_str source, valise_error *err);

/* The text it was made from. */
valise_str vls_pattern_source(const vls_pattern *pattern);

/* Does the pattern match somewhere in text? Work is taken off *steps; VALISE_E_LIMIT when they do
 * not suffice. */
int vls_pattern_match(bool *matches, const vls_pattern *pattern, const vls_pattern_pool *pool,
                      vls_matcher *matcher, valise_str text, uint64_t *steps, valise_error *err);
void vls_matcher_release(vls_matcher *matcher); /* a zeroed matcher is fine */

/* What can be slow in a pattern without anybody seeing it from outside. */
typedef struct vls_regex_traits {
    uint32_t longest_repeat; /* the largest number of times one character must be repeated */
    bool refers_back;        /* it has \\1 or \\k<name> */
} vls_regex_traits;

/* Append the PCRE2 pattern that means what source means in ECMA-262 (with the u flag, but with
 * the harmless liberties that patterns in the wild take). Errors as for vls_pattern_compile. */
int vls_regex_translate(vls_buf *out, vls_regex_traits *traits, valise_str source,
                        valise_error *err);

#endif
