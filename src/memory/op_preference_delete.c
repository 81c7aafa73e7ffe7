/* op_preference_delete.c -- preference:delete. [W13] */
#include "memory/preference.h"
#include "store/used.h"

static int current(valise_str *json, valise_view *view, const void *in, valise_error *err)
{
    return vls_preference_current(json, view, &((const vls_preference_ref *)in)->id, err);
}

static int decide(valise_view *view, const void *in, void *result, valise_error *err)
{
    vls_preference_row row = {.id = ((const vls_preference_ref *)in)->id};
    int rc = vls_preference_get(&row, view, err);

    if (rc < 0)
        return rc;
    *(vls_preference_made *)result = (vls_preference_made){row.id, row.version};
    rc = valise_view_delete(view, &vls_preferences, &row, err);
    return rc < 0 ? rc : vls_used_forget_row(view, &vls_preferences, &row, err);
}

const valise_op vls_op_memory_preference_delete = {
    .size = sizeof(valise_op),
    .name = "preference:delete",
    .brief = "Delete a preference.",
    .help = "Its history stays; preference:erase removes that too. Prompts that were made with it "
            "show it as long as the history does.",
    .kind = VALISE_COMMAND,
    .needs = "preference:write",
    .in = vls_preference_ref_fields,
    .in_size = sizeof(vls_preference_ref),
    .out = vls_preference_made_fields,
    .out_size = sizeof(vls_preference_made),
    .current = current,
    .expect_help = "the version of the preference",
    .decide = decide,
    .example = "{\"id\":\"00000000-0000-7000-8000-000000000001\"}",
};
