/* route.c -- which node is next. [F3] [F7]
 *
 * Edges are tried in the order in which they were written: those whose action is the one that was
 * chosen; then rules, the first that is true; then, for who chose no action, `default`. */
#include "base/text.h"
#include "flow/level.h"
#include "json/logic.h"
#include "json/make.h"

static bool is_default(valise_str action)
{
    return action.len == 0 || vls_str_equal(action, VLS_STR("default"));
}

static const vls_flow_edge *find_action(const vls_flow_node *node, valise_str action)
{
    for (size_t i = 0; i < node->edge_count; i++) {
        const vls_flow_edge *edge = node->edges[i];

        if (edge->action.ptr && vls_str_equal(edge->action, action))
            return edge;
    }
    return NULL;
}

const vls_flow_edge *vls_flow_error_edge(const vls_flow_node *node)
{
    return find_action(node, VLS_STR("error"));
}

/* ---- rules ---- */

/* What a rule sees: values by keys. A node that may not read one does not have it. */
typedef struct sight {
    valise_node_run *at;
    vls_vec(vls_member) members;
} sight;

static int add_value(sight *s, valise_str key, valise_str text, valise_error *err)
{
    vls_member member = {.value = vls_json_null()};
    valise_str copy, name;
    int rc = vls_arena_dup(&copy, s->at->arena, text, err);

    if (rc == 0)
        rc = vls_arena_dup(&name, s->at->arena, key, err);
    if (rc == 0)
        rc = vls_json_parse(&member.value, s->at->arena, copy, NULL, err);
    if (rc < 0)
        return rc;
    member.key = vls_json_string(name);
    if (!vls_vec_push_in(&s->members, s->at->arena, member))
        return vls_arena_fail(s->at->arena, err);
    return 0;
}

static int add_item(void *arg, const valise_item *item, valise_error *err)
{
    if (!item->value)
        return 0;
    return add_value(arg, item->commit->key, valise_blob_bytes(item->value), err);
}

static int add_key(sight *s, valise_str key, valise_error *err)
{
    VLS_AUTO(blob) valise_blob *value = NULL;
    valise_str name;
    int rc = vls_arena_dup(&name, s->at->arena, key, err);

    if (rc == 0)
        rc = valise_peek(&value, s->at->view, name.ptr, err);
    if (rc == VALISE_E_DENIED || rc == VALISE_E_INVALID) /* not for it, or no key at all */
        return 0;
    if (rc <= 0)
        return rc;
    assert(value);
    return add_value(s, key, vls_blob_bytes(value), err);
}

static int gather(vls_json *out, valise_node_run *at, const vls_flow_edge *edge, valise_error *err)
{
    sight s = {.at = at};
    int rc = 0;

    if (!edge->reads)
        rc = valise_each_item(at->view, add_item, &s, err);
    for (size_t i = 0; edge->reads && i < edge->read_count && rc == 0; i++)
        rc = add_key(&s, edge->reads[i], err);
    return rc < 0 ? rc : vls_json_object(out, s.members.ptr, s.members.len, err);
}

static int find_rule(const vls_flow_edge **out, valise_node_run *at, valise_error *err)
{
    const vls_flow_node *node = at->node;

    for (size_t i = 0; i < node->edge_count; i++) {
        const vls_flow_edge *edge = node->edges[i];
        vls_json data;
        bool holds = false;
        int rc;

        if (edge->action.ptr)
            continue;
        rc = gather(&data, at, edge, err);
        if (rc == 0)
            rc = vls_logic_holds(&holds, at->arena, edge->rule, data, NULL, err);
        if (rc < 0) {
            vls_hint(err, "the condition of the edge from '%.*s' to '%.*s' asks for it",
                     VALISE_STR_ARG(edge->from), VALISE_STR_ARG(edge->to));
            return rc;
        }
        if (holds) {
            *out = edge;
            return 0;
        }
    }
    return 0;
}

/* ---- what the edge carries over ---- */

typedef struct carrying {
    valise_node_run *at;
    const vls_flow_mapping *mapping;
} carrying;

/* With its tags and lists: what was hidden stays hidden under another name. */
static int carry_item(void *arg, const valise_item *item, valise_error *err)
{
    const carrying *c = arg;
    valise_pack_options options = VALISE_PACK_OPTIONS_INIT;

    if (!item->value)
        return vls_fail(err, VALISE_E_NOT_FOUND, "the value of '%.*s' was erased",
                        VALISE_STR_ARG(c->mapping->source));
    options.tags = item->commit->tags;
    options.read = item->commit->read;
    options.write = item->commit->write;
    return valise_pack_str(NULL, c->at->view, c->mapping->target, vls_blob_bytes(item->value),
                           &options, err);
}

int vls_flow_carry(valise_node_run *at, const vls_flow_edge *edge, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < edge->mapping_count && rc == 0; i++) {
        carrying c = {at, &edge->mappings[i]};
        valise_str key;

        rc = vls_arena_dup(&key, at->arena, c.mapping->source, err);
        if (rc < 0)
            break;
        rc = valise_item_get(at->view, key.ptr, carry_item, &c, err);
        if (rc == 0)
            vls_flow_warn(at->run, at, "there is no '%s' to carry over to '%s'",
                          vls_text_short(c.mapping->source).s, vls_text_short(c.mapping->target).s);
        rc = vls_settle(rc);
    }
    return rc;
}

int vls_flow_route(vls_flow_step *step, valise_node_run *at, valise_error *err)
{
    const vls_flow_node *node = at->node;
    const vls_flow_edge *edge = NULL;
    bool none = is_default(at->action);
    int rc = 0;

    if (node->edge_count > 0 && !none)
        edge = find_action(node, at->action);
    if (node->edge_count > 0 && !edge)
        rc = find_rule(&edge, at, err);
    if (rc == 0 && !edge && none && node->edge_count > 0)
        edge = find_action(node, VLS_STR("default"));
    if (rc == 0 && edge)
        rc = vls_flow_carry(at, edge, err);
    if (rc < 0)
        return rc;
    (void)snprintf(step->action, sizeof(step->action), "%.*s",
                   VALISE_STR_ARG(none ? VLS_STR("default") : at->action));
    step->next = edge ? edge->target : NULL;
    if (!edge && !none && node->edge_count > 0)
        vls_flow_warn(at->run, at, "no edge takes the action '%s': the flow ends here",
                      step->action);
    return 0;
}
