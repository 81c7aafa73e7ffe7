/* op_role_update.c -- role:update, a new version of a role. [W12] */
#include "base/str.h"
#include "bus/bus.h"
#include "memory/role.h"

typedef struct update_args {
    valise_str name, label;
    valise_content persona;
    const vls_constraints *constraints;
    vls_topics_change topics;
    valise_list unset;
} update_args;

static const valise_field part_item = {
    .name = "part", .help = "A part.", .type = VALISE_T_ENUM, .more = vls_role_parts};

static const valise_field update_in[] = {
    VALISE_FIELD_WITH(update_args, name, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "Name of the role.", .ref = VLS_REF_ROLE_NAME, .min = 1,
                      .max = VLS_ROLE_NAME_MAX),
    VALISE_FIELD_WITH(update_args, label, STR, VALISE_NULLABLE, "Its label, for people.", .min = 1,
                      .max = VLS_ROLE_LABEL_MAX),
    VALISE_FIELD(update_args, persona, TEXT, VALISE_NULLABLE,
                 "Its instructions: the system prompt."),
    VALISE_FIELD_WITH(update_args, constraints, STRUCT, VALISE_NULLABLE,
                      "Its model settings; omitted ones stay.", .more = &vls_constraint_struct),
    VLS_TOPICS_CHANGE_FIELDS(update_args, topics.all, topics.add, topics.remove),
    VALISE_FIELD_WITH(update_args, unset, LIST, 0, "Fields to remove.", .more = &part_item,
                      .max = 16),
    VALISE_FIELD_END,
};

static int current(valise_str *json, valise_view *view, const void *in, valise_error *err)
{
    vls_role_row role = {.name = ((const update_args *)in)->name};
    int rc = valise_view_get(&role, view, &vls_roles, err);

    return rc < 0 ? rc : vls_memory_current(json, view, rc > 0 ? role.version : 0, err);
}

/* The constraints as they will be. */
static int change_constraints(valise_id *out, valise_view *view, const update_args *args,
                              valise_error *err)
{
    const int64_t *parts = args->unset.items;
    vls_constraints c;
    int rc = vls_constraints_read(&c, view, out, err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < args->unset.count; i++)
        vls_constraints_unset(&c, parts[i]);
    vls_constraints_merge(&c, args->constraints);
    return vls_constraints_add(out, view, &c, err);
}

static int change(vls_role_version_row *row, valise_view *view, const update_args *args,
                  valise_error *err)
{
    const int64_t *parts = args->unset.items;
    int rc;

    for (size_t i = 0; i < args->unset.count; i++) {
        if (parts[i] == VLS_UNSET_LABEL)
            row->label = (valise_str){NULL, 0};
        else if (parts[i] == VLS_UNSET_PERSONA)
            row->persona = (valise_id){{0}};
    }
    if (args->label.ptr)
        row->label = args->label;
    if (vls_content_given(&args->persona))
        row->persona = args->persona.id;
    rc = vls_topics_apply(&row->topics, view, &args->topics, err);
    if (rc == 0 && (args->constraints || args->unset.count > 0))
        rc = change_constraints(&row->constraints, view, args, err);
    return rc;
}

static bool says_the_same(const vls_role_version_row *a, const vls_role_version_row *b)
{
    return !a->label.ptr == !b->label.ptr && vls_str_equal(a->label, b->label) &&
           vls_id_equal(&a->persona, &b->persona) &&
           vls_id_equal(&a->constraints, &b->constraints) && vls_topics_equal(a->topics, b->topics);
}

static int decide(valise_view *view, const void *in, void *result, valise_error *err)
{
    const update_args *args = in;
    vls_role_row role = {.name = args->name};
    vls_role_version_row before, after;
    int rc = vls_role_get(&role, view, err);

    if (rc == 0)
        rc = vls_constraints_check(args->constraints, err);
    if (rc == 0)
        rc = vls_role_version_get(&before, view, role.name, role.version, err);
    if (rc < 0)
        return rc;
    after = before;
    rc = change(&after, view, args, err);
    if (rc < 0)
        return rc;
    if (says_the_same(&before, &after)) {
        *(vls_role_made *)result = (vls_role_made){role.name, role.version};
        return 0;
    }
    return vls_role_put(result, view, &after, role.created, err);
}

const valise_op vls_op_memory_role_update = {
    .size = sizeof(valise_op),
    .name = "role:update",
    .brief = "Create a new version of a role.",
    .help = "What is not given stays as it is, including each constraint; `unset` removes a field. "
            "If nothing changes there is no new version. Earlier versions can still be shown.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_IDEMPOTENT,
    .needs = "role:write",
    .in = update_in,
    .in_size = sizeof(update_args),
    .out = vls_role_made_fields,
    .out_size = sizeof(vls_role_made),
    .current = current,
    .expect_help = "the version that holds",
    .decide = decide,
    .example = "{\"name\":\"coder\",\"constraints\":{\"temperature\":0.7},\"unset\":[\"label\"]}",
};
