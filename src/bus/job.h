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

#endif
