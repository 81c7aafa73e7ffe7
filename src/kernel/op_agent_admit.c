/* op_agent_admit.c -- agent:admit, record who came into an open workspace.
 *
 * The engine runs it in front of the first command of an actor without a row: bus/access.h. */
#include "kernel/kernel.h"

static int decide(valise_view *view, const void *args, void *result, valise_error *err)
{
    const vls_agent_ref *a = args;
    const valise_stamp *stamp = valise_view_stamp(view);
    vls_actor_row row = {
        .id = a->id, .role = VLS_ROLE_WRITER, .added_by = stamp->actor, .added = stamp->time};
    int rc = vls_actor_check(&row, err);

    (void)result;
    return rc < 0 ? rc : valise_view_put(view, &vls_actor_coll, &row, err);
}

const valise_op vls_op_kernel_agent_admit = {
    .size = sizeof(valise_op),
    .name = "agent:admit",
    .brief = "Record an actor who came into an open workspace.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_INTERNAL,
    .needs = "admin",
    .in = vls_agent_ref_fields,
    .in_size = sizeof(vls_agent_ref),
    .decide = decide,
    .example = "{\"id\":\"planner\"}",
};
