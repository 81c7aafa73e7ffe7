/* node_final.c -- FinalAnswerNode: the answer of a flow, under the key where one looks for it. [F9]
 */
#include "flow/nodes.h"

typedef struct final_params {
    valise_str from, into, action; /* ptr NULL: not said */
} final_params;

static const valise_field final_fields[] = {
    VALISE_FIELD(final_params, from, JSON, VALISE_NULLABLE,
                 "The answer: a template, {{answer}} when not given."),
    VALISE_FIELD_WITH(final_params, into, STR, VALISE_NULLABLE,
                      "Its key, finalAnswer when not given.", .min = 1, .max = VLS_BAG_KEY_MAX),
    VALISE_FIELD_WITH(final_params, action, STR, VALISE_NULLABLE, "The action.", .min = 1,
                      .max = VLS_FLOW_ACTION_MAX),
    VALISE_FIELD_END,
};

int vls_final_check(const vls_flow_node *node, valise_str path, vls_flow_findings *findings,
                    valise_error *err)
{
    const vls_checking c = {node, path, findings, err};
    int rc = vls_check_template(&c, "from", true);

    if (rc == 0)
        rc = vls_check_key(&c, "into");
    return rc < 0 ? rc : vls_check_action(&c, "action");
}

static int prep(void *node, valise_node_run *at, valise_error *err)
{
    static const vls_json usual = {.type = VLS_JSON_STRING, .len = 10, .text = "{{answer}}"};
    const final_params *params = at->values;
    vls_renderer r = vls_renderer_of(at);
    vls_json *answer;
    int rc = vls_node_data_new(&answer, at, sizeof(*answer), err);

    (void)node;
    if (rc < 0)
        return rc;
    return params->from.ptr ? vls_node_value(answer, at, "from", err)
                            : vls_template_value(answer, &r, usual, err);
}

static int post(void *node, valise_node_run *at, valise_error *err)
{
    const final_params *params = at->values;
    const vls_json *answer = at->data;
    int rc =
        vls_node_pack(at, params->into.ptr ? params->into : VLS_STR("finalAnswer"), *answer, err);

    (void)node;
    return rc < 0 ? rc : vls_node_choose(at, params->action, err);
}

const valise_node_type vls_node_final = {
    .size = sizeof(valise_node_type),
    .name = "FinalAnswerNode",
    .brief = "Packs the answer of a flow.",
    .params = final_fields,
    .params_size = sizeof(final_params),
    .prep = prep,
    .post = post,
};
