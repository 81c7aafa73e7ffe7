/* scan_moves.c -- what moves along with files: their slots. [C12] */
#include "context/ops.h"
#include "context/scan_batch.h"

/* All moves are one command: each slot is taken away before the first is put. */
int vls_scan_moves(vls_scan_batch *batch, const vls_scan *scan, int64_t base, valise_error *err)
{
    size_t count = VLS_MIN(scan->moves.len, VLS_SLOT_MOVES_MAX);
    const vls_slot_move **items;
    vls_slot_move *moves;
    int rc = 0;

    if (count == 0 || base == 0)
        return 0;
    items = vls_arena_array(batch->arena, count, sizeof(*items));
    moves = vls_arena_array(batch->arena, count, sizeof(*moves));
    if (!items || !moves)
        return vls_arena_fail(batch->arena, err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        const vls_scan_move *move = &scan->moves.ptr[i];
        items[i] = &moves[i];
        rc = vls_arena_dup(&moves[i].from, batch->arena, move->from, err);
        if (rc == 0)
            rc = vls_arena_dup(&moves[i].to, batch->arena, move->to, err);
    }
    if (rc < 0)
        return rc;
    return vls_scan_batch_add(batch, &vls_op_context_slot_move,
                              &(vls_slot_move_args){.moves = {items, count}}, err);
}
