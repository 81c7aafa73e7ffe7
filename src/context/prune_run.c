/* prune_run.c -- pruning as jobs do it: a plan in a view, then commands in pieces. */
#include "bus/bus.h"
#include "bus/job.h"
#include "context/ops_prune.h"

#define PIECE_SLOTS 500u   /* of one slot:drop */
#define PIECE_ENTRIES 5000 /* and of their entries, unless it is one slot */

/* ---- versions ---- */

typedef struct planning {
    const vls_prune_run *run;
    const vls_prune_limits *limits;
    vls_tree_row tree;
    bool any;       /* there is a tree */
    int64_t edge;   /* that the limits make */
    int64_t oldest; /* version that has a row */
    vls_pruned_tree *out;
} planning;

static int count_node(void *arg, const vls_tree_node_row *row, valise_error *err)
{
    (void)arg, (void)row, (void)err;
    return 0;
}

static int count_version(void *arg, const vls_tree_version_row *row, int64_t from_seq,
                         valise_error *err)
{
    const planning *p = arg;

    (void)from_seq, (void)err;
    if (row->version >= p->edge)
        return 1;
    p->out->versions++;
    return 0;
}

/* What a sweep would find. */
static int count_rows(planning *p, valise_view *view, valise_error *err)
{
    const vls_tree_sweep all = {.tree = p->tree.id,
                                .from = p->oldest,
                                .edge = p->edge,
                                .dir = VLS_STR(""),
                                .behind = VLS_STR("")};
    vls_tree_swept swept = {.gone = 0};
    int rc = vls_tree_sweep_rows(&swept, view, &all, count_node, NULL, err);

    p->out->nodes = swept.gone;
    if (rc == 0)
        rc = vls_tree_each_version(view, &p->tree.id, 0, count_version, p, err);
    return vls_settle(rc);
}

static int plan_tree(void *arg, valise_view *view, valise_error *err)
{
    planning *p = arg;
    int rc = vls_tree_head(&p->tree, view, err);

    if (rc <= 0)
        return rc;
    p->any = true;
    rc = vls_prune_edge(&p->edge, &p->out->held, view, &p->tree, p->limits, p->run->now, err);
    if (rc == 0)
        rc = vls_tree_oldest(&p->oldest, view, &p->tree, err);
    if (rc < 0)
        return rc;
    if (rc == 0)
        p->oldest = p->edge;
    return p->run->dry_run && p->oldest < p->edge ? count_rows(p, view, err) : 0;
}

static int sweep(planning *p, valise_error *err)
{
    const vls_prune_run *r = p->run;
    vls_tree_sweep_args args = {
        .edge = p->edge, .from = p->oldest, .dir = VLS_STR(""), .behind = VLS_STR("")};
    vls_tree_sweep_result result = {.done = p->oldest >= p->edge};
    int rc = 0;

    while (rc == 0 && !result.done && (r->max == 0 || p->out->nodes + p->out->versions < r->max)) {
        VLS_AUTO(memory) vls_memory memory = {0};
        rc = vls_job_run(r->job, &vls_op_context_tree_sweep, &args, &result, &memory, err);
        if (rc == 0)
            rc = vls_arena_dup(&args.dir, &r->job->arena, result.dir, err);
        if (rc == 0)
            rc = vls_arena_dup(&args.behind, &r->job->arena, result.behind, err);
        if (rc < 0)
            return rc;
        p->out->nodes += result.nodes;
        p->out->versions += result.versions;
        rc = valise_job_step(r->job, (uint64_t)(result.nodes + result.versions), err);
    }
    p->out->more = !result.done;
    return rc;
}

int vls_prune_tree(vls_pruned_tree *out, const vls_prune_run *r, const vls_prune_limits *limits,
                   valise_error *err)
{
    planning p = {.run = r, .limits = limits, .out = out};
    vls_tree_expire_result moved;
    int rc;

    *out = (vls_pruned_tree){.edge = 0};
    rc = vls_with_view(r->job->v, NULL, plan_tree, &p, err);
    if (rc < 0 || !p.any)
        return rc;
    out->edge = p.edge;
    if (r->dry_run)
        return 0;
    valise_job_stage(r->job, "prune versions", "rows", 0);
    if (p.edge > p.tree.edge) {
        const vls_tree_expire_args args = {p.edge};
        rc = vls_job_run(r->job, &vls_op_context_tree_expire, &args, &moved, NULL, err);
        if (rc < 0)
            return rc;
        /* A pin may have come; or somebody went further. */
        out->edge = p.edge = VLS_MIN(p.edge, moved.edge);
    }
    return sweep(&p, err);
}

/* ---- orphans ---- */

typedef struct surveying {
    const vls_prune_run *run;
    const vls_prune_limits *limits;
    vls_pruned_slots *out;
} surveying;

/* The list outlives the view. */
static int keep_list(surveying *s, const vls_orphans *found, valise_error *err)
{
    vls_arena *arena = &s->run->job->arena;
    vls_orphan *items = vls_arena_array(arena, found->count + 1, sizeof(*items));
    int rc = 0;

    if (!items)
        return vls_arena_fail(arena, err);
    for (size_t i = 0; rc == 0 && i < found->count; i++) {
        items[i] = found->items[i];
        rc = vls_arena_dup(&items[i].path, arena, items[i].path, err);
        if (rc == 0)
            rc = vls_arena_dup(&items[i].type, arena, items[i].type, err);
    }
    s->out->which = (vls_orphans){items, found->count, found->held};
    return rc;
}

static int survey(void *arg, valise_view *view, valise_error *err)
{
    surveying *s = arg;
    vls_slot_drop_result *gone = &s->out->gone;
    vls_orphans found = {.count = 0};
    const valise_id *frames;
    vls_tree_row tree;
    size_t count = 0;
    int rc = vls_tree_head(&tree, view, err);

    if (rc <= 0)
        return rc;
    rc = vls_prune_find(&found, &s->out->more, view, &tree, s->limits, s->run->now, s->run->max,
                        err);
    if (rc == 0)
        rc = keep_list(s, &found, err);
    if (rc < 0 || !s->run->dry_run)
        return rc;
    rc = vls_prune_frames(&frames, &count, view, found.items, found.count, err);
    for (size_t i = 0; i < found.count; i++) {
        gone->closed += found.items[i].closed;
        gone->entries += found.items[i].entries;
    }
    gone->slots = (int64_t)found.count;
    gone->frames = (int64_t)count;
    return rc;
}

/* One command for the next few of the list. */
static int drop_piece(size_t *at, const vls_prune_run *r, vls_pruned_slots *out,
                      const vls_orphan **piece, valise_error *err)
{
    vls_slot_drop_result result = {.slots = 0};
    vls_slot_drop_args args = {.slots = {piece, 0}};
    int64_t entries = 0;
    int rc;

    while (*at < out->which.count && args.slots.count < PIECE_SLOTS && entries < PIECE_ENTRIES) {
        const vls_orphan *one = &out->which.items[*at];
        if (args.slots.count > 0 && entries + one->entries > PIECE_ENTRIES)
            break;
        piece[args.slots.count++] = one;
        entries += one->entries;
        ++*at;
    }
    rc = vls_job_run(r->job, &vls_op_context_slot_drop, &args, &result, NULL, err);
    if (rc < 0)
        return rc;
    out->gone.slots += result.slots;
    out->gone.closed += result.closed;
    out->gone.entries += result.entries;
    out->gone.frames += result.frames;
    return valise_job_step(r->job, args.slots.count, err);
}

int vls_prune_slots(vls_pruned_slots *out, const vls_prune_run *r, const vls_prune_limits *limits,
                    valise_error *err)
{
    surveying s = {.run = r, .limits = limits, .out = out};
    const vls_orphan *piece[PIECE_SLOTS];
    size_t at = 0;
    int rc;

    *out = (vls_pruned_slots){.more = false};
    rc = vls_with_view(r->job->v, NULL, survey, &s, err);
    if (rc < 0 || r->dry_run)
        return rc;
    valise_job_stage(r->job, "prune slots", "slots", out->which.count);
    while (rc == 0 && at < out->which.count)
        rc = drop_piece(&at, r, out, piece, err);
    return rc;
}
