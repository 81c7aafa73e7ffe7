/* schema_keyword.c -- the keywords: their forms and where in a node they go.
 *
 * The table says all there is to say about a keyword: the function that checks its form and
 * compiles it, and the group and field that gets the result. Keywords that only annotate have a
 * form and no field. */
#include "json/schema_impl.h"

typedef int compile_fn(vls_schema_compiler *c, const vls_schema_site *site, void *field);

typedef struct keyword {
    const char *name;
    compile_fn *compile;
    size_t group;      /* where in the node the pointer to the group is; NO_GROUP: none */
    size_t group_size; /* of the group itself */
    size_t field;      /* in the group, or in the node when there is no group */
} keyword;

#define NO_GROUP SIZE_MAX

/* ---- values ---- */

static int compile_nothing(vls_schema_compiler *c, const vls_schema_site *site, void *field)
{
    (void)c, (void)site, (void)field;
    return 0;
}

static int compile_string(vls_schema_compiler *c, const vls_schema_site *site, void *field)
{
    (void)field;
    return site->value->type == VLS_JSON_STRING
               ? 0
               : vls_schema_refuse_value(c, site, "must be a string");
}

static int compile_array(vls_schema_compiler *c, const vls_schema_site *site, void *field)
{
    (void)field;
    return site->value->type == VLS_JSON_ARRAY
               ? 0
               : vls_schema_refuse_value(c, site, "must be an array");
}

static int compile_flag(vls_schema_compiler *c, const vls_schema_site *site, void *field)
{
    if (site->value->type != VLS_JSON_BOOL)
        return vls_schema_refuse_value(c, site, "must be a boolean");
    *(bool *)field = site->value->truth;
    return 0;
}

/* "deprecated" and its like: a boolean that nobody keeps. */
static int compile_mark(vls_schema_compiler *c, const vls_schema_site *site, void *field)
{
    bool dropped;

    (void)field;
    return compile_flag(c, site, &dropped);
}

static int compile_const(vls_schema_compiler *c, const vls_schema_site *site, void *field)
{
    (void)c;
    site->node->constant_work = vls_schema_weight(*site->value);
    *(const vls_json **)field = site->value;
    return 0;
}

static int compile_count(vls_schema_compiler *c, const vls_schema_site *site, void *field)
{
    vls_json v = *site->value;

    if (!vls_schema_is_integer(v) || vls_json_number_compare(v, vls_json_int(0)) < 0)
        return vls_schema_refuse_value(c, site, "must be a non-negative integer");
    /* What does not fit is more than anything has. */
    *(vls_schema_count *)field = (vls_schema_count){
        .set = true, .n = v.type == VLS_JSON_INT ? (uint64_t)v.integer : UINT64_MAX};
    return 0;
}

static int compile_number(vls_schema_compiler *c, const vls_schema_site *site, void *field)
{
    if (!vls_json_is_number(*site->value))
        return vls_schema_refuse_value(c, site, "must be a number");
    *(const vls_json **)field = site->value;
    return 0;
}

static int compile_divisor(vls_schema_compiler *c, const vls_schema_site *site, void *field)
{
    vls_schema_number *number = site->node->number;
    valise_error why = VALISE_ERROR_INIT;
    int rc;

    if (!vls_json_is_number(*site->value) ||
        vls_json_number_compare(*site->value, vls_json_int(0)) <= 0)
        return vls_schema_refuse_value(c, site, "must be a number above 0");
    *(const vls_json **)field = site->value;
    rc = vls_divisor_new(&number->divisor, &c->schema->arena, *site->value, &why);
    return rc < 0 ? vls_schema_refuse(c, site, rc, "%s", why.message) : 0;
}

static int compile_pattern(vls_schema_compiler *c, const vls_schema_site *site, void *field)
{
    valise_error why = VALISE_ERROR_INIT;
    int rc;

    if (site->value->type != VLS_JSON_STRING)
        return vls_schema_refuse_value(c, site, "must be a string");
    rc = vls_pattern_compile((const vls_pattern **)field, &c->schema->patterns, &c->schema->arena,
                             vls_json_str(*site->value), &why);
    return rc < 0 ? vls_schema_refuse(c, site, rc, "%s", why.message) : 0;
}

static int compile_type(vls_schema_compiler *c, const vls_schema_site *site, void *field)
{
    static const char *const names[] = {"null",   "boolean", "object", "array",
                                        "number", "string",  "integer"};
    vls_json v = *site->value;
    uint32_t count = v.type == VLS_JSON_ARRAY ? v.len : 1, bits = 0;

    for (uint32_t i = 0; i < count; i++) {
        vls_json name = v.type == VLS_JSON_ARRAY ? v.items[i] : v;
        uint32_t bit = 0;
        for (uint32_t at = 0; name.type == VLS_JSON_STRING && at < VLS_COUNT(names); at++) {
            if (vls_str_equal(vls_json_str(name), valise_str_of(names[at])))
                bit = (uint32_t)1 << at;
        }
        if (bit == 0)
            return vls_schema_refuse(c, site, VALISE_E_INVALID,
                                     "must be null, boolean, object, array, number, string or "
                                     "integer, or an array of those");
        if (bits & bit)
            return vls_schema_refuse(c, site, VALISE_E_INVALID, "has \"%.*s\" twice",
                                     VALISE_STR_ARG(vls_json_str(name)));
        bits |= bit;
    }
    if (bits == 0)
        return vls_schema_refuse(c, site, VALISE_E_INVALID, "does not name a type");
    *(uint8_t *)field = (uint8_t)bits;
    return 0;
}

static int compile_enum(vls_schema_compiler *c, const vls_schema_site *site, void *field)
{
    vls_json v = *site->value;
    vls_value_index *index;
    uint64_t work = 0;
    int rc;

    if (v.type != VLS_JSON_ARRAY)
        return vls_schema_refuse_value(c, site, "must be an array");
    index = vls_arena_alloc(&c->schema->arena, sizeof(*index));
    if (!index)
        return vls_arena_fail(&c->schema->arena, c->err);
    rc = vls_value_index_init(index, &c->schema->arena, v.items, v.len, c->schema->seed, c->err);
    if (rc < 0)
        return rc;
    for (uint32_t i = 0; i < v.len; i++)
        vls_value_index_add(index, i, &work); /* the draft only says that they should differ */
    site->node->choice_index = index;
    *(const vls_json **)field = site->value;
    return 0;
}

/* An array of names, none of them twice. */
static int check_names(vls_schema_compiler *c, const vls_schema_site *site, vls_json names)
{
    vls_arena_mark mark = vls_arena_here(&c->schema->arena);
    vls_value_index index;
    uint64_t work = 0;
    int rc;

    if (names.type != VLS_JSON_ARRAY)
        return vls_schema_refuse(c, site, VALISE_E_INVALID, "must be an array of strings");
    rc = vls_value_index_init(&index, &c->schema->arena, names.items, names.len, c->schema->seed,
                              c->err);
    if (rc < 0)
        return rc;
    for (uint32_t i = 0; rc == 0 && i < names.len; i++) {
        if (names.items[i].type != VLS_JSON_STRING)
            rc = vls_schema_refuse(c, site, VALISE_E_INVALID, "must be an array of strings");
        else if (vls_value_index_add(&index, i, &work) != VLS_VALUE_NONE)
            rc = vls_schema_refuse(c, site, VALISE_E_INVALID, "has \"%.*s\" twice",
                                   VALISE_STR_ARG(vls_json_str(names.items[i])));
    }
    vls_arena_rewind(&c->schema->arena, mark);
    return rc;
}

static int compile_names(vls_schema_compiler *c, const vls_schema_site *site, void *field)
{
    int rc = check_names(c, site, *site->value);

    if (rc == 0)
        *(const vls_json **)field = site->value;
    return rc;
}

static int compile_names_by_name(vls_schema_compiler *c, const vls_schema_site *site, void *field)
{
    vls_json v = *site->value;
    int rc = 0;

    if (v.type != VLS_JSON_OBJECT)
        return vls_schema_refuse_value(c, site, "must be an object");
    for (uint32_t i = 0; rc == 0 && i < v.len; i++)
        rc = check_names(c, site, v.members[i].value);
    if (rc == 0)
        *(const vls_json **)field = site->value;
    return rc;
}

static int compile_vocabulary(vls_schema_compiler *c, const vls_schema_site *site, void *field)
{
    vls_json v = *site->value;

    (void)field;
    if (v.type != VLS_JSON_OBJECT)
        return vls_schema_refuse_value(c, site, "must be an object");
    for (uint32_t i = 0; i < v.len; i++) {
        if (v.members[i].value.type != VLS_JSON_BOOL)
            return vls_schema_refuse(c, site, VALISE_E_INVALID, "must have booleans only");
    }
    return 0;
}

/* ---- schemas ---- */

static int compile_schema(vls_schema_compiler *c, const vls_schema_site *site, void *field)
{
    vls_schema_step step = {.raw = site->keyword, .index = -1};

    return vls_schema_add_node((const vls_schema_node **)field, c, site->node, step, site->value,
                               (valise_str){NULL, 0});
}

/* A subschema that says nothing about the instance: it is walked for its names only. */
static int compile_aside(vls_schema_compiler *c, const vls_schema_site *site, void *field)
{
    const vls_schema_node *dropped;

    (void)field;
    return compile_schema(c, site, &dropped);
}

static int compile_list(vls_schema_compiler *c, const vls_schema_site *site, void *field)
{
    vls_schema_list *list = field;
    vls_json v = *site->value;
    int rc = 0;

    if (v.type != VLS_JSON_ARRAY || v.len == 0)
        return vls_schema_refuse_value(c, site, "must be an array of at least one schema");
    list->nodes = vls_arena_array(&c->schema->arena, v.len, sizeof(list->nodes[0]));
    if (!list->nodes)
        return vls_arena_fail(&c->schema->arena, c->err);
    list->count = v.len;
    for (uint32_t i = 0; rc == 0 && i < v.len; i++) {
        vls_schema_step step = {.raw = site->keyword, .index = i};
        rc = vls_schema_add_node(&list->nodes[i], c, site->node, step, &v.items[i],
                                 (valise_str){NULL, 0});
    }
    return rc;
}

static int compile_table(vls_schema_compiler *c, const vls_schema_site *site, void *field)
{
    vls_schema_table *table = field;
    vls_json v = *site->value;
    int rc = 0;

    if (v.type != VLS_JSON_OBJECT)
        return vls_schema_refuse_value(c, site, "must be an object of schemas");
    table->nodes = vls_arena_array(&c->schema->arena, v.len, sizeof(table->nodes[0]));
    if (!table->nodes)
        return vls_arena_fail(&c->schema->arena, c->err);
    table->names = v;
    for (uint32_t i = 0; rc == 0 && i < v.len; i++) {
        vls_schema_step step = {.raw = site->keyword, .key = &v.members[i].key, .index = -1};
        rc = vls_schema_add_node(&table->nodes[i], c, site->node, step, &v.members[i].value,
                                 (valise_str){NULL, 0});
    }
    return rc;
}

/* "$defs": schemas that only references lead to. */
static int compile_definitions(vls_schema_compiler *c, const vls_schema_site *site, void *field)
{
    vls_schema_table dropped;

    (void)field;
    return compile_table(c, site, &dropped);
}

static int compile_patterns(vls_schema_compiler *c, const vls_schema_site *site, void *field)
{
    vls_schema_patterns *patterns = field;
    vls_schema_table table = {.nodes = NULL};
    int rc = compile_table(c, site, &table);

    if (rc < 0)
        return rc;
    patterns->patterns =
        vls_arena_array(&c->schema->arena, table.names.len, sizeof(patterns->patterns[0]));
    if (!patterns->patterns)
        return vls_arena_fail(&c->schema->arena, c->err);
    patterns->nodes = table.nodes;
    patterns->count = table.names.len;
    for (uint32_t i = 0; rc == 0 && i < patterns->count; i++) {
        vls_schema_site key = {site->node, site->keyword, &table.names.members[i].key};
        rc = compile_pattern(c, &key, &patterns->patterns[i]);
    }
    return rc;
}

static int compile_ref(vls_schema_compiler *c, const vls_schema_site *site, void *field)
{
    if (site->value->type != VLS_JSON_STRING)
        return vls_schema_refuse_value(c, site, "must be a string");
    if (!vls_vec_push(&c->pending, c->schema->env, (vls_schema_pending){*site, field}))
        return vls_fail_memory(c->err);
    return 0;
}

/* ---- the table ---- */

#define IN_NODE(name, member, compile)                                                             \
    {                                                                                              \
        name, compile, NO_GROUP, 0, offsetof(vls_schema_node, member)                              \
    }
#define IN_GROUP(name, group, member, compile)                                                     \
    {                                                                                              \
        name, compile, offsetof(vls_schema_node, group), sizeof(vls_schema_##group),               \
            offsetof(vls_schema_##group, member)                                                   \
    }
#define FORM_ONLY(name, compile)                                                                   \
    {                                                                                              \
        name, compile, NO_GROUP, 0, 0                                                              \
    }

/* Sorted by name, as bytes. "definitions" is what "$defs" was called and is still used a lot. */
static const keyword keywords[] = {
    FORM_ONLY("$anchor", compile_string),
    FORM_ONLY("$comment", compile_string),
    FORM_ONLY("$defs", compile_definitions),
    FORM_ONLY("$dynamicAnchor", compile_string),
    IN_GROUP("$dynamicRef", apply, dynamic_ref, compile_ref),
    FORM_ONLY("$id", compile_string),
    IN_GROUP("$ref", apply, ref, compile_ref),
    FORM_ONLY("$schema", compile_string),
    FORM_ONLY("$vocabulary", compile_vocabulary),
    IN_GROUP("additionalProperties", object, additional, compile_schema),
    IN_GROUP("allOf", apply, all_of, compile_list),
    IN_GROUP("anyOf", apply, any_of, compile_list),
    IN_NODE("const", constant, compile_const),
    IN_GROUP("contains", array, contains, compile_schema),
    FORM_ONLY("contentEncoding", compile_string),
    FORM_ONLY("contentMediaType", compile_string),
    FORM_ONLY("contentSchema", compile_aside),
    FORM_ONLY("default", compile_nothing),
    FORM_ONLY("definitions", compile_definitions),
    IN_GROUP("dependentRequired", object, dependent_required, compile_names_by_name),
    IN_GROUP("dependentSchemas", object, dependent_schemas, compile_table),
    FORM_ONLY("deprecated", compile_mark),
    FORM_ONLY("description", compile_string),
    IN_GROUP("else", apply, else_, compile_schema),
    IN_NODE("enum", choices, compile_enum),
    FORM_ONLY("examples", compile_array),
    IN_GROUP("exclusiveMaximum", number, exclusive_maximum, compile_number),
    IN_GROUP("exclusiveMinimum", number, exclusive_minimum, compile_number),
    FORM_ONLY("format", compile_string),
    IN_GROUP("if", apply, if_, compile_schema),
    IN_GROUP("items", array, items, compile_schema),
    IN_GROUP("maxContains", array, max_contains, compile_count),
    IN_GROUP("maxItems", array, max_items, compile_count),
    IN_GROUP("maxLength", text, max_length, compile_count),
    IN_GROUP("maxProperties", object, max_properties, compile_count),
    IN_GROUP("maximum", number, maximum, compile_number),
    IN_GROUP("minContains", array, min_contains, compile_count),
    IN_GROUP("minItems", array, min_items, compile_count),
    IN_GROUP("minLength", text, min_length, compile_count),
    IN_GROUP("minProperties", object, min_properties, compile_count),
    IN_GROUP("minimum", number, minimum, compile_number),
    IN_GROUP("multipleOf", number, multiple_of, compile_divisor),
    IN_GROUP("not", apply, not_, compile_schema),
    IN_GROUP("oneOf", apply, one_of, compile_list),
    IN_GROUP("pattern", text, pattern, compile_pattern),
    IN_GROUP("patternProperties", object, pattern_properties, compile_patterns),
    IN_GROUP("prefixItems", array, prefix_items, compile_list),
    IN_GROUP("properties", object, properties, compile_table),
    IN_GROUP("propertyNames", object, property_names, compile_schema),
    FORM_ONLY("readOnly", compile_mark),
    IN_GROUP("required", object, required, compile_names),
    IN_GROUP("then", apply, then_, compile_schema),
    FORM_ONLY("title", compile_string),
    IN_NODE("type", types, compile_type),
    IN_GROUP("unevaluatedItems", array, unevaluated, compile_schema),
    IN_GROUP("unevaluatedProperties", object, unevaluated, compile_schema),
    IN_GROUP("uniqueItems", array, unique_items, compile_flag),
    FORM_ONLY("writeOnly", compile_mark),
};

static const keyword *find_keyword(valise_str name)
{
    size_t low = 0, high = VLS_COUNT(keywords);

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = vls_str_compare(name, valise_str_of(keywords[middle].name));
        if (order == 0)
            return &keywords[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

/* The group of a node, made when its first keyword comes. NULL: out of memory. */
static char *reach_group(vls_schema_compiler *c, vls_schema_node *node, const keyword *k)
{
    char *slot = (char *)node + k->group;
    void *group;

    /* The slot is a pointer of the group's own type, hence memcpy. */
    memcpy(&group, slot, sizeof(group));
    if (!group) {
        group = vls_arena_zalloc(&c->schema->arena, k->group_size);
        if (group)
            memcpy(slot, &group, sizeof(group));
    }
    return group;
}

int vls_schema_add_keyword(vls_schema_compiler *c, vls_schema_node *node, const vls_member *member)
{
    const keyword *k = find_keyword(vls_json_str(member->key));
    char *base = (char *)node;

    if (!k)
        return 0;
    if (k->group != NO_GROUP)
        base = reach_group(c, node, k);
    if (!base)
        return vls_arena_fail(&c->schema->arena, c->err);
    vls_schema_site site = {node, valise_str_of(k->name), &member->value};
    return k->compile(c, &site, base + k->field);
}
