/* scan_batch.c -- see scan_batch.h. */
#include "context/scan_batch.h"

int vls_scan_batch_add(vls_scan_batch *batch, const valise_op *op, const void *args,
                       valise_error *err)
{
    vls_run_item item = {.op = op};
    void *copy = vls_arena_alloc(batch->arena, op->in_size);

    if (!copy)
        return vls_arena_fail(batch->arena, err);
    memcpy(copy, args, op->in_size);
    item.args = copy;
    if (!vls_vec_push_in(&batch->items, batch->arena, item))
        return vls_arena_fail(batch->arena, err);
    return 0;
}

static int add_changes(vls_scan_batch *batch, valise_str changes, int64_t base, valise_error *err)
{
    vls_tree_record_args record = {.base = base};
    int rc = vls_arena_dup(&record.changes.bytes, batch->arena, changes, err);

    return rc < 0 ? rc : vls_scan_batch_add(batch, &vls_op_context_tree_record, &record, err);
}

int vls_scan_batch_fill(vls_scan_batch *batch, const vls_scan *scan, int64_t base,
                        vls_tree_commit_result *result, valise_error *err)
{
    const vls_tree_commit_args commit = {.base = base,
                                         .object = scan->object,
                                         .added = scan->added,
                                         .changed = scan->changed,
                                         .removed = scan->removed,
                                         .moved = scan->moved,
                                         .counts = scan->counts};
    int rc = vls_scan_moves(batch, scan, base, err);

    for (size_t i = 0; rc == 0 && i < scan->changes.len; i++)
        rc = add_changes(batch, scan->changes.ptr[i], base, err);
    if (rc == 0)
        rc = vls_scan_batch_add(batch, &vls_op_context_tree_commit, &commit, err);
    if (rc == 0)
        batch->items.ptr[batch->items.len - 1].result = result;
    return rc;
}
