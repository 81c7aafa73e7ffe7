/* op_agent_add.c -- agent:add, let somebody into the workspace. */
#include "kernel/kernel.h"

typedef struct add_args {
    valise_str id;
    int64_t role;
    valise_list capabilities;
} add_args;

static const valise_field add_in[] = {
    VALISE_FIELD_WITH(add_args, id, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "Id of the actor: letters, digits and ._@:/+-.", .min = 1,
                      .max = VLS_ACTOR_MAX),
    VALISE_FIELD_WITH(add_args, role, ENUM, 0, "Its role.", .more = vls_role_names),
    VALISE_FIELD_WITH(add_args, capabilities, LIST, 0,
                      "An extra capability, such as \"context:write path=src/a*\".",
                      .more = &vls_capability_item, .max = VLS_ACTOR_MAX_CAPABILITIES),
    VALISE_FIELD_END,
};

static int decide(valise_view *view, const void *args, void *result, valise_error *err)
{
    const add_args *a = args;
    const valise_stamp *stamp = valise_view_stamp(view);
    vls_actor_row there = {.id = a->id};
    vls_actor_row row = {.id = a->id,
                         .role = a->role,
                         .capabilities = a->capabilities,
                         .added_by = stamp->actor,
                         .added = stamp->time};
    int rc = vls_actor_check(&row, err);

    if (rc == 0)
        rc = valise_view_get(&there, view, &vls_actor_coll, err);
    if (rc < 0)
        return rc;
    if (rc > 0) {
        (void)vls_fail(err, VALISE_E_EXISTS, "an actor %.*s already exists", VALISE_STR_ARG(a->id));
        vls_hint(err, "valise agent update %.*s --role %s", VALISE_STR_ARG(a->id),
                 vls_role_names[a->role]);
        return VALISE_E_EXISTS;
    }
    *(vls_actor_row *)result = row;
    return valise_view_put(view, &vls_actor_coll, &row, err);
}

const valise_op vls_op_kernel_agent_add = {
    .size = sizeof(valise_op),
    .name = "agent:add",
    .brief = "Add an actor to the workspace.",
    .help =
        "A role is a list of capabilities: a reader may read everything, a writer may also write, "
        "synthesis may read everything and write summaries of it, an owner may do everything. "
        "Capabilities come on top of the role, or stand alone. They have the form AREA:VERB, where "
        "* matches anything, and may be narrowed by the operation's arguments: \"context:write "
        "type=summary path=docs/a*\". A capability that contradicts the role is refused.",
    .kind = VALISE_COMMAND,
    .needs = "admin",
    .in = add_in,
    .in_size = sizeof(add_args),
    .out = vls_actor_fields,
    .out_size = sizeof(vls_actor_row),
    .decide = decide,
    .example = "{\"id\":\"planner\",\"role\":\"writer\"}",
};
