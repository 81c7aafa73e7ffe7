/* runner.h -- runs operations for a caller with structs: in a handle of this process, or somewhere
 * else that is asked (src/agent).
 *
 * The C functions that agents call (valise/agent.h) are written once, for any runner.
 *
 * Threads: immutable; each runner says what holds for what is behind it. */
#ifndef VLS_RUNNER_H
#define VLS_RUNNER_H

#include "bus/bus.h"

/* As vls_run: the result's strings live in memory, which was zeroed. */
typedef int vls_runner_fn(void *self, const valise_op *op, const void *args, void *result,
                          vls_memory *memory, const valise_call *call, const vls_run_more *more,
                          valise_error *err);

typedef struct vls_runner {
    const valise_env *env;
    vls_runner_fn *run;
    void *self;
} vls_runner;

static inline int vls_runner_run(const vls_runner *runner, const valise_op *op, const void *args,
                                 void *result, vls_memory *memory, const valise_call *call,
                                 const vls_run_more *more, valise_error *err)
{
    return runner->run(runner->self, op, args, result, memory, call, more, err);
}

/* The handle itself. */
vls_runner vls_runner_of(valise *v);

#endif
