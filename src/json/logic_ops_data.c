/* logic_ops_data.c -- var, val, exists, missing, missing_some: reading the data.
 *
 * A key names a member of an object or, as a number or in digits, an item of an array. Nothing
 * else has members: texts and arrays have no length here.
 *
 * val climbs: [[n], key, ...] starts n scopes out. An iteration adds two, its own and below it
 * the data outside:
 *
 *     {"map": [[7, 8], {"val": [[0]]}]}   the element, as without [0]
 *                               [1]       {"index": 0}
 *                               [2]       the data that map itself sees */
#include "json/logic_call.h"

/* ---- one step, and a path of them ---- */

/* The digits of an index without a leading zero. */
static bool to_index(size_t *out, valise_str key)
{
    uint64_t value;

    if ((key.len > 1 && key.ptr[0] == '0') || !vls_str_to_u64(&value, key) || value > SIZE_MAX)
        return false;
    *out = (size_t)value;
    return true;
}

static bool step_into(vls_json *at, valise_str key)
{
    const vls_json *value = vls_json_get(*at, key);
    size_t index;

    if (at->type == VLS_JSON_ARRAY && to_index(&index, key) && index < at->len)
        value = &at->items[index];
    if (!value)
        return false;
    *at = *value;
    return true;
}

/* What var finds at "a.b.c". Null and "" are the data itself. */
static int look_up(bool *found, vls_json *out, vls_logic *run, vls_json path)
{
    char room[VLS_LOGIC_KEY];
    vls_json at = run->scope->data;
    valise_str rest = {NULL, 0}, key;
    bool ok = path.type == VLS_JSON_NULL || vls_logic_to_key(&rest, room, path);
    bool more = rest.len > 0;
    int rc = vls_logic_charge_text(run, rest.len);

    while (rc == 0 && ok && more) {
        more = vls_str_cut(&key, &rest, rest, '.');
        rc = vls_logic_charge(run, 1);
        ok = step_into(&at, key);
    }
    *found = ok;
    if (rc == 0 && ok)
        *out = at;
    return rc;
}

/* ---- var ---- */

int vls_logic_var(vls_json *out, vls_logic_call *call)
{
    vls_json path = vls_json_null();
    bool found = false;
    int rc = call->count > 0 ? vls_logic_arg(&path, call, 0) : 0;

    if (rc == 0)
        rc = look_up(&found, out, call->run, path);
    if (rc < 0 || found)
        return rc;
    if (call->count > 1)
        return vls_logic_arg(out, call, 1);
    *out = vls_json_null();
    return 0;
}

/* ---- val and exists ---- */

/* {"index": n}, which an iteration puts between its element and the data outside. */
static int iteration(vls_json *out, vls_logic *run, size_t index)
{
    vls_member *member = vls_arena_alloc(run->arena, sizeof(*member));

    if (!member)
        return vls_arena_fail(run->arena, &run->error);
    *member = (vls_member){vls_json_string(VLS_STR("index")), vls_json_int((int64_t)index)};
    *out = (vls_json){.type = VLS_JSON_OBJECT, .len = 1, .members = member};
    return 0;
}

/* The data `levels` scopes out. */
static int climb(bool *found, vls_json *out, vls_logic *run, uint64_t levels)
{
    const vls_logic_scope *scope = run->scope;
    int rc = vls_logic_charge(run, 1);

    for (; scope && levels >= 2; levels -= 2)
        scope = scope->up;
    *found = scope && (levels == 0 || scope->index != VLS_LOGIC_NO_INDEX);
    if (rc < 0 || !*found)
        return rc;
    if (levels == 1)
        return iteration(out, run, scope->index);
    *out = scope->data;
    return 0;
}

/* Where the path of an operator's arguments leads. */
static int follow(bool *found, vls_json *out, vls_logic_call *call)
{
    char room[VLS_LOGIC_KEY];
    vls_json at = call->run->scope->data;
    size_t i = 0;
    valise_str key;
    bool ok = true;
    int rc = vls_logic_charge(call->run, call->count);

    if (rc == 0 && call->count > 0 && call->args[0].type == VLS_JSON_ARRAY) {
        vls_json levels = call->args[i++];
        ok = levels.len == 1 && levels.items[0].type == VLS_JSON_INT;
        if (ok) {
            int64_t n = levels.items[0].integer;
            rc = climb(&ok, &at, call->run, n < 0 ? 0 - (uint64_t)n : (uint64_t)n);
        }
    }
    for (; rc == 0 && ok && i < call->count; i++) {
        ok = vls_logic_to_key(&key, room, call->args[i]);
        if (ok)
            rc = vls_logic_charge_text(call->run, key.len);
        ok = ok && step_into(&at, key);
    }
    *found = ok;
    if (rc == 0 && ok)
        *out = at;
    return rc;
}

int vls_logic_val(vls_json *out, vls_logic_call *call)
{
    vls_json value = vls_json_null();
    bool found;
    int rc = follow(&found, &value, call);

    if (rc == 0)
        *out = value;
    return rc;
}

int vls_logic_exists(vls_json *out, vls_logic_call *call)
{
    vls_json value;
    bool found;
    int rc = follow(&found, &value, call);

    if (rc == 0)
        *out = vls_json_bool(found);
    return rc;
}

/* ---- missing ---- */

/* The paths with nothing, null or "" there, as an array. */
static int missing_of(vls_json *out, vls_logic *run, const vls_json *paths, size_t count)
{
    vls_json *items = NULL, value;
    size_t len = 0;
    bool found;
    int rc = vls_logic_array(&items, run, count);

    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = vls_logic_charge(run, 1);
        if (rc == 0)
            rc = look_up(&found, &value, run, paths[i]);
        if (rc == 0 && (!found || value.type == VLS_JSON_NULL ||
                        (value.type == VLS_JSON_STRING && value.len == 0)))
            items[len++] = paths[i];
    }
    if (rc == 0)
        *out = vls_json_array(items, len);
    return rc;
}

/* The paths are the arguments or, where the first is an array, its items. */
int vls_logic_missing(vls_json *out, vls_logic_call *call)
{
    if (call->count > 0 && call->args[0].type == VLS_JSON_ARRAY)
        return missing_of(out, call->run, call->args[0].items, call->args[0].len);
    return missing_of(out, call->run, call->args, call->count);
}

int vls_logic_missing_some(vls_json *out, vls_logic_call *call)
{
    vls_json needed, missing = vls_json_null(), paths = call->args[1];
    int rc = vls_logic_number_arg(&needed, call, 0);

    if (rc < 0)
        return rc;
    if (paths.type != VLS_JSON_ARRAY) {
        call->index = 1;
        return vls_logic_throw(call->run, VLS_LOGIC_BAD_ARGUMENTS, "an array of paths wanted");
    }
    rc = missing_of(&missing, call->run, paths.items, paths.len);
    if (rc < 0)
        return rc;
    vls_json there = vls_json_int((int64_t)paths.len - (int64_t)missing.len);
    *out = vls_json_number_compare(there, needed) >= 0 ? vls_json_array(NULL, 0) : missing;
    return 0;
}
