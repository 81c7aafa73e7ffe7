/* said.h -- what the blocks of a new version must agree with: its parents, and the path up to the
 * root. [W17]
 *
 *     a tool_result      has its tool_use before it
 *     a summary          covers turns of the path, splits no call from its result, and what its
 *                        hash says is what they say
 *     a role:transition  is said by the system, and to a role that there is
 *
 * Threads: single, in a command. */
#ifndef VLS_CHAT_SAID_H
#define VLS_CHAT_SAID_H

#include "chat/blocks.h"
#include "chat/rows.h"

#define VLS_SAID_LOOK_MAX 100000 /* turns that are looked through for a call */

typedef struct vls_said {
    int64_t role;
    vls_blocks blocks;
    const vls_turn_row *parents; /* in their order; NULL: none */
    size_t parent_count;
} vls_said;

/* Read the blocks of a version that is made, or of one that is there (zero: they were erased, and
 * there are none). */
int vls_said_read(vls_said *out, valise_view *view, const valise_content *blocks,
                  valise_error *err);
int vls_said_read_of(vls_blocks *out, valise_view *view, const vls_turn_row *turn,
                     valise_error *err);

/* VALISE_E_INVALID, VALISE_E_NOT_FOUND for a role. */
int vls_said_check(const vls_said *said, valise_view *view, valise_error *err);

/* The role in force from this version on; ptr NULL: none. */
int vls_said_force(valise_str *out, const vls_said *said, valise_view *view, valise_error *err);

/* VALISE_E_NOT_FOUND for a role that is not there. */
int vls_role_check(valise_view *view, valise_str name, valise_error *err);

#endif
