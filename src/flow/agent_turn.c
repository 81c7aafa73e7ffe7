/* agent_turn.c -- the nodes inside of an AgentNode. They have its params; see agent.h. */
#include "flow/agent.h"

#include "base/text.h"
#include "prompt/send.h"

typedef struct turn {
    valise_str key, system;
    vls_json messages;
    vls_json more; /* the message that this turn adds */
    valise_str text;
    bool calls;
} turn;

static int begin_turn(turn **out, valise_node_run *at, valise_error *err)
{
    int rc = vls_node_data_new(out, at, sizeof(**out), err);

    return rc < 0 ? rc : vls_flow_agent_key(&(*out)->key, at->arena, at->node->flow->owner, err);
}

static int read_messages(turn *t, valise_node_run *at, valise_error *err)
{
    vls_renderer r = vls_renderer_of(at);
    const vls_pick pick = {.key = t->key};
    int rc = vls_pick_get(&t->messages, &r, &pick, err);

    if (rc < 0)
        return rc;
    if (t->messages.type != VLS_JSON_ARRAY || t->messages.len == 0)
        return vls_fail(err, VALISE_E_INVALID, "item '%s' is not what this agent packed there",
                        vls_text_short(t->key).s);
    return 0;
}

static vls_json last_blocks(const turn *t)
{
    return vls_member_of(t->messages.items[t->messages.len - 1], "blocks");
}

static int pack_more(valise_node_run *at, turn *t, valise_error *err)
{
    int rc = vls_messages_add(&t->messages, at->arena, t->more, err);

    return rc < 0 ? rc : vls_node_pack(at, t->key, t->messages, err);
}

static int pack_turn(void *node, valise_node_run *at, valise_error *err)
{
    (void)node;
    return pack_more(at, at->data, err);
}

static int prep_turn(void *node, valise_node_run *at, valise_error *err)
{
    turn *t;
    int rc = begin_turn(&t, at, err);

    (void)node;
    return rc < 0 ? rc : read_messages(t, at, err);
}

/* ---- start ---- */

static int start_prep(void *node, valise_node_run *at, valise_error *err)
{
    valise_str prompt;
    turn *t;
    int rc = begin_turn(&t, at, err);

    (void)node;
    if (rc == 0)
        rc = vls_node_text(&prompt, at, "prompt", err);
    if (rc < 0)
        return rc;
    t->messages = vls_json_array(NULL, 0);
    if (vls_is_blank(prompt))
        return vls_fail(err, VALISE_E_INVALID, "the prompt is nothing but white space");
    return vls_message_of(&t->more, at->arena, prompt, err);
}

const valise_node_type vls_flow_agent_start = {
    .size = sizeof(valise_node_type),
    .name = "AgentStart",
    .brief = "The first message of an agent.",
    .params = vls_flow_agent_fields,
    .params_size = sizeof(vls_flow_agent_params),
    .prep = start_prep,
    .post = pack_turn,
};

/* ---- decide ---- */

static int64_t count_turns(const turn *t)
{
    int64_t count = 0;

    for (uint32_t i = 0; i < t->messages.len; i++)
        count += vls_str_equal(vls_text_of(t->messages.items[i], "role"), VLS_STR("assistant"));
    return count;
}

static int decide_prep(void *node, valise_node_run *at, valise_error *err)
{
    int rc = prep_turn(node, at, err);

    return rc < 0 ? rc : vls_node_text(&((turn *)at->data)->system, at, "system", err);
}

static int take_answer(turn *t, valise_node_run *at, const vls_asked *asked, bool last,
                       int64_t most, valise_error *err)
{
    vls_asked_call call;

    t->calls = vls_flow_blocks_call(&call, asked->answer.blocks, 0);
    if (t->calls && last) {
        (void)vls_fail(err, VALISE_E_LIMIT,
                       "the model still called tools in the last of %lld turns", (long long)most);
        vls_hint(err, "set maxTurns higher to allow more turns");
        return VALISE_E_LIMIT;
    }
    if (!t->calls && vls_is_blank(asked->text))
        return vls_fail(err, VALISE_E_INVALID, "the model neither said nor called anything");
    return VLS_PAIRS(&t->more, at->arena, err,
                     {"role", vls_json_string(VLS_STR("assistant")), false},
                     {"blocks", asked->answer.blocks, false});
}

static int decide_exec(void *node, valise_node_run *at, valise_error *err)
{
    const vls_flow_agent_params *params = at->values;
    turn *t = at->data;
    vls_ask ask = {.from = &params->from, .system = t->system, .messages = t->messages};
    int64_t most = params->max_turns == VALISE_NONE ? VLS_AGENT_TURNS : params->max_turns;
    bool last = count_turns(t) + 1 >= most;
    vls_toolbox *box = NULL;
    vls_asked asked = {.text = VLS_STR("")};
    int rc = 0;

    (void)node;
    if (params->tools.count > 0) {
        rc = vls_node_tools(&box, at, err);
        if (rc == 0)
            rc = vls_tools_describe(&ask.tools, at->arena, box, vls_node_written(at, "tools"), err);
        if (last)
            ask.tool_choice = vls_json_string(VLS_STR("none"));
    }
    if (rc == 0)
        rc = vls_ask_model(&asked, at, &ask, err);
    return rc < 0 ? rc : take_answer(t, at, &asked, last, most, err);
}

static int decide_post(void *node, valise_node_run *at, valise_error *err)
{
    turn *t = at->data;
    int rc = pack_more(at, t, err);

    (void)node;
    return rc < 0 ? rc : valise_node_act(at, t->calls ? "call" : "answer", err);
}

static const char *const decide_actions[] = {"call", "answer", NULL};

const valise_node_type vls_flow_agent_decide = {
    .size = sizeof(valise_node_type),
    .name = "AgentDecide",
    .brief = "Asks the model of an agent.",
    .params = vls_flow_agent_fields,
    .params_size = sizeof(vls_flow_agent_params),
    .actions = decide_actions,
    .prep = decide_prep,
    .exec = decide_exec,
    .post = decide_post,
};

/* ---- tools ---- */

static bool may_call(const valise_node_run *at, valise_str name)
{
    vls_json tools = vls_node_written(at, "tools");

    for (uint32_t i = 0; i < tools.len; i++)
        if (vls_str_equal(vls_json_str(tools.items[i]), name))
            return true;
    return false;
}

static int write_result(vls_json *out, vls_arena *arena, const vls_asked_call *call, bool failed,
                        valise_str text, valise_error *err)
{
    return VLS_PAIRS(out, arena, err, {"type", vls_json_string(VLS_STR("tool_result")), false},
                     {"callId", vls_json_string(call->id), false},
                     {"content", vls_json_string(text), false},
                     {"isError", vls_json_bool(true), !failed});
}

static int refuse(vls_json *out, const valise_node_run *at, const vls_asked_call *call,
                  const char *why, valise_error *err)
{
    vls_node_tell_call(at, call->name, call->id, true, 0);
    return write_result(out, at->arena, call, true, valise_str_of(why), err);
}

/* What is wrong with a call is told to the model, which may do better. */
static int call_tool(vls_json *out, valise_node_run *at, vls_toolbox *box,
                     const vls_asked_call *call, valise_error *err)
{
    vls_tool_answer answer = {.failed = true};
    valise_str text;
    int rc;

    if (!may_call(at, call->name))
        return refuse(out, at, call, "There is no tool of this name.", err);
    if (call->broken)
        return refuse(out, at, call, "The arguments are not a JSON object.", err);
    rc = vls_node_call_tool(&answer, at, box, call->name, call->id, call->args, err);
    if (rc < 0)
        return rc;
    text = vls_json_str(answer.value);
    if (answer.failed)
        text = vls_text_of(vls_member_of(answer.value, "error"), "message");
    else if (answer.value.type != VLS_JSON_STRING)
        rc = vls_json_text(&text, at->arena, answer.value, err);
    return rc < 0 ? rc : write_result(out, at->arena, call, answer.failed, text, err);
}

static int tools_exec(void *node, valise_node_run *at, valise_error *err)
{
    turn *t = at->data;
    vls_json results = vls_json_array(NULL, 0), result;
    vls_toolbox *box = NULL;
    vls_asked_call call;
    int rc = vls_node_tools(&box, at, err);

    (void)node;
    for (size_t i = 0; rc == 0 && vls_flow_blocks_call(&call, last_blocks(t), i); i++) {
        rc = vls_node_look(at, err);
        if (rc == 0)
            rc = call_tool(&result, at, box, &call, err);
        if (rc == 0)
            rc = vls_messages_add(&results, at->arena, result, err);
    }
    return rc < 0 ? rc
                  : VLS_PAIRS(&t->more, at->arena, err,
                              {"role", vls_json_string(VLS_STR("tool")), false},
                              {"blocks", results, false});
}

const valise_node_type vls_flow_agent_tools = {
    .size = sizeof(valise_node_type),
    .name = "AgentTools",
    .brief = "Calls the tools that the model of an agent asked for.",
    .params = vls_flow_agent_fields,
    .params_size = sizeof(vls_flow_agent_params),
    .prep = prep_turn,
    .exec = tools_exec,
    .post = pack_turn,
};

/* ---- answer ---- */

static int answer_prep(void *node, valise_node_run *at, valise_error *err)
{
    int rc = prep_turn(node, at, err);
    turn *t = at->data;

    return rc < 0 ? rc : vls_answer_text(&t->text, at->arena, last_blocks(t), err);
}

/* The messages have done their work: they are in the history of the backpack, and in nobody's way.
 */
static int answer_post(void *node, valise_node_run *at, valise_error *err)
{
    const vls_flow_agent_params *params = at->values;
    const turn *t = at->data;
    int rc = vls_node_pack(at, params->into.ptr ? params->into : VLS_STR("answer"),
                           vls_json_string(t->text), err);

    (void)node;
    return rc < 0 ? rc : valise_remove(NULL, at->view, t->key.ptr, err);
}

const valise_node_type vls_flow_agent_answer = {
    .size = sizeof(valise_node_type),
    .name = "AgentAnswer",
    .brief = "Packs the answer of an agent.",
    .params = vls_flow_agent_fields,
    .params_size = sizeof(vls_flow_agent_params),
    .prep = answer_prep,
    .post = answer_post,
};
