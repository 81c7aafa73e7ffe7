/* op_blob_register.c -- blob:register, take a file in and hold it. [W9] [W11]
 *
 *     put      piece by piece into the blob store: memory does not grow with the file
 *     record   the command blob:record, which makes the rows
 *
 * Where the command finds no file, since the last holder of the same bytes let go of them in
 * between, both are done again; but for a pipe, which can be read only once. */
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "base/utf8.h"
#include "blob/ops.h"
#include "blob/put.h"
#include "bus/bus.h"
#include "bus/command.h"
#include "bus/job.h"

static const valise_field register_in[] = {
    VALISE_FIELD_WITH(vls_blob_register_args, path, PATH, VALISE_NULLABLE | VALISE_POSITIONAL,
                      "The file, or - for standard input.", .ref = "input", .min = 1, .max = 4000),
    VALISE_FIELD(vls_blob_register_args, data, BYTES, VALISE_NULLABLE,
                 "Instead of a file: the bytes."),
    VALISE_FIELD_AS_WITH(vls_blob_register_args, media_type, "mediaType", STR, VALISE_NULLABLE,
                         "Media type, such as image/png (default: detected).", .min = 1,
                         .max = VLS_BLOB_MEDIA_TYPE_MAX),
    VALISE_FIELD_WITH(vls_blob_register_args, filename, STR, VALISE_NULLABLE,
                      "File name of the blob (default: that of the file).", .min = 1,
                      .max = VLS_BLOB_FILENAME_MAX),
    VLS_BLOB_HOLD_FIELD(vls_blob_register_args),
    VALISE_FIELD_END,
};

static const valise_field register_out[] = {
    VALISE_FIELD(vls_blob_registered, sha256, ID, VALISE_REQUIRED, "SHA-256 of its bytes."),
    VALISE_FIELD(vls_blob_registered, size, INT, VALISE_REQUIRED, "Its size in bytes."),
    VALISE_FIELD_AS(vls_blob_registered, media_type, "mediaType", STR, VALISE_NULLABLE,
                    "Its media type."),
    VALISE_FIELD(vls_blob_registered, filename, STR, VALISE_NULLABLE, "Its file name."),
    VALISE_FIELD(vls_blob_registered, taken, BOOL, 0, "The hold is a new one."),
    VALISE_FIELD(vls_blob_registered, count, INT, 0, "How many hold it now."),
    VALISE_FIELD_END,
};

typedef struct registering {
    valise_job *job;
    const vls_blob_register_args *args;
    int fd;          /* -1: from data */
    int own_fd;      /* that was opened here, or -1 */
    valise_str name; /* ptr NULL: it has none */
    off_t start;     /* of fd; -1: it cannot be read again */
    vls_blob_told told;
} registering;

static int check_args(const vls_blob_register_args *a, valise_error *err)
{
    if ((a->path.ptr != NULL) + (a->data.ptr != NULL) + (a->fd != NULL) == 1)
        return 0;
    (void)vls_fail(err, VALISE_E_INVALID, "give either a file or the bytes");
    vls_hint(err, "valise blob register FILE");
    return VALISE_E_INVALID;
}

static int open_source(registering *r, valise_error *err)
{
    const vls_blob_register_args *a = r->args;
    valise_str name = a->path.ptr ? vls_blob_name_of(a->path) : (valise_str){NULL, 0};
    int rc = 0;

    r->name = a->filename;
    if (a->fd) {
        r->fd = *a->fd;
    } else if (a->path.ptr) {
        rc = vls_blob_open_file(&r->own_fd, a->path, err);
        r->fd = r->own_fd;
    }
    /* What comes through a pipe has a name, but not that of what it is. */
    if (rc > 0 && !r->name.ptr && name.len > 0 && name.len <= VLS_BLOB_FILENAME_MAX &&
        vls_utf8_valid(name))
        r->name = name;
    r->start = r->fd >= 0 ? lseek(r->fd, 0, SEEK_CUR) : 0;
    return vls_settle(rc);
}

static int put(registering *r, valise_error *err)
{
    valise *v = valise_job_workspace(r->job);
    const vls_blob_input input = {.blobs = v->blobs,
                                  .bytes = r->fd < 0 ? r->args->data : (valise_str){NULL, 0},
                                  .fd = r->fd,
                                  .progress = vls_job_progress(r->job)};
    struct stat st = {0};
    uint64_t total = r->args->data.len;
    int rc = vls_blobs_need(v->blobs, err);

    if (rc < 0)
        return rc;
    if (r->fd >= 0 && fstat(r->fd, &st) == 0 && S_ISREG(st.st_mode))
        total = (uint64_t)st.st_size;
    valise_job_stage(r->job, "register", "bytes", total);
    rc = vls_blob_put(&r->told, &input, err);
    if (rc == 0 && r->args->media_type.ptr)
        r->told.media_type = r->args->media_type;
    r->told.filename = r->name;
    return rc;
}

static int record(vls_blob_held *out, registering *r, valise_error *err)
{
    const vls_blob_record_args args = {.blob = r->told.sha256,
                                       .size = r->told.size,
                                       .media_type = r->told.media_type,
                                       .filename = r->told.filename,
                                       .hold = r->args->hold};

    return vls_job_run(r->job, &vls_op_blob_blob_record, &args, out, NULL, err);
}

/* Both, and again where the file went in between. */
static int put_and_record(vls_blob_held *out, registering *r, valise_error *err)
{
    int rc = VALISE_E_NOT_FOUND;

    for (unsigned i = 0; rc == VALISE_E_NOT_FOUND && i < VLS_RECEIVE_TRIES; i++) {
        if (i > 0 && r->fd >= 0 && (r->start < 0 || lseek(r->fd, r->start, SEEK_SET) < 0))
            break; /* a pipe: the message of the last time says what to do */
        rc = put(r, err);
        if (rc == 0)
            rc = record(out, r, err);
    }
    return rc;
}

static int copy(valise_str *out, valise_job *job, valise_str s, valise_error *err)
{
    return s.ptr ? vls_arena_dup(out, &job->arena, s, err) : 0;
}

static int job(valise_job *j, const void *in, void *result, valise_error *err)
{
    registering r = {.job = j, .args = in, .fd = -1, .own_fd = -1};
    vls_blob_registered *out = result;
    vls_blob_held held = {.count = 0};
    int rc = check_args(in, err);

    if (rc == 0)
        rc = open_source(&r, err);
    if (rc == 0)
        rc = put_and_record(&held, &r, err);
    if (rc == 0) {
        *out = (vls_blob_registered){.sha256 = r.told.sha256,
                                     .size = r.told.size,
                                     .taken = held.changed,
                                     .count = held.count};
        rc = copy(&out->media_type, j, r.told.media_type, err);
    }
    if (rc == 0)
        rc = copy(&out->filename, j, r.told.filename, err);
    (void)vls_fd_close(r.own_fd);
    return rc;
}

const valise_op vls_op_blob_blob_register = {
    .size = sizeof(valise_op),
    .name = "blob:register",
    .brief = "Add a file as a blob.",
    .help = "The same bytes are stored once, under the hash that sha256sum prints. Files may be of "
            "any size. A blob stays as long as something holds it: a turn, a context entry, or a "
            "named hold, which `valise blob release` ends.",
    .kind = VALISE_JOB,
    .flags = VALISE_OP_IDEMPOTENT,
    .needs = "blob:write",
    .in = register_in,
    .in_size = sizeof(vls_blob_register_args),
    .out = register_out,
    .out_size = sizeof(vls_blob_registered),
    .job = job,
    .example = "{\"data\":\"aGVsbG8K\",\"filename\":\"hello.txt\"}",
};
