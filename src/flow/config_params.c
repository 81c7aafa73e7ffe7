/* config_params.c -- params of a node, against the table or the schema of its type. [F6] */
#include "base/mem.h"
#include "base/text.h"
#include "field/field.h"
#include "flow/config.h"
#include "json/make.h"

#define TOLD_MAX 16u /* of what is wrong with one node's params */

/* ---- tables ---- */

/* "temperature" of "temperature[2].low": a member of the params. */
static valise_str first_step(const char *path)
{
    return vls_str(path, strcspn(path, ".["));
}

/* What is required and not there. */
static int say_missing(const valise_field *fields, vls_json given_all, valise_str path,
                       vls_flow_findings *findings, valise_error *err)
{
    int rc = 0;

    for (const valise_field *f = fields; f->type != VALISE_T_END && rc == 0; f++) {
        vls_config_place room;
        const vls_json *given = vls_json_get(given_all, valise_str_of(f->name));
        if (!(f->flags & VALISE_REQUIRED) || (given && given->type != VLS_JSON_NULL))
            continue;
        rc = vls_flow_findings_add(findings, false,
                                   vls_config_place_member(&room, path, valise_str_of(f->name)),
                                   NULL, err, "'%s' is missing", f->name);
    }
    return rc;
}

/* What is taken out so that decoding comes to what is wrong behind it. */
typedef struct skipping {
    char name[sizeof(((valise_error *)NULL)->path) + 1]; /* the member */
    size_t items;                                        /* of it that are out already */
} skipping;

/* "command[1].x": 1. -1: it is no item. */
static int64_t item_of(valise_str path, const char **behind)
{
    valise_str rest = vls_str_from(path, vls_str_find_byte(path, '[') + 1);
    const size_t end = vls_str_find_byte(rest, ']');
    uint64_t index;

    if (rest.len == 0 || end == rest.len || !vls_str_to_u64(&index, vls_str_head(rest, end)))
        return -1;
    *behind = rest.ptr + end + 1;
    return (int64_t)index;
}

/* Without an item of a list, or without the member where that is no list, or the last item. */
static int leave_out(vls_json *rest, skipping *s, vls_arena *arena, int64_t item, valise_error *err)
{
    const vls_json *list = vls_json_get(*rest, valise_str_of(s->name));
    vls_json *items;
    valise_str name;
    int rc;

    if (item < 0 || list->type != VLS_JSON_ARRAY || item >= list->len || list->len == 1)
        return vls_json_without(rest, arena, *rest, s->name, err);
    items = vls_arena_array(arena, list->len - 1, sizeof(*items));
    if (!items)
        return vls_arena_fail(arena, err);
    memcpy(items, list->items, (size_t)item * sizeof(*items));
    memcpy(items + item, list->items + item + 1, (list->len - 1 - (size_t)item) * sizeof(*items));
    s->items++;
    rc = vls_arena_dup(&name, arena, valise_str_of(s->name), err); /* which is another one soon */
    return rc < 0 ? rc
                  : vls_json_with_key(rest, arena, *rest, name,
                                      vls_json_array(items, list->len - 1), err);
}

/* It is noted, under the number that an item has in what was written. */
static int say_wrong(skipping *s, valise_error *why, int64_t item, const char *behind,
                     valise_str path, vls_flow_findings *findings, valise_error *err)
{
    valise_error said = *why;

    if (item >= 0 && s->items > 0)
        (void)snprintf(said.path, sizeof(said.path), "%.*s[%lld]%s",
                       VALISE_STR_ARG(first_step(why->path)), (long long)item + (long long)s->items,
                       behind);
    return vls_flow_findings_take(findings, path, &said, err);
}

/* Decoding ends at the first thing that is wrong: it is noted, left out, and the rest decoded
 * again. */
int vls_config_table(void *values, const valise_field *fields, size_t size, vls_json given,
                     vls_arena *arena, valise_str path, vls_flow_findings *findings,
                     valise_error *err)
{
    vls_json rest = given;
    skipping s = {.items = 0};
    int rc;

    for (unsigned told = 0; told < TOLD_MAX; told++) {
        valise_error why = VALISE_ERROR_INIT;
        const char *behind = "";
        valise_str name;
        int64_t item;

        rc = vls_fields_decode(values, fields, size, rest, VLS_FIELD_INPUT, arena, &why);
        if (rc == 0)
            return told == 0 ? 1 : say_missing(fields, given, path, findings, err);
        name = first_step(why.path);
        if (why.code == VALISE_E_NO_MEMORY)
            return vls_fail_memory(err);
        if (!vls_json_get(rest, name))
            break; /* it is missing, or was left out here */
        if (!vls_str_equal(name, valise_str_of(s.name)))
            s.items = 0;
        (void)snprintf(s.name, sizeof(s.name), "%.*s", VALISE_STR_ARG(name));
        item = why.path[name.len] == '[' ? item_of(valise_str_of(why.path), &behind) : -1;
        rc = say_wrong(&s, &why, item, behind, path, findings, err);
        if (rc == 0)
            rc = leave_out(&rest, &s, arena, item, err);
        if (rc < 0)
            return rc;
    }
    return say_missing(fields, given, path, findings, err);
}

static int check_table(vls_flow_node *node, valise_str path, vls_flow_findings *findings,
                       valise_error *err)
{
    const valise_node_type *type = node->type;
    vls_arena *arena = vls_flow_arena(node->flow);
    void *values = vls_arena_alloc(arena, type->params_size);
    int rc;

    if (!values)
        return vls_arena_fail(arena, err);
    rc = vls_config_table(values, type->params, type->params_size, node->params, arena, path,
                          findings, err);
    if (rc > 0)
        node->values = values;
    return rc;
}

/* ---- schemas ---- */

/* Of each type once. */
struct vls_type_schema {
    struct vls_type_schema *next;
    const valise_node_type *type;
    vls_schema *schema;
};

void vls_type_schemas_free(valise_flow *outermost)
{
    for (struct vls_type_schema *s = outermost->schemas; s; s = s->next)
        vls_schema_free(s->schema);
    outermost->schemas = NULL;
}

static int schema_of(const vls_schema **out, const vls_flow_node *node, valise_error *err)
{
    valise_flow *outermost = vls_flow_outermost(node->flow);
    VLS_AUTO(arena) vls_arena arena = {.env = NULL};
    struct vls_type_schema *made;
    vls_json json = vls_json_null();
    int rc;

    for (struct vls_type_schema *s = outermost->schemas; s; s = s->next) {
        if (s->type == node->type) {
            *out = s->schema;
            return 0;
        }
    }
    made = vls_arena_zalloc(&outermost->arena, sizeof(*made));
    if (!made)
        return vls_arena_fail(&outermost->arena, err);
    vls_arena_init(&arena, outermost->env, VLS_SCHEMA_MAX_BYTES);
    rc = vls_json_parse(&json, &arena, valise_str_of(node->type->params_schema), NULL, err);
    if (rc == 0)
        rc = vls_schema_compile(&made->schema, outermost->env, json, NULL, err);
    if (rc < 0)
        return rc;
    made->type = node->type;
    made->next = outermost->schemas;
    outermost->schemas = made;
    *out = made->schema;
    return 0;
}

typedef struct report {
    vls_flow_findings *findings;
    valise_str path;
    valise_error *err;
    int rc;
} report;

/* "/a/0/b c" as a path of ours. */
static valise_str place_of(vls_config_place *room, valise_str path, valise_str pointer)
{
    valise_str rest = vls_str_from(pointer, 1), step;
    bool more = pointer.len > 0;

    /* cppcheck-suppress ctuuninitvar ; it is filled here */
    (void)snprintf(room->s, sizeof(room->s), "%.*s", VALISE_STR_ARG(path));
    while (more) {
        vls_config_place next;
        uint64_t index;
        more = vls_str_cut(&step, &rest, rest, '/');
        path = vls_str_to_u64(&index, step) ? vls_config_place_item(&next, path, (size_t)index)
                                            : vls_config_place_member(&next, path, step);
        *room = next;
        path = vls_str(room->s, path.len);
    }
    return path;
}

static int found(void *arg, const vls_schema_finding *f)
{
    report *r = arg;
    vls_config_place room;

    r->rc = vls_flow_findings_add(r->findings, false, place_of(&room, r->path, f->instance_path),
                                  NULL, r->err, "%.*s", VALISE_STR_ARG(f->reason));
    return r->rc < 0;
}

static int check_schema(const vls_flow_node *node, valise_str path, vls_flow_findings *findings,
                        valise_error *err)
{
    report r = {.findings = findings, .path = path, .err = err};
    vls_schema_report how = {.found = found, .arg = &r, .max_findings = TOLD_MAX};
    valise_error why = VALISE_ERROR_INIT;
    const vls_schema *schema = NULL;
    int rc = schema_of(&schema, node, &why);

    if (rc == 0)
        rc = vls_schema_check(schema, node->params, &how, &why);
    if (r.rc < 0)
        return r.rc;
    if (rc == 0)
        return 1;
    return how.count > 0 ? 0 : vls_flow_findings_take(findings, path, &why, err);
}

/* ---- references ---- */

int vls_config_references(vls_json value, valise_str path, vls_flow_findings *findings,
                          valise_error *err)
{
    const bool object = value.type == VLS_JSON_OBJECT;
    valise_error why = VALISE_ERROR_INIT;
    int rc = 0;

    if (value.type == VLS_JSON_STRING)
        return vls_reference_check(vls_json_str(value), &why) < 0
                   ? vls_flow_findings_take(findings, path, &why, err)
                   : 0;
    if (!object && value.type != VLS_JSON_ARRAY)
        return 0;
    for (uint32_t i = 0; i < value.len && rc == 0; i++) {
        vls_config_place room;

        rc = object ? vls_config_references(
                          value.members[i].value,
                          vls_config_place_member(&room, path, vls_json_str(value.members[i].key)),
                          findings, err)
                    : vls_config_references(value.items[i], vls_config_place_item(&room, path, i),
                                            findings, err);
    }
    return rc;
}

/* ---- all of it ---- */

int vls_config_params(vls_flow_node *node, valise_str path, vls_flow_findings *findings,
                      valise_error *err)
{
    const vls_json *given = vls_json_get(node->json, VLS_STR("params"));
    const size_t before = findings->errors;
    int rc;

    if (given && given->type != VLS_JSON_OBJECT)
        return vls_flow_findings_add(findings, false, path, NULL, err,
                                     "params must be an object, not %s",
                                     vls_json_type_name(*given));
    if (given)
        node->params = *given;
    rc = vls_config_references(node->params, path, findings, err);
    if (rc < 0)
        return rc;
    node->has_references = vls_references_in(node->params);
    if (node->type->params)
        rc = check_table(node, path, findings, err);
    else
        rc = node->type->params_schema ? check_schema(node, path, findings, err) : 1;
    return rc < 0 ? rc : findings->errors == before;
}
