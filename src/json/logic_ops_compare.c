/* logic_ops_compare.c -- == != === !== < <= > >=, of two values or of each and its neighbour.
 *
 * Two texts compare by their UTF-16 units, as in JavaScript. Otherwise both sides become numbers
 * (integers stay exact), and what is none throws NaN, but for == and != with null: nothing there
 * is simply not equal to a word, an array or an object. */
#include "json/logic_call.h"

typedef enum relation {
    EQUAL,
    NOT_EQUAL,
    SAME,
    NOT_SAME,
    LESS,
    AT_MOST,
    GREATER,
    AT_LEAST,
} relation;

/* ---- the same, deeply ---- */

static int same_at(bool *out, vls_logic *run, vls_json a, vls_json b, uint32_t depth_left);

static int same_texts(bool *out, vls_logic *run, vls_json a, vls_json b)
{
    int rc = a.len == b.len ? vls_logic_charge_text(run, a.len) : 0;

    if (rc == 0)
        *out = vls_str_equal(vls_json_str(a), vls_json_str(b));
    return rc;
}

static int same_children(bool *out, vls_logic *run, vls_json a, vls_json b, uint32_t depth_left)
{
    bool same = a.len == b.len;
    bool shared = same && a.items == b.items;
    int rc = 0;

    if (same && depth_left == 0)
        return vls_logic_fail_limit(run, "levels in a value", VLS_JSON_MAX_DEPTH);
    for (size_t i = 0; rc == 0 && same && !shared && i < a.len; i++) {
        if (a.type == VLS_JSON_ARRAY) {
            rc = same_at(&same, run, a.items[i], b.items[i], depth_left - 1);
            continue;
        }
        rc = same_texts(&same, run, a.members[i].key, b.members[i].key);
        if (rc == 0 && same)
            rc = same_at(&same, run, a.members[i].value, b.members[i].value, depth_left - 1);
    }
    if (rc == 0)
        *out = same;
    return rc;
}

static int same_at(bool *out, vls_logic *run, vls_json a, vls_json b, uint32_t depth_left)
{
    int rc = vls_logic_charge(run, 1);

    if (rc < 0)
        return rc;
    if (vls_json_is_number(a) && vls_json_is_number(b)) {
        *out = vls_json_number_compare(a, b) == 0;
        return 0;
    }
    if (a.type != b.type) {
        *out = false;
        return 0;
    }
    if (a.type == VLS_JSON_STRING)
        return same_texts(out, run, a, b);
    if (a.type == VLS_JSON_ARRAY || a.type == VLS_JSON_OBJECT)
        return same_children(out, run, a, b, depth_left);
    *out = a.truth == b.truth; /* booleans; null has none */
    return 0;
}

int vls_logic_equal(bool *out, vls_logic *run, vls_json a, vls_json b)
{
    return same_at(out, run, a, b, VLS_JSON_MAX_DEPTH);
}

/* ---- order, after conversion ---- */

/* *order is -1, 0 or 1; 2 where null meets what is no number and only equality is asked. */
static int order_of(int *order, vls_logic_call *call, vls_json a, vls_json b, bool equality)
{
    vls_json x, y;
    bool x_ok = false, y_ok = false;
    int rc;

    if (a.type == VLS_JSON_STRING && b.type == VLS_JSON_STRING) {
        rc = vls_logic_charge_text(call->run, VLS_MIN(a.len, b.len));
        *order = vls_json_key_compare(vls_json_str(a), vls_json_str(b));
        return rc;
    }
    rc = vls_logic_to_number(&x, &x_ok, call->run, a);
    if (rc == 0)
        rc = vls_logic_to_number(&y, &y_ok, call->run, b);
    if (rc < 0)
        return rc;
    if (x_ok && y_ok) {
        *order = vls_json_number_compare(x, y);
        return 0;
    }
    *order = 2;
    if (equality && (a.type == VLS_JSON_NULL || b.type == VLS_JSON_NULL))
        return 0;
    /* The right one is the argument that was just evaluated. */
    return x_ok ? vls_logic_throw_nan(call, call->index, b)
                : vls_logic_throw_nan(call, call->index - 1, a);
}

static int holds_between(bool *out, vls_logic_call *call, vls_json a, vls_json b, relation wanted)
{
    bool same = false;
    int order = 0, rc;

    if (wanted == SAME || wanted == NOT_SAME)
        rc = vls_logic_equal(&same, call->run, a, b);
    else
        rc = order_of(&order, call, a, b, wanted == EQUAL || wanted == NOT_EQUAL);
    if (rc < 0)
        return rc;

    const bool holds[] = {
        [EQUAL] = order == 0,    [NOT_EQUAL] = order != 0,  [SAME] = same,
        [NOT_SAME] = !same,      [LESS] = (order < 0),      [AT_MOST] = (order <= 0),
        [GREATER] = (order > 0), [AT_LEAST] = (order >= 0),
    };
    *out = holds[wanted];
    return 0;
}

/* Neighbour by neighbour; the first pair that fails ends it, and the rest is not evaluated. */
static int compare(vls_json *out, vls_logic_call *call, relation wanted)
{
    vls_json left, right;
    bool holds = true;
    int rc = vls_logic_arg(&left, call, 0);

    for (size_t i = 1; rc == 0 && holds && i < call->count; i++) {
        rc = vls_logic_arg(&right, call, i);
        if (rc == 0)
            rc = holds_between(&holds, call, left, right, wanted);
        left = right;
    }
    if (rc == 0)
        *out = vls_json_bool(holds);
    return rc;
}

int vls_logic_eq(vls_json *out, vls_logic_call *call)
{
    return compare(out, call, EQUAL);
}

int vls_logic_ne(vls_json *out, vls_logic_call *call)
{
    return compare(out, call, NOT_EQUAL);
}

int vls_logic_strict_eq(vls_json *out, vls_logic_call *call)
{
    return compare(out, call, SAME);
}

int vls_logic_strict_ne(vls_json *out, vls_logic_call *call)
{
    return compare(out, call, NOT_SAME);
}

int vls_logic_lt(vls_json *out, vls_logic_call *call)
{
    return compare(out, call, LESS);
}

int vls_logic_le(vls_json *out, vls_logic_call *call)
{
    return compare(out, call, AT_MOST);
}

int vls_logic_gt(vls_json *out, vls_logic_call *call)
{
    return compare(out, call, GREATER);
}

int vls_logic_ge(vls_json *out, vls_logic_call *call)
{
    return compare(out, call, AT_LEAST);
}
