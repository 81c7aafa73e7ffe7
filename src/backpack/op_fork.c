/* op_fork.c -- backpack:fork, a new backpack that starts with the state of another. */
#include "backpack/ops.h"

static const valise_field fork_in[] = {
    VLS_OWNER_FIELDS(vls_fork_args),
    VALISE_FIELD_WITH(vls_fork_args, name, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "Name of the new backpack.", .min = 1, .max = VLS_BAG_NAME_MAX),
    VLS_POINT_FIELD(vls_fork_args, point),
    VALISE_FIELD_END,
};

static const valise_field fork_out[] = {
    VALISE_FIELD(vls_fork_result, id, UUID, 0, "Id of the new backpack."),
    VALISE_FIELD(vls_fork_result, seq, INT, 0, "The commit it starts with."),
    VALISE_FIELD_END,
};

/* What is in the one can be read in the other, and that one is new. */
static int check_access(const vls_use *use, const vls_fork_args *args, valise_error *err)
{
    const vls_who made = {.backpack = args->name};
    int rc = vls_use_allows(use, &args->who, "backpack:read", err);

    if (rc == 0) {
        rc = vls_bag_check_name(args->name, err);
        if (rc == 0)
            rc = vls_use_allows(use, &made, "backpack:write", err);
        if (rc < 0)
            vls_error_prepend(err, "name");
    }
    return rc;
}

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_fork_args *args = in;
    vls_fork_result *result = out;
    VLS_AUTO(use) vls_use use = {0};
    int rc = vls_use_begin(&use, view, &args->who, err);

    if (rc == 0)
        rc = vls_scope_owner_only(use.scope, "fork", err);
    if (rc == 0)
        rc = check_access(&use, args, err);
    if (rc == 0)
        rc = vls_use_point(&use, args->point, err);
    return rc < 0 ? rc : vls_use_fork(&result->id, &result->seq, &use, args->name, err);
}

const valise_op vls_op_backpack_fork = {
    .size = sizeof(valise_op),
    .name = "backpack:fork",
    .brief = "Create a backpack that starts with the state of another.",
    .kind = VALISE_COMMAND,
    .needs = "backpack:write",
    .in = fork_in,
    .in_size = sizeof(vls_fork_args),
    .out = fork_out,
    .out_size = sizeof(vls_fork_result),
    .decide = decide,
    .apart = vls_use_is_apart,
    .example = "{\"backpack\":\"run-1\",\"name\":\"run-1b\",\"point\":\"before:research-2\"}",
};
