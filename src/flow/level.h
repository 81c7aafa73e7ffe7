/* level.h -- the inside of a run: levels, their slots, one visit of a node.
 *
 * Threads: as run.h says. */
#ifndef VLS_FLOW_LEVEL_H
#define VLS_FLOW_LEVEL_H

#include "flow/run.h"

/* What a run keeps of one node. Made when the node runs first. */
typedef struct vls_flow_slot {
    valise_backpack *view; /* NULL: it did not run yet */
    valise_str path, namespace_name;
    int64_t *visits;       /* of the nodes with this path; NULL: it has no name yet */
    int64_t own;           /* ... where there is one only */
    vls_flow_level *below; /* the levels inside of it: of hosts there may be several */
} vls_flow_slot;

struct vls_flow_level {
    vls_flow_run *run;
    /* A flow of a host may be freed before the run is over: then it is never looked at again, and
     * another one in its place is told apart by its seed. */
    valise_flow *flow;
    uint64_t seed;
    size_t count;           /* of slots */
    bool hosted;            /* it is, or lies in, a flow that a host runs */
    valise_node_run *above; /* the run of the node whose inside it is; NULL: the outermost */
    vls_flow_level *beside; /* another one inside of the same node */
    /* What the paths of its nodes begin with, in place of their first `strip` bytes; and what
     * stands in front of their namespaces. */
    valise_str prefix, namespace_prefix;
    size_t strip;
    vls_flow_slot *slots;
    vls_arena arena;      /* of the node that runs */
    vls_flow_level *next; /* of the run, to be released */
};

/* What came of a visit. */
typedef struct vls_flow_step {
    const vls_flow_node *next; /* NULL: none */
    char action[VLS_FLOW_ACTION_MAX + 1];
    bool failed;          /* and an edge took it: */
    valise_error failure; /* why */
} vls_flow_step;

/* One run of one node, with retries, its contracts and the way on (visit.c). failure: of the node
 * before, or NULL. */
int vls_flow_visit(vls_flow_step *step, vls_flow_level *level, const vls_flow_node *node,
                   const valise_error *failure, valise_error *err);

/* The next node, by the action that was chosen, and the keys that its edge carries over (route.c).
 */
int vls_flow_route(vls_flow_step *step, valise_node_run *at, valise_error *err);
/* The edge that takes a failure; NULL: none does. */
const vls_flow_edge *vls_flow_error_edge(const vls_flow_node *node);
/* The keys that an edge carries over. */
int vls_flow_carry(valise_node_run *at, const vls_flow_edge *edge, valise_error *err);

/* Inputs before prep, outputs after post (contract.c). */
int vls_flow_check_inputs(valise_node_run *at, valise_error *err);
int vls_flow_check_outputs(valise_node_run *at, valise_error *err);

/* The seq of the newest commit of the run's backpack. */
int vls_flow_seq(int64_t *seq, const vls_flow_run *run, valise_error *err);

/* Take what an attempt wrote since then out of the state (attempt.c). from: of at->seen. */
int vls_flow_quarantine(valise_node_run *at, int64_t seq, size_t from, const valise_error *why,
                        valise_error *err);

/* ---- what the events say (tell.c) ---- */

void vls_flow_tell_start(const vls_flow_run *run);
void vls_flow_tell_end(const vls_flow_run *run, int code, const valise_error *why, int64_t ns);
void vls_flow_tell_node_start(const valise_node_run *at);
void vls_flow_tell_prep(const valise_node_run *at, int64_t ns);
void vls_flow_tell_exec(const valise_node_run *at, int64_t ns);
/* step NULL: it failed, and no edge took it. */
void vls_flow_tell_node_end(const valise_node_run *at, const vls_flow_step *step, int64_t ns);
void vls_flow_tell_error(const valise_node_run *at, const valise_error *why, bool again);

#endif
