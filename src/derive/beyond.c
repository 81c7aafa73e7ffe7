/* beyond.c -- what a regeneration leaves because it was not meant: told, so that who regenerates a
 * part knows of the rest. [C21]
 *
 * Slots under the node, where only the node was meant, and of the directories above it. Those that
 * are doubted are looked at, and those that do not hold are told; the first thousand of them. */
#include "base/str.h"
#include "context/doubt.h"
#include "context/slot.h"
#include "derive/run_impl.h"
#include "store/view.h"

typedef struct beyond {
    vls_run_state *r;
    valise_view *view;
    vls_tree_row tree;
    size_t looked;
} beyond;

/* What was made made it so, and told it already. */
static bool is_told(const vls_run_state *r, const vls_slot_doubt_row *doubt)
{
    for (size_t i = 0; i < r->rows.len; i++) {
        const vls_derived_row *row = r->rows.ptr[i];
        if (row->outcome == VLS_RUN_OUT_OF_SCOPE && vls_str_equal(row->path, doubt->path) &&
            vls_str_equal(row->type, doubt->type))
            return true;
    }
    return false;
}

/* 1: it does not hold; 0: it does, or there is nothing. */
static int look(beyond *b, const vls_slot_doubt_row *doubt, valise_error *err)
{
    vls_state_at at = {.tree = &b->tree, .version = b->tree.version, .path = doubt->path};
    vls_tree_found node;
    vls_slot_row slot;
    vls_state state;
    int rc = vls_path_readable(b->view, doubt->path, doubt->type, err);

    if (rc > 0)
        rc = vls_slot_get(&slot, b->view, &b->tree.id, doubt->path, doubt->type, err);
    if (rc <= 0 || !vls_slot_has_head(&slot))
        return rc < 0 ? rc : 0;
    rc = vls_tree_get(&node, b->view, &b->tree, b->tree.version, doubt->path, err);
    if (rc < 0)
        return rc;
    at.node = rc > 0 ? &node : NULL;
    rc = vls_state_of(&state, b->view, &at, &slot, NULL, err);
    return rc < 0 ? rc : state.state != VLS_STATE_FRESH;
}

static int tell(void *arg, const vls_slot_doubt_row *doubt, valise_error *err)
{
    beyond *b = arg;
    const vls_task task = {doubt->path, doubt->type};
    vls_view_mark mark = vls_view_here(b->view);
    int rc;

    if (vls_run_is_meant(b->r, doubt->path) || is_told(b->r, doubt))
        return 0;
    if (++b->looked > VLS_RUN_ROWS_MAX)
        return 1;
    rc = look(b, doubt, err);
    if (rc > 0)
        rc = vls_run_tell(b->r, &task, VLS_RUN_OUT_OF_SCOPE, NULL, NULL, NULL, err);
    vls_view_rewind(b->view, mark);
    return rc;
}

static int tell_above(beyond *b, valise_error *err)
{
    valise_str path = b->r->options->path;
    int rc = 0;

    while (rc == 0 && path.len > 0) {
        path = vls_path_parent(path);
        for (int known = 0; rc == 0 && known < 2; known++)
            rc = vls_doubt_each_at(b->view, &b->tree.id, path, known > 0, tell, b, err);
    }
    return rc;
}

static int tell_all(void *arg, valise_view *view, valise_error *err)
{
    beyond b = {.r = arg, .view = view};
    int rc = vls_tree_head(&b.tree, view, err);

    if (rc <= 0)
        return rc;
    rc = tell_above(&b, err);
    for (int known = 0; rc == 0 && known < 2 && !b.r->options->recursive; known++)
        rc = vls_doubt_each(view, &b.tree.id, b.r->options->path, known > 0, tell, &b, err);
    return rc < 0 ? rc : 0;
}

int vls_run_beyond(vls_run_state *r, const valise_call *call, valise_error *err)
{
    const vls_run_options *o = r->options;

    if (o->recipe || o->only_new || !r->kept)
        return 0;
    return vls_with_view(r->v, call, tell_all, r, err);
}
