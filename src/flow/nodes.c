/* nodes.c -- see nodes.h. */
#include "flow/nodes.h"

#include <stdarg.h>

#include "base/text.h"
#include "flow/config.h"

/* ---- while they run ---- */

static int blame(const char *name, int rc, valise_error *err)
{
    if (rc < 0 && rc != VALISE_E_NO_MEMORY && rc != VALISE_E_CANCELLED)
        vls_error_prepend(err, "params.%s", name);
    return rc;
}

int vls_node_text(valise_str *out, valise_node_run *at, const char *name, valise_error *err)
{
    vls_renderer r = vls_renderer_of(at);
    vls_json written = vls_node_written(at, name);

    *out = VLS_STR("");
    if (written.type != VLS_JSON_STRING)
        return 0;
    return blame(name, vls_template_text(out, &r, vls_json_str(written), err), err);
}

int vls_node_value(vls_json *out, valise_node_run *at, const char *name, valise_error *err)
{
    vls_renderer r = vls_renderer_of(at);

    return blame(name, vls_template_value(out, &r, vls_node_written(at, name), err), err);
}

int vls_node_data_new(void *slot, valise_node_run *at, size_t size, valise_error *err)
{
    void *made = vls_arena_zalloc(at->arena, size);

    if (!made)
        return vls_arena_fail(at->arena, err);
    at->data = made;
    memcpy(slot, &made, sizeof(made));
    return 0;
}

int vls_node_pack(valise_node_run *at, valise_str key, vls_json value, valise_error *err)
{
    valise_str text;
    int rc;

    if (!key.ptr)
        return 0;
    rc = vls_json_text(&text, at->arena, value, err);
    return rc < 0 ? rc : valise_pack_str(NULL, at->view, key, text, NULL, err);
}

int vls_node_choose(valise_node_run *at, valise_str action, valise_error *err)
{
    valise_str text;
    int rc;

    if (vls_str_find_byte(action, '\0') < action.len) /* what stands before it is another action */
        return vls_fail(err, VALISE_E_INVALID, "'%s' is not an action", vls_text_short(action).s);
    rc = vls_arena_dup(&text, at->arena, action, err);
    return rc < 0 ? rc : valise_node_act(at, text.ptr, err);
}

vls_flow_said vls_flow_said_of(const vls_asked *asked)
{
    vls_flow_said said = {""};
    vls_asked_call call;

    if (asked->text.len > 0)
        (void)snprintf(said.s, sizeof(said.s), "'%s'", vls_text_short(asked->text).s);
    else if (vls_flow_blocks_call(&call, asked->answer.blocks, 0))
        (void)snprintf(said.s, sizeof(said.s), "a call of '%s'", vls_text_short(call.name).s);
    else
        (void)snprintf(said.s, sizeof(said.s), "nothing");
    return said;
}

/* ---- when they are loaded ---- */

int vls_check_fail(const vls_checking *c, const char *param, const char *hint, const char *format,
                   ...)
{
    char text[512];
    vls_config_place room;
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    (void)snprintf(room.s, sizeof(room.s), "%.*s%s%s", VALISE_STR_ARG(c->path), *param ? "." : "",
                   param);
    return vls_flow_findings_add(c->findings, false, valise_str_of(room.s), hint, c->err, "%s",
                                 text);
}

bool vls_check_has(const vls_checking *c, const char *param)
{
    return vls_json_get(c->node->params, valise_str_of(param)) != NULL;
}

int vls_check_template(const vls_checking *c, const char *param, bool packed)
{
    const vls_json *value = vls_json_get(c->node->params, valise_str_of(param));
    vls_config_place room;

    return value ? vls_template_check(c->findings,
                                      vls_config_place_member(&room, c->path, valise_str_of(param)),
                                      *value, packed, c->err)
                 : 0;
}

int vls_check_key(const vls_checking *c, const char *param)
{
    valise_str key = vls_text_of(c->node->params, param);
    valise_error why = VALISE_ERROR_INIT;
    vls_config_place room;

    if (!key.ptr || vls_bag_check_key(key, &why) == 0)
        return 0;
    return vls_flow_findings_take(
        c->findings, vls_config_place_member(&room, c->path, valise_str_of(param)), &why, c->err);
}

int vls_check_pick(const vls_checking *c, const char *param)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    valise_str key = vls_text_of(c->node->params, param);
    valise_error why = VALISE_ERROR_INIT;
    vls_pick pick;

    if (!key.ptr)
        return 0;
    vls_arena_init(&arena, c->findings->arena->env, (size_t)1 << 20);
    if (vls_pick_parse(&pick, &arena, key, &why) == 0)
        return 0;
    return vls_check_fail(c, param, why.hint, "%s", why.message);
}

int vls_check_action(const vls_checking *c, const char *param)
{
    valise_str action = vls_text_of(c->node->params, param);

    if (!action.ptr || vls_flow_is_action(action))
        return 0;
    return vls_check_fail(c, param, NULL, "'%s' is not an action", vls_text_short(action).s);
}

int vls_check_ask(const vls_checking *c, bool kept)
{
    const vls_json *params = vls_json_get(c->node->params, VLS_STR("params"));
    int rc = 0;

    if (vls_check_has(c, "client") && (vls_check_has(c, "provider") || vls_check_has(c, "replay")))
        rc = vls_check_fail(c, "client", "the client already names the provider",
                            "give either a client, or a provider and a file of answers");
    if (rc == 0 && params && params->type != VLS_JSON_OBJECT && params->type != VLS_JSON_NULL)
        rc = vls_check_fail(c, "params", NULL, "it must be an object, not %s",
                            vls_json_type_name(*params));
    if (rc == 0)
        rc = vls_check_template(c, "prompt", kept);
    return rc < 0 ? rc : vls_check_template(c, "system", false);
}
