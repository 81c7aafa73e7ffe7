/* op_frame_proof.c -- frame:proof, that a frame is in a slot, for who has nothing but a root. */
#include "base/hex.h"
#include "base/str.h"
#include "base/text.h"
#include "context/context.h"
#include "context/merkle.h"
#include "context/ops.h"
#include "context/slot.h"
#include "store/view.h"

typedef vls_frame_proof_args proof_args;
typedef vls_frame_proof_result proof_result;
typedef vls_frame_proof_meta proof_meta;

static const valise_field proof_in[] = {
    VLS_NODE_FIELD(proof_args),
    VALISE_FIELD_WITH(proof_args, type, STR, VALISE_NULLABLE, "Type of the slot (default: notes).",
                      .max = VLS_FRAME_TYPE_MAX, .ref = "frame:list.type"),
    VALISE_FIELD_WITH(proof_args, frame, STR, VALISE_NULLABLE,
                      "Id of the frame or its first digits (default: the head).", .max = 64,
                      .ref = "frame:list.frameId"),
    VLS_NO_SCAN_FIELD(proof_args),
    VALISE_FIELD_END,
};

static const valise_field meta_fields[] = {
    VLS_TREE_IS_FIELD(proof_meta),
    VALISE_FIELD_END,
};
static const valise_struct meta_struct = {sizeof(proof_meta), meta_fields};

static const valise_field proof_out[] = {
    VALISE_FIELD_AS(proof_result, frame_id, "frameId", ID, VALISE_REQUIRED, "The frame."),
    VALISE_FIELD(proof_result, member, BOOL, VALISE_REQUIRED, "It is in the slot."),
    VALISE_FIELD(proof_result, root, ID, VALISE_REQUIRED, "Root of the slot's frames."),
    VALISE_FIELD(proof_result, proof, BYTES, VALISE_REQUIRED,
                 "That the frame is among them, or not."),
    VALISE_FIELD_AS(proof_result, slot_key, "slotKey", ID, VALISE_REQUIRED,
                    "Hash of path and type."),
    VALISE_FIELD_AS(proof_result, slot_value, "slotValue", ID, VALISE_NULLABLE,
                    "Hash of the head and whether it is marked."),
    VALISE_FIELD_AS(proof_result, context_root, "contextRoot", ID, VALISE_REQUIRED,
                    "Root of all heads."),
    VALISE_FIELD_AS(proof_result, context_proof, "contextProof", BYTES, VALISE_REQUIRED,
                    "That this slot has this value there, or none."),
    VALISE_FIELD_WITH(proof_result, meta, STRUCT, VALISE_NULLABLE, "What else there is to know.",
                      .more = &meta_struct),
    VALISE_FIELD_END,
};

static int prove(valise_str *out, valise_view *view, const valise_uuid *set, const valise_id *key,
                 valise_error *err)
{
    vls_buf proof;
    int rc;

    vls_buf_init_in(&proof, &view->arena, VLS_MERKLE_PROOF_MAX);
    rc = vls_merkle_prove(&proof, view, set, key, err);
    return rc < 0 ? rc : vls_buf_keep(out, &proof, err);
}

static void hash_slot(proof_result *out, const vls_slot_row *slot)
{
    vls_slot_key(&out->slot_key, slot->path, slot->type);
    if (vls_slot_has_head(slot))
        vls_slot_value(&out->slot_value, &slot->head, slot->marked);
}

static int fill(proof_result *out, valise_view *view, const vls_slot_row *slot,
                const valise_id *frame, valise_error *err)
{
    valise_id value;
    int rc = vls_merkle_get(&value, view, &slot->id, frame, err);

    out->frame_id = *frame;
    out->member = rc > 0;
    out->root = slot->root;
    if (rc >= 0)
        rc = prove(&out->proof, view, &slot->id, frame, err);
    hash_slot(out, slot);
    if (rc == 0)
        rc = vls_merkle_root(&out->context_root, NULL, view, &slot->tree, err);
    if (rc == 0)
        rc = prove(&out->context_proof, view, &slot->tree, &out->slot_key, err);
    return rc;
}

static int fill_meta(proof_result *out, valise_view *view, vls_place *place, bool no_scan,
                     valise_error *err)
{
    proof_meta *meta;
    int rc = vls_place_look(place, view, no_scan, err);

    if (rc < 0 || !place->tree_is.ptr)
        return rc;
    meta = vls_arena_zalloc(&view->arena, sizeof(*meta));
    if (!meta)
        return vls_arena_fail(&view->arena, err);
    meta->tree = place->tree_is;
    out->meta = meta;
    return 0;
}

static int query(valise_view *view, const void *in, void *out, valise_error *err)
{
    const proof_args *args = in;
    valise_str type = args->type.ptr ? args->type : VLS_STR(VLS_FRAME_TYPE_USUAL);
    vls_place place;
    vls_slot_row slot;
    valise_id frame;
    int rc = vls_place_find(&place, view, args->node, VLS_STR(""), err);

    if (rc == 0)
        rc = vls_place_allows(&place, view, "context:read", type, err);
    if (rc == 0)
        rc = vls_frame_type_check(type, err);
    if (rc == 0 && args->frame.ptr)
        rc = vls_frame_id_of(&frame, view, args->frame, err);
    if (rc < 0)
        return rc;
    rc = vls_slot_get(&slot, view, &place.tree.id, place.path, type, err);
    if (rc == 0 || (rc > 0 && !args->frame.ptr && !vls_slot_has_head(&slot))) {
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "'%s' has no frame of type %.*s",
                       vls_text_short(place.path).s, VALISE_STR_ARG(type));
        vls_hint(err, "'valise list-frames NODE' shows what there is");
        return VALISE_E_NOT_FOUND;
    }
    if (rc > 0)
        rc = fill_meta(out, view, &place, args->no_scan, err);
    if (rc < 0)
        return rc;
    return fill(out, view, &slot, args->frame.ptr ? &frame : &slot.head, err);
}

const valise_op vls_op_context_frame_proof = {
    .size = sizeof(valise_op),
    .name = "frame:proof",
    .brief = "Make a proof that a frame is, or is not, in a node's slot.",
    .help = "`frame verify` checks a proof against a root, and needs no workspace.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_ASKS,
    .needs = "context:read",
    .in = proof_in,
    .in_size = sizeof(proof_args),
    .out = proof_out,
    .out_size = sizeof(proof_result),
    .query = query,
    .example = "{\"node\":\"lib/date.c\",\"type\":\"summary\"}",
};
