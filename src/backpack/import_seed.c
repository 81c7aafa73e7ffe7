/* import_seed.c -- the shape of the first specification:
 *
 *     {"items":       [[key, {"key", "value", "metadata": {"sourceNodeId", "sourceNodeName",
 *                             "sourceNamespace", "timestamp" (ms), "version", "tags"}}], ...],
 *      "history":     [{"timestamp" (ms), "nodeId", "action": "pack", "delete", "unpack", "key",
 *                       "newValue", "metadata"}, ...],
 *      "permissions": {node: {"read", "write", "deny", "namespaceRead", "namespaceWrite"}, ...}}
 *
 * The items are the state; each becomes an IMPORT commit. Of the history what leads to that state
 * becomes commits before them, all in the order of their times (docs/decisions.md, "The history of
 * the older shape"). Per key, from the newest entry back:
 *
 *     pack      with its value, and a version below that of what came later; where that is not the
 *               next one up, what comes later is an IMPORT
 *     delete    behind a pack that is taken
 *
 * The pack that made the item is the item. Of a key that is no item everything behind its last
 * delete is left out. Members nobody knows are left alone. */
#include "backpack/import.h"

#include "field/field.h"

/* What may become a commit. */
typedef struct step {
    vls_import_place place; /* the index is the last key of the order */
    bool is_item, left_out;
    valise_commit *commit;
    const valise_commit *before; /* the commit of the key before it; NULL: none */
} step;

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

static int get_time(int64_t *out, vls_json object, valise_error *err)
{
    const vls_json *time = vls_json_get(object, VLS_STR("timestamp"));

    if (time && (time->type != VLS_JSON_INT ||
                 __builtin_mul_overflow(time->integer, INT64_C(1000000), out)))
        return fail_type("timestamp", "a number of milliseconds", *time, err);
    return 0;
}

static int get_numbers(valise_commit *c, vls_json metadata, valise_error *err)
{
    const vls_json *version = vls_json_get(metadata, VLS_STR("version"));
    int rc = get_time(&c->time, metadata, err);

    if (rc < 0)
        return rc;
    if (version && (version->type != VLS_JSON_INT || version->integer < 1))
        return fail_type("version", "a number from 1 on", *version, err);
    if (version)
        c->version = version->integer;
    return 0;
}

static int read_metadata(valise_commit *c, vls_import *in, vls_json metadata, valise_error *err)
{
    int rc = 0;

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
        rc = get_numbers(c, metadata, err);
    if (rc < 0)
        vls_error_prepend(err, "metadata");
    return rc;
}

static valise_commit *new_commit(vls_import *in, int64_t action)
{
    valise_commit *c = vls_arena_zalloc(&in->arena, sizeof(*c));

    if (c)
        *c = (valise_commit){.action = action,
                             .time = in->now,
                             .node_id = VLS_STR("unknown"),
                             .node_name = VLS_STR("unknown")};
    return c;
}

static int add_value(valise_commit *c, vls_import *in, vls_json value, valise_error *err)
{
    int rc = vls_import_add(&c->value, &c->value_size, in, value, err);

    if (rc == 0)
        c->summary =
            vls_commit_summary(vls_blob_bytes(in->values.ptr[in->values.len - 1].blob), c->tags);
    return rc;
}

static int read_item(step *s, vls_import *in, vls_json pair, valise_error *err)
{
    valise_commit *c = new_commit(in, VALISE_ACTION_IMPORT);
    const vls_json *value, *metadata;
    int rc;

    if (!c)
        return vls_arena_fail(&in->arena, err);
    if (pair.type != VLS_JSON_ARRAY || pair.len != 2 || pair.items[0].type != VLS_JSON_STRING ||
        pair.items[1].type != VLS_JSON_OBJECT)
        return vls_fail(err, VALISE_E_INVALID, "must be a pair of a key and an item");
    value = vls_json_get(pair.items[1], VLS_STR("value"));
    metadata = vls_json_get(pair.items[1], VLS_STR("metadata"));
    if (!value || !metadata)
        return vls_fail(err, VALISE_E_INVALID, "an item must have a value and metadata");
    c->key = vls_json_str(pair.items[0]);
    c->version = 1;
    rc = read_metadata(c, in, *metadata, err);
    if (rc < 0)
        vls_error_prepend(err, "[1]");
    s->is_item = true;
    s->commit = c;
    return rc < 0 ? rc : add_value(c, in, *value, err);
}

/* ---- the history ---- */

/* What stands there where a value was too large. */
static bool is_value(const vls_json *v)
{
    return v && !(v->type == VLS_JSON_OBJECT &&
                  (vls_json_get(*v, VLS_STR("_type")) || vls_json_get(*v, VLS_STR("_ref")) ||
                   vls_json_get(*v, VLS_STR("_unavailable"))));
}

static int get_action(int64_t *out, vls_json entry, valise_error *err)
{
    static const struct {
        const char *name;
        int64_t action;
    } known[] = {{"pack", VALISE_ACTION_PACK},
                 {"delete", VALISE_ACTION_DELETE},
                 {"unpack", VALISE_ACTION_UNPACK}};
    valise_str name = {NULL, 0};
    int rc = get_text(&name, entry, "action", err);

    for (size_t i = 0; i < VLS_COUNT(known) && rc == 0; i++) {
        if (vls_str_equal(name, valise_str_of(known[i].name))) {
            *out = known[i].action;
            return 0;
        }
    }
    return rc < 0 ? rc
                  : vls_fail(err, VALISE_E_INVALID, "the action must be pack, delete or unpack");
}

/* Reads are no commits, and a pack without value or version leads to no state. */
static int read_entry(step *s, vls_import *in, vls_json entry, valise_error *err)
{
    const vls_json *metadata, *value;
    valise_commit *c = new_commit(in, VALISE_ACTION_PACK);
    int rc = 0;

    if (!c)
        return vls_arena_fail(&in->arena, err);
    if (entry.type != VLS_JSON_OBJECT)
        return vls_fail(err, VALISE_E_INVALID, "must be an object, not %s",
                        vls_json_type_name(entry));
    metadata = vls_json_get(entry, VLS_STR("metadata"));
    value = vls_json_get(entry, VLS_STR("newValue"));
    rc = get_action(&c->action, entry, err);
    if (rc == 0)
        rc = get_text(&c->key, entry, "key", err);
    if (rc == 0)
        rc = vls_bag_check_key(c->key, err);
    if (rc == 0 && metadata && metadata->type != VLS_JSON_NULL)
        rc = read_metadata(c, in, *metadata, err);
    if (rc == 0)
        rc = get_text(&c->node_id, entry, "nodeId", err);
    if (rc == 0)
        rc = get_time(&c->time, entry, err);
    s->commit = c;
    s->left_out = c->action == VALISE_ACTION_UNPACK ||
                  (c->action == VALISE_ACTION_PACK && (!is_value(value) || c->version == 0));
    if (rc == 0 && !s->left_out && c->action == VALISE_ACTION_PACK)
        rc = add_value(c, in, *value, err);
    return rc;
}

static int compare_places(const step *a, const step *b)
{
    if (a->commit->time != b->commit->time)
        return a->commit->time < b->commit->time ? -1 : 1;
    if (a->is_item != b->is_item)
        return a->is_item ? 1 : -1;
    return (a->place.index > b->place.index) - (a->place.index < b->place.index);
}

static int compare_steps(const void *a, const void *b)
{
    return compare_places(a, b);
}

static int compare_keys(const void *a, const void *b)
{
    int order = vls_str_compare(((const step *)a)->commit->key, ((const step *)b)->commit->key);

    return order ? order : compare_places(a, b);
}

/* A deletion has what the item that it took away had. */
static void take_away(valise_commit *gone, const valise_commit *item)
{
    gone->version = item->version;
    gone->namespace_name = item->namespace_name;
    gone->tags = item->tags;
}

static bool made_item(const valise_commit *pack, const valise_commit *item)
{
    return pack->version == item->version && pack->time == item->time &&
           memcmp(&pack->value, &item->value, sizeof(item->value)) == 0;
}

/* The steps of one key, in order: what leads to its item is taken. */
static void choose(step *steps, size_t count)
{
    valise_commit *item = NULL;
    step *gone = NULL; /* a deletion that waits for what it deletes */
    bool ended = false;
    int64_t next = INT64_MAX;

    for (size_t i = 0, last = count; i < count; i++) { /* nothing is later than the item */
        last = steps[i].is_item ? i : last;
        steps[i].left_out |= last < i;
    }
    for (size_t i = count; i-- > 0;) {
        step *s = &steps[i];
        valise_commit *c = s->commit;
        if (s->is_item) {
            item = item ? item : c;
            next = item->version;
            ended = true;
        } else if (s->left_out) {
            continue;
        } else if (c->action == VALISE_ACTION_DELETE) {
            s->left_out = gone != NULL;
            gone = gone ? gone : s;
        } else if (item && !gone && made_item(c, item)) {
            s->left_out = true;
            item->action = VALISE_ACTION_PACK;
        } else if ((!ended && !gone) || c->version >= next) {
            s->left_out = true;
        } else {
            next = c->version;
            ended = true;
            if (gone)
                take_away(gone->commit, c);
            gone = NULL;
        }
    }
    if (gone)
        gone->left_out = true;
}

/* Which comes after which. What does not count up by one came from elsewhere. */
static void link_up(step *steps, size_t count)
{
    const valise_commit *before = NULL;

    for (size_t i = 0; i < count; i++) {
        valise_commit *c = steps[i].commit;
        if (steps[i].left_out)
            continue;
        if (c->action == VALISE_ACTION_PACK && c->version != (before ? before->version : 0) + 1)
            c->action = VALISE_ACTION_IMPORT;
        steps[i].before = before;
        before = c;
    }
}

static void choose_all(step *steps, size_t count)
{
    if (count > 0)
        qsort(steps, count, sizeof(*steps), compare_keys);
    for (size_t i = 0, n; i < count; i += n) {
        for (n = 1; i + n < count; n++) {
            if (!vls_str_equal(steps[i + n].commit->key, steps[i].commit->key))
                break;
        }
        choose(steps + i, n);
        link_up(steps + i, n);
    }
}

/* ---- both ---- */

static int number(vls_import *in, step *steps, size_t count, valise_error *err)
{
    const valise_commit **commits = vls_arena_array(&in->arena, count + 1, sizeof(*commits));
    vls_import_place *places = vls_arena_array(&in->arena, count + 1, sizeof(*places));
    size_t used = 0;

    if (!commits || !places)
        return vls_arena_fail(&in->arena, err);
    if (count > 0)
        qsort(steps, count, sizeof(*steps), compare_steps);
    for (size_t i = 0; i < count; i++) {
        valise_commit *c = steps[i].commit;
        const valise_commit *before = steps[i].before;
        if (steps[i].left_out)
            continue;
        c->seq = (int64_t)used + 1;
        c->previous = before ? before->seq : 0;
        if (before && vls_commit_is_live(before))
            c->previous_value = before->value;
        commits[used] = c;
        places[used++] = steps[i].place;
    }
    in->doc.history = (valise_list){commits, used};
    in->places = places;
    return 0;
}

static int read_list(step *steps, vls_import *in, const char *member, vls_json list,
                     int (*read)(step *s, vls_import *in, vls_json v, valise_error *err),
                     valise_error *err)
{
    int rc = 0;

    for (uint32_t i = 0; i < list.len && rc == 0; i++) {
        steps[i] = (step){.place = {member, i}};
        rc = read(&steps[i], in, list.items[i], err);
        if (rc < 0)
            vls_error_prepend(err, "%s[%u]", member, i);
    }
    return rc;
}

static int read_commits(vls_import *in, vls_json items, const vls_json *history, valise_error *err)
{
    uint32_t entries = history ? history->len : 0;
    size_t count = (size_t)items.len + entries;
    step *steps;
    int rc;

    if (items.len > VLS_DOCUMENT_ITEMS_MAX || entries > VLS_DOCUMENT_ITEMS_MAX)
        return vls_fail(err, VALISE_E_LIMIT, "%u items and %u entries: %d are allowed", items.len,
                        entries, VLS_DOCUMENT_ITEMS_MAX);
    steps = vls_arena_array(&in->arena, count + 1, sizeof(*steps));
    if (!steps)
        return vls_arena_fail(&in->arena, err);
    rc = read_list(steps, in, "items", items, read_item, err);
    if (rc == 0 && history)
        rc = read_list(steps + items.len, in, "history", *history, read_entry, err);
    if (rc < 0)
        return rc;
    choose_all(steps, count);
    return number(in, steps, count, err);
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
        return vls_fail(err, VALISE_E_INVALID,
                        "this is not a backpack: it has neither 'format' nor 'items'");
    if (items->type != VLS_JSON_ARRAY)
        return fail_type("items", "an array", *items, err);
    if (history && history->type != VLS_JSON_ARRAY)
        return fail_type("history", "an array", *history, err);
    if (permissions && permissions->type != VLS_JSON_OBJECT)
        return fail_type("permissions", "an object", *permissions, err);
    rc = read_commits(in, *items, history, err);
    return rc == 0 && permissions ? read_permissions(in, *permissions, err) : rc;
}
