/* constraints.h -- what a role asks of models: which one, and within which limits. [W12]
 *
 * In the store they are one object, the canonical text of this struct; what was not given is not in
 * it. What only some provider knows stands under `extras`, word for word.
 *
 * Threads: single. */
#ifndef VLS_MEMORY_CONSTRAINTS_H
#define VLS_MEMORY_CONSTRAINTS_H

#include "memory/memory.h"

#define VLS_STOPS_MAX 16
#define VLS_EXTRAS_MAX ((int64_t)64 << 10)

typedef struct vls_constraints {
    valise_str model;   /* ptr NULL: none */
    double temperature; /* NaN: none */
    int64_t max_tokens; /* of an answer; VALISE_NONE */
    int64_t window;     /* tokens that a prompt may have; VALISE_NONE */
    valise_list stop;   /* of valise_str; items NULL: none */
    valise_str extras;  /* a JSON object; ptr NULL: none */
} vls_constraints;

extern const valise_struct vls_constraint_struct;

/* What role:update can take away; the first two are of the role itself. */
enum {
    VLS_UNSET_LABEL,
    VLS_UNSET_PERSONA,
    VLS_UNSET_MODEL,
    VLS_UNSET_TEMPERATURE,
    VLS_UNSET_MAX_TOKENS,
    VLS_UNSET_WINDOW,
    VLS_UNSET_STOP,
    VLS_UNSET_EXTRAS,
};
extern const char *const vls_role_parts[];

/* What the table of fields does not say. given may be NULL. VALISE_E_INVALID. */
int vls_constraints_check(const vls_constraints *given, valise_error *err);

/* The object of a role, read; a zero id: none at all. */
int vls_constraints_read(vls_constraints *out, valise_view *view, const valise_id *id,
                         valise_error *err);

/* The object for them, added to the command; a zero id when there are none. */
int vls_constraints_add(valise_id *out, valise_view *view, const vls_constraints *constraints,
                        valise_error *err);

/* What is given, over what is there. given may be NULL. */
void vls_constraints_merge(vls_constraints *there, const vls_constraints *given);
void vls_constraints_unset(vls_constraints *there, int64_t part);

#endif
