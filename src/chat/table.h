/* table.h -- what the tables of rows.c call: checks of `validate`, events.
 *
 * Threads: single. */
#ifndef VLS_CHAT_TABLE_H
#define VLS_CHAT_TABLE_H

#include <valise/sys/view.h>

int vls_turn_event(valise_event *out, valise_view *view, const void *before, const void *after,
                   valise_error *err);
int vls_session_event(valise_event *out, valise_view *view, const void *before, const void *after,
                      valise_error *err);
int vls_tip_event(valise_event *out, valise_view *view, const void *before, const void *after,
                  valise_error *err);

int vls_turn_check(valise_check *check, valise_view *view, const void *arg, valise_error *err);
int vls_edge_check(valise_check *check, valise_view *view, const void *arg, valise_error *err);
int vls_session_check(valise_check *check, valise_view *view, const void *arg, valise_error *err);
int vls_tip_check(valise_check *check, valise_view *view, const void *arg, valise_error *err);
int vls_loose_check(valise_check *check, valise_view *view, const void *arg, valise_error *err);

#endif
