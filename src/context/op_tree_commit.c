/* op_tree_commit.c -- tree:commit, make a version of what was recorded. */
#include "base/base.h"
#include "context/ops_tree.h"

static const valise_field commit_in[] = {
    VALISE_FIELD(vls_tree_commit_args, base, INT, VALISE_REQUIRED,
                 "The version it was compared with; 0: none."),
    VALISE_FIELD(vls_tree_commit_args, object, ID, VALISE_REQUIRED, "Object id of the root."),
    VALISE_FIELD(vls_tree_commit_args, added, INT, 0, "Nodes that came."),
    VALISE_FIELD(vls_tree_commit_args, changed, INT, 0, "Nodes that changed."),
    VALISE_FIELD(vls_tree_commit_args, removed, INT, 0, "Nodes that went."),
    VALISE_FIELD(vls_tree_commit_args, moved, INT, 0, "Of both, those that only moved."),
    VLS_TREE_COUNT_FIELDS(vls_tree_commit_args, 0),
    VALISE_FIELD_END,
};

static const valise_field commit_out[] = {
    VALISE_FIELD(vls_tree_commit_result, version, INT, VALISE_REQUIRED, "The version."),
    VALISE_FIELD(vls_tree_commit_result, root, ID, VALISE_REQUIRED, "Its root."),
    VALISE_FIELD_END,
};

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_tree_commit_args *args = in;
    vls_tree_commit_result *result = out;
    const vls_tree_version_row about = {.object = args->object,
                                        .added = args->added,
                                        .changed = args->changed,
                                        .removed = args->removed,
                                        .moved = args->moved,
                                        .counts = args->counts};
    vls_tree_row tree;
    int rc = vls_tree_own(&tree, view, err);

    if (rc == 0 && tree.version != args->base)
        return vls_fail(err, VALISE_E_CONFLICT,
                        "the tree is now at version %lld, no longer at %lld",
                        (long long)tree.version, (long long)args->base);
    if (rc == 0)
        rc = vls_tree_commit(&tree, view, &about, err);
    if (rc == 0)
        *result = (vls_tree_commit_result){tree.version, tree.root};
    return rc;
}

const valise_op vls_op_context_tree_commit = {
    .size = sizeof(valise_op),
    .name = "tree:commit",
    .brief = "Make a version of the tree of what was recorded.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_INTERNAL,
    .needs = "tree:write",
    .in = commit_in,
    .in_size = sizeof(vls_tree_commit_args),
    .out = commit_out,
    .out_size = sizeof(vls_tree_commit_result),
    .decide = decide,
    .example = "{\"base\":0,\"object\":"
               "\"00000000000000000000000000000000000000000000000000000000000000ff\"}",
};
