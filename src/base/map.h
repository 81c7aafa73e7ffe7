/* map.h -- a hash table of pointers to the caller's items.
 *
 * The table stores no keys: an item contains its own, and `equal` says whether an item has the key
 * that is looked for. The caller hashes (vls_str_hash with its own seed), so a hash is computed
 * only once even if several tables use it. Items are never NULL.
 *
 * Threads: single. */
#ifndef VLS_MAP_H
#define VLS_MAP_H

#include "base/base.h"

typedef bool vls_map_equal(const void *item, const void *key);

typedef struct vls_map_slot {
    uint64_t hash;
    void *item; /* NULL: empty */
} vls_map_slot;

typedef struct vls_map {
    const valise_env *env;
    vls_map_equal *equal;
    vls_map_slot *slots; /* a power of two of them, or none yet */
    size_t cap, len;
} vls_map;

void vls_map_init(vls_map *map, const valise_env *env, vls_map_equal *equal);
void vls_map_release(vls_map *map); /* the items are the caller's */
void vls_map_clear(vls_map *map);   /* empty; keeps its memory */

/* The item with that key, or NULL. */
void *vls_map_get(const vls_map *map, uint64_t hash, const void *key);

/* Put item in, in the place of the one with the same key if there is one; *old (which may be
 * NULL) gets that one, or NULL. VALISE_E_NO_MEMORY leaves the map as it was. */
int vls_map_put(void **old, vls_map *map, uint64_t hash, const void *key, void *item);

/* Take the item with that key out and return it; NULL when there is none. Never fails. */
void *vls_map_remove(vls_map *map, uint64_t hash, const void *key);

/* Room for count items in all, so that as many puts cannot fail. */
int vls_map_reserve(vls_map *map, size_t count);

/* All items in no particular order: start with *at = 0, call until NULL. The map must not
 * change meanwhile. */
void *vls_map_next(const vls_map *map, size_t *at);

static inline void vls_auto_map(vls_map *map)
{
    vls_map_release(map);
}

#endif
