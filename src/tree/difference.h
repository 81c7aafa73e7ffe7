/* difference.h -- a node that differs between two trees, wherever these come from: a walk and the
 * last tree (compare.h), or two versions (rows_diff.h).
 *
 * Threads: plain data. */
#ifndef VLS_TREE_DIFFERENCE_H
#define VLS_TREE_DIFFERENCE_H

#include "tree/node.h"

/* Something that is different. One of the nodes may be NULL: there was nothing, or is nothing now.
 */
typedef struct vls_difference {
    valise_str path;
    const vls_node *was, *is;
    bool inside; /* the directory it was in is gone, or no directory any more */
} vls_difference;

/* Whether it is the same thing, changed, and not one that is gone and one that is new. */
static inline bool vls_difference_is_kept(const vls_difference *d)
{
    return d->was && d->is &&
           (d->was->kind == d->is->kind || d->was->kind == VLS_NODE_UNREADABLE ||
            d->is->kind == VLS_NODE_UNREADABLE);
}

typedef int vls_difference_fn(void *arg, const vls_difference *difference, valise_error *err);

#endif
