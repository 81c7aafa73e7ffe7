/* op_tree_retain.c -- tree:retain, apply the limits of the history `tree`: old versions go. [C30]
 */
#include "bus/bus.h"
#include "context/ops_prune.h"
#include "kernel/retention.h"

static int job(valise_job *j, const void *in, void *out, valise_error *err)
{
    const vls_retain_args *args = in;
    vls_retained *done = out;
    const valise *v = valise_job_workspace(j);
    /* By the world's clock, as for the log: that of the entries never falls. */
    const vls_prune_run run = {.job = j, .now = v->env->now_ns(v->env->self), .max = args->max};
    const vls_prune_limits limits = {args->keep_latest, args->age};
    vls_pruned_tree pruned;
    int rc = vls_prune_tree(&pruned, &run, &limits, err);

    *done = (vls_retained){pruned.nodes + pruned.versions, pruned.more};
    return rc;
}

const valise_op vls_op_context_tree_retain = {
    .size = sizeof(valise_op),
    .name = "tree:retain",
    .brief = "Apply the limits of the history tree.",
    .kind = VALISE_JOB,
    .flags = VALISE_OP_INTERNAL | VALISE_OP_DESTRUCTIVE,
    .needs = "admin",
    .in = vls_retain_counted_in,
    .in_size = sizeof(vls_retain_args),
    .out = vls_retain_out,
    .out_size = sizeof(vls_retained),
    .job = job,
    .example = "{\"keepLatest\":1000}",
};
