/* op_workspace_repair.c -- workspace:repair, make again what can be made from the rest. */
#include "bus/index.h"
#include "bus/follow.h"
#include "bus/job.h"
#include "kernel/kernel.h"

typedef struct repair_result {
    int64_t store, indexes;
} repair_result;

static const valise_field repair_out[] = {
    VALISE_FIELD(repair_result, store, INT, 0, "Indexes of the store that were built anew."),
    VALISE_FIELD(repair_result, indexes, INT, 0, "Entries of memory indexes that were wrong."),
    VALISE_FIELD_END,
};

static int count_differences(void *arg, const vls_index_report *report, valise_error *err)
{
    (void)err;
    ((repair_result *)arg)->indexes += report->differences;
    return 0;
}

static int tick(void *arg, uint64_t rows, valise_error *err)
{
    (void)arg;
    (void)rows;
    (void)err;
    return 0;
}

static int job(valise_job *j, const void *args, void *result, valise_error *err)
{
    repair_result *out = result;
    valise *v = valise_job_workspace(j);
    const vls_index_sync how = {
        .swap = true, .tick = tick, .report = count_differences, .arg = out};
    vls_feed *feed;
    void *self;
    const valise_store_ops *ops = vls_store_ops(v->store, &self);
    int rc = vls_feed_need(&feed, v, err);

    (void)args;
    valise_job_stage(j, "repair", "", 0);
    if (rc == 0 && ops->maintain)
        rc = ops->maintain(&out->store, self, VALISE_MAINTAIN_REINDEX, err);
    return rc < 0 ? rc : vls_indexes_check(&feed->indexes, &how, err);
}

const valise_op vls_op_kernel_workspace_repair = {
    .size = sizeof(valise_op),
    .name = "workspace:repair",
    .alias = "repair",
    .brief = "Make again what can be made from the rest.",
    .help = "Builds the indexes of the store and those in memory anew. It does not touch objects, "
            "rows or the log: what is damaged there can only come from a bundle or a backup.",
    .kind = VALISE_JOB,
    .flags = VALISE_OP_IDEMPOTENT,
    .needs = "admin",
    .out = repair_out,
    .out_size = sizeof(repair_result),
    .job = job,
    .example = "{}",
};
