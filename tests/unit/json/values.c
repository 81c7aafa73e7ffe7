/* values.c -- values for tests. */
#include "values.h"

vls_json values_parse(test *t, vls_arena *arena, const char *text)
{
    vls_json v;

    CHECK_OK(vls_json_parse(&v, arena, valise_str_of(text), NULL, &t->err));
    return v;
}

const char *values_text(test *t, vls_json v)
{
    VLS_AUTO(buf) vls_buf buf;

    vls_buf_init(&buf, t->env, SIZE_MAX);
    CHECK_OK(vls_json_write(&buf, v, &t->err));
    char *text = test_alloc(buf.len);
    memcpy(text, buf.ptr, buf.len);
    return text;
}

/* ---- random ---- */

static const char *const keys[] = {"a",
                                   "b",
                                   "c",
                                   "",
                                   "0",
                                   "1",
                                   "-",
                                   "x/y",
                                   "m~n",
                                   "~1",
                                   "\xC3\xA9",
                                   "\xF0\x9F\x99\x82",
                                   "\xEF\xBF\xBD",
                                   "longer key"};

static vls_json random_scalar(test_rng *rng)
{
    static const char *const texts[] = {"", "a", "b", "text", "\xE2\x82\xAC"};

    switch (test_random_below(rng, 8)) {
    case 0:
        return vls_json_null();
    case 1:
        return vls_json_bool(test_random_below(rng, 2));
    case 2:
        return vls_json_real((double)test_random_below(rng, 5) / 4);
    case 3:
        return (vls_json){.type = VLS_JSON_BIG, .len = 20, .text = "98765432109876543210"};
    case 4:
    case 5:
        return vls_json_string(valise_str_of(texts[test_random_below(rng, VLS_COUNT(texts))]));
    default:
        return vls_json_int((int64_t)test_random_below(rng, 6));
    }
}

static void *room(vls_arena *arena, size_t count, size_t size)
{
    void *ptr = vls_arena_array(arena, count, size);

    CHECK(ptr);
    return ptr;
}

static vls_json object_of(vls_member *members, size_t count)
{
    vls_json v;

    CHECK(vls_json_object(&v, members, count, NULL) == 0);
    return v;
}

vls_json values_random(test_rng *rng, vls_arena *arena, unsigned depth)
{
    size_t count = test_random_below(rng, 6);
    uint64_t kind = test_random_below(rng, 3);

    if (depth == 0 || kind == 0)
        return random_scalar(rng);
    if (kind == 1) {
        vls_json *items = room(arena, count, sizeof(vls_json));
        for (size_t i = 0; i < count; i++)
            items[i] = values_random(rng, arena, depth - 1);
        return vls_json_array(items, count);
    }
    vls_member *members = room(arena, count, sizeof(vls_member));
    size_t key = test_random_below(rng, VLS_COUNT(keys));
    for (size_t i = 0; i < count; i++, key = (key + 1) % VLS_COUNT(keys)) {
        members[i].key = vls_json_string(valise_str_of(keys[key]));
        members[i].value = values_random(rng, arena, depth - 1);
    }
    return object_of(members, count);
}

/* v without child number drop, or with one more child where drop is v.len. */
static vls_json edited_array(test_rng *rng, vls_arena *arena, vls_json v)
{
    vls_json *items = room(arena, v.len + 1, sizeof(vls_json));
    size_t at = test_random_below(rng, v.len + 1);
    bool dropping = at < v.len && test_random_below(rng, 2);

    for (size_t i = 0; i < at; i++)
        items[i] = v.items[i];
    if (dropping) {
        for (size_t i = at + 1; i < v.len; i++)
            items[i - 1] = v.items[i];
        return vls_json_array(items, v.len - 1);
    }
    /* Half of the new ones are copies: aligning must cope with equal items. */
    items[at] = v.len > 0 && test_random_below(rng, 2) ? v.items[test_random_below(rng, v.len)]
                                                       : values_random(rng, arena, 2);
    for (size_t i = at; i < v.len; i++)
        items[i + 1] = v.items[i];
    return vls_json_array(items, v.len + 1);
}

static vls_json edited_object(test_rng *rng, vls_arena *arena, vls_json v)
{
    vls_member *members = room(arena, v.len + 1, sizeof(vls_member));
    valise_str key = valise_str_of(keys[test_random_below(rng, VLS_COUNT(keys))]);
    size_t count = 0;

    for (size_t i = 0; i < v.len; i++) {
        if (!vls_str_equal(vls_json_str(v.members[i].key), key))
            members[count++] = v.members[i];
    }
    if (count == v.len || test_random_below(rng, 2))
        members[count++] = (vls_member){vls_json_string(key), values_random(rng, arena, 2)};
    return object_of(members, count);
}

static vls_json edited_once(test_rng *rng, vls_arena *arena, vls_json v, unsigned depth)
{
    bool is_array = v.type == VLS_JSON_ARRAY;

    if ((!is_array && v.type != VLS_JSON_OBJECT) || test_random_below(rng, 20) == 0)
        return values_random(rng, arena, 3);
    if (v.len == 0 || depth == 0 || test_random_below(rng, 3) == 0)
        return is_array ? edited_array(rng, arena, v) : edited_object(rng, arena, v);

    size_t at = test_random_below(rng, v.len);
    if (is_array) {
        vls_json *items = room(arena, v.len, sizeof(vls_json));
        memcpy(items, v.items, v.len * sizeof(vls_json));
        items[at] = edited_once(rng, arena, items[at], depth - 1);
        return vls_json_array(items, v.len);
    }
    vls_member *members = room(arena, v.len, sizeof(vls_member));
    memcpy(members, v.members, v.len * sizeof(vls_member));
    members[at].value = edited_once(rng, arena, members[at].value, depth - 1);
    return object_of(members, v.len);
}

vls_json values_edited(test_rng *rng, vls_arena *arena, vls_json v, unsigned most)
{
    uint64_t count = 1 + test_random_below(rng, most);

    while (count-- > 0)
        v = edited_once(rng, arena, v, 20);
    return v;
}

vls_json values_numbers(vls_arena *arena, size_t count, int64_t first)
{
    vls_json *items = room(arena, count, sizeof(vls_json));

    for (size_t i = 0; i < count; i++)
        items[i] = vls_json_int(first + (int64_t)i);
    return vls_json_array(items, count);
}

vls_json values_nested(vls_arena *arena, vls_json value, unsigned levels)
{
    for (unsigned i = 0; i < levels; i++) {
        vls_json *item = room(arena, 1, sizeof(vls_json));
        *item = value;
        value = vls_json_array(item, 1);
    }
    return value;
}
