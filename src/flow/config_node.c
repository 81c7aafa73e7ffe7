/* config_node.c -- one node of a configuration. [F6] [F19] */
#include "base/near.h"
#include "base/text.h"
#include "base/time.h"
#include "backpack/scope.h"
#include "field/field.h"
#include "flow/config.h"
#include "json/make.h"

/* ---- how it is tried ---- */

static int read_retries(vls_config_reading *r, vls_json value, valise_str path, valise_error *err)
{
    return vls_settle(
        vls_config_int(&r->node->retries, r, value, 0, VLS_FLOW_RETRIES_MAX, path, err));
}

static int read_base(vls_config_reading *r, vls_json value, valise_str path, valise_error *err)
{
    return vls_settle(vls_config_duration(&r->node->wait_ns, r, value, path, err));
}

static int read_max(vls_config_reading *r, vls_json value, valise_str path, valise_error *err)
{
    return vls_settle(vls_config_duration(&r->node->max_wait_ns, r, value, path, err));
}

static int read_exponential(vls_config_reading *r, vls_json value, valise_str path,
                            valise_error *err)
{
    return vls_settle(vls_config_truth(&r->node->exponential, r, value, path, err));
}

static const vls_config_member wait_members[] = {
    {"base", read_base},
    {"exponential", read_exponential},
    {"max", read_max},
    {NULL, NULL},
};

static int read_wait(vls_config_reading *r, vls_json value, valise_str path, valise_error *err)
{
    vls_flow_node *node = r->node;
    int rc;

    if (value.type == VLS_JSON_STRING)
        return read_base(r, value, path, err);
    node->max_wait_ns = VALISE_NONE;
    rc = vls_config_object(r, value, wait_members, "a wait", path, err);
    if (rc == 0 && value.type == VLS_JSON_OBJECT && !vls_json_get(value, VLS_STR("base")))
        rc = vls_flow_findings_add(r->findings, false, path, "give a duration, such as \"1s\"", err,
                                   "a wait has a 'base'");
    if (node->max_wait_ns == VALISE_NONE)
        node->max_wait_ns = VLS_MAX(node->wait_ns, VLS_FLOW_WAIT_MAX_NS);
    else if (rc == 0 && node->max_wait_ns < node->wait_ns)
        rc = vls_flow_findings_add(r->findings, false, path, NULL, err,
                                   "its 'max' is less than its 'base'");
    return rc;
}

static int read_timeout(vls_config_reading *r, vls_json value, valise_str path, valise_error *err)
{
    int rc = vls_config_duration(&r->node->timeout_ns, r, value, path, err);

    if (rc <= 0 || r->node->timeout_ns > 0)
        return vls_settle(rc);
    return vls_flow_findings_add(r->findings, false, path, "leave it out for none", err,
                                 "a timeout is longer than nothing");
}

static int read_quarantine(vls_config_reading *r, vls_json value, valise_str path,
                           valise_error *err)
{
    return vls_settle(vls_config_truth(&r->node->quarantine, r, value, path, err));
}

/* ---- what it may do ---- */

#define NAMES(member, json_name, text)                                                             \
    VALISE_FIELD_AS_WITH(valise_permissions, member, json_name, LIST, VALISE_NULLABLE, text,       \
                         .more = &vls_name_item, .max = VLS_BAG_LIST_MAX)

static const valise_field permission_fields[] = {
    NAMES(read, "read", "Keys it may read."),
    NAMES(write, "write", "Keys it may write."),
    NAMES(deny, "deny", "Keys it may not touch."),
    NAMES(namespace_read, "namespaceRead", "Namespaces it may read."),
    NAMES(namespace_write, "namespaceWrite", "Namespaces it may write."),
    VALISE_FIELD_END,
};

typedef struct saying {
    vls_flow_findings *findings;
    valise_str path;
    valise_error *err;
} saying;

static int say_wrong(void *arg, const valise_error *why)
{
    const saying *s = arg;

    return vls_flow_findings_take(s->findings, s->path, why, s->err);
}

static int read_permissions(vls_config_reading *r, vls_json value, valise_str path,
                            valise_error *err)
{
    vls_arena *arena = vls_flow_arena(r->flow);
    valise_permissions *permissions = vls_arena_zalloc(arena, sizeof(*permissions));
    saying s = {r->findings, path, err};
    int rc;

    if (!permissions)
        return vls_arena_fail(arena, err);
    if (value.type != VLS_JSON_OBJECT)
        return vls_flow_findings_add(r->findings, false, path, NULL, err,
                                     "permissions are an object, not %s",
                                     vls_json_type_name(value));
    r->node->permissions = permissions; /* where they are wrong, the flow is */
    rc = vls_config_table(permissions, permission_fields, sizeof(*permissions), value, arena, path,
                          r->findings, err);
    return rc < 0 ? rc : vls_permissions_each_wrong(permissions, say_wrong, &s);
}

/* Those of the type, where the configuration has none. */
static int take_permissions(vls_config_reading *r, valise_str path, valise_error *err)
{
    const valise_permissions *own = r->node->type ? r->node->type->permissions : NULL;
    valise_error why = VALISE_ERROR_INIT;

    if (vls_json_get(r->node->json, VLS_STR("permissions")) || !own)
        return 0;
    if (vls_permissions_check(own, &why) < 0)
        return vls_flow_findings_take(r->findings, path, &why, err);
    r->node->permissions = own;
    return 0;
}

static int read_text(vls_config_reading *r, vls_json value, valise_str path, valise_error *err)
{
    valise_str text;

    return vls_settle(vls_flow_config_text(&text, r, value, path, err));
}

static const vls_config_member node_members[] = {
    {"dependencies", vls_config_needs},
    {"description", read_text},
    {"id", NULL},
    {"inputs", vls_config_inputs},
    {"maxRetries", read_retries},
    {"meta", vls_config_any},
    {"name", read_text},
    {"namespace", NULL},
    {"outputs", vls_config_outputs},
    {"params", NULL},
    {"permissions", read_permissions},
    {"quarantine", read_quarantine},
    {"timeout", read_timeout},
    {"type", NULL},
    {"wait", read_wait},
    {NULL, NULL},
};

/* ---- its names ---- */

static int say_missing(vls_config_reading *r, const char *what, valise_str path, valise_error *err)
{
    return vls_flow_findings_add(r->findings, false, path, NULL, err, "a node has no '%s'", what);
}

/* 1: there is one. It stays as it was written where it is none that can be used, so that edges to
 * it are not said to lead nowhere. */
static int take_id(vls_config_reading *r, vls_json config, valise_str path, valise_error *err)
{
    const vls_json *id = vls_json_get(config, VLS_STR("id"));
    vls_config_place room;
    int rc;

    if (!id) {
        rc = say_missing(r, "id", path, err);
        return rc < 0 ? rc : 0;
    }
    rc = vls_config_id(&r->node->id, r, *id, "id",
                       vls_config_place_member(&room, path, VLS_STR("id")), err);
    return rc < 0 ? rc : r->node->id.ptr != NULL;
}

static int say_unknown_type(vls_config_reading *r, valise_str name, valise_str path,
                            valise_error *err)
{
    const char *near = NULL;
    vls_nearby hint;

    (void)vls_flow_type(r->flow, name, &near);
    vls_config_near(&hint, near);
    return vls_flow_findings_add(r->findings, false, path, hint.s, err,
                                 "there is no node type '%s'", vls_text_short(name).s);
}

static int take_type(vls_config_reading *r, const valise_node_type *type, vls_json config,
                     valise_str path, valise_error *err)
{
    const vls_json *written = vls_json_get(config, VLS_STR("type"));
    valise_str name = {NULL, 0};
    vls_config_place room;
    int rc;

    if (!written) {
        r->node->type = type;
        return type ? vls_json_with(&r->node->json, vls_flow_arena(r->flow), config, "type",
                                    vls_json_string(valise_str_of(type->name)), err)
                    : say_missing(r, "type", path, err);
    }
    path = vls_config_place_member(&room, path, VLS_STR("type"));
    rc = vls_flow_config_text(&name, r, *written, path, err);
    if (rc <= 0)
        return rc;
    if (!type)
        r->node->type = vls_flow_type(r->flow, name, NULL);
    else if (vls_str_equal(name, valise_str_of(type->name)))
        r->node->type = type;
    else
        return vls_flow_findings_add(r->findings, false, path, "leave it out", err,
                                     "it is added as '%s', and says '%s'", type->name,
                                     vls_text_short(name).s);
    return r->node->type ? 0 : say_unknown_type(r, name, path, err);
}

/* The namespace of the flow inside, for a node whose params are one. */
static valise_str inner_namespace(const vls_flow_node *node)
{
    vls_json flow = vls_member_of(vls_member_of(node->json, "params"), "flow");
    valise_str name = vls_text_of(flow, "namespace");

    if (node->type != &vls_node_subflow)
        return (valise_str){NULL, 0};
    return name.len == 0 || vls_flow_is_id(name) ? name : (valise_str){NULL, 0};
}

/* Static segment, else that of the configuration, else the id. [F4] */
static int take_segment(vls_config_reading *r, vls_json config, valise_str path, valise_error *err)
{
    const vls_json *written = vls_json_get(config, VLS_STR("namespace"));
    vls_flow_node *node = r->node;
    valise_str inner, name = {NULL, 0};
    vls_config_place room;
    int rc = 1;

    path = vls_config_place_member(&room, path, VLS_STR("namespace"));
    if (written && (node->is_subflow || node->type == &vls_node_subflow) &&
        written->type == VLS_JSON_STRING && written->len == 0)
        name = VLS_STR(""); /* of a subflow it adds nothing */
    else if (written)
        rc = vls_config_id(&name, r, *written, "segment of a namespace", path, err);
    if (rc < 0)
        return rc;
    inner = inner_namespace(node);
    if (node->type && node->type->segment)
        node->segment = valise_str_of(node->type->segment);
    else if (name.ptr && rc == 1)
        node->segment = name;
    else
        node->segment = inner.ptr ? inner : node->id;
    if (written && rc == 1 && node->type && node->type->segment)
        return vls_flow_findings_add(r->findings, true, path, NULL, err,
                                     "it is not used: nodes of type %s have the segment '%s'",
                                     node->type->name, node->type->segment);
    return 0;
}

/* Path and namespace, which both have a limit. */
static int take_names(vls_config_reading *r, valise_str path, valise_error *err)
{
    vls_flow_node *node = r->node;
    vls_arena *arena = vls_flow_arena(r->flow);
    vls_buf text;
    int rc = 0;

    node->path = node->id;
    if (r->flow->path.len > 0) {
        vls_buf_init_in(&text, arena, SIZE_MAX);
        vls_buf_add(&text, r->flow->path);
        vls_buf_add_byte(&text, '/');
        vls_buf_add(&text, node->id);
        rc = vls_buf_keep(&node->path, &text, err);
    }
    if (rc == 0)
        rc = vls_flow_join_namespace(&node->namespace_name, arena, r->flow->namespace_name,
                                     node->segment, err);
    if (rc == 0 && node->path.len > VLS_FLOW_PATH_MAX)
        rc = vls_flow_findings_add(r->findings, false, path, "give shorter ids, or fewer levels",
                                   err, "its path has %zu bytes, and may have %u", node->path.len,
                                   VLS_FLOW_PATH_MAX);
    if (rc == 0 && node->namespace_name.len > VLS_BAG_NAMESPACE_MAX)
        rc = vls_flow_findings_add(r->findings, false, path, "give shorter segments", err,
                                   "its namespace has %zu bytes, and may have %u",
                                   node->namespace_name.len, VLS_BAG_NAMESPACE_MAX);
    return rc;
}

/* ---- a node in its level ---- */

static int new_node(vls_flow_node **out, valise_flow *flow, vls_json config, valise_str path,
                    bool is_subflow, valise_error *err)
{
    vls_arena *arena = vls_flow_arena(flow);
    vls_flow_node *node = vls_arena_zalloc(arena, sizeof(*node));
    const size_t number = is_subflow ? flow->subflow_count : flow->nodes.len - flow->subflow_count;
    vls_config_place list, item;
    int rc;

    if (!node)
        return vls_arena_fail(arena, err);
    if (path.len == 0) { /* by hand: it is the next one */
        path = vls_config_place_member(&list, flow->place,
                                       is_subflow ? VLS_STR("subflows") : VLS_STR("nodes"));
        path = vls_config_place_item(&item, path, number);
    }
    rc = vls_arena_dup(&node->place, arena, path, err);
    if (rc < 0)
        return rc;
    node->flow = flow;
    node->json = config;
    node->is_subflow = is_subflow;
    node->params = (vls_json){.type = VLS_JSON_OBJECT};
    node->timeout_ns = VALISE_NONE;
    *out = node;
    return 0;
}

/* 1: it is in its level; 0: there is one of that id, which was said. */
static int keep(vls_config_reading *r, valise_str path, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    vls_config_place room;
    int rc;

    if (vls_flow_find(r->flow, r->node->id)) {
        (void)vls_fail(&why, VALISE_E_EXISTS, "a node '%s' already exists",
                       vls_text_short(r->node->id).s);
        vls_hint(&why, "give it another id: they must be unique in a flow");
        return vls_flow_findings_take(
            r->findings, vls_config_place_member(&room, path, VLS_STR("id")), &why, err);
    }
    rc = vls_flow_keep_node(r->node, err);
    return rc < 0 ? rc : 1;
}

/* The inside, and what only its kind knows. Where params are wrong already, what else is wrong
 * with others of them, and with a flow inside, is said as well. */
static int read_inside(vls_config_reading *r, valise_str path, valise_error *err)
{
    const vls_flow_node_kind *kind = vls_node_kind_of(r->node->type);
    int rc = 0;

    if (kind && kind->compose) {
        /* Its nodes have the references, and resolve them when they run. */
        r->node->has_references = false;
        rc = kind->compose(r->node, path, r->findings, err);
    }
    if (rc == 0 && kind && kind->check)
        rc = kind->check(r->node, path, r->findings, err);
    return rc;
}

static int read_params(vls_config_reading *r, valise_str path, valise_error *err)
{
    const size_t before = r->findings->said, from = r->findings->all.len;
    vls_config_place room;
    int rc;

    path = vls_config_place_member(&room, path, VLS_STR("params"));
    rc = vls_config_params(r->node, path, r->findings, err);
    if (rc < 0)
        return rc;
    if (rc == 0)
        r->findings->said = VLS_MIN(before, from);
    rc = read_inside(r, path, err);
    r->findings->said = before;
    return rc;
}

static int create(vls_config_reading *r, valise_str path, valise_error *err)
{
    vls_flow_node *node = r->node;
    valise_node_setup setup = {.size = sizeof(setup), .id = node->id, .values = node->values};
    valise_error why = VALISE_ERROR_INIT;
    int rc;

    node->self = node->type->self;
    if (!node->type->create)
        return 0;
    setup.type = valise_str_of(node->type->name);
    rc = vls_json_text(&setup.params, vls_flow_arena(r->flow), node->params, err);
    if (rc < 0)
        return rc;
    rc = node->type->create(&node->self, node->type->self, &setup, &why);
    node->created = rc >= 0;
    return rc < 0 ? vls_flow_findings_take(r->findings, path, &why, err) : 0;
}

/* What can be said of it once its type and its names are known. */
static int read_rest(vls_config_reading *r, valise_str path, valise_error *err)
{
    const size_t before = r->findings->errors;
    int rc = vls_config_object(r, r->node->json, node_members, "a node", path, err);

    if (rc == 0)
        rc = take_permissions(r, path, err);
    if (rc < 0 || !r->node->type)
        return rc;
    rc = read_params(r, path, err);
    if (rc == 0 && r->findings->errors == before)
        rc = create(r, path, err);
    return rc;
}

int vls_flow_read_node(vls_flow_node **out, valise_flow *flow, const valise_node_type *type,
                       vls_json config, valise_str path, vls_flow_findings *findings,
                       valise_error *err)
{
    vls_config_reading r = {.flow = flow, .findings = findings};
    int kept = 0, rc;

    if (config.type != VLS_JSON_OBJECT)
        return vls_flow_findings_add(findings, false, path, NULL, err,
                                     "a node is an object, not %s", vls_json_type_name(config));
    rc = new_node(&r.node, flow, config, path, false, err);
    if (rc == 0)
        rc = take_type(&r, type, config, path, err);
    if (rc == 0)
        rc = take_id(&r, config, path, err);
    if (rc >= 0)
        rc = take_segment(&r, config, path, err);
    if (rc == 0)
        rc = take_names(&r, path, err);
    if (rc == 0 && r.node->id.ptr)
        rc = kept = keep(&r, path, err);
    if (rc >= 0)
        rc = read_rest(&r, path, err);
    if (r.node && kept <= 0) {
        flow->broken = true;
        vls_flow_drop_node(r.node);
        return rc;
    }
    if (out)
        *out = r.node;
    return rc;
}

/* ---- subflows ---- */

/* Its id, else its namespace. 1: there is one. */
static int take_subflow_id(vls_config_reading *r, vls_json config, valise_str path,
                           valise_error *err)
{
    const vls_json *name = vls_json_get(config, VLS_STR("namespace"));
    int rc;

    if (vls_json_get(config, VLS_STR("id")))
        return take_id(r, config, path, err);
    if (name && name->type == VLS_JSON_STRING && name->len > 0) {
        r->node->id = vls_json_str(*name); /* whether it is one is said of the namespace */
        return 1;
    }
    rc = vls_flow_findings_add(r->findings, false, path, "give it one of them", err,
                               "a subflow has an 'id' or a 'namespace'");
    return rc < 0 ? rc : 0;
}

static int read_level(vls_config_reading *r, vls_json config, valise_str path, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    valise_flow *inner = NULL;
    int rc = vls_flow_make_inner(&inner, r->node, &why);

    if (rc < 0)
        return vls_flow_findings_take(r->findings, path, &why, err);
    rc = vls_flow_read(inner, config, path, r->findings, err);
    r->node->json = inner->json;
    return rc;
}

int vls_flow_read_subflow(vls_flow_node **out, valise_flow *flow, vls_json config, valise_str path,
                          vls_flow_findings *findings, valise_error *err)
{
    vls_config_reading r = {.flow = flow, .findings = findings};
    int kept = 0, rc;

    if (config.type != VLS_JSON_OBJECT)
        return vls_flow_findings_add(findings, false, path, NULL, err,
                                     "a subflow is an object, not %s", vls_json_type_name(config));
    rc = new_node(&r.node, flow, config, path, true, err);
    if (rc == 0) {
        r.node->type = &vls_node_subflow_level;
        rc = take_subflow_id(&r, config, path, err);
    }
    if (rc >= 0)
        rc = take_segment(&r, config, path, err);
    if (rc == 0)
        rc = take_names(&r, path, err);
    if (rc == 0 && r.node->id.ptr)
        rc = kept = keep(&r, path, err);
    if (rc >= 0)
        rc = read_level(&r, config, path, err);
    if (r.node && kept <= 0) {
        flow->broken = true;
        vls_flow_drop_node(r.node);
        return rc;
    }
    if (out)
        *out = r.node;
    return rc;
}
