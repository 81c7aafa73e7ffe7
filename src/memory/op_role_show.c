/* op_role_show.c -- role:show, what a role is, or was. [W12] */
#include "memory/role.h"

static const valise_field show_in[] = {
    VALISE_FIELD_WITH(vls_role_show_args, name, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "Name of the role.", .ref = VLS_REF_ROLE_NAME, .min = 1,
                      .max = VLS_ROLE_NAME_MAX),
    VALISE_FIELD_WITH(vls_role_show_args, version, INT, VALISE_NULLABLE,
                      "Which version (default: the current one).", .min = 1, .max = INT64_MAX),
    VALISE_FIELD_END,
};

static int query(valise_view *view, const void *in, void *result, valise_error *err)
{
    const vls_role_show_args *args = in;
    vls_role_row role = {.name = args->name};
    vls_role_version_row version;
    int64_t wanted = args->version;
    int rc;

    /* A version is still there when the role is gone. */
    if (wanted == VALISE_NONE) {
        rc = vls_role_get(&role, view, err);
        wanted = role.version;
    } else {
        rc = valise_view_get(&role, view, &vls_roles, err);
    }
    if (rc >= 0)
        rc = vls_role_version_get(&version, view, args->name, wanted, err);
    return rc < 0 ? rc : vls_role_show(result, view, &version, role.version, err);
}

const valise_op vls_op_memory_role_show = {
    .size = sizeof(valise_op),
    .name = "role:show",
    .brief = "Show a role.",
    .help = "With --version an earlier version is shown, even of a deleted role.",
    .kind = VALISE_QUERY,
    .needs = "role:read",
    .in = show_in,
    .in_size = sizeof(vls_role_show_args),
    .out = vls_role_shown_fields,
    .out_size = sizeof(vls_role_shown),
    .query = query,
    .example = "{\"name\":\"coder\",\"version\":1}",
};
