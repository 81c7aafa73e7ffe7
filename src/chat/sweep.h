/* sweep.h -- removing turns: what the operations and gc share.
 *
 * Threads: single. */
#ifndef VLS_CHAT_SWEEP_H
#define VLS_CHAT_SWEEP_H

#include "base/vec.h"
#include "bus/bus.h"
#include "chat/refs.h"

/* `more` comes first: see vls_view_then. */
typedef struct vls_swept {
    bool more;
    int64_t removed;
} vls_swept;

/* What is in turn_loose and can go, by commands. valise_extension.collect. */
int vls_sweep_all(valise *v, valise_error *err);

/* ---- what turn:delete removes ---- */

#define VLS_REMOVE_MAX 10000 /* versions of one branch */

typedef struct vls_turn_remove_args {
    valise_uuid session; /* whose heads and tips do not stand in the way */
    valise_uuid turn;
    int64_t version;
    bool recursive, force;
} vls_turn_remove_args;

/* A version and, with recursive, everything below it. */
typedef struct vls_branch {
    vls_vec(vls_turn_row) turns; /* in memory of the view; the first one is the top */
    bool leaf;                   /* nothing else is below the top */
} vls_branch;

/* VALISE_E_NOT_FOUND, VALISE_E_LIMIT for more than VLS_REMOVE_MAX; VALISE_E_CONFLICT when another
 * session has its head or a tip there, unless forced: it names them. */
int vls_branch_find(vls_branch *out, valise_view *view, const vls_turn_remove_args *args,
                    valise_error *err);

/* Move heads and tips away, and let go of all of it; of what has children elsewhere a row stays. */
int vls_branch_remove(vls_swept *out, valise_view *view, const vls_branch *branch,
                      valise_error *err);

#endif
