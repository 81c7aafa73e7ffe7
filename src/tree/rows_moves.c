/* rows_moves.c -- what moved between two versions: see rows_diff.h. */
#include "store/view.h"
#include "tree/compare.h"
#include "tree/rows_diff.h"

static int count(void *arg, const vls_difference *d, valise_error *err)
{
    vls_scan *out = arg;

    (void)err;
    if (d->path.len == 0)
        return 0;
    if (vls_difference_is_kept(d)) {
        out->changed += d->was->kind != VLS_NODE_DIR || d->is->kind != VLS_NODE_DIR;
        return 0;
    }
    out->removed += d->was != NULL;
    out->added += d->is != NULL;
    return 0;
}

static int each(void *self, vls_difference_fn *fn, void *arg, valise_error *err)
{
    return vls_tree_diff_each(self, fn, arg, err);
}

int vls_tree_diff_moves(vls_scan *out, vls_tree_diff *diff, valise_error *err)
{
    int rc = vls_tree_diff_each(diff, count, out, err);

    if (rc == 0 && out->added > 0 && out->removed > 0)
        rc = vls_moves_find(out, diff->view->arena.env, each, diff, err);
    return rc;
}
