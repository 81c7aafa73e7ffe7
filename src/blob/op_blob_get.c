/* op_blob_get.c -- blob:get, the bytes of a blob. [W9] [W11]
 *
 * Into a file they go piece by piece, and it has its name when all of them were verified; an answer
 * holds those of small ones. Only what has a record can be had: a hash alone opens no file that,
 * say, a checkpoint keeps for others. */
#include "base/file.h"
#include "base/str.h"
#include "blob/ops.h"
#include "bus/bus.h"
#include "bus/job.h"

static const valise_field get_in[] = {
    VALISE_FIELD_WITH(vls_blob_get_args, blob, ID, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "The blob, as sha256sum names it.", .ref = VLS_REF_BLOB),
    VALISE_FIELD_WITH(vls_blob_get_args, output, PATH, VALISE_NULLABLE,
                      "The file to write; may be a pipe or device.", .ref = "cli.file", .min = 1,
                      .max = 4000),
    VALISE_FIELD(vls_blob_get_args, force, BOOL, 0, "Overwrite an existing file."),
    VALISE_FIELD_END,
};

static const valise_field get_out[] = {
    VALISE_FIELD(vls_blob_got, sha256, ID, VALISE_REQUIRED, "SHA-256 of its bytes."),
    VALISE_FIELD(vls_blob_got, size, INT, VALISE_REQUIRED, "Its size in bytes."),
    VALISE_FIELD_AS(vls_blob_got, media_type, "mediaType", STR, VALISE_NULLABLE, "Its media type."),
    VALISE_FIELD(vls_blob_got, filename, STR, VALISE_NULLABLE, "Its file name."),
    VALISE_FIELD(vls_blob_got, data, BYTES, VALISE_NULLABLE,
                 "The bytes, where no file was given; 16 MiB at most."),
    VALISE_FIELD_END,
};

typedef struct getting {
    valise_job *job;
    const vls_blob_get_args *args;
    vls_blob_got *out;
} getting;

/* ---- what is known ---- */

static int look(void *arg, valise_view *view, valise_error *err)
{
    const getting *g = arg;
    vls_arena *arena = &g->job->arena;
    vls_blob_record row;
    int rc = vls_blob_record_of(&row, view, &g->args->blob, err);

    if (rc <= 0)
        return rc < 0 ? rc : vls_blob_fail_unknown(view, &g->args->blob, err);
    g->out->sha256 = row.sha256;
    g->out->size = row.size;
    rc = row.media_type.ptr ? vls_arena_dup(&g->out->media_type, arena, row.media_type, err) : 0;
    if (rc == 0 && row.filename.ptr)
        rc = vls_arena_dup(&g->out->filename, arena, row.filename, err);
    return rc;
}

/* ---- the bytes ---- */

static int into_answer(const getting *g, valise_error *err)
{
    valise *v = valise_job_workspace(g->job);
    VLS_AUTO(blob) valise_blob *blob = NULL;
    int rc;

    if (g->out->size > VLS_BLOB_DATA_MAX) {
        (void)vls_fail(err, VALISE_E_TOO_LARGE, "the blob has %lld bytes; an answer may have %lld",
                       (long long)g->out->size, (long long)VLS_BLOB_DATA_MAX);
        vls_hint(err, "write it to a file: valise blob get ID --output FILE");
        return VALISE_E_TOO_LARGE;
    }
    rc = vls_blobs_get(&blob, v->blobs, &g->args->blob, VLS_BLOB_DATA_MAX, err);
    return rc < 0 ? rc : vls_arena_dup(&g->out->data, &g->job->arena, valise_blob_bytes(blob), err);
}

static int copy(const getting *g, vls_blob_reader *reader, vls_file_out *output, valise_error *err)
{
    char *room = vls_arena_alloc(&g->job->arena, VLS_BLOB_PIECE_BYTES);
    size_t len = 0;
    int rc = 0;

    if (!room)
        return vls_arena_fail(&g->job->arena, err);
    valise_job_stage(g->job, "read", "bytes", vls_blob_reader_size(reader));
    do {
        rc = vls_blob_reader_read(&len, reader, room, VLS_BLOB_PIECE_BYTES, err);
        if (rc == 0 && len > 0)
            rc = vls_file_out_write(output, vls_str(room, len), err);
        if (rc == 0)
            rc = valise_job_step(g->job, len, err);
    } while (rc == 0 && len > 0);
    return rc;
}

static int into_file(const getting *g, valise_error *err)
{
    valise *v = valise_job_workspace(g->job);
    VLS_AUTO(blob_reader) vls_blob_reader *reader = NULL;
    vls_file_out *output = vls_arena_alloc(&g->job->arena, sizeof(*output));
    const char *path = NULL;
    int rc;

    if (!output)
        return vls_arena_fail(&g->job->arena, err);
    rc = vls_path_text(&path, &g->job->arena, g->args->output, err);
    if (rc == 0)
        rc = vls_blob_reader_open(&reader, v->blobs, &g->args->blob, err);
    if (rc == 0)
        rc = vls_file_out_open(output, v->env, path, g->args->force, err);
    if (rc < 0)
        return rc;
    rc = copy(g, reader, output, err);
    if (rc == 0)
        rc = vls_file_out_commit(output, err);
    vls_file_out_abort(output);
    return rc;
}

static int job(valise_job *j, const void *in, void *result, valise_error *err)
{
    getting g = {j, in, result};
    valise *v = valise_job_workspace(j);
    int rc = vls_job_view(j, look, &g, err);

    if (rc == 0)
        rc = vls_blobs_need(v->blobs, err);
    if (rc < 0)
        return rc;
    return g.args->output.ptr ? into_file(&g, err) : into_answer(&g, err);
}

const valise_op vls_op_blob_blob_get = {
    .size = sizeof(valise_op),
    .name = "blob:get",
    .brief = "Print or save the bytes of a blob.",
    .help = "Every byte is verified: damage on the disk is an error that names the blob. On the "
            "command line the bytes go to standard output, unless it is a terminal and they are "
            "not text.",
    .kind = VALISE_JOB,
    .flags = VALISE_OP_READ_ONLY | VALISE_OP_IDEMPOTENT,
    .needs = "blob:read",
    .in = get_in,
    .in_size = sizeof(vls_blob_get_args),
    .out = get_out,
    .out_size = sizeof(vls_blob_got),
    .job = job,
    .example = "{\"blob\":\"5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03\"}",
};
