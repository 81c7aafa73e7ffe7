/* op_context_show.c -- context:show, one entry. [W13] */
#include "memory/entry.h"

static int query(valise_view *view, const void *in, void *result, valise_error *err)
{
    vls_context_entry_row row = {.key = ((const vls_entry_ref *)in)->key};
    int rc = vls_entry_get(&row, view, err);

    return rc < 0 ? rc : vls_entry_show(result, view, &row, err);
}

const valise_op vls_op_memory_context_show = {
    .size = sizeof(valise_op),
    .name = "context:show",
    .brief = "Show a context entry.",
    .kind = VALISE_QUERY,
    .needs = "memory:read",
    .in = vls_entry_ref_fields,
    .in_size = sizeof(vls_entry_ref),
    .out = vls_entry_shown_fields,
    .out_size = sizeof(vls_entry_shown),
    .query = query,
    .example = "{\"key\":\"team/style\"}",
};
