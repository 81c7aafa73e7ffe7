/* config_need.c -- dependencies that a flow declares: clients, tools, servers. [F8] [F11]
 *
 * A program is an argument vector: there is no shell anywhere. */
#include "base/text.h"
#include "flow/config.h"
#include "json/make.h"

#define DEPENDENCIES_MAX 256u
#define ARGUMENTS_MAX 1000u

/* ---- clients ---- */

static int read_provider(vls_config_reading *r, vls_json value, valise_str path, valise_error *err)
{
    return vls_settle(vls_flow_config_text(&r->dependency->provider, r, value, path, err));
}

static int read_model(vls_config_reading *r, vls_json value, valise_str path, valise_error *err)
{
    return vls_settle(vls_flow_config_text(&r->dependency->model, r, value, path, err));
}

static int read_replay(vls_config_reading *r, vls_json value, valise_str path, valise_error *err)
{
    return vls_settle(vls_flow_config_text(&r->dependency->replay, r, value, path, err));
}

static const vls_config_member client_members[] = {
    {"model", read_model},
    {"provider", read_provider},
    {"replay", read_replay},
    {NULL, NULL},
};

static int read_client(vls_config_reading *r, vls_json value, valise_str path, valise_error *err)
{
    int rc;

    r->dependency->kind = VLS_NEED_CLIENT;
    rc = vls_config_object(r, value, client_members, "a client", path, err);
    if (rc < 0 || value.type != VLS_JSON_OBJECT || vls_json_get(value, VLS_STR("provider")) ||
        vls_json_get(value, VLS_STR("replay")))
        return rc;
    return vls_flow_findings_add(r->findings, false, path,
                                 "give \"provider\", or \"replay\" for answers from a file", err,
                                 "a client has a 'provider'");
}

/* ---- programs ---- */

static int read_command(vls_config_reading *r, vls_json value, valise_str path, valise_error *err)
{
    return vls_settle(vls_config_texts(&r->dependency->argv, &r->dependency->argc, r, value,
                                       ARGUMENTS_MAX, path, err));
}

static int read_description(vls_config_reading *r, vls_json value, valise_str path,
                            valise_error *err)
{
    return vls_settle(vls_flow_config_text(&r->dependency->description, r, value, path, err));
}

/* A name that a variable can have: letters, digits and '_'. */
static bool is_variable(valise_str name)
{
    return vls_flow_is_id(name) && vls_str_find_byte(name, '-') == name.len &&
           !(name.ptr[0] >= '0' && name.ptr[0] <= '9');
}

static int read_env(vls_config_reading *r, vls_json value, valise_str path, valise_error *err)
{
    int rc = 0;

    if (value.type != VLS_JSON_OBJECT)
        return vls_flow_findings_add(r->findings, false, path, NULL, err,
                                     "it must be an object of texts, not %s",
                                     vls_json_type_name(value));
    for (uint32_t i = 0; i < value.len && rc >= 0; i++) {
        valise_str name = vls_json_str(value.members[i].key), text = {NULL, 0};
        vls_config_place room;
        valise_str place = vls_config_place_member(&room, path, name);
        rc = vls_flow_config_text(&text, r, value.members[i].value, place, err);
        if (rc > 0 && (!is_variable(name) || memchr(text.ptr ? text.ptr : "", '\0', text.len)))
            rc = vls_flow_findings_add(r->findings, false, place, NULL, err,
                                       "'%s' is not a variable of an environment",
                                       vls_text_short(name).s);
    }
    if (rc >= 0)
        rc = vls_config_references(value, path, r->findings, err);
    r->dependency->env = value;
    return vls_settle(rc);
}

static int read_timeout(vls_config_reading *r, vls_json value, valise_str path, valise_error *err)
{
    int rc = vls_config_duration(&r->dependency->timeout_ns, r, value, path, err);

    if (rc <= 0 || r->dependency->timeout_ns > 0)
        return vls_settle(rc);
    return vls_flow_findings_add(r->findings, false, path, "leave it out for the usual", err,
                                 "a timeout is longer than nothing");
}

static int read_parameters(vls_config_reading *r, vls_json value, valise_str path,
                           valise_error *err)
{
    VLS_AUTO(schema) vls_schema *schema = NULL;
    valise_error why = VALISE_ERROR_INIT;

    if (value.type != VLS_JSON_OBJECT)
        return vls_flow_findings_add(r->findings, false, path, NULL, err,
                                     "it must be a JSON Schema, not %s", vls_json_type_name(value));
    if (vls_schema_compile(&schema, r->flow->env, value, NULL, &why) < 0)
        return vls_flow_findings_take(r->findings, path, &why, err);
    r->dependency->parameters = value;
    return 0;
}

static int read_prefix(vls_config_reading *r, vls_json value, valise_str path, valise_error *err)
{
    int rc = vls_flow_config_text(&r->dependency->prefix, r, value, path, err);

    if (rc <= 0 || r->dependency->prefix.len == 0 || vls_flow_is_id(r->dependency->prefix))
        return vls_settle(rc);
    return vls_flow_findings_add(r->findings, false, path, "use letters, digits, '-' and '_'", err,
                                 "names of tools cannot begin with '%s'",
                                 vls_text_short(r->dependency->prefix).s);
}

static int read_only(vls_config_reading *r, vls_json value, valise_str path, valise_error *err)
{
    return vls_settle(vls_config_texts(&r->dependency->only, &r->dependency->only_count, r, value,
                                       ARGUMENTS_MAX, path, err));
}

static const vls_config_member tool_members[] = {
    {"command", read_command},       {"description", read_description}, {"env", read_env},
    {"parameters", read_parameters}, {"timeout", read_timeout},         {NULL, NULL},
};

static const vls_config_member server_members[] = {
    {"command", read_command}, {"env", read_env},         {"only", read_only},
    {"prefix", read_prefix},   {"timeout", read_timeout}, {NULL, NULL},
};

static int read_program(vls_config_reading *r, vls_json value, const vls_config_member *members,
                        const char *what, valise_str path, valise_error *err)
{
    int rc = vls_config_object(r, value, members, what, path, err);

    if (rc < 0 || value.type != VLS_JSON_OBJECT || vls_json_get(value, VLS_STR("command")))
        return rc;
    return vls_flow_findings_add(r->findings, false, path,
                                 "give a program and its arguments: \"command\": [\"./weather\"]",
                                 err, "%s has a 'command'", what);
}

static int read_tool(vls_config_reading *r, vls_json value, valise_str path, valise_error *err)
{
    r->dependency->kind = VLS_NEED_TOOL;
    return read_program(r, value, tool_members, "a tool", path, err);
}

static int read_server(vls_config_reading *r, vls_json value, valise_str path, valise_error *err)
{
    r->dependency->kind = VLS_NEED_MCP;
    return read_program(r, value, server_members, "an MCP server", path, err);
}

static int read_host(vls_config_reading *r, vls_json value, valise_str path, valise_error *err)
{
    r->dependency->kind = VLS_NEED_HOST;
    r->dependency->json = vls_json_null();
    if (value.type == VLS_JSON_BOOL && value.truth)
        return 0;
    return vls_flow_findings_add(r->findings, false, path, NULL, err,
                                 "what the host gives is declared with true");
}

/* ---- all of them ---- */

static const vls_config_member kinds[] = {
    {"client", read_client}, {"host", read_host}, {"mcp", read_server},
    {"tool", read_tool},     {NULL, NULL},
};

static int read_one(vls_config_reading *r, vls_flow_dependency *out, const vls_member *member,
                    valise_str path, valise_error *err)
{
    valise_str name = vls_json_str(member->key);

    *out = (vls_flow_dependency){.name = name, .timeout_ns = VALISE_NONE};
    if (!vls_flow_is_id(name))
        return vls_flow_findings_add(r->findings, false, path,
                                     "use letters, digits, '-' and '_', 64 at most", err,
                                     "'%s' is not a name of a dependency", vls_text_short(name).s);
    if (member->value.type != VLS_JSON_OBJECT || member->value.len != 1)
        return vls_flow_findings_add(r->findings, false, path,
                                     "for example {\"client\": {\"provider\": \"anthropic\"}}", err,
                                     "it is one of client, tool, mcp or host");
    r->dependency = out;
    out->json = member->value.members[0].value;
    return vls_config_object(r, member->value, kinds, "a dependency", path, err);
}

int vls_config_dependencies(vls_config_reading *r, vls_json value, valise_str path,
                            valise_error *err)
{
    valise_flow *flow = r->flow;
    vls_flow_dependency *all;
    int rc = 0;

    if (value.type != VLS_JSON_OBJECT || value.len > DEPENDENCIES_MAX)
        return vls_flow_findings_add(r->findings, false, path, NULL, err,
                                     "dependencies are an object of at most %u names",
                                     DEPENDENCIES_MAX);
    all = vls_arena_array(&flow->arena, value.len + (size_t)1, sizeof(*all));
    if (!all)
        return vls_arena_fail(&flow->arena, err);
    flow->dependencies = all;
    for (uint32_t i = 0; i < value.len && rc == 0; i++) {
        vls_config_place room;
        rc =
            read_one(r, &all[i], &value.members[i],
                     vls_config_place_member(&room, path, vls_json_str(value.members[i].key)), err);
        flow->dependency_count++; /* also what is wrong: who asks for it has done nothing wrong */
    }
    return rc;
}
