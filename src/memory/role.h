/* role.h -- a role and its versions. [W12]
 *
 * A version is never changed and never goes, since a prompt that was built names it. The role's own
 * row says which one holds.
 *
 * Threads: single. */
#ifndef VLS_MEMORY_ROLE_H
#define VLS_MEMORY_ROLE_H

#include "memory/constraints.h"

typedef struct vls_role_ref {
    valise_str name;
} vls_role_ref;
extern const valise_field vls_role_ref_fields[];

/* What role:add and role:update answer. */
typedef struct vls_role_made {
    valise_str name;
    int64_t version;
} vls_role_made;
extern const valise_field vls_role_made_fields[];

/* role->name is set. VALISE_E_NOT_FOUND. */
int vls_role_get(vls_role_row *role, valise_view *view, valise_error *err);
int vls_role_version_get(vls_role_version_row *out, valise_view *view, valise_str name,
                         int64_t version, valise_error *err);

/* Put a version and make it the role's. made_in is the time the role was added; VALISE_NONE: now.
 * Number, time and actor are filled in here. */
int vls_role_put(vls_role_made *out, valise_view *view, vls_role_version_row *version,
                 int64_t made_in, valise_error *err);

typedef struct vls_role_show_args {
    valise_str name;
    int64_t version; /* VALISE_NONE: the one that holds */
} vls_role_show_args;
extern const valise_op vls_op_memory_role_show;

/* A version as it is shown. */
typedef struct vls_role_shown {
    valise_str name, label;
    int64_t version;
    valise_str persona, constraints;
    valise_list topics;
    bool current; /* it is the one that holds */
    int64_t time;
    valise_str actor;
} vls_role_shown;
extern const valise_field vls_role_shown_fields[];

/* now: the version that holds, 0: none does. */
int vls_role_show(vls_role_shown *out, valise_view *view, const vls_role_version_row *row,
                  int64_t now, valise_error *err);

#endif
