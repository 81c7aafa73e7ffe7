/* glob.h -- patterns with stars.
 *
 *     *      a run of characters; between separators it does not cross them
 *     **     as a whole segment: any number of segments, none too
 *
 * Nothing else is special: no ?, no [], no escapes; a ** that is not a whole segment is just two
 * stars. The rules define the rest:
 *
 *     rules              separator   star_min   example
 *     vls_glob_flat      none        0          "a*" matches "a", "a/b.c"
 *     vls_glob_path      '/'         0          "src/a*" matches "src/a", not "src/a/b"
 *     vls_glob_dotted    '.'         1          "sales.*" matches "sales.chat", not "sales."
 *     vls_glob_colons    ':'         1          "area:*" matches "area:read", "*" does not
 *
 * Matching takes at most time proportional to pattern times text: of several stars, only the last
 * one reached ever has to be tried again. This holds among segments and within them.
 *
 * Threads: pure functions; safe anywhere. */
#ifndef VLS_GLOB_H
#define VLS_GLOB_H

#include "base/base.h"

typedef struct vls_glob_rules {
    int separator;     /* the byte between segments, or -1: there is one segment */
    unsigned star_min; /* the fewest characters (of UTF-8) that * stands for: 0 or 1 */
} vls_glob_rules;

extern const vls_glob_rules vls_glob_flat, vls_glob_path, vls_glob_dotted, vls_glob_colons;

/* Whether it is a pattern: not empty, and with a separator no segment is. VALISE_E_INVALID with
 * the offset of the empty segment. */
int vls_glob_check(const vls_glob_rules *rules, valise_str pattern,
                   valise_error *err) VLS_NODISCARD;

/* Whether the pattern matches all of text. With star_min 1, where names have no empty parts, an
 * empty text matches nothing. A pattern that was not checked does no harm. */
bool vls_glob_match(const vls_glob_rules *rules, valise_str pattern, valise_str text);

#endif
