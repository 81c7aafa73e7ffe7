/* map.c -- open addressing with linear probing, at most three quarters full.
 *
 * A slot keeps the whole hash, so a probe compares keys only where 64 bits agree and growing
 * never asks for a hash again. Removing shifts the run behind the hole back instead of leaving
 * a tombstone: a table that lives long does not fill with them.
 *
 * Invariant: from an item's home slot (hash masked) to where it lies there is no empty slot. */
#include "base/map.h"

#include "base/mem.h"

#define FIRST_CAP 16u

void vls_map_init(vls_map *map, const valise_env *env, vls_map_equal *equal)
{
    *map = (vls_map){.env = env, .equal = equal};
}

void vls_map_release(vls_map *map)
{
    if (map->env)
        vls_mem_free(map->env, map->slots, map->cap * sizeof(vls_map_slot));
    *map = (vls_map){.env = map->env, .equal = map->equal};
}

void vls_map_clear(vls_map *map)
{
    if (map->len > 0)
        memset(map->slots, 0, map->cap * sizeof(vls_map_slot));
    map->len = 0;
}

/* The slot of the key, or the empty slot where it would go. The table has one. */
static vls_map_slot *find_slot(const vls_map *map, uint64_t hash, const void *key)
{
    size_t mask = map->cap - 1;

    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        vls_map_slot *slot = &map->slots[i];
        if (!slot->item || (slot->hash == hash && map->equal(slot->item, key)))
            return slot;
    }
}

void *vls_map_get(const vls_map *map, uint64_t hash, const void *key)
{
    return map->len > 0 ? find_slot(map, hash, key)->item : NULL;
}

static int grow_to(vls_map *map, size_t cap)
{
    size_t bytes;
    vls_map_slot *slots;
    size_t mask = cap - 1;

    if (!vls_mem_multiply(&bytes, cap, sizeof(vls_map_slot)))
        return VALISE_E_NO_MEMORY;
    slots = vls_mem_zalloc(map->env, bytes);
    if (!slots)
        return VALISE_E_NO_MEMORY;
    for (size_t i = 0; i < map->cap; i++) {
        size_t at = map->slots[i].hash & mask;
        if (!map->slots[i].item)
            continue;
        while (slots[at].item)
            at = (at + 1) & mask;
        slots[at] = map->slots[i];
    }
    vls_mem_free(map->env, map->slots, map->cap * sizeof(vls_map_slot));
    map->slots = slots;
    map->cap = cap;
    return 0;
}

int vls_map_reserve(vls_map *map, size_t count)
{
    size_t cap = map->cap ? map->cap : FIRST_CAP;

    while (count > cap / 4 * 3) {
        if (cap > SIZE_MAX / 2)
            return VALISE_E_NO_MEMORY;
        cap *= 2;
    }
    return cap > map->cap ? grow_to(map, cap) : 0;
}

int vls_map_put(void **old, vls_map *map, uint64_t hash, const void *key, void *item)
{
    vls_map_slot *slot = map->cap ? find_slot(map, hash, key) : NULL;

    assert(item);
    if (!slot || (!slot->item && map->len + 1 > map->cap / 4 * 3)) {
        int rc = vls_map_reserve(map, map->len + 1);
        if (rc < 0)
            return rc;
        slot = find_slot(map, hash, key);
    }
    if (old)
        *old = slot->item;
    if (!slot->item)
        map->len++;
    *slot = (vls_map_slot){hash, item};
    return 0;
}

void *vls_map_remove(vls_map *map, uint64_t hash, const void *key)
{
    size_t mask = map->cap - 1;

    if (map->len == 0)
        return NULL;
    vls_map_slot *slot = find_slot(map, hash, key);
    void *item = slot->item;
    if (!item)
        return NULL;

    /* Move back each follower whose home is not behind the hole. */
    size_t hole = (size_t)(slot - map->slots);
    for (size_t i = (hole + 1) & mask; map->slots[i].item; i = (i + 1) & mask) {
        size_t home = map->slots[i].hash & mask;
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            map->slots[hole] = map->slots[i];
            hole = i;
        }
    }
    map->slots[hole].item = NULL;
    map->len--;
    return item;
}

void *vls_map_next(const vls_map *map, size_t *at)
{
    while (*at < map->cap) {
        void *item = map->slots[(*at)++].item;
        if (item)
            return item;
    }
    return NULL;
}
