/* edit.c -- changing a value that nobody else may see change.
 *
 * The first edit below a container copies its children into a block of this edit's own; later
 * ones change that block in place, so that n changes of one container copy it once, not n times:
 *
 *     +--------+--------+--------+--------+--------+- - - - +
 *     | cap    | child0 | child1 | child2 |  room  |  room  |
 *     +--------+--------+--------+--------+--------+- - - - +
 *              ^ the container's items or members
 *
 * A table finds the block by the address of the children. Invariant: a block that is reached from
 * the root through blocks alone is reached by one way only, so changing it changes one place.
 * Putting a value in a second time would break that. vls_edit_share() therefore takes its block
 * out of the table, which hides all blocks below it, and when a hidden container is copied for a
 * change its children are taken out in turn. So sharing costs nothing, and later changes pay for
 * what they touch.
 *
 * Start reading at vls_edit_add(). */
#include "json/edit.h"

#include "base/mem.h"

/* In front of the children of a container that was made here. */
typedef struct block {
    _Alignas(16) size_t cap; /* children there is room for */
} block;

/* ---- budget ---- */

int vls_edit_charge(vls_edit *edit, uint64_t bytes, valise_error *err)
{
    vls_patch_budget *budget = edit->budget;
    uint64_t left =
        budget->max_bytes > budget->used_bytes ? budget->max_bytes - budget->used_bytes : 0;

    if (bytes > left) {
        budget->used_bytes = VLS_MAX(budget->used_bytes, budget->max_bytes);
        (void)vls_fail(err, VALISE_E_LIMIT, "the patch moves more than its limit of %ju bytes",
                       (uintmax_t)budget->max_bytes);
        vls_hint(err, "replace the container instead of editing it item by item");
        return VALISE_E_LIMIT;
    }
    budget->used_bytes += bytes;
    return 0;
}

int vls_edit_measure(vls_edit *edit, vls_json v, size_t levels, valise_error *err)
{
    bool is_text = v.type == VLS_JSON_STRING || v.type == VLS_JSON_BIG;
    int rc = vls_edit_charge(edit, sizeof(v) + (is_text ? v.len : 0), err);

    if (rc < 0 || (v.type != VLS_JSON_ARRAY && v.type != VLS_JSON_OBJECT))
        return rc;
    if (levels == 0)
        return vls_fail(err, VALISE_E_LIMIT, "the result is nested more than %u levels deep",
                        VLS_JSON_MAX_DEPTH);
    for (size_t i = 0; i < v.len && rc == 0; i++) {
        if (v.type == VLS_JSON_ARRAY) {
            rc = vls_edit_measure(edit, v.items[i], levels - 1, err);
        } else {
            rc = vls_edit_charge(edit, sizeof(vls_json) + v.members[i].key.len, err);
            if (rc == 0)
                rc = vls_edit_measure(edit, v.members[i].value, levels - 1, err);
        }
    }
    return rc;
}

/* ---- blocks ---- */

static uint64_t address_hash(const void *children)
{
    uint64_t bits = (uint64_t)(uintptr_t)children;

    /* Blocks are aligned: the low bits, which choose the slot, must come from the high ones. */
    bits = (bits ^ (bits >> 32)) * 0x9E3779B97F4A7C15u;
    return bits ^ (bits >> 29);
}

static bool is_block_of(const void *item, const void *children)
{
    return (const void *)((const block *)item + 1) == children;
}

void vls_edit_init(vls_edit *edit, vls_arena *arena, vls_json root, vls_patch_budget *budget)
{
    *edit = (vls_edit){.arena = arena, .root = root, .budget = budget};
    vls_map_init(&edit->blocks, arena->env, is_block_of);
}

void vls_edit_release(vls_edit *edit)
{
    vls_map_release(&edit->blocks);
}

static const void *children_of(vls_json v)
{
    return v.type == VLS_JSON_ARRAY ? (const void *)v.items : (const void *)v.members;
}

static size_t child_size(vls_json v)
{
    return v.type == VLS_JSON_ARRAY ? sizeof(vls_json) : sizeof(vls_member);
}

/* An empty container may point anywhere, even where a block begins: it never has one. */
static bool may_have_block(vls_json v)
{
    return (v.type == VLS_JSON_ARRAY || v.type == VLS_JSON_OBJECT) && v.len > 0;
}

static void disown(vls_edit *edit, vls_json v)
{
    if (may_have_block(v))
        (void)vls_map_remove(&edit->blocks, address_hash(children_of(v)), children_of(v));
}

static void disown_children(vls_edit *edit, vls_json v)
{
    for (size_t i = 0; i < v.len; i++)
        disown(edit, v.type == VLS_JSON_ARRAY ? v.items[i] : v.members[i].value);
}

void vls_edit_share(vls_edit *edit, vls_json v)
{
    disown(edit, v);
    edit->shared = true;
}

/* A block with room for cap children that begins with those of v. */
static int new_block(block **out, vls_edit *edit, vls_json v, size_t cap, valise_error *err)
{
    size_t size = child_size(v);
    size_t bytes;

    if (!vls_mem_multiply(&bytes, cap, size) ||
        __builtin_add_overflow(bytes, sizeof(block), &bytes))
        return vls_fail_memory(err);
    int rc = vls_edit_charge(edit, v.len * size, err);
    if (rc < 0)
        return rc;
    block *fresh = vls_arena_alloc(edit->arena, bytes);
    if (!fresh)
        return vls_arena_fail(edit->arena, err);
    fresh->cap = cap;
    if (v.len > 0)
        memcpy(fresh + 1, children_of(v), v.len * size);
    if (vls_map_put(NULL, &edit->blocks, address_hash(fresh + 1), fresh + 1, fresh) < 0)
        return vls_fail_memory(err);
    *out = fresh;
    return 0;
}

/* Make sure that the container in *slot has a block with room for `extra` more children, and give
 * out where they lie. All containers above it have one already. */
static int own(void **children, vls_edit *edit, vls_json *slot, size_t extra, valise_error *err)
{
    vls_json v = *slot;
    block *old = NULL, *fresh = NULL;
    size_t need = (size_t)v.len + extra;

    if (may_have_block(v))
        old = vls_map_get(&edit->blocks, address_hash(children_of(v)), children_of(v));
    if (old && old->cap >= need) {
        *children = old + 1;
        return 0;
    }
    if (need > UINT32_MAX)
        return vls_fail(err, VALISE_E_LIMIT, "the container is full, with %u children", v.len);
    /* Growing by half makes n appends copy O(n). */
    size_t cap = extra > 0 ? vls_mem_grow(old ? old->cap : v.len, need, 4) : need;
    int rc = new_block(&fresh, edit, v, cap, err);
    if (rc < 0)
        return rc;
    if (old)
        disown(edit, v);
    else if (edit->shared)
        disown_children(edit, v);
    *children = fresh + 1;
    if (v.type == VLS_JSON_ARRAY)
        slot->items = *children;
    else
        slot->members = *children;
    return 0;
}

/* The slot of the value that the first `steps` steps name, in a block that may be changed. */
static int open_slot(vls_json **out, vls_edit *edit, const vls_pointer *path, size_t steps,
                     valise_error *err)
{
    vls_json *slot = &edit->root;
    void *children = NULL;
    size_t at = 0;

    for (size_t i = 0; i < steps; i++) {
        int rc = vls_pointer_find(&at, *slot, path, i, err);
        if (rc == 0)
            rc = own(&children, edit, slot, 0, err);
        if (rc != 0)
            return rc;
        if (slot->type == VLS_JSON_ARRAY)
            slot = (vls_json *)children + at;
        else
            slot = &((vls_member *)children)[at].value;
    }
    *out = slot;
    return 0;
}

/* ---- the edits ---- */

static int insert(vls_edit *edit, vls_json *parent, size_t at, valise_str key, vls_json value,
                  valise_error *err)
{
    size_t size = child_size(*parent);
    size_t behind = parent->len - at;
    valise_str kept_key = {NULL, 0};
    void *children = NULL;
    int rc = own(&children, edit, parent, 1, err);

    if (rc == 0)
        rc = vls_edit_charge(edit, (behind + 1) * size, err);
    /* Where the step was unescaped to does not live as long as the result. */
    if (rc == 0 && parent->type == VLS_JSON_OBJECT)
        rc = vls_arena_dup(&kept_key, edit->arena, key, err);
    if (rc != 0)
        return rc;
    char *place = (char *)children + at * size;
    memmove(place + size, place, behind * size);
    if (parent->type == VLS_JSON_ARRAY)
        ((vls_json *)children)[at] = value;
    else
        ((vls_member *)children)[at] = (vls_member){vls_json_string(kept_key), value};
    parent->len++;
    return 0;
}

int vls_edit_add(vls_edit *edit, const vls_pointer *path, vls_json value, valise_error *err)
{
    vls_json *parent = NULL;
    size_t at = 0;
    bool exists = false;

    if (path->count == 0) {
        edit->root = value;
        return 0;
    }
    size_t last = path->count - 1;
    int rc = open_slot(&parent, edit, path, last, err);
    if (rc == 0)
        rc = vls_pointer_place(&at, &exists, *parent, path, last, err);
    if (rc != 0)
        return rc;
    if (exists)
        return vls_edit_replace(edit, path, value, err);
    return insert(edit, parent, at, path->steps[last], value, err);
}

int vls_edit_replace(vls_edit *edit, const vls_pointer *path, vls_json value, valise_error *err)
{
    vls_json *slot = NULL;
    int rc = open_slot(&slot, edit, path, path->count, err);

    if (rc == 0)
        *slot = value;
    return rc;
}

int vls_edit_remove(vls_edit *edit, const vls_pointer *path, valise_error *err)
{
    vls_json *parent = NULL;
    void *children = NULL;
    size_t at = 0;

    if (path->count == 0)
        return vls_fail(err, VALISE_E_INVALID, "the whole document cannot be removed");
    int rc = open_slot(&parent, edit, path, path->count - 1, err);
    if (rc == 0)
        rc = vls_pointer_find(&at, *parent, path, path->count - 1, err);
    if (rc == 0)
        rc = own(&children, edit, parent, 0, err);
    if (rc != 0)
        return rc;

    size_t size = child_size(*parent);
    size_t behind = parent->len - at - 1;
    rc = vls_edit_charge(edit, behind * size, err);
    if (rc < 0)
        return rc;
    char *place = (char *)children + at * size;
    memmove(place, place + size, behind * size);
    parent->len--;
    return 0;
}
