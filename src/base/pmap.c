/* pmap.c -- changing the map.
 *
 * A change searches first, without touching anything, and keeps the way it came in a cursor.
 * Then it makes that way its own (own_path), and only then changes slots. Every step leaves a
 * good tree with the same items, up to the last one, which cannot fail. */
#include "base/pmap_node.h"

#define FANOUT VLS_PMAP_FANOUT

typedef vls_pmap_node node;
typedef struct vls_pmap_step step;

void vls_pmap_init(vls_pmap *map, const valise_env *env, const vls_pmap_ops *ops)
{
    *map = (vls_pmap){.env = env, .ops = ops};
}

void vls_pmap_release(vls_pmap *map)
{
    if (map->root)
        vls_pmap_node_unref(map, map->root);
    *map = (vls_pmap){.env = map->env, .ops = map->ops};
}

void vls_pmap_snapshot(vls_pmap *out, const vls_pmap *map)
{
    if (map->root)
        vls_ref_get(&map->root->refs);
    *out = *map;
}

void *vls_pmap_get(const vls_pmap *map, valise_str key)
{
    node *n = map->root;
    bool equal = false;

    while (n) {
        unsigned at = vls_pmap_node_find(&equal, map->ops, n, &(vls_pmap_probe){key, false});
        if (equal)
            return n->item[at]; /* in an inner node too: separators are exact */
        if (n->height == 0 || at == 0)
            return NULL;
        n = n->child[at - 1];
    }
    return NULL;
}

/* Make every node on the way one that may be changed. */
static int own_path(vls_pmap *map, vls_pmap_cursor *path)
{
    node **slot = &map->root;

    for (unsigned i = 0; i < path->depth; i++) {
        step *s = &path->step[i];
        int rc = vls_pmap_node_own(map, slot);
        if (rc < 0)
            return rc;
        s->node = *slot;
        if (s->node->height > 0)
            slot = &s->node->child[s->at];
    }
    return 0;
}

/* There is one item more, or one less, in the leaf at the end of the way. */
static void count_path(vls_pmap_cursor *path, bool more)
{
    for (unsigned i = 0; i + 1 < path->depth; i++) {
        node *n = path->step[i].node;
        n->below = more ? n->below + 1 : n->below - 1;
    }
}

static void shrink_root(vls_pmap *map)
{
    while (map->root->height > 0 && map->root->len == 1) {
        node *gone = map->root;
        map->root = gone->child[0];
        vls_pmap_node_free(map->env, gone);
    }
}

/* ---- put ---- */

static int put_first(vls_pmap *map, void *item)
{
    node *leaf = vls_pmap_node_new(map->env, 0);

    if (!leaf)
        return VALISE_E_NO_MEMORY;
    map->ops->ref(item);
    vls_pmap_node_insert(map->ops, leaf, 0, item, NULL);
    map->root = leaf;
    map->len = 1;
    return 0;
}

/* A root with one child, the old root. It does not stay so: a split follows or shrink_root. */
static int grow_root(vls_pmap *map, vls_pmap_cursor *path)
{
    if (path->depth == VLS_PMAP_MAX_HEIGHT)
        return VALISE_E_LIMIT;
    node *top = vls_pmap_node_new(map->env, map->root->height + 1u);
    if (!top)
        return VALISE_E_NO_MEMORY;
    vls_pmap_node_insert(map->ops, top, 0, map->root->item[0], map->root);
    top->below = vls_pmap_node_count(map->root);
    map->root = top;
    memmove(&path->step[1], &path->step[0], path->depth * sizeof(step));
    path->step[0] = (step){top, 0};
    path->depth++;
    return 0;
}

/* Whether the way goes on behind or through the last slot. */
static bool at_end(const step *s)
{
    return s->at >= s->node->len - (s->node->height > 0);
}

/* How many slots of a full node stay when it is split. Keys often come in ascending order, in the
 * whole map or below some prefix: whoever puts behind the end of a node leaves it well filled, and
 * a split near the middle is made just there, so that the next key is behind an end. */
static int slots_to_keep(const vls_pmap_cursor *path, unsigned level)
{
    int at = path->step[level].at;

    if (!at_end(&path->step[level]))
        return at >= FANOUT * 3 / 8 && at <= FANOUT * 5 / 8 ? at : FANOUT / 2;
    while (level > 0 && at_end(&path->step[level - 1]))
        level--;
    return level == 0 ? FANOUT - 1 : FANOUT * 3 / 4;
}

/* Split the full node at this level in two; the one above it has room. */
static int split_step(vls_pmap *map, vls_pmap_cursor *path, unsigned level)
{
    step *s = &path->step[level], *up = &path->step[level - 1];
    int keep = slots_to_keep(path, level);
    node *right = vls_pmap_node_new(map->env, s->node->height);

    if (!right)
        return VALISE_E_NO_MEMORY;
    vls_pmap_node_split(map->ops, s->node, right, (unsigned)keep);
    vls_pmap_node_insert(map->ops, up->node, (unsigned)up->at + 1, right->item[0], right);

    /* A new item for just where the leaf was split goes to the end of the left part, so that the
     * separator of the right one stays. A child is where it is. */
    if (s->at > keep || (s->at == keep && right->height > 0)) {
        *s = (step){right, s->at - keep};
        up->at++;
    }
    return 0;
}

/* Room for one more item in the leaf at the end of the way, from the lowest node that has some
 * downwards. */
static int make_room(vls_pmap *map, vls_pmap_cursor *path)
{
    unsigned level = path->depth; /* the first of the full ones */
    int rc = 0;

    while (level > 0 && path->step[level - 1].node->len == FANOUT)
        level--;
    if (level == 0) {
        rc = grow_root(map, path);
        level = 1;
    }
    for (; rc == 0 && level < path->depth; level++)
        rc = split_step(map, path, level);
    if (rc < 0)
        shrink_root(map);
    return rc;
}

/* The leaf's smallest item is another one: tell the separators above. */
static void spread_smallest(vls_pmap *map, vls_pmap_cursor *path)
{
    for (unsigned level = path->depth - 1; level > 0; level--) {
        step *up = &path->step[level - 1];
        vls_pmap_node_set_item(map->ops, up->node, (unsigned)up->at,
                               path->step[level].node->item[0]);
        if (up->at > 0)
            return;
    }
}

/* What the map held until now: to the caller, or dropped. */
static void hand_out(void **old, const vls_pmap *map, void *item)
{
    if (old)
        *old = item;
    else if (item)
        map->ops->unref(item);
}

int vls_pmap_put(void **old, vls_pmap *map, void *item)
{
    vls_pmap_cursor path;
    valise_str key = map->ops->key(item);
    void *replaced = NULL;
    int rc;

    if (!map->root) {
        rc = put_first(map, item);
        if (rc == 0 && old)
            *old = NULL;
        return rc;
    }
    bool found = vls_pmap_find(&path, map, &(vls_pmap_probe){key, false});
    step *last = &path.step[path.depth - 1];
    if (found && last->node->item[last->at] == item) {
        if (old) {
            map->ops->ref(item);
            *old = item;
        }
        return 0;
    }

    rc = own_path(map, &path);
    if (rc == 0 && !found)
        rc = make_room(map, &path);
    if (rc < 0)
        return rc;

    last = &path.step[path.depth - 1];
    map->ops->ref(item);
    if (found) {
        replaced = last->node->item[last->at];
        last->node->item[last->at] = item;
    } else {
        vls_pmap_node_insert(map->ops, last->node, (unsigned)last->at, item, NULL);
        count_path(&path, true);
        map->len++;
    }
    if (last->at == 0)
        spread_smallest(map, &path);
    hand_out(old, map, replaced);
    return 0;
}

/* ---- remove ---- */

/* A slot of the leaf is gone: from there up, drop what became empty, mend what became sparse,
 * and keep the separators exact. */
static void settle(vls_pmap *map, vls_pmap_cursor *path)
{
    for (unsigned level = path->depth - 1; level > 0; level--) {
        node *n = path->step[level].node, *up = path->step[level - 1].node;
        unsigned at = (unsigned)path->step[level - 1].at;

        if (n->len == 0) {
            vls_pmap_node_remove(up, at);
            vls_pmap_node_free(map->env, n);
            continue;
        }
        if (up->item[at] != n->item[0])
            vls_pmap_node_set_item(map->ops, up, at, n->item[0]);
        if (n->len < VLS_PMAP_MIN)
            vls_pmap_node_mend(map, up, at);
    }
    if (map->root->len > 0) {
        shrink_root(map);
    } else {
        vls_pmap_node_free(map->env, map->root);
        map->root = NULL;
    }
}

int vls_pmap_remove(void **old, vls_pmap *map, valise_str key)
{
    vls_pmap_cursor path;

    if (!vls_pmap_find(&path, map, &(vls_pmap_probe){key, false}))
        return VALISE_E_NOT_FOUND;
    int rc = own_path(map, &path);
    if (rc < 0)
        return rc;

    step *last = &path.step[path.depth - 1];
    void *item = last->node->item[last->at];
    vls_pmap_node_remove(last->node, (unsigned)last->at);
    count_path(&path, false);
    map->len--;
    settle(map, &path);
    /* Last: separators borrowed it until now, and the caller's key may be in it. */
    hand_out(old, map, item);
    return 0;
}
