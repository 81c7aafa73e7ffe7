/* slot_impl.h -- what the files behind slot.h share.
 *
 * Threads: pure functions. */
#ifndef VLS_SLOT_IMPL_H
#define VLS_SLOT_IMPL_H

#include "context/slot.h"

/* A slot by its id, be it open or closed: 1, or 0. Strings that stay. */
int vls_slot_by_id(vls_slot_row *out, valise_view *view, const valise_uuid *id, valise_error *err);

/* ---- for `validate` (slot_check.c) ---- */

int vls_slot_check_context(valise_check *check, valise_view *view, const void *arg,
                           valise_error *err);
int vls_slot_check_slot(valise_check *check, valise_view *view, const void *arg, valise_error *err);
int vls_slot_check_entry(valise_check *check, valise_view *view, const void *arg,
                         valise_error *err);
int vls_slot_check_closed(valise_check *check, valise_view *view, const void *arg,
                          valise_error *err);

/* ---- for subscribers (event.c) ---- */

int vls_frame_event(valise_event *out, valise_view *view, const void *before, const void *after,
                    valise_error *err);
int vls_slot_event(valise_event *out, valise_view *view, const void *before, const void *after,
                   valise_error *err);
int vls_slot_closed_event(valise_event *out, valise_view *view, const void *before,
                          const void *after, valise_error *err);

#endif
