/* config_rule.c -- which keys a rule names, so that a route reads these and no others. [F7]
 *
 * What is named too much is no harm: a key that is not there. What cannot be said (a path that is
 * computed, the data as a whole) makes it all of them. */
#include "flow/config.h"
#include "json/logic.h"

typedef struct collecting {
    vls_arena *arena;
    vls_vec(valise_str) keys;
    bool all;
    valise_error *err;
} collecting;

static int collect(collecting *c, vls_json rule, bool inside);

static int add_key(collecting *c, valise_str key)
{
    return vls_vec_push_in(&c->keys, c->arena, key) ? 0 : vls_arena_fail(c->arena, c->err);
}

/* A path of var: the key is its first step. */
static int add_path(collecting *c, vls_json path)
{
    valise_str head, rest;

    if (path.type != VLS_JSON_STRING || path.len == 0) {
        c->all = true;
        return 0;
    }
    (void)vls_str_cut(&head, &rest, vls_json_str(path), '.');
    return add_key(c, head);
}

static size_t arguments(const vls_json **out, const vls_json *value)
{
    if (value->type != VLS_JSON_ARRAY) {
        *out = value;
        return 1;
    }
    *out = value->items;
    return value->len;
}

/* {"var": "a.b"}, {"var": ["a.b", otherwise]}. Inside of an iteration it is about the element. */
static int collect_var(collecting *c, vls_json value, bool inside)
{
    const vls_json *args;
    size_t count = arguments(&args, &value);
    int rc = 0;

    if (!inside) {
        if (count == 0)
            c->all = true;
        else
            rc = add_path(c, args[0]);
    }
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = collect(c, args[i], inside);
    return rc;
}

/* {"val": ["a", "b"]}: steps, the first one is the key; [n] first climbs out of iterations. */
static int collect_val(collecting *c, vls_json value, bool inside)
{
    const vls_json *args;
    size_t count = arguments(&args, &value);
    const bool climbs = count > 0 && args[0].type == VLS_JSON_ARRAY;
    int rc = 0;

    if (climbs || (!inside && (count == 0 || args[0].type != VLS_JSON_STRING)))
        c->all = true;
    else if (!inside)
        rc = add_key(c, vls_json_str(args[0]));
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = collect(c, args[i], inside);
    return rc;
}

/* {"missing": ["a", "b.c"]}: paths, or a list of them that is computed. */
static int collect_missing(collecting *c, vls_json value, bool inside)
{
    const vls_json *args;
    size_t count = arguments(&args, &value);
    int rc = 0;

    if (count == 1 && args[0].type == VLS_JSON_ARRAY)
        count = arguments(&args, &args[0]);
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = inside ? collect(c, args[i], true) : add_path(c, args[i]);
    return rc;
}

/* {"missing_some": [1, ["a", "b"]]} */
static int collect_some_missing(collecting *c, vls_json value, bool inside)
{
    if (inside)
        return collect(c, value, true);
    if (value.type != VLS_JSON_ARRAY || value.len != 2 || value.items[1].type != VLS_JSON_ARRAY) {
        c->all = true;
        return 0;
    }
    return collect_missing(c, value.items[1], false);
}

/* Array and rule: the rule sees an element. */
static int collect_iteration(collecting *c, vls_json value, bool inside)
{
    const vls_json *args;
    size_t count = arguments(&args, &value);
    int rc = 0;

    for (size_t i = 0; i < count && rc == 0; i++)
        rc = collect(c, args[i], inside || i == 1);
    return rc;
}

static int collect_preserved(collecting *c, vls_json value, bool inside)
{
    (void)c;
    (void)value;
    (void)inside;
    return 0;
}

static const struct {
    const char *name;
    int (*collect)(collecting *c, vls_json value, bool inside);
} operators[] = {
    {"all", collect_iteration},    {"exists", collect_val},
    {"filter", collect_iteration}, {"map", collect_iteration},
    {"missing", collect_missing},  {"missing_some", collect_some_missing},
    {"none", collect_iteration},   {"preserve", collect_preserved},
    {"reduce", collect_iteration}, {"some", collect_iteration},
    {"val", collect_val},          {"var", collect_var},
};

/* The rule was checked: its depth is limited. */
static int collect(collecting *c, vls_json rule, bool inside)
{
    int rc = 0;

    if (c->all)
        return 0;
    if (rule.type == VLS_JSON_ARRAY) {
        for (uint32_t i = 0; i < rule.len && rc == 0; i++)
            rc = collect(c, rule.items[i], inside);
        return rc;
    }
    if (rule.type != VLS_JSON_OBJECT || rule.len != 1)
        return 0;
    for (size_t i = 0; i < VLS_COUNT(operators); i++)
        if (vls_str_equal(vls_json_str(rule.members[0].key), valise_str_of(operators[i].name)))
            return operators[i].collect(c, rule.members[0].value, inside);
    return collect(c, rule.members[0].value, inside);
}

int vls_rule_reads(const valise_str **out, size_t *count, vls_arena *arena, vls_json rule,
                   valise_error *err)
{
    collecting c = {.arena = arena, .keys = VLS_VEC_INIT, .err = err};
    size_t n = 0;
    int rc = 0;

    *out = NULL;
    *count = 0;
    if (!vls_vec_reserve_in(&c.keys, arena, 1)) /* so that none is not all */
        return vls_arena_fail(arena, err);
    rc = collect(&c, rule, false);
    if (rc < 0 || c.all)
        return rc;
    qsort(c.keys.ptr, c.keys.len, sizeof(*c.keys.ptr), vls_str_order);
    for (size_t i = 0; i < c.keys.len; i++)
        if (n == 0 || !vls_str_equal(c.keys.ptr[n - 1], c.keys.ptr[i]))
            c.keys.ptr[n++] = c.keys.ptr[i];
    *out = c.keys.ptr;
    *count = n;
    return 0;
}
