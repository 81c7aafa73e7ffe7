/* inputs.c -- what a recipe selects of what is said about the entries of a directory. */
#include "base/glob.h"
#include "base/text.h"
#include "base/vec.h"
#include "context/recipe.h"
#include "context/slot.h"
#include "store/view.h"

typedef struct selecting {
    valise_view *view;
    const vls_state_at *dir;
    valise_str type; /* that is made */
    const vls_recipe *recipe;
    const vls_heads_ahead *ahead;
    vls_vec(vls_recipe_input) list; /* in the view's memory, as the next */
    vls_vec(valise_str) missing;
    vls_inputs counts;
    const vls_tree_found *child; /* that is being looked at */
    bool said;                   /* something that could go in */
} selecting;

static bool fits(valise_str glob, valise_str text)
{
    return !glob.ptr || vls_glob_match(&vls_glob_flat, glob, text);
}

/* Is the head about the file as it is? Of a directory nobody asks: whether that is so depends on
 * all that lies under it. */
static int is_stale(bool *out, selecting *s, const vls_slot_row *slot, const vls_frame_row *frame,
                    valise_error *err)
{
    vls_dependency dep = {.kind = 0};
    valise_str basis;
    vls_reader in;
    int rc;

    *out = slot->marked;
    if (slot->marked || slot->dir)
        return 0;
    rc = valise_view_object(&basis, s->view, &frame->basis, err);
    if (rc == VALISE_E_NOT_FOUND) {
        vls_error_clear(err);
        *out = true;
        return 0;
    }
    if (rc < 0)
        return rc;
    in = vls_reader_of(basis);
    while ((rc = vls_basis_next(&dep, &in, err)) > 0 && dep.kind != VLS_DEP_NODE)
        ;
    *out = rc > 0 && !vls_id_equal(&dep.id, &s->child->node.object);
    return vls_settle(rc);
}

static int add_input(selecting *s, const vls_slot_row *slot, const vls_frame_row *frame,
                     valise_error *err)
{
    const vls_recipe_where *where = s->recipe->where;
    vls_arena *arena = &s->view->arena;
    valise_str name = vls_path_name(s->child->path);
    vls_recipe_input input = {.shown = {.directory = slot->dir,
                                        .type = frame->type,
                                        .agent = frame->agent,
                                        .size = frame->size},
                              .frame = frame->id,
                              .content = frame->content};
    int rc;

    if (vls_id_is_none(&frame->content))
        return 0; /* erased */
    s->said = true;
    if (where && (!fits(where->type, frame->type) || !fits(where->agent, frame->agent) ||
                  (where->max_size > 0 && frame->size > where->max_size)))
        return 0;
    if (s->recipe->limit > 0 && (int64_t)s->list.len >= s->recipe->limit)
        return 0;
    rc = is_stale(&input.stale, s, slot, frame, err);
    if (rc < 0 || (input.stale && where && where->fresh))
        return rc;
    rc = vls_arena_dup(&input.shown.name, arena, name, err);
    if (rc < 0)
        return rc;
    return vls_vec_push_in(&s->list, arena, input) ? 0 : vls_arena_fail(arena, err);
}

/* The head of the slot as it is, which stays in the view's memory. */
static int add_head(selecting *s, const vls_slot_row *slot, valise_error *err)
{
    vls_frame_row frame;
    int rc = vls_frame_get(&frame, s->view, &slot->head, err);

    if (rc == 0)
        return vls_slot_fail_missing(s->view, slot, "the head of a slot is missing", err);
    return rc < 0 ? rc : add_input(s, slot, &frame, err);
}

static int add_file(void *arg, const vls_slot_row *slot, valise_error *err)
{
    selecting *s = arg;

    if (slot->dir || !vls_slot_has_head(slot) || !fits(s->recipe->input, slot->type))
        return 0;
    return add_head(s, slot, err);
}

/* A directory, or something that cannot be read now and was one. */
static int add_dir(selecting *s, valise_error *err)
{
    valise_str path = s->child->path;
    const vls_frame_row *made = s->ahead ? s->ahead->get(s->ahead->self, path, s->type) : NULL;
    vls_slot_row slot = {.dir = true};
    int rc;

    if (made)
        return add_input(s, &slot, made, err);
    rc = vls_slot_get(&slot, s->view, &s->dir->tree->id, path, s->type, err);
    if (rc <= 0 || !slot.dir || !vls_slot_has_head(&slot))
        return vls_settle(rc);
    return add_head(s, &slot, err);
}

/* What was left out by a condition or the limit is not missing. */
static int add_missing(selecting *s, valise_error *err)
{
    vls_arena *arena = &s->view->arena;
    valise_str name;
    int rc;

    if (++s->counts.missing > VLS_INPUTS_MISSING_MAX)
        return 0;
    rc = vls_arena_dup(&name, arena, vls_path_name(s->child->path), err);
    if (rc < 0)
        return rc;
    return vls_vec_push_in(&s->missing, arena, name) ? 0 : vls_arena_fail(arena, err);
}

static int add_child(void *arg, const vls_tree_found *child, valise_error *err)
{
    selecting *s = arg;
    int rc = 0;

    s->child = child;
    s->said = false;
    s->counts.is_empty = false;
    if (s->recipe->where && !fits(s->recipe->where->name, vls_path_name(child->path)))
        return 0;
    if (child->node.kind != VLS_NODE_DIR)
        rc = vls_slot_each(s->view, &s->dir->tree->id, child->path, add_file, s, err);
    if (rc == 0 && (child->node.kind == VLS_NODE_DIR || child->node.kind == VLS_NODE_UNREADABLE))
        rc = add_dir(s, err);
    return rc < 0 || s->said ? rc : add_missing(s, err);
}

int vls_inputs_read(vls_inputs *out, valise_view *view, const vls_state_at *dir, valise_str type,
                    const vls_recipe *recipe, const vls_heads_ahead *ahead, valise_error *err)
{
    selecting s = {.view = view,
                   .dir = dir,
                   .type = type,
                   .recipe = recipe,
                   .ahead = ahead,
                   .counts = {.is_empty = true}};
    int rc = vls_tree_children(view, dir->tree, dir->version, dir->path, add_child, &s, err);

    if (rc < 0)
        return rc;
    s.counts.items = s.list.ptr;
    s.counts.count = s.list.len;
    s.counts.missing_names = s.missing.ptr;
    s.counts.missing_count = s.missing.len;
    *out = s.counts;
    return 0;
}

int vls_inputs_basis(vls_buf *out, const vls_inputs *inputs, const valise_id *recipe,
                     const vls_state_at *dir, valise_error *err)
{
    vls_dependency dep = {.kind = VLS_DEP_RECIPE, .id = *recipe};

    vls_basis_add(out, &dep);
    if (inputs->is_empty) {
        dep = (vls_dependency){.kind = VLS_DEP_NODE, .id = dir->node->node.object};
        vls_basis_add(out, &dep);
    }
    for (size_t i = 0; i < inputs->count; i++) {
        const vls_recipe_input *input = &inputs->items[i];
        dep = (vls_dependency){.kind = VLS_DEP_SAID,
                               .id = input->content,
                               .dir = input->shown.directory,
                               .name = input->shown.name,
                               .type = input->shown.type,
                               .agent = input->shown.agent};
        vls_basis_add(out, &dep);
    }
    if (out->failed && out->len + 1024 > out->max)
        return vls_fail(err, VALISE_E_LIMIT, "'%s' has too many inputs for one frame",
                        vls_text_short(dir->path).s);
    return vls_buf_check(out, err);
}
