/* pmap_node.h -- the nodes of base/pmap: a B+tree that is copied where it is shared.
 *
 *     leaf    refs skip len 0   head[] item[]           item: the items, each referenced
 *     inner   refs skip len h   head[] item[] child[]   item[i]: the smallest item below child[i],
 *                                                       borrowed (a leaf below references it);
 *                                                       below: how many items there are under it
 *
 * skip is how many bytes at the beginning all keys of the node's items have in common; head[i] is
 * the next four bytes of key i as a big-endian number, with zeros after the end of the key. So a
 * search counts the heads below its own and compares whole keys only among equal heads. Heads of
 * unused slots are all ones.
 *
 * Sharing: refs counts the nodes and maps that point here. A node is changed in place only by
 * one who holds the single reference to it and to everything above it; everybody else copies it
 * first. There is no other mark of ownership.
 *
 * Invariants, which the tests check by walking:
 *   - keys ascend strictly; separators are exact: item[i] == child[i]->item[0];
 *   - below is what the children have together;
 *   - all leaves have height 0, a child one less than its parent;
 *   - an inner root has at least 2 children;
 *   - other nodes are at least a quarter full, except on the right edge of the tree (where
 *     appending leaves full nodes behind and starts new ones with a single slot) and where
 *     memory ran out: those have at least 1.
 *
 * Threads: a node with more than one reference is immutable, one with a single reference is single;
 * refs is atomic.
 *
 * Internal to pmap*.c and its tests. */
#ifndef VLS_PMAP_NODE_H
#define VLS_PMAP_NODE_H

#include "base/pmap.h"
#include "base/ref.h"

/* The tests also build the tree with few slots, to get high trees from few keys. */
#ifndef VLS_PMAP_FANOUT
#define VLS_PMAP_FANOUT 32
#endif

#define VLS_PMAP_MIN (VLS_PMAP_FANOUT / 4)      /* below it a node is joined or evened out */
#define VLS_PMAP_JOIN (VLS_PMAP_FANOUT / 4 * 3) /* two that fit in this many slots are joined */

typedef struct vls_pmap_node {
    vls_ref refs;
    uint32_t skip;
    uint16_t len;
    uint8_t height; /* 0: leaf */
    size_t below;   /* inner nodes: items in the leaves below */
    uint32_t head[VLS_PMAP_FANOUT];
    void *item[VLS_PMAP_FANOUT];
    struct vls_pmap_node *child[]; /* VLS_PMAP_FANOUT of them in an inner node */
} vls_pmap_node;

/* What is searched for: a key, or the place behind every key that starts with it. */
typedef struct vls_pmap_probe {
    valise_str key;
    bool behind;
} vls_pmap_probe;

/* An empty node; NULL when out of memory. */
vls_pmap_node *vls_pmap_node_new(const valise_env *env, unsigned height);

/* The memory alone, nothing below. */
void vls_pmap_node_free(const valise_env *env, vls_pmap_node *node);

void vls_pmap_node_unref(const vls_pmap *map, vls_pmap_node *node);

/* Make *slot point to a node that may be changed; the caller may already change what slot is in.
 * VALISE_E_NO_MEMORY changes nothing. */
int vls_pmap_node_own(const vls_pmap *map, vls_pmap_node **slot);

/* The first slot whose key is not less than the probe, len when there is none; *equal: the slot
 * has that very key (never when the probe is behind). */
unsigned vls_pmap_node_find(bool *equal, const vls_pmap_ops *ops, const vls_pmap_node *node,
                            const vls_pmap_probe *probe);

/* The way from the root to the slot of a leaf that has the probe's key (true), or where it would
 * go. */
bool vls_pmap_find(vls_pmap_cursor *cursor, const vls_pmap *map, const vls_pmap_probe *probe);

/* How many items it holds, or those below it. */
static inline size_t vls_pmap_node_count(const vls_pmap_node *node)
{
    return node->height > 0 ? node->below : node->len;
}

/* The changes below need a node that may be changed. References move with the slots. What a node
 * that is inserted or removed has below it is for the caller to add or take away. */
void vls_pmap_node_insert(const vls_pmap_ops *ops, vls_pmap_node *node, unsigned at, void *item,
                          vls_pmap_node *child);
void vls_pmap_node_remove(vls_pmap_node *node, unsigned at);
void vls_pmap_node_set_item(const vls_pmap_ops *ops, vls_pmap_node *node, unsigned at, void *item);

/* Move the slots of left from `keep` on to right, which is empty. */
void vls_pmap_node_split(const vls_pmap_ops *ops, vls_pmap_node *left, vls_pmap_node *right,
                         unsigned keep);

/* child[at] of parent has become sparse: join it with a neighbour, or take some of its slots.
 * When memory runs out it stays as it is. */
void vls_pmap_node_mend(const vls_pmap *map, vls_pmap_node *parent, unsigned at);

#endif
