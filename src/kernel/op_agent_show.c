/* op_agent_show.c -- agent:show, what an actor may do. */
#include "kernel/kernel.h"

typedef struct show_out {
    vls_actor_row row; /* first: the table of rows describes this struct's beginning */
    valise_list grants;
} show_out;

static const valise_field show_fields[] = {
    VALISE_FIELD_AS_WITH(show_out, row.id, "id", STR, 0, "Id of the actor.", .max = VLS_ACTOR_MAX),
    VALISE_FIELD_AS_WITH(show_out, row.role, "role", ENUM, 0, "Its role.", .more = vls_role_names),
    VALISE_FIELD_AS_WITH(show_out, row.capabilities, "capabilities", LIST, 0,
                         "What was granted besides.", .more = &vls_capability_item),
    VALISE_FIELD_AS(show_out, row.added_by, "addedBy", STR, 0, "Who admitted it."),
    VALISE_FIELD_AS(show_out, row.added, "added", TIME, 0, "When it was admitted."),
    VALISE_FIELD_WITH(show_out, grants, LIST, 0, "All it may do: of the role and besides.",
                      .more = &vls_capability_item),
    VALISE_FIELD_END,
};

static int list_grants(valise_list *out, valise_view *view, const vls_actor_row *row,
                       valise_error *err)
{
    const char *const *role = vls_role_grants(row->role);
    const valise_str *own = row->capabilities.items;
    size_t count = 0;
    valise_str *all;
    void *memory;
    int rc;

    while (role[count])
        count++;
    rc =
        valise_view_alloc(&memory, view, (count + row->capabilities.count + 1) * sizeof(*all), err);
    if (rc < 0)
        return rc;
    all = memory;
    for (size_t i = 0; i < count; i++)
        all[i] = valise_str_of(role[i]);
    for (size_t i = 0; i < row->capabilities.count; i++)
        all[count++] = own[i];
    *out = (valise_list){all, count};
    return 0;
}

static int query(valise_view *view, const void *args, void *result, valise_error *err)
{
    const vls_agent_ref *a = args;
    show_out out = {.row = {.id = a->id}};
    int rc = vls_agent_get(&out.row, view, err);

    if (rc == 0)
        rc = list_grants(&out.grants, view, &out.row, err);
    if (rc == 0)
        *(show_out *)result = out;
    return rc;
}

const valise_op vls_op_kernel_agent_show = {
    .size = sizeof(valise_op),
    .name = "agent:show",
    .brief = "Show one actor and what it is allowed to do.",
    .kind = VALISE_QUERY,
    .needs = "agent:read",
    .in = vls_agent_ref_fields,
    .in_size = sizeof(vls_agent_ref),
    .out = show_fields,
    .out_size = sizeof(show_out),
    .query = query,
    .example = "{\"id\":\"local\"}",
};
