/* settle.h -- the last repairs of a plan: what `settle` of an adapter is put together from, and
 * limits that lint looks at, too.
 *
 * Threads: single. */
#ifndef VLS_SETTLE_H
#define VLS_SETTLE_H

#include "wire/adapter.h"

/* Leave a parameter out, or say something else. what as in vls_plan_mend. */
int vls_plan_drop_param(vls_plan *plan, const char *name, const char *what, valise_error *err);
int vls_plan_set_param(vls_plan *plan, const char *name, vls_json value, const char *what,
                       valise_error *err);
/* A choice of tools where there are none, or not this one. */
int vls_plan_settle_choice(vls_plan *plan, valise_error *err);
/* Whether a temperature is above the highest, and texts that end an answer are more than it takes.
 */
bool vls_is_too_hot(const vls_adapter *adapter, vls_json heat);
bool vls_are_too_many(const vls_adapter *adapter, uint32_t demands, vls_json stop);
/* Arguments that are no object become one: {"INVALID_JSON": what the model wrote}. [R10] */
int vls_plan_settle_args(vls_plan *plan, valise_error *err);
/* Results that say nothing, or white space: this instead, or that if they are errors. "" leaves
 * them without content. [R3] */
int vls_plan_settle_results(vls_plan *plan, valise_str words, valise_str errors, valise_error *err);
#define VLS_EMPTY_RESULT "(The result is empty.)"
/* Tell of each result that is an error: the writer says so in words (VLS_PART_ERROR). [R12.4] */
int vls_plan_settle_errors(vls_plan *plan, valise_error *err);
/* Leave blocks out that are not wanted. A message that has no others says "OK.". */
typedef bool vls_unwanted_fn(const vls_plan_block *block);
int vls_plan_settle_blocks(vls_plan *plan, vls_unwanted_fn *unwanted, const char *rule,
                           valise_error *err);
bool vls_is_unsigned(const vls_plan_block *block); /* thinking that nobody can check */
/* Ids of files that say nothing to this provider: the bytes go, or where it does not take these a
 * line of text. [R8] */
bool vls_is_url(valise_str file);     /* an address that anybody can fetch: https://... */
bool vls_is_address(valise_str file); /* of any kind: s3://..., too */
typedef bool vls_usable_fn(const vls_plan *plan, const vls_plan_block *block);
int vls_plan_settle_files(vls_plan *plan, vls_usable_fn *usable, valise_error *err);

#endif
