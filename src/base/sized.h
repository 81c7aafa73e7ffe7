/* sized.h -- structs of callers that begin with their own size, so that they can grow.
 *
 * A program that was built with older headers has a shorter struct than the library, one built with
 * newer headers a longer one: members that only one of the two knows are left alone.
 *
 * Threads: pure functions. */
#ifndef VLS_SIZED_H
#define VLS_SIZED_H

#include "base/base.h"

/* What the caller gave (NULL: nothing) over *out, which has the defaults. size: of ours; least:
 * what any must have; type: its name. VALISE_E_INVALID for a size that cannot be. */
int vls_sized_take(void *out, size_t size, const void *given, size_t least, const char *type,
                   valise_error *err);

/* Can the caller's struct be filled? Ask before anything is done. */
int vls_sized_check(const void *given, size_t least, const char *type, valise_error *err);

/* A list that the caller gave as a pointer and a count, in *out. what: "topics". VALISE_E_INVALID:
 * a count and no list; VALISE_E_LIMIT: more than max. */
int vls_sized_list(valise_list *out, const void *items, size_t count, size_t max, const char *what,
                   valise_error *err);

/* Fill it with ours; its size stays. */
void vls_sized_give(void *given, const void *ours, size_t size);

#endif
