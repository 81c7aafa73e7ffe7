/* op_preference_show.c -- preference:show, one of them. [W13] */
#include "memory/preference.h"

static int query(valise_view *view, const void *in, void *result, valise_error *err)
{
    vls_preference_row row = {.id = ((const vls_preference_ref *)in)->id};
    int rc = vls_preference_get(&row, view, err);

    return rc < 0 ? rc : vls_preference_show(result, view, &row, err);
}

const valise_op vls_op_memory_preference_show = {
    .size = sizeof(valise_op),
    .name = "preference:show",
    .brief = "Show a preference.",
    .kind = VALISE_QUERY,
    .needs = "preference:read",
    .in = vls_preference_ref_fields,
    .in_size = sizeof(vls_preference_ref),
    .out = vls_preference_shown_fields,
    .out_size = sizeof(vls_preference_shown),
    .query = query,
    .example = "{\"id\":\"00000000-0000-7000-8000-000000000001\"}",
};
