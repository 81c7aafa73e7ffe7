/* chat.h -- what node_chat.c and chat_session.c share.
 *
 * Threads: single, as a node's run is. */
#ifndef VLS_FLOW_CHAT_H
#define VLS_FLOW_CHAT_H

#include "flow/nodes.h"

typedef struct vls_chat_params {
    valise_str prompt, system, history, session, into, details; /* ptr NULL: not said */
    valise_list items;                                          /* of valise_str */
    vls_ask_from from;
} vls_chat_params;

typedef struct vls_chat {
    valise_str prompt, system, session;
    vls_json history, messages; /* what there was; what is sent */
    vls_json said, answer;      /* messages, for the history */
    vls_json details;
    valise_str text; /* of the answer */
    valise_str user; /* in a session: the turn of the user; "": it is not there yet */
} vls_chat;

/* Ask in the session: text and details. */
int vls_chat_in_session(vls_chat *chat, valise_node_run *at, const vls_chat_params *params,
                        valise_error *err);

#endif
