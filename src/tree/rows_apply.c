/* rows_apply.c -- what commands do to a tree: rows of a list of changes, and the version.
 *
 * A list comes in pieces, each in a command of its own, in the order of paths over all of them. So
 * whatever a change depends on, the row of the directory it is in, is there already: put by this
 * command or by one before it. What was there before is read below the changes of the command: a
 * scan that had to look through those for each change would be quadratic. */
#include "tree/rows_impl.h"

#include "base/hex.h"
#include "base/text.h"
#include "tree/changes.h"

typedef struct applying {
    valise_view *view;
    const vls_tree_row *tree;
    vls_tree_at old; /* the tree as it was */
    vls_arena arena; /* of one change */
    size_t dir_len;  /* dir is a directory of the new version */
    bool dir_known;
    char dir[VLS_PATH_MAX];
} applying;

static void vls_auto_applying(applying *a)
{
    if (!a->view)
        return;
    vls_arena_release(&a->arena);
}

static int fail(valise_str path, const char *why, valise_error *err)
{
    (void)vls_fail(err, VALISE_E_CONFLICT, "the change of '%s' does not match the tree: %s",
                   vls_text_short(path).s, why);
    vls_hint(err, "scan again");
    return VALISE_E_CONFLICT;
}

/* The row of this version for what lies at a path. */
static vls_tree_node_row place_of(const applying *a, valise_str path)
{
    return (vls_tree_node_row){.tree = a->tree->id,
                               .parent = vls_path_parent(path),
                               .name = vls_path_name(path),
                               .version = a->tree->version + 1};
}

/* Whatever changes, the directory it is in changes too, and came before it. */
static int check_parent(applying *a, valise_str path, valise_error *err)
{
    valise_str parent = vls_path_parent(path);
    vls_tree_node_row row;
    int rc;

    if (path.len == 0 || (a->dir_known && vls_str_equal(parent, vls_str(a->dir, a->dir_len))))
        return 0;
    row = place_of(a, parent);
    rc = valise_view_get(&row, a->view, &vls_tree_nodes, err);
    if (rc < 0)
        return rc;
    if (rc == 0)
        return fail(path, "its directory did not change", err);
    if (row.kind != VLS_NODE_DIR)
        return fail(path, "it is in no directory", err);
    memcpy(a->dir, parent.ptr, parent.len);
    a->dir_len = parent.len;
    a->dir_known = true;
    return 0;
}

/* One more row of something that is under a directory that went. */
static int put_gone(void *self, valise_str path, const vls_tree_node_row *row, valise_error *err)
{
    const applying *a = self;
    vls_tree_node_row gone = place_of(a, path);

    (void)row;
    return valise_view_put(a->view, &vls_tree_nodes, &gone, err);
}

/* What was there; and when it was a directory that is none any more, everything in it goes. */
static int leave_old(applying *a, const vls_tree_change *change, valise_error *err)
{
    vls_tree_node_row place = place_of(a, change->path), row;
    int rc = 0;

    if (a->tree->version > 0 && change->node.kind != VLS_NODE_DIR)
        rc = vls_tree_seek(&row, &a->old, place.parent, place.name, &a->arena, err);
    if (rc < 0)
        return rc;
    if (change->node.kind == VLS_NODE_GONE && (rc == 0 || row.kind == VLS_NODE_GONE))
        return fail(change->path, "there is nothing to remove", err);
    if (rc == 0 || row.kind != VLS_NODE_DIR)
        return 0;
    return vls_tree_each_row(&a->old, change->path, put_gone, a, err);
}

static int put_node(applying *a, const vls_tree_change *change, valise_error *err)
{
    vls_tree_node_row row = place_of(a, change->path);
    vls_node node = change->node;
    valise_id id;

    row.kind = (int64_t)node.kind;
    if (node.kind != VLS_NODE_GONE) {
        row.exec = node.exec;
        row.size = node.size;
        row.hash = node.kind == VLS_NODE_DIR ? node.object : node.content;
        row.target = node.target;
        if (node.kind != VLS_NODE_DIR)
            vls_node_hash(&node);
        vls_node_id(&id, change->path, &node.object);
        row.node8 = vls_tree_node8(&id);
    }
    return valise_view_put(a->view, &vls_tree_nodes, &row, err);
}

static int apply_change(applying *a, const vls_tree_change *change, valise_error *err)
{
    int rc;

    if (change->path.len == 0 && change->node.kind != VLS_NODE_DIR)
        return fail(change->path, "the root is a directory", err);
    vls_arena_reset(&a->arena);
    rc = check_parent(a, change->path, err);
    if (rc == 0)
        rc = leave_old(a, change, err);
    return rc < 0 ? rc : put_node(a, change, err);
}

int vls_tree_apply(valise_view *view, const vls_tree_row *tree, valise_str changes,
                   valise_error *err)
{
    VLS_AUTO(applying) applying a = {.tree = tree};
    vls_tree_changes_reader reader;
    vls_tree_change change;
    int rc;

    a.view = view;
    a.old = (vls_tree_at){view, tree->id, tree->version, VLS_SCAN_BELOW};
    vls_arena_init(&a.arena, view->arena.env, VLS_VIEW_MAX_BYTES);
    vls_tree_changes_open(&reader, changes);
    while ((rc = vls_tree_changes_next(&change, &reader, err)) > 0) {
        rc = apply_change(&a, &change, err);
        if (rc < 0)
            return rc;
    }
    return rc;
}

/* ---- the version ---- */

/* The row of the root that the changes put. */
static int check_root(valise_view *view, const vls_tree_row *tree, const valise_id *object,
                      valise_error *err)
{
    vls_tree_node_row row = {
        .tree = tree->id, .parent = VLS_STR(""), .name = VLS_STR(""), .version = tree->version + 1};
    int rc = valise_view_get(&row, view, &vls_tree_nodes, err);

    if (rc < 0)
        return rc;
    if (rc == 0)
        return fail(VLS_STR(""), "the root did not change", err);
    if (!vls_id_equal(&row.hash, object))
        return vls_fail(err, VALISE_E_CONFLICT, "the changes make the root %s, not %s",
                        vls_id_hex(&row.hash).s, vls_id_hex(object).s);
    return 0;
}

int vls_tree_commit(vls_tree_row *tree, valise_view *view, const vls_tree_version_row *about,
                    valise_error *err)
{
    const valise_stamp *stamp = valise_view_stamp(view);
    vls_tree_version_row version = *about;
    vls_tree_row new = *tree;
    int rc = check_root(view, tree, &about->object, err);

    if (rc < 0)
        return rc;
    vls_node_id(&version.root, VLS_STR(""), &about->object);
    version.tree = tree->id;
    version.version = new.version = tree->version + 1;
    version.time = new.time = stamp->time;
    version.seq = stamp->seq;
    new.object = version.object;
    new.root = version.root;
    new.counts = version.counts;
    if (new.edge == 0)
        new.edge = 1;
    rc = valise_view_put(view, &vls_tree_versions, &version, err);
    if (rc == 0)
        rc = valise_view_put(view, &vls_trees, &new, err);
    if (rc == 0)
        *tree = new;
    return rc;
}
