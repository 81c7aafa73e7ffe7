/* build.c -- values from the outside in.
 *
 * Children gather on one stack; closing a container moves its children from the top of the stack
 * into the arena and puts the container in their place:
 *
 *     stack: [outer key][inner v0][inner v1]   --close-->   [outer key][inner]
 *                        ^ open[depth - 1]
 *
 * The stack is the environment's memory but grows no larger than the arena may: what is on it
 * would not fit there.
 *
 * open[] keeps, for each open container, where its children start and (lowest bit) whether it
 * is an object; an object's children are key, value, key, value. */
#include "json/build.h"

#include "base/mem.h"
#include "base/text.h"
#include "json/sort.h"

#define FIRST_CAP 64u

void vls_json_builder_init(vls_json_builder *b, vls_arena *arena)
{
    b->arena = arena;
    b->stack = NULL;
    b->len = b->cap = 0;
    b->depth = 0;
    b->error.code = 0;
}

void vls_json_builder_release(vls_json_builder *b)
{
    if (b->arena)
        vls_mem_free(b->arena->env, b->stack, b->cap * sizeof(vls_json));
    b->stack = NULL;
    b->len = b->cap = 0;
}

bool vls_json_builder_grow(vls_json_builder *b)
{
    size_t most = VLS_MAX(b->arena->max / sizeof(vls_json), FIRST_CAP);
    size_t grown = vls_mem_grow(b->cap, b->len + 1, FIRST_CAP), cap = VLS_MIN(grown, most);
    vls_json *stack;

    if (cap > UINT32_MAX / 2) {
        (void)vls_fail(&b->error, VALISE_E_TOO_LARGE, "too many values for a document");
        return false;
    }
    if (cap <= b->len) {
        (void)vls_fail(&b->error, VALISE_E_TOO_LARGE, "working memory of %zu bytes is used up",
                       b->arena->max);
        return false;
    }
    stack =
        vls_mem_resize(b->arena->env, b->stack, b->cap * sizeof(vls_json), cap * sizeof(vls_json));
    if (!stack) {
        vls_fail_memory(&b->error);
        return false;
    }
    b->stack = stack;
    b->cap = cap;
    return true;
}

/* Of equal neighbours only the last stays. Returns how many are left. */
static size_t drop_earlier_twins(vls_member *m, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (i + 1 < count && vls_str_equal(vls_json_str(m[i].key), vls_json_str(m[i + 1].key)))
            continue;
        m[kept++] = m[i];
    }
    return kept;
}

/* Sort the object's members where they lie. False: *twice is the index of a member whose key is
 * there twice, its twin before it. */
static bool settle_members(const vls_json_builder *b, vls_member *m, size_t *count,
                           bool last_key_wins, size_t *twice)
{
    if (vls_json_sort_members(twice, m, *count, b->arena->env))
        return true;
    if (!last_key_wins)
        return false;
    *count = drop_earlier_twins(m, *count);
    return true;
}

bool vls_json_builder_close(vls_json_builder *b, bool last_key_wins, vls_member **twice)
{
    uint32_t frame = b->open[b->depth - 1];
    size_t first = frame >> 1, count = b->len - first, duplicate;
    bool is_object = frame & 1;
    vls_json container = {.type = is_object ? VLS_JSON_OBJECT : VLS_JSON_ARRAY};
    vls_json *children = count > 0 ? b->stack + first : NULL; /* the stack may not exist yet */

    assert(!is_object || count % 2 == 0); /* each key has its value */
    if (is_object) {
        vls_member *members = (vls_member *)(void *)children;
        size_t pairs = count / 2;
        if (!settle_members(b, members, &pairs, last_key_wins, &duplicate)) {
            *twice = &members[duplicate];
            return false;
        }
        count = 2 * pairs;
        container.len = (uint32_t)pairs;
    } else {
        container.len = (uint32_t)count;
    }
    if (children && count > 0) {
        vls_json *kept = vls_arena_array(b->arena, count, sizeof(vls_json));
        if (!kept) {
            *twice = NULL;
            vls_arena_fail(b->arena, &b->error);
            return false;
        }
        memcpy(kept, children, count * sizeof(vls_json));
        container.items = kept;
    }
    b->depth--;
    b->len = first;
    vls_json_builder_push(b, container);
    return b->error.code == 0;
}

void vls_json_open(vls_json_builder *b, vls_json_type type)
{
    assert(type == VLS_JSON_ARRAY || type == VLS_JSON_OBJECT);
    if (b->error.code)
        return;
    if (b->depth == VLS_JSON_MAX_DEPTH) {
        (void)vls_fail(&b->error, VALISE_E_LIMIT, "JSON nested more than %u deep",
                       VLS_JSON_MAX_DEPTH);
        return;
    }
    b->open[b->depth++] = (uint32_t)b->len << 1 | (type == VLS_JSON_OBJECT);
}

void vls_json_close(vls_json_builder *b)
{
    vls_member *twice = NULL;

    if (b->error.code)
        return;
    assert(b->depth > 0);
    if (!vls_json_builder_close(b, false, &twice) && twice)
        (void)vls_fail(&b->error, VALISE_E_INVALID, "duplicate key \"%s\"",
                       vls_text_short(vls_json_str(twice->key)).s);
}

void vls_json_add(vls_json_builder *b, vls_json v)
{
    if (b->error.code == 0)
        vls_json_builder_push(b, v);
}

void vls_json_add_key(vls_json_builder *b, valise_str key)
{
    assert(b->error.code || (b->depth > 0 && (b->open[b->depth - 1] & 1)));
    vls_json_add(b, vls_json_string(key));
}

void vls_json_add_member(vls_json_builder *b, valise_str key, vls_json v)
{
    vls_json_add_key(b, key);
    vls_json_add(b, v);
}

void vls_json_add_text(vls_json_builder *b, valise_str key, valise_str text)
{
    vls_json_add_member(b, key, vls_json_string(text));
}

int vls_json_builder_finish(vls_json *out, vls_json_builder *b, valise_error *err)
{
    int rc = b->error.code;

    if (rc == 0) {
        assert(b->depth == 0 && b->len == 1);
        *out = b->stack[0];
    } else if (err) {
        *err = b->error;
    }
    vls_json_builder_release(b);
    return rc;
}

/* ---- copying ---- */

static int copy_at(vls_json *out, vls_arena *arena, vls_json v, unsigned depth, valise_error *err);

static int copy_children(vls_json *out, vls_arena *arena, vls_json v, unsigned depth,
                         valise_error *err)
{
    size_t count = v.type == VLS_JSON_OBJECT ? 2 * (size_t)v.len : v.len;
    vls_json *kept;

    if (depth == 0)
        return vls_fail(err, VALISE_E_LIMIT, "JSON nested more than %u deep", VLS_JSON_MAX_DEPTH);
    if (count > 0) {
        kept = vls_arena_array(arena, count, sizeof(vls_json));
        if (!kept)
            return vls_arena_fail(arena, err);
        for (size_t i = 0; i < count; i++) {
            int rc = copy_at(&kept[i], arena, v.items[i], depth - 1, err);
            if (rc < 0)
                return rc;
        }
        v.items = kept;
    }
    *out = v;
    return 0;
}

static int copy_at(vls_json *out, vls_arena *arena, vls_json v, unsigned depth, valise_error *err)
{
    valise_str text;
    int rc;

    if (v.type == VLS_JSON_ARRAY || v.type == VLS_JSON_OBJECT)
        return copy_children(out, arena, v, depth, err);
    if (v.type == VLS_JSON_STRING || v.type == VLS_JSON_BIG) {
        rc = vls_arena_dup(&text, arena, vls_json_str(v), err);
        if (rc < 0)
            return rc;
        v.text = text.ptr;
    }
    *out = v;
    return 0;
}

int vls_json_copy(vls_json *out, vls_arena *arena, vls_json v, valise_error *err)
{
    return copy_at(out, arena, v, VLS_JSON_MAX_DEPTH, err);
}
