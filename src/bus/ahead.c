/* ahead.c -- reading the log once ahead of somebody who is far behind (ahead.h). */
#include "bus/ahead.h"

#include "base/map.h"
#include "base/str.h"

/* The last change of a row that was seen. */
typedef struct seen {
    uint64_t hash;
    uint32_t change;
} seen;

typedef struct building {
    vls_ahead *ahead;
    vls_map map;
    vls_arena arena; /* of what is in the map */
    uint64_t seed;
} building;

static bool has_hash(const void *item, const void *key)
{
    return ((const seen *)item)->hash == *(const uint64_t *)key;
}

static int add_change(building *b, const vls_image *image, int64_t seq, valise_error *err)
{
    vls_ahead *ahead = b->ahead;
    uint64_t hash = vls_str_hash(image->key, b->seed + image->coll);
    seen *last = vls_map_get(&b->map, hash, &hash);

    if (!last) {
        last = vls_arena_alloc(&b->arena, sizeof(*last));
        if (!last)
            return vls_arena_fail(&b->arena, err);
        last->hash = hash;
        if (vls_map_put(NULL, &b->map, hash, &last->hash, last) < 0)
            return vls_fail_memory(err);
    } else {
        ahead->next.ptr[last->change] = seq;
    }
    last->change = (uint32_t)ahead->next.len;
    return vls_vec_push(&ahead->next, ahead->env, 0) ? 0 : vls_fail_memory(err);
}

static int add_entry(building *b, const vls_entry *entry, valise_error *err)
{
    vls_ahead *ahead = b->ahead;
    vls_image image;
    size_t at = 0;
    int rc;

    if (!vls_vec_push(&ahead->first, ahead->env, (uint32_t)ahead->next.len))
        return vls_fail_memory(err);
    while ((rc = vls_changes_next(&image, &at, entry->changes, err)) > 0) {
        rc = add_change(b, &image, entry->seq, err);
        if (rc < 0)
            return rc;
    }
    return rc;
}

static int add_entries(building *b, vls_txn *txn, valise_error *err)
{
    vls_ahead *ahead = b->ahead;
    VLS_AUTO(log_scan) vls_log_scan scan = {0};
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_entry entry;
    int rc = vls_log_scan_open(&scan, txn, ahead->from, false, err);

    vls_arena_init(&arena, ahead->env, VLS_CHANGES_MAX * 8);
    while (rc >= 0 && ahead->next.len < VLS_AHEAD_MAX &&
           (rc = vls_log_scan_next(&entry, &scan, &arena, err)) > 0) {
        if (entry.seq != ahead->from + (int64_t)ahead->first.len)
            return 0; /* a hole: behind it nothing is known */
        rc = add_entry(b, &entry, err);
        if (rc == 0)
            ahead->to = entry.seq;
        vls_arena_reset(&arena);
    }
    return rc < 0 ? rc : 0;
}

int vls_ahead_build(vls_ahead *ahead, vls_txn *txn, int64_t from, valise_error *err)
{
    const valise_env *env = vls_store_env(txn->store);
    building b = {.ahead = ahead, .seed = (uint64_t)(uintptr_t)ahead};
    int rc;

    vls_ahead_release(ahead);
    ahead->env = env;
    ahead->from = from;
    vls_map_init(&b.map, env, has_hash);
    vls_arena_init(&b.arena, env, (size_t)1 << 30);
    rc = add_entries(&b, txn, err);
    vls_map_release(&b.map);
    vls_arena_release(&b.arena);
    if (rc < 0)
        vls_ahead_release(ahead);
    return rc;
}

void vls_ahead_release(vls_ahead *ahead)
{
    if (ahead->env) {
        vls_vec_release(&ahead->first, ahead->env);
        vls_vec_release(&ahead->next, ahead->env);
    }
    *ahead = (vls_ahead){0};
}

int vls_ahead_prepare(vls_ahead *ahead, vls_txn *txn, int64_t place, valise_error *err)
{
    if (ahead->to > 0 && place >= ahead->from && place <= ahead->to)
        return 0;
    if (txn->tip.seq - place >= VLS_AHEAD_LAG)
        return vls_ahead_build(ahead, txn, place, err);
    vls_ahead_release(ahead);
    return 0;
}

int64_t vls_ahead_next(const vls_ahead *ahead, int64_t seq, uint32_t index)
{
    size_t change;

    if (!ahead || ahead->to == 0 || seq < ahead->from || seq > ahead->to || index == 0)
        return 0;
    change = ahead->first.ptr[seq - ahead->from] + (size_t)index - 1;
    return change < ahead->next.len ? ahead->next.ptr[change] : 0;
}
