/* scrub.h -- the contents of turns, out of every file. [W5] [K20]
 *
 * Threads: single, in a job. */
#ifndef VLS_CHAT_SCRUB_H
#define VLS_CHAT_SCRUB_H

#include "base/vec.h"
#include "bus/bus.h"
#include "chat/rows.h"
#include "kernel/erase.h"

#define VLS_SCRUB_STEP 500u /* places of one command: others want to write too */

typedef struct vls_scrub {
    vls_arena arena;
    vls_vec(valise_str) places; /* in the arena */
} vls_scrub;

void vls_scrub_init(vls_scrub *out, const valise_env *env);
void vls_scrub_release(vls_scrub *scrub); /* a zeroed one is fine */

/* Is there something of it that was not erased? */
bool vls_turn_has_contents(const vls_turn_row *turn);

/* A version that has contents is to be erased; and a session's label, metadata and source. */
int vls_scrub_turn(vls_scrub *scrub, const vls_turn_row *turn, valise_error *err);
int vls_scrub_session(vls_scrub *scrub, const vls_session_row *session, valise_error *err);

/* Erase all of them, and begin anew. *residue: see vls_erase_answer. */
int vls_scrub_run(valise_str *residue, vls_scrub *scrub, valise_job *job, valise_str reason,
                  valise_error *err);

/* Look what there is to erase, then erase it and remove the rows: again where run answers
 * VALISE_E_CONFLICT, since somebody said more meanwhile. */
typedef int vls_scrub_fn(void *arg, valise_job *job, valise_error *err);
int vls_scrub_until_done(valise_job *job, vls_view_fn *look, vls_scrub_fn *run, void *arg,
                         valise_error *err);

#endif
