/* sweep.h -- what `gc` lets go of: prompts of sessions that are gone, and what no prompt needs.
 *
 * Threads: single. */
#ifndef VLS_PROMPT_SWEEP_H
#define VLS_PROMPT_SWEEP_H

#include <valise/sys/operation.h>

int vls_prompts_collect(valise *v, valise_error *err);

/* What prompt:sweep is told. Bytes, as in record.h. */
typedef struct vls_sweep_args {
    valise_list prompts; /* of valise_str, 32 bytes each: of sessions that are gone */
    valise_list holds, blobs;
    int64_t seen; /* the state in which no prompt needed these */
} vls_sweep_args;

/* What prompt:expire is told, and says. */
typedef struct vls_prompt_expire_args {
    valise_list prompts; /* of valise_str, 32 bytes each */
} vls_prompt_expire_args;

typedef struct vls_prompt_expired {
    int64_t count;
} vls_prompt_expired;

extern const valise_op vls_op_prompt_prompt_sweep, vls_op_prompt_prompt_expire;

#endif
