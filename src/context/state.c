/* state.c -- see state.h. */
#include "context/state.h"

#include "base/vec.h"
#include "context/slot_impl.h"
#include "store/view.h"

static const char *const reasons[] = {"node-changed", "child-changed", "child-missing",
                                      "recipe-changed", NULL};

static const char *const texts[] = {
    [VLS_NODE_CHANGED] = "what it is about has changed",
    [VLS_CHILD_CHANGED] = "a frame it was made of is no longer the head",
    [VLS_CHILD_MISSING] = "a frame it was made of is gone",
    [VLS_RECIPE_CHANGED] = "it is made in another way now",
};

const valise_field vls_reason_fields[] = {
    VALISE_FIELD_WITH(vls_reason, reason, ENUM, VALISE_REQUIRED, "What is different.",
                      .more = reasons),
    VALISE_FIELD(vls_reason, child, PATH, VALISE_NULLABLE, "Name of the child it is about."),
    VALISE_FIELD(vls_reason, type, STR, VALISE_NULLABLE, "Type of the child's frame."),
    VALISE_FIELD(vls_reason, text, STR, VALISE_REQUIRED, "The same for people."),
    VALISE_FIELD_END,
};

const valise_struct vls_reason_struct = {sizeof(vls_reason), vls_reason_fields};
const valise_field vls_reason_item = {
    .name = "reason", .type = VALISE_T_STRUCT, .more = &vls_reason_struct};

typedef struct comparing {
    valise_view *view;
    const vls_state_at *at;
    const vls_slot_row *slot;
    vls_vec(const vls_reason *) list;
    bool unknown; /* what it was made of is not there any more */
} comparing;

static int add_reason(comparing *c, int64_t reason, const vls_dependency *child, valise_error *err)
{
    vls_arena *arena = &c->view->arena;
    vls_reason *r;

    if (c->list.len == VLS_REASONS_MAX)
        return 0;
    r = vls_arena_zalloc(arena, sizeof(*r));
    if (!r || !vls_vec_push_in(&c->list, arena, r))
        return vls_arena_fail(arena, err);
    r->reason = reason;
    r->text = valise_str_of(texts[reason]);
    if (child) {
        r->child = child->name;
        r->type = child->type;
    }
    return 0;
}

static int compare_child(comparing *c, const vls_dependency *dep, valise_error *err)
{
    char room[VLS_PATH_MAX + VLS_NODE_NAME_MAX + 2];
    vls_buf path = {.ptr = room, .cap = sizeof(room), .max = sizeof(room) - 1};
    const vls_state_at *at = c->at;
    vls_tree_found node;
    vls_slot_row slot;
    int rc;

    vls_buf_add(&path, at->path);
    if (at->path.len > 0)
        vls_buf_add_byte(&path, '/');
    vls_buf_add(&path, dep->name);
    if (path.failed || path.len > VLS_PATH_MAX)
        return add_reason(c, VLS_CHILD_MISSING, dep, err);
    rc = vls_tree_get(&node, c->view, at->tree, at->version, vls_buf_str(&path), err);
    if (rc > 0)
        rc = vls_slot_get(&slot, c->view, &at->tree->id, vls_buf_str(&path), dep->type, err);
    if (rc < 0)
        return rc;
    if (rc == 0 || !vls_slot_has_head(&slot))
        return add_reason(c, VLS_CHILD_MISSING, dep, err);
    return vls_id_equal(&slot.head, &dep->id) ? 0 : add_reason(c, VLS_CHILD_CHANGED, dep, err);
}

static int compare_one(comparing *c, const vls_dependency *dep, valise_error *err)
{
    switch (dep->kind) {
    case VLS_DEP_NODE:
        return vls_id_equal(&c->at->node->node.object, &dep->id)
                   ? 0
                   : add_reason(c, VLS_NODE_CHANGED, NULL, err);
    case VLS_DEP_FRAME:
        return compare_child(c, dep, err);
    default:
        return vls_id_equal(&c->slot->recipe, &dep->id)
                   ? 0
                   : add_reason(c, VLS_RECIPE_CHANGED, NULL, err);
    }
}

static int compare(comparing *c, const vls_frame_row *frame, valise_error *err)
{
    valise_str basis;
    vls_dependency dep;
    vls_reader in;
    int rc = valise_view_object(&basis, c->view, &frame->basis, err);

    if (rc == VALISE_E_NOT_FOUND) { /* erased: nobody can say any more that it holds */
        vls_error_clear(err);
        c->unknown = true;
        return 0;
    }
    if (rc < 0)
        return rc;
    in = vls_reader_of(basis);
    while ((rc = vls_basis_next(&dep, &in, err)) > 0) {
        rc = compare_one(c, &dep, err);
        if (rc < 0)
            return rc;
    }
    return rc;
}

/* What cannot be read may be anything: that is a change like any other. */
static bool is_other_kind(const vls_tree_found *node, const vls_slot_row *slot)
{
    return node->node.kind != VLS_NODE_UNREADABLE && (node->node.kind == VLS_NODE_DIR) != slot->dir;
}

int vls_state_of(vls_state *out, valise_view *view, const vls_state_at *at,
                 const vls_slot_row *slot, const vls_frame_row *frame, valise_error *err)
{
    comparing c = {.view = view, .at = at, .slot = slot};
    bool is_head = !frame || vls_id_equal(&frame->id, &slot->head);
    vls_state state = {.state = VLS_STATE_FRESH};
    vls_frame_row head;
    int rc = 0;

    if (!frame && !vls_slot_has_head(slot))
        state.state = VLS_STATE_EMPTY;
    else if (!at->node || is_other_kind(at->node, slot))
        state.state = VLS_STATE_ORPHANED;
    else if (is_head && slot->marked)
        state.state = VLS_STATE_INVALIDATED;
    if (state.state != VLS_STATE_FRESH) {
        *out = state;
        return 0;
    }
    if (!frame) {
        rc = vls_frame_get(&head, view, &slot->head, err);
        if (rc == 0)
            rc = vls_fail(err, VALISE_E_CORRUPT, "the head of a slot is missing");
        frame = &head;
    }
    if (rc >= 0)
        rc = compare(&c, frame, err);
    if (rc < 0)
        return rc;
    if (c.list.len > 0 || c.unknown)
        state = (vls_state){VLS_STATE_STALE, {c.list.ptr, c.list.len}};
    *out = state;
    return 0;
}
