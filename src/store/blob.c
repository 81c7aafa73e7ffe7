/* blob.c -- blobs: pieces between a source and a backend, hashed as they pass. */
#include "store/blob.h"

#include "base/fd.h"
#include "base/hex.h"
#include "base/mem.h"
#include "base/str.h"

struct vls_blobs {
    const valise_env *env;
    valise_blob_store_ops ops; /* a copy: what a shorter table lacks is NULL */
    void *self;
    bool read_only;
};

struct vls_blob_reader {
    vls_blobs *blobs;
    vls_hasher hasher; /* running until the bytes are verified */
    void *reader;      /* the backend's */
    valise_id id;
    uint64_t size, left;
    int failed; /* sticks */
};

/* ---- opening ---- */

static int check_ops(const valise_blob_store_ops *ops, valise_error *err)
{
    if (ops->size < offsetof(valise_blob_store_ops, clean))
        return vls_fail(err, VALISE_E_INVALID, "a blob store's table has %zu bytes, not %zu",
                        ops->size, sizeof(*ops));
    if (ops->abi != VALISE_BLOB_STORE_ABI)
        return vls_fail(err, VALISE_E_UNSUPPORTED, "blob store '%s' has ABI %u; this is ABI %u",
                        ops->name ? ops->name : "", (unsigned)ops->abi, VALISE_BLOB_STORE_ABI);
    if (!ops->name || !ops->open || !ops->close || !ops->put_begin || !ops->put_write ||
        !ops->put_commit || !ops->put_abort || !ops->read_open || !ops->read_some ||
        !ops->read_close || !ops->stat || !ops->remove || !ops->list)
        return vls_fail(err, VALISE_E_INVALID, "blob store '%s' lacks a name or a function",
                        ops->name ? ops->name : "");
    return 0;
}

int vls_blobs_open(vls_blobs **out, const vls_blobs_options *options, valise_error *err)
{
    valise_blob_store_open how = {sizeof(how), options->where, options->flags, options->env};
    vls_blobs *blobs;
    int rc = check_ops(options->ops, err);

    if (rc < 0)
        return rc;
    blobs = vls_mem_zalloc(options->env, sizeof(*blobs));
    if (!blobs)
        return vls_fail_memory(err);
    blobs->env = options->env;
    blobs->read_only = options->flags & VALISE_BLOB_STORE_READ_ONLY;
    memcpy(&blobs->ops, options->ops, VLS_MIN(options->ops->size, sizeof(blobs->ops)));
    rc = blobs->ops.open(&blobs->self, &how, err);
    if (rc < 0) {
        vls_mem_free(blobs->env, blobs, sizeof(*blobs));
        return rc;
    }
    *out = blobs;
    return 0;
}

void vls_blobs_close(vls_blobs *blobs)
{
    if (!blobs)
        return;
    blobs->ops.close(blobs->self);
    vls_mem_free(blobs->env, blobs, sizeof(*blobs));
}

int vls_blobs_need(const vls_blobs *blobs, valise_error *err)
{
    return blobs ? 0 : vls_fail(err, VALISE_E_UNSUPPORTED, "this workspace has no blob storage");
}

static int check_writable(const vls_blobs *blobs, valise_error *err)
{
    return blobs->read_only ? vls_fail(err, VALISE_E_DENIED, "the blobs are open for reading only")
                            : 0;
}

/* ---- in ---- */

/* One put on its way. */
typedef struct intake {
    vls_blobs *blobs;
    vls_blob_source *source;
    void *arg;
    uint64_t max_bytes, size_bytes;
    vls_hasher hasher;
    char *room; /* for one piece */
    void *put;  /* the backend's */
} intake;

static int begin_intake(intake *in, valise_error *err)
{
    vls_blobs *blobs = in->blobs;

    in->room = vls_mem_alloc(blobs->env, VLS_BLOB_PIECE_BYTES);
    if (!in->room)
        return vls_fail_memory(err);
    vls_hash_begin(&in->hasher);
    return blobs->ops.put_begin(&in->put, blobs->self, err);
}

/* Piece by piece until the source has no more. */
static int copy_in(intake *in, valise_error *err)
{
    for (;;) {
        size_t len = 0;
        int rc = in->source(&len, in->arg, in->room, VLS_BLOB_PIECE_BYTES, err);
        if (rc < 0 || len == 0)
            return rc;
        assert(len <= VLS_BLOB_PIECE_BYTES);
        if (len > in->max_bytes - in->size_bytes)
            return vls_fail(err, VALISE_E_TOO_LARGE, "a blob is larger than its limit of %ju bytes",
                            (uintmax_t)in->max_bytes);
        in->size_bytes += len;
        vls_hash_update(&in->hasher, vls_str(in->room, len));
        rc = in->blobs->ops.put_write(in->put, vls_str(in->room, len), err);
        if (rc < 0)
            return rc;
    }
}

static int take_in(valise_id *id, intake *in, valise_error *err)
{
    int rc = begin_intake(in, err);

    if (rc == 0)
        rc = copy_in(in, err);
    if (rc == 0) {
        vls_hash_end(id, &in->hasher);
        return in->blobs->ops.put_commit(VLS_TAKE(in->put), id, err);
    }
    if (in->put)
        in->blobs->ops.put_abort(in->put);
    return rc;
}

int vls_blobs_put(valise_id *id, uint64_t *size_bytes, vls_blobs *blobs, vls_blob_source *source,
                  void *arg, uint64_t max_bytes, valise_error *err)
{
    intake in = {.blobs = blobs, .source = source, .arg = arg, .max_bytes = max_bytes};
    valise_id hash;
    int rc = check_writable(blobs, err);

    if (rc < 0)
        return rc;
    rc = take_in(&hash, &in, err);
    vls_mem_free(blobs->env, in.room, VLS_BLOB_PIECE_BYTES);
    if (rc < 0)
        return rc;
    *id = hash;
    if (size_bytes)
        *size_bytes = in.size_bytes;
    return 0;
}

static int read_fd(size_t *len, void *arg, void *room, size_t room_bytes, valise_error *err)
{
    ssize_t got = vls_fd_read(*(const int *)arg, room, room_bytes);

    if (got < 0)
        return vls_fail_errno(err, "cannot read what is to become", VLS_STR("a blob"));
    *len = (size_t)got;
    return 0;
}

int vls_blobs_put_fd(valise_id *id, uint64_t *size_bytes, vls_blobs *blobs, int fd,
                     uint64_t max_bytes, valise_error *err)
{
    return vls_blobs_put(id, size_bytes, blobs, read_fd, &fd, max_bytes, err);
}

static int read_bytes(size_t *len, void *arg, void *room, size_t room_bytes, valise_error *err)
{
    valise_str *rest = arg;

    (void)err;
    *len = VLS_MIN(rest->len, room_bytes);
    if (*len)
        memcpy(room, rest->ptr, *len);
    *rest = vls_str_from(*rest, *len);
    return 0;
}

int vls_blobs_put_bytes(valise_id *id, vls_blobs *blobs, valise_str bytes, valise_error *err)
{
    return vls_blobs_put(id, NULL, blobs, read_bytes, &bytes, bytes.len, err);
}

/* ---- out ---- */

int vls_blob_reader_open(vls_blob_reader **out, vls_blobs *blobs, const valise_id *id,
                         valise_error *err)
{
    VLS_AUTO(blob_reader) vls_blob_reader *reader = NULL;
    int rc;

    reader = vls_mem_zalloc(blobs->env, sizeof(*reader));
    if (!reader)
        return vls_fail_memory(err);
    reader->blobs = blobs;
    reader->id = *id;
    rc = blobs->ops.read_open(&reader->reader, &reader->size, blobs->self, id, err);
    if (rc < 0)
        return rc;
    reader->left = reader->size;
    vls_hash_begin(&reader->hasher);
    *out = VLS_TAKE(reader);
    return 0;
}

void vls_blob_reader_close(vls_blob_reader *reader)
{
    if (!reader)
        return;
    vls_blobs *blobs = reader->blobs;
    if (reader->reader)
        blobs->ops.read_close(reader->reader);
    vls_mem_free(blobs->env, reader, sizeof(*reader));
}

uint64_t vls_blob_reader_size(const vls_blob_reader *reader)
{
    return reader->size;
}

static int fail_damaged(const vls_blob_reader *reader, valise_error *err)
{
    if (reader->left > 0)
        (void)vls_fail(err, VALISE_E_CORRUPT, "blob %s is damaged: %ju of %ju bytes are missing",
                       vls_id_hex(&reader->id).s, (uintmax_t)reader->left, (uintmax_t)reader->size);
    else
        (void)vls_fail(err, VALISE_E_CORRUPT, "blob %s is damaged: its bytes have changed",
                       vls_id_hex(&reader->id).s);
    vls_hint(err, "register the same file again, or restore the blob from a backup");
    return VALISE_E_CORRUPT;
}

/* All bytes were read: are they the ones? */
static int verify(vls_blob_reader *reader, valise_error *err)
{
    valise_id actual;

    vls_hash_end(&actual, &reader->hasher);
    return vls_id_equal(&actual, &reader->id) ? 0 : fail_damaged(reader, err);
}

static int read_piece(size_t *len, vls_blob_reader *reader, void *room, size_t room_bytes,
                      valise_error *err)
{
    size_t want = (size_t)VLS_MIN(reader->left, room_bytes), got = 0;
    int rc = 0;

    if (want > 0) {
        rc = reader->blobs->ops.read_some(&got, reader->reader, room, want, err);
        if (rc < 0)
            return rc;
        assert(got <= want);
        if (got == 0)
            return fail_damaged(reader, err);
        vls_hash_update(&reader->hasher, vls_str(room, got));
        reader->left -= got;
    }
    if (reader->left == 0 && reader->hasher.running)
        rc = verify(reader, err);
    if (rc == 0)
        *len = got;
    return rc;
}

int vls_blob_reader_read(size_t *len, vls_blob_reader *reader, void *room, size_t room_bytes,
                         valise_error *err)
{
    assert(room_bytes > 0);
    if (reader->failed == VALISE_E_CORRUPT)
        return fail_damaged(reader, err);
    if (reader->failed)
        return vls_fail(err, reader->failed, "an earlier read of blob %s failed",
                        vls_id_hex(&reader->id).s);
    int rc = read_piece(len, reader, room, room_bytes, err);
    if (rc < 0)
        reader->failed = rc;
    return rc;
}

int vls_blobs_get(valise_blob **out, vls_blobs *blobs, const valise_id *id, size_t max_bytes,
                  valise_error *err)
{
    VLS_AUTO(blob_reader) vls_blob_reader *reader = NULL;
    VLS_AUTO(blob) valise_blob *blob = NULL;
    size_t at = 0, len = 0;
    int rc = vls_blob_reader_open(&reader, blobs, id, err);

    if (rc < 0)
        return rc;
    if (reader->size > max_bytes)
        return vls_fail(err, VALISE_E_TOO_LARGE, "blob %s has %ju bytes; the limit is %zu",
                        vls_id_hex(id).s, (uintmax_t)reader->size, max_bytes);
    rc = vls_blob_new_draft(&blob, blobs->env, (size_t)reader->size, err);
    if (rc < 0)
        return rc;
    do {
        /* At the end there is a byte of room too: an empty blob is verified like all others. */
        char end;
        size_t left = (size_t)reader->size - at;
        rc = vls_blob_reader_read(&len, reader, left ? vls_blob_draft(blob) + at : &end,
                                  left ? left : 1, err);
        if (rc < 0)
            return rc;
        at += len;
    } while (len > 0);
    vls_blob_seal(blob);
    *out = VLS_TAKE(blob);
    return 0;
}

/* ---- the rest ---- */

int vls_blobs_size(uint64_t *size_bytes, vls_blobs *blobs, const valise_id *id, valise_error *err)
{
    return blobs->ops.stat(size_bytes, blobs->self, id, err);
}

int vls_blobs_exists(bool *out, vls_blobs *blobs, const valise_id *id, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    uint64_t size;
    int rc = blobs->ops.stat(&size, blobs->self, id, &why);

    if (rc < 0 && rc != VALISE_E_NOT_FOUND) {
        if (err)
            *err = why;
        return rc;
    }
    *out = rc == 0;
    return 0;
}

int vls_blobs_remove(vls_blobs *blobs, const valise_id *id, valise_error *err)
{
    int rc = check_writable(blobs, err);

    return rc < 0 ? rc : blobs->ops.remove(blobs->self, id, err);
}

int vls_blobs_list(vls_blobs *blobs, valise_blob_list_fn *fn, void *arg, valise_error *err)
{
    return blobs->ops.list(blobs->self, fn, arg, err);
}

int vls_blobs_clean(uint64_t *removed, vls_blobs *blobs, int64_t min_age_ns, valise_error *err)
{
    uint64_t count = 0;
    int rc = check_writable(blobs, err);

    if (rc == 0 && blobs->ops.clean)
        rc = blobs->ops.clean(&count, blobs->self, min_age_ns, err);
    if (rc == 0 && removed)
        *removed = count;
    return rc;
}

int vls_blobs_time(int64_t *time_ns, vls_blobs *blobs, const valise_id *id, valise_error *err)
{
    int rc = blobs->ops.time ? blobs->ops.time(time_ns, blobs->self, id, err) : 0;

    return rc < 0 ? rc : blobs->ops.time != NULL;
}

int vls_blobs_strays(vls_blobs *blobs, valise_blob_stray_fn *fn, void *arg, valise_error *err)
{
    return blobs->ops.strays ? blobs->ops.strays(blobs->self, fn, arg, err) : 0;
}
