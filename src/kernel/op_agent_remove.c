/* op_agent_remove.c -- agent:remove, let somebody in no longer. */
#include "kernel/kernel.h"

static int decide(valise_view *view, const void *args, void *result, valise_error *err)
{
    const vls_agent_ref *a = args;
    vls_actor_row row = {.id = a->id};
    int rc = vls_agent_get(&row, view, err);

    (void)result;
    if (rc == 0 && vls_actor_is_admin(&row))
        rc = vls_agent_others_administer(view, a->id, err);
    if (rc == 0)
        rc = valise_view_delete(view, &vls_actor_coll, &row, err);
    return rc < 0 ? rc : 0;
}

const valise_op vls_op_kernel_agent_remove = {
    .size = sizeof(valise_op),
    .name = "agent:remove",
    .brief = "Remove an actor from the workspace.",
    .help = "What the actor did stays, under its name. The last one who may administer the "
            "workspace cannot be removed.",
    .kind = VALISE_COMMAND,
    .needs = "admin",
    .in = vls_agent_ref_fields,
    .in_size = sizeof(vls_agent_ref),
    .decide = decide,
    .example = "{\"id\":\"planner\"}",
};
