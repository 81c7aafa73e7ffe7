/* make.c -- objects from a few members, and members of objects. */
#include "json/make.h"

vls_json vls_member_of(vls_json object, const char *key)
{
    const vls_json *value = vls_json_get(object, valise_str_of(key));

    return value ? *value : vls_json_null();
}

valise_str vls_text_of(vls_json object, const char *key)
{
    vls_json value = vls_member_of(object, key);

    return value.type == VLS_JSON_STRING ? vls_json_str(value) : (valise_str){NULL, 0};
}

bool vls_truth_of(vls_json object, const char *key)
{
    vls_json value = vls_member_of(object, key);

    return value.type == VLS_JSON_BOOL && value.truth;
}

int vls_pairs_make(vls_json *out, vls_arena *arena, const vls_pair *pairs, size_t count,
                   valise_error *err)
{
    vls_member *members = vls_arena_array(arena, count, sizeof(*members));
    size_t n = 0;

    if (!members)
        return vls_arena_fail(arena, err);
    for (size_t i = 0; i < count; i++)
        if (!pairs[i].skip)
            members[n++] =
                (vls_member){vls_json_string(valise_str_of(pairs[i].key)), pairs[i].value};
    return vls_json_object(out, members, n, err);
}

int vls_json_without(vls_json *out, vls_arena *arena, vls_json object, const char *key,
                     valise_error *err)
{
    vls_member *members = vls_arena_array(arena, object.len + 1, sizeof(*members));
    size_t n = 0;

    assert(object.type == VLS_JSON_OBJECT);
    if (!members)
        return vls_arena_fail(arena, err);
    for (uint32_t i = 0; i < object.len; i++)
        if (!vls_str_equal(vls_json_str(object.members[i].key), valise_str_of(key)))
            members[n++] = object.members[i];
    return vls_json_object(out, members, n, err);
}

int vls_json_with_key(vls_json *out, vls_arena *arena, vls_json object, valise_str key,
                      vls_json value, valise_error *err)
{
    vls_member *members;
    bool there;
    size_t at;

    if (object.type == VLS_JSON_NULL)
        object = (vls_json){.type = VLS_JSON_OBJECT};
    assert(object.type == VLS_JSON_OBJECT);
    members = vls_arena_array(arena, object.len + 1, sizeof(*members));
    if (!members)
        return vls_arena_fail(arena, err);
    at = vls_json_find(&there, object, key);
    if (object.len > 0)
        memcpy(members, object.members, object.len * sizeof(*members));
    if (!there)
        at = object.len;
    members[at] = (vls_member){vls_json_string(key), value};
    return vls_json_object(out, members, object.len + !there, err);
}

int vls_json_with(vls_json *out, vls_arena *arena, vls_json object, const char *key, vls_json value,
                  valise_error *err)
{
    return vls_json_with_key(out, arena, object, valise_str_of(key), value, err);
}

int vls_json_text(valise_str *out, vls_arena *arena, vls_json value, valise_error *err)
{
    vls_buf text;
    int rc;

    vls_buf_init_in(&text, arena, UINT32_MAX);
    rc = vls_json_write(&text, value, err);
    return rc < 0 ? rc : vls_buf_keep(out, &text, err);
}
