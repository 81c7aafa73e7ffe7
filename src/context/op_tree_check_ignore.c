/* op_tree_check_ignore.c -- tree:check-ignore, which rule leaves a path out of the tree. [C3] */
#include "base/str.h"
#include "bus/job.h"
#include "context/outside.h"
#include "tree/ignore.h"

static const valise_field path_item = {
    .name = "path", .type = VALISE_T_PATH, .max = VLS_PATH_MAX, .ref = "tree.path"};

typedef struct check_args {
    valise_list paths;
    valise_str dir;
} check_args;

static const valise_field check_in[] = {
    VALISE_FIELD_WITH(check_args, paths, LIST, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "Paths from the root of the tree; a slash at the end marks a directory.",
                      .more = &path_item, .min = 1, .max = 10000),
    VALISE_FIELD(check_args, dir, PATH, VALISE_NULLABLE,
                 "The folder of the tree, if it is not that of the workspace."),
    VALISE_FIELD_END,
};

typedef struct verdict_out {
    valise_str path;
    bool ignored;
    valise_str source, pattern;
    int64_t line;
} verdict_out;

static const valise_field verdict_fields[] = {
    VALISE_FIELD(verdict_out, path, PATH, VALISE_REQUIRED, "The path, as it was given."),
    VALISE_FIELD(verdict_out, ignored, BOOL, VALISE_REQUIRED, "It is no part of the tree."),
    VALISE_FIELD(verdict_out, source, PATH, VALISE_NULLABLE, "Where the rule stands that says so."),
    VALISE_FIELD(verdict_out, line, INT, VALISE_NULLABLE, "In this line."),
    VALISE_FIELD(verdict_out, pattern, PATH, VALISE_NULLABLE, "The rule."),
    VALISE_FIELD_END,
};
static const valise_struct verdict_struct = {sizeof(verdict_out), verdict_fields};
static const valise_field verdict_item = {
    .name = "path", .type = VALISE_T_STRUCT, .more = &verdict_struct};

typedef struct check_result {
    int64_t ignored;
    valise_list paths;
} check_result;

static const valise_field check_out[] = {
    VALISE_FIELD(check_result, ignored, INT, VALISE_REQUIRED, "How many of them are ignored."),
    VALISE_FIELD_WITH(check_result, paths, LIST, VALISE_REQUIRED, "Each of them.",
                      .more = &verdict_item),
    VALISE_FIELD_END,
};

static int check(verdict_out *out, valise_job *job, const vls_outside *outside, valise_str given,
                 valise_error *err)
{
    VLS_AUTO(ignore) vls_ignore *keep = NULL;
    VLS_AUTO(buf) vls_buf path = {0};
    vls_ignore_verdict verdict = {0};
    int rc;

    vls_buf_init(&path, outside->v->env, VLS_PATH_MAX);
    rc = vls_path_resolve(&path, VLS_STR(""), given, err);
    if (rc == 0)
        rc = vls_tree_check_ignore(&verdict, &keep, &outside->options, vls_buf_str(&path),
                                   vls_str_ends(given, VLS_STR("/")), err);
    if (rc < 0)
        return rc;
    *out = (verdict_out){.path = given, .ignored = verdict.ignored, .line = VALISE_NONE};
    if (!verdict.matched)
        return 0;
    out->line = verdict.line > 0 ? (int64_t)verdict.line : VALISE_NONE;
    rc = vls_arena_dup(&out->source, &job->arena, verdict.source, err);
    return rc < 0 ? rc : vls_arena_dup(&out->pattern, &job->arena, verdict.pattern, err);
}

static int job(valise_job *j, const void *in, void *result, valise_error *err)
{
    const check_args *args = in;
    const valise_str *paths = args->paths.items;
    VLS_AUTO(outside) vls_outside outside = {0};
    check_result *out = result;
    verdict_out *rows = NULL, **items = NULL;
    size_t count = args->paths.count;
    int rc = vls_outside_open(&outside, valise_job_workspace(j), args->dir, err);

    if (rc == 0)
        rc = valise_job_alloc((void **)&rows, j, count * sizeof(*rows), err);
    if (rc == 0)
        rc = valise_job_alloc((void **)&items, j, count * sizeof(*items), err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        items[i] = &rows[i];
        rc = check(&rows[i], j, &outside, paths[i], err);
        out->ignored += rc == 0 && rows[i].ignored;
    }
    if (rc == 0)
        out->paths = (valise_list){items, count};
    return rc;
}

const valise_op vls_op_context_tree_check_ignore = {
    .size = sizeof(valise_op),
    .name = "tree:check-ignore",
    .alias = "check-ignore",
    .brief = "Show which ignore rule matches a path.",
    .help = "Rules are those of .valiseignore and .gitignore files in the tree, with git's "
            "meaning, and of the setting tree.ignore; .git and .valise are always left out. The "
            "exit code is 0 when one of the paths is ignored, 1 when none is, as in git.",
    .kind = VALISE_JOB,
    .flags = VALISE_OP_READ_ONLY | VALISE_OP_IDEMPOTENT,
    .needs = "tree:read",
    .in = check_in,
    .in_size = sizeof(check_args),
    .out = check_out,
    .out_size = sizeof(check_result),
    .job = job,
    .example = "{\"paths\":[\"build/a.o\"]}",
};
