/* sort.h -- members in canonical order.
 *
 * Threads: a pure function over the members given. */
#ifndef VLS_JSON_SORT_H
#define VLS_JSON_SORT_H

#include "json/json.h"

/* Sort by key, stable. True when no key stands twice; else *twice is the index of the second of two
 * members with one key, both now side by side. Many members are sorted through memory of env, as
 * much as they take themselves; where there is none, or env is NULL, it is done in place, which
 * is several times slower and cannot fail either. */
bool vls_json_sort_members(size_t *twice, vls_member *members, size_t count, const valise_env *env);

#endif
