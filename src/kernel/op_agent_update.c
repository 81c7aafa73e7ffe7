/* op_agent_update.c -- agent:update, change what somebody may do. */
#include "kernel/kernel.h"

#include "base/str.h"
#include "store/view.h"

typedef struct update_args {
    valise_str id;
    int64_t role;
    valise_list capabilities, grants;
} update_args;

static const valise_field update_in[] = {
    VALISE_FIELD_WITH(update_args, id, STR, VALISE_REQUIRED | VALISE_POSITIONAL, "Id of the actor.",
                      .ref = "actor", .min = 1, .max = VLS_ACTOR_MAX),
    VALISE_FIELD_WITH(update_args, role, ENUM, VALISE_NULLABLE, "Its new role.",
                      .more = vls_role_names),
    VALISE_FIELD_WITH(update_args, capabilities, LIST, VALISE_NULLABLE,
                      "Its extra capabilities, replacing the old ones.",
                      .more = &vls_capability_item, .max = VLS_ACTOR_MAX_CAPABILITIES),
    VALISE_FIELD_WITH(update_args, grants, LIST, 0, "A capability to add.",
                      .more = &vls_capability_item, .max = VLS_ACTOR_MAX_CAPABILITIES),
    VALISE_FIELD_END,
};

static int current(valise_str *json, valise_view *view, const void *args, valise_error *err)
{
    vls_actor_row row = {.id = ((const update_args *)args)->id};

    return vls_current_row(json, view, &vls_actor_coll, &row, err);
}

static bool has(valise_list list, valise_str text)
{
    const valise_str *items = list.items;

    for (size_t i = 0; i < list.count; i++) {
        if (vls_str_equal(items[i], text))
            return true;
    }
    return false;
}

/* The list with those that are not in it yet, in arena. */
static int add_grants(valise_list *list, valise_list grants, vls_arena *arena, valise_error *err)
{
    const valise_str *more = grants.items;
    valise_list all = {NULL, list->count};
    valise_str *items;

    if (grants.count == 0)
        return 0;
    items = vls_arena_array(arena, list->count + grants.count, sizeof(*items));
    if (!items)
        return vls_arena_fail(arena, err);
    if (list->count > 0)
        memcpy(items, list->items, list->count * sizeof(*items));
    all.items = items;
    for (size_t i = 0; i < grants.count; i++) {
        if (!has(all, more[i]))
            items[all.count++] = more[i];
    }
    *list = all;
    return 0;
}

static int decide(valise_view *view, const void *args, void *result, valise_error *err)
{
    const update_args *a = args;
    vls_actor_row row = {.id = a->id};
    bool was_admin;
    int rc = vls_agent_get(&row, view, err);

    if (rc < 0)
        return rc;
    was_admin = vls_actor_is_admin(&row);
    if (a->role != VALISE_NONE)
        row.role = a->role;
    if (a->capabilities.items)
        row.capabilities = a->capabilities;
    rc = add_grants(&row.capabilities, a->grants, &view->arena, err);
    if (rc == 0)
        rc = vls_actor_check(&row, err);
    if (rc == 0 && was_admin && !vls_actor_is_admin(&row))
        rc = vls_agent_others_administer(view, a->id, err);
    if (rc < 0)
        return rc;
    *(vls_actor_row *)result = row;
    return valise_view_put(view, &vls_actor_coll, &row, err);
}

const valise_op vls_op_kernel_agent_update = {
    .size = sizeof(valise_op),
    .name = "agent:update",
    .brief = "Change what an actor is allowed to do.",
    .help = "What is not given stays as it is. Capabilities that are given replace the old "
            "ones; `--grant` adds to them.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_IDEMPOTENT,
    .needs = "admin",
    .in = update_in,
    .in_size = sizeof(update_args),
    .out = vls_actor_fields,
    .out_size = sizeof(vls_actor_row),
    .current = current,
    .expect_help = "the actor as `agent list --json` shows it",
    .decide = decide,
    .example = "{\"id\":\"planner\",\"role\":\"reader\"}",
};
