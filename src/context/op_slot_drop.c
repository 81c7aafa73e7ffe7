/* op_slot_drop.c -- slot:drop, let go of orphaned slots and of what only they have. [C30]
 *
 * Which ones is said by who asks, who had limits and a clock. Here each is looked at once more: its
 * file may have come back, a pin may have been set. */
#include "context/ops_prune.h"
#include "store/view.h"

typedef vls_slot_drop_args drop_args;
typedef vls_slot_drop_result drop_result;

static const valise_field orphan_fields[] = {
    VALISE_FIELD_WITH(vls_orphan, path, PATH, 0, "Where it lies.", .max = VLS_PATH_MAX),
    VALISE_FIELD_WITH(vls_orphan, type, STR, VALISE_REQUIRED, "Type of its frames.", .min = 1,
                      .max = VLS_FRAME_TYPE_MAX),
    VALISE_FIELD(vls_orphan, id, UUID, VALISE_REQUIRED, "Id of the slot."),
    VALISE_FIELD(vls_orphan, closed, BOOL, 0, "It was closed."),
    VALISE_FIELD_END,
};
static const valise_struct orphan_struct = {sizeof(vls_orphan), orphan_fields};
static const valise_field orphan_item = {
    .name = "slot", .type = VALISE_T_STRUCT, .more = &orphan_struct};

static const valise_field drop_in[] = {
    VALISE_FIELD_WITH(drop_args, slots, LIST, VALISE_REQUIRED, "The slots.", .more = &orphan_item,
                      .max = VLS_SLOT_DROP_MAX),
    VALISE_FIELD_END,
};

static const valise_field drop_out[] = {
    VALISE_FIELD(drop_result, slots, INT, 0, "Slots that are gone."),
    VALISE_FIELD(drop_result, closed, INT, 0, "Of these, closed ones."),
    VALISE_FIELD(drop_result, entries, INT, 0, "Their entries."),
    VALISE_FIELD(drop_result, frames, INT, 0, "Frames that nothing else had."),
    VALISE_FIELD_END,
};

static int drop(valise_view *view, const valise_uuid *tree, const vls_orphan *one,
                valise_error *err)
{
    const vls_slot_closed_row closed = {.tree = *tree,
                                        .path = one->path,
                                        .type = one->type,
                                        .id = one->id,
                                        .entries = one->entries};
    vls_slot_row slot;
    int rc;

    if (one->closed)
        return vls_slot_drop_closed(view, &closed, err);
    rc = vls_slot_get(&slot, view, tree, one->path, one->type, err);
    return rc <= 0 ? rc : vls_slot_drop(view, &slot, err);
}

static int drop_all(drop_result *out, valise_view *view, const valise_uuid *tree,
                    const vls_orphan *list, size_t count, valise_error *err)
{
    const valise_id *frames = NULL;
    size_t frame_count = 0;
    int rc = vls_prune_frames(&frames, &frame_count, view, list, count, err);

    for (size_t i = 0; rc == 0 && i < frame_count; i++) {
        const vls_frame_row frame = {.id = frames[i]};
        rc = vls_settle(valise_view_delete(view, &vls_frames, &frame, err));
    }
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = drop(view, tree, &list[i], err);
        out->closed += list[i].closed;
        out->entries += list[i].entries;
    }
    out->slots = (int64_t)count;
    out->frames = (int64_t)frame_count;
    return rc;
}

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const drop_args *args = in;
    const vls_orphan *const *given = args->slots.items;
    vls_tree_row tree;
    vls_orphan *list = vls_arena_array(&view->arena, args->slots.count + 1, sizeof(*list));
    size_t count = 0;
    int rc = list ? vls_tree_head(&tree, view, err) : vls_arena_fail(&view->arena, err);

    if (rc <= 0)
        return rc;
    for (size_t i = 0; rc >= 0 && i < args->slots.count; i++) {
        rc = vls_prune_check(&list[count], view, &tree, given[i], err);
        count += rc > 0;
    }
    return rc < 0 ? rc : drop_all(out, view, &tree.id, list, count, err);
}

const valise_op vls_op_context_slot_drop = {
    .size = sizeof(valise_op),
    .name = "slot:drop",
    .brief = "Let go of orphaned slots, and of the frames that only they have.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_INTERNAL | VALISE_OP_IDEMPOTENT | VALISE_OP_DESTRUCTIVE,
    .needs = "admin",
    .in = drop_in,
    .in_size = sizeof(drop_args),
    .out = drop_out,
    .out_size = sizeof(drop_result),
    .decide = decide,
    .example = "{\"slots\":[{\"id\":\"018f2c4e-7b1a-7c3d-9e4f-000000000001\","
               "\"path\":\"lib/date.c\",\"type\":\"summary\"}]}",
};
