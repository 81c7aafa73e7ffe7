/* access.h -- what an actor may do. This is the only place that decides it.
 *
 *     vls_access_check    called by the dispatch path for every operation of every surface
 *     vls_access_allows   behind valise_view_allows: what only shows while an operation runs
 *
 * The actor's row is read from the transaction itself: what counts is what holds now, even if the
 * view looks at the past, and without what the running command is about to change.
 *
 * Rows are turned into lists of grants, and some of these are cached. A cached list is used only
 * for a row of the same version (from_seq) and the same text, so a seq that was given out, undone
 * and given out again does no harm.
 *
 * Threads: vls_access is shared. */
#ifndef VLS_ACCESS_H
#define VLS_ACCESS_H

#include "bus/actor.h"
#include "bus/grant.h"
#include "store/view.h"

#define VLS_ACCESS_CACHED 64u /* actors that are remembered */

typedef struct vls_access vls_access;

int vls_access_new(vls_access **out, const valise_env *env, valise_error *err);
void vls_access_free(vls_access *access); /* NULL is fine */

/* args: a struct of op->in, NULL where it takes none. 0: yes. 1: yes, and the actor is a new one in
 * an open workspace: a command runs VLS_ACCESS_ADMIT in front of itself, a query just goes on.
 * VALISE_E_DENIED with the way out. */
int vls_access_check(vls_access *access, valise_view *view, valise_str actor, const valise_op *op,
                     const void *args, valise_error *err);

/* attrs: pairs of name and value, NULL-ended, or NULL. Same answers. */
int vls_access_allows(vls_access *access, valise_view *view, valise_str actor,
                      const char *capability, const char *const *attrs, valise_error *err);

/* The INTERNAL command that records such an actor, and its arguments {"id": ...}. */
#define VLS_ACCESS_ADMIT "agent:admit"

#endif
