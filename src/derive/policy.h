/* policy.h -- the policies that are always there. [C17]
 *
 *     concatenation   all inputs, each under a heading, up to a budget
 *     filtering       the same; what it is for are the conditions of the recipe
 *     summarization   the title and the most telling sentences of each, up to a budget
 *
 * docs/formats.md, "Derived frames", says what they make, to the byte. Whoever changes a byte of
 * that changes the version of the policy.
 *
 * Threads: immutable. */
#ifndef VLS_POLICY_H
#define VLS_POLICY_H

#include <valise/sys/policy.h>

#include "base/buf.h"

#define VLS_POLICY_BUDGET 65536        /* bytes, where a recipe says nothing else */
#define VLS_POLICY_SUMMARY_BUDGET 4096 /* the same for summaries: about a page */
#define VLS_POLICY_BUDGET_MIN 256
#define VLS_POLICY_BUDGET_MAX ((int64_t)16 << 20)

/* What all three take. */
typedef struct vls_policy_params {
    int64_t budget; /* 0: one of the above */
} vls_policy_params;

extern const valise_policy vls_policy_concatenation, vls_policy_filtering, vls_policy_summarization;
extern const valise_policy *const vls_policies[]; /* NULL-ended */

#endif
