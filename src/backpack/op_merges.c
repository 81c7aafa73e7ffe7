/* op_merges.c -- backpack:merges, what was merged into a backpack, and when. */
#include "backpack/use.h"

typedef struct merges_row {
    int64_t seq;
    valise_uuid theirs;
    int64_t upto;
} merges_row;

static const valise_field merges_out[] = {
    VALISE_FIELD(merges_row, seq, INT, 0, "The commit whose state has it."),
    VALISE_FIELD(merges_row, theirs, UUID, 0, "Id of the backpack that was merged."),
    VALISE_FIELD(merges_row, upto, INT, 0, "Up to this commit of it."),
    VALISE_FIELD_END,
};

static int emit(void *arg, const void *row, valise_error *err)
{
    const vls_merge_row *merge = row;
    const merges_row out = {merge->seq, merge->theirs, merge->upto};

    return valise_view_emit(arg, &out, err);
}

static int query(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_who_args *args = in;
    VLS_AUTO(use) vls_use use = {0};
    int rc = vls_use_begin(&use, view, &args->who, err);

    (void)out;
    if (rc == 0)
        rc = vls_scope_owner_only(use.scope, "list the merges", err);
    return rc < 0 ? rc
                  : use.ledger.ops->each_row(use.ledger.self, &vls_bag_merges, emit, view, err);
}

const valise_op vls_op_backpack_merges = {
    .size = sizeof(valise_op),
    .name = "backpack:merges",
    .brief = "List the merges into a backpack.",
    .help =
        "The state after commit `seq` includes everything that the backpack `theirs` had changed "
        "up to its commit `upto`. Backpacks whose changes came along with a merge have rows of "
        "their own. Partial merges are not listed, nor those that retention has dropped.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "backpack:read",
    .in = vls_owner_in,
    .in_size = sizeof(vls_who_args),
    .out = merges_out,
    .out_size = sizeof(merges_row),
    .query = query,
    .example = "{\"backpack\":\"run-1\"}",
};
