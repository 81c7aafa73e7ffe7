/* op_expire.c -- backpack:expire, let go of history that nothing needs: the command. */
#include "backpack/expire.h"

static const valise_field expire_in[] = {
    VALISE_FIELD_WITH(vls_expire_args, backpack, UUID, VALISE_REQUIRED, "The backpack.",
                      .ref = "backpack"),
    VALISE_FIELD_WITH(vls_expire_args, from, INT, 0, "Look at commits from here on.",
                      .max = INT64_MAX),
    VALISE_FIELD_WITH(vls_expire_args, upto, INT, VALISE_REQUIRED,
                      "Up to here; the edge is never moved back.", .max = INT64_MAX),
    VALISE_FIELD_END,
};

static const valise_field expire_out[] = {
    VALISE_FIELD(vls_expire_result, removed, INT, 0, "Rows that are gone."),
    VALISE_FIELD(vls_expire_result, edge, INT, 0, "The oldest state that can be seen."),
    VALISE_FIELD_END,
};

typedef struct dropping {
    valise_view *view;
    int64_t count;
} dropping;

static int drop_commit(void *arg, const valise_commit *commit, valise_error *err)
{
    dropping *d = arg;
    int rc = valise_view_delete(d->view, &vls_bag_commits, commit, err);

    d->count++;
    return rc < 0 ? rc : 0;
}

static int drop_entry(void *arg, const vls_quarantine_row *entry, valise_error *err)
{
    dropping *d = arg;
    int rc = valise_view_delete(d->view, &vls_bag_quarantines, entry, err);

    d->count++;
    return rc < 0 ? rc : 0;
}

static int drop_run(void *arg, const vls_run_row *run, valise_error *err)
{
    dropping *d = arg;
    int rc = valise_view_delete(d->view, &vls_bag_runs, run, err);

    d->count++;
    return rc < 0 ? rc : 0;
}

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_expire_args *args = in;
    vls_expire_result *result = out;
    VLS_AUTO(rows) vls_rows rows = {0};
    dropping d = {.view = view};
    const vls_expire_ops ops = {drop_commit, drop_entry, drop_run, &d};
    vls_bag_row bag;
    int64_t upto;
    int rc = vls_rows_open_id(&rows, view, &args->backpack, err);

    if (rc < 0)
        return rc;
    upto = VLS_MIN(args->upto, args->from + VLS_EXPIRE_STEP - 1);
    rc = vls_expire_bound(&upto, &rows, err);
    if (rc < 0)
        return rc;
    bag = rows.bag;
    bag.edge = VLS_MAX(bag.edge, upto);
    rc = vls_expire_plan(&rows, args->from, upto, &ops, err);
    if (rc == 0 && bag.edge != rows.bag.edge)
        rc = valise_view_put(view, &vls_bags, &bag, err);
    *result = (vls_expire_result){d.count, bag.edge};
    return rc;
}

const valise_op vls_op_backpack_expire = {
    .size = sizeof(valise_op),
    .name = "backpack:expire",
    .brief = "Let go of history that no state from a commit on needs.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_INTERNAL | VALISE_OP_DESTRUCTIVE,
    .needs = "admin",
    .in = expire_in,
    .in_size = sizeof(vls_expire_args),
    .out = expire_out,
    .out_size = sizeof(vls_expire_result),
    .decide = decide,
    .example = "{\"backpack\":\"018f2c4e-7b1a-7c3d-9e4f-000000000001\",\"from\":1,\"upto\":100}",
};
