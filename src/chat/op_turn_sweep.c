/* op_turn_sweep.c -- turn:sweep, the next of what nobody needs any more. [W6] */
#include "chat/ops.h"
#include "chat/refs.h"
#include "chat/sweep.h"

static const valise_field sweep_out[] = {
    VALISE_FIELD(vls_swept, more, BOOL, 0, "There may be more."),
    VALISE_FIELD(vls_swept, removed, INT, 0, "Turns and tips that went."),
    VALISE_FIELD_END,
};

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    vls_swept *result = out;
    int64_t left = VLS_SWEEP_MAX;
    int rc = vls_turn_sweep(view, &left, err);

    (void)in;
    *result = (vls_swept){left <= 0, VLS_SWEEP_MAX - VLS_MAX(left, 0)};
    return rc;
}

int vls_sweep_all(valise *v, valise_error *err)
{
    return vls_run_rounds(v, &vls_op_chat_turn_sweep, NULL, err);
}

const valise_op vls_op_chat_turn_sweep = {
    .size = sizeof(valise_op),
    .name = "turn:sweep",
    .brief = "Remove turns that nobody needs any more.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_INTERNAL | VALISE_OP_IDEMPOTENT | VALISE_OP_DESTRUCTIVE,
    .needs = "session:delete",
    .out = sweep_out,
    .out_size = sizeof(vls_swept),
    .decide = decide,
    .example = "{}",
};
