/* refs.h -- who refers to a version, and what goes when nobody does. [W1] [W6]
 *
 * Threads: single. */
#ifndef VLS_CHAT_REFS_H
#define VLS_CHAT_REFS_H

#include "base/vec.h"
#include "chat/move.h"

/* How many of each; pins: rows of `pin` that hold it. */
typedef struct vls_turn_refs {
    int64_t children, heads, tips, pins;
} vls_turn_refs;
int vls_turn_refs_count(vls_turn_refs *out, valise_view *view, const vls_turn_row *turn,
                        valise_error *err);

/* By something else than a pin: 1, or 0. Ends at the first. */
int vls_turn_is_needed(valise_view *view, const vls_turn_row *turn, valise_error *err);

/* Versions that are pinned; read once for a command, however many it asks for. */
typedef struct vls_turn_pins {
    vls_vec(vls_turn_ref) refs; /* sorted, in memory of the view */
    bool read;
} vls_turn_pins;
int vls_turn_pins_read(vls_turn_pins *out, valise_view *view, valise_error *err);
int64_t vls_turn_pins_of(const vls_turn_pins *pins, const vls_turn_ref *ref);

/* Sessions whose head it is, tips that are on it. Non-zero ends it, and is returned. */
typedef int vls_head_fn(void *arg, const vls_session_row *session, valise_error *err);
int vls_turn_each_head(valise_view *view, const vls_turn_row *turn, vls_head_fn *fn, void *arg,
                       valise_error *err);
int vls_turn_each_tip(valise_view *view, const vls_turn_row *turn, vls_tip_fn *fn, void *arg,
                      valise_error *err);

/* Remove those versions that nobody needs, the last one first, then their parents that nobody needs
 * any more, and so on, at most *left of them (counted down), with their edges and their holds on
 * blobs. Where *left is used up, or a pin holds one, it becomes a row of turn_loose. */
int vls_turns_let_go(valise_view *view, const vls_turn_row *turns, size_t count, int64_t *left,
                     valise_error *err);

/* Remove a session, its tips, and what only they needed, at most *left of all. Where tips are left,
 * the session becomes a row of turn_loose, with version 0. */
int vls_session_let_go(valise_view *view, const vls_session_row *session, int64_t *left,
                       valise_error *err);

/* The same for what is in turn_loose. *left is 0 after it where there may be more. */
int vls_turn_sweep(valise_view *view, int64_t *left, valise_error *err);

#endif
