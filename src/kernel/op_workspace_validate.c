/* op_workspace_validate.c -- workspace:validate, look at everything and say what is wrong. */
#include "bus/bus.h"
#include "bus/index.h"
#include "bus/job.h"
#include "kernel/kernel.h"
#include "store/validate.h"

typedef struct problem {
    valise_str place, problem, remedy;
} problem;

static const valise_field problem_out[] = {
    VALISE_FIELD(problem, place, STR, 0, "Where."),
    VALISE_FIELD(problem, problem, STR, 0, "What is wrong."),
    VALISE_FIELD(problem, remedy, STR, 0, "What to do about it."),
    VALISE_FIELD_END,
};

static int emit(void *arg, const vls_finding *finding, valise_error *err)
{
    problem row = {valise_str_of(finding->place), valise_str_of(finding->problem),
                   valise_str_of(finding->remedy)};

    return valise_job_emit(arg, &row, err);
}

static int job(valise_job *j, const void *args, void *result, valise_error *err)
{
    valise *v = valise_job_workspace(j);
    vls_validation found = {0};
    int rc = vls_validate(&found, v->store, vls_job_progress(j), emit, j, err);

    (void)args;
    (void)result;
    if (rc == 0)
        rc = vls_index_verify(v, emit, j, &found.problems, err);
    if (rc < 0 || found.problems == 0)
        return rc;
    return vls_fail(err, VALISE_E_CORRUPT, "%lld problem%s found", (long long)found.problems,
                    found.problems == 1 ? "" : "s");
}

const valise_op vls_op_kernel_workspace_validate = {
    .size = sizeof(valise_op),
    .name = "workspace:validate",
    .alias = "validate",
    .brief = "Check everything that is stored.",
    .help = "Looks at the pages of the store, the chain of the log, every object's hash, every row "
            "and what it refers to, and the indexes. Prints each problem with what to do about it "
            "and changes nothing. Fails when there is a problem.",
    .kind = VALISE_JOB,
    .flags = VALISE_OP_LIST | VALISE_OP_READ_ONLY,
    .needs = "log:read",
    .out = problem_out,
    .out_size = sizeof(problem),
    .job = job,
    .example = "{}",
};
