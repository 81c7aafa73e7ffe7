/* grant.h -- what an actor may do, as text: "context:write type=summary path=src/a*".
 *
 *     grant       capability { ' ' name '=' pattern }
 *     capability  "admin", or area ':' verb with '*' anywhere in either (vls_glob_colons)
 *     pattern     of the value of a field or attribute (vls_glob_path)
 *
 * After the capability come conditions, all of which must hold: what is done must have a value of
 * that name which fits the pattern. A missing value fits nothing, nor does a path with a segment
 * "." or "..": a grant for src and below does not include src/../etc.
 *
 * Threads: pure functions. */
#ifndef VLS_GRANT_H
#define VLS_GRANT_H

#include <valise/sys/operation.h>

#include "base/base.h"

#define VLS_GRANT_MAX_BYTES 256u
#define VLS_GRANT_MAX_CONDITIONS 8u

typedef struct vls_condition {
    valise_str name;
    valise_str pattern;
} vls_condition;

typedef struct vls_grant {
    valise_str capability; /* borrows from the text, as the next */
    vls_condition conditions[VLS_GRANT_MAX_CONDITIONS];
    size_t count;
} vls_grant;

/* VALISE_E_INVALID says what is wrong with the text. */
int vls_grant_parse(vls_grant *out, valise_str text, valise_error *err);

/* What is done, as far as conditions can ask for it. */
typedef struct vls_deed {
    valise_str capability;
    const valise_field *fields; /* with args: STR and ENUM fields, and lists of them; or NULL */
    const void *args;
    const char *const *attrs; /* pairs of name and value, NULL-ended; or NULL. "?name": any value */
    bool asks;                /* conditions are asked for later (VALISE_OP_ASKS) */
} vls_deed;

bool vls_grant_allows(const vls_grant *grant, const vls_deed *deed);

/* Does `wide` without conditions allow everything that `narrow` does? wide is a preset's: its area
 * and verb are a star or a word. */
bool vls_grant_covers(const vls_grant *wide, const vls_grant *narrow);

#endif
