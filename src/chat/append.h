/* append.h -- add a version to the graph and move the head of a session there: what turn:add,
 * turn:edit, turn:branch, turn:merge, session:role:switch and imports share.
 *
 *     session   found          find.h
 *     append    blocks read, pairs and ranges checked, lane chosen, row, edges, blobs held
 *     move      the head goes there; the old one becomes a tip where it would be lost
 *
 * Threads: single, in a command. */
#ifndef VLS_CHAT_APPEND_H
#define VLS_CHAT_APPEND_H

#include "chat/blocks.h"
#include "chat/rows.h"

typedef struct vls_turn_new {
    valise_uuid id;  /* zero: one is made */
    int64_t version; /* 0: 1 for an id that is new; of one that is there, the next */
    int64_t role;
    const valise_content *blocks;
    const valise_list *blobs;    /* what is known of bytes that came along (blob/receive.h); NULL */
    const vls_turn_ref *parents; /* in their order; they exist, each once */
    size_t parent_count;
    bool hidden, noprompt;
    valise_id metadata, source; /* zero: none */
    int64_t time;               /* VALISE_NONE: that of the command */
    valise_str actor;           /* ptr NULL: that of the command */
} vls_turn_new;

/* Put the version, with its edges and holds. VALISE_E_EXISTS for an id@version that is there;
 * VALISE_E_INVALID for what blocks.h refuses, a result without a call before it, a range that
 * splits a pair; VALISE_E_NOT_FOUND for a blob that is not there. */
int vls_turn_append(vls_turn_row *out, valise_view *view, const vls_turn_new *turn,
                    valise_error *err);

/* Move the head of a session to a version that is there, or to none (to NULL); put the session. Its
 * old head becomes a tip unless the new one, or another tip, is at or below it; a tip that is the
 * new head or its parent goes. role and updated are set. */
int vls_session_move(vls_session_row *session, valise_view *view, const vls_turn_row *to,
                     valise_error *err);

#endif
