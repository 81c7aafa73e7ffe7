/* op_workspace_update.c -- workspace:update, what a workspace is called. [W18] */
#include "base/hash.h"
#include "base/str.h"
#include "kernel/kernel.h"

enum { UNSET_LABEL, UNSET_METADATA };
static const char *const parts[] = {"label", "metadata", NULL};

typedef struct update_args {
    valise_str label;
    valise_content metadata;
    valise_list unset;
} update_args;

static const valise_field part_item = {
    .name = "part", .help = "A part.", .type = VALISE_T_ENUM, .more = parts};

static const valise_field update_in[] = {
    VALISE_FIELD_WITH(update_args, label, STR, VALISE_NULLABLE, "Its label, for people.", .min = 1,
                      .max = VLS_WORKSPACE_LABEL_MAX),
    VALISE_FIELD(update_args, metadata, VALUE, VALISE_NULLABLE, "Any other metadata, as JSON."),
    VALISE_FIELD_WITH(update_args, unset, LIST, 0, "Fields to remove.", .more = &part_item,
                      .max = 4),
    VALISE_FIELD_END,
};

typedef struct update_result {
    valise_uuid id;
} update_result;

static const valise_field update_out[] = {
    VALISE_FIELD(update_result, id, UUID, VALISE_REQUIRED, "Id of the workspace."),
    VALISE_FIELD_END,
};

static void change(vls_workspace_row *row, const update_args *args)
{
    const int64_t *part = args->unset.items;

    for (size_t i = 0; i < args->unset.count; i++) {
        if (part[i] == UNSET_LABEL)
            row->label = (valise_str){NULL, 0};
        else
            row->metadata = (valise_id){{0}};
    }
    if (args->label.ptr)
        row->label = args->label;
    if (args->metadata.size != VALISE_NONE)
        row->metadata = args->metadata.id;
}

static bool says_the_same(const vls_workspace_row *a, const vls_workspace_row *b)
{
    return !a->label.ptr == !b->label.ptr && vls_str_equal(a->label, b->label) &&
           vls_id_equal(&a->metadata, &b->metadata);
}

static int decide(valise_view *view, const void *in, void *result, valise_error *err)
{
    const valise_stamp *stamp = valise_view_stamp(view);
    vls_workspace_row before, after;
    int rc = vls_workspace_get(&before, view, err);

    if (rc == 0)
        return vls_fail(err, VALISE_E_NOT_FOUND, "there is no record of this workspace");
    if (rc < 0)
        return rc;
    after = before;
    change(&after, in);
    *(update_result *)result = (update_result){before.id};
    if (says_the_same(&before, &after))
        return 0;
    after.updated = stamp->time;
    after.actor = stamp->actor;
    return valise_view_put(view, &vls_workspaces, &after, err);
}

const valise_op vls_op_kernel_workspace_update = {
    .size = sizeof(valise_op),
    .name = "workspace:update",
    .brief = "Set the label and metadata of the workspace.",
    .help = "What is not given stays as it is; `unset` removes a field. `valise status` shows the "
            "result.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_IDEMPOTENT,
    .needs = "workspace:write",
    .in = update_in,
    .in_size = sizeof(update_args),
    .out = update_out,
    .out_size = sizeof(update_result),
    .decide = decide,
    .example = "{\"label\":\"My project\"}",
};
