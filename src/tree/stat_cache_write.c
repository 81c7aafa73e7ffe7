/* stat_cache_write.c -- writing a cache, piece by piece from the bottom up; see stat_cache.h.
 *
 * The header comes last: until then there are zeros in its place, and a file that was not finished
 * is none. */
#include "tree/stat_cache.h"

#include <errno.h>
#include <unistd.h>

#include "base/fd.h"
#include "tree/stat_cache_impl.h"

#define FLUSH_SIZE ((size_t)256 * 1024)

void vls_cache_write_begin(vls_cache_writer *w, const valise_env *env, int fd)
{
    static const vls_cache_header nothing;

    *w = (vls_cache_writer){.fd = fd, .pos = sizeof(nothing)};
    vls_buf_init(&w->buf, env, SIZE_MAX / 2);
    vls_buf_add(&w->buf, vls_str(&nothing, sizeof(nothing)));
}

void vls_cache_write_release(vls_cache_writer *w)
{
    vls_buf_release(&w->buf);
}

static void write_out(vls_cache_writer *w, valise_str bytes)
{
    if (w->error == 0 && vls_fd_write_all(w->fd, bytes) < 0)
        w->error = errno;
}

static void flush(vls_cache_writer *w)
{
    if (w->fd < 0 || w->buf.failed)
        return;
    write_out(w, vls_buf_str(&w->buf));
    vls_buf_clear(&w->buf);
}

void vls_cache_write_dir(vls_cache_writer *w, uint32_t count, uint32_t text_len)
{
    vls_cache_record record = {.count = count, .text_len = text_len};
    char *room;

    if (w->buf.len > FLUSH_SIZE)
        flush(w);
    w->start = w->pos;
    w->at = w->buf.len;
    w->size = vls_cache_record_size(count, text_len);
    w->count = count;
    w->entries = w->text = 0;
    room = vls_buf_reserve(&w->buf, w->size);
    if (!room)
        return;
    memset(room + w->size - 8, 0, 8);
    memcpy(room, &record, sizeof(record));
}

/* Where it then is in the record's text. */
static uint32_t add_text(vls_cache_writer *w, valise_str text)
{
    char *to = w->buf.ptr + w->at + sizeof(vls_cache_record) + w->count * sizeof(vls_cache_entry);
    uint32_t at = w->text;

    if (text.len > 0)
        memcpy(to + at, text.ptr, text.len);
    w->text += (uint32_t)text.len;
    return at;
}

void vls_cache_write_entry(vls_cache_writer *w, const vls_cache_entry *e, valise_str name,
                           valise_str target, uint64_t start)
{
    vls_cache_entry copy = *e;
    uint64_t distance = 0;

    if (w->buf.failed)
        return;
    assert(w->entries < w->count);
    copy.name_len = (uint8_t)name.len;
    copy.name = add_text(w, name);
    copy.zero = 0;
    copy.ref = 0;
    if (e->kind == VLS_NODE_LINK)
        copy.ref = add_text(w, target);
    if (e->kind == VLS_NODE_DIR)
        distance = (w->start - start) / 8;
    if (distance > UINT32_MAX)
        w->error = EFBIG;
    copy.ref += (uint32_t)distance;
    memcpy(w->buf.ptr + w->at + sizeof(vls_cache_record) + w->entries++ * sizeof(copy), &copy,
           sizeof(copy));
}

uint64_t vls_cache_write_dir_end(vls_cache_writer *w, uint64_t first)
{
    uint64_t piece = w->start + w->size - first, sum;

    if (w->buf.failed)
        return w->start;
    assert(w->entries == w->count);
    memcpy(w->buf.ptr + w->at + offsetof(vls_cache_record, piece), &piece, sizeof(piece));
    sum = vls_cache_sum(w->buf.ptr + w->at, w->size);
    memcpy(w->buf.ptr + w->at, &sum, sizeof(sum));
    vls_buf_advance(&w->buf, w->size);
    w->pos += w->size;
    return w->start;
}

uint64_t vls_cache_write_piece(vls_cache_writer *w, const vls_cache_record *record)
{
    size_t own = vls_cache_record_size(record->count, record->text_len);
    valise_str piece =
        vls_str((const char *)record + own - (size_t)record->piece, (size_t)record->piece);

    if (w->fd >= 0 && piece.len > FLUSH_SIZE) {
        flush(w);
        write_out(w, piece);
    } else {
        vls_buf_add(&w->buf, piece);
    }
    if (w->buf.len > FLUSH_SIZE)
        flush(w);
    w->pos += piece.len;
    return w->pos - own;
}

static int write_head(vls_cache_writer *w, const vls_cache_header *head)
{
    ssize_t done;

    do
        done = pwrite(w->fd, head, sizeof(*head), 0);
    while (vls_fd_again(done));
    if (done >= 0 && done < (ssize_t)sizeof(*head))
        errno = ENOSPC;
    return done == (ssize_t)sizeof(*head) ? 0 : -1;
}

void vls_cache_fill_head(vls_cache_header *head, uint64_t size, uint64_t start)
{
    head->magic = VLS_CACHE_MAGIC;
    head->size = size;
    head->root.name = head->root.zero = 0;
    head->root.name_len = 0;
    head->root.ref = (uint32_t)((size - start) / 8);
    head->checksum = vls_cache_sum_head(head);
}

int vls_cache_write_end(vls_cache_writer *w, vls_cache_header *head, uint64_t start,
                        valise_error *err)
{
    int rc = vls_buf_check(&w->buf, err);

    if (rc < 0)
        return rc;
    if ((w->pos - start) / 8 > UINT32_MAX)
        w->error = EFBIG;
    vls_cache_fill_head(head, w->pos, start);
    if (w->fd < 0 && w->error == 0) {
        memcpy(w->buf.ptr, head, sizeof(*head));
        return 0;
    }
    flush(w);
    if (w->error == 0 && write_head(w, head) < 0)
        w->error = errno;
    if (w->error) {
        errno = w->error;
        return vls_fail_errno(err, "write", VLS_STR("the stat cache"));
    }
    return 0;
}
