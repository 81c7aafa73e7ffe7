/* cache.c -- see cache.h. */
#include "store/cache.h"

#include "base/mem.h"
#include "base/str.h"
#include "store/table.h"

#define SETS (VLS_CACHE_SLOTS / VLS_CACHE_WAYS)

typedef struct slot {
    const vls_coll *coll; /* NULL: nothing is remembered */
    uint64_t hash;
    bool there; /* there is such a row */
} slot;

/* What a slot's room holds: the cells of the row, or of the key when there is none, and behind them
 * what they hold. A key's cells are the first ones of its row. */
struct vls_cache {
    const valise_env *env;
    uint64_t seed;
    bool used;            /* since it was cleared */
    uint8_t oldest[SETS]; /* which slot of a set goes next */
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
    memset(cache->oldest, 0, sizeof(cache->oldest));
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

static bool has_bytes(const valise_cell *cell)
{
    return cell->type >= VALISE_CELL_TEXT;
}

/* Equal keys have equal hashes: of an empty text, where it lies does not count. */
static uint64_t hash_of(const vls_cache *cache, const vls_coll *coll, const valise_cell *key)
{
    uint64_t hash = cache->seed + coll->number;

    for (uint16_t i = 0; i < coll->key_count; i++) {
        valise_cell cell = key[i];
        if (cell.type == VALISE_CELL_REAL)
            cell.as.real = vls_cell_real(cell.as.real);
        hash = vls_str_hash(has_bytes(&cell) ? cell.as.bytes : vls_str(&cell.as.integer, 8), hash);
    }
    return hash;
}

/* The slot that has the key, or VLS_CACHE_SLOTS. */
static size_t find(const vls_cache *cache, const vls_coll *coll, const valise_cell *key,
                   uint64_t hash)
{
    size_t first = hash % SETS * VLS_CACHE_WAYS;

    for (size_t i = first; i < first + VLS_CACHE_WAYS; i++) {
        const slot *s = &cache->slots[i];
        if (s->hash == hash && s->coll == coll &&
            vls_cells_equal((const valise_cell *)cache->rooms[i], key, coll->key_count))
            return i;
    }
    return VLS_CACHE_SLOTS;
}

int vls_cache_get(valise_cell *row, const vls_cache *cache, const vls_coll *coll,
                  const valise_cell *key)
{
    size_t at = find(cache, coll, key, hash_of(cache, coll, key));

    if (at == VLS_CACHE_SLOTS)
        return -1;
    if (cache->slots[at].there)
        memcpy(row, cache->rooms[at], coll->table.column_count * sizeof(*row));
    return cache->slots[at].there;
}

static bool fits(const valise_cell *cells, uint16_t count)
{
    size_t size = count * sizeof(*cells);

    for (uint16_t i = 0; size <= VLS_CACHE_ROOM && i < count; i++)
        size += has_bytes(&cells[i]) ? cells[i].as.bytes.len : 0;
    return size <= VLS_CACHE_ROOM;
}

static void fill(char *room, const valise_cell *cells, uint16_t count)
{
    valise_cell *copy = (valise_cell *)room;
    char *at = room + count * sizeof(*cells);

    for (uint16_t i = 0; i < count; i++) {
        copy[i] = cells[i];
        if (!has_bytes(&cells[i]) || cells[i].as.bytes.len == 0)
            continue;
        memcpy(at, cells[i].as.bytes.ptr, cells[i].as.bytes.len);
        copy[i].as.bytes.ptr = at;
        at += cells[i].as.bytes.len;
    }
}

/* Do the cells borrow from the room they would go into? */
static bool lie_in(const char *room, const valise_cell *cells, uint16_t count)
{
    for (uint16_t i = 0; i < count; i++) {
        if (has_bytes(&cells[i]) && cells[i].as.bytes.len > 0 && cells[i].as.bytes.ptr >= room &&
            cells[i].as.bytes.ptr < room + VLS_CACHE_ROOM)
            return true;
    }
    return false;
}

void vls_cache_put(vls_cache *cache, const vls_coll *coll, const valise_cell *key,
                   const valise_cell *row)
{
    const valise_cell *cells = row ? row : key;
    uint16_t count = row ? coll->table.column_count : coll->key_count;
    uint64_t hash = hash_of(cache, coll, key);
    size_t at = find(cache, coll, key, hash);

    if (at == VLS_CACHE_SLOTS) {
        uint8_t *oldest = &cache->oldest[hash % SETS];
        at = hash % SETS * VLS_CACHE_WAYS + *oldest;
        *oldest = (uint8_t)((*oldest + 1) % VLS_CACHE_WAYS);
    }
    cache->slots[at].coll = NULL;
    if (!fits(cells, count) || lie_in(cache->rooms[at], cells, count))
        return;
    fill(cache->rooms[at], cells, count);
    cache->slots[at] = (slot){coll, hash, row != NULL};
    cache->used = true;
}
