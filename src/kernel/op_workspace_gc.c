/* op_workspace_gc.c -- workspace:gc, let go of what nothing needs. */
#include "bus/bus.h"
#include "bus/job.h"
#include "kernel/kernel.h"
#include "kernel/packages.h"
#include "kernel/residue.h"
#include "kernel/retention.h"
#include "store/blob_care.h"
#include "store/gc.h"
#include "store/view.h"

#define GRACE_NS (INT64_C(14) * 24 * 3600 * 1000000000)

typedef struct gc_args {
    int64_t grace;
} gc_args;

static const valise_field gc_in[] = {
    VALISE_FIELD(
        gc_args, grace, DURATION, VALISE_NULLABLE,
        "Keep unreferenced data for this long (default: 14d); below 1h, writers have to wait."),
    VALISE_FIELD_END,
};

typedef struct gc_result {
    int64_t entries, rows, objects, chunks, blobs, strays, bytes, freed;
    valise_str residue;
} gc_result;

static const valise_field gc_out[] = {
    VALISE_FIELD(gc_result, entries, INT, 0, "Log entries that expired."),
    VALISE_FIELD(gc_result, rows, INT, 0, "Rows of other histories that expired."),
    VALISE_FIELD(gc_result, objects, INT, 0, "Objects that were removed."),
    VALISE_FIELD(gc_result, chunks, INT, 0, "Chunks that were removed."),
    VALISE_FIELD(gc_result, blobs, INT, 0, "Blobs that were removed."),
    VALISE_FIELD(gc_result, strays, INT, 0, "Files of blobs that were not put to their end."),
    VALISE_FIELD(gc_result, bytes, INT, 0, "What objects, chunks and blobs held."),
    VALISE_FIELD(gc_result, freed, INT, 0, "Bytes that the disk has back."),
    VALISE_FIELD(gc_result, residue, STR, VALISE_NULLABLE,
                 "Where bytes are left until a reader is done: \"wal\"."),
    VALISE_FIELD_END,
};

static int job(valise_job *j, const void *in, void *result, valise_error *err)
{
    const gc_args *args = in;
    gc_result *out = result;
    valise *v = valise_job_workspace(j);
    int64_t grace = args->grace == VALISE_NONE ? GRACE_NS : args->grace;
    vls_gc_result gc = {0};
    vls_blob_gc blobs = {0};
    vls_expired expired;
    int64_t left = 0, now = v->env->now_ns(v->env->self);
    bool more;
    int rc = vls_retention_apply(&expired, &more, v, 0, err);

    if (rc == 0)
        rc = vls_packages_collect(v, err); /* what they let go of may be all that named something */
    if (rc == 0)
        rc = vls_gc(&gc, v->store, grace, now, vls_job_progress(j), err);
    if (rc == 0 && v->blobs)
        rc = vls_blobs_collect(&blobs, v->store, v->blobs, grace, now, vls_job_progress(j), err);
    if (rc == 0)
        rc = vls_residue_finish(&left, v, err);
    *out = (gc_result){.entries = expired.entries,
                       .rows = expired.rows,
                       .objects = gc.objects,
                       .chunks = gc.chunks,
                       .blobs = blobs.blobs,
                       .strays = blobs.strays,
                       .bytes = gc.bytes + blobs.bytes,
                       .freed = gc.freed + blobs.bytes};
    if (left > 0)
        out->residue = VLS_STR("wal");
    return rc;
}

const valise_op vls_op_kernel_workspace_gc = {
    .size = sizeof(valise_op),
    .name = "workspace:gc",
    .alias = "gc",
    .brief = "Remove what nothing refers to and shrink the store.",
    .help = "Applies the retention limits, removes objects that neither a row nor the log refers "
            "to, chunks that no object is made of and blobs that no row refers to, and gives the "
            "space back to the disk. Others may keep writing meanwhile. The first gc after an "
            "erasure removes everything that was already unreferenced then, whatever --grace says, "
            "and writers wait.",
    .kind = VALISE_JOB,
    .flags = VALISE_OP_IDEMPOTENT | VALISE_OP_DESTRUCTIVE,
    .needs = "admin",
    .in = gc_in,
    .in_size = sizeof(gc_args),
    .out = gc_out,
    .out_size = sizeof(gc_result),
    .job = job,
    .example = "{\"grace\":\"1h\"}",
};
