/* resume.h -- where a run that was interrupted, or that failed, goes on; and repeating one. [F13]
 *
 * What a node wrote before it was interrupted is not the state that it is run again on:
 *
 *     backpack NAME      ... chat -> search (wrote a little, and was killed)
 *
 *     NAME.aborted-1     ... chat -> search (wrote a little)         the same backpack, renamed
 *     NAME               ... chat -> search -> ...                   a fork of the state before
 * search
 *
 * Where the node had written nothing, the run just goes on.
 *
 * Threads: pure functions over the workspace. */
#ifndef VLS_FLOW_RESUME_H
#define VLS_FLOW_RESUME_H

#include "flow/give.h"

/* A run as it was recorded, in memory of the arena. */
typedef struct vls_flow_past {
    vls_flow_run_row run;
    valise_str config; /* JSON */
    valise_str name;   /* of its backpack, as it is called now */
    int64_t last;      /* seq of its newest commit */
} vls_flow_past;

/* VALISE_E_NOT_FOUND: no such run, its flow was erased, or its backpack was dropped. */
int vls_flow_past_read(vls_flow_past *out, vls_arena *arena, valise *v, valise_str actor,
                       valise_str run, valise_error *err);

/* The flow of a run. file (ptr NULL: that which the run was started with, if it is still the same):
 * whether its programs may run; VALISE_E_CONFLICT where it is another flow. */
int vls_flow_past_text(vls_flow_text *out, vls_arena *arena, const valise *v,
                       const vls_flow_past *past, valise_str file, valise_error *err);

/* Bring the backpack of a run, whose lock is held, to the state in which it can go on. *continued:
 * that was to move another one aside, and the run's record says so, and that it goes on. */
int vls_flow_rewind(bool *continued, vls_flow_past *past, vls_arena *arena, valise *v,
                    valise_str actor, valise_error *err);

/* What a rerun takes along, and from which state of which backpack it starts. node: a path, perhaps
 * with #N. */
typedef struct vls_flow_branch {
    valise_str name; /* of the backpack */
    int64_t seq;
    int64_t before; /* steps that ended before this tick */
} vls_flow_branch;
int vls_flow_find_branch(vls_flow_branch *out, vls_arena *arena, valise *v, valise_str actor,
                         const vls_flow_past *past, valise_flow *flow, valise_str node,
                         valise_error *err);

#endif
