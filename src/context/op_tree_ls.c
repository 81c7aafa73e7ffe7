/* op_tree_ls.c -- tree:ls, what lies in a directory of the tree. [C4] */
#include "base/text.h"
#include "context/ops_tree.h"
#include "context/place.h"
#include "store/view.h"

typedef struct ls_args {
    valise_str path, at;
} ls_args;

static const valise_field ls_in[] = {
    VALISE_FIELD_WITH(ls_args, path, PATH, VALISE_NULLABLE | VALISE_POSITIONAL,
                      "Directory or file, from the root of the tree (default: the root).",
                      .max = VLS_PATH_MAX, .ref = "tree.here"),
    VALISE_FIELD_WITH(
        ls_args, at, STR, VALISE_NULLABLE,
        "As of this root (or its first digits), this version (v12), a seq, a time or a "
        "commit.",
        .max = 64, .ref = "tree:list.treeRoot"),
    VALISE_FIELD_END,
};

typedef struct node_out {
    valise_str name, path;
    int64_t kind;
    bool exec;
    int64_t size, entries; /* NULLABLE */
    valise_id node, object;
    valise_str target;
    int64_t version;
} node_out;

static const valise_field ls_out[] = {
    VALISE_FIELD(node_out, name, PATH, VALISE_REQUIRED, "Its name."),
    VALISE_FIELD_WITH(node_out, kind, ENUM, VALISE_REQUIRED, "Its kind.", .more = vls_node_kinds),
    VALISE_FIELD(node_out, exec, BOOL, 0, "Its owner may run it."),
    VALISE_FIELD(node_out, size, INT, VALISE_NULLABLE, "Bytes of a file, or of a link's target."),
    VALISE_FIELD(node_out, entries, INT, VALISE_NULLABLE, "What lies in a directory."),
    VALISE_FIELD_AS(node_out, node, "nodeId", ID, VALISE_REQUIRED, "Id of it at this path."),
    VALISE_FIELD_AS(node_out, object, "objectId", ID, VALISE_REQUIRED, "Id of what it is."),
    VALISE_FIELD(node_out, target, PATH, VALISE_NULLABLE, "Where a link points."),
    VALISE_FIELD(node_out, version, INT, 0, "The version that brought it."),
    VALISE_FIELD(node_out, path, PATH, VALISE_REQUIRED, "Its path."),
    VALISE_FIELD_END,
};

static int emit(void *arg, const vls_tree_found *found, valise_error *err)
{
    bool dir = found->node.kind == VLS_NODE_DIR;
    const node_out out = {.name = vls_path_name(found->path),
                          .path = found->path,
                          .kind = (int64_t)found->node.kind,
                          .exec = found->node.exec,
                          .size = dir ? VALISE_NONE : found->node.size,
                          .entries = dir ? found->node.size : VALISE_NONE,
                          .node = found->id,
                          .object = found->node.object,
                          .target = found->node.target,
                          .version = found->version};

    return valise_view_emit(arg, &out, err);
}

static int find_version(int64_t *out, valise_view *view, const vls_tree_row *tree, valise_str at,
                        valise_error *err)
{
    vls_tree_version_row version;
    int rc;

    *out = tree->version;
    if (at.len == 0)
        return 0;
    rc = vls_tree_version_of(&version, view, tree, at, err);
    if (rc == 0) {
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "the tree never had the root '%s'",
                       vls_text_short(at).s);
        vls_hint(err, "'valise tree list' lists them");
        return VALISE_E_NOT_FOUND;
    }
    if (rc > 0)
        *out = version.version;
    return vls_settle(rc);
}

static int query(valise_view *view, const void *in, void *result, valise_error *err)
{
    const ls_args *args = in;
    VLS_AUTO(buf) vls_buf path = {0};
    vls_tree_row tree;
    vls_tree_found found = {0};
    int64_t version = 0;
    valise_str at = args->at;
    int rc = vls_place_when(&at, view, err);

    (void)result;
    if (rc == 0)
        rc = vls_tree_head(&tree, view, err);
    else
        return rc;
    if (rc == 0) {
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "the tree was never scanned");
        vls_hint(err, "run 'valise scan'");
        return VALISE_E_NOT_FOUND;
    }
    vls_buf_init(&path, view->arena.env, VLS_PATH_MAX);
    if (rc > 0)
        rc = vls_path_resolve(&path, VLS_STR(""), args->path, err);
    if (rc == 0)
        rc = find_version(&version, view, &tree, at, err);
    if (rc == 0)
        rc = vls_tree_get(&found, view, &tree, version, vls_buf_str(&path), err);
    if (rc == 0) {
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "there is nothing at '%s'",
                       vls_text_short(vls_buf_str(&path)).s);
        vls_hint(err, "'valise tree ls' lists the top; 'valise scan' finds what is new");
        return VALISE_E_NOT_FOUND;
    }
    if (rc < 0 || found.node.kind != VLS_NODE_DIR)
        return rc < 0 ? rc : emit(view, &found, err);
    return vls_tree_children(view, &tree, version, vls_buf_str(&path), emit, view, err);
}

const valise_op vls_op_context_tree_ls = {
    .size = sizeof(valise_op),
    .name = "tree:ls",
    .brief = "List a directory as it was last scanned.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "tree:read",
    .in = ls_in,
    .in_size = sizeof(ls_args),
    .out = ls_out,
    .out_size = sizeof(node_out),
    .query = query,
    .example = "{\"path\":\"src\"}",
};
