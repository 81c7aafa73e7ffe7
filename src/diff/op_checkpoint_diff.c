/* op_checkpoint_diff.c -- checkpoint:diff, a checkpoint against another one or against the files as
 * they are. [C31]
 *
 * Both sides are lists of entries in the order of paths (checkpoint/manifest.h): of a manifest, or
 * of a look at the disk, which is the newest version and what is different from that. Nothing is
 * recorded. */
#include "base/str.h"
#include "base/utf8.h"
#include "bus/job.h"
#include "checkpoint/keep.h"
#include "context/outside.h"
#include "diff/ops.h"
#include "diff/patch.h"
#include "diff/source.h"
#include "tree/compare.h"

#define ARENA_MAX ((size_t)8 << 30)

typedef vls_checkpoint_diff_args diff_args;
typedef vls_checkpoint_diff_row diff_row;
typedef vls_checkpoint_diff_side diff_side;

enum { ADDED, CHANGED, REMOVED, MODE, UNKNOWN };
static const char *const changes[] = {"added", "changed", "removed", "mode", "unknown", NULL};

static const valise_field path_item = {
    .name = "path", .type = VALISE_T_PATH, .max = VLS_PATH_MAX, .ref = "tree.path"};

static const valise_field diff_in[] = {
    VALISE_FIELD_WITH(diff_args, checkpoint, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "Name of a checkpoint, a version such as v12, or the first digits of a root.",
                      .ref = "checkpoint:list.name", .min = 1, .max = VLS_CHECKPOINT_NAME_MAX),
    VALISE_FIELD_WITH(diff_args, other, STR, VALISE_NULLABLE | VALISE_POSITIONAL,
                      "The newer checkpoint (default: the files on disk).",
                      .ref = "checkpoint:list.name", .max = VLS_CHECKPOINT_NAME_MAX),
    VALISE_FIELD_WITH(
        diff_args, paths, LIST, VALISE_POSITIONAL,
        "Only these paths and what is below them; after -- if only one checkpoint is given.",
        .more = &path_item, .max = VLS_DIFF_PATHS_MAX),
    VALISE_FIELD(diff_args, patch, BOOL, 0, "Also show the lines that differ."),
    VALISE_FIELD(diff_args, dir, PATH, VALISE_NULLABLE | VALISE_HIDDEN,
                 "The folder to scan, for a workspace that has none of its own."),
    VALISE_FIELD_END,
};

static const valise_field side_fields[] = {
    VALISE_FIELD_WITH(diff_side, kind, ENUM, VALISE_REQUIRED, "Its kind.",
                      .more = vls_manifest_kinds),
    VALISE_FIELD(diff_side, mode, STR, VALISE_NULLABLE, "Permissions."),
    VALISE_FIELD(diff_side, size, INT, VALISE_NULLABLE, "Bytes of a file."),
    VALISE_FIELD(diff_side, content, ID, VALISE_NULLABLE, "SHA-256 of them."),
    VALISE_FIELD(diff_side, target, PATH, VALISE_NULLABLE, "Where a link points."),
    VALISE_FIELD_END,
};
static const valise_struct side_struct = {sizeof(diff_side), side_fields};

static const valise_field diff_out[] = {
    VALISE_FIELD_WITH(diff_row, change, ENUM, VALISE_REQUIRED,
                      "What became of it; unknown: a checkpoint lacks it.", .more = changes),
    VALISE_FIELD(diff_row, path, PATH, VALISE_REQUIRED, "Where it lies."),
    VALISE_FIELD_WITH(diff_row, before, STRUCT, VALISE_NULLABLE, "What it was.",
                      .more = &side_struct),
    VALISE_FIELD_WITH(diff_row, after, STRUCT, VALISE_NULLABLE, "What it is now.",
                      .more = &side_struct),
    VALISE_FIELD(diff_row, patch, STR, VALISE_NULLABLE, "The lines that differ."),
    VALISE_FIELD_AS(diff_row, patch_data, "patchData", BYTES, VALISE_NULLABLE,
                    "The same where they are no UTF-8."),
    VALISE_FIELD(diff_row, unshown, STR, VALISE_NULLABLE, "Why these are not shown, or not known."),
    VALISE_FIELD_END,
};

/* ---- two lists of entries ---- */

/* One side: a manifest, or what lies on the disk. */
typedef struct feed {
    vls_manifest_reader reader;
    bool is_disk;
    vls_vec(vls_manifest_entry) items; /* of the disk */
    size_t at;
    bool partial; /* of other paths than those it has it says nothing */
    bool have, end;
    vls_manifest_entry e; /* the next one */
} feed;

typedef struct diffing {
    valise_job *job;
    valise_view *view; /* while it compares */
    const diff_args *args;
    valise_str *paths;
    size_t path_count;
    vls_arena arena;
    vls_outside outside;
    vls_scan scan;
    vls_vec(vls_tree_change) seen; /* what the disk has otherwise; kind GONE: nothing */
    feed was, is;
    vls_source source;
    vls_buf patch;
} diffing;

static void vls_auto_diffing(diffing *d)
{
    vls_tree_scan_release(&d->scan);
    vls_outside_release(&d->outside);
    vls_arena_release(&d->arena);
    vls_manifest_close(&d->was.reader);
    vls_manifest_close(&d->is.reader);
    vls_source_close(&d->source);
    vls_buf_release(&d->patch);
}

static int advance(feed *f, valise_error *err)
{
    int rc;

    if (f->have || f->end)
        return 0;
    if (f->is_disk) {
        rc = f->at < f->items.len;
        if (rc)
            f->e = f->items.ptr[f->at++];
    } else {
        rc = vls_manifest_next(&f->e, &f->reader, err);
    }
    f->have = rc > 0;
    f->end = rc == 0;
    return vls_settle(rc);
}

static int open_manifest(feed *f, valise_view *view, valise_str name, valise_error *err)
{
    vls_checkpoint_row row;
    valise_str bytes = {NULL, 0};
    int rc = vls_checkpoint_find(&row, view, name, err);

    if (rc == 0)
        rc = vls_checkpoint_manifest(&bytes, view, &row, err);
    if (rc == 0)
        rc = vls_manifest_open(&f->reader, view->arena.env, bytes, err);
    f->partial = f->reader.partial;
    return rc;
}

/* ---- the disk ---- */

static int step(void *self, uint64_t entries, uint64_t bytes, valise_error *err)
{
    (void)bytes;
    return valise_job_step(self, entries, err);
}

static int keep_node(vls_tree_change *out, diffing *d, valise_str path, const vls_node *node,
                     valise_error *err)
{
    int rc = vls_arena_dup(&out->path, &d->arena, path, err);

    out->node = node ? *node : (vls_node){.kind = VLS_NODE_GONE};
    if (rc == 0 && out->node.target.ptr)
        rc = vls_arena_dup(&out->node.target, &d->arena, out->node.target, err);
    return rc;
}

static int add_seen(void *arg, const vls_difference *difference, valise_error *err)
{
    diffing *d = arg;
    vls_tree_change seen;
    int rc = keep_node(&seen, d, difference->path, difference->is, err);

    if (rc == 0 && !vls_vec_push_in(&d->seen, &d->arena, seen))
        rc = vls_arena_fail(&d->arena, err);
    return rc;
}

static int look(diffing *d, valise_error *err)
{
    vls_scan_options options;
    int rc = vls_outside_open(&d->outside, d->job->v, d->args->dir, err);

    if (rc < 0)
        return rc;
    options = d->outside.options;
    options.step = step;
    options.self = d->job;
    valise_job_stage(d->job, "scan", "entries", 0);
    rc = vls_outside_scan(&d->scan, &d->outside, &options, err);
    return rc < 0 ? rc : vls_tree_scan_each(&d->scan, add_seen, d, err);
}

static int add_item(diffing *d, valise_str path, const vls_node *node, valise_error *err)
{
    vls_manifest_entry e;
    struct stat st = {.st_mode = 0};
    int rc = vls_reach_stat(&st, &d->source.reach, path, err);

    if (rc <= 0)
        return rc; /* gone since */
    e = vls_spot_entry(&(vls_spot){
        .path = path, .node = *node, .mode = vls_mode_of(st.st_mode, node->kind == VLS_NODE_DIR)});
    return vls_vec_push_in(&d->is.items, &d->arena, e) ? 0 : vls_arena_fail(&d->arena, err);
}

/* What was seen up to a path (ptr NULL: all that is left); *same: and at it. */
static int add_up_to(bool *same, diffing *d, valise_str path, valise_error *err)
{
    int rc = 0;

    *same = false;
    while (rc == 0 && !*same && d->is.at < d->seen.len) {
        const vls_tree_change *seen = &d->seen.ptr[d->is.at];
        int order = path.ptr ? vls_path_compare(seen->path, path) : -1;
        if (order > 0)
            break;
        *same = order == 0;
        d->is.at++;
        if (seen->node.kind != VLS_NODE_GONE)
            rc = add_item(d, seen->path, &seen->node, err);
    }
    return rc;
}

static int add_recorded(void *arg, const vls_tree_found *found, valise_error *err)
{
    diffing *d = arg;
    vls_tree_change kept;
    bool same;
    int rc = add_up_to(&same, d, found->path, err);

    if (rc < 0 || same)
        return rc;
    rc = keep_node(&kept, d, found->path, &found->node, err);
    return rc < 0 ? rc : add_item(d, kept.path, &kept.node, err);
}

static int list_disk(diffing *d, valise_error *err)
{
    const vls_tree_row *tree = &d->outside.tree;
    bool same;
    int rc = 0;

    d->is.is_disk = true;
    if (d->outside.scanned)
        rc = vls_tree_walk(d->view, tree, tree->version, VLS_STR(""), add_recorded, d, err);
    if (rc == 0)
        rc = add_up_to(&same, d, (valise_str){NULL, 0}, err);
    d->is.at = 0;
    return rc;
}

/* ---- one path ---- */

static diff_side side_of(char mode[8], const vls_manifest_entry *e)
{
    diff_side out = {.kind = e->kind, .size = VALISE_NONE, .target = e->target};

    if (e->kind == VLS_MANIFEST_FILE || e->kind == VLS_MANIFEST_DIR) {
        (void)snprintf(mode, 8, "%03o", e->mode);
        out.mode = valise_str_of(mode);
    }
    if (e->kind == VLS_MANIFEST_FILE) {
        out.size = e->size;
        out.content = e->content;
    }
    return out;
}

/* -1: nothing is different. */
static int judge(const vls_manifest_entry *was, const vls_manifest_entry *is)
{
    if (!was || !is)
        return is ? ADDED : REMOVED;
    if (was->kind == VLS_MANIFEST_LACKING || is->kind == VLS_MANIFEST_LACKING)
        return UNKNOWN;
    if (was->kind != is->kind ||
        (is->kind == VLS_MANIFEST_FILE && !vls_id_equal(&was->content, &is->content)) ||
        (is->kind == VLS_MANIFEST_LINK && !vls_str_equal(was->target, is->target)))
        return CHANGED;
    return is->kind != VLS_MANIFEST_LINK && was->mode != is->mode ? MODE : -1;
}

/* Of a directory there is nothing to be shown. */
static int fill_side(vls_patch_side *out, vls_content *content, diffing *d,
                     const vls_manifest_entry *e, valise_error *err)
{
    int rc = 0;

    *out = (vls_patch_side){.mode = 0};
    if (!e || (e->kind != VLS_MANIFEST_FILE && e->kind != VLS_MANIFEST_LINK))
        return 0;
    out->path = e->path;
    out->mode = VLS_PATCH_LINK;
    out->bytes = e->target;
    if (e->kind == VLS_MANIFEST_FILE) {
        out->mode = VLS_PATCH_FILE | e->mode;
        rc = vls_source_get(content, &d->source, &e->content, e->size, e->path, err);
        out->bytes = content->why ? (valise_str){NULL, 0} : content->bytes;
    }
    return rc;
}

static int write_patch(diffing *d, diff_row *row, const vls_manifest_entry *was,
                       const vls_manifest_entry *is, valise_error *err)
{
    VLS_AUTO(content) vls_content old = {.why = NULL};
    VLS_AUTO(content) vls_content new = {.why = NULL};
    vls_patch_side before, after;
    const char *why = NULL;
    int rc = fill_side(&before, &old, d, was, err);

    if (rc == 0)
        rc = fill_side(&after, &new, d, is, err);
    vls_buf_clear(&d->patch);
    if (rc == 0 && row->change == MODE && before.mode)
        before.bytes = after.bytes = VLS_STR(""); /* they are the same */
    if (rc == 0)
        rc = vls_patch_write(&d->patch, &why, &before, &after, d->view->arena.env, err);
    if (rc > 0 && vls_utf8_valid(vls_buf_str(&d->patch)))
        row->patch = vls_buf_str(&d->patch);
    else if (rc > 0)
        row->patch_data = vls_buf_str(&d->patch);
    why = old.why ? old.why : new.why ? new.why : why;
    if (rc == 0 && why)
        row->unshown = valise_str_of(why);
    return vls_settle(rc);
}

static int tell(diffing *d, const vls_manifest_entry *was, const vls_manifest_entry *is,
                valise_error *err)
{
    const vls_manifest_entry *any = was ? was : is;
    diff_row row = {0};
    char modes[2][8];
    diff_side before, after;
    int rc = 0, change;

    assert(any);
    row.path = any->path;
    if (was && was->kind == VLS_MANIFEST_GONE)
        was = NULL;
    if (is && is->kind == VLS_MANIFEST_GONE)
        is = NULL;
    change = was || is ? judge(was, is) : -1;
    if (change < 0 || !vls_path_is_among(row.path, d->paths, d->path_count))
        return 0;
    row.change = change;
    if (was) {
        before = side_of(modes[0], was);
        row.before = &before;
    }
    if (is) {
        after = side_of(modes[1], is);
        row.after = &after;
    }
    if (change == UNKNOWN)
        row.unshown =
            valise_str_of(vls_lack_text(was && was->kind == VLS_MANIFEST_LACKING ? was->lack
                                        : is                                     ? is->lack
                                                                                 : 0));
    else if (d->args->patch)
        rc = write_patch(d, &row, was, is, err);
    return rc < 0 ? rc : valise_job_emit(d->job, &row, err);
}

/* What a partial checkpoint does not list it says nothing about. */
static int compare(diffing *d, valise_error *err)
{
    feed *was = &d->was, *is = &d->is;
    int rc;

    for (;;) {
        int order;
        rc = advance(was, err);
        if (rc == 0)
            rc = advance(is, err);
        if (rc < 0 || (was->end && is->end))
            return rc;
        order = was->end ? 1 : is->end ? -1 : vls_path_compare(was->e.path, is->e.path);
        if (order < 0 && !is->partial)
            rc = tell(d, &was->e, NULL, err);
        else if (order > 0 && !was->partial)
            rc = tell(d, NULL, &is->e, err);
        else if (order == 0)
            rc = tell(d, &was->e, &is->e, err);
        was->have = was->have && order > 0;
        is->have = is->have && order < 0;
        if (rc != 0)
            return rc;
    }
}

static int read_and_compare(void *arg, valise_view *view, valise_error *err)
{
    diffing *d = arg;
    bool disk = d->args->other.len == 0;
    int rc = open_manifest(&d->was, view, d->args->checkpoint, err);

    d->view = view;
    if (rc == 0)
        rc = vls_source_open(&d->source, view, disk ? d->outside.options.root : NULL, err);
    if (rc == 0)
        rc = disk ? list_disk(d, err) : open_manifest(&d->is, view, d->args->other, err);
    if (rc == 0)
        rc = compare(d, err);
    vls_source_close(&d->source);
    return rc;
}

static int job(valise_job *job, const void *in, void *out, valise_error *err)
{
    VLS_AUTO(diffing)
    diffing d = {.job = job, .args = in, .source = {.reach = {.root = -1}}};
    int rc;

    (void)out;
    vls_arena_init(&d.arena, job->v->env, ARENA_MAX);
    vls_buf_init(&d.patch, job->v->env, VLS_PATCH_MAX);
    d.path_count = d.args->paths.count;
    rc = vls_paths_resolve(&d.paths, &d.arena, d.args->paths.items, d.path_count, err);
    if (rc == 0 && d.args->other.len == 0)
        rc = look(&d, err);
    return rc < 0 ? rc : vls_with_view(job->v, NULL, read_and_compare, &d, err);
}

const valise_op vls_op_diff_checkpoint_diff = {
    .size = sizeof(valise_op),
    .name = "checkpoint:diff",
    .brief = "Compare a checkpoint with another or with the files on disk.",
    .help = "The files are compared, but not recorded; changed permissions are differences, too. "
            "What a checkpoint lacks\nis unknown, and what a partial one does not list is left "
            "out.\n\n`git apply` and `patch -p1` read what -p writes. With --exit-code the exit "
            "code is\n8 when there are differences.",
    .kind = VALISE_JOB,
    .flags = VALISE_OP_LIST | VALISE_OP_READ_ONLY,
    .needs = "tree:read",
    .in = diff_in,
    .in_size = sizeof(diff_args),
    .out = diff_out,
    .out_size = sizeof(diff_row),
    .job = job,
    .example = "{\"checkpoint\":\"before-refactoring\",\"paths\":[\"src\"],\"patch\":true}",
};
