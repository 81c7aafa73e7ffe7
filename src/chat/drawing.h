/* drawing.h -- the graph of a session, or of all, and the texts that other programs draw it from.
 * [W7]
 *
 * Threads: single. */
#ifndef VLS_CHAT_DRAWING_H
#define VLS_CHAT_DRAWING_H

#include "base/vec.h"
#include "chat/rows.h"
#include "json/json.h"

typedef struct vls_drawn_node {
    valise_str ref;
    int64_t role;
    int64_t time;
    valise_str text;   /* the beginning of what is said, in one line */
    valise_list heads; /* of valise_str: the sessions whose head it is */
    bool head, tip, active, hidden, noprompt, erased;
} vls_drawn_node;

typedef struct vls_drawn_edge {
    valise_str parent, child;
    int64_t position;
} vls_drawn_edge;

typedef struct vls_drawing {
    bool all;                              /* of all sessions: heads have their names */
    valise_str label;                      /* of the one */
    vls_vec(const vls_drawn_node *) nodes; /* parents first */
    vls_vec(const vls_drawn_edge *) edges;
} vls_drawing;

/* The beginning of what is said, short enough for a node. */
void vls_drawing_brief(vls_buf *out, vls_json blocks);

/* Append the text. What people wrote cannot end a label, nor steer a terminal. */
int vls_drawing_dot(vls_buf *out, const vls_drawing *drawing, valise_error *err);
int vls_drawing_mermaid(vls_buf *out, const vls_drawing *drawing, valise_error *err);

#endif
