/* node_subflow.c -- a flow where a node can stand: a member of `subflows`, and SubflowNode. [F9]
 * [F19]
 *
 * It walks the level below, on the same backpack; the last action in there is its own. */
#include "flow/run.h"

#include "base/text.h"
#include "json/make.h"

static int exec(void *node, valise_node_run *at, valise_error *err)
{
    vls_flow_level *level = NULL;
    int rc = vls_flow_enter(&level, at, at->node->inner, err);

    (void)node;
    if (rc == 0)
        rc = vls_flow_walk(&at->action, level, NULL, at->arena, err);
    return rc;
}

int vls_subflow_compose(vls_flow_node *node, valise_str path, vls_flow_findings *findings,
                        valise_error *err)
{
    const vls_json *config = vls_json_get(node->params, VLS_STR("flow"));
    valise_error why = VALISE_ERROR_INIT;
    valise_flow *inner = NULL;
    char place[1024];
    int len = snprintf(place, sizeof(place), "%.*s.flow", VALISE_STR_ARG(path));
    int rc;

    if (!config || config->type != VLS_JSON_OBJECT || len <= 0) /* its schema has said so */
        return 0;
    rc = vls_flow_make_inner(&inner, node, &why);
    if (rc < 0)
        return vls_flow_findings_take(findings, path, &why, err);
    return vls_flow_read(inner, *config, vls_str(place, VLS_MIN((size_t)len, sizeof(place) - 1)),
                         findings, err);
}

const valise_node_type vls_node_subflow = {
    .size = sizeof(valise_node_type),
    .name = "SubflowNode",
    .brief = "Runs a flow, as one node.",
    .params_schema = "{\"type\":\"object\",\"required\":[\"flow\"],\"additionalProperties\":false,"
                     "\"properties\":{\"flow\":{\"type\":\"object\"}}}",
    .exec = exec,
};

const valise_node_type vls_node_subflow_level = {
    .size = sizeof(valise_node_type),
    .name = "SubflowNode",
    .brief = "Runs a flow, as one node.",
    .exec = exec,
};
