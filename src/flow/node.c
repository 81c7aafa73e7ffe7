/* node.c -- what the phases of a node can do: valise/sys/node.h. */
#include "flow/level.h"

#include "flow/config.h"
#include "json/make.h"

valise_backpack *valise_node_backpack(valise_node_run *run)
{
    return run->view;
}

valise *valise_node_workspace(valise_node_run *run)
{
    return run->run->v;
}

valise_str valise_node_path(const valise_node_run *run)
{
    return run->path;
}

valise_str valise_node_namespace(const valise_node_run *run)
{
    return run->namespace_name;
}

valise_uuid valise_node_run_id(const valise_node_run *run)
{
    return run->run->id;
}

int64_t valise_node_attempt(const valise_node_run *run)
{
    return run->attempt;
}

const void *valise_node_values(const valise_node_run *run)
{
    return run->values;
}

int valise_node_params(valise_str *json, valise_node_run *run, valise_error *err)
{
    VLS_ARG(json && run, err);
    return vls_json_text(json, run->arena, run->params, err);
}

void **valise_node_data(valise_node_run *run)
{
    return &run->data;
}

int valise_node_alloc(void **out, valise_node_run *run, size_t size, valise_error *err)
{
    void *got;

    VLS_ARG(out && run && size > 0, err);
    got = vls_arena_alloc(run->arena, size);
    if (!got)
        return vls_arena_fail(run->arena, err);
    *out = got;
    return 0;
}

int valise_node_act(valise_node_run *run, const char *action, valise_error *err)
{
    valise_str text = action ? valise_str_of(action) : VLS_STR("");

    VLS_ARG(run, err);
    if (text.len > VLS_FLOW_ACTION_MAX)
        return vls_fail(err, VALISE_E_LIMIT, "an action has at most %u bytes, not %zu",
                        VLS_FLOW_ACTION_MAX, text.len);
    if (text.len > 0 && !vls_flow_is_action(text))
        return vls_fail(err, VALISE_E_INVALID, "an action must be text without control characters");
    return vls_arena_dup(&run->action, run->arena, text, err);
}

int valise_node_cancelled(valise_node_run *run)
{
    return vls_node_look(run, NULL) < 0;
}

int valise_node_check(valise_node_run *run, valise_error *err)
{
    VLS_ARG(run, err);
    return vls_node_look(run, err);
}

const valise_error *valise_node_failure(const valise_node_run *run)
{
    return run->failure;
}

/* ---- services ---- */

valise_str vls_node_need(const valise_node_run *at, valise_str role)
{
    for (size_t i = 0; i < at->node->need_count; i++) {
        if (vls_str_equal(at->node->needs[i].role, role))
            return at->node->needs[i].name;
    }
    return role;
}

const valise_service *vls_node_find_service(const valise_node_run *at, valise_str name)
{
    const valise_service *s = vls_flow_outermost(at->level->flow)->services;

    for (; s && s->name; s++) {
        if (vls_str_equal(valise_str_of(s->name), name))
            return s;
    }
    return NULL;
}

int valise_node_service(const void **out, valise_node_run *run, const char *name, valise_error *err)
{
    const valise_service *service;
    valise_str wanted;

    VLS_ARG(out && run && name, err);
    wanted = vls_node_need(run, valise_str_of(name));
    service = vls_node_find_service(run, wanted);
    if (!service) {
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "there is no service '%.*s'",
                       VALISE_STR_ARG(wanted));
        vls_hint(err,
                 "the program that runs the flow must provide it, in valise_flow_options.services");
        return VALISE_E_NOT_FOUND;
    }
    *out = service->service;
    return 0;
}

/* ---- telling ---- */

int valise_node_stream(valise_node_run *run, const char *kind, valise_str text, valise_error *err)
{
    VLS_AUTO(buf) vls_buf payload = {0};

    VLS_ARG(run && kind, err);
    if (!vls_flow_listens(run->run))
        return 0;
    vls_buf_init(&payload, run->run->env, (size_t)1 << 20);
    vls_buf_add_text(&payload, "{\"kind\":");
    vls_json_write_string(&payload, valise_str_of(kind));
    vls_buf_add_text(&payload, ",\"text\":");
    vls_json_write_string(&payload, text);
    vls_buf_add_byte(&payload, '}');
    if (vls_buf_check(&payload, err) < 0)
        return payload.failed;
    vls_flow_tell(run->run, run, "STREAM_CHUNK", vls_buf_str(&payload));
    return 0;
}

int valise_node_tell(valise_node_run *run, const char *type, valise_str json, valise_error *err)
{
    VLS_AUTO(buf) vls_buf payload = {0};
    VLS_AUTO(blob) valise_blob *data = NULL;
    int rc;

    VLS_ARG(run && type, err);
    rc = vls_json_canonical(&data, run->run->env, json, err);
    if (rc < 0 || !vls_flow_listens(run->run))
        return rc;
    vls_buf_init(&payload, run->run->env, (size_t)1 << 20);
    vls_buf_add_text(&payload, "{\"data\":");
    vls_buf_add(&payload, vls_blob_bytes(data));
    vls_buf_add_text(&payload, ",\"type\":");
    vls_json_write_string(&payload, valise_str_of(type));
    vls_buf_add_byte(&payload, '}');
    if (vls_buf_check(&payload, err) < 0)
        return payload.failed;
    vls_flow_tell(run->run, run, "CUSTOM", vls_buf_str(&payload));
    return 0;
}

/* ---- an inside ---- */

int valise_node_run_flow(valise_str *action, valise_node_run *run, valise_flow *inner,
                         valise_error *err)
{
    vls_flow_level *level = NULL;
    int rc;

    VLS_ARG(run && inner && !inner->outer, err);
    if (inner->v != run->run->v)
        return vls_fail(err, VALISE_E_INVALID,
                        "the flow within '%.*s' belongs to another workspace",
                        VALISE_STR_ARG(run->path));
    rc = vls_flow_enter(&level, run, inner, err);
    return rc < 0 ? rc : vls_flow_walk(action, level, NULL, run->arena, err);
}
