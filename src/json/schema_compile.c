/* schema_compile.c -- a JSON value becomes a tree of nodes.
 *
 * Three rounds: copy the value, so that the result depends on nobody; walk it, making a node of
 * everything that stands where a schema may stand; then find what the references lead to, which
 * may bring in metaschemas and walk those. Any failure frees all of it. */
#include <stdarg.h>

#include "json/schema_impl.h"

#include "base/mem.h"

#define MAX_MESSAGE ((size_t)1 << 20)

/* ---- messages ---- */

/* "file.json#/properties/a/type", without the document for the one that is being compiled. */
static void add_place(vls_schema_compiler *c, const vls_schema_site *site)
{
    const vls_schema_node *node = site->node;
    valise_str document = node->home->document_uri;

    vls_buf_clear(&c->text);
    if (!vls_str_equal(document, c->schema->root->home->document_uri)) {
        vls_buf_add(&c->text, document);
        vls_buf_add_byte(&c->text, '#');
    }
    vls_schema_place(&c->text, node);
    if (site->keyword.len > 0) {
        vls_buf_add_byte(&c->text, '/');
        vls_buf_add(&c->text, site->keyword);
    }
    if (c->text.len == 0)
        vls_buf_add(&c->text, VLS_STR("(root)"));
}

int vls_schema_refuse(vls_schema_compiler *c, const vls_schema_site *site, int code,
                      const char *format, ...)
{
    va_list args;
    int rc;

    add_place(c, site);
    vls_buf_add(&c->text, VLS_STR(": "));
    va_start(args, format);
    vls_buf_vprintf(&c->text, format, args);
    va_end(args);
    rc = vls_buf_check(&c->text, c->err);
    if (rc < 0)
        return rc;
    return vls_fail(c->err, code, "%.*s", VALISE_STR_ARG(vls_buf_str(&c->text)));
}

int vls_schema_refuse_value(vls_schema_compiler *c, const vls_schema_site *site, const char *must)
{
    int rc;

    add_place(c, site);
    vls_buf_printf(&c->text, ": %s, is ", must);
    vls_schema_describe(&c->text, *site->value);
    rc = vls_buf_check(&c->text, c->err);
    if (rc < 0)
        return rc;
    return vls_fail(c->err, VALISE_E_INVALID, "%.*s", VALISE_STR_ARG(vls_buf_str(&c->text)));
}

/* ---- nodes ---- */

static uint64_t hash_address(const vls_schema_compiler *c, const vls_json *value)
{
    return vls_str_hash(vls_str(&value, sizeof(value)), c->schema->seed);
}

const vls_schema_node *vls_schema_find_node(const vls_schema_compiler *c, const vls_json *value)
{
    return vls_map_get(&c->nodes, hash_address(c, value), value);
}

/* Names first: keywords inside may refer to them. */
static int fill_node(vls_schema_compiler *c, vls_schema_node *node, valise_str document_uri)
{
    vls_json value = *node->value;
    vls_schema_site site = {.node = node, .value = node->value};
    int rc = 0;

    if (!node->parent || vls_json_get(value, VLS_STR("$id")))
        rc = vls_schema_enter_resource(c, node, document_uri);
    else
        node->home = node->parent->home;
    if (rc < 0)
        return rc;
    if (value.type == VLS_JSON_BOOL) {
        node->kind = value.truth ? VLS_SCHEMA_TRUE : VLS_SCHEMA_FALSE;
        return 0;
    }
    if (value.type != VLS_JSON_OBJECT)
        return vls_schema_refuse_value(c, &site, "a schema must be an object or a boolean");
    rc = vls_schema_add_anchors(c, node);
    for (uint32_t i = 0; rc == 0 && i < value.len; i++)
        rc = vls_schema_add_keyword(c, node, &value.members[i]);
    return rc;
}

int vls_schema_add_node(const vls_schema_node **out, vls_schema_compiler *c,
                        const vls_schema_node *parent, vls_schema_step step, const vls_json *value,
                        valise_str document_uri)
{
    const vls_schema_node *known = vls_schema_find_node(c, value);
    vls_schema_node *node;
    int rc;

    if (known) {
        *out = known;
        return 0;
    }
    node = vls_arena_zalloc(&c->schema->arena, sizeof(*node));
    if (!node)
        return vls_arena_fail(&c->schema->arena, c->err);
    node->value = value;
    node->parent = parent;
    node->step = step;
    if (vls_map_put(NULL, &c->nodes, hash_address(c, value), value, node) < 0)
        return vls_fail_memory(c->err);
    if (!c->schema->root)
        c->schema->root = node;
    /* Values that were copied or parsed are no deeper, and each level of nodes is one of those. */
    assert(c->depth <= VLS_JSON_MAX_DEPTH);
    c->depth++;
    rc = fill_node(c, node, document_uri);
    c->depth--;
    if (rc == 0)
        *out = node;
    return rc;
}

/* ---- the whole ---- */

static void compiler_release(vls_schema_compiler *c)
{
    const valise_env *env = c->schema->env;

    vls_map_release(&c->resources);
    vls_map_release(&c->anchors);
    vls_map_release(&c->nodes);
    vls_vec_release(&c->pending, env);
    vls_buf_release(&c->uri);
    vls_buf_release(&c->text);
}

static int compile_into(vls_schema *schema, vls_json value, valise_error *err)
{
    vls_schema_compiler c = {.schema = schema, .err = err};
    vls_schema_step nowhere = {.index = -1};
    const vls_schema_node *root;
    vls_json *copy;
    int rc;

    copy = vls_arena_alloc(&schema->arena, sizeof(*copy));
    if (!copy)
        return vls_arena_fail(&schema->arena, err);
    rc = vls_json_copy(copy, &schema->arena, value, err);
    if (rc < 0)
        return rc;
    vls_schema_maps_init(&c, schema->env);
    vls_buf_init(&c.uri, schema->env, VLS_URI_MAX_BYTES);
    vls_buf_init(&c.text, schema->env, MAX_MESSAGE);
    rc = vls_schema_add_node(&root, &c, NULL, nowhere, copy, (valise_str){NULL, 0});
    if (rc == 0)
        rc = vls_schema_resolve_pending(&c);
    compiler_release(&c);
    return rc;
}

static vls_schema_limits fill_limits(const vls_schema_limits *given)
{
    vls_schema_limits limits = given ? *given : (vls_schema_limits){0};

    if (limits.max_steps == 0)
        limits.max_steps = VLS_SCHEMA_MAX_STEPS;
    if (limits.max_depth == 0 || limits.max_depth > VLS_SCHEMA_MAX_DEPTH)
        limits.max_depth = VLS_SCHEMA_MAX_DEPTH;
    if (limits.max_bytes == 0)
        limits.max_bytes = VLS_SCHEMA_MAX_BYTES;
    return limits;
}

int vls_schema_compile(vls_schema **out, const valise_env *env, vls_json value,
                       const vls_schema_limits *limits, valise_error *err)
{
    VLS_AUTO(schema) vls_schema *schema = vls_mem_zalloc(env, sizeof(*schema));
    int rc;

    if (!schema)
        return vls_fail_memory(err);
    schema->env = env;
    schema->limits = fill_limits(limits);
    /* An address is as good as a random number here: nobody outside knows it. */
    schema->seed = vls_str_hash(vls_str(&schema, sizeof(schema)), 1);
    vls_arena_init(&schema->arena, env, schema->limits.max_bytes);
    vls_pattern_pool_init(&schema->patterns, env);
    rc = compile_into(schema, value, err);
    if (rc == 0)
        *out = VLS_TAKE(schema);
    return rc;
}

void vls_schema_free(vls_schema *schema)
{
    if (!schema)
        return;
    vls_pattern_pool_release(&schema->patterns);
    vls_arena_release(&schema->arena);
    vls_mem_free(schema->env, schema, sizeof(*schema));
}
