/* op_context_prune.c -- context:prune, let go of old versions and of orphaned slots now. [C30]
 *
 * The limits are those that are given, else those of retention. Nothing goes without any: there is
 * no way back, and nobody knows what is old here but who asks. */
#include "base/vec.h"
#include "bus/bus.h"
#include "bus/job.h"
#include "context/ops_prune.h"
#include "kernel/kernel.h"

#define LISTED_MAX 100u /* slots that are told; more are only counted */

typedef struct prune_args {
    int64_t versions, older_than;
    bool orphans, dry_run;
} prune_args;

static const valise_field prune_in[] = {
    VALISE_FIELD_WITH(prune_args, versions, INT, VALISE_NULLABLE,
                      "Keep this many of the newest tree versions.", .min = 1, .max = INT64_MAX),
    VALISE_FIELD_AS(prune_args, older_than, "olderThan", DURATION, VALISE_NULLABLE,
                    "Drop what is older than this."),
    VALISE_FIELD(prune_args, orphans, BOOL, 0, "Drop what is known about deleted files."),
    VALISE_FIELD_AS(prune_args, dry_run, "dryRun", BOOL, 0,
                    "Show what would be dropped, but drop nothing."),
    VALISE_FIELD_END,
};

static const valise_field orphan_fields[] = {
    VALISE_FIELD(vls_orphan, path, PATH, VALISE_REQUIRED, "Where the file lay."),
    VALISE_FIELD(vls_orphan, type, STR, VALISE_REQUIRED, "Type of its frames."),
    VALISE_FIELD(vls_orphan, head, ID, VALISE_NULLABLE, "Its last head."),
    VALISE_FIELD(vls_orphan, closed, BOOL, 0, "Something of another kind lies there now."),
    VALISE_FIELD(vls_orphan, entries, INT, 0, "Entries of its history."),
    VALISE_FIELD(vls_orphan, frames, INT, 0, "Frames in it."),
    VALISE_FIELD(vls_orphan, since, TIME, 0, "Since when, as far as is known."),
    VALISE_FIELD_END,
};
static const valise_struct orphan_struct = {sizeof(vls_orphan), orphan_fields};
static const valise_field orphan_item = {
    .name = "slot", .type = VALISE_T_STRUCT, .more = &orphan_struct};

typedef struct prune_result {
    bool dry_run;
    vls_pruned_tree tree;
    vls_slot_drop_result gone;
    int64_t held_slots;
    valise_list which; /* of const vls_orphan * */
} prune_result;

static const valise_field prune_out[] = {
    VALISE_FIELD_AS(prune_result, dry_run, "dryRun", BOOL, 0, "Nothing was written."),
    VALISE_FIELD_AS(prune_result, tree.edge, "oldest", INT, VALISE_REQUIRED,
                    "The oldest version that can be seen; 0: there is none."),
    VALISE_FIELD_AS(prune_result, tree.versions, "versions", INT, VALISE_REQUIRED,
                    "Versions that went."),
    VALISE_FIELD_AS(prune_result, tree.nodes, "nodes", INT, VALISE_REQUIRED,
                    "Nodes that only they had."),
    VALISE_FIELD_AS(prune_result, tree.held, "heldVersions", INT, VALISE_REQUIRED,
                    "Versions that would have gone, but for a pin."),
    VALISE_FIELD_AS(prune_result, gone.slots, "slots", INT, VALISE_REQUIRED,
                    "Orphaned slots that went."),
    VALISE_FIELD_AS(prune_result, gone.closed, "closed", INT, VALISE_REQUIRED,
                    "Of these, such as were closed."),
    VALISE_FIELD_AS(prune_result, gone.entries, "entries", INT, VALISE_REQUIRED,
                    "Entries of their histories."),
    VALISE_FIELD_AS(prune_result, gone.frames, "frames", INT, VALISE_REQUIRED,
                    "Frames that only they had."),
    VALISE_FIELD_AS(prune_result, held_slots, "heldSlots", INT, VALISE_REQUIRED,
                    "Orphaned slots that would have gone, but for a pin."),
    VALISE_FIELD_AS_WITH(prune_result, which, "which", LIST, VALISE_REQUIRED,
                         "The first of the slots.", .more = &orphan_item),
    VALISE_FIELD_END,
};

/* ---- limits ---- */

typedef struct plan {
    bool tree, slots; /* what is meant */
    vls_prune_limits of_tree, of_slots;
} plan;

static int read_limits(bool *any, vls_prune_limits *out, valise_view *view, valise_str kind,
                       valise_error *err)
{
    vls_retention row = {.kind = kind};
    int rc = valise_view_get(&row, view, &vls_retentions, err);

    *any = rc > 0;
    *out = (vls_prune_limits){row.keep_latest, row.age};
    return vls_settle(rc);
}

static int read_configured(void *arg, valise_view *view, valise_error *err)
{
    plan *p = arg;
    int rc = read_limits(&p->tree, &p->of_tree, view, VLS_STR("tree"), err);

    if (rc == 0)
        rc = read_limits(&p->slots, &p->of_slots, view, VLS_STR("orphans"), err);
    if (rc < 0 || p->tree || p->slots)
        return rc;
    (void)vls_fail(err, VALISE_E_INVALID, "nothing says what is old, so nothing was pruned");
    vls_hint(err, "give --versions, --older-than or --orphans, with --dry-run to see what would "
                  "go; or set limits with valise retention set tree --age 90d");
    return VALISE_E_INVALID;
}

static int make_plan(plan *out, valise *v, const prune_args *args, valise_error *err)
{
    bool versions = args->versions != VALISE_NONE, aged = args->older_than != VALISE_NONE;

    if (!versions && !aged && !args->orphans)
        return vls_with_view(v, NULL, read_configured, out, err);
    *out = (plan){.tree = versions || !args->orphans,
                  .slots = args->orphans || !versions,
                  .of_tree = {args->versions, args->older_than},
                  .of_slots = {aged ? VALISE_NONE : 0, args->older_than}};
    return 0;
}

/* ---- the job ---- */

static int list_slots(valise_list *out, valise_job *j, const vls_orphans *which, valise_error *err)
{
    vls_vec(const vls_orphan *) list = VLS_VEC_INIT;

    for (size_t i = 0; i < which->count && i < LISTED_MAX; i++) {
        if (!vls_vec_push_in(&list, &j->arena, &which->items[i]))
            return vls_arena_fail(&j->arena, err);
    }
    *out = (valise_list){list.ptr ? (const void *)list.ptr : "", list.len};
    return 0;
}

static int job(valise_job *j, const void *in, void *out, valise_error *err)
{
    const prune_args *args = in;
    prune_result *result = out;
    const vls_prune_run run = {
        .job = j, .now = j->v->env->now_ns(j->v->env->self), .dry_run = args->dry_run};
    const vls_prune_limits nothing = {VALISE_NONE, VALISE_NONE};
    vls_pruned_slots slots = {.more = false};
    plan p = {.tree = false};
    int rc = make_plan(&p, j->v, args, err);

    result->dry_run = args->dry_run;
    /* Slots first: since when one is an orphan is told by a version. */
    if (rc == 0 && p.slots)
        rc = vls_prune_slots(&slots, &run, &p.of_slots, err);
    /* Without limits: what is left of a sweep that was stopped. */
    if (rc == 0)
        rc = vls_prune_tree(&result->tree, &run, p.tree ? &p.of_tree : &nothing, err);
    if (rc < 0)
        return rc;
    result->gone = slots.gone;
    result->held_slots = slots.which.held;
    return list_slots(&result->which, j, &slots.which, err);
}

const valise_op vls_op_context_context_prune = {
    .size = sizeof(valise_op),
    .name = "context:prune",
    .alias = "prune",
    .brief = "Drop old tree versions and what is known about deleted files.",
    .help = "Give --versions or --older-than to drop versions, --orphans to drop what is known "
            "about files that are gone; --older-than alone means both. Without any of them the "
            "limits of `valise retention set tree` and `valise retention set orphans` apply. The "
            "newest version always stays, and so do frames that are used elsewhere and what a pin "
            "holds. This cannot be undone: try --dry-run first. `valise gc` removes the objects, "
            "once the log no longer refers to them.",
    .kind = VALISE_JOB,
    .flags = VALISE_OP_IDEMPOTENT | VALISE_OP_DESTRUCTIVE,
    .needs = "admin",
    .in = prune_in,
    .in_size = sizeof(prune_args),
    .out = prune_out,
    .out_size = sizeof(prune_result),
    .job = job,
    .example = "{\"dryRun\":true,\"versions\":100}",
};
