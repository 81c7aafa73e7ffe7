/* toolset.c -- the tools of a run: those that the flow declares, and those of the host. [F11] [K34]
 *
 * They are made when a node asks for them first, and shared by all nodes of the run and of its
 * elements. A flow that a host runs within a node has the tools of the flow around it. */
#include "flow/nodes.h"

#include "base/text.h"
#include "json/make.h"
#include "tool/inside.h"

/* ---- making ---- */

/* A tool may complain of what it was given, to any node that calls it. */
static int note_secrets(valise_node_run *at, size_t from, valise_error *err)
{
    vls_secrets *known = &vls_flow_root(at->run)->tools_secrets;
    int rc = 0;

    for (size_t i = from; i < at->secrets.all.len && rc == 0; i++) {
        valise_str secret;

        rc = vls_arena_dup(&secret, known->arena, at->secrets.all.ptr[i], err);
        if (rc == 0 && !vls_vec_push_in(&known->all, known->arena, secret))
            rc = vls_arena_fail(known->arena, err);
    }
    return rc;
}

/* "NAME=value", references resolved: what was resolved stays out of what the node tells. */
static int make_environment(vls_tool_command *command, valise_node_run *at, vls_json env,
                            valise_error *err)
{
    vls_json resolved = env;
    size_t before = at->secrets.all.len;
    int rc;

    if (env.type != VLS_JSON_OBJECT || env.len == 0)
        return 0;
    at->secrets.arena = at->arena;
    rc = vls_references_resolve(&resolved, at->arena, env, at->run->v, &at->secrets, err);
    if (rc == 0)
        rc = note_secrets(at, before, err);
    return rc < 0 ? rc : vls_tool_command_env(command, at->arena, resolved, err);
}

static void tell_left_out(void *arg, valise_str server, const valise_error *why)
{
    const valise_node_run *at = arg;
    valise_error said = *why; /* in words of the server, which knows what it was given */

    vls_secrets_hide(&at->secrets, &said);
    vls_flow_warn(at->run, at, "a tool of %s is left out: %s", vls_text_short(server).s,
                  said.message);
}

static int add_declared(vls_toolbox *box, valise_node_run *at, const vls_flow_dependency *d,
                        valise_error *err)
{
    vls_tool_command command = {.argv = d->argv,
                                .count = d->argc,
                                .folder = vls_flow_outermost(at->run->flow)->folder,
                                .timeout_ns = d->timeout_ns,
                                .max_bytes = VALISE_NONE};
    int rc = vls_node_may_start(&command.may, at, vls_flow_root(at->run)->flow,
                                d->argc > 0 ? d->argv[0] : d->name, err);

    if (rc == 0)
        rc = make_environment(&command, at, d->env, err);
    if (rc < 0)
        return rc;
    if (d->kind == VLS_NEED_TOOL)
        return vls_toolbox_add_program(box, d->name, d->description, d->parameters, &command, err);
    return vls_toolbox_add_server(box,
                                  &(vls_tool_server){.name = d->name,
                                                     .command = command,
                                                     .prefix = d->prefix,
                                                     .only = d->only,
                                                     .only_count = d->only_count,
                                                     .look = vls_node_look,
                                                     .left_out = tell_left_out,
                                                     .arg = at},
                                  err);
}

static int fill(vls_toolbox *box, valise_node_run *at, valise_error *err)
{
    const valise_flow *flow = vls_flow_outermost(vls_flow_root(at->run)->flow);
    int rc = 0;

    for (size_t i = 0; i < flow->dependency_count && rc == 0; i++) {
        const vls_flow_dependency *d = &flow->dependencies[i];

        if (d->kind != VLS_NEED_TOOL && d->kind != VLS_NEED_MCP)
            continue;
        rc = add_declared(box, at, d, err);
        if (rc < 0)
            vls_error_prepend(err, "dependencies.%s", vls_text_short(d->name).s);
    }
    for (const valise_service *s = flow->services; s && s->name && rc == 0; s++)
        if (s->kind == VALISE_SERVICE_TOOL)
            rc = vls_toolbox_add_host(box, s->service, err);
    return rc;
}

int vls_node_tools(vls_toolbox **out, valise_node_run *at, valise_error *err)
{
    vls_flow_run *root = vls_flow_root(at->run);
    VLS_AUTO(toolbox) vls_toolbox *box = NULL;
    int rc = 0;

    (void)pthread_mutex_lock(&root->lock);
    if (!root->tools) {
        rc = vls_toolbox_new(&box, root->env, err);
        if (rc == 0)
            rc = fill(box, at, err);
        if (rc == 0)
            root->tools = VLS_TAKE(box);
    }
    if (rc == 0)
        *out = root->tools;
    (void)pthread_mutex_unlock(&root->lock);
    return rc;
}

/* ---- using ---- */

int vls_tools_find(const vls_tool **out, const vls_toolbox *box, valise_str name, valise_error *err)
{
    const vls_tool *tool = vls_toolbox_find(box, name);

    if (tool) {
        *out = tool;
        return 0;
    }
    (void)vls_toolbox_fail_unknown(box, name, err);
    if (err && !err->hint[0])
        vls_hint(err, "declare it in the flow: \"dependencies\": {NAME: {\"tool\": {...}}}, or let "
                      "the host provide it");
    return VALISE_E_NOT_FOUND;
}

int vls_tools_describe(vls_json *out, vls_arena *arena, const vls_toolbox *box, vls_json names,
                       valise_error *err)
{
    vls_json *all = vls_arena_array(arena, VLS_MAX(names.len, 1u), sizeof(*all));
    int rc = 0;

    if (!all)
        return vls_arena_fail(arena, err);
    for (uint32_t i = 0; i < names.len && rc == 0; i++) {
        const vls_tool *tool = NULL;

        rc = vls_tools_find(&tool, box, vls_json_str(names.items[i]), err);
        if (rc == 0)
            rc = VLS_PAIRS(
                &all[i], arena, err, {"name", vls_json_string(tool->name), false},
                {"description", vls_json_string(tool->description), tool->description.len == 0},
                {"inputSchema", tool->parameters, false});
    }
    if (rc == 0)
        *out = vls_json_array(all, names.len);
    return rc;
}

/* The name and how it went; what it was asked and said are values, and in no event. */
void vls_node_tell_call(const valise_node_run *at, valise_str name, valise_str call_id, bool failed,
                        int64_t ns)
{
    VLS_AUTO(buf) vls_buf payload = {0};

    if (!vls_flow_listens(at->run))
        return;
    vls_buf_init(&payload, at->run->env, (size_t)1 << 20);
    vls_buf_add_byte(&payload, '{');
    if (call_id.len > 0) {
        vls_buf_add_text(&payload, "\"callId\":");
        vls_json_write_string(&payload, call_id);
        vls_buf_add_byte(&payload, ',');
    }
    vls_buf_printf(&payload, "\"durationNs\":%lld,\"failed\":%s,\"tool\":", (long long)ns,
                   failed ? "true" : "false");
    vls_json_write_string(&payload, name);
    vls_buf_add_byte(&payload, '}');
    if (vls_buf_check(&payload, NULL) == 0)
        vls_flow_tell(at->run, at, "TOOL_CALL", vls_buf_str(&payload));
}

/* What went wrong is packed, and sent to a model: it may name the arguments, or what the tool
 * knows. */
static int hide_secrets(vls_tool_answer *out, valise_node_run *at, valise_error *err)
{
    vls_json why = vls_member_of(out->value, "error");
    valise_str message = vls_text_of(why, "message");
    int rc = vls_secrets_hide_text(&message, at->arena, &at->secrets, err);

    if (rc == 0)
        rc =
            vls_secrets_hide_text(&message, at->arena, &vls_flow_root(at->run)->tools_secrets, err);
    return rc < 0 ? rc
                  : vls_tool_tell(out, at->arena, vls_error_of_name(vls_text_of(why, "code")),
                                  message, err);
}

int vls_node_call_tool(vls_tool_answer *out, valise_node_run *at, vls_toolbox *box, valise_str name,
                       valise_str call_id, vls_json arguments, valise_error *err)
{
    const valise_env *env = at->run->env;
    const vls_tool_asked asked = {
        .name = name, .call_id = call_id, .arguments = arguments, .look = vls_node_look, .arg = at};
    int64_t began = env->ticks_ns(env->self);
    int rc = vls_toolbox_call(out, at->arena, box, &asked, err);

    if (rc == 0 && out->failed)
        rc = hide_secrets(out, at, err);
    vls_node_tell_call(at, name, call_id, rc < 0 || out->failed, env->ticks_ns(env->self) - began);
    return rc;
}

int vls_tool_failure(vls_json *out, vls_arena *arena, const vls_tool_answer *answer,
                     valise_error *err)
{
    vls_json why = vls_member_of(answer->value, "error");

    return VLS_PAIRS(out, arena, err, {"success", vls_json_bool(false), false},
                     {"error", vls_json_string(vls_text_of(why, "code")), false},
                     {"message", vls_json_string(vls_text_of(why, "message")), false});
}
