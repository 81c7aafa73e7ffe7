/* op_workspace_sync.c -- workspace:sync, build the memory indexes anew and compare. */
#include "bus/follow.h"
#include "kernel/kernel.h"
#include "kernel/packages.h"

typedef struct sync_row {
    valise_str name, example;
    int64_t seq, entries, differences, duplicates;
} sync_row;

static const valise_field sync_out[] = {
    VALISE_FIELD(sync_row, name, STR, 0, "Name of the index."),
    VALISE_FIELD(sync_row, seq, INT, 0, "The state it shows now."),
    VALISE_FIELD(sync_row, entries, INT, 0, "How many entries it has."),
    VALISE_FIELD(sync_row, differences, INT, 0,
                 "Entries in which what was in memory differed; there must be none."),
    VALISE_FIELD(sync_row, duplicates, INT, 0,
                 "Entries whose key another row has too; there must be none."),
    VALISE_FIELD(sync_row, example, STR, 0, "A key for which one of the two is so."),
    VALISE_FIELD_END,
};

typedef struct syncing {
    valise_job *job;
    valise_error failure; /* of the first index that cannot be built */
} syncing;

static int tick(void *arg, uint64_t rows, valise_error *err)
{
    return valise_job_step(((syncing *)arg)->job, rows, err);
}

static int report(void *arg, const vls_index_report *r, valise_error *err)
{
    syncing *s = arg;
    sync_row row = {.name = valise_str_of(r->name),
                    .example = valise_str_of(r->example),
                    .seq = r->seq,
                    .entries = r->entries,
                    .differences = r->differences,
                    .duplicates = r->duplicates};

    if (r->failure.code == 0)
        return valise_job_emit(s->job, &row, err);
    if (s->failure.code == 0)
        s->failure = r->failure;
    return 0;
}

/* Files that areas make from rows: the same questions. */
static int report_files(void *arg, const valise_projection *p, valise_error *err)
{
    const syncing *s = arg;
    sync_row row = {.name = valise_str_of(p->name),
                    .example = valise_str_of(p->damage[0] ? p->damage : p->example),
                    .seq = p->seq,
                    .entries = p->entries,
                    .differences = p->differences + (p->damage[0] != '\0')};

    return p->seq == 0 ? 0 : valise_job_emit(s->job, &row, err);
}

static int sync_job(valise_job *job, const void *args, void *result, valise_error *err)
{
    syncing s = {.job = job};
    const vls_index_sync how = {.swap = true, .tick = tick, .report = report, .arg = &s};
    vls_feed *feed;
    uint64_t rows = 0;
    int rc = vls_feed_need(&feed, valise_job_workspace(job), err);

    (void)args;
    (void)result;
    if (rc < 0)
        return rc;
    rc = vls_indexes_rows(&rows, &feed->indexes, err);
    if (rc < 0)
        return rc;
    valise_job_stage(job, "build indexes", "rows", rows);
    rc = vls_indexes_check(&feed->indexes, &how, err);
    if (rc == 0)
        rc = vls_packages_verify(valise_job_workspace(job), true, report_files, &s, err);
    if (rc < 0 || s.failure.code == 0)
        return rc;
    if (err)
        *err = s.failure;
    return s.failure.code;
}

const valise_op vls_op_kernel_workspace_sync = {
    .size = sizeof(valise_op),
    .name = "workspace:sync",
    .alias = "sync",
    .brief = "Rebuild the in-memory indexes and compare them with the old ones.",
    .help = "Indexes follow each command, so there should be no difference. Nothing that is stored "
            "changes, except the search index if it differs.",
    .kind = VALISE_JOB,
    .flags = VALISE_OP_LIST | VALISE_OP_READ_ONLY | VALISE_OP_IDEMPOTENT,
    .needs = "index:read",
    .out = sync_out,
    .out_size = sizeof(sync_row),
    .job = sync_job,
    .example = "{}",
};
