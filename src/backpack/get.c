/* get.c -- see get.h. */
#include "backpack/get.h"

const valise_field vls_get_in[] = {
    VLS_WHO_FIELDS(vls_get_args),
    VALISE_FIELD_WITH(vls_get_args, key, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "Key of the item.", .min = 1, .max = VLS_BAG_KEY_MAX, .ref = VLS_REF_KEY),
    VLS_POINT_FIELD(vls_get_args, point),
    VALISE_FIELD(vls_get_args, required, BOOL, 0, "Fail if the key is absent."),
    VALISE_FIELD_END,
};

const valise_field vls_get_out[] = {
    VALISE_FIELD(vls_get_result, found, BOOL, 0, "Whether there is such an item."),
    VALISE_FIELD_AS(vls_get_result, item.value, "value", VALUE, VALISE_NULLABLE, "Its value."),
    VALISE_FIELD_AS(vls_get_result, item.version, "version", INT, 0, "Its version."),
    VALISE_FIELD_END,
};

int vls_op_get(valise_view *view, const vls_get_args *args, vls_get_result *result, bool record,
               valise_error *err)
{
    VLS_AUTO(use) vls_use use = {0};
    VLS_AUTO(blob) valise_blob *value = NULL;
    valise_commit commit;
    vls_look look = {.record = record,
                     .required = args->required,
                     .now = view->stamp.time,
                     .arena = &view->arena,
                     .commit = &commit};
    valise_str bytes;
    int rc = vls_use_begin(&use, view, &args->who, err);

    if (rc == 0)
        rc = vls_use_point(&use, args->point, err);
    if (rc == 0)
        rc = vls_use_get(&value, &use, args->key, &look, err);
    if (rc == VALISE_E_NOT_FOUND && args->required && err && !err->hint[0])
        vls_hint(err, "'valise bp ls %.*s' lists what is there",
                 VALISE_STR_ARG(args->who.backpack));
    if (rc <= 0)
        return rc;
    assert(value);
    rc = vls_arena_dup(&bytes, &view->arena, vls_blob_bytes(value), err);
    if (rc < 0)
        return rc;
    result->found = true;
    vls_item_out_fill(&result->item, &commit, bytes);
    return 0;
}
