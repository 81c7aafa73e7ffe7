/* op_tree_list.c -- tree:list, the versions of the tree. [C4] */
#include "base/base.h"
#include "context/ops_tree.h"
#include "store/view.h"

typedef struct version_out {
    int64_t version;
    valise_id tree_root;
    int64_t time, seq;
    int64_t added, changed, removed, moved;
    vls_tree_counts counts;
} version_out;

static const valise_field list_out[] = {
    VALISE_FIELD(version_out, version, INT, VALISE_REQUIRED, "Number of the version."),
    VALISE_FIELD_AS(version_out, tree_root, "treeRoot", ID, VALISE_REQUIRED, "Its root."),
    VALISE_FIELD(version_out, time, TIME, VALISE_REQUIRED, "When it was made."),
    VALISE_FIELD(version_out, seq, INT, VALISE_REQUIRED, "The log entry that made it."),
    VALISE_FIELD(version_out, added, INT, 0, "Nodes that came."),
    VALISE_FIELD(version_out, changed, INT, 0, "Nodes that changed."),
    VALISE_FIELD(version_out, removed, INT, 0, "Nodes that went."),
    VALISE_FIELD(version_out, moved, INT, 0, "What moved; a directory with all in it is one."),
    VLS_TREE_COUNT_FIELDS(version_out, 0),
    VALISE_FIELD_END,
};

static int emit(valise_view *view, const vls_tree_version_row *row, valise_error *err)
{
    const version_out out = {.version = row->version,
                             .tree_root = row->root,
                             .time = row->time,
                             .seq = row->seq,
                             .added = row->added,
                             .changed = row->changed,
                             .removed = row->removed,
                             .moved = row->moved,
                             .counts = row->counts};

    return valise_view_emit(view, &out, err);
}

static int query(valise_view *view, const void *in, void *result, valise_error *err)
{
    vls_tree_version_row probe = {0}, row;
    const valise_select newest_first = {.row = &probe, .equal = 1, .flags = VALISE_SCAN_REVERSE};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_tree_row tree;
    int rc = vls_tree_head(&tree, view, err);

    (void)in, (void)result;
    if (rc <= 0)
        return rc;
    probe.tree = tree.id;
    rc = valise_view_scan(&scan, view, &vls_tree_versions, &newest_first, err);
    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0)
        rc = row.version < tree.edge ? 1 : emit(view, &row, err);
    return rc < 0 ? rc : 0;
}

const valise_op vls_op_context_tree_list = {
    .size = sizeof(valise_op),
    .name = "tree:list",
    .brief = "List the versions of the tree, newest first.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "tree:read",
    .out = list_out,
    .out_size = sizeof(version_out),
    .query = query,
    .example = "{}",
};
