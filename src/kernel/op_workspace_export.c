/* op_workspace_export.c -- workspace:export, everything or a part into one file. */
#include <assert.h>

#include "base/file.h"
#include "base/str.h"
#include "bus/bus.h"
#include "bus/job.h"
#include "kernel/bundle.h"

#define ATTEMPTS 5

typedef struct export_args {
    valise_str file;
    valise_list places; /* of valise_str */
    bool force;
} export_args;

static const valise_field place_item = {.type = VALISE_T_STR, .min = 1, .max = VLS_PLACE_MAX_BYTES};

static const valise_field export_in[] = {
    VALISE_FIELD_WITH(export_args, file, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "The file to write; may be a pipe or device.", .min = 1, .max = 4000),
    VALISE_FIELD_WITH(export_args, places, LIST, VALISE_POSITIONAL,
                      "Only these places, such as session/ID, and what they depend on.",
                      .more = &place_item, .max = VLS_BUNDLE_ROOTS_MAX),
    VALISE_FIELD(export_args, force, BOOL, 0, "Overwrite an existing file."),
    VALISE_FIELD_END,
};

typedef struct export_result {
    int64_t seq, rows, objects, erased, entries, blobs, bytes;
} export_result;

static const valise_field export_out[] = {
    VALISE_FIELD(export_result, seq, INT, 0, "The log seq whose state it holds."),
    VALISE_FIELD(export_result, rows, INT, 0, "Rows."),
    VALISE_FIELD(export_result, objects, INT, 0, "Objects."),
    VALISE_FIELD(export_result, erased, INT, 0, "Objects whose contents were erased before."),
    VALISE_FIELD(export_result, entries, INT, 0, "Log entries; a part has none."),
    VALISE_FIELD(export_result, blobs, INT, 0, "Blobs."),
    VALISE_FIELD(export_result, bytes, INT, 0, "Size of the file."),
    VALISE_FIELD_END,
};

typedef struct exporting {
    valise_job *job;
    const export_args *args;
    export_result *result;
    vls_file_out *output;
} exporting;

static int write_bundle(void *arg, valise_view *view, valise_error *err)
{
    const exporting *e = arg;
    vls_bundle_export how = {
        .view = view,
        .blobs = valise_job_workspace(e->job)->blobs,
        .roots = e->args->places.items,
        .root_count = e->args->places.count,
        .local = vls_kernel_local,
        .sink = vls_file_out_write,
        .arg = e->output,
        .progress = vls_job_progress(e->job),
    };
    vls_bundle_counts counts;
    vls_bundle_header header;
    int rc = vls_bundle_write(&counts, &header, &how, err);

    if (rc == 0)
        *e->result = (export_result){.seq = header.tip_seq,
                                     .rows = counts.rows,
                                     .objects = counts.objects,
                                     .erased = counts.erased,
                                     .entries = counts.entries,
                                     .blobs = counts.blobs,
                                     .bytes = (int64_t)counts.bytes};
    return rc;
}

static int attempt(exporting *e, const char *path, valise_error *err)
{
    valise *v = valise_job_workspace(e->job);
    int rc = vls_file_out_open(e->output, v->env, path, e->args->force, err);

    if (rc < 0)
        return rc;
    rc = vls_job_view(e->job, write_bundle, e, err);
    if (rc == 0)
        rc = vls_file_out_commit(e->output, err);
    vls_file_out_abort(e->output);
    return rc;
}

/* A blob may go while the bundle is written, and with it the chance to export that state. Only a
 * file can be begun again: what was written to a pipe is gone. */
static int job(valise_job *j, const void *in, void *result, valise_error *err)
{
    exporting e = {j, in, result, NULL};
    valise_error failure = VALISE_ERROR_INIT;
    const char *path = NULL;
    int rc = vls_path_text(&path, &j->arena, e.args->file, err);

    if (rc == 0 && vls_str_equal(e.args->file, VLS_STR("-"))) {
        rc = vls_fail(err, VALISE_E_INVALID, "'-' is no file: standard output has the answer");
        vls_hint(err, "for a pipe: valise export /dev/fd/3 3>&1 >/dev/null | ...; ./- is a file");
    }
    if (rc == 0)
        rc = valise_job_alloc((void **)&e.output, j, sizeof(*e.output), err);
    if (rc < 0)
        return rc;
    assert(e.output);
    for (int i = 0; i < ATTEMPTS; i++) {
        rc = attempt(&e, path, &failure);
        if (rc != VALISE_E_CONFLICT || e.output->direct)
            break;
    }
    if (rc < 0 && err)
        *err = failure;
    return rc;
}

const valise_op vls_op_kernel_workspace_export = {
    .size = sizeof(valise_op),
    .name = "workspace:export",
    .alias = "export",
    .brief = "Write the workspace, or parts of it, to a bundle file.",
    .help = "A bundle is one file with everything: rows, log, objects and blobs. The same state "
            "gives the same bytes. With places it holds only these, what they need and what "
            "belongs to them, and no log. Erased contents are not in it; contents that are erased "
            "later stay in it.\n\nTo send it through a pipe, keep the answer off standard output: "
            "valise export /dev/fd/3 3>&1 >/dev/null | ssh there valise import -",
    .kind = VALISE_JOB,
    .flags = VALISE_OP_READ_ONLY | VALISE_OP_IDEMPOTENT,
    .needs = "admin",
    .in = export_in,
    .in_size = sizeof(export_args),
    .out = export_out,
    .out_size = sizeof(export_result),
    .job = job,
    .example = "{\"file\":\"project.valise\"}",
};
