/* op_workspace_repair.c -- workspace:repair, make again what can be made from the rest.
 *
 *     what the store says is wrong  ->  its indexes anew  ->  what it still says is wrong
 *
 * What it no longer says was mended; that is all the answer claims. Nothing is written where
 * nothing is wrong. */
#include "base/str.h"
#include "bus/follow.h"
#include "bus/index.h"
#include "bus/job.h"
#include "kernel/kernel.h"
#include "kernel/packages.h"

#define PROBLEMS_MAX 1000u

typedef struct repair_problem {
    valise_str place, problem;
    bool mended;
} repair_problem;

static const valise_field problem_fields[] = {
    VALISE_FIELD(repair_problem, place, STR, 0, "Where."),
    VALISE_FIELD(repair_problem, problem, STR, 0, "What was wrong."),
    VALISE_FIELD(repair_problem, mended, BOOL, 0, "Whether it is right now."),
    VALISE_FIELD_END,
};
static const valise_struct problem_struct = {sizeof(repair_problem), problem_fields};
static const valise_field problem_item = {.name = "problem",
                                          .help = "One thing that was wrong.",
                                          .type = VALISE_T_STRUCT,
                                          .more = &problem_struct};

typedef struct repair_result {
    int64_t found, mended, left, rebuilt;
    valise_list problems;
} repair_result;

static const valise_field repair_out[] = {
    VALISE_FIELD(repair_result, found, INT, 0, "Problems that there were; at most 1000 are told."),
    VALISE_FIELD(repair_result, mended, INT, 0, "Of these, problems that are gone."),
    VALISE_FIELD(repair_result, left, INT, 0,
                 "Of these, problems that are still there: what is lost is in a bundle or backup."),
    VALISE_FIELD(repair_result, rebuilt, INT, 0, "Indexes of the store that were built anew."),
    VALISE_FIELD_WITH(repair_result, problems, LIST, 0, "What was wrong.", .more = &problem_item),
    VALISE_FIELD_END,
};

typedef struct repair {
    valise_job *job;
    repair_problem **problems;
    size_t count;
    bool again; /* they are looked at a second time */
} repair;

static int copy_text(valise_str *out, valise_job *job, const char *text, valise_error *err)
{
    size_t len = strlen(text);
    char *copy = NULL;
    int rc = valise_job_alloc((void **)&copy, job, len + 1, err);

    if (rc < 0)
        return rc;
    memcpy(copy, text, len + 1);
    *out = vls_str(copy, len);
    return 0;
}

static int add_problem(repair *r, const char *place, const char *text, bool mended,
                       valise_error *err)
{
    repair_problem *problem = NULL;
    int rc;

    if (r->count == PROBLEMS_MAX)
        return 0;
    rc = valise_job_alloc((void **)&problem, r->job, sizeof(*problem), err);
    if (rc == 0)
        rc = copy_text(&problem->place, r->job, place, err);
    if (rc == 0)
        rc = copy_text(&problem->problem, r->job, text, err);
    if (rc < 0)
        return rc;
    problem->mended = mended;
    r->problems[r->count++] = problem;
    return 0;
}

/* The first time all of them count as mended, until they are seen again. */
static int note_problem(void *arg, const char *text, valise_error *err)
{
    repair *r = arg;

    for (size_t i = 0; r->again && i < r->count; i++) {
        if (r->problems[i]->mended && vls_str_equal(r->problems[i]->problem, valise_str_of(text))) {
            r->problems[i]->mended = false;
            return 0;
        }
    }
    return add_problem(r, "store", text, !r->again, err);
}

static int repair_store(repair *r, repair_result *out, valise_error *err)
{
    void *self;
    const valise_store_ops *ops = vls_store_ops(valise_job_workspace(r->job)->store, &self);
    int rc;

    if (!ops->check || !ops->maintain)
        return 0;
    valise_job_stage(r->job, "check pages", "", 0);
    rc = ops->check(self, note_problem, r, err);
    if (rc < 0 || r->count == 0)
        return rc;
    valise_job_stage(r->job, "build indexes", "", 0);
    rc = ops->maintain(&out->rebuilt, self, VALISE_MAINTAIN_REINDEX, err);
    if (rc < 0 && rc != VALISE_E_CORRUPT) /* rows that cannot be read: the second look tells */
        return rc;
    r->again = true;
    valise_job_stage(r->job, "check pages", "", 0);
    return ops->check(self, note_problem, r, err);
}

/* ---- indexes in memory ---- */

static int note_index(void *arg, const vls_index_report *report, valise_error *err)
{
    char place[128], text[320];
    int rc = 0;

    (void)snprintf(place, sizeof(place), "index %s", report->name);
    if (report->differences > 0) {
        (void)snprintf(text, sizeof(text),
                       "%lld entries were not what the rows say, such as \"%s\"",
                       (long long)report->differences, report->example);
        rc = add_problem(arg, place, text, true, err);
    }
    if (rc == 0 && report->duplicates > 0) {
        (void)snprintf(text, sizeof(text), "%lld entries have a key that another row has too",
                       (long long)report->duplicates);
        rc = add_problem(arg, place, text, false, err);
    }
    return rc;
}

static int tick(void *arg, uint64_t rows, valise_error *err)
{
    return valise_job_step(((repair *)arg)->job, rows, err);
}

static int repair_memory(repair *r, valise_error *err)
{
    const vls_index_sync how = {.swap = true, .tick = tick, .report = note_index, .arg = r};
    vls_feed *feed;
    int rc = vls_feed_need(&feed, valise_job_workspace(r->job), err);

    if (rc < 0)
        return rc;
    valise_job_stage(r->job, "build indexes", "rows", 0);
    return vls_indexes_check(&feed->indexes, &how, err);
}

/* Files that areas make from rows. */
static int note_files(void *arg, const valise_projection *p, valise_error *err)
{
    vls_projection_problem problem;

    return vls_projection_is_wrong(&problem, p)
               ? add_problem(arg, problem.place, problem.text, true, err)
               : 0;
}

static int job(valise_job *j, const void *args, void *result, valise_error *err)
{
    repair_result *out = result;
    repair r = {.job = j};
    int rc = valise_job_alloc((void **)&r.problems, j, PROBLEMS_MAX * sizeof(*r.problems), err);

    (void)args;
    if (rc == 0)
        rc = repair_store(&r, out, err);
    if (rc == 0)
        rc = repair_memory(&r, err);
    if (rc == 0)
        rc = vls_packages_verify(valise_job_workspace(j), true, note_files, &r, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < r.count; i++)
        out->mended += r.problems[i]->mended;
    out->found = (int64_t)r.count;
    out->left = out->found - out->mended;
    out->problems = (valise_list){r.problems, r.count};
    return 0;
}

const valise_op vls_op_kernel_workspace_repair = {
    .size = sizeof(valise_op),
    .name = "workspace:repair",
    .alias = "repair",
    .brief = "Repair damage by rebuilding what can be derived from the rest.",
    .help = "Checks the store's own structures and, if they are damaged, rebuilds its indexes and "
            "checks again. Also rebuilds the indexes in memory, and the search index if it "
            "differs. Objects, rows and the log are not touched: 'valise validate' finds damage "
            "there, and only a bundle or a backup can bring back what was lost. On the command "
            "line the exit code is 7 if something that repair checks is still damaged, and 0 "
            "otherwise, whatever `valise validate` finds elsewhere.",
    .kind = VALISE_JOB,
    .flags = VALISE_OP_IDEMPOTENT,
    .needs = "admin",
    .out = repair_out,
    .out_size = sizeof(repair_result),
    .job = job,
    .example = "{}",
};
