/* align.h -- find the items of one array that are still in another.
 *
 * Work is counted and limited, so that two arrays made to be hard to compare cost no more than
 * others: when the limit is reached, items that were not compared count as different. This is never
 * wrong, only coarser: "same" is always true.
 *
 * Threads: single (the arena). */
#ifndef VLS_ALIGN_H
#define VLS_ALIGN_H

#include "json/json.h"

#define VLS_ALIGN_NONE UINT32_MAX

/* Take amount from *work; false, and none is left, when there is not so much. */
static inline bool vls_align_spend(uint64_t *work, uint64_t amount)
{
    if (*work < amount) {
        *work = 0;
        return false;
    }
    *work -= amount;
    return true;
}

/* Whether a and b point at the same children or text, or are the same scalar. Takes no work. */
bool vls_align_identical(vls_json a, vls_json b);

/* Whether a and b are equal; false when *work does not suffice to say. */
bool vls_align_same(vls_json a, vls_json b, uint64_t *work);

/* For each item of array a the index of the same item in array b, or VLS_ALIGN_NONE. Indexes
 * only grow. Nearly as many items are matched as possible. The result lives in scratch.
 * VALISE_E_NO_MEMORY, VALISE_E_TOO_LARGE. */
int vls_align_arrays(const uint32_t **match, vls_arena *scratch, vls_json a, vls_json b,
                     uint64_t *work, valise_error *err);

#endif
