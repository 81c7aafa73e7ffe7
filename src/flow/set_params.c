/* set_params.c -- other params in the text of a flow: "NODE.path=JSON". See load.h. */
#include "flow/load.h"

#include "base/text.h"
#include "json/make.h"

const valise_field vls_flow_param_item = {
    .name = "item", .help = "NODE.path=JSON.", .type = VALISE_T_STR, .min = 1, .max = 1 << 26};

/* Another value for a member of a member: `path` is "a.b". */
static int set_path(vls_json *object, vls_arena *arena, valise_str path, vls_json value,
                    valise_error *err)
{
    valise_str key, rest;
    const vls_json *there;
    vls_json inner;
    int rc;

    if (!vls_str_cut(&key, &rest, path, '.'))
        return vls_json_with_key(object, arena, *object, path, value, err);
    there = vls_json_get(*object, key);
    inner = there ? *there : (vls_json){.type = VLS_JSON_OBJECT};
    if (inner.type != VLS_JSON_OBJECT)
        return vls_fail(err, VALISE_E_INVALID, "'%s' is not an object", vls_text_short(key).s);
    rc = set_path(&inner, arena, rest, value, err);
    return rc < 0 ? rc : vls_json_with_key(object, arena, *object, key, inner, err);
}

/* One element of an array that is a member, replaced. */
static int replace_at(vls_json *object, vls_arena *arena, const char *member, uint32_t i,
                      vls_json value, valise_error *err)
{
    vls_json array = vls_member_of(*object, member);
    vls_json *items = vls_arena_array(arena, array.len, sizeof(*items));

    if (!items)
        return vls_arena_fail(arena, err);
    memcpy(items, array.items, array.len * sizeof(*items));
    items[i] = value;
    return vls_json_with(object, arena, *object, member, vls_json_array(items, array.len), err);
}

/* The id of a subflow is its namespace, when it has no other. */
static bool has_id(vls_json element, valise_str id)
{
    valise_str own = vls_text_of(element, "id");

    return vls_str_equal(own.ptr ? own : vls_text_of(element, "namespace"), id);
}

static int find_in(uint32_t *out, vls_json level, const char *member, valise_str id)
{
    vls_json all = vls_member_of(level, member);

    for (uint32_t i = 0; all.type == VLS_JSON_ARRAY && i < all.len; i++) {
        if (has_id(all.items[i], id)) {
            *out = i;
            return 1;
        }
    }
    return 0;
}

/* The node at a path of ids, below a level. */
static int set_param(vls_json *level, vls_arena *arena, valise_str path, valise_str param,
                     vls_json value, valise_error *err)
{
    valise_str id, rest;
    bool deeper = vls_str_cut(&id, &rest, path, '/'), subflow = false;
    vls_json node, inner;
    uint32_t i = 0;
    int rc = 0;

    if (!find_in(&i, *level, "nodes", id)) {
        subflow = deeper && find_in(&i, *level, "subflows", id);
        if (!subflow)
            return vls_fail(err, VALISE_E_NOT_FOUND,
                            "there is no node '%s' whose params could be set",
                            vls_text_short(path).s);
    }
    node = vls_member_of(*level, subflow ? "subflows" : "nodes").items[i];
    if (subflow)
        rc = set_param(&node, arena, rest, param, value, err);
    else {
        inner = vls_member_of(node, "params");
        if (inner.type != VLS_JSON_OBJECT)
            inner = (vls_json){.type = VLS_JSON_OBJECT};
        if (deeper) {
            vls_json flow = vls_member_of(inner, "flow");

            rc = set_param(&flow, arena, rest, param, value, err);
            if (rc == 0)
                rc = vls_json_with(&inner, arena, inner, "flow", flow, err);
        } else {
            rc = set_path(&inner, arena, param, value, err);
        }
        if (rc == 0)
            rc = vls_json_with(&node, arena, node, "params", inner, err);
    }
    return rc < 0 ? rc : replace_at(level, arena, subflow ? "subflows" : "nodes", i, node, err);
}

static int apply_param(vls_json *config, vls_arena *arena, valise_str text, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    valise_str name, rest, node, param;
    vls_json value;
    int rc;

    if (!vls_str_cut(&name, &rest, text, '=') || !vls_str_cut(&node, &param, name, '.')) {
        (void)vls_fail(err, VALISE_E_INVALID, "'%s' is not NODE.path=JSON", vls_text_short(text).s);
        vls_hint(err,
                 "for example chat.temperature=0.2 for what stands in the params of the node chat");
        return VALISE_E_INVALID;
    }
    rc = vls_json_parse(&value, arena, rest, NULL, &why);
    if (rc < 0)
        return vls_fail(err, rc, "the value of '%s' is not JSON: %s", vls_text_short(name).s,
                        why.message);
    return set_param(config, arena, node, param, value, err);
}

int vls_flow_text_set_params(vls_flow_text *text, vls_arena *arena, const valise *v,
                             valise_list params, valise_error *err)
{
    const valise_str *each = params.items;
    valise_str changed;
    vls_json config;
    int rc = 0;

    if (params.count == 0)
        return 0;
    text->other_params = true;
    rc = vls_json_parse(&config, arena, text->text, NULL, err);
    for (size_t i = 0; i < params.count && rc == 0; i++) {
        rc = apply_param(&config, arena, each[i], err);
        if (rc < 0)
            vls_error_prepend(err, "param[%zu]", i);
    }
    if (rc == 0)
        rc = vls_json_text(&changed, arena, config, err);
    if (rc == 0)
        vls_flow_text_change(text, v, changed);
    return rc;
}
