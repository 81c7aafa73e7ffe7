/* op_flow_step.c -- flow:step, a node of a run is done. */
#include "flow/ops.h"

static const valise_field step_in[] = {
    VALISE_FIELD(vls_flow_step_args, run, UUID, VALISE_REQUIRED, "The run."),
    VALISE_FIELD(vls_flow_step_args, number, INT, VALISE_REQUIRED, "The tick at which it ended."),
    VALISE_FIELD(vls_flow_step_args, begun, INT, 0, "The tick at which it began."),
    VALISE_FIELD_WITH(vls_flow_step_args, path, STR, VALISE_REQUIRED, "The node.",
                      .max = VLS_FLOW_PATH_MAX),
    VALISE_FIELD(vls_flow_step_args, visit, INT, 0, "The how manyth run of the node it was."),
    VALISE_FIELD(vls_flow_step_args, backpack, UUID, VALISE_REQUIRED, "On which backpack."),
    VALISE_FIELD(vls_flow_step_args, start, INT, 0, "Seq of the state that it found."),
    VALISE_FIELD_WITH(vls_flow_step_args, action, STR, 0, "What it chose.",
                      .max = VLS_FLOW_ACTION_MAX),
    VALISE_FIELD_WITH(vls_flow_step_args, next, STR, VALISE_NULLABLE, "Id of the next node.",
                      .max = VLS_FLOW_ID_MAX),
    VALISE_FIELD_WITH(vls_flow_step_args, code, STR, VALISE_NULLABLE, "Code of its failure.",
                      .max = 64),
    VALISE_FIELD_WITH(vls_flow_step_args, error, STR, VALISE_NULLABLE, "What the failure says.",
                      .max = VLS_FLOW_ERROR_MAX),
    VALISE_FIELD_END,
};

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_flow_step_args *args = in;
    const vls_flow_step_row row = {.run = args->run,
                                   .number = args->number,
                                   .begun = args->begun,
                                   .path = args->path,
                                   .visit = args->visit,
                                   .backpack = args->backpack,
                                   .start = args->start,
                                   .action = args->action,
                                   .next = args->next,
                                   .code = args->code,
                                   .error = args->error,
                                   .time = valise_view_stamp(view)->time};

    (void)out;
    return valise_view_put(view, &vls_flow_steps, &row, err);
}

const valise_op vls_op_flow_flow_step = {
    .size = sizeof(valise_op),
    .name = "flow:step",
    .brief = "A node of a run is done.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_INTERNAL,
    .needs = "flow:write",
    .in = step_in,
    .in_size = sizeof(vls_flow_step_args),
    .decide = decide,
    .example = "{\"action\":\"default\",\"backpack\":\"00000000-0000-7000-8000-000000000002\","
               "\"begun\":1,\"number\":2,\"path\":\"chat\","
               "\"run\":\"00000000-0000-7000-8000-000000000001\",\"visit\":1}",
};
