/* cache.c -- see cache.h.
 *
 * Both kinds of slots are kept alike: under an `order`, in which the first `equal` columns are what
 * is asked for. Of a row by its key these are the key itself, and the order needs no list. */
#include "store/cache.h"

#include "base/mem.h"
#include "base/str.h"
#include "store/table.h"

#define SETS (VLS_CACHE_SLOTS / VLS_CACHE_WAYS)
#define COLUMNS_MAX 16u /* of an order whose answers are kept */

/* A kind of question. */
typedef struct order {
    const vls_coll *coll; /* NULL: nobody asks */
    int32_t index;
    uint16_t equal, count;
    uint16_t columns[COLUMNS_MAX];
} order;

typedef struct slot {
    const void *of; /* the collection, or the order of an answer; NULL: nothing is remembered */
    uint64_t hash;
    bool there; /* there is such a row */
} slot;

/* What a slot's room holds: the cells of the row, or what was asked for when there is none, and
 * behind them what they hold. A key's cells are the first ones of its row. */
struct vls_cache {
    const valise_env *env;
    uint64_t seed;
    bool used;            /* since it was cleared */
    uint8_t oldest[SETS]; /* which slot of a set goes next */
    size_t order_count;   /* those behind have no collection */
    order orders[VLS_CACHE_ORDERS];
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
    memset(cache->orders, 0, sizeof(cache->orders));
    cache->order_count = 0;
    cache->used = false;
}

/* ---- slots ---- */

static bool has_bytes(const valise_cell *cell)
{
    return cell->type >= VALISE_CELL_TEXT;
}

/* Equal keys have equal hashes: of an empty text, where it lies does not count. */
static uint64_t hash_of(uint64_t seed, const valise_cell *key, uint16_t count)
{
    for (uint16_t i = 0; i < count; i++) {
        valise_cell cell = key[i];
        if (cell.type == VALISE_CELL_REAL)
            cell.as.real = vls_cell_real(cell.as.real);
        if (cell.type == VALISE_CELL_NULL)
            cell.as.integer = 0;
        seed = vls_str_hash(has_bytes(&cell) ? cell.as.bytes : vls_str(&cell.as.integer, 8), seed);
    }
    return seed;
}

static const valise_cell *cells_at(const vls_cache *cache, size_t at)
{
    return (const valise_cell *)cache->rooms[at];
}

/* Is there room for them, and do they not borrow from the room they would go into? */
static bool fits(const char *room, const valise_cell *cells, uint16_t count)
{
    size_t size = count * sizeof(*cells);

    for (uint16_t i = 0; i < count; i++) {
        if (!has_bytes(&cells[i]) || cells[i].as.bytes.len == 0)
            continue;
        if ((uintptr_t)cells[i].as.bytes.ptr - (uintptr_t)room < VLS_CACHE_ROOM ||
            cells[i].as.bytes.len > VLS_CACHE_ROOM)
            return false;
        size += cells[i].as.bytes.len;
    }
    return size <= VLS_CACHE_ROOM;
}

static void fill(char *room, const valise_cell *cells, uint16_t count)
{
    valise_cell *copy = (valise_cell *)room;
    char *at = room + count * sizeof(*cells);

    if (count > 0)
        memcpy(copy, cells, count * sizeof(*cells));
    for (uint16_t i = 0; i < count; i++) {
        if (!has_bytes(&cells[i]) || cells[i].as.bytes.len == 0)
            continue;
        memcpy(at, cells[i].as.bytes.ptr, cells[i].as.bytes.len);
        copy[i].as.bytes.ptr = at;
        at += cells[i].as.bytes.len;
    }
}

/* A slot for what is not in one yet. */
static size_t take_slot(vls_cache *cache, uint64_t hash)
{
    uint8_t *oldest = &cache->oldest[hash % SETS];
    size_t at = hash % SETS * VLS_CACHE_WAYS + *oldest;

    *oldest = (uint8_t)((*oldest + 1) % VLS_CACHE_WAYS);
    return at;
}

static void store(vls_cache *cache, size_t at, slot what, const valise_cell *cells, uint16_t count)
{
    cache->slots[at].of = NULL;
    if (!fits(cache->rooms[at], cells, count))
        return;
    fill(cache->rooms[at], cells, count);
    cache->slots[at] = what;
    cache->used = true;
}

/* ---- rows by key ---- */

static uint64_t key_hash(const vls_cache *cache, const vls_coll *coll, const valise_cell *key)
{
    return hash_of(cache->seed + coll->number, key, coll->key_count);
}

/* The slot that has the key, or VLS_CACHE_SLOTS. */
static size_t find(const vls_cache *cache, const vls_coll *coll, const valise_cell *key,
                   uint64_t hash)
{
    size_t first = hash % SETS * VLS_CACHE_WAYS;

    for (size_t i = first; i < first + VLS_CACHE_WAYS; i++) {
        const slot *s = &cache->slots[i];
        if (s->hash == hash && s->of == coll &&
            vls_cells_equal(cells_at(cache, i), key, coll->key_count))
            return i;
    }
    return VLS_CACHE_SLOTS;
}

static int hand_out(valise_cell *row, const vls_cache *cache, const vls_coll *coll, size_t at)
{
    if (cache->slots[at].there)
        memcpy(row, cache->rooms[at], coll->table.column_count * sizeof(*row));
    return cache->slots[at].there;
}

void vls_cache_put(vls_cache *cache, const vls_coll *coll, const valise_cell *key,
                   const valise_cell *row)
{
    uint64_t hash = key_hash(cache, coll, key);
    size_t at = find(cache, coll, key, hash);

    if (at == VLS_CACHE_SLOTS)
        at = take_slot(cache, hash);
    store(cache, at, (slot){coll, hash, row != NULL}, row ? row : key,
          row ? coll->table.column_count : coll->key_count);
}

/* ---- answers ---- */

static const order *find_order(const vls_cache *cache, const vls_coll *coll, int32_t index,
                               uint16_t equal)
{
    for (size_t i = 0; i < cache->order_count; i++) {
        const order *o = &cache->orders[i];
        if (o->coll == coll && o->index == index && o->equal == equal)
            return o;
    }
    return NULL;
}

/* A place for another kind, or NULL. */
static order *take_order(vls_cache *cache)
{
    for (size_t i = 0; i < cache->order_count; i++) {
        if (!cache->orders[i].coll)
            return &cache->orders[i];
    }
    return cache->order_count < VLS_CACHE_ORDERS ? &cache->orders[cache->order_count++] : NULL;
}

/* NULL: there are too many kinds already, or it has too many columns. */
static const order *add_order(vls_cache *cache, const vls_coll *coll, int32_t index, uint16_t equal)
{
    uint16_t columns[2 * VALISE_MAX_COLUMNS];
    uint16_t count = vls_coll_order(columns, coll, index);
    order *o = count <= COLUMNS_MAX ? take_order(cache) : NULL;

    if (!o)
        return NULL;
    *o = (order){.coll = coll, .index = index, .equal = equal, .count = count};
    memcpy(o->columns, columns, count * sizeof(*columns));
    cache->used = true;
    return o;
}

/* What a row is asked for by. */
static void pick(valise_cell *out, const order *o, const valise_cell *row)
{
    for (uint16_t i = 0; i < o->equal; i++)
        out[i] = row[o->columns[i]];
}

static uint64_t answer_hash(const vls_cache *cache, const order *o, const valise_cell *equal)
{
    uint64_t kind = (uint64_t)(o - cache->orders) + 1;

    return hash_of(cache->seed + (kind << 32), equal, o->equal);
}

static size_t find_answer(const vls_cache *cache, const order *o, const valise_cell *equal,
                          uint64_t hash)
{
    size_t first = hash % SETS * VLS_CACHE_WAYS;

    for (size_t i = first; i < first + VLS_CACHE_WAYS; i++) {
        const slot *s = &cache->slots[i];
        const valise_cell *cells = cells_at(cache, i);
        valise_cell own[COLUMNS_MAX];
        if (s->hash != hash || s->of != o)
            continue;
        if (s->there) {
            pick(own, o, cells);
            cells = own;
        }
        if (vls_cells_equal(cells, equal, o->equal))
            return i;
    }
    return VLS_CACHE_SLOTS;
}

int vls_cache_last(valise_cell *row, const vls_cache *cache, const vls_coll *coll, int32_t index,
                   const valise_cell *equal, uint16_t count)
{
    const order *o = find_order(cache, coll, index, count);
    size_t at = o ? find_answer(cache, o, equal, answer_hash(cache, o, equal)) : VLS_CACHE_SLOTS;

    return at == VLS_CACHE_SLOTS ? -1 : hand_out(row, cache, coll, at);
}

void vls_cache_put_last(vls_cache *cache, const vls_coll *coll, int32_t index,
                        const valise_cell *equal, uint16_t count, const valise_cell *row)
{
    const order *o = find_order(cache, coll, index, count);
    uint64_t hash;
    size_t at;

    if (!o)
        o = add_order(cache, coll, index, count);
    if (!o)
        return;
    hash = answer_hash(cache, o, equal);
    at = find_answer(cache, o, equal, hash);
    if (at == VLS_CACHE_SLOTS)
        at = take_slot(cache, hash);
    store(cache, at, (slot){o, hash, row != NULL}, row ? row : equal,
          row ? coll->table.column_count : count);
}

/* Is there an answer by key that tells of this one? Then as vls_cache_get, else -1. */
static int tell_by_last(valise_cell *row, const vls_cache *cache, const vls_coll *coll,
                        const valise_cell *key)
{
    uint16_t last = (uint16_t)(coll->key_count - 1);
    const order *o = find_order(cache, coll, -1, last);
    size_t at = o ? find_answer(cache, o, key, answer_hash(cache, o, key)) : VLS_CACHE_SLOTS;
    int side;

    if (at == VLS_CACHE_SLOTS)
        return -1;
    if (!cache->slots[at].there)
        return 0;
    side = vls_cells_compare(&key[last], &cells_at(cache, at)[last], 1);
    if (side == 0)
        return hand_out(row, cache, coll, at);
    return side > 0 ? 0 : -1;
}

int vls_cache_get(valise_cell *row, const vls_cache *cache, const vls_coll *coll,
                  const valise_cell *key)
{
    size_t at = find(cache, coll, key, key_hash(cache, coll, key));

    return at == VLS_CACHE_SLOTS ? tell_by_last(row, cache, coll, key)
                                 : hand_out(row, cache, coll, at);
}

/* ---- writing ---- */

static void drop_order(vls_cache *cache, order *o)
{
    for (size_t i = 0; i < VLS_CACHE_SLOTS; i++) {
        if (cache->slots[i].of == o)
            cache->slots[i].of = NULL;
    }
    *o = (order){.coll = NULL};
}

/* The row is no longer where it was: known by its cells, or (by key) by those of its key. */
static void leave(vls_cache *cache, const order *o, const valise_cell *row)
{
    valise_cell equal[COLUMNS_MAX];
    size_t at;

    pick(equal, o, row);
    at = find_answer(cache, o, equal, answer_hash(cache, o, equal));
    if (at < VLS_CACHE_SLOTS && cache->slots[at].there &&
        vls_cells_equal(cells_at(cache, at), row, o->coll->key_count))
        cache->slots[at].of = NULL;
}

/* A row is where it was not, or is another one. True when it is the answer now. */
static bool arrive(vls_cache *cache, const order *o, const valise_cell *row)
{
    valise_cell equal[COLUMNS_MAX];
    uint64_t hash;
    size_t at;
    int side = 0;

    pick(equal, o, row);
    hash = answer_hash(cache, o, equal);
    at = find_answer(cache, o, equal, hash);
    if (at == VLS_CACHE_SLOTS)
        return false;
    for (uint16_t i = o->equal; cache->slots[at].there && side == 0 && i < o->count; i++)
        side = vls_cells_compare(&row[o->columns[i]], &cells_at(cache, at)[o->columns[i]], 1);
    if (side < 0)
        return false;
    store(cache, at, (slot){o, hash, true}, row, o->coll->table.column_count);
    return cache->slots[at].of == o;
}

/* Whatever was under the key is no more, or is another row. */
static void leave_all(vls_cache *cache, const vls_coll *coll, const valise_cell *key, bool deleted)
{
    valise_cell old[VALISE_MAX_COLUMNS];
    int known = vls_cache_get(old, cache, coll, key);

    for (size_t i = 0; i < cache->order_count; i++) {
        order *o = &cache->orders[i];
        if (o->coll != coll)
            continue;
        if (o->index >= 0 && known < 0)
            drop_order(cache, o);
        else if (o->index >= 0 && known > 0)
            leave(cache, o, old);
        else if (o->index < 0 && deleted)
            leave(cache, o, key);
    }
}

static bool arrive_all(vls_cache *cache, const vls_coll *coll, const valise_cell *row)
{
    bool by_key = false;

    for (size_t i = 0; i < cache->order_count; i++) {
        const order *o = &cache->orders[i];
        if (o->coll == coll && arrive(cache, o, row))
            by_key |= o->index < 0 && o->equal + 1 == coll->key_count;
    }
    return by_key;
}

static bool is_asked_for(const vls_cache *cache, const vls_coll *coll)
{
    for (size_t i = 0; i < cache->order_count; i++) {
        if (cache->orders[i].coll == coll)
            return true;
    }
    return false;
}

void vls_cache_write(vls_cache *cache, const vls_coll *coll, const valise_cell *key,
                     const valise_cell *row)
{
    bool by_key = false;
    size_t at;

    if (is_asked_for(cache, coll)) {
        leave_all(cache, coll, key, !row);
        by_key = row && arrive_all(cache, coll, row);
    }
    if (!by_key) {
        vls_cache_put(cache, coll, key, row);
        return;
    }
    /* Once is enough: what is appended would soon push everything else out. */
    at = find(cache, coll, key, key_hash(cache, coll, key));
    if (at < VLS_CACHE_SLOTS)
        cache->slots[at].of = NULL;
}
