/* op_turn_remove.c -- turn:remove, the command behind `turn delete`: rows go, heads move. [W5] */
#include "bus/told.h"
#include "chat/ops.h"
#include "chat/scrub.h"
#include "chat/sweep.h"

static const valise_field remove_in[] = {
    VALISE_FIELD_AS(vls_turn_remove_args, session, "sessionId", UUID, VALISE_REQUIRED,
                    "The session that asks."),
    VALISE_FIELD_AS(vls_turn_remove_args, turn, "turnId", UUID, VALISE_REQUIRED, "The turn."),
    VALISE_FIELD_WITH(vls_turn_remove_args, version, INT, VALISE_REQUIRED, "Its version.", .min = 1,
                      .max = INT64_MAX),
    VALISE_FIELD(vls_turn_remove_args, recursive, BOOL, 0, "Everything below it too."),
    VALISE_FIELD(vls_turn_remove_args, force, BOOL, 0, "Other sessions do not stand in the way."),
    VALISE_FIELD_END,
};

static const valise_field remove_out[] = {
    VALISE_FIELD(vls_swept, more, BOOL, 0, "Further ones follow."),
    VALISE_FIELD(vls_swept, removed, INT, 0, "Turns that went."),
    VALISE_FIELD_END,
};

/* Others may have said something there since it was erased: that would go, and stay in the log. */
static int check_erased(const vls_branch *branch, valise_error *err)
{
    for (size_t i = 0; i < branch->turns.len; i++) {
        if (vls_turn_has_contents(&branch->turns.ptr[i]))
            return vls_fail(err, VALISE_E_CONFLICT, "turn %s was added in the meantime",
                            vls_turn_ref_write(&branch->turns.ptr[i].ref).s);
    }
    return 0;
}

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    vls_swept *result = out;
    vls_branch branch;
    int rc = vls_branch_find(&branch, view, in, err);

    if (rc == 0)
        rc = check_erased(&branch, err);
    if (rc == 0)
        rc = vls_branch_remove(result, view, &branch, err);
    if (rc == 0 && result->more)
        vls_view_then(view, &vls_op_chat_turn_sweep);
    return rc;
}

const valise_op vls_op_chat_turn_remove = {
    .size = sizeof(valise_op),
    .name = "turn:remove",
    .brief = "Remove the rows of a turn whose contents were erased.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_INTERNAL | VALISE_OP_DESTRUCTIVE,
    .needs = "session:delete",
    .in = remove_in,
    .in_size = sizeof(vls_turn_remove_args),
    .out = remove_out,
    .out_size = sizeof(vls_swept),
    .decide = decide,
    .example = "{\"sessionId\":\"01990000-0000-7000-8000-000000000001\",\"turnId\":"
               "\"01990000-0000-7000-8000-000000000002\",\"version\":1}",
};
