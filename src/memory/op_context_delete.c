/* op_context_delete.c -- context:delete. [W13] */
#include "blob/hold.h"
#include "memory/entry.h"
#include "store/used.h"

static int current(valise_str *json, valise_view *view, const void *in, valise_error *err)
{
    return vls_entry_current(json, view, ((const vls_entry_ref *)in)->key, err);
}

static int decide(valise_view *view, const void *in, void *result, valise_error *err)
{
    vls_context_entry_row row = {.key = ((const vls_entry_ref *)in)->key};
    int rc = valise_view_get(&row, view, &vls_context_entries, err);

    if (rc == 0) /* says that there is none; one whose time is over can be deleted */
        rc = vls_entry_get(&row, view, err);
    if (rc < 0)
        return rc;
    *(vls_entry_made *)result = (vls_entry_made){row.key, row.version};
    rc = vls_entry_remove(view, &row, err);
    if (rc == 0 && !vls_id_is_none(&row.blob))
        rc = vls_blob_forget(view, &row.blob, err);
    if (rc == 0)
        rc = vls_blob_forget_entry(view, row.key, err);
    return rc < 0 ? rc : vls_used_forget_row(view, &vls_context_entries, &row, err);
}

const valise_op vls_op_memory_context_delete = {
    .size = sizeof(valise_op),
    .name = "context:delete",
    .brief = "Delete a context entry.",
    .help = "Its history stays; context:erase removes that too. A blob that nothing else holds is "
            "removed. Prompts that were made with it show it as long as the history does.",
    .kind = VALISE_COMMAND,
    .needs = "memory:write",
    .in = vls_entry_ref_fields,
    .in_size = sizeof(vls_entry_ref),
    .out = vls_entry_made_fields,
    .out_size = sizeof(vls_entry_made),
    .current = current,
    .expect_help = "the version of the entry",
    .decide = decide,
    .example = "{\"key\":\"team/style\"}",
};
