/* job.h -- the inside of valise_job.
 *
 * Threads: single. */
#ifndef VLS_JOB_H
#define VLS_JOB_H

#include "base/progress.h"
#include "bus/read.h"

struct valise_job {
    valise *v;
    valise_str actor;
    vls_arena arena;
    vls_progress progress;
    bool in_stage;
    vls_sink *sink;

    /* Of a processor: what its commands were caused by, and what their ids are derived from. */
    valise_uuid cause;
    valise_uuid ids; /* zero: any id will do */
    uint64_t id_count;
};

/* For functions of the library that report how far they are themselves. */
static inline vls_progress *vls_job_progress(valise_job *job)
{
    return &job->progress;
}

/* The engine's own (vls_run_own) as a part of the job: with its actor, and in a processor with the
 * cause and an id as valise_job_call has them. */
int vls_job_run(valise_job *job, const valise_op *op, const void *args, void *result,
                vls_memory *memory, valise_error *err);

/* The newest state, as the actor of the job sees it. */
int vls_job_view(valise_job *job, vls_view_fn *fn, void *arg, valise_error *err);

#endif
