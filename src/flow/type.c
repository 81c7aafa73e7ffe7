/* type.c -- which node types there are: the host's, the library's, those of extensions. [F1] [F8]
 */
#include "backpack/scope.h"
#include "base/near.h"
#include "base/text.h"
#include "field/field.h"
#include "flow/config.h"

const vls_flow_node_kind *vls_node_kind_of(const valise_node_type *type)
{
    for (const vls_flow_node_kind *kind = vls_flow_kinds; kind->type; kind++)
        if (kind->type == type)
            return kind;
    return NULL;
}

typedef struct looking {
    valise_str name;
    vls_near near;
    const valise_node_type *found;
} looking;

static bool look_at(looking *l, const valise_node_type *type)
{
    if (vls_str_equal(valise_str_of(type->name), l->name))
        l->found = type;
    return l->found != NULL;
}

static const valise_node_type *look(looking *l, const valise_flow *outermost)
{
    const valise_node_type *const *types = outermost->types;
    const valise_node_type *const *others = vls_registry_node_types(outermost->v->registry);

    for (size_t i = 0; types && types[i]; i++)
        if (look_at(l, types[i]))
            return l->found;
    for (const vls_flow_node_kind *kind = vls_flow_kinds; kind->type; kind++)
        if (look_at(l, kind->type))
            return l->found;
    for (size_t i = 0; others[i]; i++)
        if (look_at(l, others[i]))
            return l->found;
    return NULL;
}

static void look_near(looking *l, const valise_flow *outermost)
{
    const valise_node_type *const *types = outermost->types;
    const valise_node_type *const *others = vls_registry_node_types(outermost->v->registry);

    vls_near_init(&l->near, l->name);
    for (size_t i = 0; types && types[i]; i++)
        vls_near_try(&l->near, valise_str_of(types[i]->name));
    for (const vls_flow_node_kind *kind = vls_flow_kinds; kind->type; kind++)
        vls_near_try(&l->near, valise_str_of(kind->type->name));
    for (size_t i = 0; others[i]; i++)
        vls_near_try(&l->near, valise_str_of(others[i]->name));
}

const valise_node_type *vls_flow_type(const valise_flow *flow, valise_str name, const char **near)
{
    looking l = {.name = name};

    while (flow->outer)
        flow = flow->outer;
    if (look(&l, flow))
        return l.found;
    if (near) {
        look_near(&l, flow);
        *near = l.near.best.ptr; /* a whole name, so that it ends in NUL */
    }
    return NULL;
}

/* ---- are they right? ---- */

static int check_schema(const valise_node_type *type, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {.env = NULL};
    VLS_AUTO(schema) vls_schema *schema = NULL;
    vls_json json = vls_json_null();
    int rc;

    if (!type->params_schema)
        return 0;
    if (type->params)
        return vls_fail(err, VALISE_E_INVALID,
                        "node type %s: its params have a table, or a schema, not both", type->name);
    vls_arena_init(&arena, valise_env_default(), VLS_SCHEMA_MAX_BYTES);
    rc = vls_json_parse(&json, &arena, valise_str_of(type->params_schema), NULL, err);
    return rc < 0 ? rc : vls_schema_compile(&schema, arena.env, json, NULL, err);
}

int vls_node_type_check(const valise_node_type *type, valise_error *err)
{
    int rc;

    if (type->size < sizeof(*type))
        return vls_fail(err, VALISE_E_INVALID,
                        "a node type has a size of %zu bytes; it must have %zu", type->size,
                        sizeof(*type));
    if (!vls_flow_is_id(valise_str_of(type->name))) {
        (void)vls_fail(err, VALISE_E_INVALID, "'%s' is not the name of a node type",
                       vls_text_short(valise_str_of(type->name)).s);
        vls_hint(err, "use letters, digits, '-' and '_', 64 at most");
        return VALISE_E_INVALID;
    }
    if (type->segment && !vls_flow_is_id(valise_str_of(type->segment)))
        return vls_fail(err, VALISE_E_INVALID, "node type %s: '%s' is not a segment of a namespace",
                        type->name, vls_text_short(valise_str_of(type->segment)).s);
    for (const char *const *action = type->actions; action && *action; action++)
        if (!vls_flow_is_action(valise_str_of(*action)))
            return vls_fail(err, VALISE_E_INVALID, "node type %s: '%s' is not an action",
                            type->name, vls_text_short(valise_str_of(*action)).s);
    rc = type->params ? vls_fields_check(type->params, type->params_size, err) : 0;
    if (rc == 0)
        rc = check_schema(type, err);
    if (rc == 0 && type->permissions)
        rc = vls_permissions_check(type->permissions, err);
    return rc;
}
