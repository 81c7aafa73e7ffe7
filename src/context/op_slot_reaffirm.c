/* op_slot_reaffirm.c -- slot:reaffirm, say that what was written still holds. [C21] [C24] */
#include "base/text.h"
#include "context/ops.h"
#include "context/slot.h"
#include "store/view.h"

typedef vls_slot_reaffirm_args reaffirm_args;
typedef vls_slot_reaffirm_result reaffirm_result;

static const valise_field reaffirm_in[] = {
    VLS_NODE_FIELD(reaffirm_args),
    VALISE_FIELD_WITH(reaffirm_args, type, STR, VALISE_NULLABLE,
                      "Type of the frame (default: notes).", .min = 1, .max = VLS_FRAME_TYPE_MAX),
    VLS_NO_SCAN_FIELD(reaffirm_args),
    VALISE_FIELD_END,
};

static const valise_field reaffirm_out[] = {
    VALISE_FIELD_AS(reaffirm_result, frame_id, "frameId", ID, VALISE_REQUIRED, "The head now."),
    VALISE_FIELD_AS(reaffirm_result, previous_head, "previousHead", ID, VALISE_NULLABLE,
                    "The head before."),
    VALISE_FIELD(reaffirm_result, changed, BOOL, VALISE_REQUIRED, "Something was written."),
    VALISE_FIELD(reaffirm_result, path, PATH, VALISE_REQUIRED, "Path of the node."),
    VALISE_FIELD(reaffirm_result, type, STR, VALISE_REQUIRED, "Type of the frame."),
    VALISE_FIELD_AS(reaffirm_result, context_root, "contextRoot", ID, VALISE_REQUIRED,
                    "Root of all heads."),
    VALISE_FIELD_END,
};

static int find_head(vls_slot_row *slot, vls_frame_row *head, valise_view *view,
                     const vls_place *place, valise_str type, valise_error *err)
{
    int rc = vls_slot_get(slot, view, &place->tree.id, place->path, type, err);

    if (rc < 0)
        return rc;
    if (rc == 0 || !vls_slot_has_head(slot)) {
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "there is no frame of type %s about '%s'",
                       vls_text_short(type).s,
                       place->path.len > 0 ? vls_text_short(place->path).s : ".");
        vls_hint(err, "write one with 'valise put-frame'");
        return VALISE_E_NOT_FOUND;
    }
    rc = vls_frame_get(head, view, &slot->head, err);
    if (rc == 0)
        return vls_fail(err, VALISE_E_CORRUPT, "the head of a slot is missing");
    if (rc > 0 && vls_id_is_none(&head->content))
        return vls_fail(err, VALISE_E_NOT_FOUND, "the frame's content was erased");
    return vls_settle(rc);
}

/* The same words, by the same author, about the node as it is. */
static int make_anew(vls_slot_done *done, valise_view *view, const vls_place *place,
                     const vls_slot_row *slot, const vls_frame_row *head, valise_error *err)
{
    const vls_dependency node = {.kind = VLS_DEP_NODE, .id = place->node.node.object};
    VLS_AUTO(buf) vls_buf basis = {0};
    vls_frame_new from = {
        .type = head->type, .agent = head->agent, .content = {.id = head->content}};
    valise_str actor = valise_view_stamp(view)->actor;
    vls_slot_entry_row entry = {.number = 0};
    vls_frame_row frame;
    vls_slot_put_args put = {.tree = place->tree.id,
                             .path = place->path,
                             .dir = place->node.node.kind == VLS_NODE_DIR,
                             .frame = &frame,
                             .node = place->node.id};
    int rc;

    vls_buf_init(&basis, view->arena.env, 4096);
    vls_basis_add(&basis, &node);
    rc = vls_buf_check(&basis, err);
    from.basis = vls_buf_str(&basis);
    if (rc == 0)
        rc = vls_frame_make(&frame, view, &from, err);
    if (rc == 0)
        rc = vls_frame_put(view, &frame, &from, err);
    if (rc >= 0)
        rc = vls_slot_entry(&entry, view, &slot->id, slot->head_entry, err);
    if (rc < 0)
        return rc;
    put.media_type = entry.media_type;
    put.metadata = entry.metadata;
    if (!vls_str_equal(actor, head->agent))
        put.regenerated_by = actor;
    return vls_slot_put(done, view, &put, err);
}

static int reaffirm(vls_slot_done *done, valise_view *view, const vls_place *place,
                    vls_slot_row *slot, const vls_frame_row *head, valise_error *err)
{
    const vls_state_at at = vls_place_at(place);
    vls_slot_row unmarked = *slot;
    vls_state state;
    int rc;

    *done = (vls_slot_done){.previous = slot->head, .slot = *slot};
    unmarked.marked = false;
    rc = vls_state_of(&state, view, &at, &unmarked, NULL, err);
    if (rc < 0)
        return rc;
    if (state.state == VLS_STATE_FRESH) {
        rc = vls_slot_reaffirm(view, slot, err);
        done->wrote = rc > 0;
        done->slot = *slot;
        return vls_settle(rc);
    }
    if (vls_id_is_none(&head->recipe))
        return make_anew(done, view, place, slot, head, err);
    (void)vls_fail(err, VALISE_E_CONFLICT,
                   "what is known about '%s' was made from something that has changed since",
                   place->path.len > 0 ? vls_text_short(place->path).s : ".");
    vls_hint(err, head->kind == VLS_FRAME_DERIVED
                      ? "'valise regenerate' makes it again"
                      : "'valise regenerate --run' makes it again, or its author writes it again: "
                        "'valise put-frame'");
    return VALISE_E_CONFLICT;
}

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const reaffirm_args *args = in;
    reaffirm_result *result = out;
    valise_str type = args->type.ptr ? args->type : VLS_STR(VLS_FRAME_TYPE_USUAL);
    vls_context_row context;
    vls_frame_row head;
    vls_slot_done done;
    vls_slot_row slot;
    vls_place place;
    int rc = vls_place_find(&place, view, args->node, VLS_STR(""), err);

    if (rc == 0)
        rc = vls_place_allows(&place, view, "context:write", type, err);
    if (rc == 0 && !place.there)
        rc = vls_place_fail(&place, err);
    if (rc == 0)
        rc = find_head(&slot, &head, view, &place, type, err);
    if (rc == 0)
        rc = reaffirm(&done, view, &place, &slot, &head, err);
    if (rc == 0)
        rc = vls_context_get(&context, view, &place.tree.id, err);
    if (rc < 0)
        return rc;
    *result = (reaffirm_result){.frame_id = done.slot.head,
                                .previous_head = done.previous,
                                .changed = done.wrote,
                                .path = place.path,
                                .type = type,
                                .context_root = context.root};
    return 0;
}

static int prepare(valise_prepare *p, const void *in, valise_error *err)
{
    const reaffirm_args *args = in;

    return vls_place_prepare(p, args->node, args->no_scan, err);
}

const valise_op vls_op_context_slot_reaffirm = {
    .size = sizeof(valise_op),
    .name = "slot:reaffirm",
    .alias = "reaffirm",
    .brief = "Confirm that what is known about a file or directory still holds.",
    .help = "The same content becomes a new frame about the file as it is now, under its old "
            "author. A mark that `valise invalidate` left is removed.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_IDEMPOTENT | VALISE_OP_ASKS,
    .needs = "context:write",
    .in = reaffirm_in,
    .in_size = sizeof(reaffirm_args),
    .out = reaffirm_out,
    .out_size = sizeof(reaffirm_result),
    .decide = decide,
    .prepare = prepare,
    .example = "{\"node\":\"lib/date.c\",\"type\":\"summary\"}",
};
