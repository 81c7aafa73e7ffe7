/* diff.h -- what changed between two values, as a patch or as a text for people.
 *
 * Objects are compared member by member, arrays after finding the items that both have (align.h).
 * Parts that both values share by address are skipped at once, so comparing two versions of a large
 * document costs as much as has changed, not as much as there is.
 *
 * Threads: as the values: the arena is single. */
#ifndef VLS_JSON_DIFF_H
#define VLS_JSON_DIFF_H

#include "json/json.h"

/* Steps of comparing; enough for two arrays of 100,000 items with nothing in common. */
#define VLS_DIFF_MAX_WORK ((uint64_t)1 << 26)

enum {
    /* Put a test in front of each replace and remove: the patch then refuses a document that
     * has something else there. (RFC 6902 has no test for "nothing is there": an add is not
     * guarded.) */
    VLS_DIFF_WITH_TESTS = 1,
};

typedef struct vls_diff_options {
    uint32_t flags;
    /* 0: VLS_DIFF_MAX_WORK. What is left over is compared item by item, in linear time: the
     * patch is then longer, never wrong, and the call never fails for it. */
    uint64_t max_work;
} vls_diff_options;

/* The JSON Patch that turns a into b; an empty one when they are equal. The same values give the
 * same patch. It changes as little as possible with this rule: where the edits inside a
 * container weigh more than the new container, it is replaced (an edit weighs 1, each value in
 * it 1, and 32 bytes of text 1).
 *
 * The patch borrows from a and b. Its values keep their depth: one that lies less than two levels
 * below a document of the full VLS_JSON_MAX_DEPTH can be applied but not written as text.
 * options may be NULL. VALISE_E_NO_MEMORY, VALISE_E_TOO_LARGE (arena). */
int vls_json_diff(vls_json *patch, vls_arena *arena, vls_json a, vls_json b,
                  const vls_diff_options *options, valise_error *err);

/* Called for each difference. before is NULL where something is new, after where it is gone;
 * both and path are valid during the call only. Return 0 to go on; anything else ends the walk
 * and is what vls_json_changes returns. */
typedef int vls_json_change_fn(void *arg, valise_str path, const vls_json *before,
                               const vls_json *after);

/* Walk the differences in the order of the document. path is where the value is in b; the last
 * step of something that is gone is where it was in a. Working memory is taken from arena's
 * environment, within arena's maximum, and given back. options may be NULL; of its flags none
 * matters here. 0, what fn returned, VALISE_E_NO_MEMORY or VALISE_E_TOO_LARGE. */
int vls_json_changes(const vls_arena *arena, vls_json a, vls_json b,
                     const vls_diff_options *options, vls_json_change_fn *fn, void *arg,
                     valise_error *err);

#endif
