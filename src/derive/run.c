/* run.c -- see run.h. Start reading at vls_derive_run. */
#include "derive/run.h"

#include "base/mem.h"
#include "base/text.h"
#include "bus/job.h"
#include "context/doubt.h"
#include "context/ops_tree.h"
#include "context/slot.h"
#include "derive/run_impl.h"
#include "store/view.h"

#define TRIES 3u                            /* when others write meanwhile */
#define ARENA_MAX ((size_t)4 << 30)         /* of one run: paths, ids, recipes */
#define PENDING_MAX ((size_t)16 << 20)      /* bytes of frames that wait to be stored */
#define DRY_PENDING_MAX ((size_t)512 << 20) /* of a dry run, which never stores them */
#define PENDING_NS INT64_C(1000000000)
#define PIECE 2000u /* heads in one command */
#define LOOKS_MAX 1000u

const char *const vls_run_outcomes[] = {
    "made",         "unchanged", "needs-author", "needs-run", "unknown", "orphaned",
    "out-of-scope", "missing",   "failed",       "stale",     NULL};

/* ---- what is kept ---- */

static bool is_made(const void *item, const void *key)
{
    const vls_made *a = item;
    const vls_made *b = key;

    return vls_str_equal(a->path, b->path) && vls_str_equal(a->type, b->type);
}

vls_made *vls_run_ahead(const vls_run_state *r, valise_str path, valise_str type)
{
    const vls_made key = {.path = path, .type = type};

    return vls_map_get(&r->ahead, vls_task_hash(path, type), &key);
}

int vls_run_tell(vls_run_state *r, const vls_task *task, int outcome, const valise_id *was,
                 const valise_id *is, const char *why, valise_error *err)
{
    vls_arena *arena = &r->options->job->arena;
    bool gap = outcome == VLS_RUN_MISSING || outcome == VLS_RUN_STALE;
    vls_derived_row *row;
    int rc;

    if (is && r->options->recipe && vls_str_equal(task->path, r->options->path) &&
        vls_str_equal(task->type, r->options->type))
        r->report->frame = *is;
    if (++r->report->counts[outcome] > VLS_RUN_ROWS_MAX)
        return 0;
    row = vls_arena_zalloc(arena, sizeof(*row));
    if (!row ||
        !(gap ? vls_vec_push_in(&r->gaps, arena, row) : vls_vec_push_in(&r->rows, arena, row)))
        return vls_arena_fail(arena, err);
    row->outcome = outcome;
    if (was)
        row->before = *was;
    if (is)
        row->after = *is;
    rc = vls_arena_dup(&row->path, arena, task->path, err);
    if (rc == 0)
        rc = vls_arena_dup(&row->type, arena, task->type, err);
    if (rc == 0 && why)
        rc = vls_arena_dup(&row->why, arena, valise_str_of(why), err);
    return rc;
}

int vls_run_looked(vls_run_state *r, const vls_task *task, bool known, valise_error *err)
{
    vls_slot_doubt_row doubt = {.tree = r->tree.id, .path = task->path, .type = task->type};
    vls_slot_look *look;
    int rc = valise_view_get(&doubt, r->view, &vls_slot_doubts, err);

    if (rc < 0 || (rc > 0 ? known && doubt.known : !known))
        return vls_settle(rc); /* that is what is written down */
    look = vls_arena_zalloc(&r->arena, sizeof(*look));
    if (!look)
        return vls_arena_fail(&r->arena, err);
    *look = (vls_slot_look){task->path, task->type, known};
    return vls_vec_push(&r->looks, r->env, look) ? 0 : vls_fail_memory(err);
}

static void let_go(vls_made *made)
{
    made->pending = false;
    vls_buf_release(&made->basis);
    vls_buf_release(&made->content);
}

static void forget(vls_run_state *r)
{
    for (size_t i = 0; i < r->made.len; i++)
        let_go(r->made.ptr[i]);
    vls_vec_release(&r->made, r->env);
    vls_vec_release(&r->looks, r->env);
    vls_run_waiting_release(&r->waiting);
    vls_map_release(&r->ahead);
    vls_queue_release(&r->queue);
    vls_arena_release(&r->arena);
}

static void begin(vls_run_state *r, vls_run_report *report)
{
    *report = (vls_run_report){.root = {{0}}};
    r->report = report;
    r->rows.ptr = r->gaps.ptr = NULL; /* the job's, which lets go of them */
    r->rows.len = r->rows.cap = r->gaps.len = r->gaps.cap = 0;
    r->planned = r->all = false;
    r->after = (vls_afterwards){.task = NULL};
    r->pending_bytes = 0;
    vls_arena_init(&r->arena, r->env, ARENA_MAX);
    vls_map_init(&r->ahead, r->env, is_made);
    vls_queue_init(&r->queue, r->env, &r->arena);
}

/* ---- reading ---- */

/* Fix the state that all is compared with, and see what there is to do. */
static int plan(vls_run_state *r, valise_error *err)
{
    vls_context_row context;
    vls_tree_found node;
    int rc = vls_tree_head(&r->tree, r->view, err);

    if (rc == 0) {
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "nothing was scanned yet");
        vls_hint(err, "run 'valise scan'");
        return VALISE_E_NOT_FOUND;
    }
    if (rc > 0)
        rc = vls_context_get(&context, r->view, &r->tree.id, err);
    if (rc >= 0)
        rc = vls_tree_get(&node, r->view, &r->tree, r->tree.version, r->options->path, err);
    if (rc < 0)
        return rc;
    r->root = context.root;
    if (r->options->recipe && (rc == 0 || node.node.kind != VLS_NODE_DIR))
        return vls_fail(err, rc == 0 ? VALISE_E_NOT_FOUND : VALISE_E_INVALID,
                        rc == 0 ? "there is nothing at '%s'" : "'%s' is not a directory",
                        vls_text_short(r->options->path).s);
    rc = vls_doubt_is_kept(r->view, &r->tree.id, err);
    if (rc < 0)
        return rc;
    r->kept = rc > 0;
    r->planned = true;
    return vls_run_plan(r, err);
}

static int work(void *arg, valise_view *view, valise_error *err)
{
    vls_run_state *r = arg;
    int64_t until = r->env->ticks_ns(r->env->self) + PENDING_NS;
    size_t most = r->options->dry_run ? DRY_PENDING_MAX : PENDING_MAX;
    const vls_task *task;
    bool first = !r->planned;
    int rc;

    r->view = view;
    rc = first ? plan(r, err) : 0;
    if (rc == 0 && first) /* those that depend on what is made may come to it */
        valise_job_stage(r->options->job, "derive", "slots", r->queue.heap.len);
    if (rc == 0)
        rc = vls_run_after_program(r, err);
    while (rc == 0 && (task = vls_queue_take(&r->queue))) {
        rc = valise_job_step(r->options->job, 1, err);
        if (rc == 0)
            rc = vls_run_slot(r, task, err);
        if (rc < 0 || r->waiting.task || r->pending_bytes > most ||
            (!r->options->dry_run && r->env->ticks_ns(r->env->self) > until))
            break;
    }
    r->view = NULL;
    if (rc == 0 && r->options->dry_run && r->pending_bytes > most)
        return vls_fail(err, VALISE_E_LIMIT, "a dry run keeps %zu bytes at most in memory", most);
    return rc;
}

/* ---- writing ---- */

typedef struct batch {
    vls_arena arena;
    vls_vec(vls_run_item) items;
} batch;

static int add_item(batch *b, const valise_op *op, const void *args, valise_error *err)
{
    vls_run_item item = {.op = op};
    void *copy = vls_arena_alloc(&b->arena, op->in_size);

    if (!copy)
        return vls_arena_fail(&b->arena, err);
    memcpy(copy, args, op->in_size);
    item.args = copy;
    return vls_vec_push_in(&b->items, &b->arena, item) ? 0 : vls_arena_fail(&b->arena, err);
}

static int add_frames(batch *b, const vls_run_state *r, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < r->made.len; i++) {
        const vls_made *made = r->made.ptr[i];
        const valise_str content = vls_buf_str(&made->content);
        const vls_frame_store_args args = {.type = made->frame.type,
                                           .agent = made->frame.agent,
                                           .recipe.bytes = made->recipe,
                                           .basis.bytes = vls_buf_str(&made->basis),
                                           .content.bytes = content.len ? content : VLS_STR("")};
        if (made->pending)
            rc = add_item(b, &vls_op_context_frame_store, &args, err);
    }
    return rc;
}

static int submit(vls_run_state *r, const batch *b, valise_error *err)
{
    valise_call call;
    int rc = valise_job_call(&call, r->options->job, err);

    if (rc < 0 || b->items.len == 0)
        return rc;
    return vls_run_many(r->v, b->items.ptr, b->items.len, &call, err);
}

static int store(vls_run_state *r, valise_error *err)
{
    batch b = {.items = VLS_VEC_INIT};
    int rc;

    vls_arena_init(&b.arena, r->env, ARENA_MAX);
    rc = add_frames(&b, r, err);
    if (rc == 0)
        rc = submit(r, &b, err);
    vls_arena_release(&b.arena);
    for (size_t i = 0; rc == 0 && i < r->made.len; i++)
        let_go(r->made.ptr[i]);
    if (rc == 0)
        r->pending_bytes = 0;
    return rc;
}

/* `count` of what was made, from the first, as a list of the command. */
static int add_heads(valise_list *out, batch *b, const vls_run_state *r, size_t first, size_t count,
                     valise_error *err)
{
    vls_slot_head *heads = vls_arena_array(&b->arena, VLS_MAX(count, 1), sizeof(*heads));
    const vls_slot_head **list = vls_arena_array(&b->arena, VLS_MAX(count, 1), sizeof(*list));

    if (!heads || !list)
        return vls_arena_fail(&b->arena, err);
    for (size_t i = 0; i < count; i++) {
        const vls_made *made = r->made.ptr[first + i];
        heads[i] = (vls_slot_head){
            .path = made->path, .type = made->type, .frame = made->frame.id, .head = made->was};
        if (!vls_str_equal(made->frame.agent, r->actor))
            heads[i].by = r->actor;
        list[i] = &heads[i];
    }
    *out = (valise_list){list, count};
    return 0;
}

/* check: each head by itself; else all must be as it was when the run began. */
static int add_pieces(batch *b, const vls_run_state *r, bool check, valise_error *err)
{
    size_t heads = 0, looks = 0;
    bool first = true;
    int rc = 0;

    while (rc == 0 && (first || heads < r->made.len || looks < r->looks.len)) {
        size_t more_heads = VLS_MIN(r->made.len - heads, PIECE);
        size_t more_looks = VLS_MIN(r->looks.len - looks, PIECE);
        vls_slot_advance_args args = {
            .version = VALISE_NONE, .check = check, .looks = {"", more_looks}};
        if (more_looks > 0)
            args.looks.items = r->looks.ptr + looks;
        if (first && !check) {
            args.version = r->tree.version;
            args.root = r->root;
        }
        rc = add_heads(&args.heads, b, r, heads, more_heads, err);
        heads += more_heads;
        looks += more_looks;
        args.all = r->all && heads == r->made.len && looks == r->looks.len;
        if (rc == 0)
            rc = add_item(b, &vls_op_context_slot_advance, &args, err);
        first = false;
    }
    return rc;
}

static int advance(vls_run_state *r, bool check, valise_error *err)
{
    batch b = {.items = VLS_VEC_INIT};
    int rc;

    vls_arena_init(&b.arena, r->env, ARENA_MAX);
    rc = add_frames(&b, r, err);
    if (rc == 0)
        rc = add_pieces(&b, r, check, err);
    if (rc == 0)
        rc = submit(r, &b, err);
    vls_arena_release(&b.arena);
    return rc;
}

/* ---- all of it ---- */

/* Looks alone are not worth a command, unless they would be repeated by the thousand, or it is
 * about those alone which nobody has looked at. */
static bool has_news(const vls_run_state *r)
{
    size_t most = r->options->only_new ? 1 : LOOKS_MAX;

    return r->made.len > 0 || r->looks.len >= most || r->all;
}

/* Of what the run found itself: others may have written since anybody tried. [C16] */
int vls_run_check_strict(const vls_run_state *r, valise_error *err)
{
    const int64_t *counts = r->report->counts;

    if (!r->options->strict || counts[VLS_RUN_MISSING] + counts[VLS_RUN_STALE] == 0)
        return 0;
    (void)vls_fail(err, VALISE_E_CONFLICT, "entries without a frame: %lld, stale frames: %lld",
                   (long long)counts[VLS_RUN_MISSING], (long long)counts[VLS_RUN_STALE]);
    if (r->gaps.len > 0)
        (void)vls_fail(err, VALISE_E_CONFLICT,
                       "entries without a frame: %lld, stale frames: %lld; '%s' is the first",
                       (long long)counts[VLS_RUN_MISSING], (long long)counts[VLS_RUN_STALE],
                       vls_text_short(r->gaps.ptr[0]->path).s);
    vls_hint(err, "nothing was written; without --strict what is missing is left out");
    return VALISE_E_CONFLICT;
}

/* 1: others were faster, and what was made is stored. */
static int attempt(vls_run_state *r, const valise_call *call, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    int rc = 0;

    do {
        if (r->pending_bytes > 0 && !r->options->dry_run)
            rc = store(r, err);
        if (rc == 0)
            rc = vls_with_view(r->v, call, work, r, err);
        if (rc == 0 && r->waiting.task)
            rc = vls_run_program(r, err);
    } while (rc == 0 && (r->queue.heap.len > 0 || r->after.task));
    if (rc == 0 && !(r->options->dry_run && r->options->program)) /* not all of it was tried */
        rc = vls_run_check_strict(r, err);
    if (rc < 0 || r->options->dry_run || !has_news(r))
        return rc;
    rc = advance(r, false, &why);
    if (rc == VALISE_E_CONFLICT) /* looks alone do not count then */
        rc = r->made.len > 0 ? advance(r, true, &why) : 0;
    if (rc == VALISE_E_CONFLICT) {
        rc = store(r, err);
        return rc < 0 ? rc : 1;
    }
    if (rc < 0 && err)
        *err = why;
    return rc;
}

static int read_root(void *arg, valise_view *view, valise_error *err)
{
    valise_id *root = arg;
    vls_context_row context = {0};
    vls_tree_row tree;
    int rc = vls_tree_head(&tree, view, err);

    if (rc > 0)
        rc = vls_context_get(&context, view, &tree.id, err);
    if (rc >= 0)
        *root = context.root;
    return vls_settle(rc);
}

static int gather_rows(vls_run_state *r, valise_error *err)
{
    vls_arena *arena = &r->options->job->arena;

    for (size_t i = 0; i < r->gaps.len; i++) {
        if (!vls_vec_push_in(&r->rows, arena, r->gaps.ptr[i]))
            return vls_arena_fail(arena, err);
    }
    r->report->rows = (valise_list){r->rows.ptr ? (const void *)r->rows.ptr : "", r->rows.len};
    return 0;
}

int vls_derive_run(vls_run_report *out, const vls_run_options *options, valise_error *err)
{
    valise *v = valise_job_workspace(options->job);
    vls_run_state r = {.options = options,
                       .v = v,
                       .env = v->env,
                       .actor = valise_job_actor(options->job),
                       .sealed = {.fd = -1}};
    vls_run_report report;
    valise_id root = {{0}};
    valise_call call;
    int rc = valise_job_call(&call, options->job, err);

    if (rc < 0)
        return rc;
    valise_job_stage(options->job, "derive", "slots", 0);
    for (unsigned i = 0; i < TRIES && (rc == 1 || i == 0); i++) {
        begin(&r, &report);
        rc = attempt(&r, &call, err);
        if (rc == 0)
            rc = vls_run_beyond(&r, &call, err);
        if (rc == 0)
            rc = gather_rows(&r, err);
        forget(&r);
    }
    vls_sealed_close(&r.sealed);
    if (rc == 1) {
        (void)vls_fail(err, VALISE_E_CONFLICT,
                       "others changed the inputs of this run %u times while it ran", TRIES);
        vls_hint(err, "what was made is kept: run it again when the others are done");
        return VALISE_E_CONFLICT;
    }
    if (rc == 0)
        rc = vls_with_view(v, &call, read_root, &root, err);
    if (rc < 0)
        return rc;
    report.root = root;
    *out = report;
    return 0;
}
