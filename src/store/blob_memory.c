/* blob_memory.c -- blobs in memory, gone when the store is closed.
 *
 * A persistent map from id to bytes under a lock: whoever lists walks through a snapshot, whoever
 * reads holds a reference, and neither minds what happens to the map meanwhile.
 *
 * Threads: the shelf is shared. */
#include "store/blob.h"

#include <pthread.h>

#include "base/hex.h"
#include "base/mem.h"
#include "base/pmap.h"

typedef struct item {
    vls_ref refs;
    valise_id id;
    int64_t time; /* when it was put */
    vls_buf bytes;
} item;

typedef struct shelf {
    const valise_env *env;
    pthread_mutex_t lock;
    vls_pmap items; /* under the lock */
} shelf;

typedef struct memory_put {
    shelf *shelf;
    item *item;
} memory_put;

typedef struct memory_reader {
    shelf *shelf;
    item *item;
    size_t at;
} memory_reader;

/* ---- items ---- */

static valise_str key_of(const void *it)
{
    const item *i = it;

    return vls_str(i->id.bytes, sizeof(i->id.bytes));
}

static void ref_item(void *it)
{
    vls_ref_get(&((item *)it)->refs);
}

static void unref_item(void *it)
{
    item *i = it;
    const valise_env *env = i->bytes.env;

    if (vls_ref_put(&i->refs)) {
        vls_buf_release(&i->bytes);
        vls_mem_free(env, i, sizeof(*i));
    }
}

static const vls_pmap_ops item_ops = {key_of, ref_item, unref_item};

/* A new reference to the item of a blob. */
static int find(item **out, shelf *s, const valise_id *id, valise_error *err)
{
    item *found;

    (void)pthread_mutex_lock(&s->lock);
    found = vls_pmap_get(&s->items, vls_str(id->bytes, sizeof(id->bytes)));
    if (found)
        ref_item(found);
    (void)pthread_mutex_unlock(&s->lock);
    if (!found)
        return vls_fail(err, VALISE_E_NOT_FOUND, "there is no blob %s", vls_id_hex(id).s);
    *out = found;
    return 0;
}

/* ---- open, close ---- */

static int memory_open(void **self, const valise_blob_store_open *how, valise_error *err)
{
    shelf *s = vls_mem_zalloc(how->env, sizeof(*s));

    if (!s)
        return vls_fail_memory(err);
    s->env = how->env;
    (void)pthread_mutex_init(&s->lock, NULL); /* without attributes it cannot fail */
    vls_pmap_init(&s->items, how->env, &item_ops);
    *self = s;
    return 0;
}

static void memory_close(void *self)
{
    shelf *s = self;

    vls_pmap_release(&s->items);
    (void)pthread_mutex_destroy(&s->lock);
    vls_mem_free(s->env, s, sizeof(*s));
}

/* ---- put ---- */

static int memory_put_begin(void **out, void *self, valise_error *err)
{
    shelf *s = self;
    memory_put *put = vls_mem_zalloc(s->env, sizeof(*put));
    item *it = put ? vls_mem_zalloc(s->env, sizeof(*it)) : NULL;

    if (!it) {
        vls_mem_free(s->env, put, sizeof(*put));
        return vls_fail_memory(err);
    }
    vls_ref_init(&it->refs);
    vls_buf_init(&it->bytes, s->env, SIZE_MAX);
    *put = (memory_put){s, it};
    *out = put;
    return 0;
}

static int memory_put_write(void *self, valise_str piece, valise_error *err)
{
    memory_put *put = self;

    vls_buf_add(&put->item->bytes, piece);
    return vls_buf_check(&put->item->bytes, err);
}

static void memory_put_abort(void *self)
{
    memory_put *put = self;

    unref_item(put->item);
    vls_mem_free(put->shelf->env, put, sizeof(*put));
}

static int memory_put_commit(void *self, const valise_id *id, valise_error *err)
{
    memory_put *put = self;
    shelf *s = put->shelf;
    void *old = NULL;
    int rc;

    put->item->id = *id;
    put->item->time = s->env->now_ns(s->env->self);
    (void)pthread_mutex_lock(&s->lock);
    rc = vls_pmap_put(&old, &s->items, put->item);
    (void)pthread_mutex_unlock(&s->lock);
    if (old)
        unref_item(old);
    memory_put_abort(put); /* drops our reference; the map has its own */
    if (rc < 0)
        return rc == VALISE_E_NO_MEMORY ? vls_fail_memory(err)
                                        : vls_fail(err, rc, "too many blobs in memory");
    return 0;
}

/* ---- read ---- */

static int memory_read_open(void **out, uint64_t *size_bytes, void *self, const valise_id *id,
                            valise_error *err)
{
    shelf *s = self;
    memory_reader *reader = vls_mem_zalloc(s->env, sizeof(*reader));
    int rc;

    if (!reader)
        return vls_fail_memory(err);
    reader->shelf = s;
    rc = find(&reader->item, s, id, err);
    if (rc < 0) {
        vls_mem_free(s->env, reader, sizeof(*reader));
        return rc;
    }
    *size_bytes = reader->item->bytes.len;
    *out = reader;
    return 0;
}

static int memory_read_some(size_t *len, void *self, void *room, size_t room_bytes,
                            valise_error *err)
{
    memory_reader *reader = self;
    valise_str rest = vls_str_from(vls_buf_str(&reader->item->bytes), reader->at);

    (void)err;
    *len = VLS_MIN(rest.len, room_bytes);
    if (*len)
        memcpy(room, rest.ptr, *len);
    reader->at += *len;
    return 0;
}

static void memory_read_close(void *self)
{
    memory_reader *reader = self;

    unref_item(reader->item);
    vls_mem_free(reader->shelf->env, reader, sizeof(*reader));
}

static int memory_stat(uint64_t *size_bytes, void *self, const valise_id *id, valise_error *err)
{
    item *it;
    int rc = find(&it, self, id, err);

    if (rc < 0)
        return rc;
    *size_bytes = it->bytes.len;
    unref_item(it);
    return 0;
}

static int memory_time(int64_t *time_ns, void *self, const valise_id *id, valise_error *err)
{
    item *it;
    int rc = find(&it, self, id, err);

    if (rc < 0)
        return rc;
    *time_ns = it->time;
    unref_item(it);
    return 0;
}

/* ---- remove, list ---- */

static int memory_remove(void *self, const valise_id *id, valise_error *err)
{
    shelf *s = self;
    void *old = NULL;
    int rc;

    (void)pthread_mutex_lock(&s->lock);
    rc = vls_pmap_remove(&old, &s->items, vls_str(id->bytes, sizeof(id->bytes)));
    (void)pthread_mutex_unlock(&s->lock);
    if (rc == VALISE_E_NOT_FOUND)
        return vls_fail(err, rc, "there is no blob %s", vls_id_hex(id).s);
    if (rc < 0)
        return vls_fail_memory(err);
    unref_item(old);
    return 0;
}

static int memory_list(void *self, valise_blob_list_fn *fn, void *arg, valise_error *err)
{
    VLS_AUTO(pmap) vls_pmap items = {0};
    shelf *s = self;
    vls_pmap_cursor cursor;

    (void)pthread_mutex_lock(&s->lock);
    vls_pmap_snapshot(&items, &s->items);
    (void)pthread_mutex_unlock(&s->lock);
    for (const item *it = vls_pmap_first(&cursor, &items); it; it = vls_pmap_next(&cursor)) {
        int rc = fn(arg, &it->id, it->bytes.len, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

const valise_blob_store_ops *valise_blob_store_memory(void)
{
    static const valise_blob_store_ops ops = {
        .size = sizeof(ops),
        .abi = VALISE_BLOB_STORE_ABI,
        .name = "memory",
        .open = memory_open,
        .close = memory_close,
        .put_begin = memory_put_begin,
        .put_write = memory_put_write,
        .put_commit = memory_put_commit,
        .put_abort = memory_put_abort,
        .read_open = memory_read_open,
        .read_some = memory_read_some,
        .read_close = memory_read_close,
        .stat = memory_stat,
        .remove = memory_remove,
        .list = memory_list,
        .time = memory_time,
    };

    return &ops;
}
