/* node_params.c -- ToolParamGenerationNode: a model writes the arguments of a tool. [F9] [F11]
 *
 * What is packed is {"tool","arguments","callId"}, as ToolExecutionNode takes it; the arguments fit
 * the schema of the tool. Those that do not are a failure of the attempt. */
#include "flow/nodes.h"

#include "base/text.h"
#include "json/make.h"

typedef struct params_params {
    valise_str tool, prompt, system, into;
    vls_ask_from from;
} params_params;

static const valise_field params_fields[] = {
    VALISE_FIELD_WITH(params_params, tool, STR, VALISE_REQUIRED, "Its name: a template.", .min = 1,
                      .max = 4096),
    VALISE_FIELD(params_params, prompt, STR, VALISE_REQUIRED,
                 "What the model is asked: a template."),
    VALISE_FIELD(params_params, system, STR, VALISE_NULLABLE,
                 "What it is told beside that: a template."),
    VALISE_FIELD_WITH(params_params, into, STR, VALISE_NULLABLE,
                      "The key of what it wrote, arguments when not given.", .min = 1,
                      .max = VLS_BAG_KEY_MAX),
    VLS_ASK_FIELDS(params_params),
    VALISE_FIELD_END,
};

typedef struct generation {
    valise_str tool, prompt, system;
    vls_json packed;
} generation;

int vls_params_check(const vls_flow_node *node, valise_str path, vls_flow_findings *findings,
                     valise_error *err)
{
    const vls_checking c = {node, path, findings, err};
    int rc = vls_check_template(&c, "tool", false);

    if (rc == 0)
        rc = vls_check_key(&c, "into");
    return rc < 0 ? rc : vls_check_ask(&c, false);
}

static int prep(void *node, valise_node_run *at, valise_error *err)
{
    generation *g;
    int rc = vls_node_data_new(&g, at, sizeof(*g), err);

    (void)node;
    if (rc == 0)
        rc = vls_node_text(&g->tool, at, "tool", err);
    if (rc == 0)
        rc = vls_node_text(&g->prompt, at, "prompt", err);
    return rc < 0 ? rc : vls_node_text(&g->system, at, "system", err);
}

static int take_call(generation *g, valise_node_run *at, const vls_toolbox *box,
                     const vls_asked *asked, valise_error *err)
{
    vls_asked_call call, other;
    int rc;

    if (!vls_flow_blocks_call(&call, asked->answer.blocks, 0) ||
        !vls_str_equal(call.name, g->tool)) {
        (void)vls_fail(err, VALISE_E_INVALID, "the model had to call '%s', but said %s",
                       vls_text_short(g->tool).s, vls_flow_said_of(asked).s);
        vls_hint(err, "set maxRetries to ask it again");
        return VALISE_E_INVALID;
    }
    if (vls_flow_blocks_call(&other, asked->answer.blocks, 1))
        return vls_fail(err, VALISE_E_INVALID,
                        "the model had to call '%s' once, but called it twice",
                        vls_text_short(g->tool).s);
    if (call.broken)
        return vls_fail(err, VALISE_E_INVALID,
                        "the model wrote arguments for '%s' that are not a JSON object",
                        vls_text_short(g->tool).s);
    rc = vls_toolbox_check(box, g->tool, call.args, err);
    return rc < 0 ? rc
                  : VLS_PAIRS(&g->packed, at->arena, err, {"tool", vls_json_string(g->tool), false},
                              {"arguments", call.args, false},
                              {"callId", vls_json_string(call.id), call.id.len == 0});
}

static int exec(void *node, valise_node_run *at, valise_error *err)
{
    const params_params *params = at->values;
    generation *g = at->data;
    vls_json name = vls_json_string(g->tool), message;
    vls_ask ask = {.from = &params->from, .system = g->system, .messages = vls_json_array(NULL, 0)};
    vls_asked asked = {.text = VLS_STR("")};
    vls_toolbox *box = NULL;
    int rc = vls_node_tools(&box, at, err);

    (void)node;
    if (rc == 0)
        rc = vls_tools_describe(&ask.tools, at->arena, box, vls_json_array(&name, 1), err);
    if (rc == 0)
        rc = VLS_PAIRS(&ask.tool_choice, at->arena, err, {"name", name, false});
    if (rc == 0)
        rc = vls_message_of(&message, at->arena, g->prompt, err);
    if (rc == 0)
        rc = vls_messages_add(&ask.messages, at->arena, message, err);
    if (rc == 0)
        rc = vls_ask_model(&asked, at, &ask, err);
    return rc < 0 ? rc : take_call(g, at, box, &asked, err);
}

static int post(void *node, valise_node_run *at, valise_error *err)
{
    const params_params *params = at->values;
    const generation *g = at->data;

    (void)node;
    return vls_node_pack(at, params->into.ptr ? params->into : VLS_STR("arguments"), g->packed,
                         err);
}

const valise_node_type vls_node_params = {
    .size = sizeof(valise_node_type),
    .name = "ToolParamGenerationNode",
    .brief = "Has a model write the arguments of a tool.",
    .params = params_fields,
    .params_size = sizeof(params_params),
    .prep = prep,
    .exec = exec,
    .post = post,
};
