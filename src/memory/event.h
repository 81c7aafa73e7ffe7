/* event.h -- the events of roles, preferences and context entries (valise_coll.event).
 *
 * Threads: single, as the view is. */
#ifndef VLS_MEMORY_EVENT_H
#define VLS_MEMORY_EVENT_H

#include <valise/sys/view.h>

int vls_role_event(valise_event *out, valise_view *view, const void *before, const void *after,
                   valise_error *err);
int vls_role_version_event(valise_event *out, valise_view *view, const void *before,
                           const void *after, valise_error *err);
int vls_preference_event(valise_event *out, valise_view *view, const void *before,
                         const void *after, valise_error *err);
int vls_entry_event(valise_event *out, valise_view *view, const void *before, const void *after,
                    valise_error *err);

#endif
