/* link.c -- edges find their nodes. [F3] [F6] [F19] */
#include "base/mem.h"
#include "base/text.h"
#include "flow/config.h"

#define FINDINGS_MAX_BYTES ((size_t)16 << 20)

typedef struct linking {
    valise_flow *outermost;
    vls_flow_findings *findings;
    vls_map names; /* nodes by namespace */
    valise_error *err;
} linking;

static int say(const linking *l, valise_str path, const char *member, const char *hint,
               const char *what, valise_str id)
{
    vls_config_place room;

    return vls_flow_findings_add(l->findings, false,
                                 vls_config_place_member(&room, path, valise_str_of(member)), hint,
                                 l->err, "%s '%s'", what, vls_text_short(id).s);
}

/* ---- where it starts ---- */

static int find_start(const linking *l, valise_flow *flow)
{
    vls_nearby near;
    vls_config_place room;

    flow->first = NULL;
    if (flow->nodes.len == 0)
        return flow->broken ? 0
                            : vls_flow_findings_add(
                                  l->findings, false,
                                  vls_config_place_member(&room, flow->place, VLS_STR("nodes")),
                                  "add one: {\"id\": \"first\", \"type\": \"SetNode\"}", l->err,
                                  "a flow has at least one node");
    flow->first = flow->start.len > 0 ? vls_flow_find(flow, flow->start) : flow->nodes.ptr[0];
    if (flow->first)
        return 0;
    vls_flow_near_node(&near, flow, flow->start);
    return say(l, flow->place, "start", near.s, "there is no node", flow->start);
}

/* ---- edges ---- */

static int find_end(vls_flow_node **out, const linking *l, const valise_flow *flow,
                    const vls_flow_edge *edge, const char *member, valise_str id)
{
    enum { HINTED = 100 }; /* looking for names takes time */
    vls_nearby near = {""};

    *out = vls_flow_find(flow, id);
    if (*out)
        return 0;
    if (l->findings->errors < HINTED)
        vls_flow_near_node(&near, flow, id);
    return say(l, edge->place, member, near.s, "there is no node", id);
}

/* An action that its type says it never chooses. */
static int check_action(const linking *l, const vls_flow_node *node, const vls_flow_edge *edge)
{
    const char *const *actions = node->type ? node->type->actions : NULL;
    vls_config_place room;

    if (!actions || !edge->action.ptr || vls_str_equal(edge->action, VLS_STR("default")) ||
        vls_str_equal(edge->action, VLS_STR("error")))
        return 0;
    for (; *actions; actions++)
        if (vls_str_equal(edge->action, valise_str_of(*actions)))
            return 0;
    return vls_flow_findings_add(l->findings, true,
                                 vls_config_place_member(&room, edge->place, VLS_STR("condition")),
                                 NULL, l->err, "nodes of type %s never choose '%s'",
                                 node->type->name, vls_text_short(edge->action).s);
}

static int link_edges(const linking *l, valise_flow *flow)
{
    vls_arena *arena = vls_flow_arena(flow);
    vls_flow_edge **all = vls_arena_array(arena, flow->edges.len + 1, sizeof(vls_flow_edge *));
    vls_flow_node *from;
    size_t *next;
    size_t at = 0;
    int rc = 0;

    if (!all)
        return vls_arena_fail(arena, l->err);
    for (size_t i = 0; i < flow->edges.len && rc == 0; i++) {
        vls_flow_edge *edge = flow->edges.ptr[i];
        rc = find_end(&from, l, flow, edge, "from", edge->from);
        if (rc == 0 && from)
            from->edge_count++;
        if (rc == 0 && from)
            rc = check_action(l, from, edge);
        if (rc == 0)
            rc = find_end(&edge->target, l, flow, edge, "to", edge->to);
    }
    if (rc < 0)
        return rc;
    /* Those of a node lie side by side, in the order in which they were written. */
    next = vls_mem_alloc(flow->env, (flow->nodes.len + 1) * sizeof(*next));
    if (!next)
        return vls_fail_memory(l->err);
    for (size_t i = 0; i < flow->nodes.len; i++) {
        vls_flow_node *node = flow->nodes.ptr[i];
        node->edges = all + at;
        next[i] = at;
        at += node->edge_count;
    }
    for (size_t i = 0; i < flow->edges.len; i++) {
        from = vls_flow_find(flow, flow->edges.ptr[i]->from);
        if (from)
            all[next[from->number]++] = flow->edges.ptr[i];
    }
    vls_mem_free(flow->env, next, (flow->nodes.len + 1) * sizeof(*next));
    return 0;
}

/* ---- what cannot be reached ---- */

static int say_unreachable(const linking *l, const valise_flow *flow, const bool *seen)
{
    int rc = 0;

    for (size_t i = 0; i < flow->nodes.len && rc == 0; i++)
        if (!seen[i])
            rc = vls_flow_findings_add(
                l->findings, true, flow->nodes.ptr[i]->place, "lead an edge to it, or remove it",
                l->err, "nothing leads to '%s'", vls_text_short(flow->nodes.ptr[i]->id).s);
    return rc;
}

static int check_reach(const linking *l, const valise_flow *flow)
{
    const size_t count = flow->nodes.len;
    bool *seen = vls_mem_zalloc(flow->env, count * sizeof(*seen));
    const vls_flow_node **queue = vls_mem_alloc(flow->env, count * sizeof(vls_flow_node *));
    size_t len = 1;
    int rc = 0;

    if (seen && queue) {
        queue[0] = flow->first;
        seen[flow->first->number] = true;
        for (size_t at = 0; at < len; at++) {
            for (size_t i = 0; i < queue[at]->edge_count; i++) {
                const vls_flow_node *target = queue[at]->edges[i]->target;
                if (seen[target->number])
                    continue;
                seen[target->number] = true;
                queue[len++] = target;
            }
        }
        rc = say_unreachable(l, flow, seen);
    } else {
        rc = vls_fail_memory(l->err);
    }
    vls_mem_free(flow->env, seen, count * sizeof(*seen));
    vls_mem_free(flow->env, queue, count * sizeof(vls_flow_node *));
    return rc;
}

/* ---- namespaces that meet ---- */

static bool is_named(const void *item, const void *key)
{
    return vls_str_equal(((const vls_flow_node *)item)->namespace_name, *(const valise_str *)key);
}

static int check_namespace(linking *l, vls_flow_node *node)
{
    const valise_str name = node->namespace_name;
    const uint64_t hash = vls_str_hash(name, l->outermost->seed);
    const vls_flow_node *other;

    if (node->segment.len == 0) /* that of what it is in */
        return 0;
    other = vls_map_get(&l->names, hash, &name);
    if (!other)
        return vls_map_put(NULL, &l->names, hash, &name, node) < 0 ? vls_fail_memory(l->err) : 0;
    return vls_flow_findings_add(l->findings, true, node->place,
                                 "give one of them another `namespace`, where its type has none",
                                 l->err, "its namespace '%s' is also that of '%s'",
                                 vls_text_short(name).s, vls_text_short(other->path).s);
}

/* ---- what is written of a node with an inside ---- */

/* Who writes them may think that they hold for the nodes inside. */
static int check_permissions(const linking *l, const vls_flow_node *node)
{
    vls_config_place room;

    if (!node->permissions ||
        (node->type != &vls_node_subflow && node->type != &vls_node_subflow_level))
        return 0;
    return vls_flow_findings_add(
        l->findings, true, vls_config_place_member(&room, node->place, VLS_STR("permissions")),
        "give each node inside its own", l->err,
        "they hold for what '%s' reads and packs itself, and not for the nodes inside",
        vls_text_short(node->id).s);
}

/* ---- levels ---- */

static int link_level(linking *l, valise_flow *flow)
{
    const size_t before = l->findings->errors;
    int rc;

    for (size_t i = 0; i < flow->nodes.len; i++)
        flow->nodes.ptr[i]->edge_count = 0;
    rc = find_start(l, flow);
    if (rc == 0)
        rc = link_edges(l, flow);
    if (rc == 0 && flow->first && l->findings->errors == before && !flow->broken)
        rc = check_reach(l, flow);
    for (size_t i = 0; i < flow->nodes.len && rc == 0; i++) {
        vls_flow_node *node = flow->nodes.ptr[i];
        rc = check_namespace(l, node);
        if (rc == 0)
            rc = check_permissions(l, node);
        if (rc == 0 && node->inner)
            rc = link_level(l, node->inner);
    }
    return rc;
}

static int link_all(valise_flow *flow, vls_flow_findings *findings, valise_error *err)
{
    linking l = {.outermost = flow, .findings = findings, .err = err};
    int rc;

    vls_map_init(&l.names, flow->env, is_named);
    rc = link_level(&l, flow);
    vls_map_release(&l.names);
    flow->linked = rc == 0 && findings->errors == 0;
    return rc;
}

int vls_flow_link(valise_flow *flow, vls_flow_findings *findings, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {.env = NULL};
    valise_flow *outermost = vls_flow_outermost(flow);
    vls_flow_findings own;
    int rc = 0;

    vls_arena_init(&arena, flow->env, FINDINGS_MAX_BYTES);
    vls_flow_findings_init(&own, &arena);
    (void)pthread_mutex_lock(&outermost->lock);
    if (!outermost->linked) {
        rc = link_all(outermost, findings ? findings : &own, err);
        if (rc == 0 && !findings)
            rc = vls_flow_findings_fail(&own, err);
    }
    (void)pthread_mutex_unlock(&outermost->lock);
    return rc;
}
