/* op_tree_sweep.c -- tree:sweep, a piece of what nothing from the edge on needs. [C30]
 *
 * Rows of nodes in the order of paths; behind the last of these, rows of versions. What goes
 * follows from the rows and the arguments alone. */
#include "context/doubt.h"
#include "context/ops_prune.h"
#include "store/view.h"

#define GONE_MAX 5000    /* rows of nodes that one command lets go of */
#define LOOKED_MAX 50000 /* and looks at */
#define VERSIONS_MAX 5000

typedef vls_tree_sweep_args sweep_args;
typedef vls_tree_sweep_result sweep_result;

static const valise_field sweep_in[] = {
    VALISE_FIELD_WITH(sweep_args, edge, INT, VALISE_REQUIRED, "The oldest version that is needed.",
                      .min = 1, .max = INT64_MAX),
    VALISE_FIELD_WITH(sweep_args, from, INT, VALISE_REQUIRED,
                      "The version up to which was swept before.", .min = 0, .max = INT64_MAX),
    VALISE_FIELD_WITH(sweep_args, dir, PATH, 0, "Begin in this directory.", .max = VLS_PATH_MAX),
    VALISE_FIELD_WITH(sweep_args, behind, PATH, 0, "Behind this name.", .max = VLS_PATH_MAX),
    VALISE_FIELD_END,
};

static const valise_field sweep_out[] = {
    VALISE_FIELD(sweep_result, nodes, INT, 0, "Rows of nodes that are gone."),
    VALISE_FIELD(sweep_result, versions, INT, 0, "Rows of versions that are gone."),
    VALISE_FIELD(sweep_result, done, BOOL, 0, "That was all."),
    VALISE_FIELD(sweep_result, dir, PATH, 0, "Else go on here."),
    VALISE_FIELD(sweep_result, behind, PATH, 0, "Behind this name."),
    VALISE_FIELD_END,
};

/* What a row knows that says that something went: slots there may have to know it later. */
static int remember(valise_view *view, const vls_tree_node_row *row, valise_error *err)
{
    vls_tree_version_row version = {.tree = row->tree, .version = row->version};
    char room[2 * VLS_PATH_MAX + 2];
    vls_buf path = {.ptr = room, .cap = sizeof(room), .max = 2 * VLS_PATH_MAX + 1};
    int rc = valise_view_get(&version, view, &vls_tree_versions, err);

    if (rc <= 0)
        return rc;
    vls_path_below(&path, row->parent, row->name);
    return vls_doubt_remember(view, &row->tree, vls_buf_str(&path), version.time, err);
}

static int drop_node(void *arg, const vls_tree_node_row *row, valise_error *err)
{
    int rc = row->kind == VLS_NODE_GONE ? remember(arg, row, err) : 0;

    return rc < 0 ? rc : vls_settle(valise_view_delete(arg, &vls_tree_nodes, row, err));
}

typedef struct dropping {
    valise_view *view;
    int64_t edge, count;
} dropping;

/* 1: there are more. */
static int drop_version(void *arg, const vls_tree_version_row *row, int64_t from_seq,
                        valise_error *err)
{
    dropping *d = arg;

    (void)from_seq;
    if (row->version >= d->edge)
        return 2;
    if (d->count == VERSIONS_MAX)
        return 1;
    d->count++;
    return vls_settle(valise_view_delete(d->view, &vls_tree_versions, row, err));
}

static int sweep(sweep_result *out, valise_view *view, const valise_uuid *tree,
                 const sweep_args *args, valise_error *err)
{
    const vls_tree_sweep what = {.tree = *tree,
                                 .from = args->from,
                                 .edge = args->edge,
                                 .dir = args->dir,
                                 .behind = args->behind,
                                 .max_gone = GONE_MAX,
                                 .max_looked = LOOKED_MAX};
    dropping d = {.view = view, .edge = args->edge};
    vls_tree_swept swept;
    int rc = vls_tree_sweep_rows(&swept, view, &what, drop_node, view, err);

    if (rc == 0 && swept.done)
        rc = vls_tree_each_version(view, tree, 0, drop_version, &d, err);
    if (rc >= 0)
        *out = (sweep_result){swept.gone, d.count, swept.done && rc != 1, swept.dir, swept.behind};
    return vls_settle(rc);
}

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const sweep_args *args = in;
    sweep_result *result = out;
    vls_tree_row tree;
    int rc = vls_tree_head(&tree, view, err);

    if (rc < 0)
        return rc;
    result->done = true;
    if (rc == 0)
        return 0;
    if (args->edge > tree.edge)
        return vls_fail(err, VALISE_E_CONFLICT, "versions from %lld on can be seen",
                        (long long)tree.edge);
    return sweep(result, view, &tree.id, args, err);
}

const valise_op vls_op_context_tree_sweep = {
    .size = sizeof(valise_op),
    .name = "tree:sweep",
    .brief = "Let go of some of what only versions before the edge needed.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_INTERNAL | VALISE_OP_IDEMPOTENT | VALISE_OP_DESTRUCTIVE,
    .needs = "admin",
    .in = sweep_in,
    .in_size = sizeof(sweep_args),
    .out = sweep_out,
    .out_size = sizeof(sweep_result),
    .decide = decide,
    .example = "{\"behind\":\"date.c\",\"dir\":\"lib\",\"edge\":12,\"from\":1}",
};
