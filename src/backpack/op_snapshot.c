/* op_snapshot.c -- backpack:snapshot, the whole state at one point, with values. */
#include "backpack/use.h"

typedef struct snapshot_args {
    vls_who who;
    valise_str point;
} snapshot_args;

static const valise_field snapshot_in[] = {
    VLS_WHO_FIELDS(snapshot_args),
    VALISE_FIELD_WITH(snapshot_args, point, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "A seq, a time, a commit, before:NODE, after:NODE#2, a checkpoint, or now.",
                      .min = 1, .max = VLS_POINT_MAX, .ref = VLS_REF_POINT),
    VALISE_FIELD_END,
};

static int emit(void *arg, const valise_item *item, valise_error *err)
{
    valise_str value = item->value ? vls_blob_bytes(item->value) : (valise_str){NULL, 0};
    vls_item_out row;

    vls_item_out_fill(&row, item->commit, value);
    return valise_view_emit(arg, &row, err);
}

static int query(valise_view *view, const void *in, void *out, valise_error *err)
{
    const snapshot_args *args = in;
    VLS_AUTO(use) vls_use use = {0};
    int rc = vls_use_begin(&use, view, &args->who, err);

    (void)out;
    if (rc == 0)
        rc = vls_use_point(&use, args->point, err);
    if (rc < 0)
        return rc;
    vls_use_tell_snapshot(&use);
    return vls_bag_each(&use.ledger, use.scope, (valise_str){NULL, 0}, true, emit, view, err);
}

const valise_op vls_op_backpack_snapshot = {
    .size = sizeof(valise_op),
    .name = "backpack:snapshot",
    .brief = "Show the whole state as it was at one point.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "backpack:read",
    .in = snapshot_in,
    .in_size = sizeof(snapshot_args),
    .out = vls_item_out_fields,
    .out_size = sizeof(vls_item_out),
    .query = query,
    .example = "{\"backpack\":\"run-1\",\"point\":\"before:research-2\"}",
};
