/* load.h -- from a foreign conversation to rows: what is new in it, and the commands that add it.
 *
 * A conversation is one transaction of several commands `session:load`, none where nothing is new.
 *
 * Threads: single. */
#ifndef VLS_EXCHANGE_LOAD_H
#define VLS_EXCHANGE_LOAD_H

#include <valise/sys/operation.h>

#include "exchange/foreign.h"

#define VLS_LOAD_TURNS 200u              /* of one command */
#define VLS_LOAD_BYTES ((size_t)4 << 20) /* the same: the turn that goes over it is its last */
#define VLS_LOAD_TURNS_MAX 1000

/* ---- the command ---- */

typedef struct vls_load_turn {
    valise_uuid id, parent; /* parent zero: none */
    int64_t role;
    valise_content blocks, metadata, source;
    valise_list blobs; /* of const vls_blob_told * */
    bool hidden, noprompt, tip;
    int64_t time;
} vls_load_turn;

typedef struct vls_load_args {
    valise_uuid session, forked_from;
    valise_str label, role;
    valise_list topics;
    int64_t created;
    valise_content metadata, source;
    valise_list turns; /* of const vls_load_turn * */
    valise_uuid head;  /* zero: it stays */
    valise_uuid from;  /* where the head must be to be moved; zero: nothing was said */
    int64_t from_version;
} vls_load_args;

typedef struct vls_load_result {
    int64_t turns;
} vls_load_result;

extern const valise_op vls_op_exchange_session_load;

/* ---- what the job does ---- */

/* What holds for all conversations of an import. */
typedef struct vls_loading {
    valise_job *job;
    vls_translation *r;
    valise_str label, role; /* ptr NULL: as the source has it; none */
    valise_list topics;
    bool dry; /* look for problems only */
} vls_loading;

typedef struct vls_loaded {
    bool session;  /* a new one */
    int64_t turns; /* that were added */
    int64_t there, deleted, blobs;
} vls_loaded;

/* VALISE_E_INVALID, VALISE_E_LIMIT, VALISE_E_TOO_LARGE: this conversation cannot be taken. */
int vls_load(vls_loaded *out, const vls_loading *loading, vls_foreign *f, valise_error *err);

#endif
