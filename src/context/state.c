/* state.c -- see state.h. */
#include "context/state.h"

#include "base/str.h"
#include "base/vec.h"
#include "bus/bus.h"
#include "context/recipe.h"
#include "context/slot.h"
#include "store/view.h"

static const char *const reasons[] = {"node-changed", "child-changed", "child-missing",
                                      "recipe-changed", NULL};

static const char *const texts[] = {
    [VLS_NODE_CHANGED] = "what it is about has changed",
    [VLS_CHILD_CHANGED] = "what is said about a child is not what it was made of",
    [VLS_CHILD_MISSING] = "what it was made of is no longer said about a child",
    [VLS_RECIPE_CHANGED] = "it is made in another way now",
};

static const valise_field reason_fields[] = {
    VALISE_FIELD_WITH(vls_reason, reason, ENUM, VALISE_REQUIRED, "What is different.",
                      .more = reasons),
    VALISE_FIELD(vls_reason, child, PATH, VALISE_NULLABLE, "Name of the child it is about."),
    VALISE_FIELD(vls_reason, type, STR, VALISE_NULLABLE, "Type of the child's frame."),
    VALISE_FIELD(vls_reason, text, STR, VALISE_REQUIRED, "The same for people."),
    VALISE_FIELD_END,
};

static const valise_struct reason_struct = {sizeof(vls_reason), reason_fields};
const valise_field vls_reason_item = {
    .name = "reason", .type = VALISE_T_STRUCT, .more = &reason_struct};

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
    int rc;

    if (c->list.len == VLS_REASONS_MAX)
        return 0;
    r = vls_arena_zalloc(arena, sizeof(*r));
    if (!r || !vls_vec_push_in(&c->list, arena, r))
        return vls_arena_fail(arena, err);
    r->reason = reason;
    r->text = valise_str_of(texts[reason]);
    if (!child)
        return 0;
    rc = vls_arena_dup(&r->child, arena, child->name, err);
    return rc < 0 ? rc : vls_arena_dup(&r->type, arena, child->type, err);
}

/* ---- of what somebody wrote: the node ---- */

static int compare_nodes(comparing *c, valise_str basis, valise_error *err)
{
    vls_reader in = vls_reader_of(basis);
    vls_dependency dep;
    int rc;

    while ((rc = vls_basis_next(&dep, &in, err)) > 0) {
        if (dep.kind != VLS_DEP_NODE || vls_id_equal(&c->at->node->node.object, &dep.id))
            continue;
        rc = add_reason(c, VLS_NODE_CHANGED, NULL, err);
        if (rc < 0)
            return rc;
    }
    return rc;
}

/* ---- of what was made by a recipe: the inputs of today ---- */

/* The next one that a child said; kind 0: there is none. */
static int next_said(vls_dependency *out, vls_reader *in, valise_error *err)
{
    int rc;

    while ((rc = vls_basis_next(out, in, err)) > 0 && out->kind != VLS_DEP_SAID)
        ;
    if (rc == 0)
        *out = (vls_dependency){.kind = 0};
    return vls_settle(rc);
}

static int order_of(const vls_dependency *a, const vls_dependency *b)
{
    int order;

    if (a->kind == 0 || b->kind == 0)
        return a->kind == b->kind ? 0 : a->kind == 0 ? 1 : -1;
    order = vls_str_compare(a->name, b->name);
    return order != 0 ? order : vls_str_compare(a->type, b->type);
}

static bool says_the_same(const vls_dependency *a, const vls_dependency *b)
{
    return a->dir == b->dir && vls_str_equal(a->agent, b->agent) && vls_id_equal(&a->id, &b->id);
}

/* Both are in the order of names and types. */
static int tell_differences(comparing *c, valise_str was, valise_str is, valise_error *err)
{
    vls_reader old = vls_reader_of(was), new = vls_reader_of(is);
    vls_dependency a, b;
    int rc = next_said(&a, &old, err);

    if (rc == 0)
        rc = next_said(&b, &new, err);
    while (rc == 0 && (a.kind != 0 || b.kind != 0)) {
        int order = order_of(&a, &b);
        if (order < 0)
            rc = add_reason(c, VLS_CHILD_MISSING, &a, err);
        else if (order > 0 || !says_the_same(&a, &b))
            rc = add_reason(c, VLS_CHILD_CHANGED, &b, err);
        if (rc == 0 && order >= 0)
            rc = next_said(&b, &new, err);
        if (rc == 0 && order <= 0)
            rc = next_said(&a, &old, err);
    }
    /* Nothing of that: the directory was empty, or is. */
    return rc < 0 || c->list.len > 0 ? rc : add_reason(c, VLS_NODE_CHANGED, NULL, err);
}

static int compare_inputs(comparing *c, const vls_frame_row *frame, valise_str was,
                          const vls_recipe *recipe, valise_error *err)
{
    VLS_AUTO(buf) vls_buf is = {0};
    vls_inputs inputs;
    int rc = vls_inputs_read(&inputs, c->view, c->at, c->slot->type, recipe, NULL, err);

    if (rc < 0)
        return rc;
    vls_buf_init(&is, c->view->arena.env, VLS_BASIS_MAX);
    rc = vls_inputs_basis(&is, &inputs, &frame->recipe, c->at, err);
    if (rc == 0 && !vls_str_equal(vls_buf_str(&is), was))
        rc = tell_differences(c, was, vls_buf_str(&is), err);
    if (rc == 0 && vls_recipe_is_old(c->view, recipe))
        rc = add_reason(c, VLS_RECIPE_CHANGED, NULL, err);
    return rc;
}

/* An object that may have been erased: then nobody can say any more that it holds. */
static int read_or_doubt(valise_str *out, comparing *c, const valise_id *id, valise_error *err)
{
    int rc = valise_view_object(out, c->view, id, err);

    if (rc != VALISE_E_NOT_FOUND)
        return rc < 0 ? rc : 1;
    vls_error_clear(err);
    c->unknown = true;
    return 0;
}

/* Doubts are about what changed in the workspace; who reads it may be a newer program. */
static int compare_recipe(comparing *c, const vls_frame_row *frame, valise_error *err)
{
    valise_str bytes;
    vls_recipe recipe;
    int rc = vls_id_is_none(&frame->recipe) ? 0 : read_or_doubt(&bytes, c, &frame->recipe, err);

    if (rc <= 0)
        return rc;
    rc = vls_recipe_read(&recipe, bytes, &c->view->arena, NULL);
    if (rc == VALISE_E_NO_MEMORY)
        return vls_arena_fail(&c->view->arena, err);
    return rc < 0 || (rc > 0 && vls_recipe_is_old(c->view, &recipe))
               ? add_reason(c, VLS_RECIPE_CHANGED, NULL, err)
               : 0;
}

static int compare(comparing *c, const vls_frame_row *frame, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    valise_str basis, bytes;
    vls_dependency said = {.kind = 0};
    vls_recipe recipe;
    vls_reader in;
    int rc = read_or_doubt(&basis, c, &frame->basis, err);

    if (rc <= 0)
        return rc;
    if (vls_id_is_none(&frame->recipe))
        return compare_nodes(c, basis, err);
    rc = read_or_doubt(&bytes, c, &frame->recipe, err);
    if (rc < 0)
        return rc;
    if (rc == 0) { /* what it depends on may still be said by the basis alone */
        in = vls_reader_of(basis);
        rc = next_said(&said, &in, err);
        c->unknown = said.kind != 0 || frame->kind == VLS_FRAME_DERIVED;
        return rc < 0 || c->unknown ? rc : compare_nodes(c, basis, err);
    }
    rc = vls_recipe_read(&recipe, bytes, &c->view->arena, &why);
    if (rc == VALISE_E_NO_MEMORY)
        return vls_arena_fail(&c->view->arena, err);
    if (rc < 0) /* a newer program wrote it */
        return add_reason(c, VLS_RECIPE_CHANGED, NULL, err);
    return rc == 0 ? compare_nodes(c, basis, err) : compare_inputs(c, frame, basis, &recipe, err);
}

/* What cannot be read may be anything: that is a change like any other. */
static bool has_lost(const vls_slot_row *slot, const vls_tree_found *node)
{
    return !node || (node->node.kind != VLS_NODE_UNREADABLE &&
                     (node->node.kind == VLS_NODE_DIR) != slot->dir);
}

/* Does something above the path lie there that cannot be read now? Then nobody knows what is in it.
 * 1, or 0. */
static int is_shut_away(valise_view *view, const vls_tree_row *tree, int64_t version,
                        valise_str path, valise_error *err)
{
    vls_tree_found above;
    int rc = 0;

    while (rc == 0 && path.len > 0) {
        path = vls_path_parent(path);
        rc = vls_tree_get(&above, view, tree, version, path, err);
    }
    return rc <= 0 ? rc : above.node.kind == VLS_NODE_UNREADABLE;
}

int vls_state_is_orphan(valise_view *view, const vls_tree_row *tree, int64_t version,
                        const vls_slot_row *slot, valise_error *err)
{
    vls_tree_found node;
    int rc = vls_tree_get(&node, view, tree, version, slot->path, err);

    if (rc != 0)
        return rc < 0 ? rc : has_lost(slot, &node);
    rc = is_shut_away(view, tree, version, slot->path, err);
    return rc < 0 ? rc : rc == 0;
}

int vls_state_of(vls_state *out, valise_view *view, const vls_state_at *at,
                 const vls_slot_row *slot, const vls_frame_row *frame, valise_error *err)
{
    comparing c = {.view = view, .at = at, .slot = slot};
    bool is_head = !frame || vls_id_equal(&frame->id, &slot->head);
    vls_state state = {.state = VLS_STATE_FRESH};
    vls_frame_row head;
    int rc = at->node ? 0 : is_shut_away(view, at->tree, at->version, at->path, err);
    bool shut_away = rc > 0;

    if (rc < 0)
        return rc;
    if (!frame && !vls_slot_has_head(slot))
        state.state = VLS_STATE_EMPTY;
    else if (!shut_away && has_lost(slot, at->node))
        state.state = VLS_STATE_ORPHANED;
    else if (is_head && slot->marked)
        state.state = VLS_STATE_INVALIDATED;
    if (state.state != VLS_STATE_FRESH) {
        *out = state;
        return 0;
    }
    if (shut_away) {
        rc = add_reason(&c, VLS_NODE_CHANGED, NULL, err);
        if (rc < 0)
            return rc;
        *out = (vls_state){VLS_STATE_STALE, {c.list.ptr, c.list.len}};
        return 0;
    }
    if (!frame) {
        rc = vls_frame_get(&head, view, &slot->head, err);
        if (rc == 0)
            rc = vls_slot_fail_missing(view, slot, "the head of a slot is missing", err);
        frame = &head;
    }
    if (rc >= 0)
        rc = is_head && at->trusted ? compare_recipe(&c, frame, err) : compare(&c, frame, err);
    if (rc < 0)
        return rc;
    if (c.list.len > 0 || c.unknown)
        state = (vls_state){VLS_STATE_STALE, {c.list.ptr, c.list.len}};
    *out = state;
    return 0;
}
