/* op_workspace_create.c -- workspace:create, the first entry of every log.
 *
 * The engine runs it when it has made a workspace: from here on there is somebody who may act. */
#include "base/uuid.h"
#include "kernel/kernel.h"

typedef vls_workspace_create_args create_args;

static const valise_field create_in[] = {
    VALISE_FIELD(create_args, open, BOOL, 0, "Whoever comes is let in as a writer."),
    VALISE_FIELD(create_args, id, UUID, VALISE_NULLABLE, "Id of the workspace."),
    VALISE_FIELD_END,
};

static bool has_id(const create_args *args)
{
    return !vls_uuid_is_none(&args->id);
}

static int decide(valise_view *view, const void *args, void *result, valise_error *err)
{
    const create_args *a = args;
    const valise_stamp *stamp = valise_view_stamp(view);
    vls_actor_row local = {.id = {VLS_ACTOR_LOCAL, sizeof(VLS_ACTOR_LOCAL) - 1},
                           .role = VLS_ROLE_OWNER,
                           .added_by = stamp->actor,
                           .added = stamp->time};
    vls_workspace_row workspace = {
        .id = a->id, .created = stamp->time, .updated = stamp->time, .actor = stamp->actor};
    vls_setting_row open = {.name = {VLS_SETTING_OPEN, sizeof(VLS_SETTING_OPEN) - 1},
                            .value = {"true", 4}};
    int rc;

    (void)result;
    if (stamp->seq != 1)
        return vls_fail(err, VALISE_E_EXISTS, "this workspace already exists");
    rc = valise_view_put(view, &vls_actor_coll, &local, err);
    if (rc == 0 && has_id(a))
        rc = valise_view_put(view, &vls_workspaces, &workspace, err);
    if (rc == 0 && a->open)
        rc = valise_view_put(view, &vls_setting_coll, &open, err);
    return rc;
}

const valise_op vls_op_kernel_workspace_create = {
    .size = sizeof(valise_op),
    .name = "workspace:create",
    .brief = "Make a workspace: the first entry of its log.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_INTERNAL,
    .needs = "admin",
    .in = create_in,
    .in_size = sizeof(create_args),
    .decide = decide,
    .example = "{}",
};
