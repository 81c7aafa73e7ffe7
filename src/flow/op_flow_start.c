/* op_flow_start.c -- flow:start, a run on a durable backpack begins. */
#include "flow/ops.h"

static const valise_field start_in[] = {
    VALISE_FIELD(vls_flow_start_args, run, UUID, VALISE_REQUIRED, "Id of the run."),
    VALISE_FIELD(vls_flow_start_args, backpack, UUID, VALISE_REQUIRED, "The backpack."),
    VALISE_FIELD_WITH(vls_flow_start_args, name, STR, 0, "Its name.", .max = VLS_BAG_NAME_MAX),
    VALISE_FIELD(vls_flow_start_args, config, VALUE, VALISE_REQUIRED, "The flow."),
    VALISE_FIELD_WITH(vls_flow_start_args, file, PATH, VALISE_NULLABLE, "The file of the flow.",
                      .max = 4096),
    VALISE_FIELD_WITH(vls_flow_start_args, start, STR, VALISE_NULLABLE, "Another first node.",
                      .max = VLS_FLOW_ID_MAX),
    VALISE_FIELD_AS(vls_flow_start_args, max_steps, "maxSteps", INT, 0, "Its limit of steps."),
    VALISE_FIELD(vls_flow_start_args, origin, UUID, VALISE_NULLABLE,
                 "The run whose first steps it takes over."),
    VALISE_FIELD(vls_flow_start_args, before, INT, 0, "Those that ended before this tick."),
    VALISE_FIELD_END,
};

static int copy_steps(valise_view *view, const vls_flow_start_args *args, valise_error *err)
{
    vls_flow_step_row row = {.run = args->origin};
    const valise_select select = {.row = &row, .equal = 1};
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_flow_steps, &select, err);

    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        rc = 0;
        if (row.number >= args->before)
            continue;
        row.run = args->run;
        rc = valise_view_put(view, &vls_flow_steps, &row, err);
    }
    valise_scan_close(scan);
    return rc;
}

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_flow_start_args *args = in;
    const valise_stamp *stamp = valise_view_stamp(view);
    const vls_flow_run_row row = {.id = args->run,
                                  .status = VLS_FLOW_RUNNING,
                                  .backpack = args->backpack,
                                  .name = args->name,
                                  .config = args->config.id,
                                  .file = args->file,
                                  .start = args->start,
                                  .max_steps = args->max_steps,
                                  .actor = stamp->actor,
                                  .started = stamp->time,
                                  .ended = VALISE_NONE,
                                  .origin = args->origin};
    int rc = valise_view_put(view, &vls_flow_runs, &row, err);

    (void)out;
    if (rc == 0 && !vls_uuid_is_none(&args->origin))
        rc = copy_steps(view, args, err);
    return rc;
}

const valise_op vls_op_flow_flow_start = {
    .size = sizeof(valise_op),
    .name = "flow:start",
    .brief = "A run of a flow begins.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_INTERNAL,
    .needs = "flow:write",
    .in = start_in,
    .in_size = sizeof(vls_flow_start_args),
    .decide = decide,
    .example = "{\"backpack\":\"00000000-0000-7000-8000-000000000002\",\"config\":{\"nodes\":[]},"
               "\"name\":\"run-1\",\"run\":\"00000000-0000-7000-8000-000000000001\"}",
};
