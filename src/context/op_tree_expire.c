/* op_tree_expire.c -- tree:expire, nobody sees versions before this one any more. [C30]
 *
 * What only they needed goes afterwards, in pieces (tree:sweep). */
#include "context/ops_prune.h"

typedef vls_tree_expire_args expire_args;
typedef vls_tree_expire_result expire_result;

static const valise_field expire_in[] = {
    VALISE_FIELD_WITH(expire_args, edge, INT, VALISE_REQUIRED, "The oldest version to be seen.",
                      .min = 1, .max = INT64_MAX),
    VALISE_FIELD_END,
};

static const valise_field expire_out[] = {
    VALISE_FIELD(expire_result, edge, INT, 0, "The oldest version that can be seen."),
    VALISE_FIELD_END,
};

/* It is never moved back, nor over what a pin holds. */
static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const expire_args *args = in;
    expire_result *result = out;
    vls_tree_row tree;
    int64_t edge;
    int rc = vls_tree_head(&tree, view, err);

    if (rc <= 0)
        return rc;
    rc = vls_prune_edge_towards(&edge, view, &tree, args->edge, err);
    if (rc == 0 && edge > tree.edge) {
        tree.edge = edge;
        rc = valise_view_put(view, &vls_trees, &tree, err);
    }
    if (rc == 0)
        result->edge = tree.edge;
    return rc;
}

const valise_op vls_op_context_tree_expire = {
    .size = sizeof(valise_op),
    .name = "tree:expire",
    .brief = "Let nobody see versions of the tree before this one.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_INTERNAL | VALISE_OP_IDEMPOTENT | VALISE_OP_DESTRUCTIVE,
    .needs = "admin",
    .in = expire_in,
    .in_size = sizeof(expire_args),
    .out = expire_out,
    .out_size = sizeof(expire_result),
    .decide = decide,
    .example = "{\"edge\":12}",
};
