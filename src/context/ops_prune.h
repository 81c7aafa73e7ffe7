/* ops_prune.h -- what the commands of pruning take and answer, and the jobs that run them.
 *
 * Threads: immutable tables; jobs are single. */
#ifndef VLS_OPS_PRUNE_H
#define VLS_OPS_PRUNE_H

#include <valise/sys/operation.h>

#include "context/prune.h"

/* tree:expire -- move the edge. */
typedef struct vls_tree_expire_args {
    int64_t edge;
} vls_tree_expire_args;

typedef struct vls_tree_expire_result {
    int64_t edge;
} vls_tree_expire_result;

/* tree:sweep -- rows that nothing from the edge on needs. */
typedef struct vls_tree_sweep_args {
    int64_t edge, from;
    valise_str dir, behind;
} vls_tree_sweep_args;

typedef struct vls_tree_sweep_result {
    int64_t nodes, versions;
    bool done;
    valise_str dir, behind;
} vls_tree_sweep_result;

/* slot:drop -- orphaned slots. */
#define VLS_SLOT_DROP_MAX 100000u

typedef struct vls_slot_drop_args {
    valise_list slots; /* of const vls_orphan *: path, type, id, closed */
} vls_slot_drop_args;

typedef struct vls_slot_drop_result {
    int64_t slots, closed, entries, frames;
} vls_slot_drop_result;

extern const valise_op vls_op_context_tree_expire, vls_op_context_tree_sweep,
    vls_op_context_slot_drop;

/* ---- the work of the jobs (prune_run.c) ---- */

typedef struct vls_prune_run {
    valise_job *job;
    int64_t now;
    int64_t max;  /* rows or slots, about; 0: all there are */
    bool dry_run; /* nothing is written */
} vls_prune_run;

typedef struct vls_pruned_tree {
    int64_t edge;
    int64_t versions, nodes; /* rows that are gone, or would be */
    int64_t held;            /* versions that a pin holds */
    bool more;               /* it stopped at max */
} vls_pruned_tree;

typedef struct vls_pruned_slots {
    vls_slot_drop_result gone;
    vls_orphans which; /* in the job's memory */
    bool more;
} vls_pruned_slots;

int vls_prune_tree(vls_pruned_tree *out, const vls_prune_run *run, const vls_prune_limits *limits,
                   valise_error *err);
int vls_prune_slots(vls_pruned_slots *out, const vls_prune_run *run, const vls_prune_limits *limits,
                    valise_error *err);

#endif
