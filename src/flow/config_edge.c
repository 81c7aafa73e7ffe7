/* config_edge.c -- one edge of a configuration. [F3] [F7] [F17] */
#include "base/text.h"
#include "flow/config.h"
#include "json/logic.h"
#include "json/make.h"

static int read_from(vls_config_reading *r, vls_json value, valise_str path, valise_error *err)
{
    return vls_settle(vls_flow_config_text(&r->edge->from, r, value, path, err));
}

static int read_to(vls_config_reading *r, vls_json value, valise_str path, valise_error *err)
{
    return vls_settle(vls_flow_config_text(&r->edge->to, r, value, path, err));
}

static int read_rule(vls_config_reading *r, vls_json value, valise_str path, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;

    if (vls_logic_check(value, &why) < 0) {
        why.path[0] = '\0'; /* the place in the rule is in the message */
        return vls_flow_findings_take(r->findings, path, &why, err);
    }
    r->edge->rule = value;
    return vls_rule_reads(&r->edge->reads, &r->edge->read_count, vls_flow_arena(r->flow), value,
                          err);
}

static int read_condition(vls_config_reading *r, vls_json value, valise_str path, valise_error *err)
{
    r->edge->action = (valise_str){NULL, 0}; /* what is none is not the default one either */
    if (value.type == VLS_JSON_OBJECT)
        return read_rule(r, value, path, err);
    if (value.type != VLS_JSON_STRING)
        return vls_flow_findings_add(r->findings, false, path, NULL, err,
                                     "a condition is an action, or a rule in JSON Logic, not %s",
                                     vls_json_type_name(value));
    if (!vls_flow_is_action(vls_json_str(value)))
        return vls_flow_findings_add(r->findings, false, path, NULL, err,
                                     "an action has 1 to %u bytes and no control characters",
                                     VLS_FLOW_ACTION_MAX);
    r->edge->action = vls_json_str(value);
    return 0;
}

/* 1: it is one. */
static int read_mapping(vls_flow_mapping *out, vls_config_reading *r, const vls_member *member,
                        valise_str path, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    int rc;

    out->source = vls_json_str(member->key);
    rc = vls_flow_config_text(&out->target, r, member->value, path, err);
    if (rc <= 0)
        return rc;
    if (vls_bag_check_key(out->source, &why) < 0 || vls_bag_check_key(out->target, &why) < 0)
        return vls_flow_findings_take(r->findings, path, &why, err);
    return 1;
}

/* Two for one key: one of them would be lost. */
static int check_target(vls_config_reading *r, const vls_flow_mapping *mapping, valise_str path,
                        valise_error *err)
{
    for (size_t i = 0; i < r->edge->mapping_count; i++)
        if (vls_str_equal(r->edge->mappings[i].target, mapping->target))
            return vls_flow_findings_add(r->findings, false, path, "give them two keys", err,
                                         "'%s' would get two values",
                                         vls_text_short(mapping->target).s);
    return 1;
}

static int read_mappings(vls_config_reading *r, vls_json value, valise_str path, valise_error *err)
{
    vls_flow_mapping *all;
    int rc = 0;

    if (value.type != VLS_JSON_OBJECT || value.len > VLS_FLOW_MAPPINGS_MAX)
        return vls_flow_findings_add(r->findings, false, path, NULL, err,
                                     "mappings are an object of at most %u keys and their targets",
                                     VLS_FLOW_MAPPINGS_MAX);
    all = vls_arena_array(vls_flow_arena(r->flow), value.len + (size_t)1, sizeof(*all));
    if (!all)
        return vls_arena_fail(vls_flow_arena(r->flow), err);
    r->edge->mappings = all;
    for (uint32_t i = 0; i < value.len && rc >= 0; i++) {
        vls_flow_mapping *mapping = &all[r->edge->mapping_count];
        vls_config_place room;
        valise_str place = vls_config_place_member(&room, path, vls_json_str(value.members[i].key));
        rc = read_mapping(mapping, r, &value.members[i], place, err);
        if (rc > 0)
            rc = check_target(r, mapping, place, err);
        if (rc > 0)
            r->edge->mapping_count++;
    }
    return vls_settle(rc);
}

static const vls_config_member edge_members[] = {
    {"condition", read_condition},
    {"from", read_from},
    {"mappings", read_mappings},
    {"to", read_to},
    {NULL, NULL},
};

/* ---- in its level ---- */

static int take_place(vls_flow_edge *edge, valise_flow *flow, valise_str path, valise_error *err)
{
    vls_config_place list, item;

    if (path.len == 0)
        path = vls_config_place_item(
            &item, vls_config_place_member(&list, flow->place, VLS_STR("edges")), flow->edges.len);
    return vls_arena_dup(&edge->place, vls_flow_arena(flow), path, err);
}

static int check_whole(vls_config_reading *r, vls_json config, valise_str path, valise_error *err)
{
    static const char *const ends[] = {"from", "to"};
    int rc = 0;

    for (size_t i = 0; i < VLS_COUNT(ends) && rc == 0; i++)
        if (!vls_json_get(config, valise_str_of(ends[i])))
            rc = vls_flow_findings_add(r->findings, false, path, NULL, err, "an edge has no '%s'",
                                       ends[i]);
    return rc;
}

static int say_twice(vls_config_reading *r, valise_str path, valise_error *err)
{
    const bool written = vls_json_get(r->edge->json, VLS_STR("condition")) != NULL;
    valise_error why = VALISE_ERROR_INIT;
    vls_config_place room;

    (void)vls_fail(&why, VALISE_E_EXISTS, "'%s' already has an edge for '%s'",
                   vls_text_short(r->edge->from).s, vls_text_short(r->edge->action).s);
    vls_hint(&why, "an action can lead to only one node: give this edge another condition");
    return vls_flow_findings_take(
        r->findings, written ? vls_config_place_member(&room, path, VLS_STR("condition")) : path,
        &why, err);
}

int vls_flow_read_edge(valise_flow *flow, vls_json config, valise_str path,
                       vls_flow_findings *findings, valise_error *err)
{
    vls_config_reading r = {.flow = flow, .findings = findings};
    const size_t before = findings->errors;
    int rc;

    if (config.type != VLS_JSON_OBJECT)
        return vls_flow_findings_add(findings, false, path, NULL, err,
                                     "an edge is an object, not %s", vls_json_type_name(config));
    r.edge = vls_arena_zalloc(vls_flow_arena(flow), sizeof(*r.edge));
    if (!r.edge)
        return vls_arena_fail(vls_flow_arena(flow), err);
    r.edge->json = config;
    r.edge->action = VLS_STR("default");
    rc = take_place(r.edge, flow, path, err);
    if (rc == 0)
        rc = vls_config_object(&r, config, edge_members, "an edge", path, err);
    if (rc == 0)
        rc = check_whole(&r, config, path, err);
    if (rc == 0 && r.edge->action.ptr && r.edge->from.ptr &&
        vls_flow_find_edge(flow, r.edge->from, r.edge->action)) {
        rc = say_twice(&r, path, err);
        r.edge->action = (valise_str){NULL, 0};
    }
    /* By hand it is added whole or not at all; of a configuration it is kept for what linking has
     * to say about it. */
    if (rc < 0 || !r.edge->from.ptr || !r.edge->to.ptr ||
        (path.len == 0 && findings->errors > before))
        return rc;
    return vls_flow_keep_edge(flow, r.edge, err);
}
