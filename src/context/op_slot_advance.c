/* op_slot_advance.c -- slot:advance, frames that a run has made become heads. [C22] [C23]
 *
 * A run computes outside of any transaction, so others may have written meanwhile. Either nothing
 * at all has changed since (`version` and `root` are still those of the tree and the context), or
 * each frame is compared with the state of this moment (`check`): the head it replaces, and the
 * inputs it was made of. A replay does neither: what is in the log was accepted. */
#include "base/hex.h"
#include "base/text.h"
#include "context/doubt.h"
#include "context/ops.h"
#include "context/recipe.h"
#include "context/slot.h"
#include "store/view.h"

static const valise_field head_fields[] = {
    VALISE_FIELD_WITH(vls_slot_head, path, PATH, 0, "Path of the directory.", .max = VLS_PATH_MAX),
    VALISE_FIELD(vls_slot_head, type, STR, VALISE_REQUIRED, "Type of the slot."),
    VALISE_FIELD(vls_slot_head, frame, ID, VALISE_REQUIRED, "The frame."),
    VALISE_FIELD(vls_slot_head, head, ID, VALISE_NULLABLE, "The head it replaces."),
    VALISE_FIELD(vls_slot_head, by, STR, VALISE_NULLABLE, "Who had it made again."),
    VALISE_FIELD_END,
};
static const valise_struct head_struct = {sizeof(vls_slot_head), head_fields};
static const valise_field head_item = {
    .name = "head", .type = VALISE_T_STRUCT, .more = &head_struct};

static const valise_field look_fields[] = {
    VALISE_FIELD_WITH(vls_slot_look, path, PATH, 0, "Path of the slot.", .max = VLS_PATH_MAX),
    VALISE_FIELD(vls_slot_look, type, STR, VALISE_REQUIRED, "Its type."),
    VALISE_FIELD(vls_slot_look, known, BOOL, 0, "It is not fresh, and nothing can be done."),
    VALISE_FIELD_END,
};
static const valise_struct look_struct = {sizeof(vls_slot_look), look_fields};
static const valise_field look_item = {
    .name = "look", .type = VALISE_T_STRUCT, .more = &look_struct};

static const valise_field advance_in[] = {
    VALISE_FIELD(vls_slot_advance_args, version, INT, VALISE_NULLABLE,
                 "The tree must have this version."),
    VALISE_FIELD(vls_slot_advance_args, root, ID, VALISE_NULLABLE, "And the context this root."),
    VALISE_FIELD(vls_slot_advance_args, check, BOOL, 0, "Compare each frame with today's state."),
    VALISE_FIELD_WITH(vls_slot_advance_args, heads, LIST, VALISE_REQUIRED, "What becomes the head.",
                      .more = &head_item),
    VALISE_FIELD_WITH(vls_slot_advance_args, looks, LIST, VALISE_REQUIRED, "What was looked at.",
                      .more = &look_item),
    VALISE_FIELD(vls_slot_advance_args, all, BOOL, 0, "Every slot was looked at."),
    VALISE_FIELD_END,
};

static int fail_moved(valise_str path, valise_error *err)
{
    return vls_fail(err, VALISE_E_CONFLICT, "'%s' was changed by somebody else in the meantime",
                    path.len > 0 ? vls_text_short(path).s : ".");
}

/* Is the frame made of the inputs of this moment? */
static int check_inputs(valise_view *view, const vls_state_at *at, const vls_frame_row *frame,
                        valise_error *err)
{
    VLS_AUTO(buf) vls_buf is = {0};
    valise_str recipe_bytes, was;
    vls_recipe recipe;
    vls_inputs inputs = {0};
    int rc = valise_view_object(&recipe_bytes, view, &frame->recipe, err);

    if (rc == 0)
        rc = valise_view_object(&was, view, &frame->basis, err);
    if (rc == 0)
        rc = vls_recipe_read(&recipe, recipe_bytes, &view->arena, err);
    if (rc == 0)
        return vls_fail(err, VALISE_E_INVALID,
                        "the recipe of the new frame about '%s' cannot be followed",
                        vls_text_short(at->path).s);
    if (rc > 0)
        rc = vls_inputs_read(&inputs, view, at, frame->type, &recipe, NULL, err);
    if (rc < 0)
        return rc;
    vls_buf_init(&is, view->arena.env, VLS_BASIS_MAX);
    rc = vls_inputs_basis(&is, &inputs, &frame->recipe, at, err);
    return rc < 0 || vls_str_equal(vls_buf_str(&is), was) ? rc : fail_moved(at->path, err);
}

static int check_head(valise_view *view, const vls_tree_row *tree, const vls_slot_head *head,
                      valise_error *err)
{
    vls_slot_row slot = {.dir = true};
    int rc = vls_slot_get(&slot, view, &tree->id, head->path, head->type, err);

    if (rc < 0)
        return rc;
    return vls_id_equal(&slot.head, &head->head) ? 0 : fail_moved(head->path, err);
}

static int advance(valise_view *view, const vls_tree_row *tree, const vls_slot_head *head,
                   bool check, valise_error *err)
{
    vls_tree_found node;
    vls_frame_row frame;
    vls_slot_done done;
    vls_slot_put_args put = {.tree = tree->id,
                             .path = head->path,
                             .dir = true,
                             .frame = &frame,
                             .regenerated_by = head->by,
                             .again = vls_id_equal(&head->frame, &head->head)};
    int rc = vls_tree_get(&node, view, tree, tree->version, head->path, err);

    if (rc == 0 || (rc > 0 && node.node.kind != VLS_NODE_DIR))
        return fail_moved(head->path, err);
    if (rc > 0)
        rc = vls_frame_get(&frame, view, &head->frame, err);
    if (rc == 0)
        return vls_fail(err, VALISE_E_NOT_FOUND, "there is no frame %s",
                        vls_id_hex(&head->frame).s);
    if (rc > 0 && check) {
        const vls_state_at at = {tree, tree->version, head->path, &node};
        rc = check_head(view, tree, head, err);
        if (rc == 0)
            rc = check_inputs(view, &at, &frame, err);
    }
    if (rc < 0)
        return rc;
    put.node = node.id;
    rc = vls_slot_put(&done, view, &put, err);
    return rc < 0 ? rc : vls_doubt_end(view, &tree->id, head->path, head->type, false, err);
}

static int check_unchanged(valise_view *view, const vls_tree_row *tree,
                           const vls_slot_advance_args *args, valise_error *err)
{
    vls_context_row context;
    int rc = vls_context_get(&context, view, &tree->id, err);

    if (rc < 0 || args->version == VALISE_NONE ||
        (tree->version == args->version && vls_id_equal(&context.root, &args->root)))
        return vls_settle(rc);
    return vls_fail(err, VALISE_E_CONFLICT,
                    "the frames were changed by somebody else in the meantime");
}

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_slot_advance_args *args = in;
    const vls_slot_head *const *heads = args->heads.items;
    const vls_slot_look *const *looks = args->looks.items;
    vls_tree_row tree;
    int rc = vls_tree_head(&tree, view, err);

    (void)out;
    if (rc <= 0)
        return rc;
    rc = view->replaying ? 0 : check_unchanged(view, &tree, args, err);
    for (size_t i = 0; rc == 0 && i < args->heads.count; i++)
        rc = advance(view, &tree, heads[i], args->check && !view->replaying, err);
    /* Where others wrote, what was found fresh may be so no longer: a doubt too many is no harm. */
    for (size_t i = 0; rc == 0 && !args->check && i < args->looks.count; i++)
        rc = vls_doubt_end(view, &tree.id, looks[i]->path, looks[i]->type, looks[i]->known, err);
    if (rc == 0 && args->all && !args->check)
        rc = vls_doubt_begin(view, &tree.id, err);
    return rc;
}

const valise_op vls_op_context_slot_advance = {
    .size = sizeof(valise_op),
    .name = "slot:advance",
    .brief = "Make frames that were made by recipes the heads of their slots.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_INTERNAL | VALISE_OP_IDEMPOTENT,
    .needs = "context:write",
    .in = advance_in,
    .in_size = sizeof(vls_slot_advance_args),
    .decide = decide,
    .example = "{\"heads\":[],\"looks\":[]}",
};
