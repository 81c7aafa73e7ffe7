/* schema_ref.c -- what references lead to.
 *
 * A reference is a URI, resolved against that of its resource, and a fragment:
 *
 *     other.json#/$defs/turn     JSON Pointer from the resource's top
 *     other.json#turn            anchor
 *     other.json                 the resource itself
 *
 * The URI names a resource that was met already, or a metaschema.
 * References wait in c->pending until the document they are in has been walked, because they may
 * lead forward. Following one may load a metaschema or compile a place nobody took for a schema so
 * far, which may add to the list; it ends because metaschemas are finitely many. */
#include "json/schema_impl.h"

#include "json/pointer.h"

static int leads_nowhere(vls_schema_compiler *c, const vls_schema_site *site, const char *why)
{
    return vls_schema_refuse(c, site, VALISE_E_INVALID, "\"%.*s\" leads nowhere: %s",
                             VALISE_STR_ARG(vls_json_str(*site->value)), why);
}

/* Load the metaschema whose URI is in c->uri. */
static int load_resource(const vls_schema_resource **out, vls_schema_compiler *c,
                         const vls_schema_site *site)
{
    vls_arena *arena = &c->schema->arena;
    vls_json *value = vls_arena_alloc(arena, sizeof(*value));
    const vls_schema_node *top;
    valise_str uri;
    bool found;
    int rc;

    if (!value)
        return vls_arena_fail(arena, c->err);
    rc = vls_schema_meta_load(&found, value, arena, vls_buf_str(&c->uri), c->err);
    if (rc < 0)
        return rc;
    if (!found) {
        rc = leads_nowhere(c, site, "there is no such document here");
        vls_hint(c->err,
                 "put it under \"$defs\" with \"%.*s\" as its \"$id\"; schemas are never fetched",
                 VALISE_STR_ARG(vls_buf_str(&c->uri)));
        return rc;
    }
    rc = vls_arena_dup(&uri, arena, vls_buf_str(&c->uri), c->err);
    if (rc == 0)
        rc = vls_schema_add_node(&top, c, NULL, (vls_schema_step){.index = -1}, value, uri);
    if (rc == 0)
        *out = top->home;
    return rc;
}

/* The resource that a reference, which is not empty, names. */
static int reach_resource(const vls_schema_resource **out, vls_schema_compiler *c,
                          const vls_schema_site *site, valise_str reference)
{
    const vls_schema_resource *known;
    int rc;

    vls_buf_clear(&c->uri);
    vls_uri_resolve(&c->uri, site->node->home->uri, reference);
    if (c->uri.failed == VALISE_E_TOO_LARGE)
        return vls_schema_refuse(c, site, VALISE_E_LIMIT, "is longer than %u bytes",
                                 VLS_URI_MAX_BYTES);
    rc = vls_buf_check(&c->uri, c->err);
    if (rc < 0)
        return rc;
    known = vls_schema_find_resource(c, vls_buf_str(&c->uri));
    if (!known)
        return load_resource(out, c, site);
    *out = known;
    return 0;
}

/* Follow a JSON Pointer from the top of a resource. What it leads to need not be known as a
 * schema yet: a place under a keyword nobody knows becomes one by being referred to. */
static int reach_pointer(const vls_schema_node **out, vls_schema_compiler *c,
                         const vls_schema_site *site, const vls_schema_resource *resource,
                         valise_str text)
{
    const vls_schema_node *known = resource->root;
    const vls_json *value = known->value;
    size_t known_len = 0, at;
    vls_pointer pointer;
    int rc;

    rc = vls_pointer_parse(&pointer, &c->schema->arena, text, c->err);
    if (rc == VALISE_E_INVALID || rc == VALISE_E_LIMIT)
        return leads_nowhere(c, site, "its JSON Pointer is malformed or too long");
    for (size_t i = 0; rc == 0 && i < pointer.count; i++) {
        if (vls_pointer_find(&at, *value, &pointer, i, NULL) < 0)
            return leads_nowhere(c, site, "there is nothing at that place");
        value = value->type == VLS_JSON_OBJECT ? &value->members[at].value : &value->items[at];
        const vls_schema_node *node = vls_schema_find_node(c, value);
        if (node) {
            known = node;
            known_len = vls_pointer_head(&pointer, i + 1).len;
        }
    }
    if (rc < 0)
        return rc;
    if (known_len == text.len) {
        *out = known;
        return 0;
    }
    vls_schema_step step = {.raw = vls_str_from(text, known_len + 1), .index = -1};
    return vls_schema_add_node(out, c, known, step, value, (valise_str){NULL, 0});
}

static int reach_anchor(vls_schema_ref *out, vls_schema_compiler *c, const vls_schema_site *site,
                        const vls_schema_resource *resource, valise_str text)
{
    const vls_schema_anchor *anchor = vls_schema_find_anchor(c, resource, text);

    if (!anchor)
        return leads_nowhere(c, site, "there is no such anchor");
    out->node = anchor->node;
    if (anchor->dynamic && vls_str_equal(site->keyword, VLS_STR("$dynamicRef")))
        out->dynamic = anchor->name;
    return 0;
}

static int follow(vls_schema_compiler *c, const vls_schema_pending *pending)
{
    const vls_schema_site *site = &pending->site;
    const vls_schema_resource *resource = site->node->home;
    valise_str uri, fragment;
    int rc = 0;

    vls_str_cut(&uri, &fragment, vls_json_str(*site->value), '#');
    if (uri.len > 0)
        rc = reach_resource(&resource, c, site, uri);
    if (rc < 0)
        return rc;
    vls_buf_clear(&c->text);
    if (!vls_uri_decode(&c->text, fragment))
        return leads_nowhere(c, site, "a \"%\" in it is malformed");
    rc = vls_buf_check(&c->text, c->err);
    if (rc == 0)
        rc = vls_arena_dup(&fragment, &c->schema->arena, vls_buf_str(&c->text), c->err);
    if (rc < 0)
        return rc;
    if (fragment.len > 0 && fragment.ptr[0] != '/')
        return reach_anchor(pending->ref, c, site, resource, fragment);
    return reach_pointer(&pending->ref->node, c, site, resource, fragment);
}

int vls_schema_resolve_pending(vls_schema_compiler *c)
{
    for (size_t i = 0; i < c->pending.len; i++) {
        vls_schema_pending pending = c->pending.ptr[i]; /* the list may move meanwhile */
        int rc = follow(c, &pending);
        if (rc < 0)
            return rc;
    }
    return 0;
}
