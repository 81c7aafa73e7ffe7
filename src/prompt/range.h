/* range.h -- which turns of a path a summary is to cover. [P15]
 *
 * Cuts lie between turns. None may split a call from its result, an open call from what will
 * answer it, nor an older summary from what it covers: where one would, the range gets shorter.
 *
 * Threads: single, as the view is. */
#ifndef VLS_PROMPT_RANGE_H
#define VLS_PROMPT_RANGE_H

#include "prompt/build.h"

typedef struct vls_range_asked {
    valise_str from, to; /* as people write turns; ptr NULL: the first one, what keep leaves */
    int64_t keep;        /* turns at the end that models see, and that stay */
} vls_range_asked;

typedef struct vls_range {
    vls_turn_ref from, to;
    size_t turns;        /* of the path, in it; 0: there is nothing to cover */
    valise_id hash;      /* vls_covers_hash of them */
    int64_t tokens;      /* of what models see of it now */
    int64_t all_tokens;  /* of the whole history */
    const vls_part *ptr; /* what models see of it, in the order of the prompt; in memory of the view
                          */
    size_t count;
} vls_range;

/* history: all of it, as vls_choose_history has it without a limit. VALISE_E_NOT_FOUND,
 * VALISE_E_INVALID for turns that are not on the path or stand the wrong way round. */
int vls_range_find(vls_range *out, valise_view *view, const vls_request *request,
                   const vls_parts *history, const vls_range_asked *asked, valise_error *err);

#endif
