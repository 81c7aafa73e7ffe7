/* op_role_add.c -- role:add, a persona that sessions can have. [W12] */
#include "base/text.h"
#include "bus/bus.h"
#include "memory/role.h"

typedef struct add_args {
    valise_str name, label;
    valise_content persona;
    const vls_constraints *constraints;
    valise_list topics;
} add_args;

static const valise_field add_in[] = {
    VALISE_FIELD_WITH(add_args, name, STR, VALISE_REQUIRED | VALISE_POSITIONAL, "Name of the role.",
                      .min = 1, .max = VLS_ROLE_NAME_MAX),
    VALISE_FIELD_WITH(add_args, label, STR, VALISE_NULLABLE, "Its label, for people.", .min = 1,
                      .max = VLS_ROLE_LABEL_MAX),
    VALISE_FIELD(add_args, persona, TEXT, VALISE_NULLABLE, "Its instructions: the system prompt."),
    VALISE_FIELD_WITH(add_args, constraints, STRUCT, VALISE_NULLABLE, "Its model settings.",
                      .more = &vls_constraint_struct),
    VLS_TOPICS_FIELD(add_args, 0, "Its topics."),
    VALISE_FIELD_END,
};

static int refuse_again(const vls_role_row *role, valise_error *err)
{
    (void)vls_fail(err, VALISE_E_EXISTS, "a role '%s' already exists",
                   vls_text_short(role->name).s);
    vls_hint(err, "'valise role update' makes a new version of it");
    return VALISE_E_EXISTS;
}

static int decide(valise_view *view, const void *in, void *result, valise_error *err)
{
    const add_args *args = in;
    vls_role_row role = {.name = args->name};
    vls_role_version_row version = {.name = args->name,
                                    .label = args->label,
                                    .persona = vls_content_id(&args->persona),
                                    .topics = args->topics};
    int rc = vls_memory_check_name(args->name, "the name of a role", err);

    if (rc == 0)
        rc = vls_constraints_check(args->constraints, err);
    if (rc == 0)
        rc = vls_topics_tidy(&version.topics, view, err);
    if (rc == 0)
        rc = valise_view_get(&role, view, &vls_roles, err);
    if (rc > 0)
        return refuse_again(&role, err);
    if (rc == 0 && args->constraints)
        rc = vls_constraints_add(&version.constraints, view, args->constraints, err);
    if (rc < 0)
        return rc;
    return vls_role_put(result, view, &version, VALISE_NONE, err);
}

const valise_op vls_op_memory_role_add = {
    .size = sizeof(valise_op),
    .name = "role:add",
    .brief = "Add a role: a persona and its model settings.",
    .help = "Parameters that only one provider knows go into `extras` of the constraints, as they "
            "are. The name of a deleted role can be used again; its version numbers continue.",
    .kind = VALISE_COMMAND,
    .needs = "role:write",
    .in = add_in,
    .in_size = sizeof(add_args),
    .out = vls_role_made_fields,
    .out_size = sizeof(vls_role_made),
    .decide = decide,
    .example = "{\"name\":\"coder\",\"persona\":\"You write C.\",\"constraints\":{\"model\":"
               "\"large\",\"temperature\":0.2},\"topics\":[\"code\"]}",
};
