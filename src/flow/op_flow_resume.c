/* op_flow_resume.c -- flow:resume, go on with a run that was interrupted or failed. [F13] */
#include "backpack/bag.h"
#include "base/fd.h"
#include "flow/resume.h"

typedef struct resume_args {
    valise_str run, file;
    valise_list param; /* of valise_str */
    int64_t max_steps;
} resume_args;

static const valise_field resume_in[] = {
    VALISE_FIELD_WITH(resume_args, run, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "The run: its id, the end of it, or the name of its backpack.", .min = 1,
                      .max = VLS_BAG_NAME_MAX, .ref = VLS_REF_FLOW_RUN),
    VALISE_FIELD_WITH(resume_args, file, PATH, VALISE_NULLABLE | VALISE_POSITIONAL,
                      "File of the flow. Naming it allows the programs in it to run.", .min = 1,
                      .max = 4096, .ref = VLS_REF_FLOW_FILE),
    VALISE_FIELD_WITH(resume_args, param, LIST, 0,
                      "The overrides that the rerun was given, again: NODE.path=JSON.",
                      .more = &vls_flow_param_item, .max = 1000),
    VALISE_FIELD_AS_WITH(resume_args, max_steps, "maxSteps", INT, 0,
                         "Limit on node runs; 0 for the limit it was started with.",
                         .max = INT64_MAX),
    VALISE_FIELD_END,
};

static int job(valise_job *j, const void *in, void *out, valise_error *err)
{
    const resume_args *args = in;
    VLS_AUTO(flow) valise_flow *flow = NULL;
    VLS_AUTO(fd) int lock = -1;
    vls_flow_past past = {.last = 0};
    vls_flow_text text = {.programs = false};
    vls_flow_begin begin = {.max_steps = args->max_steps};
    int rc = vls_flow_past_hold(&past, &lock, &j->arena, j->v, j->actor, args->run, err);

    if (rc == 0)
        rc = vls_flow_past_text(&text, &j->arena, j->v, &past, args->file, args->param, err);
    if (rc == 0)
        rc = vls_flow_load(&flow, j->v, &text, err);
    begin.flow = flow;
    if (rc == 0)
        rc = vls_flow_go_on(&begin, &past, &lock, &j->arena, j->actor, err);
    if (rc == 0)
        rc = vls_flow_run_job(out, j, &begin, &text, err);
    valise_backpack_close(begin.bag);
    return rc;
}

const valise_op vls_op_flow_flow_resume = {
    .size = sizeof(valise_op),
    .name = "flow:resume",
    .brief = "Resume a run that was interrupted or failed.",
    .help = "Nodes that were done do not run again. The one that failed or was interrupted runs "
            "again, on the state before it: a fork of that state takes over the name of the "
            "backpack, and what the node had written stays in the old one, renamed to "
            "NAME.aborted-1. If somebody else has written to the backpack since, nothing is "
            "renamed: that is a conflict, and `valise flow rerun` can repeat the node on a fork.",
    .kind = VALISE_JOB,
    .needs = "flow:write",
    .in = resume_in,
    .in_size = sizeof(resume_args),
    .out = vls_flow_ran_fields,
    .out_size = sizeof(vls_flow_ran),
    .job = job,
    .example = "{\"run\":\"research-1a2b3c4d\"}",
};
