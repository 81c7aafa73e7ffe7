/* rows_named.c -- rows of the workspace's own tree by what people are shown of them: a version by
 * its root, a node by its node id or its object id (valise_coll.named). */
#include "tree/rows_impl.h"

#include "base/hex.h"

/* 1: there is a tree that was scanned, and the text may be an id. */
static int find_tree(vls_tree_row *out, valise_view *view, valise_str text, valise_error *err)
{
    return vls_tree_is_digits(text) ? vls_tree_head(out, view, err) : 0;
}

int vls_tree_named_version(valise_view *view, valise_str text, bool widely, valise_named_fn *fn,
                           void *arg, valise_error *err)
{
    vls_tree_version_row row;
    vls_tree_row tree;
    int rc = widely ? 0 : find_tree(&tree, view, text, err);

    if (rc > 0)
        rc = vls_tree_version_of(&row, view, &tree, text, err);
    return rc > 0 ? fn(arg, &row, vls_id_hex(&row.root).s, err) : rc;
}

static int give_node(const vls_tree_row *tree, const vls_tree_found *found, valise_named_fn *fn,
                     void *arg, valise_error *err)
{
    const vls_tree_node_row row = {.tree = tree->id,
                                   .parent = vls_path_parent(found->path),
                                   .name = vls_path_name(found->path),
                                   .version = found->version};

    return fn(arg, &row, vls_id_hex(&found->id).s, err);
}

typedef struct looking {
    valise_view *view;
    const vls_tree_row *tree;
    valise_str digits;
    valise_named_fn *fn;
    void *arg;
} looking;

static int match_object(void *arg, const vls_tree_found *found, valise_error *err)
{
    const looking *l = arg;
    vls_tree_found kept = *found;
    int rc;

    if (!vls_tree_has_digits(&found->node.object, l->digits))
        return 0;
    rc = vls_arena_dup(&kept.path, &l->view->arena, found->path, err);
    return rc < 0 ? rc : give_node(l->tree, &kept, l->fn, l->arg, err);
}

/* The root's node id is the root of its version, which is meant. Object ids are in no index, and
 * the same one may be at many paths: each is a candidate, with its node id. */
int vls_tree_named_node(valise_view *view, valise_str text, bool widely, valise_named_fn *fn,
                        void *arg, valise_error *err)
{
    vls_tree_found found;
    vls_tree_row tree;
    looking l = {view, &tree, text, fn, arg};
    int rc = find_tree(&tree, view, text, err);

    if (rc <= 0)
        return rc;
    if (widely)
        return vls_tree_walk(view, &tree, tree.version, VLS_STR(""), match_object, &l, err);
    rc = vls_tree_find(&found, view, &tree, tree.version, text, err);
    return rc > 0 && found.path.len > 0 ? give_node(&tree, &found, fn, arg, err) : vls_settle(rc);
}
