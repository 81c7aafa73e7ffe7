/* op_json_patch.c -- json:patch, apply a JSON Patch. */
#include "kernel/json.h"

#include "json/patch.h"

typedef struct patch_args {
    valise_content value, patch;
} patch_args;

static const valise_field patch_in[] = {
    VALISE_FIELD(patch_args, value, VALUE, VALISE_REQUIRED | VALISE_POSITIONAL,
                 "The value to change."),
    VALISE_FIELD(patch_args, patch, VALUE, VALISE_REQUIRED | VALISE_POSITIONAL,
                 "A JSON Patch (RFC 6902)."),
    VALISE_FIELD_END,
};

static int patch_query(valise_view *view, const void *args, void *result, valise_error *err)
{
    const patch_args *a = args;
    vls_json value, patch, changed = vls_json_null();
    int rc = vls_json_argument(&value, view, &a->value, err);

    if (rc == 0)
        rc = vls_json_argument(&patch, view, &a->patch, err);
    if (rc == 0)
        rc = vls_json_patch(&changed, vls_json_arena(view), value, patch, NULL, err);
    return rc < 0 ? rc : vls_json_content(&((vls_json_answer *)result)->value, view, changed, err);
}

const valise_op vls_op_kernel_json_patch = {
    .size = sizeof(valise_op),
    .name = "json:patch",
    .brief = "Apply a JSON Patch to a value.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_NO_WORKSPACE | VALISE_OP_IDEMPOTENT,
    .in = patch_in,
    .in_size = sizeof(patch_args),
    .out = vls_json_answer_out,
    .out_size = sizeof(vls_json_answer),
    .query = patch_query,
    .example = "{\"value\":{\"a\":1},\"patch\":[{\"op\":\"add\",\"path\":\"/b\",\"value\":2}]}",
};
