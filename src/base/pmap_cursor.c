/* pmap_cursor.c -- finding a place and walking from it.
 *
 * A cursor's last step is always in a leaf. There `at` runs from -1 to len, so that a cursor that
 * walked off an end still knows where it is and can turn round. */
#include "base/pmap_node.h"

typedef vls_pmap_node node;
typedef struct vls_pmap_step step;

static void push(vls_pmap_cursor *c, node *n, int at)
{
    assert(c->depth < VLS_PMAP_MAX_HEIGHT);
    c->step[c->depth++] = (step){n, at};
}

bool vls_pmap_find(vls_pmap_cursor *c, const vls_pmap *map, const vls_pmap_probe *probe)
{
    node *n = map->root;
    bool equal = false;

    c->depth = 0;
    while (n) {
        unsigned at = vls_pmap_node_find(&equal, map->ops, n, probe);
        /* Above the leaves the child to go to is the last one that does not begin too late; what
         * is before everything goes to the first. */
        if (n->height > 0 && !equal && at > 0)
            at--;
        push(c, n, (int)at);
        n = n->height > 0 ? n->child[at] : NULL;
    }
    return equal;
}

static void *item_at(const vls_pmap_cursor *c)
{
    const step *last = &c->step[c->depth - 1];

    return last->at >= 0 && last->at < last->node->len ? last->node->item[last->at] : NULL;
}

/* From the last step down to the leaf, along the left or the right edge. */
static void descend(vls_pmap_cursor *c, bool leftmost)
{
    for (;;) {
        const step *last = &c->step[c->depth - 1];
        if (last->node->height == 0)
            return;
        node *child = last->node->child[last->at];
        push(c, child, leftmost ? 0 : child->len - 1);
    }
}

/* One slot on, to the right or to the left. At the end of the map the cursor stays in its leaf,
 * beside the last item. */
static void *walk(vls_pmap_cursor *c, int by)
{
    unsigned level = c->depth;

    while (level > 0) {
        step *s = &c->step[level - 1];
        if (s->at + by >= 0 && s->at + by < s->node->len) {
            s->at += by;
            c->depth = level;
            descend(c, by > 0);
            return item_at(c);
        }
        level--;
    }
    if (c->depth > 0) {
        step *last = &c->step[c->depth - 1];
        last->at = by > 0 ? last->node->len : -1;
    }
    return NULL;
}

void *vls_pmap_next(vls_pmap_cursor *c)
{
    return walk(c, 1);
}

void *vls_pmap_prev(vls_pmap_cursor *c)
{
    return walk(c, -1);
}

void *vls_pmap_first(vls_pmap_cursor *c, const vls_pmap *map)
{
    c->depth = 0;
    if (!map->root)
        return NULL;
    push(c, map->root, 0);
    descend(c, true);
    return item_at(c);
}

static void *seek(vls_pmap_cursor *c, const vls_pmap *map, const vls_pmap_probe *probe)
{
    (void)vls_pmap_find(c, map, probe);
    if (c->depth == 0)
        return NULL;
    /* Behind the last item of this leaf: it is the first of the next one. */
    void *item = item_at(c);
    return item ? item : walk(c, 1);
}

void *vls_pmap_seek(vls_pmap_cursor *c, const vls_pmap *map, valise_str key)
{
    return seek(c, map, &(vls_pmap_probe){key, false});
}

void *vls_pmap_seek_behind(vls_pmap_cursor *c, const vls_pmap *map, valise_str prefix)
{
    return seek(c, map, &(vls_pmap_probe){prefix, true});
}

/* ---- what starts with a prefix ---- */

void *vls_pmap_first_in(vls_pmap_cursor *c, const vls_pmap *map, valise_str prefix)
{
    void *item = vls_pmap_seek(c, map, prefix);

    return item && vls_str_starts(map->ops->key(item), prefix) ? item : NULL;
}

/* How many items are before the place of the probe. */
static size_t count_before(const vls_pmap *map, const vls_pmap_probe *probe)
{
    const node *n = map->root;
    size_t count = 0;
    bool equal = false;

    while (n) {
        unsigned at = vls_pmap_node_find(&equal, map->ops, n, probe);
        if (n->height == 0)
            return count + at;
        if (!equal && at > 0)
            at--;
        for (unsigned i = 0; i < at; i++)
            count += vls_pmap_node_count(n->child[i]);
        n = n->child[at];
    }
    return count;
}

size_t vls_pmap_count_in(const vls_pmap *map, valise_str prefix)
{
    return count_before(map, &(vls_pmap_probe){prefix, true}) -
           count_before(map, &(vls_pmap_probe){prefix, false});
}
