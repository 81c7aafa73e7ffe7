/* node_tool.c -- ToolExecutionNode: call a tool. [F9] [F11]
 *
 * What goes wrong with the tool is packed, {"success":false,"error","message"}, for the model that
 * sees it next: it is no failure of the node, and nothing is put into quarantine. */
#include "flow/nodes.h"

#include "base/text.h"
#include "json/make.h"

typedef struct tool_params {
    valise_str tool, arguments, from, into, on_error; /* ptr NULL: not said */
} tool_params;

static const valise_field tool_fields[] = {
    VALISE_FIELD_WITH(tool_params, tool, STR, VALISE_NULLABLE, "Its name: a template.", .min = 1,
                      .max = 4096),
    VALISE_FIELD(tool_params, arguments, JSON, VALISE_NULLABLE,
                 "Its arguments: an object with templates in it, or one template alone."),
    VALISE_FIELD_WITH(tool_params, from, STR, VALISE_NULLABLE,
                      "Instead: the key of what ToolParamGenerationNode packed.", .min = 1,
                      .max = VLS_BAG_KEY_MAX),
    VALISE_FIELD_WITH(tool_params, into, STR, VALISE_NULLABLE,
                      "The key of the result, result when not given.", .min = 1,
                      .max = VLS_BAG_KEY_MAX),
    VALISE_FIELD_AS_WITH(tool_params, on_error, "onError", STR, VALISE_NULLABLE,
                         "The action when the tool failed.", .min = 1, .max = VLS_FLOW_ACTION_MAX),
    VALISE_FIELD_END,
};

typedef struct execution {
    valise_str tool, call_id;
    vls_json arguments;
    vls_tool_answer answer;
} execution;

int vls_tool_check(const vls_flow_node *node, valise_str path, vls_flow_findings *findings,
                   valise_error *err)
{
    const vls_checking c = {node, path, findings, err};
    const vls_json *arguments = vls_json_get(node->params, VLS_STR("arguments"));
    int rc = 0;

    if (vls_check_has(&c, "tool") == vls_check_has(&c, "from"))
        rc = vls_check_fail(&c, "", "\"tool\" and \"arguments\", or \"from\"",
                            "it must say what to call, in exactly one way");
    if (rc == 0 && arguments && vls_check_has(&c, "from"))
        rc = vls_check_fail(&c, "arguments", NULL, "the item that `from` names has the arguments");
    if (rc == 0 && arguments && arguments->type != VLS_JSON_OBJECT &&
        arguments->type != VLS_JSON_STRING)
        rc = vls_check_fail(&c, "arguments", NULL, "they must be an object, not %s",
                            vls_json_type_name(*arguments));
    if (rc == 0)
        rc = vls_check_template(&c, "tool", false);
    if (rc == 0)
        rc = vls_check_template(&c, "arguments", false);
    if (rc == 0)
        rc = vls_check_key(&c, "from");
    if (rc == 0)
        rc = vls_check_key(&c, "into");
    return rc < 0 ? rc : vls_check_action(&c, "onError");
}

static int take_packed(execution *e, valise_node_run *at, valise_str key, valise_error *err)
{
    vls_renderer r = vls_renderer_of(at);
    const vls_pick pick = {.key = key};
    vls_json packed = vls_json_null();
    int rc = vls_pick_get(&packed, &r, &pick, err);

    if (rc < 0)
        return rc;
    e->tool = vls_text_of(packed, "tool");
    e->call_id = vls_text_of(packed, "callId");
    e->arguments = vls_member_of(packed, "arguments");
    if (e->tool.len > 0 && e->arguments.type == VLS_JSON_OBJECT)
        return 0;
    (void)vls_fail(err, VALISE_E_INVALID, "item '%s' is not a tool call", vls_text_short(key).s);
    vls_hint(
        err,
        "it must be {\"tool\": name, \"arguments\": {...}}, as ToolParamGenerationNode packs it");
    return VALISE_E_INVALID;
}

static int prep(void *node, valise_node_run *at, valise_error *err)
{
    const tool_params *params = at->values;
    execution *e;
    int rc = vls_node_data_new(&e, at, sizeof(*e), err);

    (void)node;
    if (rc < 0)
        return rc;
    if (params->from.ptr)
        return take_packed(e, at, params->from, err);
    e->arguments = (vls_json){.type = VLS_JSON_OBJECT};
    rc = vls_node_text(&e->tool, at, "tool", err);
    if (rc == 0 && params->arguments.ptr)
        rc = vls_node_value(&e->arguments, at, "arguments", err);
    return rc;
}

static int exec(void *node, valise_node_run *at, valise_error *err)
{
    execution *e = at->data;
    const vls_tool *tool = NULL;
    vls_toolbox *box = NULL;
    int rc = vls_node_tools(&box, at, err);

    (void)node;
    /* A name that a model made up is the model's to hear of; one of the flow is a mistake in it. */
    if (rc == 0 && e->call_id.len == 0)
        rc = vls_tools_find(&tool, box, e->tool, err);
    return rc < 0 ? rc
                  : vls_node_call_tool(&e->answer, at, box, e->tool, e->call_id, e->arguments, err);
}

static int post(void *node, valise_node_run *at, valise_error *err)
{
    const tool_params *params = at->values;
    const execution *e = at->data;
    vls_json value = e->answer.value;
    int rc = e->answer.failed ? vls_tool_failure(&value, at->arena, &e->answer, err) : 0;

    (void)node;
    if (rc == 0)
        rc = vls_node_pack(at, params->into.ptr ? params->into : VLS_STR("result"), value, err);
    if (rc == 0 && e->answer.failed)
        rc = vls_node_choose(at, params->on_error, err);
    return rc;
}

const valise_node_type vls_node_tool = {
    .size = sizeof(valise_node_type),
    .name = "ToolExecutionNode",
    .brief = "Calls a tool; an error of the tool is packed for the model.",
    .params = tool_fields,
    .params_size = sizeof(tool_params),
    .prep = prep,
    .exec = exec,
    .post = post,
};
