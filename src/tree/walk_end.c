/* walk_end.c -- a directory when everything in it is known; see walk.h. */
#include "tree/walk_impl.h"

/* Move what is there to the front; true when a rule left something out. */
static bool compact(vls_walk_inside *d)
{
    uint32_t kept = 0;
    bool left_out = d->left_out;

    for (uint32_t i = 0; i < d->dir.count; i++) {
        vls_walk_entry *entry = &d->dir.entries[i];
        if (entry->e.kind == VLS_NODE_GONE) {
            left_out |= entry->left_out;
            continue;
        }
        if (kept != i) {
            d->dir.entries[kept] = *entry;
            if (entry->dir)
                entry->dir->entry = &d->dir.entries[kept];
        }
        kept++;
    }
    d->dir.count = kept;
    return left_out;
}

static bool same_node(const vls_walk_entry *entry)
{
    return entry->old && entry->old->kind == entry->e.kind &&
           vls_id_equal(&entry->old->object, &entry->e.object);
}

static bool same_stat(const vls_cache_entry *a, const vls_cache_entry *b)
{
    return a->unsure == b->unsure && a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns &&
           a->inode == b->inode && a->device == b->device;
}

/* Whether the entries are those of the old record: as nodes, and with all that is kept of them. */
static bool compare(bool *as_kept, const vls_walk_dir *dir)
{
    *as_kept = true;
    if (!dir->old || dir->old->count != dir->count)
        return *as_kept = false;
    for (uint32_t i = 0; i < dir->count; i++) {
        const vls_walk_entry *entry = &dir->entries[i];
        if (!same_node(entry))
            return *as_kept = false;
        *as_kept &= !entry->dir && same_stat(&entry->e, entry->old);
    }
    return true;
}

static void hash_dir(valise_id *out, const vls_walk_dir *dir)
{
    vls_hasher hasher;

    vls_dir_hash_begin(&hasher, dir->count);
    for (uint32_t i = 0; i < dir->count; i++) {
        const vls_walk_entry *entry = &dir->entries[i];
        vls_dir_hash_entry(&hasher, vls_str(entry->name, entry->e.name_len),
                           (vls_node_kind)entry->e.kind, &entry->e.object);
    }
    vls_dir_hash_end(out, &hasher);
}

static void set_stat(const vls_walk_worker *w, const vls_walk_inside *d, vls_walk_entry *entry)
{
    vls_cache_entry *e = &entry->e;

    if (!d->partial) {
        vls_walk_set_stat(e, w->queue->walk->clock_ns, d->mtime_ns, d->ctime_ns, d->inode,
                          d->device);
        return;
    }
    /* The rest of it was not looked at: it is known to be as it was then, not now. */
    e->unsure = entry->old->unsure;
    e->mtime_ns = entry->old->mtime_ns;
    e->ctime_ns = entry->old->ctime_ns;
    e->inode = entry->old->inode;
    e->device = entry->old->device;
}

/* It may have to be left out, with what was not looked at: that is for another walk. */
static int make_wider(vls_walk_queue *q, valise_str path, valise_error *err)
{
    bool ok;

    (void)pthread_mutex_lock(&q->lock);
    ok = vls_vec_push(&q->wider, q->env, path);
    (void)pthread_mutex_unlock(&q->lock);
    return ok ? 0 : vls_fail_memory(err);
}

static int finish(vls_walk_worker *w, vls_walk_inside *d, valise_error *err)
{
    vls_walk_entry *entry = d->dir.entry;
    bool left_out = compact(d), same, as_kept;
    int rc = 0;

    d->rules = vls_ignore_unref(d->rules);
    if (d->dir.count == 0 && d->dir.parent && (left_out || d->partial)) {
        entry->e.kind = VLS_NODE_GONE;
        entry->left_out = true;
        entry->dir = NULL;
        return d->partial ? make_wider(w->queue, d->dir.path, err) : 0;
    }
    same = compare(&as_kept, &d->dir);
    if (same)
        entry->e.object = entry->old->object;
    else
        hash_dir(&entry->e.object, &d->dir);
    entry->e.kind = VLS_NODE_DIR;
    entry->e.size = d->dir.count;
    set_stat(w, d, entry);
    if (as_kept)
        entry->dir = NULL;
    return rc;
}

int vls_walk_over(vls_walk_worker *w, vls_walk_inside *d, valise_error *err)
{
    int rc = 0;

    while (d && rc == 0 && atomic_fetch_sub_explicit(&d->pending, 1, memory_order_acq_rel) == 1) {
        rc = finish(w, d, err);
        d = d->dir.parent ? d->dir.parent->with : NULL;
    }
    return rc;
}
