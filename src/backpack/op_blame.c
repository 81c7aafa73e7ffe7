/* op_blame.c -- backpack:blame, the commits that made an item what it is. */
#include "backpack/use.h"

typedef struct blame_args {
    vls_who who;
    valise_str key, point;
} blame_args;

static const valise_field blame_in[] = {
    VLS_WHO_FIELDS(blame_args),
    VALISE_FIELD_WITH(blame_args, key, STR, VALISE_REQUIRED | VALISE_POSITIONAL, "Key of the item.",
                      .min = 1, .max = VLS_BAG_KEY_MAX, .ref = VLS_REF_KEY),
    VLS_POINT_FIELD(blame_args, point),
    VALISE_FIELD_END,
};

static int query(valise_view *view, const void *in, void *out, valise_error *err)
{
    const blame_args *args = in;
    VLS_AUTO(use) vls_use use = {0};
    int rc = vls_use_begin(&use, view, &args->who, err);

    (void)out;
    if (rc == 0)
        rc = vls_use_point(&use, args->point, err);
    return rc < 0 ? rc
                  : vls_bag_blame(&use.ledger, use.scope, args->key, view->stamp.time,
                                  vls_use_emit_commit, view, err);
}

const valise_op vls_op_backpack_blame = {
    .size = sizeof(valise_op),
    .name = "backpack:blame",
    .brief = "Show the commits that produced an item, newest first.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "backpack:read",
    .in = blame_in,
    .in_size = sizeof(blame_args),
    .out = vls_commit_fields,
    .out_size = sizeof(valise_commit),
    .query = query,
    .example = "{\"backpack\":\"run-1\",\"key\":\"context\"}",
};
