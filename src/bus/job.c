/* job.c -- jobs: work outside any transaction, which submits commands. */
#include "bus/job.h"
#include "bus/operate.h"

valise *valise_job_workspace(valise_job *job)
{
    return job->v;
}

valise_str valise_job_actor(const valise_job *job)
{
    return job->actor;
}

/* The end of a stage is always seen; that nobody wants more, by the next step. */
static void end_stage(valise_job *job)
{
    if (job->in_stage && vls_progress_end(&job->progress, NULL) < 0)
        job->in_stage = false;
    job->in_stage = false;
}

void valise_job_stage(valise_job *job, const char *stage, const char *unit, uint64_t total)
{
    end_stage(job);
    vls_progress_begin(&job->progress, stage, unit, total);
    job->in_stage = true;
}

int valise_job_step(valise_job *job, uint64_t n, valise_error *err)
{
    VLS_ARG(job && job->in_stage, err);
    return vls_progress_step(&job->progress, n, err);
}

int valise_job_alloc(void **out, valise_job *job, size_t size, valise_error *err)
{
    void *memory;

    VLS_ARG(out && job && size > 0, err);
    memory = vls_arena_alloc(&job->arena, size);
    if (!memory)
        return vls_arena_fail(&job->arena, err);
    *out = memory;
    return 0;
}

int valise_job_emit(valise_job *job, const void *row, valise_error *err)
{
    VLS_ARG(job && row, err);
    return vls_sink_emit(job->sink, row, err);
}

int vls_job_run(valise_job *job, const valise_op *op, const void *args, void *result,
                vls_memory *memory, valise_error *err)
{
    valise_call call;
    int rc = valise_job_call(&call, job, err);

    return rc < 0 ? rc : vls_run_own(job->v, op, args, result, memory, &call, err);
}

int vls_job_view(valise_job *job, vls_view_fn *fn, void *arg, valise_error *err)
{
    valise_call call = VALISE_CALL_INIT;

    call.actor = job->actor;
    return vls_with_view(job->v, &call, fn, arg, err);
}

/* May the actor run it? Asked once, at the start. */
static int check_access(const vls_operation *o, const void *args, valise_error *err)
{
    VLS_AUTO(reading) vls_reading reading = {0};
    int rc;

    if (!o->op->needs || o->more->internal)
        return 0;
    rc = vls_reading_begin(&reading, o->v, &o->call, true, err);
    if (rc < 0)
        return rc;
    rc = o->v->access.check(o->v->access.self, &reading.view, reading.actor, o->op, args, err);
    return rc < 0 ? rc : 0;
}

static int work(valise_job *job, vls_operation *o, valise_error *err)
{
    const void *args = NULL;
    void *result = NULL;
    int rc = vls_operation_args(&args, o, &job->arena, err);

    if (rc == 0)
        rc = vls_operation_result(&result, o, &job->arena, err);
    if (rc == 0)
        rc = check_access(o, args, err);
    if (rc < 0)
        return rc;
    rc = o->op->job(job, args, result, err);
    if (rc == VALISE_E_CANCELLED && job->sink->stopped)
        rc = 0;
    rc = vls_op_judge(o->op, rc, err);
    if (rc < 0)
        return rc;
    end_stage(job);
    return o->typed ? 0 : vls_sink_finish(&o->reply.json, job->sink, result, err);
}

int vls_operation_job(vls_operation *o, valise_error *err)
{
    VLS_AUTO(sink) vls_sink sink = {0};
    valise_job job = {.v = o->v, .sink = &sink};
    int rc;

    job.actor = o->call.actor.len ? o->call.actor : o->v->actor;
    vls_operation_sink(&sink, o);
    vls_arena_init(&job.arena, o->v->env, VLS_COMMAND_MAX_BYTES);
    vls_progress_init(&job.progress, o->v->env, &o->call.progress);
    rc = work(&job, o, err);
    o->reply.time = vls_clock_now_ns(&o->v->clock);
    if (rc == 0 && o->memory) {
        *o->memory = (vls_memory){.arena = job.arena};
        return 0;
    }
    vls_arena_release(&job.arena);
    return rc;
}
