/* erase.h -- delete a row of this area, and remove what it ever said from every file. [W13] [K20]
 *
 * The row goes first: who is killed in between does it again, and the history is still there to be
 * erased.
 *
 * Threads: single. */
#ifndef VLS_MEMORY_ERASE_H
#define VLS_MEMORY_ERASE_H

#include "kernel/erase.h"

typedef struct vls_memory_erasing {
    const valise_coll *coll;
    const void *row;         /* its key members are set */
    const valise_op *remove; /* the command that deletes it */
    const void *args;        /* of that */
    valise_str reason;
} vls_memory_erasing;

/* VALISE_E_NOT_FOUND when there is neither a row nor a history of one. */
int vls_memory_erase(vls_erase_answer *out, valise_job *job, const vls_memory_erasing *what,
                     valise_error *err);

#endif
