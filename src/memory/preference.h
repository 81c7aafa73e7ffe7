/* preference.h -- what somebody prefers, where, and how much. [W13]
 *
 * Threads: single. */
#ifndef VLS_MEMORY_PREFERENCE_H
#define VLS_MEMORY_PREFERENCE_H

#include "memory/memory.h"

#define VLS_PRIORITY_MAX 1000000

typedef struct vls_preference_ref {
    valise_uuid id;
} vls_preference_ref;
extern const valise_field vls_preference_ref_fields[];

/* What commands answer. */
typedef struct vls_preference_made {
    valise_uuid id;
    int64_t version;
} vls_preference_made;
extern const valise_field vls_preference_made_fields[];

/* row->id is set. VALISE_E_NOT_FOUND. */
int vls_preference_get(vls_preference_row *row, valise_view *view, valise_error *err);

/* Do scope and `of` fit, and is what they name there as far as it can be seen here? The id of a
 * session gets its usual form. VALISE_E_INVALID, VALISE_E_NOT_FOUND. */
int vls_preference_check(vls_preference_row *row, valise_view *view, valise_error *err);

/* As it is shown. */
typedef struct vls_preference_shown {
    valise_uuid id;
    valise_str content;
    valise_list topics;
    int64_t scope;
    valise_str of, slot;
    int64_t priority, version, created, updated;
    valise_str actor;
} vls_preference_shown;
extern const valise_field vls_preference_shown_fields[];
int vls_preference_show(vls_preference_shown *out, valise_view *view, const vls_preference_row *row,
                        valise_error *err);

int vls_preference_current(valise_str *json, valise_view *view, const valise_uuid *id,
                           valise_error *err);

extern const valise_op vls_op_memory_preference_delete;

#endif
