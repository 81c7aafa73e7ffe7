/* meet.h -- roles and entries in bundles: what the tables of rows.c call.
 *
 * Threads: single, in a command. */
#ifndef VLS_MEMORY_MEET_H
#define VLS_MEMORY_MEET_H

#include <valise/sys/view.h>

/* The one with the greater version. */
int vls_role_meet(valise_view *view, const void *here, const void *there, valise_error *err);

/* What was erased on one side is the same; else VALISE_E_CONFLICT. */
int vls_role_version_meet(valise_view *view, const void *here, const void *there,
                          valise_error *err);

/* Of a session: the one with the greater version, as the session itself goes on in two places. Any
 * other is VALISE_E_CONFLICT. */
int vls_preference_meet(valise_view *view, const void *here, const void *there, valise_error *err);

/* An entry that is a blob holds it. */
int vls_entry_leads(valise_view *view, const void *row, valise_lead_fn *fn, void *arg,
                    valise_error *err);

#endif
