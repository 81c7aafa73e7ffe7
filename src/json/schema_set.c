/* schema_set.c -- documents by the URIs they are known under. */
#include "json/schema_impl.h"

#include "base/mem.h"

typedef struct entry {
    valise_str uri;
    const vls_json *document;
} entry;

struct vls_schema_set {
    const valise_env *env;
    vls_arena arena;
    vls_map entries; /* by URI */
    uint64_t seed;
};

static bool has_uri(const void *item, const void *key)
{
    const entry *e = item;

    return vls_str_equal(e->uri, *(const valise_str *)key);
}

int vls_schema_set_new(vls_schema_set **out, const valise_env *env, size_t max_bytes,
                       valise_error *err)
{
    vls_schema_set *set = vls_mem_zalloc(env, sizeof(*set));

    if (!set)
        return vls_fail_memory(err);
    set->env = env;
    /* An address is as good as a random number here: nobody outside knows it. */
    set->seed = vls_str_hash(vls_str(&set, sizeof(set)), 0);
    vls_arena_init(&set->arena, env, max_bytes ? max_bytes : VLS_SCHEMA_MAX_BYTES);
    vls_map_init(&set->entries, env, has_uri);
    *out = set;
    return 0;
}

void vls_schema_set_free(vls_schema_set *set)
{
    if (!set)
        return;
    vls_map_release(&set->entries);
    vls_arena_release(&set->arena);
    vls_mem_free(set->env, set, sizeof(*set));
}

const vls_json *vls_schema_set_find(const vls_schema_set *set, valise_str uri)
{
    const entry *e = set ? vls_map_get(&set->entries, vls_str_hash(uri, set->seed), &uri) : NULL;

    return e ? e->document : NULL;
}

/* A URI without the "#" it may end in. */
static valise_str without_empty_fragment(valise_str uri)
{
    return uri.len > 0 && uri.ptr[uri.len - 1] == '#' ? vls_str_head(uri, uri.len - 1) : uri;
}

static int check_name(const vls_schema_set *set, valise_str uri, valise_error *err)
{
    if (vls_str_find_byte(uri, '#') < uri.len)
        return vls_fail(err, VALISE_E_INVALID, "schema \"%.*s\": a name cannot have a fragment",
                        VALISE_STR_ARG(uri));
    if (uri.len > VLS_URI_MAX_BYTES)
        return vls_fail(err, VALISE_E_LIMIT, "the name of a schema is longer than %u bytes",
                        VLS_URI_MAX_BYTES);
    if (vls_schema_set_find(set, uri))
        return vls_fail(err, VALISE_E_EXISTS, "schema \"%.*s\" is in the set already",
                        VALISE_STR_ARG(uri));
    return 0;
}

static int add_entry(vls_schema_set *set, valise_str uri, const vls_json *document,
                     valise_error *err)
{
    entry *e = vls_arena_alloc(&set->arena, sizeof(*e));
    int rc;

    if (!e)
        return vls_arena_fail(&set->arena, err);
    rc = vls_arena_dup(&e->uri, &set->arena, uri, err);
    if (rc < 0)
        return rc;
    e->document = document;
    /* There is room: see vls_schema_set_add. */
    rc = vls_map_put(NULL, &set->entries, vls_str_hash(uri, set->seed), &e->uri, e);
    return rc < 0 ? vls_fail_memory(err) : 0;
}

/* Copy the document in and enter it under one or two names. */
static int add_copy(vls_schema_set *set, valise_str uri, valise_str id, vls_json document,
                    valise_error *err)
{
    vls_json *copy = vls_arena_alloc(&set->arena, sizeof(*copy));
    int rc;

    if (!copy)
        return vls_arena_fail(&set->arena, err);
    rc = vls_json_copy(copy, &set->arena, document, err);
    if (rc == 0 && uri.len > 0)
        rc = add_entry(set, uri, copy, err);
    if (rc == 0 && id.len > 0 && !vls_str_equal(id, uri)) {
        rc = add_entry(set, id, copy, err);
        if (rc < 0 && uri.len > 0)
            vls_map_remove(&set->entries, vls_str_hash(uri, set->seed), &uri);
    }
    return rc;
}

int vls_schema_set_add(vls_schema_set *set, valise_str uri, vls_json document, valise_error *err)
{
    VLS_AUTO(buf) vls_buf resolved = {0};
    const vls_json *id_value = vls_json_get(document, VLS_STR("$id"));
    valise_str id = {NULL, 0};
    vls_arena_mark mark;
    int rc;

    vls_buf_init(&resolved, set->env, VLS_URI_MAX_BYTES);
    uri = without_empty_fragment(uri);
    if (id_value && id_value->type == VLS_JSON_STRING) {
        vls_uri_resolve(&resolved, uri, vls_json_str(*id_value));
        rc = vls_buf_check(&resolved, err);
        if (rc < 0)
            return rc;
        id = vls_buf_str(&resolved);
    }
    if (uri.len == 0 && id.len == 0)
        return vls_fail(err, VALISE_E_INVALID, "a schema needs a URI or an \"$id\"");
    rc = check_name(set, uri.len > 0 ? uri : id, err);
    if (rc == 0 && id.len > 0 && !vls_str_equal(id, uri))
        rc = check_name(set, id, err);
    if (rc == 0 && vls_map_reserve(&set->entries, set->entries.len + 2) < 0)
        rc = vls_fail_memory(err);
    if (rc < 0)
        return rc;

    mark = vls_arena_here(&set->arena);
    rc = add_copy(set, uri, id, document, err);
    if (rc < 0)
        vls_arena_rewind(&set->arena, mark);
    return rc;
}
