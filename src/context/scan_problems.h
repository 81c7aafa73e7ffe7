/* scan_problems.h -- what a look has to tell beside what it records, as answers have it.
 *
 * Threads: single, as the arena is. */
#ifndef VLS_SCAN_PROBLEMS_H
#define VLS_SCAN_PROBLEMS_H

#include "context/ops_tree.h"
#include "tree/scan.h"

#define VLS_SCAN_LISTED_MAX 100u /* of each kind */

/* An item of such a list: {"path": ..., "reason": ...}. */
extern const valise_field vls_scan_problem_item;

/* The first of them, as const vls_tree_scan_problem *, copied. */
int vls_scan_problems(valise_list *out, vls_arena *arena, const vls_scan_problem *problems,
                      size_t count, valise_error *err);

/* What a put saw of the files: view->seen of frame:put. */
typedef struct vls_scan_seen {
    valise_list ambiguous; /* of const vls_tree_scan_problem * */
    int64_t ambiguous_count;
} vls_scan_seen;

#endif
