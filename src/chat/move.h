/* move.h -- the parts of moving a head that deleting uses as well.
 *
 * Threads: single, in a command. */
#ifndef VLS_CHAT_MOVE_H
#define VLS_CHAT_MOVE_H

#include "chat/rows.h"

#define VLS_TIPS_TIDY_MAX 256 /* tips that a checkout looks at */

/* Each tip of a session. Non-zero ends it, and is returned. */
typedef int vls_tip_fn(void *arg, const vls_tip_row *tip, valise_error *err);
int vls_tip_each(valise_view *view, const valise_uuid *session, vls_tip_fn *fn, void *arg,
                 valise_error *err);

/* Make it a tip, unless the head or a tip is this version or below it. */
int vls_session_keep(valise_view *view, const vls_session_row *session, const vls_turn_row *turn,
                     valise_error *err);

/* Set the head (NULL: none), with place, role and time, and put the session; tips stay. */
int vls_session_place(vls_session_row *session, valise_view *view, const vls_turn_row *to,
                      valise_error *err);

/* Drop the tips that are before this version, of the first few. */
int vls_session_tidy(valise_view *view, const vls_session_row *session, const vls_turn_row *to,
                     valise_error *err);

#endif
