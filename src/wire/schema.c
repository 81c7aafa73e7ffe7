/* schema.c -- schemas of tools, as providers take them (schema.h). */
#include "wire/schema.h"

#include "json/make.h"

#define MORE_MAX 256u /* properties and names that are taken out of what is left out */

static const char *const not_at_top[] = {"allOf", "anyOf", "enum", "not", "oneOf", NULL};

bool vls_schema_is_plain(vls_json schema)
{
    for (size_t i = 0; not_at_top[i]; i++) {
        if (vls_member_of(schema, not_at_top[i]).type != VLS_JSON_NULL)
            return false;
    }
    return true;
}

/* ---- what is taken out of them ---- */

typedef struct gathering {
    vls_arena *arena;
    valise_error *err;
    vls_json properties, required; /* of the schema itself */
    vls_vec(vls_member) more;      /* properties besides */
    vls_vec(vls_json) names;       /* that are required besides */
} gathering;

static bool has_property(const gathering *g, valise_str name)
{
    bool known = g->properties.type == VLS_JSON_OBJECT && vls_json_get(g->properties, name);

    for (size_t i = 0; i < g->more.len && !known; i++)
        known = vls_str_equal(vls_json_str(g->more.ptr[i].key), name);
    return known;
}

static bool has_name(const gathering *g, vls_json name)
{
    bool known = false;

    for (uint32_t i = 0; g->required.type == VLS_JSON_ARRAY && i < g->required.len && !known; i++)
        known = vls_json_equal(g->required.items[i], name);
    for (size_t i = 0; i < g->names.len && !known; i++)
        known = vls_json_equal(g->names.ptr[i], name);
    return known;
}

static int gather_branch(gathering *g, vls_json branch, bool all)
{
    vls_json properties = vls_member_of(branch, "properties");
    vls_json required =
        all && g->required.len <= MORE_MAX ? vls_member_of(branch, "required") : vls_json_null();
    bool room = true;

    for (uint32_t i = 0; properties.type == VLS_JSON_OBJECT && i < properties.len && room; i++) {
        if (g->more.len < MORE_MAX && !has_property(g, vls_json_str(properties.members[i].key)))
            room = vls_vec_push_in(&g->more, g->arena, properties.members[i]);
    }
    for (uint32_t i = 0; required.type == VLS_JSON_ARRAY && i < required.len && room; i++) {
        if (g->names.len < MORE_MAX && required.items[i].type == VLS_JSON_STRING &&
            !has_name(g, required.items[i]))
            room = vls_vec_push_in(&g->names, g->arena, required.items[i]);
    }
    return room ? 0 : vls_arena_fail(g->arena, g->err);
}

static int gather(gathering *g, vls_json schema, const char *key)
{
    vls_json branches = vls_member_of(schema, key);
    int rc = 0;

    for (uint32_t i = 0; branches.type == VLS_JSON_ARRAY && i < branches.len && rc == 0; i++)
        rc = gather_branch(g, branches.items[i], strcmp(key, "allOf") == 0);
    return rc;
}

/* ---- put together again ---- */

static int put_properties(vls_json *schema, gathering *g)
{
    uint32_t given = g->properties.type == VLS_JSON_OBJECT ? g->properties.len : 0;
    size_t count = given + g->more.len;
    vls_member *members = vls_arena_array(g->arena, count + 1, sizeof(*members));
    vls_json all = vls_json_null();
    int rc;

    if (!members)
        return vls_arena_fail(g->arena, g->err);
    for (uint32_t i = 0; i < given; i++)
        members[i] = g->properties.members[i];
    for (size_t i = 0; i < g->more.len; i++)
        members[given + i] = g->more.ptr[i];
    rc = vls_json_object(&all, members, count, g->err);
    return rc < 0 ? rc : vls_json_with(schema, g->arena, *schema, "properties", all, g->err);
}

static int put_required(vls_json *schema, gathering *g)
{
    uint32_t given = g->required.type == VLS_JSON_ARRAY ? g->required.len : 0;
    size_t count = given + g->names.len;
    vls_json *items = vls_arena_array(g->arena, count + 1, sizeof(*items));

    if (!items)
        return vls_arena_fail(g->arena, g->err);
    for (uint32_t i = 0; i < given; i++)
        items[i] = g->required.items[i];
    for (size_t i = 0; i < g->names.len; i++)
        items[given + i] = g->names.ptr[i];
    return vls_json_with(schema, g->arena, *schema, "required", vls_json_array(items, count),
                         g->err);
}

int vls_schema_make_plain(vls_json *out, vls_arena *arena, vls_json schema, valise_error *err)
{
    gathering g = {.arena = arena,
                   .err = err,
                   .properties = vls_member_of(schema, "properties"),
                   .required = vls_member_of(schema, "required")};
    vls_json plain = schema;
    int rc = 0;

    for (size_t i = 0; not_at_top[i] && rc == 0; i++) {
        rc = gather(&g, schema, not_at_top[i]);
        if (rc == 0 && vls_member_of(plain, not_at_top[i]).type != VLS_JSON_NULL)
            rc = vls_json_without(&plain, arena, plain, not_at_top[i], err);
    }
    if (rc == 0 && g.more.len > 0)
        rc = put_properties(&plain, &g);
    if (rc == 0 && g.names.len > 0)
        rc = put_required(&plain, &g);
    if (rc == 0)
        *out = plain;
    return rc;
}

/* ---- writing ---- */

int vls_schema_write(vls_wire *wire, const vls_plan *plan, vls_json tool, valise_error *err)
{
    vls_json schema = vls_member_of(tool, "inputSchema");
    int rc = 0;

    if (vls_member_of(schema, "type").type == VLS_JSON_NULL)
        rc = vls_json_with(&schema, plan->arena, schema, "type", vls_json_string(VLS_STR("object")),
                           err);
    if (rc == 0 && vls_member_of(schema, "properties").type == VLS_JSON_NULL)
        rc = vls_json_with(&schema, plan->arena, schema, "properties",
                           (vls_json){.type = VLS_JSON_OBJECT}, err);
    if (rc == 0)
        vls_wire_json(wire, schema);
    return rc;
}

int vls_schema_write_tool(vls_wire *wire, const vls_plan *plan, vls_json tool, const char *key,
                          bool blank, valise_error *err)
{
    valise_str brief = vls_text_of(tool, "description");

    vls_wire_pair(wire, "name", vls_plan_name_out(plan, vls_text_of(tool, "name")));
    if (brief.ptr && (blank || brief.len > 0))
        vls_wire_pair(wire, "description", brief);
    vls_wire_key(wire, key);
    return vls_schema_write(wire, plan, tool, err);
}
