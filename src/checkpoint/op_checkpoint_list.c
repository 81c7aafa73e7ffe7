/* op_checkpoint_list.c -- checkpoint:list, the checkpoints there are. [C31] */
#include "base/base.h"
#include "base/str.h"
#include "base/vec.h"
#include "checkpoint/ops.h"
#include "store/view.h"

static const valise_field list_out[] = {
    VALISE_FIELD(vls_checkpoint_row, name, STR, VALISE_REQUIRED, "What it is called."),
    VALISE_FIELD(vls_checkpoint_row, version, INT, VALISE_REQUIRED, "Version of the tree."),
    VALISE_FIELD_AS(vls_checkpoint_row, root, "treeRoot", ID, VALISE_NULLABLE,
                    "Root of that version."),
    VALISE_FIELD(vls_checkpoint_row, time, TIME, VALISE_REQUIRED, "When it was made."),
    VLS_CHECKPOINT_COUNT_FIELDS(vls_checkpoint_row),
    VALISE_FIELD(vls_checkpoint_row, partial, BOOL, 0,
                 "It has only what a restore was about to change."),
    VALISE_FIELD(vls_checkpoint_row, agent, STR, 0, "Who made it."),
    VALISE_FIELD(vls_checkpoint_row, seq, INT, VALISE_REQUIRED, "The log entry that made it."),
    VALISE_FIELD(vls_checkpoint_row, tree, UUID, VALISE_REQUIRED, "The tree."),
    VALISE_FIELD_END,
};

static int newest_first(const void *a, const void *b)
{
    const vls_checkpoint_row *x = a, *y = b;

    if (x->time != y->time)
        return x->time > y->time ? -1 : 1;
    return x->seq > y->seq ? -1 : x->seq < y->seq ? 1 : vls_str_compare(x->name, y->name);
}

static int query(valise_view *view, const void *in, void *result, valise_error *err)
{
    vls_vec(vls_checkpoint_row) rows = VLS_VEC_INIT;
    vls_checkpoint_row row = {.version = 0};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_checkpoints, NULL, err);

    (void)in, (void)result;
    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        rc = vls_arena_dup(&row.name, &view->arena, row.name, err);
        if (rc == 0)
            rc = vls_arena_dup(&row.agent, &view->arena, row.agent, err);
        if (rc == 0 && !vls_vec_push_in(&rows, &view->arena, row))
            rc = vls_arena_fail(&view->arena, err);
    }
    if (rc == 0 && rows.len > 1)
        qsort(rows.ptr, rows.len, sizeof(*rows.ptr), newest_first);
    for (size_t i = 0; rc == 0 && i < rows.len; i++)
        rc = valise_view_emit(view, &rows.ptr[i], err);
    return rc;
}

const valise_op vls_op_checkpoint_checkpoint_list = {
    .size = sizeof(valise_op),
    .name = "checkpoint:list",
    .brief = "List the checkpoints, newest first.",
    .help = "Those called before-restore-N were made by restores and hold only what the restore "
            "was about to change: they are partial.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "tree:read",
    .out = list_out,
    .out_size = sizeof(vls_checkpoint_row),
    .query = query,
    .example = "{}",
};
