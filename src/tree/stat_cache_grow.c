/* stat_cache_grow.c -- a cache in memory that grows, and in one piece again; see stat_cache.h. */
#include "tree/stat_cache.h"

#include <errno.h>

#include "base/mem.h"
#include "tree/stat_cache_impl.h"

vls_tree_cache vls_cache_written(vls_cache_writer *w)
{
    vls_tree_cache cache = {
        .env = w->buf.env, .bytes = w->buf.ptr, .size = w->buf.len, .room = w->buf.cap};

    assert(w->fd < 0 && !w->buf.failed);
    w->buf.ptr = NULL;
    w->buf.len = w->buf.cap = 0;
    return cache;
}

void vls_cache_write_behind(vls_cache_writer *w, const vls_tree_cache *cache)
{
    if (!cache->bytes) {
        vls_cache_write_begin(w, cache->env, -1);
        return;
    }
    *w = (vls_cache_writer){.fd = -1, .pos = cache->size};
    vls_buf_init(&w->buf, cache->env, SIZE_MAX / 2);
}

/* Room for so many bytes more, half as much again as there was. */
static bool make_room(vls_tree_cache *cache, size_t more)
{
    size_t room;
    char *bytes;

    if (more <= cache->room - cache->size)
        return true;
    room = VLS_MAX(cache->size + more, cache->room + cache->room / 2);
    bytes = vls_mem_resize(cache->env, cache->bytes, cache->room, room);
    if (!bytes)
        return false;
    cache->bytes = bytes;
    cache->room = room;
    return true;
}

int vls_cache_write_end_behind(vls_cache_writer *w, vls_tree_cache *cache,
                               const vls_cache_header *head, uint64_t start, valise_error *err)
{
    vls_cache_header copy = *head;
    int rc = vls_buf_check(&w->buf, err);

    if (rc < 0)
        return rc;
    if (!cache->bytes) {
        rc = vls_cache_write_end(w, &copy, start, err);
        if (rc == 0)
            *cache = vls_cache_written(w);
        return rc;
    }
    if (w->error || (w->pos - start) / 8 > UINT32_MAX) {
        errno = EFBIG;
        return vls_fail_errno(err, "hold", VLS_STR("the stat cache"));
    }
    if (!make_room(cache, w->buf.len))
        return vls_fail_memory(err);
    if (w->buf.len > 0)
        memcpy(cache->bytes + cache->size, w->buf.ptr, w->buf.len);
    cache->size += w->buf.len;
    vls_cache_fill_head(&copy, w->pos, start);
    memcpy(cache->bytes, &copy, sizeof(copy));
    return 0;
}

/* ---- in one piece ---- */

typedef struct frame {
    const vls_cache_record *record;
    uint32_t at;
    uint64_t first;
    size_t first_start;
} frame;

typedef struct writing {
    const valise_env *env;
    vls_cache_writer *w;
    vls_vec(frame) frames;
    vls_vec(uint64_t) starts;
} writing;

static void write_record(writing *it, const frame *f)
{
    const vls_cache_record *record = f->record;
    size_t start = f->first_start;

    vls_cache_write_dir(it->w, record->count, record->text_len);
    for (uint32_t i = 0; i < record->count; i++) {
        const vls_cache_entry *e = &record->entries[i];
        bool is_link = e->kind == VLS_NODE_LINK;
        vls_cache_write_entry(it->w, e, vls_cache_name(record, e),
                              is_link ? vls_str(vls_cache_text(record) + e->ref, (size_t)e->size)
                                      : VLS_STR(""),
                              e->kind == VLS_NODE_DIR ? it->starts.ptr[start++] : 0);
    }
    it->starts.len = f->first_start;
    it->starts.ptr[it->starts.len++] = vls_cache_write_dir_end(it->w, f->first);
}

static bool push(writing *it, const vls_cache_record *record)
{
    frame f = {.record = record, .first = it->w->pos, .first_start = it->starts.len};

    return vls_vec_reserve(&it->starts, it->env, it->starts.len + 1) &&
           vls_vec_push(&it->frames, it->env, f);
}

/* The next directory of the innermost one, or that one itself. False: out of memory. */
static bool write_next(writing *it)
{
    frame *f = &it->frames.ptr[it->frames.len - 1];

    while (f->at < f->record->count) {
        const vls_cache_entry *e = &f->record->entries[f->at++];
        const vls_cache_record *child;
        if (e->kind != VLS_NODE_DIR)
            continue;
        child = vls_cache_child(f->record, e);
        if (child->piece == 0)
            return push(it, child);
        if (!vls_vec_push(&it->starts, it->env, vls_cache_write_piece(it->w, child)))
            return false;
    }
    write_record(it, f);
    it->frames.len--;
    return true;
}

int vls_cache_write_whole(vls_cache_writer *w, const vls_tree_cache *cache, valise_error *err)
{
    writing it = {.env = cache->env, .w = w};
    vls_cache_header head = *vls_cache_head(cache);
    bool ok = push(&it, vls_cache_root(cache));
    int rc;

    while (ok && it.frames.len > 0 && w->error == 0)
        ok = write_next(&it);
    if (!ok)
        rc = vls_fail_memory(err);
    else
        rc = vls_cache_write_end(w, &head, it.starts.len > 0 ? it.starts.ptr[0] : 0, err);
    vls_vec_release(&it.frames, it.env);
    vls_vec_release(&it.starts, it.env);
    return rc;
}
