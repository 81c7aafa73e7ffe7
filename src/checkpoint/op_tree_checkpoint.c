/* op_tree_checkpoint.c -- tree:checkpoint, keep the bytes of all files of the tree. [C31] */
#include "base/str.h"
#include "base/text.h"
#include "checkpoint/keep.h"
#include "store/object.h"

typedef vls_tree_checkpoint_args args_type;
typedef vls_tree_checkpoint_result result_type;

static const valise_field checkpoint_in[] = {
    VALISE_FIELD_WITH(args_type, name, STR, VALISE_NULLABLE | VALISE_POSITIONAL,
                      "Its name (default: checkpoint-N).", .max = VLS_CHECKPOINT_NAME_MAX),
    VALISE_FIELD_AS(args_type, dry_run, "dryRun", BOOL, 0,
                    "Show what would be saved, but save nothing."),
    VALISE_FIELD(args_type, dir, PATH, VALISE_NULLABLE | VALISE_HIDDEN,
                 "The folder to scan, for a workspace that has none of its own."),
    VALISE_FIELD_END,
};

static const valise_field problem_fields[] = {
    VALISE_FIELD(vls_checkpoint_problem, path, PATH, VALISE_REQUIRED, "The path."),
    VALISE_FIELD(vls_checkpoint_problem, reason, STR, VALISE_REQUIRED, "The reason."),
    VALISE_FIELD_END,
};
static const valise_struct problem_struct = {sizeof(vls_checkpoint_problem), problem_fields};
const valise_field vls_checkpoint_problem_item = {
    .name = "problem", .type = VALISE_T_STRUCT, .more = &problem_struct};

static const valise_field checkpoint_out[] = {
    VALISE_FIELD(result_type, name, STR, VALISE_NULLABLE, "What it is called."),
    VALISE_FIELD(result_type, existed, BOOL, 0, "Nothing had changed since that one."),
    VALISE_FIELD(result_type, version, INT, VALISE_REQUIRED, "Version of the tree."),
    VALISE_FIELD_AS(result_type, tree_root, "treeRoot", ID, VALISE_REQUIRED,
                    "Root of that version."),
    VALISE_FIELD(result_type, files, INT, 0, "Files in it."),
    VALISE_FIELD(result_type, dirs, INT, 0, "Directories in it."),
    VALISE_FIELD(result_type, links, INT, 0, "Symbolic links."),
    VALISE_FIELD(result_type, bytes, INT, 0, "Bytes of the files."),
    VALISE_FIELD(result_type, stored, INT, 0, "Contents that were not kept before."),
    VALISE_FIELD_AS(result_type, stored_bytes, "storedBytes", INT, 0, "Bytes of these."),
    VALISE_FIELD_AS(result_type, lacking_count, "lackingCount", INT, 0, "What it lacks."),
    VALISE_FIELD_WITH(result_type, lacking, LIST, 0, "The first of that.",
                      .more = &vls_checkpoint_problem_item),
    VALISE_FIELD_AS(result_type, failed_count, "failedCount", INT, 0,
                    "Of these, what is not only too large."),
    VALISE_FIELD_END,
};

/* ---- the job ---- */

typedef struct making {
    valise_job *job;
    const args_type *args;
    const char *root;
    vls_survey survey;
    vls_keeping keeping;
    vls_reach reach;
    vls_hoard hoard;
    bool last; /* what does not hold still now is lacking */
} making;

static void vls_auto_making(making *m)
{
    vls_hoard_close(&m->hoard);
    vls_reach_close(&m->reach);
    vls_buf_release(&m->keeping.manifest);
    vls_survey_release(&m->survey);
}

/* Equal contents are read once: two files with the same bytes are common. */
static bool is_content(const void *item, const void *key)
{
    return vls_id_equal(&((const vls_spot *)item)->node.content, key);
}

/* 1: look again. */
static int keep_one(making *m, vls_spot *seen, vls_map *done, valise_error *err)
{
    uint64_t hash = vls_bytes_load_u64(seen->node.content.bytes);
    const vls_spot *same = vls_map_get(done, hash, &seen->node.content);
    int rc;

    if (same)
        return 0;
    if (m->args->dry_run) {
        m->hoard.stored++;
        m->hoard.stored_bytes += seen->node.size;
        rc = 0;
    } else {
        rc = seen->strange ? 1 : vls_hoard_file(&m->hoard, seen, err);
    }
    if (rc < 0 || (rc == 1 && !m->last))
        return rc;
    if (rc > 0)
        seen->lack = rc == 1 ? VLS_LACK_CHANGED : VLS_LACK_UNREADABLE;
    if (rc == 0 && vls_map_put(NULL, done, hash, &seen->node.content, seen) < 0)
        return vls_fail_memory(err);
    return 0;
}

static int keep_contents(making *m, valise_error *err)
{
    VLS_AUTO(map) vls_map done = {0};
    int rc = vls_hoard_known(&m->survey, &m->hoard, err);

    vls_map_init(&done, m->job->v->env, is_content);
    valise_job_stage(m->job, "keep", "entries", m->survey.items.len);
    for (size_t i = 0; rc == 0 && i < m->survey.items.len; i++) {
        vls_spot *seen = &m->survey.items.ptr[i];
        if (seen->node.kind == VLS_NODE_FILE && !seen->known && seen->lack == VLS_LACK_NONE)
            rc = keep_one(m, seen, &done, err);
        else if (seen->strange && !m->last)
            rc = 1;
        if (rc == 0)
            rc = valise_job_step(m->job, 1, err);
    }
    return rc != 0 ? rc : vls_hoard_flush(&m->hoard, err);
}

static int write_manifest(making *m, valise_error *err)
{
    vls_keeping *k = &m->keeping;
    valise_str lacking = {NULL, 0};

    vls_buf_release(&k->manifest);
    *k = (vls_keeping){
        .name = m->args->name, .prefix = VLS_STR("checkpoint-"), .tree = &m->survey.tree};
    vls_buf_init(&k->manifest, m->job->v->env, VLS_MANIFEST_MAX);
    vls_manifest_begin(&k->manifest, false);
    for (size_t i = 0; i < m->survey.items.len; i++) {
        vls_spot *seen = &m->survey.items.ptr[i];
        vls_manifest_entry e;
        if (lacking.ptr && vls_path_is_under(seen->path, lacking))
            continue; /* what it lacks it lacks with all below */
        if (seen->strange && seen->node.kind != VLS_NODE_FILE && seen->lack == VLS_LACK_NONE)
            seen->lack = VLS_LACK_CHANGED;
        e = vls_spot_entry(seen);
        vls_keeping_add(k, &e);
        if (seen->lack != VLS_LACK_NONE)
            lacking = seen->path;
    }
    return vls_buf_check(&k->manifest, err);
}

/* ---- is it the same as the last one? ---- */

typedef struct comparing {
    making *m;
    valise_id manifest;
    vls_checkpoint_row newest;
    bool any;
} comparing;

static int find_newest(void *arg, valise_view *view, valise_error *err)
{
    comparing *c = arg;
    vls_checkpoint_row probe = {.tree = c->m->survey.tree.id}, row = {.version = 0};
    const valise_select own = {.row = &probe, .equal = 1};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_checkpoints, &own, err);

    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        rc = 0;
        if (row.partial || (c->any && c->newest.seq > row.seq))
            continue;
        rc = vls_arena_dup(&row.name, &c->m->job->arena, row.name, err);
        c->newest = row;
        c->any = true;
    }
    return rc;
}

/* 1: it is, and *name says which. */
static int is_same(valise_str *name, making *m, valise_error *err)
{
    comparing c = {.m = m};
    int rc = vls_object_id(&c.manifest, "data", vls_buf_str(&m->keeping.manifest), err);

    if (rc == 0)
        rc = vls_with_view(m->job->v, NULL, find_newest, &c, err);
    if (rc < 0 || !c.any || !vls_id_equal(&c.newest.manifest, &c.manifest))
        return vls_settle(rc);
    *name = c.newest.name;
    return 1;
}

/* ---- all of it ---- */

/* 1: look again. */
static int attempt(making *m, result_type *out, valise_error *err)
{
    VLS_AUTO(memory) vls_memory memory = {0};
    vls_checkpoint_made made;
    int rc = vls_survey_take(&m->survey, &m->root, m->job, m->args->dir, err);

    if (rc < 0)
        return rc;
    vls_hoard_close(&m->hoard);
    vls_reach_close(&m->reach);
    rc = vls_reach_open(&m->reach, m->job->v->env, m->root, err);
    if (rc == 0)
        rc = vls_hoard_open(&m->hoard, m->job, &m->reach, err);
    if (rc == 0)
        rc = keep_contents(m, err);
    if (rc == 0)
        rc = write_manifest(m, err);
    if (rc != 0 || m->args->dry_run)
        return rc;
    if (m->args->name.len == 0) {
        rc = is_same(&out->name, m, err);
        out->existed = rc > 0;
        if (rc != 0)
            return vls_settle(rc);
    }
    rc = vls_keep_manifest(&made, &memory, m->job, &m->keeping, err);
    if (rc == VALISE_E_CONFLICT && !m->last)
        return 1;
    return rc < 0 ? rc : vls_arena_dup(&out->name, &m->job->arena, made.name, err);
}

/* What is lacking for another reason than its size; a directory with all in it is one. */
static int64_t count_failed(const vls_survey *survey)
{
    valise_str within = {NULL, 0};
    int64_t count = 0;

    for (size_t i = 0; i < survey->items.len; i++) {
        const vls_spot *seen = &survey->items.ptr[i];
        if (seen->lack == VLS_LACK_NONE || (within.ptr && vls_path_is_under(seen->path, within)))
            continue;
        within = seen->path;
        count += seen->lack != VLS_LACK_SIZE;
    }
    return count;
}

static int tell_lacking(result_type *out, making *m, valise_error *err)
{
    size_t most = (size_t)VLS_MIN(m->keeping.lacking, (int64_t)VLS_CHECKPOINT_LISTED), count = 0;
    vls_checkpoint_problem *rows = NULL;
    void **items = NULL;
    int rc = 0;

    out->lacking_count = m->keeping.lacking;
    if (most == 0)
        return 0;
    out->failed_count = count_failed(&m->survey);
    rc = valise_job_alloc((void **)&rows, m->job, most * sizeof(*rows), err);
    if (rc == 0)
        rc = valise_job_alloc((void **)&items, m->job, most * sizeof(*items), err);
    for (size_t i = 0; rc == 0 && count < most && i < m->survey.items.len; i++) {
        const vls_spot *seen = &m->survey.items.ptr[i];
        if (seen->lack == VLS_LACK_NONE)
            continue;
        rows[count].reason = valise_str_of(vls_lack_text(seen->lack));
        rc = vls_arena_dup(&rows[count].path, &m->job->arena, seen->path, err);
        items[count] = &rows[count];
        count++;
    }
    if (rc == 0)
        out->lacking = (valise_list){items, count};
    return rc;
}

static int job(valise_job *j, const void *in, void *result, valise_error *err)
{
    VLS_AUTO(making) making m = {.job = j, .args = in, .reach = {.root = -1}};
    result_type *out = result;
    int rc = 1;

    if (m.args->name.len > 0)
        rc = vls_checkpoint_name_check(m.args->name, err);
    for (unsigned i = 0; rc >= 0 && i < VLS_CHECKPOINT_TRIES; i++) {
        m.last = i + 1 == VLS_CHECKPOINT_TRIES;
        rc = attempt(&m, out, err);
        if (rc == 0)
            break;
    }
    if (rc < 0)
        return rc;
    out->version = m.survey.tree.version;
    out->tree_root = m.survey.tree.root;
    out->files = m.keeping.files;
    out->dirs = m.keeping.dirs;
    out->links = m.keeping.links;
    out->bytes = m.keeping.bytes;
    out->stored = m.hoard.stored;
    out->stored_bytes = m.hoard.stored_bytes;
    return tell_lacking(out, &m, err);
}

const valise_op vls_op_checkpoint_tree_checkpoint = {
    .size = sizeof(valise_op),
    .name = "tree:checkpoint",
    .alias = "checkpoint",
    .brief = "Save the contents of all files in the tree.",
    .help =
        "Scans first, then saves what was not saved before; equal parts of files are stored once. "
        "Ignored files are not part of it; files larger than the setting checkpoint.max-file, and "
        "what cannot be read, are listed as lacking. Permissions are saved, owners and times are "
        "not.\n\n`valise restore` brings files back. Without a name, a new checkpoint is made only "
        "if something has changed since the last one. --dry-run scans, but saves nothing.",
    .kind = VALISE_JOB,
    .needs = "tree:write",
    .in = checkpoint_in,
    .in_size = sizeof(args_type),
    .out = checkpoint_out,
    .out_size = sizeof(result_type),
    .job = job,
    .example = "{\"name\":\"before-refactoring\"}",
};
