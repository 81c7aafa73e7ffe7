/* config_write.c -- a flow as the configuration that makes it again. [F6]
 *
 * What was written is written back; only what stands in lists is put together anew, since nodes and
 * edges may have been added by hand. */
#include "flow/flow.h"
#include "json/make.h"

typedef struct writing {
    vls_arena *arena;
    valise_error *err;
} writing;

static int write_level(vls_json *out, const writing *w, const valise_flow *flow);

/* ---- nodes ---- */

typedef struct params {
    const writing *w;
    vls_json json; /* type NULL: nothing was written */
} params;

static int take_params(void *arg, valise_str json, valise_error *err)
{
    params *p = arg;
    valise_str copy;
    int rc = vls_arena_dup(&copy, p->w->arena, json, err);

    if (rc == 0)
        rc = vls_json_parse(&p->json, p->w->arena, copy, NULL, err);
    if (rc == 0 && p->json.type != VLS_JSON_OBJECT)
        rc = vls_fail(err, VALISE_E_INVALID, "params must be an object, not %s",
                      vls_json_type_name(p->json));
    return rc;
}

/* As the type says they are now, or the flow inside as it is now. 1: other ones than were given. */
static int params_now(vls_json *out, const writing *w, const vls_flow_node *node)
{
    params p = {.w = w, .json = vls_json_null()};
    int rc;

    if (node->type == &vls_node_subflow && node->inner) {
        rc = write_level(&p.json, w, node->inner);
        if (rc == 0)
            rc = vls_json_with(out, w->arena, node->params, "flow", p.json, w->err);
        return rc < 0 ? rc : 1;
    }
    if (!node->type->to_config)
        return 0;
    rc = node->type->to_config(node->self, take_params, &p, w->err);
    if (rc >= 0 && p.json.type != VLS_JSON_OBJECT)
        rc = vls_fail(w->err, VALISE_E_INVALID, "type %s wrote no params for '%.*s'",
                      node->type->name, VALISE_STR_ARG(node->path));
    *out = p.json;
    return rc < 0 ? rc : 1;
}

static int write_node(vls_json *out, const writing *w, const vls_flow_node *node)
{
    vls_json now = vls_json_null();
    int rc = node->is_subflow ? write_level(out, w, node->inner) : params_now(&now, w, node);

    if (rc < 0 || node->is_subflow)
        return rc;
    *out = node->json;
    /* None were written, and there are none: then none are written now. */
    if (rc == 0 || (now.len == 0 && !vls_json_get(node->json, VLS_STR("params"))))
        return 0;
    return vls_json_with(out, w->arena, node->json, "params", now, w->err);
}

/* ---- levels ---- */

static int write_nodes(vls_json *out, const writing *w, const valise_flow *flow, bool subflows)
{
    vls_json *items = vls_arena_array(w->arena, flow->nodes.len + 1, sizeof(*items));
    size_t n = 0;
    int rc = 0;

    if (!items)
        return vls_arena_fail(w->arena, w->err);
    for (size_t i = 0; i < flow->nodes.len && rc == 0; i++)
        if (flow->nodes.ptr[i]->is_subflow == subflows)
            rc = write_node(&items[n++], w, flow->nodes.ptr[i]);
    *out = vls_json_array(items, n);
    return rc;
}

static int write_edges(vls_json *out, const writing *w, const valise_flow *flow)
{
    vls_json *items = vls_arena_array(w->arena, flow->edges.len + 1, sizeof(*items));

    if (!items)
        return vls_arena_fail(w->arena, w->err);
    for (size_t i = 0; i < flow->edges.len; i++)
        items[i] = flow->edges.ptr[i]->json;
    *out = vls_json_array(items, flow->edges.len);
    return 0;
}

static int add_list(vls_json *object, const writing *w, const char *name, bool was_there,
                    vls_json list)
{
    if (!was_there && list.len == 0)
        return 0;
    return vls_json_with(object, w->arena, *object, name, list, w->err);
}

/* By hand subflows and nodes may have been added in any order; read again, nodes come first. */
static bool starts_elsewhere(const valise_flow *flow)
{
    return flow->start.len == 0 && flow->nodes.len > flow->subflow_count &&
           flow->nodes.ptr[0]->is_subflow;
}

static int write_level(vls_json *out, const writing *w, const valise_flow *flow)
{
    vls_json level = flow->json, list = vls_json_null();
    int rc = 0;

    if (level.type != VLS_JSON_OBJECT)
        level = (vls_json){.type = VLS_JSON_OBJECT};
    if (starts_elsewhere(flow))
        rc = vls_json_with(&level, w->arena, level, "start",
                           vls_json_string(flow->nodes.ptr[0]->id), w->err);
    if (rc == 0)
        rc = write_nodes(&list, w, flow, false);
    if (rc == 0)
        rc = add_list(&level, w, "nodes", flow->has_nodes, list);
    if (rc == 0)
        rc = write_edges(&list, w, flow);
    if (rc == 0)
        rc = add_list(&level, w, "edges", flow->has_edges, list);
    if (rc == 0)
        rc = write_nodes(&list, w, flow, true);
    if (rc == 0)
        rc = add_list(&level, w, "subflows", flow->has_subflows, list);
    if (rc == 0)
        *out = level;
    return rc;
}

int valise_flow_to_config(valise_blob **out, valise_flow *flow, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {.env = NULL};
    VLS_AUTO(buf) vls_buf text = {.env = NULL};
    const writing w = {.arena = &arena, .err = err};
    vls_json json = vls_json_null();
    int rc;

    VLS_ARG(out && flow, err);
    vls_arena_init(&arena, flow->env, VLS_JSON_MAX_BYTES);
    vls_buf_init(&text, flow->env, VLS_JSON_MAX_BYTES);
    rc = write_level(&json, &w, flow);
    if (rc == 0)
        rc = vls_json_write_around(&text, json, err);
    return rc < 0 ? rc : vls_blob_new(out, flow->env, vls_buf_str(&text), err);
}
