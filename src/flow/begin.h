/* begin.h -- a run from the outside: its backpack, its record, its result.
 *
 * Threads: as run.h says. */
#ifndef VLS_FLOW_BEGIN_H
#define VLS_FLOW_BEGIN_H

#include "flow/run.h"

/* How a run is started, beyond what the public options say. */
typedef struct vls_flow_begin {
    valise_flow *flow;
    valise_backpack *bag; /* the owner's handle, not a snapshot */
    const char *start;    /* NULL: as the flow says */
    valise_str items;     /* JSON object; "": none */
    valise_str file;      /* of the flow, for the record; "": none */
    int64_t max_steps;    /* 0: as the flow says */
    valise_progress progress;
    const valise_uuid *resume; /* a run that is recorded, and goes on; NULL: a new one */
    int64_t resumed;           /* ... how often it did so far */
    const char *aside;         /* ... the backpack that was moved aside for it, which its record
                                * says already; NULL: none was */
    int *lock;                 /* its lock, which is taken over; NULL: it is not held yet */
    const valise_uuid *origin; /* a new run, which takes over steps of this one; or NULL */
    int64_t before;            /* ... those that ended before this tick */
} vls_flow_begin;

/* As valise_flow_run. */
int vls_flow_run_begin(valise_flow_result *result, const vls_flow_begin *begin, valise_error *err);

#endif
