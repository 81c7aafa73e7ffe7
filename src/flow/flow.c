/* flow.c -- a flow made by hand: levels, nodes, edges. [F3] [F4] [F19] */
#include "flow/flow.h"

#include "base/mem.h"
#include "base/sized.h"
#include "base/text.h"
#include "base/utf8.h"
#include "flow/config.h"
#include "json/make.h"

#define ARENA_MAX ((size_t)1 << 30)
#define FINDINGS_MAX_BYTES ((size_t)16 << 20)

/* ---- what stands in a level ---- */

static bool is_node(const void *item, const void *key)
{
    return vls_str_equal(((const vls_flow_node *)item)->id, *(const valise_str *)key);
}

typedef struct edge_key {
    valise_str from, action;
} edge_key;

static bool is_edge(const void *item, const void *key)
{
    const vls_flow_edge *edge = item;
    const edge_key *k = key;

    return vls_str_equal(edge->from, k->from) && vls_str_equal(edge->action, k->action);
}

static uint64_t hash_of(const valise_flow *flow, valise_str id)
{
    return vls_str_hash(id, flow->seed);
}

static uint64_t hash_of_edge(const valise_flow *flow, const edge_key *key)
{
    return vls_str_hash(key->action, hash_of(flow, key->from));
}

static void init_level(valise_flow *level)
{
    vls_map_init(&level->ids, level->env, is_node);
    vls_map_init(&level->actions, level->env, is_edge);
}

vls_flow_node *vls_flow_find(const valise_flow *flow, valise_str id)
{
    return vls_map_get(&flow->ids, hash_of(flow, id), &id);
}

vls_flow_edge *vls_flow_find_edge(const valise_flow *flow, valise_str from, valise_str action)
{
    const edge_key key = {from, action};

    return vls_map_get(&flow->actions, hash_of_edge(flow, &key), &key);
}

int vls_flow_keep_node(vls_flow_node *node, valise_error *err)
{
    valise_flow *flow = node->flow, *outermost = vls_flow_outermost(flow);

    if (outermost->node_count >= VLS_FLOW_NODES_MAX)
        return vls_fail(err, VALISE_E_LIMIT, "the flow has more than %u nodes", VLS_FLOW_NODES_MAX);
    if (!vls_vec_reserve_in(&flow->nodes, vls_flow_arena(flow), flow->nodes.len + 1))
        return vls_arena_fail(vls_flow_arena(flow), err);
    if (vls_map_put(NULL, &flow->ids, hash_of(flow, node->id), &node->id, node) < 0)
        return vls_fail_memory(err);
    node->number = (uint32_t)flow->nodes.len;
    flow->nodes.ptr[flow->nodes.len++] = node;
    flow->subflow_count += node->is_subflow;
    outermost->node_count++;
    return 0;
}

int vls_flow_keep_edge(valise_flow *flow, vls_flow_edge *edge, valise_error *err)
{
    valise_flow *outermost = vls_flow_outermost(flow);
    const edge_key key = {edge->from, edge->action};

    if (outermost->edge_count >= VLS_FLOW_EDGES_MAX)
        return vls_fail(err, VALISE_E_LIMIT, "the flow has more than %u edges", VLS_FLOW_EDGES_MAX);
    if (!vls_vec_reserve_in(&flow->edges, vls_flow_arena(flow), flow->edges.len + 1))
        return vls_arena_fail(vls_flow_arena(flow), err);
    if (edge->action.ptr &&
        vls_map_put(NULL, &flow->actions, hash_of_edge(flow, &key), &key, edge) < 0)
        return vls_fail_memory(err);
    flow->edges.ptr[flow->edges.len++] = edge;
    outermost->edge_count++;
    return 0;
}

/* ---- freeing ---- */

static void release_level(valise_flow *level);

static void release_contracts(const vls_flow_contract *contracts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        vls_schema_free(contracts[i].schema);
}

static void release_node(vls_flow_node *node)
{
    if (node->created && node->type->destroy)
        node->type->destroy(node->self);
    node->created = false;
    release_contracts(node->inputs, node->input_count);
    release_contracts(node->outputs, node->output_count);
    node->input_count = node->output_count = 0;
    if (node->inner)
        release_level(node->inner);
    node->inner = NULL;
}

/* The depth of levels is limited. */
static void release_level(valise_flow *level)
{
    for (size_t i = level->nodes.len; i > 0; i--)
        release_node(level->nodes.ptr[i - 1]);
    vls_flow_outermost(level)->node_count -= level->nodes.len;
    vls_flow_outermost(level)->edge_count -= level->edges.len;
    level->nodes.len = level->edges.len = 0;
    vls_map_release(&level->ids);
    vls_map_release(&level->actions);
}

void vls_flow_drop_node(vls_flow_node *node)
{
    valise_flow *flow = node->flow;
    const bool kept = flow->nodes.len > 0 && flow->nodes.ptr[flow->nodes.len - 1] == node;

    release_node(node);
    if (!kept)
        return;
    (void)vls_map_remove(&flow->ids, hash_of(flow, node->id), &node->id);
    flow->nodes.len--;
    flow->subflow_count -= node->is_subflow;
    vls_flow_outermost(flow)->node_count--;
}

void valise_flow_free(valise_flow *flow)
{
    if (!flow || flow->outer) /* inner ones are the outermost's */
        return;
    release_level(flow);
    vls_type_schemas_free(flow);
    (void)pthread_mutex_destroy(&flow->lock);
    vls_arena_release(&flow->arena);
    vls_mem_free(flow->env, flow, sizeof(*flow));
}

/* ---- making ---- */

static int check_types(const valise_node_type *const *types, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; types && types[i] && rc == 0; i++) {
        rc = vls_node_type_check(types[i], err);
        for (size_t k = 0; k < i && rc == 0; k++)
            if (strcmp(types[i]->name, types[k]->name) == 0)
                rc = vls_fail(err, VALISE_E_EXISTS, "there are two node types with the name '%s'",
                              types[i]->name);
    }
    return rc;
}

int vls_flow_make(valise_flow **out, valise *v, const valise_flow_options *options,
                  valise_error *err)
{
    VLS_AUTO(flow) valise_flow *flow = NULL;
    valise_flow_options o = VALISE_FLOW_OPTIONS_INIT;
    int rc = vls_sized_take(&o, sizeof(o), options, offsetof(valise_flow_options, types),
                            "valise_flow_options", err);

    if (rc == 0 && (o.flags & ~(unsigned)VALISE_FLOW_PROGRAMS))
        rc = vls_fail(err, VALISE_E_INVALID, "no flow has the flags %u", o.flags);
    if (rc == 0)
        rc = check_types(o.types, err);
    if (rc < 0)
        return rc;
    flow = vls_mem_zalloc(v->env, sizeof(*flow));
    if (!flow)
        return vls_fail_memory(err);
    flow->v = v;
    flow->env = v->env;
    flow->flags = o.flags;
    flow->types = o.types;
    flow->services = o.services;
    vls_arena_init(&flow->arena, v->env, ARENA_MAX);
    (void)pthread_mutex_init(&flow->lock, NULL);
    init_level(flow);
    if (v->env->random(v->env->self, &flow->seed, sizeof(flow->seed)) < 0)
        return vls_fail(err, VALISE_E_IO, "no random bytes are available");
    if (o.folder)
        rc = vls_arena_dup(&flow->folder, &flow->arena, valise_str_of(o.folder), err);
    if (rc == 0)
        *out = VLS_TAKE(flow);
    return rc;
}

int vls_flow_make_inner(valise_flow **out, vls_flow_node *node, valise_error *err)
{
    valise_flow *outer = node->flow;
    valise_flow *flow;

    if (outer->depth + 1 >= VLS_FLOW_DEPTH_MAX)
        return vls_fail(err, VALISE_E_LIMIT, "flows are nested more than %u deep",
                        VLS_FLOW_DEPTH_MAX);
    flow = vls_arena_zalloc(vls_flow_arena(outer), sizeof(*flow));
    if (!flow)
        return vls_arena_fail(vls_flow_arena(outer), err);
    flow->v = outer->v;
    flow->env = outer->env;
    flow->seed = outer->seed;
    flow->outer = outer;
    flow->owner = node;
    flow->depth = outer->depth + 1;
    flow->path = node->path;
    flow->namespace_name = node->namespace_name;
    init_level(flow);
    node->inner = flow;
    *out = flow;
    return 0;
}

int vls_flow_join_namespace(valise_str *out, vls_arena *arena, valise_str outer, valise_str segment,
                            valise_error *err)
{
    vls_buf text;

    if (outer.len == 0 || segment.len == 0) {
        *out = vls_str_or_none(outer.len > 0 ? outer : segment);
        return 0;
    }
    vls_buf_init_in(&text, arena, outer.len + segment.len + 1);
    vls_buf_add(&text, outer);
    vls_buf_add_byte(&text, '.');
    vls_buf_add(&text, segment);
    return vls_buf_keep(out, &text, err);
}

int valise_flow_new(valise_flow **out, valise *v, const char *namespace_name,
                    const valise_flow_options *options, valise_error *err)
{
    VLS_AUTO(flow) valise_flow *flow = NULL;
    valise_str name = valise_str_of(namespace_name);
    int rc;

    VLS_ARG(out && v, err);
    if (name.len > 0 && !vls_flow_is_namespace(name)) {
        (void)vls_fail(err, VALISE_E_INVALID, "'%s' is not a namespace", vls_text_short(name).s);
        vls_hint(err, "write words with dots between them, such as sales.reports");
        return VALISE_E_INVALID;
    }
    rc = vls_flow_make(&flow, v, options, err);
    if (rc == 0 && name.len > 0)
        rc = vls_arena_dup(&flow->namespace_name, &flow->arena, name, err);
    if (rc == 0 && name.len > 0)
        rc = VLS_PAIRS(&flow->json, &flow->arena, err,
                       {"namespace", vls_json_string(flow->namespace_name), false},
                       {"version", vls_json_string(VLS_STR(VALISE_FLOW_VERSION)), false});
    else if (rc == 0)
        rc = VLS_PAIRS(&flow->json, &flow->arena, err,
                       {"version", vls_json_string(VLS_STR(VALISE_FLOW_VERSION)), false});
    if (rc == 0)
        *out = VLS_TAKE(flow);
    return rc;
}

/* ---- adding ---- */

/* One thing is added: what it is made of, and what is wrong with it. */
typedef struct adding {
    vls_arena arena; /* of the findings */
    vls_flow_findings findings;
    bool broken; /* the flow was, before */
} adding;

static void begin_without(adding *a, const valise_flow *flow)
{
    vls_arena_init(&a->arena, flow->env, FINDINGS_MAX_BYTES);
    vls_flow_findings_init(&a->findings, &a->arena);
    a->broken = flow->broken;
}

static int begin(adding *a, vls_json *json, valise_flow *flow, const char *config,
                 valise_error *err)
{
    begin_without(a, flow);
    return vls_flow_parse(json, flow, valise_str_of(config), err);
}

/* Whatever was added makes a flow that is to be linked again. What was refused is not missed
 * there. */
static int finish(adding *a, valise_flow *flow, int rc, valise_error *err)
{
    if (rc == 0)
        rc = vls_flow_findings_fail(&a->findings, err);
    flow->broken = a->broken;
    vls_flow_outermost(flow)->linked = false;
    vls_arena_release(&a->arena);
    return rc;
}

int valise_flow_add_node(valise_flow *flow, const valise_node_type *type, const char *config,
                         valise_error *err)
{
    vls_flow_node *node = NULL;
    vls_json json = vls_json_null();
    adding a;
    int rc;

    VLS_ARG(flow && config, err);
    if (type && vls_node_type_check(type, err) < 0)
        return VALISE_E_INVALID;
    rc = begin(&a, &json, flow, config, err);
    if (rc == 0)
        rc = vls_flow_read_node(&node, flow, type, json, VLS_STR(""), &a.findings, err);
    rc = finish(&a, flow, rc, err);
    if (rc < 0 && node)
        vls_flow_drop_node(node);
    return rc;
}

int valise_flow_add_subflow(valise_flow **out, valise_flow *flow, const char *config,
                            valise_error *err)
{
    vls_flow_node *node = NULL;
    vls_json json = vls_json_null();
    adding a;
    int rc;

    VLS_ARG(flow && config, err);
    rc = begin(&a, &json, flow, config, err);
    if (rc == 0)
        rc = vls_flow_read_subflow(&node, flow, json, VLS_STR(""), &a.findings, err);
    rc = finish(&a, flow, rc, err);
    if (rc < 0 && node)
        vls_flow_drop_node(node);
    if (rc == 0 && out)
        *out = node->inner;
    return rc;
}

/* Who adds edges by hand has added the nodes before: a name that is wrong is told here. */
static int check_ends(const valise_flow *flow, vls_json edge, valise_error *err)
{
    static const char *const ends[] = {"from", "to"};

    for (size_t i = 0; i < VLS_COUNT(ends); i++) {
        valise_str id = vls_text_of(edge, ends[i]);
        vls_nearby near;
        if (!id.ptr || vls_flow_find(flow, id))
            continue; /* what is no text is said where it is read */
        vls_flow_near_node(&near, flow, id);
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "there is no node '%s'", vls_text_short(id).s);
        vls_error_prepend(err, "%s", ends[i]);
        vls_hint(err, "%s", near.s[0] ? near.s : "add the node before its edges");
        return VALISE_E_NOT_FOUND;
    }
    return 0;
}

static int add_edge(valise_flow *flow, vls_json json, adding *a, valise_error *err)
{
    int rc = check_ends(flow, json, err);

    return rc < 0 ? rc : vls_flow_read_edge(flow, json, VLS_STR(""), &a->findings, err);
}

int valise_flow_add_edge(valise_flow *flow, const char *config, valise_error *err)
{
    vls_json json = vls_json_null();
    adding a;
    int rc;

    VLS_ARG(flow && config, err);
    rc = begin(&a, &json, flow, config, err);
    if (rc == 0)
        rc = add_edge(flow, json, &a, err);
    return finish(&a, flow, rc, err);
}

int valise_flow_on(valise_flow *flow, const char *from, const char *action, const char *to,
                   valise_error *err)
{
    vls_arena *arena;
    valise_str texts[3];
    vls_json json = vls_json_null();
    bool plain;
    adding a;
    int rc;

    VLS_ARG(flow && from && action && to, err);
    arena = vls_flow_arena(flow);
    plain = strcmp(action, "default") == 0;
    begin_without(&a, flow);
    if (!vls_utf8_valid(valise_str_of(action)))
        rc = vls_fail(err, VALISE_E_INVALID, "the action is not UTF-8");
    else
        rc = vls_arena_dup(&texts[0], arena, valise_str_of(from), err);
    if (rc == 0)
        rc = vls_arena_dup(&texts[1], arena, valise_str_of(action), err);
    if (rc == 0)
        rc = vls_arena_dup(&texts[2], arena, valise_str_of(to), err);
    if (rc == 0)
        rc = VLS_PAIRS(&json, arena, err, {"from", vls_json_string(texts[0]), false},
                       {"condition", vls_json_string(texts[1]), plain},
                       {"to", vls_json_string(texts[2]), false});
    if (rc == 0)
        rc = add_edge(flow, json, &a, err);
    return finish(&a, flow, rc, err);
}

int valise_flow_next(valise_flow *flow, const char *from, const char *to, valise_error *err)
{
    return valise_flow_on(flow, from, "default", to, err);
}
