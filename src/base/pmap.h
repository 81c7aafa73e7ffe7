/* pmap.h -- a persistent ordered map: a snapshot of it costs nothing and never changes.
 *
 * The map holds references to the caller's items, in the order of their keys (bytes; a prefix comes
 * before what it begins). An item contains its key, which must not change while the item is in a
 * map.
 *
 *     vls_pmap_snapshot(&before, &map);      O(1): both now share every node
 *     vls_pmap_put(NULL, &map, item);        copies the nodes on the way to the item, no others
 *     vls_pmap_diff(&before, &map, ...);     looks only at what was copied
 *     vls_pmap_release(&map);                and back:
 *     map = before;                          a map may be moved by assignment
 *
 * A change that fails (VALISE_E_NO_MEMORY) leaves the contents as they were.
 *
 * Threads: a vls_pmap is single. A snapshot is a vls_pmap of its own: it may be read, changed and
 * released on one thread while the map it was taken from is changed on another. The items are
 * then referenced and dropped on several threads, so their ref and unref must be safe for that.
 * The tree itself is in pmap_node.h. */
#ifndef VLS_PMAP_H
#define VLS_PMAP_H

#include "base/str.h"

/* The three functions must not fail and must not touch the map. */
typedef struct vls_pmap_ops {
    valise_str (*key)(const void *item); /* valid as long as the item is */
    void (*ref)(void *item);
    void (*unref)(void *item); /* may free it */
} vls_pmap_ops;

typedef struct vls_pmap {
    const valise_env *env;
    const vls_pmap_ops *ops;
    struct vls_pmap_node *root; /* NULL: empty */
    size_t len;
} vls_pmap;

void vls_pmap_init(vls_pmap *map, const valise_env *env, const vls_pmap_ops *ops);
void vls_pmap_release(vls_pmap *map); /* a zeroed or released map is fine */

/* *out, which must not hold anything, becomes a map of its own with the contents of map. */
void vls_pmap_snapshot(vls_pmap *out, const vls_pmap *map);

/* The item with that key, or NULL. Items are borrowed from the map: take a reference to keep
 * one beyond the next change. */
void *vls_pmap_get(const vls_pmap *map, valise_str key);

/* Put item in, in the place of the one with the same key if there is one. The map takes a
 * reference of its own. *old gets the item that was replaced, as a reference of the caller's, or
 * NULL when there was none; the item itself when it was in already. Where old is NULL the map
 * drops what was replaced. VALISE_E_NO_MEMORY, VALISE_E_LIMIT (the tree would be higher than
 * VLS_PMAP_MAX_HEIGHT). */
int vls_pmap_put(void **old, vls_pmap *map, void *item) VLS_NODISCARD;

/* Take the item with that key out: *old gets it, as a reference of the caller's; where old is NULL
 * it is dropped. VALISE_E_NOT_FOUND; VALISE_E_NO_MEMORY, but never in a map that shares nothing
 * with a snapshot. */
int vls_pmap_remove(void **old, vls_pmap *map, valise_str key) VLS_NODISCARD;

/* ---- in order ---- */

/* Nodes above each other at most. A node that is not at the right edge is at least a quarter
 * full, so the memory of any machine is used up long before. */
#ifndef VLS_PMAP_MAX_HEIGHT
#define VLS_PMAP_MAX_HEIGHT 24
#endif

/* A place between items or at one. The map must not change while a cursor is in use. Behind the
 * last item prev goes back to it, before the first one next does. A cursor holds no references
 * and needs no release. */
typedef struct vls_pmap_cursor {
    unsigned depth; /* steps from the root to a leaf; 0: the map is empty */
    struct vls_pmap_step {
        struct vls_pmap_node *node;
        int at; /* in inner nodes the child; in the leaf -1 (before) to len (behind) */
    } step[VLS_PMAP_MAX_HEIGHT];
} vls_pmap_cursor;

/* Each goes to an item and returns it, or NULL when there is none there. */
void *vls_pmap_first(vls_pmap_cursor *cursor, const vls_pmap *map);
void *vls_pmap_next(vls_pmap_cursor *cursor);
void *vls_pmap_prev(vls_pmap_cursor *cursor);

/* The first item whose key is not less than key. */
void *vls_pmap_seek(vls_pmap_cursor *cursor, const vls_pmap *map, valise_str key);

/* The first item behind all those whose keys start with prefix. */
void *vls_pmap_seek_behind(vls_pmap_cursor *cursor, const vls_pmap *map, valise_str prefix);

/* The first item whose key starts with prefix; the others follow it. */
void *vls_pmap_first_in(vls_pmap_cursor *cursor, const vls_pmap *map, valise_str prefix);

/* How many items have keys that start with prefix, without looking at them: O(log n). */
size_t vls_pmap_count_in(const vls_pmap *map, valise_str prefix);

/* ---- difference ---- */

/* One key: the item a has under it and the one b has, either may be NULL but not both. Both are
 * borrowed. Non-zero ends the diff. */
typedef int vls_pmap_diff_fn(void *arg, void *in_a, void *in_b);

/* Report, in the order of keys, every key under which a and b hold different pointers; whether
 * two items really differ is for fn to see. Parts that a and b share are skipped unseen, so the
 * cost goes with what was changed since they were one. Returns 0, or what fn returned. */
int vls_pmap_diff(const vls_pmap *a, const vls_pmap *b, vls_pmap_diff_fn *fn, void *arg);

static inline void vls_auto_pmap(vls_pmap *map)
{
    vls_pmap_release(map);
}

#endif
