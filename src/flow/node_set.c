/* node_set.c -- SetNode: pack constants, and what templates make of items. [F9] */
#include "flow/nodes.h"

#include "base/text.h"
#include "flow/config.h"

typedef struct set_params {
    valise_str values; /* JSON */
    valise_str action; /* ptr NULL: none */
} set_params;

static const valise_field set_fields[] = {
    VALISE_FIELD(set_params, values, JSON, VALISE_REQUIRED,
                 "What is packed under which key; texts in it are templates."),
    VALISE_FIELD_WITH(set_params, action, STR, VALISE_NULLABLE, "The action.", .min = 1,
                      .max = VLS_FLOW_ACTION_MAX),
    VALISE_FIELD_END,
};

int vls_set_check(const vls_flow_node *node, valise_str path, vls_flow_findings *findings,
                  valise_error *err)
{
    const vls_checking c = {node, path, findings, err};
    const vls_json *values = vls_json_get(node->params, VLS_STR("values"));
    valise_error why = VALISE_ERROR_INIT;
    int rc = 0;

    if (values && values->type != VLS_JSON_OBJECT)
        return vls_check_fail(&c, "values", "write {\"key\": value}",
                              "it must be an object, not %s", vls_json_type_name(*values));
    for (uint32_t i = 0; values && i < values->len && rc == 0; i++) {
        valise_str key = vls_json_str(values->members[i].key);
        vls_config_place room;

        if (vls_bag_check_key(key, &why) < 0)
            rc = vls_check_fail(&c, vls_config_place_member(&room, VLS_STR("values"), key).ptr,
                                NULL, "%s", why.message);
    }
    if (rc == 0)
        rc = vls_check_template(&c, "values", true);
    return rc < 0 ? rc : vls_check_action(&c, "action");
}

/* All of them are rendered before any is packed: what they say is the state the node found. */
static int prep(void *node, valise_node_run *at, valise_error *err)
{
    vls_json *values;
    int rc = vls_node_data_new(&values, at, sizeof(*values), err);

    (void)node;
    return rc < 0 ? rc : vls_node_value(values, at, "values", err);
}

static int post(void *node, valise_node_run *at, valise_error *err)
{
    const set_params *params = at->values;
    const vls_json *values = at->data;
    int rc = 0;

    (void)node;
    for (uint32_t i = 0; i < values->len && rc == 0; i++)
        rc = vls_node_pack(at, vls_json_str(values->members[i].key), values->members[i].value, err);
    return rc < 0 ? rc : vls_node_choose(at, params->action, err);
}

const valise_node_type vls_node_set = {
    .size = sizeof(valise_node_type),
    .name = "SetNode",
    .brief = "Packs constants, and what templates make of items.",
    .params = set_fields,
    .params_size = sizeof(set_params),
    .prep = prep,
    .post = post,
};
