/* op_tree_scan.c -- tree:scan, look at the files and record what is different. [C2] */
#include <sys/stat.h>

#include "base/str.h"
#include "base/text.h"
#include "bus/job.h"
#include "bus/patience.h"
#include "context/outside.h"
#include "context/scan_batch.h"
#include "context/scan_problems.h"

#define BATCH_MAX ((size_t)1 << 30)

typedef vls_tree_scan_args scan_args;
typedef vls_tree_scan_result scan_result;
typedef vls_tree_scan_change change_out;

static const valise_field scan_in[] = {
    VALISE_FIELD_WITH(scan_args, path, PATH, VALISE_NULLABLE | VALISE_POSITIONAL,
                      "Only this path and what is below it, from the root of the tree.",
                      .max = VLS_PATH_MAX, .ref = "tree.path"),
    VALISE_FIELD(scan_args, force, BOOL, 0, "Read every file, even if its times have not changed."),
    VALISE_FIELD(scan_args, dir, PATH, VALISE_NULLABLE | VALISE_HIDDEN,
                 "The folder to scan, for a workspace that has none of its own."),
    VALISE_FIELD_END,
};

/* ---- the answer ---- */

static const char *const change_names[] = {"added", "changed", "removed", NULL};

static const valise_field change_fields[] = {
    VALISE_FIELD(change_out, path, PATH, VALISE_REQUIRED, "The path."),
    VALISE_FIELD_WITH(change_out, change, ENUM, VALISE_REQUIRED, "What became of it.",
                      .more = change_names),
    VALISE_FIELD_END,
};
static const valise_field move_fields[] = {
    VALISE_FIELD(vls_scan_move, from, PATH, VALISE_REQUIRED, "Where it was."),
    VALISE_FIELD(vls_scan_move, to, PATH, VALISE_REQUIRED, "Where it is."),
    VALISE_FIELD_END,
};
static const valise_struct change_struct = {sizeof(change_out), change_fields};
static const valise_struct move_struct = {sizeof(vls_scan_move), move_fields};
static const valise_field change_item = {
    .name = "change", .type = VALISE_T_STRUCT, .more = &change_struct};
static const valise_field move_item = {
    .name = "move", .type = VALISE_T_STRUCT, .more = &move_struct};

static const valise_field scan_out[] = {
    VALISE_FIELD_AS(scan_result, old_tree_root, "oldTreeRoot", ID, VALISE_NULLABLE,
                    "Root of the tree before."),
    VALISE_FIELD_AS(scan_result, tree_root, "treeRoot", ID, VALISE_NULLABLE,
                    "Root of the tree now."),
    VALISE_FIELD(scan_result, version, INT, VALISE_REQUIRED, "The version that has it."),
    VALISE_FIELD(scan_result, added, INT, VALISE_REQUIRED, "Nodes that came."),
    VALISE_FIELD(scan_result, changed, INT, VALISE_REQUIRED, "Nodes that changed."),
    VALISE_FIELD(scan_result, removed, INT, VALISE_REQUIRED, "Nodes that went."),
    VALISE_FIELD(scan_result, moved, INT, VALISE_REQUIRED,
                 "What moved; a directory with all in it is one."),
    VALISE_FIELD_WITH(scan_result, changes, LIST, 0, "The first of them.", .more = &change_item),
    VALISE_FIELD_WITH(scan_result, moves, LIST, 0, "The first moves.", .more = &move_item),
    VALISE_FIELD_AS(scan_result, ambiguous_count, "ambiguousCount", INT, 0,
                    "What may have moved, but to or from more than one place."),
    VALISE_FIELD_WITH(scan_result, ambiguous, LIST, 0, "The first of that.",
                      .more = &vls_scan_problem_item),
    VALISE_FIELD_AS(scan_result, error_count, "errorCount", INT, 0, "What could not be read."),
    VALISE_FIELD_WITH(scan_result, errors, LIST, 0, "The first of that.",
                      .more = &vls_scan_problem_item),
    VALISE_FIELD(scan_result, hashed, INT, 0, "Files that were read."),
    VALISE_FIELD(scan_result, skipped, INT, 0, "Sockets, devices and the like."),
    VALISE_FIELD(scan_result, ignored, INT, 0, "What a rule left out."),
    VLS_TREE_COUNT_FIELDS(scan_result, 0),
    VALISE_FIELD_END,
};

/* ---- the job ---- */

#define READING_BYTES ((uint64_t)16 << 20)

typedef struct scanning {
    valise_job *job;
    _Atomic uint64_t to_read;        /* bytes of files that are read, or will be */
    uint64_t entries, read, waiting; /* so far; bytes since the last entry */
    uint64_t total;                  /* entries, as far as it is known */
    bool reading;                    /* that is what is told */
    vls_outside outside;
    vls_scan scan;
    vls_tree_commit_result done;
} scanning;

static void vls_auto_scanning(scanning *s)
{
    vls_tree_scan_release(&s->scan);
    vls_outside_release(&s->outside);
}

/* Entries are what is told, as a rule; while large files are read, and no entry comes, their bytes.
 * A stage that begins again has what was done before at once. */
static int step(void *self, uint64_t entries, uint64_t bytes, valise_error *err)
{
    scanning *s = self;
    uint64_t more = s->reading ? bytes : entries;

    s->entries += entries;
    s->read += bytes;
    s->waiting = entries > 0 ? 0 : s->waiting + bytes;
    if (s->reading && entries > 0) {
        s->reading = false;
        valise_job_stage(s->job, "scan", "entries", s->total);
        more = s->entries;
    } else if (!s->reading && s->waiting >= READING_BYTES) {
        s->reading = true;
        valise_job_stage(s->job, "read files", "bytes",
                         atomic_load_explicit(&s->to_read, memory_order_relaxed));
        more = s->read;
    }
    return valise_job_step(s->job, more, err);
}

static int look(scanning *s, const scan_args *args, bool again, valise_error *err)
{
    const vls_tree_counts *c = &s->outside.tree.counts;
    vls_scan_options options = s->outside.options;

    options.step = step;
    options.self = s;
    options.to_read = &s->to_read;
    options.force = args->force && !again;
    s->entries = s->read = s->waiting = 0;
    s->reading = false;
    s->total = s->outside.options.sub.len > 0
                   ? 0
                   : (uint64_t)(c->files + c->dirs + c->links + c->unreadable);
    atomic_store_explicit(&s->to_read, 0, memory_order_relaxed);
    valise_job_stage(s->job, "scan", "entries", s->total);
    return vls_outside_scan(&s->scan, &s->outside, &options, err);
}

/* One transaction, or VALISE_E_CONFLICT when the tree has another version by now. */
static int record(scanning *s, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_scan_batch batch = {.arena = &arena};
    valise *v = valise_job_workspace(s->job);
    valise_call call;
    int rc;

    /* One transaction: how much it gets is all there is to tell, at once, by the end of a stage. */
    valise_job_stage(s->job, "record", "changes", 0);
    vls_arena_init(&arena, v->env, BATCH_MAX);
    rc =
        valise_job_step(s->job, (uint64_t)(s->scan.added + s->scan.changed + s->scan.removed), err);
    valise_job_stage(s->job, "record", "changes", 0);
    if (rc == 0)
        rc = valise_job_step(s->job, 0, err); /* the last moment at which it can be stopped */
    if (rc == 0)
        rc = vls_scan_batch_fill(&batch, &s->scan, s->outside.tree.version, &s->done, err);
    if (rc == 0)
        rc = valise_job_call(&call, s->job, err);
    return rc < 0 ? rc : vls_run_many(v, batch.items.ptr, batch.items.len, &call, err);
}

/* Compare and record. VALISE_E_CONFLICT: somebody else was faster. */
static int attempt(scanning *s, const scan_args *args, bool again, valise_error *err)
{
    int64_t base = s->outside.tree.version;
    int rc = look(s, args, again, err);

    if (rc < 0)
        return rc;
    s->done = (vls_tree_commit_result){base, s->outside.tree.root};
    if (s->scan.changes.len > 0)
        rc = record(s, err);
    /* What was read need not be read again: an entry of the cache is true whatever the version. */
    if (rc == 0 || rc == VALISE_E_CONFLICT)
        (void)vls_tree_scan_keep(&s->scan, base + (s->scan.changes.len > 0), NULL);
    return rc;
}

static int run(scanning *s, const scan_args *args, valise_error *err)
{
    vls_patience patience;
    int rc;

    vls_patience_init(&patience, s->outside.v);
    rc = attempt(s, args, false, err);
    while (rc == VALISE_E_CONFLICT) {
        if (!vls_patience_again(&patience, s->outside.tree.version))
            return vls_patience_fail(&patience, rc, "the tree", err);
        vls_tree_scan_release(&s->scan);
        rc = vls_outside_refresh(&s->outside, err);
        if (rc == 0)
            rc = attempt(s, args, true, err);
    }
    return rc;
}

/* ---- what is told ---- */

/* Room for a list of structs. */
static int make_list(valise_list *out, void **rows, size_t count, size_t size, valise_job *job,
                     valise_error *err)
{
    void **items = NULL;
    int rc;

    if (count == 0)
        return 0;
    rc = valise_job_alloc((void **)&items, job, count * sizeof(*items), err);
    if (rc == 0)
        rc = valise_job_alloc(rows, job, count * size, err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        items[i] = (char *)*rows + i * size;
    if (rc == 0)
        *out = (valise_list){items, count};
    return rc;
}

static int keep(valise_str *s, valise_job *job, valise_error *err)
{
    return vls_arena_dup(s, &job->arena, *s, err);
}

static int tell_moves(scan_result *out, scanning *s, valise_error *err)
{
    vls_scan_move *rows = NULL;
    size_t listed = VLS_MIN(s->scan.moves.len, VLS_SCAN_LISTED_MAX);
    int rc = make_list(&out->moves, (void **)&rows, listed, sizeof(*rows), s->job, err);

    for (size_t i = 0; rc == 0 && i < listed; i++) {
        rows[i] = s->scan.moves.ptr[i];
        rc = keep(&rows[i].from, s->job, err);
        if (rc == 0)
            rc = keep(&rows[i].to, s->job, err);
    }
    return rc;
}

typedef struct changes_list {
    scanning *s;
    change_out rows[VLS_SCAN_LISTED_MAX];
    size_t count;
} changes_list;

/* What was at the path before decides what became of it; -1: a directory, below which something
 * is different. */
static int judge(int *out, const changes_list *l, valise_view *view, const vls_tree_change *change,
                 valise_error *err)
{
    const vls_tree_row *tree = &l->s->outside.tree;
    vls_tree_found old;
    int rc = 0;

    *out = VLS_CHANGE_REMOVED;
    if (change->node.kind == VLS_NODE_GONE)
        return 0;
    if (l->s->outside.scanned)
        rc = vls_tree_get(&old, view, tree, tree->version, change->path, err);
    *out = rc == 0 ? VLS_CHANGE_ADDED : VLS_CHANGE_CHANGED;
    if (change->path.len == 0 ||
        (rc > 0 && old.node.kind == VLS_NODE_DIR && change->node.kind == VLS_NODE_DIR))
        *out = -1;
    return rc < 0 ? rc : 0;
}

static int list_changes(void *self, valise_view *view, valise_error *err)
{
    changes_list *l = self;
    vls_tree_changes_reader *reader = NULL;
    vls_tree_change change;
    int rc = valise_job_alloc((void **)&reader, l->s->job, sizeof(*reader), err), what;

    for (size_t i = 0; rc == 0 && l->count < VLS_SCAN_LISTED_MAX && i < l->s->scan.changes.len;
         i++) {
        vls_tree_changes_open(reader, l->s->scan.changes.ptr[i]);
        while (l->count < VLS_SCAN_LISTED_MAX &&
               (rc = vls_tree_changes_next(&change, reader, err)) > 0) {
            rc = judge(&what, l, view, &change, err);
            if (rc == 0)
                rc = keep(&change.path, l->s->job, err);
            if (rc < 0)
                return rc;
            if (what >= 0)
                l->rows[l->count++] = (change_out){change.path, what};
        }
        rc = vls_settle(rc);
    }
    return rc;
}

static int tell_changes(scan_result *out, scanning *s, valise_error *err)
{
    changes_list *list = NULL;
    change_out *rows = NULL;
    int rc;

    if (s->scan.changes.len == 0)
        return 0;
    rc = valise_job_alloc((void **)&list, s->job, sizeof(*list), err);
    if (rc < 0)
        return rc;
    list->s = s;
    list->count = 0;
    rc = vls_with_view(s->outside.v, NULL, list_changes, list, err);
    if (rc == 0)
        rc = make_list(&out->changes, (void **)&rows, list->count, sizeof(*rows), s->job, err);
    if (rc == 0 && list->count > 0)
        memcpy(rows, list->rows, list->count * sizeof(*rows));
    return rc;
}

static int tell(scan_result *out, scanning *s, valise_error *err)
{
    const vls_scan *scan = &s->scan;
    int rc;

    out->old_tree_root = s->outside.tree.root;
    out->tree_root = s->done.root;
    out->version = s->done.version;
    out->added = scan->added;
    out->changed = scan->changed;
    out->removed = scan->removed;
    out->moved = scan->moved;
    out->ambiguous_count = (int64_t)scan->ambiguous.len;
    out->error_count = (int64_t)scan->errors.len;
    out->hashed = scan->hashed;
    out->skipped = scan->skipped;
    out->ignored = scan->ignored;
    out->counts = scan->counts;
    rc = tell_changes(out, s, err);
    if (rc == 0)
        rc = tell_moves(out, s, err);
    if (rc == 0)
        rc = vls_scan_problems(&out->ambiguous, &s->job->arena, scan->ambiguous.ptr,
                               scan->ambiguous.len, err);
    if (rc == 0)
        rc = vls_scan_problems(&out->errors, &s->job->arena, scan->errors.ptr, scan->errors.len,
                               err);
    return rc;
}

/* What a tree is about never becomes another folder: its slots would all be orphaned. */
static int check_folder(const valise *v, const vls_scan_options *options, valise_error *err)
{
    const char *own = v->place.root;
    struct stat a, b;

    if (!own || own == options->root)
        return 0;
    if (stat(options->root, &b) < 0)
        return vls_fail_errno(err, "open", valise_str_of(options->root));
    if (stat(own, &a) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
        return 0;
    (void)vls_fail(err, VALISE_E_UNSUPPORTED,
                   "this workspace is for its own folder, '%s', not for '%s'", own, options->root);
    vls_hint(err, "make a workspace there (valise init)");
    return VALISE_E_UNSUPPORTED;
}

static int job(valise_job *j, const void *in, void *result, valise_error *err)
{
    const scan_args *args = in;
    VLS_AUTO(scanning) scanning s = {.job = j};
    VLS_AUTO(buf) vls_buf path = {0};
    valise *v = valise_job_workspace(j);
    int rc;

    vls_buf_init(&path, v->env, VLS_PATH_MAX);
    rc = vls_path_resolve(&path, VLS_STR(""), args->path, err);
    if (rc == 0)
        rc = vls_outside_open(&s.outside, v, args->dir, err);
    if (rc < 0)
        return rc;
    rc = check_folder(v, &s.outside.options, err);
    if (rc < 0)
        return rc;
    s.outside.options.sub = vls_buf_str(&path);
    rc = path.len > 0 ? vls_outside_check(&s.outside, vls_buf_str(&path), err) : 0;
    if (rc == 0)
        rc = run(&s, args, err);
    if (rc < 0)
        return rc;
    if (s.scan.whole)
        vls_outside_scanned(&s.outside);
    return tell(result, &s, err);
}

const valise_op vls_op_context_tree_scan = {
    .size = sizeof(valise_op),
    .name = "tree:scan",
    .alias = "scan",
    .brief = "Scan the files and record what changed.",
    .help = "The tree is the folder that holds .valise, without what .gitignore and .valiseignore "
            "files in it and the setting tree.ignore leave out (see check-ignore). Its root is a "
            "hash of all names and contents: the same files have the same root, on any machine. A "
            "scan that finds nothing new writes nothing.\n\nFiles are read again only when their "
            "size, times or inode changed since the last scan; --force reads all. What cannot be "
            "read is listed, and is marked in the tree as unreadable.\n\nIf a scan of only a part "
            "finds something added, removed or moved, and there are frames, the whole tree is "
            "scanned, so that frames follow their files.",
    .kind = VALISE_JOB,
    .flags = VALISE_OP_IDEMPOTENT,
    .needs = "tree:write",
    .in = scan_in,
    .in_size = sizeof(scan_args),
    .out = scan_out,
    .out_size = sizeof(scan_result),
    .job = job,
    .example = "{}",
};
