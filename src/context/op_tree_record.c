/* op_tree_record.c -- tree:record, the rows of a list of changes that a scan found. */
#include "base/base.h"
#include "context/doubt.h"
#include "context/ops_tree.h"
#include "tree/changes.h"

static const valise_field record_in[] = {
    VALISE_FIELD(vls_tree_record_args, base, INT, VALISE_REQUIRED,
                 "The version it was compared with; 0: none."),
    VALISE_FIELD(vls_tree_record_args, changes, DATA, VALISE_REQUIRED, "The list of changes."),
    VALISE_FIELD_END,
};

/* What was said about what changed may no longer hold; where a file became a directory, or the
 * reverse, it is about something else and closed. [C12] [C20] */
static int doubt_slots(valise_view *view, const vls_tree_row *tree, valise_str bytes,
                       valise_error *err)
{
    vls_tree_changes_reader reader;
    vls_tree_change change;
    vls_context_row context;
    int rc = vls_context_get(&context, view, &tree->id, err);

    if (rc < 0 || context.slots == 0)
        return rc;
    vls_tree_changes_open(&reader, bytes);
    while (rc == 0 && (rc = vls_tree_changes_next(&change, &reader, err)) > 0) {
        bool dir = change.node.kind == VLS_NODE_DIR;
        bool known = dir || change.node.kind == VLS_NODE_FILE || change.node.kind == VLS_NODE_LINK;
        rc = known ? vls_slot_close(view, &tree->id, change.path, dir, err) : 0;
        if (rc == 0)
            rc = vls_doubt_path(view, &tree->id, change.path, dir, err);
    }
    return rc;
}

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_tree_record_args *args = in;
    valise_str bytes = args->changes.bytes;
    vls_tree_row tree;
    int rc = vls_tree_own(&tree, view, err);

    (void)out;
    if (rc == 0 && tree.version != args->base)
        return vls_fail(err, VALISE_E_CONFLICT,
                        "the tree is now at version %lld, no longer at %lld",
                        (long long)tree.version, (long long)args->base);
    if (rc == 0 && !bytes.ptr)
        rc = valise_view_object(&bytes, view, &args->changes.id, err);
    if (rc == 0)
        rc = vls_tree_apply(view, &tree, bytes, err);
    return rc < 0 ? rc : doubt_slots(view, &tree, bytes, err);
}

const valise_op vls_op_context_tree_record = {
    .size = sizeof(valise_op),
    .name = "tree:record",
    .brief = "Record what a scan found, before it becomes a version.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_INTERNAL,
    .needs = "tree:write",
    .in = record_in,
    .in_size = sizeof(vls_tree_record_args),
    .decide = decide,
    .example = "{\"base\":0,\"changes\":\"dmFsaXNlIGNoYW5nZXMgMQo=\"}",
};
