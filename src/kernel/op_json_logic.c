/* op_json_logic.c -- json:logic, evaluate a rule. */
#include "kernel/json.h"

#include "json/logic.h"

typedef struct logic_args {
    valise_content rule, data;
} logic_args;

static const valise_field logic_in[] = {
    VALISE_FIELD(logic_args, rule, VALUE, VALISE_REQUIRED | VALISE_POSITIONAL,
                 "A JSON Logic rule."),
    VALISE_FIELD(logic_args, data, VALUE, VALISE_REQUIRED | VALISE_POSITIONAL,
                 "The data that the rule reads."),
    VALISE_FIELD_END,
};

static int logic_query(valise_view *view, const void *args, void *result, valise_error *err)
{
    const logic_args *a = args;
    vls_json rule, data, answer = vls_json_null();
    int rc = vls_json_argument(&rule, view, &a->rule, err);

    if (rc == 0)
        rc = vls_json_argument(&data, view, &a->data, err);
    if (rc == 0)
        rc = vls_logic_apply(&answer, vls_json_arena(view), rule, data, NULL, err);
    return rc < 0 ? rc : vls_json_content(&((vls_json_answer *)result)->value, view, answer, err);
}

const valise_op vls_op_kernel_json_logic = {
    .size = sizeof(valise_op),
    .name = "json:logic",
    .brief = "Evaluate a JSON Logic rule.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_NO_WORKSPACE | VALISE_OP_IDEMPOTENT,
    .in = logic_in,
    .in_size = sizeof(logic_args),
    .out = vls_json_answer_out,
    .out_size = sizeof(vls_json_answer),
    .query = logic_query,
    .example = "{\"rule\":{\">\":[{\"var\":\"score\"},0.8]},\"data\":{\"score\":0.9}}",
};
