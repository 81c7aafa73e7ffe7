/* merging.h -- what backpack:merge and backpack:conflicts share: which three states are meant.
 *
 * Threads: single. */
#ifndef VLS_MERGING_H
#define VLS_MERGING_H

#include "backpack/ops.h"
#include "base/vec.h"

extern const valise_field vls_merge_in[];

typedef struct vls_merge_uses {
    vls_use ours, base, theirs;
    vls_vec(vls_merge_row) brought; /* what ours has not got yet, and has once this was merged */
    vls_vec(valise_str) noted;      /* keys of doubts, as they were found; in the view's arena */
    valise_list doubts;             /* sorted, each once; there too */
} vls_merge_uses;

/* Without a base it is the newest state that is in the past of both, by whatever forks and merges.
 * Where there are several it is one of them, and keys in which they differ are doubts.
 * VALISE_E_NOT_FOUND when they have no past in common, VALISE_E_LIMIT when it was dropped, or its
 * backpack was, or when too many backpacks would have to be looked at. */
int vls_merge_begin(vls_merge_uses *out, valise_view *view, const vls_merge_args *args,
                    valise_error *err);

/* All of theirs was merged, in a command: later merges start from there. */
int vls_merge_remember(vls_merge_uses *uses, valise_error *err);

void vls_merge_end(vls_merge_uses *uses);

static inline void vls_auto_merge_uses(vls_merge_uses *uses)
{
    vls_merge_end(uses);
}

#endif
