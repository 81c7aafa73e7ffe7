/* op_drop.c -- backpack:drop, the end of a backpack. */
#include "backpack/ops.h"

typedef struct drop_args {
    valise_str backpack;
} drop_args;

static const valise_field drop_in[] = {
    VALISE_FIELD_WITH(drop_args, backpack, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "Name of the backpack.", .min = 1, .max = VLS_BAG_NAME_MAX),
    VALISE_FIELD_END,
};

typedef struct drop_result {
    bool ephemeral;
    int64_t removed;
} drop_result;

static const valise_field drop_out[] = {
    VALISE_FIELD(drop_result, ephemeral, BOOL, 0, "It was one in the memory of this process."),
    VALISE_FIELD(drop_result, removed, INT, 0, "Rows of the workspace that are gone."),
    VALISE_FIELD_END,
};

typedef struct finding {
    valise_str name;
    valise_uuid id;
} finding;

static int find(void *arg, valise_view *view, valise_error *err)
{
    finding *f = arg;
    VLS_AUTO(rows) vls_rows rows = {0};
    int rc = vls_rows_open(&rows, view, f->name, err);

    f->id = rows.bag.id;
    return rc;
}

static int forget_all(int64_t *removed, valise *v, const valise_uuid *backpack, valise_error *err)
{
    const vls_forget_args args = {.backpack = *backpack};
    vls_forget_result step = {0};
    int rc = 0;

    while (rc == 0 && !step.done) {
        rc = vls_run_own(v, &vls_op_backpack_forget, &args, &step, NULL, NULL, err);
        *removed += rc == 0 ? step.removed : 0;
    }
    return rc;
}

/* One whose rows are not all gone yet: 1. */
static int find_rest(void *arg, valise_view *view, valise_error *err)
{
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_bag_row row;
    int rc = valise_view_scan(&scan, view, &vls_bags, NULL, err);

    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0 && !row.dropped)
        rc = 0;
    if (rc > 0)
        *(valise_uuid *)arg = row.id;
    return rc;
}

int vls_forget_rest(int64_t *removed, valise *v, valise_error *err)
{
    valise_uuid id;
    int rc;

    while ((rc = vls_with_view(v, NULL, find_rest, &id, err)) > 0) {
        rc = forget_all(removed, v, &id, err);
        if (rc < 0)
            return rc;
    }
    return rc;
}

static int drop(drop_result *result, valise *v, valise_str name, valise_error *err)
{
    finding f = {.name = name};
    int rc;

    result->ephemeral = vls_ephemeral_drop(v, name);
    if (result->ephemeral)
        return 0;
    rc = vls_with_view(v, NULL, find, &f, err);
    if (rc == 0)
        rc = forget_all(&result->removed, v, &f.id, err);
    return rc < 0 ? rc : vls_forget_rest(&result->removed, v, err);
}

int vls_backpack_drop(valise *v, valise_str name, valise_error *err)
{
    drop_result result = {.removed = 0};

    return drop(&result, v, name, err);
}

static int job(valise_job *j, const void *in, void *out, valise_error *err)
{
    const drop_args *args = in;

    return drop(out, valise_job_workspace(j), args->backpack, err);
}

const valise_op vls_op_backpack_drop = {
    .size = sizeof(valise_op),
    .name = "backpack:drop",
    .brief = "Delete a backpack with its items and history.",
    .help = "A durable backpack is removed from the workspace, in steps; its forks must be dropped "
            "first. An ephemeral one ends, even if others have it open. Of the roles only owner "
            "may do this; grant `backpack:drop backpack=NAME` to allow it for one backpack.",
    .kind = VALISE_JOB,
    .flags = VALISE_OP_DESTRUCTIVE,
    .needs = "backpack:drop",
    .in = drop_in,
    .in_size = sizeof(drop_args),
    .out = drop_out,
    .out_size = sizeof(drop_result),
    .job = job,
    .example = "{\"backpack\":\"run-1\"}",
};
