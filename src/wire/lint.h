/* lint.h -- rules over (role, blocks), for lint and for tests of the plan.
 *
 * Threads: single. */
#ifndef VLS_LINT_H
#define VLS_LINT_H

#include "wire/adapter.h"

#define VLS_FINDINGS_MAX 10000u /* more of them nobody reads */

/* A prompt as it is, in the form of a plan: nothing is repaired. What shows only while it is read
 * (blocks of unknown types, opaque data of others) stands in its repairs. */
int vls_plan_as_is(vls_plan *out, vls_arena *arena, const vls_adapter *adapter,
                   const vls_neutral *prompt, valise_error *err);

/* What breaks a rule in a plan, repaired or not. prompt says places; NULL: they stay empty. */
int vls_lint_plan(vls_findings *out, vls_arena *arena, const vls_adapter *adapter,
                  const vls_plan *plan, const vls_neutral *prompt, valise_error *err);

#endif
