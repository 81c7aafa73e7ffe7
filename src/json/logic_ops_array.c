/* logic_ops_array.c -- map, filter, reduce, all, some, none, merge.
 *
 * The rule of an iteration has the element for its data. For map, filter and reduce a value that
 * is not there counts as an empty array, but null written into the rule is a mistake in it; all,
 * some and none want an array. */
#include "json/logic_call.h"

static int not_an_array(vls_logic_call *call, vls_json v)
{
    return vls_logic_throw(call->run, VLS_LOGIC_BAD_ARGUMENTS, "an array wanted, not %s",
                           vls_json_type_name(v));
}

static int array_arg(vls_json *out, vls_logic_call *call)
{
    int rc = vls_logic_arg(out, call, 0);

    if (rc == 0 && out->type != VLS_JSON_ARRAY)
        rc = not_an_array(call, *out);
    return rc;
}

static int array_arg_or_nothing(vls_json *out, vls_logic_call *call)
{
    vls_json value;
    int rc;

    for (size_t i = 0; i < 2; i++) {
        call->index = i;
        if (call->args[i].type == VLS_JSON_NULL)
            return vls_logic_throw(call->run, VLS_LOGIC_BAD_ARGUMENTS, "null is no %s",
                                   i == 0 ? "array" : "rule");
    }
    rc = vls_logic_arg(&value, call, 0);
    if (rc < 0)
        return rc;
    if (value.type == VLS_JSON_NULL)
        value = vls_json_array(NULL, 0);
    else if (value.type != VLS_JSON_ARRAY)
        return not_an_array(call, value);
    *out = value;
    return 0;
}

int vls_logic_map(vls_json *out, vls_logic_call *call)
{
    vls_json input = vls_json_null(), *items = NULL;
    int rc = array_arg_or_nothing(&input, call);

    if (rc == 0)
        rc = vls_logic_array(&items, call->run, input.len);
    for (size_t i = 0; rc == 0 && i < input.len; i++)
        rc = vls_logic_arg_with(&items[i], call, 1, input.items[i], i);
    if (rc == 0)
        *out = vls_json_array(items, input.len);
    return rc;
}

int vls_logic_filter(vls_json *out, vls_logic_call *call)
{
    vls_json input = vls_json_null(), keep, *items = NULL;
    size_t count = 0;
    int rc = array_arg_or_nothing(&input, call);

    if (rc == 0)
        rc = vls_logic_array(&items, call->run, input.len);
    for (size_t i = 0; rc == 0 && i < input.len; i++) {
        rc = vls_logic_arg_with(&keep, call, 1, input.items[i], i);
        if (rc == 0 && vls_logic_truthy(keep))
            items[count++] = input.items[i];
    }
    if (rc == 0)
        *out = vls_json_array(items, count);
    return rc;
}

/* One step: the rule over {"accumulator": ..., "current": ...}. */
static int accumulate(vls_json *acc, vls_logic_call *call, vls_json current, size_t index)
{
    vls_arena *arena = call->run->arena;
    vls_arena_mark mark = vls_arena_here(arena);
    vls_member *members = vls_arena_array(arena, 2, sizeof(*members));
    vls_json data;
    int rc;

    if (!members)
        return vls_arena_fail(arena, &call->run->error);
    members[0] = (vls_member){vls_json_string(VLS_STR("accumulator")), *acc};
    members[1] = (vls_member){vls_json_string(VLS_STR("current")), current};
    data = (vls_json){.type = VLS_JSON_OBJECT, .len = 2, .members = members};
    rc = vls_logic_arg_with(acc, call, 1, data, index);
    if (rc == 0 && vls_logic_is_scalar(*acc))
        vls_arena_rewind(arena, mark);
    return rc;
}

int vls_logic_reduce(vls_json *out, vls_logic_call *call)
{
    vls_json input = vls_json_null(), acc = vls_json_null();
    int rc = array_arg_or_nothing(&input, call);

    if (rc == 0 && call->count > 2)
        rc = vls_logic_arg(&acc, call, 2);
    for (size_t i = 0; rc == 0 && i < input.len; i++)
        rc = accumulate(&acc, call, input.items[i], i);
    if (rc == 0)
        *out = acc;
    return rc;
}

/* Whether the rule is as truthy as wanted for an element; *empty says whether there are any. */
static int find_one(bool *found, bool *empty, vls_logic_call *call, bool truthy)
{
    vls_json input = vls_json_null(), value;
    bool hit = false;
    int rc = array_arg(&input, call);

    for (size_t i = 0; rc == 0 && !hit && i < input.len; i++) {
        rc = vls_logic_arg_with(&value, call, 1, input.items[i], i);
        hit = rc == 0 && vls_logic_truthy(value) == truthy;
    }
    if (rc < 0)
        return rc;
    *found = hit;
    *empty = input.len == 0;
    return 0;
}

int vls_logic_all(vls_json *out, vls_logic_call *call)
{
    bool found, empty;
    int rc = find_one(&found, &empty, call, false);

    if (rc == 0)
        *out = vls_json_bool(!found && !empty);
    return rc;
}

int vls_logic_some(vls_json *out, vls_logic_call *call)
{
    bool found, empty;
    int rc = find_one(&found, &empty, call, true);

    if (rc == 0)
        *out = vls_json_bool(found);
    return rc;
}

int vls_logic_none(vls_json *out, vls_logic_call *call)
{
    bool found, empty;
    int rc = find_one(&found, &empty, call, true);

    if (rc == 0)
        *out = vls_json_bool(!found);
    return rc;
}

int vls_logic_merge(vls_json *out, vls_logic_call *call)
{
    size_t total = 0, at = 0;
    vls_json *items = NULL;
    int rc;

    for (size_t i = 0; i < call->count; i++)
        total += call->args[i].type == VLS_JSON_ARRAY ? call->args[i].len : 1;
    rc = vls_logic_charge(call->run, total);
    if (rc == 0)
        rc = vls_logic_array(&items, call->run, total);
    if (!items)
        return rc;
    for (size_t i = 0; i < call->count; i++) {
        vls_json arg = call->args[i];
        if (arg.type != VLS_JSON_ARRAY)
            items[at++] = arg;
        else if (arg.len > 0)
            memcpy(items + at, arg.items, arg.len * sizeof(*items));
        at += arg.type == VLS_JSON_ARRAY ? arg.len : 0;
    }
    *out = vls_json_array(items, total);
    return 0;
}
