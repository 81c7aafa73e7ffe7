/* op_json_get.c -- json:get, the part of a value that a JSON Pointer names. */
#include "kernel/json.h"

#include "json/pointer.h"

typedef struct get_args {
    valise_content value;
    valise_str pointer;
} get_args;

static const valise_field get_in[] = {
    VALISE_FIELD(get_args, value, VALUE, VALISE_REQUIRED | VALISE_POSITIONAL, "Any JSON value."),
    VALISE_FIELD(get_args, pointer, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                 "A JSON Pointer (RFC 6901), such as /turns/0; \"\" is the whole value."),
    VALISE_FIELD_END,
};

static int get_query(valise_view *view, const void *args, void *result, valise_error *err)
{
    const get_args *a = args;
    vls_pointer pointer;
    const vls_json *found = NULL;
    vls_json value = vls_json_null();
    int rc = vls_json_argument(&value, view, &a->value, err);

    if (rc == 0)
        rc = vls_pointer_parse(&pointer, vls_json_arena(view), a->pointer, err);
    if (rc == 0)
        rc = vls_pointer_get(&found, &value, &pointer, err);
    if (rc < 0)
        return rc;
    assert(found);
    return vls_json_content(&((vls_json_answer *)result)->value, view, *found, err);
}

const valise_op vls_op_kernel_json_get = {
    .size = sizeof(valise_op),
    .name = "json:get",
    .brief = "Print the part of a value that a JSON Pointer selects.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_NO_WORKSPACE | VALISE_OP_IDEMPOTENT,
    .in = get_in,
    .in_size = sizeof(get_args),
    .out = vls_json_answer_out,
    .out_size = sizeof(vls_json_answer),
    .query = get_query,
    .example = "{\"value\":{\"turns\":[{\"role\":\"user\"}]},\"pointer\":\"/turns/0/role\"}",
};
