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
 * Where the node had written nothing, the run just goes on. Where somebody else wrote meanwhile
 * (the owner, another run) nothing is moved: a rerun from the node on is on a fork by itself.
 *
 *     resume.c      what was recorded, and going on with it
 *     rewind.c      back to the state that the interrupted node found; where a rerun branches off
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

/* The same of one that is to go on, with its lock in *lock, to be closed. VALISE_E_INVALID: it is
 * over; VALISE_E_BUSY: somebody runs it. */
int vls_flow_past_hold(vls_flow_past *out, int *lock, vls_arena *arena, valise *v, valise_str actor,
                       valise_str run, valise_error *err);

/* The flow of a run. file (ptr NULL: that which the run was started with, if it is still the same):
 * whether its programs may run. params: what is to be set in it for that, as it was when the run
 * was a rerun. VALISE_E_CONFLICT where it is another flow. */
int vls_flow_past_text(vls_flow_text *out, vls_arena *arena, const valise *v,
                       const vls_flow_past *past, valise_str file, valise_list params,
                       valise_error *err);

/* Bring the backpack of a run, whose lock is held, to the state in which it can go on. *aside: the
 * name of the one that was moved aside for that, which the run's record says then, and that it goes
 * on; NULL: none was. VALISE_E_CONFLICT: that would take away what somebody else wrote since. */
int vls_flow_rewind(const char **aside, vls_flow_past *past, vls_arena *arena, valise *v,
                    valise_str actor, valise_error *err);

/* All of that: fills `begin`, which has the flow already, for vls_flow_run_begin. begin->bag is to
 * be closed, whatever came of it. */
int vls_flow_go_on(vls_flow_begin *begin, vls_flow_past *past, int *lock, vls_arena *arena,
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
