/* op_flow_resume.c -- flow:resume, go on with a run that was interrupted or failed. [F13] */
#include "backpack/bag.h"
#include "base/fd.h"
#include "flow/record.h"
#include "flow/resume.h"

typedef struct resume_args {
    valise_str run, file;
    int64_t max_steps;
} resume_args;

static const valise_field resume_in[] = {
    VALISE_FIELD_WITH(resume_args, run, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "The run: its id, the end of it, or the name of its backpack.", .min = 1,
                      .max = VLS_BAG_NAME_MAX, .ref = VLS_REF_FLOW_RUN),
    VALISE_FIELD_WITH(resume_args, file, PATH, VALISE_NULLABLE | VALISE_POSITIONAL,
                      "File of the flow: naming it lets the programs that it names run.", .min = 1,
                      .max = 4096, .ref = VLS_REF_FLOW_FILE),
    VALISE_FIELD_AS_WITH(resume_args, max_steps, "maxSteps", INT, 0,
                         "Nodes that may run; 0: as when it was started.", .max = INT64_MAX),
    VALISE_FIELD_END,
};

static int check_over(const vls_flow_past *past, valise_error *err)
{
    if (past->run.status != VLS_FLOW_DONE)
        return 0;
    (void)vls_fail(err, VALISE_E_INVALID, "the run %s is over", vls_uuid_text(&past->run.id).s);
    vls_hint(err, "`valise flow rerun %.*s --from NODE` repeats it from some node on",
             VALISE_STR_ARG(vls_str_head(past->name, 100)));
    return VALISE_E_INVALID;
}

static int open_bag(valise_backpack **out, valise_job *job, const vls_flow_past *past,
                    valise_error *err)
{
    valise_backpack_options options = VALISE_BACKPACK_OPTIONS_INIT;

    options.flags = VALISE_BACKPACK_DURABLE | VALISE_BACKPACK_WRITE_BEHIND | VALISE_BACKPACK_KNOWN;
    options.actor = job->actor;
    return valise_backpack_open(out, job->v, past->name.ptr, &options, err);
}

static int go_on(vls_flow_ran *out, valise_job *j, const resume_args *args, vls_flow_past *past,
                 int *lock, valise_error *err)
{
    VLS_AUTO(flow) valise_flow *flow = NULL;
    valise_backpack *bag = NULL;
    vls_flow_text text = {.programs = false};
    vls_flow_begin begin = {.resume = &past->run.id,
                            .resumed = past->run.resumed,
                            .lock = lock,
                            .start = past->run.start.ptr,
                            .max_steps = args->max_steps ? args->max_steps : past->run.max_steps};
    int rc = vls_flow_past_text(&text, &j->arena, j->v, past, args->file, err);

    if (rc == 0)
        rc = vls_flow_load(&flow, j->v, &text, err);
    if (rc == 0)
        rc = vls_flow_link(flow, NULL, err); /* before anything is changed */
    if (rc == 0)
        rc = vls_flow_rewind(&begin.continued, past, &j->arena, j->v, j->actor, err);
    if (rc == 0)
        rc = open_bag(&bag, j, past, err);
    begin.flow = flow;
    begin.bag = bag;
    if (rc == 0)
        rc = vls_flow_run_job(out, j, &begin, &text, err);
    valise_backpack_close(bag);
    return rc;
}

static int job(valise_job *j, const void *in, void *out, valise_error *err)
{
    const resume_args *args = in;
    vls_flow_past past = {.last = 0};
    VLS_AUTO(fd) int lock = -1;
    int rc = vls_flow_past_read(&past, &j->arena, j->v, j->actor, args->run, err);

    if (rc == 0)
        rc = check_over(&past, err);
    if (rc == 0)
        rc = vls_flow_lock(&lock, j->v, &past.run.id, err);
    if (rc == 0) /* whoever had the lock may have finished it */
        rc = vls_flow_past_read(&past, &j->arena, j->v, j->actor,
                                valise_str_of(vls_uuid_text(&past.run.id).s), err);
    if (rc == 0)
        rc = check_over(&past, err);
    return rc < 0 ? rc : go_on(out, j, args, &past, &lock, err);
}

const valise_op vls_op_flow_flow_resume = {
    .size = sizeof(valise_op),
    .name = "flow:resume",
    .brief = "Go on with a run that was interrupted or failed.",
    .help = "Nodes that were done do not run again. The one that was interrupted, or failed, runs "
            "again on the state before it: what it had written stays in the history of a backpack "
            "that is moved aside, NAME.aborted-1, and a fork takes over the name.",
    .kind = VALISE_JOB,
    .needs = "flow:write",
    .in = resume_in,
    .in_size = sizeof(resume_args),
    .out = vls_flow_ran_fields,
    .out_size = sizeof(vls_flow_ran),
    .job = job,
    .example = "{\"run\":\"research-1a2b3c4d\"}",
};
