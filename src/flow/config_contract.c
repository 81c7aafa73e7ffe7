/* config_contract.c -- what a node takes and gives, and which services it is given. [F17] */
#include "base/near.h"
#include "base/text.h"
#include "flow/config.h"
#include "json/make.h"

/* ---- contracts ---- */

/* A "default" at the top, or of properties inside. The depth of JSON is limited. */
static bool has_defaults(vls_json schema)
{
    vls_json properties = vls_member_of(schema, "properties");

    if (vls_json_get(schema, VLS_STR("default")))
        return true;
    for (uint32_t i = 0; properties.type == VLS_JSON_OBJECT && i < properties.len; i++)
        if (has_defaults(properties.members[i].value))
            return true;
    return false;
}

/* An item may be one that not everybody may see, or that is erased later; events and the records of
 * runs say what is wrong with it. */
static const vls_schema_limits discreet = {.discreet = true};

/* 1: it is one. */
static int read_contract(vls_flow_contract *out, vls_config_reading *r, const vls_member *member,
                         valise_str path, valise_error *err)
{
    const vls_json *optional = vls_json_get(member->value, VLS_STR("optional"));
    valise_error why = VALISE_ERROR_INIT;
    vls_config_place room;
    int rc = 1;

    *out = (vls_flow_contract){.key = vls_json_str(member->key), .json = member->value};
    if (vls_bag_check_key(out->key, &why) < 0)
        return vls_flow_findings_take(r->findings, path, &why, err);
    if (optional)
        rc = vls_config_truth(&out->optional, r, *optional,
                              vls_config_place_member(&room, path, VLS_STR("optional")), err);
    if (rc <= 0)
        return rc;
    out->has_defaults = has_defaults(member->value);
    if (vls_schema_compile(&out->schema, r->flow->env, member->value, &discreet, &why) < 0)
        return vls_flow_findings_take(r->findings, path, &why, err);
    return 1;
}

static int read_contracts(const vls_flow_contract **list, size_t *count, vls_config_reading *r,
                          vls_json value, valise_str path, valise_error *err)
{
    vls_flow_contract *all;
    int rc = 0;

    if (value.type != VLS_JSON_OBJECT || value.len > VLS_FLOW_KEYS_MAX)
        return vls_flow_findings_add(r->findings, false, path, NULL, err,
                                     "it must be an object of at most %u keys and their schemas",
                                     VLS_FLOW_KEYS_MAX);
    all = vls_arena_array(vls_flow_arena(r->flow), value.len + (size_t)1, sizeof(*all));
    if (!all)
        return vls_arena_fail(vls_flow_arena(r->flow), err);
    *list = all; /* with the node they are freed, as many as there are */
    for (uint32_t i = 0; i < value.len && rc >= 0; i++) {
        vls_config_place room;
        rc = read_contract(&all[*count], r, &value.members[i],
                           vls_config_place_member(&room, path, vls_json_str(value.members[i].key)),
                           err);
        if (rc > 0)
            ++*count;
    }
    return vls_settle(rc);
}

int vls_config_inputs(vls_config_reading *r, vls_json value, valise_str path, valise_error *err)
{
    return read_contracts(&r->node->inputs, &r->node->input_count, r, value, path, err);
}

int vls_config_outputs(vls_config_reading *r, vls_json value, valise_str path, valise_error *err)
{
    return read_contracts(&r->node->outputs, &r->node->output_count, r, value, path, err);
}

/* ---- services ---- */

static bool is_service(const valise_flow *flow, valise_str name, vls_near *near)
{
    const valise_flow *outermost = flow;
    const valise_service *s;

    while (outermost->outer)
        outermost = outermost->outer;
    for (s = outermost->services; s && s->name; s++) {
        if (vls_str_equal(valise_str_of(s->name), name))
            return true;
        vls_near_try(near, valise_str_of(s->name));
    }
    for (size_t i = 0; i < outermost->dependency_count; i++)
        vls_near_try(near, outermost->dependencies[i].name);
    return false;
}

/* 1: it is one. */
static int read_need(vls_flow_need *out, vls_config_reading *r, valise_str role, vls_json value,
                     valise_str path, valise_error *err)
{
    vls_nearby hint = {"declare it in the flow's dependencies"};
    vls_near near;
    int rc;

    *out = (vls_flow_need){.role = role};
    rc = vls_flow_config_text(&out->name, r, value, path, err);
    if (rc <= 0)
        return rc;
    if (role.ptr == NULL)
        out->role = out->name;
    vls_near_init(&near, out->name);
    if (vls_flow_dependency_find(r->flow, out->name) || is_service(r->flow, out->name, &near))
        return 1;
    if (near.best.ptr)
        (void)snprintf(hint.s, sizeof(hint.s), "did you mean '%s'?", vls_text_short(near.best).s);
    return vls_flow_findings_add(r->findings, false, path, hint.s, err,
                                 "there is no dependency '%s'", vls_text_short(out->name).s);
}

int vls_config_needs(vls_config_reading *r, vls_json value, valise_str path, valise_error *err)
{
    const bool named = value.type == VLS_JSON_OBJECT;
    vls_flow_need *all;
    int rc = 0;

    if ((!named && value.type != VLS_JSON_ARRAY) || value.len > VLS_FLOW_KEYS_MAX)
        return vls_flow_findings_add(r->findings, false, path, NULL, err,
                                     "it must be a list of at most %u names, or an object with "
                                     "names by role",
                                     VLS_FLOW_KEYS_MAX);
    all = vls_arena_array(vls_flow_arena(r->flow), value.len + (size_t)1, sizeof(*all));
    if (!all)
        return vls_arena_fail(vls_flow_arena(r->flow), err);
    r->node->needs = all;
    for (uint32_t i = 0; i < value.len && rc >= 0; i++) {
        const valise_str role = named ? vls_json_str(value.members[i].key) : (valise_str){NULL, 0};
        vls_config_place room;
        valise_str place = named ? vls_config_place_member(&room, path, role)
                                 : vls_config_place_item(&room, path, i);
        rc = read_need(&all[r->node->need_count], r, role,
                       named ? value.members[i].value : value.items[i], place, err);
        if (rc > 0)
            r->node->need_count++;
    }
    return vls_settle(rc);
}
