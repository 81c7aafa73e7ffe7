/* objects.h -- what adapters whose arguments are objects share: Anthropic, Gemini, Bedrock.
 *
 *     settling   params that a provider refuses, arguments that are no object, blank results
 *     writing    arguments word for word
 *     answers    numbers of tokens
 *
 * Threads: single. */
#ifndef VLS_OBJECTS_H
#define VLS_OBJECTS_H

#include "json/make.h"
#include "wire/adapter.h"
#include "wire/schema.h"

/* ---- settling ---- */

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
/* Leave blocks out that are not wanted. A message that has no others says "OK.". */
typedef bool vls_unwanted_fn(const vls_plan_block *block);
int vls_plan_settle_blocks(vls_plan *plan, vls_unwanted_fn *unwanted, const char *rule,
                           const char *what, valise_error *err);
/* Ids of files that say nothing to this provider: the bytes go, or where it does not take these a
 * line of text. [R8] */
bool vls_is_url(valise_str file);     /* an address that anybody can fetch: https://... */
bool vls_is_address(valise_str file); /* of any kind: s3://..., too */
typedef bool vls_usable_fn(const vls_plan *plan, const vls_plan_block *block);
int vls_plan_settle_files(vls_plan *plan, vls_usable_fn *usable, valise_error *err);

/* ---- writing ---- */

/* The arguments of a call. What its own vendor wrote (meta.raw) goes word for word if it says the
 * same. */
int vls_wire_args(vls_wire *wire, const vls_plan *plan, const vls_plan_block *call,
                  valise_error *err);
/* ---- answers ---- */

/* Whether its member "type" says so. */
bool vls_is_type(vls_json block, const char *type);

/* A number of tokens; VALISE_NONE: not told, or none. */
int64_t vls_count_of(vls_json object, const char *key);
/* Sums of these; what is not told counts as nothing, and all of it not told is not told. */
int64_t vls_count_sum(int64_t a, int64_t b);

#endif
