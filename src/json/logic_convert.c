/* logic_convert.c -- JavaScript's conversions between values: to boolean, number and text. */
#include "json/logic_call.h"

#include "json/number.h"

/* ---- to boolean ---- */

bool vls_logic_truthy(vls_json v)
{
    switch ((vls_json_type)v.type) {
    case VLS_JSON_NULL:
        return false;
    case VLS_JSON_BOOL:
        return v.truth != 0;
    case VLS_JSON_INT:
        return v.integer != 0;
    case VLS_JSON_REAL:
        return v.real != 0;
    case VLS_JSON_STRING:
    case VLS_JSON_ARRAY:
        return v.len > 0;
    case VLS_JSON_BIG:
    case VLS_JSON_OBJECT:
        return true;
    }
    return false;
}

/* ---- to number ---- */

int vls_logic_to_number(vls_json *out, bool *ok, vls_logic *run, vls_json v)
{
    int rc;

    *ok = true;
    switch ((vls_json_type)v.type) {
    case VLS_JSON_NULL:
        *out = vls_json_int(0);
        return 0;
    case VLS_JSON_BOOL:
        *out = vls_json_int(v.truth);
        return 0;
    case VLS_JSON_INT:
    case VLS_JSON_BIG:
    case VLS_JSON_REAL:
        *out = v;
        return 0;
    case VLS_JSON_STRING:
        rc = vls_logic_charge_text(run, v.len);
        return rc < 0 ? rc : vls_logic_read_number(out, ok, run, vls_json_str(v));
    case VLS_JSON_ARRAY:
    case VLS_JSON_OBJECT:
        break;
    }
    *ok = false;
    return 0;
}

int vls_logic_number_arg(vls_json *out, vls_logic_call *call, size_t i)
{
    bool ok;
    int rc = vls_logic_to_number(out, &ok, call->run, call->args[i]);

    if (rc == 0 && !ok)
        rc = vls_logic_throw_nan(call, i, call->args[i]);
    return rc;
}

int vls_logic_integer_arg(int64_t *out, vls_logic_call *call, size_t i, int64_t limit)
{
    vls_json number;
    bool ok;
    int rc = vls_logic_to_number(&number, &ok, call->run, call->args[i]);

    if (rc < 0)
        return rc;
    double real = ok ? vls_json_to_double(number) : 0;
    if (real >= (double)limit)
        *out = limit;
    else if (real <= -(double)limit)
        *out = -limit;
    else
        *out = (int64_t)real;
    return 0;
}

/* ---- to text ---- */

bool vls_logic_to_key(valise_str *out, char room[VLS_LOGIC_KEY], vls_json v)
{
    _Static_assert(VLS_LOGIC_KEY >= VLS_NUMBER_TEXT, "numbers are keys too");

    switch ((vls_json_type)v.type) {
    case VLS_JSON_BOOL:
        *out = v.truth ? VLS_STR("true") : VLS_STR("false");
        return true;
    case VLS_JSON_INT:
        *out = vls_str(room, (size_t)snprintf(room, VLS_LOGIC_KEY, "%lld", (long long)v.integer));
        return true;
    case VLS_JSON_REAL:
        *out = vls_str(room, vls_number_write(room, v.real));
        return true;
    case VLS_JSON_BIG:
    case VLS_JSON_STRING:
        *out = vls_json_str(v);
        return true;
    case VLS_JSON_NULL:
    case VLS_JSON_ARRAY:
    case VLS_JSON_OBJECT:
        break;
    }
    return false;
}

void vls_logic_text_buf(vls_buf *out, const vls_logic *run)
{
    const vls_arena *arena = run->arena;

    vls_buf_init(out, arena->env, VLS_MIN(arena->max - arena->used, UINT32_MAX));
}

static int add_text_at(vls_buf *out, vls_logic *run, vls_json v, uint32_t depth_left)
{
    char room[VLS_LOGIC_KEY];
    valise_str text;
    int rc = vls_logic_charge(run, 1);

    if (v.type == VLS_JSON_OBJECT)
        vls_buf_add(out, VLS_STR("[object Object]"));
    else if (vls_logic_to_key(&text, room, v))
        vls_buf_add(out, text);
    if (v.type != VLS_JSON_ARRAY)
        return rc;
    if (depth_left == 0)
        return vls_logic_fail_limit(run, "levels in an array", VLS_JSON_MAX_DEPTH);
    for (size_t i = 0; rc == 0 && i < v.len; i++) {
        if (i > 0)
            vls_buf_add_byte(out, ',');
        rc = add_text_at(out, run, v.items[i], depth_left - 1);
    }
    return rc;
}

int vls_logic_add_text(vls_buf *out, vls_logic *run, vls_json v)
{
    return add_text_at(out, run, v, VLS_JSON_MAX_DEPTH);
}

int vls_logic_to_text(valise_str *out, vls_logic *run, vls_json v)
{
    VLS_AUTO(buf) vls_buf buf = {0};
    int rc;

    vls_logic_text_buf(&buf, run);
    if (v.type == VLS_JSON_STRING) {
        *out = vls_json_str(v);
        return 0;
    }
    rc = vls_logic_add_text(&buf, run, v);
    if (rc == 0)
        rc = vls_buf_check(&buf, &run->error);
    return rc < 0 ? rc : vls_arena_dup(out, run->arena, vls_buf_str(&buf), &run->error);
}
