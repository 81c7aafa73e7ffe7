/* rows_check.c -- `validate`: are the rows of trees right, beyond what their fields say? */
#include "tree/rows_impl.h"

#include "base/hex.h"
#include "store/validate.h"

/* Not a scan: where the files did not change it writes nothing, and never an old version. */
#define REMEDY VLS_REMEDY_RESTORE

int vls_tree_check_here(valise_check *check, valise_view *view, const void *row, valise_error *err)
{
    const vls_tree_here_row *here = row;

    (void)view;
    if (here->id == 1)
        return 0;
    return valise_check_problem(check, err, REMEDY, "a workspace has one tree, not number %lld",
                                (long long)here->id);
}

/* ---- tree ---- */

static int count(void *arg, valise_str path, const vls_tree_node_row *row, valise_error *err)
{
    (void)path, (void)err;
    vls_tree_count(arg, (vls_node_kind)row->kind, row->size, 1);
    return 0;
}

static bool counts_equal(const vls_tree_counts *a, const vls_tree_counts *b)
{
    return a->files == b->files && a->dirs == b->dirs && a->links == b->links &&
           a->unreadable == b->unreadable && a->bytes == b->bytes;
}

int vls_tree_check_head(valise_check *check, valise_view *view, const void *row, valise_error *err)
{
    const vls_tree_row *tree = row;
    const vls_tree_at at = {view, tree->id, tree->version, 0};
    vls_tree_version_row version = {.tree = tree->id, .version = tree->version};
    vls_tree_counts counts = {.files = 0};
    int rc;

    if (tree->version == 0)
        return 0;
    if (tree->edge < 1 || tree->edge > tree->version)
        return valise_check_problem(check, err, REMEDY, "version %lld cannot be the oldest one",
                                    (long long)tree->edge);
    rc = valise_view_get(&version, view, &vls_tree_versions, err);
    if (rc < 0)
        return rc;
    if (rc == 0 || !vls_id_equal(&version.root, &tree->root) ||
        !vls_id_equal(&version.object, &tree->object) ||
        !counts_equal(&version.counts, &tree->counts))
        return valise_check_problem(check, err, REMEDY, "it does not match its version %lld",
                                    (long long)tree->version);
    rc = vls_tree_each_row(&at, VLS_STR(""), count, &counts, err);
    if (rc < 0 || counts_equal(&counts, &tree->counts))
        return rc;
    return valise_check_problem(check, err, REMEDY, "it records %lld files, but there are %lld",
                                (long long)tree->counts.files, (long long)counts.files);
}

/* ---- tree_version ---- */

int vls_tree_check_version(valise_check *check, valise_view *view, const void *row,
                           valise_error *err)
{
    const vls_tree_version_row *version = row;
    const vls_tree_at at = {view, version->tree, version->version, 0};
    vls_tree_row tree = {.id = version->tree};
    vls_tree_node_row root;
    valise_id id;
    int rc;

    vls_node_id(&id, VLS_STR(""), &version->object);
    if (!vls_id_equal(&id, &version->root))
        return valise_check_problem(check, err, REMEDY, "its root has the id %s",
                                    vls_id_hex(&id).s);
    rc = valise_view_get(&tree, view, &vls_trees, err);
    if (rc <= 0 || version->version < tree.edge)
        return rc < 0 ? rc : 0;
    rc = vls_tree_seek(&root, &at, VLS_STR(""), VLS_STR(""), &view->arena, err);
    if (rc < 0 || (rc > 0 && vls_id_equal(&root.hash, &version->object)))
        return rc < 0 ? rc : 0;
    return valise_check_problem(check, err, REMEDY, "the row of the root does not match its root");
}

/* ---- tree_node ---- */

/* The entries of a directory, of which the number must be known before the first is hashed; they
 * are added to *entries. */
static int hash_children(valise_id *out, int64_t *entries, const vls_tree_at *at, valise_str dir,
                         int64_t said, valise_error *err)
{
    VLS_AUTO(tree_names) vls_tree_names names = {0};
    vls_tree_found found;
    vls_hasher hasher;
    int rc;

    vls_tree_names_init(&names, at);
    rc = vls_tree_names_enter(&names, dir, VLS_STR(""), err);
    if (rc < 0)
        return rc;
    vls_dir_hash_begin(&hasher, (size_t)said);
    while ((rc = vls_tree_names_next(&names, err)) > 0) {
        vls_tree_found_of(&found, &names.row, names.row.name);
        vls_dir_hash_entry(&hasher, names.row.name, found.node.kind, &found.node.object);
        ++*entries;
    }
    if (rc == 0)
        vls_dir_hash_end(out, &hasher);
    return rc;
}

/* The version in which the row can be seen first, or a sweep of rows before the edge has not come
 * to it yet: 0. Where there is no such tree, that is told with the reference. */
static int seen_in(int64_t *version, valise_view *view, const vls_tree_node_row *row,
                   valise_error *err)
{
    vls_tree_row tree = {.id = row->tree};
    vls_tree_at at = {view, row->tree, row->version, 0};
    vls_tree_node_row newest = *row;
    int rc = valise_view_get(&tree, view, &vls_trees, err);

    if (rc > 0 && row->version < tree.edge) {
        at.version = tree.edge;
        rc = vls_tree_seek(&newest, &at, row->parent, row->name, &view->arena, err);
    }
    *version = at.version;
    return rc <= 0 ? rc : newest.version == row->version;
}

/* Of a version that can be seen: its object id is that of its children. */
static int check_dir(valise_check *check, valise_view *view, const vls_tree_node_row *row,
                     valise_str path, valise_error *err)
{
    vls_tree_at at = {view, row->tree, 0, 0};
    int64_t entries = 0;
    valise_id object;
    int rc = seen_in(&at.version, view, row, err);

    if (rc <= 0)
        return rc;
    rc = hash_children(&object, &entries, &at, path, row->size, err);
    if (rc < 0)
        return rc;
    if (entries != row->size)
        return valise_check_problem(check, err, REMEDY, "it has %lld entries, but records %lld",
                                    (long long)entries, (long long)row->size);
    if (!vls_id_equal(&object, &row->hash))
        return valise_check_problem(check, err, REMEDY, "its object id does not match its entries");
    return 0;
}

/* What it is in is a directory. */
static int check_parent(valise_check *check, valise_view *view, const vls_tree_node_row *row,
                        valise_error *err)
{
    vls_tree_at at = {view, row->tree, 0, 0};
    vls_tree_node_row parent;
    int rc = row->name.len == 0 ? 0 : seen_in(&at.version, view, row, err);

    if (rc <= 0)
        return rc;
    rc = vls_tree_seek(&parent, &at, vls_path_parent(row->parent), vls_path_name(row->parent),
                       &view->arena, err);
    if (rc < 0 || (rc > 0 && parent.kind == VLS_NODE_DIR))
        return rc < 0 ? rc : 0;
    return valise_check_problem(check, err, REMEDY, "it is in no directory");
}

int vls_tree_check_node(valise_check *check, valise_view *view, const void *row, valise_error *err)
{
    const vls_tree_node_row *node = row;
    VLS_AUTO(buf) vls_buf path = {0};
    vls_tree_found found;
    int rc;

    vls_buf_init(&path, view->arena.env, (size_t)2 * VLS_PATH_MAX);
    vls_path_below(&path, node->parent, node->name);
    rc = vls_buf_check(&path, err);
    if (rc < 0)
        return rc;
    if (vls_path_check(vls_buf_str(&path), NULL) < 0 ||
        memchr(node->name.ptr, '/', node->name.len) || (node->name.len == 0 && path.len > 0))
        return valise_check_problem(check, err, REMEDY, "its path is invalid");
    if (node->kind == VLS_NODE_GONE)
        return 0;
    vls_tree_found_of(&found, node, vls_buf_str(&path));
    if (vls_tree_node8(&found.id) != node->node8)
        return valise_check_problem(check, err, REMEDY, "its node id is %s",
                                    vls_id_hex(&found.id).s);
    rc = check_parent(check, view, node, err);
    if (rc == 0 && node->kind == VLS_NODE_DIR)
        rc = check_dir(check, view, node, vls_buf_str(&path), err);
    return rc;
}
