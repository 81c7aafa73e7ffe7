/* op_bundle_import.c -- bundle:import, the command that adds the rows of a bundle. */
#include "kernel/bundle.h"

#include "base/str.h"

static const valise_field object_item = {.type = VALISE_T_ID, .ref = "object"};

static const valise_field import_in[] = {
    VALISE_FIELD(vls_bundle_merge_args, id, ID, VALISE_REQUIRED, "Hash of the bundle."),
    VALISE_FIELD(vls_bundle_merge_args, workspace, UUID, VALISE_REQUIRED, "Where it comes from."),
    VALISE_FIELD(vls_bundle_merge_args, tip, INT, 0, "The last entry of the log there."),
    VALISE_FIELD_AS(vls_bundle_merge_args, tip_hash, "tipHash", ID, VALISE_NULLABLE,
                    "The hash of that."),
    VALISE_FIELD_WITH(vls_bundle_merge_args, rows, ID, VALISE_REQUIRED, "The rows of the bundle.",
                      .ref = "object"),
    VALISE_FIELD_WITH(vls_bundle_merge_args, chain, ID, VALISE_NULLABLE,
                      "The chain of the log there.", .ref = "object"),
    VALISE_FIELD_WITH(vls_bundle_merge_args, objects, LIST, 0, "The objects that the rows name.",
                      .more = &object_item),
    VALISE_FIELD_END,
};

static const valise_field import_out[] = {
    VALISE_FIELD(vls_bundle_merge_result, rows, INT, 0, "Rows that were added."),
    VALISE_FIELD_END,
};

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_bundle_merge_args *args = in;
    vls_bundle_merge_result *result = out;
    vls_imported record = {.id = args->id};
    valise_str rows;
    int rc = valise_view_object(&rows, view, &args->rows, err);

    if (rc == 0)
        rc = vls_bundle_merge(&result->rows, view, rows, err);
    if (rc == 0)
        rc = valise_view_get(&record, view, &vls_bundles, err);
    if (rc != 0)
        return rc < 0 ? rc : 0; /* it was imported before, and says so */
    record = (vls_imported){.id = args->id,
                            .workspace = args->workspace,
                            .tip = args->tip,
                            .tip_hash = args->tip_hash,
                            .chain = args->chain,
                            .time = valise_view_stamp(view)->time,
                            .actor = valise_view_stamp(view)->actor};
    return valise_view_put(view, &vls_bundles, &record, err);
}

const valise_op vls_op_kernel_bundle_import = {
    .size = sizeof(valise_op),
    .name = "bundle:import",
    .brief = "Add the rows of a bundle; the command behind `valise import`.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_INTERNAL,
    .needs = "admin",
    .in = import_in,
    .in_size = sizeof(vls_bundle_merge_args),
    .out = import_out,
    .out_size = sizeof(vls_bundle_merge_result),
    .decide = decide,
    .example = "{\"id\":\"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\","
               "\"rows\":\"486ea46224d1bb4fb680f34f7c9ad96a8f24ec88be73ea8e5a6c65260e9cb8a7\","
               "\"workspace\":\"018f2c4e-7b1a-7c3d-9e4f-000000000001\"}",
};
