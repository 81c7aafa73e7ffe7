/* op_regenerate.c -- context:regenerate, make again what was made of something that changed. [C21]
 */
#include "derive/answer.h"
#include "derive/derive.h"
#include "derive/ops.h"

typedef vls_regenerate_args regenerate_args;

static const valise_field regenerate_in[] = {
    VALISE_FIELD_WITH(regenerate_args, node, PATH, VALISE_NULLABLE | VALISE_POSITIONAL,
                      "Path of a directory, a node id or its first digits (default: the root).",
                      .max = VLS_PATH_MAX, .ref = "tree.node"),
    VALISE_FIELD(regenerate_args, recursive, BOOL, 0, "Include everything below it."),
    VALISE_FIELD_WITH(regenerate_args, up, INT, VALISE_BARE,
                      "Include the directories above it: so many, or without a number all.",
                      .max = 1000000),
    VALISE_FIELD(regenerate_args, run, BOOL, 0,
                 "Run the programs that made frames, if they are trusted."),
    VALISE_FIELD_AS(regenerate_args, only_new, "onlyNew", BOOL, 0,
                    "Skip frames that were already tried since their inputs changed."),
    VALISE_FIELD_AS(regenerate_args, dry_run, "dryRun", BOOL, 0,
                    "Show what would be made, from the last scan."),
    VALISE_FIELD_AS(regenerate_args, no_scan, "noScan", BOOL, 0, "Do not scan the files first."),
    VALISE_FIELD_END,
};

static int job(valise_job *j, const void *in, void *result, valise_error *err)
{
    const regenerate_args *args = in;
    vls_run_options options = {.job = j,
                               .recursive = args->recursive,
                               .up = args->up,
                               .dry_run = args->dry_run,
                               .programs = args->run,
                               .only_new = args->only_new};
    valise_str tree = {NULL, 0};
    vls_run_report report;
    int rc = vls_run_path(&options.path, j, args->node, "context:regenerate", VLS_STR(""), err);

    if (rc == 0 && !args->no_scan)
        rc = args->dry_run ? vls_run_look(&tree, j, options.path, err)
                           : vls_run_scan(j, options.path, err);
    if (rc == 0)
        rc = vls_derive_run(&report, &options, err);
    if (rc < 0)
        return rc;
    vls_run_answer_fill(result, &report, args->dry_run);
    ((vls_run_answer *)result)->tree = tree;
    return 0;
}

const valise_op vls_op_derive_regenerate = {
    .size = sizeof(valise_op),
    .name = "context:regenerate",
    .alias = "regenerate",
    .brief = "Regenerate frames whose sources have changed.",
    .help = "Frames that `valise synthesize` made are made again by their recipes, if their inputs "
            "have changed or somebody invalidated them; then those of the directories above, as "
            "far as --recursive and --up go. If a result is the same as before, the directories "
            "above it are left alone. Frames that somebody wrote stay as they are and are listed; "
            "`valise reaffirm` confirms that they still hold.\n\nFrames that programs made need "
            "--run, and the programs must be trusted: a recipe alone runs no code. If a program "
            "fails, its frame stays as it is, the others are still made, and the exit code is 1.",
    .kind = VALISE_JOB,
    .flags = VALISE_OP_IDEMPOTENT | VALISE_OP_ASKS,
    .needs = "context:regenerate",
    .in = regenerate_in,
    .in_size = sizeof(regenerate_args),
    .out = vls_run_answer_fields,
    .out_size = sizeof(vls_run_answer),
    .job = job,
    .example = "{\"node\":\"lib\",\"recursive\":true}",
};
