/* op_workspace_validate.c -- workspace:validate, look at everything and say what is wrong. */
#include "bus/bus.h"
#include "bus/index.h"
#include "bus/job.h"
#include "kernel/kernel.h"
#include "kernel/packages.h"
#include "kernel/payload.h"
#include "store/blob_care.h"

typedef enum weight {
    PROBLEM,
    NOTE,
} weight;
static const char *const weights[] = {"problem", "note", NULL};

typedef struct problem {
    int64_t kind; /* weight */
    valise_str place, problem, remedy;
} problem;

static const valise_field problem_out[] = {
    VALISE_FIELD_WITH(problem, kind, ENUM, 0, "\"note\": good to know, and nothing is wrong.",
                      .more = weights),
    VALISE_FIELD(problem, place, STR, 0, "Where."),
    VALISE_FIELD(problem, problem, STR, 0, "What is wrong."),
    VALISE_FIELD(problem, remedy, STR, 0, "What to do about it."),
    VALISE_FIELD_END,
};

static int emit(void *arg, const vls_finding *finding, valise_error *err)
{
    problem row = {PROBLEM, valise_str_of(finding->place), valise_str_of(finding->problem),
                   valise_str_of(finding->remedy)};

    return valise_job_emit(arg, &row, err);
}

static int emit_note(void *arg, const vls_finding *finding, valise_error *err)
{
    problem row = {NOTE, valise_str_of(finding->place), valise_str_of(finding->problem),
                   valise_str_of(finding->remedy)};

    return valise_job_emit(arg, &row, err);
}

/* A blob goes with the last row that names it: states of the past are without it. */
static int note_past(valise_job *j, int64_t count, valise_error *err)
{
    char text[128];
    const vls_finding finding = {"blobs", text, "nothing to do: the log keeps no files"};

    if (count == 0)
        return 0;
    (void)snprintf(text, sizeof(text), "gone with their last holder, and named by the log: %lld",
                   (long long)count);
    return emit_note(j, &finding, err);
}

static int check_blobs(vls_validation *found, valise_job *j, valise_error *err)
{
    valise *v = valise_job_workspace(j);
    vls_blob_check check = {.problem = emit, .note = emit_note, .arg = j};
    int rc = 0;

    if (v->blobs)
        rc = vls_blobs_validate(&check, v->store, v->blobs, vls_job_progress(j), err);
    found->problems += check.problems;
    found->unverifiable += check.unverifiable;
    return rc < 0 ? rc : note_past(j, check.past, err);
}

typedef struct checking {
    valise_job *job;
    vls_validation *found;
} checking;

/* Files that areas make from rows. */
static int check_files(void *arg, const valise_projection *p, valise_error *err)
{
    const checking *c = arg;
    vls_projection_problem wrong;
    problem row = {.kind = PROBLEM, .remedy = VLS_STR("make it anew: valise repair")};

    if (!vls_projection_is_wrong(&wrong, p))
        return 0;
    row.place = valise_str_of(wrong.place);
    row.problem = valise_str_of(wrong.text);
    c->found->problems++;
    return valise_job_emit(c->job, &row, err);
}

/* What was erased or has expired is no problem, but it cannot be checked. */
static int note(valise_job *j, const vls_validation *found, valise_error *err)
{
    char text[128];
    problem row = {.kind = NOTE, .place = VLS_STR("log")};
    int rc = 0;

    if (found->partial) {
        row.problem = VLS_STR("entries expired or payloads were erased: it cannot be replayed");
        row.remedy = VLS_STR("nothing to do: the chain and the rows were checked");
        rc = valise_job_emit(j, &row, err);
    }
    if (rc < 0 || found->unverifiable == 0)
        return rc;
    (void)snprintf(text, sizeof(text), "erased, and so not to be verified: %lld",
                   (long long)found->unverifiable);
    row.place = VLS_STR("contents");
    row.problem = valise_str_of(text);
    row.remedy = VLS_STR("nothing to do: their places say who, when and why");
    return valise_job_emit(j, &row, err);
}

static int job(valise_job *j, const void *args, void *result, valise_error *err)
{
    valise *v = valise_job_workspace(j);
    vls_validation found = {0};
    int rc = vls_validate(&found, v->store, vls_job_progress(j), emit, j, err);

    (void)args;
    (void)result;
    if (rc == 0)
        rc = vls_payloads_check(&found.problems, v, emit, j, err);
    if (rc == 0)
        rc = check_blobs(&found, j, err);
    if (rc == 0)
        rc = vls_index_verify(v, emit, j, &found.problems, err);
    if (rc == 0)
        rc = vls_packages_verify(v, false, check_files, &(checking){j, &found}, err);
    if (rc == 0)
        rc = note(j, &found, err);
    if (rc < 0 || found.problems == 0)
        return rc;
    (void)vls_fail(err, VALISE_E_CORRUPT, "%lld problem%s found", (long long)found.problems,
                   found.problems == 1 ? "" : "s");
    vls_hint(err, "the remedy is shown with each");
    return VALISE_E_CORRUPT;
}

const valise_op vls_op_kernel_workspace_validate = {
    .size = sizeof(valise_op),
    .name = "workspace:validate",
    .alias = "validate",
    .brief = "Check everything that is stored for damage.",
    .help = "Checks the pages of the store, the chain of the log, the hash of every object and "
            "blob, every row and what it refers to, and the indexes. Prints each problem with what "
            "to do about it and changes nothing. Fails when there is a problem. Also says whether "
            "the log is partial, that is, cannot be replayed.",
    .kind = VALISE_JOB,
    .flags = VALISE_OP_LIST | VALISE_OP_READ_ONLY,
    .needs = "log:read",
    .out = problem_out,
    .out_size = sizeof(problem),
    .job = job,
    .example = "{}",
};
