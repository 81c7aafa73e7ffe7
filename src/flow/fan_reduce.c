/* fan_reduce.c -- several elements wrote one key: what comes of it. [F18]
 *
 *     append   an array: what was there before, and behind it what each one wrote: of an array that
 *              begins with what was there the rest, of another one all items, else the value
 *     merge    an object: what was there before, and over it the members that each one changed; who
 *              comes later wins
 *     sum      what was there before (0), and what each one added to it
 *     min max  of what they wrote
 *     first    what the first one wrote, in the order of elements
 *     last     ... the last one
 *
 * Who deleted the key says nothing. */
#include "flow/fan.h"

#include <math.h>

#include "base/text.h"
#include "json/make.h"

typedef struct reducing {
    vls_arena *arena;
    vls_json before; /* null: there was nothing */
    vls_json so_far;
    bool any; /* somebody wrote it */
} reducing;

typedef int reduce_fn(reducing *r, vls_json value, valise_error *err);

static int fail_type(const char *must, vls_json value, valise_error *err)
{
    return vls_fail(err, VALISE_E_INVALID, "it takes %s, not %s", must, vls_json_type_name(value));
}

/* ---- append ---- */

static int add_items(vls_json *array, vls_arena *arena, const vls_json *items, size_t count,
                     valise_error *err)
{
    size_t all = (size_t)array->len + count;
    vls_json *joined;

    if (count == 0)
        return 0;
    if (all > UINT32_MAX)
        return vls_fail(err, VALISE_E_TOO_LARGE, "too many items for an array");
    joined = vls_arena_array(arena, all, sizeof(*joined));
    if (!joined)
        return vls_arena_fail(arena, err);
    if (array->len > 0)
        memcpy(joined, array->items, array->len * sizeof(*joined));
    memcpy(joined + array->len, items, count * sizeof(*joined));
    *array = vls_json_array(joined, all);
    return 0;
}

static bool begins_with(vls_json array, vls_json head)
{
    if (head.type != VLS_JSON_ARRAY || head.len > array.len)
        return false;
    for (uint32_t i = 0; i < head.len; i++)
        if (!vls_json_equal(array.items[i], head.items[i]))
            return false;
    return true;
}

static int append(reducing *r, vls_json value, valise_error *err)
{
    uint32_t from = 0;

    if (!r->any && r->before.type != VLS_JSON_NULL && r->before.type != VLS_JSON_ARRAY)
        return fail_type("an array", r->before, err);
    if (!r->any)
        r->so_far = r->before.type == VLS_JSON_ARRAY ? r->before : vls_json_array(NULL, 0);
    if (value.type != VLS_JSON_ARRAY)
        return add_items(&r->so_far, r->arena, &value, 1, err);
    if (begins_with(value, r->before))
        from = r->before.len;
    return add_items(&r->so_far, r->arena, value.items + from, value.len - from, err);
}

/* ---- merge ---- */

static int merge(reducing *r, vls_json value, valise_error *err)
{
    int rc = 0;

    if (value.type != VLS_JSON_OBJECT)
        return fail_type("objects", value, err);
    if (!r->any && r->before.type != VLS_JSON_NULL && r->before.type != VLS_JSON_OBJECT)
        return fail_type("objects", r->before, err);
    if (!r->any)
        r->so_far =
            r->before.type == VLS_JSON_OBJECT ? r->before : (vls_json){.type = VLS_JSON_OBJECT};
    for (uint32_t i = 0; i < value.len && rc == 0; i++) {
        valise_str key = vls_json_str(value.members[i].key);
        const vls_json *was = vls_json_get(r->before, key);

        if (!was || !vls_json_equal(*was, value.members[i].value))
            rc = vls_json_with_key(&r->so_far, r->arena, r->so_far, key, value.members[i].value,
                                   err);
    }
    return rc;
}

/* ---- numbers ---- */

static int add(vls_json *out, vls_json a, vls_json b, int sign, valise_error *err)
{
    double real;

    if (a.type == VLS_JSON_INT && b.type == VLS_JSON_INT) {
        int64_t made;
        bool over = sign > 0 ? __builtin_add_overflow(a.integer, b.integer, &made)
                             : __builtin_sub_overflow(a.integer, b.integer, &made);

        if (over)
            return vls_fail(err, VALISE_E_INVALID, "the sum is too large");
        *out = vls_json_int(made);
        return 0;
    }
    real = vls_json_to_double(a) + sign * vls_json_to_double(b);
    if (!isfinite(real))
        return vls_fail(err, VALISE_E_INVALID, "the sum is too large");
    *out = vls_json_real(real);
    return 0;
}

static int sum(reducing *r, vls_json value, valise_error *err)
{
    vls_json before = r->before.type == VLS_JSON_NULL ? vls_json_int(0) : r->before, added;
    int rc;

    if (!vls_json_is_number(value))
        return fail_type("numbers", value, err);
    if (!vls_json_is_number(before))
        return fail_type("numbers", before, err);
    if (!r->any)
        r->so_far = before;
    rc = add(&added, value, before, -1, err);
    return rc < 0 ? rc : add(&r->so_far, r->so_far, added, 1, err);
}

static int least(reducing *r, vls_json value, valise_error *err)
{
    if (!vls_json_is_number(value))
        return fail_type("numbers", value, err);
    if (!r->any || vls_json_number_compare(value, r->so_far) < 0)
        r->so_far = value;
    return 0;
}

static int most(reducing *r, vls_json value, valise_error *err)
{
    if (!vls_json_is_number(value))
        return fail_type("numbers", value, err);
    if (!r->any || vls_json_number_compare(value, r->so_far) > 0)
        r->so_far = value;
    return 0;
}

static int first(reducing *r, vls_json value, valise_error *err)
{
    (void)err;
    if (!r->any)
        r->so_far = value;
    return 0;
}

static int last(reducing *r, vls_json value, valise_error *err)
{
    (void)err;
    r->so_far = value;
    return 0;
}

/* ---- all of them ---- */

static const struct {
    const char *name;
    reduce_fn *fn;
} reducers[] = {{"append", append}, {"merge", merge}, {"sum", sum},  {"min", least},
                {"max", most},      {"first", first}, {"last", last}};

static reduce_fn *find(valise_str name)
{
    for (size_t i = 0; i < VLS_COUNT(reducers); i++)
        if (vls_str_equal(name, valise_str_of(reducers[i].name)))
            return reducers[i].fn;
    return NULL;
}

bool vls_fan_is_reducer(valise_str name)
{
    return find(name) != NULL;
}

static const vls_fan_change *change_of(const vls_fan_element *element, valise_str key)
{
    for (size_t i = 0; i < element->reduced.len; i++)
        if (vls_str_equal(element->reduced.ptr[i].key, key) && !element->reduced.ptr[i].deleted)
            return &element->reduced.ptr[i];
    return NULL;
}

static int reduce_key(reducing *r, const vls_fan *fan, valise_str key, valise_str how,
                      valise_error *err)
{
    vls_renderer renderer = vls_renderer_of(fan->at);
    const vls_pick pick = {.key = key, .optional = true};
    reduce_fn *fn = find(how);
    int rc = vls_settle(vls_pick_get(&r->before, &renderer, &pick, err));

    for (size_t i = 0; i < fan->count && rc == 0; i++) {
        const vls_fan_element *element = &fan->elements[i];
        const vls_fan_change *change = element->left ? NULL : change_of(element, key);

        if (!change)
            continue;
        rc = fn(r, change->value, err);
        r->any = true;
        if (rc < 0)
            vls_hint(err, "'%s' is reduced by %.*s; '%.*s' wrote it", vls_text_short(key).s,
                     VALISE_STR_ARG(how), VALISE_STR_ARG(element->path));
    }
    return rc;
}

int vls_fan_reduce(vls_json *out, vls_fan *fan, valise_error *err)
{
    vls_json all = {.type = VLS_JSON_OBJECT};
    int rc = 0;

    for (uint32_t i = 0; i < fan->reduce.len && rc == 0; i++) {
        const vls_member *m = &fan->reduce.members[i];
        reducing r = {.arena = fan->at->arena, .before = vls_json_null()};

        rc = reduce_key(&r, fan, vls_json_str(m->key), vls_json_str(m->value), err);
        if (rc == 0 && r.any)
            rc = vls_json_with_key(&all, fan->at->arena, all, vls_json_str(m->key), r.so_far, err);
    }
    if (rc == 0)
        *out = all;
    return rc;
}
