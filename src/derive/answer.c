/* answer.c -- see answer.h. */
#include "derive/answer.h"

#include "bus/job.h"
#include "context/ops_tree.h"
#include "context/outside.h"
#include "context/place.h"

static const valise_field row_fields[] = {
    VALISE_FIELD(vls_derived_row, path, PATH, VALISE_REQUIRED, "Where the slot is."),
    VALISE_FIELD(vls_derived_row, type, STR, VALISE_REQUIRED, "Its type."),
    VALISE_FIELD_WITH(vls_derived_row, outcome, ENUM, VALISE_REQUIRED, "What became of it.",
                      .more = vls_run_outcomes),
    VALISE_FIELD(vls_derived_row, before, ID, VALISE_NULLABLE, "The head before."),
    VALISE_FIELD(vls_derived_row, after, ID, VALISE_NULLABLE, "The head now."),
    VALISE_FIELD(vls_derived_row, why, STR, VALISE_NULLABLE,
                 "What went wrong; or the program that makes it."),
    VALISE_FIELD_END,
};
static const valise_struct row_struct = {sizeof(vls_derived_row), row_fields};
static const valise_field row_item = {.name = "slot", .type = VALISE_T_STRUCT, .more = &row_struct};

const valise_field vls_run_answer_fields[] = {
    VALISE_FIELD_WITH(vls_run_answer, slots, LIST, VALISE_REQUIRED,
                      "What became of each; at most 1,000 of each kind.", .more = &row_item),
    VALISE_FIELD(vls_run_answer, made, INT, VALISE_REQUIRED, "Slots that have another head."),
    VALISE_FIELD(vls_run_answer, unchanged, INT, VALISE_REQUIRED, "Those that hold."),
    VALISE_FIELD_AS(vls_run_answer, needs_author, "needsAuthor", INT, VALISE_REQUIRED,
                    "Those that somebody wrote, and that no longer hold."),
    VALISE_FIELD_AS(vls_run_answer, needs_run, "needsRun", INT, VALISE_REQUIRED,
                    "Those that a program makes, which was not run."),
    VALISE_FIELD(vls_run_answer, unknown, INT, VALISE_REQUIRED,
                 "Those whose policy nobody here knows."),
    VALISE_FIELD(vls_run_answer, orphaned, INT, VALISE_REQUIRED,
                 "Those of which the path is gone."),
    VALISE_FIELD_AS(vls_run_answer, out_of_scope, "outOfScope", INT, VALISE_REQUIRED,
                    "Those that no longer hold, but were not asked for."),
    VALISE_FIELD(vls_run_answer, missing, INT, VALISE_REQUIRED,
                 "Entries of directories about which nothing is said."),
    VALISE_FIELD(vls_run_answer, stale, INT, VALISE_REQUIRED, "Inputs that no longer hold."),
    VALISE_FIELD(vls_run_answer, failed, INT, VALISE_REQUIRED,
                 "Those that could not be made, and are as they were."),
    VALISE_FIELD_AS(vls_run_answer, dry_run, "dryRun", BOOL, 0, "Nothing was written."),
    VALISE_FIELD_AS(vls_run_answer, frame_id, "frameId", ID, VALISE_NULLABLE,
                    "Of a synthesis: the frame of the directory."),
    VALISE_FIELD_AS(vls_run_answer, context_root, "contextRoot", ID, VALISE_REQUIRED,
                    "Root of all heads."),
    VALISE_FIELD(vls_run_answer, tree, STR, VALISE_NULLABLE,
                 "outdated: of a dry run, which is about the last scan: the files have changed."),
    VALISE_FIELD_END,
};

void vls_run_answer_fill(vls_run_answer *out, const vls_run_report *report, bool dry_run)
{
    const int64_t *counts = report->counts;

    *out = (vls_run_answer){.slots = report->rows,
                            .made = counts[VLS_RUN_MADE],
                            .unchanged = counts[VLS_RUN_UNCHANGED],
                            .needs_author = counts[VLS_RUN_NEEDS_AUTHOR],
                            .needs_run = counts[VLS_RUN_NEEDS_RUN],
                            .unknown = counts[VLS_RUN_UNKNOWN],
                            .orphaned = counts[VLS_RUN_ORPHANED],
                            .out_of_scope = counts[VLS_RUN_OUT_OF_SCOPE],
                            .missing = counts[VLS_RUN_MISSING],
                            .stale = counts[VLS_RUN_STALE],
                            .failed = counts[VLS_RUN_FAILED],
                            .dry_run = dry_run,
                            .frame_id = report->frame,
                            .context_root = report->root};
}

int vls_run_scan(valise_job *job, valise_str path, valise_error *err)
{
    vls_tree_scan_args args = {.path = path};
    VLS_AUTO(memory) vls_memory memory = {0};
    vls_tree_scan_result result;

    if (!job->v->place.root)
        return 0;
    return vls_job_run(job, &vls_op_context_tree_scan, &args, &result, &memory, err);
}

static int step(void *self, uint64_t entries, uint64_t bytes, valise_error *err)
{
    (void)bytes;
    return valise_job_step(self, entries, err);
}

int vls_run_look(valise_str *tree, valise_job *job, valise_str path, valise_error *err)
{
    VLS_AUTO(tree_scan) vls_scan scan = {0};
    VLS_AUTO(outside) vls_outside o = {0};
    valise *v = valise_job_workspace(job);
    vls_scan_options options;
    int rc;

    if (!v->place.root)
        return 0;
    rc = vls_outside_open(&o, v, VLS_STR(""), err);
    if (rc < 0)
        return rc;
    options = o.options;
    options.sub = path;
    options.step = step;
    options.self = job;
    valise_job_stage(job, "scan", "entries", 0);
    rc = vls_outside_scan(&scan, &o, &options, err);
    if (rc == 0 && scan.changes.len > 0)
        *tree = VLS_STR("outdated");
    return rc;
}

typedef struct finding {
    valise_job *job;
    valise_str given, path;
    const char *capability;
    valise_str type;
} finding;

/* Where nothing was scanned yet there are only paths. */
static int find_place(vls_place *out, valise_view *view, valise_str given, valise_error *err)
{
    vls_tree_row tree = {.version = 0};
    vls_buf path;
    int rc = vls_tree_head(&tree, view, err);

    if (rc < 0 || tree.version > 0)
        return rc < 0 ? rc : vls_place_find(out, view, given, VLS_STR(""), err);
    *out = (vls_place){.there = false};
    vls_buf_init_in(&path, &view->arena, VLS_PATH_MAX);
    rc = vls_path_resolve(&path, VLS_STR(""), given, err);
    return rc < 0 ? rc : vls_buf_keep(&out->path, &path, err);
}

static int find(void *arg, valise_view *view, valise_error *err)
{
    finding *f = arg;
    vls_place place;
    int rc = find_place(&place, view, f->given, err);

    if (rc == 0)
        rc = vls_place_allows(&place, view, f->capability, f->type, err);
    return rc < 0 ? rc : vls_arena_dup(&f->path, &f->job->arena, place.path, err);
}

int vls_run_path(valise_str *out, valise_job *job, valise_str given, const char *capability,
                 valise_str type, valise_error *err)
{
    finding f = {.job = job,
                 .given = given.ptr ? given : VLS_STR("."),
                 .capability = capability,
                 .type = type};
    int rc = vls_job_view(job, find, &f, err);

    if (rc == 0)
        *out = f.path;
    return rc;
}
