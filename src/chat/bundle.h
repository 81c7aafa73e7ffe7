/* bundle.h -- conversations in bundles and under erasure: what the tables of rows.c call. [W20]
 * [K36]
 *
 *     leads    what one session needs: its head and tips, the versions before them, the edges
 *              between these, what they hold, the roles they name, the preferences that are its
 *              own; nothing of other sessions
 *     arrive   is what a bundle brings a graph, beside what is here?
 *     restored the same of all that there is
 *     meet     the same session went on in two places: all that was said is kept
 *     erased   a version whose contents were erased lets go of its blobs
 *
 * Threads: single, in a command; leads in any view. */
#ifndef VLS_CHAT_BUNDLE_H
#define VLS_CHAT_BUNDLE_H

#include "base/blob.h"
#include "chat/blocks.h"
#include "chat/rows.h"

int vls_session_leads(valise_view *view, const void *row, valise_lead_fn *fn, void *arg,
                      valise_error *err);
int vls_tip_leads(valise_view *view, const void *row, valise_lead_fn *fn, void *arg,
                  valise_error *err);
int vls_turn_leads(valise_view *view, const void *row, valise_lead_fn *fn, void *arg,
                   valise_error *err);
int vls_edge_leads(valise_view *view, const void *row, valise_lead_fn *fn, void *arg,
                   valise_error *err);

/* VALISE_E_INVALID: the bundle is none that this program wrote, or was made to break it. */
int vls_sessions_arrive(valise_view *view, const void *const *rows, size_t count,
                        valise_error *err);
int vls_tips_arrive(valise_view *view, const void *const *rows, size_t count, valise_error *err);
int vls_turns_arrive(valise_view *view, const void *const *rows, size_t count, valise_error *err);
int vls_edges_arrive(valise_view *view, const void *const *rows, size_t count, valise_error *err);

/* The same of all rows, one after the other. */
int vls_sessions_restored(valise_view *view, valise_error *err);
int vls_tips_restored(valise_view *view, valise_error *err);
int vls_turns_restored(valise_view *view, valise_error *err);
int vls_edges_restored(valise_view *view, valise_error *err);

/* The head here stays, or goes on to theirs where it is before that; else theirs becomes a tip. */
int vls_session_meet(valise_view *view, const void *here, const void *there, valise_error *err);
int vls_tip_meet(valise_view *view, const void *here, const void *there, valise_error *err);
/* What was erased on one side is the same; anything else that differs is VALISE_E_CONFLICT. */
int vls_turn_meet(valise_view *view, const void *here, const void *there, valise_error *err);
/* The greater number. */
int vls_node_meet(valise_view *view, const void *here, const void *there, valise_error *err);

int vls_turn_erased(valise_view *view, const void *row, valise_error *err);

/* The blocks of a version; their text lives as long as *blob, all else in arena. 1, or 0 when there
 * are none any more. */
int vls_turn_blocks(vls_blocks *out, valise_blob **blob, valise_view *view, vls_arena *arena,
                    const vls_turn_row *turn, valise_error *err);

#endif
