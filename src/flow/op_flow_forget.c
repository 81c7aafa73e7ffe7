/* op_flow_forget.c -- flow:forget, what was recorded of a run whose backpack is gone goes, some
 * rows at a time. Nothing could go on with it, or repeat it. */
#include "backpack/rows.h"
#include "flow/ops.h"

#define STEP 1000 /* rows that one command removes */

static const valise_field forget_in[] = {
    VALISE_FIELD(vls_flow_forget_args, run, UUID, VALISE_REQUIRED, "The run."),
    VALISE_FIELD_END,
};

static const valise_field forget_out[] = {
    VALISE_FIELD(vls_flow_forgot, done, BOOL, 0, "There is nothing left to remove."),
    VALISE_FIELD_END,
};

/* Is the backpack there, for anybody? */
static int has_bag(valise_view *view, const vls_flow_run_row *run, valise_error *err)
{
    vls_bag_row bag = {.id = run->backpack};
    int rc = valise_view_get(&bag, view, &vls_bags, err);

    return rc > 0 ? !bag.dropped : rc;
}

/* The numbers of the first steps; they are deleted once the scan is over. */
static int list_steps(int64_t numbers[STEP], size_t *count, valise_view *view,
                      const valise_uuid *run, valise_error *err)
{
    vls_flow_step_row row = {.run = *run};
    const vls_flow_step_row key = row;
    const valise_select select = {.row = &key, .equal = 1};
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_flow_steps, &select, err);

    while (rc >= 0 && *count < STEP && (rc = valise_scan_next(&row, scan, err)) > 0)
        numbers[(*count)++] = row.number;
    valise_scan_close(scan);
    return vls_settle(rc);
}

static int remove_steps(size_t *count, valise_view *view, const valise_uuid *run, valise_error *err)
{
    int64_t numbers[STEP];
    int rc = list_steps(numbers, count, view, run, err);

    for (size_t i = 0; i < *count && rc >= 0; i++) {
        vls_flow_step_row row = {.run = *run, .number = numbers[i]};

        rc = valise_view_delete(view, &vls_flow_steps, &row, err);
    }
    return vls_settle(rc);
}

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_flow_forget_args *args = in;
    vls_flow_forgot *result = out;
    vls_flow_run_row run = {.id = args->run};
    size_t count = 0;
    int rc = valise_view_get(&run, view, &vls_flow_runs, err);
    bool there = rc > 0;

    if (there)
        rc = has_bag(view, &run, err);
    result->done = !there || rc > 0;
    if (rc < 0 || result->done)
        return vls_settle(rc);
    rc = remove_steps(&count, view, &run.id, err);
    if (rc < 0 || count == STEP)
        return rc;
    result->done = true;
    rc = valise_view_delete(view, &vls_flow_runs, &run, err);
    return vls_settle(rc);
}

const valise_op vls_op_flow_flow_forget = {
    .size = sizeof(valise_op),
    .name = "flow:forget",
    .brief = "Remove what was recorded of a run whose backpack is gone.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_INTERNAL | VALISE_OP_DESTRUCTIVE,
    .needs = "admin",
    .in = forget_in,
    .in_size = sizeof(vls_flow_forget_args),
    .out = forget_out,
    .out_size = sizeof(vls_flow_forgot),
    .decide = decide,
    .example = "{\"run\":\"00000000-0000-7000-8000-000000000001\"}",
};
