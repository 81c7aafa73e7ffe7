/* pmap_diff.c -- what two maps do not share.
 *
 * Each side has a place in its tree: a slot at any height, which stands for an item or for all
 * that is below a child. Both begin with the slots of their roots. A slot is either stepped over
 * or, when it is a child, entered. Since separators are exact, item[at] is the smallest item of
 * what a slot stands for, whatever its height.
 *
 *     same pointer on both sides           step over both: nothing below differs
 *     same smallest key, unequal heights   enter the higher
 *     same smallest key, both children     enter both
 *     same key, both items                 report both
 *     one side begins earlier              item: report it; child: enter it
 *
 * So nothing that both trees hold is entered, roots aside. A child is entered opposite a slot that
 * begins later: then the other side has passed the place where it would be. Or opposite one that
 * begins the same but is no higher: then it is neither that slot nor a part of it. */
#include "base/pmap_node.h"

typedef vls_pmap_node node;
typedef struct vls_pmap_step step;

static void enter_node(vls_pmap_cursor *c, node *n)
{
    assert(c->depth < VLS_PMAP_MAX_HEIGHT);
    c->step[c->depth++] = (step){n, 0};
}

static step *here(vls_pmap_cursor *c)
{
    return &c->step[c->depth - 1];
}

static bool is_item(const step *s)
{
    return s->node->height == 0;
}

static void enter(vls_pmap_cursor *c)
{
    const step *s = here(c);

    enter_node(c, s->node->child[s->at]);
}

static void step_over(vls_pmap_cursor *c)
{
    here(c)->at++;
    while (c->depth > 0 && here(c)->at == here(c)->node->len) {
        c->depth--;
        if (c->depth > 0)
            here(c)->at++;
    }
}

static bool same(const step *a, const step *b)
{
    if (a->node->height != b->node->height)
        return false;
    return is_item(a) ? a->node->item[a->at] == b->node->item[b->at]
                      : a->node->child[a->at] == b->node->child[b->at];
}

static int compare_smallest(const vls_pmap_ops *ops, const step *a, const step *b)
{
    const void *x = a->node->item[a->at], *y = b->node->item[b->at];

    return x == y ? 0 : vls_str_compare(ops->key(x), ops->key(y));
}

typedef struct report {
    vls_pmap_diff_fn *fn;
    void *arg;
} report;

/* The side that begins earlier, or whose counterpart has ended. */
static int take_one(vls_pmap_cursor *c, bool is_a, report r)
{
    const step *s = here(c);

    if (!is_item(s)) {
        enter(c);
        return 0;
    }
    void *item = s->node->item[s->at];
    step_over(c);
    return is_a ? r.fn(r.arg, item, NULL) : r.fn(r.arg, NULL, item);
}

/* Both sides begin with the same key. */
static int take_both(vls_pmap_cursor *a, vls_pmap_cursor *b, report r)
{
    const step *x = here(a), *y = here(b);
    unsigned height_a = x->node->height, height_b = y->node->height;

    if (height_a == 0 && height_b == 0) {
        void *in_a = x->node->item[x->at], *in_b = y->node->item[y->at];
        step_over(a);
        step_over(b);
        return r.fn(r.arg, in_a, in_b);
    }
    if (height_a >= height_b)
        enter(a);
    if (height_b >= height_a)
        enter(b);
    return 0;
}

int vls_pmap_diff(const vls_pmap *map_a, const vls_pmap *map_b, vls_pmap_diff_fn *fn, void *arg)
{
    vls_pmap_cursor a = {.depth = 0}, b = {.depth = 0};
    report r = {fn, arg};
    int rc = 0;

    assert(map_a->ops == map_b->ops);
    if (map_a->root == map_b->root)
        return 0;
    if (map_a->root)
        enter_node(&a, map_a->root);
    if (map_b->root)
        enter_node(&b, map_b->root);

    while (rc == 0 && (a.depth > 0 || b.depth > 0)) {
        if (b.depth == 0) {
            rc = take_one(&a, true, r);
        } else if (a.depth == 0) {
            rc = take_one(&b, false, r);
        } else if (same(here(&a), here(&b))) {
            step_over(&a);
            step_over(&b);
        } else {
            int order = compare_smallest(map_a->ops, here(&a), here(&b));
            if (order == 0)
                rc = take_both(&a, &b, r);
            else
                rc = order < 0 ? take_one(&a, true, r) : take_one(&b, false, r);
        }
    }
    return rc;
}
