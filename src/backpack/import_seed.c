/* import_seed.c -- the shape of the first specification:
 *
 *     {"items":       [[key, {"key", "value", "metadata": {"sourceNodeId", "sourceNodeName",
 *                             "sourceNamespace", "timestamp" (ms), "version", "tags"}}], ...],
 *      "history":     [...],
 *      "permissions": {node: {"read", "write", "deny", "namespaceRead", "namespaceWrite"}, ...}}
 *
 * Each item becomes an IMPORT commit, in the order of their times. The history of that shape has
 * neither the values nor the state that it starts with, so no state could be made from it: it must
 * be a list, and is not read. Members nobody knows are left alone. */
#include "backpack/import.h"

#include "field/field.h"

typedef struct item {
    size_t index; /* in the list: the second key of the order */
    valise_commit *commit;
} item;

static int fail_type(const char *member, const char *type, vls_json v, valise_error *err)
{
    if (v.type == VLS_JSON_INT)
        (void)vls_fail(err, VALISE_E_INVALID, "must be %s, is %lld", type, (long long)v.integer);
    else
        (void)vls_fail(err, VALISE_E_INVALID, "must be %s, is %s", type, vls_json_type_name(v));
    vls_error_prepend(err, "%s", member);
    return VALISE_E_INVALID;
}

static int get_text(valise_str *out, vls_json object, const char *member, valise_error *err)
{
    const vls_json *v = vls_json_get(object, valise_str_of(member));

    if (!v || v->type == VLS_JSON_NULL)
        return 0;
    if (v->type != VLS_JSON_STRING)
        return fail_type(member, "a string", *v, err);
    *out = vls_json_str(*v);
    return 0;
}

static int get_tags(valise_list *out, vls_import *in, vls_json metadata, valise_error *err)
{
    const vls_json *v = vls_json_get(metadata, VLS_STR("tags"));
    valise_str *tags;

    if (!v || v->type == VLS_JSON_NULL)
        return 0;
    if (v->type != VLS_JSON_ARRAY)
        return fail_type("tags", "an array", *v, err);
    tags = vls_arena_array(&in->arena, v->len + 1u, sizeof(*tags));
    if (!tags)
        return vls_arena_fail(&in->arena, err);
    for (uint32_t i = 0; i < v->len; i++) {
        if (v->items[i].type != VLS_JSON_STRING)
            return fail_type("tags", "an array of strings", *v, err);
        tags[i] = vls_json_str(v->items[i]);
    }
    return vls_bag_sort_names(out, (valise_list){tags, v->len}, &in->arena, err);
}

static int get_numbers(valise_commit *c, const vls_import *in, vls_json metadata, valise_error *err)
{
    const vls_json *time = vls_json_get(metadata, VLS_STR("timestamp"));
    const vls_json *version = vls_json_get(metadata, VLS_STR("version"));

    c->time = in->now;
    if (time && (time->type != VLS_JSON_INT ||
                 __builtin_mul_overflow(time->integer, INT64_C(1000000), &c->time)))
        return fail_type("timestamp", "a number of milliseconds", *time, err);
    c->version = 1;
    if (version && (version->type != VLS_JSON_INT || version->integer < 1))
        return fail_type("version", "a number from 1 on", *version, err);
    if (version)
        c->version = version->integer;
    return 0;
}

static int read_metadata(valise_commit *c, vls_import *in, vls_json metadata, valise_error *err)
{
    int rc = 0;

    c->node_id = c->node_name = VLS_STR("unknown");
    if (metadata.type != VLS_JSON_OBJECT)
        rc = fail_type("", "an object", metadata, err);
    if (rc == 0)
        rc = get_text(&c->node_id, metadata, "sourceNodeId", err);
    if (rc == 0)
        rc = get_text(&c->node_name, metadata, "sourceNodeName", err);
    if (rc == 0)
        rc = get_text(&c->namespace_name, metadata, "sourceNamespace", err);
    if (rc == 0)
        rc = get_tags(&c->tags, in, metadata, err);
    if (rc == 0)
        rc = get_numbers(c, in, metadata, err);
    if (rc < 0)
        vls_error_prepend(err, "[1].metadata");
    return rc;
}

static int read_item(valise_commit *c, vls_import *in, vls_json pair, valise_error *err)
{
    const vls_json *value, *metadata;
    int rc;

    if (pair.type != VLS_JSON_ARRAY || pair.len != 2 || pair.items[0].type != VLS_JSON_STRING ||
        pair.items[1].type != VLS_JSON_OBJECT)
        return vls_fail(err, VALISE_E_INVALID, "must be a pair of a key and an item");
    value = vls_json_get(pair.items[1], VLS_STR("value"));
    metadata = vls_json_get(pair.items[1], VLS_STR("metadata"));
    if (!value || !metadata)
        return vls_fail(err, VALISE_E_INVALID, "an item has a value and metadata");
    c->action = VALISE_ACTION_IMPORT;
    c->key = vls_json_str(pair.items[0]);
    rc = read_metadata(c, in, *metadata, err);
    if (rc == 0)
        rc = vls_import_add(&c->value, &c->value_size, in, *value, err);
    if (rc < 0)
        return rc;
    c->summary =
        vls_commit_summary(vls_blob_bytes(in->values.ptr[in->values.len - 1].blob), c->tags);
    return 0;
}

static int compare_items(const void *a, const void *b)
{
    const item *x = a, *y = b;

    if (x->commit->time != y->commit->time)
        return x->commit->time < y->commit->time ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static int read_items(vls_import *in, vls_json items, valise_error *err)
{
    item *list;
    const valise_commit **commits;
    size_t *order;
    int rc = 0;

    if (items.len > VLS_DOCUMENT_ITEMS_MAX)
        return vls_fail(err, VALISE_E_LIMIT, "%u items: %d are allowed", items.len,
                        VLS_DOCUMENT_ITEMS_MAX);
    list = vls_arena_array(&in->arena, items.len + 1u, sizeof(*list));
    commits = vls_arena_array(&in->arena, items.len + 1u, sizeof(*commits));
    order = vls_arena_array(&in->arena, items.len + 1u, sizeof(*order));
    if (!list || !commits || !order)
        return vls_arena_fail(&in->arena, err);
    for (uint32_t i = 0; i < items.len && rc == 0; i++) {
        list[i] = (item){i, vls_arena_zalloc(&in->arena, sizeof(valise_commit))};
        rc = list[i].commit ? read_item(list[i].commit, in, items.items[i], err)
                            : vls_arena_fail(&in->arena, err);
        if (rc < 0)
            vls_error_prepend(err, "[%u]", i);
    }
    if (rc < 0) {
        vls_error_prepend(err, "items");
        return rc;
    }
    qsort(list, items.len, sizeof(*list), compare_items);
    for (uint32_t i = 0; i < items.len; i++) {
        list[i].commit->seq = (int64_t)i + 1;
        commits[i] = list[i].commit;
        order[i] = list[i].index;
    }
    in->doc.history = (valise_list){commits, items.len};
    in->order = order;
    return 0;
}

static int compare_permissions(const void *a, const void *b)
{
    return vls_str_compare((*(const vls_permission_row *const *)a)->node_id,
                           (*(const vls_permission_row *const *)b)->node_id);
}

/* {node: {read, ...}}: a record of each, which the table of permissions then reads. */
static int read_permissions(vls_import *in, vls_json v, valise_error *err)
{
    const vls_permission_row **rows = vls_arena_array(&in->arena, v.len + 1u, sizeof(*rows));
    int rc = 0;

    if (!rows)
        return vls_arena_fail(&in->arena, err);
    for (uint32_t i = 0; i < v.len && rc == 0; i++) {
        vls_permission_row *row = vls_arena_zalloc(&in->arena, sizeof(*row));
        if (!row)
            return vls_arena_fail(&in->arena, err);
        /* The node stands in front: fields from the one behind it on. */
        rc = vls_fields_decode(row, vls_permission_fields + 2, sizeof(*row), v.members[i].value,
                               VLS_FIELD_INPUT, &in->arena, err);
        row->node_id = vls_json_str(v.members[i].key);
        rows[i] = row;
        if (rc < 0)
            vls_error_prepend(err, "permissions.%.*s",
                              VALISE_STR_ARG(vls_str_head(row->node_id, 64)));
    }
    if (rc == 0)
        qsort(rows, v.len, sizeof(*rows), compare_permissions);
    in->doc.permissions = (valise_list){rows, v.len};
    return rc;
}

int vls_import_seed(vls_import *in, vls_json v, valise_error *err)
{
    const vls_json *items = vls_json_get(v, VLS_STR("items"));
    const vls_json *history = vls_json_get(v, VLS_STR("history"));
    const vls_json *permissions = vls_json_get(v, VLS_STR("permissions"));
    int rc;

    if (!items)
        return vls_fail(err, VALISE_E_INVALID, "neither 'format' nor 'items': this is no backpack");
    if (items->type != VLS_JSON_ARRAY)
        return fail_type("items", "an array", *items, err);
    if (history && history->type != VLS_JSON_ARRAY)
        return fail_type("history", "an array", *history, err);
    if (permissions && permissions->type != VLS_JSON_OBJECT)
        return fail_type("permissions", "an object", *permissions, err);
    rc = read_items(in, *items, err);
    return rc == 0 && permissions ? read_permissions(in, *permissions, err) : rc;
}
