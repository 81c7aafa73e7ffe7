/* hoard.c -- how the bytes of files get into the store. See keep.h. */
#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "checkpoint/keep.h"
#include "store/view.h"

#define BATCH_BYTES ((int64_t)16 << 20)
#define ARENA_MAX ((size_t)256 << 20)

/* ---- opening ---- */

static int read_setting(int64_t *out, const valise *v, const char *name, valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};
    valise_str lines, line = {NULL, 0};
    int64_t most;
    int rc;

    *out = VLS_CHECKPOINT_MAX_FILE_USUAL;
    if (!v->place.setting)
        return 0;
    vls_buf_init(&text, v->env, 65536);
    rc = v->place.setting(&text, v, name, err);
    if (rc < 0)
        return rc;
    for (lines = vls_str_trim(vls_buf_str(&text)); lines.len > 0;)
        (void)vls_str_cut(&line, &lines, lines, '\n');
    if (vls_str_to_i64(&most, line) && most >= 0)
        *out = most;
    return 0;
}

int vls_hoard_open(vls_hoard *out, valise_job *job, vls_reach *reach, valise_error *err)
{
    vls_hoard h = {.job = job, .v = job->v, .reach = reach};
    int rc = read_setting(&h.max_file, job->v, VLS_CHECKPOINT_MAX_FILE, err);

    if (rc < 0)
        return rc;
    vls_arena_init(&h.arena, job->v->env, ARENA_MAX);
    *out = h;
    return 0;
}

void vls_hoard_close(vls_hoard *hoard)
{
    vls_arena_release(&hoard->arena);
    *hoard = (vls_hoard){.job = NULL};
}

/* ---- what is stored already ---- */

typedef struct asking {
    vls_survey *survey;
    int64_t max_file;
} asking;

static int ask_all(void *arg, valise_view *view, valise_error *err)
{
    const asking *a = arg;
    vls_tree_content_row row;

    for (size_t i = 0; i < a->survey->items.len; i++) {
        vls_spot *s = &a->survey->items.ptr[i];
        int rc = 0;
        s->lack = vls_manifest_is_reserved(s->path)     ? VLS_LACK_NAME
                  : s->node.kind == VLS_NODE_UNREADABLE ? VLS_LACK_UNREADABLE
                                                        : VLS_LACK_NONE;
        if (s->node.kind != VLS_NODE_FILE || s->lack != VLS_LACK_NONE)
            continue;
        rc = vls_tree_content_get(&row, view, &s->node.content, err);
        if (rc < 0)
            return rc;
        s->known = rc == 1;
        if (!s->known && s->node.size > a->max_file)
            s->lack = VLS_LACK_SIZE;
    }
    return 0;
}

int vls_hoard_known(vls_survey *survey, const vls_hoard *hoard, valise_error *err)
{
    asking a = {survey, hoard->max_file};

    return vls_with_view(hoard->v, NULL, ask_all, &a, err);
}

/* ---- the batch ---- */

int vls_hoard_flush(vls_hoard *h, valise_error *err)
{
    const vls_checkpoint_store_args args = {{h->batch.ptr, h->batch.len}};
    int rc;

    if (h->batch.len == 0)
        return 0;
    rc = vls_job_run(h->job, &vls_op_checkpoint_checkpoint_store, &args, NULL, NULL, err);
    vls_arena_reset(&h->arena);
    h->batch.ptr = NULL;
    h->batch.len = h->batch.cap = 0;
    h->batch_bytes = 0;
    return rc;
}

static int add(vls_hoard *h, const valise_id *hash, int64_t size, valise_str bytes,
               valise_error *err)
{
    vls_checkpoint_content *c = vls_arena_zalloc(&h->arena, sizeof(*c));

    if (!c)
        return vls_arena_fail(&h->arena, err);
    *c = (vls_checkpoint_content){.hash = *hash, .size = size, .data = {.bytes = bytes}};
    if (!bytes.ptr)
        c->data.size = VALISE_NONE;
    if (!vls_vec_push_in(&h->batch, &h->arena, c))
        return vls_arena_fail(&h->arena, err);
    h->stored++;
    h->stored_bytes += size;
    h->batch_bytes += (int64_t)bytes.len;
    return h->batch_bytes >= BATCH_BYTES || h->batch.len >= VLS_CHECKPOINT_BATCH
               ? vls_hoard_flush(h, err)
               : 0;
}

/* ---- one file ---- */

/* All of it and, where it has more than it had when it was opened, one byte of that. 2: it cannot
 * be read. */
static int read_all(valise_str *out, vls_hoard *h, int fd, size_t size, valise_error *err)
{
    char *room = vls_arena_alloc(&h->arena, size + 1);
    size_t len = 0;

    if (!room)
        return vls_arena_fail(&h->arena, err);
    while (len < size + 1) {
        ssize_t got = vls_fd_read(fd, room + len, size + 1 - len);
        if (got < 0)
            return 2;
        if (got == 0)
            break;
        len += (size_t)got;
    }
    *out = vls_str(room, len);
    return 0;
}

/* Small: its bytes are in memory, to be added. Large: they are in the blob store. 1: it changed; 2:
 * it cannot be read. */
static int read_file(valise_id *hash, int64_t *size, valise_str *bytes, vls_hoard *h, int fd,
                     valise_str path, valise_error *err)
{
    uint64_t blob_size = 0;
    struct stat st;
    int rc;

    if (fstat(fd, &st) < 0)
        return vls_fail_errno(err, "stat", path);
    if (!S_ISREG(st.st_mode))
        return 1;
    *bytes = (valise_str){NULL, 0};
    if (st.st_size > VLS_CHECKPOINT_OBJECT_MAX) {
        rc = vls_blobs_put_fd(hash, &blob_size, h->v->blobs, fd, (uint64_t)VLS_MAX(h->max_file, 0),
                              err);
        *size = (int64_t)blob_size;
        if ((rc == 0 && *size <= VLS_CHECKPOINT_OBJECT_MAX) || rc == VALISE_E_TOO_LARGE)
            return 1; /* it became shorter, or longer than it may be */
        return rc;
    }
    rc = read_all(bytes, h, fd, (size_t)st.st_size, err);
    if (rc != 0)
        return rc;
    if (bytes->len != (size_t)st.st_size)
        return 1;
    *size = st.st_size;
    vls_hash_bytes(hash, *bytes);
    return 0;
}

int vls_hoard_fd(valise_id *hash, int64_t *size, vls_hoard *h, int fd, valise_str path,
                 valise_error *err)
{
    valise_str bytes;
    int rc = read_file(hash, size, &bytes, h, fd, path, err);

    if (rc > 0)
        rc = vls_fail(err, VALISE_E_CONFLICT, "it changed while it was read, or cannot be read");
    return rc < 0 ? rc : add(h, hash, *size, bytes, err);
}

int vls_hoard_file(vls_hoard *h, const vls_spot *seen, valise_error *err)
{
    vls_arena_mark mark = vls_arena_here(&h->arena);
    char name[VLS_NODE_NAME_MAX + 1];
    VLS_AUTO(fd) int fd = -1;
    valise_str bytes;
    valise_id hash;
    int64_t size = 0;
    int dir, rc = vls_reach_parent(&dir, name, h->reach, seen->path, err);

    if (rc <= 0)
        return rc < 0 ? rc : 1;
    fd = vls_fd_open_at(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
    if (fd < 0 && (errno == ENOENT || errno == ELOOP || errno == ENXIO))
        return 1;
    if (fd < 0) /* with no descriptors left nothing at all can be read */
        return errno == EMFILE || errno == ENFILE || errno == ENOMEM
                   ? vls_fail_errno(err, "open", seen->path)
                   : 2;
    rc = read_file(&hash, &size, &bytes, h, fd, seen->path, err);
    if (rc == 0 && !vls_id_equal(&hash, &seen->node.content))
        rc = 1;
    if (rc != 0) {
        vls_arena_rewind(&h->arena, mark);
        return rc;
    }
    return add(h, &hash, size, bytes, err);
}

/* ---- is it there? ---- */

typedef struct proving {
    const vls_hoard *hoard;
    const vls_spot *seen;
} proving;

/* A reader verifies what it has read when it comes to the end. */
static int prove_blob(const proving *p, const valise_id *id, valise_error *err)
{
    VLS_AUTO(blob_reader) vls_blob_reader *reader = NULL;
    char buffer[32 * 1024];
    size_t len = 1;
    int rc = vls_blob_reader_open(&reader, p->hoard->v->blobs, id, err);

    while (rc == 0 && len > 0)
        rc = vls_blob_reader_read(&len, reader, buffer, sizeof(buffer), err);
    return rc < 0 ? rc : vls_id_equal(id, &p->seen->node.content);
}

static int prove_object(const proving *p, valise_view *view, const valise_id *id, valise_error *err)
{
    VLS_AUTO(blob) valise_blob *blob = NULL;
    valise_id hash = {{0}};
    int rc = vls_view_blob(&blob, view, id, err);

    if (rc == 0)
        vls_hash_bytes(&hash, valise_blob_bytes(blob));
    return rc < 0 ? rc : vls_id_equal(&hash, &p->seen->node.content);
}

static int prove(void *arg, valise_view *view, valise_error *err)
{
    const proving *p = arg;
    vls_tree_content_row row;
    int rc = vls_tree_content_get(&row, view, &p->seen->node.content, err);

    if (rc != 1)
        return vls_settle(rc);
    return vls_id_is_none(&row.blob) ? prove_object(p, view, &row.object, err)
                                     : prove_blob(p, &row.blob, err);
}

int vls_hoard_has(const vls_hoard *h, const vls_spot *seen, valise_error *err)
{
    proving p = {h, seen};
    int rc = vls_with_view(h->v, NULL, prove, &p, err);

    if (rc != VALISE_E_CORRUPT && rc != VALISE_E_NOT_FOUND && rc != VALISE_E_IO)
        return rc;
    vls_error_clear(err);
    return 0;
}
