/* op_tree_restore.c -- tree:restore, bring files back as a checkpoint has them. [C31] */
#include "base/str.h"
#include "base/text.h"
#include "checkpoint/restore.h"

#define ROUNDS 2u /* the second for what could not be read before */

typedef vls_restore_args args_type;
typedef vls_restore_result result_type;

static const valise_field path_item = {
    .name = "path", .type = VALISE_T_PATH, .max = VLS_PATH_MAX, .ref = "tree.path"};

static const valise_field restore_in[] = {
    VALISE_FIELD_WITH(args_type, checkpoint, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "Name of a checkpoint, a version such as v12, or the first digits of a root.",
                      .ref = "checkpoint:list.name", .min = 1, .max = VLS_CHECKPOINT_NAME_MAX),
    VALISE_FIELD_WITH(args_type, paths, LIST, VALISE_POSITIONAL,
                      "Only these paths and what is below them.", .more = &path_item, .max = 10000),
    VALISE_FIELD_AS(args_type, remove, "delete", BOOL, 0,
                    "Delete files that the checkpoint does not have; ignored files stay."),
    VALISE_FIELD(args_type, force, BOOL, 0, "Continue even if a file cannot be saved first."),
    VALISE_FIELD_AS(args_type, dry_run, "dryRun", BOOL, 0,
                    "Show what would be done, but do nothing."),
    VALISE_FIELD(args_type, dir, PATH, VALISE_NULLABLE | VALISE_HIDDEN,
                 "The folder to scan, for a workspace that has none of its own."),
    VALISE_FIELD_END,
};

static const char *const change_names[] = {"create", "replace", "mode", "delete", NULL};
static const valise_field change_fields[] = {
    VALISE_FIELD(vls_restore_change, path, PATH, VALISE_REQUIRED, "The path."),
    VALISE_FIELD_WITH(vls_restore_change, change, ENUM, VALISE_REQUIRED, "What is done.",
                      .more = change_names),
    VALISE_FIELD_END,
};
static const valise_struct change_struct = {sizeof(vls_restore_change), change_fields};
static const valise_field change_item = {
    .name = "change", .type = VALISE_T_STRUCT, .more = &change_struct};
static const valise_field text_item = {.name = "name", .type = VALISE_T_PATH};

static const valise_field restore_out[] = {
    VALISE_FIELD(result_type, name, STR, VALISE_REQUIRED, "Name of the checkpoint."),
    VALISE_FIELD_AS(result_type, dry_run, "dryRun", BOOL, 0, "Nothing was done."),
    VALISE_FIELD(result_type, saved, STR, VALISE_NULLABLE,
                 "The checkpoint of what was there: restore that, with --delete, to undo it."),
    VALISE_FIELD(result_type, restored, INT, VALISE_REQUIRED, "What is as it was then."),
    VALISE_FIELD(result_type, unchanged, INT, VALISE_REQUIRED, "What had not changed."),
    VALISE_FIELD(result_type, deleted, INT, VALISE_REQUIRED, "What was removed."),
    VALISE_FIELD(result_type, kept, INT, 0, "What the checkpoint does not have, and stays."),
    VALISE_FIELD_WITH(result_type, changes, LIST, 0, "The first of what is done.",
                      .more = &change_item),
    VALISE_FIELD_AS(result_type, in_the_way_count, "inTheWayCount", INT, 0,
                    "What could not be put where something else lies."),
    VALISE_FIELD_AS_WITH(result_type, in_the_way, "inTheWay", LIST, 0, "The first of that.",
                         .more = &vls_checkpoint_problem_item),
    VALISE_FIELD_AS(result_type, lacking_count, "lackingCount", INT, 0,
                    "What the checkpoint lacks, and so was left as it is."),
    VALISE_FIELD_WITH(result_type, lacking, LIST, 0, "The first of that.",
                      .more = &vls_checkpoint_problem_item),
    VALISE_FIELD_AS(result_type, unsaved_count, "unsavedCount", INT, 0,
                    "What was overwritten or removed (--force) and could not be saved before."),
    VALISE_FIELD_WITH(result_type, unsaved, LIST, 0, "The first of that.",
                      .more = &vls_checkpoint_problem_item),
    VALISE_FIELD_WITH(result_type, late, LIST, 0,
                      "More of these: of what was edited meanwhile, or could be read only then.",
                      .more = &text_item),
    VALISE_FIELD_WITH(result_type, found, LIST, 0, "Files that a killed restore left behind.",
                      .more = &text_item),
    VALISE_FIELD(result_type, version, INT, 0, "Version of the tree after it."),
    VALISE_FIELD_AS(result_type, tree_root, "treeRoot", ID, VALISE_NULLABLE, "And its root."),
    VALISE_FIELD_END,
};

/* ---- the job ---- */

typedef vls_vec(vls_checkpoint_problem) problem_list;

typedef struct restoring {
    valise_job *job;
    const args_type *args;
    result_type *out;
    valise_blob *manifest;
    vls_restore_plan_options options;
    const char *root;
    vls_survey survey;
    vls_restore_plan plan;
    vls_reach reach;
    vls_hoard hoard;
    vls_vec(vls_restore_change) changes;
    problem_list in_the_way, lacking, unsaved;
    vls_vec(valise_str) late, found;
    bool again;
} restoring;

/* The reach closes up the directories it opened, so it goes before what it needs does. */
static void release_look(restoring *r)
{
    vls_hoard_close(&r->hoard);
    vls_reach_close(&r->reach);
    vls_restore_plan_release(&r->plan);
    vls_survey_release(&r->survey);
}

static void vls_auto_restoring(restoring *r)
{
    release_look(r);
    (void)valise_blob_unref(r->manifest);
}

static int find(void *arg, valise_view *view, valise_error *err)
{
    restoring *r = arg;
    vls_checkpoint_row row;
    valise_str bytes;
    int rc = vls_checkpoint_find(&row, view, r->args->checkpoint, err);

    if (rc == 0)
        rc = vls_checkpoint_manifest(&bytes, view, &row, err);
    if (rc == 0)
        rc = vls_arena_dup(&r->out->name, &r->job->arena, row.name, err);
    if (rc == 0)
        rc = vls_blob_new(&r->manifest, r->job->v->env, bytes, err);
    return rc;
}

static int resolve_paths(restoring *r, valise_error *err)
{
    size_t count = r->args->paths.count;
    valise_str *paths = NULL;
    int rc = vls_paths_resolve(&paths, &r->job->arena, r->args->paths.items, count, err);

    if (rc == 0 && count > 1)
        qsort(paths, count, sizeof(*paths), vls_path_order);
    r->options = (vls_restore_plan_options){.manifest = valise_blob_bytes(r->manifest),
                                            .paths = paths,
                                            .path_count = count,
                                            .remove = r->args->remove};
    return rc;
}

/* What lies there, against what shall. 1: something changed just now. */
static int look(restoring *r, bool last, valise_error *err)
{
    int rc;

    release_look(r);
    rc = vls_survey_take(&r->survey, &r->root, r->job, r->args->dir, err);
    for (size_t i = 0; rc == 0 && !last && i < r->survey.items.len; i++)
        rc = r->survey.items.ptr[i].strange;
    if (rc != 0)
        return rc;
    rc = vls_reach_open(&r->reach, r->job->v->env, r->root, err);
    if (rc == 0)
        rc = vls_hoard_open(&r->hoard, r->job, &r->reach, err);
    if (rc == 0)
        rc = vls_hoard_known(&r->survey, &r->hoard, err);
    return rc < 0
               ? rc
               : vls_restore_plan_make(&r->plan, r->job, &r->options, &r->survey, &r->reach, err);
}

static int save(restoring *r, valise_error *err)
{
    VLS_AUTO(memory) vls_memory memory = {0};
    vls_checkpoint_made made;
    valise_str name;
    int rc =
        vls_restore_plan_save(&made, &memory, &r->plan, &r->survey, &r->hoard, r->args->force, err);

    if (rc != 0)
        return rc == 2 ? 0 : rc;
    rc = vls_arena_dup(&name, &r->job->arena, made.name, err);
    if (rc < 0)
        return rc;
    if (!r->out->saved.ptr)
        r->out->saved = name;
    else if (!vls_vec_push_in(&r->late, &r->job->arena, name))
        return vls_arena_fail(&r->job->arena, err);
    return 0;
}

/* Look and save, until both are about the same files. */
static int settle(restoring *r, valise_error *err)
{
    int rc = 1;

    for (unsigned i = 0; rc > 0 && i < VLS_CHECKPOINT_TRIES; i++) {
        rc = look(r, i + 1 == VLS_CHECKPOINT_TRIES, err);
        if (rc == 0 && !r->args->dry_run)
            rc = save(r, err);
    }
    if (rc <= 0)
        return rc;
    (void)vls_fail(err, VALISE_E_CONFLICT, "files change while they are saved");
    vls_hint(err, "restore again when nobody else is writing");
    return VALISE_E_CONFLICT;
}

/* ---- what is told ---- */

static int add_problems(problem_list *to, restoring *r, const vls_checkpoint_problem *from,
                        size_t count, valise_error *err)
{
    vls_arena *arena = &r->job->arena;

    for (size_t i = 0; i < count; i++) {
        vls_checkpoint_problem problem = from[i];
        int rc = vls_arena_dup(&problem.path, arena, problem.path, err);
        if (rc < 0)
            return rc;
        if (!vls_vec_push_in(to, arena, problem))
            return vls_arena_fail(arena, err);
    }
    return 0;
}

static int add_changes(restoring *r, valise_error *err)
{
    vls_arena *arena = &r->job->arena;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < r->plan.steps.len; i++) {
        const vls_step *s = &r->plan.steps.ptr[i];
        vls_restore_change change = {s->want ? s->want->path : s->have->path, s->change};
        if (r->changes.len >= (size_t)VLS_CHECKPOINT_LISTED * 10)
            break;
        rc = vls_arena_dup(&change.path, arena, change.path, err);
        if (rc == 0 && !vls_vec_push_in(&r->changes, arena, change))
            rc = vls_arena_fail(arena, err);
    }
    return rc;
}

static int add_texts(restoring *r, const vls_writer *w, valise_error *err)
{
    vls_arena *arena = &r->job->arena;
    valise_str text;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < w->late.len; i++) {
        rc = vls_arena_dup(&text, arena, w->late.ptr[i], err);
        if (rc == 0 && !vls_vec_push_in(&r->late, arena, text))
            rc = vls_arena_fail(arena, err);
    }
    for (size_t i = 0; rc == 0 && i < w->found.len; i++) {
        rc = vls_arena_dup(&text, arena, w->found.ptr[i], err);
        if (rc == 0 && !vls_vec_push_in(&r->found, arena, text))
            rc = vls_arena_fail(arena, err);
    }
    return rc;
}

static void count_planned(restoring *r)
{
    for (size_t i = 0; i < r->plan.steps.len; i++) {
        bool removes = r->plan.steps.ptr[i].change == VLS_RESTORE_DELETE;
        r->out->deleted += removes;
        r->out->restored += !removes;
    }
}

static int gather(restoring *r, valise_error *err)
{
    int rc = add_problems(&r->in_the_way, r, r->plan.in_the_way.ptr, r->plan.in_the_way.len, err);

    if (rc == 0)
        rc = add_problems(&r->lacking, r, r->plan.lacking.ptr, r->plan.lacking.len, err);
    if (rc == 0)
        rc = add_problems(&r->unsaved, r, r->plan.unsaved.ptr, r->plan.unsaved.len, err);
    if (rc == 0)
        rc = add_changes(r, err);
    if (!r->again)
        r->out->unchanged = r->plan.unchanged;
    r->out->kept = r->plan.kept;
    return rc;
}

/* Pointers to the first of some structs. */
static int listed(valise_list *out, valise_job *job, const void *rows, size_t count, size_t size,
                  valise_error *err)
{
    const void **items = NULL;
    int rc = 0;

    if (count > 0)
        rc = valise_job_alloc((void **)&items, job, count * sizeof(*items), err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        items[i] = (const char *)rows + i * size;
    if (rc == 0)
        *out = (valise_list){items, count};
    return rc;
}

static int tell(restoring *r, valise_error *err)
{
    result_type *out = r->out;
    size_t most = VLS_CHECKPOINT_LISTED;
    int rc;

    out->dry_run = r->args->dry_run;
    out->in_the_way_count = (int64_t)r->in_the_way.len;
    out->lacking_count = (int64_t)r->lacking.len;
    out->late = (valise_list){r->late.ptr, r->late.len};
    out->found = (valise_list){r->found.ptr, r->found.len};
    rc =
        listed(&out->changes, r->job, r->changes.ptr, r->changes.len, sizeof(*r->changes.ptr), err);
    if (rc == 0)
        rc = listed(&out->in_the_way, r->job, r->in_the_way.ptr, VLS_MIN(r->in_the_way.len, most),
                    sizeof(*r->in_the_way.ptr), err);
    if (rc == 0)
        rc = listed(&out->lacking, r->job, r->lacking.ptr, VLS_MIN(r->lacking.len, most),
                    sizeof(*r->lacking.ptr), err);
    out->unsaved_count = (int64_t)r->unsaved.len;
    if (rc == 0)
        rc = listed(&out->unsaved, r->job, r->unsaved.ptr, VLS_MIN(r->unsaved.len, most),
                    sizeof(*r->unsaved.ptr), err);
    return rc;
}

/* ---- all of it ---- */

static int write_all(restoring *r, valise_error *err)
{
    VLS_AUTO(writer) vls_writer w = {.stage = -1, .home = -1, .beside = -1};
    int rc = vls_writer_open(&w, r->job, r->root, err);

    if (rc < 0)
        return rc;
    vls_reach_leave(&r->reach, VLS_STR("")); /* what is open was not opened to be written to */
    r->reach.write = true;
    w.reach = &r->reach;
    w.hoard = &r->hoard;
    w.plan = &r->plan;
    w.survey = &r->survey;
    rc = vls_writer_run(&w, err);
    r->out->restored += w.restored;
    r->out->deleted += w.deleted;
    return rc < 0 ? rc : add_texts(r, &w, err);
}

static int run_round(restoring *r, valise_error *err)
{
    int rc = settle(r, err);

    if (rc == 0 && r->args->dry_run)
        count_planned(r);
    else if (rc == 0)
        rc = write_all(r, err);
    if (rc < 0 && rc != VALISE_E_BUSY && r->out->saved.ptr)
        vls_hint(err, "run it again to continue; what it has replaced so far is in checkpoint %.*s",
                 VALISE_STR_ARG(r->out->saved));
    if (rc == 0)
        rc = gather(r, err);
    r->again = rc == 0 && r->plan.again && !r->args->dry_run;
    return rc;
}

static int job(valise_job *j, const void *in, void *result, valise_error *err)
{
    VLS_AUTO(restoring)
    restoring r = {.job = j, .args = in, .out = result, .reach = {.root = -1}};
    vls_tree_row tree = {.version = 0};
    int rc = vls_with_view(j->v, NULL, find, &r, err);

    if (rc == 0)
        rc = resolve_paths(&r, err);
    if (rc == 0)
        rc = run_round(&r, err);
    for (unsigned i = 1; rc == 0 && r.again && i < ROUNDS; i++)
        rc = run_round(&r, err);
    if (rc < 0)
        return rc;
    tree = r.survey.tree;
    if (!r.args->dry_run) {
        release_look(&r);
        rc = vls_survey_head(&tree, j, r.args->dir, err);
    }
    if (rc < 0)
        return rc;
    r.out->version = tree.version;
    r.out->tree_root = tree.root;
    return tell(&r, err);
}

const valise_op vls_op_checkpoint_tree_restore = {
    .size = sizeof(valise_op),
    .name = "tree:restore",
    .alias = "restore",
    .brief = "Restore files from a checkpoint.",
    .help =
        "Restores files, links and directories, with their bytes and permissions, whoever changed "
        "or removed them. What would be overwritten or removed is saved first, as a checkpoint "
        "called before-restore-N: to undo a restore, restore that one with --delete. What cannot "
        "be saved is not overwritten, unless --force is given.\n\nFiles that the checkpoint does "
        "not have stay; --delete removes those that no rule ignores, of today or of the "
        "checkpoint. Ignored files, .git and .valise are never touched; what of them is in the way "
        "is listed. If a restore was stopped or killed, run it again. Hard links become separate "
        "files where they are written.",
    .kind = VALISE_JOB,
    .flags = VALISE_OP_DESTRUCTIVE,
    .needs = "tree:restore",
    .in = restore_in,
    .in_size = sizeof(args_type),
    .out = restore_out,
    .out_size = sizeof(result_type),
    .job = job,
    .example = "{\"checkpoint\":\"before-refactoring\",\"paths\":[\"src\"]}",
};
