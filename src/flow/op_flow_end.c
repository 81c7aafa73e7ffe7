/* op_flow_end.c -- flow:end, a run is over. */
#include "flow/ops.h"

static const valise_field end_in[] = {
    VALISE_FIELD(vls_flow_end_args, run, UUID, VALISE_REQUIRED, "The run."),
    VALISE_FIELD_WITH(vls_flow_end_args, status, ENUM, VALISE_REQUIRED, "How it ended.",
                      .more = vls_flow_states),
    VALISE_FIELD(vls_flow_end_args, steps, INT, 0, "Nodes that ran."),
    VALISE_FIELD_WITH(vls_flow_end_args, action, STR, VALISE_NULLABLE, "The last action.",
                      .max = VLS_FLOW_ACTION_MAX),
    VALISE_FIELD_WITH(vls_flow_end_args, node, STR, VALISE_NULLABLE, "The last node.",
                      .max = VLS_FLOW_PATH_MAX),
    VALISE_FIELD_WITH(vls_flow_end_args, code, STR, VALISE_NULLABLE, "Code of the failure.",
                      .max = 64),
    VALISE_FIELD_WITH(vls_flow_end_args, error, STR, VALISE_NULLABLE, "What the failure says.",
                      .max = VLS_FLOW_ERROR_MAX),
    VALISE_FIELD_END,
};

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_flow_end_args *args = in;
    vls_flow_run_row row = {.id = args->run};
    int rc = vls_flow_run_get(&row, view, err);

    (void)out;
    if (rc < 0)
        return rc;
    row.status = args->status;
    row.ended = valise_view_stamp(view)->time;
    row.steps += args->steps;
    row.action = args->action;
    row.node = args->node;
    row.code = args->code;
    row.error = args->error;
    return valise_view_put(view, &vls_flow_runs, &row, err);
}

const valise_op vls_op_flow_flow_end = {
    .size = sizeof(valise_op),
    .name = "flow:end",
    .brief = "A run of a flow is over.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_INTERNAL,
    .needs = "flow:write",
    .in = end_in,
    .in_size = sizeof(vls_flow_end_args),
    .decide = decide,
    .example = "{\"run\":\"00000000-0000-7000-8000-000000000001\",\"status\":\"done\"}",
};
