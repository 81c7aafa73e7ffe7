/* cache.c -- see cache.h. */
#include "store/cache.h"

#include "base/mem.h"
#include "base/str.h"

typedef struct slot {
    const vls_coll *coll; /* NULL: nothing is remembered */
    uint64_t hash;
    uint32_t key_len;
    bool there; /* there is such a row */
} slot;

/* What a slot's room holds:  | cells of the row | key | bytes of the cells | */
struct vls_cache {
    const valise_env *env;
    uint64_t seed;
    bool used; /* since it was cleared */
    slot slots[VLS_CACHE_SLOTS];
    _Alignas(16) char rooms[VLS_CACHE_SLOTS][VLS_CACHE_ROOM];
};

int vls_cache_new(vls_cache **out, const valise_env *env, valise_error *err)
{
    vls_cache *cache = vls_mem_alloc(env, sizeof(*cache));

    if (!cache)
        return vls_fail_memory(err);
    cache->env = env;
    /* Keys are chosen by others; where this lies in memory is not. */
    cache->seed = (uint64_t)(uintptr_t)cache * UINT64_C(0x9e3779b97f4a7c15);
    cache->used = true;
    vls_cache_clear(cache); /* the rooms are not touched until they are needed */
    *out = cache;
    return 0;
}

void vls_cache_free(vls_cache *cache)
{
    if (cache)
        vls_mem_free(cache->env, cache, sizeof(*cache));
}

void vls_cache_clear(vls_cache *cache)
{
    if (!cache->used)
        return;
    memset(cache->slots, 0, sizeof(cache->slots));
    cache->used = false;
}

static uint64_t hash_of(const vls_cache *cache, const vls_coll *coll, valise_str key)
{
    return vls_str_hash(key, cache->seed + coll->number);
}

static size_t cells_size(const vls_coll *coll, bool there)
{
    return there ? coll->table.column_count * sizeof(valise_cell) : 0;
}

int vls_cache_get(valise_cell *row, const vls_cache *cache, const vls_coll *coll, valise_str key)
{
    uint64_t hash = hash_of(cache, coll, key);
    size_t number = hash % VLS_CACHE_SLOTS;
    const slot *s = &cache->slots[number];
    const char *room = cache->rooms[number];
    size_t cells = cells_size(coll, s->there);

    if (s->coll != coll || s->hash != hash || s->key_len != key.len ||
        memcmp(room + cells, key.ptr, key.len) != 0)
        return -1;
    memcpy(row, room, cells);
    return s->there;
}

static bool has_bytes(const valise_cell *cell)
{
    return (cell->type == VALISE_CELL_TEXT || cell->type == VALISE_CELL_BLOB) &&
           cell->as.bytes.len > 0;
}

static bool fits(const vls_coll *coll, valise_str key, const valise_cell *row)
{
    size_t size = cells_size(coll, row != NULL) + key.len;

    for (uint16_t i = 0; row && size <= VLS_CACHE_ROOM && i < coll->table.column_count; i++)
        size += has_bytes(&row[i]) ? row[i].as.bytes.len : 0;
    return size <= VLS_CACHE_ROOM;
}

static void fill(char *room, const vls_coll *coll, valise_str key, const valise_cell *row)
{
    valise_cell *cells = (valise_cell *)room;
    char *at = room + cells_size(coll, row != NULL);

    memcpy(at, key.ptr, key.len);
    at += key.len;
    for (uint16_t i = 0; row && i < coll->table.column_count; i++) {
        cells[i] = row[i];
        if (!has_bytes(&row[i]))
            continue;
        memcpy(at, row[i].as.bytes.ptr, row[i].as.bytes.len);
        cells[i].as.bytes.ptr = at;
        at += row[i].as.bytes.len;
    }
}

/* Does the row borrow from the room it would go into? Then it is known there already. */
static bool lies_in(const char *room, const valise_cell *row, uint16_t count)
{
    for (uint16_t i = 0; i < count; i++) {
        if (has_bytes(&row[i]) && row[i].as.bytes.ptr >= room &&
            row[i].as.bytes.ptr < room + VLS_CACHE_ROOM)
            return true;
    }
    return false;
}

void vls_cache_put(vls_cache *cache, const vls_coll *coll, valise_str key, const valise_cell *row)
{
    uint64_t hash = hash_of(cache, coll, key);
    size_t number = hash % VLS_CACHE_SLOTS;
    slot *s = &cache->slots[number];
    char *room = cache->rooms[number];

    s->coll = NULL;
    if (!fits(coll, key, row) || (row && lies_in(room, row, coll->table.column_count)))
        return;
    fill(room, coll, key, row);
    *s = (slot){coll, hash, (uint32_t)key.len, row != NULL};
    cache->used = true;
}
