/* ops.h -- arguments and answers of the operations of flows.
 *
 * Threads: plain data. */
#ifndef VLS_FLOW_OPS_H
#define VLS_FLOW_OPS_H

#include <valise/sys/operation.h>

#include "flow/rows.h"

/* A run begins. With an origin it takes over those of its steps that ended before `before`. */
typedef struct vls_flow_start_args {
    valise_uuid run, backpack;
    valise_str name;
    valise_content config;
    valise_str file, start; /* ptr NULL: none */
    int64_t max_steps;
    valise_uuid origin; /* zero: none */
    int64_t before;
} vls_flow_start_args;

typedef struct vls_flow_step_args {
    valise_uuid run;
    int64_t number, begun;
    valise_str path;
    int64_t visit;
    valise_uuid backpack;
    int64_t start;
    valise_str action, next, code, error;
} vls_flow_step_args;

/* A run goes on. */
typedef struct vls_flow_continue_args {
    valise_uuid run;
    bool aside;      /* on the backpack that has the name now: the other one was moved aside */
    int64_t resumed; /* how often it did so far */
} vls_flow_continue_args;

typedef struct vls_flow_end_args {
    valise_uuid run;
    int64_t status, steps;
    valise_str action, node, code, error;
} vls_flow_end_args;

/* A run is forgotten, a part of it each time. */
typedef struct vls_flow_forget_args {
    valise_uuid run;
} vls_flow_forget_args;

typedef struct vls_flow_forgot {
    bool done;
} vls_flow_forgot;

extern const valise_op vls_op_flow_flow_start, vls_op_flow_flow_step, vls_op_flow_flow_continue,
    vls_op_flow_flow_end, vls_op_flow_flow_forget;

#endif
