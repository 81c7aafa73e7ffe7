/* node_exec.c -- ExecNode: any program as a node. [F9] [K34]
 *
 *     in     {"node","namespace","run","input":{...}}, a line
 *     out    {"action"?,"pack"?:{key: value},"remove"?:[keys]}
 *            with `into` anything, which is packed there: JSON, or else a text
 *     exit   0; anything else is a failure, with the last line that it complained of
 *
 * It is started by its argument vector: a word is a word, whatever an item says. Of the environment
 * it gets what tools get, and what `env` says. */
#include "flow/nodes.h"

#include "base/exec.h"
#include "base/text.h"
#include "flow/config.h"
#include "json/make.h"
#include "tool/inside.h"

typedef struct exec_params {
    valise_list command;         /* of valise_str */
    valise_str input, env, into; /* ptr NULL: not said */
    int64_t timeout, max_bytes;  /* VALISE_NONE */
} exec_params;

static const valise_field word_field = {.name = "word", .type = VALISE_T_STR, .max = 1 << 17};

static const valise_field exec_fields[] = {
    VALISE_FIELD_WITH(exec_params, command, LIST, VALISE_REQUIRED,
                      "The program and its arguments, which are templates.", .more = &word_field,
                      .min = 1, .max = 4096),
    VALISE_FIELD(exec_params, input, JSON, VALISE_NULLABLE,
                 "What it gets as `input`: a list of keys, or an object with templates."),
    VALISE_FIELD(exec_params, env, JSON, VALISE_NULLABLE,
                 "Variables of its environment, {\"NAME\": \"${OURS}\"}."),
    VALISE_FIELD_WITH(exec_params, timeout, DURATION, VALISE_NULLABLE,
                      "How long it may take, 60s when not given.", .min = 1000000,
                      .max = INT64_C(1000000000000000)),
    VALISE_FIELD_AS_WITH(exec_params, max_bytes, "maxBytes", INT, VALISE_NULLABLE,
                         "How much it may write, 1 MiB when not given.", .min = 1,
                         .max = (int64_t)VLS_JSON_MAX_BYTES),
    VALISE_FIELD_WITH(exec_params, into, STR, VALISE_NULLABLE,
                      "The key of what it writes, if that is not an object of ours.", .min = 1,
                      .max = VLS_BAG_KEY_MAX),
    VALISE_FIELD_END,
};

typedef struct execution {
    vls_tool_may may;
    valise_str *argv;
    vls_json input;
    vls_json output;
} execution;

/* ---- when it is loaded ---- */

static int check_input(const vls_checking *c)
{
    const vls_json *input = vls_json_get(c->node->params, VLS_STR("input"));
    int rc = 0;

    if (!input || input->type == VLS_JSON_NULL)
        return 0;
    if (input->type == VLS_JSON_OBJECT)
        return vls_check_template(c, "input", false);
    if (input->type != VLS_JSON_ARRAY)
        return vls_check_fail(c, "input", NULL, "it must be an array of keys, or an object, not %s",
                              vls_json_type_name(*input));
    for (uint32_t i = 0; i < input->len && rc == 0; i++) {
        vls_config_place room;

        if (input->items[i].type != VLS_JSON_STRING ||
            vls_bag_check_key(vls_json_str(input->items[i]), NULL) < 0)
            rc = vls_check_fail(c, vls_config_place_item(&room, VLS_STR("input"), i).ptr, NULL,
                                "it must be a key");
    }
    return rc;
}

static int check_env(const vls_checking *c)
{
    const vls_json *env = vls_json_get(c->node->params, VLS_STR("env"));
    int rc = 0;

    if (!env || env->type == VLS_JSON_NULL)
        return 0;
    if (env->type != VLS_JSON_OBJECT)
        return vls_check_fail(c, "env", NULL, "it must be an object, not %s",
                              vls_json_type_name(*env));
    for (uint32_t i = 0; i < env->len && rc == 0; i++) {
        valise_str name = vls_json_str(env->members[i].key);
        vls_config_place room;

        if (env->members[i].value.type != VLS_JSON_STRING || name.len == 0 ||
            vls_str_find_byte(name, '=') < name.len)
            rc = vls_check_fail(c, vls_config_place_member(&room, VLS_STR("env"), name).ptr, NULL,
                                "it must be a variable with a string");
    }
    return rc;
}

int vls_exec_check(const vls_flow_node *node, valise_str path, vls_flow_findings *findings,
                   valise_error *err)
{
    const vls_checking c = {node, path, findings, err};
    const vls_json *command = vls_json_get(node->params, VLS_STR("command"));
    int rc = vls_check_template(&c, "command", false);

    if (rc == 0 && command && command->type == VLS_JSON_ARRAY && command->len > 0 &&
        command->items[0].type == VLS_JSON_STRING &&
        vls_str_find(vls_json_str(command->items[0]), VLS_STR("{{")) < command->items[0].len)
        rc = vls_check_fail(&c, "command[0]", "only its arguments are templates",
                            "an item must not decide which program runs");
    if (rc == 0)
        rc = check_input(&c);
    if (rc == 0)
        rc = check_env(&c);
    return rc < 0 ? rc : vls_check_key(&c, "into");
}

/* ---- prep ---- */

static int render_words(execution *e, valise_node_run *at, const exec_params *params,
                        valise_error *err)
{
    vls_json command = vls_node_written(at, "command");
    vls_renderer r = vls_renderer_of(at);
    int rc = 0;

    e->argv = vls_arena_array(at->arena, params->command.count, sizeof(*e->argv));
    if (!e->argv)
        return vls_arena_fail(at->arena, err);
    e->argv[0] = ((const valise_str *)params->command.items)[0];
    for (uint32_t i = 1; i < command.len && rc == 0; i++) {
        rc = vls_template_text(&e->argv[i], &r, vls_json_str(command.items[i]), err);
        if (rc < 0)
            vls_error_prepend(err, "params.command[%u]", i);
    }
    return rc;
}

static int read_keys(execution *e, valise_node_run *at, vls_json keys, valise_error *err)
{
    vls_renderer r = vls_renderer_of(at);
    vls_json input = {.type = VLS_JSON_OBJECT};
    int rc = 0;

    for (uint32_t i = 0; i < keys.len && rc >= 0; i++) {
        const vls_pick pick = {.key = vls_json_str(keys.items[i])};
        vls_json value;

        rc = vls_pick_get(&value, &r, &pick, err);
        if (rc == 1)
            rc = vls_json_with_key(&input, at->arena, input, pick.key, value, err);
    }
    e->input = input;
    return rc;
}

static int prep(void *node, valise_node_run *at, valise_error *err)
{
    const exec_params *params = at->values;
    vls_json input = vls_node_written(at, "input");
    execution *e;
    int rc = vls_node_data_new(&e, at, sizeof(*e), err);

    (void)node;
    if (rc == 0)
        rc = vls_node_may_start(&e->may, at, at->node->flow,
                                ((const valise_str *)params->command.items)[0], err);
    if (rc == 0)
        rc = render_words(e, at, params, err);
    if (rc < 0)
        return rc;
    e->input = (vls_json){.type = VLS_JSON_OBJECT};
    if (input.type == VLS_JSON_OBJECT)
        return vls_node_value(&e->input, at, "input", err);
    return input.type == VLS_JSON_ARRAY ? read_keys(e, at, input, err) : 0;
}

/* ---- exec ---- */

static int write_input(vls_buf *out, valise_node_run *at, const execution *e, valise_error *err)
{
    vls_json all;
    int rc =
        VLS_PAIRS(&all, at->arena, err, {"node", vls_json_string(at->path), false},
                  {"namespace", vls_json_string(at->namespace_name), at->namespace_name.len == 0},
                  {"run", vls_json_string(valise_str_of(at->run->id_text.s)), false},
                  {"input", e->input, false});

    if (rc == 0)
        rc = vls_json_write_around(out, all, err);
    vls_buf_add_byte(out, '\n');
    return rc < 0 ? rc : vls_buf_check(out, err);
}

static int start(vls_buf *output, valise_node_run *at, const execution *e, valise_str input,
                 valise_error *err)
{
    const exec_params *params = at->values;
    vls_tool_command command = {.argv = e->argv,
                                .count = params->command.count,
                                .folder = vls_flow_outermost(at->node->flow)->folder,
                                .timeout_ns = params->timeout,
                                .max_bytes = params->max_bytes,
                                .may = e->may};
    vls_tool_start ready = {.argv = NULL};
    /* As the node has them in this run: references are resolved. */
    int rc = vls_tool_command_env(&command, at->arena, vls_member_of(at->params, "env"), err);

    if (rc == 0)
        rc = vls_tool_start_make(&ready, at->arena, &command, err);
    if (rc == 0)
        rc = vls_tool_start_may(&ready, err);
    if (rc < 0)
        return rc;
    assert(ready.argv);
    vls_buf_init(output, at->run->env, ready.max_bytes);
    return vls_exec_run(output,
                        &(vls_exec){.env = at->run->env,
                                    .name = ready.argv[0],
                                    .start = {.file = ready.argv[0],
                                              .argv = ready.argv,
                                              .environment = ready.environment,
                                              .folder = ready.folder,
                                              .marked = true},
                                    .timeout_ms = ready.timeout_ms,
                                    .grace_ms = VLS_TOOL_GRACE_MS,
                                    .max_bytes = ready.max_bytes,
                                    .look = vls_node_look,
                                    .self = at},
                        input, NULL, err);
}

static int fail_output(const valise_node_run *at, const char *why, valise_error *err)
{
    const exec_params *params = at->values;

    (void)vls_fail(err, VALISE_E_INVALID, "%s did not write the answer of a node: %.300s",
                   vls_text_short(((const valise_str *)params->command.items)[0]).s, why);
    vls_hint(err, "it must write {\"action\"?, \"pack\"?: {...}, \"remove\"?: [...]}; with "
                  "\"into\" it may write anything");
    return VALISE_E_INVALID;
}

static int fail_member(const valise_node_run *at, const vls_member *m, const char *how,
                       valise_error *err)
{
    char why[200];

    (void)snprintf(why, sizeof(why), "its member '%s' %s", vls_text_short(vls_json_str(m->key)).s,
                   how);
    return fail_output(at, why, err);
}

static int check_output(const valise_node_run *at, vls_json output, valise_error *err)
{
    static const char *const known[] = {"action", "pack", "remove"};
    static const uint8_t types[] = {VLS_JSON_STRING, VLS_JSON_OBJECT, VLS_JSON_ARRAY};
    vls_json remove = vls_member_of(output, "remove");

    if (output.type != VLS_JSON_OBJECT)
        return fail_output(at, "it is not an object", err);
    for (uint32_t i = 0; i < output.len; i++) {
        const vls_member *m = &output.members[i];
        bool found = false;

        for (size_t k = 0; k < VLS_COUNT(known) && !found; k++) {
            found = vls_str_equal(vls_json_str(m->key), valise_str_of(known[k]));
            if (found && m->value.type != types[k])
                return fail_member(at, m, "has the wrong type", err);
        }
        if (!found)
            return fail_member(at, m, "is unknown", err);
    }
    for (uint32_t i = 0; i < remove.len; i++)
        if (remove.items[i].type != VLS_JSON_STRING)
            return fail_output(at, "`remove` must be a list of keys", err);
    return 0;
}

static int parse_output(execution *e, valise_node_run *at, valise_str text, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    int rc = vls_json_parse(&e->output, at->arena, text, NULL, &why);

    if (rc == 0)
        return 0;
    if (rc != VALISE_E_NO_MEMORY)
        return fail_output(at, vls_str_trim(text).len > 0 ? why.message : "it wrote nothing", err);
    if (err)
        *err = why;
    return rc;
}

static int exec(void *node, valise_node_run *at, valise_error *err)
{
    const exec_params *params = at->values;
    execution *e = at->data;
    VLS_AUTO(buf) vls_buf input = {0}, output = {0};
    valise_str text;
    int rc;

    (void)node;
    vls_buf_init(&input, at->run->env, VLS_JSON_MAX_BYTES);
    rc = write_input(&input, at, e, err);
    if (rc == 0)
        rc = start(&output, at, e, vls_buf_str(&input), err);
    if (rc < 0)
        return rc;
    if (params->into.ptr)
        return vls_tool_take_output(&e->output, at->arena, vls_str_trim(vls_buf_str(&output)), err);
    rc = vls_arena_dup(&text, at->arena, vls_buf_str(&output), err);
    if (rc == 0)
        rc = parse_output(e, at, text, err);
    return rc < 0 ? rc : check_output(at, e->output, err);
}

/* ---- post ---- */

static int remove_keys(valise_node_run *at, vls_json keys, valise_error *err)
{
    int rc = 0;

    for (uint32_t i = 0; i < keys.len && rc >= 0; i++) {
        valise_str key;

        rc = vls_bag_check_key(vls_json_str(keys.items[i]), err);
        if (rc == 0)
            rc = vls_arena_dup(&key, at->arena, vls_json_str(keys.items[i]), err);
        if (rc == 0)
            rc = valise_remove(NULL, at->view, key.ptr, err);
    }
    return vls_settle(rc);
}

static int post(void *node, valise_node_run *at, valise_error *err)
{
    const exec_params *params = at->values;
    const execution *e = at->data;
    vls_json pack = vls_member_of(e->output, "pack");
    int rc = 0;

    (void)node;
    if (params->into.ptr)
        return vls_node_pack(at, params->into, e->output, err);
    for (uint32_t i = 0; i < pack.len && rc == 0; i++)
        rc = vls_node_pack(at, vls_json_str(pack.members[i].key), pack.members[i].value, err);
    if (rc == 0)
        rc = remove_keys(at, vls_member_of(e->output, "remove"), err);
    return rc < 0 ? rc : vls_node_choose(at, vls_text_of(e->output, "action"), err);
}

const valise_node_type vls_node_exec = {
    .size = sizeof(valise_node_type),
    .name = "ExecNode",
    .brief = "Runs a program: JSON in, JSON out.",
    .params = exec_fields,
    .params_size = sizeof(exec_params),
    .prep = prep,
    .exec = exec,
    .post = post,
};
