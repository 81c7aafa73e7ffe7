/* policy.h -- what may be left out of a history, as data. [P15]
 *
 *     {"clearResults": {"keep":3, "exclude":["name"], "atLeast":2000},
 *      "dropThinking": {"keep":1, "atLeast":0},
 *      "newestRead":   {"tools":{"read_file":"path"}, "atLeast":0},
 *      "cutResults":   {"over":20000, "head":4000, "tail":1000}}
 *
 * A candidate becomes one by a later turn (the third result after it, a newer read of the same
 * file). Candidates are taken in the order of these later turns, in lots of atLeast tokens: so what
 * is edited in one build is edited in every later one, and the bytes before stay as they were.
 * Thinking of the tool loop that runs (behind the last words of the user) is never dropped.
 *
 * Threads: single. */
#ifndef VLS_PROMPT_POLICY_H
#define VLS_PROMPT_POLICY_H

#include "prompt/part.h"

typedef struct vls_policy_results {
    int64_t keep, at_least;
    valise_list exclude; /* of valise_str: names of tools */
} vls_policy_results;

typedef struct vls_policy_thinking {
    int64_t keep, at_least; /* keep: turns */
} vls_policy_thinking;

typedef struct vls_policy_reads {
    valise_str tools; /* JSON: {"tool":"argument"} */
    int64_t at_least;
} vls_policy_reads;

typedef struct vls_policy_cut {
    int64_t over, head, tail; /* bytes */
} vls_policy_cut;

/* NULL: that one is off. */
typedef struct vls_policies {
    const vls_policy_results *clear_results;
    const vls_policy_thinking *drop_thinking;
    const vls_policy_reads *newest_read;
    const vls_policy_cut *cut_results;
} vls_policies;

extern const valise_struct vls_policies_struct; /* for a field of a request */

/* Edits, added to those that parts have; only turns with a value are looked at, oldest first. Their
 * tokens become what they are then; *saved (may be NULL) is how much that is. VALISE_E_INVALID: a
 * table of reads that is none. */
int vls_policies_apply(int64_t *saved, vls_arena *arena, const vls_policies *policies,
                       vls_part *parts, size_t count, valise_error *err);

/* One more edit, among those of its block. */
int vls_part_edit(vls_part *part, vls_arena *arena, const vls_prompt_edit *edit, valise_error *err);

#endif
