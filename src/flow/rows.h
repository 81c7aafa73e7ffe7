/* rows.h -- what a run on a durable backpack leaves behind. [F13]
 *
 *     flow_run            one run: the flow as it was, its backpack, who, how it ended
 *     flow_step  QUIET    (run, number): what one visit of one node came to
 *
 * A step begins and ends at a tick; ticks count from 1 within the run. What ended before another
 * one began was over by then: that is what a rerun from that one takes along. A step with visit 0
 * is an attempt of a node with an inside that failed: what ran inside of it before counts no more.
 *
 * While another run on the backpack is not over, a visit leaves a step when it begins, too: visit
 * is below 0, there is no code, and `action` is the number of the node's run in the backpack.
 * Should both be killed, that says whose nodes were interrupted.
 *
 * Threads: immutable tables. */
#ifndef VLS_FLOW_ROWS_H
#define VLS_FLOW_ROWS_H

#include <valise/sys/view.h>

#include "flow/flow.h"

enum { VLS_FLOW_RUNNING, VLS_FLOW_DONE, VLS_FLOW_FAILED, VLS_FLOW_CANCELLED };
extern const char *const vls_flow_states[];

#define VLS_REF_FLOW_RUN "flow:runs.id"
#define VLS_FLOW_ERROR_MAX 1024

typedef struct vls_flow_run_row {
    valise_uuid id;
    int64_t status; /* RUNNING, though nobody runs it any more: it was interrupted */
    valise_uuid backpack;
    valise_str name;  /* of the backpack, when it began */
    valise_id config; /* the object; zero: erased */
    valise_str file;  /* of the flow, absolute; ptr NULL: it came from nowhere */
    valise_str start; /* another first node; ptr NULL */
    int64_t max_steps;
    valise_str actor;
    int64_t started, ended;  /* ns; ended VALISE_NONE: it has not */
    int64_t steps;           /* once it ended */
    valise_str action, node; /* the last ones; ptr NULL: not known */
    valise_str code, error;  /* of what failed; ptr NULL */
    valise_uuid origin;      /* a rerun: of this one; zero */
    int64_t resumed;         /* how often it went on */
    int64_t aborted;         /* how many backpacks were moved aside for it */
} vls_flow_run_row;

typedef struct vls_flow_step_row {
    valise_uuid run;
    int64_t number; /* the tick at which it ended */
    int64_t begun;  /* ... and at which it began */
    valise_str path;
    int64_t visit; /* from 1; 0: an attempt that failed; below 0: this one, and nobody took it, or
                    * it began */
    valise_uuid backpack; /* on which it ran, and */
    int64_t start;        /* the seq of the state that it found */
    valise_str action;
    valise_str next;        /* id of the next node of its level; ptr NULL: none */
    valise_str code, error; /* it failed, and an edge took it; ptr NULL: it did not */
    int64_t time;
} vls_flow_step_row;

/* Does it say that a visit began? */
static inline bool vls_flow_step_begins(const vls_flow_step_row *step)
{
    return step->visit < 0 && !step->code.ptr;
}

/* Each other run on the same backpack, as far as `status` of it is not DONE, or it was resumed: 1
 * of fn ends it. */
typedef int vls_flow_other_fn(void *arg, const vls_flow_run_row *other, valise_error *err);
int vls_flow_each_other(valise_view *view, const vls_flow_run_row *run, vls_flow_other_fn *fn,
                        void *arg, valise_error *err);

/* Fill the row whose id is set. VALISE_E_NOT_FOUND. */
int vls_flow_run_get(vls_flow_run_row *run, valise_view *view, valise_error *err);

/*     flow_run    index backpack (backpack), started (started) */
extern const valise_coll vls_flow_runs, vls_flow_steps;

#endif
