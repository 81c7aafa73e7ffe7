/* schema_resource.c -- what pieces of schemas are called.
 *
 * A resource is a document, or a piece of one that has an "$id" of its own. It has a URI, by which
 * references find it, anchors, which are names within it, and a dialect: the vocabularies that
 * "$schema" asks for. All that is read here, before any other keyword of the piece. */
#include "json/schema_impl.h"

#define MAX_ANCHOR_BYTES 255u

/* A URI and the resource it names; a resource may have two names. */
typedef struct name {
    valise_str uri;
    vls_schema_resource *resource;
} name;

typedef struct anchor_key {
    const vls_schema_resource *home;
    valise_str name;
} anchor_key;

static bool name_equal(const void *item, const void *key)
{
    return vls_str_equal(((const name *)item)->uri, *(const valise_str *)key);
}

static bool anchor_equal(const void *item, const void *key)
{
    const vls_schema_anchor *anchor = item;
    const anchor_key *wanted = key;

    return anchor->home == wanted->home && vls_str_equal(anchor->name, wanted->name);
}

static bool node_equal(const void *item, const void *key)
{
    return ((const vls_schema_node *)item)->value == key;
}

void vls_schema_maps_init(vls_schema_compiler *c, const valise_env *env)
{
    vls_map_init(&c->resources, env, name_equal);
    vls_map_init(&c->anchors, env, anchor_equal);
    vls_map_init(&c->nodes, env, node_equal);
}

static uint64_t hash_anchor(const vls_schema_compiler *c, const vls_schema_resource *home,
                            valise_str text)
{
    return vls_str_hash(text, c->schema->seed ^ (uint64_t)(uintptr_t)home);
}

const vls_schema_resource *vls_schema_find_resource(const vls_schema_compiler *c, valise_str uri)
{
    const name *n = vls_map_get(&c->resources, vls_str_hash(uri, c->schema->seed), &uri);

    return n ? n->resource : NULL;
}

static int add_name(vls_schema_compiler *c, valise_str uri, vls_schema_resource *resource)
{
    name *n = vls_arena_alloc(&c->schema->arena, sizeof(*n));

    if (!n)
        return vls_arena_fail(&c->schema->arena, c->err);
    *n = (name){uri, resource};
    if (vls_map_put(NULL, &c->resources, vls_str_hash(uri, c->schema->seed), &n->uri, n) < 0)
        return vls_fail_memory(c->err);
    return 0;
}

/* Two pieces with one "$id" are fine as long as they are the same piece, as when bundles that
 * contain it meet; the first then has the name. */
static int name_resource(vls_schema_compiler *c, vls_schema_node *node, valise_str uri)
{
    const vls_schema_resource *other = vls_schema_find_resource(c, uri);
    const vls_json *id = vls_json_get(*node->value, VLS_STR("$id"));
    vls_schema_site site = {node, VLS_STR("$id"), id};

    if (!other)
        return add_name(c, uri, node->home);
    if (other == node->home || vls_json_equal(*other->root->value, *node->value))
        return 0;
    return vls_schema_refuse(c, &site, VALISE_E_INVALID, "\"%.*s\" names two different schemas",
                             VALISE_STR_ARG(uri));
}

static int check_dialect(vls_schema_compiler *c, vls_schema_node *node)
{
    const vls_json *value = vls_json_get(*node->value, VLS_STR("$schema"));
    vls_schema_site site = {node, VLS_STR("$schema"), value};

    if (!value)
        return 0;
    if (value->type != VLS_JSON_STRING)
        return vls_schema_refuse_value(c, &site, "must be a string");
    valise_str uri = vls_json_str(*value);
    if (vls_str_ends(uri, VLS_STR("#")))
        uri.len--;
    if (vls_str_equal(uri, VLS_STR("https://json-schema.org/draft/2020-12/schema")))
        return 0;
    int rc = vls_schema_refuse(c, &site, VALISE_E_UNSUPPORTED, "\"%.*s\" is not draft 2020-12",
                               VALISE_STR_ARG(uri));
    vls_hint(c->err, "use https://json-schema.org/draft/2020-12/schema");
    return rc;
}

/* The URI of a resource: its "$id" seen from base. */
static int read_id(valise_str *out, vls_schema_compiler *c, vls_schema_node *node, valise_str base)
{
    const vls_json *value = vls_json_get(*node->value, VLS_STR("$id"));
    vls_schema_site site = {node, VLS_STR("$id"), value};

    if (!value) {
        *out = base;
        return 0;
    }
    if (value->type != VLS_JSON_STRING)
        return vls_schema_refuse_value(c, &site, "must be a string");
    valise_str id = vls_json_str(*value);
    if (vls_str_find_byte(id, '#') + 1 < id.len)
        return vls_schema_refuse_value(c, &site, "must be a URI reference without fragment");
    vls_buf_clear(&c->uri);
    vls_uri_resolve(&c->uri, base, id);
    if (c->uri.failed == VALISE_E_TOO_LARGE)
        return vls_schema_refuse(c, &site, VALISE_E_LIMIT, "is longer than %u bytes",
                                 VLS_URI_MAX_BYTES);
    int rc = vls_buf_check(&c->uri, c->err);
    return rc < 0 ? rc : vls_arena_dup(out, &c->schema->arena, vls_buf_str(&c->uri), c->err);
}

int vls_schema_enter_resource(vls_schema_compiler *c, vls_schema_node *node,
                              valise_str document_uri)
{
    const vls_schema_resource *outer = node->parent ? node->parent->home : NULL;
    vls_schema_resource *home = vls_arena_alloc(&c->schema->arena, sizeof(*home));
    valise_str base = outer ? outer->uri : document_uri;
    int rc;

    if (!home)
        return vls_arena_fail(&c->schema->arena, c->err);
    *home = (vls_schema_resource){
        .document_uri = outer ? outer->document_uri : base,
        .root = node,
    };
    node->home = home;
    rc = read_id(&home->uri, c, node, base);
    if (rc < 0)
        return rc;
    if (!outer && base.len == 0)
        home->document_uri = home->uri;
    if (!outer && base.len > 0 && !vls_schema_find_resource(c, base)) {
        rc = add_name(c, base, home);
        if (rc < 0)
            return rc;
    }
    rc = name_resource(c, node, home->uri);
    return rc < 0 ? rc : check_dialect(c, node);
}

static bool is_anchor_name(valise_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char ch = s.ptr[i];
        bool letter = vls_is_letter(ch) || ch == '_';
        if (!letter && (i == 0 || !((ch >= '0' && ch <= '9') || ch == '-' || ch == '.')))
            return false;
    }
    return s.len > 0;
}

static int add_anchor(vls_schema_compiler *c, vls_schema_node *node, valise_str keyword,
                      bool dynamic)
{
    const vls_json *value = vls_json_get(*node->value, keyword);
    vls_schema_site site = {node, keyword, value};
    vls_schema_resource *home = node->home;

    if (!value)
        return 0;
    if (value->type != VLS_JSON_STRING || !is_anchor_name(vls_json_str(*value)))
        return vls_schema_refuse_value(c, &site,
                                       "must be a letter or \"_\" and then letters, digits, "
                                       "\"-\", \".\" or \"_\"");
    if (value->len > MAX_ANCHOR_BYTES)
        return vls_schema_refuse(c, &site, VALISE_E_LIMIT, "is longer than %u bytes",
                                 MAX_ANCHOR_BYTES);
    anchor_key key = {home, vls_json_str(*value)};
    uint64_t hash = hash_anchor(c, home, key.name);
    vls_schema_anchor *anchor = vls_map_get(&c->anchors, hash, &key);
    if (anchor && anchor->node != node)
        return vls_schema_refuse(c, &site, VALISE_E_INVALID,
                                 "\"%.*s\" is the anchor of two schemas", VALISE_STR_ARG(key.name));
    if (!anchor) {
        anchor = vls_arena_alloc(&c->schema->arena, sizeof(*anchor));
        if (!anchor)
            return vls_arena_fail(&c->schema->arena, c->err);
        *anchor = (vls_schema_anchor){.home = home, .name = key.name, .node = node};
        if (vls_map_put(NULL, &c->anchors, hash, &key, anchor) < 0)
            return vls_fail_memory(c->err);
    }
    if (dynamic) {
        anchor->dynamic = true;
        anchor->next = home->dynamic;
        home->dynamic = anchor;
    }
    return 0;
}

int vls_schema_add_anchors(vls_schema_compiler *c, vls_schema_node *node)
{
    int rc = add_anchor(c, node, VLS_STR("$anchor"), false);

    return rc < 0 ? rc : add_anchor(c, node, VLS_STR("$dynamicAnchor"), true);
}

const vls_schema_anchor *vls_schema_find_anchor(const vls_schema_compiler *c,
                                                const vls_schema_resource *home, valise_str text)
{
    anchor_key key = {home, text};

    return vls_map_get(&c->anchors, hash_anchor(c, home, text), &key);
}
