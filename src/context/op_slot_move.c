/* op_slot_move.c -- slot:move, what is known about files moves along with them. [C12] */
#include "base/vec.h"
#include "context/context.h"
#include "context/ops.h"
#include "store/view.h"

static const valise_field move_fields[] = {
    VALISE_FIELD_WITH(vls_slot_move, from, PATH, VALISE_REQUIRED, "Where it lay.",
                      .max = VLS_PATH_MAX),
    VALISE_FIELD_WITH(vls_slot_move, to, PATH, VALISE_REQUIRED, "Where it lies now.",
                      .max = VLS_PATH_MAX),
    VALISE_FIELD_END,
};
static const valise_struct move_struct = {sizeof(vls_slot_move), move_fields};
static const valise_field move_item = {
    .name = "move", .type = VALISE_T_STRUCT, .more = &move_struct};

static const valise_field moves_in[] = {
    VALISE_FIELD_WITH(vls_slot_move_args, moves, LIST, VALISE_REQUIRED, "What moved.",
                      .more = &move_item, .max = VLS_SLOT_MOVES_MAX),
    VALISE_FIELD_END,
};

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_slot_move_args *args = in;
    const vls_slot_move *const *items = args->moves.items;
    vls_slot_move *moves;
    vls_tree_row tree;
    int rc = vls_tree_head(&tree, view, err);

    (void)out;
    if (rc <= 0 || args->moves.count == 0)
        return rc;
    moves = vls_arena_array(&view->arena, args->moves.count, sizeof(*moves));
    if (!moves)
        return vls_arena_fail(&view->arena, err);
    for (size_t i = 0; i < args->moves.count; i++)
        moves[i] = *items[i];
    return vls_slot_move_all(view, &tree.id, moves, args->moves.count, err);
}

const valise_op vls_op_context_slot_move = {
    .size = sizeof(valise_op),
    .name = "slot:move",
    .brief = "Move what is known about files along with them.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_INTERNAL | VALISE_OP_IDEMPOTENT,
    .needs = "tree:write",
    .in = moves_in,
    .in_size = sizeof(vls_slot_move_args),
    .decide = decide,
    .example = "{\"moves\":[{\"from\":\"a.c\",\"to\":\"src/a.c\"}]}",
};
