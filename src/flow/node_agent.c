/* node_agent.c -- AgentNode: a model that decides, calls tools, and answers. [F9]
 *
 *     {"prompt": "{{question}}", "tools": ["weather"], "client": "llm", "maxTurns": 10}
 *
 * Its inside is a flow (agent.h). The last of maxTurns turns is asked to answer without tools; a
 * model that calls one even then is a failure, VALISE_E_LIMIT.
 *
 * What its configuration says of the agent holds for the nodes inside: its permissions, to which
 * the key of its messages is added where there is a list; its dependencies; and its timeout, for
 * each phase of each. Its retries are those of a turn, so that no tool is called twice for what a
 * model got wrong. */
#include "flow/agent.h"

#include "json/make.h"

static const valise_field tool_field = {
    .name = "tool", .type = VALISE_T_STR, .min = 1, .max = VLS_TOOL_NAME_MAX};

const valise_field vls_flow_agent_fields[] = {
    VALISE_FIELD(vls_flow_agent_params, prompt, STR, VALISE_REQUIRED, "What is asked: a template."),
    VALISE_FIELD(vls_flow_agent_params, system, STR, VALISE_NULLABLE,
                 "What the model is told beside that: a template, rendered anew for each turn."),
    VALISE_FIELD_WITH(vls_flow_agent_params, tools, LIST, 0,
                      "Tools that it may call, by their names.", .more = &tool_field, .max = 256),
    VALISE_FIELD_AS_WITH(vls_flow_agent_params, max_turns, "maxTurns", INT, VALISE_NULLABLE,
                         "How often the model is asked at most, 10 when not given.", .min = 1,
                         .max = VLS_AGENT_TURNS_MAX),
    VALISE_FIELD_WITH(vls_flow_agent_params, into, STR, VALISE_NULLABLE,
                      "The key of the answer, answer when not given.", .min = 1,
                      .max = VLS_BAG_KEY_MAX),
    VLS_ASK_FIELDS(vls_flow_agent_params),
    VALISE_FIELD_END,
};

int vls_flow_agent_key(valise_str *out, vls_arena *arena, const vls_flow_node *agent,
                       valise_error *err)
{
    vls_buf key;

    vls_buf_init_in(&key, arena, VLS_BAG_KEY_MAX);
    for (size_t i = 0; i < agent->path.len; i++)
        vls_buf_add_byte(&key, agent->path.ptr[i] == '/' ? '.' : agent->path.ptr[i]);
    vls_buf_add_text(&key, ".messages");
    return vls_buf_keep(out, &key, err);
}

int vls_flow_agent_check(const vls_flow_node *node, valise_str path, vls_flow_findings *findings,
                         valise_error *err)
{
    const vls_checking c = {node, path, findings, err};
    int rc = vls_check_ask(&c, true);

    return rc < 0 ? rc : vls_check_key(&c, "into");
}

/* ---- the inside ---- */

static int add_key(vls_json *permissions, vls_arena *arena, const char *list, valise_str key,
                   valise_error *err)
{
    vls_json names = vls_member_of(*permissions, list);
    int rc;

    if (names.type != VLS_JSON_ARRAY)
        names = vls_json_array(NULL, 0);
    rc = vls_messages_add(&names, arena, vls_json_string(key), err);
    return rc < 0 ? rc : vls_json_with(permissions, arena, *permissions, list, names, err);
}

/* Where there is a list of what the agent may, its own messages are on it. */
static int make_permissions(vls_json *out, vls_arena *arena, const vls_flow_node *agent,
                            valise_error *err)
{
    static const char *const lists[] = {"read", "write", "namespaceRead", "namespaceWrite"};
    bool listed = false;
    valise_str key;
    int rc;

    *out = vls_member_of(agent->json, "permissions");
    for (size_t i = 0; i < VLS_COUNT(lists); i++)
        listed = listed || vls_json_get(*out, valise_str_of(lists[i]));
    if (!listed)
        return 0;
    rc = vls_flow_agent_key(&key, arena, agent, err);
    if (rc == 0)
        rc = add_key(out, arena, "read", key, err);
    return rc < 0 ? rc : add_key(out, arena, "write", key, err);
}

static vls_pair given(const vls_flow_node *agent, const char *member, bool wanted)
{
    vls_json value = vls_member_of(agent->json, member);

    return (vls_pair){member, value, !wanted || value.type == VLS_JSON_NULL};
}

static int add_node(vls_flow_node *agent, const char *id, const valise_node_type *type,
                    vls_json permissions, valise_str path, vls_flow_findings *findings,
                    valise_error *err)
{
    vls_arena *arena = vls_flow_arena(agent->flow);
    bool asks = type == &vls_flow_agent_decide;
    const vls_pair pairs[] = {
        {"id", vls_json_string(valise_str_of(id)), false},
        {"params", agent->params, false},
        {"permissions", permissions, permissions.type == VLS_JSON_NULL},
        given(agent, "dependencies", true),
        given(agent, "timeout", true),
        given(agent, "maxRetries", asks),
        given(agent, "wait", asks),
    };
    vls_json config;
    int rc = vls_pairs_make(&config, arena, pairs, VLS_COUNT(pairs), err);

    return rc < 0 ? rc : vls_flow_read_node(NULL, agent->inner, type, config, path, findings, err);
}

static int add_edge(vls_flow_node *agent, const char *from, const char *to, const char *condition,
                    valise_str path, vls_flow_findings *findings, valise_error *err)
{
    vls_json config;
    int rc = VLS_PAIRS(&config, vls_flow_arena(agent->flow), err,
                       {"from", vls_json_string(valise_str_of(from)), false},
                       {"to", vls_json_string(valise_str_of(to)), false},
                       {"condition", vls_json_string(valise_str_of(condition)), false});

    return rc < 0 ? rc : vls_flow_read_edge(agent->inner, config, path, findings, err);
}

int vls_flow_agent_compose(vls_flow_node *node, valise_str path, vls_flow_findings *findings,
                           valise_error *err)
{
    static const struct {
        const char *id;
        const valise_node_type *type;
    } nodes[] = {{"start", &vls_flow_agent_start},
                 {"decide", &vls_flow_agent_decide},
                 {"tools", &vls_flow_agent_tools},
                 {"answer", &vls_flow_agent_answer}};
    static const char *const edges[][3] = {{"start", "decide", "default"},
                                           {"decide", "tools", "call"},
                                           {"decide", "answer", "answer"},
                                           {"tools", "decide", "default"}};
    size_t before = findings->errors;
    valise_error why = VALISE_ERROR_INIT;
    valise_flow *inner = NULL;
    vls_json permissions;
    int rc;

    if (!node->values) /* its params are those of the nodes inside: what is wrong was said */
        return 0;
    rc = vls_flow_make_inner(&inner, node, &why);
    if (rc < 0)
        return vls_flow_findings_take(findings, path, &why, err);
    rc = make_permissions(&permissions, vls_flow_arena(node->flow), node, err);
    for (size_t i = 0; i < VLS_COUNT(nodes) && rc == 0 && findings->errors == before; i++)
        rc = add_node(node, nodes[i].id, nodes[i].type, permissions, path, findings, err);
    for (size_t i = 0; i < VLS_COUNT(edges) && rc == 0 && findings->errors == before; i++)
        rc = add_edge(node, edges[i][0], edges[i][1], edges[i][2], path, findings, err);
    node->retries = 0; /* they are those of `decide` now */
    return rc;
}

/* ---- running ---- */

static int exec(void *node, valise_node_run *at, valise_error *err)
{
    vls_flow_level *level = NULL;
    valise_str action;
    int rc = vls_flow_enter(&level, at, at->node->inner, err);

    (void)node;
    return rc < 0 ? rc : vls_flow_walk(&action, level, NULL, at->arena, err);
}

const valise_node_type vls_node_agent = {
    .size = sizeof(valise_node_type),
    .name = "AgentNode",
    .brief = "A model that decides, calls tools and answers.",
    .segment = "agent",
    .params = vls_flow_agent_fields,
    .params_size = sizeof(vls_flow_agent_params),
    .exec = exec,
};
