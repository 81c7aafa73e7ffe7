/* compare.h -- two lists of parts side by side. [P9] [P14]
 *
 * Threads: single, as the view is. */
#ifndef VLS_PROMPT_COMPARE_H
#define VLS_PROMPT_COMPARE_H

#include "prompt/manifest.h"

typedef enum vls_part_change {
    VLS_PART_ENTERED, /* only b has it */
    VLS_PART_LEFT,    /* only a has it */
    VLS_PART_CHANGED, /* the same source, other text or edits */
    VLS_PART_MOVED,   /* the same, in another section or order */
} vls_part_change;
extern const char *const vls_part_changes[]; /* "entered", ..., NULL */

/* a, b: numbers of parts; -1: none. Non-zero ends it, and is returned. */
typedef int vls_compare_fn(void *arg, vls_part_change change, int64_t a, int64_t b,
                           valise_error *err);

/* Each difference once, in the order of the parts of b, those that left behind the part they
 * followed. */
int vls_parts_compare(const vls_parts *a, const vls_parts *b, vls_arena *arena, vls_compare_fn *fn,
                      void *arg, valise_error *err);

/* The first part that is another one; the shorter length where one is the beginning of the other;
 * SIZE_MAX: they are equal. */
size_t vls_parts_differ(const vls_parts *a, const vls_parts *b);

#endif
